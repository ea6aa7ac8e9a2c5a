"""The study finds what is known to be there, its sign, its size and its threshold, and nothing where nothing is."""

import numpy as np
import pytest

from analysis import findings
from analysis.datasets import Settings, make
from analysis.statistics import clustered_mean
from tabletop.jit import COMPILED
from tests.analysis.race import LIMIT, RACE

pytestmark = pytest.mark.skipif(not COMPILED, reason="needs many games")
SLOPE = 0.05
SETTINGS = Settings(
    players=2, behaviour=("bettor",), continuation=("bettor",), swapper="bettor", policies=("bettor:p=100",), states=6000,
    worlds=8, keep=0.5, explore=0.0, seed=3,
)  # fmt: skip


def settings(**changes):
    return Settings(**{**SETTINGS.__dict__, **changes})


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    return make(RACE, SETTINGS, tmp_path_factory.mktemp("race"))


@pytest.fixture(scope="module")
def null(tmp_path_factory):
    return make(RACE, settings(options=(("alike", True),), states=12_000), tmp_path_factory.mktemp("null"))


def truth(hand):
    return SLOPE * (LIMIT + 0.5 - hand)


def test_sign_and_size_in_every_cell(data):
    inside = 0
    for cell in findings.chart(data, "win"):
        known, e = truth(cell.across + 1), cell.estimate
        inside += e.low <= known <= e.high
        assert abs(e.mean - known) < 5 * e.error
        if abs(known) > 0.06:
            assert cell.verdict == int(known > 0)
    assert inside >= 8  # of 10, each 95%


def test_the_two_measures_agree_where_they_must(data):
    """A win of Race is worth a point, a loss costs one."""
    np.testing.assert_allclose(data.difference("margin"), 2 * data.difference("win"), atol=1e-6)


def test_the_threshold_is_found_with_its_interval(data):
    found = findings.threshold(data, "win", np.ones(len(data), bool))
    assert found.best == LIMIT
    assert found.low <= LIMIT <= found.high
    assert found.high - found.low <= 2


def test_rules_are_valued_at_what_they_are_worth(data):
    hands = data.columns["hand"]
    gain = float(np.mean(np.maximum(0, truth(hands))))
    table = {judged.name: judged for judged in findings.rule_table(data)}
    for name in ("right", "bet with at most k, best k for wins", "tree of depth 3 for wins"):
        e = table[name].gain["win"]
        assert abs(e.mean - gain) < 4 * e.error
    assert table["as bettor:p=100 draws"].gain["win"].mean == table["bet"].gain["win"].mean < 0
    assert abs(table["bet"].gain["win"].mean - float(np.mean(truth(hands)))) < 4 * table["bet"].gain["win"].error
    assert table["right"].loss["win"].mean < 0  # rollouts are noisy, and a right rule does better
    assert table["bet"].loss["win"].mean > 0


def test_pairing_saves_what_it_must(data):
    """Paired arms differ only where the luck lies between the two chances: the variance is known."""
    hands = data.columns["hand"]
    d = np.abs(truth(hands))
    bet = 0.5 + truth(hands)
    known = (0.25 + np.mean(bet * (1 - bet))) / np.mean(d - d**2)
    assert findings.cut(data, "win") == pytest.approx(known, rel=0.1)


def test_with_both_arms_alike_nothing_is_found(null):
    cells = findings.chart(null, "win")
    assert not [cell for cell in cells if cell.verdict >= 0]
    table = {judged.name: judged for judged in findings.rule_table(null)}
    for judged in table.values():
        e = judged.gain["win"]
        assert abs(e.mean) <= 3.5 * e.error or e.mean == 0, judged.name


def test_choosing_and_valuing_on_the_same_worlds_would_flatter(null):
    """What splitting is for: the maximum of two alike arms looks like a gain, the split one does not."""
    naive = clustered_mean(np.maximum(0, null.difference("win")), null.game_numbers)
    split = clustered_mean(findings.rollout_gain(null, "win"), null.game_numbers)
    assert naive.low > 0.05
    assert abs(split.mean) < 3.5 * split.error


def test_false_positives_come_at_the_stated_rate(null):
    """Cells of 30 positions: 5% of unadjusted tests are wrong; adjusted, 5% of whole charts."""
    values, games = null.difference("win"), null.game_numbers
    rng = np.random.default_rng(1)
    order = rng.permutation(len(values))
    size, cells = 30, 10
    count = len(values) // size
    found = [clustered_mean(values[rows], games[rows]) for rows in order[: count * size].reshape(count, size)]
    rate = np.mean([e.p < 0.05 for e in found])
    assert abs(rate - 0.05) < 4 * np.sqrt(0.05 * 0.95 / count)
    charts = [
        any(c.verdict >= 0 for c in findings.decide([(0, 0, e) for e in found[i : i + cells]]))
        for i in range(0, count - cells + 1, cells)
    ]
    assert np.mean(charts) < 0.05 + 4 * np.sqrt(0.05 * 0.95 / len(charts))


def test_the_one_asked_by_decisions_of_a_game_are_counted(tmp_path):
    data = make(RACE, settings(options=(("rounds", 4),), states=300), tmp_path)
    assert data.asked_per_game == 2.0
    assert len(data) >= 300
