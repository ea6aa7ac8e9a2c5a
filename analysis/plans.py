"""What a study is made of: its question, its sizes, who plays, and the command that asks for it."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from agents.base import CompiledBot
from agents.registry import make_agent
from analysis.datasets import Data, Settings, make
from analysis.questions import Question
from analysis.sting_draw import DRAW
from analysis.stingy_extra import EXTRA, FORGO
from tabletop.executors import EXECUTORS

QUESTIONS = {question.name: question for question in (DRAW, EXTRA, FORGO)}
SLOW_STATES, SLOW_WORLDS = 1000, 16  # of variants of whole games, or played by agents that are not compiled, at most
PLAYERS = (2, 3, 4, 6)
Report = Callable[[str], None]


@dataclass(frozen=True)
class Standard:
    """What a study is made of unless told otherwise.

    arms: agents that meet in the arena, label -> (options of the agent, rule of the question that foretells it or None).
    variants: rules options, label -> options.
    """

    states: int
    worlds: int
    keep: float
    agent: str
    policies: tuple[str, ...]
    continuations: tuple[str, ...]
    variants: Mapping[str, Mapping[str, Any]]
    arms: Mapping[str, tuple[str, str | None]]
    swapper: str = ""
    variant_states: int = 2000
    variant_worlds: int = 16
    blocks: int = 4000


STING_VARIANTS: dict[str, dict[str, Any]] = {
    "discard to go out": {"discard_to_go_out": True},
    "no substitution": {"substitution": False},
    "face values": {"face_values": True},
    "hands of 7": {"hand_size": 7},
    "games of 5 rounds": {"rounds": 5},
}
STINGY_VARIANTS: dict[str, dict[str, Any]] = {
    "Captain Sly": {"captain_sly": True},
    "colour scoring": {"colour_scoring": True},
}
STANDARD = {
    "draw": Standard(
        states=20_000,
        worlds=64,
        keep=0.25,
        agent="greedy",
        policies=("greedy", "rulebook", "planner", "ppo:best=yes"),
        continuations=("rulebook", "planner", "greedy:draw=1", "greedy:draw=2", "ppo"),
        variants=STING_VARIANTS,
        arms={
            "always one": ("draw=1", "always one"),
            "always two": ("draw=2", "always two"),
            "the rulebook's hint": ("draw=hint", "the rulebook's hint"),
        },
    ),
    "extra": Standard(
        states=3000,
        worlds=16,
        keep=0.5,
        agent="greedy",
        policies=("greedy", "lookahead"),
        continuations=("lookahead",),
        variants=STINGY_VARIANTS,
        arms={"always": ("extra=always", None), "never": ("extra=never", None), "hint": ("extra=hint", None)},
        variant_states=600,
        variant_worlds=8,
        blocks=500,
    ),
    "forgo": Standard(
        states=3000,
        worlds=16,
        keep=0.5,
        agent="greedy",
        policies=("greedy", "lookahead"),
        continuations=("lookahead",),
        variants=STINGY_VARIANTS,
        arms={},  # those of `extra`
        swapper="greedy:extra=hint",
        variant_states=600,
        variant_worlds=8,
        blocks=500,
    ),
}


@dataclass(frozen=True)
class Plan:
    """One run of a study."""

    question: Question
    players: tuple[int, ...]
    states: int
    worlds: int
    keep: float
    explore: float
    seed: int
    agent: str
    policies: tuple[str, ...]
    continuations: tuple[str, ...]
    variant_states: int
    variant_worlds: int
    blocks: int
    out: Path
    data: Path
    executor: str
    jobs: int
    command: str
    report: Report = field(compare=False, default=print)

    @property
    def standard(self) -> Standard:
        """What the study is made of unless told otherwise."""
        return STANDARD[self.question.name]

    def settings(self, players: int, **changes: Any) -> Settings:
        """Return the settings of the main data set of a player count, some changed."""
        values: dict[str, Any] = {
            "players": players,
            "behaviour": (self.agent,),
            "continuation": (self.agent,),
            "swapper": self.standard.swapper or self.agent,
            "policies": self.policies,
            "states": self.states,
            "worlds": self.worlds,
            "keep": self.keep,
            "explore": self.explore,
            "seed": self.seed,
        }
        return Settings(**{**values, **changes})

    def make(self, settings: Settings) -> Data:
        """Return a data set, making what is missing."""
        return make(self.question, settings, self.data, self.executor, self.jobs, self.report)

    def main(self, players: int) -> Data:
        """Return the main data set of a player count."""
        return self.make(self.settings(players))

    def of_agent(self, players: int, spec: str) -> Data:
        """Return the data set of games of another agent, played on by it; smaller where it is not compiled."""
        return self.make(self.smaller(players, spec))

    def smaller(self, players: int, spec: str, **changes: Any) -> Settings:
        """Return settings of a variant, smaller than the main data set."""
        settings = self.settings(players, options=changes.get("options", ()))
        game = settings.game(self.question)
        states, worlds = self.variant_states, self.variant_worlds
        if not isinstance(make_agent(spec, game), CompiledBot) or "rounds" in dict(settings.options):
            states, worlds = min(states, SLOW_STATES), min(worlds, SLOW_WORLDS)
        known = {"behaviour": (spec,), "continuation": (spec,), "states": states, "worlds": worlds}
        return self.settings(players, **{**known, **changes})


def plan(
    question: str,
    players: Sequence[int] = PLAYERS,
    out: Path | None = None,
    data: Path = Path("runs/study"),
    seed: int = 1,
    explore: float = 0.2,
    executor: str = "serial",
    jobs: int = 1,
    report: Report = print,
    **changes: Any,
) -> Plan:
    """Return the plan of a study, what is left out as `STANDARD` has it; ValueError names what can't be.

    changes: states, worlds, keep, agent, policies, continuations, variant_states, variant_worlds, blocks; None leaves
    one as it is.
    """
    if question not in QUESTIONS:
        raise ValueError(f"there is no study {question!r}; studies are: {', '.join(QUESTIONS)}")
    asked, standard = QUESTIONS[question], STANDARD[question]
    names = (
        "states",
        "worlds",
        "keep",
        "agent",
        "policies",
        "continuations",
        "variant_states",
        "variant_worlds",
        "blocks",
    )
    unknown = set(changes) - set(names)
    if unknown:
        raise ValueError(f"a study has no setting {', '.join(sorted(unknown))}; settings are: {', '.join(names)}")
    chosen = {name: getattr(standard, name) if changes.get(name) is None else changes[name] for name in names}
    if not players:
        raise ValueError("players must name at least one number of players")
    if chosen["blocks"] < 2:
        raise ValueError(f"blocks must be at least 2, not {chosen['blocks']}")
    if executor not in EXECUTORS:
        raise ValueError(f"executor must be one of {', '.join(EXECUTORS)}, not {executor!r}")
    given = {k: v for k, v in chosen.items() if v != getattr(standard, k)}
    others: dict[str, tuple[Any, Any]] = {
        "players": (tuple(players), PLAYERS),
        "seed": (seed, 1),
        "explore": (explore, 0.2),
    }
    given |= {k: v for k, (v, usual) in others.items() if v != usual}
    made = Plan(
        question=asked, players=tuple(players), out=out or Path("docs/study") / question, data=data, seed=seed,
        explore=explore, executor=executor, jobs=jobs, command=command_of(question, given), report=report,
        **chosen,
    )  # fmt: skip
    for n in made.players:
        game = made.settings(n).game(asked)
        for spec in {made.agent, *made.policies, *made.continuations}:
            make_agent(spec, game)
    return made


def command_of(question: str, given: Mapping[str, Any]) -> str:
    """Return the command of a study, without its part."""
    words = ["stinglab", "study", question]
    for name, value in given.items():
        text = ",".join(map(str, value)) if isinstance(value, (tuple, list)) else str(value)
        words += [f"--{name.replace('_', '-')}", text]
    return shlex.join(words)
