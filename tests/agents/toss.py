"""Toss, a game whose answers are known: each seat is dealt luck, in turn says 0 or 1, and who says 1 gains EDGE.

A seat's score is its luck (0 to 99 hundredths, hidden) and EDGE for a 1; the payoff is the score less the mean of the
others. On duplicate deals luck cancels: an agent that says 1 with probability p earns EDGE * (p - q) against one with q.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from agents import registry
from agents.base import Bots, Outcome
from tabletop import bits
from tabletop.game import BatchGame, GameSpec, Kernels, Loops
from tabletop.jit import kernel
from tabletop.seeding import DEAL, below, derive
from tabletop.state import NO_PLAYER, ObservationField, observation_dtype, state_dtype

NAME = "toss-v0"
P, ACTIONS = 4, 2
EDGE = 0.5


class TossRules(NamedTuple):
    unused: int


@dataclass(frozen=True)
class TossConfig:
    num_players: int = 2

    def compiled(self) -> TossRules:
        return TossRules(0)

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)


STATE = state_dtype(ACTIONS, P, [("luck", "i1", (P,)), ("said", "i1", (P,))])


@kernel
def deal(config, s):
    for seat in range(s.num_players):
        s.luck[seat] = below(derive(s.rng_key, DEAL, seat), 0, 100)
    s.current_player = 0
    bits.add(s.legal, 0)
    bits.add(s.legal, 1)


@kernel
def apply(config, s, action):
    s.said[s.current_player] = action
    s.current_player += 1
    if s.current_player == s.num_players:
        s.current_player = NO_PLAYER
        s.phase = 1
        bits.clear(s.legal)
        total = 0.0
        for seat in range(s.num_players):
            total += s.luck[seat] / 100.0 + EDGE * s.said[seat]
        for seat in range(s.num_players):
            own = s.luck[seat] / 100.0 + EDGE * s.said[seat]
            payoff = np.float32(own - (total - own) / (s.num_players - 1))
            s.rewards[seat] += payoff
            s.returns[seat] += payoff


@kernel
def observe(config, s, observer, o):
    o.luck = s.luck[observer]


@kernel
def observe_all(config, s, o):
    o.luck = s.luck[0]


@kernel
def redeal(config, s, observer):
    pass


@kernel
def choose(bot, option, o, legal, key):
    """Say 1 with a probability of `option` hundredths."""
    return 1 if below(key, 0, 100) < option else 0


FIELDS = (ObservationField("luck", (), "hundredths", public=False),)
OBSERVATION = observation_dtype([("luck", ())])


class Toss(BatchGame):
    spec: ClassVar[GameSpec] = GameSpec(
        name=NAME,
        title="Toss",
        min_players=2,
        max_players=P,
        num_actions=ACTIONS,
        phases=("SAY", "OVER"),
        state_dtype=STATE,
        observation_dtype=OBSERVATION,
        full_observation_dtype=OBSERVATION,
        observation_fields=FIELDS,
    )
    loops: ClassVar[Loops] = Loops("toss", Kernels(deal, apply, observe, observe_all, redeal))

    def __init__(self, **options: Any) -> None:
        super().__init__(TossConfig(**options))

    def action_to_string(self, action: int) -> str:
        return f"say {action}"

    def string_to_action(self, text: str) -> int:
        return int(text.split()[1])

    def to_dict(self, state: Any) -> dict[str, Any]:
        return {}

    def from_dict(self, position: Mapping[str, Any]) -> np.ndarray:
        return self.new_states(1)

    def to_text(self, state: Any, observer: int | None = None) -> str:
        return ""


def outcome(states):
    score = states["luck"] / 100 + EDGE * states["said"]
    taken = np.arange(P) < states["num_players"][:, None]
    return Outcome(score, taken & (score == np.where(taken, score, -1.0).max(axis=1, keepdims=True)))


BOTS = registry.register(
    Bots(
        NAME,
        choose,
        ("sayer",),
        options={"p": "hundredths"},
        read_options=lambda name, texts: int(texts.get("p", 50)),
        outcome=outcome,
        behaviour=lambda counts: {"ones": float(counts[1] / max(1, counts.sum()))},
    )
)
