"""Paired differences of learners on the same rows, and the choice of one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import TYPE_CHECKING

import numpy as np

from weigh.comparison.run import Task, rank
from weigh.evidence import BOUND
from weigh.evidence.units import digits_of, spell
from weigh.frames import Floats
from weigh.metrics import AUC, Scored
from weigh.metrics.numbers import NAN, normal_quantile
from weigh.metrics.ranking import Ranks, with_interval
from weigh.metrics.scored import Flags

if TYPE_CHECKING:
    from weigh.comparison.result import Entry
from abc import ABC, abstractmethod
from typing import Any

from weigh.layout import Shown, View, percent
from weigh.metrics.numbers import plain

BITS = "bits a row"
"""Unit of the log loss."""


@dataclass(frozen=True, eq=False)
class Ranking:
    """AUC of pairs of rows within the same fold, and the part of each row in its variance.

    AUC = sum over folds of n_f m_f AUC_f / sum over folds of n_f m_f

    with n_f positives and m_f negatives in a fold; a fold with one class only has no pairs. The
    variance is the sum of DeLong's variances over folds. If a row is held out in several folds, its
    parts are added up first. Without any pairs everything is NaN. If a class has a weight of at
    most 1 in a fold with pairs, the error is NaN.
    """

    value: float
    parts: Floats
    weight: Floats

    @classmethod
    def of(cls, task: Task, positive: Flags, p: Floats) -> Ranking:
        """Compute it from the class of each row of the table and the hold-out predictions `p`."""
        weight = np.ones(len(positive)) if task.weight is None else task.weight
        parts, right, pairs, start = np.zeros(len(positive)), 0.0, 0.0, 0
        for _, held_out in task.splits:
            rows = np.flatnonzero(held_out)
            scored = Scored(positive[rows], p[start : start + len(rows)], weight[rows])
            start += len(rows)
            if not scored.groups.one_class:
                n = scored.groups.n_positive * scored.groups.n_negative
                ranks = Ranks.of(scored.groups)
                parts[rows] += n * _parts(scored, ranks)
                right, pairs = right + n * ranks.value, pairs + n
        if not pairs:
            return cls(np.nan, np.full(len(positive), np.nan), weight)
        return cls(right / pairs, parts / pairs, weight)

    @property
    def error(self) -> float:
        """DeLong's standard error of the AUC."""
        return _error(self.weight, self.parts)

    def auc(self, coverage: float) -> AUC:
        """AUC with its standard error and interval."""
        return with_interval(self.value, self.error, coverage)

    def error_of_difference(self, other: Ranking) -> float:
        """Standard error of this AUC minus that of another learner on the same folds."""
        return _error(self.weight, self.parts - other.parts)


def _parts(scored: Scored, ranks: Ranks) -> Floats:
    """Part of each row in the standard error of its fold's AUC."""
    groups, own = scored.groups, scored.positive
    shares = np.where(own, ranks.positive[scored.place], ranks.negative[scored.place])
    scale = np.where(own, _scale(groups.n_positive), _scale(groups.n_negative))
    return np.asarray((shares - ranks.value) * scale)


def _scale(n: float) -> float:
    """Factor 1/sqrt(n (n - 1)): the sum of squared scaled deviations is the variance of a mean."""
    return float(1 / np.sqrt(n * (n - 1))) if n > 1 else np.nan


def _error(weight: Floats, parts: Floats) -> float:
    return float(np.sqrt(weight @ parts**2))


@dataclass(frozen=True)
class Choice:
    """Name of the recommended learner, or None, and the reason in a sentence."""

    name: str | None
    reason: str


def choose(
    entries: Sequence[Entry], base_loss: float, errors: float = 1.0, unit: str = BITS
) -> Choice:
    """Choose the simplest learner whose loss is within `errors` standard errors of the lowest.

    `entries` are sorted by loss. Candidates are taken from the lowest loss up to the first learner
    that is not within the limit, so that a large standard error does not help a worse learner. The
    standard error is that of the paired difference from the best. If the best learner is better
    than the base rate, candidates must be too.
    """
    fitted = [entry for entry in entries if entry.differences is not None]
    if not fitted:
        return Choice(None, "None of the learners could be fitted; their errors are below.")
    best = fitted[0]
    limit = base_loss if best.loss < base_loss else np.inf
    near = [best, *takewhile(lambda entry: _is_near(entry, limit, errors), fitted[1:])]
    chosen = min(near, key=lambda entry: (rank(entry.estimator), entry.loss))
    reason = _reason(chosen, best, len(fitted), unit)
    if best.loss >= base_loss:
        alone = "base rate" if unit == BITS else "mean"
        reason += f" But none is of use: the {alone} alone has less."
    return Choice(chosen.name, reason)


def _is_near(entry: Entry, limit: float, errors: float) -> bool:
    assert entry.differences is not None
    loss = entry.differences.loss
    return loss.value <= errors * loss.error and entry.loss < limit


def spell_loss(value: float, unit: str, sign: str = "") -> str:
    """Format a loss: bits with four decimal places, other losses with significant digits.

    >>> spell_loss(0.5, BITS), spell_loss(12345.678, "mean squared error", "+")
    ('0.5000', '+12,346')
    """
    return f"{value:{sign}.4f}" if unit == BITS else spell(value, digits_of(value), sign)


def tell_loss(value: float, unit: str, sign: str = "") -> str:
    """Format a loss with its unit."""
    told = spell_loss(value, unit, sign)
    return f"{told} {unit}" if unit == BITS else f"{unit} {told}"


def _reason(chosen: Entry, best: Entry, n: int, unit: str) -> str:
    if n == 1:
        return f"{chosen.name} is the only learner that could be fitted."
    if chosen is best:
        return (
            f"{best.name} has the least loss, {tell_loss(best.loss, unit)}. No simpler learner is "
            "within one standard error of it."
        )
    assert chosen.differences is not None
    loss = chosen.differences.loss
    return (
        f"{chosen.name} is the simplest whose loss is within a standard error of the least, that "
        f"of {best.name}: {tell_loss(loss.value, unit, '+')}, with a standard error of "
        f"{spell_loss(loss.error, unit)}."
    )


@dataclass(frozen=True)
class Difference:
    """Difference of a measure from that of the best learner (or old model), paired by row.

    The standard error is that of the mean of the rows' differences. It does not include the
    variation of the models with their training rows.
    """

    value: float
    error: float
    low: float
    high: float

    @classmethod
    def of(cls, value: float, error: float, coverage: float) -> Difference:
        """Make a difference with its normal interval."""
        reach = normal_quantile(coverage) * error
        return cls(value, error, value - reach, value + reach)


@dataclass(frozen=True)
class Differences:
    """Differences from the learner with the lowest loss; AUC is NaN for more than two classes."""

    loss: Difference
    misclassification: Difference
    brier: Difference
    auc: Difference


@dataclass(frozen=True, eq=False)
class RowScores:
    """Loss, error and squared error of each row, and rankings, for one learner."""

    rankings: tuple[Ranking, ...]  # of the second of two classes, or of every class
    loss: Floats
    wrong: Floats
    squares: Floats

    @classmethod
    def of(cls, task: Task, p: Floats) -> RowScores:
        """Compute them from the probabilities of the hold-out rows."""
        codes = task.codes[task.held_out]
        own = p[np.arange(len(p)), codes]
        two = p.shape[1] == 2
        squares = (1 - own) ** 2 if two else (p**2).sum(axis=1) - 2 * own + 1
        ranked = [1] if two else range(p.shape[1])
        return cls(
            rankings=tuple(Ranking.of(task, task.codes == k, p[:, k]) for k in ranked),
            loss=task.by_row(-np.log2(np.clip(own, BOUND, 1 - BOUND))),
            wrong=task.by_row(((p[:, 1] > 0.5) if two else p.argmax(axis=1)) != codes),
            squares=task.by_row(squares),
        )


def subtract(task: Task, one: RowScores, best: RowScores, coverage: float) -> Differences:
    """Paired differences: one learner minus the best."""

    def difference(mine: Floats, theirs: Floats) -> Difference:
        return paired(mine - theirs, task.row_weight, coverage)

    return Differences(
        difference(one.loss, best.loss),
        difference(one.wrong, best.wrong),
        difference(one.squares, best.squares),
        _of_auc(one.rankings, best.rankings, coverage),
    )


def paired(gap: Floats, weight: Floats, coverage: float) -> Difference:
    """Mean of the rows' differences, with its standard error; a weight of two is two rows."""
    n = float(weight.sum())
    value = float(weight @ gap) / n
    variance = float(weight @ (gap - value) ** 2) / (n - 1) / n if n > 1 else NAN
    return Difference.of(value, float(np.sqrt(variance)), coverage)


def _of_auc(mine: tuple[Ranking, ...], theirs: tuple[Ranking, ...], coverage: float) -> Difference:
    if len(mine) > 1:
        return Difference(NAN, NAN, NAN, NAN)
    one, best = mine[0], theirs[0]
    return Difference.of(one.value - best.value, one.error_of_difference(best), coverage)


class Paired(Shown, ABC):
    """A model in use and its challenger: `loss` is new minus old, paired by row."""

    loss: Difference

    @property
    @abstractmethod
    def unit(self) -> str:
        """Unit of the loss."""

    @property
    @abstractmethod
    def met(self) -> Sequence[tuple[str, float | None]]:
        """The names of the models, and the estimated share of rows that each was fitted on."""

    @abstractmethod
    def view(self) -> View:
        """The tables and sentences that are shown."""

    @property
    def verdict(self) -> str:
        """Which model has the smaller loss, in a sentence."""
        value, error = self._tell(self.loss.value, "+"), self._tell(self.loss.error)
        gap = f"{value} {self.unit} (standard error {error})"
        if self.loss.low <= 0 <= self.loss.high or not np.isfinite(self.loss.error):
            return f"The losses do not differ significantly: {gap}, new less old."
        better = "new" if self.loss.value < 0 else "old"
        return f"The {better} model has the smaller loss: {gap}, new less old."

    def _tell(self, value: float, sign: str = "") -> str:
        return f"{value:{sign}.4f}"

    @property
    def warnings(self) -> tuple[str, ...]:
        """Warnings about rows that were training rows of a model, in sentences."""
        return tuple(
            f"About {percent(round(share, 2))} of the rows were training rows of {name}: its "
            "numbers are too good. Use hold-out rows."
            for name, share in self.met
            if share
        )

    def to_dict(self) -> dict[str, Any]:
        """Plain data, ready for JSON; NaN and infinity become None."""
        return plain(self)  # type: ignore[no-any-return]

    def to_html(self) -> str:
        """Self-contained HTML page without scripts."""
        return self.view().to_page()
