"""New rows beside training rows: their counts, one comparison, and the rule of an alarm."""

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
"""The index, beyond chance, from which a significant check is a notice, a warning, an alarm."""

FEWEST = 5.0
"""Rows that a level must have in either sample, as expected, for the chi-square to hold."""


FEW = 30
"""Of fewer rows without a significant difference, nobody can say that there is no drift."""


@dataclass(frozen=True)
class Check:
    """One comparison: an index, what chance gives, a p-value, and the level of concern.

    `p_value` is of this check alone, `adjusted` of all checks together.
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
    """A number that is 0 without drift. Times `scale`, it is a change of the total."""
    p = 2 * float(ndtr(-abs(value) / error)) if error > 0 and math.isfinite(value) else NAN
    return Check(name, about, (value * scale) ** 2, (error * scale) ** 2, p)


def check_t(
    name: str, about: str, value: float, error: float, degrees: int, scale: float = 1.0
) -> Check:
    """As `check_normal`, with an error of so many degrees of freedom."""
    p = 2 * float(stdtr(degrees, -abs(value) / error)) if error > 0 else NAN
    return replace(check_normal(name, about, value, error, scale), p_value=p)


def check_rise(name: str, about: str, value: float, error: float, degrees: int) -> Check:
    """As `check_t` of a number that is no concern where it falls."""
    p = float(stdtr(degrees, -value / error)) if error > 0 else NAN
    return replace(check_normal(name, about, max(value, 0.0), error), p_value=p)


def expected_index(n_cells: int, old: float, new: float) -> float:
    """The mean PSI of two samples of one distribution: (cells - 1)(1/N + 1/n), about."""
    return (n_cells - 1) * (1 / old + 1 / new)


def compare_samples(old: Floats, new: Floats) -> float:
    """The p-value of Pearson's chi-square that two samples have one distribution of levels.

    Levels that are too rare are joined. Which these are depends on the rows of both samples
    together alone, so that the test stays exact for levels that only one sample has.
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
    """The p-value of the new rows whose values training did not have.

    Without drift, a value with c rows in both samples has all of them in the new one with
    probability q^c, with q the share of the new rows. So many rare values, each seen once, are no
    surprise, and a frequent new one is. The sum over values is taken for a scaled Poisson.
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
    """The rows of each level of a table, of values without a level, and of no value.

    `inside` has the rows of the values that share the level `other`. `pooled` marks levels that
    were counted together: their rows are shared out, and they are compared as one level. `misread`
    has the rows of each level whose numbers are new in a column of 0 and 1; these are in `unseen`.
    """

    levels: Floats
    absent: float
    unseen: Counter[str]
    inside: Counter[str] = field(default_factory=Counter)
    pooled: Flags | None = None
    misread: Floats = field(default_factory=lambda: np.zeros(1))  # which adds to any levels

    @property
    def own(self) -> Floats:
        """The rows of each level without those of new values."""
        return np.asarray(self.levels - self.misread)

    def pool(self, rows: Floats) -> Floats:
        """The rows of levels, those of pooled ones in one cell at the end."""
        if self.pooled is None:
            return rows
        return np.append(rows[~self.pooled], rows[self.pooled].sum())


@dataclass(frozen=True)
class Totals:
    """How many rows there are, the mean and standard deviation of their totals, and these."""

    n: int
    mean: Floats
    deviation: Floats
    each: Floats | None = None  # a service does not keep them


def in_batches(table: Table) -> Iterator[tuple[slice, Table]]:
    """The rows of a table, and where they stand; those of a scan batch by batch."""
    done = 0
    for batch in table.batches() if isinstance(table, Scan) else [table]:
        yield slice(done, done + batch.n_rows), batch
        done += batch.n_rows


def count_rows(evidence: Evidence, table: Table) -> tuple[list[Seen], Totals]:
    """The new rows on the levels of each table, and their sums of prior and weights."""
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
    return _name_values(feature, table, placed, feature.no_level)


def _name_values(feature: Feature, table: Table, placed: Placed, place: int) -> Counter[str]:
    """The values of one level, with their rows."""
    column = table.column(feature.name, not feature.is_numeric)
    if not isinstance(column, Codes) or feature.is_numeric:
        return Counter()
    rows = np.bincount(column.codes, minlength=len(placed.levels)).tolist()
    codes = [code for code in np.flatnonzero(placed.levels == place) if rows[code]]
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
