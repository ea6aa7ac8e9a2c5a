"""One seed is one game, through the engine in any batch and through every adapter."""

import numpy as np
import pytest

from tabletop.adapters.aec import env as aec_env
from tabletop.adapters.gymnasium import SelfPlayVectorEnv, SinglePlayerEnv
from tabletop.jit import COMPILED
from tabletop.seeding import spread
from tests.tabletop.games import flat, same_states, small_game
from tests.tabletop.streams import played_out, uniform_actions

RUN, SIZE = 77, 1024 if COMPILED else 40


@pytest.fixture(
    scope="module", params=[("high-card", 4), ("sting", 3), ("stingy", 2)], ids=["high-card", "sting", "stingy"]
)
def table(request):
    """Return a game, the seeds of 1024 lanes, and the ends of their first episodes."""
    game = small_game(*request.param)
    seeds = spread(RUN, SIZE)
    return game, seeds, played_out(game, seeds)


@pytest.mark.parametrize("size", [1, 7])
def test_batches(table, size):
    game, seeds, ends = table
    assert same_states(played_out(game, seeds[-size:]), ends[-size:], but="rewards")


def test_a_seed_for_all_lanes_is_spread(table):
    game, seeds, _ = table
    states = game.new_states(SIZE)
    game.reset(states, RUN)
    assert np.array_equal(states["seed"], seeds)


def test_aec(table):
    game, seeds, ends = table
    env = aec_env(game)
    for b in range(5):
        env.reset(seed=int(seeds[b]))
        while not any(env.terminations.values()):
            env.step(int(uniform_actions(game, env.unwrapped.states)[0]))
        assert same_states(env.unwrapped.states, ends[b : b + 1], but="rewards")


def test_gymnasium(table):
    game, seeds, ends = table
    env = SinglePlayerEnv(game)
    for b in range(5):
        env.reset(seed=int(seeds[b]))
        done = False
        while not done:
            done = env.step(uniform_actions(game, env.rows.states)[0])[2]
        if env.rows.skipped == 0:
            assert same_states(env.rows.states, ends[b : b + 1], but="rewards")
        env.rows.skipped = 0


def first_ends(rows, step):
    """Play every row to the end of its first episode; return lanes, last observations, payments and seats."""
    game, found = rows.game, {}
    later = rows.states["episode"] > 0  # the first episode never asked the learner
    while len(found) < rows.num_lanes:
        step(uniform_actions(game, rows.states))
        if rows.finished is not None:
            ended = rows.finished
            for i, b in enumerate(ended.lanes.tolist()):
                found.setdefault(b, (ended.observation[i], ended.returns[i], ended.seats[i]))
    return {b: end for b, end in found.items() if not later[b]}


def check_ends(table, found):
    game, _, ends = table
    assert len(found) > 30
    for b, (observation, paid, seat) in found.items():
        assert paid == pytest.approx(float(ends["returns"][b, seat]), abs=1e-5)
        assert np.array_equal(observation, flat(game.observe(ends[b : b + 1], int(seat)))[0])


def test_stable_baselines3(table):
    sb3 = pytest.importorskip("tabletop.adapters.sb3")
    env = sb3.SelfPlayVecEnv(table[0], SIZE, seed=RUN)
    env.reset()
    check_ends(table, first_ends(env.rows, env.step))


def test_gymnasium_by_the_batch(table):
    env = SelfPlayVectorEnv(table[0], 40)
    env.reset(seed=table[1][:40].tolist())
    check_ends(table, first_ends(env.rows, env.step))
