"""The arena: agents play each other on duplicate deals, and what it says comes with an interval.

A *block* is one deal played in all seatings, so that the luck of the cards falls on everybody alike; blocks are
independent of each other and are the unit of every interval. With two players each pair of agents plays both seatings of
a deal. With more, one agent sits alone against n-1 copies of another, in every seat in turn, and the other way round:
"one A v rest B" and "one B v rest A" are two *matchups*, and may disagree.

An agent's own luck hangs on the deal, the seat and the decision alone (`agents.base.luck`), so that a result is the same
for compiled and other agents, serial or in processes, and the same agent under two names plays the same games.

Intervals are Student's t on block means, two-sided (95% unless said otherwise): blocks are independent, payoffs bounded,
and from some thirty blocks on the t interval covers what it says; `tests/agents/test_arena.py` counts it. Intervals of
ratings are percentiles of a bootstrap over blocks (`agents.ratings`).

    result = run_arena(game, ["greedy", "rulebook", "random"], blocks=1000, seed=1)
    result.print(); result.to_json(); result.to_markdown(); result.picture("arena.png")
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from agents import ratings
from agents.base import Agent, Array, Outcome, is_compiled, play_seated
from agents.registry import bots_of, make_agent
from tabletop import seeding
from tabletop.executors import run_tasks
from tabletop.files import write_whole
from tabletop.game import BatchGame

FORMAT = 1
LANES = 1024  # games that step together: a chunk of blocks has about so many
CHUNKS = 4  # at least so many for each job, that none waits long for the last
POWER = 7.85  # (z of 97.5% + z of 80%) squared: 5% two-sided, 80% power

# Who meets whom ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Matchup:
    """One agent alone against copies of another, agents by number."""

    one: int
    rest: int

    def seating(self, seat: int, num_players: int) -> list[int]:
        """Return the agent of every seat when the one sits at `seat`."""
        return [self.one if p == seat else self.rest for p in range(num_players)]


def matchups_of(num_agents: int, num_players: int) -> list[Matchup]:
    """Return all matchups: each pair once with two players, else both ways round."""
    pairs = [Matchup(i, j) for i in range(num_agents) for j in range(num_agents) if i != j]
    return [pair for pair in pairs if num_players > 2 or pair.one < pair.rest]


# Playing ----------------------------------------------------------------------------------------------------------------


@dataclass
class Blocks:
    """What was measured in consecutive blocks. Letters: N blocks, M matchups, P seats, K agents, A actions.

    payoff, win_share, points: float64 [N, M, P], of the one in a matchup when sitting at each seat; win_share is its part
    of the win, shared by equal winners. rest_points: float64 [N, M, P], mean of the others in the same games.
    counts: int64 [K, A], how often each agent chose each action. seconds, decisions: [K], thinking time and choices;
    compiled bots that play in one loop share its time by choices, the game's own time included.
    """

    payoff: Array
    win_share: Array
    points: Array
    rest_points: Array
    counts: Array
    seconds: Array
    decisions: Array


def join(parts: Sequence[Blocks]) -> Blocks:
    """Return consecutive blocks as one."""
    rows = ("payoff", "win_share", "points", "rest_points")
    sums = ("counts", "seconds", "decisions")
    return Blocks(
        **{name: np.concatenate([getattr(part, name) for part in parts]) for name in rows},
        **{name: np.sum([getattr(part, name) for part in parts], axis=0) for name in sums},
    )


@dataclass(frozen=True)
class Arena:
    """A game, its agents and a seed: `play(first, count)` is a pure function of the numbers of the blocks.

    Agents may be specs (`agents.registry`), and are then made when they first play: so an arena can be sent to a worker.
    """

    game: BatchGame
    agents: tuple[Agent | str, ...]
    seed: int

    @cached_property
    def players(self) -> tuple[Agent, ...]:
        """The agents, made."""
        return tuple(make_agent(agent, self.game) if isinstance(agent, str) else agent for agent in self.agents)

    @cached_property
    def matchups(self) -> list[Matchup]:
        """Who meets whom."""
        return matchups_of(len(self.agents), self.game.num_players)

    @property
    def blocks_at_once(self) -> int:
        """How many blocks make a chunk; it hangs on the table alone, not on who plays it."""
        return max(1, LANES // (len(self.matchups) * self.game.num_players))

    def play(self, first: int, count: int) -> Blocks:
        """Play blocks first..first+count-1."""
        game, n, m = self.game, self.game.num_players, len(self.matchups)
        # Lanes in the order block, matchup, seat of the one; all lanes of a block have its deal.
        seats = np.array([match.seating(seat, n) for match in self.matchups for seat in range(n)], np.int64)
        seats = np.tile(seats, (count, 1))
        deals = np.repeat(seeding.spread(self.seed, count, first=first), m * n)
        states = game.new_states(len(deals))
        game.reset(states, deals)
        key = int(seeding.spread(self.seed, 1, seeding.CHOICE)[0])
        counts, seconds, decisions = play_games(game, self.players, states, seats, key)
        points, winners = read_outcome(game, states)
        shape = (count, m, n)
        lanes, one = np.arange(len(states)), np.tile(np.arange(n), count * m)
        shares = winners / winners.sum(axis=1, keepdims=True)
        own = points[lanes, one]
        return Blocks(
            payoff=game.returns(states)[lanes, one].astype(np.float64).reshape(shape),
            win_share=shares[lanes, one].reshape(shape),
            points=own.reshape(shape),
            rest_points=((points[:, :n].sum(axis=1) - own) / (n - 1)).reshape(shape),
            counts=counts,
            seconds=seconds,
            decisions=decisions,
        )


def play_blocks(arena: Arena, blocks: tuple[int, int]) -> Blocks:
    """Play blocks (first, count) of an arena: the work of `tabletop.executors.run_tasks`."""
    return arena.play(*blocks)


def play_games(
    game: BatchGame, agents: Sequence[Agent], states: Array, seats: Array, key: int
) -> tuple[Array, Array, Array]:
    """Play every lane to its end, in place.

    seats: int64 [B, n], which agent sits where. key: the agents' luck derives from it. Return counts int64 [K, A],
    seconds float64 [K], decisions int64 [K].
    """
    size, n = seats.shape
    histogram = np.zeros((size, game.spec.max_players, game.num_actions), np.int64)
    *each, together = play_seated(game, states, agents, seats, key, histogram)
    counts = np.zeros((len(agents), game.num_actions), np.int64)
    for seat in range(n):
        for k in np.unique(seats[:, seat]):
            counts[k] += histogram[seats[:, seat] == k, seat].sum(axis=0)
    decisions, seconds, compiled = counts.sum(axis=1), np.array(each), is_compiled(agents)
    if compiled.any():
        seconds[compiled] = together * decisions[compiled] / max(1, decisions[compiled].sum())
    return counts, seconds, decisions


def read_outcome(game: BatchGame, states: Array) -> Outcome:
    """Return the points and winners of finished games as the game's bots read them, else by the returns."""
    read = bots_of(game).outcome
    if read is not None:
        return read(states)
    most = game.spec.max_players
    points, winners = np.zeros((len(states), most)), np.zeros((len(states), most), np.bool_)
    returns = game.returns(states)
    for b, state in enumerate(states):
        n = int(state["num_players"])
        points[b] = returns[b]
        winners[b, :n] = returns[b, :n] == returns[b, :n].max()
    return Outcome(points, winners)


# Comparing --------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Estimate:
    """A mean of block means and its interval."""

    mean: float
    low: float
    high: float
    sd: float  # of one block

    def to_dict(self) -> dict[str, float]:
        """Return it JSON-ready."""
        return {"mean": self.mean, "low": self.low, "high": self.high, "sd": self.sd}


def estimate(blocks: Array, confidence: float = 0.95) -> Estimate:
    """Return the mean of independent block means [N] with its t interval; N >= 2."""
    from scipy import stats

    size = len(blocks)
    mean, sd = float(np.mean(blocks)), float(np.std(blocks, ddof=1)) if size > 1 else math.nan
    half = float(stats.t.ppf(0.5 + confidence / 2, size - 1)) * sd / math.sqrt(size) if size > 1 else math.nan
    return Estimate(mean, mean - half, mean + half, sd)


def blocks_needed(sd: float, delta: float) -> int:
    """Return how many blocks find a true difference of `delta` at 5% with 80% power, `sd` being that of one block."""
    if delta <= 0:
        raise ValueError(f"the difference to be found must be above 0, not {delta}")
    return max(2, math.ceil(POWER * sd**2 / delta**2))


@dataclass(frozen=True)
class Pair:
    """What a matchup came to, for the one against the rest."""

    one: str
    rest: str
    payoff: Estimate
    win_share: Estimate
    points: Estimate
    rest_points: Estimate
    payoff_by_seat: tuple[Estimate, ...]
    points_by_seat: tuple[Estimate, ...]


@dataclass(frozen=True)
class Standing:
    """What an agent came to, over all its matchups as the one, or on either side with two players."""

    name: str
    payoff: Estimate
    win_share: Estimate
    rating: ratings.Rating
    behaviour: dict[str, float]
    decisions: int
    seconds: float

    @property
    def microseconds(self) -> float:
        """Mean time for a decision."""
        return 1e6 * self.seconds / self.decisions if self.decisions else math.nan


@dataclass(frozen=True)
class ArenaResult:
    """All that an arena found. `blocks` holds the measurements, everything else is worked out from them."""

    game: BatchGame
    names: tuple[str, ...]
    seed: int
    blocks: Blocks
    anchor: str | None = None
    confidence: float = 0.95

    @property
    def num_blocks(self) -> int:
        """Number of deals."""
        return len(self.blocks.payoff)

    @property
    def num_games(self) -> int:
        """Number of games played."""
        return int(self.blocks.payoff.size)

    @cached_property
    def matchups(self) -> list[Matchup]:
        """Who met whom."""
        return matchups_of(len(self.names), self.game.num_players)

    @cached_property
    def pairs(self) -> list[Pair]:
        """Every matchup."""
        found = []
        data = self.blocks
        for m, match in enumerate(self.matchups):
            payoff, win, points, rest = (
                self._estimate(values[:, m].mean(axis=1))
                for values in (data.payoff, data.win_share, data.points, data.rest_points)
            )
            seats = range(self.game.num_players)
            found.append(
                Pair(
                    one=self.names[match.one],
                    rest=self.names[match.rest],
                    payoff=payoff,
                    win_share=win,
                    points=points,
                    rest_points=rest,
                    payoff_by_seat=tuple(self._estimate(data.payoff[:, m, p]) for p in seats),
                    points_by_seat=tuple(self._estimate(data.points[:, m, p]) for p in seats),
                )
            )
        return found

    def pair(self, one: str, rest: str) -> Pair:
        """Return the matchup of `one` alone against `rest`; with two players in either order. KeyError if there is none."""
        for pair in self.pairs:
            if (pair.one, pair.rest) == (one, rest):
                return pair
        if self.game.num_players == 2:
            for m, match in enumerate(self.matchups):
                if (self.names[match.rest], self.names[match.one]) == (one, rest):
                    return self._mirrored(m, match)
        raise KeyError(f"{one} did not meet {rest}; agents were: {', '.join(self.names)}")

    def _mirrored(self, m: int, match: Matchup) -> Pair:
        data = self.blocks
        # In seat p sits the other one when the one sits in the other seat.
        payoff, win = -data.payoff[:, m, ::-1], 1 - data.win_share[:, m, ::-1]
        points, rest = data.rest_points[:, m, ::-1], data.points[:, m, ::-1]
        return Pair(
            one=self.names[match.rest],
            rest=self.names[match.one],
            payoff=self._estimate(payoff.mean(axis=1)),
            win_share=self._estimate(win.mean(axis=1)),
            points=self._estimate(points.mean(axis=1)),
            rest_points=self._estimate(rest.mean(axis=1)),
            payoff_by_seat=tuple(self._estimate(payoff[:, p]) for p in range(2)),
            points_by_seat=tuple(self._estimate(points[:, p]) for p in range(2)),
        )

    @cached_property
    def matrix(self) -> Array:
        """Mean payoff of one row agent among column agents: float64 [K, K], nan on the diagonal."""
        out = np.full((len(self.names), len(self.names)), np.nan)
        means = self.blocks.payoff.mean(axis=(0, 2))
        for match, mean in zip(self.matchups, means, strict=True):
            out[match.one, match.rest] = mean
            if self.game.num_players == 2:
                out[match.rest, match.one] = -mean
        return out

    @cached_property
    def ratings(self) -> list[ratings.Rating]:
        """Ratings from wins, in the order of `names`, the anchor at 0."""
        wins = self.blocks.win_share.sum(axis=2)  # [N, M]
        ones = [match.one for match in self.matchups]
        rests = [match.rest for match in self.matchups]
        anchor = self.names.index(self.anchor) if self.anchor is not None else ratings.usual_anchor(self.names)
        return ratings.rate(
            self.names, ones, rests, wins, self.game.num_players, anchor, seed=self.seed, confidence=self.confidence
        )

    @cached_property
    def standings(self) -> list[Standing]:
        """Every agent, in the order of `names`."""
        found = []
        for k, name in enumerate(self.names):
            payoff, share = self._blocks_of(k)
            found.append(
                Standing(
                    name=name,
                    payoff=self._estimate(payoff),
                    win_share=self._estimate(share),
                    rating=self.ratings[k],
                    behaviour=self._behaviour(k),
                    decisions=int(self.blocks.decisions[k]),
                    seconds=float(self.blocks.seconds[k]),
                )
            )
        return found

    def _blocks_of(self, k: int) -> tuple[Array, Array]:
        """Return an agent's payoff and win share by block [N], all its matchups as the one counted alike."""
        payoffs, shares = [], []
        for m, match in enumerate(self.matchups):
            payoff, share = self.blocks.payoff[:, m].mean(axis=1), self.blocks.win_share[:, m].mean(axis=1)
            if match.one == k:
                payoffs.append(payoff)
                shares.append(share)
            elif match.rest == k and self.game.num_players == 2:
                payoffs.append(-payoff)
                shares.append(1 - share)
        return np.mean(payoffs, axis=0), np.mean(shares, axis=0)

    def _behaviour(self, k: int) -> dict[str, float]:
        summary = bots_of(self.game).behaviour
        return {} if summary is None else summary(self.blocks.counts[k])

    def _estimate(self, blocks: Array) -> Estimate:
        return estimate(blocks, self.confidence)

    def blocks_for(self, delta: float) -> dict[str, int]:
        """Return for every matchup how many blocks would find a difference in payoff of `delta` (5%, 80% power)."""
        return {f"{pair.one} v {pair.rest}": blocks_needed(pair.payoff.sd, delta) for pair in self.pairs}

    # Reports ------------------------------------------------------------------------------------------------------------

    def to_dict(self) -> dict[str, Any]:
        """Return all of it JSON-ready, times left out: the same arena gives the same text."""
        return {
            "format": FORMAT,
            "game": self.game.spec.name,
            "config": self.game.config.to_dict(),
            "num_players": self.game.num_players,
            "seed": self.seed,
            "blocks": self.num_blocks,
            "games": self.num_games,
            "confidence": self.confidence,
            "equal_share": 1 / self.game.num_players,
            "agents": [
                {
                    "name": s.name,
                    "payoff": s.payoff.to_dict(),
                    "win_share": s.win_share.to_dict(),
                    "rating": {"mean": s.rating.value, "low": s.rating.low, "high": s.rating.high},
                    "decisions": s.decisions,
                    "behaviour": s.behaviour,
                }
                for s in self.standings
            ],
            "matchups": [
                {
                    "one": pair.one,
                    "rest": pair.rest,
                    "payoff": pair.payoff.to_dict(),
                    "win_share": pair.win_share.to_dict(),
                    "points": pair.points.to_dict(),
                    "rest_points": pair.rest_points.to_dict(),
                    "payoff_by_seat": [e.to_dict() for e in pair.payoff_by_seat],
                    "points_by_seat": [e.to_dict() for e in pair.points_by_seat],
                }
                for pair in self.pairs
            ],
            "payoff_matrix": [[None if math.isnan(x) else x for x in row] for row in self.matrix.tolist()],
        }

    def to_json(self) -> str:
        """Return `to_dict` as text."""
        return json.dumps(_plain(self.to_dict()), indent=1) + "\n"

    def write(self, path: str | Path) -> None:
        """Write the JSON, whole or not at all."""
        write_whole(path, self.to_json())

    def title(self) -> str:
        """Return what was played in one line."""
        g = self.game
        return f"{g.spec.title}, {g.num_players} players, {self.num_blocks} deals, {self.num_games} games, seed {self.seed}"

    def note(self) -> str:
        """Return what the tables need to be read."""
        equal = f"an equal share of wins is {1 / self.game.num_players:.3f}"
        return f"Payoff and win share of a game; {equal}; ± is half a {100 * self.confidence:g}% interval"

    def tables(self) -> list[tuple[str, list[str], list[list[str]]]]:
        """Return the tables of the report as text: title, head, rows."""
        percent = f"{100 * self.confidence:g}% interval"
        order = sorted(range(len(self.names)), key=lambda k: -self.standings[k].rating.value)
        agents = [
            [
                s.name,
                f"{s.rating.value:.0f}",
                f"{s.rating.low:.0f} to {s.rating.high:.0f}",
                _span(s.payoff, "+"),
                _span(s.win_share),
                f"{s.microseconds:.1f}",
            ]
            for s in (self.standings[k] for k in order)
        ]
        many = self.game.num_players > 2
        head = ["one", "v rest" if many else "v", "payoff", "win share", "points", "theirs"]
        pairs = [
            [
                pair.one,
                pair.rest,
                _span(pair.payoff, "+"),
                _span(pair.win_share),
                f"{pair.points.mean:.2f}",
                f"{pair.rest_points.mean:.2f}",
            ]
            for pair in self.pairs
        ]
        found = [
            ("Agents", ["agent", "rating", percent, "payoff", "win share", "µs a choice"], agents),
            ("Matchups", head, pairs),
        ]
        if len(self.names) > 2:
            rows = [
                [name, *("" if math.isnan(x) else f"{x:+.3f}" for x in row)]
                for name, row in zip(self.names, self.matrix, strict=True)
            ]
            found.append(("Payoff of one (row) among others (column)", ["", *self.names], rows))
        figures = list(self.standings[0].behaviour)
        if figures:
            rows = [[figure, *(_figure(s.behaviour[figure]) for s in self.standings)] for figure in figures]
            found.append(("How they play", ["", *self.names], rows))
        return found

    def to_markdown(self) -> str:
        """Return the report as Markdown."""
        parts = [f"{self.title()}. {self.note()}."]
        for title, head, rows in self.tables():
            lines = ["| " + " | ".join(cells) + " |" for cells in [head, ["---"] * len(head), *rows]]
            parts.append(f"### {title}\n\n" + "\n".join(lines))
        return "\n\n".join(parts) + "\n"

    def print(self) -> None:
        """Print the report: with rich where it is installed, else as Markdown."""
        try:
            from rich.console import Console
            from rich.table import Table
        except ImportError:
            print(self.to_markdown())
            return
        console = Console()
        console.print(f"{self.title()}. {self.note()}.", highlight=False)
        for title, head, rows in self.tables():
            table = Table(title=title, title_justify="left")
            for c, name in enumerate(head):
                table.add_column(name, justify="left" if c == 0 else "right")
            for row in rows:
                table.add_row(*row)
            console.print(table)

    def picture(self, path: str | Path) -> None:
        """Draw the payoff matrix and the ratings with their intervals into a file; needs matplotlib."""
        from matplotlib.figure import Figure

        size = len(self.names)
        figure = Figure(figsize=(5 + size, 2 + 0.6 * size), layout="constrained")
        left, right = figure.subplots(1, 2)
        bound = float(np.nanmax(np.abs(self.matrix))) or 1.0
        left.imshow(self.matrix, cmap="PuOr", vmin=-bound, vmax=bound)
        for i in range(size):
            for j in range(size):
                if i != j:
                    light = abs(self.matrix[i, j]) > 0.6 * bound
                    left.text(j, i, f"{self.matrix[i, j]:+.3f}", ha="center", va="center", color="w" if light else "k")
        left.set_xticks(range(size), self.names, rotation=30, ha="right")
        left.set_yticks(range(size), self.names)
        left.set_title("payoff of one (row) among others (column)", fontsize="medium")
        order = sorted(range(size), key=lambda k: self.ratings[k].value)
        values = np.array([self.ratings[k].value for k in order])
        spans = np.array([[self.ratings[k].low, self.ratings[k].high] for k in order])
        right.errorbar(values, range(size), xerr=np.abs(spans.T - values), fmt="o", capsize=3)
        right.set_yticks(range(size), [self.names[k] for k in order])
        right.set_title(f"rating, {100 * self.confidence:g}% interval", fontsize="medium")
        figure.suptitle(self.title(), fontsize="small")
        figure.savefig(path, dpi=150)


def _span(e: Estimate, sign: str = "") -> str:
    return f"{e.mean:{sign}.4f} ± {e.high - e.mean:.4f}"


def _figure(x: float) -> str:
    return f"{x:,.0f}" if abs(x) >= 1000 else f"{x:.3g}"


def _plain(value: Any) -> Any:
    """Return JSON-ready values; what is not a number (an interval of one block) is null."""
    if isinstance(value, dict):
        return {key: _plain(v) for key, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(v) for v in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


# Running ----------------------------------------------------------------------------------------------------------------


def compare(
    game: BatchGame,
    agents: Sequence[Agent | str],
    blocks: int,
    seed: int = 0,
    *,
    names: Sequence[str] | None = None,
    jobs: int = 1,
    executor: str | None = None,
    address: str | None = None,
    chunk: int | None = None,
    anchor: str | None = None,
    confidence: float = 0.95,
    progress: bool = False,
) -> ArenaResult:
    """Play all agents against each other on `blocks` deals and return what came of it.

    agents: specs (`agents.registry`) or Agents; `names` is what to call them, by default the spec. executor, jobs, address:
    who plays, see `tabletop.executors.run_tasks`; by default "processes" for more than one job, else "serial"; all but
    "serial" need specs. chunk: blocks that step together. None of these changes the result. anchor: the agent rated 0,
    by default `random` or else the first. progress: show a bar on a terminal, if rich is installed.
    """
    if len(agents) < 2:
        raise ValueError(f"an arena needs at least two agents, not {len(agents)}")
    if blocks < 2:
        raise ValueError(f"blocks must be at least 2, not {blocks}: one has no interval")
    if jobs < 1 or (chunk is not None and chunk < 1):
        raise ValueError(f"jobs and chunk must be at least 1, not {jobs} and {chunk}")
    called = list(names) if names is not None else [a if isinstance(a, str) else a.name for a in agents]
    if len(called) != len(agents):
        raise ValueError(f"{len(called)} names for {len(agents)} agents")
    called = _distinct(called)
    if anchor is not None and anchor not in called:
        raise ValueError(f"anchor must be one of the agents, {', '.join(called)}, not {anchor!r}")
    made = tuple(make_agent(a, game) if isinstance(a, str) else a for a in agents)  # wrong specs are told of first
    arena = Arena(game, made, seed)
    step = chunk or min(arena.blocks_at_once, math.ceil(blocks / (CHUNKS * jobs)))
    tasks = [(first, min(step, blocks - first)) for first in range(0, blocks, step)]
    executor = executor or ("serial" if jobs == 1 else "processes")
    if executor != "serial":
        arena = Arena(game, tuple(_spec(agent, executor) for agent in agents), seed)
    parts: dict[int, Blocks] = {}
    with _progress(blocks, progress) as report:
        for number, part in run_tasks(play_blocks, arena, tasks, executor, jobs, address):
            parts[number] = part
            report(tasks[number][1])
    return ArenaResult(game, tuple(called), seed, join([parts[t] for t in range(len(tasks))]), anchor, confidence)


def _spec(agent: Agent | str, executor: str) -> str:
    if not isinstance(agent, str):
        raise ValueError(
            f"the executor {executor!r} needs specs: the agent {agent.name} can't be sent to another process"
        )
    return agent


def _distinct(names: Sequence[str]) -> list[str]:
    """Return names with a number where one comes again."""
    out: list[str] = []
    for name in names:
        again = sum(1 for other in names[: len(out)] if other == name)
        out.append(f"{name} #{again + 1}" if again else name)
    return out


@contextmanager
def _progress(total: int, show: bool) -> Iterator[Any]:
    """Show a bar on a terminal; yields what to call with the number of blocks done."""
    bar: Any = nullcontext()
    if show:
        try:
            from rich.console import Console
            from rich.progress import Progress

            console = Console(stderr=True)
            bar = Progress(console=console, transient=True) if console.is_terminal else bar
        except ImportError:
            pass
    with bar as running:
        if running is None:
            yield lambda _: None
        else:
            task = running.add_task("blocks", total=total)
            yield lambda done: running.advance(task, done)


def run_arena(
    game: BatchGame,
    specs: Sequence[str],
    blocks: int = 1000,
    seed: int = 0,
    jobs: int = 1,
    out: str | Path | None = None,
    *,
    executor: str | None = None,
    address: str | None = None,
    progress: bool = True,
    anchor: str | None = None,
) -> ArenaResult:
    """Compare the agents named and write the JSON to `out`; what a command line calls. See `compare`."""
    result = compare(
        game,
        specs,
        blocks,
        seed,
        jobs=jobs,
        executor=executor,
        address=address,
        progress=progress,
        anchor=anchor,
    )
    if out is not None:
        result.write(out)
    return result


def plan(
    game: BatchGame, agents: Sequence[Agent | str], delta: float, pilot: int = 200, seed: int = 0, jobs: int = 1
) -> dict[str, int]:
    """Return for every matchup how many blocks find a difference in payoff of `delta`, from a pilot of other deals.

    5% two-sided, 80% power: 7.85 sd^2 / delta^2, sd that of a block in the pilot. Play the arena itself on another seed.
    """
    return compare(game, agents, pilot, seed, jobs=jobs).blocks_for(delta)
