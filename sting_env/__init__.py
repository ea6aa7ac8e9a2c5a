"""Sting: a rummy with wilds and word cards, hidden hands, 2 to 6 players.

`StingGame` is the batch engine, `env` and `raw_env` the PettingZoo AEC environment, also by
`pettingzoo.make("aec", "sting-v0")`; `gymnasium.make("stinglab/Sting-v0", opponents=[...])` is one seat against others.
"""

from __future__ import annotations

from typing import Any

from sting_env.config import VARIANTS, StingConfig, variant
from sting_env.game import StingGame
from tabletop.adapters import register_environments

__all__ = ["VARIANTS", "StingConfig", "StingGame", "env", "make_game", "raw_env", "variant"]


def make_game(**options: Any) -> StingGame:
    """Return Sting with these options (see `StingConfig`)."""
    return StingGame(**options)


def raw_env(render_mode: str | None = None, render_observer: str = "current", **options: Any) -> Any:
    """Return the PettingZoo AEC environment without wrappers: `raw_env(num_players=3)`."""
    from tabletop.adapters import aec

    return aec.raw_env(make_game(**options), render_mode, render_observer)


def env(render_mode: str | None = None, render_observer: str = "current", **options: Any) -> Any:
    """Return the PettingZoo AEC environment with the usual wrappers: `env(num_players=3, render_mode="ansi")`."""
    from tabletop.adapters import aec

    return aec.env(make_game(**options), render_mode, render_observer)


register_environments("sting-v0", "stinglab/Sting-v0", __name__)
