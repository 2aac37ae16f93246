"""The evidence table as static HTML, for readers without scripts and on paper.

Cells and rows have no end tags, which HTML does not ask for: there are many.
"""

from __future__ import annotations

from collections.abc import Iterable

from weigh.bins import label
from weigh.evidence import Evidence, FeatureTable, hundredths, rule
from weigh.pages.document import escape
from weigh.pages.levels import spell_levels

MOST = 30
"""Levels that have a row each."""


def static_table(evidence: Evidence) -> str:
    """Prior and weights, level by level."""
    two = evidence.link == "logistic"
    names = ["Weight"] if two else [label(c) for c in evidence.classes.tolist()]
    head = cells(["Feature", "Level", *names], "th scope=col")
    prior = f"<tr><th>Prior<td>{cells(map(hundredths, evidence.prior_row.tolist()))}"
    body = "".join(_rows(table) for table in evidence)
    return f'<table class="weights"><thead><tr>{head}<tbody>{prior}{body}</table>'


def _rows(table: FeatureTable) -> str:
    """A row for each level; many levels share one, as they would else be most of the file."""
    labels, weights = spell_levels(table.feature), table.by_class.tolist()
    pairs = [(text, [*map(hundredths, row)]) for text, row in zip(labels, weights, strict=True)]
    if len(pairs) > MOST:
        told = "; ".join(f"{text} {' '.join(row)}" for text, row in pairs)
        span = table.by_class.shape[1] + 1
        return f"<tbody><tr><th>{escape(table.name)}<td colspan={span}>{escape(told)}"
    lines = []
    for i, (text, row) in enumerate(pairs):
        first = f"<th rowspan={len(pairs)}>{escape(table.name)}" if i == 0 else ""
        lines.append(f"<tr>{first}{cells([text, *row])}")
    return "<tbody>" + "".join(lines)


def cells(texts: Iterable[str], tag: str = "td") -> str:
    """Table cells of one kind."""
    return "".join(f"<{tag}>{escape(text)}" for text in texts)


def formula(evidence: Evidence) -> list[str]:
    """How to work the table by hand, sentence by sentence."""
    unlisted = "a value that is not listed is of other, where the feature has it; else "
    first = unlisted if has_other(evidence) else ""
    told = [
        "Add up the prior and the weight of the level that the case has in each feature; "
        f"{first}a level that is not in the table weighs nothing. Divide by 100: that is the total."
    ]
    if evidence.event_model == "counts":
        told = ["Add up the prior and the weight of every token of the document. Divide by 100."]
    told += filter(None, [rule(evidence)])
    if evidence.recalibration is not None:
        told.append("The total is then recalibrated, by the curve that the model's file holds.")
    told.append(_link(evidence))
    return told


def has_other(evidence: Evidence) -> bool:
    """Whether values without a level of their own share one in some feature."""
    return any(part.other for feature in evidence.features for part in feature.parts)


def _link(evidence: Evidence) -> str:
    if evidence.link == "logistic":
        name = label(evidence.classes.tolist()[1])
        return f"The probability of {name} is 1/(1 + exp(-total))."
    part = "1/(1 + exp(-total))" if evidence.link == "ovr" else "exp(total)"
    return f"The probability of a class is {part} over the sum of {part} of all classes."
