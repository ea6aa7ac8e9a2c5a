"""The games behind OpenSpiel's State: `make test-trainers` runs this where OpenSpiel is installed."""

import numpy as np
import pytest

pytest.importorskip("pyspiel", reason="OpenSpiel is not installed: make test-trainers")

import pyspiel
from open_spiel.python.algorithms import ismcts, mcts

from tabletop.adapters.openspiel import SpielState, resampler
from tabletop.game import IllegalActionError
from tests.tabletop.games import same_states, small_game
from tests.tabletop.streams import GAMES, played_out, uniform_actions


@pytest.mark.parametrize(("name", "num_players"), GAMES)
def test_a_seed_is_the_engines_and_rewards_sum_to_zero(name, num_players):
    game = small_game(name, num_players)
    for seed in range(3):
        state, paid = SpielState(game, seed), np.zeros(num_players)
        while not state.is_terminal():
            player = state.current_player()
            assert state.legal_actions()
            assert state.legal_actions((player + 1) % num_players) == []
            assert np.flatnonzero(state.legal_actions_mask()).tolist() == state.legal_actions()
            state.apply_action(uniform_actions(game, state.states)[0])
            assert sum(state.rewards()) == pytest.approx(0, abs=1e-5)
            paid += state.rewards()
        assert same_states(state.states, played_out(game, np.array([seed], np.uint64)), but="rewards")
        assert state.current_player() == pyspiel.PlayerId.TERMINAL
        assert state.returns() == pytest.approx(paid.tolist(), abs=1e-5)
        assert state.legal_actions() == []
        with pytest.raises(IllegalActionError):
            state.apply_action(0)


def test_resampling_keeps_what_the_player_knows_and_nothing_else():
    state = SpielState(small_game("sting", 3), seed=4)
    deal = resampler(1)
    player = state.current_player()
    worlds = [deal(state, player) for _ in range(20)]
    for world in worlds:
        assert world.observation_string(player) == state.observation_string(player)
        assert world.legal_actions() == state.legal_actions()
    others = [p for p in range(3) if p != player]
    assert len({world.observation_string(others[0]) for world in worlds}) > 10
    assert same_states(resampler(1)(state, player).states, worlds[0].states)


def test_a_clone_is_independent():
    state = SpielState(small_game("stingy", 2), seed=1)
    before, clone = state.observation_string(), state.clone()
    clone.apply_action(clone.legal_actions()[0])
    assert state.observation_string() == before


@pytest.mark.parametrize(("name", "num_players"), [("high-card", 3), ("sting", 2), ("stingy", 2)])
def test_their_search_plays_legally(name, num_players):
    random = np.random.RandomState(0)
    bot = ismcts.ISMCTSBot(
        game=None,
        evaluator=mcts.RandomRolloutEvaluator(1, random),
        uct_c=0.5,
        max_simulations=4,
        random_state=random,
        use_observation_string=True,
    )
    bot.set_resampler(resampler(3))
    state = SpielState(small_game(name, num_players), seed=2)
    for _ in range(5):
        if not state.is_terminal():
            state.apply_action(bot.step(state))
