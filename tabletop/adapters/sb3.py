"""Stable-Baselines3: a native VecEnv, for MaskablePPO of sb3-contrib and its kin.

A row is one seat's stream; the opponents move inside `step_wait` (see `tabletop.selfplay.LearnerSeats`). Masks come by
`env_method("action_masks")`, as sb3-contrib asks for them. Train with gamma=1: payment comes at the end, and a discount
would make turns of many decisions look worse than they are.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from gymnasium import spaces
from stable_baselines3.common.vec_env import VecEnv

from tabletop.adapters import made_opponents
from tabletop.game import Array, BatchGame
from tabletop.selfplay import LearnerSeats, random_seed


class SelfPlayVecEnv(VecEnv):
    """Games by the batch, a learner in one seat of each.

    opponents, seat, num_players: as for `LearnerSeats`; opponents may be specs too ("rulebook", "checkpoint:PATH").
    seed: of the run, None for one from the system's entropy; the games that follow depend on nothing but the run's
    seed, the row and the number of the episode. `reset` goes on to the next episodes unless `seed` was called before it.

    Rewards are what the learner's seat was paid since its last decision, whoever moved. Where an episode ended, the
    info holds "terminal_observation", "episode" {"r", "l"} (payment in all, decisions), "seat", "num_players" and
    "opponents" (names by seat, None for the learner); all other rows share one empty info.
    """

    render_mode: str | None = None

    def __init__(
        self,
        game: BatchGame,
        num_envs: int,
        opponents: Any = None,
        seat: int | None = None,
        seed: int | None = None,
        num_players: int | Sequence[int] | None = None,
    ) -> None:
        others = made_opponents(opponents, game)
        self.rows = LearnerSeats(game, num_envs, others, seat=seat, num_players=num_players)
        self.game = game
        super().__init__(
            num_envs,
            spaces.Box(-128, 127, (game.spec.observation_size,), np.int8),
            spaces.Discrete(game.num_actions),
        )
        self._seed = seed
        self._actions: Array = np.zeros(num_envs, np.int64)
        self._no_info: dict[str, Any] = {}

    # What sb3-contrib and training ask for --------------------------------------------------------------------------

    def action_masks(self) -> Array:
        """Return the legal actions of every row: bool [B, A], at least one each."""
        return self.rows.mask

    def set_opponents(self, opponents: Any) -> None:
        """Draw opponents from elsewhere from now on; episodes that have begun keep theirs."""
        self.rows.set_opponents(made_opponents(opponents, self.game))

    def set_weights(self, weights: Any) -> None:
        """Set the weights of the pool of opponents, for the episodes that are yet to begin."""
        self.rows.pool.set_weights(weights)

    # VecEnv ---------------------------------------------------------------------------------------------------------

    def reset(self) -> Array:
        """Begin an episode in every row; return observations int8 [B, D]."""
        self.rows.reset(self._seed)
        self._seed = None
        self.reset_infos = [self._no_info] * self.num_envs
        self._reset_seeds()
        self._reset_options()
        return self.rows.observation

    def step_async(self, actions: Array) -> None:
        """Keep the actions for `step_wait`."""
        self._actions = actions

    def step_wait(self) -> tuple[Array, Array, Array, list[dict[str, Any]]]:
        """Carry out the actions; return observations int8 [B, D], rewards float32 [B], dones bool [B] and infos."""
        rows = self.rows
        rows.step(self._actions)
        infos = [self._no_info] * self.num_envs
        ended = rows.finished
        if ended is not None:
            returns, lengths = ended.returns.tolist(), ended.lengths.tolist()
            seats, num_players = ended.seats.tolist(), ended.num_players.tolist()
            for i, row in enumerate(ended.lanes.tolist()):
                infos[row] = {
                    "terminal_observation": ended.observation[i],
                    "episode": {"r": returns[i], "l": lengths[i]},
                    "seat": seats[i],
                    "num_players": num_players[i],
                    "opponents": ended.opponents[i],
                }
        return rows.observation, rows.rewards, rows.done, infos

    def seed(self, seed: int | None = None) -> Sequence[int | None]:
        """Set the seed of the run, from the next `reset` on; None draws one."""
        self._seed = random_seed() if seed is None else int(seed)
        self._seeds = [self._seed] * self.num_envs
        return self._seeds

    def close(self) -> None:
        """Do nothing: there is nothing to close."""

    def has_attr(self, attr_name: str) -> bool:
        """Tell whether rows have an attribute; "action_masks" tells sb3-contrib that they mask."""
        return hasattr(self, attr_name)

    def get_attr(self, attr_name: str, indices: Any = None) -> list[Any]:
        """Return an attribute, the same for each of the rows."""
        value = getattr(self, attr_name)
        return [value for _ in self._indices(indices)]

    def set_attr(self, attr_name: str, value: Any, indices: Any = None) -> None:
        """Set an attribute of all rows at once: they have none of their own."""
        if len(self._indices(indices)) != self.num_envs:
            raise ValueError(f"rows share their attributes: set {attr_name!r} for all of them")
        setattr(self, attr_name, value)

    def env_method(self, method_name: str, *method_args: Any, indices: Any = None, **method_kwargs: Any) -> Any:
        """Return the masks of the rows for "action_masks"; no other method is a row's."""
        if method_name != "action_masks":
            raise AttributeError(f"rows have no method {method_name!r}, only 'action_masks'")
        return self.action_masks() if indices is None else self.action_masks()[self._indices(indices)]

    def env_is_wrapped(self, wrapper_class: type, indices: Any = None) -> list[bool]:
        """Return False for each of the rows."""
        return [False for _ in self._indices(indices)]

    def _indices(self, indices: Any) -> Array:
        """Return row numbers."""
        return np.arange(self.num_envs) if indices is None else np.atleast_1d(np.asarray(indices))
