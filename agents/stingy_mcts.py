"""Tree search for Stingy: `mcts`, an agent that plays games on from the position it sees.

All but the order of the pool lies open (G6), so an observation tells the position (`agents.stingy_greedy.rebuild`), and
the agent gets no more than any other. Each playout deals the pool anew, walks down the tree, adds the decision where it
leaves it, and lets greedy play on to the end of the game. The tree is open-loop: a node stands for the actions that led
to it, whatever was drawn in between, so that its value is a mean over draws (Perez Liebana and others, 2015); a child
whose action the tiles drawn do not allow is passed over. Every player maximizes its own value, points and the win, and
all values are kept (max^n: Luckhardt and Irani, 1986). Children are lookahead's best demands, or all replies; what
lookahead sees in them counts as so many playouts, and as prior in the rule of Rosin (2011), that of AlphaZero.

    stingy:mcts:playouts=200    so many playouts for a decision: same position and key, same choice
    stingy:mcts:ms=50           as many as fit into so many milliseconds
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from agents.base import Array
from agents.stingy_choices import GAIN, reply_ahead, survey, write_candidates
from agents.stingy_greedy import (
    NO_OBSERVATION,
    NO_STATE,
    extra_awaits,
    finish,
    rebuild,
    scratch,
    worth_of_end,
)
from stingy_env.config import MAX_PLAYERS
from stingy_env.observation import OBSERVATION, observe
from stingy_env.rules import NUM_KINDS, STATE, TILES_EXTRA, Phase, apply
from tabletop import bits
from tabletop.game import BatchGame
from tabletop.jit import entry, kernel
from tabletop.seeding import WORLD, derive

PLAYOUTS = 200  # of a decision, where nothing is said
MOST_PLAYOUTS, MOST_MS = 1_000_000, 3_600_000
AT_ONCE = 8  # playouts between two looks at the clock
ROOM = 1 << 18  # nodes; a tree that is full grows no further
WIDTH = 6  # demands considered
# One end of a game says little: the points of ends reached from one position spread over some 30.
TRUST = 60.0  # lookahead's view of an action counts as so many playouts
DOUBT = 2.0  # points by which lookahead prefers its reply to any other, and one tile more to none
EXPLORATION = 5.0  # points
WARMTH = 4.0  # points by which a demand must be better to have e times the prior


class Tree(NamedTuple):
    """A tree as arrays, one entry for each node; node 0 is the root. N nodes, P seats."""

    first: Array  # int64 [N], first child, 0 if there is none yet
    sibling: Array  # int64 [N], next child of the same parent, 0 if it is the last
    action: Array  # int64 [N], what leads here
    visits: Array  # int64 [N]
    hope: Array  # float64 [N], points by which lookahead sees it behind the best of its siblings, at most 0
    prior: Array  # float64 [N], part of the attention it gets; 1 for all siblings together
    totals: Array  # float64 [N, P], sums of the values of the ends reached
    size: Array  # int64 [1]


def new_tree(room: int) -> Tree:
    """Return a tree of one node with room for more."""
    first, sibling, action, visits = np.zeros((4, room), np.int64)
    totals = np.zeros((room, MAX_PLAYERS))
    return Tree(first, sibling, action, visits, np.zeros(room), np.zeros(room), totals, np.ones(1, np.int64))


# Growing ----------------------------------------------------------------------------------------------------------------


@entry
def grow(config, o, key, playouts, tree):
    """Make playouts from the position that the records `o` [1] show.

    config: the rules, paid by points; key: uint64, from which the worlds derive. Playout n through any child of the root
    is in world n, so that these share their luck.
    """
    state, view = np.zeros(1, STATE), np.zeros(1, OBSERVATION)
    path = np.empty(tree.first.shape[0], np.int64)
    for _ in range(playouts):
        world = 0
        if tree.first[0]:
            rebuild_in(config, o[0], key, state)
            world = tree.visits[select(state[0], tree, 0)]
        rebuild_in(config, o[0], derive(key, WORLD, world), state)
        play_once(config, state[0], view, tree, path)


@kernel
def rebuild_in(config, o, key, state):
    """Write the position that an observation shows into records [1]."""
    state[0] = NO_STATE[0]
    rebuild(config, o, key, state[0])


@kernel
def play_once(config, s, view, tree, path):
    """Walk down, grow by one decision, play on to the end, and tell all nodes passed what came of it."""
    node, depth = 0, 0
    path[0] = 0
    while s.current_player >= 0:
        fresh = tree.first[node] == 0
        if fresh:
            expand(config, s, view, tree, node)
        child = select(s, tree, node)
        if child == 0:
            break
        apply(config, s, tree.action[child])
        node = child
        depth += 1
        path[depth] = node
        if fresh:
            break
    finish(config, s, view)
    for i in range(depth + 1):
        tree.visits[path[i]] += 1
        for seat in range(s.num_players):
            tree.totals[path[i], seat] += worth_of_end(s, seat)


@kernel
def select(s, tree, node):
    """Return the legal child with the best bound for who decides, 0 if there is none."""
    player = s.current_player
    usual = tree.totals[node, player] / max(1, tree.visits[node])
    spur = EXPLORATION * np.sqrt(1.0 + tree.visits[node])
    best, most = 0, -np.inf
    child = tree.first[node]
    while child:
        if bits.contains(s.legal, tree.action[child]):
            visits = tree.visits[child]
            value = (TRUST * (usual + tree.hope[child]) + tree.totals[child, player]) / (TRUST + visits)
            bound = value + spur * tree.prior[child] / (1.0 + visits)
            if bound > most:
                best, most = child, bound
        child = tree.sibling[child]
    return best


# What is considered ---------------------------------------------------------------------------------------------------


@kernel
def expand(config, s, view, tree, node):
    """Give a node its children: the decision at hand, as who decides sees it."""
    view[0] = NO_OBSERVATION[0]
    observe(config, s, s.current_player, view[0])
    if s.phase == Phase.SWAP:
        expand_demands(view[0], tree, node)
        return
    usual = TILES_EXTRA if s.phase == Phase.DRAW else reply_ahead(view[0], s.legal)
    count = bits.count(s.legal)
    for n in range(count):
        action = bits.nth(s.legal, n)
        add_child(tree, node, action, 0.0 if action == usual else -DOUBT, 1.0 / count)


@kernel
def expand_demands(o, tree, node):
    """Give a node the demands that lookahead likes best, and no swap."""
    found, actions = np.zeros((WIDTH + 1, 4)), np.empty(WIDTH + 1, np.int64)
    t = survey(o)
    count = write_candidates(t, extra_awaits(o, t.seats), scratch(), found, actions)
    best, total = 0.0, 0.0
    for i in range(count):
        best = max(best, found[i, GAIN])
    for i in range(count):
        total += np.exp((found[i, GAIN] - best) / WARMTH)
    for i in range(count):
        hope = found[i, GAIN] - best
        add_child(tree, node, actions[i], hope, np.exp(hope / WARMTH) / total)


@kernel
def add_child(tree, node, action, hope, prior):
    """Add a child, before its siblings; not to a tree that is full."""
    child = tree.size[0]
    if child == tree.first.shape[0]:
        return
    tree.size[0] += 1
    tree.action[child], tree.hope[child], tree.prior[child] = action, hope, prior
    tree.first[child], tree.visits[child] = 0, 0
    tree.totals[child, :] = 0.0
    tree.sibling[child] = tree.first[node]
    tree.first[node] = child


# The agent --------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class TreeSearch:
    """An agent that searches. Either `playouts` or `ms`, milliseconds, is above 0 and ends a search."""

    game: BatchGame
    name: str
    playouts: int = 0
    ms: int = 0

    def act(self, observations: Array, masks: Array, keys: Array) -> Array:
        """Choose for every record, one after the other."""
        return np.array([self.search(observations[b : b + 1], keys[b]) for b in range(len(observations))], np.int64)

    def search(self, observation: Array, key: Any) -> int:
        """Return the action most often tried from the position that records [1] show."""
        tree = self.tree_of(observation, key)
        children = children_of(tree)
        return int(tree.action[max(children, key=lambda child: (tree.visits[child], tree.prior[child]))])

    def tree_of(self, observation: Array, key: Any) -> Tree:
        """Return the tree grown from the position that records [1] show."""
        config = self.game.rules._replace(reward_win=False)
        if self.playouts:
            tree = new_tree(min(ROOM, 1 + self.playouts * NUM_KINDS))
            grow(config, observation, np.uint64(key), self.playouts, tree)
            return tree
        tree = new_tree(ROOM)
        end = time.perf_counter() + self.ms / 1000
        while tree.visits[0] == 0 or time.perf_counter() < end:
            grow(config, observation, np.uint64(key), AT_ONCE, tree)
        return tree


def children_of(tree: Tree, node: int = 0) -> list[int]:
    """Return the children of a node."""
    children = []
    child = int(tree.first[node])
    while child:
        children.append(child)
        child = int(tree.sibling[child])
    return children


def read_whole(options: dict[str, str], name: str, most: int) -> int:
    """Return an option that is a whole number, 0 if it is not given."""
    text = options.get(name)
    if text is None:
        return 0
    if not text.isdecimal() or not 1 <= int(text) <= most:
        raise ValueError(f"{name} must be a whole number from 1 to {most:,}, not {text!r}")
    return int(text)


def make(game: BatchGame, options: dict[str, str]) -> TreeSearch:
    """Return the agent with options as written: playouts=N or ms=N."""
    for key in options:
        if key not in ("playouts", "ms"):
            raise ValueError(f"mcts has no option {key!r}; options are: playouts=N or ms=N")
    playouts, ms = read_whole(options, "playouts", MOST_PLAYOUTS), read_whole(options, "ms", MOST_MS)
    if playouts and ms:
        raise ValueError("mcts takes playouts or ms, not both")
    written = "".join(f":{key}={value}" for key, value in options.items())
    return TreeSearch(game, f"mcts{written}", playouts if playouts or ms else PLAYOUTS, ms)
