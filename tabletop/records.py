"""Game records: JSON Lines that can be written while a game goes on, read, and played again to the letter.

    {"record": 1, "game": "sting-v0", "package": "stinglab 0.1.0", "config": {"num_players": 2}, "seed": 7,
     "episode": 0, "players": ["sting:rulebook", "human"]}                                    the header, on one line
    {"player": 0, "action": "draw 1"}                                                         one for each decision
    {"returns": [0.25, -0.25], "result": {...}}                                               at the end of the game

`config` holds the options of the game, num_players of this lane; with `seed` (up to 64 bits) and `episode` it settles
all chance. `players` names who played, by seat, and may be empty. `result` is the game's own account of the outcome, {}
if it has none. A file may hold several records, one after the other, and may be compressed (.gz).
"""

from __future__ import annotations

import gzip
import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import IO, Any

import numpy as np

from tabletop import registry
from tabletop.files import whole_file
from tabletop.game import Array, BatchGame, IllegalActionError
from tabletop.state import NO_PLAYER

FORMAT = 1
UNFINISHED = ".part"  # ends the name of a record that is still being written
HEADER = {"record": int, "game": str, "package": str, "config": dict, "seed": int, "episode": int, "players": list}
DECISION = {"player": int, "action": str}
RESULT = {"returns": list, "result": dict}


class RecordError(ValueError):
    """A game record that is damaged, cut short or not one of ours; the message names file and line."""


@dataclass
class Record:
    """One game: who sat where, what was decided, how it ended."""

    game: str
    config: dict[str, Any]
    seed: int
    episode: int = 0
    players: list[str] = field(default_factory=list)
    package: str = ""
    decisions: list[tuple[int, str]] = field(default_factory=list)  # player, action in words
    returns: list[float] | None = None  # None while unfinished
    result: dict[str, Any] = field(default_factory=dict)
    source: str = field(default="record", compare=False)  # file name, for messages
    first_line: int = field(default=1, compare=False)  # line number of the header

    def lines(self) -> Iterator[str]:
        """Yield the record line by line, as it is written."""
        yield header_line(self)
        for player, action in self.decisions:
            yield decision_line(player, action)
        if self.returns is not None:
            yield result_line(self.returns, self.result)

    def error(self, line: int, what: str) -> RecordError:
        """Return the error of a line, counted from the header as 0."""
        return RecordError(f"{self.source}, line {self.first_line + line}: {what}")


def header_line(record: Record) -> str:
    """Return the first line of a record."""
    names = ("game", "package", "config", "seed", "episode", "players")
    return json.dumps({"record": FORMAT, **{name: getattr(record, name) for name in names}}, ensure_ascii=False)


def decision_line(player: int, action: str) -> str:
    """Return the line of one decision."""
    return json.dumps({"player": player, "action": action}, ensure_ascii=False)


def result_line(returns: Sequence[float], result: dict[str, Any]) -> str:
    """Return the last line of a record."""
    return json.dumps({"returns": list(returns), "result": result}, ensure_ascii=False)


def new_record(
    game: BatchGame, seed: int, players: Sequence[str] = (), num_players: int | None = None, episode: int = 0
) -> Record:
    """Return the record of a game that has not begun. num_players: of this lane, None for the configuration's."""
    count = game.num_players if num_players is None else num_players
    if players and len(players) != count:
        raise ValueError(f"players must name {count} players or none, not {len(players)}")
    config = {**game.config.to_dict(), "num_players": count}
    name = game.spec.name
    return Record(name, config, int(seed), int(episode), list(players), registry.package_of(name))


def outcome(game: BatchGame, state: Any) -> tuple[list[float], dict[str, Any]]:
    """Return what a record says of a finished game: returns by seat, and the game's own result if it gives one."""
    returns = [float(value) for value in state["returns"][: int(state["num_players"])]]
    result = getattr(game, "result", None)
    return returns, {} if result is None else dict(result(state))


# Writing --------------------------------------------------------------------------------------------------------------


class RecordWriter:
    """Write the record of one game while it goes on.

    Every line goes to `PATH.part` and is handed to the operating system at once, so that it survives the process;
    `finish` brings the file onto the disk and gives it its name. So a file called PATH is complete, and a `.part` is an
    interrupted game, which `resume` goes on with. ValueError if PATH is there already.

        with RecordWriter("game.jsonl", game, seed=7, players=["human", "uniform"]) as writer:
            ...
            writer.write(player, action)
            ...
            writer.finish(states[0])
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        game: BatchGame,
        seed: int,
        players: Sequence[str] = (),
        num_players: int | None = None,
        episode: int = 0,
    ) -> None:
        record = new_record(game, seed, players, num_players, episode)
        self._open(path, game, record, "x")
        self._put(header_line(record))

    @classmethod
    def resume(
        cls, path: str | os.PathLike[str], make_game: Callable[..., BatchGame] = registry.make
    ) -> tuple[RecordWriter, BatchGame, Array]:
        """Go on with an interrupted game; return the writer, the game and its states [1] after the last whole line.

        A line that was cut off in the middle is dropped. make_game: as for `replay`. Raises RecordError for a record
        that can't be played again, FileNotFoundError if there is no interrupted one.
        """
        part = Path(f"{os.fspath(path)}{UNFINISHED}")
        record = read_record(part, unfinished=True)
        record.returns, record.result = None, {}  # written again by `finish`
        states = list(replay(record, make_game))[-1]
        with part.open("r+b") as file:
            file.truncate(sum(len(line.encode("utf-8")) + 1 for line in record.lines()))
        writer = cls.__new__(cls)
        writer._open(path, game_of(record, make_game), record, "a")
        return writer, writer.game, states

    def _open(self, path: str | os.PathLike[str], game: BatchGame, record: Record, mode: str) -> None:
        self.path = Path(path)
        self.part = Path(f"{os.fspath(path)}{UNFINISHED}")
        if self.path.exists():
            raise ValueError(f"{self.path} is there already")
        if mode == "x" and self.part.exists():
            raise ValueError(f"{self.part} holds an interrupted game: resume or remove it")
        self.game = game
        self.record = record
        self._file: IO[str] = self.part.open(mode, encoding="utf-8", newline="\n")

    def write(self, player: int, action: int) -> None:
        """Write one decision."""
        text = self.game.action_to_string(int(action))
        self.record.decisions.append((int(player), text))
        self._put(decision_line(int(player), text))

    def finish(self, state: Any) -> Path:
        """Write the result of the finished game `state`, one record of its states, and give the file its name."""
        if int(state["current_player"]) != NO_PLAYER:
            raise ValueError("the game is not over: close the writer to go on later")
        self.record.returns, self.record.result = outcome(self.game, state)
        self._put(result_line(self.record.returns, self.record.result))
        os.fsync(self._file.fileno())
        self.close()
        os.replace(self.part, self.path)
        return self.path

    def close(self) -> None:
        """Close the file; an unfinished record stays a `.part`, to be resumed."""
        self._file.close()

    def __enter__(self) -> RecordWriter:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _put(self, line: str) -> None:
        self._file.write(line + "\n")
        self._file.flush()


def write_records(path: str | os.PathLike[str], records: Sequence[Record]) -> None:
    """Write finished records one after the other into one file, compressed if its name ends in .gz; all or nothing."""
    lines = "".join(f"{line}\n" for record in records for line in record.lines()).encode("utf-8")
    with whole_file(path) as part, part.open("wb") as file:
        # No name and time in the header: the same games make the same file.
        file.write(gzip.compress(lines, mtime=0) if os.fspath(path).endswith(".gz") else lines)
        file.flush()
        os.fsync(file.fileno())


# Reading --------------------------------------------------------------------------------------------------------------


def read_record(path: str | os.PathLike[str], unfinished: bool = False) -> Record:
    """Return the one record in a file; RecordError if it is damaged, cut short, or there are others beside it.

    unfinished: take an interrupted game too, up to where it got.
    """
    records = read_records(path, unfinished)
    if len(records) != 1:
        line = records[1].first_line
        raise RecordError(f"{os.fspath(path)}, line {line}: {len(records)} records where one was expected")
    return records[0]


def read_records(path: str | os.PathLike[str], unfinished: bool = False) -> list[Record]:
    """Return all the records in a file, at least one; RecordError names the line where something is wrong."""
    name = os.fspath(path)
    try:
        with gzip.open(path, "rb") if name.endswith(".gz") else open(path, "rb") as file:
            text = file.read().decode("utf-8")
    except (EOFError, gzip.BadGzipFile, UnicodeDecodeError) as error:
        raise RecordError(f"{name}, line 1: not a text of ours: {error}") from error
    lines = text.split("\n")
    if not lines[-1] or unfinished:  # what follows the last line's end is nothing, or a line cut off
        lines.pop()
    return parse(lines, name, unfinished)


def parse(lines: Sequence[str], source: str, unfinished: bool = False) -> list[Record]:
    """Return the records written in some lines; `source` names them in errors."""
    records: list[Record] = []
    for number, line in enumerate(lines, start=1):
        where = f"{source}, line {number}"
        values = _read_line(line, where)
        running = records[-1] if records and records[-1].returns is None else None
        if "record" in values:
            if running is not None:
                raise RecordError(f"{where}: a record begins, but the one of line {running.first_line} has no result")
            records.append(_read_header(values, source, number))
        elif running is None:
            raise RecordError(f"{where}: a game record was expected to begin, not {line[:60]!r}")
        elif "returns" in values:
            _check_line(values, RESULT, where)
            running.returns, running.result = values["returns"], values["result"]
        else:
            _check_line(values, DECISION, where)
            running.decisions.append((values["player"], values["action"]))
    if not records:
        raise RecordError(f"{source}, line 1: empty")
    if records[-1].returns is None and not unfinished:
        raise RecordError(f"{source}, line {len(lines) + 1}: cut short: the result is missing")
    return records


def _read_line(line: str, where: str) -> dict[str, Any]:
    try:
        values = json.loads(line)
    except ValueError as error:
        raise RecordError(f"{where}: damaged, not JSON: {error}") from error
    if not isinstance(values, dict):
        raise RecordError(f"{where}: damaged: an object was expected, not {line[:60]!r}")
    return values


def _read_header(values: dict[str, Any], source: str, number: int) -> Record:
    where = f"{source}, line {number}"
    if values["record"] != FORMAT:
        raise RecordError(f"{where}: record format {values['record']!r} is not one this version reads ({FORMAT})")
    _check_line(values, HEADER, where)
    options = {name: values[name] for name in ("game", "config", "seed", "episode", "players", "package")}
    if not 0 <= options["seed"] < 1 << 64:
        raise RecordError(f"{where}: seed {options['seed']} does not fit in 64 bits")
    return Record(**options, source=source, first_line=number)


def _check_line(values: dict[str, Any], expected: Mapping[str, type], where: str) -> None:
    """Raise RecordError unless a line holds what it should, and nothing else."""
    for name, kind in expected.items():
        if not isinstance(values.get(name), kind) or isinstance(values[name], bool):
            raise RecordError(f"{where}: damaged: {name!r} must be {kind.__name__}, not {values.get(name)!r}")
    for name in values:
        if name not in expected:
            raise RecordError(f"{where}: damaged: unknown entry {name!r}")


# Playing again --------------------------------------------------------------------------------------------------------


def game_of(record: Record, make_game: Callable[..., BatchGame] = registry.make) -> BatchGame:
    """Return the game of a record: make_game(name, **config). RecordError if there is none of that name or config."""
    try:
        game = make_game(record.game, **record.config)
    except (LookupError, TypeError, ValueError) as error:
        by = f" (written by {record.package})" if record.package else ""
        raise record.error(0, f"{record.game!r} with {record.config}{by} can't be made: {error}") from error
    if game.spec.name != record.game:
        raise record.error(0, f"a record of {record.game!r}, not of {game.spec.name!r}")
    return game


def replay(record: Record, make_game: Callable[..., BatchGame] = registry.make) -> Iterator[Array]:
    """Play a record again; yield the states [1] at the start and after every decision, each an array of its own.

    make_game(name, **config) returns the game. Everything is checked: that it is the player's turn, that the action is
    one and legal, that the game is over where the record ends and not before, and the result to the last bit.
    RecordError names the line. An unfinished record is played as far as it goes.
    """
    game = game_of(record, make_game)
    states = game.new_states(1)
    game.reset(states, np.array([record.seed], np.uint64), episodes=record.episode)
    yield states.copy()
    for line, (player, text) in enumerate(record.decisions, start=1):
        current = int(states["current_player"][0])
        if current == NO_PLAYER:
            raise record.error(line, f"player {player} plays {text!r}, but the game is over")
        if current != player:
            raise record.error(line, f"player {player} plays {text!r}, but it is player {current}'s turn")
        try:
            game.step(states, [game.string_to_action(text)])
        except IllegalActionError as error:
            raise record.error(line, f"{text!r} is not legal here: {error}") from error
        except ValueError as error:
            raise record.error(line, f"{text!r} is no action of {record.game}: {error}") from error
        yield states.copy()
    if record.returns is None:
        return
    last = len(record.decisions) + 1
    if int(states["current_player"][0]) != NO_PLAYER:
        raise record.error(last, "a result, but the game is not over")
    returns, result = outcome(game, states[0])
    if record.returns != returns:
        raise record.error(last, f"returns {record.returns} were recorded; the game gives {returns}")
    if record.result != json.loads(json.dumps(result)):
        raise record.error(last, f"result {record.result} was recorded; the game gives {result}")
