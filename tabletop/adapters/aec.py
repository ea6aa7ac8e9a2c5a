"""PettingZoo: any game as an AEC environment over a batch of one.

`raw_env(game)` is bare and raises IllegalActionError; `env(game)` adds PettingZoo's usual wrappers, under which an
illegal action ends the game with -1 for whoever played it. `make_env_functions` makes both from a game's factory.
"""

from __future__ import annotations

import copy
import operator
from collections.abc import Callable
from typing import Any

import numpy as np
from gymnasium import spaces
from pettingzoo import AECEnv
from pettingzoo.utils.wrappers import (
    AssertOutOfBoundsWrapper,
    BaseWrapper,
    OrderEnforcingWrapper,
    TerminateIllegalWrapper,
)

from tabletop.game import Array, BatchGame, raw_bytes
from tabletop.selfplay import random_seed
from tabletop.state import NO_PLAYER
from tabletop.threads import shared_out

CURRENT, ALL = "current", "all"
RENDER_MODES = ("human", "ansi")
BUFFERS = ("_raw", "_observation", "_flat", "_mask", "_flags", "_reward", "_terminated", "_action", "_no_mask")


class AECGame(AECEnv):
    """A game for the agents `player_0`, `player_1`, ...; the same agent may act several times running.

    An observation is {"observation": int8 [D], "action_mask": int8 [A]}; the mask is all 0 for whoever is not on turn,
    and the same array lies in `infos[agent]["action_mask"]`. `rewards` are of the last step, for every agent, whoever
    moved. When the game is over all agents terminate together; `agents` empties as each makes its last step, of None.

    reset(seed=s) begins the game that the batch engine has for seed s; reset() goes on to the next episode of that
    seed, the first time of one from the system's entropy. reset(options={"position": ...}) begins with a position as
    `to_dict` writes it. `state()` is everything, hidden cards too, as int8.

    render_mode: "ansi" returns the picture, "human" prints it after every step. render_observer: whose eyes it is seen
    with, an agent, "current" for the one on turn, or "all" for open hands.
    """

    def __init__(self, game: BatchGame, render_mode: str | None = None, render_observer: str = CURRENT) -> None:
        super().__init__()
        self.game = game
        self.metadata = {
            "name": game.spec.name,
            "render_modes": list(RENDER_MODES),
            "render_fps": 2,
            "is_parallelizable": False,
        }
        if render_mode not in (None, *RENDER_MODES):
            raise ValueError(f"render_mode must be None, human or ansi, not {render_mode!r}")
        self.possible_agents = [f"player_{seat}" for seat in range(game.num_players)]
        if render_observer not in (CURRENT, ALL, *self.possible_agents):
            raise ValueError(f"render_observer must be {CURRENT}, {ALL} or an agent, not {render_observer!r}")
        self.render_mode = render_mode
        self.render_observer = render_observer
        size, actions = game.spec.observation_size, game.num_actions
        self.observation_spaces = {
            agent: spaces.Dict(
                {
                    "observation": spaces.Box(-128, 127, (size,), np.int8),
                    "action_mask": spaces.Box(0, 1, (actions,), np.int8),
                }
            )
            for agent in self.possible_agents
        }
        self.action_spaces = {agent: spaces.Discrete(actions) for agent in self.possible_agents}
        self.state_space = spaces.Box(-128, 127, (game.spec.full_observation_dtype.itemsize,), np.int8)
        self.agents: list[str] = []
        self.states = game.new_states(1)
        self._seats = {agent: seat for seat, agent in enumerate(self.possible_agents)}
        self._player = NO_PLAYER
        self._begun = False
        self._make_buffers()

    def _make_buffers(self) -> None:
        """Make what the engine writes into; all of it can be made again from `states`."""
        game = self.game
        observation = np.zeros(1, game.spec.observation_dtype)
        self._raw = raw_bytes(self.states)
        self._observation, self._flat = observation, raw_bytes(observation)
        self._mask = np.zeros((1, game.num_actions), np.int8)
        self._flags = self._mask.view(np.uint8)
        self._reward = np.zeros((1, game.spec.max_players), np.float32)
        self._terminated = np.zeros(1, np.bool_)
        self._action = np.zeros(1, np.int64)
        self._no_mask = np.zeros(game.num_actions, np.int8)
        self._no_mask.flags.writeable = False

    # The AEC interface ----------------------------------------------------------------------------------------------

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """Begin an episode: of `seed`, or the next one."""
        if seed is not None or not self._begun:
            number, episode = random_seed() if seed is None else operator.index(seed) & 0xFFFFFFFFFFFFFFFF, 0
        else:
            number, episode = int(self.states["seed"][0]), int(self.states["episode"][0]) + 1
        self.game.reset(self.states, np.array([number], np.uint64), episodes=episode)
        position = (options or {}).get("position")
        if position is not None:
            self._place(position)
        self._begun = True
        self.agents = list(self.possible_agents)
        self.rewards = dict.fromkeys(self.agents, 0.0)
        self._cumulative_rewards = dict.fromkeys(self.agents, 0.0)
        self.truncations = dict.fromkeys(self.agents, False)
        self.infos = {agent: {"action_mask": self._no_mask} for agent in self.agents}
        self._skip_agent_selection = None
        self.game.observe(self.states, out=self._observation)
        self.game.legal_action_mask(self.states, out=self._mask.view(np.bool_))
        self._select()
        self.terminations = dict.fromkeys(self.agents, self._player == NO_PLAYER)
        self._show()

    def _place(self, position: dict[str, Any]) -> None:
        """Put a position in the place of the deal, chance to come being that of the episode."""
        states = self.game.from_dict(position)
        if int(states["num_players"][0]) != len(self.possible_agents):
            raise ValueError(f"'position' must be of {len(self.possible_agents)} players: {position}")
        for name in ("seed", "rng_key", "episode"):
            states[name] = self.states[name]
        self.states[:] = states

    def step(self, action: Any) -> None:
        """Carry out an action of `agent_selection`; None when it has terminated."""
        agent = self.agent_selection
        if self.terminations[agent] or self.truncations[agent]:
            self._was_dead_step(action)
            return
        game, loops = self.game, self.game.loops
        self._action[0] = operator.index(action)
        illegal = shared_out(
            1,
            1,
            loops.advance,
            game.rules,
            self.states,
            self._raw,
            self._action,
            self._reward,
            self._terminated,
            self._flags,
            self._observation,
            self._flat,
            False,
        )
        if illegal >= 0:
            game.step(self.states, self._action)  # raises, and names the action
        totals = self._cumulative_rewards
        totals[agent] = 0.0
        for name, reward in zip(self.agents, self._reward[0].tolist()):
            self.rewards[name] = reward
            totals[name] += reward
        self.infos[agent] = {"action_mask": self._no_mask}
        if self._terminated[0]:
            self.terminations = dict.fromkeys(self.agents, True)
        self._select()
        self._show()

    def _select(self) -> None:
        """Give the turn, and the mask, to who is to decide; when it is over, the first agent makes its last step."""
        self._player = int(self.states["current_player"][0])
        self.agent_selection = self.possible_agents[max(self._player, 0)]
        if self._player != NO_PLAYER:
            self.infos[self.agent_selection] = {"action_mask": self._mask[0].copy()}

    def observe(self, agent: str) -> dict[str, Array]:
        """Return what an agent may know, and its mask."""
        info = self.infos.get(agent)
        mask = self._no_mask if info is None or self.terminations[agent] else info["action_mask"]
        if self._seats[agent] == self._player:
            return {"observation": self._flat[0].copy(), "action_mask": mask}
        return {"observation": raw_bytes(self.game.observe(self.states, self._seats[agent]))[0], "action_mask": mask}

    def state(self) -> Array:
        """Return everything, hidden cards too: int8."""
        return raw_bytes(self.game.observe_all(self.states))[0]

    def observation_space(self, agent: str) -> spaces.Space:
        """Return the space of an agent's observations."""
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> spaces.Space:
        """Return the space of an agent's actions."""
        return self.action_spaces[agent]

    def render(self) -> str | None:
        """Return ("ansi") or print ("human") the position, as `render_observer` sees it."""
        if self.render_mode is None:
            return None
        observer = None
        if self.render_observer != ALL:
            chosen = self.agent_selection if self.render_observer == CURRENT else self.render_observer
            observer = self._seats[chosen]
        text = self.game.to_text(self.states[0], observer)
        if self.render_mode == "ansi":
            return text
        print(text)
        return None

    def close(self) -> None:
        """Do nothing: there is nothing to close."""

    def _show(self) -> None:
        if self.render_mode == "human":
            self.render()

    # Copies ---------------------------------------------------------------------------------------------------------

    def clone(self) -> AECGame:
        """Return a copy in the middle of the game, exact and independent; the spaces are shared."""
        new = copy.copy(self)
        for name in ("rewards", "_cumulative_rewards", "terminations", "truncations", "infos"):
            if name in self.__dict__:
                setattr(new, name, dict(getattr(self, name)))
        new.agents = list(self.agents)
        return new

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name not in BUFFERS}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self.states = self.states.copy()
        self._make_buffers()
        if self._begun:
            self.game.observe(self.states, out=self._observation)
            self.game.legal_action_mask(self.states, out=self._mask.view(np.bool_))


def _bare(name: str) -> Any:
    """Return a property that reads an attribute of the bare environment."""
    return property(lambda self: getattr(self.bare, name))


class Direct(BaseWrapper):
    """A wrapper that reads what is read often from the bare environment at once.

    PettingZoo's own ask wrapper after wrapper, which took half of all the time of a step.
    """

    agents = _bare("agents")
    agent_selection = _bare("agent_selection")
    rewards = _bare("rewards")
    terminations = _bare("terminations")
    truncations = _bare("truncations")
    infos = _bare("infos")
    _cumulative_rewards = _bare("_cumulative_rewards")

    def __init__(self, env: AECEnv, *args: Any, **options: Any) -> None:
        super().__init__(env, *args, **options)
        self.bare = env.unwrapped


class IllegalEnds(Direct, TerminateIllegalWrapper):
    """PettingZoo's end of the game on an illegal action."""


class InBounds(Direct, AssertOutOfBoundsWrapper):
    """PettingZoo's check that an action is one of the space."""


def _after_reset(name: str) -> Any:
    """Return a property that reads an attribute of the bare environment, once it was reset."""

    def read(self: GameWrapper) -> Any:
        if not self._has_reset:
            raise AttributeError(f"{name} cannot be accessed before reset")
        return getattr(self.bare, name)

    return property(read)


class GameWrapper(Direct, OrderEnforcingWrapper):
    """PettingZoo's check of the order of calls, with `clone` for the whole stack of wrappers."""

    agents = _after_reset("agents")
    agent_selection = _after_reset("agent_selection")
    rewards = _after_reset("rewards")
    terminations = _after_reset("terminations")
    truncations = _after_reset("truncations")
    infos = _after_reset("infos")
    _cumulative_rewards = _after_reset("_cumulative_rewards")

    def clone(self) -> GameWrapper:
        """Return a copy in the middle of the game, wrappers and all."""
        copied: GameWrapper = clone_env(self)
        return copied

    def __str__(self) -> str:
        return str(self.env)


def clone_env(env: Any) -> Any:
    """Return an exact copy of an environment under whatever wrappers of PettingZoo's, faster than `copy.deepcopy`."""
    if not isinstance(env, BaseWrapper):
        return env.clone()
    new = copy.copy(env)
    new.env = clone_env(env.env)
    if isinstance(new, Direct):
        new.bare = new.env.unwrapped
    return new


# Making them ----------------------------------------------------------------------------------------------------------


def raw_env(game: BatchGame, render_mode: str | None = None, render_observer: str = CURRENT) -> AECGame:
    """Return the bare environment of a game."""
    return AECGame(game, render_mode, render_observer)


def env(game: BatchGame, render_mode: str | None = None, render_observer: str = CURRENT) -> GameWrapper:
    """Return the environment of a game under PettingZoo's usual wrappers."""
    return GameWrapper(InBounds(IllegalEnds(raw_env(game, render_mode, render_observer), illegal_reward=-1)))


def make_env_functions(make_game: Callable[..., BatchGame]) -> tuple[Callable[..., Any], Callable[..., Any]]:
    """Return `env` and `raw_env` of a game package, which take render_mode, render_observer and the game's options."""

    def make_env(render_mode: str | None = None, render_observer: str = CURRENT, **options: Any) -> GameWrapper:
        """Return the environment under PettingZoo's usual wrappers, with these options of the game."""
        return env(make_game(**options), render_mode, render_observer)

    def make_raw_env(render_mode: str | None = None, render_observer: str = CURRENT, **options: Any) -> AECGame:
        """Return the bare environment, with these options of the game."""
        return raw_env(make_game(**options), render_mode, render_observer)

    return make_env, make_raw_env
