"""Write scores to files, table after table: Parquet, CSV, JSON Lines, or a folder."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyarrow import compute, csv, parquet

from weigh.writing import make_folder, open_whole

PART = 1 << 22
"""Largest number of rows in one file of a folder."""


FORMULA = r"^[=+\-@\t\r]"
"""Beginnings of text that a spreadsheet would run as a formula."""


def write_scores(tables: Iterable[Any], path: str, spreadsheet: bool = False) -> int:
    """Write tables one after the other; return the number of rows.

    A path that ends in .parquet, .csv or .tsv (or .csv.gz) is a file, `-` standard output, anything
    else a folder of Parquet files. `spreadsheet` puts an apostrophe before text that a spreadsheet
    would run as a formula.
    """
    if spreadsheet:
        tables = map(escape_formulas, tables)
    if path == "-":
        return _write(tables, pa.PythonFile(sys.stdout.buffer, mode="w"), "csv")
    kind = _kind(path)
    if kind is None:
        with make_folder(path) as folder:
            return _write_parts(tables, folder)
    compression = "gzip" if path.endswith(".gz") else None
    with open_whole(path) as file, pa.output_stream(file, compression=compression) as sink:
        return _write(tables, sink, kind)


def escape_formulas(table: Any) -> Any:
    """Put an apostrophe before names and text that a spreadsheet would run as a formula."""

    def escape(values: Any) -> Any:
        if not (pa.types.is_string(values.type) or pa.types.is_large_string(values.type)):
            return values
        quoted = compute.binary_join_element_wise(pa.scalar("'", values.type), values, "")
        return compute.if_else(compute.match_substring_regex(values, FORMULA), quoted, values)

    names = escape(pa.array(table.column_names, pa.string())).to_pylist()
    columns = [
        column.cast(pa.string()) if pa.types.is_dictionary(column.type) else column
        for column in table.columns
    ]
    return pa.table([*map(escape, columns)], names=names)


def write_lines(tables: Iterable[Any], path: str) -> int:
    """Write tables one after the other as JSON Lines; return the number of rows."""

    def lines(table: Any) -> Iterator[str]:
        for row in json_rows(table):
            yield json.dumps(row, ensure_ascii=False, default=str) + "\n"

    if path == "-":
        return _write_text(tables, sys.stdout.buffer, lines)
    with open_whole(path) as file:
        return _write_text(tables, file, lines)


def _write_text(tables: Iterable[Any], file: Any, lines: Callable[[Any], Iterable[str]]) -> int:
    n_rows = 0
    for table in tables:
        file.writelines(line.encode("utf-8", errors="backslashreplace") for line in lines(table))
        n_rows += table.num_rows
    file.flush()
    return n_rows


def json_rows(table: Any) -> list[dict[str, Any]]:
    """Rows as dicts for JSON, without NaN and infinity, which JSON does not have."""

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
                file = stack.enter_context(open_whole(path))
                writer = stack.enter_context(parquet.ParquetWriter(file, table.schema))
            writer.write_table(table)
            n_rows += table.num_rows
    return n_rows
