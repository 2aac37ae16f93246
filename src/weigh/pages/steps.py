"""The weights of a number as steps over it: the shape that a long table hides."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from weigh.evidence import hundredths
from weigh.frames import Floats
from weigh.pages.document import escape
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

    @cached_property
    def axis(self) -> NumberAxis:
        """Where the intervals stand."""
        return NumberAxis.of(self.cuts)

    def draw(self, name: str, title: str, caption: str = "") -> str:
        """The chart, with words for those who do not see it; its caption may begin with others."""
        top, bottom = self._limits()
        x = LEFT + self.axis.edges * (WIDTH - LEFT - EDGE)

        def y(values: Floats) -> Floats:
            share = (top - np.clip(values, bottom, top)) / (top - bottom)
            return np.asarray(EDGE + share * (HEIGHT - BOTTOM - EDGE - ROWS))

        told = f"{title}: {self.told()}"
        band = ""
        if np.isfinite(self.reach).all():
            high, low = (_corners(x, y(self.weights + s * self.reach)) for s in (1, -1))
            band = f'<polygon class=band points="{_points([*high, *low[::-1]])}"/>'
        line = f'<polyline class=curve points="{_points(_corners(x, y(self.weights)))}"/>'
        zero = f'<path class=chance d="M{LEFT} {y(np.zeros(1))[0]:.1f}H{WIDTH - EDGE}"/>'
        return (
            f'<figure class=steps><svg role=img aria-labelledby="{name}" '
            f'viewBox="0 0 {WIDTH} {HEIGHT}"><title id="{name}">{escape(told)}</title>'
            f"{_frame()}{self._rows(x)}{band}{zero}{line}{self._across()}"
            f"{_upwards(top, bottom)}</svg>"
            f"<figcaption>{escape(caption)} {escape(self.told())}</figcaption></figure>"
        )

    def _limits(self) -> tuple[float, float]:
        """The greatest and the least that is drawn: all weights, and zero."""
        reach = np.where(np.isfinite(self.reach), self.reach, 0.0)
        high, low = float((self.weights + reach).max()), float((self.weights - reach).min())
        return max(high, self.least), min(low, -self.least)

    def told(self) -> str:
        """The ends, the greatest and the least, in a sentence."""
        w, names = self.weights, self.labels
        wide = SCALES[self.axis.scale]
        return (
            f"{len(w)} intervals: {hundredths(w[0])} {names[0]}, {hundredths(w[-1])} {names[-1]}; "
            f"the greatest {hundredths(w.max())} ({names[int(w.argmax())]}), "
            f"the least {hundredths(w.min())} ({names[int(w.argmin())]}).{wide}"
        )

    def _rows(self, x: Floats) -> str:
        """The distribution of the rows as one outline, whose area over an interval is its share."""
        foot = HEIGHT - BOTTOM
        tops = foot - 0.9 * ROWS * self.axis.heights(self.share)
        corners = [(float(x[0]), float(foot)), *_corners(x, tops), (float(x[-1]), float(foot))]
        return f'<polygon class=share points="{_points(corners)}"/>'

    def _across(self) -> str:
        """A few round numbers, far enough from each other."""
        shown = []
        for place, text in self.axis.ticks(TICKS):
            at = LEFT + place * (WIDTH - LEFT - EDGE)
            at = min(max(at, LEFT + 12), WIDTH - EDGE - 12)
            shown.append(f'<text class=tick x="{at:.1f}" y="{HEIGHT - 8}">{text}</text>')
        return "".join(shown)


def _frame() -> str:
    size = f'width="{WIDTH - LEFT - EDGE}" height="{HEIGHT - BOTTOM - EDGE}"'
    return f'<rect class=frame x="{LEFT}" y="{EDGE}" {size} />'


def _upwards(top: float, bottom: float) -> str:
    span = HEIGHT - BOTTOM - EDGE - ROWS
    places = {top: EDGE + 4.0, 0.0: EDGE + 4 + span * top / (top - bottom), bottom: EDGE + span}
    return "".join(
        f'<text class="tick side" x="{LEFT - 4}" y="{y:.1f}">{hundredths(value)}</text>'
        for value, y in places.items()
    )


def _corners(ends: Floats, heights: Floats) -> list[tuple[float, float]]:
    """Level from end to end."""
    return [
        (float(x), float(y))
        for a, b, y in zip(ends[:-1], ends[1:], heights, strict=True)
        for x in (a, b)
    ]


def _points(corners: list[tuple[float, float]]) -> str:
    return " ".join(f"{x:.1f},{y:.1f}" for x, y in corners)
