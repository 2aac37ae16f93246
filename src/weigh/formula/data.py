"""A formula as JSON, small enough for a page: the data that `weigh.js` reads.

Numbers of the tables are packed as base64, each in full or as places in a pool of those that
differ, whatever takes less room.
"""

from __future__ import annotations

import base64
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import numpy as np

from weigh.bins import AND, Cross, Feature, Kind, label, printable
from weigh.formula.formula import Formula, Input, Term
from weigh.frames import Floats, key

EXACT = 160
"""A covariance of more weights is packed as errors and 16-bit correlations, which keep an interval
to about six digits, so that the page stays small."""

PLACES = 1 << 16
"""Numbers that sixteen bits can tell apart."""

Labels: TypeAlias = Callable[[Feature], Sequence[str]]


def to_data(formula: Formula, labels: Labels = lambda feature: feature.labels) -> dict[str, Any]:
    """Columns, levels, weights, and what a sum means, ready for JSON; names are text that prints.

    `labels` names the levels of a feature as the page shows them.
    """
    parts = [*dict.fromkeys(part for term in formula.terms for part in term.columns)]
    pool, curve, rule = _pool(formula), formula.curve, formula.attenuation
    return {
        "classes": [*map(printable, formula.class_names)],
        "link": formula.link,
        "rates": [*formula.rates],
        "prior": [*formula.prior],
        "priorVariances": _known(formula.prior_variances),
        "tokens": formula.tokens,
        "columns": _columns(formula),
        "parts": [] if formula.tokens else [_part(part, formula.inputs, labels) for part in parts],
        "pool": None if pool is None else _pack(pool),
        "tables": [_table(term, parts, pool, formula.tokens, labels) for term in formula.terms],
        "attenuation": rule and {"k": rule.k, "form": rule.form, "shift": rule.shift.tolist()},
        "curve": curve
        and {
            "pieces": [[_finite(p.upper), p.start, *p.cubic] for p in curve.pieces],
            "shift": curve.shift,
            "steps": curve.steps,
        },
        "covariance": _covariance(formula.covariance),
    }


def _finite(number: float) -> float | None:
    return number if np.isfinite(number) else None


def _known(values: Sequence[float] | None) -> list[float | None] | None:
    """For JSON: what is not a number is None, and infinity a number near it."""
    if values is None:
        return None
    return [None if np.isnan(x) else float(np.clip(x, -1e300, 1e300)) for x in values]


def _columns(formula: Formula) -> list[dict[str, Any]]:
    if formula.tokens:
        return [{"name": printable(name), "kind": "count"} for name in formula.column_names]
    return [_column(column) for column in formula.inputs]


def _column(column: Input) -> dict[str, Any]:
    common = {"name": printable(column.name), "missing": column.has_missing}
    if column.is_numeric:
        return common | {"kind": "number", "codes": [*column.values]}
    return common | {
        "kind": "choice",
        "choices": [*map(printable, column.labels)],
        "closed": column.kinds == {Kind.BOOLEANS} and len(column.values) == 2,
    }


def _part(part: Feature, inputs: Sequence[Input], labels: Labels) -> dict[str, Any]:
    """One feature of one column: where the answers of the form stand among its levels."""
    at = next(j for j, column in enumerate(inputs) if column.name == part.name)
    missing = part.missing_place if part.has_missing else -1
    found: dict[str, Any] = {"column": at, "missing": missing, "skip": part.skip_missing}
    equal = {key(c.value): c.place for c in part.conditions if c.holds == "equal"}
    if part.is_numeric:
        found["cuts"] = [*(part.cuts or ())]
        found["specials"] = [value for _, value in equal]
    elif [*equal] == [*map(key, inputs[at].values)]:
        found["n"] = len(equal)
    else:
        found["places"] = [equal.get(key(value), -1) for value in inputs[at].values]
    if part.other:
        found["rest"] = part.rest
    own, asked = [*labels(part)], [*inputs[at].labels, label(None)]
    return found if own == asked[: len(own)] else found | {"labels": [*map(printable, own)]}


def _table(
    term: Term, parts: list[Feature], pool: Floats | None, tokens: bool, labels: Labels
) -> dict[str, Any]:
    found: dict[str, Any] = {
        "name": printable(term.name),
        "note": printable(term.note),
        "parts": [] if tokens else [parts.index(part) for part in term.columns],
        "unseen": [*term.unseen],
        "weights": _write(term.weights, pool),
        "variances": None if term.variances is None else _write(term.variances, pool),
    }
    if tokens:
        found["common"] = _known(term.shared)
    if isinstance(term.feature, Cross):
        left, right = map(labels, term.columns)
        names = {f"{left[i]}{AND}{right[j]}" for i, j in term.feature.pairs}
        found["pairs"] = [[*pair] for pair in term.feature.pairs]
        found["quoted"] = len(names) < len(term.feature.pairs)
    return found


def _pool(formula: Formula) -> Floats | None:
    """The numbers of all tables that differ, where naming them by place takes less room."""
    every = [rows for term in formula.terms for rows in (term.weights, term.variances)]
    flat = [np.ravel(np.array(rows, np.float64)) for rows in every if rows is not None]
    numbers = np.concatenate(flat or [np.empty(0)])
    pool = np.unique(numbers)
    small = len(pool) <= PLACES and 8 * len(pool) + 2 * len(numbers) < 8 * len(numbers)
    return pool if small else None


def _write(rows: Any, pool: Floats | None) -> str:
    """Row by row, in full or as places in the pool."""
    values = np.array(rows, dtype="<f8")
    return _pack(values if pool is None else np.searchsorted(pool, values).astype("<u2"))


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
