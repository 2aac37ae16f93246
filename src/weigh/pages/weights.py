"""The evidence table of a report: weights as numbers and bars, with their intervals."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import ndtri

from weigh.bins import Feature
from weigh.evidence import FeatureTable, hundredths
from weigh.frames import Floats
from weigh.pages.document import escape
from weigh.pages.levels import spell_levels
from weigh.pages.steps import Steps
from weigh.pages.subject import Subject
from weigh.pages.tables import cells
from weigh.sheet import COVERAGE

MOST = 30
"""Levels of one feature that are shown where they have no order; the exact formula has them all."""

FEW = 8
"""More intervals than these are drawn as steps, and listed for those who ask."""

WIDTH, HALF = 160, 80
SMALLEST = 0.05
"""Weights are drawn against at least this one, so that noise looks like noise."""

DRAWN = 6
"""Charts of every class are left out of more classes than these."""

FLAT = 4
"""Steps are drawn against at least the heaviest weight over this."""


@dataclass(frozen=True)
class Layout:
    """The columns: weight, interval and bar of one class, or the weights of every class."""

    classes: list[str]
    of: int | None
    scale: float

    @classmethod
    def read(cls, subject: Subject) -> Layout:
        """Bars are drawn against the heaviest weight."""
        evidence = subject.evidence
        known = [float(np.abs(table.by_class).max(initial=0.0)) for table in evidence]
        scale = max(*known, float(np.abs(evidence.prior_row).max()), SMALLEST)
        return cls(subject.classes, subject.of, scale)

    @property
    def heads(self) -> list[str]:
        """What the columns are."""
        if self.of is None:
            return ["Level", "Rows", *self.classes]
        return ["Level", "Rows", "Weight", f"{COVERAGE:.0%} interval", "Against | for"]

    def column(self, by_class: Floats) -> int:
        """Where the weights of the class in question stand."""
        return (self.of or 0) if by_class.shape[-1] > 1 else 0


def weight_tables(subject: Subject) -> str:
    """Every feature, the most important first."""
    layout, prior = Layout.read(subject), subject.evidence.prior_row
    start = f"<tr><th scope=row>Prior{_numbers(layout, '', prior, np.nan)}"
    tables = sorted(subject.evidence, key=lambda table: -table.importance)
    body = "".join(_feature(layout, table, f"s{k}") for k, table in enumerate(tables))
    head = cells(layout.heads, "th scope=col")
    look = "weights" if layout.of is None else "weights one"
    return f'<table class="{look}"><thead><tr>{head}<tbody>{start}{body}</table>'


def _feature(layout: Layout, table: FeatureTable, name: str) -> str:
    note = f" <small>({escape(table.note)})</small>" if table.note else ""
    lost = "" if table.added_loss is None else f", added loss {table.added_loss:.4f}"
    told = f"importance {100 * table.importance:.0f}{lost}, IV {table.information_value:.2f}"
    value = f" <small>{told}</small>"
    span = len(layout.heads)
    rows = [f"<tr><th scope=rowgroup colspan={span}><b>{escape(table.name)}</b>{note}{value}"]
    ordered = _intervals(table)
    if ordered > FEW:
        rows.append(f"<tr><td colspan={span}>{_drawn(layout, table, name, ordered)}")
    rows += _rows(layout, table, _shown(table, ordered))
    return "<tbody>" + "".join(rows)


def _intervals(table: FeatureTable) -> int:
    """How many of the levels are intervals, which come first and have an order."""
    cuts = table.feature.cuts if isinstance(table.feature, Feature) else None
    return 0 if cuts is None else len(cuts) + 1


def _shown(table: FeatureTable, ordered: int) -> list[int]:
    """The levels of most rows, in the table's order; of a number those that are not drawn."""
    start = ordered if ordered > FEW else 0
    rows = table.counts[start:].sum(axis=1)
    kept: list[int] = (start + np.sort(np.argsort(-rows, kind="stable")[:MOST])).tolist()
    return kept


def _rows(layout: Layout, table: FeatureTable, shown: list[int], bars: bool = True) -> list[str]:
    labels, errors = spell_levels(table.feature), _errors(layout, table)
    rows = []
    for i in shown:
        count = f"{table.counts[i].sum():,.6g}"
        told = _numbers(layout, count, table.by_class[i], errors[i], bars)
        rows.append(f"<tr><td>{escape(labels[i])}{told}")
    left = len(labels) - len(shown) - (_intervals(table) if _intervals(table) > FEW else 0)
    if left > 0 and bars:
        rows.append(f"<tr><td colspan={len(layout.heads)}>and {left:,} more levels, of fewer rows")
    return rows


def _errors(layout: Layout, table: FeatureTable) -> Floats:
    """Of the class in question, level by level; NaN where they are not known."""
    if table.errors is None or layout.of is None:
        return np.full(len(table.by_class), np.nan)
    return table.errors.reshape(table.by_class.shape)[:, layout.column(table.by_class)]


def _reach(error: Floats | float) -> Floats:
    return np.asarray(float(ndtri((1 + COVERAGE) / 2)) * error)


def _numbers(layout: Layout, count: str, by_class: Floats, error: float, bars: bool = True) -> str:
    """The cells beside a level."""
    if layout.of is None:
        return cells([count, *map(hundredths, by_class.tolist())])
    weight, reach = float(by_class[layout.column(by_class)]), float(_reach(error))
    told = ""
    if np.isfinite(reach):
        told = f"{hundredths(weight - reach)} to {hundredths(weight + reach)}"
    bar = f"<td>{_bar(weight, reach, layout.scale)}" if bars else ""
    return f"{cells([count, hundredths(weight), told])}{bar}"


def _drawn(layout: Layout, table: FeatureTable, name: str, n: int) -> str:
    """The intervals as steps, one picture for each class in question, and as a table to open."""
    one = layout.of is not None
    many = range(table.by_class.shape[1]) if len(layout.classes) <= DRAWN else ()
    columns = [layout.column(table.by_class)] if one else [*many]
    charts = "".join(_steps(layout, table, f"{name}-{k}", n, k) for k in columns)
    head = cells(layout.heads[:4] if one else layout.heads, "th scope=col")
    body = "".join(_rows(layout, table, [*range(n)], bars=False))
    return (
        f"<div class=charts>{charts}</div><details><summary>All {n} intervals</summary>"
        f"<table><thead><tr>{head}<tbody>{body}</table></details>"
    )


def _steps(layout: Layout, table: FeatureTable, name: str, n: int, column: int) -> str:
    assert isinstance(table.feature, Feature)
    weights = table.by_class[:n, column]
    reach, least = _reach(_errors(layout, table)[:n]), layout.scale / FLAT
    labels = spell_levels(table.feature)[:n]
    share = table.share[:n]
    steps = Steps(table.feature.cuts or (), weights, reach, labels, share, least)
    if layout.of is not None:
        return steps.draw(name, table.name)
    of = layout.classes[column]
    return steps.draw(name, f"{table.name}, {of}", f"For {of}:")


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
