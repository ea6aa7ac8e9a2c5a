"""How compiled bots of any game read an observation and the legal actions."""

from __future__ import annotations

import numpy as np

from tabletop import bits
from tabletop.jit import kernel

NOWHERE = -1


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
    return bits.count_word(np.uint64((x & -x) - 1))


@kernel
def place_of(one_hot, size):
    """Return the place of the 1 among the first `size`, NOWHERE if there is none."""
    for i in range(size):
        if one_hot[i]:
            return i
    return NOWHERE


@kernel
def players_of(o):
    """Return the number of players."""
    return 2 + place_of(o.num_players, o.num_players.shape[0])
