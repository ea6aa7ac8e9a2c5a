"""Stingy in words and as JSON: tiles, actions, positions (contract, section 7)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

import numpy as np

from stingy_env.config import IMAGES, MAX_PLAYERS, StingyConfig
from stingy_env.rules import (
    GHOST_SEATS,
    NOTHING,
    NUM_ACTIONS,
    NUM_COLOURS,
    NUM_KINDS,
    STATE,
    TILES_OF_KIND,
    VALUE_OF_SIZE,
    Phase,
    can_total,
    may_take_extra,
    resume,
    score,
    undecided,
    winners,
    write_group,
)
from tabletop.game import PositionError
from tabletop.jit import entry
from tabletop.state import NO_PLAYER

GAME_ID = "stingy-v0"
KIND_NAMES = [f"{image}-{colour}" for image in IMAGES[:-1] for colour in range(NUM_COLOURS)] + [IMAGES[-1]]
KIND_OF_NAME = {name: kind for kind, name in enumerate(KIND_NAMES)}


# Actions --------------------------------------------------------------------------------------------------------------


def make_action_texts() -> list[str]:
    """Return the text of every action, by number."""
    texts = [f"demand +{rel} {name}" for rel in range(1, MAX_PLAYERS) for name in KIND_NAMES]
    texts += ["no swap", "pay", "stop"]
    texts += [f"group {name}" for name in KIND_NAMES]
    texts += ["tiles regular", "tiles extra"]
    assert len(texts) == NUM_ACTIONS
    return texts


ACTION_TEXTS = make_action_texts()
ACTION_OF_TEXT = {text: action for action, text in enumerate(ACTION_TEXTS)}


def action_to_string(action: int) -> str:
    """Return an action in words. IndexError if there is no such action."""
    if not 0 <= action < NUM_ACTIONS:
        raise IndexError(f"Stingy's actions are 0 to {NUM_ACTIONS - 1}, not {action}")
    return ACTION_TEXTS[action]


def string_to_action(text: str) -> int:
    """Return the action written as `text`. ValueError shows how actions are written."""
    words = " ".join(text.split())
    if words not in ACTION_OF_TEXT:
        examples = "demand +1 coins-2, demand +2 flag, no swap, pay, stop, group coins-2, tiles regular, tiles extra"
        raise ValueError(f"no action is written {text!r}; actions are written like: {examples}")
    return ACTION_OF_TEXT[words]


# Positions to JSON ----------------------------------------------------------------------------------------------------


def names(kinds: Any) -> list[str]:
    """Return the names of tiles."""
    return [KIND_NAMES[int(kind)] for kind in kinds]


def display_of(state: Any, seat: int) -> dict[str, int]:
    """Return a display: tiles by name, in order of kind."""
    sizes = state["tiles"][seat]
    return {KIND_NAMES[kind]: int(sizes[kind]) for kind in range(NUM_KINDS) if sizes[kind]}


def complete_of(state: Any, seat: int) -> list[str]:
    """Return the names of the kinds a seat has set aside complete, in order of kind."""
    return names(kind for kind in range(NUM_KINDS) if (int(state["complete"][seat]) >> kind) & 1)


def pending_to_dict(state: Any) -> dict[str, Any]:
    """Return the swap being responded to or paid for; empty between swaps."""
    if state["demanded"] == NOTHING:
        return {}
    last = int(state["last_group"])
    return {
        "owner": int(state["owner"]),
        "kind": KIND_NAMES[int(state["demanded"])],
        "value": int(state["demanded_value"]),
        "total": int(state["total"]),
        "last_group": None if last == NOTHING else KIND_NAMES[last],
    }


def to_dict(config: StingyConfig, state: Any) -> dict[str, Any]:
    """Return a record as JSON-ready values, the order of the pool and all."""
    seats = range(int(state["num_seats"]))
    low, high, pool = state["pool_low"], state["pool_high"], state["pool"]
    last_turns = int(state["last_turns"])
    return {
        "game": GAME_ID,
        "config": config.to_dict() | {"num_players": int(state["num_players"])},
        "phase": Phase(int(state["phase"])).name,
        "current_player": int(state["current_player"]),
        "turn": int(state["turn_player"]),
        "displays": [display_of(state, seat) for seat in seats],
        "complete": [complete_of(state, seat) for seat in seats],
        "pool_stacks": [names(pool[low[seat] : high[seat]]) for seat in seats],
        "pending": pending_to_dict(state),
        "last_turns": None if last_turns == NOTHING else last_turns,
    }


# JSON to positions ----------------------------------------------------------------------------------------------------

ENTRIES = (
    "game", "config", "phase", "current_player", "turn", "displays", "complete", "pool_stacks", "pending", "last_turns"
)  # fmt: skip
PENDING = ("owner", "kind", "value", "total", "last_group")


def whole(value: Any, low: int, high: int, what: str) -> int:
    """Return a whole number of a position, checked for its range."""
    if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
        raise PositionError(f"{what} must be a whole number from {low} to {high}, not {value!r}")
    return value


def kind_of(name: Any, where: str) -> int:
    """Return the kind called `name`."""
    if not isinstance(name, str) or name not in KIND_OF_NAME:
        raise PositionError(f"{where}: no tile is called {name!r}; tiles are bottle-0, ..., diamond-5, flag")
    return KIND_OF_NAME[name]


def each_seat(position: Mapping[str, Any], name: str, num_seats: int) -> list[Any]:
    """Return a list of a position that has one entry for each seat."""
    entries = position[name]
    if not isinstance(entries, (list, tuple)) or len(entries) != num_seats:
        raise PositionError(f"{name!r} must be a list of {num_seats}, one for each seat, not {entries!r}")
    return list(entries)


def write_display(state: Any, seat: int, display: Any) -> None:
    """Write the groups of one display; a complete group can't lie in it (G9, G13, G15)."""
    where = f"display {seat}"
    if not isinstance(display, Mapping):
        raise PositionError(f"{where} must be an object of tiles and their number, not {display!r}")
    for name, size in display.items():
        kind = kind_of(name, where)
        complete = int(TILES_OF_KIND[kind])
        what = f"{where}: the number of {name}, of which {complete} are complete,"
        state["tiles"][seat, kind] = whole(size, 1, complete - 1, what)


def write_complete(state: Any, seat: int, kinds: Any) -> None:
    """Write the kinds a seat has set aside complete."""
    where = f"complete groups of seat {seat}"
    if not isinstance(kinds, (list, tuple)):
        raise PositionError(f"{where} must be a list of tiles, not {kinds!r}")
    for name in kinds:
        bit = 1 << kind_of(name, where)
        if int(state["complete"][seat]) & bit:
            raise PositionError(f"{where}: {name} stands there twice")
        state["complete"][seat] |= bit


def write_pool(state: Any, stacks: list[Any]) -> None:
    """Write the pool's stacks, next tile last."""
    pool: list[int] = []
    for seat, stack in enumerate(stacks):
        where = f"pool stack {seat}"
        if not isinstance(stack, (list, tuple)):
            raise PositionError(f"{where} must be a list of tiles, not {stack!r}")
        kinds = [kind_of(name, where) for name in stack]
        if len(pool) + len(kinds) > len(state["pool"]):
            raise PositionError(f"the pool holds more tiles than the {len(state['pool'])} of the game (G1)")
        state["pool_low"][seat] = len(pool)
        pool += kinds
        state["pool_high"][seat] = len(pool)
    state["pool"][: len(pool)] = pool
    state["pool_size"] = len(pool)
    state["unseen"] = np.bincount(pool, minlength=NUM_KINDS)


def check_tiles(state: Any) -> None:
    """Raise PositionError if the tiles of a position are not the tiles of the game (G1)."""
    counts: Counter[int] = Counter()
    for seat in range(int(state["num_seats"])):
        for kind in range(NUM_KINDS):
            complete = (int(state["complete"][seat]) >> kind) & 1
            counts[kind] += int(state["tiles"][seat, kind]) + complete * int(TILES_OF_KIND[kind])
    for kind in range(NUM_KINDS):
        found, expected = counts[kind] + int(state["unseen"][kind]), int(TILES_OF_KIND[kind])
        if found != expected:
            raise PositionError(f"the position has {found} tiles of {KIND_NAMES[kind]}, the game has {expected} (G1)")


def write_pending(state: Any, pending: Any) -> None:
    """Write the swap being responded to or paid for."""
    if not isinstance(pending, Mapping):
        raise PositionError(f"'pending' must be an object, not {pending!r}")
    asks = state["phase"] in (Phase.RESPOND, Phase.GIVE)
    if bool(pending) != asks:
        must = "tell the demand" if asks else "be empty"
        raise PositionError(f"in phase {Phase(int(state['phase'])).name} 'pending' must {must}")
    if not asks:
        return
    if set(pending) != set(PENDING):
        raise PositionError(f"'pending' must have the entries {', '.join(PENDING)}, not {', '.join(map(str, pending))}")
    seats = int(state["num_seats"])
    state["owner"] = whole(pending["owner"], 0, seats - 1, "'pending': owner")
    state["demanded"] = kind_of(pending["kind"], "'pending'")
    values = [int(value) for value in VALUE_OF_SIZE[1 : TILES_OF_KIND[state["demanded"]]]]
    if isinstance(pending["value"], bool) or pending["value"] not in values:
        possible = ", ".join(map(str, values))
        raise PositionError(f"'pending': the value of a group of {pending['kind']} is one of {possible} (G2)")
    state["demanded_value"] = pending["value"]
    state["total"] = whole(pending["total"], 0, int(VALUE_OF_SIZE[-1]) * NUM_KINDS, "'pending': total")
    if pending["last_group"] is not None:
        state["last_group"] = kind_of(pending["last_group"], "'pending'")


def from_dict(config: StingyConfig, position: Mapping[str, Any], key: int) -> np.ndarray:
    """Return records [1] holding a position; PositionError says what is impossible about it."""
    if not isinstance(position, Mapping) or position.get("game") != GAME_ID:
        raise PositionError(f"the position must say 'game': {GAME_ID!r}")
    for name in ENTRIES:
        if name not in position:
            raise PositionError(f"the position lacks {name!r}")
    for name in position:
        if name not in ENTRIES:
            raise PositionError(f"a position has no entry {name!r}")
    states = np.zeros(1, STATE)
    state = states[0]
    players = config.num_players
    seats = GHOST_SEATS if players == 2 else players
    state["num_players"], state["num_seats"], state["rng_key"] = players, seats, key
    for name in ("owner", "demanded", "demanded_value", "last_group", "last_turns"):
        state[name] = NOTHING

    for seat, display in enumerate(each_seat(position, "displays", seats)):
        write_display(state, seat, display)
    for seat, kinds in enumerate(each_seat(position, "complete", seats)):
        write_complete(state, seat, kinds)
    write_pool(state, each_seat(position, "pool_stacks", seats))
    check_tiles(state)

    phase = position["phase"]
    if not isinstance(phase, str) or phase not in Phase.__members__:
        raise PositionError(f"'phase' must be one of {', '.join(Phase.__members__)}, not {phase!r}")
    over = phase == "OVER"
    state["phase"] = Phase[phase]
    state["turn_player"] = whole(position["turn"], 0, players - 1, "'turn'")
    state["current_player"] = whole(position["current_player"], NO_PLAYER, players - 1, "'current_player'")
    last_turns = position["last_turns"]
    if last_turns is None and state["pool_size"] == 0:
        raise PositionError("the pool is empty, so 'last_turns' must say how many seats still have a turn (G17)")
    if last_turns is not None:
        if state["pool_size"] > 0:
            raise PositionError("the pool is not empty, so 'last_turns' must be null (G17)")
        state["last_turns"] = whole(last_turns, 0 if over else 1, 0 if over else seats, "'last_turns'")
        if not over and (state["turn_player"] + last_turns - 1) % seats >= players:
            raise PositionError(f"'last_turns' can't be {last_turns}: the last turn is never the ghost's (G21)")
    elif over:
        raise PositionError("the game is not over before the pool is empty (G17)")
    write_pending(state, position["pending"])
    write_derived(config.compiled(), states)
    check_decision(config, states)
    settle(config.compiled(), states)
    return states


def check_decision(config: StingyConfig, states: np.ndarray) -> None:
    """Raise PositionError if what is being decided does not fit what is on the table."""
    state = states[0]
    phase = Phase(int(state["phase"]))
    turn, owner, players = int(state["turn_player"]), int(state["owner"]), int(state["num_players"])
    decides = turn
    if phase == Phase.OVER:
        decides = NO_PLAYER
    elif phase == Phase.RESPOND:
        decides = owner if owner < players else 1 - turn  # G20
    if state["current_player"] != decides:
        raise PositionError(f"in phase {phase.name} 'current_player' must be {decides}, not {state['current_player']}")
    if phase == Phase.DRAW and not extra_asked(states):
        raise PositionError("in phase DRAW at most 2 groups are single tiles and the pool holds an extra tile (G16)")
    if phase in (Phase.RESPOND, Phase.GIVE):
        check_swap(config, states)


def check_swap(config: StingyConfig, states: np.ndarray) -> None:
    """Raise PositionError if no demand, response or payment leads to what is pending (G7-G14)."""
    state = states[0]
    turn, owner, kind, last = (int(state[name]) for name in ("turn_player", "owner", "demanded", "last_group"))
    value, total = int(state["demanded_value"]), int(state["total"])
    name, giving = KIND_NAMES[kind], state["phase"] == Phase.GIVE
    if owner == turn:
        raise PositionError("'pending': the owner can't be the demander (G7)")
    if state["tiles"][owner, kind]:
        raise PositionError(f"'pending': seat {owner} still has {name}, a demand takes the whole group (G7)")
    demanded_size = int(np.searchsorted(VALUE_OF_SIZE, value))
    held = int(TILES_OF_KIND[kind]) if holds_complete(state, turn, kind) else int(state["tiles"][turn, kind])
    if held < demanded_size:
        raise PositionError(f"'pending': seat {turn} must have the {demanded_size} tiles of {name} it demanded (G9)")
    if (total > 0) != (last != NOTHING):
        raise PositionError("'pending': total is above 0 exactly when there is a last_group (G14)")
    if last != NOTHING:
        owned = bool(state["tiles"][owner, last]) or holds_complete(state, owner, last)
        if last == kind or state["tiles"][turn, last] or not owned:
            raise PositionError(f"'pending': {KIND_NAMES[last]} can't be what seat {owner} got from seat {turn} (G13)")
    others, possible = rest_of_swap(states)
    if not giving and total > value:
        raise PositionError(f"'pending': groups worth {total} can't be taken for {value} (G10)")
    if not giving and not config.captain_sly and total + others < value:
        raise PositionError(f"'pending': other groups worth {total + others} don't allow a demand of {value} (G8)")
    if giving and config.captain_sly:
        raise PositionError("with captain_sly nobody pays (G22)")
    if giving and total <= value and total + possible <= value:
        raise PositionError(f"'pending': no choice of other groups comes to more than {value} (G12)")
    if giving and last == NOTHING and equal_return(states):
        raise PositionError(f"'pending': nobody pays where other groups total exactly {value} (G11)")


def holds_complete(state: Any, seat: int, kind: int) -> bool:
    """Tell whether a seat has set a kind aside complete."""
    return bool((int(state["complete"][seat]) >> kind) & 1)


@entry
def write_derived(rules: Any, states: Any) -> None:
    """Fill in what is kept about a position beside its tiles."""
    s = states[0]
    for seat in range(s.num_seats):
        for kind in range(NUM_KINDS):
            write_group(s, seat, kind, np.int64(s.tiles[seat, kind]))
        s.scores[seat] = score(rules, s, seat)


@entry
def extra_asked(states: Any) -> bool:
    """Tell whether one tile more may be taken (G16)."""
    return may_take_extra(states[0])


@entry
def rest_of_swap(states: Any) -> Any:
    """Return what the demander's other groups are worth, and those of them that can still be given (G8, G14)."""
    s = states[0]
    turn = np.int64(s.turn_player)
    groups = undecided(s)
    possible = np.int64(0)
    for kind in range(NUM_KINDS):
        if (groups >> kind) & 1:
            possible += np.int64(s.value[turn, kind])
    return np.int64(s.worth[turn]) - np.int64(s.value[turn, s.demanded]), possible


@entry
def equal_return(states: Any) -> bool:
    """Tell whether some of the other groups total exactly V (G11)."""
    s = states[0]
    return can_total(s, np.int64(s.turn_player), undecided(s), np.int64(s.demanded_value))


@entry
def settle(rules: Any, states: Any) -> None:
    """Write the legal actions, make the decisions that leave no choice, or name the winners."""
    s = states[0]
    if s.current_player >= 0:
        resume(rules, s)
    else:
        s.winners = winners(s)
