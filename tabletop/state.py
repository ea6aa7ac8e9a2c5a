"""The dtypes of states and observations, and the fields that every game's state has."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tabletop.bits import num_words

NO_PLAYER = -1


def state_dtype(num_actions: int, max_players: int, fields: Sequence[tuple[Any, ...]]) -> np.dtype[Any]:
    """Return the record dtype of a game: the fields every game has, then its own.

    Elements are `np.record`, so that `states[b].phase` reads the same in and out of compiled code. ValueError for a field
    named like a method of theirs, which an interpreted run would read instead.
    """
    check_names(str(field[0]) for field in fields)
    common: list[Any] = [
        ("seed", "u8"),  # the lane's seed; streams of all its episodes derive from it
        ("rng_key", "u8"),  # key of this episode's stream (seeding.derive)
        ("legal", "u8", (num_words(num_actions),)),  # legal actions of the current player, as bits
        ("episode", "u4"),  # how many episodes this lane has begun, less one
        ("decision", "u4"),  # decisions made in this episode
        ("rewards", "f4", (max_players,)),  # of the last step
        ("returns", "f4", (max_players,)),  # summed over the episode
        ("current_player", "i1"),  # who decides; NO_PLAYER when over
        ("phase", "i1"),  # the game's Phase
        ("num_players", "i1"),  # of this lane
    ]
    return np.dtype((np.record, np.dtype([*common, *fields], align=True)))


def check_names(names: Iterable[str]) -> None:
    """Raise ValueError for a field that `np.record` has a method of the same name for."""
    taken = [name for name in names if hasattr(np.record, name)]
    if taken:
        raise ValueError(f"a field can't be called {', '.join(taken)}: numpy's records have methods of that name")


def observation_dtype(fields: Sequence[tuple[str, tuple[int, ...]]]) -> np.dtype[Any]:
    """Return a dtype of int8 fields without padding, so that a view as int8 is the flat vector."""
    check_names(name for name, _ in fields)
    rows: list[Any] = [(name, "i1", shape) if shape else (name, "i1") for name, shape in fields]
    return np.dtype((np.record, np.dtype(rows)))


def field_slices(dtype: np.dtype[Any]) -> dict[str, slice]:
    """Return where each field of an observation lies in its flat vector."""
    fields: Mapping[str, Any] = dtype.fields or {}
    return {name: slice(offset, offset + part.itemsize) for name, (part, offset, *_) in fields.items()}


@dataclass(frozen=True)
class ObservationField:
    """One field of an observation: its meaning for people, and what a network should know about it.

    scale: what to divide by so that values are about 1. row_actions: for a field of rows that stand for things in no
    order that matters (piles), the first action of a section with one action for each row, -1 if there is none; None
    for any other field. A row without a thing is all zero.
    """

    name: str
    shape: tuple[int, ...]
    meaning: str
    public: bool = True
    scale: float = 1.0
    row_actions: int | None = None
