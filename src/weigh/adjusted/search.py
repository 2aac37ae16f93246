"""APMR: choose the norm of the exponents by the paper's two-stage search over internal folds."""

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
"""Number of norms tried in each of the two stages."""

HUGE = 10
"""Above this multiple of naive Bayes's norm, an equally spaced grid misses the useful range."""

SEARCH_TOL = 1e-6
"""Gradient at which a search converges, relative to the rarest class's weight and the loss."""

EQUALLY_GOOD = 1e-6
"""Losses that differ by less than this ratio are tied; the smallest of the tied norms is chosen."""


@dataclass(frozen=True)
class NormPath:
    """Norms that were tried and their hold-out losses: the data of the paper's Figure 1.

    `losses[i, k]` is the mean loss in bits of the hold-out rows of fold k at norm `norms[i]`.
    """

    norms: Floats
    losses: Floats
    chosen: float
    unrestricted: float
    aggregate: str = "median"


def choose_norm(
    problem: Problem, free: Solution[Moments], aggregate: str, as_printed: bool = False
) -> NormPath:
    """Choose the norm with the lowest hold-out loss.

    Ten norms up to the unrestricted one are tried, then ten between the neighbours of the best.
    They are equally spaced, or in a geometric grid if the unrestricted norm is very large. If the
    smallest norm is the best, smaller ones are tried too. `as_printed` is the paper's rule: always
    equally spaced, and no smaller ones. The rows of the problem must be in folds.
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
        if not as_printed and norms[_best_unsorted(norms, losses, aggregate)] == norms.min():
            third = _grid(0.0, float(norms.min()), size, geometric=True)[:-1]
            norms = np.concatenate([third, norms])
            losses = np.vstack([folds.losses(third), losses])
    order = np.argsort(norms)
    norms, losses = norms[order], losses[order]
    chosen = float(norms[_best(losses, aggregate)])
    return NormPath(norms, losses, chosen, unrestricted, aggregate)


class _Folds:
    """Searches of all folds, which share passes over the rows.

    If rows are in files or on a cluster, the searches of all norms share passes too, and each
    starts at the solution of the nearest norm. In memory, each fold solves one norm after the
    other, which is less work.
    """

    def __init__(self, problem: Problem, free: Floats) -> None:
        self.problem = problem
        train, held_out = problem.split_weights
        self.train, self.bits = train, held_out.sum(axis=1) * np.log(2)
        self.searches = [begin_search(w, np.zeros(problem.size)) for w in train]
        self.known = [[free] for _ in train]

    def losses(self, norms: Floats) -> Floats:
        """Mean loss in bits of the hold-out rows, by norm and fold."""
        far = self.problem.far
        found = self._solve_together(norms) if far else self._solve_in_sequence(norms)
        held_out = np.array([[one.here.held_out for one in fold] for fold in found])
        return np.asarray(held_out.T / self.bits)

    def _solve_in_sequence(self, norms: Floats) -> list[list[Solution[Moments]]]:
        searches = [_one_by_one(search, norms) for search in self.searches]
        return run(self.problem, searches, range(len(searches)))

    def _solve_together(self, norms: Floats) -> list[list[Solution[Moments]]]:
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
    """Begin a search in one fold; it does not stop early if the classes are separable."""
    return start_search(weights, start, SEARCH_TOL, eager, part=SEARCH_TOL)


def _one_by_one(search: Search[Moments], norms: Floats) -> Asking[Moments, list[Solution[Moments]]]:
    found = []
    for norm in norms.tolist():
        solution = yield from search.solve(norm)
        found.append(solution)
    return found


def _grid(low: float, high: float, size: int, geometric: bool) -> Floats:
    """Ten norms above `low`, up to and including `high`."""
    if not geometric:
        return np.linspace(low, high, POINTS + 1)[1:]
    # The norm of d copies of one feature is 1/d: each has the exponent 1/d.
    low = low or min(1 / size, high) / HUGE
    return np.asarray(np.geomspace(low, high, POINTS + 1)[1:])


def _best_unsorted(norms: Floats, losses: Floats, aggregate: str) -> int:
    """Index of the best of norms in any order."""
    order = np.argsort(norms)
    return int(order[_best(losses[order], aggregate)])


def _best(losses: Floats, aggregate: str) -> int:
    """Index of the first of ascending norms with the lowest loss, up to `EQUALLY_GOOD`."""
    over_folds = np.median if aggregate == "median" else np.mean
    scored = np.isfinite(losses).all(axis=0)  # a fold without hold-out rows has no loss
    if not scored.any():
        raise ValueError("no inner fold has both training and hold-out rows; give cv fewer folds")
    summary = np.asarray(over_folds(losses[:, scored], axis=1))
    return int((summary <= summary.min() * (1 + EQUALLY_GOOD)).argmax())
