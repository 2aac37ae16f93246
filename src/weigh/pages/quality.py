"""How good a model is, as parts of a report: measures, charts, thresholds and costs, groups."""

from __future__ import annotations

from weigh.bins import label
from weigh.evaluation import Evaluation, Measures
from weigh.evaluation.page import Section
from weigh.evaluation.show import page
from weigh.metrics.predicted import Predicted
from weigh.metrics.scored import Scored
from weigh.pages.charts import charts, draw_reliability
from weigh.pages.document import escape
from weigh.pages.parts import paragraphs, section, table_of
from weigh.pages.weights import DRAWN

ALONE = (
    "ROC and lift need the rows themselves, which this page was not given; nor are rows explained."
)


def quality(found: Evaluation, predicted: Predicted | None) -> str:
    """Measures and charts; of rows that are not at hand, what the evaluation keeps of them."""
    own, _ = _sections(found)
    tables = own[:3] if isinstance(found.validation, Measures) else own
    parts = [*map(table_of, tables)]
    drawn = _kept(found) if predicted is None else _charts(found, predicted)
    return section("How good it is", parts[0], drawn, *parts[1:])


def _sections(found: Evaluation) -> tuple[tuple[Section, ...], tuple[Section, ...]]:
    """The tables of an evaluation: those of all rows, and those of groups."""
    parts = page(found).sections
    per_group = 2 if isinstance(found.validation, Measures) else 1
    n = len(parts) - (per_group if found.groups else 0)
    return parts[:n], parts[n:]


def _kept(found: Evaluation) -> str:
    drawn = ""
    if isinstance(found.validation, Measures):
        figure = draw_reliability(found.validation.reliability, label(found.pos_label), "c")
        drawn = f'<div class="charts">{figure}</div>'
    return drawn + paragraphs([ALONE])


def _charts(found: Evaluation, predicted: Predicted) -> str:
    rows = predicted.rows
    if isinstance(rows, Scored):
        return charts(rows, label(found.pos_label), "c")
    if len(rows.classes) > DRAWN:
        return paragraphs(
            [f"Charts of {len(rows.classes)} classes are left out; name one of them."]
        )
    parts = []
    for c, name in enumerate(map(label, rows.classes)):
        drawn = charts(Scored(rows.codes == c, rows.p[:, c], rows.weight), name, f"c{c}")
        parts.append(f"<h3>{escape(name)} against the rest</h3>{drawn}")
    return "".join(parts)


def thresholds(found: Evaluation) -> str:
    """What deciding costs, and where; of one class."""
    if not isinstance(found.validation, Measures):
        return ""
    (cost_fp, cost_fn), of = found.costs, label(found.pos_label)
    told = (
        f"To flag a row is to take it for {of}. Where flagging one that is not {of} costs "
        f"{cost_fp:g} and missing one that is costs {cost_fn:g}, honest probabilities of {of} are "
        f"flagged above {cost_fp / (cost_fp + cost_fn):.3g}."
    )
    own, _ = _sections(found)
    return section("Thresholds and costs", paragraphs([told]), table_of(own[3]))


def groups(found: Evaluation) -> str:
    """The same for each group of rows."""
    _, parts = _sections(found)
    return section(f"Groups of {found.by}", *map(table_of, parts)) if parts else ""
