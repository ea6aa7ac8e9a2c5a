"""RLlib: any game as a MultiAgentEnv, for the new API stack.

An observation is {"observations": int8 [D], "action_mask": int8 [A]}, the keys that RLlib's masking modules read. RLlib's
check of environments plays illegal actions, so it must be off:

    config = PPOConfig().environment(GameEnv, env_config={"game": "sting-v0", "options": {"num_players": 3}},
                                     disable_env_checking=True)

`training.rllib` has a module that masks, and trains. Its sum of all agents' returns, which RLlib calls
`episode_return_mean`, is 0 for ever: these games are zero-sum.
"""

from __future__ import annotations

from typing import Any

from gymnasium import spaces
from ray.rllib.env.multi_agent_env import MultiAgentEnv

from tabletop import registry
from tabletop.adapters.aec import AECGame
from tabletop.game import BatchGame
from tabletop.seeding import spread


class GameEnv(MultiAgentEnv):
    """A game for the agents `player_0`, `player_1`, ...; only the one on turn is observed, and acts.

    config: "game", an id of `tabletop.registry` or a BatchGame; "options" of the game, if it is an id; "render_mode", None
    or "ansi". Every step rewards every agent, whoever moved, and rewards sum to zero. When the game is over all agents
    terminate together, each with a last observation and an empty mask.

    reset(seed=s) begins the game that the batch engine has for seed s; reset() goes on to the next episode of that seed.
    In RLlib's remote workers s is changed by the worker's number first, since RLlib seeds the environments of one worker as
    it does some of the next.
    """

    def __init__(self, config: dict[str, Any]) -> None:
        super().__init__()
        game = config["game"]
        if not isinstance(game, BatchGame):
            game = registry.make(game, **config.get("options", {}))
        self.game = game
        self.aec = AECGame(game, config.get("render_mode"))
        self.worker = int(getattr(config, "worker_index", 0) or 0)
        self.possible_agents = self.aec.possible_agents
        self.agents = list(self.possible_agents)
        self.observation_spaces = {
            agent: spaces.Dict({"observations": space["observation"], "action_mask": space["action_mask"]})
            for agent, space in self.aec.observation_spaces.items()
        }
        self.action_spaces = self.aec.action_spaces

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        """Begin an episode; return the observation of the agent on turn, and its info."""
        if seed is not None and self.worker:
            seed = int(spread(seed, 1, first=self.worker)[0])
        self.aec.reset(seed, options)
        self.agents = list(self.possible_agents)
        agent = self.aec.agent_selection
        return {agent: self._observe(agent)}, {agent: {}}

    def step(self, action_dict: dict[str, Any]) -> tuple[dict[str, Any], ...]:
        """Carry out the action of the agent on turn; return observations, rewards, terminations, truncations and infos.

        IllegalActionError for an illegal action; ValueError if any other agent acts.
        """
        aec = self.aec
        if set(action_dict) != {aec.agent_selection}:
            raise ValueError(f"{aec.agent_selection} is to act, not {', '.join(action_dict) or 'nobody'}")
        aec.step(action_dict[aec.agent_selection])
        over = all(aec.terminations.values())
        seen = self.possible_agents if over else [aec.agent_selection]
        self.agents = [] if over else self.agents
        return (
            {agent: self._observe(agent) for agent in seen},
            dict(aec.rewards),
            {"__all__": over} | (dict.fromkeys(seen, True) if over else {}),
            {"__all__": False},
            {agent: {} for agent in seen},
        )

    def render(self) -> Any:
        """Return the position as text, with render_mode "ansi"."""
        return self.aec.render()

    def _observe(self, agent: str) -> dict[str, Any]:
        seen = self.aec.observe(agent)
        return {"observations": seen["observation"], "action_mask": seen["action_mask"]}
