"""Agents by name, and what is said about names that are none."""

from __future__ import annotations

import sys

import numpy as np
import pytest

from agents import policy as policies
from agents import registry
from agents.base import CompiledBot
from agents.digest import digest
from agents.registry import make_agent
from sting_env import StingGame
from tests.agents.toss import Toss

GAME = StingGame()


@pytest.mark.parametrize(
    "spec", ["greedy", "sting:greedy", "sting-v0:greedy", "greedy:draw=hint", "sting:rulebook:draw=<=4"]
)
def test_specs(spec):
    agent = make_agent(spec, GAME)
    assert isinstance(agent, CompiledBot)
    assert agent.name == spec.removeprefix("sting:").removeprefix("sting-v0:")


def test_the_same_spec_is_the_same_agent():
    assert make_agent("greedy:draw=2", GAME) == make_agent("sting:greedy:draw=2", GAME)
    assert make_agent("greedy:draw=2", GAME) != make_agent("greedy:draw=1", GAME)


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        ("greddy", ["greddy", "Sting", "random, greedy, rulebook", "checkpoint:PATH"]),
        ("stingy:greedy", ["stingy", "Sting is played", "random, greedy, rulebook"]),
        ("greedy:mood=bad", ["no option 'mood'", "draw=1, 2, hint or <=k"]),
        ("greedy:draw=3", ["draw must be 1, 2, hint or <=k", "'3'"]),
        ("greedy:draw=<=many", ["draw must be"]),
        ("greedy:draw=", ["key=value", "'draw='"]),
        ("greedy:draw", ["key=value", "greedy:draw"]),
        ("greedy:draw=1,draw=2", ["given twice"]),
        ("checkpoint", ["names no file", "checkpoint:PATH"]),
        ("import", ["names no agent", "import:MODULE.NAME"]),
        ("import:Tidy", ["names no agent", "import:my_bots.Tidy"]),
        ("import:no_such_module.Tidy", ["no module 'no_such_module'"]),
        ("import:string.Tidy", ["module 'string'", "has no 'Tidy'"]),
        ("import:.string.digits", ["names no agent"]),
        ("import:string.digits", ["'digits' is no agent", "act"]),
        ("import:fractions.Fraction", ["Fraction, which has no act"]),
        ("import:fractions.Fraction:depth=3", ["depth"]),
        ("", ["names no agent", "random, greedy, rulebook"]),
        ("sting:", ["names no agent"]),
    ],
)
def test_errors_say_what_there_is(spec, words):
    with pytest.raises(ValueError, match=r".") as caught:
        make_agent(spec, GAME)
    for word in words:
        assert word in str(caught.value)


def test_a_checkpoint_that_is_none(tmp_path):
    with pytest.raises(ValueError, match="nothing"):
        make_agent(f"checkpoint:{tmp_path / 'nothing'}", GAME)


def test_a_checkpoint_takes_the_option_of_a_trained_network():
    path = registry.shipped(GAME.spec.name)["ppo"]
    assert not make_agent(f"checkpoint:{path}", GAME).greedy
    assert not make_agent(f"checkpoint:{path}:best=no", GAME).greedy
    assert make_agent(f"sting:checkpoint:{path}:best=yes", GAME).greedy
    assert make_agent(f"rollout:prior=checkpoint:{path}:best=yes", GAME).prior.greedy
    for wrong in ("best=maybe", "worst=yes", "best=yes,best=yes"):
        with pytest.raises(ValueError, match=r"best=yes or best=no|given twice"):
            make_agent(f"checkpoint:{path}:{wrong}", GAME)


def test_options_stay_with_their_agent_in_a_list():
    for text, specs in (
        ("greedy,ppo", ("greedy", "ppo")),
        ("rollout:ms=5,prior=ppo:best=yes,greedy", ("rollout:ms=5,prior=ppo:best=yes", "greedy")),
        ("greedy:draw=1,rulebook:draw=<=3", ("greedy:draw=1", "rulebook:draw=<=3")),
        (" greedy, ppo:best=yes,", ("greedy", "ppo:best=yes")),
        ("", ()),
    ):
        assert registry.split_specs(text) == specs


def test_the_digest_tells_every_network_apart(tmp_path):
    path = registry.shipped(GAME.spec.name)["ppo"]
    network = make_agent("ppo", GAME).network
    moved = {name: array + np.float32(0.001) for name, array in network.weights.items()}
    policies.save(tmp_path, policies.read_description(path), moved)
    for spec in ("checkpoint:{}", "rollout:prior=checkpoint:{}", "rollout:playout=checkpoint:{}"):
        ours, other = (digest(GAME, [make_agent(spec.format(folder), GAME)]) for folder in (path, tmp_path))
        assert ours != other
    both = "rollout:prior=ppo,playout=checkpoint:{}"
    assert digest(GAME, [make_agent(both.format(path), GAME)]) != digest(
        GAME, [make_agent(both.format(tmp_path), GAME)]
    )


def test_agents_of_a_game_are_its_own():
    trained = list(registry.shipped(GAME.spec.name))
    own = ["random", "greedy", "rulebook", "planner", *trained, "rollout", "checkpoint:PATH", "import:MODULE.NAME"]
    assert list(registry.list_agents(GAME)) == own
    assert all(registry.list_agents(GAME).values())
    assert "sayer" in registry.list_agents(Toss())
    with pytest.raises(ValueError, match="sayer"):
        make_agent("greedy", Toss())
    assert list(registry.list_agents("nothing-v0")) == ["random", "rollout", "checkpoint:PATH", "import:MODULE.NAME"]


def test_a_maker_of_ones_own(monkeypatch):
    monkeypatch.setattr(registry, "_makers", {})

    class First:
        name = "first"

        def act(self, observations, masks, keys):
            return masks.argmax(axis=1)

    registry.register_maker("toss-v0", "first", lambda game, options: First(), "the first legal action")
    agent = make_agent("toss:first", Toss())
    assert agent.act(None, np.array([[False, True]]), None) == [1]
    assert registry.list_agents(Toss())["first"] == "the first legal action"


@pytest.mark.parametrize("game_id", ["sting-v0", "stingy-v0"])
def test_shipped_policies_load_by_name_and_play_legally(game_id):
    from tabletop.registry import make

    game = make(game_id, num_players=3)
    assert "ppo" in registry.shipped(game_id)
    states = game.new_states(32)
    game.reset(states, 5)
    masks = game.legal_action_mask(states)
    for spec in ("ppo", f"{registry.family(game_id)}:ppo", "ppo:best=yes"):
        actions = make_agent(spec, game).act(game.observe(states), masks, np.arange(32, dtype=np.uint64))
        assert masks[np.arange(32), actions].all()
    with pytest.raises(ValueError, match="best=yes or best=no"):
        make_agent("ppo:draw=2", game)


def test_shipped_policies_are_small_and_have_cards():
    for folder in registry.WEIGHTS.glob("*/*"):
        assert sum(path.stat().st_size for path in folder.iterdir()) < 5_000_000
        assert (folder / "MODEL_CARD.md").exists()
        assert (folder / "policy.json").exists()


def test_an_agent_named_by_where_it_is_written(tmp_path, monkeypatch):
    """A class, made with the options as written; a function of game and options; an agent."""
    (tmp_path / "bots_of_mine.py").write_text(
        "class Nth:\n"
        "    def __init__(self, n='0'):\n"
        "        self.name, self.n = f'nth {n}', int(n)\n"
        "    def act(self, observations, masks, keys):\n"
        "        return [[a for a, legal in enumerate(mask) if legal][self.n] for mask in masks]\n"
        "def made(game, options):\n"
        "    return Nth(str(game.num_actions - 1 - len(options)))\n"
        "second = Nth('1')\n"
    )
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.path", list(sys.path))
    game, mask = Toss(), np.array([[False, True, True]])
    for spec, action in (
        ("import:bots_of_mine.Nth", 1),
        ("import:bots_of_mine.Nth:n=1", 2),
        ("toss:import:bots_of_mine.second", 2),
    ):
        assert make_agent(spec, game).act(None, mask, None) == [action]
    assert make_agent("import:bots_of_mine.made:a=1", game).name == f"nth {game.num_actions - 2}"
    with pytest.raises(ValueError, match="takes no options"):
        make_agent("import:bots_of_mine.second:n=1", game)


@pytest.mark.parametrize(
    ("code", "words"),
    [
        ("import numpy; numpy.no_such", "importing 'broken_bots' fails: AttributeError.*no_such"),
        ("raise SystemExit(3)", "importing 'broken_bots' fails: SystemExit"),
        ("def Tidy(game, options): return options['speed']", "making it fails: KeyError.*speed"),
        ("class Tidy:\n    def act(self): pass", "has no name"),
    ],
)
def test_what_goes_wrong_in_code_of_ones_own_is_told(code, words, tmp_path, monkeypatch):
    (tmp_path / "broken_bots.py").write_text(code)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.path", [str(tmp_path), *sys.path])
    monkeypatch.delitem(sys.modules, "broken_bots", raising=False)
    with pytest.raises(ValueError, match=words):
        make_agent("import:broken_bots.Tidy", Toss())
