"""Warnings about columns that are probably not features (ids) or that contain special codes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import numpy as np

from weigh.bins import Cross, Feature, find_codes
from weigh.errors import Parameter, ParameterError, ParameterWarning, warn_caller
from weigh.evidence import FeatureTable
from weigh.frames import Floats, Table, key, keys

_PART = ContextVar("_PART", default=False)


@contextmanager
def part_of_rows() -> Iterator[None]:
    """Context for fits to a part of the rows, such as a fold, in which categories may be absent."""
    token = _PART.set(True)
    try:
        yield
    finally:
        _PART.reset(token)


def warn_columns(
    features: Sequence[Feature | Cross], table: Table, tables: Sequence[FeatureTable] = ()
) -> None:
    """Warn about ids, listed categories that do not occur and, for rows in memory, codes."""
    _warn_ids(features, table.n_rows, tables)
    for part in _first_parts(features):
        if part.is_numeric and type(table) is Table:
            _warn_codes(part, table)
    check_listed(features, table, tables)


def check_listed(
    features: Sequence[Feature | Cross], table: Table, tables: Sequence[FeatureTable] = ()
) -> None:
    """Warn about listed categories that do not occur; raise an error if none of a column does.

    For rows that are not in memory, only levels without any row are found, from the counts.
    """
    rows = {
        part.name: _rows_by_level(own, k)
        for own in reversed(tables)
        for k, part in enumerate(own.feature.parts)
        if part.groups
    }
    for part in _first_parts(features):
        if part.groups and (type(table) is Table or part.name in rows):
            _check_part(part, table, rows.get(part.name))


def _first_parts(features: Sequence[Feature | Cross]) -> list[Feature]:
    """One feature of each column: that of its own table, which is before those of its pairs."""
    found: dict[str, Feature] = {}
    for part in [part for feature in features for part in feature.parts]:
        found.setdefault(part.name, part)
    return [*found.values()]


def _warn_codes(part: Feature, table: Table) -> None:
    """Warn about probable codes in a numeric column: they are binned with the numbers near them."""
    numbers = table.numbers(part.name).values
    codes = [int(code) for code in find_codes(numbers, part.values)]  # type: ignore[arg-type]
    if codes:
        look = "looks like a code" if len(codes) == 1 else "look like codes"
        warn_caller(
            ParameterWarning(
                f"column {part.name!r}: {', '.join(map(str, codes))} {look}, ",
                "outside the range of the others; ",
                Parameter("special_values", {part.name: codes}),
                " gives it a level of its own"
                if len(codes) == 1
                else " gives each a level of its own",
            )
        )


def _check_part(part: Feature, table: Table, rows: Floats | None) -> None:
    """Warn about listed categories without rows: they are probably misspelt."""
    if type(table) is Table:
        absent, has = _absent_in_memory(part, table)
        filled = bool(has)
    else:
        assert rows is not None
        absent = [v for v, at in zip(part.values, part.groups, strict=True) if not rows[at]]
        has, filled = [], bool(part.other and rows[part.rest])
    if not absent:
        return
    named, told = Parameter("bins"), _name_some(absent)
    example = f"; the column has {_name_some(has)}, for example" if has else ""
    if len(absent) == len(part.values) and filled and not _PART.get():
        raise ParameterError(
            f"column {part.name!r}: no row has any category listed in ", named, f": {told}{example}"
        )
    warn_caller(
        ParameterWarning(f"column {part.name!r}: no row has {told}, listed in ", named, example)
    )


def _absent_in_memory(part: Feature, table: Table) -> tuple[list[Any], list[Any]]:
    """The listed categories that no row has, and the categories of the column."""
    column = table.codes(part.name)
    seen = {*keys([column.values[code] for code in np.unique(column.codes)])}
    absent = [value for value in part.values if key(value) not in seen]
    return absent, [value for value in column.values if value is not None]


def _name_some(values: Sequence[Any]) -> str:
    return ", ".join(map(repr, values[:MOST_NAMED])) + ", ..." * (len(values) > MOST_NAMED)


def _rows_by_level(table: FeatureTable, k: int) -> Floats:
    """The rows of each level of a column, or of the first or second column of a cross."""
    feature = table.feature
    weight: Floats = table.counts.sum(axis=1)
    if not isinstance(feature, Cross):
        return weight
    n = len(feature.parts[k].levels)
    return np.bincount([at[k] for at in feature.pairs], weight, n).astype(np.float64)


MOST_NAMED = 5
FEW_IDS = 50
"""Up to this many rows, a column may be distinct in every row by chance."""


def _warn_ids(
    features: Sequence[Feature | Cross], n_rows: int, tables: Sequence[FeatureTable] = ()
) -> None:
    """Warn about ids: columns with a different level in every row, useless for new rows.

    The counts in `tables` tell it of columns whose levels `max_levels` has joined.
    """
    joined = {name for table in tables for name in _joined_ids(table, n_rows)}
    for part in [part for feature in features for part in feature.parts]:
        text = bool(part.values) and isinstance(part.values[0], str) and not part.in_order
        n = n_rows if part.name in joined else len(part.values)
        if text and n >= n_rows > FEW_IDS:
            what = "values" if part.other else "levels"
            warn_caller(
                f"column {part.name!r} has {n:,} {what} in {n_rows:,} rows, one for "
                "each row, like an id: it cannot predict other rows; leave it out",
                UserWarning,
            )


def _joined_ids(table: FeatureTable, n_rows: int) -> list[str]:
    """Columns with the level `other` of whose values none weighs more than a mean row.

    The values kept are the heaviest, so that there are as many values as rows, at least.
    """
    found = []
    for k, part in enumerate(table.feature.parts):
        if part.other and not part.groups:
            *kept, rest = _rows_by_level(table, k)[: part.rest + 1]
            if max(kept) * n_rows <= (sum(kept) + rest) * (1 + 1e-9):
                found.append(part.name)
    return found
