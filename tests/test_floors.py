"""No floor of the tests is missing, for any game that the package offers."""

import re
from importlib.metadata import entry_points
from pathlib import Path

import pytest

TESTS = Path(__file__).parent
FLOORS = ("rules", "reference", "golden", "invariants", "observation", "text", "errors", "render")
RULES = {"sting": [f"S{i}" for i in range(1, 34)], "stingy": [f"G{i}" for i in range(1, 23)]}
GAMES = sorted(entry.name.rpartition("-v")[0] for entry in entry_points(group="stinglab.games"))


def test_the_package_offers_both_games():
    assert {"sting", "stingy"} <= set(GAMES)


@pytest.mark.parametrize("game", GAMES)
@pytest.mark.parametrize("floor", FLOORS)
def test_every_game_has_every_floor(game, floor):
    path = TESTS / game / f"test_{floor}.py"
    assert path.exists()
    assert re.search(r"^def test_|^    def test_", path.read_text(encoding="utf-8"), re.MULTILINE)


@pytest.mark.parametrize("game", GAMES)
def test_every_rule_has_a_test_named_after_it(game):
    text = (TESTS / game / "test_rules.py").read_text(encoding="utf-8")
    tested = {rule for name in re.findall(r"def test_(\w+)", text) for rule in re.findall(r"([SG]\d+)(?=_|$)", name)}
    assert not [rule for rule in RULES[game] if rule not in tested]


@pytest.mark.parametrize("game", GAMES)
def test_every_game_has_a_naive_reference_that_does_not_know_the_engine(game):
    text = (TESTS / "naive" / f"{game}.py").read_text(encoding="utf-8")
    assert not re.search(r"^(from|import) (tabletop|sting_env|stingy_env|numba|numpy)", text, re.MULTILINE)


@pytest.mark.parametrize("floor", ["conformance", "records", "aec", "sb3", "gymnasium", "same_game"])
def test_what_every_game_goes_through_is_there(floor):
    text = (TESTS / "tabletop" / f"test_{floor}.py").read_text(encoding="utf-8")
    for game in ("sting", "stingy"):
        assert re.search(rf"\b{game}\b", text + (TESTS / "tabletop" / "games.py").read_text(encoding="utf-8")), game
