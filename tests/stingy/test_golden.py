"""The golden games, recorded by an independent referee, replay exactly."""

import gzip
import json
from pathlib import Path

import numpy as np
import pytest

from stingy_env.game import game_of

GOLDEN = Path(__file__).parent.parent / "golden" / "stingy.jsonl.gz"
with gzip.open(GOLDEN, "rt", encoding="utf-8") as lines:
    RECORDS = [json.loads(line) for line in lines]


@pytest.mark.parametrize("number", range(len(RECORDS)))
def test_golden_game_replays(number):
    record = RECORDS[number]
    game = game_of(record["position"])
    states = game.from_dict(record["position"])
    assert game.to_dict(states[0]) == record["position"]
    for step, (player, phase, legal, action) in enumerate(record["steps"]):
        where = f"game {number}, step {step}"
        assert game.current_player(states)[0] == player, where
        assert game.spec.phases[states["phase"][0]] == phase, where
        assert np.flatnonzero(game.legal_action_mask(states)[0]).tolist() == legal, where
        game.step(states, [action])
    assert game.terminated(states)[0]
    assert game.result(states[0]) == {"scores": record["points"], "winners": record["winners"]}


def test_every_golden_option_and_player_count_is_there():
    configs = [record["position"]["config"] for record in RECORDS]
    assert {config["num_players"] for config in configs} == {2, 3, 4, 5, 6}
    assert {name for config in configs for name in config} >= {"captain_sly", "colour_scoring"}
