"""Race, a game whose answers are known: is it better to bet or to hold, with a hand of h?

The player on turn has a hand h, 1 to 10 alike. Holding wins with probability HALF, betting with HALF + slope * (LIMIT + 0.5
- h), so that betting is better up to h = LIMIT and only there, by an amount that is known. The other player wins where the
first does not. `rounds` hands are played, and the seats take turns at deciding. `alike`: arms that differ in nothing but
their luck, each of its own, so that whatever is found is false.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from agents import registry as agents
from agents.base import Bots, Outcome
from analysis.questions import Axis, Question, action_arms
from tabletop import bits, registry
from tabletop.game import BatchGame, GameSpec, Kernels, Loops
from tabletop.jit import kernel
from tabletop.seeding import CHOICE, DEAL, WORLD, below, derive, uniform
from tabletop.state import NO_PLAYER, ObservationField, observation_dtype, state_dtype
from tests.agents.plain import Plain

NAME = "race-v0"
P, ACTIONS = 2, 2
HOLD, BET = 0, 1
HANDS, LIMIT = 10, 4
HALF = 0.5


class RaceRules(NamedTuple):
    rounds: int
    slope: float
    alike: bool


@dataclass(frozen=True)
class RaceConfig:
    num_players: int = 2
    rounds: int = 1
    slope: float = 0.05
    alike: bool = False

    def compiled(self) -> RaceRules:
        return RaceRules(self.rounds, self.slope, self.alike)

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)


STATE = state_dtype(ACTIONS, P, [("hand", "i1"), ("played", "i1"), ("wins", "i1", (P,))])


@kernel
def deal_hand(s):
    s.hand = 1 + below(derive(s.rng_key, DEAL, s.played), 0, HANDS)
    s.current_player = s.played % 2
    bits.add(s.legal, HOLD)
    bits.add(s.legal, BET)


@kernel
def deal(config, s):
    deal_hand(s)


@kernel
def apply(config, s, action):
    seat = np.int64(s.current_player)
    chance = HALF
    if action == BET and not config.alike:
        chance = HALF + config.slope * (LIMIT + 0.5 - s.hand)
    luck = uniform(derive(s.rng_key, WORLD, 2 * s.played + (action if config.alike else 0)), 0)
    winner = seat if luck < chance else 1 - seat
    s.wins[winner] += 1
    for p in range(P):
        points = np.float32(0.01 if p == winner else -0.01)
        s.rewards[p] += points
        s.returns[p] += points
    s.played += 1
    if s.played >= config.rounds:
        s.current_player = NO_PLAYER
        s.phase = 1
        bits.clear(s.legal)
    else:
        deal_hand(s)


@kernel
def observe(config, s, observer, o):
    o.hand = s.hand
    o.played = s.played


@kernel
def observe_all(config, s, o):
    o.hand = s.hand
    o.played = s.played


@kernel
def redeal(config, s, observer):
    pass  # what is to come hangs on s.rng_key alone, which is new


@kernel
def choose(bot, option, o, legal, key):
    """Bet with a probability of `option` hundredths."""
    return BET if below(derive(key, CHOICE, 0), 0, 100) < option else HOLD


FIELDS = (ObservationField("hand", (), "1 to 10"), ObservationField("played", (), "rounds played"))
OBSERVATION = observation_dtype([("hand", ()), ("played", ())])


class Race(BatchGame):
    spec: ClassVar[GameSpec] = GameSpec(
        name=NAME,
        title="Race",
        min_players=2,
        max_players=P,
        num_actions=ACTIONS,
        phases=("BET", "OVER"),
        state_dtype=STATE,
        observation_dtype=OBSERVATION,
        full_observation_dtype=OBSERVATION,
        observation_fields=FIELDS,
    )
    loops: ClassVar[Loops] = Loops("race", Kernels(deal, apply, observe, observe_all, redeal))

    def __init__(self, **options: Any) -> None:
        super().__init__(RaceConfig(**options))

    def action_to_string(self, action: int) -> str:
        return ("hold", "bet")[action]

    def string_to_action(self, text: str) -> int:
        return ("hold", "bet").index(text)

    def to_dict(self, state: Any) -> dict[str, Any]:
        return {"game": NAME, "hand": int(state["hand"])}

    def from_dict(self, position: Mapping[str, Any]) -> np.ndarray:
        return self.new_states(1)

    def to_text(self, state: Any, observer: int | None = None) -> str:
        return f"hand {state['hand']}"


def outcome(states):
    wins = states["wins"].astype(np.float64)
    return Outcome(wins, wins == wins.max(axis=1, keepdims=True))


def make_race(**options: Any) -> Race:
    return Race(**options)


BOTS = agents.register(
    Bots(
        NAME, choose, ("bettor",), options={"p": "hundredths"}, outcome=outcome,
        read_options=lambda name, texts: int(texts.get("p", 50)),
    )
)  # fmt: skip
registry.register(NAME, make_race)


agents.register_maker(NAME, "plain", lambda game, options: Plain(BOTS.make("bettor", options)))


def asked(game, states, agent, keys):
    return states["current_player"] >= 0


def moves(game, states, agent, keys):
    return action_arms(HOLD, BET, states)


def reshuffle(game, states, seeds, worlds):
    return game.determinize(states, None, seeds, worlds)


def features(game, states):
    hand = states["hand"].astype(np.int64)
    return {"hand": hand, "played": states["played"].astype(np.int64), "noise": hand * 7 % 3}


def rules(columns):
    size = len(columns["hand"])
    return {"hold": np.zeros(size, bool), "bet": np.ones(size, bool), "right": columns["hand"] <= LIMIT}


def families(columns):
    return {"bet with at most k": np.ones(len(columns["hand"]), bool)}


def groups(columns):
    return {"low": columns["hand"] <= LIMIT, "high": columns["hand"] > LIMIT}


RACE = Question(
    name="race",
    game=NAME,
    title="Bet or hold?",
    arms=("hold", "bet"),
    options=(),
    asked=asked,
    moves=moves,
    reshuffle=reshuffle,
    features=features,
    across=Axis("hand", "hand", tuple(range(1, 11))),
    down=Axis("noise", "noise", (0,)),
    rules=rules,
    limit="hand",
    limits=tuple(range(11)),
    families=families,
    groups=groups,
    tree=("hand", "noise"),
)
