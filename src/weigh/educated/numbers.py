"""A numeric target as a fit sees it: what `Target` is to classes."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from weigh.engine import Block
from weigh.frames import Floats, Integers
from weigh.newton.families import Family
from weigh.newton.regression import Moments


@dataclass(frozen=True)
class Numbers:
    """The family of a numeric target, its mean, and the weight of all rows.

    Labels are the numbers; of rows with an exposure, two columns: the number for each unit of
    exposure, and what a row of that exposure counts for.
    """

    family: Family
    mean: float
    n_rows: float
    dispersion: float = 1.0
    least: float = 0.0  # the least dispersion that there can be: counts vary by themselves

    n_totals: ClassVar[int] = 1
    n_free: ClassVar[int] = 1
    n_classes: ClassVar[int] = 1

    @property
    def quadratic(self) -> bool:
        """Whether the loss has the same curvature everywhere."""
        return self.family.quadratic

    @property
    def noisy(self) -> bool:
        """Whether the dispersion is estimated."""
        return True

    @property
    def counts(self) -> bool:
        """Whether the numbers are counts, and not amounts."""
        return self.least > 0

    def prior(self) -> Floats:
        """The total of a model without features."""
        return np.array([self.family.total(self.mean)])

    def labels(self, block: Block) -> Floats:
        """The numbers of some rows."""
        return block.labels

    def classes(self, block: Block) -> Integers:
        """All rows are of one kind."""
        return np.zeros(len(block), dtype=np.uint8)

    def moments(self, totals: Floats, labels: Floats, weight: Floats) -> Moments:
        """Loss, slope and curvature of each row at its total."""
        numbers, own = split(labels)
        return self.family.moments(totals, numbers, weight * own / self.dispersion)

    def losses(self, totals: Floats, labels: Floats) -> Floats:
        """The loss of each row, for a dispersion of one."""
        numbers, own = split(labels)
        return np.asarray(self.family.losses(totals[:, 0], numbers) * own)

    def pearson(self, totals: Floats, labels: Floats, weight: Floats) -> float:
        """Sum over rows of (y - mean)^2 over the variance that the family gives the mean."""
        numbers, own = split(labels)
        mean = self.family.mean(totals[:, 0])
        squares = (numbers - mean) ** 2 / mean**self.family.power
        return float(weight @ (own * squares))

    def noise(self, statistic: float, n_free: float) -> float:
        """The dispersion, from Pearson's statistic and what weights have used up of the rows."""
        return max(statistic / max(self.n_rows - n_free, 1.0), self.least, TINY)

    def dispersed(self, noise: float) -> Numbers:
        """The target with its dispersion set, so that losses are in nats."""
        return replace(self, dispersion=noise)


TINY = 1e-8
"""The least dispersion of numbers in their own unit that are told exactly."""


def split(labels: Floats) -> tuple[Floats, Any]:
    """The numbers, and what each counts for."""
    return (labels, 1.0) if labels.ndim == 1 else (labels[:, 0], labels[:, 1])
