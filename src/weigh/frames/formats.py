"""Read files of other formats: JSON, Excel, Stata, SAS, SPSS, Feather and ZIP."""

from __future__ import annotations

import codecs
import gzip
import io
import json
import re
import sys
import tempfile
import zipfile
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from itertools import chain, zip_longest
from typing import Any

import numpy as np
import pyarrow as pa
from pyarrow import feather, parquet
from pyarrow import json as arrow_json

from weigh.errors import Extra
from weigh.frames.delimited import BLANK, quote_start, trim, trim_name
from weigh.frames.values import is_number, spell_value

openpyxl = Extra("openpyxl", "reading .xlsx needs openpyxl", "xlsx")
pandas = Extra("pandas", "reading .dta and .xpt needs pandas", "pandas")
pyreadstat = Extra("pyreadstat", "reading .sav needs pyreadstat", "spss")

Reader = Callable[[bytes], Any]


def read_format(name: str, data: bytes) -> pa.Table | None:
    """Read a table from a file's bytes, by the ending of its name; None if it may be text."""
    reader = next((read for ends, read in READERS.items() if name.lower().endswith(ends)), None)
    return None if reader is None else reader(data)


PLAIN = (".csv", ".tsv", ".tab", ".txt", ".csv.gz", ".tsv.gz", ".parquet", ".pq")
"""Endings of files that are read without pandas."""


class _NoPandas:
    """An importer that finds no pandas."""

    @staticmethod
    def find_spec(name: str, path: Any = None, target: Any = None) -> None:
        """Refuse pandas, and leave everything else to others."""
        if name == "pandas":
            raise ImportError(name)


def spare_pandas(path: str) -> None:
    """Keep Arrow from importing pandas in this process, unless the file needs pandas.

    At its first conversion Arrow imports pandas, if installed, to recognise its objects. That takes
    longer than scoring a small file. Afterwards the process cannot read pandas objects, so only the
    command line uses this.
    """
    if path.lower().endswith(PLAIN) and "pandas" not in sys.modules:
        sys.meta_path.insert(0, _NoPandas)
        try:
            pa.array([0])
        finally:
            sys.meta_path.remove(_NoPandas)


def _read_json(data: bytes) -> Any:
    try:
        rows = json.loads(data, object_pairs_hook=_read_object)
    except json.JSONDecodeError as error:
        if not data.strip():
            raise ValueError(BLANK) from None
        if error.msg == "Extra data":  # below the first object
            return _read_json_lines(data)
        raise
    if isinstance(rows, dict) and _is_row(rows):
        rows = [rows]  # JSON lines of one row
    if not isinstance(rows, list) or not all(isinstance(row, Mapping) for row in rows):
        raise ValueError("a JSON file must be a list of objects, one for each row")
    return _join_rows(rows)


def _is_row(held: Mapping[str, Any]) -> bool:
    """Whether an object is a row, and neither columns nor an answer that has rows in it."""
    lists = [cell for cell in held.values() if isinstance(cell, list)]
    has_rows = any(isinstance(part, dict) for cell in lists for part in cell)
    return not (has_rows or all(isinstance(cell, dict | list) for cell in held.values()))


def _read_object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object; a duplicate name is an error, because either value may be meant."""
    row = dict(pairs)
    if len(row) < len(pairs):
        name = Counter(name for name, _ in pairs).most_common(1)[0][0]
        raise ValueError(f"{name!r} occurs twice in one object; rename one")
    return row


def _join_rows(rows: Sequence[Mapping[str, Any]]) -> pa.Table:
    """Rows as a table, in which each cell keeps its type."""
    names = dict.fromkeys(name for row in rows for name in row)  # a row may leave some out
    if rows and not names:
        raise ValueError(f"its {len(rows)} objects are empty; name the columns, with null as value")
    columns = [_read_json_column(name, [row.get(name) for row in rows]) for name in names]
    return pa.table(columns, names=[*map(trim_name, names)])


def _read_json_column(name: str, values: Sequence[Any]) -> Any:
    def join(cells: Sequence[Any]) -> Any:
        row = next((i for i, cell in enumerate(cells) if isinstance(cell, dict | list)), None)
        if row is None:
            return _keep_types(cells)
        held = json.dumps(cells[row], ensure_ascii=False)
        held = held if len(held) <= 40 else f"{held[:40]}…"
        raise ValueError(
            f"column {trim_name(name)!r} holds {held} in row {row} (counted from 0) beside values "
            "of other types; make every cell a number, text, true, false or null, or remove the "
            "column"
        )

    return _as_column(values, join)


def _keep_types(cells: Sequence[Any]) -> Any:
    """Cells of several types as an Arrow union, in which each cell keeps its type."""
    kinds = [*dict.fromkeys(map(type, cells))]
    which = np.array([kinds.index(type(cell)) for cell in cells], dtype=np.int8)
    offsets, parts = np.empty(len(cells), dtype=np.int32), []
    for k in range(len(kinds)):
        places = np.flatnonzero(which == k)
        offsets[places] = np.arange(len(places))
        parts.append(_as_column([cells[place] for place in places.tolist()], _keep_types))
    names = [kind.__name__ for kind in kinds]
    return pa.UnionArray.from_dense(pa.array(which), pa.array(offsets), parts, names)


NULL_LINE = re.compile(rb"^[ \t]*null[ \t\r]*$", re.MULTILINE)
"""A line that is no object. Arrow reads it as a row, and crashes where it is the first line."""


def _read_json_lines(data: bytes) -> Any:
    if NULL_LINE.search(data):
        return _join_rows(_parse_lines(data.removeprefix(codecs.BOM_UTF8)))
    try:
        table = arrow_json.read_json(pa.BufferReader(data))
        schema = pa.schema([field.with_type(_keep_text(field.type)) for field in table.schema])
        if schema != table.schema:
            known = arrow_json.ParseOptions(explicit_schema=schema)
            table = arrow_json.read_json(pa.BufferReader(data), parse_options=known)
        columns = [*map(trim, table.columns)]
        if not columns:
            raise pa.ArrowInvalid("rows without names")  # which it does not count
    except pa.ArrowInvalid:  # a line is faulty, or a column holds cells of several types
        return _join_rows(_parse_lines(data.removeprefix(codecs.BOM_UTF8)))
    return pa.table(columns, names=[*map(trim_name, table.column_names)])


def _keep_text(kind: Any) -> Any:
    """The type of a column of JSON without times, which Arrow reads from text such as 2020-01-01.

    >>> _keep_text(pa.list_(pa.timestamp("s"))) == pa.list_(pa.string())
    True
    """
    if pa.types.is_list(kind):
        return pa.list_(_keep_text(kind.value_type))
    if pa.types.is_struct(kind):
        return pa.struct([field.with_type(_keep_text(field.type)) for field in kind])
    return pa.string() if pa.types.is_timestamp(kind) else kind


def _parse_lines(data: bytes) -> list[dict[str, Any]]:
    """The objects of JSON Lines; an error names the first line that is none."""
    rows = []
    for number, line in enumerate(data.splitlines(), 1):
        if not line.strip():
            continue
        try:
            row = json.loads(line, object_pairs_hook=_read_object)
        except json.JSONDecodeError:
            row = None
        except UnicodeDecodeError:
            raise ValueError(f"line {number} is not UTF-8 text; save the file as UTF-8") from None
        except ValueError as error:
            raise ValueError(f"line {number}: {error}") from None
        if not isinstance(row, dict):
            held = quote_start(line)
            fix = "; rename the file to end in .json" if isinstance(row, list) else ""
            raise ValueError(f"line {number} must be an object, got {held}{fix}")
        rows.append(row)
    if not rows:
        raise ValueError(BLANK)
    return rows


def _read_workbook(data: bytes) -> Any:
    """Read the only filled sheet of a workbook; its first row has the column names."""
    if not data.startswith(b"PK"):
        raise ValueError("it is no Excel workbook; let the name of a text file end in .csv")
    book = openpyxl.load_workbook(io.BytesIO(data), read_only=True, data_only=True)
    filled = {sheet.title: [*sheet.iter_rows(values_only=True)] for sheet in book.worksheets}
    filled = {title: rows for title, rows in filled.items() if any(map(any, rows))}
    if len(filled) != 1:
        sheets = ", ".join(map(repr, filled)) or "none"
        raise ValueError(
            f"a workbook must have one sheet with rows, but has {sheets}; save one sheet as a file"
        )
    ((_, rows),) = filled.items()
    rows = [row for row in rows if any(cell is not None for cell in row)]
    names, columns = [], []
    for place, (name, *cells) in enumerate(zip_longest(*rows), 1):  # rows may end early
        if name is not None:
            names.append(trim_name(str(name)))
            columns.append(_as_column(cells, _as_text))
        elif any(cell is not None for cell in cells):  # an empty column may have been formatted
            raise ValueError(
                f"column {place} has no name; give each column a name in the first row"
            )
    return pa.table(columns, names=names)


NO_TYPE = (pa.ArrowInvalid, pa.ArrowTypeError, OverflowError)
"""Errors of Arrow for cells that have no type in common."""


def _as_column(values: Sequence[Any], join: Callable[[Sequence[Any]], Any]) -> Any:
    """Convert cells to one type, doubles for huge integers; `join` those of several types."""
    cells = [cell.strip() or None if isinstance(cell, str) else cell for cell in values]
    try:
        return pa.array(cells)
    except NO_TYPE:
        if all(cell is None or is_number(cell) for cell in cells):
            return pa.array([None if cell is None else float(cell) for cell in cells])
        return join(cells)


def _as_text(cells: Sequence[Any]) -> Any:
    """Cells of several types as text: Excel types `103` and `103a` of one column differently."""
    return pa.array([None if cell is None else _spell(cell) for cell in cells])


def _spell(cell: Any) -> str:
    whole = isinstance(cell, float) and cell.is_integer()
    return spell_value(int(cell) if whole else cell)


def _read_by_pandas(data: bytes, reader: str, **options: Any) -> Any:
    frame = getattr(pandas, reader)(io.BytesIO(data), **options)
    return pa.Table.from_pandas(frame, preserve_index=False)


def _read_spss(data: bytes) -> Any:
    with tempfile.NamedTemporaryFile(suffix=".sav") as file:
        file.write(data)
        file.flush()
        try:
            frame, _ = pyreadstat.read_sav(file.name, apply_value_formats=True)
        except pyreadstat.ReadstatError as error:
            raise ValueError(f"it is no SPSS file ({error})") from None
    return pa.Table.from_pandas(frame, preserve_index=False)


def is_text(name: str, data: bytes) -> bool:
    """Whether a file is read as text: no reader is known for its ending or its first bytes."""
    return not (name.lower().endswith(tuple(chain(*READERS))) or data.startswith(b"PAR1"))


def unpack(name: str, data: bytes) -> tuple[str, bytes]:
    """Name and bytes of a file without its packing: gzip by its first bytes, zip by its name."""
    if data.startswith(b"\x1f\x8b"):
        name = name[:-3] if name.lower().endswith(".gz") else name
        data = gzip.decompress(data)
    return unpack(*_unzip(data)) if name.lower().endswith(".zip") else (name, data)


def _unzip(data: bytes) -> tuple[str, bytes]:
    """Name and bytes of the only file in an archive."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        hidden = ("__MACOSX/", ".")
        names = [n for n in archive.namelist() if not (n.endswith("/") or n.startswith(hidden))]
        if len(names) != 1:
            raise ValueError(
                f"an archive must contain one file, but this has {len(names)}: {names}; unpack it"
            )
        return names[0], archive.read(names[0])


def _refuse_xls(data: bytes) -> Any:
    raise ValueError("old Excel files (.xls) cannot be read; save it as .xlsx or .csv")


READERS: dict[tuple[str, ...], Reader] = {
    (".parquet", ".pq"): lambda data: parquet.read_table(pa.BufferReader(data)),
    (".feather", ".arrow", ".ipc"): lambda data: feather.read_table(pa.BufferReader(data)),
    (".jsonl", ".ndjson"): _read_json_lines,
    (".json",): _read_json,
    (".xlsx", ".xlsm"): _read_workbook,
    (".xls",): _refuse_xls,
    (".dta",): lambda data: _read_by_pandas(data, "read_stata"),
    (".xpt",): lambda data: _read_by_pandas(data, "read_sas", format="xport", encoding="utf-8"),
    (".sav",): _read_spss,
}
