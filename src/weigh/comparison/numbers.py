"""Comparison of a regressor in use with its possible successor on the same rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from weigh.comparison.differences import Difference, Paired, paired
from weigh.evaluation.estimates import Estimated, name_loss, shared_power
from weigh.evaluation.findings import find_training_rows
from weigh.evaluation.numbers import NumberEvaluation, evaluate_estimates
from weigh.evidence.units import digits_of, spell
from weigh.layout import Grid, View, count_of, percent
from weigh.metrics import COVERAGE
from weigh.metrics.numbers import Bounded


@dataclass(frozen=True, eq=False, repr=False)
class NumberChallenge(Paired):
    """Two regressors on the same rows: paired differences, errors and calibration.

    Attributes
    ----------
    old, new : NumberEvaluation
        Evaluation of the model in use, and of its challenger.
    loss : Difference
        Mean loss of the new model minus that of the old one, with its standard error.
    absolute : Difference
        The difference of the mean absolute errors.
    measure : str
        Name of the loss: "squared error", or "deviance" if both models have the same family.
    training_rows : tuple
        The estimated share of rows that each model was fitted on; None if it is not known.
    """

    old: NumberEvaluation
    new: NumberEvaluation
    n_rows: float
    loss: Difference
    absolute: Difference
    measure: str
    training_rows: tuple[float | None, float | None]

    @property
    def unit(self) -> str:
        """Unit of the loss."""
        return f"in mean {self.measure}"

    @property
    def met(self) -> Sequence[tuple[str, float | None]]:
        """The names of the models, and the share of rows that each was fitted on."""
        return [*zip((self.old.model, self.new.model), self.training_rows, strict=True)]

    @property
    def findings(self) -> tuple[str, ...]:
        """Conclusions from the numbers, in sentences."""
        told = (self.old.exposure,) if self.old.exposure else ()
        return (self.verdict, *told, *self.warnings)

    def _tell(self, value: float, sign: str = "") -> str:
        return spell(value, digits_of(value), sign)

    def view(self) -> View:
        """The tables and sentences that are shown."""
        sides = (self.old, self.new)
        rows = [
            ("RMSE", *(self._range(s.rmse) for s in sides), ""),
            ("Mean absolute error", *(self._range(s.mae) for s in sides), self._gap(self.absolute)),
            (f"Mean {self.measure}", *self._losses, self._gap(self.loss)),
            ("Mean estimate", *(self._number(s.mean_estimate) for s in sides), ""),
            ("Calibration slope (1 is right)", *(f"{s.slope:.2f}" for s in sides), ""),
            ("Rows inside 90% intervals", *(_share(s.covered) for s in sides), ""),
        ]
        head = ("", f"old: {self.old.model}", f"new: {self.new.model}", "new - old (error)")
        title = (
            f"Challenge: {self.new.model} against {self.old.model}, estimates of "
            f"{self.old.target} ({count_of(self.n_rows, 'row')}, mean "
            f"{self._number(self.old.mean_observed)})"
        )
        note = "Intervals have 95% coverage. Errors compare the models row by row."
        return View(title, (Grid(head, tuple(rows)),), self.findings, (note,))

    @property
    def _losses(self) -> tuple[str, str]:
        """The mean loss of each model."""
        if self.measure == "deviance":
            return f"{self.old.deviance:.4g}", f"{self.new.deviance:.4g}"
        return f"{self.old.rmse.value**2:.4g}", f"{self.new.rmse.value**2:.4g}"

    def _gap(self, found: Difference) -> str:
        return f"{self._tell(found.value, '+')} ({self._tell(found.error)})"

    def _number(self, value: float) -> str:
        return spell(value, digits_of(self.old.spread or self.old.mean_observed))

    def _range(self, bounded: Bounded) -> str:
        value, low, high = map(self._number, (bounded.value, bounded.low, bounded.high))
        return f"{value} ({low} to {high})"


def _share(bounded: Bounded) -> str:
    return percent(round(bounded.value, 3)) if bounded.is_known() else "-"


def challenge_numbers(
    models: tuple[Any, Any], tables: tuple[Any, Any], y: Any, sample_weight: Any, exposure: Any
) -> NumberChallenge:
    """Compare two regressors that may need different tables of the same rows."""
    pairs = [*zip(models, tables, strict=True)]
    old, new = (Estimated.of(model, X, y, sample_weight, exposure) for model, X in pairs)
    power = shared_power((old.power, new.power), (old.means, new.means))
    sides = [
        evaluate_estimates(model, X, part, COVERAGE)
        for (model, X), part in zip(pairs, (old, new), strict=True)
    ]
    first, second = (find_training_rows(model, X) for model, X in pairs)
    errors = [np.abs(part.numbers - part.means) for part in (old, new)]
    return NumberChallenge(
        old=sides[0],
        new=sides[1],
        n_rows=float(old.weight.sum()),
        loss=paired(new.losses(power) - old.losses(power), old.weight, COVERAGE),
        absolute=paired(errors[1] - errors[0], old.weight, COVERAGE),
        measure=name_loss(power),
        training_rows=(first, second),
    )
