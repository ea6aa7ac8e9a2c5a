"""What a player sees: all that is public and the own hand, field by field, and nothing else."""

import hashlib
from collections import Counter

import numpy as np
import pytest

from sting_env import StingGame
from tabletop.game import flat
from tests.sting.players import choose, fresh
from tests.sting.table import COLOURS, KINDS, NATURALS, WILDS, Table, in_order, pile_cards, run, set_of

PHASES = ["DRAW", "PLAY", "WILD", "SEAT", "PILE", "END", "RESPOND", "OVER"]
OPTION_FIELDS = [
    "special_cards", "open_hands", "discard_to_go_out", "substitution", "stack_multipliers", "face_values",
]  # fmt: skip
OPTIONS = [
    {},
    {"discard_to_go_out": True, "hand_size": 7, "rounds": 3, "target_score": 90},
    {"special_cards": False, "open_hands": True, "face_values": True, "rounds": None, "target_score": 200},
    {"stack_multipliers": False, "substitution": False, "max_turns": 40, "rounds": 9, "face_values": True},
]


def collect(options, steps=240, lanes=20, hungry=0.9, seed=1):
    """Give a game and states of its course."""
    game = StingGame(**options)
    rng = np.random.default_rng(seed)
    states = fresh(game, range(lanes), 2 + np.arange(lanes) % 5)
    course = []
    for _ in range(steps):
        course.append(states.copy())
        game.step(states, choose(rng, game.legal_action_mask(states), hungry))
    return game, course


# The decoder: what an observation ought to be, from the JSON of the contract ------------------------------------------


def one_hot(index, size):
    return [int(place == index) for place in range(size)]


def counts(cards):
    counted = Counter(cards)
    return [counted[kind] for kind in KINDS]


def points_of(pile, options):
    """Score a pile (S29, S31)."""
    cards = pile["cards"]
    points = sum(int(card[1:]) if card in NATURALS and options["face_values"] else 1 for card in cards)
    doubles, triples = cards.count("D"), cards.count("T")
    if not options["stack_multipliers"]:
        doubles, triples = min(doubles, 1), min(triples, 1)
    return points * 2**doubles * 3**triples


def expected(config, now, observer):
    """Give every field of an observation as lists, from a position."""
    options = {name: getattr(config, name) for name in OPTION_FIELDS}
    n = len(now["hands"])

    def rel(seat):
        return (seat - observer) % n if seat is not None and seat >= 0 else None

    def seats(values, fill=0):
        turned = [values[(observer + place) % n] for place in range(n)]
        return turned + [fill] * (6 - n)

    def capped(value):
        return max(-127, min(127, value))

    pending = now["pending"]
    words = pending.get("play", "").split()
    kind = words[0] if words else None
    number = pattern = colour = card = None
    if kind == "set":
        number = int(words[1]) - 1
        colours = [COLOURS.index(word) for word in words[2:] if word != "*"]
        pairs = [[0, 1], [0, 2], [0, 3], [1, 2], [1, 3], [2, 3]]
        pattern = 4 + pairs.index(colours) if "*" in words else ({0, 1, 2, 3} - set(colours)).pop()
    elif kind == "run":
        colour, number = COLOURS.index(words[1][0]), int(words[1][1:].split("-")[0]) - 1
        pattern = int(words[2][1:]) - number if len(words) > 2 else 0
    elif kind in ("add", "substitute"):
        card = KINDS.index(words[1])
    own = now["hands"][observer]
    hidden = [card for seat, hand in enumerate(now["hands"]) if seat != observer for card in hand]
    hidden += [card for stack in now["draw_stacks"] for card in stack]
    discard = now["discard_pile"]
    table = [0] * n
    for pile in now["piles"]:
        table[pile["owner"]] += points_of(pile, options)
    totals = now["totals"]
    target = config.target_score
    rounds_left = 127 if config.rounds is None else capped(config.rounds - now["round"])
    open_hands = [[0] * 46 for _ in range(5)]
    if options["open_hands"]:
        for place in range(1, n):
            open_hands[place - 1] = counts(now["hands"][(observer + place) % n])
    return {
        "phase": one_hot(PHASES.index(now["phase"]), 8),
        "num_players": one_hot(n - 2, 5),
        "current_player": one_hot(rel(now["current_player"]), 6),
        "turn_player": one_hot(rel(now["turn_player"]), 6),
        "dealer": one_hot(rel(now["dealer"]), 6),
        "options": [int(options[name]) for name in OPTION_FIELDS],
        "hand": counts(own),
        "hand_size": seats([len(hand) for hand in now["hands"]]),
        "open_hands": open_hands,
        "held": one_hot(KINDS.index(now["held"]) if now["held"] else None, 44),
        "play": [int(kind == name) for name in ("set", "run", "add", "substitute", "pass")],
        "play_number": one_hot(number, 10),
        "play_pattern": one_hot(pattern, 10),
        "play_colour": one_hot(colour, 4),
        "play_card": one_hot(card, 44),
        "play_wild": one_hot(pending.get("chosen_wild"), 4),
        "play_pile": one_hot(pending.get("chosen_pile"), 30),
        "passer": one_hot(rel(pending.get("passer")), 6),
        "receiver": one_hot(rel(pending.get("receiver")), 6),
        "first_out": one_hot(rel(pending.get("first_out")), 6),
        "discard_top": [
            one_hot(KINDS.index(discard[-1 - depth]) if depth < len(discard) else None, 46) for depth in range(4)
        ],
        "discard": counts(discard),
        "discard_size": len(discard),
        "draw_size": sum(len(stack) for stack in now["draw_stacks"]),
        "unseen": counts(hidden),
        "num_piles": len(now["piles"]),
        "table_points": seats([capped(points) for points in table]),
        "totals": seats([capped(total) for total in totals]),
        "lead": seats([capped(total - totals[observer]) for total in totals]),
        "rounds_done": capped(now["round"]),
        "rounds_left": rounds_left,
        "to_target": seats([127 if target is None else capped(target - total) for total in totals]),
        "turn": capped(now["turn"]),
        "turns_left": capped(config.max_turns - now["turn"]),
    }


def check_piles(rows, now, observer, config):
    """Compare the rows of `piles` with a position."""
    n = len(now["hands"])
    assert not rows[len(now["piles"]) :].any()
    for row, pile in zip(rows, now["piles"]):
        cards = pile["cards"] if pile["kind"] == "run" else in_order(pile["cards"])
        assert pile_cards(row) == (pile["kind"], tuple(cards))
        assert row[:6].tolist() == one_hot((pile["owner"] - observer) % n, 6)
        assert row[32:36].tolist() == [cards.count(wild) for wild in WILDS]
        assert row[36] == len(cards)
        assert row[37] == min(127, points_of(pile, {name: getattr(config, name) for name in OPTION_FIELDS}))
        assert row[38] == ("S" in cards)


@pytest.mark.parametrize("options", OPTIONS)
def test_every_field_says_what_the_position_says(options):
    game, course = collect(options)
    checked = Counter()
    for step, states in enumerate(course[::3]):
        states = states[step % 2 :: 2]
        for rel in range(3):
            observers = (np.maximum(states["current_player"], 0) + rel) % states["num_players"]
            for state, seen, observer in zip(states, game.observe(states, observers), observers):
                now = game.to_dict(state)
                want = expected(game.config, now, int(observer))
                assert set(want) | {"piles"} == set(seen.dtype.names)
                for name, value in want.items():
                    if now["phase"] == "OVER" and name == "first_out":
                        continue
                    assert seen[name].tolist() == value, f"{name} of {now}"
                check_piles(seen["piles"], now, int(observer), game.config)
                checked[now["phase"]] += 1
    assert min(checked[phase] for phase in ("DRAW", "PLAY", "PILE", "SEAT")) > 5


@pytest.mark.parametrize("options", OPTIONS)
def test_none_is_the_player_on_turn(options):
    game, course = collect(options, steps=100)
    for states in course[::10]:
        running = ~game.terminated(states)
        observers = np.where(running, states["current_player"], 0)
        assert np.array_equal(game.observe(states), game.observe(states, observers))


def test_large_numbers_are_written_as_127():
    pile = run(1, "T", "R4", "D", "R6", "T", "R8", "R9", "R10")
    config = {"face_values": True, "max_turns": 1000, "rounds": None, "target_score": 1000}
    table = Table([["R1"], ["R2"], ["R3"]], [pile], config=config, totals=[300, 128, 5], turn=400, round=200)
    seen = table.game.observe(table.states)[0]
    assert seen["piles"][0][37] == 127
    assert seen["table_points"].tolist() == [0, 127, 0, 0, 0, 0]
    assert seen["totals"].tolist() == [127, 127, 5, 0, 0, 0]
    assert seen["lead"].tolist() == [0, -127, -127, 0, 0, 0]
    assert seen["to_target"].tolist() == [127, 127, 127, 0, 0, 0]
    assert [seen[name] for name in ("rounds_done", "rounds_left", "turn", "turns_left")] == [127] * 4


def test_several_piles_add_up_to_127_at_most():
    piles = [run(1, "T", "R4", "D", "R6", "T", "R8", "R9"), set_of(1, "R5", "B5", "D", "D"), run(1, "G1", "G2", "G3")]
    piles += [run(1, "D", "Y4", "S", "Y6", "W", "Y8", "Y9")]
    table = Table([["R1"], ["R2"]], piles)
    assert table.game.observe(table.states)[0]["table_points"].tolist() == [0, 127, 0, 0, 0, 0]


# The same observation, the same actions -------------------------------------------------------------------------------


def test_the_observation_determines_the_legal_actions():
    """Over many states of many games: never one observation with two sets of legal actions."""
    known = {}
    repeated = 0
    for seed, options in enumerate(
        [*OPTIONS, {"hand_size": 1, "rounds": 50}, {"hand_size": 2, "special_cards": False}]
    ):
        game, course = collect(options, steps=300, lanes=60, seed=seed)
        for states in course:
            states = states[~game.terminated(states)]
            seen, masks = flat(game.observe(states)), game.legal_action_mask(states)
            for data, mask in zip(seen, masks):
                key, legal = hashlib.blake2b(data.tobytes(), digest_size=16).digest(), np.packbits(mask).tobytes()
                repeated += key in known
                assert known.setdefault(key, legal) == legal
    assert len(known) > 50_000


def test_what_is_hidden_does_not_change_the_legal_actions():
    """Deal everything hidden anew, and shuffle what lies deep in the discard pile: the same observation and actions."""
    rng = np.random.default_rng(5)
    for options in OPTIONS:
        game, course = collect(options, steps=120)
        for states in course[::4]:
            states = states[~game.terminated(states)]
            worlds = game.determinize(states, None, rng.integers(0, 2**63, len(states), dtype=np.uint64), worlds=2)
            assert np.array_equal(game.observe(worlds), np.repeat(game.observe(states), 2))
            assert np.array_equal(game.legal_action_mask(worlds), np.repeat(game.legal_action_mask(states), 2, axis=0))
        for state in states[::4]:
            now = game.to_dict(state)
            deep = now["discard_pile"][:-4]
            now["discard_pile"] = [*rng.permutation(deep).tolist(), *now["discard_pile"][-4:]]
            other = game.from_dict(now)
            assert np.array_equal(game.observe(other), game.observe(np.array([state])))
            assert np.array_equal(game.legal_action_mask(other), game.legal_action_mask(np.array([state])))


def test_others_are_not_told_what_is_legal():
    """An observation for who is not on turn is the same whatever the player on turn holds."""
    hands = [["R4", "R5", "R6", "B1"], ["G1"], ["G2"]]
    other = [["Y4", "B5", "G6", "B1"], ["G1"], ["G2"]]
    one, two = Table(hands), Table(other)
    for observer in (1, 2):
        seen = [table.game.observe(table.states, observer) for table in (one, two)]
        assert np.array_equal(*seen)
    assert not np.array_equal(*(table.game.observe(table.states, 0) for table in (one, two)))


# Form -----------------------------------------------------------------------------------------------------------------


def test_the_flat_vector_has_no_gaps_and_is_small():
    dtype = StingGame.spec.observation_dtype
    assert sum(dtype[name].itemsize for name in dtype.names) == dtype.itemsize == StingGame.spec.observation_size < 2048
    assert all(dtype[name].base == np.int8 for name in dtype.names)
    game = StingGame()
    seen = game.observe(fresh(game, range(4)))
    vector = flat(seen)
    assert vector.shape == (4, dtype.itemsize)
    assert vector.dtype == np.int8
    assert np.shares_memory(vector, seen)
    for name, place in game.spec.observation_slices().items():
        assert np.array_equal(vector[:, place], seen[name].reshape(4, -1))


def test_the_description_covers_every_byte():
    game = StingGame()
    lines = game.describe_observation().splitlines()
    end = 0
    for line, name in zip(lines[1:], game.spec.observation_dtype.names, strict=True):
        field, place, shape, who, meaning = line.split(None, 4)
        start, stop = map(int, place.split(":"))
        assert (field, start) == (name, end)
        assert stop - start == np.prod([int(size) for size in shape.split("x")])
        assert who == ("private" if name in ("hand", "unseen") else "public")
        assert len(meaning) > 4
        end = stop
    assert end == game.spec.observation_size


def test_every_observation_is_written_anew():
    game, course = collect({}, steps=60)
    out = np.ones(len(course[0]), game.spec.observation_dtype)
    flat(out)[:] = 99
    for states in course[::20]:
        game.observe(states, out=out)
        assert np.array_equal(out, game.observe(states))


@pytest.mark.parametrize("options", OPTIONS)
def test_observe_all_shows_everything(options):
    game, course = collect(options, steps=90)
    for states in course[::15]:
        whole = game.observe_all(states)
        seen = game.observe(states)
        for name in seen.dtype.names:
            assert np.array_equal(whole[name], seen[name])
        for state, full in zip(states, whole):
            now = game.to_dict(state)
            n, observer = len(now["hands"]), max(now["current_player"], 0)
            for rel in range(6):
                hand, stack = [], []
                if rel < n:
                    hand, stack = now["hands"][(observer + rel) % n], now["draw_stacks"][(observer + rel) % n]
                assert full["hands"][rel].tolist() == counts(hand)
                assert full["next_card"][rel].tolist() == counts(stack[-1:])
            assert full["undrawn"].tolist() == counts(card for stack in now["draw_stacks"] for card in stack)
