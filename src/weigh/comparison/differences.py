"""Paired differences of learners or models on the same rows."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from weigh.arrays import Floats
from weigh.evidence.units import digits_of, spell
from weigh.folds import Split
from weigh.frames import row_weights
from weigh.layout import Grid, Shown, View, percent
from weigh.metrics import AUC, Scored
from weigh.metrics.inputs import Flags
from weigh.metrics.numbers import NAN, normal_quantile, plain
from weigh.metrics.ranking import Ranks, with_interval

BITS = "bits a row"
"""Unit of the log loss."""


def spell_loss(value: float, unit: str, sign: str = "") -> str:
    """Format a loss: bits with four decimal places, other losses with significant digits.

    >>> spell_loss(0.5, BITS), spell_loss(12345.678, "mean squared error", "+")
    ('0.5000', '+12,346')
    """
    return f"{value:{sign}.4f}" if unit == BITS else spell(value, digits_of(value), sign)


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


def paired(gap: Floats, weight: Floats, coverage: float) -> Difference:
    """Mean of the rows' differences, with its standard error; a weight of two is two rows."""
    n = float(weight.sum())
    value = float(weight @ gap) / n
    variance = float(weight @ (gap - value) ** 2) / (n - 1) / n if n > 1 else NAN
    return Difference.of(value, float(np.sqrt(variance)), coverage)


@dataclass(frozen=True, eq=False)
class PairRanking:
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
    def of(
        cls, splits: Sequence[Split], positive: Flags, p: Floats, weight: Floats | None
    ) -> PairRanking:
        """Compute it from the class of each row of the table and the hold-out predictions `p`."""
        weight = row_weights(weight, len(positive))
        parts, right, pairs, start = np.zeros(len(positive)), 0.0, 0.0, 0
        for _, held_out in splits:
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

    def subtract(self, other: PairRanking, coverage: float) -> Difference:
        """Subtract the AUC of another learner on the same folds."""
        error = _error(self.weight, self.parts - other.parts)
        return Difference.of(self.value - other.value, error, coverage)


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


@dataclass(frozen=True, eq=False)
class RowScores:
    """Losses of each row by name, "loss" first, and rankings of classes, for one learner."""

    rows: dict[str, Floats]
    rankings: tuple[PairRanking, ...] = ()

    @property
    def loss(self) -> Floats:
        """Loss of each row."""
        return self.rows["loss"]

    def subtract(self, best: RowScores, weight: Floats, coverage: float) -> dict[str, Difference]:
        """Paired differences of the losses from those of the best learner, by name."""
        return {
            name: paired(own - best.rows[name], weight, coverage) for name, own in self.rows.items()
        }


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

    @property
    @abstractmethod
    def findings(self) -> tuple[str, ...]:
        """Conclusions from the numbers, in sentences."""

    @abstractmethod
    def view(self) -> View:
        """The tables and sentences that are shown."""

    @abstractmethod
    def named(self, old: str, new: str) -> Self:
        """A copy that calls the models by other names, such as those of their files."""

    def _lay_out(self, about: str, rows: Sequence[tuple[str, ...]], *more: Grid) -> View:
        """A page whose first table has a column for each model, and one for their difference."""
        (old, _), (new, _) = self.met
        title = f"Challenge: {new} against {old}, {about}"
        head = ("", f"old: {old}", f"new: {new}", "new - old (error)")
        note = "Intervals have 95% coverage. Errors compare the models row by row."
        return View(title, (Grid(head, tuple(rows)), *more), self.findings, (note,))

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
            f"About {percent(round(share, 2))} of the rows were training rows of the {side} model "
            f"({name}): its numbers are too good. Use hold-out rows."
            for side, (name, share) in zip(("old", "new"), self.met, strict=True)
            if share
        )

    def to_dict(self) -> dict[str, Any]:
        """Plain data, ready for JSON; NaN and infinity become None."""
        return plain(self)  # type: ignore[no-any-return]

    def to_html(self) -> str:
        """Self-contained HTML page without scripts."""
        return self.view().to_page()
