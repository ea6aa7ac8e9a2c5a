"""Whatever does the tasks, each is done, told of once, and nothing is left behind."""

import importlib.util
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tabletop.executors import EXECUTORS, RETRIES, LostWorkersError, run_tasks
from tests.processes import heed_ctrl_c
from tests.tabletop import chores

ROOT = Path(__file__).parent.parent.parent
HAS_RAY = importlib.util.find_spec("ray") is not None
needs_ray = pytest.mark.skipif(not HAS_RAY, reason="Ray is not installed; make test-rllib runs this")
WORKERS = ["processes", pytest.param("ray", marks=needs_ray)]
ALL = ["serial", *WORKERS]


@pytest.fixture(scope="module", autouse=True)
def one_ray():
    """Ray is started once: that takes seconds. It ends with the last test."""
    if HAS_RAY:
        import ray

        python_path = {"PYTHONPATH": str(ROOT)}  # the tests are no installed package
        ray.init(
            "local", num_cpus=2, include_dashboard=False, log_to_driver=False, runtime_env={"env_vars": python_path}
        )
        yield
        ray.shutdown()
    else:
        yield


def is_alive(pid):
    try:
        return "Z" not in Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return False


@pytest.mark.parametrize("executor", ALL)
def test_every_task_is_told_of_once(executor):
    found = list(run_tasks(chores.add, {"base": 100}, list(range(9)), executor, jobs=2))
    assert sorted(found) == [(n, 100 + n) for n in range(9)]
    assert list(run_tasks(chores.add, {"base": 0}, [], executor, jobs=2)) == []


@pytest.mark.parametrize("executor", WORKERS)
def test_workers_have_one_thread_and_get_what_is_shared_once(executor):
    before = os.environ.get("OMP_NUM_THREADS")
    found = [result for _, result in run_tasks(chores.tell_about_worker, [], list(range(12)), executor, jobs=2)]
    assert os.environ.get("OMP_NUM_THREADS") == before
    workers = {pid for pid, _, _ in found}
    assert os.getpid() not in workers
    assert 1 <= len(workers) <= 2
    assert {threads for _, threads, _ in found} == {"1"}
    for worker in workers:
        seen = [count for pid, _, count in found if pid == worker]
        assert sorted(seen) == list(range(1, len(seen) + 1))


@pytest.mark.parametrize("executor", ALL)
def test_an_error_of_the_work_ends_it(executor):
    with pytest.raises(KeyError, match="three"):
        list(run_tasks(chores.fail_at_three, None, list(range(20)), executor, jobs=2))


@pytest.mark.parametrize("executor", WORKERS)
def test_a_lost_worker_is_replaced_and_nothing_counted_twice(executor, tmp_path):
    found = list(run_tasks(chores.die_once, str(tmp_path), list(range(8)), executor, jobs=2))
    assert (tmp_path / "killed").exists()
    assert (tmp_path / "2").read_text().count("done") == 2
    assert sorted(found) == [(n, n * n) for n in range(8)]


@pytest.mark.parametrize("executor", WORKERS)
def test_a_task_that_kills_every_worker_is_named(executor):
    with pytest.raises(LostWorkersError, match=rf"died {RETRIES + 1} times .*task \d"):
        list(run_tasks(chores.die_always, None, list(range(4)), executor, jobs=2))


def test_what_cannot_be_unpacked_is_an_error_of_its_own():
    with pytest.raises(ValueError, match="no number"):
        list(run_tasks(chores.add, chores.Refuses(), [1], "processes"))


def test_closing_stops_the_workers_at_once(tmp_path):
    tasks = [0.0, 600.0, 600.0, 600.0]
    results = run_tasks(chores.sleep_and_tell, str(tmp_path), tasks, "processes", jobs=2)
    assert next(results) == (0, 0.0)
    started = time.monotonic()
    results.close()
    assert time.monotonic() - started < 60
    workers = [int(path.name) for path in tmp_path.iterdir()]
    assert workers
    assert not any(map(is_alive, workers))


SCRIPT = """
import sys
from tabletop.executors import run_tasks
from tests.tabletop import chores

if __name__ == "__main__":
    for number, _ in run_tasks(chores.sleep_and_tell, sys.argv[1], [0.0, 600.0, 600.0], "processes", jobs=2):
        print("first", flush=True)
"""


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGKILL])
def test_workers_end_with_their_parent(how, tmp_path):
    """Ctrl-C, which all of the terminal's processes get, and a parent that dies without a word."""
    script, folder = tmp_path / "script.py", tmp_path / "pids"
    script.write_text(SCRIPT)
    folder.mkdir()
    parent = subprocess.Popen(
        [sys.executable, str(script), str(folder)],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
        preexec_fn=heed_ctrl_c,
        text=True,
    )
    assert parent.stdout.readline() == "first\n"
    until = time.monotonic() + 100
    while len(list(folder.iterdir())) < 2 and time.monotonic() < until:  # one that still starts has a traceback of its own
        time.sleep(0.05)
    workers = [int(path.name) for path in folder.iterdir()]
    if how == signal.SIGINT:
        os.killpg(parent.pid, how)
    else:
        os.kill(parent.pid, how)
    _, errors = parent.communicate(timeout=100)
    assert parent.returncode == (-signal.SIGINT if how == signal.SIGINT else -signal.SIGKILL)
    assert errors.count("Traceback") == (how == signal.SIGINT), errors
    until = time.monotonic() + 60
    while any(map(is_alive, workers)) and time.monotonic() < until:
        time.sleep(0.05)
    assert workers
    assert not any(map(is_alive, workers))


LEFT_OPEN = """
import sys
from tabletop.executors import run_tasks
from tests.tabletop import chores

if __name__ == "__main__":
    results = run_tasks(chores.sleep_and_tell, sys.argv[1], [0.0, 600.0, 600.0], "processes", jobs=2)
    next(results)
    raise KeyError("the reader's")
"""


def test_a_program_ends_though_its_tasks_do_not(tmp_path):
    script, folder = tmp_path / "script.py", tmp_path / "pids"
    script.write_text(LEFT_OPEN)
    folder.mkdir()
    ended = subprocess.run(
        [sys.executable, str(script), str(folder)],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=200,
    )
    assert ended.returncode == 1
    assert ended.stderr.count("Traceback") == 1, ended.stderr
    assert "the reader's" in ended.stderr
    assert not any(is_alive(int(path.name)) for path in folder.iterdir())


def test_what_is_asked_for_must_make_sense():
    with pytest.raises(ValueError, match="executor must be one of serial, processes, ray, not 'threads'"):
        run_tasks(chores.add, {}, [], "threads")
    with pytest.raises(ValueError, match="jobs must be at least 1"):
        run_tasks(chores.add, {}, [], "processes", jobs=0)
    with pytest.raises(ValueError, match="takes an address"):
        run_tasks(chores.add, {}, [], "serial", address="auto")
    assert EXECUTORS == ("serial", "processes", "ray")
