"""Tables in files: CSV, TSV and Parquet, plain, gzipped, or on standard input."""

from __future__ import annotations

import gzip
import sys
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyarrow import csv, parquet

from weigh.writing import open_whole


def read_csv(source: Any, delimiter: str = ",", types: Mapping[str, Any] | None = None) -> pa.Table:
    """A CSV file as a table: an empty field is missing, and nothing else is."""
    convert = csv.ConvertOptions(
        null_values=[""], strings_can_be_null=True, column_types=dict(types or {})
    )
    parse = csv.ParseOptions(delimiter=delimiter, newlines_in_values=True)
    table = csv.read_csv(source, parse_options=parse, convert_options=convert)
    for field in table.schema:
        if pa.types.is_binary(field.type):
            raise ValueError(f"column {field.name!r} is not UTF-8 text; save the file as UTF-8")
    return table


def read_file(path: str, text: tuple[str, ...] = ()) -> pa.Table:
    """A file by its ending, or standard input for `-`; columns named in `text` are read as text."""
    types = dict.fromkeys(text, pa.string())
    try:
        if path == "-":
            return _read_bytes(sys.stdin.buffer.read(), types)
        if not Path(path).exists():
            raise FileNotFoundError(f"no such file: {path}")
        name = path.removesuffix(".gz")
        if name.endswith((".parquet", ".pq")):
            return parquet.read_table(path)
        if name.endswith((".tsv", ".tab")):
            return read_csv(path, "\t", types)
        with pa.input_stream(path) as stream:
            return read_csv(path, find_delimiter(stream.read(1 << 16)), types)
    except (pa.ArrowInvalid, UnicodeDecodeError, OSError, EOFError, zlib.error) as error:
        if isinstance(error, FileNotFoundError):
            raise
        raise ValueError(f"{path} cannot be read as a table: {error}") from None


def _read_bytes(data: bytes, types: dict[str, Any]) -> pa.Table:
    if data.startswith(b"\x1f\x8b"):
        data = gzip.decompress(data)
    if data.startswith(b"PAR1"):
        return parquet.read_table(pa.BufferReader(data))
    return read_csv(pa.BufferReader(data), find_delimiter(data), types)


def find_delimiter(data: bytes, path: str = "") -> str:
    """What separates the header: a tab or a semicolon where it has one and no comma."""
    header = data.split(b"\n", 1)[0]
    if b"\t" in header:
        return "\t"
    return ";" if b";" in header and b"," not in header else ","


def write_file(table: pa.Table, path: str) -> None:
    """Write a table by the ending of its path, or as CSV to standard output for `-`."""
    name = path.removesuffix(".gz")
    if name.endswith((".parquet", ".pq")):
        with open_whole(path) as file:
            parquet.write_table(table, file)
        return
    if path != "-" and not name.endswith((".csv", ".tsv", ".tab")):
        raise ValueError(f"{path}: the name must end in .csv, .tsv or .parquet (or .csv.gz)")
    options = csv.WriteOptions(delimiter="\t" if name.endswith((".tsv", ".tab")) else ",")
    if path == "-":
        csv.write_csv(table, pa.PythonFile(sys.stdout.buffer, mode="w"), options)
        sys.stdout.buffer.flush()
    else:
        packing = "gzip" if path.endswith(".gz") else None
        with open_whole(path) as file, pa.output_stream(file, compression=packing) as stream:
            csv.write_csv(table, stream, options)
