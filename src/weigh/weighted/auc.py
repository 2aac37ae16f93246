"""Exact AUC of the weighted totals, updated as weights change; and weights by gain ratio.

The total of a row is base + sum_j weight_j table_j[code_j].
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from scipy.special import entr

from weigh.arrays import Floats, Integers
from weigh.engine import Block, Coded, add_weights, link
from weigh.evidence import SplitScorer
from weigh.tally import Rows, Tally

LARGEST = np.iinfo(np.int64).max


@dataclass(frozen=True)
class ScoredRows:
    """Rows in memory, in files or on a cluster, with the tables that give their totals."""

    rows: Coded
    scorer: SplitScorer
    n_classes: int

    @property
    def tables(self) -> tuple[Floats, ...]:
        """Weights of evidence of each feature: split by level by total."""
        return self.scorer.tables


@dataclass(frozen=True)
class DistinctRows:
    """Distinct rows in memory: prior (`base`), code of each feature, weight in each class.

    Rows with the same codes have the same total under any weights, so they are stored once.
    `tables[j]` has one row per code of feature j, and one column, or with more than two classes one
    per class.
    """

    base: Floats
    codes: list[Integers]
    tables: list[Floats]
    counts: Floats


def collapse(scored: ScoredRows) -> DistinctRows:
    """Merge rows that belong to the same split and have equal entries in every table."""
    whole, scorer = scored.rows.here(), scored.scorer
    block = Block(whole.codes, whole.labels, whole.weight, whole.groups)
    tables, numbers = zip(*map(_merge, scorer.tables), strict=True)
    splits, parts = zip(*scorer.parts(block), strict=True)
    split = np.concatenate(splits)
    codes = [
        np.concatenate([number[at, part.codes[j]] for at, part in zip(splits, parts, strict=True)])
        for j, number in enumerate(numbers)
    ]
    labels = np.concatenate([part.labels for part in parts])
    weight = None if whole.weight is None else np.concatenate([part.weight for part in parts])
    first, number = _distinct([split, *(c for c, t in zip(codes, tables, strict=True) if t.any())])
    counts = Rows(labels, weight, scored.n_classes).count(number, len(first))
    return DistinctRows(scorer.prior[split[first]], [c[first] for c in codes], [*tables], counts)


def _merge(table: Floats) -> tuple[Floats, Integers]:
    """Distinct entries of a table, and the index of the entry of each split and level."""
    n_splits, n_levels, n_totals = table.shape
    flat = table.reshape(n_splits * n_levels, n_totals)
    distinct, number = np.unique(flat, axis=0, return_inverse=True)
    number = number.astype(np.min_scalar_type(len(distinct)))
    return distinct, number.reshape(n_splits, n_levels)


def _distinct(columns: list[Integers]) -> tuple[Integers, Integers]:
    """Position of the first row of each distinct combination, and each row's combination."""
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


class Ranking(Protocol):
    """Rows ranked under the current weights. Try a change, then accept it or try another."""

    auc: float

    def try_shift(self, j: int, by: float) -> float:
        """Return the AUC with `by` added to the weight of feature j."""

    def try_weights(self, weights: Floats) -> float:
        """Return the AUC under other weights."""

    def accept(self) -> None:
        """Make the last change that was tried the current state."""

    @property
    def scores(self) -> Floats:
        """Log odds of each row, or with more than two classes the probability of each class."""


def rank(distinct: DistinctRows, weights: Floats) -> Ranking:
    """Rank rows under the given weights."""
    kind = RankingOfTwo if distinct.counts.shape[1] == 2 else RankingOfMany
    return kind(distinct, weights)


class RankingOfTwo:
    """Two classes: rows sorted by their log odds.

    Changing one weight adds the same number to all rows of a level, so rows of a level keep their
    order. The new order is found by splitting the old one by level and merging the parts; rows are
    sorted only when all weights change at once.
    """

    def __init__(self, distinct: DistinctRows, weights: Floats) -> None:
        self.distinct = distinct
        self._level_starts = [
            np.concatenate([[0], np.cumsum(np.bincount(codes, minlength=len(table)))])
            for codes, table in zip(distinct.codes, distinct.tables, strict=True)
        ]
        n_rows = len(distinct.counts)
        self._state, *self._buffers = [
            (np.empty(n_rows), np.empty(n_rows, dtype=np.int32)) for _ in range(3)
        ]
        self.try_weights(weights)
        self.accept()

    def try_shift(self, j: int, by: float) -> float:
        """Split the order by level, shift each level, and merge."""
        from weigh.weighted import kernels

        places = self._level_starts[j][:-1].copy()
        (keys, rows), (other_keys, other_rows) = self._buffers
        table = by * self.distinct.tables[j][:, 0]
        kernels.part(*self._state, self.distinct.codes[j], table, places, keys, rows)
        runs = places[np.diff(self._level_starts[j]) > 0]
        if kernels.merge_runs(keys, rows, runs, other_keys, other_rows):
            self._buffers.reverse()
        return self._score()

    def try_weights(self, weights: Floats) -> float:
        """Compute and sort the log odds of all rows."""
        totals = add_up(self.distinct, weights)[:, 0]
        keys, rows = self._buffers[0]
        rows[:] = np.argsort(totals)
        np.take(totals, rows, out=keys)
        return self._score()

    def _score(self) -> float:
        from weigh.weighted import kernels

        self._tried = float(kernels.auc(*self._buffers[0], self.distinct.counts))
        return self._tried

    def accept(self) -> None:
        """Swap the buffer that holds the last change with the current state."""
        self._state, self._buffers[0] = self._buffers[0], self._state
        self.auc = self._tried

    @property
    def scores(self) -> Floats:
        """Log odds of each distinct row."""
        keys, rows = self._state
        scores = np.empty(len(keys))
        scores[rows] = keys
        return scores


class RankingOfMany:
    """More than two classes: the mean AUC over pairs of classes (Hand & Till 2001).

    For classes a and b, rows of both are ranked by the probability of a, and by that of b. These
    probabilities depend on all totals of a row, so every change needs a new sort.
    """

    def __init__(self, distinct: DistinctRows, weights: Floats) -> None:
        self.distinct = distinct
        sums = distinct.counts.sum(axis=0)
        self._pairs = np.outer(sums, sums)
        self._rows, classes = np.nonzero(distinct.counts)  # one entry per distinct row and class
        self._classes = classes.astype(np.min_scalar_type(len(sums)))
        self._weight = distinct.counts[self._rows, classes]
        self._accepted = distinct.base
        self.try_weights(weights)
        self.accept()

    def try_shift(self, j: int, by: float) -> float:
        """Add `by` times the table of feature j."""
        self._totals = self._accepted + (by * self.distinct.tables[j])[self.distinct.codes[j]]
        return self._score()

    def try_weights(self, weights: Floats) -> float:
        """Compute the totals of all rows."""
        self._totals = add_up(self.distinct, weights)
        return self._score()

    def _score(self) -> float:
        from weigh.weighted import kernels

        above = np.zeros(self._pairs.shape)
        for k, p in enumerate(link(self._totals, "softmax").T):
            keys = p[self._rows]
            rows = np.argsort(keys)
            kernels.count_above(keys[rows], rows, self._classes, self._weight, k, above[k])
        self._tried = mean_of_pairs(above / self._pairs)
        return self._tried

    def accept(self) -> None:
        """Make the totals of the last change the current state."""
        self._accepted, self.auc = self._totals, self._tried

    @property
    def scores(self) -> Floats:
        """Probability of each class for each distinct row."""
        return link(self._accepted, "softmax")


def mean_of_pairs(shares: Floats) -> float:
    """Mean over pairs of different classes, from a square table by class."""
    n = len(shares)
    return float((shares.sum() - np.trace(shares)) / (n * (n - 1)))


def add_up(distinct: DistinctRows, weights: Floats) -> Floats:
    """Totals of the distinct rows: one column, or with more than two classes one per class."""
    totals = distinct.base.copy()
    for weight, codes, table in zip(weights, distinct.codes, distinct.tables, strict=True):
        add_weights(totals, codes, weight * table)
    return totals


MIN_GAIN = 1e-12
"""Information gains below this, in nats, are rounding errors and count as 0."""


def gain_weights(tally: Tally) -> Floats:
    """Weights by gain ratio (Eq. 3): w_j = d G_j / (G_1 + ... + G_d); all 1 if every G is 0.

    >>> from weigh import EvidenceNB
    >>> from weigh.datasets import titanic
    >>> gain_weights(EvidenceNB().fit(titanic(), "Survived").evidence_.tally).round(2)
    array([0.39, 2.33, 0.28])
    """
    ratios = gain_ratios(tally)
    total = ratios.sum()
    return ratios * len(ratios) / total if total > 0 else np.ones(len(ratios))


def gain_ratios(tally: Tally) -> Floats:
    """Gain ratio of each feature (Quinlan 1993): G = F (H(C) - H(C|A)) / H(A).

    With `missing="level"`, missing is a level like any other and F = 1. With `missing="skip"`, the
    gain is computed on the rows where the feature was observed, F is their share of all rows, and
    the missing rows are one more group in H(A).
    """
    total = tally.class_counts.sum()
    return np.array(
        [_gain_ratio(t.counts, total if t.feature.skip_missing else 0.0) for t in tally.tables]
    )


def _gain_ratio(counts: Floats, total: float) -> float:
    by_level, known = counts.sum(axis=1), counts.sum()
    total = max(total, known)
    if known == 0:
        return 0.0
    gain = _entropy(counts.sum(axis=0)) - by_level @ _entropy(counts) / known
    if gain < MIN_GAIN:
        return 0.0
    return float(known / total * gain / _entropy(np.append(by_level, total - known)))


def _entropy(counts: Floats) -> Floats:
    """Entropy in nats, over the last axis."""
    total = counts.sum(axis=-1, keepdims=True)
    return np.asarray(entr(counts / np.where(total > 0, total, 1)).sum(axis=-1))
