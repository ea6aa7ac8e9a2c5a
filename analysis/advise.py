"""Advice about one position: what each legal action comes to, by rollouts over what the player on turn can't know.

Worlds are dealt uniformly from all that fit what the player has seen. No model of the others' play weighs them: a player
who drew two and discarded a wild is given the same hands as any other. The advice is as good as that, and as the bot that
plays on for everybody. All actions are tried in the same worlds. The action to take is chosen on half the worlds and
valued on the other half, so that its value does not flatter.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from agents.base import Agent, Array
from agents.registry import list_agents, make_agent
from analysis.rollouts import CONTINUE, LANES, play_arms, stream
from analysis.statistics import Estimate, clustered_mean
from tabletop import registry, seeding
from tabletop.game import BatchGame, PositionError

BOTS = ("greedy", "rulebook", "random")
POINTS = 100.0  # points in a unit of margin reward
CAVEAT = (
    "Hidden cards are dealt uniformly, without a model of how the others play; {bot} plays on for everybody. "
    "Other players would make other values."
)


@dataclass(frozen=True)
class Advice:
    """What an action comes to, over the worlds: share of the win, points, and both less those of the action to take."""

    action: int
    text: str
    win: Estimate
    margin: Estimate
    win_behind: Estimate
    margin_behind: Estimate


def read_position(path: Path) -> tuple[BatchGame, Array]:
    """Return the game and the records [1] of a position in a JSON file; ValueError says what is wrong with it."""
    try:
        position = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise ValueError(f"{path} is not JSON: {error}") from error
    if not isinstance(position, Mapping) or not isinstance(position.get("game"), str):
        raise ValueError(f"{path} is no position: it must be an object that names its 'game'")
    config = position.get("config", {})
    if not isinstance(config, Mapping):
        raise ValueError(f"{path}: 'config' must be an object of options, not {config!r}")
    options = dict(config)
    hands = position.get("hands")
    if "num_players" not in options and isinstance(hands, Sequence):
        options["num_players"] = len(hands)
    try:
        game = registry.make(position["game"], **options)
        states = game.from_dict(position)
    except (LookupError, PositionError, TypeError, ValueError) as error:
        raise ValueError(f"{path}: {error}") from error
    if int(states["current_player"][0]) < 0:
        raise ValueError(f"{path}: the game is over, there is nothing to decide")
    return game, states


def advise(game: BatchGame, states: Array, agent: Agent, worlds: int, seed: int = 1) -> tuple[list[Advice], Estimate]:
    """Return all legal actions of a position, records [1], in the order of the rules, and the value of the best.

    The action to take is the one that is 0 behind. The Estimate is its share of the win, chosen on the even worlds and
    valued on the odd ones. worlds: at least 4.
    """
    if worlds < 4:
        raise ValueError(f"worlds must be at least 4, not {worlds}")
    actions = np.flatnonzero(game.legal_action_mask(states)[0])
    win, margin = values(game, states, actions, agent, worlds, seed)
    best = int(np.argmax(preference(win[::2], margin[::2])))
    each = np.arange(worlds)
    found = [
        Advice(
            int(action),
            game.describe_action(states[0], int(action), int(states["current_player"][0])),
            clustered_mean(win[:, a], each),
            clustered_mean(margin[:, a], each),
            clustered_mean(win[:, a] - win[:, best], each),
            clustered_mean(margin[:, a] - margin[:, best], each),
        )
        for a, action in enumerate(actions)
    ]
    return found, clustered_mean(win[1::2, best], each[1::2])


def preference(win: Array, margin: Array) -> Array:
    """Return by what actions are compared, from [W, A]: the share of the win, equal ones by points: float64 [A]."""
    return np.asarray(win.mean(axis=0) + 1e-6 * margin.mean(axis=0))


def values(game: BatchGame, states: Array, actions: Array, agent: Agent, worlds: int, seed: int) -> tuple[Array, Array]:
    """Return share of the win and points from here on of each action in each world: float64 [W, A] each."""
    seeds = seeding.spread(seed, 1, seeding.WORLD)
    dealt = game.determinize(states, None, seeds, worlds)
    agents = [agent] * game.num_players
    win, margin = np.empty((worlds, len(actions))), np.empty((worlds, len(actions)))
    step = max(1, LANES // len(actions))
    for start in range(0, worlds, step):
        part = slice(start, start + step)
        lanes = np.repeat(dealt[part], len(actions))
        forced = np.tile(actions, len(dealt[part]))[:, None]
        found = play_arms(game, lanes, forced, agents, stream(seed, CONTINUE))
        win[part], margin[part] = (v.reshape(-1, len(actions)) for v in found)
    return win, margin * POINTS


def advise_file(path: Path, bot: str, worlds: int, seed: int) -> tuple[str, list[str], list[list[str]]]:
    """Return what `stinglab advise` says: a text, the head of a table and its rows, draws first, then the best first."""
    game, states = read_position(path)
    bot = bot or usual_bot(game)
    found, best = advise(game, states, make_agent(bot, game), worlds, seed)
    draws = {a.action for a in found} if phase_of(game, states) == "DRAW" else set()
    take = next(a for a in found if a.win_behind.error == 0 and a.win_behind.mean == 0)
    order = sorted(found, key=lambda a: (a.action not in draws, -a.win.mean))
    rows = [
        [
            a.text,
            percent(a.win),
            points(a.margin),
            "best" if a is take else percent(a.win_behind, "+"),
            "" if a is take else points(a.margin_behind, "+"),
        ]
        for a in order
    ]
    said = [
        game.to_text(states[0], int(states["current_player"][0])),
        "",
        verdict(found, take),
        f"Its share of the win, on worlds that had no part in choosing it: {percent(best)}.",
        CAVEAT.format(bot=bot),
    ]
    head = ["action", "share of the win, %", "points from here on", "less than the best", ""]
    return "\n".join(said), head, rows


def usual_bot(game: BatchGame) -> str:
    """Return who plays on when nobody is named: the first of BOTS that the game has."""
    known = list_agents(game)
    return next(name for name in BOTS if name in known)


def phase_of(game: BatchGame, states: Array) -> str:
    """Return the name of a position's phase."""
    return game.spec.phases[int(states["phase"][0])]


def verdict(found: Sequence[Advice], take: Advice) -> str:
    """Return the advice in a sentence: the action to take, and whether another is too close to tell."""
    close = [a.text for a in found if a is not take and a.win_behind.high >= 0]
    if len(found) == 1:
        return f"There is one thing to do: {take.text}."
    if not close:
        return f"Best: {take.text}; every other action is clearly worse."
    return f"Best: {take.text}; too close to tell from it: {'; '.join(close[:4])}{'; ...' if len(close) > 4 else ''}."


def percent(e: Estimate, sign: str = "") -> str:
    """Return a share with half its interval, in per cent."""
    return f"{100 * e.mean:{sign}.1f} ± {100 * (e.high - e.mean):.1f}"


def points(e: Estimate, sign: str = "") -> str:
    """Return points with half their interval."""
    return f"{e.mean:{sign}.2f} ± {e.high - e.mean:.2f}"


def position_json(game: BatchGame, state: Any) -> str:
    """Return a position as the file that `stinglab advise` reads."""
    return json.dumps(game.to_dict(state), indent=1) + "\n"
