"""Work for the tests of executors: top-level functions, since processes find them by name."""

import os
import signal
import time
from pathlib import Path


class Refuses:
    """Can be sent, but not unpacked."""

    def __reduce__(self):
        return (int, ("no number",))


def add(shared, task):
    return shared["base"] + task


def tell_about_worker(shared, task):
    """Return process, threads allowed and how often this worker has seen `shared`."""
    shared.append(task)
    time.sleep(0.05)
    return os.getpid(), os.environ.get("OMP_NUM_THREADS"), len(shared)


def fail_at_three(shared, task):
    if task == 3:
        raise KeyError("three")
    return task


def die_once(folder, task):
    """Leave a line for each time a task is done; kill the worker the first time that task 2 comes."""
    with (Path(folder) / str(task)).open("a") as file:
        file.write("done\n")
    flag = Path(folder) / "killed"
    if task == 2 and not flag.exists():
        flag.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return task * task


def die_always(shared, task):
    if task == 1:
        os.kill(os.getpid(), signal.SIGKILL)
    return task


def sleep_and_tell(folder, task):
    (Path(folder) / f"{os.getpid()}").touch()
    time.sleep(task)
    return task
