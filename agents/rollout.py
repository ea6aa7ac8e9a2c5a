"""`rollout`: try the likely actions in worlds that can't be told apart, a bot playing on, and take the best.

Candidates come from a prior (every legal action, or a network's likeliest), worlds from `determinize`, dealt alike for
all candidates; a budget of time or of playouts is spent by sequential halving (Karnin, Koren and Somekh, 2013): each
round tries all that are left equally often and drops the worse half. The bot that plays on sees only what it may, so
that no choice leans on hidden cards (the fault of searching each world as if it were open: Frank and Basin, 1998).

    rollout:ms=50                        50 milliseconds a decision
    rollout:playouts=512,playout=greedy  512 games played out: the same choice every time
    rollout:ms=50,prior=ppo              the eight likeliest actions of the shipped network
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from agents.base import CompiledBot
from agents.policy import PolicyAgent
from agents.registry import make_agent
from agents.search import rollouts
from tabletop.game import BatchGame
from tabletop.registry import make as make_game

Array = NDArray[Any]
DEFAULTS = {"ms": "", "playouts": "", "playout": "greedy", "prior": "none", "candidates": "8", "aim": "win"}
AIMS = ("win", "margin")
CHUNK = 4  # worlds between looks at the clock


@dataclass(frozen=True)
class RolloutAgent:
    """An agent that searches; it is given re-dealt records, and so can't see what its player may not."""

    name: str
    playout: CompiledBot
    prior: PolicyAgent | None
    aim: str
    most_candidates: int
    seconds: float  # a decision; 0 with a budget of playouts
    playouts: int  # a decision; 0 with a budget of time

    def act(self, observations: Array, masks: Array, keys: Array) -> Array:
        """Refuse: a search plays on from records, which `act_on` is given."""
        raise TypeError(f"{self.name} plays from records, not from observations alone: call tabletop.selfplay.ask")

    def act_on(self, game: BatchGame, records: Array, observations: Array, masks: Array, keys: Array) -> Array:
        """Choose for every record: int64 [B]. records [B] are re-dealt for the player on turn."""
        goal = with_aim(game, self.aim)
        candidates = self.choose_candidates(observations, masks)
        return np.array(
            [self.search(goal, records[b : b + 1], candidates[b], int(keys[b])) for b in range(len(records))], np.int64
        )

    def choose_candidates(self, observations: Array, masks: Array) -> Array:
        """Return the actions to try: bool [B, A], the likeliest of the prior or all that are legal."""
        if self.prior is None:
            return masks
        probabilities = np.where(masks, self.prior.probabilities(observations, masks), -1.0)
        order = np.argsort(-probabilities, axis=1, kind="stable")[:, : self.most_candidates]
        candidates = np.zeros_like(masks)
        np.put_along_axis(candidates, order, True, axis=1)
        return np.asarray(candidates & masks)

    def search(self, game: BatchGame, record: Array, candidates: Array, key: int) -> int:
        """Return the best of the candidates bool [A] by sequential halving."""
        left = np.flatnonzero(candidates)
        rounds = math.ceil(math.log2(max(len(left), 1)))
        totals = np.zeros(len(candidates))
        worlds = 0
        begun = time.perf_counter()
        for number in range(1, rounds + 1):
            tried = np.zeros_like(candidates)
            tried[left] = True
            enough = worlds + max(1, self.playouts // (rounds * len(left))) if self.playouts else 0
            while True:
                chunk = min(CHUNK, enough - worlds) if enough else CHUNK
                found = rollouts(game, record, self.playout, chunk, key, worlds, tried[None])
                totals[left] += chunk * found.mean[0, left]
                worlds += chunk
                if worlds >= enough if enough else time.perf_counter() - begun >= self.seconds * number / rounds:
                    break
            # All that are left have been tried in the same worlds, so that sums may be compared.
            left = left[np.argsort(-totals[left], kind="stable")][: (len(left) + 1) // 2]
        return int(left[0])


@cache
def with_aim(game: BatchGame, aim: str) -> BatchGame:
    """Return the game paying for `aim`: who wins, or by how much."""
    config = game.config.to_dict()
    return make_game(game.spec.name, **(config | {"reward": aim})) if config.get("reward", aim) != aim else game


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
    if not isinstance(playout, CompiledBot):
        raise ValueError(f"rollout: only a compiled bot can play on, not {chosen['playout']}")
    prior = None if chosen["prior"] == "none" else make_agent(chosen["prior"], game)
    if prior is not None and not isinstance(prior, PolicyAgent):
        raise ValueError(f"rollout: prior must be none or a trained network, not {chosen['prior']}")
    agent = RolloutAgent(
        name="rollout" + "".join(f":{key}={value}" for key, value in options.items()),
        playout=playout,
        prior=prior,
        aim=chosen["aim"],
        most_candidates=read_count("candidates", chosen["candidates"]),
        seconds=0.0,
        playouts=0,
    )
    if chosen["ms"]:
        return replace(agent, seconds=read_count("ms", chosen["ms"]) / 1000)
    return replace(agent, playouts=read_count("playouts", chosen["playouts"]))


def read_count(name: str, text: str) -> int:
    """Return a positive whole number of an option."""
    if not text.isdigit() or int(text) < 1:
        raise ValueError(f"rollout: {name} must be a whole number above 0, not {text!r}")
    return int(text)
