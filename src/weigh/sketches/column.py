"""One column, surveyed in as few passes as it takes to know its levels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np

from weigh.bins import are_whole, midpoint
from weigh.frames import Codes, Column, Floats, Numbers
from weigh.sketches.codes import DistinctCodes
from weigh.sketches.numbers import CellCounts, DistinctNumbers
from weigh.tally import Rare, Rows

Mask: TypeAlias = np.ndarray[Any, np.dtype[np.bool_]]

HEAVY = 1 << 9
"""A cell of several numbers that has more than this part of the weight is looked at once more."""


@dataclass(frozen=True)
class Short:
    """A column in which each value stands once for every class, with its weight.

    Where `least` is given, a number stands for the cell of which it is the largest, and `whole`
    says whether all numbers were whole. `rare` is of categories that were not told apart.
    """

    column: Column
    rows: Rows
    least: Floats | None = None
    rare: Rare | None = None
    whole: bool | None = None

    def is_whole(self, special: Sequence[Any]) -> bool:
        """Whether a column of numbers holds whole ones alone, apart from special ones."""
        assert isinstance(self.column, Numbers)
        if self.whole is not None:
            return self.whole
        return are_whole(self.column.values, self.rows.weight, special)

    def in_order(self) -> Short:
        """The same rows with numbers in order, so that those of a part need no more sorting."""
        if not isinstance(self.column, Numbers):
            return self
        order = np.argsort(self.column.values)
        return replace(self, column=Numbers(self.column.values[order]), rows=self.rows.take(order))

    def part(self, groups: Mask) -> Short:
        """The rows of some groups, where labels number the group and the class of a row as one."""
        n_classes = self.rows.n_classes // len(groups)
        rows, column, least, rare = self.rows, self.column, self.least, self.rare
        if not groups.all():
            kept = np.repeat(groups, n_classes)[rows.labels]
            rows, column, least = rows.take(kept), _take(column, kept), self._least_of(kept)
        labels = rows.labels % rows.labels.dtype.type(n_classes)
        if rare is not None:
            counts = rare.counts.reshape(len(groups), -1)[groups].sum(axis=0)
            rare = replace(rare, counts=counts) if counts.any() else None
        return Short(column, Rows(labels, rows.weight, n_classes), least, rare)

    def _least_of(self, kept: Mask) -> Floats | None:
        """The least number of each cell that some rows are in."""
        if self.least is None:
            return None
        assert isinstance(self.column, Numbers)
        known = self.column.values[~np.isnan(self.column.values)]
        some = self.column.values[kept & ~np.isnan(self.column.values)]
        return self.least[np.isin(np.unique(known), some)]

    def settle(self, cuts: tuple[float, ...]) -> tuple[float, ...]:
        """Cut points between cells, halfway between the numbers next to them."""
        if self.least is None or not cuts:
            return cuts
        assert isinstance(self.column, Numbers)
        most = np.unique(self.column.values[~np.isnan(self.column.values)])
        places = np.searchsorted(most, cuts, side="right").tolist()
        return tuple(midpoint(float(most[i - 1]), float(self.least[i])) for i in places)


class Survey:
    """What is known of a column so far.

    Parameters
    ----------
    name : str
        Its name.
    n_classes : int
        The number of classes.
    cuts, special : sequences of numbers
        Where the user cuts it, if he does, and numbers that are levels of their own.
    most : int, optional
        How many categories are to be levels.
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
        """How many categories are held in memory."""
        return 0 if self.codes is None else len(self.codes)

    # ------------------------------------------------------------ passes

    def add(self, column: Column, rows: Rows) -> None:
        """Take some more rows of this pass."""
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
        """Take the rows that another has seen in this pass."""
        for part in ("inside", "cells", "numbers", "codes"):
            theirs = getattr(other, part)
            if theirs is None:
                continue
            if getattr(self, part) is None:
                setattr(self, part, theirs)
            else:
                getattr(self, part).merge(theirs)
            return

    def wants_more(self) -> bool:
        """Whether another pass is needed; it is made ready for that."""
        if self.codes is not None:
            return self.codes.wants_more()
        if self.numbers is None or self.numbers.sample is None:
            return False
        if self.cells is None:
            self.cells = self._cell_counts(self.numbers.sample)
            return True
        if self.inside is not None:
            return self._part_heavy()
        heavy = int(self._heavy().sum())
        if heavy:  # each ends with a number that was sampled already
            self.inside = DistinctNumbers(self.n_classes, more=heavy)
        return heavy > 0

    def _part_heavy(self) -> bool:
        """Part the heavy cells in turn, where they hold too many numbers to look at one by one.

        Each time they hold thousands of times fewer, so this ends soon.
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
        """Ends of cells, among which special codes have cells of their own."""
        return np.unique([*ends, *self.special, *np.nextafter(self.special, -np.inf)])

    def _heavy(self) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
        assert self.cells is not None
        weight = self.cells.counts.sum(axis=1)
        several = self.cells.least < self.cells.most
        return np.asarray(several & (weight * HEAVY > weight.sum()))

    def _heavy_rows(self, values: Floats, rows: Rows) -> tuple[Floats, Rows]:
        assert self.cells is not None
        kept = self._heavy()[np.searchsorted(self.cells.ends, values)] & ~np.isnan(values)
        return values[kept], rows.take(kept)

    # ------------------------------------------------------------ what came out

    def short(self) -> Short:
        """The column in brief."""
        if self.codes is not None:
            codes = self.codes.short()
            return replace(_repeat(codes.codes, self.codes.counts, codes), rare=self.codes.rare)
        if self.cells is not None:
            values, counts, least = self._cells()
            missing, whole = self.cells.missing, self.cells.whole
        else:
            assert self.numbers is not None
            values, counts, least = self.numbers.values, self.numbers.counts, None
            missing, whole = self.numbers.missing, None
        if missing.any():
            values, counts = np.append(values, np.nan), np.vstack([counts, missing])
        return replace(_repeat(values, counts, None, least), whole=whole)

    def _cells(self) -> tuple[Floats, Floats, Floats]:
        """The largest number, the counts and the least number of each cell that has any rows."""
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
) -> Short:
    """One row for each value and class that occur together."""
    place, label = np.nonzero(counts)
    rows = Rows(label, counts[place, label], counts.shape[1])
    column = Numbers(values[place]) if codes is None else Codes(place, codes.values, codes.typed)
    return Short(column, rows, least)
