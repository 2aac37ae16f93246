"""The weights of a number as steps over it: the shape that a long table hides."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from weigh.evidence.units import Words
from weigh.frames import Floats
from weigh.layout import render
from weigh.shapes import NumberAxis

WIDTH, HEIGHT, LEFT, BOTTOM, EDGE = 360, 150, 40, 22, 8
TICKS = 5
ROWS = 24
"""The height of the distribution of rows, at the foot of the frame."""


SCALES = {
    "linear": "",
    "log": " The axis is logarithmic.",
    "even": " Intervals are drawn as wide as each other.",
}


@dataclass(frozen=True, eq=False)
class Steps:
    """The weights between cut points, how far each may be off (NaN: not known), and their names."""

    cuts: tuple[float, ...]
    weights: Floats
    reach: Floats
    labels: Sequence[str]
    share: Floats  # of the rows, by interval
    least: float  # the smallest weight that the height must hold
    read: Words = field(default_factory=Words)

    @cached_property
    def axis(self) -> NumberAxis:
        """Where the intervals stand."""
        return NumberAxis.of(self.cuts)

    def draw(self, name: str, title: str, caption: str = "") -> Any:
        """The chart, with words for those who do not see it; its caption may begin with others."""
        top, bottom = self.limits
        x = LEFT + self.axis.edges * (WIDTH - LEFT - EDGE)

        def y(values: Floats) -> Floats:
            share = (top - np.clip(values, bottom, top)) / (top - bottom)
            return np.asarray(EDGE + share * (HEIGHT - BOTTOM - EDGE - ROWS))

        band = []
        if np.isfinite(self.reach).all():
            high, low = (_corners(x, y(self.weights + s * self.reach)) for s in (1, -1))
            band = [*high, *low[::-1]]
        return render(
            "steps.html",
            **{"name": name, "title": title, "caption": caption, "told": self.told()},
            **{"width": WIDTH, "height": HEIGHT, "left": LEFT, "bottom": BOTTOM, "edge": EDGE},
            rows=self._rows(x),
            band=band,
            line=_corners(x, y(self.weights)),
            zero=float(y(np.zeros(1))[0]),
            across=self._across(),
            upwards=self._upwards(top, bottom),
        )

    @property
    def limits(self) -> tuple[float, float]:
        """The greatest and the least that is drawn: all weights, and zero."""
        reach = np.where(np.isfinite(self.reach), self.reach, 0.0)
        high, low = float((self.weights + reach).max()), float((self.weights - reach).min())
        return max(high, self.least), min(low, -self.least)

    def told(self) -> str:
        """The ends, the greatest and the least, in a sentence."""
        w, names, text = self.weights, self.labels, self.read.weight
        wide = SCALES[self.axis.scale]
        return (
            f"{len(w)} intervals: {text(w[0])} {names[0]}, {text(w[-1])} {names[-1]}; "
            f"the greatest {text(w.max())} ({names[int(w.argmax())]}), "
            f"the least {text(w.min())} ({names[int(w.argmin())]}).{wide}"
        )

    def _rows(self, x: Floats) -> list[tuple[float, float]]:
        """The distribution of the rows as one outline, whose area over an interval is its share."""
        foot = HEIGHT - BOTTOM
        tops = foot - 0.9 * ROWS * self.axis.heights(self.share)
        return [(float(x[0]), float(foot)), *_corners(x, tops), (float(x[-1]), float(foot))]

    def _across(self) -> list[tuple[float, str]]:
        """A few round numbers, far enough from each other."""
        shown = []
        for place, text in self.axis.ticks(TICKS):
            at = LEFT + place * (WIDTH - LEFT - EDGE)
            shown.append((min(max(at, LEFT + 12), WIDTH - EDGE - 12), text))
        return shown

    def _upwards(self, top: float, bottom: float) -> list[tuple[float, str]]:
        span = HEIGHT - BOTTOM - EDGE - ROWS
        zero = EDGE + 4 + span * top / (top - bottom)
        places = {top: EDGE + 4.0, 0.0: zero, bottom: EDGE + span}
        return [(y, self.read.weight(value)) for value, y in places.items()]


def _corners(ends: Floats, heights: Floats) -> list[tuple[float, float]]:
    """Level from end to end."""
    return [
        (float(x), float(y))
        for a, b, y in zip(ends[:-1], ends[1:], heights, strict=True)
        for x in (a, b)
    ]
