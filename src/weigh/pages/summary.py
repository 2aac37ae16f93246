"""The first two pages of a report: prediction, performance and caveats."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from weigh.bins import WORDS, Cross, Feature
from weigh.evaluation import Evaluation, ManyMeasures, Measures
from weigh.evaluation.show import bounded, number
from weigh.evidence import Evidence, FeatureTable, find_reversed
from weigh.evidence.ranking import find_ends, has_tokens, rank_tables
from weigh.evidence.units import words_of
from weigh.frames import canonical
from weigh.layout import count_of, list_few, shorten
from weigh.metrics.numbers import Bounded
from weigh.pages.model import Subject, spell_added_loss, spell_levels
from weigh.scorecard.impact import Impact

MOST = 12
"""Maximum number of tables in the summary."""

LONGEST = 48
"""Maximum number of characters of a level."""


def lead(subject: Subject, found: Evaluation) -> list[str]:
    """What the model predicts, its training rows and its hold-out rows."""
    evidence = subject.evidence
    counted = zip(subject.classes, evidence.class_counts, evidence.base_rate, strict=True)
    shares = ", ".join(f"{count:,.6g} of {name} ({rate:.1%})" for name, count, rate in counted)
    n_levels = sum(len(table.levels) for table in evidence)
    return [
        _predicts(subject, found.pos_label),
        f"{subject.name}, fitted on {evidence.class_counts.sum():,.6g} rows: {shares}. It has "
        f"{_parts(subject, n_levels)}.",
        f"It is judged here on {count_of(found.validation.n_rows, 'row')}.",
    ]


def _parts(subject: Subject, n_levels: int) -> str:
    """The numbers that add up to a row's total, in words."""
    if subject.evidence.units.are_points:
        return f"base points, and points for {n_levels:,} levels of {_count(subject)}"
    return f"a prior and {_count(subject)} with {n_levels:,} weights"


def _count(subject: Subject) -> str:
    return count_of(len(subject.evidence), noun_of(subject))


def noun_of(subject: Subject) -> str:
    """The noun for a table: "feature" for scorecards, else "table"."""
    return "feature" if subject.evidence.units.are_points else "table"


def _predicts(subject: Subject, measured: Any) -> str:
    """What the model predicts: the probability of the class that is measured."""
    if subject.of is None:
        target = f" of {subject.target}" if subject.target else ""
        return (
            f"This model predicts the probability of each of {len(subject.classes)} classes"
            f"{target}. A positive weight favours the class whose column it is in."
        )
    of, place = subject.classes[subject.of], subject.classes.index(str(measured))
    what, points = subject.probability_of(place), subject.evidence.units.are_points
    this = "scorecard" if points else "model"
    favour = "Positive points favour" if points else "A positive weight favours"
    return (
        f"This {this} predicts the {what[0].lower()}{what[1:]}. {favour} {of}. Flagged rows are "
        f"those predicted to be {measured}."
    )


def key_measures(found: Evaluation) -> list[tuple[str, str]]:
    """The most common measures; all others are in the details."""
    m = found.validation
    told = [
        ("Rows", f"{m.n_rows:,}"),
        ("Log loss, bits a row", bounded(m.loss, 4, 3)),
        ("Loss saved against the base rate", _percent(m.explained)),
    ]
    if not isinstance(m, Measures):
        return [
            *told,
            ("Misclassified", _percent(m.misclassification.value)),
            ("AUC, mean of the classes", number(m.mean_auc)),
        ]
    area = Bounded(m.auc.value, m.auc.low, m.auc.high)
    return [
        *told,
        ("AUC", bounded(area, 3)),
        ("Calibration slope (1 is right)", bounded(m.slope, 2)),
        ("Observed rate", _percent(m.base_rate.value)),
        ("Mean prediction", _percent(m.mean_prediction)),
        _decided(m),
    ]


def _decided(m: Measures) -> tuple[str, str]:
    """The mean cost at the cut-off, or the misclassification if both errors cost the same."""
    rates, at = m.decision.rates, f"{m.decision.rates.threshold:.3g}"
    if rates.threshold == 0.5:
        return f"Misclassified at {at}", _percent(rates.misclassification)
    return f"Mean cost a row at {at}", f"{m.decision.cost:,.4g}"


def _percent(share: float) -> str:
    return "-" if share != share else f"{share:.1%}"


def list_tables(subject: Subject) -> dict[str, Any]:
    """The most important tables, with their importance and their levels of extreme weight."""
    words = words_of(subject.evidence)
    tables = rank_tables(subject.evidence)
    most = max((table.importance for table in tables), default=0.0) or 1.0
    total = sum(table.importance for table in tables) or 1.0
    rest = tables[MOST:]
    share = sum(table.importance for table in rest) / total
    return {
        "rows": [_rank(subject, table, most) for table in tables[:MOST]],
        "rest": _rest(len(rest), noun_of(subject), share) if rest else "",
        "noun": noun_of(subject),
        "fitted": any(table.added_loss is not None for table in tables),
        "one": subject.of is not None or subject.estimates,
        "ends": _name_ends(subject),
        "importance": words.importance_is,
    }


def _name_ends(subject: Subject) -> tuple[str, str]:
    """The headings of the columns of `_ends`."""
    if any(map(has_tokens, subject.evidence)):
        return "Most telling against", "Most telling for"
    what = words_of(subject.evidence).heading.lower()
    return f"Lowest {what}", f"Highest {what}"


def _rest(n: int, noun: str, share: float) -> str:
    have = "has" if n == 1 else "have"
    return f"{count_of(n, f'more {noun}')} {have} {share:.0%} of the importance."


def _rank(subject: Subject, table: FeatureTable, most: float) -> dict[str, Any]:
    return {
        "name": table.shown,
        "importance": words_of(subject.evidence).error(table.importance),
        "share": round(100 * table.importance / most, 1),
        "lost": spell_added_loss(table),
        "ends": _ends(subject, table),
    }


def _ends(subject: Subject, table: FeatureTable) -> list[tuple[str, str]]:
    """The levels that speak most against and for the positive class, and their weights."""
    column = (subject.of or 0) if table.by_class.shape[1] > 1 else 0
    ends = find_ends(table, column)
    if (subject.of is None and not subject.estimates) or ends is None:
        return []
    weights, texts = table.by_class[:, column], spell_levels(table.feature)
    read = words_of(subject.evidence).weight
    return [(shorten(texts[i], LONGEST), read(weights[i])) for i in ends]


FEW = 30
"""Weights with fewer training rows are reported as uncertain."""

NAMED = 5
"""Maximum number of names in one sentence."""

TURNED = "{}: the effect reverses once the other features are included."


def caveats(subject: Subject) -> list[str]:
    """Limitations of the model that the measures do not show."""
    return [
        *_rates(subject),
        *_turned(subject),
        *_rare(subject),
        f"{'Points' if subject.evidence.units.are_points else 'Weights'} describe associations in "
        "the training rows. They are not effects of changing a value.",
    ]


def _rates(subject: Subject) -> list[str]:
    evidence = subject.evidence
    if np.allclose(evidence.assumed_rate, evidence.base_rate):
        return []
    pairs = zip(subject.classes, evidence.assumed_rate.tolist(), strict=True)
    rates = ", ".join(f"{name} {rate:.1%}" for name, rate in pairs)
    return [f"The model assumes other class frequencies than its training rows had: {rates}."]


def _rare(subject: Subject) -> list[str]:
    """The number of levels with few rows; not for tokens and pairs, most of which are rare."""
    single = [table for table in subject.evidence if not isinstance(table.feature, Cross)]
    rows = [table.counts.sum(axis=1) for table in single]
    n = sum(int(((part > 0) & (part < FEW)).sum()) for part in rows)
    if not n or subject.evidence.event_model == "counts":
        return []
    of = sum(map(len, rows))
    alone = " of single features" if len(single) < len(subject.evidence) else ""
    if subject.evidence.units.are_points:
        return [f"{n:,} of {count_of(of, 'level')} have fewer than {FEW} training rows."]
    return [f"{n:,} of {of:,} weights{alone} rest on fewer than {FEW} training rows."]


def _turned(subject: Subject) -> list[str]:
    names = [table.shown for table in find_reversed(subject.evidence)]
    if not names:
        return []
    return [
        "The effect reverses once the other features are included: "
        f"{list_few(names, most=NAMED)}. Check for correlated features."
    ]


def reversals(subject: Subject) -> list[str]:
    """Features whose effect reverses once the others are included; for classifiers only."""
    if subject.estimates:
        return []
    known: Any = getattr(subject.model, "reversals_", None)
    if known is not None:
        told = [f"{text}." for text in known]
    else:
        told = [TURNED.format(table.shown) for table in find_reversed(subject.evidence)]
    return told or ["None: every feature has the direction that it has alone."]


def name_evaluation(found: Evaluation, evidence: Evidence) -> Evaluation:
    """Replace classes, the grouping column and its levels in an evaluation by their labels."""
    own = [canonical(c) for c in evidence.classes.tolist()]
    names = dict(zip(own, evidence.class_names, strict=True))
    by, texts = _name_groups(found.by, evidence)
    return replace(
        found,
        classes=tuple(names[c] for c in found.classes),
        pos_label=None if found.pos_label is None else names[found.pos_label],
        validation=_name_measures(found.validation, names),
        training=None if found.training is None else _name_measures(found.training, names),
        by=by,
        groups=tuple(replace(g, name=texts.get(g.name, g.name)) for g in found.groups),
    )


def name_table(found: Any, evidence: Evidence) -> Any:
    """Replace the class, the grouping column and its levels in a card's table by their labels."""
    if not isinstance(found, Impact):
        return replace(found, adverse=evidence.class_names[0])
    by, texts = _name_groups(found.by, evidence)
    groups = tuple(replace(g, group=texts.get(g.group, g.group)) for g in found.groups)
    return replace(
        found, by=by, reference=texts.get(found.reference, found.reference), groups=groups
    )


def _name_groups(by: str, evidence: Evidence) -> tuple[str, dict[str, str]]:
    """The display names of a grouping column and of its levels."""
    parts = {part.name: part for table in evidence for part in table.feature.parts}
    own = parts.get(by, Feature(by))
    return own.shown, dict(zip(own.labels, own.spelt(WORDS), strict=True)) if own.texts else {}


def _name_measures(
    found: Measures | ManyMeasures, names: dict[Any, str]
) -> Measures | ManyMeasures:
    if isinstance(found, Measures):
        return found
    return replace(found, by_class=tuple(replace(p, label=names[p.label]) for p in found.by_class))
