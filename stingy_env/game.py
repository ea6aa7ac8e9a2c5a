"""StingyGame: Stingy behind the batch protocol of `tabletop.game`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np

from stingy_env import observation, rules, symmetry, text
from stingy_env.config import MAX_PLAYERS, MIN_PLAYERS, StingyConfig
from tabletop.game import Array, BatchGame, GameSpec, Kernels, Loops, PositionError

SPEC = GameSpec(
    name=text.GAME_ID,
    title="Stingy",
    min_players=MIN_PLAYERS,
    max_players=MAX_PLAYERS,
    num_actions=rules.NUM_ACTIONS,
    phases=tuple(phase.name for phase in rules.Phase),
    state_dtype=rules.STATE,
    observation_dtype=observation.OBSERVATION,
    full_observation_dtype=observation.FULL_OBSERVATION,
    critic_fields=("stack_height", "next_tiles"),
    observation_fields=observation.FIELDS,
)
KERNELS = Kernels(rules.deal, rules.apply, observation.observe, observation.observe_all, rules.redeal)


class StingyGame(BatchGame):
    """Stingy for batches of positions; see `tabletop.game.BatchGame` for its methods.

    `StingyGame(StingyConfig(num_players=4))` or `StingyGame(num_players=4)`.
    """

    spec: ClassVar[GameSpec] = SPEC
    loops: ClassVar[Loops] = Loops("stingy", KERNELS)

    def __init__(self, config: StingyConfig | None = None, **options: Any) -> None:
        if config is None:
            config = StingyConfig.from_dict(options)
        elif options:
            config = StingyConfig.from_dict(config.to_dict() | options)
        super().__init__(config)

    def random_symmetries(self, observations: Array, rng: np.random.Generator) -> tuple[Array, Array]:
        """Return a random renaming of the kinds of each observation; see `BatchGame.random_symmetries`."""
        return symmetry.random_symmetries(observations, self.config.colour_scoring, rng)

    def action_to_string(self, action: int) -> str:
        """Return an action in words."""
        return text.action_to_string(action)

    def string_to_action(self, text_: str) -> int:
        """Return the action written as `text_`; ValueError if there is none."""
        return text.string_to_action(text_)

    def to_dict(self, state: Any) -> dict[str, Any]:
        """Return one record as JSON-ready values, the order of the pool and all."""
        return text.to_dict(self.config, state)

    def from_dict(self, position: Mapping[str, Any], key: int = 0) -> Array:
        """Return records [1] holding `position`; PositionError says what is impossible about it.

        The position's own config must be this game's, its number of players apart. Decisions with one legal action are
        made at once. `key` is the stream of later chance; the rules need none once the pool is laid.
        """
        stated = position.get("config", {}) if isinstance(position, Mapping) else {}
        try:
            config = StingyConfig.from_dict(stated)
        except (AttributeError, TypeError, ValueError) as error:
            raise PositionError(f"'config': {error}") from error
        if replace(config, num_players=self.num_players) != self.config:
            raise PositionError(f"the position's config {config.to_dict()} is not this game's {self.config.to_dict()}")
        return text.from_dict(config, position, key)

    def result(self, state: Any) -> dict[str, Any]:
        """Return the outcome of a game for a record: points so far, and who wins when it is over (G18)."""
        n = int(state["num_players"])
        won = int(state["winners"])
        return {"scores": [int(t) for t in state["scores"][:n]], "winners": [p for p in range(n) if (won >> p) & 1]}

    def to_text(self, state: Any, observer: int | None = None) -> str:
        """Return one record as a picture in text: what `observer` may see, or everything for None."""
        from stingy_env import render

        return render.to_text(self.config, state, observer)

    def describe_action(self, state: Any, action: int, observer: int | None = None) -> str:
        """Return what the current player does by a legal action: `demands 2 green coins (worth 3) from player 2`."""
        from stingy_env import render

        return render.describe_action(self.config, state, action, observer)

    def tell(self, before: Any, action: int, after: Any, observer: int | None = None) -> list[str]:
        """Return what `observer` should be told about an action, tiles drawn and kinds completed too."""
        from stingy_env import render

        return render.tell(self.config, before, action, after, observer)

    def hint(self, state: Any) -> str:
        """Return what the player to move needs to know of the rules."""
        from stingy_env import render

        return render.hint(self.config, state)

    def in_colour(self, text: str) -> str:
        """Return a text with its tiles in colour."""
        from stingy_env import render

        return render.in_colour(text)


def game_of(position: Mapping[str, Any]) -> StingyGame:
    """Return the game that a position (JSON) belongs to."""
    try:
        return StingyGame(StingyConfig.from_dict(position["config"]))
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise PositionError(f"'config': {error}") from error


def legal_texts(game: StingyGame, state: Array) -> list[str]:
    """Return the legal actions of records [1] in words."""
    return [text.ACTION_TEXTS[int(a)] for a in np.flatnonzero(game.legal_action_mask(state)[0])]
