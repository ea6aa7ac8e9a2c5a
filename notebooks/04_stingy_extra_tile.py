# %% [markdown]
# # 4. Stingy: take the tile more, and is it worth a swap?
#
# Who makes no swap and has at most two single tiles may take one tile more (G16). Two questions: once no swap was made, is
# the tile more worth taking? And where there is a swap to be made, should it be left for the tile? The same machinery as
# in notebook 3 answers both: positions as they arise, both futures in the same worlds. In Stingy only the order of the pool
# is hidden, so worlds are dealt by shuffling it.

# %%
import os
import tempfile
from pathlib import Path

import numpy as np

from analysis import findings
from analysis.datasets import MEASURES
from analysis.plans import plan

SMALL = os.environ.get("STINGLAB_NOTEBOOK_SIZE") == "small"
STATES, WORLDS = (60, 4) if SMALL else (2000, 16)
DATA = Path(tempfile.mkdtemp()) if SMALL else Path("runs/notebooks")

# %% [markdown]
# ## Take the tile more?

# %%
sets = {}
for name in ("extra", "forgo"):
    study = plan(name, players=(3,), states=STATES, worlds=WORLDS, data=DATA, policies=("greedy",), report=lambda text: None)
    sets[name] = study.main(3)
extra = sets["extra"]
print(f"{len(extra)} positions, {extra.asked_per_game:.1f} for a player and game")
for measure in MEASURES:
    e = findings.mean_of(extra, extra.difference(measure), np.ones(len(extra), bool))
    print(f"the tile more less the regular number, {measure}: {e.mean:+.3f} ({e.low:+.3f} to {e.high:+.3f})")

# %%
for level, _regular, _more, e in findings.curves(extra, "margin"):
    print(f"{extra.question.across.names[level]:>6} in the pool: {e.mean:+.2f} ({e.low:+.2f} to {e.high:+.2f}) points")

# %% [markdown]
# ## Or leave a swap for it?
#
# Asked only where a bot would make a swap and the tile more is open without one.

# %%
forgo = sets["forgo"]
print(f"{len(forgo)} positions, {forgo.asked_per_game:.1f} for a player and game")
for judged in findings.rule_table(forgo):
    e = judged.gain["margin"]
    print(f"{judged.name:>50}  leaves the swap in {100 * judged.chosen:3.0f}%  {e.mean:+.2f} ± {e.high - e.mean:.2f} points")

# %% [markdown]
# ## In plain words
#
# **The answer.** Take the tile more whenever it is offered. In the full study it is worth 6.6 to 7.1 percentage points of the
# share of wins and 2.0 to 2.4 points of score, with 2, 3, 4 and 6 players, early and late, with no, one or two single
# tiles; most when the pool runs out.
#
# Whether to leave a swap for it hangs on the number of players. With three and more, leaving the swap that `greedy` would
# make for the tile is worth 2.1 to 2.8 percentage points on the average of such positions. With two players and the ghost
# it costs 2.0, and 6 to 11 once the pool holds 20 tiles or fewer. Agents that differ in nothing but this rule agree:
# `greedy` that always takes the tile wins 1 to 4 points more than its share among `greedy` with three players and more
# (with three: too close to tell), and 6 less with two.
#
# **How sure.** Intervals are clustered by game, since positions of one game depend on each other; thresholds and trees were
# fitted on half of the games and are valued on the other half. The chart by tiles in the pool and single tiles, other
# players and other rules are in `docs/study/extra` and `docs/study/forgo`.
#
# **What it does not prove.** A value is the value for players who go on as this bot does, and the swap that is given up is
# the one that the bot would make: a better swapper has more to lose. The tile more also brings the end of the game nearer
# for all; whether that helps depends on who leads. The positions are those of bots, not of people.
