"""The evidence table of a report: weights as numbers and bars, with their intervals."""

from __future__ import annotations

import numpy as np
from scipy.special import ndtri

from weigh.bins import label
from weigh.evidence import Evidence, FeatureTable, hundredths
from weigh.frames import Floats
from weigh.pages.document import escape
from weigh.pages.tables import cells
from weigh.sheet import COVERAGE

MOST = 30
"""Levels of one feature that are shown; the exact formula has them all."""

WIDTH, HALF = 160, 80
SMALLEST = 0.05
"""Weights are drawn against at least this one, so that noise looks like noise."""


def weight_tables(evidence: Evidence) -> str:
    """Every feature, the most telling first."""
    two = evidence.link == "logistic"
    tables = sorted(evidence, key=lambda table: -table.information_value)
    scale = _scale(evidence)
    names = ["Weight", f"{COVERAGE:.0%} interval"] if two else _classes(evidence)
    head = cells(
        ["Feature", "Level", "Rows", *names, *(["Against | for"] if two else [])], "th scope=col"
    )
    prior = [hundredths(w) for w in evidence.prior_row.tolist()]
    more = f"<td>{_bar(float(evidence.prior_row[0]), np.nan, scale)}" if two else ""
    start = f"<tr><th scope=row>Prior{cells(['', '', *prior, *([''] if two else [])])}{more}"
    body = "".join(_feature(table, scale) for table in tables)
    return f'<table class="weights"><thead><tr>{head}<tbody>{start}{body}</table>'


def _classes(evidence: Evidence) -> list[str]:
    return [label(c) for c in evidence.classes.tolist()]


def _scale(evidence: Evidence) -> float:
    known = [float(np.abs(t.by_class).max(initial=0.0)) for t in evidence]
    return max(*known, float(np.abs(evidence.prior_row).max()), SMALLEST)


def _feature(table: FeatureTable, scale: float) -> str:
    shown = _shown(table)
    left = len(table.labels) - len(shown)
    span = len(shown) + (left > 0)
    note = f" <small>({escape(table.note)})</small>" if table.note else ""
    value = f"<br><small>information value {table.information_value:.2f}</small>"
    first = f"<th scope=rowgroup rowspan={span}>{escape(table.name)}{note}{value}"
    rows = [f"<tr>{first if k == 0 else ''}{_level(table, i, scale)}" for k, i in enumerate(shown)]
    if left:
        rows.append(f"<tr><td colspan=5>and {left:,} more levels, of fewer rows")
    return "<tbody>" + "".join(rows)


def _shown(table: FeatureTable) -> list[int]:
    """The levels of most rows, in the table's order."""
    rows = table.counts.sum(axis=1)
    kept: list[int] = np.sort(np.argsort(-rows, kind="stable")[:MOST]).tolist()
    return kept


def _level(table: FeatureTable, i: int, scale: float) -> str:
    count = f"{table.counts[i].sum():,.6g}"
    weights = [hundredths(w) for w in table.by_class[i].tolist()]
    if len(weights) > 1:
        return cells([table.labels[i], count, *weights])
    weight, error = float(table.by_class[i, 0]), _error(table.errors, i)
    reach = float(ndtri((1 + COVERAGE) / 2)) * error
    ends = f"{hundredths(weight - reach)} to {hundredths(weight + reach)}"
    told = ends if np.isfinite(reach) else ""
    return f"{cells([table.labels[i], count, *weights, told])}<td>{_bar(weight, reach, scale)}"


def _error(errors: Floats | None, i: int) -> float:
    return float("nan") if errors is None else float(errors.reshape(len(errors), -1)[i, 0])


def _bar(weight: float, reach: float, scale: float) -> str:
    """A bar from the middle, and the interval as a line; the numbers stand beside it."""

    def at(x: float) -> float:
        return round(HALF + HALF * float(np.clip(x / scale, -1.0, 1.0)), 1)

    low, high = sorted((at(0.0), at(weight)))
    look = "for" if weight > 0 else "against"
    line = ""
    if np.isfinite(reach):
        line = f"<path d='M{at(weight - reach)} 7H{at(weight + reach)}'/>"
    return (
        f"<svg class=bar aria-hidden=true viewBox='0 0 {WIDTH} 14'><path d='M{HALF} 0V14'/>"
        f"<rect class={look} x={low} y=3 width={high - low:.1f} height=8 />{line}</svg>"
    )
