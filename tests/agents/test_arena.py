"""The arena on a game whose answers are known, and on Sting."""

from __future__ import annotations

import json
import math
from importlib.util import find_spec

import numpy as np
import pytest

from agents import arena, registry
from agents.arena import Arena, blocks_needed, compare, estimate, matchups_of, plan, run_arena
from sting_env import StingGame
from tests.agents.plain import Plain
from tests.agents.toss import EDGE, Toss


def test_matchups():
    assert [(m.one, m.rest) for m in matchups_of(3, 2)] == [(0, 1), (0, 2), (1, 2)]
    assert [(m.one, m.rest) for m in matchups_of(2, 4)] == [(0, 1), (1, 0)]
    assert matchups_of(2, 3)[1].seating(2, 3) == [0, 0, 1]


@pytest.mark.parametrize("n", [2, 3, 4])
def test_a_known_gap_is_found(n):
    p, q = 0.8, 0.3
    result = compare(Toss(num_players=n), ["sayer:p=80", "sayer:p=30"], blocks=400, seed=n)
    pair = result.pair("sayer:p=80", "sayer:p=30")
    assert pair.payoff.low < EDGE * (p - q) < pair.payoff.high
    assert pair.payoff.low > 0
    assert pair.win_share.low > 1 / n
    back = result.pair("sayer:p=30", "sayer:p=80")
    assert back.payoff.low < -EDGE * (p - q) < back.payoff.high
    assert {s.name: round(s.behaviour["ones"], 1) for s in result.standings} == {"sayer:p=80": 0.8, "sayer:p=30": 0.3}


def test_luck_of_the_deal_cancels_within_a_block():
    result = compare(Toss(num_players=3), ["sayer:p=100", "sayer:p=0"], blocks=50, seed=1)
    blocks = result.blocks.payoff[:, 0].mean(axis=1)
    np.testing.assert_allclose(blocks, EDGE, atol=1e-6)
    assert result.blocks.payoff[:, 0].std() > 0.1


def test_an_agent_plays_the_same_games_under_two_names():
    result = compare(Toss(), ["sayer", "sayer"], blocks=50, seed=4)
    assert result.names == ("sayer", "sayer #2")
    np.testing.assert_allclose(result.blocks.payoff.mean(axis=2), 0, atol=1e-6)
    assert result.pair("sayer", "sayer #2").win_share.mean == 0.5


def test_a_against_a_is_told_apart_as_often_as_the_interval_says():
    """Of 300 arenas of 40 deals between two alike but for their luck, 95% have an interval that covers 0."""
    game = Toss()
    bot = registry.make_agent("sayer:p=50", game)
    result = compare(game, [Plain(bot, salt=1), Plain(bot, salt=2)], blocks=300 * 40, seed=7, names=["a", "b"])
    blocks = result.blocks.payoff[:, 0].mean(axis=1).reshape(300, 40)
    found = [estimate(row) for row in blocks]
    covered = np.mean([e.low <= 0 <= e.high for e in found])
    assert 0.915 <= covered <= 0.985, covered


def test_the_planned_number_of_blocks_finds_the_difference():
    """Eight of ten arenas of the planned size say that a gap of 0.1 is there."""
    game = Toss()
    gap = 0.1
    agents = ["sayer:p=60", "sayer:p=40"]
    needed = plan(game, agents, gap, pilot=2000, seed=5)["sayer:p=60 v sayer:p=40"]
    result = compare(game, agents, blocks=100 * needed, seed=6)
    blocks = result.blocks.payoff[:, 0].mean(axis=1).reshape(100, needed)
    assert abs(EDGE * 0.2 - gap) < 1e-9
    power = np.mean([estimate(row).low > 0 for row in blocks])
    assert 0.68 <= power <= 0.92, power


def test_blocks_needed():
    assert blocks_needed(1.0, 0.1) == 785
    with pytest.raises(ValueError, match="above 0"):
        blocks_needed(1.0, 0.0)


def test_an_interval_is_t():
    e = estimate(np.array([1.0, 2.0, 3.0, 4.0]))
    half = 3.182446 * math.sqrt(5 / 3) / 2
    assert (e.mean, e.low, e.high) == pytest.approx((2.5, 2.5 - half, 2.5 + half))


def test_agents_of_any_kind_and_chunks_of_any_size_give_the_same():
    game = StingGame(num_players=3, rounds=1)
    greedy, random = (registry.make_agent(spec, game) for spec in ("greedy", "random"))
    whole = compare(game, [greedy, random], blocks=6, seed=3).to_json()
    assert compare(game, [greedy, random], blocks=6, seed=3, chunk=1).to_json() == whole
    assert compare(game, [greedy, random], blocks=6, seed=3, chunk=4).to_json() == whole
    assert compare(game, [Plain(greedy), random], blocks=6, seed=3).to_json() == whole
    assert compare(game, [Plain(greedy), Plain(random)], blocks=6, seed=3, chunk=5).to_json() == whole


@pytest.mark.parametrize(
    "executor",
    [
        "processes",
        pytest.param("ray", marks=pytest.mark.skipif(find_spec("ray") is None, reason="Ray has its own environment")),
    ],
)
def test_whoever_plays_gives_the_same(executor, tmp_path):
    game = StingGame(rounds=1)
    specs = ["greedy", "sting:random", "rulebook:draw=1"]
    alone = run_arena(game, specs, blocks=8, seed=2, out=tmp_path / "a" / "alone.json")
    arena_ = compare(game, specs, blocks=8, seed=2, jobs=2, chunk=3, executor=executor)
    assert arena_.to_json() == alone.to_json() == (tmp_path / "a" / "alone.json").read_text()
    assert [path.name for path in (tmp_path / "a").iterdir()] == ["alone.json"]
    with pytest.raises(ValueError, match="specs"):
        compare(game, [registry.make_agent("greedy", game), "random"], blocks=8, jobs=2, executor=executor)


def test_a_wrong_spec_is_told_of_before_anything_starts():
    with pytest.raises(ValueError, match="no agent 'nobody'"):
        compare(StingGame(rounds=1), ["greedy", "nobody"], blocks=8, jobs=2)


def test_the_order_of_agents_does_not_matter():
    game = StingGame(rounds=2)
    one = compare(game, ["greedy", "random"], blocks=10, seed=5).pair("greedy", "random")
    other = compare(game, ["random", "greedy"], blocks=10, seed=5)
    assert other.pair("greedy", "random").payoff.mean == pytest.approx(one.payoff.mean)
    assert other.pair("greedy", "random").points_by_seat[0].mean == pytest.approx(one.points_by_seat[0].mean)
    assert other.pair("greedy", "random").rest_points.mean == pytest.approx(one.rest_points.mean)
    assert other.pair("random", "greedy").payoff.mean == pytest.approx(-one.payoff.mean)
    assert other.pair("random", "greedy").win_share.mean == pytest.approx(1 - one.win_share.mean)


def test_payoffs_sum_to_zero_and_win_shares_to_one():
    game = StingGame(num_players=4, rounds=1)
    table = Arena(game, tuple(registry.make_agent(spec, game) for spec in ("greedy", "rulebook")), seed=1)
    seats = np.array([[0, 1, 1, 0]] * 20)
    states = game.new_states(20)
    game.reset(states, 3)
    counts, _, decisions = arena.play_games(game, table.agents, states, seats, key=1)
    np.testing.assert_allclose(game.returns(states).sum(axis=1), 0, atol=1e-5)
    assert counts.sum() == decisions.sum() == states["decision"].sum()
    points, winners = arena.read_outcome(game, states)
    assert (points == states["totals"]).all()
    assert (winners.sum(axis=1) >= 1).all()
    assert (points[winners] == np.repeat(points[:, :4].min(axis=1), winners.sum(axis=1))).all()


def test_the_report(tmp_path):
    pytest.importorskip("matplotlib")
    game = StingGame(rounds=1)
    result = compare(game, ["greedy", "rulebook", "random"], blocks=30, seed=1)
    report = json.loads(result.to_json())
    assert report["games"] == 30 * 3 * 2
    assert report["equal_share"] == 0.5
    assert [a["name"] for a in report["agents"]] == ["greedy", "rulebook", "random"]
    assert report["agents"][2]["rating"] == {"mean": 0.0, "low": 0.0, "high": 0.0}
    matrix = np.array(report["payoff_matrix"], float)
    np.testing.assert_allclose(matrix, -matrix.T)
    assert "draw two" in report["agents"][0]["behaviour"]
    text = result.to_markdown()
    assert "| greedy |" in text
    assert "draw two" in text
    assert len(result.blocks_for(0.01)) == 3
    result.print()
    result.picture(tmp_path / "arena.png")
    assert (tmp_path / "arena.png").stat().st_size > 5000


def test_errors():
    game = Toss()
    with pytest.raises(ValueError, match="at least two agents"):
        compare(game, ["sayer"], blocks=5)
    with pytest.raises(ValueError, match="blocks must be at least 2"):
        compare(game, ["sayer", "sayer"], blocks=1)
    with pytest.raises(ValueError, match="jobs and chunk"):
        compare(game, ["sayer", "sayer"], blocks=5, jobs=0)
    with pytest.raises(ValueError, match="executor must be one of"):
        compare(game, ["sayer", "sayer"], blocks=5, executor="threads")
    with pytest.raises(ValueError, match="anchor must be one of"):
        compare(game, ["sayer", "sayer"], blocks=5, anchor="nobody")
    with pytest.raises(KeyError, match="did not meet"):
        compare(game, ["sayer", "sayer"], blocks=5).pair("sayer", "nobody")
