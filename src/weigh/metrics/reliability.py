"""Calibration of probabilities: by bins, and as a regression of the outcome on the log odds.

The calibration line gives the slope and intercept that would calibrate the log odds.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.optimize import brentq
from scipy.special import expit, logit

from weigh.arrays import Floats, Integers
from weigh.frames import build, is_count
from weigh.metrics.inputs import Groups, Scored, shape_of
from weigh.metrics.numbers import COVERAGE, NAN, check_coverage, clopper_pearson, read_matrix
from weigh.newton.regression import DesignRows, fit_coefficients

STRATEGIES = ("width", "count")


@dataclass(frozen=True, eq=False)
class ReliabilityTable:
    """Bins of predictions, their mean, and the observed rate with its interval.

    Bins include their upper limit, (low, high]; the first also includes 0. Bins without rows are
    left out.
    """

    low: Floats
    high: Floats
    mean_prediction: Floats
    rate: Floats
    weight: Floats
    rate_low: Floats
    rate_high: Floats
    coverage: float = COVERAGE

    def __len__(self) -> int:
        return len(self.rate)

    @property
    def rmse(self) -> float:
        """Root mean square over bins of observed rate minus mean prediction (Carlos 2015)."""
        return float(np.sqrt(np.mean((self.rate - self.mean_prediction) ** 2)))

    @property
    def expected_calibration_error(self) -> float:
        """Mean over rows of the absolute difference of rate and mean prediction in their bin."""
        return float(np.average(np.abs(self.rate - self.mean_prediction), weights=self.weight))

    @property
    def largest_gap(self) -> float:
        """Largest absolute difference of observed rate and mean prediction in a bin."""
        return float(np.abs(self.rate - self.mean_prediction).max())

    @property
    def weight_at_largest_gap(self) -> float:
        """Weight of the rows in the bin with the largest difference."""
        return float(self.weight[np.abs(self.rate - self.mean_prediction).argmax()])

    def to_frame(self, backend: str | None = None) -> Any:
        """One row per bin, as an Arrow table or in another dataframe library."""
        names = ("low", "high", "mean_prediction", "rate", "weight", "rate_low", "rate_high")
        return build({name: getattr(self, name).tolist() for name in names}, backend)


@dataclass(frozen=True)
class BrierDecomposition:
    """The parts of the Brier score by bins (Stephenson, Coelho & Jolliffe 2008).

    Brier = reliability - resolution + uncertainty + within_variance - within_covariance
    """

    reliability: float
    resolution: float
    uncertainty: float
    within_variance: float
    within_covariance: float

    @property
    def brier(self) -> float:
        """Brier score, the sum of the parts."""
        return self.reliability - self.generalised_resolution + self.uncertainty

    @property
    def generalised_resolution(self) -> float:
        """Resolution, plus covariance minus variance of the predictions within bins."""
        return self.resolution - self.within_variance + self.within_covariance


def reliability_table(
    y_true: Any,
    y_prob: Any = None,
    bins: Any = 10,
    strategy: str = "width",
    *,
    coverage: float = COVERAGE,
    sample_weight: Any = None,
    pos_label: Any = None,
) -> ReliabilityTable:
    """Mean prediction and observed rate, bin by bin: the numbers of a reliability diagram.

    The intervals of the rates are those of Clopper & Pearson (1934), which have at least the stated
    coverage. The counts of a bin are sums of weights and need not be whole.

    Parameters
    ----------
    y_true : array or Scored
        True labels.
    y_prob : array of shape (n,) or (n, 2)
        Probability of the positive class; with two columns, the second.
    bins : int or array, default=10
        The number of bins, or their edges, ascending from 0 to 1.
    strategy : "width" or "count", default="width"
        Bins of equal width, or of equal weight as far as ties allow.
    coverage : float, default=0.95
        Coverage of the intervals.
    sample_weight : array, optional
        Row weights; a weight of two equals a row given twice, also in errors and intervals (see
        `effective_weight`).
    pos_label : label, optional
        Positive class. Default: the greater of two.

    Examples
    --------
    >>> from weigh.metrics import reliability_table
    >>> table = reliability_table([0, 0, 1, 1, 1], [0.1, 0.2, 0.2, 0.8, 0.9], bins=2)
    >>> table.mean_prediction.round(3), table.rate.round(3)
    (array([0.167, 0.85 ]), array([0.333, 1.   ]))
    """
    check_coverage(coverage)
    groups = Scored.read(y_true, y_prob, sample_weight, pos_label).groups
    edges = _edges(groups, bins, strategy)
    place = _place(groups, edges)
    used, sums = _add_up(groups, place, (groups.positives, groups.weight * groups.p, groups.weight))
    positives, said, weight = sums
    rate_low, rate_high = clopper_pearson(positives, weight, coverage)
    return ReliabilityTable(
        low=edges[used],
        high=edges[used + 1],
        mean_prediction=said / weight,
        rate=positives / weight,
        weight=weight,
        rate_low=rate_low,
        rate_high=rate_high,
        coverage=coverage,
    )


def brier_decomposition(
    y_true: Any,
    y_prob: Any = None,
    bins: Any = 10,
    strategy: str = "width",
    *,
    sample_weight: Any = None,
    pos_label: Any = None,
) -> BrierDecomposition:
    """Exact decomposition of the Brier score into reliability, resolution and uncertainty.

    Brier = REL - RES + UNC + WBV - WBC                  (Stephenson, Coelho & Jolliffe 2008)

    WBV and WBC are the variance of predictions, and twice their covariance with the outcome, within
    bins. Murphy's three terms alone add up only if each bin has a single prediction.

    Parameters
    ----------
    y_true, y_prob, bins, strategy, sample_weight, pos_label
        As in `reliability_table`.

    Examples
    --------
    >>> from weigh.metrics import brier, brier_decomposition
    >>> y, p = [0, 0, 1, 1, 1], [0.1, 0.2, 0.2, 0.8, 0.9]
    >>> parts = brier_decomposition(y, p, bins=2)
    >>> round(parts.brier, 12) == round(brier(y, p), 12)
    True
    """
    groups = Scored.read(y_true, y_prob, sample_weight, pos_label).groups
    place = _place(groups, _edges(groups, bins, strategy))
    used, sums = _add_up(groups, place, (groups.positives, groups.weight * groups.p, groups.weight))
    positives, said, weight = sums
    rate, mean = positives / weight, said / weight
    share, base = weight / groups.n, groups.base_rate
    gap = groups.p - _spread(mean, used, place)
    with_truth = gap * (groups.positives - groups.weight * _spread(rate, used, place))
    return BrierDecomposition(
        reliability=float(share @ (mean - rate) ** 2),
        resolution=float(share @ (rate - base) ** 2),
        uncertainty=base * (1 - base),
        within_variance=groups.mean(gap**2),
        within_covariance=2 * float(with_truth.sum()) / groups.n,
    )


def _edges(groups: Groups, bins: Any, strategy: str) -> Floats:
    if not isinstance(strategy, str) or strategy not in STRATEGIES:
        raise ValueError(f"strategy must be one of {STRATEGIES}, got {strategy!r}")
    if len(shape_of(bins, "bins")) == 1:
        edges = read_matrix(bins, "bins")
        if len(edges) < 2 or edges[0] != 0 or edges[-1] != 1 or not (np.diff(edges) > 0).all():
            raise ValueError(f"edges of bins must ascend from 0 to 1, got {edges.tolist()}")
        return edges
    if not is_count(bins) or bins < 1:
        raise ValueError(f"bins must be a number of at least 1 or ascending edges, got {bins!r}")
    n = int(bins)
    if strategy == "width":
        return np.arange(n + 1) / n
    inner = quantiles(groups.p, groups.weight, n)
    return np.unique(np.concatenate([[0.0], inner, [1.0]]))


def quantiles(values: Floats, weight: Floats, n: int) -> Floats:
    """Quantiles k/n, k = 1 to n - 1, of distinct ascending values with weights."""
    up_to = np.cumsum(weight)
    wanted = np.arange(1, n) * up_to[-1]
    return np.asarray(values[np.searchsorted(up_to * n, wanted, side="left")])


def _place(groups: Groups, edges: Floats) -> Integers:
    """Bin of each group; bins include their upper limit."""
    return np.maximum(np.searchsorted(edges, groups.p, side="left") - 1, 0)


def _add_up(
    groups: Groups, place: Integers, parts: tuple[Floats, ...]
) -> tuple[Integers, list[Floats]]:
    """Bins that contain rows, and the sums of some values over each."""
    used, starts = np.unique(place, return_index=True)  # groups are sorted, so bins are too
    return used, [np.add.reduceat(part, starts) for part in parts]


def _spread(values: Floats, used: Integers, place: Integers) -> Floats:
    """Copy the value of each bin to its groups."""
    spread: Floats = values[np.searchsorted(used, place)]
    return spread


MAX_WEIGHT_RATIO = 1e12
"""Largest allowed ratio of the weights at two probabilities; beyond, rounding loses the smaller."""


@dataclass(frozen=True)
class CalibrationLine:
    """Slope and intercept of a logistic regression of the outcome on the log odds, with errors.

    Slope 1 and intercept 0 are perfect. A slope below 1 means overconfident. `in_the_large` is the
    intercept at slope 1: above 0, predictions are too low on average.
    """

    slope: float
    intercept: float
    slope_error: float
    intercept_error: float
    in_the_large: float
    in_the_large_error: float


def calibration_line(
    y_true: Any, y_prob: Any = None, *, sample_weight: Any = None, pos_label: Any = None
) -> CalibrationLine:
    """Calibration slope and intercept: regress the outcome on the log odds (Cox 1958).

    The regression is::

        log odds of y = intercept + slope ln p/(1 - p)

    With the slope fixed at 1, the intercept is calibration in the large. Probabilities are kept
    within [1e-10, 1 - 1e-10]. Errors are those of maximum likelihood.

    If all rows have one class, everything is NaN. If all predictions are equal, slope and intercept
    are NaN. If a cut-off separates the classes perfectly, the slope is inf (-inf in the wrong
    direction) and the intercept NaN.

    Parameters
    ----------
    y_true : array or Scored
        True labels.
    y_prob : array of shape (n,) or (n, 2)
        Probability of the positive class; with two columns, the second.
    sample_weight : array, optional
        Row weights; a weight of two equals a row given twice, also in errors and intervals (see
        `effective_weight`).
    pos_label : label, optional
        Positive class. Default: the greater of two.

    Examples
    --------
    >>> from weigh.metrics import calibration_line
    >>> line = calibration_line([0, 1, 0, 1, 1], [0.2, 0.2, 0.7, 0.7, 0.7])
    >>> round(line.slope, 3), round(line.intercept, 3)
    (0.31, 0.43)
    """
    groups = Scored.read(y_true, y_prob, sample_weight, pos_label).groups
    nan = NAN
    if groups.one_class:
        return CalibrationLine(nan, nan, nan, nan, nan, nan)
    _check_spread(groups.weight)
    shift = _in_the_large(groups)
    totals = groups.log_odds + shift
    variance = expit(totals) * expit(-totals)  # p (1 - p), accurate far into the tails
    error = float(1 / np.sqrt(groups.weight @ variance))
    slope = _non_finite_slope(groups)
    if slope is not None:
        return CalibrationLine(slope, nan, nan, nan, shift, error)
    x = groups.log_odds
    centre = groups.mean(x)
    scale = np.sqrt(groups.mean((x - centre) ** 2))
    design = np.column_stack([np.ones(len(x)), (x - centre) / scale])
    rows = DesignRows(design, groups.positives / groups.weight, groups.weight)
    fit = fit_coefficients(rows, np.array([centre, scale]))
    back = np.array([[1.0, -centre / scale], [0.0, 1 / scale]])
    intercept, slope = back @ fit.b
    errors = np.sqrt(np.diag(back @ fit.covariance @ back.T))
    return CalibrationLine(
        slope=float(slope),
        intercept=float(intercept),
        slope_error=float(errors[1]),
        intercept_error=float(errors[0]),
        in_the_large=shift,
        in_the_large_error=error,
    )


def _check_spread(weight: Floats) -> None:
    """Raise an error if weights differ so much that rounding loses the smaller ones."""
    if weight.max() > MAX_WEIGHT_RATIO * weight.min():
        raise ValueError(
            f"sample_weight goes from {weight.min():g} to {weight.max():g}, too wide a range for a "
            f"calibration line; leave out rows below 1/{MAX_WEIGHT_RATIO:g} of the largest weight"
        )


def _in_the_large(groups: Groups) -> float:
    """Constant that, added to all log odds, makes the mean probability equal to the base rate."""
    x, aim = groups.log_odds, float(logit(groups.base_rate))

    def excess(shift: float) -> float:
        return groups.mean(expit(x + shift)) - groups.base_rate

    low, high = aim - x[-1] - 1e-9, aim - x[0] + 1e-9
    return float(brentq(excess, low, high, xtol=1e-13))


def _non_finite_slope(groups: Groups) -> float | None:
    """Slope if not finite: NaN for equal predictions, inf or -inf for separable classes."""
    x = groups.log_odds
    ones, zeros = x[groups.positives > 0], x[groups.negatives > 0]
    if x[0] == x[-1]:
        return NAN
    if ones[0] >= zeros[-1]:
        return float("inf")
    return float("-inf") if zeros[0] >= ones[-1] else None
