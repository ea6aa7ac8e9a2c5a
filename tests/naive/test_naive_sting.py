"""Hold the naive Sting to the golden games of an independent referee, and to the rules the golden games don't reach."""

import gzip
import json
import random
from pathlib import Path

import pytest

from tests.naive import sting
from tests.naive.sting import NaiveSting, comparable, deck

GOLDEN = Path(__file__).parent.parent / "golden" / "sting.jsonl.gz"
RECORDS = [json.loads(line) for line in gzip.decompress(GOLDEN.read_bytes()).splitlines()]


def natural(card):
    return sting.SUBSTITUTE + sting.KINDS.index(card)


def add(card):
    return sting.ADD + sting.KINDS.index(card)


def discard(card):
    return sting.DISCARD + sting.KINDS.index(card)


def wild(card):
    return sting.WILD + sting.WILDS.index(card)


def lay_set(number, shape):
    return sting.LAY_SET + (number - 1) * 10 + shape


def lay_run(lowest_card, wild_place=0):
    colour = sting.COLOURS.index(lowest_card[0])
    return sting.LAY_RUN + (colour * 8 + int(lowest_card[1:]) - 1) * 4 + wild_place


def run(owner, start, *cards, colour="R"):
    return {"owner": owner, "kind": "run", "colour": colour, "start": start, "cards": list(cards)}


def set_of(owner, number, *cards):
    return {"owner": owner, "kind": "set", "number": number, "cards": list(cards)}


def position(hands, piles=(), discard_pile=("Y10",), phase="PLAY", config=None, undrawn=None, held=None, **fields):
    """Build a position. Cards named nowhere lie in the stack of player 0, or on the discard pile under its top."""
    config = config or {}
    named = [card for hand in hands for card in hand] + [card for pile in piles for card in pile["cards"]]
    named += list(discard_pile) + list(undrawn or []) + ([held] if held else [])
    rest = deck({**sting.DEFAULT_OPTIONS, **config})
    rest.subtract(named)
    rest = list(rest.elements())
    discards = list(discard_pile)
    if undrawn is None:
        undrawn = rest
    else:
        discards = rest + discards
    return {
        "game": "sting-v0",
        "config": config,
        "phase": phase,
        "current_player": 0,
        "turn_player": 0,
        "dealer": len(hands) - 1,
        "round": 0,
        "turn": 0,
        "hands": [list(hand) for hand in hands],
        "draw_stacks": [list(undrawn)] + [[] for _ in hands[1:]],
        "discard_pile": discards,
        "held": held,
        "piles": list(piles),
        "pending": {},
        "totals": [0] * len(hands),
        **fields,
    }


def game_at(*arguments, reshuffle=None, **fields):
    return NaiveSting.from_dict(position(*arguments, **fields), reshuffle)


def deal(rng, config, num_players, round_number, dealer, totals):
    """Deal a round at random (S3, S4, S5)."""
    options = {**sting.DEFAULT_OPTIONS, **config}
    cards = list(deck(options).elements())
    rng.shuffle(cards)
    hands = [[cards.pop() for _ in range(options["hand_size"])] for _ in range(num_players)]
    discards = [cards.pop()]
    while discards[-1] not in sting.NATURALS:
        discards.append(cards.pop())
    first = (dealer + 1) % num_players
    return {
        "game": "sting-v0",
        "config": config,
        "phase": "DRAW",
        "current_player": first,
        "turn_player": first,
        "dealer": dealer,
        "round": round_number,
        "turn": 0,
        "hands": hands,
        "draw_stacks": [cards[player::num_players] for player in range(num_players)],
        "discard_pile": discards,
        "held": None,
        "piles": [],
        "pending": {},
        "totals": totals,
    }


def reshuffler(rng, num_players):
    """Give a reshuffle that deals the discard pile at random (S7)."""

    def reshuffle(cards):
        cards = rng.sample(cards, len(cards))
        top = cards.pop()
        return [cards[player::num_players] for player in range(num_players)], top

    return reshuffle


# The golden games


@pytest.mark.parametrize("number", range(len(RECORDS)), ids=lambda number: f"line {number + 1}")
def test_golden_game(number):
    record = RECORDS[number]
    game = NaiveSting.from_dict(record["position"])
    for step, (player, phase, legal, action) in enumerate(record["steps"]):
        assert (game.current_player, game.phase, game.legal_actions()) == (player, phase, legal), f"step {step}"
        game.apply(action)
    if record["points"] is None:
        assert game.phase == "DRAW"
        assert sum(len(stack) for stack in game.draw_stacks) < 2
    else:
        assert game.phase == "OVER"
        assert game.round_points == record["points"]
        assert game.totals == record["points"]


# Whole games


@pytest.mark.parametrize("num_players", range(2, 7))
@pytest.mark.parametrize(
    "config",
    [
        {"rounds": 3, "max_turns": 40},
        {"rounds": None, "target_score": 40, "max_turns": 30, "reward": "win", "face_values": True},
        {"rounds": 2, "discard_to_go_out": True, "substitution": False, "hand_size": 7, "max_turns": 150},
        {"rounds": 2, "special_cards": False, "max_turns": 60},
    ],
    ids=["plain", "target", "discard to go out", "naturals"],
)
def test_whole_games_keep_the_cards_and_share_the_rewards(num_players, config):
    rng = random.Random(num_players)
    position = deal(rng, config, num_players, 0, 0, [0] * num_players)
    game = NaiveSting.from_dict(position, reshuffler(rng, num_players))
    rounds = 0
    while game.phase != "OVER":
        if game.phase == "DEAL":
            rounds += 1
            assert game.legal_actions() == []
            dealer = (game.dealer + 1) % num_players
            game.start_round(deal(rng, config, num_players, rounds, dealer, list(game.totals)))
        if game.phase in ("DRAW", "PLAY"):
            again = NaiveSting.from_dict(game.to_dict())
            assert comparable(again.to_dict()) == comparable(game.to_dict())
            assert again.legal_actions() == game.legal_actions()
        legal = game.legal_actions()
        assert legal == sorted(set(legal))
        assert set(legal) <= set(range(sting.NUM_ACTIONS))
        game.apply(rng.choice(legal))
        assert sum(game.rewards) == pytest.approx(0)
        if config.get("discard_to_go_out"):
            assert game.phase in ("DEAL", "OVER") or all(game.hands)
    assert game.current_player == -1
    if "target_score" in config:
        assert max(game.totals) >= config["target_score"]
    else:
        assert rounds + 1 == config["rounds"]


# Rules the golden games do not reach, or seldom


def test_s6_a_draw_of_two_needs_two_cards():
    rest = position([["R1"], ["R2"]], phase="DRAW", undrawn=["B1"])["discard_pile"]
    assert len(rest) == 101
    game = game_at([["R1", *rest[:-1]], ["R2"]], phase="DRAW", discard_pile=rest[-1:], undrawn=["B1"])
    assert game.legal_actions() == [sting.DRAW]
    game = game_at([["R1", *rest[:-2]], ["R2"]], phase="DRAW", discard_pile=rest[-2:], undrawn=["B1"])
    assert game.legal_actions() == [sting.DRAW, sting.DRAW + 1]


def test_s6_a_draw_of_nothing_is_skipped():
    rest = position([["R1", "R3"], ["R2"]], discard_pile=[], undrawn=[])["discard_pile"]
    game = game_at([["R1", "R3"], ["R2", *rest]], discard_pile=[], undrawn=[])
    game.apply(discard("R1"))
    assert (game.current_player, game.phase) == (1, "PLAY")


def test_s7_the_reshuffle_comes_between_two_cards():
    seen = []

    def reshuffle(cards):
        seen.append(list(cards))
        return [cards[1:3], cards[3:]], cards[0]

    game = game_at([["R1"], ["R2"]], phase="DRAW", undrawn=["B1"], reshuffle=reshuffle)
    before = list(game.discard_pile)
    game.apply(sting.DRAW + 1)
    assert seen == [before]
    assert game.hands[0] == ["R1", "B1", before[2]]
    assert game.discard_pile == before[:1]
    assert game.draw_stacks == [before[1:2], before[3:]]


def test_a_seat_without_a_stack_draws_from_the_far_end_of_the_longest():
    start = position([["R1"], ["R2"], ["R3"], ["R4"]], phase="DRAW")
    cards = start["draw_stacks"][0]
    start["draw_stacks"] = [[], cards[:20], cards[20:58], cards[58:]]
    assert len(start["draw_stacks"][2]) < len(start["draw_stacks"][3])
    game = NaiveSting.from_dict(start)
    game.apply(sting.DRAW)
    assert game.hands[0] == ["R1", cards[58]]


def test_s10_out_by_a_play_before_any_discard():
    game = game_at([["R4", "R5", "R6"], ["W", "PASS"]], config={"rounds": 1})
    game.apply(lay_run("R4"))
    assert game.phase == "OVER"
    assert game.last_out == 0
    assert game.round_points == [0, 3 + 6]
    assert game.rewards == pytest.approx([0.09, -0.09])
    assert game.winners == [0]


def test_s10_an_empty_hand_with_a_held_card_is_not_out():
    game = game_at([["R2"], ["B9"]], [run(1, 1, "R1", "W", "R3"), run(0, 1, "B1", "B2", "B3", colour="B")])
    game.apply(natural("R2"))
    assert (game.phase, game.held, game.hands[0]) == ("PLAY", "W", [])
    assert game.legal_actions() == [add("W")]
    game.apply(add("W"))
    assert game.phase == "PILE"
    game.apply(sting.PILE + 1)
    assert (game.phase, game.last_out) == ("DEAL", 0)


def test_s10_option_only_the_discard_goes_out():
    config = {"discard_to_go_out": True, "rounds": 1}
    assert lay_run("R4") not in game_at([["R4", "R5", "R6"], ["W"]], config=config).legal_actions()
    piles = [run(1, 1, "R1", "W", "R3"), run(0, 5, "B5", "B6", "B7", colour="B")]
    assert game_at([["R2"], ["B9"]], piles, config=config).legal_actions() == [discard("R2")]
    assert game_at([["PASS"], ["B9"]], piles, config=config).legal_actions() == [discard("PASS")]
    game = game_at([["G9", "PASS"], ["BACK"]], piles, config=config)
    game.apply(sting.PASS)
    assert game.legal_actions() == [sting.ACCEPT]
    game.apply(sting.ACCEPT)
    game.apply(discard("G9"))
    assert (game.phase, game.last_out) == ("OVER", 0)


def test_s10_option_a_taken_card_must_leave_one_in_hand():
    config = {"discard_to_go_out": True}
    hands = [["R4", "R5"], ["W"]]
    assert sting.TAKE not in game_at(hands, discard_pile=["R6"], config=config).legal_actions()
    assert sting.TAKE in game_at(hands, discard_pile=["R6"]).legal_actions()


@pytest.mark.parametrize(("hand", "out"), [(["G2", "G9"], -1), (["G2"], 0)], ids=["blocked", "out"])
def test_s11_the_last_turn_blocks_the_round_unless_somebody_is_out(hand, out):
    game = game_at([hand, ["T", "B1"]], [run(0, 1, "R1", "R2", "D")], turn=4, config={"max_turns": 5, "rounds": 1})
    game.apply(discard("G2"))
    assert (game.phase, game.last_out) == ("OVER", out)
    assert game.round_points == ([0, 16] if out == 0 else [7, 16])


def test_s13_s14_what_a_wild_may_be_added_to():
    piles = [
        run(1, 1, "R1", "W", "R3"),
        run(1, 5, "B5", "B6", "W", colour="B"),
        run(1, 1, "G1", "W", "G3", "W", colour="G"),
        set_of(1, 9, "R9", "B9", "D"),
        set_of(1, 7, "R7", "B7", "D", "D"),
    ]
    game = game_at([["T", "G10"], ["S"]], piles)
    game.apply(add("T"))
    assert (game.phase, game.legal_actions()) == ("PILE", [sting.PILE, sting.PILE + 1, sting.PILE + 3])
    game.apply(sting.PILE + 1)
    assert game.piles[1].cards == ("T", "B5", "B6", "W")


def test_s18_a_wild_takes_the_next_natural_along():
    piles = [run(1, 3, "R3", "W", "R5", "W", "R7")]
    assert add("D") not in game_at([["D", "R8", "R2"], ["W"]], piles).legal_actions()
    game = game_at([["D", "R1", "R9", "B3"], ["W"]], piles)
    game.apply(add("D"))
    assert (game.phase, game.legal_actions()) == ("END", [sting.END, sting.END + 1])
    game.apply(sting.END)
    assert game.piles[0].cards == ("R1", "D", "R3", "W", "R5", "W", "R7")
    assert game.piles[0].start == 1
    assert game.hands[0] == ["R9", "B3"]


def test_s18_a_held_wild_takes_a_natural_of_the_hand_along():
    game = game_at([["R9"], ["W"]], [run(1, 3, "R3", "W", "R5", "W", "R7")], held="D")
    game.apply(add("D"))
    assert game.piles[0].cards == ("R3", "W", "R5", "W", "R7", "D", "R9")
    assert game.last_out == 0


def test_s18_a_held_natural_is_not_the_natural_of_the_hand():
    game = game_at([["D"], ["W"]], [run(1, 3, "R3", "W", "R5", "W", "R7")], discard_pile=["R9"])
    assert sting.TAKE not in game.legal_actions()


def test_s21_a_held_natural_is_laid_with_a_wild_of_choice():
    game = game_at([["R4", "W", "D", "B1"], ["W"]], discard_pile=["R5"])
    game.apply(sting.TAKE)
    assert game.legal_actions() == [lay_run("R3", 1), lay_run("R4", 3)]
    game.apply(lay_run("R4", 3))
    assert (game.phase, game.legal_actions()) == ("WILD", [wild("W"), wild("D")])
    game.apply(wild("D"))
    assert game.hands[0] == ["W", "B1"]
    assert game.piles[0].cards == ("R4", "R5", "D")


def test_s22_which_wild_comes_out_of_a_set():
    other = run(0, 4, "R4", "R5", "R6")
    game = game_at([["G9", "B1"], ["W"]], [set_of(1, 9, "R9", "B9", "W", "D"), other])
    game.apply(natural("G9"))
    assert (game.phase, game.legal_actions()) == ("WILD", [wild("W"), wild("D")])
    game.apply(wild("D"))
    assert game.held == "D"
    game = game_at([["G9", "B1"], ["W"]], [set_of(1, 9, "R9", "B9", "S", "D"), other])
    game.apply(natural("G9"))
    assert (game.phase, game.held) == ("PLAY", "D")
    game = game_at([["G9", "B1"], ["W"]], [set_of(1, 9, "R9", "B9", "S"), other])
    assert natural("G9") not in game.legal_actions()


def test_s22_only_if_the_wild_can_be_placed():
    full = set_of(1, 9, "R9", "B9", "W", "D")
    assert natural("G9") not in game_at([["G9", "B1"], ["W"]], [full]).legal_actions()
    assert natural("G9") in game_at([["G9", "B1", "B2"], ["W"]], [full]).legal_actions()


def test_s20_a_super_stays():
    piles = [run(0, 4, "R4", "R5", "S"), run(0, 4, "B4", "B5", "W", colour="B")]
    assert sting.PASS not in game_at([["PASS", "R1"], ["W"]], piles[:1]).legal_actions()
    game = game_at([["PASS", "R1"], ["W"]], piles)
    game.apply(sting.PASS)
    assert [pile.owner for pile in game.piles] == [0, 1]
    assert game.phase == "RESPOND"


def test_s24_the_card_lies_on_the_discard_pile_before_the_pile_is_named():
    piles = [run(0, 4, "R4", "R5", "R6"), run(0, 4, "B4", "B5", "W", colour="B")]
    game = game_at([["PASS"], ["W"], ["D"]], piles)
    game.apply(sting.PASS)
    assert (game.phase, game.current_player, game.discard_pile[-1], game.hands[0]) == ("PILE", 0, "PASS", [])
    game.apply(sting.PILE + 1)
    assert (game.phase, game.legal_actions()) == ("SEAT", [sting.SEAT, sting.SEAT + 1])
    game.apply(sting.SEAT + 1)
    assert (game.phase, game.current_player, game.piles[1].owner) == ("RESPOND", 2, 2)


def test_s25_returns_go_on_until_one_accepts():
    game = game_at([["PASS", "BACK", "R1"], ["BACK", "BACK", "R1"]], [run(0, 4, "R4", "R5", "R6")])
    game.apply(sting.PASS)
    for player, owner in [(1, 0), (0, 1), (1, 0)]:
        assert (game.current_player, game.legal_actions()) == (player, [sting.ACCEPT, sting.RETURN])
        game.apply(sting.RETURN)
        assert game.piles[0].owner == owner
    assert (game.current_player, game.legal_actions()) == (0, [sting.ACCEPT])
    game.apply(sting.ACCEPT)
    assert (game.phase, game.current_player, game.hands) == ("PLAY", 0, [["R1"], ["R1"]])


@pytest.mark.parametrize(
    ("passer", "receiver", "out", "points"),
    [
        (["PASS"], ["BACK"], 0, [0, 0]),
        (["PASS"], ["BACK", "W"], 0, [0, 5]),
        (["PASS", "BACK"], ["BACK"], 1, [0, 0]),
        (["PASS", "R1"], ["BACK"], 1, [4, 0]),
    ],
)
def test_s27_the_first_to_empty_the_hand_is_out_alone(passer, receiver, out, points):
    game = game_at([passer, receiver], [run(0, 4, "R4", "R5", "R6")], config={"rounds": 1})
    game.apply(sting.PASS)
    while game.phase == "RESPOND":
        game.apply(game.legal_actions()[-1])
    assert (game.phase, game.last_out) == ("OVER", out)
    assert game.round_points == points


@pytest.mark.parametrize(
    ("config", "on_the_table", "in_hand"),
    [
        ({}, 7 * 2 * 2 * 3, 5 + 10 + 1 + 1),
        ({"stack_multipliers": False}, 7 * 2 * 3, 5 + 10 + 1 + 1),
        ({"face_values": True}, (3 + 1 + 5 + 1 + 7 + 1 + 9) * 2 * 2 * 3, 5 + 10 + 1 + 6),
    ],
    ids=["plain", "one of each multiplier", "face values"],
)
def test_s29_s30_s31_points(config, on_the_table, in_hand):
    piles = [run(1, 3, "R3", "D", "R5", "D", "R7", "T", "R9")]
    game = game_at([["G1"], ["W", "D", "PASS", "B6"]], piles, config={"rounds": 1, **config})
    game.apply(discard("G1"))
    assert game.round_points == [0, on_the_table + in_hand]


def test_s32_the_target_ends_the_game_and_ties_share_the_win():
    config = {"rounds": None, "target_score": 20, "reward": "win"}
    piles = [run(2, 3, "R3", "T", "R5", "D", "R7")]
    game = game_at([["G1"], ["G1"], ["G2"]], piles, config=config, totals=[1, 0, 9])
    game.apply(discard("G1"))
    assert (game.phase, game.totals, game.winners) == ("OVER", [1, 1, 9 + 30 + 1], [0, 1])
    assert game.rewards == pytest.approx([0.25, 0.25, -0.5])
    game = game_at([["G1"], ["G1"], ["G2"]], config=config, totals=[1, 0, 9])
    game.apply(discard("G1"))
    assert (game.phase, game.rewards) == ("DEAL", [0.0, 0.0, 0.0])


@pytest.mark.parametrize(
    "change",
    [
        {"dealer": 1},
        {"round": 0},
        {"totals": [0, 0]},
        {"turn": 1},
        {"current_player": 0, "turn_player": 0},
        {"config": {"rounds": 3}},
        {"phase": "PLAY"},
    ],
    ids=lambda change: next(iter(change)),
)
def test_s3_a_wrong_deal_is_refused(change):
    game = game_at([["G1"], ["W", "B6"]])
    game.apply(discard("G1"))
    assert game.totals == [0, 6]
    good = deal(random.Random(1), {}, 2, 1, 0, [0, 6])
    with pytest.raises(ValueError, match="not a deal"):
        game.start_round({**good, **change})
    game.start_round(good)
    assert (game.phase, game.current_player, game.round, game.dealer) == ("DRAW", 1, 1, 0)


def test_an_illegal_action_and_an_impossible_position_are_refused():
    game = game_at([["G1"], ["W", "B6"]])
    with pytest.raises(ValueError, match="illegal"):
        game.apply(discard("G2"))
    for wrong in (
        position([["G1"], []]),
        position([["G1"], ["W"]], [run(1, 1, "R1", "W", "D")]),
        {**position([["G1"], ["W"]]), "discard_pile": []},
        {**position([["G1"], ["W"]]), "phase": "SEAT"},
    ):
        with pytest.raises(ValueError):  # noqa: PT011
            NaiveSting.from_dict(wrong)
