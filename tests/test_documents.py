"""Every document runs: its Python, its console commands and what they print; every other command it shows exists.

A document is run from top to bottom in a folder of its own. `python` blocks are executed each by itself; one with a title,
```python title="my_bots.py"```, is a file that later blocks import. A `text` block right after one is what that prints.
Lines `$ stinglab ...` of `console` blocks are executed; lines of `sh` blocks, which take longer, are held to what the
command and the Makefile know.
"""

import importlib
import re
import shlex
import sys
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
DOCUMENTS = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
FENCE = re.compile(r"^```(\w+)([^\n]*)\n(.*?)^```$", re.DOTALL | re.MULTILINE)


@dataclass
class Block:
    language: str
    title: str
    text: str
    line: int
    follows: bool  # nothing but blank lines after the block before


def blocks_of(path):
    text, end, found = path.read_text(encoding="utf-8"), -1, []
    for match in FENCE.finditer(text):
        title = re.search(r'title="([^"]+)"', match[2])
        line = text.count("\n", 0, match.start()) + 1
        follows = end >= 0 and not text[end : match.start()].strip()
        found.append(Block(match[1], title[1] if title else "", match[3], line, follows))
        end = match.end()
    return found


def name_of(path):
    return path.relative_to(ROOT).as_posix().removesuffix(".md").removeprefix("docs/")


RUNNABLE = [
    pytest.param(path, id=name_of(path))
    for path in DOCUMENTS
    if any(block.language in ("python", "console") for block in blocks_of(path))
]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Be in a folder of its own; what is registered and imported here is forgotten."""
    from agents import registry as agents
    from tabletop import registry as games

    for name in games.names():
        agents.bots_of(name)  # a game's bots register when first asked for: that is to last
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    for module, name in ((agents, "_bots"), (agents, "_makers"), (games, "_factories"), (games, "_packages")):
        monkeypatch.setattr(module, name, dict(getattr(module, name)))
    yield tmp_path
    for path in tmp_path.glob("*.py"):
        sys.modules.pop(path.stem, None)


@pytest.mark.parametrize("path", RUNNABLE)
def test_document_runs(path, folder, capsys):
    printed = ""
    for block in blocks_of(path):
        where = f"{path}, line {block.line}"
        capsys.readouterr()
        if block.language == "python" and block.title:
            (folder / block.title).write_text(block.text, encoding="utf-8")
            importlib.invalidate_caches()
        elif block.language == "python":
            exec(compile("\n" * block.line + block.text, str(path), "exec"), {"__name__": "document"})
            printed = capsys.readouterr().out
        elif block.language == "console":
            run_console(block.text, where, capsys)
        elif block.language == "text" and block.follows:
            assert trimmed(printed) == trimmed(block.text), where


def run_console(text, where, capsys):
    import stinglab

    for part in re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]:
        command, _, expected = part.partition("\n")
        words = shlex.split(command, comments=True)
        assert words[0] == "stinglab", where
        code = 0
        try:
            stinglab.main(words[1:])
        except SystemExit as left:
            code = left.code or 0
        out, err = capsys.readouterr()
        assert code == 0, f"{where}: {command}\n{err}"
        if expected.strip():
            assert trimmed(out) == trimmed(expected), f"{where}: {command}"


def trimmed(text):
    return [line.rstrip() for line in text.strip("\n").splitlines()]


def test_the_readme_has_a_twelve_line_example():
    first = next(block for block in blocks_of(ROOT / "README.md") if block.language == "python")
    assert len(first.text.strip().splitlines()) == 12


def shell_lines(start):
    for path in DOCUMENTS:
        for block in blocks_of(path):
            if block.language == "sh":
                whole = block.text.replace("\\\n", " ")  # a line that goes on is one
                yield from (line for line in whole.splitlines() if line.startswith(start))


def test_commands_and_their_options_exist():
    import typer
    from typer.main import get_command

    import stinglab
    from training import train

    commands = get_command(stinglab.make_app(typer)).commands
    lines = list(shell_lines("stinglab "))
    assert lines
    for line in lines:
        words = shlex.split(line, comments=True)
        command = commands[words[1]]
        if "--help" in words:
            continue
        if words[1] == "train":
            train.parser().parse_args(words[2:])
            continue
        if words[1] == "train-rllib":
            if find_spec("ray") is not None:
                importlib.import_module("training.rllib").parser().parse_args(words[2:])
            continue
        known = {option for parameter in command.params for option in parameter.opts}
        for word in words[2:]:
            if word.startswith("--"):
                assert word.partition("=")[0] in known, line


def test_games_played_as_shown_can_be_played():
    import stinglab

    for line in shell_lines("stinglab play "):
        words = shlex.split(line, comments=True)
        given = dict(zip(words[2::2], words[3::2], strict=True))
        players = int(given["--players"]) if "--players" in given else None
        game = stinglab.make_game(given.get("--game", "sting"), players)
        for spec in stinglab.seat_opponents(game, 0, given.get("--against", "")):
            if spec != stinglab.HUMAN:
                stinglab.make_bot(spec, game)


def test_scripts_named_in_the_documents_exist():
    from training.distill import read_arguments

    for line in shell_lines("python "):
        words = shlex.split(line, comments=True)
        if words[1] == "-m":
            assert words[2] in ("pip", "build") or find_spec(words[2]) is not None, line
            if words[2] == "training.distill":
                read_arguments(words[3:])
        else:
            assert (ROOT / words[1]).exists(), line


def test_make_targets_named_in_the_documents_exist():
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    for path in DOCUMENTS:
        for target in re.findall(r"^make ([\w-]+)", path.read_text(encoding="utf-8"), re.MULTILINE):
            assert re.search(rf"^{target}:", makefile, re.MULTILINE), target


def test_the_environment_table_states_what_is_so():
    from importlib.metadata import entry_points

    from tabletop.registry import make

    text = (ROOT / "README.md").read_text(encoding="utf-8")
    for name in entry_points(group="stinglab.games").names:
        game = make(name)
        row = next(line for line in text.splitlines() if line.startswith(f"| `{name}`"))
        assert f"| {game.num_actions} |" in row
        assert f"| {game.spec.observation_size} int8 |" in row
        assert f"{game.spec.min_players}-{game.spec.max_players}" in row
        options = {field for field in game.config.__dataclass_fields__ if field != "num_players"}
        assert set(re.findall(r"`(\w+)`", row.rpartition("int8 |")[2])) == options
