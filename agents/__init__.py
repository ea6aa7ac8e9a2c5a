"""Who plays: bots, search, trained policies, the arena."""
