"""Tests of new rows against training rows, the levels of a check, and the drift of one table."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.special import betainc, gammainc, ndtr, stdtr
from scipy.stats import chi2

from weigh.arrays import Floats
from weigh.bins import Feature
from weigh.evidence import Evidence, FeatureTable
from weigh.metrics import Stability, population_stability_index
from weigh.metrics.numbers import NAN
from weigh.metrics.stability import compare_counts
from weigh.monitoring.counts import LevelCounts, Totals

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

    def full_name(self) -> str:
        """The name of the check; that of a check of weights says so."""
        return f"weights of {self.name}" if self.about == "weights" else self.name


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


# ------------------------------------------------------------ totals


def check_means(evidence: Evidence, totals: Totals) -> list[Check]:
    """Check the mean total, before any recalibration, against that of training by a t test.

    The variance of the training totals is not stored. Without drift it equals that of the new rows,
    which is used in its place. If all new rows have the same total, there is no test.
    """
    n_old, n_new = float(evidence.class_counts.sum()), totals.n
    before = evidence.prior_row + sum(t.counts.sum(axis=1) @ t.by_class / n_old for t in evidence)
    spread = totals.deviation if n_new > 1 else 0.0 * totals.deviation
    checks = []
    for c, (shift, sd) in enumerate(zip(totals.mean - before, spread, strict=True)):
        distance = shift / sd if sd > 0 else 0.0
        error = np.sqrt((1 / n_old + 1 / n_new) * n_new / (n_new - 1)) if sd > 0 else 0.0
        name = _name("mean total", evidence, c)
        checks.append(check_t(name, "total", float(distance), float(error), n_new - 1))
    return checks


def check_distribution(evidence: Evidence, reference: Totals, totals: Totals) -> list[Check]:
    """Checks of the PSI of the totals, with bins at the deciles of the reference rows."""
    assert reference.each is not None
    assert totals.each is not None
    checks = []
    for c, (old, new) in enumerate(zip(reference.each.T, totals.each.T, strict=True)):
        found = population_stability_index(old, new)
        chance = expected_index(len(found.labels), len(old), len(new))
        p_value = compare_samples(found.expected * len(old), found.actual * len(new))
        name = _name("distribution of totals", evidence, c)
        checks.append(Check(name, "total", found.value, chance, p_value))
    return checks


def _name(what: str, evidence: Evidence, c: int) -> str:
    """The name of a check, with the class if there are several totals."""
    return what + (f" of {evidence.class_names[c]}" if len(evidence.prior_row) > 1 else "")


# ------------------------------------------------------------ the levels of one table


NEW, OTHERS = "new values", "other levels"
GONE, GROWN = 0.01, 0.001
"""Significance levels for calling a level vanished, and a value within `other` grown."""


@dataclass(frozen=True, eq=False)
class FeatureDrift:
    """Drift of one table of a model: its check, the shares of its levels, its effect on the total.

    `shift` is the change of the table's mean contribution, in nats: sum over levels of
    (new share - old share) * weight, plus the mean margin of a pair; one per class if there are
    more than two. `within_other` maps the values that share the level `other` to their new rows.
    `grown` are those of them that are significantly more frequent than in training, whatever their
    training counts, which the model does not store. `other_before` and `other_now` are the shares
    of rows at `other`, and `most` is the largest share that one value within it can have had in
    training. `misread` says that the new values are numbers in a column of 0 and 1, which are read
    as 0 or 1.
    """

    check: Check
    stability: Stability
    shift: Floats
    missing_before: float
    missing_now: float
    new_values: dict[str, int]
    vanished: tuple[str, ...]
    within_other: dict[str, int]
    grown: dict[str, int]
    misread: bool = False
    other_before: float = 0.0
    other_now: float = 0.0
    most: float = 0.0

    @property
    def name(self) -> str:
        """The name of the feature."""
        return self.check.name

    @property
    def effect(self) -> float:
        """The absolute value of the shift; the largest if there are several classes."""
        return float(np.abs(self.shift).max())

    @property
    def largest_change(self) -> str:
        """The level whose share changed most, with both shares, as text."""
        change = np.abs(self.stability.actual - self.stability.expected)
        v = int(change.argmax())
        before, now = self.stability.expected[v], self.stability.actual[v]
        return f"{self.stability.labels[v]}: {100 * before:.1f}% to {100 * now:.1f}%"


@dataclass(frozen=True, eq=False)
class Cells:
    """Training rows and new rows by cell: the levels, then absent values, then new values.

    Values within `other` that have grown have their own cells, before all others.
    """

    labels: tuple[str, ...]
    old: Floats
    new: Floats

    @classmethod
    def of(cls, evidence: Evidence, table: FeatureTable, seen: LevelCounts) -> Cells:
        """The cells of a table."""
        old = table.counts.sum(axis=1)
        known = all(part.has_missing for part in table.feature.parts)
        absent = max(float(evidence.class_counts.sum() - old.sum()), 0.0)
        labels = np.array(table.labels, dtype=object)
        if seen.pooled is not None:
            labels = np.append(labels[~seen.pooled], OTHERS)
        return cls(
            (*labels, "not known" if known else "missing", NEW),
            np.append(seen.pool(old), [absent, 0.0]),
            np.append(seen.pool(seen.own), [seen.absent, seen.unseen.total()]),
        )

    def part(self, place: int, name: str, old: float, new: float) -> Cells:
        """Move rows from the cell at `place` to a new first cell."""
        taken = np.arange(len(self.labels)) == place
        return Cells(
            (name, *self.labels),
            np.append(old, self.old - old * taken),
            np.append(new, self.new - new * taken),
        )

    def index(self) -> Stability:
        """The PSI over the cells that have rows."""
        used = (self.old > 0) | (self.new > 0)
        labels = np.array(self.labels, dtype=object)[used]
        return compare_counts(labels.tolist(), self.old[used], self.new[used])

    def test(self, unseen: Floats) -> float:
        """The p-value that old and new rows have the same distribution.

        Each new value (`unseen`) is a cell here. If there are any, a second test looks at them
        alone, and the smaller p-value is doubled.
        """
        old = np.append(self.old[:-1], np.zeros(len(unseen)))
        new = np.append(self.new[:-1], unseen)
        p = compare_samples(old, new)
        return min(1.0, 2 * min(p, compare_unseen(old, new))) if len(unseen) else p


def compare_table(evidence: Evidence, table: FeatureTable, seen: LevelCounts) -> FeatureDrift:
    """The drift of one table: its levels, missing values and new values."""
    whole = Cells.of(evidence, table, seen)
    n_old, n_new = float(evidence.class_counts.sum()), float(whole.new.sum())
    grown = _find_grown(table, seen, n_new / (n_old + n_new))
    stability = (cells := _part_grown(table, whole, grown)).index()
    chance = expected_index(len(stability.labels), n_old, n_new)
    p_value = cells.test(np.array([*seen.unseen.values()], dtype=np.float64))
    levels = table.counts.sum(axis=1) / whole.old.sum(), seen.levels / n_new
    empty = np.array([level is None for level in table.levels])
    missing = [
        float(rows[-2] / rows.sum() + shares[empty].sum())
        for rows, shares in zip((whole.old, whole.new), levels, strict=True)
    ]
    return FeatureDrift(
        check=Check(table.name, "feature", stability.value, chance, p_value),
        stability=stability,
        shift=(levels[1] - levels[0]) @ table.by_class + seen.margins / n_new,
        missing_before=missing[0],
        missing_now=missing[1],
        new_values=dict(seen.unseen.most_common()),
        vanished=_find_vanished(table, seen, n_old / (n_old + n_new)),
        within_other=dict(seen.inside.most_common()),
        grown=grown,
        misread=bool(np.any(seen.misread)),
        other_before=_share_of_other(table, levels[0]),
        other_now=_share_of_other(table, levels[1]),
        most=_most_within_other(table) / float(whole.old.sum()),
    )


def _share_of_other(table: FeatureTable, shares: Floats) -> float:
    feature = table.feature
    has_other = isinstance(feature, Feature) and bool(feature.other)
    return float(shares[feature.rest]) if has_other else 0.0  # type: ignore[union-attr]


def _find_vanished(table: FeatureTable, seen: LevelCounts, share: float) -> tuple[str, ...]:
    """The levels of training without a new row, if this is improbable by chance."""
    old = table.counts.sum(axis=1)
    gone = (old > 0) & (seen.own == 0) & (share**old * len(old) < GONE)
    return tuple(table.labels[v] for v in np.flatnonzero(gone))


def _find_grown(table: FeatureTable, seen: LevelCounts, share: float) -> dict[str, int]:
    """Values within `other` with significantly more new rows than in training.

    Given the rows of a value in both samples, those in the new sample are binomial. The model does
    not store the values within `other`, so each is assumed to have had the most rows possible.
    """
    had = _most_within_other(table)
    least = GROWN / max(len(seen.inside), 1)
    return {
        value: rows
        for value, rows in seen.inside.most_common()
        if betainc(rows, had + 1, share) < least
    }


def _most_within_other(table: FeatureTable) -> float:
    """The most training rows that a value within `other` can have had.

    `max_levels` keeps the most frequent values, so it is no more frequent than any level. Groups
    given by the user may leave out any value.
    """
    feature, rows = table.feature, table.counts.sum(axis=1)
    if not (isinstance(feature, Feature) and feature.other):
        return 0.0
    within = float(rows[feature.rest])
    return within if feature.groups else min(within, float(rows[: feature.rest].min()))


def _part_grown(table: FeatureTable, cells: Cells, grown: dict[str, int]) -> Cells:
    had = _most_within_other(table)
    for done, (value, rows) in enumerate(grown.items()):
        assert isinstance(table.feature, Feature)
        place = table.feature.rest + done
        cells = cells.part(place, value, min(had, float(cells.old[place])), rows)
    return cells
