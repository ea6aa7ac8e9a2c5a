"""Sting's bots: legal, honest, obedient to their draw rule, and better than chance."""

from __future__ import annotations

import numpy as np
import pytest

from agents.arena import compare
from agents.base import play_out
from agents.registry import make_agent
from sting_env import VARIANTS, StingConfig, StingGame
from sting_env.rules import DISCARD, DRAW_ONE, DRAW_TWO, NUM_KINDS, Phase
from tabletop import seeding

BOTS = ("random", "greedy", "rulebook")
RULES = ("", ":draw=1", ":draw=2", ":draw=hint", ":draw=<=0", ":draw=<=3", ":draw=<=127")
CONFIGS = {**VARIANTS, "large": StingConfig(hand_size=13, discard_to_go_out=True, open_hands=True)}


def positions(game, lanes=60, seed=0, decisions=120):
    """Return records of positions with a decision to be made, from games between different bots."""
    states = game.new_states(lanes)
    game.reset(states, seed)
    agents = [make_agent(spec, game) for spec in ("greedy", "random", "rulebook")]
    found = []
    rng = np.random.default_rng(seed)
    for t in range(decisions):
        going = states[states["current_player"] >= 0]
        if len(going) == 0:
            break
        if t % 3 == 0:
            found.append(going[rng.random(len(going)) < 0.3].copy())
        actions = np.zeros(lanes, np.int64)
        keys = seeding.spread(seed + t, lanes)
        on = np.flatnonzero(states["current_player"] >= 0)
        for k, agent in enumerate(agents):
            mine = on[(on + states["current_player"][on]) % len(agents) == k]
            if len(mine):
                records = states[mine]
                actions[mine] = agent.act(game.observe(records), game.legal_action_mask(records), keys[mine])
        game.step(states, actions)
    return np.concatenate(found)


@pytest.mark.parametrize("name", CONFIGS)
def test_bots_play_legally_in_every_variant(name):
    """`play_out` raises for an illegal action."""
    for n in range(2, 7):
        options = CONFIGS[name].to_dict() | {"num_players": n, "rounds": 1, "max_turns": 60, "target_score": None}
        game = StingGame(**options)
        rng = np.random.default_rng(n)
        for _ in range(3):
            seated = [make_agent(rng.choice(BOTS) + rng.choice(RULES), game) for _ in range(n)]
            states = game.new_states(15)
            game.reset(states, int(rng.integers(1 << 40)))
            play_out(game, states, seated, key=1)
            assert game.terminated(states).all()


def test_bots_do_not_know_what_is_hidden():
    game = StingGame(num_players=3, rounds=1)
    states = positions(game)
    worlds = 3
    other = game.determinize(states, None, seeding.spread(1, len(states)), worlds)
    assert (other["hand"] != np.repeat(states["hand"], worlds, axis=0)).any()
    keys = seeding.spread(2, len(states))
    for name in BOTS:
        for rule in RULES:
            agent = make_agent(name + rule, game)
            here = agent.act(game.observe(states), game.legal_action_mask(states), keys)
            there = agent.act(game.observe(other), game.legal_action_mask(other), np.repeat(keys, worlds))
            np.testing.assert_array_equal(np.repeat(here, worlds), there)


def draws(game, seed):
    """Return positions in which one or two may be drawn, and the sizes of the hands."""
    states = positions(game, lanes=150, seed=seed)
    states = states[(states["phase"] == Phase.DRAW) & game.legal_action_mask(states)[:, DRAW_TWO]]
    return states, states["hand_size"][np.arange(len(states)), states["current_player"]]


def choices(spec, game, states):
    agent = make_agent(spec, game)
    return agent.act(game.observe(states), game.legal_action_mask(states), seeding.spread(3, len(states)))


@pytest.mark.parametrize("bot", BOTS)
def test_draw_rules(bot):
    game = StingGame(num_players=2, rounds=1)
    states, sizes = draws(game, seed=5)
    assert (choices(f"{bot}:draw=1", game, states) == DRAW_ONE).all()
    assert (choices(f"{bot}:draw=2", game, states) == DRAW_TWO).all()
    assert len(np.unique(sizes)) > 5
    for k in (0, 2, 4, 7, 127):
        np.testing.assert_array_equal(choices(f"{bot}:draw=<={k}", game, states) == DRAW_TWO, sizes <= k)


def test_own_draw_rules():
    game = StingGame(num_players=2, rounds=1)
    states, sizes = draws(game, seed=5)
    np.testing.assert_array_equal(choices("rulebook", game, states), choices("rulebook:draw=hint", game, states))
    np.testing.assert_array_equal(choices("greedy", game, states) == DRAW_TWO, sizes == 2)
    assert 0.3 < (choices("random", game, states) == DRAW_TWO).mean() < 0.7


def playable_without_drawing(game, state):
    """Tell whether anything but a discard would be legal if the draw were skipped: the rules themselves are asked."""
    position = game.to_dict(state) | {"phase": "PLAY"}
    mask = game.legal_action_mask(game.from_dict(position))[0]
    mask[DISCARD : DISCARD + NUM_KINDS] = False
    return mask.any()


@pytest.mark.parametrize("options", [{}, {"substitution": False}, {"discard_to_go_out": True}, {"num_players": 4}])
def test_the_hint_is_two_when_stuck_with_few_cards(options):
    game = StingGame(**{"rounds": 1, **options})
    states, sizes = draws(game, seed=6)
    few = states[sizes <= 4]
    stuck = np.array([not playable_without_drawing(game, state) for state in few])
    assert stuck.any()
    assert not stuck.all()
    np.testing.assert_array_equal(choices("greedy:draw=hint", game, few) == DRAW_TWO, stuck)
    assert (choices("greedy:draw=hint", game, states[sizes > 4]) == DRAW_ONE).all()


@pytest.mark.parametrize("n", [2, 4])
def test_greedy_and_rulebook_beat_random_clearly(n):
    result = compare(StingGame(num_players=n, rounds=1), ["greedy", "rulebook", "random"], blocks=60, seed=11)
    for name in ("greedy", "rulebook"):
        pair = result.pair(name, "random")
        assert pair.payoff.low > 0.1
        assert pair.win_share.low > 0.8
        assert pair.points.mean < pair.rest_points.mean
