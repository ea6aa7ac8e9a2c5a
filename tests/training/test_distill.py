"""Learning from labels: they are what play comes to, and a policy finds in them what holds for positions it has not seen."""

import pickle
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from agents.base import luck, play_out
from agents.policy import network_shape
from agents.registry import make_agent, shipped
from sting_env import StingGame
from tabletop.game import flat
from tabletop.registry import make
from training import distill
from training.distill import (
    Aim,
    Labeller,
    Labels,
    Shard,
    expected_value,
    learn,
    read_shard,
    renamed,
    sharpen,
    try_actions,
    write_shard,
)
from training.network import make_network
from training.sparse import MASKED

GAME = StingGame(num_players=2, rounds=1)


def all_seats(game, states):
    """Agent 0 in every seat of every lane."""
    return np.zeros((len(states), game.spec.max_players), np.int64)


def some_states(game, count, steps, seed=4):
    states = game.new_states(count)
    game.reset(states, seed)
    for _ in range(steps):
        game.step(states, game.random_actions(states, np.arange(count, dtype=np.uint64)))
    return states[~game.terminated(states)]


# What labels are --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("num_players", [2, 4, 6])
@pytest.mark.parametrize(("name", "options"), [("sting-v0", {"rounds": 1}), ("stingy-v0", {})])
def test_the_label_of_what_the_bot_would_do_is_what_it_comes_to(name, options, num_players):
    game = make(name, num_players=num_players, **options)
    greedy = make_agent("greedy", game)
    states = some_states(game, 200, 15)
    legal = game.legal_action_mask(states)
    points, _ = try_actions(game, states, legal, [greedy], all_seats(game, states), 77)
    own = greedy.act(game.observe(states), legal, luck(states, 77))
    ends = states.copy()
    play_out(game, ends, [greedy] * game.spec.max_players, 77)
    every, player = np.arange(len(states)), states["current_player"]
    assert points[every, own] == pytest.approx((ends["returns"] - states["returns"])[every, player])
    assert (points[~legal] == 0).all()


def test_each_action_is_played_out_from_the_position_as_it_lies():
    """One by one, lane by lane, from copies: the same values; and no position is changed."""
    game = StingGame(num_players=2, rounds=1)
    greedy = make_agent("greedy", game)
    states = some_states(game, 12, 22)
    kept = states.copy()
    tried = game.legal_action_mask(states)
    tried[::3, ::2] = False
    points, _ = try_actions(game, states, tried, [greedy], all_seats(game, states), 5)
    assert (states == kept).all()
    assert (points[~tried] == 0).all()
    for b in range(len(states)):
        player = int(states["current_player"][b])
        for action in np.flatnonzero(tried[b]):
            trial = states[b : b + 1].copy()
            game.step(trial, np.array([action]))
            play_out(game, trial, [greedy] * game.spec.max_players, 5)
            assert points[b, action] == pytest.approx(float((trial["returns"] - states["returns"][b])[0, player]))


def test_wins_are_shares_less_the_equal_one():
    """Three players: who is paid most has won, alone or shared."""
    game = StingGame(num_players=3, rounds=1)
    states = some_states(game, 60, 10)
    legal = game.legal_action_mask(states)
    greedy = make_agent("greedy", game)
    points, wins = (part[legal] for part in try_actions(game, states, legal, [greedy], all_seats(game, states), 5))
    shares = wins + 1 / 3
    assert set(shares.round(5)) <= {0.0, np.float32(1 / 3).round(5), 0.5, 1.0}
    assert {0.0, 1.0} <= set(shares.round(5))
    assert points[shares > 0.99].min() > 0


def test_of_five_rounds_the_next_payment_counts_and_the_last_round_tells_the_winner():
    game = StingGame(num_players=2, rounds=5)
    greedy = make_agent("greedy", game)
    states = some_states(game, 300, 12)
    for played in range(5):
        legal = game.legal_action_mask(states)
        points, wins = (part[legal] for part in try_actions(game, states, legal, [greedy], all_seats(game, states), 5))
        if played < 4:
            assert wins == pytest.approx(distill.WIN_PER_POINT * points)
        else:
            assert set(wins.round(5)) <= {-0.5, 0.0, 0.5}
            assert (wins * points < 0).any()  # the round won and the game lost
        play_out(game, states, [greedy] * game.spec.max_players, 5, until_paid=True)


def play_on_one_by_one(game, trial, agents, seats, key):
    """A referee that asks one agent at a time, until the next payment."""
    before = trial["returns"].copy()
    while not game.terminated(trial)[0] and (trial["returns"] == before).all():
        agent = agents[seats[trial["current_player"][0]]]
        game.step(trial, agent.act(game.observe(trial), game.legal_action_mask(trial), luck(trial, key)))
    return trial


@pytest.mark.parametrize("rounds", [1, 5])
@pytest.mark.parametrize("names", [("ppo",), ("greedy", "ppo"), ("ppo", "ppo:best=yes"), ("random", "ppo", "greedy")])
def test_networks_and_bots_play_on_where_they_sit(names, rounds):
    game = StingGame(num_players=4, rounds=rounds)
    agents = [make_agent(name, game) for name in names]
    states = some_states(game, 24, 40)
    seats = np.random.default_rng(1).integers(len(agents), size=(len(states), game.spec.max_players))
    legal = game.legal_action_mask(states)
    points, _ = try_actions(game, states, legal, agents, seats, 5)
    for b, action in zip(*np.nonzero(legal), strict=True):
        trial = states[b : b + 1].copy()
        game.step(trial, np.array([action]))
        if not game.terminated(trial)[0] and (trial["returns"] == states["returns"][b]).all():
            play_on_one_by_one(game, trial, agents, seats[b], 5)
        paid = (trial["returns"][0] - states["returns"][b])[int(states["current_player"][b])]
        assert points[b, action] == pytest.approx(float(paid))


# Shards -----------------------------------------------------------------------------------------------------------------


@pytest.fixture
def small(monkeypatch):
    monkeypatch.setattr(distill, "LANES", 12)
    monkeypatch.setattr(distill, "STEPS", 6)
    games = (StingGame(num_players=2, rounds=1), StingGame(num_players=2, rounds=5))
    return Labeller(games, ("greedy", "random"), "greedy", (2, 3, 5), seed=3)


def test_a_shard_hangs_on_its_number_alone_and_those_there_are_kept(small, tmp_path, capsys):
    shards = distill.label(tmp_path, small, 3, jobs=1)
    assert [shard.path.name for shard in shards] == ["00000.npz", "00001.npz", "00002.npz"]
    assert [shard.game.config.rounds for shard in shards] == [1, 5, 1]
    assert distill.find_shards(tmp_path) == shards
    first = [read_shard(shard) for shard in shards]
    assert not np.array_equal(first[0].points, first[2].points)
    shards[1].path.unlink()
    times = [shards[k].path.stat().st_mtime_ns for k in (0, 2)]
    assert distill.label(tmp_path, small, 3, jobs=1) == shards
    assert [shards[k].path.stat().st_mtime_ns for k in (0, 2)] == times
    again = read_shard(shards[1])
    assert np.array_equal(again.observations, first[1].observations)
    assert np.array_equal(again.points, first[1].points)
    assert list(tmp_path.glob("*.part")) == []
    assert "3 of 3 shards" in capsys.readouterr().out


def test_labelled_positions_leave_a_choice_and_are_of_all_that_was_asked_for(small):
    shards = [small.shard(number) for number in (1, 3, 5, 7)]  # of five-round games
    for labels in shards:
        assert (labels.masks.sum(axis=1) > 1).all()
        assert (labels.tried == labels.masks).all()
        assert (labels.points[~labels.masks] == 0).all()
    seen = np.concatenate([labels.observations.view(small.games[1].spec.observation_dtype) for labels in shards])
    assert set(seen["num_players"].reshape(-1, 5).argmax(axis=1) + 2) == {2, 3, 5}
    assert set(seen["rounds_left"].ravel()) == {1, 2, 3, 4, 5}


def test_seated_means_that_the_movers_play_on_but_for_the_player_on_turn(small, monkeypatch):
    seen = []

    def remember(game, states, tried, agents, seats, key):
        seen.append((states["current_player"].astype(int), seats, [agent.name for agent in agents]))
        return try_actions(game, states, tried, agents, seats, key)

    monkeypatch.setattr(distill, "try_actions", remember)
    small.shard(0)
    replace(small, bot="rulebook", seated=True).shard(0)
    (_, all_alike, _), (player, seats, names) = seen
    assert (all_alike == 2).all()
    assert names == ["greedy", "random", "rulebook"]
    own = np.arange(seats.shape[1]) == player[:, None]
    assert (seats[own] == 2).all()
    assert set(seats[~own]) == {0, 1}


def test_a_judge_leaves_out_what_it_finds_unlikely(small):
    judged = replace(small, judge=str(shipped("sting-v0")["ppo"]), floor=0.02)
    labels = judged.shard(0)
    policy = make_agent("ppo", small.games[0])
    records = labels.observations.view(small.games[0].spec.observation_dtype).reshape(-1)
    likely = policy.probabilities(records, labels.masks) >= 0.02
    assert len(labels) < len(small.shard(0))
    assert (labels.tried == labels.masks & likely).all()
    assert (labels.tried.sum(axis=1) > 1).all()
    assert (labels.tried != labels.masks).any()
    assert (labels.points[~labels.tried] == 0).all()


def test_a_judge_names_the_likeliest(small):
    labels = replace(small, judge=str(shipped("sting-v0")["ppo"]), most=3).shard(0)
    policy = make_agent("ppo", small.games[0])
    records = labels.observations.view(small.games[0].spec.observation_dtype).reshape(-1)
    likely = policy.probabilities(records, labels.masks)
    assert (labels.tried.sum(axis=1) == np.minimum(3, labels.masks.sum(axis=1))).all()
    least, best_left = (
        np.where(part, likely, fill) for part, fill in ((labels.tried, 2), (labels.masks & ~labels.tried, -1))
    )
    assert (least.min(axis=1) >= best_left.max(axis=1)).all()


def test_what_is_wrong_is_named_before_any_work(tmp_path, capsys):
    for words, wrong in (
        ("--floor 0.1", "--judge or --init"),
        ("--most 1 --init agents/weights/sting/ppo", "--most: must be a whole number, 2 or more, not '1'"),
        ("--floor 2 --judge agents/weights/sting/ppo", "--floor: must be a number above 0 and below 0.5, not '2'"),
        ("--more nowhere", "--more nowhere: nowhere holds no labels"),
        ("--shards 1", "--shards: must be a whole number, 2 or more, not '1'"),
        ("--shards many", "--shards: must be a whole number"),
        ("--jobs 0", "--jobs: must be a whole number, 1 or more"),
        ("--seed -1", "--seed: must be a whole number, 0 or more"),
        ("--epochs 0", "--epochs: must be a whole number, 1 or more"),
        ("--temperature nan", "--temperature: must be a number 0 or more, not 'nan'"),
        ("--temperature -1", "--temperature: must be a number 0 or more"),
        ("--point nan", "--point: must be a number"),
        ("--win inf", "--win: must be a number"),
        ("--point 0 --win 0", "nothing would be worth anything"),
        ("--sharpen 0", "--sharpen: must be a number above 0, not '0'"),
        ("--learning-rate -1", "--learning-rate: must be a number above 0"),
        ("--players x", "--players: must be a whole number"),
        ("--players 2,", "--players: must be a whole number"),
        ("--judge agents/weights/sting/ppo", "name --floor or --most too"),
        ("--init agents/weights/sting/ppo --advisors planner", "--init has its own"),
        ("--advisors ppo", "only a bot can be an advisor, not 'ppo'"),
        ("--advisors rollout", "only a bot can be an advisor, not 'rollout'"),
        ("--option num_players=3", "given by --players"),
        ("--also rounds=1", "are those of the first configuration"),
        ("--init agents/weights/stingy/ppo", "stingy-v0"),
        ("--players 2,9", "num_players"),
        ("--option rouds=5", "rouds"),
        ("--movers greedy,nobody", "nobody"),
        ("--movers greedy --bot nobody", "nobody"),
        ("--movers greedy --floor 0.1 --judge nowhere", "nowhere is no policy"),
        ("--movers greedy --init nowhere", "nowhere is no policy"),
    ):
        with pytest.raises(SystemExit) as error:
            distill.main(["--movers", "greedy", "--bot", "greedy", *words.split(), "--out", str(tmp_path / "run")])
        assert wrong in f"{error.value.code} {capsys.readouterr().err}"
    assert list(tmp_path.rglob("*.npz")) == []


def test_labels_made_in_another_way_are_not_mixed_in(small, tmp_path):
    distill.label(tmp_path, small, 1, jobs=1)
    distill.label(tmp_path, small, 2, jobs=1)
    with pytest.raises(ValueError, match="labels made with other seed"):
        distill.label(tmp_path, replace(small, seed=4), 2, jobs=1)
    with pytest.raises(ValueError, match="labels made with other movers"):
        distill.label(tmp_path, replace(small, movers=("greedy",)), 2, jobs=1)


def begin(folder, words=""):
    given = distill.read_arguments(f"--movers greedy --bot greedy {words} --out {folder}".split())
    return distill.read_labeller(given), given


def test_more_labels_must_be_of_the_same_game_and_measure(small, tmp_path, monkeypatch):
    monkeypatch.setattr(distill, "LANES", 4)
    monkeypatch.setattr(distill, "STEPS", 3)
    folders = {}
    for name, words in (("points", ""), ("wins", "--option reward=win"), ("stingy", "--game stingy")):
        labeller, _ = begin(tmp_path, words)
        folders[name] = tmp_path / name / "labels"
        distill.label(folders[name], labeller, 2, 1)
    labeller, given = begin(tmp_path / "points", f"--more {folders['wins']}")
    with pytest.raises(ValueError, match="holds labels paid by win, these are by margin"):
        distill.find_more(given, labeller.games[0])
    labeller, given = begin(tmp_path / "points", f"--more {folders['stingy']}")
    with pytest.raises(ValueError, match="holds labels of stingy-v0, not of sting-v0"):
        distill.find_more(given, labeller.games[0])
    labeller, given = begin(tmp_path / "points", f"--more {folders['points']}")
    with pytest.raises(ValueError, match="are the labels of this run"):
        distill.find_more(given, labeller.games[0])
    labeller, given = begin(tmp_path / "elsewhere", f"--more {folders['points']}")
    assert [[shard.path.name for shard in found] for found in distill.find_more(given, labeller.games[0])] == [
        ["00000.npz", "00001.npz"]
    ]


def test_shards_that_nothing_tells_of_are_not_taken_for_ones_own(small, tmp_path):
    distill.label(tmp_path, small, 1, jobs=1)
    for text in (None, "{", "[]", '{"game": "sting-v0"}'):
        (tmp_path / "labels.json").unlink(missing_ok=True)
        if text is not None:
            (tmp_path / "labels.json").write_text(text)
        with pytest.raises(ValueError, match=r"labels\.json does not tell how"):
            distill.label(tmp_path, small, 2, jobs=1)
    (tmp_path / "00000.npz").unlink()
    assert len(distill.label(tmp_path, small, 1, jobs=1)) == 1


def test_a_damaged_shard_is_named(small, tmp_path):
    shards = distill.label(tmp_path, small, 2, jobs=1)
    whole = shards[1].path.read_bytes()
    for damaged in (b"", whole[: len(whole) // 2]):
        shards[1].path.write_bytes(damaged)
        with pytest.raises(ValueError, match=r"00001\.npz is damaged .* does so again"):
            read_shard(shards[1])


def test_each_configuration_is_measured_and_renamed_by_its_own_symmetries(small, tmp_path):
    """With face values the numbers of Sting are not mirrored: a label of R2 is not one of R9."""
    plain, faces = StingGame(num_players=2, rounds=1), StingGame(num_players=2, rounds=1, face_values=True)
    labeller = replace(small, games=(plain, faces), players=(2,))
    shards = distill.label(tmp_path, labeller, 10, jobs=1)
    assert [shard.game.config.face_values for shard in distill.find_shards(tmp_path)] == [False, True] * 5
    train, test = distill.hold_out([shards])
    assert {shard.game for shard in test} == {plain, faces}
    assert len(train) + len(test) == 10
    hands = StingGame(num_players=2).spec.observation_slices()["hand"]
    for shard in shards[:2]:
        labels = read_shard(shard)
        new = renamed(shard.game, labels, np.random.default_rng(1))
        numbers = [part.observations[:, hands][:, :40].reshape(-1, 4, 10).sum(axis=1) for part in (labels, new)]
        assert (numbers[0] == numbers[1]).all() == shard.game.config.face_values


def test_searches_move_and_own_agents_travel(small, monkeypatch, tmp_path):
    labeller = replace(small, games=small.games[:1], movers=("rollout:playouts=4,prior=greedy", "greedy"), players=(2,))
    assert len(labeller.shard(0)) > 0
    labeller.settings()
    assert pickle.loads(pickle.dumps(replace(labeller))).movers == labeller.movers
    assert distill.read_arguments(["--movers", "rollout:playouts=4,prior=greedy,ppo", "--out", "x"]).movers == (
        "rollout:playouts=4,prior=greedy",
        "ppo",
    )
    (tmp_path / "my_odd.py").write_text(
        "class Odd:\n    name = 'odd'\n    def __init__(self):\n        self.pick = lambda mask: int(mask.argmax())\n"
        "    def act(self, observations, masks, keys):\n        import numpy as np\n"
        "        return np.array([self.pick(mask) for mask in masks])\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    own = replace(labeller, movers=("import:my_odd.Odd",))
    own.settings()
    pickle.dumps(own)


def test_ctrl_c_says_one_line_and_leaves_no_half_shard(small, tmp_path, monkeypatch, capsys):
    def stop(file, **arrays):
        file.write(b"half")
        raise KeyboardInterrupt

    monkeypatch.setattr(distill, "LANES", 4)
    monkeypatch.setattr(distill, "STEPS", 3)
    monkeypatch.setattr(np, "savez_compressed", stop)
    with pytest.raises(SystemExit) as stopped:
        distill.main(["--movers", "greedy", "--bot", "greedy", "--out", str(tmp_path / "run")])
    assert stopped.value.code == 130
    assert capsys.readouterr().err.strip() == (
        "distill: stopped; the labels are kept, and the same command goes on from them"
    )
    assert [path.name for path in (tmp_path / "run" / "labels").iterdir()] == ["labels.json"]


def test_an_out_that_cannot_be_written_is_said_first(tmp_path):
    (tmp_path / "taken").write_text("")
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "best").write_text("")
    for folder in ("taken", "run"):
        with pytest.raises(SystemExit, match=r"distill: .*(taken|best)"):
            distill.main(["--movers", "greedy", "--bot", "greedy", "--out", str(tmp_path / folder)])
    assert list(tmp_path.rglob("*.npz")) == []


# Learning ---------------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def positions():
    game = StingGame(num_players=2, rounds=1)
    states = some_states(game, 1500, 25)
    states = states[game.legal_action_mask(states).sum(axis=1) > 1]
    return game, flat(game.observe(states)), game.legal_action_mask(states)


def halves(folder: Path, observations, masks, values):
    values = np.where(masks, values, 0).astype(np.float32)
    middle = len(values) // 2
    shards = [Shard(folder / "a.npz", GAME), Shard(folder / "b.npz", GAME)]
    for shard, part in zip(shards, (slice(0, middle), slice(middle, None)), strict=True):
        write_shard(shard.path, Labels(observations[part], masks[part], masks[part], values[part], 0 * values[part]))
    return [shards[:1], shards[1:]]


def small_network(game, *advisors):
    torch.manual_seed(2)
    return make_network(game, network_shape(game.spec, 64, 16, advisors))


def test_better_actions_are_found_under_noise(positions, tmp_path):
    game, observations, masks = positions
    rng = np.random.default_rng(1)
    truth = np.where(np.arange(game.num_actions) % 2 == 0, 0.3, 0.0) * np.ones(masks.shape)
    (tmp_path / "noisy").mkdir()
    train, _ = halves(tmp_path / "noisy", observations, masks, truth + rng.normal(0, 0.3, masks.shape))
    _, test = halves(tmp_path, observations, masks, truth)
    network = small_network(game)
    assert abs(expected_value(network, test, Aim()).sampling) < 0.02
    learn(network, train, test, aim=Aim(), temperature=0.005, epochs=12, learning_rate=3e-3)
    found = expected_value(network, test, Aim())
    both = masks[len(masks) // 2 :, ::2].any(axis=1) & masks[len(masks) // 2 :, 1::2].any(axis=1)
    at_most = 0.3 * both.mean()
    assert 0.25 * at_most < found.sampling <= found.likeliest < at_most


def test_what_was_not_tried_is_not_learned_from(positions, tmp_path):
    """Others would draw a policy away from the best of those tried, if their zeros counted."""
    game, observations, masks = positions
    tried = masks & (np.arange(game.num_actions) % 3 > 0)
    kept = tried.sum(axis=1) > 1
    observations, masks, tried = observations[kept], masks[kept], tried[kept]
    values = np.where(tried, np.where(np.arange(game.num_actions) % 3 == 1, -0.5, -1), 0).astype(np.float32)
    write_shard(tmp_path / "x.npz", Labels(observations, masks, tried, values, 0 * values))
    network, shard = small_network(game), [Shard(tmp_path / "x.npz", game)]
    before = expected_value(network, shard, Aim())
    learn(network, shard, shard, aim=Aim(), temperature=0.005, epochs=30, learning_rate=3e-3)
    assert expected_value(network, shard, Aim()).likeliest > before.likeliest + 0.1


def test_a_win_counts_as_the_aim_says():
    tried = np.array([[True, True, False]])
    labels = Labels(np.zeros((1, 1), np.int8), tried, tried, np.float32([[0.2, 0, 0]]), np.float32([[-0.5, 0.5, 0]]))
    values, mean = Aim(point=2.0, win=0.1).values(labels)
    assert mean == pytest.approx([(2 * 0.2 - 0.05 + 0.05) / 2])
    assert values[0] == pytest.approx([0.35 - 0.2, 0.05 - 0.2, 0])


def test_noise_alone_teaches_nothing(positions, tmp_path):
    game, observations, masks = positions
    train, test = halves(tmp_path, observations, masks, np.random.default_rng(3).normal(0, 0.3, masks.shape))
    network = small_network(game)
    learn(network, train, test, aim=Aim(), temperature=0.005, epochs=3, learning_rate=1e-3)
    assert max(map(abs, expected_value(network, test, Aim())[:2])) < 0.05


def test_a_shard_reads_as_it_was_written(positions, tmp_path):
    game, observations, masks = positions
    values = np.where(masks, np.random.default_rng(5).normal(size=masks.shape), 0).astype(np.float32)
    written = Labels(observations, masks, masks & (values > 0), values, 2 * values)
    write_shard(tmp_path / "x.npz", written)
    read = read_shard(Shard(tmp_path / "x.npz", game))
    for name in ("observations", "masks", "tried", "points", "wins"):
        assert np.array_equal(getattr(read, name), getattr(written, name)), name


def test_renamed_labels_value_the_renamed_actions_alike(positions):
    """By the texts: the label of `discard R3` goes with the mask and the card in hand to what R3 has become."""
    game, observations, masks = positions
    values = np.where(masks, np.arange(game.num_actions), 0).astype(np.float32)
    part = slice(100, 164)
    labels = Labels(observations[part], masks[part], masks[part], values[part], -values[part])
    new = renamed(game, labels, np.random.default_rng(4))
    hands = new.observations.view(game.spec.observation_dtype).reshape(-1)["hand"]
    for i in range(len(labels)):
        assert new.masks[i].sum() == labels.masks[i].sum()
        assert (np.sort(new.points[i]) == np.sort(labels.points[i])).all()
        assert (new.wins[i] == -new.points[i]).all()
        assert (new.tried[i] == new.masks[i]).all()
        discards = [a for a in np.flatnonzero(new.masks[i]) if game.action_to_string(int(a)).startswith("discard")]
        assert all(hands[i, a - game.string_to_action("discard R1")] > 0 for a in discards)
    assert (new.masks != labels.masks).any()


def test_the_value_of_a_sure_choice_is_that_of_its_label_less_the_mean(positions, tmp_path):
    game, observations, masks = positions
    network = small_network(game, "greedy")
    network.advice.bias.data[0] = 1000.0  # does what its advisor says
    values = np.zeros(masks.shape)
    values[np.arange(len(masks)), network.advisors.advise(observations, masks)[:, 0]] = 1.0
    first, _ = halves(tmp_path, observations, masks, values)
    labels = read_shard(first[0])
    expected = (1 - 1 / labels.masks.sum(axis=1)).mean()
    assert expected_value(network, first, Aim()) == pytest.approx((expected, expected, 0.0), abs=1e-4)


def test_a_choice_that_was_not_tried_is_told_of(positions, tmp_path):
    game, observations, masks = positions
    network = small_network(game, "greedy")
    network.advice.bias.data[0] = 1000.0  # does what its advisor says
    advised = network.advisors.advise(observations, masks)[:, 0]
    tried = masks.copy()
    tried[np.arange(0, len(masks), 4), advised[::4]] = False
    some = tried.any(axis=1)
    nothing = np.zeros(masks.shape, np.float32)
    write_shard(tmp_path / "x.npz", Labels(*(array[some] for array in (observations, masks, tried, nothing, nothing))))
    found = expected_value(network, [Shard(tmp_path / "x.npz", game)], Aim())
    assert found.strayed == pytest.approx((~tried[np.arange(len(masks)), advised])[some].mean())
    assert 0.1 < found.strayed < 0.3
    assert f"{found.strayed:.1%} not tried" in str(found)


def test_sharper_scores_are_so_many_times_apart(positions):
    game, observations, masks = positions
    network = small_network(game, "greedy")
    torch.nn.init.normal_(network.query.weight)
    seen, ids = network.read(observations[:200], masks[:200]), np.arange(200)
    before = network(seen, ids)[0].clone()
    sharpen(network, 3.0)
    after = network(seen, ids)[0]
    legal = before > MASKED / 2
    assert torch.allclose(after[legal], 3 * before[legal], atol=1e-5)


def test_labels_and_learning_by_the_command(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(distill, "LANES", 8)
    monkeypatch.setattr(distill, "STEPS", 4)
    words = "--players 2,3 --shards 4 --movers greedy --bot greedy --advisors greedy --epochs 1 --also rounds=5"
    distill.main([*words.split(), "--out", str(tmp_path / "run")])
    game = StingGame(num_players=3, rounds=1)
    again = make_agent(f"checkpoint:{tmp_path}/run/best", game)
    states = some_states(game, 20, 3)
    masks = game.legal_action_mask(states)
    actions = again.act(game.observe(states), masks, luck(states, 1))
    assert masks[np.arange(len(states)), actions].all()
    assert "done: value of choices" in capsys.readouterr().out
