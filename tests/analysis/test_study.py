"""The studies and the advice as commands: pages, figures and tables are written, mistakes are one line."""

import csv
import json
import re
import shlex

import numpy as np
import pytest

from agents.registry import make_agent
from analysis import hypotheses, study
from analysis.advise import advise, read_position
from analysis.datasets import Settings, make
from analysis.plans import plan
from analysis.statistics import Estimate
from analysis.sting_draw import DRAW
from analysis.stingy_extra import EXTRA, FORGO
from sting_env import StingGame
from stingy_env import StingyGame
from stingy_env.rules import NO_SWAP, TILES_EXTRA
from tabletop.jit import COMPILED

compiled = pytest.mark.skipif(not COMPILED, reason="takes minutes without compilation")
TINY = ("--states", 60, "--worlds", 4, "--variant-states", 30, "--variant-worlds", 4, "--players", 2, "--blocks", 10)


def tiny(name, tmp_path, **changes):
    known = {"players": (2,), "states": 60, "worlds": 4, "variant_states": 30, "variant_worlds": 4, "blocks": 10}
    return plan(name, **known | changes, out=tmp_path / "out", data=tmp_path / "data", report=lambda text: None)


@compiled
def test_a_part_writes_a_page_its_figure_and_its_table(run, tmp_path):
    out = tmp_path / "out"
    ran = run("study", "draw", "--part", "chart", *TINY, "--out", out, "--data", tmp_path / "data")
    assert ran.code == 0, ran
    page = (out / "chart.md").read_text(encoding="utf-8")
    assert "![Draw one card or two? 2 players](chart-2p.png)" in page
    assert (out / "chart-2p.png").stat().st_size > 10_000
    rows = list(csv.DictReader((out / "cells.csv").read_text(encoding="utf-8").splitlines()))
    assert {row["measure"] for row in rows} == {"win", "margin"}
    assert all(float(row["positions"]) > 0 for row in rows)


@compiled
def test_the_command_under_a_figure_makes_it_again(run, tmp_path):
    out, data = tmp_path / "out", tmp_path / "data"
    run("study", "draw", "--part", "curves", *TINY, "--out", out, "--data", data)
    before = {path.name: path.read_bytes() for path in out.iterdir()}
    command = re.search(r"```sh\nstinglab (.*)\n```", (out / "curves.md").read_text(encoding="utf-8")).group(1)
    again = tmp_path / "again"
    ran = run(*shlex.split(command), "--out", again, "--data", tmp_path / "other")
    assert ran.code == 0, ran
    assert {path.name: path.read_bytes() for path in again.iterdir()} == before


@compiled
@pytest.mark.slow
@pytest.mark.parametrize("name", ["draw", "extra", "forgo"])
def test_every_part_runs(name, tmp_path):
    agents = {"draw": ("greedy:draw=1", "ppo"), "extra": (), "forgo": ()}[name]
    policies = ("greedy", "ppo:best=yes") if name == "draw" else ("greedy",)
    made = tiny(name, tmp_path, continuations=agents, policies=policies)
    pages = study.run(made)
    assert len(pages) == len(study.parts_of(made.question))
    for page in pages:
        text = page.read_text(encoding="utf-8")
        for link in re.findall(r"\]\(([^)]+)\)", text):
            assert (page.parent / link).exists(), link
        assert "nan" not in text


def test_plans_that_cannot_be(tmp_path):
    for changes, said in [
        ({"players": ()}, "players must name"),
        ({"blocks": 1}, "blocks must be at least 2"),
        ({"agent": "nobody"}, "no agent 'nobody'"),
        ({"worlds": 3}, "worlds must be at least 4"),
        ({"speed": 3}, "no setting speed"),
        ({"players": (9,)}, "num_players"),
    ]:
        with pytest.raises(ValueError, match=said):
            tiny("draw", tmp_path, **changes)
    with pytest.raises(ValueError, match="there is no study 'chess'"):
        plan("chess")
    with pytest.raises(ValueError, match="has no part 'hint'"):
        study.run(tiny("extra", tmp_path), ["hint"])


def test_mistakes_are_one_line(refused, tmp_path):
    assert "there is no study 'chess'" in refused("study", "chess")
    assert "has no part 'fly'" in refused("study", "draw", "--part", "fly")
    assert "--players must be whole numbers" in refused("study", "draw", "--players", "two")
    assert "executor must be one of" in refused("study", "draw", *TINY, "--executor", "fast", "--data", tmp_path)
    assert "No such file" in refused("advise", "--position", tmp_path / "none.json")
    (tmp_path / "bad.json").write_text("{")
    assert "is not JSON" in refused("advise", "--position", tmp_path / "bad.json")
    (tmp_path / "bad.json").write_text('{"game": "chess-v0"}')
    assert "no game is called 'chess-v0'" in refused("advise", "--position", tmp_path / "bad.json")
    (tmp_path / "bad.json").write_text('{"game": "sting-v0", "hands": [["R1"], ["R1", "R1"]]}')
    assert "bad.json" in refused("advise", "--position", tmp_path / "bad.json")


def test_hypotheses_have_the_verdict_that_follows():
    e = Estimate(-0.1, 0.01, -0.12, -0.08, 0.0, 100, 50)
    assert hypotheses.verdict(-1, e, 0.001) == hypotheses.SUPPORTED
    assert hypotheses.verdict(1, e, 0.001) == hypotheses.CONTRADICTED
    assert hypotheses.verdict(1, e, 0.2) == hypotheses.OPEN
    assert hypotheses.verdict(1, e, float("nan")) == hypotheses.OPEN


@compiled
def test_the_hint_is_what_the_bots_play(tmp_path):
    """The rule of the table draws as the bots' own draw=hint does, position by position."""
    settings = Settings(players=2, policies=("greedy:draw=hint", "rulebook"), states=200, worlds=4)
    data = make(DRAW, settings, tmp_path)
    rule = DRAW.rules(data.columns)["the rulebook's hint"]
    for spec in settings.policies:
        assert np.array_equal(data.choice(spec) == 1, rule)


# Advice -----------------------------------------------------------------------------------------------------------------


def sting_position(tmp_path):
    game = StingGame(num_players=2, rounds=1)
    states = game.new_states(1)
    game.reset(states, [3])
    path = tmp_path / "position.json"
    path.write_text(json.dumps(game.to_dict(states[0])), encoding="utf-8")
    return game, states, path


def test_advice_covers_every_legal_action_and_ignores_what_is_hidden(tmp_path):
    game, states, path = sting_position(tmp_path)
    read_game, read_states = read_position(path)
    assert read_game == game
    worlds = 8 if COMPILED else 4
    greedy = make_agent("greedy", game)
    found, best = advise(read_game, read_states, greedy, worlds)
    assert [a.action for a in found] == np.flatnonzero(game.legal_action_mask(states)[0]).tolist()
    assert sum(a.win_behind.mean == 0 and a.win_behind.error == 0 for a in found) >= 1
    assert 0 <= best.mean <= 1
    hidden = game.determinize(states, None, np.array([9], np.uint64))
    again, _ = advise(game, hidden, greedy, worlds)
    assert [a.win for a in again] == [a.win for a in found]


@compiled
def test_advise_prints_a_table(run, tmp_path):
    _, _, path = sting_position(tmp_path)
    ran = run("advise", "--position", path, "--worlds", 40)
    assert ran.code == 0, ran
    assert "draw one card" in ran.out
    assert "Best: draw" in ran.out
    assert "without a model of how the others play" in ran.out


@compiled
@pytest.mark.slow
def test_advise_knows_stingy(run, tmp_path):
    stingy = StingyGame(num_players=3)
    states = stingy.new_states(1)
    stingy.reset(states, [3])
    path = tmp_path / "position.json"
    path.write_text(json.dumps(stingy.to_dict(states[0])), encoding="utf-8")
    assert "Best:" in run("advise", "--position", path, "--worlds", 4, "--bot", "random").out


# Stingy -----------------------------------------------------------------------------------------------------------------


@compiled
@pytest.mark.parametrize("question", [EXTRA, FORGO])
def test_stingys_questions_are_posed_where_the_rules_allow_both(question, tmp_path):
    settings = Settings(players=3, states=20, worlds=4, keep=0.3, swapper="greedy:extra=hint", policies=("greedy",))
    data = make(question, settings, tmp_path)
    assert (data.columns["singles"] <= 2).all()
    assert (data.columns["pool"] > 2).all()
    game = settings.game(question)
    from analysis.datasets import positions

    states = positions(question, settings, data.part(np.arange(6)).columns)
    swapper = make_agent(settings.swapper, game)
    moves = question.moves(game, states, swapper, np.zeros(len(states), np.uint64))
    assert game.legal_action_mask(states)[np.arange(6)[:, None], moves[:, :, 0]].all()
    if question is FORGO:
        assert (moves[:, 1] == [NO_SWAP, TILES_EXTRA]).all()
        assert (moves[:, 0, 0] < NO_SWAP).all()
        game.step(states, moves[:, 1, 0])
        assert game.legal_action_mask(states)[:, TILES_EXTRA].all()
