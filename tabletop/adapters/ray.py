"""Ray Core: the executor "ray" of `tabletop.executors`, on this machine or on a cluster that has the package installed."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import ray
from ray.exceptions import RayError, RayTaskError

from tabletop.executors import ONE_THREAD, RETRIES, LostWorkersError

LOCAL = "local"  # Ray's word for a cluster of its own on this machine


def run_on_ray(
    work: Callable[[Any, Any], Any], shared: Any, tasks: Sequence[Any], jobs: int, address: str | None = None
) -> Iterator[tuple[int, Any]]:
    """Yield (number, result) of every task, `jobs` at a time, a CPU of the cluster each. The errors of `run_tasks`.

    Uses the cluster that this process is connected to, else connects to the one at `address`, or starts one with `jobs`
    CPUs, and leaves it at the end.
    """
    with _connected(jobs, address):
        # In a list it reaches the worker as a reference, to be fetched by the first task there alone.
        payload = [ray.put((work, shared))]
        remote = ray.remote(num_cpus=1, max_retries=RETRIES, runtime_env={"env_vars": ONE_THREAD})(_do)
        running: dict[Any, int] = {}
        try:
            for number, task in enumerate(tasks):
                if len(running) == jobs:
                    yield _next(running)
                running[remote.remote(payload, task)] = number
            while running:
                yield _next(running)
        finally:
            for reference in running:
                ray.cancel(reference, force=True)


def _next(running: dict[Any, int]) -> tuple[int, Any]:
    """Wait for a task; return its number and result, and take it out of `running`."""
    (reference,), _ = ray.wait(list(running), num_returns=1)
    number = running.pop(reference)
    try:
        return number, ray.get(reference)
    except RayTaskError as error:  # an error of the work's own, raised as what it was there
        raise error.cause from error
    except RayError as error:
        raise LostWorkersError(f"workers died {RETRIES + 1} times over task {number}: {error}") from error


_held: dict[str, tuple[Callable[[Any, Any], Any], Any]] = {}  # in a worker: what is shared, of the run it is at


def _do(payload: Sequence[Any], task: Any) -> Any:
    """Do a task in a worker."""
    (reference,) = payload
    name = reference.hex()
    if name not in _held:
        _held.clear()
        _held[name] = ray.get(reference)
    work, shared = _held[name]
    return work(shared, task)


@contextmanager
def _connected(jobs: int, address: str | None) -> Iterator[None]:
    """Connect to Ray unless this process is connected, and disconnect again."""
    if ray.is_initialized():
        yield
        return
    size = {"num_cpus": jobs} if address in (None, LOCAL) else {}
    ray.init(address or LOCAL, include_dashboard=False, log_to_driver=False, **size)
    try:
        yield
    finally:
        ray.shutdown()
