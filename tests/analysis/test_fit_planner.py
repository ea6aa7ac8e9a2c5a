"""Fitting planner's weights: ends of turns are described as planner weighs them, and what counts is found."""

import numpy as np
import pytest

from agents.registry import make_agent
from agents.sting_planner import FITTED, WEIGHTS, describe_ends
from analysis import fit_planner
from analysis.fit_planner import Ends, collect, fit
from sting_env import StingGame
from sting_env.rules import DISCARD, NUM_KINDS
from tests.sting.table import Table

FEATURES = tuple(FITTED)


def ends_of(table, *cards):
    kinds = np.array([table.game.string_to_action(f"discard {card}") - DISCARD for card in cards])
    records = np.repeat(table.game.observe(table.states), len(cards))
    return [dict(zip(FEATURES, row, strict=True)) for row in describe_ends(records, kinds)]


@pytest.mark.parametrize("rounds", [1, 5])
@pytest.mark.parametrize("num_players", [2, 5])
def test_planner_discards_what_is_worth_most_by_the_features(num_players, rounds):
    """Where it ends its turn, no other discard would be worth more by the same features and weights."""
    game = StingGame(num_players=num_players, rounds=rounds)
    planner = make_agent("planner", game)
    states = game.new_states(300)
    game.reset(states, 3)
    seen = 0
    for _ in range(40):
        observations, masks = game.observe(states), game.legal_action_mask(states)
        actions = planner.act(observations, masks, np.zeros(len(states), np.uint64))
        ends = (actions >= DISCARD) & (actions < DISCARD + NUM_KINDS) & (observations["hand_size"][:, 0] > 1)
        lanes, kinds = np.nonzero(masks[:, DISCARD : DISCARD + NUM_KINDS] & ends[:, None])
        weights = WEIGHTS[0 if rounds == 1 else 1, num_players - 2]
        values = np.full((len(states), NUM_KINDS), -np.inf)
        values[lanes, kinds] = describe_ends(observations[lanes], kinds) @ weights
        where = np.flatnonzero(ends)
        chosen = values[where, actions[where] - DISCARD]
        assert (chosen >= values[where].max(axis=1) - 1e-9).all()
        seen += len(where)
        game.step(states, actions)
        states = states[~game.terminated(states)]
    assert seen > 1000


def test_the_features_of_an_end_by_hand():
    """R5 and G5 stay with a Double (S30: 20 points): nothing lies on the table, a wild and a pair are a set."""
    table = Table([["R5", "G5", "D", "Y9"], ["B1", "B3"]])
    of_nine, of_wild = ends_of(table, "Y9", "D")
    assert of_nine["3 cards left"] == of_wild["3 cards left"] == 1
    assert of_nine["0 loose"] == 1
    assert of_nine["wilds left"] == 1
    assert of_nine["discard natural"] == 1
    assert of_wild["3 loose"] == 1
    assert of_wild["wilds left"] == 0
    assert of_wild["discard wild"] == 1
    assert of_wild["loose pairs"] == 2
    assert of_nine["own points"] == of_nine["others' points"] == 0


def test_ends_of_rounds_say_who_went_out():
    game = StingGame(num_players=3, rounds=1)
    ends = collect(game, 300, 5)
    assert len(ends.out) > 300 * 3
    loose = ends.features[:, FEATURES.index("0 loose") : FEATURES.index("9 or more loose") + 1].argmax(axis=1)
    assert ends.out[loose <= 2].mean() > ends.out[loose >= 7].mean() + 0.05
    assert 0.2 < ends.out.mean() < 0.45
    assert ends.payoff[ends.out].mean() > 0 > ends.payoff[~ends.out].mean()


def test_what_counts_is_found():
    rng = np.random.default_rng(1)
    features = rng.normal(size=(12000, len(FEATURES)))
    weights = np.where(np.arange(len(FEATURES)) % 5 == 0, 1.0, 0.0)
    score = features @ weights
    found = fit(Ends(features, score + rng.logistic(size=12000) > 0, 0.1 * score + rng.normal(0, 0.1, 12000)), 1.0)
    assert found.going_out == pytest.approx(weights, abs=0.25)
    assert found.payoff == pytest.approx(0.1 * weights, abs=0.02)
    assert found.area > 0.85
    assert found.explained > 0.8


def test_the_command_prints_every_feature(capsys):
    fit_planner.main(["--players", "2", "--rounds", "40"])
    told = capsys.readouterr().out
    assert all(f"\n{name} " in told for name in FEATURES)
    with pytest.raises(SystemExit, match="num_players"):
        fit_planner.main(["--players", "9"])
