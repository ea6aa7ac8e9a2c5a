"""Self-play collection: every decision of every learning seat, with credit by seat.

Lanes play side by side. In each episode every seat of a lane is given once and for all to the learner, to an earlier
snapshot of it or to a compiled bot; bots move inside compiled code. A decision of the learner is followed by the rewards
its seat gets until its next decision, whoever moves in between.

Letters: N lanes, T decisions of each lane in a rollout, P seats, A actions, D observation bytes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from agents.arena import read_outcome
from agents.base import Agent, Bots, CompiledBot, luck, play_out, play_table
from tabletop.game import BatchGame, flat
from tabletop.jit import entry
from tabletop.seeding import spread

Array = NDArray[Any]
Act = Callable[[Array, Array, Array, Array], tuple[Array, Array, Array]]
LEARNER = -1
SNAPSHOT = -2


@dataclass(frozen=True)
class Lineup:
    """Who sits with the learner: shares of episodes against itself, a snapshot, and bots (the rest)."""

    num_players: tuple[int, ...]
    bots: tuple[CompiledBot, ...]
    self_share: float = 0.6
    snapshot_share: float = 0.15  # those it does not yet beat the more often
    win_reward: float = 0.0  # what a win is worth beside the returns, less its equal share
    foresight: CompiledBot | None = None  # who plays on when a critic is told what would come


@dataclass
class Rollout:
    """What was seen and done: arrays [T, N, ...]; `trained` marks the learner's decisions that have a known outcome."""

    observations: Array  # int8 [T, N, D]
    masks: Array  # bool [T, N, A]
    actions: Array  # int64 [T, N]
    log_probs: Array  # float32 [T, N]
    values: Array  # float32 [T, N]
    seats: Array  # int8 [T, N]
    learner: Array  # bool [T, N]
    phases: Array  # int8 [T, N]
    rewards: Array  # float32 [T, N, P], of the step and of all moves until the next recorded decision
    ends: Array  # bool [T, N], an episode ended before the next recorded decision
    advantages: Array = field(default_factory=lambda: np.empty(0, np.float32))
    targets: Array = field(default_factory=lambda: np.empty(0, np.float32))
    trained: Array = field(default_factory=lambda: np.empty(0, np.bool_))

    @classmethod
    def empty(cls, steps: int, lanes: int, game: BatchGame) -> Rollout:
        """Return arrays for a rollout of `steps` decisions in each of `lanes`."""
        spec = game.spec
        return cls(
            observations=np.empty((steps, lanes, spec.observation_size), np.int8),
            masks=np.empty((steps, lanes, spec.num_actions), np.bool_),
            actions=np.empty((steps, lanes), np.int64),
            log_probs=np.empty((steps, lanes), np.float32),
            values=np.empty((steps, lanes), np.float32),
            seats=np.empty((steps, lanes), np.int8),
            learner=np.empty((steps, lanes), np.bool_),
            phases=np.empty((steps, lanes), np.int8),
            rewards=np.empty((steps, lanes, spec.max_players), np.float32),
            ends=np.empty((steps, lanes), np.bool_),
        )

    def credit(self, gamma: float, gae_lambda: float) -> None:
        """Compute advantages, value targets and which decisions are trained on."""
        self.advantages = np.zeros_like(self.values)
        self.trained = np.zeros_like(self.learner)
        credit_seats(
            self.rewards, self.ends, self.seats, self.learner, self.values,
            float(gamma), float(gae_lambda), self.advantages, self.trained,
        )  # fmt: skip
        self.targets = self.advantages + self.values


@entry
def credit_seats(rewards, ends, seats, learner, values, gamma, gae_lambda, advantages, trained):  # type: ignore[no-untyped-def]
    """Write generalized advantages (Schulman et al., 2016) along the stream of each seat of each lane, in place.

    A seat's last decision in the rollout has no known outcome unless the episode ends: it is not trained on, and its
    value stands for what follows it.
    """
    steps, lanes, seats_at_most = rewards.shape
    for lane in range(lanes):
        known = np.zeros(seats_at_most, np.bool_)  # whether what follows is known
        value = np.zeros(seats_at_most, np.float64)  # at the next decision of the seat
        advantage = np.zeros(seats_at_most, np.float64)
        reward = np.zeros(seats_at_most, np.float64)  # until the next decision of the seat
        for t in range(steps - 1, -1, -1):
            if ends[t, lane]:
                known[:] = True
                value[:] = 0.0
                advantage[:] = 0.0
                reward[:] = 0.0
            for seat in range(seats_at_most):
                reward[seat] += rewards[t, lane, seat]
            if learner[t, lane]:
                seat = seats[t, lane]
                if known[seat]:
                    delta = reward[seat] + gamma * value[seat] - values[t, lane]
                    advantage[seat] = delta + gamma * gae_lambda * advantage[seat]
                    trained[t, lane] = True
                    advantages[t, lane] = advantage[seat]
                value[seat] = values[t, lane]
                reward[seat] = 0.0
                known[seat] = True


def win_shares(game: BatchGame, states: Array) -> Array:
    """Return each seat's part of the win less the equal share, of games that are over: float32 [L, P]."""
    winners, counts = read_outcome(game, states).winners, states["num_players"][:, None]
    shares = winners / winners.sum(axis=1, keepdims=True) - 1 / counts
    seated = np.arange(winners.shape[1]) < counts
    return np.where(seated, shares, 0.0).astype(np.float32)


class Foresight:
    """What each seat would be paid next if one bot played on in every seat, with the cards and the chance that lie ahead.

    It looks no further than the next payment: the end of the round in Sting, of the game where wins alone are paid.
    No player may know it; a critic that does need not learn the luck of the deal from examples. What a bot's luck decides
    is decided as in `play_table`, so that a lane in which all moves are the bot's own comes to what was foreseen, and only
    one in which another move was made is played out anew.
    """

    def __init__(self, game: BatchGame, bot: CompiledBot, win_reward: float, num_lanes: int, key: int) -> None:
        self.game = game
        self.bot = bot
        self.win_reward = win_reward
        self.key = key
        self.known = np.zeros(num_lanes, np.bool_)
        self.ends = np.zeros((num_lanes, game.spec.max_players), np.float32)

    def look(self, states: Array) -> Array:
        """Return what the player on turn would be paid next in every lane, a win included: float32 [N]."""
        lanes = np.flatnonzero(~self.known)
        if len(lanes):
            part = states[lanes]
            play_out(self.game, part, [self.bot] * self.game.spec.max_players, self.key, until_paid=True)
            over = self.game.terminated(part)
            part["returns"][over] += np.float32(self.win_reward) * win_shares(self.game, part[over])
            self.ends[lanes] = part["returns"]
            self.known[lanes] = True
        every, player = np.arange(len(states)), states["current_player"]
        return self.ends[every, player] - states["returns"][every, player]

    def moves(self, states: Array, records: Array, masks: Array) -> Array:
        """Return what the bot would do in every lane: int64 [N]."""
        return self.bot.act(records, masks, luck(states, self.key))


class SelfPlay:
    """Lanes that play on from rollout to rollout."""

    def __init__(self, game: BatchGame, bots: Bots, lineup: Lineup, num_lanes: int, seed: int) -> None:
        self.game = game
        self.bots = bots
        self.lineup = lineup
        self.rng = np.random.default_rng(seed)
        self.seed = seed
        self.episodes = 0
        self.snapshots: list[Agent] = []
        # For each snapshot: games of the learner against it, and in how many it came out ahead.
        self.met = np.empty((0, 2))
        seats = game.spec.max_players
        self.states = game.new_states(num_lanes)
        self.table = np.full((num_lanes, seats), LEARNER, np.int64)
        self.options = np.zeros((num_lanes, seats), np.int64)
        self.snapshot_of = np.zeros(num_lanes, np.int64)
        self.finished: list[tuple[str, float]] = []  # who the learner met, and its mean return
        self.foresight = (
            Foresight(game, lineup.foresight, lineup.win_reward, num_lanes, seed) if lineup.foresight else None
        )
        self.begin_anew()

    def begin_anew(self) -> None:
        """Begin an episode in every lane."""
        self._begin(np.arange(len(self.states)))

    def _begin(self, lanes: Array) -> None:
        """Begin episodes in `lanes`, seats given anew, and let bots move up to the first decision of another."""
        if self.foresight is not None:
            self.foresight.known[lanes] = False
        while len(lanes):
            seeds = spread(self.seed, len(lanes), first=self.episodes)
            self.episodes += len(lanes)
            counts = self.rng.choice(self.lineup.num_players, len(lanes))
            self.game.reset(self.states, seeds, lanes=lanes, num_players=counts)
            for lane, count in zip(lanes, counts, strict=True):
                self._seat(int(lane), int(count))
            lanes = lanes[self._let_bots_move(lanes)]

    def _seat(self, lane: int, count: int) -> None:
        """Give the seats of a lane to the learner and those it meets."""
        self.table[lane] = LEARNER
        draw = self.rng.random()
        share = self.lineup.self_share
        if draw < share or (not self.lineup.bots and not self.snapshots):
            return
        own = int(self.rng.integers(count))
        others = [seat for seat in range(count) if seat != own]
        if draw < share + self.lineup.snapshot_share and self.snapshots:
            self.table[lane, others] = SNAPSHOT
            self.snapshot_of[lane] = int(self.rng.choice(len(self.snapshots), p=self.snapshot_odds()))
        elif self.lineup.bots:
            for seat in others:
                bot = self.lineup.bots[int(self.rng.integers(len(self.lineup.bots)))]
                self.table[lane, seat], self.options[lane, seat] = bot.bot, bot.option

    def _let_bots_move(self, lanes: Array) -> Array:
        """Let bots move in `lanes` and return which of them [L] are over."""
        part = self.states[lanes]
        play_table(self.game, part, self.bots, self.table[lanes], self.options[lanes], self.seed)
        self.states[lanes] = part
        return np.asarray(part["current_player"] < 0)

    def collect(self, rollout: Rollout, act: Act) -> int:
        """Fill `rollout`; `act(observations, masks, states, ahead)` returns the learner's actions, log-probabilities, values.

        Its actions must not depend on `states`, the whole positions, nor on `ahead`, float32 [N], what foresight says
        (zero without): they are there for a critic. Return the number of the learner's decisions.
        """
        game, states = self.game, self.states
        lanes = np.arange(len(states))
        records = np.empty(len(states), game.spec.observation_dtype)
        foresight, ahead = self.foresight, np.zeros(len(states), np.float32)
        for t in range(len(rollout.actions)):
            game.observe(states, out=records)
            observations, masks = flat(records), rollout.masks[t]
            rollout.observations[t] = observations
            game.legal_action_mask(states, out=masks)
            player = states["current_player"].astype(np.int64)
            learner = self.table[lanes, player] == LEARNER
            if foresight is not None:
                ahead = foresight.look(states)
            actions, log_probs, values = act(observations, masks, states, ahead)
            if not learner.all():
                self._snapshots_act(np.flatnonzero(~learner), records, masks, actions)
            rollout.actions[t], rollout.log_probs[t], rollout.values[t] = actions, log_probs, values
            rollout.seats[t], rollout.learner[t], rollout.phases[t] = player, learner, states["phase"]
            before = game.returns(states)
            if foresight is not None:
                foresight.known &= foresight.moves(states, records, masks) == actions
            decisions = states["decision"] + 1
            game.step(states, actions)
            play_table(game, states, self.bots, self.table, self.options, self.seed)
            if foresight is not None:
                foresight.known &= (states["decision"] == decisions) | ~self._strangers(foresight.bot)
            rollout.rewards[t] = states["returns"] - before
            if foresight is not None:
                foresight.known &= ~rollout.rewards[t].any(axis=1)
            over = game.terminated(states)
            rollout.ends[t] = over
            if over.any():
                if self.lineup.win_reward:
                    rollout.rewards[t, over] += self.lineup.win_reward * win_shares(game, states[over])
                self._note_results(np.flatnonzero(over))
                self._begin(np.flatnonzero(over))
        return int(rollout.learner.sum())

    def _strangers(self, bot: CompiledBot) -> Array:
        """Return in which lanes a bot sits that is not `bot`: bool [N]."""
        return ((self.table >= 0) & ((self.table != bot.bot) | (self.options != bot.option))).any(axis=1)

    def _snapshots_act(self, lanes: Array, records: Array, masks: Array, actions: Array) -> None:
        """Let snapshots choose in the lanes where they are on turn."""
        which = self.snapshot_of[lanes]
        for number in np.unique(which):
            own = lanes[which == number]
            keys = self.rng.integers(0, 2**63, len(own), dtype=np.uint64)
            actions[own] = self.snapshots[int(number)].act(records[own], masks[own], keys)

    def _note_results(self, lanes: Array) -> None:
        """Note the learner's mean return in games that are over, by whom it met."""
        for lane in lanes:
            count = int(self.states["num_players"][lane])
            row = self.table[lane, :count]
            if (row == LEARNER).all():
                continue
            met = next(int(x) for x in row if x != LEARNER)
            name = "snapshot" if met == SNAPSHOT else self.bots.names[met]
            mean = float(self.states["returns"][lane, :count][row == LEARNER].mean())
            self.finished.append((name, mean))
            if met == SNAPSHOT:
                self.met[self.snapshot_of[lane]] += 1, mean > 0

    def snapshot_odds(self) -> Array:
        """Return how likely each snapshot is met: float64 [S], by the square of how often it holds its own.

        Prioritized fictitious self-play (Vinyals et al., 2019): what the learner beats anyway teaches it little. One not
        met yet counts as all those before it together.
        """
        games, ahead = self.met.T
        usual = (ahead.sum() + 1) / (games.sum() + 2)
        odds = (1 - (ahead + 2 * usual) / (games + 2)) ** 2
        return np.asarray(odds / odds.sum())

    def take_results(self) -> dict[str, tuple[int, float]]:
        """Return games and the learner's mean return against each opponent since last asked."""
        results: dict[str, list[float]] = {}
        for name, value in self.finished:
            results.setdefault(name, []).append(value)
        self.finished = []
        return {name: (len(values), float(np.mean(values))) for name, values in results.items()}

    def set_snapshots(self, snapshots: Sequence[Agent]) -> None:
        """Give the pool of snapshots; games in progress keep the numbers they have, so the pool may only grow."""
        if len(snapshots) < len(self.snapshots):
            raise ValueError("the pool of snapshots may only grow while games are in progress")
        self.met = np.concatenate([self.met, np.zeros((len(snapshots) - len(self.snapshots), 2))])
        self.snapshots = list(snapshots)
