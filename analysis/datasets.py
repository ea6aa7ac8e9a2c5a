"""The data of a study: one row for each position, in Parquet files made piece by piece, so that it can be gone on with.

A data set is a pure function of its settings. It lies in a folder of its own, named by them; each file holds the positions
of some games, is written beside its place and then renamed, and is never made twice. Interrupted, it goes on where it was;
pieces are the same, made one after another, in processes or elsewhere.

Columns: `game` (number, for clustering), `deal` (its seed), `decision`, `seat`; the question's features; `choice SPEC`
for each policy named, the arm it takes (0, 1; -1: neither); and for each measure m, win (share of the win) and margin
(points more than the mean of the others):

    m ARM first, m ARM second   mean over the first and second half of the worlds
    m var ARM, m var difference variance between worlds, of an arm and of the difference
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from agents.base import Array, luck
from agents.digest import digest
from agents.registry import make_agent
from analysis.questions import Question
from analysis.rollouts import BEHAVE, Payoffs, find, pair, seat_agents, stream
from tabletop import registry, seeding
from tabletop.executors import run_tasks
from tabletop.files import whole_file, write_whole
from tabletop.game import BatchGame

FORMAT = 1
MEASURES = ("win", "margin")
HALVES = ("first", "second")
PILOT = 256  # games from which it is seen how often the question is posed
SPARE = 1.05  # games more than the pilot asks for, so that the number of positions wanted is reached
ROWS = 512  # positions in a file, about
PILOT_SEED = 0x5EED


@dataclass(frozen=True)
class Settings:
    """What a data set is made of; the same settings give the same rows.

    players: seats. options: rules options. behaviour: who played the games the positions are from, and continuation: who
    plays on from them, one agent for all seats or one for each. swapper: whom the question asks for a move, where it does.
    policies: whose choices are noted. states: positions, at least. worlds: for each position, even. keep: the part of the
    positions that is kept. explore: the probability with which an arm was taken at random on the way.
    """

    players: int
    options: tuple[tuple[str, Any], ...] = ()
    behaviour: tuple[str, ...] = ("greedy",)
    continuation: tuple[str, ...] = ("greedy",)
    swapper: str = "greedy"
    policies: tuple[str, ...] = ()
    states: int = 20_000
    worlds: int = 64
    keep: float = 0.25
    explore: float = 0.2
    seed: int = 1

    def __post_init__(self) -> None:
        for name, low in (("states", 1), ("worlds", 4), ("seed", 0)):
            if getattr(self, name) < low:
                raise ValueError(f"{name} must be at least {low}, not {getattr(self, name)}")
        if self.worlds % 2:
            raise ValueError(f"worlds must be even, as they are split in two halves, not {self.worlds}")
        if not 0 < self.keep <= 1 or not 0 <= self.explore <= 1:
            raise ValueError(
                f"keep must be above 0 and explore at least 0, both at most 1: {self.keep}, {self.explore}"
            )

    def game(self, question: Question) -> BatchGame:
        """Return the game that is played."""
        return registry.make(
            question.game, num_players=self.players, **{**dict(question.options), **dict(self.options)}
        )

    def to_dict(self) -> dict[str, Any]:
        """Return it JSON-ready."""
        values: dict[str, Any] = json.loads(json.dumps(asdict(self)))
        return values


@dataclass(frozen=True)
class Shared:
    """What every piece of a data set needs; the game and the agents are made once in each process and kept."""

    question: Question
    settings: Settings

    def table(self) -> dict[str, Any]:
        """Return the game and who plays."""
        if "_made" not in self.__dict__:
            s = self.settings
            game = s.game(self.question)
            made = {
                "game": game,
                "behaviour": seat_agents(game, s.behaviour),
                "continuation": seat_agents(game, s.continuation),
                "swapper": make_agent(s.swapper, game),
                "policies": {spec: make_agent(spec, game) for spec in s.policies},
            }
            object.__setattr__(self, "_made", made)
        found: dict[str, Any] = self.__dict__["_made"]
        return found

    def __getstate__(self) -> dict[str, Any]:
        return {"question": self.question, "settings": self.settings}

    def __setstate__(self, state: dict[str, Any]) -> None:
        for name, value in state.items():
            object.__setattr__(self, name, value)


@dataclass(frozen=True)
class Data:
    """A data set, read: columns by name, each [N]."""

    question: Question
    settings: Settings
    columns: dict[str, Array]
    asked: int  # how often the question was posed in all its games
    games: int  # all games played, those without a row too

    def __len__(self) -> int:
        return len(self.columns["game"])

    @property
    def game_numbers(self) -> Array:
        """The game of each position: int64 [N]."""
        return self.columns["game"]

    @property
    def asked_per_game(self) -> float:
        """How often a player has to answer in a game."""
        return self.asked / self.games / self.settings.players

    def value(self, measure: str, arm: int) -> Array:
        """Return what an arm comes to, over all worlds: float64 [N]."""
        name = self.question.arms[arm]
        return np.mean([self.columns[f"{measure} {name} {half}"] for half in HALVES], axis=0)

    def difference(self, measure: str, half: str | None = None) -> Array:
        """Return arm 1 less arm 0, over all worlds or one half of them: float64 [N]."""
        if half is None:
            return self.value(measure, 1) - self.value(measure, 0)
        zero, one = self.question.arms
        return self.columns[f"{measure} {one} {half}"] - self.columns[f"{measure} {zero} {half}"]

    def choice(self, spec: str) -> Array:
        """Return the arm a policy takes: int64 [N], -1 for neither."""
        return self.columns[f"choice {spec}"]

    def part(self, rows: Array) -> Data:
        """Return some of the rows."""
        return Data(self.question, self.settings, {k: v[rows] for k, v in self.columns.items()}, self.asked, self.games)


# Making it --------------------------------------------------------------------------------------------------------------


def games_needed(shared: Shared) -> int:
    """Return how many games give the positions wanted, from a pilot on another seed."""
    s, made = shared.settings, shared.table()
    pilot = find(
        shared.question, made["game"], made["behaviour"], made["swapper"], s.seed ^ PILOT_SEED, 0, PILOT, 1.0, s.explore
    )
    if pilot.asked == 0:
        raise ValueError(f"the question {shared.question.name!r} was never posed in {PILOT} games: nothing to study")
    return math.ceil(SPARE * s.states * PILOT / (s.keep * pilot.asked))


def pieces(games: int, states: int) -> list[tuple[int, int]]:
    """Return the games of each file: first, count."""
    each = max(1, round(games * ROWS / states))
    return [(first, min(each, games - first)) for first in range(0, games, each)]


def make_piece(shared: Shared, task: tuple[int, int]) -> tuple[dict[str, Array], int]:
    """Return the columns of the positions of some games, and how often the question was posed in them."""
    s, question, made = shared.settings, shared.question, shared.table()
    game, (first, count) = made["game"], task
    found = find(question, game, made["behaviour"], made["swapper"], s.seed, first, count, s.keep, s.explore)
    states = found.states
    keys = luck(states, stream(s.seed, BEHAVE))
    moves = question.moves(game, states, made["swapper"], keys)
    columns = {
        "game": found.games_of,
        "deal": seeding.spread(s.seed, count, first=first)[found.games_of - first],
        "decision": states["decision"].astype(np.int64),
        "seat": states["current_player"].astype(np.int64),
    }
    columns |= question.features(game, states)
    for spec, agent in made["policies"].items():
        columns[f"choice {spec}"] = arm_of(game, states, moves, agent.act, keys)
    payoffs = pair(question, game, states, moves, made["continuation"], s.worlds, s.seed)
    return columns | summary(question, payoffs), found.asked


def arm_of(game: BatchGame, states: Array, moves: Array, act: Callable[..., Array], keys: Array) -> Array:
    """Return the arm whose first move a policy makes: int64 [B], -1 for neither."""
    if len(states) == 0:
        return np.empty(0, np.int64)
    actions = act(game.observe(states), game.legal_action_mask(states), keys)
    return np.where(actions == moves[:, 1, 0], 1, np.where(actions == moves[:, 0, 0], 0, -1)).astype(np.int64)


def summary(question: Question, payoffs: Payoffs) -> dict[str, Array]:
    """Return the columns of payoffs [B, W, 2]; the halves are the even and the odd worlds."""
    columns = {}
    for measure, values in zip(MEASURES, payoffs, strict=True):
        for arm, name in enumerate(question.arms):
            for start, half in enumerate(HALVES):
                columns[f"{measure} {name} {half}"] = values[:, start::2, arm].mean(axis=1)
            columns[f"{measure} var {name}"] = values[:, :, arm].var(axis=1, ddof=1)
        columns[f"{measure} var difference"] = (values[:, :, 1] - values[:, :, 0]).var(axis=1, ddof=1)
    return columns


# Files ------------------------------------------------------------------------------------------------------------------


def folder_of(question: Question, settings: Settings, data: Path) -> Path:
    """Return where a data set lies: a name to read, and the hash of its settings."""
    text = json.dumps([FORMAT, question.name, question.game, question.options, settings.to_dict()], sort_keys=True)
    digest = hashlib.sha256(text.encode()).hexdigest()[:8]
    words = [question.name, f"{settings.players}p", "-".join(settings.continuation)]
    words += [f"{name}-{value}" for name, value in settings.options]
    safe = "".join(c if c.isalnum() or c in "-." else "-" for c in "_".join(words).replace("<=", "at-most-"))
    return data / f"{safe}-{digest}"


def write_piece(path: Path, columns: dict[str, Array], facts: dict[str, int]) -> None:
    """Write one file so that nobody ever sees half of it; `facts` goes with it."""
    table = pa.table(columns)
    table = table.replace_schema_metadata({"stinglab": json.dumps(facts)})
    with whole_file(path) as part:
        pq.write_table(table, part, compression="zstd")


def make(
    question: Question,
    settings: Settings,
    data: Path,
    executor: str = "serial",
    jobs: int = 1,
    report: Callable[[str], None] = lambda text: None,
) -> Data:
    """Return a data set, making what is missing of it. Ctrl-C loses no more than the files being made.

    A whole data set made by other rules or agents than are there now is read, and `report` says so; ValueError if one is only
    begun, since its rows would not fit together.
    """
    folder = folder_of(question, settings, data)
    folder.mkdir(parents=True, exist_ok=True)
    shared = Shared(question, settings)
    code = code_digest(shared)
    plan = read_plan(folder) or write_plan(folder, shared, code)
    tasks = pieces(plan["games"], settings.states)
    missing = [t for t in range(len(tasks)) if not piece_path(folder, t).exists()]
    if plan.get("code") != code:
        if 0 < len(missing) < len(tasks):
            raise ValueError(
                f"{folder} was begun with other rules or agents than are there now: delete it to begin anew"
            )
        report(f"{folder} was made with other rules or agents than are there now: delete it to make it anew")
    if missing:
        done = len(tasks) - len(missing)
        for number, (columns, asked) in run_tasks(make_piece, shared, [tasks[t] for t in missing], executor, jobs):
            write_piece(
                piece_path(folder, missing[number]), columns, {"asked": asked, "games": tasks[missing[number]][1]}
            )
            done += 1
            report(f"{folder.name}: {done} of {len(tasks)} files")
    return read(question, settings, [piece_path(folder, t) for t in range(len(tasks))])


def code_digest(shared: Shared) -> str:
    """Return the hash of what rows hang on beside the settings: rules, bots, the weights of networks."""
    made = shared.table()
    agents = [*made["behaviour"], *made["continuation"], made["swapper"], *made["policies"].values()]
    return digest(made["game"], agents)


def read_plan(folder: Path) -> dict[str, Any] | None:
    """Return what a data set is, None where there is none yet; ValueError if it is damaged."""
    path = folder / "settings.json"
    if not path.exists():
        return None
    try:
        plan: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        plan["games"] = int(plan["games"])
    except (KeyError, TypeError, ValueError) as error:
        raise ValueError(f"{path} is damaged ({error}); delete {folder} and it is made anew") from error
    return plan


def write_plan(folder: Path, shared: Shared, code: str) -> dict[str, Any]:
    """Write down what a data set is before any of it is made, and return it."""
    games, settings = games_needed(shared), shared.settings
    plan = {"format": FORMAT, "question": shared.question.name, "games": games, "code": code, **settings.to_dict()}
    write_whole(folder / "settings.json", json.dumps(plan, indent=1) + "\n")
    return plan


def piece_path(folder: Path, number: int) -> Path:
    """Return the path of a file."""
    return folder / f"part-{number:05d}.parquet"


def read(question: Question, settings: Settings, paths: Sequence[Path]) -> Data:
    """Read the files of a data set; ValueError names one that is damaged."""
    tables, asked, games = [], 0, 0
    for path in paths:
        try:
            table = pq.read_table(path)
            facts = json.loads(table.schema.metadata[b"stinglab"])
        except (pa.ArrowInvalid, KeyError, TypeError, ValueError) as error:
            raise ValueError(f"{path} is damaged ({error}); delete it and it is made anew") from error
        asked, games = asked + facts["asked"], games + facts["games"]
        tables.append(table.replace_schema_metadata(None))
    whole = pa.concat_tables(tables)
    columns = {name: np.asarray(whole.column(name).to_numpy()) for name in whole.column_names}
    return Data(question, settings, columns, asked, games)


def positions(question: Question, settings: Settings, rows: dict[str, Array]) -> Array:
    """Return the records of some rows again, by playing their games once more: `game` and `decision` [R] name them."""
    made = Shared(question, settings).table()
    game = made["game"]
    out = game.new_states(len(rows["game"]))
    for i, (number, decision) in enumerate(zip(rows["game"], rows["decision"], strict=True)):
        found = find(
            question,
            game,
            made["behaviour"],
            made["swapper"],
            settings.seed,
            int(number),
            1,
            settings.keep,
            settings.explore,
        )
        out[i] = found.states[np.flatnonzero(found.states["decision"] == decision)[0]]
    return out
