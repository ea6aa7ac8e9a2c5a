"""Fit the weights of Sting's bot `planner` anew: what the ends of its turns say of the rest of the round.

`planner` plays rounds against itself, one decision in ten at random, so that ends it would not choose are seen too. Each end
of a turn by a discard is described as `planner` sees it (`agents.sting_planner`, FEATURES); who goes out is told by a
logistic regression, the margin by a ridge regression. The weights shipped are such fits, added up in a proportion
found by play:

    python -m analysis.fit_planner --players 4 --rounds 50000

prints a line for each feature: the weights for going out, for the margin in the scale of a round's payoff, and the two
shipped. Other rules, other weights: `collect` takes any game of Sting.
"""

from __future__ import annotations

import argparse
import sys
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from agents.registry import make_agent
from agents.sting_planner import FITTED, WEIGHTS, describe_ends
from sting_env import StingGame
from sting_env.rules import DISCARD, NUM_KINDS
from tabletop.seeding import spread

Array = NDArray[Any]
LANES = 256
EXPLORED = 0.1  # share of decisions made at random
FOLLOWED = "planner"


class Ends(NamedTuple):
    """Ends of turns: features float64 [N, F], whether the player went out bool [N], payoff of the round float64 [N]."""

    features: Array
    out: Array
    payoff: Array


class Fit(NamedTuple):
    """Weights of the features, float64 [F] each, and how much they tell: area under the curve, share of the variance."""

    going_out: Array
    payoff: Array
    area: float
    explained: float


def collect(game: StingGame, rounds: int, seed: int) -> Ends:
    """Play rounds and return the ends of all turns that did not end the round."""
    bot, rng = make_agent(FOLLOWED, game), np.random.default_rng(seed)
    parts: list[Ends] = []
    for first in range(0, rounds, LANES):
        states = game.new_states(min(LANES, rounds - first))
        game.reset(states, spread(seed, len(states), first=first))
        seen: list[tuple[Array, Array, Array]] = []  # lanes, players and features of ends
        while len(on := np.flatnonzero(~game.terminated(states))):
            part = states[on]
            observations, masks = game.observe(part), game.legal_action_mask(part)
            actions = bot.act(observations, masks, rng.integers(0, 2**63, len(on), dtype=np.uint64))
            for i in np.flatnonzero(rng.random(len(on)) < EXPLORED):
                actions[i] = rng.choice(np.flatnonzero(masks[i]))
            ends = np.flatnonzero((actions >= DISCARD) & (actions < DISCARD + NUM_KINDS))
            ends = ends[observations["hand_size"][ends, 0] > 1]
            players = part["current_player"][ends].astype(np.int64)
            seen.append((on[ends], players, describe_ends(observations[ends], actions[ends] - DISCARD)))
            game.step(states, actions, lanes=on)
        lanes, players, features = (np.concatenate(column) for column in zip(*seen, strict=True))
        out = states["hand_size"][lanes, players] == 0
        parts.append(Ends(features, out, states["returns"][lanes, players].astype(np.float64)))
        print(
            f"collect: {first + len(states):,} of {rounds:,} rounds",
            end="\r" if sys.stdout.isatty() else "\n",
            flush=True,
        )
    return Ends(*(np.concatenate(column) for column in zip(*parts, strict=True)))


def fit(ends: Ends, strength: float) -> Fit:
    """Return the weights that tell most; strength: how much weights are drawn to zero."""
    from sklearn.linear_model import LogisticRegression, Ridge
    from sklearn.metrics import r2_score, roc_auc_score

    half = len(ends.out) // 2
    train, test = Ends(*(column[:half] for column in ends)), Ends(*(column[half:] for column in ends))
    going_out = LogisticRegression(C=1 / strength, max_iter=1000).fit(train.features, train.out)
    payoff = Ridge(alpha=strength).fit(train.features, train.payoff)
    area = roc_auc_score(test.out, going_out.decision_function(test.features))
    explained = r2_score(test.payoff, payoff.predict(test.features))
    return Fit(going_out.coef_[0], payoff.coef_, float(area), float(explained))


def main(arguments: list[str] | None = None) -> None:
    """Collect, fit and print."""
    reader = argparse.ArgumentParser("python -m analysis.fit_planner", description="Fit the weights of planner anew.")
    reader.add_argument("--players", type=int, default=2)
    reader.add_argument("--rounds", type=int, default=20_000, help="to learn from")
    reader.add_argument("--seed", type=int, default=1)
    reader.add_argument("--strength", type=float, default=10.0, help="how much weights are drawn to zero")
    given = reader.parse_args(arguments)
    try:
        game = StingGame(num_players=given.players, rounds=1)
    except ValueError as error:
        raise SystemExit(f"fit_planner: {error}") from None
    found = fit(collect(game, given.rounds, given.seed), given.strength)
    shipped = WEIGHTS[:, given.players - 2]
    print(f"{'feature':24}{'going out':>10}{'shipped':>10}{'payoff':>10}{'shipped':>10}")
    for k, name in enumerate(FITTED):
        row = (found.going_out[k], shipped[0, k], found.payoff[k], shipped[1, k])
        print(f"{name:24}" + "".join(f"{value:10.2f}" for value in row))
    print(
        f"going out: area under the curve {found.area:.3f}; payoff: {found.explained:.3f} of the variance, on the other half"
    )


if __name__ == "__main__":
    main()
