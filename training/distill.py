"""Learn from every action: play each legal action of a position out, and move a policy towards the better ones.

An action's value is what the player was paid next after it, an agent playing on: with the cards and the draws as they
lie. No player knows these, and no policy is shown them; it learns the mean over the many positions that look alike,
each of which is one dealing of what may be hidden, as likely as play makes it. All actions of a position share its
luck, so that their differences are far less noisy than outcomes, and none is left out because a policy hardly ever
tries it: the two things that hold self-play back where the deal decides most of a round.

The policy maximizes the expected value of its choice over all actions tried (Ciosek and Whiteson, 2018, "Expected
policy gradients") and a little entropy, so that it is not sure of a choice before it has seen enough of it: what it is
sure of, it learns no more about. That is one step of policy improvement from the bot that plays on (Tesauro and
Galperin, 1996), learned by a network instead of searched at every decision. The policy that has learned can play on in
its turn, against the others that are seated (`--seated`), for the next step. First all legal actions are tried; a
policy that has learned from those says where the doubt is, and the next labels are of what it finds likely enough,
several times as many in the same time. Labels are written shard by shard, each by its number alone, so that labelling
survives a stop and is shared by processes:

    python -m training.distill --players 2,2,2,3,4,5,6 --shards 300 --movers planner,ppo,greedy \
        --sharpen 1 --out runs/all
    python -m training.distill --players 2,2,2,3,4,5,6 --shards 1500 --init runs/all/best --floor 0.03 \
        --movers planner,checkpoint:runs/all/best,greedy --more runs/all/labels --sharpen 1 --out runs/doubt
    python -m training.distill --players 2,2,2,3,4,5,6 --shards 600 --init runs/doubt/best --floor 0.03 \
        --bot checkpoint:runs/doubt/best:best=yes --seated --movers planner,checkpoint:runs/doubt/best:best=yes,greedy \
        --out runs/second
"""

from __future__ import annotations

import argparse
import json
import math
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray

from agents import policy as policies
from agents.base import Agent, play_seated
from agents.digest import digest
from agents.registry import make_agent, split_specs
from tabletop.executors import run_tasks
from tabletop.files import whole_file, write_whole
from tabletop.game import BatchGame, flat
from tabletop.registry import make
from tabletop.seeding import spread
from tabletop.selfplay import ask
from training.network import TorchNetwork, entropy, log_probabilities, make_network
from training.selfplay import win_shares
from training.sparse import MASKED, join
from training.train import game_id, read_option

Array = NDArray[Any]
LANES, STEPS = 64, 40  # games side by side in a shard, and decisions of each
LABELLED = 0.8  # share of decisions labelled
RANDOM = 0.04  # share of moves made at random
HELD_OUT = 0.05  # share of shards that progress is measured on
AT_ONCE = 8  # shards read and shuffled together
BATCH = 1024
VALUE_WEIGHT = 0.1
# A point paid before the last round: how much it moves the odds of winning the game. The payoff of a round of Sting has a
# standard deviation of 0.31, that of four to come 0.62, and the normal density at an even score is 0.4 over that.
WIN_PER_POINT = 0.6


@dataclass(frozen=True)
class Labels:
    """Labelled positions: observations int8 [M, D], masks and tried bool [M, A]; float32 [M, A], 0 where not tried, points.

    points: what each action came to in the game's own reward; wins: in wins, less an equal share.
    """

    observations: Array
    masks: Array
    tried: Array
    points: Array
    wins: Array

    def __len__(self) -> int:
        return len(self.observations)


@dataclass(frozen=True)
class Aim:
    """What a point and a win are worth."""

    point: float = 1.0
    win: float = 1.0

    def values(self, labels: Labels) -> tuple[Array, Array]:
        """Return the worth of each action tried, float32 [M, A], less the mean of its position, float32 [M]."""
        worth = np.float32(self.point) * labels.points + np.float32(self.win) * labels.wins
        means = worth.sum(axis=1) / labels.tried.sum(axis=1)
        return np.where(labels.tried, worth - means[:, None], 0), means


@dataclass(frozen=True)
class Labeller:
    """How labels are made; it can be sent to other processes.

    games: configurations, met in turn by the number of the shard. movers: specs of the agents that play
    (`agents.registry`), one drawn for every seat of every game; bot: the spec of who plays on, in every seat, or, if
    `seated`, in that of the player whose decision is labelled, the movers in theirs. players: player counts, each as
    often as it is named. judge: None, or the folder of a policy: only the `most` actions are tried that it finds
    likeliest, and only those to which it gives at least the probability `floor`, where there are two of them.
    """

    games: tuple[BatchGame, ...]
    movers: tuple[str, ...]
    bot: str
    players: tuple[int, ...]
    seed: int
    judge: str | None = None
    floor: float = 0.0
    most: int | None = None
    seated: bool = False

    @cached_property
    def players_on(self) -> list[Agent]:
        """The movers, and after them who plays on."""
        return [make_agent(spec, self.games[0]) for spec in (*self.movers, self.bot)]

    def agents(self) -> list[Agent]:
        """Return all that play, play on and judge, made anew; ValueError for one that can't be."""
        found = [make_agent(spec, self.games[0]) for spec in (*self.movers, self.bot)]
        return found + ([] if self.judge is None else [policies.load(self.judge, self.games[0])])

    def settings(self) -> dict[str, Any]:
        """Return what the labels hang on."""
        told = {field.name: getattr(self, field.name) for field in fields(self) if field.name != "games"}
        told["game"] = self.games[0].spec.name
        told["games"] = [game.config.to_dict() for game in self.games]
        told["digest"] = digest(self.games[0], self.agents())
        plain: dict[str, Any] = json.loads(json.dumps(told))
        return plain

    def shard(self, number: int) -> Labels:
        """Return the labels of a shard: they hang on its number and the labeller alone."""
        game = self.games[number % len(self.games)]
        return Table(self, game, self.seed * 1_000_003 + number).play()


class Table:
    """Games played side by side, whose positions are labelled."""

    def __init__(self, labeller: Labeller, game: BatchGame, seed: int) -> None:
        self.labeller, self.game, self.seed = labeller, game, seed
        self.judge = None if labeller.judge is None else policies.load(labeller.judge, game)
        self.rng = np.random.default_rng(seed)
        self.episodes = 0
        self.states = game.new_states(LANES)
        self.seated = np.zeros((LANES, game.spec.max_players), np.int64)  # the mover in each seat
        self._begin(np.arange(LANES))

    def play(self) -> Labels:
        """Play, and return the labels of some positions that leave a choice."""
        game, states, rng = self.game, self.states, self.rng
        parts: list[tuple[Array, ...]] = []
        for _ in range(STEPS):
            masks, observations = game.legal_action_mask(states), game.observe(states)
            tried = self._worth_trying(observations, masks)
            chosen = np.flatnonzero((tried.sum(axis=1) > 1) & (rng.random(LANES) < LABELLED))
            seen = flat(observations)[chosen].copy()
            parts.append((seen, masks[chosen], tried[chosen], states[chosen], self._who_plays_on(chosen)))
            game.step(states, self._moves(masks))
            self._begin(np.flatnonzero(game.terminated(states)))
        observations, masks, tried, positions, seats = (np.concatenate(columns) for columns in zip(*parts, strict=True))
        key = int(rng.integers(2**62))
        return Labels(
            observations, masks, tried, *try_actions(game, positions, tried, self.labeller.players_on, seats, key)
        )

    def _who_plays_on(self, lanes: Array) -> Array:
        """Return which of `Labeller.players_on` plays on in each seat: int64 [L, P]."""
        bot = len(self.labeller.movers)
        if not self.labeller.seated:
            return np.full((len(lanes), self.seated.shape[1]), bot)
        seats = self.seated[lanes]
        seats[np.arange(len(lanes)), self.states["current_player"][lanes].astype(np.int64)] = bot
        return seats

    def _worth_trying(self, observations: Array, masks: Array) -> Array:
        """Return the actions to try: bool [LANES, A]."""
        if self.judge is None:
            return masks
        likely = self.judge.probabilities(observations, masks)
        tried = masks & (likely >= self.labeller.floor)
        if self.labeller.most is not None:
            order = np.argsort(np.where(masks, -likely, 1.0), axis=1, kind="stable")
            np.put_along_axis(tried, order[:, self.labeller.most :], False, axis=1)
        return np.asarray(tried)

    def _moves(self, masks: Array) -> Array:
        """Return what is played in every lane: int64 [LANES]."""
        rng = self.rng
        mover = self.seated[np.arange(LANES), self.states["current_player"].astype(np.int64)]
        keys = rng.integers(0, 2**63, LANES, dtype=np.uint64)
        actions = np.empty(LANES, np.int64)
        for number in np.unique(mover):
            own = np.flatnonzero(mover == number)
            actions[own] = ask(self.labeller.players_on[number], self.game, self.states[own], keys[own])
        for lane in np.flatnonzero(rng.random(LANES) < RANDOM):
            actions[lane] = rng.choice(np.flatnonzero(masks[lane]))
        return actions

    def _begin(self, lanes: Array) -> None:
        """Begin games in `lanes`, in a game of several rounds with any of them."""
        game, labeller = self.game, self.labeller
        if len(lanes) == 0:
            return
        seeds = spread(self.seed, len(lanes), first=self.episodes)
        self.episodes += len(lanes)
        game.reset(self.states, seeds, lanes=lanes, num_players=self.rng.choice(labeller.players, len(lanes)))
        self.seated[lanes] = self.rng.integers(len(labeller.movers), size=(len(lanes), self.seated.shape[1]))
        behind = self.rng.integers(getattr(game.config, "rounds", 1) or 1, size=len(lanes))
        for played in range(int(behind.max())):
            some = lanes[behind > played]
            part = self.states[some]
            play_seated(game, part, labeller.players_on, self.seated[some], self.seed, until_paid=True)
            on = ~game.terminated(part)
            self.states[some[on]] = part[on]


def try_actions(
    game: BatchGame, states: Array, tried: Array, agents: Sequence[Agent], seats: Array, key: int
) -> tuple[Array, Array]:
    """Return what the player on turn is paid next after each action tried, and others playing on: points and wins.

    Both float32 [B, A], 0 where not tried; a win is worth 1, ties shared, less its equal share. states [B], none of them
    over, stay as they are: hidden cards and luck to come are those that lie there. tried: bool [B, A], legal actions.
    seats: int64 [B, P], which of `agents` plays on in each seat. Where the game is not over with the payment, wins are
    what the points mean for them.
    """
    lanes, actions = np.nonzero(tried)
    points, wins = np.zeros((2, *tried.shape), np.float32)
    if len(lanes) == 0:
        return points, wins
    trial = states[lanes]
    every, player = np.arange(len(trial)), trial["current_player"].astype(np.int64)
    before = trial["returns"].copy()
    game.step(trial, actions)
    unpaid = np.flatnonzero((trial["returns"] == before).all(axis=1) & ~game.terminated(trial))
    part = trial[unpaid]
    play_seated(game, part, agents, seats[lanes[unpaid]], key, until_paid=True)
    trial[unpaid] = part
    paid = (trial["returns"] - before)[every, player]
    won, over = WIN_PER_POINT * paid, game.terminated(trial)
    won[over] = win_shares(game, trial[over])[np.arange(int(over.sum())), player[over]]
    points[lanes, actions], wins[lanes, actions] = paid, won
    return points, wins


# Shards -----------------------------------------------------------------------------------------------------------------


class Shard(NamedTuple):
    """A file of labels, and the game that they are of."""

    path: Path
    game: BatchGame


def write_shard(path: Path, labels: Labels) -> None:
    """Write a shard, whole or not at all."""
    masks, tried = (np.packbits(bits, axis=1) for bits in (labels.masks, labels.tried))
    with whole_file(path) as part, part.open("wb") as file:
        np.savez_compressed(
            file, observations=labels.observations, masks=masks, tried=tried, points=labels.points, wins=labels.wins
        )


def read_shard(shard: Shard) -> Labels:
    """Return the labels of a shard; ValueError if it is damaged."""
    count = shard.game.num_actions
    try:
        with shard.path.open("rb") as source, np.load(source, allow_pickle=False) as file:
            masks, tried = (np.unpackbits(file[name], axis=1, count=count) for name in ("masks", "tried"))
            seen = file["observations"]
            return Labels(seen, masks.astype(np.bool_), tried.astype(np.bool_), file["points"], file["wins"])
    except Exception as error:  # whatever a damaged file makes of its reader
        raise ValueError(
            f"{shard.path} is damaged ({error}): remove it, and the command that made it does so again"
        ) from error


def find_shards(folder: Path) -> list[Shard]:
    """Return the shards in a folder of labels, by number; ValueError if there are none, or nothing tells of what game."""
    paths = sorted(folder.glob("*.npz"))
    if not paths:
        raise ValueError(f"{folder} holds no labels: name the folder `labels` of a run")
    about = read_about(folder)
    games = [make(about["game"], **config) for config in about["games"]]
    return [Shard(path, games[int(path.stem) % len(games)]) for path in paths]


def read_about(folder: Path) -> dict[str, Any]:
    """Return what tells how the labels in a folder were made; ValueError if nothing does."""
    path = folder / "labels.json"
    try:
        about: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        about["game"], about["games"][0]["num_players"]
    except (IndexError, KeyError, OSError, TypeError, ValueError) as error:
        raise ValueError(
            f"{path} does not tell how the labels beside it were made ({error!r}): they can't be used"
        ) from error
    return about


def label_shard(labeller: Labeller, task: tuple[int, Path]) -> int:
    """Make a shard and write it; return its number of labels: the work of `tabletop.executors.run_tasks`."""
    number, path = task
    labels = labeller.shard(number)
    write_shard(path, labels)
    return len(labels)


def label(folder: Path, labeller: Labeller, shards: int, jobs: int) -> list[Shard]:
    """Label shard by shard; those that are there already are kept. ValueError if they were made in another way."""
    settings = labeller.settings()
    if any(folder.glob("*.npz")):
        there = read_about(folder)
        other = [key for key in settings | there if settings.get(key) != there.get(key)]  # the digest last
        if other:
            what = "rules, bots or weights" if other[0] == "digest" else other[0]
            raise ValueError(f"{folder} holds labels made with other {what}: name another --out, or remove them")
    write_whole(folder / "labels.json", json.dumps(settings, indent=1) + "\n")
    paths = [folder / f"{number:05d}.npz" for number in range(shards)]
    tasks = [(number, path) for number, path in enumerate(paths) if not path.exists()]
    begun, made = time.perf_counter(), 0
    executor = "serial" if jobs == 1 else "processes"
    for done, (_, count) in enumerate(run_tasks(label_shard, labeller, tasks, executor, jobs), 1):
        made += count
        rate = made / (time.perf_counter() - begun)
        print(
            f"label: {len(paths) - len(tasks) + done:,} of {len(paths):,} shards, {rate:.0f} labels/s",
            end="\r" if sys.stdout.isatty() else "\n",
            flush=True,
        )
    return [Shard(path, labeller.games[number % len(labeller.games)]) for number, path in enumerate(paths)]


# Learning ---------------------------------------------------------------------------------------------------------------


class Worth(NamedTuple):
    """What labels say of a policy: mean value of its choices among the actions tried, less that of chance.

    sampling, likeliest: of its choices by their probabilities, and of the likeliest. strayed: in how many of the
    positions an action is likelier that was not tried, of which nothing is learned and which so may grow unseen.
    """

    sampling: float
    likeliest: float
    strayed: float

    def __str__(self) -> str:
        return f"{self.sampling:+.5f} sampling, {self.likeliest:+.5f} best action ({self.strayed:.1%} not tried)"


def renamed(game: BatchGame, labels: Labels, rng: np.random.Generator) -> Labels:
    """Return labels, each under a random renaming that leaves the game the same."""
    inputs, actions = game.random_symmetries(labels.observations.view(game.spec.observation_dtype).reshape(-1), rng)
    by_action = (labels.masks, labels.tried, labels.points, labels.wins)
    return Labels(
        np.take_along_axis(labels.observations, inputs, axis=1),
        *(np.take_along_axis(array, actions, axis=1) for array in by_action),
    )


def learn(
    network: TorchNetwork,
    train: Sequence[Shard],
    test: Sequence[Shard],
    *,
    aim: Aim,
    temperature: float,
    epochs: int,
    learning_rate: float,
    seed: int = 0,
) -> None:
    """Raise the expected value of the choices of `network` by the labels of shards, in place; `test` tells how far it is.

    Every position is met under another name in every epoch (`BatchGame.random_symmetries`).

    The loss is  -sum_a pi(a) value(a) - temperature H(pi)  over the actions tried: linear in the labels, so that their
    noise does not bias it as a softmax over noisy values would, and least where pi(a) grows as exp(value(a) / temperature).
    """
    optimizer = torch.optim.Adam(network.parameters(), lr=learning_rate)
    generator, rng = torch.Generator().manual_seed(seed), np.random.default_rng(seed)
    for epoch in range(epochs):
        order = rng.permutation(len(train))
        for first in range(0, len(order), AT_ONCE):
            done = (epoch + first / len(order)) / epochs
            for group in optimizer.param_groups:
                group["lr"] = learning_rate * max(0.03, 1 - done)
            shards = [train[number] for number in order[first : first + AT_ONCE]]
            some = [renamed(shard.game, labels, rng) for shard in shards if len(labels := read_shard(shard))]
            if not some:
                continue
            learn_from(network, optimizer, some, aim, temperature, generator)
        print(f"learn: epoch {epoch + 1} of {epochs}, {expected_value(network, test, aim)}", flush=True)


def learn_from(
    network: TorchNetwork,
    optimizer: torch.optim.Optimizer,
    shards: list[Labels],
    aim: Aim,
    temperature: float,
    generator: torch.Generator,
) -> None:
    """Make one pass over the labels of some shards."""
    positions = join([network.read(labels.observations, labels.masks) for labels in shards])
    values, tried, outcomes = legal_values(shards, aim)
    for batch in torch.randperm(len(positions), generator=generator).split(BATCH):
        ids = batch.numpy()
        scores, outcome = network(positions, ids)
        width = scores.shape[1]
        log_probs = log_probabilities(scores.masked_fill(~tried[batch, :width], MASKED))
        gained = (log_probs.exp() * values[batch, :width]).sum(1)
        missed = (outcome - outcomes[batch]).square()
        loss = (VALUE_WEIGHT * missed - gained - temperature * entropy(log_probs)).mean()
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(network.parameters(), 1.0)
        optimizer.step()


def legal_values(shards: Sequence[Labels], aim: Aim) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Return values less their position's mean, 0 if not tried, what was tried, both [M, K] as scored; the means [M]."""
    masks, tried = (np.concatenate([getattr(labels, name) for labels in shards]) for name in ("masks", "tried"))
    values, means = (np.concatenate(part) for part in zip(*map(aim.values, shards), strict=True))
    shape = (len(masks), int(masks.sum(axis=1).max()))
    out, known = np.zeros(shape, np.float32), np.zeros(shape, np.bool_)
    rows, actions = np.nonzero(tried)
    places = (masks.cumsum(axis=1) - 1)[rows, actions]
    out[rows, places], known[rows, places] = values[rows, actions], True
    return torch.from_numpy(out), torch.from_numpy(known), torch.from_numpy(means)


@torch.no_grad()
def expected_value(network: TorchNetwork, shards: Sequence[Shard], aim: Aim) -> Worth:
    """Return what a policy's choices among the actions tried are worth, less the position's mean; ValueError without any."""
    parts = []
    for shard in shards:
        labels = read_shard(shard)
        if len(labels) == 0:
            continue
        positions = network.read(labels.observations, labels.masks)
        values, tried, _ = legal_values([labels], aim)
        scores = network(positions, np.arange(len(positions)))[0]
        strayed = ~tried.gather(1, scores.argmax(1, keepdim=True)).squeeze(1)
        scores = scores.masked_fill(~tried, MASKED)
        sampled = (log_probabilities(scores).exp() * values).sum(1)
        likeliest = values.gather(1, scores.argmax(1, keepdim=True)).squeeze(1)
        parts.append(torch.stack([sampled, likeliest, strayed.to(values.dtype)]))
    if not parts:
        raise ValueError("no position left a choice between actions worth trying: lower --floor, or make more --shards")
    return Worth(*torch.cat(parts, dim=1).mean(1).tolist())


@torch.no_grad()
def sharpen(network: TorchNetwork, factor: float) -> None:
    """Multiply all scores, in place: the best action stays, and sampling strays from it less."""
    last = [network.policy.weight, network.policy.bias]
    if network.shape.rows is not None:
        last.append(network.query.weight)
    if network.shape.advisors:
        last += [network.advice.weight, network.advice.bias]
    for weights in last:
        weights *= factor


# Command ----------------------------------------------------------------------------------------------------------------


def read_arguments(arguments: list[str] | None) -> argparse.Namespace:
    """Return what was asked for."""
    reader = argparse.ArgumentParser("python -m training.distill", description="Learn from every action played out.")
    reader.add_argument("--game", default="sting")
    for name, meaning in (("--option", "an option of the game"), ("--also", "an option of a second configuration")):
        reader.add_argument(name, action="append", default=[], metavar="KEY=VALUE", help=meaning)
    reader.add_argument(
        "--players", type=read_counts, default=(2,), help="player counts, comma separated, each as often as it is named"
    )
    reader.add_argument("--bot", default="planner", help="the agent that plays on")
    reader.add_argument("--seated", action="store_true", help="in the other seats the movers that sit there play on")
    reader.add_argument(
        "--movers",
        type=split_specs,
        default=("planner", "ppo", "greedy"),
        help="agents in whose games positions are labelled",
    )
    reader.add_argument("--shards", type=whole(2), default=100, help=f"of labels, {LANES * STEPS:,} decisions each")
    reader.add_argument("--jobs", type=whole(1), default=1, help="processes that label")
    reader.add_argument("--seed", type=whole(0), default=1)
    reader.add_argument("--init", type=Path, help="folder of the policy to improve; without, a new one is begun")
    reader.add_argument(
        "--advisors", type=split_specs, help="of a new policy, planner,greedy by default; it begins near the first"
    )
    reader.add_argument("--out", type=Path, required=True, help="labels go to OUT/labels, the policy to OUT/best")
    reader.add_argument(
        "--floor", type=real(above=0, below=0.5), help="try only what the judge finds at least so likely"
    )
    reader.add_argument("--most", type=whole(2), help="try only so many actions, those that the judge finds likeliest")
    reader.add_argument("--judge", type=Path, help="folder of the policy that says so; by default that of --init")
    reader.add_argument(
        "--more", type=Path, action="append", default=[], help="a folder of labels to learn from as well"
    )
    reader.add_argument("--point", type=real(), default=1.0, help="what a point is worth, in the game's own reward")
    reader.add_argument("--win", type=real(), default=1.0, help="what a win is worth")
    reader.add_argument("--temperature", type=real(), default=0.02, help="what a nat of entropy is worth")
    reader.add_argument("--sharpen", type=real(above=0), default=4.0, help="what scores are multiplied by in the end")
    reader.add_argument("--epochs", type=whole(1), default=4)
    reader.add_argument("--learning-rate", type=real(above=0), default=1e-3)
    given = reader.parse_args(arguments)
    judged = (given.floor, given.most) != (None, None)
    if judged and given.judge is None and given.init is None:
        reader.error("--floor and --most ask a policy what is worth trying: name one with --judge or --init")
    if given.judge is not None and not judged:
        reader.error("--judge says what is worth trying: name --floor or --most too")
    if given.init is not None and given.advisors is not None:
        reader.error("--advisors are those of a new policy: --init has its own")
    if given.point == given.win == 0:
        reader.error("--point and --win are both 0: nothing would be worth anything")
    given.judge = (given.judge or given.init) if judged else None
    given.advisors = given.advisors or ("planner", "greedy")
    return given


def whole(least: int) -> Callable[[str], int]:
    """Return what reads a whole number from `least` on."""

    def read(text: str) -> int:
        if not text.isdecimal() or not least <= int(text) < 2**31:
            raise argparse.ArgumentTypeError(f"must be a whole number, {least} or more, not {text!r}")
        return int(text)

    return read


def real(above: float | None = None, below: float = math.inf) -> Callable[[str], float]:
    """Return what reads a number of 0 or more, or above a number, and below another."""

    def read(text: str) -> float:
        try:
            number = float(text)
        except ValueError:
            number = math.nan
        if not (number >= 0 if above is None else number > above) or not number < below:
            least = "0 or more" if above is None else f"above {above:g}"
            most = "" if below == math.inf else f" and below {below:g}"
            raise argparse.ArgumentTypeError(f"must be a number {least}{most}, not {text!r}")
        return number

    return read


def read_counts(text: str) -> tuple[int, ...]:
    """Read player counts."""
    return tuple(map(whole(1), text.split(",")))


def read_labeller(given: argparse.Namespace) -> Labeller:
    """Return how labels are made; ValueError for what can't be."""
    name = game_id(given.game)
    first, also = dict(map(read_option, given.option)), dict(map(read_option, given.also))
    if "num_players" in first | also:
        raise ValueError("player counts are given by --players, not as an option")
    options = dict(make(name).spec.unit_options) | first
    configurations = [options] + ([options | also] if also else [])
    # Made for every count, so that one that can't be played is named.
    games = tuple(make(name, **some, num_players=count) for some in configurations for count in given.players)
    games = games[:: len(given.players)]
    if len(games) > 1 and games[0].config == games[1].config:
        raise ValueError(f"the options of --also, {', '.join(given.also)}, are those of the first configuration")
    judge = None if given.judge is None else str(given.judge)
    return Labeller(
        games, given.movers, given.bot, given.players, given.seed, judge, given.floor or 0.0, given.most, given.seated
    )


def find_more(given: argparse.Namespace, game: BatchGame) -> list[list[Shard]]:
    """Return the shards of the further folders; ValueError for one whose labels are of another game or measure."""
    found = []
    for folder in given.more:
        if folder.resolve() == (given.out / "labels").resolve():
            raise ValueError(f"--more {folder} are the labels of this run: they count without it")
        try:
            shards = find_shards(folder)
        except ValueError as error:
            raise ValueError(f"--more {folder}: {error}") from None
        for other in {shard.game for shard in shards}:
            if other.spec.name != game.spec.name:
                raise ValueError(f"--more {folder} holds labels of {other.spec.name}, not of {game.spec.name}")
            ours, theirs = (getattr(each.config, "reward", None) for each in (game, other))
            if ours != theirs:
                raise ValueError(f"--more {folder} holds labels paid by {theirs}, these are by {ours}")
        found.append(shards)
    return found


def begin_network(game: BatchGame, given: argparse.Namespace) -> tuple[TorchNetwork, Any]:
    """Return the network to improve, and what is told of its past."""
    if given.init is None:
        torch.manual_seed(given.seed)
        shape = policies.network_shape(game.spec, advisors=given.advisors)
        return make_network(game, shape), None
    before = policies.load(given.init, game).network
    network = make_network(game, before.shape)
    network.load_state_dict({name: torch.from_numpy(array) for name, array in before.weights.items()})
    return network, policies.read_description(given.init).get("training")


def hold_out(folders: Sequence[Sequence[Shard]]) -> tuple[list[Shard], list[Shard]]:
    """Return the shards to learn from, and the first of every folder, some of each configuration, to measure by."""
    train: list[Shard] = []
    test: list[Shard] = []
    for shards in folders:
        configurations = len({shard.game.config for shard in shards})
        held_out = min(len(shards) - 1, max(configurations, int(len(shards) * HELD_OUT)))
        test += shards[:held_out]
        train += shards[held_out:]
    return train, test


def distil(given: argparse.Namespace) -> None:
    """Label and learn."""
    labeller = read_labeller(given)
    game = labeller.games[0]
    more = find_more(given, game)
    network, past = begin_network(game, given)
    best = given.out / "best"
    best.mkdir(parents=True, exist_ok=True)  # before the work, so that it is not in vain
    train, test = hold_out([label(given.out / "labels", labeller, given.shards, given.jobs), *more])
    aim = Aim(given.point, given.win)
    before = expected_value(network, test, aim)
    print(f"learn: before, value of choices {before}", flush=True)
    learn(
        network, train, test, aim=aim, temperature=given.temperature,
        epochs=given.epochs, learning_rate=given.learning_rate,
    )  # fmt: skip
    sharpen(network, given.sharpen)
    after = expected_value(network, test, aim)
    told = {key: str(value) if isinstance(value, Path) else value for key, value in vars(given).items()}
    told["more"] = [str(folder) for folder in given.more]
    story = {"distilled": told | {"value of choices": {"before": before, "after": after}}, "before": past}
    policies.save(best, policies.describe(game, network.shape, story), network.arrays())
    print(f"done: value of choices {before} before, {after} after; {best}")


def main(arguments: list[str] | None = None) -> None:
    """Label and learn, or say what is wrong."""
    given = read_arguments(arguments)
    torch.set_num_threads(1)
    try:
        distil(given)
    except (OSError, ValueError) as error:
        raise SystemExit(f"distill: {error}") from None
    except KeyboardInterrupt:
        print("\ndistill: stopped; the labels are kept, and the same command goes on from them", file=sys.stderr)
        raise SystemExit(130) from None


if __name__ == "__main__":
    main()
