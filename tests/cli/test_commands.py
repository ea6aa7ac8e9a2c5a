"""The command as a whole: help, mistakes, what it imports; describe, games, arena, bench, and what it hands on."""

import json
import re
import subprocess
import sys
from types import SimpleNamespace

import pytest

COMMANDS = ("play", "replay", "arena", "train", "demo", "bench", "describe", "games")


def python(code):
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)


def test_help_lists_the_commands(run):
    for arguments in ((), ("--help",), ("-h",)):
        ran = run(*arguments)
        assert ran.code == 0
        assert all(f"\n  {command} " in ran.out for command in COMMANDS)


@pytest.mark.parametrize("command", ["play", "replay", "arena", "bench", "describe", "games"])
def test_every_command_has_help(run, command):
    ran = run(command, "--help")
    assert ran.code == 0
    assert ran.out.startswith(f"Usage: stinglab {command}")


def test_version(run):
    assert run("--version").out.startswith("stinglab ")


def test_help_imports_nothing_heavy():
    """What makes it quick: numpy alone takes longer than all of it."""
    heavy = ["numpy", "numba", "torch", "scipy", "tabletop", "agents", "rich.markdown"]
    ran = python(
        "import sys, stinglab\n"
        "try: stinglab.main(['--help'])\n"
        f"finally: print([m for m in {heavy} if m in sys.modules], file=sys.stderr)"
    )
    assert ran.returncode == 0
    assert ran.stderr.strip() == "[]"


@pytest.mark.parametrize("missing", ["typer", "rich"])
def test_without_the_extra_it_says_what_to_install(missing):
    ran = python(f"import sys; sys.modules['{missing}'] = None; import stinglab; stinglab.main(['games'])")
    assert ran.returncode == 2
    assert ran.stderr.count("\n") == 1
    assert "pip install 'stinglab[cli]'" in ran.stderr


def test_mistakes_are_one_line(refused):
    assert refused("fly") == "No such command 'fly'. (see stinglab --help)"
    assert "--fly" in refused("--fly")
    assert "no game is called 'chess'" in refused("describe", "chess")
    assert "no game is called 'chess'" in refused("bench", "--game", "chess")
    assert refused("bench", "--threads", "1,x").startswith("--threads must be whole numbers")
    assert refused("bench", "--skip", "lunch") == "--skip is engine, aec, vec or start, not lunch"
    assert "--repeats" in refused("bench", "--repeats", 0)


def test_games_lists_what_is_registered(run):
    out = run("games").out
    assert "sting-v0" in out
    assert "stingy-v0" in out
    assert "no-specials" in out
    assert "rulebook" in out


def test_describe_shows_rules_actions_and_observation(run):
    out = run("describe", "sting", "--variant", "to-100", "-o", "hand_size=7").out
    assert "Sting (sting-v0): 2 to 6 players" in out
    for words in (
        "target_score",
        "hand_size",
        "discard R1",
        "discard BACK",
        "accept",
        "the observer's hand",
        "younger",
    ):
        assert words in out
    row = next(line.split() for line in out.splitlines() if line.strip().startswith("hand_size "))
    assert row == ["hand_size", "7", "10"]
    counts = [int(count) for count in re.findall(r"^ *\d+ +(\d+) +[a-z]+ +[a-z]", out, re.M)]
    assert sum(counts) == 405
    assert run("describe", "stingy").out.startswith("Stingy (stingy-v0): 2 to 6 players")


def test_an_arena_prints_and_writes_what_it_found(run, tmp_path):
    ran = run(
        "arena", "greedy", "random", "--game", "sting", "--blocks", 4, "--rounds", 1, "--seed", 3,
        "--json", "a.json", "--markdown", "a.md", "--picture", "a.png",
    )  # fmt: skip
    assert ran.code == 0
    assert "greedy" in ran.out
    found = json.loads((tmp_path / "a.json").read_text())
    assert "greedy" in json.dumps(found)
    assert (tmp_path / "a.md").read_text().count("|") > 10
    assert (tmp_path / "a.png").read_bytes().startswith(b"\x89PNG")


def test_arena_mistakes_are_one_line(refused):
    assert "at least two agents" in refused("arena", "greedy")
    assert "no agent 'bob'" in refused("arena", "greedy", "bob")
    assert "blocks must be at least" in refused("arena", "greedy", "random", "--blocks", 1)
    assert "rounds must be a whole number" in refused("arena", "greedy", "random", "--rounds", "many")
    assert refused("arena", "greedy", "random", "--json", "no/a.json") == "no: there is no such folder"


def test_bench_measures_everything_in_small(run, tmp_path):
    arguments = ("--lanes", 8, "--seconds", 0.01, "--repeats", 2, "--skip", "start", "--json", "b.json")
    ran = run("bench", "--game", "sting", *arguments)
    assert ran.code == 0, ran.err
    (found,) = json.loads((tmp_path / "b.json").read_text())
    assert found["game"] == "sting-v0"
    assert found["machine"]["numba"]
    names = [m["what"] for m in found["measurements"]]
    for what in ("engine, 8 lanes, 1 thread", "engine + mask + observation, 8 lanes, 2 threads", "PettingZoo env()"):
        assert what in names
        assert what in ran.out
    assert any(name.startswith("VecEnv") for name in names)
    assert all(m["lowest"] <= m["median"] <= m["highest"] for m in found["measurements"])
    assert all(len(m["values"]) == 2 for m in found["measurements"] if m["unit"] == "decisions/s")


@pytest.mark.slow
def test_bench_times_cold_and_warm_starts():
    from stingy_env import StingyGame
    from tabletop.bench import startup

    cold, warm = startup(StingyGame())
    assert cold.median > warm.median > 0


@pytest.mark.parametrize("command", ["train", "demo"])
def test_training_gets_its_options_as_they_are(run, monkeypatch, command):
    given = []
    monkeypatch.setitem(sys.modules, f"training.{command}", SimpleNamespace(main=given.append))
    ran = run(command, "out", "--steps", 10, "--help", "-x")
    assert ran.code == 0
    assert given == [["out", "--steps", "10", "--help", "-x"]]
    monkeypatch.setitem(sys.modules, f"training.{command}", SimpleNamespace(main=lambda arguments: 3))
    assert run(command).code == 3


def test_training_says_what_to_install(refused, monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    for name in [name for name in sys.modules if name.split(".")[0] == "training"]:
        monkeypatch.delitem(sys.modules, name)
    assert refused("train").endswith("pip install 'stinglab[train]'")


def test_the_leaderboard_is_written(run, tmp_path, monkeypatch):
    from agents import leaderboard

    monkeypatch.setattr(leaderboard, "field_of", lambda _: ("random", "greedy"))
    ran = run("leaderboard", "--game", "stingy", "--players", "2,3", "--blocks", 4, "--out", "board.md")
    assert ran.code == 0, ran
    text = (tmp_path / "board.md").read_text()
    assert text.count("### Stingy") == 2
    assert "stingy, 3 players" in text.lower()


def test_the_leaderboard_refuses_what_it_can_not_do(refused):
    assert "comma separated" in refused("leaderboard", "--players", "two", "--out", "board.md")
    assert "no such folder" in refused("leaderboard", "--out", "nowhere/board.md")


def test_the_arena_plans_its_size(run):
    ran = run("arena", "greedy", "random", "--rounds", 1, "--power", 0.02, "--blocks", 20)
    assert ran.code == 0, ran
    assert "greedy v random:" in ran.out
