"""New rows on the levels of a model, counted batch by batch."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from weigh import engine
from weigh.bins import AND, Cross, Feature, Placed, label
from weigh.evidence import Evidence
from weigh.frames import NOT_KNOWN, Codes, Floats, Scan, Table


@dataclass
class Seen:
    """The rows of each level of a table, of values without a level, and of no value."""

    levels: Floats
    absent: float
    unseen: Counter[str]


def in_batches(table: Table) -> Iterator[tuple[slice, Table]]:
    """The rows of a table, and where they stand; those of a scan batch by batch."""
    done = 0
    for batch in table.batches() if isinstance(table, Scan) else [table]:
        yield slice(done, done + batch.n_rows), batch
        done += batch.n_rows


def count_rows(evidence: Evidence, table: Table) -> tuple[list[Seen], Floats]:
    """The new rows on the levels of each table, and the sum of prior and weights of each row."""
    seen = [Seen(np.zeros(len(t.levels)), 0.0, Counter()) for t in evidence]
    totals = np.empty((table.n_rows, len(evidence.prior_row)))
    weights = [t.padded for t in evidence]
    for rows, batch in in_batches(table):
        placed = engine.place(batch, evidence.features)
        totals[rows] = engine.total_placed(placed, weights, evidence.prior_row, batch.n_rows)
        for found, feature, places in zip(seen, evidence.features, placed, strict=True):
            by_level = np.bincount(places.levels[places.codes], minlength=len(feature.levels) + 1)
            unseen = _unseen(feature, batch, places) if by_level[-1] else Counter()
            found.levels += by_level[:-1]
            found.absent += float(by_level[-1] - unseen.total())
            found.unseen += unseen
    return seen, totals


def sum_by_level(table: Table, evidence: Evidence, columns: Floats) -> list[Floats]:
    """The sums of columns over the rows of each level, table by table."""
    sums = [np.zeros((len(t.levels) + 1, columns.shape[1])) for t in evidence]
    for rows, batch in in_batches(table):
        for found, places in zip(sums, engine.place(batch, evidence.features), strict=True):
            np.add.at(found, places.levels[places.codes], columns[rows])
    return [found[:-1] for found in sums]


def _unseen(feature: Feature | Cross, table: Table, placed: Placed) -> Counter[str]:
    """The values without a level, by the name that people read; missing is none."""
    if isinstance(feature, Cross):
        return _unseen_pairs(feature, table, placed)
    column = table.column(feature.name, not feature.is_numeric)
    if not isinstance(column, Codes) or feature.is_numeric:
        return Counter()
    rows = np.bincount(column.codes, minlength=len(placed.levels)).tolist()
    codes = [code for code in np.flatnonzero(placed.levels == feature.no_level) if rows[code]]
    named = [(column.values[code], rows[code]) for code in codes]
    return Counter({label(v): n for v, n in named if v is not None and v is not NOT_KNOWN})


def _unseen_pairs(cross: Cross, table: Table, placed: Placed) -> Counter[str]:
    """Pairs that training did not have, of two values that are there."""
    odd = np.flatnonzero(placed.levels[placed.codes] == len(cross.levels))
    parts = [_name_rows(part, table) for part in cross.parts]
    pairs = (tuple(names[row] for names in parts) for row in odd.tolist())
    return Counter(AND.join(pair) for pair in pairs if all(pair))


def _name_rows(feature: Feature, table: Table) -> Sequence[str]:
    """The level of each row by name; a value without one as it is, and no value as nothing."""
    placed = feature.read(table)
    names = np.array([*feature.labels, ""], dtype=object)[placed.levels]
    if not feature.is_numeric:
        column = table.column(feature.name, True)
        assert isinstance(column, Codes)
        for code in np.flatnonzero(placed.levels == feature.no_level).tolist():
            value = column.values[code] if code < len(column.values) else None
            names[code] = "" if value is None or value is NOT_KNOWN else label(value)
    return [*names[placed.codes]]
