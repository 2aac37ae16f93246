"""`Table`: named columns of equal length, from any library."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import narwhals as nw
import numpy as np
import pyarrow as pa
from numpy.lib.stride_tricks import as_strided

from weigh.arrays import Integers
from weigh.frames.columns import Codes, Column, Numbers, as_missing, code_values, convert, hide
from weigh.frames.names import list_names
from weigh.frames.values import NOT_KNOWN, Declared, declared_by

FEW = 64
"""Tables of up to this many rows are read value by value, which is faster for few rows."""


@dataclass(frozen=True)
class Table:
    """Named columns of equal length, each converted when it is needed.

    `source(j)` is the j-th column as its library holds it; `listed()` is all columns as Python
    values. `hidden` marks cells that are not known, by row and column. A table made from dicts is
    `partial`: a column that it does not have is not known. In a `whole` table, for training, not
    known becomes missing.
    """

    names: tuple[str, ...]
    n_rows: int
    source: Callable[[int], Any]
    listed: Callable[[], Sequence[Sequence[Any]]]
    named: bool = True
    backend: str | None = None
    matrix: Any = None  # the sparse matrix that the table was read from
    hidden: Integers | None = None
    partial: bool = False
    whole: bool = False

    @cached_property
    def _place(self) -> dict[str, int]:
        return {name: j for j, name in enumerate(self.names)}

    @cached_property
    def _few(self) -> Sequence[Sequence[Any]] | None:
        return self.listed() if self.n_rows <= FEW else None

    @cached_property
    def _categories(self) -> dict[str, Codes]:
        """Coded columns of text of a table for training, which a fit reads several times."""
        return {}

    def column(self, name: str, categorical: bool | None = None) -> Column:
        """Column as numbers or codes; by its type if `categorical` is None."""
        if categorical is not False and name in self._categories:
            return self._categories[name]
        column = self._convert(name, categorical)
        if self.hidden is not None and self.hidden[:, self._place[name]].any():
            column = hide(column, self.hidden[:, self._place[name]])
        if not self.whole:
            return column
        column = as_missing(column)
        if isinstance(column, Codes) and str in {*map(type, column.values)}:
            self._categories[name] = column
        return column

    def codes(self, name: str) -> Codes:
        """Column as categories."""
        return self.column(name, True)  # type: ignore[return-value]

    def numbers(self, name: str) -> Numbers:
        """Column as numbers."""
        return self.column(name, False)  # type: ignore[return-value]

    def bytes(self) -> Integers | None:
        """All columns as a matrix of bytes, without a copy; None if they are not held like that."""
        plain = type(self) is Table and self.backend is None and self.hidden is None
        if not plain or self.n_rows <= FEW:
            return None
        return side_by_side([self.source(j) for j in range(len(self.names))])

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
        """Levels declared by the types of columns; none for arrays and dicts."""
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
        """Select rows by number."""
        return replace(
            self,
            n_rows=len(places),
            source=lambda j: _pick(self.source(j), places),
            listed=lambda: [[column[i] for i in places] for column in self.listed()],
            matrix=None if self.matrix is None else self.matrix[places],
            hidden=None if self.hidden is None else self.hidden[places],
        )

    def to_learn_from(self) -> Table:
        """Copy for training, in which not known is missing."""
        return replace(self, whole=True) if type(self) is Table else self

    def renamed(self, names: tuple[str, ...]) -> Table:
        """Rename the columns, in order."""
        return replace(self, names=names)

    def without(self, names: set[str]) -> Table:
        """Drop columns."""
        return self.select(tuple(n for n in self.names if n not in names))

    def with_numbers(self, name: str, values: Any, known: bool = True) -> Table:
        """Append a numeric column; with `known=False` its values are not known."""
        n, hidden = len(self.names), self.hidden
        if not known:
            hidden = np.zeros((self.n_rows, n), dtype=np.bool_) if hidden is None else hidden
        if hidden is not None:
            hidden = np.column_stack([hidden, np.full(self.n_rows, not known)])
        return replace(
            self,
            names=(*self.names, name),
            source=lambda j: values if j == n else self.source(j),
            listed=lambda: [*self.listed(), values.tolist()],
            hidden=hidden,
        )

    def select(self, names: tuple[str, ...]) -> Table:
        """Select columns in the given order; a partial table gives absent ones as not known."""
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
            matrix=None if self.matrix is None else self.matrix[:, places],
            hidden=None if self.hidden is None else self.hidden[:, places],
        )


def _pick(source: Any, places: Integers) -> Any:
    """Select rows of a column in its own library."""
    arrow = isinstance(source, nw.Series) and source.implementation.is_pyarrow()
    if arrow or isinstance(source, pa.ChunkedArray):  # rows were selected before
        array = source.to_native() if arrow else source
        views = pa.types.is_string_view(array.type)  # Arrow cannot select their rows
        return (array.cast(pa.large_string()) if views else array).take(pa.array(places))
    return source[places]


def side_by_side(columns: Sequence[Any]) -> Integers | None:
    """Matrix of the bytes of columns that one array holds row by row; None for other columns.

    >>> array = np.arange(6, dtype=np.uint8).reshape(3, 2)
    >>> side_by_side([array[:, 0], array[:, 1]]).tolist()
    [[0, 1], [2, 3], [4, 5]]
    >>> side_by_side([array[:, 1], array[:, 0]]) is None
    True
    """
    arrays = all(isinstance(one, np.ndarray) and one.dtype.itemsize == 1 for one in columns)
    if len(columns) < 2 or not arrays or len({(one.shape, one.strides) for one in columns}) > 1:
        return None
    first, step = columns[0], columns[0].strides[0]
    start = first.__array_interface__["data"][0]
    places = [one.__array_interface__["data"][0] - start for one in columns]
    if step < len(columns) or places != [*range(len(columns))]:
        return None
    shape = (len(first), len(columns))
    return as_strided(first.view(np.uint8), shape, (step, 1), writeable=False)


def refuse_empty(table: Table) -> None:
    """Raise an error for a table without features or without rows."""
    if not (table.names or table.partial):
        raise ValueError(
            "the table has no feature columns: "
            f"0 feature(s) (shape=({table.n_rows}, 0)) while a minimum of 1 is required."
        )
    if not table.n_rows:
        held = f"; its columns are {list_names(table.names)}" if table.names else ""
        raise ValueError(f"the table is empty: 0 sample(s) where at least 1 row is needed{held}")
