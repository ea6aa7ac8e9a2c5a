"""The engine agrees with the naive reference: decision by decision, and at the end."""

from itertools import product

import numpy as np
import pytest

from stingy_env import StingyGame
from stingy_env.rules import NO_SWAP, STOP, TILES_REGULAR
from tests.naive.stingy import NaiveStingy

PLAYER_COUNTS = (2, 3, 4, 5, 6)
OPTIONS = [
    {"captain_sly": captain_sly, "colour_scoring": colour_scoring}
    | ({"reward": "win"} if captain_sly == colour_scoring else {"complete_points": [1, 0, 50, 7, 1000]})
    for captain_sly, colour_scoring in product((False, True), repeat=2)
]
RELUCTANT = (NO_SWAP, STOP, TILES_REGULAR)


def random_choice(legal, rng):
    return legal[rng.integers(len(legal))]


def hungry_choice(legal, rng):
    """Swap, pay, take and give whatever is possible, but once in a while."""
    eager = [action for action in legal if action not in RELUCTANT]
    return random_choice(eager if eager and rng.random() < 0.95 else legal, rng)


def check_games(choose, num_players, options, lanes, seed):
    """Play `lanes` games on both sides with the same choices."""
    game = StingyGame(num_players=num_players, **options)
    states = game.new_states(lanes)
    game.reset(states, seed)
    rng = np.random.default_rng(seed)
    references = [NaiveStingy.from_dict(game.to_dict(state)) for state in states]
    actions = np.zeros(lanes, np.int64)
    while not game.terminated(states).all():
        masks, players = game.legal_action_mask(states), game.current_player(states)
        for lane, reference in enumerate(references):
            if reference.phase == "OVER":
                assert players[lane] == -1
                continue
            legal = np.flatnonzero(masks[lane]).tolist()
            phase = game.spec.phases[states["phase"][lane]]
            expected = (reference.current_player, reference.phase, reference.legal_actions())
            assert (players[lane], phase, legal) == expected, f"lane {lane}, decision {states['decision'][lane]}"
            actions[lane] = choose(legal, rng)
            reference.apply(actions[lane])
        game.step(states, actions)
    for lane, reference in enumerate(references):
        assert reference.phase == "OVER"
        assert game.to_dict(states[lane]) == reference.to_dict()
        assert game.result(states[lane]) == {"scores": reference.scores(), "winners": reference.winners()}
        assert game.returns(states)[lane, :num_players] == pytest.approx(reference.rewards, abs=1e-6)


@pytest.mark.parametrize("options", OPTIONS, ids=str)
@pytest.mark.parametrize("num_players", PLAYER_COUNTS)
@pytest.mark.parametrize(("choose", "lanes"), [(random_choice, 14), (hungry_choice, 6)])
def test_games_agree(choose, lanes, num_players, options):
    """400 games in all."""
    check_games(choose, num_players, options, lanes, seed=num_players)


@pytest.mark.slow
@pytest.mark.parametrize("options", OPTIONS, ids=str)
@pytest.mark.parametrize("num_players", PLAYER_COUNTS)
@pytest.mark.parametrize(("choose", "lanes"), [(random_choice, 350), (hungry_choice, 150)])
def test_many_games_agree(choose, lanes, num_players, options):
    """10,000 games in all."""
    check_games(choose, num_players, options, lanes, seed=1000 + num_players)


def test_every_position_on_the_way_agrees():
    """Not only what is legal: displays, complete groups, stacks, the pending swap and the last turns."""
    for num_players, options in product(PLAYER_COUNTS, OPTIONS):
        game = StingyGame(num_players=num_players, **options)
        states = game.new_states(1)
        game.reset(states, num_players)
        rng = np.random.default_rng(num_players)
        reference = NaiveStingy.from_dict(game.to_dict(states[0]))
        while not game.terminated(states)[0]:
            action = random_choice(np.flatnonzero(game.legal_action_mask(states)[0]), rng)
            game.step(states, [action])
            reference.apply(int(action))
            assert game.to_dict(states[0]) == reference.to_dict()
            assert game.result(states[0])["scores"] == reference.scores()
            assert game.rewards(states)[0, :num_players] == pytest.approx(reference.rewards, abs=1e-6)
