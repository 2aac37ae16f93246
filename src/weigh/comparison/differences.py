"""How far apart two learners are on the same rows, and which to choose."""

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
from weigh.metrics.numbers import NAN, reach_of
from weigh.metrics.ranking import Ranks, with_interval
from weigh.metrics.scored import Flags

if TYPE_CHECKING:
    from weigh.comparison.result import Entry
from abc import ABC, abstractmethod
from typing import Any

from weigh.layout import Shown, View, percent
from weigh.metrics.numbers import plain

BITS = "bits a row"
"""What the loss of probabilities is in."""


@dataclass(frozen=True, eq=False)
class Ranking:
    """The share of pairs of the same fold that are ranked rightly, and what each row adds to it.

    AUC = sum over folds of n_f m_f AUC_f / sum over folds of n_f m_f

    with n_f positives and m_f negatives in a fold; one without both has no pairs. The variance is
    the sum of DeLong's over folds, the parts of a row that is held out often being added up first.
    Without any pairs all is NaN; where a class has a weight of no more than 1 in a fold that
    counts, the error is.
    """

    value: float
    parts: Floats
    weight: Floats

    @classmethod
    def of(cls, task: Task, positive: Flags, p: Floats) -> Ranking:
        """From whether each row of the table is positive, and what is said of those held out."""
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
        """DeLong's."""
        return _error(self.weight, self.parts)

    def auc(self, coverage: float) -> AUC:
        """With its interval."""
        return with_interval(self.value, self.error, coverage)

    def error_of_difference(self, other: Ranking) -> float:
        """Of this AUC less that of another learner on the same folds."""
        return _error(self.weight, self.parts - other.parts)


def _parts(scored: Scored, ranks: Ranks) -> Floats:
    """What each row adds to the error of its fold's AUC."""
    groups, own = scored.groups, scored.positive
    shares = np.where(own, ranks.positive[scored.place], ranks.negative[scored.place])
    scale = np.where(own, _scale(groups.n_positive), _scale(groups.n_negative))
    return np.asarray((shares - ranks.value) * scale)


def _scale(n: float) -> float:
    """Squared and added up n times, 1/(n - 1): a variance of the mean of n rows."""
    return float(1 / np.sqrt(n * (n - 1))) if n > 1 else np.nan


def _error(weight: Floats, parts: Floats) -> float:
    return float(np.sqrt(weight @ parts**2))


@dataclass(frozen=True)
class Choice:
    """The name of a learner, or None, and a sentence."""

    name: str | None
    reason: str


def choose(
    entries: Sequence[Entry], base_loss: float, errors: float = 1.0, unit: str = BITS
) -> Choice:
    """The simplest of those that stand as well as the learner of least loss.

    Going up from the least loss these are the learners within so many standard errors of it, up to
    the first that is not: that a learner is worse in a noisy way speaks no more for it. Where the
    best is better than the base rate alone, so must they be. The error is that of the paired
    difference from the best. `entries` stand by loss.
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
    """A loss in bits with four decimal places, that of a number with three figures.

    >>> spell_loss(0.5, BITS), spell_loss(12345.678, "mean squared error", "+")
    ('0.5000', '+12,346')
    """
    return f"{value:{sign}.4f}" if unit == BITS else spell(value, digits_of(value), sign)


def tell_loss(value: float, unit: str, sign: str = "") -> str:
    """A loss with what it is in."""
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
    """How much larger a measure is than that of the best learner, row by row on the same rows.

    The standard error is that of the mean of the rows' differences. It leaves out that other
    training rows would have given other models.
    """

    value: float
    error: float
    low: float
    high: float

    @classmethod
    def of(cls, value: float, error: float, coverage: float) -> Difference:
        """With its interval."""
        reach = reach_of(coverage) * error
        return cls(value, error, value - reach, value + reach)


@dataclass(frozen=True)
class Differences:
    """From the learner of least loss; that of the AUC is NaN for more than two classes."""

    loss: Difference
    misclassification: Difference
    brier: Difference
    auc: Difference


@dataclass(frozen=True, eq=False)
class RowScores:
    """What each row contributes to the measures of a learner."""

    rankings: tuple[Ranking, ...]  # of the second of two classes, or of each of more
    loss: Floats
    wrong: Floats
    squares: Floats

    @classmethod
    def of(cls, task: Task, p: Floats) -> RowScores:
        """From the probabilities of the rows held out."""
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
    """One learner less the best."""

    def difference(mine: Floats, theirs: Floats) -> Difference:
        return paired(mine - theirs, task.row_weight, coverage)

    return Differences(
        difference(one.loss, best.loss),
        difference(one.wrong, best.wrong),
        difference(one.squares, best.squares),
        _of_auc(one.rankings, best.rankings, coverage),
    )


def paired(gap: Floats, weight: Floats, coverage: float) -> Difference:
    """The mean of rows' differences, with its standard error; a weight of two is two rows."""
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
    """A model in use and its challenger: `loss` is new less old, row by row."""

    loss: Difference

    @property
    @abstractmethod
    def unit(self) -> str:
        """What the loss is in."""

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
        """That rows were training rows of a model, in sentences."""
        return tuple(
            f"About {percent(round(share, 2))} of the rows were training rows of {name}: its "
            "numbers are too good. Use hold-out rows."
            for name, share in self.met
            if share
        )

    def to_dict(self) -> dict[str, Any]:
        """Plain data, ready for JSON; what is no number is None."""
        return plain(self)  # type: ignore[no-any-return]

    def to_html(self) -> str:
        """A page of its own, which needs no script."""
        return self.view().to_page()
