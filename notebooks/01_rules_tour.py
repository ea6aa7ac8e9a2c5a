# %% [markdown]
# # 1. The two games, and what a player sees
#
# A tour of Sting and Stingy as the engine plays them: positions as text, legal actions in words, observations as
# numbers, many games at once, and what a player can't know dealt anew. Every rule has an id (S1 to S33, G1 to G22).
#
# These notebooks are percent scripts: run them cell by cell in an editor, open them with Jupytext, or run them whole with
# Python. `STINGLAB_NOTEBOOK_SIZE=small` makes them quick.

# %%
import os

import numpy as np

from sting_env import VARIANTS, StingGame
from stingy_env import StingyGame

SMALL = os.environ.get("STINGLAB_NOTEBOOK_SIZE") == "small"
GAMES = 64 if SMALL else 4096

# %% [markdown]
# ## Sting: get rid of your cards by giving them to the others
#
# A game of three players, from the eyes of the player on turn. Hidden hands are counted, not shown.

# %%
game = StingGame(num_players=3)
states = game.new_states(1)
game.reset(states, seeds=[7])
player = int(states["current_player"][0])
print(game.to_text(states[0], observer=player))

# %% [markdown]
# The first decision of a turn is the one that the study in notebook 3 is about: one card or two (S6)? The choice is
# announced before any card is seen.

# %%
legal = np.flatnonzero(game.legal_action_mask(states)[0])
print([game.action_to_string(int(a)) for a in legal])
print(game.hint(states[0]))

# %%
game.step(states, [game.string_to_action("draw 2")])
legal = np.flatnonzero(game.legal_action_mask(states)[0])
print(game.to_text(states[0], observer=player))
print([game.describe_action(states[0], int(a), player) for a in legal])

# %% [markdown]
# An illegal action is an error that names itself; nothing has changed.

# %%
try:
    game.step(states, [game.string_to_action("draw 1")])
except ValueError as error:
    print(str(error)[:200], "...")

# %% [markdown]
# ## What a network sees
#
# An observation is a record of small whole numbers with names; the same memory is the flat vector. It holds what the player
# may know and nothing else: deal what is hidden anew, and it does not change.

# %%
observation = game.observe(states)
print(observation.dtype.itemsize, "numbers; hand:", np.flatnonzero(observation["hand"][0]).tolist())
worlds = game.determinize(states, player, seeds=np.array([1], np.uint64), worlds=5)
same = [bool(np.array_equal(game.observe(worlds[i : i + 1]), observation)) for i in range(5)]
hands = {tuple(np.flatnonzero(world["hand"][(player + 1) % 3])) for world in worlds}
print("observations equal:", same, "| different hands of the next player:", len(hands))

# %% [markdown]
# ## Many games at once
#
# Random play, all lanes in one compiled pass for each decision. Rewards sum to zero.

# %%
batch = game.new_states(GAMES)
game.reset(batch, seeds=11)
keys = np.arange(GAMES, dtype=np.uint64)
decisions = 0
while not game.terminated(batch).all():
    game.step(batch, game.random_actions(batch, keys))
    decisions += 1
print(f"{GAMES} games, the longest of {decisions} decisions; sum of returns {game.returns(batch).sum():.4f}")

# %% [markdown]
# ## Options and variants

# %%
for name, config in VARIANTS.items():
    print(f"{name:>16}", {k: v for k, v in config.to_dict().items() if k != "num_players"})

# %% [markdown]
# ## Stingy: swap tiles to complete groups
#
# Everything lies open but the order of the pool. A turn is a swap, which can't be refused, then new tiles.

# %%
stingy = StingyGame(num_players=3)
table = stingy.new_states(1)
stingy.reset(table, seeds=[5])
print(stingy.to_text(table[0], observer=int(table["current_player"][0])))
legal = np.flatnonzero(stingy.legal_action_mask(table)[0])
print(len(legal), "legal actions, such as:", [stingy.action_to_string(int(a)) for a in legal[:5]])

# %% [markdown]
# ## In plain words
#
# **What this shows.** Both games can be played, watched and batched through the same few calls; a position can be written
# as text and JSON and read back; what a player sees never depends on what is hidden.
#
# **How sure.** The rules are checked against a second implementation written from the rules alone, decision by decision, and
# by tests named after every rule id. That observations leak nothing is tested by dealing hidden cards anew.
#
# **What it does not prove.** Where the rulebooks are silent or can be read two ways, the engine follows one reading; the
# others are options where they are common. Another group may play by another reading, and then has another game.
