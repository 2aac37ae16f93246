"""How to compute a model by hand: steps in sentences, short tables, and every digit as text."""

from __future__ import annotations

from typing import Any

import numpy as np

from weigh.bins import Cross, Feature, Interval, Level, label, printable
from weigh.evidence import (
    Attenuation,
    Evidence,
    FeatureTable,
    Recalibration,
    rule,
    spell_factor,
)
from weigh.evidence.exposure import OffsetColumn, list_offsets
from weigh.evidence.units import Words, words_of
from weigh.layout import render
from weigh.pages.model import spell_levels

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
        tables=[{"name": table.shown, "rows": _weights(table, words)} for table in evidence.scored],
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
        f"{''.join(_say_offset(column, log) for column in list_offsets(evidence))}"
    )


def _say_offset(column: OffsetColumn, log: bool) -> str:
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


UNLISTED = "  (a value that is not listed takes the level other, if the feature has it)"


def exact_formula(evidence: Evidence, of: int | None) -> list[str]:
    """Prior, weights and link, in nats or in the unit of a number.

    `of` is the index of the positive class; None means every class.
    """
    names = [printable(label(c)) for c in evidence.classes.tolist()]
    lines = [
        "total = prior + the weight of the case's level in every feature (what is no level: 0)",
        *([UNLISTED] if has_other(evidence) else []),
        *_rule(evidence),
        *_curve(evidence.recalibration),
        *_link(evidence, names, of),
        "",
        *([] if len(names) <= 2 else [f"in the order: {', '.join(names)}"]),
        f"prior  {numbers(evidence.prior_row.tolist())}",
    ]
    for table in evidence.scored:
        lines += ["", printable(table.name), *_levels(table)]
    return lines


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
        f"total = prior + weights e,  e = {spell_factor(rule.k, DIGITS)},  "
        "s is the sum of these shares over the features that are not known",
        *shares,
    ]


def _curve(curve: Recalibration | None) -> list[str]:
    if curve is None:
        return []
    shift = f" + {curve.shift:.{DIGITS}g}" if curve.shift else ""
    lines = [
        f"total = f(total){shift},  f is {curve.method}, through these",
        f"  totals  {numbers(curve.points.tolist())}",
        f"  values  {numbers(curve.levels.tolist())}",
    ]
    if curve.method == "isotonic":
        return [*lines, "  which are probabilities, joined by straight lines; f is their log odds"]
    told = "  by the cubics that these fix, and straight on beyond"
    return [*lines, f"  slopes  {numbers(curve.slopes.tolist())}", told]


def _link(evidence: Evidence, names: list[str], of: int | None) -> list[str]:
    if evidence.estimates:
        told = "exp(total)" if evidence.link == "log" else "total"
        return [f"estimate of {names[0]}{printable(evidence.condition)} = {told}"]
    if evidence.link == "logistic":
        return [f"probability of {names[1]} = 1/(1 + exp(-total))"]
    part = "1/(1 + exp(-total))" if evidence.link == "ovr" else "exp(total)"
    name = "a class" if of is None else names[of]
    return [f"probability of {name} = its {part} over the sum of all classes"]


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
