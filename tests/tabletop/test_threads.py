"""Loops shared out among threads: every lane once, whoever comes late, sleeps, or is forked."""

import subprocess
import sys
import threading
import time

import numpy as np
import pytest

from tabletop import threads
from tabletop.jit import COMPILED
from tabletop.sharing import AWAKE, BUSY, CREW, DONE, LINE, help_out
from tests.tabletop.counting import count_all, stumble_all

threaded = pytest.mark.skipif(not COMPILED, reason="one thread without compilation")


@pytest.fixture(params=[1, 2, 5])
def many(request, monkeypatch):
    """Give a number of threads, more than this machine may have cores."""
    monkeypatch.setattr(threads, "_crew", threads.Crew())
    with threads.forced(request.param):
        yield request.param


def counted(num_threads, size, number=1, times=1):
    """Return how often each lane was come to."""
    counts = np.zeros(size, np.int64)
    for _ in range(times):
        threads.shared_out(num_threads, size, count_all, counts, number)
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


@threaded
def test_helpers_without_work_sleep(many, monkeypatch):
    calls = []

    def noting(board, me):
        calls.append(me)
        help_out(board, me)

    monkeypatch.setattr(threads, "help_out", noting)
    for turn in range(1, 4):
        until = time.monotonic() + 20
        while time.monotonic() < until and min(map(calls.count, range(1, many)), default=turn) < turn:
            counted(many, 1000)
            time.sleep(0.01)
        assert min(map(calls.count, range(1, many)), default=turn) >= turn, calls
    time.sleep(0.1)
    assert not threads._crew.board[LINE * 2 + AWAKE :: LINE].any()


def test_who_never_comes_is_not_waited_for(many, monkeypatch):
    monkeypatch.setattr(threads.Crew, "_serve", lambda *_: None)
    assert (counted(many, 1000, times=100) == 100).all()


@threaded
def test_helpers_do_their_part(many):
    """Not the caller alone: every helper has finished parts, once all have had time to begin."""
    long = np.zeros(2_000_000, np.int64)
    done, until = np.zeros(many), time.monotonic() + 60
    while many > 1 and not done.all() and time.monotonic() < until:
        threads.shared_out(many, len(long), count_all, long, 1)
        done = threads._crew.board[LINE + DONE :: LINE][:many]
    assert many == 1 or done.all(), done


def test_two_callers_at_once_both_get_their_work_done(many):
    counts = [np.zeros(997, np.int64) for _ in range(4)]

    def call(own):
        for _ in range(2000):
            threads.shared_out(many, len(own), count_all, own, 1)

    callers = [threading.Thread(target=call, args=(own,)) for own in counts]
    for caller in callers:
        caller.start()
    for caller in callers:
        caller.join()
    assert all((own == 2000).all() for own in counts)


@threaded
def test_as_many_threads_as_cores_and_no_more(monkeypatch):
    monkeypatch.setattr(threads, "_crew", threads.Crew())
    assert (counted(10_000, 2_000_000) == 1).all()
    assert threads._crew.board[CREW] == threads.MAX_THREADS <= threads.CORES


@threaded
def test_few_lanes_wake_nobody(monkeypatch):
    monkeypatch.setattr(threads, "_crew", threads.Crew())
    assert (counted(2, 2 * threads.LEAST - 1) == 1).all()
    assert threads._crew.board[CREW] == 1


@pytest.mark.parametrize("stone", [0, 500, 999])
def test_what_a_loop_raises_is_raised_when_all_are_done(many, stone):
    for _ in range(20):
        counts = np.zeros(1000, np.int64)
        with pytest.raises(ValueError, match="a stone"):
            threads.shared_out(many, 1000, stumble_all, counts, stone)
        assert counts[stone] == 1
        assert counts.max() <= 2
        assert not threads._crew.board[BUSY]
        assert (counted(many, 1000) == 1).all()


@pytest.mark.parametrize("wrong", [0, -1, False])
def test_a_number_of_threads_is_at_least_one(wrong):
    with pytest.raises(ValueError, match="num_threads must be at least 1"):
        counted(wrong, 10)


@pytest.mark.parametrize("wrong", [1.0, 2.5, "2", None, [2]])
def test_a_number_of_threads_is_a_whole_number(wrong):
    with pytest.raises(TypeError, match="integer"):
        counted(wrong, 10)


@threaded
def test_threads_that_the_system_refuses_are_done_without(many, monkeypatch):
    def refuse(*_):
        raise RuntimeError("can't start new thread")

    with monkeypatch.context() as patch:
        patch.setattr(threading.Thread, "start", refuse)
        for _ in range(5):
            assert (counted(many, 1000) == 1).all()
        assert threads._crew.board[CREW] == 1
    assert (counted(many, 1000, times=100) == 100).all()
    assert threads._crew.board[CREW] == many == 1 + len(threads._crew.inboxes)


@threaded
@pytest.mark.skipif(sys.platform == "win32", reason="no fork")
@pytest.mark.parametrize(
    "then",
    [
        "threads.shared_out(2, 200, count_all, counts, 1); assert (counts == 2).all(); assert threads._crew.board[0] == 2",
        "import numba; assert numba.njit(lambda x: x + 1)(1) == 2",
    ],
    ids=["has threads of its own", "can compile at once"],  # the helper does not hold the compiler's lock meanwhile
)
def test_a_forked_process(then):
    program = (
        "import os, sys, numpy as np; from tabletop import threads; from tests.tabletop.counting import count_all;"
        "threads.MAX_THREADS = 2; counts = np.zeros(200, np.int64);"
        f"threads.shared_out(2, 200, count_all, counts, 1); child = os.fork(); {then};"
        "sys.exit(0) if child == 0 else sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))"
    )
    for _ in range(3):
        assert subprocess.run([sys.executable, "-W", "ignore", "-c", program], timeout=60).returncode == 0
