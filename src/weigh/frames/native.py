"""Rows, columns and counts of a table, in the library that it came from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import narwhals as nw
import numpy as np
import pyarrow as pa

from weigh.frames.cluster import find_far
from weigh.frames.columns import (
    Integers,
)
from weigh.frames.reading import is_sparse, wrap
from weigh.frames.tables import Table


def take_rows(X: Any, places: Integers) -> Any:
    """Rows by number, of whatever scikit-learn takes for X.

    >>> take_rows([["a"], ["b"], ["c"]], [2, 0])
    [['c'], ['a']]
    """
    if isinstance(X, Table):
        return X.rows(np.asarray(places))
    if hasattr(X, "iloc"):
        return X.iloc[places]
    _refuse_far(X, "this takes rows by their number")
    frame = wrap(X)
    if frame is not None:
        return _eager(frame)[np.asarray(places)].to_native()
    if is_sparse(X):
        return X.tocsr()[places]
    series = nw.from_native(X, series_only=True, pass_through=True)
    if isinstance(series, nw.Series):
        return series[np.asarray(places)].to_native()
    if isinstance(X, Sequence):
        return [X[place] for place in places]
    return np.asarray(X)[places]


def count_rows(X: Any) -> int:
    """How many rows X has."""
    if isinstance(X, Table):
        return X.n_rows
    shape = getattr(X, "shape", None)
    return int(shape[0]) if shape else len(X)


def pick_columns(X: Any, names: Sequence[str]) -> Any:
    """Columns by name, of a dataframe or a list of dicts.

    >>> pick_columns([{"a": 1, "b": 2}], ["b"])
    [{'b': 2}]
    """
    if isinstance(X, Table):
        return X.select(tuple(names))
    if isinstance(X, Sequence) and all(isinstance(row, Mapping) for row in X):
        return [{name: row.get(name) for name in names} for row in X]
    frame = wrap(X)
    assert frame is not None  # nothing else has names
    return frame.select(*names).to_native()


def is_dataframe(frame: Any) -> bool:
    """Whether what `wrap` gives is a dataframe in memory whose columns have names."""
    return isinstance(frame, nw.DataFrame) and all(isinstance(n, str) for n in frame.columns)


def add_columns(frame: nw.DataFrame[Any], names: Sequence[str], new: Mapping[str, Any]) -> Any:
    """Some columns of a dataframe with new ones beside them, in its own library."""
    kind = frame.implementation
    series = [nw.new_series(name, values, backend=kind) for name, values in new.items()]
    return frame.select(*names).with_columns(*series).to_native()


def to_arrow(source: Any) -> Any:
    """A column as its library holds it, as Arrow holds it."""
    return source.to_arrow() if isinstance(source, nw.Series) else source


def collect(X: Any) -> Any:
    """A lazy table read once and for all, and anything else as it is."""
    _refuse_far(X, "this needs all rows at once")
    frame = wrap(X)
    if not isinstance(frame, nw.LazyFrame):
        return X if frame is None else frame.to_native()
    return X.collect()


def _refuse_far(X: Any, why: str) -> None:
    kind = find_far(X)
    if kind is not None:
        kind.refuse(why)


def _eager(frame: nw.DataFrame[Any] | nw.LazyFrame[Any]) -> nw.DataFrame[Any]:
    eager = frame.collect() if isinstance(frame, nw.LazyFrame) else frame
    native = eager.to_native()
    if isinstance(native, pa.Table):
        fields = [f.with_type(_can_take(f.type)) for f in native.schema]
        return nw.from_native(native.cast(pa.schema(fields)), eager_only=True)
    return eager


def _can_take(kind: pa.DataType) -> pa.DataType:
    """Arrow cannot take some of the rows of a string view."""
    return pa.large_string() if pa.types.is_string_view(kind) else kind


def count_matrix(table: Table) -> Any:
    """The whole table as a sparse matrix of counts of zero and more.

    Dense counts become sparse too: then totals are sums in the order of the columns, the same bits
    for one row as for many.
    """
    matrix: Any = _gather_counts(table) if table.matrix is None else table.matrix
    values = matrix.data
    if np.iscomplexobj(values):
        raise ValueError("Complex data not supported: counts are real numbers")
    if values.size and not (values.min() >= 0 and values.max() < np.inf):  # nor if one is NaN
        _refuse(matrix, table)
    return matrix


def _gather_counts(table: Table) -> Any:
    """The columns one by one, of which only what is not zero is held."""
    from scipy.sparse import csc_array  # not at start-up: only tokens need it

    parts = [_find_counts(table, j) for j in range(len(table.names))]
    ends = np.cumsum([0, *(len(rows) for rows, _ in parts)])
    rows, counts = (np.concatenate([part[k] for part in parts]) for k in (0, 1))
    shape = (table.n_rows, len(parts))
    matrix: Any = csc_array((counts, rows, ends), shape=shape)
    return matrix.tocsr()


def _find_counts(table: Table, j: int) -> tuple[Integers, Any]:
    """The rows of a column in which it is not zero, and what it is there."""
    held = getattr(nw.to_native(table.source(j), pass_through=True), "array", None)
    kind = getattr(held, "dtype", None)
    plain = table.hidden is None and getattr(kind, "fill_value", None) == 0
    if plain and kind.subtype.kind in "iuf":  # type: ignore[union-attr]  # of a pandas sparse column
        return held.sp_index.to_int_index().indices, held.sp_values  # type: ignore[union-attr]
    values: Any = table.column(table.names[j], False).values
    rows = np.flatnonzero(values)
    return rows, values[rows]


def _refuse(counts: Any, table: Table) -> None:
    from scipy.sparse import coo_array

    matrix: Any = coo_array(counts)
    place = np.flatnonzero(~np.isfinite(matrix.data) | (matrix.data < 0))[0]
    row, column = matrix.coords[0][place], matrix.coords[1][place]
    raise ValueError(
        "Negative values in data passed to X, or NaN or infinity: counts are zero or more, but row "
        f"{row} of column {table.names[column]!r} holds {matrix.data[place]}"
    )


def build(columns: Mapping[str, Sequence[Any]], backend: str | None) -> Any:
    """A dataframe of the library that the user's own table came from."""
    if backend in (None, "pyarrow"):
        return pa.table(dict(columns))
    return nw.from_dict(dict(columns), backend=backend).to_native()  # type: ignore[arg-type]


def build_beside(X: Any, columns: Mapping[str, Any], backend: str | None) -> Any:
    """A dataframe with a row for each of X, in its library and with its index where it has one."""
    frame = build(columns, backend)
    if hasattr(X, "index") and hasattr(frame, "index"):
        frame.index = X.index
    return frame
