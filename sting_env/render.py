"""Sting as a picture in text, and what happens in it in plain words.

Cards are written as in `text` (`R6`, `W`, `PASS`); a wild on the table shows what it stands for: `W=R5`. Piles go by
the number that the action `pile 3` has. Nothing here depends on what the observer can't know.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from sting_env.config import StingConfig
from sting_env.piles import NUM_COLOURS, NUM_NUMBERS, RUN, SUPER, WILD_HIGH, WILD_LOW, popcount
from sting_env.rules import (
    ADD,
    DISCARD,
    DRAW_ONE,
    END,
    FIRST_WILD,
    LOW,
    MAX_PLAYERS,
    NOTHING,
    NUM_NATURALS,
    PASS,
    PASS_A_PILE,
    PILE,
    RESPOND,
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
    adds_wild_to_run,
    end_options,
    hand_points,
    high_bridge,
    low_bridge,
    pattern_has_wild,
    pattern_naturals,
    pile_options,
    seat_options,
    wild_options,
)
from sting_env.text import COLOUR_WORDS, COLOURS, KIND_NAMES, KIND_WORDS, names, pile_cards
from tabletop.jit import entry

WIDTH = 100
GAP = "   "
DISCARD_DEPTH = 4  # cards of the discard pile shown in order
WILD_WORDS = ("Wild", "Double", "Triple", "Super")
ANSI = {"R": "31", "B": "94", "G": "32", "Y": "33", "wild": "1;35", "word": "36", "end": "0"}
SPAN = r"(?:\d+|[Ww]ild|Double|Triple|Super)"
CARD = re.compile(
    rf"(?<![\w=-])(?:(?P<suit>[RBGY])(?:10|[1-9])|(?P<colour>red|blue|green|yellow)(?: {SPAN}(?:-{SPAN})*)?"
    r"|(?P<wild>[WDTS](?:=[RBGY/]+\d+)?|(?:Wild|Double|Triple|Super)(?: Sting)?)"
    r"|(?P<word>PASS|BACK|Pass-a-Pile|Take-it-Back))(?![\w'])"
)

HINTS = {
    Phase.DRAW: (
        "Say whether you draw one card or two, before you see any: one with a full hand of plays, two when stuck."
    ),
    Phase.PLAY: (
        "As often as you like: lay a set (3 cards of one number, all colours different) or a run (3 of one colour in\n"
        "sequence) in front of somebody else; add a card to any pile; put the right card in the place of a wild and\n"
        "use that wild at once; take the top of the discard pile if you can place it at once; pass a pile on with\n"
        "Pass-a-Pile. Then discard one card: that ends your turn."
    ),
    Phase.WILD: (
        "Say which wild. A Double or Triple multiplies what the pile costs its owner; a pile with a Super can't be\n"
        "passed on."
    ),
    Phase.SEAT: "Say who gets the pile: its points count against that player when the round ends.",
    Phase.PILE: "Say which pile.",
    Phase.END: "Say at which end of the run the wild goes; there it stands for the card of its place.",
    Phase.RESPOND: "A pile comes to you. Accept it, or send it back with a Take-it-Back.",
}
OBJECT = (
    "Whoever gets rid of all cards first scores 0 for the round, everyone else the cards in front of them and in\n"
    "their hand (in hand a Wild or Super costs 5, a Double 10, a Triple 15). The lowest total wins."
)
WILD_RULE = (
    "W Wild, D Double, T Triple, S Super Sting: one in 3 cards, two in 4 to 6, three in 7 or more, never neighbours\n"
    "in a run; W=R5 stands for red 5. PASS Pass-a-Pile, BACK Take-it-Back."
)


@entry
def write_hand_points(rules: Any, states: Any, points: Any) -> None:
    """Write what each hand costs (S30, S31)."""
    for seat in range(states[0].num_players):
        points[seat] = hand_points(rules, states[0], seat)


PILES, WILDS, ENDS, SEATS, NATURALS, BRIDGE_LOW_END, BRIDGE_HIGH_END, NUM_OPTIONS = range(8)


@entry
def write_options(rules: Any, states: Any, options: Any) -> None:
    """Write what can be chosen about states[0]'s play, as bits, 0 where it is not asked; what is chosen stays.

    PILES, WILDS, ENDS, SEATS; NATURALS a new pile is made of; the natural that S18 adds at either end, NOTHING if none.
    The only pile possible is chosen, in place.
    """
    s = states[0]
    lays = s.play < ADD
    options[:] = 0
    options[BRIDGE_LOW_END:] = NOTHING
    if lays:
        options[NATURALS] = pattern_naturals(s.play)
        if pattern_has_wild(s.play):
            options[WILDS] = 1 << (s.held - FIRST_WILD) if s.held >= FIRST_WILD else wild_options(s)
    elif s.chosen_pile == NOTHING:
        options[PILES] = pile_options(rules, s)
        if popcount(options[PILES]) == 1:
            s.chosen_pile = popcount(options[PILES] - 1)
    if lays or s.play == PASS:
        options[SEATS] = seat_options(s)
    if s.chosen_pile != NOTHING and SUBSTITUTE <= s.play < TAKE:
        options[WILDS] = wild_options(s)
    if s.chosen_pile != NOTHING and adds_wild_to_run(s):
        options[ENDS] = end_options(rules, s)
        if s.pile_accepts[s.chosen_pile] & WILD_LOW == 0:
            options[BRIDGE_LOW_END] = low_bridge(s, s.chosen_pile)
        if s.pile_accepts[s.chosen_pile] & WILD_HIGH == 0:
            options[BRIDGE_HIGH_END] = high_bridge(s, s.chosen_pile)


# Colours and columns --------------------------------------------------------------------------------------------------


def in_colour(text: str) -> str:
    """Return a text with its cards in colour, by ANSI escapes."""

    def paint(match: re.Match[str]) -> str:
        colour = match["suit"] or (match["colour"] or "")[:1].upper()
        code = ANSI[colour] if colour else ANSI["wild" if match["wild"] else "word"]
        return f"\x1b[{code}m{match[0]}\x1b[{ANSI['end']}m"

    return CARD.sub(paint, text)


def packed(parts: list[str], indent: str, first: str | None = None) -> list[str]:
    """Return parts side by side in as few lines as fit the width; `first` begins the first line."""
    lines: list[str] = []
    line = indent if first is None else first
    filled = False
    for part in parts:
        if filled and len(line) + len(GAP) + len(part) > WIDTH:
            lines.append(line)
            line, filled = indent, False
        line += (GAP if filled else "") + part
        filled = True
    return [*lines, line]


# Names ----------------------------------------------------------------------------------------------------------------


def seat_name(seat: int, observer: int | None) -> str:
    """Return what a seat is called."""
    return "you" if seat == observer else f"player {seat}"


def pile_name(state: Any, i: int) -> str:
    """Return what a pile is called: `run 3 (red 3-7)`, `set 2 (fives)`."""
    suit = int(state["pile_suit"][i])
    if state["pile_kind"][i] == RUN:
        return f"run {i} ({COLOUR_WORDS[suit]} {int(state['pile_low'][i]) + 1}-{int(state['pile_high'][i]) + 1})"
    return f"set {i} ({suit + 1}s)"


def shown_cards(state: Any, i: int) -> list[str]:
    """Return the cards of a pile, a wild with what it stands for (S15): `W=R5`, in a set `W=G/Y`."""
    cards = pile_cards(state, i)
    suit, low = int(state["pile_suit"][i]), int(state["pile_low"][i])
    if state["pile_kind"][i] == RUN:
        places = [KIND_NAMES[suit * NUM_NUMBERS + low + k] for k in range(len(cards))]
    else:
        naturals = int(state["pile_naturals"][i])
        missing = "/".join(COLOURS[c] for c in range(NUM_COLOURS) if not (naturals >> c) & 1)
        places = [missing + str(suit + 1)] * len(cards)
    return [f"{card}={place}" if card in KIND_NAMES[FIRST_WILD:] else card for card, place in zip(cards, places)]


def cards_by_colour(state: Any, seat: int) -> list[str]:
    """Return the cards of a hand: a part for each colour, then the wilds, then the word cards."""
    hand = state["hand"][seat]
    edges = [*range(0, NUM_NATURALS + 1, NUM_NUMBERS), PASS_A_PILE, len(KIND_NAMES)]
    groups = [np.repeat(np.arange(start, stop), hand[start:stop]) for start, stop in zip(edges, edges[1:])]
    return [" ".join(names(group)) for group in groups if len(group)]


# The picture ----------------------------------------------------------------------------------------------------------


def heading(config: StingConfig, state: Any, observer: int | None) -> list[str]:
    """Return round, turn, dealer and what lies in the middle."""
    over = state["phase"] == Phase.OVER
    number = int(state["rounds_done"]) + (0 if over else 1)
    rounds = f" of {config.rounds}" if config.rounds is not None else ""
    target = f" or to {config.target_score} points" if config.target_score is not None else ""
    turn = "" if over else f"turn {int(state['turn']) + 1}"
    dealer = f"dealer: {seat_name(int(state['dealer']), observer)}"
    top = int(state["discard_size"])
    discard = names(state["discard"][max(0, top - DISCARD_DEPTH) : top][::-1])
    rest = f" and {top - DISCARD_DEPTH} more" if top > DISCARD_DEPTH else ""
    below = f" (below it {' '.join(discard[1:])}{rest})" if len(discard) > 1 else ""
    title = GAP.join(part for part in (f"Sting: round {number}{rounds}{target}", turn, dealer) if part)
    pile = f"discard pile: {discard[0]} on top{below}" if discard else "discard pile: empty"
    lines = [title, f"draw pile: {int(state['draw_size'])} cards{GAP}{pile}"]
    if state["held"] != NOTHING:
        lines.append(f"HELD: {KIND_NAMES[int(state['held'])]}, to be placed at once")
    return lines


def question(config: StingConfig, state: Any, observer: int | None) -> list[str]:
    """Return who decides what, or who won."""
    phase = Phase(int(state["phase"]))
    n = int(state["num_players"])
    if phase == Phase.OVER:
        totals = state["totals"][:n]
        won = [seat_name(seat, observer) for seat in range(n) if totals[seat] == totals.min()]
        return [f"The game is over: {' and '.join(won)} won with {int(totals.min())} points."]
    player = int(state["current_player"])
    who = seat_name(player, observer).capitalize()
    turn = "Your turn" if player == observer else f"{who}'s turn"
    if phase == Phase.DRAW:
        return [f"{turn}: draw one card or two."]
    if phase == Phase.PLAY and state["held"] != NOTHING:
        return [f"{turn}: place the {KIND_WORDS[int(state['held'])]}, in a new pile or on one that lies there."]
    if phase == Phase.PLAY:
        return [f"{turn}: make a play, or discard and end the turn."]
    if phase == Phase.RESPOND:
        passed = pile_name(state, int(state["chosen_pile"]))
        giver = state["passer"] if player == state["receiver"] else state["receiver"]
        back = "passes" if player == state["receiver"] else "returns"
        giver_name = seat_name(int(giver), observer)
        if giver == observer:
            back = "pass" if back == "passes" else "return"
        return [f"{giver_name.capitalize()} {back} {passed} to {who.lower()}: accept it, or play Take-it-Back."]
    asked = {
        Phase.WILD: "which wild",
        Phase.SEAT: "to whom" if state["play"] == PASS else "in front of whom",
        Phase.PILE: "which pile",
        Phase.END: "which end",
    }[phase]
    return [f"{who} {act(config, state, read_play(state), observer, foresee=False)}: {asked}?"]


def seat_lines(state: Any, seat: int, observer: int | None) -> list[str]:
    """Return a seat: cards in hand, points, and the piles in front of it."""
    own = [i for i in range(int(state["num_piles"])) if state["pile_owner"][i] == seat]
    points = state["pile_points"]
    size = int(state["hand_size"][seat])
    mark = ">" if seat == state["current_player"] else " "
    out = "   emptied the hand" if seat == state["first_out"] else ""
    table = f"{sum(int(points[i]) for i in own):3} on the table"
    cards = f"{size:2} {'card ' if size == 1 else 'cards'}"
    line = f"{mark} {seat_name(seat, observer):8}  {cards}   total {int(state['totals'][seat]):3}   {table}{out}"
    parts = []
    for i in own:
        fixed = ", fixed" if state["pile_wilds"][i][SUPER] else ""
        kind = "run" if state["pile_kind"][i] == RUN else "set"
        parts.append(f"{kind} {i}: {' '.join(shown_cards(state, i))} ({int(points[i])}{fixed})")
    return [line, *(packed(parts, "      ") if parts else [])]


def to_text(config: StingConfig, state: Any, observer: int | None = None, colour: bool = False) -> str:
    """Return one record as a picture in text: what `observer` may see, or everything for None.

    At most 100 columns; `>` marks who decides; seats follow clockwise, the observer's last. In brackets after a pile
    are its points; `fixed` is one that a Super holds where it lies. `colour` paints the cards with ANSI escapes.
    """
    n = int(state["num_players"])
    if n == 0:
        return "Sting: no game in this record yet"
    hand_costs = np.zeros(MAX_PLAYERS, np.int64)
    write_hand_points(config.compiled(), as_states(state), hand_costs)
    first = 0 if observer is None else (observer + 1) % n
    lines = heading(config, state, observer)
    for seat in [(first + k) % n for k in range(n)]:
        lines.append("")
        lines += seat_lines(state, seat, observer)
        if observer is None or seat == observer or config.open_hands:
            hand = cards_by_colour(state, seat)
            cost = f"(costs {int(hand_costs[seat])})"
            lines += packed([*(hand or ["no cards"]), cost], "            ", "      hand: ")
    lines += ["", *question(config, state, observer)]
    text = "\n".join(line.rstrip() for line in lines)
    return in_colour(text) if colour else text


# Plays in words -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Play:
    """A play and what is known about it; NOTHING where it is still to be asked."""

    action: int
    wild: int = NOTHING
    pile: int = NOTHING
    end: int = NOTHING
    seat: int = NOTHING  # rel 1..5


def as_states(state: Any) -> np.ndarray:
    """Return a copy of one record as records [1]."""
    states = np.zeros(1, STATE)
    states[0] = state
    return states


def read_play(state: Any) -> Play:
    """Return the play that a record is in the middle of."""
    chosen = (int(state[f"chosen_{name}"]) for name in ("wild", "pile", "end", "seat"))
    return Play(int(state["play"]), *chosen)


def only_bit(bits: Any) -> int:
    """Return the one bit that is set, NOTHING if there are several or none."""
    options = int(bits)
    return options.bit_length() - 1 if options and options & (options - 1) == 0 else NOTHING


def play_after(state: Any, action: int) -> Play:
    """Return the play as it is once the current player has chosen `action`."""
    play = read_play(state)
    if action >= END:
        return replace(play, end=action - END)
    if action >= PILE:
        return replace(play, pile=action - PILE)
    if action >= SEAT:
        return replace(play, seat=action - SEAT + 1)
    if action >= WILD:
        return replace(play, wild=action - WILD)
    return Play(action)


def laid_cards(action: int, naturals: int, wild: int) -> str:
    """Return the cards of a new pile: `red 3-4-5`, `red 3-wild-5`, `5s (red, blue, Double)`."""
    word = "wild" if wild == NOTHING else WILD_WORDS[wild]
    if action < RUNS:
        number = (action - SETS) // SET_PATTERNS + 1
        colours = [COLOUR_WORDS[c] for c in range(NUM_COLOURS) if (naturals >> (c * NUM_NUMBERS + number - 1)) & 1]
        return f"{number}s ({', '.join(colours if len(colours) == 3 else [*colours, word])})"
    place = (action - RUNS) % RUN_PATTERNS
    low = (action - RUNS) // RUN_PATTERNS % RUN_LOWS + 1
    colour = (action - RUNS) // (RUN_PATTERNS * RUN_LOWS)
    return f"{COLOUR_WORDS[colour]} " + "-".join(word if place == k + 1 else str(low + k) for k in range(3))


def act(config: StingConfig, state: Any, play: Play, observer: int | None, foresee: bool = True) -> str:
    """Return a play as far as it is known: `lays red 3-4-5 in front of player 2`; the observer's own as a command.

    With `foresee`, what will not be asked since there is one choice is told too; that looks into the player's hand.
    """
    states = as_states(state)
    chosen = {"play": play.action, "chosen_wild": play.wild, "chosen_pile": play.pile, "chosen_end": play.end}
    for name, value in chosen.items():
        states[name] = value
    options = np.zeros(NUM_OPTIONS, np.int64)
    write_options(config.compiled(), states, options)
    pile, wild, end, rel = play.pile, play.wild, play.end, play.seat
    if foresee:
        pile = int(states["chosen_pile"][0])
        wild = only_bit(options[WILDS]) if wild == NOTHING else wild
        end = only_bit(options[ENDS]) if end == NOTHING else end
        rel = only_bit(options[SEATS]) + 1 if rel == NOTHING else rel
    player = int(state["current_player"])
    to = seat_name((player + rel) % int(state["num_players"]), observer) if rel > 0 else ""
    on = "" if pile == NOTHING else pile_name(state, pile)
    s = "" if player == observer else "s"
    if play.action < ADD:
        return f"lay{s} {laid_cards(play.action, int(options[NATURALS]), wild)}" + (f" in front of {to}" if to else "")
    if play.action < SUBSTITUTE:
        kind = play.action - ADD
        what = f"add{s} {'the ' if kind >= FIRST_WILD else ''}{KIND_WORDS[kind]} to"
        if kind < FIRST_WILD or pile == NOTHING or state["pile_kind"][pile] != RUN:
            return f"{what} {on or 'a pile'}"
        if end == NOTHING:
            return f"{what} an end of {on}"
        bridge = int(options[BRIDGE_LOW_END if end == LOW else BRIDGE_HIGH_END])
        return f"{what} the {'low' if end == LOW else 'high'} end of {on}{end_words(state, pile, end, bridge)}"
    if play.action < TAKE:
        out = "a wild" if wild == NOTHING else f"the {KIND_WORDS[FIRST_WILD + wild]}"
        place = f" in {on}" if on else ""
        return f"put{s} {KIND_WORDS[play.action - SUBSTITUTE]} in the place of {out}{place}"
    return f"pass{'e' if s else ''}{s} {on or 'a pile'} on" + (f" to {to}" if to else "")


def end_words(state: Any, pile: int, end: int, bridge: int) -> str:
    """Return what a wild at an end of a run stands for, and the natural that comes with it (S18)."""
    cell = int(state["pile_low"][pile]) - 1 if end == LOW else int(state["pile_high"][pile]) + 1
    words = f", as {KIND_WORDS[int(state['pile_suit'][pile]) * NUM_NUMBERS + cell]}"
    return words if bridge == NOTHING else f"{words}, and {KIND_WORDS[bridge]} beyond it"


def describe_action(config: StingConfig, state: Any, action: int, observer: int | None = None) -> str:
    """Return what the current player does by a legal action, in plain words: `discards red 6`.

    A play that is asked about in several steps reads fuller with each; what is decided without asking is told at once.
    Where the observer is the current player, as a command: `discard red 6`.
    """
    s = "" if state["current_player"] == observer else "s"
    if action < SETS:
        return f"draw{s} {'one card' if action == DRAW_ONE else 'two cards'}"
    if action == TAKE:
        return f"take{s} {KIND_WORDS[int(state['discard'][int(state['discard_size']) - 1])]} from the discard pile"
    if DISCARD <= action < WILD:
        kind = action - DISCARD
        return f"discard{s} {'' if kind < FIRST_WILD else 'a '}{KIND_WORDS[kind]}"
    if action < RESPOND:
        return act(config, state, play_after(state, action), observer)
    pile = pile_name(state, int(state["chosen_pile"]))
    if action != RETURN:
        return f"accept{s} {pile}"
    back = state["passer"] if state["current_player"] == state["receiver"] else state["receiver"]
    return f"play{s} Take-it-Back: {pile} goes back to {seat_name(int(back), observer)}"


def tell(config: StingConfig, before: Any, action: int, after: Any, observer: int | None = None) -> list[str]:
    """Return what `observer` should be told about an action that led from one record to another, a sentence each.

    A play is told once it is complete. The cards drawn are told to who may see them; the end of a round is told with
    its points.
    """
    player = int(before["current_player"])
    if Phase.WILD <= after["phase"] <= Phase.END:
        return []
    line = f"{seat_name(player, observer)} {describe_action(config, before, action, observer)}"
    if before["phase"] == Phase.DRAW and (observer in (None, player) or config.open_hands):
        drawn = np.maximum(after["hand"][player].astype(int) - before["hand"][player], 0)
        line += f": {' and '.join(names(np.repeat(np.arange(len(drawn)), drawn)))}"
    lines = [sentence(line)]
    if after["rounds_done"] == before["rounds_done"] and after["reshuffles"] > before["reshuffles"]:
        lines.append("The draw pile was empty: the discard pile was shuffled to become the new one.")
    if after["rounds_done"] > before["rounds_done"]:
        lines += round_over(after, observer)
    return lines


def round_over(state: Any, observer: int | None) -> list[str]:
    """Return who went out, the points and the totals of the round just scored."""
    seats = range(int(state["num_players"]))
    number, out = int(state["rounds_done"]), int(state["last_out"])
    if out == NOTHING:
        reason = "its turns are used up and nobody is out"
    else:
        reason = f"{seat_name(out, observer)} {'are' if out == observer else 'is'} out"
    points = ", ".join(f"{seat_name(seat, observer)} {int(state['round_points'][seat])}" for seat in seats)
    totals = ", ".join(f"{seat_name(seat, observer)} {int(state['totals'][seat])}" for seat in seats)
    return [f"Round {number} is over: {reason}.", f"Points of the round: {points}.", f"Totals: {totals}."]


def sentence(line: str) -> str:
    """Return a line as a sentence."""
    return line[0].upper() + line[1:] + "."


def hint(config: StingConfig, state: Any) -> str:
    """Return what the player to move needs to know of the rules."""
    return "\n\n".join(part for part in (HINTS.get(Phase(int(state["phase"])), ""), OBJECT, WILD_RULE) if part)
