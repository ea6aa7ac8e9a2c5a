"""The network: torch and numpy agree, gradients are right, sampling is legal and follows the probabilities."""

from dataclasses import fields

import numpy as np
import pytest
import torch

from agents.policy import PolicyNetwork, network_shape, observation_scale, sample, weight_shapes
from agents.registry import bots_of, make_agent
from sting_env import StingGame
from tabletop.game import flat
from training.network import (
    Critic,
    Secrets,
    actions_at,
    entropy,
    log_probabilities,
    make_network,
    places_of,
    sample_places,
)
from training.ppo import SelfPlayPPO
from training.selfplay import Lineup, SelfPlay
from training.sparse import MASKED, join, read_inputs


@pytest.fixture(scope="module")
def positions():
    """Return a game, observations int8 [B, D] and masks [B, A] from random play."""
    game = StingGame(num_players=3)
    states = game.new_states(64)
    game.reset(states, 5)
    keys = np.arange(64, dtype=np.uint64)
    for _ in range(60):
        game.step(states, game.random_actions(states, keys))
    return game, flat(game.observe(states)), game.legal_action_mask(states)


ADVISORS = ((), ("greedy", "rulebook"))


def random_network(game, advisors=()):
    torch.manual_seed(1)
    network = make_network(game, network_shape(game.spec, 64, 16, advisors))
    for parameter in network.parameters():
        torch.nn.init.normal_(parameter, std=0.1)
    return network


def dense_scores(network, observations, masks):
    """Return the network's function written with dense torch layers: scores [B, A] and values [B]."""
    shape, weights = network.shape, dict(network.named_parameters())
    x = torch.from_numpy(observations).float() * torch.from_numpy(network.scale)
    advice = network.advisors.advise(observations, masks)
    advised = [torch.nn.functional.one_hot(torch.from_numpy(k), shape.num_actions).float() for k in advice.T]
    dense = torch.cat([*(x[:, a:b] for a, b in shape.dense), torch.from_numpy(masks).float(), *advised], 1)
    start, count, columns, first = shape.rows
    rows = x[:, start : start + count * columns].view(-1, count, columns)
    there = (rows != 0).any(2, keepdim=True)
    embedded = torch.relu(rows @ weights["row.weight"].T + weights["row.bias"]) * there
    hidden = dense @ weights["input.weight"] + weights["input.bias"]
    hidden = torch.relu(hidden + (embedded.sum(1) / 4.0) @ weights["pool.weight"].T)
    hidden = torch.relu(hidden @ weights["hidden.weight"].T + weights["hidden.bias"])
    scores = hidden @ weights["policy.weight"].T + weights["policy.bias"]
    own = (embedded * (hidden @ weights["query.weight"].T)[:, None]).sum(2)
    scores = torch.cat([scores[:, :first], scores[:, first : first + count] + own, scores[:, first + count :]], 1)
    for k, chosen in enumerate(advised):
        scores = scores + chosen * (hidden @ weights["advice.weight"][k] + weights["advice.bias"][k])[:, None]
    return scores, (hidden @ weights["value.weight"].T + weights["value.bias"]).squeeze(1)


@pytest.mark.parametrize("advisors", ADVISORS)
def test_scores_on_lists_are_those_of_dense_layers(positions, advisors):
    game, observations, masks = positions
    network = random_network(game, advisors)
    scores, values = network(network.read(observations, masks), np.arange(64))
    expected, expected_values = dense_scores(network, observations, masks)
    assert torch.allclose(values, expected_values, atol=1e-4)
    for b in range(64):
        legal = np.flatnonzero(masks[b])
        assert torch.allclose(scores[b, : len(legal)], expected[b, legal], atol=1e-4)
        assert (scores[b, len(legal) :] == MASKED).all()


@pytest.mark.parametrize("advisors", ADVISORS)
def test_gradients_on_lists_are_those_of_dense_layers(positions, advisors):
    game, observations, masks = positions
    network = random_network(game, advisors)
    actions = masks.argmax(axis=1)
    if not advisors:  # every weight takes part; an advisor can't be asked about actions that are not legal
        masks = np.ones_like(masks)
        actions = np.full(64, network.shape.rows[3])
    lists = network.read(observations, masks)
    some = np.array([3, 60, 3, 17])  # a batch in any order, a position twice

    def loss_of(log_probs, values):
        return log_probs.mean() + values.square().mean()

    scores, values = network(lists, some)
    log_probs = log_probabilities(scores)
    loss_of(log_probs.gather(1, places_of(lists, some, actions[some])).squeeze(1), values).backward()
    ours = {name: p.grad.clone() for name, p in network.named_parameters() if p.grad is not None}
    assert advisors or len(ours) == len(list(network.parameters()))
    network.zero_grad()
    dense, values = dense_scores(network, observations[some], masks[some])
    log_probs = torch.log_softmax(dense.masked_fill(~torch.from_numpy(masks[some]), -1e9), 1)
    loss_of(log_probs[np.arange(4), actions[some]], values).backward()
    for name, parameter in network.named_parameters():
        if name in ours:
            assert torch.allclose(ours[name], parameter.grad, atol=1e-4), name


@pytest.mark.parametrize("advisors", ADVISORS)
def test_numpy_and_torch_give_the_same_scores(positions, advisors):
    game, observations, masks = positions
    network = random_network(game, advisors)
    scale = observation_scale(game.spec)
    ours = PolicyNetwork(network.shape, scale, network.arrays(), network.advisors).logits(observations, masks)
    expected, _ = dense_scores(network, observations, masks)
    assert np.abs(expected.detach().numpy() - ours).max() < 1e-4


def test_a_fresh_network_does_what_its_first_advisor_would(positions):
    game, observations, masks = positions
    network = make_network(game, network_shape(game.spec, 64, 16, ("greedy", "rulebook")))
    lists, ids = network.read(observations, masks), np.arange(64)
    best = actions_at(lists, ids, network(lists, ids)[0].argmax(1).numpy())
    greedy = make_agent("greedy", game).act(
        observations.view(game.spec.observation_dtype)[:, 0], masks, ids.astype(np.uint64)
    )
    assert (best == greedy).mean() > 0.95  # chance decides a few of greedy's


def test_positions_joined_are_those_read_together(positions):
    game, observations, masks = positions
    network = random_network(game, ADVISORS[1])
    parts = [network.read(observations[a:b], masks[a:b]) for a, b in ((0, 10), (10, 11), (11, 64))]
    for field in fields(parts[0]):
        together = getattr(network.read(observations, masks), field.name)
        assert (getattr(join(parts), field.name) == together).all(), field.name


@pytest.mark.parametrize("advisors", ADVISORS)
def test_weights_have_the_stated_shapes(positions, advisors):
    network = random_network(positions[0], advisors)
    assert {name: a.shape for name, a in network.arrays().items()} == weight_shapes(network.shape)


def test_order_of_rows_does_not_matter_to_the_rest(positions):
    game, observations, masks = positions
    network = random_network(game)
    start, count, columns, first = network.shape.rows
    order = np.random.default_rng(2).permutation(count)
    moved = observations.copy()
    rows = moved[:, start : start + count * columns].reshape(-1, count, columns)
    rows[:] = rows[:, order]
    everything = np.ones_like(masks)
    before, value_before = network(network.read(observations, everything), np.arange(64))
    after, value_after = network(network.read(moved, everything), np.arange(64))
    assert torch.allclose(value_before, value_after, atol=1e-4)
    assert torch.allclose(before[:, :first], after[:, :first], atol=1e-4)
    assert not torch.allclose(before[:, first : first + count], after[:, first : first + count], atol=1e-4)


def test_entropy_of_equal_scores_is_the_log_of_the_number_of_legal_actions(positions):
    game, observations, masks = positions
    network = random_network(game)
    for parameter in network.parameters():
        torch.nn.init.zeros_(parameter)
    scores, _ = network(network.read(observations, masks), np.arange(64))
    assert entropy(log_probabilities(scores)).exp().detach().numpy() == pytest.approx(masks.sum(1), rel=1e-4)


def test_places_and_actions_are_each_others_inverse(positions):
    game, observations, masks = positions
    lists = random_network(game).read(observations, masks)
    ids = np.arange(64)
    actions = np.array([np.flatnonzero(row)[len(np.flatnonzero(row)) // 2] for row in masks])
    assert (actions_at(lists, ids, places_of(lists, ids, actions).squeeze(1).numpy()) == actions).all()
    with pytest.raises(ValueError, match="not legal"):
        places_of(lists, ids, np.full(64, int(np.flatnonzero(~masks.any(0))[0])))


def test_sampling_is_legal_and_follows_the_probabilities():
    scores = torch.tensor([1.0, MASKED, 2.0, 0.0, MASKED]).repeat(20_000, 1)
    log_probs = log_probabilities(scores)
    expected = log_probs.exp()[0].numpy()
    drawn = {
        "torch": sample_places(log_probs, torch.Generator().manual_seed(3)).numpy(),
        "numpy": sample(log_probs.exp().numpy(), np.random.default_rng(4).random(len(scores))),
    }
    for places in drawn.values():
        share = np.bincount(places, minlength=5) / len(places)
        assert share[[1, 4]].sum() == 0
        assert share == pytest.approx(expected, abs=0.015)


def test_sampling_at_the_very_ends_of_the_interval_is_legal():
    probabilities = np.array([[0, 0.25, 0, 0.75, 0]], np.float32)
    assert sample(probabilities, np.array([0.0])).tolist() == [1]
    assert sample(probabilities, np.array([np.nextafter(1.0, 0.0)])).tolist() == [3]


@pytest.mark.parametrize("players", [2, 6])
def test_a_critic_reads_every_hand(players):
    """Secrets are the other hands and the undrawn cards, seen from the current player; two deals that only a player who
    sees all could tell apart differ in them and in nothing else."""
    game = StingGame(num_players=players)
    states = game.new_states(8)
    game.reset(states, 3)
    worlds = game.determinize(states, None, np.arange(8, dtype=np.uint64))
    secrets = Secrets(game)
    read, elsewhere = secrets.read(states), secrets.read(worlds)
    dense = np.zeros((8, len(secrets.places)))
    for b in range(8):
        places = slice(read.start[b], read.start[b + 1])
        dense[b, read.index[places]] = read.value[places]
    kinds = game.observe(states)["hand"].shape[1]
    hands, undrawn = dense[:, : 6 * kinds].reshape(8, 6, kinds), dense[:, 6 * kinds : 7 * kinds]
    for b, state in enumerate(states):
        order = [(int(state["current_player"]) + rel) % players for rel in range(players)]
        assert (hands[b, :players] == state["hand"][order]).all()
        assert not hands[b, players:].any()
        own = game.observe(states[b : b + 1])[0]
        assert (own["unseen"] == hands[b, 1:].sum(axis=0) + undrawn[b]).all()
    assert (game.observe(states) == game.observe(worlds)).all()
    assert any(
        set(read.index[read.start[b] : read.start[b + 1]])
        != set(elsewhere.index[elsewhere.start[b] : elsewhere.start[b + 1]])
        for b in range(8)
    )


def test_a_critic_is_the_same_function_in_dense_layers(positions):
    game, observations, masks = positions
    network = random_network(game)
    torch.manual_seed(2)
    critic = Critic(40, 64)
    for parameter in critic.parameters():
        torch.nn.init.normal_(parameter, std=0.1)
    rows = np.random.default_rng(4).integers(-2, 3, (64, 40)) * (np.random.default_rng(5).random((64, 40)) < 0.2)
    rows[7] = 0
    some = np.array([7, 3, 60, 3])
    first = network.decide(network.read(observations, masks), some)[2]
    outlook = torch.randn(4)
    values = critic(first, read_inputs(rows), outlook, some)
    weights = dict(critic.named_parameters())
    x = torch.from_numpy(rows[some]).float()
    hidden = first + x @ weights["secrets.weight"] + weights["secrets.bias"]
    hidden = torch.relu(hidden + outlook[:, None] * weights["outlook.weight"][:, 0])
    hidden = torch.relu(hidden @ weights["hidden.weight"].T + weights["hidden.bias"])
    expected = (hidden @ weights["value.weight"].T).squeeze(1) + weights["value.bias"] + weights["belief"] * outlook
    assert torch.allclose(values, expected, atol=1e-4)
    gradients = torch.autograd.grad(values.square().sum(), weights["secrets.weight"], retain_graph=True)[0]
    dense = torch.autograd.grad(expected.square().sum(), weights["secrets.weight"])[0]
    assert torch.allclose(gradients, dense, atol=1e-4)


def test_values_in_training_are_those_of_the_critic_and_policies_hold_none_of_it():
    game = StingGame(num_players=2, rounds=1)
    for critic in (True, False):
        selfplay = SelfPlay(game, bots_of(game), Lineup((2,), (), 1.0), 8, seed=3)
        model = SelfPlayPPO(game, [selfplay], hidden=32, row_width=8, critic=critic, n_steps=4, batch_size=16)
        states = selfplay.states.copy()
        observations, masks = flat(game.observe(states)), game.legal_action_mask(states)
        nothing = np.zeros(8, np.float32)
        values = model.act(observations, masks, states, nothing)[2]
        worlds = game.determinize(states, None, np.arange(8, dtype=np.uint64))
        elsewhere = model.act(observations, masks, worlds, nothing)[2]
        assert np.allclose(values, elsewhere, atol=1e-6) != critic  # only a critic sees the difference
        model.iterate()
        assert set(model.policy.network.arrays()) == set(weight_shapes(model.shape))
