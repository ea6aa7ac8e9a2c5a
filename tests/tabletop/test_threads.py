"""Threads over ranges of lanes: every lane once, errors told, nothing left running."""

import subprocess
import sys
import time

import pytest

from tabletop.jit import COMPILED
from tabletop.threads import shard

threaded = pytest.mark.skipif(not COMPILED, reason="one slice without compilation")


@pytest.mark.parametrize(("threads", "size"), [(1, 7), (2, 7), (3, 7), (4, 4), (5, 3), (2, 1), (2, 0)])
def test_every_lane_is_worked_on_once(threads, size):
    seen = []
    shard(threads, size, lambda part: seen.extend(range(part.start, part.stop)))
    assert sorted(seen) == list(range(size))


@threaded
@pytest.mark.parametrize("guilty", [0, 1, 2])
def test_an_error_is_raised_when_all_slices_are_finished(guilty):
    finished = []

    def work(part):
        if part.start == guilty:
            raise ValueError(f"slice {guilty}")
        time.sleep(0.05)
        finished.append(part.start)

    with pytest.raises(ValueError, match=f"slice {guilty}"):
        shard(3, 3, work)
    assert sorted(finished) == sorted({0, 1, 2} - {guilty})


@threaded
@pytest.mark.skipif(sys.platform == "win32", reason="no fork")
def test_a_forked_process_gets_threads_of_its_own():
    program = (
        "import os, sys; from tabletop.threads import shard; seen = []; shard(2, 2, seen.append); child = os.fork();"
        "shard(2, 2, seen.append); assert len(seen) == 4;"
        "sys.exit(0) if child == 0 else sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))"
    )
    assert subprocess.run([sys.executable, "-W", "ignore", "-c", program], timeout=60).returncode == 0
