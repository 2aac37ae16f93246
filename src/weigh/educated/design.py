"""Where the weights of a row stand, and the derivatives of its loss: what a pass looks at.

Every row has the intercept and a level in each column. The weights of all levels stand in one
vector, the intercept first. A design holds no rows: it travels to where they are.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import ClassVar

import numpy as np
from scipy.special import logsumexp

from weigh.bins import Cross
from weigh.engine import Block
from weigh.frames import Floats, Integers
from weigh.newton.regression import LOGISTIC, SOFTMAX, Loss, Moments
from weigh.pickling import by_fields


@dataclass(frozen=True)
class Target:
    """What is told: the weight of each class, or of the rest and one class (`of`)."""

    class_counts: Floats
    of: int | None = None

    @property
    def n_classes(self) -> int:
        """The classes, or the rest and the one."""
        return len(self.class_counts)

    @property
    def n_totals(self) -> int:
        """One total for two classes, else one per class."""
        return 1 if self.n_classes == 2 else self.n_classes

    @property
    def n_free(self) -> int:
        """The weights of a level that are free: those of all classes sum to zero."""
        return self.n_classes - 1

    @property
    def n_rows(self) -> float:
        """The weight of all rows."""
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
        """The class of each row among all, by which cells are counted."""
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
        """Classes have no dispersion: the loss is in nats."""
        return self


def weigh_rows(block: Block) -> Floats:
    """The weight of each row."""
    return np.ones(len(block)) if block.weight is None else block.weight


@dataclass(frozen=True)
class Source:
    """How the level of a column follows from those of one coded feature, or of two.

    `levels` has an entry for each level of the feature, or each two, and for no level; `size`
    stands for no level.
    """

    features: tuple[int, ...]
    levels: Integers
    size: int
    width: int = 1  # the second feature's levels, and no level

    @classmethod
    def of(cls, feature: int, size: int) -> Source:
        """A feature as it is."""
        return cls((feature,), np.arange(size + 1), size)

    @classmethod
    def of_cross(cls, cross: Cross, parts: Sequence[Source]) -> Source:
        """The pairs of the levels of two columns."""
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

    Before the places of a column's levels there is one for no level; place 0 is the intercept's. A
    silent column tells nothing: its rows have no level.

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
        """The levels of each column."""
        return [source.size for source in self.sources]

    @property
    def n_weights(self) -> int:
        """Of all levels, and the intercept."""
        return 1 + sum(self.sizes)

    @cached_property
    def spans(self) -> tuple[slice, ...]:
        """Where the weights of each column stand among all weights."""
        return tuple(slice(a, b) for a, b in pairwise(np.cumsum([1, *self.sizes]).tolist()))

    @cached_property
    def starts(self) -> list[int]:
        """The place for no level of each column; the last is the number of places."""
        ends: list[int] = np.cumsum([1, *(size + 1 for size in self.sizes)]).tolist()
        return ends

    @cached_property
    def kept(self) -> Integers:
        """The places that have a weight."""
        return np.delete(np.arange(self.starts[-1]), self.starts[:-1])

    @cached_property
    def _tables(self) -> list[Integers]:
        """The place of each level that a source can have."""
        tables, kind = [], self.room(0).dtype
        for j, (source, start) in enumerate(zip(self.sources, self.starts, strict=False)):
            known = (source.levels < source.size) & (j not in self.silent)
            tables.append((start + np.where(known, source.levels + 1, 0)).astype(kind))
        return tables

    def place(self, block: Block) -> Integers:
        """Where the weights of each row stand: a line for each column."""
        out = self.room(len(block))
        self.fill(block, 0, out)
        return out

    def room(self, n_rows: int) -> Integers:
        """For the places of so many rows."""
        kind = np.uint16 if self.starts[-1] < 1 << 16 else np.uint32
        return np.empty((len(self.sources), n_rows), kind)

    def fill(self, block: Block, first: int, out: Integers) -> None:
        """The same, into the columns of an array from `first` on."""
        from weigh.educated import kernels

        rows = slice(first, first + len(block))
        for source, table, line in zip(self.sources, self._tables, out, strict=True):
            codes = [block.codes[j] for j in source.features]
            if len(codes) == 1:
                kernels.place(codes[0], table, line[rows])
            else:
                kernels.place_pair(*codes, source.width, table, line[rows])

    def pad(self, weights: Floats) -> Floats:
        """Weights by place, and zero for no level."""
        out = np.zeros((self.starts[-1], weights.shape[1]))
        out[self.kept] = weights
        return out

    def unpad(self, sums: Floats) -> Floats:
        """Sums by place as sums by weight, class by class: rows of places become columns."""
        return np.ascontiguousarray(sums[:, self.kept].T)

    def totals(self, places: Integers, weights: Floats) -> Floats:
        """The sum of each row's weights."""
        return add_totals(places, self.pad(weights), 0, places.shape[1])

    def index(self, local: Integers) -> Integers:
        """By place: where each weight stands among some, negative where it does not."""
        out = np.full(self.starts[-1], -1, dtype=np.int32)
        out[self.kept] = local
        return out


def add_totals(places: Integers, padded: Floats, first: int, n_rows: int) -> Floats:
    """The sum of the weights of so many rows, those from `first` on."""
    from weigh.educated.kernels import add_singles, add_weights

    out = np.tile(padded[0], (n_rows, 1))
    if padded.shape[1] == 1:
        add_singles(places, padded[:, 0], first, out[:, 0])
    else:
        add_weights(places, padded, first, out)
    return out


def add_squares(places: Integers, index: Integers, matrix: Floats) -> Floats:
    """Each row's x' M x: the variance of its total, of the inverse Hessian of some weights."""
    from weigh.educated.kernels import sum_squares

    out = np.empty(places.shape[1])
    sum_squares(places, index, matrix, out)
    return out
