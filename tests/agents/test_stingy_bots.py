"""Stingy's bots: legal, honest, obedient to their extra-tile rule, each better than the one before."""

from __future__ import annotations

import numpy as np
import pytest

from agents.arena import compare
from agents.base import play_out
from agents.registry import bots_of, make_agent
from stingy_env import StingyGame
from stingy_env.rules import EXTRA_SINGLES, NO_SWAP, TILES_EXTRA, TILES_OF_KIND, TILES_REGULAR, Phase
from stingy_env.text import KIND_NAMES
from tabletop import seeding

BOTS = ("random", "greedy", "lookahead")
RULES = ("", ":extra=always", ":extra=never", ":extra=hint")
OPTIONS = (
    {},
    {"captain_sly": True},
    {"colour_scoring": True},
    {"captain_sly": True, "colour_scoring": True, "complete_points": (0, 1, 200, 1000, 7)},
)


def positions(game, lanes=40, seed=0):
    """Return records of positions with a decision to be made, from games between different bots."""
    states = game.new_states(lanes)
    game.reset(states, seed)
    agents = [make_agent(spec, game) for spec in BOTS]
    found = []
    rng = np.random.default_rng(seed)
    t = 0
    while (states["current_player"] >= 0).any():
        going = states[states["current_player"] >= 0]
        found.append(going[rng.random(len(going)) < 0.1].copy())
        actions = np.zeros(lanes, np.int64)
        keys = seeding.spread(seed + t, lanes)
        on = np.flatnonzero(states["current_player"] >= 0)
        for k, agent in enumerate(agents):
            mine = on[(on + states["current_player"][on]) % len(agents) == k]
            if len(mine):
                records = states[mine]
                actions[mine] = agent.act(game.observe(records), game.legal_action_mask(records), keys[mine])
        game.step(states, actions)
        t += 1
    return np.concatenate(found)


def choices(spec, game, states):
    agent = make_agent(spec, game)
    return agent.act(game.observe(states), game.legal_action_mask(states), seeding.spread(3, len(states)))


@pytest.mark.parametrize("options", OPTIONS)
@pytest.mark.parametrize("n", range(2, 7))
def test_bots_play_legally_in_every_variant(n, options):
    """`play_out` raises for an illegal action."""
    game = StingyGame(num_players=n, **options)
    rng = np.random.default_rng(n)
    for _ in range(3):
        seated = [make_agent(rng.choice(BOTS) + rng.choice(RULES), game) for _ in range(n)]
        states = game.new_states(12)
        game.reset(states, int(rng.integers(1 << 40)))
        play_out(game, states, seated, key=1)
        assert game.terminated(states).all()


@pytest.mark.parametrize("n", [2, 3, 6])
def test_bots_do_not_know_the_order_of_the_pool(n):
    game = StingyGame(num_players=n)
    states = positions(game, lanes=20)
    worlds = 3
    other = game.determinize(states, None, seeding.spread(1, len(states)), worlds)
    assert (other["pool"] != np.repeat(states["pool"], worlds, axis=0)).any()
    keys = seeding.spread(2, len(states))
    for name in BOTS:
        for rule in RULES:
            agent = make_agent(name + rule, game)
            here = agent.act(game.observe(states), game.legal_action_mask(states), keys)
            there = agent.act(game.observe(other), game.legal_action_mask(other), np.repeat(keys, worlds))
            np.testing.assert_array_equal(np.repeat(here, worlds), there)


# Extra tiles ------------------------------------------------------------------------------------------------------------


def awaits_extra(states, seats):
    """Tell where one tile more would be offered to who makes no swap (G16)."""
    own = states["tiles"][np.arange(len(states)), states["current_player"]]
    return ((own == 1).sum(axis=1) <= EXTRA_SINGLES) & (states["pool_size"] > (2 if seats <= 4 else 1))


@pytest.mark.parametrize("n", [2, 4, 5])
@pytest.mark.parametrize("bot", BOTS)
def test_extra_tile_rules(bot, n):
    game = StingyGame(num_players=n)
    states = positions(game, lanes=60, seed=4)
    asked = states[states["phase"] == Phase.DRAW]
    assert len(asked) > 3
    assert (choices(f"{bot}:extra=always", game, asked) == TILES_EXTRA).all()
    assert (choices(f"{bot}:extra=hint", game, asked) == TILES_EXTRA).all()
    assert (choices(f"{bot}:extra=never", game, asked) == TILES_REGULAR).all()
    swaps = states[states["phase"] == Phase.SWAP]
    awaits = awaits_extra(swaps, max(3, n))
    assert awaits.any()
    assert not awaits.all()
    never, hint, always = (choices(f"{bot}:extra={rule}", game, swaps) for rule in ("never", "hint", "always"))
    np.testing.assert_array_equal(hint, never)
    assert (always[awaits] == NO_SWAP).all()
    assert (never[awaits] != NO_SWAP).any()
    np.testing.assert_array_equal(always[~awaits], never[~awaits])


def test_own_extra_tile_rules():
    game = StingyGame(num_players=3)
    states = positions(game, lanes=60, seed=4)
    asked = states[states["phase"] == Phase.DRAW]
    assert 0 < (choices("random", game, np.repeat(asked, 20)) == TILES_EXTRA).mean() < 1
    swaps = states[states["phase"] == Phase.SWAP]
    awaits = awaits_extra(swaps, 3)
    for bot in ("greedy", "lookahead"):
        assert (choices(bot, game, asked) == TILES_EXTRA).all()
        own, never = choices(bot, game, swaps), choices(f"{bot}:extra=never", game, swaps)
        np.testing.assert_array_equal(own[~awaits], never[~awaits])
        forgone = (own == NO_SWAP) & (never != NO_SWAP)
        assert forgone.any()
        assert (own[awaits] != NO_SWAP).any()


@pytest.mark.parametrize("text", ["", "maybe", "1"])
def test_unknown_rule_is_named(text):
    with pytest.raises(ValueError, match="extra must be always, never or hint"):
        bots_of("stingy-v0").make("greedy", {"extra": text})


# Strength ---------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n", [2, 3, 6])
def test_greedy_beats_random_clearly(n):
    result = compare(StingyGame(num_players=n), ["greedy", "random"], blocks=20, seed=11)
    pair = result.pair("greedy", "random")
    assert pair.payoff.low > 0.5
    assert pair.win_share.mean > 0.98


@pytest.mark.parametrize(
    ("n", "blocks", "options"), [(2, 250, {}), (3, 60, {}), (4, 50, {}), (6, 40, {}), (4, 90, {"captain_sly": True})]
)
def test_lookahead_beats_greedy(n, blocks, options):
    game = StingyGame(num_players=n, **options)
    pair = compare(game, ["lookahead", "greedy"], blocks=blocks, seed=12).pair("lookahead", "greedy")
    assert pair.payoff.low > 0
    assert pair.win_share.low > 1 / n


@pytest.mark.parametrize("n", [2, 4])
def test_lookahead_knows_how_the_last_turns_end(n):
    """Greedy plays on from lookahead's choice and from its own; the pool is empty, so there is nothing else to it."""
    game = StingyGame(num_players=n)
    states = positions(game, lanes=150, seed=5)
    last = states[states["last_turns"] > 0]
    assert len(last) > 30
    players = last["current_player"].astype(int)
    came = {}
    for bot in ("lookahead", "greedy"):
        ends = last.copy()
        game.step(ends, choices(bot, game, last))
        play_out(game, ends, [make_agent("greedy", game)] * n + [None] * (6 - n), key=1)
        came[bot] = game.returns(ends)[np.arange(len(ends)), players]
    assert (came["lookahead"] - came["greedy"]).mean() > 0
    assert (came["lookahead"] >= came["greedy"] - 1e-6).mean() > 0.8


# Positions with an obvious best choice ----------------------------------------------------------------------------------


def position(game, *displays, pool=(), last_turns=None, swaps=()):
    """Return records [1] with player 0 on turn, after the actions `swaps` in words.

    displays: tiles by name, "flag 3 coins-1 1". Kinds neither in a display nor in the `pool` are set aside complete.
    """
    laid = [dict(zip(text.split()[::2], map(int, text.split()[1::2]), strict=True)) for text in displays]
    used = {name for display in laid for name in display} | set(pool)
    whole = [name for name in KIND_NAMES if name not in used]
    left = []
    for name in used:
        size = int(TILES_OF_KIND[KIND_NAMES.index(name)])
        left += [name] * (size - sum(display.get(name, 0) for display in laid))
    assert bool(left) != (last_turns is not None)
    states = game.from_dict(
        {
            "game": "stingy-v0",
            "config": game.config.to_dict(),
            "phase": "SWAP",
            "current_player": 0,
            "turn": 0,
            "displays": laid,
            "complete": [whole[seat :: len(laid)] for seat in range(len(laid))],
            "pool_stacks": [sorted(left)[seat :: len(laid)] for seat in range(len(laid))],
            "pending": {},
            "last_turns": last_turns,
        }
    )
    for text in swaps:
        game.step(states, np.array([game.string_to_action(text)]))
    return states


def says(bot, game, states):
    return game.action_to_string(choices(bot, game, states)[0])


THINKERS = pytest.mark.parametrize("bot", ["greedy", "lookahead"])
THREE = StingyGame(num_players=3)


@THINKERS
def test_demands_the_group_that_completes_most(bot):
    states = position(
        THREE, "diamond-0 3 bottle-0 2 parrot-1 3", "diamond-0 3 parrot-1 1 bottle-1 2", "bottle-0 1 bottle-1 1",
        last_turns=1,
    )  # fmt: skip
    assert says(bot, THREE, states) == "demand +1 diamond-0"


@THINKERS
def test_does_not_hand_over_more_than_it_gets(bot):
    """Completing a bottle lets the owner complete a diamond with the only single tile."""
    states = position(THREE, "bottle-0 2 diamond-0 1", "bottle-0 1 diamond-0 5", "", last_turns=1)
    assert says(bot, THREE, states) == "no swap"


@THINKERS
def test_takes_what_completes_most(bot):
    states = position(
        THREE,
        "coins-0 4 bottle-0 1 parrot-0 1 diamond-0 1",
        "coins-0 1 bottle-0 2 parrot-0 3 diamond-0 5",
        "",
        last_turns=1,
        swaps=["demand +1 coins-0"],
    )
    assert THREE.current_player(states)[0] == 1
    assert says(bot, THREE, states) == "group diamond-0"


@THINKERS
def test_asks_for_payment_when_it_pays(bot):
    """Nothing of value 1 can be taken; the smallest payment completes a diamond."""
    states = position(
        THREE, "coins-0 4 diamond-0 3 parrot-0 3", "coins-0 1 diamond-0 3 parrot-0 1", "", last_turns=1,
        swaps=["demand +1 coins-0"],
    )  # fmt: skip
    assert says(bot, THREE, states) == "pay"


@THINKERS
def test_pays_with_what_helps_the_owner_least(bot):
    states = position(
        THREE, "coins-0 4 bottle-0 2 diamond-0 3 parrot-0 3", "coins-0 1 bottle-0 1 diamond-0 3", "parrot-0 1",
        last_turns=1, swaps=["demand +1 coins-0", "pay"],
    )  # fmt: skip
    assert THREE.current_player(states)[0] == 0
    assert says(bot, THREE, states) == "group parrot-0"
    assert says(bot, THREE, position_after(states, "group parrot-0")) == "stop"


def position_after(states, text):
    after = states.copy()
    THREE.step(after, np.array([THREE.string_to_action(text)]))
    return after


@THINKERS
def test_takes_for_the_ghost_what_the_demander_misses_most(bot):
    game = StingyGame(num_players=2)
    states = position(
        game,
        "coins-0 3 flag 1 bottle-0 1 diamond-0 5",
        "bottle-0 1 flag 1 coins-1 3",
        "coins-0 1 bottle-0 1 coins-1 1",
        pool=("flag",),
        swaps=["demand +2 coins-0"],
    )
    assert game.current_player(states)[0] == 1
    assert says(bot, game, states) == "group flag"
