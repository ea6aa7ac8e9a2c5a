"""A trained policy as an agent: plain arrays, numpy and numba, no torch.

A policy is a folder: `policy.json` says which game, configuration, observation and network it is for, `weights.npz` (or
`weights.pt`, a plain torch state_dict) holds the arrays. A policy that does not fit is refused, both values named.

The network: fields of rows (piles) are embedded row by row with shared weights and summed; that and everything else, the
legal actions too, goes through two dense layers; an action that stands for a row is scored by that row's embedding.

A network may have *advisors*, compiled bots: what each would do is an input, and adds to that action's score as much as
the network trusts the advisor here. It then begins near its advisor and learns when to differ, as in residual policy
learning (Silver et al., 2018; Johannink et al., 2019).
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from agents.base import CompiledBot
from agents.registry import make_agent
from tabletop.files import whole_file, write_whole
from tabletop.game import BatchGame, GameSpec, raw_bytes
from tabletop.jit import entry
from tabletop.seeding import uniform_lanes

Array = NDArray[Any]
FORMAT = 1
ROW_SUM = 4.0  # a usual number of rows: the sum of their embeddings is divided by it


class PolicyError(ValueError):
    """A policy that can't be read, or that is for another game, observation or network."""


@dataclass(frozen=True)
class NetworkShape:
    """Where a network finds what in an observation, and its widths.

    dense: (start, stop) of the parts of the flat observation that are read as they are; rows: (start, count, columns,
    first action or -1) of a field of rows.
    """

    observation_size: int
    num_actions: int
    dense: tuple[tuple[int, int], ...]
    rows: tuple[int, int, int, int] | None
    hidden: int
    row_width: int
    advisors: tuple[str, ...] = ()  # names of bots

    @property
    def num_inputs(self) -> int:
        """Length of the dense input: the parts of the observation, the mask, each advisor's action."""
        return sum(stop - start for start, stop in self.dense) + self.num_actions * (1 + len(self.advisors))


def network_shape(
    spec: GameSpec, hidden: int = 256, row_width: int = 64, advisors: tuple[str, ...] = ()
) -> NetworkShape:
    """Return the shape of a network for a game; at most one field of rows."""
    slices = spec.observation_slices()
    sets = [field for field in spec.observation_fields if field.row_actions is not None]
    if len(sets) > 1:
        raise ValueError(f"{spec.name} has {len(sets)} fields of rows; the network takes one")
    if not sets:
        whole = ((0, spec.observation_size),)
        return NetworkShape(spec.observation_size, spec.num_actions, whole, None, hidden, 0, advisors)
    field = sets[0]
    place = slices[field.name]
    dense = tuple((a, b) for a, b in ((0, place.start), (place.stop, spec.observation_size)) if b > a)
    rows = (place.start, field.shape[0], field.shape[1], int(field.row_actions))  # type: ignore[arg-type]
    return NetworkShape(spec.observation_size, spec.num_actions, dense, rows, hidden, row_width, advisors)


def observation_scale(spec: GameSpec) -> Array:
    """Return what to multiply each value of the flat observation by: float32 [D]."""
    scale = np.ones(spec.observation_size, np.float32)
    for field, place in zip(spec.observation_fields, spec.observation_slices().values(), strict=True):
        scale[place] = 1.0 / field.scale
    return scale


class Advisors:
    """The bots whose advice a network takes, and what they would do."""

    def __init__(self, game: BatchGame, names: tuple[str, ...]) -> None:
        self.agents = tuple(make_agent(name, game) for name in names)
        for name, agent in zip(names, self.agents, strict=True):
            if not isinstance(agent, CompiledBot):
                raise ValueError(f"only a bot can be an advisor, not {name!r}")
        self.observation_dtype = game.spec.observation_dtype

    def advise(self, observations: Array, masks: Array) -> Array:
        """Return each advisor's action: int64 [B, K]. observations int8 [B, D], masks bool [B, A]."""
        advice = np.empty((len(observations), len(self.agents)), np.int64)
        records = np.ascontiguousarray(observations).view(self.observation_dtype).reshape(-1)
        keys = np.zeros(len(records), np.uint64)  # the same position, the same advice
        for k, agent in enumerate(self.agents):
            advice[:, k] = agent.act(records, masks, keys)
        return advice


@entry
def sum_inputs(
    observations: Any, masks: Any, advice: Any, columns: Any, scale: Any, weight: Any, bias: Any, hidden: Any
) -> None:
    """Write the first layer's sums, float32 [B, H]: of some 2,000 inputs about 125 are not zero, and only these are added.

    columns: int64 [D], the row of `weight` [I, H] of each value of the observations int8 [B, D], -1 if it has none; the
    rows of the masks uint8 [B, A] and of each advisor's action, advice int64 [B, K], follow.
    """
    width, num_actions = weight.shape[1], masks.shape[1]
    first = weight.shape[0] - num_actions * (1 + advice.shape[1])
    for b in range(observations.shape[0]):
        hidden[b] = bias
        for i in range(observations.shape[1]):
            if observations[b, i] != 0 and columns[i] >= 0:
                value, row = np.float32(observations[b, i]) * scale[i], columns[i]
                for h in range(width):
                    hidden[b, h] += value * weight[row, h]
        for a in range(num_actions):
            if masks[b, a]:
                for h in range(width):
                    hidden[b, h] += weight[first + a, h]
        for k in range(advice.shape[1]):
            row = first + num_actions * (1 + k) + advice[b, k]
            for h in range(width):
                hidden[b, h] += weight[row, h]


class PolicyNetwork:
    """The forward pass in numpy. `training.network.TorchNetwork` is the same in torch."""

    def __init__(self, shape: NetworkShape, scale: Array, weights: Mapping[str, Array], advisors: Advisors) -> None:
        self.shape = shape
        self.scale = scale
        self.advisors = advisors
        self.weights = {name: np.ascontiguousarray(array, dtype=np.float32) for name, array in weights.items()}
        self.columns = np.full(shape.observation_size, -1, np.int64)
        read = np.concatenate([np.arange(a, b) for a, b in shape.dense])
        self.columns[read] = np.arange(len(read))

    def logits(self, observations: Array, masks: Array) -> Array:
        """Return the scores of all actions, legal or not: float32 [B, A]. observations int8 [B, D], masks bool [B, A]."""
        w, shape = self.weights, self.shape
        advice = self.advisors.advise(observations, masks)
        hidden: Array = np.empty((len(observations), shape.hidden), np.float32)
        sum_inputs(
            np.ascontiguousarray(observations), np.ascontiguousarray(masks).view(np.uint8), advice, self.columns,
            self.scale, w["input.weight"], w["input.bias"], hidden,
        )  # fmt: skip
        if shape.rows is not None:
            start, count, columns, first = shape.rows
            rows = observations[:, start : start + count * columns].reshape(-1, columns)
            there = np.flatnonzero(rows.any(axis=1))
            scale = self.scale[start : start + columns]
            embedded = np.maximum(
                rows[there].astype(np.float32) * scale @ w["row.weight"].T + w["row.bias"], 0.0, dtype=np.float32
            )
            table: Array = np.zeros((len(observations), count, shape.row_width), np.float32)
            table.reshape(-1, shape.row_width)[there] = embedded
            hidden += (table.sum(axis=1) / np.float32(ROW_SUM)) @ w["pool.weight"].T
        hidden = np.maximum(hidden, 0.0)
        hidden = np.maximum(hidden @ w["hidden.weight"].T + w["hidden.bias"], 0.0)
        logits = hidden @ w["policy.weight"].T + w["policy.bias"]
        if shape.rows is not None and first >= 0:
            query = hidden @ w["query.weight"].T
            logits[:, first : first + count] += np.einsum("blr,br->bl", table, query)
        if advice.shape[1]:
            trust = hidden @ w["advice.weight"].T + w["advice.bias"]
            for k in range(advice.shape[1]):
                logits[np.arange(len(logits)), advice[:, k]] += trust[:, k]
        return np.asarray(logits, np.float32)


def masked_probabilities(logits: Array, masks: Array) -> Array:
    """Return the softmax over legal actions: float32 [B, A], zero where illegal."""
    shifted = np.where(masks, logits, np.float32(-np.inf))
    shifted -= shifted.max(axis=1, keepdims=True)
    probabilities = np.exp(shifted)
    return np.asarray(probabilities / probabilities.sum(axis=1, keepdims=True), np.float32)


def sample(probabilities: Array, uniforms: Array) -> Array:
    """Return an action for each row of probabilities [B, A] by uniforms [B] in [0, 1): int64 [B], never one of zero."""
    total = np.cumsum(probabilities, axis=1, dtype=np.float64)
    threshold = uniforms * total[:, -1]
    return np.asarray((total <= threshold[:, None]).sum(axis=1), np.int64)


@dataclass(frozen=True)
class PolicyAgent:
    """A policy that plays: sampling from its probabilities, or its best action if `greedy`."""

    name: str
    network: PolicyNetwork
    greedy: bool = False

    def probabilities(self, observations: Array, masks: Array) -> Array:
        """Return the probability of every action: float32 [B, A]."""
        flat = raw_bytes(observations)
        return masked_probabilities(self.network.logits(flat, masks), masks)

    def act(self, observations: Array, masks: Array, keys: Array) -> Array:
        """Choose for every record; luck comes from `keys`, so that the batch makes no difference."""
        if not masks.any(axis=1).all():
            raise ValueError("every mask must have a legal action")
        probabilities = self.probabilities(observations, masks)
        if self.greedy:
            return np.asarray(probabilities.argmax(axis=1), np.int64)
        return sample(probabilities, uniform_lanes(keys))


# Saving and loading -----------------------------------------------------------------------------------------------------


def describe(game: BatchGame, shape: NetworkShape, training: Mapping[str, Any]) -> dict[str, Any]:
    """Return what `policy.json` says of a policy."""
    return {
        "format": FORMAT,
        "game": game.spec.name,
        "config": game.config.to_dict(),
        "observation_digest": game.spec.observation_digest,
        "network": {"hidden": shape.hidden, "row_width": shape.row_width, "advisors": list(shape.advisors)},
        "training": dict(training),
    }


def save(folder: Path, description: Mapping[str, Any], weights: Mapping[str, Array]) -> None:
    """Write a policy, each file whole or not at all; PolicyError for weights that are no numbers."""
    arrays = {name: np.asarray(array, np.float32) for name, array in weights.items()}
    check_finite(arrays, folder)
    with whole_file(folder / "weights.npz") as part, part.open("wb") as file:
        # Any name may be an array's; numpy's types know one that is a switch, allow_pickle.
        np.savez_compressed(file, **arrays)  # type: ignore[arg-type]
    write_whole(folder / "policy.json", json.dumps(description, indent=1) + "\n")


def load(path: str | Path, game: BatchGame, greedy: bool = False, name: str | None = None) -> PolicyAgent:
    """Return the policy in a folder as an agent for `game`; PolicyError names what does not fit."""
    folder = Path(path)
    description = read_description(folder)
    check_fits(description, game, folder)
    shape = read_shape(description, game)
    weights = read_weights(folder)
    for key, wanted in weight_shapes(shape).items():
        got = weights[key].shape if key in weights else None
        if got != wanted:
            raise PolicyError(f"{folder}: weight {key} has shape {got}, the network needs {wanted}")
    check_finite(weights, folder)
    advisors = Advisors(game, shape.advisors)
    network = PolicyNetwork(shape, observation_scale(game.spec), weights, advisors)
    return PolicyAgent(name or folder.name, network, greedy)


def check_finite(weights: Mapping[str, Array], folder: Path) -> None:
    """Raise PolicyError for weights that are no numbers: what has learned from such has gone wrong."""
    for name, array in weights.items():
        if not np.isfinite(array).all():
            raise PolicyError(
                f"{folder}: weight {name} holds {int((~np.isfinite(array)).sum())} values that are no numbers"
            )


def read_shape(description: Mapping[str, Any], game: BatchGame) -> NetworkShape:
    """Return the shape of the network that `policy.json` describes."""
    network = description["network"]
    try:
        hidden, row_width = int(network["hidden"]), int(network["row_width"])
        advisors = tuple(network.get("advisors", ()))
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise PolicyError(
            f"policy.json must name the network's hidden and row_width, whole numbers: {error!r}"
        ) from error
    return network_shape(game.spec, hidden, row_width, advisors)


def read_description(folder: Path) -> dict[str, Any]:
    """Return `policy.json`; PolicyError if there is none or it is not one."""
    path = folder / "policy.json"
    if not path.exists():
        raise PolicyError(f"{folder} is no policy: it has no policy.json")
    try:
        description = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise PolicyError(f"{path} is damaged: {error}") from error
    if not isinstance(description, dict) or description.get("format") != FORMAT:
        found = description.get("format") if isinstance(description, dict) else type(description).__name__
        raise PolicyError(f"{path} has format {found!r}, this version reads {FORMAT}")
    missing = [key for key in ("game", "config", "observation_digest", "network") if key not in description]
    if missing:
        raise PolicyError(f"{path} lacks {', '.join(missing)}")
    return description


def check_fits(description: Mapping[str, Any], game: BatchGame, folder: Path) -> None:
    """Raise PolicyError if a policy is for another game or another observation."""
    for key, ours in (("game", game.spec.name), ("observation_digest", game.spec.observation_digest)):
        if description[key] != ours:
            raise PolicyError(f"{folder}: the policy's {key} is {description[key]!r}, the game's is {ours!r}")


def read_weights(folder: Path) -> dict[str, Array]:
    """Return the weights of a policy as arrays."""
    arrays, state = folder / "weights.npz", folder / "weights.pt"
    try:
        if arrays.exists():
            with arrays.open("rb") as source, np.load(source, allow_pickle=False) as file:
                return {name: file[name] for name in file.files}
        if state.exists():
            import torch

            return {name: t.numpy() for name, t in torch.load(state, map_location="cpu", weights_only=True).items()}
    except PolicyError:
        raise
    except Exception as error:  # whatever a damaged file makes of its reader
        raise PolicyError(f"{folder}: the weights are damaged: {error}") from error
    raise PolicyError(f"{folder} has neither weights.npz nor weights.pt")


def weight_shapes(shape: NetworkShape) -> dict[str, tuple[int, ...]]:
    """Return the shape of every array of a network."""
    h, a = shape.hidden, shape.num_actions
    shapes: dict[str, tuple[int, ...]] = {
        "input.weight": (shape.num_inputs, h),
        "input.bias": (h,),
        "hidden.weight": (h, h),
        "hidden.bias": (h,),
        "policy.weight": (a, h),
        "policy.bias": (a,),
        "value.weight": (1, h),
        "value.bias": (1,),
    }
    if shape.advisors:
        shapes["advice.weight"] = (len(shape.advisors), h)
        shapes["advice.bias"] = (len(shape.advisors),)
    if shape.rows is not None:
        shapes["row.weight"] = (shape.row_width, shape.rows[2])
        shapes["row.bias"] = (shape.row_width,)
        shapes["pool.weight"] = (h, shape.row_width)
        shapes["query.weight"] = (shape.row_width, h)
    return shapes
