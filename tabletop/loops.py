"""Loops over lanes, written once and bound to each game's kernels by `tabletop.jit.bind`.

The free names are a game's kernels for one record `s` of its state:

    deal(config, s)                     start an episode; `s` is zeroed but for seed, rng_key and num_players
    apply(config, s, action)            carry out a legal action, up to the next decision
    observe(config, s, observer, o)     write what `observer` may know into the zeroed record `o`
    observe_all(config, s, o)           write everything into the zeroed record `o`
    redeal(config, s, observer)         re-deal what `observer` can't know, from the stream s.rng_key
    choose(bot, option, o, legal, key)  a compiled bot's action: from the observation and the legal actions alone

`deal`, `apply` and `redeal` leave `s.legal` holding the legal actions of `s.current_player`, which is NO_PLAYER when
the game is over. A loop that takes `first` and `stop` is a kernel itself, and bound to its name where threads share it
(`tabletop.sharing`). Letters: B lanes, A actions, D observation bytes, P players.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tabletop import bits
from tabletop.seeding import CHOICE, EPISODE, WORLD, below, derive
from tabletop.sharing import job, share


def unbound(*_: Any) -> Any:
    """Stand in for a kernel that `tabletop.jit.bind` puts in its place."""
    raise TypeError("this loop is not bound to a game: use tabletop.jit.bind")


deal: Any = unbound
apply: Any = unbound
observe: Any = unbound
observe_all: Any = unbound
redeal: Any = unbound
choose: Any = unbound
start: Any = unbound


def start_episode(config, s, raw, seed, episode, num_players):
    """Begin an episode of one lane: all zero, its own stream, then the deal."""
    raw[:] = 0
    s.seed = seed
    s.episode = episode
    s.rng_key = derive(seed, EPISODE, episode)
    s.num_players = num_players
    deal(config, s)


def reset_lanes(config, states, raw, lanes, seeds, episodes, num_players):
    """Begin an episode of the lanes named."""
    for i in range(lanes.shape[0]):
        b = lanes[i]
        start(config, states[b], raw[b], seeds[i], episodes[i], num_players[i])


def look_for_illegal(first, stop, states, actions, found):
    """Make found[0] True if an action of the lanes first..stop-1 is not legal. Lanes that are over are passed over."""
    for b in range(first, stop):
        s = states[b]
        if s.current_player >= 0:
            a = actions[b]
            if a < 0 or a >= 64 * s.legal.shape[0] or not bits.contains(s.legal, a):
                found[0] = True


def first_illegal(board, threads, states, actions):
    """Return the first lane whose action is not legal, -1 if there is none."""
    found = np.zeros(1, np.bool_)
    share(board, threads, states.shape[0], job(look_for_illegal, (states, actions, found)))
    if found[0]:
        for b in range(states.shape[0]):
            found[0] = False
            look_for_illegal(b, b + 1, states, actions, found)
            if found[0]:
                return b
    return -1


def first_illegal_of(states, lanes, actions):
    """Return the first index into `lanes` whose action is not legal, -1 if there is none."""
    for i in range(lanes.shape[0]):
        s = states[lanes[i]]
        if s.current_player >= 0:
            a = actions[i]
            if a < 0 or a >= 64 * s.legal.shape[0] or not bits.contains(s.legal, a):
                return i
    return -1


def step_lanes(first, stop, config, states, actions):
    """Step the lanes first..stop-1; a lane that is over keeps still and its last rewards become 0."""
    for b in range(first, stop):
        s = states[b]
        s.rewards[:] = 0.0
        if s.current_player >= 0:
            s.decision += 1
            apply(config, s, actions[b])


def step_all(board, threads, config, states, actions):
    """Step every lane, on several threads; where an action is not legal return its lane and step none, else return -1."""
    illegal = first_illegal(board, threads, states, actions)
    if illegal < 0:
        share(board, threads, states.shape[0], job(step_lanes, (config, states, actions)))
    return illegal


def step_some(config, states, lanes, actions):
    """Step the lanes named."""
    for i in range(lanes.shape[0]):
        s = states[lanes[i]]
        s.rewards[:] = 0.0
        if s.current_player >= 0:
            s.decision += 1
            apply(config, s, actions[i])


def mask_lanes(states, mask):
    """Write the legal actions of every lane as bytes [B, A]."""
    for b in range(states.shape[0]):
        bits.write_mask(states[b].legal, mask[b])


def observe_lanes(config, states, observers, out, raw):
    """Write an observation of every lane; observer -1 is the current player (player 0 when over)."""
    for b in range(states.shape[0]):
        s = states[b]
        observer = observers[b]
        if observer < 0:
            observer = max(s.current_player, 0)
        raw[b, :] = 0
        observe(config, s, observer, out[b])


def observe_all_lanes(config, states, out, raw):
    """Write everything there is to know of every lane."""
    for b in range(states.shape[0]):
        raw[b, :] = 0
        observe_all(config, states[b], out[b])


def redeal_lanes(config, states, observers, seeds, worlds):
    """Re-deal lane b as world b % worlds of seed b // worlds."""
    for b in range(states.shape[0]):
        s = states[b]
        s.seed = derive(seeds[b // worlds], WORLD, b % worlds)
        s.rng_key = derive(s.seed, EPISODE, s.episode)
        redeal(config, s, observers[b // worlds])


def advance_lanes(first, stop, config, states, raw, actions, rewards, terminated, mask, out, out_raw, autoreset):
    """Step, begin the next episode where one ended, and write rewards, ends, masks and observations in one pass.

    Lanes first..stop-1. Arrays of length 0 are not written. `rewards` and `terminated` are of the step just made, the rest
    of what follows.
    """
    for b in range(first, stop):
        s = states[b]
        s.rewards[:] = 0.0
        if s.current_player >= 0:
            s.decision += 1
            apply(config, s, actions[b])
        over = s.current_player < 0
        if rewards.shape[0] > 0:
            for p in range(rewards.shape[1]):
                rewards[b, p] = s.rewards[p]
        if terminated.shape[0] > 0:
            terminated[b] = over
        if over and autoreset:
            start(config, s, raw[b], s.seed, s.episode + 1, np.int64(s.num_players))
        if mask.shape[0] > 0:
            bits.write_mask(s.legal, mask[b])
        if out.shape[0] > 0:
            out_raw[b, :] = 0
            observe(config, s, max(s.current_player, 0), out[b])


def advance_all(board, threads, config, states, raw, actions, rewards, terminated, mask, out, out_raw, autoreset):
    """Do so in every lane, on several threads; where an action is not legal return its lane and do nothing, else return -1."""
    illegal = first_illegal(board, threads, states, actions)
    if illegal < 0:
        given = (config, states, raw, actions, rewards, terminated, mask, out, out_raw, autoreset)
        share(board, threads, states.shape[0], job(advance_lanes, given))
    return illegal


def choose_randomly(first, stop, states, keys, actions):
    """Choose a legal action of the lanes first..stop-1 uniformly; lanes that are over get 0."""
    for b in range(first, stop):
        s = states[b]
        if s.current_player >= 0:
            key = derive(keys[b], CHOICE, s.decision)
            actions[b] = bits.nth(s.legal, below(key, 0, bits.count(s.legal)))
        else:
            actions[b] = 0


def choose_all(board, threads, states, keys, actions):
    """Do so in every lane, on several threads."""
    share(board, threads, states.shape[0], job(choose_randomly, (states, keys, actions)))


def play_lanes(config, states, bots, options, key, histogram, o, o_raw, limit, until_paid):
    """Let compiled bots move, lane by lane, until a seat without one must decide or the game is over.

    bots, options: int64 [B, P], the bot of every seat and its option, -1 for a seat that decides elsewhere.
    key: uint64; the bots' own luck is keyed by it, the lane's seed, the episode, the seat and the decision.
    histogram: int64 [B, P, A], how often each seat played each action (or length 0). limit: decisions a lane at most,
    0 for no limit. until_paid: whether a lane also stops once a move has paid a seat something. Return the number of
    decisions made, or -1 - b if a bot chose an illegal action in lane b.
    """
    made = 0
    for b in range(states.shape[0]):
        s = states[b]
        here = 0
        s.rewards[:] = 0.0
        while s.current_player >= 0 and bots[b, s.current_player] >= 0:
            p = s.current_player
            o_raw[:] = 0
            observe(config, s, p, o[0])
            luck = derive(derive(s.rng_key ^ key, CHOICE, p), CHOICE, s.decision)
            a = choose(bots[b, p], options[b, p], o[0], s.legal, luck)
            if not bits.contains(s.legal, a):
                return -1 - b
            if histogram.shape[0] > 0:
                histogram[b, p, a] += 1
            s.decision += 1
            apply(config, s, a)
            here += 1
            if (limit > 0 and here >= limit) or (until_paid and s.rewards.any()):
                break
        made += here
    return made


def choose_lanes(bot, option, observations, masks, keys, actions):
    """Choose an action of every lane by one compiled bot, from observations [B] and byte masks [B, A]."""
    legal = np.zeros((masks.shape[1] + 63) // 64, np.uint64)
    for b in range(observations.shape[0]):
        bits.read_mask(masks[b], legal)
        actions[b] = choose(bot, option, observations[b], legal, keys[b])


def rollout_lanes(
    config,
    states,
    raw,
    bots,
    options,
    key,
    first_world,
    worlds,
    wanted,
    values,
    squares,
    world,
    world_raw,
    trial,
    trial_raw,
    o,
    o_raw,
):
    """Add up, for every wanted action of every lane, what it comes to in `worlds` dealings of what its player can't know.

    In each world every action is tried from the same record, so that the actions share their luck, and compiled bots
    play on to the end of the game: bots, options int64 [P]. wanted: uint8 [B, A], no action that is not legal. values,
    squares: float64 [B, A], sums of the player's further returns and of their squares. World w of lane b has the stream
    (key, b, first_world + w). The other arrays are records to work in.
    """
    for b in range(states.shape[0]):
        player = states[b].current_player
        if player < 0:
            continue
        lane_key = derive(key, WORLD, b)
        for w in range(first_world, first_world + worlds):
            world_raw[0, :] = raw[b, :]
            s = world[0]
            s.seed = derive(lane_key, WORLD, w)
            s.rng_key = derive(s.seed, EPISODE, s.episode)
            redeal(config, s, player)
            before = np.float64(s.returns[player])
            for a in range(values.shape[1]):
                if not wanted[b, a]:
                    continue
                trial_raw[0, :] = world_raw[0, :]
                t = trial[0]
                t.decision += 1
                apply(config, t, a)
                while t.current_player >= 0:
                    p = t.current_player
                    o_raw[0, :] = 0
                    observe(config, t, p, o[0])
                    luck = derive(derive(t.rng_key ^ key, CHOICE, p), CHOICE, t.decision)
                    t.decision += 1
                    apply(config, t, choose(bots[p], options[p], o[0], t.legal, luck))
                gain = np.float64(t.returns[player]) - before
                values[b, a] += gain
                squares[b, a] += gain * gain
