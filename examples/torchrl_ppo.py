"""PPO of TorchRL learns a seat of Sting against a bot, masks by its MaskedCategorical.

pip install 'stinglab[trainers]' && python examples/torchrl_ppo.py --steps 50000
"""

import argparse

import gymnasium
import numpy as np
import torch
from tensordict.nn import TensorDictModule
from torch import nn
from torchrl.collectors import Collector
from torchrl.envs import GymWrapper
from torchrl.modules import MaskedCategorical, ProbabilisticActor, ValueOperator
from torchrl.objectives import ClipPPOLoss
from torchrl.objectives.value import GAE

import sting_env  # noqa: F401  # registers stinglab/Sting-v0


class MaskInObservation(gymnasium.Wrapper):
    """TorchRL reads a mask from the observation, not from the info."""

    def __init__(self, env):
        super().__init__(env)
        mask = gymnasium.spaces.MultiBinary(int(env.action_space.n))
        self.observation_space = gymnasium.spaces.Dict({"observation": env.observation_space, "action_mask": mask})

    def reset(self, **options):
        observation, info = self.env.reset(**options)
        return {"observation": observation, "action_mask": info["action_mask"]}, {}

    def step(self, action):
        observation, reward, terminated, truncated, info = self.env.step(action)
        return {"observation": observation, "action_mask": info["action_mask"]}, reward, terminated, truncated, {}


class Scores(nn.Module):
    """Scores of actions, with their mask, or values, from int8 observations."""

    def __init__(self, size, out, width=128):
        super().__init__()
        self.layers = nn.Sequential(
            nn.Linear(size, width), nn.Tanh(), nn.Linear(width, width), nn.Tanh(), nn.Linear(width, out)
        )
        nn.init.orthogonal_(self.layers[-1].weight, 0.01)

    def forward(self, observation, mask=None):
        found = self.layers(observation.float() / 4)
        return found if mask is None else (found, mask > 0)


def main(steps=8_192, batch=1024, epochs=4, minibatch=256, opponents=("random",), seed=0, **options):
    """Return the mean payoff of the episodes in the first and in the last batch."""
    torch.set_num_threads(1)
    torch.manual_seed(seed)
    game = {"num_players": 2, "rounds": 1} | options
    made = gymnasium.make("stinglab/Sting-v0", opponents=list(opponents), disable_env_checker=True, **game)
    env = GymWrapper(MaskInObservation(made), categorical_action_encoding=True)
    env.set_seed(seed)
    size, actions = made.observation_space.shape[0], int(made.action_space.n)
    actor = ProbabilisticActor(
        TensorDictModule(Scores(size, actions), in_keys=["observation", "action_mask"], out_keys=["logits", "mask"]),
        in_keys=["logits", "mask"],
        distribution_class=MaskedCategorical,
        return_log_prob=True,
    )
    critic = ValueOperator(Scores(size, 1), in_keys=["observation"])
    advantages = GAE(gamma=1.0, lmbda=0.95, value_network=critic)
    loss = ClipPPOLoss(actor, critic, clip_epsilon=0.2, entropy_coeff=0.01, critic_coeff=0.5, normalize_advantage=True)
    optimizer = torch.optim.Adam(loss.parameters(), lr=5e-4)
    history = []
    collected = {"frames_per_batch": batch, "total_frames": steps, "auto_register_policy_transforms": False}
    for data in Collector(env, actor, **collected):
        assert data["action_mask"].gather(1, data["action"][:, None]).all()  # no illegal action was taken
        done, reward = data["next", "done"].flatten(), data["next", "reward"].flatten()
        history.append(float(reward.sum() / done.sum().clamp_min(1)))
        for _ in range(epochs):
            with torch.no_grad():
                advantages(data)
            for chosen in torch.randperm(len(data)).split(minibatch):
                found = loss(data[chosen])
                optimizer.zero_grad()
                (found["loss_objective"] + found["loss_critic"] + found["loss_entropy"]).backward()
                nn.utils.clip_grad_norm_(loss.parameters(), 0.5)
                optimizer.step()
    assert np.isfinite(history).all()
    print(f"payoff against {', '.join(opponents)}: {history[0]:+.3f} at first, {history[-1]:+.3f} at last")
    return history[0], history[-1]


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=8_192)
    parser.add_argument("--opponents", nargs="+", default=["random"])
    parser.add_argument("--seed", type=int, default=0)
    main(**vars(parser.parse_args()))
