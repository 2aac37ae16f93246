"""Rules from values to levels, which exports translate, and conditions for asking a question."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np

from weigh.arrays import Integers
from weigh.frames import NOT_KNOWN, Table, Value

if TYPE_CHECKING:
    from weigh.bins.levels import Feature


class Kind(StrEnum):
    """The kind of a value, or of the values of a column; `MIXED` is a column of several kinds.

    The value of each member is shown to users and stored in model files.

    >>> Kind.of(True), Kind.of(3), Kind.of("3")
    (<Kind.BOOLEANS: 'booleans'>, <Kind.NUMBERS: 'numbers'>, <Kind.TEXT: 'text'>)
    >>> Kind.of_all([Kind.TEXT, Kind.NUMBERS])
    <Kind.MIXED: 'mixed'>
    """

    BOOLEANS = "booleans"
    NUMBERS = "numbers"
    TEXT = "text"
    MIXED = "mixed"

    @classmethod
    def of(cls, value: Value) -> Kind:
        """The kind of a value that is not missing; integers and floats are one kind."""
        if isinstance(value, str):
            return cls.TEXT
        return cls.BOOLEANS if isinstance(value, bool) else cls.NUMBERS

    @classmethod
    def of_all(cls, kinds: Iterable[Kind]) -> Kind:
        """The kind of a column with values of these kinds; text if there are no values."""
        found = {*kinds}
        return cls.MIXED if len(found) > 1 else next(iter(found), cls.TEXT)

    @property
    def types(self) -> frozenset[type]:
        """Python types, as read from JSON, that belong to the kind."""
        return TYPES[self]

    @property
    def singular(self) -> str:
        """Text for one value of the kind: "a number"."""
        return SINGULAR[self]

    @property
    def json(self) -> str:
        """Name of the type in a JSON schema."""
        return {Kind.TEXT: "string", Kind.BOOLEANS: "boolean"}.get(self, "number")


SINGLE = (Kind.TEXT, Kind.BOOLEANS, Kind.NUMBERS)
"""The kinds of a single value, in the order in which messages list them."""

TYPES = {
    Kind.TEXT: frozenset({str}),
    Kind.BOOLEANS: frozenset({bool}),
    Kind.NUMBERS: frozenset({int, float}),
    Kind.MIXED: frozenset({str, bool, int, float}),
}
SINGULAR = {
    Kind.TEXT: "text",
    Kind.BOOLEANS: "true or false",
    Kind.NUMBERS: "a number",
    Kind.MIXED: "text, a number, true or false",
}


Holds: TypeAlias = Literal["missing", "equal", "at most", "any"]


@dataclass(frozen=True)
class Condition:
    """A test that assigns a value to the level at index `place`.

    The test is: missing, equal to `value`, at most `value`, or any value.
    """

    holds: Holds
    value: Value
    place: int


def list_conditions(feature: Feature) -> tuple[Condition, ...]:
    """The conditions of a feature, in order; a value that satisfies none has no level.

    Special codes come before intervals, which include their upper limit. Values of different kinds
    are never equal: True is not 1.

    >>> from weigh.bins import Feature
    >>> [(c.holds, c.value, c.place) for c in list_conditions(Feature("age", (-1,), (18.0,)))]
    [('missing', None, 3), ('equal', -1.0, 2), ('at most', 18.0, 0), ('any', None, 1)]
    """
    cuts = feature.cuts or ()
    found = [Condition("missing", None, feature.missing_place)]
    found += [Condition("equal", value, place) for value, place in feature.placed_values]
    found += [Condition("at most", cut, place) for place, cut in enumerate(cuts)]
    if feature.is_numeric or feature.other:
        found.append(Condition("any", None, len(cuts) if feature.is_numeric else feature.rest))
    return tuple(found)


def finder(feature: Feature) -> Callable[[Any], int]:
    """Return a fast function from a value to the index of its level.

    The value must be of a kind seen in training, None, or NOT_KNOWN, which has no level.
    """
    if feature.is_numeric:
        return _number_finder(feature, dict(feature.placed_values))
    rest, none = feature.rest, {None: feature.missing_place, NOT_KNOWN: len(feature.levels)}
    if len(feature.kinds) == 1:
        places: dict[Any, int] = dict(feature.placed_values) | none
        return lambda value: places.get(value, rest)
    typed = {(Kind.of(value), value): place for value, place in feature.placed_values}
    return lambda value: (
        none[value]
        if value is None or value is NOT_KNOWN
        else typed.get((Kind.of(value), value), rest)
    )


def spotter(features: Sequence[Feature]) -> Callable[[Any], bool]:
    """Return a fast function from a value to whether training surely did not have it.

    The features read one column. The value must be of a kind seen in training, None, or NOT_KNOWN.
    Numbers in bins are never new. Nothing is sure where not all values of `other` are recorded.

    >>> from weigh.bins import Feature
    >>> town = Feature("town", ("North", "South"), other=("text",), others=("East",))
    >>> [spotter([town])(value) for value in ("North", "East", "Est", None)]
    [False, False, True, False]
    """
    if features[0].is_numeric or not any(feature.lists_all for feature in features):
        return lambda value: False
    values = [value for feature in features for value in (*feature.values, *feature.others)]
    if len({*map(Kind.of, values)}) == 1:
        known: set[Any] = {None, NOT_KNOWN, *values}
        return lambda value: value not in known
    typed = {(Kind.of(value), value) for value in values}
    return lambda value: (
        value is not None and value is not NOT_KNOWN and (Kind.of(value), value) not in typed
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


@dataclass(frozen=True)
class Ask:
    """Condition for asking a question: another feature has one of the levels at `places`.

    `feature` is a copy, so that later changes of the other feature's levels do not shift `places`.

    >>> from weigh.bins import Feature
    >>> Ask(Feature("pain", ("no", "yes")), (1,)).words
    'pain = yes'
    """

    feature: Feature
    places: tuple[int, ...]

    @property
    def words(self) -> str:
        """The condition as text."""
        return " or ".join(map(self.feature.phrase, self.places))

    def holds(self, table: Table) -> Integers:
        """Mask of the rows of a table in which the condition holds."""
        placed = self.feature.read(table)
        return np.asarray(np.isin(placed.levels, self.places)[placed.codes])


def read_rules(given: Any) -> list[tuple[Any, Any, Any]]:
    """Parse `ask_if` into triples: column, the column it depends on, and the levels required."""
    if given is None:
        return []
    if not isinstance(given, Mapping):
        raise ValueError(
            f"ask_if must be a dict such as {{'pain_site': ('pain', 'yes')}}, got {given!r:.80}"
        )
    rules = []
    for name, condition in given.items():
        listed = isinstance(condition, Iterable) and not isinstance(condition, str)
        pair = [*condition] if listed else []
        if len(pair) != 2:
            raise ValueError(
                f"ask_if for {name!r} must be a pair of a column and its level, such as ('pain', "
                f"'yes'), got {condition!r:.80}"
            )
        rules.append((name, *pair))
    return rules
