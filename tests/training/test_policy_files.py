"""Policies on disk: a round trip, and a clear refusal of whatever does not fit."""

import json

import numpy as np
import pytest
import torch

from agents import policy
from agents.policy import PolicyError
from sting_env import StingGame
from training.network import make_network


@pytest.fixture
def saved(tmp_path):
    """Return a game and the folder of a small policy for it."""
    game = StingGame(num_players=2, rounds=1)
    torch.manual_seed(0)
    shape = policy.network_shape(game.spec, 16, 8)
    network = make_network(game, shape)
    folder = tmp_path / "small"
    policy.save(folder, policy.describe(game, shape, {"steps": 0}), network.arrays())
    return game, folder


def positions(game):
    states = game.new_states(8)
    game.reset(states, 3)
    return game.observe(states), game.legal_action_mask(states), np.arange(8, dtype=np.uint64)


def edit(folder, **changes):
    path = folder / "policy.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | changes))


def test_a_policy_loads_and_plays_legally_and_repeatably(saved):
    game, folder = saved
    agent = policy.load(folder, game)
    observations, masks, keys = positions(game)
    actions = agent.act(observations, masks, keys)
    assert masks[np.arange(8), actions].all()
    assert (actions == policy.load(folder, game).act(observations, masks, keys)).all()


def test_a_state_dict_loads_with_weights_only_and_plays_the_same(saved):
    game, folder = saved
    observations, masks, _ = positions(game)
    expected = policy.load(folder, game).probabilities(observations, masks)
    arrays = policy.read_weights(folder)
    torch.save({name: torch.from_numpy(a) for name, a in arrays.items()}, folder / "weights.pt")
    (folder / "weights.npz").unlink()
    assert policy.load(folder, game).probabilities(observations, masks) == pytest.approx(expected)


def test_code_in_a_state_dict_is_not_run(saved, tmp_path):
    game, folder = saved
    (folder / "weights.npz").unlink()
    touched = tmp_path / "touched"

    class Trap:
        def __reduce__(self):
            return (touched.touch, ())

    torch.save({"input.weight": Trap()}, folder / "weights.pt")
    with pytest.raises(PolicyError, match="damaged"):
        policy.load(folder, game)
    assert not touched.exists()


def test_an_all_false_mask_is_refused(saved):
    game, folder = saved
    observations, masks, keys = positions(game)
    masks[3] = False
    with pytest.raises(ValueError, match="legal action"):
        policy.load(folder, game).act(observations, masks, keys)


def test_a_policy_for_another_game_is_refused_with_both_names(saved):
    game, folder = saved
    edit(folder, game="chess-v1")
    with pytest.raises(PolicyError, match=r"chess-v1.*sting-v0"):
        policy.load(folder, game)


def test_a_policy_for_another_observation_is_refused_with_both_values(saved):
    game, folder = saved
    edit(folder, observation_digest="0123")
    with pytest.raises(PolicyError, match=rf"0123.*{game.spec.observation_digest}"):
        policy.load(folder, game)


def test_a_policy_of_another_format_is_refused_with_both_values(saved):
    game, folder = saved
    edit(folder, format=99)
    with pytest.raises(PolicyError, match=r"99.*reads 1"):
        policy.load(folder, game)


def test_weights_of_another_width_are_refused(saved):
    game, folder = saved
    edit(folder, network={"hidden": 32, "row_width": 8})
    with pytest.raises(PolicyError, match="shape"):
        policy.load(folder, game)


@pytest.mark.parametrize("name", ["policy.json", "weights.npz"])
def test_damaged_and_missing_files_are_named(saved, name):
    game, folder = saved
    path = folder / name
    path.write_bytes(path.read_bytes()[:40])
    with pytest.raises(PolicyError, match="damaged"):
        policy.load(folder, game)
    path.unlink()
    with pytest.raises(PolicyError, match=r"policy\.json|weights"):
        policy.load(folder, game)


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_weights_that_are_no_numbers_are_neither_saved_nor_loaded(saved, bad):
    game, folder = saved
    arrays = policy.read_weights(folder)
    kept = (folder / "weights.npz").read_bytes()
    arrays["hidden.bias"][3] = bad
    with pytest.raises(PolicyError, match=r"hidden\.bias holds 1 values that are no numbers"):
        policy.save(folder, policy.read_description(folder), arrays)
    assert (folder / "weights.npz").read_bytes() == kept
    np.savez(folder / "weights.npz", **arrays)
    with pytest.raises(PolicyError, match=r"hidden\.bias holds 1 values that are no numbers"):
        policy.load(folder, game)


@pytest.mark.parametrize("network", [{}, {"hidden": 64}, {"hidden": "wide", "row_width": 16}, [], "wide"])
def test_a_network_that_is_not_described_is_refused(saved, network):
    game, folder = saved
    edit(folder, network=network)
    with pytest.raises(PolicyError, match="must name the network's hidden and row_width"):
        policy.load(folder, game)
