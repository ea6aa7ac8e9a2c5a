"""Learning from labels: it finds what they say of positions not learned from, and is not led by noise."""

import numpy as np
import pytest
import torch

from agents.policy import network_shape
from agents.registry import make_agent
from agents.search import rollouts
from sting_env import StingGame
from tabletop.game import flat
from training.distill import Labeller, Labels, expected_value, learn, renamed
from training.network import make_network


@pytest.fixture(scope="module")
def positions():
    game = StingGame(num_players=2, rounds=1)
    states = game.new_states(1500)
    game.reset(states, 4)
    for _ in range(25):
        game.step(states, game.random_actions(states, np.arange(1500, dtype=np.uint64)))
    states = states[~game.terminated(states)]
    states = states[game.legal_action_mask(states).sum(axis=1) > 1]
    return game, flat(game.observe(states)), game.legal_action_mask(states)


def halves(observations, masks, values):
    values = np.where(masks, values, 0).astype(np.float32)
    middle = len(values) // 2
    return [Labels(observations[part], masks[part], values[part]) for part in (slice(0, middle), slice(middle, None))]


def test_better_actions_are_found_under_noise(positions):
    game, observations, masks = positions
    rng = np.random.default_rng(1)
    truth = np.where(np.arange(game.num_actions) % 2 == 0, 0.3, 0.0) * np.ones(masks.shape)
    train, _ = halves(observations, masks, truth + rng.normal(0, 0.3, masks.shape))
    _, test = halves(observations, masks, truth)
    torch.manual_seed(2)
    network = make_network(game, network_shape(game.spec, 64, 16))
    gain = learn(game, network, train, test, kl=0.005, epochs=12, learning_rate=3e-3)
    assert abs(gain.prior) < 0.02
    assert gain.learned > 0.5 * gain.best


def test_renamed_labels_value_the_renamed_actions_alike(positions):
    """By the texts: the label of `discard R3` goes with the mask and the card in hand to what R3 has become."""
    game, observations, masks = positions
    values = np.where(masks, np.arange(game.num_actions), 0).astype(np.float32)
    labels = Labels(observations, masks, values)
    ids = np.arange(100, 164)
    new = renamed(game, labels, ids, np.random.default_rng(4))
    hands = new.observations.view(game.spec.observation_dtype).reshape(-1)["hand"]
    for i, row in enumerate(ids):
        assert new.masks[i].sum() == masks[row].sum()
        assert (np.sort(new.values[i]) == np.sort(values[row])).all()
        discards = [a for a in np.flatnonzero(new.masks[i]) if game.action_to_string(int(a)).startswith("discard")]
        assert all(hands[i, a - game.string_to_action("discard R1")] > 0 for a in discards)
    assert (new.masks != masks[ids]).any()


def test_noise_alone_teaches_nothing(positions):
    game, observations, masks = positions
    train, test = halves(observations, masks, np.random.default_rng(3).normal(0, 0.3, masks.shape))
    torch.manual_seed(2)
    network = make_network(game, network_shape(game.spec, 64, 16))
    gain = learn(game, network, train, test, kl=0.005, epochs=3, learning_rate=1e-3)
    assert abs(gain.learned) < 0.05 < gain.best


def test_the_value_of_a_sure_choice_is_that_of_its_label_less_the_mean(positions):
    game, observations, masks = positions
    network = make_network(game, network_shape(game.spec, 64, 16, ("greedy",)))
    network.advice.bias.data[0] = 1000.0  # does what its advisor says
    values = np.zeros(masks.shape)
    rows = np.arange(len(masks))
    values[rows, network.advisors.advise(observations, masks)[:, 0]] = 1.0
    labels, _ = halves(observations, masks, values)
    expected = (1 - 1 / labels.masks.sum(axis=1)).mean()
    assert expected_value(network, labels)[0] == pytest.approx(expected, abs=1e-4)


def test_a_win_counts_beside_the_points():
    """Three players: a round surely won by one is worth the margin and the bonus less its equal share."""
    game = StingGame(num_players=3, rounds=1)
    states = game.new_states(40)
    game.reset(states, 8)
    greedy = make_agent("greedy", game)
    plain, more = (Labeller(game, greedy, greedy, (3,), 4, bonus).values(states, 5) for bonus in (0.0, 0.9))
    wins = rollouts(StingGame(num_players=3, rounds=1, reward="win"), states, greedy, 4, 5).mean
    legal = game.legal_action_mask(states)
    shares = (1 + 2 * wins[legal]) / 3  # reward="win" pays a lone winner 1 and the others -1/2
    assert shares.min() >= 0
    assert shares.max() <= 1
    assert (more - plain)[legal] == pytest.approx(0.9 * (shares - 1 / 3), abs=1e-6)
    assert np.isnan(more[~legal]).all()
