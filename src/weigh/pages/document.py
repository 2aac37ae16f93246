"""A page: its parts, and tables in it."""

from __future__ import annotations

import base64
import hashlib
from importlib.resources import files
from typing import Any

from weigh.evidence import Evidence, FeatureTable, rule
from weigh.evidence.units import Words
from weigh.layout import embed, render
from weigh.pages.levels import spell_levels, words_for


def asset(*names: str, package: str = "weigh.pages") -> str:
    """The text of files that come with a package, one after another."""
    folder = files(package)
    return "\n".join(folder.joinpath(name).read_text(encoding="utf-8") for name in names)


def document(
    title: str, body: Any, style: str, script: str = "", data: Any = None, connect: bool = False
) -> str:
    """A page whose policy lets this style and this script run and nothing else load or run.

    With `connect` the script may ask the server that the page came from.
    """
    policy = [
        "default-src 'none'",
        f"style-src '{_hash(style)}'",
        *([f"script-src '{_hash(script)}'"] if script else []),
        *(["connect-src 'self'"] if connect else []),
        "base-uri 'none'",
        "form-action 'none'",
    ]
    page = {"title": title, "body": body, "style": style, "script": script}
    told = embed(data) if script else ""
    return f"{render('document.html', policy='; '.join(policy), data=told, **page)}\n"


def _hash(text: str) -> str:
    digest = hashlib.sha256(text.encode("utf-8")).digest()
    return f"sha256-{base64.b64encode(digest).decode('ascii')}"


MOST = 30
"""Levels that have a row each."""


def static_table(evidence: Evidence) -> Any:
    """Prior and weights, level by level; many levels share a row, or would be most of the file."""
    words, one = words_for(evidence), len(evidence.prior_row) == 1
    return render(
        "static.html",
        heads=["Feature", "Level", *([words.heading] if one else evidence.class_names)],
        first=words.start,
        prior=[*map(words.prior, evidence.prior_row.tolist())],
        tables=[{"name": table.shown, "rows": _rows(table, words)} for table in evidence.tables],
        most=MOST,
    )


def _rows(table: FeatureTable, words: Words) -> list[list[str]]:
    levels = zip(spell_levels(table.feature), table.by_class.tolist(), strict=True)
    return [[text, *map(words.weight, weights)] for text, weights in levels]


def formula(evidence: Evidence) -> list[str]:
    """How to work the table by hand, sentence by sentence."""
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
        return [_by_hand(evidence, first)]
    if evidence.event_model == "counts":
        told = ["Add up the prior and the weight of every token of the document. Divide by 100."]
    told += filter(None, [rule(evidence)])
    if evidence.recalibration is not None:
        told.append("The total is then recalibrated, by the curve that the model's file holds.")
    told.append(_link(evidence))
    return told


def _by_hand(evidence: Evidence, unlisted: str) -> str:
    """How to work out an estimate."""
    log, target = evidence.link == "log", evidence.class_names[0]
    do, none = ("Multiply", "leaves it as it is") if log else ("Add up", "changes nothing")
    what = "factor" if log else "change"
    by = "by" if log else "and"
    return (
        f"{do} the start {by} the {what} of the level that the case has in each feature; "
        f"{unlisted}a level that is not in the table {none}. That is the estimate of {target}."
    )


def has_other(evidence: Evidence) -> bool:
    """Whether values without a level of their own share one in some feature."""
    return any(part.other for feature in evidence.features for part in feature.parts)


def _link(evidence: Evidence) -> str:
    if evidence.link == "logistic":
        name = evidence.class_names[1]
        return f"The probability of {name} is 1/(1 + exp(-total))."
    part = "1/(1 + exp(-total))" if evidence.link == "ovr" else "exp(total)"
    return f"The probability of a class is {part} over the sum of {part} of all classes."
