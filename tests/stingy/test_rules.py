"""Stingy's rules one by one: a position, and what is legal or follows. Colours are numbers: red is 0, purple is 4."""

from collections import Counter

import numpy as np
import pytest

from stingy_env import StingyGame
from stingy_env.rules import MOST_NEEDED, TILES_OF_KIND, VALUE_OF_SIZE
from stingy_env.text import KIND_NAMES
from tests.stingy.table import SINGLES, Table, holds, new_table

OPPONENTS = {"bottle-0": 1, "parrot-4": 2, "coins-0": 2}
NO_EQUAL = {"bottle-1": 1, "diamond-1": 3}  # values 1 and 6: no choice of them totals 3


# Tiles (G1-G6) --------------------------------------------------------------------------------------------------------


def test_G1_kinds_and_tiles():
    table = new_table(num_players=3)
    tiles = Counter(tile for stack in table.dict["pool_stacks"] for tile in stack)
    for display in table.displays:
        tiles.update(display)
    for kinds in table.complete:
        tiles.update({kind: int(TILES_OF_KIND[KIND_NAMES.index(kind)]) for kind in kinds})
    images = {"bottle": 3, "parrot": 4, "coins": 5, "diamond": 6}
    assert tiles == {f"{image}-{c}": n for image, n in images.items() for c in range(6)} | {"flag": 7}
    assert tiles.total() == 115


@pytest.mark.parametrize(("size", "value"), [(1, 1), (2, 3), (3, 6), (4, 10), (5, 15), (6, 20)])
def test_G2_value_by_size(size, value):
    rich = {"coins-1": 4, "coins-2": 4, "coins-3": 4}
    table = Table([rich, {"flag": size}, {}]).play("demand +1 flag")
    assert table.dict["pending"]["value"] == value
    assert VALUE_OF_SIZE[7] == 25


def test_G3_points_of_complete_groups_and_their_option():
    complete = [["bottle-0", "flag"], ["parrot-0", "diamond-0"], ["coins-0"]]
    assert Table([SINGLES, {}, {}], complete=complete).scores == [31, 30, 15]
    assert Table([SINGLES, {}, {}], complete=complete, complete_points=[1, 2, 3, 4, 5]).scores == [6, 6, 3]


def test_G4_any_player_starts_and_play_goes_clockwise():
    game = StingyGame(num_players=4)
    states = game.new_states(4000)
    game.reset(states, 0)
    starts = np.bincount(states["turn_player"], minlength=4)
    assert (abs(starts - 1000) < 150).all()  # more than five standard deviations
    table = Table([SINGLES, {"flag": 2}, {}, SINGLES], turn=3).play("no swap")
    assert table.player == 0
    assert table.play("no swap").player == 1


@pytest.mark.parametrize(("num_players", "seats"), [(2, 3), (3, 3), (4, 4), (5, 5), (6, 6)])
def test_G5_six_tiles_for_each_seat(num_players, seats):
    game = StingyGame(num_players=num_players)
    states = game.new_states(200)
    game.reset(states, 1)
    complete = (states["complete"][:, :, None] >> np.arange(25)) & 1
    dealt = states["tiles"].sum(axis=2) + complete @ TILES_OF_KIND
    assert (dealt[:, :seats] == 6).all()
    assert (dealt[:, seats:] == 0).all()
    assert (states["pool_size"] == 115 - 6 * seats).all()


def test_G5_complete_at_the_start_is_set_aside_without_replacement():
    game = StingyGame(num_players=6)
    states = game.new_states(20000)
    game.reset(states, 2)
    lanes, seats = np.nonzero(states["complete"])
    assert len(lanes) > 10
    for lane, seat in zip(lanes, seats):
        complete = int(states["complete"][lane, seat])
        set_aside = sum(int(TILES_OF_KIND[kind]) for kind in range(25) if (complete >> kind) & 1)
        assert states["tiles"][lane, seat].sum() == 6 - set_aside
        assert (states["tiles"][lane, seat] < TILES_OF_KIND).all()


def test_G6_only_the_order_of_the_pool_is_hidden():
    table = new_table(num_players=3)
    before = table.game.observe(table.states).tobytes()
    worlds = table.game.determinize(table.states, None, np.array([7], np.uint64), worlds=5)
    assert {w.tobytes() for w in table.game.observe(worlds)} == {before}
    orders = {tuple(map(tuple, table.game.to_dict(w)["pool_stacks"])) for w in worlds}
    assert len(orders) == 5
    assert {tuple(sorted(tile for stack in order for tile in stack)) for order in orders} == {
        tuple(sorted(tile for stack in table.dict["pool_stacks"] for tile in stack))
    }


# The pictures (G7-G10) ------------------------------------------------------------------------------------------------

MINE = {"bottle-0": 1, "parrot-4": 1, "coins-0": 2, "diamond-1": 1, "diamond-2": 1}


def test_G7_picture_1_two_red_coins_for_three_singles():
    table = Table([MINE, OPPONENTS, SINGLES]).play("demand +1 coins-0")
    assert (table.phase, table.player) == ("RESPOND", 1)
    assert table.displays[0]["coins-0"] == 4
    assert table.legal == ["stop", "group bottle-0", "group parrot-4", "group diamond-1", "group diamond-2"]
    table.play("group bottle-0", "group parrot-4", "group diamond-1")
    assert holds(table.displays[1], {"bottle-0": 2, "parrot-4": 3, "diamond-1": 1})
    assert "coins-0" not in table.displays[1]
    assert holds(table.displays[0], {"diamond-2": 1, "coins-0": 4})
    assert (table.phase, table.player) == ("SWAP", 1)


def test_G7_picture_2_two_purple_parrots():
    table = Table([MINE, OPPONENTS, SINGLES]).play("demand +1 parrot-4")
    assert table.displays[0]["parrot-4"] == 3
    assert table.legal == ["stop", "group bottle-0", "group coins-0", "group diamond-1", "group diamond-2"]
    table.play("group coins-0")
    assert table.displays[1]["coins-0"] == 4
    assert "coins-0" not in table.displays[0]


def test_G7_picture_3_one_red_bottle():
    table = Table([MINE, OPPONENTS, SINGLES]).play("demand +1 bottle-0")
    assert table.legal == ["stop", "group parrot-4", "group diamond-1", "group diamond-2"]
    assert table.play("group parrot-4").displays[1]["parrot-4"] == 3


def test_G7_every_other_seat_may_be_demanded_from_but_oneself():
    table = Table([SINGLES | {"flag": 3}, {"flag": 1}, {"flag": 2}, {"coins-1": 1}], turn=0)
    assert table.legal == ["demand +1 flag", "demand +2 flag", "demand +3 coins-1", "no swap"]


# The demand (G8, G9) --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("others", "may_demand", "may_pay"),
    [
        ({"bottle-1": 1, "bottle-2": 1}, False, None),  # 2 < 3
        ({"bottle-1": 1, "bottle-2": 1, "bottle-3": 1}, True, False),  # 3 = 1 + 1 + 1
        ({"bottle-1": 2}, True, False),  # 3 = 3
        ({"diamond-1": 3}, True, True),  # 6 > 3
        ({"coins-0": 1, "bottle-1": 1, "bottle-2": 1}, False, None),  # the demanded kind does not count
        ({"coins-0": 2, "bottle-1": 1, "bottle-2": 1}, False, None),
    ],
)
def test_G8_demand_needs_other_groups_worth_the_value(others, may_demand, may_pay):
    table = Table([others, OPPONENTS, SINGLES])
    assert ("demand +1 coins-0" in table.legal) == may_demand
    if may_demand:
        table.play("demand +1 coins-0")
        assert ("pay" in table.legal) == may_pay


def test_G8_from_this_worth_on_every_demand_is_legal():
    """Six flags and one's own single one are the dearest: 20 + 1."""
    assert MOST_NEEDED == 21
    mine = {"flag": 1, "coins-1": 4, "coins-2": 4}
    assert "demand +1 flag" in Table([mine, {"flag": 6}, {}]).legal
    mine = {"flag": 1, "coins-1": 4, "coins-2": 3, "coins-3": 2}
    assert "demand +1 flag" not in Table([mine, {"flag": 6}, {}]).legal


def test_G9_demanded_group_that_completes_is_set_aside():
    table = Table([{"bottle-0": 2, "coins-1": 1, "coins-2": 1}, {"bottle-0": 1}, SINGLES]).play("demand +1 bottle-0")
    assert table.complete[0] == ["bottle-0"]
    assert "bottle-0" not in table.displays[0]
    assert table.legal == ["stop", "group coins-1", "group coins-2"]
    assert table.scores == [6, 0, 0]


# Response and payment (G10-G14) ---------------------------------------------------------------------------------------


def test_G10_none_may_be_taken_where_more_is_possible():
    table = Table([MINE, OPPONENTS, SINGLES]).play("demand +1 coins-0", "stop")
    assert table.displays[1].items() >= {"bottle-0": 1, "parrot-4": 2}.items()
    assert "coins-0" not in table.displays[1]
    assert table.player == 1


def test_G10_total_is_at_most_the_value():
    mine = {"bottle-1": 1, "parrot-1": 2, "coins-1": 1, "coins-2": 3, "diamond-2": 1, "coins-3": 4}
    table = Table([mine, {"diamond-1": 3}, SINGLES]).play("demand +1 diamond-1")
    assert "group coins-3" not in table.legal
    table.play("group parrot-1")
    assert table.legal == ["stop", "group coins-1", "group diamond-2"]
    table.play("group coins-1")
    assert table.dict["pending"] | {"last_group": None} == {
        "owner": 1, "kind": "diamond-1", "value": 6, "total": 4, "last_group": None,
    }  # fmt: skip
    table.play("group diamond-2")  # 3 + 1 + 1: nothing is left to take
    assert (table.phase, table.player) == ("SWAP", 1)


def test_G10_demanded_kind_can_not_be_taken_back():
    table = Table([{"coins-0": 1, "parrot-1": 2}, OPPONENTS, SINGLES]).play("demand +1 coins-0")
    assert table.legal == ["stop", "group parrot-1"]


def test_G11_pay_where_no_choice_totals_the_value():
    table = Table([NO_EQUAL, OPPONENTS, SINGLES]).play("demand +1 coins-0")
    assert table.legal == ["pay", "stop", "group bottle-1"]


def test_G11_no_pay_where_a_choice_totals_the_value():
    mine = {"bottle-1": 1, "bottle-2": 1, "bottle-3": 1, "diamond-1": 3}
    assert "pay" not in Table([mine, OPPONENTS, SINGLES]).play("demand +1 coins-0").legal


def test_G11_pay_only_before_anything_is_taken():
    mine = NO_EQUAL | {"bottle-2": 1}
    table = Table([mine, OPPONENTS, SINGLES]).play("demand +1 coins-0")
    assert "pay" in table.legal
    assert table.play("group bottle-1").legal == ["stop", "group bottle-2"]


def test_G12_demander_gives_more_than_the_value():
    table = Table([NO_EQUAL, OPPONENTS, SINGLES]).play("demand +1 coins-0", "pay")
    assert (table.phase, table.player) == ("GIVE", 0)
    assert table.legal == ["group bottle-1", "group diamond-1"]
    table.play("group diamond-1")
    assert table.displays[1]["diamond-1"] == 3
    assert table.displays[0]["bottle-1"] == 1
    assert (table.phase, table.player) == ("SWAP", 1)


def test_G12_more_than_needed_may_be_given():
    mine = {"bottle-1": 1, "diamond-1": 3, "diamond-2": 3}
    table = Table([mine, OPPONENTS, SINGLES]).play("demand +1 coins-0", "pay", "group diamond-1")
    assert table.legal == ["stop", "group diamond-2"]
    table.play("group diamond-2")
    assert holds(table.displays[1], {"diamond-1": 3, "diamond-2": 3})


def test_G13_taken_and_given_groups_complete_for_the_owner():
    table = Table([{"bottle-0": 2, "coins-1": 1}, {"bottle-0": 1, "parrot-1": 2}, SINGLES])
    assert table.play("demand +1 parrot-1", "group bottle-0").complete[1] == ["bottle-0"]
    table = Table([{"coins-1": 3}, {"coins-1": 2, "parrot-1": 2}, SINGLES]).play("demand +1 parrot-1", "pay")
    assert table.complete[1] == ["coins-1"]
    assert table.scores == [0, 15, 0]


def test_G14_groups_go_in_ascending_order():
    mine = {"bottle-1": 1, "parrot-1": 2, "coins-1": 1, "coins-2": 3, "diamond-2": 1}
    table = Table([mine, {"diamond-1": 3}, SINGLES]).play("demand +1 diamond-1")
    assert table.legal == ["stop", *(f"group {kind}" for kind in mine)]
    assert table.play("group parrot-1").legal == ["stop", "group coins-1", "group diamond-2"]


def test_G14_taking_offers_nothing_that_would_exceed_the_value():
    mine = {"bottle-1": 2, "parrot-1": 1, "coins-1": 3, "coins-2": 1}
    table = Table([mine, {"coins-0": 2}, SINGLES]).play("demand +1 coins-0")
    assert table.legal == ["stop", "group bottle-1", "group parrot-1", "group coins-2"]
    assert table.play("group parrot-1").legal == ["stop", "group coins-2"]


def test_G14_giving_offers_nothing_that_could_not_exceed_the_value():
    """More than 6 of 1, 10, 1 and 1: whoever leaves out the 10 can't reach it."""
    mine = {"bottle-1": 1, "coins-1": 4, "diamond-1": 1, "flag": 1}
    table = Table([mine, {"coins-0": 3}, SINGLES]).play("demand +1 coins-0", "pay")
    assert table.legal == ["group bottle-1", "group coins-1"]
    table.play("group coins-1")
    assert table.legal == ["stop", "group diamond-1", "group flag"]


def test_G14_giving_stops_only_above_the_value():
    """More than 3 of 1, 1 and 6: after both small groups the large one follows without a question."""
    mine = {"bottle-1": 1, "bottle-2": 1, "flag": 3}
    table = Table([mine, OPPONENTS, SINGLES]).play("demand +1 coins-0", "pay")
    assert table.legal == ["group bottle-1", "group bottle-2", "group flag"]
    assert table.play("group bottle-1").legal == ["group bottle-2", "group flag"]
    table.play("group bottle-2")
    assert holds(table.displays[1], {"bottle-1": 1, "bottle-2": 1, "flag": 3})
    assert table.player == 1


# New tiles (G15, G16) -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("num_players", "drawn"), [(2, 2), (3, 2), (4, 2), (5, 1), (6, 1)])
def test_G15_regular_number_of_tiles(num_players, drawn):
    seats = max(3, num_players)
    table = Table([SINGLES] + [{"diamond-1": 1, "diamond-2": 1}] + [{}] * (seats - 2), num_players=num_players)
    before = table.pool
    table.play("no swap")
    assert table.pool == before - drawn
    assert table.player == 1


def test_G15_tiles_come_after_the_swap():
    table = Table([MINE, OPPONENTS, SINGLES], next_tiles={0: ["flag", "flag"]}).play("demand +1 coins-0")
    assert "flag" not in table.displays[0]
    assert table.play("stop").displays[0]["flag"] == 2


def test_G15_drawn_tile_that_completes_is_set_aside():
    table = Table([{**SINGLES, "bottle-0": 2}, {"coins-0": 2}, {}], next_tiles={0: ["bottle-0", "coins-3"]})
    table.play("no swap")
    assert table.complete[0] == ["bottle-0"]
    assert table.displays[0]["coins-3"] == 1


def test_G15_what_is_left_if_fewer():
    table = Table([SINGLES, {"diamond-0": 1}, {}], only=[["flag"], [], []], rest_to=2).play("no swap")
    assert table.displays[0]["flag"] == 1
    assert table.pool == 0


def test_G16_one_tile_more_with_two_singles():
    mine = {"bottle-1": 1, "bottle-2": 1, "coins-1": 2}
    table = Table([mine, OPPONENTS, SINGLES], next_tiles={0: ["flag"] * 3}).play("no swap")
    assert (table.phase, table.player) == ("DRAW", 0)
    assert table.legal == ["tiles regular", "tiles extra"]
    assert table.play("tiles extra").displays[0]["flag"] == 3
    table = Table([mine, OPPONENTS, SINGLES], next_tiles={0: ["flag"] * 3}).play("no swap", "tiles regular")
    assert table.displays[0]["flag"] == 2
    assert table.player == 1


def test_G16_not_with_three_singles():
    mine = {"bottle-1": 1, "bottle-2": 1, "coins-1": 1}
    table = Table([mine, OPPONENTS, SINGLES], next_tiles={0: ["flag"] * 3}).play("no swap")
    assert table.displays[0]["flag"] == 2


def test_G16_not_after_a_swap():
    table = Table([{"bottle-1": 1, "coins-1": 2}, OPPONENTS, SINGLES], next_tiles={0: ["flag"] * 3})
    table.play("demand +1 bottle-0", "stop")
    assert table.displays[0]["flag"] == 2


@pytest.mark.parametrize(("left", "asked"), [(3, True), (2, False), (1, False)])
def test_G16_only_while_the_pool_holds_it(left, asked):
    mine = {"bottle-1": 1, "coins-1": 2}
    table = Table([mine, {"diamond-0": 1}, {}], only=[["flag"] * left, [], []], rest_to=2).play("no swap")
    assert (table.phase == "DRAW") == asked
    if not asked:
        assert table.displays[0]["flag"] == left


def test_draw_order_an_empty_stack_draws_from_the_far_end_of_the_longest_other():
    """Of equally long stacks it is the first clockwise (contract, section 2)."""
    stacks = [["diamond-1"], ["coins-1"], [], ["coins-2", "coins-3"], ["coins-4", "coins-5"]]
    table = Table([{"bottle-1": 1}, {}, {"bottle-2": 1}, {}, {"bottle-3": 1}], only=stacks, rest_to=1, turn=2)
    table.play("no swap", "tiles extra")
    assert table.dict["pool_stacks"] == [["diamond-1"], ["coins-1"], [], ["coins-3"], ["coins-5"]]
    assert table.displays[2] == {"bottle-2": 1, "coins-2": 1, "coins-4": 1}


# The end (G17, G18) ---------------------------------------------------------------------------------------------------


def test_G17_last_round_ends_with_the_seat_that_emptied_the_pool():
    displays = [{"bottle-1": 1, "coins-1": 1}, {"bottle-2": 1, "coins-2": 1}, {}]
    table = Table(displays, only=[[], ["flag"], []], rest_to=2, turn=1)
    players, last_turns = [], []
    while table.phase != "OVER":
        players.append(table.player)
        last_turns.append(table.dict["last_turns"])
        assert table.phase == "SWAP"
        table.play("no swap")
    assert players == [1, 2, 0, 1]
    assert last_turns == [None, 3, 2, 1]
    assert (table.player, table.legal, table.dict["last_turns"]) == (-1, [], 0)
    assert table.dict["pending"] == {}


def test_G17_a_swap_in_the_last_turn_counts():
    table = Table([{"bottle-1": 2, "coins-1": 1}, {"bottle-1": 1}, {}], only=[[], [], []], rest_to=2, last_turns=1)
    table.play("demand +1 bottle-1", "stop")
    assert table.phase == "OVER"
    assert table.scores[0] == 6


def ended(displays, complete, **options):
    """Return a table of two players whose last turn has been played; whatever else there is lies with the ghost."""
    end = {"only": [[], [], []], "rest_to": 2, "last_turns": 1}
    return Table([*displays, {}], complete=[*complete, []], num_players=2, **end, **options).play("no swap")


def test_G18_highest_score_wins():
    table = ended([SINGLES, {"flag": 1}], [["bottle-0"], ["parrot-1"]])
    assert table.phase == "OVER"
    assert table.scores == [6, 10]
    assert table.winners == [1]


def test_G18_tie_goes_to_more_tiles_in_the_display_then_is_shared():
    complete = [["bottle-0"], ["bottle-1"]]
    assert ended([SINGLES, {"flag": 3}], complete).winners == [0]
    assert ended([SINGLES, {"flag": 5}], complete).winners == [1]
    assert ended([SINGLES, {"flag": 3, "coins-0": 1}], complete).winners == [0, 1]


def test_G18_colour_scoring():
    every_colour = [f"bottle-{colour}" for colour in range(6)] + ["flag"]
    complete = [every_colour, ["parrot-1", "coins-1"], ["parrot-2", "diamond-3"]]
    assert Table([{"coins-3": 1}, {}, {}], complete=complete, colour_scoring=True).scores == [61 + 25, 25 + 1, 30 + 3]
    assert Table([{"coins-3": 1}, {}, {}], complete=complete).scores == [61, 25, 30]


@pytest.mark.parametrize(("colours", "bonus"), list(enumerate([0, 1, 3, 6, 10, 15, 20, 25])))
def test_G18_points_for_each_number_of_colours(colours, bonus):
    kinds = ([f"bottle-{colour}" for colour in range(6)] + ["flag"])[:colours]
    options = {"colour_scoring": True, "complete_points": [0] * 5}
    assert Table([{"coins-1": 1}, {}, {}], complete=[kinds, [], []], **options).scores == [bonus, 0, 0]


# The ghost (G19-G21) --------------------------------------------------------------------------------------------------


def ghost_table(mine, opponents, ghosts, **options):
    """Return a table of two players with the ghost."""
    return Table([mine, opponents, ghosts], num_players=2, **options)


def test_G19_ghost_takes_two_tiles_and_sets_complete_groups_aside():
    tiles = {2: ["bottle-0", "coins-3", "flag"]}
    table = ghost_table(SINGLES, {**SINGLES, "bottle-5": 1, "parrot-5": 1}, {"bottle-0": 2}, turn=1, next_tiles=tiles)
    table.play("no swap")
    assert table.player == 0
    assert table.displays[2] == {"coins-3": 1}
    assert table.complete[2] == ["bottle-0"]
    assert table.scores == [0, 0]


def test_G19_ghost_can_not_win():
    table = ghost_table(SINGLES, {}, {}, complete=[["bottle-0"], [], ["flag", "diamond-0"]])
    assert table.scores == [6, 0]
    end = {"only": [[], [], []], "rest_to": 2, "last_turns": 1}
    table = ghost_table(SINGLES, {}, {}, complete=[["bottle-0"], [], ["flag"]], **end).play("no swap")
    assert table.winners == [0]


@pytest.mark.parametrize(("demander", "distance"), [(0, 2), (1, 1)])
def test_G20_the_other_player_responds_for_the_ghost(demander, distance):
    displays = [{"diamond-0": 1}, {"diamond-1": 1}]
    displays[demander] = {"bottle-1": 1, "coins-1": 3}
    table = ghost_table(*displays, {"parrot-1": 2}, turn=demander).play(f"demand +{distance} parrot-1")
    assert (table.phase, table.player) == ("RESPOND", 1 - demander)
    assert table.legal == ["pay", "stop", "group bottle-1"]
    table.play("pay")
    assert (table.phase, table.player) == ("GIVE", demander)
    table.play("group coins-1")
    assert table.displays[2]["coins-1"] == 3
    assert table.displays[demander]["parrot-1"] == 2


@pytest.mark.parametrize(("emptied_by", "players"), [(0, [0, 1, 0]), (1, [1, 0, 1])])
def test_G17_last_turns_with_the_ghost(emptied_by, players):
    left = ["flag"]
    displays = [{"bottle-1": 1, "bottle-3": 1, "bottle-4": 1}, {"bottle-1": 1, "bottle-2": 1, "coins-2": 1}]
    table = ghost_table(*displays, {}, only=[[], [], left], rest_to=2, turn=emptied_by)
    decided = []
    while table.phase != "OVER":
        decided.append(table.player)
        table.play("no swap")
    assert decided == players


def test_G21_after_the_ghost_each_player_has_one_more_turn():
    displays = [{"bottle-1": 1, "bottle-3": 1, "bottle-4": 1}, {"bottle-1": 1, "bottle-2": 1, "coins-2": 1}]
    table = ghost_table(*displays, {}, only=[[], [], ["flag"] * 3], rest_to=2, turn=1).play("no swap")
    assert table.dict["last_turns"] == 2
    assert table.player == 0
    assert table.play("no swap").player == 1
    assert table.play("no swap").phase == "OVER"


# Captain Sly (G22) ----------------------------------------------------------------------------------------------------


def test_G22_every_demand_is_legal_from_an_empty_display_too():
    table = Table([{}, OPPONENTS, {"flag": 5}], captain_sly=True, next_tiles={0: ["bottle-5", "parrot-5"]})
    assert table.legal == [
        "demand +1 bottle-0", "demand +1 parrot-4", "demand +1 coins-0", "demand +2 flag", "no swap",
    ]  # fmt: skip
    table.play("demand +2 flag")
    assert table.displays[0] == {"flag": 5, "bottle-5": 1, "parrot-5": 1}
    assert (table.phase, table.player) == ("SWAP", 1)


def test_G22_nobody_pays():
    table = Table([NO_EQUAL, OPPONENTS, SINGLES], captain_sly=True).play("demand +1 coins-0")
    assert table.legal == ["stop", "group bottle-1"]


# Decisions and rewards (contract, section 2) --------------------------------------------------------------------------


def test_decision_without_a_choice_is_made_at_once():
    table = Table([{}, {"bottle-1": 1}, {}], only=[["flag"], [], []], rest_to=2)  # player 0 has nothing to demand with
    assert table.displays[0] == {"flag": 1}
    assert (table.phase, table.player) == ("SWAP", 1)


def test_payment_without_a_choice_is_made_at_once():
    table = Table([{"diamond-1": 4}, OPPONENTS, SINGLES]).play("demand +1 coins-0", "pay")
    assert (table.player, table.displays[1]["diamond-1"]) == (1, 4)


def last_decision(**options):
    """Stand before the last decision of a game with scores 6, 10, 10 and 0, players 1 and 2 equal in the tie-break."""
    hoard = {f"bottle-{colour}": 1 for colour in range(1, 6)} | {f"parrot-{colour}": 1 for colour in range(2, 6)}
    complete = [["bottle-0"], ["parrot-0"], ["parrot-1"], []]
    rest = {"only": [[], [], [], []], "rest_to": 3, "complete_points": [6, 10, 0, 0, 0]}
    return Table([hoard, {"flag": 3}, {"flag": 3}, {}], complete=complete, last_turns=1, **rest, **options)


def test_rewards_are_margins():
    table = last_decision()
    assert table.rewards == [0, 0, 0, 0]
    table.play("no swap")
    assert table.scores == [6, 10, 10, 0]
    assert table.rewards == pytest.approx([(6 - 20 / 3) / 100, (10 - 16 / 3) / 100, (10 - 16 / 3) / 100, -26 / 300])


def test_rewards_are_wins():
    table = last_decision(reward="win").play("no swap")
    assert table.winners == [1, 2]
    assert table.rewards == pytest.approx([-1 / 3, 1 / 3, 1 / 3, -1 / 3])


def test_every_rule_has_its_examples():
    examples = {name.split("_")[1] for name in globals() if name.startswith("test_G")}
    assert examples == {f"G{number}" for number in range(1, 23)}
