"""Recorded games are shown step by step; damaged ones are refused with the line."""

import gzip
import json
import re

import pytest

FIRST = "1\n" * 4000


@pytest.fixture
def recorded(run, tmp_path):
    begun = ("play", "--players", 3, "--against", "greedy", "--seed", 3, "-o", "rounds=1")
    run(*begun, "--record", "game.jsonl", typed=FIRST)
    return tmp_path / "game.jsonl"


def decisions(path):
    return [json.loads(line) for line in path.read_text().splitlines()[1:-1]]


def test_a_game_in_words(run, recorded):
    ran = run("replay", recorded)
    assert ran.code == 0
    assert ran.out.startswith("Sting, 3 players, seed 3, ")
    assert "player 0 is human, player 1 is greedy" in ran.out
    assert re.search(r"^ *1  Player \d draws .+: \w+", ran.out, re.M)
    assert ran.out.rstrip().endswith("points.")
    assert ran.out.count("Sting: round 1 of 1") == 2
    numbers = [int(n) for n in re.findall(r"^ *(\d+)  Player", ran.out, re.M)]
    assert numbers == sorted(numbers)
    assert numbers[-1] == len(decisions(recorded))


def test_the_table_after_each_decision(run, recorded):
    out = run("replay", recorded, "--all").out
    told = len(re.findall(r"^ *\d+  Player", out, re.M))
    assert out.count("Sting: round 1 of 1") == told + 1


def test_step_waits_and_can_be_stopped(run, recorded):
    ran = run("replay", recorded, "--step", typed="\n\n\nq\n")
    assert ran.code == 0
    assert ran.out.count("Enter goes on, q stops") == 4
    assert run("replay", recorded, "--step", typed="\n").code == 130


def test_from_the_middle(run, recorded):
    out = run("replay", recorded, "--from", 5).out
    assert re.findall(r"^ *(\d+)  ", out, re.M)[0] in ("6", "7", "8")
    last = len(decisions(recorded))
    assert run("replay", recorded, "--from", last).out.count("Sting: round") == 1


def test_as_a_player_saw_it(run, recorded):
    out = run("replay", recorded, "--observer", 1, "--all").out
    tables = out.count("Sting: round")
    assert out.count("hand:") == tables
    assert "You draw" in out
    assert not re.search(r"Player \d draws .+:", out)


def test_an_interrupted_game_is_shown_as_far_as_it_goes(run, recorded, tmp_path):
    run("play", "--seed", 1, "--record", "half", typed="1\nq\n")
    for name in ("half.part", "half"):
        out = run("replay", name).out
        assert "The record ends here: the game was interrupted." in out
        assert "draws one card" in out


def test_one_of_several_games(run, refused, recorded, tmp_path):
    both = tmp_path / "both.jsonl.gz"
    with gzip.open(both, "wt") as file:
        file.write(recorded.read_text() + recorded.read_text().replace('"human"', '"somebody"'))
    assert "somebody" not in run("replay", both).out
    assert "somebody" in run("replay", both, "--number", 2).out
    assert refused("replay", both, "--number", 3) == "--number must be 1 to 2, not 3"


@pytest.mark.parametrize(
    ("line", "text", "reply"),
    [
        (1, "{}", "line 1: a game record was expected to begin"),
        (3, "{", "line 3: damaged, not JSON"),
        (4, '{"player": 0, "action": "accept"}', "line 4: "),
        (5, '{"player": 9, "action": "draw 1"}', "line 5: player 9 plays 'draw 1'"),
    ],
)
def test_damaged_records_are_refused_with_the_line(refused, recorded, line, text, reply):
    lines = recorded.read_text().splitlines()
    lines[line - 1] = text
    recorded.write_text("\n".join(lines) + "\n")
    message = refused("replay", recorded)
    assert "game.jsonl, " in message
    assert reply in message


def test_a_record_cut_short_is_refused(refused, recorded):
    lines = recorded.read_text().splitlines()
    recorded.write_text("\n".join(lines[:10]) + "\n")
    assert "line 11: cut short" in refused("replay", recorded)


def test_a_result_that_is_not_the_games_is_refused(refused, recorded):
    lines = recorded.read_text().splitlines()
    result = json.loads(lines[-1])
    result["returns"][0] += 1
    recorded.write_text("\n".join([*lines[:-1], json.dumps(result)]) + "\n")
    assert f"line {len(lines)}: returns" in refused("replay", recorded)


def test_mistakes_are_one_line(refused, recorded, tmp_path):
    assert refused("replay", "nix.jsonl") == "nix.jsonl: No such file or directory"
    assert "Missing argument" in refused("replay")
    assert refused("replay", recorded, "--observer", 3) == "--observer must be 0 to 2, not 3"
    assert re.fullmatch(r"--from must be 0 to \d+, not 9999", refused("replay", recorded, "--from", 9999))
    (tmp_path / "foreign.jsonl").write_text(recorded.read_text().replace("sting-v0", "chess-v0"))
    assert "foreign.jsonl, line 1: 'chess-v0'" in refused("replay", "foreign.jsonl")
