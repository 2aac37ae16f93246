"""Lines of text files, for errors about a row."""

from __future__ import annotations

import csv
from dataclasses import replace

from weigh.frames.delimited import (
    TextDialect,
    any_length,
    find_delimiter,
    find_mark,
    open_text,
    to_utf8,
)
from weigh.frames.formats import is_text, unpack


def line_of_row(path: str, dialect: TextDialect, row: int) -> int | None:
    """The line, from 1, on which a row of a file begins; None if it is no text or has no such row.

    The row below the header is row 0.
    """
    with open(path, "rb") as file:
        name, data = unpack(path, file.read())
    if not is_text(name, data):
        return None
    return find_line(data, replace(dialect, delimiter=dialect.delimiter or find_mark(name)), row)


@any_length()
def find_line(data: bytes, dialect: TextDialect, row: int) -> int | None:
    r"""The line on which a row of a text begins; None if there is no such row.

    >>> find_line(b'a,b\n1,"two\nlines"\n\n2,x\n', TextDialect(), 1)
    5
    """
    data = to_utf8(data, dialect.encoding)
    rows = csv.reader(open_text(data), delimiter=dialect.delimiter or find_delimiter(data))
    place, before = -1, 0  # the header is row -1
    for fields in rows:
        if fields and place == row:
            return before + 1
        place, before = place + bool(fields), rows.line_num  # blank lines are no rows
    return None
