"""Whether probabilities mean what they say, bin by bin."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from weigh.frames import Floats, Integers, build
from weigh.metrics.numbers import COVERAGE, check_coverage, clopper_pearson, read_matrix
from weigh.metrics.scored import Groups, Scored, shape_of

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
        """The root mean square, over bins, of rate less mean prediction (Carlos 2015)."""
        return float(np.sqrt(np.mean((self.rate - self.mean_prediction) ** 2)))

    @property
    def expected_calibration_error(self) -> float:
        """The mean, over rows, of how far the rate of their bin is from its mean prediction."""
        return float(np.average(np.abs(self.rate - self.mean_prediction), weights=self.weight))

    @property
    def largest_gap(self) -> float:
        """How far a bin's rate is from its mean prediction at the worst."""
        return float(np.abs(self.rate - self.mean_prediction).max())

    @property
    def weight_at_largest_gap(self) -> float:
        """The rows of that bin, or what they weigh."""
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
        """What the parts add up to."""
        return self.reliability - self.generalised_resolution + self.uncertainty

    @property
    def generalised_resolution(self) -> float:
        """Resolution, and what the predictions tell within bins."""
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
    """The Brier score as reliability, resolution and uncertainty, exactly.

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
        return _check_edges(read_matrix(bins, "bins"))
    whole = isinstance(bins, int | np.integer) and not isinstance(bins, bool)
    if not whole or bins < 1:
        raise ValueError(f"bins must be a number of at least 1 or ascending edges, got {bins!r}")
    n = int(bins)
    if strategy == "width":
        return np.arange(n + 1) / n
    inner = quantiles(groups.p, groups.weight, n)
    return np.unique(np.concatenate([[0.0], inner, [1.0]]))


def _check_edges(edges: Floats) -> Floats:
    if len(edges) < 2 or edges[0] != 0 or edges[-1] != 1 or not (np.diff(edges) > 0).all():
        raise ValueError(f"edges of bins must ascend from 0 to 1, got {edges.tolist()}")
    return edges


def quantiles(values: Floats, weight: Floats, n: int) -> Floats:
    """The n - 1 inner quantiles of distinct ascending values: k/n of the weight is up to each."""
    up_to = np.cumsum(weight)
    wanted = np.arange(1, n) * up_to[-1]
    return np.asarray(values[np.searchsorted(up_to * n, wanted, side="left")])


def _place(groups: Groups, edges: Floats) -> Integers:
    """The bin of each group, the upper end included."""
    return np.maximum(np.searchsorted(edges, groups.p, side="left") - 1, 0)


def _add_up(
    groups: Groups, place: Integers, parts: tuple[Floats, ...]
) -> tuple[Integers, list[Floats]]:
    """The bins that hold rows, and sums over each."""
    used, starts = np.unique(place, return_index=True)  # groups ascend, and so do their bins
    return used, [np.add.reduceat(part, starts) for part in parts]


def _spread(values: Floats, used: Integers, place: Integers) -> Floats:
    """A value per bin as one per group."""
    spread: Floats = values[np.searchsorted(used, place)]
    return spread
