"""The bots of Sting for the registry and the arena: names, options, how a game ended, how an agent played.

How they choose is in `agents.sting_choices` and `agents.sting_planner`, apart from this so that they are compiled anew
only when they change themselves.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from agents import registry
from agents.base import Array, Bots, Outcome
from agents.sting_choices import FEW, HINT, ONE, OWN_RULE, TWO
from agents.sting_planner import choose
from sting_env.rules import (
    ACCEPT,
    ADD,
    DISCARD,
    DRAW_ONE,
    DRAW_TWO,
    NUM_KINDS,
    PASS,
    RETURN,
    RUNS,
    SETS,
    SUBSTITUTE,
    TAKE,
)

NAMES = ("random", "greedy", "rulebook", "planner")  # by bot number
LARGEST_HAND = 127


def read_options(name: str, texts: Mapping[str, str]) -> int:
    """Return the number of a bot's options: the draw rule."""
    text = texts.get("draw")
    if text is None:
        return OWN_RULE
    if text in ("1", "2"):
        return ONE if text == "1" else TWO
    if text == "hint":
        return HINT
    limit = text.removeprefix("<=")
    if limit != text and limit.isdecimal() and int(limit) <= LARGEST_HAND:
        return FEW + int(limit)
    raise ValueError(f"draw must be 1, 2, hint or <=k (k 0 to {LARGEST_HAND}), not {text!r}")


def outcome(states: Array) -> Outcome:
    """Return the totals and the winners of finished games (S33)."""
    totals = states["totals"].astype(np.float64)
    taken = np.arange(totals.shape[1]) < states["num_players"][:, None]
    lowest_total = np.where(taken, totals, np.inf).min(axis=1, keepdims=True)
    return Outcome(totals, taken & (totals == lowest_total))


def behaviour(counts: Array) -> dict[str, float]:
    """Sum up how an agent plays: the share of draws that are two, and what it does a turn."""
    turns = max(1, int(counts[DISCARD : DISCARD + NUM_KINDS].sum()))
    plays = {
        "sets": counts[SETS:RUNS].sum(),
        "runs": counts[RUNS:ADD].sum(),
        "adds": counts[ADD:SUBSTITUTE].sum(),
        "substitutions": counts[SUBSTITUTE:TAKE].sum(),
        "takes": counts[TAKE],
        "passes": counts[PASS],
        "returns": counts[RETURN],
    }
    draws = max(1, int(counts[DRAW_ONE] + counts[DRAW_TWO]))
    asked = max(1, int(counts[ACCEPT] + counts[RETURN]))
    figures = {"draw two": counts[DRAW_TWO] / draws, "returns a pile passed": counts[RETURN] / asked}
    figures |= {f"{name} a turn": count / turns for name, count in plays.items()}
    return {"turns": float(turns)} | {name: float(value) for name, value in figures.items()}


BOTS = registry.register(
    Bots(
        game="sting-v0",
        choose=choose,
        names=NAMES,
        meanings=(
            "any legal action",
            "any play before a discard, good choices within",
            "the rulebook's order of play and its draw hint",
            "a search of the whole turn, its ends weighed by what is fitted to games",
        ),
        options={"draw": "1, 2, hint or <=k"},
        read_options=read_options,
        outcome=outcome,
        behaviour=behaviour,
    )
)
