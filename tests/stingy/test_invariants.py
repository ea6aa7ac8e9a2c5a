"""What holds in every game, whoever plays: tiles, sums, ends, and that a seed gives one game."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from stingy_env import StingyGame
from stingy_env.rules import ALL_TILES, NUM_KINDS, TILES_OF_KIND, VALUE_OF_SIZE
from tabletop.threads import forced
from tests.stingy.play import CONFIGS, random_games

LONGEST = 3000  # decisions; random games take about 150


def set_aside(states):
    """Return the complete kinds of every seat as 0 and 1 [B, P, K]."""
    return (states["complete"][:, :, None] >> np.arange(NUM_KINDS)) & 1


def pool_counts(states):
    """Return the tiles of each kind in the stacks [B, K]."""
    place = np.arange(states["pool"].shape[1])
    low, high = states["pool_low"][:, :, None], states["pool_high"][:, :, None]
    here = ((place >= low) & (place < high)).any(axis=1)
    return np.stack([((states["pool"] == kind) & here).sum(axis=1) for kind in range(NUM_KINDS)], axis=1)


@pytest.mark.parametrize("options", CONFIGS, ids=str)
def test_tiles_are_neither_lost_nor_doubled(options):
    for _, states in random_games(30, **options):
        found = states["tiles"].sum(axis=1) + set_aside(states).sum(axis=1) * TILES_OF_KIND + states["unseen"]
        assert (found == TILES_OF_KIND).all()
        assert (pool_counts(states) == states["unseen"]).all()
        assert (states["unseen"].sum(axis=1) == states["pool_size"]).all()
        assert found.sum(axis=1).tolist() == [len(ALL_TILES)] * len(states)


@pytest.mark.parametrize("options", CONFIGS, ids=str)
def test_what_is_kept_beside_the_tiles_fits_them(options):
    for game, states in random_games(30, **options):
        assert (states["tiles"] < TILES_OF_KIND).all()
        assert (states["value"] == VALUE_OF_SIZE[states["tiles"]]).all()
        assert (states["worth"] == states["value"].sum(axis=2)).all()
        assert (states["groups"] == ((states["tiles"] > 0) << np.arange(NUM_KINDS)).sum(axis=2)).all()
        points = np.repeat(game.config.complete_points, [6, 6, 6, 6, 1])
        if not game.config.colour_scoring:
            players = np.arange(6) < states["num_players"][:, None]
            assert (states["scores"] == (set_aside(states) @ points) * players).all()


@pytest.mark.parametrize("options", CONFIGS, ids=str)
def test_every_decision_is_a_choice_and_every_game_ends(options):
    for steps, (game, states) in enumerate(random_games(50, **options)):
        choices = game.legal_action_mask(states).sum(axis=1)
        over = game.terminated(states)
        assert (choices[~over] >= 2).all()
        assert (choices[over] == 0).all()
        assert (states["last_turns"][over] == 0).all()
        assert (states["pool_size"][over] == 0).all()
        assert steps < LONGEST
    assert (states["winners"] > 0).all()


@pytest.mark.parametrize("options", CONFIGS, ids=str)
def test_rewards_sum_to_zero_and_returns_are_their_sum(options):
    total = np.zeros((50, 6), np.float32)
    for game, states in random_games(50, **options):
        rewards = game.rewards(states)
        assert abs(rewards.sum(axis=1)).max() < 1e-5
        total += rewards
        assert (game.returns(states) == total).all()
        assert (rewards[~game.terminated(states)] == 0).all()  # paid at the end
    assert (total[:, options["num_players"] :] == 0).all()
    assert (total != 0).any()
    before = game.returns(states)
    game.step(states, np.zeros(50, np.int64))  # over: nothing more is paid, nothing changes
    assert (game.rewards(states) == 0).all()
    assert (game.returns(states) == before).all()


@pytest.mark.parametrize("num_players", [2, 3, 5])
def test_same_seed_same_game_whatever_the_batch(num_players):
    """Batch sizes 1, 7 and 1024, lanes in another order, and threads."""
    game = StingyGame(num_players=num_players)
    seeds = np.arange(1024, dtype=np.uint64) + np.uint64(99)

    def played(of, threads=1):
        states = game.new_states(len(of))
        game.reset(states, of)
        while not game.terminated(states).all():
            game.step(states, game.random_actions(states, of), num_threads=threads)
        states["rewards"] = 0  # of the last step, which in a batch comes when the longest game ends
        return states

    everything = played(seeds)
    with forced(3):
        assert (played(seeds, threads=3) == everything).all()
    assert (played(seeds[:7]) == everything[:7]).all()
    assert (played(seeds[3:4]) == everything[3:4]).all()
    assert (played(seeds[::-1].copy())[::-1] == everything).all()
    assert len({state.tobytes() for state in everything["tiles"]}) == 1024


def test_lanes_of_one_batch_may_differ_in_players():
    game = StingyGame(num_players=4)
    counts = np.array([2, 3, 4, 5, 6])
    states = game.new_states(5)
    seeds = np.full(5, 1, np.uint64)
    game.reset(states, seeds, num_players=counts)
    alone = game.new_states(5)
    for lane, count in enumerate(counts):
        StingyGame(num_players=int(count)).reset(alone, seeds[:1], lanes=[lane])
    assert (states == alone).all()
    assert [game.to_dict(state)["config"]["num_players"] for state in states] == counts.tolist()


def test_advance_plays_the_same_games_and_begins_the_next():
    game = StingyGame(num_players=3)
    states = game.new_states(16)
    game.reset(states, 4)
    stepped = states.copy()
    rewards, ended = np.zeros((16, 6), np.float32), np.zeros(16, np.bool_)
    mask, observation = np.zeros((16, 155), np.bool_), np.zeros(16, game.spec.observation_dtype)
    keys = np.arange(16, dtype=np.uint64)
    for _ in range(400):
        actions = game.random_actions(states, keys)
        lanes = np.flatnonzero(~game.terminated(stepped))
        game.step(stepped, actions[lanes], lanes=lanes)
        game.advance(states, actions, rewards=rewards, terminated=ended, mask=mask, observation=observation)
        first = (states["episode"] == 0) & ~ended
        assert (states[first] == stepped[first]).all()
        assert (mask == game.legal_action_mask(states)).all()
        assert observation.tobytes() == game.observe(states).tobytes()
        assert (mask.sum(axis=1) >= 2).all()
    assert (states["episode"] > 0).all()


def test_what_a_seat_draws_does_not_depend_on_how_much_others_drew():
    """Two games of one seed, one lane drawing an extra tile where it may: the other seats still draw the same."""
    game = StingyGame(num_players=3, captain_sly=True)
    states = game.new_states(200)
    game.reset(states, 0)
    greedy = states.copy()
    for batch, draw in ((states, "tiles regular"), (greedy, "tiles extra")):
        for _ in range(8):
            asked = batch["phase"] == game.spec.phases.index("DRAW")
            actions = np.where(asked, game.string_to_action(draw), game.string_to_action("no swap"))
            game.step(batch, actions)
    tops = [[game.to_dict(state)["pool_stacks"] for state in batch] for batch in (states, greedy)]
    differ = 0
    for one, other in zip(*tops):
        for a, b in zip(one, other):
            shared = min(len(a), len(b))
            assert a[:shared] == b[:shared]
            differ += len(a) != len(b)
    assert differ > 0


DIGEST = """
import hashlib
import numpy as np
from tests.stingy.play import CONFIGS, random_games

digest = hashlib.sha256()
for options in CONFIGS:
    for game, states in random_games(1, seed=3, **options):
        worlds = game.determinize(states, 0, np.ones(1, np.uint64))
        for name in states.dtype.names:
            digest.update(states[name].tobytes() + worlds[name].tobytes())
        digest.update(game.observe(states).tobytes() + game.observe_all(states).tobytes())
print(digest.hexdigest())
"""


@pytest.mark.slow
def test_plain_python_plays_the_same_games():
    """With compilation switched off every byte of every record and observation is the same."""
    digests = [
        subprocess.run(
            [sys.executable, "-c", DIGEST],
            env=os.environ | {"NUMBA_DISABLE_JIT": disabled},
            cwd=Path(__file__).parents[2],
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for disabled in ("0", "1")
    ]
    assert digests[0] == digests[1]
