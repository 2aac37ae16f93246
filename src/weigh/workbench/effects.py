"""Performance of a model on the evaluation rows, fast enough to update after each change."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

from weigh.editing import NumberRows, loss_of
from weigh.evaluation import split_rows
from weigh.evaluation.numbers import find_bands
from weigh.evidence import Evidence, FeatureTable
from weigh.frames import Floats, Integers, Sample
from weigh.metrics import Scored, auc, reliability_table
from weigh.pages.numbers import draw_calibration
from weigh.pages.quality import draw_reliability


@dataclass(frozen=True)
class GroupEffect:
    """Measures of the model in a group of rows."""

    name: str
    rows: int
    observed: float
    mean_prediction: float
    above: float  # the share of rows whose probability is above the cut-off


@dataclass(frozen=True)
class Effects:
    """The measures of a model on the evaluation rows."""

    loss: float  # bits a row
    auc: float
    observed: float
    mean_prediction: float
    above: float
    groups: tuple[GroupEffect, ...]
    calibration: str  # a chart


@dataclass(frozen=True, eq=False)
class Judge:
    """The evaluation rows, their groups, and the cut-off of a two-class model."""

    rows: Any
    cut_off: float = 0.5
    by: str = ""
    groups: tuple[tuple[str, Integers], ...] = ()

    @property
    def sample(self) -> Sample:
        """The evaluation rows with their weights."""
        own: Sample = self.rows.sample
        return own

    def grouped(self, by: str, values: Any) -> Self:
        """Measure groups of rows by the values of a column; an empty name means no groups."""
        if not by:
            return replace(self, by="", groups=())
        every = np.arange(len(self.sample.labels))
        return replace(self, by=by, groups=(*split_rows(values, by, every, self.sample.weight),))


class ClassJudge(Judge):
    """Measures a two-class model."""

    def measure(self, totals: Totals, name: str = "now") -> Effects:
        """The measures of a model whose totals of these rows are known."""
        p, positive = totals.probability, self.sample.labels == 1
        rows = Scored(positive, p, self.sample.weight)
        both = bool(positive.any() and not positive.all())
        text = str(totals.evidence.class_names[1])
        return Effects(
            loss_of(totals.evidence, totals.values, self.sample),
            float(auc(rows).value) if both else float("nan"),
            *self._shares(p, positive, slice(None)),
            tuple(
                GroupEffect(label, len(places), *self._shares(p, positive, places))
                for label, places in self.groups
            ),
            str(draw_reliability(reliability_table(rows), text, name)),
        )

    def _shares(self, p: Floats, positive: Any, places: Any) -> tuple[float, float, float]:
        """The rate of the class, its mean prediction, and the share above the cut-off."""
        weight = None if self.sample.weight is None else self.sample.weight[places]
        every = positive[places], p[places], p[places] > self.cut_off
        observed, mean, above = (float(np.average(part, weights=weight)) for part in every)
        return observed, mean, above


@dataclass(frozen=True)
class NumberGroup:
    """The mean number and the mean estimate in a group of rows."""

    name: str
    rows: int
    observed: float
    mean_prediction: float


@dataclass(frozen=True)
class NumberEffects:
    """The measures of a regressor on the evaluation rows."""

    loss: float  # mean deviance
    rmse: float
    observed: float
    mean_prediction: float
    groups: tuple[NumberGroup, ...]
    calibration: str  # a chart


class NumberJudge(Judge):
    """Measures a regressor, which has no cut-off."""

    def measure(self, totals: Totals, name: str = "now") -> NumberEffects:
        """The measures of a model whose totals of these rows are known."""
        rows, weight = self.rows, self.sample.weights
        own = totals.values[:, 0]
        means = np.asarray(rows.family.mean(own + rows.offset))
        squared = np.average((rows.numbers - means) ** 2, weights=weight)
        bands = find_bands(means, rows.numbers, weight, 0.95)
        told = f"Rows in {len(bands)} bands by estimate ({name})."

        def shares(places: Any) -> tuple[float, float]:
            every = rows.numbers[places], means[places]
            observed, mean = (float(np.average(own, weights=weight[places])) for own in every)
            return observed, mean

        return NumberEffects(
            rows.deviance(own),
            float(np.sqrt(squared)),
            *shares(slice(None)),
            tuple(NumberGroup(text, len(places), *shares(places)) for text, places in self.groups),
            str(draw_calibration(bands, told)),
        )


def judge_of(rows: Any, cut_off: float) -> ClassJudge | NumberJudge:
    """The judge of a classifier's rows, or of a regressor's."""
    return NumberJudge(rows) if isinstance(rows, NumberRows) else ClassJudge(rows, cut_off)


@dataclass(frozen=True, eq=False)
class Totals:
    """The totals of the evaluation rows, kept by table, so a change recomputes one column only."""

    evidence: Evidence
    columns: tuple[tuple[FeatureTable, Floats], ...]
    values: Floats

    @classmethod
    def of(cls, evidence: Evidence, sample: Sample, before: Totals | None = None) -> Totals:
        """The totals of a model; tables that were there before keep their columns."""
        known = {id(table): column for table, column in (before.columns if before else ())}
        columns = tuple(
            (table, known[id(table)] if id(table) in known else _column(table, sample))
            for table in evidence
        )
        return cls(evidence, columns, _add(evidence, [column for _, column in columns], sample))

    @property
    def probability(self) -> Floats:
        """The probability of the second class."""
        return np.asarray(self.evidence.probabilities(self.values)[:, 1])


def _column(table: FeatureTable, sample: Sample) -> Floats:
    """The weight of each row's level."""
    placed = table.feature.read(sample.table)
    return np.asarray(table.padded[placed.levels][placed.codes])


def _add(evidence: Evidence, columns: list[Floats], sample: Sample) -> Floats:
    if evidence.attenuation is not None:  # the exponent depends on the answers of a row
        return evidence.total(sample.table)
    totals = evidence.prior_row + np.add.reduce(columns)
    if evidence.units.are_points:  # equal scores are ties, whatever the order of the sum
        start, scale = evidence.units.start, evidence.units.scale
        totals = (np.rint(start + scale * totals) - start) / scale
    return totals if evidence.recalibration is None else evidence.recalibration.apply(totals)
