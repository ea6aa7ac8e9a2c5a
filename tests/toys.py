"""High Card, a tiny third game: all that a new game takes is in this file.

Twelve cards, 0 to 11; every seat is dealt three, the rest stay hidden. Each plays a card to a trick, the highest takes it,
is paid one point by the others together, and leads the next. Whoever plays the top card, 11, takes the trick at once and
ends the round. So rounds end out of turn, a seat may act twice running, and a game may end before a seat was ever asked.

Below the game stand variants of it that are broken in one way each, for the checks to find.
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
        ("round", "i1"),  # rounds completed
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
    deal_cards(s, derive(s.rng_key, DEAL, s.round), -1)
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
        s.round += 1
        if s.round >= config.rounds:
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
    ObservationField("round", (), "rounds completed"),
)
OBSERVATION = observation_dtype([(field.name, field.shape) for field in FIELDS])
FULL_OBSERVATION = observation_dtype([("place", (CARDS,)), ("table", (P,)), ("current_player", ()), ("round", ())])


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
    o.round = s.round


@kernel
def observe_all(config, s, o):
    o.place[:] = s.place
    o.table[:] = s.table
    o.current_player = s.current_player
    o.round = s.round


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
            **{name: int(state[name]) for name in ("current_player", "leader", "round", "phase")},
        }

    def from_dict(self, position: Mapping[str, Any], key: int = 0) -> np.ndarray:
        states = self.new_states(1)
        s = states[0]
        if len(position["place"]) != CARDS:
            raise PositionError(f"'place' must have {CARDS} cards, not {len(position['place'])}")
        s["num_players"] = position["config"]["num_players"]
        s["rng_key"] = key
        for name in ("place", "table", "current_player", "leader", "round", "phase"):
            s[name] = position[name]
        for card in range(CARDS):
            if s["current_player"] >= 0 and s["place"][card] == s["current_player"]:
                s["legal"][0] |= np.uint64(1 << card)
        return states

    def to_text(self, state: Any, observer: int | None = None) -> str:
        lines = [f"round {state['round']}, {Phase(state['phase']).name}, player {state['current_player']}"]
        for seat in range(state["num_players"]):
            cards = np.flatnonzero(state["place"] == seat).tolist()
            hand = cards if observer in (None, seat) else f"{len(cards)} cards"
            lines.append(f"player {seat}: {hand}, table {state['table'][seat]}")
        return "\n".join(lines)

    def result(self, state: Any) -> dict[str, Any]:
        return {"rounds": int(state["round"])}


def make_high_card(**options: Any) -> HighCard:
    """Return High Card with these options."""
    return HighCard(**options)


# Broken variants --------------------------------------------------------------------------------------------------------


def next_seat(states):
    """Return the seat after the current player's, by lane."""
    return (states["current_player"] + 1) % np.maximum(states["num_players"], 1)


class ShowsNeighboursCard(HighCard):
    """The observation holds a card of the next seat."""

    def observe(self, states, observer=None, out=None):
        out = super().observe(states, observer, out)
        seats = np.maximum(states["current_player"], 0) if observer is None else np.asarray(observer)
        neighbour = ((seats + 1) % states["num_players"])[:, None] if np.ndim(seats) else (seats + 1) % states["num_players"][:, None]
        out["round"] = (states["place"] == neighbour).argmax(axis=1)
        return out


class MaskKnowsTooMuch(HighCard):
    """A card may only be played if the next seat does not hold the one above."""

    def legal_action_mask(self, states, out=None):
        mask = super().legal_action_mask(states, out)
        held = states["place"] == next_seat(states)[:, None]
        return mask & ~np.roll(held, -1, axis=1) | (mask & (mask.sum(axis=1, keepdims=True) == 1))


class TextShowsAll(HighCard):
    """The picture for one seat shows every hand."""

    def to_text(self, state, observer=None):
        return super().to_text(state)


class DealsNothingAnew(HighCard):
    """`determinize` copies the true hands."""

    def determinize(self, states, observer, seeds, worlds=1):
        out = super().determinize(states, observer, seeds, worlds)
        out["place"] = np.repeat(states["place"], worlds, axis=0)
        out["legal"] = np.repeat(states["legal"], worlds, axis=0)
        return out


class PeeksNowAndThen(HighCard):
    """`determinize` copies the true hands in every other world."""

    def determinize(self, states, observer, seeds, worlds=1):
        out = super().determinize(states, observer, seeds, worlds)
        for name in ("place", "legal"):
            out[name][::2] = np.repeat(states[name], worlds, axis=0)[::2]
        return out


class ReadsTheFuture(HighCard):
    """`determinize` keeps the stream of what is dealt later."""

    def determinize(self, states, observer, seeds, worlds=1):
        out = super().determinize(states, observer, seeds, worlds)
        out["rng_key"] = np.repeat(states["rng_key"], worlds)
        return out


class PaysTooMuch(HighCard):
    """Rewards don't sum to zero."""

    def rewards(self, states):
        return np.maximum(super().rewards(states), 0)

    def returns(self, states):
        return np.zeros_like(super().returns(states))


class ForgetsReturns(HighCard):
    """Returns are not the sum of the rewards."""

    def returns(self, states):
        return super().rewards(states)


class NothingToPlay(HighCard):
    """The highest card can't be played, even when it is the only one left."""

    def legal_action_mask(self, states, out=None):
        mask = super().legal_action_mask(states, out)
        mask[:, TOP] = False
        return mask


class RepairsIllegalActions(HighCard):
    """An illegal action is replaced by a legal one."""

    def step(self, states, actions, lanes=None, num_threads=1):
        mask = super().legal_action_mask(states)
        actions = np.asarray(actions)
        if lanes is None:
            legal = mask[np.arange(len(states)), np.clip(actions, 0, CARDS - 1)] & (actions >= 0) & (actions < CARDS)
            actions = np.where(legal, actions, mask.argmax(axis=1))
        super().step(states, actions, lanes, num_threads)


class ChangesOnIllegalAction(HighCard):
    """An illegal action is refused, but the lanes before it have moved."""

    def step(self, states, actions, lanes=None, num_threads=1):
        try:
            super().step(states, actions, lanes, num_threads)
        except ValueError:
            states["decision"] += 1
            raise


class OneTextForTwoActions(HighCard):
    """Two actions are written alike."""

    def action_to_string(self, action):
        return super().action_to_string(max(action, 1))


class ForgetsTheTable(HighCard):
    """`to_dict` leaves out the cards on the table."""

    def to_dict(self, state):
        return {**super().to_dict(state), "table": [NOTHING] * P}


class AllocatesItsOwn(HighCard):
    """`out` is not written."""

    def observe(self, states, observer=None, out=None):
        return super().observe(states, observer)


class LaneMatters(HighCard):
    """The deal depends on the place of a lane in the batch."""

    def reset(self, states, seeds, lanes=None, num_players=None, episodes=None):
        size = len(states) if lanes is None else len(lanes)
        super().reset(states, np.asarray(seeds) + np.arange(size, dtype=np.uint64), lanes, num_players, episodes)
