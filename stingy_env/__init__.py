"""Stingy: swap groups of tiles and complete them, everything open but the pool, 2 to 6 players.

`StingyGame` is the batch engine, `env` and `raw_env` the PettingZoo AEC environment, also by
`pettingzoo.make("aec", "stingy-v0")`; `gymnasium.make("stinglab/Stingy-v0", opponents=[...])` is one seat against others.
"""

from __future__ import annotations

from typing import Any

from stingy_env.config import VARIANTS, StingyConfig, variant
from stingy_env.game import StingyGame
from tabletop.adapters import register_environments

__all__ = ["VARIANTS", "StingyConfig", "StingyGame", "env", "make_game", "raw_env", "variant"]


def make_game(**options: Any) -> StingyGame:
    """Return Stingy with these options (see `StingyConfig`)."""
    return StingyGame(**options)


def raw_env(render_mode: str | None = None, render_observer: str = "current", **options: Any) -> Any:
    """Return the PettingZoo AEC environment without wrappers: `raw_env(num_players=3)`."""
    from tabletop.adapters import aec

    return aec.raw_env(make_game(**options), render_mode, render_observer)


def env(render_mode: str | None = None, render_observer: str = "current", **options: Any) -> Any:
    """Return the PettingZoo AEC environment with the usual wrappers: `env(num_players=3, render_mode="ansi")`."""
    from tabletop.adapters import aec

    return aec.env(make_game(**options), render_mode, render_observer)


register_environments("stingy-v0", "stinglab/Stingy-v0", __name__)
