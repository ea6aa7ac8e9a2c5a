"""A lane is one seat's stream: paid what its seat is paid, against opponents that stay, the same from the same seed."""

import time

import numpy as np
import pytest

from tabletop.game import IllegalActionError
from tabletop.jit import COMPILED
from tabletop.selfplay import LearnerSeats, OpponentPool, UniformOpponent
from tests.tabletop.games import flat, same_states, small_game
from tests.tabletop.streams import GAMES, ByHand, Extreme, played_out, uniform_actions
from tests.toys import HighCard


def stream(game, seeds, steps, opponents=None, **options):
    """Return a batch of lanes after some steps, and what each lane was shown and paid: a list by lane."""
    lanes = LearnerSeats(game, len(seeds), opponents, **options)
    lanes.reset(seeds)
    seen = [[] for _ in seeds]
    for _ in range(steps):
        shown = lanes.observation
        lanes.step(uniform_actions(game, lanes.states))
        for b, rows in enumerate(seen):
            rows.append((shown[b].tobytes(), float(lanes.rewards[b]), bool(lanes.done[b])))
    return lanes, seen


@pytest.mark.parametrize(("name", "num_players"), GAMES)
def test_every_seats_stream_sums_to_its_payoff(name, num_players):
    game = small_game(name, num_players)
    seeds = np.arange(16, dtype=np.uint64)
    payoffs = []
    for seat in range(num_players):
        lanes = LearnerSeats(game, len(seeds), seat=seat)
        lanes.reset(seeds)
        episodes = lanes.states["episode"].copy()  # not 0 where the learner was never asked
        sums, lengths, open_ = np.zeros(len(seeds)), np.zeros(len(seeds), int), np.ones(len(seeds), bool)
        while open_.any():
            lanes.step(uniform_actions(game, lanes.states))
            sums += lanes.rewards * open_
            lengths += open_
            ended = np.flatnonzero(lanes.done & open_)
            for b in ended:
                i = lanes.finished.lanes.tolist().index(b)
                assert lanes.finished.lengths[i] == lengths[b]
                assert lanes.finished.returns[i] == pytest.approx(sums[b], abs=1e-5)
                assert lanes.finished.seats[i] == seat
            open_[ended] = False
        expected = played_out(game, seeds, episodes=episodes)
        assert np.allclose(sums, expected["returns"][:, seat], atol=1e-5)
        payoffs.append(np.where(episodes == 0, sums, np.nan))
    assert np.isfinite(payoffs).all(axis=0).any()
    assert np.allclose(np.nansum(np.array(payoffs)[:, np.isfinite(payoffs).all(axis=0)], axis=0), 0, atol=1e-4)


@pytest.mark.parametrize(("name", "num_players"), [("high-card", 3), ("sting", 3), ("stingy", 3)])
def test_the_same_seed_is_the_same_stream_in_any_batch(name, num_players):
    game = small_game(name, num_players)
    seeds = np.arange(40, dtype=np.uint64)
    options = {"num_players": [2, 3]}
    _, whole = stream(game, seeds, 25, **options)
    for chosen in ([39], list(range(7)), list(range(39, -1, -1))):
        _, part = stream(game, seeds[chosen], 25, **options)
        assert part == [whole[b] for b in chosen]


@pytest.mark.parametrize(("name", "num_players"), [("high-card", 4), ("sting", 3), ("stingy", 4)])
def test_opponents_by_hand_play_as_compiled_ones(name, num_players):
    game = small_game(name, num_players)
    seeds = np.arange(10, dtype=np.uint64)
    by_hand = ByHand(game)
    assert stream(game, seeds, 20, by_hand)[1] == stream(game, seeds, 20)[1]
    assert max(by_hand.batches) > 1


def test_payment_on_anothers_move_goes_to_the_last_decision():
    game = HighCard(num_players=2, rounds=1)
    lanes = LearnerSeats(game, 200, Extreme(0), seat=0)
    lanes.reset(1)
    leads = lanes.states["leader"] == 0
    cards = np.where(lanes.mask, np.arange(12), -1).max(axis=1)
    lowest = [np.flatnonzero(lanes.states["place"][b] == 1).min() for b in range(200)]
    lanes.step(cards)
    chosen = np.flatnonzero(leads & (cards < 11))  # its highest card, answered by the opponent's lowest
    assert len(chosen) > 10
    assert lanes.rewards[chosen].tolist() == [1.0 if cards[b] > lowest[b] else -1.0 for b in chosen]


def test_games_over_before_the_learner_is_asked_are_passed_over_and_counted():
    game = HighCard(num_players=4, rounds=1)
    lanes = LearnerSeats(game, 200, Extreme(1))
    lanes.reset(3)
    assert lanes.skipped > 0
    assert lanes.skipped_returns == pytest.approx(-lanes.skipped / 3)
    assert lanes.mask.any(axis=1).all()
    assert (lanes.states["current_player"] == lanes.seats).all()


def test_a_game_that_never_asks_the_learner_is_an_error(monkeypatch):
    monkeypatch.setattr("tabletop.selfplay.MAX_SKIPPED", 1)
    lanes = LearnerSeats(HighCard(num_players=4, rounds=1), 200, Extreme(1))
    with pytest.raises(RuntimeError, match="before the learner was asked"):
        lanes.reset(3)


def test_seats_and_numbers_of_players_are_drawn_for_every_episode():
    lanes = LearnerSeats(HighCard(num_players=2), 64, num_players=[2, 4])
    lanes.reset(0)
    counts, seats = set(), set()
    for _ in range(30):
        lanes.step(uniform_actions(lanes.game, lanes.states))
        assert (lanes.seats < lanes.states["num_players"]).all()
        assert ((lanes._assignment >= 0).sum(axis=1) == lanes.states["num_players"] - 1).all()
        counts |= set(lanes.states["num_players"].tolist())
        seats |= set(zip(lanes.states["num_players"].tolist(), lanes.seats.tolist()))
    assert counts == {2, 4}
    assert seats == {(2, 0), (2, 1), (4, 0), (4, 1), (4, 2), (4, 3)}


def test_opponents_stay_until_the_episode_ends():
    game = HighCard(num_players=4)
    pool = OpponentPool([Extreme(0), Extreme(1), ByHand(game, "first")])
    lanes = LearnerSeats(game, 60, pool)
    lanes.reset(0)
    every = np.arange(60)
    seated = lanes.names(every)
    assert {name for row in seated for name in row} == {"extreme 0", "extreme 1", "first", None}
    for step in range(40):
        if step == 5:
            lanes.set_opponents([ByHand(game, "second"), UniformOpponent(game)])
            assert lanes.names(every) == seated
        if step == 8:
            lanes.pool.set_weights([1, 0])
        lanes.step(uniform_actions(game, lanes.states))
        now = lanes.names(every)
        if lanes.finished is not None:
            for b, opponents in zip(lanes.finished.lanes, lanes.finished.opponents, strict=True):
                assert opponents == seated[b]
        assert all(now[b] == seated[b] for b in np.flatnonzero(~lanes.done))
        if step > 8 and lanes.finished is not None:
            assert {name for b in lanes.finished.lanes for name in now[b]} == {"second", None}
        seated = now
    assert {name for row in seated for name in row} == {"second", None}
    lanes.set_opponents(Extreme(1))
    assert len(lanes._table) == 2  # who sits nowhere any more is forgotten


def test_weights_are_frequencies():
    pool = OpponentPool(["a", "b", "c"], [1, 0, 3])
    keys = np.random.default_rng(0).integers(0, 2**64, (4000, 2), np.uint64, endpoint=False)
    drawn = pool.sample(keys)
    assert drawn.shape == keys.shape
    shares = np.bincount(drawn.ravel(), minlength=3) / drawn.size
    assert shares == pytest.approx([0.25, 0, 0.75], abs=0.03)
    assert pool.sample(np.array([0, 2**64 - 1], np.uint64)).tolist() == [0, 2]
    pool.set_weights(None)
    assert np.bincount(pool.sample(keys).ravel()) / keys.size == pytest.approx([1 / 3] * 3, abs=0.03)


@pytest.mark.parametrize("weights", [[1], [1, -1], [0, 0], [1, np.nan]])
def test_weights_that_make_no_sense(weights):
    with pytest.raises(ValueError, match="weights must be 2 numbers"):
        OpponentPool(["a", "b"], weights)


def test_an_illegal_action_changes_nothing():
    game = HighCard()
    lanes = LearnerSeats(game, 5)
    lanes.reset(0)
    before = lanes.states.copy()
    actions = uniform_actions(game, lanes.states)
    actions[3] = int(np.flatnonzero(~lanes.mask[3])[0])
    with pytest.raises(IllegalActionError, match="lane 3"):
        lanes.step(actions)
    assert same_states(lanes.states, before)
    lanes.step(uniform_actions(game, lanes.states))


class Wrong(ByHand):
    def act(self, observations, masks, keys):
        return masks.argmin(axis=1)


def test_an_opponents_illegal_action_names_the_opponent():
    game = HighCard(num_players=4)
    with pytest.raises(IllegalActionError, match=r"cheat: lane .* is not legal"):
        LearnerSeats(game, 20, Wrong(game, "cheat")).reset(0)
    with pytest.raises(IllegalActionError, match=r"lane .*: extreme 2 chose an illegal action"):
        LearnerSeats(game, 20, Extreme(2)).reset(0)


def test_without_autoreset_the_end_is_shown():
    game = HighCard(num_players=2)
    lanes = LearnerSeats(game, 1, autoreset=False)
    with pytest.raises(RuntimeError, match="reset before"):
        lanes.step([0])
    lanes.reset([5])
    while not lanes.done[0]:
        lanes.step(uniform_actions(game, lanes.states))
    assert game.terminated(lanes.states)[0]
    assert not lanes.mask.any()
    assert np.array_equal(lanes.observation, flat(game.observe(lanes.states, lanes.seats)))
    with pytest.raises(RuntimeError, match="after the end"):
        lanes.step([0])
    episode = lanes.states["episode"][0]
    lanes.reset()
    assert lanes.states["episode"][0] > episode
    assert lanes.states["seed"][0] == 5


def test_without_a_seed_every_run_is_another():
    runs = [LearnerSeats(HighCard(), 3) for _ in range(2)]
    for run in runs:
        run.reset()
    assert len({int(seed) for run in runs for seed in run.seeds}) == 6


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        ({"seat": 2}, "seat must be 0 to 1"),
        ({"seat": 3, "num_players": [3, 4]}, "seat must be 0 to 2"),
        ({"num_players": 5}, "num_players must be 2 to 4"),
        ({"num_players": [2, 9]}, "num_players must be 2 to 4"),
        ({"opponents": []}, "at least one opponent"),
    ],
)
def test_options_that_make_no_sense(options, complaint):
    with pytest.raises(ValueError, match=complaint):
        LearnerSeats(HighCard(), 4, **options)


def test_one_seed_for_every_lane():
    with pytest.raises(ValueError, match="one number or 4"):
        LearnerSeats(HighCard(), 4).reset([1, 2])


@pytest.mark.skipif(not COMPILED, reason="speed is that of compiled code")
def test_it_is_not_slow():
    lanes = LearnerSeats(HighCard(num_players=4), 256)
    lanes.reset(0)
    begin = time.process_time()
    for _ in range(100):
        lanes.step(lanes.mask.argmax(axis=1))
    assert 25600 / (time.process_time() - begin) > 20_000  # a tenth of what a laptop does
