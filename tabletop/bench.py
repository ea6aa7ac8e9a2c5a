"""How fast a game is: decisions a second, start-up time, memory for each lane; the same for every game.

Play is uniformly random and legal. A measurement is repeated, the kinds in turn so that a slow moment of the machine
hits all of them alike, and told as its median with the lowest and highest.
"""

from __future__ import annotations

import os
import pickle
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numba
import numpy as np

from tabletop.game import BatchGame, raw_bytes
from tabletop.registry import make
from tabletop.seeding import CHOICE, spread
from tabletop.selfplay import UniformOpponent

LANES = 1024
Chunk = Callable[[], int]  # play on for a while and return how many decisions were made


@dataclass(frozen=True)
class Measurement:
    """One thing measured several times."""

    what: str
    unit: str
    values: tuple[float, ...]

    @property
    def median(self) -> float:
        """The value told."""
        return statistics.median(self.values)

    @property
    def spread(self) -> float:
        """Highest less lowest, relative to the median."""
        return (max(self.values) - min(self.values)) / self.median if self.median else 0.0

    def to_dict(self) -> dict[str, Any]:
        """Return it as JSON has it."""
        low, high = min(self.values), max(self.values)
        return {
            "what": self.what,
            "unit": self.unit,
            "median": self.median,
            "lowest": low,
            "highest": high,
            "values": list(self.values),
        }


# Decisions a second ---------------------------------------------------------------------------------------------------


def engine(
    game: BatchGame, lanes: int = LANES, threads: int = 1, mask: bool = False, observation: bool = False, seed: int = 0
) -> Chunk:
    """Return a chunk of play on the batch engine: choose at random, step, begin anew where a game ended.

    mask, observation: whether those of the next decision are written in the same pass.
    """
    states = game.new_states(lanes)
    game.reset(states, spread(seed, lanes))
    keys = spread(seed, lanes, CHOICE)
    actions = np.zeros(lanes, np.int64)
    rewards = np.empty((lanes, game.spec.max_players), np.float32)
    terminated = np.empty(lanes, np.bool_)
    masks = np.empty((lanes, game.num_actions), np.bool_) if mask else None
    observations = np.empty(lanes, game.spec.observation_dtype) if observation else None

    def play() -> int:
        for _ in range(16):
            game.random_actions(states, keys, actions, num_threads=threads)
            game.advance(
                states,
                actions,
                rewards=rewards,
                terminated=terminated,
                mask=masks,
                observation=observations,
                num_threads=threads,
            )
        return 16 * lanes

    return play


def aec(env: Any, seed: int = 0) -> Chunk:
    """Return a chunk of play on a PettingZoo AEC environment, as its users drive it: `last`, choose, `step`."""
    rng = np.random.default_rng(seed)
    env.reset(seed=seed)

    def play() -> int:
        decisions = 0
        while decisions < 200:
            if not env.agents:
                env.reset()
            observation, _, terminated, truncated, _ = env.last()
            if terminated or truncated:
                env.step(None)
                continue
            legal = np.flatnonzero(observation["action_mask"])
            env.step(int(legal[rng.integers(len(legal))]))
            decisions += 1
        return decisions

    return play


def vec_env(env: Any, seed: int = 0) -> Chunk:
    """Return a chunk of play on a Stable-Baselines3 VecEnv: `action_masks`, choose, `step`; its own decisions count."""
    chooser = UniformOpponent(env.game)
    keys = np.random.default_rng(seed).integers(0, 2**63, (8, env.num_envs)).astype(np.uint64)
    env.reset()

    def play() -> int:
        for luck in keys:
            masks = env.action_masks()
            env.step(chooser.act(masks, masks, luck))
        return 8 * int(env.num_envs)

    return play


@dataclass
class Playouts:
    """A chunk of games by a compiled bot in every seat, one thread; it counts games, each of another deal.

    loop: the bot's `tabletop.loops.play_lanes`. unit: what a game is.
    """

    game: BatchGame
    bot: Any
    loop: Any
    unit: str
    lanes: int = 64
    played: int = 0

    def __call__(self) -> int:
        """Play a game to its end in every lane."""
        states = self.game.new_states(self.lanes)
        self.game.reset(states, spread(0, self.lanes, first=self.played))
        self.played += self.lanes
        shape = (self.lanes, self.game.spec.max_players)
        bots, options = np.full(shape, self.bot.bot, np.int64), np.full(shape, self.bot.option, np.int64)
        view = np.empty(1, self.game.spec.observation_dtype)
        histogram = np.empty((0, 0, 0), np.int64)
        key = np.uint64(0)
        self.loop(self.game.rules, states, bots, options, key, histogram, view, raw_bytes(view)[0], 0, False)
        return self.lanes


def playout_chunks(game: BatchGame, spec: str = "greedy") -> dict[str, Chunk]:
    """Return the chunk of playouts by a named bot, none where there are no such agents or it is not compiled."""
    from tabletop.adapters import made_opponents
    from tabletop.selfplay import play_loop_of

    rounds = bool(game.spec.unit_options)  # the smallest unit that is scored by itself, where it is not the whole game
    if rounds:
        game = make(game.spec.name, **(game.config.to_dict() | dict(game.spec.unit_options)))
    try:
        bot = made_opponents(spec, game)
    except (LookupError, ValueError):
        return {}
    loop = play_loop_of(bot, game)
    return (
        {}
        if loop is None
        else {f"playouts by {spec}, 1 thread": Playouts(game, bot, loop, "rounds/s" if rounds else "games/s")}
    )


def measure(chunks: dict[str, Chunk], seconds: float = 1.0, repeats: int = 5) -> list[Measurement]:
    """Return the decisions a second of each chunk of play, `repeats` times for `seconds` each; of `Playouts` the games."""
    for play in chunks.values():
        play()  # compiles what is not compiled yet
    rates: dict[str, list[float]] = {name: [] for name in chunks}
    for _ in range(repeats):
        for name, play in chunks.items():
            decisions = 0
            begin = now = time.perf_counter()
            while now - begin < seconds:
                decisions += play()
                now = time.perf_counter()
            rates[name].append(decisions / (now - begin))
    return [
        Measurement(name, getattr(chunks[name], "unit", "decisions/s"), tuple(values)) for name, values in rates.items()
    ]


def engine_chunks(game: BatchGame, lanes: int = LANES, threads: Iterable[int] = (1, 2)) -> dict[str, Chunk]:
    """Return the chunks that every game has: engine, with mask, with observation too, for each number of threads; playouts."""
    chunks: dict[str, Chunk] = {}
    for count in threads:
        words = f"{lanes:,} lanes, {count} thread{'s' if count > 1 else ''}"
        chunks[f"engine, {words}"] = engine(game, lanes, count)
        chunks[f"engine + mask, {words}"] = engine(game, lanes, count, mask=True)
        chunks[f"engine + mask + observation, {words}"] = engine(game, lanes, count, mask=True, observation=True)
    return chunks | playout_chunks(game)


def aec_chunks(game: BatchGame) -> dict[str, Chunk]:
    """Return the chunks of the PettingZoo environment, none where PettingZoo is missing."""
    try:
        from tabletop.adapters.aec import env, raw_env
    except ImportError:
        return {}
    return {"PettingZoo raw_env()": aec(raw_env(game)), "PettingZoo env()": aec(env(game))}


# Start-up and memory --------------------------------------------------------------------------------------------------


def start(game: BatchGame, lanes: int = LANES) -> None:
    """Do once what any program does: begin games, step, write masks and observations."""
    engine(game, lanes, mask=True, observation=True)()


def startup(game: BatchGame, repeats: int = 1) -> list[Measurement]:
    """Return the seconds from a new Python process to its first 16 steps: with nothing compiled yet, then compiled.

    Each process keeps its compiled code in a temporary folder, so that the user's own is neither used nor touched. Python's
    bytecode is kept as usual, whatever PYTHONDONTWRITEBYTECODE says here.
    """
    times: dict[str, list[float]] = {"cold start (compiles)": [], "warm start": []}
    for _ in range(repeats):
        with tempfile.TemporaryDirectory() as folder:
            paths = os.pathsep.join(str(Path(p).absolute()) for p in sys.path if p) or str(Path.cwd())
            environment = {**os.environ, "STINGLAB_CACHE_DIR": folder, "PYTHONPATH": paths}
            environment.pop("PYTHONDONTWRITEBYTECODE", None)
            for values in times.values():
                begin = time.perf_counter()
                subprocess.run(
                    [sys.executable, "-m", "tabletop.bench"], input=pickle.dumps(game), env=environment, check=True
                )
                values.append(time.perf_counter() - begin)
    return [Measurement(name, "s", tuple(values)) for name, values in times.items()]


def memory(game: BatchGame) -> list[Measurement]:
    """Return the bytes that a lane takes."""
    spec = game.spec
    sizes = {"state": spec.state_dtype.itemsize, "mask": spec.num_actions, "observation": spec.observation_size}
    return [Measurement(f"memory of a lane: {name}", "bytes", (float(size),)) for name, size in sizes.items()]


# Reports --------------------------------------------------------------------------------------------------------------


def machine() -> dict[str, Any]:
    """Return what the numbers depend on beside the code."""
    return {
        "cpu": cpu_name(),
        "cpus": os.cpu_count(),
        "system": platform.platform(),
        "python": platform.python_version(),
        "numpy": np.__version__,
        "numba": numba.__version__,
    }


def cpu_name() -> str:
    """Return the name of the processor as far as the system tells."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.machine()


def rows(measurements: Sequence[Measurement]) -> list[tuple[str, str, str, str]]:
    """Return a table in words: what, median, lowest to highest, unit."""
    table = []
    for m in measurements:
        digits = 2 if m.unit == "s" else 0
        low, high = min(m.values), max(m.values)
        span = f"{low:,.{digits}f} – {high:,.{digits}f}" if len(m.values) > 1 else ""
        table.append((m.what, f"{m.median:,.{digits}f}", span, m.unit))
    return table


def report(measurements: Sequence[Measurement]) -> str:
    """Return the measurements as lines of text."""
    table = [("", "median", "lowest – highest", ""), *rows(measurements)]
    widths = [max(len(row[column]) for row in table) for column in range(4)]
    lines = []
    for what, median, span, unit in table:
        lines.append(f"{what:<{widths[0]}}  {median:>{widths[1]}}  {span:>{widths[2]}}  {unit}".rstrip())
    return "\n".join(lines)


def to_json(game: BatchGame, measurements: Sequence[Measurement]) -> dict[str, Any]:
    """Return game, machine and measurements as JSON has them."""
    return {
        "game": game.spec.name,
        "config": game.config.to_dict(),
        "machine": machine(),
        "measurements": [m.to_dict() for m in measurements],
    }


if __name__ == "__main__":
    start(pickle.load(sys.stdin.buffer))
