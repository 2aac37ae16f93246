"""Losses of one class against the rest and of all classes jointly, and their minimum for a norm.

APMR chooses the norm of the exponents by the paper's two-stage search over internal folds.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from weigh.adjusted.design import (
    ALL,
    Expansion,
    Problem,
    SplitPoint,
    SummedMoments,
    add_gram,
    answer_asks,
)
from weigh.arrays import Floats
from weigh.engine import Block, Sums, one_blas_thread, side_by_side
from weigh.newton.ball import TINY, Request, Search, Solution
from weigh.newton.descent import Asking, Found

BLOCK = 1 << 17
"""Entries of Q expanded at a time: one megabyte, which stays in the processor's cache."""


@dataclass(frozen=True)
class OneAgainstRest(Problem):
    """Class `of` against the rest: log odds = offset + Q exponents (Eqs. 8, 11), loss of Eq. 15.

    The loss is in nats.
    """

    of: int = 1

    @property
    def class_weights(self) -> Floats:
        """Weight of the rest, and of the class."""
        return self._against_rest(self.matrix.class_weights)

    @property
    def split_weights(self) -> tuple[Floats, Floats]:
        """Weight of the rest and of the class by split: of training rows, and of hold-out rows."""
        train, held_out = map(self._against_rest, self.matrix.split_weights)
        return train, held_out

    def _against_rest(self, weights: Floats) -> Floats:
        rest = np.delete(weights, self.of, axis=-1).sum(axis=-1)
        return np.stack([rest, weights[..., self.of]], axis=-1)

    def answer(self, asks: Sequence[SplitPoint]) -> list[SummedMoments]:
        """Moments at many points and in many splits, in one pass."""
        return answer_asks(self.matrix, asks, partial(LogisticSums, of=self.of), BLOCK)


@dataclass(frozen=True)
class LogisticSums:
    """Statistic of a pass: moments of the logistic loss at each of some points."""

    expansion: Expansion
    points: Floats
    curved: tuple[int, ...]
    of: int

    def __call__(self, block: Block) -> Sums:
        """Sums, gradients and Hessians of a block."""
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


@dataclass(frozen=True)
class Polytomous(Problem):
    """Softmax of offset_k + Q_k exponents_k, with one exponent per class and feature.

    `shared` exponents are the same for all classes (Eq. 6). The exponents of all classes form one
    vector.
    """

    shared: bool = False

    @property
    def size(self) -> int:
        """Number of exponents."""
        return (1 if self.shared else self.matrix.n_classes) * self.matrix.n_columns

    def answer(self, asks: Sequence[SplitPoint]) -> list[SummedMoments]:
        """Moments at many points and in many splits, in one pass."""
        matrix = self.matrix
        sums = partial(PolytomousSums, n_classes=matrix.n_classes, shared=self.shared)
        return answer_asks(matrix, asks, sums, BLOCK)


@dataclass(frozen=True)
class PolytomousSums:
    """Statistic of a pass: moments of the softmax loss at each of some points."""

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
        centred = q - mean
        out += (centred * (share * weight)) @ centred.T


def start_search(
    class_weights: Floats, start: Floats, tol: float, eager: bool = False, part: float = np.inf
) -> Search[SummedMoments]:
    """Begin a search at `start`; it converges at a gradient of `tol` times the row weights.

    The tolerance is stricter if a class has less than half of the weight: times twice its share.
    """
    shares = class_weights / class_weights.sum()
    rare = min(1.0, 2 * float(shares[shares > 0].min()))
    return Search(start, tol * rare * float(class_weights.sum()), eager, part)


class Path:
    """Solves one problem for one norm after another; each search starts at the last solution."""

    def __init__(self, problem: Problem, tol: float) -> None:
        self.problem = problem
        start = np.zeros(problem.size)
        self.search = start_search(problem.class_weights, start, tol, eager=problem.far)

    def solve(self, norm: float = np.inf, separable: float = 0.0) -> Solution[SummedMoments]:
        """Minimise the loss subject to sum_j a_j^2 <= `norm`.

        The search stops early if the classes are separable: no row is misclassified, and the mean
        loss is below `separable` nats.
        """
        return self._run(self.search.solve(norm, self._stop(separable)))

    def full_steps(self, separable: float) -> Solution[SummedMoments] | None:
        """Take the paper's Newton steps from 0 until the classes are found to be separable."""
        return self._run(self.search.full_steps(self._stop(separable)))

    def _stop(self, mean_loss: float) -> Callable[[SummedMoments], bool]:
        limit = mean_loss * float(self.problem.class_weights.sum())
        return lambda here: here.loss < limit and here.wrong == 0

    def _run(self, asking: Asking[SummedMoments, Found]) -> Found:
        return run(self.problem, [asking], [ALL])[0]


def run(
    problem: Problem, searches: Sequence[Asking[SummedMoments, Found]], splits: Sequence[int]
) -> list[Found]:
    """Run many searches, each on its split, so that all share the passes over the rows."""

    def answer(points: dict[int, Request]) -> list[SummedMoments]:
        return problem.answer([SplitPoint(p.at, p.curved, splits[i]) for i, p in points.items()])

    return side_by_side(searches, answer)


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
    problem: Problem, free: Solution[SummedMoments], aggregate: str, as_printed: bool = False
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
        order = np.argsort(norms)
        if not as_printed and _best(losses[order], aggregate) == 0:
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
        if self.problem.far:
            found = self._solve_together(norms)
        else:
            searches = [_one_by_one(search, norms) for search in self.searches]
            found = run(self.problem, searches, range(len(searches)))
        held_out = np.array([[one.here.held_out for one in fold] for fold in found])
        return np.asarray(held_out.T / self.bits)

    def _solve_together(self, norms: Floats) -> list[list[Solution[SummedMoments]]]:
        places = [(k, norm) for k in range(len(self.train)) for norm in norms.tolist()]
        searches = [self._start(k, norm).solve(norm) for k, norm in places]
        flat = run(self.problem, searches, [k for k, _ in places])
        found = [flat[i : i + len(norms)] for i in range(0, len(flat), max(len(norms), 1))]
        for known, fold in zip(self.known, found, strict=False):
            known += [one.at for one in fold]
        return found or [[] for _ in self.train]

    def _start(self, k: int, norm: float) -> Search[SummedMoments]:
        sizes = np.log([max(float(a @ a), TINY) for a in self.known[k]])
        near = self.known[k][int(np.abs(sizes - np.log(max(norm, TINY))).argmin())]
        return begin_search(self.train[k], near, eager=True)


def begin_search(weights: Floats, start: Floats, eager: bool = False) -> Search[SummedMoments]:
    """Begin a search in one fold; it does not stop early if the classes are separable."""
    return start_search(weights, start, SEARCH_TOL, eager, part=SEARCH_TOL)


def _one_by_one(
    search: Search[SummedMoments], norms: Floats
) -> Asking[SummedMoments, list[Solution[SummedMoments]]]:
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


def _best(losses: Floats, aggregate: str) -> int:
    """Index of the first of ascending norms with the lowest loss, up to `EQUALLY_GOOD`."""
    over_folds = np.median if aggregate == "median" else np.mean
    scored = np.isfinite(losses).all(axis=0)  # a fold without hold-out rows has no loss
    if not scored.any():
        raise ValueError("no inner fold has both training and hold-out rows; give cv fewer folds")
    summary = np.asarray(over_folds(losses[:, scored], axis=1))
    return int((summary <= summary.min() * (1 + EQUALLY_GOOD)).argmax())
