"""BoostedNBRegressor: regression by projection onto classification."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, ClassVar, Self

import numpy as np
from scipy.special import logit
from sklearn.base import RegressorMixin
from sklearn.metrics import r2_score
from sklearn.utils import check_random_state

from weigh import engine
from weigh.arrays import Floats
from weigh.base import NumberEstimator, warn_columns
from weigh.boosted.projection import (
    BoostingRound,
    Estimate,
    Projection,
    explain_estimate,
    fit_scale,
    hold_out_loss,
    log_odds_below,
    log_odds_of,
    project,
)
from weigh.errors import warn_caller
from weigh.evidence import Evidence, FeatureTable, record, rows_added
from weigh.folds import Mask, check_folds, read_splits
from weigh.frames import Sample, Table, keep_reader, number_sample, read
from weigh.parameters import is_count, is_number
from weigh.sheet import EstimateSheet, refuse_classes
from weigh.tally import Tally, count_placed_soft

MAX_HOLD_OUT, ONE_FOLD_FROM = 2_000, 10_000
"""Largest number of hold-out rows used per fold; from the second number of rows, one fold is used.
"""

MIN_RISE, OUTLIER_RATIO = 1e-12, 20
"""Least increase of the curve per cell; a warning is given if the range of y exceeds that of its
middle 98% by more than the second factor."""

SIDES = np.array(["down", "up"])


@dataclass(kw_only=True, eq=False, repr=False)
class BoostedNBRegressor(RegressorMixin, NumberEstimator):
    """Boosted naive Bayes for a numeric target, as tables of weights that raise or lower it.

    The model is::

        ln P(y > s|x)/P(y <= s|x) = g(s) + w_1(x_1) + ... + w_d(x_d)

    Every s in the range of y gives a row (x, s) whose class is whether y is above s. Boosted naive
    Bayes, linearised, is fitted to all of them at once. The estimate is the smallest s at which
    "above" has at most even odds (Ridgeway, Madigan, Richardson & O'Kane 1998). One round has a
    closed form: the estimate is F^-1(sigmoid(sum_j w_j)), with F the distribution function of y.
    Estimates stay within the range of the training targets. `EducatedRegressor` is more accurate.

    Parameters
    ----------
    smoothing : float or "1/n", default=1.0
        Pseudo-count added to each level, above and below.
    bins : int, "fine" or dict, default=10
        Number of quantile bins, "fine" (about 128 levels, fewer with more than 16 columns), or a
        dict from column to one of these or to cut points.
    categorical_features, missing, special_values, max_levels, crosses
        As in `EvidenceNB`.
    n_rounds : int, default=10
        Largest number of rounds.
    early_stopping : bool, default=False
        Whether hold-out rows choose the number of rounds, by the loss of "above s" over all s.
    grid : int, default=100
        Number of cells of the range of y, with more than one round.
    y_range : (float, float), optional
        Range of y, instead of its smallest and largest value. Values beyond it count as its limits,
        so that one outlier does not make all other cells too coarse.
    calibrate_scale : bool, default=True
        Whether one number, fitted on hold-out rows, gives quantiles their right width.
    cv : int, splitter or iterable, default=5
        Folds of hold-out rows. From 10,000 rows one fold is enough, unless splits are given.
    random_state : int, RandomState or None
        Shuffles the folds.

    Attributes
    ----------
    evidence_ : Evidence
        The tables of weights; positive weights raise the estimate.
    scale_ : float
        Factor of the log odds in quantiles.
    errors_, alphas_ : ndarray
        Error and coefficient of each round that is kept.
    held_out_ : ndarray or None
        Loss in bits of hold-out rows after each round tried, with `early_stopping`. Saved models do
        not have it.
    hold_out_error_, hold_out_variance_, hold_out_slope_ : float or None
        Of hold-out rows: the mean of y - estimate, the variance of these errors, and the slope of a
        regression of y on the estimates, which `weigh.drift` compares with those of new rows. None
        without `calibrate_scale` and `early_stopping`.
    hold_out_rows_ : float or None
        Effective number of these hold-out rows: (sum of weights)^2 / sum of squared weights.
    n_features_in_ : int
        The number of columns.
    feature_names_in_ : ndarray of str
        Names of the columns, if the table has names.

    Examples
    --------
    >>> import numpy as np
    >>> from weigh import BoostedNBRegressor
    >>> X = np.arange(300.0).reshape(-1, 1) % 30
    >>> model = BoostedNBRegressor(random_state=0).fit(X, X[:, 0] ** 2)
    >>> round(model.score(X, X[:, 0] ** 2), 2)
    0.98
    """

    bins: Any = 10
    n_rounds: int = 10
    early_stopping: bool = False
    grid: int = 100
    y_range: Any = None
    calibrate_scale: bool = True
    cv: Any = 5
    random_state: Any = None

    _bodies = ("estimate",)
    _later_extras = ("hold_out_error_", "hold_out_variance_", "hold_out_slope_", "hold_out_rows_")
    _extras = ("scale_", "errors_", "alphas_", *_later_extras)
    held_out_: Floats | None = field(default=None, init=False)  # not saved

    no_classes: ClassVar[str] = (
        "estimates numbers by a curve of its total, which pages and exports do not support; fit "
        "EducatedRegressor instead, or BoostedNB for classes"
    )

    @property
    def evidence_(self) -> Evidence:
        """Weights of evidence; positive weights raise the estimate."""
        estimate: Any = super().evidence_
        return estimate.evidence  # type: ignore[no-any-return]

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit the model to a table.

        Parameters
        ----------
        X : table
            Any dataframe, array or list of dicts.
        y : array or str
            Numbers, or the name of their column in X.
        sample_weight : array or str, optional
            Row weights, or the name of their column in X.
        """
        self._check()
        sample, target = number_sample(read(X).to_learn_from(), y, sample_weight)
        low, high = self._range(target)
        tally = self._tally(sample)
        rows = self._project(sample, tally, np.clip(target, low, high), low, high)
        steps = project(rows, int(self.n_rounds)) if high > low else []
        steps = self._choose(rows, sample.kept, steps, (low, high))
        self.errors_ = np.array([step.error for step in steps])
        self.alphas_ = np.array([step.alpha for step in steps])
        estimate = _estimate(rows, steps, low, high, self.scale_)
        features = [counts.feature for counts in tally.tables]
        warn_columns(features, sample.table, categorical=self.categorical_features)
        self._name(sample.table.names, sample.table.named)
        self._keep(estimate.remember(sample.table.names, sample.table.backend))
        self.provenance_ = record(sample.table, y)
        return self

    def _check(self) -> None:
        self._check_bins()
        for name, least in (("n_rounds", 1), ("grid", 2)):
            value = getattr(self, name)
            if not (is_count(value) and value >= least):
                raise ValueError(f"{name} must be a whole number of {least} or more, got {value!r}")
        check_folds(self.cv, named=False)
        for name in ("early_stopping", "calibrate_scale"):
            if not isinstance(getattr(self, name), bool | np.bool_):
                raise ValueError(f"{name} must be True or False, got {getattr(self, name)!r}")

    def _range(self, target: Floats) -> tuple[float, float]:
        if self.y_range is None:
            low, high = float(target.min()), float(target.max())
            if not np.isfinite(high - low):
                raise ValueError(
                    f"y ranges from {low:g} to {high:g}, which is too wide for a grid; set y_range"
                )
            few, most = np.quantile(target, [0.01, 0.99])
            if high - low > OUTLIER_RATIO * (most - few) > 0:
                warn_caller(
                    f"y ranges from {low:g} to {high:g}, but 98% of it from {few:g} to {most:g}: "
                    "outliers make the grid too coarse; set y_range",
                    UserWarning,
                )
            return low, high
        given = [*self.y_range] if isinstance(self.y_range, Iterable) else []
        sound = len(given) == 2 and all(is_number(end) and np.isfinite(end) for end in given)
        if not (sound and given[0] < given[1]):
            raise ValueError(
                f"y_range must be two numbers in ascending order, got {self.y_range!r}"
            )
        low, high = map(float, given)
        if high <= target.min() or low >= target.max():
            reach = f"{target.min():g} to {target.max():g}"
            raise ValueError(
                f"y_range={self.y_range!r} must overlap the values of y, which range from {reach}"
            )
        return low, high

    def _project(
        self, sample: Sample, tally: Tally, target: Floats, low: float, high: float
    ) -> Projection:
        placed = engine.place(sample.table, [table.feature for table in tally.tables])
        scaled = (target - low) / (high - low) if high > low else np.zeros(len(target))
        return Projection(tally, placed, scaled, sample.weights, int(self.grid), self.smoothing)

    def _choose(
        self, rows: Projection, kept: Mask, steps: list[BoostingRound], ends: tuple[float, float]
    ) -> list[BoostingRound]:
        """Choose the number of rounds and the scale on hold-out rows."""
        self.scale_, self.held_out_ = 1.0, None
        self.__dict__.update(dict.fromkeys(self._later_extras))
        if not steps or not (self.calibrate_scale or self.early_stopping) or len(rows.target) < 2:
            return steps
        folds = self._hold_out(rows, kept)
        parts = [(test, own) for _, test, own in folds]
        if self.early_stopping:
            self.held_out_ = np.array([hold_out_loss(parts, t + 1) for t in range(len(steps))])
            steps = steps[: int(self.held_out_.argmin()) + 1]
        if self.calibrate_scale:
            self.scale_ = fit_scale(
                [(test, log_odds_of(test, own[: len(steps)])) for test, own in parts]
            )
        parted = [
            (_estimate(train, own[: len(steps)], *ends, 1.0), test) for train, test, own in folds
        ]
        self.__dict__.update(_measure_errors(parted, *ends))
        return steps

    def _hold_out(
        self, rows: Projection, kept: Mask
    ) -> list[tuple[Projection, Projection, list[BoostingRound]]]:
        """Training rows, hold-out rows, and rounds fitted to the training rows, of each fold."""
        n, random = len(rows.target), check_random_state(self.random_state)
        splits = read_splits(self.cv, np.zeros(n, dtype=np.intp), kept, random)
        parts = []
        for train, held_out in splits[:1] if n >= ONE_FOLD_FROM and is_count(self.cv) else splits:
            own = rows.take(train)
            steps = project(own, int(self.n_rounds))
            test = rows.take(random.permutation(np.flatnonzero(held_out))[:MAX_HOLD_OUT])
            parts.append((own, test, steps))
        return parts

    def predict(self, X: Any) -> Floats:
        """Estimate of each row: the smallest y that the target exceeds with at most even odds."""
        table = self._read(X)
        estimate: Estimate = self._learnt
        return estimate.read_off(estimate.total(table))

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """R2 of the estimates: 1 - squared error/squared error of predicting the mean of y.

        Parameters
        ----------
        X, y, sample_weight
            Rows, with their targets and weights, or the names of their columns in X.
        """
        X = keep_reader(X)
        sample, numbers = number_sample(read(X), y, sample_weight)
        return float(r2_score(numbers, self.predict(X)[sample.kept], sample_weight=sample.weight))

    def predict_quantile(self, X: Any, q: Any) -> Floats:
        """Quantile of each row: the smallest y that the target is at or below with probability q.

        Parameters
        ----------
        X : table
            Rows.
        q : float or list of float
            Between 0 and 1; 0.5 is `predict`. A list gives one column for each.
        """
        table = self._read(X)
        chances = q if isinstance(q, list | tuple | np.ndarray) else [q]
        if not all(is_number(chance) and 0 < chance < 1 for chance in chances):
            raise ValueError(f"q must be a number between 0 and 1, got {q!r}")
        estimate: Estimate = self._learnt
        totals = estimate.total(table)
        columns = [estimate.quantile(totals, float(logit(chance))) for chance in chances]
        return columns[0] if chances is not q else np.column_stack(columns)

    def _score_columns(self, table: Table) -> dict[str, Any]:
        """Estimate and 90% interval of every row, as columns."""
        low, high = (self.predict_quantile(table, q) for q in (0.05, 0.95))
        return {"estimate": self.predict(table), "low": low, "high": high}

    def _explain_case(self, row: Any, pos_label: Any, against: Any) -> EstimateSheet:
        refuse_classes("a regressor has no classes", pos_label, against)
        return self.balance_sheet(row)

    def balance_sheet(self, row: Any) -> EstimateSheet:
        """Explain the estimate of one case, in the unit of y.

        Parameters
        ----------
        row : mapping, sequence or table of one row
            The case. In a mapping, give None for an answer that is not known.
        """
        table = self._read_one(row, "a balance sheet")
        return explain_estimate(self._learnt, table, self._target)

    @property
    def _target(self) -> str:
        """What the numbers are called; empty if not known, or if a feature is called so."""
        known = getattr(getattr(self, "provenance_", None), "target", None) or ""
        return "" if known in self._column_names() else known

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.regressor_tags.poor_score = self.n_rounds == 1  # one round is plain naive Bayes
        return tags


def _measure_errors(
    parts: list[tuple[Estimate, Projection]], low: float, high: float
) -> dict[str, float]:
    """Statistics of the errors of hold-out rows, by the name of the attribute that stores them."""
    found = [own.read_off(test.total(own.evidence.tables)) for own, test in parts]
    estimates = np.concatenate(found)
    y = low + (high - low) * np.concatenate([test.target for _, test in parts])
    weight = np.concatenate([test.weight for _, test in parts])
    mean = float(np.average(y - estimates, weights=weight))
    centred = estimates - np.average(estimates, weights=weight)
    square = float(weight @ centred**2)
    slope = float(weight @ (centred * y)) / square if square > 0 else 1.0
    return {
        "hold_out_error_": mean,
        "hold_out_variance_": float(np.average((y - estimates - mean) ** 2, weights=weight)),
        "hold_out_slope_": slope,
        "hold_out_rows_": float(weight.sum() ** 2 / (weight @ weight)),
    }


def _estimate(
    rows: Projection, steps: list[BoostingRound], low: float, high: float, scale: float
) -> Estimate:
    """Sum the rounds into one table of weights per feature, and one curve."""
    above = np.column_stack([1 - rows.target, rows.target]) * rows.weight[:, None]
    tables = [
        FeatureTable(
            table.feature,
            count_placed_soft(table.feature, rows.placed[j], above).counts,
            np.asarray(sum(step.alpha * step.tables[j].by_class for step in steps))
            if steps
            else np.zeros((len(table.feature.levels), 1)),
            smoothing=rows_added(rows.smoothing, rows.weight.sum()),
        )
        for j, table in enumerate(rows.tally.tables)
    ]
    counts = above.sum(axis=0)
    rate = np.clip(counts / counts.sum(), 1e-10, 1 - 1e-10)
    evidence = Evidence(SIDES, counts, 0.0, tuple(tables), rate)
    if len(steps) < 2:
        points, levels = log_odds_below(low + (high - low) * rows.target, rows.weight)
        alpha = steps[0].alpha if steps else 1.0
        return Estimate(evidence, points, alpha * levels, True, scale)
    levels = np.maximum.accumulate(-np.asarray(sum(step.alpha * step.cells for step in steps)))
    levels += MIN_RISE * np.arange(rows.n_cells)  # so that ties give the smallest y
    ends = low + (high - low) * np.array([rows.target.min(), rows.target.max()])
    points = np.clip(np.linspace(low, high, rows.n_cells), *ends)
    return Estimate(evidence, points, levels, False, scale)
