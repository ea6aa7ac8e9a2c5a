"""A compiled bot asked from outside, batch by batch, as a network is."""

from dataclasses import dataclass
from typing import Any

from tabletop import seeding


@dataclass(frozen=True)
class Plain:
    """A compiled bot that plays as any other agent would, with its own luck if `salt` is given."""

    bot: Any
    salt: int = 0

    @property
    def name(self) -> str:
        return self.bot.name

    def act(self, observations, masks, keys):
        if self.salt:
            keys = seeding.spread(self.salt, 1)[0] ^ keys
        return self.bot.act(observations, masks, keys)
