"""Sting, the rules for one record, compiled.

Source: Sting (International Games, 1984), as read in the rules document; every rule has an id there, S1 to S33, cited
where it acts. S1-S5 cards and deal, S6-S11 turn, S12-S20 sets and runs (`piles`), S21-S23 discard pile and substitution,
S24-S27 word cards, S28-S33 scoring. `s` is one record of STATE, `config` a StingRules.

Letters: P = 6 seats, K = 46 kinds of card, L = 30 piles at most (92 cards can lie in piles, 3 to a pile).
Kinds: naturals 0..39 (colour*10 + number-1), 40 Wild, 41 Double, 42 Triple, 43 Super, 44 Pass-a-Pile, 45 Take-it-Back.
"""

from __future__ import annotations

from enum import IntEnum

import numpy as np

from sting_env.config import MAX_PLAYERS, UNLIMITED
from sting_env.piles import (
    BRIDGE_HIGH,
    BRIDGE_LOW,
    BRIDGES,
    NATURAL_BITS,
    NUM_COLOURS,
    NUM_NATURALS,
    NUM_NUMBERS,
    NUM_WILDS,
    ROW_BITS,
    RUN,
    SET,
    SUPER,
    TAKES_WILD,
    WILD_HIGH,
    WILD_LOW,
    accepts_after,
    code_of_wild,
    high_bridge,
    holds_super,
    low_bridge,
    popcount,
    refresh_pile,
    wild_of_code,
)
from tabletop import bits
from tabletop.jit import kernel
from tabletop.seeding import DEAL, below, derive, shuffle
from tabletop.state import NO_PLAYER, state_dtype

# Constants -------------------------------------------------------------------------------------------------------------

NUM_KINDS = 46
FIRST_WILD = NUM_NATURALS
PASS_A_PILE, TAKE_IT_BACK = 44, 45
NUM_CARDS = 104
MAX_PILES = 30
NOTHING = -1  # no card held, no pending answer, nobody
DEALER_STREAM = 1 << 32  # stream index of the first dealer, beyond any round's


class Phase(IntEnum):
    """What kind of decision the current player faces."""

    DRAW = 0
    PLAY = 1
    WILD = 2
    SEAT = 3
    PILE = 4
    END = 5
    RESPOND = 6
    OVER = 7


# Actions: named sections, each starting where the one before ends -------------------------------------------------------

SET_PATTERNS = 10  # s 0..3: three naturals, colour s left out; 4..9: a pair of colours and a wild
RUN_LOWS = NUM_NUMBERS - 2
RUN_PATTERNS = 4  # w 0: three naturals; 1..3: a wild in that place

DRAW, NUM_DRAW = 0, 2
SETS, NUM_SETS = DRAW + NUM_DRAW, NUM_NUMBERS * SET_PATTERNS
RUNS, NUM_RUNS = SETS + NUM_SETS, NUM_COLOURS * RUN_LOWS * RUN_PATTERNS
ADD, NUM_ADD = RUNS + NUM_RUNS, NUM_NATURALS + NUM_WILDS
SUBSTITUTE, NUM_SUBSTITUTE = ADD + NUM_ADD, NUM_NATURALS
TAKE, NUM_TAKE = SUBSTITUTE + NUM_SUBSTITUTE, 1
PASS, NUM_PASS = TAKE + NUM_TAKE, 1
DISCARD, NUM_DISCARD = PASS + NUM_PASS, NUM_KINDS
WILD, NUM_WILD = DISCARD + NUM_DISCARD, NUM_WILDS
SEAT, NUM_SEAT = WILD + NUM_WILD, MAX_PLAYERS - 1
PILE, NUM_PILE = SEAT + NUM_SEAT, MAX_PILES
END, NUM_END = PILE + NUM_PILE, 2
RESPOND, NUM_RESPOND = END + NUM_END, 2
NUM_ACTIONS = RESPOND + NUM_RESPOND

DRAW_ONE, DRAW_TWO = DRAW, DRAW + 1
ACCEPT, RETURN = RESPOND, RESPOND + 1
LOW, HIGH = 0, 1

# State ------------------------------------------------------------------------------------------------------------------

STATE = state_dtype(
    NUM_ACTIONS,
    MAX_PLAYERS,
    [
        ("hand_bits", "i8", (MAX_PLAYERS,)),  # kinds each seat holds at least one of, bit = kind
        ("accepts", "i8"),  # union of pile_accepts
        ("replaces", "i8"),  # union of pile_replaces
        ("pile_accepts", "i8", (MAX_PILES,)),  # what a pile takes (piles.accepted)
        ("pile_replaces", "i8", (MAX_PILES,)),  # naturals that can replace a wild in it (piles.replaceable)
        ("play", "i8"),  # PLAY action being asked about, NOTHING between plays; wide, as bits are shifted by it
        ("totals", "i4", (MAX_PLAYERS,)),  # points of the rounds scored
        ("round_points", "i4", (MAX_PLAYERS,)),  # points of the last round scored
        ("turn", "i4"),  # completed turns of this round
        ("pile_naturals", "i2", (MAX_PILES,)),  # run: bits of the cells with a natural; set: bits of its colours
        ("pile_points", "i2", (MAX_PILES,)),  # what it scores (piles.pile_points)
        ("rounds_done", "i2"),  # rounds scored before this one
        ("reshuffles", "i2"),  # of the discard pile in this round
        ("hand", "u1", (MAX_PLAYERS, NUM_KINDS)),  # cards of each kind in each hand
        ("hand_size", "u1", (MAX_PLAYERS,)),  # cards in each hand
        ("shown", "u1", (NUM_KINDS,)),  # cards face up: discard pile, piles, held
        ("discarded", "u1", (NUM_KINDS,)),  # cards in the discard pile
        ("draw_stack", "u1", (NUM_CARDS,)),  # undrawn cards; seat p's stack is draw_low[p]:draw_high[p], next one last
        ("draw_low", "u1", (MAX_PLAYERS,)),
        ("draw_high", "u1", (MAX_PLAYERS,)),
        ("draw_size", "u1"),  # cards in all the stacks
        ("discard", "u1", (NUM_CARDS,)),  # discard pile, top last
        ("discard_size", "u1"),
        ("held", "i1"),  # kind held (S21, S22), NOTHING if none
        ("chosen_wild", "i1"),  # answers to the questions about `play`, NOTHING until given
        ("chosen_pile", "i1"),
        ("chosen_end", "i1"),
        ("chosen_seat", "i1"),  # rel 1..5
        ("turn_player", "i1"),  # whose turn it is
        ("dealer", "i1"),
        ("passer", "i1"),  # who played the Pass-a-Pile being answered, NOTHING if none
        ("receiver", "i1"),  # to whom
        ("first_out", "i1"),  # who emptied a hand first during a pass (S27), NOTHING if nobody
        ("last_out", "i1"),  # who went out in the last round scored, NOTHING if it ended blocked or none was
        ("num_piles", "i1"),
        ("pile_owner", "i1", (MAX_PILES,)),  # seat
        ("pile_kind", "i1", (MAX_PILES,)),  # SET or RUN
        ("pile_suit", "i1", (MAX_PILES,)),  # run: colour 0..3; set: number less one, 0..9
        ("pile_low", "i1", (MAX_PILES,)),  # run: lowest cell 0..9; set: 0
        ("pile_high", "i1", (MAX_PILES,)),  # run: highest cell; set: cards less one
        ("pile_wilds", "i1", (MAX_PILES, NUM_WILDS)),  # how many of each kind
        ("pile_cells", "i1", (MAX_PILES, NUM_NUMBERS)),  # run: the wild in each cell (piles.code_of_wild), 0 if none
    ],
)

# Tables -----------------------------------------------------------------------------------------------------------------


def make_deck() -> np.ndarray:
    """Return the 104 cards by kind, naturals first (S2)."""
    copies = [2] * NUM_NATURALS + [4, 4, 2, 2] + [8, 4]
    return np.repeat(np.arange(NUM_KINDS), copies).astype(np.uint8)


def make_hand_points() -> np.ndarray:
    """Return what a card of each kind costs in hand, naturals at 1 (S30)."""
    return np.array([1] * NUM_NATURALS + [5, 10, 15, 5] + [1, 1], np.int64)


def make_spread(width: int, stride: int) -> np.ndarray:
    """Return for every integer of `width` bits the integer with bit i moved to bit i * stride."""
    values = np.arange(1 << width)
    return np.array([sum(((int(v) >> i) & 1) << (i * stride) for i in range(width)) for v in values], np.int64)


DECK = make_deck()
COPIES = np.bincount(DECK, minlength=NUM_KINDS)
HAND_POINTS = make_hand_points()
SPREAD_SETS = make_spread(NUM_NUMBERS // 2, SET_PATTERNS)  # half the numbers at a time, to stay in one integer
SPREAD_RUNS = make_spread(RUN_LOWS, RUN_PATTERNS)
HALF = NUM_NUMBERS // 2
HALF_BITS = (1 << HALF) - 1
RUN_LOW_BITS = (1 << RUN_LOWS) - 1
PAIR_FIRST = np.array([0, 0, 0, 1, 1, 2])  # colours of set patterns 4..9
PAIR_SECOND = np.array([1, 2, 3, 2, 3, 3])
WILD_KINDS = 0b1111 << FIRST_WILD
MATCH_IN_HAND = (1 << NUM_KINDS) - 1


# Small questions --------------------------------------------------------------------------------------------------------


@kernel
def left_of(s, seat):
    """Return the seat to the left (S1)."""
    return (seat + 1) % s.num_players


@kernel
def row(cards, colour):
    """Return the numbers of one colour among `cards`, as 10 bits."""
    return (cards >> (colour * NUM_NUMBERS)) & ROW_BITS


@kernel
def is_natural(kind):
    """Tell whether a kind is a numbered card."""
    return kind < NUM_NATURALS


@kernel
def is_wild(kind):
    """Tell whether a kind is one of the four Sting cards."""
    return NUM_NATURALS <= kind < PASS_A_PILE


@kernel
def top_of_discard(s):
    """Return the kind on top of the discard pile; there always is one."""
    return np.int64(s.discard[s.discard_size - 1])


@kernel
def spare_cards(config, s, seat):
    """Return how many cards may leave a hand by plays (S10: under discard_to_go_out the last one may not)."""
    return np.int64(s.hand_size[seat]) - (1 if config.discard_to_go_out else 0)


@kernel
def drawable(s):
    """Return how many cards can be drawn (S6)."""
    return np.int64(s.draw_size) + max(0, np.int64(s.discard_size) - 1)


@kernel
def pattern_has_wild(play):
    """Tell whether a set or run action lays a wild."""
    if play < RUNS:
        return (play - SETS) % SET_PATTERNS >= NUM_COLOURS
    return (play - RUNS) % RUN_PATTERNS > 0


@kernel
def pattern_naturals(play):
    """Return the naturals that a set or run action lays, as bits."""
    if play < RUNS:
        number = (play - SETS) // SET_PATTERNS
        pattern = (play - SETS) % SET_PATTERNS
        if pattern >= NUM_COLOURS:
            first = PAIR_FIRST[pattern - NUM_COLOURS] * NUM_NUMBERS + number
            second = PAIR_SECOND[pattern - NUM_COLOURS] * NUM_NUMBERS + number
            return (1 << first) | (1 << second)
        naturals = 0
        for colour in range(NUM_COLOURS):
            if colour != pattern:
                naturals |= 1 << (colour * NUM_NUMBERS + number)
        return naturals
    place = (play - RUNS) % RUN_PATTERNS
    low = (play - RUNS) // RUN_PATTERNS % RUN_LOWS
    colour = (play - RUNS) // (RUN_PATTERNS * RUN_LOWS)
    cells = 0b111
    if place > 0:
        cells &= ~(1 << (place - 1))
    return cells << (colour * NUM_NUMBERS + low)


@kernel
def lays_with_wild(cards):
    """Tell whether two naturals of `cards` and a wild make a pile (S12, S13)."""
    seen = 0
    for colour in range(NUM_COLOURS):
        numbers = row(cards, colour)
        if numbers & seen or numbers & (numbers >> 1) or numbers & (numbers >> 2):
            return True
        seen |= numbers
    return False


@kernel
def lays_with_natural(cards, natural):
    """Tell whether `natural` and two of `cards`, one of which may be a wild, make a pile (S12, S13)."""
    colour = natural // NUM_NUMBERS
    number = natural % NUM_NUMBERS
    same_number = 0
    for other in range(NUM_COLOURS):
        if other != colour:
            same_number += (cards >> (other * NUM_NUMBERS + number)) & 1
    near = ((row(cards, colour) << 2) >> number) & 0b11011  # number-2, number-1, itself, number+1, number+2
    if cards & WILD_KINDS and (same_number > 0 or near != 0):
        return True
    in_run = (near & 0b00011) == 0b00011 or (near & 0b01010) == 0b01010 or (near & 0b11000) == 0b11000
    return same_number >= 2 or in_run


@kernel
def bridge_in_hand(s, cards, skip):
    """Tell whether a wild can be added to a pile other than `skip` together with a natural of `cards` (S18)."""
    if s.accepts & BRIDGES == 0:
        return False
    for i in range(s.num_piles):
        if i != skip:
            accepts = s.pile_accepts[i]
            if accepts & BRIDGE_LOW and (cards >> low_bridge(s, i)) & 1:
                return True
            if accepts & BRIDGE_HIGH and (cards >> high_bridge(s, i)) & 1:
                return True
    return False


@kernel
def can_place_natural(s, cards, spare, natural):
    """Tell whether a held natural could be placed (S21)."""
    if (s.accepts >> natural) & 1:
        return True
    return spare >= 2 and lays_with_natural(cards, natural)


@kernel
def can_place_wild(s, cards, spare):
    """Tell whether a held wild could be placed (S21, S22)."""
    if s.accepts & TAKES_WILD:
        return True
    if spare >= 2 and lays_with_wild(cards):
        return True
    return spare >= 1 and bridge_in_hand(s, cards, NOTHING)


@kernel
def can_take(config, s, seat):
    """Tell whether the top of the discard pile may be taken (S21)."""
    if s.discard_size == 0:
        return False
    top = top_of_discard(s)
    spare = spare_cards(config, s, seat)
    if is_natural(top):
        return can_place_natural(s, s.hand_bits[seat], spare, top)
    return is_wild(top) and can_place_wild(s, s.hand_bits[seat], spare)


@kernel
def can_substitute(config, s, seat, i, natural):
    """Tell whether `natural` may take a wild out of pile i that can then be placed (S22)."""
    if (s.pile_replaces[i] >> natural) & 1 == 0:
        return False
    # A pile takes no less once a wild in it is replaced, so any pile that takes a wild now still will.
    if s.accepts & TAKES_WILD or accepts_after(s, i, natural) & TAKES_WILD:
        return True
    cards = s.hand_bits[seat]
    if s.hand[seat, natural] == 1:
        cards &= ~(1 << natural)
    spare = spare_cards(config, s, seat) - 1
    if spare >= 2 and lays_with_wild(cards):
        return True
    return spare >= 1 and bridge_in_hand(s, cards, i)


@kernel
def can_pass(config, s, seat):
    """Tell whether a Pass-a-Pile can be played (S24)."""
    return s.hand[seat, PASS_A_PILE] > 0 and spare_cards(config, s, seat) >= 1 and passable_piles(s, seat) != 0


@kernel
def passable_piles(s, seat):
    """Return the piles in front of `seat` that hold no Super, as bits (S20, S24)."""
    piles = 0
    for i in range(s.num_piles):
        if s.pile_owner[i] == seat and not holds_super(s, i):
            piles |= 1 << i
    return piles


# Moving cards -----------------------------------------------------------------------------------------------------------


@kernel
def receive(s, seat, kind):
    """Put a card into a hand."""
    s.hand[seat, kind] += 1
    s.hand_bits[seat] |= 1 << kind
    s.hand_size[seat] += 1


@kernel
def part_with(s, seat, kind):
    """Take a card out of a hand, for all to see."""
    s.hand[seat, kind] -= 1
    if s.hand[seat, kind] == 0:
        s.hand_bits[seat] &= ~(1 << kind)
    s.hand_size[seat] -= 1
    s.shown[kind] += 1


@kernel
def put_on_discard(s, kind):
    """Put a card on the discard pile."""
    s.discard[s.discard_size] = kind
    s.discard_size += 1
    s.discarded[kind] += 1


@kernel
def discard_from_hand(s, seat, kind):
    """Discard a card of a hand, face up."""
    part_with(s, seat, kind)
    put_on_discard(s, kind)


@kernel
def spend(s, seat, kind):
    """Use the held card if it is of this kind, else one from the hand (S21)."""
    if s.held == kind:
        s.held = NOTHING
    else:
        part_with(s, seat, kind)


@kernel
def stack_undrawn(s, size):
    """Deal draw_stack[:size], already shuffled, into one stack for each seat (contract: draw order)."""
    start = 0
    for seat in range(s.num_players):
        stop = start + (size - seat + s.num_players - 1) // s.num_players
        s.draw_low[seat] = start
        s.draw_high[seat] = stop
        start = stop
    s.draw_size = size


@kernel
def stack_height(s, seat):
    """Return how many cards the stack of a seat holds."""
    return np.int64(s.draw_high[seat]) - np.int64(s.draw_low[seat])


@kernel
def pop_undrawn(s, seat):
    """Return the next card for `seat`: from its own stack, else from the far end of the longest other."""
    s.draw_size -= 1
    if stack_height(s, seat) > 0:
        s.draw_high[seat] -= 1
        return np.int64(s.draw_stack[s.draw_high[seat]])
    longest = seat
    for k in range(1, s.num_players):
        other = (seat + k) % s.num_players
        if stack_height(s, other) > stack_height(s, longest):
            longest = other
    card = np.int64(s.draw_stack[s.draw_low[longest]])
    s.draw_low[longest] += 1
    return card


@kernel
def turn_up(s, seat):
    """Turn an undrawn card face up onto the discard pile."""
    card = pop_undrawn(s, seat)
    s.shown[card] += 1
    put_on_discard(s, card)
    return card


@kernel
def reshuffle(s):
    """Make the discard pile the new draw pile and turn its top card (S7)."""
    size = np.int64(s.discard_size)
    for i in range(size):
        card = s.discard[i]
        s.draw_stack[i] = card
        s.shown[card] -= 1
    s.discard_size = 0
    s.discarded[:] = 0
    s.reshuffles += 1
    shuffle(derive(derive(s.rng_key, DEAL, s.rounds_done), DEAL, s.reshuffles), s.draw_stack, size)
    top = s.draw_stack[size - 1]
    s.shown[top] += 1
    put_on_discard(s, top)
    stack_undrawn(s, size - 1)


@kernel
def draw_card(s, seat):
    """Draw a card into a hand (S6, S7)."""
    if s.draw_size == 0:
        reshuffle(s)
    receive(s, seat, pop_undrawn(s, seat))


# DRAW (S6, S7) ----------------------------------------------------------------------------------------------------------


@kernel
def legal_draw(s):
    """S6: one, or two where two can be drawn."""
    bits.add(s.legal, DRAW_ONE)
    if drawable(s) >= 2:
        bits.add(s.legal, DRAW_TWO)


@kernel
def apply_draw(s, action):
    """S6: draw what was announced."""
    for _ in range(action - DRAW + 1):
        draw_card(s, s.current_player)
    s.phase = Phase.PLAY


@kernel
def start_turn(s, seat):
    """Begin a turn; where nothing can be drawn the draw is skipped (S6)."""
    s.turn_player = seat
    s.current_player = seat
    s.phase = Phase.DRAW if drawable(s) > 0 else Phase.PLAY


# PLAY (S8-S10, S16-S24) -------------------------------------------------------------------------------------------------


@kernel
def put_sets(s, cards, naturals_only, with_wild, must):
    """Write the new sets that `cards` make, with three naturals or with a wild; each holds `must` if it is a card."""
    rows0, rows1, rows2, rows3 = row(cards, 0), row(cards, 1), row(cards, 2), row(cards, 3)
    only0, only1, only2, only3 = ROW_BITS, ROW_BITS, ROW_BITS, ROW_BITS
    if must != NOTHING:  # a pattern without the colour of `must` is out, and so is every other number
        column = 1 << (must % NUM_NUMBERS)
        rows0, rows1, rows2, rows3 = rows0 & column, rows1 & column, rows2 & column, rows3 & column
        colour = must // NUM_NUMBERS
        only0 = ROW_BITS if colour == 0 else 0
        only1 = ROW_BITS if colour == 1 else 0
        only2 = ROW_BITS if colour == 2 else 0
        only3 = ROW_BITS if colour == 3 else 0
    low = 0
    high = 0
    if naturals_only:
        low, high = spread_set(low, high, rows1 & rows2 & rows3 & (only1 | only2 | only3), 0)
        low, high = spread_set(low, high, rows0 & rows2 & rows3 & (only0 | only2 | only3), 1)
        low, high = spread_set(low, high, rows0 & rows1 & rows3 & (only0 | only1 | only3), 2)
        low, high = spread_set(low, high, rows0 & rows1 & rows2 & (only0 | only1 | only2), 3)
    if with_wild:
        low, high = spread_set(low, high, rows0 & rows1 & (only0 | only1), 4)
        low, high = spread_set(low, high, rows0 & rows2 & (only0 | only2), 5)
        low, high = spread_set(low, high, rows0 & rows3 & (only0 | only3), 6)
        low, high = spread_set(low, high, rows1 & rows2 & (only1 | only2), 7)
        low, high = spread_set(low, high, rows1 & rows3 & (only1 | only3), 8)
        low, high = spread_set(low, high, rows2 & rows3 & (only2 | only3), 9)
    bits.put(s.legal, SETS, low)
    bits.put(s.legal, SETS + HALF * SET_PATTERNS, high)


@kernel
def spread_set(low, high, numbers, pattern):
    """Add one pattern of set for each of `numbers` to the two halves of the section."""
    return low | (SPREAD_SETS[numbers & HALF_BITS] << pattern), high | (SPREAD_SETS[numbers >> HALF] << pattern)


@kernel
def put_runs(s, cards, naturals_only, with_wild, must):
    """Write the new runs that `cards` make, with three naturals or with a wild; each holds `must` if it is a card."""
    for colour in range(NUM_COLOURS):
        if must != NOTHING and must // NUM_NUMBERS != colour:
            continue
        numbers = row(cards, colour)
        first, second, third = numbers, numbers >> 1, numbers >> 2  # bit = lowest number of the run
        in_first, in_second, in_third = ROW_BITS, ROW_BITS, ROW_BITS
        if must != NOTHING:
            place = (1 << (must % NUM_NUMBERS)) << 2
            in_first, in_second, in_third = place >> 2, place >> 3, place >> 4
        found = 0
        if naturals_only:
            runs = first & second & third & (in_first | in_second | in_third) & RUN_LOW_BITS
            found |= SPREAD_RUNS[runs]
        if with_wild:
            found |= SPREAD_RUNS[second & third & (in_second | in_third) & RUN_LOW_BITS] << 1
            found |= SPREAD_RUNS[first & third & (in_first | in_third) & RUN_LOW_BITS] << 2
            found |= SPREAD_RUNS[first & second & (in_first | in_second) & RUN_LOW_BITS] << 3
        bits.put(s.legal, RUNS + colour * RUN_LOWS * RUN_PATTERNS, found)


@kernel
def legal_play(config, s):
    """S8: whatever can be carried through."""
    seat = s.current_player
    cards = s.hand_bits[seat]
    spare = spare_cards(config, s, seat)
    if s.held != NOTHING:
        legal_placement(s, cards, spare)
        return
    if spare >= 3:
        with_wild = cards & WILD_KINDS != 0
        put_sets(s, cards, True, with_wild, NOTHING)
        put_runs(s, cards, True, with_wild, NOTHING)
    if spare >= 1:
        adds = cards & s.accepts & NATURAL_BITS
        wilds = cards & WILD_KINDS
        if wilds and (s.accepts & TAKES_WILD or (spare >= 2 and bridge_in_hand(s, cards, NOTHING))):
            adds |= wilds
        bits.put(s.legal, ADD, adds)
        if config.substitution:
            legal_substitute(config, s, cards)
    if can_take(config, s, seat):
        bits.add(s.legal, TAKE)
    if can_pass(config, s, seat):
        bits.add(s.legal, PASS)
    bits.put(s.legal, DISCARD, cards)


@kernel
def legal_placement(s, cards, spare):
    """S23: while a card is held only plays that place it."""
    held = np.int64(s.held)
    if is_natural(held):
        if spare >= 2:
            with_wild = cards & WILD_KINDS != 0
            put_sets(s, cards | (1 << held), True, with_wild, held)
            put_runs(s, cards | (1 << held), True, with_wild, held)
        if (s.accepts >> held) & 1:
            bits.add(s.legal, ADD + held)
    else:
        if spare >= 2:
            put_sets(s, cards, False, True, NOTHING)
            put_runs(s, cards, False, True, NOTHING)
        if s.accepts & TAKES_WILD or (spare >= 1 and bridge_in_hand(s, cards, NOTHING)):
            bits.add(s.legal, ADD + held)


@kernel
def legal_substitute(config, s, cards):
    """S22: naturals in hand for wilds that can then be placed."""
    candidates = cards & s.replaces
    if candidates == 0:
        return
    if s.accepts & TAKES_WILD:
        bits.put(s.legal, SUBSTITUTE, candidates)
        return
    seat = s.current_player
    for natural in range(NUM_NATURALS):
        if (candidates >> natural) & 1:
            for i in range(s.num_piles):
                if can_substitute(config, s, seat, i, natural):
                    bits.add(s.legal, SUBSTITUTE + natural)
                    break


@kernel
def apply_play(config, s, action):
    """Discard, take, or begin a play and ask what is still open about it."""
    seat = s.current_player
    if action >= DISCARD:
        discard_from_hand(s, seat, action - DISCARD)
        end_turn(config, s)
    elif action == TAKE:
        s.discard_size -= 1
        s.held = s.discard[s.discard_size]
        s.discarded[s.held] -= 1
    else:
        s.play = action
        if action == PASS:  # S24: the card moves at once
            discard_from_hand(s, seat, PASS_A_PILE)
            note_empty_hand(s, seat)
        continue_play(config, s)


@kernel
def continue_play(config, s):
    """Ask the next open question about the play, or carry it out (contract, section 3: WILD, PILE, WILD, END, SEAT)."""
    lays = s.play < ADD
    if lays and s.chosen_wild == NOTHING and pattern_has_wild(s.play):
        if s.held != NOTHING and is_wild(s.held):
            s.chosen_wild = s.held - FIRST_WILD
        elif asked(s, Phase.WILD, wild_options(s)):
            return
    if not lays and s.chosen_pile == NOTHING and asked(s, Phase.PILE, pile_options(config, s)):
        return
    if SUBSTITUTE <= s.play < TAKE and s.chosen_wild == NOTHING and asked(s, Phase.WILD, wild_options(s)):
        return
    if adds_wild_to_run(s) and s.chosen_end == NOTHING and asked(s, Phase.END, end_options(config, s)):
        return
    if (lays or s.play == PASS) and s.chosen_seat == NOTHING and asked(s, Phase.SEAT, seat_options(s)):
        return
    carry_out(config, s)


@kernel
def asked(s, phase, options):
    """Ask a question with several options and return True; answer one that has a single option and return False."""
    if popcount(options) > 1:
        s.phase = phase
        return True
    answer(s, phase, popcount(options - 1))
    return False


@kernel
def answer(s, phase, option):
    """Note the answer to a question about the play."""
    if phase == Phase.WILD:
        s.chosen_wild = option
    elif phase == Phase.PILE:
        s.chosen_pile = option
    elif phase == Phase.END:
        s.chosen_end = option
    else:
        s.chosen_seat = option + 1


@kernel
def adds_wild_to_run(s):
    """Tell whether the play adds a wild to a run."""
    return ADD + FIRST_WILD <= s.play < SUBSTITUTE and s.pile_kind[s.chosen_pile] == RUN


@kernel
def wild_options(s):
    """Return the kinds of wild that can be laid, or that can come out of the chosen pile, as bits (S22)."""
    if s.play < ADD:
        return (s.hand_bits[s.current_player] & WILD_KINDS) >> FIRST_WILD
    i = s.chosen_pile
    if s.pile_kind[i] == RUN:
        return 1 << wild_of_code(np.int64(s.pile_cells[i, (s.play - SUBSTITUTE) % NUM_NUMBERS]))
    options = 0
    for wild in range(SUPER):
        if s.pile_wilds[i, wild] > 0:
            options |= 1 << wild
    return options


@kernel
def pile_options(config, s):
    """Return the piles the play can be made on, as bits (S17, S18, S22, S24)."""
    seat = s.current_player
    if s.play == PASS:
        return passable_piles(s, seat)
    piles = 0
    for i in range(s.num_piles):
        if s.play >= SUBSTITUTE:
            possible = can_substitute(config, s, seat, i, s.play - SUBSTITUTE)
        elif s.play - ADD < NUM_NATURALS:
            possible = (s.pile_accepts[i] >> (s.play - ADD)) & 1 != 0
        else:
            possible = wild_ends(config, s, i) != 0
        if possible:
            piles |= 1 << i
    return piles


@kernel
def wild_ends(config, s, i):
    """Return the ends of pile i that take a wild, as bits LOW, HIGH; a set counts as its low end (S17, S18)."""
    accepts = s.pile_accepts[i]
    seat = s.current_player
    cards = s.hand_bits[seat]
    from_hand = 0 if s.held != NOTHING else 1
    ends = 0
    if accepts & (TAKES_WILD ^ WILD_HIGH):
        ends |= 1 << LOW
    if accepts & WILD_HIGH:
        ends |= 1 << HIGH
    if accepts & BRIDGES and spare_cards(config, s, seat) >= from_hand + 1:
        if accepts & BRIDGE_LOW and (cards >> low_bridge(s, i)) & 1:
            ends |= 1 << LOW
        if accepts & BRIDGE_HIGH and (cards >> high_bridge(s, i)) & 1:
            ends |= 1 << HIGH
    return ends


@kernel
def end_options(config, s):
    """Return the ends of the chosen run that take the wild, as bits LOW, HIGH (S17)."""
    return wild_ends(config, s, s.chosen_pile)


@kernel
def seat_options(s):
    """Return the opponents a pile can be given to, bit = rel - 1 (S16, S24)."""
    return (1 << (s.num_players - 1)) - 1


@kernel
def carry_out(config, s):
    """Carry out the play, all questions answered."""
    if s.play == PASS:
        offer_pile(s)
        return
    if s.play < ADD:
        lay_pile(config, s)
    elif s.play < SUBSTITUTE:
        add_card(config, s)
    else:
        substitute(config, s)
    forget_play(s)
    s.phase = Phase.PLAY
    if s.hand_size[s.current_player] == 0 and s.held == NOTHING:  # S10
        end_round(config, s, s.current_player)


@kernel
def forget_play(s):
    """Forget the play and the answers about it."""
    s.play = NOTHING
    s.chosen_wild = NOTHING
    s.chosen_pile = NOTHING
    s.chosen_end = NOTHING
    s.chosen_seat = NOTHING


@kernel
def lay_pile(config, s):
    """Lay three cards as a new pile in front of an opponent (S16)."""
    seat = s.current_player
    i = s.num_piles
    s.num_piles += 1
    s.pile_owner[i] = (seat + s.chosen_seat) % s.num_players
    naturals = pattern_naturals(s.play)
    for kind in range(NUM_NATURALS):
        if (naturals >> kind) & 1:
            spend(s, seat, kind)
    s.pile_wilds[i, :] = 0
    s.pile_cells[i, :] = 0
    if s.play < RUNS:
        s.pile_kind[i] = SET
        s.pile_suit[i] = (s.play - SETS) // SET_PATTERNS
        s.pile_low[i] = 0
        s.pile_naturals[i] = 0
        for colour in range(NUM_COLOURS):
            if row(naturals, colour):
                s.pile_naturals[i] |= 1 << colour
    else:
        s.pile_kind[i] = RUN
        s.pile_suit[i] = (s.play - RUNS) // (RUN_PATTERNS * RUN_LOWS)
        s.pile_low[i] = (s.play - RUNS) // RUN_PATTERNS % RUN_LOWS
        s.pile_naturals[i] = row(naturals, np.int64(s.pile_suit[i]))
    s.pile_high[i] = s.pile_low[i] + 2
    if s.chosen_wild != NOTHING:
        spend(s, seat, FIRST_WILD + np.int64(s.chosen_wild))
        s.pile_wilds[i, s.chosen_wild] = 1
        if s.play >= RUNS:
            place = (s.play - RUNS) % RUN_PATTERNS - 1
            s.pile_cells[i, s.pile_low[i] + place] = code_of_wild(s.chosen_wild)
    refresh_pile(config, s, i)


@kernel
def add_card(config, s):
    """Add a card to a pile (S17), a wild to a run end with the next natural where S18 asks for it."""
    seat = s.current_player
    i = s.chosen_pile
    kind = s.play - ADD
    if is_natural(kind):
        spend(s, seat, kind)
        add_natural(s, i, kind)
    else:
        wild = kind - FIRST_WILD
        s.pile_wilds[i, wild] += 1
        if s.pile_kind[i] == SET:
            s.pile_high[i] += 1
        elif s.chosen_end == LOW:
            bridge = NOTHING if s.pile_accepts[i] & WILD_LOW else low_bridge(s, i)
            s.pile_low[i] -= 1
            s.pile_cells[i, s.pile_low[i]] = code_of_wild(wild)
            add_bridge(s, seat, i, bridge)
        else:
            bridge = NOTHING if s.pile_accepts[i] & WILD_HIGH else high_bridge(s, i)
            s.pile_high[i] += 1
            s.pile_cells[i, s.pile_high[i]] = code_of_wild(wild)
            add_bridge(s, seat, i, bridge)
        spend(s, seat, kind)
    refresh_pile(config, s, i)


@kernel
def add_bridge(s, seat, i, natural):
    """Add the natural beyond a wild, if S18 asks for one."""
    if natural != NOTHING:
        part_with(s, seat, natural)
        add_natural(s, i, natural)


@kernel
def add_natural(s, i, natural):
    """Add a natural to pile i."""
    number = natural % NUM_NUMBERS
    if s.pile_kind[i] == SET:
        s.pile_naturals[i] |= 1 << (natural // NUM_NUMBERS)
        s.pile_high[i] += 1
    else:
        s.pile_naturals[i] |= 1 << number
        if number < s.pile_low[i]:
            s.pile_low[i] = number
        else:
            s.pile_high[i] = number


@kernel
def substitute(config, s):
    """Put a natural in the place of a wild, which is then held (S22)."""
    natural = s.play - SUBSTITUTE
    i = s.chosen_pile
    part_with(s, s.current_player, natural)
    s.pile_wilds[i, s.chosen_wild] -= 1
    if s.pile_kind[i] == SET:
        s.pile_naturals[i] |= 1 << (natural // NUM_NUMBERS)
    else:
        cell = natural % NUM_NUMBERS
        s.pile_naturals[i] |= 1 << cell
        s.pile_cells[i, cell] = 0
    s.held = FIRST_WILD + s.chosen_wild
    refresh_pile(config, s, i)


# RESPOND (S25-S27) ------------------------------------------------------------------------------------------------------


@kernel
def offer_pile(s):
    """Pass the chosen pile on and ask its receiver (S24, S25)."""
    s.passer = s.current_player
    s.receiver = (s.current_player + s.chosen_seat) % s.num_players
    s.pile_owner[s.chosen_pile] = s.receiver
    s.current_player = s.receiver
    s.phase = Phase.RESPOND


@kernel
def legal_respond(config, s):
    """S25: accept, or return with a Take-it-Back. Asked whether or not the card is there, so that asking tells nothing."""
    seat = s.current_player
    bits.add(s.legal, ACCEPT)
    if s.hand[seat, TAKE_IT_BACK] > 0 and spare_cards(config, s, seat) >= 1:
        bits.add(s.legal, RETURN)


@kernel
def apply_respond(config, s, action):
    """S25: pile and question go to and fro until one accepts; S27: then the round may end."""
    seat = s.current_player
    if action == RETURN:
        discard_from_hand(s, seat, TAKE_IT_BACK)
        note_empty_hand(s, seat)
        s.current_player = s.passer if seat == s.receiver else s.receiver
        s.pile_owner[s.chosen_pile] = s.current_player
        return
    s.current_player = s.passer
    s.passer = NOTHING
    s.receiver = NOTHING
    forget_play(s)
    s.phase = Phase.PLAY
    if s.first_out != NOTHING:
        end_round(config, s, s.first_out)


@kernel
def note_empty_hand(s, seat):
    """Remember who emptied a hand first during a pass (S27)."""
    if s.hand_size[seat] == 0 and s.first_out == NOTHING:
        s.first_out = seat


# End of turn, round and game (S9-S11, S28-S33) --------------------------------------------------------------------------


@kernel
def end_turn(config, s):
    """S9: the turn passes left, unless somebody is out (S10) or the round is blocked (S11)."""
    seat = s.current_player
    s.turn += 1
    if s.hand_size[seat] == 0:
        end_round(config, s, seat)
    elif s.turn >= config.max_turns:
        end_round(config, s, NOTHING)
    else:
        start_turn(s, left_of(s, seat))


@kernel
def hand_points(config, s, seat):
    """Return the points of a hand (S30, S31)."""
    points = 0
    for kind in range(NUM_KINDS):
        count = np.int64(s.hand[seat, kind])
        if count:
            if config.face_values and is_natural(kind):
                points += count * (kind % NUM_NUMBERS + 1)
            else:
                points += count * HAND_POINTS[kind]
    return points


@kernel
def end_round(config, s, out):
    """Score the round (S28): `out` is who is out, NOTHING if nobody is (S11). Then deal the next, or end the game."""
    s.last_out = out
    for seat in range(s.num_players):
        s.round_points[seat] = 0 if seat == out else hand_points(config, s, seat)
    for i in range(s.num_piles):
        owner = s.pile_owner[i]
        if owner != out:
            s.round_points[owner] += s.pile_points[i]
    s.rounds_done += 1
    total = 0
    reached = False
    for seat in range(s.num_players):
        s.totals[seat] += s.round_points[seat]
        total += s.round_points[seat]
        if config.target_score != UNLIMITED and s.totals[seat] >= config.target_score:
            reached = True
    if not config.reward_win:
        for seat in range(s.num_players):
            own = s.round_points[seat]
            reward(s, seat, ((total - own) / (s.num_players - 1) - own) / 100.0)
    if reached or (config.rounds != UNLIMITED and s.rounds_done >= config.rounds):  # S32
        end_game(config, s)
    else:
        s.dealer = left_of(s, s.dealer)  # S3
        deal_round(config, s)


@kernel
def reward(s, seat, value):
    """Pay a reward."""
    s.rewards[seat] += np.float32(value)
    s.returns[seat] += np.float32(value)


@kernel
def end_game(config, s):
    """S33: the lowest total wins, equal ones share."""
    s.phase = Phase.OVER
    s.current_player = NO_PLAYER
    if config.reward_win:
        lowest = s.totals[0]
        winners = 0
        for seat in range(s.num_players):
            lowest = min(lowest, s.totals[seat])
        for seat in range(s.num_players):
            if s.totals[seat] == lowest:
                winners += 1
        for seat in range(s.num_players):
            share = s.num_players / winners if s.totals[seat] == lowest else 0.0
            reward(s, seat, (share - 1.0) / (s.num_players - 1))


# The two dispatches -----------------------------------------------------------------------------------------------------


@kernel
def write_legal(config, s):
    """Write the legal actions of the current player into s.legal."""
    bits.clear(s.legal)
    phase = s.phase
    if phase == Phase.DRAW:
        legal_draw(s)
    elif phase == Phase.PLAY:
        legal_play(config, s)
    elif phase == Phase.WILD:
        bits.put(s.legal, WILD, wild_options(s))
    elif phase == Phase.SEAT:
        bits.put(s.legal, SEAT, seat_options(s))
    elif phase == Phase.PILE:
        bits.put(s.legal, PILE, pile_options(config, s))
    elif phase == Phase.END:
        bits.put(s.legal, END, end_options(config, s))
    elif phase == Phase.RESPOND:
        legal_respond(config, s)


@kernel
def apply(config, s, action):
    """Carry out a legal action of the current player, up to the next decision."""
    phase = s.phase
    if phase == Phase.DRAW:
        apply_draw(s, action)
    elif phase == Phase.PLAY:
        apply_play(config, s, action)
    elif phase == Phase.RESPOND:
        apply_respond(config, s, action)
    else:
        if phase == Phase.WILD:
            answer(s, phase, action - WILD)
        elif phase == Phase.SEAT:
            answer(s, phase, action - SEAT)
        elif phase == Phase.PILE:
            answer(s, phase, action - PILE)
        else:
            answer(s, phase, action - END)
        continue_play(config, s)
    write_legal(config, s)


# The deal (S3-S5) -------------------------------------------------------------------------------------------------------


@kernel
def deal(config, s):
    """Begin a game: a random dealer (S3) and the first round."""
    s.dealer = below(derive(s.rng_key, DEAL, DEALER_STREAM), 0, s.num_players)
    s.last_out = NOTHING
    s.rounds_done = 0
    deal_round(config, s)
    write_legal(config, s)


@kernel
def clear_table(s):
    """Take up everything from the table and the hands."""
    s.hand[:, :] = 0
    s.hand_bits[:] = 0
    s.hand_size[:] = 0
    s.shown[:] = 0
    s.discarded[:] = 0
    s.discard_size = 0
    s.num_piles = 0
    s.accepts = 0
    s.replaces = 0
    s.reshuffles = 0
    s.turn = 0
    s.held = NOTHING
    s.passer = NOTHING
    s.receiver = NOTHING
    s.first_out = NOTHING
    forget_play(s)


@kernel
def deal_round(config, s):
    """Shuffle, deal the hands (S4), turn up the first natural (S5); left of the dealer begins (S3)."""
    clear_table(s)
    size = NUM_CARDS if config.special_cards else 2 * NUM_NATURALS
    for i in range(size):
        s.draw_stack[i] = DECK[i]
    shuffle(derive(s.rng_key, DEAL, s.rounds_done), s.draw_stack, size)
    for seat in range(s.num_players):
        for _ in range(config.hand_size):
            size -= 1
            receive(s, seat, np.int64(s.draw_stack[size]))
    turned = NUM_KINDS
    while not is_natural(turned):
        size -= 1
        turned = np.int64(s.draw_stack[size])
        s.shown[turned] += 1
        put_on_discard(s, turned)
    stack_undrawn(s, size)
    start_turn(s, left_of(s, s.dealer))
