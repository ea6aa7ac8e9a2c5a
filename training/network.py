"""The policy network in torch, and as a policy of sb3-contrib: the same function as `agents.policy.PolicyNetwork`."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from gymnasium import spaces
from sb3_contrib.common.maskable.policies import MaskableActorCriticPolicy
from torch import nn

from agents.policy import ROW_SUM, NetworkShape

MASKED = -1e9  # logit of an illegal action


class TorchNetwork(nn.Module):
    """Scores of all actions and the value, from flat observations int8 [B, D] and masks bool [B, A]."""

    def __init__(self, shape: NetworkShape, scale: np.ndarray) -> None:
        super().__init__()
        self.shape = shape
        self.register_buffer("scale", torch.as_tensor(scale), persistent=False)
        self.input = nn.Linear(shape.num_inputs, shape.hidden)
        self.hidden = nn.Linear(shape.hidden, shape.hidden)
        self.policy = nn.Linear(shape.hidden, shape.num_actions)
        self.value = nn.Linear(shape.hidden, 1)
        if shape.rows is not None:
            self.row = nn.Linear(shape.rows[2], shape.row_width)
            self.pool = nn.Linear(shape.row_width, shape.hidden, bias=False)
            self.query = nn.Linear(shape.hidden, shape.row_width, bias=False)
            nn.init.zeros_(self.query.weight)
        nn.init.orthogonal_(self.input.weight, 2**0.5)
        nn.init.orthogonal_(self.hidden.weight, 2**0.5)
        nn.init.orthogonal_(self.policy.weight, 0.01)
        nn.init.orthogonal_(self.value.weight, 0.1)
        for layer in (self.input, self.hidden, self.policy, self.value):
            nn.init.zeros_(layer.bias)

    def forward(self, observations: torch.Tensor, masks: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Return masked logits [B, A] and values [B]."""
        shape = self.shape
        dense = [observations[:, a:b].float() * self.scale[a:b] for a, b in shape.dense]
        hidden = self.input(torch.cat([*dense, masks.float()], dim=1))
        if shape.rows is not None:
            start, count, columns, first = shape.rows
            rows = observations[:, start : start + count * columns].reshape(-1, columns)
            there = (rows != 0).any(dim=1).nonzero(as_tuple=True)[0]
            embedded = torch.relu(self.row(rows[there].float() * self.scale[start : start + columns]))
            owner = there // count
            pooled = torch.zeros(len(observations), shape.row_width).index_add(0, owner, embedded)
            hidden = hidden + self.pool(pooled / ROW_SUM)
        hidden = torch.relu(hidden)
        hidden = torch.relu(self.hidden(hidden))
        logits = self.policy(hidden)
        if shape.rows is not None and first >= 0:
            scores = (embedded * self.query(hidden)[owner]).sum(dim=1)
            flat = torch.zeros(len(observations) * count).index_add(0, there, scores)
            logits = torch.cat(
                [logits[:, :first], logits[:, first : first + count] + flat.view(-1, count), logits[:, first + count :]],
                dim=1,
            )
        return logits.masked_fill(~masks, MASKED), self.value(hidden).squeeze(1)

    def arrays(self) -> dict[str, np.ndarray]:
        """Return the weights as arrays, by the names `agents.policy` knows."""
        return {name: tensor.detach().numpy().copy() for name, tensor in self.state_dict().items()}


def log_probabilities(logits: torch.Tensor) -> torch.Tensor:
    """Return log-probabilities of masked logits [B, A]; illegal actions get a very negative number, not -inf."""
    return torch.log_softmax(logits, dim=1)


def entropy(log_probs: torch.Tensor) -> torch.Tensor:
    """Return the entropy of each row [B] in nats; illegal actions count nothing."""
    return -(log_probs.exp() * log_probs).sum(dim=1)


def sample_actions(log_probs: torch.Tensor, generator: torch.Generator) -> torch.Tensor:
    """Draw an action for each row by the cumulative sum: int64 [B], several times faster than a Categorical."""
    total = log_probs.exp().cumsum(dim=1)
    threshold = torch.rand(len(total), 1, generator=generator) * total[:, -1:]
    actions = torch.searchsorted(total, threshold, right=True).squeeze(1).clamp_max(total.shape[1] - 1)
    return torch.where(log_probs.gather(1, actions[:, None]).squeeze(1) > MASKED / 2, actions, log_probs.argmax(dim=1))


class RowPolicy(MaskableActorCriticPolicy):
    """`TorchNetwork` as a policy of MaskablePPO; observations arrive as int8 and stay so until the network."""

    def __init__(
        self,
        observation_space: spaces.Space[Any],
        action_space: spaces.Space[Any],
        lr_schedule: Any,
        shape: NetworkShape,
        scale: np.ndarray,
        **kwargs: Any,
    ) -> None:
        self.shape = shape
        self.input_scale = scale
        super().__init__(observation_space, action_space, lr_schedule, net_arch=[], **kwargs)

    def _build(self, lr_schedule: Any) -> None:
        self.network = TorchNetwork(self.shape, self.input_scale)
        self.optimizer = torch.optim.Adam(self.network.parameters(), lr=lr_schedule(1), eps=1e-5)

    def _scores(self, obs: torch.Tensor, action_masks: Any) -> tuple[torch.Tensor, torch.Tensor]:
        size = (len(obs), self.shape.num_actions)
        masks = torch.ones(size) if action_masks is None else torch.as_tensor(np.asarray(action_masks)).reshape(size)
        logits, values = self.network(obs, masks.bool())
        return log_probabilities(logits), values

    def forward(self, obs: torch.Tensor, deterministic: bool = False, action_masks: Any = None) -> Any:
        """Return actions [B], values [B, 1] and log-probabilities [B]."""
        log_probs, values = self._scores(obs, action_masks)
        actions = self._pick(log_probs, deterministic)
        return actions, values[:, None], log_probs.gather(1, actions[:, None]).squeeze(1)

    def _pick(self, log_probs: torch.Tensor, deterministic: bool) -> torch.Tensor:
        return log_probs.argmax(dim=1) if deterministic else sample_actions(log_probs, torch.default_generator)

    def evaluate_actions(self, obs: torch.Tensor, actions: torch.Tensor, action_masks: Any = None) -> Any:
        """Return values [B, 1], log-probabilities [B] of `actions` and entropies [B]."""
        log_probs, values = self._scores(obs, action_masks)
        return values[:, None], log_probs.gather(1, actions.long()[:, None]).squeeze(1), entropy(log_probs)

    def predict_values(self, obs: torch.Tensor) -> torch.Tensor:
        """Return values [B, 1]; the mask is left out, as the caller has none."""
        return self._scores(obs, None)[1][:, None]

    def _predict(self, observation: torch.Tensor, deterministic: bool = False, action_masks: Any = None) -> torch.Tensor:
        return self._pick(self._scores(observation, action_masks)[0], deterministic)
