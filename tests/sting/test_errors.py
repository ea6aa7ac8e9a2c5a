"""Wrong use is an error that names what is wrong, and leaves everything as it was."""

import dataclasses

import numpy as np
import pytest

import sting_env
from sting_env import VARIANTS, StingConfig, StingGame, variant
from sting_env.game import game_of
from tabletop.game import IllegalActionError, PositionError
from tabletop.threads import forced
from tests.sting.players import choose, fresh, play_out
from tests.sting.table import Table, run

# Options --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "named"),
    [
        ({"num_players": 1}, "num_players.*2 to 6.*1"),
        ({"num_players": 7}, "num_players"),
        ({"num_players": 2.0}, "num_players"),
        ({"num_players": "2"}, "num_players"),
        ({"num_players": True}, "num_players"),
        ({"num_players": None}, "num_players"),
        ({"hand_size": 0}, "hand_size"),
        ({"hand_size": 40}, "hand_size.*39"),
        ({"hand_size": 14, "num_players": 6}, "hand_size.*13"),
        ({"hand_size": 7.5}, "hand_size"),
        ({"max_turns": 0}, "max_turns"),
        ({"max_turns": None}, "max_turns"),
        ({"max_turns": 10**9}, "max_turns"),
        ({"rounds": 0}, "rounds"),
        ({"rounds": -1}, "rounds"),
        ({"rounds": "5"}, "rounds"),
        ({"rounds": None}, "rounds.*target_score"),
        ({"target_score": 0}, "target_score"),
        ({"target_score": 99.5}, "target_score"),
        ({"reward": "points"}, "reward.*margin, win"),
        ({"reward": None}, "reward"),
        *[
            ({name: value}, name)
            for name in (
                "special_cards", "open_hands", "discard_to_go_out", "substitution", "stack_multipliers", "face_values"
            )
            for value in (1, 0, None, "yes")
        ],
    ],
)  # fmt: skip
def test_an_option_that_can_not_be_is_named(options, named):
    with pytest.raises(ValueError, match=named):
        StingGame(**options)


@pytest.mark.parametrize("make", [StingGame, sting_env.make_game, StingConfig.from_dict])
def test_an_unknown_option_is_named_and_the_known_ones_listed(make):
    with pytest.raises((ValueError, TypeError), match=r"'jokers'.*hand_size"):
        make({"jokers": 2}) if make == StingConfig.from_dict else make(jokers=2)


def test_a_configuration_is_frozen_and_compares_by_value():
    config = StingConfig(num_players=3)
    with pytest.raises(dataclasses.FrozenInstanceError):
        config.rounds = 3
    assert StingGame(config) == StingGame(num_players=3) != StingGame(num_players=4)
    assert hash(StingGame(config)) == hash(StingGame(num_players=3))
    assert StingConfig.from_dict(config.to_dict()) == config
    assert StingGame(config, rounds=2).config == StingConfig(num_players=3, rounds=2)


@pytest.mark.parametrize("name", VARIANTS)
def test_every_variant_is_a_game(name):
    game = StingGame(variant(name, num_players=3, max_turns=20))
    states = fresh(game, [1, 2])
    play_out(game, states, np.random.default_rng(1))
    assert game_of(game.to_dict(states[0])) == game


def test_an_unknown_variant_is_named():
    with pytest.raises(ValueError, match=r"'wild west'.*standard"):
        variant("wild west")


# Illegal actions ------------------------------------------------------------------------------------------------------


def test_an_illegal_action_names_lane_phase_action_and_what_is_legal():
    table = Table([["R1", "R2"], ["R3"]])
    states = np.repeat(table.states, 4)
    actions = np.full(4, table.game.string_to_action("discard R1"))
    actions[2] = table.game.string_to_action("run R1-3")
    with pytest.raises(IllegalActionError, match=r"lane 2.*PLAY.*'run R1-3' \(102\).*discard R1, discard R2"):
        table.game.step(states, actions)


@pytest.mark.parametrize("bad", [-1, 405, 447, 448, 10_000, -(2**40), 2**40])
def test_there_is_no_such_action(bad):
    game = StingGame()
    states = fresh(game, range(3))
    before = states.copy()
    with pytest.raises(IllegalActionError, match=f"lane 1.*{bad}.*no such action"):
        game.step(states, [0, bad, 0])
    assert np.array_equal(states, before)


def test_after_an_illegal_action_no_lane_has_changed():
    game = StingGame()
    rng = np.random.default_rng(2)
    states = fresh(game, range(20), 2 + np.arange(20) % 5)
    for step in range(150):
        mask = game.legal_action_mask(states)
        actions = choose(rng, mask, 0.8)
        before = states.copy()
        lane = step % 20
        wrong = actions.copy()
        wrong[lane] = rng.choice(np.flatnonzero(~mask[lane]))
        for attempt in (
            lambda wrong=wrong: game.step(states, wrong),
            lambda wrong=wrong: game.step(states, wrong, num_threads=2),
            lambda wrong=wrong: game.advance(states, wrong),
            lambda wrong=wrong: game.advance(states, wrong, num_threads=2),
            lambda wrong=wrong: game.step(states, wrong, lanes=np.arange(20)),
        ):
            if game.terminated(states)[lane]:
                break
            with forced(2), pytest.raises(IllegalActionError, match=f"lane {lane},"):
                attempt()
            assert np.array_equal(states, before)
        game.step(states, actions)


def test_an_illegal_action_of_named_lanes_names_the_lane():
    game = StingGame()
    states = fresh(game, range(5))
    before = states.copy()
    with pytest.raises(IllegalActionError, match="lane 3"):
        game.step(states, [0, 300, 1], lanes=[4, 3, 0])
    assert np.array_equal(states, before)


def test_the_same_lane_twice_in_one_step_is_refused():
    """The second action would be played without a look at whether it is legal."""
    table = Table([["R1", "R2"], ["R3", "R4"]])
    before = table.states.copy()
    discard = table.game.string_to_action("discard R1")
    with pytest.raises((ValueError, IndexError), match="lane"):
        table.game.step(table.states, [discard, discard], lanes=[0, 0])
    assert np.array_equal(table.states, before)


def test_actions_after_the_end_are_ignored():
    table = Table([["R1"], ["R2"]], config={"rounds": 1}).play("discard R1")
    over = table.states.copy()
    over["rewards"] = 0
    for action in (0, 404, -7, 10**6):
        table.game.step(table.states, [action])
        assert np.array_equal(table.states, over)


def test_lanes_that_are_over_do_not_stop_the_others():
    game = StingGame(rounds=1, max_turns=6)
    rng = np.random.default_rng(3)
    states = fresh(game, range(30), 2 + np.arange(30) % 5)
    steps = play_out(game, states, rng)
    assert steps > 20
    assert game.terminated(states).all()


# Wrong types and shapes -----------------------------------------------------------------------------------------------


@pytest.fixture
def three():
    game = StingGame()
    return game, fresh(game, range(3))


@pytest.mark.parametrize(
    "actions", [[0.0, 1.0, 0.0], [True, False, True], ["0", "1", "0"], [None, 0, 1], np.zeros(3, "f4")]
)
def test_actions_that_are_no_whole_numbers(three, actions):
    game, states = three
    before = states.copy()
    for call in (game.step, game.advance):
        with pytest.raises(TypeError, match="actions"):
            call(states, actions)
    assert np.array_equal(states, before)


@pytest.mark.parametrize("actions", [0, [0], [0, 0], [0] * 4, [[0, 0, 0]], np.zeros((3, 1), int), []])
def test_actions_of_the_wrong_shape(three, actions):
    game, states = three
    before = states.copy()
    with pytest.raises((ValueError, TypeError), match="actions"):
        game.step(states, actions)
    assert np.array_equal(states, before)


@pytest.mark.parametrize("dtype", ["i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8"])
def test_any_whole_numbers_are_actions(three, dtype):
    game, states = three
    game.step(states, np.array([0, 1, 0], dtype))


def test_huge_unsigned_actions_are_illegal_too(three):
    game, states = three
    with pytest.raises(IllegalActionError):
        game.step(states, np.array([0, 2**64 - 1, 0], np.uint64))


@pytest.mark.parametrize("wrong", [None, [1, 2], np.zeros(3), "states"])
def test_what_is_no_batch_of_records(wrong):
    game = StingGame()
    for call in (
        lambda: game.step(wrong, [0, 0, 0]),
        lambda: game.observe(wrong),
        lambda: game.legal_action_mask(wrong),
        lambda: game.reset(wrong, 1),
        lambda: game.observe_all(wrong),
        lambda: game.determinize(wrong, 0, np.zeros(3, np.uint64)),
    ):
        with pytest.raises(TypeError, match="new_states"):
            call()


def test_a_single_record_or_a_table_of_them_is_no_batch(three):
    game, states = three
    for wrong in (states[0], states.reshape(3, 1)):
        with pytest.raises(TypeError, match="one-dimensional"):
            game.step(wrong, [0, 0, 0])


@pytest.mark.parametrize("lanes", [[3], [-1], [0, 7], [2**40]])
def test_lanes_that_are_not_there(three, lanes):
    game, states = three
    before = states.copy()
    with pytest.raises(IndexError, match="lanes"):
        game.step(states, [0] * len(lanes), lanes=lanes)
    with pytest.raises(IndexError, match="lanes"):
        game.reset(states, 1, lanes=lanes)
    assert np.array_equal(states, before)


@pytest.mark.parametrize(
    "lanes", [[0.0, 1.0], [0.5], [True, False, True], np.array([False, True, False]), [[0, 1]], ["0"]]
)
def test_lanes_that_are_no_whole_numbers(three, lanes):
    game, states = three
    before = states.copy()
    with pytest.raises((TypeError, ValueError)):
        game.step(states, [0] * len(lanes), lanes=lanes)
    with pytest.raises((TypeError, ValueError)):
        game.reset(states, 1, lanes=lanes)
    assert np.array_equal(states, before)


def test_no_lanes_at_all(three):
    game, states = three
    before = states.copy()
    game.step(states, np.zeros(0, int), lanes=np.zeros(0, int))
    game.reset(states, np.zeros(0, np.uint64), lanes=np.zeros(0, int))
    assert np.array_equal(states, before)
    nothing = game.new_states(0)
    game.reset(nothing, 1)
    game.step(nothing, np.zeros(0, int))
    assert game.legal_action_mask(nothing).shape == (0, 405)
    assert game.observe(nothing).shape == game.current_player(nothing).shape == (0,)


@pytest.mark.parametrize("seeds", [1.5, [1.0, 2.0, 3.0], "1", ["1", "2", "3"], None, [None, 1, 2], [True, False, True]])
def test_seeds_that_are_no_whole_numbers(three, seeds):
    game, states = three
    before = states.copy()
    with pytest.raises((TypeError, ValueError)):
        game.reset(states, seeds)
    assert np.array_equal(states, before)


@pytest.mark.parametrize("seeds", [[1], [1, 2], [1, 2, 3, 4], [[1, 2, 3]]])
def test_seeds_of_the_wrong_shape(three, seeds):
    game, states = three
    with pytest.raises(ValueError, match="seeds"):
        game.reset(states, np.array(seeds, np.uint64))


@pytest.mark.parametrize("num_players", [0, 1, 7, [2, 3, 9], [2, 3, -1]])
def test_wrong_numbers_of_players(three, num_players):
    game, states = three
    before = states.copy()
    with pytest.raises(ValueError, match="num_players"):
        game.reset(states, 1, num_players=num_players)
    assert np.array_equal(states, before)


@pytest.mark.parametrize("num_players", [2.5, [2.0, 3.0, 4.0], "3", True, [None, 2, 2]])
def test_numbers_of_players_that_are_no_whole_numbers(three, num_players):
    game, states = three
    with pytest.raises((TypeError, ValueError), match="num_players"):
        game.reset(states, 1, num_players=num_players)


def test_too_many_players_for_the_hands():
    game = StingGame(hand_size=20)
    states = game.new_states(2)
    with pytest.raises(ValueError, match=r"hand_size.*players"):
        game.reset(states, 1, num_players=[2, 4])


@pytest.mark.parametrize("observer", [-1, 2, 6, [0, 1, 2], [0, -1, 0], 0.5, "0"])
def test_an_observer_who_is_not_there(three, observer):
    game, states = three
    with pytest.raises((TypeError, ValueError)):
        game.observe(states, observer)
    with pytest.raises((TypeError, ValueError)):
        game.determinize(states, observer, np.zeros(3, np.uint64))


def test_observers_of_lanes_with_different_numbers_of_players():
    game = StingGame()
    states = fresh(game, range(3), [2, 4, 6])
    game.observe(states, [1, 3, 5])
    with pytest.raises(ValueError, match="observer"):
        game.observe(states, [1, 4, 5])


def test_arrays_to_write_into_of_the_wrong_kind(three):
    game, states = three
    for out in (
        np.zeros((3, 404), bool), np.zeros((2, 405), bool), np.zeros((3, 405), np.int8), np.zeros((405, 3), bool).T,
        np.zeros(1215, bool), np.zeros((3, 810), bool)[:, ::2],
    ):  # fmt: skip
        with pytest.raises(ValueError, match="out"):
            game.legal_action_mask(states, out=out)
    records = game.spec.observation_dtype
    for out in (np.zeros(3), np.zeros(2, records), np.zeros((3, 1), records), np.zeros((3, 1965), np.int8)):
        with pytest.raises(ValueError, match="out"):
            game.observe(states, out=out)
    with pytest.raises(ValueError, match=r"out|contiguous"):
        game.observe(states, out=np.zeros(6, records)[::2])


@pytest.mark.parametrize(
    ("name", "out"),
    [
        ("rewards", np.zeros((3, 2), np.float32)),
        ("rewards", np.zeros((3, 6))),
        ("terminated", np.zeros(2, bool)),
        ("terminated", np.zeros(3, np.int8)),
        ("mask", np.zeros((3, 400), bool)),
        ("observation", np.zeros((3, 100), np.int8)),
        ("observation", np.zeros((3, 2), StingGame.spec.observation_dtype)),
    ],
)
def test_arrays_for_one_pass_of_the_wrong_kind(three, name, out):
    game, states = three
    before = states.copy()
    with pytest.raises(ValueError, match=name):
        game.advance(states, [0, 0, 0], **{name: out})
    assert np.array_equal(states, before)


def test_what_is_written_is_what_is_returned(three):
    game, states = three
    mask, observation = np.ones((3, 405), bool), np.ones(3, game.spec.observation_dtype)
    assert game.legal_action_mask(states, out=mask) is mask
    assert game.observe(states, out=observation) is observation
    assert np.array_equal(mask, game.legal_action_mask(states))
    assert np.array_equal(observation, game.observe(states))


def test_a_negative_batch():
    with pytest.raises(ValueError, match="batch_size"):
        StingGame().new_states(-1)


def test_new_states_hold_no_game():
    game = StingGame()
    states = game.new_states(3)
    assert game.terminated(states).all()
    assert not game.legal_action_mask(states).any()
    game.step(states, [0, 1, 2])
    assert game.terminated(states).all()


def test_a_position_without_a_game():
    with pytest.raises(PositionError, match="config"):
        game_of({"phase": "PLAY"})
    with pytest.raises(PositionError, match="jokers"):
        game_of({"config": {"jokers": 1}})


def test_an_error_in_the_middle_of_a_play_shows_the_question():
    table = Table([["W", "B1"], ["B2"]], [run(1, "R4", "R5", "R6")]).play("add W")
    with pytest.raises(IllegalActionError, match=r"END.*'accept'.*end low, end high"):
        table.play("accept")


def test_read_only_states_are_refused():
    game = StingGame()
    states = fresh(game, range(3))
    actions = game.random_actions(states, states["seed"])
    before = states.copy()
    states.flags.writeable = False
    for change in (
        lambda: game.reset(states, 1),
        lambda: game.step(states, actions),
        lambda: game.step(states, actions[:1], lanes=[0]),
        lambda: game.advance(states, actions),
    ):
        with pytest.raises(ValueError, match="read-only: take a copy"):
            change()
    assert np.array_equal(states, before)


def test_states_that_are_not_contiguous_are_refused_where_bytes_are_written():
    game = StingGame()
    states = fresh(game, range(6))[::2]
    for change in (lambda: game.reset(states, 1), lambda: game.advance(states, game.random_actions(states, [1, 2, 3]))):
        with pytest.raises(ValueError, match="contiguous: take a copy"):
            change()


def test_random_actions_want_a_seed_and_a_place_for_every_lane():
    game = StingGame()
    states = fresh(game, range(5))
    expected = game.random_actions(states, np.arange(5, dtype=np.uint64))
    assert np.array_equal(game.random_actions(states, [0, 1, 2, 3, 4]), expected)
    for seeds in ([1], np.arange(4, dtype=np.uint64), np.zeros((5, 2), np.uint64)):
        with pytest.raises(ValueError, match=r"seeds must have shape \[5\]"):
            game.random_actions(states, seeds)
    for out in (np.empty(4, np.int64), np.empty(5, np.int32), np.empty(10, np.int64)[::2]):
        with pytest.raises(ValueError, match=r"out must be a contiguous, writable int64 array \[5\]"):
            game.random_actions(states, [0, 1, 2, 3, 4], out=out)
    kept = np.empty(5, np.int64)
    kept.flags.writeable = False
    with pytest.raises(ValueError, match="writable"):
        game.random_actions(states, [0, 1, 2, 3, 4], out=kept)


def test_wrong_numbers_of_threads_are_named():
    game = StingGame()
    states = fresh(game, range(3))
    actions = game.random_actions(states, states["seed"])
    for call in (
        lambda: game.step(states, actions, num_threads=0),
        lambda: game.advance(states, actions, num_threads=-2),
        lambda: game.random_actions(states, states["seed"], num_threads=0),
    ):
        with pytest.raises(ValueError, match="num_threads must be at least 1, not"):
            call()
