"""Drift of one table of a model: shares of its levels in the new rows and in training."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import betainc

from weigh.bins import Feature
from weigh.evidence import Evidence, FeatureTable
from weigh.frames import Floats
from weigh.metrics import Stability
from weigh.metrics.stability import compare_counts
from weigh.monitoring.checks import Check, Seen, compare_samples, compare_unseen, expected_index

NEW, OTHERS = "new values", "other levels"
GONE, GROWN = 0.01, 0.001
"""Significance levels for calling a level vanished, and a value within `other` grown."""


@dataclass(frozen=True, eq=False)
class FeatureDrift:
    """Drift of one table of a model: its check, the shares of its levels, its effect on the total.

    `shift` is the change of the table's mean contribution, in nats: sum over levels of
    (new share - old share) * weight; one per class if there are more than two. `within_other` maps
    the values that share the level `other` to their new rows. `grown` are those of them that are
    significantly more frequent than in training, whatever their training counts, which the model
    does not store. `misread` says that the new values are numbers in a column of 0 and 1, which
    are read as 0 or 1.
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
    def of(cls, evidence: Evidence, table: FeatureTable, seen: Seen) -> Cells:
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


def compare_table(evidence: Evidence, table: FeatureTable, seen: Seen) -> FeatureDrift:
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
        shift=(levels[1] - levels[0]) @ table.by_class,
        missing_before=missing[0],
        missing_now=missing[1],
        new_values=dict(seen.unseen.most_common()),
        vanished=_find_vanished(table, seen, n_old / (n_old + n_new)),
        within_other=dict(seen.inside.most_common()),
        grown=grown,
        misread=bool(np.any(seen.misread)),
    )


def _find_vanished(table: FeatureTable, seen: Seen, share: float) -> tuple[str, ...]:
    """The levels of training without a new row, if this is improbable by chance."""
    old = table.counts.sum(axis=1)
    gone = (old > 0) & (seen.own == 0) & (share**old * len(old) < GONE)
    return tuple(table.labels[v] for v in np.flatnonzero(gone))


def _find_grown(table: FeatureTable, seen: Seen, share: float) -> dict[str, int]:
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
