"""One row scored without a table: levels by dict and bisection, and Python's numbers to the bit."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np

from weigh.bins import Cross, Feature
from weigh.evidence import Evidence, FeatureTable, Recalibration
from weigh.frames import Floats, key

Row: TypeAlias = Mapping[str, Any]
Weight: TypeAlias = Callable[[Row], Any]

KINDS: dict[type, str] = {str: "text", bool: "true or false", int: "a number", float: "a number"}


JOINED: dict[str, type] = {"text": str, "booleans": bool, "numbers": float}
"""The types of values that share the level `other`."""


@dataclass(frozen=True)
class Field:
    """A column that rows may have: the types of JSON that it takes, and levels that it knows."""

    name: str
    types: frozenset[type]
    known: tuple[Any, ...]
    is_numeric: bool

    @classmethod
    def of(cls, parts: Sequence[Feature]) -> Field:
        """A column, with all that any feature knows of it; one that was empty takes any type."""
        first = parts[0]
        values = [value for part in parts for value in part.values]
        known = tuple({key(value): value for value in values}.values())
        types = {int, float} if first.is_numeric else {*map(type, known)}
        types |= {JOINED[kind] for part in parts for kind in part.other}
        if types & {int, float}:
            types |= {int, float}
        return cls(first.name, frozenset(types or KINDS), known, first.is_numeric)

    @property
    def wanted(self) -> str:
        """What it takes, in words."""
        return " or ".join(
            dict.fromkeys(text for kind, text in KINDS.items() if kind in self.types)
        )


@dataclass(frozen=True)
class Lookup:
    """The total of a row: prior + sum over features of the weight of its level.

    `weights` has one function for each feature, from a row to its weight (a number for two
    classes, else one for each), in the order in which Python adds them.
    """

    evidence: Evidence
    fields: tuple[Field, ...]
    weights: tuple[Weight, ...]

    @classmethod
    def of(cls, evidence: Evidence) -> Lookup:
        """A table of weights, ready for rows."""
        parts = [part for feature in evidence.features for part in feature.parts]
        columns = [[p for p in parts if p.name == name] for name in evidence.column_names]
        return cls(evidence, tuple(map(Field.of, columns)), tuple(map(_weight, evidence)))

    @cached_property
    def types(self) -> dict[str, frozenset[type]]:
        """The columns that rows may have, and the types that they take."""
        return {field.name: field.types for field in self.fields}

    def totals(self, rows: Sequence[Row]) -> Floats:
        """What `Evidence.total` gives, row by row; an answer that lacks is missing."""
        evidence = self.evidence
        attenuated = evidence.attenuation is not None
        start = [0.0] * len(evidence.prior_row) if attenuated else evidence.prior_row.tolist()
        add = self._add_one if len(start) == 1 else self._add_many
        totals = np.array([add(row, start) for row in rows]).reshape(len(rows), len(start))
        if evidence.attenuation is not None:
            n = np.array([self._count(row) for row in rows], dtype=np.float64)
            totals = evidence.attenuation.apply(totals, evidence.prior_row, n)
        if evidence.recalibration is None:
            return totals
        return np.array([[self.worth(total)] for total in totals[:, 0].tolist()])

    @cached_property
    def worth(self) -> Callable[[float], float]:
        """What the recalibration makes of a total; NumPy takes twenty times as long for one."""
        curve = self.evidence.recalibration
        assert curve is not None
        return _straight(curve) if curve.method == "isotonic" else _bent(curve)

    def _add_one(self, row: Row, start: list[float]) -> float:
        total = start[0]
        for weight in self.weights:
            total += weight(row)
        return total

    def _add_many(self, row: Row, start: list[float]) -> list[float]:
        totals = start
        for weight in self.weights:
            totals = [t + w for t, w in zip(totals, weight(row), strict=True)]
        return totals

    def _count(self, row: Row) -> int:
        """How many features the row has an answer in, where answers that lack are no evidence."""
        return sum(
            all(row.get(part.name) is not None for part in feature.parts if part.skip_missing)
            for feature in self.evidence.features
        )


def _weight(table: FeatureTable) -> Weight:
    """From a row to the weight of its level."""
    rows = table.padded.tolist()
    weights = [row[0] for row in rows] if len(rows[0]) == 1 else rows
    places = [_place(part) for part in table.feature.parts]
    if not isinstance(table.feature, Cross):
        name, place = table.name, places[0]
        return lambda row: weights[place(row.get(name))]
    (a, b), (left, right) = (part.name for part in table.feature.parts), places
    pairs, nothing = {pair: i for i, pair in enumerate(table.feature.pairs)}, len(weights) - 1
    return lambda row: weights[pairs.get((left(row.get(a)), right(row.get(b))), nothing)]


def _place(part: Feature) -> Callable[[Any], int]:
    """From a value to the place of its level; the place after the last is that of no level."""
    nothing = len(part.levels)
    missing = nothing - 1 if part.has_missing else nothing
    return _place_category(part, missing) if part.cuts is None else _place_number(part, missing)


def _place_category(part: Feature, missing: int) -> Callable[[Any], int]:
    """By type and value, since True is not 1; of one type, by value alone."""
    rest = part.rest
    places: dict[Any, int] = {value: i for i, value in enumerate(part.values)} | {None: missing}
    if len({_kind(value) for value in part.values} | {JOINED[kind] for kind in part.other}) == 1:
        return lambda value: places.get(value, rest)
    typed = {(_kind(value), value): i for i, value in enumerate(part.values)}
    typed[_kind(None), None] = missing
    return lambda value: typed.get((_kind(value), value), rest)


def _kind(value: Any) -> type:
    return float if isinstance(value, int) and not isinstance(value, bool) else type(value)


def _place_number(part: Feature, missing: int) -> Callable[[Any], int]:
    """An interval holds its upper end; special codes come before intervals."""
    cuts = part.cuts or ()
    specials = {float(v): len(cuts) + 1 + i for i, v in enumerate(part.values)}  # type: ignore[arg-type]

    def place(value: Any) -> int:
        if value is None:
            return missing
        number = float(value)
        found = specials.get(number) if specials else None
        return bisect_left(cuts, number) if found is None else found

    return place


def _straight(curve: Recalibration) -> Callable[[float], float]:
    """The isotonic curve, which takes logs: by NumPy, so that the bits are the same."""
    return lambda total: float(curve.apply(np.array(total)))


def _bent(curve: Recalibration) -> Callable[[float], float]:
    """The operations of `Recalibration.apply`, in its order, on plain numbers."""
    points, levels, slopes = curve.points.tolist(), curve.levels.tolist(), curve.slopes.tolist()
    last = len(points) - 1

    def between(inside: float) -> float:
        if not last:
            return levels[0]  # type: ignore[no-any-return]
        i = min(max(bisect_left(points, inside) - 1, 0), last - 1)
        width, distance = points[i + 1] - points[i], inside - points[i]
        rise, low, high = (levels[i + 1] - levels[i]) / width, slopes[i], slopes[i + 1]
        s = distance / width
        bend = 3 * rise - 2 * low - high + s * (low + high - 2 * rise)
        return levels[i] + distance * (low + s * bend)  # type: ignore[no-any-return]

    def worth(total: float) -> float:
        inside = min(max(total, points[0]), points[-1])
        tails = slopes[0] * min(total - inside, 0) + slopes[-1] * max(total - inside, 0)
        return between(inside) + tails + curve.shift  # type: ignore[no-any-return]

    return worth
