"""Performance of a model, as parts of a report: measures, charts, cut-offs, groups and cases.

Charts are inline SVG: text that scales and can be read aloud, in the colours of the page.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from weigh.arrays import Floats, Integers
from weigh.bins import label
from weigh.evaluation import Decision, Evaluation, Measures
from weigh.evaluation.show import list_decisions, number
from weigh.evidence import Evidence
from weigh.layout import Grid, count_of, render, shorten
from weigh.metrics import ReliabilityTable, Scored, auc, gains_curve, reliability_table
from weigh.metrics.predictions import Predicted
from weigh.metrics.scores import Many
from weigh.pages.weights import DRAWN
from weigh.sheet import BalanceSheet, explain

SIZE, LEFT, BOTTOM, EDGE = 300, 50, 40, 10
HALF = 3.3
"""Half the width of a digit beside an axis."""
TITLE = 24
"""Width of the title of the upward axis and of the gaps beside the numbers."""
LONGEST = 24
"""Maximum number of characters of a name along an axis; the caption has the full name."""

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
        return round(self.left + (share - left) / (right - left) * (SIZE - self.left - EDGE), 1)

    @property
    def left(self) -> float:
        """The left edge of the frame: the longest number beside it must not reach the title."""
        longest = max(len(_tick(self.bottom + k / 4 * (self.top - self.bottom))) for k in range(5))
        return max(LEFT, TITLE + 2 * HALF * longest)

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
            across = _tick(x)
            place = min(self.x(x), SIZE - HALF * len(across))  # the last one must fit
            ticks.append((place, self.y(y), across, _tick(y)))
        return render(
            "chart.html",
            **{"name": name, "title": title, "told": told, "marks": marks, "size": SIZE},
            frame=(self.x(left), self.x(right), self.y(high), self.y(low)),
            ticks=ticks,
            middle=(self.x((left + right) / 2), self.y((low + high) / 2)),
            across=self.across,
            upwards=self.upwards,
        )


def round_up(share: float) -> float:
    """The end of an axis of shares, whose quarters are round numbers, too.

    >>> round_up(0.31), round_up(0.07)
    (0.4, 0.08)
    """
    step = 0.2 if share > 0.2 else 0.04
    return round(step * max(float(np.ceil(share / step - 1e-9)), 1.0), 2)


def _tick(value: float) -> str:
    """A number beside an axis."""
    return f"{value:,.0f}" if 1000 <= abs(value) < 1e6 else f"{value:.4g}"


def draw_charts(rows: Scored, of: str, name: str) -> list[Any]:
    """Reliability, ROC, lift and distribution of one class's probabilities; none for one class."""
    if rows.groups.one_class:
        return []
    reliability = draw_reliability(reliability_table(rows), of, name)
    curves = draw_roc(rows, of, name), draw_lift(rows, of, name)
    return [reliability, *curves, draw_predictions(rows, of, name)]


def draw_reliability(table: ReliabilityTable, of: str, name: str) -> Any:
    """Reliability diagram: predicted and observed rates in ten bins, with intervals."""
    plane = Plane(f"predicted probability of {shorten(of, LONGEST)}", "observed rate")
    diagonal = plane.path(np.array([0.0, 1.0]), np.array([0.0, 1.0]), "chance")
    told = (
        f"Predictions in {len(table)} bins with intervals. On the diagonal the observed rate is "
        f"the predicted one. The largest gap is {table.largest_gap:.2f}, in a bin of "
        f"{count_of(table.weight_at_largest_gap, 'row')}; the mean gap over all rows is "
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
    plane = Plane("false-positive rate", f"share of {shorten(of, LONGEST)} caught")
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
    parts = [np.histogram(rows.p[at], edges, weights=rows.weights[at])[0]
             for at in (rows.positive, ~rows.positive)]  # fmt: skip
    shares = [part / part.sum() for part in parts]
    top = round_up(max(float(part.max()) for part in shares))
    plane = Plane("predicted probability", "share of the class", top)
    means = [float(np.average(rows.p[at], weights=rows.weights[at]))
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


def thin(progress: Floats) -> Integers:
    """Indices of the points of a curve to keep, evenly spaced and with both ends."""
    if len(progress) <= POINTS:
        return np.arange(len(progress))
    wanted = np.linspace(progress[0], progress[-1], POINTS)
    return np.unique(np.searchsorted(progress, wanted).clip(0, len(progress) - 1))


ALONE = (
    "ROC, lift, the distribution of predictions and examples need the rows, which were not given "
    "to this page."
)


@dataclass(frozen=True)
class Figures:
    """Charts side by side, with a title and notes below."""

    charts: list[Any]
    title: str = ""
    notes: tuple[str, ...] = ()


def quality(found: Evaluation, predicted: Predicted | None) -> dict[str, Any]:
    """Measures and charts; without the rows, only those that the evaluation contains."""
    own, _ = _sections(found)
    tables = own[:3] if isinstance(found.validation, Measures) else own
    return {"tables": tables, "figures": _figures(found, predicted)}


def _sections(found: Evaluation) -> tuple[tuple[Grid, ...], tuple[Grid, ...]]:
    """The tables of an evaluation: those of all rows, and those of groups."""
    parts = found.view().grids
    per_group = 2 if isinstance(found.validation, Measures) else 1
    n = len(parts) - (per_group if found.groups else 0)
    return parts[:n], parts[n:]


def _figures(found: Evaluation, predicted: Predicted | None) -> list[Figures]:
    if predicted is None:
        kept, drawn = found.validation, []
        if isinstance(kept, Measures):
            drawn = [draw_reliability(kept.reliability, label(found.pos_label), "c")]
        return [Figures(drawn, notes=(ALONE,))]
    rows = predicted.rows
    if isinstance(rows, Scored):
        return [_of_one(rows, label(found.pos_label), "c")]
    if len(rows.classes) > DRAWN:
        told = f"Charts of {len(rows.classes)} classes are left out; name one of them."
        return [Figures([], notes=(told,))]
    ones = [Scored(rows.codes == c, p, rows.weight) for c, p in enumerate(rows.p.T)]
    named = enumerate(zip(ones, map(label, found.classes), strict=True))
    return [_of_one(one, name, f"c{c}", f"{name} against the rest") for c, (one, name) in named]


def _of_one(rows: Scored, of: str, name: str, title: str = "") -> Figures:
    drawn = draw_charts(rows, of, name)
    nothing = () if drawn else ("All rows are of one class, so there are no charts.",)
    return Figures(drawn, title, nothing)


def thresholds(found: Evaluation) -> dict[str, Any] | None:
    """Costs of decisions by cut-off, for evaluations of one positive class."""
    if not isinstance(found.validation, Measures):
        return None
    (cost_fp, cost_fn), of = found.costs, label(found.pos_label)
    told = (
        f"To flag a row is to take it for {of}. A false positive costs {cost_fp:g} and a false "
        f"negative {cost_fn:g}: calibrated probabilities of {of} are flagged above "
        f"{cost_fp / (cost_fp + cost_fn):.3g}."
    )
    return {"told": told, "table": _threshold_table(found.validation, of)}


def _threshold_table(m: Measures, of: str) -> Grid:
    """Counts, rates and cost of the decisions at each cut-off."""
    head = ("Cut-off", "Flagged", "Caught", "False positives", "Missed", "Left alone",
            "Sens.", "Spec.", "PPV", "NPV", "Cost", "Net benefit")  # fmt: skip
    rows = tuple((text, *_threshold(part)) for text, part in list_decisions(m))
    note = (
        f"Caught are rows of {of} that are flagged, missed those that are not. costs: the "
        "cut-off that the costs ask for; best: the one of least cost on these rows."
    )
    return Grid(head, rows, "Flagged where the probability is above the cut-off", (note,))


def _threshold(part: Decision) -> tuple[str, ...]:
    r = part.rates
    called = r.true_positives + r.false_positives
    counts = (r.true_positives, r.false_positives, r.false_negatives, r.true_negatives)
    shares = (r.sensitivity, r.specificity, r.ppv, r.npv)
    return (
        f"{called:,.6g} ({r.flagged:.0%})",
        *(f"{count:,.6g}" for count in counts),
        *(number(x, 2) for x in shares),
        *(number(x, 3) for x in (part.cost, part.net_benefit)),
    )


def groups(found: Evaluation) -> dict[str, Any]:
    """The tables of each group of rows."""
    return {"by": found.by, "tables": _sections(found)[1]}


def choose_examples(
    model: Any, evidence: Evidence, X: Any, predicted: Predicted, labels: tuple[Any, Any], n: int
) -> dict[str, BalanceSheet]:
    """Up to n different rows, explained with the names of the evidence, by why they were chosen.

    `labels` are the class by which they are chosen, and the one that positive weights favour.
    """
    pos_label, favoured = labels
    table, places = model._read(X), np.flatnonzero(predicted.kept)
    found: dict[int, tuple[str, BalanceSheet]] = {}
    classes = evidence.classes.tolist()
    names = dict(zip(classes, evidence.class_names, strict=True))
    for title, kept in _rank(predicted.rows, names, pos_label)[:n]:
        place = int(places[kept])
        if place not in found:
            row = table.rows(np.array([place]))
            sheet = explain(evidence, row, favoured, None, model._why_no_errors())
            found[place] = f"{title} (row {place})", sheet
    return dict(found.values())


def _rank(rows: Scored | Many, names: Mapping[Any, str], pos_label: Any) -> list[tuple[str, int]]:
    if isinstance(rows, Many):
        top, own = rows.p.max(axis=1), rows.p[np.arange(len(rows.p)), rows.codes]
        told = names[rows.classes[int(rows.codes[own.argmin()])]]
        return [
            ("The surest", int(top.argmax())),
            ("The least sure", int(top.argmin())),
            (f"The greatest surprise: it was {told}", int(own.argmin())),
        ]
    name, p = names[pos_label], rows.p
    worst = int(np.abs(p - rows.positive).argmax())
    was = f"it was {name}" if rows.positive[worst] else f"it was not {name}"
    return [
        (f"The most probable {name}", int(p.argmax())),
        (f"The least probable {name}", int(p.argmin())),
        (f"The greatest surprise: {was}", worst),
        ("The one in the middle", int(np.argsort(p, kind="stable")[len(p) // 2])),
    ]
