"""Every notebook runs, small; none defines a function; each ends with what it shows and what it does not."""

import ast
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tabletop.jit import COMPILED

ROOT = Path(__file__).parents[2]
NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.py"))


def test_they_are_there():
    assert [path.name[:2] for path in NOTEBOOKS] == ["01", "02", "03", "04"]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_it_defines_no_function(path):
    tree = ast.parse(path.read_text(encoding="utf-8"))
    assert not [
        node for node in ast.walk(tree) if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef))
    ]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_it_ends_in_plain_words(path):
    last = path.read_text(encoding="utf-8").split("# %%")[-1]
    assert last.startswith(" [markdown]\n# ## In plain words")
    for heading in ("**How sure.**", "**What it does not prove.**"):
        assert heading in last


@pytest.mark.slow
@pytest.mark.skipif(not COMPILED, reason="takes minutes without compilation")
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_it_runs(path, tmp_path):
    environment = os.environ | {
        "STINGLAB_NOTEBOOK_SIZE": "small", "MPLBACKEND": "Agg", "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1",
    }  # fmt: skip
    ran = subprocess.run(
        [sys.executable, str(path)], capture_output=True, text=True, timeout=300, env=environment, cwd=tmp_path
    )
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout.strip()
