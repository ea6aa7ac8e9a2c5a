"""The golden games, recorded by an independent referee, replay exactly."""

import gzip
import json
from pathlib import Path

import numpy as np
import pytest

from sting_env import StingGame

GOLDEN = Path(__file__).parent.parent / "golden" / "sting.jsonl.gz"
RECORDS = [json.loads(line) for line in gzip.decompress(GOLDEN.read_bytes()).splitlines()]
OVER = len(StingGame.spec.phases) - 1


@pytest.mark.parametrize("number", range(len(RECORDS)))
def test_golden_game_replays(number):
    record = RECORDS[number]
    game = StingGame(**record["position"]["config"])
    states = game.from_dict(record["position"])
    for step, (player, phase, legal, action) in enumerate(record["steps"]):
        where = f"game {number}, step {step}"
        assert states["current_player"][0] == player, where
        assert game.spec.phases[states["phase"][0]] == phase, where
        assert np.flatnonzero(game.legal_action_mask(states)[0]).tolist() == legal, where
        game.step(states, [action])
    if record["points"] is not None:
        n = len(record["position"]["hands"])
        assert states["round_points"][0][:n].tolist() == record["points"]
        assert states["phase"][0] == OVER


def test_every_golden_option_and_player_count_is_there():
    assert {len(record["position"]["hands"]) for record in RECORDS} == {2, 3, 4, 5, 6}
    options = {name for record in RECORDS for name in record["position"]["config"]}
    assert {"stack_multipliers", "substitution", "discard_to_go_out", "face_values", "special_cards"} <= options
