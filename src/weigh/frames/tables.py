"""Any table in: dataframes of any library, arrays, lists of dicts."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import narwhals as nw
import numpy as np
import pyarrow as pa
from scipy import sparse

from weigh.frames.columns import Column, array_is_category, convert


@dataclass(frozen=True)
class Table:
    """Named columns of equal length, converted one at a time when asked for."""

    names: tuple[str, ...]
    n_rows: int
    source: Callable[[int], Any]
    named: bool = True
    backend: str | None = None
    matrix: Any = None  # where the table was read from a sparse matrix

    def column(self, name: str, categorical: bool | None = None) -> Column:
        """The column as numbers or codes; None lets its type decide."""
        try:
            return convert(self.source(self.names.index(name)), name, categorical)
        except TypeError as error:
            raise TypeError(f"column {name!r}: {error}") from None

    def without(self, names: set[str]) -> Table:
        """The table less some columns."""
        return self.select(tuple(n for n in self.names if n not in names))

    def select(self, names: tuple[str, ...]) -> Table:
        """Some of the columns, in the order given."""
        places = [self.names.index(name) for name in names]
        return Table(names, self.n_rows, lambda j: self.source(places[j]), self.named, self.backend)


def read(X: Any, allow_sparse: bool = False) -> Table:
    """Any table as a `Table`: dataframe, array, list of dicts, or sparse matrix of counts."""
    if sparse.issparse(X):
        if not allow_sparse:
            raise ValueError(
                "sparse input holds counts, not levels: use event_model='counts', or X.toarray()"
            )
        table = _read_sparse(X)
    else:
        table = _read_frame(X) if _is_frame(X) else _read_array(X)
    if len(set(table.names)) < len(table.names):
        twice = sorted({n for n in table.names if table.names.count(n) > 1})
        raise ValueError(f"column names must differ, but {twice[0]!r} occurs twice; rename one")
    if not table.names:
        raise ValueError(
            f"0 feature(s) (shape=({table.n_rows}, 0)) while a minimum of 1 is required."
        )
    if not table.n_rows:
        raise ValueError("the table is empty: 0 sample(s) where at least 1 row is needed")
    return table


def as_rows(row: Any) -> Any:
    """One case as a table: a mapping, a series, a sequence of values, or a table already."""
    if isinstance(row, Mapping):
        return [row]
    if sparse.issparse(row) or _is_frame(row) or getattr(row, "ndim", 1) > 1:
        return row
    if hasattr(row, "to_dict") and hasattr(row, "index"):  # a pandas row
        return [row.to_dict()]
    return [row] if isinstance(row, np.ndarray) else [[*row]]


def _read_sparse(X: Any) -> Table:
    matrix = X.tocsr()
    n_rows, n_columns = matrix.shape
    return Table(positions(n_columns), n_rows, lambda j: None, named=False, matrix=matrix)


def _is_frame(X: Any) -> bool:
    if isinstance(X, np.ndarray | list | tuple):
        return False
    return isinstance(nw.from_native(X, pass_through=True), nw.DataFrame | nw.LazyFrame)


def _read_frame(X: Any) -> Table:
    native_names = [*getattr(X, "columns", ())] if hasattr(X, "iloc") else None
    if native_names is not None and not all(isinstance(name, str) for name in native_names):
        return _read_unnamed(X, native_names)
    if native_names is not None and len(set(native_names)) < len(native_names):
        return Table(tuple(native_names), len(X), lambda j: None)  # refused by name in `read`
    frame = nw.from_native(X)
    if isinstance(frame, nw.LazyFrame):
        frame = frame.collect()
    names = tuple(frame.columns)
    backend = frame.implementation.value
    return Table(names, len(frame), lambda j: frame.get_column(names[j]), True, backend)


def _read_unnamed(X: Any, names: list[Any]) -> Table:
    """A pandas frame whose columns have no text names is an array."""
    if any(isinstance(name, str) for name in names):
        raise TypeError(
            "column names must be all text or none: found "
            f"{sorted({type(n).__name__ for n in names})}; use X.columns = X.columns.astype(str)"
        )
    series = [nw.from_native(X.iloc[:, j], series_only=True) for j in range(len(names))]
    return Table(positions(len(names)), len(X), lambda j: series[j], False, "pandas")


def positions(n: int) -> tuple[str, ...]:
    """The names of columns that have none."""
    return tuple(f"x{j}" for j in range(n))


def _read_array(X: Any) -> Table:
    if isinstance(X, Sequence) and X and all(isinstance(row, Mapping) for row in X):
        return _read_dicts(X)
    array = np.asarray(X)
    if array.dtype.kind in "US" and not isinstance(X, np.ndarray):
        array = np.asarray(X, dtype=object)  # a list of mixed rows must not turn into text
    if array.dtype.names:
        raise ValueError(
            "structured NumPy arrays are not read; pass a dataframe, such as pandas.DataFrame(X)"
        )
    if array.ndim != 2:
        raise ValueError(
            f"Expected a 2D array or a dataframe, got {array.ndim}D (shape {array.shape}). "
            "Reshape your data: X.reshape(-1, 1) for one feature, X.reshape(1, -1) for one row"
        )
    if array.dtype.kind == "c":
        array_is_category(array)
    return Table(positions(array.shape[1]), len(array), lambda j: array[:, j], False)


def _read_dicts(rows: Sequence[Mapping[str, Any]]) -> Table:
    names = tuple(dict.fromkeys(name for row in rows for name in row))

    def column(j: int) -> np.ndarray[Any, Any]:
        values = np.empty(len(rows), dtype=object)
        values[:] = [row.get(names[j]) for row in rows]
        return values

    return Table(names, len(rows), column)


def vector(values: Any, name: str, categorical: bool) -> Column:
    """One array, series or list as a column."""
    series = nw.from_native(values, series_only=True, pass_through=True)
    if not isinstance(series, nw.Series):
        series = np.asarray(values)
        if series.dtype.kind in "US" and not isinstance(values, np.ndarray):
            series = np.asarray(values, dtype=object)
        if series.ndim != 1:
            raise ValueError(f"{name} should be a 1d array, got one of shape {series.shape}")
    try:
        return convert(series, name, categorical)
    except TypeError as error:
        raise TypeError(f"{name}: {error}") from None


def match(table: Table, names: tuple[str, ...], named: bool, reader: str) -> Table:
    """The columns that a fitted model asks for: by name, or by position without names."""
    if named and table.named:
        lacking = [name for name in names if name not in table.names]
        if lacking:
            raise ValueError(
                f"the table lacks the column {lacking[0]!r}, which {reader} was fitted with "
                f"({len(lacking)} of {len(names)} lacking); add it, with nulls where it is unknown"
            )
        return table.select(names)
    if len(table.names) != len(names):
        raise ValueError(
            f"X has {len(table.names)} features, but {reader} is expecting {len(names)} features "
            "as input"
        )
    if named != table.named:
        had, has = ("", " not") if named else (" not", "")
        warnings.warn(
            f"X does{has} have valid feature names, but {reader} was{had} fitted with feature "
            "names: columns are matched by position",
            UserWarning,
            stacklevel=4,
        )
    return replace(table, names=names)


def build(columns: Mapping[str, Sequence[Any]], backend: str | None) -> Any:
    """A dataframe of the library that the user's own table came from."""
    if backend in (None, "pyarrow"):
        return pa.table(dict(columns))
    return nw.from_dict(dict(columns), backend=backend).to_native()  # type: ignore[arg-type]
