"""Stingy's configuration: a frozen value, checked when made, with named variants."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, replace
from typing import Any, NamedTuple

MIN_PLAYERS, MAX_PLAYERS = 2, 6
REWARDS = ("margin", "win")
IMAGES = ("bottle", "parrot", "coins", "diamond", "flag")
MOST_POINTS = 1000  # for a complete group


class StingyRules(NamedTuple):
    """The configuration as kernels read it: integers and booleans only."""

    captain_sly: bool
    colour_scoring: bool
    complete_points: tuple[int, int, int, int, int]
    reward_win: bool


@dataclass(frozen=True)
class StingyConfig:
    """The options of one game of Stingy. Rule ids in brackets; ValueError names an option that can't be.

    num_players: 2 to 6; 2 play with the ghost (G4, G19). captain_sly: every demand is legal and nobody pays (G22).
    colour_scoring: points for different colours among the complete groups (G18). complete_points: what a complete group
    of bottles, parrots, coins, diamonds and flags scores (G3). reward: "margin" (points) or "win", at the end of the
    game.
    """

    num_players: int = 2
    captain_sly: bool = False
    colour_scoring: bool = False
    complete_points: tuple[int, ...] = (6, 10, 15, 20, 25)
    reward: str = "margin"

    def __post_init__(self) -> None:
        self._check_whole("num_players", self.num_players, MIN_PLAYERS, MAX_PLAYERS)
        for name in ("captain_sly", "colour_scoring"):
            if not isinstance(getattr(self, name), bool):
                raise ValueError(f"{name} must be True or False, not {getattr(self, name)!r}")
        points = self.complete_points
        if not isinstance(points, (tuple, list)) or len(points) != len(IMAGES):
            raise ValueError(f"complete_points must be five whole numbers ({', '.join(IMAGES)}), not {points!r}")
        for image, value in zip(IMAGES, points):
            self._check_whole(f"complete_points of {image}", value, 0, MOST_POINTS)
        object.__setattr__(self, "complete_points", tuple(points))  # JSON has lists only
        if self.reward not in REWARDS:
            raise ValueError(f"reward must be one of {', '.join(REWARDS)}, not {self.reward!r}")

    @staticmethod
    def _check_whole(name: str, value: object, low: int, high: int) -> None:
        if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
            raise ValueError(f"{name} must be a whole number from {low} to {high}, not {value!r}")

    def compiled(self) -> StingyRules:
        """Return the options as kernels read them."""
        bottle, parrot, coins, diamond, flag = self.complete_points
        return StingyRules(
            captain_sly=self.captain_sly,
            colour_scoring=self.colour_scoring,
            complete_points=(bottle, parrot, coins, diamond, flag),
            reward_win=self.reward == "win",
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the options that differ from the defaults, and num_players, as JSON has them."""
        default = StingyConfig()
        options = {k: v for k, v in asdict(self).items() if k == "num_players" or v != getattr(default, k)}
        return {k: list(v) if isinstance(v, tuple) else v for k, v in options.items()}

    @classmethod
    def from_dict(cls, options: Mapping[str, Any]) -> StingyConfig:
        """Return the configuration of these options; ValueError names one that does not exist."""
        known = [field.name for field in fields(cls)]
        for name in options:
            if name not in known:
                raise ValueError(f"Stingy has no option {name!r}; options are: {', '.join(known)}")
        return cls(**options)


VARIANTS: dict[str, StingyConfig] = {
    "standard": StingyConfig(num_players=3),
    "ghost": StingyConfig(num_players=2),  # "2 Player Rules: Stingy Ghost"
    "captain-sly": StingyConfig(num_players=3, captain_sly=True),  # "Captain Sly"
    "colours": StingyConfig(num_players=3, colour_scoring=True),  # "Advanced Rules: Colour Scoring"
}


def variant(name: str, **options: Any) -> StingyConfig:
    """Return a named variant, other options changed; ValueError lists the names."""
    if name not in VARIANTS:
        raise ValueError(f"Stingy has no variant {name!r}; variants are: {', '.join(VARIANTS)}")
    return replace(VARIANTS[name], **options)
