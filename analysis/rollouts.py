"""Paired rollouts: two ways to go on from the same position, in the same worlds, by the same players.

A *population* question asks what an action is worth in positions as they arise in play. The true hands stay: given what
everybody has seen they are already a draw from the right distribution. Only what nobody has seen, the undrawn cards, is
dealt anew in each world; given the hands and the table it is uniform. All later decisions are made by stated policies that
see their own observation and nothing else.

Both arms are played in the same world. Undrawn cards lie in one stack for each seat, so that a card more for one player
does not shift what the others draw: the arms share their luck, and the difference is less noisy than either arm.

The question about *one* position, by a player who does not see the other hands, is another: see `analysis.advise`.

Letters: B positions, W worlds, P seats, G games.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from agents.arena import read_outcome
from agents.base import Agent, Array, CompiledBot, luck, play_table
from agents.registry import make_agent
from analysis.questions import NO_MOVE, Question
from tabletop import seeding
from tabletop.game import BatchGame
from tabletop.selfplay import ask

LANES = 16_384  # games that are played side by side, at most: some 32 MB of records
BEHAVE, KEEP, EXPLORE, CONTINUE, SHUFFLE, APART = range(11, 17)  # streams of a study's seed, by purpose


class Payoffs(NamedTuple):
    """What came of each arm: float64 [B, W, 2], of the player who was on turn.

    win: its share of the win. margin: by how much it did better than the mean of the others from here on, in points.
    """

    win: Array
    margin: Array


@dataclass(frozen=True)
class Found:
    """Positions that pose the question: records [B], the number of the game of each int64 [B]; and out of how many.

    asked: how often the question was posed in all the games, kept or not. games: how many were played.
    """

    states: Array
    games_of: Array
    asked: int
    games: int


def stream(seed: int, purpose: int) -> int:
    """Return the key of one purpose of a study's luck."""
    return int(seeding.spread(seed, 1, purpose)[0])


def seat_agents(game: BatchGame, specs: Sequence[str]) -> list[Agent]:
    """Return the agent of every seat: one spec for all, or one for each; ValueError for any other number."""
    n = game.num_players
    if len(specs) not in (1, n):
        raise ValueError(f"{len(specs)} agents are named for {n} seats: name one for all, or one for each")
    made = {spec: make_agent(spec, game) for spec in specs}
    return [made[specs[seat % len(specs)]] for seat in range(n)]


# Playing ----------------------------------------------------------------------------------------------------------------


def choose(game: BatchGame, states: Array, agents: Sequence[Agent], keys: Array) -> Array:
    """Return what the player on turn does in every lane: int64 [B]; 0 where the game is over. agents: by seat."""
    actions = np.zeros(len(states), np.int64)
    players = states["current_player"]
    for agent in {id(agent): agent for agent in agents}.values():
        seats = [seat for seat, other in enumerate(agents) if other is agent]
        mine = np.flatnonzero(np.isin(players, seats))
        if len(mine):
            actions[mine] = ask(agent, game, states[mine], keys[mine])
    return actions


def finish(game: BatchGame, states: Array, agents: Sequence[Agent], key: int) -> None:
    """Play every lane to its end, in place: compiled bots in one compiled call, others asked for all lanes at once."""
    most = game.spec.max_players
    bots = next((agent.bots for agent in agents if isinstance(agent, CompiledBot)), None)
    table, options = np.full((len(states), most), -1, np.int64), np.zeros((len(states), most), np.int64)
    for seat, agent in enumerate(agents):
        if isinstance(agent, CompiledBot) and agent.bots is bots:
            table[:, seat], options[:, seat] = agent.bot, agent.option
    while True:
        if bots is not None:
            play_table(game, states, bots, table, options, key)
        waiting = np.flatnonzero(states["current_player"] >= 0)
        if len(waiting) == 0:
            return
        records = states[waiting]
        game.step(states, choose(game, records, agents, luck(records, key)), lanes=waiting)


def find(
    question: Question,
    game: BatchGame,
    agents: Sequence[Agent],
    swapper: Agent,
    seed: int,
    first: int,
    count: int,
    keep: float,
    explore: float,
) -> Found:
    """Play games first..first+count-1 of a seed and return positions that pose the question.

    agents: who plays, by seat. swapper: whom `question.asked` and `question.moves` ask. keep: the probability, the same for
    each, with which a position is kept. explore: the probability with which the player on turn then takes either arm at
    random, so that positions arise that these agents would hardly come to.
    """
    states = game.new_states(count)
    game.reset(states, seeding.spread(seed, count, first=first))
    behave, keeping, exploring = (stream(seed, purpose) for purpose in (BEHAVE, KEEP, EXPLORE))
    kept, games_of, asked_in_all = [], [], 0
    lanes = np.arange(count)
    while len(lanes):
        records = states[lanes]
        keys = luck(records, behave)
        actions = choose(game, records, agents, keys)
        asked = np.flatnonzero(question.asked(game, records, swapper, keys))
        if len(asked):
            asked_in_all += len(asked)
            posed = records[asked]
            lucky = asked[seeding.uniform_lanes(luck(posed, keeping)) < keep]
            kept.append(records[lucky])
            games_of.append(first + lanes[lucky])
            die = seeding.uniform_lanes(luck(posed, exploring))
            wild = np.flatnonzero(die < explore)
            if len(wild):
                arms = question.moves(game, posed[wild], swapper, keys[asked[wild]])[:, :, 0]
                second = (die[wild] < explore / 2).astype(np.int64)
                actions[asked[wild]] = arms[np.arange(len(wild)), second]
        game.step(states, actions, lanes=lanes)
        lanes = lanes[states["current_player"][lanes] >= 0]
    found = np.concatenate(kept) if kept else states[:0]
    numbers = np.concatenate(games_of) if games_of else np.empty(0, np.int64)
    order = np.lexsort((found["decision"], numbers))
    return Found(found[order], numbers[order], asked_in_all, count)


def pair(
    question: Question,
    game: BatchGame,
    states: Array,
    moves: Array,
    agents: Sequence[Agent],
    worlds: int,
    seed: int,
    *,
    shared: bool = True,
) -> Payoffs:
    """Return what both arms come to from every position in `worlds` worlds, played on by `agents`, by seat.

    moves: int64 [B, 2, T]. shared=False gives each arm worlds of its own: what pairing is measured against. Worlds are a
    function of seed, position and number alone. Cost: 2 * B * W games from the position on.
    """
    if worlds < 1:
        raise ValueError(f"worlds must be at least 1, not {worlds}")
    seeds, other = luck(states, stream(seed, SHUFFLE)), luck(states, stream(seed, APART))
    both = [np.empty((len(states), worlds, 2)) for _ in range(2)]
    step = max(1, LANES // (2 * worlds))
    for start in range(0, len(states), step):
        part = slice(start, start + step)
        dealt = question.reshuffle(game, states[part], seeds[part], worlds)
        again = dealt if shared else question.reshuffle(game, states[part], other[part], worlds)
        lanes = np.concatenate([dealt, again])  # arm 0, then arm 1
        forced = np.repeat(moves[part], worlds, axis=0).transpose(1, 0, 2).reshape(len(lanes), -1)
        for found, values in zip(both, play_arms(game, lanes, forced, agents, stream(seed, CONTINUE)), strict=True):
            found[part] = values.reshape(2, -1, worlds).transpose(1, 2, 0)
    return Payoffs(both[0], both[1] * question.points)


def play_arms(game: BatchGame, lanes: Array, forced: Array, agents: Sequence[Agent], key: int) -> tuple[Array, Array]:
    """Play the actions `forced` int64 [L, T] in `lanes` [L], in place, then play on to the end.

    Return the win share and the further margin return of the player who was on turn: float64 [L] each.
    """
    player = lanes["current_player"].astype(np.int64)
    rows = np.arange(len(lanes))
    before = lanes["returns"][rows, player].astype(np.float64)
    for move in forced.T:
        moving = np.flatnonzero(move != NO_MOVE)
        game.step(lanes, move[moving], lanes=moving)
    finish(game, lanes, agents, key)
    winners = read_outcome(game, lanes).winners
    win = winners[rows, player] / winners.sum(axis=1)
    return win, lanes["returns"][rows, player].astype(np.float64) - before
