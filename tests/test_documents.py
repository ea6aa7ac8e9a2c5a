"""Every document's Python is run, every command it shows exists."""

import re
import shlex
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
DOCUMENTS = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
PYTHON = [
    pytest.param(block, id=f"{path.stem}-{number}")
    for path in DOCUMENTS
    for number, block in enumerate(re.findall(r"```python\n(.*?)```", path.read_text(encoding="utf-8"), re.DOTALL))
]


@pytest.mark.parametrize("block", PYTHON)
def test_python_runs(block):
    exec(compile(block, "document", "exec"), {"__name__": "document"})


def test_the_readme_has_a_twelve_line_example():
    first = re.search(r"```python\n(.*?)```", (ROOT / "README.md").read_text(encoding="utf-8"), re.DOTALL)
    assert len(first.group(1).strip().splitlines()) == 12


def shell_lines():
    for path in DOCUMENTS:
        for block in re.findall(r"```sh\n(.*?)```", path.read_text(encoding="utf-8"), re.DOTALL):
            yield from (line for line in block.splitlines() if line.startswith("stinglab "))


def test_commands_and_their_options_exist():
    import typer
    from typer.main import get_command

    import stinglab
    from training import train

    commands = get_command(stinglab.make_app(typer)).commands
    lines = list(shell_lines())
    assert lines
    for line in lines:
        words = shlex.split(line, comments=True)
        command = commands[words[1]]
        if words[1] == "train":
            train.parser().parse_args(words[2:])
            continue
        known = {option for parameter in command.params for option in parameter.opts}
        for word in words[2:]:
            if word.startswith("--"):
                assert word.partition("=")[0] in known, line


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
