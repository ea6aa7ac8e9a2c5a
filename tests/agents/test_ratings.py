"""Ratings recover strengths that were planted."""

from __future__ import annotations

import numpy as np
import pytest

from agents import ratings

STRENGTHS = np.array([0.0, 150.0, 400.0])  # in points of rating


def play(rng, num_players, blocks):
    """Return wins [N, M] of every ordered pair of agents with STRENGTHS, one game in each seat."""
    gamma = 10 ** (STRENGTHS / 400)
    pairs = [(i, j) for i in range(3) for j in range(3) if i != j]
    chance = [gamma[i] / (gamma[i] + (num_players - 1) * gamma[j]) for i, j in pairs]
    ones, rests = zip(*pairs, strict=True)
    return ones, rests, rng.binomial(num_players, chance, size=(blocks, len(pairs))).astype(float)


@pytest.mark.parametrize("num_players", [2, 4])
def test_planted_strengths_are_recovered(num_players):
    rng = np.random.default_rng(num_players)
    found = ratings.rate("abc", *play(rng, num_players, 2000), num_players)
    assert found[0].value == found[0].low == found[0].high == 0
    for rating, true in zip(found[1:], STRENGTHS[1:], strict=True):
        assert rating.low < true < rating.high
        assert abs(rating.value - true) < 30


def test_intervals_cover():
    rng = np.random.default_rng(9)
    found = [ratings.rate("abc", *play(rng, 2, 60), 2, replicates=200) for _ in range(100)]
    covered = np.mean(
        [r.low <= true <= r.high for row in found for r, true in zip(row[1:], STRENGTHS[1:], strict=True)]
    )
    assert 0.88 <= covered <= 0.99


def test_the_order_of_blocks_does_not_matter():
    rng = np.random.default_rng(3)
    ones, rests, wins = play(rng, 3, 100)
    first = ratings.rate("abc", ones, rests, wins, 3)
    again = ratings.rate("abc", ones, rests, wins[::-1], 3)
    assert [r.value for r in first] == pytest.approx([r.value for r in again])


def test_who_always_wins_is_rated_all_the_same():
    strong, weak = ratings.rate(("strong", "random"), [0], [1], np.full((50, 1), 2.0), 2, anchor=1)
    assert weak.value == 0
    assert 600 < strong.value < 1200


def test_two_agents_have_the_odds_of_their_wins():
    wins = np.array([[2.0], [2.0], [1.0], [1.0]] * 100)
    strong, _ = ratings.rate(("a", "b"), [0], [1], wins, 2, anchor=1)
    assert strong.value == pytest.approx(400 * np.log10(600.5 / 200.5))


def test_the_usual_anchor():
    assert ratings.usual_anchor(["greedy", "sting:random"]) == 1
    assert ratings.usual_anchor(["greedy", "random:draw=1"]) == 1
    assert ratings.usual_anchor(["greedy", "rulebook"]) == 0
