"""Any table in: dataframes of any library, arrays, lists of dicts."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import Any

import narwhals as nw
import numpy as np
import pyarrow as pa
from scipy import sparse

from weigh.frames.columns import (
    Column,
    Integers,
    array_is_category,
    as_missing,
    code_values,
    convert,
    hide,
)
from weigh.frames.declared import Declared, declared_by
from weigh.frames.names import refuse_misspelt
from weigh.frames.registry import find_far
from weigh.frames.values import NOT_KNOWN

FEW = 64
"""Tables of so few rows are read value by value, which costs less than any column operation."""


@dataclass(frozen=True)
class Table:
    """Named columns of equal length, converted one at a time when asked for.

    `source(j)` is the j-th column as its library holds it; `listed()` all columns as Python values.
    `hidden` marks cells that are not known, by row and column. Rows of dicts are `partial`: a
    column that none of them names is not known. `whole` tables, those to learn from, have missing
    values in place of what is not known.
    """

    names: tuple[str, ...]
    n_rows: int
    source: Callable[[int], Any]
    listed: Callable[[], Sequence[Sequence[Any]]]
    named: bool = True
    backend: str | None = None
    matrix: Any = None  # where the table was read from a sparse matrix
    hidden: Integers | None = None
    partial: bool = False
    whole: bool = False

    @cached_property
    def _place(self) -> dict[str, int]:
        return {name: j for j, name in enumerate(self.names)}

    @cached_property
    def _few(self) -> Sequence[Sequence[Any]] | None:
        return self.listed() if self.n_rows <= FEW else None

    def column(self, name: str, categorical: bool | None = None) -> Column:
        """The column as numbers or codes; None lets its type decide."""
        column = self._convert(name, categorical)
        if self.hidden is not None and self.hidden[:, self._place[name]].any():
            column = hide(column, self.hidden[:, self._place[name]])
        return as_missing(column) if self.whole else column

    def _convert(self, name: str, categorical: bool | None) -> Column:
        j = self._place[name]
        try:
            if categorical is not None and self._few is not None:
                codes = code_values(self._few[j])
                return codes if categorical else codes.numbers(name)
            return convert(self.source(j), name, categorical)
        except TypeError as error:
            raise TypeError(f"column {name!r}: {error}") from None

    def declared(self) -> Mapping[str, Declared]:
        """The levels that the types of columns name; arrays and dicts have no such types."""
        if type(self) is not Table or self.backend is None:
            return {}
        found = {name: self._declared(j) for j, name in enumerate(self.names)}
        return {name: levels for name, levels in found.items() if levels is not None}

    def _declared(self, j: int) -> Declared | None:
        try:
            return declared_by(self.source(j))
        except TypeError as error:
            raise TypeError(f"column {self.names[j]!r}: {error}") from None

    def rows(self, places: Integers) -> Table:
        """Some of the rows."""
        return replace(
            self,
            n_rows=len(places),
            source=lambda j: _pick(self.source(j), places),
            listed=lambda: [[column[i] for i in places] for column in self.listed()],
            matrix=None if self.matrix is None else self.matrix[places],
            hidden=None if self.hidden is None else self.hidden[places],
        )

    def to_learn_from(self) -> Table:
        """The same table, with what is not known as missing."""
        return replace(self, whole=True) if type(self) is Table else self

    def renamed(self, names: tuple[str, ...]) -> Table:
        """The same columns under other names, in order."""
        return replace(self, names=names)

    def without(self, names: set[str]) -> Table:
        """The table less some columns."""
        return self.select(tuple(n for n in self.names if n not in names))

    def select(self, names: tuple[str, ...]) -> Table:
        """Some of the columns, in the order given; of a partial table also such as it has not."""
        if names == self.names:
            return self
        places = [self._place.get(name, -1) for name in names]
        nothing: Any = np.full(self.n_rows if -1 in places else 0, NOT_KNOWN, dtype=object)

        def pick(columns: Sequence[Sequence[Any]]) -> Sequence[Sequence[Any]]:
            return [nothing if place < 0 else columns[place] for place in places]

        return replace(
            self,
            names=names,
            source=lambda j: nothing if places[j] < 0 else self.source(places[j]),
            listed=lambda: pick(self.listed()),
            hidden=None if self.hidden is None else self.hidden[:, places],
        )


def _pick(source: Any, places: Integers) -> Any:
    """Some rows of a column as its library holds it."""
    arrow = isinstance(source, nw.Series) and source.implementation.is_pyarrow()
    if arrow or isinstance(source, pa.ChunkedArray):  # which has been picked from before
        array = source.to_native() if arrow else source
        views = pa.types.is_string_view(array.type)  # of which Arrow cannot take some
        return (array.cast(pa.large_string()) if views else array).take(pa.array(places))
    return source[places]


def read(X: Any, allow_sparse: bool = False) -> Table:
    """Any table as a `Table`: dataframe, array, list of dicts, or sparse matrix of counts."""
    kind = find_far(X)
    if isinstance(X, Table):
        table = X
    elif kind is not None:
        table = kind.open(X)
    elif isinstance(X, pa.RecordBatchReader):  # whose rows come once
        from weigh.frames.sources import scan

        table = scan(X)
    elif sparse.issparse(X):
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
        _refuse_twice(table.names)
    refuse_empty(table)
    return table


def refuse_empty(table: Table) -> None:
    """A table needs a feature and a row."""
    if not (table.names or table.partial):
        raise ValueError(
            f"0 feature(s) (shape=({table.n_rows}, 0)) while a minimum of 1 is required."
        )
    if not table.n_rows:
        raise ValueError("the table is empty: 0 sample(s) where at least 1 row is needed")


def _refuse_twice(names: tuple[str, ...]) -> None:
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"column names must differ, but {twice!r} occurs twice; rename one")


def as_rows(row: Any) -> Any:
    """One case as a table: a mapping, a series, a sequence of values, or a table already."""
    if isinstance(row, Mapping):
        return [row]
    if hasattr(row, "to_dict") and hasattr(row, "iloc") and row.ndim == 1:  # a row of pandas
        return [row.to_dict() if all(isinstance(k, str) for k in row.index) else [*row]]
    if sparse.issparse(row) and getattr(row, "ndim", 2) == 1:
        return sparse.csr_array(row.toarray()[None])  # type: ignore[attr-defined]
    if sparse.issparse(row) or wrap(row) is not None or getattr(row, "ndim", 1) > 1:
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
    n_rows, n_columns = matrix.shape
    return Table(positions(n_columns), n_rows, lambda j: None, list, False, matrix=matrix)


def wrap(X: Any) -> nw.DataFrame[Any] | nw.LazyFrame[Any] | None:
    """The frame of whatever library, or None where X is no dataframe."""
    if isinstance(X, np.ndarray | list | tuple):
        return None
    kind = type(X)  # a DataFrame of Spark Connect has an attribute of any name
    if (
        hasattr(kind, "iloc") and X.ndim == 2 and not X.columns.is_unique
    ):  # narwhals would refuse it in its own words
        _refuse_twice(tuple(map(str, X.columns)))
    if hasattr(kind, "column_names"):
        _refuse_twice(tuple(X.column_names))
    frame = nw.from_native(X, pass_through=True)
    if isinstance(frame, nw.DataFrame | nw.LazyFrame):
        return frame
    table = _open_stream(X)
    return None if table is None else nw.from_native(table, eager_only=True)


def _open_stream(X: Any) -> pa.Table | None:
    """What offers its columns through Arrow alone: a RecordBatch, or an object of any library."""
    offers = [hasattr(type(X), f"__arrow_c_{way}__") for way in ("stream", "array")]
    if not any(offers) or isinstance(X, pa.RecordBatchReader | pa.Array | pa.ChunkedArray):
        return None
    if isinstance(nw.from_native(X, series_only=True, pass_through=True), nw.Series):
        return None
    table = pa.table(X)
    _refuse_twice(tuple(table.column_names))
    return table


def _read_frame(frame: nw.DataFrame[Any] | nw.LazyFrame[Any], X: Any) -> Table:
    if isinstance(frame, nw.LazyFrame):
        from weigh.frames.sources import scan_lazy

        return scan_lazy(frame)
    names, backend = tuple(frame.columns), frame.implementation.value
    if not all(isinstance(name, str) for name in names):
        return _read_unnamed(X, names)
    n_rows, get = len(frame), frame.get_column
    return Table(names, n_rows, lambda j: get(names[j]), lambda: _listed(frame), True, backend)


def _listed(frame: nw.DataFrame[Any]) -> Sequence[Sequence[Any]]:
    if frame.implementation.is_pandas_like():
        return frame.to_native().to_numpy(dtype=object).T  # type: ignore[no-any-return]
    return [*zip(*frame.rows(), strict=True)]


def _read_unnamed(X: Any, names: tuple[Any, ...]) -> Table:
    """A pandas frame whose columns have no text names is an array."""
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
    """The names of columns that have none."""
    return tuple(f"x{j}" for j in range(n))


def _read_array(X: Any) -> Table:
    if isinstance(X, Sequence) and X and all(isinstance(row, Mapping) for row in X):
        return _read_dicts(X)
    # a list of mixed rows must turn neither into text nor into floats
    if isinstance(X, np.ma.MaskedArray):
        X = np.ma.filled(X.astype(object), None)
    array = np.asarray(X, dtype=object if isinstance(X, list | tuple) else None)
    if array.dtype.names:
        raise ValueError(
            "structured NumPy arrays are not read; pass a dataframe, such as pandas.DataFrame(X)"
        )
    if array.ndim != 2:
        raise ValueError(
            f"Expected a 2D array or a dataframe, got {array.ndim}D (shape {array.shape}). "
            "Reshape your data: X.reshape(-1, 1) for one feature, X.reshape(1, -1) for one row; "
            "rows of a list must be of equal length"
        )
    if array.dtype.kind == "c":
        array_is_category(array, "x0")
    columns = array.T
    dates = array.dtype.kind in "mM"  # which tolist would turn into numbers
    listed: Any = (lambda: columns) if dates else columns.tolist
    return Table(positions(len(columns)), len(array), columns.__getitem__, listed, named=False)


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

    Whatever the table is (pandas, Polars, Arrow, NumPy, dicts), a cell that is blanked weighs
    nothing, also where training had missing values and null is a level of its own.

    Parameters
    ----------
    X : table
        Any dataframe, array or list of dicts.
    where : array or table of bool
        The cells that are not known: one row and one column for each of X, in its order.

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
        raise ValueError("blank takes a table in memory; collect the rows first")
    hidden = np.asarray(where)
    if hidden.dtype != np.bool_ or hidden.shape != (table.n_rows, len(table.names)):
        raise ValueError(
            f"where must hold true or false for {table.n_rows} rows and {len(table.names)} "
            f"columns, got {hidden.dtype} of shape {hidden.shape}"
        )
    return replace(table, hidden=hidden)


def vector(values: Any, name: str, categorical: bool | None) -> Column:
    """One array, series or list as a column."""
    series = nw.from_native(values, series_only=True, pass_through=True)
    if not isinstance(series, nw.Series):
        series = np.asarray(values, dtype=object if isinstance(values, list | tuple) else None)
        if series.ndim != 1:
            raise ValueError(f"{name} should be a 1d array, got one of shape {series.shape}")
    try:
        return convert(series, name, categorical)
    except TypeError as error:
        raise TypeError(f"{name}: {error}") from None


def warn_caller(text: str, category: type[Warning]) -> None:
    """Warn at the line outside this package that led here."""
    frame, level = sys._getframe(1), 2
    while frame.f_back is not None and frame.f_globals.get("__name__", "").startswith("weigh."):
        frame, level = frame.f_back, level + 1
    warnings.warn(text, category, stacklevel=level)


def set_names(estimator: Any, names: tuple[str, ...], named: bool) -> Any:
    """Keep the columns of a fit as scikit-learn does: their number, and names if they have any."""
    estimator.n_features_in_ = len(names)
    if named:
        estimator.feature_names_in_ = np.array(names, dtype=object)
    elif hasattr(estimator, "feature_names_in_"):
        del estimator.feature_names_in_
    return estimator


def match(table: Table, names: tuple[str, ...], named: bool, reader: str) -> Table:
    """The columns that a fitted model asks for: by name, or by position without names."""
    if named and table.named:
        lacking = [name for name in names if name not in table.names]
        if table.partial:
            refuse_misspelt(table, names, reader)
        elif lacking:
            raise ValueError(
                f"the table lacks the column {lacking[0]!r}, which {reader} was fitted with "
                f"({len(lacking)} of {len(names)} lacking); add it, and mark values that "
                "are not known with weigh.blank: nulls count as missing"
            )
        return table.select(names)
    if len(table.names) != len(names):
        raise ValueError(
            f"X has {len(table.names)} features, but {reader} is expecting {len(names)} features "
            "as input"
        )
    if named != table.named:
        had, has = ("", " not") if named else (" not", "")
        warn_caller(
            f"X does{has} have valid feature names, but {reader} was{had} fitted with feature "
            "names: columns are matched by position",
            UserWarning,
        )
    return table.renamed(names)


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
