"""Single values of any library: their canonical form, order and keys; declared levels."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from functools import reduce
from typing import Any, TypeAlias

import narwhals as nw
import numpy as np
import pyarrow as pa


class NotKnown:
    """An answer that is not known, which weighs nothing: `weigh.NOT_KNOWN`."""

    _one: NotKnown | None = None

    def __new__(cls) -> NotKnown:
        """Return the only instance, also after a copy or a pickle."""
        cls._one = cls._one or super().__new__(cls)
        return cls._one

    def __repr__(self) -> str:
        return "NOT_KNOWN"

    def __reduce__(self) -> tuple[type[NotKnown], tuple[()]]:
        return NotKnown, ()


NOT_KNOWN = NotKnown()
"""An answer that was not given: it weighs nothing, whether or not training had missing values.

A cell of any table of Python objects may hold it (a dict, a list, an object column). In a dict an
absent key says the same.
"""

Value: TypeAlias = str | int | float | bool | NotKnown | None


def reads_as_number(text: str) -> bool:
    """Whether text reads as a number."""
    try:
        float(text)
    except ValueError:
        return False
    return True


def is_number(value: Any) -> bool:
    """Whether a value is a number; booleans are not."""
    return isinstance(value, int | float | np.integer | np.floating) and not isinstance(value, bool)


def is_count(value: Any) -> bool:
    """Whether a value is a whole number; booleans are not."""
    return isinstance(value, int | np.integer) and not isinstance(value, bool)


def canonical(value: Any) -> Value:
    """Canonical form of a value, the same in every library: 3.0 is 3, NaN and NA are None.

    >>> canonical(3.0), canonical(float("nan")), canonical(True), canonical("3")
    (3, None, True, '3')
    """
    if value is None or isinstance(value, str | NotKnown):
        return str(value) if isinstance(value, str) else value
    if isinstance(value, bool | np.bool_):
        return bool(value)
    if isinstance(value, np.datetime64 | np.timedelta64):  # first, as timedelta64 is an np.integer
        if np.isnat(value):
            return None
    elif isinstance(value, int | np.integer):
        return int(value)
    if isinstance(value, Decimal) and value.is_nan():  # float() fails for a signalling NaN
        return None
    if isinstance(value, Decimal) and value.is_finite() and value == value.to_integral_value():
        return int(value)
    if isinstance(value, float | np.floating | Decimal):
        number = float(value)
        return None if number != number else int(number) if number.is_integer() else number
    if type(value).__name__ in ("NAType", "NaTType"):
        return None
    if isinstance(value, date | np.datetime64):
        raise TypeError(
            f"{value} is a date, which has no level; derive numbers (year, month, weekday, age in "
            "days) first, or leave the column out"
        )
    raise TypeError(
        f"argument must be a string or a real number, not {type(value).__name__!r} ({value!r}); "
        "derive a number or a text from it first, or leave the column out"
    )


def spell(array: Any) -> Any:
    """Convert an Arrow column of numbers, booleans or both and text to text as displayed.

    3.0 is 3, and True is true.
    """
    if pa.types.is_union(array.type):
        return pa.array([_spell_known(canonical(cell)) for cell in array.to_pylist()], pa.string())
    kinds = pa.types.is_integer, pa.types.is_floating, pa.types.is_decimal, pa.types.is_boolean
    if not any(kind(array.type) for kind in kinds):
        return array
    coded = array.dictionary_encode()
    coded = coded.combine_chunks() if isinstance(coded, pa.ChunkedArray) else coded
    values = map(canonical, coded.dictionary.to_pylist())
    texts = pa.array(map(_spell_known, values), pa.string())
    return pa.DictionaryArray.from_arrays(coded.indices, texts).cast(pa.string())


def _spell_known(value: Value) -> str | None:
    return None if value is None else spell_value(value)


def spell_value(value: Any) -> str:
    """A value as text: True is true.

    >>> spell_value(True), spell_value(3), spell_value("x")
    ('true', '3', 'x')
    """
    return str(value).lower() if isinstance(value, bool) else str(value)


def spell_unions(table: pa.Table) -> pa.Table:
    """Convert columns of values of several types to text: CSV and Parquet have one type each."""
    for place, field in enumerate(table.schema):
        if pa.types.is_union(field.type):
            table = table.set_column(place, field.name, spell(table.column(place)))
    return table


def key(value: Value) -> tuple[type, Value]:
    """Key that distinguishes values by type: True is not 1, and '1' is not 1."""
    return type(value), value


def keys(values: Sequence[Value]) -> Iterable[tuple[type, Value]]:
    """Key of each value; faster than `key` one by one."""
    return zip(map(type, values), values, strict=True)


def order(value: Value) -> tuple[int, Any]:
    """Sorting key over values of any type: booleans, numbers, text, missing."""
    if value is None or isinstance(value, NotKnown):
        return 3, 0
    return (2 if isinstance(value, str) else 0 if isinstance(value, bool) else 1), value


@dataclass(frozen=True)
class Declared:
    """Declared levels of a column; if `ordered`, in this order.

    >>> Declared(("S", "M", "L"), ordered=True).united(Declared(("S", "M", "L"), ordered=True))
    Declared(values=('S', 'M', 'L'), ordered=True)
    >>> Declared(("S",)).united(Declared(("M",)))
    Declared(values=('S', 'M'), ordered=False)
    """

    values: tuple[Value, ...]
    ordered: bool = False

    @classmethod
    def of(cls, listed: Iterable[Any], ordered: bool = False) -> Declared:
        """Make levels from a list; missing is left out, and 1 and 1.0 are one level."""
        known = dict.fromkeys(keys([canonical(value) for value in listed]))
        return cls(tuple(value for _, value in known if value is not None), ordered)

    def united(self, other: Declared) -> Declared:
        """Levels of both; ordered only if both are equal."""
        if self == other:
            return self
        return Declared.of((*self.values, *other.values))


def declared_by(source: Any) -> Declared | None:
    """Levels declared by a column's type: pandas categories, Polars enums, Arrow dictionaries.

    Polars' `Categorical` declares none: its list grows with all values the process has seen.
    """
    if isinstance(source, nw.Series):
        native = source.to_native()
        if hasattr(native.dtype if hasattr(native, "dtype") else None, "categories"):
            return _of_dtype(native.dtype, source.implementation.is_polars())
        if source.implementation.is_polars():
            return None
        coded = isinstance(source.dtype, nw.Categorical | nw.Enum)
        return declared_by(source.to_arrow()) if coded else None
    if isinstance(source, pa.ChunkedArray):
        found = [one for one in map(declared_by, source.chunks) if one is not None]
        return reduce(Declared.united, found) if found else None
    if isinstance(source, pa.DictionaryArray):
        return Declared.of(source.dictionary.to_pylist(), bool(source.type.ordered))
    return None


def _of_dtype(kind: Any, polars: bool) -> Declared | None:
    """Levels declared by a dtype; an `Enum` of Polars is ordered."""
    if polars:
        is_enum = type(kind).__name__ == "Enum"
        return Declared.of(kind.categories.to_list(), ordered=True) if is_enum else None
    listed = kind.categories
    plain = listed.to_numpy() if listed.dtype.kind == "O" else listed
    return Declared.of(plain.tolist(), bool(kind.ordered))


def declared_in(batches: Iterable[Any], names: Iterable[str]) -> Mapping[str, Declared]:
    """Levels declared by the dictionaries of Arrow batches, for the named columns."""
    found: dict[str, Declared] = {}
    wanted = [*names]
    for batch in batches if wanted else ():
        for name in wanted:
            own = declared_by(batch.column(name))
            if own is not None:
                found[name] = found[name].united(own) if name in found else own
    return found


def stored_as_levels(schema: Any) -> list[str]:
    """Columns of an Arrow schema whose type is a dictionary."""
    return [field.name for field in schema if pa.types.is_dictionary(field.type)]
