"""Play Stingy slowly and plainly, straight from the rules.

This is the reference that the fast engine is compared with. It shares no code with it: lists, dictionaries and brute
force, written from the numbered rules G1 to G22, which every function cites. A position is the JSON of `to_dict`.
"""

from collections import Counter
from itertools import product

IMAGES = ["bottle", "parrot", "coins", "diamond", "flag"]
TILES_OF_KIND = {"bottle": 3, "parrot": 4, "coins": 5, "diamond": 6, "flag": 7}  # G1
KINDS = [f"{image}-{colour}" for image in IMAGES[:4] for colour in range(6)] + ["flag"]  # G1
VALUE_OF_SIZE = {1: 1, 2: 3, 3: 6, 4: 10, 5: 15, 6: 20, 7: 25}  # G2
COLOUR_BONUS = {0: 0, 1: 1, 2: 3, 3: 6, 4: 10, 5: 15, 6: 20, 7: 25}  # G18
MOST_OTHER_SEATS = 5
GHOST = 2  # G19
NO_PLAYER = -1

DEFAULT_OPTIONS = {
    "num_players": None,
    "captain_sly": False,
    "colour_scoring": False,
    "complete_points": [6, 10, 15, 20, 25],
    "reward": "margin",
}

ACTION_TEXTS = (
    [f"demand +{distance} {kind}" for distance in range(1, MOST_OTHER_SEATS + 1) for kind in KINDS]
    + ["no swap", "pay", "stop"]
    + [f"group {kind}" for kind in KINDS]
    + ["tiles regular", "tiles extra"]
)
NUMBER_OF_ACTION = {text: number for number, text in enumerate(ACTION_TEXTS)}


def image_of(kind):
    """Name the image of a kind (G1)."""
    return kind.split("-")[0]


def colour_of(kind):
    """Name the colour of a kind; the flag has a seventh colour of its own (G1, G18)."""
    return kind.split("-")[-1]


def tiles_of(kind):
    """Count the tiles that exist of a kind (G1)."""
    return TILES_OF_KIND[image_of(kind)]


def possible_totals(values):
    """Return the total of every choice of some, all or none of these values, by brute force.

    What a choice totals depends only on how many it has of each value, so every such count is tried.
    """
    how_many = Counter(values)
    choices = product(*(range(number + 1) for number in how_many.values()))
    return {sum(value * number for value, number in zip(how_many, choice)) for choice in choices}


class NaiveStingy:
    """Hold one game of Stingy and play it by the rules (G1 to G22).

    `displays` has a dictionary kind -> number of tiles for each seat, `complete` a list of kinds for each seat,
    `pool_stacks` a list of tiles for each seat with the next tile last. Every decision with one legal action is made
    at once, so between two calls the game is over or there is a choice. `rewards` belongs to the last `apply`.
    """

    def __init__(self, config):
        """Take the options (G3, G4, G18, G22); one that is unknown or impossible raises ValueError naming it."""
        for name in config:
            if name not in DEFAULT_OPTIONS:
                raise ValueError(f"unknown option {name!r}")
        options = {**DEFAULT_OPTIONS, **config}
        if options["num_players"] not in range(2, 7):
            raise ValueError(f"num_players must be 2 to 6, not {options['num_players']!r}")
        if options["reward"] not in ("margin", "win"):
            raise ValueError(f"reward must be 'margin' or 'win', not {options['reward']!r}")
        if len(options["complete_points"]) != len(IMAGES):
            raise ValueError(f"complete_points must be five numbers, not {options['complete_points']!r}")
        self.config = dict(config)
        self.num_players = options["num_players"]
        self.captain_sly = options["captain_sly"]
        self.colour_scoring = options["colour_scoring"]
        self.complete_points = dict(zip(IMAGES, options["complete_points"]))
        self.reward = options["reward"]
        self.with_ghost = self.num_players == 2
        self.num_seats = 3 if self.with_ghost else self.num_players
        self.phase = "SWAP"
        self.current_player = 0
        self.turn = 0
        self.displays = [{} for _ in range(self.num_seats)]
        self.complete = [[] for _ in range(self.num_seats)]
        self.pool_stacks = [[] for _ in range(self.num_seats)]
        self.last_turns = None
        self.rewards = [0.0] * self.num_players
        self._forget_demand()

    # Positions

    @classmethod
    def from_dict(cls, position):
        """Set up a position; one that can't be raises ValueError. `position` is not changed.

        `last_turns` is the number of seats that still have a turn, the one on turn included, or None. `pending` is
        needed in RESPOND and GIVE only, in the form that `to_dict` writes.
        """
        game = cls(position["config"])
        for name in ("displays", "complete", "pool_stacks"):
            if len(position[name]) != game.num_seats:
                raise ValueError(f"{name} must have one entry for each of the {game.num_seats} seats")
        game.phase = position["phase"]
        game.current_player = position["current_player"]
        game.turn = position["turn"]
        game.displays = [dict(display) for display in position["displays"]]
        game.complete = [list(kinds) for kinds in position["complete"]]
        game.pool_stacks = [list(stack) for stack in position["pool_stacks"]]
        game.last_turns = position["last_turns"]
        pending = position["pending"]
        if pending:
            game.owner = pending["owner"]
            game.demanded_kind = pending["kind"]
            game.demanded_value = pending["value"]
            game.total = pending["total"]
            game.last_group = pending["last_group"]
        game._check_position()
        game._make_forced_decisions()
        return game

    def to_dict(self):
        """Return the position as JSON; complete kinds and groups stand in ascending kind order."""
        pending = {}
        if self.phase in ("RESPOND", "GIVE"):
            pending = {
                "owner": self.owner,
                "kind": self.demanded_kind,
                "value": self.demanded_value,
                "total": self.total,
                "last_group": self.last_group,
            }
        return {
            "game": "stingy-v0",
            "config": dict(self.config),
            "phase": self.phase,
            "current_player": self.current_player,
            "turn": self.turn,
            "displays": [{kind: display[kind] for kind in KINDS if kind in display} for display in self.displays],
            "complete": [sorted(kinds, key=KINDS.index) for kinds in self.complete],
            "pool_stacks": [list(stack) for stack in self.pool_stacks],
            "pending": pending,
            "last_turns": self.last_turns,
        }

    def _check_position(self):
        """Refuse a position whose tiles are not exactly those of the game, or whose seats make no sense (G1, G9)."""
        tiles = Counter(tile for stack in self.pool_stacks for tile in stack)
        for display in self.displays:
            for kind, size in display.items():
                if kind not in KINDS or not 1 <= size < tiles_of(kind):
                    raise ValueError(f"no display can hold {size} tiles of {kind}")
                tiles[kind] += size
        for kinds in self.complete:
            for kind in kinds:
                tiles[kind] += tiles_of(kind)
        for kind in KINDS:
            if tiles[kind] != tiles_of(kind):
                raise ValueError(f"there are {tiles[kind]} tiles of {kind}, not {tiles_of(kind)}")
        if set(tiles) != set(KINDS):
            raise ValueError("there are tiles of unknown kinds")
        if self.last_turns is not None and self._pool_size() > 0:
            raise ValueError("there are last turns only when the pool is empty")
        if self.phase == "OVER":
            if self.current_player != NO_PLAYER:
                raise ValueError("nobody decides in a game that is over")
            return
        players = range(self.num_players)
        if self.phase not in ("SWAP", "RESPOND", "GIVE", "DRAW"):
            raise ValueError(f"unknown phase {self.phase!r}")
        if self.turn not in players or self.current_player not in players:
            raise ValueError("turn and current_player must be players")
        if (self.phase in ("RESPOND", "GIVE")) != (self.demanded_kind is not None):
            raise ValueError("pending must tell the demand in RESPOND and GIVE, and only there")
        if self.current_player != (self._responder() if self.phase == "RESPOND" else self.turn):
            raise ValueError(f"player {self.current_player} can't decide in {self.phase}")

    # Decisions

    def legal_actions(self):
        """Return the action numbers that the current player may choose, ascending; none when the game is over."""
        if self.phase == "SWAP":
            texts = self._legal_swaps()
        elif self.phase == "RESPOND":
            texts = self._legal_responses()
        elif self.phase == "GIVE":
            texts = self._legal_gifts()
        elif self.phase == "DRAW":
            texts = ["tiles regular", "tiles extra"]
        else:
            texts = []
        return sorted(NUMBER_OF_ACTION[text] for text in texts)

    def apply(self, action):
        """Carry out a legal action number, and every decision after it that has one legal action."""
        if action not in self.legal_actions():
            raise ValueError(f"action {action} is not legal in {self.phase}")
        self.rewards = [0.0] * self.num_players
        self._decide(ACTION_TEXTS[action])
        self._make_forced_decisions()

    def _make_forced_decisions(self):
        """Make every decision that leaves no choice."""
        while self.phase != "OVER" and len(self.legal_actions()) == 1:
            self._decide(ACTION_TEXTS[self.legal_actions()[0]])

    def _decide(self, text):
        """Carry out one decision, given as text."""
        words = text.split()
        if words[0] == "demand":
            self._demand(self._seat_at(int(words[1])), words[2])
        elif text == "no swap":
            self._conclude_without_swap()
        elif text == "pay":
            self._pay()
        elif words[0] == "group":
            self._hand_over(words[1])
        elif text in ("stop", "tiles regular"):
            self._draw_and_end_turn(self._regular_number())
        else:
            self._draw_and_end_turn(self._regular_number() + 1)

    # Groups

    def _value(self, seat, kind):
        """Value a group in a display by its size (G2)."""
        return VALUE_OF_SIZE[self.displays[seat][kind]]

    def _other_groups(self, demanded_kind):
        """List the demander's groups except the demanded kind, in ascending kind order (G8)."""
        return [kind for kind in KINDS if kind in self.displays[self.turn] and kind != demanded_kind]

    def _other_values(self, demanded_kind):
        """List the values of the demander's groups except the demanded kind (G8)."""
        return [self._value(self.turn, kind) for kind in self._other_groups(demanded_kind)]

    def _add_tiles(self, seat, kind, number):
        """Put tiles of one kind into a display; set the group aside at once when it is complete (G9, G13, G15, G19)."""
        display = self.displays[seat]
        display[kind] = display.get(kind, 0) + number
        if display[kind] == tiles_of(kind):
            del display[kind]
            self.complete[seat].append(kind)

    def _seat_at(self, distance):
        """Return the seat that many places clockwise of the demander; the ghost's place counts (G4, G19)."""
        return (self.turn + distance) % self.num_seats

    # Swap

    def _legal_swaps(self):
        """List the demands that can be returned or paid for, and doing without (G7, G8, G22)."""
        texts = ["no swap"]
        for distance in range(1, self.num_seats):
            owner = self._seat_at(distance)
            for kind in self.displays[owner]:
                enough = sum(self._other_values(kind)) >= self._value(owner, kind)
                if enough or self.captain_sly:
                    texts.append(f"demand +{distance} {kind}")
        return texts

    def _demand(self, owner, kind):
        """Move the demanded group to the demander and ask the responder (G7, G9, G10, G20)."""
        self.owner = owner
        self.demanded_kind = kind
        self.demanded_value = self._value(owner, kind)
        self.total = 0
        self.last_group = None
        self._add_tiles(self.turn, kind, self.displays[owner].pop(kind))
        self.phase = "RESPOND"
        self.current_player = self._responder()

    def _responder(self):
        """Say who decides for the owner: the owner, for the ghost the player who is not the demander (G10, G20)."""
        if self.with_ghost and self.owner == GHOST:
            return 1 - self.turn
        return self.owner

    def _legal_responses(self):
        """List what may be taken with a total of at most V, and PAY where no total is V (G10, G11, G14, G22)."""
        texts = self._legal_choices(lambda total: total <= self.demanded_value)
        nothing_taken = self.last_group is None
        equal_return = self.demanded_value in possible_totals(self._other_values(self.demanded_kind))
        if nothing_taken and not equal_return and not self.captain_sly:
            texts.append("pay")
        return texts

    def _legal_gifts(self):
        """List what the demander may give towards a total above V (G12, G14)."""
        return self._legal_choices(lambda total: total > self.demanded_value)

    def _legal_choices(self, is_legal_total):
        """List the next groups after the last one that can still lead to a legal total, and STOP at one (G14)."""
        texts = []
        if is_legal_total(self.total):
            texts.append("stop")
        groups = self._other_groups(self.demanded_kind)
        if self.last_group is not None:
            groups = [kind for kind in groups if KINDS.index(kind) > KINDS.index(self.last_group)]
        for place, kind in enumerate(groups):
            total = self.total + self._value(self.turn, kind)
            later = possible_totals([self._value(self.turn, later_kind) for later_kind in groups[place + 1 :]])
            if any(is_legal_total(total + more) for more in later):
                texts.append(f"group {kind}")
        return texts

    def _pay(self):
        """Have the demander choose what to give (G11, G12)."""
        self.phase = "GIVE"
        self.current_player = self.turn

    def _hand_over(self, kind):
        """Move a taken or given group from the demander to the owner (G10, G12, G13, G20)."""
        self.total += self._value(self.turn, kind)
        self.last_group = kind
        self._add_tiles(self.owner, kind, self.displays[self.turn].pop(kind))

    def _forget_demand(self):
        """Clear what only matters during a swap."""
        self.owner = None
        self.demanded_kind = None
        self.demanded_value = None
        self.total = 0
        self.last_group = None

    # New tiles

    def _regular_number(self):
        """Count the tiles taken each turn (G15, G19)."""
        return 2 if self.num_seats in (3, 4) else 1

    def _pool_size(self):
        """Count the tiles in the pool."""
        return sum(len(stack) for stack in self.pool_stacks)

    def _conclude_without_swap(self):
        """Ask whether to take one tile more, if that is allowed and the pool has it (G16)."""
        singles = [kind for kind, size in self.displays[self.turn].items() if size == 1]
        if len(singles) <= 2 and self._pool_size() > self._regular_number():
            self.phase = "DRAW"
        else:
            self._draw_and_end_turn(self._regular_number())

    def _draw_and_end_turn(self, number):
        """Take tiles from the pool, what is left if fewer, and end the turn (G15)."""
        for _ in range(min(number, self._pool_size())):
            self._add_tiles(self.turn, self._next_tile(self.turn), 1)
        self._end_turn()

    def _next_tile(self, seat):
        """Remove and return the seat's next tile: from its own stack, or from the far end of the longest other.

        Of equally long stacks it is the first clockwise.
        """
        if self.pool_stacks[seat]:
            return self.pool_stacks[seat].pop()
        clockwise = [self.pool_stacks[(seat + distance) % self.num_seats] for distance in range(1, self.num_seats)]
        longest = max(len(stack) for stack in clockwise)
        return next(stack for stack in clockwise if len(stack) == longest).pop(0)

    # Turns and the end

    def _end_turn(self):
        """Pass the turn on clockwise, or end the game after the last turn (G4, G17, G21)."""
        self._forget_demand()
        if self.last_turns is not None:
            self.last_turns -= 1
        elif self._pool_size() == 0:
            ghost_emptied_the_pool = self.with_ghost and self.turn == GHOST
            self.last_turns = self.num_players if ghost_emptied_the_pool else self.num_seats
        if self.last_turns == 0:
            self._end_game()
            return
        self.turn = self._seat_at(1)
        if self.with_ghost and self.turn == GHOST:
            self._draw_and_end_turn(self._regular_number())  # G19: no swap, no extra tile
        else:
            self.phase = "SWAP"
            self.current_player = self.turn

    def _end_game(self):
        """Close the game and reward the players."""
        self.phase = "OVER"
        self.current_player = NO_PLAYER
        self.rewards = self._margins() if self.reward == "margin" else self._wins()

    def scores(self):
        """Count each player's points as if the game ended now (G3, G18)."""
        scores = []
        for player in range(self.num_players):
            score = sum(self.complete_points[image_of(kind)] for kind in self.complete[player])
            if self.colour_scoring:
                score += COLOUR_BONUS[len({colour_of(kind) for kind in self.complete[player]})]
            scores.append(score)
        return scores

    def winners(self):
        """List the players with the highest score, ties broken by more tiles in the display (G18, G19)."""
        ranks = [(score, sum(display.values())) for score, display in zip(self.scores(), self.displays)]
        return [player for player in range(self.num_players) if ranks[player] == max(ranks)]

    def _margins(self):
        """Reward each player with (own score - mean of the others' scores) / 100."""
        scores = self.scores()
        return [(own - (sum(scores) - own) / (self.num_players - 1)) / 100 for own in scores]

    def _wins(self):
        """Reward each of w winners of n players with n / w - 1, the others with -1, divided by n - 1."""
        winners = self.winners()
        for_winner = self.num_players / len(winners) - 1
        return [
            (for_winner if player in winners else -1) / (self.num_players - 1) for player in range(self.num_players)
        ]
