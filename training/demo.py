"""The main job, small: train an agent, benchmark it and the shipped one against the bots, compare the draw rules.

`make demo` runs this. Everything it writes goes to one folder, `demo/` by default.
"""

from __future__ import annotations

from training.train import Settings

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
