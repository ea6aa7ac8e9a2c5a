"""What always holds: cards are kept, the same seed is the same game, luck is fair, rewards sum to zero."""

import hashlib
import os
import pickle
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from sting_env import StingGame
from tabletop.threads import forced
from tests.sting.players import choose, fresh, play_out
from tests.sting.table import KINDS, Table, cards_of, deck, in_order

OPTIONS = [
    {},
    {"discard_to_go_out": True, "max_turns": 120, "rounds": 2},
    {"special_cards": False, "rounds": 2},
    {"hand_size": 7, "reward": "win", "target_score": 40, "rounds": None, "face_values": True},
    {"substitution": False, "open_hands": True, "stack_multipliers": False, "max_turns": 40, "rounds": 2},
]


def mixed(size):
    """Give a player count for each lane, 2 to 6."""
    return 2 + np.arange(size) % 5


def chi_square_is_plausible(counts, expected):
    """Tell whether counts fit their expectation: within five standard deviations of what chance gives."""
    counts, expected = np.asarray(counts, float), np.asarray(expected, float)
    statistic = ((counts - expected) ** 2 / expected).sum()
    freedom = len(counts) - 1
    return abs(statistic - freedom) < 5 * np.sqrt(2 * freedom)


# Cards ----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("options", OPTIONS)
def test_no_card_is_ever_lost_or_made(options):
    rng = np.random.default_rng(1)
    game = StingGame(**options)
    states = fresh(game, range(10), mixed(10))
    expected = deck(options.get("special_cards", True))
    assert sum(expected.values()) == (104 if options.get("special_cards", True) else 80)
    for _ in range(400):
        for state in states:
            assert cards_of(game.to_dict(state)) == expected
        game.step(states, choose(rng, game.legal_action_mask(states), 0.7))


def test_hand_sizes_are_the_hands():
    rng = np.random.default_rng(2)
    game = StingGame()
    states = fresh(game, range(10), mixed(10))
    for _ in range(300):
        sizes = game.observe(states, observer=0)["hand_size"]
        for state, seen in zip(states, sizes):
            hands = [len(hand) for hand in game.to_dict(state)["hands"]]
            assert seen.tolist() == hands + [0] * (6 - len(hands))
        game.step(states, choose(rng, game.legal_action_mask(states), 0.7))


# The same game, however it is run -------------------------------------------------------------------------------------


def run_lanes(game, seeds, num_players, steps, num_threads=1, lanes=None):
    """Play uniformly at random for some steps and give the records."""
    states = fresh(game, seeds, num_players)
    seeds = np.asarray(seeds, np.uint64)
    for _ in range(steps):
        actions = game.random_actions(states, seeds)
        if lanes is None:
            game.step(states, actions, num_threads=num_threads)
        else:
            game.step(states, actions[lanes], lanes=lanes)
    return states


@pytest.fixture(scope="module")
def many():
    game = StingGame(max_turns=60, rounds=3)
    seeds = np.random.default_rng(5).integers(0, 2**64, 1024, dtype=np.uint64)
    return game, seeds, run_lanes(game, seeds, mixed(1024), 500)


def test_a_lane_is_the_same_in_any_batch(many):
    game, seeds, states = many
    assert np.array_equal(run_lanes(game, seeds[:7], mixed(1024)[:7], 500), states[:7])
    for lane in (0, 3, 511, 1023):
        alone = run_lanes(game, seeds[lane : lane + 1], mixed(1024)[lane : lane + 1], 500)
        assert np.array_equal(alone, states[lane : lane + 1])


def test_a_lane_is_the_same_in_any_order(many):
    game, seeds, states = many
    order = np.random.default_rng(6).permutation(1024)[:200]
    assert np.array_equal(run_lanes(game, seeds[order], mixed(1024)[order], 500), states[order])


@pytest.mark.parametrize("num_threads", [2, 3, 8])
def test_a_lane_is_the_same_with_any_number_of_threads(many, num_threads):
    game, seeds, states = many
    with forced(num_threads):
        again = run_lanes(game, seeds[:50], mixed(1024)[:50], 500, num_threads)
    assert np.array_equal(again, states[:50])


def test_a_lane_is_the_same_when_lanes_are_named(many):
    game, seeds, states = many
    order = np.random.default_rng(7).permutation(30)
    again = run_lanes(game, seeds[:30], mixed(1024)[:30], 500, lanes=order)
    assert np.array_equal(again, states[:30])


def test_lanes_that_are_not_named_are_left_alone(many):
    game, seeds, _ = many
    states = fresh(game, seeds[:10])
    before = states.copy()
    game.step(states, [0, 1], lanes=[7, 2])
    untouched = [lane for lane in range(10) if lane not in (2, 7)]
    assert np.array_equal(states[untouched], before[untouched])
    assert states[7] != before[7]
    game.reset(states, [5], lanes=[4], num_players=3)
    untouched.remove(4)
    assert np.array_equal(states[untouched], before[untouched])
    assert states[4] == fresh(game, [5], 3)[0]


def test_what_a_lane_held_before_does_not_matter(many):
    game, seeds, states = many
    used = states[:20].copy()
    game.reset(used, seeds[20:40], num_players=mixed(1024)[20:40])
    assert np.array_equal(used, fresh(game, seeds[20:40], mixed(1024)[20:40]))


def test_one_pass_is_the_same_as_steps(many):
    game, seeds, _ = many
    size = 40
    stepped, advanced = fresh(game, seeds[:size], mixed(size)), fresh(game, seeds[:size], mixed(size))
    threaded = advanced.copy()
    rewards, terminated = np.empty((size, 6), np.float32), np.empty(size, np.bool_)
    mask = np.empty((size, game.num_actions), np.bool_)
    observation = np.empty(size, game.spec.observation_dtype)
    episodes = np.zeros(size, np.int64)
    for _ in range(1500):
        actions = game.random_actions(stepped, seeds[:size])
        game.step(stepped, actions)
        game.advance(advanced, actions, rewards=rewards, terminated=terminated, mask=mask, observation=observation)
        with forced(2):
            game.advance(threaded, actions, num_threads=2)
        assert np.array_equal(rewards, game.rewards(stepped))
        over = game.terminated(stepped)
        assert np.array_equal(terminated, over)
        if over.any():
            episodes += over
            lanes = np.flatnonzero(over)
            game.reset(stepped, seeds[lanes], lanes, mixed(size)[lanes], episodes[lanes])
        assert np.array_equal(mask, game.legal_action_mask(stepped))
        assert observation.tobytes() == game.observe(stepped).tobytes()
        advanced["rewards"] = stepped["rewards"]
        threaded["rewards"] = stepped["rewards"]
        assert np.array_equal(advanced, stepped)
        assert np.array_equal(threaded, stepped)
    assert episodes.max() > 1


def test_without_autoreset_the_end_stays():
    game = StingGame(rounds=1, max_turns=10)
    states = fresh(game, range(5))
    while not game.terminated(states).all():
        game.advance(states, game.random_actions(states, states["seed"]), autoreset=False)
    assert (states["episode"] == 0).all()


def test_copying_a_record_copies_the_game(many):
    game, seeds, _ = many
    states = run_lanes(game, seeds[:20], mixed(20), 100)
    copies = [states.copy(), pickle.loads(pickle.dumps(states)), np.concatenate([states[:10], states[10:]])]
    for copy in [*copies, states]:
        for _ in range(200):
            game.step(copy, game.random_actions(copy, seeds[:20]))
    assert all(np.array_equal(copy, states) for copy in copies)


def test_looking_changes_nothing(many):
    game, _, states = many
    before = states.tobytes()
    game.legal_action_mask(states)
    for observer in (None, 0, 1):
        game.observe(states, observer)
        game.determinize(states, observer, np.arange(len(states), dtype=np.uint64))
    game.observe_all(states)
    for read in (game.current_player, game.rewards, game.returns, game.terminated):
        read(states)[...] = 7
    game.to_dict(states[3])
    assert states.tobytes() == before


# Seeds ----------------------------------------------------------------------------------------------------------------


def table_of(game, state):
    """Give all that was dealt, to be compared."""
    now = game.to_dict(state)
    return str([now[name] for name in ("hands", "draw_stacks", "discard_pile", "dealer")])


def test_same_seed_same_game_and_other_seeds_other_games():
    game = StingGame(num_players=3)
    dealt = [table_of(game, state) for state in fresh(game, np.arange(300))]
    assert dealt == [table_of(game, state) for state in fresh(game, np.arange(300))]
    assert len({deal.rsplit(",", 1)[0] for deal in dealt}) == 300


def test_one_seed_is_spread_over_the_lanes():
    game = StingGame()
    states, again, other = game.new_states(50), game.new_states(20), game.new_states(50)
    game.reset(states, 7)
    game.reset(again, 7)
    game.reset(other, 8)
    assert np.array_equal(states[:20], again)
    assert len({table_of(game, state) for state in np.concatenate([states, other])}) == 100


def test_episodes_of_a_lane_differ():
    game = StingGame()
    states = game.new_states(50)
    game.reset(states, np.full(50, 7, np.uint64), episodes=np.arange(50))
    assert len({table_of(game, state) for state in states}) == 50


def test_seeds_at_the_edges():
    game = StingGame()
    seeds = np.array([0, 1, 2**63 - 1, 2**63, 2**64 - 1], np.uint64)
    assert len({table_of(game, state) for state in fresh(game, seeds)}) == 5


@pytest.mark.parametrize("num_players", [2, 3, 6])
def test_a_deal_depends_on_seed_and_round_alone(num_players):
    game = StingGame(num_players=num_players, rounds=4, max_turns=30)
    deals = []
    for hungry in (0.0, 0.5, 1.0):
        rng = np.random.default_rng(int(hungry * 10))
        states = fresh(game, range(10))
        begun = {}
        while not game.terminated(states).all():
            for lane, state in enumerate(states):
                place = (lane, int(state["rounds_done"]))
                if place not in begun and state["turn"] == 0 and not game.terminated(states)[lane]:
                    begun[place] = table_of(game, state)
            game.step(states, choose(rng, game.legal_action_mask(states), hungry))
        deals.append(begun)
    assert len(deals[0]) == 40
    assert deals[0] == deals[1] == deals[2]
    assert len(set(deals[0].values())) == 40


# Draw order -----------------------------------------------------------------------------------------------------------


def draws_of(seat, how_many, seed, num_players=4, turns=6):
    """Give the cards that a seat draws in its first turns; the others draw as many as `how_many` says."""
    game = StingGame(num_players=num_players, discard_to_go_out=True)
    states = fresh(game, [seed])
    drawn = []
    while len(drawn) < 2 * turns:
        player, before = int(states["current_player"][0]), game.to_dict(states[0])["hands"]
        count = 2 if player == seat else how_many(player, len(drawn))
        game.step(states, [count - 1])
        if player == seat:
            new = list(game.to_dict(states[0])["hands"][seat])
            for card in before[seat]:
                new.remove(card)
            drawn += in_order(new)
        game.step(states, [game.string_to_action(f"discard {game.to_dict(states[0])['hands'][player][0]}")])
    return drawn


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("seat", [0, 2])
def test_what_a_seat_draws_does_not_depend_on_the_others(seed, seat):
    one = draws_of(seat, lambda player, turn: 1, seed)
    two = draws_of(seat, lambda player, turn: 2, seed)
    some = draws_of(seat, lambda player, turn: 1 + (player + turn) % 2, seed)
    assert one == two == some


def test_an_empty_seat_draws_from_the_far_end_of_the_longest_other():
    hands = [["R1"], ["R2"], ["R3"], ["R4"]]
    stacks = [[], ["B1", "B2"], ["G1", "G2", "G3"], ["Y1", "Y2", "Y3"]]
    table = Table(hands, phase="DRAW", stacks=stacks)
    now = table.play("draw 2").now
    assert now["hands"][0] == ["R1", "G1", "Y1"]  # the longest, the first clockwise; then the other one
    assert now["draw_stacks"] == [[], ["B1", "B2"], ["G2", "G3"], ["Y2", "Y3"]]
    table = Table(hands, phase="DRAW", stacks=[["R5"], *stacks[1:]])
    assert table.play("draw 2").now["hands"][0] == ["R1", "R5", "G1"]
    table = Table(hands[::-1], phase="DRAW", stacks=[*stacks[1:], []], current_player=3, turn_player=3)
    assert table.play("draw 1").now["hands"][3] == ["R1", "G1"]


def test_draw_order_is_the_same_for_every_position_of_the_table():
    """Of stacks equally long, the first clockwise from the seat that draws."""
    for seat in range(4):
        stacks = [[f"{colour}1", f"{colour}2"] for colour in "RBGY"]
        stacks[seat] = []
        hands = [["W"], ["D"], ["T"], ["S"]]
        table = Table(hands, phase="DRAW", stacks=stacks, current_player=seat, turn_player=seat)
        assert table.play("draw 1").now["hands"][seat][0] == f"{'RBGY'[(seat + 1) % 4]}1"


# Luck -----------------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def first_deals():
    game = StingGame(num_players=3)
    return game, fresh(game, np.random.default_rng(8).integers(0, 2**64, 20_000, dtype=np.uint64))


def test_every_card_is_dealt_equally_often(first_deals):
    game, states = first_deals
    for observer in range(3):
        counts = game.observe(states, observer)["hand"].sum(0, dtype=np.int64)
        copies = np.array([deck()[card] for card in KINDS])
        assert counts.sum() == 200_000
        assert chi_square_is_plausible(counts, 200_000 * copies / 104)


def test_every_seat_deals_equally_often(first_deals):
    _, states = first_deals
    assert chi_square_is_plausible(np.bincount(states["dealer"], minlength=3), [20_000 / 3] * 3)


def test_every_natural_is_turned_equally_often(first_deals):
    game, states = first_deals
    tops = game.observe(states, 0)["discard_top"][:, 0].sum(0, dtype=np.int64)
    assert tops[40:].sum() == 0
    assert chi_square_is_plausible(tops[:40], [500] * 40)


def test_every_card_is_next_equally_often():
    game = StingGame(special_cards=False)
    states = fresh(game, np.random.default_rng(9).integers(0, 2**64, 20_000, dtype=np.uint64))
    following = game.observe_all(states)["next_card"].sum(0, dtype=np.int64)
    for rel in range(2):
        assert following[rel].sum() == 20_000
        assert chi_square_is_plausible(following[rel, :40], [500] * 40)


def test_neighbouring_seeds_have_nothing_in_common():
    game = StingGame(special_cards=False)
    hands = game.observe(fresh(game, np.arange(20_001)), 0)["hand"].astype(np.int64)
    shared = np.minimum(hands[1:], hands[:-1]).sum() / 20_000
    strangers = np.minimum(hands[:10_000], hands[10_000:20_000]).sum() / 10_000
    assert shared == pytest.approx(strangers, abs=0.03)


def test_every_order_of_a_reshuffle_is_equally_likely():
    discard = ["B1", "G2", "Y3", "W"]
    rest = list((deck() - deck_of(discard) - deck_of(["R1", "R2", "R3"])).elements())
    table = Table([["R1"], ["R2", *rest], ["R3"]], phase="DRAW", discard=discard, stacks=[[], [], []])
    start = table.now
    seen = {}
    for key in range(2400):
        states = table.game.from_dict(start, key)
        table.game.step(states, [0])
        now = table.game.to_dict(states[0])
        drawn = next(card for card in now["hands"][0] if card != "R1")
        order = (now["discard_pile"][0], drawn, *[stack[0] for stack in now["draw_stacks"] if stack])
        assert sorted(order) == sorted(discard)
        seen[order] = seen.get(order, 0) + 1
    assert len(seen) == 24
    assert chi_square_is_plausible(list(seen.values()), [100] * 24)


def deck_of(cards):
    return cards_of({"discard_pile": cards, "hands": [], "draw_stacks": [], "piles": [], "held": None})


# Rewards --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("options", OPTIONS)
def test_rewards_sum_to_zero_and_returns_are_their_sum(options):
    rng = np.random.default_rng(11)
    game = StingGame(**options)
    states = fresh(game, range(40), mixed(40))
    returns = np.zeros((40, 6), np.float32)
    paid = 0
    while not game.terminated(states).all():
        rounds = states["rounds_done"].copy()
        game.step(states, choose(rng, game.legal_action_mask(states), 0.8))
        rewards = game.rewards(states)
        returns += rewards
        assert np.abs(rewards.sum(1)).max() < 1e-5
        assert not rewards[states["num_players"][:, None] <= np.arange(6)].any()
        scored = (states["rounds_done"] > rounds) if game.config.reward == "margin" else game.terminated(states)
        assert not rewards[~scored].any()
        paid += int((np.abs(rewards).max(1) > 0).sum())
    assert np.array_equal(game.returns(states), returns)
    assert paid >= 30
    game.step(states, np.zeros(40, np.int64))
    assert not game.rewards(states).any()
    assert np.array_equal(game.returns(states), returns)


def test_margins_add_up_to_totals():
    game = StingGame(rounds=3, max_turns=60)
    states = fresh(game, range(40), mixed(40))
    play_out(game, states, np.random.default_rng(12))
    for state in states:
        n = int(state["num_players"])
        totals = state["totals"][:n].astype(float)
        margins = ((totals.sum() - totals) / (n - 1) - totals) / 100
        assert state["returns"][:n].tolist() == pytest.approx(margins.tolist(), abs=1e-4)


def test_every_game_ends():
    for options in OPTIONS:
        game = StingGame(**options)
        states = fresh(game, range(20), mixed(20))
        play_out(game, states, np.random.default_rng(13), hungry=0.2)
        assert (game.current_player(states) == -1).all()
        assert not game.legal_action_mask(states).any()


# Compiled and not -----------------------------------------------------------------------------------------------------


def digest(seed):
    """Play short games and give a hash of all that was seen on the way: states, masks, observations, worlds."""
    game = StingGame(rounds=2, max_turns=12)
    rng = np.random.default_rng(seed)
    states = fresh(game, np.arange(3) + seed, [2, 4, 6])
    hashed = hashlib.sha256()
    running = True
    while running:
        running = not game.terminated(states).all()
        mask = game.legal_action_mask(states)
        worlds = game.determinize(states, None, np.arange(3, dtype=np.uint64))
        for seen in (states, game.observe(states), game.observe(states, 1), game.observe_all(states), worlds):
            for name in seen.dtype.names:
                hashed.update(np.ascontiguousarray(seen[name]).tobytes())
        hashed.update(mask.tobytes())
        game.step(states, choose(rng, mask, 0.8))
    return hashed.hexdigest()


def test_without_compilation_every_byte_is_the_same():
    code = (
        "from tests.sting.test_invariants import digest\n"
        "from tabletop.jit import COMPILED\n"
        "print(COMPILED, *[digest(seed) for seed in range(3)])"
    )
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code],
        cwd=Path(__file__).parents[2],
        env={**os.environ, "NUMBA_DISABLE_JIT": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == ["False", *[digest(seed) for seed in range(3)]]
