"""A column's values become levels: categories, intervals, special codes, missing.

A `Feature` says which levels there are and finds the level of any value. Cut points come from
Fayyad & Irani (1993), from quantiles, or from the user.
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
"""Fewer cut points say little of the range of a column: the outer bins may hold most rows."""


@dataclass(frozen=True)
class Placed:
    """Rows as codes, and the level that each code stands for (the number of levels: none)."""

    codes: Integers
    levels: Integers


@dataclass(frozen=True)
class Feature:
    """The levels of one feature: intervals, categories or special codes, other, then missing.

    `other` holds the kinds of the values that share the level `other`; empty, there is none.
    `whole` says that training had only whole numbers, by which intervals are then called, and
    `binary` that these were 0 and 1. `groups` holds the level of each category, from 0, where some
    share one; empty, each has its own. A `left` feature has cut points just below those that its
    labels name.

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
    in_order: bool = False  # values stay in the order given: the tokens of a model of documents
    other: tuple[Kind, ...] = ()
    whole: bool = False
    ordered: bool = False  # categories in an order of their own, such as S, M, L
    groups: tuple[int, ...] = ()
    asked: tuple[Ask, ...] = ()  # the question is asked only where all of these hold
    left: bool = False  # intervals are called by the lower ends that they hold, just above cuts
    binary: bool = False
    title: str = field(default="", compare=False)  # what people read in place of the name
    texts: tuple[tuple[str, str], ...] = field(default=(), compare=False)  # and of some labels

    verb: ClassVar[str] = "="

    __reduce__ = by_fields

    @property
    def is_numeric(self) -> bool:
        """Whether the feature's levels are intervals."""
        return self.cuts is not None

    @property
    def cut_points(self) -> tuple[float, ...]:
        """The cut points as labels name them; those of a `left` feature are just above `cuts`."""
        return name_lower_ends(self.cuts or ()) if self.left else self.cuts or ()

    @property
    def parts(self) -> tuple[Feature, ...]:
        """The features of one column that it is made of: itself."""
        return (self,)

    @property
    def sources(self) -> tuple[Feature, ...]:
        """The features that its level depends on: itself, and those by which it is asked."""
        return (self, *(ask.feature for ask in self.asked))

    @cached_property
    def levels(self) -> tuple[Level, ...]:
        """Category or special code as it is, an `Interval`, `OTHER`, and None for missing."""
        other, missing = (OTHER,) if self.other else (), (None,) if self.has_missing else ()
        return (*self._intervals, *self._categories, *other, *missing)

    @cached_property
    def _categories(self) -> tuple[Value | Joined, ...]:
        """Categories or special codes, those of a group as one."""
        if not self.groups:
            return self.values
        own: list[list[Value]] = [[] for _ in range(max(self.groups) + 1)]
        for value, group in zip(self.values, self.groups, strict=True):
            own[group].append(value)
        return tuple(values[0] if len(values) == 1 else Joined((*values,)) for values in own)

    @property
    def joined(self) -> tuple[Value | Joined, ...]:
        """The categories of each level, where some share one."""
        return self._categories if self.groups else ()

    @property
    def n_categories(self) -> int:
        """How many levels are categories or special codes, groups counted as one."""
        return len(self._categories)

    @property
    def places(self) -> tuple[int, ...]:
        """The place of the level of each category or special code."""
        return self.groups or (*range(self.n_intervals, self.n_intervals + len(self.values)),)

    @property
    def no_level(self) -> int:
        """The place of what is no level: the number of levels."""
        return len(self.levels)

    @property
    def missing_place(self) -> int:
        """The place of missing values: the last level, or that of no level."""
        return self.no_level - self.has_missing

    @property
    def rest(self) -> int:
        """The place of a value without a level of its own: `other`, or that of no level."""
        return len(self._categories) if self.other else self.no_level

    @cached_property
    def conditions(self) -> tuple[Condition, ...]:
        """From a value to its level: the first condition that holds decides."""
        return list_conditions(self)

    @cached_property
    def kinds(self) -> frozenset[Kind]:
        """The kinds of the values that training saw; empty where a column had none."""
        if self.is_numeric:
            return frozenset({Kind.NUMBERS})
        return frozenset((*map(Kind.of, _first_of_each_type(self.values)), *self.other))

    @property
    def kind(self) -> Kind:
        """What the column holds."""
        return Kind.of_all(self.kinds)

    @cached_property
    def labels(self) -> tuple[str, ...]:
        """The levels as people read them; text that reads like another level is quoted."""
        return self.named(EXACT)

    @property
    def cut_labels(self) -> tuple[str, ...]:
        """The levels with intervals by their cut points, whatever training had."""
        return replace(self, whole=False).labels

    @property
    def range_labels(self) -> tuple[str, ...]:
        """The levels with 0 and 1 as ranges, `<= 0` and `>= 1`, also where there are no others."""
        return replace(self, binary=False).labels

    @property
    def shown(self) -> str:
        """The feature as people read it: its title, or else its name."""
        return self.title or self.name

    def spelt(self, notation: Notation) -> tuple[str, ...]:
        """The levels as they are shown: in the user's words where they have some."""
        own = dict(self.texts)
        if not own:
            return self.labels if notation is EXACT else self.named(notation)
        keys = zip(self.labels, self.cut_labels, self.range_labels, strict=True)
        shown = zip(self.named(notation), keys, strict=True)
        return tuple(next((own[key] for key in every if key in own), text) for text, every in shown)

    def named(self, notation: Notation) -> tuple[str, ...]:
        """The levels with intervals in some notation."""
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
        """How many intervals there are, which are the first levels."""
        return 0 if self.cuts is None else len(self.cuts) + 1

    def _name_intervals(self, notation: Notation) -> tuple[str, ...]:
        if self.cuts is None:
            return ()
        if self.reads_whole:
            return BINARY if self.reads_binary else notation.whole_numbers(self.cuts)
        return notation.intervals(self.cuts, self.left)

    @cached_property
    def reads_whole(self) -> bool:
        """Whether intervals are called by whole numbers: each holds some, and none reads a code."""
        if not (self.whole and self.cuts and hold_whole_numbers(self.cuts)):
            return False
        called = {*EXACT.whole_numbers(self.cuts), *(BINARY if self.binary else ())}
        return not called & {*map(label, self.values)}

    @cached_property
    def reads_binary(self) -> bool:
        """Whether the two intervals are called 0 and 1."""
        if not (self.binary and self.reads_whole and self.cuts is not None):
            return False
        return len(self.cuts) == 1 and 0.0 <= self.cuts[0] < 1.0

    def misread(self, table: Table) -> tuple[Integers, Floats]:
        """The rows whose number is neither 0 nor 1 but gets the level so called; and the numbers.

        Rows where the question is not asked are none of them.
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
        """The text of a level in a row that holds a value.

        >>> smoker = Feature("smoker", cuts=(0.5,), whole=True, binary=True)
        >>> smoker.tell("1", 1), smoker.tell("1", 2)
        ('1', '2 (read as 1)')
        """
        number = self.reads_binary and isinstance(value, int | float)
        odd = number and value not in (0, 1, *self.values)
        return f"{value:.10g} (read as {text})" if odd else text

    def tell_label(self, place: int, values: Sequence[Value]) -> str:
        """The label of a level in a row that holds these values of its parts."""
        return self.tell(self.labels[place], values[0])

    def relation(self, place: int, notation: Notation = EXACT) -> str:
        """What stands between the feature's name and a level: `=`, `in`, or nothing before <=."""
        text = self.spelt(notation)[place]
        if self.texts and text != self.named(notation)[place]:
            return self.verb
        digits = text.lstrip("-").replace(",", "")
        if not isinstance(self.levels[place], Interval) or digits.isdigit():
            return self.verb
        return "in" if text.startswith(("(", "[")) else ""

    def phrase(self, place: int, notation: Notation = EXACT, values: Sequence[Value] = ()) -> str:
        """The feature and a level as people say it: `Sex = Male`, `age 19 to 65`.

        With values it is said of a row that holds them: `smoker = 2 (read as 1)`.
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
        """The types of the categories, and of what is no value."""
        return frozenset(map(type, (*self.values, None, NOT_KNOWN)))

    def read(self, table: Table) -> Placed:
        """Find the level of every row of a table; of a question that is not asked, none."""
        placed = self.place(self._column(table))
        if not self.asked:
            return placed
        nothing = np.intp(len(placed.levels))
        codes = np.where(self.is_asked(table), placed.codes, nothing)
        return Placed(codes, np.append(placed.levels, self.no_level))

    def is_asked(self, table: Table) -> Integers:
        """In which rows of a table the question is asked."""
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
        """What a table's first row holds, before it becomes a level."""
        if not self.is_asked(table)[0]:
            return NOT_KNOWN
        column = self._column(table)
        if isinstance(column, Codes):
            return column.values[int(column.codes[0])]
        if column.unknown is not None and column.unknown[0]:
            return NOT_KNOWN
        first = float(column.values[0]) + 0.0  # which makes -0.0 the same as 0.0
        return None if np.isnan(first) else first

    def spell(self, table: Table) -> str:
        """What a table's first row holds, as people read it."""
        return label(self.value(table)) if self.is_asked(table)[0] else "not asked"

    def is_far(self, value: Value) -> bool:
        """Whether a number lies beyond the cut points by more than their own distance.

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
        """Whether a table's first row holds no answer, and that is no evidence."""
        value = self.value(table)
        return value is NOT_KNOWN or (self.skip_missing and value is None)

    def answers(self, table: Table) -> Integers:
        """Which rows hold an answer, or a missing value where that is a level."""
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
        """The places of categories; values of another type are refused."""
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
        """Refuse values of a type that training did not see: they could only be a mistake."""
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
        """Where the levels of another feature, all of which this one has, stand in this one."""
        places = {(type(level), level): i for i, level in enumerate(self.levels)}
        return np.array([places[type(level), level] for level in other.levels], np.intp)

    def unite(self, other: Feature) -> Feature:
        """The levels of both; cut points and treatment of missing values must be the same."""
        return unite_features(self, other)

    @property
    def n_in_order(self) -> int:
        """How many levels, from the first, stand in an order: intervals, or ordered categories."""
        return len(self._categories) if self.ordered else self.n_intervals


def _first_of_each_type(values: Sequence[Value]) -> list[Value]:
    return [*dict(zip(map(type, reversed(values)), reversed(values), strict=True)).values()][::-1]
