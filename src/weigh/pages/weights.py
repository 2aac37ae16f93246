"""The evidence table of a report: weights as numbers and bars, with their intervals."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import ndtri

from weigh.bins import Feature
from weigh.evidence import FeatureTable, hundredths
from weigh.evidence.show import stands_alone
from weigh.evidence.units import Words, words_of
from weigh.frames import Floats
from weigh.layout import render
from weigh.pages.model import Subject, spell_levels
from weigh.pages.steps import Steps
from weigh.sheet import COVERAGE

MOST = 200
"""Levels of one table that can be opened; the exact formula has them all."""

FEW = 8
"""Levels that stand on a card; more intervals than these are drawn as steps."""

PRINTED = 24
"""Cards that are printed: those of twenty features and a few pairs."""

WIDTH, HALF = 160, 80
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
    words: Words

    @classmethod
    def read(cls, subject: Subject) -> Layout:
        """Bars are drawn against the heaviest weight."""
        evidence = subject.evidence
        known = [float(np.abs(table.by_class).max(initial=0.0)) for table in evidence]
        alone = stands_alone(evidence)
        start = 0.0 if alone else float(np.abs(evidence.prior_row).max())
        words = words_of(evidence)
        scale = max(*known, start, words.smallest) or 1.0
        of = 0 if evidence.estimates else subject.of
        return cls(subject.classes, of, scale, words)

    @property
    def heads(self) -> list[str]:
        """What the columns are."""
        if self.of is None:
            return ["Level", "Rows", *self.classes]
        interval = f"{COVERAGE:.0%} interval"
        return ["Level", "Rows", self.words.heading, interval, self.words.bars.capitalize()]

    def column(self, by_class: Floats) -> int:
        """Where the weights of the class in question stand."""
        return (self.of or 0) if by_class.shape[-1] > 1 else 0


@dataclass(frozen=True)
class Bar:
    """A bar from the middle, and the ends of the interval as a line; the numbers stand beside."""

    look: str
    start: float
    width: str
    reach: tuple[float, float] | None


@dataclass(frozen=True)
class Line:
    """A level: rows, weights, and the bar of one class."""

    label: str
    cells: list[str]
    bar: Bar | None = None


def weight_cards(subject: Subject) -> Any:
    """Every table, the most important first."""
    layout, prior = Layout.read(subject), subject.evidence.prior_row
    tables = sorted(subject.evidence.tables, key=lambda table: -table.importance)
    return render(
        "weights.html",
        heads=layout.heads,
        one=layout.of is not None,
        size={"width": WIDTH, "half": HALF},
        name=layout.words.start,
        prior=[layout.words.prior(float(p)) for p in _own(layout, prior)],
        printed=PRINTED,
        cards=[_card(layout, table, f"s{k}") for k, table in enumerate(tables)],
    )


def _own(layout: Layout, by_class: Floats) -> list[float]:
    """The weights that the columns show: of the class in question, or of every class."""
    if layout.of is None:
        return by_class.tolist()  # type: ignore[no-any-return]
    return [float(by_class[layout.column(by_class)])]


def _card(layout: Layout, table: FeatureTable, name: str) -> dict[str, Any]:
    """A number of many intervals as steps, and the levels of most rows; all levels to open."""
    ordered = _intervals(table) if _intervals(table) > FEW else 0
    n = len(table.levels)
    shown, every = _shown(table, ordered, FEW), _shown(table, 0, MOST)
    lost = "" if table.added_loss is None else f", added loss {table.added_loss:.4f}"
    iv = f", IV {table.information_value:.2f}" if table.counts.shape[1] > 1 else ""
    return {
        "name": table.shown,
        "note": table.note,
        "told": f"importance {layout.words.error(table.importance)}{lost}{iv}",
        "charts": _charts(layout, table, name, ordered) if ordered else [],
        "lines": _lines(layout, table, shown),
        "all": _lines(layout, table, every) if len(shown) < n else [],
        "n": f"{n:,}",
        "drawn": bool(ordered),
        "left": f"{n - len(every):,}" if len(every) < n else "",
    }


def _intervals(table: FeatureTable) -> int:
    """How many of the levels are intervals, which come first and have an order."""
    cuts = table.feature.cuts if isinstance(table.feature, Feature) else None
    return 0 if cuts is None else len(cuts) + 1


def _shown(table: FeatureTable, start: int, most: int) -> list[int]:
    """The levels of most rows from a place on, in the table's order."""
    rows = table.counts[start:].sum(axis=1)
    kept: list[int] = (start + np.sort(np.argsort(-rows, kind="stable")[:most])).tolist()
    return kept


def _lines(layout: Layout, table: FeatureTable, shown: list[int]) -> list[Line]:
    labels, errors = spell_levels(table.feature), _errors(layout, table)
    rows = [f"{total:,.6g}" for total in table.counts.sum(axis=1)]
    return [_line(layout, labels[i], rows[i], table.by_class[i], errors[i]) for i in shown]


def _errors(layout: Layout, table: FeatureTable) -> Floats:
    """Of the class in question, level by level; NaN where they are not known."""
    if table.errors is None or layout.of is None:
        return np.full(len(table.by_class), np.nan)
    return table.errors.reshape(table.by_class.shape)[:, layout.column(table.by_class)]


def _reach(error: Floats | float) -> Floats:
    return np.asarray(float(ndtri((1 + COVERAGE) / 2)) * error)


def _line(layout: Layout, text: str, rows: str, by_class: Floats, error: float) -> Line:
    """The cells beside a level."""
    if layout.of is None:
        return Line(text, [rows, *map(hundredths, by_class.tolist())])
    (weight,), reach = _own(layout, by_class), float(_reach(error))
    told = ""
    if np.isfinite(reach):
        told = f"{layout.words.weight(weight - reach)} to {layout.words.weight(weight + reach)}"
    shown = layout.words.weight(weight)
    return Line(text, [rows, shown, told], _bar(weight, reach, layout.scale))


def _charts(layout: Layout, table: FeatureTable, name: str, n: int) -> list[Any]:
    """The intervals as steps, one picture for each class in question."""
    many = range(table.by_class.shape[1]) if len(layout.classes) <= DRAWN else ()
    columns = [*many] if layout.of is None else [layout.column(table.by_class)]
    return [_steps(layout, table, f"{name}-{k}", n, k) for k in columns]


def shape_of(subject: Subject, table: FeatureTable) -> Steps:
    """The intervals of a table as steps, of the class that the page is about."""
    layout = Layout.read(subject)
    return _shape(layout, table, _intervals(table), layout.column(table.by_class))


def _shape(layout: Layout, table: FeatureTable, n: int, column: int) -> Steps:
    assert isinstance(table.feature, Feature)
    weights = table.by_class[:n, column]
    reach, least = _reach(_errors(layout, table)[:n]), layout.scale / FLAT
    labels = spell_levels(table.feature)[:n]
    cuts = table.feature.cuts or ()
    return Steps(cuts, weights, reach, labels, table.share[:n], least, layout.words)


def _steps(layout: Layout, table: FeatureTable, name: str, n: int, column: int) -> Any:
    steps = _shape(layout, table, n, column)
    if layout.of is not None:
        return steps.draw(name, table.shown)
    of = layout.classes[column]
    return steps.draw(name, f"{table.shown}, {of}", f"For {of}:")


def _bar(weight: float, reach: float, scale: float) -> Bar:
    def at(x: float) -> float:
        return round(HALF + HALF * float(np.clip(x / scale, -1.0, 1.0)), 1)

    low, high = sorted((at(0.0), at(weight)))
    line = (at(weight - reach), at(weight + reach)) if np.isfinite(reach) else None
    return Bar("for" if weight > 0 else "against", low, f"{high - low:.1f}", line)
