"""What players see: all but the order of the pool, and enough of it to know what is legal."""

import numpy as np
import pytest

from stingy_env import StingyGame
from stingy_env.observation import FIELDS
from stingy_env.rules import NUM_ACTIONS, NUM_KINDS, TILES_OF_KIND
from stingy_env.text import ACTION_OF_TEXT, KIND_NAMES
from tabletop.game import flat
from tests.naive.stingy import VALUE_OF_SIZE, possible_totals
from tests.stingy.play import CONFIGS, random_games
from tests.stingy.table import SINGLES, Table


def only(one_hot):
    """Return the place of the one in a one-hot vector, None if it is all zero."""
    places = np.flatnonzero(one_hot)
    assert len(places) <= 1
    assert one_hot.max(initial=0) <= 1
    return int(places[0]) if len(places) else None


def legal_by_eye(o, phases):
    """Work out the legal actions from one observation alone, slowly."""
    me, seats = 0, 3 if o["num_players"][0] else only(o["num_players"]) + 2
    phase, sly = phases[only(o["phase"])], bool(o["options"][0])
    turn = only(o["turn_player"])
    demander = {k: int(o["displays"][turn, k]) for k in range(NUM_KINDS) if o["displays"][turn, k]}
    texts = []
    if phase == "SWAP":
        assert turn == me
        texts.append("no swap")
        for rel in range(1, seats):
            for kind in np.flatnonzero(o["displays"][rel]):
                others = sum(VALUE_OF_SIZE[size] for k, size in demander.items() if k != kind)
                if sly or others >= VALUE_OF_SIZE[int(o["displays"][rel, kind])]:
                    texts.append(f"demand +{rel} {KIND_NAMES[kind]}")
    elif phase == "DRAW":
        texts += ["tiles regular", "tiles extra"]
    elif phase in ("RESPOND", "GIVE"):
        value, total = int(o["demanded_value"]), int(o["total"])
        kinds = [int(kind) for kind in np.flatnonzero(o["undecided"])]
        worth = {kind: VALUE_OF_SIZE[demander[kind]] for kind in kinds}

        def fits(what):
            return what <= value if phase == "RESPOND" else what > value

        texts += ["stop"] if fits(total) else []
        for kind in kinds:
            later = possible_totals([worth[k] for k in kinds if k > kind])
            if any(fits(total + worth[kind] + more) for more in later):
                texts.append(f"group {KIND_NAMES[kind]}")
        if phase == "RESPOND" and total == 0 and not sly and value not in possible_totals(worth.values()):
            texts.append("pay")
    mask = np.zeros(NUM_ACTIONS, np.bool_)
    mask[[ACTION_OF_TEXT[text] for text in texts]] = True
    return mask


@pytest.mark.parametrize("options", CONFIGS, ids=str)
def test_observation_alone_tells_what_is_legal(options):
    for game, states in random_games(2, **options):
        observations, masks = game.observe(states), game.legal_action_mask(states)
        for lane in range(2):
            assert (legal_by_eye(observations[lane], game.spec.phases) == masks[lane]).all()


@pytest.mark.parametrize("options", CONFIGS, ids=str)
def test_observation_never_depends_on_the_order_of_the_pool(options):
    players = options["num_players"]
    seeds = np.arange(8, dtype=np.uint64)
    for step, (game, states) in enumerate(random_games(8, **options)):
        if step % 10:
            continue
        for observer in range(players):
            worlds = game.determinize(states, observer, seeds, worlds=3)
            seen = game.observe(states, observer)
            assert game.observe(worlds, observer).tobytes() == np.repeat(seen, 3).tobytes()
            assert (game.legal_action_mask(worlds) == np.repeat(game.legal_action_mask(states), 3, axis=0)).all()


def test_determinized_worlds_play_on_and_do_not_depend_on_the_true_order():
    game = StingyGame(num_players=3)
    states = game.new_states(50)
    game.reset(states, 0)
    keys = np.arange(50, dtype=np.uint64)
    for _ in range(60):
        game.step(states, game.random_actions(states, keys))
    worlds = game.determinize(states, 0, keys)
    again = game.determinize(game.determinize(states, 0, keys + np.uint64(1000)), 0, keys)
    assert (worlds["pool"] == again["pool"]).all()
    heights = states["pool_high"] - states["pool_low"]
    assert (worlds["pool_high"] - worlds["pool_low"] == heights).all()
    assert (worlds["unseen"] == states["unseen"]).all()
    while not game.terminated(worlds).all():
        game.step(worlds, game.random_actions(worlds, keys))
    complete = (worlds["complete"][:, :, None] >> np.arange(NUM_KINDS)) & 1
    assert (worlds["tiles"].sum(axis=1) + complete.sum(axis=1) * TILES_OF_KIND == TILES_OF_KIND).all()


def test_determinized_pool_is_uniform():
    """The next tile of a seat is each unseen tile as often as it is there."""
    game = StingyGame(num_players=3)
    states = game.new_states(1)
    game.reset(states, 5)
    worlds = game.determinize(states, 0, np.array([1], np.uint64), worlds=20_000)
    for seat in range(3):
        following = worlds["pool"][np.arange(len(worlds)), worlds["pool_high"][:, seat].astype(int) - 1]
        expected = states["unseen"][0] / states["pool_size"][0] * len(worlds)
        found = np.bincount(following, minlength=NUM_KINDS)
        held = expected > 0
        statistic = ((found - expected)[held] ** 2 / expected[held]).sum()
        assert statistic < 60  # chi square of 24 degrees of freedom: one in 10,000
        assert (found[~held] == 0).all()


def test_fields_are_where_the_description_says():
    game = StingyGame(num_players=2)
    states = game.new_states(3)
    game.reset(states, 1)
    observation = game.observe(states)
    vector = flat(observation)
    assert vector.shape == (3, game.spec.observation_size)
    assert game.spec.observation_size <= 1024
    description = game.describe_observation().splitlines()
    assert len(description) == 1 + len(FIELDS)
    for field, line in zip(FIELDS, description[1:]):
        place = game.spec.observation_slices()[field.name]
        assert (vector[:, place].reshape(observation[field.name].shape) == observation[field.name]).all()
        assert line.split()[:2] == [field.name, f"{place.start}:{place.stop}"]


@pytest.mark.parametrize(("observer", "ghost", "other"), [(0, 2, 1), (1, 1, 2)])
def test_seats_are_counted_from_the_observer(observer, ghost, other):
    displays = [{"bottle-1": 1, "coins-1": 3}, {"diamond-1": 1}, {"parrot-1": 2}]
    table = Table(displays, num_players=2).play("demand +2 parrot-1")
    o = table.game.observe(table.states, observer)[0]
    assert only(o["ghost"]) == only(o["owner"]) == ghost
    assert o["displays"][other].tobytes() == table.game.observe(table.states, 1 - observer)[0]["displays"][0].tobytes()
    assert only(o["turn_player"]) == (0 - observer) % 3
    assert only(o["current_player"]) == (1 - observer) % 3
    assert only(o["demanded"]) == KIND_NAMES.index("parrot-1")
    assert (int(o["demanded_value"]), int(o["total"]), only(o["last_group"])) == (3, 0, None)
    assert np.flatnonzero(o["undecided"]).tolist() == [KIND_NAMES.index("bottle-1"), KIND_NAMES.index("coins-1")]


def test_counts_and_scores():
    complete = [["bottle-0", "flag"], ["parrot-0"], ["diamond-0"]]
    table = Table([SINGLES, {"coins-3": 2}, {}], complete=complete, complete_points=(6, 500, 15, 20, 125))
    o = table.game.observe(table.states, 1)[0]
    assert o["scores"][:3].tolist() == [127, 20, 127]  # 500, 20, 131
    assert o["lead"][:3].tolist() == [0, -127, -127]
    assert o["worth"][:3].tolist() == [3, 0, 4]
    assert o["display_tiles"][:3].tolist() == [2, 0, 4]
    assert o["complete_points"].tolist() == [6, 127, 15, 20, 125]
    assert [KIND_NAMES[kind] for kind in np.flatnonzero(o["complete"][2])] == ["bottle-0", "flag"]
    assert int(o["unseen"].sum()) == int(o["pool_size"]) == table.pool
    assert (int(o["last_round"]), int(o["last_turns"])) == (0, 0)
    table = Table([SINGLES, {"flag": 1}, {}], only=[[], [], []], rest_to=2, last_turns=2)
    o = table.game.observe(table.states)[0]
    assert (int(o["last_round"]), int(o["last_turns"]), int(o["pool_size"])) == (1, 2, 0)


def test_everything_shows_the_order_of_the_pool_too():
    for game, states in random_games(3, num_players=3, seed=7):
        full, seen = game.observe_all(states), game.observe(states)
        for field in FIELDS:
            assert (full[field.name] == seen[field.name]).all()
        for lane, state in enumerate(states):
            observer = max(int(state["current_player"]), 0)
            stacks = game.to_dict(state)["pool_stacks"]
            following = [stacks[(observer + rel) % 3][::-1] for rel in range(3)]
            tiles = [KIND_NAMES.index(tile) + 1 for stack in following for tile in stack]
            assert full["pool"][lane][: len(tiles)].tolist() == tiles
            assert not full["pool"][lane][len(tiles) :].any()
            assert full["stack_height"][lane][:3].tolist() == [len(stack) for stack in following]
            for rel, stack in enumerate(following):
                shown = [only(one_hot) for one_hot in full["next_tiles"][lane, rel]]
                assert [KIND_NAMES[kind] for kind in shown if kind is not None] == stack[:3]
