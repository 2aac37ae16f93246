"""Labels of rows of any type: intervals, periods and dates as text, in their order."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import narwhals as nw
import numpy as np
import pyarrow as pa

from weigh.frames.columns import Codes
from weigh.frames.reading import vector
from weigh.frames.values import Value, canonical, declared_by

MIDNIGHT = " 00:00:00"


def read_labels(values: Any, name: str) -> tuple[Codes, tuple[Value, ...]]:
    """One label for each row, and the order of the labels if the column's type has one.

    Cells that are no number, text or boolean, such as the intervals of `pandas.cut`, become text.
    """
    try:
        column = vector(values, name, categorical=True)
    except (TypeError, ValueError):
        values = _spell(values)
        column = vector(values, name, categorical=True)
    assert isinstance(column, Codes)
    return column, _order_of(values)


def _order_of(values: Any) -> tuple[Value, ...]:
    declared = declared_by(nw.from_native(values, series_only=True, pass_through=True))
    return declared.values if declared is not None and declared.ordered else ()


def _spell(values: Any) -> pa.ChunkedArray:
    """Cells as text, by categories that are ordered as the cells are."""
    cells, declared = _cells_of(values)
    distinct = dict.fromkeys(cells)
    present = [cell for cell in distinct if not _is_missing(cell)]
    listed = [cell for cell in declared if cell in distinct] or _sort(present)
    texts = {cell: str(cell).removesuffix(MIDNIGHT) for cell in listed}
    places = {text: place for place, text in enumerate(dict.fromkeys(texts.values()))}
    codes = [places[texts[cell]] if cell in texts else None for cell in cells]
    coded = pa.DictionaryArray.from_arrays(
        pa.array(codes, pa.int32()), pa.array([*places], pa.string()), ordered=True
    )
    return pa.chunked_array([coded])


def _cells_of(values: Any) -> tuple[Sequence[Any], Sequence[Any]]:
    """The cells as Python objects, and the categories of a pandas column that has them."""
    series = nw.from_native(values, series_only=True, pass_through=True)
    if isinstance(series, nw.Series):
        cells, source = series.to_list(), series.to_native()
    elif np.ndim(values) != 1:
        raise ValueError(f"labels should be a 1d array, got one of shape {np.shape(values)}")
    else:  # NumPy's nanoseconds would become numbers
        kind = values.dtype.kind if isinstance(values, np.ndarray) else ""
        source = values.astype(f"{kind}8[us]").tolist() if kind in ("m", "M") else values
        cells = [*source]
    return cells, [*getattr(getattr(source, "dtype", None), "categories", ())]


def _is_missing(cell: Any) -> bool:
    try:
        return canonical(cell) is None
    except TypeError:
        return False


def _sort(cells: list[Any]) -> list[Any]:
    try:
        return sorted(cells)
    except TypeError:  # of several types, or of one without an order
        return sorted(cells, key=str)
