"""High Card, broken in one way each: for the checks of `tabletop.conformance` to find."""

from __future__ import annotations

import numpy as np

from tests.toys import CARDS, NOTHING, PLAYED, HighCard


def next_seat(states):
    """Return the seat after the current player's, by lane."""
    return (states["current_player"] + 1) % np.maximum(states["num_players"], 1)


def deal_anew(states, kept, seeds, first=0):
    """Deal the hands of all but the seats kept, in place, without the game's kernels; `first` hidden cards stay."""
    for s, seed in zip(states, seeds, strict=True):
        hidden = np.flatnonzero((s["place"] != PLAYED) & ~np.isin(s["place"], kept))[first:]
        s["place"][hidden] = np.random.default_rng(int(seed)).permutation(s["place"][hidden])
        if s["current_player"] >= 0:
            s["legal"][0] = sum(1 << int(card) for card in np.flatnonzero(s["place"] == s["current_player"]))
    return states


class ShowsNeighboursCard(HighCard):
    """The observation holds a card of the next seat."""

    def observe(self, states, observer=None, out=None):
        out = super().observe(states, observer, out)
        seats = np.maximum(states["current_player"], 0) if observer is None else np.asarray(observer)
        neighbour = (seats + 1) % states["num_players"]
        out["rounds_done"] = (states["place"] == neighbour[:, None]).argmax(axis=1)
        return out


class MaskKnowsTooMuch(HighCard):
    """A card may only be played if the next seat does not hold the one above."""

    def legal_action_mask(self, states, out=None):
        mask = super().legal_action_mask(states, out)
        held = states["place"] == next_seat(states)[:, None]
        return mask & ~np.roll(held, -1, axis=1) | (mask & (mask.sum(axis=1, keepdims=True) == 1))


class TextShowsAll(HighCard):
    """The picture for one seat shows every hand."""

    def to_text(self, state, observer=None):
        return super().to_text(state)


class DealsNothingAnew(HighCard):
    """`determinize` copies the true hands."""

    def determinize(self, states, observer, seeds, worlds=1):
        out = super().determinize(states, observer, seeds, worlds)
        out["place"] = np.repeat(states["place"], worlds, axis=0)
        out["legal"] = np.repeat(states["legal"], worlds, axis=0)
        return out


class PeeksNowAndThen(HighCard):
    """`determinize` copies the true hands in every other world."""

    def determinize(self, states, observer, seeds, worlds=1):
        out = super().determinize(states, observer, seeds, worlds)
        for name in ("place", "legal"):
            out[name][::2] = np.repeat(states[name], worlds, axis=0)[::2]
        return out


class ReadsTheFuture(HighCard):
    """`determinize` keeps the stream of what is dealt later."""

    def determinize(self, states, observer, seeds, worlds=1):
        out = super().determinize(states, observer, seeds, worlds)
        out["rng_key"] = np.repeat(states["rng_key"], worlds)
        return out


class PaysTooMuch(HighCard):
    """Rewards don't sum to zero."""

    def rewards(self, states):
        return np.maximum(super().rewards(states), 0)

    def returns(self, states):
        return np.zeros_like(super().returns(states))


class ForgetsReturns(HighCard):
    """Returns are not the sum of the rewards."""

    def returns(self, states):
        return super().rewards(states)


class NothingToPlay(HighCard):
    """The last card of a hand can't be played."""

    def legal_action_mask(self, states, out=None):
        mask = super().legal_action_mask(states, out)
        mask[mask.sum(axis=1) == 1] = False
        return mask


class RepairsIllegalActions(HighCard):
    """An illegal action is replaced by a legal one."""

    def step(self, states, actions, lanes=None, num_threads=1):
        mask = super().legal_action_mask(states)
        actions = np.asarray(actions)
        if lanes is None:
            legal = mask[np.arange(len(states)), np.clip(actions, 0, CARDS - 1)] & (actions >= 0) & (actions < CARDS)
            actions = np.where(legal, actions, mask.argmax(axis=1))
        super().step(states, actions, lanes, num_threads)


class ChangesOnIllegalAction(HighCard):
    """An illegal action is refused, but the lanes before it have moved."""

    def step(self, states, actions, lanes=None, num_threads=1):
        try:
            super().step(states, actions, lanes, num_threads)
        except ValueError:
            states["decision"] += 1
            raise


class OneTextForTwoActions(HighCard):
    """Two actions are written alike."""

    def action_to_string(self, action):
        return super().action_to_string(max(action, 1))


class ForgetsTheTable(HighCard):
    """`to_dict` leaves out the cards on the table."""

    def to_dict(self, state):
        return {**super().to_dict(state), "table": [NOTHING] * len(state["table"])}


class AllocatesItsOwn(HighCard):
    """`out` is not written."""

    def observe(self, states, observer=None, out=None):
        return super().observe(states, observer)


class LaneMatters(HighCard):
    """The deal depends on the place of a lane in the batch."""

    def reset(self, states, seeds, lanes=None, num_players=None, episodes=None):
        size = len(states) if lanes is None else len(lanes)
        super().reset(states, np.asarray(seeds) + np.arange(size, dtype=np.uint64), lanes, num_players, episodes)


class AllowsPlayedCards(HighCard):
    """The mask offers everything."""

    def legal_action_mask(self, states, out=None):
        mask = super().legal_action_mask(states, out)
        mask[~self.terminated(states)] = True
        return mask


class DealsTheWrongHand(HighCard):
    """`determinize` deals the observer's hand anew."""

    def determinize(self, states, observer, seeds, worlds=1):
        return super().determinize(states, (np.asarray(observer) + 1) % 2, seeds, worlds)


class MovesWhenOver(HighCard):
    """A lane that is over goes on counting."""

    def step(self, states, actions, lanes=None, num_threads=1):
        over = self.terminated(states)
        super().step(states, actions, lanes, num_threads)
        states["decision"][over] += 1


class KeepsOneHand(HighCard):
    """`determinize` leaves player 1 the true hand."""

    def determinize(self, states, observer, seeds, worlds=1):
        out = super().determinize(states, observer, seeds, worlds)
        truth = np.repeat(states, worlds)
        return deal_anew(truth, (observer, 1), out["rng_key"])


class KeepsOneCard(HighCard):
    """`determinize` leaves the lowest hidden card where it truly is."""

    def determinize(self, states, observer, seeds, worlds=1):
        out = super().determinize(states, observer, seeds, worlds)
        truth = np.repeat(states, worlds)
        return deal_anew(truth, (observer,), out["rng_key"], first=1)


class HidesTheHand(HighCard):
    """The observation does not hold the hand."""

    def observe(self, states, observer=None, out=None):
        out = super().observe(states, observer, out)
        out["hand"] = 0
        return out


class LaysHandsOpen(HighCard):
    """Every hand is seen by all; the cards not dealt are hidden."""

    def observe(self, states, observer=None, out=None):
        out = super().observe(states, observer, out)
        out["played"] = states["place"]
        return out

    def determinize(self, states, observer, seeds, worlds=1):
        out = super().determinize(states, observer, seeds, worlds)
        truth = np.repeat(states, worlds)
        out["place"] = truth["place"]
        out["legal"] = truth["legal"]
        return out
