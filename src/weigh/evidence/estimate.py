"""Counts to weights of evidence, of all rows and of each fold's training rows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np

from weigh.bins import Cross
from weigh.engine import HELD_OUT, Block, Levels
from weigh.evidence.curve import BOUND
from weigh.evidence.feature_table import FeatureTable
from weigh.evidence.tables import Evidence, contrast, squeeze
from weigh.frames import Floats, Integers
from weigh.tally import Counts, Tally, smoothed_levels

Smoothing: TypeAlias = float | Literal["1/n", "zhang-sheng", "hong", "hong-1/n"]

PRINTED = ("zhang-sheng", "hong", "hong-1/n")
"""Corrections as papers print them; P(v|c) does not add up to 1 over the levels."""


@dataclass(frozen=True)
class Added:
    """Rows added to each level of a class, and to the class: None is those of all its levels."""

    level: float
    whole: float | None = None

    @classmethod
    def read(cls, smoothing: Smoothing, total: float, n_classes: int) -> Added:
        """What a smoothing means for rows of a total weight.

        "zhang-sheng" is (n + 1)/(N_c + k), k the number of classes (Zhang & Sheng 2004). "hong"
        adds L to the numerator and 2 L to the denominator of P(c|v) (Hong et al. 2002), which is
        (n + L)/N_c in P(v|c) but for a factor that classes share: L is 1, or one over the rows.

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

    m counts the levels that occur or are declared, N_c is the weight of class c where the feature
    was observed.
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
    """The s of the formula: a number, or one over the weight of all rows."""
    if isinstance(smoothing, str):
        return 1.0 / total if smoothing.endswith("1/n") else 1.0
    return float(smoothing)


def weigh_counts(table: Counts, smoothing: float | Added) -> FeatureTable:
    """The weights of one feature. A declared level without rows weighs what smoothing gives it.

    An interval or a special code without rows weighs nothing.
    """
    added = smoothing if isinstance(smoothing, Added) else Added(smoothing)
    counts, seen, s = table.counts, smoothed_levels(table), added.level
    norm = added.norm(counts, int(seen.sum()))
    columns = contrast(log_shares(table, added))
    with np.errstate(invalid="ignore"):  # two infinite variances: not known
        variances = np.where(seen[:, None], _trigamma(counts + s) - _trigamma(norm), 0.0)
    return FeatureTable(table.feature, counts, columns, np.maximum(variances, 0.0), s)


def log_shares(table: Counts, smoothing: float | Added) -> Floats:
    """Ln P(v|c) of each level and class; 0 of levels that smoothing leaves out, or of one alone."""
    seen = smoothed_levels(table)
    told = seen[:, None] & (seen.sum() > 1)  # one level alone tells nothing
    return np.asarray(np.log(np.where(told, share_counts(table, smoothing), 1.0)))


def share_counts(table: Counts | FeatureTable, smoothing: float | Added) -> Floats:
    """P(v|c) of each level and class; of levels that smoothing leaves out it means nothing."""
    added = smoothing if isinstance(smoothing, Added) else Added(smoothing)
    counts, seen, s = table.counts, int(smoothed_levels(table).sum()), added.level
    norm = added.norm(counts, seen)
    share: Floats = (counts + s) / np.where(norm > 0, norm, 1)
    if s == 0:
        nothing_known = 1 / max(seen, 1)  # a class without a single row here
        share = np.where(norm > 0, np.clip(share, BOUND, 1 - BOUND), nothing_known)
    return share


HALF = 0.5
"""Rows added to both counts of a level that has rows of one class only."""


def share_halves(counts: Floats) -> Floats:
    """Plain P(v|c), as credit scoring has it: a level with an empty cell has half a row added."""
    empty = np.where((counts == 0).any(axis=1, keepdims=True), HALF, 0.0)
    return np.asarray((counts + empty) / np.maximum(counts.sum(axis=0), HALF))


def weigh_halves(counts: Floats) -> Floats:
    """ln(P(v|1)/P(v|0)) of the counts of two classes by level; 0 of a level without rows.

    >>> weigh_halves(np.array([[10.0, 30.0], [10.0, 10.0], [0.0, 0.0]])).round(3)
    array([ 0.405, -0.693,  0.   ])
    """
    shares = share_halves(counts)
    return np.where(counts.any(axis=1), np.log(shares[:, 1] / shares[:, 0]), 0.0)


FEW = 256
"""Up to this many numbers are not worth sorting for those that are equal."""


def _trigamma(x: Floats) -> Floats:
    """The variance of the log of a gamma variable; NaN for an empty cell.

    trigamma(x) = 1/x^2 + 1/(x + 1)^2 + ..., which is Hurwitz's zeta(2, x).
    """
    from scipy.special import zeta  # not at start-up: scoring needs none

    known = np.where(x > 0, x, np.nan)
    if known.size <= FEW:
        return np.asarray(zeta(2.0, known))
    distinct, places = np.unique(known, return_inverse=True)
    return np.asarray(zeta(2.0, distinct)[places].reshape(x.shape))


@dataclass(frozen=True)
class Scorer:
    """Naive Bayes of each split, on the levels that rows are coded by.

    `prior[split]` is what a total starts from, `tables[j][split, level]` what feature j adds; the
    level after the last is none. `skips[j]` says whether a row without a level lacks an answer in
    feature j, and `known[split, class]` whether the split saw the class. `turns[turn, group]` is
    the split that scores the rows of a group, or -1: a row counts once for each split that holds
    it out.
    """

    prior: Floats
    tables: tuple[Floats, ...]
    skips: tuple[bool, ...]
    known: Integers
    turns: Integers

    @classmethod
    def own(cls, model: Evidence) -> Scorer:
        """One model for all rows, on its own levels."""
        return cls._of([model], [Levels.own(model.tally)], np.zeros((1, 1), dtype=np.intp))

    @classmethod
    def held_out(
        cls, models: Sequence[Evidence], levels: Sequence[Levels], roles: Integers
    ) -> Scorer:
        """One model for each split."""
        return cls._of(models, levels, _turns(roles == HELD_OUT))

    @classmethod
    def _of(cls, models: Sequence[Evidence], levels: Sequence[Levels], turns: Integers) -> Scorer:
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
        """Rows of a block, and the split that scores each."""
        groups = block.groups
        if groups is None or self.turns.shape[1] == 1:
            groups = np.zeros(len(block), dtype=np.intp)
        for turn in self.turns:
            split = turn[groups]
            scored = split >= 0
            yield (split, block) if scored.all() else (split[scored], block.part(scored))


def _turns(held_out: Integers) -> Integers:
    """The splits that hold each group out, one a turn.

    >>> _turns(np.array([[True, False, True], [False, True, False]])).tolist()
    [[0, 1], [2, -1]]
    """
    turns = np.full((int(held_out.sum(axis=1).max()), len(held_out)), -1, dtype=np.intp)
    for group, row in enumerate(held_out):
        splits = np.flatnonzero(row)
        turns[: len(splits), group] = splits
    return turns


AGREE = -0.5
"""A correlation of weights with those of the counts below which the effect reverses."""
FAINT = 0.01
"""Nats by which weights must vary over the rows; points of a card by one, which rounding may do."""


def find_reversed(evidence: Evidence) -> list[FeatureTable]:
    """Tables of two classes whose effect reverses once the other features are included.

    The correlation over the training rows between the weights of a table and those of its own
    counts, ln P(v|1)/P(v|0), is below -0.5. Rows whose value is missing or a special code do not
    count: they have no place in a trend. Weights that hardly vary are left out.
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
        weigh_halves(table.counts)[usual],
        table.by_class[usual, 0],
        rows / rows.sum(),
    )
    alone, own = alone - share @ alone, own - share @ own
    spread = np.sqrt(share @ own**2), np.sqrt(share @ alone**2)
    return bool(spread[0] > least and share @ (own * alone) < AGREE * spread[0] * spread[1])
