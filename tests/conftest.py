"""Run the console command in this process, with typed answers."""

import io
from typing import NamedTuple

import pytest

import stinglab


class Ran(NamedTuple):
    code: int
    out: str
    err: str


@pytest.fixture
def run(monkeypatch, capsys, tmp_path):
    """Give `run("play", "--seed", 7, typed="1\\nq\\n")`, which works in a folder of its own."""
    monkeypatch.chdir(tmp_path)

    def run_command(*arguments, typed=""):
        monkeypatch.setattr("sys.stdin", io.StringIO(typed))
        capsys.readouterr()
        code = 0
        try:
            stinglab.main([str(argument) for argument in arguments])
        except SystemExit as left:
            code = left.code or 0
        out, err = capsys.readouterr()
        return Ran(code, out, err.replace("getting the rules ready; this is slow only the first time ...\n", ""))

    return run_command


@pytest.fixture
def refused(run):
    """Give `refused(...)`: the one line said about a command that can't be done."""

    def refused_command(*arguments, typed=""):
        ran = run(*arguments, typed=typed)
        assert ran.code == 2, ran
        assert ran.err.startswith("stinglab: ")
        assert ran.err.count("\n") == 1
        assert "Traceback" not in ran.out + ran.err
        return ran.err.removeprefix("stinglab: ").strip()

    return refused_command
