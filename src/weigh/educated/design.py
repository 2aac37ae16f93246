"""The rows of a fit as places of weights, and the sums that a pass over them gives.

Every row has a place in the intercept and in each feature. The weights of all levels stand in one
vector; the Hessian between two features is their table of co-occurrence.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from weigh import engine
from weigh.bins import Placed
from weigh.frames import Floats, Integers


@dataclass(frozen=True)
class Rows:
    """The class of each row, and its weight."""

    labels: Integers
    weight: Floats
    n_classes: int

    @property
    def n_totals(self) -> int:
        """One total for two classes, else one per class."""
        return 1 if self.n_classes == 2 else self.n_classes

    def prior(self) -> Floats:
        """The totals of a model without features."""
        counts = np.bincount(self.labels, self.weight, self.n_classes)
        logs: Floats = np.log(np.maximum(counts / counts.sum(), 1e-10))
        totals: Floats = logs[1:] - logs[:1] if self.n_classes == 2 else logs - logs.mean()
        return totals

    def moments(self, totals: Floats) -> Moments:
        """Loss, slope and curvature of each row at its totals."""
        from weigh import kernels
        from weigh.educated.kernels import softmax_moments

        slope, second = np.empty_like(totals), np.empty_like(totals)
        if self.n_totals > 1:
            loss = softmax_moments(totals, self.labels, self.weight, slope, second)
            return Moments(float(loss), slope, self.weight[:, None] * second * (1 - second), second)
        loss = kernels.logistic_moments(
            totals[:, 0], self.labels, self.weight, slope[:, 0], second[:, 0]
        )
        return Moments(float(loss), slope, second)


@dataclass(frozen=True)
class Moments:
    """The loss in nats, and its first and second derivative in the totals of each row.

    `curvature` is the second derivative in each total alone.
    """

    loss: float
    slope: Floats
    curvature: Floats
    probability: Floats | None = None  # of more than two classes

    def bend(self, change: Floats, weight: Floats) -> Floats:
        """What a small change of the totals adds to the slopes."""
        if self.probability is None:
            return self.curvature * change
        mean = (self.probability * change).sum(axis=1, keepdims=True)
        bent: Floats = weight[:, None] * self.probability * (change - mean)
        return bent


@dataclass(frozen=True)
class Design:
    """Where each row's weights stand: a line per feature, the intercept (place 0) first.

    >>> from weigh.bins import Placed
    >>> part = Placed(np.array([0, 1, 1]), np.arange(3))
    >>> design = Design.of([part], [2], 3)
    >>> design.totals(np.array([[-1.0], [2.0], [5.0]])).ravel()
    array([1., 4., 4.])
    """

    places: Integers
    spans: tuple[slice, ...]  # of the features' weights
    n_weights: int

    @classmethod
    def of(cls, placed: Sequence[Placed], sizes: Sequence[int], n_rows: int) -> Design:
        """The rows of features with so many levels each."""
        starts = np.cumsum([1, *sizes]).tolist()
        n = starts[-1]
        places = np.zeros((len(sizes) + 1, n_rows), np.uint16 if n < 1 << 16 else np.uint32)

        def fill(j: int) -> None:
            found = np.where(placed[j].levels < sizes[j], placed[j].levels + starts[j], n)
            places[j + 1] = found.astype(places.dtype)[placed[j].codes]

        engine.spread(fill, range(len(sizes)), n_rows)
        spans = tuple(slice(a, b) for a, b in pairwise(starts))
        return cls(places, spans, n)

    @property
    def n_rows(self) -> int:
        """How many rows there are."""
        return int(self.places.shape[1])

    def some(self, most: int) -> Integers:
        """Up to so many rows, evenly spaced."""
        return np.arange(0, self.n_rows, -(-self.n_rows // most))

    def take(self, rows: Integers) -> Design:
        """Some of the rows."""
        return replace(self, places=np.ascontiguousarray(self.places[:, rows]))

    def among(self, chosen: Integers) -> Design:
        """The rows' places among some of the weights, whole features of them."""
        local = np.full(self.n_weights + 1, len(chosen), dtype=self.places.dtype)
        local[chosen] = np.arange(len(chosen))
        kept = [True, *(bool(local[span.start] < len(chosen)) for span in self.spans)]
        spans = tuple(
            slice(int(local[span.start]), int(local[span.start]) + span.stop - span.start)
            for span, keep in zip(self.spans, kept[1:], strict=True)
            if keep
        )
        return Design(local[self.places[kept]], spans, len(chosen))

    def totals(self, weights: Floats) -> Floats:
        """The sum of each row's weights."""
        from weigh.educated.kernels import add_weights

        padded = _pad(weights)
        out = np.zeros((self.n_rows, weights.shape[1]))

        def fill(start: int) -> None:
            stop = min(start + engine.BLOCK, self.n_rows)
            add_weights(self.places, padded, start, stop, out)

        engine.spread(fill, range(0, self.n_rows, engine.BLOCK), self.n_rows)
        return out

    def sums(self, values: Floats) -> Floats:
        """The sum of the values of the rows at each place: the gradient, of slopes."""
        from weigh.educated.kernels import sum_rows

        out = np.zeros((values.shape[1], self.n_weights + 1))
        columns = np.ascontiguousarray(values.T)

        def fill(j: int) -> None:
            for column, line in zip(columns, out, strict=True):
                sum_rows(self.places[j], column, line)  # columns share the last place alone

        engine.spread(fill, range(len(self.places)), self.n_rows)
        return out[:, :-1].T

    def pairs(self, values: Floats) -> Floats:
        """The sum of the values of the rows at each pair of places: the Hessian, of curvatures."""
        from weigh.educated.kernels import sum_pairs

        out = np.zeros((self.n_weights + 1, self.n_weights + 1))
        busiest_first = range(len(self.places) - 1, 0, -1)
        engine.spread(lambda j: sum_pairs(self.places, j, values, out), busiest_first, self.n_rows)
        lower = out[:-1, :-1]
        whole: Floats = lower + lower.T
        np.fill_diagonal(whole, self.sums(values[:, None])[:, 0])
        return whole

    def cells(self, column: int, folds: Integers, values: Floats, n_folds: int) -> Floats:
        """Sums of each value over the rows of a fold, at a feature's places and those before.

        Value by fold by place in the feature by place in all features before it.
        """
        from weigh.educated.kernels import sum_cells

        span = self.spans[column]
        shape = (n_folds, span.stop - span.start + 1, span.start + 1, values.shape[1])
        out = np.zeros(shape)
        sum_cells(self.places, column + 1, folds, values, out)
        return np.moveaxis(out[:, :-1, 1:-1], -1, 0)

    def squares(self, matrix: Floats) -> Floats:
        """Each row's x' M x: the variance of its total, of the inverse Hessian."""
        from weigh.educated.kernels import sum_squares

        padded, out = np.zeros(np.add(matrix.shape, 1)), np.empty(self.n_rows)
        padded[:-1, :-1] = matrix

        def fill(start: int) -> None:
            stop = min(start + engine.BLOCK, self.n_rows)
            sum_squares(self.places, padded, start, stop, out)

        engine.spread(fill, range(0, self.n_rows, engine.BLOCK), self.n_rows)
        return out


def _pad(weights: Floats) -> Floats:
    """The weights, and zero for no place."""
    return np.vstack([weights, np.zeros((1, weights.shape[1]))])
