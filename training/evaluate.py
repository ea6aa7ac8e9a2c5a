"""A quick gauntlet for use while training: one agent against compiled bots on fixed deals, every seat in turn."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from agents.base import Agent, Bots, CompiledBot, play_table
from tabletop.game import BatchGame
from tabletop.seeding import CHOICE, spread


@dataclass(frozen=True)
class Score:
    """A share of games won (ties shared) with the half-width of its 95% interval, and the mean return."""

    share: float
    half: float
    returns: float

    @property
    def low(self) -> float:
        """Lower end of the interval of the share."""
        return self.share - self.half


def gauntlet(
    game: BatchGame, bots: Bots, agent: Agent, opponents: Iterable[CompiledBot], num_players: int, deals: int, seed: int
) -> dict[str, Score]:
    """Return the agent's score against each bot in all other seats: `deals` deals, each from every seat.

    A block is one deal with the agent in each seat once; intervals are from block means (normal approximation).
    """
    return {bot.name: _against(game, bots, agent, bot, num_players, deals, seed) for bot in opponents}


def _against(
    game: BatchGame, bots: Bots, agent: Agent, bot: CompiledBot, num_players: int, deals: int, seed: int
) -> Score:
    seats = np.tile(np.arange(num_players), deals)
    lanes = np.arange(len(seats))
    states = game.new_states(len(seats))
    game.reset(states, np.repeat(spread(seed, deals), num_players), num_players=num_players)
    table = np.full((len(seats), game.spec.max_players), bot.bot, np.int64)
    table[lanes, seats] = -1
    options = np.full(table.shape, bot.option, np.int64)
    play_table(game, states, bots, table, options, seed)
    while True:
        live = np.flatnonzero(states["current_player"] >= 0)
        if not len(live):
            break
        part = states[live]
        keys = spread(seed, len(states), CHOICE)[live] + part["decision"].astype(np.uint64)
        game.step(part, agent.act(game.observe(part), game.legal_action_mask(part), keys))
        play_table(game, part, bots, table[live], options[live], seed)
        states[live] = part
    returns = states["returns"][:, :num_players]
    if bots.outcome is None:
        won = returns == returns.max(axis=1, keepdims=True)
    else:
        won = np.asarray(bots.outcome(states).winners)[:, :num_players]
    shares = won[lanes, seats] / won.sum(axis=1)
    blocks = shares.reshape(deals, num_players).mean(axis=1)
    return Score(
        share=float(blocks.mean()),
        half=float(1.96 * blocks.std(ddof=1) / np.sqrt(deals)),
        returns=float(returns[lanes, seats].mean()),
    )


def as_table(scores: dict[str, Score]) -> dict[str, Any]:
    """Return scores as JSON-ready values."""
    return {
        name: {"share": round(s.share, 4), "half": round(s.half, 4), "returns": round(s.returns, 4)}
        for name, s in scores.items()
    }
