"""Write the model card of a policy: what it is, how it was made, and what the arena says of it.

    python -m training.card agents/weights/sting/ppo --players 2,3,4,5,6 --blocks 1000

The deals are of a seed that no training, labelling or choice of a checkpoint used.
"""

from __future__ import annotations

import argparse
import platform
from importlib.metadata import version
from pathlib import Path
from typing import Any

import torch

from agents import policy as policies
from agents.arena import compare
from agents.registry import bots_of
from tabletop.registry import make
from training.train import write_text

SEED = 40_000_003


def arena_rows(name: str, unit: dict[str, Any], folder: Path, players: list[int], blocks: int) -> list[str]:
    """Return a row of the table for each player count and bot: win share against the equal share, payoff."""
    rows = []
    for count in players:
        game = make(name, **{**unit, "num_players": count})
        deals = max(100, blocks * 2 // count)
        for bot in bots_of(game).names:
            for greedy in (False, True):
                agent = policies.load(folder, game, greedy=greedy, name="ppo")
                pair = compare(game, [agent, bot], deals, SEED, names=["ppo", bot]).pair("ppo", bot)
                share, payoff = pair.win_share, pair.payoff
                rows.append(
                    f"| {count} | {bot} | {'best action' if greedy else 'sampling'} | {deals} "
                    f"| {share.mean:.3f} ({share.low:.3f} to {share.high:.3f}) | {1 / count:.3f} "
                    f"| {payoff.mean:+.4f} ({payoff.low:+.4f} to {payoff.high:+.4f}) |"
                )
                print(rows[-1], flush=True)
    return rows


def story_rows(story: Any, depth: int = 0) -> list[str]:
    """Return how a policy came about as a nested list."""
    rows = []
    for key, value in story.items():
        if isinstance(value, dict):
            rows += [f"{'  ' * depth}* {key}:", *story_rows(value, depth + 1)]
        elif value not in ("", None, [], {}):
            rows.append(f"{'  ' * depth}* {key}: {value}")
    return rows


def write_card(folder: Path, players: list[int], blocks: int) -> None:
    """Write MODEL_CARD.md beside a policy."""
    description = policies.read_description(folder)
    name = description["game"]
    spec = make(name).spec
    weights = policies.read_weights(folder)
    size = sum(path.stat().st_size for path in folder.glob("weights.*"))
    unit = dict(spec.unit_options)
    what = "one round a game" if "rounds" in unit else "whole games"
    parts = [
        f"# {folder.name}: a policy for {spec.title}",
        f"{sum(w.size for w in weights.values()):,} parameters, {size / 1e6:.1f} MB, hidden width "
        f"{description['network']['hidden']}; observation {description['observation_digest']}. One model for all player "
        "counts. Plays with numpy alone; `best=yes` plays its best action instead of sampling.",
        "## Against the bots",
        f"One seat for the policy, all others for the bot; duplicate deals, every seat in turn, {what}, seed {SEED}, which "
        "nothing was trained or chosen on. Shares of games won (ties shared) and payoffs, 95% intervals from block means.",
        "| players | bot | plays by | deals | share won | equal share | payoff |\n|---|---|---|---|---|---|---|\n"
        + "\n".join(arena_rows(name, unit, folder, players, blocks)),
        "## How it was made",
        "\n".join(story_rows(description.get("training", {}))),
        "## Versions",
        ", ".join(f"{p} {version(p)}" for p in ("torch", "stable-baselines3", "sb3-contrib", "numpy", "numba"))
        + f", Python {platform.python_version()}",
    ]
    write_text(folder / "MODEL_CARD.md", "\n\n".join(parts) + "\n")


def main(arguments: list[str] | None = None) -> None:
    """Write a card."""
    reader = argparse.ArgumentParser("python -m training.card", description="Write the model card of a policy.")
    reader.add_argument("folder", type=Path)
    reader.add_argument("--players", default="2,3,4,5,6")
    reader.add_argument("--blocks", type=int, default=1000, help="deals at two players; fewer at more")
    given = reader.parse_args(arguments)
    torch.set_num_threads(1)
    write_card(given.folder, [int(part) for part in given.players.split(",")], given.blocks)


if __name__ == "__main__":
    main()
