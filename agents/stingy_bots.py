"""Bots for Stingy: `random`, `greedy` and `lookahead`, compiled, one for all player counts and options.

A bot sees the observation record `o` (`stingy_env.observation`) and the legal actions, nothing else.

random     any legal action, all alike.
greedy     what changes its standing most at once: points and a share of the points of unfinished groups, its own less the
           mean of the others'. A demand is judged by the owner's best reply, a reply by what changes hands. It takes one
           tile more when that promises more than the best swap.
lookahead  what improves its outlook most. A group's outlook is the player's part in the contest for the kind: its tiles
           against those in other displays and in the pool, less for every group and tile still to be collected the fewer
           turns are left. The last tiles of the pool are known to come, and after them only complete groups count. Its best
           demands, after the owner's best reply, are compared by what the best demand of each opponent who still has a
           turn then does to it. One tile more, or no swap, is the mean over the pool.

Extra-tile rules, the option `extra` of every bot (G16 asks only who made no swap):
    always     takes one tile more in every turn it can, and so never swaps in a turn in which it would be asked
    never      never takes it, and swaps as if it did not exist
    hint       never forgoes a swap for it, and takes it whenever it is asked
    (none)     the bot's own: random either at random; greedy and lookahead weigh the tile against the swap, and take
               it whenever they are asked
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from agents import registry
from agents.base import Array, Bots, Outcome
from stingy_env.config import MAX_PLAYERS
from stingy_env.rules import (
    DEMAND,
    EXTRA_SINGLES,
    FLAG,
    GROUP,
    NO_SWAP,
    NOTHING,
    NUM_COLOURS,
    NUM_DEMAND,
    NUM_IMAGES,
    NUM_KINDS,
    PAY,
    STOP,
    TILES_EXTRA,
    TILES_OF_KIND,
    TILES_REGULAR,
    VALUE_OF_SIZE,
    Phase,
    popcount,
)
from tabletop import bits
from tabletop.jit import kernel
from tabletop.seeding import below

# Bots and extra-tile rules ----------------------------------------------------------------------------------------------

RANDOM, GREEDY, LOOKAHEAD = 0, 1, 2
NAMES = ("random", "greedy", "lookahead")
RULES = ("", "always", "never", "hint")
OWN_RULE, ALWAYS, NEVER, HINT = 0, 1, 2, 3

LARGEST_VALUE = int(VALUE_OF_SIZE.max())
SIZES = len(VALUE_OF_SIZE)
OUT_OF_REACH = -np.inf

# Greedy's view of unfinished groups. Found by play against each other; the optimum is flat.
STEEPNESS = 1.5  # n of N tiles are worth the points times (n/N) to this power
LATE = 0.05  # times this once the pool is empty

# Lookahead's view of them, found in the same way: as a rule, and in a loose game, with the ghost or under Captain Sly,
# where nearly everything can be had and time presses less.
STRENGTH = (1.36, 2.38)  # n tiles count n to this power in the contest for a kind
POOL_TILE = (1.5, 3.18)  # what a tile in the pool counts there
GHOST_PART = (1.0, 0.47)  # the ghost's tiles count this much of a player's
HASTE = (0.8, 3.24)  # with r more draws a group to be collected leaves (r + 1) / (r + 1 + HASTE)
TILE_STEP = 0.37  # a tile to be drawn is so much of a group to be collected
PLAIN = (0.118, 0.545)  # part of the outlook that is greedy's, n/N to the power that follows
PLAIN_STEEPNESS = (1.32, 1.2)
OTHERS = (0.71, 0.96)  # weight of the others' outlook against its own
NEXT_TURNS = (0.5, 0.4)  # weight of what the opponents' next demands do
CANDIDATES = 3  # demands compared by these
TIE = 0.001  # points that a tile in the display is worth in the last turns (G18)


def make_shares() -> np.ndarray:
    """Return the share of a kind's points that greedy sees in a group of each size: float64 [K, 8]."""
    sizes = np.arange(int(TILES_OF_KIND.max()) + 1)
    return np.minimum(1.0, sizes / TILES_OF_KIND[:, None]) ** STEEPNESS


SHARE = make_shares()
IMAGE = np.array([kind // NUM_COLOURS for kind in range(NUM_KINDS)], np.int64)

# Reading the record -----------------------------------------------------------------------------------------------------


@kernel
def section(legal, start, size):
    """Return the legal actions start..start+size-1 as bits from 0; size <= 62."""
    w = start >> 6
    k = start & 63
    found = legal[w] >> np.uint64(k)
    if k + size > 64:
        found |= legal[w + 1] << np.uint64(64 - k)
    return np.int64(found & np.uint64((1 << size) - 1))


@kernel
def lowest(x):
    """Return the place of the lowest bit of a positive int64."""
    return popcount((x & -x) - 1)


@kernel
def place_of(one_hot, size):
    """Return the place of the 1 among the first `size`, NOTHING if there is none."""
    for i in range(size):
        if one_hot[i]:
            return i
    return NOTHING


@kernel
def players_of(o):
    """Return the number of players."""
    return 2 + place_of(o.num_players, o.num_players.shape[0])


@kernel
def seats_of(players):
    """Return the number of seats, the ghost's with them (G19)."""
    return max(3, players)


@kernel
def regular_number(seats):
    """Return how many tiles end a turn (G15, G19)."""
    return 2 if seats <= 4 else 1


@kernel
def extra_awaits(o, seats):
    """Tell whether one tile more will be offered if no swap is made (G16)."""
    if o.pool_size <= regular_number(seats):
        return False
    singles = 0
    for kind in range(NUM_KINDS):
        singles += o.displays[0, kind] == 1
    return singles <= EXTRA_SINGLES


# Standing ---------------------------------------------------------------------------------------------------------------


@kernel
def points_of(o, rel, kind):
    """Return what completing a kind would add to the points of a seat (G3, G18)."""
    points = np.float64(o.complete_points[IMAGE[kind]])
    if o.options[1]:
        colours = 0
        for other in range(NUM_KINDS):
            if o.complete[rel, other]:
                colours |= colour_bit(other)
        if colours & colour_bit(kind) == 0:
            have = popcount(colours)
            points += VALUE_OF_SIZE[have + 1] - VALUE_OF_SIZE[have]
    return points


@kernel
def colour_bit(kind):
    """Return the colour of a kind as a bit; the flag's is the seventh."""
    return 1 << NUM_COLOURS if kind == FLAG else 1 << (kind % NUM_COLOURS)


@kernel
def held(o, rel, kind, tiles):
    """Return what greedy sees in `tiles` of a kind in front of a player: points, or the hope of them."""
    if tiles == 0:
        return 0.0
    worth = points_of(o, rel, kind) * SHARE[kind, tiles]
    if o.last_round and tiles < TILES_OF_KIND[kind]:
        worth *= LATE
    return worth


@kernel
def move(o, players, ghost, giver, receiver, kind, first, second):
    """Return what the move of a group changes for `first` and for `second`: own standing less the mean of the others'."""
    moved = np.int64(o.displays[giver, kind])
    before = np.int64(o.displays[receiver, kind])
    lost, won = 0.0, 0.0
    if giver != ghost:
        lost = -held(o, giver, kind, moved)
    if receiver != ghost:
        won = held(o, receiver, kind, before + moved) - held(o, receiver, kind, before)
    part = 1.0 / (players - 1)
    a = lost if first == giver else won if first == receiver else 0.0
    b = lost if second == giver else won if second == receiver else 0.0
    return a - (lost + won - a) * part, b - (lost + won - b) * part


@kernel
def one_tile(o):
    """Return what one more tile from the pool promises."""
    gain = 0.0
    for kind in range(NUM_KINDS):
        if o.unseen[kind] > 0:
            tiles = np.int64(o.displays[0, kind])
            gain += o.unseen[kind] * (held(o, 0, kind, tiles + 1) - held(o, 0, kind, tiles))
    return gain / max(1, np.int64(o.pool_size))


# Choices of groups ------------------------------------------------------------------------------------------------------


@kernel
def most_for_each_total(kinds, values, gains, room, most, chosen):
    """Write for each total 0..room the most that groups of exactly that total gain, and which these are, as bits.

    kinds: bits; values int64 [K], gains float64 [K]; most float64 and chosen int64, [room + 1] at least.
    """
    for total in range(room + 1):
        most[total] = OUT_OF_REACH
    most[0], chosen[0] = 0.0, 0
    reach = 0  # the largest total so far
    while kinds:
        kind = lowest(kinds)
        kinds &= kinds - 1
        value = values[kind]
        for total in range(min(reach, room - value), -1, -1):
            gain = most[total] + gains[kind]
            if gain > most[total + value]:
                most[total + value] = gain
                chosen[total + value] = chosen[total] | (1 << kind)
        reach = min(room, reach + value)


@kernel
def most_above(kinds, values, gains, room, most, chosen):
    """Return the groups of a total above `room` that gain most, as bits, 0 if there are none; most and chosen are scratch.

    As `most_for_each_total`, all larger totals being one, room + 1.
    """
    over = room + 1
    for total in range(over + 1):
        most[total] = OUT_OF_REACH
        chosen[total] = 0
    most[0] = 0.0
    reach = 0
    while kinds:
        kind = lowest(kinds)
        kinds &= kinds - 1
        value = values[kind]
        for total in range(min(reach, room), -1, -1):
            gain = most[total] + gains[kind]
            after = min(over, total + value)
            if gain > most[after]:
                most[after] = gain
                chosen[after] = chosen[total] | (1 << kind)
        reach = min(over, reach + value)
    return chosen[over]


@kernel
def best_within(room, most):
    """Return the total up to `room` that gains most, the larger one if equal."""
    best = 0
    for total in range(1, room + 1):
        if most[total] >= most[best]:
            best = total
    return best


@kernel
def total_of(kinds, amounts):
    """Return the sum of the amounts of the kinds, bits."""
    total = 0.0
    while kinds:
        total += amounts[lowest(kinds)]
        kinds &= kinds - 1
    return total


@kernel
def write_sizes(o, rel, smaller):
    """Write for each number of tiles the groups of a display with at most so many, as bits."""
    for i in range(SIZES):
        smaller[i] = 0
    for kind in range(NUM_KINDS):
        if o.displays[rel, kind] > 0:
            smaller[o.displays[rel, kind]] |= 1 << kind
    for i in range(1, SIZES):
        smaller[i] |= smaller[i - 1]


# Greedy's decisions -----------------------------------------------------------------------------------------------------


@kernel
def swap(rule, o, legal):
    """Choose a demand, or none: the best after the owner's best reply, against one more tile (G7-G16)."""
    players = players_of(o)
    seats = seats_of(players)
    ghost = place_of(o.ghost, o.ghost.shape[0])
    best, best_gain = NO_SWAP, 0.0
    if (rule == ALWAYS or rule == OWN_RULE) and extra_awaits(o, seats):  # noqa: SIM109
        if rule == ALWAYS:
            return NO_SWAP
        best_gain = one_tile(o)
    asked = np.empty(NUM_DEMAND, np.int64)  # demands that gain more than that before the reply
    hopes = np.empty(NUM_DEMAND)  # and how much
    count = 0
    for owner in range(1, seats):
        start = DEMAND + (owner - 1) * NUM_KINDS
        demands = section(legal, start, NUM_KINDS)
        while demands:
            kind = lowest(demands)
            demands &= demands - 1
            hope, _ = move(o, players, ghost, owner, 0, kind, 0, 0)
            if hope > best_gain:
                asked[count] = start + kind
                hopes[count] = hope
                count += 1
    if count == 0:
        return best
    values = np.empty(NUM_KINDS, np.int64)
    smaller = np.empty(SIZES, np.int64)
    chosen = np.empty(LARGEST_VALUE + 2, np.int64)
    most = np.empty(LARGEST_VALUE + 2)
    gains = np.empty((seats, 2, NUM_KINDS))
    priced = np.zeros(seats, np.int64)
    write_sizes(o, 0, smaller)
    for kind in range(NUM_KINDS):
        values[kind] = o.values[0, kind]
    while True:
        top = 0
        for i in range(1, count):
            if hopes[i] > hopes[top]:
                top = i
        if hopes[top] <= best_gain:  # a reply never makes it better
            return best
        gain = hopes[top]
        hopes[top] = OUT_OF_REACH
        owner = (asked[top] - DEMAND) // NUM_KINDS + 1
        kind = (asked[top] - DEMAND) % NUM_KINDS
        responder = 3 - owner if owner == ghost else owner
        here = gains[owner]
        value = np.int64(o.values[owner, kind])
        others = smaller[SIZES - 1] & ~(1 << kind)
        fitting = others & smaller[o.displays[owner, kind]]
        priced[owner] = price(o, players, ghost, owner, responder, fitting, priced[owner], here)
        most_for_each_total(fitting, values, here[1], value, most, chosen)
        total = best_within(value, most)
        given = chosen[total]
        if o.options[0] == 0 and most[value] == OUT_OF_REACH:
            taken = most[total]
            priced[owner] = price(o, players, ghost, owner, responder, others, priced[owner], here)
            paid = most_above(others, values, here[0], value, most, chosen)
            if paid and total_of(paid, here[1]) > taken:
                given = paid
        gain += total_of(given, here[0])
        if gain > best_gain:
            best, best_gain = asked[top], gain


@kernel
def price(o, players, ghost, owner, responder, kinds, priced, gains):
    """Write what groups of the observer, bits, not `priced` yet, change for both when moved to the owner; return all priced."""
    rest = kinds & ~priced
    while rest:
        kind = lowest(rest)
        rest &= rest - 1
        gains[0, kind], gains[1, kind] = move(o, players, ghost, 0, owner, kind, 0, responder)
    return priced | kinds


# Lookahead's outlook ----------------------------------------------------------------------------------------------------


class Table(NamedTuple):
    """The table as lookahead works on it. Seats are rel; P seats, K kinds."""

    players: int
    seats: int
    ghost: int  # NOTHING if there is none
    drawer: int  # whose turn it is
    next_seat: int  # whose turn comes then
    turns: int  # seats that have a turn then, if the pool is empty
    last: bool  # the pool is empty then
    pool: int
    sly: bool  # every demand is legal (G22)
    loose: int  # 1 in a loose game, which column of the weights above holds
    unseen: Array  # int64 [K], tiles in the pool
    tiles: Array  # int64 [P, K], in each display; all of a kind if it is complete
    worth: Array  # int64 [P], value of each display
    points: Array  # float64 [P, K], what completing the kind adds, or added, to the score
    factors: Array  # float64 [FACTORS, SIZES], see `write_factors`
    outlook: Array  # float64 [K, P], what a kind promises each player as the tiles lie
    after: Array  # float64 [P], the same after a move
    smaller: Array  # int64 [SIZES], scratch: groups of at most so many tiles, as bits


STRENGTH_OF, GROUPS_LEFT, TILES_LEFT, PLAIN_OF, FACTORS = 0, 1, 2, 3, 4


@kernel
def write_factors(rounds, loose, factors):
    """Write by number of tiles: what they count, what that many groups or tiles to be collected leave, the plain part."""
    left = (rounds + 1.0) / (rounds + 1.0 + HASTE[loose])
    for i in range(SIZES):
        factors[STRENGTH_OF, i] = i ** STRENGTH[loose]
        factors[GROUPS_LEFT, i] = left**i
        factors[TILES_LEFT, i] = left ** (TILE_STEP * i)
        factors[PLAIN_OF, i] = i ** PLAIN_STEEPNESS[loose]


@kernel
def survey(o):
    """Return the table as it lies."""
    players = players_of(o)
    seats = seats_of(players)
    drawer = place_of(o.turn_player, o.turn_player.shape[0])
    pool = np.int64(o.pool_size)
    draws = min(pool, regular_number(seats))
    loose = 1 if players < seats or o.options[0] else 0
    t = Table(
        players,
        seats,
        place_of(o.ghost, o.ghost.shape[0]),
        drawer,
        (drawer + 1) % seats,
        np.int64(o.last_turns) - 1 if o.last_round else seats,
        pool == draws,
        pool,
        o.options[0] != 0,
        loose,
        np.zeros(NUM_KINDS, np.int64),
        np.zeros((MAX_PLAYERS, NUM_KINDS), np.int64),
        np.zeros(MAX_PLAYERS, np.int64),
        np.zeros((MAX_PLAYERS, NUM_KINDS)),
        np.zeros((FACTORS, SIZES)),
        np.zeros((NUM_KINDS, MAX_PLAYERS)),
        np.zeros(MAX_PLAYERS),
        np.zeros(SIZES, np.int64),
    )
    write_factors((pool - draws) / (seats * regular_number(seats)), loose, t.factors)
    for kind in range(NUM_KINDS):
        t.unseen[kind] = o.unseen[kind]
        for seat in range(seats):
            t.tiles[seat, kind] = o.displays[seat, kind]
            if seat != t.ghost:
                t.points[seat, kind] = points_of(o, seat, kind)
    weigh(t)
    for kind in range(NUM_KINDS):
        write_outlook(t, kind, t.outlook[kind])
    return t


@kernel
def weigh(t):
    """Write the value of each display."""
    for seat in range(t.seats):
        worth = 0
        for kind in range(NUM_KINDS):
            if t.tiles[seat, kind] < TILES_OF_KIND[kind]:
                worth += VALUE_OF_SIZE[t.tiles[seat, kind]]
        t.worth[seat] = worth


@kernel
def write_hopes(t, kind, unseen, hopes):
    """Write what a kind promises each player in points, `unseen` tiles of it being in the pool, into hopes [P]."""
    size = TILES_OF_KIND[kind]
    holders = 0
    contest = POOL_TILE[t.loose] * unseen
    for seat in range(t.seats):
        here = t.tiles[seat, kind]
        if here > 0:
            holders += 1
            contest += t.factors[STRENGTH_OF, here] * (GHOST_PART[t.loose] if seat == t.ghost else 1.0)
    for seat in range(t.seats):
        own = t.tiles[seat, kind]
        hopes[seat] = 0.0
        if own == 0 or seat == t.ghost:
            continue
        if own == size:
            hopes[seat] = t.points[seat, kind]
        elif t.last:
            hopes[seat] = TIE * own
        else:
            part = t.factors[STRENGTH_OF, own] / contest
            part *= t.factors[GROUPS_LEFT, holders - 1] * t.factors[TILES_LEFT, unseen]
            plain = t.factors[PLAIN_OF, own] / t.factors[PLAIN_OF, size]
            hopes[seat] = t.points[seat, kind] * (part + PLAIN[t.loose] * (plain - part))


@kernel
def write_outlook(t, kind, outlook):
    """Write what a kind promises each player, the last tiles of the pool drawn, into outlook [P]."""
    unseen = t.unseen[kind]
    if t.last and unseen > 0:
        t.tiles[t.drawer, kind] += unseen
        write_hopes(t, kind, 0, outlook)
        t.tiles[t.drawer, kind] -= unseen
    else:
        write_hopes(t, kind, unseen, outlook)


@kernel
def carry(t, giver, receiver, kinds):
    """Move whole groups, bits, from one display to another."""
    while kinds:
        kind = lowest(kinds)
        kinds &= kinds - 1
        t.tiles[receiver, kind] += t.tiles[giver, kind]
        t.tiles[giver, kind] = 0


@kernel
def try_move(t, giver, receiver, kind):
    """Write into t.after what a kind promises once its group has moved."""
    moved = t.tiles[giver, kind]
    t.tiles[giver, kind] = 0
    t.tiles[receiver, kind] += moved
    write_outlook(t, kind, t.after)
    t.tiles[giver, kind] = moved
    t.tiles[receiver, kind] -= moved


@kernel
def change_for(t, seat, kind):
    """Return what the move just tried changes for a player: its own outlook less the mean of the others'."""
    total = 0.0
    for other in range(t.seats):
        total += t.after[other] - t.outlook[kind, other]
    own = t.after[seat] - t.outlook[kind, seat]
    return own - OTHERS[t.loose] * (total - own) / (t.players - 1)


@kernel
def tile_ahead(t):
    """Return what one more tile from the pool promises the observer, whose turn it is."""
    gain = 0.0
    for kind in range(NUM_KINDS):
        unseen = t.unseen[kind]
        if unseen > 0:
            t.tiles[0, kind] += 1
            t.unseen[kind] -= 1
            write_outlook(t, kind, t.after)
            t.unseen[kind] += 1
            t.tiles[0, kind] -= 1
            gain += unseen * change_for(t, 0, kind)
    return gain / t.pool


# Lookahead's decisions --------------------------------------------------------------------------------------------------

TO_DEMANDER, TO_RESPONDER, TO_OBSERVER, MOST = 0, 1, 2, 3  # rows of gains
GAIN, OWNER, ASKED, GIVEN = 0, 1, 2, 3  # of a demand found


@kernel
def responder_of(t, demander, owner):
    """Return who decides for the owner (G20)."""
    return 3 - owner - demander if owner == t.ghost else owner


@kernel
def price_ahead(t, seat, owner, responder, kinds, priced, gains):
    """Write what groups of a seat, bits, not `priced` yet, change when moved to the owner; return all priced."""
    rest = kinds & ~priced
    while rest:
        kind = lowest(rest)
        rest &= rest - 1
        try_move(t, seat, owner, kind)
        gains[TO_DEMANDER, kind] = change_for(t, seat, kind)
        gains[TO_RESPONDER, kind] = change_for(t, responder, kind)
        gains[TO_OBSERVER, kind] = change_for(t, 0, kind)
    return priced | kinds


@kernel
def find_demands(t, seat, count, joined, values, chosen, gains, found):
    """Find the best demands of a player by what they change for it after the reply; return what the best does to the
    observer.

    found [count, 4], best first: GAIN, OWNER, the kind ASKED and the groups GIVEN, bits; entries with a gain of 0 are none.
    joined: only demands for kinds of which the player has tiles.
    """
    for place in range(count):
        found[place, GAIN] = 0.0
    effect = 0.0
    for i in range(SIZES):
        t.smaller[i] = 0
    for kind in range(NUM_KINDS):
        here = t.tiles[seat, kind]
        values[kind] = VALUE_OF_SIZE[here]
        if 0 < here < TILES_OF_KIND[kind]:
            t.smaller[here] |= 1 << kind
    for i in range(1, SIZES):
        t.smaller[i] |= t.smaller[i - 1]
    own = t.smaller[SIZES - 1]
    for owner in range(t.seats):
        if owner == seat:
            continue
        responder = responder_of(t, seat, owner)
        priced = 0
        for kind in range(NUM_KINDS):
            there = t.tiles[owner, kind]
            if there == 0 or there == TILES_OF_KIND[kind] or (joined and t.tiles[seat, kind] == 0):
                continue
            value = VALUE_OF_SIZE[there]
            if not t.sly and t.worth[seat] - values[kind] < value:
                continue
            try_move(t, owner, seat, kind)
            gain = change_for(t, seat, kind)
            if gain <= found[count - 1, GAIN]:
                continue
            to_observer = change_for(t, 0, kind)
            others = own & ~(1 << kind)
            fitting = others & t.smaller[there]
            priced = price_ahead(t, seat, owner, responder, fitting, priced, gains)
            most_for_each_total(fitting, values, gains[TO_RESPONDER], value, gains[MOST], chosen)
            total = best_within(value, gains[MOST])
            given = chosen[total]
            if not t.sly and gains[MOST, value] == OUT_OF_REACH:
                taken = gains[MOST, total]
                priced = price_ahead(t, seat, owner, responder, others, priced, gains)
                paid = most_above(others, values, gains[TO_DEMANDER], value, gains[MOST], chosen)
                if paid and total_of(paid, gains[TO_RESPONDER]) > taken:
                    given = paid
            gain += total_of(given, gains[TO_DEMANDER])
            if gain <= found[count - 1, GAIN]:
                continue
            place = count - 1
            while place > 0 and gain > found[place - 1, GAIN]:
                for i in range(4):
                    found[place, i] = found[place - 1, i]
                place -= 1
            found[place, GAIN] = gain
            found[place, OWNER] = owner
            found[place, ASKED] = kind
            found[place, GIVEN] = given
            if place == 0:
                effect = to_observer + total_of(given, gains[TO_OBSERVER])
    return effect


@kernel
def write_changed(t, kinds):
    """Write anew what these kinds, bits, promise."""
    while kinds:
        kind = lowest(kinds)
        kinds &= kinds - 1
        write_outlook(t, kind, t.outlook[kind])


@kernel
def swap_ahead(rule, o):
    """Choose a demand, or none: the best once the opponents have made their next demands (G7-G16)."""
    t = survey(o)
    awaits = extra_awaits(o, t.seats)
    if awaits and rule == ALWAYS:
        return NO_SWAP
    values = np.zeros(NUM_KINDS, np.int64)
    chosen = np.empty(LARGEST_VALUE + 2, np.int64)
    gains = np.zeros((4, NUM_KINDS + 2))
    found = np.zeros((CANDIDATES + 1, 4))
    theirs = np.zeros((1, 4))
    find_demands(t, 0, CANDIDATES, False, values, chosen, gains, found)
    if found[0, GAIN] == 0.0:
        return NO_SWAP
    found[CANDIDATES, GAIN] = tile_ahead(t) if awaits and rule == OWN_RULE else 0.0
    weight = NEXT_TURNS[t.loose]
    best, best_gain = NO_SWAP, OUT_OF_REACH
    for place in range(CANDIDATES + 1):  # the last is no swap
        swaps = place < CANDIDATES
        gain = found[place, GAIN]
        if gain <= best_gain or (swaps and gain == 0.0):
            continue
        owner, kind, given = np.int64(found[place, OWNER]), np.int64(found[place, ASKED]), np.int64(found[place, GIVEN])
        if swaps:
            carry(t, owner, 0, 1 << kind)
            carry(t, 0, owner, given)
            weigh(t)
            write_changed(t, given | (1 << kind))
        for wait in range(min(t.seats - 1, t.turns)):
            seat = (t.next_seat + wait) % t.seats
            if seat != t.ghost and seat != 0:
                gain += weight * find_demands(t, seat, 1, True, values, chosen, gains, theirs)
        if swaps:
            rest = given | (1 << kind)
            while rest:
                other = lowest(rest)
                rest &= rest - 1
                for seat in range(t.seats):
                    t.tiles[seat, other] = o.displays[seat, other]
            weigh(t)
            write_changed(t, given | (1 << kind))
        if gain > best_gain:
            best_gain = gain
            best = DEMAND + (owner - 1) * NUM_KINDS + kind if swaps else NO_SWAP
    return best


# Replies and payments ---------------------------------------------------------------------------------------------------


@kernel
def respond_or_give(bot, gives, o, legal):
    """Take or give groups, pay or stop (G10-G14)."""
    players = players_of(o)
    ghost = place_of(o.ghost, o.ghost.shape[0])
    demander = place_of(o.turn_player, o.turn_player.shape[0])
    owner = place_of(o.owner, o.owner.shape[0])
    responder = 1 if gives else 0
    if gives:
        responder = 3 - owner if owner == ghost else owner
    room = np.int64(o.demanded_value) - np.int64(o.total)
    if room < 0:
        return STOP
    values = np.zeros(NUM_KINDS, np.int64)
    chosen = np.empty(LARGEST_VALUE + 2, np.int64)
    gains = np.empty((3, NUM_KINDS + 2))
    groups = 0
    for kind in range(NUM_KINDS):
        if o.undecided[kind]:
            groups |= 1 << kind
            values[kind] = o.values[demander, kind]
    if bot == LOOKAHEAD:
        t = survey(o)
        for kind in range(NUM_KINDS):
            if o.undecided[kind]:
                try_move(t, demander, owner, kind)
                gains[0, kind] = change_for(t, demander, kind)
                gains[1, kind] = change_for(t, responder, kind)
    else:
        for kind in range(NUM_KINDS):
            if o.undecided[kind]:
                gains[0, kind], gains[1, kind] = move(o, players, ghost, demander, owner, kind, demander, responder)
    if gives:
        taken = most_above(groups, values, gains[0], room, gains[2], chosen)
        return GROUP + lowest(taken)
    most_for_each_total(groups, values, gains[1], room, gains[2], chosen)
    total = best_within(room, gains[2])
    taken = chosen[total]
    if bits.contains(legal, PAY):
        gain = gains[2, total]
        paid = most_above(groups, values, gains[0], room, gains[2], chosen)
        if paid and total_of(paid, gains[1]) > gain:
            return PAY
    return GROUP + lowest(taken) if taken else STOP


# The dispatch ---------------------------------------------------------------------------------------------------------


@kernel
def choose_at_random(rule, o, legal, key):
    """Choose any legal action, under the rule for the extra tile."""
    if rule == ALWAYS and o.phase[Phase.SWAP] and extra_awaits(o, seats_of(players_of(o))):
        return NO_SWAP
    if rule != OWN_RULE and o.phase[Phase.DRAW]:
        return TILES_REGULAR if rule == NEVER else TILES_EXTRA
    return bits.nth(legal, below(key, 0, bits.count(legal)))


@kernel
def choose(bot, option, o, legal, key):
    """Choose an action as `bot`, under the extra-tile rule `option`."""
    if bot == RANDOM:
        return choose_at_random(option, o, legal, key)
    if o.phase[Phase.SWAP]:
        return swap_ahead(option, o) if bot == LOOKAHEAD else swap(option, o, legal)
    if o.phase[Phase.DRAW]:
        return TILES_REGULAR if option == NEVER else TILES_EXTRA
    return respond_or_give(bot, o.phase[Phase.GIVE] != 0, o, legal)


# What the registry and the arena are told -------------------------------------------------------------------------------


def read_options(name: str, texts: Mapping[str, str]) -> int:
    """Return the number of a bot's options: the extra-tile rule."""
    text = texts.get("extra")
    if text is None:
        return OWN_RULE
    if text not in RULES[1:]:
        raise ValueError(f"extra must be always, never or hint, not {text!r}")
    return RULES.index(text)


def outcome(states: Array) -> Outcome:
    """Return the scores and the winners of finished games (G18); the ghost has neither (G19)."""
    seats = np.arange(states["scores"].shape[1])
    taken = seats < states["num_players"][:, None]
    points = np.where(taken, states["scores"], 0).astype(np.float64)
    return Outcome(points, (states["winners"][:, None] >> seats) & 1 != 0)


def behaviour(counts: Array) -> dict[str, float]:
    """Sum up how an agent plays: swaps a decision to swap, whom it asks for what, what it takes, pays and draws.

    Turns in which no swap was possible, and decisions with one legal action, are not counted: nobody was asked.
    """
    demands = counts[DEMAND : DEMAND + NUM_DEMAND].reshape(-1, NUM_KINDS).sum(axis=0)
    swaps, none = int(demands.sum()), int(counts[NO_SWAP])
    images = [int(demands[image == IMAGE].sum()) for image in range(NUM_IMAGES)]
    each = max(1, swaps)
    figures = {"swaps a chance": swaps / max(1, swaps + none)}
    names = ("bottles", "parrots", "coins", "diamonds", "flags")
    figures |= {f"demands that are {name}": n / each for name, n in zip(names, images, strict=True)}
    figures |= {
        "groups handed over a swap": int(counts[GROUP : GROUP + NUM_KINDS].sum()) / each,
        "payments asked a swap": int(counts[PAY]) / each,
        "extra tiles taken": counts[TILES_EXTRA] / max(1, counts[TILES_REGULAR] + counts[TILES_EXTRA]),
    }
    return {"turns with a choice": float(swaps + none)} | {name: float(value) for name, value in figures.items()}


BOTS = registry.register(
    Bots(
        game="stingy-v0",
        choose=choose,
        names=NAMES,
        meanings=(
            "any legal action",
            "the best change of standing at once, after the best reply",
            "the best outlook after the reply and the opponents' next demands",
        ),
        options={"extra": "always, never or hint"},
        read_options=read_options,
        outcome=outcome,
        behaviour=behaviour,
    )
)
