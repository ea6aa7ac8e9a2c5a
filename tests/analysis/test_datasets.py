"""Data sets: the same however they are made, gone on with after an interruption, mistakes named."""

import json
from dataclasses import replace

import numpy as np
import pytest

from analysis import datasets
from analysis.datasets import Settings, folder_of, make, positions
from analysis.sting_draw import DRAW
from tabletop.jit import COMPILED
from tests.analysis.race import RACE

RACES = Settings(
    players=2, behaviour=("bettor",), continuation=("plain",), swapper="bettor", policies=("bettor:p=100", "bettor:p=0"),
    states=600, worlds=4, keep=0.5, explore=0.1, seed=3,
)  # fmt: skip


@pytest.fixture(autouse=True)
def _small_files(monkeypatch):
    monkeypatch.setattr(datasets, "ROWS", 200)
    monkeypatch.setattr(datasets, "PILOT", 32)


def test_a_row_for_each_position(tmp_path):
    data = make(RACE, RACES, tmp_path)
    assert len(data) >= 500
    assert data.settings == RACES
    assert np.array_equal(data.choice("bettor:p=100"), np.ones(len(data), np.int64))
    assert np.array_equal(data.choice("bettor:p=0"), np.zeros(len(data), np.int64))
    for measure in ("win", "margin"):
        halves = [data.difference(measure, half) for half in ("first", "second")]
        np.testing.assert_allclose(np.mean(halves, axis=0), data.difference(measure), atol=1e-12)


def test_it_goes_on_where_it_was_interrupted(tmp_path):
    whole = make(RACE, RACES, tmp_path / "whole")
    seen = []

    def stop(text):
        seen.append(text)
        if len(seen) == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        make(RACE, RACES, tmp_path / "parts", report=stop)
    folder = folder_of(RACE, RACES, tmp_path / "parts")
    there = {path: path.stat().st_mtime_ns for path in folder.glob("part-*.parquet")}
    assert len(there) == 2
    (folder / "part-00002.parquet.abc.part").write_bytes(b"half a file")
    again = make(RACE, RACES, tmp_path / "parts", report=seen.append)
    assert all(path.stat().st_mtime_ns == then for path, then in there.items())
    assert len(list(folder.glob("part-*.parquet"))) == len(seen)
    assert same(whole, again)
    assert len(seen) == len(set(seen))


def same(one, two):
    return one.columns.keys() == two.columns.keys() and all(
        np.array_equal(one.columns[name], two.columns[name]) for name in one.columns
    )


@pytest.mark.slow
def test_processes_make_the_same(tmp_path):
    settings = Settings(players=2, policies=("greedy",), states=600, worlds=4)
    one = make(DRAW, settings, tmp_path / "one")
    two = make(DRAW, settings, tmp_path / "two", "processes", 2)
    assert same(one, two)


def test_other_settings_are_another_folder(tmp_path):
    folders = {
        folder_of(RACE, RACES, tmp_path),
        folder_of(RACE, Settings(**{**RACES.__dict__, "seed": 4}), tmp_path),
        folder_of(RACE, Settings(**{**RACES.__dict__, "options": (("rounds", 3),)}), tmp_path),
    }
    assert len(folders) == 3
    assert all(folder.name.startswith("race-2p-plain") for folder in folders)


def test_a_damaged_file_is_named(tmp_path):
    make(RACE, RACES, tmp_path)
    path = folder_of(RACE, RACES, tmp_path) / "part-00001.parquet"
    path.write_bytes(path.read_bytes()[:100])
    with pytest.raises(ValueError, match=r"part-00001.parquet is damaged .* delete it"):
        make(RACE, RACES, tmp_path)
    path.unlink()
    make(RACE, RACES, tmp_path)


def test_the_plan_is_kept_with_the_data(tmp_path):
    make(RACE, RACES, tmp_path)
    plan = json.loads((folder_of(RACE, RACES, tmp_path) / "settings.json").read_text())
    assert plan["question"] == "race"
    assert plan["worlds"] == 4
    assert plan["games"] > 0


def test_other_rules_or_bots_are_noticed(tmp_path, monkeypatch):
    make(RACE, RACES, tmp_path)
    folder = folder_of(RACE, RACES, tmp_path)
    monkeypatch.setattr(datasets, "code_digest", lambda shared: "other")
    said = []
    make(RACE, RACES, tmp_path, report=said.append)
    assert said == [f"{folder} was made with other rules or agents than are there now: delete it to make it anew"]
    (folder / "part-00001.parquet").unlink()
    with pytest.raises(ValueError, match="was begun with other rules or agents"):
        make(RACE, RACES, tmp_path)
    (folder / "settings.json").write_text("{}")
    with pytest.raises(ValueError, match=r"settings.json is damaged"):
        make(RACE, RACES, tmp_path)


def test_positions_come_again(tmp_path):
    settings = Settings(players=2, states=40 if COMPILED else 4, worlds=4)
    data = make(DRAW, settings, tmp_path)
    rows = np.arange(0, len(data), 7)
    states = positions(DRAW, settings, data.part(rows).columns)
    game = settings.game(DRAW)
    again = DRAW.features(game, states)
    for name, values in again.items():
        assert np.array_equal(values, data.columns[name][rows]), name
    assert np.array_equal(states["current_player"], data.columns["seat"][rows])


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"worlds": 5}, "even"),
        ({"worlds": 2}, "at least 4"),
        ({"states": 0}, "states must be at least 1"),
        ({"keep": 0}, "keep must be above 0"),
        ({"explore": 1.5}, "at most 1"),
    ],
)
def test_settings_that_cannot_be(changes, said):
    with pytest.raises(ValueError, match=said):
        Settings(**{"players": 2, **changes})


def test_a_question_that_is_never_posed(tmp_path):
    never = replace(RACE, asked=lambda game, states, agent, keys: np.zeros(len(states), bool))
    with pytest.raises(ValueError, match="never posed"):
        make(never, RACES, tmp_path)
