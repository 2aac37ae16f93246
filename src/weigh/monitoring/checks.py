"""One comparison of training rows with new rows, and the rule that makes it an alarm.

A check is significant where its p-value, adjusted for all checks by Holm's method, is below
`alpha`. It is then a notice, a warning or an alarm by its index less the index that chance alone
would give: from 0.01, 0.1 and 0.25. So noise in small samples and trifles in large ones stay quiet.

An index is a population stability index (PSI), or a mean squared change of the total. Both have
the same scale: the PSI of two normal distributions of equal variance is the squared distance of
their means in standard deviations. 0.01, 0.1 and 0.25 are distances of 0.1, 0.32 and 0.5.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.special import gammainc, ndtr
from scipy.stats import chi2

from weigh.frames import Floats
from weigh.metrics.numbers import NAN

LEVELS = ("none", "notice", "warning", "alarm")
LIMITS = (0.01, 0.1, 0.25)
"""The index, beyond chance, from which a significant check is a notice, a warning, an alarm."""

FEWEST = 5.0
"""Rows that a level must have in either sample, as expected, for the chi-square to hold."""


@dataclass(frozen=True)
class Check:
    """One comparison: an index, what chance gives, a p-value, and the level of concern.

    `p_value` is of this check alone, `adjusted` of all checks together.
    """

    name: str
    about: str  # feature, total, classes, in the large, slope or weights
    index: float
    chance: float
    p_value: float
    adjusted: float = NAN
    level: str = "none"


def judge(checks: Sequence[Check], alpha: float) -> list[Check]:
    """The checks with p-values adjusted by Holm's method, and their levels."""
    p = np.nan_to_num(np.array([check.p_value for check in checks]), nan=1.0)
    order = np.argsort(p, kind="stable")
    raised = np.maximum.accumulate(p[order] * np.arange(len(p), 0, -1))
    adjusted = np.empty(len(p))
    adjusted[order] = np.minimum(raised, 1.0)
    return [
        replace(check, adjusted=q, level=_level(check, q < alpha))
        for check, q in zip(checks, adjusted.tolist(), strict=True)
    ]


def _level(check: Check, significant: bool) -> str:
    excess = check.index - check.chance
    return LEVELS[sum(excess >= limit for limit in LIMITS)] if significant else LEVELS[0]


def worst(checks: Sequence[Check]) -> str:
    """The highest level of some checks."""
    return max((check.level for check in checks), key=LEVELS.index, default=LEVELS[0])


def check_normal(name: str, about: str, value: float, error: float, scale: float = 1.0) -> Check:
    """A number that is 0 without drift. Times `scale`, it is a change of the total."""
    p = 2 * float(ndtr(-abs(value) / error)) if error > 0 and math.isfinite(value) else NAN
    return Check(name, about, (value * scale) ** 2, (error * scale) ** 2, p)


def expected_index(n_cells: int, old: float, new: float) -> float:
    """The mean PSI of two samples of one distribution: (cells - 1)(1/N + 1/n), about."""
    return (n_cells - 1) * (1 / old + 1 / new)


def compare_samples(old: Floats, new: Floats) -> float:
    """The p-value of Pearson's chi-square that two samples have one distribution of levels.

    Levels that are too rare are joined. Which these are depends on the rows of both samples
    together alone, so that the test stays exact for levels that only one sample has.
    """
    both, share = old + new, new.sum() / (old.sum() + new.sum())
    rare = both * min(share, 1 - share) < FEWEST
    ranked = np.argsort(both[~rare])
    table = np.stack([old, new])
    cells = np.column_stack([table[:, rare].sum(axis=1), table[:, ~rare][:, ranked]])
    if cells[:, 0].sum() * min(share, 1 - share) < FEWEST and cells.shape[1] > 1:
        cells = np.column_stack([cells[:, 0] + cells[:, 1], cells[:, 2:]])
    if cells.shape[1] < 2:
        return 1.0
    expected = np.outer([1 - share, share], cells.sum(axis=0))
    return float(chi2.sf(((cells - expected) ** 2 / expected).sum(), cells.shape[1] - 1))


def compare_unseen(old: Floats, new: Floats) -> float:
    """The p-value of the new rows whose values training did not have.

    Without drift, a value with c rows in both samples has all of them in the new one with
    probability q^c, with q the share of the new rows. So many rare values, each seen once, are no
    surprise, and a frequent new one is. The sum over values is taken for a scaled Poisson.
    """
    unseen = float(new[old == 0].sum())
    if not unseen:
        return 1.0
    both = old + new
    chance = (new.sum() / both.sum()) ** both
    mean, variance = float(both @ chance), float(both**2 @ (chance * (1 - chance)))
    if not variance:
        return 0.0
    return float(gammainc(unseen * mean / variance, mean * mean / variance))
