"""Every seat's stream is its own: rewards between its decisions, no seat's value in another's advantage."""

from dataclasses import replace

import numpy as np
import pytest

from agents.base import luck
from agents.registry import bots_of, make_agent
from sting_env import StingGame
from stingy_env import StingyGame
from training.selfplay import Foresight, Lineup, Rollout, SelfPlay, credit_seats, win_shares
from training.train import Settings, TrainingError, train


def credit(rewards, ends, seats, values, learner=None, gamma=1.0, lam=1.0):
    """Return advantages and trained of one lane; rewards [T, P]."""
    steps = len(seats)
    rewards = np.asarray(rewards, np.float32)[:, None, :]
    advantages = np.zeros((steps, 1), np.float32)
    trained = np.zeros((steps, 1), np.bool_)
    learner = np.ones((steps, 1), np.bool_) if learner is None else np.asarray(learner)[:, None]
    credit_seats(
        rewards, np.asarray(ends)[:, None], np.asarray(seats, np.int8)[:, None], learner,
        np.asarray(values, np.float32)[:, None], gamma, lam, advantages, trained,
    )  # fmt: skip
    return advantages[:, 0], trained[:, 0]


def test_a_reward_goes_to_every_seat_that_gets_it_whoever_moved():
    # Seats 0, 1, 0, 1 decide; the last move ends the game and pays +1 and -1.
    rewards = [[0, 0], [0, 0], [0, 0], [1, -1]]
    advantages, trained = credit(rewards, [False, False, False, True], [0, 1, 0, 1], [0.5, 0.25, 0.0, 0.0])
    assert trained.all()
    # lambda = gamma = 1: advantage = what the seat gets from here on, less its value.
    assert advantages == pytest.approx([1 - 0.5, -1 - 0.25, 1.0, -1.0])


def test_generalized_advantage_by_hand():
    gamma, lam = 0.9, 0.8
    values = [0.3, -0.2, 0.1, 0.4]
    rewards = [[0.5, 0], [0, 0], [0.25, 0], [1, -1]]
    advantages, _ = credit(rewards, [False, False, False, True], [0, 1, 0, 1], values, gamma=gamma, lam=lam)
    last = 0.25 + 1 - values[2]  # seat 0 at step 2: its own reward and that of the last move
    first = (0.5 + gamma * values[2] - values[0]) + gamma * lam * last
    assert advantages[2] == pytest.approx(last)
    assert advantages[0] == pytest.approx(first)


def test_the_last_decision_of_a_seat_without_an_outcome_is_not_trained_on():
    advantages, trained = credit([[0, 0]] * 3, [False] * 3, [0, 1, 0], [1.0, 2.0, 4.0])
    assert trained.tolist() == [True, False, False]
    assert advantages[0] == pytest.approx(4.0 - 1.0)  # the value of the seat's next decision stands for the rest


def test_an_episode_does_not_reach_over_its_end():
    rewards = [[1, -1], [0, 0], [-3, 3]]
    advantages, trained = credit(rewards, [True, False, True], [0, 1, 0], [0.0, 0.0, 0.0])
    assert trained.all()
    assert advantages == pytest.approx([1.0, 3.0, -3.0])


def test_decisions_of_others_carry_reward_but_are_not_trained_on():
    learner = [True, False, True]
    advantages, trained = credit([[1, 0], [2, 0], [4, 0]], [False, False, True], [0, 1, 0], [0, 0, 0], learner)
    assert trained.tolist() == learner
    assert advantages[0] == pytest.approx(7.0)


def greedy_moves(game):
    """Return a learner that does what `greedy` does."""
    greedy = make_agent("greedy", game)

    def act(observations, masks, states, ahead):
        records = observations.view(game.spec.observation_dtype).reshape(-1)
        actions = greedy.act(records, masks, np.arange(len(records), dtype=np.uint64))
        nothing = np.zeros(len(actions), np.float32)
        return actions, nothing, nothing

    return act


@pytest.mark.parametrize("players", [2, 5])
def test_a_win_is_rewarded_beside_the_payoff(players):
    """The winner of a round has the highest payoff (S33); it gets the bonus less its equal share, the others pay."""
    game = StingGame(num_players=players, rounds=1)
    rewards = []
    for bonus in (0.0, 2.0):
        selfplay = SelfPlay(game, bots_of(game), Lineup((players,), (), 1.0, win_reward=bonus), 16, seed=3)
        rollout = Rollout.empty(300, 16, game)
        selfplay.collect(rollout, greedy_moves(game))
        rewards.append(rollout.rewards)
    plain, more = rewards[0], rewards[1] - rewards[0]
    assert rollout.ends.sum() > 16
    assert not more[~rollout.ends].any()
    assert not more[:, :, players:].any()
    for payoff, bonus in zip(plain[rollout.ends], more[rollout.ends], strict=True):
        best = payoff[:players] == payoff[:players].max()
        assert bonus[:players] == pytest.approx(2.0 * (best / best.sum() - 1 / players), abs=1e-6)


def test_snapshots_that_the_learner_beats_are_met_less_often():
    """The learner plays as greedy: random loses to it, planner beats it."""
    game = StingGame(num_players=2, rounds=1)
    selfplay = SelfPlay(game, bots_of(game), Lineup((2,), (), self_share=0.0, snapshot_share=1.0), 64, seed=3)
    assert len(selfplay.snapshot_odds()) == 0
    selfplay.set_snapshots([make_agent(name, game) for name in ("random", "planner")])
    assert selfplay.snapshot_odds() == pytest.approx([0.5, 0.5])
    selfplay.collect(Rollout.empty(400, 64, game), greedy_moves(game))
    games, ahead = selfplay.met.T
    assert games.min() > 20
    beaten = ahead / games
    assert beaten[0] > 0.9 > beaten[1] + 0.3
    odds = selfplay.snapshot_odds()
    assert odds[1] > 10 * odds[0]
    assert odds.sum() == pytest.approx(1)
    selfplay.set_snapshots([*selfplay.snapshots, make_agent("greedy", game)])
    assert selfplay.met[:2, 0].tolist() == games.tolist()
    assert selfplay.met[2].tolist() == [0, 0]


@pytest.mark.parametrize("players", [2, 3, 6])
def test_streams_sum_to_the_payoffs_and_payoffs_to_zero(players):
    """Whole rounds of all-learner lanes: what each seat's decisions are credited with is what the round paid it."""
    game = StingGame(num_players=players, rounds=1)
    selfplay = SelfPlay(game, bots_of(game), Lineup((players,), (), self_share=1.0), 16, seed=3)
    rollout = Rollout.empty(400, 16, game)
    paid = []

    note = selfplay._note_results
    selfplay._note_results = lambda lanes: (paid.extend(selfplay.states["returns"][lanes].tolist()), note(lanes))
    selfplay.collect(rollout, greedy_moves(game))
    assert len(paid) > 16
    assert np.abs(np.sum(paid, axis=1)).max() < 1e-6
    assert rollout.rewards.sum() == pytest.approx(0, abs=1e-3)
    rollout.credit(1.0, 1.0)
    for lane in range(16):
        ends = np.flatnonzero(rollout.ends[:, lane])
        start = 0
        for end in ends:
            total = rollout.rewards[start : end + 1, lane].sum(axis=0)
            for seat in range(players):
                own = [t for t in range(start, end + 1) if rollout.seats[t, lane] == seat]
                if own:  # with values 0, the first decision's target is all the seat gets in the round
                    before = rollout.rewards[start : own[0], lane, seat].sum()
                    assert rollout.targets[own[0], lane] == pytest.approx(total[seat] - before, abs=1e-5)
            start = end + 1


@pytest.mark.parametrize(("players", "rounds"), [(2, 1), (4, 1), (2, 3)])
def test_what_is_foreseen_is_what_comes(players, rounds):
    """As long as all seats do what the bot would, the outlook of each plus what it has been paid is what the round brings."""
    game = StingGame(num_players=players, rounds=rounds)
    bot = make_agent("planner", game)
    selfplay = SelfPlay(game, bots_of(game), Lineup((players,), (), 1.0, win_reward=0.5, foresight=bot), 8, seed=3)
    told = []  # (round, seat, what it was paid and would be) at every decision
    returns = {}  # of each round, when it has ended

    def round_of(state, back=0):
        return int(state["seed"]), int(state["episode"]), int(state["rounds_done"]) - back

    def act(observations, masks, states, ahead):
        for state, outlook in zip(states, ahead, strict=True):
            seat = int(state["current_player"])
            returns[round_of(state, 1)] = state["returns"].copy()
            told.append((round_of(state), seat, float(state["returns"][seat] + outlook)))
        records = observations.view(game.spec.observation_dtype).reshape(-1)
        nothing = np.zeros(8, np.float32)
        return bot.act(records, masks, luck(states, selfplay.seed)), nothing, nothing

    note = selfplay._note_results

    def keep(lanes):
        over = selfplay.states[lanes]
        for state, shares in zip(over, win_shares(game, over), strict=True):
            returns[round_of(state, 1)] = state["returns"] + 0.5 * shares
        note(lanes)

    selfplay._note_results = keep
    selfplay.collect(Rollout.empty(200, 8, game), act)
    known = [(value, returns[key][seat]) for key, seat, value in told if key in returns]
    assert len(known) > 500
    assert len({key for key, _, _ in told}) > 16
    for value, came in known:
        assert value == pytest.approx(came, abs=1e-5)


FORESEEN = [
    (StingGame(num_players=3, rounds=1), "planner", "rulebook", (2, 3)),
    (StingGame(num_players=3, rounds=2), "planner", "rulebook", (2, 3)),
    (StingyGame(num_players=2), "greedy", "lookahead", (2, 4)),  # with the ghost, and without
]


@pytest.mark.parametrize(("game", "seer", "snapshot", "players"), FORESEEN)
def test_what_is_foreseen_is_up_to_date_whoever_moves(game, seer, snapshot, players, monkeypatch):
    """Learners that do anything, bots, snapshots: what is kept from before is what a new look would see."""
    bot = make_agent(seer, game)
    others = tuple(make_agent(name, game) for name in (seer, "random"))
    lineup = Lineup(players, others, 0.4, snapshot_share=0.2, win_reward=1.0, foresight=bot)
    selfplay = SelfPlay(game, bots_of(game), lineup, 32, seed=5)
    selfplay.set_snapshots([make_agent(snapshot, game)])
    rng = np.random.default_rng(1)

    def act(observations, masks, states, ahead):
        fresh = Foresight(game, bot, 1.0, len(states), selfplay.seed).look(states)
        assert ahead == pytest.approx(fresh, abs=1e-5)
        records = observations.view(game.spec.observation_dtype).reshape(-1)
        actions = bot.act(records, masks, luck(states, selfplay.seed))
        strays = rng.random(len(actions)) < 0.2
        actions[strays] = [rng.choice(np.flatnonzero(mask)) for mask in masks[strays]]
        nothing = np.zeros(len(actions), np.float32)
        return actions, nothing, nothing

    look = Foresight.look
    seen = []

    def count(self, states):
        if self is selfplay.foresight:
            seen.append(float((~self.known).mean()))
        return look(self, states)

    monkeypatch.setattr(Foresight, "look", count)
    selfplay.collect(Rollout.empty(150, 32, game), act)
    assert 0.05 < np.mean(seen[1:]) < 0.7  # most need no new look


def test_foresight_needs_a_critic(tmp_path):
    with pytest.raises(TrainingError, match="foresight 'greedy' is for a critic"):
        train(tmp_path, Settings(foresight="greedy", critic=False))


def test_foresight_needs_hidden_things_that_a_critic_reads(tmp_path, monkeypatch):
    monkeypatch.setattr(StingGame, "spec", replace(StingGame.spec, critic_fields=()))
    with pytest.raises(TrainingError, match="sting-v0 names no critic_fields"):
        train(tmp_path / "run", Settings(foresight="greedy"))
    assert not (tmp_path / "run").exists()
