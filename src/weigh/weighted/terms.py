"""What the scores are made of: total = base + sum over features of weight times table[code]."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from weigh.bins import Placed
from weigh.evidence import Evidence, Smoothing, weigh_tally
from weigh.frames import Floats, Integers
from weigh.tally import Counts, Rows, Tally

LARGEST = np.iinfo(np.int64).max


@dataclass(frozen=True)
class Terms:
    """Distinct rows: what each starts from, its code in each feature, its weight in each class.

    Rows of the same codes always score the same, so one stands for all of them. `tables[j]` holds
    what each code of feature j adds to the totals, in one column for two classes, else one per
    class.
    """

    base: Floats
    codes: list[Integers]
    tables: list[Floats]
    counts: Floats


def terms_of(naive: Evidence, placed: list[Placed], rows: Rows) -> Terms:
    """Each row scored by the tables of all rows."""
    columns = [_levels(part) for part in placed]
    fold = np.zeros(len(rows.labels), dtype=np.intp)
    return _collapse(columns, [table.padded for table in naive], naive.prior_row[None], rows, fold)


def held_out_terms(
    tally: Tally, placed: list[Placed], rows: Rows, fold: Integers, smoothing: Smoothing
) -> Terms:
    """Each row scored by the tables of the folds that do not hold it, on the levels of all rows.

    A feature's codes and table are those of the folds, one after the other.
    """
    n_folds = int(fold.max()) + 1
    columns, counts = [], []
    for part, table in zip(placed, tally.tables, strict=True):
        n_codes = len(table.feature.levels) + 1
        codes = fold * n_codes + _levels(part)
        columns.append(codes.astype(np.min_scalar_type(n_folds * n_codes)))
        counts.append(rows.count(columns[-1], n_folds * n_codes).reshape(n_folds, n_codes, -1))
    classes = rows.count(fold, n_folds)
    models = []
    for k in range(n_folds):
        others = np.arange(n_folds) != k
        tables = tuple(
            Counts(table.feature, by_fold[others].sum(axis=0)[:-1])
            for table, by_fold in zip(tally.tables, counts, strict=True)
        )
        models.append(
            weigh_tally(Tally(tally.classes, classes[others].sum(axis=0), tables), smoothing)
        )
    padded = [np.vstack([model.tables[j].padded for model in models]) for j in range(len(placed))]
    base = np.array([model.prior_row for model in models])
    return _collapse(columns, padded, base, rows, fold)


def _levels(part: Placed) -> Integers:
    return part.levels.astype(np.min_scalar_type(int(part.levels.max())))[part.codes]


def _collapse(
    columns: list[Integers], tables: list[Floats], base: Floats, rows: Rows, fold: Integers
) -> Terms:
    """One row for all that are of one fold and have the same codes wherever codes add anything."""
    telling = [column for column, table in zip(columns, tables, strict=True) if table.any()]
    first, number = _distinct([fold, *telling])
    codes = [column[first] for column in columns]
    return Terms(base[fold[first]], codes, tables, rows.count(number, len(first)))


def _distinct(columns: list[Integers]) -> tuple[Integers, Integers]:
    """Where each distinct row is first found, and which one each row is."""
    key, size = np.zeros(len(columns[0]), dtype=np.int64), 1
    for column in columns:
        n_codes = int(column.max()) + 1
        if size > LARGEST // n_codes:
            key = np.unique(key, return_inverse=True)[1].astype(np.int64)
            size = int(key.max()) + 1
        key = key * n_codes + column
        size *= n_codes
    _, first, number = np.unique(key, return_index=True, return_inverse=True)
    return first, number
