"""Select rows and columns of a table in its own library, and build tables in it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import narwhals as nw
import numpy as np
import pyarrow as pa

from weigh.arrays import Integers
from weigh.frames.large import find_far
from weigh.frames.reading import is_sparse, wrap
from weigh.frames.tables import Table


def take_rows(X: Any, places: Integers) -> Any:
    """Select rows by number, from anything scikit-learn accepts as X.

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
    """Number of rows of X."""
    if isinstance(X, Table):
        return X.n_rows
    shape = getattr(X, "shape", None)
    return int(shape[0]) if shape else len(X)


def pick_columns(X: Any, names: Sequence[str]) -> Any:
    """Select columns by name, from a dataframe or a list of dicts.

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
    """Whether the result of `wrap` is a dataframe in memory with named columns."""
    return isinstance(frame, nw.DataFrame) and all(isinstance(n, str) for n in frame.columns)


def add_columns(frame: nw.DataFrame[Any], names: Sequence[str], new: Mapping[str, Any]) -> Any:
    """Select columns of a dataframe and add new ones, in its own library."""
    kind = frame.implementation
    series = [nw.new_series(name, values, backend=kind) for name, values in new.items()]
    return frame.with_columns(*series).select(*names, *new).to_native()  # names may be none


def to_arrow(source: Any) -> Any:
    """Convert a column to Arrow."""
    return source.to_arrow() if isinstance(source, nw.Series) else source


def collect(X: Any) -> Any:
    """Read a lazy table into memory; return anything else as it is."""
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
        views = [pa.types.is_string_view(f.type) for f in native.schema]  # Arrow selects no rows
        pairs = zip(native.schema, views, strict=True)
        fields = [f.with_type(pa.large_string()) if view else f for f, view in pairs]
        return nw.from_native(native.cast(pa.schema(fields)), eager_only=True)
    return eager


def count_matrix(table: Table) -> Any:
    """Convert a table of counts to a sparse matrix; raise an error for negative counts or NaN.

    Dense counts become sparse too: totals are then sums in the order of the columns, with the same
    bits for one row as for many.
    """
    matrix: Any = _gather_counts(table) if table.matrix is None else table.matrix
    values = matrix.data
    if np.iscomplexobj(values):
        raise ValueError("Complex data not supported: counts are real numbers")
    if values.size and not (values.min() >= 0 and values.max() < np.inf):  # also false for NaN
        _refuse(matrix, table)
    return matrix


def _gather_counts(table: Table) -> Any:
    """Convert columns to a sparse matrix one by one, so that only nonzero counts are held."""
    from scipy.sparse import csc_array  # not at start-up: only tokens need it

    if type(table) is Table:  # training, too, must tell a token that a dict leaves out from NaN
        table = replace(table, whole=False)
    parts = [_find_counts(table, j) for j in range(len(table.names))]
    ends = np.cumsum([0, *(len(rows) for rows, _ in parts)])
    rows, counts = (np.concatenate([part[k] for part in parts]) for k in (0, 1))
    shape = (table.n_rows, len(parts))
    matrix: Any = csc_array((counts, rows, ends), shape=shape)
    return matrix.tocsr()


def _find_counts(table: Table, j: int) -> tuple[Integers, Any]:
    """Rows in which a column is not zero, and its values there."""
    local = type(table) is Table  # scans and tables of a cluster hold no columns
    held = local and getattr(nw.to_native(table.source(j), pass_through=True), "array", None)
    kind = getattr(held, "dtype", None)
    plain = table.hidden is None and getattr(kind, "fill_value", None) == 0
    if plain and kind.subtype.kind in "iuf":  # type: ignore[union-attr]  # of a pandas sparse column
        return held.sp_index.to_int_index().indices, held.sp_values  # type: ignore[union-attr]
    column: Any = table.column(table.names[j], False)
    rows = np.flatnonzero(column.values)
    if column.unknown is not None:  # a token that a dict leaves out
        rows = rows[~column.unknown[rows]]
    return rows, column.values[rows]


def _refuse(counts: Any, table: Table) -> None:
    from scipy.sparse import coo_array

    matrix: Any = coo_array(counts)
    place = np.flatnonzero(~np.isfinite(matrix.data) | (matrix.data < 0))[0]
    row, column = matrix.coords[0][place], matrix.coords[1][place]
    raise ValueError(
        "Negative values in data passed to X, or NaN or infinity: counts are zero or more, but row "
        f"{row} of column {table.names[column]!r} holds {matrix.data[place]}; a token that does "
        "not occur has 0"
    )


def build(columns: Mapping[str, Sequence[Any]], backend: str | None) -> Any:
    """Build a dataframe in the library of the user's table."""
    if backend in (None, "pyarrow"):
        return pa.table(dict(columns))
    return nw.from_dict(dict(columns), backend=backend).to_native()  # type: ignore[arg-type]


def build_beside(X: Any, columns: Mapping[str, Any], backend: str | None) -> Any:
    """Build a dataframe with one row for each of X, in its library and with its index if any."""
    frame = build(columns, backend)
    if hasattr(X, "index") and hasattr(frame, "index"):
        frame.index = X.index
    return frame
