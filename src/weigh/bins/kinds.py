"""What a value is: text, a number or a boolean; and what a column of them holds."""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum

from weigh.frames import Value


class Kind(StrEnum):
    """The kind of a value, or of the values of a column; `MIXED` is a column of several kinds.

    The value of each member is what people read, and what model files hold.

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
        """The kind of a value that is not missing: whole numbers and others are one kind."""
        if isinstance(value, str):
            return cls.TEXT
        return cls.BOOLEANS if isinstance(value, bool) else cls.NUMBERS

    @classmethod
    def of_all(cls, kinds: Iterable[Kind]) -> Kind:
        """The kind of a column that holds such values; a column without values counts as text."""
        found = {*kinds}
        return cls.MIXED if len(found) > 1 else next(iter(found), cls.TEXT)

    @property
    def types(self) -> frozenset[type]:
        """The types of Python, and so of JSON, whose values are of the kind."""
        return TYPES[self]

    @property
    def singular(self) -> str:
        """What one value is called."""
        return SINGULAR[self]

    @property
    def json(self) -> str:
        """What a JSON schema calls the type of such values."""
        return {Kind.TEXT: "string", Kind.BOOLEANS: "boolean"}.get(self, "number")


SINGLE = (Kind.TEXT, Kind.BOOLEANS, Kind.NUMBERS)
"""The kinds that a value can have, in the order in which sentences list them."""

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
