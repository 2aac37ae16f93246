"""Features: the levels of a column (categories, intervals, special codes, missing).

A `Feature` lists the levels and finds the level of any value. Cut points come from Fayyad & Irani
(1993), from quantiles, or from the user.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from weigh import numpy_kernels
from weigh.arrays import Floats, Integers
from weigh.bins.conditions import Condition, Kind, list_conditions
from weigh.bins.labels import spell_level
from weigh.bins.named_levels import NamedLevels, first_of_each_type
from weigh.bins.uniting import unite_features
from weigh.errors import ParameterError
from weigh.frames import NOT_KNOWN, OR_CATEGORIES, Codes, Column, Numbers, Table, Value, key, keys
from weigh.pickling import by_fields

SHORT = 256
"""Most categories of a list whose levels are remembered: an array of bytes has as many."""
FEW_CUTS = 10
"""Minimum number of cut points to infer a column's range; with fewer, most rows may lie outside."""


def takes_truth(cuts: Sequence[float]) -> bool:
    """Whether booleans may stand for the numbers of a column: it is cut between 0 and 1 only."""
    return all(0 <= cut < 1 for cut in cuts)


@dataclass(frozen=True)
class Placed:
    """Codes of rows, and the index of the level of each code (the number of levels: no level)."""

    codes: Integers
    levels: Integers


@dataclass(frozen=True)
class Feature(NamedLevels):
    """The levels of one feature: intervals, categories or special codes, other, then missing.

    `other` holds the kinds of the values that share the level `other`; if empty, there is no such
    level. `others` are those values, up to `MOST_OTHERS` of the most frequent. `whole` means that
    training had only whole numbers, so labels use these; `binary` that they were 0 and 1, and
    `counted` that none was below 0, so that the first label may be 0 in place of `<= 0`. `groups`
    holds the level of each category, from 0, if some categories share a level; if empty, each has
    its own. A `left` feature has intervals that include their lower limit: its `cuts` are the next
    floats below those in its labels.

    >>> from dataclasses import replace
    >>> from weigh.frames import Numbers
    >>> age = Feature("age", values=(-1,), cuts=(18.0, 65.0), has_missing=True)
    >>> age.labels
    ('<= 18.0', '(18.0, 65.0]', '> 65.0', '-1', 'missing')
    >>> replace(age, whole=True).labels
    ('<= 18', '19 to 65', '>= 66', '-1', 'missing')
    >>> age.place(Numbers(np.array([18.0, 70.0, -1.0, np.nan]))).codes.tolist()
    [0, 2, 3, 4]
    >>> Feature("town", values=("North", "South"), other=("text",), has_missing=True).labels
    ('North', 'South', 'other', 'missing')
    >>> Feature("town", values=("East", "North", "South"), groups=(0, 1, 1)).labels
    ('East', 'North or South')
    """

    __reduce__ = by_fields

    @property
    def parts(self) -> tuple[Feature, ...]:
        """The single-column features that this is made of: itself."""
        return (self,)

    @property
    def sources(self) -> tuple[Feature, ...]:
        """All features needed to determine the level: itself, and those of its conditions."""
        return (self, *(ask.feature for ask in self.asked))

    @cached_property
    def conditions(self) -> tuple[Condition, ...]:
        """Tests that assign a value to its level; the first that holds decides."""
        return list_conditions(self)

    def misread(self, table: Table) -> tuple[Integers, Floats]:
        """Rows whose number is not the one of its label, as 2 where levels are 0 and 1, and these.

        Of other columns of whole numbers, these are the fractions, and of counts also negative
        numbers. Rows in which the question is not asked are left out.
        """
        if not self.reads_whole:
            return np.zeros(0, np.intp), np.zeros(0)
        column = self._column(table)
        values = (column.numbers(self.name) if isinstance(column, Codes) else column).values
        sound = np.isin(values, [0.0, 1.0]) if self.reads_binary else values == np.rint(values)
        sound &= (values >= 0.0) | (not self.reads_zero)
        odd = ~(sound | np.isin(values, np.array(self.values, np.float64)) | np.isnan(values))
        rows = np.flatnonzero(odd & self.is_asked(table))
        return rows, values[rows]

    @cached_property
    def _lookup(self) -> dict[tuple[type, Value], int]:
        places = dict(zip(keys(self.values), self.places, strict=True))
        places[key(None)] = self.missing_place
        places[key(NOT_KNOWN)] = len(self.levels)
        return places

    @cached_property
    def _types(self) -> frozenset[type]:
        """The types of the categories, of None and of NOT_KNOWN."""
        return frozenset(map(type, (*self.values, None, NOT_KNOWN)))

    def read(self, table: Table) -> Placed:
        """Find the level of every row of a table; a question that is not asked has no level."""
        placed = self.place(self._column(table))
        if not self.asked:
            return placed
        nothing = np.intp(len(placed.levels))
        codes = np.where(self.is_asked(table), placed.codes, nothing)
        return Placed(codes, np.append(placed.levels, self.no_level))

    def is_asked(self, table: Table) -> Integers:
        """Mask of the rows of a table in which the question is asked."""
        asked = np.ones(table.n_rows, dtype=np.bool_)
        for ask in self.asked:
            asked &= ask.holds(table)
        return asked

    def _column(self, table: Table) -> Column:
        try:
            column = table.column(self.name, not self.is_numeric)
        except ParameterError as error:
            raise ValueError(str(error).replace("".join(map(str, OR_CATEGORIES)), "")) from None
        truth = column.truth if isinstance(column, Numbers) else None
        if truth is not None and not takes_truth(self.cuts or ()):
            raise ValueError(f"column {self.name!r} is numeric but holds {truth}; give numbers")
        return column

    def value(self, table: Table) -> Value:
        """The raw value in a table's first row."""
        if not self.is_asked(table)[0]:
            return NOT_KNOWN
        column = self._column(table)
        if isinstance(column, Codes):
            return column.values[int(column.codes[0])]
        if column.unknown is not None and column.unknown[0]:
            return NOT_KNOWN
        first = float(column.values[0]) + 0.0  # turns -0.0 into 0.0
        return None if np.isnan(first) else first

    def spell(self, table: Table) -> str:
        """The value in a table's first row, as text."""
        return spell_level(self.value(table)) if self.is_asked(table)[0] else "not asked"

    def phrase_values(self, table: Table) -> str:
        """The feature and the value in a table's first row: as a level, or else the value."""
        placed, value = self.read(table), self.value(table)
        place = int(placed.levels[placed.codes[0]])
        if place < self.no_level:
            return self.phrase(place, values=[value])
        return f"{self.shown} = {self.spell(table)}"

    def is_far(self, value: Value) -> bool:
        """Whether a number lies outside the cut points by more than their range.

        >>> age = Feature("age", values=(-999,), cuts=tuple(range(20, 70, 5)))
        >>> [age.is_far(value) for value in (90, 720, -999, None)]
        [False, True, False, False]
        """
        cuts = self.cuts or ()
        if len(cuts) < FEW_CUTS or value in self.values or not isinstance(value, int | float):
            return False
        apart = cuts[-1] - cuts[0]
        return bool(value < cuts[0] - apart or value > cuts[-1] + apart)

    def skips(self, table: Table) -> bool:
        """Whether a table's first value is not known, or missing without being a level."""
        value = self.value(table)
        return value is NOT_KNOWN or (self.skip_missing and value is None)

    def answers(self, table: Table) -> Integers:
        """Mask of the rows with a value, or with a missing value that is a level."""
        given = self._answers(table)
        return given & self.is_asked(table) if self.asked else given

    def _answers(self, table: Table) -> Integers:
        column = self._column(table)
        if isinstance(column, Codes):
            none = (None, NOT_KNOWN) if self.skip_missing else (NOT_KNOWN,)
            known = np.array([value not in none for value in column.values] or [False])
            return known[column.codes]
        if self.skip_missing:
            return np.asarray(~np.isnan(column.values))
        every = np.ones(table.n_rows, dtype=np.bool_)
        return every if column.unknown is None else ~column.unknown

    def place(self, column: Column) -> Placed:
        """Find the level of every value of its column."""
        if self.cuts is None:
            assert isinstance(column, Codes)
            return self._place_codes(column)
        numbers = column.numbers(self.name) if isinstance(column, Codes) else column
        codes = self._place_numbers(numbers.values)
        if numbers.unknown is not None:
            codes[numbers.unknown] = len(self.levels)
        return Placed(codes, np.arange(len(self.levels) + 1))

    def _place_codes(self, column: Codes) -> Placed:
        if len(column.codes) >= len(column.values):
            return Placed(column.codes, self._levels_of(column.values))
        levels = np.full(len(column.values), self.no_level)
        used = np.unique(column.codes).tolist()
        levels[used] = self._look_up([column.values[code] for code in used])
        return Placed(column.codes, levels)

    def _levels_of(self, values: tuple[Value, ...]) -> Integers:
        """Indices of the levels of categories; a short list is remembered for the next table."""
        known = self._latest.get(0)
        if known is None or known[0] is not values:
            known = values, np.array(self._look_up(values) or [self.no_level])
            if len(values) <= SHORT:
                self._latest[0] = known
        return known[1]

    @cached_property
    def _latest(self) -> dict[int, tuple[tuple[Value, ...], Integers]]:
        """The latest short list of categories and its levels. Threads share it: replaced whole."""
        return {}

    def _look_up(self, values: Sequence[Value]) -> list[int]:
        """Indices of the levels of categories; values of another kind are refused."""
        self.check_kind(values)
        lookup, rest = self._lookup, self.rest
        return [lookup.get(known, rest) for known in keys(values)]

    def _place_numbers(self, values: Floats) -> Integers:
        specials = np.array(self.values, dtype=np.float64)
        missing = self._lookup[key(None)]
        codes = np.empty(len(values), dtype=np.min_scalar_type(len(self.levels)))
        digitize = numpy_kernels.for_rows(len(values)).digitize
        digitize(values, np.array(self.cuts), specials, missing, codes)
        return codes

    def check_kind(self, values: Sequence[Value]) -> None:
        """Refuse values of a kind not seen in training: they are probably a mistake."""
        if not self.kinds or self._types.issuperset(map(type, values)):
            return
        for value in first_of_each_type(values):
            given = value is not None and value is not NOT_KNOWN
            if given and Kind.of(value) not in self.kinds:
                raise ValueError(
                    f"column {self.name!r} held {' and '.join(sorted(self.kinds))} in "
                    f"training (such as {self.values[0]!r}) and holds {Kind.of(value)} here (such "
                    f"as {value!r}); convert it to the type it had in training"
                )

    def with_cuts(self, kept: Iterable[int]) -> Feature:
        """The feature with only some of its cut points, given by index, in order.

        >>> Feature("age", cuts=(18.0, 30.0, 65.0)).with_cuts([0, 2]).cuts
        (18.0, 65.0)
        """
        cuts = self.cuts or ()
        return replace(self, cuts=tuple(cuts[k] for k in kept))

    def positions(self, other: Feature) -> Integers:
        """Index in this feature of each level of another, whose levels must all occur here."""
        places = {(type(level), level): i for i, level in enumerate(self.levels)}
        return np.array([places[type(level), level] for level in other.levels], np.intp)

    def unite(self, other: Feature) -> Feature:
        """Merge the levels of two features; cut points and missing handling must agree."""
        return unite_features(self, other)
