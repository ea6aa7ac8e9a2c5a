"""Warm start: imitate a bot before playing against oneself.

The bot plays all seats, now and then a random action in its place so that positions off its path are seen too; the
network learns the bot's choice and the outcome of the game.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import torch

from agents.base import Agent
from tabletop.game import raw_bytes
from tabletop.seeding import spread
from training.network import log_probabilities, places_of
from training.ppo import SelfPlayPPO

SMOOTHING = 0.1  # weight on all legal actions alike


def imitate(
    model: SelfPlayPPO,
    teacher: Agent,
    decisions: int,
    *,
    exploration: float = 0.05,
    learning_rate: float = 1e-3,
    batch_size: int = 1024,
    progress: Callable[[int, float], None] | None = None,
) -> float:
    """Train `model` on about `decisions` decisions of `teacher`; return the share of its choices reproduced at the end.

    progress(decisions so far, agreement) is called after every rollout.
    """
    rng = np.random.default_rng(model.seed)
    network, rollout, game = model.policy.network, model.rollout, model.game
    optimizer = torch.optim.Adam(network.parameters(), lr=learning_rate)
    done, agreement = 0, 0.0
    while done < decisions:
        for group in optimizer.param_groups:
            group["lr"] = learning_rate * max(0.1, 1 - done / decisions)

        def act(
            observations: np.ndarray, masks: np.ndarray, states: np.ndarray, ahead: np.ndarray
        ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
            records = observations.view(game.spec.observation_dtype).reshape(-1)
            actions = teacher.act(records, masks, rng.integers(0, 2**63, len(records), dtype=np.uint64))
            explores = np.flatnonzero(rng.random(len(actions)) < exploration)
            for lane in explores:
                actions[lane] = rng.choice(np.flatnonzero(masks[lane]))
            nothing = np.zeros(len(actions), np.float32)
            return actions, nothing, nothing

        done += model.next_selfplay().collect(rollout, act)
        rollout.rewards *= model.reward_scale
        rollout.credit(1.0, 1.0)
        agreement = learn_choices(model, teacher, optimizer, batch_size, spread(int(rng.integers(2**31)), 1)[0])
        if progress is not None:
            progress(done, agreement)
    return agreement


def learn_choices(
    model: SelfPlayPPO, teacher: Agent, optimizer: torch.optim.Optimizer, batch_size: int, key: np.uint64
) -> float:
    """Make one pass over the rollout: cross-entropy to the teacher's choice, squared error to the outcome."""
    rollout, network = model.rollout, model.policy.network
    size = rollout.observations.shape[2]
    flat = rollout.observations.reshape(-1, size)
    records = flat.view(model.game.spec.observation_dtype).reshape(-1)
    assert raw_bytes(records).shape == flat.shape
    masks = rollout.masks.reshape(len(flat), -1)
    choices = teacher.act(records, masks, np.full(len(flat), key, np.uint64))
    positions = network.read(flat, masks)
    places = places_of(positions, np.arange(len(flat)), choices)
    sizes = torch.from_numpy(np.diff(positions.legal_start))
    targets = torch.from_numpy(rollout.targets.reshape(-1))
    trained = torch.from_numpy(np.flatnonzero(rollout.trained))
    same = total = 0
    for batch in trained[torch.randperm(len(trained), generator=model.generator)].split(batch_size):
        scores, values = network(positions, batch.numpy())
        log_probs = log_probabilities(scores)
        chosen = log_probs.gather(1, places[batch]).squeeze(1)
        # Some weight on every legal action: a choice the teacher never makes must stay open to the learner.
        legal = torch.arange(log_probs.shape[1]) < sizes[batch][:, None]
        spread_out = torch.where(legal, log_probs, torch.zeros(())).sum(1) / sizes[batch]
        loss = (
            -((1 - SMOOTHING) * chosen + SMOOTHING * spread_out).mean()
            + 0.5 * (targets[batch] - values).square().mean()
        )
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(network.parameters(), 1.0)
        optimizer.step()
        same += int((log_probs.argmax(1) == places[batch].squeeze(1)).sum())
        total += len(batch)
    return same / max(total, 1)
