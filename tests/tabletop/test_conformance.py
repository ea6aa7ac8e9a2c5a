"""The public checks pass good games and find every broken one."""

import pytest

from tabletop.conformance import ConformanceError, check_game, leak_test, player_counts
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
    with pytest.raises(ConformanceError, match="comes back by determinize"):
        leak_test(broken.KeepsOneCard(num_players=3, rounds=1), games=32, redeal=shuffled_by_numpy, num_players=[3])


def test_open_hands_are_no_leak():
    with pytest.raises(ConformanceError, match="secret=False"):
        leak_test(broken.LaysHandsOpen(rounds=1), games=4, num_players=[2])
    leak_test(broken.LaysHandsOpen(rounds=1), games=4, num_players=[2], secret=False)
