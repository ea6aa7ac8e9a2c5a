"""Train agents by self-play."""
