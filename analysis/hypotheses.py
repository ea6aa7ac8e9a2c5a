"""The rulebook's hint as three hypotheses, written down before any result was looked at.

"Draw only 1 card if you have many cards in your hand. Draw 2 cards if you are 'stuck' with only a few cards in your hand."
With D the value of drawing two less that of drawing one, few and many cards and stuck as `analysis.sting_draw` defines them:

    H1  D < 0 with many cards
    H2  D > 0 when stuck with few cards
    H3  being stuck speaks for two more with few cards than with many: (D few stuck - D few free) - (D many stuck - D many
        free) > 0
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from agents.base import Array
from analysis.datasets import Data
from analysis.findings import ALPHA, mean_of
from analysis.statistics import Estimate, adjusted, clustered_contrast
from analysis.sting_draw import FEW, FREE, MANY

SUPPORTED, CONTRADICTED, OPEN = "supported", "contradicted", "open"
SIGNS = {"H1": -1, "H2": 1, "H3": 1}
WORDS = {
    "H1": f"two is worse with many cards ({MANY} or more)",
    "H2": f"two is better when stuck with few cards ({FEW} or fewer)",
    "H3": "being stuck speaks for two more with few cards than with many",
}


@dataclass(frozen=True)
class Tested:
    """One hypothesis with one number of players: its estimate, p adjusted over all tested together, and what follows."""

    name: str
    players: int
    estimate: Estimate
    adjusted: float
    verdict: str


def estimates(data: Data, measure: str) -> dict[str, Estimate]:
    """Return the estimate of each hypothesis."""
    hand, stuck = data.columns["hand_size"], data.columns["stuckness"] > FREE
    few, many, values = hand <= FEW, hand >= MANY, data.difference(measure)
    rows = few | many
    cells = (few & stuck, few & ~stuck, many & stuck, many & ~stuck)
    columns = np.column_stack(cells).astype(np.float64)[rows]
    return {
        "H1": mean_of(data, values, many),
        "H2": mean_of(data, values, few & stuck),
        "H3": clustered_contrast(columns, values[rows], data.game_numbers[rows], np.array([1.0, -1.0, -1.0, 1.0])),
    }


def test(sets: Sequence[Data], measure: str) -> list[Tested]:
    """Test the hypotheses with every number of players, the chance of any false claim kept to 5% (Holm)."""
    found = [(name, data.settings.players, e) for data in sets for name, e in estimates(data, measure).items()]
    p: Array = adjusted([e.p for _, _, e in found], "holm")
    return [Tested(name, n, e, float(q), verdict(SIGNS[name], e, q)) for (name, n, e), q in zip(found, p, strict=True)]


def verdict(sign: int, estimate: Estimate, p: float) -> str:
    """Return what follows for a mean that was said to have this sign."""
    if not math.isfinite(p) or p >= ALPHA:
        return OPEN
    return SUPPORTED if np.sign(estimate.mean) == sign else CONTRADICTED
