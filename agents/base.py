"""The `Agent` protocol: who plays sees an observation and a mask, nothing else, many positions at a time."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from tabletop import loops
from tabletop.game import BatchGame, raw_bytes
from tabletop.jit import bind
from tabletop.selfplay import ask, decision_keys

Array = NDArray[Any]


@runtime_checkable
class Agent(Protocol):
    """Something that chooses actions.

    `act` gets observation records [B], bool masks [B, A] with at least one legal action each, and uint64 keys [B] of
    random streams, one for each decision; it returns int64 actions [B]. Same arguments, same actions, whatever the
    batch. An agent holds no memory of a game: an observation tells all that matters.
    """

    @property
    def name(self) -> str:
        """What it is called in tables."""
        ...

    def act(self, observations: Array, masks: Array, keys: Array) -> Array:
        """Choose for every record."""
        ...


@runtime_checkable
class SearchAgent(Agent, Protocol):
    """An agent that plays games on in its head.

    `act_on` gets, beside what `act` gets, the game and records [B] of its positions in which all that the player on turn
    can't know is dealt anew, future luck too (`BatchGame.determinize`): the search can't see what its player may not.
    """

    def act_on(self, game: BatchGame, records: Array, observations: Array, masks: Array, keys: Array) -> Array:
        """Choose for every record: int64 [B]."""
        ...


class Outcome(NamedTuple):
    """How finished games ended, by seat: points [B, P] as the game counts them, and who won, bool [B, P]."""

    points: Array
    winners: Array


@dataclass(frozen=True)
class Bots:
    """The compiled bots of one game: `choose(bot, option, o, legal, key)`, what its numbers mean, and how to keep score.

    read_options(name, texts) turns a bot's options as written, {"draw": "hint"}, into the number `option`; ValueError
    says what is wrong with them. outcome(states) reads finished games. behaviour(counts) sums up how often an agent
    chose each action, int [A], as named figures.
    """

    game: str  # game id
    choose: Any  # kernel
    names: tuple[str, ...]  # by bot number
    meanings: tuple[str, ...] = ()  # by bot number, for lists
    options: Mapping[str, str] = field(default_factory=dict)  # option of every bot: what it may be, for lists
    read_options: Callable[[str, Mapping[str, str]], int] | None = field(default=None, compare=False)
    outcome: Callable[[Array], Outcome] | None = field(default=None, compare=False)
    behaviour: Callable[[Array], dict[str, float]] | None = field(default=None, compare=False)
    loops: dict[str, Any] = field(default_factory=dict, compare=False, repr=False)

    def make(self, name: str, texts: Mapping[str, str] | None = None) -> CompiledBot:
        """Return the bot called `name` with options as written; ValueError says what there is."""
        if name not in self.names:
            raise ValueError(f"{self.game} has no bot {name!r}; bots are: {', '.join(self.names)}")
        texts = dict(texts or {})
        for key in texts:
            if key not in self.options:
                known = "; ".join(f"{k}={v}" for k, v in self.options.items()) or "none"
                raise ValueError(f"{name} has no option {key!r}; options are: {known}")
        option = self.read_options(name, texts) if self.read_options is not None else 0
        written = "".join(f":{key}={texts[key]}" for key in sorted(texts))
        return CompiledBot(self, self.names.index(name), option, name + written)

    def play_loop(self, game: BatchGame) -> Any:
        """Return `tabletop.loops.play_lanes` with these bots, compiled once."""
        if "play" not in self.loops:
            self.loops["play"] = game.loops.play(self.choose, "bots")
        return self.loops["play"]

    def rollout_loop(self, game: BatchGame) -> Any:
        """Return `tabletop.loops.rollout_lanes` with these bots, compiled once."""
        if "rollout" not in self.loops:
            self.loops["rollout"] = game.loops.rollout(self.choose, "bots")
        return self.loops["rollout"]

    def choose_loop(self) -> Any:
        """Return `tabletop.loops.choose_lanes` with these bots, compiled once."""
        if "choose" not in self.loops:
            self.loops["choose"] = bind(loops.choose_lanes, f"{self.game.partition('-')[0]}_bots", choose=self.choose)
        return self.loops["choose"]


@dataclass(frozen=True)
class CompiledBot:
    """An agent written as a kernel: it plays inside compiled code for whole batches."""

    bots: Bots
    bot: int
    option: int
    name: str

    def act(self, observations: Array, masks: Array, keys: Array) -> Array:
        """Choose for every record."""
        actions = np.empty(len(observations), np.int64)
        self.bots.choose_loop()(
            np.int64(self.bot), np.int64(self.option), observations, masks.view(np.uint8), keys, actions
        )
        return actions


def play_out(
    game: BatchGame,
    states: Array,
    agents: list[CompiledBot | None],
    key: int,
    histogram: Array | None = None,
    until_paid: bool = False,
) -> int:
    """Let compiled bots play every lane on, in place, until a seat with None must decide or the game is over.

    agents: one for each seat. histogram: int64 [B, P, A], to which each seat's actions are added. until_paid: whether a
    lane also stops once a move has paid a seat something, as the end of a round does. Return the number of decisions made.
    """
    size, seats = len(states), game.spec.max_players
    some = next(agent for agent in agents if agent is not None)
    table = np.full((size, seats), -1, np.int64)
    options = np.zeros((size, seats), np.int64)
    for seat, agent in enumerate(agents):
        if agent is not None:
            table[:, seat], options[:, seat] = agent.bot, agent.option
    return play_table(game, states, some.bots, table, options, key, histogram, until_paid)


def play_table(
    game: BatchGame,
    states: Array,
    bots: Bots,
    table: Array,
    options: Array,
    key: int,
    histogram: Array | None = None,
    until_paid: bool = False,
) -> int:
    """Let the compiled bots `table` int64 [B, P] with `options` int64 [B, P] play on; -1 is a seat that stops play."""
    if histogram is None:
        histogram = np.empty((0, 0, 0), np.int64)
    scratch = np.empty(1, game.spec.observation_dtype)
    made = bots.play_loop(game)(
        game.rules, states, table, options, np.uint64(key), histogram, scratch, raw_bytes(scratch)[0], 0, until_paid
    )
    if made < 0:
        lane = -1 - made
        seat = int(states["current_player"][lane])
        raise RuntimeError(f"bot {bots.names[table[lane, seat]]} chose an illegal action in lane {lane}")
    return int(made)


def play_seated(
    game: BatchGame,
    states: Array,
    agents: Sequence[Agent],
    seats: Array,
    key: int,
    histogram: Array | None = None,
    until_paid: bool = False,
) -> Array:
    """Let any agents play every lane to its end, in place, or until a move has paid a seat something.

    seats: int64 [B, n], which agent sits where; the others as in `play_table`. Compiled bots move in one compiled call until
    another agent must decide; then each such agent is asked once for all the lanes that wait for it. Return the seconds that
    each agent thought: float64 [K + 1], those of all compiled bots together in the last place.
    """
    size, n = seats.shape
    bots = shared_bots(agents)
    in_loop = [(a.bot, a.option) if isinstance(a, CompiledBot) and a.bots is bots else (-1, 0) for a in agents]
    numbers, options = np.array(in_loop, np.int64).T
    most = game.spec.max_players
    table, table_options = np.full((size, most), -1, np.int64), np.zeros((size, most), np.int64)
    table[:, :n], table_options[:, :n] = numbers[seats], options[seats]
    seconds = np.zeros(len(agents) + 1)
    before = states["returns"].copy()
    if bots is not None:  # compiled, or read from the cache, before the clock runs
        none = None if histogram is None else histogram[:0]
        play_table(game, states[:0], bots, table[:0], table_options[:0], key, none)
    while True:
        if bots is not None:
            started = time.perf_counter()
            play_table(game, states, bots, table, table_options, key, histogram, until_paid)
            seconds[-1] += time.perf_counter() - started
        on = states["current_player"] >= 0
        if until_paid:
            paid = (states["returns"] != before).any(axis=1)
            on &= ~paid
            table[paid] = -1  # the compiled call passes it over
        waiting = np.flatnonzero(on)
        if len(waiting) == 0:
            return seconds
        players = states["current_player"][waiting]
        asked = seats[waiting, players]
        actions = np.zeros(len(waiting), np.int64)
        for k in np.unique(asked):
            mine = np.flatnonzero(asked == k)
            records = states[waiting[mine]]
            keys = luck(records, key)
            started = time.perf_counter()
            actions[mine] = ask(agents[k], game, records, keys)
            seconds[k] += time.perf_counter() - started
        game.step(states, actions, lanes=waiting)
        if histogram is not None:
            histogram[waiting, players, actions] += 1


def shared_bots(agents: Sequence[Agent]) -> Bots | None:
    """Return the bots that one compiled loop can play: those of the first compiled agent."""
    for agent in agents:
        if isinstance(agent, CompiledBot):
            return agent.bots
    return None


def is_compiled(agents: Sequence[Agent]) -> Array:
    """Tell of each agent whether it plays in the compiled loop of `shared_bots`: bool [K]."""
    bots = shared_bots(agents)
    return np.array([isinstance(agent, CompiledBot) and agent.bots is bots for agent in agents], np.bool_)


def luck(states: Array, key: int) -> Array:
    """Return the key of the next decision's luck in every lane: uint64 [B], the one `play_table` gives compiled bots.

    It hangs on the episode, the player on turn and the number of the decision; lanes that are over get that of player 0.
    """
    return decision_keys(states, luck=key)
