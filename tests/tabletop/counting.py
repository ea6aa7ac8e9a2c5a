"""A loop over lanes that counts how often it has come to each."""

import numpy as np

from tabletop.jit import entry, kernel
from tabletop.sharing import job, share


@kernel
def count(first, stop, counts, number):
    """Add `number` to the counts of the lanes first..stop-1."""
    for b in range(first, stop):
        counts[b] += number


@entry
def count_all(board, threads, counts, number):
    """Do so in every lane."""
    share(board, threads, counts.shape[0], job(count, (counts, number)))


@kernel
def stumble(first, stop, counts, stone):
    """Count, and raise ValueError at the lane `stone`."""
    for b in range(first, stop):
        if b == stone:
            raise ValueError("a stone")
        counts[b] += 1


@entry
def stumble_all(board, threads, counts, stone):
    """Do so in every lane, twice."""
    share(board, threads, counts.shape[0], job(count, (counts, np.int64(1))))
    share(board, threads, counts.shape[0], job(stumble, (counts, stone)))
