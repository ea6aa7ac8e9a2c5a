"""A loop over lanes that counts how often it has come to each."""

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
