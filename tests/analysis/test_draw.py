"""Sting's question: what is asked, what is noted, and that worlds differ in nothing but what nobody has seen."""

import numpy as np
import pytest

from agents.registry import make_agent
from analysis.rollouts import find, pair, seat_agents
from analysis.sting_draw import DRAW, FREE, hand_points, measure, stuckness
from sting_env import StingGame
from sting_env.rules import DRAW_ONE, DRAW_TWO
from tabletop.jit import COMPILED

GAMES = 60 if COMPILED else 2


def found(num_players=3, explore=0.3, **options):
    game = StingGame(num_players=num_players, rounds=1, **options)
    agents = seat_agents(game, ("greedy",))
    return game, agents, find(DRAW, game, agents, agents[0], 5, 0, GAMES, 1.0, explore)


def position(hand, piles=(), discard=("Y10",)):
    """Return a game of 2 and the position of player 0 before a draw with this hand."""
    game = StingGame(num_players=2, rounds=1)
    states = game.new_states(1)
    game.reset(states, [1])
    first = game.to_dict(states[0])
    cards = [card for stack in first["draw_stacks"] for card in stack] + first["discard_pile"]
    cards += [card for held in first["hands"] for card in held]
    for card in [*hand, *discard, *(card for pile in piles for card in pile["cards"])]:
        cards.remove(card)
    other, rest = cards[:5], cards[5:]
    half = (len(rest) + 1) // 2
    place = {
        "phase": "DRAW", "current_player": 0, "turn_player": 0, "hands": [list(hand), other], "piles": list(piles),
        "discard_pile": list(discard), "draw_stacks": [rest[:half], rest[half:]],
    }  # fmt: skip
    return game, game.from_dict({**first, **place})


def level_of(hand, piles=(), discard=("Y10",)):
    game, states = position(hand, piles, discard)
    columns = DRAW.features(game, states)
    return int(columns["stuckness"][0]), float(columns["outs"][0])


RUN = {"owner": 1, "kind": "run", "colour": "R", "start": 3, "cards": ["R3", "R4", "R5"]}


@pytest.mark.parametrize(
    ("hand", "piles", "level"),
    [
        (["R1", "R2", "R3", "B7"], (), 0),  # a run
        (["R6", "B1"], (RUN,), 0),  # an add
        (["W", "B1"], (RUN,), 0),  # a wild goes on
        (["B1", "B2", "G9"], (), 2),  # B3, a wild or, as the discard top is Y10, little else
        (["B1", "G5"], (), 3),  # two are missing
        (["B1", "G5"], (RUN,), 1),  # R2, R6 or a wild: 16 of 100? counted below
    ],
)
def test_levels_of_stuckness(hand, piles, level):
    found, outs = level_of(hand, piles)
    if level == 1:
        level = 1 if outs >= 0.25 else 2
    assert found == level
    assert (outs == 0) == (level == 3)


def test_outs_are_counted_card_by_card():
    """With B1 G5 and a run R3-5 on the table: R2, R6 (2 each) and the 12 wilds would do, of 104 - 2 - 3 - 1 unseen."""
    _, outs = level_of(["B1", "G5"], (RUN,))
    assert outs == pytest.approx((2 + 2 + 12) / (104 - 2 - 3 - 1))


def test_measuring_restores_the_observations():
    game, _, those = found()
    observations = game.observe(those.states)
    before = observations.copy()
    measure(observations, np.empty(len(before), np.uint8), np.empty(len(before)))
    assert np.array_equal(before, observations)


def test_free_is_what_the_rules_allow():
    """Free means that a play is legal before a draw: ask the rules, with the draw left out."""
    game, _, those = found()
    columns = DRAW.features(game, those.states)
    for state, level in zip(those.states, columns["stuckness"], strict=True):
        place = game.to_dict(state) | {"phase": "PLAY"}
        mask = game.legal_action_mask(game.from_dict(place))[0]
        assert (level == FREE) == mask[2:316].any()


def test_stuckness_is_as_defined():
    assert stuckness(np.array([1, 0, 0, 0], bool), np.array([1.0, 0.25, 0.2, 0.0])).tolist() == [0, 1, 2, 3]


def test_hand_points_as_the_rules_count_them():
    hand = np.zeros((1, 46), np.int8)
    hand[0, [6, 40, 41, 42, 43, 44, 45]] = 1
    assert hand_points(hand, False)[0] == 1 + 5 + 10 + 15 + 5 + 1 + 1
    assert hand_points(hand, True)[0] == 7 + 5 + 10 + 15 + 5 + 1 + 1


@pytest.mark.parametrize("num_players", [2, 4])
def test_features_are_what_the_player_may_know(num_players):
    """What is hidden is dealt again, and no feature changes."""
    game, _, those = found(num_players)
    other = game.determinize(those.states, None, np.arange(len(those.states), dtype=np.uint64))
    before, after = DRAW.features(game, those.states), DRAW.features(game, other)
    for name in before:
        assert np.array_equal(before[name], after[name]), name


def test_worlds_keep_every_hand_and_what_lies_open():
    game, _, those = found()
    worlds = DRAW.reshuffle(game, those.states, np.arange(len(those.states), dtype=np.uint64), 3)
    first = np.repeat(those.states, 3)
    for name in ("hand", "discard", "pile_owner", "draw_low", "draw_high", "current_player", "legal", "totals"):
        assert np.array_equal(worlds[name], first[name]), name
    assert not np.array_equal(worlds["draw_stack"], first["draw_stack"])
    for world, state in zip(worlds, first, strict=True):
        assert sorted(stack_of(world)) == sorted(stack_of(state))


def stack_of(state):
    """Return the undrawn cards."""
    n = int(state["num_players"])
    return [int(card) for p in range(n) for card in state["draw_stack"][state["draw_low"][p] : state["draw_high"][p]]]


def test_the_question_is_posed_where_both_draws_are_legal():
    game, _, those = found(2)
    masks = game.legal_action_mask(those.states)
    assert masks[:, DRAW_ONE].all()
    assert masks[:, DRAW_TWO].all()
    assert (masks.sum(axis=1) == 2).all()
    assert those.asked == len(those.states)


def test_positions_are_kept_alike():
    game = StingGame(num_players=2, rounds=1)
    agents = seat_agents(game, ("greedy",))
    every = find(DRAW, game, agents, agents[0], 5, 0, GAMES, 1.0, 0.0)
    some = find(DRAW, game, agents, agents[0], 5, 0, GAMES, 0.5, 0.0)
    assert every.asked == some.asked
    whole = set(zip(every.games_of.tolist(), every.states["decision"].tolist(), strict=True))
    assert set(zip(some.games_of.tolist(), some.states["decision"].tolist(), strict=True)) < whole
    if COMPILED:
        assert abs(len(some.states) / some.asked - 0.5) < 0.1


def test_exploring_brings_draws_that_the_agents_do_not_make():
    if not COMPILED:
        pytest.skip("needs many games")
    game = StingGame(num_players=2, rounds=1)
    agents = seat_agents(game, ("greedy:draw=1",))
    plain = find(DRAW, game, agents, agents[0], 5, 0, GAMES, 1.0, 0.0)
    explored = find(DRAW, game, agents, agents[0], 5, 0, GAMES, 1.0, 0.5)
    assert explored.states["hand_size"].max() > plain.states["hand_size"].max()


class Outside:
    """A compiled bot asked as any other agent is."""

    name = "outside"

    def __init__(self, bot):
        self.bot = bot

    def act(self, observations, masks, keys):
        return self.bot.act(observations, masks, keys)


def test_any_agent_is_played_on_alike():
    game, agents, those = found(3)
    states = those.states[: 10 if COMPILED else 2]
    moves = DRAW.moves(game, states, agents[0], None)
    inside = pair(DRAW, game, states, moves, agents, 4, 1)
    outside = pair(DRAW, game, states, moves, [Outside(make_agent("greedy", game))] * 3, 4, 1)
    mixed = pair(DRAW, game, states, moves, [agents[0], Outside(agents[0]), agents[0]], 4, 1)
    for one, two, three in zip(inside, outside, mixed, strict=True):
        assert np.array_equal(one, two)
        assert np.array_equal(one, three)


def test_worlds_hang_on_seed_and_position_alone():
    game, agents, those = found(2)
    states = those.states[: 6 if COMPILED else 2]
    moves = DRAW.moves(game, states, agents[0], None)
    whole = pair(DRAW, game, states, moves, agents, 4, 1)
    alone = pair(DRAW, game, states[1:2], moves[1:2], agents, 4, 1)
    other = pair(DRAW, game, states, moves, agents, 4, 2)
    assert np.array_equal(whole.margin[1:2], alone.margin)
    assert not np.array_equal(whole.margin, other.margin)
    assert np.abs(whole.win).max() <= 1


def test_pairing_does_not_move_the_mean_and_cuts_the_variance():
    if not COMPILED:
        pytest.skip("needs many games")
    game, agents, those = found(2)
    moves = DRAW.moves(game, those.states, agents[0], None)
    values = [pair(DRAW, game, those.states, moves, agents, 32, 1, shared=s).win for s in (True, False)]
    paired, apart = (v[:, :, 1] - v[:, :, 0] for v in values)
    error = np.sqrt((paired.var(axis=1) + apart.var(axis=1)).sum() / 32) / len(paired)
    assert abs(paired.mean() - apart.mean()) < 4 * error
    assert apart.var(axis=1).mean() > 1.5 * paired.var(axis=1).mean()


def test_mistakes_are_named():
    game, agents, those = found(2)
    with pytest.raises(ValueError, match="3 agents are named for 2 seats"):
        seat_agents(game, ("greedy", "greedy", "greedy"))
    with pytest.raises(ValueError, match="worlds must be at least 1"):
        pair(DRAW, game, those.states, DRAW.moves(game, those.states, None, None), agents, 0, 1)
