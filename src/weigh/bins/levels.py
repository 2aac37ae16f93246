"""Features: the levels of a column (categories, intervals, special codes, missing).

A `Feature` lists the levels and finds the level of any value. Cut points come from Fayyad & Irani
(1993), from quantiles, or from the user.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import ClassVar

import numpy as np

from weigh import few
from weigh.bins.conditions import Ask, Condition, Kind, list_conditions
from weigh.bins.labels import (
    BINARY,
    EXACT,
    OTHER,
    Interval,
    Joined,
    Level,
    Notation,
    hold_whole_numbers,
    label,
    name_lower_ends,
)
from weigh.bins.uniting import unite_features
from weigh.errors import ParameterError
from weigh.frames import (
    NOT_KNOWN,
    OR_CATEGORIES,
    Codes,
    Column,
    Floats,
    Integers,
    Table,
    Value,
    key,
    keys,
)
from weigh.pickling import by_fields

FEW_CUTS = 10
"""Minimum number of cut points to infer a column's range; with fewer, most rows may lie outside."""


@dataclass(frozen=True)
class Placed:
    """Codes of rows, and the index of the level of each code (the number of levels: no level)."""

    codes: Integers
    levels: Integers


@dataclass(frozen=True)
class Feature:
    """The levels of one feature: intervals, categories or special codes, other, then missing.

    `other` holds the kinds of the values that share the level `other`; if empty, there is no such
    level. `whole` means that training had only whole numbers, so labels use these; `binary` that
    they were 0 and 1. `groups` holds the level of each category, from 0, if some categories share a
    level; if empty, each has its own. A `left` feature has intervals that include their lower
    limit: its `cuts` are the next floats below those in its labels.

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

    name: str
    values: tuple[Value, ...] = ()
    cuts: tuple[float, ...] | None = None
    has_missing: bool = False
    skip_missing: bool = False
    in_order: bool = False  # values keep the given order: the tokens of a model of documents
    other: tuple[Kind, ...] = ()
    whole: bool = False
    ordered: bool = False  # ordinal categories, such as S, M, L
    groups: tuple[int, ...] = ()
    asked: tuple[Ask, ...] = ()  # the question is asked only if all of these hold
    left: bool = False  # intervals include their lower limit, the next float above each of `cuts`
    binary: bool = False
    title: str = field(default="", compare=False)  # display name, instead of the name
    texts: tuple[tuple[str, str], ...] = field(default=(), compare=False)  # of some labels

    verb: ClassVar[str] = "="

    __reduce__ = by_fields

    @property
    def is_numeric(self) -> bool:
        """Whether the feature's levels are intervals."""
        return self.cuts is not None

    @property
    def cut_points(self) -> tuple[float, ...]:
        """The cut points as labels show them; if `left`, the next floats above `cuts`."""
        return name_lower_ends(self.cuts or ()) if self.left else self.cuts or ()

    @property
    def parts(self) -> tuple[Feature, ...]:
        """The single-column features that this is made of: itself."""
        return (self,)

    @property
    def sources(self) -> tuple[Feature, ...]:
        """All features needed to determine the level: itself, and those of its conditions."""
        return (self, *(ask.feature for ask in self.asked))

    @cached_property
    def levels(self) -> tuple[Level, ...]:
        """The levels: `Interval`s, categories or special codes, `OTHER`, and None for missing."""
        other, missing = (OTHER,) if self.other else (), (None,) if self.has_missing else ()
        return (*self._intervals, *self._categories, *other, *missing)

    @cached_property
    def _categories(self) -> tuple[Value | Joined, ...]:
        """Categories or special codes; the categories of a group are one `Joined`."""
        if not self.groups:
            return self.values
        own: list[list[Value]] = [[] for _ in range(max(self.groups) + 1)]
        for value, group in zip(self.values, self.groups, strict=True):
            own[group].append(value)
        return tuple(values[0] if len(values) == 1 else Joined((*values,)) for values in own)

    @property
    def joined(self) -> tuple[Value | Joined, ...]:
        """The categories of each level, if some share a level; else empty."""
        return self._categories if self.groups else ()

    @property
    def n_categories(self) -> int:
        """Number of levels that are categories or special codes; a group counts once."""
        return len(self._categories)

    @property
    def places(self) -> tuple[int, ...]:
        """Index of the level of each category or special code."""
        return self.groups or (*range(self.n_intervals, self.n_intervals + len(self.values)),)

    @property
    def no_level(self) -> int:
        """Index that means "no level": the number of levels."""
        return len(self.levels)

    @property
    def missing_place(self) -> int:
        """Index of missing values: the last level, or `no_level` if missing is not a level."""
        return self.no_level - self.has_missing

    @property
    def rest(self) -> int:
        """Index of a value without its own level: that of `other`, or `no_level`."""
        return len(self._categories) if self.other else self.no_level

    @cached_property
    def conditions(self) -> tuple[Condition, ...]:
        """Tests that assign a value to its level; the first that holds decides."""
        return list_conditions(self)

    @cached_property
    def kinds(self) -> frozenset[Kind]:
        """The kinds of the values seen in training; empty if the column had no values."""
        if self.is_numeric:
            return frozenset({Kind.NUMBERS})
        return frozenset((*map(Kind.of, _first_of_each_type(self.values)), *self.other))

    @property
    def kind(self) -> Kind:
        """The kind of the column's values."""
        return Kind.of_all(self.kinds)

    @cached_property
    def labels(self) -> tuple[str, ...]:
        """The levels as text; a category that reads like another level is quoted."""
        return self.named(EXACT)

    @property
    def cut_labels(self) -> tuple[str, ...]:
        """The levels as text, with intervals written by their cut points, not by whole numbers."""
        return replace(self, whole=False).labels

    @property
    def range_labels(self) -> tuple[str, ...]:
        """The levels as text, with 0 and 1 as the ranges `<= 0` and `>= 1`."""
        return replace(self, binary=False).labels

    @property
    def shown(self) -> str:
        """The display name: the title if there is one, else the name."""
        return self.title or self.name

    def spelt(self, notation: Notation) -> tuple[str, ...]:
        """The levels as displayed: the user's texts where given, else in the notation."""
        own = dict(self.texts)
        if not own:
            return self.labels if notation is EXACT else self.named(notation)
        keys = zip(self.labels, self.cut_labels, self.range_labels, strict=True)
        shown = zip(self.named(notation), keys, strict=True)
        return tuple(next((own[key] for key in every if key in own), text) for text, every in shown)

    def named(self, notation: Notation) -> tuple[str, ...]:
        """The levels as text, with intervals in the given notation."""
        texts = [*self._name_intervals(notation), *map(label, self.levels[self.n_intervals :])]
        if len(set(texts)) < len(texts):
            twice = {text for text, n in Counter(texts).items() if n > 1}
            texts = [
                f'"{text}"' if text in twice and isinstance(level, str) else text
                for text, level in zip(texts, self.levels, strict=True)
            ]
        return tuple(texts)

    @property
    def n_intervals(self) -> int:
        """Number of intervals; they are the first levels."""
        return 0 if self.cuts is None else len(self.cuts) + 1

    def _name_intervals(self, notation: Notation) -> tuple[str, ...]:
        if self.cuts is None:
            return ()
        if self.reads_whole:
            return BINARY if self.reads_binary else notation.whole_numbers(self.cuts)
        return notation.intervals(self.cuts, self.left)

    @cached_property
    def reads_whole(self) -> bool:
        """Whether labels use whole numbers: each interval has one, and no label equals a code."""
        if not (self.whole and self.cuts and hold_whole_numbers(self.cuts)):
            return False
        called = {*EXACT.whole_numbers(self.cuts), *(BINARY if self.binary else ())}
        return not called & {*map(label, self.values)}

    @cached_property
    def reads_binary(self) -> bool:
        """Whether the two intervals are labelled 0 and 1."""
        if not (self.binary and self.reads_whole and self.cuts is not None):
            return False
        return len(self.cuts) == 1 and 0.0 <= self.cuts[0] < 1.0

    def misread(self, table: Table) -> tuple[Integers, Floats]:
        """Rows whose number is neither 0 nor 1 but gets a level labelled so, and these numbers.

        Rows in which the question is not asked are left out.
        """
        if not self.reads_binary:
            return np.zeros(0, np.intp), np.zeros(0)
        column = self._column(table)
        values = (column.numbers(self.name) if isinstance(column, Codes) else column).values
        known = np.array([0.0, 1.0, *self.values], dtype=np.float64)
        odd = ~(np.isin(values, known) | np.isnan(values))
        rows = np.flatnonzero(odd & self.is_asked(table))
        return rows, values[rows]

    def tell(self, text: str, value: Value) -> str:
        """The text of a level for a row with this value; it says if a number is read as 0 or 1.

        >>> smoker = Feature("smoker", cuts=(0.5,), whole=True, binary=True)
        >>> smoker.tell("1", 1), smoker.tell("1", 2)
        ('1', '2 (read as 1)')
        """
        number = self.reads_binary and isinstance(value, int | float)
        odd = number and value not in (0, 1, *self.values)
        return f"{value:.10g} (read as {text})" if odd else text

    def tell_label(self, place: int, values: Sequence[Value]) -> str:
        """The label of a level, for a row with these values."""
        return self.tell(self.labels[place], values[0])

    def relation(self, place: int, notation: Notation = EXACT) -> str:
        """The text between the feature's name and a level: `=`, `in`, or nothing before <=."""
        text = self.spelt(notation)[place]
        if self.texts and text != self.named(notation)[place]:
            return self.verb
        digits = text.lstrip("-").replace(",", "")
        if not isinstance(self.levels[place], Interval) or digits.isdigit():
            return self.verb
        return "in" if text.startswith(("(", "[")) else ""

    def phrase(self, place: int, notation: Notation = EXACT, values: Sequence[Value] = ()) -> str:
        """The feature and a level as a phrase: `Sex = Male`, `age 19 to 65`.

        With values, the phrase is for a row that has them: `smoker = 2 (read as 1)`.
        """
        text = self.spelt(notation)[place]
        text = self.tell(text, values[0]) if values else text
        return " ".join(filter(None, (self.shown, self.relation(place, notation), text)))

    @cached_property
    def _intervals(self) -> tuple[Interval, ...]:
        if self.cuts is None:
            return ()
        ends = (-np.inf, *self.cuts, np.inf)
        return tuple(map(Interval, ends, ends[1:], self._name_intervals(EXACT)))

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
            return table.column(self.name, not self.is_numeric)
        except ParameterError as error:
            raise ValueError(str(error).replace("".join(map(str, OR_CATEGORIES)), "")) from None

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
        return label(self.value(table)) if self.is_asked(table)[0] else "not asked"

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
            return Placed(column.codes, np.array(self._look_up(column.values) or [self.no_level]))
        levels = np.full(len(column.values), self.no_level)
        used = np.unique(column.codes).tolist()
        levels[used] = self._look_up([column.values[code] for code in used])
        return Placed(column.codes, levels)

    def _look_up(self, values: Sequence[Value]) -> list[int]:
        """Indices of the levels of categories; values of another kind are refused."""
        self.check_kind(values)
        lookup, rest = self._lookup, self.rest
        return [lookup.get(known, rest) for known in keys(values)]

    def _place_numbers(self, values: Floats) -> Integers:
        specials = np.array(self.values, dtype=np.float64)
        missing = self._lookup[key(None)]
        codes = np.empty(len(values), dtype=np.min_scalar_type(len(self.levels)))
        digitize = few.for_rows(len(values)).digitize
        digitize(values, np.array(self.cuts), specials, missing, codes)
        return codes

    def check_kind(self, values: Sequence[Value]) -> None:
        """Refuse values of a kind not seen in training: they are probably a mistake."""
        if not self.kinds or self._types.issuperset(map(type, values)):
            return
        for value in _first_of_each_type(values):
            given = value is not None and value is not NOT_KNOWN
            if given and Kind.of(value) not in self.kinds:
                raise ValueError(
                    f"column {self.name!r} held {' and '.join(sorted(self.kinds))} in "
                    f"training (such as {self.values[0]!r}) and holds {Kind.of(value)} here (such "
                    f"as {value!r}); convert it to the type it had in training"
                )

    def positions(self, other: Feature) -> Integers:
        """Index in this feature of each level of another, whose levels must all occur here."""
        places = {(type(level), level): i for i, level in enumerate(self.levels)}
        return np.array([places[type(level), level] for level in other.levels], np.intp)

    def unite(self, other: Feature) -> Feature:
        """Merge the levels of two features; cut points and missing handling must agree."""
        return unite_features(self, other)

    @property
    def n_in_order(self) -> int:
        """Number of leading levels that are ordered: intervals, or ordered categories."""
        return len(self._categories) if self.ordered else self.n_intervals


def _first_of_each_type(values: Sequence[Value]) -> list[Value]:
    return [*dict(zip(map(type, reversed(values)), reversed(values), strict=True)).values()][::-1]
