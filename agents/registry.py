"""Agents by name: `make_agent("sting:rulebook:draw=hint", game)`.

A spec reads `[game:]name[:key=value,...]`: `greedy`, `sting:greedy`, `rulebook:draw=<=4`, `checkpoint:PATH`. Its game, if
named, must be the one played. A game's compiled bots register themselves (`register`) when the module `agents.<game>_bots`
is imported, which happens when the game's agents are first asked for; a game from elsewhere registers its own. Whatever
else goes by a name is registered with `register_maker`, or named by where it is written: `import:my_bots.Tidy`, which
other processes understand too. Trained networks, `checkpoint:PATH[:best=yes]`, are loaded by `agents.policy`, which is imported
only then.
"""

from __future__ import annotations

import importlib
import importlib.util
import sys
from collections.abc import Callable
from pathlib import Path

from agents.base import Agent, Bots
from tabletop.game import BatchGame
from tabletop.selfplay import choose_uniformly

Maker = Callable[[BatchGame, dict[str, str]], Agent]

_bots: dict[str, Bots] = {}
_makers: dict[tuple[str, str], tuple[Maker, str]] = {}
CHECKPOINT = "checkpoint"
IMPORT = "import"
EVERY_GAME = {"rollout": ("agents.rollout", "plays its likely actions out in worlds dealt anew; rollout:ms=50")}
WEIGHTS = Path(__file__).parent / "weights"


def family(game_id: str) -> str:
    """Return a game's short name: `sting` for `sting-v0`."""
    return game_id.rpartition("-v")[0] or game_id


def register(bots: Bots) -> Bots:
    """Make a game's compiled bots known; a second registration takes the place of the first."""
    _bots[bots.game] = bots
    return bots


def register_maker(game_id: str, name: str, maker: Maker, meaning: str = "") -> None:
    """Make one more agent of a game known: `maker(game, options)` returns it, `options` as written in the spec."""
    _makers[game_id, name] = (maker, meaning)


def bots_of(game: BatchGame | str) -> Bots:
    """Return the compiled bots of a game; for one that has none of its own, `random` alone."""
    game_id = game if isinstance(game, str) else game.spec.name
    if game_id not in _bots:
        module = f"agents.{family(game_id)}_bots".replace("-", "_")
        if importlib.util.find_spec(module) is not None:
            importlib.import_module(module)
    if game_id not in _bots:
        register(Bots(game_id, choose_uniformly, ("random",), ("any legal action",)))
    return _bots[game_id]


def shipped(game_id: str) -> dict[str, Path]:
    """Return the trained policies that come with the package for a game, by name."""
    return {folder.name: folder for folder in sorted((WEIGHTS / family(game_id)).glob("*")) if folder.is_dir()}


def list_agents(game: BatchGame | str) -> dict[str, str]:
    """Return the names that `make_agent` knows for a game, and what each is."""
    game_id = game if isinstance(game, str) else game.spec.name
    bots = bots_of(game_id)
    found = {name: bots.meanings[i] if i < len(bots.meanings) else "" for i, name in enumerate(bots.names)}
    found |= dict.fromkeys(shipped(game_id), "a trained network that comes with the package")
    found |= {name: meaning for name, (_, meaning) in EVERY_GAME.items()}
    found |= {name: meaning for (owner, name), (_, meaning) in _makers.items() if owner == game_id}
    found[f"{CHECKPOINT}:PATH"] = "a trained network; with :best=yes behind it, its best action"
    found[f"{IMPORT}:MODULE.NAME"] = "an agent of your own"
    return found


def make_agent(spec: str, game: BatchGame) -> Agent:
    """Return the agent that `spec` names for `game`; ValueError says what is wrong and what there is."""
    name, rest = split_spec(spec, game)
    if name == CHECKPOINT:
        if not rest:
            raise ValueError(f"{spec!r} names no file: write {CHECKPOINT}:PATH")
        path, colon, written = rest.rpartition(":")
        if colon and "=" in written:
            return load_policy(path, game, read_greedy(spec, read_pairs(spec, written)))
        return load_policy(rest, game)
    if name == IMPORT:
        return import_agent(spec, rest, game)
    options = read_pairs(spec, rest)
    bots = bots_of(game)
    if (game.spec.name, name) in _makers:
        return _makers[game.spec.name, name][0](game, options)
    if name in EVERY_GAME:
        agent: Agent = importlib.import_module(EVERY_GAME[name][0]).make(game, options)
        return agent
    trained = shipped(game.spec.name)
    if name in trained:
        return load_policy(trained[name], game, read_greedy(spec, options), name)
    if name not in bots.names:
        known = ", ".join(list_agents(game))
        raise ValueError(f"no agent {name!r} for {game.spec.title} in {spec!r}; agents are: {known}")
    try:
        return bots.make(name, options)
    except ValueError as error:
        raise ValueError(f"{spec!r}: {error}") from None


def split_spec(spec: str, game: BatchGame) -> tuple[str, str]:
    """Return the name in a spec and what follows it; ValueError if it names another game."""
    head, _, rest = spec.strip().partition(":")
    if head in (game.spec.name, family(game.spec.name)):
        head, _, rest = rest.partition(":")
    elif (
        rest
        and head not in (CHECKPOINT, IMPORT)
        and head not in list_agents(game)
        and "=" not in rest.partition(":")[0]
    ):
        raise ValueError(
            f"{spec!r} is an agent for {head!r}, and {game.spec.title} is played; "
            f"its agents are: {', '.join(list_agents(game))}"
        )
    if not head:
        raise ValueError(f"{spec!r} names no agent; {game.spec.title} has: {', '.join(list_agents(game))}")
    return head, rest


def read_pairs(spec: str, text: str) -> dict[str, str]:
    """Return the options `key=value,...` of a spec."""
    pairs: dict[str, str] = {}
    for part in filter(None, text.split(",")):
        key, equals, value = part.partition("=")
        if not equals or not key or not value:
            raise ValueError(f"{spec!r}: an option is written key=value, not {part!r}")
        if key in pairs:
            raise ValueError(f"{spec!r}: option {key!r} is given twice")
        pairs[key] = value
    return pairs


def split_specs(text: str) -> tuple[str, ...]:
    """Return agents named in a list with commas; options in it, `rulebook:a=1,b=2`, stay with their agent."""
    specs: list[str] = []
    for part in text.split(","):
        if specs and "=" in part and ":" not in part.partition("=")[0]:
            specs[-1] += f",{part}"
        elif part.strip():
            specs.append(part.strip())
    return tuple(specs)


def import_agent(spec: str, rest: str, game: BatchGame) -> Agent:
    """Return the agent written as `MODULE.NAME[:key=value,...]`; the current folder is looked in too.

    NAME is an agent, a class of agents, made with the options as written, or a function of game and options.
    """
    target, _, options = rest.partition(":")
    module, dot, name = target.rpartition(".")
    if not dot or not module or module.startswith("."):
        raise ValueError(f"{spec!r} names no agent: write {IMPORT}:MODULE.NAME, such as {IMPORT}:my_bots.Tidy")
    if str(Path.cwd()) not in sys.path:
        sys.path.append(str(Path.cwd()))
    try:
        code = importlib.import_module(module)
    except ModuleNotFoundError as error:
        raise ValueError(f"{spec!r}: there is no module {error.name!r} here or among what is installed") from error
    except (Exception, SystemExit) as error:  # whatever another's code does when it is imported
        raise ValueError(f"{spec!r}: importing {module!r} fails: {type(error).__name__}: {error}") from error
    if not hasattr(code, name):
        raise ValueError(f"{spec!r}: module {module!r} ({getattr(code, '__file__', 'built in')}) has no {name!r}")
    found, given = getattr(code, name), read_pairs(spec, options)
    if isinstance(found, type) or not hasattr(found, "act"):
        if not callable(found):
            raise ValueError(f"{spec!r}: {name!r} is no agent and makes none: it has no method act")
        try:
            agent = found(**given) if isinstance(found, type) else found(game, given)
        except Exception as error:  # whatever another's code does when it makes its agent
            raise ValueError(f"{spec!r}: making it fails: {type(error).__name__}: {error}") from error
    elif given:
        raise ValueError(f"{spec!r}: {name!r} is an agent already and takes no options")
    else:
        agent = found
    for wanted in ("act", "name"):
        if not hasattr(agent, wanted):
            raise ValueError(f"{spec!r}: {name!r} gives {type(agent).__name__}, which has no {wanted}: no agent")
    made: Agent = agent
    return made


def load_policy(path: str | Path, game: BatchGame, greedy: bool = False, name: str | None = None) -> Agent:
    """Load a trained network as an agent."""
    from agents.policy import load

    return load(path, game, greedy, name)


def read_greedy(spec: str, options: dict[str, str]) -> bool:
    """Read the one option of a trained network: best=yes plays its best action, best=no (default) samples."""
    unknown = set(options) - {"best"}
    if unknown or options.get("best", "no") not in ("yes", "no"):
        raise ValueError(f"{spec!r}: a trained network has the option best=yes or best=no")
    return options.get("best") == "yes"
