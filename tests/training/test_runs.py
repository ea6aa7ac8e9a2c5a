"""A training run: starts, is interrupted, goes on, refuses what does not belong to it."""

import json
from dataclasses import replace

import numpy as np
import pytest
import torch

from agents.registry import make_agent
from tabletop.registry import make
from training import train as training
from training.selfplay import SelfPlay
from training.train import Settings, TrainingError, train

TINY = Settings(
    steps=1_500, imitation=600, lanes=16, rollout=32, batch=256, epochs=1, hidden=16, row_width=8, deals=50,
    evaluate_every=1_000, snapshot_every=500, checkpoint_every=500, players=(2, 3), seed=4,
)  # fmt: skip


def test_a_run_writes_what_it_says(tmp_path):
    said = []
    run = train(tmp_path / "run", TINY, lambda *what: said.append(what))
    folder = run.folder
    assert run.model.num_timesteps >= TINY.steps
    for name in ("run.json", "checkpoint.pt", "log.jsonl", "best/policy.json", "last/weights.npz"):
        assert (folder / name).exists(), name
    assert list((folder / "events").glob("*tfevents*"))
    assert {what[0] for what in said} == {"imitate", "self-play"}
    lines = [json.loads(line) for line in (folder / "log.jsonl").read_text().splitlines()]
    assert set(lines[-1]["scores"]) == {"2 players", "3 players"}
    assert len(run.model.selfplays[0].snapshots) >= 2
    game = make("sting-v0", num_players=2, rounds=1)
    assert make_agent(f"checkpoint:{folder / 'best'}", game).name
    assert not list(folder.glob("tmp*"))


def test_two_configurations_are_played_and_evaluated_in_turn(tmp_path):
    """Rounds and games of two rounds: both are in the data, the evaluation and the pool of snapshots."""
    run = train(tmp_path, replace(TINY, also=(("rounds", 2),), bots=("greedy",)))
    single, double = run.model.selfplays
    assert (single.game.config.rounds, double.game.config.rounds) == (1, 2)
    assert single.episodes > 16 < double.episodes
    assert len(single.snapshots) == len(double.snapshots) >= 2
    line = json.loads((tmp_path / "log.jsonl").read_text().splitlines()[-1])
    assert list(line["scores"]) == ["2 players", "2 players, rounds=2", "3 players", "3 players, rounds=2"]
    with pytest.raises(TrainingError, match="also is"):
        training.start(tmp_path, TINY)


def test_options_that_can_not_be_are_refused_before_anything_is_written(tmp_path):
    for wrong, words in (
        ({"also": (("num_players", 3),)}, "by the setting players"),
        ({"options": (("num_players", 3),)}, "by the setting players"),
        ({"also": (("rounds", 1),)}, "those of the first"),
        ({"bots": ("ppo",)}, "only compiled bots"),
    ):
        with pytest.raises(TrainingError, match=words):
            training.start(tmp_path / "run", replace(TINY, **wrong))
        assert not (tmp_path / "run").exists()
    with pytest.raises(ValueError, match="no option 'nope'"):
        training.start(tmp_path / "run", replace(TINY, also=(("nope", 3),)))
    assert not (tmp_path / "run").exists()


def test_a_policy_of_another_shape_is_no_beginning(tmp_path):
    train(tmp_path / "first", replace(TINY, steps=400, imitation=0))
    beginning = str(tmp_path / "first" / "last")
    with pytest.raises(TrainingError, match="another shape"):
        training.start(tmp_path / "second", replace(TINY, init=beginning, advisors=("greedy",)))
    assert not (tmp_path / "second").exists()


def test_a_run_to_begin_from_gives_its_critic_too(tmp_path):
    first = train(tmp_path / "first", replace(TINY, steps=400, imitation=0))
    for init, same in ((tmp_path / "first", True), (tmp_path / "first" / "last", False)):
        second = training.start(tmp_path / f"second-{same}", replace(TINY, init=str(init), seed=9, learning_rate=1e-4))
        ours, theirs = first.model.policy.state_dict(), second.model.policy.state_dict()
        equal = {name: torch.equal(ours[name], theirs[name]) for name in ours}
        assert all(value for name, value in equal.items() if name.startswith("network."))
        assert all(value for name, value in equal.items() if name.startswith("critic.")) == same
        assert second.before["steps"] == first.model.num_timesteps
    without = training.start(tmp_path / "without", replace(TINY, init=str(tmp_path / "first"), critic=False))
    assert without.model.policy.critic is None
    (tmp_path / "first" / "checkpoint.pt").write_bytes(b"half a file")
    with pytest.raises(TrainingError, match=r"checkpoint.pt is damaged.*without its critic"):
        training.start(tmp_path / "third", replace(TINY, init=str(tmp_path / "first")))
    assert not (tmp_path / "third").exists()


def test_what_a_run_has_met_outlives_a_stop(tmp_path):
    """Turns of the self-plays, results against snapshots; new deals; no evaluation of decisions that are made again."""
    settings = replace(TINY, also=(("rounds", 2),), bots=("greedy",), self_share=0.0, snapshot_share=1.0, imitation=0)
    settings = replace(settings, steps=8_000, evaluate_every=4_000, snapshot_every=1_000)
    first = train(tmp_path, settings)
    (tmp_path / "snapshots" / "0099").mkdir()  # stopped while it was written
    log = tmp_path / "log.jsonl"
    whole = log.read_text()
    log.write_text(whole + json.dumps({"steps": 10**9, "scores": {}}) + "\n" + '{"steps": 5')
    again = training.start(tmp_path, settings)
    assert again.model.turns == first.model.turns > 0
    assert len(again.model.selfplays[0].snapshots) == len(first.model.selfplays[0].snapshots)
    for old, new in zip(first.model.selfplays, again.model.selfplays, strict=True):
        assert (new.met == old.met).all()
        assert new.states["seed"].min() != old.states["seed"].min()
        beginning = SelfPlay(new.game, new.bots, new.lineup, len(new.states), new.seed)
        assert not np.isin(new.states["rng_key"], beginning.states["rng_key"]).any()
    assert sum(selfplay.met[:, 0].sum() for selfplay in first.model.selfplays) > 0
    assert log.read_text() == whole


def test_an_interrupted_run_goes_on_where_it_was(tmp_path, monkeypatch):
    folder = tmp_path / "run"
    calls = []

    def stop(run, metrics):
        calls.append(run.model.num_timesteps)
        if len(calls) == 2:
            raise KeyboardInterrupt

    monkeypatch.setattr(training, "log", stop)
    with pytest.raises(KeyboardInterrupt):
        train(folder, TINY)
    stopped = calls[-1]
    monkeypatch.undo()
    run = training.start(folder, TINY)
    assert run.model.num_timesteps == stopped
    assert run.imitated
    saved = torch.load(folder / "checkpoint.pt", weights_only=True)
    for name, tensor in run.model.policy.state_dict().items():
        assert torch.equal(tensor, saved["policy"][name])
    assert train(folder, TINY).model.num_timesteps >= TINY.steps


def test_a_run_can_be_made_longer_but_not_changed(tmp_path):
    train(tmp_path, replace(TINY, steps=400))
    assert train(tmp_path, replace(TINY, steps=900)).model.num_timesteps >= 900
    with pytest.raises(TrainingError, match=r"hidden is 16 there, 32 asked for"):
        train(tmp_path, replace(TINY, hidden=32))


def test_a_run_without_snapshots_yet_goes_on(tmp_path):
    early = replace(TINY, snapshot_every=10_000, imitation=0)
    assert not train(tmp_path, replace(early, steps=400)).model.selfplays[0].snapshots
    assert train(tmp_path, replace(early, steps=900)).model.num_timesteps >= 900


def test_a_folder_that_holds_no_run_is_left_alone(tmp_path):
    (tmp_path / "precious.txt").write_text("mine")
    with pytest.raises(TrainingError, match="holds no run"):
        train(tmp_path, TINY)
    assert (tmp_path / "precious.txt").read_text() == "mine"


def test_a_damaged_checkpoint_is_named(tmp_path):
    train(tmp_path, replace(TINY, steps=400))
    (tmp_path / "checkpoint.pt").write_bytes(b"no")
    with pytest.raises(TrainingError, match=r"checkpoint\.pt is damaged"):
        train(tmp_path, replace(TINY, steps=900))


def test_the_command_reads_its_settings(tmp_path, capsys):
    arguments = ["--game", "sting", "--players", "2,3", "--steps", "400", "--out", str(tmp_path / "run")]
    small = ["--imitation", "300", "--lanes", "8", "--rollout", "16", "--hidden", "16", "--deals", "10"]
    training.main([*arguments, *small, "-o", "hand_size=7"])
    known = json.loads((tmp_path / "run" / "run.json").read_text())
    assert known["players"] == [2, 3]
    assert known["options"] == [["hand_size", 7]]
    assert "checkpoint:" in capsys.readouterr().out
    with pytest.raises(SystemExit):
        training.main(["--hidden", "big"])
    assert "--hidden: invalid" in capsys.readouterr().err
    with pytest.raises(TrainingError, match=r"no game is called 'chess'.*sting-v0"):
        training.main(["--game", "chess"])


def test_only_compiled_bots_sit_with_the_learner(tmp_path):
    train(tmp_path / "a", replace(TINY, steps=400))
    with pytest.raises(TrainingError, match="only compiled bots"):
        train(tmp_path / "b", replace(TINY, bots=(f"checkpoint:{tmp_path / 'a' / 'last'}",)))
