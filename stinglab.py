"""The console command `stinglab`: play, replay, arena, study, advise, train, bench, demo, describe, games.

Nothing heavy is imported before a sub-command needs it. A mistake of the user's is one line on stderr and exit code 2.
"""

# No `from __future__ import annotations` here: typer reads the annotations of functions that are made inside another.

import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Annotated, Any, NoReturn

if TYPE_CHECKING:
    from agents.base import Agent
    from tabletop.game import Array, BatchGame
    from tabletop.records import Record, RecordWriter

WIDTH = 100
HUMAN = "human"
VEC_ROWS = 256
OPPONENTS = ("rulebook", "greedy", "random")  # who plays when nobody is named: the first that the game has
PLAY_HELP = """\
  a number       make that choice
  an action      the same, as records write it: {examples}
  ?              this help
  h              what the rules say about this decision
  t              show the table again
  q              quit; the game is kept and can be resumed (so do Ctrl-C and Ctrl-D)"""


class UserError(Exception):
    """What the user asked for can't be done; the message is for them."""


class Quit(Exception):
    """The user wants to stop."""


# Output -------------------------------------------------------------------------------------------------------------


def say(text: str = "") -> None:
    """Print a text that may hold ANSI colours: they go to a terminal only."""
    from rich.console import Console
    from rich.text import Text

    Console(highlight=False, soft_wrap=True).print(Text.from_ansi(text))


def ask_line(prompt: str) -> str:
    """Return what is typed; where it comes from a file or a pipe it is shown, so that what is printed can be read."""
    answer = input(prompt).strip()
    if not sys.stdin.isatty():
        print(answer)
    return answer


def wants_colour() -> bool:
    """Tell whether standard output shows colours."""
    return sys.stdout.isatty() and "NO_COLOR" not in os.environ


def print_table(title: str, columns: Sequence[str], rows: Sequence[Sequence[str]], right: Sequence[int] = ()) -> None:
    """Print a table; the columns numbered in `right` are set to the right."""
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.table import Table

    table = Table(title=title or None, box=SIMPLE_HEAD, title_justify="left", pad_edge=False)
    for number, column in enumerate(columns):
        table.add_column(column, justify="right" if number in right else "left", overflow="fold")
    for row in rows:
        table.add_row(*row)
    # In a pipe or a file a table is as wide as it needs to be.
    Console(highlight=False, markup=False, width=None if sys.stdout.isatty() else 200).print(table)


# Games and agents by name -------------------------------------------------------------------------------------------


def find_game(name: str) -> str:
    """Return the full id of a game: `sting` finds the newest of sting-v0, sting-v1, ..."""
    from tabletop import registry

    known = registry.names()
    if name in known:
        return name
    versions = [full for full in known if full.rpartition("-v")[0] == name]
    if not versions:
        raise UserError(f"no game is called {name!r}; games are: {', '.join(known) or 'none'}")
    return max(versions, key=lambda full: int(full.rpartition("-v")[2]) if full.rpartition("-v")[2].isdecimal() else -1)


def variants_of(game: "BatchGame") -> Mapping[str, Any]:
    """Return the named configurations that a game's package offers as VARIANTS."""
    package = sys.modules[type(game).__module__.partition(".")[0]]
    return getattr(package, "VARIANTS", {})


def os_error(error: OSError) -> str:
    """Return what is wrong with a file in one line."""
    return f"{error.filename}: {error.strerror}" if error.filename and error.strerror else str(error)


def read_value(text: str) -> Any:
    """Return the value of an option as written on the command line: JSON, or on, off, none, or a word."""
    import json

    words = {"true": True, "yes": True, "on": True, "false": False, "no": False, "off": False, "none": None}
    if text.lower() in words:
        return words[text.lower()]
    for candidate in (text, f"[{text}]"):
        try:
            return json.loads(candidate)
        except ValueError:
            continue
    return text


def make_game(name: str, players: int | None = None, variant: str = "", options: Sequence[str] = ()) -> "BatchGame":
    """Return a game by its name, a variant and options `key=value`."""
    from tabletop import registry

    full = find_game(name)
    chosen: dict[str, Any] = {}
    if variant:
        known = variants_of(registry.make(full))
        if variant not in known:
            raise UserError(f"{full} has no variant {variant!r}; variants are: {', '.join(known) or 'none'}")
        chosen.update(known[variant].to_dict())
    for option in options:
        key, equals, value = option.partition("=")
        if not equals:
            raise UserError(f"an option is written key=value, not {option!r}")
        chosen[key.strip().replace("-", "_")] = read_value(value.strip())
    if players is not None:
        chosen["num_players"] = players
    try:
        return registry.make(full, **chosen)
    except (TypeError, ValueError) as error:
        raise UserError(str(error)) from error


def make_bot(spec: str, game: "BatchGame") -> "Agent":
    """Return the agent that `spec` names."""
    from agents.registry import make_agent

    try:
        return make_agent(spec, game)
    except OSError as error:
        raise UserError(os_error(error)) from error
    except (ImportError, LookupError, ValueError) as error:
        raise UserError(str(error)) from error


def usual_opponent(game: "BatchGame") -> str:
    """Return who plays when nobody is named."""
    from agents.registry import list_agents

    known = list_agents(game)
    return next(name for name in OPPONENTS if name in known)


def seat_opponents(game: "BatchGame", seat: int, against: str) -> list[str]:
    """Return who sits where: the person at `seat`, the agents named from there on clockwise; one name does for all."""
    from agents.registry import split_specs

    others = game.num_players - 1
    specs = split_specs(against) or (usual_opponent(game),)
    if len(specs) == 1:
        specs *= others
    if len(specs) != others:
        raise UserError(f"{len(specs)} opponents are named, {others} are needed with {game.num_players} players")
    seats = [HUMAN] * game.num_players
    for place, spec in enumerate(specs, start=1):
        seats[(seat + place) % game.num_players] = spec
    return seats


@contextmanager
def patience() -> Iterator[None]:
    """Explain on stderr why nothing happens, where it takes long: the first time the rules are compiled."""
    import threading

    note = "getting the rules ready; this is slow only the first time ..."
    timer = threading.Timer(1.5, lambda: print(note, file=sys.stderr, flush=True))
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


def warm_up(game: "BatchGame", bots: "Sequence[Agent]") -> None:
    """Use everything once that playing uses, on a game of its own."""
    import numpy as np

    from agents.base import luck
    from tabletop.selfplay import ask

    with patience():
        states = game.new_states(1)
        game.reset(states, np.zeros(1, np.uint64))
        mask = game.legal_action_mask(states)
        for bot in bots:
            ask(bot, game, states, luck(states, 0))
        for action in np.flatnonzero(mask[0]):
            before = states.copy()
            game.step(states, [action])
            game.tell(before[0], int(action), states[0])
            break
        for action in np.flatnonzero(game.legal_action_mask(states)[0]):
            game.describe_action(states[0], int(action))
        game.to_text(states[0])


# Play ---------------------------------------------------------------------------------------------------------------


@dataclass
class Session:
    """A person's game against bots in the terminal."""

    game: "BatchGame"
    states: "Array"
    seats: list[str]
    writer: "RecordWriter | None" = None
    show_all: bool = False
    decisions: list[tuple[int, int]] = field(default_factory=list)
    news: bool = True  # whether something has happened since the table was shown

    def __post_init__(self) -> None:
        self.seat = self.seats.index(HUMAN)
        self.bots = {seat: make_bot(spec, self.game) for seat, spec in enumerate(self.seats) if spec != HUMAN}
        self.colour = wants_colour()
        warm_up(self.game, list(self.bots.values()))

    def say(self, text: str = "") -> None:
        """Print a text about the game."""
        say(self.game.in_colour(text) if self.colour else text)

    def play(self) -> bool:
        """Play on to the end of the game; return whether it came to it."""
        try:
            while (player := int(self.states["current_player"][0])) >= 0:
                self.act(player, self.ask() if player == self.seat else self.choose(player))
        except (Quit, EOFError, KeyboardInterrupt):
            say("")
            return False
        self.show()
        return True

    def choose(self, player: int) -> int:
        """Return a bot's choice; its own luck hangs on the deal, the seat and the decision, so that it can be resumed."""
        from agents.base import luck
        from tabletop.selfplay import ask

        return int(ask(self.bots[player], self.game, self.states, luck(self.states, 0))[0])

    def act(self, player: int, action: int) -> None:
        """Carry out an action, record it and tell about it."""
        before = self.states.copy()
        self.game.step(self.states, [action])
        self.decisions.append((player, action))
        if self.writer is not None:
            self.writer.write(player, action)
        lines = self.game.tell(before[0], action, self.states[0], self.seat)
        if len(lines) > 2:  # the end of a round is set apart
            lines = [lines[0], "", *lines[1:], ""]
        for line in lines:
            self.say(line)
            self.news = True

    def show(self) -> None:
        """Show the table; where nothing has happened but a question, the question."""
        picture = self.game.to_text(self.states[0], None if self.show_all else self.seat)
        self.say(f"\n{picture}" if self.news else picture.splitlines()[-1])
        self.news = False

    def ask(self) -> int:
        """Return the person's choice."""
        import numpy as np

        state = self.states[0]
        legal = [int(action) for action in np.flatnonzero(self.game.legal_action_mask(self.states)[0])]
        words = [self.game.describe_action(state, action, self.seat) for action in legal]
        self.show()
        self.say("\n".join(menu(words)))
        while True:
            answer = ask_line("> ")
            if answer in ("q", "quit", "exit"):
                raise Quit
            if answer == "?":
                examples = ", ".join(self.game.action_to_string(action) for action in spaced(legal, 6))
                self.say(PLAY_HELP.format(examples=examples))
            elif answer == "h":
                self.say(self.game.hint(state))
            elif answer == "t":
                self.news = True
                self.show()
                self.say("\n".join(menu(words)))
            elif answer:
                try:
                    return read_choice(self.game, legal, words, answer)
                except UserError as error:
                    self.say(f"  {error}")


def spaced(items: Sequence[Any], count: int) -> list[Any]:
    """Return at most `count` items, spread over all of them."""
    step = max(1, -(-len(items) // count))
    return list(items[::step])


def menu(words: Sequence[str]) -> list[str]:
    """Return the choices as lines: numbered, those that begin alike side by side under their first word."""
    groups: dict[str, list[tuple[int, str]]] = {}
    for number, text in enumerate(words, start=1):
        groups.setdefault(text.partition(" ")[0], []).append((number, text))
    heads = {first: first if len(choices) > 1 else "" for first, choices in groups.items()}
    margin = max(map(len, heads.values())) + 4
    lines = []
    for first, choices in groups.items():
        line = f"  {heads[first]}".ljust(margin)
        empty = True
        for number, text in choices:
            item = f"{number:>3}) {text.removeprefix(heads[first]).strip()}"
            if not empty and len(line) + 2 + len(item) > WIDTH:
                lines.append(line)
                line, empty = " " * margin, True
            line += item if empty else f"  {item}"
            empty = False
        lines.append(line)
    return lines


def read_choice(game: "BatchGame", legal: Sequence[int], words: Sequence[str], answer: str) -> int:
    """Return the action meant by a number, an action's text, or the beginning of one."""
    if answer.isdecimal():
        if 1 <= int(answer) <= len(legal):
            return legal[int(answer) - 1]
        raise UserError(f"choices are 1 to {len(legal)}; ? for help")
    wanted = " ".join(answer.lower().split())
    texts = [game.action_to_string(action).lower() for action in legal]
    for written in (texts, [text.lower() for text in words]):
        exact = [action for action, text in zip(legal, written) if text == wanted]
        begins = [action for action, text in zip(legal, written) if text.startswith(wanted)]
        if len(exact) == 1 or len(begins) == 1:
            return (exact or begins)[0]
        if begins:
            raise UserError(f"{answer!r} could be {len(begins)} of the choices; say more, or give a number")
    raise UserError(f"{answer!r} is none of the choices; give a number, ? for help")


def open_record(path: Path, session: Session, seed: int) -> "RecordWriter":
    """Return the writer of a new record that holds the session's decisions so far."""
    from tabletop.records import RecordWriter

    try:
        writer = RecordWriter(path, session.game, seed, session.seats)
    except OSError as error:
        raise UserError(os_error(error)) from error
    except ValueError as error:
        raise UserError(str(error)) from error
    for player, action in session.decisions:
        writer.write(player, action)
    return writer


def free_path(name: str) -> Path:
    """Return a path in the working folder that no record has."""
    from tabletop.records import UNFINISHED

    for number in range(1, 10_000):
        path = Path(f"{name}.jsonl" if number == 1 else f"{name}-{number}.jsonl")
        if not path.exists() and not Path(f"{path}{UNFINISHED}").exists():
            return path
    raise UserError(f"no name is left for a record: {path} is there already")


def new_session(game: "BatchGame", seat: int, against: str, seed: int, show_all: bool) -> Session:
    """Return a session at its start."""
    import numpy as np

    if not 0 <= seat < game.num_players:
        raise UserError(f"--seat must be 0 to {game.num_players - 1}, not {seat}")
    states = game.new_states(1)
    game.reset(states, np.array([seed], np.uint64))
    return Session(game, states, seat_opponents(game, seat, against), show_all=show_all)


def resume_session(path: Path, show_all: bool) -> Session:
    """Return the session of an interrupted record."""
    from tabletop.records import UNFINISHED, RecordError, RecordWriter, read_record

    path = Path(str(path).removesuffix(UNFINISHED))
    if path.exists():
        raise UserError(f"the game in {path} is over: `stinglab replay {path}` shows it")
    if not Path(f"{path}{UNFINISHED}").exists():
        raise UserError(f"there is no interrupted game {path}{UNFINISHED}")
    try:
        seats = read_record(f"{path}{UNFINISHED}", unfinished=True).players
        if seats.count(HUMAN) != 1:
            named = ", ".join(seats) or "nobody is named"
            raise UserError(f"{path}{UNFINISHED} is not the game of one person: {named}")
        writer, game, states = RecordWriter.resume(path)
    except OSError as error:
        raise UserError(os_error(error)) from error
    except RecordError as error:
        raise UserError(str(error)) from error
    return Session(game, states, seats, writer, show_all)


def play_session(session: Session, seed: int) -> None:
    """Play a session to its end or until the person stops, and say where it is kept."""
    game, seats = session.game, session.seats
    others = ", ".join(f"player {seat} is {spec}" for seat, spec in enumerate(seats) if spec != HUMAN)
    say(f"{game.spec.title} with {game.num_players} players, seed {seed}. You are player {session.seat}, {others}.")
    say("Type the number of a choice; ? helps, q quits and keeps the game.")
    over = session.play()
    writer = session.writer
    if over:
        if writer is not None:
            say(f"\nThe record is in {writer.finish(session.states[0])}.")
        return
    if writer is None:
        writer = open_record(free_path(f"{game.spec.name}-seed{seed}"), session, seed)
    writer.close()
    say(f"The game is kept in {writer.part}. Go on with: stinglab play --resume {writer.path}")


# Replay -------------------------------------------------------------------------------------------------------------


def read_games(path: Path) -> "list[Record]":
    """Return the records in a file, an interrupted one too."""
    from tabletop.records import UNFINISHED, RecordError, read_records

    if not path.exists() and Path(f"{path}{UNFINISHED}").exists():
        path = Path(f"{path}{UNFINISHED}")
    try:
        return read_records(path, unfinished=path.name.endswith(UNFINISHED))
    except OSError as error:
        raise UserError(os_error(error)) from error
    except RecordError as error:
        raise UserError(str(error)) from error


def replay_record(record: "Record", observer: int | None, first: int, every: bool, wait: bool) -> None:
    """Show a record: each decision in words, the table after each too (`every`), after Enter (`wait`)."""
    from tabletop.records import RecordError, game_of, replay

    try:
        game = game_of(record)
        states = [position.copy() for position in replay(record)]  # all of it is checked before any is shown
    except RecordError as error:
        raise UserError(str(error)) from error
    total = len(record.decisions)
    if observer is not None and not 0 <= observer < game.num_players:
        raise UserError(f"--observer must be 0 to {game.num_players - 1}, not {observer}")
    if not 0 <= first <= total:
        raise UserError(f"--from must be 0 to {total}, not {first}")
    colour = wants_colour()

    def show(text: str) -> None:
        say(game.in_colour(text) if colour else text)

    def table(number: int, news: bool = True) -> None:
        picture = game.to_text(states[number][0], observer)
        show(f"\n{picture}\n" if news else f"{' ' * margin}  {picture.splitlines()[-1]}")

    who = ", ".join(f"player {seat} is {name}" for seat, name in enumerate(record.players))
    say(f"{game.spec.title}, {game.num_players} players, seed {record.seed}, {total} decisions{'; ' * bool(who)}{who}")
    margin = len(str(total))
    table(first)
    for number in range(first, total):
        if wait and ask_line("Enter goes on, q stops > ") == "q":
            return
        action = game.string_to_action(record.decisions[number][1])
        lines = game.tell(states[number][0], action, states[number + 1][0], observer)
        for place, line in enumerate(lines):
            show(f"{'' if place else number + 1:>{margin}}  {line}")
        if every or wait:
            table(number + 1, news=bool(lines))  # a play that is being asked about goes without a table
    if not every and not wait and total > first:
        table(total)
    if record.returns is None:
        say("The record ends here: the game was interrupted.")


# Describe and list --------------------------------------------------------------------------------------------------


def describe_options(game: "BatchGame") -> None:
    """Print the options of the rules, and the variants."""
    import dataclasses
    import inspect

    config = game.config
    say(inspect.cleandoc(type(config).__doc__ or "").strip())
    rows = [(entry.name, str(getattr(config, entry.name)), str(entry.default)) for entry in dataclasses.fields(config)]
    print_table("", ("option", "value", "default"), rows)
    variants = [(name, ", ".join(f"{k}={v}" for k, v in c.to_dict().items())) for name, c in variants_of(game).items()]
    if variants:
        print_table("", ("variant", "options"), variants)


def action_sections(game: "BatchGame") -> "Iterator[tuple[int, int, str, str, str]]":
    """Yield runs of actions whose texts begin alike: first, count, word, text of the first and of the last."""
    from itertools import groupby

    texts = [game.action_to_string(action) for action in range(game.num_actions)]
    start = 0
    for word, group in groupby(texts, key=lambda text: text.split(" ")[0]):
        section = list(group)
        yield start, len(section), word, section[0], section[-1]
        start += len(section)


def describe_game(game: "BatchGame") -> None:
    """Print rules options, actions and observation of a game."""
    spec = game.spec
    say(f"{spec.title} ({spec.name}): {spec.min_players} to {spec.max_players} players")
    say(f"{game.num_actions} actions, {spec.observation_size} observation bytes, phases {', '.join(spec.phases)}\n")
    describe_options(game)
    rows = [
        (str(start), str(count), word, first, last if count > 1 else "")
        for start, count, word, first, last in action_sections(game)
    ]
    print_table("", ("action", "count", "word", "first", "last"), rows, right=(0, 1))
    say(game.describe_observation())


def list_games() -> None:
    """Print the games, their variants and who can play them."""
    from agents.registry import list_agents
    from tabletop import registry

    rows = []
    for name in registry.names():
        game = registry.make(name)
        players = f"{game.spec.min_players} to {game.spec.max_players}"
        rows.append((name, game.spec.title, players, ", ".join(variants_of(game)), ", ".join(list_agents(name))))
    print_table("", ("game", "title", "players", "variants", "agents"), rows)


# Arena ----------------------------------------------------------------------------------------------------------------


def run_plan(game: "BatchGame", specs: Sequence[str], delta: float, blocks: int, seed: int, jobs: int) -> None:
    """Say how many deals find a difference in payoff of `delta`, from a pilot of `blocks` deals."""
    need("scipy", "arena")
    from agents import arena

    try:
        needed = arena.plan(game, specs, delta, blocks, seed, jobs)
    except (LookupError, ValueError) as error:
        raise UserError(str(error)) from error
    print(f"deals that find a difference of {delta:g} in payoff (5% two-sided, 80% power), by a pilot of {blocks}:")
    for pair, count in needed.items():
        print(f"  {pair}: {count:,}")
    print("play the arena on another seed than the pilot's")


def read_counts(option: str, text: str) -> list[int]:
    """Read whole numbers above 0, comma separated."""
    counts = [int(part) if part.strip().isdecimal() else 0 for part in text.split(",")]
    if min(counts) < 1:
        raise UserError(f"{option} must be whole numbers above 0, comma separated, not {text!r}")
    return counts


def run_leaderboard(
    games: Sequence[str] | None,
    players: str,
    blocks: int,
    search: Sequence[str],
    search_blocks: int,
    search_players: str | None,
    seed: int,
    jobs: int,
    out: Path,
    data: Path,
) -> None:
    """Play all tables and write the leaderboard."""
    need("scipy", "arena")
    from agents.leaderboard import write_leaderboard
    from tabletop.registry import names

    if not out.absolute().parent.is_dir():
        raise UserError(f"{out.parent}: there is no such folder")
    chosen = [find_game(name) for name in games] if games else names()
    counts = read_counts("--players", players)
    search_counts = None if search_players is None else read_counts("--search-players", search_players)
    options = "".join(f" --game {name}" for name in games or ()) + "".join(f" --search {name}" for name in search)
    if search_players is not None:
        options += f" --search-players {search_players}"
    try:
        write_leaderboard(
            out,
            data,
            games=chosen,
            players=counts,
            blocks=blocks,
            search=search,
            search_blocks=search_blocks if search else 0,
            search_players=search_counts,
            seed=seed,
            jobs=jobs,
            command=f"stinglab leaderboard --players {players} --blocks {blocks} --search-blocks {search_blocks}"
            f"{options} --seed {seed}",
        )
    except OSError as error:
        raise UserError(os_error(error)) from error
    except (LookupError, ValueError) as error:
        raise UserError(str(error)) from error
    print(f"written: {out}")


def run_arena(
    game: "BatchGame",
    specs: Sequence[str],
    blocks: int,
    seed: int,
    jobs: int,
    json_path: Path | None,
    markdown: Path | None,
    picture: Path | None,
    executor: str | None = None,
    address: str | None = None,
) -> None:
    """Let agents play each other, print the tables and write what is asked for."""
    if picture is not None:
        need("matplotlib", "plots")
    need("scipy", "arena")
    if executor == "ray":
        need("ray", "rllib")
    from agents import arena

    for path in (json_path, markdown, picture):
        if path is not None and not path.absolute().parent.is_dir():
            raise UserError(f"{path.parent}: there is no such folder")
    try:
        result = arena.run_arena(game, specs, blocks, seed, jobs, json_path, executor=executor, address=address)
    except OSError as error:
        raise UserError(os_error(error)) from error
    except (LookupError, ValueError) as error:
        raise UserError(str(error)) from error
    result.print()
    if markdown is not None:
        write_text(markdown, result.to_markdown())
    if picture is not None:
        result.picture(picture)


def need(module: str, extra: str) -> None:
    """Raise UserError unless a module is installed."""
    import importlib.util

    if importlib.util.find_spec(module) is None:
        raise UserError(f"{module} is not installed: pip install 'stinglab[{extra}]'")


# Analysis -----------------------------------------------------------------------------------------------------------


def run_study(
    question: str,
    parts: Sequence[str],
    players: str,
    data: Path,
    known: Mapping[str, Any],
    changes: Mapping[str, Any],
) -> None:
    """Do a study, or some parts of it."""
    for module in ("scipy", "statsmodels", "sklearn", "pyarrow", "matplotlib"):
        need(module, "analysis")
    from agents.registry import split_specs
    from analysis.plans import plan
    from analysis.study import run

    counts = read_counts("--players", players)
    lists = ("policies", "continuations")
    chosen: dict[str, Any] = {k: split_specs(v) if k in lists and v is not None else v for k, v in changes.items()}
    try:
        run(plan(question, counts, data=data, **known, **chosen), parts)
    except OSError as error:
        raise UserError(os_error(error)) from error
    except (LookupError, ValueError) as error:
        raise UserError(str(error)) from error


def run_advise(position: Path, bot: str, worlds: int, seed: int) -> None:
    """Print advice about a position."""
    need("scipy", "analysis")
    need("statsmodels", "analysis")
    from analysis import advise

    try:
        with patience():
            text, head, rows = advise.advise_file(position, bot, worlds, seed)
    except OSError as error:
        raise UserError(os_error(error)) from error
    except (LookupError, ValueError) as error:
        raise UserError(str(error)) from error
    say(text)
    print_table("", head, rows, right=(1, 2, 3, 4))


# Bench --------------------------------------------------------------------------------------------------------------


def vec_chunks(game: "BatchGame") -> "dict[str, Callable[[], int]]":
    """Return the benchmark of the Stable-Baselines3 VecEnv against bots, none where it is not installed."""
    from tabletop import bench

    try:
        from tabletop.adapters.sb3 import SelfPlayVecEnv
    except ImportError:
        return {}
    spec = usual_opponent(game)
    env = SelfPlayVecEnv(game, VEC_ROWS, opponents=make_bot(spec, game), seed=0)
    return {f"VecEnv, {VEC_ROWS} rows, against {spec}": bench.vec_env(env)}


def bench_game(
    game: "BatchGame", lanes: int, seconds: float, repeats: int, threads: Sequence[int], skip: set[str]
) -> dict[str, Any]:
    """Measure one game, print the table and return it as JSON has it."""
    from tabletop import bench

    chunks = {} if "engine" in skip else bench.engine_chunks(game, lanes, threads)
    if "aec" not in skip:
        chunks |= bench.aec_chunks(game)
    if "vec" not in skip:
        chunks |= vec_chunks(game)
    found = bench.measure(chunks, seconds, repeats)
    if "start" not in skip:
        found += bench.startup(game)
    found += bench.memory(game)
    columns = ("", "median", "lowest – highest", "")
    print_table(f"{game.spec.title}, {game.num_players} players", columns, bench.rows(found), right=(1, 2))
    return bench.to_json(game, found)


def write_json(path: Path, value: Any) -> None:
    """Write a value as JSON."""
    import json

    write_text(path, json.dumps(value, indent=1) + "\n")


def write_text(path: Path, text: str) -> None:
    """Write a text to a file, whole or not at all."""
    from tabletop.files import write_whole

    try:
        write_whole(path, text)
    except OSError as error:
        raise UserError(os_error(error)) from error


# The command --------------------------------------------------------------------------------------------------------


def call_main(module: str, arguments: Sequence[str], extra: str) -> None:
    """Call `main(arguments)` of a module that wants an extra installed."""
    import importlib

    try:
        target = importlib.import_module(module)
    except ModuleNotFoundError as error:
        raise UserError(f"{error.name} is not installed: pip install 'stinglab[{extra}]'") from error
    try:
        code = target.main(list(arguments))
    except OSError as error:
        raise UserError(os_error(error)) from error
    except (LookupError, ValueError) as error:
        raise UserError(str(error)) from error
    if code:
        raise SystemExit(code)


def version() -> str:
    """Return the version installed."""
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("stinglab")
    except PackageNotFoundError:
        return "unknown (not installed)"


def make_app(typer: ModuleType) -> Any:
    """Return the typer application."""
    Option, Argument = typer.Option, typer.Argument
    app = typer.Typer(
        help="Sting and Stingy: play, watch, compare, train and measure.",
        add_completion=False,
        rich_markup_mode=None,  # plain help, in half the time
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    Game = Annotated[str, Option("--game", "-g", help="which game, see `stinglab games`")]
    Players = Annotated[int | None, Option("--players", "-p", help="how many players")]
    Variant = Annotated[str, Option("--variant", help="a named set of rules, see `stinglab describe`")]
    Options = Annotated[list[str] | None, Option("--option", "-o", help="key=value, a rules option; any number")]

    def show_version(wanted: bool) -> None:
        if wanted:
            print(f"stinglab {version()}")
            raise typer.Exit

    @app.callback()
    def common(
        version: Annotated[bool, Option("--version", callback=show_version, is_eager=True, help="show it")] = False,
    ) -> None:
        pass

    @app.command(help="Play a game in the terminal against bots.")
    def play(
        game: Game = "sting",
        players: Players = None,
        against: Annotated[str, Option(help="bots from your left on, comma separated; one for all")] = "",
        seat: Annotated[int, Option(help="where you sit, counted from 0")] = 0,
        seed: Annotated[int | None, Option(help="same seed, same cards; left out: drawn")] = None,
        record: Annotated[Path | None, Option(help="file to keep the game in")] = None,
        resume: Annotated[Path | None, Option(help="go on with an interrupted game")] = None,
        variant: Variant = "",
        option: Options = None,
        open_: Annotated[bool, Option("--open", help="show every hand")] = False,
    ) -> None:
        if resume is not None:
            if against or record or variant or option or players is not None or seed is not None or seat:
                raise UserError("--resume goes on with the game as it was begun: leave out all options but --open")
            session = resume_session(resume, open_)
            assert session.writer is not None
            play_session(session, session.writer.record.seed)
            return
        if seed is None:
            seed = int.from_bytes(os.urandom(4), "little")
        elif not 0 <= seed < 1 << 64:
            raise UserError(f"--seed must be 0 to 2**64 - 1, not {seed}")
        session = new_session(make_game(game, players, variant, option or ()), seat, against, seed, open_)
        if record is not None:
            session.writer = open_record(record, session, seed)
        play_session(session, seed)

    @app.command(help="Show a recorded game step by step.")
    def replay(
        file: Annotated[Path, Argument(help="a game record")],
        step: Annotated[bool, Option("--step", help="wait for Enter before each decision")] = False,
        all_: Annotated[bool, Option("--all", help="show the table after each decision")] = False,
        observer: Annotated[int | None, Option(help="as this player saw it; left out: everything")] = None,
        from_: Annotated[int, Option("--from", help="begin after this many decisions")] = 0,
        number: Annotated[int, Option(help="which game of the file")] = 1,
    ) -> None:
        records = read_games(file)
        if not 1 <= number <= len(records):
            raise UserError(f"--number must be 1 to {len(records)}, not {number}")
        replay_record(records[number - 1], observer, from_, all_, step)

    @app.command(help="Let agents play many games against each other, the same deals from every seat.")
    def arena(
        agents: Annotated[list[str], Argument(help="agents, such as greedy, rulebook:draw=hint, checkpoint:PATH")],
        game: Game = "sting",
        players: Players = None,
        blocks: Annotated[int, Option(help="deals; each is played from every seat")] = 500,
        seed: Annotated[int, Option(help="same seed, same deals")] = 1,
        jobs: Annotated[int, Option(help="how many play at once, a core each")] = 1,
        executor: Annotated[str | None, Option(help="serial, processes or ray; the result is the same")] = None,
        address: Annotated[str | None, Option(help="of a Ray cluster; left out: one on this machine")] = None,
        rounds: Annotated[str, Option(help="1, or game for whole games")] = "game",
        power: Annotated[
            float | None, Option(help="say how many deals find this difference in payoff, by a pilot")
        ] = None,
        json_: Annotated[Path | None, Option("--json", help="write the result as JSON")] = None,
        markdown: Annotated[Path | None, Option(help="write the table as Markdown")] = None,
        picture: Annotated[Path | None, Option(help="write a picture")] = None,
        variant: Variant = "",
        option: Options = None,
    ) -> None:
        chosen = list(option or ())
        if rounds != "game":
            chosen.append(f"rounds={rounds}")
        made = make_game(game, players, variant, chosen)
        if power is not None:
            return run_plan(made, agents, power, blocks, seed, jobs)
        run_arena(made, agents, blocks, seed, jobs, json_, markdown, picture, executor, address)

    @app.command(help="Play everybody against everybody in both games, all player counts, and write the leaderboard.")
    def leaderboard(
        game: Annotated[list[str] | None, Option("--game", "-g", help="which games; all if left out")] = None,
        players: Annotated[str, Option(help="numbers of players, comma separated")] = "2,3,4,5,6",
        blocks: Annotated[int, Option(min=2, help="deals of a table")] = 1000,
        search: Annotated[list[str] | None, Option(help="an agent that searches; any number")] = None,
        search_blocks: Annotated[int, Option(min=2, help="deals of a table with search")] = 50,
        search_players: Annotated[
            str | None, Option(help="their numbers of players; those of --players if left out")
        ] = None,
        seed: Annotated[int, Option(min=0, help="same seed, same deals")] = 20261130,
        jobs: Annotated[int, Option(min=1, help="how many play at once, a core each")] = 1,
        out: Annotated[Path, Option(help="the file written")] = Path("docs/leaderboard.md"),
        data: Annotated[Path, Option(help="finished tables; what is there is not played again")] = Path(
            "runs/leaderboard"
        ),
    ) -> None:
        run_leaderboard(game, players, blocks, search or (), search_blocks, search_players, seed, jobs, out, data)

    Listed = Annotated[str | None, Option(help="comma separated; left out: as the study has it")]
    Number = Annotated[int | None, Option(min=1, help="left out: as the study has it")]

    @app.command(help="Study a choice by paired rollouts: draw (Sting), extra or forgo (Stingy). Figures and tables.")
    def study(
        question: Annotated[
            str, Argument(help="draw: one card or two; extra: one tile more; forgo: or a swap instead")
        ],
        part: Annotated[list[str] | None, Option(help="chart, rules, ...; any number, all if left out")] = None,
        players: Annotated[str, Option(help="numbers of players, comma separated")] = "2,3,4,6",
        states: Number = None,
        worlds: Number = None,
        keep: Annotated[float | None, Option(help="part of the positions met that is kept")] = None,
        explore: Annotated[float, Option(help="how often the choice is made at random on the way")] = 0.2,
        seed: Annotated[int, Option(min=0, help="same seed, same positions and worlds")] = 1,
        agent: Annotated[str | None, Option(help="who plays, and plays on")] = None,
        policies: Listed = None,
        continuations: Listed = None,
        variant_states: Number = None,
        variant_worlds: Number = None,
        blocks: Annotated[int | None, Option(help="deals of the part arms; left out: as the study has it")] = None,
        executor: Annotated[str, Option(help="serial, processes or ray; the result is the same")] = "serial",
        jobs: Annotated[int, Option(min=1, help="how many at once, a core each")] = 1,
        out: Annotated[Path | None, Option(help="figures and tables; left out: docs/study/QUESTION")] = None,
        data: Annotated[Path, Option(help="rows by position; what is there is not made again")] = Path("runs/study"),
    ) -> None:
        changes = {"states": states, "worlds": worlds, "keep": keep, "agent": agent, "variant_states": variant_states}
        changes |= {"variant_worlds": variant_worlds, "blocks": blocks}
        changes |= {"policies": policies, "continuations": continuations}
        known = {"seed": seed, "explore": explore, "executor": executor, "jobs": jobs, "out": out}
        run_study(question, part or (), players, data, known, changes)

    @app.command(help="Say what each legal action of a position comes to, by rollouts over what the player can't know.")
    def advise(
        position: Annotated[Path, Option(help="a position as JSON, as `to_dict` writes it")],
        bot: Annotated[str, Option(help="who plays on for everybody; left out: greedy or the like")] = "",
        worlds: Annotated[int, Option(min=4, help="dealings of what the player can't know")] = 1000,
        seed: Annotated[int, Option(min=0, help="same seed, same worlds")] = 1,
    ) -> None:
        run_advise(position, bot, worlds, seed)

    # `typer.Context` below: typer is the module given, which a type checker can't know.
    passed_on = {"allow_extra_args": True, "ignore_unknown_options": True, "help_option_names": []}

    @app.command(help="Train an agent; its own options: `stinglab train --help`.", context_settings=passed_on)
    def train(ctx: typer.Context) -> None:  # type: ignore[name-defined]
        call_main("training.train", ctx.args, "train")

    @app.command(
        "train-rllib",
        help="Train with RLlib, on many machines; its own options: `stinglab train-rllib --help`.",
        context_settings=passed_on,
    )
    def train_rllib(ctx: typer.Context) -> None:  # type: ignore[name-defined]
        call_main("training.rllib", ctx.args, "rllib")

    @app.command(help="Train a small agent, benchmark it, compare the draw rules.", context_settings=passed_on)
    def demo(ctx: typer.Context) -> None:  # type: ignore[name-defined]
        call_main("training.demo", ctx.args, "arena")

    @app.command(help="Measure decisions a second, start-up time and memory.")
    def bench(
        game: Annotated[list[str] | None, Option("--game", "-g", help="which game; all if left out")] = None,
        players: Players = None,
        lanes: Annotated[int, Option(min=1, help="games side by side")] = 1024,
        seconds: Annotated[float, Option(min=0.001, help="for each measurement")] = 1.0,
        repeats: Annotated[int, Option(min=1)] = 5,
        threads: Annotated[str, Option(help="numbers of threads, comma separated")] = "1,2",
        skip: Annotated[list[str] | None, Option(help="engine, aec, vec or start; any number")] = None,
        json_: Annotated[Path | None, Option("--json", help="write the result as JSON")] = None,
        option: Options = None,
    ) -> None:
        from tabletop import registry

        left_out = set(skip or ())
        unknown = left_out - {"engine", "aec", "vec", "start"}
        if unknown:
            raise UserError(f"--skip is engine, aec, vec or start, not {', '.join(sorted(unknown))}")
        counts = read_counts("--threads", threads)
        games = [make_game(name, players, "", option or ()) for name in game or registry.names()]
        found = [bench_game(each, lanes, seconds, repeats, counts, left_out) for each in games]
        if json_ is not None:
            write_json(json_, found)

    @app.command(help="Print rules options, actions and observation of a game.")
    def describe(
        game: Annotated[str, Argument(help="a game")] = "sting", variant: Variant = "", option: Options = None
    ) -> None:
        describe_game(make_game(game, None, variant, option or ()))

    @app.command(help="List games, variants and agents.")
    def games() -> None:
        list_games()

    return app


def fail(message: str) -> NoReturn:
    """Print one line on stderr and leave with exit code 2."""
    print(f"stinglab: {' '.join(message.split())}", file=sys.stderr)
    raise SystemExit(2)


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the console command with `arguments`, those of the process if None."""
    try:
        import rich
        import typer
    except ImportError as error:
        fail(f"the console command needs typer and rich ({error.name} is missing): pip install 'stinglab[cli]'")
    del rich
    try:
        given = list(sys.argv[1:] if arguments is None else arguments)
        code = make_app(typer)(args=given or ["--help"], prog_name="stinglab", standalone_mode=False)
    except UserError as error:
        fail(str(error))
    except (typer.Abort, KeyboardInterrupt, EOFError):
        raise SystemExit(130) from None
    except BrokenPipeError:
        sys.stdout = open(os.devnull, "w")  # noqa: SIM115  # nobody reads on; say nothing when leaving
        raise SystemExit(0) from None
    except Exception as error:
        if not hasattr(error, "format_message"):
            raise
        context = getattr(error, "ctx", None)
        fail(f"{error.format_message()} (see {context.command_path if context else 'stinglab'} --help)")
    if isinstance(code, int) and code:
        raise SystemExit(code)


if __name__ == "__main__":
    main()
