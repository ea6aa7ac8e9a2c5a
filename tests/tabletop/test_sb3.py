"""The VecEnv is what Stable-Baselines3 and sb3-contrib ask of one."""

import numpy as np
import pytest

pytest.importorskip("sb3_contrib")
import torch
from sb3_contrib import MaskablePPO
from sb3_contrib.common.maskable.evaluation import evaluate_policy
from sb3_contrib.common.maskable.utils import get_action_masks, is_masking_supported
from stable_baselines3.common.vec_env import VecMonitor, VecNormalize

from tabletop.adapters.sb3 import SelfPlayVecEnv
from tabletop.game import IllegalActionError
from tabletop.selfplay import UniformOpponent
from tests.tabletop.games import small_game
from tests.tabletop.streams import ByHand, uniform_actions
from tests.toys import HighCard


@pytest.fixture(autouse=True)
def one_thread():
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def uniform(env):
    return uniform_actions(env.game, env.rows.states)


def deals(env):
    return [row.tobytes() for row in env.rows.states["place"]]


@pytest.mark.parametrize(("name", "num_players"), [("high-card", 3), ("sting", 3), ("stingy", 3)])
def test_a_row_is_one_seats_stream(name, num_players):
    game = small_game(name, num_players)
    env = SelfPlayVecEnv(game, 12, seed=3)
    observations = env.reset()
    paid, lengths, ended = np.zeros(12), np.zeros(12, int), 0
    for _ in range(400):
        kept, masks = observations.copy(), env.env_method("action_masks")
        assert masks.any(axis=1).all()
        new, rewards, dones, infos = env.step(uniform(env))
        assert (new.shape, new.dtype) == ((12, game.spec.observation_size), np.int8)
        assert (rewards.shape, rewards.dtype) == ((12,), np.float32)
        assert (dones.shape, dones.dtype) == ((12,), bool)
        assert np.array_equal(observations, kept)  # what was handed out stays as it was
        assert new is not observations
        observations = new
        paid += rewards
        lengths += 1
        assert len({id(info) for info, done in zip(infos, dones, strict=True) if not done}) <= 1
        for row in np.flatnonzero(dones):
            info = infos[row]
            ended += 1
            assert info["episode"]["r"] == pytest.approx(paid[row], abs=1e-5)
            assert info["episode"]["l"] == lengths[row]
            assert info["num_players"] == num_players
            assert info["opponents"] == tuple(None if p == info["seat"] else "uniform" for p in range(num_players))
            assert info["terminal_observation"].shape == (game.spec.observation_size,)
            assert not np.array_equal(info["terminal_observation"], new[row])
            assert "TimeLimit.truncated" not in info
            paid[row], lengths[row] = 0, 0
        assert all(not info for info, done in zip(infos, dones, strict=True) if not done)
    assert ended > 12


def test_masks_are_found_as_sb3_contrib_looks_for_them():
    env = SelfPlayVecEnv(HighCard(), 5, seed=0)
    env.reset()
    assert is_masking_supported(env)
    masks = get_action_masks(env)
    assert np.array_equal(masks, env.game.legal_action_mask(env.rows.states))
    assert np.array_equal(env.env_method("action_masks", indices=[1, 3]), masks[[1, 3]])
    assert env.env_method("action_masks", indices=2).shape == (1, 12)
    assert is_masking_supported(VecMonitor(env))
    assert not env.has_attr("no_such_thing")
    assert env.get_attr("render_mode", indices=[0, 1]) == [None, None]
    assert env.env_is_wrapped(VecMonitor) == [False] * 5
    with pytest.raises(AttributeError, match="only 'action_masks'"):
        env.env_method("step")
    with pytest.raises(AttributeError):
        env.get_attr("no_such_thing")
    env.set_attr("note", 1)
    assert env.get_attr("note") == [1] * 5
    with pytest.raises(ValueError, match="share their attributes"):
        env.set_attr("note", 2, indices=[0])
    env.close()


def test_rows_and_episodes_are_different_games_and_runs_repeat():
    runs = []
    for seed in (5, 5, 6):
        env = SelfPlayVecEnv(HighCard(rounds=1), 16, seed=seed)
        env.reset()
        first = deals(env)
        assert len(set(first)) == 16
        for _ in range(12):
            env.step(uniform(env))
        env.reset()
        assert not set(first) & set(deals(env))
        runs.append((first, deals(env)))
    assert runs[0] == runs[1]
    assert runs[0] != runs[2]


def test_seed_begins_the_run_anew():
    env = SelfPlayVecEnv(HighCard(), 4)
    env.reset()
    assert env.seed(9) == [9] * 4
    env.reset()
    first = deals(env)
    env.reset()
    assert deals(env) != first
    env.seed(9)
    env.reset()
    assert deals(env) == first
    assert env.seed()[0] != env.seed()[0]


def test_an_illegal_action_is_an_error():
    env = SelfPlayVecEnv(HighCard(), 4, seed=0)
    env.reset()
    with pytest.raises(IllegalActionError, match="lane 0"):
        env.step(env.action_masks().argmin(axis=1))


def test_opponents_can_be_changed_between_episodes():
    game = HighCard()
    env = SelfPlayVecEnv(game, 8, [UniformOpponent(game), ByHand(game)], seed=0)
    env.reset()
    env.set_weights([0, 1])
    env.set_opponents(ByHand(game, "new"))
    met = []
    for _ in range(30):
        infos = env.step(uniform(env))[3]
        met += [[name for name in info["opponents"] if name] for info in infos if info]
    assert met[-1] == ["new"]
    assert {name for names in met for name in names} == {"uniform", "by hand", "new"}


@pytest.mark.filterwarnings("ignore:.*Monitor")
@pytest.mark.parametrize(("name", "num_players"), [("high-card", 3), ("sting", 2), ("stingy", 2)])
def test_maskable_ppo_trains_and_plays_legally(name, num_players):
    env = VecMonitor(SelfPlayVecEnv(small_game(name, num_players), 8))
    model = MaskablePPO("MlpPolicy", env, n_steps=16, batch_size=64, n_epochs=1, gamma=1.0, seed=1, device="cpu")
    model.learn(256)
    assert env.unwrapped.rows.seeds.tolist() == env_seeds(8, 1)
    rewards, lengths = evaluate_policy(model, env, n_eval_episodes=4, return_episode_rewards=True)
    assert len(rewards) == len(lengths) == 4


def env_seeds(num_envs, seed):
    env = SelfPlayVecEnv(HighCard(), num_envs, seed=seed)
    env.reset()
    return env.rows.seeds.tolist()


def test_sb3s_wrappers_are_at_home():
    env = VecNormalize(VecMonitor(SelfPlayVecEnv(HighCard(), 4, seed=0)), norm_obs=False, gamma=1.0)
    env.reset()
    for _ in range(20):
        _, _, dones, infos = env.step(uniform(env.unwrapped))
        assert all(("episode" in info) == done for info, done in zip(infos, dones, strict=True))
