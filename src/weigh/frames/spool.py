"""Rows that come once, kept in a file of their own to be read again.

A query or a stream is run once: a second run might give its rows in another order, or others. The
file is compressed, has no name, and is gone with the scan.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterable, Iterator
from typing import Any

import pyarrow as pa
from pyarrow import parquet

from weigh.frames.scans import ROWS, Scan, open_scan

GROUP = 1 << 20


def spool(schema: Any, batches: Iterable[Any], backend: str | None, about: str) -> Scan:
    """A scan of batches that come once."""
    kept = pa.schema([field.with_type(_storable(field.type)) for field in schema])
    file = _write(kept, batches)
    texts = [field.name for field in kept if pa.types.is_string(field.type)]

    def read(names: tuple[str, ...]) -> Iterator[Any]:
        file.seek(0)
        opened = parquet.ParquetFile(file, read_dictionary=texts)
        yield from opened.iter_batches(ROWS, columns=[*names])

    n_rows = parquet.ParquetFile(file).metadata.num_rows
    return open_scan(kept.names, n_rows, read, backend, about)


def _write(schema: Any, batches: Iterable[Any]) -> Any:
    """Write a file that has no name any more when this returns."""
    number, path = tempfile.mkstemp(suffix=".parquet")
    os.close(number)
    try:
        with parquet.ParquetWriter(path, schema) as writer:
            for batch in batches:
                writer.write_batch(batch.cast(schema), row_group_size=GROUP)
        return pa.memory_map(path)
    finally:
        os.unlink(path)


def _storable(kind: Any) -> Any:
    """Text as the file keeps it."""
    wide = pa.types.is_large_string(kind) or pa.types.is_string_view(kind)
    return pa.string() if wide else kind
