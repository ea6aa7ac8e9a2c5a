"""Study the games: paired rollouts, charts, reports."""
