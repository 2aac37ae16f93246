"""Native Spark columns with the level number (place) of each row in each feature."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property, reduce
from operator import add, and_
from typing import Any

from pyspark.sql import functions as F  # noqa: N812

from weigh.bins import Cross, Feature, Kind
from weigh.frames import Value

MAX_COMPARED = 256
"""Up to this many levels are found by comparisons; more by a join with a broadcast table."""

WHOLE = ("tinyint", "smallint", "int", "bigint")
FRACTIONS = ("float", "double")


@dataclass(frozen=True)
class Places:
    """A DataFrame with added columns p0, p1, ...: the level number of each feature.

    The number after a feature's last level means not known. `answers` is a column with the number
    of features that have an answer in the row.
    """

    frame: Any
    answers: Any


def find_places(frame: Any, features: Sequence[Feature | Cross], columns: dict[str, int]) -> Places:
    """Find the level of every row in every feature; c0, c1, ... are the frame's columns."""
    kinds, wide = [kind for _, kind in frame.dtypes], frame
    every, singles, answers = [F.col(f"c{j}") for j in range(len(kinds))], [], []
    for j, feature in enumerate(features):
        parts = []
        for i, part in enumerate(feature.parts):
            at = columns[part.name]
            column = _Column(every[at], kinds[at], part)
            wide, place = column.find(wide, f"{j}_{i}")
            asked = F.lit(True)
            for k, ask in enumerate(part.asked):
                at = columns[ask.feature.name]
                other = _Column(every[at], kinds[at], ask.feature)
                wide, found = other.find(wide, f"{j}_{i}_{k}")
                asked = asked & found.isin(*ask.places)
            singles.append(F.when(asked, place).otherwise(column.not_known).alias(f"q{j}_{i}"))
            parts.append(column.answered & asked)
        answers.append(reduce(and_, parts).cast("int"))
    wide, joint = wide.select(*every, *singles), []
    for j, feature in enumerate(features):
        wide, place = _join(wide, feature, j)
        joint.append(place.alias(f"p{j}"))
    return Places(wide.select(*every, *joint), reduce(add, answers))


def _join(frame: Any, feature: Feature | Cross, j: int) -> tuple[Any, Any]:
    """Level number of a feature; for a pair of columns, from the level numbers of the two."""
    if isinstance(feature, Feature):
        return frame, F.col(f"q{j}_0")
    width = len(feature.parts[1].levels) + 1
    cell = F.col(f"q{j}_0").cast("bigint") * width + F.col(f"q{j}_1")
    cells = [left * width + right for left, right in feature.pairs]
    return _search(frame, cell, cells, [*range(len(cells))], len(cells), f"{j}")


@dataclass(frozen=True)
class _Column:
    """A column of the DataFrame, its type, and the feature that reads it."""

    column: Any
    kind: str
    feature: Feature

    @property
    def not_known(self) -> int:
        return self.feature.no_level

    @property
    def holds(self) -> Kind | None:
        return kind_of_type(self.kind)

    @cached_property
    def missing(self) -> Any:
        null = self.column.isNull()
        return null | F.isnan(self.column) if self.kind in FRACTIONS else null

    @property
    def answered(self) -> Any:
        """Whether the row has an answer; always true if missing is a level."""
        return ~self.missing if self.feature.skip_missing else F.lit(True)

    def find(self, frame: Any, name: str) -> tuple[Any, Any]:
        """Frame, joined with a table of levels if needed, and the level number of each row."""
        if self.feature.is_numeric:
            place = self._interval()
        else:
            frame, place = self._category(frame, name)
        return frame, F.when(self.missing, F.lit(self.feature.missing_place)).otherwise(place)

    def _interval(self) -> Any:
        if self.holds not in (Kind.NUMBERS, Kind.BOOLEANS):
            raise ValueError(
                f"column {self.feature.name!r} is numeric but holds {self.kind}; convert it to "
                "numbers (missing as null)"
            )
        value = self.column.cast("double")
        place = count_below(value, self.feature.cuts or ())
        for code, own in self.feature.placed_values:
            place = F.when(value == code, own).otherwise(place)
        return place

    def _category(self, frame: Any, name: str) -> tuple[Any, Any]:
        values = self.feature.values
        if values and self.holds not in self.feature.kinds:
            raise ValueError(
                f"column {self.feature.name!r} held values such as {values[0]!r} in training and "
                f"holds {self.kind} here; convert it to the type it had in training"
            )
        placed = self.feature.placed_values
        pairs = [(key, place) for value, place in placed for key in self._keys(value)]
        pairs.sort(key=lambda pair: pair[0].encode() if isinstance(pair[0], str) else pair[0])
        keys, places = [key for key, _ in pairs], [place for _, place in pairs]
        column = self.column.cast("double") if self.kind in FRACTIONS else self.column
        return _search(frame, column, keys, places, self.feature.rest, name)

    def _keys(self, value: Value) -> list[Any]:
        """Level as a value of the column's type, in a list; empty if the type cannot hold it."""
        if Kind.of(value) is not self.holds:
            return []
        if self.kind in WHOLE:
            return [value] if isinstance(value, int) and abs(value) < 2**63 else []
        if self.kind in FRACTIONS:
            return [float(value)] if float(value) == value else []  # type: ignore[arg-type]
        return [Decimal(repr(value))] if self.kind.startswith("decimal") else [value]


def kind_of_type(name: str) -> Kind | None:
    """Kind of the values of a Spark type; None if it has no levels."""
    if name.startswith("string"):
        return Kind.TEXT
    if name == "boolean":
        return Kind.BOOLEANS
    return Kind.NUMBERS if name in WHOLE + FRACTIONS or name.startswith("decimal") else None


def count_below(column: Any, cuts: Sequence[float]) -> Any:
    """Number of the ascending cuts that are below a value; intervals include their upper limit."""

    def within(low: int, high: int) -> Any:
        if low == high:
            return F.lit(low)
        middle = (low + high) // 2
        inside = column <= F.lit(float(cuts[middle]))
        return F.when(inside, within(low, middle)).otherwise(within(middle + 1, high))

    return within(0, len(cuts))


def _search(
    frame: Any, column: Any, keys: list[Any], places: list[int], not_known: int, name: str
) -> tuple[Any, Any]:
    """Place of a row's value among the ascending keys, by binary search in comparisons."""
    if len(keys) > MAX_COMPARED and not isinstance(keys[0], Decimal):
        return _look_up(frame, column, keys, places, not_known, name)

    def among(low: int, high: int) -> Any:
        if high == low:
            return F.lit(not_known)
        if high - low == 1:
            return F.when(column == F.lit(keys[low]), places[low]).otherwise(not_known)
        middle = (low + high) // 2
        return F.when(column < F.lit(keys[middle]), among(low, middle)).otherwise(
            among(middle, high)
        )

    return frame, among(0, len(keys))


def _look_up(
    frame: Any, column: Any, keys: list[Any], places: list[int], not_known: int, name: str
) -> tuple[Any, Any]:
    """Place of a row's value among the keys, by a join with a broadcast table."""
    kind = {str: "string", int: "bigint", float: "double"}[type(keys[0])]
    text = json.dumps([{"k": key, "p": place} for key, place in zip(keys, places, strict=True)])
    rows = F.from_json(F.lit(text), f"array<struct<k:{kind},p:int>>")
    one = frame.sparkSession.range(1).select(F.explode(rows).alias("e"))
    levels = one.select(F.col("e.k").alias(f"k{name}"), F.col("e.p").alias(f"m{name}"))
    joined = frame.join(F.broadcast(levels), column == F.col(f"k{name}"), "left")
    return joined, F.coalesce(F.col(f"m{name}"), F.lit(not_known))
