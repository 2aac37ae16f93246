"""The AUC of weighted scores, and what a move of one weight gains."""

from __future__ import annotations

from typing import Protocol

import numpy as np
from scipy.special import entr

from weigh.frames import Floats
from weigh.tally import Tally
from weigh.weighted.terms import Terms


class Ranking(Protocol):
    """Scores under some weights. A move is tried, and then kept or forgotten."""

    auc: float

    def shift(self, j: int, by: float) -> float:
        """The AUC if the weight of feature j were larger by so much."""

    def jump(self, weights: Floats) -> float:
        """The AUC if the weights were these."""

    def keep(self) -> None:
        """Make the last move that was tried the state."""

    @property
    def scores(self) -> Floats:
        """What the rows are ranked by: log odds, or the probability of each class."""


def rank(terms: Terms, weights: Floats) -> Ranking:
    """The ranking under some weights."""
    kind = RankingOfTwo if terms.counts.shape[1] == 2 else RankingOfMany
    return kind(terms, weights)


class RankingOfTwo:
    """Two classes: rows in the order of their log odds.

    A feature whose weight moves adds the same number to all rows of a level, so these keep their
    order: the new order is the old one, parted by level and merged again. Nothing is sorted, unless
    all weights move at once.
    """

    def __init__(self, terms: Terms, weights: Floats) -> None:
        self.terms = terms
        self._places = [
            np.concatenate([[0], np.cumsum(np.bincount(codes, minlength=len(table)))])
            for codes, table in zip(terms.codes, terms.tables, strict=True)
        ]
        n_rows = len(terms.counts)
        self._state, *self._buffers = [
            (np.empty(n_rows), np.empty(n_rows, dtype=np.int32)) for _ in range(3)
        ]
        self.jump(weights)
        self.keep()

    def shift(self, j: int, by: float) -> float:
        """Part the order by level, move each level, and merge."""
        from weigh.weighted import kernels

        places = self._places[j][:-1].copy()
        (keys, rows), (other_keys, other_rows) = self._buffers
        table = by * self.terms.tables[j][:, 0]
        kernels.part(*self._state, self.terms.codes[j], table, places, keys, rows)
        runs = places[np.diff(self._places[j]) > 0]
        if kernels.merge_runs(keys, rows, runs, other_keys, other_rows):
            self._buffers.reverse()
        return self._score()

    def jump(self, weights: Floats) -> float:
        """Score and sort anew."""
        totals = add_up(self.terms, weights)[:, 0]
        keys, rows = self._buffers[0]
        rows[:] = np.argsort(totals)
        np.take(totals, rows, out=keys)
        return self._score()

    def _score(self) -> float:
        from weigh.weighted import kernels

        self._tried = float(kernels.auc(*self._buffers[0], self.terms.counts))
        return self._tried

    def keep(self) -> None:
        """The buffer that holds the last move becomes the state, and the old state a buffer."""
        self._state, self._buffers[0] = self._buffers[0], self._state
        self.auc = self._tried

    @property
    def scores(self) -> Floats:
        """The log odds of each distinct row."""
        keys, rows = self._state
        scores = np.empty(len(keys))
        scores[rows] = keys
        return scores


class RankingOfMany:
    """More classes: the mean AUC over pairs of classes (Hand & Till 2001).

    For classes a and b, rows of both are ranked by the probability of a, and by that of b. These
    probabilities depend on all totals of a row, so that every move sorts anew.
    """

    def __init__(self, terms: Terms, weights: Floats) -> None:
        self.terms = terms
        sums = terms.counts.sum(axis=0)
        self._pairs = np.outer(sums, sums)
        self._rows, classes = np.nonzero(terms.counts)  # a row once for each class that has it
        self._classes = classes.astype(np.min_scalar_type(len(sums)))
        self._weight = terms.counts[self._rows, classes]
        self._held = terms.base
        self.jump(weights)
        self.keep()

    def shift(self, j: int, by: float) -> float:
        """Add a multiple of one table."""
        self._totals = self._held + (by * self.terms.tables[j])[self.terms.codes[j]]
        return self._score()

    def jump(self, weights: Floats) -> float:
        """Score anew."""
        self._totals = add_up(self.terms, weights)
        return self._score()

    def _score(self) -> float:
        from weigh.weighted import kernels

        above = np.zeros(self._pairs.shape)
        for k, p in enumerate(_softmax(self._totals).T):
            keys = p[self._rows]
            rows = np.argsort(keys)
            kernels.count_above(keys[rows], rows, self._classes, self._weight, k, above[k])
        shares = above / self._pairs
        n_classes = len(shares)
        self._tried = float((shares.sum() - np.trace(shares)) / (n_classes * (n_classes - 1)))
        return self._tried

    def keep(self) -> None:
        """The totals of the last move become the state."""
        self._held, self.auc = self._totals, self._tried

    @property
    def scores(self) -> Floats:
        """The probability of each class for each distinct row."""
        return _softmax(self._held)


def add_up(terms: Terms, weights: Floats) -> Floats:
    """The totals of the distinct rows, as columns."""
    from weigh import kernels

    totals = terms.base.copy()
    add = kernels.add_one if totals.shape[1] == 1 else kernels.add_many
    for weight, codes, table in zip(weights, terms.codes, terms.tables, strict=True):
        add(totals, codes, weight * table)
    return totals


def _softmax(totals: Floats) -> Floats:
    from weigh import kernels

    p = np.empty(totals.shape)
    kernels.softmax(totals, p)
    return p


SILENT = 1e-12
"""A gain below this, in nats, is rounding: the feature tells nothing."""


def gain_weights(tally: Tally) -> Floats:
    """w_j = d G_j / (G_1 + ... + G_d), with G the gain ratios (Eq. 3); all 1 where all G are 0.

    >>> from weigh import EvidenceNB
    >>> from weigh.datasets import titanic
    >>> gain_weights(EvidenceNB().fit(titanic(), "Survived").evidence_.tally).round(2)
    array([0.39, 2.33, 0.28])
    """
    ratios = gain_ratios(tally)
    total = ratios.sum()
    return ratios * len(ratios) / total if total > 0 else np.ones(len(ratios))


def gain_ratios(tally: Tally) -> Floats:
    """The gain ratio of each feature (Quinlan 1993).

    G = F (H(C) - H(C|A)) / H(A). Missing as a level is a level. Where missing is skipped, the gain
    is that of the rows where the feature was observed, F is their share of all rows, and the
    missing are one more group in H(A).
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
    if gain < SILENT:
        return 0.0
    return float(known / total * gain / _entropy(np.append(by_level, total - known)))


def _entropy(counts: Floats) -> Floats:
    """In nats, over the last axis."""
    total = counts.sum(axis=-1, keepdims=True)
    return np.asarray(entr(counts / np.where(total > 0, total, 1)).sum(axis=-1))
