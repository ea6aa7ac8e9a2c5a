"""Stingy in words: actions and positions survive the way to text and back; impossible positions are refused."""

import copy
import json

import numpy as np
import pytest

from stingy_env import StingyGame
from stingy_env.game import game_of
from stingy_env.rules import NUM_ACTIONS
from tabletop.game import PositionError
from tests.naive.stingy import ACTION_TEXTS
from tests.stingy.play import CONFIGS, random_games
from tests.stingy.table import SINGLES, Table, new_table, position

GAME = StingyGame(num_players=3)


def test_every_action_survives_its_text():
    assert NUM_ACTIONS == GAME.num_actions == 155
    texts = [GAME.action_to_string(action) for action in range(NUM_ACTIONS)]
    assert texts == ACTION_TEXTS
    assert [GAME.string_to_action(text) for text in texts] == list(range(NUM_ACTIONS))
    assert GAME.string_to_action("  demand   +1  coins-2 ") == GAME.string_to_action("demand +1 coins-2")


def test_action_numbers_are_those_of_the_contract():
    starts = {0: "demand +1 bottle-0", 25: "demand +2 bottle-0", 125: "no swap", 126: "pay", 127: "stop"}
    starts |= {128: "group bottle-0", 152: "group flag", 153: "tiles regular", 154: "tiles extra"}
    assert {action: GAME.action_to_string(action) for action in starts} == starts


@pytest.mark.parametrize("text", ["", "demand coins-2", "demand +6 coins-2", "group coin-2", "Pay", "draw 1"])
def test_other_texts_are_no_action(text):
    with pytest.raises(ValueError, match="actions are written like: demand"):
        GAME.string_to_action(text)


@pytest.mark.parametrize("action", [-1, 155])
def test_other_numbers_are_no_action(action):
    with pytest.raises(IndexError, match="0 to 154"):
        GAME.action_to_string(action)


@pytest.mark.parametrize("options", CONFIGS, ids=str)
def test_positions_survive_json(options):
    """All kinds of them, and the copy plays on as the original."""
    keys = np.zeros(1, np.uint64)
    for step, (game, states) in enumerate(random_games(1, **options)):
        if step % 5 or game.terminated(states)[0]:
            continue
        written = json.loads(json.dumps(game.to_dict(states[0])))
        copied = game_of(written).from_dict(written)
        assert game.to_dict(copied[0]) == written
        assert (game.legal_action_mask(copied) == game.legal_action_mask(states)).all()
        assert game.observe(copied).tobytes() == game.observe(states).tobytes()
        assert game.result(copied[0]) == game.result(states[0])
        original, action = states.copy(), game.random_actions(states, keys)
        game.step(copied, action)
        game.step(original, action)
        assert game.to_dict(copied[0]) == game.to_dict(original[0])


def test_a_finished_game_survives_json():
    *_, (game, states) = random_games(1, num_players=4)
    written = game.to_dict(states[0])
    assert (written["phase"], written["current_player"], written["last_turns"]) == ("OVER", -1, 0)
    copied = game.from_dict(written)
    assert game.to_dict(copied[0]) == written
    assert game.result(copied[0]) == game.result(states[0])
    assert not game.legal_action_mask(copied).any()


def test_a_position_may_have_another_number_of_players():
    table = new_table(num_players=5)
    states = GAME.from_dict(table.dict)
    assert GAME.to_dict(states[0]) == table.dict


def test_position_is_as_the_contract_writes_it():
    written = Table([{"coins-2": 3}, {"flag": 1}, {}], complete=[["bottle-0"], [], []]).dict
    assert list(written) == [
        "game", "config", "phase", "current_player", "turn", "displays", "complete", "pool_stacks", "pending",
        "last_turns",
    ]  # fmt: skip
    assert written["displays"][:2] == [{"coins-2": 3}, {"flag": 1}]
    assert written["complete"] == [["bottle-0"], [], []]
    assert (written["pending"], written["last_turns"]) == ({}, None)
    assert written["config"] == {"num_players": 3}


# Impossible positions -------------------------------------------------------------------------------------------------

START = position([SINGLES | {"flag": 1}, {"flag": 1, "coins-1": 1}, {"bottle-0": 1}])
SWAPPING = Table([{"bottle-1": 1, "bottle-2": 1, "diamond-1": 3}, {"coins-0": 3}, {}]).play("demand +1 coins-0").dict
TAKING = Table([{"bottle-1": 1, "bottle-2": 1, "diamond-1": 3}, {"coins-0": 2}, {}])
TAKING = TAKING.play("demand +1 coins-0", "group bottle-1").dict
PAYING = Table([{"bottle-1": 1, "diamond-1": 3}, {"coins-0": 2}, {}]).play("demand +1 coins-0", "pay").dict
ENDING = position([SINGLES, {"flag": 1}, {}], only=[[], [], []], rest_to=2, last_turns=2)
GHOST = position([SINGLES, {"flag": 1}, {}], only=[[], [], []], rest_to=2, last_turns=2, num_players=2)


def changed(base, **entries):
    """Return a copy of a position with other entries; `a__b` reaches into entry a."""
    new = copy.deepcopy(base)
    for name, value in entries.items():
        place = new
        *way, last = name.split("__")
        for step in way:
            place = place[int(step) if step.isdigit() else step]
        place[int(last) if last.isdigit() else last] = value
    return new


def without(base, name):
    """Return a copy of a position without an entry."""
    return {key: value for key, value in base.items() if key != name}


def moved(base, kind, seat):
    """Return a copy of a position with a tile of a kind, from the pool, in a display that has none."""
    new = copy.deepcopy(base)
    next(stack for stack in new["pool_stacks"] if kind in stack).remove(kind)
    new["displays"][seat][kind] = 1
    return new


def complete_twice():
    new = copy.deepcopy(START)
    for _ in range(3):
        next(stack for stack in new["pool_stacks"] if "bottle-4" in stack).remove("bottle-4")
    new["complete"][0] = ["bottle-4", "bottle-4"]
    return new


IMPOSSIBLE = [
    ("no position", [], "'game': 'stingy-v0'"),
    ("another game", changed(START, game="sting-v0"), "'game': 'stingy-v0'"),
    ("an entry missing", without(START, "pool_stacks"), "lacks 'pool_stacks'"),
    ("an unknown entry", START | {"round": 1}, "no entry 'round'"),
    ("an unknown option", changed(START, config__shiny=True), "'config'.*no option 'shiny'"),
    ("an impossible option", changed(START, config__num_players=7), "'config'.*num_players"),
    ("no config", changed(START, config=3), "'config'"),
    ("a display missing", changed(START, displays=[{}, {}]), "'displays' must be a list of 3"),
    ("no display", changed(START, displays__0=["flag"]), "display 0 must be an object"),
    ("an unknown tile", changed(START, displays__0__sword=1), "no tile is called 'sword'"),
    ("half a tile", changed(START, displays__0__flag=0.5), "display 0: the number of flag"),
    ("an empty group", changed(START, displays__0__flag=0), "display 0: the number of flag"),
    ("a complete group not set aside", changed(START, displays__0__flag=7), "of which 7 are complete, .* 1 to 6"),
    ("a tile too many", changed(START, displays__0__flag=2), "8 tiles of flag, the game has 7"),
    ("a tile missing", changed(START, displays__1={"flag": 1}), "4 tiles of coins-1, the game has 5"),
    ("a tile of the pool missing", changed(START, pool_stacks__1=[]), "tiles of .*, the game has"),
    ("complete groups that are none", changed(START, complete__1="flag"), "seat 1 must be a list"),
    ("an unknown complete group", changed(START, complete__1=["flag-1"]), "seat 1: no tile is called 'flag-1'"),
    ("a group complete twice", complete_twice(), "bottle-4 stands there twice"),
    ("a complete group too many", changed(START, complete__1=["parrot-0"]), "8 tiles of parrot-0"),
    ("no stack", changed(START, pool_stacks__0="flag"), "pool stack 0 must be a list"),
    ("an unknown tile in the pool", changed(START, pool_stacks__0__0="gold"), "pool stack 0: no tile is called 'gold'"),
    ("an unhashable tile", changed(START, pool_stacks__0__0=["flag"]), "pool stack 0: no tile is called"),
    ("a pool too large", changed(START, pool_stacks__0=["flag"] * 116), "more tiles than the 115"),
    ("an unknown phase", changed(START, phase="TRADE"), "'phase' must be one of SWAP, RESPOND"),
    ("nobody's turn", changed(START, turn=3), "'turn' must be a whole number from 0 to 2"),
    ("somebody else decides", changed(START, current_player=1), "'current_player' must be 0, not 1"),
    ("nobody decides", changed(START, current_player=-1), "'current_player' must be 0, not -1"),
    ("the owner must respond", changed(SWAPPING, current_player=0), "in phase RESPOND 'current_player' must be 1"),
    ("the demander must give", changed(PAYING, current_player=1), "in phase GIVE 'current_player' must be 0"),
    ("three single tiles", changed(START, phase="DRAW"), "at most 2 groups are single tiles"),
    ("last turns too early", changed(START, last_turns=2), "the pool is not empty, so 'last_turns' must be null"),
    ("last turns not told", changed(ENDING, last_turns=None), "the pool is empty, so 'last_turns' must say"),
    ("too many last turns", changed(ENDING, last_turns=4), "'last_turns' must be a whole number from 1 to 3"),
    ("no last turn", changed(ENDING, last_turns=0), "'last_turns' must be a whole number from 1 to 3"),
    ("over too early", changed(START, phase="OVER", current_player=-1), "not over before the pool is empty"),
    ("over with turns left", changed(ENDING, phase="OVER", current_player=-1), "'last_turns' must .* 0 to 0"),
    ("over but somebody decides", changed(ENDING, phase="OVER", last_turns=0), "'current_player' must be -1"),
    ("the ghost has the last turn", changed(GHOST, last_turns=3), "never the ghost's"),
    ("the ghost on turn", changed(GHOST, turn=2), "'turn' must be a whole number from 0 to 1"),
    ("pending is no object", changed(SWAPPING, pending=[1]), "'pending' must be an object"),
    ("a demand in no swap", changed(START, pending=SWAPPING["pending"]), "in phase SWAP 'pending' must be empty"),
    ("no demand in a swap", changed(SWAPPING, pending={}), "in phase RESPOND 'pending' must tell the demand"),
    ("half a demand", changed(SWAPPING, pending={"owner": 1}), "must have the entries owner, kind, value"),
    ("no owner", changed(SWAPPING, pending__owner=3), "owner must be a whole number from 0 to 2"),
    ("the demander owns", changed(SWAPPING, pending__owner=0, current_player=0), "the owner can't be the demander"),
    ("an unknown demand", changed(SWAPPING, pending__kind="rum"), "no tile is called 'rum'"),
    ("a demand not received", changed(SWAPPING, pending__kind="flag"), "must have the 3 tiles of flag"),
    ("part of a group", moved(SWAPPING, "coins-0", 1), "seat 1 still has coins-0"),
    ("no value of a group", changed(SWAPPING, pending__value=7), "value of a group of coins-0 is one of 1, 3, 6, 10"),
    ("a value never reached", changed(SWAPPING, pending__value=20), "is one of 1, 3, 6, 10"),
    ("a total below 0", changed(SWAPPING, pending__total=-1), "total must be a whole number from 0"),
    ("a total without a group", changed(SWAPPING, pending__total=1), "exactly when there is a last_group"),
    ("a group without a total", changed(TAKING, pending__total=0), "exactly when there is a last_group"),
    ("too much taken", changed(TAKING, pending__total=4), "groups worth 4 can't be taken for 3"),
    ("a group not taken", changed(TAKING, pending__last_group="bottle-2"), "bottle-2 can't be what seat 1 got"),
    ("the demand given back", changed(TAKING, pending__last_group="coins-0"), "coins-0 can't be what seat 1 got"),
    ("a demand too dear", changed(SWAPPING, displays__0={"coins-0": 3, "bottle-1": 1}), "the game has"),
    ("paid under Captain Sly", changed(PAYING, config__captain_sly=True), "nobody pays"),
]


@pytest.mark.parametrize(("base", "words"), [row[1:] for row in IMPOSSIBLE], ids=[row[0] for row in IMPOSSIBLE])
def test_impossible_position_is_refused(base, words):
    with pytest.raises(PositionError, match=words):
        game_of(base).from_dict(base) if isinstance(base, dict) else GAME.from_dict(base)


@pytest.mark.parametrize("base", [START, SWAPPING, TAKING, PAYING, ENDING, GHOST])
def test_the_same_positions_unchanged_are_possible(base):
    game = game_of(base)
    assert game.to_dict(game.from_dict(base)[0])["displays"] == base["displays"]


def test_demand_that_was_not_legal_is_refused():
    """Groups worth 2 don't allow a demand of 6 (G8)."""
    display = {"bottle-1": 1, "bottle-2": 1, "coins-0": 3}
    pending = {"owner": 1, "kind": "coins-0", "value": 6, "total": 0, "last_group": None}
    base = changed(position([display, {}, {}]), phase="RESPOND", current_player=1, pending=pending)
    with pytest.raises(PositionError, match="worth 2 don't allow a demand of 6"):
        game_of(base).from_dict(base)


def test_payment_without_reason_or_means_is_refused():
    pending = {"owner": 1, "kind": "coins-0", "value": 3, "total": 0, "last_group": None}
    for display, words in (
        ({"bottle-1": 2, "flag": 3}, "other groups total exactly 3"),
        ({"bottle-1": 1, "flag": 1}, "comes to more than 3"),
    ):
        base = changed(position([display | {"coins-0": 2}, {}, {}]), phase="GIVE", pending=pending)
        with pytest.raises(PositionError, match=words):
            game_of(base).from_dict(base)


def test_a_position_of_other_options_is_refused():
    with pytest.raises(PositionError, match=r"config .*captain_sly.* is not this game's"):
        GAME.from_dict(changed(START, config__captain_sly=True))
