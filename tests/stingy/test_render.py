"""Stingy in pictures and words: a person can follow it, and nobody learns from it what the pool will bring."""

import re

import numpy as np
import pytest

from stingy_env import StingyGame, render
from stingy_env.rules import NO_SWAP, NUM_ACTIONS, PAY, STOP, Phase
from stingy_env.text import KIND_NAMES
from tests.stingy.play import CONFIGS
from tests.stingy.table import Table

ANSI = re.compile(r"\x1b\[[\d;]*m")
MINE = {"bottle-0": 1, "parrot-4": 1, "coins-0": 2, "diamond-1": 1, "diamond-2": 1}
OPPONENTS = {"bottle-0": 1, "parrot-4": 2, "coins-0": 2}
OTHERS = {"bottle-5": 1, "coins-5": 3, "flag": 1}


def picture(table, observer=None, **options):
    return render.to_text(table.game.config, table.states[0], observer, **options)


def asked(table, observer=None):
    return picture(table, observer).splitlines()[-1]


def in_words(table, observer=None):
    """Give the legal actions in plain words, by their texts."""
    game = table.game
    actions = np.flatnonzero(game.legal_action_mask(table.states)[0])
    return {game.action_to_string(a): game.describe_action(table.states[0], a, observer) for a in map(int, actions)}


def told(table, *texts, observer=None):
    """Play and give all that is told about it."""
    lines = []
    for text in texts:
        before, action = table.states.copy(), table.game.string_to_action(text)
        table.play(text)
        lines += table.game.tell(before[0], action, table.states[0], observer)
    return lines


def middle_of_a_game(**options):
    """Give the rulebook's picture, with a third player and some complete groups."""
    return Table([MINE, OPPONENTS, OTHERS], complete=[["parrot-1"], [], ["diamond-3"]], **options)


def ghost_game(**options):
    return Table([MINE, OPPONENTS, OTHERS], num_players=2, **options)


def paying(**options):
    """Give a table where nothing of player 0's is worth exactly the 3 of a demand."""
    mine = {"coins-0": 1, "parrot-4": 3, "diamond-1": 3}
    return Table([mine, {"coins-0": 2, "parrot-4": 1, "bottle-0": 1}, OTHERS], **options)


PICTURE = """
Stingy, 3 players   (> decides, * complete)
colours: R red 0, Y yellow 1, G green 2, B blue 3, P purple 4, O orange 5

            3 bottles    4 parrots    5 coins      6 diamonds   7 flags
            6 points     10 points    15 points    20 points    25 points
            R Y G B P O  R Y G B P O  R Y G B P O  R Y G B P O  F     tiles  worth  points
  player 1  1 . . . . .  . . . . 2 .  2 . . . . .  . . . . . .  .         5      7       0
  player 2  . . . . . 1  . . . . . .  . . . . . 3  . . . * . .  1         5      8      20
> you       1 . . . . .  . * . . 1 .  2 . . . . .  . 1 1 . . .  .         6      7      10
  pool      1 3 3 3 3 2  4 . 4 4 1 4  1 5 5 5 5 2  6 5 5 . 6 6  6        89

Your turn: demand a group, or swap nothing and draw.
""".strip()


def test_a_person_reads_the_whole_table():
    assert picture(middle_of_a_game(), 0) == PICTURE


def test_only_who_asks_for_everything_sees_the_order_of_the_pool():
    table = middle_of_a_game(next_tiles={1: ["flag", "coins-2"]})
    assert "next for player 1: flag coins-2 " in picture(table)
    assert "next" not in picture(table, 1)
    assert "Player 0's turn: demand a group" in picture(table, 1)


def test_the_picture_tells_the_options_of_the_rules():
    table = middle_of_a_game(captain_sly=True, colour_scoring=True, complete_points=(1, 2, 3, 4, 5))
    assert picture(table).startswith("Stingy, 3 players, captain sly, colour scoring ")
    assert "1 point      2 points     3 points     4 points     5 points" in picture(table)


def test_each_question_is_one_line():
    table = middle_of_a_game().play("demand +1 coins-0")
    assert asked(table, 1) == "Player 0 demands 2 red coins from you: what do you take for it, worth at most 3?"
    assert asked(table, 0) == "You demand 2 red coins from player 1: what does player 1 take for it, worth at most 3?"
    table.play("group bottle-0")
    assert "\nTaken so far: worth 1, at most 2 more; next come kinds after red bottles.\n" in picture(table)
    table = paying().play("demand +1 coins-0", "pay")
    assert asked(table, 0) == "2 red coins from player 1 must be paid for: what do you give, worth more than 3?"
    table = Table([{"bottle-0": 1, "coins-0": 2}, OPPONENTS, OTHERS]).play("no swap")
    assert asked(table, 0) == "Your turn: no swap was made, so one tile more may be taken."


def test_the_ghost_is_decided_for():
    table = ghost_game().play("demand +2 flag")
    assert asked(table, 1) == "Player 0 demands 1 flag from the ghost: what do you take for it, worth at most 1?"
    assert in_words(table, 1)["stop"] == "take nothing"
    assert told(table, "group bottle-0", observer=1)[0] == "You take 1 red bottle (worth 1) for the ghost."


def last_turns(number, **options):
    """Give the end of a game: all that is not in two displays has gone to the third."""
    return Table([MINE, OPPONENTS, {}], last_turns=number, only=[[], [], []], rest_to=2, **options)


def test_the_end_names_the_winners():
    table = last_turns(1, turn=2).play("no swap")
    assert asked(table, 0) == f"The game is over: player 2 won with {table.scores[2]} points."
    assert asked(table, 2) == f"The game is over: you won with {table.scores[2]} points."
    table = last_turns(1, turn=2, complete_points=(0, 0, 0, 0, 0)).play("no swap")
    tiles = sum(table.displays[2].values())
    assert asked(table, 2) == f"The game is over: you won with 0 points and the most tiles on display, {tiles}."


def test_turns_left_are_told_once_the_pool_is_empty():
    end = "\nThe pool is empty; turns left, this one too: 3.\nYour turn: demand a group, or swap nothing."
    assert picture(last_turns(3), 0).endswith(end)


def test_demands_in_plain_words():
    words = in_words(middle_of_a_game())
    assert words["demand +1 coins-0"] == "demands 2 red coins (worth 3) from player 1"
    assert words["demand +2 flag"] == "demands 1 flag (worth 1) from player 2"
    assert words["no swap"] == "swaps nothing"
    assert in_words(middle_of_a_game(), 0)["demand +1 coins-0"] == "demand 2 red coins (worth 3) from player 1"
    mine = MINE | {"coins-0": 3}
    assert in_words(Table([mine, OPPONENTS, OTHERS]))["demand +1 coins-0"].endswith("player 1, completes the group")


def test_answers_in_plain_words():
    words = in_words(middle_of_a_game().play("demand +1 coins-0"))
    assert words["group diamond-1"] == "takes 1 yellow diamond (worth 1)"
    assert words["stop"] == "takes nothing"
    words = in_words(middle_of_a_game().play("demand +1 coins-0", "group bottle-0"), 1)
    assert words["group diamond-1"] == "take 1 yellow diamond (worth 1)"
    assert words["stop"] == "take nothing more"
    table = paying().play("demand +1 coins-0")
    assert in_words(table)["pay"] == "asks to be paid"
    assert in_words(table.play("pay"), 0) == {
        "group parrot-4": "give 3 purple parrots (worth 6), completes the group",
        "group diamond-1": "give 3 yellow diamonds (worth 6)",
    }


@pytest.mark.parametrize(
    ("players", "regular", "extra"), [(3, "two tiles", "three tiles"), (5, "one tile", "two tiles")]
)
def test_tiles_in_plain_words(players, regular, extra):
    table = Table([{"bottle-0": 1}, OPPONENTS, OTHERS, {}, {}][:players]).play("no swap")
    assert in_words(table) == {
        "tiles regular": f"takes {regular} from the pool",
        "tiles extra": f"takes {extra} from the pool",
    }


def test_a_swap_is_told_part_by_part_and_the_turn_ends_with_the_tiles_drawn():
    table = middle_of_a_game(next_tiles={0: ["flag", "coins-2"]})
    texts = "demand +1 coins-0", "group bottle-0", "group parrot-4", "group diamond-1"
    assert told(table, *texts, observer=1) == [
        "Player 0 demands 2 red coins (worth 3) from you.",
        "You take 1 red bottle (worth 1) in return.",
        "You take 1 purple parrot (worth 1) in return.",
        "You take 1 yellow diamond (worth 1) in return.",
        "Player 0 draws 1 green coin and 1 flag.",
    ]


def test_nothing_in_return_and_no_swap_are_told():
    singles = {"bottle-1": 1, "bottle-2": 1, "bottle-3": 1}
    table = Table([MINE, OPPONENTS | singles, OTHERS], next_tiles={0: ["bottle-4", "bottle-4"], 1: ["flag", "flag"]})
    assert told(table, "demand +1 coins-0", "stop", "no swap") == [
        "Player 0 demands 2 red coins (worth 3) from player 1.",
        "Player 1 takes nothing in return.",
        "Player 0 draws 2 purple bottles.",
        "Player 1 makes no swap and draws 2 flags.",
    ]


def test_a_payment_is_told():
    table = paying(next_tiles={0: ["flag", "coins-2"]})
    assert told(table, "demand +1 coins-0", "pay", "group diamond-1", observer=0) == [
        "You demand 2 red coins (worth 3) from player 1.",
        "Player 1 asks to be paid, as nothing is worth exactly 3.",
        "You give 3 yellow diamonds (worth 6) to player 1.",
        "You draw 1 green coin and 1 flag.",
    ]


def test_an_extra_tile_is_told():
    table = Table([{"bottle-0": 1}, OPPONENTS, OTHERS], next_tiles={0: ["flag", "coins-2", "flag"]})
    assert told(table, "no swap", "tiles extra", observer=0) == [
        "You make no swap.",
        "You take one tile more and draw 1 green coin and 2 flags.",
    ]


def test_complete_groups_are_told_with_their_points():
    mine = {"coins-0": 3, "parrot-4": 3, "bottle-0": 2, "bottle-1": 2}
    other = {"coins-0": 2, "parrot-4": 1}
    table = Table([mine, other, OTHERS], next_tiles={0: ["bottle-0", "flag"]})
    assert told(table, "demand +1 coins-0", "group bottle-1", observer=0) == [
        "You demand 2 red coins (worth 3) from player 1: all 5 complete, 15 points.",
        "Player 1 takes 2 yellow bottles (worth 3) in return.",
        "You draw 1 red bottle and 1 flag: red bottles complete, 6 points.",
    ]
    assert told(paying(), "demand +1 coins-0", "pay", "group parrot-4")[2] == (
        "Player 0 gives 3 purple parrots (worth 6) to player 1: all 4 complete, 10 points for player 1."
    )


def test_the_ghosts_turn_is_told_with_the_turn_before_it():
    def drawing(*tiles):
        table = Table([OPPONENTS, MINE, OTHERS], num_players=2, turn=1, next_tiles={1: ["flag", "coins-2"], 2: tiles})
        return told(table, "no swap", observer=0)

    drawn = "Player 1 makes no swap and draws 1 green coin and 1 flag"
    assert drawing("flag", "flag") == [f"{drawn}; the ghost draws 2 flags."]
    lost = "The ghost draws 2 orange bottles: orange bottles complete, out of the game."
    assert drawing("bottle-5", "bottle-5") == [f"{drawn}.", lost]


def test_the_last_tiles_and_the_end_are_told():
    table = Table([MINE, OPPONENTS, {}], only=[["coins-2", "flag"], [], []], rest_to=2)
    assert told(table, "no swap", observer=1) == [
        "Player 0 makes no swap and draws 1 green coin and 1 flag.",
        "The pool is empty: everybody has one more turn, without a draw, and player 0 has the last.",
    ]
    assert told(table, "no swap", "no swap", "no swap", observer=1) == [
        "You make no swap.",
        "Player 2 makes no swap.",
        "Player 0 makes no swap.",
        "That was the last turn.",
        f"Points: player 0 0, you 0, player 2 {table.scores[2]}.",
    ]


def test_decisions_without_a_choice_are_told_too():
    table = Table([{}, OPPONENTS, OTHERS], captain_sly=True, next_tiles={0: ["flag", "coins-2"]})
    assert told(table, "demand +1 coins-0", observer=0) == [
        "You demand 2 red coins (worth 3) from player 1.",
        "Player 1 can take nothing in return.",
        "You draw 1 green coin and 1 flag.",
    ]
    table = Table([MINE, OTHERS, {}], turn=1)
    assert told(table, "no swap", "tiles regular", observer=2)[-1] == "You can demand nothing."
    assert asked(table, 2) == "Your turn: no swap was made, so one tile more may be taken."


def test_tiles_are_painted_and_nothing_else_changes():
    table = middle_of_a_game()
    plain, painted = picture(table), picture(table, colour=True)
    assert "\x1b" not in plain
    assert ANSI.sub("", painted) == plain
    table_rows = [line for line in painted.splitlines() if line.startswith("> player 0")]
    assert table_rows[0].startswith(
        "> player 0  \x1b[31m1\x1b[0m . . . . .  . \x1b[33m*\x1b[0m . . \x1b[35m1\x1b[0m .  "
    )
    words = render.in_colour("demands 2 red coins, an orange bottle, coins-2, 3 flags; tired reddish flagship parrot-9")
    assert len(ANSI.findall(words)) == 2 * 4
    assert "\x1b[31mred coins\x1b[0m" in words
    assert "\x1b[32mcoins-2\x1b[0m" in words
    assert table.game.in_colour("2 flags") == "2 \x1b[1mflags\x1b[0m"


@pytest.mark.parametrize("options", [{}, {"captain_sly": True}, {"colour_scoring": True}, {"num_players": 2}])
@pytest.mark.parametrize("phase", [p for p in Phase if p != Phase.OVER])
def test_every_phase_has_a_hint(phase, options):
    game = StingyGame(**{"num_players": 3} | options)
    hint = game.hint({"phase": phase, "num_players": game.num_players})
    assert "most points win" in " ".join(hint.split())
    assert ("The ghost" in hint) == (game.num_players == 2)
    assert ("Different colours" in hint) == game.config.colour_scoring
    assert not (game.config.captain_sly and phase < Phase.GIVE and "paid" in hint)
    assert max(map(len, hint.splitlines())) <= render.WIDTH


def test_a_record_without_a_game_says_so():
    game = StingyGame()
    assert game.to_text(game.new_states(1)[0]) == "Stingy: no game in this record yet"


# Random games ---------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def games():
    """Decisions of random games, all configurations: (game, records, actions, records after them)."""
    found = []
    rng = np.random.default_rng(1)
    for config in CONFIGS:
        game = StingyGame(**config)
        states = game.new_states(3)
        game.reset(states, 1)
        kept = []
        while not game.terminated(states).all():
            mask = game.legal_action_mask(states)
            weights = rng.random(mask.shape) * mask * np.where(np.arange(NUM_ACTIONS) == STOP, 0.5, 1)
            weights[:, PAY] *= 2
            actions = weights.argmax(1)
            before = states.copy()
            game.step(states, actions)
            kept += [
                (old, int(a), new) for old, a, new in zip(before, actions, states.copy()) if old["phase"] < Phase.OVER
            ]
        ends = [each for each in kept if each[2]["phase"] == Phase.OVER]
        rare = [each for each in kept if each[0]["phase"] in (Phase.GIVE, Phase.DRAW)]
        chosen = [*kept[::12], *ends, *rare[:20]]
        found.append((game, *map(list, zip(*chosen))))
    phases = {int(state["phase"]) for _, records, *_ in found for state in records}
    assert phases == set(range(Phase.OVER))
    return found


def each_decision(games):
    return [(game, *each) for game, *columns in games for each in zip(*columns)]


def test_every_position_fits_the_page(games):
    for game, state, _, after in each_decision(games):
        for record in (state, after):
            for observer in (None, 0):
                lines = game.to_text(record, observer).splitlines()
                assert max(map(len, lines)) <= render.WIDTH, lines
                assert len(lines) < (20 if observer == 0 else 40)


def test_every_legal_action_has_words_of_its_own(games):
    seen = np.zeros(NUM_ACTIONS, bool)
    for game, records, *_ in games:
        for state, mask in zip(records, game.legal_action_mask(np.array(records))):
            for observer in (None, int(state["current_player"])):
                words = [game.describe_action(state, int(a), observer) for a in np.flatnonzero(mask)]
                assert len(set(words)) == len(words), words
            seen |= mask
    assert seen.mean() > 0.95


def test_words_name_the_tiles_of_the_action(games):
    for game, state, action, _ in each_decision(games):
        text = game.action_to_string(action)
        name = text.split()[-1]
        if name in KIND_NAMES:
            image, _, number = name.partition("-")
            colour = f"{render.COLOUR_WORDS[int(number)]} " if number else ""
            assert f" {colour}{image.removesuffix('s')}" in game.describe_action(state, action)


def test_words_tell_nothing_of_the_order_of_the_pool(games):
    """The picture, the words of actions and the hint are the same in all worlds; so is the telling of what draws nothing."""
    told_apart = 0
    for game, records, actions, afters in games:
        worlds = game.determinize(np.array(records), 0, np.arange(len(records), dtype=np.uint64))
        for state, world, action, after in zip(records, worlds, actions, afters):
            player = int(state["current_player"])
            assert game.to_text(state, player) == game.to_text(world, player)
            assert game.describe_action(state, action) == game.describe_action(world, action)
            assert game.hint(state) == game.hint(world)
            if state["pool_size"] == after["pool_size"]:
                assert game.tell(state, action, after, 0) == game.tell(world, action, after, 0)
            told_apart += game.to_text(state) != game.to_text(world)
    assert told_apart > 300


def test_the_telling_follows_the_rules_to_the_next_question(games):
    public = ["tiles", "complete", "scores", "phase", "current_player", "pool_size", "last_turns", "legal", "winners"]
    for game, state, action, after in each_decision(games):
        *_, (_, _, reached) = render.decisions(game.config, state, action)
        for name in public:
            assert np.array_equal(reached[name], after[name]), name


def test_what_is_told_adds_up(games):
    """Tiles told as drawn are the tiles that left the pool; every demand and every group is told by its words."""
    for game, state, action, after in each_decision(games):
        lines = game.tell(state, action, after, None)
        drawn = " ".join(re.findall(r"draws ([^:;.]*)", " ".join(lines)))
        assert sum(map(int, re.findall(r"\d+", drawn))) == int(state["pool_size"]) - int(after["pool_size"])
        if action < NO_SWAP or STOP < action < NO_SWAP + 3 + len(KIND_NAMES):
            words = game.describe_action(state, action).removesuffix(", completes the group")
            assert lines[0].startswith(f"Player {int(state['current_player'])} {words}")
        assert all(line[0].isupper() and line.endswith(".") and len(line) < 120 for line in lines)
        assert ("That was the last turn." in lines) == (after["phase"] == Phase.OVER)
