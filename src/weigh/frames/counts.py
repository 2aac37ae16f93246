"""Documents by tokens: how often each token occurs in each row, sparse or dense."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from weigh.frames.tables import Table


def count_matrix(table: Table) -> Any:
    """The whole table as a sparse matrix of counts of zero and more.

    Dense counts become sparse too: then totals are sums in the order of the columns, the same bits
    for one row as for many.
    """
    matrix: Any = table.matrix
    if matrix is None:
        columns: list[Any] = [table.column(name, False).values for name in table.names]
        matrix = np.column_stack(columns)
    coo: Any = sparse.coo_array
    values = matrix if table.matrix is None else matrix.data
    if np.iscomplexobj(values):
        raise ValueError("Complex data not supported: counts are real numbers")
    if values.size and not (values.min() >= 0 and values.max() < np.inf):  # nor if one is NaN
        _refuse(coo(matrix), table)
    return coo(matrix).tocsr() if table.matrix is None else matrix


def _refuse(matrix: Any, table: Table) -> None:
    place = np.flatnonzero(~np.isfinite(matrix.data) | (matrix.data < 0))[0]
    row, column = matrix.coords[0][place], matrix.coords[1][place]
    raise ValueError(
        "Negative values in data passed to X, or NaN or infinity: counts are zero or more, but row "
        f"{row} of column {table.names[column]!r} holds {matrix.data[place]}"
    )
