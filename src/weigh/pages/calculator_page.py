"""The calculator: a model as a form, with a live balance sheet beside it."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace
from math import isfinite
from typing import Any

from weigh.bins import label, printable
from weigh.errors import Parameter, ParameterError
from weigh.evidence.show import spell_rows
from weigh.formula import Formula, Input
from weigh.formula.data import to_data
from weigh.frames import canonical
from weigh.layout import asset, document, render
from weigh.pages.by_hand import static_table, steps_by_hand
from weigh.pages.model import Subject, read_subject, spell_levels
from weigh.sheet import COVERAGE, REACH, refuse_class_options
from weigh.sheet.explain import AT_RANDOM, find_assumption
from weigh.sheet.show import SCALED
from weigh.writing import write_text

SCRIPTS = {
    False: ("weigh.js", "words.js", "sheet.js", "address.js", "form.js"),
    True: ("weigh.js", "words.js", "sheet.js", "numbers.js", "address.js", "form.js"),
}
"""The scripts of a page for classes (False), and of one for a number (True)."""

MOST = 2000
"""Maximum number of questions on a page; only models of documents have more."""


def calculator(
    model: Any,
    *,
    path: str | os.PathLike[str] | None = None,
    questions: Mapping[str, str] | None = None,
    pos_label: Any = None,
    adverse: Any = None,
    labels: Any = None,
    cut_off: float | None = None,
    decisions: tuple[str, str] | None = None,
    title: str | None = None,
) -> str | None:
    """Write a calculator: one HTML file with a form and a live balance sheet.

    The page contains the tables and computes the same numbers as `balance_sheet`. It loads nothing
    and sends nothing. The answers are stored in the address after #, so a case can be bookmarked.
    For a model of a number it shows the estimate, with the interval for a new case.

    Parameters
    ----------
    model : estimator or Evidence
        A fitted model with tables of weights.
    path : path, optional
        The file to write; without it the page is returned as text.
    questions : dict, optional
        Texts of the questions, by column: `{"pain_site": "Where does it hurt?"}`.
    pos_label : label, optional
        Positive class of the page. Default: the second of two; with more classes, the most
        probable.
    adverse, labels
        As in `report`: the class shown in red, and your names. The address of a case uses the
        model's own names.
    cut_off : float, optional
        Cut-off for the probability of the positive class, between 0 and 1, or for a scorecard the
        lowest score that is approved. The page says whether a case is above, or reaches the score.
    decisions : pair of str, optional
        Decisions for a case above the cut-off (of a scorecard: at or above), and for any other:
        `("Refer to the clinic", "See
        again in a year")`.
    title : str, optional
        Heading of the page.

    Examples
    --------
    >>> import weigh
    >>> model = weigh.EvidenceNB().fit(weigh.datasets.titanic(), "Survived")
    >>> page = weigh.calculator(model)
    >>> page.splitlines()[0], "Female" in page
    ('<!doctype html>', True)
    """
    subject = read_subject(model).labelled(labels).warning_of(adverse).naming(pos_label)
    decide = _read_decision(subject, cut_off, decisions)
    formula = replace(
        Formula.of_evidence(subject.evidence), spread=getattr(subject.model, "_spread", None)
    )
    _refuse_tokens(formula)
    texts = _read_texts(questions, formula)
    heading = title or _title(subject)
    page = document(
        heading,
        _body(subject, heading),
        asset(__package__, "page.css", "controls.css", "form.css"),
        asset(__package__, *SCRIPTS[subject.estimates]),
        _describe(subject, formula, texts) | {"decide": decide},
    )
    if path is None:
        return page
    write_text(page, path)
    return None


def _refuse_tokens(formula: Formula) -> None:
    if len(formula.inputs) > MOST:
        raise ValueError(
            f"the model reads {len(formula.inputs):,} tokens, but a form can have at most {MOST:,} "
            "questions; fit with fewer, such as CountVectorizer(max_features=500)"
        )


def _read_texts(questions: Mapping[str, str] | None, formula: Formula) -> Mapping[str, str]:
    for name in questions or {}:
        if name not in formula.column_names:
            names = [*formula.column_names]
            raise ParameterError(
                Parameter("questions"), f" names {name!r}, but the columns are {names}"
            )
    return questions or {}


def _describe(subject: Subject, formula: Formula, texts: Mapping[str, str]) -> dict[str, Any]:
    """The formula, with the texts and questions of the form."""
    data, evidence = to_data(formula, spell_levels), subject.evidence
    units = evidence.units.turned if subject.of == 0 else evidence.units
    unseen = _codes_without_rows(formula)
    for source, column in zip(formula.inputs, data["columns"], strict=True):
        column |= _name_column(source, texts.get(source.name, ""), unseen)
    if subject.estimates:
        return data | _describe_number(subject)
    return data | {
        "of": subject.of,
        "classTexts": [*map(printable, evidence.class_names)],
        "asks": [printable(evidence.probability_of(c)) for c in range(len(evidence.classes))],
        "adverse": subject.adverse,
        "knownRate": subject.known_rate,
        "other": "another",
        "coverage": COVERAGE,
        "reach": REACH,
        "assumes": find_assumption(evidence),
        "atRandom": AT_RANDOM,
        "scaled": SCALED,
        "caveat": evidence.caveat,
        "method": evidence.recalibration and evidence.recalibration.method,
        "units": {**vars(units), "points": units.are_points},
        "costs": _costs(subject),
    }


def _describe_number(subject: Subject) -> dict[str, Any]:
    """Texts of a page for a number; its scale is the interval when no feature is known."""
    evidence, axis = subject.evidence, [0.0, 0.0]
    if subject.model is not None:
        axis = [*subject.model.balance_sheet({}).interval]
    return {
        "of": None,
        "classTexts": [*map(printable, evidence.class_names)],
        "target": printable(evidence.class_names[0].removesuffix(evidence.condition)),
        "adverse": None,
        "other": "another",
        "coverage": COVERAGE,
        "axis": axis,
    }


def _costs(subject: Subject) -> dict[str, Any] | None:
    """The baseline points of each feature, and the texts of its reason codes."""
    if subject.card is None:
        return None
    texts = [[*map(printable, own)] for own in subject.card.reason_texts(subject.evidence)]
    return {"baselines": [*subject.card.baselines()], "texts": texts}


def _codes_without_rows(formula: Formula) -> set[tuple[str, float]]:
    """Special codes that no training row had, by column."""
    found: dict[tuple[str, float], bool] = {}
    for term in formula.terms:
        for level, place in enumerate(term.places):
            for part, at in zip(term.columns, place, strict=True):
                known = part.is_numeric and at < part.no_level
                if known and isinstance(part.levels[at], int | float):
                    code = part.name, float(part.levels[at])  # type: ignore[arg-type]
                    found[code] = found.get(code, True) and level in term.unseen
    return {code for code, empty in found.items() if empty}


def _name_column(source: Input, question: str, unseen: set[tuple[str, float]]) -> dict[str, Any]:
    """The title of a column, its question, and the texts of its choices and codes."""
    found: dict[str, Any] = {}
    title = source.first.title or question
    if title:
        found["title"] = printable(title)
    if question:
        found["text"] = printable(question)
    own = dict(source.first.texts)
    if source.is_numeric:
        codes = [value for value in source.values if (source.name, value) not in unseen]
        keys = [label(canonical(code)) for code in codes]  # as the labels of its feature
        named = [printable(own.get(text, "")) for text in keys]
        return found | {"codes": codes} | ({"codeTexts": named} if any(named) else {})
    texts = [printable(own.get(text, text)) for text in source.labels]
    return found | ({"texts": texts} if own else {})


def _read_decision(subject: Subject, cut_off: Any, decisions: Any) -> dict[str, Any] | None:
    """The cut-off, and the decisions above it and otherwise."""
    if subject.estimates:
        refuse_class_options({"cut_off": cut_off, "decisions": decisions})
        return None
    if cut_off is None:
        if decisions is not None:
            raise ParameterError(Parameter("decisions"), " need ", Parameter("cut_off"))
        return None
    limit = _read_cut_off(subject, cut_off)
    if decisions is not None and (isinstance(decisions, str) or len([*decisions]) != 2):
        raise ParameterError(
            Parameter("decisions"), " must be two texts: above the cut-off, and otherwise"
        )
    above, below = decisions or ("", "")  # the page names the side of the cut-off anyway
    return limit | {"of": subject.of, "texts": [*map(printable, (above, below))]}


def _read_cut_off(subject: Subject, cut_off: Any) -> dict[str, float]:
    """The least score of a scorecard, or the probability above which a case is."""
    number = isinstance(cut_off, int | float) and not isinstance(cut_off, bool)
    within = number and 0 < cut_off < 1
    if subject.evidence.units.are_points:
        if within or not number or not isfinite(cut_off):
            wants = " must be a score for a scorecard, such as 600: the lowest that is approved"
            raise ParameterError(Parameter("cut_off", cut_off), wants)
        return {"score": float(cut_off)}
    if not within:
        raise ParameterError(
            Parameter("cut_off", cut_off), " must be a probability between 0 and 1"
        )
    if subject.of is None:
        raise ParameterError(
            Parameter("cut_off"), " is of one class: name it with ", Parameter("pos_label")
        )
    return {"at": float(cut_off)}


def _title(subject: Subject) -> str:
    if subject.estimates:
        return f"Estimate of {subject.classes[0]}"
    if subject.of is not None and any(subject.evidence.outcomes):
        return subject.evidence.probability_of(subject.of)
    if subject.evidence.units.are_points and subject.of is not None:
        return f"Score for {subject.classes[subject.of]}"
    if subject.of is not None:
        what = subject.probability_of(subject.of)
        return f"The {what[0].lower()}{what[1:]}"
    return f"The probabilities of {len(subject.classes)} classes"


def _body(subject: Subject, heading: str) -> Any:
    """The form, and the table for readers without scripts."""
    with_positive_second = subject.with_positive_second.evidence
    return render(
        "calculator.html",
        heading=heading,
        name=subject.name,
        rows=spell_rows(subject.evidence),
        form=asset(__package__, "form.html"),
        steps=steps_by_hand(with_positive_second),
        table=static_table(with_positive_second),
    )
