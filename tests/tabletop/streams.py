"""What the learner-seat interfaces are tested with: opponents, and a learner that plays as they do."""

from functools import cache

from tabletop import bits
from tabletop.jit import kernel
from tabletop.seeding import below
from tabletop.selfplay import UniformOpponent, decision_keys
from tests.toys import HighCard

GAMES = [
    ("high-card", 2),
    ("high-card", 3),
    ("high-card", 4),
    ("sting", 2),
    ("sting", 3),
    ("sting", 6),
    ("stingy", 2),
    ("stingy", 3),
    ("stingy", 6),
]


def uniform_actions(game, states):
    """Return what the uniform opponent would play for the current player of every lane: int64 [B]."""
    return UniformOpponent(game).act(None, game.legal_action_mask(states), decision_keys(states))


def played_out(game, seeds, num_players=None, episodes=None):
    """Return states of finished games in which every seat plays uniformly."""
    states = game.new_states(len(seeds))
    game.reset(states, seeds, num_players=num_players, episodes=episodes)
    while not game.terminated(states).all():
        game.step(states, uniform_actions(game, states))
    return states


class ByHand:
    """A uniform opponent without compiled code, which notes how many were asked at a time."""

    def __init__(self, game, name="by hand"):
        self.name = name
        self.batches = []
        self._inner = UniformOpponent(game)

    def act(self, observations, masks, keys):
        assert masks.any(axis=1).all()
        self.batches.append(len(observations))
        return self._inner.act(observations, masks, keys)


@kernel
def choose_extreme(bot, option, o, legal, key):
    """Choose as bot 0 the lowest legal action, as bot 1 the highest, as bot 2 any action, legal or not."""
    size = bits.count(legal)
    if bot == 2:
        return below(key, 0, 12)
    return bits.nth(legal, 0 if bot == 0 else size - 1)


@cache
def extreme_loop():
    return HighCard.loops.play(choose_extreme, "extreme")


class Extreme:
    """A compiled opponent for High Card."""

    def __init__(self, bot):
        self.name = f"extreme {bot}"
        self.play_loop = extreme_loop()
        self.bot = bot
        self.option = 0

    def act(self, observations, masks, keys):
        raise AssertionError("compiled opponents are not asked")
