"""Performance of a model, as parts of a report: measures, charts, cut-offs, groups and cases."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from weigh.bins import label
from weigh.evaluation import Decision, Evaluation, Measures
from weigh.evaluation.page import Section
from weigh.evaluation.show import number, page
from weigh.evidence import Evidence
from weigh.frames import Floats, Integers
from weigh.metrics.predicted import Predicted
from weigh.metrics.scored import Scored
from weigh.metrics.scores import Many
from weigh.pages.charts import draw_charts, draw_reliability
from weigh.pages.weights import DRAWN
from weigh.sheet import BalanceSheet, explain

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


def _sections(found: Evaluation) -> tuple[tuple[Section, ...], tuple[Section, ...]]:
    """The tables of an evaluation: those of all rows, and those of groups."""
    parts = page(found).sections
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


def _threshold_table(m: Measures, of: str) -> Section:
    """Counts, rates and cost of the decisions at each cut-off."""
    marks = {m.best.rates.threshold: "best", m.decision.rates.threshold: "costs"}
    if len(marks) == 1:
        marks = dict.fromkeys(marks, "costs, best")
    every = {part.rates.threshold: part for part in (*m.thresholds, m.decision, m.best)}
    head = ("Threshold", "Flagged", "Caught", "False positives", "Missed", "Left alone",
            "Sens.", "Spec.", "PPV", "NPV", "Cost", "Net benefit")  # fmt: skip
    rows = tuple(_threshold(every[at], marks.get(at, "")) for at in sorted(every))
    note = (
        f"Caught are rows of {of} that are flagged, missed those that are not. costs: the "
        "threshold that the costs ask for; best: the one of least cost on these rows."
    )
    return Section("Flagged where the probability is above the threshold", head, rows, (note,))


def _threshold(part: Decision, mark: str) -> tuple[str, ...]:
    r = part.rates
    called = r.true_positives + r.false_positives
    counts = (r.true_positives, r.false_positives, r.false_negatives, r.true_negatives)
    shares = (r.sensitivity, r.specificity, r.ppv, r.npv)
    return (
        f"{r.threshold:.3g}{f' ({mark})' if mark else ''}",
        f"{called:,.6g} ({r.flagged:.0%})",
        *(f"{count:,.6g}" for count in counts),
        *(number(x, 2) for x in shares),
        *(number(x, 3) for x in (part.cost, part.net_benefit)),
    )


def groups(found: Evaluation) -> dict[str, Any]:
    """The tables of each group of rows."""
    return {"by": found.by, "tables": _sections(found)[1]}


@dataclass(frozen=True)
class Example:
    """A row as an example: the reason it was chosen, and its balance sheet."""

    title: str
    sheet: BalanceSheet


def choose_examples(
    model: Any, evidence: Evidence, X: Any, predicted: Predicted, pos_label: Any, n: int
) -> list[Example]:
    """Up to n different rows, explained with the names of the evidence."""
    table, places = model._read(X), np.flatnonzero(predicted.kept)
    found: dict[int, Example] = {}
    classes = evidence.classes.tolist()
    names = dict(zip(classes, evidence.class_names, strict=True))
    for title, kept in _rank(predicted.rows, names, pos_label)[:n]:
        place = int(places[kept])
        if place not in found:
            row = table.rows(np.array([place]))
            sheet = explain(evidence, row, pos_label, None, model._why_no_errors())
            found[place] = Example(f"{title} (row {place})", sheet)
    return [*found.values()]


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
        ("The one in the middle", _middle(p)),
    ]


def _middle(p: Floats) -> int:
    order: Integers = np.argsort(p, kind="stable")
    return int(order[len(order) // 2])
