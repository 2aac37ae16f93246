"""Summarise one column, in as few passes as needed to find its levels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np

from weigh.arrays import Floats
from weigh.bins import midpoint
from weigh.frames import Codes, Column, Numbers
from weigh.sketches.codes import DistinctCodes
from weigh.sketches.numbers import READINGS, CellCounts, DistinctNumbers
from weigh.tally import Rare, Rows

Mask: TypeAlias = np.ndarray[Any, np.dtype[np.bool_]]

HEAVY_FRACTION = 1 << 9
"""A cell with several numbers and more than 1/512 of the weight is counted again, more finely."""


@dataclass(frozen=True)
class ColumnSummary:
    """Summary of a column: each value once per class, with its weight.

    If `least` is given, each number stands for a cell of which it is the largest and `least` the
    smallest, and `reading` is what held of all numbers. `rare` holds the categories that were
    counted together.
    """

    column: Column
    rows: Rows
    least: Floats | None = None
    rare: Rare | None = None
    reading: Mapping[str, bool] | None = None

    @classmethod
    def of_counts(cls, column: Codes, counts: Floats) -> ColumnSummary:
        """Summary of a column of which each code was counted by class."""
        return _repeat(column.codes[:0], counts, column)

    def reads(self, name: str, special: Sequence[Any]) -> bool:
        """Whether one of `READINGS` holds of all numbers, special values aside."""
        assert isinstance(self.column, Numbers)
        if self.reading is not None:
            return self.reading[name]
        return READINGS[name](self.column.values, self.rows.weight, special)

    def in_order(self) -> ColumnSummary:
        """Sort the numbers, so that the parts need no sorting."""
        if not isinstance(self.column, Numbers):
            return self
        order = np.argsort(self.column.values)
        return replace(self, column=Numbers(self.column.values[order]), rows=self.rows.take(order))

    def part(self, groups: Mask) -> ColumnSummary:
        """Summary of some groups of rows; labels must number pairs of group and class."""
        n_classes = self.rows.n_classes // len(groups)
        rows, column, least, rare = self.rows, self.column, self.least, self.rare
        if not groups.all():
            kept = np.repeat(groups, n_classes)[rows.labels]
            rows, column, least = rows.take(kept), _take(column, kept), self._least_of(kept)
        labels = rows.labels % rows.labels.dtype.type(n_classes)
        if rare is not None:
            counts = rare.counts.reshape(len(groups), -1)[groups].sum(axis=0)
            rare = replace(rare, counts=counts) if counts.any() else None
        rows = Rows(labels, rows.weight, n_classes)
        return replace(self, column=column, rows=rows, least=least, rare=rare)

    def _least_of(self, kept: Mask) -> Floats | None:
        """Smallest number of each cell that the rows fall into."""
        if self.least is None:
            return None
        assert isinstance(self.column, Numbers)
        known = self.column.values[~np.isnan(self.column.values)]
        some = self.column.values[kept & ~np.isnan(self.column.values)]
        return self.least[np.isin(np.unique(known), some)]

    def refine_cuts(self, cuts: tuple[float, ...]) -> tuple[float, ...]:
        """Move cut points between cells to the midpoint of the two numbers next to them."""
        if self.least is None or not cuts:
            return cuts
        assert isinstance(self.column, Numbers)
        most = np.unique(self.column.values[~np.isnan(self.column.values)])
        places = np.searchsorted(most, cuts, side="right").tolist()
        return tuple(midpoint(float(most[i - 1]), float(self.least[i])) for i in places)


class Survey:
    """Summary of a column under construction, over one or more passes.

    Parameters
    ----------
    name : str
        Name of the column.
    n_classes : int
        Number of classes.
    cuts, special : sequences of numbers
        Cut points given by the user, if any, and numbers that are levels of their own.
    most : int, optional
        Largest number of categories that become levels.
    """

    def __init__(
        self,
        name: str,
        n_classes: int,
        cuts: Sequence[float] | None = None,
        special: Sequence[float] = (),
        most: int | None = None,
    ) -> None:
        self.name, self.n_classes, self.most = name, n_classes, most
        self.special = np.array(special, dtype=np.float64)
        self.codes: DistinctCodes | None = None
        self.numbers: DistinctNumbers | None = None
        self.cells = None if cuts is None else self._cell_counts(cuts)
        self.inside: DistinctNumbers | None = None  # of the heavy cells

    @property
    def n_categories(self) -> int:
        """Number of categories held in memory."""
        return 0 if self.codes is None else len(self.codes)

    # ------------------------------------------------------------ passes

    def add(self, column: Column, rows: Rows) -> None:
        """Add rows of the current pass."""
        if isinstance(column, Codes):
            if self.codes is None:
                self.codes = DistinctCodes(self.name, self.n_classes, self.most)
            self.codes.add(column, rows)
        elif self.inside is not None:
            self.inside.add(*self._heavy_rows(column.values, rows))
        elif self.cells is not None:
            self.cells.add(column.values, rows)
        else:
            self.numbers = self.numbers or DistinctNumbers(self.n_classes)
            self.numbers.add(column.values, rows)

    def merge(self, other: Survey) -> None:
        """Add a survey of other rows of the current pass."""
        for part in ("inside", "cells", "numbers", "codes"):
            theirs = getattr(other, part)
            if theirs is None:
                continue
            if getattr(self, part) is None:
                setattr(self, part, theirs)
            else:
                getattr(self, part).merge(theirs)
            return

    def needs_pass(self) -> bool:
        """Return whether another pass is needed, and prepare for it."""
        if self.codes is not None:
            return self.codes.needs_pass()
        if self.numbers is None or self.numbers.sample is None:
            return False
        if self.cells is None:
            self.cells = self._cell_counts(self.numbers.sample)
            return True
        if self.inside is not None:
            return self._split_heavy()
        heavy = int(self._heavy().sum())
        if heavy:  # the end of each is in the sample already
            self.inside = DistinctNumbers(self.n_classes, extra=heavy)
        return heavy > 0

    def _split_heavy(self) -> bool:
        """Divide the heavy cells further if they hold too many distinct numbers.

        Each pass makes cells thousands of times smaller, so few passes suffice.
        """
        assert self.inside is not None
        assert self.cells is not None
        if self.inside.sample is None:
            return False
        ends = [*self.cells.ends, *self.inside.sample]
        self.cells, self.inside = self._cell_counts(ends), None
        return True

    def _cell_counts(self, ends: Any) -> CellCounts:
        return CellCounts(self._ends(ends), self.n_classes, self.special)

    def _ends(self, ends: Any) -> Floats:
        """Ends of cells, with a cell of its own for each special value."""
        return np.unique([*ends, *self.special, *np.nextafter(self.special, -np.inf)])

    def _heavy(self) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
        assert self.cells is not None
        weight = self.cells.counts.sum(axis=1)
        several = self.cells.least < self.cells.most
        return np.asarray(several & (weight * HEAVY_FRACTION > weight.sum()))

    def _heavy_rows(self, values: Floats, rows: Rows) -> tuple[Floats, Rows]:
        assert self.cells is not None
        kept = self._heavy()[np.searchsorted(self.cells.ends, values)] & ~np.isnan(values)
        return values[kept], rows.take(kept)

    # ------------------------------------------------------------ result

    def summary(self) -> ColumnSummary:
        """Summary of the column, after the last pass."""
        if self.codes is not None:
            codes = self.codes.summary()
            return replace(_repeat(codes.codes, self.codes.counts, codes), rare=self.codes.rare)
        if self.cells is not None:
            values, counts, least = self._cells()
            missing = self.cells.missing
        else:
            assert self.numbers is not None
            values, counts, least = self.numbers.values, self.numbers.counts, None
            missing = self.numbers.missing
        if missing.any():
            values, counts = np.append(values, np.nan), np.vstack([counts, missing])
        reading = None if self.cells is None else self.cells.reading
        return replace(_repeat(values, counts, None, least), reading=reading)

    def _cells(self) -> tuple[Floats, Floats, Floats]:
        """Largest number, counts and smallest number of each cell that has rows."""
        assert self.cells is not None
        kept = self.cells.counts.any(axis=1)
        if self.inside is not None:
            kept &= ~self._heavy()
        values, counts = self.cells.most[kept], self.cells.counts[kept]
        least = self.cells.least[kept]
        if self.inside is not None:
            values, least = (np.append(part, self.inside.values) for part in (values, least))
            counts = np.vstack([counts, self.inside.counts])
        order = np.argsort(values)
        return values[order], counts[order], least[order]


def _take(column: Column, kept: Mask) -> Column:
    if isinstance(column, Codes):
        return replace(column, codes=column.codes[kept])
    return Numbers(column.values[kept])


def _repeat(
    values: Floats, counts: Floats, codes: Codes | None, least: Floats | None = None
) -> ColumnSummary:
    """Make a summary with one row for each value and class that occur together."""
    place, label = np.nonzero(counts)
    rows = Rows(label, counts[place, label], counts.shape[1])
    column = Numbers(values[place]) if codes is None else Codes(place, codes.values, codes.typed)
    return ColumnSummary(column, rows, least)
