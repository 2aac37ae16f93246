"""Names of columns: match them with a model's, and list or correct them in errors."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any

import numpy as np

from weigh.errors import warn_caller
from weigh.frames.values import NOT_KNOWN, reads_as_number

if TYPE_CHECKING:
    from weigh.frames.tables import Table


MOST_NAMES = 20
"""Most names that an error lists."""


def list_names(names: Sequence[Any]) -> str:
    """List names for an error, quoted so that control characters do not reach a terminal.

    >>> list_names(["a", "b"]), list_names(range(22))[-13:]
    ("'a', 'b'", '19 and 2 more')
    """
    shown = ", ".join(map(repr, names[:MOST_NAMES]))
    more = len(names) - MOST_NAMES
    return f"{shown} and {more:,} more" if more > 0 else shown


def did_you_mean(name: Any, known: Iterable[Any]) -> str:
    """End of an error about an unknown name: the nearest known one, or nothing.

    >>> did_you_mean("clas", ["Class", "Sex"]), did_you_mean("age", ["Class", "Sex"])
    ("; did you mean 'Class'?", '')
    """
    near = _nearest(name, known, 0.6) if isinstance(name, str) else None
    return "" if near is None else f"; did you mean {near!r}?"


SEPARATORS = ",;:|\t "


def doubt_names(names: Sequence[Any]) -> str:
    """End of an error about an absent name: how the file may have been misread, or nothing.

    >>> doubt_names(["age:sex"])
    "; if ':' separates the fields, say so with delimiter=':' (--delimiter ':')"
    >>> doubt_names(["63", "male"]), doubt_names(["age", "first name"])
    ("; '63' looks like a value: if the file has no header row, add one", '')
    """
    texts = [name for name in names if isinstance(name, str)]
    if len(names) == len(texts) == 1:
        mark = max(SEPARATORS, key=texts[0].count)
        if mark in texts[0]:
            return (
                f"; if {mark!r} separates the fields, say so with delimiter={mark!r} "
                f"(--delimiter {mark!r})"
            )
    values = [text for text in texts if _is_value(text, len(texts))]
    if 4 * len(values) <= len(names):
        return ""
    return f"; {values[0]!r} looks like a value: if the file has no header row, add one"


def _is_value(text: str, n: int) -> bool:
    """Whether the name of one of n columns is a number, and not the place of a column."""
    return reads_as_number(text) and not (text.isdigit() and int(text) <= n)


ALIKE = 0.8
"""Similarity from which one name may be a misspelling of another."""


def refuse_misspelt(
    table: Table, names: tuple[str, ...], reader: str, beside: Sequence[str] = ()
) -> None:
    """Raise an error for a row with a misspelt key, or with none of the model's columns.

    Keys unlike any column, such as the target or an id, are ignored. `beside` names columns that
    the model knows and that are not features: a row may have these alone.
    """
    others = [name for name in table.names if name not in {*names, *beside}]
    for other in others:
        meant = _nearest(other, names)
        if meant is None:
            continue
        rows = np.flatnonzero(rows_with(table, [other]) & ~rows_with(table, [meant]))
        if len(rows):
            raise ValueError(
                f"row {rows[0]} has {other!r} and no {meant!r}, which {reader} was fitted with; "
                f"rename {other!r}, or leave it out"
            )
    rows = np.flatnonzero(rows_with(table, others) & ~rows_with(table, names))
    if len(rows):
        raise ValueError(
            f"row {rows[0]} has none of the columns that {reader} was fitted with, of which the "
            f"first is {names[0]!r}; give at least one of them"
        )


def _nearest(name: str, names: Iterable[Any], alike: float = ALIKE) -> str | None:
    texts = {text.lower(): text for text in names if isinstance(text, str)}
    near = get_close_matches(name.lower(), texts, 1, alike)
    return texts[near[0]] if near else None


def rows_with(table: Table, names: Iterable[str]) -> np.ndarray[Any, np.dtype[np.bool_]]:
    """Whether each row of a list of dicts has any of the keys."""
    given = np.zeros(table.n_rows, dtype=bool)
    for j in (table.names.index(name) for name in names if name in table.names):
        given |= np.fromiter((v is not NOT_KNOWN for v in table.source(j)), bool, table.n_rows)
    return given


def set_names(estimator: Any, names: tuple[str, ...], named: bool) -> Any:
    """Set `n_features_in_`, and `feature_names_in_` if the columns have names."""
    estimator.n_features_in_ = len(names)
    if named:
        estimator.feature_names_in_ = np.array(names, dtype=object)
    elif hasattr(estimator, "feature_names_in_"):
        del estimator.feature_names_in_
    return estimator


def name_columns(table: Table, names: Any) -> Table:
    """Name the columns of a table without names: an array or a sparse matrix."""
    if names is None:
        return table
    if table.named:
        raise ValueError("feature_names is for arrays and sparse matrices; X has names of its own")
    given = tuple(names)
    if odd := [name for name in given if not isinstance(name, str)]:
        raise ValueError(f"feature_names must be texts, got {odd[0]!r}; give map(str, names)")
    if len(given) != len(table.names):
        raise ValueError(
            f"feature_names has {len(given)} names for {len(table.names)} columns; give one for "
            "each"
        )
    if twice := [name for name, n in Counter(given).items() if n > 1]:
        raise ValueError(f"feature_names has {twice[0]!r} twice; each column needs its own name")
    return replace(table, names=tuple(map(str, given)), named=True)


def _seems_other(names: Sequence[str]) -> str:
    """End of an error about a table that has no column of a model."""
    few = ", ".join(map(repr, names[:3])) + (", ..." if len(names) > 3 else "")
    return f": it seems to be another table, with the columns {few}" if names else ""


def match(
    table: Table,
    names: tuple[str, ...],
    named: bool,
    reader: str,
    beside: Sequence[str] = (),
    words: bool = False,
) -> Table:
    """Select the columns that a model was fitted with: by name, or by position without names.

    `beside` names columns that the model knows and that are not features, such as its exposure.
    Where columns are `words`, other keys of dicts are other words and not misspelt columns.
    """
    if not table.n_rows and (table.partial or not table.names):
        return table.select(names)  # an empty list may be of any rows
    if named and table.named:
        known = {*table.names}
        absent = [name for name in names if name not in known]
        if table.partial and not words:
            refuse_misspelt(table, names, reader, beside)
        elif absent and not table.partial:
            near = _nearest(absent[0], tuple(n for n in table.names if n not in names))
            fix = "; add it: an empty value counts as missing, or as not known if training had none"
            fix = fix if near is None else f"; rename {near!r} if it is the same"
            if len(absent) == len(names) and near is None:
                fix = doubt_names(table.names) or _seems_other(table.names)
            raise ValueError(
                f"the table has no column {absent[0]!r}, which {reader} was fitted with "
                f"({len(absent)} of {len(names)} columns are absent){fix}"
            )
        return table.select(names)
    if len(table.names) != len(names):
        raise ValueError(
            f"X has {len(table.names)} features, but {reader} is expecting {len(names)} features "
            "as input"
        )
    if named != table.named and table.matrix is None:  # a sparse matrix never has names
        had, has = ("", " not") if named else (" not", "")
        warn_caller(
            f"X does{has} have valid feature names, but {reader} was{had} fitted with feature "
            "names: columns are matched by position",
            UserWarning,
        )
    return table.renamed(names)
