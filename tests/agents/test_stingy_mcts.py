"""Stingy's tree search and what it stands on: the position rebuilt from an observation, games played on from there."""

from __future__ import annotations

import numpy as np
import pytest

from agents.arena import compare
from agents.registry import list_agents, make_agent
from agents.stingy_greedy import rebuild
from agents.stingy_mcts import children_of
from stingy_env import StingyGame
from stingy_env.rules import NOTHING, NUM_KINDS, STATE
from tabletop import seeding
from tabletop.jit import entry
from tests.agents.test_stingy_bots import OPTIONS, THREE, position, positions, says

# What may differ between a position and the one rebuilt: who sits where, streams, what was counted, the pool's order.
SAME = (
    "phase", "num_players", "num_seats", "unseen", "pool_size", "demanded", "demanded_value", "last_group", "last_turns",
    "total",
)  # fmt: skip
BY_SEAT = ("groups", "complete", "scores", "worth", "tiles", "value")


@entry
def rebuild_all(config, observations, keys, states):
    for b in range(len(observations)):
        rebuild(config, observations[b], keys[b], states[b])


def rebuilt(game, states, seed=0):
    again = np.zeros(len(states), STATE)
    rebuild_all(game.rules, game.observe(states), seeding.spread(seed, len(states)), again)
    return again


@pytest.mark.parametrize("options", [{}, {"captain_sly": True, "colour_scoring": True}])
@pytest.mark.parametrize("n", [2, 3, 6])
def test_an_observation_tells_the_position(n, options):
    game = StingyGame(num_players=n, **options)
    states = positions(game, lanes=30, seed=n)
    again = rebuilt(game, states)
    np.testing.assert_array_equal(game.legal_action_mask(again), game.legal_action_mask(states))
    for name in SAME:
        np.testing.assert_array_equal(again[name], states[name], name)
    for b in range(len(states)):
        s, t = states[b], again[b]
        seats = int(s["num_seats"])
        turn = int(t["current_player"]) - int(s["current_player"])
        for seat in range(seats):
            for name in BY_SEAT:
                np.testing.assert_array_equal(t[name][(seat + turn) % seats], s[name][seat], name)
        for name in ("turn_player", "owner"):
            assert t[name] == (NOTHING if s[name] == NOTHING else (int(s[name]) + turn) % seats)
        assert n > 2 or turn == 0  # the ghost keeps its seat, and so do the others (G19)


def test_the_pool_is_dealt_anew():
    game = StingyGame(num_players=3)
    states = positions(game, lanes=10)
    states = states[states["pool_size"] > 20]
    one, two = rebuilt(game, states, 1), rebuilt(game, states, 2)
    for b in range(len(states)):
        size = int(states["pool_size"][b])
        pools = [s["pool"][b][:size] for s in (one, two)]
        assert (pools[0] != pools[1]).any()
        for pool in pools:
            np.testing.assert_array_equal(np.bincount(pool, minlength=NUM_KINDS), states["unseen"][b])


# The agent --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("options", OPTIONS)
@pytest.mark.parametrize("n", [2, 3, 4, 5, 6])
def test_chooses_legally_and_the_same_again(n, options):
    game = StingyGame(num_players=n, **options)
    states = positions(game, lanes=3, seed=n)[::4]
    agent = make_agent("stingy:mcts:playouts=12", game)
    observations, masks, keys = game.observe(states), game.legal_action_mask(states), seeding.spread(2, len(states))
    actions = agent.act(observations, masks, keys)
    assert masks[np.arange(len(states)), actions].all()
    np.testing.assert_array_equal(agent.act(observations[::-1], masks[::-1], keys[::-1])[::-1], actions)


def test_does_not_know_the_order_of_the_pool():
    game = StingyGame(num_players=3)
    states = positions(game, lanes=3)[::5]
    agent = make_agent("mcts:playouts=20", game)
    other = game.determinize(states, None, seeding.spread(1, len(states)), 2)
    keys = seeding.spread(2, len(states))
    here = agent.act(game.observe(states), game.legal_action_mask(states), keys)
    there = agent.act(game.observe(other), game.legal_action_mask(other), np.repeat(keys, 2))
    np.testing.assert_array_equal(np.repeat(here, 2), there)


def test_a_tree_counts_its_playouts():
    game = StingyGame(num_players=3)
    states = game.new_states(1)
    game.reset(states, 4)
    agent = make_agent("mcts:playouts=60", game)
    tree = agent.tree_of(game.observe(states), np.uint64(1))
    children = children_of(tree)
    assert tree.visits[0] == 60 == tree.visits[children].sum()
    np.testing.assert_allclose(tree.totals[children].sum(axis=0), tree.totals[0])
    np.testing.assert_allclose(tree.prior[children].sum(), 1)
    assert tree.hope[children].max() == 0
    np.testing.assert_allclose(tree.totals[0, :3].sum(), 0, atol=1e-3)  # margins and wins are at the others' cost
    used = int(tree.size[0])
    grown = np.flatnonzero(tree.first[:used])
    assert len(grown) > 10
    for node in grown:
        assert tree.visits[children_of(tree, int(node))].sum() <= tree.visits[node]


def test_is_an_agent_that_searches_and_is_listed():
    game = StingyGame(num_players=2)
    assert "mcts" in list_agents(game)
    assert make_agent("mcts:ms=20", game).name == "mcts:ms=20"
    states = game.new_states(1)
    game.reset(states, 1)
    mask = game.legal_action_mask(states)
    assert mask[0, make_agent("mcts:ms=20", game).act(game.observe(states), mask, np.zeros(1, np.uint64))[0]]


@pytest.mark.parametrize(
    ("spec", "says_what"),
    [
        ("mcts:playouts=0", "playouts must be a whole number from 1"),
        ("mcts:ms=x", "ms must be a whole number from 1"),
        ("mcts:playouts=2,ms=3", "playouts or ms, not both"),
        ("mcts:depth=3", "no option 'depth'"),
    ],
)
def test_options_that_do_not_exist_are_named(spec, says_what):
    with pytest.raises(ValueError, match=says_what):
        make_agent(spec, StingyGame(num_players=2))


# Positions with an obvious best choice ----------------------------------------------------------------------------------

SEARCH = "mcts:playouts=300"


def test_demands_the_group_that_completes_most():
    states = position(
        THREE, "diamond-0 3 bottle-0 2 parrot-1 3", "diamond-0 3 parrot-1 1 bottle-1 2", "bottle-0 1 bottle-1 1",
        last_turns=1,
    )  # fmt: skip
    assert says(SEARCH, THREE, states) == "demand +1 diamond-0"


def test_takes_what_completes_most():
    states = position(
        THREE,
        "coins-0 4 bottle-0 1 parrot-0 1 diamond-0 1",
        "coins-0 1 bottle-0 2 parrot-0 3 diamond-0 5",
        "",
        last_turns=1,
        swaps=["demand +1 coins-0"],
    )
    assert says(SEARCH, THREE, states) == "group diamond-0"


@pytest.mark.slow
def test_beats_greedy():
    game = StingyGame(num_players=2)
    pair = compare(game, ["mcts:playouts=200", "greedy"], blocks=60, seed=3).pair("mcts:playouts=200", "greedy")
    assert pair.payoff.low > 0
