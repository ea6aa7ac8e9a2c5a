"""Sting's planner: what it must find in a turn, what it must not do, and how strong it is."""

from __future__ import annotations

import numpy as np
import pytest

from agents.arena import compare
from agents.base import play_out
from agents.registry import make_agent
from sting_env import VARIANTS, StingConfig, StingGame
from sting_env.rules import DRAW_ONE, DRAW_TWO
from tabletop import seeding
from tests.agents.test_sting_bots import choices, draws, positions
from tests.sting.table import Table, run, set_of

RULES = ("", ":draw=1", ":draw=2", ":draw=hint", ":draw=<=3")
OTHERS = ("random", "greedy", "rulebook")
FIVE = ["R1", "B3", "G6", "Y8", "R10"]  # an opponent's hand


def choose(table):
    """Return what planner would do, in words."""
    agent = make_agent("planner", table.game)
    mask = table.game.legal_action_mask(table.states)
    action = agent.act(table.game.observe(table.states), mask, np.zeros(1, np.uint64))[0]
    return table.game.action_to_string(int(action))


def turn(table, spec="planner"):
    """Let a bot play player 0's turn to its end, piles passed are accepted; return the decisions in words."""
    agent = make_agent(spec, table.game)
    made = []
    while not table.over and table.now["turn"] == 0 and table.out == -1:
        if table.player != 0:
            table.play("accept")
            continue
        mask = table.game.legal_action_mask(table.states)
        action = int(agent.act(table.game.observe(table.states), mask, np.zeros(1, np.uint64))[0])
        made.append(table.game.action_to_string(action))
        table.game.step(table.states, [action])
    return made


ONE_ROUND = {"rounds": 1}


@pytest.mark.parametrize(
    ("hand", "piles", "discard"),
    [
        # The blue 4 would go onto the set, but then the 5 and 6 stay.
        (["B4", "B5", "B6", "R9"], [set_of(1, "R4", "G4", "Y4")], ["Y10"]),
        # Two piles share the red 5: the run leaves a pair that the table takes, the set leaves two that it does not.
        (["R3", "R4", "R5", "B5", "G5", "Y1"], [run(1, "B6", "B7", "B8"), run(1, "G2", "G3", "G4")], ["Y10"]),
        # Only the substitution sets a wild free for the pair (S22).
        (["B3", "G7", "G8", "R9"], [run(1, "B2", "W", "B4")], ["Y10"]),
        # Only the top of the discard pile makes the pair a run (S21).
        (["G7", "G8", "R9"], [], ["Y10", "G9"]),
        # The red 3 goes on only when the red 4 lies there.
        (["R3", "R4", "Y10"], [run(1, "R5", "R6", "R7")], ["B1"]),
        # The wild goes to the pair and not to the run that would take it too.
        (["W", "G1", "B1", "Y9"], [run(1, "R5", "R6", "R7")], ["Y10"]),
        # Passing the pile costs the last card but one (S24).
        (["PASS", "Y9"], [run(0, "R5", "R6", "R7")], ["Y10"]),
        # The wild is added with the red 8 beyond it (S18).
        (["W", "R8", "Y1"], [run(1, "R2", "W", "R4", "W", "R6")], ["Y10"]),
    ],
)
@pytest.mark.parametrize("config", [{"rounds": 1}, {}])
def test_goes_out_this_turn_where_it_can(hand, piles, discard, config):
    table = Table([hand, FIVE], piles, discard=discard, config=config)
    turn(table)
    assert table.out == 0
    assert table.points[0] == 0


def test_the_last_card_is_discarded_where_only_the_discard_may_empty_the_hand():
    config = {"rounds": 1, "discard_to_go_out": True}
    table = Table([["B4", "B5", "B6", "R9"], FIVE], config=config)
    assert turn(table)[-1].split()[0] == "discard"
    assert table.out == 0


def test_the_dearest_wild_goes_to_an_opponent():
    table = Table([["W", "T", "R5", "R6", "B1", "B9", "G3", "Y8"], FIVE])
    made = turn(table)
    assert any("T" in pile for owner, pile in table.piles if owner == 1), made


@pytest.mark.parametrize("others", [[["Y9", "G9", "B7"]], [["Y9", "G9", "B7"], ["Y8", "G6", "B6"]]])
def test_a_triple_is_not_kept_when_somebody_has_one_card_left(others):
    hand = ["T", "R1", "B5", "G8", "Y10", "R6", "B9"]
    assert choose(Table([hand, ["G2"], *others])) == "discard T"
    assert choose(Table([hand, ["R10", "B10", "B8", "G10", "Y7", "G7"], *others])) != "discard T"


def test_a_pile_passed_is_returned():
    table = Table([["PASS", "R1", "B5"], ["BACK", "Y3"]], [run(0, "R5", "R6", "R7")])
    table.play("pass")
    assert table.phase == "RESPOND"
    assert choose(table) == "return"


@pytest.mark.parametrize(("totals", "owner"), [([20, 9, 31], 1), ([20, 31, 9], 2)])
def test_piles_go_to_whoever_has_the_fewest_points(totals, owner):
    table = Table([["R4", "R5", "R6", "B1", "G9", "Y3", "B7"], FIVE, FIVE], totals=totals, round=2)
    turn(table)
    assert [pile_owner for pile_owner, _ in table.piles] == [owner]


def test_cards_that_belong_together_are_kept():
    table = Table([["R4", "R5", "G8", "B8", "Y1"], FIVE])
    assert choose(table) == "discard Y1"


def test_plays_legally_in_every_variant():
    """`play_out` raises for an illegal action."""
    configs = {**VARIANTS, "large": StingConfig(hand_size=13, discard_to_go_out=True, open_hands=True)}
    for k, config in enumerate(configs.values()):
        for n in range(2, 7):
            options = config.to_dict() | {"num_players": n, "rounds": 1, "max_turns": 60, "target_score": None}
            game = StingGame(**options)
            rng = np.random.default_rng(10 * k + n)
            seated = [
                make_agent(rng.choice(["planner", rng.choice(OTHERS)]) + rng.choice(RULES), game) for _ in range(n)
            ]
            states = game.new_states(20)
            game.reset(states, int(rng.integers(1 << 40)))
            play_out(game, states, seated, key=1)
            assert game.terminated(states).all()


def test_does_not_know_what_is_hidden():
    game = StingGame(num_players=3, rounds=1)
    states = positions(game, lanes=40)
    worlds = 3
    other = game.determinize(states, None, seeding.spread(1, len(states)), worlds)
    keys = seeding.spread(2, len(states))
    agent = make_agent("planner", game)
    here = agent.act(game.observe(states), game.legal_action_mask(states), keys)
    there = agent.act(game.observe(other), game.legal_action_mask(other), np.repeat(keys, worlds))
    np.testing.assert_array_equal(np.repeat(here, worlds), there)


def test_draw_rules():
    game = StingGame(num_players=2, rounds=1)
    states, sizes = draws(game, seed=5)
    assert (choices("planner:draw=1", game, states) == DRAW_ONE).all()
    assert (choices("planner:draw=2", game, states) == DRAW_TWO).all()
    for k in (0, 4, 127):
        np.testing.assert_array_equal(choices(f"planner:draw=<={k}", game, states) == DRAW_TWO, sizes <= k)
    np.testing.assert_array_equal(choices("planner:draw=hint", game, states), choices("greedy:draw=hint", game, states))
    own = choices("planner", game, states) == DRAW_TWO
    assert own.any()
    assert (sizes[own] == 2).all()


@pytest.mark.parametrize("n", [2, 4])
@pytest.mark.parametrize("other", ["greedy", "rulebook"])
def test_wins_more_rounds_than_the_others(n, other):
    result = compare(StingGame(num_players=n, rounds=1), ["planner", other], blocks=200, seed=11)
    assert result.pair("planner", other).win_share.low > 1 / n
