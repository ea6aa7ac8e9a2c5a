"""The leaderboard: every bot and shipped agent, every player count, written by one command.

    stinglab leaderboard --out docs/leaderboard.md

A table is one game, player count and unit (a round, a whole game). Finished tables are kept in a folder, so that a run
that was stopped goes on; a table made with other settings is made anew. Agents that search think for milliseconds where
others take microseconds: they play fewer deals, in tables of their own.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from agents.arena import ArenaResult, compare
from agents.digest import digest
from agents.registry import bots_of, family, list_agents, make_agent, shipped
from tabletop.files import write_whole
from tabletop.game import BatchGame
from tabletop.registry import make

RULES = "Win share of the row alone among copies of the column; bold where the whole interval is above the equal share."


@dataclass(frozen=True)
class Table:
    """What one table is made of."""

    game: str
    options: tuple[tuple[str, Any], ...]
    players: int
    unit: str  # "round" or "game"
    agents: tuple[str, ...]
    blocks: int
    seed: int
    kind: str = "bots"  # "search" with agents that search

    @property
    def name(self) -> str:
        """What its file is called."""
        return f"{family(self.game)}-{self.players}-{self.unit}-{self.kind}"

    def make_game(self) -> BatchGame:
        """Return what is played."""
        return make(self.game, num_players=self.players, **dict(self.options))


def field_of(game_id: str) -> tuple[str, ...]:
    """Return all bots of a game and its shipped agents, which play their best action."""
    return (*bots_of(game_id).names, *(f"{name}:best=yes" for name in shipped(game_id)))


def plan_tables(
    games: Sequence[str],
    players: Sequence[int],
    blocks: int,
    search: Sequence[str],
    search_blocks: int,
    seed: int,
    search_players: Sequence[int] | None = None,
) -> list[Table]:
    """Return the tables to be made.

    search: agents that search, with the whole field at `search_blocks` deals, `search_players` players (None: `players`).
    """
    tables = []
    for game_id in games:
        spec = make(game_id).spec
        # Where the smallest unit is not the whole game, both are played.
        units = [("round", spec.unit_options), ("game", ())] if spec.unit_options else [("game", ())]
        for count in players:
            if not spec.min_players <= count <= spec.max_players:
                continue
            for unit, options in units:
                field = field_of(game_id)
                tables.append(Table(game_id, tuple(options), count, unit, field, blocks, seed))
                # Searching whole games of five rounds takes five times as long and tells little more.
                if search and search_blocks and unit == units[0][0] and count in (search_players or players):
                    best = tuple(name for name in field if name != "random")
                    agents = (*(name for name in search if knows(game_id, name)), *best)
                    tables.append(Table(game_id, tuple(options), count, unit, agents, search_blocks, seed, "search"))
    return tables


def knows(game_id: str, agent: str) -> bool:
    """Tell whether a game has an agent by this name."""
    return agent.partition(":")[0] in {name.partition(":")[0] for name in list_agents(game_id)}


def rows_of(result: ArenaResult) -> dict[str, Any]:
    """Return what the leaderboard shows of a result, JSON-ready."""
    standings = sorted(result.standings, key=lambda standing: -standing.rating.value)
    return {
        "deals": result.num_blocks,
        "games": result.num_games,
        "agents": [
            {
                "name": s.name,
                "rating": [s.rating.value, s.rating.low, s.rating.high],
                "payoff": [s.payoff.mean, s.payoff.low, s.payoff.high],
                "microseconds": s.microseconds,
            }
            for s in standings
        ],
        "shares": shares_of(result),
    }


def shares_of(result: ArenaResult) -> dict[str, dict[str, list[float]]]:
    """Return the win share of every agent against every other: mean, low, high."""
    shares: dict[str, dict[str, list[float]]] = {name: {} for name in result.names}
    for pair in result.pairs:
        s = pair.win_share
        shares[pair.one][pair.rest] = [s.mean, s.low, s.high]
        if result.game.num_players == 2:
            shares[pair.rest][pair.one] = [1 - s.mean, 1 - s.high, 1 - s.low]
    return shares


def make_tables(
    tables: Sequence[Table], folder: Path, jobs: int, report: Callable[[str], None] = print
) -> Iterator[tuple[Table, dict[str, Any]]]:
    """Yield every table with its rows; those in `folder` made with the same settings by the same agents are read."""
    folder.mkdir(parents=True, exist_ok=True)
    for number, table in enumerate(tables):
        path = folder / f"{table.name}.json"
        game = table.make_game()
        made_of = digest(game, [make_agent(name, game) for name in table.agents])
        settings = json.loads(json.dumps(asdict(table) | {"made_of": made_of}))
        if path.exists():
            known = json.loads(path.read_text(encoding="utf-8"))
            if known.get("settings") == settings:
                yield table, known["rows"]
                continue
        report(f"leaderboard: {table.name}, {number + 1} of {len(tables)}")
        result = compare(game, table.agents, table.blocks, table.seed, jobs=jobs, progress=True)
        rows = rows_of(result)
        write_whole(path, json.dumps({"settings": settings, "rows": rows}, indent=1))
        yield table, rows


def heading(table: Table) -> str:
    """Return the title of a table."""
    kind = ", with search" if "search" in table.name else ""
    return f"{make(table.game).spec.title}, {table.players} players, one {table.unit}{kind}"


def markdown(table: Table, rows: dict[str, Any]) -> str:
    """Return a table as Markdown."""
    names = [agent["name"] for agent in rows["agents"]]
    equal = 1 / table.players
    head = ["agent", "rating (95%)", *(f"v {name}" for name in names), "µs a choice"]
    lines = [head, ["---", *["---:"] * (len(head) - 1)]]
    for agent in rows["agents"]:
        value, low, high = agent["rating"]
        cells = [agent["name"], f"{value:.0f} ({low:.0f} to {high:.0f})"]
        for other in names:
            found = rows["shares"][agent["name"]].get(other)
            cells.append("" if found is None else share_cell(found, equal))
        lines.append([*cells, f"{agent['microseconds']:,.0f}"])
    text = "\n".join("| " + " | ".join(cells) + " |" for cells in lines)
    note = f"{rows['deals']:,} deals, {rows['games']:,} games, seed {table.seed}; an equal share is {equal:.3f}."
    return f"### {heading(table)}\n\n{note}\n\n{text}\n"


def share_cell(found: Sequence[float], equal: float) -> str:
    """Return a win share with half its interval, bold when surely above the equal share."""
    mean, low, high = found
    text = f"{mean:.3f} ± {(high - low) / 2:.3f}"
    return f"**{text}**" if low > equal else text


def write_leaderboard(
    out: Path,
    folder: Path,
    *,
    games: Sequence[str],
    players: Sequence[int] = (2, 3, 4, 5, 6),
    blocks: int = 1000,
    search: Sequence[str] = (),
    search_blocks: int = 0,
    search_players: Sequence[int] | None = None,
    seed: int = 20_261_130,
    jobs: int = 1,
    command: str = "stinglab leaderboard",
) -> None:
    """Play all tables and write the leaderboard as Markdown, whole or not at all."""
    tables = plan_tables(games, players, blocks, search, search_blocks, seed, search_players)
    made = list(make_tables(tables, folder, jobs))
    parts = [
        "# Leaderboard",
        f"Written by `{command}`. {RULES} Ratings are on the Elo scale, `random` = 0 where it plays, by maximum likelihood; "
        "intervals are 95%, over deals (duplicate deals, all seats).",
    ]
    for game_id in games:
        parts.append(f"## {make(game_id).spec.title}")
        parts += [markdown(table, rows) for table, rows in made if table.game == game_id]
    write_whole(out, "\n\n".join(parts).rstrip() + "\n")
