"""Second-order approximation of the loss near a model: the loss of smaller models, whole points.

loss(w) ~ constant + 1/2 w' H w - r' w      with the intercept first, for each total

The Hessian H and r are sums over rows, so a table can be removed and levels can be merged without
another pass over the rows. With more than two classes H is block-diagonal: second derivatives
across classes are ignored.

Whole points are integer multiples of one scale, chosen jointly for the least loss. Near a model
with weights t, weights w increase the loss by 1/2 (w - t)' A (w - t), with the intercept refitted.
For w = s k with integers k the best scale is s = k'At/k'Ak, so the increase is least where
(k'At)^2/k'Ak is largest. This is a local search: the weights are rounded at many scales, and from
each start the points of one level, or of two, are changed as long as that helps. The best result is
kept.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.sparse import csr_array

from weigh.arrays import Floats, Integers
from weigh.evidence import Evidence, Margins
from weigh.evidence.tables import weight_spans
from weigh.frames import Sample
from weigh.newton.regression import LOGISTIC, SOFTMAX, Moments
from weigh.sheet import find_positions

RIDGE = 1.0
"""Ridge penalty of each weight, but not of the intercept, in rows. The columns of a table's levels
add up to that of the intercept, so H alone is singular."""

CHUNK = 1 << 16
"""Number of rows in one block of the design matrix."""

STARTS = 24
"""Number of scales at which the weights are rounded to start the search for points."""

SMALL = 1e-12
"""Least relative improvement for which points are changed."""


@dataclass(frozen=True, eq=False)
class LossExpansion:
    """H and r of each total, and the positions of each table's weights."""

    hessian: Floats
    right: Floats
    spans: tuple[slice, ...]

    @classmethod
    def at(cls, evidence: Evidence, sample: Sample, at_optimum: bool = False) -> LossExpansion:
        """Approximate the loss of a sample near a model.

        If `at_optimum`, the gradient is set to 0, as if the model had the lowest loss. Smaller
        models then approximate this model, whose weights are shrunk, and not the unshrunk optimum.
        """
        positions = find_positions(evidence, sample.table)
        weights, rows = weights_of(evidence), sample.weights
        n_weights, n_totals = weights.shape
        hessian = np.zeros((n_totals, n_weights, n_weights))
        slopes = np.zeros((n_totals, n_weights))
        for start in range(0, sample.table.n_rows, CHUNK):
            own = slice(start, start + CHUNK)
            design = design_of(positions[:, own], n_weights)
            found = moments_of(evidence, design @ weights, sample.labels[own], rows[own])
            for k in range(n_totals):
                hessian[k] += (design.T @ (design * found.curvature[:, k, None])).toarray()
                slopes[k] += design.T @ found.slope[:, k]
        right = np.einsum("kij,jk->ki", hessian, weights) - (0.0 if at_optimum else slopes)
        return cls(hessian, right, weight_spans(len(table.levels) for table in evidence))

    @property
    def held(self) -> Floats:
        """Hessian with the ridge penalty."""
        ridge = np.full(self.hessian.shape[1], RIDGE)
        ridge[0] = 0.0
        return np.asarray(self.hessian + np.diag(ridge))

    def solve(self) -> Floats:
        """Weights with the lowest loss, by total."""
        return np.asarray(np.linalg.solve(self.held, self.right[..., None])[..., 0])

    def least(self) -> float:
        """Lowest loss, without the constant."""
        return -0.5 * float((self.solve() * self.right).sum())

    def merged(self, groups: Sequence[Integers]) -> LossExpansion:
        """Loss of models in which the levels of a group share one weight; groups are by table."""
        sizes = [int(group.max(initial=-1)) + 1 for group in groups]
        spans = weight_spans(sizes)
        at = np.concatenate([[0], *(s.start + own for s, own in zip(spans, groups, strict=True))])
        n = len(at)
        ties = csr_array((np.ones(n), (np.arange(n), at.astype(np.intp))), (n, 1 + sum(sizes)))
        hessian = np.array([ties.T @ (ties.T @ own).T for own in self.hessian])
        return LossExpansion(hessian, np.asarray(self.right @ ties), spans)

    def kept(self, tables: Sequence[int]) -> LossExpansion:
        """Loss of models with only some of the tables."""
        own = [np.arange(self.spans[j].start, self.spans[j].stop) for j in tables]
        at = np.concatenate([[0], *own]).astype(np.intp)
        spans = weight_spans(map(len, own))
        return LossExpansion(self.hessian[:, at[:, None], at], self.right[:, at], spans)

    def eliminate(self) -> list[int]:
        """Order of backward elimination: each step removes the table that raises the loss least.

        Without table J the loss rises by 1/2 w_J' (inverse H)_JJ^-1 w_J, if all other weights are
        refitted.
        """
        inverse: Floats = np.asarray(np.linalg.inv(self.held), dtype=np.float64)
        weights, gone = self.solve(), []
        left = [*range(len(self.spans))]
        while left:
            costs = [_cost(inverse, weights, self.spans[j]) for j in left]
            gone.append(left.pop(int(np.argmin(costs))))
            own = self.spans[gone[-1]]
            across = inverse[:, :, own]
            reach = np.linalg.solve(inverse[:, own, own], across.transpose(0, 2, 1))
            weights = weights - np.einsum("kij,ki->kj", reach, weights[:, own])
            inverse = inverse - across @ reach
        return gone


def _cost(inverse: Floats, weights: Floats, own: slice) -> float:
    """Increase of the loss if one table is removed."""
    mine = weights[:, own, None]
    return 0.5 * float((mine * np.linalg.solve(inverse[:, own, own], mine)).sum())


def design_of(positions: Integers, n_weights: int) -> csr_array:
    """Sparse design matrix: 1 for the intercept and for the row's level of each table."""
    every = np.pad(positions.T, ((0, 0), (1, 0)))  # the intercept is at 0
    rows, columns = np.nonzero(every >= 0)
    return csr_array((np.ones(len(rows)), (rows, every[rows, columns])), (len(every), n_weights))


def weights_of(evidence: Evidence) -> Floats:
    """Prior and weights of all tables, with one column per total."""
    return np.vstack([evidence.prior_row, *(table.by_class for table in evidence)])


def moments_of(evidence: Evidence, totals: Floats, labels: Integers, weight: Floats) -> Moments:
    """Loss of rows at their totals, with derivatives; one-against-rest if the model's link is."""
    if evidence.link != "ovr":
        return (LOGISTIC if totals.shape[1] == 1 else SOFTMAX).moments(totals, labels, weight)
    parts = [
        LOGISTIC.moments(totals[:, [k]], (labels == k).view(np.uint8), weight)
        for k in range(totals.shape[1])
    ]
    slopes, curvatures = ([getattr(p, n) for p in parts] for n in ("slope", "curvature"))
    return Moments(sum(p.loss for p in parts), np.hstack(slopes), np.hstack(curvatures))


# ---------------------------------------------------------------- whole points


def round_evidence(
    evidence: Evidence, sample: Sample, most: int, fixed: frozenset[str] = frozenset()
) -> tuple[Evidence, float]:
    """Round weights to whole points, at most `most` in absolute value; also return a point in nats.

    Margins of pairs, which no complete row uses, are only rounded. So are the tables named in
    `fixed`, which keeps the order of their levels.
    """
    quadratic = LossExpansion.at(evidence, sample, at_optimum=True)
    loss, weights = quadratic.held[0], weights_of(evidence)[:, 0]
    across = loss[1:, 0] / loss[0, 0]
    curvature = loss[1:, 1:] - np.outer(across, loss[0, 1:])
    free = np.concatenate([np.full(len(t.levels), t.name not in fixed) for t in evidence])
    points, scale = find_points(curvature, weights[1:], most, free)
    rounded = scale * points
    prior = weights[0] - float(across @ (rounded - weights[1:]))
    tables = tuple(
        replace(
            table,
            by_class=rounded[span.start - 1 : span.stop - 1, None],
            variances=None,
            known_errors=None,
            margins=_round_margins(table.margins, scale, most),
        )
        for table, span in zip(evidence, quadratic.spans, strict=True)
    )
    return replace(evidence, prior=prior, tables=tables, covariance=None), scale


def _round_margins(margins: Margins | None, scale: float, most: int) -> Margins | None:
    """The margins in whole points, at most `most` in absolute value."""
    if margins is None:
        return None
    left, right = (
        scale * np.clip(np.rint(own / (scale or np.inf)), -most, most) for own in margins
    )
    return left, right


def find_points(
    curvature: Floats, weights: Floats, most: int, free: Floats
) -> tuple[Integers, float]:
    """Search for points up to `most` in absolute value; those that are not free are only rounded.

    The result, with the weight of a point in nats, is a local optimum: no change of one weight, or
    of two weights by one point each, has a lower loss.

    >>> find_points(np.eye(3), np.array([0.31, -0.6, 0.9]), 3, np.ones(3, bool))[0]
    array([ 1, -2,  3])
    """
    search = _Search(curvature, curvature @ weights, most, free)
    heaviest = float(np.abs(weights).max(initial=0.0))
    best, value = np.zeros(len(weights), dtype=np.int64), 0.0
    for reach in np.linspace(0.5, most + 0.5, STARTS) if heaviest else ():
        start = np.clip(np.rint(weights * reach / heaviest), -most, most).astype(np.int64)
        points = search.improve(start) if start.any() else start
        own = search.value(points)
        if own > value * (1 + SMALL):
            best, value = points, own
    scale = float(best @ search.slope) / float(best @ curvature @ best) if best.any() else 0.0
    return best if scale >= 0 else -best, abs(scale)


@dataclass(frozen=True, eq=False)
class _Search:
    """The search for points k of largest (k'At)^2/k'Ak, with A `curvature` and At `slope`."""

    curvature: Floats
    slope: Floats
    most: int
    free: Floats

    def value(self, points: Integers) -> float:
        norm = float(points @ self.curvature @ points)
        return float(points @ self.slope) ** 2 / norm if norm > 0 else 0.0

    def improve(self, points: Integers) -> Integers:
        """Change one weight to any points, or two by one point each, as long as that helps."""
        while True:
            value = self.value(points)
            for change in (self._best_single, self._best_double):
                own, better = change(points)
                if own > value * (1 + SMALL):
                    break
            else:
                return points
            points = better

    def _best_single(self, points: Integers) -> tuple[float, Integers]:
        steps = np.arange(-self.most, self.most + 1) - points[:, None]
        across, own = self.curvature @ points, np.diagonal(self.curvature)
        up = points @ self.slope + steps * self.slope[:, None]
        norm = points @ across + 2 * steps * across[:, None] + steps**2 * own[:, None]
        values = np.where(self.free[:, None], _ratio(up, norm), 0.0)
        i, j = np.unravel_index(int(values.argmax()), values.shape)
        changed = points.copy()
        changed[i] += steps[i, j]
        return float(values[i, j]), changed

    def _best_double(self, points: Integers) -> tuple[float, Integers]:
        best = 0.0, points
        slope, across, own = self.slope, self.curvature @ points, np.diagonal(self.curvature)
        for a, b in ((1, 1), (1, -1), (-1, -1)):
            up = points @ slope + a * slope[:, None] + b * slope
            norm = points @ across + 2 * (a * across[:, None] + b * across)
            norm = norm + 2 * a * b * self.curvature + own[:, None] + own
            allowed = (self.free & (np.abs(points + a) <= self.most))[:, None] & self.free
            allowed &= (np.abs(points + b) <= self.most) & ~np.eye(len(points), dtype=bool)
            values = np.where(allowed, _ratio(up, norm), 0.0)
            i, j = np.unravel_index(int(values.argmax()), values.shape)
            if values[i, j] > best[0]:
                changed = points.copy()
                changed[i] += a
                changed[j] += b
                best = float(values[i, j]), changed
        return best


def _ratio(up: Floats, norm: Floats) -> Floats:
    return np.asarray(np.where(norm > 0, up**2 / np.where(norm > 0, norm, 1.0), 0.0))
