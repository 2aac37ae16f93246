"""APMR: the norm of the exponents, chosen by the paper's two-stage search over internal folds."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from weigh.adjusted.moments import Moments, Problem
from weigh.adjusted.solve import run, start_search
from weigh.engine import one_blas_thread
from weigh.frames import Floats
from weigh.newton.ball import TINY, Search, Solution
from weigh.newton.descent import Asking

POINTS = 10
"""Norms tried in each of the two stages."""

HUGE = 10
"""Beyond so many times naive Bayes's own norm a linear grid starts above the useful range."""

SEARCH_TOL = 1e-6
"""The gradient at which exponents are found, beside the weight of the rarest class and the loss."""

EQUALLY_GOOD = 1e-6
"""Of norms whose losses agree so far, which the search cannot tell apart, the smallest is taken."""


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


def choose_norm(
    problem: Problem, free: Solution[Moments], aggregate: str, as_printed: bool = False
) -> NormPath:
    """Ten norms up to the unrestricted one, then ten between the neighbours of the best.

    Norms are equally spaced, as in the paper, unless the unrestricted norm is huge: then their
    ratios are equal. Where the least of all is the best, ten smaller ones follow, unless the search
    is to be `as_printed`. The rows of the problem are dealt into folds.
    """
    folds = _Folds(problem, free.at)
    if free.norm == 0:
        return NormPath(np.zeros(1), folds.losses(np.zeros(1)), 0.0, 0.0, aggregate)
    unrestricted, size = free.norm, problem.size
    geometric = not as_printed and unrestricted > HUGE * size
    with one_blas_thread():
        first = _grid(0.0, unrestricted, size, geometric)
        losses = folds.losses(first)
        best = _best(losses, aggregate)
        ends = first[best - 1] if best else 0.0, first[min(best + 1, POINTS - 1)]
        second = _grid(*ends, size, geometric)
        known = np.isclose(second[:, None], first, rtol=1e-9, atol=0).any(axis=1)
        second = second[~known]
        norms = np.concatenate([first, second])
        losses = np.vstack([losses, folds.losses(second)])
        if not as_printed and norms[_first(norms, losses, aggregate)] == norms.min():
            third = _grid(0.0, float(norms.min()), size, geometric=True)[:-1]
            norms = np.concatenate([third, norms])
            losses = np.vstack([folds.losses(third), losses])
    order = np.argsort(norms)
    norms, losses = norms[order], losses[order]
    chosen = float(norms[_best(losses, aggregate)])
    return NormPath(norms, losses, chosen, unrestricted, aggregate)


class _Folds:
    """All folds, searched side by side: a pass answers what all of them ask.

    Where a pass is dear all norms are searched side by side too, each from the nearest known
    solution; elsewhere one after the other in each fold, which is less work.
    """

    def __init__(self, problem: Problem, free: Floats) -> None:
        self.problem = problem
        train, held_out = problem.split_weights
        self.train, self.bits = train, held_out.sum(axis=1) * np.log(2)
        self.walks = [begin_search(w, np.zeros(problem.size)) for w in train]
        self.known = [[free] for _ in train]

    def losses(self, norms: Floats) -> Floats:
        """The mean loss in bits of the held-out rows, by norm and fold."""
        jumps = self.problem.far
        found = self._jump(norms) if jumps else self._walk(norms)
        held_out = np.array([[one.here.held_out for one in fold] for fold in found])
        return np.asarray(held_out.T / self.bits)

    def _walk(self, norms: Floats) -> list[list[Solution[Moments]]]:
        searches = [_one_by_one(walk, norms) for walk in self.walks]
        return run(self.problem, searches, range(len(searches)))

    def _jump(self, norms: Floats) -> list[list[Solution[Moments]]]:
        places = [(k, norm) for k in range(len(self.train)) for norm in norms.tolist()]
        searches = [self._start(k, norm).solve(norm) for k, norm in places]
        flat = run(self.problem, searches, [k for k, _ in places])
        found = [flat[i : i + len(norms)] for i in range(0, len(flat), max(len(norms), 1))]
        for known, fold in zip(self.known, found, strict=False):
            known += [one.at for one in fold]
        return found or [[] for _ in self.train]

    def _start(self, k: int, norm: float) -> Search[Moments]:
        sizes = np.log([max(float(a @ a), TINY) for a in self.known[k]])
        near = self.known[k][int(np.abs(sizes - np.log(max(norm, TINY))).argmin())]
        return begin_search(self.train[k], near, eager=True)


def begin_search(weights: Floats, start: Floats, eager: bool = False) -> Search[Moments]:
    """A search in one fold; where it separates the classes, each norm is solved all the same."""
    return start_search(weights, start, SEARCH_TOL, eager, part=SEARCH_TOL)


def _one_by_one(walk: Search[Moments], norms: Floats) -> Asking[Moments, list[Solution[Moments]]]:
    found = []
    for norm in norms.tolist():
        solution = yield from walk.solve(norm)
        found.append(solution)
    return found


def _grid(low: float, high: float, size: int, geometric: bool) -> Floats:
    """Ten norms above `low` up to `high`."""
    if not geometric:
        return np.linspace(low, high, POINTS + 1)[1:]
    low = low or min(1 / size, high) / HUGE  # copies of one feature share its exponent
    return np.asarray(np.geomspace(low, high, POINTS + 1)[1:])


def _first(norms: Floats, losses: Floats, aggregate: str) -> int:
    """The place of the best among norms in any order."""
    order = np.argsort(norms)
    return int(order[_best(losses[order], aggregate)])


def _best(losses: Floats, aggregate: str) -> int:
    """The first of the norms, which ascend, with the least loss."""
    over_folds = np.median if aggregate == "median" else np.mean
    told = np.isfinite(losses).all(axis=0)  # not by a fold that holds no rows
    if not told.any():
        raise ValueError("no inner fold has both training and hold-out rows; give cv fewer folds")
    summary = np.asarray(over_folds(losses[:, told], axis=1))
    return int((summary <= summary.min() * (1 + EQUALLY_GOOD)).argmax())
