"""Pages of a study: Markdown with figures and tables beside it, and under each the command that makes it."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from analysis import pictures
from analysis.datasets import Data
from analysis.plans import Plan
from analysis.statistics import Estimate
from tabletop.files import write_whole

# Pages ------------------------------------------------------------------------------------------------------------------


class Page:
    """One Markdown page of a study, with its figures and tables beside it."""

    def __init__(self, plan: Plan, name: str) -> None:
        self.plan, self.name = plan, name
        self.command = f"{plan.command} --part {name}"
        self.lines: list[str] = []

    def say(self, text: str) -> None:
        """Add a paragraph."""
        self.lines += [text, ""]

    def figure(self, name: str, figure: Any, alt: str) -> None:
        """Write a figure and show it, the command that makes it below."""
        pictures.save(figure, self.plan.out / f"{name}.png")
        self.lines += [f"![{alt}]({name}.png)", "", "```sh", self.command, "```", ""]

    def table(self, name: str, head: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
        """Write a table of numbers as CSV and name it, the command that makes it below."""
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(head)
        writer.writerows([[short(value) for value in row] for row in rows])
        write_whole(self.plan.out / f"{name}.csv", text.getvalue())
        self.lines += [f"All numbers: [{name}.csv]({name}.csv), made by `{self.command}`.", ""]

    def show(self, head: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
        """Add a table to be read."""
        self.lines += ["| " + " | ".join(cells) + " |" for cells in [head, ["---"] * len(head), *rows]]
        self.lines.append("")

    def write(self) -> Path:
        """Write the page."""
        path = self.plan.out / f"{self.name}.md"
        title = f"# {self.plan.question.title} {TITLES[self.name]}"
        write_whole(path, "\n".join([title, "", *self.lines]).rstrip() + "\n")
        return path


TITLES = {
    "chart": "The chart",
    "hint": "The rulebook's hint",
    "rules": "The rule table",
    "threes": "By threes",
    "arms": "Agents alike but for the rule",
    "robustness": "What turns the answer round",
    "curves": "The value of both",
    "agents": "What the agents do",
    "positions": "The positions where it matters most",
}


def short(value: Any) -> Any:
    """Return a number as a table keeps it, six digits."""
    return f"{value:.6g}" if isinstance(value, (float, np.floating)) else value


def span(e: Estimate, scale: float = 1.0, digits: int = 2) -> str:
    """Return an estimate with its interval."""
    if not np.isfinite(e.low):
        return "–"
    numbers = [pictures.signed(scale * x, digits) for x in (e.mean, e.low, e.high)]
    return f"{numbers[0]} ({numbers[1]} to {numbers[2]})"


def numbers(e: Estimate) -> list[float]:
    """Return mean, ends of the interval, positions and games."""
    return [e.mean, e.low, e.high, e.positions, e.games]


NUMBERS = ["mean", "low", "high", "positions", "games"]


def scaled(e: Estimate, by: float) -> Estimate:
    """Return an estimate times a number that is taken as known."""
    return Estimate(e.mean * by, e.error * abs(by), e.low * by, e.high * by, e.p, e.positions, e.games)


def about(data: Data) -> str:
    """Say in a sentence what a data set is."""
    s = data.settings
    return (
        f"{s.players} players: {len(data):,} positions of {data.games:,} games by {', '.join(s.behaviour)}, played on by "
        f"{', '.join(s.continuation)} in {s.worlds} worlds each"
    )


def small_p(p: float) -> str:
    """Return a p value to be read."""
    return "–" if not np.isfinite(p) else "< 0.001" if p < 0.001 else f"{p:.3f}"
