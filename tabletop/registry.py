"""Games by name: `make("sting-v0", num_players=4)`.

A package offers its games through the entry point group `stinglab.games`, in its pyproject.toml

    [project.entry-points."stinglab.games"]
    sting-v0 = "sting_env:make_game"

or registers them itself. Nothing is imported before it is made.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from functools import cache
from importlib.metadata import entry_points
from typing import Any

from tabletop.game import BatchGame

GROUP = "stinglab.games"
Factory = Callable[..., BatchGame]


class UnknownGameError(LookupError):
    """A name that no game is registered by."""

    def __str__(self) -> str:
        return str(self.args[0])


_factories: dict[str, Factory | str] = {}
_packages: dict[str, str] = {}


def register(name: str, factory: Factory | str, package: str = "") -> None:
    """Register a game by its name: `factory(**options)` makes it.

    factory: a callable, or "module:name" to be imported when first asked for. package: name and version of what it
    comes in, for game records. Goes before an entry point of that name. ValueError if another factory has the name.
    """
    if _factories.get(name, factory) != factory:
        raise ValueError(f"the name {name!r} is taken by {_factories[name]!r}")
    _factories[name] = factory
    _packages[name] = package or _packages.get(name, "")


def names() -> list[str]:
    """Return the names of all games, sorted."""
    return sorted({*_factories, *_installed()})


def make(name: str, **options: Any) -> BatchGame:
    """Return the game of this name with these options; UnknownGameError lists the names there are."""
    factory = _factories.get(name)
    if factory is None:
        if name not in _installed():
            raise UnknownGameError(f"no game is called {name!r}; games are: {', '.join(names()) or 'none'}")
        factory = _installed()[name][0]
    if isinstance(factory, str):
        factory = load(factory)
    return factory(**options)


def package_of(name: str) -> str:
    """Return name and version of the package that a game comes in, "" if it does not say."""
    return _packages.get(name) or _installed().get(name, ("", ""))[1]


def load(target: str) -> Factory:
    """Return what "module:name" names."""
    module, _, attribute = target.partition(":")
    found: Factory = getattr(importlib.import_module(module), attribute)
    return found


@cache
def _installed() -> dict[str, tuple[str, str]]:
    """Return target and package of every game that an installed package offers."""
    return {
        point.name: (point.value, f"{point.dist.name} {point.dist.version}" if point.dist else "")
        for point in entry_points(group=GROUP)
    }
