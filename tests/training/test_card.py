"""The model card of a policy says how it plays, how it learned and what it began from."""

import json
from dataclasses import replace

from tests.training.test_runs import TINY
from training import card
from training.train import train


def test_a_card_of_a_run_that_began_from_another(tmp_path):
    first, second = tmp_path / "first", tmp_path / "second"
    settings = replace(TINY, steps=600, imitation=0, bots=("greedy",))
    train(first, replace(settings, seed=11))
    train(second, replace(settings, seed=12, init=str(first / "last")))
    story = json.loads((second / "last" / "policy.json").read_text())["training"]
    assert story["before"]["settings"]["seed"] == 11
    train(second, replace(settings, seed=12, init=str(first / "last"), steps=1200))  # what it began from is remembered
    assert json.loads((second / "last" / "policy.json").read_text())["training"]["before"] == story["before"]

    card.main([str(second / "last"), "--players", "2", "--blocks", "20", "--log", str(second / "log.jsonl")])
    text = (second / "last" / "MODEL_CARD.md").read_text()
    rounds, games = text.split("### Whole games")
    for part in (rounds, games):
        rows = [line for line in part.splitlines() if line.startswith("| 2 |")]
        assert [row.split(" | ")[1:3] for row in rows] == [
            [bot, how] for bot in ("random", "greedy", "rulebook", "planner") for how in ("sampling", "best action")
        ]
    evaluations = [json.loads(line) for line in (second / "log.jsonl").read_text().splitlines()]
    curve = games.split("## Learning curve")[1]
    for evaluation in evaluations:
        two, three = (evaluation["scores"][f"{count} players"]["greedy"][1] for count in (2, 3))
        assert f"| {evaluation['steps']:,} | {(two + three * 1.5) / 2:.3f} |" in curve
    assert "* before:" in text


def test_a_card_plays_the_rules_that_the_policy_is_for(tmp_path, monkeypatch):
    """Without special cards both the rounds and the whole games are played without them."""
    train(
        tmp_path / "run", replace(TINY, steps=400, imitation=0, bots=("greedy",), options=(("special_cards", False),))
    )
    played = []

    def note(name, options, *others):
        played.append(options)
        return ""

    monkeypatch.setattr(card, "arena_table", note)
    card.write_card(tmp_path / "run" / "last", [2], 20)
    assert [options["special_cards"] for options in played] == [False, False]
    assert [options.get("rounds") for options in played] == [1, None]
    assert "special_cards" in (tmp_path / "run" / "last" / "MODEL_CARD.md").read_text()


def test_a_curve_by_hand(tmp_path):
    """Two players: 0.6 of rounds, 0.7 of games; four: 0.25 of both, which is an equal share."""
    log = tmp_path / "log.jsonl"
    scores = {"2 players": 0.6, "2 players, rounds=5": 0.7, "4 players": 0.25, "4 players, rounds=5": 0.25}
    lines = [
        {"steps": 1000 * n, "scores": {title: {"greedy": [0, x, 1]} for title, x in scores.items()}} for n in (1, 2)
    ]
    log.write_text("".join(json.dumps(line) + "\n" for line in lines))
    assert card.learning_curve(log).splitlines() == [
        "| decisions | greedy | greedy rounds=5 |",
        "|---|---|---|",
        "| 1,000 | 0.550 | 0.600 |",
        "| 2,000 | 0.550 | 0.600 |",
    ]
