"""PPO on every decision of self-play: MaskablePPO with its own collection and update.

sb3-contrib's MaskablePPO gives the hyper-parameters, schedules, logger, policy interface and `predict`. What is replaced
is how data is collected (`training.selfplay`: all learning seats, credit by seat) and the pass over it (lists of what is
not zero and of what is legal, a log-softmax instead of distribution objects). The loss is that of Schulman et al.,
2017, "Proximal Policy Optimization Algorithms", with masks as in Huang and Ontañón, 2022.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from gymnasium import spaces
from sb3_contrib import MaskablePPO
from stable_baselines3.common.logger import Logger
from stable_baselines3.common.utils import FloatSchedule

from agents.policy import Advisors, PolicyAgent, PolicyNetwork, network_shape, observation_scale
from tabletop.game import BatchGame
from training.network import RowPolicy, Secrets, actions_at, entropy, log_probabilities, places_of, sample_places
from training.selfplay import Rollout, SelfPlay
from training.sparse import Inputs, Positions, join


class SelfPlayPPO(MaskablePPO):
    """PPO for one game by self-play.

    selfplays: one for each configuration of the game that is learned, the same number of lanes each; a rollout is of one
    of them, in turn. game: a configuration for what is the same in all.
    critic: whether values come from a `Critic` that sees all cards (in a game that hides any) or from what players see.
    reward_scale: what rewards are multiplied by before they are learned from, so that returns are about 1.
    Other arguments are MaskablePPO's; n_steps is the decisions of each lane in a rollout.
    """

    def __init__(
        self,
        game: BatchGame,
        selfplays: Sequence[SelfPlay],
        *,
        hidden: int = 256,
        row_width: int = 64,
        advisors: tuple[str, ...] = (),
        critic: bool = True,
        reward_scale: float = 5.0,
        n_steps: int = 64,
        batch_size: int = 2048,
        seed: int = 0,
        **kwargs: Any,
    ) -> None:
        self.game = game
        self.selfplays = tuple(selfplays)
        self.turns = 0  # of the self-plays
        self.reward_scale = reward_scale
        self.shape = network_shape(game.spec, hidden, row_width, advisors)
        self.advisors = Advisors(game, advisors)
        self.secrets = Secrets(game)
        super().__init__(
            RowPolicy,
            None,
            n_steps=n_steps,
            batch_size=batch_size,
            policy_kwargs={
                "shape": self.shape,
                "scale": observation_scale(game.spec),
                "advisors": self.advisors,
                "num_secrets": len(self.secrets.places) if critic else 0,
            },
            seed=seed,
            device="cpu",
            _init_setup_model=False,
            **kwargs,
        )
        self.observation_space = spaces.Box(-128, 127, (game.spec.observation_size,), np.int8)
        self.action_space = spaces.Discrete(game.num_actions)
        self.n_envs = len(self.selfplays[0].states)
        self.generator = torch.Generator().manual_seed(seed)
        self.set_logger(Logger(None, []))
        self._setup_model()
        self.rollout = Rollout.empty(n_steps, self.n_envs, game)
        # The rollout's positions, what is hidden in them and foreseen of them, step by step, as the networks read them.
        self.seen: list[Positions] = []
        self.unseen: list[Inputs] = []
        self.outlooks: list[torch.Tensor] = []
        self.entropy_by_phase: dict[str, tuple[float, float]] = {}

    def _setup_model(self) -> None:
        """Make the policy and the schedules; the rollout is ours, so no buffer is made."""
        self._setup_lr_schedule()
        self.set_random_seed(self.seed)
        self.policy = RowPolicy(self.observation_space, self.action_space, self.lr_schedule, **self.policy_kwargs)
        self.clip_range: Any = FloatSchedule(self.clip_range)

    @torch.no_grad()
    def act(
        self, observations: np.ndarray, masks: np.ndarray, states: np.ndarray, ahead: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Sample the learner's actions: actions, log-probabilities, values, each [N]. Only a critic sees the last two."""
        network = self.policy.network
        positions, ids = network.read(observations, masks), np.arange(len(observations))
        self.seen.append(positions)
        scores, values, first = network.decide(positions, ids)
        if self.policy.critic is not None:
            secrets, outlook = self.secrets.read(states), torch.from_numpy(ahead * np.float32(self.reward_scale))
            self.unseen.append(secrets)
            self.outlooks.append(outlook)
            values = self.policy.critic(first, secrets, outlook, ids)
        log_probs = log_probabilities(scores)
        places = sample_places(log_probs, self.generator)
        actions = actions_at(positions, ids, places.numpy())
        return actions, log_probs.gather(1, places[:, None]).squeeze(1).numpy(), values.numpy()

    def next_selfplay(self) -> SelfPlay:
        """Return the self-play whose turn it is."""
        self.turns += 1
        return self.selfplays[(self.turns - 1) % len(self.selfplays)]

    def iterate(self) -> dict[str, float]:
        """Collect one rollout and learn from it; return what happened, by name."""
        start = time.perf_counter()
        self.seen, self.unseen, self.outlooks = [], [], []
        decisions = self.next_selfplay().collect(self.rollout, self.act)
        collected = time.perf_counter()
        self.rollout.rewards *= self.reward_scale
        self.rollout.credit(self.gamma, self.gae_lambda)
        self.num_timesteps += decisions
        self._update_learning_rate(self.policy.optimizer)
        metrics = self.update()
        metrics["decisions"] = decisions
        metrics["collect_seconds"] = collected - start
        metrics["learn_seconds"] = time.perf_counter() - collected
        return metrics

    def update(self) -> dict[str, float]:
        """Make `n_epochs` passes over the decisions of the rollout that have a known outcome."""
        rollout, network, critic = self.rollout, self.policy.network, self.policy.critic
        chosen = np.flatnonzero(rollout.trained)
        positions = join(self.seen)
        if critic is not None:
            secrets, outlooks = join(self.unseen), torch.cat(self.outlooks)
        sizes = torch.from_numpy(np.diff(positions.legal_start).astype(np.float32))
        places = places_of(positions, np.arange(len(positions)), rollout.actions.reshape(-1))
        old_log_probs = torch.from_numpy(rollout.log_probs.reshape(-1))
        advantages = torch.from_numpy(rollout.advantages.reshape(-1))
        targets = torch.from_numpy(rollout.targets.reshape(-1))
        phases = torch.from_numpy(rollout.phases.reshape(-1).astype(np.int64))
        clip = self.clip_range(self._current_progress_remaining)
        sums = np.zeros(5)
        by_phase = torch.zeros(2, len(self.game.spec.phases))
        count_by_phase = torch.zeros(len(self.game.spec.phases))
        passes = 0
        stop = False
        for _ in range(self.n_epochs):
            order = torch.from_numpy(chosen)[torch.randperm(len(chosen), generator=self.generator)]
            for batch in order.split(self.batch_size):
                if len(batch) < self.batch_size // 2 and passes:
                    continue
                scores, values, first = network.decide(positions, batch.numpy())
                log_probs = log_probabilities(scores)
                log_prob = log_probs.gather(1, places[batch]).squeeze(1)
                advantage = advantages[batch]
                advantage = (advantage - advantage.mean()) / (advantage.std() + 1e-8)
                log_ratio = log_prob - old_log_probs[batch]
                ratio = log_ratio.exp()
                policy_loss = -torch.min(advantage * ratio, advantage * ratio.clamp(1 - clip, 1 + clip)).mean()
                value_loss = (targets[batch] - values).square().mean()
                if critic is not None:
                    known = critic(first, secrets, outlooks[batch], batch.numpy())
                    value_loss += (targets[batch] - known).square().mean()
                entropies = entropy(log_probs)
                # Legal actions number from 2 to hundreds: the bonus is on the share of what entropy could be at most,
                # so that a choice of two (draw one or two) is kept open as much as a choice of fifty.
                size = sizes[batch]
                share = entropies / size.clamp_min(2).log()
                loss = policy_loss + self.vf_coef * value_loss - self.ent_coef * share.mean()
                with torch.no_grad():
                    kl = float((ratio - 1 - log_ratio).mean())
                    moved = float(((ratio - 1).abs() > clip).float().mean())
                    several = size > 1
                    by_phase[0].index_add_(0, phases[batch][several], entropies[several])
                    by_phase[1].index_add_(0, phases[batch][several], share[several])
                    count_by_phase.index_add_(0, phases[batch][several], torch.ones(int(several.sum())))
                if self.target_kl is not None and kl > 1.5 * self.target_kl:
                    stop = True
                    break
                self.policy.optimizer.zero_grad(set_to_none=True)
                loss.backward()
                torch.nn.utils.clip_grad_norm_(self.policy.parameters(), self.max_grad_norm)
                self.policy.optimizer.step()
                self._n_updates += 1
                passes += 1
                sums += (policy_loss.item(), value_loss.item(), entropies.detach().mean().item(), kl, moved)
            if stop:
                break
        means = sums / max(passes, 1)
        targeted, predicted = rollout.targets[rollout.trained], rollout.values[rollout.trained]
        variance = float(targeted.var())
        shares = (by_phase / count_by_phase.clamp_min(1)).numpy()
        self.entropy_by_phase = {
            name: (float(shares[0, i]), float(shares[1, i]))
            for i, name in enumerate(self.game.spec.phases)
            if count_by_phase[i] > 0
        }
        return {
            "policy_loss": means[0],
            "value_loss": means[1],
            "entropy": means[2],
            "kl": means[3],
            "clip_fraction": means[4],
            "explained_variance": 1 - float((targeted - predicted).var()) / variance if variance > 0 else float("nan"),
            "updates": float(passes),
        }

    def agent(self, name: str, greedy: bool = False) -> PolicyAgent:
        """Return the policy as it is now, as an agent."""
        network = PolicyNetwork(
            self.shape, observation_scale(self.game.spec), self.policy.network.arrays(), self.advisors
        )
        return PolicyAgent(name, network, greedy)
