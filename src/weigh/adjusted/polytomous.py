"""All classes trained jointly: an exponent per feature, or one per class and feature."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import InitVar, dataclass, replace
from functools import partial
from typing import Any, Self

import numpy as np

from weigh.adjusted import solve
from weigh.adjusted.moments import Ask, Design, Expansion, Levels, Moments, answer_asks
from weigh.engine import Block, Dealt, Sums
from weigh.frames import Floats


@dataclass(frozen=True)
class Polytomous:
    """Softmax of offset_k + Q_k exponents_k, with one exponent per class and feature.

    `shared` exponents are the same for all classes (Eq. 6). `Q[k]` holds the weights for class k;
    exponents of all classes stand in one vector. Q is given as levels and their weights, or as
    matrices with their rows' labels and weights.
    """

    Q: Levels | Sequence[Floats]
    labels: InitVar[Any] = None
    weight: InitVar[Any] = None
    offset: InitVar[Any] = 0.0  # of matrices; levels have their own
    shared: bool = False

    def __post_init__(self, labels: Any, weight: Any, offset: Any) -> None:
        if not isinstance(self.Q, Levels):
            levels = Levels.of(self.Q, labels, weight, len(self.Q), offset)
            object.__setattr__(self, "Q", levels)

    @property
    def levels(self) -> Levels:
        """Q, as levels."""
        assert isinstance(self.Q, Levels)
        return self.Q

    @property
    def size(self) -> int:
        """The number of exponents."""
        return (1 if self.shared else self.levels.n_classes) * self.levels.n_columns

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

    def deal(self, dealt: Dealt, folds: tuple[Design, ...] = ()) -> Self:
        """The same rows, with folds."""
        return replace(self, Q=self.levels.deal(dealt, folds))

    def moments(self, exponents: Floats, curved: bool) -> Moments:
        """Loss, gradient and Hessian of all rows."""
        return self.answer([Ask(exponents, curved)])[0]

    def answer(self, asks: Sequence[Ask]) -> list[Moments]:
        """The moments at many points and of many splits, in one pass."""
        levels = self.levels
        sums = partial(PolytomousSums, n_classes=levels.n_classes, shared=self.shared)
        return answer_asks(levels, asks, sums, solve.BLOCK)


@dataclass(frozen=True)
class PolytomousSums:
    """The statistic of a pass: moments at each of some points, by class and feature."""

    expansion: Expansion
    points: Floats
    curved: tuple[int, ...]
    n_classes: int
    shared: bool

    def __call__(self, block: Block) -> Sums:
        """The moments of a block: sums, gradients, Hessians."""
        from weigh.kernels import softmax_moments

        n_points, size = self.points.shape
        sums, gradients = np.zeros((n_points, 3)), np.zeros((n_points, size))
        hessians = np.zeros((len(self.curved), size, size))
        bent = dict(zip(self.curved, hessians, strict=True))
        for Q, part in self.expansion.parts(block, self.n_classes):
            weight = np.ones(1) if part.weight is None else part.weight
            groups = np.zeros(1, np.uint8) if part.groups is None else part.groups
            slope, p = (np.empty((len(part), self.n_classes)) for _ in range(2))
            for i, roles in enumerate(self.expansion.roles.T):
                each = part.labels, weight, groups, roles, slope, p, sums[i]
                softmax_moments(self._totals(self.points[i], Q), *each)
                gradients[i] += self._gradient(Q, slope)
                if i in bent:
                    counts = np.broadcast_to(weight * (roles[groups] == 1), len(part))
                    add = _add_shared if self.shared else _add_hessian
                    add(Q, p.T, counts, bent[i])
        return Sums((sums, gradients, hessians))

    def _totals(self, point: Floats, Q: Floats) -> Floats:
        by_class = point.reshape(1 if self.shared else len(Q), Q.shape[1])
        exponents = np.broadcast_to(by_class, Q.shape[:2])
        totals: Floats = np.einsum("kd,kdi->ik", exponents, Q, order="C")
        return totals + self.expansion.design.offset

    def _gradient(self, Q: Floats, slope: Floats) -> Floats:
        by_class = np.array([q @ s for q, s in zip(Q, slope.T, strict=True)])
        return by_class.sum(axis=0) if self.shared else by_class.ravel()


def _add_hessian(Q: Floats, p: Floats, weight: Floats, out: Floats) -> None:
    """Add the second derivatives to the upper half of out."""
    n_columns = Q.shape[1]
    for k, left in enumerate(Q):
        for other in range(k, len(Q)):
            share = p[k] * ((k == other) - p[other]) * weight
            rows = slice(k * n_columns, (k + 1) * n_columns)
            columns = slice(other * n_columns, (other + 1) * n_columns)
            out[rows, columns] += (left * share) @ Q[other].T


def _add_shared(Q: Floats, p: Floats, weight: Floats, out: Floats) -> None:
    """Add the covariance of the classes' columns in each row, summed over rows."""
    mean = np.einsum("ki,kdi->di", p, Q)
    for share, q in zip(p, Q, strict=True):
        apart = q - mean
        out += (apart * (share * weight)) @ apart.T
