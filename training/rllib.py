"""Train with RLlib: PPO by self-play against frozen snapshots, measured in the arena. For many machines; on one,
`stinglab train` is faster.

A run lives in one folder:

    run.json          the settings; the same command goes on where the run stopped, with others it is refused
    log.jsonl         a line for each evaluation
    best/ last/       policies as `checkpoint:PATH` plays them, with numpy alone
    snapshots/NNNN    earlier policies, opponents of later ones

Needs Ray, which holds Gymnasium at an older version, in an environment of its own: pip install 'stinglab[rllib]'.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import ray
import torch
from ray.rllib.algorithms.ppo import PPO, PPOConfig
from ray.rllib.algorithms.ppo.torch.default_ppo_torch_rl_module import DefaultPPOTorchRLModule
from ray.rllib.core.columns import Columns
from ray.rllib.core.rl_module import MultiRLModuleSpec, RLModuleSpec
from torch import nn

from agents import policy as policies
from agents.arena import compare
from agents.base import Agent
from agents.policy import ROW_SUM, NetworkShape, network_shape, observation_scale
from agents.registry import list_agents, split_specs
from tabletop import registry
from tabletop.adapters.rllib import GameEnv
from tabletop.files import write_whole
from tabletop.game import BatchGame

MAIN = "main"  # the module that learns
ILLEGAL = -1e9  # score of an action that is not legal: finite, since RLlib pads episodes with positions that have none
EVALUATION_SEED = 1_000_003  # deals the best policy is chosen on; report on others
GAUNTLET = ("random", "greedy", "rulebook", "lookahead")  # who is played against: those of them that a game has

# The network ------------------------------------------------------------------------------------------------------------


class Affine(nn.Module):
    """Weights in the shape that `agents.policy` stores them in."""

    def __init__(self, *shape: int, bias: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.empty(shape))
        self.bias = nn.Parameter(torch.zeros(bias))


class DenseNetwork(nn.Module):
    """`agents.policy.PolicyNetwork` in plain torch, with a value; the names of its weights are the same."""

    def __init__(self, shape: NetworkShape, scale: np.ndarray) -> None:
        super().__init__()
        self.shape = shape
        self.register_buffer("scale", torch.from_numpy(np.asarray(scale, np.float32)), persistent=False)
        self.input = Affine(shape.num_inputs, shape.hidden, bias=shape.hidden)
        self.hidden = nn.Linear(shape.hidden, shape.hidden)
        self.policy = Affine(shape.num_actions, shape.hidden, bias=shape.num_actions)
        self.value = nn.Linear(shape.hidden, 1)
        if shape.rows is not None:
            self.row = nn.Linear(shape.rows[2], shape.row_width)
            self.pool = nn.Linear(shape.row_width, shape.hidden, bias=False)
            self.query = nn.Linear(shape.hidden, shape.row_width, bias=False)
            nn.init.zeros_(self.query.weight)
        for layer, gain in ((self.input, 2**0.5), (self.hidden, 2**0.5), (self.policy, 0.01), (self.value, 0.1)):
            nn.init.orthogonal_(layer.weight, gain)
            nn.init.zeros_(layer.bias)

    def forward(self, observations: torch.Tensor, masks: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Return scores [B, A], ILLEGAL where the mask is 0, and the last hidden layer [B, H].

        observations: [B, D], masks: [B, A], of any dtype.
        """
        shape = self.shape
        legal, scaled = masks > 0, observations.float() * self.scale
        dense = [scaled[:, start:stop] for start, stop in shape.dense]
        hidden = torch.cat([*dense, legal.float()], dim=1) @ self.input.weight + self.input.bias
        if shape.rows is not None:
            start, count, columns, first = shape.rows
            rows = scaled[:, start : start + count * columns].unflatten(1, (count, columns))
            table = torch.relu(self.row(rows)) * rows.any(dim=2, keepdim=True)
            hidden = hidden + self.pool(table.sum(dim=1) / ROW_SUM)
        hidden = torch.relu(self.hidden(torch.relu(hidden)))
        scores = hidden @ self.policy.weight.T + self.policy.bias
        if shape.rows is not None and first >= 0:
            asked = torch.einsum("blr,br->bl", table, self.query(hidden))
            scores = scores + nn.functional.pad(asked, (first, shape.num_actions - first - count))
        return scores.masked_fill(~legal, ILLEGAL), hidden


class MaskedModule(DefaultPPOTorchRLModule):
    """The network as RLlib's PPO trains it: observations {"observations", "action_mask"}, scores of legal actions only.

    model_config: "game", its id, and the widths "hidden" and "row_width".
    """

    def setup(self) -> None:
        """Make the network, in the place of RLlib's encoder and heads."""
        config = self.model_config
        spec = registry.make(config["game"]).spec
        shape = network_shape(spec, config["hidden"], config["row_width"])
        self.network = DenseNetwork(shape, observation_scale(spec))

    def get_initial_state(self) -> dict[str, Any]:
        """Return nothing: the network has no memory."""
        return {}

    def get_non_inference_attributes(self) -> list[str]:
        """Return nothing: the value is one row of weights, and goes along."""
        return []

    def _forward(self, batch: dict[str, Any], **kwargs: Any) -> dict[str, Any]:
        seen = batch[Columns.OBS]
        return {Columns.ACTION_DIST_INPUTS: self.network(seen["observations"], seen["action_mask"])[0]}

    def _forward_train(self, batch: dict[str, Any], **kwargs: Any) -> dict[str, Any]:
        seen = batch[Columns.OBS]
        scores, hidden = self.network(seen["observations"], seen["action_mask"])
        return {Columns.ACTION_DIST_INPUTS: scores, Columns.EMBEDDINGS: hidden}

    def compute_values(self, batch: dict[str, Any], embeddings: Any = None) -> torch.Tensor:
        """Return the values of positions [B]."""
        if embeddings is None:
            seen = batch[Columns.OBS]
            embeddings = self.network(seen["observations"], seen["action_mask"])[1]
        return self.network.value(embeddings).squeeze(-1)


def module_spec(game: BatchGame, hidden: int = 256, row_width: int = 64) -> RLModuleSpec:
    """Return what RLlib makes a module of."""
    env = GameEnv({"game": game})
    agent = env.possible_agents[0]
    return RLModuleSpec(
        module_class=MaskedModule,
        observation_space=env.get_observation_space(agent),
        action_space=env.get_action_space(agent),
        model_config={"game": game.spec.name, "hidden": hidden, "row_width": row_width},
    )


# Between RLlib and our policies -----------------------------------------------------------------------------------------


def weights_of(algorithm: PPO, module: str = MAIN) -> dict[str, np.ndarray]:
    """Return the weights of a module as `agents.policy` names them."""
    state = algorithm.learner_group.get_weights([module])[module]
    return {name.removeprefix("network."): np.asarray(array, np.float32) for name, array in state.items()}


def widths_of(weights: Mapping[str, np.ndarray]) -> tuple[int, int]:
    """Return the widths of a network, hidden layer and embedding of rows, by its weights."""
    return len(weights["hidden.bias"]), len(weights.get("row.bias", ()))


def set_weights(algorithm: PPO, module: str, weights: Mapping[str, np.ndarray]) -> None:
    """Give a module the weights of a policy, where it learns and where it plays."""
    state = {f"network.{name}": array for name, array in weights.items()}
    algorithm.learner_group.set_weights({module: state})
    algorithm.env_runner_group.sync_weights(from_worker_or_learner_group=algorithm.learner_group, policies=[module])


def agent_of(algorithm: PPO, game: BatchGame, module: str = MAIN) -> Agent:
    """Return a module as it is now as an agent of the arena, which plays with numpy alone."""
    with tempfile.TemporaryDirectory() as folder:
        export(algorithm, game, Path(folder), module)
        return policies.load(folder, game, name=module)


def export(
    algorithm: PPO, game: BatchGame, folder: Path, module: str = MAIN, training: Mapping[str, Any] | None = None
) -> None:
    """Write a module as a policy that `checkpoint:PATH` names; it plays with numpy alone. training: kept with it."""
    weights = weights_of(algorithm, module)
    shape = network_shape(game.spec, *widths_of(weights))
    described = policies.describe(game, shape, {"trainer": f"RLlib {ray.__version__}"} | dict(training or {}))
    policies.save(folder, described, weights)


def weights_in(folder: Path | str, game: BatchGame) -> Mapping[str, np.ndarray]:
    """Return the weights of a policy to begin from; PolicyError if it does not fit, or has advisors."""
    network = policies.load(folder, game).network
    if network.shape.advisors:
        raise policies.PolicyError(f"{folder}: a network with advisors can't be trained with RLlib")
    return network.weights


# Who sits where ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Seating:
    """RLlib's mapping of agents to modules: a learner's seat in each episode, each other one the learner too or a snapshot.

    It hangs on the episode's id alone, so that all seats of an episode agree. share: of other seats that the learner
    takes as well.
    """

    num_players: int
    snapshots: tuple[str, ...] = ()
    share: float = 0.7

    def __call__(self, agent_id: str, episode: Any, **kwargs: Any) -> str:
        """Return the module that plays for an agent."""
        seat = int(agent_id.rpartition("_")[2])
        if not self.snapshots or self._draw(episode, "learner") % self.num_players == seat:
            return MAIN
        if self._draw(episode, f"share {seat}") < self.share * 2**32:
            return MAIN
        return self.snapshots[self._draw(episode, f"snapshot {seat}") % len(self.snapshots)]

    @staticmethod
    def _draw(episode: Any, purpose: str) -> int:
        return zlib.crc32(f"{episode.id_} {purpose}".encode())


def freeze(
    algorithm: PPO, name: str, spec: RLModuleSpec, weights: Mapping[str, np.ndarray], seating: Seating
) -> Seating:
    """Add a module that plays and no longer learns; return the seating with it, which is in force from now on."""
    new = Seating(seating.num_players, (*seating.snapshots, name), seating.share)
    algorithm.add_module(
        name,
        spec,
        new_agent_to_module_mapping_fn=new,
        new_should_module_be_updated=[MAIN],
        add_to_eval_env_runners=False,
    )
    set_weights(algorithm, name, weights)
    return new


# The arena as RLlib's metric --------------------------------------------------------------------------------------------


def play_arena(
    algorithm: PPO, game: BatchGame, against: Sequence[str], deals: int, modules: Sequence[str] = (MAIN,)
) -> dict[str, dict[str, list[float]]]:
    """Return by module and opponent the share won and its interval: [low, mean, high].

    One seat for the module, all others for the opponent, an agent's spec, on duplicate deals.
    """
    found: dict[str, dict[str, list[float]]] = {}
    for module in modules:
        agent = agent_of(algorithm, game, module)
        found[module] = {}
        for spec in against:
            share = (
                compare(game, [agent, spec], deals, EVALUATION_SEED, names=[module, spec]).pair(module, spec).win_share
            )
            found[module][spec] = [round(x, 4) for x in (share.low, share.mean, share.high)]
    return found


def arena_callback(
    game: str, options: Mapping[str, Any], against: Sequence[str], deals: int = 200, every: int = 1
) -> Callable[..., None]:
    """Return a function for `config.callbacks(on_train_result=...)` that puts `play_arena` under "arena" in the result.

    In a zero-sum game returns say nothing of how well a policy plays: with itself on every seat they are 0.
    """
    return partial(_add_arena, name=game, options=dict(options), against=tuple(against), deals=deals, every=every)


def _add_arena(
    *, algorithm: PPO, result: dict[str, Any], name: str, options: dict[str, Any], against: tuple[str, ...], deals: int,
    every: int, **kwargs: Any,
) -> None:  # fmt: skip
    if result["training_iteration"] % every == 0:
        result["arena"] = play_arena(algorithm, registry.make(name, **options), against, deals)


# A run ------------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Settings:
    """All that decides a run.

    options: of the game, beside those that make it one unit of scoring (a round; GameSpec.unit_options). steps: decisions
    of all seats. runners: Ray processes that play, 0: this one; envs: games side by side in each. batch: decisions between
    updates. self_share: of the seats beside the learner's that it takes itself, the others go to snapshots.
    evaluate_every, snapshot_every: updates between. against: the gauntlet, by default those of GAUNTLET that there are.
    init: a policy to begin from. address: of a Ray cluster.
    """

    game: str = "sting-v0"
    options: tuple[tuple[str, Any], ...] = ()
    players: int = 2
    steps: int = 1_000_000
    seed: int = 0
    runners: int = 0
    envs: int = 16
    batch: int = 4096
    minibatch: int = 512
    epochs: int = 3
    hidden: int = 256
    row_width: int = 64
    learning_rate: float = 3e-4
    gae_lambda: float = 0.95
    clip: float = 0.2
    entropy: float = 0.01
    self_share: float = 0.7
    snapshot_every: int = 20
    evaluate_every: int = 20
    deals: int = 200
    against: tuple[str, ...] = ()
    init: str = ""
    address: str = ""


def make_game(settings: Settings) -> BatchGame:
    """Return the game of a run."""
    return registry.make(settings.game, **game_options(settings))


def game_options(settings: Settings) -> dict[str, Any]:
    """Return the options of a run's game."""
    unit = dict(registry.make(settings.game).spec.unit_options)
    return {**unit, **dict(settings.options), "num_players": settings.players}


def make_config(settings: Settings) -> PPOConfig:
    """Return RLlib's configuration of a run."""
    game = make_game(settings)
    return (
        PPOConfig()
        .environment(
            GameEnv,
            env_config={"game": settings.game, "options": game_options(settings)},
            disable_env_checking=True,  # the check plays illegal actions
        )
        .env_runners(num_env_runners=settings.runners, num_envs_per_env_runner=settings.envs)
        .multi_agent(policies={MAIN}, policy_mapping_fn=Seating(settings.players), policies_to_train=[MAIN])
        .rl_module(
            rl_module_spec=MultiRLModuleSpec(
                rl_module_specs={MAIN: module_spec(game, settings.hidden, settings.row_width)}
            )
        )
        .training(
            gamma=1.0,  # payment comes at the end, turns of many decisions are no worse
            lambda_=settings.gae_lambda,
            lr=settings.learning_rate,
            train_batch_size_per_learner=settings.batch,
            minibatch_size=min(settings.minibatch, settings.batch),
            num_epochs=settings.epochs,
            clip_param=settings.clip,
            entropy_coeff=settings.entropy,
            use_kl_loss=False,
            grad_clip=0.5,
        )
        .debugging(seed=settings.seed, log_level="ERROR")
    )


class Run:
    """A run in progress: RLlib's algorithm, its snapshots, and what is written of it."""

    def __init__(self, folder: Path, settings: Settings) -> None:
        self.folder, self.settings = folder, settings
        self.game = make_game(settings)
        self.against = settings.against or tuple(name for name in GAUNTLET if name in list_agents(self.game))
        self.seating = Seating(settings.players, share=settings.self_share)
        self.steps, self.updates, self.best = 0, 0, -1.0
        self.open_folder()
        self.algorithm: PPO = make_config(settings).build_algo()
        self.resume()

    def open_folder(self) -> None:
        """Write the settings into an empty folder; ValueError if there are others, or something else, in it."""
        description = json.loads(json.dumps(asdict(self.settings)))
        path = self.folder / "run.json"
        if path.exists():
            known = json.loads(path.read_text(encoding="utf-8"))
            free = ("steps", "runners", "address")
            changed = [name for name in description if name not in free and known.get(name) != description[name]]
            if changed:
                raise ValueError(f"{self.folder} holds a run with other settings: {', '.join(changed)}")
        elif self.folder.exists() and any(self.folder.iterdir()):
            raise ValueError(f"{self.folder} is not empty and holds no run")
        self.folder.mkdir(parents=True, exist_ok=True)
        write_whole(path, json.dumps(description, indent=1) + "\n")

    def resume(self) -> None:
        """Take the weights and snapshots of the run so far, or those to begin from; the optimizer begins anew."""
        last = self.folder / "last"
        if last.exists():
            counters = policies.read_description(last)["training"]
            self.steps, self.updates, self.best = counters["steps"], counters["updates"], counters["best"]
            set_weights(self.algorithm, MAIN, weights_in(last, self.game))
        elif self.settings.init:
            set_weights(self.algorithm, MAIN, weights_in(self.settings.init, self.game))
        for folder in sorted((self.folder / "snapshots").glob("[0-9]*")):
            self.add_snapshot(folder.name, weights_in(folder, self.game))

    def add_snapshot(self, name: str, weights: Mapping[str, np.ndarray]) -> None:
        """Add an earlier policy to those that sit with the learner."""
        spec = module_spec(self.game, self.settings.hidden, self.settings.row_width)
        self.seating = freeze(self.algorithm, f"snapshot-{name}", spec, weights, self.seating)

    def save(self, folder: Path, **more: Any) -> None:
        """Write the learner as a policy."""
        counters = {"steps": self.steps, "updates": self.updates, "best": self.best}
        training = {"settings": asdict(self.settings)} | counters | more
        export(self.algorithm, self.game, folder, training=training)

    def update(self) -> dict[str, Any]:
        """Play a batch and learn from it; return RLlib's result, with "arena" in it when that is due."""
        result: dict[str, Any] = self.algorithm.train()
        self.updates += 1
        self.steps += int(sum(result["env_runners"].get("num_agent_steps_sampled", {}).values()))
        done = self.steps >= self.settings.steps
        if self.updates % self.settings.evaluate_every == 0 or done:
            result["arena"] = self.evaluate()
        if self.updates % self.settings.snapshot_every == 0 and not done:
            name = f"{len(self.seating.snapshots):04d}"
            self.save(self.folder / "snapshots" / name)
            self.add_snapshot(name, weights_of(self.algorithm))
        self.save(self.folder / "last")
        return result

    def evaluate(self) -> dict[str, dict[str, list[float]]]:
        """Play the arena, the learner against the gauntlet, and keep the learner if it is the best so far."""
        scores = play_arena(self.algorithm, self.game, self.against, self.settings.deals)
        mean = float(np.mean([share[1] for share in scores[MAIN].values()]))
        if mean > self.best:
            self.best = mean
            self.save(self.folder / "best", evaluation=scores)
        line = {"steps": self.steps, "updates": self.updates, "mean": round(mean, 4), "arena": scores}
        with (self.folder / "log.jsonl").open("a", encoding="utf-8") as file:
            file.write(json.dumps(line) + "\n")
        return scores


def train(folder: Path, settings: Settings, say: Callable[[str], None] = lambda _: None) -> Run:
    """Train until `settings.steps`. Starts Ray, or joins it at `settings.address`, unless this process has already."""
    torch.set_num_threads(1)
    ours = not ray.is_initialized()
    if ours:
        cpus = {} if settings.address else {"num_cpus": settings.runners + 1}
        ray.init(settings.address or "local", include_dashboard=False, log_to_driver=False, **cpus)
    try:
        run = Run(folder, settings)
        try:
            while run.steps < settings.steps:
                before, started = run.steps, time.perf_counter()
                result = run.update()
                speed = (run.steps - before) / (time.perf_counter() - started)
                shares = result.get("arena", {}).get(MAIN, {})
                words = ", ".join(f"{share[1]:.3f} against {name}" for name, share in shares.items())
                say(f"{run.steps:,} of {settings.steps:,} decisions, {speed:,.0f}/s{'; share ' * bool(words)}{words}")
        finally:
            run.algorithm.stop()
        return run
    finally:
        if ours:
            ray.shutdown()


# The command ------------------------------------------------------------------------------------------------------------

READERS: dict[str, Callable[[str], Any]] = {
    "int": lambda text: int(text.replace("_", "")),
    "float": float,
    "str": str,
    "tuple[str, ...]": split_specs,
}


def parser() -> argparse.ArgumentParser:
    """Return the reader of the command's arguments: one for each setting, and the folder."""
    reader = argparse.ArgumentParser(
        "stinglab train-rllib", description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    reader.add_argument("--out", type=Path, help="folder of the run; one that holds a run is resumed")
    reader.add_argument(
        "--option", "-o", action="append", default=[], metavar="KEY=VALUE", help="an option of the game"
    )
    for field in fields(Settings):
        if field.name != "options":
            kind, name = str(field.type), field.name.replace("_", "-")
            reader.add_argument(
                f"--{name}", type=READERS[kind], metavar=kind.upper(), help=f"default: {field.default or 'none'}"
            )
    return reader


def read_option(text: str) -> tuple[str, Any]:
    """Return an option of the game written key=value, the value as JSON where it is that."""
    key, equals, value = text.partition("=")
    if not key or not equals:
        raise ValueError(f"an option is written KEY=VALUE, not {text!r}")
    try:
        return key, json.loads(value.lower() if value in ("True", "False") else value)
    except ValueError:
        return key, value


def game_id(name: str) -> str:
    """Return a game's id by its id or short name: `sting` is `sting-v0`."""
    found = [full for full in registry.names() if name in (full, full.rpartition("-v")[0])]
    if not found:
        raise ValueError(f"no game is called {name!r}; games are: {', '.join(registry.names())}")
    return found[-1]


def main(arguments: list[str] | None = None) -> None:
    """Run `stinglab train-rllib`."""
    given = vars(parser().parse_args(arguments))
    out, options = given.pop("out"), tuple(read_option(text) for text in given.pop("option"))
    changes = {name: value for name, value in given.items() if value is not None}
    changes["game"] = game_id(changes.get("game", Settings.game))
    settings = Settings(options=options, **changes)
    folder = out or Path("runs") / f"{settings.game.rpartition('-v')[0]}-rllib"
    try:
        run = train(folder, settings, partial(print, flush=True))
    except KeyboardInterrupt:
        print(f"\nstopped; the same command goes on from the last update in {folder}", file=sys.stderr)
        raise SystemExit(130) from None
    print(f"done: {run.steps:,} decisions; the best policy is checkpoint:{folder}/best")


if __name__ == "__main__":
    main()
