"""Prediction intervals for new rows, from leave-one-out errors of the training rows.

A row that is left out is like a new row, and leave-one-out predictions have a closed form. So the
quantiles of leave-one-out errors give intervals with the stated coverage, whatever the distribution
of the noise. With few rows, their scales are estimated again, too (`weigh.educated.uncertainty`):

    gaussian          error = (y - mean)/standard deviation of y - mean
    other amounts     error = (y - mean)/standard deviation of the family at that mean
    counts            none: the quantiles of a Poisson count, or of a negative binomial one whose
                      variance is the dispersion times the mean

The smallest of n errors has the probability 1/(n + 1), so n errors say nothing of the quantiles
below it. There, and above the largest error, quantiles are those of Student's t with n - effective
parameters degrees of freedom (at least one), and at least as far out as the last error:

    quantile(p) = min(t(p), smallest error)   for p < 1/(n + 1)

An interval for amounts leaves the same probability outside on either side. If its lower limit is
cut at zero, it covers more than stated. The quantiles of errors hold on average over all rows, so
the excess is not moved to the other side. For counts, each row has its own distribution. Counts are
discrete and not negative, so the probability below the lower limit may be smaller than its share;
the upper limit is the least count at which the interval reaches the stated coverage.

A row with unknown values has an uncertain mean. For gaussian noise, the variance of each unknown
table over the training rows is added to the variance. With a log link, the mean is the estimate
times a random factor of mean one. Each unknown table contributes the factors of its levels, with
their shares of the training rows, independently of the other tables. The distribution of such a row
is the mixture over these factors.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar, Protocol

import numpy as np
from scipy.special import stdtrit
from scipy.stats import nbinom, poisson

from weigh.arrays import Floats, Integers
from weigh.educated.fit import Fit
from weigh.educated.loo import ROWS, LeaveOneOut
from weigh.educated.numbers import NumberTarget, split
from weigh.educated.scales import degrees_of_freedom
from weigh.educated.uncertainty import shift_totals
from weigh.engine import Block
from weigh.errors import warn_caller
from weigh.evidence import Evidence, FeatureTable
from weigh.formula import Spread
from weigh.frames import Table
from weigh.parameters import is_number
from weigh.sheet import find_positions, total_variances

GRID: Floats = np.linspace(0.0, 1.0, 401)
"""Probabilities at which quantiles of errors are stored."""
ENDS = 0.5 / (len(GRID) - 1)
"""The probability of the outermost quantiles that are stored, which are finite."""

FACTORS = 40
"""Number of equally likely factors that approximate the distribution of an uncertain mean."""

ROWS_AT_ONCE = 4096
STEPS, PRECISE = 200, 1e-10


def error_quantiles(fit: Fit, block: Block, known: bool) -> Floats:
    """Quantiles of leave-one-out errors at the probabilities of `GRID`; empty for counts.

    `known` says whether the variances of the means of new rows will be known.
    """
    target = fit.state.problem.target
    assert isinstance(target, NumberTarget)
    if target.counts:
        return np.zeros(0)
    every = slice(None, None, -(-len(block) // ROWS))
    some = block.part(every)
    told = LeaveOneOut.of(fit.state).left_out(some, every)
    numbers, own = split(some.labels)
    totals = told.totals[:, 0] + shift_totals(fit.state, some, fit.search.noise)
    means, power = target.family.mean(totals), target.family.power
    variances = fit.search.noise * means**power / own
    if not power:
        variances = fit.search.noise * (1 + known * told.variances[:, 0])
    quantiles = weigh_quantiles((numbers - means) / np.sqrt(variances), some.weight)
    n_rows = len(numbers) if some.weight is None else float(some.weight.sum())
    if n_rows + 1 >= 1 / ENDS:  # spares the degrees of freedom of a large model
        return quantiles
    return widen_tails(quantiles, n_rows, target.n_rows - degrees_of_freedom(fit.state))


def widen_tails(quantiles: Floats, n_rows: float, n_free: float) -> Floats:
    """Quantiles of errors at `GRID`. Beyond the observed errors, the tails are Student's t.

    Errors are in standard deviations that are estimated with `n_free` degrees of freedom.

    >>> none = np.zeros(len(GRID))  # two rows without error
    >>> error_interval(widen_tails(none, 2, 1), 0.9)
    (-6.31..., 6.31...)
    """
    chance = np.clip(GRID, ENDS, 1 - ENDS)
    tails = stdtrit(max(n_free, 1.0), chance)
    first, last = 1 / (n_rows + 1), n_rows / (n_rows + 1)
    low = np.where(chance < first, np.minimum(tails, quantiles), quantiles)
    return np.asarray(np.where(chance > last, np.maximum(tails, quantiles), low))


def warn_lone_row(target: NumberTarget, n_rows: int) -> None:
    """Warn if the noise cannot be estimated: counts have that of their distribution."""
    if not target.counts and n_rows < 2:
        warn_caller(
            "the noise of one row is not known, so prediction intervals have almost no width. Fit "
            "at least 2 rows, better 20",
            UserWarning,
        )


def weigh_quantiles(values: Floats, weight: Floats | None) -> Floats:
    """Quantiles of values at the probabilities of `GRID`.

    The k-th smallest of n values has probability k/(n + 1). A value of weight two counts as that
    value twice.
    """
    order = np.argsort(values, kind="stable")
    rows = np.ones(len(values)) if weight is None else weight[order]
    last = np.cumsum(rows)
    first = last - rows + np.minimum(rows, 1.0)
    places = np.column_stack([first, last]).ravel() / (last[-1] + 1)
    return np.interp(GRID, places, np.repeat(values[order], 2))


def error_interval(quantiles: Floats, coverage: float) -> tuple[float, float]:
    """The interval of errors that covers a new row's error with the stated probability."""
    low, high = np.interp([(1 - coverage) / 2, (1 + coverage) / 2], GRID, quantiles)
    return float(low), float(high)


class Law(Protocol):
    """A distribution of numbers of 0 or more, given its mean.

    `step` is the distance between possible values; 0 for a continuous distribution.
    """

    step: ClassVar[float]

    def quantile(self, probability: Floats, mean: Floats) -> Floats:
        """The quantile: the least number that is not exceeded with this probability."""

    def below(self, number: Floats, mean: Floats) -> Floats:
        """The distribution function: the probability of this number or less."""


@dataclass(frozen=True)
class CountDistribution:
    """The distribution of counts whose variance is `dispersion` times the mean."""

    dispersion: float
    step: ClassVar[float] = 1.0

    def quantile(self, probability: Floats, mean: Floats) -> Floats:
        """The quantile of a Poisson or negative binomial count."""
        return np.asarray(self._law(mean).ppf(probability), dtype=np.float64)

    def below(self, number: Floats, mean: Floats) -> Floats:
        """The distribution function of a Poisson or negative binomial count."""
        return np.asarray(self._law(mean).cdf(number))

    def _law(self, mean: Floats) -> Any:
        if self.dispersion > 1 + 1e-9:
            return nbinom(mean / (self.dispersion - 1), 1 / self.dispersion)
        return poisson(mean)


@dataclass(frozen=True)
class AmountDistribution:
    """The distribution of amounts, whose standardised errors are those of the training rows."""

    errors: Floats  # quantiles at the probabilities of `GRID`
    dispersion: float
    power: float
    step: ClassVar[float] = 0.0

    def quantile(self, probability: Floats, mean: Floats) -> Floats:
        """The mean plus the quantile of the error; at least zero."""
        errors = np.interp(probability, GRID, self.errors)
        return np.maximum(mean + errors * self._deviation(mean), 0.0)

    def below(self, number: Floats, mean: Floats) -> Floats:
        """The share of training errors that are not larger."""
        return np.interp((number - mean) / self._deviation(mean), self.errors, GRID)

    def _deviation(self, mean: Floats) -> Floats:
        deviation: Floats = np.sqrt(self.dispersion) * mean ** (self.power / 2)
        return deviation


@dataclass(frozen=True)
class BlankFactors:
    """Equally likely factors by which a row's mean is multiplied, for each set of blanks."""

    sets: Floats  # set by factor
    of_row: Integers
    known: Integers  # the rows without a blank

    @classmethod
    def of(cls, evidence: Evidence, blank: Integers) -> BlankFactors:
        """The factors of rows; `blank` (row by table) is true where a row has no level."""
        each, of_row = np.unique(blank, axis=0, return_inverse=True)
        sets = [_factors([t for t, b in zip(evidence, own, strict=True) if b]) for own in each]
        return cls(
            np.array(sets).reshape(-1, FACTORS), of_row.ravel(), np.logical_not(blank.any(axis=1))
        )


def _factors(tables: Sequence[FeatureTable]) -> Floats:
    """Equally likely factors of independent tables, in increasing order."""
    logs = np.zeros(FACTORS)
    for table in tables:
        own, share = table.by_class[:, 0], table.share
        own = own - np.log(share @ np.exp(own))
        sums = np.add.outer(logs, own).ravel()
        order = np.argsort(sums, kind="stable")
        reached = np.cumsum(np.tile(share / FACTORS, FACTORS)[order])
        place = np.searchsorted(reached, (np.arange(FACTORS) + 0.5) / FACTORS)
        logs = sums[order][np.minimum(place, len(sums) - 1)]
    return np.exp(logs)


def law_interval(
    law: Law, mean: Floats, factors: BlankFactors, coverage: float
) -> tuple[Floats, Floats]:
    """The prediction limits of new rows, whose means are multiplied by random factors.

    Amounts have equal tails. Counts have the shortest interval that reaches the coverage: with
    equal tails, counts near 0 would miss nothing below, and cover too much.
    """
    if law.step:
        return _shortest(law, mean, factors, coverage)
    part = np.full(len(mean), (1 - coverage) / 2)
    low = _quantiles(law, part, mean, factors)
    return low, _quantiles(law, coverage + part, mean, factors)


def _shortest(
    law: Law, mean: Floats, factors: BlankFactors, coverage: float
) -> tuple[Floats, Floats]:
    """The shortest interval of counts that reaches the coverage, by bisection of its lower limit.

    It cannot be shortened if its lowest count is at least as likely as the first count above it.
    """

    def end(low: Floats) -> Floats:
        missed = _below(law, low - 1, mean, factors)
        return _quantiles(law, coverage + missed, mean, factors)

    def chance(count: Floats) -> Floats:
        return _below(law, count, mean, factors) - _below(law, count - 1, mean, factors)

    low = np.zeros(len(mean))
    last = _quantiles(law, np.full(len(mean), 1 - coverage), mean, factors)
    while (low < last).any():
        middle = np.floor((low + last) / 2)
        higher = (low < last) & (chance(middle) < chance(end(middle) + 1))
        low, last = np.where(higher, middle + 1, low), np.where(higher, last, middle)
    return low, end(low)


def _quantiles(law: Law, probability: Floats, mean: Floats, factors: BlankFactors) -> Floats:
    found = law.quantile(probability, mean)
    found[~factors.known] = _mix(partial(_mixed_quantiles, law), probability, mean, factors)
    return found


def _below(law: Law, number: Floats, mean: Floats, factors: BlankFactors) -> Floats:
    found = law.below(number, mean)
    found[~factors.known] = _mix(partial(_mixed_below, law), number, mean, factors)
    return found


def _mix(
    find: Callable[[Floats, Floats], Floats], values: Floats, mean: Floats, factors: BlankFactors
) -> Floats:
    """Apply `find` to the value and the possible means of each row with a blank."""
    asked = np.column_stack([values, mean, factors.of_row])[~factors.known]
    each, place = np.unique(asked, axis=0, return_inverse=True)
    parts = [np.zeros(0)]
    for start in range(0, len(each), ROWS_AT_ONCE):
        value, own, which = each[start : start + ROWS_AT_ONCE].T
        parts.append(find(value, own[:, None] * factors.sets[which.astype(np.int64)]))
    return np.concatenate(parts)[place.ravel()]


def _mixed_below(law: Law, number: Floats, means: Floats) -> Floats:
    """The distribution function of mixtures over means."""
    found: Floats = law.below(number[:, None], means).mean(axis=1)
    return found


def _mixed_quantiles(law: Law, probability: Floats, means: Floats) -> Floats:
    """The quantiles of mixtures over means, by bisection."""
    chances = np.repeat(probability[:, None], FACTORS, axis=1)
    each = law.quantile(chances, means)  # the mixture's quantile lies between these
    low, high = each.min(axis=1), each.max(axis=1)
    for _ in range(STEPS):
        middle = (low + high) / 2
        middle = np.floor(middle / law.step) * law.step if law.step else middle
        enough = _mixed_below(law, middle, means) >= probability
        low, high = np.where(enough, low, middle), np.where(enough, middle, high)
        if (high - low <= np.maximum(law.step, PRECISE * high)).all():
            break
    at_low = _mixed_below(law, low, means) >= probability
    found: Floats = np.where(at_low, low, high)
    return found


def row_interval(
    evidence: Evidence, table: Table, mean: Floats, spread: Spread, coverage: float
) -> tuple[Floats, Floats]:
    """The prediction limits of new rows, given the estimates of their means."""
    blank = find_positions(evidence, table).T < 0
    if spread.power:
        return law_interval(_law(spread), mean, BlankFactors.of(evidence, blank), coverage)
    low, high = error_interval(spread.errors, coverage)
    varied = np.array([float(part.share @ part.centred[:, 0] ** 2) for part in evidence])
    known = total_variances(evidence, table)
    deviation = np.sqrt(spread.dispersion + known + blank @ varied)
    return mean + low * deviation, mean + high * deviation


def _law(spread: Spread) -> Law:
    if len(spread.errors) == 0:
        return CountDistribution(spread.dispersion)
    return AmountDistribution(spread.errors, spread.dispersion, spread.power)


def check_stated(coverage: Any) -> None:
    """Raise an error unless the coverage is a number between 0 and 1."""
    if not (is_number(coverage) and 0 < coverage < 1):
        raise ValueError(f"coverage must be a number between 0 and 1, got {coverage!r}")
