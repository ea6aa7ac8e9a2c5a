"""The threads of a process that share loops over lanes, see `tabletop.sharing`: made when first wanted, asleep when idle."""

from __future__ import annotations

import os
from collections.abc import Callable
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
MAX_THREADS = min(CORES, 256)  # more would only be in each other's way


class Crew:
    """The helpers of a process, and their board."""

    def __init__(self) -> None:
        words = np.zeros(LINE * (2 + MAX_THREADS), np.int64)
        self.board = words[-words.ctypes.data % (8 * LINE) // 8 :]
        self.board[CREW] = 1
        self.busy = Lock()
        self.inboxes: list[SimpleQueue[None]] = []

    def wake(self, threads: int) -> None:
        """See to it that there are helpers 1..threads-1, and that they are awake."""
        while self.board[CREW] < threads:
            inbox: SimpleQueue[None] = SimpleQueue()
            self.inboxes.append(inbox)
            me = len(self.inboxes)
            Thread(target=self._serve, args=(me, inbox), name=f"lanes-{me}", daemon=True).start()
            self.board[CREW] = me + 1
        for me in range(1, threads):
            awake = LINE * (1 + me) + AWAKE
            if not self.board[awake]:
                self.board[awake] = 1
                self.inboxes[me - 1].put(None)

    def _serve(self, me: int, inbox: SimpleQueue[None]) -> None:
        while True:
            inbox.get()
            help_out(self.board, me)


_crew = Crew()


def _renew() -> None:
    """Begin anew without helpers."""
    global _crew
    _crew = Crew()


def shared_out(num_threads: int, loop: Callable[..., Any], *arguments: Any) -> Any:
    """Return what an entry `loop(board, threads, *arguments)`, one that calls `share`, does on up to `num_threads` threads.

    As many as there are cores at most; one alone where another thread has the crew at work, and without compilation. What
    comes of it is the same in all cases.
    """
    threads = min(num_threads, MAX_THREADS)
    if threads <= 1 or not COMPILED or not _crew.busy.acquire(blocking=False):
        return loop(_crew.board, 1, *arguments)
    try:
        _crew.wake(threads)
        return loop(_crew.board, threads, *arguments)
    finally:
        _crew.busy.release()


# A forked process has none of its parent's threads; Windows has no fork.
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_renew)
