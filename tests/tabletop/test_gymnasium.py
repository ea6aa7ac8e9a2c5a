"""The Gymnasium environments pass Gymnasium's own checks, alone and by the batch."""

import importlib

import gymnasium
import numpy as np
import pytest
from gymnasium.envs.registration import EnvSpec
from gymnasium.utils.env_checker import check_env
from gymnasium.vector import AutoresetMode, SyncVectorEnv

from tabletop.adapters.gymnasium import SelfPlayVectorEnv, SinglePlayerEnv, register_game_env
from tabletop.game import IllegalActionError
from tabletop.selfplay import UniformOpponent
from tests.tabletop.games import flat, same_states, small_game
from tests.tabletop.streams import ByHand, uniform_actions
from tests.toys import HighCard

register_game_env("HighCard-v0", "tests.toys:make_high_card")


class Lenient(SinglePlayerEnv):
    """Puts a legal action in the place of an illegal one, since `check_env` knows no masks."""

    def step(self, action):
        mask = self.action_masks()
        return super().step(action if mask[action] else int(mask.argmax()))


@pytest.mark.filterwarnings("ignore:.*not having a spec")
@pytest.mark.parametrize("render_mode", [None, "ansi", "human"])
@pytest.mark.parametrize(("name", "num_players"), [("high-card", 2), ("sting", 3), ("stingy", 2)])
def test_gymnasiums_checks(name, num_players, render_mode):
    check_env(Lenient(small_game(name, num_players), render_mode=render_mode))


def uniform(env):
    return uniform_actions(env.game, env.rows.states)


@pytest.mark.parametrize(("name", "num_players"), [("high-card", 4), ("sting", 3), ("stingy", 3)])
def test_rewards_sum_to_the_seats_payoff(name, num_players):
    env = SinglePlayerEnv(small_game(name, num_players))
    for seed in range(5):
        observation, info = env.reset(seed=seed)
        total, terminated = 0.0, False
        while not terminated:
            assert env.observation_space.contains(observation)
            assert np.array_equal(info["action_mask"], env.action_masks())
            action = env.action_space.sample(info["action_mask"])
            observation, reward, terminated, truncated, info = env.step(action)
            total += reward
            assert not truncated
        assert not info["action_mask"].any()
        assert total == pytest.approx(env.rows.states["returns"][0, info["seat"]], abs=1e-5)
        assert info["num_players"] == num_players
        assert info["opponents"][info["seat"]] is None
        with pytest.raises(RuntimeError, match="after the end of an episode"):
            env.step(0)


def test_a_seed_is_the_engines_and_reset_goes_on():
    env = SinglePlayerEnv(HighCard(num_players=2, rounds=2), seat=0)
    deals = []
    for seed in (7, None, 7, None):
        env.reset(seed=seed)
        deals.append(env.rows.states.copy())
    assert same_states(deals[0], deals[2])
    assert same_states(deals[1], deals[3])
    assert (deals[0]["place"] != deals[1]["place"]).any()
    assert all(deal["seed"][0] == 7 for deal in deals)


def test_an_illegal_action_is_an_error():
    env = SinglePlayerEnv(HighCard())
    _, info = env.reset(seed=1)
    with pytest.raises(IllegalActionError):
        env.step(int(info["action_mask"].argmin()))


def test_the_picture_is_the_learners(capsys):
    env = SinglePlayerEnv(HighCard(), seat=1, render_mode="ansi")
    env.reset(seed=1)
    assert env.render() == env.game.to_text(env.rows.states[0], 1)
    human = SinglePlayerEnv(HighCard(), seat=1, render_mode="human")
    human.reset(seed=1)
    assert capsys.readouterr().out.rstrip("\n") == env.render()
    with pytest.raises(ValueError, match="render_mode must be"):
        SinglePlayerEnv(HighCard(), render_mode="rgb_array")


def test_made_by_name():
    game = HighCard()
    env = gymnasium.make(
        "HighCard-v0", num_players=3, rounds=1, seat=2, opponents=[ByHand(game), UniformOpponent(game)]
    )
    _, info = env.reset(seed=0)
    assert (info["seat"], info["num_players"], info["opponents"][2]) == (2, 3, None)
    assert env.unwrapped.game == HighCard(num_players=3, rounds=1)
    env = gymnasium.make("HighCard-v0", num_players=[2, 4])
    assert {env.reset()[1]["num_players"] for _ in range(20)} == {2, 4}
    env = gymnasium.make_vec("HighCard-v0", num_envs=5, vectorization_mode="vector_entry_point", num_players=4)
    assert env.reset(seed=1)[0].shape == (5, HighCard.spec.observation_size)
    assert env.unwrapped.game == HighCard(num_players=4)


@pytest.mark.parametrize(("name", "num_players"), [("high-card", 3), ("sting", 2), ("stingy", 2)])
def test_the_vector_env(name, num_players):
    game = small_game(name, num_players)
    env = SelfPlayVectorEnv(game, 10)
    assert env.metadata["autoreset_mode"] is AutoresetMode.SAME_STEP
    observations, infos = env.reset(seed=4)
    paid, ended = np.zeros(10), 0
    for _ in range(300):
        assert env.observation_space.contains(observations)
        assert infos["action_mask"].dtype == np.int8
        assert infos["action_mask"].any(axis=1).all()
        assert infos["_action_mask"].all()
        kept = observations.copy()
        new, rewards, terminated, truncated, infos = env.step(uniform(env))
        assert np.array_equal(kept, observations)
        observations = new
        assert rewards.dtype == np.float64
        assert not truncated.any()
        paid += rewards
        assert ("final_obs" in infos) == terminated.any()
        if terminated.any():
            assert np.array_equal(infos["_final_obs"], terminated)
            final = infos["final_info"]
            assert np.allclose(final["return"][terminated], paid[terminated], atol=1e-5)
            assert np.array_equal(final["_seat"], terminated)
            for row in np.flatnonzero(terminated):
                assert env.single_observation_space.contains(infos["final_obs"][row])
                assert final["opponents"][row][final["seat"][row]] is None
            ended += terminated.sum()
            paid[terminated] = 0
    assert ended > 10
    env.close()


@pytest.mark.parametrize(("name", "num_players"), [("high-card", 3), ("sting", 3), ("stingy", 2)])
def test_the_vector_env_is_gymnasiums_own_over_single_ones(name, num_players):
    """The same games, and the end of an episode told in the same way."""
    game, size = small_game(name, num_players), 4
    ours = SelfPlayVectorEnv(game, size)
    theirs = SyncVectorEnv([lambda: SinglePlayerEnv(game)] * size, autoreset_mode=AutoresetMode.SAME_STEP)
    assert ours.observation_space == theirs.observation_space
    assert ours.action_space == theirs.action_space
    assert ours.metadata["autoreset_mode"] is theirs.metadata["autoreset_mode"]
    seeds, ended = [11, 12, 13, 14], 0
    ours_found, theirs_found = ours.reset(seed=seeds), theirs.reset(seed=seeds)
    for _ in range(120):
        for one, other in zip(ours_found[:-1], theirs_found[:-1]):
            assert one.dtype == other.dtype
            np.testing.assert_allclose(one, other, atol=1e-6)
        infos, their_infos = ours_found[-1], theirs_found[-1]
        assert np.array_equal(infos["action_mask"], np.stack(their_infos["action_mask"]))
        assert np.array_equal(infos["seat"], their_infos["seat"])
        assert ("final_obs" in infos) == ("final_obs" in their_infos)
        if "final_obs" in infos:
            assert np.array_equal(infos["_final_obs"], their_infos["_final_obs"])
            for row in np.flatnonzero(infos["_final_obs"]):
                assert np.array_equal(infos["final_obs"][row], their_infos["final_obs"][row])
                assert infos["final_info"]["seat"][row] == their_infos["final_info"]["seat"][row]
                ended += 1
        actions = uniform(ours)
        ours_found, theirs_found = ours.step(actions), theirs.step(actions)
    assert ended > 3


@pytest.mark.parametrize(("name", "others"), [("Sting", ["rulebook", "greedy"]), ("Stingy", "greedy")])
def test_the_packages_games_by_name_against_named_opponents(name, others):
    importlib.import_module(f"{name.lower()}_env")
    env = gymnasium.make(f"stinglab/{name}-v0", num_players=3, opponents=others, seat=1)
    assert EnvSpec.from_json(env.spec.to_json()).make().spec.kwargs["opponents"] == others
    _, info = env.reset(seed=3)
    assert info["opponents"][1] is None
    assert {*info["opponents"]} - {None} <= ({*others} if isinstance(others, list) else {others})
    vector = gymnasium.make_vec(
        f"stinglab/{name}-v0", num_envs=6, vectorization_mode="vector_entry_point", num_players=3, opponents=others
    )
    observations, infos = vector.reset(seed=3)
    assert vector.unwrapped.spec.id == f"stinglab/{name}-v0"
    for _ in range(20):
        assert infos["action_mask"].any(axis=1).all()
        observations, _, _, _, infos = vector.step(infos["action_mask"].argmax(axis=1))
    assert vector.observation_space.contains(observations)
    with pytest.raises(ValueError, match="no agent 'nobody'"):
        gymnasium.make(f"stinglab/{name}-v0", opponents=["nobody"])


def test_wrappers_by_the_batch():
    env = gymnasium.wrappers.vector.DictInfoToList(SelfPlayVectorEnv(HighCard(rounds=1), 3))
    _, infos = env.reset(seed=1)
    assert [info["action_mask"].shape for info in infos] == [(HighCard.spec.num_actions,)] * 3
    done = False
    while not done:
        _, _, terminations, _, infos = env.step(uniform(env.unwrapped))
        done = terminations.any()
    ended = infos[int(terminations.argmax())]
    assert {"seat", "num_players", "length", "return", "opponents"} <= ended["final_info"].keys()


def test_seeds_of_the_vector_env():
    game = HighCard()
    env = SelfPlayVectorEnv(game, 3, seat=0)
    env.reset(seed=[5, 6, 7])
    assert env.rows.seeds.tolist() == [5, 6, 7]
    first = env.reset(seed=5)[0]
    assert env.rows.seeds[0] != 5
    assert np.array_equal(env.reset(seed=5)[0], first)
    assert not np.array_equal(env.reset()[0], first)
    assert np.array_equal(env.reset(seed=5)[0], flat(game.observe(env.rows.states, 0)))


def test_gymnasiums_statistics_wrapper():
    env = gymnasium.wrappers.vector.RecordEpisodeStatistics(SelfPlayVectorEnv(HighCard(), 4))
    env.reset(seed=1)
    for _ in range(30):
        env.step(uniform(env.unwrapped))
    assert env.episode_count > 4
