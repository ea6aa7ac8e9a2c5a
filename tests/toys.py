"""High Card, a tiny third game: all that a new game takes is in this file.

Twelve cards, 0 to 11; every seat is dealt three, the rest stay hidden. Each plays a card to a trick; the highest takes
it, is paid one point by the others together, and leads the next. Whoever plays the top card, 11, takes the trick there
and then and ends the round. So rounds end out of turn, a seat may act twice running, and a game may be over before a
seat was asked.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from enum import IntEnum
from typing import Any, ClassVar, NamedTuple

import numpy as np

from tabletop import bits
from tabletop.game import BatchGame, GameSpec, Kernels, Loops, PositionError
from tabletop.jit import kernel
from tabletop.seeding import DEAL, below, derive, shuffle
from tabletop.state import NO_PLAYER, ObservationField, observation_dtype, state_dtype

NAME = "high-card-v0"
P, CARDS, HAND, TOP = 4, 12, 3, 11
UNDEALT, PLAYED, NOTHING = -1, -2, -1


class Phase(IntEnum):
    LEAD = 0
    FOLLOW = 1
    OVER = 2


class HighCardRules(NamedTuple):
    rounds: int


@dataclass(frozen=True)
class HighCardConfig:
    num_players: int = 2
    rounds: int = 2

    def __post_init__(self) -> None:
        if not 2 <= self.num_players <= P or not 1 <= self.rounds <= 100:
            raise ValueError(f"num_players must be 2 to {P} and rounds 1 to 100, not {self}")

    def compiled(self) -> HighCardRules:
        return HighCardRules(self.rounds)

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)


STATE = state_dtype(
    CARDS,
    P,
    [
        ("place", "i1", (CARDS,)),  # the seat that holds a card, UNDEALT or PLAYED
        ("table", "i1", (P,)),  # card of each seat in this trick, NOTHING if none
        ("leader", "i1"),
        ("rounds_done", "i1"),  # rounds completed
    ],
)


@kernel
def hand_size(s, seat):
    size = 0
    for card in range(CARDS):
        if s.place[card] == seat:
            size += 1
    return size


@kernel
def write_legal(s):
    bits.clear(s.legal)
    if s.current_player >= 0:
        s.phase = Phase.LEAD if s.current_player == s.leader else Phase.FOLLOW
        for card in range(CARDS):
            if s.place[card] == s.current_player:
                bits.add(s.legal, card)


@kernel
def deal_cards(s, key, observer):
    """Deal the cards that are not played nor in the observer's hand, as many to each hand as it holds or should."""
    deck = np.empty(CARDS, np.int64)
    size = 0
    sizes = np.zeros(P, np.int64)
    for card in range(CARDS):
        if s.place[card] != PLAYED and (observer < 0 or s.place[card] != observer):
            if s.place[card] >= 0:
                sizes[s.place[card]] += 1
            deck[size] = card
            size += 1
    shuffle(key, deck, size)
    for seat in range(s.num_players):
        for _ in range(HAND if observer < 0 else sizes[seat]):
            size -= 1
            s.place[deck[size]] = seat
    for i in range(size):
        s.place[deck[i]] = UNDEALT


@kernel
def deal_round(s):
    s.place[:] = UNDEALT
    s.table[:] = NOTHING
    deal_cards(s, derive(s.rng_key, DEAL, s.rounds_done), -1)
    s.current_player = s.leader
    write_legal(s)


@kernel
def deal(config, s):
    s.leader = below(s.rng_key, 0, s.num_players)
    deal_round(s)


@kernel
def apply(config, s, action):
    seat = s.current_player
    s.place[action] = PLAYED
    s.table[seat] = action
    s.current_player = (seat + 1) % s.num_players
    if action == TOP or s.current_player == s.leader:
        end_trick(config, s, action == TOP)
    write_legal(s)


@kernel
def end_trick(config, s, round_over):
    winner = np.int64(0)
    for seat in range(s.num_players):
        if s.table[seat] > s.table[winner]:
            winner = seat
    for seat in range(s.num_players):
        points = np.float32(1.0 if seat == winner else -1.0 / (s.num_players - 1))
        s.rewards[seat] += points
        s.returns[seat] += points
    s.table[:] = NOTHING
    s.leader = winner
    s.current_player = winner
    if round_over or hand_size(s, winner) == 0:
        s.rounds_done += 1
        if s.rounds_done >= config.rounds:
            s.current_player = NO_PLAYER
            s.phase = Phase.OVER
        else:
            deal_round(s)


@kernel
def redeal(config, s, observer):
    if s.current_player >= 0:
        deal_cards(s, s.rng_key, observer)
        write_legal(s)


FIELDS = (
    ObservationField("phase", (len(Phase),), "one-hot: LEAD, FOLLOW, OVER"),
    ObservationField("num_players", (P - 1,), "one-hot: 2 to 4 players"),
    ObservationField("current_player", (P,), "one-hot, rel"),
    ObservationField("hand", (CARDS,), "1 for each card in the observer's hand", public=False),
    ObservationField("hand_size", (P,), "rel: cards in each hand"),
    ObservationField("table", (P, CARDS), "rel, one-hot: card of each seat in this trick"),
    ObservationField("played", (CARDS,), "1 for each card played in this round"),
    ObservationField("rounds_done", (), "rounds completed"),
)
OBSERVATION = observation_dtype([(field.name, field.shape) for field in FIELDS])
FULL_OBSERVATION = observation_dtype(
    [("place", (CARDS,)), ("table", (P,)), ("current_player", ()), ("rounds_done", ())]
)


@kernel
def observe(config, s, observer, o):
    n = s.num_players
    o.phase[s.phase] = 1
    o.num_players[n - 2] = 1
    if s.current_player >= 0:
        o.current_player[(s.current_player - observer) % n] = 1
    for card in range(CARDS):
        o.hand[card] = 1 if s.place[card] == observer else 0
        o.played[card] = 1 if s.place[card] == PLAYED else 0
    for seat in range(n):
        rel = (seat - observer) % n
        o.hand_size[rel] = hand_size(s, seat)
        if s.table[seat] >= 0:
            o.table[rel, s.table[seat]] = 1
    o.rounds_done = s.rounds_done


@kernel
def observe_all(config, s, o):
    o.place[:] = s.place
    o.table[:] = s.table
    o.current_player = s.current_player
    o.rounds_done = s.rounds_done


UNIFORM, HIGHEST = 0, 1


@kernel
def choose(bot, option, o, legal, key):
    """Choose as a compiled bot: UNIFORM at random, HIGHEST the highest card."""
    size = bits.count(legal)
    return bits.nth(legal, below(key, 0, size) if bot == UNIFORM else size - 1)


class HighCard(BatchGame):
    spec: ClassVar[GameSpec] = GameSpec(
        name=NAME,
        title="High Card",
        min_players=2,
        max_players=P,
        num_actions=CARDS,
        phases=tuple(phase.name for phase in Phase),
        state_dtype=STATE,
        observation_dtype=OBSERVATION,
        full_observation_dtype=FULL_OBSERVATION,
        observation_fields=FIELDS,
    )
    loops: ClassVar[Loops] = Loops("high_card", Kernels(deal, apply, observe, observe_all, redeal))

    def __init__(self, **options: Any) -> None:
        super().__init__(HighCardConfig(**options))

    def action_to_string(self, action: int) -> str:
        return f"play {action}"

    def string_to_action(self, text: str) -> int:
        word, _, card = text.partition(" ")
        if word != "play" or card not in map(str, range(CARDS)):
            raise ValueError(f"High Card has no action {text!r}")
        return int(card)

    def to_dict(self, state: Any) -> dict[str, Any]:
        return {
            "game": NAME,
            "config": {**self.config.to_dict(), "num_players": int(state["num_players"])},
            "place": state["place"].tolist(),
            "table": state["table"].tolist(),
            **{name: int(state[name]) for name in ("current_player", "leader", "rounds_done", "phase")},
        }

    def from_dict(self, position: Mapping[str, Any], key: int = 0) -> np.ndarray:
        states = self.new_states(1)
        s = states[0]
        if len(position["place"]) != CARDS:
            raise PositionError(f"'place' must have {CARDS} cards, not {len(position['place'])}")
        s["num_players"] = position["config"]["num_players"]
        s["rng_key"] = key
        for name in ("place", "table", "current_player", "leader", "rounds_done", "phase"):
            s[name] = position[name]
        for card in range(CARDS):
            if s["current_player"] >= 0 and s["place"][card] == s["current_player"]:
                s["legal"][0] |= np.uint64(1 << card)
        return states

    def to_text(self, state: Any, observer: int | None = None) -> str:
        lines = [f"round {state['rounds_done']}, {Phase(state['phase']).name}, player {state['current_player']}"]
        for seat in range(state["num_players"]):
            cards = np.flatnonzero(state["place"] == seat).tolist()
            hand = cards if observer in (None, seat) else f"{len(cards)} cards"
            lines.append(f"player {seat}: {hand}, table {state['table'][seat]}")
        return "\n".join(lines)

    def result(self, state: Any) -> dict[str, Any]:
        return {"rounds": int(state["rounds_done"])}


def make_high_card(**options: Any) -> HighCard:
    """Return High Card with these options."""
    return HighCard(**options)
