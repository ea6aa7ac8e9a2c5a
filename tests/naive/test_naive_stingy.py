"""Replay the golden games of Stingy with the naive reference."""

import gzip
import json
from pathlib import Path

import pytest

from tests.naive.stingy import NO_PLAYER, NaiveStingy

GOLDEN_GAMES = Path(__file__).parent.parent / "golden" / "stingy.jsonl.gz"


def golden_games():
    """Read the golden games, one for each line."""
    with gzip.open(GOLDEN_GAMES, "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


@pytest.mark.parametrize(("line", "record"), list(enumerate(golden_games(), start=1)))
def test_golden_game_replays(line, record):
    """Meet the same player, phase and legal actions at every decision, the same points and winners at the end."""
    game = NaiveStingy.from_dict(record["position"])
    for step, (player, phase, legal_actions, action) in enumerate(record["steps"]):
        met = [game.current_player, game.phase, game.legal_actions()]
        assert met == [player, phase, legal_actions], f"line {line}, step {step}"
        game.apply(action)
    assert (game.phase, game.current_player, game.legal_actions()) == ("OVER", NO_PLAYER, [])
    assert game.scores() == record["points"]
    assert game.winners() == record["winners"]
    assert sum(game.rewards) == pytest.approx(0)


def test_every_position_of_a_golden_game_survives_json():
    """Write and read every position of one game for each number of players, and go on from the copy."""
    one_for_each_number = {record["position"]["config"]["num_players"]: record for record in golden_games()}
    assert sorted(one_for_each_number) == [2, 3, 4, 5, 6]
    for record in one_for_each_number.values():
        game = NaiveStingy.from_dict(record["position"])
        assert game.to_dict() == record["position"]
        for _, _, _, action in record["steps"]:
            copied = NaiveStingy.from_dict(json.loads(json.dumps(game.to_dict())))
            assert copied.to_dict() == game.to_dict()
            assert copied.legal_actions() == game.legal_actions()
            game.apply(action)
