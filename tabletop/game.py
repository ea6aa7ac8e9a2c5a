"""The batch protocol: `BatchGame` is what every game is to every user, `GameSpec` what is fixed about it.

A game is a frozen configuration with methods and holds no position. A batch of positions is one numpy structured array
`[B]`, a record for each game; a single game is a batch of one. A game package supplies five kernels for one record (see
`tabletop.loops`), its dtypes and its texts; checks, allocation, lanes and threads are here.

Letters: B lanes, A actions, D observation bytes, P players (the most the game allows).
"""

from __future__ import annotations

import hashlib
import operator
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tabletop import loops, seeding
from tabletop.jit import bind, bind_kernel
from tabletop.state import NO_PLAYER, ObservationField, field_slices
from tabletop.threads import shared_out

Array = NDArray[Any]


class IllegalActionError(ValueError):
    """An action that the rules do not allow; nothing was changed."""


class PositionError(ValueError):
    """A position that no game can reach by its rules, or that is not written as one."""


@dataclass(frozen=True)
class Kernels:
    """A game's compiled rules for one record; `tabletop.loops` says what each does."""

    deal: Callable[..., Any]
    apply: Callable[..., Any]
    observe: Callable[..., Any]
    observe_all: Callable[..., Any]
    redeal: Callable[..., Any]


class Loops:
    """The lane loops of one game, compiled when first used."""

    def __init__(self, owner: str, kernels: Kernels) -> None:
        self.owner = owner
        self.kernels = kernels

    @cached_property
    def start(self) -> Any:
        return bind(loops.start_episode, self.owner, deal=self.kernels.deal)

    @cached_property
    def reset(self) -> Any:
        return bind(loops.reset_lanes, self.owner, start=self.start)

    @cached_property
    def first_illegal(self) -> Any:
        look = bind_kernel(loops.look_for_illegal, self.owner)
        return bind_kernel(loops.first_illegal, self.owner, look_for_illegal=look)

    @cached_property
    def first_illegal_of(self) -> Any:
        return bind(loops.first_illegal_of, self.owner)

    @cached_property
    def step(self) -> Any:
        step = bind_kernel(loops.step_lanes, self.owner, apply=self.kernels.apply)
        return bind(loops.step_all, self.owner, step_lanes=step, first_illegal=self.first_illegal)

    @cached_property
    def step_some(self) -> Any:
        return bind(loops.step_some, self.owner, apply=self.kernels.apply)

    @cached_property
    def mask(self) -> Any:
        return bind(loops.mask_lanes, self.owner)

    @cached_property
    def observe(self) -> Any:
        return bind(loops.observe_lanes, self.owner, observe=self.kernels.observe)

    @cached_property
    def observe_all(self) -> Any:
        return bind(loops.observe_all_lanes, self.owner, observe_all=self.kernels.observe_all)

    @cached_property
    def redeal(self) -> Any:
        return bind(loops.redeal_lanes, self.owner, redeal=self.kernels.redeal)

    @cached_property
    def advance(self) -> Any:
        k = self.kernels
        advance = bind_kernel(loops.advance_lanes, self.owner, apply=k.apply, observe=k.observe, start=self.start)
        return bind(loops.advance_all, self.owner, advance_lanes=advance, first_illegal=self.first_illegal)

    @cached_property
    def random_actions(self) -> Any:
        choose = bind_kernel(loops.choose_randomly, self.owner)
        return bind(loops.choose_all, self.owner, choose_randomly=choose)

    def play(self, choose: Any, bots: str) -> Any:
        """Return the playout loop of this game with compiled bots `choose`; `bots` names them for the cache."""
        owner = f"{self.owner}_{bots}"
        kernels = self.kernels
        return bind(loops.play_lanes, owner, apply=kernels.apply, observe=kernels.observe, choose=choose)

    def rollout(self, choose: Any, bots: str) -> Any:
        """Return the rollout loop of this game with compiled bots `choose`; `bots` names them for the cache."""
        k = self.kernels
        owner = f"{self.owner}_{bots}"
        return bind(loops.rollout_lanes, owner, apply=k.apply, observe=k.observe, redeal=k.redeal, choose=choose)


@dataclass(frozen=True)
class GameSpec:
    """What is fixed about a game whatever its configuration."""

    name: str  # "sting-v0"
    title: str  # "Sting"
    min_players: int
    max_players: int
    num_actions: int
    phases: tuple[str, ...]
    state_dtype: np.dtype
    observation_dtype: np.dtype
    full_observation_dtype: np.dtype
    observation_fields: tuple[ObservationField, ...]
    unit_options: tuple[tuple[str, Any], ...] = ()  # options under which a game is the smallest unit scored by itself
    critic_fields: tuple[str, ...] = ()  # of the full observation: what is hidden, as one-hots and counts

    @property
    def observation_size(self) -> int:
        """Number of int8 values in an observation, D."""
        return self.observation_dtype.itemsize

    @property
    def observation_digest(self) -> str:
        """Hash of all that a network's inputs and outputs depend on: the fields, their shapes, the actions."""
        fields = [(field.name, field.shape) for field in self.observation_fields]
        return hashlib.sha256(repr((self.name, self.num_actions, fields)).encode()).hexdigest()[:16]

    def observation_slices(self) -> dict[str, slice]:
        """Return where each field lies in the flat vector."""
        return field_slices(self.observation_dtype)


class BatchGame(ABC):
    """One configuration of one game, for batches of positions.

    A game package derives from it, sets `spec` and `loops` and writes `action_to_string`, `string_to_action`, `to_dict`,
    `from_dict` and `to_text`; everything else is here.
    """

    spec: ClassVar[GameSpec]
    loops: ClassVar[Loops]

    def __init__(self, config: Any) -> None:
        self.config = config
        self.rules: Any = config.compiled()

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.config!r})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, BatchGame) and type(self) is type(other) and self.config == other.config

    def __hash__(self) -> int:
        return hash((type(self), self.config))

    @property
    def num_players(self) -> int:
        """Players of a lane, unless `reset` says otherwise."""
        return int(self.config.num_players)

    @property
    def num_actions(self) -> int:
        """Size of the action space, A."""
        return self.spec.num_actions

    # Positions ------------------------------------------------------------------------------------------------------

    def new_states(self, batch_size: int) -> Array:
        """Return records [B] that hold no game yet: `reset` them."""
        if batch_size < 0:
            raise ValueError(f"batch_size must be at least 0, not {batch_size}")
        states = np.zeros(batch_size, self.spec.state_dtype)
        states["current_player"] = NO_PLAYER
        states["phase"] = len(self.spec.phases) - 1
        return states

    def reset(
        self,
        states: Array,
        seeds: ArrayLike,
        lanes: ArrayLike | None = None,
        num_players: ArrayLike | None = None,
        episodes: ArrayLike | None = None,
    ) -> None:
        """Begin a game in every lane, or in `lanes` [L], in place.

        seeds: uint64 [L] or a scalar, which is spread over the lanes (`seeding.spread`). num_players: int [L] or a
        scalar; lanes of one batch may differ. episodes: int [L] or a scalar, which of the games of its seed each lane
        begins; None is the first, 0, and the others are what `advance` goes on to by itself. Same seed and episode,
        same game, whatever the batch. Raises ValueError for a player count that the game or the configuration does not
        allow.
        """
        self._check_changeable(states)
        chosen = np.arange(len(states)) if lanes is None else self._check_lanes(states, lanes)
        size = len(chosen)
        if np.ndim(seeds) == 0:
            seed_array = seeding.spread(operator.index(seeds), size)  # type: ignore[arg-type]
        else:
            seed_array = self._as_seeds(seeds, size)
        counts = integers(self.num_players if num_players is None else num_players, "num_players")
        counts = np.ascontiguousarray(np.broadcast_to(counts, (size,)), dtype=np.int64)
        for count in np.unique(counts):
            self.check_num_players(int(count))
        numbers = integers(0 if episodes is None else episodes, "episodes")
        numbers = np.ascontiguousarray(np.broadcast_to(numbers, (size,)), dtype=np.int64)
        self.loops.reset(self.rules, states, raw_bytes(states), chosen, seed_array, numbers, counts)

    def check_num_players(self, count: int) -> None:
        """Raise ValueError if a lane can't have `count` players under this configuration."""
        low, high = self.spec.min_players, self.spec.max_players
        if not low <= count <= high:
            raise ValueError(f"num_players must be {low} to {high} in {self.spec.title}, not {count}")

    # Decisions ------------------------------------------------------------------------------------------------------

    def current_player(self, states: Array) -> Array:
        """Return who decides in each lane: int8 [B], NO_PLAYER when over."""
        return np.array(states["current_player"])

    def legal_action_mask(self, states: Array, out: Array | None = None) -> Array:
        """Return the legal actions of the current player: bool [B, A], all False when over. `out` is written."""
        self._check_states(states)
        if out is None:
            out = np.empty((len(states), self.num_actions), np.bool_)
        self._check_out(out, (len(states), self.num_actions), "out")
        self.loops.mask(states, out.view(np.uint8))
        return out

    def observe(self, states: Array, observer: ArrayLike | None = None, out: Array | None = None) -> Array:
        """Return what a player may know: structured int8 records [B].

        observer: int or int [B]; None is the current player of each lane (player 0 where the game is over). `out` is
        written in place. `obs.view(np.int8).reshape(B, -1)` is the flat vector (see `flat`).
        """
        self._check_states(states)
        if out is None:
            out = np.empty(len(states), self.spec.observation_dtype)
        self._check_observations(out, len(states), "out")
        self.loops.observe(self.rules, states, self._as_observers(states, observer), out, raw_bytes(out))
        return out

    def observe_all(self, states: Array) -> Array:
        """Return everything, hidden cards too, as structured int8 records [B]: for critics, never for players."""
        self._check_states(states)
        out = np.empty(len(states), self.spec.full_observation_dtype)
        self.loops.observe_all(self.rules, states, out, raw_bytes(out))
        return out

    def step(self, states: Array, actions: ArrayLike, lanes: ArrayLike | None = None, num_threads: int = 1) -> None:
        """Carry out one action in every lane, or in `lanes` [L], in place; a lane that is over ignores its action.

        actions: integers [B] or [L]. num_threads: how many share all lanes (`tabletop.threads`), the result is the same.
        Raises IllegalActionError naming the lane, and then no lane has changed; ValueError for read-only states.
        """
        self._check_changeable(states, contiguous=False)
        if lanes is not None:
            chosen = self._check_lanes(states, lanes)
            if len(np.unique(chosen)) != len(chosen):
                raise ValueError("lanes must be different: a lane takes one step at a time")
            moves = self._as_actions(actions, len(chosen))
            bad = self.loops.first_illegal_of(states, chosen, moves)
            if bad >= 0:
                raise self._illegal(states, int(chosen[bad]), int(moves[bad]))
            self.loops.step_some(self.rules, states, chosen, moves)
            return
        moves = self._as_actions(actions, len(states))
        bad = shared_out(num_threads, len(states), self.loops.step, self.rules, states, moves)
        if bad >= 0:
            raise self._illegal(states, int(bad), int(moves[bad]))

    def advance(
        self,
        states: Array,
        actions: ArrayLike,
        *,
        rewards: Array | None = None,
        terminated: Array | None = None,
        mask: Array | None = None,
        observation: Array | None = None,
        autoreset: bool = True,
        num_threads: int = 1,
    ) -> None:
        """Step all lanes, begin the next episode where one ended, write what follows: one pass, no Python per lane.

        rewards float32 [B, P] and terminated bool [B] are of the step; mask bool [B, A] and observation records [B] are
        of the decision that follows it. What is not given is not written. The result is the same for any `num_threads`.
        """
        self._check_changeable(states)
        size = len(states)
        moves = self._as_actions(actions, size)
        if rewards is None:
            rewards = np.empty((0, 0), np.float32)
        else:
            self._check_out(rewards, (size, self.spec.max_players), "rewards", np.float32)
        if terminated is None:
            terminated = np.empty(0, np.bool_)
        else:
            self._check_out(terminated, (size,), "terminated")
        if mask is None:
            mask = np.empty((0, 0), np.bool_)
        else:
            self._check_out(mask, (size, self.num_actions), "mask")
        if observation is None:
            observation = np.empty(0, self.spec.observation_dtype)
        else:
            self._check_observations(observation, size, "observation")
        raw, mask_bytes, out_raw = raw_bytes(states), mask.view(np.uint8), raw_bytes(observation)
        given = (states, raw, moves, rewards, terminated, mask_bytes, observation, out_raw, autoreset)
        bad = shared_out(num_threads, size, self.loops.advance, self.rules, *given)
        if bad >= 0:
            raise self._illegal(states, int(bad), int(moves[bad]))

    def random_actions(self, states: Array, seeds: ArrayLike, out: Array | None = None, num_threads: int = 1) -> Array:
        """Return a legal action for every lane, uniformly: int64 [B]. seeds: uint64 [B]; lanes that are over get 0."""
        self._check_states(states)
        size = len(states)
        seeds = self._as_seeds(seeds, size)
        if out is None:
            out = np.empty(size, np.int64)
        self._check_out(out, (size,), "out", np.int64)
        shared_out(num_threads, size, self.loops.random_actions, states, seeds, out)
        return out

    # Outcomes -------------------------------------------------------------------------------------------------------

    def rewards(self, states: Array) -> Array:
        """Return the rewards of the last step: float32 [B, P], zero for seats not taken."""
        return np.array(states["rewards"])

    def returns(self, states: Array) -> Array:
        """Return the rewards summed over the episode: float32 [B, P]."""
        return np.array(states["returns"])

    def terminated(self, states: Array) -> Array:
        """Return whether each game is over: bool [B]."""
        return np.asarray(states["current_player"] == NO_PLAYER)

    # Search ---------------------------------------------------------------------------------------------------------

    def determinize(self, states: Array, observer: ArrayLike | None, seeds: ArrayLike, worlds: int = 1) -> Array:
        """Return records [B * worlds] that `observer` can't tell from `states`, hidden cards dealt anew.

        Record `b * worlds + w` is world w of lane b. Everything `observer` (int, int [B], or None for the current
        player) can't know is dealt uniformly, hand sizes and public facts kept; each record has a fresh random stream,
        so that no search can read the future. seeds: uint64 [B].
        """
        self._check_states(states)
        if worlds < 1:
            raise ValueError(f"worlds must be at least 1, not {worlds}")
        out = np.repeat(states, worlds)
        observers = self._as_observers(states, observer)
        observers = np.where(observers < 0, np.maximum(states["current_player"], 0), observers)
        self.loops.redeal(self.rules, out, observers, self._as_seeds(seeds, len(states)), worlds)
        return out

    # Learning -------------------------------------------------------------------------------------------------------

    def random_symmetries(self, observations: Array, rng: np.random.Generator) -> tuple[Array, Array]:
        """Return for each observation, records [B], a random renaming under which the game is the same.

        Two arrays of places, int64 [B, D] and [B, A]: value i of the renamed observation is value inputs[b, i] of
        observation b, and what is true of action a of the renamed position is true of action actions[b, a] of position
        b. One position learned from is so as many as it has names. A game without symmetries leaves this as it is.
        """
        size = len(observations)
        inputs, actions = np.arange(self.spec.observation_size), np.arange(self.num_actions)
        return np.broadcast_to(inputs, (size, len(inputs))), np.broadcast_to(actions, (size, len(actions)))

    # Texts ----------------------------------------------------------------------------------------------------------

    @abstractmethod
    def action_to_string(self, action: int) -> str:
        """Return an action in words; `string_to_action` reads it back."""

    @abstractmethod
    def string_to_action(self, text: str) -> int:
        """Return the action written as `text`; ValueError if there is none."""

    @abstractmethod
    def to_dict(self, state: Any) -> dict[str, Any]:
        """Return one record as JSON-ready values, hidden cards and all."""

    @abstractmethod
    def from_dict(self, position: Mapping[str, Any]) -> Array:
        """Return records [1] holding `position`; PositionError says what is impossible about it."""

    @abstractmethod
    def to_text(self, state: Any, observer: int | None = None) -> str:
        """Return one record as a picture in text: what `observer` may see, or everything for None."""

    def describe_action(self, state: Any, action: int, observer: int | None = None) -> str:
        """Return what the current player does by a legal action, in plain words; the observer's own as a command.

        A game may say it better than by the action's text, as it may override the next three.
        """
        return self.action_to_string(action)

    def tell(self, before: Any, action: int, after: Any, observer: int | None = None) -> list[str]:
        """Return what `observer` should be told about an action and what came of it, a sentence each."""
        player = int(before["current_player"])
        who = "You" if player == observer else f"Player {player}"
        return [f"{who}: {self.describe_action(before, action)}"]

    def hint(self, state: Any) -> str:
        """Return what the player to move needs to know of the rules."""
        legal = np.flatnonzero(self.legal_action_mask(np.array([state], self.spec.state_dtype))[0])
        examples = ", ".join(self.action_to_string(int(action)) for action in legal[:8])
        return f"{self.spec.phases[int(state['phase'])]}: actions are written like {examples}"

    def in_colour(self, text: str) -> str:
        """Return a text of `to_text`, `describe_action` or `tell` with ANSI colours."""
        return text

    def describe_observation(self) -> str:
        """Return a table of the observation: field, slice, shape, public or private, meaning."""
        slices = self.spec.observation_slices()
        rows = [("field", "slice", "shape", "who knows", "meaning")]
        for field in self.spec.observation_fields:
            place = slices[field.name]
            shape = "x".join(map(str, field.shape)) or "1"
            who = "public" if field.public else "private"
            rows.append((field.name, f"{place.start}:{place.stop}", shape, who, field.meaning))
        widths = [max(len(row[c]) for row in rows) for c in range(4)]
        lines = ("  ".join([*(cell.ljust(w) for cell, w in zip(row[:4], widths, strict=True)), row[4]]) for row in rows)
        return "\n".join(lines)

    # Checks ---------------------------------------------------------------------------------------------------------

    def _check_states(self, states: Array) -> None:
        if getattr(states, "dtype", None) != self.spec.state_dtype or states.ndim != 1:
            raise TypeError(f"states must be a one-dimensional array of {self.spec.name} records: game.new_states(B)")

    def _check_changeable(self, states: Array, contiguous: bool = True) -> None:
        self._check_states(states)
        flags = states.flags
        if not flags.writeable:
            raise ValueError("states are read-only: take a copy")
        if contiguous and not flags.c_contiguous:
            raise ValueError("states must be contiguous: take a copy, not every second record, say")

    def _check_lanes(self, states: Array, lanes: ArrayLike) -> Array:
        chosen = np.ascontiguousarray(integers(lanes, "lanes"), dtype=np.int64)
        if chosen.ndim != 1:
            raise ValueError(f"lanes must have shape [L], not {list(chosen.shape)}")
        if chosen.size and (chosen.min() < 0 or chosen.max() >= len(states)):
            raise IndexError(f"lanes must be 0 to {len(states) - 1}, not {chosen.min()} to {chosen.max()}")
        if chosen.size > 1 and np.bincount(chosen).max() > 1:
            raise ValueError("lanes must differ from each other")
        return chosen

    def _check_out(self, out: Array, shape: tuple[int, ...], name: str, dtype: Any = np.bool_) -> None:
        if out.shape != shape or out.dtype != dtype or not out.flags.carray:
            wanted = f"{np.dtype(dtype)} array {list(shape)}"
            raise ValueError(f"{name} must be a contiguous, writable {wanted}, not {out.dtype} {list(out.shape)}")

    def _check_observations(self, out: Array, size: int, name: str) -> None:
        if out.dtype != self.spec.observation_dtype or out.shape != (size,) or not out.flags.carray:
            raise ValueError(
                f"{name} must be contiguous, writable records of {self.spec.name}'s observation dtype [{size}]"
            )

    def _as_seeds(self, seeds: ArrayLike, size: int) -> Array:
        if isinstance(seeds, (list, tuple)) and all(type(seed) is int and 0 <= seed < 2**64 for seed in seeds):
            seeds = np.array(seeds, np.uint64)  # numpy would make floats of a list with large numbers
        array = np.ascontiguousarray(integers(seeds, "seeds"), dtype=np.uint64)
        if array.shape != (size,):
            raise ValueError(f"seeds must have shape [{size}], not {list(array.shape)}")
        return array

    def _as_actions(self, actions: ArrayLike, size: int) -> Array:
        array = np.ascontiguousarray(integers(actions, "actions"), dtype=np.int64)
        if array.shape != (size,):
            raise ValueError(f"actions must have shape [{size}], not {list(array.shape)}")
        return array

    def _as_observers(self, states: Array, observer: ArrayLike | None) -> Array:
        if observer is None:
            return np.full(len(states), -1, np.int64)
        observers = np.broadcast_to(integers(observer, "observer"), (len(states),))
        observers = np.ascontiguousarray(observers, dtype=np.int64)
        if len(states) and (observers.min() < 0 or (observers >= states["num_players"]).any()):
            raise ValueError("observer must be a player of its lane: 0 to num_players - 1")
        return observers

    def _illegal(self, states: Array, lane: int, action: int) -> IllegalActionError:
        state = states[lane]
        legal = np.flatnonzero(self.legal_action_mask(states[lane : lane + 1])[0])
        words = ", ".join(self.action_to_string(int(a)) for a in legal)
        known = 0 <= action < self.num_actions
        name = f"{self.action_to_string(action)!r} ({action})" if known else f"{action} (no such action)"
        return IllegalActionError(
            f"lane {lane}, phase {self.spec.phases[int(state['phase'])]}, player {int(state['current_player'])}: "
            f"{name} is not legal; legal are: {words}"
        )


def integers(values: ArrayLike, name: str) -> Array:
    """Return values as an array. Raises TypeError naming them if they are no integers; none at all will do."""
    array = np.asarray(values)
    if array.size and array.dtype.kind not in "iu":
        raise TypeError(f"{name} must be integers, not {array.dtype}")
    return array


def raw_bytes(records: Array) -> Array:
    """Return records [B] as their bytes [B, itemsize], the same memory."""
    return np.ndarray((len(records), records.dtype.itemsize), np.int8, records)


def flat(observation: Array) -> Array:
    """Return observation records [B] as int8 [B, D], the same memory."""
    return raw_bytes(observation)
