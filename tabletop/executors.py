"""Run tasks that do not depend on each other: one after another, in processes, or on Ray, with the same results.

    for number, result in run_tasks(work, shared, tasks, executor="processes", jobs=2):
        ...

`work(shared, task)` is a function of a module, pure, so that a task can be done again where a worker was lost. `shared` is
what all tasks need; it is sent once to each worker and is there the same object for all its tasks, so what is made from it
can be kept on it. A task should take seconds: sending one costs some milliseconds. A script that uses processes keeps what
it does under `if __name__ == "__main__":`, since each process imports it.
"""

from __future__ import annotations

import importlib
import multiprocessing
import os
import pickle
import signal
import threading
import weakref
from collections import Counter, deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from functools import cache
from multiprocessing.context import SpawnContext
from queue import SimpleQueue
from typing import Any, TypeVar

Shared = TypeVar("Shared")
Task = TypeVar("Task")
Result = TypeVar("Result")

RETRIES = 3  # how often a task is begun again after its worker was lost
RUNNERS = {  # by name: "module:function", imported when it is asked for
    "serial": "tabletop.executors:run_serially",
    "processes": "tabletop.executors:run_in_processes",
    "ray": "tabletop.adapters.ray:run_on_ray",
}
EXECUTORS = tuple(RUNNERS)
ONE_THREAD = {"OMP_NUM_THREADS": "1"}  # for each worker: the workers are the threads


class LostWorkersError(RuntimeError):
    """Workers died again and again over the same task."""


def run_tasks(
    work: Callable[[Shared, Task], Result],
    shared: Shared,
    tasks: Sequence[Task],
    executor: str = "serial",
    jobs: int = 1,
    address: str | None = None,
) -> Iterator[tuple[int, Result]]:
    """Yield (number of the task, result) of every task, as they are done: each number exactly once.

    executor: "serial" here and now, "processes" on this machine, "ray". jobs: how many tasks run at once, 1 for "serial"
    whatever it says. address: of a Ray cluster that has this package installed; None starts Ray on this machine.

    An error of `work` is raised and ends it all. A worker that dies is replaced and its task begun again, RETRIES times;
    then LostWorkersError. Closing the iterator stops the workers at once. ValueError for an unknown executor, jobs below 1
    or an address without Ray; ImportError without Ray.
    """
    if executor not in RUNNERS:
        raise ValueError(f"executor must be one of {', '.join(EXECUTORS)}, not {executor!r}")
    if jobs < 1:
        raise ValueError(f"jobs must be at least 1, not {jobs}")
    if address is not None and executor != "ray":
        raise ValueError(f"only the executor ray takes an address, not {executor!r}")
    module, _, function = RUNNERS[executor].partition(":")
    runner = getattr(importlib.import_module(module), function)
    more = {"address": address} if executor == "ray" else {}
    found: Iterator[tuple[int, Result]] = runner(work, shared, tasks, min(jobs, max(1, len(tasks))), **more)
    return found


def run_serially(
    work: Callable[[Any, Any], Any], shared: Any, tasks: Sequence[Any], jobs: int
) -> Iterator[tuple[int, Any]]:
    """Yield (number, result) of every task, done here one after another."""
    for number, task in enumerate(tasks):
        yield number, work(shared, task)


# Processes --------------------------------------------------------------------------------------------------------------


def run_in_processes(
    work: Callable[[Any, Any], Any], shared: Any, tasks: Sequence[Any], jobs: int
) -> Iterator[tuple[int, Any]]:
    """Yield (number, result) of every task, done in `jobs` processes. The errors of `run_tasks`."""
    payload = pickle.dumps((work, shared))
    left = deque(range(len(tasks)))
    losses: Counter[int] = Counter()
    pool = _Pool(jobs, payload)
    try:
        while left or pool.running:
            try:
                while left and len(pool.running) < 2 * jobs:  # a next one waits for each process
                    pool.submit(left[0], tasks[left[0]])
                    left.popleft()
                number, future = pool.next_done()
                result = future.result()
            except BrokenProcessPool:
                pool.stop()
                again = sorted(pool.running.values())
                _count_losses(losses, again)
                left.extendleft(reversed(again))
                pool = _Pool(jobs, payload)
            else:
                del pool.running[future]
                yield number, result
        pool.finish()
    finally:
        pool.stop()


def _count_losses(losses: Counter[int], numbers: Sequence[int]) -> None:
    """Count a loss for each of the tasks that ran or were next when a worker died; LostWorkersError if one has too many."""
    losses.update(numbers)
    for number in numbers:
        if losses[number] > RETRIES:
            raise LostWorkersError(
                f"workers died {losses[number]} times while task {number} was with them: out of memory, or a script that "
                'starts processes outside `if __name__ == "__main__":`?'
            )


class _Started(SpawnContext):
    """The context that starts processes afresh; it keeps them, so that they can be stopped."""

    def __init__(self) -> None:
        super().__init__()
        self.processes: list[Any] = []

    # The class of processes there, for which a function that makes one does as well.
    def Process(self, *args: Any, **kwargs: Any) -> Any:  # type: ignore[override]
        process = multiprocessing.get_context("spawn").Process(*args, **kwargs)
        self.processes.append(process)
        return process


class _Pool:
    """A process pool that knows what to do and can be stopped in the middle of a task.

    running: the number of the task of every future that was given out and not yet read.
    """

    def __init__(self, jobs: int, payload: bytes) -> None:
        self.context = _Started()
        self.pool = ProcessPoolExecutor(jobs, self.context, _enter, (payload,))
        self.running: dict[Future[Any], int] = {}
        # Not `concurrent.futures.wait`: interrupted by Ctrl-C at a bad moment it keeps locks that the pool waits for.
        self.done: SimpleQueue[Future[Any]] = SimpleQueue()
        _pools.add(self)
        _terminate_at_exit()

    def submit(self, number: int, task: Any) -> None:
        """Give out a task; processes are started here, one at a time as they are needed."""
        with _environment(ONE_THREAD):
            future = self.pool.submit(_do, task)
        self.running[future] = number
        future.add_done_callback(self.done.put)

    def next_done(self) -> tuple[int, Future[Any]]:
        """Wait for a task; return its number and future."""
        future = self.done.get()
        return self.running[future], future

    def finish(self) -> None:
        """Let idle processes go."""
        self.pool.shutdown()

    def stop(self) -> None:
        """Stop processes whatever they do."""
        self.terminate()
        for process in self.context.processes:
            if process.pid is not None:
                process.join()
        self.pool.shutdown(wait=False, cancel_futures=True)

    def terminate(self) -> None:
        """End the processes."""
        for process in self.context.processes:
            if process.is_alive():
                process.terminate()


_pools: weakref.WeakSet[_Pool] = weakref.WeakSet()


@cache
def _terminate_at_exit() -> None:
    """Let Python's exit end the processes of all pools.

    Where an iterator was neither read to its end nor closed, it would wait for all that the pool has still to do:
    `concurrent.futures` asks for that by the same function, and whoever asks last is called first. `atexit` is too late.
    """
    threading._register_atexit(_terminate_all)  # type: ignore[attr-defined]  # private: there is no public way


def _terminate_all() -> None:
    for pool in list(_pools):
        pool.terminate()


_payload = b""
_unpacked: tuple[Callable[[Any, Any], Any], Any] | None = None


def _enter(payload: bytes) -> None:
    """Begin a worker. Nothing here can fail: an error would only be known as a worker that died."""
    global _payload
    _payload = payload
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the parent, which stops its workers
    threading.Thread(target=_leave_with_parent, daemon=True).start()


def _leave_with_parent() -> None:
    """End this process when its parent has died without a word."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def _do(task: Any) -> Any:
    """Do a task in a worker; what is shared is unpacked with the first, where an error can be told."""
    global _unpacked
    if _unpacked is None:
        _unpacked = pickle.loads(_payload)
    work, shared = _unpacked
    return work(shared, task)


@contextmanager
def _environment(values: dict[str, str]) -> Iterator[None]:
    """Set environment variables for the processes started within."""
    before = {name: os.environ.get(name) for name in values}
    os.environ.update(values)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value
