"""Actions and positions as text: everything comes back as it was, and nothing impossible is let in."""

import copy
import json
import random
from collections import Counter

import numpy as np
import pytest

from sting_env import StingGame
from sting_env.game import game_of, legal_texts
from tabletop.game import PositionError
from tests.sting.players import choose, fresh, play_out
from tests.sting.table import (
    ACCEPT,
    ADD,
    COLOURS,
    DISCARD,
    END,
    KINDS,
    LAY,
    NATURALS,
    PASS,
    PILE,
    RETURN,
    SEAT,
    SUBSTITUTE,
    TAKE,
    WILD,
    WILDS,
    Table,
    deck,
    position,
    run,
    set_of,
)  # fmt: skip

GAME = StingGame()

# Actions --------------------------------------------------------------------------------------------------------------


def expected_texts():
    """Write the contract's table of actions in words."""
    texts = ["draw 1", "draw 2"]
    pairs = [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)]
    for number in range(1, 11):
        texts += [f"set {number} " + " ".join(c for c in COLOURS if c != left_out) for left_out in COLOURS]
        texts += [f"set {number} {COLOURS[first]} {COLOURS[second]} *" for first, second in pairs]
    for colour in COLOURS:
        for low in range(1, 9):
            texts += [
                f"run {colour}{low}-{low + 2}{wild}" for wild in ("", *(f" *{low + place}" for place in range(3)))
            ]
    texts += [f"add {card}" for card in NATURALS + WILDS]
    texts += [f"substitute {card}" for card in NATURALS]
    texts += ["take", "pass"]
    texts += [f"discard {card}" for card in KINDS]
    texts += [f"wild {wild}" for wild in WILDS]
    texts += [f"seat +{rel}" for rel in range(1, 6)]
    texts += [f"pile {index}" for index in range(30)]
    return texts + ["end low", "end high", "accept", "return"]


def test_the_405_actions_in_words_and_back():
    texts = [GAME.action_to_string(action) for action in range(405)]
    assert GAME.num_actions == 405
    assert texts == expected_texts()
    assert [GAME.string_to_action(text) for text in texts] == list(range(405))


def test_the_sections_start_where_the_contract_says():
    starts = {
        "set 1 B G Y": LAY.start, "run R1-3": 102, "add R1": ADD.start, "substitute R1": SUBSTITUTE.start, "take": TAKE,
        "pass": PASS, "discard R1": DISCARD.start, "wild W": WILD.start, "seat +1": SEAT.start, "pile 0": PILE.start,
        "end low": END.start, "accept": ACCEPT, "return": RETURN,
    }  # fmt: skip
    assert [GAME.string_to_action(text) for text in starts] == list(starts.values())
    assert list(starts.values()) == [2, 102, 230, 274, 314, 315, 316, 362, 366, 371, 401, 403, 404]


def test_the_examples_of_the_contract():
    examples = [
        "draw 1", "set 5 R B G", "set 5 R B *", "run R3-5", "run R3-5 *4", "add R6", "add D", "substitute R4", "take",
        "pass", "discard R6", "wild D", "seat +1", "pile 3", "end low", "accept", "return",
    ]  # fmt: skip
    for text in examples:
        assert GAME.action_to_string(GAME.string_to_action(text)) == text


@pytest.mark.parametrize(
    "text", ["", "draw 3", "run R9-11", "set 11 R B G", "discard R11", "seat +6", "pile 30", "fold"]
)
def test_no_such_action_in_words(text):
    with pytest.raises(ValueError, match="no action is written"):
        GAME.string_to_action(text)


@pytest.mark.parametrize("action", [-1, 405, 10_000])
def test_no_such_action(action):
    with pytest.raises((IndexError, ValueError), match=str(action)):
        GAME.action_to_string(action)


def test_legal_actions_in_words():
    table = Table([["R1", "R2", "R3", "B1"], ["R5"]])
    assert legal_texts(table.game, table.states) == table.legal == ["run R1-3", "discard R1", "discard R2",
                                                                    "discard R3", "discard B1"]  # fmt: skip


# Positions to JSON and back -------------------------------------------------------------------------------------------


def there_and_back(game, state):
    text = json.dumps(game.to_dict(state))
    return game.from_dict(json.loads(text))


@pytest.mark.parametrize(
    "options",
    [
        {"max_turns": 30},
        {"discard_to_go_out": True, "hand_size": 7, "max_turns": 30, "rounds": None, "target_score": 50},
        {"special_cards": False, "open_hands": True, "face_values": True, "max_turns": 20, "rounds": 2},
        {"substitution": False, "stack_multipliers": False, "reward": "win", "max_turns": 20, "rounds": 2},
    ],
    ids=["plain", "strict", "naturals", "no substitution"],
)
def test_a_position_comes_back_at_every_decision(options):
    game = StingGame(**options)
    rng = np.random.default_rng(4)
    states = fresh(game, range(10), 2 + np.arange(10) % 5)
    phases = set()
    for _ in range(250):
        states = states[~game.terminated(states)]
        if not len(states):
            break
        again = np.concatenate([there_and_back(game, state) for state in states])
        assert np.array_equal(game.legal_action_mask(again), game.legal_action_mask(states))
        assert np.array_equal(game.observe(again), game.observe(states))
        assert [game.to_dict(state) for state in again] == [game.to_dict(state) for state in states]
        phases.update(game.spec.phases[phase] for phase in states["phase"])
        game.step(states, choose(rng, game.legal_action_mask(states), 0.9))
    assert phases >= {"DRAW", "PLAY", "SEAT", "PILE"}


def test_a_position_goes_on_as_the_game_it_was_taken_from():
    game = StingGame(rounds=1, max_turns=500)
    rng = np.random.default_rng(5)
    states = fresh(game, range(30), 2 + np.arange(30) % 5)
    for _ in range(25):
        game.step(states, choose(rng, game.legal_action_mask(states), 0.9))
    states = states[~game.terminated(states)]
    again = np.concatenate([there_and_back(game, state) for state in states])
    reshuffles = states["reshuffles"].copy()
    for _ in range(300):
        mask = game.legal_action_mask(states)
        same = ~game.terminated(states) & (states["reshuffles"] == reshuffles)  # a shuffle is another stream's
        if not same.any():
            break
        states, again, reshuffles, mask = states[same], again[same], reshuffles[same], mask[same]
        assert np.array_equal(game.legal_action_mask(again), mask)
        actions = choose(rng, mask, 0.9)
        game.step(states, actions)
        game.step(again, actions)
        both = ~game.terminated(states)
        assert np.array_equal(game.rewards(again), game.rewards(states))
        assert np.array_equal(game.terminated(again), ~both)


def test_a_game_that_is_over_comes_back():
    game = StingGame(rounds=1, max_turns=25)
    states = fresh(game, range(20), 2 + np.arange(20) % 5)
    play_out(game, states, np.random.default_rng(6), 0.9)
    for state in states:
        again = there_and_back(game, state)
        assert game.to_dict(again[0]) == game.to_dict(state)
        assert game.terminated(again).all()
        assert not game.legal_action_mask(again).any()


def test_the_game_of_a_position():
    for options in ({"num_players": 3}, {"num_players": 6, "hand_size": 7, "face_values": True}):
        game = StingGame(**options)
        assert game_of(game.to_dict(fresh(game, [1])[0])) == game


def test_the_form_of_the_contract():
    table = Table(
        [["R1", "W"], ["G1"]], [run(1, "R3", "W", "R5"), set_of(0, "R5", "B5", "D")], discard=["R2"], turn=12, dealer=1
    )
    now = table.now
    assert list(now) == [
        "game", "config", "phase", "current_player", "turn_player", "dealer", "round", "turn", "hands", "draw_stacks",
        "discard_pile", "held", "piles", "pending", "totals",
    ]  # fmt: skip
    assert (now["game"], now["phase"], now["held"], now["pending"]) == ("sting-v0", "PLAY", None, {})
    assert now["hands"] == [["R1", "W"], ["G1"]]
    assert now["piles"][0] == {"owner": 1, "kind": "run", "colour": "R", "start": 3, "cards": ["R3", "W", "R5"]}
    assert now["piles"][1] == {"owner": 0, "kind": "set", "number": 5, "cards": ["R5", "B5", "D"]}


def test_the_order_of_hands_and_sets_does_not_matter():
    one = Table([["R1", "W", "B2"], ["G1"]], [set_of(0, "R5", "D", "B5", "W")])
    other = Table([["B2", "R1", "W"], ["G1"]], [set_of(0, "W", "B5", "R5", "D")])
    assert one.now == other.now


# Impossible positions -------------------------------------------------------------------------------------------------

HANDS = [["R1", "W"], ["G1"]]


def changed(**fields):
    """Give a good position with some entries changed."""
    return {**position(HANDS, [run(1, "R3", "W", "R5"), set_of(0, "R7", "B7", "D")]), **fields}


def lacking(name):
    return {key: value for key, value in changed().items() if key != name}


def with_piles(*piles, hands=HANDS):
    """Give a position with these piles, whatever they are, and all other cards where they belong."""
    known = [pile for pile in piles if isinstance(pile, dict)]
    cards = [{"cards": [card for card in pile.get("cards", []) if card in KINDS]} for pile in known]
    return {**position(hands, cards), "piles": list(piles)}


IMPOSSIBLE = {
    "a foreign game": (changed(game="chess-v0"), "sting-v0"),
    "no game": (lacking("game"), "sting-v0"),
    "an unknown option": (changed(config={"jokers": 2}), "jokers"),
    "a wrong option": (changed(config={"rounds": 0}), "rounds"),
    "another game's option": (changed(config={"face_values": True}), "config"),
    "another game's hand size": (changed(config={"hand_size": 7}), "config"),
    "a number of players that is not there": (changed(config={"num_players": 3}), "num_players"),
    "no phase": (lacking("phase"), "phase"),
    "an unknown phase": (changed(phase="SLEEP"), "SLEEP"),
    "a number for a phase": (changed(phase=1), "phase"),
    "no current player": (lacking("current_player"), "current_player"),
    "a player who is not there": (changed(current_player=2), "current_player"),
    "nobody on turn": (changed(current_player=-1), "current_player"),
    "a turn of somebody else": (changed(turn_player=1), "turn"),
    "a dealer who is not there": (changed(dealer=2), "dealer"),
    "a seat that is no number": (changed(dealer="left"), "dealer"),
    "a seat that is a truth value": (changed(dealer=True), "dealer"),
    "a negative round": (changed(round=-1), "round"),
    "a round after the last": (changed(round=5), "round"),
    "a negative turn": (changed(turn=-1), "turn"),
    "a turn after the last": (changed(turn=500), "turn"),
    "no hands": (lacking("hands"), "hands"),
    "one hand": (changed(hands=[["R1", "W", "G1"]]), "hands"),
    "seven hands": (changed(hands=[["R1"]] * 7), "hands"),
    "a hand that is no list": (changed(hands=[["R1", "W"], "G1"]), "hand 1"),
    "a card in a card": (changed(hands=[["R1", "W"], [["G1"]]]), "hand 1"),
    "a card that does not exist": (changed(hands=[["R1", "W"], ["G11"]]), "G11"),
    "a card too many": (changed(hands=[["R1", "W", "R1"], ["G1"]]), "R1"),
    "a card too few": (changed(hands=[["R1"], ["G1"]]), "W"),
    "thousands of cards": (changed(hands=[["R1"] * 3000, ["G1"]]), "R1"),
    "another card": (changed(hands=[["R1", "W"], ["G2"]]), "G1|G2"),
    "an empty hand": (position([["R1", "W"], []]), "empty"),
    "an empty hand on turn": (position([[], ["R1"]]), "empty"),
    "no draw stacks": (lacking("draw_stacks"), "draw_stacks"),
    "a draw stack too few": (changed(draw_stacks=changed()["draw_stacks"][:1]), "draw_stacks"),
    "thousands of undrawn cards": (changed(draw_stacks=[["R1"] * 3000, []]), "R1"),
    "no discard pile": (lacking("discard_pile"), "discard_pile"),
    "a discard pile that is a word": (changed(discard_pile="Y10"), "discard_pile"),
    "no piles": (lacking("piles"), "piles"),
    "a pile that is a list": (changed(piles=[["R3", "W", "R5"]]), "pile 0"),
    "a pile in front of nobody": (with_piles(run(2, "R3", "W", "R5")), "owner"),
    "a pile without an owner": (with_piles({**run(1, "R3", "W", "R5"), "owner": None}), "owner"),
    "a pile of another kind": (with_piles({**run(1, "R3", "W", "R5"), "kind": "flush"}), "kind"),
    "a pile of two": (with_piles(run(1, "R3", "R4")), "pile 0"),
    "a set of five": (with_piles(set_of(1, "R3", "B3", "G3", "Y3", "W")), "pile 0"),
    "a set of a colour twice": (with_piles(set_of(1, "R3", "R3", "B3")), "pile 0"),
    "a set of two numbers": (with_piles(set_of(1, "R3", "B3", "G4")), "G4"),
    "a set of another number": (with_piles({**set_of(1, "R3", "B3", "G3"), "number": 4}), "R3"),
    "a set without a number": (with_piles({**set_of(1, "R3", "B3", "G3"), "number": None}), "number"),
    "a set whose number is a truth value": (with_piles({**set_of(1, "R1", "B1", "G1"), "number": True}), "number"),
    "a set with a wild too many": (with_piles(set_of(1, "R3", "W", "D")), "wilds"),
    "a set with three wilds": (with_piles(set_of(1, "R3", "W", "D", "T")), "wilds"),
    "a run with a gap": (with_piles(run(1, "R3", "R4", "R6")), "R6"),
    "a run of two colours": (with_piles(run(1, "R3", "R4", "B5")), "B5"),
    "a run at another start": (with_piles({**run(1, "R3", "R4", "R5"), "start": 4}), "R3"),
    "a run of another colour": (with_piles({**run(1, "R3", "R4", "R5"), "colour": "B"}), "R3"),
    "a run of no colour": (with_piles({**run(1, "R3", "R4", "R5"), "colour": "P"}), "colour"),
    "a run without a start": (with_piles({**run(1, "R3", "R4", "R5"), "start": None}), "start|run"),
    "a run whose start is a truth value": (with_piles({**run(1, "R1", "R2", "R3"), "start": True}), "start|run"),
    "a run around the corner": (with_piles({**run(1, "R9", "R10", "W")}), "1 to 10"),
    "a run below 1": (with_piles(run(1, "W", "R1", "R2")), "1 to 10"),
    "a run with wilds for neighbours": (with_piles(run(1, "R3", "W", "D", "R6")), "neighbours"),
    "a run with too many wilds": (with_piles(run(1, "W", "R4", "W", "R6", "D", "R8")), "wilds"),
    "a run of wilds": (with_piles({**run(1, "R3", "R4", "R5"), "cards": ["W", "D", "T"]}), "wilds"),
    "a word card in a pile": (with_piles({**run(1, "R3", "R4", "R5"), "cards": ["R3", "R4", "PASS"]}), "word card"),
    "a word card held": (position([["R1", "W"], ["G1"]], held="PASS"), "held"),
    "a card held that can't be placed": (position([["R1", "W"], ["G1"]], held="G7"), "legal"),
    "a card held before the draw": (position([["R4", "R5"], ["G1"]], held="R6", phase="DRAW"), "held"),
    "two cards held": (changed(held=["R4", "R5"]), "held"),
    "something pending between plays": (changed(pending={"play": "add R6"}), "pending"),
    "nothing pending within one": (changed(phase="PILE"), "pending"),
    "a pending list": (changed(pending=["add R6"]), "pending"),
    "totals too few": (changed(totals=[1]), "totals"),
    "a negative total": (changed(totals=[1, -1]), "totals"),
    "half a point": (changed(totals=[1, 0.5]), "totals"),
    "totals beyond measure": (changed(totals=[1, 10**12]), "totals"),
    "over with a player": (changed(phase="OVER"), "current_player"),
    "over before the last round": (changed(phase="OVER", current_player=-1), "OVER|over"),
    "a draw of nothing": (
        position(
            [["R1"], list((deck() - Counter(["R1", "Y10"])).elements())], phase="DRAW", discard=["Y10"], stacks=[[], []]
        ), "draw"
    ),
}  # fmt: skip


@pytest.mark.parametrize("what", IMPOSSIBLE)
def test_an_impossible_position_is_refused(what):
    wrong, named = IMPOSSIBLE[what]
    with pytest.raises(PositionError, match=named):
        GAME.from_dict(wrong)


def test_the_position_they_spoil_is_possible():
    GAME.from_dict(changed())
    GAME.from_dict(with_piles(run(1, "R3", "R4", "R5")))


@pytest.mark.parametrize("wrong", [None, [], "sting-v0", 3, {}])
def test_what_is_no_position_at_all_is_refused(wrong):
    with pytest.raises(PositionError, match=r"game|config"):
        GAME.from_dict(wrong)


def test_a_target_that_is_reached_is_the_end():
    game = StingGame(rounds=None, target_score=50)
    config = {"rounds": None, "target_score": 50}
    game.from_dict(position(HANDS, config=config, totals=[0, 49], round=40))
    with pytest.raises(PositionError, match=r"total|target"):
        game.from_dict(position(HANDS, config=config, totals=[0, 50], round=40))


def test_more_players_than_the_cards_can_be_dealt_to():
    """The next round could not be dealt."""
    game = StingGame(hand_size=39)
    wrong = position([["R1"], ["R2"], ["R3"]], config={"hand_size": 39})
    with pytest.raises(PositionError, match="hand_size"):
        game.from_dict(wrong)


# In the middle of a play


def middle(*texts, hands=(["R4", "R5", "R6", "W", "D", "PASS", "BACK"], ["G1", "BACK"], ["G2"]), piles=()):
    return Table(list(hands), list(piles)).play(*texts).now


PILES = [run(0, "R1", "R2", "R3"), set_of(0, "B4", "G4", "Y4")]
MIDDLES = {
    "seat": middle("run R4-6"),
    "wild": middle("run R4-6 *6"),
    "seat of a wild": middle("run R4-6 *6", "wild D"),
    "pile": middle("add R4", piles=PILES),
    "end": middle("add W", "pile 0", piles=[run(1, "R6", "R7", "R8"), PILES[1]]),
    "pass": middle("pass", piles=PILES),
    "seat of a pass": middle("pass", "pile 1", piles=PILES),
    "respond": middle("pass", "pile 1", "seat +1", piles=PILES),
    "respond again": middle("pass", "pile 1", "seat +1", "return", piles=PILES),
    "which comes out": middle("substitute R4", piles=[PILES[0], set_of(1, "B4", "G4", "W", "D")], hands=[
        ["R4", "W"], ["G1"], ["G2"]
    ]),
}  # fmt: skip
SPOILED = {
    "the cards of the pile are not at hand": ("seat", {"hands": [["B4"], ["G1", "BACK"], ["G2"]]}),
    "the wild is not at hand": ("seat of a wild", {"pending": {"play": "run R4-6 *6", "chosen_wild": 3}}),
    "no wild was chosen": ("seat of a wild", {"pending": {"play": "run R4-6 *6"}}),
    "a wild for three naturals": ("seat", {"pending": {"play": "run R4-6", "chosen_wild": 1}}),
    "the play can't be made": ("seat", {"pending": {"play": "run R7-9"}}),
    "the play asks nothing": ("seat", {"pending": {"play": "discard R4"}}),
    "the wrong question": ("seat", {"phase": "END"}),
    "a play that asks for no wild": ("wild", {"pending": {"play": "run R4-6"}}),
    "a pile that does not take the card": ("pile", {"pending": {"play": "add R6"}}),
    "a pile chosen before it is asked for": ("pile", {"pending": {"play": "add R4", "chosen_pile": 0}}),
    "an end of a set": ("end", {"pending": {"play": "add W", "chosen_pile": 1}}),
    "an end of no pile": ("end", {"pending": {"play": "add W"}}),
    "a pass without its card": ("pass", {"discard_pile": ["PASS", "Y10"]}),
    "a pile of somebody else": ("seat of a pass", {"piles": [{**PILES[0], "owner": 1}, {**PILES[1], "owner": 1}]}),
    "a receiver without the pile": ("respond", {"piles": PILES}),
    "a pass to oneself": ("respond", {"pending": {"play": "pass", "chosen_pile": 1, "passer": 0, "receiver": 0}}),
    "a pass by somebody else": ("respond", {"turn_player": 2}),
    "a passer who has not passed": (
        "respond", {"pending": {"play": "pass", "chosen_pile": 1, "chosen_seat": 1, "passer": 2, "receiver": 1}}
    ),
    "out with cards in hand": (
        "respond",
        {"pending": {"play": "pass", "chosen_pile": 1, "chosen_seat": 1, "passer": 0, "receiver": 1, "first_out": 2}},
    ),
    "a return without its card": ("respond again", {"discard_pile": ["BACK", "Y10", "PASS"]}),
    "a wild that is not in the set": (
        "which comes out", {"pending": {"play": "substitute R4", "chosen_pile": 0}}
    ),
}  # fmt: skip


@pytest.mark.parametrize("what", MIDDLES)
def test_the_middle_of_a_play_comes_back(what):
    game = StingGame(num_players=3)
    assert MIDDLES[what]["pending"]
    assert game.to_dict(game.from_dict(MIDDLES[what])[0]) == MIDDLES[what]


@pytest.mark.parametrize("what", SPOILED)
def test_an_impossible_middle_of_a_play_is_refused(what):
    where, fields = SPOILED[what]
    wrong = {**MIDDLES[where], **fields}
    if "hands" in fields or "discard_pile" in fields or "piles" in fields:  # keep the number of cards
        wrong = balanced(wrong)
    with pytest.raises(PositionError):
        StingGame(num_players=3).from_dict(wrong)


def balanced(now):
    """Give a position all cards that it lacks as undrawn ones."""
    piles, held = now["piles"], now["held"]
    whole = position(now["hands"], piles, discard=now["discard_pile"], held=held)
    return {**now, "draw_stacks": whole["draw_stacks"]}


# Nonsense -------------------------------------------------------------------------------------------------------------

NONSENSE = [None, True, False, -1, 0, 1, 2, 7, 1000, 10**30, 0.5, "", "R1", "W", "PASS", "B", "run", "DRAW", [], ["R1"], {},
            {"play": "pass"}, [[]], [["R1"]]]  # fmt: skip


def places(value, path=()):
    """List the path of every value inside a JSON value."""
    found = [path] if path else []
    if isinstance(value, dict):
        for key in value:
            found += places(value[key], (*path, key))
    elif isinstance(value, list):
        for index in range(len(value)):
            found += places(value[index], (*path, index))
    return found


def mutate(now, rng):
    """Spoil a position in place: another value, a value less, two exchanged or one doubled."""
    path = rng.choice(places(now))
    if rng.random() < 0.7:  # else cards are nearly all there is
        path = path[: rng.randint(1, len(path))]
    parent = now
    for step in path[:-1]:
        parent = parent[step]
    kind = rng.randrange(4)
    if kind == 0:
        parent[path[-1]] = copy.deepcopy(rng.choice(NONSENSE))
    elif kind == 1:
        del parent[path[-1]]
    elif kind == 2 and isinstance(parent, list):
        parent.append(copy.deepcopy(parent[path[-1]]))
    else:
        other = rng.choice(places(now))
        value = now
        for step in other:
            value = value[step]
        parent[path[-1]] = copy.deepcopy(value)


def test_nonsense_is_refused_or_played_to_the_end():
    """Whatever becomes of a position, the one error is PositionError, and what is let in is a game."""
    game = StingGame(num_players=3, rounds=2, max_turns=40)
    rng, np_rng = random.Random(7), np.random.default_rng(7)
    states = fresh(game, range(40), 2 + np.arange(40) % 5)
    sources = []
    for step in range(60):
        sources += [game.to_dict(state) for state in states[step % 4 :: 4]]
        game.step(states, choose(np_rng, game.legal_action_mask(states), 0.9))
    accepted = []
    for _ in range(12_000):
        now = copy.deepcopy(rng.choice(sources))
        for _ in range(rng.choice([1, 1, 1, 2, 3])):
            mutate(now, rng)
        try:
            accepted.append(game.from_dict(now))
        except PositionError as error:
            assert str(error)  # noqa: PT017
    accepted = np.concatenate(accepted)
    assert len(accepted) > 50
    assert (game.legal_action_mask(accepted).any(1) | game.terminated(accepted)).all()
    before = [game.to_dict(state) for state in accepted]
    for state, now in zip(accepted, before):
        assert game.to_dict(game.from_dict(now)[0]) == game.to_dict(state)
    play_out(game, accepted, np_rng, 0.8)
