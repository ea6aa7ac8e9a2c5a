"""What a player of Stingy may know, as one record of int8 (contract, section 5).

All but the order of the pool lies open (G6), so all players know the same; only the seats are rel, counted from the
observer. Counts above 127 are written as 127.
"""

from __future__ import annotations

from stingy_env.config import MAX_PLAYERS
from stingy_env.rules import (
    GHOST,
    NOTHING,
    NUM_IMAGES,
    NUM_KINDS,
    NUM_TILES,
    Phase,
    is_ghost,
    stack_height,
    tiles_in_display,
    undecided,
)
from tabletop.jit import kernel
from tabletop.state import ObservationField, observation_dtype

P, K = MAX_PLAYERS, NUM_KINDS
NUM_PHASES = len(Phase)
NEXT_TILES = 3  # the most a turn draws
CAP = 127

FIELDS = (
    ObservationField("phase", (NUM_PHASES,), "one-hot: SWAP, RESPOND, GIVE, DRAW, OVER"),
    ObservationField("num_players", (P - 1,), "one-hot: 2 to 6 players"),
    ObservationField("current_player", (P,), "one-hot, rel: who decides (none when over)"),
    ObservationField("turn_player", (P,), "one-hot, rel: whose turn it is, the demander"),
    ObservationField("ghost", (P,), "one-hot, rel: the ghost, with 2 players"),
    ObservationField("options", (2,), "captain_sly, colour_scoring: 1 if on"),
    ObservationField(
        "complete_points", (NUM_IMAGES,), "points of complete bottles, parrots, coins, diamonds, flags, at most 127"
    ),
    ObservationField("displays", (P, K), "rel: tiles of each kind in each display"),
    ObservationField("values", (P, K), "rel: value of each group in each display"),
    ObservationField("complete", (P, K), "rel: 1 for each kind set aside complete"),
    ObservationField("unseen", (K,), "tiles of each kind in the pool"),
    ObservationField("pool_size", (), "tiles in the pool"),
    ObservationField("display_tiles", (P,), "rel: tiles in each display, which break ties"),
    ObservationField("worth", (P,), "rel: sum of the values of each display, at most 127"),
    ObservationField("scores", (P,), "rel: points if the game ended now, at most 127; 0 for the ghost"),
    ObservationField("lead", (P,), "rel: points less the observer's, within -127..127; 0 for the ghost"),
    ObservationField("last_round", (), "1 once the pool is empty"),
    ObservationField("last_turns", (), "seats that then still have a turn, this one too"),
    ObservationField("owner", (P,), "one-hot, rel: the seat demanded from; none before a swap is made this turn"),
    ObservationField("demanded", (K,), "one-hot: the kind demanded"),
    ObservationField("demanded_value", (), "its value, V"),
    ObservationField("total", (), "value taken or given so far, at most 127"),
    ObservationField("last_group", (K,), "one-hot: the kind taken or given last; none before the first"),
    ObservationField("undecided", (K,), "1 for the demander's other groups after that one"),
)

# What is hidden from all players, the order of the pool, comes first: numba takes a record that begins like another for
# the same and warns.
HIDDEN = (("stack_height", (P,)), ("next_tiles", (P, NEXT_TILES, K)), ("pool", (NUM_TILES,)))
OBSERVATION = observation_dtype([(f.name, f.shape) for f in FIELDS])
FULL_OBSERVATION = observation_dtype([*HIDDEN, *((f.name, f.shape) for f in FIELDS)])


@kernel
def capped(count):
    """Return a count as it fits into int8."""
    return max(-CAP, min(CAP, count))


@kernel
def rel_of(s, observer, seat):
    """Return a seat counted from the observer."""
    rel = seat - observer
    return rel + s.num_seats if rel < 0 else rel


@kernel
def seat_of(s, observer, rel):
    """Return the seat `rel` places clockwise of the observer."""
    seat = observer + rel
    return seat - s.num_seats if seat >= s.num_seats else seat


@kernel
def write_seat(s, observer, seat, out):
    """Write a seat as one-hot rel; nobody as all zero."""
    if seat >= 0:
        out[rel_of(s, observer, seat)] = 1


@kernel
def write_swap(s, observer, o):
    """Write the swap being responded to or paid for."""
    if s.demanded == NOTHING:
        return
    write_seat(s, observer, s.owner, o.owner)
    o.demanded[s.demanded] = 1
    o.demanded_value = s.demanded_value
    o.total = capped(s.total)
    if s.last_group != NOTHING:
        o.last_group[s.last_group] = 1
    groups = undecided(s)
    for kind in range(K):
        o.undecided[kind] = (groups >> kind) & 1


@kernel
def observe(config, s, observer, o):
    """Write what `observer` may know into the zeroed record `o`."""
    o.phase[s.phase] = 1
    o.num_players[s.num_players - 2] = 1
    write_seat(s, observer, s.current_player, o.current_player)
    write_seat(s, observer, s.turn_player, o.turn_player)
    if is_ghost(s, GHOST):
        write_seat(s, observer, GHOST, o.ghost)
    o.options[0] = config.captain_sly
    o.options[1] = config.colour_scoring
    for image in range(NUM_IMAGES):
        o.complete_points[image] = capped(config.complete_points[image])
    for rel in range(s.num_seats):
        seat = seat_of(s, observer, rel)
        complete = s.complete[seat]
        for kind in range(K):
            o.displays[rel, kind] = s.tiles[seat, kind]
            o.values[rel, kind] = s.value[seat, kind]
            o.complete[rel, kind] = (complete >> kind) & 1
        o.display_tiles[rel] = tiles_in_display(s, seat)
        o.worth[rel] = capped(s.worth[seat])
        if not is_ghost(s, seat):
            o.scores[rel] = capped(s.scores[seat])
            o.lead[rel] = capped(s.scores[seat] - s.scores[observer])
    for kind in range(K):
        o.unseen[kind] = s.unseen[kind]
    o.pool_size = s.pool_size
    if s.last_turns != NOTHING:
        o.last_round = 1
        o.last_turns = s.last_turns
    write_swap(s, observer, o)


@kernel
def observe_all(config, s, o):
    """Write everything into the zeroed record `o`, seen from the current player (player 0 when over).

    `pool` holds the stacks one after the other, rel, next tile first, as kind + 1; 0 beyond the last.
    """
    observer = max(s.current_player, 0)
    observe(config, s, observer, o)
    place = 0
    for rel in range(s.num_seats):
        seat = seat_of(s, observer, rel)
        height = stack_height(s, seat)
        o.stack_height[rel] = height
        for depth in range(height):
            kind = s.pool[s.pool_high[seat] - 1 - depth]
            if depth < NEXT_TILES:
                o.next_tiles[rel, depth, kind] = 1
            o.pool[place] = kind + 1
            place += 1
