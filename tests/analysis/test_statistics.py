"""The statistics against what is known, or worked out in another way."""

import math

import numpy as np
import pytest

from analysis.statistics import (
    adjusted,
    best_threshold,
    clustered_contrast,
    clustered_mean,
    cross_fitted,
    halves,
    split_choice,
    variance_cut,
)

RNG = np.random.default_rng(7)


def clustered(games, size, within, rng=RNG):
    """Return values of mean 0 that share a part within a game, and the games."""
    group = np.repeat(np.arange(games), size)
    return rng.normal(size=games)[group] * math.sqrt(within) + rng.normal(size=games * size) * math.sqrt(
        1 - within
    ), group


def test_the_interval_holds_what_it_says_where_games_depend():
    inside = naive = 0
    for _ in range(600):
        values, games = clustered(60, 5, 0.5)
        e = clustered_mean(values, games)
        inside += e.low <= 0 <= e.high
        naive += abs(values.mean()) <= 1.96 * values.std() / math.sqrt(len(values))
    assert abs(inside / 600 - 0.95) < 0.035
    assert naive / 600 < 0.85  # what clustering is for


def test_independent_positions_give_the_usual_interval():
    values = RNG.normal(size=200)
    e = clustered_mean(values, np.arange(200))
    assert e.error == pytest.approx(values.std(ddof=1) / math.sqrt(200))
    assert (e.positions, e.games) == (200, 200)


def test_the_mean_agrees_with_statsmodels():
    import statsmodels.api as sm

    values, games = clustered(40, 3, 0.3)
    values[:7] += 1
    e = clustered_mean(values, games)
    fitted = sm.OLS(values, np.ones_like(values)).fit(cov_type="cluster", cov_kwds={"groups": games})
    assert e.mean == pytest.approx(fitted.params[0])
    assert e.error == pytest.approx(fitted.bse[0], rel=0.01)  # which differ in the correction for few clusters


def test_with_few_games_nothing_is_tested():
    assert math.isnan(clustered_mean(RNG.normal(size=10), np.arange(10)).p)
    assert math.isnan(clustered_mean(np.ones(3), np.zeros(3)).low)
    assert math.isnan(clustered_mean(np.empty(0), np.empty(0)).mean)
    constant = clustered_mean(np.zeros(30), np.arange(30))
    assert (constant.mean, constant.p) == (0.0, 1.0)


def test_p_values_adjusted():
    p = [0.01, 0.02, math.nan, 0.03, 0.5]
    np.testing.assert_allclose(adjusted(p, "holm"), [0.04, 0.06, math.nan, 0.06, 0.5])
    np.testing.assert_allclose(adjusted(p, "fdr_bh"), [0.04, 0.04, math.nan, 0.04, 0.5])
    assert np.isnan(adjusted([math.nan], "holm")).all()


def test_a_contrast_is_the_difference_of_differences():
    cell = np.tile(np.arange(4), 100)
    games = np.repeat(np.arange(50), 8)
    values = np.array([3.0, 1.0, 1.0, 0.5])[cell] + RNG.normal(size=400) * 0.1
    columns = np.eye(4)[cell]
    e = clustered_contrast(columns, values, games, np.array([1.0, -1, -1, 1]))
    means = [values[cell == c].mean() for c in range(4)]
    assert e.mean == pytest.approx(means[0] - means[1] - means[2] + means[3])
    assert e.low < 1.5 < e.high
    empty = clustered_contrast(columns * [1, 1, 1, 0], values, games, np.array([1.0, -1, -1, 1]))
    assert math.isnan(empty.mean)


def test_choices_are_fitted_on_the_other_half():
    games = np.repeat(np.arange(10), 2)
    seen = []

    def fit(rows):
        seen.append(set(halves(games)[rows]))
        return lambda there: np.full(len(there), halves(games)[rows][0] == 1)

    chosen = cross_fitted(fit, games)
    assert seen == [{1}, {0}]
    assert np.array_equal(chosen, halves(games) == 0)


def test_a_split_choice_is_not_flattered():
    first, second = RNG.normal(size=(2, 20_000))
    assert abs(split_choice(first, second).mean()) < 0.03
    assert np.maximum(0, (first + second) / 2).mean() > 0.2
    same = np.array([1.0, -2.0])
    assert split_choice(same, same).tolist() == [1.0, 0.0]


def test_the_best_threshold_and_its_interval():
    sizes = RNG.integers(1, 11, 4000)
    games = np.arange(4000) // 4
    values = 0.1 * (4.5 - sizes) + RNG.normal(size=4000) * 0.5
    found = best_threshold(values, sizes, np.ones(4000, bool), games, range(11), resamples=300)
    assert found.best == 4
    assert found.low <= 4 <= found.high
    by_hand = [np.where(sizes <= k, values, 0).mean() for k in range(11)]
    np.testing.assert_allclose(found.gains, by_hand)
    never = best_threshold(values, sizes, np.zeros(4000, bool), games, range(11), resamples=10)
    assert (never.best, never.low, never.high) == (0, 0, 0)
    again = best_threshold(values, sizes, np.ones(4000, bool), games, range(11), resamples=300)
    assert (again.low, again.high) == (found.low, found.high)


def test_the_variance_cut():
    assert variance_cut(np.array([1.0, 3.0]), np.array([2.0, 2.0]), np.array([1.0, 1.0])) == 4.0
    assert variance_cut(np.ones(2), np.ones(2), np.zeros(2)) == math.inf
