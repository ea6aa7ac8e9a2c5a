"""Stingy as a picture in text: the table of displays, the pool and the swap being made.

Everything lies open but the order of the pool, which is shown to nobody but who asks for everything (observer None).
"""

from __future__ import annotations

from textwrap import wrap
from typing import Any

from stingy_env.config import IMAGES, StingyConfig
from stingy_env.rules import NOTHING, NUM_COLOURS, NUM_KINDS, VALUE_OF_SIZE, Phase
from stingy_env.text import KIND_NAMES, names

WIDTH = 120
LABEL = 12  # columns of the name of a seat
TALLIES = (("tiles", 7), ("worth", 7), ("points", 8))
ASKED = {
    Phase.SWAP: "demand a group, or make no swap",
    Phase.RESPOND: "take groups in return, or none",
    Phase.GIVE: "pay with groups worth more",
    Phase.DRAW: "take the regular number of tiles, or one more",
}


def seat_name(state: Any, seat: int, observer: int | None) -> str:
    """Return what a seat is called."""
    if seat >= int(state["num_players"]):
        return "ghost"
    return "you" if seat == observer else f"player {seat}"


def in_columns(cells: list[str]) -> str:
    """Return one cell for each kind in columns, a gap between images."""
    rows = [cells[start : start + NUM_COLOURS] for start in range(0, NUM_KINDS, NUM_COLOURS)]
    return "  ".join(" ".join(row) for row in rows)


def heading() -> list[str]:
    """Return the two lines over the displays: images and colours."""
    width = 2 * NUM_COLOURS - 1
    images = "  ".join(image.ljust(width) for image in IMAGES[:-1])
    colours = in_columns([str(kind % NUM_COLOURS) for kind in range(NUM_KINDS - 1)] + [" "])
    tallies = "".join(name.rjust(width) for name, width in TALLIES)
    return [" " * LABEL + images + "  " + IMAGES[-1], " " * LABEL + colours + "   " + tallies]


def seat_line(state: Any, seat: int, observer: int | None) -> str:
    """Return one line of the table: `>` who decides, a number for each group, `*` for each complete one."""
    mark = ">" if seat == state["current_player"] else " "
    complete = int(state["complete"][seat])
    sizes = [int(size) for size in state["tiles"][seat]]
    cells = ["*" if (complete >> kind) & 1 else str(sizes[kind] or ".") for kind in range(NUM_KINDS)]
    points = "" if seat >= int(state["num_players"]) else str(int(state["scores"][seat]))
    counts = (str(sum(sizes)), str(int(state["worth"][seat])), points)
    tallies = "".join(count.rjust(width) for count, (_, width) in zip(counts, TALLIES))
    return f"{mark} {seat_name(state, seat, observer)}".ljust(LABEL) + in_columns(cells) + "   " + tallies


def swap_lines(state: Any, observer: int | None) -> list[str]:
    """Return what is demanded and what came of it so far."""
    if state["demanded"] == NOTHING:
        return []
    turn, owner = (seat_name(state, int(state[name]), observer) for name in ("turn_player", "owner"))
    value, total = int(state["demanded_value"]), int(state["total"])
    number = next(size for size, worth in enumerate(VALUE_OF_SIZE) if worth == value)
    given = f"for more than {value} given" if state["phase"] == Phase.GIVE else f"for at most {value} taken"
    last = "" if state["last_group"] == NOTHING else f", {KIND_NAMES[int(state['last_group'])]} last"
    line = f"{number} {KIND_NAMES[int(state['demanded'])]} (value {value}) demanded by {turn} from {owner}"
    return [f"{line}; {given} so far: {total}{last}"]


def status_lines(state: Any, observer: int | None) -> list[str]:
    """Return who decides what, or who won."""
    players = int(state["num_players"])
    if state["phase"] == Phase.OVER:
        won = [seat_name(state, seat, observer) for seat in range(players) if (int(state["winners"]) >> seat) & 1]
        return [f"over; won by {' and '.join(won)}"]
    who = seat_name(state, int(state["current_player"]), observer)
    phase = Phase(int(state["phase"]))
    lines = [f"{phase.name}, {who}: {ASKED[phase]}"]
    if state["last_turns"] != NOTHING:
        lines.append(f"the pool is empty; turns left, this one too: {int(state['last_turns'])}")
    return lines


def stack_lines(state: Any) -> list[str]:
    """Return the stacks of the pool, next tile first."""
    lines = []
    for seat in range(int(state["num_seats"])):
        stack = state["pool"][int(state["pool_low"][seat]) : int(state["pool_high"][seat])]
        line = f"  next for {seat_name(state, seat, None)}: {' '.join(names(stack[::-1])) or 'nothing'}"
        lines += wrap(line, WIDTH, subsequent_indent=" " * LABEL, break_on_hyphens=False)
    return lines


def to_text(config: StingyConfig, state: Any, observer: int | None = None) -> str:
    """Return one record as a picture in text: what `observer` may see, or everything for None."""
    players, seats = int(state["num_players"]), range(int(state["num_seats"]))
    if players == 0:
        return "Stingy: no game in this record yet"
    options = [name for name in ("captain_sly", "colour_scoring") if getattr(config, name)]
    title = f"Stingy, {players} players" + "".join(f", {name}" for name in options)
    unseen = [str(int(count) or ".") for count in state["unseen"]]
    lines = [f"{title}   (> decides, * complete)", *heading(), *(seat_line(state, seat, observer) for seat in seats)]
    lines.append("  pool".ljust(LABEL) + in_columns(unseen) + "   " + str(int(state["pool_size"])).rjust(TALLIES[0][1]))
    lines += swap_lines(state, observer) + status_lines(state, observer)
    if observer is None and state["pool_size"] > 0:
        lines += stack_lines(state)
    return "\n".join(line.rstrip() for line in lines)
