"""The policy network in torch, and as a policy of sb3-contrib: the same function as `agents.policy.PolicyNetwork`.

Scores are given for legal actions only: [B, K], place k being a position's k-th legal action (`training.sparse`).
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from gymnasium import spaces
from sb3_contrib.common.maskable.policies import MaskableActorCriticPolicy
from torch import nn

from agents.policy import ROW_SUM, Advisors, NetworkShape, observation_scale
from tabletop.game import BatchGame, flat
from tabletop.state import field_slices
from training.sparse import (
    MASKED,
    InputLayer,
    Inputs,
    LegalScores,
    Positions,
    find_places,
    gather_rows,
    most_legal,
    read_inputs,
    read_positions,
)

TRUST = 3.0  # what the first advisor's action is scored above the others at first: chosen half of the time or more


class Affine(nn.Module):
    """The weights of a layer that works on lists."""

    def __init__(self, *shape: int, bias: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.empty(shape))
        self.bias = nn.Parameter(torch.zeros(bias))


class TorchNetwork(nn.Module):
    """Scores of the legal actions, and the value."""

    def __init__(self, shape: NetworkShape, scale: np.ndarray, advisors: Advisors) -> None:
        super().__init__()
        self.shape = shape
        self.scale = np.asarray(scale, np.float32)
        self.advisors = advisors
        self.input = Affine(shape.num_inputs, shape.hidden, bias=shape.hidden)
        self.hidden = nn.Linear(shape.hidden, shape.hidden)
        self.policy = Affine(shape.num_actions, shape.hidden, bias=shape.num_actions)
        self.value = nn.Linear(shape.hidden, 1)
        if shape.rows is not None:
            self.row = nn.Linear(shape.rows[2], shape.row_width)
            self.pool = nn.Linear(shape.row_width, shape.hidden, bias=False)
            self.query = nn.Linear(shape.hidden, shape.row_width, bias=False)
            nn.init.zeros_(self.query.weight)
        if shape.advisors:
            self.advice = nn.Linear(shape.hidden, len(shape.advisors))
            nn.init.zeros_(self.advice.weight)
            nn.init.zeros_(self.advice.bias)
            self.trust_first(TRUST)
        nn.init.orthogonal_(self.input.weight, 2**0.5)
        nn.init.orthogonal_(self.hidden.weight, 2**0.5)
        nn.init.orthogonal_(self.policy.weight, 0.01)
        nn.init.orthogonal_(self.value.weight, 0.1)
        nn.init.zeros_(self.hidden.bias)
        nn.init.zeros_(self.value.bias)

    def trust_first(self, trust: float) -> None:
        """Score what the first advisor would do above the other actions by `trust`, in every position."""
        self.advice.bias.data[0] = trust

    def read(self, observations: np.ndarray, masks: np.ndarray) -> Positions:
        """Return observations int8 [M, D] and masks bool [M, A] as the network takes them."""
        return read_positions(self.shape, self.scale, observations, masks, self.advisors.advise(observations, masks))

    def forward(self, positions: Positions, ids: np.ndarray) -> tuple[torch.Tensor, torch.Tensor]:
        """Return scores [B, K] and values [B] of the positions `ids`, int64 [B]."""
        scores, values, _ = self.decide(positions, ids)
        return scores, values

    def decide(self, positions: Positions, ids: np.ndarray) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """Return scores [B, K], values [B] and the sums of the first layer [B, H], which a `Critic` goes on from."""
        shape = self.shape
        first = InputLayer.apply(self.input.weight, self.input.bias, positions.inputs, ids)
        if shape.rows is not None:
            rows, owner, place = self._rows(positions, ids)
            embedded = torch.relu(self.row(rows))
            pooled = torch.zeros(len(ids), shape.row_width).index_add(0, owner, embedded)
            first = first + self.pool(pooled / ROW_SUM)
        hidden = torch.relu(self.hidden(torch.relu(first)))
        scores = LegalScores.apply(hidden, self.policy.weight, self.policy.bias, positions, ids)
        if shape.rows is not None and shape.rows[3] >= 0:
            asked = (place >= 0).nonzero(as_tuple=True)[0]
            if len(asked):
                own = (embedded[asked] * self.query(hidden)[owner[asked]]).sum(dim=1)
                scores = scores.flatten().index_add(0, place[asked], own).view_as(scores)
        if shape.advisors:
            trust = self.advice(hidden)
            for k in range(len(shape.advisors)):
                places = places_of(positions, ids, positions.advice[ids, k])
                scores = scores.scatter_add(1, places, trust[:, k : k + 1])
        return scores, self.value(hidden).squeeze(1), first

    def _rows(self, positions: Positions, ids: np.ndarray) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """Return the rows of a batch [R, C], whose each is and where its action stands in the scores, -1 if nowhere."""
        size = int((positions.row_start[ids + 1] - positions.row_start[ids]).sum())
        rows, owner, place = (np.empty(size, np.int64) for _ in range(3))
        first = self.shape.rows[3] if self.shape.rows is not None else -1
        gather_rows(
            positions.row_start, positions.row_slot, positions.legal_start, positions.legal, ids, first,
            most_legal(positions, ids), rows, owner, place,
        )  # fmt: skip
        return torch.from_numpy(positions.row_value[rows]), torch.from_numpy(owner), torch.from_numpy(place)

    def arrays(self) -> dict[str, np.ndarray]:
        """Return the weights as arrays, by the names `agents.policy` knows."""
        return {name: tensor.detach().numpy().copy() for name, tensor in self.state_dict().items()}


class Critic(nn.Module):
    """The value of a position to one who sees all cards: for training only, players never ask it.

    Most of what a network that sees its own cards can't foretell is what the others hold. With that known, the outcome
    says more of the decisions and less of the deal (Pinto et al., 2018; Yang et al., 2022, "PerfectDou"). It shares the
    first layer of the policy's network. Its outlook is what the player would still be paid if a bot played on
    (`training.selfplay.Foresight`), half of which it believes at first; zero where nobody looks ahead.
    """

    def __init__(self, num_secrets: int, hidden: int) -> None:
        super().__init__()
        self.secrets = Affine(num_secrets, hidden, bias=hidden)
        self.hidden = nn.Linear(hidden, hidden)
        self.value = nn.Linear(hidden, 1)
        self.outlook = nn.Linear(1, hidden, bias=False)
        self.belief = nn.Parameter(torch.tensor(0.5))
        nn.init.orthogonal_(self.secrets.weight, 2**0.5)
        nn.init.orthogonal_(self.hidden.weight, 2**0.5)
        nn.init.orthogonal_(self.value.weight, 0.1)
        nn.init.zeros_(self.hidden.bias)
        nn.init.zeros_(self.value.bias)

    def forward(self, first: torch.Tensor, secrets: Inputs, outlook: torch.Tensor, ids: np.ndarray) -> torch.Tensor:
        """Return values [B], given the sums of the network's first layer [B, H], what is hidden and the outlook [B]."""
        hidden = first + InputLayer.apply(self.secrets.weight, self.secrets.bias, secrets, ids)
        hidden = torch.relu(hidden + self.outlook(outlook[:, None]))
        return self.value(torch.relu(self.hidden(hidden))).squeeze(1) + self.belief * outlook


class Secrets:
    """What is hidden from the players in positions of a game, as its critic reads it: GameSpec.critic_fields."""

    def __init__(self, game: BatchGame) -> None:
        places = field_slices(game.spec.full_observation_dtype)
        numbers = np.arange(game.spec.full_observation_dtype.itemsize)
        self.game = game
        self.places = np.concatenate([numbers[:0], *(numbers[places[name]] for name in game.spec.critic_fields)])

    def read(self, states: np.ndarray) -> Inputs:
        """Return what is hidden in states [M], seen from the current player."""
        return read_inputs(flat(self.game.observe_all(states))[:, self.places])


def make_network(game: BatchGame, shape: NetworkShape) -> TorchNetwork:
    """Return a fresh network for a game."""
    return TorchNetwork(shape, observation_scale(game.spec), Advisors(game, shape.advisors))


def places_of(positions: Positions, ids: np.ndarray, actions: np.ndarray) -> torch.Tensor:
    """Return where each action [B] stands among the legal ones: int64 [B, 1]. ValueError for one that is not legal."""
    places = np.empty(len(ids), np.int64)
    find_places(positions.legal_start, positions.legal, ids, np.asarray(actions, np.int64), places)
    if (places < 0).any():
        raise ValueError(f"action {int(actions[places < 0][0])} is not legal in its position")
    return torch.from_numpy(places)[:, None]


def actions_at(positions: Positions, ids: np.ndarray, places: np.ndarray) -> np.ndarray:
    """Return the actions that stand at `places` [B]: int64 [B]."""
    return positions.legal[positions.legal_start[ids] + places].astype(np.int64)


def log_probabilities(scores: torch.Tensor) -> torch.Tensor:
    """Return log-probabilities of scores [B, K]; places without an action get a very negative number, not -inf."""
    return torch.log_softmax(scores, dim=1)


def entropy(log_probs: torch.Tensor) -> torch.Tensor:
    """Return the entropy of each row [B] in nats; places without an action count nothing."""
    return -(log_probs.exp() * log_probs).sum(dim=1)


def sample_places(log_probs: torch.Tensor, generator: torch.Generator) -> torch.Tensor:
    """Draw a place for each row by the cumulative sum: int64 [B], several times faster than a Categorical."""
    total = log_probs.exp().cumsum(dim=1)
    threshold = torch.rand(len(total), 1, generator=generator) * total[:, -1:]
    places = torch.searchsorted(total, threshold, right=True).squeeze(1).clamp_max(total.shape[1] - 1)
    there = log_probs.gather(1, places[:, None]).squeeze(1) > MASKED / 2
    return torch.where(there, places, log_probs.argmax(dim=1))


class RowPolicy(MaskableActorCriticPolicy):
    """`TorchNetwork` as a policy of MaskablePPO, with a `Critic` beside it if there are secrets to read."""

    def __init__(
        self,
        observation_space: spaces.Space[Any],
        action_space: spaces.Space[Any],
        lr_schedule: Any,
        shape: NetworkShape,
        scale: np.ndarray,
        advisors: Advisors,
        num_secrets: int = 0,
        **kwargs: Any,
    ) -> None:
        self.shape = shape
        self.num_secrets = num_secrets
        self.input_scale = scale
        self.advisors = advisors
        super().__init__(observation_space, action_space, lr_schedule, net_arch=[], **kwargs)

    def _build(self, lr_schedule: Any) -> None:
        self.network = TorchNetwork(self.shape, self.input_scale, self.advisors)
        self.critic = Critic(self.num_secrets, self.shape.hidden) if self.num_secrets else None
        self.optimizer = torch.optim.Adam(self.parameters(), lr=lr_schedule(1), eps=1e-5)

    def _read(self, obs: torch.Tensor, action_masks: Any) -> tuple[Positions, np.ndarray]:
        size = (len(obs), self.shape.num_actions)
        masks = np.ones(size, np.bool_) if action_masks is None else np.asarray(action_masks).reshape(size) != 0
        return self.network.read(obs.to(torch.int8).numpy(), np.ascontiguousarray(masks)), np.arange(len(obs))

    def forward(self, obs: torch.Tensor, deterministic: bool = False, action_masks: Any = None) -> Any:
        """Return actions [B], values [B, 1] and log-probabilities [B]."""
        positions, ids = self._read(obs, action_masks)
        scores, values = self.network(positions, ids)
        log_probs = log_probabilities(scores)
        places = self._pick(log_probs, deterministic)
        actions = torch.from_numpy(actions_at(positions, ids, places.numpy()))
        return actions, values[:, None], log_probs.gather(1, places[:, None]).squeeze(1)

    def _pick(self, log_probs: torch.Tensor, deterministic: bool) -> torch.Tensor:
        return log_probs.argmax(dim=1) if deterministic else sample_places(log_probs, torch.default_generator)

    def evaluate_actions(self, obs: torch.Tensor, actions: torch.Tensor, action_masks: Any = None) -> Any:
        """Return values [B, 1], log-probabilities [B] of `actions` and entropies [B]."""
        positions, ids = self._read(obs, action_masks)
        scores, values = self.network(positions, ids)
        log_probs = log_probabilities(scores)
        places = places_of(positions, ids, actions.long().flatten().numpy())
        return values[:, None], log_probs.gather(1, places).squeeze(1), entropy(log_probs)

    def predict_values(self, obs: torch.Tensor) -> torch.Tensor:
        """Return values [B, 1]; all actions count as legal, as the caller gives no mask."""
        positions, ids = self._read(obs, None)
        return self.network(positions, ids)[1][:, None]

    def _predict(
        self, observation: torch.Tensor, deterministic: bool = False, action_masks: Any = None
    ) -> torch.Tensor:
        positions, ids = self._read(observation, action_masks)
        places = self._pick(log_probabilities(self.network(positions, ids)[0]), deterministic)
        return torch.from_numpy(actions_at(positions, ids, places.numpy()))
