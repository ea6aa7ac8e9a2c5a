"""The public checks pass good games and find every broken one."""

import numpy as np
import pytest

from sting_env import StingGame
from stingy_env import StingyGame
from tabletop.conformance import ConformanceError, check_game, leak_test, player_counts
from tabletop.game import PositionError
from tabletop.jit import COMPILED
from tests.tabletop import broken
from tests.toys import HighCard

SIZE = {"games": 8, "decisions": 40} if COMPILED else {"games": 4, "decisions": 10}


def shuffled_by_numpy(states, observer, seeds):
    """Deal High Card anew without its own kernels."""
    return broken.deal_anew(states, (observer,), seeds)


def test_player_counts_are_those_the_configuration_allows():
    assert player_counts(HighCard()) == [2, 3, 4]


@pytest.mark.parametrize("rounds", [1, 3])
def test_a_good_game_passes(rounds):
    game = HighCard(rounds=rounds)
    check_game(game, **SIZE)
    leak_test(game, games=4)
    leak_test(game, games=4, redeal=shuffled_by_numpy)


@pytest.mark.parametrize(
    ("variant", "complaint"),
    [
        (broken.PaysTooMuch, "rewards do not sum to zero"),
        (broken.ForgetsReturns, "are not the sum of rewards"),
        (broken.NothingToPlay, "no action is legal"),
        (broken.AllowsPlayedCards, "the mask allows what step refuses"),
        (broken.RepairsIllegalActions, "carried out the illegal action"),
        (broken.ChangesOnIllegalAction, "changed the states"),
        (broken.OneTextForTwoActions, "which is read as 1"),
        (broken.ForgetsTheTable, "field 'table'"),
        (broken.AllocatesItsOwn, "observe does not return `out`"),
        (broken.LaneMatters, "reset of some lanes|plays other games"),
        (broken.ReadsTheFuture, "fresh random stream"),
        (broken.DealsTheWrongHand, "field 'hand'"),
        (broken.MovesWhenOver, "moved a lane that was over"),
    ],
)
def test_check_game_finds(variant, complaint):
    with pytest.raises(ConformanceError, match=complaint):
        check_game(variant(rounds=1), **SIZE)


@pytest.mark.parametrize(
    ("variant", "complaint"),
    [
        (broken.ShowsNeighboursCard, r"2 players, phase LEAD.*observer 0.*field 'rounds_done'"),
        (broken.MaskKnowsTooMuch, r"whether 'play \d+' is legal changes"),
        (broken.TextShowsAll, "the text changes"),
        (broken.DealsNothingAnew, "changes nothing"),
        (broken.PeeksNowAndThen, "knows too much"),
        (broken.HidesTheHand, "one observation, two sets of legal actions"),
    ],
)
def test_leak_test_finds(variant, complaint):
    with pytest.raises(ConformanceError, match=complaint):
        leak_test(variant(rounds=1), games=8)


def test_leak_test_finds_one_true_hand():
    with pytest.raises(ConformanceError, match="observer 0 never changes what player 1 alone knows"):
        leak_test(broken.KeepsOneHand(rounds=1), games=8, num_players=[3])


def test_leak_test_holds_determinize_to_another_way_of_dealing():
    game = broken.KeepsOneCard(num_players=3, rounds=1)
    with pytest.raises(ConformanceError, match="comes back by determinize"):
        leak_test(game, games=32 if COMPILED else 8, redeal=shuffled_by_numpy, num_players=[3])


def test_open_hands_are_no_leak():
    with pytest.raises(ConformanceError, match="secret=False"):
        leak_test(broken.LaysHandsOpen(rounds=1), games=4, num_players=[2])
    leak_test(broken.LaysHandsOpen(rounds=1), games=4, num_players=[2], secret=False)


# The games there are, small where nothing is compiled -----------------------------------------------------------------

QUICK = {} if COMPILED else {"rounds": 1, "hand_size": 3, "max_turns": 8}
STING = {"rounds": 1} | QUICK


@pytest.mark.parametrize(
    ("game", "secret"),
    [
        (StingGame(**STING), True),
        (StingGame(**STING, open_hands=True, special_cards=False), False),
        (StingGame(**STING, discard_to_go_out=True, reward="win"), True),
        (StingyGame(), False),
    ],
    ids=["sting", "sting, open hands", "sting, strict", "stingy"],
)
def test_the_games_pass(game, secret):
    counts = [2, 3, 6] if COMPILED else [2]
    check_game(game, games=4 if COMPILED else 1, decisions=60 if COMPILED else 4, num_players=counts)
    leak_test(game, games=4 if COMPILED else 1, num_players=counts, secret=secret)


def sting_dealt_as_text(game):
    """Return a way to deal Sting anew that shares nothing with its kernels: positions as text, shuffled by numpy."""

    def redeal(states, observer, seeds):
        for s, seed in zip(states, seeds, strict=True):
            rng = np.random.default_rng(int(seed))
            for _ in range(200):
                position = game.to_dict(s)
                others = [hand for seat, hand in enumerate(position["hands"]) if seat != observer]
                stacks = others + position["draw_stacks"]
                hidden = rng.permutation([card for stack in stacks for card in stack]).tolist()
                for stack in stacks:
                    stack[:] = [hidden.pop() for _ in stack]
                try:
                    read = game.from_dict(position)
                except PositionError:
                    continue  # the player on turn could not have asked for this
                if game.legal_action_mask(read).any():
                    for name in ("hand", "hand_bits", "draw_stack", "draw_low", "draw_high", "legal"):
                        s[name] = read[name][0]
                    break
        return states

    return redeal


def test_determinize_of_sting_is_held_to_another_way_of_dealing():
    game = StingGame(**STING)
    leak_test(game, games=2, worlds=2, redeal=sting_dealt_as_text(game), num_players=[3] if COMPILED else [2])
