"""AdaBoost with probabilities: naive Bayes again and again, on rows that it got wrong so far."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, TypeAlias, TypeVar

import numpy as np
from scipy.special import expit

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
from weigh.frames import Floats, Integers
from weigh.tally import Tally

PERFECT = 1e-10
"""Below this error there is nothing left to learn from."""

Found = TypeVar("Found")
Asking: TypeAlias = Generator[PerBlock, Sums, Found]


@dataclass(frozen=True)
class Round:
    """One naive Bayes, its weighted error eps, and its voice alpha."""

    evidence: Evidence
    error: float
    alpha: float

    @property
    def beta(self) -> float:
        """eps/(1 - eps)."""
        return self.error / (1 - self.error)


@dataclass(frozen=True)
class Ensemble:
    """Rounds as arrays, which travel to where the rows are: `tables[j][level, round]`."""

    priors: Floats
    alphas: Floats
    tables: tuple[Floats, ...]

    @classmethod
    def of(cls, rounds: Sequence[Round], levels: Levels) -> Ensemble:
        """The rounds side by side, on the levels that rows are coded by."""
        priors = np.array([part.evidence.prior_row[0] for part in rounds])
        alphas = np.array([part.alpha for part in rounds])
        if not rounds:
            return cls(priors, alphas, ())
        by_feature = zip(*(part.evidence for part in rounds), strict=True)
        tables = [np.column_stack([one.padded[:, 0] for one in each]) for each in by_feature]
        return cls(priors, alphas, tuple(levels.spread(tables)))

    def totals(self, block: Block, since: int = 0) -> Floats:
        """The log odds of each row in each round, or in those since one."""
        from weigh import kernels

        totals = np.tile(self.priors[since:], (len(block), 1))
        for codes, table in zip(block.codes, self.tables, strict=True):
            kernels.add_many(totals, codes, table[:, since:])
        return totals


@dataclass(frozen=True)
class Rows01:
    """Rows of one class (`of`) against the rest, and the levels that are learnt on.

    Where folds were dealt, the rows are those that have a `role` in one split.
    """

    levels: Levels
    rows: Coded
    of: int
    smoothing: Any
    roles: Integers | None = None
    role: int = TRAIN

    def part(self, splits: Splits, k: int) -> tuple[Rows01, Rows01]:
        """The rows that a split learns from, and those that it holds out, on its own levels."""
        train = replace(self, levels=splits.parts[k], roles=splits.roles[:, k])
        return train, replace(train, role=HELD_OUT)

    @property
    def view(self) -> View:
        """How a statistic sees the rows."""
        return View(self.of, self.roles, self.role)

    def learn(self, before: Ensemble, total: float | None) -> Asking[tuple[Evidence, float]]:
        """Naive Bayes of the rows as the rounds before leave them, and the rows' weight.

        Weights are rescaled to their first sum, `total`.
        """
        sizes = tuple(map(len, self.levels.places))
        *counts, classes = (yield RoundCounts(self.view, before, sizes)).arrays
        weight = float(classes.sum())
        scale = 1.0 if total is None else total / weight
        tables = self.levels.gather([scale * counted for counted in counts])
        tally = Tally(np.arange(2), scale * classes, tables)
        return weigh_tally(tally, self.smoothing), weight

    def error(self, before: Ensemble, last: Ensemble) -> Asking[float]:
        """The weighted error of one more round."""
        missed, weight = (yield RoundError(self.view, before, last)).arrays
        return float(missed / weight)

    @property
    def counter(self) -> PerBlock:
        """How many rows there are of the rest and of the class, whatever they weigh."""
        return partial(count_rows, view=self.view)


@dataclass(frozen=True)
class View:
    """Which rows count, and which class is 1."""

    of: int
    roles: Integers | None
    role: int

    def target(self, block: Block) -> Integers:
        """1 for the class, 0 for the rest."""
        return np.asarray((block.labels == self.of).view(np.uint8))

    def weigh(self, block: Block) -> Floats:
        """The weight of each row; 0 for those that do not count."""
        weight = np.ones(len(block)) if block.weight is None else block.weight
        if self.roles is None:
            return weight
        assert block.groups is not None
        return np.asarray(weight * (self.roles[block.groups] == self.role))

    def cut(self, block: Block) -> Block:
        """The rows that count, alone."""
        if self.roles is None:
            return block
        assert block.groups is not None
        return block.part(np.flatnonzero(self.roles[block.groups] == self.role))

    def reweigh(self, block: Block, before: Ensemble) -> Floats:
        """Weights after some rounds: w product of beta_t^(1 - |y - h_t|), times one number."""
        weight = self.weigh(block)
        if not len(before.alphas):
            return weight
        powers, done = np.zeros(len(block)), np.zeros(1, np.intp)
        if block.carry is not None:
            powers, done = block.carry.values, block.carry.done
        since = int(done[0])
        if since < len(before.alphas):
            missed = miss(before.totals(block, since), self.target(block))
            for t, alpha in enumerate(before.alphas[since:]):  # as if each had been a pass
                powers -= 2 * alpha * (1 - missed[:, t])
            done[0] = len(before.alphas)
        shift = before.alphas.sum()  # which keeps it within range
        return np.asarray(weight * np.exp(powers + shift))


def miss(totals: Floats, target: Integers) -> Floats:
    """|y - h|, the probability of the other class: exact where h is as good as 0 or 1."""
    sign = np.where(target == 1, -1.0, 1.0)
    return np.asarray(expit(sign[:, None] * totals))


def add_columns(weight: Floats, columns: Floats) -> Floats:
    """The weighted sum of each column, to the same bits whatever columns stand beside it."""
    return np.array([weight @ column for column in np.ascontiguousarray(columns.T)])


def count_rows(block: Block, view: View) -> Sums:
    """Rows of the rest and of the class."""
    counts = np.bincount(view.target(view.cut(block)), minlength=2)
    return Sums((counts.astype(np.float64),))


@dataclass(frozen=True)
class RoundCounts:
    """The statistic that a round learns from: counts by level and class, and by class."""

    view: View
    before: Ensemble
    sizes: tuple[int, ...]

    def __call__(self, block: Block) -> Sums:
        """Count a block."""
        from weigh import kernels

        weight, target = self.view.reweigh(block, self.before), self.view.target(block)
        counts = [np.zeros((size, 2)) for size in self.sizes]
        for codes, out in zip(block.codes, counts, strict=True):
            kernels.count_weighted(codes, target, weight, out)
        return Sums((*counts, np.bincount(target, weight, 2).astype(np.float64)))


@dataclass(frozen=True)
class RoundError:
    """The statistic that judges a round: the weight that it misses, and all weight."""

    view: View
    before: Ensemble
    last: Ensemble

    def __call__(self, block: Block) -> Sums:
        """Judge a block."""
        weight = self.view.reweigh(block, self.before)
        missed = miss(self.last.totals(block), self.view.target(block))[:, 0]
        return Sums((np.asarray(weight @ missed), np.asarray(weight.sum())))


def boost_all(parts: Sequence[Rows01], most: int) -> list[list[Round]]:
    """The rounds of each part; of the others no more than of the first are wanted.

    Rows that carry nothing from pass to pass share their passes.
    """
    rows = parts[0].rows
    if rows.carrying() is rows:
        return _run(rows, [boost(part, most) for part in parts])
    found: list[list[Round]] = []
    for part in parts:
        wanted = len(found[0]) if found else most
        found += _run(part.rows.carrying(), [boost(part, wanted)])
    return found


def _run(rows: Coded, searches: Sequence[Asking[list[Round]]]) -> list[list[Round]]:
    return side_by_side(searches, lambda asks: sum_each(rows, [*asks.values()]))


def boost(rows: Rows01, most: int) -> Asking[list[Round]]:
    """At most so many rounds; they end where the error reaches one half, or nothing.

    eps = sum w |y - h|,  beta = eps/(1 - eps),  w <- w beta^(1 - |y - h|),  alpha = 1/2 ln 1/beta

    Weights are rescaled to their first sum, so that smoothing means rows in every round. A first
    round that ends it all is the model, with alpha 1. A round asks twice: its error must be known
    before rows can be weighed for the next.
    """
    found: list[Round] = []
    total: float | None = None
    for _ in range(most):
        before = Ensemble.of(found, rows.levels)
        evidence, weight = yield from rows.learn(before, total)
        total = weight if total is None else total
        last = Ensemble.of([Round(evidence, 0.0, 1.0)], rows.levels)
        error = yield from rows.error(before, last)
        if not PERFECT <= error < 0.5:
            return found or [Round(evidence, error, 1.0)]
        alpha = 0.5 * np.log((1 - error) / error)
        found.append(Round(evidence, error, float(alpha)))
    return found


def linear(totals: Floats, alphas: Floats) -> Floats:
    """The log odds after each round, linearised: cumulative sums of alpha_t times round t's."""
    return np.cumsum(totals * alphas, axis=1)


def vote(totals: Floats, alphas: Floats) -> Floats:
    """The log odds of AdaBoost's own h(x) after each round: sum of ln beta_t (1 - 2 P_t)."""
    return np.cumsum(2 * alphas * np.tanh(totals / 2), axis=1)


def cubic(totals: Floats, alphas: Floats) -> Floats:
    """The first term that the linearisation leaves out: sum of alpha_t total_t^3 / 12."""
    return np.asarray((totals**3 / 12) @ alphas)
