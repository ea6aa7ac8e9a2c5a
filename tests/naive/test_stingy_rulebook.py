"""Check the naive reference of Stingy with the rulebook's pictures and one hand-made case for each rule.

Colours have numbers only: here red is 0 and purple is 4.
"""

from itertools import combinations

import pytest

from tests.naive.stingy import ACTION_TEXTS, KINDS, NUMBER_OF_ACTION, NaiveStingy, possible_totals, tiles_of

SINGLES = {"bottle-5": 1, "parrot-5": 1, "coins-5": 1, "diamond-5": 1}


def position(displays, *, next_tiles=None, only=None, rest_to=None, complete=None, turn=0, last_turns=None, **config):
    """Build a position at the start of a turn; tiles not named are in the pool.

    `next_tiles` names for some seats the tiles they draw first, in this order. `only` names the stacks themselves,
    next tile last; then the tiles not named lie with the seat `rest_to`.
    """
    config.setdefault("num_players", len(displays))
    displays = [dict(display) for display in displays]
    complete = [list(kinds) for kinds in complete or [[] for _ in displays]]
    first = [list(reversed((next_tiles or {}).get(seat, []))) for seat in range(len(displays))]
    stacks = [list(stack) for stack in only] if only is not None else first
    rest = {kind: tiles_of(kind) for kind in KINDS}
    for kind in KINDS:
        rest[kind] -= sum(display.get(kind, 0) for display in displays) + sum(stack.count(kind) for stack in stacks)
        rest[kind] -= sum(tiles_of(kind) for kinds in complete if kind in kinds)
    if only is None:
        pool = [kind for kind in KINDS for _ in range(rest[kind])]
        stacks = [pool[seat :: len(displays)] + stack for seat, stack in enumerate(stacks)]
    else:
        for kind in KINDS:
            if rest[kind] == tiles_of(kind):
                complete[rest_to].append(kind)
            elif rest[kind] > 0:
                displays[rest_to][kind] = displays[rest_to].get(kind, 0) + rest[kind]
    return {
        "game": "stingy-v0",
        "config": config,
        "phase": "SWAP",
        "current_player": turn,
        "turn": turn,
        "displays": displays,
        "complete": complete,
        "pool_stacks": stacks,
        "pending": {},
        "last_turns": last_turns,
    }


def start(*arguments, **options):
    """Start a game from a position."""
    return NaiveStingy.from_dict(position(*arguments, **options))


def play(game, *texts):
    """Play decisions given as text."""
    for text in texts:
        game.apply(NUMBER_OF_ACTION[text])


def legal(game):
    """List the legal actions as text."""
    return [ACTION_TEXTS[action] for action in game.legal_actions()]


# The pictures

MINE = {"bottle-0": 1, "parrot-4": 1, "coins-0": 2, "diamond-1": 1, "diamond-2": 1}
OPPONENTS = {"bottle-0": 1, "parrot-4": 2, "coins-0": 2}


def test_picture_1_two_red_coins_for_three_singles():
    """Demand two red piles of coins (value 3); the opponent takes 3 single tiles (G7-G10)."""
    game = start([MINE, OPPONENTS, SINGLES])
    play(game, "demand +1 coins-0")
    assert (game.phase, game.current_player) == ("RESPOND", 1)
    assert game.displays[0]["coins-0"] == 4
    assert legal(game) == ["stop", "group bottle-0", "group parrot-4", "group diamond-1", "group diamond-2"]
    play(game, "group bottle-0", "group parrot-4", "group diamond-1")
    assert game.displays[1].items() >= {"bottle-0": 2, "parrot-4": 3, "diamond-1": 1}.items()
    assert {"diamond-2", "coins-0"} <= set(game.displays[0])
    assert (game.phase, game.current_player) == ("SWAP", 1)


def test_picture_2_two_purple_parrots():
    """Demand two purple parrots (value 3): the red coins, equal in value, may be taken, or singles."""
    game = start([MINE, OPPONENTS, SINGLES])
    play(game, "demand +1 parrot-4")
    assert game.displays[0]["parrot-4"] == 3
    assert legal(game) == ["stop", "group bottle-0", "group coins-0", "group diamond-1", "group diamond-2"]
    play(game, "group coins-0")
    assert game.displays[1]["coins-0"] == 4
    assert "coins-0" not in game.displays[0]
    assert game.phase == "SWAP"


def test_picture_3_one_red_bottle():
    """Demand the red bottle (value 1): one single tile may be taken, the two red coins may not."""
    game = start([MINE, OPPONENTS, SINGLES])
    play(game, "demand +1 bottle-0")
    assert legal(game) == ["stop", "group parrot-4", "group diamond-1", "group diamond-2"]
    play(game, "group parrot-4")
    assert game.displays[1]["parrot-4"] == 3


# The special case

NO_EQUAL = {"bottle-1": 1, "diamond-1": 3}


def test_special_case_pay():
    """No choice of 1 and 6 totals 3: the opponent may have me pay, more than 3, and I choose (G11, G12)."""
    game = start([NO_EQUAL, OPPONENTS, SINGLES])
    play(game, "demand +1 coins-0")
    assert legal(game) == ["pay", "stop", "group bottle-1"]
    play(game, "pay")
    assert (game.phase, game.current_player) == ("GIVE", 0)
    assert legal(game) == ["group bottle-1", "group diamond-1"]
    play(game, "group diamond-1")
    assert game.displays[1]["diamond-1"] == 3
    assert game.displays[0]["bottle-1"] == 1
    assert (game.phase, game.current_player) == ("SWAP", 1)


def test_special_case_pay_with_a_small_group_first():
    """A given single is not enough, so the group of 3 follows without a question (G12, G14)."""
    game = start([NO_EQUAL, OPPONENTS, SINGLES])
    play(game, "demand +1 coins-0", "pay", "group bottle-1")
    assert game.displays[1].items() >= {"bottle-1": 1, "diamond-1": 3}.items()
    assert (game.phase, game.current_player) == ("SWAP", 1)


def test_paying_goes_on_above_the_value_and_ends_with_stop():
    """Any total above V may be given (G12)."""
    game = start([{"parrot-1": 3, "coins-1": 3, "diamond-1": 3}, OPPONENTS, SINGLES])
    play(game, "demand +1 coins-0", "pay", "group parrot-1")
    assert legal(game) == ["stop", "group coins-1", "group diamond-1"]
    play(game, "group coins-1")
    assert legal(game) == ["stop", "group diamond-1"]
    play(game, "stop")
    assert game.displays[1].items() >= {"parrot-1": 3, "coins-1": 3}.items()
    assert game.displays[0].items() >= {"diamond-1": 3, "coins-0": 2}.items()


def test_special_case_take_less():
    """Instead of PAY a smaller total may be taken; PAY is gone then (G10, G11)."""
    game = start([{**NO_EQUAL, "bottle-2": 1}, OPPONENTS, SINGLES])
    play(game, "demand +1 coins-0", "group bottle-1")
    assert legal(game) == ["stop", "group bottle-2"]
    play(game, "stop")
    assert game.displays[1]["bottle-1"] == 1
    assert game.displays[0].items() >= {"bottle-2": 1, "diamond-1": 3}.items()


@pytest.mark.parametrize(
    ("others", "may_demand", "may_pay"),
    [
        ({"bottle-1": 1, "bottle-2": 1}, False, None),  # 2 < 3
        ({"bottle-1": 1, "bottle-2": 1, "bottle-3": 1}, True, False),  # 3 = 1 + 1 + 1
        ({"bottle-1": 2}, True, False),  # 3 = 3
        ({"diamond-1": 3}, True, True),  # 6 > 3
        ({"coins-0": 1, "bottle-1": 1, "bottle-2": 1}, False, None),  # the demanded kind does not count
    ],
)
def test_demand_needs_other_groups_worth_the_value(others, may_demand, may_pay):
    """Demand two red coins (value 3) with these groups (G8, G11)."""
    game = start([others, OPPONENTS, SINGLES])
    assert ("demand +1 coins-0" in legal(game)) == may_demand
    if may_demand:
        play(game, "demand +1 coins-0")
        assert ("pay" in legal(game)) == may_pay


def test_legal_demand_leaves_an_equal_return_or_a_payment():
    """Show the reason given in G8 with every choice of groups: some total is V or above, or the demand is illegal."""
    values = [1, 1, 3, 6, 10]
    for size in range(len(values) + 1):
        for held in combinations(values, size):
            for demanded in (1, 3, 6, 10, 15, 20):
                assert (sum(held) >= demanded) == any(total >= demanded for total in possible_totals(held))


def test_possible_totals_are_those_of_every_combination():
    """Compare the totals with the plain list of all combinations."""
    for values in ([], [1], [1, 1, 1], [3, 1, 3, 10, 1], [20, 15, 10, 6, 6, 3, 1]):
        choices = [choice for size in range(len(values) + 1) for choice in combinations(values, size)]
        assert possible_totals(values) == {sum(choice) for choice in choices}


def test_groups_are_taken_in_ascending_order_within_the_value():
    """Each group taken comes after the last, and the total stays at most V (G10, G14)."""
    mine = {"bottle-1": 1, "parrot-1": 2, "coins-1": 1, "coins-2": 3, "diamond-2": 1}
    game = start([mine, {"diamond-1": 3}, SINGLES])
    play(game, "demand +1 diamond-1")
    everything = ["stop", "group bottle-1", "group parrot-1", "group coins-1", "group coins-2", "group diamond-2"]
    assert legal(game) == everything
    play(game, "group parrot-1")
    assert legal(game) == ["stop", "group coins-1", "group diamond-2"]
    play(game, "group coins-1")
    assert legal(game) == ["stop", "group diamond-2"]
    play(game, "stop")
    assert game.displays[0].items() >= {"bottle-1": 1, "coins-2": 3, "diamond-2": 1, "diamond-1": 3}.items()


# Complete groups


def test_demanded_group_that_completes_is_set_aside():
    """Two bottles and the third make a complete group of the demander, out of reach of the response (G9)."""
    game = start([{"bottle-0": 2, "coins-1": 1, "coins-2": 1}, {"bottle-0": 1}, SINGLES])
    play(game, "demand +1 bottle-0")
    assert game.complete[0] == ["bottle-0"]
    assert legal(game) == ["stop", "group coins-1", "group coins-2"]
    assert game.scores() == [6, 0, 0]


def test_taken_and_given_groups_complete_for_the_owner():
    """What is taken or given and completes a kind is set aside for the owner (G13)."""
    game = start([{"bottle-0": 2, "coins-1": 1}, {"bottle-0": 1, "parrot-1": 2}, SINGLES])
    play(game, "demand +1 parrot-1", "group bottle-0")
    assert game.complete[1] == ["bottle-0"]
    game = start([{"coins-1": 3}, {"coins-1": 2, "parrot-1": 2}, SINGLES])
    play(game, "demand +1 parrot-1", "pay")
    assert game.complete[1] == ["coins-1"]


def test_drawn_tile_that_completes_is_set_aside():
    """A third bottle drawn makes a complete group (G15)."""
    game = start([{**SINGLES, "bottle-0": 2}, {"coins-0": 2}, {}], next_tiles={0: ["bottle-0", "coins-3"]})
    play(game, "no swap")
    assert game.complete[0] == ["bottle-0"]
    assert game.displays[0]["coins-3"] == 1


# New tiles


@pytest.mark.parametrize(("num_players", "drawn"), [(3, 2), (4, 2), (5, 1), (6, 1)])
def test_regular_number_of_tiles(num_players, drawn):
    """Take 2 tiles with 3 or 4 players, 1 with 5 or 6 (G15)."""
    game = start([SINGLES] + [{"diamond-1": 1, "diamond-2": 1}] + [{}] * (num_players - 2))
    before = sum(len(stack) for stack in game.pool_stacks)
    play(game, "no swap")
    assert sum(len(stack) for stack in game.pool_stacks) == before - drawn
    assert game.current_player == 1


def test_one_tile_more_with_two_singles():
    """Two single-tile groups and no swap: one tile more may be taken (G16)."""
    game = start([{"bottle-1": 1, "bottle-2": 1, "coins-1": 2}, OPPONENTS, SINGLES], next_tiles={0: ["flag"] * 3})
    play(game, "no swap")
    assert (game.phase, game.current_player) == ("DRAW", 0)
    assert legal(game) == ["tiles regular", "tiles extra"]
    play(game, "tiles extra")
    assert game.displays[0]["flag"] == 3
    assert game.current_player == 1


def test_no_tile_more_with_three_singles_or_after_a_swap():
    """Three single-tile groups, or a swap: the regular number without a question (G16)."""
    game = start([{"bottle-1": 1, "bottle-2": 1, "coins-1": 1}, OPPONENTS, SINGLES], next_tiles={0: ["flag"] * 3})
    play(game, "no swap")
    assert game.displays[0]["flag"] == 2
    game = start([{"bottle-1": 1, "coins-1": 2}, OPPONENTS, SINGLES], next_tiles={0: ["flag"] * 3})
    play(game, "demand +1 bottle-0", "stop")
    assert game.displays[0]["flag"] == 2


@pytest.mark.parametrize(("left", "asked"), [(3, True), (2, False), (1, False)])
def test_one_tile_more_only_while_the_pool_holds_it(left, asked):
    """Ask only while the pool holds more than the regular number; else take what there is (G15, G16)."""
    mine = {"bottle-1": 1, "coins-1": 2}
    game = start([mine, {"diamond-0": 1}, {}], only=[["flag"] * left, [], []], rest_to=2)
    play(game, "no swap")
    assert (game.phase == "DRAW") == asked
    if not asked:
        assert game.displays[0]["flag"] == left


def test_empty_stack_draws_from_the_far_end_of_the_longest_other():
    """An empty stack is replaced by the longest other's far end; equally long, by the first clockwise's."""
    stacks = [["diamond-1"], ["coins-1"], [], ["coins-2", "coins-3"], ["coins-4", "coins-5"]]
    game = start([{"bottle-1": 1}, {}, {"bottle-2": 1}, {}, {"bottle-3": 1}], only=stacks, rest_to=1, turn=2)
    play(game, "no swap", "tiles extra")
    assert game.pool_stacks == [["diamond-1"], ["coins-1"], [], ["coins-3"], ["coins-5"]]
    assert game.displays[2] == {"bottle-2": 1, "coins-2": 1, "coins-4": 1}


# The end


def test_last_round_ends_with_the_seat_that_emptied_the_pool():
    """Every other seat has one more turn, then that seat; swaps only (G17)."""
    displays = [{"bottle-1": 1, "coins-1": 1}, {"bottle-2": 1, "coins-2": 1}, {}]
    game = start(displays, only=[[], ["flag"], []], rest_to=2, turn=1)
    players = []
    while game.phase != "OVER":
        players.append(game.current_player)
        assert game.phase == "SWAP"
        play(game, "no swap")
    assert players == [1, 2, 0, 1]
    assert (game.current_player, game.legal_actions(), game.last_turns) == (-1, [], 0)


def test_swap_in_the_last_turn_still_counts():
    """The last turn's swap may complete a group (G17, G18)."""
    game = start([{"bottle-1": 2, "coins-1": 1}, {"bottle-1": 1}, {}], only=[[], [], []], rest_to=2, last_turns=1)
    play(game, "demand +1 bottle-1", "stop")
    assert game.phase == "OVER"
    assert game.scores()[0] == 6


def test_tie_goes_to_more_tiles_in_the_display():
    """Equal points: more tiles in incomplete groups win, still equal: shared (G18)."""
    displays = [{"flag": 2, "parrot-0": 1}, {"flag": 3}, {"flag": 1, "parrot-0": 1}]
    complete = [["bottle-0"], ["bottle-1"], ["bottle-2"]]
    game = start(displays, complete=complete)
    assert game.scores() == [6, 6, 6]
    assert game.winners() == [0, 1]
    game = start([displays[0], {"flag": 2}, displays[2]], complete=complete)
    assert game.winners() == [0]
    game = start(displays, complete=[["bottle-0"], ["bottle-1"], ["coins-0"]])
    assert game.winners() == [2]


def test_points_of_complete_groups_and_their_option():
    """Bottles 6, parrots 10, coins 15, diamonds 20, flag 25, or the five numbers of the option (G3)."""
    complete = [["bottle-0", "flag"], ["parrot-0", "diamond-0"], ["coins-0"]]
    assert start([SINGLES, {}, {}], complete=complete).scores() == [31, 30, 15]
    assert start([SINGLES, {}, {}], complete=complete, complete_points=[1, 2, 3, 4, 5]).scores() == [6, 6, 3]


def test_colour_scoring():
    """Different colours among the complete groups bring points, the flag is a seventh colour (G18)."""
    every_colour = [f"bottle-{colour}" for colour in range(6)] + ["flag"]
    complete = [every_colour, ["parrot-1", "coins-1"], ["parrot-2", "diamond-3"]]
    assert start([{"coins-3": 1}, {}, {}], complete=complete, colour_scoring=True).scores() == [
        61 + 25,
        25 + 1,
        30 + 3,
    ]


def last_decision(**options):
    """Stand before the last decision of a game with scores 6, 10, 10 and 0, players 1 and 2 equal in the tie-break."""
    never_complete = {f"bottle-{colour}": 1 for colour in range(1, 6)} | {
        f"parrot-{colour}": 1 for colour in range(2, 6)
    }
    displays = [never_complete, {"flag": 3}, {"flag": 3}, {}]
    complete = [["bottle-0"], ["parrot-0"], ["parrot-1"], []]
    rest = {"only": [[], [], [], []], "rest_to": 3, "complete_points": [6, 10, 0, 0, 0]}
    return start(displays, complete=complete, last_turns=1, **rest, **options)


def test_rewards_are_margins():
    """Reward (own score - mean of the others') / 100 at the end, nothing before."""
    game = last_decision()
    assert game.rewards == [0, 0, 0, 0]
    play(game, "no swap")
    assert game.scores() == [6, 10, 10, 0]
    assert game.rewards == pytest.approx([(6 - 20 / 3) / 100, (10 - 16 / 3) / 100, (10 - 16 / 3) / 100, -26 / 300])


def test_rewards_are_wins():
    """Reward w winners of n players with n / w - 1, the others with -1, divided by n - 1."""
    game = last_decision(reward="win")
    play(game, "no swap")
    assert game.winners() == [1, 2]
    assert game.rewards == pytest.approx([-1 / 3, 1 / 3, 1 / 3, -1 / 3])


# The ghost


def ghost_game(mine, opponents, ghosts, **options):
    """Start a game of two players with the ghost."""
    return start([mine, opponents, ghosts], num_players=2, **options)


def test_ghost_takes_two_tiles_and_sets_complete_groups_aside():
    """After player 1 the ghost takes 2 tiles; what it completes is out of the game (G19)."""
    tiles = {2: ["bottle-0", "coins-3", "flag"]}
    game = ghost_game(SINGLES, {**SINGLES, "bottle-5": 1, "parrot-5": 1}, {"bottle-0": 2}, turn=1, next_tiles=tiles)
    play(game, "no swap")
    assert game.current_player == 0
    assert game.displays[2] == {"coins-3": 1}
    assert game.complete[2] == ["bottle-0"]
    assert game.scores() == [0, 0]


@pytest.mark.parametrize(("demander", "distance"), [(0, 2), (1, 1)])
def test_other_player_responds_for_the_ghost(demander, distance):
    """The responder is the other player, what it takes joins the ghost's display (G20)."""
    displays = [{"diamond-0": 1}, {"diamond-1": 1}]
    displays[demander] = {"bottle-1": 1, "coins-1": 3}
    game = ghost_game(*displays, {"parrot-1": 2}, turn=demander)
    play(game, f"demand +{distance} parrot-1")
    assert (game.phase, game.current_player) == ("RESPOND", 1 - demander)
    assert legal(game) == ["pay", "stop", "group bottle-1"]
    play(game, "pay")
    assert (game.phase, game.current_player) == ("GIVE", demander)
    play(game, "group coins-1")
    assert game.displays[2]["coins-1"] == 3
    assert game.displays[demander]["parrot-1"] == 2


@pytest.mark.parametrize(
    ("emptied_by", "players"),
    [(0, [0, 1, 0]), (1, [1, 0, 1]), (2, [1, 0, 1])],
)
def test_last_turns_with_the_ghost(emptied_by, players):
    """Who empties the pool has the last turn; after the ghost each player has one more turn (G17, G21)."""
    left = {0: ["flag"], 1: ["flag"], 2: ["flag"] * 3}[emptied_by]
    displays = [{"bottle-1": 1, "bottle-3": 1, "bottle-4": 1}, {"bottle-1": 1, "bottle-2": 1, "coins-2": 1}]
    game = ghost_game(*displays, {}, only=[[], [], left], rest_to=2, turn=players[0])
    decided = []
    while game.phase != "OVER":
        decided.append(game.current_player)
        play(game, "no swap")
    assert decided == players


def test_ghost_can_not_win():
    """The ghost's complete groups count for nobody (G19)."""
    game = ghost_game(SINGLES, {}, {}, complete=[["bottle-0"], [], ["flag", "diamond-0"]])
    assert game.scores() == [6, 0]
    assert game.winners() == [0]


# Captain Sly


def test_captain_sly_demands_everything_and_never_pays():
    """Every demand is legal, also from an empty display, and PAY does not exist (G22)."""
    game = start([{}, OPPONENTS, {"flag": 5}], captain_sly=True, next_tiles={0: ["bottle-5", "parrot-5"]})
    assert legal(game) == [
        "demand +1 bottle-0",
        "demand +1 parrot-4",
        "demand +1 coins-0",
        "demand +2 flag",
        "no swap",
    ]
    play(game, "demand +2 flag")
    assert game.displays[0] == {"flag": 5, "bottle-5": 1, "parrot-5": 1}
    assert (game.phase, game.current_player) == ("SWAP", 1)
    game = start([NO_EQUAL, OPPONENTS, SINGLES], captain_sly=True)
    play(game, "demand +1 coins-0")
    assert legal(game) == ["stop", "group bottle-1"]


# Actions and positions


def test_action_numbers():
    """Meet the numbers and texts of the contract's table."""
    assert len(ACTION_TEXTS) == len(NUMBER_OF_ACTION) == 155
    assert ACTION_TEXTS[0] == "demand +1 bottle-0"
    assert ACTION_TEXTS[124] == "demand +5 flag"
    assert ACTION_TEXTS[125:129] == ["no swap", "pay", "stop", "group bottle-0"]
    assert ACTION_TEXTS[152:] == ["group flag", "tiles regular", "tiles extra"]


def test_forced_decision_at_the_start_is_made():
    """Player 0 can't demand with an empty display, and has no choice but to draw the only tile (G8, G16)."""
    game = start([{}, {"bottle-1": 1}, {}], only=[["flag"], [], []], rest_to=2)
    assert game.displays[0] == {"flag": 1}
    assert (game.phase, game.current_player) == ("SWAP", 1)


def test_impossible_positions_and_options_are_refused():
    """Name what is wrong."""
    one_tile_short = position([SINGLES, {}, {}])
    one_tile_short["pool_stacks"][0].remove("flag")
    with pytest.raises(ValueError, match="6 tiles of flag"):
        NaiveStingy.from_dict(one_tile_short)
    with pytest.raises(ValueError, match="no display can hold 3 tiles of bottle-0"):
        start([{"bottle-0": 3}, {}, {}])
    with pytest.raises(ValueError, match="unknown option 'shiny'"):
        start([SINGLES, {}, {}], shiny=True)
    with pytest.raises(ValueError, match="num_players"):
        start([SINGLES, {}, {}], num_players=7)
    with pytest.raises(ValueError, match="not legal"):
        start([SINGLES, {}, {}]).apply(NUMBER_OF_ACTION["pay"])
