"""Positions as a network reads them fast: what is not zero, which rows are there, which actions are legal.

Of the 2,000 inputs of a position of Sting some 120 are not zero, of 405 actions some ten are legal. A dense first layer
and a dense last one spend nearly all their time on zeros; here both work on lists. The layers between are plain torch.

Letters: M positions, B of them in a batch, H hidden width, K the most legal actions of a position in the batch.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any, TypeVar

import numpy as np
import torch
from numpy.typing import NDArray

from agents.policy import NetworkShape
from tabletop.jit import entry

Array = NDArray[Any]
MASKED = -1e4  # score of a place in a batch that no action fills


@dataclass(frozen=True)
class Inputs:
    """What is not zero in M rows of inputs; that of row m is at start[m]:start[m + 1]."""

    start: Array  # int64 [M + 1]
    index: Array  # int32, which input
    value: Array  # float32, scaled


def read_inputs(rows: Array) -> Inputs:
    """Return rows [M, I], any integers, as lists."""
    which, index = np.nonzero(rows)
    start = np.searchsorted(which, np.arange(len(rows) + 1))
    return Inputs(start.astype(np.int64), index.astype(np.int32), rows[which, index].astype(np.float32))


@dataclass(frozen=True)
class Positions:
    """Lists of M positions; those of position m are at start[m]:start[m + 1]."""

    input_start: Array  # int64 [M + 1]
    input_index: Array  # int32, which input
    input_value: Array  # float32, scaled
    row_start: Array  # int64 [M + 1]
    row_slot: Array  # int32, which row of the field
    row_value: Array  # float32 [rows, C], scaled
    legal_start: Array  # int64 [M + 1]
    legal: Array  # int32, legal actions in ascending order
    advice: Array  # int64 [M, K'], the action of each advisor

    def __len__(self) -> int:
        return len(self.input_start) - 1

    @property
    def inputs(self) -> Inputs:
        """What the first layer reads."""
        return Inputs(self.input_start, self.input_index, self.input_value)


def read_positions(shape: NetworkShape, scale: Array, observations: Array, masks: Array, advice: Array) -> Positions:
    """Return the lists of observations int8 [M, D] and masks bool [M, A], with each advisor's action int64 [M, K']."""
    dense = np.array(shape.dense, np.int64)
    rows = np.array(shape.rows if shape.rows is not None else (0, 0, 0, -1), np.int64)
    legal_bytes = masks.view(np.uint8)
    starts = np.zeros((3, len(observations) + 1), np.int64)
    count_lists(dense, rows, observations, legal_bytes, starts)
    starts[0, 1:] += advice.shape[1]
    starts = np.cumsum(starts, axis=1)
    positions = Positions(
        input_start=starts[0],
        input_index=np.empty(starts[0, -1], np.int32),
        input_value=np.empty(starts[0, -1], np.float32),
        row_start=starts[1],
        row_slot=np.empty(starts[1, -1], np.int32),
        row_value=np.empty((starts[1, -1], rows[2]), np.float32),
        legal_start=starts[2],
        legal=np.empty(starts[2, -1], np.int32),
        advice=advice,
    )
    write_lists(
        dense, rows, scale, observations, legal_bytes, advice, positions.input_index, positions.input_value,
        positions.row_slot, positions.row_value, positions.legal, positions.input_start, positions.row_start,
        positions.legal_start,
    )  # fmt: skip
    return positions


Lists = TypeVar("Lists", Inputs, Positions)


@entry
def count_lists(dense, rows, observations, masks, starts):
    """Write into starts [3, M + 1], shifted by one, how long each position's lists are."""
    first, count, columns = rows[0], rows[1], rows[2]
    for m in range(observations.shape[0]):
        values = observations[m]
        inputs = 0
        for part in range(dense.shape[0]):
            for i in range(dense[part, 0], dense[part, 1]):
                inputs += values[i] != 0
        legal = 0
        for a in range(masks.shape[1]):
            legal += masks[m, a] != 0
        there = 0
        for row in range(count):
            for c in range(columns):
                if values[first + row * columns + c] != 0:
                    there += 1
                    break
        starts[0, m + 1] = inputs + legal
        starts[1, m + 1] = there
        starts[2, m + 1] = legal


@entry
def write_lists(
    dense, rows, scale, observations, masks, advice, input_index, input_value, row_slot, row_value, legal, input_start,
    row_start, legal_start,
):  # fmt: skip
    """Fill the lists of all positions, in place."""
    first, count, columns = rows[0], rows[1], rows[2]
    for m in range(observations.shape[0]):
        values = observations[m]
        k = input_start[m]
        offset = 0
        for part in range(dense.shape[0]):
            begin, end = dense[part, 0], dense[part, 1]
            for i in range(begin, end):
                if values[i] != 0:
                    input_index[k] = offset + i - begin
                    input_value[k] = values[i] * scale[i]
                    k += 1
            offset += end - begin
        j = legal_start[m]
        for a in range(masks.shape[1]):
            if masks[m, a]:
                input_index[k] = offset + a
                input_value[k] = 1.0
                k += 1
                legal[j] = a
                j += 1
        for advisor in range(advice.shape[1]):
            input_index[k] = offset + (1 + advisor) * masks.shape[1] + advice[m, advisor]
            input_value[k] = 1.0
            k += 1
        r = row_start[m]
        for row in range(count):
            base = first + row * columns
            there = False
            for c in range(columns):
                if values[base + c] != 0:
                    there = True
                    break
            if there:
                row_slot[r] = row
                for c in range(columns):
                    row_value[r, c] = values[base + c] * scale[base + c]
                r += 1


@entry
def sum_inputs(start, index, value, ids, weight, bias, out):
    """Write bias + the weighted rows of `weight` [I, H] of each position into out [B, H]."""
    width = out.shape[1]
    for b in range(ids.shape[0]):
        row = out[b]
        for h in range(width):
            row[h] = bias[h]
        for k in range(start[ids[b]], start[ids[b] + 1]):
            x = value[k]
            w = weight[index[k]]
            for h in range(width):
                row[h] += x * w[h]


@entry
def add_input_gradient(start, index, value, ids, gradient, out):
    """Add the gradient of the weights [I, H], given that of the sums [B, H], to `out`."""
    width = out.shape[1]
    for b in range(ids.shape[0]):
        g = gradient[b]
        for k in range(start[ids[b]], start[ids[b] + 1]):
            x = value[k]
            row = out[index[k]]
            for h in range(width):
                row[h] += x * g[h]


@entry
def score_legal(start, legal, ids, hidden, weight, bias, out):
    """Write the score of each legal action into out [B, K], which holds MASKED elsewhere."""
    width = hidden.shape[1]
    for b in range(ids.shape[0]):
        h = hidden[b]
        first = start[ids[b]]
        for k in range(first, start[ids[b] + 1]):
            w = weight[legal[k]]
            total = np.float32(0.0)
            for i in range(width):
                total += h[i] * w[i]
            out[b, k - first] = total + bias[legal[k]]


@entry
def add_score_gradient(start, legal, ids, hidden, weight, gradient, d_hidden, d_weight, d_bias):
    """Add the gradients of `score_legal`, given that of its scores [B, K], to the three arrays."""
    width = hidden.shape[1]
    for b in range(ids.shape[0]):
        h, dh = hidden[b], d_hidden[b]
        first = start[ids[b]]
        for k in range(first, start[ids[b] + 1]):
            g = gradient[b, k - first]
            a = legal[k]
            w, dw = weight[a], d_weight[a]
            d_bias[a] += g
            for i in range(width):
                dh[i] += g * w[i]
                dw[i] += g * h[i]


@entry
def gather_rows(row_start, row_slot, legal_start, legal, ids, first_action, width, rows, owner, place):
    """List the rows of a batch: which row, whose (0..B-1), and its action's place in [B, K] flattened, -1 if illegal."""
    r = 0
    for b in range(ids.shape[0]):
        m = ids[b]
        for k in range(row_start[m], row_start[m + 1]):
            rows[r] = k
            owner[r] = b
            place[r] = -1
            if first_action >= 0:
                action = first_action + row_slot[k]
                for j in range(legal_start[m], legal_start[m + 1]):
                    if legal[j] == action:
                        place[r] = b * width + j - legal_start[m]
            r += 1


@entry
def find_places(start, legal, ids, actions, places):
    """Write where in its list of legal actions each action stands, -1 if it is not legal."""
    for b in range(ids.shape[0]):
        places[b] = -1
        for k in range(start[ids[b]], start[ids[b] + 1]):
            if legal[k] == actions[b]:
                places[b] = k - start[ids[b]]


class InputLayer(torch.autograd.Function):
    """The first layer, on lists: weight [I, H], bias [H] -> [B, H]."""

    @staticmethod
    def forward(ctx: Any, weight: torch.Tensor, bias: torch.Tensor, inputs: Inputs, ids: Array) -> torch.Tensor:
        """Return the sums [B, H]."""
        ctx.inputs, ctx.ids, ctx.shape = inputs, ids, weight.shape
        out = np.empty((len(ids), weight.shape[1]), np.float32)
        sum_inputs(inputs.start, inputs.index, inputs.value, ids, array(weight), array(bias), out)
        return torch.from_numpy(out)

    @staticmethod
    def backward(ctx: Any, gradient: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, None, None]:
        """Return the gradients of weight and bias."""
        d_weight = np.zeros(ctx.shape, np.float32)
        add_input_gradient(ctx.inputs.start, ctx.inputs.index, ctx.inputs.value, ctx.ids, array(gradient), d_weight)
        return torch.from_numpy(d_weight), gradient.sum(0), None, None


class LegalScores(torch.autograd.Function):
    """The last layer, legal actions only: hidden [B, H], weight [A, H], bias [A] -> [B, K]."""

    @staticmethod
    def forward(
        ctx: Any, hidden: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor, positions: Positions, ids: Array
    ) -> torch.Tensor:
        """Return the scores [B, K], MASKED where a position has no more actions."""
        ctx.save_for_backward(hidden, weight)
        ctx.positions, ctx.ids = positions, ids
        out = np.full((len(ids), most_legal(positions, ids)), MASKED, np.float32)
        score_legal(positions.legal_start, positions.legal, ids, array(hidden), array(weight), array(bias), out)
        return torch.from_numpy(out)

    @staticmethod
    def backward(ctx: Any, gradient: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor, None, None]:
        """Return the gradients of hidden, weight and bias."""
        hidden, weight = ctx.saved_tensors
        d_hidden = np.zeros(hidden.shape, np.float32)
        d_weight = np.zeros(weight.shape, np.float32)
        d_bias = np.zeros(len(weight), np.float32)
        p = ctx.positions
        add_score_gradient(
            p.legal_start, p.legal, ctx.ids, array(hidden), array(weight), array(gradient), d_hidden, d_weight, d_bias
        )
        return torch.from_numpy(d_hidden), torch.from_numpy(d_weight), torch.from_numpy(d_bias), None, None


def join(parts: Sequence[Lists]) -> Lists:
    """Return several lots of lists as one, in their order."""
    columns: dict[str, Array] = {}
    for field in fields(parts[0]):
        arrays = [getattr(part, field.name) for part in parts]
        if field.name.endswith("start"):
            lengths = np.concatenate([np.diff(array) for array in arrays])
            columns[field.name] = np.concatenate([np.zeros(1, np.int64), np.cumsum(lengths)])
        else:
            columns[field.name] = np.concatenate(arrays)
    return type(parts[0])(**columns)


def array(tensor: torch.Tensor) -> Array:
    """Return a tensor as a contiguous array, the same memory where it already is one."""
    return tensor.detach().contiguous().numpy()


def most_legal(positions: Positions, ids: Array) -> int:
    """Return K: the most legal actions that one of the positions `ids` has."""
    return int((positions.legal_start[ids + 1] - positions.legal_start[ids]).max())
