"""Adapters: a game behind the interfaces of other libraries. Each imports its library, and nobody imports them."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.metadata import entry_points
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tabletop.game import BatchGame

AGENTS = "stinglab.agents"  # the group of entry points that make agents: make_agent(spec, game)


def register_environments(aec_id: str, gymnasium_id: str, package: str) -> None:
    """Make a game known to PettingZoo (from 1.27 on) and Gymnasium, by the `env` and `make_game` of its package.

    The environments are imported when they are made.
    """
    import pettingzoo

    if hasattr(pettingzoo, "register"):
        pettingzoo.register("aec", aec_id, f"{package}:env")
    from tabletop.adapters.gymnasium import register_game_env

    register_game_env(gymnasium_id, f"{package}:make_game")


def made_opponents(opponents: Any, game: BatchGame) -> Any:
    """Return opponents as `LearnerSeats` takes them, those named by a spec ("rulebook", "checkpoint:PATH") made.

    opponents: one or a sequence, of agents or specs, or a pool, or None. A spec is made by the function that the entry
    point `make_agent` of the group `stinglab.agents` names; LookupError if there is none, ValueError for a wrong spec.
    """
    if isinstance(opponents, str):
        return _make_agent(opponents, game)
    if isinstance(opponents, Sequence):
        return [_make_agent(one, game) if isinstance(one, str) else one for one in opponents]
    return opponents


def _make_agent(spec: str, game: BatchGame) -> Any:
    found = entry_points(group=AGENTS, name="make_agent")
    if not found:
        raise LookupError(f"no agents are installed that could be made from {spec!r}: pip install stinglab (again)")
    return next(iter(found)).load()(spec, game)
