"""A person plays in the terminal: whole games, good and bad answers, quitting and going on."""

import os
import re
import signal
import subprocess
import sys
import time

import pytest

from tabletop import registry
from tabletop.records import read_record, replay
from tests import toys
from tests.processes import heed_ctrl_c

FIRST = "1\n" * 4000  # always the first choice, as long as anybody asks
SHORT = ("--option", "rounds=1", "--seed", "7")
COLOUR = re.compile(r"\x1b\[[1-9][\d;]*m")  # a reset alone, which a library may write at the end, colours nothing


def test_a_whole_game_to_its_end(run, tmp_path):
    ran = run("play", "--players", 3, "--against", "greedy,random", *SHORT, "--record", "game.jsonl", typed=FIRST)
    assert ran.code == 0
    assert ran.err == ""
    assert "You are player 0, player 1 is greedy, player 2 is random." in ran.out
    assert "Round 1 is over: " in ran.out
    assert re.search(r"Points of the round: you \d+, player 1 \d+, player 2 \d+\.", ran.out)
    assert re.search(r"The game is over: .+ won with \d+ points?\.\n\nThe record is in game.jsonl", ran.out)
    assert "\x1b" not in ran.out
    record = read_record(tmp_path / "game.jsonl")
    assert record.players == ["human", "greedy", "random"]
    assert (record.seed, record.config) == (7, {"num_players": 3, "rounds": 1})
    assert len(list(replay(record))) == len(record.decisions) + 1


def test_every_round_ends_with_its_points(run):
    ran = run("play", "--against", "greedy", "--option", "rounds=3", "--seed", "1", typed=FIRST)
    assert [f"Round {number} is over" in ran.out for number in (1, 2, 3, 4)] == [True, True, True, False]


def test_other_hands_stay_hidden_unless_asked_for(run):
    hidden = run("play", *SHORT, typed="q\n").out
    shown = run("play", *SHORT, "--open", typed="q\n").out
    assert (hidden.count("hand:"), shown.count("hand:")) == (1, 2)


def test_the_person_may_sit_anywhere(run, tmp_path):
    ran = run("play", "--players", 3, "--seat", 2, "--against", "greedy,random", *SHORT, "--record", "g", typed="q\n")
    assert "You are player 2, player 0 is greedy, player 1 is random." in ran.out
    assert read_record(tmp_path / "g.part", unfinished=True).players == ["greedy", "random", "human"]


def test_options_of_an_agent_stay_with_it(run):
    ran = run("play", "--players", 3, "--against", "rulebook:draw=hint,random", *SHORT, typed="q\n")
    assert "player 1 is rulebook:draw=hint, player 2 is random" in ran.out


def test_variants_and_options(run, tmp_path):
    options = ("--option", "target-score=50", "-o", "rounds=none")
    run("play", "--variant", "younger", *options, "--record", "g", typed="q\n")
    config = read_record(tmp_path / "g.part", unfinished=True).config
    assert config == {"num_players": 2, "hand_size": 7, "target_score": 50, "rounds": None}


def test_the_choices_are_numbered_and_in_words(run):
    out = run("play", *SHORT, typed="1\nq\n").out
    assert re.search(r"^  draw    1\) one card    2\) two cards$", out, re.M)
    assert re.search(r"^  discard +\d+\) red \d", out, re.M)
    numbers = [int(n) for n in re.findall(r"(?:^|\s)(\d+)\) ", out.rpartition("make a play")[2])]
    assert numbers == list(range(1, len(numbers) + 1))
    assert max(map(len, out.splitlines())) <= 105


def test_answers_as_numbers_texts_and_beginnings(run, tmp_path):
    assert "You draw two cards" in run("play", *SHORT, typed="2\nq\n").out
    assert "You draw two cards" in run("play", *SHORT, typed="draw 2\nq\n").out
    assert "You draw two cards" in run("play", *SHORT, typed="  Draw   2 \nq\n").out
    assert "You draw two cards" in run("play", *SHORT, typed="draw two\nq\n").out
    run("play", *SHORT, "--record", "g", typed="1\nq\n")
    run("play", "--resume", "g", typed="?\nq\n")
    assert read_record(tmp_path / "g.part", unfinished=True).decisions[-1] == (0, "draw 1")


@pytest.mark.parametrize(
    ("answer", "reply"),
    [
        ("9", "choices are 1 to 2"),
        ("0", "choices are 1 to 2"),
        ("draw", "could be 2 of the choices"),
        ("discard R6", "'discard R6' is none of the choices"),
        ("play chess", "'play chess' is none of the choices"),
        ("-1", "'-1' is none of the choices"),
        ("", "> \n> 1\n"),
    ],
)
def test_answers_that_make_no_sense_are_asked_again(run, answer, reply):
    ran = run("play", *SHORT, typed=f"{answer}\n1\nq\n")
    assert ran.code == 0
    assert reply in ran.out
    assert "You draw one card" in ran.out


def test_help_hint_and_table(run):
    out = run("play", *SHORT, typed="?\nh\nt\nq\n").out
    assert "draw 1, draw 2" in out
    assert "q              quit" in out
    assert "before you see any" in out
    assert out.count("Your turn: draw one card or two.") == 2


def test_bots_moves_are_told_in_words(run):
    out = run("play", "--against", "greedy", "--seed", "2", typed=FIRST).out
    assert re.search(r"^Player 1 lays .+ in front of you\.$", out, re.M)
    assert re.search(r"^Player 1 draws (one card|two cards)\.$", out, re.M)
    assert re.search(r"^You draw (one card|two cards): [RBGYWDTS]", out, re.M)


@pytest.mark.parametrize("last", ["q\n", ""])
def test_quitting_and_going_on_gives_the_identical_game(run, tmp_path, last):
    begun = ("play", "--players", 3, "--against", "random,rulebook", *SHORT)
    run(*begun, "--record", "whole.jsonl", typed=FIRST)
    ran = run(*begun, "--record", "parts.jsonl", typed=f"1\n{last}")
    assert ran.code == 0
    assert "Go on with: stinglab play --resume parts.jsonl" in ran.out
    for _ in range(3):
        assert not (tmp_path / "parts.jsonl").exists()
        ran = run("play", "--resume", "parts.jsonl", typed=f"1\n1\n{last}")
        assert ran.code == 0
    ran = run("play", "--resume", "parts.jsonl", typed=FIRST)
    assert "seed 7" in ran.out
    assert (tmp_path / "parts.jsonl").read_bytes() == (tmp_path / "whole.jsonl").read_bytes()
    assert not (tmp_path / "parts.jsonl.part").exists()


def test_a_game_without_a_record_is_kept_when_quitting(run, tmp_path):
    for name in ("sting-v0-seed7.jsonl", "sting-v0-seed7-2.jsonl"):
        ran = run("play", *SHORT, typed="1\nq\n")
        assert f"stinglab play --resume {name}" in ran.out
        assert len(read_record(tmp_path / f"{name}.part", unfinished=True).decisions) >= 1
    assert "won with" in run("play", "--resume", "sting-v0-seed7.jsonl", typed=FIRST).out


def test_a_line_cut_off_is_dropped_when_going_on(run, tmp_path):
    run("play", *SHORT, "--record", "g", typed="1\n1\n1\nq\n")
    part = tmp_path / "g.part"
    part.write_bytes(part.read_bytes()[:-4])
    ran = run("play", "--resume", "g.part", typed=FIRST)
    assert ran.code == 0
    assert len(list(replay(read_record(tmp_path / "g"))))


def test_the_seed_is_drawn_where_none_is_given(run):
    seeds = {re.search(r"seed (\d+)", run("play", typed="q\n").out)[1] for _ in range(2)}
    assert len(seeds) == 2


def test_any_other_game_is_played_by_the_same_command(run, tmp_path, monkeypatch):
    """Nothing in the command knows which game is played; a game without bots is played against chance."""
    monkeypatch.setitem(registry._factories, toys.NAME, toys.make_high_card)
    ran = run("play", "--game", "high-card", "--players", 3, "--seed", 1, "--record", "g", typed=FIRST)
    assert ran.code == 0
    assert "High Card with 3 players, seed 1. You are player 0, player 1 is random, player 2 is random." in ran.out
    assert "The record is in g." in ran.out
    assert "You: " in ran.out
    assert "Player 1: " in ran.out
    assert run("replay", "g", "--all").code == 0
    assert "High Card (high-card-v0): 2 to 4 players" in run("describe", "high-card").out
    assert "high-card-v0" in run("games").out


def test_mistakes_are_one_line(refused, tmp_path):
    assert refused("play", "--game", "chess").startswith("no game is called 'chess'; games are: ")
    assert "num_players must be" in refused("play", "--players", 9)
    assert "no agent 'bob'" in refused("play", "--against", "bob")
    assert refused("play", "--against", "greedy,greedy") == "2 opponents are named, 1 are needed with 2 players"
    assert refused("play", "--seat", 2) == "--seat must be 0 to 1, not 2"
    assert refused("play", "--seed", -1) == "--seed must be 0 to 2**64 - 1, not -1"
    assert "--players" in refused("play", "--players", "many")
    assert refused("play", "--option", "rounds") == "an option is written key=value, not 'rounds'"
    assert "Sting has no option 'round'" in refused("play", "--option", "round=1")
    assert "rounds must be a whole number" in refused("play", "--option", "rounds=-1")
    assert "variants are: standard, younger" in refused("play", "--variant", "older")
    assert "nix.part" in refused("play", "--resume", "nix")
    assert "leave out all options" in refused("play", "--resume", "nix", "--seed", 1)
    (tmp_path / "there").write_text("")
    assert refused("play", "--record", "there") == "there is there already"
    assert "No such file or directory" in refused("play", "--record", "no/folder/g")
    assert "No such option: --sed" in refused("play", "--sed", 1)


def test_records_that_nobody_can_go_on_with(run, refused, tmp_path):
    run("play", *SHORT, "--record", "g", typed=FIRST)
    assert refused("play", "--resume", "g") == "the game in g is over: `stinglab replay g` shows it"
    header, *rest = (tmp_path / "g").read_text().splitlines()[:4]
    (tmp_path / "bots.part").write_text("\n".join([header.replace("human", "random"), *rest]) + "\n")
    assert "is not the game of one person: random, rulebook" in refused("play", "--resume", "bots")
    (tmp_path / "bad.part").write_text("\n".join([header, '{"player": 0, "action": "accept"}']) + "\n")
    assert "bad.part, line 2" in refused("play", "--resume", "bad")


@pytest.mark.skipif(sys.platform == "win32", reason="signals and terminals of Unix")
def test_ctrl_c_keeps_the_game(tmp_path):
    command = [sys.executable, "-m", "stinglab", "play", *SHORT, "--record", "g"]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "PYTHONUNBUFFERED": "1"}
    process = subprocess.Popen(
        command,
        cwd=tmp_path,
        env=environment,
        text=True,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        preexec_fn=heed_ctrl_c,
    )
    process.stdin.write("1\n")
    process.stdin.flush()
    for line in process.stdout:
        if line.startswith("You draw one card"):
            break
    time.sleep(0.5)
    process.send_signal(signal.SIGINT)
    out, _ = process.communicate(timeout=60)
    assert process.returncode == 0
    assert "Go on with: stinglab play --resume g" in out
    assert read_record(tmp_path / "g.part", unfinished=True).decisions[-1] == (0, "draw 1")


@pytest.mark.skipif(sys.platform == "win32", reason="signals and terminals of Unix")
@pytest.mark.parametrize("no_colour", [False, True])
def test_a_terminal_shows_cards_in_colour(tmp_path, no_colour):
    import pty

    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "TERM": "xterm-256color"}
    environment.pop("NO_COLOR", None)
    if no_colour:
        environment["NO_COLOR"] = "1"
    near, far = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "stinglab", "play", *SHORT],
        cwd=tmp_path,
        env=environment,
        stdin=far,
        stdout=far,
        stderr=subprocess.DEVNULL,
    )
    os.close(far)
    os.write(near, b"q\n")
    shown = b""
    while True:
        try:
            piece = os.read(near, 4096)
        except OSError:
            break
        if not piece:
            break
        shown += piece
    os.close(near)
    assert process.wait(60) == 0
    text = shown.decode()
    assert "Your turn: draw one card or two." in text
    assert bool(COLOUR.search(text)) != no_colour
