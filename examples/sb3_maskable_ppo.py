"""MaskablePPO of sb3-contrib learns a seat of Sting against a bot.

pip install 'stinglab[train]' && python examples/sb3_maskable_ppo.py --steps 200000
"""

import argparse

import numpy as np
import torch
from sb3_contrib import MaskablePPO

from sting_env import StingGame
from tabletop.adapters.sb3 import SelfPlayVecEnv


def play(model, env, episodes):
    """Return what the learner is paid in so many episodes. Masks go along: without them `predict` plays illegal actions."""
    observation, paid = env.reset(), []
    while len(paid) < episodes:
        actions, _ = model.predict(observation, action_masks=env.action_masks())
        observation, _, _, infos = env.step(actions)
        paid += [info["episode"]["r"] for info in infos if "episode" in info]
    return float(np.mean(paid))


def main(steps=20_000, rollout=128, opponents=("random",), seed=0, episodes=200, **options):
    """Return the learner's mean payoff before and after; it is 0 among equals."""
    torch.set_num_threads(1)
    game = StingGame(**{"num_players": 2, "rounds": 1} | options)
    env = SelfPlayVecEnv(game, num_envs=16, opponents=list(opponents), seed=seed)
    # gamma 1: payment comes at the end, and a discount would make turns of many decisions look worse than they are.
    model = MaskablePPO(
        "MlpPolicy", env, n_steps=rollout, batch_size=512, n_epochs=4, gamma=1.0, ent_coef=0.01, seed=seed,
        policy_kwargs={"net_arch": [128, 128]},
    )  # fmt: skip
    fresh = SelfPlayVecEnv(game, num_envs=16, opponents=list(opponents), seed=seed + 1)
    before = play(model, fresh, episodes)
    model.learn(steps)
    after = play(model, fresh, episodes)
    print(f"payoff against {', '.join(opponents)}: {before:+.3f} before, {after:+.3f} after {steps} decisions")
    return before, after


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=20_000)
    parser.add_argument("--opponents", nargs="+", default=["random"])
    parser.add_argument("--seed", type=int, default=0)
    main(**vars(parser.parse_args()))
