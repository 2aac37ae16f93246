"""Rows as naive Bayes scores them, by tables that saw them or by tables that did not."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np

from weigh import engine
from weigh.bins import Placed
from weigh.evidence import Evidence, Smoothing, apply_exponent, attenuate, weigh_tally
from weigh.folds import Mask, Split
from weigh.frames import Floats, Integers, Sample
from weigh.tally import Rows, Tally, count_placed


@dataclass(frozen=True)
class Scores:
    """Naive Bayes of each row in two parts, its n, its class and its weight.

    Once they are known, what any k makes of a row is arithmetic.
    """

    prior: Floats
    weights: Floats
    n: Floats
    labels: Integers
    weight: Floats

    def __len__(self) -> int:
        return len(self.labels)

    def totals(self, k: float, form: str) -> Floats:
        """The totals after the exponent."""
        exponent = attenuate(k, form, self.n)[:, None]
        return apply_exponent(self.weights, self.prior, exponent, form)


@dataclass(frozen=True)
class Levels:
    """Rows of levels, which are found once."""

    sample: Sample
    tally: Tally
    placed: list[Placed]

    @classmethod
    def of(cls, sample: Sample, tally: Tally) -> Levels:
        """Read a sample."""
        return cls(sample, tally, engine.place(sample.table, [t.feature for t in tally.tables]))

    def count(self, rows: Mask) -> Tally:
        """The tally of some rows, on the levels of all."""
        some = _part(self.sample, rows)
        counter = Rows(some.labels, some.weight, len(some.classes))
        pairs = zip(self.tally.tables, self._take(rows), strict=True)
        tables = tuple(count_placed(table.feature, part, counter) for table, part in pairs)
        return Tally(some.classes, some.class_counts, tables)

    def add(self, naive: Evidence, rows: Mask) -> Floats:
        """The sums of weights of some rows, without the prior."""
        padded, nothing = [table.padded for table in naive], np.zeros(len(naive.prior_row))
        return engine.total_placed(self._take(rows), padded, nothing, int(rows.sum()))

    def _take(self, rows: Mask) -> list[Placed]:
        return [replace(part, codes=part.codes[rows]) for part in self.placed]


@dataclass(frozen=True)
class Documents:
    """Rows of counts."""

    sample: Sample

    def count(self, rows: Mask) -> Tally:
        """The tally of some rows."""
        some = _part(self.sample, rows)
        return engine.tally_counts(replace(some, table=some.table.rows(np.flatnonzero(rows))))

    def add(self, naive: Evidence, rows: Mask) -> Floats:
        """The sums of weights of some rows, without the prior."""
        table = self.sample.table.rows(np.flatnonzero(rows))
        nothing = np.zeros(len(naive.prior_row))
        return engine.total_counts(table, naive.tables[0].by_class, nothing)


Reader: TypeAlias = Levels | Documents


def _part(sample: Sample, rows: Mask) -> Sample:
    """Labels, weights and class counts of some rows; the table is still that of all."""
    labels = sample.labels[rows]
    weight = None if sample.weight is None else sample.weight[rows]
    counts = np.bincount(labels, weight, len(sample.classes)).astype(np.float64)
    return replace(sample, labels=labels, weight=weight, class_counts=counts)


def score_own(reader: Reader, naive: Evidence) -> Scores:
    """Every row scored by the tables of all rows."""
    every = np.ones(len(reader.sample.labels), dtype=np.bool_)
    return _score(reader, naive, every, naive.observed(reader.sample.table))


def score_held_out(
    reader: Reader, naive: Evidence, splits: Iterable[Split], smoothing: Smoothing
) -> Scores | None:
    """Rows held out, scored by tables of the others; None where there are no such rows.

    A row whose class has no other row left is not judged: its tables know nothing of its class.
    """
    n, labels, parts = naive.observed(reader.sample.table), reader.sample.labels, []
    for train, held_out in splits:
        tally = reader.count(train)
        judged = held_out & (tally.class_counts > 0)[labels]
        if judged.any():
            parts.append(_score(reader, weigh_tally(tally, smoothing), judged, n))
    return _join(parts) if parts else None


def _score(reader: Reader, naive: Evidence, rows: Mask, n: Floats) -> Scores:
    sample = reader.sample
    weights = reader.add(naive, rows)
    prior = np.broadcast_to(naive.prior_row, weights.shape)
    weight = np.ones(len(n)) if sample.weight is None else sample.weight
    return Scores(prior, weights, n[rows], sample.labels[rows], weight[rows])


def _join(parts: list[Scores]) -> Scores:
    names = ("prior", "weights", "n", "labels", "weight")
    return Scores(*(np.concatenate([getattr(part, name) for part in parts]) for name in names))
