"""The rules one by one, by hand, each test named after the rule it shows; and the examples of the rulebook."""

import re
from collections import Counter
from dataclasses import fields
from pathlib import Path

import numpy as np
import pytest

from sting_env import StingConfig, StingGame
from tabletop.game import IllegalActionError
from tests.sting.players import fresh
from tests.sting.table import KINDS, NATURALS, WILDS, Table, cards_of, deck, in_order, position, run, set_of

ALL_IDS = [f"S{number}" for number in range(1, 34)]


def deals(count=40, **options):
    """Give the first positions of several games."""
    game = StingGame(**options)
    return [game.to_dict(state) for state in fresh(game, range(count))]


# Cards (S1-S5) --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("num_players", [2, 3, 4, 5, 6])
def test_S1_two_to_six_players(num_players):
    for deal in deals(3, num_players=num_players):
        assert len(deal["hands"]) == len(deal["totals"]) == len(deal["draw_stacks"]) == num_players


@pytest.mark.parametrize("num_players", [0, 1, 7])
def test_S1_no_other_number_of_players(num_players):
    with pytest.raises(ValueError, match="num_players"):
        StingGame(num_players=num_players)


def test_S1_left_is_the_next_seat():
    table = Table([["R1", "R2"], ["R3"], ["R4"]])
    assert table.play("discard R1").player == 1
    last = Table([["R1"], ["R3"], ["R4", "R5"]], current_player=2, turn_player=2)
    assert last.play("discard R4").player == 0


def test_S1_seat_plus_one_is_the_left_neighbour():
    table = Table([["R1"], ["R2"], ["B4", "B5", "B6", "R9"]], current_player=2, turn_player=2)
    assert table.play("run B4-6", "seat +1").piles == [(0, ["B4", "B5", "B6"])]


@pytest.mark.parametrize("num_players", [2, 4, 6])
def test_S2_104_cards_of_46_kinds(num_players):
    for deal in deals(5, num_players=num_players):
        assert cards_of(deal) == deck()
    assert (sum(deck().values()), len(deck())) == (104, 46)


def test_S2_kinds_in_order():
    game = StingGame()
    first = game.string_to_action("discard R1")
    assert [game.action_to_string(first + kind) for kind in range(46)] == [f"discard {card}" for card in KINDS]
    assert KINDS.index("B1") == 10
    assert KINDS.index("Y10") == 39
    assert KINDS[40:] == ["W", "D", "T", "S", "PASS", "BACK"]


@pytest.mark.parametrize("num_players", range(2, 7))
def test_S3_every_seat_deals_first_at_times_and_the_left_one_begins(num_players):
    dealers = Counter()
    for deal in deals(60, num_players=num_players):
        assert deal["current_player"] == deal["turn_player"] == (deal["dealer"] + 1) % num_players
        dealers[deal["dealer"]] += 1
    assert set(dealers) == set(range(num_players))


@pytest.mark.parametrize("dealer", [0, 1, 2])
def test_S3_later_the_deal_passes_left(dealer):
    table = Table([["R1"], ["R2"], ["R3"]], dealer=dealer)
    now = table.play("discard R1").now
    assert (now["round"], now["dealer"], now["current_player"]) == (1, (dealer + 1) % 3, (dealer + 2) % 3)
    assert (now["phase"], now["turn"], now["piles"], now["held"]) == ("DRAW", 0, [], None)


@pytest.mark.parametrize(("num_players", "hand_size"), [(2, 10), (6, 10), (4, 7), (2, 1), (2, 39)])
def test_S4_the_hands_and_the_rest(num_players, hand_size):
    for deal in deals(5, num_players=num_players, hand_size=hand_size):
        assert [len(hand) for hand in deal["hands"]] == [hand_size] * num_players
        undrawn = sum(len(stack) for stack in deal["draw_stacks"])
        assert undrawn + len(deal["discard_pile"]) == 104 - num_players * hand_size


def test_S4_later_rounds_have_the_same_hand_size():
    table = Table([["R1"], ["R2"]], config={"hand_size": 7})
    assert [len(hand) for hand in table.play("discard R1").hands] == [7, 7]


def test_S5_a_natural_is_turned_and_skipped_cards_stay_underneath():
    skipped = Counter()
    for deal in deals(200):
        *under, top = deal["discard_pile"]
        assert top in NATURALS
        assert not set(under) & set(NATURALS)
        skipped[len(under)] += 1
        skipped.update(under)
    assert skipped[0] > skipped[1] > skipped[2] > 0
    assert skipped["PASS"] > 0
    assert sum(skipped[wild] for wild in WILDS) > 0


def test_S5_without_special_cards_only_the_naturals():
    for deal in deals(20, special_cards=False, num_players=3):
        assert cards_of(deal) == deck(special_cards=False)
        assert len(deal["discard_pile"]) == 1
    assert sum(deck(special_cards=False).values()) == 80
    with pytest.raises(ValueError, match="W"):
        StingGame(special_cards=False).from_dict(position([["R1", "W"], ["R2"]]) | {"config": {"special_cards": False}})


def test_S5_open_hands_are_seen_by_everybody():
    hands = [["R1", "W"], ["B2", "B2", "PASS"], ["Y9"]]
    for open_hands in (True, False):
        table = Table(hands, config={"open_hands": open_hands})
        for observer in range(3):
            seen = table.game.observe(table.states, observer)[0]["open_hands"]
            for rel in range(1, 6):
                cards = [KINDS[kind] for kind in np.repeat(np.arange(46), seen[rel - 1])]
                expected = hands[(observer + rel) % 3] if open_hands and rel < 3 else []
                assert cards == in_order(expected)


# Turn (S6-S11) --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("count", [1, 2])
def test_S6_draw_what_was_announced(count):
    table = Table([["R1"], ["R2"]], phase="DRAW", stacks=[["B5", "B4", "B3"], ["G1", "G2"]])
    assert table.legal == ["draw 1", "draw 2"]
    table.play(f"draw {count}")
    assert (table.player, table.phase) == (0, "PLAY")
    assert table.hands[0] == ["R1", "B3", "B4"][: 1 + count]
    assert table.now["draw_stacks"] == [["B5", "B4", "B3"][: 3 - count], ["G1", "G2"]]


def rest_in_hand(discard, stacks):
    """Give a position to draw in: two cards in one hand, and all that is left in the other."""
    named = [card for stack in stacks for card in stack] + list(discard) + ["R1", "R2"]
    rest = deck()
    rest.subtract(named)
    return [["R1", "R2"], list(rest.elements())], {"discard": discard, "stacks": stacks}


@pytest.mark.parametrize(
    ("discard", "stacks", "legal"),
    [
        (["Y10"], [["B1"], ["B2"]], ["draw 1", "draw 2"]),
        (["Y10"], [[], ["B2"]], ["draw 1"]),
        (["Y9", "Y10"], [[], ["B2"]], ["draw 1", "draw 2"]),
        (["Y9", "Y10"], [[], []], ["draw 1"]),
        (["Y8", "Y9", "Y10"], [[], []], ["draw 1", "draw 2"]),
        ([], [["B1"], []], ["draw 1"]),
    ],
)
def test_S6_two_only_if_two_can_be_drawn(discard, stacks, legal):
    hands, fields_ = rest_in_hand(discard, stacks)
    assert Table(hands, phase="DRAW", **fields_).legal == legal


@pytest.mark.parametrize("discard", [[], ["Y10"]])
def test_S6_without_a_card_to_draw_the_draw_is_skipped(discard):
    hands, fields_ = rest_in_hand(discard, [[], []])
    table = Table(hands[::-1], current_player=0, turn_player=0, phase="PLAY", **fields_)
    table.play("discard R3")
    assert (table.player, table.phase) == (1, "PLAY" if not discard else "DRAW")


def test_S7_the_whole_discard_pile_is_shuffled_and_its_top_turned():
    discard = ["PASS", "R3", "W", "B7", "Y10"]
    hands, fields_ = rest_in_hand(discard, [[], []])
    tops, hand_sizes = set(), set()
    for key in range(60):
        table = Table(hands, phase="DRAW", key=key, **fields_)
        now = table.play("draw 2").now
        assert len(now["discard_pile"]) == 1
        drawn = Counter(now["hands"][0]) - Counter(["R1", "R2"])
        undrawn = Counter(card for stack in now["draw_stacks"] for card in stack)
        assert drawn + undrawn + Counter(now["discard_pile"]) == Counter(discard)
        tops.update(now["discard_pile"])
        hand_sizes.add(len(now["hands"][0]))
        assert (table.phase, table.player) == ("PLAY", 0)
    assert tops == set(discard)  # any kind is turned
    assert hand_sizes == {4}


def test_S7_between_the_two_cards_of_a_draw():
    hands, fields_ = rest_in_hand(["B7", "Y9", "Y10"], [[], ["G1"]])
    for key in range(20):
        now = Table(hands, phase="DRAW", key=key, **fields_).play("draw 2").now
        assert "G1" in now["hands"][0]
        assert len(now["hands"][0]) == 4
        assert len(now["discard_pile"]) == 1
        assert sum(len(stack) for stack in now["draw_stacks"]) == 1


def test_S7_not_before_a_card_is_needed():
    hands, fields_ = rest_in_hand(["B7", "Y9", "Y10"], [[], ["G1"]])
    now = Table(hands, phase="DRAW", **fields_).play("draw 1").now
    assert now["draw_stacks"] == [[], []]
    assert now["discard_pile"] == ["B7", "Y9", "Y10"]


def test_S7_a_wild_that_is_turned_can_be_taken():
    hands, fields_ = rest_in_hand(["W", "W"], [[], []])
    table = Table([["R1", "R2", *hands[1][-1:]], hands[1][:-1]], phase="DRAW", **fields_)
    assert table.play("draw 1").discard_pile == ["W"]
    assert "take" in table.legal


def test_S7_the_undrawn_cards_are_dealt_evenly_to_the_seats():
    rest = list((deck() - Counter({"R1": 2, "R2": 1, "R3": 1})).elements())
    start = Table([["R1"], ["R2"], ["R1", "R3"]], phase="DRAW", discard=rest, stacks=[[], [], []])
    sizes = [len(stack) for stack in start.play("draw 1").now["draw_stacks"]]
    sizes[0] += 1  # drawn from the seat's own
    assert sum(sizes) == 99
    assert max(sizes) - min(sizes) <= 1


def test_S8_any_number_of_plays_in_any_order():
    hand = ["R4", "R5", "R6", "R7", "B9", "G9", "Y9", "B2"]
    plays = [["run R4-6"], ["set 9 B G Y"], ["add R7"]]
    for order in ((0, 2, 1), (0, 1, 2), (1, 0, 2)):
        table = Table([hand, ["R1"]])
        for index in order:
            table.play(*plays[index])
        assert table.player == 0
        assert sorted(pile[1] for pile in table.piles) == [["B9", "G9", "Y9"], ["R4", "R5", "R6", "R7"]]
        assert table.legal_like("discard") == ["discard B2"]


def test_S8_no_play_is_compulsory():
    table = Table([["R4", "R5", "R6", "W"], ["R1"]], [run(1, "B1", "B2", "B3")])
    assert table.legal_like("discard") == ["discard R4", "discard R5", "discard R6", "discard W"]
    table.play("discard W")
    assert table.player == 1


@pytest.mark.parametrize("card", ["R7", "W", "D", "T", "S", "PASS", "BACK"])
def test_S9_one_card_of_any_kind_is_discarded_and_the_turn_passes_left(card):
    table = Table([[card, "B1"], ["R1"], ["R2"]], [run(0, "R3", "R4", "R5")], turn=6)
    table.play(f"discard {card}")
    assert (table.player, table.phase, table.now["turn"]) == (1, "DRAW", 7)
    assert table.discard_pile[-1] == card
    assert table.hands[0] == ["B1"]
    assert table.piles == [(0, ["R3", "R4", "R5"])]


@pytest.mark.parametrize("card", ["PASS", "BACK"])
def test_S9_a_discarded_word_card_does_nothing(card):
    table = Table([[card, "B1"], ["BACK", "R1"]], [run(0, "R3", "R4", "R5")])
    table.play(f"discard {card}")
    assert (table.player, table.phase) == (1, "DRAW")
    table.play("draw 1")
    assert "take" not in table.legal


def test_S10_out_by_the_discard():
    table = Table([["R1"], ["R2", "R3"]]).play("discard R1")
    assert (table.out, table.points) == (0, [0, 2])


def test_S10_out_by_a_new_pile():
    table = Table([["R4", "R5", "R6"], ["R2"]]).play("run R4-6")
    assert (table.out, table.points) == (0, [0, 3 + 1])


def test_S10_out_by_adding():
    table = Table([["R7"], ["R2"]], [run(0, "R4", "R5", "R6")]).play("add R7")
    assert (table.out, table.points) == (0, [0, 1])


def test_S10_not_out_while_a_card_is_held():
    table = Table([["R3"], ["R9"]], [run(1, "R1", "R2", "W")]).play("substitute R3")
    assert (table.phase, table.player, table.held, table.hands[0]) == ("PLAY", 0, "W", [])
    assert table.now["round"] == 0
    assert table.legal == ["add W"]
    table.play("add W")
    assert (table.out, table.points) == (0, [0, 4 + 1])


def test_S10_out_with_a_card_taken():
    table = Table([["R4", "R5"], ["R9"]], discard=["Y1", "R6"]).play("take", "run R4-6")
    assert (table.out, table.points) == (0, [0, 3 + 1])


def test_S10_out_by_a_pass():
    table = Table([["PASS"], ["R9"]], [run(0, "R1", "R2", "W")]).play("pass", "accept")
    assert (table.out, table.points) == (0, [0, 3 + 1])


def test_S10_out_of_turn():
    table = Table([["PASS", "R8"], ["BACK"]], [run(0, "R1", "R2", "W")]).play("pass", "return", "accept")
    assert (table.out, table.points) == (1, [3 + 1, 0])


def test_S10_discard_to_go_out_a_pile_may_not_empty_the_hand():
    strict = {"discard_to_go_out": True}
    assert "run R4-6" not in Table([["R4", "R5", "R6"], ["R2"]], config=strict).legal
    table = Table([["R4", "R5", "R6", "B1"], ["R2"]], config=strict).play("run R4-6")
    assert table.legal == ["discard B1"]
    assert table.play("discard B1").out == 0


def test_S10_discard_to_go_out_no_play_may_empty_the_hand():
    strict = {"discard_to_go_out": True}
    piles = [run(1, "R1", "R2", "W"), run(0, "B4", "B5", "B6")]
    assert Table([["B7"], ["R9"]], piles, config=strict).legal == ["discard B7"]
    assert Table([["R3"], ["R9"]], piles, config=strict).legal == ["discard R3"]
    assert Table([["PASS"], ["R9"]], piles, config=strict).legal == ["discard PASS"]
    assert "pass" in Table([["PASS", "R5"], ["R9"]], piles, config=strict).legal
    assert "substitute R3" in Table([["R3", "R5"], ["R9"]], piles, config=strict).legal
    assert "take" not in Table([["R4", "R5"], ["R9"]], discard=["R6"], config=strict).legal
    assert "take" in Table([["R4", "R5", "R9"], ["R9"]], discard=["R6"], config=strict).legal
    assert "take" in Table([["R5"], ["R9"]], [run(1, "R7", "R8", "R9")], discard=["R6"], config=strict).legal


def test_S10_discard_to_go_out_a_return_may_not_empty_the_hand():
    piles = [run(0, "R1", "R2", "W")]
    for hand, legal in ((["BACK"], ["accept"]), (["BACK", "R9"], ["accept", "return"])):
        table = Table([["PASS", "R5"], hand], piles, config={"discard_to_go_out": True}).play("pass")
        assert (table.player, table.legal) == (1, legal)


def test_S10_discard_to_go_out_a_bridge_may_not_empty_the_hand():
    piles = [run(1, "R3", "W", "R5", "W", "R7")]
    strict = {"discard_to_go_out": True}
    assert "add D" not in Table([["D", "R9"], ["R1"]], piles, config=strict).legal
    assert "add D" in Table([["D", "R9", "B1"], ["R1"]], piles, config=strict).legal
    assert "add D" in Table([["D", "R9"], ["R1"]], piles).legal
    piles.append(set_of(1, "B5", "G5", "Y5"))
    assert Table([["D", "R9"], ["R1"]], piles).play("add D").phase == "PILE"
    table = Table([["D", "R9"], ["R1"]], piles, config=strict).play("add D")
    assert (table.phase, table.hands[0]) == ("PLAY", ["R9"])  # onto the set: there is nothing to choose
    table = Table([["R9"], ["R1"]], piles, config=strict, discard=["Y1", "D"]).play("take", "add D")
    assert (table.phase, table.hands[0]) == ("PLAY", ["R9"])


def test_S11_max_turns_end_the_round_blocked():
    config = {"max_turns": 3, "rounds": 1}
    table = Table([["R1", "R2"], ["T", "B2"]], [run(0, "R3", "R4", "D")], turn=1, config=config)
    table.play("discard R1", "draw 1")
    assert not table.over
    drawn = next(card for card in table.hands[1] if card not in ("T", "B2"))
    table.play(f"discard {drawn}")
    assert (table.over, table.out, table.points) == (True, -1, [6 + 1, 15 + 1])


def test_S11_out_with_the_last_turn_is_out():
    table = Table([["R1"], ["T", "B2"]], turn=2, config={"max_turns": 3, "rounds": 1}).play("discard R1")
    assert (table.over, table.out, table.points) == (True, 0, [0, 16])


def test_S11_a_blocked_round_is_followed_by_the_next():
    table = Table([["R1", "R2"], ["T"]], turn=2, config={"max_turns": 3}).play("discard R1")
    assert (table.now["round"], table.now["turn"], table.phase, table.totals) == (1, 0, "DRAW", [1, 15])


def test_S11_is_500_turns_by_default():
    table = Table([["R1", "R2"], ["T"]], turn=498).play("discard R1")
    assert table.now["round"] == 0
    table = Table([["R1", "R2"], ["T"]], turn=499).play("discard R1")
    assert (table.now["round"], table.out) == (1, -1)


# Sets and runs (S12-S20) ----------------------------------------------------------------------------------------------


def test_S12_a_set_is_three_cards_of_one_number_and_of_different_colours():
    table = Table([["R5", "B5", "G5", "G5", "R9"], ["R1"]])
    assert table.legal_like("set") == ["set 5 R B G"]
    assert Table([["R5", "B5", "B5", "R9"], ["R1"]]).legal_like("set") == []
    assert Table([["R5", "R5", "W", "R9"], ["R1"]]).legal_like("set") == []
    assert table.play("set 5 R B G").piles == [(1, ["R5", "B5", "G5"])]
    assert "add G5" not in table.legal


def test_S12_a_set_has_four_cards_at_most():
    four = [set_of(1, "R5", "B5", "G5", "Y5"), set_of(1, "R7", "B7", "W", "D")]
    table = Table([["R5", "G7", "W", "T", "R1"], ["R1"]], four)
    assert table.legal_like("add") == []


def test_S12_a_run_is_one_colour_in_sequence():
    table = Table([["R1", "R2", "R3", "B4", "R9", "R10", "B1"], ["R5"]])
    assert table.legal_like("run") == ["run R1-3"]
    assert Table([["R9", "R10", "R1", "B1"], ["R5"]]).legal_like("run") == []


def test_S12_no_wrap():
    piles = [run(1, "R8", "R9", "R10"), run(1, "B1", "B2", "B3")]
    table = Table([["R1", "B10", "B9"], ["R5"]], piles)
    assert table.legal_like("add") == []
    table = Table([["W", "B9"], ["R5"]], piles).play("add W", "pile 0")
    assert table.piles[0] == (1, ["W", "R8", "R9", "R10"])  # no card is higher than 10
    table = Table([["W", "B9"], ["R5"]], piles).play("add W", "pile 1")
    assert table.piles[1] == (1, ["B1", "B2", "B3", "W"])  # nor lower than 1


def test_S12_a_run_of_ten_is_complete():
    ten = [f"G{number}" for number in range(1, 11)]
    table = Table([["G10", "R9"], ["R5"]], [run(1, *ten[:9])]).play("add G10")
    assert table.piles == [(1, ten)]
    assert Table([["G1", "G10", "W", "R9"], ["R5"]], [run(1, *ten)]).legal_like("add") == []


@pytest.mark.parametrize(
    ("pile", "takes_wild"),
    [
        (set_of(1, "R5", "B5", "G5"), True),
        (set_of(1, "R5", "B5", "W"), True),
        (run(1, "R5", "R6", "R7"), True),
        (run(1, "R4", "W", "R6"), True),
        (run(1, "R4", "W", "R6", "R7"), True),
        (run(1, "R3", "W", "R5", "D", "R7"), False),
        (run(1, "R3", "W", "R5", "D", "R7", "R8"), True),
        (run(1, "R2", "W", "R4", "D", "R6", "T", "R8"), False),
        (run(1, "R2", "W", "R4", "D", "R6", "T", "R8", "R9"), False),
    ],
)
@pytest.mark.parametrize("wild", WILDS)
def test_S13_how_many_wilds_a_pile_takes(pile, takes_wild, wild):
    table = Table([[wild, "B1"], ["B2"]], [pile])
    assert (f"add {wild}" in table.legal) is takes_wild


@pytest.mark.parametrize(
    "pile",
    [
        run(1, "R4", "W", "R6", "D"),
        run(1, "R3", "S", "R5", "D", "R7", "R8"),
        run(1, "R2", "W", "R4", "D", "R6", "T", "R8"),
        set_of(1, "R5", "B5", "T", "S"),
    ],
)
def test_S13_all_four_kinds_count_together(pile):
    Table([["R1", "B1"], ["B2"]], [pile])


@pytest.mark.parametrize(
    "pile",
    [
        run(1, "W", "R5", "D"),
        set_of(1, "R5", "W", "D"),
        run(1, "W", "R5", "D", "R7", "S", "R9"),
        set_of(1, "R5", "W", "D", "S"),
        run(1, "W", "R2", "D", "R4", "T", "R6", "S", "R8", "R9", "R10"),
    ],
)
def test_S13_too_many_wilds_are_no_pile(pile):
    with pytest.raises(ValueError, match="wilds"):
        Table([["R1", "B1"], ["B2"]], [pile])


def test_S13_three_cards_are_laid_with_one_wild_at_most():
    table = Table([["R5", "W", "D", "B9"], ["R1"]])
    assert table.legal_like("set", "run") == []


def test_S14_two_wilds_in_a_run_are_never_neighbours():
    table = Table([["D", "B1"], ["B2"]], [run(1, "R4", "R5", "R6", "W")]).play("add D")
    assert table.piles == [(1, ["D", "R4", "R5", "R6", "W"])]  # the high end is not asked about
    assert Table([["D", "B1"], ["B2"]], [run(1, "R8", "R9", "W")]).play("add D").piles[0][1][0] == "D"
    assert "add D" not in Table([["D", "B1"], ["B2"]], [run(1, "W", "R2", "R3", "W")]).legal
    with pytest.raises(ValueError, match="neighbours"):
        Table([["R1", "B1"], ["B2"]], [run(1, "R4", "W", "D", "R7")])


def test_S14_does_not_matter_in_a_set():
    table = Table([["D", "B1"], ["B2"]], [set_of(1, "R5", "B5", "W")]).play("add D")
    assert table.piles == [(1, ["R5", "B5", "W", "D"])]


def test_S15_a_wild_in_a_run_stands_for_its_place():
    piles = [run(1, "R4", "W", "R6"), run(0, "B1", "B2", "B3")]
    table = Table([["R4", "R5", "R6", "R7", "R3", "G5", "B9"], ["R1"]], piles)
    assert table.legal_like("substitute") == ["substitute R5"]


def test_S15_and_never_moves():
    table = Table([["R3", "R7", "R9", "B9"], ["R1"]], [run(1, "R4", "R5", "W")])
    assert table.legal_like("add") == ["add R3", "add R7"]
    assert table.play("add R7").piles == [(1, ["R4", "R5", "W", "R7"])]
    assert table.play("add R3").piles == [(1, ["R3", "R4", "R5", "W", "R7"])]


def test_S15_a_wild_in_a_set_stands_for_any_colour_still_missing():
    piles = [set_of(1, "R5", "B5", "W"), run(0, "B1", "B2", "B3")]
    table = Table([["R5", "B5", "G5", "Y5", "G6", "B9"], ["R1"]], piles)
    assert table.legal_like("substitute") == ["substitute G5", "substitute Y5"]
    assert table.legal_like("add") == ["add G5", "add Y5"]
    full = [set_of(1, "R5", "B5", "G5", "W"), run(0, "B1", "B2", "B3")]
    assert Table([["G5", "Y5", "B9"], ["R1"]], full).legal_like("substitute") == ["substitute Y5"]


@pytest.mark.parametrize("num_players", range(2, 7))
def test_S16_a_pile_is_laid_in_front_of_any_opponent_never_oneself(num_players):
    hands = [["R4", "R5", "R6", "B1"], *[["R1"], ["R1"], ["R2"], ["R2"], ["R3"]][: num_players - 1]]
    if num_players == 2:
        assert Table(hands).play("run R4-6").piles == [(1, ["R4", "R5", "R6"])]
        return
    table = Table(hands).play("run R4-6")
    assert table.phase == "SEAT"
    assert table.legal == [f"seat +{rel}" for rel in range(1, num_players)]
    assert table.piles == []
    assert table.hands[0] == ["R4", "R5", "R6", "B1"]
    for rel in range(1, num_players):
        laid = Table(hands).play("run R4-6", f"seat +{rel}")
        assert laid.piles == [(rel, ["R4", "R5", "R6"])]
        assert laid.hands[0] == ["B1"]


def test_S16_with_any_wild_in_any_place():
    for wild in WILDS:
        hand = ["R4", "R5", "R6", wild, "B1"]
        for place, left in ((4, "R4"), (5, "R5"), (6, "R6")):
            table = Table([hand, ["R1"]]).play(f"run R4-6 *{place}")
            cards = ["R4", "R5", "R6"]
            cards[place - 4] = wild
            assert table.piles == [(1, cards)]
            assert table.hands[0] == in_order([left, "B1"])


def test_S16_a_wild_may_lie_at_either_end_of_two_naturals():
    legal = Table([["R4", "R5", "W", "B1"], ["R1"]]).legal_like("run")
    assert sorted(legal) == ["run R3-5 *3", "run R4-6 *6"]
    assert Table([["R9", "R10", "W", "B1"], ["R1"]]).legal_like("run") == ["run R8-10 *8"]
    assert Table([["R1", "R2", "W", "B1"], ["R9"]]).legal_like("run") == ["run R1-3 *3"]


def test_S16_which_wild_is_asked_before_the_seat():
    table = Table([["R4", "B4", "W", "S", "B1"], ["R1"], ["R2"]]).play("set 4 R B *")
    assert (table.phase, table.legal) == ("WILD", ["wild W", "wild S"])
    table.play("wild S")
    assert table.phase == "SEAT"
    assert table.play("seat +2").piles == [(2, ["R4", "B4", "S"])]


def test_S16_longer_piles_grow_in_the_same_turn():
    table = Table([["R4", "R5", "R6", "R7", "R8", "B1"], ["R1"]]).play("run R5-7", "add R4", "add R8")
    assert table.piles == [(1, ["R4", "R5", "R6", "R7", "R8"])]
    assert table.player == 0


def test_S17_one_card_is_added_to_anybodys_pile():
    piles = [run(owner, *(f"{colour}{number}" for number in (4, 5, 6))) for owner, colour in enumerate("RBG")]
    table = Table([["R3", "B7", "G3", "Y1"], ["Y2"], ["Y3"]], piles)
    assert table.legal_like("add") == ["add R3", "add B7", "add G3"]
    table.play("add R3", "add B7", "add G3")
    assert table.piles == [(0, ["R3", "R4", "R5", "R6"]), (1, ["B4", "B5", "B6", "B7"]), (2, ["G3", "G4", "G5", "G6"])]


def test_S17_a_run_grows_at_either_end_and_the_player_chooses_for_a_wild():
    for end, cards in (("low", ["W", "R4", "R5", "R6"]), ("high", ["R4", "R5", "R6", "W"])):
        table = Table([["W", "B1"], ["B2"]], [run(1, "R4", "R5", "R6")]).play("add W")
        assert (table.phase, table.legal) == ("END", ["end low", "end high"])
        assert table.play(f"end {end}").piles == [(1, cards)]


def test_S17_only_at_an_end_that_takes_the_wild():
    table = Table([["W", "B1"], ["B2"]], [run(1, "R1", "R2", "R3")]).play("add W")
    assert table.piles == [(1, ["R1", "R2", "R3", "W"])]
    table = Table([["W", "B1"], ["B2"]], [run(1, "R8", "R9", "R10")]).play("add W")
    assert table.piles == [(1, ["W", "R8", "R9", "R10"])]


def test_S17_of_several_piles_the_player_chooses():
    piles = [run(1, "R4", "R5", "R6"), run(0, "B4", "B5", "B6"), run(1, "R8", "R9", "R10"), set_of(1, "B7", "G7", "Y7")]
    table = Table([["R7", "B1"], ["B2"]], piles).play("add R7")
    assert (table.phase, table.legal) == ("PILE", ["pile 0", "pile 2", "pile 3"])
    assert table.piles[0] == (1, ["R4", "R5", "R6"])
    assert table.play("pile 3").piles[3] == (1, ["R7", "B7", "G7", "Y7"])


def test_S17_pile_and_end_of_a_wild():
    piles = [run(1, "R4", "R5", "R6"), set_of(0, "B7", "G7", "Y7")]
    table = Table([["T", "B1"], ["B2"]], piles).play("add T", "pile 0")
    assert table.phase == "END"
    assert table.play("end high").piles[0] == (1, ["R4", "R5", "R6", "T"])
    table = Table([["T", "B1"], ["B2"]], piles).play("add T", "pile 1")
    assert table.piles[1] == (0, ["B7", "G7", "Y7", "T"])


def test_S18_a_wild_and_the_next_natural_as_one_play():
    piles = [run(1, "R3", "W", "R5", "W", "R7")]
    table = Table([["D", "R9", "B1"], ["B2"]], piles)
    assert table.legal_like("add") == ["add D"]
    table.play("add D")
    assert table.piles == [(1, ["R3", "W", "R5", "W", "R7", "D", "R9"])]
    assert table.hands[0] == ["B1"]
    table = Table([["D", "R1", "B1"], ["B2"]], piles).play("add D")
    assert table.piles == [(1, ["R1", "D", "R3", "W", "R5", "W", "R7"])]


def test_S18_at_the_end_of_choice():
    piles = [run(1, "R3", "W", "R5", "W", "R7")]
    table = Table([["D", "R1", "R9", "B1"], ["B2"]], piles).play("add D")
    assert (table.phase, table.legal) == ("END", ["end low", "end high"])
    table.play("end low")
    assert table.piles == [(1, ["R1", "D", "R3", "W", "R5", "W", "R7"])]
    assert table.hands[0] == ["R9", "B1"]


@pytest.mark.parametrize(
    ("hand", "pile"),
    [
        (["D", "R8", "B1"], run(1, "R3", "W", "R5", "W", "R7")),  # not the next natural
        (["D", "R2", "B1"], run(1, "R3", "W", "R5", "W", "R7")),
        (["D", "W", "B1"], run(1, "R3", "W", "R5", "W", "R7")),  # a second wild is no natural
        (["D", "R10", "B1"], run(1, "R4", "W", "R6", "R7", "W")),  # the wild would have a wild for neighbour
        (["D", "R10", "B1"], run(1, "R5", "W", "R7", "W", "R9")),  # no place beyond
        (["D", "R1", "B1"], run(1, "R2", "W", "R4", "W", "R6")),
        (["D", "R10", "B1"], run(1, "R2", "W", "R4", "W", "R6", "W", "R8")),  # a fourth wild never
        (["D", "R5", "B1"], set_of(1, "R5", "B5", "W", "W")),  # a set never
    ],
)
def test_S18_breaks_no_other_rule(hand, pile):
    assert not {f"add {wild}" for wild in WILDS} & set(Table([hand, ["B2"]], [pile]).legal)


def test_S18_a_natural_is_not_added_across_a_gap():
    assert Table([["R9", "W", "B1"], ["B2"]], [run(1, "R5", "R6", "R7")]).legal_like("add") == ["add W"]


def test_S18_is_not_needed_where_the_wild_fits_alone():
    table = Table([["D", "R10", "B1"], ["B2"]], [run(1, "R3", "W", "R5", "W", "R7", "R8")])
    table.play("add D", "end high")
    assert table.piles == [(1, ["R3", "W", "R5", "W", "R7", "R8", "D"])]
    assert "R10" in table.hands[0]


def test_S18_with_a_held_wild():
    table = Table([["R9", "B1"], ["B2"]], [run(1, "R3", "W", "R5", "W", "R7")], discard=["Y1", "T"])
    table.play("take")
    assert table.legal == ["add T"]
    table.play("add T")
    assert table.piles == [(1, ["R3", "W", "R5", "W", "R7", "T", "R9"])]


def test_S18_the_natural_comes_from_the_hand():
    table = Table([["D", "B1"], ["B2"]], [run(1, "R3", "W", "R5", "W", "R7")], discard=["Y1", "R9"])
    assert "take" not in table.legal


def test_S18_and_the_longest_run_with_three_wilds():
    table = Table([["T", "R10", "B1"], ["B2"]], [run(1, "R1", "R2", "W", "R4", "R5", "R6", "D", "R8")])
    table.play("add T", "add R10")
    assert table.piles[0][1] == ["R1", "R2", "W", "R4", "R5", "R6", "D", "R8", "T", "R10"]


def test_S19_piles_are_never_joined():
    piles = [run(1, "R1", "R2", "R3"), run(1, "R5", "R6", "R7")]
    table = Table([["R4", "R8", "B1"], ["B2"]], piles).play("add R4")
    assert (table.phase, table.legal) == ("PILE", ["pile 0", "pile 1"])
    table.play("pile 0")
    assert table.piles == [(1, ["R1", "R2", "R3", "R4"]), (1, ["R5", "R6", "R7"])]
    assert table.legal_like("add") == ["add R8"]  # nothing is missing between the two


def test_S19_piles_are_never_split_or_rearranged():
    pile = [run(1, "R2", "R3", "R4", "R5", "R6", "R7")]
    table = Table([["R4", "R5", "B1"], ["B2"]], pile)
    assert table.legal == ["discard R4", "discard R5", "discard B1"]
    wilds = Table([["R8", "B1"], ["B2"]], [run(1, "W", "R5", "R6", "R7")]).play("add R8")
    assert wilds.piles == [(1, ["W", "R5", "R6", "R7", "R8"])]


def test_S20_a_pile_with_a_super_stays():
    table = Table([["PASS", "B1"], ["B2"]], [run(0, "R1", "R2", "S")])
    assert "pass" not in table.legal
    table = Table([["PASS", "B1"], ["B2"], ["B2"]], [run(0, "R1", "R2", "S"), run(0, "R4", "R5", "W")]).play("pass")
    assert table.phase == "SEAT"  # only one pile can be passed
    assert [owner for owner, _ in table.play("seat +2").piles] == [0, 2]


def test_S20_anyone_may_still_add_to_it():
    table = Table([["R4", "G5", "B1"], ["B2"]], [run(1, "R1", "R2", "S"), set_of(0, "R5", "B5", "S")])
    table.play("add R4", "add G5")
    assert table.piles == [(1, ["R1", "R2", "S", "R4"]), (0, ["R5", "B5", "G5", "S"])]


def test_S20_a_super_fixes_the_pile_it_is_added_to():
    table = Table([["S", "PASS", "B1"], ["B2"]], [run(0, "R1", "R2", "R3")])
    assert "pass" in table.legal
    assert "pass" not in table.play("add S").legal


# Discard pile and substitution (S21-S23) ------------------------------------------------------------------------------


def test_S21_the_top_of_the_discard_pile_is_taken_and_placed_at_once():
    table = Table([["R4", "R5", "B1"], ["B2"]], discard=["Y1", "R6"])
    assert "take" in table.legal
    table.play("take")
    assert (table.held, table.hands[0], table.discard_pile) == ("R6", ["R4", "R5", "B1"], ["Y1"])
    assert table.legal == ["run R4-6"]
    table.play("run R4-6")
    assert (table.held, table.hands[0], table.piles) == (None, ["B1"], [(1, ["R4", "R5", "R6"])])


def test_S21_it_may_be_added():
    table = Table([["B1"], ["B2"]], [run(0, "R3", "R4", "R5")], discard=["Y1", "R6"]).play("take", "add R6")
    assert table.piles == [(0, ["R3", "R4", "R5", "R6"])]


def test_S21_only_if_it_can_be_placed():
    assert "take" not in Table([["R4", "B1"], ["B2"]], discard=["Y1", "R6"]).legal
    assert "take" in Table([["R4", "W", "B1"], ["B2"]], discard=["Y1", "R6"]).legal
    assert "take" not in Table([["R3", "W", "B1"], ["B2"]], discard=["Y1", "R6"]).legal
    assert "take" in Table([["B6", "W", "B1"], ["B2"]], discard=["Y1", "R6"]).legal
    assert "take" not in Table([["R6", "W", "B1"], ["B2"]], discard=["Y1", "R6"]).legal
    assert "take" not in Table([["W", "D", "B1"], ["B2"]], discard=["Y1", "R6"]).legal


@pytest.mark.parametrize("card", ["PASS", "BACK"])
def test_S21_word_cards_are_not_taken(card):
    assert "take" not in Table([["PASS", "R1"], ["B2"]], [run(0, "R3", "R4", "R5")], discard=["Y1", card]).legal


@pytest.mark.parametrize("wild", WILDS)
def test_S21_a_wild_is_taken(wild):
    table = Table([["R4", "R5", "B1"], ["B2"]], discard=["Y1", wild]).play("take")
    assert (table.held, table.legal) == (wild, ["run R3-5 *3", "run R4-6 *6"])
    assert table.play("run R4-6 *6").piles == [(1, ["R4", "R5", wild])]


def test_S21_a_held_wild_is_the_one_that_is_laid():
    table = Table([["R4", "R5", "W", "D", "B1"], ["B2"]], discard=["Y1", "T"]).play("take", "run R4-6 *6")
    assert table.piles == [(1, ["R4", "R5", "T"])]
    assert table.hands[0] == ["R4", "R5", "B1", "W", "D"][2:]


def test_S21_of_two_equal_cards_the_held_one_is_placed():
    table = Table([["R4", "R5", "R6", "B1"], ["B2"]], discard=["Y1", "R6"]).play("take", "run R4-6")
    assert table.hands[0] == ["R6", "B1"]
    table = Table([["W", "B1"], ["B2"]], [run(1, "R4", "R5", "R6")], discard=["Y1", "W"]).play("take", "add W")
    assert table.play("end low").hands[0] == ["B1", "W"]


def test_S21_it_is_never_placed_by_substitution():
    piles = [run(1, "R4", "W", "R6"), run(0, "B1", "B2", "B3")]
    assert "take" not in Table([["G1", "B9"], ["B2"]], piles, discard=["Y1", "R5"]).legal
    table = Table([["R5", "G5", "Y5", "B9"], ["B2"]], piles, discard=["Y1", "R5"]).play("take")
    assert table.legal == ["set 5 R G Y"]


def test_S21_the_next_card_is_taken_in_the_same_way():
    """Rulebook, variation 2: the player can then use the next card showing in the same way."""
    table = Table([["R4", "R5", "B1"], ["B2"]], discard=["Y1", "R8", "R7", "R6"])
    table.play("take", "run R4-6", "take", "add R7", "take", "add R8")
    assert table.piles == [(1, ["R4", "R5", "R6", "R7", "R8"])]
    assert table.discard_pile == ["Y1"]
    assert "take" not in table.legal


def test_S21_the_whole_pile_may_be_taken():
    table = Table([["R4", "R5", "B1"], ["B2"]], discard=["R6"]).play("take", "run R4-6")
    assert (table.discard_pile, table.legal) == ([], ["discard B1"])


def test_S21_not_before_the_draw():
    assert Table([["R4", "R5"], ["B2"]], discard=["R6"], phase="DRAW").legal == ["draw 1", "draw 2"]


def test_S22_the_example_of_the_rulebook():
    """Rulebook, variation 3: #1 red, #2 red, Wild Sting; the #3 red takes the place of the Wild."""
    table = Table([["R3", "B7", "B8", "G1"], ["B2"]], [run(1, "R1", "R2", "W")])
    assert table.legal_like("substitute") == ["substitute R3"]
    table.play("substitute R3")
    assert (table.held, table.piles) == ("W", [(1, ["R1", "R2", "R3"])])
    assert table.hands[0] == ["B7", "B8", "G1"]
    table.play("run B7-9 *9")
    assert table.piles == [(1, ["R1", "R2", "R3"]), (1, ["B7", "B8", "W"])]


def test_S22_the_wild_may_go_onto_the_same_pile():
    table = Table([["R3", "G1"], ["B2"]], [run(1, "R1", "R2", "W")]).play("substitute R3", "add W")
    assert table.piles == [(1, ["R1", "R2", "R3", "W"])]
    table = Table([["G5", "G1"], ["B2"]], [set_of(1, "R5", "B5", "D")]).play("substitute G5", "add D")
    assert table.piles == [(1, ["R5", "B5", "G5", "D"])]


def test_S22_only_if_the_wild_can_be_placed():
    full = [set_of(1, "R5", "B5", "G5", "W")]
    assert "substitute Y5" not in Table([["Y5", "G1"], ["B2"]], full).legal
    assert "substitute Y5" in Table([["Y5", "G1", "G2"], ["B2"]], full).legal
    assert "substitute Y5" in Table([["Y5", "G1"], ["B2"]], [*full, run(0, "B7", "B8", "B9")]).legal
    assert "substitute Y5" not in Table([["Y5", "Y4"], ["B2"]], full).legal  # the natural is no longer at hand
    assert "substitute Y5" in Table([["Y5", "Y5", "Y4"], ["B2"]], full).legal


def test_S22_with_the_natural_that_a_bridge_needs():
    piles = [run(1, "R3", "W", "R5", "W", "R7"), set_of(1, "R9", "B9", "Y9", "D")]
    assert "substitute G9" in Table([["G9", "R9", "B4"], ["B2"]], piles[:1] + [set_of(1, "R9", "B9", "Y9", "D")]).legal
    assert "substitute R9" not in Table([["R9", "B4"], ["B2"]], [piles[0], set_of(1, "G9", "B9", "Y9", "D")]).legal
    assert "substitute R9" in Table([["R9", "R9", "B4"], ["B2"]], [piles[0], set_of(1, "G9", "B9", "Y9", "D")]).legal


def test_S22_on_any_pile():
    piles = [run(0, "R1", "R2", "W"), run(1, "R2", "R3", "T"), run(2, "D", "R5", "R6"), run(0, "B1", "B2", "B3")]
    table = Table([["R3", "R4", "G1"], ["B9"], ["B9"]], piles)
    assert table.legal_like("substitute") == ["substitute R3", "substitute R4"]
    table.play("substitute R4")
    assert (table.phase, table.legal) == ("PILE", ["pile 1", "pile 2"])
    table.play("pile 1")
    assert (table.held, table.piles[1]) == ("T", (1, ["R2", "R3", "R4"]))


def test_S22_the_player_chooses_which_of_two_kinds_comes_out():
    piles = [set_of(1, "R5", "B5", "W", "T"), run(0, "B1", "B2", "B3")]
    for wild, left in (("W", "T"), ("T", "W")):
        table = Table([["G5", "R9"], ["B9"]], piles).play("substitute G5")
        assert (table.phase, table.legal) == ("WILD", ["wild W", "wild T"])
        assert table.hands[0] == ["R9", "G5"]
        table.play(f"wild {wild}")
        assert (table.held, table.piles[0]) == (wild, (1, ["R5", "B5", "G5", left]))
    table = Table([["G5", "R9"], ["B9"]], [set_of(1, "R5", "B5", "W", "W"), piles[1]]).play("substitute G5")
    assert (table.phase, table.held) == ("PLAY", "W")  # a single kind is not asked about


def test_S22_a_super_never_comes_out():
    """Rulebook, variation 3: a Super Sting can never be substituted."""
    piles = [run(1, "R1", "R2", "S"), set_of(1, "R5", "B5", "S"), run(0, "B1", "B2", "B3")]
    assert Table([["R3", "G5", "R9"], ["B9"]], piles).legal_like("substitute") == []
    piles[1] = set_of(1, "R5", "B5", "S", "D")
    table = Table([["R3", "G5", "R9"], ["B9"]], piles).play("substitute G5")
    assert (table.held, table.piles[1]) == ("D", (1, ["R5", "B5", "G5", "S"]))


def test_S22_option_no_substitution():
    piles = [run(1, "R1", "R2", "W"), run(0, "B1", "B2", "B3")]
    table = Table([["R3", "R9"], ["B9"]], piles, config={"substitution": False})
    assert table.legal == ["discard R3", "discard R9"]


def test_S22_the_natural_comes_from_the_hand_and_wilds_do_not_substitute():
    piles = [run(1, "R1", "R2", "W"), run(0, "B1", "B2", "B3")]
    table = Table([["D", "R9"], ["B9"]], piles, discard=["Y1", "R3"])
    assert table.legal_like("substitute") == []
    assert "take" not in table.legal or table.play("take").legal_like("substitute") == []


def test_S23_while_a_card_is_held_only_plays_that_place_it():
    piles = [run(1, "R1", "R2", "W"), run(0, "B1", "B2", "D"), run(0, "G1", "G2", "G3")]
    hand = ["R3", "B3", "Y4", "Y5", "Y6", "R8", "R9", "PASS", "T", "G4", "W"]
    table = Table([hand, ["B9"]], piles, discard=["Y1", "G4"])
    assert {text.split()[0] for text in table.legal} == {"set", "run", "add", "substitute", "take", "pass", "discard"}
    table.play("substitute R3")
    assert table.held == "W"
    assert table.legal_like("substitute", "take", "pass", "discard") == []
    assert table.legal_like("add") == ["add W"]
    assert table.legal_like("set") == ["set 4 G Y *"]
    assert "run Y4-6" not in table.legal
    assert "run R8-10 *10" in table.legal
    table = Table([hand, ["B9"]], piles, discard=["Y1", "G4"]).play("take")
    assert table.legal == ["set 4 G Y *", "add G4"]


def test_S23_a_held_natural_is_in_every_new_pile():
    hand = ["R4", "R6", "R7", "B5", "G5", "B6", "B7", "Y1"]
    table = Table([hand, ["B9"]], discard=["Y1", "R5"]).play("take")
    assert table.legal == ["set 5 R B G", "run R4-6", "run R5-7"]


# Word cards (S24-S27) -------------------------------------------------------------------------------------------------


def test_S24_one_of_the_own_piles_goes_to_any_other_player():
    piles = [run(0, "R1", "R2", "R3"), run(1, "B1", "B2", "B3"), run(0, "G1", "G2", "G3")]
    table = Table([["PASS", "Y1"], ["Y2"], ["Y3"]], piles).play("pass")
    assert (table.phase, table.legal) == ("PILE", ["pile 0", "pile 2"])
    assert (table.discard_pile[-1], table.hands[0]) == ("PASS", ["Y1"])
    table.play("pile 2")
    assert (table.phase, table.legal) == ("SEAT", ["seat +1", "seat +2"])
    assert table.piles[2][0] == 0
    table.play("seat +2")
    assert [owner for owner, _ in table.piles] == [0, 1, 2]
    assert (table.phase, table.player) == ("RESPOND", 2)


def test_S24_needs_a_pile_and_the_card():
    assert "pass" not in Table([["PASS", "Y1"], ["Y2"]], [run(1, "R1", "R2", "R3")]).legal
    assert "pass" not in Table([["BACK", "Y1"], ["Y2"]], [run(0, "R1", "R2", "R3")]).legal
    assert "pass" in Table([["PASS", "Y1"], ["Y2"]], [run(0, "R1", "R2", "R3")]).legal


def test_S24_any_number_in_a_turn():
    piles = [run(0, "R1", "R2", "R3"), run(0, "B1", "B2", "B3")]
    table = Table([["PASS", "PASS", "Y1"], ["Y2"]], piles).play("pass", "pile 0", "accept", "pass", "accept")
    assert (table.player, table.phase, [owner for owner, _ in table.piles]) == (0, "PLAY", [1, 1])
    assert table.discard_pile[-2:] == ["PASS", "PASS"]


@pytest.mark.parametrize(("hand", "legal"), [(["Y2"], ["accept"]), (["BACK", "Y2"], ["accept", "return"])])
def test_S25_the_receiver_is_asked_with_or_without_the_card(hand, legal):
    table = Table([["PASS", "Y1"], hand], [run(0, "R1", "R2", "R3")]).play("pass")
    assert (table.phase, table.player, table.legal) == ("RESPOND", 1, legal)
    assert table.now["turn_player"] == 0
    table.play("accept")
    assert (table.phase, table.player, table.piles[0][0]) == ("PLAY", 0, 1)


def test_S25_a_pile_goes_back():
    table = Table([["PASS", "Y1"], ["Y3"], ["BACK", "Y2"]], [run(0, "R1", "R2", "R3")])
    table.play("pass", "seat +2", "return")
    assert (table.phase, table.player, table.piles[0][0]) == ("RESPOND", 0, 0)
    assert (table.discard_pile[-2:], table.hands[2]) == (["PASS", "BACK"], ["Y2"])
    assert table.legal == ["accept"]
    assert table.play("accept").legal == ["discard Y1"]


def test_S25_to_and_fro_until_one_accepts():
    table = Table([["PASS", "BACK", "Y1"], ["BACK", "BACK", "Y2"], ["Y3"]], [run(0, "R1", "R2", "R3")])
    table.play("pass", "seat +1")
    for player, owner in ((1, 0), (0, 1), (1, 0)):
        assert table.player == player
        assert table.play("return").piles[0][0] == owner
    assert (table.player, table.legal) == (0, ["accept"])
    table.play("accept")
    assert (table.player, table.phase, table.piles[0][0]) == (0, "PLAY", 0)
    assert table.discard_pile[-4:] == ["PASS", "BACK", "BACK", "BACK"]


def test_S25_the_turn_goes_on_where_it_was():
    table = Table([["Y3"], ["PASS", "Y1", "R4"], ["Y2"]], [run(1, "R1", "R2", "R3")], current_player=1, turn_player=1)
    table.play("pass", "seat +2", "accept", "add R4", "discard Y1")
    assert (table.out, table.points) == (1, [4 + 1, 0, 1])  # seat +2 of player 1 is player 0


def test_S26_only_a_pass_can_be_returned():
    table = Table([["R4", "R5", "R6", "Y1"], ["BACK", "Y2"]]).play("run R4-6")
    assert (table.player, table.phase) == (0, "PLAY")
    table.play("discard Y1")
    assert table.out == 0
    table = Table([["BACK", "Y1"], ["Y2"]], [run(0, "R4", "R5", "R6")])
    assert table.legal == ["discard Y1", "discard BACK"]


@pytest.mark.parametrize(
    ("passer", "receiver", "answers", "out", "points"),
    [
        (["PASS"], ["BACK"], ["return", "accept"], 0, [0, 0]),
        (["PASS"], ["BACK", "W"], ["return", "accept"], 0, [0, 5]),
        (["PASS"], ["BACK", "W"], ["accept"], 0, [0, 3 + 1 + 5]),
        (["PASS", "BACK"], ["BACK"], ["return", "return", "accept"], 1, [0, 0]),
        (["PASS", "BACK"], ["BACK"], ["return", "accept"], 1, [3 + 1, 0]),
        (["PASS", "R9"], ["BACK"], ["return", "accept"], 1, [3 + 1, 0]),
        (["PASS", "BACK"], ["BACK", "BACK"], ["return", "return", "return", "accept"], 0, [0, 0]),
    ],
)
def test_S27_the_exchange_is_finished_and_the_first_is_out_alone(passer, receiver, answers, out, points):
    table = Table([passer, receiver], [run(0, "R4", "R5", "R6")], config={"rounds": 1}).play("pass")
    for answer in answers:
        assert (table.phase, table.over) == ("RESPOND", False)
        table.play(answer)
    assert (table.over, table.out) == (True, out)
    assert table.points == points


def test_S27_pile_and_seat_are_still_chosen_with_an_empty_hand():
    piles = [run(0, "R4", "R5", "R6"), run(0, "B4", "B5", "W")]
    table = Table([["PASS"], ["Y1"], ["Y2"]], piles, config={"rounds": 1}).play("pass")
    assert (table.phase, table.hands[0]) == ("PILE", [])
    table.play("pile 1", "seat +2", "accept")
    assert (table.out, table.points) == (0, [0, 1, 3 + 1])


# Scoring (S28-S33) ----------------------------------------------------------------------------------------------------


def scored(hands, piles=(), **config):
    """Score a round in which player 0 goes out by a discard."""
    return Table([["Y1"], *hands], piles, config={"rounds": 1, **config}).play("discard Y1")


def test_S28_who_is_out_scores_0_even_with_piles_in_front():
    piles = [run(0, "R1", "R2", "T"), run(1, "B1", "B2", "B3"), run(2, "G1", "G2", "D"), run(1, "G5", "G6", "G7")]
    table = scored([["R9", "W"], ["PASS"]], piles)
    assert table.points == [0, 3 + 3 + 1 + 5, 6 + 1]


def test_S28_nobody_out_everybody_scores():
    config = {"max_turns": 1, "rounds": 1}
    table = Table([["R1", "R2"], ["T"]], [run(0, "R3", "R4", "R5")], config=config).play("discard R1")
    assert (table.out, table.points) == (-1, [3 + 1, 15])


@pytest.mark.parametrize(
    ("pile", "points"),
    [
        (run(1, "R1", "R2", "R3"), 3),
        (run(1, "R1", "R2", "W"), 3),
        (run(1, "R1", "R2", "S"), 3),
        (run(1, "R1", "R2", "D"), 6),
        (run(1, "R1", "R2", "T"), 9),
        (set_of(1, "R1", "B1", "D", "T"), 4 * 2 * 3),
        (run(1, "R1", "D", "R3", "D"), 4 * 2 * 2),
        (set_of(1, "R1", "B1", "T", "T"), 4 * 3 * 3),
        (run(1, "D", "R2", "D", "R4", "D", "R6", "R7"), 7 * 2 * 2 * 2),
        (run(1, "T", "R2", "D", "R4", "T", "R6", "R7"), 7 * 2 * 3 * 3),
        (run(1, *(f"R{number}" for number in range(1, 11))), 10),
    ],
)
def test_S29_points_of_a_pile(pile, points):
    assert scored([["R9"]], [pile]).points == [0, points + 1]


def test_S29_the_example_of_the_rulebook():
    """Rulebook, scoring: with a Double and a Triple the score is doubled, then tripled."""
    pile = run(1, "R1", "R2", "D", "R4", "R5", "T", "R7")
    assert scored([["R9"]], [pile]).points == [0, 7 * 2 * 3 + 1]


@pytest.mark.parametrize(
    ("pile", "points"),
    [
        (run(1, "D", "R2", "D", "R4", "D", "R6", "R7"), 7 * 2),
        (set_of(1, "R1", "B1", "T", "T"), 4 * 3),
        (run(1, "T", "R2", "D", "R4", "T", "R6", "R7"), 7 * 2 * 3),
    ],
)
def test_S29_option_multipliers_do_not_stack(pile, points):
    assert scored([["R9"]], [pile], stack_multipliers=False).points == [0, points + 1]


@pytest.mark.parametrize(
    ("card", "points"),
    [("R1", 1), ("Y10", 1), ("W", 5), ("D", 10), ("T", 15), ("S", 5), ("PASS", 1), ("BACK", 1)],
)
def test_S30_points_of_a_card_in_hand(card, points):
    assert scored([[card]]).points == [0, points]


def test_S30_a_hand_is_the_sum_of_its_cards():
    assert scored([["R1", "R1", "W", "W", "D", "T", "S", "PASS", "BACK"]]).points == [0, 2 + 10 + 10 + 15 + 5 + 2]


def test_S31_face_values():
    piles = [run(1, "R8", "R9", "D"), set_of(2, "R7", "B7", "G7", "W"), run(2, "W", "B2", "B3")]
    table = scored([["R10", "W", "PASS"], ["B4", "G4"]], piles, face_values=True)
    assert table.points == [0, (8 + 9 + 1) * 2 + 10 + 5 + 1, 7 * 3 + 1 + 1 + 2 + 3 + 8]


def test_S31_face_values_with_the_option_of_multipliers():
    piles = [run(1, "D", "R2", "D", "R4", "T", "R6", "T")]
    with pytest.raises(ValueError, match="wilds"):
        scored([["R9"]], piles)
    piles = [run(1, "D", "R2", "D", "R4", "T", "R6", "R7")]
    table = scored([["R9"]], piles, face_values=True, stack_multipliers=False)
    assert table.points == [0, (3 + 2 + 4 + 6 + 7) * 2 * 3 + 9]


def test_S32_five_rounds_by_default():
    for scored_before, over in ((3, False), (4, True)):
        table = Table([["R1"], ["R2"]], round=scored_before, totals=[10, 20]).play("discard R1")
        assert (table.over, table.totals) == (over, [10, 21])


def test_S32_as_many_rounds_as_wished():
    assert Table([["R1"], ["R2"]], config={"rounds": 1}).play("discard R1").over
    table = Table([["R1"], ["R2"]], config={"rounds": 7}, round=5).play("discard R1")
    assert (table.over, table.now["round"]) == (False, 6)


@pytest.mark.parametrize(("total", "over"), [(98, False), (99, True), (80, False)])
def test_S32_a_target(total, over):
    config = {"rounds": None, "target_score": 100}
    table = Table([["R1"], ["R2"]], config=config, round=11, totals=[0, total]).play("discard R1")
    assert (table.over, table.totals) == (over, [0, total + 1])


def test_S32_whichever_comes_first():
    config = {"rounds": 3, "target_score": 50}
    for scored_before, total, over in ((0, 10, False), (2, 10, True), (0, 49, True)):
        table = Table([["R1"], ["R2"]], config=config, round=scored_before, totals=[0, total]).play("discard R1")
        assert table.over is over


def test_S32_one_of_the_two_must_end_the_game():
    with pytest.raises(ValueError, match="rounds and target_score"):
        StingGame(rounds=None)


def test_S32_the_game_over_takes_no_more_actions():
    table = Table([["R1"], ["R2"]], config={"rounds": 1}).play("discard R1")
    assert (table.player, table.legal, table.phase, table.now["round"]) == (-1, [], "OVER", 1)


def test_S33_the_lowest_total_wins():
    table = Table([["R1"], ["W"], ["R2"]], config={"rounds": 1}, totals=[9, 3, 7]).play("discard R1")
    assert table.game.result(table.states[0]) == {"totals": [9, 8, 8], "winners": [1, 2]}
    table = Table([["R1"], ["W"], ["R2"]], config={"rounds": 1}, totals=[7, 3, 7]).play("discard R1")
    assert table.game.result(table.states[0]) == {"totals": [7, 8, 8], "winners": [0]}


def test_S33_equal_totals_share_the_win():
    config = {"rounds": 1, "reward": "win"}
    table = Table([["R1"], ["W"], ["R2"]], config=config, totals=[9, 3, 7]).play("discard R1")
    assert table.rewards == pytest.approx([-0.5, 0.25, 0.25])
    table = Table([["R1"], ["W"]], config=config, totals=[5, 0]).play("discard R1")
    assert table.rewards == [0, 0]


def test_S33_rewards_are_margins_or_wins():
    table = Table([["R1"], ["W"], ["R2"]], totals=[7, 3, 7]).play("discard R1")
    assert table.rewards == pytest.approx([0.03, 0.005 - 0.05, 0.025 - 0.01])
    table = Table([["R1"], ["W"], ["R2"]], totals=[7, 3, 7], config={"reward": "win"}).play("discard R1")
    assert table.rewards == [0, 0, 0]
    table = Table([["R1"], ["W"], ["R2"]], config={"reward": "win", "rounds": 1}).play("discard R1")
    assert table.rewards == pytest.approx([1, -0.5, -0.5])


# The whole ------------------------------------------------------------------------------------------------------------


def test_an_illegal_play_is_refused():
    table = Table([["R1", "R2"], ["R3"]])
    with pytest.raises(IllegalActionError, match="'run R1-3'"):
        table.play("run R1-3")


def test_no_rule_lacks_a_test():
    tested = {match[1] for name in globals() if (match := re.match(r"test_(S\d+)_", name))}
    assert sorted(tested) == sorted(ALL_IDS)


def test_no_option_lacks_a_test():
    source = Path(__file__).read_text(encoding="utf-8")
    assert [field.name for field in fields(StingConfig) if field.name not in source] == []


def test_a_position_is_what_it_was_laid_out_to_be():
    start = position([["R1", "W"], ["B2"]], [run(1, "R3", "R4", "T")], discard=["Y1", "G2"], totals=[3, 4])
    game = StingGame()
    again = game.to_dict(game.from_dict(start)[0])
    assert {key: again[key] for key in start if key != "config"} == {k: v for k, v in start.items() if k != "config"}
