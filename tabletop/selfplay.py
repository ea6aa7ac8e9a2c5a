"""One learner seat in each lane, everybody else moving inside: what single-agent interfaces are made from.

A lane is a stream of one seat's decisions. What a seat is paid, whoever moved, is credited to its last decision before
that; who sits where, and against whom, is settled when an episode begins and stays until it ends.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike

from tabletop import bits
from tabletop.game import Array, BatchGame, IllegalActionError, Loops, raw_bytes
from tabletop.jit import entry, kernel
from tabletop.seeding import CHOICE, SEATING, below, derive, spread
from tabletop.state import NO_PLAYER

NOBODY = -1  # in a table of opponents: the learner's seat, or one not taken
MAX_SKIPPED = 10_000  # episodes in a row that end before the learner is asked


class Opponent(Protocol):
    """Who moves in the other seats.

    `act` gets observation records [B], bool masks [B, A] and uint64 keys [B] of random streams, and returns int64
    actions [B]. An opponent written as a kernel also has numbers `bot` and `option`, and `play_loop`, its game's bound
    `tabletop.loops.play_lanes`, or `bots` with `bots.play_loop(game)`; then it plays inside compiled code.
    It should not change while an episode runs.
    """

    name: str

    def act(self, observations: Array, masks: Array, keys: Array, /) -> Array: ...


def play_loop_of(opponent: Any, game: BatchGame) -> Any:
    """Return the compiled loop an opponent plays in, None if it has none."""
    if hasattr(opponent, "play_loop"):
        return opponent.play_loop
    bots = getattr(opponent, "bots", None)
    return None if bots is None else bots.play_loop(game)


@kernel
def choose_uniformly(bot: Any, option: Any, o: Any, legal: Any, key: Any) -> Any:
    """Choose any legal action, as a compiled bot."""
    return bits.nth(legal, below(key, 0, bits.count(legal)))


@cache
def _uniform_loop(loops: Loops) -> Any:
    return loops.play(choose_uniformly, "uniform")


class UniformOpponent:
    """Choose any legal action with equal chance, in compiled code: an opponent for every game."""

    name = "uniform"
    bot = 0
    option = 0

    def __init__(self, game: BatchGame) -> None:
        self.play_loop = _uniform_loop(game.loops)

    def act(self, observations: Array, masks: Array, keys: Array) -> Array:
        """Return legal actions int64 [B]."""
        actions = np.empty(len(masks), np.int64)
        _choose_from_masks(masks.view(np.uint8), keys, actions)
        return actions


@entry
def _choose_from_masks(masks: Any, keys: Any, actions: Any) -> None:
    for b in range(masks.shape[0]):
        skip = below(keys[b], 0, masks[b].sum())
        for a in range(masks.shape[1]):
            if masks[b, a]:
                if skip == 0:
                    actions[b] = a
                    break
                skip -= 1


class OpponentPool:
    """Opponents to be drawn from, each seat by itself, with weights that may change between episodes."""

    def __init__(self, members: Sequence[Opponent], weights: ArrayLike | None = None) -> None:
        if not members:
            raise ValueError("members must be at least one opponent")
        self.members = list(members)
        self.set_weights(weights)

    def set_weights(self, weights: ArrayLike | None) -> None:
        """Set the weight of every member, None for equal ones. Episodes that have begun keep their opponents."""
        array = np.ones(len(self.members)) if weights is None else np.array(weights, np.float64)
        if array.shape != (len(self.members),) or not np.isfinite(array).all() or array.min() < 0 or array.sum() <= 0:
            size = len(self.members)
            raise ValueError(f"weights must be {size} numbers, none negative, some positive, not {weights!r}")
        self.weights = array / array.sum()
        self._edges = np.cumsum(self.weights)
        self._edges[np.flatnonzero(self.weights)[-1] :] = 1.0

    def sample(self, keys: Array) -> Array:
        """Return an index of `members` for every uint64 key, in its shape; the same keys, the same members."""
        return np.searchsorted(self._edges, (keys >> np.uint64(11)) * 2.0**-53, side="right").astype(np.int64)


@entry
def _draw_seats(
    seeds: Any, episodes: Any, choices: Any, fixed_seat: Any, num_players: Any, seats: Any, keys: Any
) -> None:
    """Draw number of players, learner's seat and a key for every seat's opponent, from lane seed and episode alone."""
    for i in range(seeds.shape[0]):
        key = derive(seeds[i], SEATING, episodes[i])
        num_players[i] = choices[below(key, 0, choices.shape[0])]
        seats[i] = fixed_seat if fixed_seat >= 0 else below(key, 1, num_players[i])
        for p in range(keys.shape[1]):
            keys[i, p] = derive(key, CHOICE, p)


def decision_keys(states: Array, lanes: Array | None = None, luck: int | np.uint64 = 0) -> Array:
    """Return the key of the current player's luck in every lane, or in `lanes`: what a compiled bot gets, uint64 [L]."""
    chosen = np.arange(len(states)) if lanes is None else lanes
    keys = np.empty(len(chosen), np.uint64)
    _write_keys(states, chosen, np.uint64(luck), keys)
    return keys


@entry
def _write_keys(states: Any, lanes: Any, luck: Any, keys: Any) -> None:
    for i in range(lanes.shape[0]):
        s = states[lanes[i]]
        keys[i] = derive(derive(s.rng_key ^ luck, CHOICE, max(s.current_player, 0)), CHOICE, s.decision)


@dataclass(frozen=True)
class Episodes:
    """Episodes that have just ended, one for each of `lanes` [L]."""

    lanes: Array  # int64 [L]
    seats: Array  # int64 [L]: the learner's
    num_players: Array  # int64 [L]
    lengths: Array  # int64 [L]: decisions of the learner
    returns: Array  # float64 [L]: what the learner was paid in all
    opponents: list[tuple[str | None, ...]]  # names by seat, None for the learner
    observation: Array  # int8 [L, D]: the end, as the learner sees it


def ask(agent: Any, game: BatchGame, states: Array, keys: Array) -> Array:
    """Return an agent's actions for the player on turn in every lane: int64 [B].

    It gets observations, masks and the keys of its luck, uint64 [B]; one that searches (`act_on`) also gets records in
    which everything the player can't know is dealt anew.
    """
    observations, masks = game.observe(states), game.legal_action_mask(states)
    if hasattr(agent, "act_on"):
        records = game.determinize(states, None, keys)
        return np.asarray(agent.act_on(game, records, observations, masks, keys))
    return np.asarray(agent.act(observations, masks, keys))


class LearnerSeats:
    """A batch of games, a learner in one seat of each.

    opponents: an OpponentPool (anything with `members` and `sample(keys)`), a list of opponents or one; None for the
    uniform one. seat: the learner's seat, None to draw one for every episode. num_players: a number, or a list to draw
    from for every episode, or None for the configuration's. autoreset: begin the next episode where one ends. luck:
    changes the luck of the opponents, and nothing else.

    Episode e of lane b is the game of seed `seeds[b]` and episode e: seats, opponents and luck too depend on nothing
    else, so that the same seed is the same game for any number of lanes. An episode that ends before the learner is
    asked leaves no trace but `skipped` and `skipped_returns`, what the learner was paid in them.

    After `reset` and `step`: `observation` int8 [B, D], `mask` bool [B, A], `rewards` float32 [B], `done` bool [B], new
    arrays each time; `finished`, the Episodes that ended, or None.
    """

    def __init__(
        self,
        game: BatchGame,
        num_lanes: int,
        opponents: Any = None,
        *,
        seat: int | None = None,
        num_players: int | Sequence[int] | None = None,
        autoreset: bool = True,
        luck: int = 0,
    ) -> None:
        choices = game.num_players if num_players is None else num_players
        self.choices = np.atleast_1d(np.array(choices, np.int64))
        for count in self.choices:
            game.check_num_players(int(count))
        if seat is not None and not 0 <= seat < self.choices.min():
            raise ValueError(f"seat must be 0 to {self.choices.min() - 1}, or None to draw it, not {seat}")
        self.game = game
        self.num_lanes = num_lanes
        self.fixed_seat = NOBODY if seat is None else seat
        self.autoreset = autoreset
        self.luck = np.uint64(luck)
        self.states = game.new_states(num_lanes)
        self.seeds = np.zeros(num_lanes, np.uint64)
        self.seats = np.zeros(num_lanes, np.int64)
        self.lengths = np.zeros(num_lanes, np.int64)
        self.skipped = 0
        self.skipped_returns = 0.0
        self.finished: Episodes | None = None
        self.done = np.zeros(num_lanes, np.bool_)
        self.rewards = np.zeros(num_lanes, np.float32)
        self._all = np.arange(num_lanes)
        self._paid = np.zeros(num_lanes, np.float64)  # the learner's return at its last decision
        self._begun = False
        self._table: list[Any] = []  # opponents that sit somewhere or may be drawn
        self._assignment = np.full((num_lanes, game.spec.max_players), NOBODY, np.int64)  # by seat: index in _table
        self._scratch = np.empty(1, game.spec.observation_dtype)
        self._uncounted = np.empty((0, 0, 0), np.int64)
        self.set_opponents(opponents)

    # Opponents ------------------------------------------------------------------------------------------------------

    def names(self, lanes: Array) -> list[tuple[str | None, ...]]:
        """Return who sits where in some lanes: the opponents' names by seat, None for the learner."""
        names = np.array([*map(name_of, self._table), None], object)  # the last is NOBODY's
        rows, num_players = names[self._assignment[lanes]].tolist(), self.states["num_players"][lanes].tolist()
        return [tuple(row[:count]) for row, count in zip(rows, num_players)]

    def set_opponents(self, opponents: Any) -> None:
        """Draw opponents from elsewhere from now on; episodes that have begun keep theirs."""
        if opponents is None:
            opponents = UniformOpponent(self.game)
        if not hasattr(opponents, "sample"):
            opponents = OpponentPool(opponents if isinstance(opponents, Sequence) else [opponents])
        self.pool = opponents
        self._tabulate()

    def _tabulate(self) -> None:
        """Give a number to every opponent that is seated or in the pool, and note how it moves."""
        seated = sorted(set(self._assignment.ravel().tolist()) - {NOBODY})
        table = [self._table[i] for i in seated]
        places = {id(opponent): i for i, opponent in enumerate(table)}
        renumbered = np.full(len(self._table) + 1, NOBODY)
        renumbered[seated] = np.arange(len(seated))
        for member in self.pool.members:
            if id(member) not in places:
                places[id(member)] = len(table)
                table.append(member)
        self._assignment = renumbered[self._assignment]
        self._table = table
        self._members = np.array([places[id(member)] for member in self.pool.members], np.int64)
        loops: dict[int, Any] = {}
        self._by_hand = np.zeros(len(table), np.bool_)
        for i, opponent in enumerate(table):
            loop = play_loop_of(opponent, self.game)
            self._by_hand[i] = loop is None
            if loop is not None:
                bots, options = loops.setdefault(id(loop), (loop, self._column(NOBODY), self._column(0)))[1:]
                bots[i], options[i] = opponent.bot, opponent.option
        # For every loop: the loop, bot and option by opponent, and both by lane and seat.
        self._loops = [
            (loop, bots, options, bots[self._assignment], options[self._assignment])
            for loop, bots, options in loops.values()
        ]

    def _column(self, value: int) -> Array:
        """Return a number for every opponent, and for NOBODY, the last."""
        return np.full(len(self._table) + 1, value, np.int64)

    def _seat(self, lanes: Array, keys: Array, num_players: Array) -> None:
        """Draw an opponent for every seat but the learner's."""
        drawn = self._members[self.pool.sample(keys)]
        players = np.arange(keys.shape[1])
        taken = (players < num_players[:, None]) & (players != self.seats[lanes][:, None])
        self._assignment[lanes] = np.where(taken, drawn, NOBODY)
        for _, bots, options, by_seat, option_by_seat in self._loops:
            by_seat[lanes] = bots[self._assignment[lanes]]
            option_by_seat[lanes] = options[self._assignment[lanes]]

    def _move_opponents(self) -> None:
        """Let opponents move in every lane until the learner must decide or the game is over."""
        several = len(self._loops) > 1 or bool(self._by_hand.any())
        while True:
            for loop, _, _, bots, options in self._loops:
                scratch = raw_bytes(self._scratch)[0]
                play = (self.game.rules, self.states, bots, options, self.luck, self._uncounted, self._scratch, scratch)
                made = loop(*play, 0, False)
                if made < 0:
                    lane = -1 - int(made)
                    opponent = self._table[self._assignment[lane, self.states["current_player"][lane]]]
                    raise IllegalActionError(f"lane {lane}: {name_of(opponent)} chose an illegal action")
            if not several:
                return
            players = self.states["current_player"]
            waiting = np.flatnonzero((players != self.seats) & (players != NO_PLAYER))
            if len(waiting) == 0:
                return
            seated = self._assignment[waiting, players[waiting]]
            for i in np.unique(seated):
                if self._by_hand[i]:
                    self._ask(self._table[i], waiting[seated == i])

    def _ask(self, opponent: Any, lanes: Array) -> None:
        """Let one opponent move once in some lanes."""
        actions = ask(opponent, self.game, self.states[lanes], decision_keys(self.states, lanes, self.luck))
        try:
            self.game.step(self.states, actions, lanes)
        except (IllegalActionError, TypeError, ValueError) as error:
            raise type(error)(f"{name_of(opponent)}: {error}") from error

    # Episodes -------------------------------------------------------------------------------------------------------

    def reset(self, seed: int | ArrayLike | None = None) -> None:
        """Begin an episode in every lane.

        seed: of the run, spread over the lanes, or one for each lane [B]; then it is the first episode of each. None is
        the next episode of each lane; the first time, of a seed from the system's entropy.
        """
        if seed is None and not self._begun:
            seed = random_seed()
        if seed is None:
            episodes = self.states["episode"].astype(np.int64) + 1
        else:
            # A list of Python integers, some of them of 64 bits, would become floats unless told otherwise.
            self.seeds = spread(int(seed), self.num_lanes) if np.ndim(seed) == 0 else np.array(seed, np.uint64)  # type: ignore[arg-type]
            if self.seeds.shape != (self.num_lanes,):
                raise ValueError(f"seed must be one number or {self.num_lanes}, not {list(self.seeds.shape)}")
            episodes = np.zeros(self.num_lanes, np.int64)
        self._begun = True
        self.finished = None
        self.done = np.zeros(self.num_lanes, np.bool_)
        self.rewards = np.zeros(self.num_lanes, np.float32)
        self._begin(self._all, episodes)
        self._look()

    def step(self, actions: ArrayLike) -> None:
        """Carry out the learner's action in every lane, int [B], and go on to its next decision.

        Raises IllegalActionError naming the lane, and then nothing has changed.
        """
        if not self._begun or (self.done.any() and not self.autoreset):
            raise RuntimeError("reset before the first step, and after the end of an episode")
        self.game.step(self.states, actions)
        self.lengths += 1
        self._move_opponents()
        returns = self._returns(self._all)
        self.rewards = (returns - self._paid).astype(np.float32)
        self._paid = returns
        self.done = self.game.terminated(self.states)
        self.finished = None
        ended = np.flatnonzero(self.done)
        if len(ended):
            self.finished = self._episodes(ended)
            if self.autoreset:
                self._begin(ended, self.states["episode"][ended].astype(np.int64) + 1)
        self._look()

    def _begin(self, lanes: Array, episodes: Array) -> None:
        """Begin episodes, those that end before the learner is asked passed over."""
        for _ in range(MAX_SKIPPED):
            num_players, seats = np.empty(len(lanes), np.int64), np.empty(len(lanes), np.int64)
            keys = np.empty((len(lanes), self.game.spec.max_players), np.uint64)
            _draw_seats(self.seeds[lanes], episodes, self.choices, self.fixed_seat, num_players, seats, keys)
            # Player counts, like seats below, are known to be allowed: no need of `game.reset`, which looks.
            game, states = self.game, self.states
            game.loops.reset(game.rules, states, raw_bytes(states), lanes, self.seeds[lanes], episodes, num_players)
            self.seats[lanes] = seats
            self.lengths[lanes] = 0
            self._paid[lanes] = 0.0
            self._seat(lanes, keys, num_players)
            self._move_opponents()
            over = self.states["current_player"][lanes] == NO_PLAYER
            if not over.any():
                return
            lanes, episodes = lanes[over], episodes[over] + 1
            self.skipped += len(lanes)
            self.skipped_returns += float(self._returns(lanes).sum())
        raise RuntimeError(f"{MAX_SKIPPED} games in a row ended before the learner was asked")

    def _returns(self, lanes: Array) -> Array:
        """Return what the learner has been paid in this episode: float64 [L]."""
        return self.states["returns"][lanes, self.seats[lanes]].astype(np.float64)

    def _episodes(self, lanes: Array) -> Episodes:
        game, states, seats = self.game, self.states[lanes], self.seats[lanes]
        observation = np.empty(len(lanes), game.spec.observation_dtype)
        game.loops.observe(game.rules, states, seats, observation, raw_bytes(observation))
        return Episodes(
            lanes=lanes,
            seats=seats,
            num_players=states["num_players"].astype(np.int64),
            lengths=self.lengths[lanes],
            returns=self._returns(lanes),
            opponents=self.names(lanes),
            observation=raw_bytes(observation),
        )

    def _look(self) -> None:
        """Observe every lane as its learner."""
        game, size = self.game, self.num_lanes
        observation = np.empty(size, game.spec.observation_dtype)
        self.observation = raw_bytes(observation)
        self.mask = np.empty((size, game.num_actions), np.bool_)
        # The seats are known to be players of their lanes: no need of `game.observe`, which looks.
        game.loops.observe(game.rules, self.states, self.seats, observation, self.observation)
        game.loops.mask(self.states, self.mask.view(np.uint8))
        asked = self.states["legal"].any(axis=1)
        if not asked.all() and (self.autoreset or not (asked | self.done).all()):
            raise RuntimeError("a learner is asked to decide without a legal action")


def random_seed() -> int:
    """Return a seed of 64 bits from the system's entropy."""
    return int(np.random.SeedSequence().generate_state(1, np.uint64)[0])


def name_of(opponent: Any) -> str:
    """Return what an opponent calls itself."""
    return str(getattr(opponent, "name", type(opponent).__name__))
