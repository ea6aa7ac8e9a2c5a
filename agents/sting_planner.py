"""How the bot `planner` of Sting chooses: it searches its whole turn and weighs where each way to end it would leave it.

A *node* is a point of the turn: the hand, the card held, the piles. Every play of S16-S24 leads from a node to another,
and a node without a held card can be left by a discard (S9). The most promising node is followed first, until there are
MAX_NODES; then the first play towards the best end is made. The bot keeps no memory, so at its next decision it plans
again from there.

An end of a turn is weighed by FEATURES: how much is left in hand and how much of it could be played at once, what the
hand costs and may still become, what the table and the discard offer the others, what lies in front of whom. Two sets of
weights for each number of players: one plays for going out, where a single round is the game, the other for points.
They were fitted to the ends of turns in 50,000 rounds and more for each number of players, one play in ten at random: a
logistic regression of who went out and a ridge regression of the margin, added up: for a round that is the game in the
proportion that wins most rounds at no loss of points, else in the one that wins most games. Those for a single round of
two players were then moved by an evolution strategy towards what beat `greedy` by more, which helped nowhere else.
`analysis.fit_planner` makes such fits, for other rules too.

What measuring showed: a card that can be played next turn is as good as played while nobody is about to go out, so that
who plays for going out alone holds much back, and pays for it in points; piles for whoever has the fewest points in
all win games of several rounds.
"""

from __future__ import annotations

import numpy as np

from agents import sting_choices
from agents.reading import lowest, place_of, players_of
from agents.sting_choices import replaces
from sting_env.observation import COLOUR, FIXED, KIND, NATURAL, OWNER, POINTS, SIZE, WILD_CELL, WILD_COUNT
from sting_env.piles import (
    BRIDGE_HIGH,
    BRIDGE_LOW,
    NATURAL_BITS,
    NUM_COLOURS,
    NUM_NATURALS,
    NUM_NUMBERS,
    RUN,
    SET,
    SUPER,
    TAKES_WILD,
    WILD_HIGH,
    WILD_IN_SET,
    WILD_LOW,
    popcount,
    run_accepts,
    set_accepts,
)
from sting_env.rules import (
    ACCEPT,
    ADD,
    DISCARD,
    DRAW_ONE,
    DRAW_TWO,
    END,
    FIRST_WILD,
    HAND_POINTS,
    HIGH,
    LOW,
    MAX_PILES,
    NOTHING,
    NUM_ADD,
    NUM_KINDS,
    PAIR_FIRST,
    PAIR_SECOND,
    PASS,
    PASS_A_PILE,
    PILE,
    RETURN,
    RUN_LOWS,
    RUN_PATTERNS,
    RUNS,
    SEAT,
    SET_PATTERNS,
    SETS,
    SUBSTITUTE,
    TAKE,
    TAKE_IT_BACK,
    Phase,
    is_natural,
    is_wild,
    pattern_naturals,
    row,
)
from tabletop import bits
from tabletop.jit import entry, kernel, make_scratch
from tabletop.seeding import mix

PLANNER = 3  # bot number, after those of `sting_choices`
MAX_NODES = 32
DISCARDS_SEEN = 4  # cards of the discard pile that are known in order
OUT_NOW = 1000.0  # better than any other end
NO_END = -1.0e9  # a card is held (S23)

# Columns of a node: a point of the turn.
CARDS, TWICE = 0, 1  # bits of the kinds in hand, of those in hand twice or more
COUNT, WILDS, PASSES, BACKS = 2, 3, 4, 5  # cards in hand, all, wilds and word cards
COST = 6  # what the wilds in hand cost (S30)
HELD = 7  # kind held, NOTHING if none
TAKEN = 8  # cards taken from the discard pile
PILES = 9
KEY = 10  # sum over the plays made: the same plays in another order lead to the same node
FIRST = 11  # action that led away from the root
BEST_DISCARD = 12
OPEN = 13  # 1 until followed
NODE_COLUMNS = 14

# Columns of a pile in a node.
SORT, SUIT, BOTTOM, TOP, NATURALS = 0, 1, 2, 3, 4  # as in `rules.STATE`: kind, suit, low, high, naturals
MOVES = 5  # 1 if it holds no Super
OWN = 6  # 1 if it lies in front of the observer
FACTOR, BASE = 7, 8  # points are their product (S29)
ACCEPTS, REPLACES = 9, 10  # what it takes, which naturals get a wild out of it (S17, S22)
NAME = 11  # place on the table, or LAID + action for a pile of this turn
PILE_COLUMNS = 12
LAID = 64

# Columns of what is known beside the node.
UNSEEN_ONCE, UNSEEN_TWICE, UNSEEN, UNSEEN_WILDS = 0, 1, 2, 3  # bits of naturals; numbers of cards
NEXT_HAND, SMALLEST_HAND = 4, 5  # cards
FEW_OTHERS, MANY_OTHERS = 6, 7  # opponents beyond the next one with few cards, with more
PLAYABLE, WILD_PLACES, PASSABLE = 8, 9, 10  # naturals, bits; piles that take a wild; own piles that can be passed
KNOWN_COLUMNS = 11
FEW = 2  # cards of somebody who may soon be out

# Features of the end of a turn, each section starting where the one before ends: one-hot ones, of which a weight is looked
# up, then those of the hand that is left and the card discarded, then those of the table.
LEFT, NUM_LEFT = 0, 12  # one-hot: 1 to 12 or more cards in hand
LOOSE, NUM_LOOSE = LEFT + NUM_LEFT, 10  # one-hot: 0 to 9 or more cards that could not be played now
HAND = LOOSE + NUM_LOOSE
WILDS_LEFT, COST_LEFT, PASSES_LEFT, BACKS_LEFT = range(HAND, HAND + 4)  # cost in tens
OUTS = BACKS_LEFT + 1  # share of the unseen cards that would make a pile of two cards in hand
LOOSE_PAIRS = OUTS + 1  # cards that could not be played but belong with another
WILDS_IN_DANGER = LOOSE_PAIRS + 1  # wilds in hand if somebody has few cards
COST_IN_DANGER, NUM_DANGER = WILDS_IN_DANGER + 1, 3  # cost, by the smallest other hand: 1, 2, 3 to 4 cards
LEFT_IN_DANGER = COST_IN_DANGER + NUM_DANGER  # cards left, in the same way
OUTS_NEAR = LEFT_IN_DANGER + NUM_DANGER  # as above, if NEAR or fewer are loose
OPEN_NEAR, POINTS_NEAR = OUTS_NEAR + 1, OUTS_NEAR + 2
POINTS_READY, COST_READY = POINTS_NEAR + 1, POINTS_NEAR + 2  # points if none is loose, cost if at most one is
TOP_PAIRS = COST_READY + 1  # how likely the next player lays the card discarded with two others
TOP_FITS, TOP_NATURAL, TOP_WILD = TOP_PAIRS + 1, TOP_PAIRS + 2, TOP_PAIRS + 3  # the table takes the card discarded
TABLE = TOP_WILD + 1
OPEN_TABLE = TABLE  # share of the unseen cards that are naturals the table takes
OPEN_TO_NEXT, NUM_OPEN_TO_NEXT = OPEN_TABLE + 1, 5  # the same, by the next hand: 1, 2, 3, 4 to 6, more cards
OPEN_TO_FEW = OPEN_TO_NEXT + NUM_OPEN_TO_NEXT  # the same, times further opponents with few cards
OPEN_TO_MANY = OPEN_TO_FEW + 1  # times those with more
WILDS_FIT = OPEN_TO_MANY + 1  # share of the unseen cards that are wilds, where the table takes one
WILDS_FIT_NEXT = WILDS_FIT + 1  # the same if the next hand is FEW cards
OWN_POINTS, OTHER_POINTS = WILDS_FIT_NEXT + 1, WILDS_FIT_NEXT + 2  # on the table, in tens
MOVABLE = OTHER_POINTS + 1  # own piles that can be passed
NUM_FEATURES = MOVABLE + 1
NEAR = 2  # loose cards
IN_EACH_COLOUR = sum(1 << (colour * NUM_NUMBERS) for colour in range(NUM_COLOURS))  # times a row's bits: in all rows
HIGHEST = IN_EACH_COLOUR << (NUM_NUMBERS - 1)
TOO_HIGH = HIGHEST | HIGHEST >> 1  # for the lowest of three
POINT_AHEAD = 10  # a point less in all burdens as much as so many cards more in hand
TWO_CARDS = 2

# By feature, in their order: for going out with 2 to 6 players, for points with 2 to 6 players.
# fmt: off
FITTED = {
    "1 card left":             ( 1.02,  1.98,  1.52,  1.21,  1.12,  1.21,  1.19,  1.19,  1.01,  0.93),
    "2 cards left":            ( 0.64,  1.25,  0.96,  0.89,  0.74,  0.79,  0.77,   0.8,  0.81,  0.76),
    "3 cards left":            ( 0.86,  1.16,  0.86,  0.76,  0.76,  0.78,  0.63,  0.65,  0.64,  0.68),
    "4 cards left":            ( 0.88,  0.55,  0.43,  0.45,  0.51,  0.33,  0.28,  0.32,  0.37,  0.46),
    "5 cards left":            ( 0.32, -0.17, -0.19, -0.05, -0.02, -0.02, -0.09,  -0.1,  0.01,  0.09),
    "6 cards left":            ( 0.27, -0.48, -0.34,  -0.3, -0.27,  -0.2, -0.26, -0.25, -0.21, -0.15),
    "7 cards left":            ( -0.4, -0.75, -0.55, -0.42, -0.38, -0.58, -0.41, -0.43, -0.35, -0.32),
    "8 cards left":            (-0.74, -1.58, -1.09, -0.96, -0.87, -0.96, -0.84, -0.78, -0.75, -0.74),
    "9 cards left":            (-1.65, -1.91, -1.34, -1.28, -1.13, -1.09,  -1.0, -0.99, -1.01, -0.95),
    "10 cards left":           (-1.11, -1.84, -1.33, -1.12, -1.08, -1.32, -0.96, -0.96, -0.89, -0.93),
    "11 cards left":           (  0.0,   0.0,   0.0,   0.0,   0.0,   0.0,   0.0,   0.0,   0.0,   0.0),
    "12 or more cards left":   (  0.0,   0.0,   0.0,   0.0,   0.0,   0.0,   0.0,   0.0,   0.0,   0.0),
    "0 loose":                 ( 2.08,   2.2,  1.56,  1.57,  1.55,  1.24,  1.01,  0.92,  0.84,  0.54),
    "1 loose":                 ( 0.76,  1.06,  0.96,  1.13,  1.13,  0.71,  0.59,  0.63,  0.64,  0.39),
    "2 loose":                 ( 0.29,  0.36,  0.54,  0.65,  0.72,  0.36,   0.3,   0.4,  0.39,  0.25),
    "3 loose":                 ( 0.37,  0.28,  0.38,  0.41,  0.37,  0.21,  0.22,  0.33,  0.31,  0.19),
    "4 loose":                 (-0.52, -0.26, -0.06, -0.05, -0.09, -0.19, -0.04,  0.05,  0.04,   0.0),
    "5 loose":                 (-0.56, -0.41, -0.23, -0.21, -0.24, -0.32, -0.15,  -0.1, -0.08, -0.05),
    "6 loose":                 (-1.14, -0.79, -0.55, -0.52, -0.48,  -0.5, -0.37, -0.32, -0.26, -0.14),
    "7 loose":                 (-0.75, -1.18, -0.92, -0.89, -0.82, -0.66, -0.58, -0.57, -0.48, -0.27),
    "8 loose":                 ( -1.9, -1.13, -1.09,  -1.2, -1.18,  -0.9, -0.59, -0.73, -0.72, -0.45),
    "9 or more loose":         (-1.88, -1.92, -1.67,  -1.7, -1.58, -1.01, -1.09, -1.16, -1.05, -0.62),
    "wilds left":              ( 1.04,  0.71,  0.39,  0.23,  0.24,  0.69,  0.25,  0.18,  0.09,  0.09),
    "cost of wilds left":      ( 0.41, -0.08, -0.01, -0.04, -0.18,   0.0,  0.04,  0.02, -0.05, -0.19),
    "Pass-a-Pile left":        ( 0.06,   0.4,  0.28,  0.17,   0.0,  0.24,  0.38,  0.29,  0.21,  0.11),
    "Take-it-Back left":       ( 0.05,  0.02,  0.01, -0.06, -0.28,  0.12,  0.16,  0.12,  0.07,  0.02),
    "outs":                    ( 2.82,  2.18,  1.37,  1.31,  0.61,  1.98,  1.22,  0.82,  0.58,  0.17),
    "loose pairs":             ( 0.16,   0.3,  0.22,   0.2,  0.21,  0.15,  0.12,  0.12,   0.1,  0.07),
    "wilds in danger":         (  0.0, -0.24,  0.03,  0.14,  0.01, -0.25, -0.14,  0.01,  0.07, -0.02),
    "cost, smallest 1":        ( 1.16,   0.0, -0.45, -0.74, -0.52,  -0.1, -0.28, -0.48, -0.68, -0.52),
    "cost, smallest 2":        (  0.9,  0.07, -0.32, -0.26, -0.31, -0.02, -0.03, -0.28, -0.22, -0.26),
    "cost, smallest 3 or 4":   (  0.7,  -0.1,  0.01, -0.03, -0.22, -0.16, -0.11, -0.01, -0.04, -0.21),
    "left, smallest 1":        (-0.04, -0.02, -0.03, -0.04, -0.06,  0.02,  0.02, -0.01, -0.03, -0.05),
    "left, smallest 2":        ( 0.02,  0.05, -0.01, -0.04, -0.05,  0.02,  0.02, -0.01, -0.04, -0.05),
    "left, smallest 3 or 4":   (-0.01,  0.01, -0.03, -0.03, -0.04,  0.01,   0.0, -0.03, -0.04, -0.04),
    "outs, near":              (  1.7,  3.06,  2.36,  1.32, -0.11,  0.48,  1.04,  1.46,  0.94,  0.26),
    "open, near":              ( 2.63,  2.54,  1.48,  0.92,  0.53,  1.33,  1.08,  0.99,  0.71,  0.57),
    "own points, near":        ( 0.22,  0.01,  0.04,  0.05, -0.02, -0.01,   0.0,  0.03,  0.03, -0.01),
    "own points, ready":       (  4.1,   0.0,  0.08, -0.02, -0.03,  0.13,  0.09,  0.11,  0.01, -0.02),
    "cost, ready":             ( 0.27, -0.27, -0.13, -0.14, -0.14,  0.08, -0.06, -0.03, -0.03, -0.04),
    "discard pairs":           (-0.45, -0.95, -0.23, -0.09,  0.11, -0.63, -0.59, -0.16, -0.04,  0.03),
    "discard fits":            (-4.09,  0.05,  0.08,  0.03,  0.02,  0.04,  0.03,  0.04,  0.01,   0.0),
    "discard natural":         (-0.67,  0.14,  0.02,  0.05,  0.02,  0.02,  0.08,   0.0,  0.01, -0.01),
    "discard wild":            (-2.29,  0.03, -0.06,  0.06,  0.05, -0.31, -0.02, -0.09,   0.0, -0.01),
    "open table":              (-2.19, -2.61, -1.21, -0.76, -0.55, -2.05, -1.17, -0.73, -0.42,  -0.2),
    "open, next has 1":        (-3.24, -1.49, -0.59, -0.09, -0.26, -2.95, -0.27, -0.08,  0.16,  0.11),
    "open, next has 2":        (-0.09, -0.12,   0.5, -0.06, -0.01,  0.24, -0.23,  0.27, -0.02,   0.0),
    "open, next has 3":        ( 1.49,  0.73,  0.17,  0.34, -0.04,  0.73,   0.3,  0.15,  0.18,  0.01),
    "open, next has 4 to 6":   ( 0.47,  0.18, -0.24, -0.34, -0.15,  -0.1,  0.05, -0.21,  -0.2, -0.02),
    "open, next has more":     ( 0.18,  -1.9, -1.05, -0.61, -0.09,  0.03, -1.03, -0.85, -0.54,  -0.3),
    "open to few":             (  0.0, -2.41, -1.59, -1.45, -1.39,   0.0, -0.96, -0.86, -0.71, -0.45),
    "open to many":            (  0.0,  -0.2, -0.83, -0.84, -0.81,   0.0, -0.21, -0.59, -0.54, -0.35),
    "wilds fit":               ( 0.08,  -0.6, -0.24, -0.39, -0.43, -0.88, -0.11, -0.09, -0.27, -0.27),
    "wilds fit, next has few": (-1.23, -1.86, -1.16, -0.81, -0.61, -1.17, -0.67,  -0.6,  -0.3, -0.17),
    "own points":              (-0.05,  -0.6, -0.76, -0.83, -0.87, -0.24, -0.65, -0.78, -0.85, -0.91),
    "others' points":          ( 0.02,   0.2,  0.19,  0.17,  0.14,  0.09,  0.22,  0.19,  0.16,  0.12),
    "movable piles":           ( 0.08, -0.07,  -0.1, -0.12, -0.14,  0.07,  -0.1, -0.11, -0.12, -0.14),
}
# fmt: on
WEIGHTS = np.ascontiguousarray(np.array(list(FITTED.values())).T).reshape(2, 5, NUM_FEATURES)


# Nodes ------------------------------------------------------------------------------------------------------------------


nodes_scratch = make_scratch((MAX_NODES + 1, NODE_COLUMNS), np.int64)
hands_scratch = make_scratch((MAX_NODES + 1, NUM_KINDS), np.int64)
table_scratch = make_scratch((MAX_NODES + 1, MAX_PILES, PILE_COLUMNS), np.int64)
values_scratch = make_scratch(MAX_NODES + 1)
known_scratch = make_scratch(KNOWN_COLUMNS, np.int64)


@kernel
def refresh(pile):
    """Bring what a pile takes up to date."""
    size = pile[TOP] - pile[BOTTOM] + 1
    if pile[SORT] == RUN:
        pile[ACCEPTS] = run_accepts(pile[SUIT], pile[BOTTOM], pile[TOP], pile[NATURALS])
    else:
        pile[ACCEPTS] = set_accepts(pile[SUIT], pile[NATURALS], size, size - popcount(pile[NATURALS]))


@kernel
def read_pile(o, i, pile):
    """Read a pile of the observation."""
    seen = o.piles[i]
    size = np.int64(seen[SIZE])
    pile[OWN] = np.int64(seen[OWNER])
    numbers = 0
    cells = 0
    colours = 0
    for number in range(NUM_NUMBERS):
        if seen[NATURAL + number]:
            numbers |= 1 << number
        elif seen[WILD_CELL + number]:
            cells |= 1 << number
    for colour in range(NUM_COLOURS):
        if seen[COLOUR + colour]:
            colours |= 1 << colour
    if seen[KIND + RUN]:
        pile[SORT] = RUN
        pile[SUIT] = lowest(colours)
        every = numbers | cells
        pile[BOTTOM] = lowest(every)
        pile[NATURALS] = numbers
    else:
        pile[SORT] = SET
        pile[SUIT] = lowest(numbers)
        pile[BOTTOM] = 0
        pile[NATURALS] = colours
    pile[TOP] = pile[BOTTOM] + size - 1
    pile[MOVES] = 0 if seen[FIXED] else 1
    factor = 1
    for _ in range(seen[WILD_COUNT + 1]):
        factor *= 2
    for _ in range(seen[WILD_COUNT + 2]):
        factor *= 3
    pile[FACTOR] = factor
    pile[BASE] = max(1, np.int64(seen[POINTS]) // factor)
    pile[REPLACES] = replaces(seen) if o.options[3] else 0
    pile[NAME] = i
    refresh(pile)


@kernel
def read_root(o, nodes, hands, table):
    """Read the observation as node 0."""
    cards = 0
    twice = 0
    cost = 0
    wilds = 0
    for kind in range(NUM_KINDS):
        count = np.int64(o.hand[kind])
        hands[0, kind] = count
        if count > 0:
            cards |= 1 << kind
            if count > 1:
                twice |= 1 << kind
            if is_wild(kind):
                wilds += count
                cost += count * HAND_POINTS[kind]
    node = nodes[0]
    node[CARDS] = cards
    node[TWICE] = twice
    node[COUNT] = np.int64(o.hand_size[0])
    node[WILDS] = wilds
    node[PASSES] = np.int64(o.hand[PASS_A_PILE])
    node[BACKS] = np.int64(o.hand[TAKE_IT_BACK])
    node[COST] = cost
    node[HELD] = place_of(o.held, NUM_ADD)
    node[TAKEN] = 0
    node[PILES] = np.int64(o.num_piles)
    node[KEY] = 1
    node[FIRST] = NOTHING
    node[BEST_DISCARD] = NOTHING
    node[OPEN] = 1
    for i in range(o.num_piles):
        read_pile(o, i, table[0, i])


@kernel
def copy_node(nodes, hands, table, parent, child):
    """Copy a node."""
    for k in range(NODE_COLUMNS):
        nodes[child, k] = nodes[parent, k]
    for k in range(NUM_KINDS):
        hands[child, k] = hands[parent, k]
    for i in range(nodes[parent, PILES]):
        for k in range(PILE_COLUMNS):
            table[child, i, k] = table[parent, i, k]
    nodes[child, OPEN] = 1
    nodes[child, BEST_DISCARD] = NOTHING


@kernel
def spend(node, hand, kind):
    """Use the held card if it is of this kind, else one from the hand (S21)."""
    if node[HELD] == kind:
        node[HELD] = NOTHING
        return
    hand[kind] -= 1
    node[COUNT] -= 1
    if hand[kind] == 1:
        node[TWICE] &= ~(1 << kind)
    elif hand[kind] == 0:
        node[CARDS] &= ~(1 << kind)
    if is_wild(kind):
        node[WILDS] -= 1
        node[COST] -= HAND_POINTS[kind]
    elif kind == PASS_A_PILE:
        node[PASSES] -= 1


@kernel
def note(node, what, where):
    """Add a play to what tells nodes apart: the same plays in another order lead to the same node."""
    node[KEY] += np.int64(mix(np.uint64(what * 4096 + where + 1)) >> np.uint64(2))


@kernel
def times_of(wild):
    """Return by what a wild multiplies its pile (S29)."""
    return 3 if wild == 2 else (2 if wild == 1 else 1)


@kernel
def lay(o, node, hand, piles, action, wild, own):
    """Lay a new pile (S16)."""
    pile = piles[node[PILES]]
    node[PILES] += 1
    naturals = pattern_naturals(action)
    note(node, action, 0)
    base = 0
    left = naturals
    while left:
        kind = lowest(left)
        left &= left - 1
        spend(node, hand, kind)
        base += kind % NUM_NUMBERS + 1 if o.options[5] else 1
    if action < RUNS:
        pile[SORT] = SET
        pile[SUIT] = (action - SETS) // SET_PATTERNS
        pile[BOTTOM] = 0
        colours = 0
        for colour in range(NUM_COLOURS):
            if row(naturals, colour):
                colours |= 1 << colour
        pile[NATURALS] = colours
    else:
        pile[SORT] = RUN
        pile[SUIT] = (action - RUNS) // (RUN_PATTERNS * RUN_LOWS)
        pile[BOTTOM] = (action - RUNS) // RUN_PATTERNS % RUN_LOWS
        pile[NATURALS] = row(naturals, pile[SUIT])
    pile[TOP] = pile[BOTTOM] + 2
    pile[MOVES] = 1
    pile[FACTOR] = 1
    pile[REPLACES] = 0
    if wild != NOTHING:
        spend(node, hand, wild)
        pile[FACTOR] = times_of(wild - FIRST_WILD)
        base += 1
        if wild - FIRST_WILD == SUPER:
            pile[MOVES] = 0
        elif o.options[3]:
            if pile[SORT] == RUN:
                place = (action - RUNS) % RUN_PATTERNS - 1
                pile[REPLACES] = 1 << (pile[SUIT] * NUM_NUMBERS + pile[BOTTOM] + place)
            else:
                for colour in range(NUM_COLOURS):
                    if (pile[NATURALS] >> colour) & 1 == 0:
                        pile[REPLACES] |= 1 << (colour * NUM_NUMBERS + pile[SUIT])
    pile[BASE] = base
    pile[OWN] = own
    pile[NAME] = LAID + action
    refresh(pile)


@kernel
def add_natural(o, node, hand, pile, natural):
    """Add a natural to a pile (S17)."""
    number = natural % NUM_NUMBERS
    spend(node, hand, natural)
    if pile[SORT] == SET:
        pile[NATURALS] |= 1 << (natural // NUM_NUMBERS)
        pile[TOP] += 1
        pile[REPLACES] &= ~(1 << natural)
    else:
        pile[NATURALS] |= 1 << number
        pile[BOTTOM] = min(pile[BOTTOM], number)
        pile[TOP] = max(pile[TOP], number)
    pile[BASE] += number + 1 if o.options[5] else 1
    note(node, natural, pile[NAME])
    refresh(pile)


@kernel
def add_wild(o, node, hand, pile, kind, end):
    """Add a wild to a pile, to a run with the next natural where S18 asks for it."""
    wild = kind - FIRST_WILD
    bridge = NOTHING
    note(node, kind, pile[NAME] * 2 + end)
    spend(node, hand, kind)
    pile[FACTOR] *= times_of(wild)
    pile[BASE] += 1
    if wild == SUPER:
        pile[MOVES] = 0
    if pile[SORT] == SET:
        pile[TOP] += 1
        if wild != SUPER and o.options[3]:
            for colour in range(NUM_COLOURS):
                if (pile[NATURALS] >> colour) & 1 == 0:
                    pile[REPLACES] |= 1 << (colour * NUM_NUMBERS + pile[SUIT])
    else:
        start = pile[SUIT] * NUM_NUMBERS
        if end == LOW:
            if pile[ACCEPTS] & WILD_LOW == 0:
                bridge = start + pile[BOTTOM] - 2
            pile[BOTTOM] -= 1
            if wild != SUPER and o.options[3]:
                pile[REPLACES] |= 1 << (start + pile[BOTTOM])
        else:
            if pile[ACCEPTS] & WILD_HIGH == 0:
                bridge = start + pile[TOP] + 2
            pile[TOP] += 1
            if wild != SUPER and o.options[3]:
                pile[REPLACES] |= 1 << (start + pile[TOP])
    if bridge != NOTHING:
        add_natural(o, node, hand, pile, bridge)
    refresh(pile)


@kernel
def wild_out(o, i, natural):
    """Return the wild that comes out of pile i for `natural` (S22): from a set the plainest."""
    seen = o.piles[i]
    if seen[KIND + RUN]:
        return FIRST_WILD + np.int64(seen[WILD_CELL + natural % NUM_NUMBERS]) - 1
    for wild in range(SUPER):
        if seen[WILD_COUNT + wild] > 0:
            return FIRST_WILD + wild
    return FIRST_WILD


@kernel
def swap(o, node, hand, pile, i, natural):
    """Put a natural in the place of a wild, which is then held (S22)."""
    spend(node, hand, natural)
    wild = wild_out(o, i, natural)
    if pile[SORT] == SET:
        pile[NATURALS] |= 1 << (natural // NUM_NUMBERS)
    else:
        pile[NATURALS] |= 1 << (natural % NUM_NUMBERS)
    pile[REPLACES] &= ~(1 << natural)
    pile[FACTOR] = max(1, pile[FACTOR] // times_of(wild - FIRST_WILD))
    node[HELD] = wild
    note(node, 1000 + natural, i)
    refresh(pile)


# What a turn ends in ----------------------------------------------------------------------------------------------------


@kernel
def unseen_among(known, naturals):
    """Return how many unseen cards are among the bits `naturals`."""
    return popcount(naturals & known[UNSEEN_ONCE]) + popcount(naturals & known[UNSEEN_TWICE])


@kernel
def unseen_natural(known, kind):
    """Return how many cards of one natural are unseen."""
    return ((known[UNSEEN_ONCE] >> kind) & 1) + ((known[UNSEEN_TWICE] >> kind) & 1)


@kernel
def partners(natural, known):
    """Return how many pairs of unseen cards make a pile with a natural (S12)."""
    number = natural % NUM_NUMBERS
    pairs, before = 0, 0
    for kind in range(number, NUM_NATURALS, NUM_NUMBERS):
        if kind != natural:
            count = unseen_natural(known, kind)
            pairs += before * count
            before += count
    start = natural - number
    for low in range(max(0, number - 2), min(NUM_NUMBERS - 3, number) + 1):
        first = low if low < number else low + 1
        last = low + 2 if low + 2 > number else low + 1
        pairs += unseen_natural(known, start + first) * unseen_natural(known, start + last)
    return pairs


@kernel
def learn(o, known, risky):
    """Write what stays the same all turn: the unseen cards and the other hands, what each natural in hand risks as a discard.

    risky: float64 [NUM_KINDS], how likely the next player lays it with two others.
    """
    known[:] = 0
    for kind in range(NUM_KINDS):
        count = np.int64(o.unseen[kind])
        known[UNSEEN] += count
        if is_wild(kind):
            known[UNSEEN_WILDS] += count
        elif is_natural(kind):
            if count > 0:
                known[UNSEEN_ONCE] |= 1 << kind
            if count > 1:
                known[UNSEEN_TWICE] |= 1 << kind
    known[UNSEEN] = max(1, known[UNSEEN])
    known[NEXT_HAND] = np.int64(o.hand_size[1])
    known[SMALLEST_HAND] = known[NEXT_HAND]
    for rel in range(2, players_of(o)):
        cards = np.int64(o.hand_size[rel])
        known[SMALLEST_HAND] = min(known[SMALLEST_HAND], cards)
        known[FEW_OTHERS if cards <= FEW else MANY_OTHERS] += 1
    cards = known[NEXT_HAND]
    for kind in range(NUM_NATURALS):
        if o.hand[kind] and cards > 1:
            risky[kind] = partners(kind, known) * cards * (cards - 1) / (known[UNSEEN] * known[UNSEEN])


@kernel
def write_table(node, piles, known, f):
    """Write what the table takes, also by substitution, and what lies in front of whom."""
    accepts, swaps = 0, 0
    places, passable = 0, 0
    own, others = 0, 0
    for i in range(node[PILES]):
        pile = piles[i]
        accepts |= pile[ACCEPTS]
        swaps |= pile[REPLACES]
        if pile[ACCEPTS] & TAKES_WILD:
            places += 1
        points = pile[BASE] * pile[FACTOR]
        if pile[OWN]:
            own += points
            passable += pile[MOVES]
        else:
            others += points
    playable = accepts & NATURAL_BITS
    if places:
        playable |= swaps
    known[PLAYABLE] = playable
    known[WILD_PLACES] = places
    known[PASSABLE] = passable
    share = unseen_among(known, playable) / known[UNSEEN]
    wilds = known[UNSEEN_WILDS] / known[UNSEEN] if places else 0.0
    cards = known[NEXT_HAND]
    f[OPEN_TABLE] = share
    place = cards - 1 if cards <= 3 else (3 if cards <= 6 else 4)
    f[OPEN_TO_NEXT + max(0, place)] = share
    f[OPEN_TO_FEW] = share * known[FEW_OTHERS]
    f[OPEN_TO_MANY] = share * known[MANY_OTHERS]
    f[WILDS_FIT] = wilds
    f[WILDS_FIT_NEXT] = wilds if cards <= FEW else 0.0
    f[OWN_POINTS] = own / 10
    f[OTHER_POINTS] = others / 10
    f[MOVABLE] = passable


@kernel
def numbers_twice(naturals):
    """Return the numbers in two colours or more, and those in three or more, as bits of a row."""
    once, twice, thrice = 0, 0, 0
    for colour in range(NUM_COLOURS):
        numbers = row(naturals, colour)
        thrice |= twice & numbers
        twice |= once & numbers
        once |= numbers
    return twice, thrice


@kernel
def neighbours(naturals):
    """Return the naturals that are there together with the next one of the colour, and with the one after that."""
    # All four colours at once; what would run over into the next is left out.
    beside = naturals & (naturals >> 1) & ~HIGHEST
    apart = naturals & (naturals >> 2) & ~TOO_HIGH
    return beside, apart


@kernel
def ready_and_loose(cards, count, wilds, passes, known):
    """Return how many cards could not be played now, how many of them belong with another, and what completes a pair.

    Ready are naturals that the table takes or that lie in hand as a set or run; a wild with a pair, or alone where the
    table takes it; a Pass-a-Pile with something to pass.
    """
    naturals = cards & NATURAL_BITS
    pairs, thrice = numbers_twice(naturals)
    pairs *= IN_EACH_COLOUR
    beside, apart = neighbours(naturals)
    runs = beside & apart
    whole = runs | (runs << 1) | (runs << 2) | (thrice * IN_EACH_COLOUR & naturals)
    paired = beside | (beside << 1) | apart | (apart << 2) | (pairs & naturals)
    above, below = (beside & ~(HIGHEST >> 1)) << 2, (beside & ~IN_EACH_COLOUR) >> 1
    completes = above | below | (apart << 1) | (pairs & ~naturals)
    at_once = (naturals & known[PLAYABLE]) | whole
    belonging = popcount(paired & ~at_once)
    laid = min(wilds, belonging // 2)
    ready = popcount(at_once) + 3 * laid + min(wilds - laid, known[WILD_PLACES]) + min(passes, known[PASSABLE])
    return max(0, count - ready), belonging, completes & ~known[PLAYABLE]


@kernel
def write_hand(cards, count, wilds, passes, backs, cost, known, f):
    """Write what is left in hand, what of it could be played and what it costs; return the number of loose cards."""
    loose, belonging, completes = ready_and_loose(cards, count, wilds, passes, known)
    f[WILDS_LEFT] = wilds
    f[COST_LEFT] = cost / 10
    f[PASSES_LEFT] = passes
    f[BACKS_LEFT] = backs
    f[OUTS] = unseen_among(known, completes) / known[UNSEEN]
    f[LOOSE_PAIRS] = belonging
    smallest = known[SMALLEST_HAND]
    f[WILDS_IN_DANGER] = wilds if smallest <= FEW else 0.0
    if smallest <= 4:
        danger = max(0, min(smallest, 3) - 1)
        f[COST_IN_DANGER + danger] = cost / 10
        f[LEFT_IN_DANGER + danger] = count
    f[OUTS_NEAR] = f[OUTS] if loose <= NEAR else 0.0
    f[OPEN_NEAR] = f[OPEN_TABLE] if loose <= NEAR else 0.0
    f[POINTS_NEAR] = f[OWN_POINTS] if loose <= NEAR else 0.0
    f[POINTS_READY] = f[OWN_POINTS] if loose == 0 else 0.0
    f[COST_READY] = cost / 10 if loose <= 1 else 0.0
    return loose


@kernel
def write_top(kind, known, risky, f):
    """Write what the card discarded is to the next player."""
    natural = is_natural(kind)
    f[TOP_PAIRS] = risky[kind]
    f[TOP_FITS] = (known[PLAYABLE] >> kind) & 1 if natural else 0
    f[TOP_NATURAL] = natural
    f[TOP_WILD] = is_wild(kind)


@kernel
def write_discard(node, hand, kind, known, risky, f):
    """Write what is left in hand, and lies on the discard pile, after a discard; return the number of loose cards."""
    cards = node[CARDS]
    if hand[kind] == 1:
        cards &= ~(1 << kind)
    wilds, passes, backs, cost = node[WILDS], node[PASSES], node[BACKS], node[COST]
    if is_wild(kind):
        wilds -= 1
        cost -= HAND_POINTS[kind]
    elif kind == PASS_A_PILE:
        passes -= 1
    elif kind == TAKE_IT_BACK:
        backs -= 1
    write_top(kind, known, risky, f)
    return write_hand(cards, node[COUNT] - 1, wilds, passes, backs, cost, known, f)


@kernel
def weighed(weights, f, first, stop):
    """Return the weighted sum of some features: two sums side by side, as an addition waits for the one before it."""
    even, odd = 0.0, 0.0
    for k in range(first, stop - 1, 2):
        even += weights[k] * f[k]
        odd += weights[k + 1] * f[k + 1]
    if (stop - first) % 2:
        even += weights[stop - 1] * f[stop - 1]
    return even + odd


@kernel
def rate(weights, node, hand, piles, known, risky, f):
    """Return what a turn that ends in a node is worth, and note the discard it ends with (S9)."""
    if node[HELD] != NOTHING:
        return NO_END
    write_table(node, piles, known, f)
    if node[COUNT] <= 1:  # out, by the discard at the latest (S9, S10)
        node[BEST_DISCARD] = lowest(node[CARDS]) if node[COUNT] else NOTHING
        return OUT_NOW + f[OTHER_POINTS]
    of_table = weighed(weights, f, TABLE, NUM_FEATURES)
    best = NO_END
    left = node[CARDS]
    while left:
        kind = lowest(left)
        left &= left - 1
        loose = write_discard(node, hand, kind, known, risky, f)
        count = node[COUNT] - 1
        value = of_table + weights[LEFT + min(NUM_LEFT, count) - 1] + weights[LOOSE + min(NUM_LOOSE - 1, loose)]
        value += weighed(weights, f, HAND, TABLE)
        if value > best:
            best = value
            node[BEST_DISCARD] = kind
    return best


@kernel
def write_end(o, kind, f):
    """Write all features of ending the turn at once with a discard, one-hot ones too."""
    nodes, hands, table, known = nodes_scratch(), hands_scratch(), table_scratch(), known_scratch()
    risky = np.zeros(NUM_KINDS, np.float64)
    read_root(o, nodes, hands, table)
    learn(o, known, risky)
    node = nodes[0]
    f[:] = 0.0
    write_table(node, table[0], known, f)
    loose = write_discard(node, hands[0], kind, known, risky, f)
    f[LEFT + min(NUM_LEFT, node[COUNT] - 1) - 1] = 1.0
    f[LOOSE + min(NUM_LOOSE - 1, loose)] = 1.0


@entry
def _write_ends(observations, kinds, features):
    for i in range(len(kinds)):
        write_end(observations[i], kinds[i], features[i])


def describe_ends(observations: np.ndarray, kinds: np.ndarray) -> np.ndarray:
    """Return the features of ending turns at once: float64 [B, F]; those that `WEIGHTS` [2, 5, F] weigh.

    observations: records [B], of hands of two cards or more, none held. kinds: int64 [B], the card discarded.
    """
    features = np.empty((len(kinds), NUM_FEATURES))
    _write_ends(observations, kinds, features)
    return features


# The search -------------------------------------------------------------------------------------------------------------


@kernel
def settle(nodes, size, parent, first):
    """Keep node `size` if it is new; return the number of nodes."""
    node = nodes[size]
    for k in range(size):
        if nodes[k, KEY] == node[KEY] and nodes[k, HELD] == node[HELD]:
            return size
    if parent == 0:
        node[FIRST] = first
    return size + 1


@kernel
def dearest(cards):
    """Return the wild to be rid of first."""
    for wild in (2, 1, 3, 0):
        if (cards >> (FIRST_WILD + wild)) & 1:
            return FIRST_WILD + wild
    return NOTHING


@kernel
def expand(o, nodes, hands, table, size, parent):
    """Add the nodes that one play leads to (S16-S24); return the number of nodes."""
    node = nodes[parent]
    held = node[HELD]
    spare = node[COUNT] - np.int64(o.options[2])
    cards = node[CARDS]
    natural_held = held != NOTHING and is_natural(held)
    wild_held = held != NOTHING and not is_natural(held)
    wild = held if wild_held else dearest(cards)
    from_hand = 3 if held == NOTHING else 2
    if spare >= from_hand:
        usable = cards & NATURAL_BITS
        if natural_held:
            usable |= 1 << held
        must = 1 << held if natural_held else 0
        if not wild_held:
            size = expand_laid(o, nodes, hands, table, size, parent, usable, must, NOTHING)
        if wild != NOTHING:
            size = expand_laid(o, nodes, hands, table, size, parent, usable, must, wild)
    adds = 0
    if natural_held:
        adds = 1 << held
    elif held == NOTHING and spare >= 1:
        adds = cards & NATURAL_BITS
    for i in range(node[PILES]):
        left = adds & table[parent, i, ACCEPTS]
        while left:
            if size >= MAX_NODES:
                return size
            kind = lowest(left)
            left &= left - 1
            copy_node(nodes, hands, table, parent, size)
            add_natural(o, nodes[size], hands[size], table[size, i], kind)
            size = settle(nodes, size, parent, ADD + kind)
    if wild != NOTHING and not natural_held and (wild_held or spare >= 1):
        for i in range(node[PILES]):
            ends = ends_for_wild(table[parent, i], cards, spare, wild_held)
            for end in range(2):
                if (ends >> end) & 1:
                    if size >= MAX_NODES:
                        return size
                    copy_node(nodes, hands, table, parent, size)
                    add_wild(o, nodes[size], hands[size], table[size, i], wild, end)
                    size = settle(nodes, size, parent, ADD + wild)
    if held != NOTHING:
        return size
    if spare >= 1 and o.options[3]:
        for i in range(o.num_piles):
            left = cards & table[parent, i, REPLACES] & replaces(o.piles[i])
            while left:
                if size >= MAX_NODES:
                    return size
                kind = lowest(left)
                left &= left - 1
                copy_node(nodes, hands, table, parent, size)
                swap(o, nodes[size], hands[size], table[size, i], i, kind)
                if placeable(o, nodes[size], table[size]):
                    size = settle(nodes, size, parent, SUBSTITUTE + kind)
    taken = node[TAKEN]
    if taken < DISCARDS_SEEN and size < MAX_NODES:
        top = place_of(o.discard_top[taken], NUM_KINDS)
        if top != NOTHING and (is_natural(top) or is_wild(top)):
            copy_node(nodes, hands, table, parent, size)
            nodes[size, HELD] = top
            nodes[size, TAKEN] = taken + 1
            note(nodes[size], 2000, taken)
            if placeable(o, nodes[size], table[size]):
                size = settle(nodes, size, parent, TAKE)
    if spare >= 1 and node[PASSES] > 0 and size < MAX_NODES:
        best, most = NOTHING, -1
        for i in range(node[PILES]):
            pile = table[parent, i]
            if pile[OWN] and pile[MOVES] and pile[BASE] * pile[FACTOR] > most:
                best, most = i, pile[BASE] * pile[FACTOR]
        if best != NOTHING:
            copy_node(nodes, hands, table, parent, size)
            spend(nodes[size], hands[size], PASS_A_PILE)
            table[size, best, OWN] = 0
            note(nodes[size], 3000, best)
            size = settle(nodes, size, parent, PASS)
    return size


@kernel
def placeable(o, node, piles):
    """Tell whether the held card can be placed (S21, S22)."""
    held = node[HELD]
    spare = node[COUNT] - np.int64(o.options[2])
    for i in range(node[PILES]):
        if is_natural(held):
            if (piles[i, ACCEPTS] >> held) & 1:
                return True
        elif ends_for_wild(piles[i], node[CARDS], spare, True):
            return True
    if spare < 2:
        return False
    if is_natural(held):
        return sting_choices.lays_with_natural(node[CARDS], held)
    return sting_choices.lays_with_wild(node[CARDS])


@kernel
def ends_for_wild(pile, cards, spare, held):
    """Return the ends of a pile that take a wild, as bits LOW, HIGH; a set counts as its low end (S17, S18)."""
    accepts = pile[ACCEPTS]
    ends = 0
    if accepts & (WILD_IN_SET | WILD_LOW):
        ends |= 1 << LOW
    if accepts & WILD_HIGH:
        ends |= 1 << HIGH
    if accepts & (BRIDGE_LOW | BRIDGE_HIGH) and spare >= (1 if held else 2):
        start = pile[SUIT] * NUM_NUMBERS
        if accepts & BRIDGE_LOW and (cards >> (start + pile[BOTTOM] - 2)) & 1:
            ends |= 1 << LOW
        if accepts & BRIDGE_HIGH and (cards >> (start + pile[TOP] + 2)) & 1:
            ends |= 1 << HIGH
    return ends


@kernel
def expand_laid(o, nodes, hands, table, size, parent, usable, must, wild):
    """Add the nodes that a new pile leads to, with a wild or without (S12, S13, S16)."""
    twice, thrice = numbers_twice(usable)
    left = thrice if wild == NOTHING else twice
    while left:
        number = lowest(left)
        left &= left - 1
        colours = 0
        for colour in range(NUM_COLOURS):
            colours |= ((usable >> (colour * NUM_NUMBERS + number)) & 1) << colour
        first, last = (0, NUM_COLOURS) if wild == NOTHING else (NUM_COLOURS, SET_PATTERNS)
        for pattern in range(first, last):
            if wild == NOTHING:
                needed = 0b1111 & ~(1 << pattern)
            else:
                needed = (1 << PAIR_FIRST[pattern - NUM_COLOURS]) | (1 << PAIR_SECOND[pattern - NUM_COLOURS])
            if needed & ~colours == 0:
                action = SETS + number * SET_PATTERNS + pattern
                size = try_laid(o, nodes, hands, table, size, parent, action, must, wild)
    beside, apart = neighbours(usable)
    # A run begins with its lowest natural, or, where the wild is to be lowest, below two that are neighbours.
    left = beside & apart if wild == NOTHING else (beside | apart | ((beside & ~IN_EACH_COLOUR) >> 1)) & ~TOO_HIGH
    while left:
        start = lowest(left)
        left &= left - 1
        here = (usable >> start) & 0b111
        first, last = (0, 1) if wild == NOTHING else (1, RUN_PATTERNS)
        for pattern in range(first, last):
            needed = 0b111
            if pattern > 0:
                needed &= ~(1 << (pattern - 1))
            if needed & ~here == 0:
                place = start // NUM_NUMBERS * RUN_LOWS + start % NUM_NUMBERS
                size = try_laid(o, nodes, hands, table, size, parent, RUNS + place * RUN_PATTERNS + pattern, must, wild)
    return size


@kernel
def try_laid(o, nodes, hands, table, size, parent, action, must, wild):
    """Add the node that laying a pile leads to, if it holds the card that must be placed."""
    if size >= MAX_NODES or nodes[parent, PILES] >= MAX_PILES or pattern_naturals(action) & must != must:
        return size
    copy_node(nodes, hands, table, parent, size)
    lay(o, nodes[size], hands[size], table[size], action, wild, 0)
    return settle(nodes, size, parent, action)


@kernel
def most_promising(nodes, values, size):
    """Return the node to follow next: one with a card to be placed, else the best; NOTHING if all have been."""
    best = NOTHING
    for k in range(size):
        if nodes[k, OPEN]:
            if nodes[k, HELD] != NOTHING:
                return k
            if best == NOTHING or values[k] > values[best]:
                best = k
    return best


@kernel
def plan(o, weights, phase, legal):
    """Search the turn and return the action that begins the best way to end it."""
    nodes, hands, table, known = nodes_scratch(), hands_scratch(), table_scratch(), known_scratch()
    values = values_scratch()
    risky = np.zeros(NUM_KINDS, np.float64)
    f = np.zeros(NUM_FEATURES, np.float64)
    read_root(o, nodes, hands, table)
    learn(o, known, risky)
    values[0] = NO_END
    size, rated = 1, 0
    if phase != Phase.PLAY:
        nodes[0, OPEN] = 0
        size, rated = expand_question(o, nodes, hands, table, size, phase, legal), 1
    while True:
        for k in range(rated, size):
            values[k] = rate(weights, nodes[k], hands[k], table[k], known, risky, f)
        rated = size
        if size >= MAX_NODES:
            break
        best = most_promising(nodes, values, size)
        if best == NOTHING:
            break
        nodes[best, OPEN] = 0
        size = expand(o, nodes, hands, table, size, best)
    best = 0
    for k in range(size):
        if values[k] > values[best]:
            best = k
    if best == 0 or nodes[best, FIRST] == NOTHING:
        if nodes[0, BEST_DISCARD] != NOTHING:
            return DISCARD + nodes[0, BEST_DISCARD]
        return NOTHING
    return nodes[best, FIRST]


@kernel
def expand_question(o, nodes, hands, table, size, phase, legal):
    """Add the nodes that the answers to a question about a pile or an end lead to."""
    kind = place_of(o.play_card, NUM_ADD)
    if phase == Phase.END:
        i = place_of(o.play_pile, MAX_PILES)
        for end in range(2):
            copy_node(nodes, hands, table, 0, size)
            add_wild(o, nodes[size], hands[size], table[size, i], kind, end)
            size = settle(nodes, size, 0, END + end)
        return size
    for i in range(o.num_piles):
        if not bits.contains(legal, PILE + i):
            continue
        if o.play[3]:
            copy_node(nodes, hands, table, 0, size)
            swap(o, nodes[size], hands[size], table[size, i], i, kind)
            size = settle(nodes, size, 0, PILE + i)
        elif is_natural(kind):
            copy_node(nodes, hands, table, 0, size)
            add_natural(o, nodes[size], hands[size], table[size, i], kind)
            size = settle(nodes, size, 0, PILE + i)
        else:
            spare = nodes[0, COUNT] - np.int64(o.options[2])
            ends = ends_for_wild(table[0, i], nodes[0, CARDS], spare, nodes[0, HELD] != NOTHING)
            for end in range(2):
                if (ends >> end) & 1:
                    copy_node(nodes, hands, table, 0, size)
                    add_wild(o, nodes[size], hands[size], table[size, i], kind, end)
                    size = settle(nodes, size, 0, PILE + i)
    return size


@kernel
def burden(o):
    """Choose whom to give a pile: who has the fewest points in all, among equals who is furthest from going out (S28)."""
    best, best_value = 1, -(1 << 40)
    for rel in range(1, players_of(o)):
        value = np.int64(o.hand_size[rel]) - POINT_AHEAD * np.int64(o.lead[rel])
        if value > best_value:
            best, best_value = rel, value
    return SEAT + best - 1


@kernel
def draw(o, legal):
    """Draw two where the hand is two cards neither of which could be played: with two more, a pile and a discard."""
    if o.hand_size[0] != TWO_CARDS or not bits.contains(legal, DRAW_TWO):
        return DRAW_ONE
    nodes, hands, table, known = nodes_scratch(), hands_scratch(), table_scratch(), known_scratch()
    risky = np.zeros(NUM_KINDS, np.float64)
    f = np.zeros(NUM_FEATURES, np.float64)
    read_root(o, nodes, hands, table)
    learn(o, known, risky)
    node = nodes[0]
    write_table(node, table[0], known, f)
    loose, _, _ = ready_and_loose(node[CARDS], node[COUNT], node[WILDS], node[PASSES], known)
    return DRAW_TWO if loose == TWO_CARDS else DRAW_ONE


@kernel
def goal(o):
    """Return what to play for: 0 going out, where this round is the game, else 1, points."""
    return 0 if o.rounds_done == 0 and o.rounds_left == 1 else 1


@kernel
def planned(option, o, legal, phase, key):
    """Choose an action as `planner`."""
    if phase == Phase.RESPOND:  # a card less, and the pile goes back
        return RETURN if bits.contains(legal, RETURN) else ACCEPT
    if phase == Phase.SEAT:
        return burden(o)
    if phase == Phase.DRAW and option == sting_choices.OWN_RULE:
        return draw(o, legal)
    if phase == Phase.PLAY or phase == Phase.END or (phase == Phase.PILE and not o.play[4]):
        action = plan(o, WEIGHTS[goal(o), players_of(o) - 2], phase, legal)
        if action != NOTHING and bits.contains(legal, action):
            return action
    return sting_choices.choose(sting_choices.GREEDY, option, o, legal, key)


@kernel
def choose(bot, option, o, legal, key):
    """Choose an action as `bot`, under the draw rule `option`."""
    if bot != PLANNER:
        return sting_choices.choose(bot, option, o, legal, key)
    return planned(option, o, legal, place_of(o.phase, o.phase.shape[0]), key)
