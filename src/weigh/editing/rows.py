"""Rows for measuring the loss of a model and refitting it, with their classes or numbers."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from weigh.arrays import Floats
from weigh.budget.quadratic import moments_of
from weigh.budget.small import SampleRows
from weigh.errors import Parameter, ParameterError
from weigh.evidence import BOUND, Evidence
from weigh.evidence.exposure import find_given, read_offset, spread_out
from weigh.frames import Sample, number_sample, read
from weigh.newton.regression import Family, Moments, refuse_outside
from weigh.sheet import total_variances


@dataclass(frozen=True, eq=False)
class ClassRows:
    """Rows with their classes; the loss is in bits per row."""

    sample: Sample
    loss_name: ClassVar[str] = "bits"

    @property
    def targets(self) -> Any:
        """The class of each row, by its index."""
        return self.sample.labels

    def loss(self, evidence: Evidence) -> float:
        """The log loss of a model, in bits per row."""
        return loss_of(evidence, evidence.total(self.sample.table), self.sample)

    def moments(self, evidence: Evidence, totals: Floats) -> Moments:
        """Loss in nats, slope and curvature of each row at its total."""
        return moments_of(evidence, totals, self.sample.labels, self.sample.weights)


@dataclass(frozen=True, eq=False)
class NumberRows:
    """Rows with their numbers and offsets; the loss is the mean deviance.

    `dispersion` is that of the model before all changes; the loss in nats is divided by it.
    """

    sample: Sample
    family: Family
    numbers: Floats
    offset: Floats
    dispersion: float
    loss_name: ClassVar[str] = "deviance"

    @property
    def targets(self) -> Any:
        """The number of each row, and what exposure and offset add to its total."""
        return np.column_stack([self.numbers, self.offset])

    @classmethod
    def read(
        cls, model: Any, X: Any, y: Any, sample_weight: Any = None, exposure: Any = None
    ) -> NumberRows:
        """Read the columns that a fitted EducatedRegressor uses, the target and the offset."""
        table = read(X)
        sample, numbers = number_sample(table, y, sample_weight)
        if not sample.table.named:
            raise ValueError("X has no column names, which edits need; pass a dataframe")
        refuse_outside(model._family, numbers, sample.target, model.family, sample.kept)
        given = find_given(model.evidence_, table.names, exposure)
        known = spread_out(given.get("exposure"), table.n_rows)
        offset = read_offset(model._family, model.family, table, known, given.get("offset"))
        own = model._match(sample.table).select(model._column_names())
        sample = replace(sample, table=own)
        return cls(sample, model._family, numbers, offset[sample.kept], float(model.dispersion_))

    def loss(self, evidence: Evidence) -> float:
        """The mean deviance of a model; for the gaussian family the mean squared error."""
        return self.deviance(evidence.total(self.sample.table)[:, 0])

    def deviance(self, totals: Floats) -> float:
        """The mean deviance of rows with these totals, without exposure and offset."""
        losses = 2 * self.family.losses(totals + self.offset, self.numbers)
        return float(np.average(losses, weights=self.sample.weights))

    def moments(self, evidence: Evidence, totals: Floats) -> Moments:
        """Loss in nats, slope and curvature of each row at its total."""
        weight = self.sample.weights / self.dispersion
        return self.family.moments(totals + self.offset[:, None], self.numbers, weight)

    @property
    def variance(self) -> float:
        """The variance of the target."""
        weight = self.sample.weights
        mean = np.average(self.numbers, weights=weight)
        return float(np.average((self.numbers - mean) ** 2, weights=weight))

    def disperse(self, before: Evidence, after: Evidence, spent: tuple[float, float]) -> float:
        """The dispersion after changes: multiplied by the growth of Pearson's statistic.

        The statistic is divided by the residual degrees of freedom, because the weights are fitted
        to these rows; `spent` are the effective degrees of freedom before and after. A changed
        gaussian model has no variances of its estimates: they are added to the dispersion.
        """
        known = 0.0
        if not self.family.power and after.covariance is None:
            variances = total_variances(before, self.sample.table)
            known = float(np.average(variances, weights=self.sample.weights))
        left = [max(len(self.numbers) - own, 1.0) for own in spent]
        grown = self._pearson(after) / self._pearson(before) * left[0] / left[1]
        return (self.dispersion + known) * grown

    def _pearson(self, evidence: Evidence) -> float:
        """Pearson's statistic per row: the mean of squared errors over the variance function."""
        means = self.family.mean(self._totals(evidence))
        errors = (self.numbers - means) ** 2 / means**self.family.power
        return float(np.average(errors, weights=self.sample.weights)) or 1.0

    def _totals(self, evidence: Evidence) -> Floats:
        return np.asarray(evidence.total(self.sample.table)[:, 0] + self.offset)


def read_rows(
    model: Any, X: Any, y: Any, sample_weight: Any = None, exposure: Any = None
) -> ClassRows | NumberRows:
    """Read the rows for a classifier or an EducatedRegressor; other models are an error."""
    if hasattr(model, "dispersion_"):
        return NumberRows.read(model, X, y, sample_weight, exposure)
    if exposure is not None:
        raise ParameterError(Parameter("exposure"), " is for regression only; leave it out")
    return ClassRows(SampleRows.read(model, X, y, sample_weight).sample)


def loss_of(evidence: Evidence, totals: Floats, sample: Sample) -> float:
    """The log loss of rows with these totals, in bits per row."""
    p = evidence.probabilities(totals)
    own = np.clip(p[np.arange(len(p)), sample.labels], BOUND, 1.0)
    return float(np.average(-np.log2(own), weights=sample.weight))
