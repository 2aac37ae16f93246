"""The report: what a model is, how good it is, and how it decides, on one page."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from weigh.bins import Cross, label
from weigh.evaluation import Evaluation, Measures, evaluate
from weigh.evaluation.page import Section
from weigh.evaluation.show import page as evaluation_page
from weigh.evidence import Evidence, FeatureTable, weigh_counts
from weigh.metrics.predicted import Predicted, predict_rows
from weigh.metrics.scored import Scored
from weigh.pages.charts import charts
from weigh.pages.document import asset, document, escape
from weigh.pages.exact import exact_formula
from weigh.pages.examples import choose_examples
from weigh.pages.parts import paragraphs, scroll, section, sheet_of, table_of
from weigh.pages.subject import Subject, read_subject
from weigh.pages.weights import weight_tables
from weigh.store import write_text
from weigh.tally import Counts

DRAWN = 6
"""Charts are of one class against the rest; of more classes than these they are left out."""


def report(
    model: Any,
    X: Any,
    y: Any,
    path: str | os.PathLike[str] | None = None,
    *,
    sample_weight: Any = None,
    train: Any = None,
    by: Any = None,
    costs: Any = (1.0, 1.0),
    pos_label: Any = None,
    examples: int = 4,
    title: str | None = None,
) -> str | None:
    """A model on one page for people: what it is, how good it is on these rows, how it decides.

    One HTML file without scripts, which loads nothing: the weights with bars and intervals, the
    measures of `evaluate`, reliability, ROC and lift, thresholds and costs, groups, reversals,
    balance sheets of a few rows, and the exact formula.

    Parameters
    ----------
    model : estimator
        A fitted classifier that ends as a table of weights.
    X, y, sample_weight, train, by, costs, pos_label
        As in `evaluate`: rows that the model has not seen, and what came true.
    path : path, optional
        The file to write; without it the page is returned as text.
    examples : int, default=4
        How many rows of X to explain. Their values are on the page: 0 shows none.
    title : str, optional
        The page's heading.

    Examples
    --------
    >>> import weigh
    >>> people = weigh.datasets.titanic()
    >>> model = weigh.EvidenceNB().fit(people, "Survived")
    >>> page = weigh.report(model, people, "Survived", by="Class")
    >>> page.splitlines()[0], "Sex" in page
    ('<!doctype html>', True)
    """
    subject = read_subject(model)
    if subject.model is None:
        raise ValueError("a report scores rows: give the fitted model in place of its Evidence")
    asked = {"sample_weight": sample_weight, "pos_label": pos_label}
    found = evaluate(model, X, y, train=train, by=by, costs=costs, **asked)
    predicted = predict_rows(model, X, y, beside=by, **asked)
    heading = title or evaluation_page(found).title
    body = [
        _what(subject, found),
        section("In short", paragraphs(found.findings)),
        _weights(subject.evidence),
        _quality(found, predicted),
        _thresholds(found),
        _groups(found),
        section("Reversals", paragraphs(_reversals(subject))),
        _examples(model, X, predicted, found.pos_label, examples),
        _formula(subject.evidence),
    ]
    head = f"<header><h1>{escape(heading)}</h1></header>"
    page = document(
        heading, f"{head}\n<main>{''.join(body)}</main>", asset("page.css", "report.css")
    )
    if path is None:
        return page
    write_text(page, path)
    return None


def _what(subject: Subject, found: Evaluation) -> str:
    evidence = subject.evidence
    n_levels = sum(len(table.levels) for table in evidence)
    shares = [
        f"{label(c)} {count:,.6g} ({rate:.1%})"
        for c, count, rate in zip(
            evidence.classes.tolist(), evidence.class_counts, evidence.base_rate, strict=True
        )
    ]
    told = [
        f"{' '.join(repr(subject.model).split())[:400]}, learnt from "
        f"{evidence.class_counts.sum():,.6g} rows: {', '.join(shares)}.",
        f"It is a prior and {len(evidence):,} tables of weights, of {n_levels:,} levels in all.",
        f"It is judged here on {found.validation.n_rows:,} rows.",
    ]
    if not np.allclose(evidence.assumed_rate, evidence.base_rate):
        rates = ", ".join(f"{rate:.3g}" for rate in evidence.assumed_rate.tolist())
        told.append(f"It takes the class frequencies to be {rates}.")
    return section("What it is", paragraphs(told))


def _weights(evidence: Evidence) -> str:
    names = [label(c) for c in evidence.classes.tolist()]
    means = f"for {names[1]} against {names[0]}" if len(names) == 2 else "for each class"
    told = (
        f"Weights of evidence {means}, times 100: above 0 a level speaks for, below 0 against. "
        "Features are in the order of what they tell alone (information value)."
    )
    return section("The evidence", paragraphs([told]), scroll("Weights", weight_tables(evidence)))


# ------------------------------------------------------------ how good it is


def _sections(found: Evaluation) -> tuple[tuple[Section, ...], tuple[Section, ...]]:
    """The tables of an evaluation: those of all rows, and those of groups."""
    parts = evaluation_page(found).sections
    per_group = 2 if isinstance(found.validation, Measures) else 1
    n = len(parts) - (per_group if found.groups else 0)
    return parts[:n], parts[n:]


def _quality(found: Evaluation, predicted: Predicted) -> str:
    own, _ = _sections(found)
    tables = own[:3] if isinstance(found.validation, Measures) else own
    parts = [*map(table_of, tables)]
    return section("How good it is", parts[0], _charts(found, predicted), *parts[1:])


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


def _thresholds(found: Evaluation) -> str:
    if not isinstance(found.validation, Measures):
        return ""
    cost_fp, cost_fn = found.costs
    told = (
        f"Where flagging in vain costs {cost_fp:g} and missing costs {cost_fn:g}, honest "
        f"probabilities are flagged above {cost_fp / (cost_fp + cost_fn):.3g}."
    )
    own, _ = _sections(found)
    return section("Thresholds and costs", paragraphs([told]), table_of(own[3]))


def _groups(found: Evaluation) -> str:
    _, parts = _sections(found)
    return section(f"Groups of {found.by}", *map(table_of, parts)) if parts else ""


# ------------------------------------------------------------ how it decides


def _reversals(subject: Subject) -> list[str]:
    known = getattr(subject.model, "reversals_", None)
    turned = [table.name for table in subject.evidence if _is_turned(table)]
    told = (
        [f"{text}." for text in known] if known is not None else [TURNED.format(n) for n in turned]
    )
    return told or ["None: every feature speaks as it does alone."]


TURNED = "{}: alone its levels speak one way, beside the other features the other way."
AGREE, FAINT = -0.5, 0.01


def _is_turned(table: FeatureTable) -> bool:
    """Whether the weights run against those of its own counts, by more than noise."""
    if isinstance(table.feature, Cross) or table.by_class.shape[1] > 1:
        return False
    rows = table.counts.sum(axis=1)
    alone = weigh_counts(Counts(table.feature, table.counts), table.smoothing).by_class[:, 0]
    own, share = table.by_class[:, 0], rows / rows.sum()
    spread = float(share @ own**2) * float(share @ alone**2)
    faint = float(share @ np.abs(own)) < FAINT
    return not faint and spread > 0 and float(share @ (own * alone)) < AGREE * spread**0.5


def _examples(model: Any, X: Any, predicted: Predicted, of: Any, n: int) -> str:
    if n <= 0:
        return ""
    chosen = choose_examples(model, X, predicted, of, n)
    sheets = "".join(sheet_of(example.title, example.sheet) for example in chosen)
    return section("Examples", f'<div class="sheets">{sheets}</div>')


def _formula(evidence: Evidence) -> str:
    text = "\n".join(escape(line) for line in exact_formula(evidence))
    told = paragraphs(["Weights in nats, not times 100; an interval holds its upper end."])
    return section("The exact formula", told, f"<pre tabindex=0>{text}</pre>")
