"""A third game is one file: conformance, PettingZoo, arena, training, without an edit anywhere else."""

import time
from pathlib import Path

import numpy as np
import pytest
from pettingzoo.test import api_test

from agents.arena import compare
from agents.registry import make_agent
from tabletop.adapters import aec
from tabletop.conformance import check_game, leak_test
from tabletop.registry import make, register
from tests.toys import NAME, HighCard
from training.train import Settings, train

ROOT = Path(__file__).parent.parent

register(NAME, "tests.toys:make_high_card")  # as its package would


def test_it_is_a_few_dozen_lines_of_rules_and_known_nowhere_else():
    for package in ("tabletop", "agents", "training", "analysis", "sting_env", "stingy_env"):
        for path in (ROOT / package).rglob("*.py"):
            assert "high_card" not in path.read_text(encoding="utf-8").lower().replace("-", "_").replace(" ", "_"), path


@pytest.mark.parametrize("package", ["tabletop", "training"])
def test_what_knows_no_game_names_none(package):
    """Neither the protocol nor training asks which game is played (a default may name one)."""
    for path in (ROOT / package).rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        assert "import sting_env" not in text
        assert "from sting_env" not in text
        assert "import stingy_env" not in text
        assert "from stingy_env" not in text


def test_it_conforms_and_does_not_leak():
    game = make(NAME, num_players=3)
    check_game(game)
    leak_test(game)


@pytest.mark.filterwarnings("ignore:Observation space for each agent probably should be")
@pytest.mark.filterwarnings("ignore:Observation is not a NumPy array")
def test_it_is_an_aec_environment():
    api_test(aec.raw_env(HighCard(num_players=3)), num_cycles=100)


def test_it_trains_in_thirty_seconds_and_beats_random_in_the_arena(tmp_path):
    begun = time.perf_counter()
    settings = Settings(
        game=NAME, steps=60_000, imitation=0, lanes=64, rollout=32, batch=512, hidden=32, learning_rate=2e-3, seed=3,
        evaluate_every=30_000, snapshot_every=20_000, checkpoint_every=60_000, deals=100,
    )  # fmt: skip
    run = train(tmp_path / "run", settings)
    assert run.model.num_timesteps >= settings.steps
    game = make(NAME, num_players=2)
    agent = make_agent(f"checkpoint:{tmp_path / 'run' / 'best'}", game)
    result = compare(game, [agent, "random"], 400, seed=9, names=["trained", "random"])
    assert result.pair("trained", "random").payoff.low > 0
    print(f"{time.perf_counter() - begun:.0f} s")


def test_random_is_there_for_every_game():
    game = make(NAME)
    states = game.new_states(64)
    game.reset(states, 1)
    masks = game.legal_action_mask(states)
    actions = make_agent("random", game).act(game.observe(states), masks, np.arange(64, dtype=np.uint64))
    assert masks[np.arange(64), actions].all()
    assert len(set(actions.tolist())) > 3
