"""The engine against the naive reference: whole rounds, decision by decision, under every option."""

import random
from collections import Counter

import numpy as np
import pytest

from sting_env import StingGame
from tabletop.game import PositionError
from tests.naive.sting import NaiveSting, comparable
from tests.sting.players import choose, fresh
from tests.sting.table import (
    ACCEPT,
    ADD,
    COLOURS,
    DISCARD,
    END,
    KINDS,
    LAY,
    PASS,
    PILE,
    RETURN,
    SEAT,
    SUBSTITUTE,
    TAKE,
    WILD,
    WILDS,
    deck,
    position,
    run,
    set_of,
)
from tests.sting.test_piles import is_legal_pile

ROUNDS, DECISIONS = 400, 42_000  # in a chunk, at least
CHUNKS = 25


def random_options(rng):
    """Draw options: most games have the defaults in most of them."""
    options = {
        "hand_size": rng.choice([10, 10, 7, 3, 13]),
        "special_cards": rng.random() > 0.1,
        "open_hands": rng.random() < 0.1,
        "discard_to_go_out": rng.random() < 0.25,
        "max_turns": rng.choice([500, 500, 80, 60, 11]),
        "substitution": rng.random() > 0.15,
        "stack_multipliers": rng.random() > 0.3,
        "face_values": rng.random() < 0.3,
        "rounds": rng.choice([1, 2, 3, 4, None]),
        "target_score": rng.choice([None, 60, 150]),
        "reward": rng.choice(["margin", "win"]),
    }
    if options["rounds"] is None and options["target_score"] is None:
        options["target_score"] = 100
    return options


class Pair:
    """Play one lane and the naive reference side by side."""

    def __init__(self, game, states, lane):
        self.game, self.states, self.lane = game, states, lane
        self.naive = NaiveSting.from_dict(self.position(), self.reshuffle)
        self.events = Counter()

    def position(self):
        return self.game.to_dict(self.states[self.lane])

    def reshuffle(self, cards):
        """Tell the reference how the engine has shuffled: the drawn cards go back onto the stack of who drew (S7)."""
        self.events["reshuffle"] += 1
        after = self.position()
        player = self.naive.current_player
        drawn = Counter(after["hands"][player]) - Counter(self.naive.hands[player])
        stacks = [list(stack) for stack in after["draw_stacks"]]
        stacks[player] += drawn.elements()
        assert len(after["discard_pile"]) == 1
        return stacks, after["discard_pile"][0]

    def follow(self, action, rewards):
        """Let the reference make the decision that the engine has made, and compare what comes of it."""
        naive = self.naive
        state = self.states[self.lane]
        self.count(action)
        piles, cards = len(naive.piles), sum(len(pile.cards) for pile in naive.piles)
        naive.apply(action)
        self.events["bridge"] += (piles, cards + 2) == (len(naive.piles), sum(len(pile.cards) for pile in naive.piles))
        if naive.phase in ("DEAL", "OVER"):
            self.events["round"] += 1
            self.events["blocked" if naive.last_out < 0 else "out"] += 1
            self.events["out of turn"] += naive.last_out not in (-1, naive.turn_player)
            assert state["round_points"][: naive.num_players].tolist() == naive.round_points
            assert state["last_out"] == naive.last_out
        assert rewards[: naive.num_players].tolist() == pytest.approx(naive.rewards, abs=1e-6)
        assert not rewards[naive.num_players :].any()
        if naive.phase == "DEAL":
            naive.start_round(self.position())  # refuses whatever is no deal of the next round

    def count(self, action):
        sections = (LAY, ADD, SUBSTITUTE, DISCARD, WILD, SEAT, PILE, END)
        names = ("lay", "add", "substitute", "discard", "wild", "seat", "pile", "end")
        self.events["decisions"] += 1
        self.events.update(name for name, section in zip(names, sections) if action in section)
        singles = {0: "draw 1", 1: "draw 2", TAKE: "take", PASS: "pass", ACCEPT: "accept", RETURN: "return"}
        self.events.update([singles[action]] if action in singles else [])

    def compare(self, legal, wholly):
        """Compare the decision that is next, and now and then all that lies on the table."""
        naive, state = self.naive, self.states[self.lane]
        phase = self.game.spec.phases[state["phase"]]
        where = f"decision {self.events['decisions']}: {naive.to_dict()}"
        assert (int(state["current_player"]), phase) == (naive.current_player, naive.phase), where
        assert legal.tolist() == naive.legal_actions(), where
        if naive.phase == "OVER":
            assert state["totals"][: naive.num_players].tolist() == naive.totals
            assert state["rounds_done"] == naive.round + 1
            assert self.game.result(state)["winners"] == naive.winners
        elif wholly:
            self.events["whole positions"] += 1
            assert comparable(self.position()) == comparable(naive.to_dict()), where


def play(options, num_players, seed, rng):
    """Play one game in each lane, engine and reference side by side, and count what happens."""
    game = StingGame(**options)
    states = fresh(game, np.arange(len(num_players)) + seed, num_players)
    pairs = [Pair(game, states, lane) for lane in range(len(states))]
    hungry = rng.choice([0.0, 0.0, 0.5, 0.9, 1.0], len(states))
    returns = np.zeros((len(states), 6), np.float32)
    while True:
        mask = game.legal_action_mask(states)
        for lane, pair in enumerate(pairs):
            if pair.naive.phase != "OVER" or mask[lane].any():
                pair.compare(np.flatnonzero(mask[lane]), rng.random() < 0.2)
        if game.terminated(states).all():
            break
        running = np.flatnonzero(~game.terminated(states))
        actions = choose(rng, mask, hungry)
        game.step(states, actions)
        rewards = game.rewards(states)
        returns += rewards
        for lane in running:
            pairs[lane].follow(int(actions[lane]), rewards[lane])
    for lane, pair in enumerate(pairs):
        pair.compare(np.flatnonzero(mask[lane]), True)
    assert np.array_equal(returns, game.returns(states))
    return sum((pair.events for pair in pairs), Counter())


def play_chunk(chunk):
    options_rng, rng = random.Random(chunk), np.random.default_rng(chunk)
    events = Counter()
    game = 0
    while events["round"] < ROUNDS or events["decisions"] < DECISIONS:
        num_players = 2 + (np.arange(5) + game) % 5
        events += play(random_options(options_rng), num_players, 1_000_000 * chunk + 10 * game, rng)
        game += 1
    return events


def check(events):
    assert events["round"] >= ROUNDS
    assert events["decisions"] >= DECISIONS
    assert events["whole positions"] > DECISIONS / 6
    often = ["reshuffle", "blocked", "out", "return", "substitute", "take", "wild", "end", "pile", "pass"]
    assert {name: events[name] for name in often if events[name] < 10} == {}


def test_400_rounds():
    check(play_chunk(0))


@pytest.mark.slow
@pytest.mark.parametrize("chunk", range(1, CHUNKS + 1))
def test_10_000_rounds_and_a_million_decisions(chunk):
    assert CHUNKS * ROUNDS == 10_000
    assert CHUNKS * DECISIONS > 1_000_000
    check(play_chunk(chunk))


# From positions that play seldom comes to: crowded tables, many wilds, few cards --------------------------------------


def random_pile(rng, owner):
    """Give a set or a run; most are legal, and many a run that takes a third wild with a natural only (S18)."""
    if rng.random() < 0.3:
        colour, start = rng.choice(COLOURS), rng.randint(1, 6)
        first, second = rng.choices(WILDS[:3], k=2)
        return run(owner, f"{colour}{start}", first, f"{colour}{start + 2}", second, f"{colour}{start + 4}")
    size = rng.randint(3, 4) if rng.random() < 0.3 else rng.randint(3, 10)
    wilds = rng.choices(WILDS, [4, 4, 2, 1], k=rng.randint(0, 1 if size == 3 else 2 if size < 7 else 3))
    if size <= 4 and rng.random() < 0.5:
        number = rng.randint(1, 10)
        naturals = [f"{colour}{number}" for colour in rng.sample(COLOURS, size - len(wilds))]
        return set_of(owner, *naturals, *wilds)
    colour, start = rng.choice(COLOURS), rng.randint(1, 11 - size)
    cards = [f"{colour}{start + place}" for place in range(size)]
    for place, wild in zip(
        rng.sample(range(0, size, 1 + (rng.random() < 0.7)), min(len(wilds), (size + 1) // 2)), wilds
    ):
        cards[place] = wild
    return run(owner, *cards)


def random_position(rng, options):
    """Give a position before a play, with piles of every shape and hands of few cards and many wilds."""
    num_players = rng.randint(2, 4)
    rest = deck()
    piles = []
    for _ in range(rng.randint(0, 7)):
        pile = random_pile(rng, rng.randrange(num_players))
        if is_legal_pile(pile["kind"], pile["cards"]) and not Counter(pile["cards"]) - rest:
            rest -= Counter(pile["cards"])
            piles.append(pile)
    runs = [pile for pile in piles if pile["kind"] == "run"]
    beyond = [f"{pile['colour']}{pile['start'] + place}" for pile in runs for place in (-2, len(pile["cards"]) + 1)]
    wanted = {*KINDS[40:], *beyond}
    hands = []
    for _ in range(num_players):
        cards = sorted(rest.elements(), key=lambda card: rng.random() * (0.4 if card in wanted else 1.0))
        hands.append(cards[: rng.choice([1, 1, 2, 2, 3, 4, 6, 9])])
        rest -= Counter(hands[-1])
    cards = sorted(rest.elements(), key=lambda card: rng.random())
    discard = [cards.pop() for _ in range(rng.randint(1, 5))]
    phase = rng.choice(["PLAY", "PLAY", "DRAW"])
    held = cards.pop() if phase == "PLAY" and rng.random() < 0.4 else None
    undrawn = cards[: rng.choice([0, 1, 2, 3, 200])]
    stacks = [undrawn[seat::num_players] for seat in range(num_players)]
    given = {"held": held, "phase": phase, "config": options, "turn": rng.choice([0, 0, 8, 9])}
    return position(hands, piles, discard=discard, stacks=stacks, **given)


def outcome(make):
    """Give what is made, None if it is refused as impossible."""
    try:
        return make()
    except (PositionError, ValueError):
        return None


def test_from_any_position():
    rng, choices = random.Random(2), np.random.default_rng(2)
    events = Counter()
    for _ in range(1200):
        options = {
            "discard_to_go_out": rng.random() < 0.3,
            "substitution": rng.random() > 0.1,
            "stack_multipliers": rng.random() > 0.3,
            "face_values": rng.random() < 0.3,
            "max_turns": 10,
            "rounds": 1,
        }
        game, start = StingGame(**options), random_position(rng, options)
        states = outcome(lambda game=game, start=start: game.from_dict(start))
        naive = outcome(lambda start=start: NaiveSting.from_dict(start))
        assert (states is None) == (naive is None), start
        if states is None:
            events["refused"] += 1
            continue
        pair = Pair(game, states, 0)
        for _ in range(15):
            mask = game.legal_action_mask(states)
            pair.compare(np.flatnonzero(mask[0]), True)
            if game.terminated(states)[0]:
                break
            action = int(choose(choices, mask, 0.9)[0])
            game.step(states, [action])
            pair.follow(action, game.rewards(states)[0])
        events += pair.events
    assert events["refused"] < 400
    assert events["decisions"] > 7000
    assert min(events[name] for name in ("bridge", "end", "wild", "substitute", "return", "reshuffle")) > 20, events
