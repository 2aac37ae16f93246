"""From a value to its level, as a list of conditions: the definition that every target renders.

Of a column's conditions the first that holds decides. `finder` is the same for one value at a time,
in Python, by dict and bisection; `Feature.place` is the same for a whole column.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from weigh.bins.kinds import Kind
from weigh.frames import NOT_KNOWN, Value

if TYPE_CHECKING:
    from weigh.bins.levels import Feature

Holds: TypeAlias = Literal["missing", "equal", "at most", "any"]


@dataclass(frozen=True)
class Condition:
    """When a value is of the level at `place`: it is missing, equal to `value`, at most that."""

    holds: Holds
    value: Value
    place: int


def list_conditions(feature: Feature) -> tuple[Condition, ...]:
    """The conditions of a feature, in order; where none holds the value is no level.

    Special codes come before intervals, which include their upper limit. Values of other kinds are
    never equal: True is not 1.

    >>> from weigh.bins import Feature
    >>> [(c.holds, c.value, c.place) for c in list_conditions(Feature("age", (-1,), (18.0,)))]
    [('missing', None, 3), ('equal', -1.0, 2), ('at most', 18.0, 0), ('any', None, 1)]
    """
    cuts = feature.cuts or ()
    values = [*map(float, feature.values)] if feature.is_numeric else feature.values  # type: ignore[arg-type]
    found = [Condition("missing", None, feature.missing_place)]
    placed = zip(values, feature.places, strict=True)
    found += [Condition("equal", value, place) for value, place in placed]
    found += [Condition("at most", cut, place) for place, cut in enumerate(cuts)]
    if feature.is_numeric or feature.other:
        found.append(Condition("any", None, len(cuts) if feature.is_numeric else feature.rest))
    return tuple(found)


def finder(feature: Feature) -> Callable[[Any], int]:
    """From a value to the place of its level, fast.

    The value is of a kind that training saw, None or NOT_KNOWN, which is no level.
    """
    equal = [c for c in feature.conditions if c.holds == "equal"]
    if feature.is_numeric:
        codes = {c.value: c.place for c in equal}
        return _number_finder(feature, codes)
    rest, none = feature.rest, {None: feature.missing_place, NOT_KNOWN: len(feature.levels)}
    if len(feature.kinds) == 1:
        places: dict[Any, int] = {c.value: c.place for c in equal} | none
        return lambda value: places.get(value, rest)
    typed: dict[Any, int] = {(Kind.of(c.value), c.value): c.place for c in equal}
    return lambda value: (
        none[value]
        if value is None or value is NOT_KNOWN
        else typed.get((Kind.of(value), value), rest)
    )


def _number_finder(feature: Feature, codes: dict[Value, int]) -> Callable[[Any], int]:
    cuts, missing, nothing = feature.cuts or (), feature.missing_place, len(feature.levels)

    def place(value: Any) -> int:
        if value is None or value is NOT_KNOWN:
            return missing if value is None else nothing
        number = float(value)
        found = codes.get(number) if codes else None
        return bisect_left(cuts, number) if found is None else found

    return place
