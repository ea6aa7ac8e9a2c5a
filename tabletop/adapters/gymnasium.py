"""Gymnasium: one learner against chosen opponents, as an Env and, by the batch, as a VectorEnv.

Observations are int8 [D]; `info["action_mask"]` int8 [A] holds the legal actions, so that
`env.action_space.sample(info["action_mask"])` is one. An illegal action is an error and changes nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space

from tabletop import registry
from tabletop.adapters import made_opponents
from tabletop.game import Array, BatchGame
from tabletop.selfplay import LearnerSeats

MakeGame = Callable[..., BatchGame] | str


class SinglePlayerEnv(gymnasium.Env):
    """One seat of a game, the opponents moving inside.

    opponents, seat, num_players: as for `LearnerSeats`; opponents may be specs too ("rulebook", "checkpoint:PATH").
    reset(seed=s) begins the game that the batch engine has for seed s; reset() goes on to the next episode of that
    seed. Rewards are what the seat was paid since its last decision, whoever moved. `info` holds "action_mask" (all 0
    at the end), "seat", "num_players" and "opponents" (names by seat, None for the learner). `render` shows what the
    seat may see, as text: "ansi" returns it, "human" prints it.
    """

    metadata = {"render_modes": ["ansi", "human"], "render_fps": 2}  # noqa: RUF012

    def __init__(
        self,
        game: BatchGame,
        opponents: Any = None,
        seat: int | None = None,
        num_players: int | Sequence[int] | None = None,
        render_mode: str | None = None,
    ) -> None:
        if render_mode not in (None, *self.metadata["render_modes"]):
            raise ValueError(f"render_mode must be None, ansi or human, not {render_mode!r}")
        self.game = game
        self.render_mode = render_mode
        others = made_opponents(opponents, game)
        self.rows = LearnerSeats(game, 1, others, seat=seat, num_players=num_players, autoreset=False)
        self.observation_space = spaces.Box(-128, 127, (game.spec.observation_size,), np.int8)
        self.action_space = spaces.Discrete(game.num_actions)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Array, dict[str, Any]]:
        """Begin an episode; return observation and info."""
        super().reset(seed=seed)
        self.rows.reset(None if seed is None else [seed])
        self._show()
        return self.rows.observation[0], self._info()

    def step(self, action: Any) -> tuple[Array, float, bool, bool, dict[str, Any]]:
        """Carry out an action, let the others move, return observation, reward, terminated, truncated and info."""
        rows = self.rows
        rows.step([action])
        self._show()
        return rows.observation[0], float(rows.rewards[0]), bool(rows.done[0]), False, self._info()

    def action_masks(self) -> Array:
        """Return the legal actions, bool [A], as sb3-contrib asks for them."""
        return self.rows.mask[0]

    def render(self) -> str | None:
        """Return or print what the learner may see."""
        text = self.game.to_text(self.rows.states[0], int(self.rows.seats[0]))
        if self.render_mode == "ansi":
            return text
        if self.render_mode == "human":
            print(text)
        return None

    def _show(self) -> None:
        if self.render_mode == "human":
            self.render()

    def _info(self) -> dict[str, Any]:
        rows = self.rows
        return {
            "action_mask": rows.mask[0].astype(np.int8),
            "seat": int(rows.seats[0]),
            "num_players": int(rows.states["num_players"][0]),
            "opponents": rows.names(np.zeros(1, np.int64))[0],
        }


class SelfPlayVectorEnv(VectorEnv):
    """Games by the batch, a learner in one seat of each; the next episode begins in the step that ends one (SAME_STEP).

    opponents, seat, num_players: as for `SinglePlayerEnv`; the same seeds give the same games.

    Where an episode ended, `infos["final_obs"]` holds its last observation and `infos["final_info"]` its "seat",
    "num_players", "opponents", "length" (decisions) and "return" (payment in all). `infos["action_mask"]` int8 [B, A],
    "seat" and "num_players" [B] are of the decision to come. reset(seed=s) spreads s over the rows; a list gives each
    its own, the seed of a batch engine.
    """

    metadata = {"render_modes": [], "autoreset_mode": AutoresetMode.SAME_STEP}  # noqa: RUF012

    def __init__(
        self,
        game: BatchGame,
        num_envs: int = 1,
        opponents: Any = None,
        seat: int | None = None,
        num_players: int | Sequence[int] | None = None,
    ) -> None:
        self.game = game
        self.num_envs = num_envs
        others = made_opponents(opponents, game)
        self.rows = LearnerSeats(game, num_envs, others, seat=seat, num_players=num_players)
        self.single_observation_space = spaces.Box(-128, 127, (game.spec.observation_size,), np.int8)
        self.single_action_space = spaces.Discrete(game.num_actions)
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)

    def reset(
        self, *, seed: int | Sequence[int] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Array, dict[str, Any]]:
        """Begin an episode in every row; return observations int8 [B, D] and infos."""
        super().reset(seed=seed if isinstance(seed, int) else None)
        self.rows.reset(seed)
        return self.rows.observation, self._infos()

    def step(self, actions: Array) -> tuple[Array, Array, Array, Array, dict[str, Any]]:
        """Carry out an action in every row; return observations, rewards, terminations, truncations and infos."""
        rows = self.rows
        rows.step(actions)
        infos = self._infos()
        ended = rows.finished
        if ended is not None:
            last = np.full(self.num_envs, None, object)
            for i, row in enumerate(ended.lanes.tolist()):
                last[row] = ended.observation[i]
            names = np.empty(len(ended.lanes), object)
            names[:] = ended.opponents
            final = {
                "seat": ended.seats,
                "num_players": ended.num_players,
                "length": ended.lengths,
                "return": ended.returns,
                "opponents": names,
            }
            infos["final_obs"], infos["_final_obs"] = last, rows.done.copy()
            infos["final_info"], infos["_final_info"] = {}, rows.done.copy()
            for name, values in final.items():
                spread = np.zeros(self.num_envs, values.dtype) if values.dtype != object else np.full_like(last, None)
                spread[ended.lanes] = values
                infos["final_info"][name], infos["final_info"][f"_{name}"] = spread, rows.done.copy()
        return rows.observation, rows.rewards.astype(np.float64), rows.done, np.zeros(self.num_envs, np.bool_), infos

    def _infos(self) -> dict[str, Any]:
        rows = self.rows
        infos = {
            "action_mask": rows.mask.astype(np.int8),
            "seat": rows.seats.copy(),
            "num_players": rows.states["num_players"].astype(np.int64),
        }
        return infos | {f"_{name}": np.ones(self.num_envs, np.bool_) for name in infos}


# Making them by name --------------------------------------------------------------------------------------------------


def make_env(
    make_game: MakeGame,
    opponents: Any = None,
    seat: int | None = None,
    num_players: int | Sequence[int] | None = None,
    render_mode: str | None = None,
    **options: Any,
) -> SinglePlayerEnv:
    """Return the environment of a game with these options. make_game: a callable or "module:name"."""
    return SinglePlayerEnv(_game(make_game, num_players, options), opponents, seat, num_players, render_mode)


def make_vector_env(
    make_game: MakeGame,
    num_envs: int = 1,
    opponents: Any = None,
    seat: int | None = None,
    num_players: int | Sequence[int] | None = None,
    **options: Any,
) -> SelfPlayVectorEnv:
    """Return the vector environment of a game with these options. make_game: a callable or "module:name"."""
    return SelfPlayVectorEnv(_game(make_game, num_players, options), num_envs, opponents, seat, num_players)


def _game(make_game: MakeGame, num_players: int | Sequence[int] | None, options: dict[str, Any]) -> BatchGame:
    if isinstance(num_players, int):
        options = options | {"num_players": num_players}
    factory = registry.load(make_game) if isinstance(make_game, str) else make_game
    return factory(**options)


def register_game_env(env_id: str, make_game: MakeGame) -> None:
    """Make a game known to `gymnasium.make` and `gymnasium.make_vec(..., vectorization_mode="vector_entry_point")`.

    make_game: a callable, or "module:name" to be imported when the environment is made.
    """
    gymnasium.register(
        env_id,
        entry_point=f"{__name__}:make_env",
        vector_entry_point=f"{__name__}:make_vector_env",
        kwargs={"make_game": make_game},
    )
