"""Estimate weights of evidence from counts, of all rows or of each fold's training rows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np

from weigh.arrays import Floats, Integers
from weigh.bins import Cross
from weigh.engine import HELD_OUT, Block, Levels
from weigh.evidence.curve import BOUND
from weigh.evidence.feature_table import FeatureTable
from weigh.evidence.tables import Evidence, contrast, squeeze
from weigh.tally import Counts, Tally, smoothed_levels

Smoothing: TypeAlias = float | Literal["1/n", "zhang-sheng", "hong", "hong-1/n"]

PRINTED = ("zhang-sheng", "hong", "hong-1/n")
"""Corrections as printed in papers; with them P(v|c) does not sum to 1 over the levels."""


@dataclass(frozen=True)
class Added:
    """Pseudo-counts: `level` for each level of a class, `whole` for the class (None: their sum)."""

    level: float
    whole: float | None = None

    @classmethod
    def read(cls, smoothing: Smoothing, total: float, n_classes: int) -> Added:
        """Pseudo-counts of a smoothing, given the total weight of the rows.

        "zhang-sheng" is (n + 1)/(N_c + k), k the number of classes (Zhang & Sheng 2004). "hong"
        adds L to the numerator and 2 L to the denominator of P(c|v) (Hong et al. 2002), which is (n
        + L)/N_c in P(v|c) up to a factor common to all classes. L is 1, or 1/n for "hong-1/n".

        >>> Added.read("zhang-sheng", 100.0, 3)
        Added(level=1.0, whole=3.0)
        """
        level = rows_added(smoothing, total)
        if smoothing == "zhang-sheng":
            return cls(level, float(n_classes))
        return cls(level, 0.0 if smoothing in PRINTED else None)

    def norm(self, counts: Floats, n_levels: int) -> Floats:
        """The denominator of each class."""
        whole = self.level * n_levels if self.whole is None else self.whole
        return np.asarray(counts.sum(axis=0) + whole)


def weigh_tally(tally: Tally, smoothing: Smoothing, class_prior: Floats | None = None) -> Evidence:
    """Naive Bayes in one step: the prior and weights of evidence of a tally.

    w(v) = ln P(v|1)/P(v|0),  P(v|c) = (n_vc + s)/(N_c + s m)        (Ridgeway 2025, Eq. 1)

    m is the number of levels that occur or are declared. N_c is the weight of the rows of class c
    in which the feature was observed.
    """
    total = tally.class_counts.sum()
    added = Added.read(smoothing, total, len(tally.classes))
    counted = np.clip(tally.class_counts / total, BOUND, 1 - BOUND)
    rate = counted if class_prior is None else class_prior
    variances = _trigamma(tally.class_counts) if class_prior is None else np.zeros(len(rate))
    return Evidence(
        classes=tally.classes,
        class_counts=tally.class_counts,
        prior=squeeze(contrast(np.log(rate))),
        tables=tuple(weigh_counts(counts, added) for counts in tally.tables),
        assumed_rate=rate,
        prior_variances=variances,
    )


def rows_added(smoothing: Smoothing, total: float) -> float:
    """The pseudo-count s: a given number, 1, or one over the total weight of the rows."""
    if isinstance(smoothing, str):
        return 1.0 / total if smoothing.endswith("1/n") else 1.0
    return float(smoothing)


def weigh_counts(table: Counts, smoothing: float | Added) -> FeatureTable:
    """The weights of one feature, with posterior variances.

    A declared level without rows has the weight that results from smoothing. An interval or a
    special code without rows has weight 0.
    """
    added = smoothing if isinstance(smoothing, Added) else Added(smoothing)
    counts, seen, s = table.counts, smoothed_levels(table), added.level
    norm = added.norm(counts, int(seen.sum()))
    columns = contrast(log_shares(table, added))
    with np.errstate(invalid="ignore"):  # the difference of two infinite variances is NaN
        variances = np.where(seen[:, None], _trigamma(counts + s) - _trigamma(norm), 0.0)
    return FeatureTable(table.feature, counts, columns, np.maximum(variances, 0.0), s)


def log_shares(table: Counts, smoothing: float | Added) -> Floats:
    """Log share ln P(v|c) by level and class; 0 for levels not smoothed, or a single level."""
    seen = smoothed_levels(table)
    told = seen[:, None] & (seen.sum() > 1)  # a single level has no information
    return np.asarray(np.log(np.where(told, share_counts(table, smoothing), 1.0)))


def share_counts(table: Counts | FeatureTable, smoothing: float | Added) -> Floats:
    """Smoothed P(v|c) by level and class; values of levels that are not smoothed are undefined."""
    added = smoothing if isinstance(smoothing, Added) else Added(smoothing)
    counts, seen, s = table.counts, int(smoothed_levels(table).sum()), added.level
    norm = added.norm(counts, seen)
    share: Floats = (counts + s) / np.where(norm > 0, norm, 1)
    if s == 0:
        nothing_known = 1 / max(seen, 1)  # for a class without rows
        share = np.where(norm > 0, np.clip(share, BOUND, 1 - BOUND), nothing_known)
    return share


HALF = 0.5
"""Pseudo-count added to both classes of a level that has rows of one class only."""


def plain_shares(counts: Floats) -> Floats:
    """Unsmoothed P(v|c), as in credit scoring; a level with an empty cell gets half a row."""
    empty = np.where((counts == 0).any(axis=1, keepdims=True), HALF, 0.0)
    return np.asarray((counts + empty) / np.maximum(counts.sum(axis=0), HALF))


def plain_woe(counts: Floats) -> Floats:
    """Weight of evidence ln(P(v|1)/P(v|0)) from counts by level and class; 0 without rows.

    >>> plain_woe(np.array([[10.0, 30.0], [10.0, 10.0], [0.0, 0.0]])).round(3)
    array([ 0.405, -0.693,  0.   ])
    """
    shares = plain_shares(counts)
    return np.where(counts.any(axis=1), np.log(shares[:, 1] / shares[:, 0]), 0.0)


FEW = 256
"""Up to this many numbers, equal ones are not looked for."""


def _trigamma(x: Floats) -> Floats:
    """Trigamma function, the variance of the log of a gamma variable; NaN for an empty cell.

    trigamma(x) = 1/x^2 + 1/(x + 1)^2 + ..., which is Hurwitz's zeta(2, x).
    """
    from scipy.special import zeta  # not at start-up: scoring needs none

    known = np.where(x > 0, x, np.nan)
    if known.size <= FEW:
        return np.asarray(zeta(2.0, known))
    distinct, places = np.unique(known, return_inverse=True)
    return np.asarray(zeta(2.0, distinct)[places].reshape(x.shape))


@dataclass(frozen=True)
class SplitScorer:
    """Naive Bayes models of all splits, on the levels by which rows are coded.

    The total of a row is `prior[split]` plus `tables[j][split, level]` for each feature j; the
    level after the last means no level. `skips[j]` tells whether missing values of feature j have
    no level, and `known[split, class]` whether the class occurs in the split's training rows.
    `turns[turn, group]` is a split that scores the rows of a group, or -1: a row is scored once by
    each split that holds it out.
    """

    prior: Floats
    tables: tuple[Floats, ...]
    skips: tuple[bool, ...]
    known: Integers
    turns: Integers

    @classmethod
    def own(cls, model: Evidence) -> SplitScorer:
        """Score all rows with one model, on its own levels."""
        return cls._of([model], [Levels.own(model.tally)], np.zeros((1, 1), dtype=np.intp))

    @classmethod
    def held_out(
        cls, models: Sequence[Evidence], levels: Sequence[Levels], roles: Integers
    ) -> SplitScorer:
        """Score hold-out rows with the model of each split."""
        return cls._of(models, levels, _turns(roles == HELD_OUT))

    @classmethod
    def _of(
        cls, models: Sequence[Evidence], levels: Sequence[Levels], turns: Integers
    ) -> SplitScorer:
        by_split = [
            level.spread([table.padded for table in model])
            for model, level in zip(models, levels, strict=True)
        ]
        return cls(
            np.stack([model.prior_row for model in models]),
            tuple(np.stack(tables) for tables in zip(*by_split, strict=True)),
            tuple(feature.skip_missing for feature in models[0].features),
            np.array([model.class_counts > 0 for model in models]),
            turns,
        )

    def parts(self, block: Block) -> Iterator[tuple[Integers, Block]]:
        """Yield rows of a block together with the split that scores each row."""
        groups = block.groups
        if groups is None or self.turns.shape[1] == 1:
            groups = np.zeros(len(block), dtype=np.intp)
        for turn in self.turns:
            split = turn[groups]
            scored = split >= 0
            yield (split, block) if scored.all() else (split[scored], block.part(scored))


def _turns(held_out: Integers) -> Integers:
    """Splits that hold out each group, one per turn; -1 pads.

    >>> _turns(np.array([[True, False, True], [False, True, False]])).tolist()
    [[0, 1], [2, -1]]
    """
    turns = np.full((int(held_out.sum(axis=1).max()), len(held_out)), -1, dtype=np.intp)
    for group, row in enumerate(held_out):
        splits = np.flatnonzero(row)
        turns[: len(splits), group] = splits
    return turns


AGREE = -0.5
"""The effect counts as reversed below this correlation of fitted with counted weights."""
FAINT = 0.01
"""Minimum standard deviation of the weights in nats; for a scorecard at least one point, because
rounding alone may reverse less."""


def find_reversed(evidence: Evidence) -> list[FeatureTable]:
    """Tables of two classes whose effect reverses once the other features are included.

    The correlation over the training rows between the weights of a table and those of its own
    counts, ln P(v|1)/P(v|0), is below -0.5. Rows with missing values or special codes are left out,
    because they are not part of a trend. Tables whose weights hardly vary are left out too.
    """
    if len(evidence.classes) != 2 or evidence.estimates:
        return []
    units = evidence.units
    least = max(FAINT, 1 / abs(units.scale)) if units.are_points else FAINT
    return [table for table in evidence if _is_reversed(table, least)]


def _is_reversed(table: FeatureTable, least: float) -> bool:
    if isinstance(table.feature, Cross):
        return False
    feature = table.feature
    usual = slice(feature.n_intervals or len(feature.levels) - feature.has_missing)
    rows = table.counts[usual].sum(axis=1)
    if np.count_nonzero(rows) < 2:
        return False
    alone, own, share = (
        plain_woe(table.counts)[usual],
        table.by_class[usual, 0],
        rows / rows.sum(),
    )
    alone, own = alone - share @ alone, own - share @ own
    spread = np.sqrt(share @ own**2), np.sqrt(share @ alone**2)
    return bool(spread[0] > least and share @ (own * alone) < AGREE * spread[0] * spread[1])
