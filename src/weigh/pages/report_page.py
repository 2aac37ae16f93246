"""The report: a model, its performance and its decisions, on one page."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from weigh.arrays import Floats
from weigh.base import EvidenceModel
from weigh.evaluation import Evaluation, NumberEvaluation, evaluate, named_columns
from weigh.evaluation.findings import beside_measures
from weigh.evaluation.survival import SurvivalEvaluation
from weigh.evidence.exposure import given_to
from weigh.evidence.units import words_of
from weigh.frames import canonical, keep_reader, read
from weigh.layout import Grid, asset, document, render
from weigh.metrics.predictions import Predicted, predict_rows
from weigh.pages.by_hand import exact_formula
from weigh.pages.model import (
    Subject,
    name_ends,
    read_subject,
    spell_sheet,
)
from weigh.pages.numbers import (
    lead_number,
    number_cases,
    number_errors,
    number_means,
    number_measures,
    number_quality,
    of_times,
    read_survival_subject,
)
from weigh.pages.quality import choose_examples, groups, quality, thresholds
from weigh.pages.summary import (
    caveats,
    key_measures,
    lead,
    list_tables,
    name_evaluation,
    name_table,
    reversals,
)
from weigh.pages.weights import weight_cards
from weigh.scorecard.bands import implied_costs
from weigh.scorecard.show import view as view_card
from weigh.sheet import BalanceSheet, notes_of, sides_of, summary_lines
from weigh.store import tell_offsets, tell_parameters
from weigh.writing import write_text


def report(
    model: Any,
    X: Any = None,
    y: Any = None,
    *,
    path: str | os.PathLike[str] | None = None,
    evaluation: Evaluation | NumberEvaluation | SurvivalEvaluation | None = None,
    sample_weight: Any = None,
    exposure: Any = None,
    times: Any = None,
    train: Any = None,
    by: Any = None,
    costs: Any = None,
    pos_label: Any = None,
    adverse: Any = None,
    labels: Any = None,
    profit: Any = None,
    cut_off: float | None = None,
    examples: int = 4,
    title: str | None = None,
) -> str | None:
    """Write a report of a model and its quality: one HTML page.

    The page has no scripts and loads nothing. It begins with a summary of at most two printed
    pages: what the model predicts, how good it is, four charts, the most important tables, and
    caveats. Folded sections follow: every weight, all measures, cut-offs and costs, groups,
    reversals, balance sheets of a few rows, and the exact formula. For a model of a number the
    measures are errors, calibration and coverage, and weights are in its unit or factors.

    Parameters
    ----------
    model : estimator or Evidence
        A fitted classifier, regressor or survival model with tables of weights, or its evidence.
    X, y, sample_weight, exposure, times, train, by, costs
        As in `evaluate`: hold-out rows and their true classes, numbers or times.
    path : path, optional
        The file to write; without it the page is returned as text.
    evaluation : Evaluation, NumberEvaluation or SurvivalEvaluation, optional
        An earlier evaluation, instead of X and y. The page then has no ROC curve, lift or examples,
        which need the rows.
    pos_label : label, optional
        Positive class of the page. Default: the second of two; with more classes, all. The page of
        a scorecard shows points for the good class, and measures of the bad one.
    adverse : label, optional
        The bad class. Evidence for it is red.
    labels : dict, optional
        Your names, with any of these parts: {"columns": {"edu": "Education"}, "levels": {"edu":
        {"3": "degree"}}, "classes": {"bad": "Default"}, "outcomes": {"bad": "the loan defaults"}}.
        An outcome completes the phrase "Probability that". The model's own names stay the keys of
        files, edits and rows.
    profit : dict, optional
        Scorecards only: profit of an approved case of each class, such as {"good": 100, "bad":
        -900}. The cut-off table then has the profit, and the costs are those that it implies unless
        `costs` are given.
    cut_off : float, optional
        Scorecards only: the lowest score that is approved. The page then compares the approval
        rates of the groups of `by`.
    examples : int, default=4
        Number of rows of X to explain. Their values are on the page; 0 shows none.
    title : str, optional
        Heading of the page.

    Examples
    --------
    >>> import weigh
    >>> people = weigh.datasets.titanic()
    >>> model = weigh.EvidenceNB().fit(people, "Survived")
    >>> page = weigh.report(model, people, "Survived", by="Class")
    >>> page.splitlines()[0], "Sex" in page
    ('<!doctype html>', True)
    """
    X, timed = keep_reader(X), hasattr(model, "predict_survival")
    subject = read_survival_subject(model) if timed else read_subject(model)
    subject = subject.labelled(labels).warning_of(adverse)
    of_card = _read_card_options(subject, by, evaluation, profit=profit, cut_off=cut_off)
    if pos_label is None and evaluation is None and subject.card is not None:
        pos_label = subject.card.adverse
    if profit is not None and costs is None:
        costs = implied_costs(subject.card, profit, pos_label)
    asked = {"sample_weight": sample_weight, "by": by, "pos_label": pos_label}
    more = {"exposure": exposure, "times": times}
    asked |= {name: value for name, value in more.items() if value is not None}
    if evaluation is None:
        judged = _judge(subject, X, y, {"train": train, "costs": costs, **asked}, examples)
        judged = replace(judged, printed=_tables_of_card(subject, X, y, asked, **of_card))
    else:
        given = {"X": X, "y": y, "train": train, "costs": costs, **asked}
        judged = _Judged(_check(evaluation, subject, given))
    page = _page(subject, judged, title)
    if path is None:
        return page
    write_text(page, path)
    return None


@dataclass(frozen=True, eq=False)
class _Judged:
    """The evaluation of a model, with its hold-out rows where they are available."""

    found: Evaluation | NumberEvaluation | SurvivalEvaluation
    predicted: Predicted | None = None
    examples: Mapping[str, BalanceSheet] = field(default_factory=dict)
    printed: tuple[Any, ...] = ()  # tables of a scorecard
    errors: Floats | None = None  # observed less estimate of each row, for a number
    weight: Floats | None = None  # row weights
    cases: Sequence[dict[str, Any]] = ()


def _judge(subject: Subject, X: Any, y: Any, asked: dict[str, Any], examples: int) -> _Judged:
    if X is None or y is None:
        raise ValueError(
            "a report needs rows and their true values (X and y), or the result of "
            "weigh.evaluate (evaluation=)"
        )
    scorer = _scorer(subject, X)
    judged = subject.card or scorer  # whose equal scores have equal probabilities, to the last bit
    found = evaluate(judged, X, y, **asked)
    if isinstance(found, SurvivalEvaluation):
        return _Judged(found)
    if isinstance(found, NumberEvaluation):
        own = given_to(scorer, read(X).names, asked.get("exposure"))
        errors, weight = number_errors(scorer, X, y, asked["sample_weight"], own)
        cases = [] if own else number_cases(scorer, X, errors, examples)
        return _Judged(found, errors=errors[np.isfinite(errors)], weight=weight, cases=cases)
    assert isinstance(found, Evaluation)
    own = {name: asked[name] for name in ("sample_weight", "pos_label")}
    predicted = predict_rows(judged, X, y, beside=named_columns(X, asked["by"]), **own)
    most = max(examples, 0)
    labels = found.pos_label, _favoured(subject, found)
    chosen = choose_examples(scorer, subject.evidence, X, predicted, labels, most)
    return _Judged(found, predicted, chosen)


def _favoured(subject: Subject, found: Evaluation) -> Any:
    """The class that the weights of the page favour: the measured one, of a card the good one."""
    return found.pos_label if subject.card is None else subject.card.pos_label


def _scorer(subject: Subject, X: Any) -> Any:
    """The model, or one made from the tables alone that can score such rows."""
    if subject.model is not None:
        return subject.model
    tokens = subject.evidence.event_model == "counts"
    return EvidenceModel.of(subject.evidence, read(X, allow_sparse=tokens).named)


def _read_card_options(subject: Subject, by: Any, evaluation: Any, **given: Any) -> dict[str, Any]:
    """The options of scorecards; an error if they are given without a scorecard and rows."""
    for name, value in given.items():
        if value is not None and (subject.card is None or evaluation is not None):
            raise ValueError(f"{name} needs a scorecard with rows (X and y); leave it out")
    if given["cut_off"] is not None and by is None:
        raise ValueError("cut_off compares the approval rates of groups: name their column in by")
    return given


def _tables_of_card(
    subject: Subject, X: Any, y: Any, asked: dict[str, Any], profit: Any, cut_off: float | None
) -> tuple[Any, ...]:
    """The cut-off table, the gains table, and approval by group where a cut-off is given."""
    card, by = subject.card, asked["by"]
    if card is None:
        return ()
    bands = card.bands(X, y, sample_weight=asked["sample_weight"], profit=profit)
    return (bands, bands.gains, *([] if cut_off is None else [card.impact(X, by, cut_off)]))


def _check(found: Any, subject: Subject, given: dict[str, Any]) -> Any:
    """Check that an evaluation has the same classes, and that no option asks for a new one."""
    kind: Any = NumberEvaluation if subject.estimates else Evaluation
    kind = SurvivalEvaluation if subject.evidence.form == "hazard" else kind
    if not isinstance(found, kind):
        raise ValueError(f"evaluation must be what evaluate returns, got {type(found).__name__}")
    both = [name for name, value in given.items() if value is not None]
    if both:
        raise ValueError(f"{both[0]} is part of the evaluation already; leave it out")
    if isinstance(found, NumberEvaluation | SurvivalEvaluation):
        return found
    classes = [canonical(c) for c in subject.evidence.classes.tolist()]
    if [*found.classes] != classes:
        raise ValueError(
            f"the evaluation has the classes {[*found.classes]}, but the model has {classes}"
        )
    return found


def _page(subject: Subject, judged: _Judged, title: str | None) -> str:
    if isinstance(judged.found, SurvivalEvaluation):
        own = of_times(subject, judged.found)
    elif isinstance(judged.found, NumberEvaluation):
        own = _of_number(subject, judged.found, judged)
    else:
        subject = subject.naming(_favoured(subject, judged.found)).with_positive_second
        own = _of_classes(subject, name_evaluation(judged.found, subject.evidence), judged)
    heading = title or own["heading"]
    told = own | {
        "heading": heading,
        "look": subject.look,
        "ranked": list_tables(subject),
        "caveats": caveats(subject),
        "cards": weight_cards(subject) if subject.card is None else "",
        "printed": _print_tables(subject, judged.printed),
        "reversals": reversals(subject),
        "provenance": _provenance(subject),
        "exact": exact_formula(subject.evidence, subject.of),
        "ends": name_ends(subject.evidence),
    }
    return document(
        heading, render("report.html", **told), asset(__package__, "page.css", "report.css")
    )


def _of_classes(subject: Subject, found: Evaluation, judged: _Judged) -> dict[str, Any]:
    """The parts of a page for probabilities."""
    profits = [bands.best.words for bands in judged.printed[:1] if bands.best is not None]
    return {
        "heading": _title(subject, found),
        "lead": lead(subject, found),
        "measures": key_measures(found),
        "findings": (*profits, *found.findings),
        "means": _means(subject),
        "unit": "Weights are natural logarithms, not times 100.",
        "quality": quality(found, judged.predicted),
        "thresholds": thresholds(found),
        "groups": groups(found),
        "examples": [_case(subject, *one) for one in judged.examples.items()],
    }


def _of_number(subject: Subject, found: NumberEvaluation, judged: _Judged) -> dict[str, Any]:
    """The parts of a page for estimates."""
    log = subject.evidence.link == "log"
    target = subject.classes[0].removesuffix(subject.evidence.condition)  # rows have an exposure
    return {
        "heading": f"{subject.name}: estimates of {target}",
        "lead": lead_number(subject, found),
        "measures": number_measures(found),
        "findings": [text for text in beside_measures(found) if text != found.exposure],
        "means": number_means(subject),
        "unit": "Weights are logarithms of factors." if log else "Weights in the target's unit.",
        "quality": number_quality(found, judged.errors, judged.weight),
        "thresholds": None,
        "groups": {"by": found.by, "tables": found.show_groups()},
        "examples": judged.cases,
    }


def _title(subject: Subject, found: Evaluation) -> str:
    if subject.of is not None and any(subject.evidence.outcomes):
        return subject.evidence.probability_of(subject.classes.index(str(found.pos_label)))
    return found.view().title.replace(found.model, subject.name, 1)


def _print_tables(subject: Subject, more: tuple[Any, ...]) -> list[Grid]:
    """The tables of a scorecard: points of levels, cut-offs, gains and approval by group."""
    if subject.card is None:
        return []
    views = [view_card(subject.card, subject.evidence)]
    views += [name_table(part, subject.evidence).view() for part in more]
    return [replace(v.grids[0].bare, title=v.title, notes=v.notes) for v in views]


MEAN = ", less the mean of all classes"


def _means(subject: Subject) -> str:
    """A sentence that explains the weights of the page."""
    names, of = subject.classes, subject.of
    means = "for each class"
    if of is not None:
        rest = " against the rest" if subject.evidence.link == "ovr" else MEAN
        means = f"for {names[of]}" + (f" against {names[0]}" if len(names) == 2 else rest)
    told = (
        f"Weights of evidence {means}, times 100. Tables are in the order of importance: "
        f"{words_of(subject.evidence).importance_is}. Added loss is roughly the rise of the log "
        "loss without the table, in bits a row. IV is the information value of the counts of the "
        "feature alone. "
    )
    return (told + name_ends(subject.evidence)).rstrip()


def _provenance(subject: Subject) -> list[tuple[str, str]]:
    """The provenance of the model, and its parameters."""
    if subject.model is None:
        return []
    known = getattr(subject.model, "provenance_", None)
    lines = [*([] if known is None else known.lines()), *tell_offsets(subject.evidence)]
    record = (subject.card or subject.evidence).edits
    edits = [(f"Edit {i}", str(e)) for i, e in enumerate(record, 1)]
    told = tell_parameters(subject.card or subject.model)
    if subject.card is not None:
        own = {name: text for name, text in subject.card.texts.items() if name != text}
        told = [part for part in told if part[0] not in ("texts", "level_texts")]
        told += [(f"Reason text of {name}", text) for name, text in own.items()]
    return [("Model", subject.name), *lines, *told, *edits]


def _case(subject: Subject, title: str, sheet: BalanceSheet) -> dict[str, Any]:
    """One case: evidence for, evidence against, and the probability."""
    sheet = spell_sheet(sheet, subject.evidence)
    parts = {"sides": sides_of(sheet), "foot": summary_lines(sheet), "notes": notes_of(sheet)}
    return {"title": title, **parts}
