"""What a data set says: from columns to estimates, one function for each table or figure, nothing drawn or written.

Letters: N positions, C candidates.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from agents.base import Array
from analysis.datasets import MEASURES, Data
from analysis.statistics import (
    Estimate,
    Threshold,
    adjusted,
    best_threshold,
    clustered_mean,
    cross_fitted,
    split_choice,
    variance_cut,
)

ALPHA = 0.05
LEAST_CELL = 20  # positions below which a cell is not tested
DEPTH = 3
SMALLEST_LEAF = 0.01  # of the positions a tree is fitted on
ROLLOUTS = "rollouts"

# The chart --------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Cell:
    """One cell of a chart: arm 1 less arm 0, and what is said about it once all cells are taken together.

    verdict: 1 or 0 for the better arm, -1 for too close to tell.
    """

    across: int
    down: int
    estimate: Estimate
    adjusted: float
    verdict: int


def chart(data: Data, measure: str) -> list[Cell]:
    """Return the cells of the question's chart that hold a position, false discoveries among them kept to 5%."""
    across = data.question.across.place(data.columns[data.question.across.feature])
    down = data.question.down.place(data.columns[data.question.down.feature])
    places = sorted({(int(a), int(d)) for a, d in zip(across, down, strict=True)})
    return decide(
        [(a, d, mean_of(data, data.difference(measure), (across == a) & (down == d))) for a, d in places], LEAST_CELL
    )


def mean_of(data: Data, values: Array, rows: Array) -> Estimate:
    """Return the mean of `values` [N] over some rows, bool [N], clustered by game."""
    return clustered_mean(values[rows], data.game_numbers[rows])


def decide(found: Sequence[tuple[int, int, Estimate]], least: int = 0) -> list[Cell]:
    """Return cells with their verdicts: Benjamini and Hochberg's procedure over all that have `least` positions."""
    p = adjusted([e.p if e.positions >= least else math.nan for _, _, e in found], "fdr_bh")
    cells = []
    for (across, down, estimate), q in zip(found, p, strict=True):
        clear = math.isfinite(q) and q < ALPHA
        cells.append(Cell(across, down, estimate, float(q), int(estimate.mean > 0) if clear else -1))
    return cells


# The rule table ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Judged:
    """What a rule comes to. By measure: gain, on arm 0 always, and loss, against what rollouts choose, per decision.

    chosen: the share of positions in which it takes arm 1. threshold: the limit k and its interval, where there is one.
    """

    name: str
    chosen: float
    gain: dict[str, Estimate]
    loss: dict[str, Estimate]
    threshold: Threshold | None = None


def judge(data: Data, name: str, chosen: Array, threshold: Threshold | None = None) -> Judged:
    """Judge a rule by where it takes arm 1, bool [N]; it must not have been fitted on the position it decides."""
    gain, loss = {}, {}
    for measure in MEASURES:
        gains = np.where(chosen, data.difference(measure), 0.0)
        gain[measure] = clustered_mean(gains, data.game_numbers)
        loss[measure] = clustered_mean(rollout_gain(data, measure) - gains, data.game_numbers)
    return Judged(name, float(np.mean(chosen)), gain, loss, threshold)


def rollout_gain(data: Data, measure: str) -> Array:
    """Return the gain of taking the arm that half the worlds favour, valued on the other half: float64 [N]."""
    return split_choice(data.difference(measure, "first"), data.difference(measure, "second"))


def judge_rollouts(data: Data) -> Judged:
    """Judge the choice by rollouts itself: its loss is 0 by definition."""
    gain = {m: clustered_mean(rollout_gain(data, m), data.game_numbers) for m in MEASURES}
    zero = clustered_mean(np.zeros(len(data)), data.game_numbers)
    return Judged(ROLLOUTS, float(np.mean(data.difference("win") > 0)), gain, dict.fromkeys(MEASURES, zero))


def threshold(data: Data, measure: str, may: Array, rows: Array | None = None, resamples: int = 2000) -> Threshold:
    """Return the best limit for "arm 1 where may and at most k", found on `rows` (all if None)."""
    chosen = np.arange(len(data)) if rows is None else rows
    sizes = data.columns[data.question.limit]
    return best_threshold(
        data.difference(measure)[chosen], sizes[chosen], may[chosen], data.game_numbers[chosen], data.question.limits,
        seed=data.settings.seed, resamples=resamples,
    )  # fmt: skip


def threshold_choice(data: Data, measure: str, may: Array) -> Array:
    """Return where a rule with the best limit takes arm 1, the limit found on the other half of the games: bool [N]."""
    sizes = data.columns[data.question.limit]

    def fit(rows: Array) -> Callable[[Array], Array]:
        best = threshold(data, measure, may, rows, resamples=1).best
        return lambda there: may[there] & (sizes[there] <= best)

    return cross_fitted(fit, data.game_numbers)


def features_of(data: Data) -> Array:
    """Return the features that a tree may use: float64 [N, C]."""
    return np.column_stack([data.columns[name].astype(np.float64) for name in data.question.tree])


def fit_tree(features: Array, differences: Array) -> Any:
    """Return a tree of depth 3 that says where arm 1 is better, mistakes weighted by what they cost.

    features: float64 [N, C]. differences: float64 [N], arm 1 less arm 0: noisy, but their weighted sum is not biased.
    """
    from sklearn.tree import DecisionTreeClassifier

    leaf = max(5, int(SMALLEST_LEAF * len(features)))
    tree = DecisionTreeClassifier(max_depth=DEPTH, min_samples_leaf=leaf, random_state=0)
    weights = np.abs(differences)
    return tree.fit(features, differences > 0, sample_weight=weights if weights.any() else None)


def tree_choice(data: Data, measure: str) -> Array:
    """Return where a tree fitted on the other half of the games takes arm 1: bool [N]."""
    features, differences = features_of(data), data.difference(measure)

    def fit(rows: Array) -> Callable[[Array], Array]:
        tree = fit_tree(features[rows], differences[rows])
        return lambda there: np.asarray(tree.predict(features[there]), bool)

    return cross_fitted(fit, data.game_numbers)


def tree_text(data: Data, measure: str) -> str:
    """Return the tree fitted on all positions as text, for reading; its value is that of `tree_choice`."""
    from sklearn.tree import export_text

    tree = fit_tree(features_of(data), data.difference(measure))
    text = export_text(tree, feature_names=list(data.question.tree), decimals=2)
    zero, one = data.question.arms
    return str(text).replace("class: False", zero).replace("class: True", one)


MEASURE_WORDS = {"win": "for wins", "margin": "for points"}


def rule_table(data: Data) -> list[Judged]:
    """Return all rules judged: fixed ones, the best thresholds, trees, the policies' choices, the choice by rollouts."""
    question = data.question
    found = [judge(data, name, chosen) for name, chosen in question.rules(data.columns).items()]
    for name, may in question.families(data.columns).items():
        for measure in MEASURES:
            best = threshold(data, measure, may)
            called = f"{name}, best k {MEASURE_WORDS[measure]}"
            found.append(judge(data, called, threshold_choice(data, measure, may), best))
    for measure in MEASURES:
        found.append(judge(data, f"tree of depth {DEPTH} {MEASURE_WORDS[measure]}", tree_choice(data, measure)))
    for spec in data.settings.policies:
        found.append(judge(data, f"as {spec} draws", data.choice(spec) == 1))
    return [*found, judge_rollouts(data)]


# Curves, behaviour, disagreement -----------------------------------------------------------------------------------------


def by_level(data: Data, rows: Array | None = None) -> Iterator[tuple[int, Array]]:
    """Yield each level of the chart's columns that has positions, and which rows they are."""
    places = data.question.across.place(data.columns[data.question.across.feature])
    for level in range(len(data.question.across.levels)):
        here = (places == level) & (True if rows is None else rows)
        if here.any():
            yield level, here


def curves(data: Data, measure: str, rows: Array | None = None) -> list[tuple[int, Estimate, Estimate, Estimate]]:
    """Return by level of the chart's columns the value of arm 0, of arm 1, and their difference."""
    one, two, difference = data.value(measure, 0), data.value(measure, 1), data.difference(measure)
    return [
        (level, mean_of(data, one, here), mean_of(data, two, here), mean_of(data, difference, here))
        for level, here in by_level(data, rows)
    ]


def behaviour(data: Data, spec: str, rows: Array | None = None) -> list[tuple[int, Estimate]]:
    """Return by level of the chart's columns how often a policy takes arm 1."""
    taken = (data.choice(spec) == 1).astype(np.float64)
    return [(level, mean_of(data, taken, here)) for level, here in by_level(data, rows)]


@dataclass(frozen=True)
class Disagreement:
    """Where a policy and rollouts differ: how often, and what its choices cost, by measure and level (None: all)."""

    level: int | None
    share: Estimate  # of positions
    chosen: Estimate  # share of arm 1, the policy's
    loss: dict[str, Estimate]  # per decision, against rollouts: chosen on half the worlds, valued on the other


def disagreement(data: Data, spec: str) -> list[Disagreement]:
    """Return where a policy disagrees with rollouts, over all and by level of the chart's columns."""
    taken = data.choice(spec) == 1
    halves = [data.difference("win", half) > 0 for half in ("first", "second")]
    differs = np.mean([half != taken for half in halves], axis=0)
    losses = {m: rollout_gain(data, m) - np.where(taken, data.difference(m), 0.0) for m in MEASURES}
    parts: list[tuple[int | None, Array]] = [(None, np.ones(len(data), bool)), *by_level(data)]
    return [
        Disagreement(
            level, mean_of(data, differs, here), mean_of(data, taken.astype(float), here),
            {m: mean_of(data, values, here) for m, values in losses.items()},
        )
        for level, here in parts
    ]  # fmt: skip


def extremes(data: Data, measure: str, count: int) -> tuple[Array, Array]:
    """Return the rows where arm 0 is better by most, and those where arm 1 is, by the first half of the worlds.

    They were picked for being extreme: value them by the second half, or by new worlds. One for each game at most.
    """
    first = data.difference(measure, "first")
    order = np.argsort(first, kind="stable")
    return one_per_game(order, data.game_numbers, count), one_per_game(order[::-1], data.game_numbers, count)


def one_per_game(order: Array, games: Array, count: int) -> Array:
    """Return the first `count` rows in an order that are of different games."""
    rows, seen = [], set()
    for row in order:
        if games[row] not in seen:
            seen.add(games[row])
            rows.append(row)
        if len(rows) == count:
            break
    return np.array(rows, np.int64)


def cut(data: Data, measure: str) -> float:
    """Return how many times fewer worlds pairing needs than independent rollouts, for the same error."""
    names = *data.question.arms, "difference"
    return variance_cut(*(data.columns[f"{measure} var {name}"] for name in names))


# Robustness -------------------------------------------------------------------------------------------------------------


def strip(data: Data, measure: str, parts: Mapping[str, Array]) -> list[Cell]:
    """Return a row of coarse cells, `parts` by name bool [N], all of them decided together."""
    values = data.difference(measure)
    return decide([(place, 0, mean_of(data, values, rows)) for place, rows in enumerate(parts.values())], LEAST_CELL)


def flips(base: Sequence[Cell], other: Sequence[Cell]) -> list[int]:
    """Return the places where both are decided and say the opposite."""
    return [
        here.across
        for here, there in zip(base, other, strict=True)
        if here.verdict >= 0 and there.verdict >= 0 and here.verdict != there.verdict
    ]
