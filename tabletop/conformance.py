"""Checks that anybody's game can be put through: `check_game` for the protocol, `leak_test` for hidden information.

Both play at random with every number of players that the configuration allows, look at positions all along the game,
and raise ConformanceError at the first thing that is not as the protocol says, naming the number of players, the phase
and the field. They use a game through its public methods only.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from tabletop.game import Array, BatchGame, IllegalActionError, raw_bytes
from tabletop.seeding import spread
from tabletop.state import NO_PLAYER
from tabletop.threads import forced

Redeal = Callable[[Array, int, Array], Array]
ZERO_SUM = 1e-4  # what float32 sums may be off by
COPIED = 0.1  # how much more often than by chance a player's observation may come back
AGREED = 0.05  # how much more of the hidden bytes may come back than by another way of dealing


class ConformanceError(AssertionError):
    """A game is not what the protocol says."""


def player_counts(game: BatchGame) -> list[int]:
    """Return the numbers of players that this configuration can be played with."""
    counts = []
    for count in range(game.spec.min_players, game.spec.max_players + 1):
        try:
            game.check_num_players(count)
        except ValueError:
            continue
        counts.append(count)
    return counts


def random_legal(mask: Array, rng: np.random.Generator) -> Array:
    """Return a legal action for every row of a bool mask [B, A], uniformly: int64 [B]; 0 where there is none."""
    return np.asarray((mask * (1.0 - rng.random(mask.shape))).argmax(axis=1), np.int64)


# Common to both -------------------------------------------------------------------------------------------------------


@dataclass
class _Check:
    """A game under check with some number of players, and the words for what goes wrong."""

    game: BatchGame
    count: int

    def place(self, states: Array | None = None, lane: int = 0) -> str:
        """Return words for where we are."""
        place = f"{self.game.spec.title}, {self.count} players"
        if states is not None and len(states):
            place += f", phase {self.game.spec.phases[int(states['phase'][lane])]}, lane {lane}"
        return place

    def demand(self, fact: bool | np.bool_, otherwise: str, states: Array | None = None, lane: int = 0) -> None:
        """Raise ConformanceError unless it is a fact."""
        if not fact:
            raise ConformanceError(f"{self.place(states, lane)}: {otherwise}")

    def demand_equal(
        self, got: Array, expected: Array, otherwise: str, states: Array | None = None, skip: str = ""
    ) -> None:
        """Demand that records are equal; the error names the first field that is not, and both its values."""
        if np.array_equal(raw_bytes(got), raw_bytes(expected)):
            return
        for name in got.dtype.names or ():
            if name == skip or np.array_equal(got[name], expected[name]):
                continue
            lane = int((got[name] != expected[name]).reshape(len(got), -1).any(axis=1).argmax())
            values = f"{got[name][lane].tolist()}, not {expected[name][lane].tolist()}"
            self.demand(False, f"{otherwise}; field {name!r} is {values}", got if states is None else states, lane)

    def started(self, seeds: Array, count: int | Array | None = None) -> Array:
        """Return records at the start of a game."""
        states = self.game.new_states(len(seeds))
        self.game.reset(states, seeds, num_players=self.count if count is None else count)
        return states

    def played(self, seeds: Array, decisions: int, num_threads: int = 1, count: int | Array | None = None) -> Array:
        """Return records after some random decisions, which depend on nothing but the seeds."""
        states = self.started(seeds, count)
        for _ in range(decisions):
            self.game.step(states, self.game.random_actions(states, seeds), num_threads=num_threads)
        return states

    def demand_known(self, truth: Array, dealt: Array, observer: int, by: str) -> None:
        """Demand that `observer` can't tell records [B] from the true ones; `by` says who dealt them."""
        for name in ("current_player", "phase", "num_players", "rewards", "returns"):
            same = np.array_equal(truth[name], dealt[name])
            self.demand(same, f"{by} for observer {observer} changed {name}, which everybody sees", truth)
        otherwise = f"observer {observer}: the observation changes with what is hidden ({by})"
        self.demand_equal(self.game.observe(dealt, observer), self.game.observe(truth, observer), otherwise, truth)
        got, expected = self.game.legal_action_mask(dealt), self.game.legal_action_mask(truth)
        on_turn = truth["current_player"] == observer
        for b in np.flatnonzero((got != expected).any(axis=1) & on_turn):
            action = self.game.action_to_string(int(np.flatnonzero(got[b] != expected[b])[0]))
            what = f"observer {observer}: whether {action!r} is legal changes with what is hidden ({by})"
            self.demand(False, what, truth, int(b))
        empty = ~got.any(axis=1)
        what = f"observer {observer}: {by} leaves the player on turn no legal action"
        self.demand(not empty.any(), what, truth, int(empty.argmax()))


def _is_sampled(step: int) -> bool:
    """Tell whether the costlier checks look at this step: at all of the first, then ever more thinly."""
    return step < 12 or step % (1 << (step.bit_length() - 3)) == 0


def _by_lane(records: Array, worlds: int) -> Array:
    """Return records [B * worlds] as bytes [B, worlds, itemsize]."""
    return raw_bytes(records).reshape(len(records) // worlds, worlds, -1)


# The batch protocol ---------------------------------------------------------------------------------------------------


def check_game(
    game: BatchGame,
    *,
    games: int = 16,
    decisions: int = 200,
    max_decisions: int = 100_000,
    seed: int = 0,
    num_players: Sequence[int] | None = None,
) -> None:
    """Put a game through the batch protocol with every number of players; ConformanceError says what is wrong.

    games: lanes played to their end for each number of players. decisions: steps of the checks that compare batches.
    max_decisions: when a game has gone on for too long. num_players: the numbers to try, None for all there are.
    """
    counts = player_counts(game) if num_players is None else list(num_players)
    if not counts:
        raise ConformanceError(f"{game.spec.title}: no number of players is allowed")
    check = _Check(game, counts[0])
    _check_spec(check)
    _check_texts(check)
    for count in counts:
        check = _Check(game, count)
        seeds = spread(seed, games, first=count * games)
        _check_play(check, seeds, max_decisions)
        _check_batches(check, spread(seed, 64, first=count * 64), decisions)
        _check_advance(check, seeds, decisions)
    _check_mixed(game, counts, spread(seed, 3 * len(counts)), decisions)


def _check_spec(check: _Check) -> None:
    """Check that observations are int8 without padding, and described field by field."""
    spec = check.game.spec
    names = [field.name for field in spec.observation_fields]
    check.demand(names == list(spec.observation_dtype.names or ()), "observation_fields are not the observation's")
    for dtype in (spec.observation_dtype, spec.full_observation_dtype):
        parts = [part[0] for part in (dtype.fields or {}).values()]
        check.demand(all(part.base == np.int8 for part in parts), f"the fields of an observation must be int8: {dtype}")
        check.demand(sum(part.itemsize for part in parts) == dtype.itemsize, f"observations are padded: {dtype}")
    for field in spec.observation_fields:
        shape = spec.observation_dtype[field.name].shape
        check.demand(shape == field.shape, f"observation field {field.name!r} has shape {shape}, not {field.shape}")
    described = check.game.describe_observation()
    check.demand(all(name in described for name in names), "describe_observation misses a field")


def _check_texts(check: _Check) -> None:
    """Check that every action has a text of its own, which is read back."""
    game = check.game
    seen: dict[str, int] = {}
    for action in range(game.num_actions):
        text = game.action_to_string(action)
        check.demand(text not in seen, f"actions {seen.get(text)} and {action} are both written {text!r}")
        seen[text] = action
        back = game.string_to_action(text)
        check.demand(back == action, f"action {action} is written {text!r}, which is read as {back}")
    try:
        game.string_to_action("no such action, surely")
    except ValueError:
        return
    check.demand(False, "string_to_action takes any text: ValueError was expected")


def _check_play(check: _Check, seeds: Array, max_decisions: int) -> None:
    """Play to the end: masks, rewards and ends on every step, the costlier checks on some."""
    game = check.game
    rng = np.random.default_rng(int(seeds[0]))
    states = check.started(seeds)
    total = np.zeros((len(seeds), game.spec.max_players), np.float32)
    for step in range(max_decisions):
        mask = _check_decision(check, states)
        _check_rewards(check, states, total)
        over = game.terminated(states)
        if _is_sampled(step) or over.all():
            _check_observations(check, states)
            _check_refusals(check, states, mask, rng)
            _check_positions(check, states)
            _check_worlds(check, states, spread(step, len(states)))
        finished = states[over]
        actions = random_legal(mask, rng)
        actions[over] = game.num_actions  # ignored, whatever it is
        try:
            game.step(states, actions)
        except IllegalActionError as error:
            raise ConformanceError(f"{check.place(states)}: the mask allows what step refuses: {error}") from error
        check.demand_equal(states[over], finished, "step moved a lane that was over", skip="rewards")
        check.demand(not game.rewards(states)[over].any(), "step paid a lane that was over")
        if over.all():
            return
    check.demand(False, f"not over after {max_decisions} decisions", states)


def _check_decision(check: _Check, states: Array) -> Array:
    """Check who decides, and that somebody can; return the mask."""
    game = check.game
    players, over, mask = game.current_player(states), game.terminated(states), game.legal_action_mask(states)
    check.demand(mask.shape == (len(states), game.num_actions) and mask.dtype == bool, "the mask is not bool [B, A]")
    legal, seated = mask.any(axis=1), (players >= 0) & (players < check.count)
    for fact, otherwise in (
        (~over | (players == NO_PLAYER), "over, yet a player is to decide"),
        (~over | ~legal, "over, yet some action is legal"),
        (over | seated, "not over, yet current_player is none of the players"),
        (over | legal, "not over, yet no action is legal"),
    ):
        check.demand(fact.all(), otherwise, states, int(fact.argmin()))
    return mask


def _check_rewards(check: _Check, states: Array, total: Array) -> None:
    """Hold rewards to zero-sum and returns to their sum; the rewards are added to `total` in place."""
    game = check.game
    rewards = game.rewards(states)
    check.demand(rewards.shape == total.shape and rewards.dtype == np.float32, "rewards are not float32 [B, P]")
    check.demand(np.isfinite(rewards).all(), "rewards are not finite", states)
    off = np.abs(rewards.sum(axis=1))
    b = int(off.argmax())
    check.demand(off[b] < ZERO_SUM, f"rewards do not sum to zero: {rewards[b].tolist()}", states, b)
    check.demand(not rewards[:, check.count :].any(), "a seat that is not taken was paid", states)
    total += rewards
    returns = game.returns(states)
    b = int(np.abs(returns - total).max(axis=1).argmax())
    same = np.array_equal(returns[b], total[b])
    check.demand(same, f"returns {returns[b].tolist()} are not the sum of rewards {total[b].tolist()}", states, b)


def _check_observations(check: _Check, states: Array) -> None:
    """Check dtypes, `out` and the default observer."""
    game = check.game
    observation = game.observe(states)
    check.demand(observation.dtype == game.spec.observation_dtype, "observe does not return the observation dtype")
    mine = game.observe(states, np.maximum(game.current_player(states), 0))
    check.demand_equal(observation, mine, "observe() is not the current player's observation", states)
    out = np.zeros(len(states), game.spec.observation_dtype)
    check.demand(game.observe(states, out=out) is out, "observe does not return `out`")
    check.demand_equal(out, observation, "observe does not write `out`", states)
    mask = np.zeros((len(states), game.num_actions), np.bool_)
    check.demand(game.legal_action_mask(states, out=mask) is mask, "legal_action_mask does not return `out`")
    check.demand(np.array_equal(mask, game.legal_action_mask(states)), "legal_action_mask does not write `out`")
    everything = game.observe_all(states)
    check.demand(everything.dtype == game.spec.full_observation_dtype, "observe_all does not return its dtype")
    for wrong in (np.zeros(len(states) + 1, out.dtype), np.zeros((len(states), out.itemsize), np.int8)):
        try:
            game.observe(states, out=wrong)
        except ValueError:
            continue
        check.demand(False, f"observe takes an `out` of {wrong.dtype} {list(wrong.shape)}")


def _check_refusals(check: _Check, states: Array, mask: Array, rng: np.random.Generator) -> None:
    """Offer one lane illegal actions: each is an error that names it, and no lane changes."""
    game = check.game
    running = np.flatnonzero(mask.any(axis=1))
    if len(running) == 0:
        return
    lane = int(rng.choice(running))
    refused = np.flatnonzero(~mask[lane])
    wrong = [-1, game.num_actions, *rng.choice(refused, size=min(3, len(refused)), replace=False).tolist()]
    before = raw_bytes(states).copy()
    legal = game.random_actions(states, spread(lane, len(states)))
    for action in wrong:
        actions = legal.copy()
        actions[lane] = action
        text = game.action_to_string(action) if 0 <= action < game.num_actions else str(action)
        for lanes in (None, np.arange(len(states))):
            try:
                game.step(states, actions, lanes)
            except IllegalActionError as error:
                message = str(error)
            else:
                check.demand(False, f"step carried out the illegal action {text!r}", states, lane)
            unchanged = np.array_equal(before, raw_bytes(states))
            check.demand(unchanged, f"the illegal action {text!r} changed the states", states, lane)
            for part in (str(lane), game.spec.phases[int(states["phase"][lane])], text):
                what = f"the error for an illegal action does not name {part!r}: {message}"
                check.demand(part in message, what, states, lane)


def _check_positions(check: _Check, states: Array) -> None:
    """Write positions as JSON and read them back."""
    game = check.game
    for b in np.flatnonzero(~game.terminated(states))[:2].tolist():
        lane = states[b : b + 1]
        position = game.to_dict(states[b])
        check.demand(position.get("game") == game.spec.name, "to_dict does not name the game", states, b)
        try:
            position = json.loads(json.dumps(position))
        except (TypeError, ValueError) as error:
            raise ConformanceError(f"{check.place(states, b)}: to_dict is not JSON: {error}") from error
        read = game.from_dict(position)
        for name in ("current_player", "phase", "num_players"):
            check.demand(read[name][0] == lane[name][0], f"to_dict and from_dict lose {name}", states, b)
        for observer in range(check.count):
            what = f"to_dict and from_dict lose player {observer}'s observation"
            check.demand_equal(game.observe(read, observer), game.observe(lane, observer), what, lane)
        same = np.array_equal(game.legal_action_mask(read), game.legal_action_mask(lane))
        check.demand(same, "to_dict and from_dict lose the legal actions", states, b)
        again = json.loads(json.dumps(game.to_dict(read[0])))
        check.demand(again == position, f"to_dict after from_dict is {again}, not {position}", states, b)


def _check_worlds(check: _Check, states: Array, seeds: Array) -> None:
    """Check `determinize` for every observer: what it knows stays, streams are fresh, the same seed repeats."""
    running = ~check.game.terminated(states)
    lanes, seeds = states[running], seeds[running]
    if len(lanes) == 0:
        return
    for observer in range(check.count):
        worlds = check.game.determinize(lanes, observer, seeds, worlds=2)
        check.demand(len(worlds) == 2 * len(lanes), "determinize does not return B * worlds records")
        check.demand_known(np.repeat(lanes, 2), worlds, observer, "determinize")
        again = check.game.determinize(lanes, observer, seeds, worlds=2)
        check.demand_equal(again, worlds, "determinize is not repeatable", worlds)
        keys = np.concatenate([lanes["rng_key"], worlds["rng_key"]])
        fresh = len(np.unique(keys)) == len(keys)
        check.demand(fresh, "determinize does not give every record a fresh random stream", lanes)


def _check_batches(check: _Check, seeds: Array, decisions: int) -> None:
    """Play the same games in batches of 64, 7 and 1, in another order, with two threads, and begun in parts."""
    size = len(seeds)
    started, whole = check.started(seeds), check.played(seeds, decisions)
    everything = raw_bytes(check.game.observe_all(started))
    check.demand(len(np.unique(everything, axis=0)) > 1, "every seed deals the same game")
    for name, chosen in {
        "a batch of 7": np.arange(7),
        "a batch of 1": np.array([size - 1]),
        "another order of lanes": np.random.default_rng(size).permutation(size),
    }.items():
        played = check.played(seeds[chosen], decisions)
        check.demand_equal(played, whole[chosen], f"{name} plays other games than a batch of {size}")
    with forced(2):
        check.demand_equal(
            check.played(seeds, decisions, num_threads=2), whole, "two threads play other games than one"
        )
    states = check.game.new_states(size)
    for lanes in np.array_split(np.arange(size)[::-1], 3):
        check.game.reset(states, seeds[lanes], lanes=lanes, num_players=check.count)
    check.demand_equal(states, started, "reset of some lanes deals other games than reset of all")


def _check_mixed(game: BatchGame, counts: Sequence[int], seeds: Array, decisions: int) -> None:
    """Play lanes of one batch with different numbers of players."""
    by_lane = np.resize(np.array(counts), len(seeds))
    mixed = _Check(game, counts[0]).played(seeds, decisions, count=by_lane)
    for count in counts:
        check, lanes = _Check(game, count), by_lane == count
        alone = check.played(seeds[lanes], decisions)
        check.demand_equal(mixed[lanes], alone, "other games beside lanes with another number of players")


def _check_advance(check: _Check, seeds: Array, decisions: int) -> None:
    """Hold `advance` to step, reset, rewards, terminated, mask and observe."""
    game = check.game
    for autoreset in (False, True):
        name = f"advance(autoreset={autoreset})"
        by_hand, fused, threaded = (check.started(seeds) for _ in range(3))
        out = {
            "rewards": np.ones((len(seeds), game.spec.max_players), np.float32),
            "terminated": np.ones(len(seeds), np.bool_),
            "mask": np.ones((len(seeds), game.num_actions), np.bool_),
            "observation": np.ones(len(seeds), game.spec.observation_dtype),
        }
        for _ in range(decisions):
            actions = game.random_actions(by_hand, seeds)
            game.step(by_hand, actions)
            expected = {"rewards": game.rewards(by_hand), "terminated": game.terminated(by_hand)}
            ended = np.flatnonzero(expected["terminated"])
            if autoreset and len(ended):
                episodes = by_hand["episode"][ended] + 1
                game.reset(by_hand, seeds[ended], lanes=ended, num_players=check.count, episodes=episodes)
            expected |= {"mask": game.legal_action_mask(by_hand), "observation": game.observe(by_hand)}
            game.advance(
                fused,
                actions,
                rewards=out["rewards"],
                terminated=out["terminated"],
                mask=out["mask"],
                observation=out["observation"],
                autoreset=autoreset,
            )
            for field, value in expected.items():
                check.demand(np.array_equal(out[field], value), f"{name} writes another {field} than step", by_hand)
            check.demand_equal(fused, by_hand, f"{name} differs from step", by_hand)
            with forced(2):
                game.advance(threaded, actions, autoreset=autoreset, num_threads=2)
            check.demand_equal(threaded, fused, f"{name} differs with two threads", by_hand)


# Hidden information ---------------------------------------------------------------------------------------------------


def leak_test(
    game: BatchGame,
    *,
    redeal: Redeal | None = None,
    games: int = 8,
    worlds: int = 4,
    max_decisions: int = 100_000,
    seed: int = 0,
    num_players: Sequence[int] | None = None,
    secret: bool = True,
) -> None:
    """Deal anew what each observer can't know, all along random games, and demand that nothing it is shown changes.

    Compared byte for byte, with every number of players and for every observer whoever is on turn: the observation, the
    mask for the player on turn, the text. Also demanded: dealing anew changes something; another player's observation
    comes back no more often than by chance; the same observation for the player on turn means the same legal actions.

    redeal(states, observer, seeds uint64 [B]) -> states [B] deals anew by other means than `game.determinize`, which is
    then held to it: a flaw that `determinize` and the observation share is found only so.
    secret: whether players know things of their own; False for a configuration that lays every hand open.
    """
    for count in player_counts(game) if num_players is None else num_players:
        check, tally = _Check(game, count), _Tally(count)
        seeds = spread(seed, games, first=count * games)
        states = check.started(seeds)
        legal: dict[bytes, bytes] = {}
        for step in range(max_decisions):
            running = ~game.terminated(states)
            if not running.any():
                break
            if _is_sampled(step):
                for observer in range(count):
                    keys = spread(step * count + observer, int(running.sum()))
                    _compare_worlds(check, tally, legal, states[running], observer, keys, worlds, redeal, step)
            game.step(states, game.random_actions(states, seeds))
        tally.judge(check, secret)


def _compare_worlds(
    check: _Check,
    tally: _Tally,
    legal: dict[bytes, bytes],
    lanes: Array,
    observer: int,
    keys: Array,
    worlds: int,
    redeal: Redeal | None,
    step: int,
) -> None:
    """Deal some lanes anew for one observer and compare what it is shown."""
    truth = np.repeat(lanes, worlds)
    dealt = check.game.determinize(lanes, observer, keys, worlds)
    check.demand_known(truth, dealt, observer, "determinize")
    _note_masks(check, lanes, legal)
    _note_masks(check, dealt, legal)
    _compare_texts(check, lanes, dealt, observer, step % len(lanes))
    other = None
    if redeal is not None:
        other = redeal(truth.copy(), observer, spread(int(keys[0]), len(truth)))
        check.demand_known(truth, other, observer, "re-dealing")
        _note_masks(check, other, legal)
        _compare_texts(check, lanes, other, observer, step % len(lanes))
    tally.add(check.game, lanes, dealt, other, observer)


def _note_masks(check: _Check, states: Array, legal: dict[bytes, bytes]) -> None:
    """Demand that equal observations for the player on turn come with equal legal actions; `legal` grows."""
    observations = raw_bytes(check.game.observe(states))
    masks = np.packbits(check.game.legal_action_mask(states), axis=1)
    for b in range(len(states)):
        mask = masks[b].tobytes()
        same = legal.setdefault(observations[b].tobytes(), mask) == mask
        check.demand(same, "one observation, two sets of legal actions", states, b)


def _compare_texts(check: _Check, lanes: Array, dealt: Array, observer: int, b: int) -> None:
    """Compare the pictures in text of lane b."""
    worlds = len(dealt) // len(lanes)
    text = check.game.to_text(lanes[b], observer)
    for world in dealt[b * worlds : (b + 1) * worlds]:
        other = check.game.to_text(world, observer)
        pairs = zip([*text.splitlines(), ""], [*other.splitlines(), ""], strict=False)
        first = next((pair for pair in pairs if pair[0] != pair[1]), None)
        what = f"observer {observer}: the text changes with what is hidden, from {first and first[0]!r} to"
        check.demand(text == other, f"{what} {first and first[1]!r}", lanes, b)


class _Tally:
    """How often what is hidden came back, beside how often it should."""

    def __init__(self, count: int) -> None:
        self.count = count
        self.seen = np.zeros(count, np.int64)  # by observer: worlds
        self.changed = np.zeros(count, np.int64)  # by observer: worlds that differ from the truth
        self.noticed = np.zeros((count, count), np.int64)  # by observer and other: worlds the other would notice
        self.copied: list[float] = []  # share of the worlds in which another player would notice nothing
        self.copied_by_chance: list[float] = []  # the same between worlds, or for another way of dealing
        self.agreed: list[float] = []  # share of the hidden bytes that came back
        self.agreed_by_chance: list[float] = []  # the same for another way of dealing

    def add(self, game: BatchGame, lanes: Array, dealt: Array, other: Array | None, observer: int) -> None:
        """Note the worlds of some lanes; `other` were dealt in another way."""
        worlds = len(dealt) // len(lanes)
        truth, got = _by_lane(game.observe_all(lanes), 1), _by_lane(game.observe_all(dealt), worlds)
        self.seen[observer] += len(dealt)
        self.changed[observer] += int((truth != got).any(axis=2).sum())
        if other is not None:
            chance = _by_lane(game.observe_all(other), worlds)
            hidden = ((truth != got) | (truth != chance)).any(axis=1)
            for b in np.flatnonzero(hidden.any(axis=1)):
                self.agreed.append(float((truth == got)[b][:, hidden[b]].mean()))
                self.agreed_by_chance.append(float((truth == chance)[b][:, hidden[b]].mean()))
        for seat in range(self.count):
            if seat == observer:
                continue
            truth, got = _by_lane(game.observe(lanes, seat), 1), _by_lane(game.observe(dealt, seat), worlds)
            same = (truth == got).all(axis=2)
            self.noticed[observer, seat] += int((~same).sum())
            self.copied += same.mean(axis=1).tolist()
            if other is not None:
                chance = _by_lane(game.observe(other, seat), worlds)
                self.copied_by_chance += (truth == chance).all(axis=2).mean(axis=1).tolist()
            else:
                pairs = [(got[:, i] == got[:, j]).all(axis=1) for i in range(worlds) for j in range(i)]
                self.copied_by_chance += np.mean(pairs, axis=0).tolist() if pairs else same.mean(axis=1).tolist()

    def judge(self, check: _Check, secret: bool) -> None:
        """Raise ConformanceError if what is hidden came back too often."""
        hint = "(pass secret=False if every hand lies open)"
        for observer in np.flatnonzero(self.seen) if secret else ():
            changed = self.changed[observer] > 0
            check.demand(changed, f"determinize for observer {observer} changes nothing {hint}")
            for seat in range(self.count):
                noticed = seat == observer or self.noticed[observer, seat] > 0
                what = f"determinize for observer {observer} never changes what player {seat} alone knows {hint}"
                check.demand(noticed, what)
        agreed, by_chance = _mean(self.agreed), _mean(self.agreed_by_chance)
        what = f"{agreed:.0%} of what is hidden comes back by determinize, {by_chance:.0%} by re-dealing"
        check.demand(agreed <= by_chance + AGREED, what)
        copied, by_chance = _mean(self.copied), _mean(self.copied_by_chance)
        what = f"others get back what they truly hold in {copied:.0%} of the worlds, by chance in {by_chance:.0%}"
        check.demand(copied <= by_chance + COPIED, f"determinize knows too much: {what}")


def _mean(shares: list[float]) -> float:
    return float(np.mean(shares)) if shares else 0.0
