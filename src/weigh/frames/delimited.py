"""Read delimited text files of any encoding, separator, quoting and decimal mark.

The format is detected from the file. If it is ambiguous, an error names the line and the option
that sets it.
"""

from __future__ import annotations

import codecs
import csv as python_csv
import io
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from threading import RLock
from typing import Any

import numpy as np
import pyarrow as pa
from pyarrow import compute, csv

DELIMITERS = (",", ";", "\t", "|")
HEAD = 20
"""Number of lines from which the separator is detected."""
MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
"""Byte-order marks and their encodings."""


@dataclass(frozen=True)
class TextDialect:
    """Format of a text file; None means that it is detected."""

    delimiter: str | None = None
    decimal: str | None = None
    encoding: str | None = None
    na: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Check the values."""
        if self.decimal not in (None, ".", ","):
            raise ValueError(f"decimal must be '.' or ',', got {self.decimal!r}")
        if self.delimiter is not None and len(self.delimiter) != 1:
            raise ValueError(f"delimiter must be one character, got {self.delimiter!r}")
        if self.encoding is not None:
            try:
                codecs.lookup(self.encoding)
            except LookupError:
                raise ValueError(
                    f"encoding {self.encoding!r} is not known; utf-8, utf-16, latin-1 and cp1252 "
                    "are usual"
                ) from None

    def convert(self, types: Mapping[str, Any]) -> csv.ConvertOptions:
        """Arrow's options: types of columns; empty fields and `na` are missing."""
        return csv.ConvertOptions(
            null_values=["", *self.na],
            strings_can_be_null=True,
            column_types=dict(types),
            decimal_point=self.decimal or ".",
        )


def parse_options(mark: str) -> csv.ParseOptions:
    """Arrow's options of a separator; quoted values may hold line breaks."""
    return csv.ParseOptions(delimiter=mark, newlines_in_values=True)


BLANK = "the file is empty"


def read_delimited(
    data: bytes, dialect: TextDialect, text: Sequence[str] = (), delimiter: str | None = None
) -> pa.Table:
    """Read the rows of a text file; columns named in `text` stay text.

    `delimiter` is the separator implied by the ending of the file's name, if any.
    """
    data = to_utf8(data, dialect.encoding)
    why = why_no_rows(data)
    if why == BLANK:
        raise ValueError(BLANK)
    if why is not None:
        data = data.strip() + b"\n"  # Arrow reads no header without the end of its line
    mark = dialect.delimiter or delimiter or find_delimiter(data)
    check_quotes(data, mark)
    types = text_types(data, mark, text)
    table = _trim(_parse(data, mark, dialect, types))
    return _convert_amounts(table, data, mark, dialect, types)


def why_no_rows(data: bytes) -> str | None:
    r"""Why a text has no rows: it is blank, or has one line; None if it has more.

    >>> why_no_rows(b" \n"), why_no_rows(b"a,b\n1,2\n")
    ('the file is empty', None)
    >>> why_no_rows(b"a,b\n")
    "it has one line, 'a,b', and needs a header and rows below it"
    """
    text = data.strip()
    if not text:
        return BLANK
    if b"\n" in text or b"\r" in text:
        return None
    return f"it has one line, {quote_start(text)}, and needs a header and rows below it"


def quote_start(line: bytes) -> str:
    """The start of a line, quoted for an error."""
    text = line[:400].decode("utf-8", "replace")
    return repr(text if len(text) <= 40 else f"{text[:40]}…")


def _convert_amounts(
    table: pa.Table, data: bytes, mark: str, dialect: TextDialect, types: dict[str, Any]
) -> pa.Table:
    """Convert columns of text such as 1,234.50 or 12% to numbers."""
    kept = {trim_name(name) for name in types}
    texts = [f.name for f in table.schema if pa.types.is_string(f.type) and f.name not in kept]
    fits = amount_columns(table, texts) if len({*table.column_names}) == table.num_columns else {}
    if not fits:
        return table
    decimal = dialect.decimal or choose_decimal(table, fits)
    if decimal == "," and dialect.decimal is None:  # columns read with decimal points are wrong
        again = read_delimited(data, TextDialect(mark, ",", "utf-8", dialect.na), [*kept])
        _refuse_points(table, again, next(name for name in fits if fits[name] == {","}))
        return again
    for name in fits:
        if decimal in fits[name]:
            place = table.column_names.index(name)
            table = table.set_column(place, name, read_amounts(table[name], decimal))
    return table


def _parse(data: bytes, mark: str, dialect: TextDialect, types: dict[str, Any]) -> pa.Table:
    how = {"parse_options": parse_options(mark), "convert_options": dialect.convert(types)}
    try:
        return csv.read_csv(pa.BufferReader(data), **how)
    except pa.ArrowInvalid as error:
        raise ValueError(_find_ragged(data, mark) or str(error)) from None


LONGEST = 2**31 - 1
"""Most characters of a field: the largest limit that the csv module takes on every system."""


_LIMIT = RLock()  # the limit is that of the whole process


@contextmanager
def any_length() -> Iterator[None]:
    """Let the csv module read fields of more than 131,072 characters, as pyarrow does."""
    with _LIMIT:
        before = python_csv.field_size_limit(LONGEST)
        try:
            yield
        finally:
            python_csv.field_size_limit(before)


@any_length()
def text_types(data: bytes, mark: str, text: Iterable[str]) -> dict[str, Any]:
    """Arrow's types of the columns to be read as text, by their names before spaces are removed."""
    rows = python_csv.reader(open_text(data[: 1 << 20]), delimiter=mark)
    names, wanted = next((row for row in rows if row), []), {*text}  # blank lines may come first
    return {name: pa.string() for name in names if trim_name(name) in wanted}


def open_text(data: bytes) -> Any:
    """Open the text of a file, with any line endings."""
    return io.StringIO(data.decode("utf-8", "ignore"), newline=None)


def _trim(table: pa.Table) -> pa.Table:
    """Strip spaces around cells and names; a cell of spaces is missing."""
    columns = [trim(column) for column in table.columns]
    return pa.table(columns, names=[*map(trim_name, table.column_names)])


def trim_name(name: str) -> str:
    """Strip spaces around a column's name; line breaks stay, as they were quoted.

    >>> trim_name(" a ")
    'a'
    """
    return re.sub(r"\A[^\S\n\r]+|[^\S\n\r]+\Z", "", name)


def trim(column: Any) -> Any:
    """Strip spaces around text; other columns are returned as they are."""
    if not pa.types.is_string(column.type):
        return column
    trimmed = compute.utf8_trim_whitespace(column)
    return compute.if_else(compute.equal(trimmed, ""), pa.scalar(None, pa.string()), trimmed)


def find_encoding(data: bytes) -> str | None:
    """The encoding that the byte-order mark of a file states, if it has one."""
    return next((code for mark, code in MARKS if data.startswith(mark)), None)


def to_utf8(data: bytes, encoding: str | None, whole: bool = True) -> bytes:
    """Convert a file to UTF-8 without a byte-order mark; raise an error for another encoding.

    If the data are not the `whole` file, they may end inside a character.
    """
    name = encoding or find_encoding(data)
    if name is None:
        if b"\x00" in data[: 1 << 16]:
            raise ValueError(
                "the file contains zero bytes: it is binary, or UTF-16 without a byte-order mark "
                "(encoding='utf-16-le' or --encoding utf-16-le)"
            )
        name = "utf-8"
    try:
        text = codecs.getincrementaldecoder(name)().decode(data, whole)
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise ValueError(
            f"line {line} holds {data[error.start : error.start + 1]!r}, which is not {name} text; "
            "name the encoding, such as encoding='latin-1' or --encoding latin-1"
        ) from None
    text = text.lstrip("\ufeff")
    return text.encode("utf-8")


def find_mark(name: str) -> str | None:
    """The separator that the ending of a file's name states, if any."""
    return "\t" if name.lower().removesuffix(".gz").endswith((".tsv", ".tab")) else None


@any_length()
def find_delimiter(data: bytes) -> str:
    """Detect the separator: the one that occurs equally often in all of the first lines."""
    lines = [line for line in data[: 1 << 16].decode("utf-8", "ignore").splitlines() if line]
    counts = {mark: [len(row) - 1 for row in _rows(lines[:HEAD], mark)] for mark in DELIMITERS}
    used = {mark: found for mark, found in counts.items() if found and found[0]}
    steady = {mark: found for mark, found in used.items() if len({*found}) == 1}
    if len(steady) > 1 and len(lines) > 1:
        raise ValueError(
            f"{' and '.join(map(repr, steady))} both separate the fields of every line; name the "
            "one that does (delimiter=';' or --delimiter ';')"
        )
    best = steady or used
    return max(best, key=lambda mark: (best[mark][0], -DELIMITERS.index(mark)), default=",")


def _rows(lines: Sequence[str], mark: str) -> Iterator[list[str]]:
    """Split each line into fields on its own, so that an open quote affects one line only."""
    yield from (next(python_csv.reader([line], delimiter=mark), []) for line in lines)


@any_length()
def check_quotes(data: bytes, mark: str) -> None:
    """Raise an error for a quote that swallows rows: never closed, or around complete rows.

    If every line has an even number of quotes, no value spans lines, and nothing is checked.
    """
    if not _has_odd_line(data):
        return
    rows = python_csv.reader(open_text(data), delimiter=mark, strict=True)
    whole = open_text(data).read().split("\n")
    n_fields, start = 0, 1
    try:
        for row in rows:
            n_fields = n_fields or len(row)
            inner = whole[start : rows.line_num - 1]
            alike = sum(line.count(mark) == n_fields - 1 for line in inner)
            if n_fields > 1 and inner and 2 * alike >= len(inner):
                raise python_csv.Error
            start = rows.line_num + 1
    except python_csv.Error:
        raise ValueError(
            f"line {start}: a quote opens a value and is not closed before the next rows; close "
            "it, or write a quote inside a value twice"
        ) from None


def _has_odd_line(data: bytes) -> bool:
    raw = np.frombuffer(data, dtype=np.uint8)
    quotes = np.flatnonzero(raw == ord('"'))
    ends = np.flatnonzero((raw == ord("\n")) | (raw == ord("\r")))
    counts = np.diff(np.searchsorted(quotes, ends), prepend=0, append=len(quotes))
    before = np.searchsorted(quotes, ends[-1]) if len(ends) else 0
    last = len(quotes) - before
    return bool((counts[:-1] % 2).any() or last % 2)


@any_length()
def _find_ragged(data: bytes, mark: str) -> str | None:
    """Error text for the first line whose number of fields differs from the header's, or None."""
    rows = python_csv.reader(open_text(data), delimiter=mark)
    header: list[str] = []
    for row in rows:
        if row and header and len(row) != len(header):
            return (
                f"line {rows.line_num} has {len(row)} fields and the header {len(header)}, "
                f"separated by {mark!r}; quote a value that holds the separator, or name another "
                "(delimiter=';' or --delimiter ';')"
            )
        header = header or row
    return None


SPACES = "[ \u00a0\u202f\u2009']"
"""Separators of thousands with either decimal mark: spaces of all widths, and the apostrophe."""
MINUS = "\u2212"
PATTERNS = {
    point: (
        rf"^[+\-{MINUS}]?(\d+|\d{{1,3}}({comma}\d{{3}})+|\d{{1,3}}({SPACES}\d{{3}})+)"
        rf"({mark}\d+)?\s?%?$"
    )
    for point, mark, comma in ((".", r"\.", ","), (",", ",", r"\."))
}
"""Patterns of numbers, by decimal mark; the other mark separates thousands."""


def amount_columns(table: pa.Table, names: Iterable[str]) -> dict[str, set[str]]:
    """Columns of text whose values are all numbers, with the decimal marks that are possible."""
    found = {name: _marks(table[name]) for name in names}
    return {name: marks for name, marks in found.items() if marks}


def _marks(column: Any) -> set[str]:
    known = compute.drop_null(compute.unique(column))
    if not len(known):
        return set()
    return {
        mark
        for mark, pattern in PATTERNS.items()
        if compute.all(compute.match_substring_regex(known, pattern)).as_py()
    }


def read_amounts(column: Any, decimal: str) -> Any:
    """Convert text with separators to numbers; 12% is 12."""
    comma = "," if decimal == "." else r"\."
    plain = compute.replace_substring_regex(column, rf"({comma}|{SPACES}|%|\s)", "")
    plain = compute.replace_substring(plain, ",", ".") if decimal == "," else plain
    return compute.replace_substring(plain, MINUS, "-").cast(pa.float64())


def choose_decimal(table: pa.Table, fits: dict[str, set[str]]) -> str:
    """Decimal mark of a file: the only one possible in all columns."""
    sure = {mark: name for name, marks in fits.items() for mark in marks if len(marks) == 1}
    if len(sure) == 2:
        raise _two_marks(sure[","], sure["."])
    has_points = any(pa.types.is_floating(field.type) for field in table.schema)
    unclear = [] if sure or has_points else [n for n in fits if _has_marks(table[n])]
    if unclear:
        raise ValueError(
            f"column {unclear[0]!r} holds numbers with commas or points that may separate "
            "thousands or decimals; name the decimal mark (decimal='.' or --decimal .)"
        )
    return next(iter(sure), ".")


def _refuse_points(before: pa.Table, after: pa.Table, commas: str) -> None:
    """Raise an error if a column of numbers with decimal points is text beside decimal commas."""
    for name, old, new in zip(before.column_names, before.schema, after.schema, strict=True):
        if pa.types.is_floating(old.type) and pa.types.is_string(new.type):
            raise _two_marks(commas, name)


def _two_marks(commas: str, points: str) -> ValueError:
    return ValueError(
        f"column {commas!r} has decimal commas and column {points!r} decimal points; make them "
        "alike, or name the decimal mark (decimal=',' or --decimal ,)"
    )


def _has_marks(column: Any) -> bool:
    return bool(compute.any(compute.match_substring_regex(column, "[.,]")).as_py())
