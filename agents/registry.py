"""Agents by name: `make_agent("sting:rulebook:draw=hint", game)`.

A spec reads `[game:]name[:key=value,...]`: `greedy`, `sting:greedy`, `rulebook:draw=<=4`, `checkpoint:PATH`. Its game, if
named, must be the one played. A game's compiled bots register themselves (`register`) when the module `agents.<game>_bots`
is imported, which happens when the game's agents are first asked for; a game from elsewhere registers its own. Whatever
else goes by a name is registered with `register_maker`. Trained networks, `checkpoint:PATH`, are loaded by
`agents.policy`, which is imported only then.
"""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Callable
from typing import Any

from agents.base import Agent, Bots
from tabletop.game import BatchGame

Maker = Callable[[BatchGame, dict[str, str]], Agent]

_bots: dict[str, Bots] = {}
_makers: dict[tuple[str, str], tuple[Maker, str]] = {}
CHECKPOINT = "checkpoint"


def family(game_id: str) -> str:
    """Return a game's short name: `sting` for `sting-v0`."""
    return game_id.rpartition("-v")[0] or game_id


def register(bots: Bots) -> Bots:
    """Make a game's compiled bots known; a second registration takes the place of the first."""
    _bots[bots.game] = bots
    return bots


def register_maker(game_id: str, name: str, maker: Maker, meaning: str = "") -> None:
    """Make one more agent of a game known: `maker(game, options)` returns it, `options` as written in the spec."""
    _makers[game_id, name] = (maker, meaning)


def bots_of(game: BatchGame | str) -> Bots:
    """Return the compiled bots of a game; LookupError if it has none."""
    game_id = game if isinstance(game, str) else game.spec.name
    if game_id not in _bots:
        module = f"agents.{family(game_id)}_bots"
        if importlib.util.find_spec(module) is not None:
            importlib.import_module(module)
    if game_id not in _bots:
        raise LookupError(f"{game_id} has no bots: agents.registry.register(Bots(...)) makes them known")
    return _bots[game_id]


def list_agents(game: BatchGame | str) -> dict[str, str]:
    """Return the names that `make_agent` knows for a game, and what each is."""
    game_id = game if isinstance(game, str) else game.spec.name
    found = {}
    try:
        bots = bots_of(game_id)
        found = {name: bots.meanings[i] if i < len(bots.meanings) else "" for i, name in enumerate(bots.names)}
    except LookupError:
        pass
    found |= {name: meaning for (owner, name), (_, meaning) in _makers.items() if owner == game_id}
    found[f"{CHECKPOINT}:PATH"] = "a trained network"
    return found


def make_agent(spec: str, game: BatchGame) -> Agent:
    """Return the agent that `spec` names for `game`; ValueError says what is wrong and what there is."""
    name, rest = split_spec(spec, game)
    if name == CHECKPOINT:
        if not rest:
            raise ValueError(f"{spec!r} names no file: write {CHECKPOINT}:PATH")
        return load_checkpoint(rest, game)
    options = read_pairs(spec, rest)
    try:
        bots = bots_of(game)
    except LookupError:
        bots = None
    if (game.spec.name, name) in _makers:
        return _makers[game.spec.name, name][0](game, options)
    if bots is None or name not in bots.names:
        known = ", ".join(list_agents(game))
        raise ValueError(f"no agent {name!r} for {game.spec.title} in {spec!r}; agents are: {known}")
    try:
        return bots.make(name, options)
    except ValueError as error:
        raise ValueError(f"{spec!r}: {error}") from None


def split_spec(spec: str, game: BatchGame) -> tuple[str, str]:
    """Return the name in a spec and what follows it; ValueError if it names another game."""
    head, _, rest = spec.strip().partition(":")
    if head in (game.spec.name, family(game.spec.name)):
        head, _, rest = rest.partition(":")
    elif rest and head != CHECKPOINT and head not in list_agents(game) and "=" not in rest.partition(":")[0]:
        raise ValueError(
            f"{spec!r} is an agent for {head!r}, and {game.spec.title} is played; "
            f"its agents are: {', '.join(list_agents(game))}"
        )
    if not head:
        raise ValueError(f"{spec!r} names no agent; {game.spec.title} has: {', '.join(list_agents(game))}")
    return head, rest


def read_pairs(spec: str, text: str) -> dict[str, str]:
    """Return the options `key=value,...` of a spec."""
    pairs: dict[str, str] = {}
    for part in filter(None, text.split(",")):
        key, equals, value = part.partition("=")
        if not equals or not key or not value:
            raise ValueError(f"{spec!r}: an option is written key=value, not {part!r}")
        if key in pairs:
            raise ValueError(f"{spec!r}: option {key!r} is given twice")
        pairs[key] = value
    return pairs


def load_checkpoint(path: str, game: BatchGame) -> Any:
    """Load a trained network as an agent."""
    if importlib.util.find_spec("agents.policy") is None:
        raise ValueError("trained networks can't be loaded: there is no agents.policy")
    return importlib.import_module("agents.policy").load(path, game)
