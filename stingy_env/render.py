"""Stingy as a picture in text, and what happens in it in plain words.

The contract's texts number the colours; here they have names too: 0 red, 1 yellow, 2 green, 3 blue, 4 purple, 5 orange,
so that `coins-2` are green coins. Everything lies open but the order of the pool, which is shown to nobody but who asks
for everything (observer None).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from textwrap import fill, wrap
from typing import Any

import numpy as np

from stingy_env.config import StingyConfig
from stingy_env.rules import (
    DEMAND,
    FLAG,
    GROUP,
    NO_SWAP,
    NOTHING,
    NUM_COLOURS,
    NUM_IMAGES,
    NUM_KINDS,
    PAY,
    STATE,
    STOP,
    TILES,
    TILES_OF_KIND,
    TILES_REGULAR,
    VALUE_OF_SIZE,
    Phase,
    apply_draw,
    apply_respond,
    apply_swap,
    end_turn,
    only_action,
    regular_number,
    take_or_stop,
    write_legal,
)
from stingy_env.text import names
from tabletop.jit import entry

WIDTH = 100
LABEL = 12  # columns of the name of a seat
TALLIES = (("tiles", 7), ("worth", 7), ("points", 8))
COLOUR_WORDS = ("red", "yellow", "green", "blue", "purple", "orange")
IMAGE_WORDS = ("bottle", "parrot", "coin", "diamond", "flag")
COLOUR_LETTERS = "".join(word[0].upper() for word in COLOUR_WORDS)
LEGEND = ", ".join(f"{word[0].upper()} {word} {number}" for number, word in enumerate(COLOUR_WORDS))
NUMBER_WORDS = ("no tile", "one tile", "two tiles", "three tiles")

ANSI = ("31", "33", "32", "94", "35", "38;5;208", "1")  # of the colours, then of the flag
END = "\x1b[0m"
CELLS = r"[.*\dA-Z](?: [.*\dA-Z]){5}"
ROW = rf"^(?P<label>[^\n]{{{LABEL}}})(?P<cells>(?:{CELLS}  ){{{NUM_IMAGES - 1}}}[.*\dA-Z])(?=   )"
TILE = (
    rf"\b(?P<colour>{'|'.join(COLOUR_WORDS)})(?: (?:bottle|parrot|coin|diamond)s?)?\b"
    r"|\b(?:bottle|parrot|coins|diamond)-(?P<number>[0-5])\b|\b(?P<flag>flags?)\b"
)
PAINTED = re.compile(f"{ROW}|{TILE}", re.M)


# Colours --------------------------------------------------------------------------------------------------------------


def paint(text: str, colour: int) -> str:
    """Return a text in a colour, 6 is the flag's."""
    return f"\x1b[{ANSI[colour]}m{text}{END}"


def in_colour(text: str) -> str:
    """Return a text with its tiles in colour, by ANSI escapes."""

    def painted(match: re.Match[str]) -> str:
        if match["cells"] is None:
            if match["flag"]:
                return paint(match[0], NUM_COLOURS)
            return paint(match[0], COLOUR_WORDS.index(match["colour"]) if match["colour"] else int(match["number"]))
        cells = re.split("( +)", match["cells"])  # every second is a gap
        for kind, cell in enumerate(cells[::2]):
            if cell != ".":
                cells[2 * kind] = paint(cell, colour_of(kind))
        return match["label"] + "".join(cells)

    return PAINTED.sub(painted, text)


def colour_of(kind: int) -> int:
    """Return the colour of a kind, 6 for the flag."""
    return NUM_COLOURS if kind == FLAG else kind % NUM_COLOURS


# Names ----------------------------------------------------------------------------------------------------------------


def seat_name(state: Any, seat: int, observer: int | None) -> str:
    """Return what a seat is called."""
    if seat >= int(state["num_players"]):
        return "the ghost"
    return "you" if seat == observer else f"player {seat}"


def tile_words(kind: int, number: int) -> str:
    """Return tiles of one kind: `1 green coin`, `3 flags`."""
    return f"{number} {kind_words(kind, number)}"


def kind_words(kind: int, number: int = 2) -> str:
    """Return what tiles of a kind are called: `green coins`; of `number` 1 `green coin`."""
    word = IMAGE_WORDS[kind // NUM_COLOURS] + ("" if number == 1 else "s")
    return word if kind == FLAG else f"{COLOUR_WORDS[kind % NUM_COLOURS]} {word}"


def listed(parts: Iterable[str]) -> str:
    """Return parts as a list in words."""
    *first, last = parts
    return f"{', '.join(first)} and {last}" if first else last


def sentence(line: str, stop: str = ".") -> str:
    """Return a line as a sentence."""
    return line[0].upper() + line[1:] + stop


def points_words(points: int) -> str:
    """Return a number of points."""
    return f"{points} point{'' if points == 1 else 's'}"


def demanded_words(state: Any) -> str:
    """Return the tiles demanded in the swap being made."""
    return tile_words(int(state["demanded"]), int(np.searchsorted(VALUE_OF_SIZE, state["demanded_value"])))


# The picture ----------------------------------------------------------------------------------------------------------


def in_columns(cells: list[str]) -> str:
    """Return one cell for each kind in columns, a gap between images."""
    rows = [cells[start : start + NUM_COLOURS] for start in range(0, NUM_KINDS, NUM_COLOURS)]
    return "  ".join(" ".join(row) for row in rows)


def heading(config: StingyConfig) -> list[str]:
    """Return the lines over the displays: images, how many are complete, for how many points; colours."""
    width = 2 * NUM_COLOURS - 1
    sizes = [int(TILES_OF_KIND[image * NUM_COLOURS]) for image in range(NUM_IMAGES)]
    images = [f"{size} {word}s" for size, word in zip(sizes, IMAGE_WORDS)]
    points = [points_words(points) for points in config.complete_points]
    tallies = "".join(name.rjust(width) for name, width in TALLIES)
    return [
        *(" " * LABEL + "  ".join(cell.ljust(width) for cell in row) for row in (images, points)),
        " " * LABEL + in_columns([*COLOUR_LETTERS * (NUM_IMAGES - 1), "F"]) + "   " + tallies,
    ]


def seat_line(state: Any, seat: int, observer: int | None) -> str:
    """Return one line of the table: `>` who decides, a number for each group, `*` for each complete one."""
    mark = ">" if seat == state["current_player"] else " "
    complete = int(state["complete"][seat])
    sizes = [int(size) for size in state["tiles"][seat]]
    cells = ["*" if (complete >> kind) & 1 else str(sizes[kind] or ".") for kind in range(NUM_KINDS)]
    points = "" if seat >= int(state["num_players"]) else str(int(state["scores"][seat]))
    counts = (str(sum(sizes)), str(int(state["worth"][seat])), points)
    tallies = "".join(count.rjust(width) for count, (_, width) in zip(counts, TALLIES))
    name = seat_name(state, seat, observer).removeprefix("the ")
    return f"{mark} {name}".ljust(LABEL) + in_columns(cells) + "   " + tallies


def pool_line(state: Any) -> str:
    """Return what the pool still holds, as a line of the table."""
    cells = [str(int(count) or ".") for count in state["unseen"]]
    return "  pool".ljust(LABEL) + in_columns(cells) + "   " + str(int(state["pool_size"])).rjust(TALLIES[0][1])


def swap_line(state: Any) -> str:
    """Return how far a swap has come, where groups have changed hands in return."""
    value, total = int(state["demanded_value"]), int(state["total"])
    after = f"; next come kinds after {kind_words(int(state['last_group']))}"
    if state["phase"] == Phase.GIVE:
        left = f"at least {value + 1 - total} more" if total <= value else "that is enough"
        return f"Given so far: worth {total}, {left}{after}."
    return f"Taken so far: worth {total}, at most {value - total} more{after}."


def question(state: Any, observer: int | None) -> str:
    """Return who decides what, or who won."""
    phase = Phase(int(state["phase"]))
    if phase == Phase.OVER:
        return outcome(state, observer)
    seat = int(state["current_player"])
    who, own = seat_name(state, seat, observer), seat == observer
    turn = "Your turn" if own else f"{who.capitalize()}'s turn"
    if phase == Phase.SWAP:
        draw = "" if state["pool_size"] == 0 else " and draw"
        return f"{turn}: demand a group, or swap nothing{draw}."
    if phase == Phase.DRAW:
        return f"{turn}: no swap was made, so one tile more may be taken."
    demander, owner = (seat_name(state, int(state[name]), observer) for name in ("turn_player", "owner"))
    tiles, value, do = demanded_words(state), int(state["demanded_value"]), "do" if own else "does"
    if phase == Phase.GIVE:
        return sentence(f"{tiles} from {owner} must be paid for: what {do} {who} give, worth more than {value}", "?")
    s = "" if int(state["turn_player"]) == observer else "s"
    return sentence(
        f"{demander} demand{s} {tiles} from {owner}: what {do} {who} take for it, worth at most {value}", "?"
    )


def outcome(state: Any, observer: int | None) -> str:
    """Return who won, and by what (G18)."""
    players = range(int(state["num_players"]))
    won = [seat for seat in players if (int(state["winners"]) >> seat) & 1]
    best = int(state["scores"][won[0]])
    tied = sum(int(state["scores"][seat]) == best for seat in players) > len(won)
    with_tiles = f" and the most tiles on display, {int(state['tiles'][won[0]].sum())}" if tied else ""
    who = listed(seat_name(state, seat, observer) for seat in won)
    return f"The game is over: {who} won with {points_words(best)}{with_tiles}."


def stack_lines(state: Any) -> list[str]:
    """Return the stacks of the pool, next tile first."""
    lines = []
    for seat in range(int(state["num_seats"])):
        stack = state["pool"][int(state["pool_low"][seat]) : int(state["pool_high"][seat])]
        line = f"  next for {seat_name(state, seat, None)}: {' '.join(names(stack[::-1])) or 'nothing'}"
        lines += wrap(line, WIDTH, subsequent_indent=" " * LABEL, break_on_hyphens=False)
    return lines


def to_text(config: StingyConfig, state: Any, observer: int | None = None, colour: bool = False) -> str:
    """Return one record as a picture in text: what `observer` may see, or everything for None.

    At most 100 columns; `>` marks who decides; seats follow clockwise, the observer's last. The last line is what is
    asked. `colour` paints the tiles with ANSI escapes.
    """
    players, seats = int(state["num_players"]), int(state["num_seats"])
    if players == 0:
        return "Stingy: no game in this record yet"
    first = 0 if observer is None else (observer + 1) % seats
    options = [name for name in ("captain_sly", "colour_scoring") if getattr(config, name)]
    title = "".join([f"Stingy, {players} players", *(f", {name.replace('_', ' ')}" for name in options)])
    lines = [f"{title}   (> decides, * complete)", f"colours: {LEGEND}", "", *heading(config)]
    lines += [seat_line(state, (first + k) % seats, observer) for k in range(seats)]
    lines += [pool_line(state), ""]
    if observer is None and state["pool_size"] > 0:
        lines += [*stack_lines(state), ""]
    if state["last_turns"] > 0:
        places = (int(state["turn_player"]) + np.arange(int(state["last_turns"]))) % seats
        lines.append(f"The pool is empty; turns left, this one too: {int((places < players).sum())}.")
    if state["demanded"] != NOTHING and state["last_group"] != NOTHING:
        lines.append(swap_line(state))
    lines.append(question(state, observer))
    text = "\n".join(line.rstrip() for line in lines)
    return in_colour(text) if colour else text


# Decisions in words ---------------------------------------------------------------------------------------------------


def as_states(state: Any) -> np.ndarray:
    """Return a copy of one record as records [1]."""
    states = np.zeros(1, STATE)
    states[0] = state
    return states


@entry
def regular_tiles(states: Any) -> int:
    """Return how many tiles end a turn (G15)."""
    return regular_number(states[0])


def transfer(state: Any, action: int) -> tuple[int, int, int]:
    """Return (giver, receiver, kind) of the group that changes hands by a demand (G7), or is taken or given (G13)."""
    turn = int(state["turn_player"])
    if action >= GROUP:
        return turn, int(state["owner"]), action - GROUP
    rel, kind = divmod(action - DEMAND, NUM_KINDS)
    return (turn + rel + 1) % int(state["num_seats"]), turn, kind


def group_words(state: Any, action: int) -> str:
    """Return the group that changes hands, with its value: `3 flags (worth 6)`."""
    giver, _, kind = transfer(state, action)
    number = int(state["tiles"][giver, kind])
    return f"{tile_words(kind, number)} (worth {int(VALUE_OF_SIZE[number])})"


def completes(state: Any, action: int) -> bool:
    """Tell whether the group that changes hands completes its kind."""
    giver, receiver, kind = transfer(state, action)
    return int(state["tiles"][giver, kind]) + int(state["tiles"][receiver, kind]) == int(TILES_OF_KIND[kind])


def describe_action(config: StingyConfig, state: Any, action: int, observer: int | None = None) -> str:
    """Return what the current player does by a legal action: `demands 2 green coins (worth 3) from player 2`.

    Where the observer is the current player, as a command: `demand 2 green coins (worth 3) from player 2`.
    """
    s = "" if state["current_player"] == observer else "s"
    verb = "give" if state["phase"] == Phase.GIVE else "take"
    if action == NO_SWAP:
        return f"swap{s} nothing"
    if action == PAY:
        return f"ask{s} to be paid"
    if action == STOP:
        return f"{verb}{s} nothing{'' if state['last_group'] == NOTHING else ' more'}"
    if action >= TILES:
        return f"take{s} {NUMBER_WORDS[regular_tiles(as_states(state)) + action - TILES_REGULAR]} from the pool"
    complete = ", completes the group" if completes(state, action) else ""
    if action >= GROUP:
        return f"{verb}{s} {group_words(state, action)}{complete}"
    owner = seat_name(state, transfer(state, action)[0], observer)
    return f"demand{s} {group_words(state, action)} from {owner}{complete}"


# What happened --------------------------------------------------------------------------------------------------------


@entry
def decide(rules: Any, states: Any, action: int) -> int:
    """Carry out one decision of states[0], in place; return the next if it leaves no choice, else NOTHING."""
    s = states[0]
    if s.phase == Phase.SWAP:
        tiles = apply_swap(rules, s, action)
    elif s.phase == Phase.RESPOND:
        tiles = apply_respond(rules, s, action)
    elif s.phase == Phase.GIVE:
        tiles = take_or_stop(rules, s, action)
    else:
        tiles = apply_draw(s, action)
    if tiles != NOTHING:
        end_turn(rules, s, tiles)
    write_legal(rules, s)
    return only_action(s)


def decisions(config: StingyConfig, before: Any, action: int) -> Iterator[tuple[Any, int, Any]]:
    """Yield (before, action, after) for an action and every decision after it that leaves no choice."""
    rules, states = config.compiled(), as_states(before)
    while action != NOTHING:
        old = states.copy()
        following = int(decide(rules, states, action))
        yield old[0], action, states[0].copy()
        action = following


def tell(config: StingyConfig, before: Any, action: int, after: Any, observer: int | None = None) -> list[str]:
    """Return what `observer` should be told about an action and all that came of it, a sentence each.

    A swap is told part by part as it is made; tiles drawn, kinds completed and what leaves no choice are told too.
    """
    lines: list[str] = []
    for number, (old, made, new) in enumerate(decisions(config, before, action)):
        if made in (STOP, NO_SWAP) or made >= TILES:
            lines += end_of_turn(old, made, new, observer, forced=number > 0)
        else:
            lines.append(sentence(step_of_swap(config, old, made, new, observer)))
    if after["phase"] == Phase.OVER:
        seats = range(int(after["num_players"]))
        points = (f"{seat_name(after, seat, observer)} {int(after['scores'][seat])}" for seat in seats)
        lines += ["That was the last turn.", f"Points: {', '.join(points)}."]
    return lines


def step_of_swap(config: StingyConfig, state: Any, action: int, after: Any, observer: int | None) -> str:
    """Return a demand, the claim to be paid, or a group taken or given, and what it completes."""
    who = seat_name(state, int(state["current_player"]), observer)
    s = "" if int(state["current_player"]) == observer else "s"
    if action == PAY:
        return f"{who} ask{s} to be paid, as nothing is worth exactly {int(state['demanded_value'])}"
    giver, receiver, kind = transfer(state, action)
    words = group_words(state, action)
    if action < NO_SWAP:
        line = f"{who} demand{s} {words} from {seat_name(state, giver, observer)}"
    elif state["phase"] == Phase.GIVE:
        line = f"{who} give{s} {words} to {seat_name(state, receiver, observer)}"
    else:
        line = f"{who} take{s} {words} {in_return(state)}"
    if not completes(state, action):
        return line
    whose = f" for {seat_name(state, receiver, observer)}" if state["phase"] == Phase.GIVE else ""
    return f"{line}: all {int(TILES_OF_KIND[kind])} complete, {earned(state, after, receiver)}{whose}"


def in_return(state: Any) -> str:
    """Return for whom the responder takes: `in return`, or for the ghost (G20)."""
    return "for the ghost" if int(state["owner"]) >= int(state["num_players"]) else "in return"


def earned(state: Any, after: Any, seat: int) -> str:
    """Return what a seat has scored; the ghost's complete groups are out of the game (G19)."""
    if seat >= int(state["num_players"]):
        return "out of the game"
    return points_words(int(after["scores"][seat]) - int(state["scores"][seat]))


def end_of_turn(state: Any, action: int, after: Any, observer: int | None, forced: bool) -> list[str]:
    """Return what ended a turn, worth telling or not, and what was drawn then, by the ghost too."""
    turn, player, ghost = int(state["turn_player"]), int(state["current_player"]), int(state["num_players"])
    who = seat_name(state, player, observer)
    s = "" if player == observer else "s"
    did = ""
    if action == NO_SWAP:
        did = f"{who} can demand nothing" if forced else f"{who} make{s} no swap"
    elif action == STOP and state["last_group"] == NOTHING:
        did = f"{who} {'can take' if forced else f'take{s}'} nothing {in_return(state)}"
    elif action > TILES_REGULAR:
        did = f"{who} take{s} one tile more"
    drawn = draw_words(state, after, turn, observer)
    if not drawn:
        lines = [did]
    elif did and player == turn:
        lines = [f"{did} and {drawn}"] if len(did) + len(drawn) < WIDTH - 6 else [did, f"{who} {drawn}"]
    else:
        lines = [did, f"{seat_name(state, turn, observer)} {drawn}"]
    if turn + 1 == ghost < int(state["num_seats"]):  # the ghost's turn follows at once
        drawn = draw_words(state, after, ghost, observer)
        lines.append(f"the ghost {drawn}" if drawn else "")
        if drawn and len(lines[-2]) + len(lines[-1]) + 2 < WIDTH:
            lines[-2:] = [f"{lines[-2]}; {lines[-1]}"]
    if after["last_turns"] != NOTHING and state["last_turns"] == NOTHING:
        last = f"{seat_name(state, turn, observer)} {'have' if turn == observer else 'has'}"
        lines.append(f"the pool is empty: everybody has one more turn, without a draw, and {last} the last")
    return [sentence(line) for line in lines if line]


def draw_words(state: Any, after: Any, seat: int, observer: int | None) -> str:
    """Return the tiles a seat has drawn and what they complete: `draws 1 red coin and 1 flag`; nothing where none."""
    new = int(after["complete"][seat]) & ~int(state["complete"][seat])
    complete = [kind for kind in range(NUM_KINDS) if (new >> kind) & 1]
    drawn = after["tiles"][seat].astype(int) - state["tiles"][seat]
    drawn[complete] += TILES_OF_KIND[complete]
    if not drawn.any():
        return ""
    tiles = listed(tile_words(int(kind), int(drawn[kind])) for kind in np.flatnonzero(drawn))
    line = f"draw{'' if seat == observer else 's'} {tiles}"
    return f"{line}: {listed(map(kind_words, complete))} complete, {earned(state, after, seat)}" if complete else line


# Hints ----------------------------------------------------------------------------------------------------------------

ORDER = (
    "Groups are handed over one by one, in the order of the table from bottles to flags: what is left out on the way "
    "can't follow later."
)
HINTS = {
    Phase.SWAP: (
        "You may demand one whole group from another display; nobody can refuse. Your other groups, those of the kind "
        "demanded left out, must together be worth at least as much as it. In return its owner takes from these other "
        "groups what is worth at most as much, or asks to be paid if no choice of them is worth exactly as much: then "
        "you give groups of your choice that are worth more. If you swap nothing and have at most 2 single tiles, you "
        "may draw one tile more."
    ),
    Phase.RESPOND: (
        "Take from the demander's other groups as much as the group demanded is worth, or less, or nothing. If no "
        f"choice of them is worth exactly as much, you may ask to be paid instead. {ORDER}"
    ),
    Phase.GIVE: (
        f"You have to give groups that are together worth more than what you demanded; which, is your choice. {ORDER}"
    ),
    Phase.DRAW: "You made no swap and have at most 2 single tiles: say, before you see any, if you draw one tile more.",
}
SLY = {
    Phase.SWAP: (
        "You may demand one whole group from another display; nobody can refuse. In return its owner may take from "
        "your groups, those of the kind demanded left out, what is worth at most as much; nobody pays. If you swap "
        "nothing and have at most 2 single tiles, you may draw one tile more."
    ),
    Phase.RESPOND: (
        f"Take from the demander's other groups as much as the group demanded is worth, or less, or nothing. {ORDER}"
    ),
}
VALUES = (
    f"A group of {listed(str(size) for size in range(1, len(VALUE_OF_SIZE)))} tiles is worth "
    f"{listed(str(int(value)) for value in VALUE_OF_SIZE[1:])} in a swap, whatever its kind."
)
OBJECT = (
    "All tiles of one colour and image are set aside at once and score the points over the table; most points win. "
    "When the pool is empty everybody has one more turn."
)
BONUS = f"Different colours among them, the flag one more, score {listed(map(str, VALUE_OF_SIZE[1:]))} for 1 to 7."
GHOST = (
    "The ghost draws and does nothing else. When one of you demands from it, the other takes for it; what it completes "
    "is out of the game."
)
TYPED = (
    "Typed actions call colours by number, the flag apart, and players by place: `demand +1 coins-2` demands the green "
    "coins of the next seat clockwise, first in the table."
)


def hint(config: StingyConfig, state: Any) -> str:
    """Return what the player to move needs to know of the rules."""
    phase = Phase(int(state["phase"]))
    special = (SLY if config.captain_sly else HINTS).get(phase, HINTS.get(phase, ""))
    parts = [special, VALUES, f"{OBJECT} {BONUS}" if config.colour_scoring else OBJECT]
    parts += [GHOST, TYPED] if int(state["num_players"]) == 2 else [TYPED]
    return "\n\n".join(fill(part, WIDTH) for part in parts if part)
