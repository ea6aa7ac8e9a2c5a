"""Random games by the batch, decision by decision."""

import numpy as np

from stingy_env import StingyGame

CONFIGS = [
    {"num_players": num_players, "captain_sly": captain_sly} | options
    for num_players in (2, 3, 4, 5, 6)
    for captain_sly, options in (
        (False, {}),
        (False, {"colour_scoring": True, "reward": "win"}),
        (True, {"complete_points": (0, 1, 2, 300, 4)}),
    )
]


def random_games(lanes, seed=0, **options):
    """Yield (game, states) at the start of `lanes` games and after every step, until all are over."""
    game = StingyGame(**options)
    states = game.new_states(lanes)
    game.reset(states, seed)
    keys = np.arange(lanes, dtype=np.uint64) + np.uint64(seed)
    yield game, states
    while not game.terminated(states).all():
        game.step(states, game.random_actions(states, keys))
        yield game, states
