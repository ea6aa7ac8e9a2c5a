"""The cache of compiled code: nothing stale is ever run, nothing compiled twice."""

import os
import subprocess
import sys

import numpy as np
import pytest

from tabletop.jit import COMPILED, entry, kernel, make_scratch

RULES = """
from tabletop.jit import kernel

@kernel
def answer():
    return {}
"""
LOOPS = """
from tabletop.jit import entry
from cards_a.rules import answer

@entry
def ask():
    return answer()
"""
MAIN = """
import sys
import cards_a.rules
if len(sys.argv) > 1:  # the file is edited after the import, before the first use
    open("cards_a/rules.py", "w").write(sys.argv[1])
from cards_a.loops import ask
print(ask())
"""


@pytest.fixture
def play(tmp_path):
    """Give `play(*arguments)`: run a program that uses a small package of kernels, and return what it printed."""
    package = tmp_path / "cards_a"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "rules.py").write_text(RULES.format(1))
    (package / "loops.py").write_text(LOOPS)
    (tmp_path / "main.py").write_text(MAIN)
    environment = os.environ | {
        "PYTHONPATH": os.pathsep.join([str(tmp_path), *sys.path]),
        "STINGLAB_CACHE_DIR": str(tmp_path / "cache"),
        "PYTHONDONTWRITEBYTECODE": "1",
    }

    def run(*arguments):
        command = [sys.executable, "main.py", *arguments]
        ran = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=200)
        assert ran.returncode == 0, ran.stderr
        return ran.stdout.strip()

    return run


def test_an_edit_is_seen(play, tmp_path):
    assert play() == "1"
    (tmp_path / "cards_a" / "rules.py").write_text(RULES.format(2))
    assert play() == "2"


@pytest.mark.skipif(not COMPILED, reason="nothing is kept without compilation")
def test_an_edit_between_import_and_first_use_leaves_nothing_stale(play):
    assert play(RULES.format(2)) == "1"  # what was imported is what runs
    assert play() == "2"  # and is not taken for what was edited


@pytest.mark.skipif(not COMPILED, reason="nothing is kept without compilation")
def test_a_digest_does_not_hang_on_what_was_compiled_before():
    """Bots import rules of another package: whether that has been used already must make no difference."""
    program = (
        "import agents.sting_choices; from tabletop.jit import source_digest; {before}; print(source_digest({modules}))"
    )
    found = set()
    for before in ("pass", "source_digest(['sting_env.rules'])"):
        command = [sys.executable, "-c", program.format(before=before, modules=["agents.sting_choices"])]
        environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
        found.add(subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout)
    assert len(found) == 1


@kernel
def same(number):
    return number


@entry
def add_up(small, whole, large):
    return same(small[0]) + same(whole[0]) + same(7), same(large[0])


@pytest.mark.skipif(not COMPILED, reason="nothing is compiled")
def test_a_kernel_is_compiled_once_for_all_integers_that_fit():
    ones = [np.array([n], kind) for n, kind in ((-1, np.int8), (2**31, np.uint32), (2**64 - 2, np.uint64))]
    assert add_up(*ones) == (-1 + 2**31 + 7, 2**64 - 2)
    add_up.recompile()  # where it came from the cache, `same` has not been compiled at all
    assert sorted(str(signature[0]) for signature in same.signatures) == ["int64", "uint64"]


rows, words = make_scratch((3, 4)), make_scratch(5, np.int64)


@kernel
def inner_product(n):
    """Use up to five words that differ from those of the caller."""
    w = words()
    for i in range(5):
        w[i] = i + n
    return w[0] * w[4]


@entry
def work_in_scratch(rounds):
    """Fill rows and words, call a kernel that has words of its own, and add up what is left here."""
    total = 0.0
    for n in range(rounds):
        r, w = rows(), words()
        w[:] = n
        for i in range(3):
            r[i, :] = i + 10 * inner_product(n)
        for i in range(3):
            for j in range(4):
                total += r[i, j] + w[j]
    return total, rows().shape, words().shape


def test_scratch_is_ones_own_until_the_caller_returns():
    total, of_rows, of_words = work_in_scratch(4)
    assert (of_rows, of_words) == ((3, 4), (5,))
    assert total == sum(4 * (i + 10 * n * (n + 4)) + 4 * n for n in range(4) for i in range(3))
    if COMPILED:  # on the stack, and yet of any number of calls
        assert work_in_scratch(200_000)[0] > 0
