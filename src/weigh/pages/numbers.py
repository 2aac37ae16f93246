"""The parts of a report for models of a number, or of the time to an event.

Measures, charts and cases of a number; measures over time and their charts.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from weigh.arrays import Floats
from weigh.evaluation.findings import beside_measures
from weigh.evaluation.numbers import NumberEvaluation
from weigh.evaluation.show import bounded, number
from weigh.evaluation.survival import SurvivalEvaluation
from weigh.evidence.units import digits_of, factor, spell, words_of
from weigh.frames import number_sample, read, row_weights
from weigh.layout import count_of, percent
from weigh.metrics.numbers import Bounded
from weigh.pages.model import Subject, name_ends
from weigh.pages.quality import Figures, Plane, round_up
from weigh.sheet import EstimateSheet

BINS = 20
"""Number of bars of the distribution of errors."""

ROUND = (1, 1.5, 2, 2.5, 3, 4, 5, 6, 8, 10, 12.5, 15, 20)
"""Steps between the ticks of an axis, times a power of ten."""

ALONE = "The distribution of errors and examples need the rows, which were not given to this page."


def lead_number(subject: Subject, found: NumberEvaluation) -> list[str]:
    """What the model estimates, its training rows, and its hold-out rows."""
    evidence, target = subject.evidence, subject.classes[0]
    n_levels = sum(len(table.levels) for table in evidence)
    if evidence.link == "log":
        how = "Each table multiplies it by the factor of the case's level."
    else:
        how = f"Each table adds the change of the case's level, in the unit of {target}."
    return [
        f"This model estimates {target}. It starts from the mean of the training rows. {how}",
        f"{subject.name}, fitted on {evidence.class_counts.sum():,.6g} rows. It has a start "
        f"value and {len(evidence):,} tables with {n_levels:,} levels.",
        " ".join(
            filter(None, (f"It is judged here on {count_of(found.n_rows, 'row')}.", found.exposure))
        ),
    ]


def number_means(subject: Subject) -> str:
    """A sentence that explains the weights of the page."""
    words = words_of(subject.evidence)
    what = (
        f"Factors that the estimate of {subject.classes[0]} is multiplied by."
        if subject.evidence.link == "log"
        else f"Changes of the estimate, in the unit of {subject.classes[0]}."
    )
    return (
        f"{what} Tables are in the order of importance: {words.importance_is}. "
        f"{name_ends(subject.evidence)}"
    ).rstrip()


def number_measures(found: NumberEvaluation) -> list[tuple[str, str]]:
    """The most common measures."""
    told = [
        ("Rows", f"{found.n_rows:,.6g}"),
        ("RMSE", _range(found, found.rmse)),
        ("RMSE of the mean alone", _number(found, found.spread)),
        ("Mean absolute error", _range(found, found.mae)),
        ("R2", number(found.r2, 3)),
        *(_deviance(found) if found.has_deviance() else ()),
        ("Mean observed", _number(found, found.mean_observed)),
        ("Mean estimate", _number(found, found.mean_estimate)),
        ("Calibration slope (1 is right)", bounded(found.slope, 2, why="equal predictions")),
    ]
    if found.covered.is_known():
        told.append(("Rows inside 90% intervals", f"{found.covered.value:.1%}"))
    return told


def _deviance(found: NumberEvaluation) -> list[tuple[str, str]]:
    """The deviance and the share that is explained; gaussian ones are those of RMSE and R2."""
    explained = f"{found.deviance_explained:.1%}"
    return [("Mean deviance", f"{found.deviance:.4g}"), ("Deviance explained", explained)]


def _number(found: NumberEvaluation, value: float) -> str:
    return spell(value, digits_of(found.spread or found.mean_observed))


def _range(found: NumberEvaluation, bounded: Bounded) -> str:
    value, low, high = (_number(found, x) for x in (bounded.value, bounded.low, bounded.high))
    return f"{value} ({low} to {high})"


# ---------------------------------------------------------------- charts


def number_quality(
    found: NumberEvaluation, errors: Floats | None, weight: Floats | None = None
) -> dict[str, Any]:
    """The bands as a table and as a chart, and the distribution of the rows' errors."""
    told = (
        f"Rows in {len(found.bands)} bands by estimate, with intervals. On the diagonal the mean "
        "observed is the mean estimate."
    )
    charts = [draw_calibration(found.bands, told)]
    if errors is not None and len(errors):
        charts.append(_draw_errors(found, errors, row_weights(weight, len(errors))))
    notes = (ALONE,) if errors is None else ()
    return {"tables": found.view().grids[:1], "figures": [Figures(charts, notes=notes)]}


def draw_calibration(bands: Sequence[Any], told: str) -> Any:
    """Calibration chart: estimated and observed means of bands, with intervals."""
    ends = [x for b in bands for x in (b.estimate, b.observed.low, b.observed.high)]
    low, high = round_ends(np.array([x for x in ends if np.isfinite(x)]))
    plane = Plane("mean estimate", "mean observed", high, low, (low, high))
    diagonal = plane.path(np.array([low, high]), np.array([low, high]), "chance")
    dots = [
        {"x": plane.x(b.estimate), "y": plane.y(b.observed.value),
         "low": plane.y(b.observed.low), "high": plane.y(b.observed.high)}
        for b in bands
    ]  # fmt: skip
    return plane.draw("n-calibration", "Calibration.", told, [diagonal, *dots])


def _draw_errors(found: NumberEvaluation, errors: Floats, weight: Floats) -> Any:
    """The distribution of observed less estimate, without the outermost 1%."""
    wanted: Any = [0.005, 0.05, 0.95, 0.995]
    ends = np.quantile(errors, wanted, weights=weight, method="inverted_cdf")
    low, high = round_ends(ends)
    edges = np.linspace(low, high, BINS + 1)
    share = np.histogram(errors, edges, weights=weight)[0] / weight.sum()
    top = round_up(float(share.max()))
    plane = Plane("observed less estimate", "share of rows", top, 0.0, (low, high))
    zero = plane.path(np.zeros(2), np.array([0.0, top]), "chance")
    corners = np.concatenate([[low], np.repeat(edges, 2)[1:-1], [high]])
    area = plane.path(corners, np.concatenate([[0.0], np.repeat(share, 2), [0.0]]), "curve")
    few, many = (_number(found, q) for q in ends[1:3].tolist())
    told = f"Nine rows in ten have an error from {few} to {many}. Dashed: an error of 0."
    return plane.draw("n-errors", "Errors.", told, [zero, area])


def round_ends(values: Floats) -> tuple[float, float]:
    """Round limits with four equal round steps between them.

    >>> round_ends(np.array([9.3, 43.0]))
    (0.0, 50.0)
    """
    low, high = float(values.min()), float(values.max())
    wide = (high - low or abs(high) or 1.0) / 4
    steps = [k * 10.0 ** float(np.floor(np.log10(wide))) for k in ROUND]
    fits = [(step, float(np.floor(low / step) * step)) for step in steps]
    step, start = next(((s, x) for s, x in fits if x + 4 * s >= high), fits[-1])
    return start, start + 4 * step


# ---------------------------------------------------------------- cases


def number_errors(
    model: Any, X: Any, y: Any, sample_weight: Any, own: dict[str, Any]
) -> tuple[Floats, Floats | None]:
    """Observed less estimate, NaN where a row has no weight, and the weights of the others."""
    table = read(X)
    sample, numbers = number_sample(table, y, sample_weight)
    found = np.full(table.n_rows, np.nan)
    found[sample.kept] = numbers - model.predict(X, **own)[sample.kept]
    return found, sample.weight


def number_cases(model: Any, X: Any, errors: Floats, n: int) -> list[dict[str, Any]]:
    """Up to n different rows: lowest and highest estimate, largest error, median."""
    table = model._read(X)
    kept = np.flatnonzero(np.isfinite(errors))
    estimates = model._predict(table)[kept]
    order, worst = np.argsort(estimates, kind="stable"), int(np.abs(errors[kept]).argmax())
    named = {
        "The smallest estimate": int(order[0]),
        "The largest estimate": int(order[-1]),
        "The largest error": worst,
        "The one in the middle": int(order[len(order) // 2]),
    }
    rows = {int(kept[at]): title for title, at in reversed([*named.items()][:n])}
    found = []
    for place, title in reversed([*rows.items()]):
        sheet = model._explain(table.rows(np.array([place])))
        found.append(_case(f"{title} (row {place})", sheet, float(errors[place])))
    return found


def _case(title: str, sheet: EstimateSheet, error: float) -> dict[str, Any]:
    low, high = sheet.interval
    digits, wide = sheet.digits, digits_of(high - low)
    observed = sheet.estimate + error
    foot = [
        ("Start: nothing known", spell(sheet.start, digits)),
        (f"Estimate of {sheet.target}{sheet.condition}", spell(sheet.estimate, digits)),
        (f"{percent(sheet.coverage)} interval", f"{spell(low, wide)} to {spell(high, wide)}"),
        ("Observed", spell(observed, wide)),
    ]
    sides = [
        _side(sheet, "Raises the estimate", 1, digits),
        _side(sheet, "Lowers the estimate", -1, digits),
    ]
    return {"title": title, "sides": sides, "foot": foot, "notes": [*sheet.notes]}


def _side(sheet: EstimateSheet, title: str, sign: int, digits: int) -> dict[str, Any]:
    pushes = [push for push in sheet.shown if sign * push.weight > 0]

    def told(weight: float) -> str:
        if sheet.link == "log":
            return factor(float(np.exp(weight)))
        return spell(weight, digits, "+")

    total = told(sum(push.weight for push in pushes))
    name = "Together" if sheet.link == "log" else "Sum"
    lines = [(push.text, told(push.weight)) for push in pushes]
    return {"title": title, "lines": lines, "total": (name, total)}


def read_survival_subject(model: Any) -> Subject:
    """The subject of a survival model: the tables of its hazard; the event is positive."""
    return Subject(model.evidence_, model, type(model).__name__, of=1)


def of_times(subject: Subject, found: SurvivalEvaluation) -> dict[str, Any]:
    """The parts of a page for the time to an event."""
    return {
        "heading": f"{subject.name}: time to {found.event}",
        "lead": _lead(subject, found),
        "measures": _measures(found),
        "findings": beside_measures(found),
        "means": _means(subject),
        "unit": "Weights are natural logarithms, not times 100: they add up to the log odds of "
        "the hazard.",
        "quality": {"tables": found.view().grids[:2], "figures": [_figures(found)]},
        "thresholds": None,
        "groups": {"by": found.by, "tables": found.show_groups()},
        "examples": (),
    }


def _lead(subject: Subject, found: SurvivalEvaluation) -> list[str]:
    evidence, ends = subject.evidence, subject.model.period_ends_
    n_levels = sum(len(table.levels) for table in evidence)
    return [
        f"This model estimates when {found.event} comes. Its hazard is the probability that "
        f"{found.event} comes in a period, given that it has not come before. A positive weight "
        "makes it come earlier.",
        f"{subject.name}, fitted on {_training_rows(subject)}. "
        f"It has {len(ends):,} periods up to {found.duration} = {ends[-1]:g}, a prior and "
        f"{len(evidence):,} tables with {n_levels:,} levels.",
        f"It is judged here on {found.n_rows:,} rows, of which {found.n_events:,} had the event.",
    ]


def _training_rows(subject: Subject) -> str:
    """The training rows and events of a survival model; early files count only rows and periods."""
    known = subject.model.level_rows_
    if known is None:
        return f"{subject.evidence.class_counts.sum():,.0f} rows and periods at risk"
    censored, events = np.asarray(known)[-1].tolist()
    return f"{censored + events:,.6g} rows, of which {events:,.6g} had the event"


def _measures(found: SurvivalEvaluation) -> list[tuple[str, str]]:
    half = percent(round(found.moments[len(found.moments) // 2].estimate, 3))
    return [
        ("Rows", f"{found.n_rows:,}"),
        ("Rows with the event", f"{found.n_events:,}"),
        ("Concordance (0.5 is chance)", f"{found.concordance:.3f}"),
        ("Brier score over time", f"{found.brier:.4f}"),
        ("Brier score of Kaplan-Meier alone", f"{found.brier_base:.4f}"),
        (f"Mean estimate by {found.duration} = {found.band_time:g}", half),
    ]


def _means(subject: Subject) -> str:
    words = words_of(subject.evidence)
    return (
        "Weights of the log odds of the hazard, times 100. Tables are in the order of importance: "
        f"{words.importance_is}. {name_ends(subject.evidence)}"
    ).rstrip()


def _figures(found: SurvivalEvaluation) -> Figures:
    known = [band for band in found.bands if band.observed.is_known()]
    told = (
        f"Rows in {len(known)} bands by the probability of {found.event} by "
        f"{found.duration} = {found.band_time:g}, with intervals. On the diagonal the share that "
        "had the event is the estimate."
    )
    return Figures([draw_calibration(known, told)] if known else [])
