"""What a player of Sting may know, as one record of int8 (contract, section 5).

Everything a player could read off the table or remember from it: hidden are the other hands and the undrawn cards. Seats
are rel, counted from the observer. Counts above 127 are written as 127.
"""

from __future__ import annotations

import numpy as np

from sting_env.config import MAX_PLAYERS, UNLIMITED
from sting_env.piles import NUM_COLOURS, NUM_NATURALS, NUM_NUMBERS, NUM_WILDS, SET, SUPER
from sting_env.rules import (
    ADD,
    COPIES,
    DISCARD,
    MAX_PILES,
    NOTHING,
    NUM_ADD,
    NUM_KINDS,
    PASS,
    PILE,
    RUN_LOWS,
    RUN_PATTERNS,
    RUNS,
    SET_PATTERNS,
    SETS,
    SUBSTITUTE,
    Phase,
)
from tabletop.jit import kernel
from tabletop.state import ObservationField, observation_dtype

P, K, L = MAX_PLAYERS, NUM_KINDS, MAX_PILES
DISCARD_DEPTH = 4  # cards of the discard pile shown in order, the top first
NUM_PHASES = len(Phase)
NUM_PLAYS = 5  # set, run, add, substitute, pass
CAP = 127

# Columns of one row of `piles`, each section starting where the one before ends.
OWNER, NUM_OWNER = 0, P  # one-hot, rel
KIND, NUM_KIND = OWNER + NUM_OWNER, 2  # one-hot: set, run
COLOUR, NUM_COLOUR = KIND + NUM_KIND, NUM_COLOURS  # run: one-hot; set: colours of its naturals
NATURAL, NUM_NATURAL = COLOUR + NUM_COLOUR, NUM_NUMBERS  # run: cells with a natural; set: one-hot, its number
WILD_CELL, NUM_WILD_CELL = NATURAL + NUM_NATURAL, NUM_NUMBERS  # run: 1 Wild, 2 Double, 3 Triple, -1 Super; set: 0
WILD_COUNT, NUM_WILD_COUNT = WILD_CELL + NUM_WILD_CELL, NUM_WILDS  # wilds by kind
SIZE, NUM_SIZE = WILD_COUNT + NUM_WILD_COUNT, 1  # cards
POINTS, NUM_POINTS = SIZE + NUM_SIZE, 1  # points at the end of the round, at most 127
FIXED, NUM_FIXED = POINTS + NUM_POINTS, 1  # holds a Super: can't be passed
PILE_COLUMNS = FIXED + NUM_FIXED

FIELDS = (
    ObservationField("phase", (NUM_PHASES,), "one-hot: DRAW, PLAY, WILD, SEAT, PILE, END, RESPOND, OVER"),
    ObservationField("num_players", (P - 1,), "one-hot: 2 to 6 players"),
    ObservationField("current_player", (P,), "one-hot, rel: who decides (none when over)"),
    ObservationField("turn_player", (P,), "one-hot, rel: whose turn it is"),
    ObservationField("dealer", (P,), "one-hot, rel"),
    ObservationField(
        "options",
        (6,),
        "special_cards, open_hands, discard_to_go_out, substitution, stack_multipliers, face_values: 1 if on",
    ),
    ObservationField("hand", (K,), "cards of each kind in the observer's hand", public=False),
    ObservationField("hand_size", (P,), "rel: cards in each hand", scale=10),
    ObservationField("open_hands", (P - 1, K), "rel 1..5: cards of each kind, with the option open_hands, else 0"),
    ObservationField("held", (NUM_ADD,), "one-hot: the card taken or substituted that must now be placed"),
    ObservationField("play", (NUM_PLAYS,), "one-hot: the play being asked about: set, run, add, substitute, pass"),
    ObservationField("play_number", (NUM_NUMBERS,), "one-hot: number of the set, lowest number of the run"),
    ObservationField("play_pattern", (SET_PATTERNS,), "one-hot: pattern of the set, place of the wild in the run"),
    ObservationField("play_colour", (NUM_COLOURS,), "one-hot: colour of the run"),
    ObservationField("play_card", (NUM_ADD,), "one-hot: the card added, the natural that substitutes"),
    ObservationField("play_wild", (NUM_WILDS,), "one-hot: the wild chosen"),
    ObservationField("play_pile", (L,), "one-hot: the pile chosen"),
    ObservationField("passer", (P,), "one-hot, rel: who passed the pile being answered"),
    ObservationField("receiver", (P,), "one-hot, rel: to whom"),
    ObservationField("first_out", (P,), "one-hot, rel: who emptied a hand during this pass"),
    ObservationField("discard_top", (DISCARD_DEPTH, K), "one-hot each: the top four cards of the discard pile"),
    ObservationField("discard", (K,), "cards of each kind in the discard pile"),
    ObservationField("discard_size", (), "cards in the discard pile", scale=30),
    ObservationField("draw_size", (), "cards in the draw pile", scale=30),
    ObservationField("unseen", (K,), "cards of each kind in the draw pile and the other hands", public=False),
    ObservationField("num_piles", (), "piles on the table", scale=10),
    ObservationField(
        "piles",
        (L, PILE_COLUMNS),
        "a row for each pile in order of laying: owner 6 one-hot rel; set, run; colours 4; numbers 10; wild cells 10 "
        "(1 Wild, 2 Double, 3 Triple, -1 Super); wilds by kind 4; cards; points (at most 127); holds a Super",
        scale=5,
        row_actions=PILE,
    ),
    ObservationField("table_points", (P,), "rel: points of the piles in front of each seat, at most 127", scale=20),
    ObservationField("totals", (P,), "rel: points so far, at most 127", scale=30),
    ObservationField("lead", (P,), "rel: points so far less the observer's, within -127..127", scale=30),
    ObservationField("rounds_done", (), "rounds scored", scale=5),
    ObservationField("rounds_left", (), "rounds to come, this one too; 127 with no limit", scale=5),
    ObservationField("to_target", (P,), "rel: points to target_score, at most 127; 127 without one", scale=100),
    ObservationField("turn", (), "turns completed in this round, at most 127", scale=20),
    ObservationField("turns_left", (), "turns until the round ends blocked, at most 127", scale=127),
)

OBSERVATION = observation_dtype([(f.name, f.shape) for f in FIELDS])
# The hidden fields come first: were they last, numba would take one record for a kind of the other, and warn.
FULL_OBSERVATION = observation_dtype(
    [("hands", (P, K)), ("undrawn", (K,)), ("next_card", (P, K))]  # rel to the current player, as all the rest
    + [(f.name, f.shape) for f in FIELDS]
)


@kernel
def capped(count):
    """Return a count as it fits into int8."""
    return max(-CAP, min(CAP, count))


@kernel
def write_seat(s, observer, seat, out):
    """Write a seat as one-hot rel; nobody as all zero."""
    if seat >= 0:
        rel = seat - observer
        if rel < 0:
            rel += s.num_players
        out[rel] = 1


@kernel
def write_play(s, o):
    """Write the play being asked about."""
    play = s.play
    if play == NOTHING:
        return
    if play < RUNS:
        o.play[0] = 1
        o.play_number[(play - SETS) // SET_PATTERNS] = 1
        o.play_pattern[(play - SETS) % SET_PATTERNS] = 1
    elif play < ADD:
        o.play[1] = 1
        o.play_pattern[(play - RUNS) % RUN_PATTERNS] = 1
        o.play_number[(play - RUNS) // RUN_PATTERNS % RUN_LOWS] = 1
        o.play_colour[(play - RUNS) // (RUN_PATTERNS * RUN_LOWS)] = 1
    elif play < SUBSTITUTE:
        o.play[2] = 1
        o.play_card[play - ADD] = 1
    elif play < PASS:
        o.play[3] = 1
        o.play_card[play - SUBSTITUTE] = 1
    elif play < DISCARD:
        o.play[4] = 1
    if s.chosen_wild != NOTHING:
        o.play_wild[s.chosen_wild] = 1
    if s.chosen_pile != NOTHING:
        o.play_pile[s.chosen_pile] = 1


@kernel
def write_pile(s, rel, i, row):
    """Write one row of `piles`, that of pile i in front of seat `rel`."""
    row[OWNER + rel] = 1
    suit = np.int64(s.pile_suit[i])
    kind = np.int64(s.pile_kind[i])
    row[KIND + kind] = 1
    numbers = np.int64(s.pile_naturals[i])
    colours = 1 << suit
    if kind == SET:
        numbers, colours = colours, numbers
    for colour in range(NUM_COLOURS):
        row[COLOUR + colour] = (colours >> colour) & 1
    for number in range(NUM_NUMBERS):
        row[NATURAL + number] = (numbers >> number) & 1
    for cell in range(NUM_NUMBERS):
        row[WILD_CELL + cell] = s.pile_cells[i, cell]
    for wild in range(NUM_WILDS):
        row[WILD_COUNT + wild] = s.pile_wilds[i, wild]
    row[SIZE] = s.pile_high[i] - s.pile_low[i] + 1
    row[POINTS] = min(CAP, s.pile_points[i])
    row[FIXED] = min(1, s.pile_wilds[i, SUPER])


@kernel
def observe(config, s, observer, o):
    """Write what `observer` may know into the zeroed record `o`."""
    n = s.num_players
    o.phase[s.phase] = 1
    o.num_players[n - 2] = 1
    write_seat(s, observer, s.current_player, o.current_player)
    write_seat(s, observer, s.turn_player, o.turn_player)
    write_seat(s, observer, s.dealer, o.dealer)
    write_seat(s, observer, s.passer, o.passer)
    write_seat(s, observer, s.receiver, o.receiver)
    write_seat(s, observer, s.first_out, o.first_out)
    o.options[0] = config.special_cards
    o.options[1] = config.open_hands
    o.options[2] = config.discard_to_go_out
    o.options[3] = config.substitution
    o.options[4] = config.stack_multipliers
    o.options[5] = config.face_values
    if s.held != NOTHING:
        o.held[s.held] = 1
    write_play(s, o)
    in_game = K if config.special_cards else NUM_NATURALS
    for kind in range(in_game):
        own = s.hand[observer, kind]
        o.hand[kind] = own
        o.unseen[kind] = COPIES[kind] - s.shown[kind] - own
        o.discard[kind] = s.discarded[kind]
    for depth in range(min(DISCARD_DEPTH, s.discard_size)):
        o.discard_top[depth, s.discard[s.discard_size - 1 - depth]] = 1
    o.discard_size = s.discard_size
    o.draw_size = s.draw_size
    o.num_piles = s.num_piles
    own_total = s.totals[observer]
    for rel in range(n):
        seat = (observer + rel) % n
        o.hand_size[rel] = min(CAP, s.hand_size[seat])
        o.totals[rel] = capped(s.totals[seat])
        o.lead[rel] = capped(s.totals[seat] - own_total)
        o.to_target[rel] = CAP if config.target_score == UNLIMITED else capped(config.target_score - s.totals[seat])
        if config.open_hands and rel > 0:
            for kind in range(K):
                o.open_hands[rel - 1, kind] = s.hand[seat, kind]
    for i in range(s.num_piles):
        rel = np.int64(s.pile_owner[i]) - observer
        if rel < 0:
            rel += n
        write_pile(s, rel, i, o.piles[i])
        o.table_points[rel] = min(CAP, o.table_points[rel] + np.int64(s.pile_points[i]))
    o.rounds_done = capped(s.rounds_done)
    o.rounds_left = CAP if config.rounds == UNLIMITED else capped(config.rounds - s.rounds_done)
    o.turn = capped(s.turn)
    o.turns_left = capped(config.max_turns - s.turn)


@kernel
def observe_all(config, s, o):
    """Write everything into the zeroed record `o`, seen from the current player (player 0 when over)."""
    observer = max(s.current_player, 0)
    n = s.num_players
    observe(config, s, observer, o)
    for rel in range(n):
        seat = (observer + rel) % n
        for kind in range(K):
            o.hands[rel, kind] = s.hand[seat, kind]
        low, high = np.int64(s.draw_low[seat]), np.int64(s.draw_high[seat])
        for place in range(low, high):
            o.undrawn[s.draw_stack[place]] += 1
        if high > low:
            o.next_card[rel, s.draw_stack[high - 1]] = 1
