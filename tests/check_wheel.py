"""Run by `make test-wheel` with nothing but the wheel installed: what the base dependencies promise."""

import contextlib
import io
import re
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent


def check_readme():
    block = re.search(r"```python\n(.*?)```", (HERE / "README.md").read_text(encoding="utf-8"), re.DOTALL)
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        exec(compile(block.group(1), "README.md", "exec"), {"__name__": "readme"})
    assert len(out.getvalue().splitlines()) > 5, out.getvalue()


def check_it_is_the_wheel():
    import agents
    import sting_env
    import stinglab
    import tabletop

    for module in (agents, sting_env, stinglab, tabletop):
        assert Path(sys.prefix) in Path(module.__file__).parents, module.__file__


def check_shipped_agents():
    import numpy as np

    from agents.base import luck
    from agents.registry import list_agents, make_agent
    from tabletop import registry
    from tabletop.selfplay import ask

    assert set(registry.names()) >= {"sting-v0", "stingy-v0"}
    for name in registry.names():
        game = registry.make(name)
        states = game.new_states(4)
        game.reset(states, 1)
        masks = game.legal_action_mask(states)
        for spec in list_agents(game):
            if spec.partition(":")[0] not in ("checkpoint", "import"):  # those stand for agents of one's own
                actions = ask(make_agent(spec, game), game, states, luck(states, 0))
                assert masks[np.arange(4), actions].all(), spec


def check_the_command_says_what_is_missing():
    command = Path(sys.prefix) / "bin" / "stinglab"
    said = subprocess.run([command, "games"], capture_output=True, text=True, check=False)
    assert said.returncode == 2
    assert said.stderr.count("\n") == 1, said.stderr
    assert "pip install 'stinglab[cli]'" in said.stderr


if __name__ == "__main__":
    check_it_is_the_wheel()
    check_readme()
    check_shipped_agents()
    check_the_command_says_what_is_missing()
    print(f"Python {sys.version.split()[0]}: the README's example, the shipped agents and the command work")
