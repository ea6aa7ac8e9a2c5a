"""Adapters: a game behind the interfaces of other libraries. Each imports its library, and nobody imports them."""

from __future__ import annotations


def register_environments(aec_id: str, gymnasium_id: str, package: str) -> None:
    """Make a game known to PettingZoo (from 1.27 on) and Gymnasium, by the `env` and `make_game` of its package.

    The environments are imported when they are made.
    """
    import pettingzoo

    if hasattr(pettingzoo, "register"):
        pettingzoo.register("aec", aec_id, f"{package}:env")
    from tabletop.adapters.gymnasium import register_game_env

    register_game_env(gymnasium_id, f"{package}:make_game")
