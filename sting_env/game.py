"""StingGame: Sting behind the batch protocol of `tabletop.game`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any, ClassVar

import numpy as np

from sting_env import observation, rules, symmetry, text, worlds
from sting_env.config import MAX_PLAYERS, MIN_PLAYERS, StingConfig
from tabletop.game import Array, BatchGame, GameSpec, IllegalActionError, Kernels, Loops, PositionError

SPEC = GameSpec(
    name=text.GAME_ID,
    title="Sting",
    min_players=MIN_PLAYERS,
    max_players=MAX_PLAYERS,
    num_actions=rules.NUM_ACTIONS,
    phases=tuple(phase.name for phase in rules.Phase),
    state_dtype=rules.STATE,
    observation_dtype=observation.OBSERVATION,
    full_observation_dtype=observation.FULL_OBSERVATION,
    critic_fields=("hands", "undrawn", "next_card"),
    observation_fields=observation.FIELDS,
    unit_options=(("rounds", 1), ("target_score", None)),
)
KERNELS = Kernels(rules.deal, rules.apply, observation.observe, observation.observe_all, worlds.redeal)


class StingGame(BatchGame):
    """Sting for batches of positions; see `tabletop.game.BatchGame` for its methods.

    `StingGame(StingConfig(num_players=4))` or `StingGame(num_players=4)`.
    """

    spec: ClassVar[GameSpec] = SPEC
    loops: ClassVar[Loops] = Loops("sting", KERNELS)

    def __init__(self, config: StingConfig | None = None, **options: Any) -> None:
        if config is None:
            config = StingConfig.from_dict(options)
        elif options:
            config = StingConfig.from_dict(config.to_dict() | options)
        super().__init__(config)

    def check_num_players(self, count: int) -> None:
        """Raise ValueError if a lane can't have `count` players: too few, too many, or too few cards for the hands."""
        super().check_num_players(count)
        largest = StingConfig.largest_hand(count)
        if self.config.hand_size > largest:
            raise ValueError(f"hand_size must be at most {largest} with {count} players, not {self.config.hand_size}")

    def random_symmetries(self, observations: Array, rng: np.random.Generator) -> tuple[Array, Array]:
        """Return a random renaming of the colours and numbers of each observation; see `BatchGame.random_symmetries`."""
        return symmetry.random_symmetries(observations, not self.config.face_values, rng)

    def action_to_string(self, action: int) -> str:
        """Return an action in words."""
        return text.action_to_string(action)

    def string_to_action(self, text_: str) -> int:
        """Return the action written as `text_`; ValueError if there is none."""
        return text.string_to_action(text_)

    def to_dict(self, state: Any) -> dict[str, Any]:
        """Return one record as JSON-ready values, hidden cards and all."""
        return text.to_dict(self.config, state)

    def from_dict(self, position: Mapping[str, Any], key: int = 0) -> Array:
        """Return records [1] holding `position`; PositionError says what is impossible about it.

        The position's own config must be this game's, its number of players apart. `key` is the stream of later
        chance: reshuffles and deals.
        """
        stated = position.get("config", {}) if isinstance(position, Mapping) else {}
        try:
            config = StingConfig.from_dict(stated)
        except (TypeError, ValueError) as error:
            raise PositionError(f"'config': {error}") from error
        if asdict(config) | {"num_players": 0} != asdict(self.config) | {"num_players": 0}:
            raise PositionError(f"the position's config {config.to_dict()} is not this game's {self.config.to_dict()}")
        states = text.from_dict(self.config, position, key)
        count = int(states["num_players"][0])
        if stated.get("num_players", count) != count:
            raise PositionError(f"'config': num_players is {stated['num_players']}, but there are {count} hands (S1)")
        try:
            self.check_num_players(count)
        except ValueError as error:
            raise PositionError(f"'config': {error}") from error
        if states["play"][0] != rules.NOTHING:
            self._check_question(self.to_dict(states[0]))
        return states

    def _check_question(self, asked: Mapping[str, Any]) -> None:
        """Raise PositionError if no play leads to the question of a position: it is played again from its start."""
        before, answers = text.before_play(asked)
        states = text.from_dict(self.config, before, 0)
        action = self.string_to_action(asked["pending"]["play"])
        try:
            while True:
                self.step(states, [action])
                now = self.to_dict(states[0])
                if now == asked:
                    return
                action = answers[now["phase"]]
        except (IllegalActionError, KeyError):
            raise PositionError(f"no play leads to 'pending' {asked['pending']} in phase {asked['phase']}") from None

    def result(self, state: Any) -> dict[str, Any]:
        """Return the outcome of a game for a record: points so far and who wins (S33)."""
        n = int(state["num_players"])
        totals = [int(t) for t in state["totals"][:n]]
        over = int(state["current_player"]) < 0
        winners = [seat for seat in range(n) if totals[seat] == min(totals)] if over else []
        return {"totals": totals, "winners": winners}

    def to_text(self, state: Any, observer: int | None = None) -> str:
        """Return one record as a picture in text: what `observer` may see, or everything for None."""
        from sting_env import render

        return render.to_text(self.config, state, observer)

    def describe_action(self, state: Any, action: int, observer: int | None = None) -> str:
        """Return what the current player does by a legal action: `lays red 3-4-5 in front of player 2`."""
        from sting_env import render

        return render.describe_action(self.config, state, action, observer)

    def tell(self, before: Any, action: int, after: Any, observer: int | None = None) -> list[str]:
        """Return what `observer` should be told about an action, drawn cards and the end of a round too."""
        from sting_env import render

        return render.tell(self.config, before, action, after, observer)

    def hint(self, state: Any) -> str:
        """Return what the player to move needs to know of the rules."""
        from sting_env import render

        return render.hint(self.config, state)

    def in_colour(self, text: str) -> str:
        """Return a text with its cards in colour."""
        from sting_env import render

        return render.in_colour(text)


def game_of(position: Mapping[str, Any]) -> StingGame:
    """Return the game that a position (JSON) belongs to."""
    try:
        return StingGame(StingConfig.from_dict(position["config"]))
    except (KeyError, TypeError, ValueError) as error:
        raise PositionError(f"'config': {error}") from error


def legal_texts(game: StingGame, state: Array) -> list[str]:
    """Return the legal actions of records [1] in words."""
    return [text.ACTION_TEXTS[int(a)] for a in np.flatnonzero(game.legal_action_mask(state)[0])]
