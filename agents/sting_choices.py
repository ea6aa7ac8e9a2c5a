"""How the bots of Sting choose: `random`, `greedy` and `rulebook`, compiled, for all player counts and options.

A bot sees the observation record `o` (`sting_env.observation`) and the legal actions, nothing else.

random     any legal action, all alike.
greedy     any play before a discard, in this order: sets and runs of naturals, the top of the discard pile where it lays
           a pile, a substitution whose wild lays one, a pair with a wild, the top of the discard pile where it goes onto
           an opponent's pile, a pass, adds in front of opponents, other substitutions, adds in front of itself. Its own
           piles stay cheap, the others' get the doubles and triples; it discards what is least likely to be played.
rulebook   strategy suggestion 8 of the rulebook: substitute wilds, look at the discard pile, lay sets and runs divided
           among the opponents, add to anything on the table; then pass a pile, and discard as greedy does.

Draw rules, the option `draw` of every bot (where two is not allowed, S6, all draw one):
    1, 2       always one, always two
    hint       the rulebook's: two when "stuck with only a few cards", here at most HINT_CARDS in hand and nothing to be
               played without drawing, that is, no set, run, add, substitution, take or pass
    <=k        two when at most k cards are in hand, whatever could be played
    (none)     the bot's own: random draws either at random, greedy two with exactly GREEDY_CARDS in hand, rulebook by
               the hint
"""

from __future__ import annotations

import numpy as np

from agents.reading import lowest, place_of, players_of, section
from sting_env.observation import COLOUR, FIXED, KIND, NATURAL, OWNER, POINTS, SIZE, WILD_CELL, WILD_COUNT
from sting_env.piles import (
    BRIDGE_HIGH,
    BRIDGE_LOW,
    NATURAL_BITS,
    NUM_COLOURS,
    NUM_NATURALS,
    NUM_NUMBERS,
    RUN,
    SUPER,
    TAKES_WILD,
    popcount,
    run_accepts,
    set_accepts,
)
from sting_env.piles import DOUBLE as DOUBLE_WILD
from sting_env.piles import TRIPLE as TRIPLE_WILD
from sting_env.rules import (
    ACCEPT,
    ADD,
    DISCARD,
    DRAW_ONE,
    DRAW_TWO,
    END,
    FIRST_WILD,
    HAND_POINTS,
    HIGH,
    LOW,
    MAX_PILES,
    NOTHING,
    NUM_ADD,
    NUM_KINDS,
    NUM_PILE,
    NUM_SUBSTITUTE,
    NUM_WILD,
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
    SUBSTITUTE,
    TAKE,
    WILD,
    WILD_KINDS,
    Phase,
    is_natural,
    is_wild,
    lays_with_natural,
    lays_with_wild,
    pattern_has_wild,
    pattern_naturals,
    row,
)
from tabletop import bits
from tabletop.jit import kernel
from tabletop.seeding import below

# Bots and draw rules ----------------------------------------------------------------------------------------------------

RANDOM, GREEDY, RULEBOOK = 0, 1, 2
OWN_RULE, ONE, TWO, HINT, FEW = 0, 1, 2, 3, 4  # FEW + k: two with at most k cards
HINT_CARDS = 4  # "only a few cards"
GREEDY_CARDS = 2  # with two more, a set or run and the discard empty the hand

# What cards are worth keeping for, in units of their own. Found by play against each other; the optimum is flat.
PROMISE_PILE, PROMISE_PAIR, PROMISE_GAP = 16, 2, 1  # in a hand: a pile to be laid, two of a pile, two of a run apart
GOES_ON = 10  # a card in hand that goes onto the pile to be laid
KEEP_BOTH, KEEP_ONE = 60, 10  # a discard breaks up a pile; two of one, for each unseen card that completes it
KEEP_WILD, KEEP_PASS, KEEP_BACK = 300, 30, 100
DEAR = 20  # for each point a wild costs in hand when somebody is about to go out
ABOUT_TO_GO_OUT = 1  # cards in hand
SUPER_BONUS = 2  # points for a pile that can't be passed on

# Reading the record -----------------------------------------------------------------------------------------------------


@kernel
def cards_of(o):
    """Return the kinds in hand as bits."""
    cards = 0
    for kind in range(NUM_KINDS):
        if o.hand[kind] > 0:
            cards |= 1 << kind
    return cards


@kernel
def without(o, cards, spent):
    """Return `cards` once one of each kind of `spent` has left the hand."""
    left = cards
    while spent:
        kind = lowest(spent)
        spent &= spent - 1
        if o.hand[kind] < 2:
            left &= ~(1 << kind)
    return left


@kernel
def spare_cards(o):
    """Return how many cards may leave the hand by plays (S10)."""
    return np.int64(o.hand_size[0]) - np.int64(o.options[2])


@kernel
def top_of_discard(o):
    """Return the kind on top of the discard pile, NOTHING if it is empty."""
    return place_of(o.discard_top[0], NUM_KINDS)


@kernel
def takes_after(pile, natural):
    """Return what a pile (a row of o.piles) takes (`piles.accepted`), once `natural` replaced a wild in it if it is a card."""
    size = np.int64(pile[SIZE])
    if pile[KIND + RUN]:
        colour = place_of(pile[COLOUR:], NUM_COLOURS)
        naturals = 0
        cells = 0
        for cell in range(NUM_NUMBERS):
            if pile[NATURAL + cell]:
                naturals |= 1 << cell
            elif pile[WILD_CELL + cell]:
                cells |= 1 << cell
        low = lowest(cells | naturals)
        if natural != NOTHING:
            naturals |= 1 << (natural % NUM_NUMBERS)
        return run_accepts(colour, low, low + size - 1, naturals)
    number = place_of(pile[NATURAL:], NUM_NUMBERS)
    colours = 0
    for colour in range(NUM_COLOURS):
        if pile[COLOUR + colour]:
            colours |= 1 << colour
    if natural != NOTHING:
        colours |= 1 << (natural // NUM_NUMBERS)
    return set_accepts(number, colours, size, size - popcount(colours))


@kernel
def takes(pile):
    """Return what a pile takes: naturals as bits 0..39, the bits of `piles` above for wilds."""
    return takes_after(pile, NOTHING)


@kernel
def replaces(pile):
    """Return the naturals that can take the place of a wild in a pile, as bits (S15, S22)."""
    found = 0
    if pile[KIND + RUN]:
        for cell in range(NUM_NUMBERS):
            if pile[WILD_CELL + cell] > 0:
                found |= 1 << cell
        return found << (place_of(pile[COLOUR:], NUM_COLOURS) * NUM_NUMBERS)
    if pile[WILD_COUNT] + pile[WILD_COUNT + DOUBLE_WILD] + pile[WILD_COUNT + TRIPLE_WILD] > 0:
        number = place_of(pile[NATURAL:], NUM_NUMBERS)
        for colour in range(NUM_COLOURS):
            if not pile[COLOUR + colour]:
                found |= 1 << (colour * NUM_NUMBERS + number)
    return found


@kernel
def bridged(pile, accepts, cards):
    """Tell whether a wild goes to an end of a run together with a natural of `cards` beyond it (S18)."""
    if accepts & (BRIDGE_LOW | BRIDGE_HIGH) == 0:
        return False
    numbers = row(cards, place_of(pile[COLOUR:], NUM_COLOURS))
    low = place_of(pile[NATURAL:], NUM_NUMBERS)
    high = low
    for cell in range(low, NUM_NUMBERS):
        if pile[NATURAL + cell]:
            high = cell
    if accepts & BRIDGE_LOW and (numbers >> (low - 2)) & 1:
        return True
    return accepts & BRIDGE_HIGH != 0 and (numbers >> (high + 2)) & 1 != 0


# Draw -------------------------------------------------------------------------------------------------------------------


@kernel
def makes_pile(cards):
    """Tell whether three of `cards` make a set or a run (S12, S13)."""
    if cards & WILD_KINDS and lays_with_wild(cards):
        return True
    once, twice, thrice = 0, 0, 0
    for colour in range(NUM_COLOURS):
        numbers = row(cards, colour)
        if numbers & (numbers >> 1) & (numbers >> 2):
            return True
        thrice |= twice & numbers
        twice |= once & numbers
        once |= numbers
    return thrice != 0


@kernel
def could_play(o):
    """Tell whether anything but a discard could be played without drawing: exactly what `rules.legal_play` would allow."""
    cards = cards_of(o)
    spare = spare_cards(o)
    if spare >= 3 and makes_pile(cards):
        return True
    if spare < 1 and top_of_discard(o) == NOTHING:
        return False
    accepts = 0
    bridges = False  # a wild could be laid with a natural beyond it
    for i in range(o.num_piles):
        pile = o.piles[i]
        here = takes(pile)
        accepts |= here
        bridges = bridges or bridged(pile, here, cards)
    takes_wild = accepts & TAKES_WILD != 0
    if spare >= 1 and cards & accepts & NATURAL_BITS:
        return True
    if cards & WILD_KINDS and ((spare >= 1 and takes_wild) or (spare >= 2 and bridges)):
        return True
    top = top_of_discard(o)
    if top != NOTHING and is_natural(top) and ((accepts >> top) & 1 or (spare >= 2 and lays_with_natural(cards, top))):
        return True
    if (
        top != NOTHING
        and is_wild(top)
        and (takes_wild or (spare >= 2 and lays_with_wild(cards)) or (spare >= 1 and bridges))
    ):
        return True
    for i in range(o.num_piles):
        pile = o.piles[i]
        if spare >= 1 and o.hand[PASS_A_PILE] > 0 and pile[OWNER] and not pile[FIXED]:
            return True
        if spare >= 1 and o.options[3]:
            naturals = replaces(pile) & cards
            while naturals:
                natural = lowest(naturals)
                naturals &= naturals - 1
                if takes_wild or takes_after(pile, natural) & TAKES_WILD:
                    return True
                left = without(o, cards, 1 << natural)
                if spare >= 3 and lays_with_wild(left):
                    return True
                for j in range(o.num_piles):
                    if j != i and spare >= 2 and bridged(o.piles[j], takes(o.piles[j]), left):
                        return True
    return False


@kernel
def draw(bot, rule, o, legal, key):
    """Draw one or two."""
    if not bits.contains(legal, DRAW_TWO):
        return DRAW_ONE
    if rule == OWN_RULE:
        if bot == RANDOM:
            return DRAW_ONE + below(key, 0, 2)
        if bot == GREEDY:
            return DRAW_TWO if o.hand_size[0] == GREEDY_CARDS else DRAW_ONE
        rule = HINT
    two = rule == TWO
    if rule == HINT:
        two = o.hand_size[0] <= HINT_CARDS and not could_play(o)
    elif rule >= FEW:
        two = o.hand_size[0] <= rule - FEW
    return DRAW_TWO if two else DRAW_ONE


# Questions about a play -------------------------------------------------------------------------------------------------


@kernel
def multiplier(wild):
    """Return by what a wild multiplies its pile (S29)."""
    if wild == TRIPLE_WILD:
        return 3
    return 2 if wild == DOUBLE_WILD else 1


@kernel
def worth(pile):
    """Return what a point on a pile is worth to the observer: less than nothing on its own."""
    return -1 if pile[OWNER] else 1


@kernel
def gain_of_add(o, pile, kind):
    """Return what adding a card to a pile is worth: the points it puts on others."""
    size = np.int64(pile[SIZE])
    points = np.int64(pile[POINTS])
    factor = max(1, points // size)
    if o.options[5]:
        factor = 1
    more = factor
    if kind >= FIRST_WILD:
        times = multiplier(kind - FIRST_WILD)
        more = (points + factor) * times - points
        if kind - FIRST_WILD == SUPER:
            more += SUPER_BONUS
    return more * worth(pile)


@kernel
def choose_pile(o, options):
    """Choose a pile for the add, substitution or pass asked about, among the bits `options`."""
    best, best_value = 0, -(1 << 40)
    adds, substitutes = o.play[2], o.play[3]
    kind = NOTHING
    if adds or substitutes:
        kind = place_of(o.play_card, NUM_ADD)
    while options:
        i = lowest(options)
        options &= options - 1
        pile = o.piles[i]
        if adds:
            value = gain_of_add(o, pile, kind)
        elif substitutes:  # what the pile loses
            times = 1
            if pile[WILD_COUNT + TRIPLE_WILD]:
                times = 3
            elif pile[WILD_COUNT + DOUBLE_WILD]:
                times = 2
            value = -worth(pile) * (np.int64(pile[POINTS]) * (times - 1) // times)
        else:
            value = np.int64(pile[POINTS])
        if value > best_value:
            best, best_value = i, value
    return PILE + best


@kernel
def choose_wild(o, options):
    """Choose the wild to lay in front of an opponent, or the one that comes out of a pile."""
    if o.play[3]:
        own = o.piles[place_of(o.play_pile, MAX_PILES)][OWNER]
        for wild in (TRIPLE_WILD, DOUBLE_WILD) if own else (0, DOUBLE_WILD):
            if (options >> wild) & 1:
                return WILD + wild
        return WILD + lowest(options)
    for wild in (TRIPLE_WILD, DOUBLE_WILD, SUPER, 0):
        if (options >> wild) & 1:
            return WILD + wild
    return WILD + lowest(options)


@kernel
def choose_end(o, options):
    """Choose the end of a run for a wild: where the hand can go on, else where there is less room left."""
    pile = o.piles[place_of(o.play_pile, MAX_PILES)]
    colour = place_of(pile[COLOUR:], NUM_COLOURS)
    low = place_of(pile[NATURAL:], NUM_NUMBERS)
    if low > 0 and pile[WILD_CELL + low - 1]:
        low -= 1
    high = low + np.int64(pile[SIZE]) - 1
    beyond_low = low >= 2 and o.hand[colour * NUM_NUMBERS + low - 2] > 0
    beyond_high = high <= NUM_NUMBERS - 3 and o.hand[colour * NUM_NUMBERS + high + 2] > 0
    if beyond_low != beyond_high:
        return END + (LOW if beyond_low else HIGH)
    return END + (LOW if low < NUM_NUMBERS - 1 - high else HIGH)


@kernel
def choose_seat(bot, o):
    """Choose whom to give a pile: greedy who is furthest from going out, which would make it worth nothing (S28)."""
    best, best_value = 1, -(1 << 40)
    for rel in range(1, players_of(o)):
        value = -np.int64(o.table_points[rel]) if bot == RULEBOOK else np.int64(o.hand_size[rel])
        if value > best_value:
            best, best_value = rel, value
    return SEAT + best - 1


# New piles --------------------------------------------------------------------------------------------------------------


@kernel
def promise(cards):
    """Return how much `cards` can still become: what is there of sets and runs."""
    once, twice, thrice = 0, 0, 0
    found = 0
    for colour in range(NUM_COLOURS):
        numbers = row(cards, colour)
        thrice |= twice & numbers
        twice |= once & numbers
        once |= numbers
        next_to = numbers & (numbers >> 1)
        found += PROMISE_PILE * popcount(next_to & (numbers >> 2)) + PROMISE_PAIR * popcount(next_to)
        found += PROMISE_GAP * popcount(numbers & (numbers >> 2))
    return found + PROMISE_PILE * popcount(thrice) + PROMISE_PAIR * popcount(twice)


@kernel
def new_pile(o, legal, cards, wilds):
    """Return the best legal set or run, with wilds or without, NOTHING if there is none."""
    best, best_value = NOTHING, -1
    for w in range(SETS >> 6, ((ADD - 1) >> 6) + 1):
        word = legal[w]
        if w == SETS >> 6:
            word &= ~np.uint64((1 << (SETS & 63)) - 1)
        if w == ADD >> 6:
            word &= np.uint64((1 << (ADD & 63)) - 1)
        while word != np.uint64(0):
            a = w * 64 + bits.lowest(word)
            word &= word - np.uint64(1)
            if pattern_has_wild(a) == wilds:
                value = value_of_new_pile(o, cards, a)
                if value > best_value:
                    best, best_value = a, value
    return best


@kernel
def value_of_new_pile(o, cards, action):
    """Return how good a set or run is: what the rest of the hand can still become, and go on with."""
    naturals = pattern_naturals(action)
    held = place_of(o.held, NUM_ADD)
    spent = naturals
    if held != NOTHING:
        spent &= ~(1 << held)
    left = without(o, cards, spent) & NATURAL_BITS
    value = promise(left)
    if action < RUNS:
        number = (action - SETS) // SET_PATTERNS
        for colour in range(NUM_COLOURS):
            natural = colour * NUM_NUMBERS + number
            if (naturals >> natural) & 1 == 0 and (left >> natural) & 1:
                value += GOES_ON
    else:
        colour = (action - RUNS) // (RUN_PATTERNS * RUN_LOWS)
        low = (action - RUNS) // RUN_PATTERNS % RUN_LOWS
        numbers = row(left, colour)
        if low > 0 and (numbers >> (low - 1)) & 1:
            value += GOES_ON
        if (numbers >> (low + 3)) & 1:
            value += GOES_ON
    return value


# Discard ----------------------------------------------------------------------------------------------------------------


@kernel
def prospects(o, cards, natural):
    """Return how likely a natural of the hand is to be played: unseen cards that complete what it has begun, and more."""
    colour = natural // NUM_NUMBERS
    number = natural % NUM_NUMBERS
    value = 0
    for first in range(NUM_COLOURS):
        if first != colour:
            for second in range(first + 1, NUM_COLOURS):
                if second != colour:
                    a, b = first * NUM_NUMBERS + number, second * NUM_NUMBERS + number
                    value += prospect(o, cards, a, b)
    start = colour * NUM_NUMBERS
    for low in range(max(0, number - 2), min(NUM_NUMBERS - 3, number) + 1):
        a = low if low < number else low + 1
        b = low + 2 if low + 2 > number else low + 1
        value += prospect(o, cards, start + a, start + b)
    return value


@kernel
def prospect(o, cards, a, b):
    """Return what a set or run of a card with a and b promises."""
    here = ((cards >> a) & 1) + ((cards >> b) & 1)
    if here == 2:
        return KEEP_BOTH
    if here == 1:
        missing = b if (cards >> a) & 1 else a
        return KEEP_ONE * np.int64(o.unseen[missing])
    return np.int64(o.unseen[a]) * np.int64(o.unseen[b])


@kernel
def choose_discard(o, options, cards):
    """Choose what to discard, among the bits `options`: what is least likely to be played, by oneself or the next."""
    best, best_value = 0, 1 << 40
    threat = 127
    for rel in range(1, players_of(o)):
        threat = min(threat, np.int64(o.hand_size[rel]))
    while options:
        kind = lowest(options)
        options &= options - 1
        if is_natural(kind):
            value = prospects(o, cards, kind)
            value -= prospects(o, 0, kind) // 2  # what the next player may hold of it
            if o.hand[kind] > 1:
                value = value // 2
        elif is_wild(kind):
            value = KEEP_WILD - (DEAR * HAND_POINTS[kind] if threat <= ABOUT_TO_GO_OUT else 0)
        elif kind == PASS_A_PILE:
            value = KEEP_PASS
        else:
            value = KEEP_BACK
        if value < best_value:
            best, best_value = kind, value
    return DISCARD + best


# Greedy -----------------------------------------------------------------------------------------------------------------


@kernel
def accepts_by(o, own):
    """Return what the piles in front of the observer take, or those of all others."""
    accepts = 0
    for i in range(o.num_piles):
        pile = o.piles[i]
        if (pile[OWNER] != 0) == own:
            accepts |= takes(pile)
    return accepts


@kernel
def best_add(o, options, cards, accepts):
    """Return the best add among the bits `options` that goes where `accepts` says, NOTHING if there is none."""
    naturals = options & accepts & NATURAL_BITS
    best, best_value = NOTHING, 1 << 40
    while naturals:
        natural = lowest(naturals)
        naturals &= naturals - 1
        value = promise_of(o, cards, natural)
        if value < best_value:
            best, best_value = natural, value
    if best != NOTHING:
        return ADD + best
    if accepts & TAKES_WILD or (options >> NUM_NATURALS and accepts & (BRIDGE_LOW | BRIDGE_HIGH)):
        for wild in (TRIPLE_WILD, DOUBLE_WILD, SUPER, 0):
            if (options >> (FIRST_WILD + wild)) & 1:
                return ADD + FIRST_WILD + wild
    return NOTHING


@kernel
def promise_of(o, cards, natural):
    """Return what the hand loses in promise without a natural."""
    return promise(cards) - promise(without(o, cards, 1 << natural))


@kernel
def substitution(o, options, cards, lays):
    """Return the best substitution among the bits `options`, NOTHING if none; `lays`: its wild must lay a pair of the hand."""
    best, best_value = NOTHING, -1
    while options:
        natural = lowest(options)
        options &= options - 1
        left = without(o, cards, 1 << natural)
        if not lays or lays_with_wild(left):
            value = promise(left)
            if value > best_value:
                best, best_value = natural, value
    if best == NOTHING:
        return NOTHING
    return SUBSTITUTE + best


@kernel
def place_held(o, legal, cards):
    """Place the card held: in a new pile, without a further wild if possible, else on a pile."""
    held = place_of(o.held, NUM_ADD)
    action = new_pile(o, legal, cards, not is_natural(held))
    if action == NOTHING and is_natural(held) and accepts_by(o, False) >> held & 1 == 0:
        action = new_pile(o, legal, cards, True)
    if action != NOTHING:
        return action
    if bits.contains(legal, ADD + held):
        return ADD + held
    return new_pile(o, legal, cards, True)


@kernel
def greedy_play(o, legal):
    """Play, or discard when nothing can be played."""
    cards = cards_of(o)
    if place_of(o.held, NUM_ADD) != NOTHING:
        return place_held(o, legal, cards)
    action = new_pile(o, legal, cards, False)
    if action != NOTHING:
        return action
    spare = spare_cards(o)
    takable = bits.contains(legal, TAKE)
    top = top_of_discard(o)
    if takable and spare >= 2:
        if is_natural(top):
            if lays_with_natural(cards & NATURAL_BITS, top):
                return TAKE
        elif lays_with_wild(cards):
            return TAKE
    swaps = section(legal, SUBSTITUTE, NUM_SUBSTITUTE)
    if swaps and spare >= 3:
        action = substitution(o, swaps, cards, True)
        if action != NOTHING:
            return action
    action = new_pile(o, legal, cards, True)
    if action != NOTHING:
        return action
    adds = section(legal, ADD, NUM_ADD)
    if adds or takable:
        others = accepts_by(o, False)
        if takable and ((is_natural(top) and (others >> top) & 1) or (is_wild(top) and others & TAKES_WILD)):
            return TAKE
    if bits.contains(legal, PASS):
        return PASS
    if adds:
        action = best_add(o, adds, cards, others)
        if action != NOTHING:
            return action
    if swaps:
        return substitution(o, swaps, cards, False)
    if adds:
        action = best_add(o, adds, cards, accepts_by(o, True))
        if action != NOTHING:
            return action
    return choose_discard(o, section(legal, DISCARD, NUM_KINDS), cards)


# Rulebook ---------------------------------------------------------------------------------------------------------------


@kernel
def rulebook_play(o, legal):
    """Play in the order of strategy suggestion 8."""
    cards = cards_of(o)
    if place_of(o.held, NUM_ADD) != NOTHING:
        return place_held(o, legal, cards)
    swaps = section(legal, SUBSTITUTE, NUM_SUBSTITUTE)
    if swaps:
        return substitution(o, swaps, cards, False)
    if bits.contains(legal, TAKE):
        return TAKE
    action = new_pile(o, legal, cards, False)
    if action == NOTHING:
        action = new_pile(o, legal, cards, True)
    if action != NOTHING:
        return action
    adds = section(legal, ADD, NUM_ADD)
    if adds:
        return ADD + lowest(adds)
    if bits.contains(legal, PASS):
        return PASS
    return choose_discard(o, section(legal, DISCARD, NUM_KINDS), cards)


# The dispatch -----------------------------------------------------------------------------------------------------------


@kernel
def choose(bot, option, o, legal, key):
    """Choose an action as `bot`, under the draw rule `option`."""
    phase = place_of(o.phase, o.phase.shape[0])
    if phase == Phase.DRAW:
        return draw(bot, option, o, legal, key)
    if bot == RANDOM:
        return bits.nth(legal, below(key, 0, bits.count(legal)))
    if phase == Phase.PLAY:
        if bot == RULEBOOK:
            return rulebook_play(o, legal)
        return greedy_play(o, legal)
    if phase == Phase.RESPOND:
        return RETURN if bits.contains(legal, RETURN) else ACCEPT
    if phase == Phase.SEAT:
        return choose_seat(bot, o)
    if phase == Phase.PILE:
        return choose_pile(o, section(legal, PILE, NUM_PILE))
    if phase == Phase.WILD:
        return choose_wild(o, section(legal, WILD, NUM_WILD))
    return choose_end(o, section(legal, END, 2))
