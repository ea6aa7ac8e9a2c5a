"""`rollout`: try the likely actions in worlds that can't be told apart, an agent playing on, and take the best.

Candidates come from a prior (every legal action, or a network's likeliest), worlds from `determinize`, dealt alike for
all candidates; a budget of time or of playouts is spent by sequential halving (Karnin, Koren and Somekh, 2013): each
round tries all that are left equally often and drops the worse half. What a bot or a network would do stays in to the
end, and another action is taken only if it is surely better in the same worlds: the best of many noisy means is
otherwise often just the luckiest. The bot that plays on sees only what it may, so that no choice leans on hidden cards
(the fault of searching each world as if it were open: Frank and Basin, 1998). A network can play on as well; it is asked
for many worlds at once, and still plays far fewer of them than a bot in the same time: where there are not MIN_WORLDS,
its prior decides.

    rollout:ms=50                        50 milliseconds a decision
    rollout:playouts=512,playout=greedy  512 games played out, at least one for each candidate: the same choice every time
    rollout:ms=50,prior=planner          as planner does, unless another action is surely better
    rollout:ms=50,prior=ppo              the eight likeliest actions of the shipped network
    rollout:ms=2000,prior=ppo,playout=ppo:best=yes  and the network plays on
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from agents.base import Agent, CompiledBot, SearchAgent
from agents.policy import PolicyAgent
from agents.registry import make_agent
from agents.search import play_worlds, rollouts
from tabletop.game import BatchGame
from tabletop.registry import make as make_game

Array = NDArray[Any]
DEFAULTS = {
    "ms": "",
    "playouts": "",
    "playout": "greedy",
    "prior": "none",
    "candidates": "8",
    "doubt": "2",
    "aim": "win",
}
AIMS = ("win", "margin")
CHUNK = 4  # worlds between looks at the clock, without a prior
AT_ONCE = 64  # games that a network plays on between looks at the clock
MIN_WORLDS = 16  # before a prior is departed from
NO_CHOICE = -1


@dataclass(frozen=True)
class RolloutAgent:
    """An agent that searches; it is given re-dealt records, and so can't see what its player may not."""

    name: str
    playout: Agent
    prior: PolicyAgent | CompiledBot | None
    aim: str
    most_candidates: int  # of a network's actions
    doubt: float  # standard errors by which another action must be better than the prior's
    seconds: float  # a decision; 0 with a budget of playouts
    playouts: int  # a decision; 0 with a budget of time

    def act(self, observations: Array, masks: Array, keys: Array) -> Array:
        """Refuse: a search plays on from records, which `act_on` is given."""
        raise TypeError(f"{self.name} plays from records, not from observations alone: call tabletop.selfplay.ask")

    def act_on(self, game: BatchGame, records: Array, observations: Array, masks: Array, keys: Array) -> Array:
        """Choose for every record: int64 [B]. records [B] are re-dealt for the player on turn."""
        goal = with_aim(game, self.aim)
        candidates, usual = self.choose_candidates(observations, masks, keys)
        chosen = [
            self.search(goal, records[b : b + 1], candidates[b], int(usual[b]), int(keys[b]))
            for b in range(len(records))
        ]
        return np.array(chosen, np.int64)

    def choose_candidates(self, observations: Array, masks: Array, keys: Array) -> tuple[Array, Array]:
        """Return the actions to try, bool [B, A], and the prior's choice among them, int64 [B], -1 without a prior.

        Tried are the likeliest of a network, all that are legal otherwise.
        """
        if self.prior is None:
            return masks, np.full(len(masks), NO_CHOICE)
        if not isinstance(self.prior, PolicyAgent):
            return masks, self.prior.act(observations, masks, keys)
        probabilities = np.where(masks, self.prior.probabilities(observations, masks), -1.0)
        order = np.argsort(-probabilities, axis=1, kind="stable")[:, : self.most_candidates]
        candidates = np.zeros_like(masks)
        np.put_along_axis(candidates, order, True, axis=1)
        return np.asarray(candidates & masks), order[:, 0]

    def search(self, game: BatchGame, record: Array, candidates: Array, usual: int, key: int) -> int:
        """Return the best of the candidates bool [A] by sequential halving.

        usual: the prior's choice; it is never dropped, and another is taken only if it is surely better.
        """
        left = np.flatnonzero(candidates)
        rounds = math.ceil(math.log2(max(len(left), 1)))
        # Sums over worlds: of the returns, or of what they are above those of the usual choice, whose spread counts too.
        totals, squares = np.zeros(len(candidates)), np.zeros(len(candidates))
        worlds = spent = 0
        begun = time.perf_counter()
        for number in range(1, rounds + 1):
            tried = np.zeros_like(candidates)
            tried[left] = True
            share = (self.playouts - spent) // ((rounds - number + 1) * len(left))
            enough = max(1, worlds + share) if self.playouts else 0  # every candidate is tried at least once
            until = begun + self.seconds * number / rounds
            while worlds < enough if enough else (now := time.perf_counter()) < until:
                chunk = self.chunk(len(left), usual)
                if enough:
                    chunk = min(chunk, enough - worlds)
                elif not isinstance(self.playout, CompiledBot):  # as many as there is time for, by the pace so far
                    chunk = min(chunk, max(1, int((until - now) * worlds / (now - begun)))) if worlds else 1
                found = self.gains(game, record, tried, key, worlds, chunk, usual)
                if usual != NO_CHOICE:
                    found -= found[np.searchsorted(left, usual)].copy()
                totals[left] += found.sum(axis=1)
                squares[left] += (found**2).sum(axis=1)
                worlds, spent = worlds + chunk, spent + chunk * len(left)
            # All that are left have been tried in the same worlds, so that sums may be compared.
            left = left[np.argsort(-totals[left], kind="stable")][: (len(left) + 1) // 2]
            if usual != NO_CHOICE:
                left = np.union1d(left, usual)
        if usual == NO_CHOICE:
            return int(left[0])
        return self.surely_better(left, totals[left], squares[left], worlds, usual)

    def chunk(self, candidates: int, usual: int) -> int:
        """Return how many worlds are played between looks at the clock."""
        if not isinstance(self.playout, CompiledBot):
            return max(1, AT_ONCE // candidates)
        return CHUNK if usual == NO_CHOICE else 1

    def gains(
        self, game: BatchGame, record: Array, tried: Array, key: int, first: int, worlds: int, usual: int
    ) -> Array:
        """Return what the actions tried come to in each of some worlds, float64 [K, worlds], or in all together, [K, 1].

        The latter without a prior, where the spread is not asked for.
        """
        if not isinstance(self.playout, CompiledBot):
            return play_worlds(game, record, self.playout, worlds, key, first, tried[None])
        if usual == NO_CHOICE:
            return worlds * rollouts(game, record, self.playout, worlds, key, first, tried[None]).mean[0, tried, None]
        each = [
            rollouts(game, record, self.playout, 1, key, first + w, tried[None]).mean[0, tried] for w in range(worlds)
        ]
        return np.stack(each, axis=1)

    def surely_better(self, actions: Array, totals: Array, squares: Array, worlds: int, usual: int) -> int:
        """Return the action that is better than the usual one by most beyond doubt, or the usual one.

        totals, squares: of the differences in each world. A spread seen in a few worlds says little: no doubt is
        overcome by fewer than MIN_WORLDS.
        """
        if worlds < MIN_WORLDS:
            return usual
        spread = np.maximum(squares - totals**2 / worlds, 0.0) / (worlds - 1)
        sure = totals - self.doubt * np.sqrt(worlds * spread)
        return int(actions[np.argmax(sure)]) if sure.max() > 0 else usual


@cache
def with_aim(game: BatchGame, aim: str) -> BatchGame:
    """Return the game paying for `aim`: who wins, or by how much."""
    if getattr(game.config, "reward", aim) == aim:
        return game
    return make_game(game.spec.name, **(game.config.to_dict() | {"reward": aim}))


def make(game: BatchGame, options: dict[str, str]) -> RolloutAgent:
    """Return the agent `rollout` with options as written; ValueError says what is wrong with them."""
    unknown = set(options) - set(DEFAULTS)
    if unknown:
        raise ValueError(f"rollout has no option {sorted(unknown)[0]!r}; options are: {', '.join(DEFAULTS)}")
    chosen = DEFAULTS | options
    if chosen["ms"] and chosen["playouts"]:
        raise ValueError("rollout takes ms or playouts, not both")
    if not chosen["playouts"]:
        chosen["ms"] = chosen["ms"] or "50"
    if chosen["aim"] not in AIMS:
        raise ValueError(f"rollout: aim must be {' or '.join(AIMS)}, not {chosen['aim']!r}")
    playout = make_agent(chosen["playout"], game)
    if isinstance(playout, SearchAgent):
        raise ValueError(f"rollout: who searches can't play on in a search: {chosen['playout']}")
    if "doubt" in options and chosen["prior"] == "none":
        raise ValueError("rollout: doubt is that in leaving a prior: name one, such as prior=planner or prior=ppo")
    prior = None if chosen["prior"] == "none" else make_agent(chosen["prior"], game)
    if prior is not None and not isinstance(prior, PolicyAgent | CompiledBot):
        raise ValueError(f"rollout: prior must be none, a bot or a trained network, not {chosen['prior']}")
    agent = RolloutAgent(
        name="rollout" + "".join(f":{key}={value}" for key, value in options.items()),
        playout=playout,
        prior=prior,
        aim=chosen["aim"],
        most_candidates=read_count("candidates", chosen["candidates"]),
        doubt=read_doubt(chosen["doubt"]),
        seconds=0.0,
        playouts=0,
    )
    if chosen["ms"]:
        return replace(agent, seconds=read_count("ms", chosen["ms"]) / 1000)
    return replace(agent, playouts=read_count("playouts", chosen["playouts"]))


def read_count(name: str, text: str) -> int:
    """Return a positive whole number of an option."""
    if not text.isdecimal() or int(text) < 1:
        raise ValueError(f"rollout: {name} must be a whole number above 0, not {text!r}")
    return int(text)


def read_doubt(text: str) -> float:
    """Return a number of standard errors."""
    try:
        doubt = float(text)
    except ValueError:
        doubt = math.nan
    if not 0 <= doubt < math.inf:
        raise ValueError(f"rollout: doubt must be a number of standard errors, 0 or more, not {text!r}")
    return doubt
