"""The threads of a process that share loops over lanes, see `tabletop.sharing`: made when first wanted, asleep when idle."""

from __future__ import annotations

import operator
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from queue import SimpleQueue
from threading import Lock, Thread
from typing import Any

import numpy as np

from tabletop.jit import COMPILED
from tabletop.sharing import AWAKE, CREW, LINE, help_out

try:
    CORES = len(os.sched_getaffinity(0))
except AttributeError:  # not on this system
    CORES = os.cpu_count() or 1
MOST = 256  # that the board has room for
MAX_THREADS = min(CORES, MOST)  # more would only be in each other's way
LEAST = 64  # lanes of a thread: for fewer it is not worth waking


class Crew:
    """The helpers of a process, and their board."""

    def __init__(self) -> None:
        words = np.zeros(LINE * (2 + MOST), np.int64)
        self.board = words[-words.ctypes.data % (8 * LINE) // 8 :]
        self.board[CREW] = 1
        self.hiring = Lock()
        self.inboxes: list[SimpleQueue[None]] = []

    def gather(self, threads: int) -> int:
        """See to it that there are helpers 1..threads-1 and that they are awake. Return how many threads there can be."""
        if self.board[CREW] < threads and self.hiring.acquire(blocking=False):
            try:
                self._hire(threads)
            finally:
                self.hiring.release()
        threads = min(threads, int(self.board[CREW]))
        for me in range(1, threads):
            inbox = self.inboxes[me - 1]
            if not self.board[LINE * (1 + me) + AWAKE] and inbox.empty():
                inbox.put(None)
        return threads

    def _hire(self, threads: int) -> None:
        """Begin further threads, as many as the system allows and none once the program ends."""
        # Compiled here, not by the thread: who forks meanwhile would have the compiler's lock for ever.
        help_out(self.board, MOST - 1)
        while self.board[CREW] < threads and not sys.is_finalizing():
            me, inbox = int(self.board[CREW]), SimpleQueue[None]()
            try:
                Thread(target=self._serve, args=(me, inbox), name=f"lanes-{me}", daemon=True).start()
            except RuntimeError:  # the system has no more of them
                return
            self.inboxes[me - 1 :] = [inbox]
            self.board[CREW] = me + 1

    def _serve(self, me: int, inbox: SimpleQueue[None]) -> None:
        while True:
            inbox.get()
            help_out(self.board, me)


_crew = Crew()


def _renew() -> None:
    """Begin anew without helpers."""
    global _crew
    _crew = Crew()


def shared_out(num_threads: int, size: int, loop: Callable[..., Any], *arguments: Any) -> Any:
    """Return what an entry `loop(board, threads, *arguments)`, one that calls `share`, does on up to `num_threads` threads.

    size: lanes. As many threads as there were cores when the package was imported at most, each with LEAST lanes or more;
    one alone where another thread has the crew at work, and without compilation. What comes of it is the same in all
    cases. Raises ValueError or TypeError for a number of threads that is none.
    """
    crew, threads = _crew, operator.index(num_threads)
    if threads < 1:
        raise ValueError(f"num_threads must be at least 1, not {num_threads}")
    threads = min(threads, MAX_THREADS, size // LEAST)
    if threads > 1 and COMPILED:
        return loop(crew.board, crew.gather(threads), *arguments)
    return loop(crew.board, 1, *arguments)


@contextmanager
def forced(threads: int) -> Iterator[None]:
    """Let up to so many threads share any number of lanes, whatever the cores: for tests, which have few of both."""
    global MAX_THREADS, LEAST
    before = MAX_THREADS, LEAST
    MAX_THREADS, LEAST = min(threads, MOST), 1
    try:
        yield
    finally:
        MAX_THREADS, LEAST = before


# A forked process has none of its parent's threads; Windows has no fork.
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_renew)
