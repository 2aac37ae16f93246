"""Read any table in memory: dataframes of any library, arrays, lists of dicts."""

from __future__ import annotations

import os
import sys
from collections.abc import Generator, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any

import narwhals as nw
import numpy as np
import pyarrow as pa

from weigh.frames.columns import (
    Column,
    array_is_category,
    convert,
)
from weigh.frames.large import Scan, find_far
from weigh.frames.names import doubt_names
from weigh.frames.sources import READ_BEFORE, scan, scan_lazy
from weigh.frames.tables import Table, refuse_empty
from weigh.frames.values import NOT_KNOWN

TABLES = "a dataframe, a 2D array, a list of dicts, a weigh.scan or a reader of Arrow batches"


def read(X: Any, allow_sparse: bool = False, allow_empty: bool = False) -> Table:
    """Read a dataframe, array, list of dicts or sparse matrix of counts as a `Table`.

    With `allow_empty`, a table in memory may have no rows.
    """
    if isinstance(X, Table) and not isinstance(X, Scan):
        return X  # it was checked when it was read
    kind = find_far(X)
    if isinstance(X, Scan):
        table: Table = X
    elif kind is not None:
        table = kind.open(X)
    elif isinstance(X, pa.RecordBatchReader):  # can be read only once
        table = scan(X)
    elif is_sparse(X):
        if not allow_sparse:
            raise ValueError(
                "sparse input holds counts, not levels: use EvidenceNB(event_model='counts'), or "
                "X.toarray()"
            )
        table = _read_sparse(X)
    else:
        frame = wrap(X)
        table = _read_array(X) if frame is None else _read_frame(frame, X)
    if table.named:
        refuse_twice(table.names)
    if table.n_rows or not allow_empty or isinstance(table, Scan):
        refuse_empty(table)
    return table


def keep_reader(X: Any) -> Any:
    """What may be read only once as what is read again; anything else as it is.

    A reader of Arrow batches becomes a scan, and another library's stream an Arrow table.
    """
    if isinstance(X, pa.RecordBatchReader):
        return scan(X)
    frame = wrap(X) if hasattr(type(X), "__arrow_c_stream__") else None
    return X if frame is None else frame.to_native()


def is_sparse(X: Any) -> bool:
    """Whether X is a sparse matrix: whoever made one has loaded its module, which takes long."""
    loaded = sys.modules.get("scipy.sparse")
    return loaded is not None and loaded.issparse(X)


def refuse_twice(names: tuple[str, ...]) -> None:
    """Raise an error where two columns have one name."""
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        fix = doubt_names(names) or "; rename one"
        raise ValueError(f"column names must differ, but {twice!r} occurs twice{fix}")


def as_rows(row: Any) -> Any:
    """Turn one case (mapping, series, sequence of values or table of one row) into a table."""
    if isinstance(row, Mapping | Table):
        return [row] if isinstance(row, Mapping) else row
    if hasattr(row, "to_dict") and hasattr(row, "iloc") and row.ndim == 1:  # a row of pandas
        return [row.to_dict() if all(isinstance(k, str) for k in row.index) else [*row]]
    if is_sparse(row) and getattr(row, "ndim", 2) == 1:
        return sys.modules["scipy.sparse"].csr_array(row.toarray()[None])
    if is_sparse(row) or wrap(row) is not None or getattr(row, "ndim", 1) > 1:
        return row
    if isinstance(row, np.ndarray):
        return row[None]
    if isinstance(row, str) or not isinstance(row, Iterable):
        raise ValueError(f"a row is a dict, a list of values or a table of one row, got {row!r}")
    nested = [*row]
    whole = nested and (np.ndim(nested[0]) > 0 or isinstance(nested[0], Mapping))
    return nested if whole else [nested]


def _read_sparse(X: Any) -> Table:
    matrix = X.tocsr()
    if not matrix.has_sorted_indices:  # totals are sums in the order of the columns
        matrix = matrix.sorted_indices()
    n_rows, n_columns = matrix.shape
    return Table(positions(n_columns), n_rows, lambda j: None, list, False, matrix=matrix)


def wrap(X: Any) -> nw.DataFrame[Any] | nw.LazyFrame[Any] | None:
    """Wrap a dataframe of any library for narwhals; None if X is no dataframe."""
    if isinstance(X, np.ndarray | list | tuple):
        return None
    kind = type(X)  # a DataFrame of Spark Connect has an attribute of any name
    if (
        hasattr(kind, "iloc") and X.ndim == 2 and not X.columns.is_unique
    ):  # narwhals would refuse it in its own words
        refuse_twice(tuple(map(str, X.columns)))
    if hasattr(kind, "column_names"):
        refuse_twice(tuple(X.column_names))
    frame = nw.from_native(X, pass_through=True)
    if isinstance(frame, nw.DataFrame | nw.LazyFrame):
        return frame
    table = _open_stream(X)
    return None if table is None else nw.from_native(table, eager_only=True)


def _open_stream(X: Any) -> pa.Table | None:
    """Read an object that only offers Arrow's C interface, such as a RecordBatch; else None."""
    offers = [hasattr(type(X), f"__arrow_c_{way}__") for way in ("stream", "array")]
    if not any(offers) or isinstance(X, pa.RecordBatchReader | pa.Array | pa.ChunkedArray):
        return None
    if isinstance(nw.from_native(X, series_only=True, pass_through=True), nw.Series):
        return None
    try:
        table = pa.table(X)
    except MemoryError:
        raise
    except Exception as error:  # of Arrow, or of whoever made X
        said = " ".join(str(error).split())
        raise ValueError(
            f"X has the type {type(X).__name__}, and its Arrow data cannot be read as a table "
            f"({said}); pass {TABLES}"
        ) from error
    refuse_twice(tuple(table.column_names))
    if not (table.num_rows or any(hasattr(X, size) for size in ("__len__", "num_rows"))):
        raise ValueError(READ_BEFORE)
    return table


def _read_frame(frame: nw.DataFrame[Any] | nw.LazyFrame[Any], X: Any) -> Table:
    if isinstance(frame, nw.LazyFrame):
        return scan_lazy(frame)
    names, backend = tuple(frame.columns), frame.implementation.value
    if not all(isinstance(name, str) for name in names):
        return _read_unnamed(X, names)
    n_rows, get = len(frame), frame.get_column
    return Table(names, n_rows, lambda j: get(names[j]), lambda: _listed(frame), True, backend)


def _listed(frame: nw.DataFrame[Any]) -> Sequence[Sequence[Any]]:
    if frame.implementation.is_pandas_like():
        return frame.to_native().to_numpy(dtype=object).T  # type: ignore[no-any-return]
    return [*zip(*frame.rows(), strict=True)] or [()] * len(frame.columns)  # there may be no rows


def _read_unnamed(X: Any, names: tuple[Any, ...]) -> Table:
    """Read a pandas frame without text names for its columns, like an array."""
    if any(isinstance(name, str) for name in names):
        raise TypeError(
            "column names must be all text or none: found "
            f"{sorted({type(n).__name__ for n in names})}; use X.columns = X.columns.astype(str)"
        )
    series = [nw.from_native(X.iloc[:, j], series_only=True) for j in range(len(names))]
    listed = lambda: [column.to_list() for column in series]  # noqa: E731
    return Table(positions(len(names)), len(X), lambda j: series[j], listed, False, "pandas")


@lru_cache(maxsize=8)
def positions(n: int) -> tuple[str, ...]:
    """Names x0, x1, ... for columns without names."""
    return tuple(f"x{j}" for j in range(n))


def _read_array(X: Any) -> Table:
    if isinstance(X, str | os.PathLike):
        path = os.fspath(X)
        raise ValueError(
            f"Expected a 2D array or a dataframe, got {path!r}; read a file first: "
            f"weigh.read_file({path!r})"
        )
    if isinstance(X, Sequence) and all(isinstance(row, Mapping) for row in X):
        return _read_dicts(X)
    if isinstance(X, np.ma.MaskedArray):
        X = np.ma.filled(X.astype(object), None)
    # NumPy would turn a list of mixed rows into text or floats.
    array = np.asarray(X, dtype=object if isinstance(X, list | tuple) else None)
    if array.dtype.names:
        raise ValueError(
            "structured NumPy arrays are not read; pass a dataframe, such as pandas.DataFrame(X)"
        )
    if isinstance(X, Mapping) and array.ndim == 0:
        if X and all(isinstance(value, list | tuple | np.ndarray) for value in X.values()):
            raise ValueError("X is a dict of columns; pass a dataframe, such as pyarrow.table(X)")
        raise ValueError("X is one row as a dict; pass a list of rows: [row]")
    _check_shape(X, array)
    if array.dtype.kind == "c":
        array_is_category(array, "x0")
    columns = array.T
    dates = array.dtype.kind in "mM"  # tolist would turn them into numbers
    listed: Any = (lambda: columns) if dates else columns.tolist
    return Table(positions(len(columns)), len(array), columns.__getitem__, listed, named=False)


def _check_shape(X: Any, array: np.ndarray[Any, Any]) -> None:
    """Raise an error for an array that is no table, by what X probably is."""
    if array.ndim == 0:
        held = "is None" if X is None else f"has the type {type(X).__name__}"
        fix = "list(X)" if isinstance(X, Generator) else TABLES
        raise ValueError(f"X {held}; pass {fix}")
    if array.ndim == 1 and len(array) and all(isinstance(text, str) for text in array):
        raise ValueError(
            f"X is a list of texts, the first {array[0][:40]!r}; count their words first, as "
            "scikit-learn's CountVectorizer does, for EvidenceNB(event_model='counts')"
        )
    if array.ndim != 2:
        raise ValueError(
            f"Expected a 2D array or a dataframe, got {array.ndim}D (shape {array.shape}). "
            "Reshape your data: X.reshape(-1, 1) for one feature, X.reshape(1, -1) for one row; "
            "rows of a list must be of equal length"
        )


def _read_dicts(rows: Sequence[Mapping[str, Any]]) -> Table:
    names = tuple(dict.fromkeys(name for row in rows for name in row))
    for name in names:
        if not isinstance(name, str):
            raise TypeError(f"the keys of a list of dicts must be text, found {name!r}")

    def column(j: int) -> np.ndarray[Any, Any]:
        values = np.empty(len(rows), dtype=object)
        values[:] = [row.get(names[j], NOT_KNOWN) for row in rows]
        return values

    listed = lambda: [[row.get(name, NOT_KNOWN) for row in rows] for name in names]  # noqa: E731
    return Table(names, len(rows), column, listed, partial=True)


def blank(X: Any, where: Any) -> Table:
    """Mark cells of a table as not known, for any estimator to predict.

    A blanked cell weighs nothing, even if missing is a level of the model. X may be pandas, Polars,
    Arrow, NumPy or dicts.

    Parameters
    ----------
    X : table
        Any dataframe, array or list of dicts.
    where : array or table of bool
        True for the cells that are not known, with the shape of X.

    Returns
    -------
    Table
        The rows as a table of this package, which models and functions take as X. No dataframe can
        tell a cell that is not known from a missing one.

    Examples
    --------
    >>> import weigh
    >>> people = weigh.datasets.titanic()
    >>> model = weigh.EducatedNB(pairs=0).fit(people, "Survived")
    >>> first = people.select(["Class", "Sex", "Age"]).slice(0, 1)
    >>> model.predict_proba(weigh.blank(first, [[True, True, True]])).round(3)
    array([[0.677, 0.323]])
    """
    table = read(X)
    if type(table) is not Table or table.matrix is not None:
        raise ValueError("blank needs a table in memory; collect the rows first")
    hidden = np.asarray(where)
    if hidden.dtype != np.bool_ or hidden.shape != (table.n_rows, len(table.names)):
        raise ValueError(
            f"where must be an array of bool with {table.n_rows} rows and {len(table.names)} "
            f"columns, got {hidden.dtype} of shape {hidden.shape}"
        )
    return replace(table, hidden=hidden)


def vector(values: Any, name: str, categorical: bool | None) -> Column:
    """Read one array, series or list as a column."""
    series = nw.from_native(values, series_only=True, pass_through=True)
    if not isinstance(series, nw.Series):
        series = np.asarray(values, dtype=object if isinstance(values, list | tuple) else None)
        if series.ndim != 1:
            raise ValueError(f"{name} should be a 1d array, got one of shape {series.shape}")
    try:
        return convert(series, name, categorical)
    except TypeError as error:
        raise TypeError(f"{name}: {error}") from None
