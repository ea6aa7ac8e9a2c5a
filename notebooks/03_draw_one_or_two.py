# %% [markdown]
# # 3. Draw one card or two?
#
# "Draw only 1 card if you have many cards in your hand. Draw 2 cards if you are 'stuck' with only a few cards in your
# hand." So says the rulebook of Sting. Is it good advice?
#
# Positions are taken as they arise in play. From each, the game is played on twice in the same world: once after drawing
# one card, once after drawing two. All later decisions are made by a stated agent that sees only what it may. Undrawn cards
# lie in a stack for each seat, so that both futures share their luck.
#
# The full study is in `docs/study/draw`; here it is run in small, step by step.

# %%
import os
import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

from agents.registry import make_agent
from analysis import findings, hypotheses, pictures
from analysis.advise import advise
from analysis.datasets import MEASURES, positions
from analysis.plans import plan
from analysis.statistics import clustered_mean

SMALL = os.environ.get("STINGLAB_NOTEBOOK_SIZE") == "small"
STATES, WORLDS = (120, 4) if SMALL else (5000, 32)
DATA = Path(tempfile.mkdtemp()) if SMALL else Path("runs/notebooks")
study = plan("draw", players=(2,), states=STATES, worlds=WORLDS, data=DATA, report=lambda text: None)

# %% [markdown]
# ## The data: one row for each position

# %%
data = study.main(2)
print(f"{len(data)} positions of {data.games} games; a player is asked {data.asked_per_game:.1f} times a round")
print(sorted(data.columns)[:12], "...")

# %% [markdown]
# Two futures in the same world differ less than two in different ones. So many times fewer worlds are needed:

# %%
print({measure: round(findings.cut(data, measure), 2) for measure in MEASURES})

# %% [markdown]
# ## The chart
#
# Stuckness was defined before looking: 0 free, something can be played without drawing; 1 loose, one card more would do and
# at least one in four unseen cards is such a card; 2 tight, fewer are; 3 dead, two cards are missing.

# %%
cells = {measure: findings.chart(data, measure) for measure in MEASURES}
figure = pictures.chart(study.question, cells, f"Draw one card or two? {len(data)} positions")
pictures.save(figure, DATA / "chart.png")
plt.figure(figsize=(12, 9))
plt.imshow(plt.imread(DATA / "chart.png"))
plt.axis("off")
plt.show()

# %% [markdown]
# ## The hint as hypotheses, written down before

# %%
for tested in hypotheses.test([data], "win"):
    e = tested.estimate
    print(tested.name, hypotheses.WORDS[tested.name], f"| {100 * e.mean:+.1f} ({100 * e.low:+.1f} to {100 * e.high:+.1f})",
          f"| {tested.verdict}")  # fmt: skip

# %% [markdown]
# ## Rules, and what they are worth
#
# Gains on always drawing one, in percentage points of the share of rounds won, for a decision. What was fitted was fitted on
# half of the games and is valued on the other half.

# %%
for judged in findings.rule_table(data):
    e = judged.gain["win"]
    print(f"{judged.name:>52}  two in {100 * judged.chosen:3.0f}%  {100 * e.mean:+.2f} ± {100 * (e.high - e.mean):.2f}")

# %% [markdown]
# ## By threes
#
# A set or run takes three cards and the turn's discard one more. With h cards, drawing d leaves h + d - 1 after the discard:
# a multiple of three can go out. Drawing two does that with 2, 5 or 8 cards, drawing one with 3, 6 or 9.

# %%
hand, difference = data.columns["hand_size"], data.difference("win")
for rest in range(3):
    rows = (hand % 3 == rest) & (hand < 10)
    e = clustered_mean(difference[rows], data.game_numbers[rows])
    found = f"{100 * e.mean:+.1f} ± {100 * (e.high - e.mean):.1f}"
    print(f"hand = {rest} modulo 3: two less one {found} ({e.positions} positions)")

# %% [markdown]
# ## One position
#
# Advice about a single position is another question: the player does not see the other hands, so worlds are dealt from all
# that fit what it has seen, uniformly.

# %%
row = int(np.argmax(np.abs(data.difference("win", "first"))))
state = positions(data.question, data.settings, data.part(np.array([row])).columns)
game = data.settings.game(data.question)
print(game.to_text(state[0], int(state["current_player"][0])))
found, best = advise(game, state, make_agent("greedy", game), worlds=40 if SMALL else 2000)
for advice in found:
    print(f"{advice.text:>20}: {100 * advice.win.mean:.1f}% ± {100 * (advice.win.high - advice.win.mean):.1f}")

# %% [markdown]
# ## In plain words
#
# **The answer.** Draw one card. In the full study (some 20,000 positions for each of 2, 3, 4 and 6 players, 64 worlds each,
# `greedy` playing on) always drawing two costs 1.9 (six players) to 4.7 (two players) percentage points of the share of
# rounds won at every decision, and following the rulebook's hint 0.2 to 3.1. The first half of the hint holds for winning
# rounds: with eight cards or more two is worse, by 1.5 to 2.5 points. The second half does not: when stuck with four cards
# or fewer two is worse too, by 2.6 to 6.5 points on average, and with a single card by 14 to 18.
#
# The exception is not "few" but "two or five". Stuck with exactly two cards, a second card drawn can make the three of a
# set or run and the discard that go out: two is better by 0.7 points (two players), 4 (three), 6 (four) and 12 (six).
# This was seen in the chart and then tested on new positions, where it held for three players and more; for two
# players the gain in wins is too close to tell.
#
# For points the matter is finer: in the middle of the hand, five to eight cards, two is a little better with three players
# and more where `greedy` plays on. The bot `planner` draws two only with two cards neither of which can be played.
#
# **How sure.** Intervals are clustered by game; cells of the chart are corrected for their number; whatever was picked or
# fitted is valued on data that had no part in it; on a toy game whose answer is known the same code finds sign, size and
# threshold, and nothing where nothing is. Agents that differ in nothing but the draw rule, on the same deals, lose what the
# rollouts foretell to first order: the hint costs 10.4 points of the share of rounds won with two players (foretold: 13.0),
# 0.35 with six (foretold: 0.34).
#
# **What it does not prove.** A value is the value for players who go on as these do, and how much a card too many costs
# hangs most on them. `greedy` and `planner` give their piles to the largest hand, and with four players and more a card more
# at the start makes yours the largest: where `greedy` plays on that costs a player stuck with ten cards 4 to 20 points,
# where `rulebook` does nothing; where `planner` does, which holds cards back, two costs 9 to 29 points with eight cards or
# more. With `rulebook` playing on, two players stuck with two cards should draw one. The positions are those of bots, not
# of people. One round is judged here; over games of five rounds the share of games won shifts by less, and no clear answer
# turns round.
