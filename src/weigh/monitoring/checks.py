"""Counts of new rows by level, tests against the training rows, and the levels of a check."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from scipy.special import gammainc, ndtr, stdtr
from scipy.stats import chi2

from weigh import engine
from weigh.bins import AND, Cross, Feature, Placed, label
from weigh.evidence import Evidence
from weigh.frames import NOT_KNOWN, Codes, Floats, Scan, Table
from weigh.metrics.numbers import NAN
from weigh.metrics.scored import Flags

LEVELS = ("none", "notice", "warning", "alarm")
LIMITS = (0.01, 0.1, 0.25)
"""Least excess of the index over chance for a significant notice, warning or alarm."""

FEWEST = 5.0
"""Least expected number of rows of a level in either sample, for the chi-square test."""


FEW = 30
"""With fewer rows and no significant difference, the verdict is "too few rows", not "no drift"."""


@dataclass(frozen=True)
class Check:
    """One comparison: its index, the index expected by chance, p-value and level of concern.

    `p_value` is for this check alone; `adjusted` accounts for all checks.
    """

    name: str
    about: str  # feature, total, classes, in the large, slope, time, weights or loss
    index: float
    chance: float
    p_value: float
    adjusted: float = NAN
    level: str = "none"


def judge(checks: Sequence[Check], alpha: float) -> list[Check]:
    """The checks with p-values adjusted by Holm's method, and their levels."""
    p = np.nan_to_num(np.array([check.p_value for check in checks]), nan=1.0)
    order = np.argsort(p, kind="stable")
    raised = np.maximum.accumulate(p[order] * np.arange(len(p), 0, -1))
    adjusted = np.empty(len(p))
    adjusted[order] = np.minimum(raised, 1.0)
    return [
        replace(check, adjusted=q, level=_level(check, q < alpha))
        for check, q in zip(checks, adjusted.tolist(), strict=True)
    ]


def _level(check: Check, significant: bool) -> str:
    excess = check.index - check.chance
    return LEVELS[sum(excess >= limit for limit in LIMITS)] if significant else LEVELS[0]


def worst(checks: Sequence[Check]) -> str:
    """The highest level of some checks."""
    return max((check.level for check in checks), key=LEVELS.index, default=LEVELS[0])


def check_normal(name: str, about: str, value: float, error: float, scale: float = 1.0) -> Check:
    """A normal test of a value that is 0 without drift; `scale` converts it to the total's unit."""
    p = 2 * float(ndtr(-abs(value) / error)) if error > 0 and math.isfinite(value) else NAN
    return Check(name, about, (value * scale) ** 2, (error * scale) ** 2, p)


def check_t(
    name: str, about: str, value: float, error: float, degrees: int, scale: float = 1.0
) -> Check:
    """A t test of a value that is 0 without drift, with the given degrees of freedom."""
    p = 2 * float(stdtr(degrees, -abs(value) / error)) if error > 0 else NAN
    return replace(check_normal(name, about, value, error, scale), p_value=p)


def check_rise(name: str, about: str, value: float, error: float, degrees: int) -> Check:
    """A one-sided t test of a value of which only an increase is a concern."""
    p = float(stdtr(degrees, -value / error)) if error > 0 else NAN
    return replace(check_normal(name, about, max(value, 0.0), error), p_value=p)


def expected_index(n_cells: int, old: float, new: float) -> float:
    """The approximate mean PSI of two samples of one distribution: (cells - 1)(1/N + 1/n)."""
    return (n_cells - 1) * (1 / old + 1 / new)


def compare_samples(old: Floats, new: Floats) -> float:
    """The p-value of Pearson's chi-square test that two samples have the same distribution.

    Levels that are too rare are pooled. The choice depends only on the rows of both samples
    together, so the test remains valid for levels that only one sample has.
    """
    both, share = old + new, new.sum() / (old.sum() + new.sum())
    rare = both * min(share, 1 - share) < FEWEST
    ranked = np.argsort(both[~rare])
    table = np.stack([old, new])
    cells = np.column_stack([table[:, rare].sum(axis=1), table[:, ~rare][:, ranked]])
    if cells[:, 0].sum() * min(share, 1 - share) < FEWEST and cells.shape[1] > 1:
        cells = np.column_stack([cells[:, 0] + cells[:, 1], cells[:, 2:]])
    if cells.shape[1] < 2:
        return 1.0
    expected = np.outer([1 - share, share], cells.sum(axis=0))
    return float(chi2.sf(((cells - expected) ** 2 / expected).sum(), cells.shape[1] - 1))


def compare_unseen(old: Floats, new: Floats) -> float:
    """The p-value of the number of new rows whose values did not occur in training.

    Without drift, a value with c rows in both samples has all of them in the new sample with
    probability q^c, with q the share of the new rows. So many values seen once are no evidence of
    drift, but one frequent new value is. The sum over values is approximated by a scaled Poisson.
    """
    unseen = float(new[old == 0].sum())
    if not unseen:
        return 1.0
    both = old + new
    chance = (new.sum() / both.sum()) ** both
    mean, variance = float(both @ chance), float(both**2 @ (chance * (1 - chance)))
    if not variance:
        return 0.0
    return float(gammainc(unseen * mean / variance, mean * mean / variance))


@dataclass
class Seen:
    """New rows of one table: by level, of values without a level (`unseen`), and without a value.

    `inside` counts the values that share the level `other`. `pooled` marks levels that were counted
    together: their rows are divided among them, and they are compared as one level. `misread`
    counts, by level, numbers other than 0 and 1 in a column of 0 and 1; they are in `unseen`, too.
    """

    levels: Floats
    absent: float
    unseen: Counter[str]
    inside: Counter[str] = field(default_factory=Counter)
    pooled: Flags | None = None
    misread: Floats = field(default_factory=lambda: np.zeros(1))  # broadcasts to all levels

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


def count_rows(evidence: Evidence, table: Table) -> tuple[list[Seen], Totals]:
    """The counts of new rows by level of each table, and the totals of the rows."""
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
            if isinstance(feature, Feature) and feature.other:
                found.inside += _name_values(feature, batch, places, feature.rest)
            if isinstance(feature, Feature) and feature.reads_binary:
                odd, values = feature.misread(batch)
                found.unseen += Counter(f"{value:.10g}" for value in values.tolist())
                at = places.levels[places.codes[odd]]
                found.misread = found.misread + np.bincount(at, None, len(found.levels))
    return seen, Totals(table.n_rows, totals.mean(axis=0), totals.std(axis=0), totals)


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
    return Counter({label(v): n for v, n in named if v is not None and v is not NOT_KNOWN})


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
        column = table.column(feature.name, True)
        assert isinstance(column, Codes)
        for code in np.flatnonzero(placed.levels == feature.no_level).tolist():
            value = column.values[code] if code < len(column.values) else None
            names[code] = "" if value is None or value is NOT_KNOWN else label(value)
    return [*names[placed.codes]]
