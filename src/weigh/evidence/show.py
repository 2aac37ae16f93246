"""The evidence table as text, as HTML and as a dataframe."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from weigh.bins import label, printable
from weigh.frames import Floats, build
from weigh.text import natural_width, to_plain

if TYPE_CHECKING:
    from weigh.evidence.tables import Evidence, FeatureTable

MOST_LEVELS, MOST_FEATURES, MOST_CLASSES = 20, 60, 6
BAR, BARS = 6, "against | for"
SHOWN = (-2.0, -1.0, 0.0, 1.0, 2.0)
SMALLEST_BAR = 0.05
"""Weights are drawn against at least this one, so that noise looks like noise."""


def hundredths(weight: float) -> str:
    """A weight as people read it: times 100, rounded, with its sign."""
    whole = round(100 * weight)
    return f"{whole:+d}" if whole else "0"


def to_frame(evidence: Evidence) -> Any:
    """One row per level, with weights, errors, counts and the feature's information value."""
    columns: dict[str, list[Any]] = {"feature": [], "level": []}
    columns |= {name: [] for name in (*weight_names(evidence), *count_names(evidence))}
    columns["information value"] = []
    if any(table.note for table in evidence):
        columns["note"] = [table.note for table in evidence for _ in table.levels]
    for table in evidence:
        columns["feature"] += [table.name] * len(table.levels)
        columns["level"] += table.labels
        columns["information value"] += [table.information_value] * len(table.levels)
        numbers = np.column_stack([table.by_class, _errors(table), table.counts])
        names = [*weight_names(evidence), *count_names(evidence)]
        for name, column in zip(names, numbers.T, strict=True):
            columns[name] += column.tolist()
    return build(columns, evidence.backend)


def weight_names(evidence: Evidence) -> list[str]:
    """The columns of weights and of errors."""
    if len(evidence.classes) == 2:
        return ["weight", "error"]
    names = [label(c) for c in evidence.classes.tolist()]
    return [f"weight {name}" for name in names] + [f"error {name}" for name in names]


def count_names(evidence: Evidence) -> list[str]:
    """The columns of counts."""
    return [f"count {label(c)}" for c in evidence.classes.tolist()]


def _errors(table: FeatureTable) -> Floats:
    errors = np.full(table.by_class.shape, np.nan) if table.errors is None else table.errors
    return errors.reshape(table.by_class.shape)


def title(evidence: Evidence) -> str:
    """What the weights speak for."""
    names = [label(c) for c in evidence.classes.tolist()]
    rows = f"{_weight(evidence.class_counts.sum())} rows"
    if len(names) == 2:
        return f"Weights of evidence for {names[1]} against {names[0]}, times 100 ({rows})"
    more = f"; {len(names) - MOST_CLASSES} more classes" if len(names) > MOST_CLASSES else ""
    return f"Weights of evidence for each class, times 100 ({rows}{more})"


def rule(evidence: Evidence) -> str:
    """What happens to the sum of a row's weights, where it depends on the row."""
    attenuation = evidence.attenuation
    if attenuation is None:
        return ""
    root, k = attenuation.form == "root", f"{attenuation.k:.4g}"
    what = "prior and weights" if root else "weights, but not the prior,"
    base = f"{k}/(n + 1)" if root else f"{k}/n"
    unit = "tokens" if evidence.event_model == "counts" else "features that have an answer"
    text = f"A row's {what} are multiplied by min(1, {base}); n counts its {unit}"
    if attenuation.shift.any():
        text += f"; then {' '.join(map(hundredths, attenuation.shift))} for another base rate"
    return f"{text}."


def worth(evidence: Evidence) -> str:
    """What totals are worth after the recalibration, at a few of them."""
    curve = evidence.recalibration
    if curve is None:
        return ""
    pairs = zip(SHOWN, curve.apply(np.array(SHOWN)) - curve.shift, strict=True)
    told = ", ".join(f"{hundredths(x)} is worth {hundredths(y)}" for x, y in pairs)
    text = f"A row's total is then recalibrated ({curve.method}): {told}"
    if curve.shift:
        text += f"; then {hundredths(curve.shift)} for another base rate"
    return f"{text}."


def to_text(evidence: Evidence, width: int = 100) -> str:
    """The table of weights as plain text; where it is too wide, bars and errors go first."""
    from rich.text import Text

    no_errors = () if any(np.isfinite(_errors(t)).any() for t in evidence) else ("Error",)
    for left_out in ((), (BARS,), (BARS, "Error", "IV")):
        grid = _grid(evidence, (*left_out, *no_errors))
        if natural_width(grid) <= width:
            break
    foot = map(Text, filter(None, (rule(evidence), worth(evidence))))
    return to_plain(Text(printable(title(evidence))), grid, *foot, width=width)


def _grid(evidence: Evidence, left_out: tuple[str, ...]) -> Any:
    from rich import box
    from rich.table import Table as Grid
    from rich.text import Text

    names = ["Feature", "Level", *_headings(evidence)]
    if evidence.link == "logistic":
        names.append(BARS)
    shown = [j for j, name in enumerate(names) if name not in left_out]
    grid = Grid(box=box.SIMPLE_HEAD)
    for j in shown:
        right = j > 1 and names[j] != BARS
        grid.add_column(
            Text(printable(names[j])), justify="right" if right else "left", overflow="fold"
        )
    for row in _lines(evidence):
        grid.add_row(*(Text(printable(row[j])) for j in shown if j < len(row)))
    return grid


def _headings(evidence: Evidence) -> list[str]:
    if evidence.link == "logistic":
        return ["Weight", "Error", "Rows", "IV"]
    return [label(c) for c in evidence.classes.tolist()[:MOST_CLASSES]] + ["Rows", "IV"]


def _lines(evidence: Evidence) -> list[tuple[str, ...]]:
    prior = evidence.prior_row[:MOST_CLASSES]
    strongest = max((float(np.abs(t.by_class).max(initial=0)) for t in evidence), default=1.0)
    scale = max(strongest, float(np.abs(prior).max()), SMALLEST_BAR)
    two = evidence.link == "logistic"
    empty = ("", "", "") if two else ("", "")
    bar = (_bar(prior[0], scale),) if two else ()
    lines = [("Prior", "", *map(hundredths, prior), *empty, *bar)]
    for table in evidence.tables[:MOST_FEATURES]:
        lines += _feature_lines(table, scale)
    if len(evidence) > MOST_FEATURES:
        lines.append((f"... and {len(evidence) - MOST_FEATURES} more features",))
    return lines


def _feature_lines(table: FeatureTable, scale: float) -> list[tuple[str, ...]]:
    two = table.by_class.shape[1] == 1
    lines: list[tuple[str, ...]] = []
    for i in _most_rows(table):
        weights = tuple(map(hundredths, table.by_class[i, :MOST_CLASSES]))
        error = (_error(_errors(table)[i, 0]),) if two else ()
        bar = (_bar(table.by_class[i, 0], scale),) if two else ()
        rows = _weight(table.counts[i].sum())
        first = f"{table.name} ({table.note})" if table.note else table.name
        value = f"{table.information_value:.2f}" if not lines else ""
        lines.append(
            (first if not lines else "", table.labels[i], *weights, *error, rows, value, *bar)
        )
    return [*lines, *(("", text) for text in _left_out(table))]


def _most_rows(table: FeatureTable) -> list[int]:
    """The levels that are shown, in their order: where there are too many, those of most rows."""
    order = np.argsort(-table.counts.sum(axis=1), kind="stable")
    return sorted(order[:MOST_LEVELS].tolist())


def _left_out(table: FeatureTable) -> list[str]:
    left = len(table.levels) - MOST_LEVELS
    return [f"... and {left:,} more levels, of fewer rows"] if left > 0 else []


def _weight(total: float) -> str:
    """Rows, or their weight where it is no whole number."""
    return f"{total:,.0f}" if total == round(total) else f"{total:,.4g}"


def feature_text(table: FeatureTable) -> str:
    """One feature on its own, level by level."""
    note = f" ({table.note})" if table.note else ""
    lines = [f"{table.name}{note}: information value {table.information_value:.2f}"]
    for i in _most_rows(table):
        weights = " ".join(map(hundredths, table.by_class[i, :MOST_CLASSES]))
        lines.append(f"  {table.labels[i]}  {weights}  ({_weight(table.counts[i].sum())} rows)")
    lines += [f"  {text}" for text in _left_out(table)]
    return "\n".join(map(printable, lines))


def _error(error: float) -> str:
    return "" if np.isnan(error) else f"{100 * error:.0f}"


def _bar(weight: float, scale: float) -> str:
    length = round(BAR * abs(weight) / scale)
    left = "█" * length if weight < 0 else ""
    right = "█" * length if weight > 0 else ""
    return f"{left:>{BAR}}|{right:<{BAR}}"
