"""Find the distinct cells of a column by their bits, at about two nanoseconds a cell.

Cells with equal bits hold equal values, so one cell of each kind is converted and the others copy
its code. A string of up to 12 bytes is inside its cell (Arrow's string view). A longer string, and
any Python object, is known by its address, so equal values may have different bits: the caller
merges their codes.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from weigh import numpy_kernels

MOST = 4096
"""Most distinct cells; a column with more is coded by its values."""
SLOTS = 4 * MOST
"""Cells of the table of bits, of which each column needs 300 KB."""
LEAST = 4096
"""Rows up to which a column is coded by its values: the table of bits would take longer."""
ROWS = 1 << 17
"""Rows that are made string views at a time, of 16 bytes each."""


def is_worth_it(n_rows: int) -> bool:
    """Whether rows are enough to pay for the tables of bits; few values are coded sooner."""
    return n_rows > LEAST and not numpy_kernels.is_few(n_rows)


@dataclass(frozen=True)
class Distinct:
    """Code of each row, and the row in which each code appears first.

    A null has the code after the last.
    """

    codes: np.ndarray[Any, np.dtype[np.uint16]]
    first: np.ndarray[Any, np.dtype[np.int64]]


def distinct_objects(values: np.ndarray[Any, Any]) -> Distinct | None:
    """Distinct objects of an array by their address; None if there are many, or few rows."""
    if not is_worth_it(len(values)):
        return None
    held = values.__array_interface__
    addresses = held | {"typestr": f"<u{values.itemsize}", "descr": [("", f"<u{values.itemsize}")]}
    words = np.asarray(_Memory(addresses)).astype(np.uint64, copy=False)
    return _code(words[:, None], np.zeros(0, dtype=np.bool_))


@dataclass(frozen=True)
class _Memory:
    __array_interface__: dict[str, Any]


def distinct_views(array: Any) -> Distinct | None:
    """Distinct cells of an Arrow array of string views; None if there are many."""
    held = np.frombuffer(array.buffers()[1], dtype=np.uint64).reshape(-1, 2)
    null = np.zeros(0, dtype=np.bool_)
    if array.null_count:
        null = array.is_null().to_numpy(zero_copy_only=False)
    return _code(held[array.offset : array.offset + len(array)], null)


def _code(words: Any, null: Any) -> Distinct | None:
    from weigh.frames.kernels import code_bits  # loads numba

    keys, slots = np.zeros((SLOTS, 2), dtype=np.uint64), np.full(SLOTS, -1, dtype=np.int16)
    codes, first = np.zeros(len(words), dtype=np.uint16), np.zeros(MOST, dtype=np.int64)
    found = code_bits(words, null, keys, slots, first, codes)
    if found < 0:
        return None
    if len(null):
        codes[null] = found
    return Distinct(codes, first[:found])


def as_views(array: Any) -> Iterator[Any]:
    """Parts of an Arrow column of text as string views, made for few rows at a time.

    Addresses of long strings are those of a part, so each part has its own codes.
    """
    chunks = array.chunks if isinstance(array, pa.ChunkedArray) else [array]
    for chunk in chunks:
        step = len(chunk) if pa.types.is_string_view(chunk.type) else ROWS
        for start in range(0, len(chunk), max(step, 1)):
            yield chunk.slice(start, step).cast(pa.string_view())
