"""The design of a fit: the position of each level's weight, and the loss of a row.

Every row has the intercept and one level in each column. The weights of all levels form one vector,
the intercept first. A design holds no rows, so it can be sent to the workers that hold them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np
from scipy.special import logsumexp

from weigh.arrays import Floats, Integers
from weigh.bins import Cross
from weigh.engine import Block
from weigh.evidence.tables import weight_spans
from weigh.newton.regression import LOGISTIC, SOFTMAX, Loss, Moments
from weigh.pickling import by_fields


@dataclass(frozen=True)
class Target:
    """A target with classes: the weight of each class, or of the rest and one class (`of`)."""

    class_counts: Floats
    of: int | None = None

    @property
    def n_classes(self) -> int:
        """The number of classes; two with `of`, the rest and that class."""
        return len(self.class_counts)

    @property
    def n_totals(self) -> int:
        """One total for two classes, else one per class."""
        return 1 if self.n_classes == 2 else self.n_classes

    @property
    def n_free(self) -> int:
        """The number of free weights of a level: the weights of all classes sum to zero."""
        return self.n_classes - 1

    @property
    def n_rows(self) -> float:
        """The sum of the weights of all rows."""
        return float(self.class_counts.sum())

    def prior(self) -> Floats:
        """The totals of a model without features."""
        counts = self.class_counts
        logs: Floats = np.log(np.maximum(counts / counts.sum(), 1e-10))
        totals: Floats = logs[1:] - logs[:1] if self.n_classes == 2 else logs - logs.mean()
        return totals

    def labels(self, block: Block) -> Integers:
        """The class of each row, from 0."""
        if self.of is None:
            return block.labels
        return np.asarray((block.labels == self.of).view(np.uint8))

    def classes(self, block: Block) -> Integers:
        """The class of each row among all classes, by which cells are counted (ignores `of`)."""
        return block.labels

    @property
    def loss(self) -> Loss:
        """The loss of a row as a function of its totals."""
        return LOGISTIC if self.n_totals == 1 else SOFTMAX

    def moments(self, totals: Floats, labels: Integers, weight: Floats) -> Moments:
        """Loss, slope and curvature of each row at its totals."""
        return self.loss.moments(totals, labels, weight)

    def losses(self, totals: Floats, labels: Integers) -> Floats:
        """The log loss of each row, in nats."""
        if self.n_totals == 1:
            return np.logaddexp(0.0, np.where(labels == 1, -totals[:, 0], totals[:, 0]))
        chosen = totals[np.arange(len(labels)), labels]
        return np.asarray(logsumexp(totals, axis=1) - chosen)

    quadratic: ClassVar[bool] = False
    noisy: ClassVar[bool] = False

    def dispersed(self, noise: float) -> Target:
        """Return the target itself: a target with classes has no dispersion parameter."""
        return self


def weigh_rows(block: Block) -> Floats:
    """The weight of each row."""
    return np.ones(len(block)) if block.weight is None else block.weight


@dataclass(frozen=True)
class Source:
    """A map from the levels of one coded feature, or of two, to the level of a column.

    `levels` has an entry for each level of the feature (or each combination of two levels), and for
    no level. The entry `size` means no level.
    """

    features: tuple[int, ...]
    levels: Integers
    size: int
    width: int = 1  # number of levels of the second feature, including no level

    @classmethod
    def of(cls, feature: int, size: int) -> Source:
        """The levels of a feature, unchanged."""
        return cls((feature,), np.arange(size + 1), size)

    @classmethod
    def of_cross(cls, cross: Cross, parts: Sequence[Source]) -> Source:
        """The level of a pair of columns, from the levels of both."""
        left, right = parts
        grid = np.full((left.size + 1, right.size + 1), len(cross.pairs))
        if cross.pairs:
            grid[tuple(np.array(cross.pairs).T)] = np.arange(len(cross.pairs))
        levels = grid[np.ix_(left.levels, right.levels)].ravel()
        both = (*left.features, *right.features)
        return cls(both, levels, len(cross.pairs), len(right.levels))


@dataclass(frozen=True)
class Design:
    """The columns of a fit, and the places of their levels.

    A place is an index into the padded vector of weights. Place 0 is the intercept. Each column has
    one place for no level, followed by the places of its levels. In a silent column all rows are
    treated as having no level.

    >>> design = Design((Source.of(0, 2),))
    >>> block = Block([np.array([0, 1, 2])], np.zeros(3))
    >>> design.totals(design.place(block), np.array([[-1.0], [2.0], [5.0]])).ravel()
    array([ 1.,  4., -1.])
    """

    sources: tuple[Source, ...]
    silent: frozenset[int] = frozenset()

    __reduce__ = by_fields

    @property
    def sizes(self) -> list[int]:
        """The number of levels of each column."""
        return [source.size for source in self.sources]

    @property
    def n_weights(self) -> int:
        """The number of weights: one for each level, and the intercept."""
        return 1 + sum(self.sizes)

    @cached_property
    def spans(self) -> tuple[slice, ...]:
        """The slice of each column in the vector of weights."""
        return weight_spans(self.sizes)

    @cached_property
    def starts(self) -> list[int]:
        """The place for no level of each column, followed by the number of places."""
        ends: list[int] = np.cumsum([1, *(size + 1 for size in self.sizes)]).tolist()
        return ends

    @cached_property
    def kept(self) -> Integers:
        """The places that have a weight: all but those for no level."""
        return np.delete(np.arange(self.starts[-1]), self.starts[:-1])

    @cached_property
    def _tables(self) -> list[Integers]:
        """The place of each entry of a source, by column."""
        tables, kind = [], self.room(0).dtype
        for j, (source, start) in enumerate(zip(self.sources, self.starts, strict=False)):
            known = (source.levels < source.size) & (j not in self.silent)
            tables.append((start + np.where(known, source.levels + 1, 0)).astype(kind))
        return tables

    def place(self, block: Block) -> Integers:
        """The place of each row's level in each column: one line per column."""
        out = self.room(len(block))
        self.fill(block, 0, out)
        return out

    def room(self, n_rows: int) -> Integers:
        """An empty array for the places of `n_rows` rows."""
        kind = np.uint16 if self.starts[-1] < 1 << 16 else np.uint32
        return np.empty((len(self.sources), n_rows), kind)

    def fill(self, block: Block, first: int, out: Integers) -> None:
        """Write the places of a block's rows into the columns of `out`, from `first` on."""
        from weigh.educated import kernels

        rows = slice(first, first + len(block))
        for source, table, line in zip(self.sources, self._tables, out, strict=True):
            codes = [block.codes[j] for j in source.features]
            if len(codes) == 1:
                kernels.place(codes[0], table, line[rows])
            else:
                kernels.place_pair(*codes, source.width, table, line[rows])

    def pad(self, weights: Floats) -> Floats:
        """Arrange weights by place, with zero for no level."""
        out = np.zeros((self.starts[-1], weights.shape[1]))
        out[self.kept] = weights
        return out

    def unpad(self, sums: Floats) -> Floats:
        """Turn sums by class and place into sums by weight and class."""
        return np.ascontiguousarray(sums[:, self.kept].T)

    def totals(self, places: Integers, weights: Floats) -> Floats:
        """The sum of each row's weights."""
        return add_totals(places, self.pad(weights), 0, places.shape[1])

    def index(self, local: Integers) -> Integers:
        """Arrange by place the index of each weight in a subset; -1 for no level."""
        out = np.full(self.starts[-1], -1, dtype=np.int32)
        out[self.kept] = local
        return out


def add_totals(places: Integers, padded: Floats, first: int, n_rows: int) -> Floats:
    """The totals of `n_rows` rows from `first` on: each the sum of the row's weights."""
    from weigh.educated.kernels import add_singles, add_weights

    out = np.tile(padded[0], (n_rows, 1))
    if padded.shape[1] == 1:
        add_singles(places, padded[:, 0], first, out[:, 0])
    else:
        add_weights(places, padded, first, out)
    return out


def add_squares(places: Integers, index: Integers, matrix: Floats) -> Floats:
    """Compute x' M x of each row: the variance of its total, if M is the inverse Hessian."""
    from weigh.educated.kernels import sum_squares

    out = np.empty(places.shape[1])
    sum_squares(places, index, matrix, out)
    return out
