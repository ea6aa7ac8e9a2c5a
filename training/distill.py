"""Learn from rollouts: label positions with the value of every legal action, then move a policy towards the better ones.

A label is the mean further return of each action over `worlds` dealings of what the player can't know, a bot playing all
seats on (`agents.search`); a win may count beside the game's own reward. Positions come from games in which the policy to
be improved, the rollouts' best action and now and then chance move. The policy then maximizes the expected value of its
choice over all legal actions, held near its prior by a little Kullback-Leibler divergence: a policy gradient without the
noise of which action was taken and what came after it (Ciosek and Whiteson, 2018, "Expected policy gradients"). Shards of
labels are written one by one, so that labelling survives a stop:

    python -m training.distill --game sting --players 2 --labels 200000 --init runs/sting/best --out runs/distilled
"""

from __future__ import annotations

import argparse
import copy
import os
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from agents import policy as policies
from agents.base import Agent, CompiledBot
from agents.registry import make_agent
from agents.rollout import with_aim
from agents.search import rollouts
from tabletop.game import BatchGame, flat
from tabletop.registry import make
from tabletop.seeding import spread
from training.network import TorchNetwork, log_probabilities, make_network
from training.train import game_id, read_option

Array = NDArray[Any]
LANES, STEPS = 128, 40  # games side by side in a shard, and decisions of each
LABELLED = 0.7  # share of decisions labelled
BEST, RANDOM = 0.2, 0.03  # share of labelled moves made by the best label, and of all moves made at random
HELD_OUT = 0.05  # share of shards that progress is measured on


@dataclass(frozen=True)
class Labels:
    """Labelled positions: observations int8 [M, D], masks bool [M, A], values float32 [M, A], 0 where illegal."""

    observations: Array
    masks: Array
    values: Array

    def __len__(self) -> int:
        return len(self.observations)

    @cached_property
    def outcomes(self) -> Array:
        """The mean value of the legal actions, float32 [M]: about what the position is worth."""
        return np.asarray(self.values.sum(axis=1) / self.masks.sum(axis=1), np.float32)


@dataclass(frozen=True)
class Labeller:
    """How labels are made. actor: who moves. bot: who plays on. players: player counts, each as often as it is named.

    win_reward: what a win is worth beside the game's own reward, less its equal share.
    """

    game: BatchGame
    actor: Agent
    bot: CompiledBot
    players: tuple[int, ...]
    worlds: int
    win_reward: float

    def values(self, states: Array, key: int) -> Array:
        """Return the value of every legal action, float64 [B, A], nan where illegal."""
        values = rollouts(self.game, states, self.bot, self.worlds, key).mean
        if self.win_reward:
            wins = rollouts(with_aim(self.game, "win"), states, self.bot, self.worlds, key).mean
            count = states["num_players"][:, None]
            # reward="win" pays a lone winner 1 and the others -1/(n-1).
            values = values + self.win_reward * wins * (count - 1) / count
        return values


def label_shard(labeller: Labeller, seed: int) -> Labels:
    """Return the labels of one shard, which depend on its seed and the labeller alone."""
    game, players = labeller.game, labeller.players
    rng = np.random.default_rng(seed)
    states = game.new_states(LANES)
    game.reset(states, spread(seed, LANES), num_players=rng.choice(players, LANES))
    episodes = LANES
    parts: list[tuple[Array, Array, Array]] = []
    for _ in range(STEPS):
        masks, observations = game.legal_action_mask(states), game.observe(states)
        chosen = np.flatnonzero((masks.sum(axis=1) > 1) & (rng.random(LANES) < LABELLED))
        values = labeller.values(states[chosen], int(rng.integers(2**62)))
        parts.append((flat(observations)[chosen].copy(), masks[chosen], np.nan_to_num(values).astype(np.float32)))
        actions = labeller.actor.act(observations, masks, rng.integers(0, 2**63, LANES, dtype=np.uint64))
        by_label = rng.random(len(chosen)) < BEST
        actions[chosen[by_label]] = np.nanargmax(values, axis=1)[by_label]
        for lane in np.flatnonzero(rng.random(LANES) < RANDOM):
            actions[lane] = rng.choice(np.flatnonzero(masks[lane]))
        game.step(states, actions)
        over = np.flatnonzero(game.terminated(states))
        if len(over):
            seeds = spread(seed, len(over), first=episodes)
            game.reset(states, seeds, lanes=over, num_players=rng.choice(players, len(over)))
            episodes += len(over)
    return Labels(*(np.concatenate(columns) for columns in zip(*parts, strict=True)))


def write_shard(path: Path, labels: Labels) -> None:
    """Write a shard beside its place and rename it."""
    with tempfile.NamedTemporaryFile(dir=path.parent, suffix=".part", delete=False) as file:
        packed = np.packbits(labels.masks, axis=1)
        np.savez_compressed(file, observations=labels.observations, masks=packed, values=labels.values)
    os.replace(file.name, path)


def read_shards(paths: list[Path], game: BatchGame) -> Labels:
    """Return the labels of several shards."""
    parts = []
    for path in paths:
        with path.open("rb") as source, np.load(source, allow_pickle=False) as file:
            masks = np.unpackbits(file["masks"], axis=1, count=game.num_actions).astype(np.bool_)
            parts.append((file["observations"], masks, file["values"]))
    return Labels(*(np.concatenate(columns) for columns in zip(*parts, strict=True)))


def label(folder: Path, labeller: Labeller, count: int, seed: int) -> list[Path]:
    """Label at least `count` positions, shard by shard; shards that are there already are kept."""
    folder.mkdir(parents=True, exist_ok=True)
    paths: list[Path] = []
    done = 0
    begun, new = time.perf_counter(), 0
    while done < count:
        path = folder / f"{len(paths):05d}.npz"
        if not path.exists():
            labels = label_shard(labeller, seed * 1_000_003 + len(paths))
            write_shard(path, labels)
            new += len(labels)
        with path.open("rb") as source, np.load(source, allow_pickle=False) as file:
            done += len(file["masks"])
        paths.append(path)
        rate = new / (time.perf_counter() - begun)
        print(
            f"label: {done:,} of {count:,} positions, {rate:.0f}/s",
            end="\r" if sys.stdout.isatty() else "\n",
            flush=True,
        )
    return paths


@dataclass(frozen=True)
class Gain:
    """What labels say of a policy on positions it has not learned from: mean value of its choices."""

    prior: float
    learned: float
    best: float  # of the best label: too high, as the best of noisy values is


def renamed(game: BatchGame, labels: Labels, ids: Array, rng: np.random.Generator) -> Labels:
    """Return some labels, each under a random renaming that leaves the game the same."""
    observations = labels.observations[ids]
    inputs, actions = game.random_symmetries(observations.view(game.spec.observation_dtype).reshape(-1), rng)
    return Labels(
        np.take_along_axis(observations, inputs, axis=1),
        np.take_along_axis(labels.masks[ids], actions, axis=1),
        np.take_along_axis(labels.values[ids], actions, axis=1),
    )


def learn(
    game: BatchGame,
    network: TorchNetwork,
    train: Labels,
    test: Labels,
    *,
    kl: float,
    epochs: int,
    learning_rate: float,
    seed: int = 0,
) -> Gain:
    """Raise the expected value of the choices of `network` by the labels, in place.

    Every position is met under another name in every epoch (`BatchGame.random_symmetries`).

    The loss is  -sum_a pi(a) value(a) + kl KL(pi || prior): linear in the labels, so that their noise does not bias it
    as a softmax over noisy values would.
    """
    prior = copy.deepcopy(network)
    before, best = expected_value(network, test)
    optimizer = torch.optim.Adam(network.parameters(), lr=learning_rate)
    generator, rng = torch.Generator().manual_seed(seed), np.random.default_rng(seed)
    steps = epochs * len(torch.arange(len(train)).split(BATCH))
    done = 0
    for epoch in range(epochs):
        for batch in torch.randperm(len(train), generator=generator).split(BATCH):
            labels = renamed(game, train, batch.numpy(), rng)
            positions, ids = network.read(labels.observations, labels.masks), np.arange(len(labels))
            for group in optimizer.param_groups:
                group["lr"] = learning_rate * max(0.05, 1 - done / steps)
            scores, outcome = network(positions, ids)
            values = legal_values(labels, scores.shape[1])
            log_probs = log_probabilities(scores)
            with torch.no_grad():
                prior_log_probs = log_probabilities(prior(positions, ids)[0])
            probs = log_probs.exp()
            divergence = (probs * (log_probs - prior_log_probs)).sum(1)
            reached = torch.from_numpy(labels.outcomes)
            loss = (kl * divergence - (probs * values).sum(1)).mean() + 0.1 * (outcome - reached).square().mean()
            optimizer.zero_grad(set_to_none=True)
            loss.backward()
            torch.nn.utils.clip_grad_norm_(network.parameters(), 1.0)
            optimizer.step()
            done += 1
        value, _ = expected_value(network, test)
        print(f"learn: epoch {epoch + 1} of {epochs}, value of choices {before:+.4f} -> {value:+.4f}", flush=True)
    return Gain(before, expected_value(network, test)[0], best)


BATCH = 1024


def legal_values(labels: Labels, width: int) -> torch.Tensor:
    """Return the values of the legal actions of all positions, less their mean, as the network orders them [B, K]."""
    out = np.zeros((len(labels), width), np.float32)
    for i in range(len(labels)):
        values = labels.values[i, labels.masks[i]]
        out[i, : len(values)] = values - values.mean()
    return torch.from_numpy(out)


@torch.no_grad()
def score_all(network: TorchNetwork, labels: Labels) -> Iterator[tuple[torch.Tensor, torch.Tensor, int]]:
    """Yield log-probabilities of the legal actions [k], their values [k] and the position's number, for all positions."""
    positions = network.read(labels.observations, labels.masks)
    sizes = np.diff(positions.legal_start)
    for batch in torch.arange(len(labels)).split(4096):
        log_probs = log_probabilities(network(positions, batch.numpy())[0])
        for row, i in enumerate(batch.tolist()):
            values = torch.from_numpy(labels.values[i, labels.masks[i]])
            yield log_probs[row, : sizes[i]].clone(), values, i


def expected_value(network: TorchNetwork, labels: Labels) -> tuple[float, float]:
    """Return the mean value of a policy's choices and of the best label, each less the mean of its position."""
    chosen = best = 0.0
    for log_probs, values, _ in score_all(network, labels):
        values = values - values.mean()
        chosen += float((log_probs.exp() * values).sum())
        best += float(values.max())
    return chosen / len(labels), best / len(labels)


def main(arguments: list[str] | None = None) -> None:
    """Label and learn."""
    reader = argparse.ArgumentParser("python -m training.distill", description="Learn from rollouts.")
    reader.add_argument("--game", default="sting")
    reader.add_argument(
        "--option", "-o", action="append", default=[], metavar="KEY=VALUE", help="an option of the game"
    )
    reader.add_argument("--players", default="2", help="player counts, comma separated, each as often as it is named")
    reader.add_argument("--bot", default="greedy", help="the bot that plays on")
    reader.add_argument("--worlds", type=int, default=24)
    reader.add_argument("--win-reward", type=float, default=0.0, help="what a win is worth beside the game's reward")
    reader.add_argument("--labels", type=int, default=200_000)
    reader.add_argument("--seed", type=int, default=1)
    reader.add_argument("--init", required=True, help="folder of the policy to improve")
    reader.add_argument("--out", type=Path, required=True, help="labels go to OUT/labels, the policy to OUT/best")
    reader.add_argument("--kl", type=float, default=0.005, help="weight of the divergence from the policy improved")
    reader.add_argument("--epochs", type=int, default=4)
    reader.add_argument("--learning-rate", type=float, default=1e-3)
    given = reader.parse_args(arguments)
    torch.set_num_threads(1)
    players = tuple(int(part) for part in given.players.split(","))
    name = game_id(given.game)
    options = dict(make(name).spec.unit_options) | dict(read_option(text) for text in given.option)
    game = make(name, **options, num_players=players[0])
    bot = make_agent(given.bot, game)
    if not isinstance(bot, CompiledBot):
        raise SystemExit(f"only a compiled bot can play on, not {given.bot}")
    actor = policies.load(given.init, game)
    labeller = Labeller(game, actor, bot, players, given.worlds, given.win_reward)
    paths = label(given.out / "labels", labeller, given.labels, given.seed)
    held_out = max(1, int(len(paths) * HELD_OUT))
    train, test = read_shards(paths[held_out:], game), read_shards(paths[:held_out], game)
    description, shape = policies.read_description(Path(given.init)), actor.network.shape
    network = make_network(game, shape)
    network.load_state_dict({name: torch.from_numpy(array) for name, array in actor.network.weights.items()})
    gain = learn(game, network, train, test, kl=given.kl, epochs=given.epochs, learning_rate=given.learning_rate)
    story = {
        "distilled": vars(given) | {"out": str(given.out), "gain": vars(gain)},
        "before": description.get("training"),
    }
    policies.save(given.out / "best", policies.describe(game, shape, story), network.arrays())
    print(
        f"done: value of choices {gain.prior:+.4f} -> {gain.learned:+.4f} (best label {gain.best:+.4f}); {given.out}/best"
    )


if __name__ == "__main__":
    main()
