"""One seed, independent streams: for lane, episode, seat and purpose.

A stream is counter based: number i of the stream with key k is `mix(k + i * GAMMA)`, SplitMix64 (Steele, Lea and Flood,
2014). It needs no hidden state, so that the luck of an event depends on what the event is and not on how many came
before it: the deal of round 3 is the same however round 2 was played.
"""

from __future__ import annotations

import numpy as np

from tabletop.jit import entry, kernel

GAMMA = np.uint64(0x9E3779B97F4A7C15)
MIX_A = np.uint64(0xBF58476D1CE4E5B9)
MIX_B = np.uint64(0x94D049BB133111EB)

# Purposes: what a derived stream is for.
EPISODE = 1
WORLD = 2
CHOICE = 3
DEAL = 4
SEATING = 5


@kernel
def mix(x):
    """Scramble one uint64; a bijection."""
    x = (x ^ (x >> np.uint64(30))) * MIX_A
    x = (x ^ (x >> np.uint64(27))) * MIX_B
    return x ^ (x >> np.uint64(31))


@kernel
def derive(key, purpose, index):
    """Return the key of the stream `(purpose, index)` below `key`. Different indices give different keys."""
    return mix(mix(key + np.uint64(purpose) * GAMMA) + np.uint64(index) * GAMMA)


@kernel
def uniform(key, i):
    """Return number i of a stream as a float64 in [0, 1)."""
    return np.float64(mix(key + np.uint64(i + 1) * GAMMA) >> np.uint64(11)) * (1.0 / 9007199254740992.0)


@kernel
def below(key, i, n):
    """Return number i of a stream as an integer in 0..n-1 (n < 2**31; bias below n / 2**32)."""
    high = mix(key + np.uint64(i + 1) * GAMMA) >> np.uint64(32)
    return np.int64((high * np.uint64(n)) >> np.uint64(32))


@kernel
def shuffle(key, items, size):
    """Shuffle items[:size] in place (Fisher and Yates), consuming numbers 0..size-1 of the stream."""
    for i in range(size - 1, 0, -1):
        j = below(key, i, i + 1)
        items[i], items[j] = items[j], items[i]


def spread(seed: int, count: int, purpose: int = EPISODE, first: int = 0) -> np.ndarray:
    """Return `count` different uint64 seeds [count] derived from one seed: those of index first, first + 1, ..."""
    key = np.uint64(int(seed) & 0xFFFFFFFFFFFFFFFF)
    return _spread(key, purpose, first, np.empty(count, np.uint64))


@entry
def _spread(key, purpose, first, out):
    for i in range(out.shape[0]):
        out[i] = derive(key, purpose, first + i)
    return out


def uniform_lanes(keys: np.ndarray) -> np.ndarray:
    """Return the first number of each of the streams `keys` uint64 [B]: float64 [B] in [0, 1)."""
    return _uniforms(np.ascontiguousarray(keys, dtype=np.uint64), np.empty(len(keys)))


@entry
def _uniforms(keys, out):
    for i in range(out.shape[0]):
        out[i] = uniform(keys[i], 0)
    return out
