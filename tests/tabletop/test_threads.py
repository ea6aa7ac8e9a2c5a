"""Loops shared out among threads: every lane once, whoever comes late, sleeps, or is forked."""

import subprocess
import sys
import threading
import time

import numpy as np
import pytest

from tabletop import threads
from tabletop.jit import COMPILED
from tabletop.sharing import AWAKE, DONE, LINE
from tests.tabletop.counting import count_all

threaded = pytest.mark.skipif(not COMPILED, reason="one thread without compilation")


@pytest.fixture(params=[1, 2, 5])
def many(request, monkeypatch):
    """Return a number of threads, more than this machine may have cores."""
    monkeypatch.setattr(threads, "MAX_THREADS", request.param)
    monkeypatch.setattr(threads, "_crew", threads.Crew())
    return request.param


def counted(num_threads, size, number=1, times=1):
    """Return how often each lane was come to."""
    counts = np.zeros(size, np.int64)
    for _ in range(times):
        threads.shared_out(num_threads, count_all, counts, number)
    return counts


@pytest.mark.parametrize("size", [0, 1, 2, 4, 7, 1000])
def test_every_lane_is_come_to_once(many, size):
    assert (counted(many, size) == 1).all()


def test_every_lane_is_come_to_once_in_every_round(many):
    """Short rounds, one right after the other: nobody takes a part of the one before for one of this."""
    for size in (3, 64, 500):
        assert (counted(many, size, times=5000) == 5000).all()


@pytest.mark.parametrize("pause", [0.0002, 0.02])
def test_helpers_that_sleep_are_woken(many, pause):
    for turn in range(20):
        time.sleep(pause)
        assert (counted(many, 1000, number=turn) == turn).all()
    if COMPILED and many > 1:
        time.sleep(0.2)
        awake = threads._crew.board[LINE * 2 + AWAKE :: LINE]
        assert not awake[: many - 1].any(), "helpers without work go to sleep"
        threads._crew.wake(many)
        assert awake[: many - 1].all()


def test_who_never_comes_is_not_waited_for(many, monkeypatch):
    monkeypatch.setattr(threads.Crew, "_serve", lambda *_: None)
    assert (counted(many, 1000, times=100) == 100).all()


@threaded
def test_helpers_do_their_part(many):
    """Not the caller alone: every helper has finished parts, once all have had time to begin."""
    long = np.zeros(2_000_000, np.int64)
    for _ in range(200):
        threads.shared_out(many, count_all, long, 1)
        done = threads._crew.board[LINE + DONE :: LINE][:many]
        if many == 1 or done.all():
            break
    assert many == 1 or done.all(), done


def test_two_callers_at_once_both_get_their_work_done(many):
    counts = [np.zeros(997, np.int64) for _ in range(4)]

    def call(own):
        for _ in range(2000):
            threads.shared_out(many, count_all, own, 1)

    callers = [threading.Thread(target=call, args=(own,)) for own in counts]
    for caller in callers:
        caller.start()
    for caller in callers:
        caller.join()
    assert all((own == 2000).all() for own in counts)


@threaded
def test_no_more_threads_than_cores():
    before = {thread.name for thread in threading.enumerate()}
    assert (counted(10_000, 20_000) == 1).all()
    begun = {thread.name for thread in threading.enumerate()} - before
    assert len([name for name in begun if name.startswith("lanes-")]) < threads.CORES


@threaded
@pytest.mark.skipif(sys.platform == "win32", reason="no fork")
def test_a_forked_process_gets_threads_of_its_own():
    program = (
        "import os, sys, numpy as np; from tabletop import threads; from tests.tabletop.counting import count_all;"
        "threads.MAX_THREADS = 2; threads._renew(); counts = np.zeros(100, np.int64);"
        "threads.shared_out(2, count_all, counts, 1); child = os.fork();"
        "threads.shared_out(2, count_all, counts, 1); assert (counts == 2).all();"
        "assert threads._crew.board[0] == 2;"
        "sys.exit(0) if child == 0 else sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))"
    )
    assert subprocess.run([sys.executable, "-W", "ignore", "-c", program], timeout=60).returncode == 0
