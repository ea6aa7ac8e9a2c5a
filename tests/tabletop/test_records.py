"""Records are written as the game goes, survive an interruption, and replay to the letter or say where they don't."""

import json

import numpy as np
import pytest

from tabletop import registry
from tabletop.records import (
    RecordError,
    RecordWriter,
    new_record,
    outcome,
    read_record,
    read_records,
    replay,
    write_records,
)
from tests.tabletop.games import same_states, small_game
from tests.toys import NAME, HighCard, make_high_card

registry.register(NAME, "tests.toys:make_high_card")


def play(game, seed, num_players=None, episode=0, limit=1000):
    """Return the states after every decision, and the decisions."""
    states = game.new_states(1)
    game.reset(states, np.array([seed], np.uint64), num_players=num_players, episodes=episode)
    seen, decisions = [states.copy()], []
    while not game.terminated(states)[0] and len(decisions) < limit:
        action = game.random_actions(states, np.array([seed], np.uint64))
        decisions.append((int(states["current_player"][0]), int(action[0])))
        game.step(states, action)
        seen.append(states.copy())
    return seen, decisions


def written(path, game, seed, **options):
    """Write one random game."""
    seen, decisions = play(game, seed, **options)
    with RecordWriter(path, game, seed, **options) as writer:
        for player, action in decisions:
            writer.write(player, action)
        writer.finish(seen[-1][0])
    return seen


@pytest.fixture
def path(tmp_path):
    return tmp_path / "game.jsonl"


@pytest.mark.parametrize("num_players", [2, 3, 4])
def test_a_record_replays_to_the_same_states(path, num_players):
    game = HighCard(num_players=2, rounds=3)
    seen = written(path, game, seed=2**64 - 5, num_players=num_players, episode=3)
    record = read_record(path)
    assert record.config == {"num_players": num_players, "rounds": 3}
    assert record.result == {"rounds": 3}
    replayed = list(replay(record))
    assert len(replayed) == len(seen)
    assert all(same_states(a, b) for a, b in zip(seen, replayed, strict=True))


def test_a_record_is_json_lines(path):
    written(path, HighCard(rounds=1), seed=7)
    header, *decisions, last = [json.loads(line) for line in path.read_text().splitlines()]
    assert header == {
        "record": 1, "game": NAME, "package": "", "config": {"num_players": 2, "rounds": 1}, "seed": 7, "episode": 0,
        "players": [],
    }  # fmt: skip
    assert all(set(decision) == {"player", "action"} for decision in decisions)
    assert sum(last["returns"]) == 0
    assert last["result"] == {"rounds": 1}


@pytest.mark.parametrize("torn", ["", '{"player": 1, "act'])
def test_an_interrupted_game_goes_on(path, torn):
    game = HighCard()
    seen, decisions = play(game, 11)
    with RecordWriter(path, game, 11, ["a", "b"]) as writer:
        for player, action in decisions[:5]:
            writer.write(player, action)
    assert not path.exists()
    with writer.part.open("a") as file:
        file.write(torn)
    assert len(read_record(writer.part, unfinished=True).decisions) == 5
    with pytest.raises(ValueError, match="interrupted game: resume or remove it"):
        RecordWriter(path, game, 11)
    writer, same, states = RecordWriter.resume(path)
    assert same == game
    assert same_states(states, seen[5])
    with writer:
        for player, action in decisions[5:]:
            writer.write(player, action)
        writer.finish(seen[-1][0])
    assert not writer.part.exists()
    record = read_record(path)
    assert record.players == ["a", "b"]
    assert same_states(list(replay(record))[-1], seen[-1])


def test_a_game_interrupted_before_it_got_its_name_can_be_finished(path):
    game = HighCard()
    seen = written(path, game, 3)
    text = path.read_text()
    path.rename(f"{path}.part")
    writer, _, states = RecordWriter.resume(path)
    assert game.terminated(states)[0]
    writer.finish(seen[-1][0])
    assert path.read_text() == text


def test_nothing_is_written_over(path):
    written(path, HighCard(), 3)
    with pytest.raises(ValueError, match="is there already"):
        RecordWriter(path, HighCard(), 4)


def test_a_game_that_is_not_over_has_no_result(path):
    game = HighCard()
    with RecordWriter(path, game, 3) as writer, pytest.raises(ValueError, match="not over"):
        writer.finish(play(game, 3, limit=2)[0][-1][0])


@pytest.mark.parametrize("name", ["games.jsonl", "games.jsonl.gz"])
def test_many_records_in_one_file(tmp_path, name):
    game = HighCard()
    records = []
    for seed in range(5):
        seen, decisions = play(game, seed)
        record = new_record(game, seed)
        record.decisions = [(player, game.action_to_string(action)) for player, action in decisions]
        record.returns, record.result = outcome(game, seen[-1][0])
        records.append(record)
    write_records(tmp_path / name, records)
    before = (tmp_path / name).read_bytes()
    write_records(tmp_path / name, records)
    assert (tmp_path / name).read_bytes() == before
    assert read_records(tmp_path / name) == records
    with pytest.raises(RecordError, match="5 records where one was expected"):
        read_record(tmp_path / name)


def spoil(path, line, change):
    """Change one line of a file, counted from 1."""
    lines = path.read_text().splitlines(keepends=True)
    lines[line - 1] = change(lines[line - 1])
    path.write_text("".join(lines))


@pytest.mark.parametrize(
    ("line", "change", "complaint"),
    [
        (1, lambda t: t.replace('"record": 1', '"record": 9'), "line 1: record format 9 is not one"),
        (1, lambda t: t.replace(NAME, "chess-v0"), "line 1: 'chess-v0' with .*: no game is called 'chess-v0'; games"),
        (1, lambda t: t.replace('"rounds"', '"laps"'), "line 1: .*can't be made: .*laps"),
        (1, lambda t: t.replace('"num_players": 2', '"num_players": 9'), "line 1: .*num_players must be 2 to 4"),
        (1, lambda t: t.replace('"seed": 20', '"seed": "x"'), "line 1: damaged: 'seed' must be int"),
        (1, lambda t: t.replace('"seed": 20', '"seed": -1'), "line 1: seed -1 does not fit"),
        (1, lambda t: t.replace('"seed": 20', '"seed": 8'), "line 2: "),
        (1, lambda t: '{"position": 1}\n', "line 1: a game record was expected to begin"),
        (2, lambda t: t[:-9] + "\n", "line 2: damaged, not JSON"),
        (2, lambda t: "[]\n", "line 2: damaged: an object"),
        (2, lambda t: t.replace('"play ', '"eat '), "line 2: 'eat .* is no action of high-card-v0"),
        (2, lambda t: t.replace('"player": 0', '"player": 1'), "line 2: player 1 plays .* but it is player 0's turn"),
        (2, lambda t: t.replace("}", ', "why": 1}'), "line 2: damaged: unknown entry 'why'"),
        (3, lambda t: "", "line 3: "),
        (4, lambda t: t.replace("play ", "play 1"), "line 4: 'play .*' is "),
        (7, lambda t: t * 2, "line 8: player . plays .* but"),
        (8, lambda t: "", "line 8: cut short: the result is missing"),
        (8, lambda t: t.replace("[3.0", "[2.0"), "line 8: returns .* were recorded; the game gives"),
        (8, lambda t: t.replace('"rounds": 1', '"rounds": 2'), "line 8: result .* was recorded; the game gives"),
        (7, lambda t: "", "line 7: a result, but the game is not over"),
        (8, lambda t: t + t, "line 9: a game record was expected to begin"),
    ],
)
def test_a_damaged_or_foreign_record_is_an_error_with_its_line(path, line, change, complaint):
    written(path, HighCard(rounds=1), seed=20)
    spoil(path, line, change)
    with pytest.raises(RecordError, match=rf"game\.jsonl, {complaint}"):
        list(replay(read_record(path)))


@pytest.mark.parametrize("content", [b"", b"\xff\xfe", b"\n"])
def test_what_is_no_record_at_all(path, content):
    path.write_bytes(content)
    with pytest.raises(RecordError, match="line 1"):
        read_record(path)


def test_a_damaged_archive(tmp_path):
    path = tmp_path / "games.jsonl.gz"
    write_records(path, [])
    path.write_bytes(b"no archive")
    with pytest.raises(RecordError, match="line 1: not a text of ours"):
        read_records(path)


def test_games_by_name():
    assert NAME in registry.names()
    assert registry.make(NAME, num_players=3) == HighCard(num_players=3)
    registry.register(NAME, "tests.toys:make_high_card")
    with pytest.raises(ValueError, match="is taken by"):
        registry.register(NAME, make_high_card)
    with pytest.raises(registry.UnknownGameError, match=f"no game is called 'chess'; games are: .*{NAME}"):
        registry.make("chess")


@pytest.mark.parametrize(("name", "num_players"), [("sting", 2), ("sting", 5), ("stingy", 2), ("stingy", 6)])
def test_a_record_of_a_real_game_replays(path, name, num_players):
    game = small_game(name, num_players)
    seen = written(path, game, seed=77)
    replayed = list(replay(read_record(path)))
    assert len(replayed) == len(seen)
    assert all(same_states(a, b) for a, b in zip(seen, replayed, strict=True))
