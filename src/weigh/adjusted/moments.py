"""Loss, gradient and Hessian by exponents, summed over blocks of rows for many points at once.

A search asks for the moments at a point (`Ask`). One pass over the rows answers all searches.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol, Self

import numpy as np
from scipy import linalg

from weigh.adjusted.design import ALL, Design, DesignMatrix, Expansion
from weigh.engine import Block, Dealt, Sums, sum_each
from weigh.frames import Floats


@dataclass(frozen=True)
class Ask:
    """Request for the loss and gradient at some exponents, with the Hessian if `curved`."""

    exponents: Floats
    curved: bool
    split: int = ALL


@dataclass(frozen=True)
class Moments:
    """Loss in nats and its derivatives, summed over rows. Moments of two sets of rows add.

    `wrong` is the number of misclassified rows; `held_out` is the loss of a split's hold-out rows.
    """

    loss: float
    gradient: Floats
    hessian: Floats | None = None
    wrong: float = 0.0
    held_out: float = 0.0

    def __add__(self, other: Moments) -> Moments:
        both = self.hessian is not None and other.hessian is not None
        return Moments(
            self.loss + other.loss,
            self.gradient + other.gradient,
            self.hessian + other.hessian if both else None,  # type: ignore[operator]
            self.wrong + other.wrong,
            self.held_out + other.held_out,
        )


@dataclass(frozen=True)
class Problem(ABC):
    """A loss to be minimised over exponents, summed over the rows of a design matrix Q."""

    Q: Any  # a DesignMatrix; subclasses also take plain matrices, and code them

    @property
    def matrix(self) -> DesignMatrix:
        """Q, as a design matrix."""
        assert isinstance(self.Q, DesignMatrix)
        return self.Q

    @property
    def size(self) -> int:
        """Number of exponents."""
        return self.matrix.n_columns

    @property
    def far(self) -> bool:
        """Whether the rows are in files or on a cluster, so that passes are slow."""
        return self.matrix.rows.far

    @property
    def class_weights(self) -> Floats:
        """Weight of the rows of each class."""
        return self.matrix.class_weights

    @property
    def split_weights(self) -> tuple[Floats, Floats]:
        """Weight by split and class: of the training rows, and of the hold-out rows."""
        return self.matrix.split_weights

    def take(self, rows: Any) -> Self:
        """Select rows by number or mask."""
        return replace(self, Q=self.matrix.take(rows))

    def deal(self, dealt: Dealt, folds: tuple[Design, ...] = ()) -> Self:
        """Copy whose rows are assigned to folds, each fold with its own design if given."""
        return replace(self, Q=self.matrix.deal(dealt, folds))

    def moments(self, exponents: Floats, curved: bool) -> Moments:
        """Loss, gradient and, if `curved`, Hessian of all rows."""
        return self.answer([Ask(exponents, curved)])[0]

    @abstractmethod
    def answer(self, asks: Sequence[Ask]) -> list[Moments]:
        """Moments at many points and in many splits, in one pass."""


class PerAsk(Protocol):
    """Statistic of a pass: moments at each of some points, with Hessians at some of them."""

    @property
    def curved(self) -> tuple[int, ...]:
        """Indices of the points whose Hessian is computed."""

    def __call__(self, block: Block) -> Sums:
        """Sums, gradients and Hessians of a block."""


def answer_asks(
    matrix: DesignMatrix,
    asks: Sequence[Ask],
    statistic: Callable[[Expansion, Floats, tuple[int, ...]], PerAsk],
    block_size: int,
) -> list[Moments]:
    """Moments at many points and in many splits, in one pass.

    Points that share a design also share one statistic, which `statistic` makes.
    """
    queries_by_design: dict[int, list[int]] = {}
    for i, ask in enumerate(asks):
        queries_by_design.setdefault(ask.split if matrix.folds else ALL, []).append(i)
    statistics = []
    for indices in queries_by_design.values():
        expansion = Expansion.of(matrix, [asks[i].split for i in indices], block_size)
        points = np.array([asks[i].exponents for i in indices])
        curved = tuple(n for n, i in enumerate(indices) if asks[i].curved)
        statistics.append(statistic(expansion, points, curved))
    found: dict[int, Moments] = {}
    for indices, each, sums in zip(
        queries_by_design.values(), statistics, sum_each(matrix.rows, statistics), strict=True
    ):
        found |= zip(indices, read_moments(sums, each.curved), strict=True)
    return [found[i] for i in range(len(asks))]


def read_moments(sums: Sums, curved: Sequence[int]) -> list[Moments]:
    """Split the sums of a pass into the moments of each point."""
    numbers, gradients, hessians = sums.arrays
    by_point = {i: mirror(hessian) for i, hessian in zip(curved, hessians, strict=True)}
    return [
        Moments(float(loss), gradient, by_point.get(i), float(wrong), float(held_out))
        for i, ((loss, wrong, held_out), gradient) in enumerate(
            zip(numbers, gradients, strict=True)
        )
    ]


def add_gram(Q: Floats, curvature: Floats, out: Floats) -> None:
    """Add Q diag(curvature) Q' to the upper half of out."""
    if not out.size:
        return
    scaled = np.sqrt(curvature) * Q
    linalg.blas.dsyrk(1.0, scaled.T, beta=1.0, c=out.T, trans=1, lower=1, overwrite_c=1)


def mirror(upper: Floats) -> Floats:
    """Symmetric matrix with the given upper half."""
    return np.asarray(np.triu(upper) + np.triu(upper, 1).T)
