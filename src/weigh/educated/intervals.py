"""Intervals for new rows, from what all other rows say of each training row.

A training row left out is a new row, and leave-one-out is had in closed form. So the quantiles of
the errors of rows left out make an interval that covers as often as it states, whatever the shape
of the noise:

    gaussian          error = (y - mean)/standard deviation of y - mean, in the target's unit
    gamma, Tweedie    error = y/mean
    Poisson           none: the quantiles of a Poisson count, or of a negative binomial one whose
                      variance is the dispersion times the mean

An interval leaves equal parts on both sides, unless it begins at zero and the target cannot be
less: then all that is left out is above.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.stats import nbinom, poisson

from weigh.educated.fit import Fit
from weigh.educated.loo import ROWS, Judge
from weigh.educated.numbers import Numbers, split
from weigh.engine import Block
from weigh.frames import Floats

GRID: Floats = np.linspace(0.0, 1.0, 401)
"""The probabilities whose quantiles are kept."""


def error_quantiles(fit: Fit, block: Block, known: bool) -> Floats:
    """The errors of rows left out, at the probabilities of the grid; none of counts.

    `known` says whether the variances of means will be known for new rows.
    """
    target = fit.state.problem.target
    assert isinstance(target, Numbers)
    if target.family.power == 1:
        return np.zeros(0)
    every = slice(None, None, -(-len(block) // ROWS))
    some = block.part(every)
    told = Judge.of(fit.state).told(some, every)
    numbers, _ = split(some.labels)
    means = target.family.mean(told.totals[:, 0])
    if target.family.power:
        return weigh_quantiles(numbers / means, some.weight)
    spread = np.sqrt(fit.search.noise * (1 + known * told.variances[:, 0]))
    return weigh_quantiles((numbers - means) / spread, some.weight)


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


def error_interval(quantiles: Floats, coverage: float, least: float | None) -> tuple[float, float]:
    """The errors between which a new row's lies; `least` is the smallest that there can be."""
    low = float(np.interp((1 - coverage) / 2, GRID, quantiles))
    below = low == least
    high = float(np.interp(coverage if below else (1 + coverage) / 2, GRID, quantiles))
    return low, high


def count_interval(mean: Floats, dispersion: float, coverage: float) -> tuple[Floats, Floats]:
    """The counts between which a new row's lies, given its mean."""
    law: Any = poisson(mean)
    if dispersion > 1 + 1e-9:
        law = nbinom(mean / (dispersion - 1), 1 / dispersion)
    low = law.ppf((1 - coverage) / 2)
    high = law.ppf(np.where(low == 0, coverage, (1 + coverage) / 2))
    return np.asarray(low, dtype=np.float64), np.asarray(high, dtype=np.float64)
