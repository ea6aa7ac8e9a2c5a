"""The network: torch and numpy agree, masks hold exactly, sampling follows the probabilities."""

import numpy as np
import pytest
import torch

from agents.policy import PolicyNetwork, network_shape, observation_scale, sample, weight_shapes
from sting_env import StingGame
from tabletop.game import flat
from training.network import TorchNetwork, entropy, log_probabilities, sample_actions


@pytest.fixture(scope="module")
def positions():
    """Return observations int8 [B, D] and masks [B, A] from random play."""
    game = StingGame(num_players=3)
    states = game.new_states(64)
    game.reset(states, 5)
    keys = np.arange(64, dtype=np.uint64)
    for _ in range(60):
        game.step(states, game.random_actions(states, keys))
    return game, flat(game.observe(states)), game.legal_action_mask(states)


def make_network(game):
    torch.manual_seed(1)
    network = TorchNetwork(network_shape(game.spec, 64, 16), observation_scale(game.spec))
    for parameter in network.parameters():
        torch.nn.init.normal_(parameter, std=0.1)
    return network


def test_numpy_and_torch_give_the_same_scores(positions):
    game, observations, masks = positions
    network = make_network(game)
    logits, _ = network(torch.from_numpy(observations), torch.from_numpy(masks))
    ours = PolicyNetwork(network.shape, observation_scale(game.spec), network.arrays()).logits(observations, masks)
    assert np.abs(np.where(masks, logits.detach().numpy() - ours, 0)).max() < 1e-4


def test_weights_have_the_stated_shapes(positions):
    network = make_network(positions[0])
    assert {name: a.shape for name, a in network.arrays().items()} == weight_shapes(network.shape)


def test_order_of_rows_changes_only_the_scores_of_rows(positions):
    game, observations, masks = positions
    network = make_network(game)
    start, count, columns, first = network.shape.rows
    order = np.random.default_rng(2).permutation(count)
    moved = observations.copy()
    rows = moved[:, start : start + count * columns].reshape(-1, count, columns)
    rows[:] = rows[:, order]
    everything = torch.ones(masks.shape, dtype=torch.bool)
    before, value_before = network(torch.from_numpy(observations), everything)
    after, value_after = network(torch.from_numpy(moved), everything)
    assert torch.allclose(value_before, value_after, atol=1e-4)
    assert torch.allclose(before[:, :first], after[:, :first], atol=1e-4)
    assert not torch.allclose(before[:, first : first + count], after[:, first : first + count], atol=1e-4)


def test_entropy_of_equal_scores_is_the_log_of_the_number_of_legal_actions(positions):
    _, _, masks = positions
    logits = torch.zeros(masks.shape).masked_fill(~torch.from_numpy(masks), -1e9)
    assert entropy(log_probabilities(logits)).exp().numpy() == pytest.approx(masks.sum(1), rel=1e-4)


def test_sampling_is_legal_and_follows_the_probabilities():
    masks = np.zeros((20_000, 7), np.bool_)
    masks[:, [1, 4, 6]] = True
    logits = torch.tensor([0.0, 1.0, 0, 0, 2.0, 0, 0.0]).repeat(len(masks), 1).masked_fill(~torch.from_numpy(masks), -1e9)
    log_probs = log_probabilities(logits)
    expected = log_probs.exp()[0].numpy()
    drawn = {
        "torch": sample_actions(log_probs, torch.Generator().manual_seed(3)).numpy(),
        "numpy": sample(log_probs.exp().numpy(), np.random.default_rng(4).random(len(masks))),
    }
    for actions in drawn.values():
        share = np.bincount(actions, minlength=7) / len(actions)
        assert share[~masks[0]].sum() == 0
        assert share == pytest.approx(expected, abs=0.015)


def test_sampling_at_the_very_ends_of_the_interval_is_legal():
    probabilities = np.array([[0, 0.25, 0, 0.75, 0]], np.float32)
    assert sample(probabilities, np.array([0.0])).tolist() == [1]
    assert sample(probabilities, np.array([np.nextafter(1.0, 0.0)])).tolist() == [3]
