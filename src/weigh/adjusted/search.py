"""APMR: the norm of the exponents, chosen by the paper's two-stage search over internal folds."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, Self

import numpy as np

from weigh.adjusted.solve import Path, Problem
from weigh.engine import one_blas_thread, parallel
from weigh.folds import Split
from weigh.frames import Floats

POINTS = 10
"""Norms tried in each of the two stages."""

HUGE = 10
"""Beyond so many times naive Bayes's own norm a linear grid starts above the useful range."""

SEARCH_TOL = 1e-6

EQUALLY_GOOD = 1e-6
"""Of norms whose losses agree so far, which the search cannot tell apart, the smallest is taken."""


class FoldedProblem(Problem, Protocol):
    """A problem whose rows can be taken apart and scored."""

    def take(self, rows: Any) -> Self:
        """Some of the rows."""

    def losses(self, exponents: Floats) -> Floats:
        """Mean loss in bits for each row of a matrix of exponents."""


@dataclass(frozen=True)
class NormPath:
    """What the search saw: the data of the paper's Figure 1.

    `losses[i, k]` is the mean loss in bits of fold k's held-out rows at norm `norms[i]`.
    """

    norms: Floats
    losses: Floats
    chosen: float
    unrestricted: float
    aggregate: str = "median"


@dataclass
class _Fold:
    """One fold: a path over the training rows, and the rows held out."""

    path: Path
    held_out: FoldedProblem

    def losses(self, norms: Floats) -> Floats:
        points = [self.path.solve(norm).exponents for norm in norms]
        return self.held_out.losses(np.array(points))


def choose_norm(
    problem: FoldedProblem,
    unrestricted: float,
    splits: Sequence[Split],
    aggregate: str,
    as_printed: bool = False,
) -> NormPath:
    """Ten norms up to the unrestricted one, then ten between the neighbours of the best.

    Norms are equally spaced, as in the paper, unless the unrestricted norm is huge: then their
    ratios are equal. Where the least of all is the best, ten smaller ones follow, unless the search
    is to be `as_printed`. The tables behind the problem are those of all rows, as in the paper.
    """
    if unrestricted == 0:
        nothing = np.zeros((1, problem.size))
        prior = [problem.take(held_out).losses(nothing) for _, held_out in splits]
        return NormPath(np.zeros(1), np.column_stack(prior), 0.0, 0.0, aggregate)
    geometric = not as_printed and unrestricted > HUGE * problem.size
    with one_blas_thread():
        folds = [
            _Fold(Path(problem.take(train), SEARCH_TOL), problem.take(held_out))
            for train, held_out in splits
        ]
        first = _grid(0.0, unrestricted, problem.size, geometric)
        losses = _losses(folds, first)
        best = _best(losses, aggregate)
        ends = first[best - 1] if best else 0.0, first[min(best + 1, POINTS - 1)]
        second = _grid(*ends, problem.size, geometric)
        known = np.isclose(second[:, None], first, rtol=1e-9, atol=0).any(axis=1)
        second = second[~known]
        norms = np.concatenate([first, second])
        losses = np.vstack([losses, _losses(folds, second)])
        if not as_printed and norms[_first(norms, losses, aggregate)] == norms.min():
            third = _grid(0.0, float(norms.min()), problem.size, geometric=True)[:-1]
            norms = np.concatenate([third, norms])
            losses = np.vstack([_losses(folds, third), losses])
    order = np.argsort(norms)
    norms, losses = norms[order], losses[order]
    chosen = float(norms[_best(losses, aggregate)])
    return NormPath(norms, losses, chosen, unrestricted, aggregate)


def _grid(low: float, high: float, size: int, geometric: bool) -> Floats:
    """Ten norms above `low` up to `high`."""
    if not geometric:
        return np.linspace(low, high, POINTS + 1)[1:]
    low = low or min(1 / size, high) / HUGE  # copies of one feature share its exponent
    return np.asarray(np.geomspace(low, high, POINTS + 1)[1:])


def _losses(folds: list[_Fold], norms: Floats) -> Floats:
    solve: Callable[[_Fold], Floats] = lambda fold: fold.losses(norms)  # noqa: E731
    return np.column_stack(parallel(solve, folds))


def _first(norms: Floats, losses: Floats, aggregate: str) -> int:
    """The place of the best among norms in any order."""
    order = np.argsort(norms)
    return int(order[_best(losses[order], aggregate)])


def _best(losses: Floats, aggregate: str) -> int:
    """The first of the norms, which ascend, with the least loss."""
    over_folds = np.median if aggregate == "median" else np.mean
    summary = np.asarray(over_folds(losses, axis=1))
    return int((summary <= summary.min() * (1 + EQUALLY_GOOD)).argmax())
