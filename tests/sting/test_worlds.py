"""Determinization: worlds that the observer can't tell apart, dealt uniformly, playable, without a trace of the truth."""

from collections import Counter
from itertools import permutations

import numpy as np
import pytest

from sting_env import StingGame
from tests.naive.sting import NaiveSting
from tests.sting.players import choose, fresh, play_out
from tests.sting.table import (
    ADD,
    KINDS,
    LAY,
    PASS,
    SUBSTITUTE,
    TAKE,
    WILD,
    Table,
    cards_of,
    deck,
    in_order,
    position,
    run,
    set_of,
)  # fmt: skip
from tests.sting.test_invariants import chi_square_is_plausible

HIDDEN = {"hand", "hand_bits", "draw_stack", "legal", "seed", "rng_key"}  # fields of a record that may differ


def seeds(count, first=0):
    return np.arange(first, first + count, dtype=np.uint64)


def situation(game, state):
    """Name what is being asked: the phase, and what for."""
    now = game.to_dict(state)
    play = now["pending"].get("play", "").split(" ")[0]
    return (now["phase"], play, "held" if now["held"] else "")


@pytest.fixture(scope="module", params=[{}, {"discard_to_go_out": True, "hand_size": 7}], ids=["plain", "strict"])
def collected(request):
    """Give a game and, from random games of all player counts, some states of every situation."""
    game = StingGame(rounds=1, **request.param)
    rng = np.random.default_rng(1)
    states = fresh(game, range(300), 2 + np.arange(300) % 5)
    found = {}
    for step in range(400):
        for lane in np.flatnonzero(~game.terminated(states)):
            play = int(np.searchsorted([0, LAY.start, ADD.start, SUBSTITUTE.start, TAKE, PASS], states["play"][lane]))
            held = bool(states["held"][lane] >= 0)
            kept = found.setdefault((int(states["phase"][lane]), play, held), [])
            if len(kept) < 12 and (step % 7 == 0 or play or held):
                kept.append(states[lane].copy())
        game.step(states, choose(rng, game.legal_action_mask(states), 0.95))
    flat = [state for kept in found.values() for state in kept]
    return game, np.array(flat, dtype=game.spec.state_dtype)


def test_every_situation_is_looked_at(collected):
    game, states = collected
    seen = {situation(game, state) for state in states}
    asked = {(phase, play) for phase, play, _ in seen}
    assert {"DRAW", "PLAY", "WILD", "SEAT", "PILE", "END", "RESPOND"} <= {phase for phase, _ in asked}
    assert {("PILE", "add"), ("PILE", "substitute"), ("PILE", "pass"), ("SEAT", "pass"), ("SEAT", "set")} <= asked
    assert ("PLAY", "", "held") in seen


@pytest.mark.parametrize("rel", range(6))
def test_the_observer_sees_no_difference(collected, rel):
    """Seat `rel` from the one who decides: the same observation, and the same legal actions for who decides."""
    game, states = collected
    states = states[rel < states["num_players"]]
    observers = (states["current_player"].astype(np.int64) + rel) % states["num_players"]
    worlds = game.determinize(states, observers, seeds(len(states)), worlds=3)
    thrice = np.repeat(observers, 3)
    assert np.array_equal(game.observe(worlds, thrice), np.repeat(game.observe(states, observers), 3))
    if rel == 0:
        assert np.array_equal(game.legal_action_mask(worlds), np.repeat(game.legal_action_mask(states), 3, axis=0))
        assert np.array_equal(game.determinize(states, None, seeds(len(states)), worlds=3)["hand"], worlds["hand"])
    assert np.array_equal(game.current_player(worlds), np.repeat(game.current_player(states), 3))


@pytest.mark.parametrize("rel", range(3))
def test_all_that_is_public_stays(collected, rel):
    game, states = collected
    states = states[rel < states["num_players"]]
    observers = (states["current_player"].astype(np.int64) + rel) % states["num_players"]
    worlds = game.determinize(states, observers, seeds(len(states), 50))
    for name in states.dtype.names:
        if name not in HIDDEN:
            assert np.array_equal(worlds[name], states[name]), name
    for state, world, observer in zip(states, worlds, observers):
        before, after = game.to_dict(state), game.to_dict(world)
        assert after["hands"][observer] == before["hands"][observer]
        assert [len(hand) for hand in after["hands"]] == [len(hand) for hand in before["hands"]]
        assert [len(stack) for stack in after["draw_stacks"]] == [len(stack) for stack in before["draw_stacks"]]
        public = [name for name in before if name not in ("hands", "draw_stacks")]
        assert {name: after[name] for name in public} == {name: before[name] for name in public}
        assert cards_of(after) == deck()


@pytest.mark.parametrize("rel", range(5))
def test_worlds_can_be_played_to_the_end(collected, rel):
    """Also in the middle of another player's play there is something legal, and it leads on."""
    game, states = collected
    states = states[(rel < states["num_players"]) & ~game.terminated(states)]
    observers = (states["current_player"].astype(np.int64) + rel) % states["num_players"]
    worlds = game.determinize(states, observers, seeds(len(states), 100), worlds=4)
    legal = game.legal_action_mask(worlds).sum(1)
    assert legal.min() > 0
    questions = (worlds["phase"] > 1) & (worlds["phase"] < 6)
    assert legal[questions].min() > 1
    rng = np.random.default_rng(2)
    for _ in range(40):
        game.step(worlds, choose(rng, game.legal_action_mask(worlds), 0.9))
        assert (worlds["hand"] <= 8).all()
        assert (worlds["hand"].sum(2) == worlds["hand_size"]).all()
    for world in worlds[::5]:
        assert cards_of(game.to_dict(world)) == deck()
    play_out(game, worlds, rng, 0.6)


def test_worlds_differ_from_the_truth_and_from_each_other():
    game = StingGame(num_players=3)
    states = fresh(game, range(50))
    worlds = game.determinize(states, None, seeds(50), worlds=4)
    assert len({state["hand"].tobytes() for state in [*worlds, *states]}) == 250
    assert len({state["draw_stack"].tobytes() for state in [*worlds, *states]}) == 250


def test_worlds_are_seeded():
    game = StingGame(num_players=3)
    states = fresh(game, range(20))
    worlds = game.determinize(states, 1, seeds(20), worlds=5)
    assert np.array_equal(worlds, game.determinize(states, 1, seeds(20), worlds=5))
    alone = game.determinize(states[7:8], 1, seeds(1, 7), worlds=3)
    assert np.array_equal(alone, worlds[35:38])
    assert not np.array_equal(worlds, game.determinize(states, 1, seeds(20, 1), worlds=5))


def test_no_world_knows_the_stream_of_the_truth():
    game = StingGame(num_players=3)
    states = fresh(game, range(20))
    worlds = game.determinize(states, None, seeds(20), worlds=5)
    assert len(set(worlds["rng_key"]) | set(states["rng_key"])) == 120
    assert not set(worlds["seed"]) & set(states["seed"])


def test_no_trace_of_drawn_cards(collected):
    game, states = collected
    states = states[~game.terminated(states)]
    used = states.copy()
    used["draw_stack"] = 77  # what lies outside the stacks is no card
    for seat in range(6):
        for lane, (low, high) in enumerate(zip(states["draw_low"][:, seat], states["draw_high"][:, seat])):
            used["draw_stack"][lane, low:high] = states["draw_stack"][lane, low:high]
    worlds = game.determinize(used, None, seeds(len(used)))
    place = np.arange(104)
    inside = np.zeros((len(used), 104), bool)
    for seat in range(6):
        low, high = worlds["draw_low"][:, seat, None], worlds["draw_high"][:, seat, None]
        inside |= (place >= low) & (place < high)
    assert not worlds["draw_stack"][~inside].any()


def test_open_hands_are_known():
    game = StingGame(num_players=4, open_hands=True)
    rng = np.random.default_rng(3)
    states = fresh(game, range(30))
    for _ in range(60):
        worlds = game.determinize(states, None, seeds(30))
        assert np.array_equal(worlds["hand"], states["hand"])
        assert not np.array_equal(worlds["draw_stack"], states["draw_stack"])
        assert np.array_equal(game.observe(worlds), game.observe(states))
        game.step(states, choose(rng, game.legal_action_mask(states), 0.8))


def test_the_number_of_worlds_and_the_observer_are_checked():
    game = StingGame(num_players=3)
    states = fresh(game, range(2))
    with pytest.raises(ValueError, match="worlds"):
        game.determinize(states, None, seeds(2), worlds=0)
    for observer in (-1, 3, [0, 5]):
        with pytest.raises(ValueError, match="observer"):
            game.determinize(states, observer, seeds(2))
    with pytest.raises(ValueError, match="seeds"):
        game.determinize(states, None, seeds(3))


# Uniformity -----------------------------------------------------------------------------------------------------------


def test_every_hidden_card_is_anywhere_equally_often():
    game = StingGame(num_players=3)
    states = fresh(game, [5])
    unseen = game.observe(states, 0)["unseen"][0].astype(np.int64)
    kinds = np.flatnonzero(unseen)
    worlds = game.determinize(states, 0, seeds(1), worlds=20_000)
    for seat in (1, 2):
        counts = worlds["hand"][:, seat].sum(0, dtype=np.int64)
        assert counts.sum() == 200_000
        assert chi_square_is_plausible(counts[kinds], 200_000 * unseen[kinds] / unseen.sum())
    following = game.observe_all(worlds)["next_card"].sum(0, dtype=np.int64)
    for seat in range(3):
        assert chi_square_is_plausible(following[seat][kinds], 20_000 * unseen[kinds] / unseen.sum())


def expected_hands(start, named, texts):
    """Give how often each hand of player 0 comes about, over all deals of the hidden cards to hand and stacks.

    The cards named by the play lie in the hand as if they were on the table. The reference plays the decisions seen from
    every deal; a deal counts if they are legal and lead to the same question.
    """
    size = len(start["hands"][0])
    groups = start["hands"][2:] + start["draw_stacks"]
    hidden = list(start["hands"][0])
    for card in named:
        hidden.remove(card)
    hidden += [card for group in groups for card in group]
    actions = [StingGame().string_to_action(text) for text in texts]

    def asked(hand):
        rest = list((Counter(hidden + named) - Counter(hand)).elements())
        dealt = [[rest.pop() for _ in group] for group in groups]
        others = len(start["hands"]) - 2
        hands = [list(hand), start["hands"][1], *dealt[:others]]
        try:
            naive = NaiveSting.from_dict({**start, "hands": hands, "draw_stacks": dealt[others:]})
            for action in actions:
                if action not in WILD or naive.phase == "WILD":  # whether a question was asked before is not remembered
                    naive.apply(action)
        except ValueError:
            return None
        return naive.phase, naive.current_player, len(naive.legal_actions()) > 0

    truth = asked(start["hands"][0])
    fits, counts = {}, Counter()
    for places in permutations(range(len(hidden)), size - len(named)):
        hand = tuple(in_order(named + [hidden[place] for place in places]))
        if hand not in fits:
            fits[hand] = asked(hand) == truth
        counts[hand] += fits[hand]
    return {hand: count for hand, count in counts.items() if count}


@pytest.mark.parametrize(
    ("named", "others", "undrawn", "piles", "discard", "texts"),
    [
        (
            ["R7"], ["B1", "G1"], ["R7", "G3", "PASS"],
            [run(1, "R4", "R5", "R6"), run(0, "R8", "R9", "R10")], ["Y1"], ["add R7"],
        ),
        (["R5", "B5"], ["W", "D", "G9"], ["W", "R5", "G1", "T"], [], ["Y1"], ["set 5 R B *"]),
        (["R5", "B5", "W"], ["D", "G9"], ["W", "R5", "G1", "T"], [], ["Y1"], ["set 5 R B *", "wild W"]),
        ([], ["R5", "B1"], ["B5", "R5", "G1", "R9"], [run(1, "R6", "R7", "R8")], ["Y1", "W"], ["take"]),
        ([], ["R4", "R5", "B1"], ["R4", "G5", "Y7", "BACK"], [], ["Y1", "R6"], ["take"]),
        (
            ["G5"], ["B1", "B2"], ["G5", "G1", "B3", "Y7"],
            [set_of(1, "R5", "B5", "W", "D")], ["Y9"], ["substitute G5"],
        ),
        (
            ["Y5"], ["B1", "B2"], ["Y5", "B3", "R1", "T"],
            [set_of(1, "R5", "B5", "G5", "W"), run(0, "Y4", "W", "Y6")], ["Y9"], ["substitute Y5"],
        ),
        (["D"], ["R1", "R9", "B1"], ["R1", "G9", "W", "R9"], [run(1, "R3", "W", "R5", "W", "R7")], ["Y9"], ["add D"]),
        (["PASS"], ["R1"], ["BACK", "BACK", "PASS"], [run(0, "R3", "R4", "R5")], ["Y9"], ["pass"]),
        (["PASS"], ["R1"], ["BACK", "BACK", "PASS"], [run(0, "R3", "R4", "R5"), run(0, "G3", "G4", "G5")], ["Y9"], ["pass"]),
    ],
    ids=[
        "pile", "wild", "seat", "held wild", "held natural", "which comes out", "substitute", "end", "respond", "pass",
    ],
)  # fmt: skip
def test_hidden_hands_are_uniform_over_the_deals_that_fit(named, others, undrawn, piles, discard, texts):
    stacks = [undrawn[:2], undrawn[2:]]
    rest = deck() - Counter(named + others + undrawn + discard)
    for pile in piles:
        rest -= Counter(pile["cards"])
    hands = [named + others, list(rest.elements())]
    if "wild W" in texts:  # with two players the seat is not asked for
        hands.append([hands[1].pop()])
        stacks.append([])
    expected = expected_hands(position(hands, piles, discard=discard, stacks=stacks), named, texts)
    assert len(expected) > 1
    table = Table(hands, piles, discard=discard, stacks=stacks).play(*texts)
    worlds = table.game.determinize(table.states, 1, seeds(1), worlds=8000)
    gone = Counter(hands[0]) - Counter(table.hands[0])
    counts = Counter()
    for kinds, count in zip(*np.unique(worlds["hand"][:, 0], axis=0, return_counts=True)):
        cards = Counter({KINDS[kind]: int(kinds[kind]) for kind in np.flatnonzero(kinds)}) + gone
        counts[tuple(in_order(cards.elements()))] += count
    assert set(counts) == set(expected)
    total = sum(expected.values())
    ordered = sorted(expected)
    assert chi_square_is_plausible(
        [counts[hand] for hand in ordered], [8000 * expected[hand] / total for hand in ordered]
    )
