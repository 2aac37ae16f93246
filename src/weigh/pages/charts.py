"""Charts as inline SVG: text that scales and can be read aloud, in the colours of the page."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from weigh.frames import Floats, Integers
from weigh.metrics import ReliabilityTable, Scored, auc, gains_curve, reliability_table
from weigh.pages.document import escape

SIZE, LEFT, BOTTOM, EDGE = 300, 50, 40, 10
LONGEST = 24
"""Characters of a name along an axis."""

POINTS = 200
"""More points of a curve than these cannot be told apart."""


@dataclass(frozen=True)
class Plane:
    """A square of 0 to 1 across and 0 to `top` upwards, with its axes."""

    across: str
    upwards: str
    top: float = 1.0

    def x(self, share: float) -> float:
        """Where a number stands across."""
        return round(LEFT + share * (SIZE - LEFT - EDGE), 1)

    def y(self, value: float) -> float:
        """Where a number stands upwards."""
        return round(SIZE - BOTTOM - value / self.top * (SIZE - BOTTOM - EDGE), 1)

    def path(self, x: Floats, y: Floats, look: str) -> str:
        """A line through points."""
        points = " ".join(
            f"{self.x(a)},{self.y(b)}" for a, b in zip(x.tolist(), y.tolist(), strict=True)
        )
        return f'<polyline class="{look}" points="{points}"/>'

    def axes(self) -> str:
        """The frame, five ticks each way, and what the axes are."""
        parts = [
            f'<rect class="frame" x="{self.x(0)}" y="{self.y(self.top)}" '
            f'width="{self.x(1) - self.x(0):.1f}" height="{self.y(0) - self.y(self.top):.1f}"/>'
        ]
        for k in range(5):
            share = k / 4
            parts.append(
                f'<text class="tick" x="{self.x(share)}" y="{self.y(0) + 14}">{share:g}</text>'
                f'<text class="tick side" x="{LEFT - 5}" y="{self.y(share * self.top) + 4}">'
                f"{share * self.top:.3g}</text>"
            )
        middle = self.y(self.top / 2)
        parts.append(
            f'<text class="axis" x="{self.x(0.5)}" y="{SIZE - 6}">{escape(self.across)}</text>'
            f'<text class="axis" transform="translate(12 {middle}) rotate(-90)">'
            f"{escape(self.upwards)}</text>"
        )
        return "".join(parts)


def figure(name: str, title: str, told: str, plane: Plane, marks: Sequence[str]) -> str:
    """A chart with its title, and with words for those who do not see it."""
    return (
        f'<figure><svg role="img" aria-labelledby="{name}-t {name}-d" viewBox="0 0 {SIZE} {SIZE}">'
        f'<title id="{name}-t">{escape(title)}</title><desc id="{name}-d">{escape(told)}</desc>'
        f"{plane.axes()}{''.join(marks)}</svg>"
        f"<figcaption><b>{escape(title)}</b> {escape(told)}</figcaption></figure>"
    )


def charts(rows: Scored, of: str, name: str) -> str:
    """Reliability, ROC and lift of the probabilities of one class."""
    if rows.groups.one_class:
        return "<p>All rows are of one class: there is nothing to draw.</p>"
    reliability = draw_reliability(reliability_table(rows), of, name)
    parts = [reliability, draw_roc(rows, of, name), draw_lift(rows, of, name)]
    return f'<div class="charts">{"".join(parts)}</div>'


def draw_reliability(table: ReliabilityTable, of: str, name: str) -> str:
    """What was said, and what came true, in ten bins with intervals."""
    plane = Plane(f"said to be {shorten(of)}", "came true")
    diagonal = plane.path(np.array([0.0, 1.0]), np.array([0.0, 1.0]), "chance")
    told = (
        f"Probabilities in {len(table)} bins, each with its interval; on the diagonal they come "
        f"true as often as they say. The farthest is off by {table.largest_gap:.2f}."
    )
    marks = [diagonal, *_bins(plane, table)]
    return figure(f"{name}-reliability", "Reliability.", told, plane, marks)


def _bins(plane: Plane, table: ReliabilityTable) -> list[str]:
    marks = []
    for i in range(len(table)):
        x, y = plane.x(float(table.mean_prediction[i])), plane.y(float(table.rate[i]))
        low, high = plane.y(float(table.rate_low[i])), plane.y(float(table.rate_high[i]))
        marks.append(f'<line class="reach" x1="{x}" x2="{x}" y1="{low}" y2="{high}"/>')
        marks.append(f'<circle class="dot" cx="{x}" cy="{y}" r="4"/>')
    return marks


def draw_roc(rows: Scored, of: str, name: str) -> str:
    """How many are found, by how many are flagged in vain."""
    groups = rows.groups
    found = 1 - groups.positives_up_to[::-1] / groups.n_positive
    alarms = 1 - groups.negatives_up_to[::-1] / groups.n_negative
    kept = thin(found + alarms)
    plane = Plane("share of the others flagged", f"share of {shorten(of)} found")
    area = auc(rows)
    half = float(np.interp(0.1, alarms, found))
    told = (
        f"The area under the curve is {area.value:.3f} (0.5 is chance). Flagging a tenth of the "
        f"others finds {half:.0%} of {of}."
    )
    marks = [
        plane.path(np.array([0.0, 1.0]), np.array([0.0, 1.0]), "chance"),
        plane.path(alarms[kept], found[kept], "curve"),
    ]
    return figure(f"{name}-roc", "ROC.", told, plane, marks)


def draw_lift(rows: Scored, of: str, name: str) -> str:
    """How many times the base rate the most probable rows hold."""
    curve = gains_curve(rows)
    depth = np.linspace(0.01, 1.0, 100)
    lift = curve.at(depth) / depth
    top = max(float(np.ceil(lift.max())), 2.0)
    plane = Plane("share of rows, the most probable first", "lift", top)
    told = (
        f"The most probable tenth of the rows holds {lift[9]:.2f} times as many {of} as a tenth "
        f"taken at random, and {curve.at(0.1):.0%} of all."
    )
    marks = [
        plane.path(np.array([0.0, 1.0]), np.array([1.0, 1.0]), "chance"),
        plane.path(depth, lift, "curve"),
    ]
    return figure(f"{name}-lift", "Lift.", told, plane, marks)


def shorten(name: str) -> str:
    """A name that fits beside an axis; the caption has it whole."""
    return name if len(name) <= LONGEST else f"{name[: LONGEST - 1]}…"


def thin(progress: Floats) -> Integers:
    """Which points of a curve to keep, spread evenly along it, ends included."""
    if len(progress) <= POINTS:
        return np.arange(len(progress))
    wanted = np.linspace(progress[0], progress[-1], POINTS)
    return np.unique(np.searchsorted(progress, wanted).clip(0, len(progress) - 1))
