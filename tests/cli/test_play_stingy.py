"""A person plays Stingy in the terminal: every decision is in words, a game can be left and gone on with."""

import re

from tabletop.records import read_record, replay

FIRST = "1\n" * 4000  # always the first choice, as long as anybody asks
BEGUN = ("play", "--game", "stingy", "--players", 3, "--against", "greedy,greedy", "--seed", 7)


def test_a_whole_game_to_its_end(run, tmp_path):
    ran = run(*BEGUN, "--record", "game.jsonl", typed=FIRST)
    assert (ran.code, ran.err) == (0, "")
    assert "You are player 0, player 1 is greedy, player 2 is greedy." in ran.out
    assert re.search(r"^  demand +1\) \d \w+ \w+ \(worth \d+\) from player [12]", ran.out, re.M)
    assert re.search(r"^You demand \d \w+ \w+ \(worth \d+\) from player [12]", ran.out, re.M)
    assert re.search(r"^Player [12] takes \d .+ \(worth \d+\) in return", ran.out, re.M)
    assert re.search(r"^You draw \d .+ and \d .+\.$", ran.out, re.M)
    assert re.search(r"^Player [12] demands .+ from you: what do you take for it, worth at most \d+\?$", ran.out, re.M)
    assert "The pool is empty: everybody has one more turn" in ran.out
    assert re.search(r"^Points: you \d+, player 1 \d+, player 2 \d+\.$", ran.out, re.M)
    assert re.search(r"The game is over: .+ won with \d+ points.*\.\n\nThe record is in game.jsonl", ran.out)
    assert "\x1b" not in ran.out
    assert max(map(len, ran.out.splitlines())) < 110
    record = read_record(tmp_path / "game.jsonl")
    assert len(list(replay(record))) == len(record.decisions) + 1
    out = run("replay", "game.jsonl").out
    assert re.search(r"^ *\d+  Player 0 demands \d .+ from player [12]", out, re.M)
    assert re.search(r"^ *Player \d draws \d", out, re.M)
    assert "next for player 0: " in out


def test_answers_as_texts_and_beginnings_hint_and_help(run, tmp_path):
    begun = ("play", "--game", "stingy", "--against", "random", "--seed", 3, "--seat", 1, "--record", "g")
    out = run(*begun, typed="?\nh\nt\nflag\nq\n").out
    assert "most points win" in " ".join(out.split())
    assert "The ghost draws and does nothing else." in out
    assert "'flag' is none of the choices" in out
    kept = read_record(tmp_path / "g.part", unfinished=True)
    while True:
        out = run("play", "--resume", "g", typed="q\n").out
        if "Your turn: demand a group" in out:
            break
        run("play", "--resume", "g", typed="1\nq\n")
    choice = re.search(r"1\) (\d \w+ \w+ \(worth \d+\) from (?:player 0|the ghost))", out)[1]
    assert f"You demand {choice}" in run("play", "--resume", "g", typed=f"demand {choice}\nq\n").out
    decisions = read_record(tmp_path / "g.part", unfinished=True).decisions
    assert decisions[: len(kept.decisions)] == kept.decisions
    assert any(player == 1 and text.startswith("demand +") for player, text in decisions)


def test_quitting_and_going_on_gives_the_identical_game(run, tmp_path):
    run(*BEGUN, "--record", "whole.jsonl", typed=FIRST)
    run(*BEGUN, "--record", "parts.jsonl", typed="1\nq\n")
    for _ in range(2):
        ran = run("play", "--resume", "parts.jsonl", typed="1\n1\nq\n")
        assert "Go on with: stinglab play --resume parts.jsonl" in ran.out
    run("play", "--resume", "parts.jsonl", typed=FIRST)
    assert (tmp_path / "parts.jsonl").read_bytes() == (tmp_path / "whole.jsonl").read_bytes()
