"""Write the model card of a policy: what it is, how it was made, and what the arena says of it.

    python -m training.card agents/weights/sting/ppo --players 2,3,4,5,6 --blocks 1000 --log runs/sting/log.jsonl

The deals are of a seed that no training, labelling or choice of a checkpoint used; the learning curve is of those
by which a run chooses its best checkpoint.
"""

from __future__ import annotations

import argparse
import json
import platform
from collections import defaultdict
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import torch

from agents import policy as policies
from agents.arena import compare
from agents.registry import bots_of
from tabletop.files import write_whole
from tabletop.registry import make

SEED = 40_000_003


def arena_table(name: str, options: dict[str, Any], folder: Path, players: list[int], blocks: int) -> str:
    """Return a table with a row for each player count and bot: win share against the equal share, payoff."""
    rows = ["| players | bot | plays by | deals | share won | equal share | payoff |", "|---|---|---|---|---|---|---|"]
    for count in players:
        game = make(name, **{**options, "num_players": count})
        deals = max(20, blocks * 2 // count)
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
    return "\n".join(rows)


def learning_curve(log: Path) -> str:
    """Return a table of the evaluations of a run: the share won against each bot, half being the equal share."""
    rows: list[str] = []
    for text in log.read_text(encoding="utf-8").splitlines():
        line = json.loads(text)
        shares = defaultdict(list)
        for title, against in line["scores"].items():
            count, _, options = title.partition(" players")
            for bot, (_, mean, _) in against.items():
                shares[bot + options.replace(", ", " ")].append(mean * int(count) / 2)
        if not rows:
            rows = [f"| decisions | {' | '.join(shares)} |", "|---" * (1 + len(shares)) + "|"]
        cells = [f"{np.mean(values):.3f}" for values in shares.values()]
        rows.append(f"| {line['steps']:,} | {' | '.join(cells)} |")
    return "\n".join(rows)


def story_rows(story: Any, depth: int = 0) -> list[str]:
    """Return how a policy came about as a nested list."""
    rows = []
    for key, value in story.items():
        if isinstance(value, dict):
            rows += [f"{'  ' * depth}* {key}:", *story_rows(value, depth + 1)]
        elif value not in ("", None, [], {}):
            rows.append(f"{'  ' * depth}* {key}: {value}")
    return rows


def write_card(folder: Path, players: list[int], blocks: int, log: Path | None = None) -> None:
    """Write MODEL_CARD.md beside a policy. log: `log.jsonl` of its run, for the learning curve."""
    description = policies.read_description(folder)
    of_what = CURVE + (" Of the self-play before the labels." if "distilled" in description.get("training", {}) else "")
    curve = [] if log is None else ["## Learning curve", of_what, learning_curve(log)]
    name = description["game"]
    spec = make(name).spec
    weights = policies.read_weights(folder)
    size = sum(path.stat().st_size for path in folder.glob("weights.*"))
    own = {key: value for key, value in description["config"].items() if key not in ("num_players", "reward")}
    rules = {key: value for key, value in own.items() if key not in dict(spec.unit_options)}
    unit = rules | dict(spec.unit_options)
    what = "one round a game" if "rounds" in unit else "whole games"
    if rules:
        what += f", options {rules}"
    parts = [
        f"# {folder.name}: a policy for {spec.title}",
        f"{sum(w.size for w in weights.values()):,} parameters, {size / 1e6:.1f} MB, hidden width "
        f"{description['network']['hidden']}; observation {description['observation_digest']}. One model for all player "
        "counts. Plays with numpy alone; `best=yes` plays its best action instead of sampling.",
        "## Against the bots",
        f"One seat for the policy, all others for the bot; duplicate deals, every seat in turn, {what}, seed {SEED}, which "
        "nothing was trained or chosen on. Shares of games won (ties shared) and payoffs, 95% intervals from block means.",
        arena_table(name, unit, folder, players, blocks),
        *whole_games(name, rules, folder, players, blocks // 4),
        *curve,
        "## How it was made",
        "\n".join(story_rows(description.get("training", {}))),
        "## Versions",
        ", ".join(f"{p} {version(p)}" for p in ("torch", "stable-baselines3", "sb3-contrib", "numpy", "numba"))
        + f", Python {platform.python_version()}",
    ]
    write_whole(folder / "MODEL_CARD.md", "\n\n".join(parts) + "\n")


CURVE = (
    "Mean over the player counts of the share won, times the number of players and halved, so that 0.5 is an equal share "
    "everywhere; on the deals by which a run chooses its best checkpoint."
)


def whole_games(name: str, rules: dict[str, Any], folder: Path, players: list[int], blocks: int) -> list[str]:
    """Return the section of whole games, where a game has smaller units."""
    if not make(name).spec.unit_options:
        return []
    return [
        "### Whole games",
        "As above, played to the end.",
        arena_table(name, rules, folder, players, blocks),
    ]


def main(arguments: list[str] | None = None) -> None:
    """Write a card."""
    reader = argparse.ArgumentParser("python -m training.card", description="Write the model card of a policy.")
    reader.add_argument("folder", type=Path)
    reader.add_argument("--players", default="2,3,4,5,6")
    reader.add_argument("--blocks", type=int, default=1000, help="deals at two players; fewer at more")
    reader.add_argument("--log", type=Path, help="log.jsonl of the run, for the learning curve")
    given = reader.parse_args(arguments)
    torch.set_num_threads(1)
    write_card(given.folder, [int(part) for part in given.players.split(",")], given.blocks, given.log)


if __name__ == "__main__":
    main()
