"""Sting's configuration: a frozen value, checked when made, with named variants."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, replace
from typing import Any, NamedTuple

MIN_PLAYERS, MAX_PLAYERS = 2, 6
REWARDS = ("margin", "win")
UNLIMITED = -1  # rounds or target_score: None
NATURALS = 80
NOT_NATURALS = 24  # wilds and word cards


class StingRules(NamedTuple):
    """The configuration as kernels read it: integers and booleans only."""

    hand_size: int
    special_cards: bool
    open_hands: bool
    discard_to_go_out: bool
    max_turns: int
    substitution: bool
    stack_multipliers: bool
    face_values: bool
    rounds: int
    target_score: int
    reward_win: bool


@dataclass(frozen=True)
class StingConfig:
    """The options of one game of Sting. Rule ids in brackets; ValueError names an option that can't be.

    num_players: 2 to 6 (S1). hand_size: cards dealt to each (S4). special_cards: wilds and word cards are in the game
    (S5). open_hands: everybody sees every hand (S5). discard_to_go_out: only the last discard may empty a hand (S10).
    max_turns: completed turns after which a round ends blocked (S11). substitution: wilds may be substituted (S22).
    stack_multipliers: every Double and Triple in a pile counts (S29). face_values: naturals count their number (S31).
    rounds: rounds in a game, None for no limit (S32). target_score: a total that ends the game, None for none (S32).
    reward: "margin" (points at every scored round) or "win" (the end of the game only).
    """

    num_players: int = 2
    hand_size: int = 10
    special_cards: bool = True
    open_hands: bool = False
    discard_to_go_out: bool = False
    max_turns: int = 500
    substitution: bool = True
    stack_multipliers: bool = True
    face_values: bool = False
    rounds: int | None = 5
    target_score: int | None = None
    reward: str = "margin"

    def __post_init__(self) -> None:
        self._check_whole("num_players", MIN_PLAYERS, MAX_PLAYERS)
        self._check_whole("hand_size", 1, self.largest_hand(self.num_players))
        self._check_whole("max_turns", 1, 1_000_000)
        for name in (
            "special_cards", "open_hands", "discard_to_go_out", "substitution", "stack_multipliers", "face_values"
        ):  # fmt: skip
            if not isinstance(getattr(self, name), bool):
                raise ValueError(f"{name} must be True or False, not {getattr(self, name)!r}")
        if self.rounds is not None:
            self._check_whole("rounds", 1, 10_000)
        if self.target_score is not None:
            self._check_whole("target_score", 1, 1_000_000)
        if self.rounds is None and self.target_score is None:
            raise ValueError("rounds and target_score can't both be None: the game would never end (S32)")
        if self.reward not in REWARDS:
            raise ValueError(f"reward must be one of {', '.join(REWARDS)}, not {self.reward!r}")

    def _check_whole(self, name: str, low: int, high: int) -> None:
        value = getattr(self, name)
        if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
            raise ValueError(f"{name} must be a whole number from {low} to {high}, not {value!r}")

    @staticmethod
    def largest_hand(num_players: int) -> int:
        """Return the largest hand that leaves a natural to turn up, whatever is dealt (S5)."""
        return (NATURALS - 1) // num_players

    def compiled(self) -> StingRules:
        """Return the options as kernels read them."""
        return StingRules(
            hand_size=self.hand_size,
            special_cards=self.special_cards,
            open_hands=self.open_hands,
            discard_to_go_out=self.discard_to_go_out,
            max_turns=self.max_turns,
            substitution=self.substitution,
            stack_multipliers=self.stack_multipliers,
            face_values=self.face_values,
            rounds=UNLIMITED if self.rounds is None else self.rounds,
            target_score=UNLIMITED if self.target_score is None else self.target_score,
            reward_win=self.reward == "win",
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the options that differ from the defaults, and num_players."""
        default = StingConfig()
        options = asdict(self)
        return {k: v for k, v in options.items() if k == "num_players" or v != getattr(default, k)}

    @classmethod
    def from_dict(cls, options: Mapping[str, Any]) -> StingConfig:
        """Return the configuration of these options; ValueError names one that does not exist."""
        known = [field.name for field in fields(cls)]
        for name in options:
            if name not in known:
                raise ValueError(f"Sting has no option {name!r}; options are: {', '.join(known)}")
        return cls(**options)


VARIANTS: dict[str, StingConfig] = {
    "standard": StingConfig(),
    "younger": StingConfig(hand_size=7),  # variation 9
    "no-specials": StingConfig(special_cards=False),  # variation 5
    "face-values": StingConfig(face_values=True),  # the more challenging scoring
    "no-substitution": StingConfig(substitution=False),  # variation 3
    "first-game": StingConfig(open_hands=True, special_cards=False),  # "First Time Players" and variation 5
    "strict": StingConfig(discard_to_go_out=True),
    "to-100": StingConfig(rounds=None, target_score=100),
}


def variant(name: str, **options: Any) -> StingConfig:
    """Return a named variant, other options changed; ValueError lists the names."""
    if name not in VARIANTS:
        raise ValueError(f"Sting has no variant {name!r}; variants are: {', '.join(VARIANTS)}")
    return replace(VARIANTS[name], **options)
