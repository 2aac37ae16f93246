"""Charts as inline SVG: text that scales and can be read aloud, in the colours of the page."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from weigh.frames import Floats, Integers
from weigh.layout import render
from weigh.metrics import ReliabilityTable, Scored, auc, gains_curve, reliability_table

SIZE, LEFT, BOTTOM, EDGE = 300, 50, 40, 10
LONGEST = 24
"""Maximum number of characters of a name along an axis."""

POINTS = 200
"""Maximum number of points of a curve; more cannot be distinguished."""


@dataclass(frozen=True)
class Plane:
    """A square chart with its axes: x from 0 to 1 or between `ends`, y from `bottom` to `top`."""

    across: str
    upwards: str
    top: float = 1.0
    bottom: float = 0.0
    ends: tuple[float, float] = (0.0, 1.0)

    def x(self, share: float) -> float:
        """The x coordinate of a number."""
        left, right = self.ends
        return round(LEFT + (share - left) / (right - left) * (SIZE - LEFT - EDGE), 1)

    def y(self, value: float) -> float:
        """The y coordinate of a number."""
        height = (value - self.bottom) / (self.top - self.bottom)
        return round(SIZE - BOTTOM - height * (SIZE - BOTTOM - EDGE), 1)

    def path(self, x: Floats, y: Floats, look: str) -> dict[str, Any]:
        """A line through points."""
        points = zip(x.tolist(), y.tolist(), strict=True)
        return {"look": look, "points": [(self.x(a), self.y(b)) for a, b in points]}

    def draw(self, name: str, title: str, told: str, marks: Sequence[dict[str, Any]]) -> Any:
        """The chart with its title and a text alternative."""
        (left, right), (low, high) = self.ends, (self.bottom, self.top)
        ticks = []
        for share in (k / 4 for k in range(5)):
            x, y = left + share * (right - left), low + share * (high - low)
            ticks.append((self.x(x), self.y(y), _tick(x), _tick(y)))
        return render(
            "chart.html",
            **{"name": name, "title": title, "told": told, "marks": marks, "size": SIZE},
            frame=(self.x(left), self.x(right), self.y(high), self.y(low)),
            ticks=ticks,
            middle=(self.x((left + right) / 2), self.y((low + high) / 2)),
            across=self.across,
            upwards=self.upwards,
        )


def _tick(value: float) -> str:
    """A number beside an axis."""
    return f"{value:,.0f}" if 1000 <= abs(value) < 1e6 else f"{value:.3g}"


def draw_charts(rows: Scored, of: str, name: str) -> list[Any]:
    """Reliability, ROC, lift and distribution of one class's probabilities; none for one class."""
    if rows.groups.one_class:
        return []
    reliability = draw_reliability(reliability_table(rows), of, name)
    curves = draw_roc(rows, of, name), draw_lift(rows, of, name)
    return [reliability, *curves, draw_predictions(rows, of, name)]


def draw_reliability(table: ReliabilityTable, of: str, name: str) -> Any:
    """Reliability diagram: predicted and observed rates in ten bins, with intervals."""
    plane = Plane(f"predicted probability of {shorten(of)}", "observed rate")
    diagonal = plane.path(np.array([0.0, 1.0]), np.array([0.0, 1.0]), "chance")
    told = (
        f"Predictions in {len(table)} bins with intervals. On the diagonal the observed rate is "
        f"the predicted one. The largest gap is {table.largest_gap:.2f}, in a bin of "
        f"{table.weight_at_largest_gap:,.6g} rows; the mean gap over all rows is "
        f"{table.expected_calibration_error:.3f}."
    )
    marks = [diagonal, *_bins(plane, table)]
    return plane.draw(f"{name}-reliability", "Reliability.", told, marks)


def _bins(plane: Plane, table: ReliabilityTable) -> list[dict[str, Any]]:
    """A dot for each bin, with its interval."""
    x = [plane.x(share) for share in table.mean_prediction.tolist()]
    heights = (table.rate, table.rate_low, table.rate_high)
    y, low, high = ([plane.y(share) for share in part.tolist()] for part in heights)
    names = ("x", "y", "low", "high")
    return [dict(zip(names, mark, strict=True)) for mark in zip(x, y, low, high, strict=True)]


def draw_roc(rows: Scored, of: str, name: str) -> Any:
    """ROC curve: true-positive rate by false-positive rate."""
    groups = rows.groups
    found = 1 - groups.positives_up_to[::-1] / groups.n_positive
    alarms = 1 - groups.negatives_up_to[::-1] / groups.n_negative
    kept = thin(found + alarms)
    plane = Plane("false-positive rate", f"share of {shorten(of)} caught")
    area = auc(rows)
    half = float(np.interp(0.1, alarms, found))
    told = (
        f"The area under the curve is {area.value:.3f} (0.5 is chance). At a 10% false-positive "
        f"rate, {half:.0%} of {of} are caught."
    )
    marks = [
        plane.path(np.array([0.0, 1.0]), np.array([0.0, 1.0]), "chance"),
        plane.path(alarms[kept], found[kept], "curve"),
    ]
    return plane.draw(f"{name}-roc", "ROC.", told, marks)


def draw_lift(rows: Scored, of: str, name: str) -> Any:
    """Lift curve: the rate among the most probable rows, relative to the base rate."""
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
    return plane.draw(f"{name}-lift", "Lift.", told, marks)


BINS = 20
"""Number of bars of a distribution."""


def draw_predictions(rows: Scored, of: str, name: str) -> Any:
    """Distribution of the probabilities of rows of the class, and of all others."""
    edges = np.linspace(0.0, 1.0, BINS + 1)
    weight = np.ones(len(rows.p)) if rows.weight is None else rows.weight
    parts = [np.histogram(rows.p[at], edges, weights=weight[at])[0]
             for at in (rows.positive, ~rows.positive)]  # fmt: skip
    shares = [part / part.sum() for part in parts]
    top = np.ceil(10 * max(float(part.max()) for part in shares)) / 10
    plane = Plane("predicted probability", "share of the class", top)
    means = [float(np.average(rows.p[at], weights=weight[at]))
             for at in (rows.positive, ~rows.positive)]  # fmt: skip
    told = (
        f"The line is rows that are {of}, the area all others; each adds up to 1. The mean "
        f"prediction is {means[0]:.2f} for {of} and {means[1]:.2f} for the others."
    )
    corners = np.repeat(edges, 2)[1:-1]
    line, area = (np.repeat(part, 2) for part in shares)
    closed = np.concatenate([[0.0], area, [0.0]]), np.concatenate([[0.0], corners, [1.0]])
    marks = [plane.path(closed[1], closed[0], "others"), plane.path(corners, line, "curve")]
    return plane.draw(f"{name}-predictions", "Predictions.", told, marks)


def shorten(name: str) -> str:
    """A name shortened to fit beside an axis; the caption has the full name."""
    return name if len(name) <= LONGEST else f"{name[: LONGEST - 1]}…"


def thin(progress: Floats) -> Integers:
    """Indices of the points of a curve to keep, evenly spaced and with both ends."""
    if len(progress) <= POINTS:
        return np.arange(len(progress))
    wanted = np.linspace(progress[0], progress[-1], POINTS)
    return np.unique(np.searchsorted(progress, wanted).clip(0, len(progress) - 1))
