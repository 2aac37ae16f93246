"""The polytomous model that the paper's last section plans: all classes trained jointly."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import InitVar, dataclass, replace
from typing import Any, Self

import numpy as np
from scipy.special import log_softmax

from weigh.adjusted import solve
from weigh.adjusted.moments import Ask, Expansion, Levels, Moments
from weigh.engine import HELD_OUT, TRAIN, Block, Dealt, Sums
from weigh.frames import Floats


@dataclass(frozen=True)
class Polytomous:
    """Softmax of offset_k + Q_k exponents_k, with one exponent per class and feature.

    `Q[k]` holds the weights for class k; the exponents of all classes stand in one vector. Q is
    given as levels and their weights, or as matrices with their rows' labels and weights.
    """

    Q: Levels | Sequence[Floats]
    labels: InitVar[Any] = None
    weight: InitVar[Any] = None
    offset: Any = None

    def __post_init__(self, labels: Any, weight: Any) -> None:
        if not isinstance(self.Q, Levels):
            object.__setattr__(self, "Q", Levels.of(self.Q, labels, weight, len(self.Q)))

    @property
    def levels(self) -> Levels:
        """Q, as levels."""
        assert isinstance(self.Q, Levels)
        return self.Q

    @property
    def size(self) -> int:
        """The number of exponents."""
        return self.levels.n_classes * self.levels.n_columns

    @property
    def far(self) -> bool:
        """Whether a pass over the rows is dear."""
        return self.levels.rows.far

    @property
    def class_weights(self) -> Floats:
        """The weight of each class."""
        return self.levels.class_weights

    @property
    def split_weights(self) -> tuple[Floats, Floats]:
        """The same of each split, of rows that count and of rows held out."""
        return self.levels.split_weights

    def take(self, rows: Any) -> Self:
        """Some of the rows, as rows of their own."""
        return replace(self, Q=self.levels.take(rows))

    def deal(self, dealt: Dealt) -> Self:
        """The same rows, with folds."""
        return replace(self, Q=self.levels.deal(dealt))

    def moments(self, exponents: Floats, curved: bool) -> Moments:
        """Loss, gradient and Hessian of all rows."""
        return self.answer([Ask(exponents, curved)])[0]

    def answer(self, asks: Sequence[Ask]) -> list[Moments]:
        """The moments at many points and of many splits, in one pass."""
        points = np.array([ask.exponents for ask in asks])
        points = points.reshape(len(asks), self.levels.n_classes, self.levels.n_columns)
        curved = tuple(i for i, ask in enumerate(asks) if ask.curved)
        expansion = Expansion.of(self.levels, [ask.split for ask in asks], solve.BLOCK)
        statistic = PolytomousSums(expansion, points, curved, self.offset)
        return solve.read_moments(self.levels.rows.sum(statistic), curved)


@dataclass(frozen=True)
class PolytomousSums:
    """The statistic of a pass: moments at each of some points, by class and feature."""

    expansion: Expansion
    points: Floats
    curved: tuple[int, ...]
    offset: Floats

    def __call__(self, block: Block) -> Sums:
        """The moments of a block: sums, gradients, Hessians."""
        n_points, n_classes, n_columns = self.points.shape
        size = n_classes * n_columns
        sums, gradients = np.zeros((n_points, 3)), np.zeros((n_points, size))
        hessians = np.zeros((len(self.curved), size, size))
        bent = dict(zip(self.curved, hessians, strict=True))
        for Q, part in self.expansion.parts(block, n_classes):
            weight = np.ones(len(part)) if part.weight is None else part.weight
            groups = np.zeros(len(part), np.intp) if part.groups is None else part.groups
            for i, roles in enumerate(self.expansion.roles.T):
                totals = np.einsum("kd,kdi->ki", self.points[i], Q) + self.offset[:, None]
                logs = log_softmax(totals, axis=0)
                own = logs[part.labels, np.arange(len(part))]
                told, out = (weight * (roles[groups] == role) for role in (TRAIN, HELD_OUT))
                wrong = ((logs >= own).sum(axis=0) > 1) & (told > 0)
                sums[i] += -(own @ told), wrong.sum(), -(own @ out)
                p = np.exp(logs)
                gradients[i] += _gradient(Q, p, part, told)
                if i in bent:
                    _add_hessian(Q, p, told, bent[i])
        return Sums((sums, gradients, hessians))


def _gradient(Q: Floats, p: Floats, part: Block, weight: Floats) -> Floats:
    slope = p.copy()
    slope[part.labels, np.arange(len(part))] -= 1.0
    slope *= weight
    return np.concatenate([q @ s for q, s in zip(Q, slope, strict=True)])


def _add_hessian(Q: Floats, p: Floats, weight: Floats, out: Floats) -> None:
    """Add the second derivatives to the upper half of out."""
    n_columns = Q.shape[1]
    for k, left in enumerate(Q):
        for other in range(k, len(Q)):
            share = p[k] * ((k == other) - p[other]) * weight
            rows = slice(k * n_columns, (k + 1) * n_columns)
            columns = slice(other * n_columns, (other + 1) * n_columns)
            out[rows, columns] += (left * share) @ Q[other].T
