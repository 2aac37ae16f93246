"""AdaBoost with naive Bayes: each round gives more weight to rows that were predicted badly."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, TypeAlias, TypeVar

import numpy as np
from scipy.special import expit

from weigh.arrays import Floats, Integers
from weigh.engine import (
    HELD_OUT,
    TRAIN,
    Block,
    Coded,
    Levels,
    PerBlock,
    Splits,
    Sums,
    side_by_side,
    sum_each,
)
from weigh.evidence import Evidence, weigh_tally
from weigh.tally import Tally

MIN_ERROR = 1e-10
"""Boosting ends if the error of a round falls below this."""

Found = TypeVar("Found")
Asking: TypeAlias = Generator[PerBlock, Sums, Found]


@dataclass(frozen=True)
class Round:
    """One boosting round: naive Bayes, its weighted error eps and its coefficient alpha."""

    evidence: Evidence
    error: float
    alpha: float

    @property
    def beta(self) -> float:
        """eps/(1 - eps)."""
        return self.error / (1 - self.error)


@dataclass(frozen=True)
class Ensemble:
    """Rounds as arrays that can be sent to workers: `tables[j][level, round]`."""

    priors: Floats
    alphas: Floats
    tables: tuple[Floats, ...]

    @classmethod
    def of(cls, rounds: Sequence[Round], levels: Levels) -> Ensemble:
        """Stack the rounds, on the levels by which rows are coded."""
        priors = np.array([part.evidence.prior_row[0] for part in rounds])
        alphas = np.array([part.alpha for part in rounds])
        if not rounds:
            return cls(priors, alphas, ())
        by_feature = zip(*(part.evidence for part in rounds), strict=True)
        tables = [np.column_stack([one.padded[:, 0] for one in each]) for each in by_feature]
        return cls(priors, alphas, tuple(levels.spread(tables)))

    def totals(self, block: Block, since: int = 0) -> Floats:
        """Log odds of each row in each round, from round `since` on."""
        from weigh import kernels

        totals = np.tile(self.priors[since:], (len(block), 1))
        for codes, table in zip(block.codes, self.tables, strict=True):
            kernels.add_many(totals, codes, table[:, since:])
        return totals


@dataclass(frozen=True)
class BinaryRows:
    """Coded rows as a problem of class `of` against the rest, with the levels of its tables.

    If `roles` is given, only rows with the given `role` (training or hold-out) in a split are used.
    """

    levels: Levels
    rows: Coded
    of: int
    smoothing: Any
    roles: Integers | None = None
    role: int = TRAIN

    def part(self, splits: Splits, k: int) -> tuple[BinaryRows, BinaryRows]:
        """Training rows and hold-out rows of split k, on its own levels."""
        train = replace(self, levels=splits.parts[k], roles=splits.roles[:, k])
        return train, replace(train, role=HELD_OUT)

    @property
    def selection(self) -> RowSelection:
        """Which rows are used, and which class is 1; can be sent to worker processes."""
        return RowSelection(self.of, self.roles, self.role)

    def learn(self, before: Ensemble, total: float | None) -> Asking[tuple[Evidence, float]]:
        """Fit naive Bayes with the weights after the rounds `before`; also return the weights' sum.

        For the fit, weights are rescaled to sum to `total`, their sum in the first round.
        """
        sizes = tuple(map(len, self.levels.places))
        *counts, classes = (yield RoundCounts(self.selection, before, sizes)).arrays
        weight = float(classes.sum())
        scale = 1.0 if total is None else total / weight
        tables = self.levels.gather([scale * counted for counted in counts])
        tally = Tally(np.arange(2), scale * classes, tables)
        return weigh_tally(tally, self.smoothing), weight

    def error(self, before: Ensemble, last: Ensemble) -> Asking[float]:
        """Weighted error of the round `last`."""
        missed, weight = (yield RoundError(self.selection, before, last)).arrays
        return float(missed / weight)

    @property
    def counter(self) -> PerBlock:
        """Statistic that counts the rows of the rest and of the class, ignoring weights."""
        return partial(count_rows, selection=self.selection)


@dataclass(frozen=True)
class RowSelection:
    """Which rows are used, and which class is 1."""

    of: int
    roles: Integers | None
    role: int

    def target(self, block: Block) -> Integers:
        """1 for the class, 0 for the rest."""
        return np.asarray((block.labels == self.of).view(np.uint8))

    def weights(self, block: Block) -> Floats:
        """Weight of each row; 0 for rows that are not used."""
        weight = block.weights
        if self.roles is None:
            return weight
        assert block.groups is not None
        return np.asarray(weight * (self.roles[block.groups] == self.role))

    def cut(self, block: Block) -> Block:
        """Block of the rows that are used."""
        if self.roles is None:
            return block
        assert block.groups is not None
        return block.part(np.flatnonzero(self.roles[block.groups] == self.role))

    def boosted_weights(self, block: Block, before: Ensemble) -> Floats:
        """Weights after the rounds `before`: w prod_t beta_t^(1 - |y - h_t|), times a constant."""
        weight = self.weights(block)
        if not len(before.alphas):
            return weight
        powers, done = np.zeros(len(block)), np.zeros(1, np.intp)
        if block.carry is not None:
            powers, done = block.carry.values, block.carry.done
        since = int(done[0])
        if since < len(before.alphas):
            missed = wrong_probability(before.totals(block, since), self.target(block))
            # Adding round by round gives bit-identical sums with and without `carry`.
            for t, alpha in enumerate(before.alphas[since:]):
                powers -= 2 * alpha * (1 - missed[:, t])
            done[0] = len(before.alphas)
        shift = before.alphas.sum()  # avoids underflow
        return np.asarray(weight * np.exp(powers + shift))


def wrong_probability(totals: Floats, target: Integers) -> Floats:
    """|y - h|, the probability of the wrong class; accurate also if h is close to 0 or 1."""
    sign = np.where(target == 1, -1.0, 1.0)
    return np.asarray(expit(sign[:, None] * totals))


def add_columns(weight: Floats, columns: Floats) -> Floats:
    """Weighted sum of each column; bit-identical whatever the other columns are."""
    return np.array([weight @ column for column in np.ascontiguousarray(columns.T)])


def count_rows(block: Block, selection: RowSelection) -> Sums:
    """Count the rows of the rest and of the class, ignoring weights."""
    counts = np.bincount(selection.target(selection.cut(block)), minlength=2)
    return Sums((counts.astype(np.float64),))


@dataclass(frozen=True)
class RoundCounts:
    """Statistic of a pass: weighted counts by level and class, and by class."""

    selection: RowSelection
    before: Ensemble
    sizes: tuple[int, ...]

    def __call__(self, block: Block) -> Sums:
        """Counts of a block."""
        from weigh import kernels

        weight = self.selection.boosted_weights(block, self.before)
        target = self.selection.target(block)
        counts = [np.zeros((size, 2)) for size in self.sizes]
        for codes, out in zip(block.codes, counts, strict=True):
            kernels.count_weighted(codes, target, weight, out)
        return Sums((*counts, np.bincount(target, weight, 2).astype(np.float64)))


@dataclass(frozen=True)
class RoundError:
    """Statistic of a pass: weighted error of the round `last`, and the sum of the weights."""

    selection: RowSelection
    before: Ensemble
    last: Ensemble

    def __call__(self, block: Block) -> Sums:
        """Sums over the rows of a block."""
        weight = self.selection.boosted_weights(block, self.before)
        missed = wrong_probability(self.last.totals(block), self.selection.target(block))[:, 0]
        return Sums((np.asarray(weight @ missed), np.asarray(weight.sum())))


def boost_all(parts: Sequence[BinaryRows], max_rounds: int) -> list[list[Round]]:
    """Run AdaBoost on each part: first all rows, then the folds with at most as many rounds.

    On this machine, rows keep the boosting state of one part from pass to pass, so parts run one
    after the other. On a cluster all parts share the passes.
    """
    rows = parts[0].rows
    if rows.carrying() is rows:
        return _run(rows, [boost(part, max_rounds) for part in parts])
    found: list[list[Round]] = []
    for part in parts:
        wanted = len(found[0]) if found else max_rounds
        found += _run(part.rows.carrying(), [boost(part, wanted)])
    return found


def _run(rows: Coded, searches: Sequence[Asking[list[Round]]]) -> list[list[Round]]:
    return side_by_side(searches, lambda asks: sum_each(rows, [*asks.values()]))


def boost(rows: BinaryRows, max_rounds: int) -> Asking[list[Round]]:
    """Run AdaBoost for at most `max_rounds` rounds.

    eps = sum w |y - h|,  beta = eps/(1 - eps),  w <- w beta^(1 - |y - h|),  alpha = 1/2 ln 1/beta

    Rounds end early if the error reaches one half or zero. If the first round does so, it is the
    whole model, with alpha 1. Weights are rescaled to their sum in the first round, so that a
    pseudo-count means the same number of rows in every round. A round takes two passes, because the
    next weights depend on its error.
    """
    found: list[Round] = []
    total: float | None = None
    for _ in range(max_rounds):
        before = Ensemble.of(found, rows.levels)
        evidence, weight = yield from rows.learn(before, total)
        total = weight if total is None else total
        last = Ensemble.of([Round(evidence, 0.0, 1.0)], rows.levels)
        error = yield from rows.error(before, last)
        if not MIN_ERROR <= error < 0.5:
            return found or [Round(evidence, error, 1.0)]
        alpha = 0.5 * np.log((1 - error) / error)
        found.append(Round(evidence, error, float(alpha)))
    return found


def linear(totals: Floats, alphas: Floats) -> Floats:
    """Linearised log odds after each round: cumulative sums of alpha_t total_t."""
    return np.cumsum(totals * alphas, axis=1)


def vote(totals: Floats, alphas: Floats) -> Floats:
    """Log odds of AdaBoost's h(x) after each round: cumulative sums of ln beta_t (1 - 2 P_t)."""
    return np.cumsum(2 * alphas * np.tanh(totals / 2), axis=1)


def cubic(totals: Floats, alphas: Floats) -> Floats:
    """First term that the linearisation leaves out: sum_t alpha_t total_t^3 / 12."""
    return np.asarray((totals**3 / 12) @ alphas)
