"""What a study asks: two ways to go on from one position, and which positions are asked about.

A question is a value of plain functions, so that it can be sent to other processes. A game's own part is small: which
positions, which actions, how to deal anew what nobody has seen, what to write down about a position.

Letters: B positions, W worlds, P seats, T actions of an arm.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from agents.base import Agent
from tabletop.game import BatchGame

Array = NDArray[Any]
NO_MOVE = -1  # pads the actions of the shorter arm


@dataclass(frozen=True)
class Axis:
    """A feature that a chart is laid out by: a cell for each of `levels`, what lies beyond the ends with the end."""

    feature: str
    title: str
    levels: tuple[int, ...]
    labels: tuple[str, ...] = ()

    def place(self, values: Array) -> Array:
        """Return the index of the level of each value: int64, levels being the lower edges of their cells."""
        places = np.searchsorted(np.asarray(self.levels), values, side="right") - 1
        return np.clip(places, 0, len(self.levels) - 1)

    @property
    def names(self) -> tuple[str, ...]:
        """What the levels are called."""
        return self.labels or tuple(str(level) for level in self.levels)


@dataclass(frozen=True)
class Question:
    """Which of two arms is better, arm 0 or arm 1.

    options: rules options under which it is asked unless others are given. points: what one unit of the game's margin
    reward is in points of the game. The functions, of positions [B] and of columns of features [N]:

    asked(game, states, agent, keys)     bool [B], which positions pose the question
    moves(game, states, agent, keys)     int64 [B, 2, T], the actions of each arm, all by the player on turn, NO_MOVE after
                                         the last
    reshuffle(game, states, seeds, W)    records [B * W], what nobody has seen dealt anew, every hand as it is
    features(game, states)               columns [B] of what the player on turn may know
    rules(columns)                       by name bool [N], fixed rules: where they take arm 1
    families(columns)                    by name with "k" in it bool [N]: where a rule with a threshold may take arm 1 at all
    groups(columns)                      by name bool [N], coarse cells for comparisons

    across, down: how charts are laid out. limit, limits: the feature that thresholds are of, and those tried. tree: the
    features that a decision tree may use.
    """

    name: str
    game: str
    title: str
    arms: tuple[str, str]
    options: tuple[tuple[str, Any], ...]
    asked: Callable[[BatchGame, Array, Agent, Array], Array]
    moves: Callable[[BatchGame, Array, Agent, Array], Array]
    reshuffle: Callable[[BatchGame, Array, Array, int], Array]
    features: Callable[[BatchGame, Array], Mapping[str, Array]]
    across: Axis
    down: Axis
    rules: Callable[[Mapping[str, Array]], Mapping[str, Array]]
    limit: str
    limits: tuple[int, ...]
    families: Callable[[Mapping[str, Array]], Mapping[str, Array]]
    groups: Callable[[Mapping[str, Array]], Mapping[str, Array]]
    tree: tuple[str, ...]
    points: float = 100.0


def action_arms(first: int, second: int, states: Array) -> Array:
    """Return the moves of a question between two actions: int64 [B, 2, 1]."""
    return np.tile(np.array([[first], [second]], np.int64), (len(states), 1, 1))


def legal(states: Array, action: int) -> Array:
    """Return where an action is legal for the player on turn: bool [B]."""
    word = states["legal"][:, action >> 6]
    return np.asarray((word >> np.uint64(action & 63)) & np.uint64(1), bool) & (states["current_player"] >= 0)
