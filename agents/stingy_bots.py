"""The bots of Stingy for the registry and the arena: names, options, how a game ended, how an agent played.

How they choose is in `agents.stingy_greedy` and `agents.stingy_choices`, apart from this so that they are compiled anew
only when they change themselves.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from agents import registry
from agents.base import Agent, Array, Bots, Outcome
from agents.stingy_choices import choose
from agents.stingy_greedy import IMAGE, OWN_RULE
from stingy_env.rules import (
    DEMAND,
    GROUP,
    NO_SWAP,
    NUM_DEMAND,
    NUM_IMAGES,
    NUM_KINDS,
    PAY,
    TILES_EXTRA,
    TILES_REGULAR,
)
from tabletop.game import BatchGame

NAMES = ("random", "greedy", "lookahead")  # by bot number
RULES = ("", "always", "never", "hint")  # by option number


def read_options(name: str, texts: Mapping[str, str]) -> int:
    """Return the number of a bot's options: the extra-tile rule."""
    text = texts.get("extra")
    if text is None:
        return OWN_RULE
    if text not in RULES[1:]:
        raise ValueError(f"extra must be always, never or hint, not {text!r}")
    return RULES.index(text)


def outcome(states: Array) -> Outcome:
    """Return the scores and the winners of finished games (G18); the ghost has neither (G19)."""
    seats = np.arange(states["scores"].shape[1])
    taken = seats < states["num_players"][:, None]
    points = np.where(taken, states["scores"], 0).astype(np.float64)
    return Outcome(points, (states["winners"][:, None] >> seats) & 1 != 0)


def behaviour(counts: Array) -> dict[str, float]:
    """Sum up how an agent plays: swaps a decision to swap, whom it asks for what, what it takes, pays and draws.

    Turns in which no swap was possible, and decisions with one legal action, are not counted: nobody was asked.
    """
    demands = counts[DEMAND : DEMAND + NUM_DEMAND].reshape(-1, NUM_KINDS).sum(axis=0)
    swaps, none = int(demands.sum()), int(counts[NO_SWAP])
    images = [int(demands[image == IMAGE].sum()) for image in range(NUM_IMAGES)]
    each = max(1, swaps)
    figures = {"swaps a chance": swaps / max(1, swaps + none)}
    names = ("bottles", "parrots", "coins", "diamonds", "flags")
    figures |= {f"demands that are {name}": n / each for name, n in zip(names, images, strict=True)}
    figures |= {
        "groups handed over a swap": int(counts[GROUP : GROUP + NUM_KINDS].sum()) / each,
        "payments asked a swap": int(counts[PAY]) / each,
        "extra tiles taken": counts[TILES_EXTRA] / max(1, counts[TILES_REGULAR] + counts[TILES_EXTRA]),
    }
    return {"turns with a choice": float(swaps + none)} | {name: float(value) for name, value in figures.items()}


def make_search(game: BatchGame, options: dict[str, str]) -> Agent:
    """Return the tree search, compiled only when it is wanted."""
    from agents.stingy_mcts import make

    return make(game, options)


BOTS = registry.register(
    Bots(
        game="stingy-v0",
        choose=choose,
        names=NAMES,
        meanings=(
            "any legal action",
            "the best change of standing at once, after the best reply",
            "the best outlook after the reply and the opponents' next demands; the end played out",
        ),
        options={"extra": "always, never or hint"},
        read_options=read_options,
        outcome=outcome,
        behaviour=behaviour,
    )
)
registry.register_maker(
    "stingy-v0", "mcts", make_search, "tree search from lookahead's best, options playouts=N or ms=N"
)
