"""PPO in one file, in the manner of CleanRL: masks, a vector environment, nothing hidden.

    pip install 'stinglab[train]' && python examples/cleanrl_ppo.py --steps 200000

Everything a reader may want to change is in this file; what it asks of the environment is Gymnasium's VectorEnv.
"""

import argparse

import gymnasium
import numpy as np
import torch
from torch import nn

import sting_env  # noqa: F401  # registers stinglab/Sting-v0

GAMMA, LAMBDA, CLIP, ENTROPY, VALUE = 1.0, 0.95, 0.2, 0.01, 0.5


class Agent(nn.Module):
    """An actor and a critic, two hidden layers each."""

    def __init__(self, observations, actions, width=128):
        super().__init__()
        self.actor = nn.Sequential(
            nn.Linear(observations, width), nn.Tanh(), nn.Linear(width, width), nn.Tanh(), nn.Linear(width, actions)
        )
        self.critic = nn.Sequential(
            nn.Linear(observations, width), nn.Tanh(), nn.Linear(width, width), nn.Tanh(), nn.Linear(width, 1)
        )
        nn.init.orthogonal_(self.actor[-1].weight, 0.01)

    def policy(self, observations, masks):
        """Return the distribution over legal actions. The score of an illegal one is finite, so that its gradient is too."""
        scores = self.actor(observations.float() / 4).masked_fill(~masks, -1e8)
        return torch.distributions.Categorical(logits=scores)

    def value(self, observations):
        """Return values [B]."""
        return self.critic(observations.float() / 4).squeeze(1)


def entropy_of(distribution):
    """Return the entropy of each row: what is illegal has probability 0 and counts nothing."""
    return -(distribution.probs * distribution.logits.clamp_min(-1e4)).sum(dim=1)


def advantages_of(rewards, values, dones, last_value):
    """Return generalized advantages [T, N]; dones[t] ends the episode that rewards[t] was paid in."""
    found, ahead = torch.zeros_like(rewards), torch.zeros_like(last_value)
    for t in reversed(range(len(rewards))):
        following = last_value if t == len(rewards) - 1 else values[t + 1]
        alive = 1.0 - dones[t]
        delta = rewards[t] + GAMMA * alive * following - values[t]
        found[t] = ahead = delta + GAMMA * LAMBDA * alive * ahead
    return found


def main(steps=20_000, rows=16, rollout=128, epochs=4, minibatch=512, opponents=("random",), seed=0, **options):
    """Return the mean payoff of the episodes in the first and in the last rollout."""
    torch.set_num_threads(1)
    torch.manual_seed(seed)
    env = gymnasium.make_vec(
        "stinglab/Sting-v0", num_envs=rows, vectorization_mode="vector_entry_point", opponents=list(opponents),
        **{"num_players": 2, "rounds": 1} | options,
    )  # fmt: skip
    agent = Agent(env.single_observation_space.shape[0], env.single_action_space.n)
    optimizer = torch.optim.Adam(agent.parameters(), lr=5e-4, eps=1e-5)
    observation, infos = env.reset(seed=seed)
    history = []
    for _ in range(max(1, steps // (rows * rollout))):
        seen, masks, actions, log_probs, values, rewards, dones, paid = ([] for _ in range(8))
        for _ in range(rollout):
            seen.append(torch.from_numpy(observation))
            masks.append(torch.from_numpy(infos["action_mask"] > 0))
            with torch.no_grad():
                policy = agent.policy(seen[-1], masks[-1])
                actions.append(policy.sample())
                log_probs.append(policy.log_prob(actions[-1]))
                values.append(agent.value(seen[-1]))
            # The next episode begins in the step that ends one (SAME_STEP): every row is a decision of the learner's.
            observation, reward, terminated, _, infos = env.step(actions[-1].numpy())
            rewards.append(torch.from_numpy(reward).float())
            dones.append(torch.from_numpy(terminated).float())
            paid += infos["final_info"]["return"][terminated].tolist() if terminated.any() else []
        history.append(float(np.mean(paid)) if paid else float("nan"))
        with torch.no_grad():
            last_value = agent.value(torch.from_numpy(observation))
        rewards, values, dones = torch.stack(rewards), torch.stack(values), torch.stack(dones)
        advantages = advantages_of(rewards, values, dones, last_value)
        targets = (advantages + values).flatten()
        seen, masks, actions, log_probs = (torch.cat(parts) for parts in (seen, masks, actions, log_probs))
        advantages = advantages.flatten()
        for _ in range(epochs):
            for chosen in torch.randperm(len(actions)).split(minibatch):
                policy = agent.policy(seen[chosen], masks[chosen])
                ratio = (policy.log_prob(actions[chosen]) - log_probs[chosen]).exp()
                advantage = advantages[chosen]
                advantage = (advantage - advantage.mean()) / (advantage.std() + 1e-8)
                gain = torch.min(ratio * advantage, ratio.clamp(1 - CLIP, 1 + CLIP) * advantage).mean()
                value_loss = (agent.value(seen[chosen]) - targets[chosen]).square().mean()
                loss = -gain + VALUE * value_loss - ENTROPY * entropy_of(policy).mean()
                optimizer.zero_grad()
                loss.backward()
                nn.utils.clip_grad_norm_(agent.parameters(), 0.5)
                optimizer.step()
    print(f"payoff against {', '.join(opponents)}: {history[0]:+.3f} at first, {history[-1]:+.3f} at last")
    return history[0], history[-1]


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=20_000)
    parser.add_argument("--opponents", nargs="+", default=["random"])
    parser.add_argument("--seed", type=int, default=0)
    main(**vars(parser.parse_args()))
