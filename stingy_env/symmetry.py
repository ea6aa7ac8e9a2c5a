"""Renamings under which Stingy is the same: the kinds of one image are interchangeable.

Where different colours score (G18), a colour must be the same colour in all images. While groups are handed over they
are asked for in ascending order of kinds (G14), and nothing is renamed.

Everything is written as *gathers*: value i of what is renamed is value gather[i] of the original.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from stingy_env import observation as o
from stingy_env import rules as r
from tabletop.state import field_slices

Array = NDArray[Any]
BY_KIND = ("displays", "values", "complete", "unseen", "demanded", "last_group", "undecided")


def random_symmetries(observations: Array, colours_score: bool, rng: np.random.Generator) -> tuple[Array, Array]:
    """Return a random renaming of each observation: gathers of its bytes [B, D] and of the actions [B, A].

    observations: records [B]. colours_score: whether all images must be renamed alike.
    """
    kinds = random_kinds(len(observations), colours_score, rng)
    kinds[observations["phase"][:, [r.Phase.RESPOND, r.Phase.GIVE]].any(axis=1)] = np.arange(r.NUM_KINDS)
    inputs = np.tile(np.arange(o.OBSERVATION.itemsize), (len(kinds), 1))
    slices = field_slices(o.OBSERVATION)
    for name in BY_KIND:
        rename(inputs, slices[name], kinds)
    actions = np.tile(np.arange(r.NUM_ACTIONS), (len(kinds), 1))
    rename(actions, slice(r.DEMAND, r.DEMAND + r.NUM_DEMAND), kinds)
    rename(actions, slice(r.GROUP, r.GROUP + r.NUM_GROUP), kinds)
    return inputs, actions


def random_kinds(size: int, colours_score: bool, rng: np.random.Generator) -> Array:
    """Return random gathers of the kinds [B, 25]: colours exchanged within each image, the flag as it is."""
    images = r.NUM_IMAGES - 1
    orders = np.tile(np.arange(r.NUM_COLOURS), (size, 1 if colours_score else images, 1))
    orders = np.broadcast_to(rng.permuted(orders, axis=2), (size, images, r.NUM_COLOURS))
    kinds = np.arange(images)[:, None] * r.NUM_COLOURS + orders
    return np.concatenate([kinds.reshape(size, r.FLAG), np.full((size, 1), r.FLAG)], axis=1)


def rename(gather: Array, part: slice, kinds: Array) -> None:
    """Rename, in place, a part of the gathers [B, ...] that is one value for each kind, once or several times."""
    for start in range(part.start, part.stop, r.NUM_KINDS):
        gather[:, start : start + r.NUM_KINDS] = start + kinds
