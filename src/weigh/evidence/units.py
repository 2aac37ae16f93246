"""Display of weights: times 100, as points, in the unit of the target, or as factors."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from weigh.evidence.tables import Evidence


@dataclass(frozen=True)
class Units:
    """Scale of displayed weights: `scale` times the weight, rounded; a zero total shows `start`.

    >>> Units().text(0.174), Units(28.85, 487.0).text(-0.59), Units(28.85, 487.0).total(2.0)
    ('+17', '-17', 545)
    """

    scale: float = 100.0
    start: float = 0.0

    @property
    def are_points(self) -> bool:
        """Whether these are the points of a scorecard."""
        return self != HUNDREDTHS

    @property
    def turned(self) -> Units:
        """The units for weights of opposite sign: points do not change."""
        return replace(self, scale=-self.scale) if self.are_points else self

    def whole(self, weight: float) -> int:
        """A weight as the whole number displayed."""
        return round(self.scale * weight)

    def text(self, weight: float) -> str:
        """A weight with its sign."""
        return signed(self.whole(weight))

    def total(self, total: float) -> int:
        """A prior or a total as displayed; for a scorecard, base points or the score."""
        return round(self.start + self.scale * total)


HUNDREDTHS = Units()
"""Weights times 100."""


def signed(whole: int) -> str:
    """A whole number with its sign."""
    return f"{whole:+d}" if whole else "0"


def hundredths(weight: float) -> str:
    """A weight as text: times 100, rounded, with its sign."""
    return HUNDREDTHS.text(weight)


FIGURES = 3


@dataclass(frozen=True)
class Words:
    """Number format and headings of a model: weights of evidence, times 100."""

    heading: str = "Weight"
    start: str = "Prior"
    bars: str = "against | for"
    smallest: float = 0.05  # least weight of a full-length bar
    importance_is: str = (
        "the mean distance of a training row's weight from the table's mean weight, times 100"
    )

    def weight(self, weight: float) -> str:
        """Text of the weight of a level."""
        return hundredths(weight)

    def prior(self, prior: float) -> str:
        """Text of the prior."""
        return self.weight(prior)

    def error(self, error: float) -> str:
        """A standard error, or an importance."""
        return f"{100 * error:.0f}"


@dataclass(frozen=True)
class Amounts(Words):
    """Weights in the unit of the target, with `digits` decimal places."""

    heading: str = "Change"
    start: str = "Start: nothing known"
    bars: str = "down | up"
    smallest: float = 0.0
    importance_is: str = (
        "the mean distance of a training row's change from the table's mean change, in the "
        "target's unit"
    )
    digits: int = 2

    def weight(self, weight: float) -> str:
        """Change of the estimate by a level."""
        return spell(weight, self.digits, "+")

    def prior(self, prior: float) -> str:
        """The mean of the training rows."""
        return spell(prior, self.digits)

    def error(self, error: float) -> str:
        """A standard error, or an importance, in the same unit."""
        return spell(error, self.digits)


@dataclass(frozen=True)
class Factors(Words):
    """Weights as factors of the estimate."""

    heading: str = "Factor"
    start: str = "Start: nothing known"
    bars: str = "down | up"
    importance_is: str = (
        "the mean distance of the logarithm of a training row's factor from the table's mean, "
        "times 100"
    )

    def weight(self, weight: float) -> str:
        """Factor of the estimate for a level."""
        return factor(float(np.exp(weight)))

    def prior(self, prior: float) -> str:
        """The mean of the training rows."""
        mean = float(np.exp(prior))
        return spell(mean, digits_of(mean))


@dataclass(frozen=True)
class Hazards(Words):
    """Weights of the log odds of an event in a period, given no event before."""

    bars: str = "later | earlier"


@dataclass(frozen=True)
class Points(Words):
    """Weights as the points of a scorecard."""

    heading: str = "Points"
    start: str = "Base points"
    importance_is: str = (
        "the mean distance of a training row's points from the feature's mean points"
    )
    units: Units = HUNDREDTHS

    def weight(self, weight: float) -> str:
        """The points of a level."""
        return self.units.text(weight)

    def prior(self, prior: float) -> str:
        """Base points."""
        return signed(self.units.total(prior))

    def error(self, error: float) -> str:
        """A standard error, or an importance."""
        return f"{abs(self.units.scale) * error:.0f}"


def words_of(evidence: Evidence) -> Words:
    """Number format and headings for a model or a scorecard."""
    if evidence.units.are_points:
        return Points(units=evidence.units)
    if evidence.form == "hazard":
        return Hazards()
    if evidence.link == "log":
        return Factors()
    if evidence.link != "identity":
        return Words()
    most = max((float(np.abs(t.by_class).max(initial=0.0)) for t in evidence), default=0.0)
    return Amounts(digits=digits_of(most or float(evidence.prior_row[0])))


def digits_of(size: float) -> int:
    """Decimal places for three significant digits of a number of this size.

    >>> digits_of(27.5), digits_of(12345.0)
    (1, 0)
    """
    size = abs(size)
    if not 0 < size < np.inf:
        return FIGURES - 1
    return max(FIGURES - 1 - int(np.floor(np.log10(size))), 0)


def spell(value: float, digits: int, sign: str = "") -> str:
    """A number with `digits` decimal places, and commas between thousands.

    >>> spell(4200.0, 0, "+"), spell(0.00012345, 7)
    ('+4,200', '0.000123')
    """
    if digits > 6 or not np.isfinite(value):
        return f"{value:{sign}.3g}"
    text = f"{value:{sign},.{digits}f}"
    return text if float(text.replace(",", "")) else f"{0.0:.{digits}f}"


def factor(value: float) -> str:
    """A factor as text.

    >>> factor(1.1834), factor(0.04)
    ('× 1.18', '× 0.040')
    """
    if not 1e-4 < value < 1e4:
        return f"× {value:.3g}"
    return f"× {value:.2f}" if value >= 0.095 else f"× {value:.{digits_of(value) - 1}f}"
