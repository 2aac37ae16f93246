"""The model as plain data for a page: what `weigh.js` reads."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from typing import Any

import numpy as np
from scipy.special import ndtri, polygamma

from weigh.bins import AND, Cross, Feature, label, printable
from weigh.evidence import Evidence, FeatureTable
from weigh.frames import Floats, key
from weigh.pages.questions import Question
from weigh.pages.subject import Subject
from weigh.sheet import COVERAGE
from weigh.sheet.explain import SCALES

EXACT = 160
"""A covariance of more weights is packed as errors and 16-bit correlations, which keep an interval
to about six digits, so that the page stays small."""

OTHER = "another"


def describe(
    subject: Subject, questions: list[Question], texts: Mapping[str, str]
) -> dict[str, Any]:
    """Everything that a balance sheet needs, ready for JSON; names are text that prints."""
    evidence = subject.evidence
    parts = [*dict.fromkeys(part for feature in evidence.features for part in feature.parts)]
    tokens = evidence.event_model == "counts"
    return {
        "classes": [*map(printable, subject.classes)],
        "of": subject.of,
        "link": evidence.link,
        "rates": evidence.assumed_rate.tolist(),
        "prior": evidence.prior_row.tolist(),
        "priorVariances": numbers(evidence.prior_variances),
        "knownRate": subject.known_rate,
        "tokens": tokens,
        "other": OTHER,
        "coverage": COVERAGE,
        "reach": float(ndtri((1 + COVERAGE) / 2)),
        "assumes": _assumes(evidence),
        "columns": [_column(question, texts) for question in questions],
        "parts": [] if tokens else [_part(part, questions) for part in parts],
        "tables": [
            _tokens(table)
            if tokens
            else _table(table, [parts.index(p) for p in table.feature.parts])
            for table in evidence
        ],
        "attenuation": _attenuation(evidence),
        "recalibration": _recalibration(evidence),
        "covariance": _covariance(evidence.covariance),
    }


def numbers(values: Floats | None) -> Any:
    """Nested lists for JSON: what is not a number is None, and infinity a number near it."""
    if values is None:
        return None
    if values.ndim > 1:
        return [numbers(row) for row in values]
    return [None if np.isnan(x) else float(np.clip(x, -1e300, 1e300)) for x in values.tolist()]


def _assumes(evidence: Evidence) -> str:
    told = "independent features" if evidence.covariance is None else SCALES
    return f"{told}{evidence.caveat}"


def _column(question: Question, texts: Mapping[str, str]) -> dict[str, Any]:
    column: dict[str, Any] = {"name": printable(question.name), "kind": question.kind}
    if question.name in texts:
        column["text"] = printable(texts[question.name])
    if question.kind == "choice":
        column["choices"] = [*map(printable, question.labels)]
        column["closed"] = {*map(key, question.values)} == {key(True), key(False)}
    if question.kind == "number":
        column["codes"] = [float(value) for value in question.values]  # type: ignore[arg-type]
    if question.ask is not None:
        column["ask"] = [question.ask[0], [*question.ask[1]]]
    return column


def _part(part: Feature, questions: list[Question]) -> dict[str, Any]:
    """One feature of one column: where its answers stand among its levels."""
    at = next(j for j, question in enumerate(questions) if question.name == part.name)
    found: dict[str, Any] = {
        "column": at,
        "missing": len(part.levels) - 1 if part.has_missing else -1,
        "skip": part.skip_missing,
    }
    if part.cuts is not None:
        found["cuts"] = [*part.cuts]
        found["specials"] = [float(value) for value in part.values]  # type: ignore[arg-type]
    elif [*map(key, part.values)] == [*map(key, questions[at].values)]:
        found["n"] = len(part.values)
    else:
        places = {key(value): i for i, value in enumerate(part.values)}
        found["places"] = [places.get(key(value), -1) for value in questions[at].values]
    if part.other:
        found["rest"] = part.rest
    labels, asked = [*part.labels], [*questions[at].labels, label(None)]
    return (
        found if labels == asked[: len(labels)] else found | {"labels": [*map(printable, labels)]}
    )


def _table(table: FeatureTable, parts: list[int]) -> dict[str, Any]:
    found: dict[str, Any] = {
        "name": printable(table.name),
        "note": printable(table.note),
        "parts": parts,
        "unseen": np.flatnonzero(~table.counts.any(axis=1)).tolist(),
        "weights": numbers(table.by_class),
        "variances": numbers(table.variances),
    }
    if isinstance(table.feature, Cross):
        found["pairs"] = [[*pair] for pair in table.feature.pairs]
        left, right = (part.labels for part in table.feature.parts)
        plain = [f"{left[i]}{AND}{right[j]}" for i, j in table.feature.pairs]
        found["quoted"] = plain != [*table.labels]
    return found


def _tokens(table: FeatureTable) -> dict[str, Any]:
    norm = table.counts.sum(axis=0) + table.smoothing * table.counts.any(axis=1).sum()
    common = polygamma(1, np.where(norm > 0, norm, np.nan))
    known = table.variances is not None
    return _table(table, []) | {"common": numbers(common) if known else None}


def _attenuation(evidence: Evidence) -> dict[str, Any] | None:
    rule = evidence.attenuation
    return None if rule is None else {"k": rule.k, "form": rule.form, "shift": rule.shift.tolist()}


def _recalibration(evidence: Evidence) -> dict[str, Any] | None:
    worth = evidence.recalibration
    if worth is None:
        return None
    return {
        "method": worth.method,
        "points": worth.points.tolist(),
        "levels": worth.levels.tolist(),
        "slopes": worth.slopes.tolist(),
        "shift": worth.shift,
    }


def _covariance(covariance: Floats | None) -> dict[str, Any] | None:
    """The lower triangle, row by row."""
    if covariance is None:
        return None
    rows, columns = np.tril_indices(len(covariance))
    if len(covariance) <= EXACT:
        return {"data": _pack(covariance[rows, columns].astype("<f8"))}
    errors = np.sqrt(np.maximum(np.diag(covariance), 0.0))
    known = np.where(errors > 0, errors, 1.0)
    shares = np.tril(covariance / np.outer(known, known), -1)
    most = float(np.abs(shares).max()) or 1.0
    packed = np.rint(32767 / most * shares[rows, columns]).astype("<i2")
    told = [float(f"{error:.9g}") for error in errors]
    return {"data": _pack(packed), "unit": most / 32767, "errors": told}


def _pack(values: np.ndarray[Any, Any]) -> str:
    return base64.b64encode(values.tobytes()).decode("ascii")
