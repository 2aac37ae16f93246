"""Sources of tables: files, lazy frames, queries and databases (`scan`, `read_file`)."""

from __future__ import annotations

import os
import sys
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import narwhals as nw
import pyarrow as pa
from pyarrow import csv, parquet

from weigh.errors import Extra
from weigh.frames.delimited import TextDialect, find_mark, parse_options, read_delimited
from weigh.frames.formats import read_format, unpack
from weigh.frames.large import ROWS, Scan, spool
from weigh.frames.values import Declared
from weigh.writing import open_whole

dbapi = Extra(
    "adbc_driver_postgresql.dbapi",
    "reading from PostgreSQL needs adbc-driver-postgresql",
    "postgres",
)

DATABASES = ("postgresql://", "postgres://")


SHA256 = b"weigh.sha256"
"""The key of the hash of a table's files, in the metadata of its Arrow schema."""


def with_hash(table: pa.Table, sha256: str) -> pa.Table:
    """An Arrow table that knows the hash of the files it was read from.

    It has no names of files: Parquet keeps metadata, and no file may decide what we open.
    """
    known = table.schema.metadata or {}
    return table.replace_schema_metadata(known | {SHA256: sha256})


def is_of_files(table: Any, sha256: str) -> bool:
    """Whether an Arrow table knows that its files have this hash."""
    known = table.schema.metadata if isinstance(table, pa.Table) else None
    return (known or {}).get(SHA256) == sha256.encode()


READ_BEFORE = (
    "the reader gave no rows, and a table needs rows; a reader is read once, so open it again if "
    "it was read before"
)


def scan(
    source: Any,
    *,
    query: str | None = None,
    text: Sequence[str] = (),
    delimiter: str | None = None,
    decimal: str | None = None,
    encoding: str | None = None,
    na: Sequence[str] = (),
) -> Scan:
    """Open a table that is larger than memory.

    Parameters
    ----------
    source : path, list of paths, address of a database, lazy frame or reader of Arrow batches
        CSV, TSV (plain or gzipped) or Parquet files: one, many, a glob or a folder, whose
        partitions (`year=2024/`) are columns; `postgresql://...`; a Polars LazyFrame; a DuckDB
        relation; a `pyarrow.RecordBatchReader`.
    query : str, optional
        For a database: the name of a table, or a SELECT.
    text : sequence of str, default=()
        Columns of CSV and TSV files to be read as text, such as codes that look like numbers.
    delimiter, decimal, encoding, na
        Format of CSV and TSV files, as in `read_file`.

    Returns
    -------
    Scan
        Use it like a table: `fit(scan, "target")`, `predict_proba(scan)`, `weigh.score_table(model,
        scan, "scores.parquet")`.

    Notes
    -----
    Files are read in place; each pass reads only the columns that it needs. Lazy frames, queries
    and readers are run once, into a compressed temporary file.

    Examples
    --------
    >>> import tempfile, weigh
    >>> from pyarrow import parquet
    >>> from weigh.datasets import titanic
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     parquet.write_table(titanic(), f"{folder}/people.parquet")
    ...     people = weigh.scan(f"{folder}/*.parquet")
    ...     model = weigh.EvidenceNB().fit(people, "Survived")
    >>> people.n_rows, model.classes_.tolist()
    (2201, ['No', 'Yes'])
    """
    if isinstance(source, Scan):
        return source
    if isinstance(source, str) and source.startswith(DATABASES):
        return _scan_database(source, query)
    if query is not None:
        raise ValueError(f"query={query!r} is for databases, such as {DATABASES[0]}host/name")
    if isinstance(source, pa.RecordBatchReader):
        opened = spool(source.schema, source, "pyarrow", "a reader")
        if not opened.n_rows:
            raise ValueError(READ_BEFORE)
        return opened
    lazy = nw.from_native(source, pass_through=True)
    if isinstance(lazy, nw.LazyFrame):
        return scan_lazy(lazy)
    paths = isinstance(source, str | os.PathLike | Iterable)
    if not paths or isinstance(lazy, nw.DataFrame):
        raise TypeError(
            "scan takes paths, a database's address, a lazy frame or a reader, got "
            f"{type(source).__name__!r}; tables in memory need no scan"
        )
    from weigh.frames.folders import scan_files  # slow to import

    return scan_files(source, text, TextDialect(delimiter, decimal, encoding, tuple(na)))


def scan_lazy(frame: nw.LazyFrame[Any]) -> Scan:
    """Scan a lazy frame; it is run once, into a temporary file."""
    native, kind = frame.to_native(), frame.implementation
    if kind.is_polars():
        opened = _spool_all(_polars_batches(native), "polars", "a lazy frame")
        return replace(opened, known_levels=_enums(frame))
    if kind.is_duckdb():
        reader = native.to_arrow_reader(ROWS)
        opened = spool(reader.schema, reader, "pyarrow", "a relation")
        known = {name: replace(own, ordered=True) for name, own in opened.known_levels.items()}
        return replace(opened, known_levels=known)  # enums of DuckDB are ordered
    if kind.is_ibis():
        reader = native.to_pyarrow_batches(chunk_size=ROWS)
        return spool(reader.schema, reader, "pyarrow", "an expression")
    return _spool_all(frame.collect(backend="pyarrow").to_native().to_batches(), "pyarrow", "rows")


def _enums(frame: nw.LazyFrame[Any]) -> Mapping[str, Declared]:
    """Levels of Polars' enums, from their types: Arrow dictionaries of 1.34 say no order."""
    kinds = frame.collect_schema().items()
    return {n: Declared.of(kind.categories, True) for n, kind in kinds if isinstance(kind, nw.Enum)}


def _polars_batches(frame: Any) -> Iterator[Any]:
    empty = True
    for part in frame.collect_batches(chunk_size=ROWS, maintain_order=True):
        empty = False
        yield from part.to_arrow().to_batches()
    if empty:
        table = frame.head(0).collect().to_arrow()
        yield pa.RecordBatch.from_pylist([], schema=table.schema)


def _spool_all(batches: Iterable[Any], backend: str, about: str) -> Scan:
    """Make a scan of batches, with the schema of the first."""
    source = iter(batches)
    first = next(source)

    def every() -> Iterator[Any]:
        yield first
        yield from source

    return spool(first.schema, every(), backend, about)


def _scan_database(address: str, query: str | None) -> Scan:
    if query is None:
        raise ValueError("a database holds many tables: name one with query='table', or a SELECT")
    about = f"{address.rsplit('/', 1)[-1]}: {query}"
    try:
        with dbapi.connect(address) as connection, connection.cursor() as cursor:
            cursor.execute(_select(query))
            reader = cursor.fetch_record_batch()
            return _spool_all(map(_as_numbers, reader), "pyarrow", about)
    except dbapi.Error as error:
        raise ValueError(f"{query!r} cannot be read from the database: {error}") from None


def _as_numbers(batch: Any) -> Any:
    """Convert PostgreSQL's `numeric` columns, which arrive as text, to numbers."""
    columns = [
        column.storage.cast(pa.float64())
        if getattr(column.type, "type_name", "") == "numeric"
        else column
        for column in batch.columns
    ]
    return pa.RecordBatch.from_arrays(columns, names=batch.schema.names)


def _select(query: str) -> str:
    """Turn a table's name into a query; return a query as it is."""
    if len(query.split()) > 1:
        return query
    parts = [part.replace('"', '""') for part in query.split(".")]
    return "SELECT * FROM " + ".".join(f'"{part}"' for part in parts)


def read_csv(source: Any) -> pa.Table:
    """Read a CSV file; only empty fields are missing."""
    how = {"parse_options": parse_options(","), "convert_options": TextDialect().convert({})}
    table = csv.read_csv(source, **how)
    for field in table.schema:
        if pa.types.is_binary(field.type):
            raise ValueError(f"column {field.name!r} is not UTF-8 text; save the file as UTF-8")
    return table


UNREADABLE = (ValueError, OSError, EOFError, LookupError, OverflowError, zlib.error, BadZipFile)
"""Exceptions that a damaged file causes."""


def read_file(
    path: str | os.PathLike[str],
    text: Sequence[str] = (),
    *,
    delimiter: str | None = None,
    decimal: str | None = None,
    encoding: str | None = None,
    na: Sequence[str] = (),
) -> pa.Table:
    r"""Read a file into memory, by the ending of its name.

    Parameters
    ----------
    path : path
        CSV, TSV, Parquet, Feather, JSON (lines or a list of objects), Excel (.xlsx), Stata (.dta),
        SAS (.xpt) or SPSS (.sav); a file of these in .gz or .zip; `-` is standard input.
    text : sequence of str, default=()
        Columns of CSV and TSV files to be read as text, such as codes that look like numbers.
    delimiter : str, optional
        Field separator. Default: comma, semicolon, tab or bar, whichever fits all lines.
    decimal : {".", ","}, optional
        Decimal mark of text files; the other one separates thousands. Default: detected from the
        columns.
    encoding : str, optional
        Encoding of text files. Default: UTF-8, or UTF-16 if the file starts with its mark.
    na : sequence of str, default=()
        Texts that mean a missing value, in addition to empty fields.

    Returns
    -------
    pyarrow.Table
        Spaces around names and text are removed. Fields such as 1,234.50 or 12% are read as
        numbers.

    Examples
    --------
    >>> import tempfile, weigh
    >>> with tempfile.NamedTemporaryFile(suffix=".csv") as file:
    ...     _ = file.write(b"rate;paid\n1,5; yes \n?;no\n")
    ...     file.flush()
    ...     weigh.read_file(file.name, na=["?"]).to_pylist()
    [{'rate': 1.5, 'paid': 'yes'}, {'rate': None, 'paid': 'no'}]
    """
    name, dialect = os.fspath(path), TextDialect(delimiter, decimal, encoding, tuple(na))
    try:
        if name == "-":
            return _read_bytes("", sys.stdin.buffer.read(), dialect, text)
        if not os.path.exists(name):  # Path("") is the folder that we are in
            raise FileNotFoundError(f"no such file: {name or repr(name)}")
        if name.endswith((".parquet", ".pq")):
            return parquet.read_table(name)
        return _read_bytes(name, Path(name).read_bytes(), dialect, text)
    except FileNotFoundError:
        raise
    except UNREADABLE as error:
        said = " ".join(str(error).split())
        raise ValueError(f"{name} cannot be read as a table: {said}") from None


def _read_bytes(name: str, data: bytes, dialect: TextDialect, text: Sequence[str]) -> pa.Table:
    name, data = unpack(name, data)
    if data.startswith(b"PAR1"):
        return parquet.read_table(pa.BufferReader(data))
    table = read_format(name, data)
    if table is not None:
        return table
    if data.startswith(b"PK\x03\x04"):
        raise ValueError("it is a workbook or an archive; let its name end in .xlsx or .zip")
    return read_delimited(data, dialect, text, find_mark(name))


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
