"""Lay out positions as JSON, play them by action texts, and read piles from observations.

What is here is written from the rules and the contract; the engine is used through its public methods only.
"""

from collections import Counter

import numpy as np

from sting_env import StingGame

COLOURS = "RBGY"
NATURALS = [f"{colour}{number}" for colour in COLOURS for number in range(1, 11)]
WILDS = ["W", "D", "T", "S"]
KINDS = [*NATURALS, *WILDS, "PASS", "BACK"]
COPIES = {**dict.fromkeys(NATURALS, 2), "W": 4, "D": 4, "T": 2, "S": 2, "PASS": 8, "BACK": 4}

# The sections of the contract's table of actions.
LAY, ADD, SUBSTITUTE, TAKE, PASS, DISCARD, WILD, SEAT, PILE, END, ACCEPT, RETURN = (
    range(2, 230), range(230, 274), range(274, 314), 314, 315, range(316, 362), range(362, 366), range(366, 371),
    range(371, 401), range(401, 403), 403, 404,
)  # fmt: skip


def deck(special_cards=True):
    """Count the cards in the game (S2, S5)."""
    return Counter({card: COPIES[card] for card in (KINDS if special_cards else NATURALS)})


def run(owner, *cards):
    """Give a run on the table; its place is told by its naturals."""
    place, natural = next((place, card) for place, card in enumerate(cards) if card in NATURALS)
    return {
        "owner": owner,
        "kind": "run",
        "colour": natural[0],
        "start": int(natural[1:]) - place,
        "cards": list(cards),
    }


def set_of(owner, *cards):
    """Give a set on the table; its number is told by its naturals."""
    natural = next(card for card in cards if card in NATURALS)
    return {"owner": owner, "kind": "set", "number": int(natural[1:]), "cards": list(cards)}


def in_order(cards):
    """Sort cards by kind."""
    return sorted(cards, key=KINDS.index)


def cards_of(position):
    """Count every card of a position, wherever it is."""
    cards = Counter(position["discard_pile"])
    for group in position["hands"] + position["draw_stacks"] + [pile["cards"] for pile in position["piles"]]:
        cards.update(group)
    if position["held"]:
        cards[position["held"]] += 1
    return cards


def position(hands, piles=(), discard=("Y10",), phase="PLAY", stacks=None, held=None, config=None, **fields):
    """Give a position between two plays as JSON.

    Cards named nowhere are undrawn, or lie under the discard pile where `stacks` says what is undrawn.
    """
    config = dict(config or {})
    rest = deck(config.get("special_cards", True))
    rest.subtract(card for hand in hands for card in hand)
    rest.subtract(card for pile in piles for card in pile["cards"])
    rest.subtract(discard)
    rest.subtract([held] if held else [])
    rest.subtract(card for stack in stacks or [] for card in stack)
    assert min(rest.values()) >= 0, f"too many of {[card for card in rest if rest[card] < 0]}"
    rest = list(rest.elements())
    discard = list(discard)
    if stacks is None:
        stacks = [rest[seat :: len(hands)] for seat in range(len(hands))]
    else:
        discard = rest + discard
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
        "draw_stacks": [list(stack) for stack in stacks],
        "discard_pile": discard,
        "held": held,
        "piles": list(piles),
        "pending": {},
        "totals": [0] * len(hands),
        **fields,
    }


class Table:
    """Hold one game that is played by action texts, as at a table."""

    def __init__(self, *arguments, key=0, **fields):
        start = position(*arguments, **fields)
        self.num_players = len(start["hands"])
        self.game = StingGame(**{"num_players": self.num_players, **start["config"]})
        self.states = self.game.from_dict(start, key)

    def play(self, *texts):
        """Make these decisions one after the other, whoever's they are."""
        for text in texts:
            self.game.step(self.states, [self.game.string_to_action(text)])
        return self

    @property
    def legal(self):
        """List the legal actions in words."""
        mask = self.game.legal_action_mask(self.states)[0]
        return [self.game.action_to_string(int(action)) for action in np.flatnonzero(mask)]

    def legal_like(self, *words):
        """List the legal actions whose first word is one of these."""
        return [text for text in self.legal if text.split()[0] in words]

    @property
    def now(self):
        return self.game.to_dict(self.states[0])

    @property
    def phase(self):
        return self.now["phase"]

    @property
    def player(self):
        return int(self.game.current_player(self.states)[0])

    @property
    def hands(self):
        return self.now["hands"]

    @property
    def held(self):
        return self.now["held"]

    @property
    def discard_pile(self):
        return self.now["discard_pile"]

    @property
    def piles(self):
        """List the piles as (owner, cards)."""
        return [(pile["owner"], pile["cards"]) for pile in self.now["piles"]]

    @property
    def over(self):
        return bool(self.game.terminated(self.states)[0])

    @property
    def points(self):
        """List the points of the round scored last."""
        return self.states["round_points"][0, : self.num_players].tolist()

    @property
    def out(self):
        """Give who went out in the round scored last, -1 for nobody."""
        return int(self.states["last_out"][0])

    @property
    def totals(self):
        return self.now["totals"]

    @property
    def rewards(self):
        return self.game.rewards(self.states)[0, : self.num_players].tolist()


# Piles as observations show them: owner 6, set and run, colours 4, numbers 10, wild cells 10, wilds by kind 4, cards,
# points, holds a Super.

WILD_OF_CELL = {1: "W", 2: "D", 3: "T", -1: "S"}


def pile_cards(row):
    """Read one row of `piles`: its kind and its cards, a run from its low end and a set in order of kind."""
    row = [int(value) for value in row]
    is_set, is_run = row[6:8]
    colours, numbers, cells, counts = row[8:12], row[12:22], row[22:32], row[32:36]
    assert is_set + is_run == 1
    if is_set:
        assert sum(numbers) == 1
        assert not any(cells)
        number = numbers.index(1) + 1
        cards = [f"{COLOURS[colour]}{number}" for colour in range(4) if colours[colour]]
        return "set", tuple(cards + [wild for wild, count in zip(WILDS, counts) for _ in range(count)])
    assert sum(colours) == 1
    colour = COLOURS[colours.index(1)]
    places = [place for place in range(10) if numbers[place] or cells[place]]
    assert places == list(range(places[0], places[-1] + 1))
    assert not any(numbers[place] and cells[place] for place in places)
    cards = [f"{colour}{place + 1}" if numbers[place] else WILD_OF_CELL[cells[place]] for place in places]
    assert [cards.count(wild) for wild in WILDS] == counts
    return "run", tuple(cards)
