"""G8: a demand is legal exactly when the owner could always get an equal return or be paid.

Brute force over every choice of the demander's other groups, for random displays of up to eight groups.
"""

import numpy as np

from stingy_env import StingyGame
from stingy_env.rules import NUM_KINDS, TILES_OF_KIND, VALUE_OF_SIZE, can_total, write_group, write_legal
from tabletop.jit import entry

DISPLAYS = 100_000
MOST_GROUPS = 8


@entry
def lay_out(rules, states, sizes, kinds, equal):
    """Lay the displays `sizes` [B, 2, K] of seats 0 and 1; seat 0 is on turn.

    Write the legal actions, and whether groups of seat 0 other than `kinds` [B] total what that group of seat 1 is
    worth.
    """
    for b in range(states.shape[0]):
        s = states[b]
        for seat in range(2):
            for kind in range(sizes.shape[2]):
                write_group(s, seat, kind, sizes[b, seat, kind])
        s.turn_player = 0
        s.current_player = 0
        write_legal(rules, s)
        others = np.int64(s.groups[0]) & ~(1 << kinds[b])
        equal[b] = can_total(s, 0, others, np.int64(s.value[1, kinds[b]]))


def random_displays(rng):
    """Return sizes [N, 2, K]: up to eight groups before seat 0, one before seat 1, and the kind of that one [N]."""
    own = np.zeros((DISPLAYS, NUM_KINDS), np.int64)
    groups = rng.integers(0, MOST_GROUPS + 1, DISPLAYS)
    order = rng.random((DISPLAYS, NUM_KINDS)).argsort(axis=1)
    small = rng.random(DISPLAYS) < 0.7  # mostly little, where it matters
    for place in range(MOST_GROUPS):
        lanes = np.flatnonzero(groups > place)
        kinds = order[lanes, place]
        most = np.where(small[lanes], np.minimum(2, TILES_OF_KIND[kinds] - 1), TILES_OF_KIND[kinds] - 1)
        own[lanes, kinds] = rng.integers(1, most + 1)
    demanded = rng.integers(0, NUM_KINDS, DISPLAYS)
    lanes = np.arange(DISPLAYS)
    half = rng.random(DISPLAYS) < 0.5  # where possible, of a kind the demander has too
    demanded = np.where(half & (groups > 0), order[:, 0], demanded)
    left = TILES_OF_KIND[demanded] - own[lanes, demanded]
    other = np.zeros_like(own)
    other[lanes, demanded] = rng.integers(1, np.minimum(left, TILES_OF_KIND[demanded] - 1) + 1)
    return np.stack([own, other], axis=1), demanded


def totals_of_choices(sizes, demanded):
    """Return the total of every choice of the other groups [N, 256]."""
    values = VALUE_OF_SIZE[sizes]
    values[np.arange(len(values)), demanded] = 0
    most_valuable_first = -np.sort(-values, axis=1)
    assert (most_valuable_first[:, MOST_GROUPS:] == 0).all()
    choices = (np.arange(2**MOST_GROUPS)[:, None] >> np.arange(MOST_GROUPS)) & 1
    return most_valuable_first[:, :MOST_GROUPS].astype(np.int16) @ choices.T.astype(np.int16)


def test_demand_is_legal_exactly_when_it_can_be_returned_or_paid():
    sizes, demanded = random_displays(np.random.default_rng(8))
    game = StingyGame(num_players=3)
    states = game.new_states(DISPLAYS)
    game.reset(states, 0)
    equal = np.zeros(DISPLAYS, np.bool_)
    lay_out(game.rules, states, sizes, demanded, equal)
    legal = game.legal_action_mask(states)[np.arange(DISPLAYS), demanded]  # of seat +1: the actions from 0 on

    value = VALUE_OF_SIZE[sizes[np.arange(DISPLAYS), 1, demanded]][:, None]
    totals = totals_of_choices(sizes[:, 0], demanded)
    can_return, can_pay = (totals == value).any(axis=1), (totals > value).any(axis=1)
    assert (legal == (can_return | can_pay)).all()
    assert (equal == can_return).all()
    cases = [legal & can_return, legal & ~can_return, ~legal]  # the test is worth something: all happen often
    assert min(np.count_nonzero(case) for case in cases) > DISPLAYS // 50
