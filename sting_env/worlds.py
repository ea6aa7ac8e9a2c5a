"""Determinization: deal anew what an observer can't know (contract, section 6).

Hidden are the other hands, unless they lie open, and the undrawn cards. Where another player is in the middle of a play,
the cards that the questions so far have named stay in that hand, and deals under which the question would not have been
asked are dealt again: what is left is uniform over the deals that fit all the observer has seen.
"""

from __future__ import annotations

import numpy as np

from sting_env.rules import (
    ADD,
    FIRST_WILD,
    NOTHING,
    NUM_CARDS,
    NUM_KINDS,
    SUBSTITUTE,
    TAKE,
    Phase,
    can_substitute,
    pattern_naturals,
    write_legal,
)
from tabletop import bits
from tabletop.jit import kernel
from tabletop.seeding import WORLD, derive, shuffle

MAX_TRIES = 100_000


@kernel
def named_cards(s):
    """Return the kinds in the current player's hand that the pending play has named, as bits."""
    if s.play == NOTHING or s.play >= TAKE:
        return 0
    if s.play >= SUBSTITUTE:
        return 1 << (s.play - SUBSTITUTE)
    held = np.int64(s.held)
    if s.play >= ADD:
        return 0 if held != NOTHING else 1 << (s.play - ADD)
    named = pattern_naturals(s.play)
    if s.chosen_wild != NOTHING:
        named |= 1 << (FIRST_WILD + np.int64(s.chosen_wild))
    if held != NOTHING:
        named &= ~(1 << held)
    return named


@kernel
def question_fits(config, s):
    """Tell whether the current player could have come to be asked this (a question has two answers or more)."""
    possible = bits.count(s.legal)
    if s.phase == Phase.PLAY or s.phase == Phase.DRAW or s.phase == Phase.RESPOND:
        return possible >= 1
    if s.phase == Phase.WILD and SUBSTITUTE <= s.play < TAKE:  # both wilds can come out, but can either be placed?
        return can_substitute(config, s, s.current_player, np.int64(s.chosen_pile), s.play - SUBSTITUTE)
    return possible >= 2


@kernel
def deal_hidden(s, observer, open_hands, named, pool, key):
    """Deal `pool`, the hidden cards, to hands and stacks as many as each has; `named` kinds go to the current player."""
    unseen = np.zeros(NUM_KINDS, np.int64)
    for seat in range(s.num_players):
        if seat != observer and not open_hands:
            for kind in range(NUM_KINDS):
                keep = 1 if seat == s.current_player and (named >> kind) & 1 else 0
                unseen[kind] += s.hand[seat, kind] - keep
        for place in range(s.draw_low[seat], s.draw_high[seat]):
            unseen[s.draw_stack[place]] += 1
    size = 0
    for kind in range(NUM_KINDS):  # in order of kind: how they lie now must make no difference
        for _ in range(unseen[kind]):
            pool[size] = kind
            size += 1
    s.draw_stack[:] = 0  # drawn cards leave traces beyond the stacks
    shuffle(key, pool, size)
    for seat in range(s.num_players):
        if seat != observer and not open_hands:
            cards = np.int64(s.hand_size[seat])
            s.hand[seat, :] = 0
            s.hand_bits[seat] = 0
            if seat == s.current_player:
                for kind in range(NUM_KINDS):
                    if (named >> kind) & 1:
                        s.hand[seat, kind] = 1
                        s.hand_bits[seat] |= 1 << kind
                        cards -= 1
            for _ in range(cards):
                size -= 1
                kind = np.int64(pool[size])
                s.hand[seat, kind] += 1
                s.hand_bits[seat] |= 1 << kind
        for place in range(s.draw_low[seat], s.draw_high[seat]):
            size -= 1
            s.draw_stack[place] = pool[size]


@kernel
def redeal(config, s, observer):
    """Deal anew, in place, what `observer` can't know; s.rng_key is the stream."""
    if s.current_player < 0:
        return
    named = 0 if s.current_player == observer else named_cards(s)
    pool = np.empty(NUM_CARDS, np.uint8)
    for attempt in range(MAX_TRIES):
        deal_hidden(s, observer, config.open_hands, named, pool, derive(s.rng_key, WORLD, attempt))
        write_legal(config, s)
        if s.current_player == observer or config.open_hands or question_fits(config, s):
            return
