"""A page: its parts, and tables in it."""

from __future__ import annotations

import base64
import hashlib
from importlib.resources import files
from typing import Any

from weigh.evidence import Evidence, FeatureTable, Units, rule, signed
from weigh.layout import embed, render
from weigh.pages.levels import spell_levels


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
    two = evidence.link == "logistic"
    units = evidence.units
    one = "Points" if units.are_points else "Weight"
    prior = [signed(units.total(p)) for p in evidence.prior_row.tolist()]
    tables = [{"name": table.shown, "rows": _rows(table, units)} for table in evidence.tables]
    return render(
        "static.html",
        heads=["Feature", "Level", *([one] if two else evidence.class_names)],
        first="Base points" if units.are_points else "Prior",
        prior=prior,
        tables=tables,
        most=MOST,
    )


def _rows(table: FeatureTable, units: Units) -> list[list[str]]:
    levels = zip(spell_levels(table.feature), table.by_class.tolist(), strict=True)
    return [[text, *map(units.text, weights)] for text, weights in levels]


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
        name = evidence.class_names[1]
        return f"The probability of {name} is 1/(1 + exp(-total))."
    part = "1/(1 + exp(-total))" if evidence.link == "ovr" else "exp(total)"
    return f"The probability of a class is {part} over the sum of {part} of all classes."
