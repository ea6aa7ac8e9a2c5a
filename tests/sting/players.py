"""Choose actions for whole batches from masks: at random, or hungry for plays."""

import numpy as np

from tests.sting.table import DISCARD, RETURN


def choose(rng, mask, hungry=0.0):
    """Give a legal action for each lane, int64 [B]; lanes without one get 0.

    hungry: probability, a number or [B], with which a lane prefers plays and returns to discards and accepting.
    """
    scores = rng.random(mask.shape) * mask
    wanted = mask.copy()
    wanted[:, DISCARD.start :] = False
    wanted[:, RETURN] = mask[:, RETURN]
    wanted[:, :2] = False
    scores += wanted * (rng.random(len(mask)) < hungry)[:, None]
    return scores.argmax(1)


def play_out(game, states, rng, hungry=0.5, max_steps=100_000):
    """Play every lane to its end and give the number of steps."""
    mask = game.legal_action_mask(states)
    for step in range(max_steps):
        if game.terminated(states).all():
            return step
        game.step(states, choose(rng, mask, hungry))
        game.legal_action_mask(states, out=mask)
    raise AssertionError("the games do not end")


def fresh(game, seeds, num_players=None):
    """Give states with a new game for each seed."""
    seeds = np.asarray(seeds, np.uint64)
    states = game.new_states(len(seeds))
    game.reset(states, seeds, num_players=num_players)
    return states
