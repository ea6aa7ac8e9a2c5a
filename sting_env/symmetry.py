"""Renamings under which Sting is the same: its colours are interchangeable, its numbers mirrored unless they count.

A card 3 of a renamed game is a card 8 of the original, and so on (S12-S22 know only neighbours). Under S31 a natural
counts its number, and the mirror changes what it costs.

Everything is written as *gathers*: value i of what is renamed is value gather[i] of the original.
"""

from __future__ import annotations

from functools import cache
from itertools import permutations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sting_env import observation as o
from sting_env import rules as r
from sting_env.piles import NUM_COLOURS, NUM_NATURALS, NUM_NUMBERS
from tabletop.state import field_slices

Array = NDArray[Any]
ORDERS = tuple(permutations(range(NUM_COLOURS)))  # of the colours
OTHER, SET, RUN = 0, 1, 2  # the play being asked about, which decides what its pattern and number mean
PAIRS = list(zip(r.PAIR_FIRST.tolist(), r.PAIR_SECOND.tolist(), strict=True))


def random_symmetries(observations: Array, mirrors: bool, rng: np.random.Generator) -> tuple[Array, Array]:
    """Return a random renaming of each observation: gathers of its bytes [B, D] and of the actions [B, A].

    observations: records [B]. mirrors: whether numbers may be mirrored.
    """
    inputs, actions = all_gathers()
    which = rng.integers(len(ORDERS), size=len(observations))
    if mirrors:
        which += len(ORDERS) * rng.integers(2, size=len(observations))
    play = np.where(observations["play"][:, 0] == 1, SET, np.where(observations["play"][:, 1] == 1, RUN, OTHER))
    return inputs[which, play], actions[which]


@cache
def all_gathers() -> tuple[Array, Array]:
    """Return the gathers of all renamings, the plain ones before the mirrored: [48, 3, D] and [48, A]."""
    every = [(np.array(order), mirrored) for mirrored in (False, True) for order in ORDERS]
    inputs = np.array([[observation_gather(*one, play) for play in (OTHER, SET, RUN)] for one in every])
    return inputs, np.array([action_gather(*one) for one in every])


def numbers_gather(mirrored: bool, count: int = NUM_NUMBERS) -> Array:
    """Return the gather of numbers, or of the lowest numbers of runs of three."""
    return np.arange(count)[::-1] if mirrored else np.arange(count)


def kinds_gather(colours: Array, mirrored: bool) -> Array:
    """Return the gather of kinds of cards (S2)."""
    naturals = colours[:, None] * NUM_NUMBERS + numbers_gather(mirrored)
    return np.concatenate([naturals.ravel(), np.arange(NUM_NATURALS, r.NUM_KINDS)])


def set_patterns_gather(colours: Array) -> Array:
    """Return the gather of the patterns of sets: a colour left out, or a pair of colours."""
    pairs = [PAIRS.index(tuple(sorted((colours[a], colours[b])))) for a, b in PAIRS]
    return np.concatenate([colours, NUM_COLOURS + np.array(pairs)])


def run_patterns_gather(mirrored: bool) -> Array:
    """Return the gather of the patterns of runs: no wild, or one in the first, second or third place."""
    return np.array([0, 3, 2, 1] if mirrored else [0, 1, 2, 3])


def action_gather(colours: Array, mirrored: bool) -> Array:
    """Return the gather of actions [A]."""
    gather = np.arange(r.NUM_ACTIONS)
    kinds, numbers = kinds_gather(colours, mirrored), numbers_gather(mirrored)
    lows, places = numbers_gather(mirrored, r.RUN_LOWS), run_patterns_gather(mirrored)
    sets = numbers[:, None] * r.SET_PATTERNS + set_patterns_gather(colours)
    runs = (colours[:, None, None] * r.RUN_LOWS + lows[:, None]) * r.RUN_PATTERNS + places
    gather[r.SETS : r.SETS + r.NUM_SETS] = r.SETS + sets.ravel()
    gather[r.RUNS : r.RUNS + r.NUM_RUNS] = r.RUNS + runs.ravel()
    for section, size in ((r.ADD, r.NUM_ADD), (r.SUBSTITUTE, r.NUM_SUBSTITUTE), (r.DISCARD, r.NUM_DISCARD)):
        gather[section : section + size] = section + kinds[:size]
    if mirrored:
        gather[[r.END + r.LOW, r.END + r.HIGH]] = r.END + r.HIGH, r.END + r.LOW
    return gather


def observation_gather(colours: Array, mirrored: bool, play: int) -> Array:
    """Return the gather of the bytes of an observation [D] in which `play` is being asked about."""
    gather = np.arange(o.OBSERVATION.itemsize)
    slices = field_slices(o.OBSERVATION)
    field = {f.name: gather[slices[f.name]].reshape(f.shape) for f in o.FIELDS}
    kinds, numbers = kinds_gather(colours, mirrored), numbers_gather(mirrored)
    for name in ("hand", "open_hands", "discard_top", "discard", "unseen", "held", "play_card"):
        field[name][...] = field[name][..., kinds[: field[name].shape[-1]]]
    if play == SET:
        field["play_number"][:] = field["play_number"][numbers]
        field["play_pattern"][:] = field["play_pattern"][set_patterns_gather(colours)]
    elif play == RUN:
        field["play_number"][: r.RUN_LOWS] = field["play_number"][numbers_gather(mirrored, r.RUN_LOWS)]
        field["play_pattern"][: r.RUN_PATTERNS] = field["play_pattern"][run_patterns_gather(mirrored)]
        field["play_colour"][:] = field["play_colour"][colours]
    for first, columns in ((o.COLOUR, colours), (o.NATURAL, numbers), (o.WILD_CELL, numbers)):
        row = field["piles"][:, first : first + len(columns)]
        row[...] = row[:, columns]
    return gather
