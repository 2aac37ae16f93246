"""The model of a page, its levels in words, and how to compute it by hand.

By hand means steps in sentences, short tables, and every digit as text.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from weigh.base import EvidenceModel
from weigh.bins import WORDS, Cross, Feature, Interval, Level, label, printable
from weigh.evaluation import Evaluation, ManyMeasures, Measures
from weigh.evaluation.numbers import refuse_class_options
from weigh.evidence import (
    Attenuation,
    Evidence,
    FeatureTable,
    Recalibration,
    evidence_of,
    flip,
    is_sum,
    model_of,
    rule,
    with_labels,
)
from weigh.evidence.exposure import Known, list_known
from weigh.evidence.units import Words, words_of
from weigh.frames import canonical, read
from weigh.layout import render
from weigh.sheet import BalanceSheet, Item, find_class


def spell_levels(feature: Feature | Cross) -> tuple[str, ...]:
    """The levels in words, in the order of `labels`; only the texts of bins change.

    >>> spell_levels(Feature("income", (-1,), (9800.5, 25078.0), has_missing=True))
    ('up to 9800.5', '9800.5 to 25,078', 'above 25,078', '-1', 'missing')
    """
    return feature.spelt(WORDS)


def exact_levels(feature: Feature | Cross) -> tuple[str, ...]:
    """The levels with every digit of their limits, for scoring by hand.

    >>> exact_levels(Feature("income", (), (0.1234567890123, 2.0)))
    ('<= 0.1234567890123', '(0.1234567890123, 2.0]', '> 2.0')
    """
    if isinstance(feature, Feature):
        levels = zip(feature.levels, feature.labels, strict=True)
        return tuple(_exact(level, text, feature.left) for level, text in levels)
    left, right = map(exact_levels, feature.parts)
    return feature.join_texts(left, right)


def name_ends(evidence: Evidence) -> str:
    """A sentence that says which of their limits intervals include."""
    parts = [part for table in evidence for part in table.feature.parts]
    if any(part.left for part in parts):
        return "Intervals include their upper limit; those that end below a number do not."
    return "Intervals include their upper limit."


def _exact(level: Level, text: str, left: bool) -> str:
    if not isinstance(level, Interval) or np.isinf([level.lower, level.upper]).all():
        return text
    if left:
        low, high = (float(np.nextafter(end, np.inf)) for end in (level.lower, level.upper))
        if np.isinf(level.lower):
            return f"< {high!r}"
        return f">= {low!r}" if np.isinf(level.upper) else f"[{low!r}, {high!r})"
    if np.isinf(level.lower):
        return f"<= {level.upper!r}"
    return f"> {level.lower!r}" if np.isinf(level.upper) else f"({level.lower!r}, {level.upper!r}]"


def name_evaluation(found: Evaluation, evidence: Evidence) -> Evaluation:
    """Replace classes, the grouping column and its levels in an evaluation by their labels."""
    own = [canonical(c) for c in evidence.classes.tolist()]
    names = dict(zip(own, evidence.class_names, strict=True))
    parts = {part.name: part for table in evidence for part in table.feature.parts}
    by = parts.get(found.by, Feature(found.by))
    texts = dict(zip(by.labels, by.spelt(WORDS), strict=True)) if by.texts else {}
    return replace(
        found,
        classes=tuple(names[c] for c in found.classes),
        pos_label=None if found.pos_label is None else names[found.pos_label],
        validation=_name_measures(found.validation, names),
        training=None if found.training is None else _name_measures(found.training, names),
        by=by.shown,
        groups=tuple(replace(g, name=texts.get(g.name, g.name)) for g in found.groups),
    )


def _name_measures(
    found: Measures | ManyMeasures, names: dict[Any, str]
) -> Measures | ManyMeasures:
    if isinstance(found, Measures):
        return found
    return replace(found, by_class=tuple(replace(p, label=names[p.label]) for p in found.by_class))


def spell_sheet(sheet: BalanceSheet, evidence: Evidence) -> BalanceSheet:
    """Copy of a sheet with its intervals in words."""
    tables = {table.name: table.feature for table in evidence}
    items = tuple(
        _spell_item(item, tables[item.feature]) if item.feature in tables else item
        for item in sheet.items
    )
    return replace(sheet, items=items)


def _spell_item(item: Item, feature: Feature | Cross) -> Item:
    if item.level not in feature.labels:
        return item
    place = feature.labels.index(item.level)
    level, relation = feature.spelt(WORDS)[place], feature.relation(place, WORDS)
    if isinstance(feature, Cross):
        words = feature.words(place, WORDS)
    else:
        words = feature.phrase(place, WORDS)
    return replace(item, level=level, relation=relation, words=words)


@dataclass(frozen=True, eq=False)
class Subject:
    """The tables of weights of a page, their model (None: not known), and its name.

    `of` is the index of the positive class of the page; None means all of more than two classes.
    """

    evidence: Evidence
    model: Any
    name: str
    of: int | None = None
    adverse: int | None = None  # index of the class that is shown in red
    card: Any = None  # the scorecard, if the page is of one

    @property
    def classes(self) -> list[str]:
        """The names of the classes."""
        return [*self.evidence.class_names]

    def levels(self, feature: Feature | Cross) -> tuple[str, ...]:
        """The levels of a feature in words."""
        return spell_levels(feature)

    @property
    def known_rate(self) -> bool:
        """Whether sheets have an interval after a change of the base rate, which has no error."""
        if self.model is None:
            moved = self.evidence.with_prior(self.evidence.assumed_rate)
        else:
            moved = self.model.with_prior(self.model.evidence_.assumed_rate).evidence_
        return moved.prior_variances is not None

    @property
    def estimates(self) -> bool:
        """Whether the model estimates a number, and so has no classes."""
        return self.evidence.estimates

    def labelled(self, labels: Any) -> Subject:
        """Name columns, levels and classes by the user's labels."""
        return replace(self, evidence=with_labels(self.evidence, labels))

    def naming(self, of: Any) -> Subject:
        """Choose the positive class of the page; None means the second of two, or all of more.

        For a scorecard it is the class that high scores favour.
        """
        classes = self._classes(pos_label=of)
        if self.card is not None and of is None:
            of = self.card.pos_label
        default = 1 if len(classes) == 2 else None
        return replace(self, of=default if of is None else find_class(classes, of))

    def warning_of(self, adverse: Any) -> Subject:
        """Mark a class as adverse, so that it is shown in red; None marks that of a scorecard."""
        classes = self._classes(adverse=adverse)
        if self.card is not None and adverse is None:
            adverse = self.card.adverse
        place = None if adverse is None else find_class(classes, adverse, role="adverse")
        return replace(self, adverse=place)

    def _classes(self, **asked: Any) -> list[Any]:
        """The class labels; for a number, an error if one is asked for."""
        if self.estimates:
            refuse_class_options(asked)
        return self.evidence.classes.tolist()  # type: ignore[no-any-return]

    @property
    def look(self) -> str:
        """Which side of the weights is adverse, as a class of the page's style."""
        if self.adverse is None or self.of is None:
            return ""
        return "adverse-for" if self.adverse == self.of else "adverse-against"

    @property
    def with_positive_second(self) -> Subject:
        """Copy in which positive weights favour the positive class, the second of two."""
        if len(self.evidence.classes) > 2 or self.of != 0:
            return self
        adverse = None if self.adverse is None else 1 - self.adverse
        return replace(self, evidence=flip(self.evidence), of=1, adverse=adverse)

    def scorer(self, X: Any) -> Any:
        """The model, or one made from the tables alone that can score such rows."""
        if self.model is not None:
            return self.model
        tokens = self.evidence.event_model == "counts"
        return EvidenceModel.of(self.evidence, read(X, allow_sparse=tokens).named)


def read_subject(model: Any) -> Subject:
    """The subject of a page from a model; raises an error for models without tables of weights."""
    if isinstance(model, Evidence):
        return Subject(model, None, "Weights of evidence")
    own = model_of(model)
    card = None if own is model else model
    return Subject(evidence_of(own, is_sum(own)), own, type(model).__name__, card=card)


DIGITS = 12

MOST = 30
"""Maximum number of levels of a table with a row each."""


def static_table(evidence: Evidence) -> Any:
    """Prior and weights by level; beyond MOST, levels share a row to keep the file small."""
    words, one = words_of(evidence), len(evidence.prior_row) == 1
    return render(
        "static.html",
        heads=["Feature", "Level", *([words.heading] if one else evidence.class_names)],
        first=words.start,
        prior=[*map(words.prior, evidence.prior_row.tolist())],
        tables=[{"name": table.shown, "rows": _weights(table, words)} for table in evidence.tables],
        most=MOST,
    )


def _weights(table: FeatureTable, words: Words) -> list[list[str]]:
    levels = zip(spell_levels(table.feature), table.by_class.tolist(), strict=True)
    return [[text, *map(words.weight, weights)] for text, weights in levels]


def steps_by_hand(evidence: Evidence) -> list[str]:
    """Instructions for scoring a case by hand from the table, as sentences."""
    unlisted = "a value that is not listed takes the level other, if the feature has it; otherwise "
    first = unlisted if has_other(evidence) else ""
    told = [
        "Add up the prior and the weight of the level that the case has in each feature; "
        f"{first}a level that is not in the table weighs nothing. Divide by 100: that is the total."
    ]
    units = evidence.units
    if units.are_points:
        told = [
            "Add up the base points and the points of the level that the case has in each feature; "
            f"{first}a level that is not in the table has no points. That is the score.",
            f"The total is (score - {units.start:.6g})/{units.scale:.6g}.",
        ]
    if evidence.estimates:
        return [_say_estimate(evidence, first)]
    if evidence.event_model == "counts":
        told = ["Add up the prior and the weight of every token of the document. Divide by 100."]
    told += filter(None, [rule(evidence)])
    if evidence.recalibration is not None:
        told.append("The total is then recalibrated, by the curve that the model's file holds.")
    told.append(_say_link(evidence))
    return told


def _say_estimate(evidence: Evidence, unlisted: str) -> str:
    """Instructions for computing an estimate."""
    log, target = evidence.link == "log", evidence.class_names[0]
    do, none = ("Multiply", "leaves it as it is") if log else ("Add up", "changes nothing")
    what = "factor" if log else "change"
    by = "by" if log else "and"
    return (
        f"{do} the start {by} the {what} of the level that the case has in each feature; "
        f"{unlisted}a level that is not in the table {none}. That is the estimate of {target}."
        f"{''.join(_say_known(column, log) for column in list_known(evidence))}"
    )


def _say_known(column: Known, log: bool) -> str:
    """Instructions for an exposure or offset."""
    if column.role == "exposure":
        return f" Multiply it by the {column.name} of the case."
    return f" Multiply it by exp({column.name})." if log else f" Add the {column.name} of the case."


def has_other(evidence: Evidence) -> bool:
    """Whether some feature has a level `other` for values without a level of their own."""
    return any(part.other for feature in evidence.features for part in feature.parts)


def _say_link(evidence: Evidence) -> str:
    if evidence.link == "logistic":
        name = evidence.class_names[1]
        return f"The probability of {name} is 1/(1 + exp(-total))."
    part = "1/(1 + exp(-total))" if evidence.link == "ovr" else "exp(total)"
    return f"The probability of a class is {part} over the sum of {part} of all classes."


def exact_formula(evidence: Evidence, of: int | None) -> list[str]:
    """Prior, weights and link, in nats or in the unit of a number.

    `of` is the index of the positive class; None means every class.
    """
    names = [printable(label(c)) for c in evidence.classes.tolist()]
    lines = [
        "total = prior + the weight of the case's level in every feature (what is no level: 0)",
        *_unlisted(evidence),
        *_rule(evidence),
        *_curve(evidence.recalibration),
        *_link(evidence, names, of),
        "",
        *([] if len(names) <= 2 else [f"in the order: {', '.join(names)}"]),
        f"prior  {numbers(evidence.prior_row.tolist())}",
    ]
    for table in evidence:
        lines += ["", printable(table.name), *_levels(table)]
    return lines


def _unlisted(evidence: Evidence) -> list[str]:
    told = "  (a value that is not listed takes the level other, if the feature has it)"
    return [told] if has_other(evidence) else []


def numbers(values: list[float]) -> str:
    """Numbers to twelve digits."""
    return "  ".join(f"{value:.{DIGITS}g}" for value in values)


def _levels(table: FeatureTable) -> list[str]:
    rows = zip(exact_levels(table.feature), table.by_class.tolist(), strict=True)
    return [f"  {printable(text)}  {numbers(weights)}" for text, weights in rows]


def _rule(evidence: Evidence) -> list[str]:
    rule = evidence.attenuation
    if rule is None:
        return []
    if rule.form == "known":
        return _factor(evidence, rule)
    n = "its tokens" if evidence.event_model == "counts" else "the features that have an answer"
    least = "n + 1" if rule.form == "root" else "n"
    what = "(prior + weights) e" if rule.form == "root" else "prior + weights e"
    shift = f" + {numbers(rule.shift.tolist())}" if rule.shift.any() else ""
    return [f"total = {what}{shift},  e = {rule.k:.{DIGITS}g}/max({least}, {rule.k:.{DIGITS}g}),"
            f"  n counts {n}"]  # fmt: skip


def _factor(evidence: Evidence, rule: Attenuation) -> list[str]:
    shares = [
        f"  {printable(table.shown)}  {rule.shares[table.name]:.{DIGITS}g}"
        for table in evidence
        if rule.shares.get(table.name)
    ]
    return [
        f"total = prior + weights e,  e = 1/sqrt(1 + {rule.k:.{DIGITS}g} s),  "
        "s is the sum of these shares over the features that are not known",
        *shares,
    ]


def _curve(worth: Recalibration | None) -> list[str]:
    if worth is None:
        return []
    shift = f" + {worth.shift:.{DIGITS}g}" if worth.shift else ""
    lines = [
        f"total = f(total){shift},  f is {worth.method}, through these",
        f"  totals  {numbers(worth.points.tolist())}",
        f"  values  {numbers(worth.levels.tolist())}",
    ]
    if worth.method == "isotonic":
        return [*lines, "  which are probabilities, joined by straight lines; f is their log odds"]
    told = "  by the cubics that these fix, and straight on beyond"
    return [*lines, f"  slopes  {numbers(worth.slopes.tolist())}", told]


def _link(evidence: Evidence, names: list[str], of: int | None) -> list[str]:
    if evidence.estimates:
        told = "exp(total)" if evidence.link == "log" else "total"
        return [f"estimate of {names[0]}{printable(evidence.condition)} = {told}"]
    if evidence.link == "logistic":
        return [f"probability of {names[1]} = 1/(1 + exp(-total))"]
    part = "1/(1 + exp(-total))" if evidence.link == "ovr" else "exp(total)"
    name = "a class" if of is None else names[of]
    return [f"probability of {name} = its {part} over the sum of all classes"]
