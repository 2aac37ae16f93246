"""The polytomous model that the paper's last section plans: all classes trained jointly."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from scipy.special import log_softmax

from weigh.adjusted.solve import Moments
from weigh.frames import Floats, Integers


@dataclass(frozen=True)
class Polytomous:
    """Softmax of offset_k + Q_k exponents_k, with one exponent per class and feature.

    `Q[k]` holds the weights for class k; the exponents of all classes stand in one vector.
    """

    Q: tuple[Floats, ...]
    labels: Integers
    weight: Floats
    offset: Floats

    @property
    def size(self) -> int:
        """The number of exponents."""
        return len(self.Q) * int(self.Q[0].shape[1])

    @property
    def weight_sum(self) -> float:
        """The weight of all rows."""
        return float(self.weight.sum())

    @property
    def shares(self) -> Floats:
        """The part of the weight that each class has."""
        return np.asarray(np.bincount(self.labels, self.weight) / self.weight_sum)

    def take(self, rows: Any) -> Self:
        """Some of the rows."""
        Q = tuple(part[rows] for part in self.Q)
        return replace(self, Q=Q, labels=self.labels[rows], weight=self.weight[rows])

    def _log_probabilities(self, exponents: Floats) -> Floats:
        parts = exponents.reshape(len(self.Q), -1)
        totals = np.column_stack([q @ a for q, a in zip(self.Q, parts, strict=True)])
        return np.asarray(log_softmax(totals + self.offset, axis=1))

    def separates(self, exponents: Floats) -> bool:
        """Whether every row is on its class's side."""
        logs = self._log_probabilities(exponents)
        own = logs[np.arange(len(logs)), self.labels]
        return bool(((logs >= own[:, None]).sum(axis=1) == 1).all())

    def losses(self, exponents: Floats) -> Floats:
        """Mean loss in bits for each row of a matrix of exponents."""
        rows = np.arange(len(self.labels))
        nats = [-self._log_probabilities(a)[rows, self.labels] @ self.weight for a in exponents]
        return np.asarray(np.array(nats) / (self.weight_sum * np.log(2)))

    def moments(self, exponents: Floats, curved: bool) -> Moments:
        """Loss, gradient and Hessian."""
        logs = self._log_probabilities(exponents)
        rows, p = np.arange(len(self.labels)), np.exp(logs)
        loss = -float(logs[rows, self.labels] @ self.weight)
        slope = p.copy()
        slope[rows, self.labels] -= 1.0
        slope *= self.weight[:, None]
        gradient = np.concatenate([slope[:, k] @ q for k, q in enumerate(self.Q)])
        return Moments(loss, gradient, self._hessian(p) if curved else None)

    def _hessian(self, p: Floats) -> Floats:
        d = self.Q[0].shape[1]
        out = np.empty((self.size, self.size))
        for k, left in enumerate(self.Q):
            for other, right in enumerate(self.Q[: k + 1]):
                share = p[:, k] * ((k == other) - p[:, other]) * self.weight
                block = (left * share[:, None]).T @ right
                out[k * d : (k + 1) * d, other * d : (other + 1) * d] = block
                out[other * d : (other + 1) * d, k * d : (k + 1) * d] = block.T
        return out
