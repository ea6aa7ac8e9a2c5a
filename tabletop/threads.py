"""Threads over ranges of lanes: kernels let go of Python's lock, so that two threads do the work of two cores.

Waking a thread takes some 50 microseconds: below about a thousand lanes a second thread costs more than it brings.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from queue import SimpleQueue
from threading import Thread
from typing import Any

from tabletop.jit import COMPILED

_INBOXES: list[SimpleQueue[Any]] = []  # one for each thread


def shard(num_threads: int, size: int, work: Callable[[slice], Any]) -> None:
    """Run `work` on `num_threads` slices of 0..size-1, the first in the caller's own thread.

    All slices are finished when this returns or raises what `work` raised. Without compilation there is one slice.
    """
    if num_threads <= 1 or size < 2 or not COMPILED:
        work(slice(0, size))
        return
    while len(_INBOXES) < num_threads - 1:
        _hire()
    edges = [size * i // num_threads for i in range(num_threads + 1)]
    done: SimpleQueue[BaseException | None] = SimpleQueue()
    for i in range(1, num_threads):
        _INBOXES[i - 1].put((work, slice(edges[i], edges[i + 1]), done))
    error = _attempt(work, slice(0, edges[1]))
    for _ in range(1, num_threads):
        error = done.get() or error
    if error is not None:
        raise error


def _hire() -> None:
    """Start one more thread."""
    inbox: SimpleQueue[Any] = SimpleQueue()
    Thread(target=_serve, args=(inbox,), name=f"lanes-{len(_INBOXES)}", daemon=True).start()
    _INBOXES.append(inbox)


def _serve(inbox: SimpleQueue[Any]) -> None:
    while True:
        work, part, done = inbox.get()
        done.put(_attempt(work, part))


def _attempt(work: Callable[[slice], Any], part: slice) -> BaseException | None:
    """Run `work` and return what it raised."""
    try:
        work(part)
    except BaseException as error:
        return error
    return None


# A forked process has none of its parent's threads; Windows has no fork.
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_INBOXES.clear)
