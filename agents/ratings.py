"""Ratings: Plackett-Luce by maximum likelihood, with intervals from a bootstrap over blocks.

Every agent has a strength; whoever sits at a table wins it in proportion to strength (Luce's choice, the first place of
Plackett and Luce; with two seats Bradley and Terry). The likelihood of all games together is maximised by the MM
algorithm of Hunter, "MM algorithms for generalized Bradley-Terry models", Annals of Statistics 32 (2004) 384-406, so the
order of the games does not matter. A rating is 400 log10 of the strength against the anchor's: 400 points are odds of ten
to one.

Each matchup is given one more game, shared as if all were equal, so that an agent who always won has a finite rating;
its weight fades with the number of games. Ratings are one number for each agent and can't show that A beats B, B beats C
and C beats A: read them beside the payoff matrix.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]

REPLICATES = 400
SCALE = 400 / np.log(10)
MAX_STEPS = 20_000
TOLERANCE = 1e-9
PRIOR_GAMES = 1.0


@dataclass(frozen=True)
class Rating:
    """An agent's rating and its interval."""

    name: str
    value: float
    low: float
    high: float


def usual_anchor(names: Sequence[str]) -> int:
    """Return the agent to be rated 0: a random one if there is one, else the first."""
    for k, name in enumerate(names):
        if name.rpartition(":")[2] == "random" or name.partition(":")[0] == "random":
            return k
    return 0


def strengths(ones: Sequence[int], rests: Sequence[int], wins: Array, games: Array, num_players: int) -> Array:
    """Return the log strengths that make the results likeliest: float64 [..., K], their mean 0.

    In matchup m agent ones[m] sat alone among num_players - 1 copies of rests[m]: wins [..., M] of games [M] were its own
    (shared wins count in part).
    """
    one, rest = np.asarray(ones), np.asarray(rests)
    num_agents = int(max(one.max(), rest.max())) + 1
    others = num_players - 1
    all_games = games + PRIOR_GAMES
    all_wins = wins + PRIOR_GAMES / num_players
    chosen_one = np.eye(num_agents)[one]  # [M, K]
    chosen_rest = np.eye(num_agents)[rest]
    won = all_wins @ chosen_one + (all_games - all_wins) @ chosen_rest  # [..., K]
    gamma = np.ones(won.shape)
    for _ in range(MAX_STEPS):
        share = all_games / (gamma[..., one] + others * gamma[..., rest])
        new = won / (share @ chosen_one + others * (share @ chosen_rest))
        new /= np.exp(np.log(new).mean(axis=-1, keepdims=True))
        moved = np.max(np.abs(np.log(new / gamma)))
        gamma = new
        if moved < TOLERANCE:
            break
    return np.asarray(np.log(gamma))


def rate(
    names: Sequence[str],
    ones: Sequence[int],
    rests: Sequence[int],
    wins: Array,
    num_players: int,
    anchor: int = 0,
    *,
    replicates: int = REPLICATES,
    seed: int = 0,
    confidence: float = 0.95,
) -> list[Rating]:
    """Return a rating for each agent, `anchor` at 0, with percentile intervals over resampled blocks.

    wins: [N, M], in each block and matchup the games won by the one (of num_players games, one in each seat).
    """
    size = len(wins)
    games = np.full(wins.shape[1], float(size * num_players))
    total = wins.sum(axis=0)
    value = _anchored(strengths(ones, rests, total, games, num_players), anchor)
    rng = np.random.default_rng(seed)
    resampled = np.array([np.bincount(rng.integers(size, size=size), minlength=size) @ wins for _ in range(replicates)])
    drawn = _anchored(strengths(ones, rests, resampled, games, num_players), anchor)
    tail = 50 * (1 - confidence)
    low, high = np.percentile(drawn, [tail, 100 - tail], axis=0)
    return [Rating(name, float(value[k]), float(low[k]), float(high[k])) for k, name in enumerate(names)]


def _anchored(log_strengths: Array, anchor: int) -> Array:
    return np.asarray(SCALE * (log_strengths - log_strengths[..., anchor : anchor + 1]))
