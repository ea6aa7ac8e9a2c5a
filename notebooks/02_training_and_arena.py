# %% [markdown]
# # 2. Agents: who is stronger, and training one
#
# Bots meet in duplicate deals: every deal is played from every seat, so that the luck of the cards falls on all alike.
# Then a small agent is trained from nothing but its own games and the bots'.

# %%
import os
import tempfile
from pathlib import Path

from agents.arena import compare
from agents.registry import list_agents
from sting_env import StingGame
from training.train import Settings, train

SMALL = os.environ.get("STINGLAB_NOTEBOOK_SIZE") == "small"
DEALS = 60 if SMALL else 2000
STEPS = 600 if SMALL else 300_000

# %%
game = StingGame(num_players=2, rounds=1)
for name, meaning in list_agents(game).items():
    print(f"{name:>16}  {meaning}")

# %% [markdown]
# ## The arena
#
# A *block* is one deal in all seatings; blocks are independent and every interval is made of them.

# %%
result = compare(game, ["greedy", "rulebook", "random"], blocks=DEALS, seed=1)
print(result.to_markdown())

# %% [markdown]
# ## How many deals does a difference take?
#
# Deals needed to find a difference of 0.01 in payoff (one point of margin), with 5% false alarms and 80% power:

# %%
print(result.blocks_for(0.01))

# %% [markdown]
# ## Train a small agent
#
# It first imitates `greedy`, then plays itself, its own past and the bots (masked PPO). A run that is interrupted goes on.

# %%
settings = Settings(
    steps=STEPS,
    imitation=STEPS // 2,
    lanes=16 if SMALL else 128,
    rollout=32,
    batch=256,
    hidden=16 if SMALL else 128,
    row_width=8 if SMALL else 32,
    deals=50,
    evaluate_every=max(500, STEPS // 2),
    snapshot_every=max(300, STEPS // 3),
    checkpoint_every=max(300, STEPS // 3),
    seed=7,
)
folder = Path(tempfile.mkdtemp()) / "run"
run = train(folder, settings)
print("decisions learned from:", run.model.num_timesteps)

# %%
trained = compare(game, [f"checkpoint:{folder / 'best'}", "greedy", "random"], DEALS, seed=2, names=["new", "greedy", "random"])
print(trained.to_markdown())

# %% [markdown]
# ## In plain words
#
# **What this shows.** `greedy`, which plays whatever it can and lays sets and runs first, wins most rounds against
# `rulebook`, which follows the strategy suggestion of the rulebook and its draw hint; both beat random play nearly always.
# A network trained for a few minutes beats random play clearly, and does not reach `greedy`.
#
# **How sure.** Every table gives 95% intervals from independent deals, each played from every seat. At the full size of
# this notebook they are about a percentage point wide in the share of rounds won.
#
# **What it does not prove.** Being better against these bots is not being better against people, nor against every other
# bot: strength need not be transitive. A small network from one seed says nothing about what training can reach.
