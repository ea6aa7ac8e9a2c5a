"""The AEC environment passes PettingZoo's own tests, pays everybody what the batch engine pays, and can be copied."""

import copy
import pickle
import re
import time

import numpy as np
import pytest
from pettingzoo.test import api_test, render_test, seed_test

from tabletop.adapters.aec import AECGame, env, make_env_functions, raw_env
from tabletop.game import IllegalActionError
from tabletop.jit import COMPILED
from tests.tabletop.games import flat, same_states, small_game

GAMES = [
    ("high-card", 2),
    ("high-card", 4),
    ("sting", 2),
    ("sting", 3),
    ("sting", 6),
    ("stingy", 2),
    ("stingy", 3),
    ("stingy", 6),
]

# What PettingZoo warns of although its own environments with masks do the same.
as_designed = [
    pytest.mark.filterwarnings(f"ignore:{re.escape(message)}")
    for message in (
        "Observation is not a NumPy array",
        "Observation space for each agent probably should be gymnasium.spaces.box",
        "Action mask numpy array is all zeros",
    )
]


def quiet(test):
    for mark in as_designed:
        test = mark(test)
    return test


def play_on(environment, seed):
    """Play at random until everybody is done; yield agent, reward since its last step and whether it is over."""
    rng = np.random.default_rng(seed)
    while environment.agents:
        agent = environment.agent_selection
        observation, reward, terminated, truncated, _ = environment.last()
        assert terminated or not truncated
        yield agent, reward, terminated, observation
        legal = np.flatnonzero(observation["action_mask"])
        environment.step(None if terminated else int(rng.choice(legal)))


@quiet
@pytest.mark.parametrize(("name", "num_players"), GAMES)
@pytest.mark.parametrize("make", [env, raw_env])
def test_pettingzoo_api(name, num_players, make):
    api_test(make(small_game(name, num_players)), num_cycles=100)


@pytest.mark.parametrize(("name", "num_players"), GAMES)
def test_pettingzoo_seeds(name, num_players):
    seed_test(lambda: env(small_game(name, num_players)), num_cycles=50)


@pytest.mark.parametrize("name", ["high-card", "sting", "stingy"])
def test_pettingzoo_rendering(name, capsys):
    render_test(lambda render_mode: env(small_game(name), render_mode))
    assert capsys.readouterr().out


@pytest.mark.parametrize(("name", "num_players"), GAMES)
def test_every_agent_is_paid_what_the_engine_pays_it(name, num_players):
    game = small_game(name, num_players)
    environment = env(game)
    for seed in range(5):
        environment.reset(seed=seed)
        paid = dict.fromkeys(environment.possible_agents, 0.0)
        last = {}
        for agent, reward, terminated, _ in play_on(environment, seed):
            paid[agent] += reward
            if terminated:
                last[agent] = reward
        returns = game.returns(environment.unwrapped.states)[0][:num_players]
        assert np.allclose(list(paid.values()), returns, atol=1e-5)
        assert abs(sum(paid.values())) < 1e-4
        assert set(last) == set(environment.possible_agents)
        assert environment.agents == []


def test_a_round_that_ends_out_of_turn_pays_who_does_not_move():
    environment = raw_env(small_game("high-card", 3, rounds=1))
    for seed in range(100):
        environment.reset(seed=seed)
        if environment.infos[environment.agent_selection]["action_mask"][11]:
            break
    winner = environment.agent_selection
    environment.step(11)
    assert environment.rewards == {agent: 1.0 if agent == winner else -0.5 for agent in environment.agents}
    assert all(environment.terminations.values())
    assert len(environment.agents) == 3
    for agent in environment.possible_agents:
        assert environment.agent_selection == agent
        _, reward, terminated, _, _ = environment.last()
        assert terminated
        assert reward == (1.0 if agent == winner else -0.5)
        environment.step(None)
    assert environment.agents == []


@pytest.mark.parametrize(("name", "num_players"), GAMES)
def test_masks_and_observations_are_the_engines(name, num_players):
    game = small_game(name, num_players)
    environment = env(game)
    environment.reset(seed=9)
    states = game.new_states(1)
    game.reset(states, np.array([9], np.uint64))
    rng = np.random.default_rng(0)
    for _ in range(60):
        if game.terminated(states)[0]:
            break
        assert same_states(states, environment.unwrapped.states)
        for seat, agent in enumerate(environment.possible_agents):
            seen = environment.observe(agent)
            assert np.array_equal(seen["observation"], flat(game.observe(states, seat))[0])
            on_turn = seat == states["current_player"][0]
            assert np.array_equal(seen["action_mask"], game.legal_action_mask(states)[0] * on_turn)
            assert environment.infos[agent]["action_mask"] is seen["action_mask"]
            assert environment.observation_space(agent).contains(seen)
        assert np.array_equal(environment.state(), flat(game.observe_all(states))[0])
        action = int(rng.choice(np.flatnonzero(game.legal_action_mask(states)[0])))
        environment.step(action)
        game.step(states, [action])


def test_what_was_handed_out_does_not_change():
    environment = raw_env(small_game("high-card", 2))
    environment.reset(seed=1)
    seen, _, _, _, info = environment.last()
    kept = copy.deepcopy((seen, info))
    environment.step(int(np.flatnonzero(seen["action_mask"])[0]))
    assert all(np.array_equal(seen[key], kept[0][key]) for key in seen)
    assert np.array_equal(info["action_mask"], kept[1]["action_mask"])


def test_reset_goes_on_to_the_next_episode_and_leaves_the_configuration_alone():
    game = small_game("high-card", 2)
    environment = raw_env(game)
    environment.reset(seed=4)
    first = environment.states.copy()
    environment.reset()
    second = environment.states.copy()
    assert not np.array_equal(first["place"], second["place"])
    expected = game.new_states(1)
    game.reset(expected, np.array([4], np.uint64), episodes=1)
    assert same_states(second, expected)
    environment.reset(seed=4)
    assert same_states(environment.states, first)
    assert environment.game == small_game("high-card", 2)
    seeds = set()
    for _ in range(3):
        other = raw_env(game)
        other.reset()
        seeds.add(int(other.states["seed"][0]))
    assert len(seeds) == 3


def test_a_position_can_be_set_up():
    game = small_game("high-card", 2)
    environment = raw_env(game)
    environment.reset(seed=4)
    for _ in range(3):
        environment.step(int(np.flatnonzero(environment.observe(environment.agent_selection)["action_mask"])[0]))
    position = game.to_dict(environment.states[0])
    other = env(game)
    other.reset(seed=1, options={"position": position})
    assert game.to_dict(other.unwrapped.states[0]) == position
    assert other.agent_selection == environment.agent_selection
    seen = [e.observe(e.agent_selection) for e in (other, environment)]
    assert all(np.array_equal(seen[0][key], seen[1][key]) for key in seen[0])
    with pytest.raises(ValueError, match="must be of 3 players"):
        env(small_game("high-card", 3)).reset(options={"position": position})


def test_an_illegal_action_is_an_error_in_the_bare_environment():
    environment = raw_env(small_game("high-card", 2))
    environment.reset(seed=1)
    illegal = int(np.flatnonzero(environment.infos[environment.agent_selection]["action_mask"] == 0)[0])
    before = environment.states.copy()
    for action in (illegal, -1, 12):
        with pytest.raises(IllegalActionError, match="is not legal; legal are: play"):
            environment.step(action)
    with pytest.raises(TypeError):
        environment.step(1.0)
    assert same_states(environment.states, before)


@pytest.mark.filterwarnings("ignore:.*Illegal move")
def test_an_illegal_action_under_the_wrappers_ends_the_game():
    environment = env(small_game("high-card", 3))
    environment.reset(seed=1)
    culprit = environment.agent_selection
    environment.step(int(np.flatnonzero(environment.last()[0]["action_mask"] == 0)[0]))
    paid = {}
    for agent, reward, terminated, observation in play_on(environment, 0):
        assert terminated
        assert not observation["action_mask"].any()
        paid[agent] = reward
    assert paid == {agent: -1.0 if agent == culprit else 0.0 for agent in environment.possible_agents}
    environment.reset()
    assert environment.agents == environment.possible_agents
    assert len(list(play_on(environment, 0))) > 3


@pytest.mark.parametrize("name", ["high-card", "sting", "stingy"])
@pytest.mark.parametrize("make", [env, raw_env])
@pytest.mark.parametrize(
    "copied",
    [copy.deepcopy, lambda e: pickle.loads(pickle.dumps(e)), lambda e: e.clone()],
    ids=["deep", "pickle", "clone"],
)
def test_copies_in_the_middle_of_a_game_are_exact_and_independent(name, make, copied):
    environment = make(small_game(name, 3))
    environment.reset(seed=2)
    rest = play_on(environment, 5)
    for _ in range(4):
        next(rest)
    environment.observe(environment.agent_selection)
    before = environment.unwrapped.states.copy()
    other = copied(environment)
    assert type(other) is type(environment)
    assert other.unwrapped is not environment.unwrapped
    rest_of_other = [(agent, reward, terminated) for agent, reward, terminated, _ in play_on(other, 7)]
    assert same_states(environment.unwrapped.states, before)
    assert [(agent, reward, terminated) for agent, reward, terminated, _ in play_on(environment, 7)] == rest_of_other
    assert same_states(environment.unwrapped.states, other.unwrapped.states)
    other.reset()
    environment.reset()
    assert same_states(environment.unwrapped.states, other.unwrapped.states)


def test_pictures():
    game = small_game("high-card", 2)
    texts = {}
    for observer in ("current", "all", "player_0", "player_1"):
        environment = raw_env(game, "ansi", observer)
        environment.reset(seed=3)
        texts[observer] = environment.render()
    current = environment.agent_selection
    assert texts["current"] == texts[current]
    assert texts["player_0"] != texts["player_1"]
    assert texts["all"] == game.to_text(environment.states[0])
    with pytest.raises(ValueError, match="render_mode must be None, human or ansi"):
        raw_env(game, "rgb_array")
    with pytest.raises(ValueError, match="render_observer must be"):
        raw_env(game, "ansi", "player_5")


def test_env_functions_take_the_options_of_the_game():
    make_env, make_raw_env = make_env_functions(lambda **options: small_game("high-card", **options))
    assert isinstance(make_raw_env(num_players=3), AECGame)
    assert make_env(num_players=3, render_mode="ansi").possible_agents == ["player_0", "player_1", "player_2"]
    assert str(make_env()) == "high-card-v0"


@pytest.mark.skipif(not COMPILED, reason="speed is that of compiled code")
@pytest.mark.parametrize("make", [raw_env, env])
def test_it_is_not_slow(make):
    environment = make(small_game("high-card", 4, rounds=5))
    steps, begin = 0, time.process_time()
    while steps < 2000:
        environment.reset(seed=steps)
        while environment.agents:
            observation, _, terminated, _, _ = environment.last()
            environment.step(None if terminated else int(observation["action_mask"].argmax()))
            steps += 1
    assert steps / (time.process_time() - begin) > 2000  # a tenth of what a laptop does
