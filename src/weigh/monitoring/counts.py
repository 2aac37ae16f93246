"""Counts of new rows by level: of a table, or of the rows that a service has scored."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from weigh import engine
from weigh.arrays import Floats
from weigh.bins import AND, Cross, Feature, Placed, spell_level
from weigh.evidence import Evidence, FeatureTable
from weigh.frames import NOT_KNOWN, Codes, Scan, Table
from weigh.metrics.inputs import Flags


@dataclass
class LevelCounts:
    """New rows of one table: by level, of values without a level (`unseen`), and without a value.

    `inside` counts the values that share the level `other`. `pooled` marks levels that were counted
    together: their rows are divided among them, and they are compared as one level. `misread`
    counts, by level, numbers other than 0 and 1 in a column of 0 and 1; they are in `unseen`, too.
    `margins` is the sum of a pair's weights in rows of which one answer is not known; these rows
    count as absent.
    """

    levels: Floats
    absent: float
    unseen: Counter[str]
    inside: Counter[str] = field(default_factory=Counter)
    pooled: Flags | None = None
    misread: Floats = field(default_factory=lambda: np.zeros(1))  # broadcasts to all levels
    margins: float = 0.0

    @property
    def own(self) -> Floats:
        """The rows of each level without misread values."""
        return np.asarray(self.levels - self.misread)

    def pool(self, rows: Floats) -> Floats:
        """The rows by level, with pooled levels added up in a last cell."""
        if self.pooled is None:
            return rows
        return np.append(rows[~self.pooled], rows[self.pooled].sum())


@dataclass(frozen=True)
class Totals:
    """The number of rows, and the mean, standard deviation and values of their totals."""

    n: int
    mean: Floats
    deviation: Floats
    each: Floats | None = None  # None for metrics of a service, which does not store them


def in_batches(table: Table) -> Iterator[tuple[slice, Table]]:
    """The rows of a table in batches (one unless it is a scan), with their positions."""
    done = 0
    for batch in table.batches() if isinstance(table, Scan) else [table]:
        yield slice(done, done + batch.n_rows), batch
        done += batch.n_rows


def count_rows(evidence: Evidence, table: Table) -> tuple[list[LevelCounts], Totals]:
    """The counts of new rows by level of each table, and the totals of the rows."""
    seen = [LevelCounts(np.zeros(len(t.levels)), 0.0, Counter()) for t in evidence]
    totals = np.empty((table.n_rows, len(evidence.prior_row)))
    weights, features = [t.padded for t in evidence.scored], [t.feature for t in evidence.scored]
    paired = [j for j, own in enumerate(evidence) if own.margins is not None]
    for rows, batch in in_batches(table):
        placed = engine.place(batch, evidence.features)
        scored = engine.place(batch, features) if paired else placed
        totals[rows] = engine.total_placed(scored, weights, evidence.prior_row, batch.n_rows)
        for j in paired:
            seen[j].margins += _sum_margins(evidence.scored[j], scored[j])
        for found, feature, places in zip(seen, evidence.features, placed, strict=True):
            _add_levels(found, feature, batch, places)
    differ = np.ptp(totals, axis=0) > 0  # the mean of equal numbers is rounded
    deviation = np.where(differ, totals.std(axis=0), 0.0)
    return seen, Totals(table.n_rows, totals.mean(axis=0), deviation, totals)


def _add_levels(found: LevelCounts, feature: Feature | Cross, batch: Table, places: Placed) -> None:
    """Add the rows of a batch to the counts of one table."""
    by_level = np.bincount(places.levels[places.codes], minlength=len(feature.levels) + 1)
    unseen = _unseen(feature, batch, places) if by_level[-1] else Counter()
    found.levels += by_level[:-1]
    found.absent += float(by_level[-1] - unseen.total())
    found.unseen += unseen
    if isinstance(feature, Feature) and feature.other:
        found.inside += _name_values(feature, batch, places, feature.rest)
    if isinstance(feature, Feature) and feature.reads_binary:
        odd, values = feature.misread(batch)
        found.unseen += Counter(f"{value:.10g}" for value in values.tolist())
        at = places.levels[places.codes[odd]]
        found.misread = found.misread + np.bincount(at, None, len(found.levels))


def _sum_margins(table: FeatureTable, placed: Placed) -> float:
    """The sum of a pair's weights in rows of which one answer is not known."""
    assert isinstance(table.feature, Cross)
    rows = np.bincount(placed.levels[placed.codes], minlength=len(table.levels) + 1)[:-1]
    return float(rows[table.feature.is_half] @ table.by_class[table.feature.is_half, 0])


def sum_by_level(table: Table, evidence: Evidence, columns: Floats) -> list[Floats]:
    """The sums of columns over the rows of each level, for each table."""
    sums = [np.zeros((len(t.levels) + 1, columns.shape[1])) for t in evidence]
    for rows, batch in in_batches(table):
        for found, places in zip(sums, engine.place(batch, evidence.features), strict=True):
            np.add.at(found, places.levels[places.codes], columns[rows])
    return [found[:-1] for found in sums]


def _unseen(feature: Feature | Cross, table: Table, placed: Placed) -> Counter[str]:
    """The values without a level, by their labels, with their rows; missing values do not count."""
    if isinstance(feature, Cross):
        return _unseen_pairs(feature, table, placed)
    return _name_values(feature, table, placed, feature.no_level)


def _name_values(feature: Feature, table: Table, placed: Placed, place: int) -> Counter[str]:
    """The values that share one level, by their labels, with their rows."""
    column = table.column(feature.name, not feature.is_numeric)
    if not isinstance(column, Codes) or feature.is_numeric:
        return Counter()
    rows = np.bincount(column.codes, minlength=len(placed.levels)).tolist()
    codes = [code for code in np.flatnonzero(placed.levels == place) if rows[code]]
    named = [(column.values[code], rows[code]) for code in codes]
    return Counter({spell_level(v): n for v, n in named if v is not None and v is not NOT_KNOWN})


def _unseen_pairs(cross: Cross, table: Table, placed: Placed) -> Counter[str]:
    """Pairs of non-missing values that did not occur in training, with their rows."""
    odd = np.flatnonzero(placed.levels[placed.codes] == len(cross.levels))
    parts = [_name_rows(part, table) for part in cross.parts]
    pairs = (tuple(names[row] for names in parts) for row in odd.tolist())
    return Counter(AND.join(pair) for pair in pairs if all(pair))


def _name_rows(feature: Feature, table: Table) -> Sequence[str]:
    """The label of each row's level; the value itself if it has none, and "" if absent."""
    placed = feature.read(table)
    names = np.array([*feature.labels, ""], dtype=object)[placed.levels]
    if not feature.is_numeric:
        column = table.codes(feature.name)
        for code in np.flatnonzero(placed.levels == feature.no_level).tolist():
            value = column.values[code] if code < len(column.values) else None
            names[code] = "" if value is None or value is NOT_KNOWN else spell_level(value)
    return [*names[placed.codes]]


# ------------------------------------------------------------ from the metrics of a service


LINE = re.compile(r"weigh_(\w+)\{(.*)\} (\S+)")
LABEL = re.compile(r'(\w+)="((?:[^"\\]|\\.)*)"')
ESCAPES = {r"\\": "\\", r"\"": '"', r"\n": "\n"}


def read_metrics(
    metrics: str | os.PathLike[str], evidence: Evidence, version: str
) -> tuple[list[LevelCounts], Totals]:
    """The rows at the levels of each table, and moments of their totals.

    Metrics of other models are an error.
    """
    text = str(metrics) if "\n" in str(metrics) else Path(metrics).read_bytes().decode("utf-8")
    ends = (line.removesuffix("\r") for line in text.split("\n"))  # labels may hold other line ends
    lines = [line.groups() for line in map(LINE.fullmatch, ends) if line is not None]
    found = [(name, _labels(inner), float(number)) for name, inner, number in lines]
    served = {labels["version"] for name, labels, _ in found if name == "rows_total"}
    if version not in served:
        versions = ", ".join(sorted(served)) or "no model at all"
        raise ValueError(
            f"the metrics belong to {versions}, but the model is {version}; give its own metrics"
        )
    own = _Series(
        {
            (name, *(text for label, text in labels.items() if label != "version")): number
            for name, labels, number in found
            if labels.get("version") == version
        }
    )
    n = int(own[("rows_total",)])
    if not n:
        raise ValueError("the metrics have no row yet: the service has scored none")
    return [_seen(table, own) for table in evidence], _totals(evidence, own, n)


class _Series(dict[tuple[str, ...], float]):
    """Numbers by name and labels; an absent series is an error that names it."""

    def __missing__(self, key: tuple[str, ...]) -> float:
        name, *labels = key
        of = "".join(f" of {text!r}" for text in labels)
        raise ValueError(
            f"the metrics have no weigh_{name}{of}; give the whole answer of /metrics, not a part"
        )


def _labels(inner: str) -> dict[str, str]:
    return {
        name: re.sub(r"\\.", lambda found: ESCAPES[found.group()], text)
        for name, text in LABEL.findall(inner)
    }


def _seen(table: FeatureTable, own: dict[tuple[str, ...], float]) -> LevelCounts:
    levels, pooled = _levels(table, own)
    unseen = int(own["unseen_rows_total", table.name])
    values = Counter({"new values": unseen} if unseen else {})
    margins = 0.0 if table.margins is None else own["margin_sum", table.name]
    absent = own["absent_rows_total", table.name]
    return LevelCounts(levels, absent, values, pooled=pooled, margins=margins)


def _levels(table: FeatureTable, own: dict[tuple[str, ...], float]) -> tuple[Floats, Flags | None]:
    """The rows of each level, and flags of the levels that the service does not list.

    Rows of unlisted levels are counted together, and divided among them by their training shares.
    """
    keys = [("level_rows_total", table.name, level) for level in table.feature.labels]
    rest = own.get(("other_rows_total", table.name))
    if rest is None:
        return np.array([own[key] for key in keys]), None
    listed = np.array([key in own for key in keys])
    share = np.where(listed, 0.0, table.counts.sum(axis=1))
    share = share if share.any() else np.where(listed, 0.0, 1.0)
    rows = np.array([own.get(key, 0.0) for key in keys])
    return np.asarray(rows + rest * share / share.sum()), ~listed


ROUNDING = 1e-6
"""Least standard deviation, relative to the mean, that the sums of a service show: it is a small
difference of large numbers."""


def _totals(evidence: Evidence, own: dict[tuple[str, ...], float], n: int) -> Totals:
    names = [(name,) for name in evidence.class_names] if len(evidence.prior_row) > 1 else [()]
    sums, squares = (
        np.array([own[(what, *name)] for name in names])
        for what in ("total_sum", "total_squares_sum")
    )
    mean = sums / n
    deviation = np.sqrt(np.maximum(squares / n - mean**2, 0.0))
    return Totals(n, mean, np.where(deviation > ROUNDING * np.abs(mean), deviation, 0.0))
