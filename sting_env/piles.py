"""Sets and runs on the table (S12-S20): the shape of a pile, what it accepts, what can be substituted.

A run is written by the cells low..high of its colour (numbers less one, 0..9), a set by its number and size; naturals are
bits. What a pile accepts is kept as one integer: bits 0..39 are the naturals that can be added, the bits above say
whether and where a wild can.
"""

from __future__ import annotations

import numpy as np

from tabletop.bits import count_word
from tabletop.jit import kernel

NUM_COLOURS, NUM_NUMBERS = 4, 10
NUM_NATURALS = NUM_COLOURS * NUM_NUMBERS
NATURAL_BITS = (1 << NUM_NATURALS) - 1
ROW_BITS = (1 << NUM_NUMBERS) - 1
WILD, DOUBLE, TRIPLE, SUPER = 0, 1, 2, 3  # kinds of wild, counted from the card kind of the Wild Sting
NUM_WILDS = 4

SET, RUN = 0, 1
SET_LIMIT = 4  # cards in a set (S12)
MIN_CARDS = 3  # in any pile (S12)

WILD_IN_SET = 1 << NUM_NATURALS  # a set takes a wild
WILD_LOW = 1 << (NUM_NATURALS + 1)  # a run takes a wild at its low end
WILD_HIGH = 1 << (NUM_NATURALS + 2)  # at its high end
BRIDGE_LOW = 1 << (NUM_NATURALS + 3)  # a wild at the low end only with the next natural (S18)
BRIDGE_HIGH = 1 << (NUM_NATURALS + 4)
TAKES_WILD = WILD_IN_SET | WILD_LOW | WILD_HIGH
BRIDGES = BRIDGE_LOW | BRIDGE_HIGH


@kernel
def popcount(x):
    """Return the number of bits set in a non-negative int64."""
    return count_word(np.uint64(x))


@kernel
def wild_limit(size):
    """Return how many wilds a pile of `size` cards may hold (S13)."""
    if size >= 7:
        return 3
    if size >= 4:
        return 2
    return 1


@kernel
def pile_size(s, i):
    """Return the number of cards in pile i."""
    return s.pile_high[i] - s.pile_low[i] + 1


@kernel
def num_wilds(s, i):
    """Return how many wilds pile i holds."""
    return pile_size(s, i) - popcount(np.int64(s.pile_naturals[i]))


@kernel
def holds_super(s, i):
    """Tell whether pile i is fixed to its owner by a Super (S20)."""
    return s.pile_wilds[i, SUPER] > 0


@kernel
def code_of_wild(wild):
    """Return how a wild is written in a cell of a run: what it multiplies by, -1 for a Super."""
    return -1 if wild == SUPER else wild + 1


@kernel
def wild_of_code(code):
    """Return the kind of wild written as `code`, the inverse of `code_of_wild`."""
    return SUPER if code < 0 else code - 1


@kernel
def set_accepts(number, colours, size, wilds):
    """Return what a set takes (S12, S13, S17); `number` 0..9, `colours` the bits of its naturals."""
    if size >= SET_LIMIT:
        return 0
    accepts = 0
    for colour in range(NUM_COLOURS):
        if (colours >> colour) & 1 == 0:
            accepts |= 1 << (colour * NUM_NUMBERS + number)
    if wilds + 1 <= wild_limit(size + 1):
        accepts |= WILD_IN_SET
    return accepts


@kernel
def run_accepts(colour, low, high, naturals):
    """Return what a run takes at its ends (S12-S14, S17, S18); `naturals` the bits of its cells with a natural."""
    size = high - low + 1
    wilds = size - popcount(naturals)
    fits = wilds + 1 <= wild_limit(size + 1)
    # S18: the wild alone breaks only the limit of S13, with the next natural beyond it the limit is kept.
    bridges = (not fits) and wilds + 1 <= wild_limit(size + 2)
    accepts = 0
    if low > 0:
        accepts |= 1 << (colour * NUM_NUMBERS + low - 1)
        if (naturals >> low) & 1:
            if fits:
                accepts |= WILD_LOW
            elif bridges and low > 1:
                accepts |= BRIDGE_LOW
    if high < NUM_NUMBERS - 1:
        accepts |= 1 << (colour * NUM_NUMBERS + high + 1)
        if (naturals >> high) & 1:
            if fits:
                accepts |= WILD_HIGH
            elif bridges and high < NUM_NUMBERS - 2:
                accepts |= BRIDGE_HIGH
    return accepts


@kernel
def low_bridge(s, i):
    """Return the natural that S18 needs beyond a wild at the low end of run i."""
    return np.int64(s.pile_suit[i]) * NUM_NUMBERS + s.pile_low[i] - 2


@kernel
def high_bridge(s, i):
    """Return the natural that S18 needs beyond a wild at the high end of run i."""
    return np.int64(s.pile_suit[i]) * NUM_NUMBERS + s.pile_high[i] + 2


@kernel
def replaceable(s, i):
    """Return the naturals that can take the place of a wild in pile i, as bits (S15, S22)."""
    naturals = np.int64(s.pile_naturals[i])
    suit = np.int64(s.pile_suit[i])
    if s.pile_kind[i] == RUN:
        replaces = 0
        for cell in range(s.pile_low[i], s.pile_high[i] + 1):
            if s.pile_cells[i, cell] > 0:
                replaces |= 1 << (suit * NUM_NUMBERS + cell)
        return replaces
    replaces = 0
    if s.pile_wilds[i, WILD] + s.pile_wilds[i, DOUBLE] + s.pile_wilds[i, TRIPLE] > 0:
        for colour in range(NUM_COLOURS):
            if (naturals >> colour) & 1 == 0:
                replaces |= 1 << (colour * NUM_NUMBERS + suit)
    return replaces


@kernel
def accepts_after(s, i, natural):
    """Return what pile i would take once `natural` has replaced a wild in it (S22)."""
    naturals = np.int64(s.pile_naturals[i])
    suit = np.int64(s.pile_suit[i])
    if s.pile_kind[i] == RUN:
        filled = naturals | (1 << (natural % NUM_NUMBERS))
        return run_accepts(suit, np.int64(s.pile_low[i]), np.int64(s.pile_high[i]), filled)
    filled = naturals | (1 << (natural // NUM_NUMBERS))
    return set_accepts(suit, filled, np.int64(pile_size(s, i)), np.int64(num_wilds(s, i)) - 1)


@kernel
def accepted(s, i):
    """Return what pile i takes."""
    naturals = np.int64(s.pile_naturals[i])
    suit = np.int64(s.pile_suit[i])
    if s.pile_kind[i] == RUN:
        return run_accepts(suit, np.int64(s.pile_low[i]), np.int64(s.pile_high[i]), naturals)
    return set_accepts(suit, naturals, np.int64(pile_size(s, i)), np.int64(num_wilds(s, i)))


@kernel
def pile_points(config, s, i):
    """Return the points of pile i (S29, S31)."""
    size = np.int64(pile_size(s, i))
    points = size
    if config.face_values:
        naturals = np.int64(s.pile_naturals[i])
        points = size - popcount(naturals)
        if s.pile_kind[i] == RUN:
            for cell in range(NUM_NUMBERS):
                if (naturals >> cell) & 1:
                    points += cell + 1
        else:
            points += popcount(naturals) * (np.int64(s.pile_suit[i]) + 1)
    doubles = np.int64(s.pile_wilds[i, DOUBLE])
    triples = np.int64(s.pile_wilds[i, TRIPLE])
    if not config.stack_multipliers:
        doubles = min(doubles, 1)
        triples = min(triples, 1)
    for _ in range(doubles):
        points *= 2
    for _ in range(triples):
        points *= 3
    return points


@kernel
def refresh_pile(config, s, i):
    """Bring what is kept about pile i up to date after it changed."""
    s.pile_points[i] = pile_points(config, s, i)
    s.pile_accepts[i] = accepted(s, i)
    s.pile_replaces[i] = replaceable(s, i)
    accepts = 0
    replaces = 0
    for j in range(s.num_piles):
        accepts |= s.pile_accepts[j]
        replaces |= s.pile_replaces[j]
    s.accepts = accepts
    s.replaces = replaces
