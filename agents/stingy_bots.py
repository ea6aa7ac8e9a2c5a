"""Bots for Stingy: `random` and `greedy`, compiled, one for all player counts and options.

A bot sees the observation record `o` (`stingy_env.observation`) and the legal actions, nothing else.

random     any legal action, all alike.
greedy     what changes its standing most at once: points and a share of the points of unfinished groups, its own less the
           mean of the others'. A demand is judged by the owner's best reply, a reply by what changes hands. It takes one
           tile more when that promises more than the best swap.

Extra-tile rules, the option `extra` of every bot (G16 asks only who made no swap):
    always     takes one tile more in every turn it can, and so never swaps in a turn in which it would be asked
    never      never takes it, and swaps as if it did not exist
    hint       never forgoes a swap for it, and takes it whenever it is asked
    (none)     the bot's own: random either at random, greedy weighs the tile against the swap and takes it whenever it
               is asked
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from agents import registry
from agents.base import Array, Bots, Outcome
from stingy_env.rules import (
    COLOUR_BITS,
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
    NUM_TILES,
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

RANDOM, GREEDY = 0, 1
NAMES = ("random", "greedy")
RULES = ("", "always", "never", "hint")
OWN_RULE, ALWAYS, NEVER, HINT = 0, 1, 2, 3

LARGEST_VALUE = int(VALUE_OF_SIZE.max())
OUT_OF_REACH = -1e9

# Greedy's view of unfinished groups. Found by play against each other; the optimum is flat.
STEEPNESS = 1.5  # n of N tiles are worth the points times (n/N) to this power
LATE = 0.05  # times this once the pool is empty


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
def groups_of(o, rel):
    """Return the kinds in a display as bits."""
    kinds = 0
    for kind in range(NUM_KINDS):
        if o.displays[rel, kind] > 0:
            kinds |= 1 << kind
    return kinds


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

    kinds: bits; values int64 [K], gains float64 [K]. most[room + 1], chosen[room + 1]: the same for any larger total.
    """
    for total in range(room + 2):
        most[total] = OUT_OF_REACH
        chosen[total] = 0
    most[0] = 0.0
    while kinds:
        kind = lowest(kinds)
        kinds &= kinds - 1
        value = values[kind]
        gain = gains[kind]
        for total in range(room + 1, -1, -1):
            if most[total] > OUT_OF_REACH:
                after = min(room + 1, total + value)
                if after == total:
                    if gain > 0.0:
                        most[total] += gain
                        chosen[total] |= 1 << kind
                elif most[total] + gain > most[after]:
                    most[after] = most[total] + gain
                    chosen[after] = chosen[total] | (1 << kind)


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
def after_reply(kinds, values, to_demander, to_responder, value, may_pay, most, chosen):
    """Return what the reply to a demand changes for the demander: the best the responder can take, or PAY (G10-G12).

    kinds: the demander's other groups, bits. to_demander, to_responder: float64 [K], what the move of a group to the owner
    changes for either.
    """
    most_for_each_total(kinds, values, to_responder, value, most, chosen)
    best = best_within(value, most)
    gain = most[best]
    change = total_of(chosen[best], to_demander)
    if may_pay and most[value] == OUT_OF_REACH:
        most_for_each_total(kinds, values, to_demander, value, most, chosen)
        if most[value + 1] > OUT_OF_REACH and total_of(chosen[value + 1], to_responder) > gain:
            change = most[value + 1]
    return change


# Decisions --------------------------------------------------------------------------------------------------------------


@kernel
def swap(rule, o, legal):
    """Choose a demand, or none: the best after the owner's best reply, against one more tile (G7-G16)."""
    players = players_of(o)
    seats = seats_of(players)
    ghost = place_of(o.ghost, o.ghost.shape[0])
    best, best_gain = NO_SWAP, 0.0
    if rule == ALWAYS or rule == OWN_RULE:
        if extra_awaits(o, seats):
            if rule == ALWAYS:
                return NO_SWAP
            best_gain = one_tile(o)
    own = groups_of(o, 0)
    values = np.empty(NUM_KINDS, np.int64)
    chosen = np.empty(LARGEST_VALUE + 2, np.int64)
    gains = np.empty((3, NUM_KINDS + 2))
    for kind in range(NUM_KINDS):
        values[kind] = o.values[0, kind]
    for owner in range(1, seats):
        demands = section(legal, DEMAND + (owner - 1) * NUM_KINDS, NUM_KINDS)
        responder = 3 - owner if owner == ghost else owner
        ready = False
        while demands:
            kind = lowest(demands)
            demands &= demands - 1
            gain, _ = move(o, players, ghost, owner, 0, kind, 0, responder)
            if gain <= best_gain:  # a reply never makes it better
                continue
            if not ready:
                ready = True
                groups = own
                while groups:
                    other = lowest(groups)
                    groups &= groups - 1
                    gains[0, other], gains[1, other] = move(o, players, ghost, 0, owner, other, 0, responder)
            others = own & ~(1 << kind)
            value = np.int64(o.values[owner, kind])
            gain += after_reply(others, values, gains[0], gains[1], value, o.options[0] == 0, gains[2], chosen)
            if gain > best_gain:
                best, best_gain = DEMAND + (owner - 1) * NUM_KINDS + kind, gain
    return best


@kernel
def respond_or_give(gives, o, legal):
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
            gains[0, kind], gains[1, kind] = move(o, players, ghost, demander, owner, kind, demander, responder)
    most_for_each_total(groups, values, gains[0 if gives else 1], room, gains[2], chosen)
    total = room + 1 if gives else best_within(room, gains[2])
    taken = chosen[total]
    if bits.contains(legal, PAY):
        gain = gains[2, total]
        most_for_each_total(groups, values, gains[0], room, gains[2], chosen)
        if gains[2, room + 1] > OUT_OF_REACH and total_of(chosen[room + 1], gains[1]) > gain:
            return PAY
    return GROUP + lowest(taken) if taken else STOP


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
        return swap(option, o, legal)
    if o.phase[Phase.DRAW]:
        return TILES_REGULAR if option == NEVER else TILES_EXTRA
    return respond_or_give(o.phase[Phase.GIVE] != 0, o, legal)


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
    images = [int(demands[IMAGE == image].sum()) for image in range(NUM_IMAGES)]
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
        ),
        options={"extra": "always, never or hint"},
        read_options=read_options,
        outcome=outcome,
        behaviour=behaviour,
    )
)
