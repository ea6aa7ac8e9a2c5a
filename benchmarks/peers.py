"""Decisions a second beside the peers, in one run: ratios that hold on a noisy machine.

    pip install -e '.[peers,plots]' -c constraints.txt      # an environment of its own
    python benchmarks/peers.py --picture docs/images/peers.png

All play uniformly random legal actions in one thread. A decision is one player action, chance apart; a game includes its
creation, except where a peer starts from a copy of a ready-made start. Every system is measured in turn, round after
round, so that a machine that speeds up or slows down does so for all; medians and the range are printed.
"""

from __future__ import annotations

import argparse
import json
import os
import time
from collections.abc import Callable
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np

from sting_env import StingGame
from stingy_env import StingyGame
from tabletop.game import BatchGame

LANES = 1024
Measure = Callable[[float], tuple[int, float]]  # seconds to spend -> decisions, seconds spent


def timed(play: Callable[[], int]) -> Measure:
    """Return a measurement of `play`, which returns how many decisions it made."""

    def measure(seconds: float) -> tuple[int, float]:
        decisions, begun = 0, time.perf_counter()
        while time.perf_counter() - begun < seconds:
            decisions += play()
        return decisions, time.perf_counter() - begun

    return measure


def ours(game: BatchGame, mask: bool, observation: bool) -> Measure:
    """Return a measurement of random play of 1,024 games at once, with masks and observations or without."""
    states = game.new_states(LANES)
    game.reset(states, 1)
    keys = np.arange(LANES, dtype=np.uint64)
    actions = np.empty(LANES, np.int64)
    masks = np.empty((LANES, game.num_actions), np.bool_) if mask else None
    records = np.empty(LANES, game.spec.observation_dtype) if observation else None

    def play() -> int:
        for _ in range(20):
            game.random_actions(states, keys, actions)
            game.advance(states, actions, mask=masks, observation=records)
        return 20 * LANES

    play()
    return timed(play)


def aec(make: Callable[[], object]) -> Measure:
    """Return a measurement of random play of one PettingZoo AEC environment."""
    env = make()
    rng = np.random.default_rng(0)

    def play() -> int:
        decisions = 0
        env.reset(seed=int(rng.integers(2**31)))
        for _ in env.agent_iter():
            observation, _, termination, truncation, info = env.last()
            if termination or truncation:
                env.step(None)
                continue
            mask = observation["action_mask"] if isinstance(observation, dict) else info["action_mask"]
            legal = np.flatnonzero(mask)
            env.step(int(legal[int(rng.random() * len(legal))]))
            decisions += 1
        return decisions

    play()
    return timed(play)


def open_spiel_gin() -> dict[str, Measure]:
    """Return measurements of OpenSpiel's gin rummy: mask and observation into numpy, from a copied start."""
    import pyspiel
    from open_spiel.python.observation import make_observation

    game = pyspiel.load_game("gin_rummy")
    start = game.new_initial_state()
    observer = make_observation(game)
    rng = np.random.default_rng(0)

    def play() -> int:
        state = start.clone()
        decisions = 0
        while not state.is_terminal():
            if state.is_chance_node():
                outcomes = state.legal_actions()  # equally likely
                state.apply_action(outcomes[int(rng.random() * len(outcomes))])
                continue
            player = state.current_player()
            observer.set_from(state, player)
            legal = state.legal_actions(player)
            mask = np.zeros(game.num_distinct_actions(), np.bool_)
            mask[legal] = True
            state.apply_action(legal[int(rng.random() * len(legal))])
            decisions += 1
        return decisions

    return {"OpenSpiel gin_rummy, mask + observation": timed(play)}


def rlcard_gin() -> dict[str, Measure]:
    """Return measurements of RLCard's gin rummy, which gives observation and legal actions with every step."""
    import rlcard

    env = rlcard.make("gin-rummy")
    rng = np.random.default_rng(0)

    def play() -> int:
        state, _ = env.reset()
        decisions = 0
        while not env.is_over():
            legal = list(state["legal_actions"])
            state, _ = env.step(legal[int(rng.random() * len(legal))])
            decisions += 1
        return decisions

    return {"RLCard gin-rummy": timed(play)}


def pettingzoo_classic() -> dict[str, Measure]:
    """Return measurements of PettingZoo's own card and board games."""
    from pettingzoo.classic import connect_four_v3, leduc_holdem_v4

    return {
        "PettingZoo leduc_holdem raw_env": aec(lambda: leduc_holdem_v4.raw_env()),
        "PettingZoo leduc_holdem env": aec(lambda: leduc_holdem_v4.env()),
        "PettingZoo connect_four env": aec(lambda: connect_four_v3.env()),
    }


def our_systems() -> dict[str, Measure]:
    """Return our measurements."""
    import sting_env
    import stingy_env

    sting, stingy = StingGame(num_players=2), StingyGame(num_players=3)
    return {
        "Sting 2p, mask": ours(sting, True, False),
        "Sting 2p, mask + observation": ours(sting, True, True),
        "Stingy 3p, mask": ours(stingy, True, False),
        "Stingy 3p, mask + observation": ours(stingy, True, True),
        "Sting 2p AEC raw_env": aec(lambda: sting_env.raw_env(num_players=2, rounds=1)),
        "Sting 2p AEC env": aec(lambda: sting_env.env(num_players=2, rounds=1)),
        "Stingy 3p AEC raw_env": aec(lambda: stingy_env.raw_env(num_players=3)),
        "Stingy 3p AEC env": aec(lambda: stingy_env.env(num_players=3)),
    }


REFERENCES = {  # what each of ours is compared with
    "Sting 2p, mask + observation": ["OpenSpiel gin_rummy, mask + observation", "RLCard gin-rummy"],
    "Stingy 3p, mask + observation": ["OpenSpiel gin_rummy, mask + observation", "RLCard gin-rummy"],
    "Sting 2p AEC raw_env": ["PettingZoo leduc_holdem raw_env"],
    "Sting 2p AEC env": ["PettingZoo leduc_holdem env", "PettingZoo connect_four env"],
    "Stingy 3p AEC env": ["PettingZoo leduc_holdem env", "PettingZoo connect_four env"],
}


def main() -> None:
    """Measure everything in turn and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=7, help="how often each system is measured")
    parser.add_argument("--seconds", type=float, default=1.0, help="how long each time")
    parser.add_argument("--json", type=Path, help="write all figures here")
    parser.add_argument("--picture", type=Path, help="draw them here")
    args = parser.parse_args()
    systems = our_systems()
    for peer in (open_spiel_gin, rlcard_gin, pettingzoo_classic):
        try:
            systems |= peer()
        except ImportError as error:
            print(f"left out: {peer.__name__} ({error})")
    rates: dict[str, list[float]] = {name: [] for name in systems}
    for turn in range(args.rounds):
        for name, measure in systems.items():
            decisions, seconds = measure(args.seconds)
            rates[name].append(decisions / seconds)
        print(f"round {turn + 1} of {args.rounds}", flush=True)
    print(f"\n{'decisions/s':44} {'median':>12} {'least':>12} {'most':>12}")
    for name, values in rates.items():
        print(f"{name:44} {np.median(values):12,.0f} {min(values):12,.0f} {max(values):12,.0f}")
    print("\nratios, round by round")
    ratios = {}
    for name, others in REFERENCES.items():
        for other in others:
            if name in rates and other in rates:
                each = np.array(rates[name]) / np.array(rates[other])
                ratios[f"{name} / {other}"] = each.tolist()
                print(f"{name + ' / ' + other:78} {np.median(each):9.1f}  ({each.min():.1f} to {each.max():.1f})")
    if args.json:
        args.json.write_text(json.dumps({"rates": rates, "ratios": ratios}, indent=1) + "\n", encoding="utf-8")
    if args.picture:
        draw(rates, args.picture)


def draw(rates: dict[str, list[float]], path: Path) -> None:
    """Draw the medians on a logarithmic scale."""
    from matplotlib.figure import Figure

    names = sorted(rates, key=lambda name: np.median(rates[name]))
    figure = Figure(figsize=(8, 0.36 * len(names) + 1), layout="constrained")
    axes = figure.subplots()
    for place, name in enumerate(names):
        mine = name.startswith(("Sting ", "Stingy "))
        median = float(np.median(rates[name]))
        axes.barh(place, median, color="C0" if mine else "0.7")
        text = f"{median / 1e6:.2f} M" if median >= 1e6 else f"{median / 1e3:.1f} k"
        axes.annotate(text, (median, place), xytext=(4, 0), textcoords="offset points", va="center", fontsize="small")
    axes.set_xscale("log")
    axes.set_xlim(right=max(np.median(v) for v in rates.values()) * 4)
    axes.set_yticks(range(len(names)), names, fontsize="small")
    axes.set_xlabel("decisions a second, one thread, random legal play (blue: this package)")
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=150)


if __name__ == "__main__":
    main()
