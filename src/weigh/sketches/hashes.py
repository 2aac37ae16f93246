"""Hashes of rows: 64 bits from the values of a row and the names of its columns.

Equal rows have equal hashes. A hash does not depend on the library, the file format, or the order
of rows and columns: it is the sum over columns of a hash of value and name, mixed once more.
"""

from __future__ import annotations

from hashlib import blake2b
from typing import Any

import numpy as np

from weigh.frames import Codes, Column, Integers, Scan, Table, Value, reads_as_number

BLOCK = 1 << 14
"""Rows whose totals stay in the processor's cache while all coded columns are added."""


def hash_rows(table: Table) -> Integers:
    """Hash each row to 64 bits; equal values have equal hashes in every dataframe library."""
    if isinstance(table, Scan):
        return np.concatenate([hash_rows(part) for part in table.batches()])
    from weigh.sketches import kernels  # loads numba

    total, coded = np.zeros(table.n_rows, dtype=np.uint64), []
    for name in table.names:
        column, key = _read(table, name), _hash_text(name)
        if isinstance(column, Codes):
            coded.append((column.codes, mix(_hash_values(column.values), key)))
        else:
            kernels.add_numbers(column.values, column.values.view(np.uint64), key, total)
    for start in range(0, table.n_rows, BLOCK):
        rows = slice(start, start + BLOCK)
        for codes, hashes in coded:
            kernels.add_levels(codes[rows], hashes, total[rows])
    return mix(total)


def mix(bits: Integers, key: Any = 0) -> Integers:
    """Hash each number of 64 bits, after an exclusive or with the key."""
    from weigh.sketches import kernels  # loads numba

    out = np.empty(len(bits), dtype=np.uint64)
    kernels.mix_each(bits, np.uint64(key), out)
    return out


def _read(table: Table, name: str) -> Column:
    """Read a column by its type; small integers, and numbers that do not fit a double, by level."""
    try:
        whole = isinstance(array := table.source(table.names.index(name)), np.ndarray)
        return table.column(name, True if whole and array.dtype.itemsize == 1 else None)
    except ValueError:
        return table.column(name, True)


def _hash_values(values: tuple[Value, ...]) -> Integers:
    """Hash values; text that reads as a number is that number, as in files without types."""
    numbers, found = np.full(max(len(values), 1), np.nan), {}
    for i, value in enumerate(values):
        text = str(value).lower() if isinstance(value, bool) else value
        try:
            if isinstance(text, str) and not reads_as_number(text):
                found[i] = _hash_text(text)
            elif isinstance(text, str | int | float):
                numbers[i] = float(text)
        except OverflowError:
            found[i] = _hash_text(str(text))
    out = np.zeros(len(numbers), dtype=np.uint64)
    from weigh.sketches import kernels  # loads numba

    kernels.hash_numbers(numbers, numbers.view(np.uint64), out)
    out[[*found]] = [*found.values()]
    return out


def _hash_text(text: str) -> np.uint64:
    data = text.encode("utf-8", errors="surrogatepass")
    return np.uint64(int.from_bytes(blake2b(data, digest_size=8).digest(), "little"))
