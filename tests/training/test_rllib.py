"""Training with RLlib: `make test-rllib` runs this where Ray is installed."""

import json

import numpy as np
import pytest

pytest.importorskip("ray.rllib", reason="RLlib has an environment of its own: make test-rllib")

import ray
import torch

from agents import policy as policies
from agents.arena import compare
from agents.registry import make_agent
from tabletop.registry import make
from tabletop.seeding import spread
from training import rllib
from training.rllib import MAIN, DenseNetwork, Seating, Settings, train, weights_of

pytestmark = pytest.mark.filterwarnings("ignore:.*Overriding environment rllib")  # RLlib, for every algorithm made

SMALL = Settings(
    players=3,
    options=(("hand_size", 3), ("max_turns", 8)),  # soon over: a batch holds whole games
    steps=400,
    envs=4,
    batch=256,
    minibatch=128,
    epochs=1,
    hidden=32,
    row_width=8,
    deals=4,
    snapshot_every=1,
    evaluate_every=2,
    against=("random", "greedy"),
)


@pytest.fixture(scope="module", autouse=True)
def one_ray():
    ray.init("local", num_cpus=2, include_dashboard=False, log_to_driver=False)
    yield
    ray.shutdown()


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """Return a run of two updates, the first followed by a snapshot, and its folder."""
    folder = tmp_path_factory.mktemp("run") / "rllib"
    return train(folder, SMALL), folder


@pytest.mark.parametrize("name", ["sting-v0", "stingy-v0"])
def test_the_network_is_the_one_that_plays(name, tmp_path):
    game = make(name, num_players=3)
    shape = policies.network_shape(game.spec, 32, 8)
    network = DenseNetwork(shape, policies.observation_scale(game.spec))
    for parameter in network.parameters():
        torch.nn.init.normal_(parameter, std=0.1)
    arrays = {key: tensor.numpy() for key, tensor in network.state_dict().items()}
    assert {key: array.shape for key, array in arrays.items()} == policies.weight_shapes(shape)
    policies.save(tmp_path, policies.describe(game, shape, {}), arrays)
    states = game.new_states(64)
    game.reset(states, 5)
    for step in range(40):
        game.step(states, game.random_actions(states, spread(step, 64)))
    states = states[states["current_player"] >= 0]
    masks = game.legal_action_mask(states)
    observations = game.observe(states).view(np.int8).reshape(len(states), -1)
    agent = policies.load(tmp_path, game)
    with torch.no_grad():
        scores, _ = network(torch.from_numpy(observations), torch.from_numpy(masks.astype(np.int8)))
    assert (scores.numpy()[~masks] == rllib.ILLEGAL).all()
    np.testing.assert_allclose(
        torch.softmax(scores, dim=1).numpy(), agent.probabilities(game.observe(states), masks), atol=1e-5
    )


def test_a_trained_policy_plays_in_the_arena(finished):
    run, folder = finished
    assert run.steps >= SMALL.steps
    assert run.updates == 2
    game = rllib.make_game(SMALL)
    result = compare(game, [f"checkpoint:{folder}/last", f"checkpoint:{folder}/best", "random"], blocks=4, seed=1)
    assert result.num_blocks == 4
    description = policies.read_description(folder / "last")
    assert description["training"]["trainer"] == f"RLlib {ray.__version__}"
    assert description["training"]["settings"]["players"] == 3
    snapshot, last = (policies.read_weights(folder / name) for name in ("snapshots/0000", "last"))
    assert not same(snapshot, last)


def test_what_is_measured_means_something_in_a_zero_sum_game(finished):
    _, folder = finished
    (line,) = [json.loads(text) for text in (folder / "log.jsonl").read_text().splitlines()]
    assert set(line["arena"][MAIN]) == {"random", "greedy"}
    for low, mean, high in line["arena"][MAIN].values():
        assert low <= mean <= high


def test_a_run_goes_on_where_it_stopped_and_snapshots_stay_as_they_were(finished, tmp_path):
    _, folder = finished
    before = policies.read_weights(folder / "last")
    frozen = policies.read_weights(folder / "snapshots" / "0000")
    more = Settings(**{**vars(SMALL), "steps": 600})
    run = rllib.Run(folder, more)
    try:
        assert run.updates == 2
        assert run.seating.snapshots == ("snapshot-0000",)
        assert same(weights_of(run.algorithm), before)
        result = run.update()
        assert run.updates == 3
        assert not same(weights_of(run.algorithm), before)
        assert same(weights_of(run.algorithm, "snapshot-0000"), frozen)
        played = run.algorithm.get_module("snapshot-0000").state_dict()
        assert same({name.removeprefix("network."): array.numpy() for name, array in played.items()}, frozen)
        assert set(result["env_runners"]["agent_episode_returns_mean"]) == {"player_0", "player_1", "player_2"}
        assert set(result["env_runners"]["module_episode_returns_mean"]) == {MAIN, "snapshot-0000"}
    finally:
        run.algorithm.stop()
    with pytest.raises(ValueError, match="other settings: hidden"):
        rllib.Run(folder, Settings(**{**vars(SMALL), "hidden": 64}))
    (tmp_path / "something").touch()
    with pytest.raises(ValueError, match="is not empty and holds no run"):
        rllib.Run(tmp_path, SMALL)


def same(left, right):
    return set(left) == set(right) and all(np.allclose(left[name], right[name], atol=1e-7) for name in left)


def test_the_callback_and_a_policy_to_begin_from(finished):
    _, folder = finished
    options = rllib.game_options(SMALL)
    callback = rllib.arena_callback("sting-v0", options, ["random"], deals=4)
    algorithm = rllib.make_config(SMALL).callbacks(on_train_result=callback).build_algo()
    try:
        game = rllib.make_game(SMALL)
        rllib.set_weights(algorithm, MAIN, rllib.weights_in(folder / "last", game))
        states = game.new_states(1)
        game.reset(states, 3)
        arguments = (game.observe(states), game.legal_action_mask(states))
        loaded = make_agent(f"checkpoint:{folder}/last", game)
        assert np.allclose(rllib.agent_of(algorithm, game).probabilities(*arguments), loaded.probabilities(*arguments))
        result = algorithm.train()
    finally:
        algorithm.stop()
    low, mean, high = result["arena"][MAIN]["random"]
    assert low <= mean <= high


class Episode:
    def __init__(self, id_):
        self.id_ = id_


def test_who_sits_where():
    seating = Seating(4, ("snapshot-0000", "snapshot-0001"), share=0.5)
    tables = [[seating(f"player_{seat}", Episode(f"{number:x}")) for seat in range(4)] for number in range(400)]
    assert all(MAIN in table for table in tables)
    assert tables == [[seating(f"player_{seat}", Episode(f"{number:x}")) for seat in range(4)] for number in range(400)]
    learners = np.mean([[name == MAIN for name in table] for table in tables], axis=0)
    assert (abs(learners - (1 + 3 * 0.5) / 4) < 0.1).all()
    assert {name for table in tables for name in table} == {MAIN, "snapshot-0000", "snapshot-0001"}
    assert Seating(4)("player_2", Episode("a")) == MAIN


def test_the_command_reads_every_setting():
    given = rllib.parser().parse_args(["--game", "stingy", "--steps", "1_000", "--against", "random,greedy"])
    assert (given.game, given.steps, given.against) == ("stingy", 1000, ("random", "greedy"))
    assert rllib.game_id("stingy") == "stingy-v0"
    with pytest.raises(ValueError, match="no game is called 'chess'"):
        rllib.main(["--game", "chess"])
