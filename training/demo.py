"""The main job, small: train an agent, benchmark it and the shipped one against the bots, compare the draw rules.

`make demo` runs this. Everything it writes goes to one folder, `demo/` by default.
"""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

from agents.arena import compare
from agents.registry import make_agent
from tabletop.registry import make
from training.train import Report, Settings, print_report, train

SMALL = Settings(
    steps=160_000,
    imitation=150_000,
    lanes=128,
    rollout=64,
    hidden=128,
    row_width=32,
    evaluate_every=80_000,
    snapshot_every=80_000,
    checkpoint_every=80_000,
    deals=100,
    seed=7,
)
SEED = 20_000_003  # deals that no training has seen
