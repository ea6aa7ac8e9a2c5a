"""The games as RLlib's MultiAgentEnv: `make test-rllib` runs this where Ray is installed."""

import numpy as np
import pytest

pytest.importorskip("ray.rllib", reason="RLlib has an environment of its own: make test-rllib")

from ray.rllib.env.env_context import EnvContext
from ray.rllib.env.multi_agent_episode import MultiAgentEpisode

from tabletop.adapters.rllib import GameEnv
from tabletop.game import IllegalActionError
from tests.tabletop.games import same_states, small_game
from tests.tabletop.streams import GAMES, played_out, uniform_actions


def play(env, seed=None):
    """Play an episode uniformly, checking what must hold; yield agent, observation, action, step's answer."""
    observations, infos = env.reset(seed=seed)
    while True:
        (agent,) = observations
        assert infos == {agent: {}}
        seen = observations[agent]
        assert env.get_observation_space(agent).contains(seen)
        assert seen["action_mask"].any()
        action = int(uniform_actions(env.game, env.aec.states)[0])
        assert seen["action_mask"][action]
        answer = env.step({agent: action})
        yield agent, seen, action, answer
        observations, _, terminateds, _, infos = answer
        if terminateds["__all__"]:
            return


@pytest.mark.parametrize(("name", "num_players"), GAMES)
def test_a_seed_is_the_engines_and_rewards_sum_to_zero(name, num_players):
    game = small_game(name, num_players)
    env = GameEnv({"game": game})
    for seed in range(3):
        paid = dict.fromkeys(env.possible_agents, 0.0)
        for _, _, _, answer in play(env, seed):
            observations, rewards, terminateds, truncateds, _ = answer
            assert sum(rewards.values()) == pytest.approx(0, abs=1e-5)
            assert truncateds == {"__all__": False}
            for agent in env.possible_agents:
                paid[agent] += rewards[agent]
        end = played_out(game, np.array([seed], np.uint64))
        assert same_states(env.aec.states, end, but="rewards")
        assert list(paid.values()) == pytest.approx(end["returns"][0, :num_players].tolist(), abs=1e-5)
        assert set(observations) == set(env.possible_agents) == set(terminateds) - {"__all__"}
        assert all(terminateds.values())
        assert not any(seen["action_mask"].any() for seen in observations.values())
        assert env.agents == []


def test_reset_goes_on_and_workers_have_deals_of_their_own():
    env = GameEnv({"game": "sting-v0", "options": {"num_players": 2, "rounds": 1}})
    env.reset(seed=7)
    env.reset()
    assert (env.aec.states["seed"][0], env.aec.states["episode"][0]) == (7, 1)
    seeds = set()
    for worker in range(4):
        worker_env = GameEnv(EnvContext({"game": "sting-v0"}, worker_index=worker))
        for seed in range(worker, worker + 4):  # as RLlib seeds the environments of a worker
            worker_env.reset(seed=seed)
            seeds.add(int(worker_env.aec.states["seed"][0]))
    assert len(seeds) == 16


def test_wrong_actions_are_errors():
    env = GameEnv({"game": "sting-v0"})
    observations, _ = env.reset(seed=1)
    (agent,) = observations
    with pytest.raises(IllegalActionError):
        env.step({agent: int(observations[agent]["action_mask"].argmin())})
    with pytest.raises(ValueError, match="is to act, not nobody"):
        env.step({})


@pytest.mark.parametrize(("name", "num_players"), [("high-card", 4), ("sting", 3), ("stingy", 2)])
def test_rllibs_episodes_credit_every_agent_with_its_payoff(name, num_players):
    env = GameEnv({"game": small_game(name, num_players)})
    episode = MultiAgentEpisode(
        observation_space=env.observation_spaces,
        action_space=env.action_spaces,
        agent_to_module_mapping_fn=lambda agent, episode, **_: "main",
    )
    first = True
    for agent, seen, action, (observations, rewards, terminateds, truncateds, infos) in play(env, 5):
        if first:
            episode.add_env_reset(observations={agent: seen}, infos={agent: {}})
            first = False
        episode.add_env_step(
            observations=observations,
            actions={agent: action},
            rewards=rewards,
            infos=infos,
            terminateds=terminateds,
            truncateds=truncateds,
        )
    returns = env.aec.states["returns"][0]
    for seat, agent in enumerate(env.possible_agents):
        if agent in episode.agent_episodes and len(episode.agent_episodes[agent]):
            assert episode.agent_episodes[agent].get_return() == pytest.approx(float(returns[seat]), abs=1e-5)
            assert episode.agent_episodes[agent].is_terminated
