"""Sting in pictures and words: a person can follow it, and nobody learns from it what is hidden."""

import re

import numpy as np
import pytest

from sting_env import StingGame, render
from sting_env.rules import NUM_ACTIONS, Phase
from sting_env.text import COLOUR_WORDS
from tests.sting.players import choose, fresh
from tests.sting.table import Table, run, set_of

ANSI = re.compile(r"\x1b\[[\d;]*m")


def picture(table, observer=None, **options):
    return render.to_text(table.game.config, table.states[0], observer, **options)


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


def middle_of_a_game():
    return Table(
        [["R6", "R7", "B5", "G5", "D", "W", "PASS"], ["Y1", "BACK"], ["G1", "G2"]],
        [
            run(1, "R3", "W", "R5"),
            set_of(0, "B7", "G7", "D"),
            run(0, "Y4", "S", "Y6"),
            run(2, "G1", "W", "G3", "D", "G5"),
        ],
        discard=["Y10", "Y9", "R1", "B1", "G9", "B4"],
        totals=[12, 0, 104],
        round=2,
        turn=13,
    )


PICTURE = """
Sting: round 3 of 5   turn 14   dealer: player 2
draw pile: 73 cards   discard pile: B4 on top (below it G9 B1 R1 and 2 more)

  player 1   2 cards   total   0     3 on the table
      run 0: R3 W=R4 R5 (3)

  player 2   2 cards   total 104    10 on the table
      run 3: G1 W=G2 G3 D=G4 G5 (10)

> you        7 cards   total  12     9 on the table
      set 1: B7 G7 D=R/Y7 (6)   run 2: Y4 S=Y5 Y6 (3, fixed)
      hand: R6 R7   B5   G5   W D   PASS   (costs 20)

Your turn: make a play, or discard and end the turn.
""".strip()


def test_a_person_reads_the_whole_table():
    assert picture(middle_of_a_game(), 0) == PICTURE


def test_others_see_how_many_cards_are_in_a_hand_and_not_which():
    text = picture(middle_of_a_game(), 1)
    assert "hand: Y1   BACK   (costs 2)" in text
    assert text.count("hand:") == 1
    assert "player 0   7 cards" in text
    assert "Player 0's turn: make a play" in text


@pytest.mark.parametrize("options", [{}, {"open_hands": True}])
def test_open_hands_and_the_full_picture_show_every_hand(options):
    table = Table([["R6", "R7"], ["Y1", "BACK"]], config=options)
    assert picture(table).count("hand:") == 2
    assert picture(table, 0).count("hand:") == (2 if options else 1)


def test_a_held_card_stands_out():
    table = Table([["R6", "R7", "B5"], ["Y1"]], [run(1, "R3", "W", "R5", "R6")], discard=["R7", "R2"]).play("take")
    assert "HELD: R2, to be placed at once" in picture(table, 1)
    assert "Player 0's turn: place the red 2, in a new pile or on one that lies there." in picture(table, 1)


def test_the_target_is_told_where_there_is_one():
    table = Table([["R6"], ["Y1"]], config={"rounds": None, "target_score": 100})
    assert picture(table).startswith("Sting: round 1 or to 100 points")


def test_a_play_being_asked_about_is_told_in_words():
    table = middle_of_a_game().play("set 5 B G *")
    assert picture(table, 1).endswith("Player 0 lays 5s (blue, green, wild): which wild?")
    table.play("wild D")
    assert picture(table, 0).endswith("You lay 5s (blue, green, Double): in front of whom?")
    table.play("seat +2", "add D") if "add D" in table.legal else table.play("seat +2", "add W")
    assert picture(table, 2).endswith("Player 0 adds the Wild Sting to a pile: which pile?")
    table.play("pile 0")
    assert picture(table, 1).endswith("Player 0 adds the Wild Sting to an end of run 0 (red 3-5): which end?")


def test_a_passed_pile_is_told_in_words():
    table = middle_of_a_game().play("pass")
    assert picture(table, 1).endswith("Player 0 passes set 1 (7s) on: to whom?")
    table.play("seat +1")
    assert picture(table, 1).endswith("Player 0 passes set 1 (7s) to you: accept it, or play Take-it-Back.")
    table.play("return")
    assert picture(table, 0).endswith("Player 1 returns set 1 (7s) to you: accept it, or play Take-it-Back.")
    assert picture(table, 1).endswith("You return set 1 (7s) to player 0: accept it, or play Take-it-Back.")


def test_the_end_names_the_winners():
    table = Table([["R6"], ["Y1"], ["W"]], round=4, totals=[7, 6, 3]).play("discard R6")
    assert picture(table, 0).endswith("The game is over: you and player 1 won with 7 points.")
    assert picture(table).startswith("Sting: round 5 of 5   dealer")
    assert picture(table, 2).endswith("player 0 and player 1 won with 7 points.")


def test_actions_in_plain_words():
    words = in_words(middle_of_a_game())
    assert words["set 5 B G *"] == "lays 5s (blue, green, wild)"
    assert words["run R6-8 *8"] == "lays red 6-7-wild"
    assert words["add R6"] == "adds red 6 to run 0 (red 3-5)"
    assert words["add W"] == "adds the Wild Sting to a pile"
    assert words["pass"] == "passes set 1 (7s) on"
    assert words["discard R6"] == "discards red 6"
    assert words["discard PASS"] == "discards a Pass-a-Pile"
    words = in_words(middle_of_a_game(), observer=0)
    assert words["pass"] == "pass set 1 (7s) on"
    assert words["add R6"] == "add red 6 to run 0 (red 3-5)"
    assert words["discard D"] == "discard a Double Sting"


def test_what_is_not_asked_is_told_at_once():
    """Two players: in front of whom is clear; one kind of wild in hand, one pile, one end."""
    table = Table([["R6", "R7", "D", "B3", "B2"], ["Y1"]], [run(1, "B4", "B5", "B6")], discard=["Y2", "B7"])
    words = in_words(table)
    assert words["run R6-8 *8"] == "lays red 6-7-Double in front of player 1"
    assert words["add B3"] == "adds blue 3 to run 0 (blue 4-6)"
    assert words["take"] == "takes blue 7 from the discard pile"
    assert in_words(table.play("take"))["add B7"] == "adds blue 7 to run 0 (blue 4-6)"
    table = Table([["W", "B3"], ["Y1"]], [run(1, "B1", "B2", "B3")])
    assert in_words(table)["add W"] == "adds the Wild Sting to the high end of run 0 (blue 1-3), as blue 4"


def test_both_ends_of_a_run_and_the_bridge():
    low = "add the Wild Sting to the low end of run 0 (blue 4-8), as blue 3, and blue 2 beyond it"
    table = Table([["W", "B2", "B9"], ["Y1"]], [run(1, "B4", "W", "B6", "D", "B8")])
    assert in_words(table, 0)["add W"] == low
    table = Table([["W", "B2", "B10"], ["Y1"]], [run(1, "B4", "W", "B6", "D", "B8")]).play("add W")
    assert in_words(table, 0) == {
        "end low": low,
        "end high": "add the Wild Sting to the high end of run 0 (blue 4-8), as blue 9, and blue 10 beyond it",
    }


def test_substitution_in_plain_words():
    table = Table([["R4", "Y7", "B9", "B1"], ["Y1"]], [run(1, "R3", "W", "R5"), set_of(0, "B7", "G7", "W", "D")])
    words = in_words(table)
    assert words["substitute R4"] == "puts red 4 in the place of the Wild Sting in run 0 (red 3-5)"
    assert words["substitute Y7"] == "puts yellow 7 in the place of a wild in set 1 (7s)"
    words = in_words(table.play("substitute Y7"))
    assert words["wild D"] == "puts yellow 7 in the place of the Double Sting in set 1 (7s)"


def test_answers_to_a_pass_in_plain_words():
    table = middle_of_a_game().play("pass", "seat +1")
    assert in_words(table, 1) == {
        "accept": "accept set 1 (7s)",
        "return": "play Take-it-Back: set 1 (7s) goes back to player 0",
    }
    assert in_words(table, 0)["return"] == "plays Take-it-Back: set 1 (7s) goes back to you"


def test_a_play_is_told_once_and_complete():
    table = middle_of_a_game()
    assert told(table, "set 5 B G *", "wild D", "seat +2", observer=2) == [
        "Player 0 lays 5s (blue, green, Double) in front of you."
    ]
    assert told(table, "discard R7") == ["Player 0 discards red 7."]


def test_drawn_cards_are_told_to_who_drew_them():
    def table():
        return Table([["R6"], ["Y1"]], phase="DRAW", stacks=[["R1", "W", "B2"], []])

    assert told(table(), "draw 2", observer=0) == ["You draw two cards: B2 and W."]
    assert told(table(), "draw 2", observer=1) == ["Player 0 draws two cards."]
    assert told(table(), "draw 1") == ["Player 0 draws one card: B2."]


def test_a_reshuffle_is_told():
    table = Table([["R6"], ["Y1"]], phase="DRAW", stacks=[[], []])
    lines = told(table, "draw 1", observer=1)
    assert lines[1:] == ["The draw pile was empty: the discard pile was shuffled to become the new one."]


def test_the_end_of_a_round_is_told_with_its_points():
    table = Table([["R6"], ["Y1", "W"]], totals=[12, 3])
    assert told(table, "discard R6", observer=0) == [
        "You discard red 6.",
        "Round 1 is over: you are out.",
        "Points of the round: you 0, player 1 6.",
        "Totals: you 12, player 1 9.",
    ]
    table = Table([["R6", "R8"], ["Y1", "W"]], config={"max_turns": 1, "rounds": 1})
    assert told(table, "discard R6", observer=1) == [
        "Player 0 discards red 6.",
        "Round 1 is over: its turns are used up and nobody is out.",
        "Points of the round: player 0 1, you 6.",
        "Totals: player 0 1, you 6.",
    ]


def test_cards_are_painted_and_nothing_else_changes():
    table = middle_of_a_game()
    plain, painted = picture(table, 0), picture(table, 0, colour=True)
    assert "\x1b" not in plain
    assert ANSI.sub("", painted) == plain
    for card in ("\x1b[31mR3\x1b[0m", "\x1b[1;35mW=R4\x1b[0m", "\x1b[36mPASS\x1b[0m", "\x1b[94mB5\x1b[0m"):
        assert card in painted
    words = render.in_colour("lays red 3-wild-5, 5s (blue, Double), the Wild Sting, Take-it-Back; tired Test W3 B")
    assert len(ANSI.findall(words)) == 2 * 5
    assert "\x1b[31mred 3-wild-5\x1b[0m" in words


@pytest.mark.parametrize("phase", [p for p in Phase if p != Phase.OVER])
def test_every_phase_has_a_hint(phase):
    hint = render.hint(StingGame().config, {"phase": phase})
    assert "lowest total wins" in hint
    assert max(map(len, hint.splitlines())) <= 120


def test_a_record_without_a_game_says_so():
    game = StingGame()
    assert game.to_text(game.new_states(1)[0]) == "Sting: no game in this record yet"


@pytest.fixture(scope="module")
def games():
    """Records from games of hungry and careless players: all phases but OVER, all numbers of players."""
    game = StingGame(num_players=6, rounds=2)
    states = fresh(game, np.arange(50), num_players=2 + np.arange(50) % 5)
    rng = np.random.default_rng(1)
    kept = []
    for _ in range(150):
        game.step(states, choose(rng, game.legal_action_mask(states), np.linspace(0.5, 1, 50)))
        kept.append(states[states["phase"] != Phase.OVER].copy())
    records = np.concatenate(kept)
    chosen = [rng.permutation(np.flatnonzero(records["phase"] == phase))[:40] for phase in range(Phase.OVER)]
    assert min(map(len, chosen)) > 5
    return game, records[np.concatenate(chosen)], records[::7]


def test_every_position_fits_the_page(games):
    game, records, _ = games
    for state in records:
        for observer in (None, 0, int(state["num_players"]) - 1):
            lines = game.to_text(state, observer).splitlines()
            assert max(map(len, lines)) <= render.WIDTH
            assert len(lines) < 45


def test_the_picture_tells_nothing_of_what_is_hidden(games):
    game, records, _ = games
    told_apart = 0
    for observer in (0, 1):
        worlds = game.determinize(records, observer, np.arange(len(records), dtype=np.uint64))
        for state, world in zip(records, worlds):
            assert game.to_text(state, observer) == game.to_text(world, observer)
            told_apart += game.to_text(state) != game.to_text(world)
    assert told_apart > len(records)


def test_every_legal_action_has_words_of_its_own(games):
    game, records, more = games
    records = np.concatenate([records, more])
    masks = game.legal_action_mask(records)
    seen = np.zeros(NUM_ACTIONS, bool)
    for state, mask in zip(records, masks):
        for observer in (None, int(state["current_player"])):
            words = [game.describe_action(state, int(a), observer) for a in np.flatnonzero(mask)]
            assert len(set(words)) == len(words), words
        seen |= mask
    assert seen.mean() > 0.75


def test_words_name_the_colour_of_the_card(games):
    game, records, _ = games
    masks = game.legal_action_mask(records)
    for state, mask in zip(records[::3], masks[::3]):
        for action in np.flatnonzero(mask):
            text = game.action_to_string(int(action))
            card = re.fullmatch(r"(?:add|discard|substitute) ([RBGY])(\d+)", text)
            if card:
                colour = next(word for word in COLOUR_WORDS if word[0].upper() == card[1])
                assert f"{colour} {card[2]}" in game.describe_action(state, int(action))
