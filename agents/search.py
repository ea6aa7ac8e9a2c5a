"""Rollouts: what each legal action comes to when an agent plays on, over worlds that the player can't tell apart."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from agents.base import Agent, CompiledBot, play_seated
from tabletop import seeding
from tabletop.game import BatchGame, raw_bytes

Array = NDArray[Any]


@dataclass(frozen=True)
class Rollouts:
    """Values of actions, [B, A]: mean further return of the player on turn and its standard error; nan where not tried."""

    mean: Array
    error: Array
    worlds: int


def rollouts(
    game: BatchGame,
    states: Array,
    agent: Agent,
    worlds: int,
    key: int,
    first_world: int = 0,
    candidates: Array | None = None,
) -> Rollouts:
    """Return the value of every legal action of every lane, all seats played on by `agent` to the end of the game.

    Actions are tried in the same worlds: their difference is far less noisy than either. What the player can't know is
    dealt anew in each world, uniformly: no model of the others' play weighs it (Tesauro and Galperin, 1996, for rollouts
    by a fixed policy). candidates: bool [B, A], the actions to try, None for the legal ones. Cost: worlds x candidates x
    the rest of a game. Worlds first_world, first_world + 1, ... are tried: the same number, the same world.
    """
    if worlds < 1:
        raise ValueError(f"worlds must be at least 1, not {worlds}")
    wanted = game.legal_action_mask(states)
    if candidates is not None:
        wanted &= candidates
    shape = (len(states), game.num_actions)
    values, squares = np.zeros(shape), np.zeros(shape)
    if isinstance(agent, CompiledBot):
        _play_compiled(game, states, agent, worlds, key, first_world, wanted, values, squares)
    else:
        gains = play_worlds(game, states, agent, worlds, key, first_world, wanted)
        values[wanted], squares[wanted] = gains.sum(axis=1), (gains**2).sum(axis=1)
    mean = np.where(wanted, values / worlds, np.nan)
    spread = np.where(wanted, squares / worlds, np.nan) - mean**2
    return Rollouts(mean, np.sqrt(np.maximum(spread, 0) / worlds), worlds)


def _play_compiled(
    game: BatchGame,
    states: Array,
    bot: CompiledBot,
    worlds: int,
    key: int,
    first_world: int,
    wanted: Array,
    values: Array,
    squares: Array,
) -> None:
    """Add up returns and their squares, both float64 [B, A], in one compiled call."""
    seats = game.spec.max_players
    bots, options = np.full(seats, bot.bot, np.int64), np.full(seats, bot.option, np.int64)
    world, trial = np.empty(1, game.spec.state_dtype), np.empty(1, game.spec.state_dtype)
    scratch = np.empty(1, game.spec.observation_dtype)
    bot.bots.rollout_loop(game)(
        game.rules, states, raw_bytes(states), bots, options, np.uint64(key), first_world, worlds, wanted.view(np.uint8),
        values, squares, world, raw_bytes(world), trial, raw_bytes(trial), scratch, raw_bytes(scratch),
    )  # fmt: skip


def play_worlds(
    game: BatchGame, states: Array, agent: Agent, worlds: int, key: int, first_world: int, wanted: Array
) -> Array:
    """Return what every wanted action, bool [B, A], comes to in each world: float64 [N, worlds], in the order of np.nonzero.

    The worlds and the luck are those of the compiled loop; the agent is asked for all that wait for it at once.
    """
    lanes, actions = np.nonzero(wanted)
    player = states["current_player"][lanes].astype(np.int64)
    before = states["returns"][lanes, player].astype(np.float64)
    dealt = game.determinize(states, None, seeding.spread(key, len(states), seeding.WORLD), first_world + worlds)
    trial = dealt.reshape(len(states), -1)[lanes, first_world:].reshape(-1)
    game.step(trial, np.repeat(actions, worlds))
    play_seated(game, trial, [agent], np.zeros((len(trial), game.spec.max_players), np.int64), key)
    after = trial["returns"].reshape(len(lanes), worlds, -1)[np.arange(len(lanes)), :, player]
    return after.astype(np.float64) - before[:, None]
