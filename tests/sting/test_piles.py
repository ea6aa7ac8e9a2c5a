"""Every legal set and run can be built (S12-S18), and nothing else ever lies on the table."""

from collections import Counter
from itertools import combinations, product

import numpy as np
import pytest

from sting_env import StingGame
from tests.sting.players import choose, fresh
from tests.sting.table import ADD, COLOURS, COPIES, DISCARD, LAY, NATURALS, WILDS, Table, pile_cards


def wilds_allowed(size):
    """Give the most wilds in a pile of this size (S13)."""
    return 1 if size == 3 else 2 if size <= 6 else 3


def is_legal_pile(kind, cards):
    """Tell whether cards are a set or a run (S12 to S14)."""
    wilds = [card for card in cards if card in WILDS]
    naturals = [card for card in cards if card in NATURALS]
    if len(wilds) + len(naturals) != len(cards) or len(wilds) > wilds_allowed(len(cards)) or len(cards) < 3:
        return False
    if kind == "set":
        same_number = len({card[1:] for card in naturals}) == 1
        return len(cards) <= 4 and len(wilds) <= 2 and same_number and len(set(naturals)) == len(naturals)
    if any(card in WILDS and after in WILDS for card, after in zip(cards, cards[1:])):
        return False
    starts = {int(card[1:]) - place for place, card in enumerate(cards) if card in NATURALS}
    if len(starts) != 1 or len({card[0] for card in naturals}) != 1:
        return False
    return min(starts) >= 1 and min(starts) + len(cards) - 1 <= 10


def enough_copies(cards):
    """Tell whether the game has these cards (S2)."""
    return all(count <= COPIES[card] for card, count in Counter(cards).items())


def all_sets(number):
    """Give every legal set of a number, in order of kind, by trying all cards."""
    cards = [f"{colour}{number}" for colour in COLOURS] + WILDS
    tried = {tuple(sorted(some, key=cards.index)) for size in (3, 4) for some in product(cards, repeat=size)}
    return {some for some in tried if enough_copies(some) and is_legal_pile("set", some)}


def all_runs(colour):
    """Give every legal run of a colour, by putting every wild in every place."""
    runs = set()
    for start in range(1, 11):
        for size in range(3, 12 - start):
            naturals = [f"{colour}{start + place}" for place in range(size)]
            for count in range(4):
                for places in combinations(range(size), count):
                    for wilds in product(WILDS, repeat=count):
                        cards = list(naturals)
                        for place, wild in zip(places, wilds):
                            cards[place] = wild
                        if enough_copies(cards) and is_legal_pile("run", cards):
                            runs.add(tuple(cards))
    return runs


def first_pile(game, states):
    """Read the first pile of each lane from what its player sees; None where there is none."""
    return [pile_cards(row) if row.any() else None for row in game.observe(states)["piles"][:, 0]]


def reachable(hand):
    """Give every first pile that can be built from a hand: by laying one, then by adding to it."""
    table = Table([hand, ["PASS"]], discard=["PASS", "BACK"])
    game, states = table.game, table.states
    found = {None}
    wanted = np.zeros(game.num_actions, bool)
    wanted[LAY.start : LAY.stop] = True
    while len(states):
        lanes, actions = np.nonzero(game.legal_action_mask(states) & wanted)
        states = states[lanes]
        game.step(states, actions)
        current = first_pile(game, states)
        asked = states["phase"] > 1  # which wild, which end: all answers are tried
        new = np.array([pile not in found for pile in current], bool)
        first = np.zeros(len(states), bool)
        first[list({pile: lane for lane, pile in enumerate(current)}.values())] = True
        found.update(current)
        states = states[asked | (new & first)]
        wanted[:] = True
        wanted[: ADD.start] = False
        wanted[ADD.stop : DISCARD.stop] = False
    return found - {None}


@pytest.mark.parametrize("colour", COLOURS)
def test_exactly_the_legal_runs_can_be_built(colour):
    expected = {("run", cards) for cards in all_runs(colour)}
    assert len(expected) == 19_968
    wilds = [card for card in WILDS for _ in range(COPIES[card])]
    reached = reachable([f"{colour}{number}" for number in range(1, 11)] + wilds + ["PASS"])
    runs = {pile for pile in reached if pile[0] == "run"}
    assert runs - expected == set()
    assert expected - runs == set()


@pytest.mark.parametrize("number", range(1, 11))
def test_exactly_the_legal_sets_can_be_built(number):
    expected = {("set", cards) for cards in all_sets(number)}
    wilds = [card for card in WILDS for _ in range(COPIES[card])]
    reached = reachable([f"{colour}{number}" for colour in COLOURS] + wilds + ["PASS"])
    assert reached == expected


def test_how_many_sets_and_runs_there_are():
    shapes = {tuple("*" if card in WILDS else card for card in cards) for cards in all_runs("R")}
    by_size = Counter(len(cards) for cards in shapes)
    # Ways to put up to 1, 2 or 3 wilds, no two of them neighbours, times the places for a run of that size.
    assert by_size == {
        3: 8 * (1 + 3),
        4: 7 * (1 + 4 + 3),
        5: 6 * (1 + 5 + 6),
        6: 5 * (1 + 6 + 10),
        7: 4 * (1 + 7 + 15 + 10),
        8: 3 * (1 + 8 + 21 + 20),
        9: 2 * (1 + 9 + 28 + 35),
        10: 1 + 10 + 36 + 56,
    }
    # 3 naturals, 4, 2 and a wild, 3 and a wild, 2 and two wilds.
    assert len(all_sets(5)) == 4 + 1 + 6 * 4 + 4 * 4 + 6 * 10


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"discard_to_go_out": True, "max_turns": 200},
        {"special_cards": False},
        {"hand_size": 13, "substitution": False},
    ],
    ids=["plain", "strict", "naturals", "no substitution"],
)
def test_nothing_illegal_ever_lies_on_the_table(options):
    """Look at every pile after every decision; piles never vanish, shrink or lose their naturals (S19)."""
    rng = np.random.default_rng(3)
    game = StingGame(rounds=1, **options)
    states = fresh(game, np.arange(300), 2 + np.arange(300) % 5)
    known = {bytes(30): 0}
    before, kept = None, None
    while True:
        seen = game.observe(states, observer=0)["piles"]
        rows = seen[:, :, 6:36]  # without the owner, the size and the points
        data = rows.tobytes()
        keys = [data[place : place + 30] for place in range(0, len(data), 30)]
        for key in set(keys) - known.keys():
            kind, cards = pile_cards(np.frombuffer(bytes(6) + key, np.int8))
            assert is_legal_pile(kind, cards), cards
            known[key] = len(cards)
        assert seen[:, :, 36].reshape(-1).tolist() == [known[key] for key in keys]
        if before is not None:
            assert (rows[kept, :, :16] >= before[kept, :, :16]).all()  # kind, colours and naturals
        if game.terminated(states).all():
            break
        before = rows
        game.step(states, choose(rng, game.legal_action_mask(states), 0.9))
        kept = ~game.terminated(states)
    assert len(known) > 150
