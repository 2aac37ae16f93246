"""The levels of a feature and their names."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from weigh.bins.conditions import Ask, Kind
from weigh.bins.labels import (
    BINARY,
    EXACT,
    MOST_OTHERS,
    OTHER,
    WORDS,
    Interval,
    Joined,
    Level,
    Notation,
    hold_whole_numbers,
    label,
    spell_few,
    spell_level,
    to_left_closed,
)
from weigh.frames import Value


@dataclass(frozen=True)
class NamedLevels:
    """The levels of one feature, in order, and their names."""

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
    counted: bool = False  # training had no number below 0, and the first interval holds only 0
    title: str = field(default="", compare=False)  # display name, instead of the name
    texts: tuple[tuple[str, str], ...] = field(default=(), compare=False)  # of some labels
    others: tuple[Value, ...] = field(default=(), compare=False)  # within `other`

    @property
    def is_numeric(self) -> bool:
        """Whether the feature's levels are intervals."""
        return self.cuts is not None

    @property
    def cut_points(self) -> tuple[float, ...]:
        """The cut points as labels show them; if `left`, the next floats above `cuts`."""
        return to_left_closed(self.cuts or ()) if self.left else self.cuts or ()

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

    @cached_property
    def placed_values(self) -> tuple[tuple[Value, int], ...]:
        """Each category or special code, with the index of its level; codes are floats."""
        values = map(float, self.values) if self.is_numeric else self.values  # type: ignore[arg-type]
        return tuple(zip(values, self.places, strict=True))

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

    @property
    def lists_all(self) -> bool:
        """Whether all categories of training are known by name, also those within `other`."""
        return not self.other or 0 < len(self.others) < MOST_OTHERS

    @cached_property
    def kinds(self) -> frozenset[Kind]:
        """The kinds of the values seen in training; empty if the column had no values."""
        if self.is_numeric:
            return frozenset({Kind.NUMBERS})
        return frozenset((*map(Kind.of, first_of_each_type(self.values)), *self.other))

    @property
    def kind(self) -> Kind:
        """The kind of the column's values."""
        return Kind.of_all(self.kinds)

    @cached_property
    def labels(self) -> tuple[str, ...]:
        """The levels as text.

        A category is in quotes if it reads like another level, or has blanks at an end or quotes of
        its own. All labels differ.
        """
        return self.named(EXACT)

    @property
    def cut_labels(self) -> tuple[str, ...]:
        """The levels as text, with intervals written by their cut points, not by whole numbers."""
        return replace(self, whole=False).labels

    @property
    def range_labels(self) -> tuple[str, ...]:
        """The levels as text, with 0 and 1 as ranges such as `<= 0` and `>= 1`."""
        return replace(self, binary=False, counted=False).labels

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
        texts = [
            *self._name_intervals(notation),
            *map(spell_level, self.levels[self.n_intervals :]),
        ]
        if self.others and notation is WORDS:
            texts[self.rest] += f" ({spell_few(self.others)})"
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
            texts = BINARY if self.reads_binary else notation.whole_numbers(self.cuts)
            return ("0", *texts[1:]) if self.reads_zero else texts
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

    @cached_property
    def reads_zero(self) -> bool:
        """Whether the first interval of a column of counts is labelled 0."""
        if not (self.counted and self.reads_whole and self.cuts):
            return False
        return 0.0 <= self.cuts[0] < 1.0 and "0" not in map(label, self.values)

    @cached_property
    def single_numbers(self) -> tuple[int | None, ...]:
        """The number of each interval that is labelled as one whole number; None for others.

        >>> from weigh.bins import Feature
        >>> Feature("months", cuts=(1.5, 2.5), whole=True).single_numbers
        (None, 2, None)
        """
        texts = self._name_intervals(EXACT)
        return tuple(int(text) if text.removeprefix("-").isdecimal() else None for text in texts)

    def tell(self, place: int, text: str, value: Value) -> str:
        """The text of a level for a row with this value; it says if a number is read as another.

        The value is compared with the numbers of the bin: the user may have chosen the text.

        >>> from weigh.bins import Feature
        >>> smoker = Feature("smoker", cuts=(0.5,), whole=True, binary=True)
        >>> smoker.tell(1, "1", 1), smoker.tell(1, "1", 2), smoker.tell(1, "yes", 1)
        ('1', '2 (read as 1)', 'yes')
        >>> months = Feature("months", cuts=(1.5, 2.5), whole=True)
        >>> months.tell(1, "2", 2), months.tell(1, "2", 2.5), months.tell(2, "3", 70)
        ('2', '2.5 (read as 2)', '3')
        """
        single = self.single_numbers[place] if place < self.n_intervals else None
        odd = isinstance(value, int | float) and single not in (None, value)
        return f"{value:.10g} (read as {text})" if odd else text

    def tell_label(self, place: int, values: Sequence[Value]) -> str:
        """The label of a level, for a row with these values."""
        return self.tell(place, self.labels[place], values[0])

    def relation(self, place: int, notation: Notation = EXACT) -> str:
        """The text between the feature's name and a level: `=`, `in`, or nothing before <=."""
        text = self.spelt(notation)[place]
        if self.texts and text != self.named(notation)[place]:
            return "="
        digits = text.lstrip("-").replace(",", "")
        if not isinstance(self.levels[place], Interval) or digits.isdigit():
            return "="
        return "in" if text.startswith(("(", "[")) else ""

    def phrase(self, place: int, notation: Notation = EXACT, values: Sequence[Value] = ()) -> str:
        """The feature and a level as a phrase: `Sex = Male`, `age 19 to 65`.

        With values, the phrase is for a row that has them: `smoker = 2 (read as 1)`.
        """
        text = self.spelt(notation)[place]
        text = self.tell(place, text, values[0]) if values else text
        return " ".join(filter(None, (self.shown, self.relation(place, notation), text)))

    @cached_property
    def _intervals(self) -> tuple[Interval, ...]:
        if self.cuts is None:
            return ()
        ends = (-np.inf, *self.cuts, np.inf)
        return tuple(map(Interval, ends, ends[1:], self._name_intervals(EXACT)))

    @property
    def n_in_order(self) -> int:
        """Number of leading levels that are ordered: intervals, or ordered categories."""
        return len(self._categories) if self.ordered else self.n_intervals


def first_of_each_type(values: Sequence[Value]) -> list[Value]:
    """The first value of each type, in their order."""
    return [*dict(zip(map(type, reversed(values)), reversed(values), strict=True)).values()][::-1]
