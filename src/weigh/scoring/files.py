"""Scores written as they come: a file or a folder is there whole, or not at all."""

from __future__ import annotations

import json
import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyarrow import csv, parquet

PART = 1 << 22
"""Rows of one file of a folder."""


def write_scores(tables: Iterable[Any], path: str) -> int:
    """Write tables one after the other; return how many rows there were.

    A path that ends in .parquet, .csv or .tsv (or .csv.gz) is a file, `-` standard output, anything
    else a folder of Parquet files.
    """
    if path == "-":
        return _write(tables, pa.PythonFile(sys.stdout.buffer, mode="w"), "csv")
    kind = _kind(path)
    if kind is None:
        return _write_folder(tables, Path(path))
    with _replacing(path) as part, pa.output_stream(part, compression=_compression(path)) as sink:
        return _write(tables, sink, kind)


def write_lines(tables: Iterable[Any], path: str) -> int:
    """The same as lines of JSON."""

    def lines(table: Any) -> Iterator[str]:
        for row in json_rows(table):
            yield json.dumps(row, ensure_ascii=False, default=str) + "\n"

    if path == "-":
        return _write_text(tables, sys.stdout, lines)
    with _replacing(path) as part, open(part, "w", encoding="utf-8") as file:
        return _write_text(tables, file, lines)


def _write_text(tables: Iterable[Any], file: Any, lines: Callable[[Any], Iterable[str]]) -> int:
    n_rows = 0
    for table in tables:
        file.writelines(lines(table))
        n_rows += table.num_rows
    file.flush()
    return n_rows


def json_rows(table: Any) -> list[dict[str, Any]]:
    """Rows for JSON, which has neither NaN nor infinity."""

    def value(cell: Any) -> Any:
        return None if isinstance(cell, float) and cell - cell != 0 else cell

    return [{name: value(cell) for name, cell in row.items()} for row in table.to_pylist()]


def _kind(path: str) -> str | None:
    name = path.removesuffix(".gz")
    kinds = {"parquet": (".parquet", ".pq"), "csv": (".csv",), "tsv": (".tsv", ".tab")}
    found = next((kind for kind, ends in kinds.items() if name.endswith(ends)), None)
    if found is None and Path(path.rstrip("/")).suffix:
        raise ValueError(
            f"{path}: the name must end in .csv, .tsv or .parquet (or .csv.gz), or have no ending "
            "for a folder"
        )
    return None if path.endswith("/") else found


def _compression(path: str) -> str | None:
    return "gzip" if path.endswith(".gz") else None


def _write(tables: Iterable[Any], sink: Any, kind: str) -> int:
    n_rows = 0
    with ExitStack() as stack:
        writer: Any = None
        for table in tables:
            writer = writer or stack.enter_context(_open(sink, table.schema, kind))
            writer.write_table(table)
            n_rows += table.num_rows
    sink.flush()
    return n_rows


def _open(sink: Any, schema: Any, kind: str) -> Any:
    if kind == "parquet":
        return parquet.ParquetWriter(sink, schema)
    delimiter = "\t" if kind == "tsv" else ","
    return csv.CSVWriter(sink, schema, write_options=csv.WriteOptions(delimiter=delimiter))


@contextmanager
def _replacing(path: str) -> Iterator[str]:
    """A name beside the path, which takes its place at the end, or is removed."""
    target = Path(path)
    if not target.parent.is_dir():
        raise FileNotFoundError(f"no such folder: {target.parent}")
    number, part = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
    os.close(number)
    try:
        yield part
        os.chmod(part, 0o666 & ~_umask())
        os.replace(part, path)
    except BaseException:
        os.unlink(part)
        raise


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def _write_folder(tables: Iterable[Any], folder: Path) -> int:
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise ValueError(f"{folder} is there already and not an empty folder; give another name")
    folder.parent.mkdir(parents=True, exist_ok=True)
    part = Path(tempfile.mkdtemp(dir=folder.parent, prefix=f".{folder.name}."))
    try:
        n_rows = _write_parts(tables, part)
        os.chmod(part, 0o777 & ~_umask())
        os.replace(part, folder)
        return n_rows
    except BaseException:
        shutil.rmtree(part)
        raise


def _write_parts(tables: Iterable[Any], folder: Path) -> int:
    n_rows = 0
    with ExitStack() as stack:
        writer: Any = None
        for table in tables:
            if n_rows // PART > (n_rows - table.num_rows) // PART:
                stack.close()
                writer = None
            if writer is None:
                path = folder / f"part-{len([*folder.iterdir()]):05}.parquet"
                writer = stack.enter_context(parquet.ParquetWriter(path, table.schema))
            writer.write_table(table)
            n_rows += table.num_rows
    return n_rows
