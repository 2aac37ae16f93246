"""Scan many files as one table: paths, globs, folders, Hive partitions."""

from __future__ import annotations

import glob
import itertools
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyarrow import csv, dataset, parquet

from weigh.frames.columns import as_doubles
from weigh.frames.delimited import (
    TextDialect,
    amount_columns,
    find_delimiter,
    find_encoding,
    find_mark,
    parse_options,
    text_types,
    to_utf8,
    trim,
    trim_name,
    why_no_rows,
)
from weigh.frames.large import ROWS, Scan, open_scan
from weigh.frames.reading import refuse_twice
from weigh.frames.values import Declared, declared_in, stored_as_levels

ENDINGS = {
    "parquet": (".parquet", ".pq"),
    "csv": (".csv", ".csv.gz", ".tsv", ".tsv.gz", ".tab", ".tab.gz", ".txt", ".txt.gz"),
}

SAMPLE = 1 << 24
"""Bytes at the start of a CSV file from which the types of its columns are inferred."""

LINES = 1 << 16
"""Bytes at the start of a CSV file that are read first; more, if the header is longer."""


PLAIN = TextDialect()


def scan_files(paths: Any, text: Sequence[str] = (), dialect: TextDialect = PLAIN) -> Scan:
    """Scan the rows of files, in the order of their names; files without rows are skipped."""
    found = [one for one in find_files(paths) if os.path.getsize(one.path)]
    if not found:
        raise ValueError(f"{paths}: every file is empty; a table needs rows")
    is_text = _kind(found) == "csv"
    files = _open_text(found, text, dialect) if is_text else [*map(_open_parquet, found)]
    schema = _unite(files)
    if is_text:
        schema = pa.schema([field.with_type(_wide(field.type)) for field in schema])
        files = [_reopen_text(file, schema) for file in files]
    about = found[0].path if len(found) == 1 else f"{len(found):,} files"

    def read(names: tuple[str, ...]) -> Iterator[Any]:
        wanted = pa.schema([schema.field(name) for name in names])
        for file in files:
            batches = _read_file(file, wanted, schema)
            yield from map(_trim, batches) if is_text else batches

    if is_text:
        _refuse_amounts(next(read(tuple(schema.names)), None), text, about)
    opened = open_scan(schema.names, sum(map(_count, files)), read, "pyarrow", about)
    known = {} if is_text else _find_levels(files, schema)
    return replace(opened, files=tuple(file.path for file in files), known_levels=known)


def _trim(batch: Any) -> Any:
    """Strip spaces around text, as `read_file` does."""
    return pa.RecordBatch.from_arrays([*map(trim, batch.columns)], schema=batch.schema)


def _refuse_amounts(batch: Any, text: Sequence[str], about: str) -> None:
    """Raise an error for numbers with separators, which only `read_file` converts."""
    if batch is None:
        return
    texts = [field.name for field in batch.schema if pa.types.is_string(field.type)]
    for name in amount_columns(batch, (name for name in texts if name not in text)):
        raise ValueError(
            f"{about}: column {name!r} holds numbers with separators or percent signs; write them "
            "plainly, name the decimal mark (decimal=',' or --decimal ,), or read it as text"
        )


def _find_levels(files: list[_File], schema: Any) -> Mapping[str, Declared]:
    """Levels declared in Parquet files, of columns that were written as categories."""
    stored = stored_as_levels(parquet.read_schema(files[0].path))
    names = [name for name in stored_as_levels(schema) if name in stored]
    wanted = pa.schema([schema.field(name) for name in names])
    first = (next(_read_file(file, wanted, schema), None) for file in files) if names else ()
    return declared_in((batch for batch in first if batch is not None), names)


@dataclass(frozen=True)
class FoundFile:
    """A file, and the folder below which partitions (`year=2024/`) are columns."""

    path: str
    base: str


def find_files(paths: Any) -> list[FoundFile]:
    """List the files of a path, a glob, a folder or a list of these, in order."""
    given = [paths] if isinstance(paths, str | os.PathLike) else [*paths]
    found = [file for path in given for file in _expand(os.fspath(path))]
    if not found:
        raise ValueError("no files were given to scan")
    return found


def _tell_kind(path: str) -> str:
    """End of an error about an absent file, where the text is a query or an address."""
    if path.lstrip().lower().startswith(("select ", "with ", "from ")):
        return "; scan a query of DuckDB as a relation: weigh.scan(duckdb.sql(query))"
    if "://" in path:
        return "; scan reads local files and postgresql://: download it first"
    return ""


def _expand(path: str) -> list[FoundFile]:
    if os.path.isdir(path):
        inside = sorted(str(file) for file in Path(path).rglob("*") if _is_data(file, path))
        if not inside:
            raise FileNotFoundError(f"the folder {path} holds no CSV, TSV or Parquet file")
        return [FoundFile(file, path) for file in inside]
    if os.path.exists(path):
        return [FoundFile(path, os.path.dirname(path))]
    matches = sorted(glob.glob(path, recursive=True)) if glob.has_magic(path) else []
    if not matches:
        raise FileNotFoundError(f"no such file: {path}{_tell_kind(path)}")
    fixed = itertools.takewhile(lambda part: not glob.has_magic(part), Path(path).parts)
    base = str(Path(*fixed))
    return [FoundFile(file.path, base) for match in matches for file in _expand(match)]


def _is_data(file: Path, folder: str) -> bool:
    """Whether a file in a folder is data; hidden files and markers (`_SUCCESS`) are not."""
    inside = file.relative_to(folder).parts
    known = file.name.lower().endswith(ENDINGS["parquet"] + ENDINGS["csv"])
    return file.is_file() and known and not any(part[0] in "._" for part in inside)


def _kind(found: list[FoundFile]) -> str:
    paths = [one.path for one in found]
    are_parquet = {path: path.lower().endswith(ENDINGS["parquet"]) for path in paths}
    kinds = {path: "parquet" if yes else "csv" for path, yes in are_parquet.items()}
    if len({*kinds.values()}) > 1:
        odd = next(path for path in paths if kinds[path] != kinds[paths[0]])
        raise ValueError(
            f"{paths[0]} and {odd} have different formats; scan files of one format at a time"
        )
    return kinds[paths[0]]


@dataclass(frozen=True)
class _File:
    """An opened file: its path, Arrow fragment and schema, and its size and time when opened.

    `schema` has the names of a text file without the spaces around them, and `spaced` the names as
    the file has them, by these.
    """

    found: FoundFile
    fragment: Any
    schema: Any
    stamp: tuple[int, int, int]
    dialect: TextDialect
    spaced: Mapping[str, str] = field(default_factory=dict)

    @property
    def path(self) -> str:
        return self.found.path

    def names_of(self, schema: Any) -> list[str]:
        """The names of columns as the file has them."""
        return [self.spaced.get(name, name) for name in schema.names]

    def rename(self, schema: Any) -> Any:
        """A schema with the names as the file has them."""
        pairs = zip(schema, self.names_of(schema), strict=True)
        return pa.schema([field.with_name(name) for field, name in pairs])


def _open(found: FoundFile, format: Any, dialect: TextDialect = PLAIN, schema: Any = None) -> _File:
    """Open a file, with the columns of its partitions (`year=2024/`)."""
    stamp = _stamp(found.path)
    opened = dataset.dataset(
        found.path,
        format=format,
        schema=schema,
        partitioning="hive",
        partition_base_dir=found.base or None,
    )
    fragment = next(iter(opened.get_fragments()))
    return _File(found, fragment, opened.schema, stamp, dialect)


def _stamp(path: str) -> tuple[int, int, int]:
    known = os.stat(path)
    return known.st_size, known.st_mtime_ns, known.st_ino


def _open_parquet(found: FoundFile) -> _File:
    try:
        names = [f.name for f in parquet.read_schema(found.path) if _is_text(f.type)]
        format = dataset.ParquetFileFormat(dictionary_columns=names)  # read as codes
        return _open(found, format)
    except (pa.ArrowException, OSError) as error:
        raise _cannot_read(found.path, error) from None


def _is_text(kind: Any) -> bool:
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))


def _open_text(found: list[FoundFile], text: Sequence[str], dialect: TextDialect) -> list[_File]:
    """Open the text files that have rows; raise an error if none has."""
    files: list[_File] = []
    blank: list[ValueError] = []
    for one in found:
        try:
            head, encoding = _read_head(one.path, dialect.encoding)
            if (why := why_no_rows(head)) is not None:
                blank.append(_cannot_read(one.path, ValueError(why)))
                continue
            lines = head.rpartition(b"\n")[0] or head
            mark = dialect.delimiter or find_mark(one.path) or find_delimiter(lines)
            own = replace(dialect, delimiter=mark, encoding=encoding)
            file = _open(one, _text_format(text_types(lines, mark, text), own), own)
            files.append(_trim_names(file))
            refuse_twice(tuple(files[-1].schema.names))
        except (pa.ArrowException, OSError, ValueError) as error:
            raise _cannot_read(one.path, error) from None
    if not files:
        raise blank[0]
    return files


def _trim_names(file: _File) -> _File:
    """Strip spaces around the names of columns, as `read_file` does."""
    spaced = {trim_name(name): name for name in file.schema.names}
    schema = pa.schema([field.with_name(trim_name(field.name)) for field in file.schema])
    return replace(file, schema=schema, spaced=spaced)


def _read_head(path: str, encoding: str | None) -> tuple[bytes, str | None]:
    """The start of a file in UTF-8, with all of its header, and its encoding if that is known."""
    with pa.input_stream(path) as stream:
        data = stream.read(LINES)
        if data.startswith(b"\x1f\x8b"):  # Arrow unpacks by the ending alone
            raise ValueError("it is packed with gzip; let its name end in .gz, in lower case")
        while True:
            known = encoding or find_encoding(data)
            head = to_utf8(data, known, whole=False)
            is_cut = len(head.strip().splitlines()) < 2 and len(data) < SAMPLE
            more = stream.read(len(data)) if is_cut else b""
            if not more:
                return head, known
            data += more


def _reopen_text(file: _File, schema: Any) -> _File:
    """Open a file again, with the column types of all files together."""
    own = file.rename(schema)
    types = {field.name: field.type for field in own}
    return _trim_names(_open(file.found, _text_format(types, file.dialect), file.dialect, own))


def _text_format(types: dict[str, Any], dialect: TextDialect) -> Any:
    """Arrow's format of a text file; empty fields and the dialect's `na` are missing."""
    return dataset.CsvFileFormat(
        parse_options=parse_options(dialect.delimiter or ","),
        convert_options=dialect.convert(types),
        read_options=csv.ReadOptions(block_size=SAMPLE, encoding=dialect.encoding or "utf8"),
    )


def _wide(kind: Any) -> Any:
    """Widen a type inferred from the first rows: integers to floats, nulls to text."""
    if pa.types.is_integer(kind):
        return pa.float64()
    return pa.string() if pa.types.is_null(kind) else kind


def _unite(files: list[_File]) -> Any:
    """Schema of all files; they must have the same columns, of compatible types."""
    first = files[0]
    schema = first.schema
    for file in files[1:]:
        for one, other in ((file, first), (first, file)):
            for name in {*other.schema.names} - {*one.schema.names}:
                raise ValueError(
                    f"{one.path} has no column {name!r}, but {other.path} has; add it, with "
                    "nulls where it is unknown, or scan the files separately"
                )
        fields = [_join(field, file, first) for field in schema]
        schema = pa.schema(fields)
    return schema


def _join(field: Any, file: _File, first: _File) -> Any:
    """Common type of a column in two files: the wider number, plain text, or the one not null."""
    mine, theirs = field.type, file.schema.field(field.name).type
    if mine == theirs:
        return field
    plain = [_plain(kind) for kind in (mine, theirs)]
    if pa.types.is_null(plain[0]) or plain[0] == plain[1]:
        return field.with_type(plain[1])
    if pa.types.is_null(plain[1]):
        return field
    if all(map(_is_number, plain)):
        return field.with_type(pa.float64())
    raise ValueError(
        f"{file.path}: column {field.name!r} holds {plain[1]}, but {plain[0]} in {first.path}; "
        "convert one, or, in text files, name it as text"
    )


def _plain(kind: Any) -> Any:
    if pa.types.is_dictionary(kind):
        kind = kind.value_type
    return pa.string() if pa.types.is_large_string(kind) else kind


def _is_number(kind: Any) -> bool:
    types = pa.types
    return bool(types.is_integer(kind) or types.is_floating(kind) or types.is_decimal(kind))


def _read_file(file: _File, wanted: Any, schema: Any) -> Iterator[Any]:
    _check_unchanged(file)
    own = pa.schema([_decimals_stay(field, file.schema.field(field.name)) for field in schema])
    try:
        for batch in file.fragment.to_batches(
            schema=file.rename(own),
            columns=file.names_of(wanted),
            batch_size=ROWS,
            use_threads=True,
        ):
            named = batch.rename_columns(wanted.names)
            yield named if own == schema else _fit(named, wanted)
    except (pa.ArrowException, OSError) as error:
        raise _cannot_read(file.path, error) from None
    _check_unchanged(file)


def _decimals_stay(field: Any, own: Any) -> Any:
    """Read decimals as decimals, as Arrow's cast does not give the nearest doubles."""
    return own if pa.types.is_decimal(own.type) else field


def _fit(batch: Any, wanted: Any) -> Any:
    """Convert a batch's decimals to doubles, the common type of all files."""
    columns = [
        as_doubles(column) if field.type == pa.float64() else column
        for column, field in zip(batch.columns, wanted, strict=True)
    ]
    return pa.RecordBatch.from_arrays(columns, schema=wanted)


def _check_unchanged(file: _File) -> None:
    """Raise an error if a file has changed: all passes must see the same rows."""
    if not os.path.exists(file.path):
        raise ValueError(f"{file.path} was deleted after the scan began; scan again")
    if _stamp(file.path) != file.stamp:
        raise ValueError(
            f"{file.path} changed after the scan began; copy files that are still being written, "
            "and scan the copy"
        )


def _count(file: _File) -> int:
    try:
        return int(file.fragment.count_rows())
    except (pa.ArrowException, OSError) as error:
        raise _cannot_read(file.path, error) from None


def _cannot_read(path: str, error: Exception) -> ValueError:
    lines: Iterable[str] = str(error).splitlines()
    said = reduce(lambda a, b: f"{a} {b.strip()}", lines)
    return ValueError(f"{path} cannot be read as a table: {said}")
