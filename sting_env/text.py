"""Sting in words and as JSON: cards, actions, positions (contract, section 7)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from sting_env.config import StingConfig
from sting_env.piles import NUM_COLOURS, NUM_NUMBERS, NUM_WILDS, RUN, SET, SET_LIMIT, refresh_pile
from sting_env.rules import (
    ADD,
    COPIES,
    DISCARD,
    END,
    FIRST_WILD,
    MAX_PILES,
    NOTHING,
    NUM_ACTIONS,
    NUM_CARDS,
    NUM_NATURALS,
    PAIR_FIRST,
    PAIR_SECOND,
    PASS,
    PASS_A_PILE,
    PILE,
    RETURN,
    RUN_LOWS,
    RUN_PATTERNS,
    RUNS,
    SEAT,
    SET_PATTERNS,
    SETS,
    STATE,
    SUBSTITUTE,
    TAKE,
    WILD,
    Phase,
    write_legal,
)
from tabletop import bits
from tabletop.game import PositionError
from tabletop.jit import entry
from tabletop.state import NO_PLAYER

GAME_ID = "sting-v0"
MOST_POINTS = 1_000_000_000  # in a total
WILD_CODES = (1, 2, 3, -1)  # piles.code_of_wild
COLOURS = "RBGY"
KIND_NAMES = [f"{c}{n + 1}" for c in COLOURS for n in range(NUM_NUMBERS)] + ["W", "D", "T", "S", "PASS", "BACK"]
KIND_OF_NAME = {name: kind for kind, name in enumerate(KIND_NAMES)}
COLOUR_WORDS = ("red", "blue", "green", "yellow")
KIND_WORDS = [f"{w} {n + 1}" for w in COLOUR_WORDS for n in range(NUM_NUMBERS)] + [
    "Wild Sting",
    "Double Sting",
    "Triple Sting",
    "Super Sting",
    "Pass-a-Pile",
    "Take-it-Back",
]


# Actions ----------------------------------------------------------------------------------------------------------------


def set_text(index: int) -> str:
    """Return a new set in words: `set 5 R B G`, `set 5 R B *`."""
    number, pattern = divmod(index, SET_PATTERNS)
    if pattern < NUM_COLOURS:
        colours = [c for i, c in enumerate(COLOURS) if i != pattern]
    else:
        first, second = PAIR_FIRST[pattern - NUM_COLOURS], PAIR_SECOND[pattern - NUM_COLOURS]
        colours = [COLOURS[first], COLOURS[second], "*"]
    return f"set {number + 1} {' '.join(colours)}"


def run_text(index: int) -> str:
    """Return a new run in words: `run R3-5`, `run R3-5 *4`."""
    rest, place = divmod(index, RUN_PATTERNS)
    colour, low = divmod(rest, RUN_LOWS)
    wild = f" *{low + place}" if place else ""
    return f"run {COLOURS[colour]}{low + 1}-{low + 3}{wild}"


def make_action_texts() -> list[str]:
    """Return the text of every action, by number."""
    texts = ["draw 1", "draw 2"]
    texts += [set_text(i) for i in range(RUNS - SETS)]
    texts += [run_text(i) for i in range(ADD - RUNS)]
    texts += [f"add {KIND_NAMES[k]}" for k in range(SUBSTITUTE - ADD)]
    texts += [f"substitute {KIND_NAMES[k]}" for k in range(TAKE - SUBSTITUTE)]
    texts += ["take", "pass"]
    texts += [f"discard {KIND_NAMES[k]}" for k in range(WILD - DISCARD)]
    texts += [f"wild {KIND_NAMES[FIRST_WILD + w]}" for w in range(SEAT - WILD)]
    texts += [f"seat +{r + 1}" for r in range(PILE - SEAT)]
    texts += [f"pile {i}" for i in range(END - PILE)]
    texts += ["end low", "end high", "accept", "return"]
    assert len(texts) == NUM_ACTIONS
    return texts


ACTION_TEXTS = make_action_texts()
ACTION_OF_TEXT = {text: action for action, text in enumerate(ACTION_TEXTS)}


def action_to_string(action: int) -> str:
    """Return an action in words. IndexError if there is no such action."""
    if not 0 <= action < NUM_ACTIONS:
        raise IndexError(f"Sting's actions are 0 to {NUM_ACTIONS - 1}, not {action}")
    return ACTION_TEXTS[action]


def string_to_action(text: str) -> int:
    """Return the action written as `text`. ValueError shows how actions are written."""
    words = " ".join(text.split())
    if words not in ACTION_OF_TEXT:
        examples = "draw 1, set 5 R B *, run R3-5 *4, add R6, substitute R4, take, pass, discard R6, seat +1, accept"
        raise ValueError(f"no action is written {text!r}; actions are written like: {examples}")
    return ACTION_OF_TEXT[words]


# Positions to JSON ------------------------------------------------------------------------------------------------------


def names(kinds: Sequence[int] | np.ndarray) -> list[str]:
    """Return the names of cards."""
    return [KIND_NAMES[int(kind)] for kind in kinds]


def hand_names(state: Any, seat: int) -> list[str]:
    """Return the cards of a hand, in order of kind."""
    return names(np.repeat(np.arange(len(KIND_NAMES)), state["hand"][seat]))


def pile_cards(state: Any, i: int) -> list[str]:
    """Return the cards of a pile: a run from its low end, a set by colour and then its wilds."""
    suit, wilds, codes = int(state["pile_suit"][i]), state["pile_wilds"][i], state["pile_cells"][i]
    naturals = int(state["pile_naturals"][i])
    if state["pile_kind"][i] == RUN:
        cards = []
        for cell in range(int(state["pile_low"][i]), int(state["pile_high"][i]) + 1):
            code = int(codes[cell])
            cards.append(KIND_NAMES[FIRST_WILD + WILD_CODES.index(code) if code else suit * NUM_NUMBERS + cell])
        return cards
    colours = [KIND_NAMES[c * NUM_NUMBERS + suit] for c in range(NUM_COLOURS) if (naturals >> c) & 1]
    return colours + [KIND_NAMES[FIRST_WILD + w] for w in range(NUM_WILDS) for _ in range(int(wilds[w]))]


def pile_to_dict(state: Any, i: int) -> dict[str, Any]:
    """Return one pile as JSON-ready values."""
    owner, suit = int(state["pile_owner"][i]), int(state["pile_suit"][i])
    cards = pile_cards(state, i)
    if state["pile_kind"][i] == RUN:
        start = int(state["pile_low"][i]) + 1
        return {"owner": owner, "kind": "run", "colour": COLOURS[suit], "start": start, "cards": cards}
    return {"owner": owner, "kind": "set", "number": suit + 1, "cards": cards}


PENDING = ("chosen_wild", "chosen_pile", "chosen_end", "chosen_seat", "passer", "receiver", "first_out")


def pending_to_dict(state: Any) -> dict[str, Any]:
    """Return the play being asked about; empty between plays."""
    if state["play"] == NOTHING:
        return {}
    pending: dict[str, Any] = {"play": ACTION_TEXTS[int(state["play"])]}
    pending.update({name: int(state[name]) for name in PENDING if state[name] != NOTHING})
    return pending


def to_dict(config: StingConfig, state: Any) -> dict[str, Any]:
    """Return a record as JSON-ready values, hidden cards and all."""
    n = int(state["num_players"])
    stack = state["draw_stack"]
    return {
        "game": GAME_ID,
        "config": config.to_dict() | {"num_players": n},
        "phase": Phase(int(state["phase"])).name,
        "current_player": int(state["current_player"]),
        "turn_player": int(state["turn_player"]),
        "dealer": int(state["dealer"]),
        "round": int(state["rounds_done"]),
        "turn": int(state["turn"]),
        "hands": [hand_names(state, seat) for seat in range(n)],
        "draw_stacks": [names(stack[state["draw_low"][seat] : state["draw_high"][seat]]) for seat in range(n)],
        "discard_pile": names(state["discard"][: state["discard_size"]]),
        "held": None if state["held"] == NOTHING else KIND_NAMES[int(state["held"])],
        "piles": [pile_to_dict(state, i) for i in range(int(state["num_piles"]))],
        "pending": pending_to_dict(state),
        "totals": [int(t) for t in state["totals"][:n]],
    }


# JSON to positions ------------------------------------------------------------------------------------------------------


def read(position: Mapping[str, Any], name: str, kind: type | tuple[type, ...], default: Any = ...) -> Any:
    """Return an entry of a position, checked for its type."""
    if name not in position:
        if default is ...:
            raise PositionError(f"the position lacks {name!r}")
        return default
    value = position[name]
    if not isinstance(value, kind) or isinstance(value, bool):
        raise PositionError(f"{name!r} can't be {value!r}")
    return value


def read_cards(cards: Any, where: str) -> list[int]:
    """Return the kinds of a list of card names."""
    if not isinstance(cards, (list, tuple)):
        raise PositionError(f"{where} must be a list of cards, not {cards!r}")
    if len(cards) > NUM_CARDS:
        raise PositionError(f"{where}: {len(cards)} cards, {cards[0]!r} the first, are more than the game has (S2)")
    for card in cards:
        if not isinstance(card, str) or card not in KIND_OF_NAME:
            raise PositionError(
                f"{where}: no card is called {card!r}; cards are R1..R10, B, G, Y, W, D, T, S, PASS, BACK"
            )
    return [KIND_OF_NAME[card] for card in cards]


def read_seat(position: Mapping[str, Any], name: str, n: int, nobody: bool = False) -> int:
    """Return a seat of a position."""
    seat = int(read(position, name, int))
    if not (0 <= seat < n or (nobody and seat == NO_PLAYER)):
        raise PositionError(f"{name!r} must be a seat 0 to {n - 1}, not {seat}")
    return seat


def read_count(position: Mapping[str, Any], name: str, most: int) -> int:
    """Return a count of a position."""
    count = int(read(position, name, int))
    if not 0 <= count <= most:
        raise PositionError(f"{name!r} must be 0 to {most}, not {count}")
    return count


def write_run(state: Any, i: int, pile: Mapping[str, Any], kinds: list[int], where: str) -> None:
    """Write a run; PositionError if it breaks S12 to S14."""
    colour = COLOURS.find(str(pile.get("colour")))
    start = pile.get("start")
    if colour < 0 or len(str(pile.get("colour"))) != 1:
        raise PositionError(f"{where}: colour must be one of R, B, G, Y, not {pile.get('colour')!r}")
    if type(start) is not int or not 1 <= start <= NUM_NUMBERS or start + len(kinds) - 1 > NUM_NUMBERS:
        raise PositionError(f"{where}: a run of {len(kinds)} from {start!r} does not lie within 1 to 10 (S12)")
    before_wild = False
    for cell, kind in enumerate(kinds, start - 1):
        wild = kind >= FIRST_WILD
        if wild:
            if before_wild:
                raise PositionError(f"{where}: two wilds are neighbours (S14)")
            state["pile_wilds"][i, kind - FIRST_WILD] += 1
            state["pile_cells"][i, cell] = WILD_CODES[kind - FIRST_WILD]
        elif kind != colour * NUM_NUMBERS + cell:
            expected = KIND_NAMES[colour * NUM_NUMBERS + cell]
            raise PositionError(f"{where}: {KIND_NAMES[kind]} lies in the place of {expected} (S12)")
        else:
            state["pile_naturals"][i] |= 1 << cell
        before_wild = wild
    state["pile_kind"][i], state["pile_suit"][i] = RUN, colour
    state["pile_low"][i], state["pile_high"][i] = start - 1, start + len(kinds) - 2


def write_set(state: Any, i: int, pile: Mapping[str, Any], kinds: list[int], where: str) -> None:
    """Write a set; PositionError if it breaks S12 or S13."""
    number = pile.get("number")
    if type(number) is not int or not 1 <= number <= NUM_NUMBERS:
        raise PositionError(f"{where}: number must be 1 to 10, not {number!r}")
    if len(kinds) > SET_LIMIT:
        raise PositionError(f"{where}: a set has at most {SET_LIMIT} cards (S12)")
    for kind in kinds:
        if kind >= FIRST_WILD:
            state["pile_wilds"][i, kind - FIRST_WILD] += 1
            continue
        colour, of_number = divmod(kind, NUM_NUMBERS)
        if of_number != number - 1 or (int(state["pile_naturals"][i]) >> colour) & 1:
            raise PositionError(f"{where}: {KIND_NAMES[kind]} can't lie in this set of {number}s (S12)")
        state["pile_naturals"][i] |= 1 << colour
    state["pile_kind"][i], state["pile_suit"][i] = SET, number - 1
    state["pile_low"][i], state["pile_high"][i] = 0, len(kinds) - 1


def write_piles(state: Any, piles: Any, n: int) -> list[int]:
    """Write the piles and return their cards."""
    if not isinstance(piles, (list, tuple)) or len(piles) > MAX_PILES:
        raise PositionError(f"'piles' must be a list of at most {MAX_PILES} piles")
    used: list[int] = []
    for i, pile in enumerate(piles):
        where = f"pile {i}"
        if not isinstance(pile, Mapping):
            raise PositionError(f"{where} must be an object, not {pile!r}")
        kinds = read_cards(pile.get("cards"), where)
        wilds = sum(kind >= FIRST_WILD for kind in kinds)
        if any(kind >= PASS_A_PILE for kind in kinds):
            raise PositionError(f"{where}: a word card can't lie in a pile")
        if len(kinds) < 3 or len(kinds) > NUM_NUMBERS or wilds > wild_limit_of(len(kinds)):
            raise PositionError(f"{where}: {len(kinds)} cards with {wilds} wilds are no set or run (S12, S13)")
        if pile.get("kind") == "run":
            write_run(state, i, pile, kinds, where)
        elif pile.get("kind") == "set":
            write_set(state, i, pile, kinds, where)
        else:
            raise PositionError(f"{where}: kind must be set or run, not {pile.get('kind')!r}")
        state["pile_owner"][i] = read_seat(pile, "owner", n)
        used += kinds
    state["num_piles"] = len(piles)
    return used


def wild_limit_of(size: int) -> int:
    """Return how many wilds a pile may hold (S13)."""
    return 3 if size >= 7 else 2 if size >= 4 else 1


def write_undrawn(state: Any, stacks: Any, n: int) -> list[int]:
    """Write the draw stacks and return their cards."""
    if not isinstance(stacks, (list, tuple)) or len(stacks) != n:
        raise PositionError(f"'draw_stacks' must be {n} lists, one for each seat")
    undrawn: list[int] = []
    for seat, stack in enumerate(stacks):
        kinds = read_cards(stack, f"draw stack {seat}")
        if len(undrawn) + len(kinds) > NUM_CARDS:
            raise PositionError(f"'draw_stacks': more cards than the game has, {stack[0]!r} among them (S2)")
        state["draw_low"][seat] = len(undrawn)
        undrawn += kinds
        state["draw_high"][seat] = len(undrawn)
    return undrawn


def check_card_counts(config: StingConfig, counts: Counter[int]) -> None:
    """Raise PositionError if the cards of a position are not the cards of the game (S2, S5)."""
    for kind, copies in enumerate(COPIES):
        expected = 0 if kind >= NUM_NATURALS and not config.special_cards else int(copies)
        if counts[kind] != expected:
            raise PositionError(f"the position has {counts[kind]} of {KIND_NAMES[kind]}, the game has {expected} (S2)")


def write_pending(state: Any, pending: Any, n: int) -> None:
    """Write the play being asked about."""
    if not isinstance(pending, Mapping):
        raise PositionError(f"'pending' must be an object, not {pending!r}")
    if not pending:
        return
    for name in pending:
        if name not in ("play", *PENDING):
            raise PositionError(f"'pending' has no entry {name!r}")
    play = ACTION_OF_TEXT.get(str(pending.get("play")))
    if play is None or not (SETS <= play < TAKE or play == PASS):
        raise PositionError(f"'pending' must name a play, not {pending.get('play')!r}")
    state["play"] = play
    most = {"chosen_wild": NUM_WILDS - 1, "chosen_pile": int(state["num_piles"]) - 1, "chosen_end": 1}
    for name in PENDING:
        value = pending.get(name, NOTHING)
        if type(value) is not int or not NOTHING <= value <= most.get(name, n - 1):
            raise PositionError(f"'pending': {name} can't be {value!r}")
        state[name] = value


def from_dict(config: StingConfig, position: Mapping[str, Any], key: int) -> np.ndarray:
    """Return records [1] holding a position; PositionError says what is impossible about it."""
    if not isinstance(position, Mapping) or position.get("game") != GAME_ID:
        raise PositionError(f"the position must say 'game': {GAME_ID!r}")
    hands = read(position, "hands", (list, tuple))
    n = len(hands)
    if not 2 <= n <= 6:
        raise PositionError(f"there must be 2 to 6 hands, not {n} (S1)")
    states = np.zeros(1, STATE)
    state = states[0]
    for name in ("play", "chosen_wild", "chosen_pile", "chosen_end", "chosen_seat", "passer", "receiver", "first_out"):
        state[name] = NOTHING
    state["num_players"], state["last_out"], state["held"], state["rng_key"] = n, NOTHING, NOTHING, key
    counts: Counter[int] = Counter()

    for seat, hand in enumerate(hands):
        kinds = read_cards(hand, f"hand {seat}")
        counts.update(kinds)
        for kind in kinds:
            state["hand"][seat, kind] += 1
            state["hand_bits"][seat] |= 1 << kind
        state["hand_size"][seat] = len(kinds)
    face_up = write_piles(state, read(position, "piles", (list, tuple)), n)
    discarded = read_cards(position.get("discard_pile"), "'discard_pile'")
    face_up += discarded
    held = read(position, "held", (str, type(None)), None)
    if held is not None:
        kind = read_cards([held], "'held'")[0]
        if kind >= PASS_A_PILE:
            raise PositionError(f"'held' must be a natural or a wild, not {held} (S21)")
        state["held"] = kind
        face_up.append(kind)
    undrawn = write_undrawn(state, position.get("draw_stacks"), n)
    counts.update(face_up)
    counts.update(undrawn)
    check_card_counts(config, counts)
    for kind in face_up:
        state["shown"][kind] += 1
    state["discard"][: len(discarded)] = discarded
    state["discard_size"] = len(discarded)
    for kind in discarded:
        state["discarded"][kind] += 1
    state["draw_stack"][: len(undrawn)] = undrawn
    state["draw_size"] = len(undrawn)

    phase = read(position, "phase", str)
    if phase not in Phase.__members__:
        raise PositionError(f"'phase' must be one of {', '.join(Phase.__members__)}, not {phase!r}")
    state["phase"] = Phase[phase]
    state["current_player"] = read_seat(position, "current_player", n, nobody=phase == "OVER")
    state["turn_player"] = read_seat(position, "turn_player", n)
    state["dealer"] = read_seat(position, "dealer", n)
    state["rounds_done"] = read_count(position, "round", 32_000)
    state["turn"] = read_count(position, "turn", config.max_turns)
    totals = read(position, "totals", (list, tuple))
    if len(totals) != n or not all(type(total) is int and 0 <= total <= MOST_POINTS for total in totals):
        raise PositionError(f"'totals' must be {n} whole numbers, not {totals!r}")
    state["totals"][:n] = totals
    write_pending(state, position.get("pending", {}), n)
    check_decision(config, state, phase)
    complete(config.compiled(), states)
    if phase != "OVER" and not state["legal"].any():
        raise PositionError("the player on turn has no legal action: no game comes to this position")
    return states


def check_decision(config: StingConfig, state: Any, phase: str) -> None:
    """Raise PositionError if what is being asked does not fit what is on the table."""
    asks = phase in ("WILD", "SEAT", "PILE", "END", "RESPOND")
    pending = state["play"] != NOTHING
    is_last = config.rounds is not None and state["rounds_done"] >= config.rounds
    is_last |= config.target_score is not None and state["totals"].max() >= config.target_score
    if phase == "OVER":
        if state["current_player"] != NO_PLAYER:
            raise PositionError("'current_player' must be -1 when the game is over")
        if pending or state["held"] != NOTHING:
            raise PositionError("when the game is over no card is held and 'pending' is empty")
        if not is_last:
            raise PositionError("the game is not over: rounds are left and no total has reached the target (S32)")
        return
    if is_last:
        raise PositionError("'round' or 'totals': the game would be over (S32)")
    if state["turn"] >= config.max_turns:
        raise PositionError(f"'turn' is {state['turn']}: the round would have ended blocked (S11)")
    if asks != pending:
        raise PositionError(f"in phase {phase} 'pending' must {'name a play' if asks else 'be empty'}")
    if phase == "RESPOND":
        if state["play"] != PASS or NOTHING in (state["passer"], state["receiver"], state["chosen_pile"]):
            raise PositionError("in phase RESPOND 'pending' must name the pass, its pile, passer and receiver (S25)")
        if state["current_player"] not in (state["passer"], state["receiver"]):
            raise PositionError("in phase RESPOND the passer or the receiver decides (S25)")
    elif state["current_player"] != state["turn_player"]:
        raise PositionError("the player on turn decides, but in phase RESPOND")
    if phase == "DRAW" and int(state["draw_size"]) + max(0, int(state["discard_size"]) - 1) == 0:
        raise PositionError("in phase DRAW there must be a card to draw (S6)")
    if phase == "DRAW" and state["held"] != NOTHING:
        raise PositionError("no card is held in phase DRAW (S21)")
    n = int(state["num_players"])
    out = [seat for seat in range(n) if state["hand_size"][seat] == 0]
    if state["held"] != NOTHING or pending:
        out = [seat for seat in out if seat not in (state["current_player"], state["passer"], state["receiver"])]
    if out:
        raise PositionError(f"hand {out[0]} is empty: the round would be over (S10)")


def before_play(asked: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, int]]:
    """Return the position (JSON) before the play that `asked` is in the middle of, and the answers by phase since."""
    pending, player = asked["pending"], asked["turn_player"]
    chosen = {"WILD": (WILD, "chosen_wild"), "PILE": (PILE, "chosen_pile"), "END": (END, "chosen_end")}
    answers = {phase: first + pending[name] for phase, (first, name) in chosen.items() if name in pending}
    if "chosen_seat" in pending:
        answers["SEAT"] = SEAT + pending["chosen_seat"] - 1
    before = {**asked, "phase": "PLAY", "current_player": player, "pending": {}}
    if pending["play"] != ACTION_TEXTS[PASS]:
        return before, answers
    hands, discards = [list(hand) for hand in asked["hands"]], list(asked["discard_pile"])
    if asked["phase"] == "RESPOND":  # S25: receiver and passer have returned the pile in turn
        answers["RESPOND"] = RETURN
        returned = 0
        while discards[-1:] == ["BACK"]:
            hands[player if returned % 2 else pending["receiver"]].append(discards.pop())
            returned += 1
        pile = pending["chosen_pile"]
        before["piles"] = [{**p, "owner": player} if i == pile else p for i, p in enumerate(asked["piles"])]
    if discards[-1:] != ["PASS"]:
        raise PositionError("the Pass-a-Pile being played must lie on the discard pile (S24)")
    hands[player].append(discards.pop())
    return {**before, "hands": hands, "discard_pile": discards}, answers


@entry
def complete(rules: Any, states: Any) -> None:
    """Fill in what is kept about a position beside its cards."""
    s = states[0]
    for i in range(s.num_piles):
        refresh_pile(rules, s, i)
    if s.current_player >= 0:
        write_legal(rules, s)
    else:
        bits.clear(s.legal)
