"""Warnings about columns that look like something else than features: ids, and codes in numbers."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from weigh.bins import Cross, Feature, find_codes
from weigh.errors import Parameter, ParameterWarning, warn_caller
from weigh.evidence import FeatureTable
from weigh.frames import Codes, Table, key, keys


def warn_columns(
    features: Sequence[Feature | Cross], table: Table, tables: Sequence[FeatureTable] = ()
) -> None:
    """Warn of ids; of rows in memory also of codes, and of listed categories that do not occur."""
    _warn_ids(features, table.n_rows, tables)
    for part in [part for feature in features for part in feature.parts]:
        if part.is_numeric and type(table) is Table:
            _warn_codes(part, table)
        elif part.groups and type(table) is Table:
            _warn_absent(part, table)


def _warn_codes(part: Feature, table: Table) -> None:
    """A code in a column of numbers is taken for a number, and blurs the levels near it."""
    column = table.column(part.name, False)
    codes = [int(code) for code in find_codes(column.values, part.values)]  # type: ignore[arg-type]
    if codes:
        look = "looks like a code" if len(codes) == 1 else "look like codes"
        warn_caller(
            ParameterWarning(
                f"column {part.name!r}: {', '.join(map(str, codes))} {look}, ",
                "outside the range of the others; ",
                Parameter("special_values", {part.name: codes}),
                " gives each a level of its own",
            )
        )


def _warn_absent(part: Feature, table: Table) -> None:
    """A listed category that no row has is probably misspelt."""
    column = table.column(part.name, True)
    assert isinstance(column, Codes)
    seen = {*keys([column.values[code] for code in np.unique(column.codes)])}
    absent = [value for value in part.values if key(value) not in seen]
    if absent:
        told = ", ".join(map(repr, absent[:MOST_NAMED])) + ", ..." * (len(absent) > MOST_NAMED)
        has = [value for value in column.values if value is not None][:MOST_NAMED]
        warn_caller(
            ParameterWarning(
                f"column {part.name!r}: no row has {told}, listed in ",
                Parameter("bins"),
                f"; the column has {', '.join(map(repr, has))}, for example",
            )
        )


MOST_NAMED = 5
FEW_IDS = 50
"""In a table of so few rows every row may have a level of its own by chance."""


def _warn_ids(
    features: Sequence[Feature | Cross], n_rows: int, tables: Sequence[FeatureTable] = ()
) -> None:
    """A column whose every row has a level of its own is an id, and says nothing of new rows.

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
                "each row, as an id has: it says nothing of other rows; leave it out",
                UserWarning,
            )


def _joined_ids(table: FeatureTable, n_rows: int) -> list[str]:
    """Columns with the level `other` of whose values none weighs more than a mean row.

    The values kept are the heaviest, so that there are as many values as rows, at least.
    """
    found, feature, weight = [], table.feature, table.counts.sum(axis=1)
    for k, part in enumerate(feature.parts):
        if part.other and not part.groups:
            alone = [(i,) for i in range(len(weight))]
            places = feature.pairs if isinstance(feature, Cross) else alone
            *kept, rest = np.bincount([at[k] for at in places], weight, part.rest + 1)[
                : part.rest + 1
            ]
            if max(kept) * n_rows <= (sum(kept) + rest) * (1 + 1e-9):
                found.append(part.name)
    return found
