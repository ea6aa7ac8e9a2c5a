"""Positions of Sting drawn as cards: hand, table and discard pile, and what comes of drawing one and of drawing two."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import FancyBboxPatch

from analysis.pictures import COLOURS, GREY, signed
from analysis.statistics import Estimate
from sting_env.text import hand_names, names, pile_cards

FACES = {"R": "#f4a99b", "B": "#a9c8ee", "G": "#b5deae", "Y": "#f7e48b", "wild": "#d5b8ea", "word": "#dddddd"}
SHORT = {"PASS": "pass", "BACK": "back"}
WIDTH, STEP, HEIGHT = 0.92, 1.0, 0.82  # of a card, in units of the panel
COLUMNS = 22.0
PILE_GAP = 0.45


@dataclass(frozen=True)
class Drawn:
    """A position to be drawn, seen by the player on turn, and what both arms come to in new worlds."""

    state: Any
    title: str
    win: tuple[Estimate, Estimate]
    margin: tuple[Estimate, Estimate]


def face_of(card: str) -> str:
    """Return the colour of a card's face."""
    if card in SHORT:
        return FACES["word"]
    return FACES[card[0]] if card[0] in "RBGY" else FACES["wild"]


def draw_card(axes: Axes, card: str, x: float, y: float) -> None:
    """Draw a card with its upper left corner at x, y."""
    axes.add_patch(
        FancyBboxPatch(
            (x, y), WIDTH, HEIGHT, boxstyle="round,pad=0,rounding_size=0.12", facecolor=face_of(card), edgecolor="#404040",
            linewidth=0.7,
        )
    )  # fmt: skip
    text = SHORT.get(card, card)
    axes.text(x + WIDTH / 2, y + HEIGHT / 2, text, ha="center", va="center", fontsize=5.6 if card in SHORT else 7.2)


def draw_piles(axes: Axes, label: str, piles: Sequence[Sequence[str]], y: float) -> float:
    """Draw piles side by side under a label, in as many lines as they need; return where the next thing goes."""
    axes.text(0, y, label, fontsize=7.5, va="top", color="#202020")
    y += 0.62
    x = 0.0
    for pile in piles:
        width = STEP * len(pile)
        if x > 0 and x + width > COLUMNS:
            x, y = 0.0, y + HEIGHT + 0.18
        for i, card in enumerate(pile):
            draw_card(axes, card, x + i * STEP, y)
        x += width + PILE_GAP
    if not piles:
        axes.text(0, y + 0.1, "nothing", fontsize=7, va="top", color=GREY, style="italic")
        return y + 0.75
    return y + HEIGHT + 0.28


def table_of(state: Any, seat: int) -> list[list[str]]:
    """Return the piles in front of a seat."""
    return [pile_cards(state, i) for i in range(int(state["num_piles"])) if state["pile_owner"][i] == seat]


def cards(count: int) -> str:
    """Return a number of cards in words."""
    return "1 card" if count == 1 else f"{count} cards"


def lines_of(state: Any) -> list[tuple[str, list[list[str]]]]:
    """Return what is drawn of a position: a label and piles for each line, from the player on turn clockwise."""
    player, n = int(state["current_player"]), int(state["num_players"])
    sizes = [cards(int(size)) for size in state["hand_size"]]
    undrawn = cards(int(state["draw_size"]))
    lines = [
        (f"your hand ({sizes[player]})", [hand_names(state, player)]),
        (f"top of the discard pile ({undrawn} to draw)", [discard_top(state, 1)]),
        ("in front of you", table_of(state, player)),
    ]
    for rel in range(1, n):
        seat = (player + rel) % n
        who = "your opponent" if n == 2 else f"player {rel} to your left"
        lines.append((f"in front of {who}, {sizes[seat]} in hand", table_of(state, seat)))
    return lines


def discard_top(state: Any, count: int) -> list[str]:
    """Return the names of the top cards of the discard pile, the top first."""
    size = int(state["discard_size"])
    return names(state["discard"][max(0, size - count) : size][::-1])


def draw_position(axes: Axes, futures: Axes, drawn: Drawn) -> None:
    """Draw one position, and its two futures below."""
    y = 0.0
    for label, piles in lines_of(drawn.state):
        y = draw_piles(axes, label, piles, y)
    axes.set_xlim(-0.2, COLUMNS + 0.2)
    axes.set_axis_off()
    axes.set_title(drawn.title, fontsize=9, loc="left")
    for arm, name in enumerate(("one", "two")):
        e, margin = drawn.win[arm], drawn.margin[arm]
        half = 100 * (e.high - e.mean)
        futures.barh(
            arm, 100 * e.mean, color=COLOURS[arm], height=0.7, xerr=half, error_kw={"capsize": 2, "linewidth": 1}
        )
        text = f"{100 * e.mean:.0f}% of rounds, {signed(margin.mean)} points"
        futures.text(104, arm, text, va="center", fontsize=7.5)
        futures.text(-2, arm, f"draw {name}", va="center", ha="right", fontsize=8)
    futures.set_xlim(0, 100)
    futures.set_ylim(1.6, -0.6)
    futures.set_yticks([])
    futures.set_xticks([0, 50, 100], ["0", "50", "100%"], fontsize=6.5)
    for side in ("top", "right"):
        futures.spines[side].set_visible(False)


def height_of(state: Any) -> float:
    """Return how high the drawing of a position is, in units of the panel."""
    return draw_height([piles for _, piles in lines_of(state)])


def draw_height(lines: Sequence[Sequence[Sequence[str]]]) -> float:
    """Return the height of lines of piles."""
    height = 0.0
    for piles in lines:
        rows, x = 1, 0.0
        for pile in piles:
            width = STEP * len(pile)
            if x > 0 and x + width > COLUMNS:
                x, rows = 0.0, rows + 1
            x += width + PILE_GAP
        height += 0.62 + (rows * (HEIGHT + 0.18) + 0.1 if piles else 0.75)
    return height


def positions(drawn: Sequence[Drawn], title: str) -> Figure:
    """Draw positions in two columns."""
    columns = 2
    rows = -(-len(drawn) // columns)
    tall = [max(height_of(d.state) for d in drawn[r * columns : (r + 1) * columns]) for r in range(rows)]
    unit = 0.235  # inches
    figure = Figure(figsize=(12.4, 0.7 + sum(unit * t + 1.25 for t in tall)))
    total = figure.get_figheight()
    figure.text(0.012, 1 - 0.3 / total, title, fontsize=12, va="center")
    top = total - 0.7
    for r in range(rows):
        for c in range(columns):
            k = r * columns + c
            if k >= len(drawn):
                continue
            left = 0.015 + c * 0.5
            body = unit * tall[r]
            axes = figure.add_axes((left, (top - body) / total, 0.47, body / total))
            futures = figure.add_axes((left + 0.06, (top - body - 0.62) / total, 0.24, 0.5 / total))
            draw_position(axes, futures, drawn[k])
            axes.set_ylim(tall[r], 0)
        top -= unit * tall[r] + 1.25
    return figure
