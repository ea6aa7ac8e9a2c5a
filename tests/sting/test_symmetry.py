"""Renamed positions: what the observation of a position becomes is what its renamed cards, laid out anew, are seen as."""

import re

import numpy as np
import pytest

from sting_env import StingGame
from tabletop.game import flat

COLOURS = "RBGY"


def relabel(card, colours, mirrored):
    """Return a card's text under a renaming: `colours` by the letters before, numbers 1..10 turned round if mirrored."""
    if card is None or not re.fullmatch(r"[RBGY]\d+", card):
        return card
    number = int(card[1:])
    return colours[card[0]] + str(11 - number if mirrored else number)


def relabelled(position, colours, mirrored):
    """Return a position's JSON with every card renamed; a mirrored run is laid the other way round."""

    def rename(card):
        return relabel(card, colours, mirrored)

    new = dict(position)
    for name in ("hands", "draw_stacks"):
        new[name] = [[rename(card) for card in cards] for cards in position[name]]
    new["discard_pile"] = [rename(card) for card in position["discard_pile"]]
    new["held"] = rename(position["held"])
    new["piles"] = []
    for pile in position["piles"]:
        pile = dict(pile, cards=[rename(card) for card in pile["cards"]])
        if pile["kind"] == "run":
            pile["colour"] = colours[pile["colour"]]
            if mirrored:
                pile["start"] = 11 - (pile["start"] + len(pile["cards"]) - 1)
                pile["cards"].reverse()
        elif mirrored:
            pile["number"] = 11 - pile["number"]
        new["piles"].append(pile)
    return new


def find_renaming(game, renamed_actions):
    """Return the colours and the mirror that a gather of actions stands for, read off the discards of naturals."""
    colours, mirrored = {}, False
    for action in range(game.num_actions):
        new = game.action_to_string(action)
        old = game.action_to_string(int(renamed_actions[action]))
        found = re.fullmatch(r"discard ([RBGY])(\d+)", new)
        if found:
            before = re.fullmatch(r"discard ([RBGY])(\d+)", old)
            colours[before[1]] = found[1]
            mirrored |= before[2] != found[2]
    assert sorted(colours) == sorted(COLOURS) == sorted(colours.values())
    return colours, mirrored


@pytest.mark.parametrize("options", [{}, {"face_values": True}, {"open_hands": True}], ids=str)
def test_a_renamed_position_looks_and_plays_as_the_gathers_say(options):
    game = StingGame(num_players=3, **options)
    lanes = 60
    states = game.new_states(lanes)
    game.reset(states, 21)
    rng = np.random.default_rng(5)
    steps = rng.integers(5, 90, lanes)
    for t in range(90):
        on = np.flatnonzero((steps > t) & ~game.terminated(states))
        game.step(states, game.random_actions(states[on], rng.integers(0, 2**62, len(on)).astype(np.uint64)), lanes=on)
    checked = mirrors = asked = 0
    for lane in np.flatnonzero(~game.terminated(states)):
        state = states[lane : lane + 1]
        position = game.to_dict(state[0])
        if position["pending"]:
            continue
        observation, mask = game.observe(state), game.legal_action_mask(state)
        inputs, actions = game.random_symmetries(observation, rng)
        colours, mirrored = find_renaming(game, actions[0])
        twin = game.from_dict(relabelled(position, colours, mirrored))
        assert (game.legal_action_mask(twin)[0] == mask[0, actions[0]]).all()
        assert (flat(game.observe(twin))[0] == flat(observation)[0, inputs[0]]).all()
        mirrors += mirrored
        checked += 1
        # One decision on: in the middle of a play the observation says which. Its chance is the position's own.
        new = int(rng.choice(np.flatnonzero(mask[0, actions[0]])))
        plain = game.from_dict(position)
        game.step(plain, [actions[0, new]])
        game.step(twin, [new])
        if game.terminated(plain)[0] or game.to_dict(plain[0])["round"] != position["round"]:
            continue
        after = game.observe(plain)
        again = next(repeat(game, after, actions[0]))
        assert (flat(game.observe(twin))[0] == flat(after)[0, again]).all()
        asked += bool(after["play"].any())
    assert checked > 30
    assert asked > 3
    assert (mirrors > 5) == (not game.config.face_values)


def repeat(game, observation, wanted):
    """Yield gathers of the observation under the renaming whose gather of actions is `wanted`."""
    rng = np.random.default_rng(0)
    while True:
        inputs, actions = game.random_symmetries(np.repeat(observation, 64), rng)
        for i in np.flatnonzero((actions == wanted).all(axis=1)):
            yield inputs[i]


def test_every_renaming_moves_something_and_loses_nothing():
    game = StingGame(num_players=2)
    states = game.new_states(500)
    game.reset(states, 3)
    inputs, actions = game.random_symmetries(game.observe(states), np.random.default_rng(1))
    assert len(np.unique(actions, axis=0)) == 48  # 4! orders of colours, mirrored or not
    assert (np.sort(inputs, axis=1) == np.arange(inputs.shape[1])).all()
    assert (np.sort(actions, axis=1) == np.arange(actions.shape[1])).all()
