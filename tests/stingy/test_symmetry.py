"""Renamed positions: what the observation of a position becomes is what its renamed tiles, laid out anew, are seen as."""

import json

import numpy as np
import pytest

from stingy_env import StingyGame
from tabletop.game import flat

IMAGES = ("bottle", "parrot", "coin", "diamond")


def renaming(game, actions):
    """Return old kind -> new kind that a gather of actions stands for, read off the texts of handing over groups."""
    names = {}
    for action in range(game.num_actions):
        new = game.action_to_string(action)
        if new.startswith("group "):
            names[game.action_to_string(int(actions[action])).removeprefix("group ")] = new.removeprefix("group ")
    return names


def relabelled(position, names):
    """Return a position's JSON with every tile renamed."""
    new = json.loads(json.dumps(position))
    new["displays"] = [{names[kind]: size for kind, size in shown.items()} for shown in position["displays"]]
    new["complete"] = [sorted((names[kind] for kind in done), key=list(names).index) for done in position["complete"]]
    new["pool_stacks"] = [[names[kind] for kind in stack] for stack in position["pool_stacks"]]
    return new


@pytest.mark.parametrize("players", [2, 4])
@pytest.mark.parametrize("options", [{}, {"colour_scoring": True}], ids=str)
def test_a_renamed_position_looks_and_plays_as_the_gathers_say(players, options):
    game = StingyGame(num_players=players, **options)
    states = game.new_states(60)
    game.reset(states, 21)
    rng = np.random.default_rng(5)
    steps = rng.integers(0, 90, len(states))
    for t in range(90):
        on = np.flatnonzero((steps > t) & ~game.terminated(states))
        game.step(states, game.random_actions(states[on], rng.integers(0, 2**62, len(on)).astype(np.uint64)), lanes=on)
    checked = 0
    for lane in np.flatnonzero(~game.terminated(states)):
        state = states[lane : lane + 1]
        position, observation, mask = game.to_dict(state[0]), game.observe(state), game.legal_action_mask(state)
        inputs, actions = game.random_symmetries(observation, rng)
        if position["phase"] in ("RESPOND", "GIVE"):  # asked in ascending order of kinds (G14): nothing is renamed
            assert (actions[0] == np.arange(game.num_actions)).all()
            continue
        names = renaming(game, actions[0])
        assert all(old.split("-")[0] == new.split("-")[0] for old, new in names.items())
        if options:  # the same colour in all images (G18)
            colours = {(old.split("-")[1], new.split("-")[1]) for old, new in names.items() if "-" in old}
            assert len(colours) == 6
        twin = game.from_dict(relabelled(position, names))
        assert (game.legal_action_mask(twin)[0] == mask[0, actions[0]]).all()
        assert (flat(game.observe(twin))[0] == flat(observation)[0, inputs[0]]).all()
        checked += 1
    assert checked > 20


def test_a_renaming_loses_nothing():
    game = StingyGame(num_players=3)
    assert [
        gather.shape for gather in game.random_symmetries(game.observe(game.new_states(0)), np.random.default_rng(1))
    ] == [
        (0, game.spec.observation_size),
        (0, game.num_actions),
    ]
    states = game.new_states(50)
    game.reset(states, 3)
    inputs, actions = game.random_symmetries(game.observe(states), np.random.default_rng(1))
    assert len(np.unique(actions, axis=0)) == 50
    assert (np.sort(inputs, axis=1) == np.arange(inputs.shape[1])).all()
    assert (np.sort(actions, axis=1) == np.arange(actions.shape[1])).all()
