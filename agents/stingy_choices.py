"""How the bots of Stingy choose: `random`, `greedy` and `lookahead`, compiled, for all player counts and options.

A bot sees the observation record `o` (`stingy_env.observation`) and the legal actions, nothing else.

random     any legal action, all alike.
greedy     what changes its standing most at once: points and a share of the points of unfinished groups, its own less the
           mean of the others'. A demand is judged by the owner's best reply, a reply by what changes hands. It takes one
           tile more when that promises more than the best swap.
lookahead  what improves its outlook most. A group's outlook is the player's part in the contest for the kind: its tiles
           against those in other displays and in the pool, less for every group and tile still to be collected the fewer
           turns are left. The last tiles of the pool are known to come, and after them only complete groups count. Its best
           demands, after the owner's best reply, are compared by what the best demand of each opponent who still has a
           turn then does to it. One tile more, or no swap, is the mean over the pool. Near the end the game is played
           out instead: from every demand compared, and every reply, greedy plays on for all, over some orders of the
           pool that all share, and once the pool is empty there is one order only.

Extra-tile rules, the option `extra` of every bot (G16 asks only who made no swap):
    always     takes one tile more in every turn it can, and so never swaps in a turn in which it would be asked
    never      never takes it, and swaps as if it did not exist
    hint       never forgoes a swap for it, and takes it whenever it is asked
    (none)     the bot's own: random either at random; greedy and lookahead weigh the tile against the swap, and take
               it whenever they are asked
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from agents.base import Array
from agents.reading import lowest, place_of, players_of
from agents.stingy_greedy import (
    ALWAYS,
    CHOSEN,
    HOPES,
    MOST,
    NEVER,
    NO_STATE,
    OURS,
    OUT_OF_REACH,
    OWN_RULE,
    SIZES,
    THEIRS,
    best_total,
    choose_at_random,
    choose_greedily,
    colours_of,
    extra_awaits,
    fill_totals,
    finish,
    groups_in_question,
    observers_seat,
    parties,
    payment,
    points_of,
    rebuild,
    regular_number,
    rules_of,
    scratch,
    seats_of,
    settle,
    total_of,
    worth_of_end,
)
from stingy_env.config import MAX_PLAYERS
from stingy_env.observation import OBSERVATION
from stingy_env.rules import (
    DEMAND,
    NO_SWAP,
    NUM_KINDS,
    PAY,
    STATE,
    STOP,
    TILES_EXTRA,
    TILES_OF_KIND,
    TILES_REGULAR,
    VALUE_OF_SIZE,
    Phase,
    apply,
)
from tabletop import bits
from tabletop.jit import kernel
from tabletop.seeding import WORLD, derive

# Bots by number ---------------------------------------------------------------------------------------------------------

RANDOM, GREEDY, LOOKAHEAD = 0, 1, 2

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

# Games played out, from when on it takes not too long.
PLAYOUT_TURNS = 96  # turns to be played for a decision
FEWEST_WORLDS, MOST_WORLDS = 2, 16  # orders of the pool

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
    colours = colours_of(o, seats)
    write_factors((pool - draws) / (seats * regular_number(seats)), loose, t.factors)
    for kind in range(NUM_KINDS):
        t.unseen[kind] = o.unseen[kind]
        for seat in range(seats):
            t.tiles[seat, kind] = o.displays[seat, kind]
            if seat != t.ghost:
                t.points[seat, kind] = points_of(o, colours, seat, kind)
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

TO_OBSERVER = HOPES  # a row of the scratch
GAIN, OWNER, ASKED, GIVEN = 0, 1, 2, 3  # of a demand found


@kernel
def responder_of(t, demander, owner):
    """Return who decides for the owner (G20)."""
    return 3 - owner - demander if owner == t.ghost else owner


@kernel
def price_ahead(t, seat, owner, responder, kinds, priced, work):
    """Write what groups of a seat, bits, not `priced` yet, change when moved to the owner; return all priced."""
    rest = kinds & ~priced
    while rest:
        kind = lowest(rest)
        rest &= rest - 1
        try_move(t, seat, owner, kind)
        work[OURS + kind] = change_for(t, seat, kind)
        work[THEIRS + kind] = change_for(t, responder, kind)
        work[TO_OBSERVER + kind] = change_for(t, 0, kind)
    return priced | kinds


@kernel
def find_demands(t, seat, count, joined, work, found):
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
            if not t.sly and t.worth[seat] - VALUE_OF_SIZE[t.tiles[seat, kind]] < value:
                continue
            try_move(t, owner, seat, kind)
            gain = change_for(t, seat, kind)
            if gain <= found[count - 1, GAIN]:
                continue
            to_observer = change_for(t, 0, kind)
            others = own & ~(1 << kind)
            fitting = others & t.smaller[there]
            priced = price_ahead(t, seat, owner, responder, fitting, priced, work)
            reached = fill_totals(t.tiles[seat], fitting, value, work)
            total = best_total(reached, work)
            given = np.int64(work[CHOSEN + total])
            if not t.sly and reached & 1 == 0:
                taken = work[MOST + total]
                priced = price_ahead(t, seat, owner, responder, others, priced, work)
                paid = payment(t.tiles[seat], others, value, work)
                if paid and total_of(paid, work, THEIRS) > taken:
                    given = paid
            gain += total_of(given, work, OURS)
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
                effect = to_observer + total_of(given, work, TO_OBSERVER)
    return effect


@kernel
def write_changed(t, kinds):
    """Write anew what these kinds, bits, promise."""
    while kinds:
        kind = lowest(kinds)
        kinds &= kinds - 1
        write_outlook(t, kind, t.outlook[kind])


@kernel
def swap_ahead(rule, o, key):
    """Choose a demand, or none: the best once the opponents have made their next demands (G7-G16), or played to the end."""
    t = survey(o)
    awaits = extra_awaits(o, t.seats)
    if awaits and rule == ALWAYS:
        return NO_SWAP
    work = scratch()
    found = np.zeros((CANDIDATES + 1, 4))
    actions = np.empty(CANDIDATES + 1, np.int64)
    count = write_candidates(t, awaits and rule == OWN_RULE, work, found, actions)
    if count == 1:
        return NO_SWAP
    worlds = worlds_for(o, t.seats, count)
    if worlds > 0:
        return play_candidates(rule, o, actions, count, worlds, key)
    best, best_gain = NO_SWAP, OUT_OF_REACH
    for place in range(count):
        gain = found[place, GAIN]
        if gain > best_gain:
            gain += NEXT_TURNS[t.loose] * next_turns(t, o, found[place], work)
        if gain > best_gain:
            best, best_gain = actions[place], gain
    return best


@kernel
def write_candidates(t, awaits, work, found, actions):
    """Write the best demands that gain anything before the opponents' turns, best first, then no swap; return how many.

    found [N, 4] and actions int64 [N], N of at least 2: see `find_demands`. awaits: without a swap one tile more is taken.
    """
    find_demands(t, 0, actions.shape[0] - 1, False, work, found)
    count = 0
    while count < actions.shape[0] - 1 and found[count, GAIN] > 0.0:
        actions[count] = DEMAND + (np.int64(found[count, OWNER]) - 1) * NUM_KINDS + np.int64(found[count, ASKED])
        count += 1
    actions[count] = NO_SWAP
    found[count, :] = 0.0
    if count > 0 and awaits:
        found[count, GAIN] = tile_ahead(t)
    return count + 1


@kernel
def next_turns(t, o, demand, work):
    """Return what the best demands of the opponents, each as if it came next, do to the observer after a demand found."""
    owner, kind, given = np.int64(demand[OWNER]), np.int64(demand[ASKED]), np.int64(demand[GIVEN])
    changed = given | (1 << kind) if owner > 0 else 0
    if changed:
        carry(t, owner, 0, 1 << kind)
        carry(t, 0, owner, given)
        weigh(t)
        write_changed(t, changed)
    effect = 0.0
    theirs = np.zeros((1, 4))
    for wait in range(min(t.seats - 1, t.turns)):
        seat = (t.next_seat + wait) % t.seats
        if seat != t.ghost and seat != 0:
            effect += find_demands(t, seat, 1, True, work, theirs)
    if changed:
        rest = changed
        while rest:
            other = lowest(rest)
            rest &= rest - 1
            for seat in range(t.seats):
                t.tiles[seat, other] = o.displays[seat, other]
        weigh(t)
        write_changed(t, changed)
    return effect


# Replies and payments ---------------------------------------------------------------------------------------------------


@kernel
def reply_ahead(o, legal):
    """Take or give groups, pay or stop (G10-G14)."""
    gives = o.phase[Phase.GIVE] != 0
    room = np.int64(o.demanded_value) - np.int64(o.total)
    if room < 0:
        return STOP
    demander, owner, responder = parties(o)
    may_pay = gives or bits.contains(legal, PAY)
    groups = groups_in_question(o, o.displays[demander], room, may_pay)
    work = scratch()
    t = survey(o)
    rest = groups
    while rest:
        kind = lowest(rest)
        rest &= rest - 1
        try_move(t, demander, owner, kind)
        work[OURS + kind] = change_for(t, demander, kind)
        work[THEIRS + kind] = change_for(t, responder, kind)
    return settle(gives, o.displays[demander], groups, room, may_pay, work)


# Playing the candidates out ---------------------------------------------------------------------------------------------


@kernel
def turns_left(o, seats):
    """Return how many turns there are still, this one too (G15, G17)."""
    if o.last_round:
        return np.int64(o.last_turns)
    number = regular_number(seats)
    return (np.int64(o.pool_size) + number - 1) // number + seats


@kernel
def worlds_for(o, seats, count):
    """Return in how many orders of the pool to play `count` candidates out: as many as time allows, 0 if too few."""
    if count < 2:
        return 0
    if o.last_round:
        return 1
    worlds = PLAYOUT_TURNS // (count * turns_left(o, seats))
    return min(worlds, MOST_WORLDS) if worlds >= FEWEST_WORLDS else 0


@kernel
def play_candidates(rule, o, actions, count, worlds, key):
    """Return the candidate that greedy's play from there on makes most of, over orders of the pool that all share."""
    config = rules_of(o)
    seat = observers_seat(o)
    base, trial = np.zeros(1, STATE), np.zeros(1, STATE)
    view = np.zeros(1, OBSERVATION)
    totals = np.zeros(count)
    for world in range(worlds):
        base[0] = NO_STATE[0]
        rebuild(config, o, derive(key, WORLD, world), base[0])
        for i in range(count):
            trial[0] = base[0]
            apply(config, trial[0], actions[i])
            if trial[0].phase == Phase.DRAW and trial[0].current_player == seat and rule != OWN_RULE:
                apply(config, trial[0], TILES_REGULAR)
            finish(config, trial[0], view)
            totals[i] += worth_of_end(trial[0], seat)
    best = 0
    for i in range(1, count):
        if totals[i] > totals[best]:
            best = i
    return actions[best]


@kernel
def respond_ahead(rule, o, legal, key):
    """Take or give groups, pay or stop (G10-G14): what the end of the game tells to be best, if that is near."""
    usual = reply_ahead(o, legal)
    count = bits.count(legal)
    worlds = worlds_for(o, seats_of(players_of(o)), count)
    if worlds == 0:
        return usual
    actions = np.empty(count, np.int64)
    actions[0] = usual  # chosen where all are alike
    place = 1
    for n in range(count):
        action = bits.nth(legal, n)
        if action != usual:
            actions[place] = action
            place += 1
    return play_candidates(rule, o, actions, count, worlds, key)


# The dispatch -----------------------------------------------------------------------------------------------------------


@kernel
def look_ahead(rule, o, legal, key):
    """Choose as lookahead."""
    if o.phase[Phase.SWAP]:
        return swap_ahead(rule, o, key)
    if o.phase[Phase.DRAW]:
        return TILES_REGULAR if rule == NEVER else TILES_EXTRA
    return respond_ahead(rule, o, legal, key)


@kernel
def choose(bot, option, o, legal, key):
    """Choose an action as `bot`, under the extra-tile rule `option`."""
    if bot == RANDOM:
        return choose_at_random(option, o, legal, key)
    if bot == LOOKAHEAD:
        return look_ahead(option, o, legal, key)
    return choose_greedily(option, o, legal)
