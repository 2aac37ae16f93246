"""The levels that a column's type names, whether or not a row has them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import reduce
from typing import Any

import narwhals as nw
import pyarrow as pa

from weigh.frames.values import Value, canonical, keys


@dataclass(frozen=True)
class Declared:
    """The levels that a column may have; `ordered` ones stand in their own order.

    >>> Declared(("S", "M", "L"), ordered=True).united(Declared(("S", "M", "L"), ordered=True))
    Declared(values=('S', 'M', 'L'), ordered=True)
    >>> Declared(("S",)).united(Declared(("M",)))
    Declared(values=('S', 'M'), ordered=False)
    """

    values: tuple[Value, ...]
    ordered: bool = False

    @classmethod
    def of(cls, listed: Iterable[Any], ordered: bool = False) -> Declared:
        """Levels as a library lists them; missing is none, and 1 and 1.0 are one."""
        known = dict.fromkeys(keys([canonical(value) for value in listed]))
        return cls(tuple(value for _, value in known if value is not None), ordered)

    def united(self, other: Declared) -> Declared:
        """The levels of both, in order only where both have the same."""
        if self == other:
            return self
        return Declared.of((*self.values, *other.values))


def declared_by(source: Any) -> Declared | None:
    """The levels that the type of a column names: pandas and Polars categories, Arrow dictionaries.

    Polars' `Categorical` names none: its list grows with whatever values the process has met.
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
    """Of a dtype with categories; Polars compares an `Enum` by its order, and so it is ordered."""
    if polars:
        return Declared.of(kind.categories.to_list(), ordered=True) if _is_enum(kind) else None
    listed = kind.categories
    plain = listed.to_numpy() if listed.dtype.kind == "O" else listed
    return Declared.of(plain.tolist(), bool(kind.ordered))


def _is_enum(kind: Any) -> bool:
    return type(kind).__name__ == "Enum"


def declared_in(batches: Iterable[Any], names: Iterable[str]) -> Mapping[str, Declared]:
    """The levels that dictionaries of some Arrow batches name, of columns that were stored so."""
    found: dict[str, Declared] = {}
    wanted = [*names]
    for batch in batches if wanted else ():
        for name in wanted:
            own = declared_by(batch.column(name))
            if own is not None:
                found[name] = found[name].united(own) if name in found else own
    return found


def stored_as_levels(schema: Any) -> list[str]:
    """The columns of an Arrow schema whose type is a dictionary."""
    return [field.name for field in schema if pa.types.is_dictionary(field.type)]
