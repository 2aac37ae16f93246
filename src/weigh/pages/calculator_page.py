"""The calculator: a model as a form, with a live balance sheet beside it."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from scipy.special import ndtri

from weigh.bins import printable
from weigh.formula import Formula
from weigh.formula.data import to_data
from weigh.layout import render
from weigh.pages.document import asset, document
from weigh.pages.levels import spell_levels
from weigh.pages.questions import Branches, read_branches
from weigh.pages.subject import Subject, read_subject
from weigh.pages.tables import formula as steps_by_hand
from weigh.pages.tables import static_table
from weigh.sheet import COVERAGE
from weigh.sheet.explain import SCALES, SILENT
from weigh.writing import write_text

MOST = 2000
"""Questions that a page can hold; only models of documents have more."""


def calculator(
    model: Any,
    *,
    path: str | os.PathLike[str] | None = None,
    ask_if: Mapping[str, tuple[str, Any]] | None = None,
    questions: Mapping[str, str] | None = None,
    pos_label: Any = None,
    title: str | None = None,
) -> str | None:
    """A model as one HTML file: a form, and beside it the balance sheet of what is filled in.

    The page holds the tables and computes what `balance_sheet` does. Nothing is fetched and nothing
    leaves it; the case stands in the address after #, so that it can be bookmarked.

    Parameters
    ----------
    model : estimator or Evidence
        A fitted model that ends as a table of weights.
    path : path, optional
        The file to write; without it the page is returned as text.
    ask_if : dict, optional
        Questions that depend on another: `{"pain_site": ("pain", "yes")}` asks for the site where
        pain is yes; a list in place of "yes" gives several levels. What is not asked weighs
        nothing: fit such a feature with `missing={"pain_site": "skip"}`.
    questions : dict, optional
        What to ask in place of a column's name: `{"pain_site": "Where does it hurt?"}`.
    pos_label : label, optional
        The class that the page speaks for: by default the second of two, the most probable of more.
    title : str, optional
        The page's heading.

    Examples
    --------
    >>> import weigh
    >>> model = weigh.EvidenceNB().fit(weigh.datasets.titanic(), "Survived")
    >>> page = weigh.calculator(model)
    >>> page.splitlines()[0], "Female" in page
    ('<!doctype html>', True)
    """
    subject = read_subject(model).naming(pos_label)
    formula = Formula.of_evidence(subject.evidence)
    branches = _ask(formula, ask_if)
    texts = _read_texts(questions, formula)
    heading = title or _title(subject)
    page = document(
        heading,
        _body(subject, heading),
        asset("page.css", "form.css"),
        asset("weigh.js", "sheet.js", "address.js", "form.js"),
        _describe(subject, formula, branches, texts),
    )
    if path is None:
        return page
    write_text(page, path)
    return None


def _ask(formula: Formula, ask_if: Any) -> Branches:
    if len(formula.inputs) > MOST:
        raise ValueError(
            f"the model reads {len(formula.inputs):,} tokens, and a form of more than {MOST:,} "
            "questions helps nobody; fit with fewer, such as CountVectorizer(max_features=500)"
        )
    return read_branches(ask_if, formula.inputs)


def _read_texts(questions: Mapping[str, str] | None, formula: Formula) -> Mapping[str, str]:
    for name in questions or {}:
        if name not in formula.column_names:
            names = [*formula.column_names]
            raise ValueError(f"questions names {name!r}, but the columns are {names}")
    return questions or {}


def _describe(
    subject: Subject, formula: Formula, branches: Branches, texts: Mapping[str, str]
) -> dict[str, Any]:
    """The formula, with what the form says and asks."""
    data, evidence = to_data(formula, spell_levels), subject.evidence
    for j, (name, column) in enumerate(zip(formula.column_names, data["columns"], strict=True)):
        if name in texts:
            column["text"] = printable(texts[name])
        if j in branches:
            column["ask"] = [branches[j][0], [*branches[j][1]]]
    return data | {
        "of": subject.of,
        "knownRate": subject.known_rate,
        "other": "another",
        "coverage": COVERAGE,
        "reach": float(ndtri((1 + COVERAGE) / 2)),
        "assumes": "independent features" if evidence.covariance is None else SCALES,
        "silent": SILENT,
        "caveat": evidence.caveat,
        "method": evidence.recalibration and evidence.recalibration.method,
    }


def _title(subject: Subject) -> str:
    if subject.of is not None:
        return f"The probability of {subject.classes[subject.of]}"
    return f"The probabilities of {len(subject.classes)} classes"


def _body(subject: Subject, heading: str) -> Any:
    """The form, and the table for readers without scripts."""
    facing = subject.facing.evidence
    return render(
        "calculator.html",
        heading=heading,
        name=subject.name,
        rows=f"{subject.evidence.class_counts.sum():,.6g}",
        form=asset("form.html"),
        steps=steps_by_hand(facing),
        table=static_table(facing),
    )
