"""Train a policy: imitate a bot, then PPO by self-play; checkpoints, resume, evaluation on the way.

A run lives in one folder:

    run.json          the settings; the same command resumes a run, other settings are refused
    checkpoint.pt     weights, optimizer, counters, random streams: all that is needed to go on
    log.jsonl         a line for each evaluation, events for TensorBoard beside it
    snapshots/NNNN    earlier policies, opponents of later ones
    best/             the policy with the best evaluation so far (`checkpoint:RUN/best` in the arena)
    last/             the policy at the last checkpoint
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, fields, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from stable_baselines3.common.logger import configure
from stable_baselines3.common.utils import LinearSchedule

from agents import policy as policies
from agents.arena import compare
from agents.base import Agent, CompiledBot
from agents.registry import bots_of, make_agent, split_specs
from tabletop.files import whole_file, write_whole
from tabletop.game import BatchGame
from tabletop.registry import make, names
from tabletop.selfplay import name_of
from training.imitation import imitate
from training.network import TRUST
from training.ppo import SelfPlayPPO
from training.selfplay import Lineup, SelfPlay


class TrainingError(ValueError):
    """A run that can't be started or resumed."""


@dataclass(frozen=True)
class Settings:
    """All that decides a run.

    options: of the game, beside those that make it one unit of scoring (a round; GameSpec.unit_options). also: options
    of a second configuration, played and evaluated in turn with the first: rounds=5 for whole games of Sting.
    players: player counts, each as often as it is named. steps: the learner's decisions, imitation apart.
    bots: those that sit with the learner, by default all but `random`; teacher: the bot imitated first, for `imitation`
    decisions (0: none). advisors: bots whose advice the network takes (`agents.policy`); trust: what the action of the
    first is scored above the others at first. lanes and rollout: games side by side, and decisions of each between
    updates. entropy goes linearly from `entropy` to `entropy_end`, the learning rate to a tenth. win_reward: what a win
    is worth beside the game's own reward. critic: whether values come from a critic that sees all cards, which only
    training does; foresight: a bot, and the critic is also told what would come if it played on. evaluate_every,
    snapshot_every, checkpoint_every: decisions between. deals: of an evaluation. init: a policy to begin from, its trust
    in advisors included, or a run, whose critic is then taken over too.
    """

    game: str = "sting-v0"
    options: tuple[tuple[str, Any], ...] = ()
    also: tuple[tuple[str, Any], ...] = ()
    players: tuple[int, ...] = (2,)
    steps: int = 1_000_000
    seed: int = 0
    bots: tuple[str, ...] = ()
    teacher: str = "greedy"
    imitation: int = 200_000
    self_share: float = 0.6
    snapshot_share: float = 0.15
    lanes: int = 256
    rollout: int = 64
    batch: int = 2048
    epochs: int = 3
    hidden: int = 256
    row_width: int = 64
    advisors: tuple[str, ...] = ()
    trust: float = TRUST
    learning_rate: float = 3e-4
    gae_lambda: float = 0.95
    clip: float = 0.2
    entropy: float = 0.01
    entropy_end: float = 0.003
    value_weight: float = 0.5
    reward_scale: float = 5.0
    win_reward: float = 0.0
    critic: bool = True
    foresight: str = ""
    evaluate_every: int = 500_000
    snapshot_every: int = 250_000
    checkpoint_every: int = 100_000
    deals: int = 500
    threads: int = 1
    init: str = ""


EVALUATION_SEED = 1_000_003  # deals the best checkpoint is chosen on; report on others


@dataclass
class Run:
    """A run in progress."""

    folder: Path
    settings: Settings
    game: BatchGame
    model: SelfPlayPPO
    bots: tuple[CompiledBot, ...]
    imitated: bool = False
    best: float = -1.0
    next_evaluation: int = 0
    next_snapshot: int = 0
    next_checkpoint: int = 0
    seconds: float = 0.0
    before: dict[str, Any] = field(default_factory=dict)  # how the policy it began from was trained


def start(folder: Path, settings: Settings) -> Run:
    """Begin a run in an empty folder, or resume the one there; TrainingError if it has other settings."""
    torch.set_num_threads(settings.threads)
    description = json.loads(json.dumps(asdict(settings)))
    path = folder / "run.json"
    if path.exists():
        known = json.loads(path.read_text(encoding="utf-8"))
        changed = [k for k in description if known.get(k) != description[k] and k not in ("steps", "threads")]
        if changed:
            raise TrainingError(
                f"{folder} holds a run with other settings: "
                + ", ".join(f"{k} is {known.get(k)!r} there, {description[k]!r} asked for" for k in changed)
            )
    elif folder.exists() and any(folder.iterdir()):
        raise TrainingError(f"{folder} is not empty and holds no run")
    check_options(settings)
    game = make_game(settings, settings.players[0])
    sitting = settings.bots or tuple(name for name in bots_of(game).names if name != "random")
    bots = tuple(as_bot(make_agent(name, game)) for name in sitting)
    seer = as_bot(make_agent(settings.foresight, game)) if settings.foresight else None
    lineup = Lineup(settings.players, bots, settings.self_share, settings.snapshot_share, settings.win_reward, seer)
    selfplays = [
        SelfPlay(
            make_game(settings, settings.players[0], also), bots_of(game), lineup, settings.lanes, settings.seed + i
        )
        for i, also in enumerate(configurations(settings))
    ]
    model = SelfPlayPPO(
        game,
        selfplays,
        hidden=settings.hidden,
        row_width=settings.row_width,
        advisors=settings.advisors,
        critic=settings.critic,
        reward_scale=settings.reward_scale,
        n_steps=settings.rollout,
        batch_size=settings.batch,
        n_epochs=settings.epochs,
        learning_rate=LinearSchedule(settings.learning_rate, settings.learning_rate / 10, 1.0),
        gamma=1.0,
        gae_lambda=settings.gae_lambda,
        clip_range=settings.clip,
        ent_coef=settings.entropy,
        vf_coef=settings.value_weight,
        seed=settings.seed,
    )
    if settings.advisors:
        model.policy.network.trust_first(settings.trust)
    run = Run(folder, settings, game, model, bots)
    run.next_snapshot = settings.snapshot_every
    if settings.init and not (folder / "checkpoint.pt").exists():
        begin_from(run, Path(settings.init))
    folder.mkdir(parents=True, exist_ok=True)
    write_whole(path, json.dumps(description, indent=1) + "\n")
    if (folder / "checkpoint.pt").exists():
        resume(run)
    return run


@contextmanager
def reading(checkpoint: Path, instead: str) -> Iterator[None]:
    """Say that a checkpoint is damaged, and what to do instead, if reading it fails."""
    try:
        yield
    except OSError:
        raise  # says itself what is wrong, such as a file that may not be read
    except (
        Exception
    ) as error:  # torch's reader has no error of its own: RuntimeError, UnpicklingError, EOFError, KeyError...
        raise TrainingError(f"{checkpoint} is damaged: {error}; {instead}") from error


def begin_from(run: Run, folder: Path) -> None:
    """Give the network the weights of a policy, or of a run's last one and the critic its; TrainingError if they do not fit."""
    checkpoint = folder / "checkpoint.pt"
    source = folder / "last" if checkpoint.exists() else folder
    network = policies.load(source, run.game).network
    if network.shape != run.model.shape:
        raise TrainingError(f"{source} holds a network of another shape: {network.shape}, asked for {run.model.shape}")
    weights = {name: torch.from_numpy(array) for name, array in network.weights.items()}
    run.model.policy.network.load_state_dict(weights)
    critic = run.model.policy.critic
    if checkpoint.exists() and critic is not None:
        with reading(checkpoint, f"begin from {source}, without its critic"):
            saved = torch.load(checkpoint, weights_only=True)["policy"]
        known = {name.removeprefix("critic."): part for name, part in saved.items() if name.startswith("critic.")}
        if known:  # a run without a critic has none to give
            critic.load_state_dict(known)
    run.before = policies.read_description(source).get("training", {})
    run.imitated = True


def check_options(settings: Settings) -> None:
    """Raise TrainingError for options that say what a setting says, or a second configuration like the first."""
    for name in ("options", "also"):
        if "num_players" in dict(getattr(settings, name)):
            raise TrainingError("player counts are given by the setting players, not as an option")
    if settings.foresight and not settings.critic:
        raise TrainingError(f"foresight {settings.foresight!r} is for a critic, and critic is off")
    if settings.foresight and not make(settings.game).spec.critic_fields:
        raise TrainingError(f"foresight {settings.foresight!r} is for a critic; {settings.game} names no critic_fields")
    first, *others = (make_game(settings, settings.players[0], also) for also in configurations(settings))
    if first in others:
        raise TrainingError(f"the options of also, {dict(settings.also)}, are those of the first configuration")


Options = tuple[tuple[str, Any], ...]


def configurations(settings: Settings) -> tuple[Options, ...]:
    """Return the further options of each configuration trained on: none, and those of the second."""
    return ((), settings.also) if settings.also else ((),)


def make_game(settings: Settings, num_players: int, also: Options = ()) -> BatchGame:
    """Return the game trained on, for a player count."""
    unit = dict(make(settings.game).spec.unit_options)
    return make(settings.game, **{**unit, **dict(settings.options), **dict(also), "num_players": num_players})


def as_bot(agent: Any) -> CompiledBot:
    """Return a compiled bot; TrainingError for an agent that is none."""
    if not isinstance(agent, CompiledBot):
        raise TrainingError(f"only compiled bots can sit with the learner or look ahead, not {name_of(agent)}")
    return agent


def resume(run: Run) -> None:
    """Read the checkpoint of a run; games in progress begin anew with seeds not used before."""
    path = run.folder / "checkpoint.pt"
    with reading(path, "remove it to begin anew"):
        saved = torch.load(path, weights_only=True)
        run.model.policy.load_state_dict(saved["policy"])
        run.model.policy.optimizer.load_state_dict(saved["optimizer"])
        run.model.generator.set_state(saved["generator"])
        counters = saved["counters"]
    run.model.num_timesteps = counters["steps"]
    for i, selfplay in enumerate(run.model.selfplays):
        selfplay.episodes = counters["episodes"] + len(selfplay.states)
        selfplay.rng = np.random.default_rng([run.settings.seed + i, counters["steps"]])
        selfplay.begin_anew()
    run.model.turns = counters["turns"]
    run.imitated, run.before = counters["imitated"], json.loads(counters["before"])
    run.best, run.seconds = counters["best"], counters["seconds"]
    run.next_evaluation, run.next_snapshot = counters["next_evaluation"], counters["next_snapshot"]
    # A snapshot is whole once it has its description, which is written last.
    folders = sorted(path.parent for path in (run.folder / "snapshots").glob("[0-9]*/policy.json"))
    set_snapshots(run, [policies.load(folder, run.game) for folder in folders])
    for selfplay, met in zip(run.model.selfplays, counters["met"], strict=True):
        selfplay.met[: len(met)] = np.array(met).reshape(-1, 2)
    forget_later(run.folder / "log.jsonl", run.model.num_timesteps)


def forget_later(log: Path, steps: int) -> None:
    """Drop what a log says of decisions after a checkpoint: they are made again."""
    if log.exists():
        lines = log.read_text(encoding="utf-8").splitlines(keepends=True)
        write_whole(log, "".join(line for line in lines if line.endswith("}\n") and json.loads(line)["steps"] <= steps))


def save_checkpoint(run: Run) -> None:
    """Write all that is needed to go on."""
    model = run.model
    saved = {
        "policy": model.policy.state_dict(),
        "optimizer": model.policy.optimizer.state_dict(),
        "generator": model.generator.get_state(),
        "counters": {
            "steps": model.num_timesteps,
            "episodes": max(selfplay.episodes for selfplay in model.selfplays),
            "turns": model.turns,
            "met": [selfplay.met.tolist() for selfplay in model.selfplays],
            "imitated": run.imitated,
            "before": json.dumps(run.before),
            "best": run.best,
            "seconds": run.seconds,
            "next_evaluation": run.next_evaluation,
            "next_snapshot": run.next_snapshot,
        },
    }
    with whole_file(run.folder / "checkpoint.pt") as part:
        torch.save(saved, part)
    save_policy(run, run.folder / "last")
    run.next_checkpoint = model.num_timesteps + run.settings.checkpoint_every


def save_policy(run: Run, folder: Path, **more: Any) -> None:
    """Write the policy as it is now."""
    training = {"settings": asdict(run.settings), "steps": run.model.num_timesteps, "seconds": round(run.seconds)}
    if run.before:
        training["before"] = run.before
    description = policies.describe(run.game, run.model.shape, training | more)
    policies.save(folder, description, run.model.policy.network.arrays())


def evaluate(run: Run) -> dict[str, Any]:
    """Play the gauntlet on the fixed deals, note it, keep the policy if it is the best so far."""
    agent = run.model.agent("learner")
    scores: dict[str, Any] = {}
    total = []
    for count in sorted(set(run.settings.players)):
        deals = max(50, run.settings.deals * 2 // count // len(set(run.settings.players)))
        for also in configurations(run.settings):
            game = make_game(run.settings, count, also)
            title = ", ".join([f"{count} players", *(f"{key}={value}" for key, value in also)])
            scores[title] = {}
            for bot in run.bots or (bots_of(game).make("random"),):
                share = compare(game, [agent, bot], deals, EVALUATION_SEED).pair(agent.name, bot.name).win_share
                scores[title][bot.name] = [round(x, 4) for x in (share.low, share.mean, share.high)]
                total.append(share.mean * count / 2)  # in terms of the equal share, as with two players
                run.model.logger.record(f"arena/{title.replace(' ', '_')}_share_against_{bot.name}", share.mean)
    mean = float(np.mean(total))
    if mean > run.best:
        run.best = mean
        save_policy(run, run.folder / "best", evaluation=scores)
    line = {"steps": run.model.num_timesteps, "seconds": round(run.seconds), "mean": round(mean, 4), "scores": scores}
    with (run.folder / "log.jsonl").open("a", encoding="utf-8") as file:
        file.write(json.dumps(line) + "\n")
    run.next_evaluation = run.model.num_timesteps + run.settings.evaluate_every
    return line


Report = Callable[[str, int, int, str], None]  # what is going on, done, of how many, words


def train(folder: Path, settings: Settings, report: Report | None = None) -> Run:
    """Train until `settings.steps`; interrupted, it loses at most what came after the last checkpoint."""
    run = start(folder, settings)
    model = run.model
    model.set_logger(configure(str(folder / "events"), ["tensorboard"]))
    say = report or (lambda *_: None)
    try:
        if not run.imitated and settings.imitation and settings.teacher in bots_of(run.game).names:
            before = time.perf_counter()
            teacher = make_agent(settings.teacher, run.game)
            total = settings.imitation
            imitate(model, teacher, total, progress=lambda done, same: say("imitate", done, total, f"{same:.0%} alike"))
            run.seconds += time.perf_counter() - before
            run.imitated = True
            save_checkpoint(run)
        while model.num_timesteps < settings.steps:
            before = time.perf_counter()
            left = max(0.0, 1 - model.num_timesteps / settings.steps)
            model._current_progress_remaining = left
            model.ent_coef = settings.entropy_end + (settings.entropy - settings.entropy_end) * left
            metrics = model.iterate()
            run.seconds += time.perf_counter() - before
            log(run, metrics)
            if model.num_timesteps >= run.next_snapshot:
                add_snapshot(run)
            words = ""
            if model.num_timesteps >= run.next_evaluation or model.num_timesteps >= settings.steps:
                line = evaluate(run)
                words = f"share {line['mean']:.3f}, best {run.best:.3f}"
            if model.num_timesteps >= run.next_checkpoint or model.num_timesteps >= settings.steps:
                save_checkpoint(run)
            speed = metrics["decisions"] / (metrics["collect_seconds"] + metrics["learn_seconds"])
            say("self-play", model.num_timesteps, settings.steps, words or f"{speed:,.0f} decisions/s")
            model.logger.dump(model.num_timesteps)
    except KeyboardInterrupt:
        save_checkpoint(run)
        raise
    return run


def add_snapshot(run: Run) -> None:
    """Add the policy as it is now to the pool of opponents."""
    known = run.model.selfplays[0].snapshots
    folder = run.folder / "snapshots" / f"{len(known):04d}"
    save_policy(run, folder)
    set_snapshots(run, [*known, policies.load(folder, run.game)])
    run.next_snapshot = run.model.num_timesteps + run.settings.snapshot_every


def set_snapshots(run: Run, snapshots: Sequence[Agent]) -> None:
    """Give all self-plays the pool of opponents."""
    for selfplay in run.model.selfplays:
        selfplay.set_snapshots(snapshots)


def log(run: Run, metrics: dict[str, float]) -> None:
    """Record the metrics of one iteration."""
    logger = run.model.logger
    for name, value in metrics.items():
        logger.record(f"train/{name}", value)
    for phase, (nats, share) in run.model.entropy_by_phase.items():
        logger.record(f"entropy/{phase}", nats)
        logger.record(f"entropy_share/{phase}", share)
    for selfplay, also in zip(run.model.selfplays, configurations(run.settings), strict=True):
        title = "_".join(["selfplay", *(f"{key}={value}" for key, value in also)])
        for name, (games, value) in selfplay.take_results().items():
            logger.record(f"{title}/return_against_{name}", value)
            logger.record(f"{title}/games_against_{name}", games)


def read_switch(text: str) -> bool:
    """Return a setting that is on or off."""
    if text.lower() not in ("true", "false"):
        raise argparse.ArgumentTypeError(f"{text!r} is neither true nor false")
    return text.lower() == "true"


def read_value(kind: str) -> Callable[[str], Any]:
    """Return what reads a setting of a type as it is written in `Settings`."""
    readers: dict[str, Callable[[str], Any]] = {
        "int": lambda text: int(text.replace("_", "")),
        "float": float,
        "bool": read_switch,
        "str": str,
        "tuple[int, ...]": lambda text: tuple(int(part) for part in text.split(",")),
        "tuple[str, ...]": split_specs,
    }
    return readers[kind]


def game_id(name: str) -> str:
    """Return a game's id by its id or short name: `sting` is `sting-v0`."""
    known = names()
    found = [full for full in known if name in (full, full.rpartition("-v")[0])]
    if not found:
        raise TrainingError(f"no game is called {name!r}; games are: {', '.join(known)}")
    return found[-1]


def parser() -> argparse.ArgumentParser:
    """Return the reader of the command's arguments: one for each setting, and the folder."""
    reader = argparse.ArgumentParser(
        "stinglab train", description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    reader.add_argument(
        "--out", type=Path, help="folder of the run; one that holds a run is resumed (default: runs/GAME)"
    )
    reader.add_argument(
        "--option", "-o", action="append", default=[], metavar="KEY=VALUE", help="an option of the game"
    )
    reader.add_argument(
        "--also", action="append", default=[], metavar="KEY=VALUE", help="an option of a second configuration"
    )
    for setting in fields(Settings):
        if setting.name not in ("options", "also"):
            kind = str(setting.type)
            default = setting.default if not isinstance(setting.default, tuple) else ",".join(map(str, setting.default))
            reader.add_argument(
                f"--{setting.name.replace('_', '-')}",
                type=read_value(kind),
                metavar=kind.upper(),
                help=f"default: {default}",
            )
    return reader


def read_option(text: str) -> tuple[str, Any]:
    """Return an option of the game written key=value, the value as JSON where it is that."""
    key, equals, value = text.partition("=")
    if not key or not equals:
        raise TrainingError(f"an option is written KEY=VALUE, not {text!r}")
    try:
        return key, json.loads(value.lower() if value in ("True", "False") else value)
    except ValueError:
        return key, value


def main(arguments: list[str] | None = None) -> None:
    """Run `stinglab train`."""
    given = vars(parser().parse_args(arguments))
    out = given.pop("out")
    options, also = (tuple(read_option(text) for text in given.pop(name)) for name in ("option", "also"))
    changes = {name: value for name, value in given.items() if value is not None}
    settings = Settings(options=options, also=also, **changes)
    settings = replace(settings, game=game_id(settings.game))
    folder = out or Path("runs") / settings.game.rpartition("-v")[0]
    try:
        run = train(folder, settings, print_report)
    except KeyboardInterrupt:
        print(f"\nstopped; the same command goes on from the checkpoint in {folder}", file=sys.stderr)
        raise SystemExit(130) from None
    print(
        f"done: {run.model.num_timesteps:,} decisions in {run.seconds:.0f} s; the best policy is checkpoint:{folder}/best"
    )


def print_report(what: str, done: int, total: int, words: str) -> None:
    """Print progress on one line, a line each where output is no terminal."""
    end = "\r" if sys.stdout.isatty() and not words.startswith("share") else "\n"
    print(f"{what}: {done:,} of {total:,} decisions, {words}".ljust(90), end=end, flush=True)


if __name__ == "__main__":
    main()
