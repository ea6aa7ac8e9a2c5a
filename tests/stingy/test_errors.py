"""What can't be is an error that names itself, and changes nothing."""

import dataclasses

import numpy as np
import pytest

import stingy_env
from stingy_env import VARIANTS, StingyConfig, StingyGame, variant
from tabletop.game import IllegalActionError


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"num_players": 1}, "num_players must be a whole number from 2 to 6, not 1"),
        ({"num_players": 7}, "num_players must be a whole number from 2 to 6, not 7"),
        ({"num_players": True}, "num_players"),
        ({"num_players": 3.0}, "num_players"),
        ({"num_players": "3"}, "num_players"),
        ({"captain_sly": 1}, "captain_sly must be True or False, not 1"),
        ({"colour_scoring": None}, "colour_scoring must be True or False, not None"),
        ({"complete_points": 6}, "complete_points must be five whole numbers"),
        ({"complete_points": (1, 2, 3, 4)}, "complete_points must be five whole numbers"),
        ({"complete_points": (1, 2, 3, 4, -5)}, "complete_points of flag must be a whole number from 0"),
        ({"complete_points": (1, 2, 3.5, 4, 5)}, "complete_points of coins"),
        ({"reward": "money"}, "reward must be one of margin, win, not 'money'"),
        ({"captain_sily": True}, "no option 'captain_sily'; options are: num_players, captain_sly"),
    ],
)
def test_impossible_option_is_named(options, words):
    with pytest.raises(ValueError, match=words):
        StingyGame(**options)


def test_config_is_frozen_and_survives_its_dictionary():
    config = StingyConfig(num_players=4, captain_sly=True, complete_points=[1, 2, 3, 4, 5])  # a list, as JSON has it
    assert config.complete_points == (1, 2, 3, 4, 5)
    assert config.to_dict() == {"num_players": 4, "captain_sly": True, "complete_points": [1, 2, 3, 4, 5]}
    assert StingyConfig.from_dict(config.to_dict()) == config
    assert hash(config) == hash(StingyConfig.from_dict(config.to_dict()))
    with pytest.raises(dataclasses.FrozenInstanceError):
        config.num_players = 3
    assert StingyGame(config, num_players=5).config == dataclasses.replace(config, num_players=5)


@pytest.mark.parametrize("name", VARIANTS)
def test_variants_can_be_played(name):
    assert variant(name, reward="win").reward == "win"
    game = StingyGame(variant(name))
    states = game.new_states(2)
    game.reset(states, 0)
    assert game.legal_action_mask(states).any(axis=1).all()


def test_unknown_variant_is_named():
    with pytest.raises(ValueError, match="no variant 'cruel'; variants are: standard, ghost"):
        variant("cruel")


@pytest.fixture
def dealt():
    game = stingy_env.make_game(num_players=3)
    states = game.new_states(4)
    game.reset(states, 11)
    return game, states


def test_illegal_action_names_lane_phase_and_what_is_legal(dealt):
    game, states = dealt
    before = states.copy()
    actions = game.random_actions(states, np.arange(4, dtype=np.uint64))
    actions[2] = game.string_to_action("pay")
    player = game.current_player(states)[2]
    words = rf"lane 2, phase SWAP, player {player}: 'pay' \(126\) is not legal; legal are: .*no swap"
    with pytest.raises(IllegalActionError, match=words):
        game.step(states, actions)
    assert (states == before).all()


@pytest.mark.parametrize("action", [-1, 155, 191, 192, 10**9])
def test_number_that_is_no_action_is_refused(dealt, action):
    game, states = dealt
    before = states.copy()
    with pytest.raises(IllegalActionError, match=rf"lane 0.*{action} \(no such action\)"):
        game.step(states, np.full(4, action))
    assert (states == before).all()


def test_demand_from_a_seat_that_is_not_there_is_refused(dealt):
    game, states = dealt
    with pytest.raises(IllegalActionError, match="demand"):
        game.step(states, np.full(4, game.string_to_action("demand +3 flag")))


def test_batch_of_another_game_or_shape_is_refused(dealt):
    game, states = dealt
    with pytest.raises(TypeError, match="stingy-v0 records"):
        game.step(np.zeros(4), np.zeros(4, np.int64))
    with pytest.raises(ValueError, match=r"actions must have shape \[4\]"):
        game.step(states, np.zeros(3, np.int64))
    with pytest.raises(ValueError, match="num_players must be 2 to 6 in Stingy, not 7"):
        game.reset(states, 0, num_players=7)
    with pytest.raises(ValueError, match="observer must be a player"):
        game.observe(states, 3)


def test_game_that_is_over_ignores_actions(dealt):
    game, states = dealt
    keys = np.arange(4, dtype=np.uint64)
    while not game.terminated(states).all():
        game.step(states, game.random_actions(states, keys))
    game.step(states, np.full(4, 126))
    before = states.copy()
    game.step(states, np.full(4, -5))
    assert (states == before).all()
    assert (game.current_player(states) == -1).all()
