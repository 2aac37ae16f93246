"""Intervals for new rows, from what all other rows say of each training row.

A training row left out is a new row, and leave-one-out is had in closed form. So the quantiles of
the errors of rows left out make an interval that covers as often as it states, whatever the shape
of the noise:

    gaussian          error = (y - mean)/standard deviation of y - mean
    other amounts     error = (y - mean)/standard deviation that the family gives the mean
    counts            none: the quantiles of a Poisson count, or of a negative binomial one whose
                      variance is the dispersion times the mean

An interval of amounts leaves equal parts on both sides. Where it begins at zero, it covers more:
parts of errors are right on average of all rows, so none may be moved to the other side. The law of
counts is that of each row. Counts are whole and not below zero, so less than its part may lie below
the lower limit; the upper limit is the least count that makes up the stated coverage.

A row whose answers are not all known has an uncertain mean. What blank tables vary by over training
rows is added to the variance of gaussian noise. With a log link the mean is the estimate times a
factor of mean one: each blank table gives the factors of its levels, as often as training rows had
them, whatever the other tables give. The law of such a row is the mixture over the factors.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar, Protocol

import numpy as np
from scipy.stats import nbinom, poisson

from weigh.educated.fit import Fit
from weigh.educated.loo import ROWS, Judge
from weigh.educated.numbers import Numbers, split
from weigh.engine import Block
from weigh.evidence import Evidence, FeatureTable
from weigh.formula import Spread
from weigh.frames import Floats, Integers, Table
from weigh.parameters import is_number
from weigh.sheet import find_blanks, total_variances

GRID: Floats = np.linspace(0.0, 1.0, 401)
"""The probabilities whose quantiles are kept."""


FACTORS = 40
"""How many equally likely factors stand for all, where the mean of a row is not known."""

ROWS_AT_ONCE = 4096
STEPS, PRECISE = 200, 1e-10


def error_quantiles(fit: Fit, block: Block, known: bool) -> Floats:
    """The errors of rows left out, at the probabilities of the grid; none of counts.

    `known` says whether the variances of means will be known for new rows.
    """
    target = fit.state.problem.target
    assert isinstance(target, Numbers)
    if target.counts:
        return np.zeros(0)
    every = slice(None, None, -(-len(block) // ROWS))
    some = block.part(every)
    told = Judge.of(fit.state).told(some, every)
    numbers, own = split(some.labels)
    means, power = target.family.mean(told.totals[:, 0]), target.family.power
    variances = fit.search.noise * means**power / own
    if not power:
        variances = fit.search.noise * (1 + known * told.variances[:, 0])
    return weigh_quantiles((numbers - means) / np.sqrt(variances), some.weight)


def weigh_quantiles(values: Floats, weight: Floats | None) -> Floats:
    """Quantiles of values on the grid; the k-th smallest of n is that of probability k/(n + 1).

    A value of weight two is that value twice.
    """
    order = np.argsort(values, kind="stable")
    rows = np.ones(len(values)) if weight is None else weight[order]
    last = np.cumsum(rows)
    first = last - rows + np.minimum(rows, 1.0)
    places = np.column_stack([first, last]).ravel() / (last[-1] + 1)
    return np.interp(GRID, places, np.repeat(values[order], 2))


def error_interval(quantiles: Floats, coverage: float) -> tuple[float, float]:
    """The errors between which a new row's lies."""
    low, high = np.interp([(1 - coverage) / 2, (1 + coverage) / 2], GRID, quantiles)
    return float(low), float(high)


class Law(Protocol):
    """How numbers of 0 or more are spread, given their mean; `step` is how far apart they lie."""

    step: ClassVar[float]

    def quantile(self, probability: Floats, mean: Floats) -> Floats:
        """The least number that is not exceeded with a probability."""

    def below(self, number: Floats, mean: Floats) -> Floats:
        """The probability of a number or less."""


@dataclass(frozen=True)
class Counts:
    """Counts whose variance is a multiple of their mean."""

    dispersion: float
    step: ClassVar[float] = 1.0

    def quantile(self, probability: Floats, mean: Floats) -> Floats:
        """That of a Poisson or negative binomial count."""
        return np.asarray(self._law(mean).ppf(probability), dtype=np.float64)

    def below(self, number: Floats, mean: Floats) -> Floats:
        """The distribution function of the same."""
        return np.asarray(self._law(mean).cdf(number))

    def _law(self, mean: Floats) -> Any:
        if self.dispersion > 1 + 1e-9:
            return nbinom(mean / (self.dispersion - 1), 1 / self.dispersion)
        return poisson(mean)


@dataclass(frozen=True)
class Amounts:
    """Amounts whose errors are spread as those of training rows, in standard deviations."""

    errors: Floats  # their quantiles on the grid
    dispersion: float
    power: float
    step: ClassVar[float] = 0.0

    def quantile(self, probability: Floats, mean: Floats) -> Floats:
        """The mean and an error, or zero where that is less."""
        errors = np.interp(probability, GRID, self.errors)
        return np.maximum(mean + errors * self._deviation(mean), 0.0)

    def below(self, number: Floats, mean: Floats) -> Floats:
        """The share of errors that are no larger."""
        return np.interp((number - mean) / self._deviation(mean), self.errors, GRID)

    def _deviation(self, mean: Floats) -> Floats:
        deviation: Floats = np.sqrt(self.dispersion) * mean ** (self.power / 2)
        return deviation


@dataclass(frozen=True)
class Factors:
    """What the mean of a row may be multiplied by: equally likely factors of each set of blanks."""

    sets: Floats  # set by factor
    of_row: Integers
    known: Integers  # the rows without a blank

    @classmethod
    def of(cls, evidence: Evidence, blank: Integers) -> Factors:
        """Of rows that have no level in some tables."""
        each, of_row = np.unique(blank, axis=0, return_inverse=True)
        sets = [_factors([t for t, b in zip(evidence, own, strict=True) if b]) for own in each]
        return cls(
            np.array(sets).reshape(-1, FACTORS), of_row.ravel(), np.logical_not(blank.any(axis=1))
        )


def _factors(tables: Sequence[FeatureTable]) -> Floats:
    """Equally likely factors of independent tables, from the smallest."""
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
    law: Law, mean: Floats, factors: Factors, coverage: float
) -> tuple[Floats, Floats]:
    """The numbers between which a new row's lies, if its mean may be multiplied by some factors."""
    missed = np.full(len(mean), (1 - coverage) / 2)
    low = _quantiles(law, missed, mean, factors)
    if law.step:
        missed = _below(law, low - law.step, mean, factors)
    return low, _quantiles(law, coverage + missed, mean, factors)


def _quantiles(law: Law, probability: Floats, mean: Floats, factors: Factors) -> Floats:
    found = law.quantile(probability, mean)
    found[~factors.known] = _mix(partial(_mixed_quantiles, law), probability, mean, factors)
    return found


def _below(law: Law, number: Floats, mean: Floats, factors: Factors) -> Floats:
    found = law.below(number, mean)
    found[~factors.known] = _mix(partial(_mixed_below, law), number, mean, factors)
    return found


def _mix(
    find: Callable[[Floats, Floats], Floats], values: Floats, mean: Floats, factors: Factors
) -> Floats:
    """What `find` gives for a value and the means that are possible, of the rows with a blank."""
    asked = np.column_stack([values, mean, factors.of_row])[~factors.known]
    each, place = np.unique(asked, axis=0, return_inverse=True)
    parts = [np.zeros(0)]
    for start in range(0, len(each), ROWS_AT_ONCE):
        value, own, which = each[start : start + ROWS_AT_ONCE].T
        parts.append(find(value, own[:, None] * factors.sets[which.astype(np.int64)]))
    return np.concatenate(parts)[place.ravel()]


def _mixed_below(law: Law, number: Floats, means: Floats) -> Floats:
    """The probability of a number or less, of mixtures over means."""
    found: Floats = law.below(number[:, None], means).mean(axis=1)
    return found


def _mixed_quantiles(law: Law, probability: Floats, means: Floats) -> Floats:
    """The least numbers that mixtures over means do not exceed with a probability: bisection."""
    chances = np.repeat(probability[:, None], FACTORS, axis=1)
    each = law.quantile(chances, means)  # the mixture's lies between the least and the largest
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
    """The limits between which the numbers of new rows lie, from their estimates."""
    blank = find_blanks(evidence, table)
    if spread.power:
        return law_interval(_law(spread), mean, Factors.of(evidence, blank), coverage)
    low, high = error_interval(spread.errors, coverage)
    varied = np.array([float(part.share @ part.centred[:, 0] ** 2) for part in evidence])
    known = total_variances(evidence, table)
    deviation = np.sqrt(spread.dispersion + known + blank @ varied)
    return mean + low * deviation, mean + high * deviation


def _law(spread: Spread) -> Law:
    if len(spread.errors) == 0:
        return Counts(spread.dispersion)
    return Amounts(spread.errors, spread.dispersion, spread.power)


def check_stated(coverage: Any) -> None:
    """Refuse what is no coverage of an interval."""
    if not (is_number(coverage) and 0 < coverage < 1):
        raise ValueError(f"coverage must be a number between 0 and 1, got {coverage!r}")
