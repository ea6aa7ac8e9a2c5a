"""Stingy, the rules for one record, compiled.

Source: Stingy (Reiner Knizia, 2015), as read in the rules document; every rule has an id there, G1 to G22, cited where
it acts. G1-G6 tiles and deal, G7-G14 swap, G15-G16 new tiles, G17-G18 end, G19-G21 ghost, G22 Captain Sly. `s` is one
record of STATE, `config` a StingyRules.

Letters: P = 6 seats, K = 25 kinds of tile. Kinds: bottles 0..5 (one for each colour), parrots 6..11, coins 12..17,
diamonds 18..23, the flag 24. A seat is a player or, with 2 players, the ghost: seat 2, which decides nothing.
"""

from __future__ import annotations

from enum import IntEnum

import numpy as np

from stingy_env.config import IMAGES, MAX_PLAYERS
from tabletop import bits
from tabletop.jit import kernel
from tabletop.seeding import DEAL, WORLD, below, derive, shuffle
from tabletop.state import NO_PLAYER, state_dtype

# Constants ------------------------------------------------------------------------------------------------------------

NUM_COLOURS = 6
NUM_IMAGES = len(IMAGES)
NUM_KINDS = (NUM_IMAGES - 1) * NUM_COLOURS + 1  # the flag has one colour of its own
FLAG = NUM_KINDS - 1
NUM_TILES = 115
START_TILES = 6
GHOST = 2
GHOST_SEATS = 3  # of a game of 2 players (G19)
EXTRA_SINGLES = 2  # single-tile groups with which one tile more may be taken (G16)
NOTHING = -1  # no demand, no group handed over, the last round not begun
START_STREAM = 1 << 32  # stream index of the start player


class Phase(IntEnum):
    """What kind of decision the current player faces."""

    SWAP = 0
    RESPOND = 1
    GIVE = 2
    DRAW = 3
    OVER = 4


# Actions: named sections, each starting where the one before ends -----------------------------------------------------

DEMAND, NUM_DEMAND = 0, (MAX_PLAYERS - 1) * NUM_KINDS  # (rel - 1) * NUM_KINDS + kind
NO_SWAP, NUM_NO_SWAP = DEMAND + NUM_DEMAND, 1
PAY, NUM_PAY = NO_SWAP + NUM_NO_SWAP, 1
STOP, NUM_STOP = PAY + NUM_PAY, 1
GROUP, NUM_GROUP = STOP + NUM_STOP, NUM_KINDS
TILES, NUM_TILES_ACTIONS = GROUP + NUM_GROUP, 2
NUM_ACTIONS = TILES + NUM_TILES_ACTIONS

TILES_REGULAR, TILES_EXTRA = TILES, TILES + 1

# State ----------------------------------------------------------------------------------------------------------------

STATE = state_dtype(
    NUM_ACTIONS,
    MAX_PLAYERS,
    [
        ("groups", "i4", (MAX_PLAYERS,)),  # kinds in each display, bit = kind
        ("complete", "i4", (MAX_PLAYERS,)),  # kinds each seat has set aside complete, bit = kind
        ("scores", "i4", (MAX_PLAYERS,)),  # points of each player if the game ended now (G18)
        ("worth", "i2", (MAX_PLAYERS,)),  # sum of the values of each display
        ("total", "i2"),  # value taken or given so far in this swap
        ("tiles", "u1", (MAX_PLAYERS, NUM_KINDS)),  # tiles of each group, 0 for none
        ("value", "u1", (MAX_PLAYERS, NUM_KINDS)),  # value of each group (G2), 0 for none
        ("unseen", "u1", (NUM_KINDS,)),  # tiles of each kind in the pool
        ("pool", "u1", (NUM_TILES,)),  # seat p's stack is pool[pool_low[p]:pool_high[p]], next tile last
        ("pool_low", "u1", (MAX_PLAYERS,)),
        ("pool_high", "u1", (MAX_PLAYERS,)),
        ("pool_size", "u1"),  # tiles in all the stacks
        ("num_seats", "i1"),  # players and ghost
        ("turn_player", "i1"),  # seat whose turn it is, the demander
        ("owner", "i1"),  # seat demanded from, NOTHING outside RESPOND and GIVE; so are the next three
        ("demanded", "i1"),  # kind demanded
        ("demanded_value", "i1"),  # V (G7)
        ("last_group", "i1"),  # kind taken or given last, NOTHING before the first
        ("last_turns", "i1"),  # seats that still have a turn, this one too, 0 when over; NOTHING while the pool lasts
        ("winners", "i1"),  # players who won, as bits; 0 until the game is over
    ],
)

# Tables ---------------------------------------------------------------------------------------------------------------


def make_tiles_of_kind() -> np.ndarray:
    """Return how many tiles there are of each kind (G1)."""
    return np.array([3] * NUM_COLOURS + [4] * NUM_COLOURS + [5] * NUM_COLOURS + [6] * NUM_COLOURS + [7], np.int64)


def make_image_bits() -> np.ndarray:
    """Return the kinds of each image, as bits (G1)."""
    colours = (1 << NUM_COLOURS) - 1
    return np.array([colours << (image * NUM_COLOURS) for image in range(NUM_IMAGES - 1)] + [1 << FLAG], np.int64)


def most_needed() -> int:
    """Return how much a display must be worth for every demand to be legal, whatever it is (G8).

    A demand is legal if the display without the demanded kind is worth V. The two groups of that kind hold no more
    tiles than there are, and neither is complete.
    """
    return max(
        int(VALUE_OF_SIZE[demanded] + VALUE_OF_SIZE[own])
        for tiles in TILES_OF_KIND
        for demanded in range(1, tiles)
        for own in range(min(tiles - 1, tiles - demanded) + 1)
    )


VALUE_OF_SIZE = np.array([0, 1, 3, 6, 10, 15, 20, 25], np.int64)  # G2; also the points for different colours (G18)
TILES_OF_KIND = make_tiles_of_kind()
ALL_TILES = np.repeat(np.arange(NUM_KINDS), TILES_OF_KIND).astype(np.uint8)
IMAGE_BITS = make_image_bits()
COLOUR_BITS = (1 << NUM_COLOURS) - 1
MOST_NEEDED = most_needed()


# Small questions ------------------------------------------------------------------------------------------------------


@kernel
def popcount(x):
    """Return the number of bits set in a non-negative int64."""
    return bits.count_word(np.uint64(x))


@kernel
def seat_at(s, seat, rel):
    """Return the seat `rel` places clockwise of `seat`; the ghost's place counts (G4, G19)."""
    place = np.int64(seat) + rel
    return place - s.num_seats if place >= s.num_seats else place


@kernel
def is_ghost(s, seat):
    """Tell whether a seat is the ghost's (G19)."""
    return seat >= s.num_players


@kernel
def responder(s):
    """Return who decides for the owner: the owner, for the ghost the player who is not the demander (G20)."""
    if is_ghost(s, s.owner):
        return 1 - np.int64(s.turn_player)
    return np.int64(s.owner)


@kernel
def regular_number(s):
    """Return how many tiles end a turn (G15, G19)."""
    return 2 if s.num_seats <= 4 else 1


@kernel
def may_take_extra(s):
    """Tell whether one tile more may be taken by who made no swap (G16)."""
    if s.pool_size <= regular_number(s):
        return False
    singles = 0
    for kind in range(NUM_KINDS):
        singles += s.tiles[s.turn_player, kind] == 1
    return singles <= EXTRA_SINGLES


@kernel
def payable(s, seat, owner):
    """Return the groups of `owner` that the other groups of `seat` are worth, as bits (G8)."""
    worth = np.int64(s.worth[seat])
    kinds = 0
    for kind in range(NUM_KINDS):
        needed = np.int64(s.value[owner, kind]) + np.int64(s.value[seat, kind])
        kinds |= np.int64(needed <= worth) << kind
    return kinds & np.int64(s.groups[owner])


@kernel
def undecided(s):
    """Return the demander's other groups that can still be taken or given, as bits (G8, G14)."""
    others = np.int64(s.groups[s.turn_player]) & ~(1 << np.int64(s.demanded))
    after = np.int64(s.last_group) + 1
    return (others >> after) << after


@kernel
def can_total(s, seat, kinds, target):
    """Tell whether some of the groups `kinds` of a display total exactly `target` (G11)."""
    wanted = (1 << (target + 1)) - 1
    totals = 1  # bit t: some of the groups seen so far total t
    for kind in range(NUM_KINDS):
        if (kinds >> kind) & 1:
            totals |= (totals << np.int64(s.value[seat, kind])) & wanted
    return (totals >> target) & 1 != 0


@kernel
def tiles_in_display(s, seat):
    """Return how many tiles a display holds (G18)."""
    tiles = 0
    for kind in range(NUM_KINDS):
        tiles += np.int64(s.tiles[seat, kind])
    return tiles


# Moving tiles ---------------------------------------------------------------------------------------------------------


@kernel
def write_group(s, seat, kind, size):
    """Make a group of a display `size` tiles large, 0 for none."""
    value = VALUE_OF_SIZE[size]
    s.worth[seat] += value - np.int64(s.value[seat, kind])
    s.tiles[seat, kind] = size
    s.value[seat, kind] = value
    if size > 0:
        s.groups[seat] |= 1 << kind
    else:
        s.groups[seat] &= ~(1 << kind)


@kernel
def add_tiles(config, s, seat, kind, number):
    """Put tiles into a display; a kind that is then complete is set aside at once (G5, G9, G13, G15, G19)."""
    size = np.int64(s.tiles[seat, kind]) + number
    if size == TILES_OF_KIND[kind]:
        write_group(s, seat, kind, 0)
        s.complete[seat] |= 1 << kind
        s.scores[seat] = score(config, s, seat)
    else:
        write_group(s, seat, kind, size)


@kernel
def hand_over(config, s, giver, receiver, kind):
    """Move a whole group from one display to another (G7, G13)."""
    number = np.int64(s.tiles[giver, kind])
    write_group(s, giver, kind, 0)
    add_tiles(config, s, receiver, kind, number)


@kernel
def stack_pool(s, size):
    """Deal pool[:size], already shuffled, into one stack for each seat (contract: draw order)."""
    start = 0
    for seat in range(s.num_seats):
        stop = start + (size - seat + s.num_seats - 1) // s.num_seats
        s.pool_low[seat] = start
        s.pool_high[seat] = stop
        start = stop
    s.pool_size = size


@kernel
def stack_height(s, seat):
    """Return how many tiles the stack of a seat holds."""
    return np.int64(s.pool_high[seat]) - np.int64(s.pool_low[seat])


@kernel
def pop_tile(s, seat):
    """Return the next tile for `seat`: from its own stack, else from the far end of the longest other."""
    s.pool_size -= 1
    if stack_height(s, seat) > 0:
        s.pool_high[seat] -= 1
        return np.int64(s.pool[s.pool_high[seat]])
    longest = np.int64(seat)
    for rel in range(1, s.num_seats):
        other = seat_at(s, seat, rel)
        if stack_height(s, other) > stack_height(s, longest):
            longest = other
    tile = np.int64(s.pool[s.pool_low[longest]])
    s.pool_low[longest] += 1
    return tile


@kernel
def draw_tiles(config, s, seat, number):
    """Take tiles from the pool, what is left if fewer (G15)."""
    for _ in range(min(number, np.int64(s.pool_size))):
        kind = pop_tile(s, seat)
        s.unseen[kind] -= 1
        add_tiles(config, s, seat, kind, 1)


# SWAP (G7-G9, G16, G22) -----------------------------------------------------------------------------------------------


@kernel
def legal_swap(config, s):
    """G8: a group that can be returned or paid for; G22: any group. G7: or none."""
    seat = np.int64(s.turn_player)
    unlimited = config.captain_sly or s.worth[seat] >= MOST_NEEDED
    for rel in range(1, s.num_seats):
        owner = seat_at(s, seat, rel)
        kinds = np.int64(s.groups[owner]) if unlimited else payable(s, seat, owner)
        bits.put(s.legal, DEMAND + (rel - 1) * NUM_KINDS, kinds)
    bits.add(s.legal, NO_SWAP)


@kernel
def apply_swap(config, s, action):
    """G9: the demanded group changes hands and the responder decides; without a swap G16 may ask."""
    if action == NO_SWAP:
        if not may_take_extra(s):
            return regular_number(s)
        s.phase = Phase.DRAW
        return NOTHING
    kind = (action - DEMAND) % NUM_KINDS
    owner = seat_at(s, s.turn_player, (action - DEMAND) // NUM_KINDS + 1)
    s.owner = owner
    s.demanded = kind
    s.demanded_value = s.value[owner, kind]
    s.total = 0
    s.last_group = NOTHING
    hand_over(config, s, owner, np.int64(s.turn_player), kind)
    s.phase = Phase.RESPOND
    s.current_player = responder(s)
    return NOTHING


# RESPOND (G10, G11, G13, G14) and GIVE (G12, G13, G14) ----------------------------------------------------------------


@kernel
def legal_respond(config, s):
    """G10, G14: groups that keep the total within V, or no more; G11: PAY before the first, if no choice totals V."""
    seat = np.int64(s.turn_player)
    target = np.int64(s.demanded_value)
    others = undecided(s)
    rest = target - np.int64(s.total)
    within = 0
    for kind in range(NUM_KINDS):
        within |= np.int64(np.int64(s.value[seat, kind]) <= rest) << kind
    bits.add(s.legal, STOP)
    bits.put(s.legal, GROUP, others & within)
    if s.last_group == NOTHING and not config.captain_sly and not can_total(s, seat, others, target):
        bits.add(s.legal, PAY)


@kernel
def apply_respond(config, s, action):
    """G11: PAY leaves the choice to the demander. Else take a group, or end the swap."""
    if action == PAY:
        s.phase = Phase.GIVE
        s.current_player = s.turn_player
        return NOTHING
    return take_or_stop(config, s, action)


@kernel
def legal_give(s):
    """G12, G14: groups with which a total above V can still be reached; STOP once it is."""
    seat = np.int64(s.turn_player)
    target = np.int64(s.demanded_value)
    others = undecided(s)
    reachable = np.int64(s.total)
    for kind in range(NUM_KINDS):
        if (others >> kind) & 1:
            reachable += np.int64(s.value[seat, kind])
    kinds = 0
    for kind in range(NUM_KINDS):
        if (others >> kind) & 1:
            if reachable > target:
                kinds |= 1 << kind
            reachable -= np.int64(s.value[seat, kind])  # a later group first leaves this one out
    bits.put(s.legal, GROUP, kinds)
    if s.total > target:
        bits.add(s.legal, STOP)


@kernel
def take_or_stop(config, s, action):
    """G13: a group taken or given joins the owner's display; STOP ends the swap, and with it the turn (G15)."""
    if action == STOP:
        return regular_number(s)
    kind = action - GROUP
    s.total += np.int64(s.value[s.turn_player, kind])
    s.last_group = kind
    hand_over(config, s, np.int64(s.turn_player), np.int64(s.owner), kind)
    return NOTHING


# DRAW (G16) -----------------------------------------------------------------------------------------------------------


@kernel
def legal_draw(s):
    """G16: the regular number or one more."""
    bits.add(s.legal, TILES_REGULAR)
    bits.add(s.legal, TILES_EXTRA)


@kernel
def apply_draw(s, action):
    """G16: take what was announced."""
    return regular_number(s) + (action - TILES_REGULAR)


# End of turn and game (G15, G17-G19, G21) -----------------------------------------------------------------------------


@kernel
def end_turn(config, s, number):
    """Draw `number` tiles (G15) and pass the turn on (G4); the ghost's turn is a draw (G19); the last ends the game."""
    while True:
        draw_tiles(config, s, np.int64(s.turn_player), number)
        if s.last_turns != NOTHING:
            s.last_turns -= 1
        elif s.pool_size == 0:  # G17; G21: the ghost has no last turn of its own
            s.last_turns = s.num_players if is_ghost(s, s.turn_player) else s.num_seats
        if s.last_turns == 0:
            end_game(config, s)
            break
        s.turn_player = seat_at(s, s.turn_player, 1)
        s.current_player = s.turn_player
        s.phase = Phase.SWAP
        if not is_ghost(s, s.turn_player):
            break
        number = regular_number(s)
    forget_swap(s)


@kernel
def forget_swap(s):
    """Forget the demand and what came of it."""
    s.owner = NOTHING
    s.demanded = NOTHING
    s.demanded_value = NOTHING
    s.last_group = NOTHING
    s.total = 0


@kernel
def score(config, s, seat):
    """Return the points of a player's complete groups (G3, G18); the ghost has none (G19)."""
    if is_ghost(s, seat):
        return 0
    complete = np.int64(s.complete[seat])
    points = 0
    for image in range(NUM_IMAGES):
        points += config.complete_points[image] * popcount(complete & IMAGE_BITS[image])
    if config.colour_scoring:
        colours = complete >> FLAG
        for image in range(NUM_IMAGES - 1):
            colours |= ((complete >> (image * NUM_COLOURS)) & COLOUR_BITS) << 1
        points += VALUE_OF_SIZE[popcount(colours)]
    return points


@kernel
def winners(s):
    """Return the players with the most points, of these the ones with the most tiles in the display, as bits (G18)."""
    best = np.int64(-1)
    found = 0
    for seat in range(s.num_players):
        rank = np.int64(s.scores[seat]) * (NUM_TILES + 1) + tiles_in_display(s, seat)
        if rank > best:
            best = rank
            found = 0
        if rank == best:
            found |= 1 << seat
    return found


@kernel
def end_game(config, s):
    """G18: the highest score wins; reward the players (contract, section 2)."""
    s.phase = Phase.OVER
    s.current_player = NO_PLAYER
    s.winners = winners(s)
    others = s.num_players - 1.0
    total = 0
    for seat in range(s.num_players):
        total += np.int64(s.scores[seat])
    for seat in range(s.num_players):
        own = np.int64(s.scores[seat])
        if config.reward_win:
            won = (np.int64(s.winners) >> seat) & 1
            share = won * s.num_players / popcount(s.winners)
            reward(s, seat, (share - 1.0) / others)
        else:
            reward(s, seat, (own - (total - own) / others) / 100.0)


@kernel
def reward(s, seat, value):
    """Pay a reward."""
    s.rewards[seat] += np.float32(value)
    s.returns[seat] += np.float32(value)


# The two dispatches ---------------------------------------------------------------------------------------------------


@kernel
def write_legal(config, s):
    """Write the legal actions of the current player into s.legal."""
    bits.clear(s.legal)
    phase = s.phase
    if phase == Phase.SWAP:
        legal_swap(config, s)
    elif phase == Phase.RESPOND:
        legal_respond(config, s)
    elif phase == Phase.GIVE:
        legal_give(s)
    elif phase == Phase.DRAW:
        legal_draw(s)


@kernel
def apply(config, s, action):
    """Carry out a legal action of the current player, and every decision after it that leaves no choice."""
    while action != NOTHING:
        phase = s.phase
        if phase == Phase.SWAP:
            tiles = apply_swap(config, s, action)
        elif phase == Phase.RESPOND:
            tiles = apply_respond(config, s, action)
        elif phase == Phase.GIVE:
            tiles = take_or_stop(config, s, action)
        else:
            tiles = apply_draw(s, action)
        if tiles != NOTHING:
            end_turn(config, s, tiles)
        write_legal(config, s)
        action = only_action(s)


@kernel
def only_action(s):
    """Return the legal action if there is exactly one, else NOTHING."""
    if bits.count(s.legal) == 1:
        return bits.nth(s.legal, 0)
    return NOTHING


# The deal (G4-G6) -----------------------------------------------------------------------------------------------------


@kernel
def deal(config, s):
    """Begin a game: shuffle the pool, deal the displays (G5), a random player starts (G4)."""
    s.num_seats = GHOST_SEATS if s.num_players == 2 else s.num_players
    s.last_turns = NOTHING
    forget_swap(s)
    for kind in range(NUM_KINDS):
        s.unseen[kind] = TILES_OF_KIND[kind]
    fill_pool(s, derive(s.rng_key, DEAL, 0))
    size = NUM_TILES
    for seat in range(s.num_seats):
        for _ in range(START_TILES):
            size -= 1
            kind = np.int64(s.pool[size])
            s.unseen[kind] -= 1
            add_tiles(config, s, seat, kind, 1)
    stack_pool(s, size)
    s.turn_player = below(derive(s.rng_key, DEAL, START_STREAM), 0, s.num_players)
    s.current_player = s.turn_player
    s.phase = Phase.SWAP
    resume(config, s)


@kernel
def fill_pool(s, key):
    """Lay the unseen tiles into pool[:size] in random order and return how many there are."""
    size = 0
    for kind in range(NUM_KINDS):
        for _ in range(s.unseen[kind]):
            s.pool[size] = kind
            size += 1
    shuffle(key, s.pool, size)
    return size


@kernel
def resume(config, s):
    """Write the legal actions and make the decisions that leave no choice."""
    write_legal(config, s)
    apply(config, s, only_action(s))


@kernel
def redeal(config, s, observer):
    """Deal the pool anew over the stacks as high as they are: its order is all that is hidden (G6).

    It is the same for every observer, and depends on nothing but what all can see and the stream s.rng_key.
    """
    size = fill_pool(s, derive(s.rng_key, WORLD, 0))
    s.pool[size:] = 0
    start = 0
    for seat in range(s.num_seats):
        stop = start + stack_height(s, seat)
        s.pool_low[seat] = start
        s.pool_high[seat] = stop
        start = stop
