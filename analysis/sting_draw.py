"""Sting's question: draw one card or two (S6)?

Stuckness was defined before any result was looked at, from the rules alone:

    0  free: something can be played without drawing, that is, a set, a run, an add, a substitution, a take or a pass
    1  loose: nothing can, but one card more would do, and at least one in four of the cards that the player has not seen
       is such a card
    2  tight: one card more would do, but fewer than one in four of the unseen cards do
    3  dead: no single card would do; two are missing, or more

"Stuck" is 1 or more. Hand size is counted before the draw. "Few" cards are at most FEW, as the bots read the rulebook's
hint; "many" are at least MANY; hands between are neither.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from agents.base import Agent, Array
from agents.sting_choices import HINT_CARDS, could_play
from analysis.questions import Axis, Question, action_arms, legal
from sting_env.game import StingGame
from sting_env.piles import NUM_NUMBERS
from sting_env.rules import (
    DRAW_ONE,
    DRAW_TWO,
    FIRST_WILD,
    HAND_POINTS,
    NUM_KINDS,
    NUM_NATURALS,
    PASS_A_PILE,
    TAKE_IT_BACK,
    Phase,
)
from tabletop.game import BatchGame
from tabletop.jit import entry

FREE, LOOSE, TIGHT, DEAD = range(4)
FAIR_CHANCE = 0.25  # of the unseen cards
FEW, MANY = HINT_CARDS, 8


@entry
def measure(observations: Any, free: Any, outs: Any) -> None:
    """Write whether something could be played, and the share of unseen cards with any one of which it could.

    observations: records [B], restored. free: uint8 [B]. outs: float64 [B].
    """
    for b in range(observations.shape[0]):
        o = observations[b]
        free[b] = could_play(o)
        good, total = np.int64(0), np.int64(0)
        o.hand_size[0] += 1
        for kind in range(NUM_KINDS):
            unseen = np.int64(o.unseen[kind])
            if unseen > 0:
                total += unseen
                o.hand[kind] += 1
                if could_play(o):
                    good += unseen
                o.hand[kind] -= 1
        o.hand_size[0] -= 1
        outs[b] = good / total if total > 0 else 0.0


def stuckness(free: Array, outs: Array) -> Array:
    """Return the level of stuckness, 0 to 3: int64 [B]. free: bool [B]. outs: float64 [B]."""
    stuck = np.where(outs >= FAIR_CHANCE, LOOSE, np.where(outs > 0, TIGHT, DEAD))
    return np.where(free, FREE, stuck).astype(np.int64)


def hand_points(hand: Array, face_values: bool) -> Array:
    """Return what hands int [B, K] cost (S30, S31): int64 [B]."""
    points = np.array(HAND_POINTS)
    if face_values:
        points[:NUM_NATURALS] = np.arange(NUM_NATURALS) % NUM_NUMBERS + 1
    return np.asarray(hand.astype(np.int64) @ points)


def features(game: BatchGame, states: Array) -> Mapping[str, Array]:
    """Return what is written down about positions before a draw, columns [B]: all of it the player on turn may know."""
    o = game.observe(states)
    size = len(states)
    free, outs = np.empty(size, np.uint8), np.empty(size)
    measure(o, free, outs)
    n = states["num_players"].astype(np.int64)
    hands, table, totals = (o[name].astype(np.int64) for name in ("hand_size", "table_points", "totals"))
    others = np.arange(1, hands.shape[1]) < n[:, None]  # rel 1..5, where somebody sits
    columns = {
        "players": n,
        "hand_size": hands[:, 0],
        "stuckness": stuckness(free.astype(bool), outs),
        "outs": outs,
        "hand_points": hand_points(o["hand"], game.config.face_values),
        "wilds": o["hand"][:, FIRST_WILD:PASS_A_PILE].sum(axis=1),
        "passes": o["hand"][:, PASS_A_PILE],
        "returns": o["hand"][:, TAKE_IT_BACK],
        "word_cards": o["hand"][:, PASS_A_PILE : TAKE_IT_BACK + 1].sum(axis=1),
        "deck": states["draw_size"],
        "discard": states["discard_size"],
        "turn": states["turn"],
        "round": states["rounds_done"],
        "piles": states["num_piles"],
        "own_table": table[:, 0],
        "others_table": np.where(others, table[:, 1:], 0).sum(axis=1) / (n - 1),
        "own_total": totals[:, 0],
        "least_total": np.where(others, totals[:, 1:], 1 << 20).min(axis=1),
        "least_hand": np.where(others, hands[:, 1:], 127).min(axis=1),
        "others_hand": np.where(others, hands[:, 1:], 0).sum(axis=1) / (n - 1),
    }
    columns |= {f"hand_{rel}": hands[:, rel] for rel in range(1, hands.shape[1])}
    return {
        name: np.asarray(values, np.float64 if values.dtype.kind == "f" else np.int64)
        for name, values in columns.items()
    }


def groups(columns: Mapping[str, Array]) -> Mapping[str, Array]:
    """Return coarse cells for comparisons: sizes of hand, free or stuck, bool [N] by name."""
    hand, stuck = columns["hand_size"], columns["stuckness"] > FREE
    edges = {"1": (1, 1), "2": (2, 2), "3-4": (3, 4), "5-7": (5, 7), "8+": (8, 127)}
    return {
        f"{name} {word}": (hand >= low) & (hand <= high) & (stuck == state)
        for word, state in (("free", False), ("stuck", True))
        for name, (low, high) in edges.items()
    }


def asked(game: BatchGame, states: Array, agent: Agent, keys: Array) -> Array:
    """Return where one or two may be drawn: bool [B]."""
    return (states["phase"] == Phase.DRAW) & legal(states, DRAW_TWO)


def moves(game: BatchGame, states: Array, agent: Agent, keys: Array) -> Array:
    """Return both draws: int64 [B, 2, 1]."""
    return action_arms(DRAW_ONE, DRAW_TWO, states)


def reshuffle(game: BatchGame, states: Array, seeds: Array, worlds: int) -> Array:
    """Deal the undrawn cards anew, hands as they are: what those can't know who see every hand (option open_hands)."""
    seer = StingGame(replace(game.config, open_hands=True))
    return seer.determinize(states, None, seeds, worlds)


def rules(columns: Mapping[str, Array]) -> Mapping[str, Array]:
    """Return the rules compared, where they draw two: bool [N] by name."""
    hand = columns["hand_size"]
    stuck = columns["stuckness"] > FREE
    return {
        "always one": np.zeros(len(hand), bool),
        "always two": np.ones(len(hand), bool),
        "the rulebook's hint": stuck & (hand <= FEW),
    }


def families(columns: Mapping[str, Array]) -> Mapping[str, Array]:
    """Return the rules with a threshold k for the hand, where they may draw two at all: bool [N] by name."""
    stuck = columns["stuckness"] > FREE
    return {"two with at most k cards": np.ones(len(stuck), bool), "two when stuck with at most k cards": stuck}


DRAW = Question(
    name="draw",
    game="sting-v0",
    title="Draw one card or two?",
    arms=("one", "two"),
    options=(("rounds", 1),),
    asked=asked,
    moves=moves,
    reshuffle=reshuffle,
    features=features,
    across=Axis("hand_size", "cards in hand before the draw", tuple(range(1, 13)), (*map(str, range(1, 12)), "12+")),
    down=Axis("stuckness", "stuckness", (FREE, LOOSE, TIGHT, DEAD), ("0 free", "1 loose", "2 tight", "3 dead")),
    rules=rules,
    limit="hand_size",
    limits=tuple(range(13)),
    families=families,
    groups=groups,
    tree=(
        "hand_size", "stuckness", "outs", "hand_points", "wilds", "word_cards", "deck", "turn", "piles", "own_table",
        "others_table", "least_hand", "others_hand",
    ),
)  # fmt: skip
