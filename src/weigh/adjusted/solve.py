"""Two classes: the loss of exponents, summed over blocks of rows, and the least of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import InitVar, dataclass, replace
from functools import partial
from typing import Any, Self

import numpy as np

from weigh.adjusted.moments import (
    ALL,
    Ask,
    Design,
    Expansion,
    Levels,
    Moments,
    Problem,
    add_gram,
    answer_asks,
)
from weigh.engine import Block, Dealt, Sums, side_by_side
from weigh.frames import Floats
from weigh.newton.ball import Ask as Point
from weigh.newton.ball import Search, Solution
from weigh.newton.descent import Asking, Found

BLOCK = 1 << 17
"""Numbers of Q that are expanded at a time: a megabyte stays near the processor."""


@dataclass(frozen=True)
class Logistic:
    """Two classes: log odds = offset + Q exponents (Eqs. 8 and 11), loss of Eq. 15 in nats.

    Q is given as levels and their weights, or as a matrix with its rows' targets and weights.
    """

    Q: Levels | Floats
    target: InitVar[Any] = None
    weight: InitVar[Any] = None
    offset: InitVar[float] = 0.0  # of a matrix; levels have their own
    of: int = 1  # the class, against the rest

    def __post_init__(self, target: Any, weight: Any, offset: float) -> None:
        if not isinstance(self.Q, Levels):
            levels = Levels.of([self.Q], target.astype(np.uint8), weight, 2, offset)
            object.__setattr__(self, "Q", levels)

    @property
    def levels(self) -> Levels:
        """Q, as levels."""
        assert isinstance(self.Q, Levels)
        return self.Q

    @property
    def size(self) -> int:
        """The number of exponents."""
        return self.levels.n_columns

    @property
    def far(self) -> bool:
        """Whether a pass over the rows is dear."""
        return self.levels.rows.far

    @property
    def class_weights(self) -> Floats:
        """The weight of the rest and of the class."""
        return self._against_rest(self.levels.class_weights)

    @property
    def split_weights(self) -> tuple[Floats, Floats]:
        """The same of each split, of rows that count and of rows held out."""
        train, held_out = map(self._against_rest, self.levels.split_weights)
        return train, held_out

    def _against_rest(self, weights: Floats) -> Floats:
        rest = np.delete(weights, self.of, axis=-1).sum(axis=-1)
        return np.stack([rest, weights[..., self.of]], axis=-1)

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
        return answer_asks(self.levels, asks, partial(LogisticSums, of=self.of), BLOCK)


@dataclass(frozen=True)
class LogisticSums:
    """The statistic of a pass: moments at each of some points."""

    expansion: Expansion
    points: Floats
    curved: tuple[int, ...]
    of: int

    def __call__(self, block: Block) -> Sums:
        """The moments of a block: sums, gradients, Hessians."""
        from weigh import kernels

        n_points, size = self.points.shape
        sums, gradients = np.zeros((n_points, 3)), np.zeros((n_points, size))
        hessians = np.zeros((len(self.curved), size, size))
        for (Q,), part in self.expansion.parts(block, 1):
            totals = self.points @ Q
            totals += self.expansion.design.offset
            slopes, curvatures = np.empty(totals.shape), np.empty(totals.shape)
            target = (part.labels == self.of).view(np.uint8)
            weight = np.ones(1) if part.weight is None else part.weight
            groups = np.zeros(1, np.uint8) if part.groups is None else part.groups
            for i, roles in enumerate(self.expansion.roles.T):
                each = totals[i], target, weight, groups, roles, slopes[i], curvatures[i], sums[i]
                kernels.logistic_moments(*each)
            gradients += slopes @ Q.T
            for i, hessian in zip(self.curved, hessians, strict=True):
                add_gram(Q, curvatures[i], hessian)
        return Sums((sums, gradients, hessians))


def start_search(
    class_weights: Floats, start: Floats, tol: float, eager: bool = False, part: float = np.inf
) -> Search[Moments]:
    """A search from some exponents, to a gradient of `tol` relative to the rarest class."""
    shares = class_weights / class_weights.sum()
    rare = min(1.0, 2 * float(shares[shares > 0].min()))
    return Search(start, tol * rare * float(class_weights.sum()), eager, part)


class Path:
    """Solutions of one problem for one norm after another, each from where the last one ended."""

    def __init__(self, problem: Problem, tol: float) -> None:
        self.problem = problem
        start = np.zeros(problem.size)
        self.search = start_search(problem.class_weights, start, tol, eager=problem.far)

    def solve(self, norm: float = np.inf, separable: float = 0.0) -> Solution[Moments]:
        """Least loss with squared exponents of sum `norm` at the most.

        The search stops where it finds the classes `separable`: no row on the wrong side, and a
        mean loss below so many nats.
        """
        return self._run(self.search.solve(norm, self._stop(separable)))

    def full_steps(self, separable: float) -> Solution[Moments] | None:
        """Where the paper's own steps, from 0, find the classes separable."""
        return self._run(self.search.full_steps(self._stop(separable)))

    def _stop(self, mean_loss: float) -> Callable[[Moments], bool]:
        limit = mean_loss * float(self.problem.class_weights.sum())
        return lambda here: here.loss < limit and here.wrong == 0

    def _run(self, asking: Asking[Moments, Found]) -> Found:
        return run(self.problem, [asking], [ALL])[0]


def run(
    problem: Problem, searches: Sequence[Asking[Moments, Found]], splits: Sequence[int]
) -> list[Found]:
    """Let many searches run side by side, each on a split: a pass answers what all of them ask."""

    def answer(points: dict[int, Point]) -> list[Moments]:
        return problem.answer([Ask(p.at, p.curved, splits[i]) for i, p in points.items()])

    return side_by_side(searches, answer)
