"""The games that everything in `tabletop` is tried on, and how to tell states apart."""

import numpy as np

from sting_env import StingGame
from stingy_env import StingyGame
from tabletop.game import raw_bytes
from tabletop.jit import COMPILED
from tests.toys import HighCard


def small_game(name, num_players=2, **options):
    """Return a game of the name that is soon over."""
    if name == "high-card":
        return HighCard(num_players=num_players, **options)
    if name == "stingy":
        return StingyGame(num_players=num_players, **options)
    size = {"rounds": 2, "max_turns": 40} if COMPILED else {"rounds": 1, "max_turns": 10}
    return StingGame(num_players=num_players, **{"hand_size": 4} | size | options)


def same_states(left, right, but=""):
    """Tell whether states are equal field by field (what lies between fields is not copied with them), but one."""
    return all(np.array_equal(left[name], right[name]) for name in left.dtype.names if name != but)


def flat(records):
    """Return observations as int8 [B, D]."""
    return raw_bytes(records).copy()
