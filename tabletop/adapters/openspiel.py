"""OpenSpiel: a position as the State that OpenSpiel's searches written in Python walk through.

    bot = ismcts.ISMCTSBot(game=None, evaluator=mcts.RandomRolloutEvaluator(1, random), uct_c=0.5, max_simulations=200,
                           random_state=random, use_observation_string=True)
    bot.set_resampler(resampler(seed=1))
    state = SpielState(game, seed=7)
    state.apply_action(bot.step(state))

It is none of OpenSpiel's registered games: algorithms in C++, and those that walk the whole tree, can't use it. Chance lies
in the position, so there are no chance nodes; a search must go on from what `resampler` deals, never from `clone`, which
knows the cards to come.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import SimpleNamespace
from typing import Any

import numpy as np
import pyspiel

from tabletop.game import Array, BatchGame, IllegalActionError, raw_bytes
from tabletop.seeding import WORLD, spread
from tabletop.state import NO_PLAYER


class SpielState:
    """A position of a game; `SpielState(game, seed=s)` is the deal that the batch engine has for seed s.

    OpenSpiel's names: players are 0, 1, ..., returns and rewards a float for each, an observation the int8 bytes of ours.
    states: records [1], to begin from a position; they are kept, not copied.
    """

    def __init__(self, game: BatchGame, seed: int = 0, states: Array | None = None) -> None:
        self.game = game
        if states is None:
            states = game.new_states(1)
            game.reset(states, np.array([seed], np.uint64))
        self.states = states

    def get_game(self) -> SpielGame:
        """Return what OpenSpiel asks a state's game for."""
        return SpielGame(self.game)

    def num_players(self) -> int:
        """Return the number of players."""
        return int(self.states["num_players"][0])

    def num_distinct_actions(self) -> int:
        """Return the number of actions."""
        return self.game.num_actions

    def current_player(self) -> int:
        """Return who is to decide, OpenSpiel's TERMINAL when the game is over."""
        player = int(self.states["current_player"][0])
        return int(pyspiel.PlayerId.TERMINAL) if player == NO_PLAYER else player

    def is_terminal(self) -> bool:
        """Tell whether the game is over."""
        return int(self.states["current_player"][0]) == NO_PLAYER

    def is_chance_node(self) -> bool:
        """Return False: chance is in the position."""
        return False

    def is_simultaneous_node(self) -> bool:
        """Return False."""
        return False

    def legal_actions(self, player: int | None = None) -> list[int]:
        """Return the legal actions of who is to decide, none for another player."""
        if player is not None and player != self.current_player():
            return []
        actions: list[int] = np.flatnonzero(self.game.legal_action_mask(self.states)[0]).tolist()
        return actions

    def legal_actions_mask(self, player: int | None = None) -> list[int]:
        """Return the mask of `legal_actions`."""
        mask = np.zeros(self.game.num_actions, np.int64)
        mask[self.legal_actions(player)] = 1
        return mask.tolist()

    def apply_action(self, action: int) -> None:
        """Carry out an action; IllegalActionError if it is not legal, and when the game is over."""
        if self.is_terminal():
            raise IllegalActionError("the game is over")
        self.game.step(self.states, [int(action)])

    def action_to_string(self, *arguments: int) -> str:
        """Return an action in words: of (action) or (player, action)."""
        return self.game.action_to_string(int(arguments[-1]))

    def rewards(self) -> list[float]:
        """Return what each player was paid in the last step."""
        return self._by_player(self.game.rewards(self.states))

    def returns(self) -> list[float]:
        """Return what each player has been paid in all."""
        return self._by_player(self.game.returns(self.states))

    def observation_tensor(self, player: int | None = None) -> Array:
        """Return what a player, by default the one to decide, may know: float32 [D]."""
        return self._observe(player).astype(np.float32)

    def observation_string(self, player: int | None = None) -> str:
        """Return the observation as a key: two positions with the same one have the same legal actions."""
        return self._observe(player).tobytes().hex()

    def resample_from_infostate(self, player: int, sampler: Callable[[], float]) -> SpielState:
        """Return a position that a player can't tell from this one, dealt by numbers in [0, 1) from `sampler`."""
        return self.resample(player, int(sampler() * 2**53))

    def resample(self, player: int, seed: int) -> SpielState:
        """Return a position that a player can't tell from this one, what is hidden dealt anew by a seed."""
        return SpielState(self.game, states=self.game.determinize(self.states, player, np.array([seed], np.uint64)))

    def clone(self) -> SpielState:
        """Return a copy, the cards to come included."""
        return SpielState(self.game, states=self.states.copy())

    def __str__(self) -> str:
        return self.game.to_text(self.states[0])

    def _observe(self, player: int | None) -> Array:
        return raw_bytes(self.game.observe(self.states, player))[0]

    def _by_player(self, values: Array) -> list[float]:
        paid: list[float] = values[0, : self.num_players()].tolist()
        return paid


class SpielGame:
    """What OpenSpiel's searches ask a game for."""

    def __init__(self, game: BatchGame) -> None:
        self.game = game

    def get_type(self) -> Any:
        """Return the kind of the game: players move one after another, some things are hidden."""
        kind = pyspiel.GameType
        return SimpleNamespace(
            short_name=self.game.spec.name,
            dynamics=kind.Dynamics.SEQUENTIAL,
            information=kind.Information.IMPERFECT_INFORMATION,
            chance_mode=kind.ChanceMode.SAMPLED_STOCHASTIC,
            utility=kind.Utility.ZERO_SUM,
        )

    def new_initial_state(self, seed: int = 0) -> SpielState:
        """Return the deal of a seed."""
        return SpielState(self.game, seed)

    def num_players(self) -> int:
        """Return the number of players."""
        return self.game.num_players

    def num_distinct_actions(self) -> int:
        """Return the number of actions."""
        return self.game.num_actions

    def observation_tensor_shape(self) -> Sequence[int]:
        """Return the shape of an observation."""
        return [self.game.spec.observation_size]


def resampler(seed: int) -> Callable[[SpielState, int], SpielState]:
    """Return a function for `ISMCTSBot.set_resampler` that deals one world after another, the same ones for a seed."""
    dealt = 0

    def resample(state: SpielState, player: int) -> SpielState:
        nonlocal dealt
        dealt += 1
        return state.resample(player, int(spread(seed, 1, WORLD, dealt)[0]))

    return resample
