"""What processes gain on the arena, and what Ray costs beside them.

    python benchmarks/executors.py                 # on a machine with nothing else to do

prints how much faster the arena is on two processes than on one, workers warm, and how much longer Ray takes than
processes over tasks of two seconds. Ray is left out where it is not installed (`make test-rllib` makes `.venv-rllib`).
The goals: 1.7 times, 15%.
"""

from __future__ import annotations

import argparse
import importlib.util
import time

from agents.arena import Arena, play_blocks
from agents.registry import make_agent
from sting_env import StingGame
from tabletop.executors import run_tasks


def busy(shared, seconds):
    """Keep a core at work for some seconds of its own time."""
    until = time.process_time() + seconds
    while time.process_time() < until:
        pass


def timed(work, shared, tasks, executor, jobs):
    """Return the seconds from the second result of each worker, which has started up by then, to the last result."""
    results = [time.perf_counter() for _ in run_tasks(work, shared, tasks, executor, jobs)]
    return results[-1] - results[2 * jobs - 1]


def arena_gain(seconds, jobs):
    """Return how many times faster the arena is on `jobs` processes than on one."""
    game = StingGame(num_players=2)
    specs = ("greedy", "rulebook")
    arena = Arena(game, tuple(make_agent(spec, game) for spec in specs), 1)
    arena.play(0, 8)
    started = time.perf_counter()
    arena.play(0, 256)
    blocks = max(1, round(256 * seconds / (time.perf_counter() - started)))
    found = {}
    for count in (1, jobs):
        tasks = [(number * blocks, blocks) for number in range(16 + 2 * count)]
        found[count] = timed(play_blocks, Arena(game, specs, 1), tasks, "processes", count)
        print(f"arena, 16 tasks of {blocks} blocks, processes: {count}: {found[count]:.2f} s")
    return found[1] / found[jobs]


def ray_cost(seconds, jobs):
    """Return by what part Ray takes longer than processes, for tasks of so many seconds."""
    tasks = [seconds] * (2 * jobs + 8)
    found = {executor: timed(busy, None, tasks, executor, jobs) for executor in ("processes", "ray")}
    for executor, taken in found.items():
        print(f"8 tasks of {seconds} s, {jobs} at once, {executor}: {taken:.2f} s")
    return found["ray"] / found["processes"] - 1


def main():
    """Measure and print both."""
    parser = argparse.ArgumentParser(description="Measure the executors.")
    parser.add_argument("--seconds", type=float, default=2.0, help="length of a task")
    parser.add_argument("--jobs", type=int, default=2)
    chosen = parser.parse_args()
    print(f"gain of {chosen.jobs} processes over one: {arena_gain(chosen.seconds / 2, chosen.jobs):.2f} times")
    if importlib.util.find_spec("ray") is None:
        print("Ray is not installed: its cost is left out")
    else:
        print(f"Ray over processes: {100 * ray_cost(chosen.seconds, chosen.jobs):+.1f}%")


if __name__ == "__main__":
    main()
