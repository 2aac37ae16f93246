"""The evidence table of a report: weights as numbers and bars, with their intervals.

The weights of a numeric feature are drawn as a step chart, which shows their shape.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from weigh.arrays import Floats
from weigh.bins import Feature
from weigh.chart_data import NumberAxis
from weigh.evidence import FeatureTable, hundredths
from weigh.evidence.ranking import choose_levels, has_tokens, head_counts, rank_tables
from weigh.evidence.show import bar_scale, spell_count
from weigh.evidence.units import Words, words_of
from weigh.layout import render
from weigh.pages.model import Subject, spell_added_loss, spell_levels
from weigh.sheet import COVERAGE, REACH

WIDTH, HEIGHT, LEFT, BOTTOM, EDGE = 360, 150, 40, 22, 8
TICKS = 5
ROWS = 24
"""Height of the histogram of rows, at the bottom of the chart."""


SCALES = {
    "linear": "",
    "log": " The axis is logarithmic.",
    "even": " Bins are drawn as wide as each other.",
}


@dataclass(frozen=True, eq=False)
class Steps:
    """The weights of bins, the half-widths of their intervals (NaN: not known), and their names."""

    cuts: tuple[float, ...]
    weights: Floats
    reach: Floats
    labels: Sequence[str]
    share: Floats  # of rows, by bin
    least: float  # the y axis includes this weight at least
    read: Words = field(default_factory=Words)

    @cached_property
    def axis(self) -> NumberAxis:
        """The axis with the positions of the bins."""
        return NumberAxis.of(self.cuts, self.share)

    def draw(self, name: str, title: str, caption: str = "") -> Any:
        """The chart with a text alternative; `caption` goes before its own caption."""
        top, bottom = self.limits
        x = LEFT + self.axis.edges * (WIDTH - LEFT - EDGE)

        def y(values: Floats) -> Floats:
            share = (top - np.clip(values, bottom, top)) / (top - bottom)
            return np.asarray(EDGE + share * (HEIGHT - BOTTOM - EDGE - ROWS))

        band = []
        if np.isfinite(self.reach).all():
            high, low = (_corners(x, y(self.weights + s * self.reach)) for s in (1, -1))
            band = [*high, *low[::-1]]
        return render(
            "steps.html",
            **{"name": name, "title": title, "caption": caption, "told": self.told()},
            **{"width": WIDTH, "height": HEIGHT, "left": LEFT, "bottom": BOTTOM, "edge": EDGE},
            rows=self._rows(x),
            band=band,
            line=_corners(x, y(self.weights)),
            zero=float(y(np.zeros(1))[0]),
            across=self._across(),
            upwards=self._upwards(top, bottom),
        )

    @property
    def limits(self) -> tuple[float, float]:
        """The upper and lower limit of the y axis: all intervals of weights, and zero."""
        reach = np.where(np.isfinite(self.reach), self.reach, 0.0)
        high, low = float((self.weights + reach).max()), float((self.weights - reach).min())
        return max(high, self.least), min(low, -self.least)

    def told(self) -> str:
        """The first, last, highest and lowest weight, in a sentence."""
        w, names, text = self.weights, self.labels, self.read.weight
        wide = SCALES[self.axis.scale]
        return (
            f"{len(w)} bins: {text(w[0])} {names[0]}, {text(w[-1])} {names[-1]}; "
            f"the greatest {text(w.max())} ({names[int(w.argmax())]}), "
            f"the least {text(w.min())} ({names[int(w.argmin())]}).{wide}"
        )

    def _rows(self, x: Floats) -> list[tuple[float, float]]:
        """The distribution of the rows as one outline, whose area over an interval is its share."""
        foot = HEIGHT - BOTTOM
        tops = foot - 0.9 * ROWS * self.axis.heights(self.share)
        return [(float(x[0]), float(foot)), *_corners(x, tops), (float(x[-1]), float(foot))]

    def _across(self) -> list[tuple[float, str]]:
        """A few round numbers, far enough from each other."""
        shown = []
        for place, text in self.axis.ticks(TICKS):
            at = LEFT + place * (WIDTH - LEFT - EDGE)
            shown.append((min(max(at, LEFT + 12), WIDTH - EDGE - 12), text))
        return shown

    def _upwards(self, top: float, bottom: float) -> list[tuple[float, str]]:
        span = HEIGHT - BOTTOM - EDGE - ROWS
        zero = EDGE + 4 + span * top / (top - bottom)
        places = {top: EDGE + 4.0, 0.0: zero, bottom: EDGE + span}
        return [(y, self.read.weight(value)) for value, y in places.items()]


def _corners(ends: Floats, heights: Floats) -> list[tuple[float, float]]:
    """The corners of a step line that is flat within each bin."""
    return [
        (float(x), float(y))
        for a, b, y in zip(ends[:-1], ends[1:], heights, strict=True)
        for x in (a, b)
    ]


MOST = 200
"""Maximum number of levels in the folded table; the exact formula has them all."""

FEW = 8
"""Maximum number of levels on a card; more bins than these are drawn as steps."""

OPEN = 12
"""Number of cards above the fold, as many as the summary ranks."""

PRINTED = 24
"""Number of cards that are printed: enough for twenty features and a few pairs."""

HALF = 80
DRAWN = 6
"""Maximum number of classes with a chart each; with more classes there are no charts."""

FLAT = 4
"""The y axis of a chart reaches at least the largest weight of the model divided by this."""


@dataclass(frozen=True)
class Layout:
    """The columns: weight, interval and bar of one class, or the weights of every class."""

    classes: list[str]
    of: int | None
    scale: float
    words: Words
    counts: str  # heading of the counts: of rows, or of tokens
    bounded: bool  # whether some weight has an interval

    @classmethod
    def read(cls, subject: Subject) -> Layout:
        """The layout of a page; the largest weight sets the scale of the bars."""
        evidence = subject.evidence
        of = 0 if evidence.estimates else subject.of
        errors = [table.errors for table in evidence if table.errors is not None]
        bounded = any(np.isfinite(own).any() for own in errors)
        words, counts = words_of(evidence), head_counts(evidence)
        return cls(subject.classes, of, bar_scale(evidence), words, counts, bounded)

    @property
    def heads(self) -> list[str]:
        """The headings of the columns."""
        if self.of is None:
            return ["Level", self.counts, *self.classes]
        interval = [f"{COVERAGE:.0%} interval"] if self.bounded else []
        return ["Level", self.counts, self.words.heading, *interval, self.words.bars.capitalize()]

    def column(self, by_class: Floats) -> int:
        """The column index of the positive class's weights."""
        return (self.of or 0) if by_class.shape[-1] > 1 else 0


def weight_cards(subject: Subject) -> Any:
    """Every table, the most important first."""
    layout, prior = Layout.read(subject), subject.evidence.prior_row
    tables = rank_tables(subject.evidence)
    return render(
        "weights.html",
        heads=layout.heads,
        one=layout.of is not None,
        size={"width": 2 * HALF, "half": HALF},
        name=layout.words.start,
        prior=[layout.words.prior(float(p)) for p in _own(layout, prior)],
        open=OPEN,
        printed=PRINTED,
        cards=[_card(layout, table, f"s{k}") for k, table in enumerate(tables)],
    )


def _own(layout: Layout, by_class: Floats) -> list[float]:
    """The weights of a level that are shown: of the positive class, or of every class."""
    if layout.of is None:
        return by_class.tolist()  # type: ignore[no-any-return]
    return [float(by_class[layout.column(by_class)])]


def _card(layout: Layout, table: FeatureTable, name: str) -> dict[str, Any]:
    """A card: a step chart for many bins, a few other levels, and a folded table of all."""
    ordered = _intervals(table) if _intervals(table) > FEW else 0
    n = len(table.levels)
    shown, every = choose_levels(table, FEW, ordered), choose_levels(table, MOST)
    lost = f", added loss {loss}" if (loss := spell_added_loss(table)) else ""
    iv = f", IV {table.information_value:.2f}" if table.counts.shape[1] > 1 else ""
    return {
        "name": table.shown,
        "note": table.note,
        "told": f"importance {layout.words.error(table.importance)}{lost}{iv}",
        "charts": _charts(layout, table, name, ordered) if ordered else [],
        "lines": _lines(layout, table, shown),
        "all": _lines(layout, table, every) if len(shown) < n else [],
        "n": f"{n:,}",
        "tokens": has_tokens(table),
        "drawn": bool(ordered),
        "left": f"{n - len(every):,}" if len(every) < n else "",
    }


def _intervals(table: FeatureTable) -> int:
    """The number of bins among the levels; they come first and are ordered."""
    cuts = table.feature.cuts if isinstance(table.feature, Feature) else None
    return 0 if cuts is None else len(cuts) + 1


def _lines(layout: Layout, table: FeatureTable, shown: list[int]) -> list[dict[str, Any]]:
    labels, errors = spell_levels(table.feature), _errors(layout, table)
    rows = [spell_count(total) for total in table.counts.sum(axis=1)]
    return [_line(layout, labels[i], rows[i], table.by_class[i], errors[i]) for i in shown]


def _errors(layout: Layout, table: FeatureTable) -> Floats:
    """Standard errors of the positive class's weights, by level; NaN where not known."""
    if table.errors is None or layout.of is None:
        return np.full(len(table.by_class), np.nan)
    return table.errors.reshape(table.by_class.shape)[:, layout.column(table.by_class)]


def _reach(error: Floats | float) -> Floats:
    return np.asarray(REACH * error)


def _line(layout: Layout, text: str, rows: str, by_class: Floats, error: float) -> dict[str, Any]:
    """A level: rows, weights, and the bar of one class."""
    if layout.of is None:
        cells = [rows, *map(hundredths, by_class.tolist())]
        return {"label": text, "cells": cells, "bar": None}
    (weight,), reach = _own(layout, by_class), float(_reach(error))
    told = ""
    if np.isfinite(reach):
        told = f"{layout.words.weight(weight - reach)} to {layout.words.weight(weight + reach)}"
    shown = layout.words.weight(weight)
    bar = _bar(weight, reach, layout.scale)
    interval = [told] if layout.bounded else []
    return {"label": text, "cells": [rows, shown, *interval], "bar": bar}


def _charts(layout: Layout, table: FeatureTable, name: str, n: int) -> list[Any]:
    """Step charts of the bins, one for each class that is shown."""
    many = range(table.by_class.shape[1]) if len(layout.classes) <= DRAWN else ()
    columns = [*many] if layout.of is None else [layout.column(table.by_class)]
    return [_steps(layout, table, f"{name}-{k}", n, k) for k in columns]


def shape_of(subject: Subject, table: FeatureTable) -> Steps:
    """The bins of a table as steps, for the positive class of the page."""
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


def _bar(weight: float, reach: float, scale: float) -> dict[str, Any]:
    """A bar from the middle, with its interval as a line; the numbers are in the next columns."""

    def at(x: float) -> float:
        return round(HALF + HALF * float(np.clip(x / scale, -1.0, 1.0)), 1)

    low, high = sorted((at(0.0), at(weight)))
    line = (at(weight - reach), at(weight + reach)) if np.isfinite(reach) else None
    look = "for" if weight > 0 else "against"
    return {"look": look, "start": low, "width": f"{high - low:.1f}", "reach": line}
