"""How people read weights: times 100, or as the points of a scorecard."""

from __future__ import annotations

from dataclasses import dataclass, replace


@dataclass(frozen=True)
class Units:
    """A weight reads `scale` times itself, rounded; a total of zero reads `start`.

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
        """The units of the same weights with their signs turned: points stay as they are."""
        return replace(self, scale=-self.scale) if self.are_points else self

    def whole(self, weight: float) -> int:
        """A weight as the whole number that people read."""
        return round(self.scale * weight)

    def text(self, weight: float) -> str:
        """A weight with its sign."""
        return signed(self.whole(weight))

    def total(self, total: float) -> int:
        """A prior or a total: of a scorecard, base points or the score."""
        return round(self.start + self.scale * total)


HUNDREDTHS = Units()
"""Weights times 100."""


def signed(whole: int) -> str:
    """A whole number with its sign."""
    return f"{whole:+d}" if whole else "0"


def hundredths(weight: float) -> str:
    """A weight as people read it: times 100, rounded, with its sign."""
    return HUNDREDTHS.text(weight)
