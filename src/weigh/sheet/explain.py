"""From evidence and a row to a balance sheet."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import expit, logsumexp, ndtri

from weigh.bins import Interval, label
from weigh.evidence import Evidence, FeatureTable
from weigh.frames import Codes, Floats, Table, Value, count_matrix
from weigh.sheet.balance import COVERAGE, BalanceSheet, Item

UNSEEN = "not seen in training"


@dataclass(frozen=True)
class _Line:
    """One row of the sheet before a class is chosen: weights and variances by class."""

    feature: str
    level: str
    note: str
    weights: Floats
    variances: Floats | None
    relation: str = "="


def explain(evidence: Evidence, table: Table, of: Any, against: Any) -> BalanceSheet:
    """The balance sheet of a table's only row."""
    classes = evidence.classes.tolist()
    tokens = evidence.event_model == "counts"
    lines = _token_lines(evidence, table) if tokens else _lines(evidence, table)
    row = evidence.total(table)[0]
    two, b = len(classes) == 2, _find(classes, against, -1, "against")
    a = _find(classes, of, (1 - b if b >= 0 else 1) if two else int(row.argmax()), "of")
    b = 1 - a if two and b < 0 else b
    if a == b:
        raise ValueError(f"of and against are both {classes[a]!r}; name two classes")
    sign = _contrast(len(classes), a, b)
    items = tuple(
        Item(line.feature, line.level, float(sign @ line.weights) + 0.0, line.note, line.relation)
        for line in lines
    )
    if evidence.link == "ovr" and b >= 0:
        raise ValueError(
            "totals of one class against the rest do not add up to the odds of two classes; leave "
            "against out, or fit with multiclass='softmax'"
        )
    totals, log_odds = _log_odds(row, a, b, evidence.link)
    spread = _standard_error(evidence, lines, row, a, b)
    return BalanceSheet(
        of=classes[a],
        against=None if b < 0 else classes[b],
        prior=float(sign @ evidence.prior_row),
        items=items,
        total=float(sign @ row),
        probability=float(expit(log_odds)),
        interval=_interval(log_odds, spread),
        totals=dict(zip(classes, totals, strict=True)) if b < 0 else None,
        two_classes=two,
        link=evidence.link,
        caveat=evidence.caveat,
    )


def _interval(log_odds: float, spread: float | None) -> tuple[float, float] | None:
    if spread is None:
        return None
    reach = float(ndtri((1 + COVERAGE) / 2)) * spread
    return float(expit(log_odds - reach)), float(expit(log_odds + reach))


def _find(classes: list[Any], wanted: Any, default: int, role: str) -> int:
    if wanted is None:
        return default
    if wanted not in classes:
        raise ValueError(f"{role}={wanted!r} is not a class of the model; these are: {classes}")
    return classes.index(wanted)


def _contrast(n_classes: int, a: int, b: int) -> Floats:
    """What to multiply a row of weights with to get the weight for a against b (or the rest)."""
    if n_classes == 2:
        return np.array([1.0 if a == 1 else -1.0])
    sign = np.zeros(n_classes)
    sign[a] = 1.0
    if b >= 0:
        sign[b] = -1.0
    return sign


def _log_odds(row: Floats, a: int, b: int, link: str) -> tuple[list[float], float]:
    if len(row) == 1:
        return [], float(row[0] if a == 1 else -row[0])
    if b >= 0:
        return [], float(row[a] - row[b])
    logs = -np.logaddexp(0.0, -row) if link == "ovr" else row
    return row.tolist(), float(logs[a] - logsumexp(np.delete(logs, a)))


def _standard_error(
    evidence: Evidence, lines: list[_Line], row: Floats, a: int, b: int
) -> float | None:
    """Of the log odds, features taken as independent; None where a part is not known."""
    parts = [evidence.prior_variances, *(line.variances for line in lines)]
    if evidence.link == "ovr" or any(part is None or np.isnan(part).any() for part in parts):
        return None
    variance = np.sum([part for part in parts if part is not None], axis=0)
    if b >= 0:
        return float(np.sqrt(variance[a] + variance[b]))
    rest = np.exp(row - np.delete(row, a).max())
    rest[a] = 0.0
    slope = rest / rest.sum()
    return float(np.sqrt(variance[a] + slope**2 @ variance))


def _lines(evidence: Evidence, table: Table) -> list[_Line]:
    lines = []
    for part in evidence:
        feature = part.feature
        column = table.column(feature.name, not feature.is_numeric)
        placed = feature.place(column)
        place = int(placed.levels[placed.codes[0]])
        value: Value = None
        if isinstance(column, Codes):
            value = column.values[int(column.codes[0])]
        elif not np.isnan(column.values[0]):
            value = float(column.values[0])
        lines.append(_line(part, place, value))
    return lines


def _line(part: FeatureTable, place: int, value: Value) -> _Line:
    n_classes = part.counts.shape[1]
    if place < len(part.levels):
        variances = None if part.variances is None else part.variances[place]
        note = part.note if part.counts[place].any() else UNSEEN
        text, interval = part.labels[place], isinstance(part.levels[place], Interval)
        relation = "=" if not interval else "in" if text.startswith("(") else ""
        return _Line(part.name, text, note, part.columns[place], variances, relation)
    note = "no evidence" if value is None and part.feature.skip_missing else UNSEEN
    nothing = np.zeros(part.columns.shape[1])
    return _Line(part.name, label(value), note, nothing, np.zeros(n_classes))


def _token_lines(evidence: Evidence, table: Table) -> list[_Line]:
    """The tokens that occur; a token's weight counts as often as it does."""
    row = count_matrix(table)
    counts = row.toarray()[0] if hasattr(row, "toarray") else row[0]
    part, lines = evidence.tables[0], []
    for j in np.flatnonzero(counts):
        times = float(counts[j])
        variances = None if part.variances is None else times**2 * part.variances[j]
        note = "" if part.counts[j].any() else UNSEEN
        lines.append(_Line(table.names[j], f"{times:g}", note, times * part.columns[j], variances))
    return lines
