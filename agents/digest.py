"""What results hang on beside their settings, as one hash: kept results are good as long as it is the same."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from typing import Any

from agents.policy import PolicyAgent, PolicyNetwork
from agents.registry import bots_of
from tabletop.game import BatchGame
from tabletop.jit import source_digest


def digest(game: BatchGame, agents: Iterable[Any]) -> str:
    """Return the hash of the sources of a game's rules and compiled bots, and of the weights of networks among agents.

    The source of an agent written in Python is not in it.
    """
    modules = {kernel.__module__ for kernel in vars(game.loops.kernels).values()}
    modules |= {bots_of(game).choose.__module__, "tabletop.loops"}
    found = hashlib.sha256(source_digest(sorted(modules)).encode())
    for network in networks_of(agents):
        for name, array in sorted(network.weights.items()):
            found.update(name.encode())
            found.update(array.tobytes())
    return found.hexdigest()[:16]


def networks_of(agents: Iterable[Any]) -> Iterator[PolicyNetwork]:
    """Yield the networks that agents play by, those among them that searches ask: as prior, or to play on."""
    for agent in agents:
        if isinstance(agent, PolicyAgent):
            yield agent.network
        else:
            yield from networks_of(filter(None, (getattr(agent, name, None) for name in ("prior", "playout"))))
