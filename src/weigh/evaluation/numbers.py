"""Evaluation of a regressor: errors, calibration by decile, coverage of intervals."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import astuple, dataclass, replace
from typing import Any

import numpy as np

from weigh.arrays import Floats
from weigh.engine import one_blas_thread
from weigh.errors import Parameter, ParameterError
from weigh.evaluation.estimates import (
    Estimated,
    NumberGroup,
    deviances,
    find_bias,
    mean_of,
    measure_number_groups,
    rare_sum,
    slope_of,
)
from weigh.evaluation.findings import tell_other_target, tell_slope, tell_training_rows
from weigh.evaluation.groups import Band, Grouped, Grouping, split_bands, tell_off
from weigh.evidence.exposure import name_given, tell_exposure
from weigh.evidence.units import digits_of, spell
from weigh.layout import Grid, View, count_of, fold_rest, percent, share_of, tabulate
from weigh.metrics.numbers import NAN, Bounded, check_coverage

BANDS, STATED = 10, 0.9
"""Number of bands of rows by estimate; nominal coverage of the model's intervals to check."""


@dataclass(frozen=True, eq=False, repr=False)
class NumberEvaluation(Grouped):
    """Measures of a regressor on hold-out rows.

    Attributes
    ----------
    model, target : str
        The names of the model and of the target.
    n_rows : float
        The weight of the rows.
    rmse, mae : Bounded
        Root mean squared error and mean absolute error.
    spread : float
        The RMSE of predicting the mean of these rows.
    r2 : float
        1 - squared errors over those of predicting the mean of these rows.
    deviance, deviance_explained : float
        The mean deviance of the model's family, and the share that the model explains of the
        deviance without features: that of the mean or, with exposures, of one rate times the
        exposure of each row. For the gaussian family they are the squared RMSE and `r2`.
    mean_estimate, mean_observed : float
        Means over all rows.
    bias : Bounded
        Mean observed less mean estimate; the interval treats the estimates as fixed.
    slope : Bounded
        Slope of a regression of the target on the estimates, with a log link after their mean is
        corrected by a factor; 1 is ideal, and below 1 the estimates vary too much.
    covered : Bounded
        The share of rows inside the model's 90% intervals; NaN if it has none.
    bands : tuple of Band
        Ten bands of rows in ascending order of the estimates.
    exposed : str
        The name of the exposure, if each row has its own.
    by : str
        The name of the groups; empty if there are none.
    groups : tuple of NumberGroup
        Measures by the values of `by`.
    all_rows : NumberGroup or None
        The measures of `groups` for all rows together, if there are groups.
    exposure : str
        A sentence on the exposure of the estimates; empty for a model without exposure.
    training_rows : float or None
        Estimated share of rows that the model was fitted on; None if not known.
    note : str
        A note if the model was fitted to another target.
    """

    PART = "bands"

    model: str
    target: str
    n_rows: float
    rmse: Bounded
    mae: Bounded
    spread: float
    r2: float
    deviance: float
    deviance_explained: float
    mean_estimate: float
    mean_observed: float
    bias: Bounded
    slope: Bounded
    covered: Bounded
    bands: tuple[Band, ...]
    coverage: float
    exposure: str = ""
    training_rows: float | None = None
    exposed: str = ""
    by: str = ""
    groups: tuple[NumberGroup, ...] = ()
    all_rows: NumberGroup | None = None
    note: str = ""

    @property
    def findings(self) -> list[str]:
        """The main results, in sentences."""
        each = " per row" if self.exposed else ""
        said = [
            f"RMSE {self.rmse.spelled(self.spell)}; the mean alone has {self.spell(self.spread)}. "
            f"R2 {self.r2:.3f}. Mean absolute error {self.mae.spelled(self.spell)}.",
            f"Mean estimate{each} {self.spell(self.mean_estimate)}, mean observed{each} "
            f"{self.spell(self.mean_observed)}.",
            self._tell_bias(),
            self._tell_slope(),
        ]
        if self.has_deviance():
            said.append(self._tell_deviance())
        if self.covered.is_known():
            value, low, high = map(share_of, astuple(self.covered))
            said.append(f"{percent(STATED)} intervals contain {value} of rows ({low} to {high}).")
        said += [self.exposure, self.note, self._tell_biased()]
        return [*filter(None, [tell_training_rows(self.training_rows), *said])]

    def _tell_deviance(self) -> str:
        """A sentence on the deviance beside that of a model without features."""
        saved = self.deviance_explained
        side = f"{share_of(abs(saved))} {'less' if saved >= 0 else 'more'} than without features"
        return f"Mean deviance {self.deviance:.4g}{'' if np.isnan(saved) else f': {side}'}."

    def is_biased(self) -> bool:
        """Whether the mean estimate differs significantly from the mean observed."""
        return self.bias.has_interval() and not self.bias.holds(0)

    def _tell_bias(self) -> str:
        """A sentence on a significant bias of the mean estimate; empty if there is none."""
        if not self.is_biased():
            return ""
        side = "low" if self.bias.value > 0 else "high"
        sizes = sorted(map(abs, astuple(self.bias)))
        size = Bounded(sizes[1], sizes[0], sizes[2]).spelled(self.spell)
        each = " per row" if self.exposed else ""
        return f"The estimates are too {side} on average, by {size}{each}."

    def _tell_slope(self) -> str:
        """A sentence on the calibration slope, or the reason why there is none."""
        if not self.slope.is_known():
            return "Calibration slope not defined: equal predictions."
        said = "the estimates vary too much", "the estimates vary too little"
        if self.is_biased():
            return tell_slope(self.slope, *said, "the estimates vary by the right amount")
        return tell_slope(self.slope, *said)

    def _tell_biased(self) -> str:
        """A sentence about the groups whose mean estimate is biased, the largest group first."""
        unit = f", per unit of {self.exposed}" if self.exposed else ""
        biased = [
            f"{group.name} (estimate {self._mean(group.estimate)}, "
            f"observed {self._mean(group.observed)})"
            for group in sorted(self.groups, key=lambda group: -group.weight)
            if group.is_biased()
        ]
        what, tested = f"Groups with biased estimates{unit}", [group.bias for group in self.groups]
        return tell_off(what, biased, tested, self.coverage)

    def has_deviance(self) -> bool:
        """Whether the deviance belongs to a family other than the gaussian."""
        return abs(self.deviance_explained - self.r2) > 1e-9

    def spell(self, value: float) -> str:
        """A number in the unit of the target as text, with the digits that suit all rows."""
        return spell(value, digits_of(self.spread or self.mean_observed))

    def _mean(self, value: float) -> str:
        """A mean, or a rate per unit of exposure, as text with the digits that suit all rows."""
        if self.exposed and self.all_rows is not None:
            return spell(value, digits_of(self.all_rows.estimate))
        return self.spell(value)

    def view(self) -> View:
        """The measures as data for text and pages."""
        limits = f"{percent(self.coverage)} interval"
        columns = {
            "Rows": lambda band: f"{band.rows:,.0f}",
            "Estimate": lambda band: self.spell(band.estimate),
            "Observed": lambda band: self.spell(band.observed.value),
            limits: lambda b: f"{self.spell(b.observed.low)} to {self.spell(b.observed.high)}",
        }
        title = f"{self.model}: estimates of {self.target} ({count_of(self.n_rows, 'row')})"
        about = "Calibration: rows from the smallest to the largest estimates"
        grid = Grid(*tabulate(self.bands, columns), about)
        return View(title, fold_rest((grid, *self.show_groups())), tuple(self.findings))

    def group_columns(self) -> tuple[str, dict[str, Callable[[NumberGroup], str]]]:
        """Observed and estimated means, their ratio or difference, and errors by group."""
        assert self.all_rows is not None
        exposed, errors = digits_of(self.all_rows.exposure), digits_of(self.spread)
        bias, spell_bias = self._bias((*self.groups, self.all_rows))
        columns: dict[str, Callable[[NumberGroup], str]] = {
            "Rows": lambda group: f"{group.weight:,.6g}",
            self.exposed: lambda group: spell(group.exposure, exposed),
            "Observed": lambda group: self._mean(group.observed),
            "Estimate": lambda group: self._mean(group.estimate),
            bias: spell_bias,
            "RMSE": lambda group: spell(group.rmse, errors),
            "Deviance": lambda group: f"{group.deviance:.3g}",
        }
        left_out = {"", "" if self.has_deviance() else "Deviance"}
        unit = f" per unit of {self.exposed}" if self.exposed else ""
        shown = {head: cell for head, cell in columns.items() if head not in left_out}
        return f"Observed and estimated {self.target}{unit}", shown

    def _bias(self, lines: Sequence[NumberGroup]) -> tuple[str, Callable[[NumberGroup], str]]:
        """The column of ratios, or of differences if a group has no ratio."""
        interval = f"({percent(self.coverage)} interval)"
        if all(group.ratio.is_known() for group in lines):
            return f"Observed/estimate {interval}", lambda g: g.ratio.spelled("{:.2f}".format)
        return f"Observed - estimate {interval}", lambda g: g.difference.spelled(self._mean)


def evaluate_numbers(
    model: Any,
    X: Any,
    y: Any,
    sample_weight: Any,
    coverage: float,
    exposure: Any = None,
    by: Any = None,
) -> NumberEvaluation:
    """Evaluate a fitted regressor: one of this package, of scikit-learn, or a pipeline."""
    check_coverage(coverage)
    grouping = Grouping.of(X, by)
    rows = Estimated.of(model, X, y, sample_weight, exposure, grouping.names)
    found = evaluate_estimates(model, X, rows, coverage)
    note = tell_other_target(model, y)
    found = replace(found, note=note)
    if by is None:
        return found
    groups, whole = measure_number_groups(grouping, rows, coverage)
    return replace(found, by=grouping.name, groups=groups, all_rows=whole)


@one_blas_thread()  # rounding would depend on the number of threads
def evaluate_estimates(model: Any, X: Any, rows: Estimated, coverage: float) -> NumberEvaluation:
    """Evaluate the estimates of a regressor."""
    numbers, estimates, weight, total = rows.numbers, rows.means, rows.weight, rows.weight.sum()
    inside = _inside(model, X, rows)
    covered = Bounded(NAN)
    if inside is not None:
        covered = Bounded.share(float(weight @ inside), float(total), coverage)
    means = (estimates, rows.alone)
    deviance, base = (float(deviances(rows.power, numbers, m) @ weight / total) for m in means)
    spread = float((numbers - rows.mean) ** 2 @ weight / total)
    mse = mean_of((numbers - estimates) ** 2, weight, coverage)
    slope = slope_of(estimates, numbers, weight, rows.power)
    roots = [float(np.sqrt(max(value, 0.0))) for value in (mse.value, mse.low, mse.high)]
    return NumberEvaluation(
        model=type(model).__name__,
        target=rows.target,
        n_rows=float(total),
        rmse=Bounded(*roots),
        mae=mean_of(np.abs(numbers - estimates), weight, coverage),
        spread=float(np.sqrt(spread)),
        r2=1 - mse.value / spread if spread > 0 else NAN,
        deviance=deviance,
        deviance_explained=1 - deviance / base if base > 0 else NAN,
        mean_estimate=float(estimates @ weight / total),
        mean_observed=rows.mean,
        bias=find_bias(rows, coverage),
        slope=Bounded.student(*slope, total - 2, coverage),
        covered=covered,
        bands=find_bands(estimates, numbers, weight, coverage),
        coverage=coverage,
        exposure=tell_exposure(rows.given.get("exposure")),
        exposed="" if rows.exposure is None else name_given(rows.given["exposure"]) or "exposure",
    )


def refuse_exposure(exposure: Any) -> None:
    """Raise an error if a classifier is given an exposure."""
    if exposure is not None:
        raise ParameterError(Parameter("exposure"), " is for regression only; leave it out")


def refuse_times(times: Any) -> None:
    """Raise an error if a model other than a survival model is given times."""
    if times is not None:
        raise ParameterError(Parameter("times"), " are for survival models only; leave them out")


def estimates_numbers(model: Any) -> bool:
    """Whether a model is a regressor."""
    from sklearn.base import is_regressor

    if not hasattr(model, "predict") and not hasattr(model, "predict_proba"):
        raise TypeError(f"model must be a fitted model, got {type(model).__name__}")
    return not hasattr(model, "predict_proba") and is_regressor(model)


def _inside(model: Any, X: Any, rows: Estimated) -> Floats | None:
    """1 for each row inside the model's interval, 0 otherwise; None if it has no intervals."""
    numbers, kept, own = rows.numbers, rows.kept, rows.given
    if hasattr(model, "predict_interval"):
        low, high = model.predict_interval(X, STATED, **own)[kept].T
    elif hasattr(model, "predict_quantile"):
        low, high = model.predict_quantile(X, [(1 - STATED) / 2, (1 + STATED) / 2])[kept].T
    else:
        return None
    return np.asarray((low <= numbers) & (numbers <= high), dtype=np.float64)


def find_bands(
    estimates: Floats, numbers: Floats, weight: Floats, coverage: float
) -> tuple[Band, ...]:
    """Bands of about equal weight by estimate."""
    found, signed, rare = [], bool(numbers.min() < 0), rare_sum(numbers, weight, coverage)
    for rows in split_bands(estimates, weight, BANDS, 1e-9):
        own = weight[rows]
        observed = mean_of(numbers[rows], own, coverage, signed, rare)
        found.append(Band(float(own.sum()), float(estimates[rows] @ own / own.sum()), observed))
    return tuple(found)
