"""Play Sting with plain lists, slowly and literally, as the reference for a fast engine.

Rule ids S1 to S33 are those of the rules of Sting. Action numbers, phases and positions are those of the contract.
Cards are their texts: `R1` to `Y10`, `W` `D` `T` `S`, `PASS`, `BACK`.
Legality is found by trying: every play is built with its outcome, and an outcome that breaks a rule is thrown away.
Chance arrives as data. The caller deals each round, and a callback answers when the discard pile is reshuffled.
"""

from collections import Counter
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import combinations

# Cards (S2), in the order of their kinds.
COLOURS = ("R", "B", "G", "Y")
NUMBERS = range(1, 11)
NATURALS = tuple(f"{colour}{number}" for colour in COLOURS for number in NUMBERS)
WILDS = ("W", "D", "T", "S")
WORD_CARDS = ("PASS", "BACK")
KINDS = NATURALS + WILDS + WORD_CARDS
COPIES = {**dict.fromkeys(NATURALS, 2), "W": 4, "D": 4, "T": 2, "S": 2, "PASS": 8, "BACK": 4}

# Actions: the sections of the contract, one after the other.
DRAW = 0
LAY_SET = DRAW + 2
LAY_RUN = LAY_SET + 10 * 10
ADD = LAY_RUN + 4 * 8 * 4
SUBSTITUTE = ADD + len(NATURALS) + len(WILDS)
TAKE = SUBSTITUTE + len(NATURALS)
PASS = TAKE + 1
DISCARD = PASS + 1
WILD = DISCARD + len(KINDS)
SEAT = WILD + len(WILDS)
PILE = SEAT + 5
END = PILE + 30
ACCEPT = END + 2
RETURN = ACCEPT + 1
NUM_ACTIONS = RETURN + 1

LOW, HIGH = 0, 1
NOBODY = -1

DEFAULT_OPTIONS = {
    "hand_size": 10,
    "special_cards": True,
    "open_hands": False,
    "discard_to_go_out": False,
    "max_turns": 500,
    "substitution": True,
    "stack_multipliers": True,
    "face_values": False,
    "rounds": 5,
    "target_score": None,
    "reward": "margin",
}


def is_natural(card):
    """Tell whether a card is a numbered card."""
    return card in NATURALS


def is_wild(card):
    """Tell whether a card is one of the four Sting cards."""
    return card in WILDS


def colour_of(card):
    """Give the colour of a natural."""
    return card[0]


def number_of(card):
    """Give the number of a natural."""
    return int(card[1:])


def deck(options):
    """Count the cards in the game (S2, S5)."""
    return Counter({card: COPIES[card] for card in (KINDS if options["special_cards"] else NATURALS)})


def in_kind_order(cards):
    """Sort cards by kind, for piles of cards that have no order of their own."""
    return sorted(cards, key=KINDS.index)


# Piles (S12 to S15)


@dataclass(frozen=True)
class Pile:
    """Hold one set or run on the table. A set has a number, a run has a colour and the number of its first place."""

    owner: int
    kind: str
    cards: tuple
    number: int | None = None
    colour: str | None = None
    start: int | None = None

    def place_of(self, position):
        """Name the natural that belongs in a position of a run (S12)."""
        return f"{self.colour}{self.start + position}"

    def extended(self, end, card):
        """Give the run with a card more at one end (S17)."""
        if end == LOW:
            return replace(self, cards=(card, *self.cards), start=self.start - 1)
        return replace(self, cards=(*self.cards, card))

    def replaced(self, position, card):
        """Give the pile with another card in one position (S22)."""
        return replace(self, cards=(*self.cards[:position], card, *self.cards[position + 1 :]))


def most_wilds(size):
    """Give the most wilds a pile of this size may hold (S13)."""
    if size <= 3:
        return 1
    if size <= 6:
        return 2
    return 3


def keeps_wild_limit(pile):
    """Tell whether a pile holds no more wilds than its size allows (S13)."""
    wilds = sum(is_wild(card) for card in pile.cards)
    if pile.kind == "set" and wilds > 2:
        return False
    return wilds <= most_wilds(len(pile.cards))


def is_legal_set(pile):
    """Tell whether a pile is a set, the limit of wilds aside (S12)."""
    naturals = [card for card in pile.cards if is_natural(card)]
    colours = [colour_of(card) for card in naturals]
    return (
        len(pile.cards) in (3, 4)
        and all(is_natural(card) or is_wild(card) for card in pile.cards)
        and all(number_of(card) == pile.number for card in naturals)
        and len(set(colours)) == len(colours)
    )


def is_legal_run(pile):
    """Tell whether a pile is a run, the limit of wilds aside (S12, S14)."""
    if not 3 <= len(pile.cards) <= 10:
        return False
    if pile.start < 1 or pile.start + len(pile.cards) - 1 > 10:
        return False
    for position, card in enumerate(pile.cards):
        if not is_wild(card) and card != pile.place_of(position):
            return False
    for card, neighbour in zip(pile.cards, pile.cards[1:]):
        if is_wild(card) and is_wild(neighbour):
            return False
    return True


def is_legal_pile(pile):
    """Tell whether a pile may lie on the table (S12, S13, S14)."""
    is_legal_kind = is_legal_set if pile.kind == "set" else is_legal_run
    return is_legal_kind(pile) and keeps_wild_limit(pile)


def represents(pile, position, natural):
    """Tell whether the card in a position is a wild that stands for this natural (S15)."""
    if not is_wild(pile.cards[position]):
        return False
    if pile.kind == "run":
        return natural == pile.place_of(position)
    return number_of(natural) == pile.number and all(
        colour_of(card) != colour_of(natural) for card in pile.cards if is_natural(card)
    )


@lru_cache(maxsize=100_000)  # only to save time
def additions(pile, card):
    """List (end, legal pile, cards added) for one card on one pile (S17).

    A wild that breaks only the limit of wilds takes the next natural along (S18).
    """
    if pile.kind == "set":
        result = replace(pile, cards=(*pile.cards, card))
        return [(None, result, [card])] if is_legal_pile(result) else []
    found = []
    for end in (LOW, HIGH):
        result = pile.extended(end, card)
        if is_legal_pile(result):
            found.append((end, result, [card]))
        elif is_wild(card) and is_legal_run(result):
            natural = result.place_of(-1 if end == LOW else len(result.cards))
            result = result.extended(end, natural)
            if natural in NATURALS and is_legal_pile(result):
                found.append((end, result, [card, natural]))
    return found


# Plays (S12 to S27): each is built with the answers that ask for it and with all that lies on the table afterwards.


@dataclass(frozen=True)
class Play:
    """Hold one complete play: its answers as (phase, action) in the order of asking, and its outcome."""

    answers: tuple
    hand: tuple
    piles: tuple
    held: str | None
    discard_pile: tuple
    passed: int | None = None
    ends_turn: bool = False


def with_each_wild(cards):
    """List (wild, cards) with each kind of wild in the place of `*`, or the cards alone if there is no such place."""
    if "*" not in cards:
        return [(None, tuple(cards))]
    return [(wild, tuple(wild if card == "*" else card for card in cards)) for wild in WILDS]


def all_layings():
    """List (action, wild or None, pile without an owner) for every new pile of three cards (S16)."""
    layings = []
    for number in NUMBERS:
        shapes = []
        for left_out in COLOURS:
            shapes.append([f"{colour}{number}" for colour in COLOURS if colour != left_out])
        for pair in combinations(COLOURS, 2):
            shapes.append([f"{colour}{number}" for colour in pair] + ["*"])
        for index, cards in enumerate(shapes):
            action = LAY_SET + (number - 1) * 10 + index
            for wild, chosen in with_each_wild(cards):
                layings.append((action, wild, Pile(NOBODY, "set", chosen, number=number)))
    for colour_index, colour in enumerate(COLOURS):
        for lowest in range(1, 9):
            for wild_place in range(4):
                cards = [f"{colour}{lowest + position}" for position in range(3)]
                if wild_place > 0:
                    cards[wild_place - 1] = "*"
                action = LAY_RUN + (colour_index * 8 + lowest - 1) * 4 + wild_place
                for wild, chosen in with_each_wild(cards):
                    layings.append((action, wild, Pile(NOBODY, "run", chosen, colour=colour, start=lowest)))
    return layings


# By their first natural, only to save time.
LAYINGS = {card: [] for card in NATURALS}
for laying in all_layings():
    LAYINGS[next(card for card in laying[2].cards if is_natural(card))].append(laying)


def hand_after(hand, held, cards):
    """Give the hand after these cards have left it, or None if they are not there.

    A held card must be among them and does not come from the hand (S21, S22, S23).
    """
    hand, cards = list(hand), list(cards)
    if held is not None:
        if held not in cards:
            return None
        cards.remove(held)
    for card in cards:
        if card not in hand:
            return None
        hand.remove(card)
    return tuple(hand)


class NaiveSting:
    """Play one game of Sting from a position. Only `apply` and `start_round` change the game, in place."""

    # Positions

    @classmethod
    def from_dict(cls, position, reshuffle=None):
        """Start from a position between two plays.

        `reshuffle(cards)` gets the discard pile, top last, and returns the new draw stacks, one a seat and next card
        last, and the card turned to start the new discard pile (S7). Raises ValueError for an impossible position.
        """
        game = cls()
        game.num_players = len(position["hands"])
        game.config = dict(position.get("config", {}))
        game.options = game._read_options(game.config)
        game.reshuffle = reshuffle
        game.round_points = None
        game.last_out = None
        game.totals = list(position["totals"])
        game._set_position(position)
        return game

    def _read_options(self, config):
        unknown = set(config) - set(DEFAULT_OPTIONS) - {"num_players"}
        if unknown:
            raise ValueError(f"unknown options: {sorted(unknown)}")
        return {**DEFAULT_OPTIONS, **config, "num_players": self.num_players}

    def _set_position(self, position):
        self.phase = position["phase"]
        self.current_player = position["current_player"]
        self.turn_player = position["turn_player"]
        self.dealer = position["dealer"]
        self.round = position["round"]
        self.turn = position["turn"]
        self.hands = [list(hand) for hand in position["hands"]]
        self.draw_stacks = [list(stack) for stack in position["draw_stacks"]]
        self.discard_pile = list(position["discard_pile"])
        self.held = position["held"]
        self.piles = [Pile(**{**pile, "cards": tuple(pile["cards"])}) for pile in position["piles"]]
        self.rewards = [0.0] * self.num_players
        self._open_plays = None
        self._answered = 0
        self._passed = None
        self._emptied_first = None
        self._check_position()

    def _check_position(self):
        if not 2 <= self.num_players <= 6:
            raise ValueError("2 to 6 players (S1)")
        if len(self.draw_stacks) != self.num_players or len(self.totals) != self.num_players:
            raise ValueError("one draw stack and one total for each player")
        if Counter(self._all_cards()) != deck(self.options):
            raise ValueError("the cards do not add up (S2, S5)")
        for pile in self.piles:
            if pile.owner not in range(self.num_players) or not is_legal_pile(pile):
                raise ValueError(f"illegal pile {pile} (S12, S13, S14)")
        if self.phase == "OVER":
            return
        if self.phase not in ("DRAW", "PLAY"):
            raise ValueError(f"a position is taken between plays only, not in {self.phase}")
        if self.current_player != self.turn_player or self.turn_player not in range(self.num_players):
            raise ValueError("the player whose turn it is moves")
        if self.turn >= self.options["max_turns"]:
            raise ValueError("the round is blocked (S11)")
        for player, hand in enumerate(self.hands):
            if not hand and not (player == self.turn_player and self.held):
                raise ValueError(f"player {player} is out (S10)")
        if not self.legal_actions():
            raise ValueError("no action is legal")

    def _all_cards(self):
        cards = [card for group in self.hands + self.draw_stacks for card in group]
        cards += [card for pile in self.piles for card in pile.cards]
        return cards + self.discard_pile + ([self.held] if self.held else [])

    def to_dict(self):
        """Give the position in the form of the contract. Hands and sets, which have no order, are in order of kind."""
        piles = []
        for pile in self.piles:
            if pile.kind == "set":
                where = {"number": pile.number, "cards": in_kind_order(pile.cards)}
            else:
                where = {"colour": pile.colour, "start": pile.start, "cards": list(pile.cards)}
            piles.append({"owner": pile.owner, "kind": pile.kind, **where})
        return {
            "game": "sting-v0",
            "config": dict(self.config),
            "phase": self.phase,
            "current_player": self.current_player,
            "turn_player": self.turn_player,
            "dealer": self.dealer,
            "round": self.round,
            "turn": self.turn,
            "hands": [in_kind_order(hand) for hand in self.hands],
            "draw_stacks": [list(stack) for stack in self.draw_stacks],
            "discard_pile": list(self.discard_pile),
            "held": self.held,
            "piles": piles,
            "pending": {},
            "totals": list(self.totals),
        }

    # Actions

    def legal_actions(self):
        """List the action numbers of the current player, smallest first. Nobody moves in the phases DEAL and OVER."""
        if self.phase in ("DEAL", "OVER"):
            return []
        if self.phase == "DRAW":
            return self._legal_draws()
        if self.phase == "RESPOND":
            return self._legal_answers_to_a_pass()
        return sorted({play.answers[self._answered][1] for play in self._plays_left()})

    def apply(self, action):
        """Make the decision of the current player. Raises ValueError for an illegal action, and nothing changes."""
        legal = self.legal_actions()
        if action not in legal:
            raise ValueError(f"action {action} is illegal in {self.phase}; legal: {legal}")
        self.rewards = [0.0] * self.num_players
        if self.phase == "DRAW":
            self._draw(1 + action - DRAW)
        elif self.phase == "RESPOND":
            self._respond(action)
        else:
            self._answer(action)

    def _plays_left(self):
        """List the plays that agree with the answers so far. They are found once for each play."""
        if self._open_plays is None:
            self._open_plays = self._all_plays()
        return self._open_plays

    def _answer(self, action):
        """Keep the plays that agree with an answer. Ask on while more than one choice is left, else carry the play out.

        A question with a single choice is not asked.
        """
        question = self._answered
        self._open_plays = [play for play in self._plays_left() if play.answers[question] == (self.phase, action)]
        self._answered += 1
        if action == PASS:
            # The card is seen before it is known which pile goes where (S24).
            self.hands[self.current_player] = list(self._open_plays[0].hand)
            self.discard_pile = list(self._open_plays[0].discard_pile)
        while self._answered < len(self._open_plays[0].answers):
            choices = {play.answers[self._answered] for play in self._open_plays}
            if len(choices) > 1:
                self.phase = self._open_plays[0].answers[self._answered][0]
                return
            self._answered += 1
        self._carry_out(self._open_plays[0])

    def _carry_out(self, play):
        """Put the outcome of a play on the table."""
        self._open_plays = None
        self._answered = 0
        player = self.current_player
        self.hands[player] = list(play.hand)
        self.piles = list(play.piles)
        self.held = play.held
        self.discard_pile = list(play.discard_pile)
        self.phase = "PLAY"
        if play.passed is not None:
            self._ask_about_a_pass(play.passed)
        elif play.ends_turn:
            self._end_turn()
        elif not self.hands[player] and self.held is None:
            self._end_round(player)  # S10: out by a play

    # Draw (S6, S7)

    def _cards_in_draw_pile(self):
        return sum(len(stack) for stack in self.draw_stacks)

    def _cards_that_can_be_drawn(self):
        """Count the draw pile, and the discard pile but for the card that starts the next one (S6)."""
        return self._cards_in_draw_pile() + max(0, len(self.discard_pile) - 1)

    def _legal_draws(self):
        """List one and two, as far as there are cards (S6)."""
        return [DRAW + count - 1 for count in (1, 2) if count <= self._cards_that_can_be_drawn()]

    def _draw(self, count):
        """Draw the announced number of cards (S6)."""
        if count > self._cards_in_draw_pile() and self.reshuffle is None:
            raise ValueError("the discard pile must be reshuffled (S7) and no reshuffle was given")
        for _ in range(count):
            if self._cards_in_draw_pile() == 0:
                self._reshuffle_discard_pile()
            self.hands[self.current_player].append(self._next_card(self.current_player))
        self.phase = "PLAY"

    def _next_card(self, player):
        """Take the next card of the player's own stack, or else the far one of the longest other, first clockwise."""
        if self.draw_stacks[player]:
            return self.draw_stacks[player].pop()
        clockwise = [(player + step) % self.num_players for step in range(1, self.num_players)]
        longest = max(len(self.draw_stacks[seat]) for seat in clockwise)
        for seat in clockwise:
            if len(self.draw_stacks[seat]) == longest:
                return self.draw_stacks[seat].pop(0)

    def _reshuffle_discard_pile(self):
        """Make the discard pile the draw pile, and turn one card to start the new discard pile (S7)."""
        stacks, new_top = self.reshuffle(list(self.discard_pile))
        stacks = [list(stack) for stack in stacks]
        if len(stacks) != self.num_players:
            raise ValueError("one draw stack for each player")
        if Counter(card for stack in stacks for card in stack) + Counter([new_top]) != Counter(self.discard_pile):
            raise ValueError("a reshuffle keeps the cards (S7)")
        self.draw_stacks = stacks
        self.discard_pile = [new_top]

    # Play (S8 to S24)

    def _all_plays(self):
        """List every legal play of the current player, complete with all sub-decisions (S8).

        While a card is held only plays that place it are legal (S23).
        """
        hand = tuple(self.hands[self.current_player])
        plays = list(self._plays_that_place(hand, self.held, tuple(self.piles), tuple(self.discard_pile)))
        if self.held is None:
            plays += self._plays_that_take(hand)
            plays += self._plays_that_substitute(hand)
            plays += self._plays_that_pass(hand)
            plays += self._plays_that_discard(hand)
        return plays

    def _may_leave(self, hand):
        """Tell whether anything but the discard at the end of the turn may leave this hand (S10)."""
        return len(hand) > 0 or not self.options["discard_to_go_out"]

    def _plays_that_place(self, hand, held, piles, discard_pile):
        """Give the plays that lay a new pile or add to one. With a card held they place that card (S16, S17, S18)."""
        yield from self._plays_that_lay(hand, held, piles, discard_pile)
        yield from self._plays_that_add(hand, held, piles, discard_pile)

    def _can_place(self, hand, held, piles, discard_pile):
        """Tell whether a held card can be placed (S21, S22)."""
        return any(True for _ in self._plays_that_place(hand, held, piles, discard_pile))

    def _plays_that_lay(self, hand, held, piles, discard_pile):
        """Give the new piles, three cards in front of an opponent (S16)."""
        at_hand = {*hand, held}
        for action, wild, shape in (laying for card in NATURALS if card in at_hand for laying in LAYINGS[card]):
            if not at_hand.issuperset(shape.cards):
                continue  # only to save time
            left = hand_after(hand, held, shape.cards)
            if left is None or not self._may_leave(left) or not is_legal_pile(shape):
                continue
            for seats_on in range(1, self.num_players):
                pile = replace(shape, owner=(self.current_player + seats_on) % self.num_players)
                answers = [("PLAY", action)]
                if wild is not None:
                    answers.append(("WILD", WILD + WILDS.index(wild)))
                answers.append(("SEAT", SEAT + seats_on - 1))
                yield Play(tuple(answers), left, (*piles, pile), None, discard_pile)

    def _plays_that_add(self, hand, held, piles, discard_pile):
        """Give the additions to every pile, whoever owns it (S17, S18)."""
        for kind, card in enumerate(NATURALS + WILDS):
            if hand_after(hand, held, [card]) is None:
                continue
            for index, pile in enumerate(piles):
                for end, result, cards in additions(pile, card):
                    left = hand_after(hand, held, cards)
                    if left is None or not self._may_leave(left):
                        continue
                    answers = [("PLAY", ADD + kind), ("PILE", PILE + index)]
                    if end is not None:
                        answers.append(("END", END + end))
                    after = (*piles[:index], result, *piles[index + 1 :])
                    yield Play(tuple(answers), left, after, None, discard_pile)

    def _plays_that_take(self, hand):
        """List taking the top of the discard pile, if it is no word card and can be placed at once (S21)."""
        if not self.discard_pile:
            return []
        top, below = self.discard_pile[-1], tuple(self.discard_pile[:-1])
        if not (is_natural(top) or is_wild(top)):
            return []
        if not self._can_place(hand, top, tuple(self.piles), below):
            return []
        return [Play((("PLAY", TAKE),), hand, tuple(self.piles), top, below)]

    def _plays_that_substitute(self, hand):
        """List the naturals that can take the place of a wild, if that wild can be placed at once (S22)."""
        plays = []
        if not self.options["substitution"]:
            return plays
        discard_pile = tuple(self.discard_pile)
        for natural in NATURALS:
            left = hand_after(hand, None, [natural])
            if left is None or not self._may_leave(left):
                continue
            for index, pile in enumerate(self.piles):
                for position, wild in enumerate(pile.cards):
                    if not represents(pile, position, natural) or wild == "S":
                        continue
                    result = pile.replaced(position, natural)
                    after = (*self.piles[:index], result, *self.piles[index + 1 :])
                    if not is_legal_pile(result) or not self._can_place(left, wild, after, discard_pile):
                        continue
                    answers = [("PLAY", SUBSTITUTE + NATURALS.index(natural)), ("PILE", PILE + index)]
                    answers.append(("WILD", WILD + WILDS.index(wild)))
                    plays.append(Play(tuple(answers), left, after, wild, discard_pile))
        return plays

    def _plays_that_pass(self, hand):
        """List the piles without a Super in front of the player, each to every other player (S20, S24)."""
        left = hand_after(hand, None, ["PASS"])
        if left is None or not self._may_leave(left):
            return []
        plays = []
        for index, pile in enumerate(self.piles):
            if pile.owner != self.current_player or "S" in pile.cards:
                continue
            for seats_on in range(1, self.num_players):
                receiver = (self.current_player + seats_on) % self.num_players
                after = (*self.piles[:index], replace(pile, owner=receiver), *self.piles[index + 1 :])
                answers = (("PLAY", PASS), ("PILE", PILE + index), ("SEAT", SEAT + seats_on - 1))
                plays.append(Play(answers, left, after, None, (*self.discard_pile, "PASS"), passed=index))
        return plays

    def _plays_that_discard(self, hand):
        """List the discards that end the turn (S9)."""
        plays = []
        for kind, card in enumerate(KINDS):
            left = hand_after(hand, None, [card])
            if left is not None:
                answers = (("PLAY", DISCARD + kind),)
                discard_pile = (*self.discard_pile, card)
                plays.append(Play(answers, left, tuple(self.piles), None, discard_pile, ends_turn=True))
        return plays

    # The answer to a pass (S25, S26, S27)

    def _ask_about_a_pass(self, index):
        """Ask the receiver of a passed pile at once (S25)."""
        self._passed = index
        self._emptied_first = self.turn_player if not self.hands[self.turn_player] else None
        self._receiver = self.piles[index].owner
        self.current_player = self._receiver
        self.phase = "RESPOND"

    def _legal_answers_to_a_pass(self):
        """List to accept, and to return for a player with the card. It may be the last only if that goes out (S10)."""
        left = hand_after(self.hands[self.current_player], None, ["BACK"])
        if left is None or not self._may_leave(left):
            return [ACCEPT]
        return [ACCEPT, RETURN]

    def _respond(self, action):
        """Let the pile lie, or return it to the one who gave it and ask that one (S25)."""
        if action == RETURN:
            player = self.current_player
            self.hands[player].remove("BACK")
            self.discard_pile.append("BACK")
            if not self.hands[player] and self._emptied_first is None:
                self._emptied_first = player
            giver = self.turn_player if player == self._receiver else self._receiver
            self.piles[self._passed] = replace(self.piles[self._passed], owner=giver)
            self.current_player = giver
            return
        self._passed = None
        self.current_player = self.turn_player
        self.phase = "PLAY"
        if self._emptied_first is not None:
            self._end_round(self._emptied_first)  # S27: after the exchange, the first alone

    # End of turn, round and game (S9 to S11, S28 to S33)

    def _end_turn(self):
        """Pass the turn to the left after the discard, unless the round is over (S9, S10, S11)."""
        self.turn += 1
        if not self.hands[self.turn_player]:
            self._end_round(self.turn_player)
        elif self.turn >= self.options["max_turns"]:
            self._end_round(NOBODY)
        else:
            self._begin_turn((self.turn_player + 1) % self.num_players)

    def _begin_turn(self, player):
        """Ask for the draw, or skip it if nothing can be drawn (S6)."""
        self.turn_player = self.current_player = player
        self.phase = "DRAW" if self._cards_that_can_be_drawn() > 0 else "PLAY"

    def _pile_points(self, pile):
        """Score a pile on the table (S29, S31)."""
        points = 0
        for card in pile.cards:
            points += number_of(card) if is_natural(card) and self.options["face_values"] else 1
        doubles, triples = pile.cards.count("D"), pile.cards.count("T")
        if not self.options["stack_multipliers"]:
            doubles, triples = min(doubles, 1), min(triples, 1)
        return points * 2**doubles * 3**triples

    def _hand_points(self, hand):
        """Score the cards left in a hand (S30, S31)."""
        points = 0
        for card in hand:
            if is_natural(card):
                points += number_of(card) if self.options["face_values"] else 1
            else:
                points += {"W": 5, "D": 10, "T": 15, "S": 5, "PASS": 1, "BACK": 1}[card]
        return points

    def _end_round(self, out):
        """Score the round (S28). Stop at OVER, or at DEAL until the next round is given (S32)."""
        self.last_out = out
        self.round_points = []
        for player in range(self.num_players):
            points = sum(self._pile_points(pile) for pile in self.piles if pile.owner == player)
            points += self._hand_points(self.hands[player])
            self.round_points.append(0 if player == out else points)
        self.totals = [total + points for total, points in zip(self.totals, self.round_points)]
        self.current_player = NOBODY
        self.phase = "OVER" if self._is_last_round() else "DEAL"
        self.rewards = self._rewards_of_the_round()

    def _is_last_round(self):
        """Tell whether the rounds are played or a total has reached the target (S32)."""
        rounds, target = self.options["rounds"], self.options["target_score"]
        if rounds is not None and self.round + 1 >= rounds:
            return True
        return target is not None and max(self.totals) >= target

    @property
    def winners(self):
        """List the players with the lowest total (S33)."""
        return [player for player in range(self.num_players) if self.totals[player] == min(self.totals)]

    def _rewards_of_the_round(self):
        """Give the rewards of the step that ended a round, in the measure of the option `reward`."""
        players = self.num_players
        if self.options["reward"] == "margin":
            rewards = []
            for player in range(players):
                others = [self.round_points[other] for other in range(players) if other != player]
                rewards.append((sum(others) / len(others) - self.round_points[player]) / 100)
            return rewards
        if self.phase != "OVER":
            return [0.0] * players
        winners = self.winners
        shares = [players / len(winners) - 1 if player in winners else -1.0 for player in range(players)]
        return [share / (players - 1) for share in shares]

    # The next round (S3, S4, S5)

    def start_round(self, position):
        """Go on from the freshly dealt position of the next round. Raises ValueError if the deal breaks a rule."""
        if self.phase != "DEAL":
            raise ValueError(f"no round is to be dealt in {self.phase}")
        dealer = (self.dealer + 1) % self.num_players
        first = (dealer + 1) % self.num_players
        turned = position["discard_pile"]
        demands = {
            "the options stay": self._read_options(position.get("config", {})) == self.options,
            "one hand for each player": len(position["hands"]) == self.num_players,
            "the deal passes left (S3)": position["dealer"] == dealer,
            "the player left of the dealer begins (S3)": position["current_player"] == position["turn_player"] == first,
            "the hands have their size (S4)": all(len(hand) == self.options["hand_size"] for hand in position["hands"]),
            "the first discard is a natural (S5)": len(turned) > 0 and is_natural(turned[-1]),
            "only other cards are skipped (S5)": not any(is_natural(card) for card in turned[:-1]),
            "the table is empty": position["piles"] == [] and position["held"] is None,
            "the rounds are counted": position["round"] == self.round + 1,
            "the turns start again (S11)": position["turn"] == 0,
            "the totals are kept": list(position["totals"]) == self.totals,
            "the round begins with a draw (S6)": position["phase"] == "DRAW",
        }
        broken = [demand for demand, kept in demands.items() if not kept]
        if broken:
            raise ValueError(f"not a deal of the next round: {'; '.join(broken)}")
        NaiveSting.from_dict(position)  # refuses cards that do not add up before anything changes
        rewards = self.rewards
        self._set_position(position)
        self.rewards = rewards


def comparable(position):
    """Give what two plays of one game must agree on: all of a position but the options and the engine's own notes.

    Hands and sets have no order and are sorted.
    """
    compared = {key: value for key, value in position.items() if key not in ("config", "pending")}
    compared["hands"] = [in_kind_order(hand) for hand in position["hands"]]
    compared["piles"] = [
        {**pile, "cards": in_kind_order(pile["cards"]) if pile["kind"] == "set" else list(pile["cards"])}
        for pile in position["piles"]
    ]
    return compared
