"""How good a model is, as parts of a report: measures, charts, thresholds and costs, groups."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from weigh.bins import label
from weigh.evaluation import Evaluation, Measures
from weigh.evaluation.page import Section
from weigh.evaluation.show import page
from weigh.metrics.predicted import Predicted
from weigh.metrics.scored import Scored
from weigh.pages.charts import draw_charts, draw_reliability
from weigh.pages.weights import DRAWN

ALONE = (
    "ROC and lift need the rows themselves, which this page was not given; nor are rows explained."
)


@dataclass(frozen=True)
class Figures:
    """Charts side by side, what they are of, and what is to be said below."""

    charts: list[Any]
    title: str = ""
    notes: tuple[str, ...] = ()


def quality(found: Evaluation, predicted: Predicted | None) -> dict[str, Any]:
    """Measures and charts; of rows that are not at hand, what the evaluation keeps of them."""
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
    named = enumerate(zip(ones, map(label, rows.classes), strict=True))
    return [_of_one(one, name, f"c{c}", f"{name} against the rest") for c, (one, name) in named]


def _of_one(rows: Scored, of: str, name: str, title: str = "") -> Figures:
    drawn = draw_charts(rows, of, name)
    nothing = () if drawn else ("All rows are of one class: there is nothing to draw.",)
    return Figures(drawn, title, nothing)


def thresholds(found: Evaluation) -> dict[str, Any] | None:
    """What deciding costs, and where; of one class."""
    if not isinstance(found.validation, Measures):
        return None
    (cost_fp, cost_fn), of = found.costs, label(found.pos_label)
    told = (
        f"To flag a row is to take it for {of}. Where flagging one that is not {of} costs "
        f"{cost_fp:g} and missing one that is costs {cost_fn:g}, honest probabilities of {of} are "
        f"flagged above {cost_fp / (cost_fp + cost_fn):.3g}."
    )
    own, _ = _sections(found)
    return {"told": told, "table": own[3]}


def groups(found: Evaluation) -> dict[str, Any]:
    """The tables of each group of rows."""
    return {"by": found.by, "tables": _sections(found)[1]}
