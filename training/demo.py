"""The main job, small: train an agent, benchmark it and the shipped one against the bots, compare the draw rules.

`make demo` runs this. Everything it writes goes to one folder, `demo/` by default.
"""

from __future__ import annotations

import argparse
import json
import shutil
import time
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path

from agents.arena import ArenaResult, compare
from agents.registry import list_agents
from training.train import Report, Settings, make_game, print_report, train

SMALL = Settings(
    steps=300_000,
    imitation=200_000,
    lanes=128,
    hidden=128,
    row_width=32,
    learning_rate=5e-4,
    evaluate_every=150_000,
    snapshot_every=100_000,
    checkpoint_every=100_000,
    deals=150,
    seed=7,
)
SEED = 20_000_003  # deals that no training has seen
BOTS = ("greedy", "rulebook", "random")
DRAW_RULES = ("greedy:draw=1", "greedy:draw=2", "greedy:draw=hint")


def demo(
    out: Path = Path("demo"), settings: Settings = SMALL, blocks: int = 1000, report: Report = print_report
) -> None:
    """Run the demo into `out`; the run inside is begun anew unless it was interrupted."""
    begun = time.perf_counter()
    run_folder = out / "run"
    if finished(run_folder, settings):
        shutil.rmtree(run_folder)
    print(f"1. Train an agent on {settings.game} (all it writes goes to {out}/)", flush=True)
    train(run_folder, settings, report)
    game = make_game(settings, 2)
    specs = [f"checkpoint:{run_folder / 'best'}", *(["ppo"] if "ppo" in list_agents(game) else []), *BOTS]
    names = ["new agent", *(["shipped agent"] if "ppo" in specs else []), *BOTS]
    print(f"\n2. Benchmark it: {blocks} deals, each played from both seats, one round a game", flush=True)
    benchmark = compare(game, specs, blocks, SEED, names=names, anchor="random", progress=True)
    benchmark.print()
    write(benchmark, out / "benchmark")
    print(f"\n3. Draw one card or two? One bot, three draw rules, {4 * blocks} deals from both seats", flush=True)
    rules = compare(game, DRAW_RULES, 4 * blocks, SEED, anchor=DRAW_RULES[0], progress=True)
    rules.print()
    write(rules, out / "draw-rules")
    draw_chart(rules, DRAW_RULES, out / "draw-rules.png")
    new, low = benchmark.pair("new agent", "random").win_share, 0.8
    verdict = "above" if new.low > low else "not above"
    share = f"{new.mean:.1%} of rounds (95% interval {new.low:.1%} to {new.high:.1%})"
    print(f"\nThe new agent won {share} against random play: {verdict} {low:.0%}.")
    print(f"Tables: {out}/benchmark.md, {out}/draw-rules.md; chart: {out}/draw-rules.png")
    print(f"{time.perf_counter() - begun:.0f} s in all")


def finished(folder: Path, settings: Settings) -> bool:
    """Tell whether a folder holds a run that is done, or one of other settings."""
    if not (folder / "run.json").exists():
        return folder.exists()
    known = json.loads((folder / "run.json").read_text(encoding="utf-8"))
    if known != json.loads(json.dumps(asdict(settings))):
        return True
    if not (folder / "log.jsonl").exists():
        return False
    last = (folder / "log.jsonl").read_text(encoding="utf-8").splitlines()[-1]
    return bool(json.loads(last)["steps"] >= settings.steps)


def write(result: ArenaResult, stem: Path) -> None:
    """Write a result as JSON and Markdown."""
    result.write(stem.with_suffix(".json"))
    stem.with_suffix(".md").write_text(result.to_markdown(), encoding="utf-8")


def draw_chart(result: ArenaResult, names: Sequence[str], path: Path) -> None:
    """Draw the share of rounds won by each draw rule against each other one, with 95% intervals."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7.5, 3.2), layout="constrained")
    axes = figure.subplots()
    labels = {"greedy:draw=1": "always one", "greedy:draw=2": "always two", "greedy:draw=hint": "the rulebook's hint"}
    rows = [(a, b) for i, a in enumerate(names) for b in names[i + 1 :]]
    for place, (a, b) in enumerate(reversed(rows)):
        share = result.pair(a, b).win_share
        error = [[100 * (share.mean - share.low)], [100 * (share.high - share.mean)]]
        clear = share.low > 0.5 or share.high < 0.5
        axes.errorbar(100 * share.mean, place, xerr=error, fmt="o", color="C0" if clear else "0.5", capsize=4)
        axes.annotate(
            f"{share.mean:.1%}", (100 * share.mean, place), xytext=(0, 7), textcoords="offset points", ha="center"
        )
    axes.axvline(50, color="k", linewidth=0.8)
    axes.set_yticks(range(len(rows)), [f"{labels.get(a, a)}\nagainst {labels.get(b, b)}" for a, b in reversed(rows)])
    axes.set_ylim(-0.6, len(rows) - 0.4)
    axes.set_xlabel("rounds won by the first, % (95% interval; grey: too close to tell)")
    axes.set_title(
        f"Draw one or two? {result.num_blocks:,} deals, each from both seats, two players", fontsize="medium"
    )
    figure.savefig(path, dpi=150)


def main(arguments: list[str] | None = None) -> None:
    """Run `stinglab demo`."""
    reader = argparse.ArgumentParser("stinglab demo", description=__doc__.splitlines()[0] if __doc__ else "")
    reader.add_argument("--out", type=Path, default=Path("demo"), help="where everything goes (default: demo)")
    reader.add_argument(
        "--steps", type=int, default=SMALL.steps, help=f"decisions learned from (default: {SMALL.steps:,})"
    )
    reader.add_argument("--blocks", type=int, default=1000, help="deals of the benchmark (default: 1,000)")
    given = reader.parse_args(arguments)
    demo(given.out, replace(SMALL, steps=given.steps), given.blocks)


if __name__ == "__main__":
    main()
