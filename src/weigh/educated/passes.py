"""Sums over the rows from one pass: by place, and by cell of the table of each two columns."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations

import numpy as np

from weigh import engine
from weigh.arrays import Floats, Integers
from weigh.educated.design import Design, Target, add_totals, weigh_rows
from weigh.educated.numbers import NumberTarget
from weigh.engine import Block, Pile, Sums
from weigh.newton.regression import Moments
from weigh.pickling import by_fields

AT_ONCE = 6
"""Columns whose sums are one task for a thread."""


@dataclass(frozen=True)
class Strip:
    """The tables of one column with each column before it: where each begins, and its width."""

    columns: Integers
    starts: Integers
    widths: Integers
    height: int
    origins: Integers  # index of the cell that places 0 and 0 would have


@dataclass(frozen=True)
class Tables:
    """Tables of two columns, one after the other in one array.

    Each of the `later` columns has a table with every column before it.
    """

    design: Design
    columns: tuple[int, ...]
    later: tuple[int, ...]  # a subset of the columns

    @cached_property
    def _widths(self) -> Integers:
        return np.array([self.design.sizes[j] + 1 for j in self.columns], dtype=np.int64)

    @cached_property
    def _before(self) -> Integers:
        """The widths of all columns before each column, together."""
        return np.asarray(np.cumsum(self._widths) - self._widths)

    @cached_property
    def _at(self) -> dict[int, int]:
        """The position of each column."""
        return {b: i for i, b in enumerate(self.columns)}

    @cached_property
    def _numbers(self) -> Integers:
        return np.array(self.columns, dtype=np.intp)

    @cached_property
    def _places(self) -> Integers:
        """The place for no level of each column."""
        return np.array(self.design.starts)[self._numbers]

    @cached_property
    def _ends(self) -> list[int]:
        """Where the strip of each later column begins, and where the last one ends."""
        at = np.array([self._at[b] for b in self.later], dtype=np.intp)
        ends: list[int] = np.cumsum([0, *(self._widths * self._before)[at]]).tolist()
        return ends

    @cached_property
    def _starts(self) -> dict[int, int]:
        return dict(zip(self.later, self._ends, strict=False))

    @property
    def size(self) -> int:
        """The number of cells of all tables."""
        return self._ends[-1]

    def strip(self, b: int) -> Strip:
        """The strip of one of the later columns."""
        i = self._at[b]
        widths, height = self._widths[:i], int(self._widths[i])
        starts = self._starts[b] + height * self._before[:i]
        origins = starts - self._places[i] * widths - self._places[:i]
        return Strip(self._numbers[:i], starts, widths, height, origins)


@dataclass(frozen=True)
class RowDerivatives:
    """The places of some rows, and the derivatives of their loss (by class and row)."""

    places: Integers
    weight: Floats
    slope: Floats
    curvature: Floats
    probability: Floats | None
    losses: Floats  # sums over consecutive groups of rows

    def bends(self, k: int, other: int) -> Floats:
        """The second derivative of each row's loss with respect to totals k and other."""
        if k == other:
            return np.asarray(self.curvature[k])
        assert self.probability is not None
        return np.asarray(-self.weight * self.probability[k] * self.probability[other])


@dataclass(frozen=True)
class RowsAtWeights:
    """Evaluate the loss of rows at some weights."""

    design: Design
    target: Target | NumberTarget
    weights: Floats

    __reduce__ = by_fields

    def see(self, block: Block) -> RowDerivatives:
        """Compute the places and derivatives of a block's rows, on threads."""
        shape, starts = (self.target.n_totals, len(block)), range(0, len(block), engine.BLOCK)
        places, weight, padded = self.design.room(len(block)), weigh_rows(block), self._padded
        many, losses = self.target.n_totals > 1, np.zeros(len(starts))
        slope, curvature = np.empty(shape), np.empty(shape)
        probability = np.empty(shape) if many else None

        def fill(start: int) -> None:
            rows = slice(start, start + engine.BLOCK)
            part = block.part(rows)
            self.design.fill(part, start, places)
            totals = add_totals(places, padded, start, len(part))
            found = self.target.moments(totals, self.target.labels(part), weight[rows])
            slope[:, rows], curvature[:, rows] = found.slope.T, found.curvature.T
            if probability is not None:
                probability[:, rows] = found.probability.T  # type: ignore[union-attr]
            losses[start // engine.BLOCK] = found.loss

        engine.spread(fill, starts, len(block))
        return RowDerivatives(places, weight, slope, curvature, probability, losses)

    def moments(self, block: Block, places: Integers) -> Moments:
        """Compute loss, slope and curvature of a block whose places are known."""
        totals = self.design.totals(places, self.weights)
        return self.target.moments(totals, self.target.labels(block), weigh_rows(block))

    @cached_property
    def _padded(self) -> Floats:
        return self.design.pad(self.weights)


@dataclass(frozen=True)
class LossDerivatives(Pile):
    """The statistic at some weights: loss, gradient and Hessian.

    The Hessian between two columns is their table of co-occurrence, with each row weighted by its
    curvature. Within a column it is diagonal. With `across`, the blocks between two classes are
    computed too.
    """

    view: RowsAtWeights
    columns: tuple[int, ...]  # whose tables are computed
    across: bool = False

    __reduce__ = by_fields

    @property
    def pairs(self) -> list[tuple[int, int]]:
        """The pairs of classes with a Hessian: each class with itself, then each two."""
        n = self.view.target.n_totals
        own = [(k, k) for k in range(n)]
        return [*own, *combinations(range(n), 2)] if self.across else own

    @cached_property
    def tables(self) -> Tables:
        """The layout of the tables of each two columns."""
        return Tables(self.view.design, self.columns, self.columns)

    def begin(self) -> Sums:
        """Zeros for: loss and sum of absolute slopes; slopes and curvatures by place; tables."""
        n_places, n_pairs = self.view.design.starts[-1], len(self.pairs)
        slopes = np.zeros((self.view.target.n_totals, n_places))
        diagonals = np.zeros((n_pairs, n_places))
        shape = (n_pairs, self.tables.size)
        tables = np.zeros(shape[::-1] if self.side_by_side else shape)
        return Sums((np.zeros(2), slopes, diagonals, tables))

    @property
    def side_by_side(self) -> bool:
        """Whether each cell stores the values of all classes next to each other."""
        return self.view.target.n_totals > 1 and not self.across

    def add(self, block: Block, total: Sums) -> None:
        """Add a block's rows to one array after the other, each on threads by column."""
        numbers, slopes, diagonals, tables = total.arrays
        seen = self.view.see(block)
        for loss in seen.losses:
            numbers[0] += loss
        numbers[1] += np.abs(seen.slope).sum()
        for values, out in zip(seen.slope, slopes, strict=True):
            self._sum(seen.places, values, out)
        for p, (pair, diagonal) in enumerate(zip(self.pairs, diagonals, strict=True)):
            values = seen.bends(*pair)
            self._sum(seen.places, values, diagonal)
            if not self.side_by_side:
                self._sum_tables(seen.places, values, tables[p])
        if self.side_by_side:
            self._sum_tables(seen.places, np.ascontiguousarray(seen.curvature.T), tables)

    def _sum(self, places: Integers, values: Floats, out: Floats) -> None:
        from weigh.educated.kernels import sum_rows

        out[0] += values.sum()
        lines = [places[j : j + AT_ONCE] for j in range(0, len(places), AT_ONCE)]
        engine.spread(lambda own: sum_rows(own, values, out), lines, len(values))

    def _sum_tables(self, places: Integers, values: Floats, out: Floats) -> None:
        from weigh.educated.kernels import sum_pairs, sum_pairs_each

        add = sum_pairs if values.ndim == 1 else sum_pairs_each

        def fill(b: int) -> None:
            strip = self.tables.strip(b)
            add(places, b, strip.columns, strip.origins, strip.widths, values, out)

        engine.spread(fill, self.columns[::-1], len(values))  # the busiest first


@dataclass(frozen=True)
class Weighed:
    """The statistic that sums the weight of rows by place."""

    design: Design

    __reduce__ = by_fields

    def __call__(self, block: Block) -> Sums:
        """The sums at each place."""
        from weigh.educated.kernels import sum_rows

        out, weight = np.zeros(self.design.starts[-1]), weigh_rows(block)
        sum_rows(self.design.place(block), weight, out)
        return Sums((out,))


@dataclass(frozen=True)
class HessianProduct:
    """The statistic of a Hessian-vector product: how a change of weights changes the slopes.

    If a block can cache numbers (`carry`), the first product stores each row's curvature, or the
    probability of each class. Later products at the same weights reuse them.
    """

    view: RowsAtWeights
    direction: Floats

    __reduce__ = by_fields

    def __call__(self, block: Block) -> Sums:
        """The sums at each place."""
        from weigh.educated.kernels import bend_singles, bend_totals

        design = self.view.design
        places, padded = design.place(block), design.pad(self.direction)
        bends, out = self._bends(block, places), np.zeros_like(padded)
        if bends.shape[1] == 1:
            bend_singles(places, padded[:, 0], bends[:, 0], out[:, 0])
        else:
            bend_totals(places, padded, weigh_rows(block), bends, out)
        return Sums((np.ascontiguousarray(out.T),))

    def _bends(self, block: Block, places: Integers) -> Floats:
        """The curvature of each row, or the probability of each class."""
        carry = block.carry
        if carry is not None and carry.done[0] == self._mark:
            return carry.values
        found = self.view.moments(block, places)
        bends = found.curvature if found.probability is None else found.probability
        if carry is not None:
            carry.values[:], carry.done[0] = bends, self._mark
        return np.asarray(bends)

    @cached_property
    def _mark(self) -> int:
        """A hash of the weights, of seven bytes so that it is not negative."""
        seven = hashlib.blake2b(self.view.weights.tobytes(), digest_size=7).digest()
        return int.from_bytes(seven, "little")
