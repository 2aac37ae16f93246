"""The model as plain data for a page: what `weigh.js` reads."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from typing import Any

import numpy as np
from scipy.special import ndtri, polygamma

from weigh.bins import Cross, Feature, label, printable
from weigh.evidence import Evidence, FeatureTable
from weigh.frames import Floats, key
from weigh.pages.levels import needs_quotes, spell_levels
from weigh.pages.questions import Question
from weigh.pages.subject import Subject
from weigh.sheet import COVERAGE
from weigh.sheet.explain import SCALES, SILENT

EXACT = 160
"""A covariance of more weights is packed as errors and 16-bit correlations, which keep an interval
to about six digits, so that the page stays small."""

PLACES = 1 << 16
"""Numbers that sixteen bits can tell apart."""

OTHER = "another"


def describe(
    subject: Subject, questions: list[Question], texts: Mapping[str, str]
) -> dict[str, Any]:
    """Everything that a balance sheet needs, ready for JSON; names are text that prints."""
    evidence = subject.evidence
    parts = [*dict.fromkeys(part for feature in evidence.features for part in feature.parts)]
    tokens = evidence.event_model == "counts"
    pool = _pool(evidence)
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
        "assumes": "independent features" if evidence.covariance is None else SCALES,
        "silent": SILENT,
        "caveat": evidence.caveat,
        "columns": [_column(question, texts) for question in questions],
        "parts": [] if tokens else [_part(part, questions) for part in parts],
        "pool": None if pool is None else _pack(pool),
        "tables": [
            _tokens(table, pool)
            if tokens
            else _table(table, [parts.index(p) for p in table.feature.parts], pool)
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
    labels, asked = [*spell_levels(part)], [*questions[at].labels, label(None)]
    return (
        found if labels == asked[: len(labels)] else found | {"labels": [*map(printable, labels)]}
    )


def _pool(evidence: Evidence) -> Floats | None:
    """The numbers of all tables that differ, where naming them by place takes less room."""
    every = [part for table in evidence for part in (table.by_class, table.variances)]
    numbers = np.concatenate([part.ravel() for part in every if part is not None] or [np.empty(0)])
    pool = np.unique(numbers)
    small = len(pool) <= PLACES and 8 * len(pool) + 2 * len(numbers) < 8 * len(numbers)
    return pool if small else None


def _write(values: Floats | None, pool: Floats | None) -> str | None:
    """Row by row, in full or as places in the pool."""
    if values is None:
        return None
    if pool is None:
        return _pack(values.astype("<f8"))
    return _pack(np.searchsorted(pool, values).astype("<u2"))


def _table(table: FeatureTable, parts: list[int], pool: Floats | None) -> dict[str, Any]:
    found: dict[str, Any] = {
        "name": printable(table.name),
        "note": printable(table.note),
        "parts": parts,
        "unseen": np.flatnonzero(~table.counts.any(axis=1)).tolist(),
        "weights": _write(table.by_class, pool),
        "variances": _write(table.variances, pool),
    }
    if isinstance(table.feature, Cross):
        found["pairs"] = [[*pair] for pair in table.feature.pairs]
        found["quoted"] = needs_quotes(table.feature)
    return found


def _tokens(table: FeatureTable, pool: Floats | None) -> dict[str, Any]:
    norm = table.counts.sum(axis=0) + table.smoothing * table.counts.any(axis=1).sum()
    common = polygamma(1, np.where(norm > 0, norm, np.nan))
    known = table.variances is not None
    return _table(table, [], pool) | {"common": numbers(common) if known else None}


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
