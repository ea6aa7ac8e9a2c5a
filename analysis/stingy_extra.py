"""Stingy's questions about the tile more that may be taken without a swap (G16).

`extra`: no swap was made; take the tile more, or the regular number?
`forgo`: a swap is open that a stated bot would make, and without it the tile more may be taken: swap, or leave it for the
tile? The bot is asked under its rule `extra=hint`, by which it never leaves a swap for the tile, so that it names its swap.

The order of the pool is all that is hidden in Stingy, so what nobody has seen and what a player can't know are the same.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from agents.base import Agent, Array
from analysis.questions import NO_MOVE, Axis, Question, action_arms, legal
from stingy_env.rules import (
    EXTRA_SINGLES,
    GHOST_SEATS,
    MAX_PLAYERS,
    NO_SWAP,
    NUM_KINDS,
    TILES_EXTRA,
    TILES_OF_KIND,
    TILES_REGULAR,
    Phase,
)
from tabletop.game import BatchGame
from tabletop.selfplay import ask

LARGE_TABLE = 5  # seats from which on the regular number is 1 (G15)
POOL_LEVELS = (1, 11, 21, 31, 41, 51, 61, 71, 81)
POOL_NAMES = ("1-10", "11-20", "21-30", "31-40", "41-50", "51-60", "61-70", "71-80", "81+")
LATE, EARLY = 30, 60  # tiles in the pool


def regular_number(states: Array) -> Array:
    """Return how many tiles end a turn (G15): int64 [B]."""
    return np.where(states["num_seats"] >= LARGE_TABLE, 1, 2)


def features(game: BatchGame, states: Array) -> Mapping[str, Array]:
    """Return what is written down about positions, columns [B]; everything is open but the order of the pool."""
    o = game.observe(states)
    n = states["num_players"].astype(np.int64)
    tiles, worth, scores = o["displays"].astype(np.int64), o["worth"].astype(np.int64), o["scores"].astype(np.int64)
    own = tiles[:, 0]
    others = (
        np.arange(1, MAX_PLAYERS) < np.maximum(n, GHOST_SEATS)[:, None]
    )  # rel 1..5, where somebody or the ghost sits
    unseen = o["unseen"].astype(np.int64)
    missing = TILES_OF_KIND - own
    pool = o["pool_size"].astype(np.int64)
    columns = {
        "players": n,
        "pool": pool,
        "singles": (own == 1).sum(axis=1),
        "groups": (own > 0).sum(axis=1),
        "tiles": own.sum(axis=1),
        "worth": worth[:, 0],
        "others_worth": np.where(others, worth[:, 1:], 0).max(axis=1),
        "one_missing": ((own > 0) & (missing == 1) & (unseen > 0)).sum(axis=1),
        "completing": np.where((own > 0) & (missing == 1), unseen, 0).sum(axis=1) / np.maximum(1, pool),
        "fitting": np.where(own > 0, unseen, 0).sum(axis=1) / np.maximum(1, pool),
        "score": scores[:, 0],
        "others_score": np.where(others, scores[:, 1:], 0).max(axis=1),
        "other_tiles": np.where(others, tiles.sum(axis=2)[:, 1:], 0).sum(axis=1) / np.maximum(1, others.sum(axis=1)),
        "turns_left": pool // np.maximum(1, regular_number(states) * states["num_seats"]),
    }
    assert own.shape[1] == NUM_KINDS
    return {name: np.asarray(v, np.float64 if v.dtype.kind == "f" else np.int64) for name, v in columns.items()}


def reshuffle(game: BatchGame, states: Array, seeds: Array, worlds: int) -> Array:
    """Deal the pool anew."""
    return game.determinize(states, None, seeds, worlds)


def extra_asked(game: BatchGame, states: Array, agent: Agent, keys: Array) -> Array:
    """Return where the tile more is offered: bool [B]."""
    return (states["phase"] == Phase.DRAW) & legal(states, TILES_EXTRA)


def extra_moves(game: BatchGame, states: Array, agent: Agent, keys: Array) -> Array:
    """Return the regular number and one more: int64 [B, 2, 1]."""
    return action_arms(TILES_REGULAR, TILES_EXTRA, states)


def extra_awaits(states: Array) -> Array:
    """Return where the tile more will be offered if no swap is made (G16): bool [B]."""
    rows = np.arange(len(states))
    singles = (states["tiles"][rows, np.maximum(states["turn_player"], 0)] == 1).sum(axis=1)
    return (states["phase"] == Phase.SWAP) & (states["pool_size"] > regular_number(states)) & (singles <= EXTRA_SINGLES)


def swaps(game: BatchGame, states: Array, agent: Agent, keys: Array) -> Array:
    """Return the swap that `agent` would make, NO_SWAP for none: int64 [B]."""
    if len(states) == 0:
        return np.empty(0, np.int64)
    return ask(agent, game, states, keys)


def forgo_asked(game: BatchGame, states: Array, agent: Agent, keys: Array) -> Array:
    """Return where a swap is open that `agent` would make, and the tile more without it: bool [B]."""
    out = np.zeros(len(states), bool)
    there = np.flatnonzero(extra_awaits(states))
    out[there] = swaps(game, states[there], agent, keys[there]) < NO_SWAP
    return out


def forgo_moves(game: BatchGame, states: Array, agent: Agent, keys: Array) -> Array:
    """Return the swap, and no swap with the tile more: int64 [B, 2, 2]."""
    moves = np.full((len(states), 2, 2), NO_MOVE, np.int64)
    moves[:, 0, 0] = swaps(game, states, agent, keys)
    moves[:, 1] = NO_SWAP, TILES_EXTRA
    return moves


def groups(columns: Mapping[str, Array]) -> Mapping[str, Array]:
    """Return coarse cells for comparisons, bool [N] by name."""
    pool, singles = columns["pool"], columns["singles"]
    ages = {"early": pool >= EARLY, "middle": (pool < EARLY) & (pool >= LATE), "late": pool < LATE}
    counts = {"0 singles": singles == 0, "1 single": singles == 1, "2 singles": singles == 2}
    return {f"{age} {count}": ages[age] & counts[count] for age in ages for count in counts}


def extra_rules(columns: Mapping[str, Array]) -> Mapping[str, Array]:
    """Return the rules compared, where they take the tile more: bool [N] by name."""
    size = len(columns["pool"])
    return {"always regular": np.zeros(size, bool), "always the tile more": np.ones(size, bool)}


def extra_families(columns: Mapping[str, Array]) -> Mapping[str, Array]:
    """Return the rules with a threshold k for the pool: bool [N] by name."""
    return {"the tile more with at most k in the pool": np.ones(len(columns["pool"]), bool)}


def forgo_rules(columns: Mapping[str, Array]) -> Mapping[str, Array]:
    """Return the rules compared, where they leave the swap: bool [N] by name."""
    size = len(columns["pool"])
    return {"always swap": np.zeros(size, bool), "always leave it for the tile": np.ones(size, bool)}


def forgo_families(columns: Mapping[str, Array]) -> Mapping[str, Array]:
    """Return the rules with a threshold k for the pool: bool [N] by name."""
    return {"leave it with at most k in the pool": np.ones(len(columns["pool"]), bool)}


POOL = Axis("pool", "tiles in the pool", POOL_LEVELS, POOL_NAMES)
SINGLES = Axis("singles", "groups of a single tile", (0, 1, 2))
TREE = (
    "pool", "singles", "groups", "tiles", "worth", "others_worth", "one_missing", "completing", "fitting", "score",
    "others_score",
)  # fmt: skip

EXTRA = Question(
    name="extra",
    game="stingy-v0",
    title="Take one tile more?",
    arms=("regular", "extra"),
    options=(),
    asked=extra_asked,
    moves=extra_moves,
    reshuffle=reshuffle,
    features=features,
    across=POOL,
    down=SINGLES,
    rules=extra_rules,
    limit="pool",
    limits=(0, *range(10, 100, 10)),
    families=extra_families,
    groups=groups,
    tree=TREE,
)
FORGO = Question(
    name="forgo",
    game="stingy-v0",
    title="Swap, or leave it for the tile more?",
    arms=("swap", "extra"),
    options=(),
    asked=forgo_asked,
    moves=forgo_moves,
    reshuffle=reshuffle,
    features=features,
    across=POOL,
    down=SINGLES,
    rules=forgo_rules,
    limit="pool",
    limits=(0, *range(10, 100, 10)),
    families=forgo_families,
    groups=groups,
    tree=TREE,
)
