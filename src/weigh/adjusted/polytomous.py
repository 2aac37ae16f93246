"""Softmax loss of all classes jointly: one exponent per class and feature, or per feature."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import InitVar, dataclass
from functools import partial
from typing import Any

import numpy as np

from weigh.adjusted import solve
from weigh.adjusted.moments import Ask, DesignMatrix, Expansion, Moments, Problem, answer_asks
from weigh.engine import Block, Sums
from weigh.frames import Floats


@dataclass(frozen=True)
class Polytomous(Problem):
    """Softmax of offset_k + Q_k exponents_k, with one exponent per class and feature.

    `shared` exponents are the same for all classes (Eq. 6). The exponents of all classes form one
    vector. Q is a `DesignMatrix`, or a sequence of one matrix per class; matrices come with the
    labels and weights of their rows.
    """

    labels: InitVar[Any] = None
    weight: InitVar[Any] = None
    offset: InitVar[Any] = 0.0  # of plain matrices
    shared: bool = False

    def __post_init__(self, labels: Any, weight: Any, offset: Any) -> None:
        if not isinstance(self.Q, DesignMatrix):
            matrix = DesignMatrix.of(self.Q, labels, weight, len(self.Q), offset)
            object.__setattr__(self, "Q", matrix)

    @property
    def size(self) -> int:
        """Number of exponents."""
        return (1 if self.shared else self.matrix.n_classes) * self.matrix.n_columns

    def answer(self, asks: Sequence[Ask]) -> list[Moments]:
        """Moments at many points and in many splits, in one pass."""
        matrix = self.matrix
        sums = partial(PolytomousSums, n_classes=matrix.n_classes, shared=self.shared)
        return answer_asks(matrix, asks, sums, solve.BLOCK)


@dataclass(frozen=True)
class PolytomousSums:
    """Statistic of a pass: moments at each of some points, by class and feature."""

    expansion: Expansion
    points: Floats
    curved: tuple[int, ...]
    n_classes: int
    shared: bool

    def __call__(self, block: Block) -> Sums:
        """Sums, gradients and Hessians of a block."""
        from weigh.kernels import softmax_moments

        n_points, size = self.points.shape
        sums, gradients = np.zeros((n_points, 3)), np.zeros((n_points, size))
        hessians = np.zeros((len(self.curved), size, size))
        by_point = dict(zip(self.curved, hessians, strict=True))
        for Q, part in self.expansion.parts(block, self.n_classes):
            weight = np.ones(1) if part.weight is None else part.weight
            groups = np.zeros(1, np.uint8) if part.groups is None else part.groups
            slope, p = (np.empty((len(part), self.n_classes)) for _ in range(2))
            for i, roles in enumerate(self.expansion.roles.T):
                each = part.labels, weight, groups, roles, slope, p, sums[i]
                softmax_moments(self._totals(self.points[i], Q), *each)
                gradients[i] += self._gradient(Q, slope)
                if i in by_point:
                    counts = np.broadcast_to(weight * (roles[groups] == 1), len(part))
                    add = _add_shared if self.shared else _add_hessian
                    add(Q, p.T, counts, by_point[i])
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
    """Add the Hessian of separate exponents to the upper half of out."""
    n_columns = Q.shape[1]
    for k, left in enumerate(Q):
        for other in range(k, len(Q)):
            share = p[k] * ((k == other) - p[other]) * weight
            rows = slice(k * n_columns, (k + 1) * n_columns)
            columns = slice(other * n_columns, (other + 1) * n_columns)
            out[rows, columns] += (left * share) @ Q[other].T


def _add_shared(Q: Floats, p: Floats, weight: Floats, out: Floats) -> None:
    """Add the Hessian of shared exponents: each row's covariance of the columns over classes."""
    mean = np.einsum("ki,kdi->di", p, Q)
    for share, q in zip(p, Q, strict=True):
        apart = q - mean
        out += (apart * (share * weight)) @ apart.T
