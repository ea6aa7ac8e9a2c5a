"""How Stingy's bots `random` and `greedy` choose, compiled, for all player counts and options, and how greedy plays on.

random     any legal action, all alike.
greedy     what changes its standing most at once: points and a share of the points of unfinished groups, its own less the
           mean of the others'. A demand is judged by the owner's best reply, a reply by what changes hands. It takes one
           tile more when that promises more than the best swap.

The options and their numbers are in `agents.stingy_choices`.
"""

from __future__ import annotations

import numpy as np

from agents.reading import lowest, place_of, players_of, section
from stingy_env.config import MAX_PLAYERS, StingyRules
from stingy_env.observation import OBSERVATION, observe
from stingy_env.rules import (
    DEMAND,
    EXTRA_SINGLES,
    FLAG,
    GHOST,
    GROUP,
    NO_SWAP,
    NOTHING,
    NUM_COLOURS,
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
    fill_pool,
    forget_swap,
    popcount,
    score,
    stack_pool,
    write_group,
    write_legal,
)
from tabletop import bits
from tabletop.jit import kernel, make_scratch
from tabletop.seeding import below

# Extra-tile rules, by number --------------------------------------------------------------------------------------------

OWN_RULE, ALWAYS, NEVER, HINT = 0, 1, 2, 3

SIZES = len(VALUE_OF_SIZE)
OUT_OF_REACH = -np.inf

# Greedy's view of unfinished groups. Found by play against each other; the optimum is flat.
STEEPNESS = 1.5  # n of N tiles are worth the points times (n/N) to this power
LATE = 0.05  # times this once the pool is empty

WIN = 10.0  # points that a win is worth beside those of the complete groups, where games are played out


def make_shares() -> np.ndarray:
    """Return the share of a kind's points that greedy sees in a group of each size: float64 [K, 8]."""
    sizes = np.arange(int(TILES_OF_KIND.max()) + 1)
    return np.minimum(1.0, sizes / TILES_OF_KIND[:, None]) ** STEEPNESS


SHARE = make_shares()
IMAGE = np.array([kind // NUM_COLOURS for kind in range(NUM_KINDS)], np.int64)
COLOURS = NUM_COLOURS + 1  # the flag's own with them (G18)
COLOUR = np.array([NUM_COLOURS if kind == FLAG else kind % NUM_COLOURS for kind in range(NUM_KINDS)], np.int64)
ALL_COLOURS = (1 << (COLOURS * MAX_PLAYERS)) - 1

# Reading the record -----------------------------------------------------------------------------------------------------


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
def colours_of(o, seats):
    """Return the different colours among the complete groups of each seat, COLOURS bits a seat; all where none scores."""
    if o.options[1] == 0:
        return ALL_COLOURS
    colours = 0
    for rel in range(seats):
        for kind in range(NUM_KINDS):
            if o.complete[rel, kind]:
                colours |= 1 << (COLOURS * rel + COLOUR[kind])
    return colours


@kernel
def points_of(o, colours, rel, kind):
    """Return what completing a kind would add to the points of a seat (G3, G18)."""
    points = np.float64(o.complete_points[IMAGE[kind]])
    here = colours >> (COLOURS * rel)
    if (here >> COLOUR[kind]) & 1 == 0:
        have = popcount(here & ((1 << COLOURS) - 1))
        points += VALUE_OF_SIZE[have + 1] - VALUE_OF_SIZE[have]
    return points


@kernel
def held(o, colours, rel, kind, tiles):
    """Return what greedy sees in `tiles` of a kind in front of a player: points, or the hope of them."""
    worth = points_of(o, colours, rel, kind) * SHARE[kind, tiles]
    if o.last_round and tiles < TILES_OF_KIND[kind]:
        worth *= LATE
    return worth


@kernel
def move(o, colours, part, ghost, giver, receiver, kind, first, second):
    """Return what the move of a group changes for `first` and for `second`: own standing less the mean of the others'.

    part: 1 / the number of other players.
    """
    moved = np.int64(o.displays[giver, kind])
    before = np.int64(o.displays[receiver, kind])
    lost, won = 0.0, 0.0
    if giver != ghost:
        lost = -held(o, colours, giver, kind, moved)
    if receiver != ghost:
        won = held(o, colours, receiver, kind, before + moved) - held(o, colours, receiver, kind, before)
    a = lost if first == giver else won if first == receiver else 0.0
    b = lost if second == giver else won if second == receiver else 0.0
    return a - (lost + won - a) * part, b - (lost + won - b) * part


@kernel
def one_tile(o, colours):
    """Return what one more tile from the pool promises."""
    gain = 0.0
    for kind in range(NUM_KINDS):
        if o.unseen[kind] > 0:
            tiles = np.int64(o.displays[0, kind])
            gain += o.unseen[kind] * (held(o, colours, 0, kind, tiles + 1) - held(o, colours, 0, kind, tiles))
    return gain / max(1, np.int64(o.pool_size))


# Choices of groups ------------------------------------------------------------------------------------------------------

# Rows of the scratch `work`, float64 [SCRATCH]. By the room that a total leaves: the most gained, and by which groups, as
# bits. By kind: what a group changes for the demander and for the responder, and what a demand gains before the reply.
MOST, CHOSEN, OURS, THEIRS, HOPES, SCRATCH = 0, 32, 64, 96, 128, 160
scratch = make_scratch(SCRATCH)


@kernel
def groups_up_to(display, kinds, size):
    """Return the groups of at most `size` tiles among `kinds`, bits; display: tiles of each kind."""
    found = 0
    while kinds:
        kind = lowest(kinds)
        kinds &= kinds - 1
        found |= np.int64(display[kind] <= size) << kind
    return found


@kernel
def fill_totals(display, kinds, room, work):
    """Write the most THEIRS that groups of exactly each total up to `room` come to, and which these are.

    Return the totals that there are, as bits: totals are counted by the room they leave, so 0 is `room` itself. Of equal
    choices the one with the smallest bits.
    """
    for left in range(room):
        work[MOST + left] = OUT_OF_REACH
    work[MOST + room], work[CHOSEN + room] = 0.0, 0.0
    reached = 1 << room
    while kinds:
        kind = lowest(kinds)
        kinds &= kinds - 1
        value = VALUE_OF_SIZE[display[kind]]
        gain, bit = work[THEIRS + kind], np.float64(1 << kind)
        rest = reached >> value
        reached |= rest
        while rest:  # the larger totals first; no branches, for nobody could foretell them
            left = lowest(rest)
            rest &= rest - 1
            more, most = work[MOST + left + value] + gain, work[MOST + left]
            with_it, without = work[CHOSEN + left + value] + bit, work[CHOSEN + left]
            work[CHOSEN + left] = with_it if more > most else without
            work[MOST + left] = max(more, most)
    return reached


@kernel
def best_total(reached, work):
    """Return the total that comes to the most, the larger one if equal; totals as in `fill_totals`."""
    best = lowest(reached)
    while reached:
        left = lowest(reached)
        reached &= reached - 1
        if work[MOST + left] > work[MOST + best]:
            best = left
    return best


@kernel
def payment(display, kinds, room, work):
    """Return the groups of a total above `room` that come to the most OURS, as bits, 0 if there are none (G12).

    As `fill_totals`; 0 is any total above `room`, and `room` itself 1.
    """
    for left in range(room + 1):
        work[MOST + left] = OUT_OF_REACH
    work[MOST + room + 1], work[CHOSEN + room + 1], work[CHOSEN] = 0.0, 0.0, 0.0
    reached = 1 << (room + 1)
    while kinds:
        kind = lowest(kinds)
        kinds &= kinds - 1
        value = VALUE_OF_SIZE[display[kind]]
        gain, bit = work[OURS + kind], np.float64(1 << kind)
        rest = reached & ~1
        while rest:
            before = lowest(rest)
            rest &= rest - 1
            left = max(0, before - value)
            more, most = work[MOST + before] + gain, work[MOST + left]
            with_it, without = work[CHOSEN + before] + bit, work[CHOSEN + left]
            work[CHOSEN + left] = with_it if more > most else without
            work[MOST + left] = max(more, most)
            reached |= 1 << left
    return np.int64(work[CHOSEN])


@kernel
def best_single(kinds, work):
    """Return the group with the most THEIRS, not less than 0, as a bit; 0 if there is none; the first of equals."""
    best, most = 0, 0.0
    while kinds:
        kind = lowest(kinds)
        kinds &= kinds - 1
        gain = work[THEIRS + kind]
        if gain > most or (best == 0 and gain == most):
            best, most = 1 << kind, gain
    return best


@kernel
def total_of(kinds, work, row):
    """Return the sum of a row of amounts over kinds, bits."""
    total = 0.0
    while kinds:
        total += work[row + lowest(kinds)]
        kinds &= kinds - 1
    return total


# Greedy's decisions -----------------------------------------------------------------------------------------------------


@kernel
def swap(rule, o, legal):
    """Choose a demand, or none: the best after the owner's best reply, against one more tile (G7-G16).

    Of equal demands the one that gains more before the reply, then the first. All demands for groups of one size from
    one owner have the same reply, unless it would take of the kind demanded, which it can't (G10).
    """
    players = players_of(o)
    seats = seats_of(players)
    best, best_gain, best_hope = NO_SWAP, 0.0, np.inf
    awaits = rule in (ALWAYS, OWN_RULE) and extra_awaits(o, seats)
    if awaits and rule == ALWAYS:
        return NO_SWAP
    ghost = place_of(o.ghost, o.ghost.shape[0])
    part = 1.0 / (players - 1)
    colours = colours_of(o, seats)
    if awaits:
        best_gain = one_tile(o, colours)
    work = scratch()
    own = groups_of(o, 0)
    for owner in range(1, seats):
        responder = 3 - owner if owner == ghost else owner
        start = DEMAND + (owner - 1) * NUM_KINDS
        demands, sizes = 0, 0  # bits: kinds that gain more than the best before the reply, and their numbers of tiles
        rest = section(legal, start, NUM_KINDS)
        while rest:
            kind = lowest(rest)
            rest &= rest - 1
            hope, _ = move(o, colours, part, ghost, owner, 0, kind, 0, 0)
            if hope > best_gain:  # a reply never makes it better
                work[HOPES + kind] = hope
                demands |= 1 << kind
                sizes |= 1 << np.int64(o.displays[owner, kind])
        priced = 0
        while sizes:
            size = lowest(sizes)
            sizes &= sizes - 1
            usual, touched = 0, NOTHING  # the reply that does for most, and the groups that matter to it
            rest = demands
            while rest:
                kind = lowest(rest)
                rest &= rest - 1
                if o.displays[owner, kind] != size:
                    continue
                demands &= ~(1 << kind)
                hope = work[HOPES + kind]
                if hope < best_gain:
                    continue
                if touched == NOTHING and (demands or (own >> kind) & 1 == 0):
                    usual, touched, priced = reply(o, colours, part, ghost, owner, responder, size, own, priced, work)
                given = usual
                if touched == NOTHING or (touched >> kind) & 1:
                    others = own & ~(1 << kind)
                    given, _, priced = reply(o, colours, part, ghost, owner, responder, size, others, priced, work)
                gain = hope + total_of(given, work, OURS)
                if gain < best_gain or (gain == best_gain and hope < best_hope):
                    continue
                if gain > best_gain or hope > best_hope or (best != NO_SWAP and start + kind < best):
                    best, best_gain, best_hope = start + kind, gain, hope
    return best


@kernel
def groups_of(o, rel):
    """Return the groups of a display, as bits."""
    kinds = 0
    for kind in range(NUM_KINDS):
        kinds |= np.int64(o.displays[rel, kind] > 0) << kind
    return kinds


@kernel
def reply(o, colours, part, ghost, owner, responder, size, others, priced, work):
    """Return the groups that change hands in reply to a demand for `size` tiles, and the groups without which it might be
    another reply; as bits (G10-G12). Then the groups priced, see `price`.

    others: the observer's other groups (G8).
    """
    value = VALUE_OF_SIZE[size]
    fitting = groups_up_to(o.displays[0], others, size)
    priced = price(o, colours, part, ghost, owner, responder, fitting, priced, work)
    if size == 1 and fitting:
        taken = best_single(fitting, work)
        return taken, taken | (fitting & -fitting), priced
    reached = fill_totals(o.displays[0], fitting, value, work)
    total = best_total(reached, work)
    taken = np.int64(work[CHOSEN + total])
    if o.options[0]:
        return taken, taken, priced
    if reached & 1:
        return taken, taken | np.int64(work[CHOSEN]), priced
    gain = work[MOST + total]
    priced = price(o, colours, part, ghost, owner, responder, others, priced, work)
    paid = payment(o.displays[0], others, value, work)
    if paid and total_of(paid, work, THEIRS) > gain:
        taken = paid
    return taken, others, priced


@kernel
def price(o, colours, part, ghost, owner, responder, kinds, priced, work):
    """Write what groups of the observer, bits, not `priced` yet, change for both when moved to the owner; return all priced."""
    rest = kinds & ~priced
    while rest:
        kind = lowest(rest)
        rest &= rest - 1
        ours, theirs = move(o, colours, part, ghost, 0, owner, kind, 0, responder)
        work[OURS + kind], work[THEIRS + kind] = ours, theirs
    return priced | kinds


@kernel
def parties(o):
    """Return demander, owner and responder of the swap on the table, rel (G20)."""
    ghost = place_of(o.ghost, o.ghost.shape[0])
    demander = place_of(o.turn_player, o.turn_player.shape[0])
    owner = place_of(o.owner, o.owner.shape[0])
    return demander, owner, 3 - owner - demander if owner == ghost else owner


@kernel
def groups_in_question(o, display, room, may_pay):
    """Return the groups still to be decided on that may matter, as bits (G10-G14)."""
    groups = 0
    for kind in range(NUM_KINDS):
        if o.undecided[kind] and (may_pay or VALUE_OF_SIZE[display[kind]] <= room):
            groups |= 1 << kind
    return groups


@kernel
def respond_or_give(o, legal):
    """Take or give groups, pay or stop (G10-G14)."""
    gives = o.phase[Phase.GIVE] != 0
    room = np.int64(o.demanded_value) - np.int64(o.total)
    if room < 0:
        return STOP
    players = players_of(o)
    ghost = place_of(o.ghost, o.ghost.shape[0])
    demander, owner, responder = parties(o)
    may_pay = gives or bits.contains(legal, PAY)
    groups = groups_in_question(o, o.displays[demander], room, may_pay)
    work = scratch()
    colours = colours_of(o, seats_of(players))
    part = 1.0 / (players - 1)
    rest = groups
    while rest:
        kind = lowest(rest)
        rest &= rest - 1
        ours, theirs = move(o, colours, part, ghost, demander, owner, kind, demander, responder)
        work[OURS + kind], work[THEIRS + kind] = ours, theirs
    return settle(gives, o.displays[demander], groups, room, may_pay, work)


@kernel
def settle(gives, display, groups, room, may_pay, work):
    """Return the next action of who takes or gives, once OURS and THEIRS are written."""
    if gives:
        return GROUP + lowest(payment(display, groups, room, work))
    if room == 1 and not may_pay:
        taken = best_single(groups, work)
        return GROUP + lowest(taken) if taken else STOP
    total = best_total(fill_totals(display, groups, room, work), work)
    taken = np.int64(work[CHOSEN + total])
    if may_pay:
        gain = work[MOST + total]
        paid = payment(display, groups, room, work)
        if paid and total_of(paid, work, THEIRS) > gain:
            return PAY
    return GROUP + lowest(taken) if taken else STOP


# Random -----------------------------------------------------------------------------------------------------------------


@kernel
def choose_at_random(rule, o, legal, key):
    """Choose any legal action, under the rule for the extra tile."""
    if rule == ALWAYS and o.phase[Phase.SWAP] and extra_awaits(o, seats_of(players_of(o))):
        return NO_SWAP
    if rule != OWN_RULE and o.phase[Phase.DRAW]:
        return TILES_REGULAR if rule == NEVER else TILES_EXTRA
    return bits.nth(legal, below(key, 0, bits.count(legal)))


# Playing on -------------------------------------------------------------------------------------------------------------

NO_OBSERVATION = np.zeros(1, OBSERVATION)
NO_STATE = np.zeros(1, STATE)


@kernel
def rules_of(o):
    """Return the rules that an observation tells, paid by points."""
    p = o.complete_points
    points = (np.int64(p[0]), np.int64(p[1]), np.int64(p[2]), np.int64(p[3]), np.int64(p[4]))
    return StingyRules(o.options[0] != 0, o.options[1] != 0, points, False)


@kernel
def observers_seat(o):
    """Return a seat for the observer: 0, unless the ghost must be seat 2 (G19)."""
    ghost = place_of(o.ghost, o.ghost.shape[0])
    return 0 if ghost == NOTHING else GHOST - ghost


@kernel
def rebuild(config, o, key, s):
    """Write into the record `s` the position that an observation shows, with a pool in an order of its own (G6).

    All but that order lies open, and any order is as likely as another. Seats may be numbered otherwise than in the game,
    see `observers_seat`; the order of play is the same.
    """
    players = players_of(o)
    seats = seats_of(players)
    here = observers_seat(o)
    s.num_players, s.num_seats = players, seats
    s.phase = place_of(o.phase, o.phase.shape[0])
    s.rng_key = key
    s.current_player = here
    s.turn_player = (here + place_of(o.turn_player, o.turn_player.shape[0])) % seats
    s.last_turns = o.last_turns if o.last_round else NOTHING
    forget_swap(s)
    owner = place_of(o.owner, o.owner.shape[0])
    if owner != NOTHING:
        s.owner = (here + owner) % seats
        s.demanded = place_of(o.demanded, NUM_KINDS)
        s.demanded_value = o.demanded_value
        s.last_group = place_of(o.last_group, NUM_KINDS)
        s.total = o.total
    for rel in range(seats):
        seat = (here + rel) % seats
        for kind in range(NUM_KINDS):
            if o.displays[rel, kind] > 0:
                write_group(s, seat, kind, np.int64(o.displays[rel, kind]))
            if o.complete[rel, kind]:
                s.complete[seat] |= 1 << kind
        s.scores[seat] = score(config, s, seat)
    for kind in range(NUM_KINDS):
        s.unseen[kind] = o.unseen[kind]
    stack_pool(s, fill_pool(s, key))
    write_legal(config, s)


@kernel
def choose_greedily(rule, o, legal):
    """Choose as greedy."""
    if o.phase[Phase.SWAP]:
        return swap(rule, o, legal)
    if o.phase[Phase.DRAW]:
        return TILES_REGULAR if rule == NEVER else TILES_EXTRA
    return respond_or_give(o, legal)


@kernel
def finish(config, s, view):
    """Let greedy play on to the end of the game; view: records [1] to work in. Return the number of decisions."""
    made = 0
    while s.current_player >= 0:
        view[0] = NO_OBSERVATION[0]
        observe(config, s, s.current_player, view[0])
        apply(config, s, choose_greedily(OWN_RULE, view[0], s.legal))
        made += 1
    return made


@kernel
def worth_of_end(s, seat):
    """Return what the end of a game is worth to a player: points more than the others' mean, and the win (G18)."""
    others = s.num_players - 1.0
    won = (np.int64(s.winners) >> seat) & 1
    share = won * np.int64(s.num_players) / max(1, popcount(s.winners))
    return 100.0 * np.float64(s.returns[seat]) + WIN * (share - 1.0) / others
