"""The engine against the naive reference: whole rounds, decision by decision, under every option."""

import random
from collections import Counter

import numpy as np
import pytest

from sting_env import StingGame
from tests.naive.sting import NaiveSting, comparable
from tests.sting.players import choose, fresh
from tests.sting.table import ACCEPT, ADD, DISCARD, END, LAY, PASS, PILE, RETURN, SEAT, SUBSTITUTE, TAKE, WILD

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
            assert state["round"] == naive.round + 1
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
    assert {name: events[name] for name in often if events[name] < 50} == {}
    assert events["out of turn"] > 0
    assert events["bridge"] > 0


def test_400_rounds():
    check(play_chunk(0))


@pytest.mark.slow
@pytest.mark.parametrize("chunk", range(1, CHUNKS + 1))
def test_10_000_rounds_and_a_million_decisions(chunk):
    assert CHUNKS * ROUNDS == 10_000
    assert CHUNKS * DECISIONS > 1_000_000
    check(play_chunk(chunk))
