"""The figures of the studies. Each function draws what `analysis.findings` found and returns the figure."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from textwrap import wrap
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.colors import TwoSlopeNorm
from matplotlib.figure import Figure
from matplotlib.patches import Patch, Rectangle

from analysis.findings import LEAST_CELL, Cell, Judged, flips
from analysis.questions import Question
from analysis.statistics import Estimate
from tabletop.files import whole_file

DIVERGING = "PuOr"  # told apart by every kind of colour blindness: orange below 0, purple above
COLOURS = ("#b35806", "#542788")  # arm 0 and arm 1, of the same palette
GREY = "#6b6b6b"
DPI = 110
UNITS = {
    "win": ("wins", 100.0, "percentage points of the share of wins"),
    "margin": ("points", 1.0, "points of margin"),
}


def save(figure: Figure, path: Path) -> None:
    """Write a figure as PNG, whole or not at all; the same figure gives the same bytes."""
    with whole_file(path) as part:
        figure.savefig(part, dpi=DPI, format="png", metadata={"Software": None})


def signed(value: float, digits: int = 1) -> str:
    """Return a number with its sign, a true minus, none for zero."""
    text = f"{value:+.{digits}f}"
    return text.lstrip("+-") if float(text) == 0 else text.replace("-", "−")


def bound_of(values: Sequence[float]) -> float:
    """Return the end of a colour scale centred on 0 for these values."""
    finite = [abs(v) for v in values if math.isfinite(v)]
    return max(finite, default=1.0) or 1.0


# The chart --------------------------------------------------------------------------------------------------------------


def chart(question: Question, cells: Mapping[str, Sequence[Cell]], title: str) -> Figure:
    """Draw arm 1 less arm 0 by the question's two axes, a panel for each measure."""
    columns, rows = question.across.names, question.down.names
    figure = Figure(
        figsize=(1.6 + 0.86 * len(columns), 1.1 + len(cells) * (1.0 + 0.74 * len(rows))), layout="constrained"
    )
    panels = np.atleast_1d(figure.subplots(len(cells), 1))
    for axes, (measure, found) in zip(panels, cells.items(), strict=True):
        draw_cells(figure, axes, question, measure, found)
    figure.suptitle(title, fontsize=12)
    zero, one = question.arms
    figure.legend(
        handles=[
            Patch(facecolor=COLOURS[0], label=f"{zero} is better"),
            Patch(facecolor=COLOURS[1], label=f"{one} is better"),
            Patch(facecolor="white", edgecolor=GREY, hatch="////", label="too close to tell"),
        ],
        loc="outside lower right", ncols=3, frameon=False, fontsize=9,
    )  # fmt: skip
    note = (
        "Below the value: half a 95% interval, clustered by game. In the corner: positions; with fewer than "
        f"{LEAST_CELL} nothing is said. Not hatched: false discoveries among them at most 5% (Benjamini and Hochberg)."
    )
    figure.supxlabel("\n".join(wrap(note, int(7.4 * figure.get_figwidth()))), fontsize=8.5, x=0.01, ha="left")
    return figure


def face_of(colours: ScalarMappable, value: float) -> Any:
    """Return the colour of a value."""
    return colours.to_rgba(np.array([value]))[0]


def draw_cells(figure: Figure, axes: Axes, question: Question, measure: str, cells: Sequence[Cell]) -> None:
    """Draw one panel of a chart."""
    _, scale, unit = UNITS[measure]
    said = [c for c in cells if c.estimate.positions >= LEAST_CELL]
    bound = bound_of([scale * c.estimate.mean for c in said])
    norm = TwoSlopeNorm(0.0, -bound, bound)
    colours = ScalarMappable(norm, DIVERGING)
    for cell in cells:
        x, y, e = cell.across, cell.down, cell.estimate
        known = e.positions >= LEAST_CELL
        face = face_of(colours, scale * e.mean) if known else "white"
        hatch = "////" if known and cell.verdict < 0 else None
        axes.add_patch(Rectangle((x - 0.5, y - 0.5), 1, 1, facecolor=face, edgecolor="#c8c8c8", linewidth=0.6))
        if hatch:
            axes.add_patch(
                Rectangle((x - 0.5, y - 0.5), 1, 1, fill=False, edgecolor="#a8a8a8", hatch=hatch, linewidth=0)
            )
        dark = known and abs(scale * e.mean) > 0.62 * bound
        ink = "white" if dark else "black"
        box = None if not hatch else {"facecolor": face, "edgecolor": "none", "pad": 1.0}
        if known:
            axes.text(x, y - 0.02, signed(scale * e.mean), ha="center", va="center", fontsize=10, color=ink, bbox=box)
            axes.text(
                x,
                y + 0.28,
                f"±{scale * (e.high - e.mean):.1f}",
                ha="center",
                va="center",
                fontsize=7.5,
                color=ink,
                bbox=box,
            )
        axes.text(
            x + 0.45, y - 0.43, f"{e.positions:,}", ha="right", va="top", fontsize=6.5, color=ink if known else GREY
        )
    axes.set_xlim(-0.5, len(question.across.names) - 0.5)
    axes.set_ylim(len(question.down.names) - 0.5, -0.5)
    axes.set_xticks(range(len(question.across.names)), question.across.names, fontsize=9)
    axes.set_yticks(range(len(question.down.names)), question.down.names, fontsize=9)
    axes.set_xlabel(question.across.title, fontsize=10)
    axes.set_ylabel(question.down.title, fontsize=10)
    axes.tick_params(length=0)
    bar = figure.colorbar(colours, ax=axes, pad=0.01, aspect=14)
    zero, one = question.arms
    bar.set_label(f"{one} − {zero},\n{unit}", fontsize=8.5)
    bar.ax.tick_params(labelsize=8)


# Rules, curves, behaviour -----------------------------------------------------------------------------------------------


def rules(tables: Mapping[int, Sequence[Judged]], question: Question, title: str) -> Figure:
    """Draw what each rule gains per decision on arm 0 always, a column for each measure, a colour for each player count."""
    names = [judged.name for judged in next(iter(tables.values()))]
    figure = Figure(figsize=(11.5, 1.6 + 0.42 * len(names)), layout="constrained")
    panels = figure.subplots(1, 2, sharey=True)
    shades = shades_of(len(tables))
    for axes, (measure, (_, scale, unit)) in zip(panels, UNITS.items(), strict=True):
        for k, (players, table) in enumerate(tables.items()):
            found = {judged.name: judged.gain[measure] for judged in table}
            places = np.arange(len(names)) + (k - (len(tables) - 1) / 2) * 0.17
            ends([found[name] for name in names], places, scale, axes, shades[k], f"{players} players")
        axes.axvline(0, color="black", linewidth=0.8)
        axes.set_xlabel(f"gain on always {question.arms[0]}, a decision, in\n{unit} (95% interval)", fontsize=9)
        axes.set_yticks(range(len(names)), names, fontsize=9)
        axes.grid(axis="y", color="#e6e6e6")
        axes.set_axisbelow(True)
    panels[0].set_ylim(len(names) - 0.5, -0.5)
    figure.legend(*panels[0].get_legend_handles_labels(), fontsize=9, loc="outside lower right", ncols=4, frameon=False)
    figure.suptitle(title, fontsize=12)
    return figure


def shades_of(count: int) -> list[Any]:
    """Return colours from dark to light that keep apart in grey too."""
    from matplotlib import colormaps

    return [colormaps["viridis"](x) for x in np.linspace(0.0, 0.82, max(1, count))]


def ends(found: Sequence[Estimate], places: Any, scale: float, axes: Axes, colour: Any, label: str) -> None:
    """Draw estimates as points with their intervals, lying."""
    means = np.array([scale * e.mean for e in found])
    spans = np.array([[scale * (e.mean - e.low) for e in found], [scale * (e.high - e.mean) for e in found]])
    axes.errorbar(means, places, xerr=np.nan_to_num(spans), fmt="o", markersize=4, capsize=2, color=colour, label=label)


Curve = Sequence[tuple[int, Estimate, Estimate, Estimate]]


def curves(question: Question, by_players: Mapping[int, Curve], measure: str, title: str) -> Figure:
    """Draw the value of both arms by the chart's columns, and below their difference, a column for each player count."""
    _, scale, unit = UNITS[measure]
    figure = Figure(figsize=(3.6 * len(by_players) + 0.6, 6.2), layout="constrained")
    panels = figure.subplots(2, len(by_players), sharex=True, squeeze=False, height_ratios=(3, 2))
    for k, (players, found) in enumerate(by_players.items()):
        known = [row for row in found if row[3].positions >= LEAST_CELL]
        levels = [row[0] for row in known]
        for arm, name in enumerate(question.arms):
            ribbon(
                panels[0, k], levels, [row[1:][arm] for row in known], scale, COLOURS[arm], name, "-" if arm else "--"
            )
        ribbon(panels[1, k], levels, [row[3] for row in known], scale, "black", "", "-")
        panels[1, k].axhline(0, color=GREY, linewidth=0.8)
        panels[0, k].set_title(f"{players} players", fontsize=10)
        panels[1, k].set_xlabel(question.across.title, fontsize=9)
        step = 1 if len(question.across.names) <= 9 else 2
        ticks = range(0, len(question.across.names), step)
        panels[1, k].set_xticks(ticks, [question.across.names[i] for i in ticks], fontsize=8)
    panels[0, 0].set_ylabel(value_label(measure), fontsize=9)
    zero, one = question.arms
    panels[1, 0].set_ylabel(f"{one} − {zero},\n{unit}", fontsize=8.5)
    panels[0, 0].legend(fontsize=9, frameon=False)
    figure.suptitle(title, fontsize=12)
    return figure


def value_label(measure: str) -> str:
    """Return what the axis of an arm's value is called."""
    return "share of wins, %" if measure == "win" else "points less than the mean\nof the others, from here on"


def ribbon(
    axes: Axes, levels: Sequence[int], found: Sequence[Estimate], scale: float, colour: str, label: str, line: str
) -> None:
    """Draw a curve with its 95% interval as a ribbon."""
    mean, low, high = (scale * np.array([getattr(e, name) for e in found]) for name in ("mean", "low", "high"))
    axes.plot(levels, mean, line, marker="o", markersize=3.5, color=colour, label=label or None)
    axes.fill_between(levels, low, high, color=colour, alpha=0.2, linewidth=0)


def behaviour(
    question: Question, by_players: Mapping[int, Mapping[str, Sequence[tuple[int, Estimate]]]], title: str
) -> Figure:
    """Draw how often each policy takes arm 1, by the chart's columns, a panel for each player count."""
    figure = Figure(figsize=(3.6 * len(by_players) + 0.6, 3.8), layout="constrained")
    panels = figure.subplots(1, len(by_players), sharey=True, squeeze=False)[0]
    markers = "os^Dvx"
    for axes, (players, policies) in zip(panels, by_players.items(), strict=True):
        shades = shades_of(len(policies))
        for k, (spec, found) in enumerate(policies.items()):
            known = [(level, e) for level, e in found if e.positions >= LEAST_CELL]
            axes.plot(
                [level for level, _ in known], [100 * e.mean for _, e in known], marker=markers[k % len(markers)],
                markersize=4.5, linewidth=1.2, color=shades[k], label=spec,
            )  # fmt: skip
        axes.set_title(f"{players} players", fontsize=10)
        axes.set_xlabel(question.across.title, fontsize=9)
        ticks = range(0, len(question.across.names), 1 if len(question.across.names) <= 9 else 2)
        axes.set_xticks(ticks, [question.across.names[i] for i in ticks], fontsize=8)
        axes.set_ylim(-4, 104)
    panels[0].set_ylabel(f"takes {question.arms[1]}, % of positions", fontsize=9)
    figure.legend(
        *panels[0].get_legend_handles_labels(), loc="outside lower center", ncols=6, fontsize=9, frameon=False
    )
    figure.suptitle(title, fontsize=12)
    return figure


# Robustness and arms ----------------------------------------------------------------------------------------------------


def strips(
    question: Question, names: Sequence[str], strips_of: Mapping[str, Sequence[Cell]], measure: str, title: str
) -> Figure:
    """Draw coarse cells, a line for each variant; a frame marks what says the opposite of the first line.

    The first line sets the scale of the colours; what lies beyond it has the last colour.
    """
    _, scale, unit = UNITS[measure]
    lines = list(strips_of)
    figure = Figure(figsize=(2.9 + 0.92 * len(names), 1.9 + 0.5 * len(lines)), layout="constrained")
    axes = figure.subplots()
    base = strips_of[lines[0]]
    bound = bound_of([c.estimate.mean * scale for c in base if c.estimate.positions >= LEAST_CELL])
    colours = ScalarMappable(TwoSlopeNorm(0.0, -bound, bound), DIVERGING)
    for y, name in enumerate(lines):
        turned = flips(base, strips_of[name])
        for cell in strips_of[name]:
            draw_strip_cell(axes, cell, y, scale, bound, colours, cell.across in turned)
    axes.set_xlim(-0.5, len(names) - 0.5)
    axes.set_ylim(len(lines) - 0.5, -0.5)
    axes.set_xticks(range(len(names)), [name.replace(" ", "\n") for name in names], fontsize=9)
    axes.set_yticks(range(len(lines)), lines, fontsize=9)
    axes.tick_params(length=0)
    axes.axhline(0.5, color="black", linewidth=1)
    bar = figure.colorbar(colours, ax=axes, pad=0.01, extend="both")
    zero, one = question.arms
    bar.set_label(f"{one} − {zero},\n{unit}", fontsize=8.5)
    figure.suptitle(title, fontsize=11)
    figure.supxlabel(
        "Second number: half a 95% interval. Hatched: too close to tell. Framed: the opposite of the first line.",
        fontsize=8.5,
    )  # fmt: skip
    return figure


def draw_strip_cell(axes: Axes, cell: Cell, y: int, scale: float, bound: float, colours: Any, turned: bool) -> None:
    """Draw one coarse cell."""
    e, x = cell.estimate, cell.across
    known = e.positions >= LEAST_CELL
    face = face_of(colours, scale * e.mean) if known else "white"
    axes.add_patch(Rectangle((x - 0.5, y - 0.5), 1, 1, facecolor=face, edgecolor="#c8c8c8", linewidth=0.6))
    if not known:
        axes.text(x, y, f"n {e.positions}", ha="center", va="center", fontsize=7, color=GREY)
        return
    if cell.verdict < 0:
        axes.add_patch(Rectangle((x - 0.5, y - 0.5), 1, 1, fill=False, edgecolor="#a8a8a8", hatch="////", linewidth=0))
    if turned:
        axes.add_patch(Rectangle((x - 0.46, y - 0.46), 0.92, 0.92, fill=False, edgecolor="black", linewidth=2.2))
    box = None if cell.verdict >= 0 else {"facecolor": face, "edgecolor": "none", "pad": 0.8}
    ink = "white" if abs(scale * e.mean) > 0.62 * bound else "black"
    text = f"{signed(scale * e.mean)} ±{scale * (e.high - e.mean):.1f}"
    axes.text(x, y, text, ha="center", va="center", fontsize=8.5, color=ink, bbox=box)


def arms(rows: Mapping[int, Sequence[tuple[str, Any, Any]]], title: str) -> Figure:
    """Draw what agents that differ in one rule win of each other, against what the rollouts foretell.

    rows: by player count (label, measured Estimate, foretold Estimate or None), in percentage points off an equal share.
    """
    figure = Figure(figsize=(3.1 * len(rows) + 2.2, 1.7 + 0.5 * max(map(len, rows.values()))), layout="constrained")
    panels = figure.subplots(1, len(rows), sharey=True, squeeze=False)[0]
    for axes, (players, found) in zip(panels, rows.items(), strict=True):
        labels = [label for label, _, _ in found]
        ends([measured for _, measured, _ in found], np.arange(len(found)) - 0.12, 100, axes, COLOURS[1], "measured")
        known = [(i, f) for i, (_, _, f) in enumerate(found) if f is not None]
        places = np.array([i for i, _ in known]) + 0.12
        if known:
            ends([f for _, f in known], places, 100, axes, COLOURS[0], "foretold by rollouts, to first order")
        axes.axvline(0, color="black", linewidth=0.8)
        axes.set_yticks(range(len(found)), labels, fontsize=9)
        axes.set_title(f"{players} players", fontsize=10)
        axes.set_xlabel("share of wins less an\nequal share, % points", fontsize=9)
        axes.grid(axis="y", color="#e6e6e6")
        axes.set_axisbelow(True)
    panels[0].set_ylim(len(labels) - 0.5, -0.5)
    figure.legend(*panels[0].get_legend_handles_labels(), loc="outside lower right", ncols=2, fontsize=9, frameon=False)
    figure.suptitle(title, fontsize=12)
    return figure
