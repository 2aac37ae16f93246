"""The parts of a report that only a survival model has: measures over time and their charts."""

from __future__ import annotations

from typing import Any

from weigh.evaluation.findings import beside_measures
from weigh.evaluation.survival import SurvivalEvaluation
from weigh.evaluation.survival_groups import show_groups
from weigh.evidence.units import words_of
from weigh.layout import percent
from weigh.pages.model import Subject, name_ends
from weigh.pages.numbers import draw_calibration
from weigh.pages.quality import Figures


def read_survival_subject(model: Any) -> Subject:
    """The tables of a survival model: those of its hazard, and the page is about the event."""
    return Subject(model.evidence_, model, type(model).__name__, of=1)


def of_times(subject: Subject, found: SurvivalEvaluation) -> dict[str, Any]:
    """What a page says of the time to an event."""
    return {
        "heading": f"{subject.name}: time to {found.event}",
        "lead": _lead(subject, found),
        "measures": _measures(found),
        "findings": beside_measures(found),
        "means": _means(subject),
        "unit": "Weights in nats, not times 100: they add up to the log odds of the hazard.",
        "quality": {"tables": found.view().sections[:2], "figures": [_figures(found)]},
        "thresholds": None,
        "groups": {"by": found.by, "tables": show_groups(found)},
        "examples": (),
    }


def _lead(subject: Subject, found: SurvivalEvaluation) -> list[str]:
    evidence, ends = subject.evidence, subject.model.period_ends_
    n_levels = sum(len(table.levels) for table in evidence)
    return [
        f"This model estimates when {found.event} comes. Its hazard is the probability that "
        f"{found.event} comes in a period, given that it has not come before. A positive weight "
        "makes it come earlier.",
        f"{subject.name}, fitted on {evidence.class_counts.sum():,.0f} rows and periods at risk. "
        f"It has {len(ends):,} periods up to {found.duration} = {ends[-1]:g}, a prior and "
        f"{len(evidence):,} tables with {n_levels:,} levels.",
        f"It is judged here on {found.n_rows:,} rows, of which {found.n_events:,} had the event.",
    ]


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
    )


def _figures(found: SurvivalEvaluation) -> Figures:
    told = (
        f"Rows in {len(found.bands)} bands by the probability of {found.event} by "
        f"{found.duration} = {found.band_time:g}, with intervals. On the diagonal the share that "
        "had the event is the estimate."
    )
    return Figures([draw_calibration(found.bands, told)])
