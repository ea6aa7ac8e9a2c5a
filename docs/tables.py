"""Write docs/games/*.md: options, actions and observation of each game, read from the code.

    python docs/tables.py

`tests/test_site.py` says when they are out of date.
"""

from __future__ import annotations

import dataclasses
import inspect
import re
from collections import defaultdict
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np

from tabletop.game import BatchGame
from tabletop.registry import make
from tabletop.seeding import spread

HERE = Path(__file__).resolve().parent
GAMES = ("sting-v0", "stingy-v0")
PLAYED, STEPS = 128, 2000  # random games in which the phases of the actions are seen
MEANINGS = {
    "sting-v0": {
        "draw": "announce how many cards to draw (S6)",
        "set": "lay a set: its number, then three colours, or two and `*` for a wild (S12, S16)",
        "run": "lay a run of three from a number on; `*4` puts a wild in that place (S12, S16)",
        "add": "add a card from the hand, or the one held, to a pile (S17, S18)",
        "substitute": "put a natural in the place of a wild, which is then held (S22)",
        "take": "take the top of the discard pile, which is then held (S21)",
        "pass": "play a Pass-a-Pile (S24)",
        "discard": "discard, which ends the turn (S9)",
        "wild": "which wild is laid, or comes out",
        "seat": "in front of whom, seats counted clockwise from the player",
        "pile": "which pile, in order of laying",
        "end": "which end of the run the wild goes to (S17)",
        "accept": "keep the pile passed (S25)",
        "return": "play a Take-it-Back (S25)",
    },
    "stingy-v0": {
        "demand": "demand a group of the seat so many places clockwise (G7, G8)",
        "no": "make no swap (G7)",
        "pay": "ask the demander to pay (G11)",
        "stop": "take or give no more (G14)",
        "group": "take or give a group (G10, G12)",
        "tiles": "take the regular number of tiles, or one more (G15, G16)",
    },
}


def table(head: list[str], rows: list[list[str]]) -> str:
    """Return a Markdown table."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in lines)


def option_meanings(config_type: Any) -> dict[str, str]:
    """Return what the docstring of a configuration says of each option."""
    names = [field.name for field in dataclasses.fields(config_type)]
    text = " ".join(inspect.cleandoc(config_type.__doc__).split())
    parts = re.split(rf"\b({'|'.join(names)}): ", text)[1:]
    return {name: meaning.strip().rstrip(".") for name, meaning in zip(parts[::2], parts[1::2], strict=True)}


def option_rows(game: BatchGame) -> list[list[str]]:
    """Return option, default and meaning."""
    kind = type(game.config)
    meanings = option_meanings(kind)
    return [[f"`{f.name}`", f"`{f.default!r}`", meanings[f.name]] for f in dataclasses.fields(kind)]


def phases_of_actions(game: BatchGame) -> dict[int, set[int]]:
    """Return in which phases each action was legal in random games of all player counts."""
    found: dict[int, set[int]] = defaultdict(set)
    counts = np.resize(np.arange(game.spec.min_players, game.spec.max_players + 1), PLAYED)
    states = game.new_states(PLAYED)
    seeds = spread(1, PLAYED)
    game.reset(states, seeds, num_players=counts)
    for _ in range(STEPS):
        mask = game.legal_action_mask(states)
        for phase in np.unique(states["phase"]):
            for action in np.flatnonzero(mask[states["phase"] == phase].any(axis=0)):
                found[int(action)].add(int(phase))
        if game.terminated(states).all():
            break
        game.step(states, game.random_actions(states, seeds))
    return found


def action_rows(game: BatchGame) -> list[list[str]]:
    """Return first number, count, phases, word, first and last action, meaning, a row for each word."""
    seen = phases_of_actions(game)
    texts = [game.action_to_string(action) for action in range(game.num_actions)]
    rows, start = [], 0
    for word, group in groupby(texts, key=lambda text: text.split(" ")[0]):
        section = list(group)
        numbers = range(start, start + len(section))
        phases = sorted({phase for number in numbers for phase in seen[number]})
        if not phases:
            raise RuntimeError(f"no action {word!r} was legal in {PLAYED} random games: play more of them")
        shown = f"`{section[0]}`" if len(section) == 1 else f"`{section[0]}` to `{section[-1]}`"
        names = ", ".join(game.spec.phases[phase] for phase in phases)
        rows.append([str(start), str(len(section)), names, shown, MEANINGS[game.spec.name][word]])
        start += len(section)
    return rows


def observation_rows(game: BatchGame) -> list[list[str]]:
    """Return field, slice, shape, who knows it, meaning."""
    slices = game.spec.observation_slices()
    rows = []
    for field in game.spec.observation_fields:
        place = slices[field.name]
        shape = " × ".join(map(str, field.shape)) or "1"
        who = "public" if field.public else "private"
        rows.append([f"`{field.name}`", f"{place.start}:{place.stop}", shape, who, field.meaning])
    return rows


def page(name: str) -> str:
    """Return the page of a game."""
    game = make(name)
    spec = game.spec
    short = name.partition("-")[0]
    package = __import__(f"{short}_env")
    variants = [
        [f"`{key}`", ", ".join(f"`{option}={value!r}`" for option, value in config.to_dict().items())]
        for key, config in package.VARIANTS.items()
    ]
    parts = [
        f"# {spec.title}: options, actions, observation",
        "<!-- Written by docs/tables.py from the code; edit that. -->",
        f"`{name}`: {spec.min_players} to {spec.max_players} players, {game.num_actions} actions, an observation of "
        f"{spec.observation_size} int8 values (digest `{spec.observation_digest}`). The rules are on their "
        f"[own page](../rules/{short}.md). `stinglab describe {short}` prints the same in the terminal.",
        "## Options",
        f"Keyword arguments of `{short}_env.env`, `{short}_env.make_game`, `{type(game.config).__name__}`; "
        "`-o key=value` on the command line.",
        table(["option", "default", "meaning"], option_rows(game)),
        "## Variants",
        f"Named configurations: `{short}_env.variant(name)`, `--variant` on the command line.",
        table(["variant", "options"], variants),
        "## Phases",
        ", ".join(f"{number} {phase}" for number, phase in enumerate(spec.phases)) + ".",
        "## Actions",
        "Numbers are fixed: models and records depend on them. `game.action_to_string(number)` and "
        "`game.string_to_action(text)` go both ways.",
        table(["first", "count", "phase", "actions", "meaning"], action_rows(game)),
        "## Observation",
        "An observation is a numpy record: `observation[name]` reads a field, the slice is its place in the flat "
        "vector of the environments. *Rel* are seats counted clockwise from the observer, 0 being itself.",
        table(["field", "slice", "shape", "who knows", "meaning"], observation_rows(game)),
    ]
    return "\n\n".join(parts) + "\n"


def main() -> None:
    """Write the pages."""
    for name in GAMES:
        (HERE / "games" / f"{name.partition('-')[0]}.md").write_text(page(name), encoding="utf-8")


if __name__ == "__main__":
    main()
