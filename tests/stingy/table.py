"""A table of Stingy to play by texts at, as the rulebook would tell it."""

import numpy as np

from stingy_env.game import game_of, legal_texts
from tests.naive.test_stingy_rulebook import position

SINGLES = {"bottle-5": 1, "parrot-5": 1, "coins-5": 1, "diamond-5": 1}


class Table:
    """One game, read and played by texts. `Table(displays, **options)`: see `position` for the options."""

    def __init__(self, *displays, **options):
        self.of(position(*displays, **options))

    def of(self, a_position):
        """Go on from a position."""
        self.game = game_of(a_position)
        self.states = self.game.from_dict(a_position)
        return self

    def play(self, *texts):
        for text in texts:
            self.game.step(self.states, [self.game.string_to_action(text)])
        return self

    @property
    def dict(self):
        return self.game.to_dict(self.states[0])

    @property
    def legal(self):
        return legal_texts(self.game, self.states)

    @property
    def phase(self):
        return self.dict["phase"]

    @property
    def player(self):
        return int(self.game.current_player(self.states)[0])

    @property
    def displays(self):
        return self.dict["displays"]

    @property
    def complete(self):
        return self.dict["complete"]

    @property
    def pool(self):
        return sum(len(stack) for stack in self.dict["pool_stacks"])

    @property
    def scores(self):
        return self.game.result(self.states[0])["scores"]

    @property
    def winners(self):
        return self.game.result(self.states[0])["winners"]

    @property
    def rewards(self):
        return self.game.rewards(self.states)[0][: int(self.states["num_players"][0])].tolist()


def new_table(seed=0, **options):
    """Return a table with a game just dealt."""
    from stingy_env import StingyGame

    table = Table.__new__(Table)
    table.game = StingyGame(**options)
    table.states = table.game.new_states(1)
    table.game.reset(table.states, np.array([seed], np.uint64))
    return table


def holds(display, groups):
    """Tell whether a display holds at least these groups, each with exactly these tiles."""
    return display.items() >= groups.items()
