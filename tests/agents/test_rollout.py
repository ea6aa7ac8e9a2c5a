"""The rollout bot: legal, repeatable, blind to what is hidden, better than who plays on."""

from dataclasses import replace

import numpy as np
import pytest

from agents.arena import compare
from agents.base import SearchAgent, luck, play_out
from agents.registry import make_agent
from agents.rollout import with_aim
from agents.search import play_worlds, rollouts
from sting_env import StingGame
from stingy_env import StingyGame
from tabletop.selfplay import ask
from tests.agents.plain import Plain

GAMES = (StingGame(num_players=2, rounds=1), StingGame(num_players=4, rounds=1), StingyGame(num_players=3))


def midgame(game, lanes=6, steps=40):
    """Return positions from random play."""
    states = game.new_states(lanes)
    game.reset(states, 11)
    for _ in range(steps):
        game.step(states, game.random_actions(states, np.arange(lanes, dtype=np.uint64)))
    return states[~game.terminated(states)]


@pytest.mark.parametrize(
    "spec",
    [
        "rollout:playouts=64",
        "rollout:playouts=64,prior=ppo,candidates=3,aim=margin",
        "rollout:playouts=64,prior=greedy",
        "rollout:playouts=64,prior=ppo,candidates=2,playout=ppo:best=yes",
    ],
)
@pytest.mark.parametrize("game", GAMES, ids=lambda g: f"{g.spec.name}-{g.num_players}")
def test_choices_are_legal_and_the_same_for_the_same_luck_in_any_batch(game, spec):
    agent = make_agent(spec, game)
    assert isinstance(agent, SearchAgent)
    states = midgame(game)
    keys = luck(states, 5)
    together = ask(agent, game, states, keys)
    assert game.legal_action_mask(states)[np.arange(len(states)), together].all()
    for b in range(len(states)):
        assert ask(agent, game, states[b : b + 1], keys[b : b + 1])[0] == together[b]


@pytest.mark.parametrize("game", GAMES, ids=lambda g: f"{g.spec.name}-{g.num_players}")
def test_what_is_hidden_makes_no_difference(game):
    """The records handed over depend on the information set and the keys alone, so does the choice."""
    agent = make_agent("rollout:playouts=64", game)
    states = midgame(game)
    keys = luck(states, 5)
    elsewhere = game.determinize(states, None, np.arange(len(states), dtype=np.uint64) + 99)
    assert (ask(agent, game, states, keys) == ask(agent, game, elsewhere, keys)).all()


@pytest.mark.parametrize("bot", ["greedy", "random"])
@pytest.mark.parametrize("game", GAMES, ids=lambda g: f"{g.spec.name}-{g.num_players}")
def test_playing_on_in_batches_is_what_the_compiled_loop_does(game, bot):
    """The same worlds, the same luck: the same values to the last digit, whichever worlds are asked for."""
    states, compiled = midgame(game), make_agent(bot, game)
    candidates = game.legal_action_mask(states)
    candidates[::2, ::3] = False
    loop = rollouts(game, states, compiled, 3, 9, 2, candidates)
    batch = rollouts(game, states, Plain(compiled), 3, 9, 2, candidates)
    assert np.array_equal(loop.mean, batch.mean, equal_nan=True)
    assert np.allclose(loop.error, batch.error, equal_nan=True)
    each = [play_worlds(game, states, Plain(compiled), 1, 9, world, candidates) for world in (2, 3, 4)]
    assert np.array_equal(np.hstack(each), play_worlds(game, states, Plain(compiled), 3, 9, 2, candidates))
    assert (np.hstack(each).std(axis=1) > 0).any()


def test_a_network_plays_on_in_as_many_worlds_as_there_is_time_for(monkeypatch):
    """A clock that a chunk of w worlds moves on by w tenths of a second: no round of halving outlasts its share by a world."""
    game = GAMES[0]
    clock, asked = [0.0], []

    def play(game, record, agent, worlds, key, first, tried):
        asked.append((clock[0], worlds, int(tried.sum())))
        clock[0] += 0.1 * worlds
        return np.zeros((int(tried.sum()), worlds))

    monkeypatch.setattr("agents.rollout.play_worlds", play)
    monkeypatch.setattr("agents.rollout.time.perf_counter", lambda: clock[0])
    agent = make_agent("rollout:ms=10000,playout=ppo", game)
    states = midgame(game)
    legal = game.legal_action_mask(states)
    lane = int(legal.sum(axis=1).argmax())
    assert legal[lane].sum() > 4
    ask(agent, game, states[lane : lane + 1], luck(states[lane : lane + 1], 5))
    assert asked[0][1] == 1
    assert max(worlds * tried for _, worlds, tried in asked) <= 64
    assert max(worlds for _, worlds, _ in asked) > 4
    assert 10.0 <= clock[0] <= 10.2


def test_whoever_can_go_out_this_turn_does():
    """A win in hand (S10) is worth more than any playout: where greedy goes out at once, the choice wins too."""
    game = StingGame(num_players=2, rounds=1)
    states = game.new_states(300)
    game.reset(states, 3)
    agent, greedy = make_agent("rollout:playouts=128", game), make_agent("greedy", game)
    found = 0
    while found < 10 and not game.terminated(states).all():
        live = np.flatnonzero(~game.terminated(states))
        actions = np.zeros(len(states), np.int64)
        actions[live] = ask(greedy, game, states[live], luck(states[live], 1))
        after = states.copy()
        game.step(after, actions)
        several = game.legal_action_mask(states).sum(axis=1) > 1
        for lane in np.flatnonzero(game.terminated(after) & ~game.terminated(states) & several)[:3]:
            player = int(states["current_player"][lane])
            if game.returns(after)[lane, player] <= 0:
                continue
            end = states[lane : lane + 1].copy()
            game.step(end, ask(agent, game, end, luck(end, 2)))
            play_out(game, end, [greedy, greedy], 1)  # it may have chosen a play that wins as surely
            assert game.returns(end)[0, player] > 0
            found += 1
        states = after
    assert found >= 10


def test_it_beats_who_plays_on_for_it():
    game = StingGame(num_players=2, rounds=1)
    agents = [make_agent("rollout:playouts=512", game), make_agent("greedy", game)]
    assert compare(game, agents, 120, 4).pair(agents[0].name, "greedy").win_share.mean > 0.5


@pytest.mark.parametrize("game", GAMES, ids=lambda g: f"{g.spec.name}-{g.num_players}")
def test_endless_doubt_leaves_the_choice_to_the_prior_and_none_takes_the_better_mean(game):
    states = midgame(game)
    keys = luck(states, 5)
    usual = ask(make_agent("greedy", game), game, states, keys)
    doubtful = make_agent("rollout:playouts=64,prior=greedy,doubt=1e9", game)
    assert (ask(doubtful, game, states, keys) == usual).all()
    free = make_agent("rollout:playouts=1600,prior=greedy,doubt=0", game)
    assert (ask(free, game, states, keys) != usual).any()


def test_what_is_not_seen_in_many_worlds_is_left_to_the_prior():
    """By hand: 16 worlds, differences of 1 in 12 and -1 in 4: mean 0.5, standard error sqrt(0.8)/4 = 0.2236."""
    agent = make_agent("rollout:playouts=64,prior=greedy", GAMES[0])
    actions, squares = np.array([3, 7]), np.array([0.0, 16.0])
    for doubt, choice in ((2.0, 7), (2.2, 7), (2.3, 3)):
        doubtful = replace(agent, doubt=doubt)
        assert doubtful.surely_better(actions, np.array([0.0, 8.0]), squares, 16, 3) == choice
    assert agent.surely_better(actions, np.array([0.0, 15.0]), np.array([0.0, 15.0]), 15, 3) == 3
    assert agent.surely_better(actions, np.array([0.0, 16.0]), np.array([0.0, 16.0]), 16, 3) == 7


@pytest.mark.parametrize("playouts", [1, 30, 200])
@pytest.mark.parametrize("prior", ["", ",prior=greedy"])
def test_no_more_is_played_out_than_the_budget_says(playouts, prior, monkeypatch):
    """Every candidate is tried once at least; beyond that the budget holds."""
    game = GAMES[0]
    played = []

    def count(game, record, bot, worlds, key, first, candidates):
        found = rollouts(game, record, bot, worlds, key, first, candidates)
        played.append(worlds * int(candidates.sum()))
        return found

    monkeypatch.setattr("agents.rollout.rollouts", count)
    agent = make_agent(f"rollout:playouts={playouts}{prior}", game)
    states = midgame(game)
    masks = game.legal_action_mask(states)
    for b in range(len(states)):
        played.clear()
        ask(agent, game, states[b : b + 1], luck(states[b : b + 1], 1))
        legal = int(masks[b].sum())
        assert sum(played) <= max(playouts, legal if legal > 1 else 0)


@pytest.mark.parametrize("game", GAMES, ids=lambda g: f"{g.spec.name}-{g.num_players}")
def test_the_aim_is_what_the_searched_game_pays(game):
    """By default a game pays by the margin; for wins it pays 1 to a lone winner, which no margin of a round is."""
    assert with_aim(game, "margin") is game
    wins = with_aim(game, "win")
    assert wins.num_players == game.num_players
    states = midgame(game)
    play_out(wins, states, [make_agent("greedy", wins)] * game.num_players, 1)
    assert (wins.returns(states).max(axis=1) == 1).all()
    assert with_aim(wins, "win") is wins
    assert with_aim(wins, "margin") == game


def test_time_is_kept():
    import time

    game = GAMES[0]
    states = midgame(game, lanes=4)
    agent = make_agent("rollout:ms=20", game)
    ask(agent, game, states, luck(states, 1))
    begun = time.perf_counter()
    ask(agent, game, states, luck(states, 1))
    assert time.perf_counter() - begun < 2.0  # 0.08 when nobody else uses the machine


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        ("rollout:ms=50,playouts=9", "not both"),
        ("rollout:ms=0", "above 0"),
        ("rollout:playout=rollout", "who searches can't play on"),
        ("rollout:prior=rollout", "a bot or a trained network"),
        ("rollout:prior=greedy,doubt=-1", "0 or more"),
        ("rollout:doubt=1", "name one"),
        ("rollout:prior=greedy,doubt=nan", "standard errors"),
        ("rollout:aim=money", "win or margin"),
        ("rollout:depth=3", "no option"),
    ],
)
def test_wrong_options_are_named(spec, words):
    with pytest.raises(ValueError, match=words):
        make_agent(spec, GAMES[0])


def test_it_says_what_it_needs():
    game = GAMES[0]
    states = midgame(game)
    agent = make_agent("rollout", game)
    with pytest.raises(TypeError, match="records"):
        agent.act(game.observe(states), game.legal_action_mask(states), luck(states, 1))
