"""The statistics of the studies: small pure functions of arrays.

Positions of one game are not independent of each other, games are: every interval is clustered by game. Wherever
something is chosen because it looked best, it is valued on data that had no part in the choice.

Letters: N positions, G games, C candidates.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from scipy import stats
from statsmodels.stats.multitest import multipletests

from agents.base import Array

CONFIDENCE = 0.95
FEWEST_GAMES = 20  # below, the t interval of a mean of games is not to be trusted
RESAMPLES = 2000


@dataclass(frozen=True)
class Estimate:
    """A mean with its standard error and interval, and out of how many positions of how many games it is.

    p is two-sided, for a mean of 0; nan where there are too few games to say.
    """

    mean: float
    error: float
    low: float
    high: float
    p: float
    positions: int
    games: int


NOTHING = Estimate(math.nan, math.nan, math.nan, math.nan, math.nan, 0, 0)


def groups_of(games: Array) -> Array:
    """Return the number 0..G-1 of each position's game: int64 [N]."""
    return np.asarray(np.unique(games, return_inverse=True)[1], np.int64)


def clustered_mean(values: Array, games: Array, confidence: float = CONFIDENCE) -> Estimate:
    """Return the mean of `values` [N] with an interval that allows for any dependence within games [N].

    The error is the cluster-robust one, sqrt(G / (G - 1) * sum over games of (sum of residuals)^2) / N, the interval
    Student's t with G - 1 degrees of freedom.
    """
    size = len(values)
    if size == 0:
        return NOTHING
    mean = float(np.mean(values))
    sums = np.bincount(groups_of(games), weights=np.asarray(values, np.float64) - mean)
    count = len(sums)
    if count < 2:
        return Estimate(mean, math.nan, math.nan, math.nan, math.nan, size, count)
    error = math.sqrt(count / (count - 1) * float(sums @ sums)) / size
    half = float(stats.t.ppf(0.5 + confidence / 2, count - 1)) * error
    p = math.nan
    if count >= FEWEST_GAMES:
        p = 2 * float(stats.t.sf(abs(mean) / error, count - 1)) if error > 0 else float(mean == 0)
    return Estimate(mean, error, mean - half, mean + half, p, size, count)


def adjusted(p_values: Sequence[float], method: str) -> Array:
    """Return p values adjusted for how many there are: float64, nan where there was none. method: "holm" or "fdr_bh"."""
    p = np.asarray(p_values, np.float64)
    out = np.full(p.shape, np.nan)
    there = np.isfinite(p)
    if there.any():
        out[there] = multipletests(p[there], method=method)[1]
    return out


def clustered_contrast(columns: Array, values: Array, games: Array, weights: Array) -> Estimate:
    """Return a linear contrast of the least-squares coefficients of `values` [N] on `columns` [N, C], clustered by game.

    weights: float64 [C], of the coefficients. By statsmodels, with its correction for few clusters.
    """
    import statsmodels.api as sm

    if np.linalg.matrix_rank(columns) < columns.shape[1]:
        return NOTHING
    fitted = sm.OLS(values, columns).fit(cov_type="cluster", cov_kwds={"groups": groups_of(games)}, use_t=True)
    test = fitted.t_test(weights)
    low, high = np.ravel(test.conf_int(1 - CONFIDENCE))
    mean, error, p = (float(np.ravel(x)[0]) for x in (test.effect, test.sd, test.pvalue))
    return Estimate(mean, error, float(low), float(high), p, len(values), len(np.unique(games)))


def halves(games: Array) -> Array:
    """Return the half, 0 or 1, each game falls into, by its number alone: int64 [N]."""
    return np.asarray(games, np.int64) % 2


def cross_fitted(fit: Callable[[Array], Callable[[Array], Array]], games: Array) -> Array:
    """Return what is chosen for each position by a rule fitted on the other half of the games: bool [N].

    fit(rows) returns a rule fitted on these rows; the rule takes row numbers and returns bool for each.
    """
    half = halves(games)
    chosen = np.zeros(len(games), bool)
    for side in (0, 1):
        there = np.flatnonzero(half == side)
        other = np.flatnonzero(half != side)
        if len(there) and len(other):
            chosen[there] = fit(other)(there)
    return chosen


def split_choice(first: Array, second: Array) -> Array:
    """Return the gain of taking arm 1 where it looks better, float64 [N], without the optimism of a maximum.

    first, second: float64 [N], the difference of the arms on two halves of the worlds. Chosen on one half and valued on the
    other, both ways round.
    """
    return np.where(first > 0, second, 0.0) / 2 + np.where(second > 0, first, 0.0) / 2


@dataclass(frozen=True)
class Threshold:
    """The best limit of a rule `arm 1 up to a limit`: the one found, and a percentile interval of the bootstrap by game."""

    best: int
    low: int
    high: int
    gains: Array  # float64 [C], mean gain of each limit


def best_threshold(
    values: Array,
    sizes: Array,
    may: Array,
    games: Array,
    limits: Sequence[int],
    seed: int = 0,
    confidence: float = CONFIDENCE,
    resamples: int = RESAMPLES,
) -> Threshold:
    """Find the limit k with the most gain of the rule "arm 1 where may and size <= k".

    values: float64 [N], gain of arm 1. sizes: int [N]. may: bool [N]. limits: the candidates, ascending. Of equal ones the
    smallest is taken. The bootstrap draws whole games.
    """
    places = np.searchsorted(np.asarray(limits), sizes)  # the first limit that lets arm 1 be taken
    group = groups_of(games)
    count, columns = int(group.max(initial=-1)) + 1, len(limits)
    inside = may & (places < columns)
    flat = np.bincount(group[inside] * columns + places[inside], weights=values[inside], minlength=count * columns)
    sums = np.cumsum(flat.reshape(count, columns), axis=1)  # by game: gain of each limit
    gains = sums.sum(axis=0) / max(1, len(values))
    rng = np.random.default_rng(seed)
    found = np.empty(resamples, np.int64)
    for i in range(resamples):
        times = np.bincount(rng.integers(0, count, count), minlength=count)
        found[i] = np.argmax(times @ sums)
    edges = (1 - confidence) / 2, (1 + confidence) / 2
    low, high = np.quantile(found, edges, method="inverted_cdf")
    best = int(np.argmax(gains))
    return Threshold(int(limits[best]), int(limits[int(low)]), int(limits[int(high)]), gains)


def variance_cut(variance_0: Array, variance_1: Array, variance_difference: Array) -> float:
    """Return how many times fewer worlds paired rollouts need than independent ones: from variances by position [N]."""
    paired = float(np.mean(variance_difference))
    return float(np.mean(variance_0) + np.mean(variance_1)) / paired if paired > 0 else math.inf
