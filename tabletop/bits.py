"""Sets of small numbers as bits of 64-bit words: the legal actions of a record.

Words are uint64; numba turns mixed signed and unsigned arithmetic into floats, so everything here is cast.
"""

from __future__ import annotations

import numpy as np

from tabletop.jit import kernel

ONE = np.uint64(1)
M1 = np.uint64(0x5555555555555555)
M2 = np.uint64(0x3333333333333333)
M4 = np.uint64(0x0F0F0F0F0F0F0F0F)
H01 = np.uint64(0x0101010101010101)


def num_words(size: int) -> int:
    """Return how many 64-bit words hold `size` bits."""
    return (size + 63) // 64


@kernel
def clear(words):
    """Remove every member."""
    for w in range(words.shape[0]):
        words[w] = np.uint64(0)


@kernel
def add(words, member):
    """Add one member."""
    words[member >> 6] |= ONE << np.uint64(member & 63)


@kernel
def contains(words, member):
    """Tell whether `member` is in the set."""
    return (words[member >> 6] >> np.uint64(member & 63)) & ONE != np.uint64(0)


@kernel
def put(words, offset, members):
    """Add `offset + i` for every bit i of `members`, a non-negative int64."""
    value = np.uint64(members)
    w = offset >> 6
    k = offset & 63
    words[w] |= value << np.uint64(k)
    if k > 0:
        rest = value >> np.uint64(64 - k)
        if rest != np.uint64(0):
            words[w + 1] |= rest


@kernel
def count_word(x):
    """Return the number of bits set in one word."""
    x = x - ((x >> np.uint64(1)) & M1)
    x = (x & M2) + ((x >> np.uint64(2)) & M2)
    x = (x + (x >> np.uint64(4))) & M4
    return np.int64((x * H01) >> np.uint64(56))


@kernel
def count(words):
    """Return the number of members."""
    total = 0
    for w in range(words.shape[0]):
        total += count_word(words[w])
    return total


@kernel
def lowest(x):
    """Return the place of the lowest bit of a non-zero word."""
    return count_word((x & (~x + ONE)) - ONE)


@kernel
def nth(words, n):
    """Return the member of rank n, counted from 0; n < count(words)."""
    for w in range(words.shape[0]):
        x = words[w]
        here = count_word(x)
        if n < here:
            for _ in range(n):
                x &= x - ONE
            return w * 64 + lowest(x)
        n -= here
    return -1


@kernel
def write_mask(words, mask):
    """Write the set as one byte for each possible member, in place."""
    size = mask.shape[0]
    for w in range(words.shape[0]):
        x = words[w]
        base = w * 64
        if base + 64 <= size:
            for k in range(64):
                mask[base + k] = (x >> np.uint64(k)) & ONE
        else:
            for k in range(size - base):
                mask[base + k] = (x >> np.uint64(k)) & ONE


@kernel
def read_mask(mask, words):
    """Write into `words` the set that a mask of bytes shows; the inverse of `write_mask`."""
    clear(words)
    for member in range(mask.shape[0]):
        if mask[member]:
            add(words, member)
