"""The leaderboard: what it plays, that it goes on where it stopped, what it writes."""

import json

import numpy as np

from agents import leaderboard
from agents.arena import compare
from agents.leaderboard import Table, field_of, markdown, plan_tables, share_cell, write_leaderboard
from agents.policy import describe, network_shape, save, weight_shapes
from tabletop.registry import make


def test_every_bot_and_shipped_agent_plays_at_every_player_count():
    tables = plan_tables(["sting-v0", "stingy-v0"], range(2, 7), 10, ["rollout:playouts=8"], 4, 1)
    sting = [t for t in tables if t.game == "sting-v0"]
    assert {(t.players, t.unit) for t in sting} == {(n, unit) for n in range(2, 7) for unit in ("round", "game")}
    assert {(t.players, t.unit) for t in tables if t.game == "stingy-v0"} == {(n, "game") for n in range(2, 7)}
    for table in tables:
        assert set(field_of(table.game)) - {"random"} <= set(table.agents)
    assert sum("search" in t.name for t in tables) == 10
    assert len({t.name for t in tables}) == len(tables)
    fewer = plan_tables(["sting-v0", "stingy-v0"], range(2, 7), 10, ["rollout:playouts=8"], 4, 1, [2, 3])
    assert [t for t in fewer if "search" not in t.name] == [t for t in tables if "search" not in t.name]
    assert {t.players for t in fewer if "search" in t.name} == {2, 3}


def test_an_agent_of_ones_own_that_searches_plays_in_the_tables_of_search():
    tables = plan_tables(["stingy-v0"], [2], 10, ["import:my_bots.Deep", "checkpoint:run/best", "unheard"], 4, 1)
    bots, search = tables
    assert (bots.name, search.name) == ("stingy-2-game-bots", "stingy-2-game-search")
    assert search.agents[:2] == ("import:my_bots.Deep", "checkpoint:run/best")
    assert "unheard" not in search.agents


def test_a_stopped_run_goes_on(tmp_path, monkeypatch):
    out, folder = tmp_path / "board.md", tmp_path / "tables"
    monkeypatch.setattr(leaderboard, "field_of", lambda _: ("random", "greedy"))
    settings = {"games": ["sting-v0"], "players": [2], "blocks": 6, "seed": 3}
    write_leaderboard(out, folder, **settings)
    first = out.read_text()
    assert len(list(folder.iterdir())) == 2
    played = []
    monkeypatch.setattr(leaderboard, "compare", lambda *a, **k: played.append(a))
    write_leaderboard(out, folder, **settings)
    assert not played
    assert out.read_text() == first


def test_other_weights_are_played_anew(tmp_path, monkeypatch):
    """A table with a network in it holds for its weights alone; one of bots is not played again."""
    game = make("sting-v0", num_players=2, rounds=1)
    shape = network_shape(game.spec, 8, 4)
    weights = {name: np.zeros(size) for name, size in weight_shapes(shape).items()}
    monkeypatch.setattr(leaderboard, "field_of", lambda _: ("random", f"checkpoint:{tmp_path / 'policy'}"))
    played = []
    monkeypatch.setattr(leaderboard, "compare", lambda *a, **k: played.append(a) or compare(*a, **k))
    for weight, tables in ((0.0, 2), (0.0, 2), (1.0, 4)):
        weights["input.weight"][0, 0] = weight
        save(tmp_path / "policy", describe(game, shape, {}), weights)
        write_leaderboard(tmp_path / "board.md", tmp_path / "tables", games=["sting-v0"], players=[2], blocks=2)
        assert len(played) == tables


def test_other_settings_are_played_anew(tmp_path, monkeypatch):
    folder = tmp_path / "tables"
    monkeypatch.setattr(leaderboard, "field_of", lambda _: ("random", "greedy"))
    for blocks in (4, 6):
        write_leaderboard(tmp_path / "board.md", folder, games=["stingy-v0"], players=[3], blocks=blocks)
        (path,) = folder.iterdir()
        assert json.loads(path.read_text())["rows"]["deals"] == blocks


def test_a_share_is_bold_only_when_its_whole_interval_is_above_the_equal_share():
    assert share_cell([0.40, 0.34, 0.46], 1 / 3) == "**0.400 ± 0.060**"
    assert share_cell([0.40, 0.33, 0.47], 1 / 3) == "0.400 ± 0.070"


def test_a_table_has_everybody_against_everybody():
    table = Table("sting-v0", (), 2, "game", ("a", "b"), 10, 1)
    agents = [{"name": n, "rating": [1, 0, 2], "payoff": [0, 0, 0], "microseconds": 3.0} for n in "ab"]
    shares = {"a": {"b": [0.6, 0.55, 0.65]}, "b": {"a": [0.4, 0.35, 0.45]}}
    text = markdown(table, {"deals": 10, "games": 20, "agents": agents, "shares": shares})
    assert "| a | 1 (0 to 2) |  | **0.600 ± 0.050** | 3 |" in text
    assert "| b | 1 (0 to 2) | 0.400 ± 0.050 |  | 3 |" in text
