"""Every example runs, at a small size; those of other trainers where they are installed (`make test-trainers`)."""

import importlib.util
import math
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent
SMALL = {"hand_size": 3, "max_turns": 12}
CALLS = {
    "sb3_maskable_ppo": ("sb3_contrib", {"steps": 256, "rollout": 16, "episodes": 4}),
    "cleanrl_ppo": ("torch", {"steps": 512, "rows": 4, "rollout": 64, "minibatch": 64, "epochs": 1}),
    "torchrl_ppo": ("torchrl", {"steps": 256, "batch": 128, "minibatch": 64, "epochs": 1}),
    "openspiel_ismcts": ("pyspiel", {"games": 2, "simulations": 4}),
}


def load(name):
    spec = importlib.util.spec_from_file_location(f"examples_{name}", ROOT / "examples" / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.filterwarnings("ignore::UserWarning", "ignore::FutureWarning")
@pytest.mark.parametrize("name", CALLS)
def test_it_runs(name):
    library, call = CALLS[name]
    pytest.importorskip(library, reason=f"{library} is not installed: make test-trainers")
    found = load(name).main(**call, **SMALL)
    assert all(math.isfinite(value) for value in (found if isinstance(found, tuple) else (found,)))


def test_every_example_is_run_here_and_told_of():
    files = {path.stem for path in (ROOT / "examples").glob("*.py")}
    assert files == set(CALLS)
    told = set(re.findall(r"examples/(\w+)\.py", (ROOT / "docs" / "other-trainers.md").read_text(encoding="utf-8")))
    assert told == files
