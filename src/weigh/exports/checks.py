"""Test rows for every level and boundary of a formula, and Python's results for them.

Every level, every cut point and the numbers next to it, special codes, missing and unseen values,
text and large codes that nearly are levels, infinities, and every pair of levels of a cross. An
export must give the same results for these rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from weigh.arrays import Floats
from weigh.bins import Feature, Kind
from weigh.evidence import Evidence, evidence_of, is_sum
from weigh.evidence.exposure import list_offsets
from weigh.exports.targets import is_large
from weigh.formula import Formula, Input
from weigh.frames import NOT_KNOWN, Value, key, read
from weigh.sheet import Reasons, find_reasons

TOLERANCE = 1e-9
UNSEEN = "a level that nobody has seen"
EXTREME = 12.0
"""Log odds of a probability that is within 1e-5 of 0 or 1."""

KNOWN: dict[str, tuple[Value, ...]] = {
    "exposure": (0.5, 1.0, None, 2.25, 1e-6, 1e6),
    "offset": (0.5, 0.0, None, -1.25),
}
"""Exposures and offsets that are tried."""

NEARLY = 3
"""Number of text levels for which similar texts are tried."""


@dataclass(frozen=True, eq=False)
class ExpectedOutput:
    """Python's results for some rows: one column per total, class, or feature and total.

    Predictions are the probability of each class, or the estimate of a number.
    """

    totals: Floats
    predictions: Floats
    contributions: Floats
    evidence: Evidence
    rows: list[dict[str, Value]]

    @property
    def scores(self) -> Floats:
        """The sums before any curve: of a scorecard, its scores."""
        table = self.evidence.read(self.rows)
        return self.evidence.raw_total(table)[:, 0]

    def reasons(self, n: int) -> Reasons:
        """The n features of largest weight of every row."""
        return find_reasons(self.evidence, read(self.rows), n)


def wanted(model: Any, rows: list[dict[str, Value]]) -> ExpectedOutput:
    """The results of a model for rows, given as dicts."""
    card = hasattr(model, "formula")  # whose exports have its points as weights
    evidence = model.evidence if card else evidence_of(model, is_sum(model))
    table = evidence.read(rows)
    totals = evidence.total(table) + _offsets(evidence, rows)
    parts = evidence.contributions(table)
    told = evidence.means(totals) if evidence.estimates else evidence.probabilities(totals)
    return ExpectedOutput(totals, told, parts, evidence, rows)


def _offsets(evidence: Evidence, rows: list[dict[str, Value]]) -> Floats:
    """What exposure and offset add to the total of each row."""
    columns = list_offsets(evidence)
    found = np.zeros((len(rows), 1))
    for column in columns:
        found[:, 0] += [column.add(row.get(column.name)) for row in rows]  # type: ignore[arg-type]
    return found


def visit(
    formula: Formula,
    step: float = 0.0,
    finite: bool = False,
    rounds: int = 2,
    not_known: bool = False,
) -> list[dict[str, Value]]:
    """Rows that visit every level, boundary, missing and unseen value, and pair of a cross.

    Questions that are not always asked are visited where they are, and where they are not.

    Parameters
    ----------
    formula : Formula
        Of the model.
    step : float, default=0.0
        Relative distance of the numbers tried next to a cut point; 0 means the adjacent doubles.
    finite : bool, default=False
        Leave infinities and empty text out, for targets that have none.
    rounds : int, default=2
        How often each value is used, each time together with other values.
    not_known : bool, default=False
        Try answers that are not known beside missing ones, for targets that tell them apart.
    """
    cells = {column.name: _cells(column, step, finite) for column in formula.inputs}
    for column in formula.inputs if not_known else ():  # None only where missing is a level
        own = [c for c in cells[column.name] if c is not None or column.has_missing]
        cells[column.name] = [NOT_KNOWN, *own]
    for given in formula.offsets:
        numbers = [cell for cell in cells[given.name] if cell is not NOT_KNOWN]
        cells[given.name] = [*filter(given.allows, numbers), *KNOWN[given.role]]
    n = max(map(len, cells.values()))
    rows = [_row(cells, i) for i in range(rounds * n)]
    for term in formula.terms:
        if len(term.columns) > 1 or any(column.asked for column in term.columns):
            rows += _pairs(term.columns, term.places, cells)
    if not_known:
        return rows
    nulls = {column.name for column in formula.inputs if not column.has_missing}
    told = [
        {k: None if v is NOT_KNOWN and k in nulls else v for k, v in row.items()} for row in rows
    ]
    return [row for row in told if NOT_KNOWN not in row.values()]


def _row(cells: dict[str, list[Value]], i: int) -> dict[str, Value]:
    """Row i: each column cycles through its values, shifted by its own offset in later rounds."""
    n = max(map(len, cells.values()))
    return {
        name: values[(i + (i // n) * j) % len(values)]
        for j, (name, values) in enumerate(cells.items())
    }


def _pairs(
    columns: Sequence[Feature], places: Sequence[tuple[int, ...]], cells: dict[str, list[Value]]
) -> list[dict[str, Value]]:
    rows = []
    for i, place in enumerate(places):
        own = {c.name: _example(c, p) for c, p in zip(columns, place, strict=True)}
        asks = [ask for column in columns for ask in column.asked]
        met = {ask.feature.name: _example(ask.feature, ask.places[0]) for ask in asks}
        rows.append(_row(cells, i) | met | own)
    return rows


def _example(column: Feature, place: int) -> Value:
    """A value of the level at a place, or one that is not known."""
    if place == column.no_level:
        seen = column.kinds != {Kind.TEXT} or column.other or not column.has_missing
        return NOT_KNOWN if seen else UNSEEN
    if column.cuts is not None and place <= len(column.cuts):
        return _inside(column, place)
    if column.other and place == column.rest:
        return _unseen(column.kind, column.values)[0]
    found = [test.value for test in column.conditions if test.place == place]
    return found[0]


def _unseen(kind: Kind, values: tuple[Value, ...]) -> list[Value]:
    """A category that is not among the values, where there can be one."""
    if kind is Kind.BOOLEANS:
        return [value for value in (False, True) if value not in values]
    if kind is Kind.NUMBERS:
        return _neighbours(values) or [_between(values)]
    return [UNSEEN]


def _inside(column: Feature, place: int) -> float:
    """A number of an interval that is no special code, where one is easily found."""
    ends = (-np.inf, *(column.cuts or ()), np.inf)
    low, high = ends[place], ends[place + 1]
    start = high if np.isfinite(high) else low if np.isfinite(low) else 0.0
    tried = [start - step * max(abs(start), 1.0) for step in (0, 1e-6, -1, -2, 1, 2)]
    fits = [x for x in tried if low < x <= high and x not in column.values]
    return float(fits[0] if fits else high)


def _cells(column: Input, step: float, finite: bool) -> list[Value]:
    """The distinct values to try in one column."""
    cells: list[Value] = [None, *column.values]
    if column.is_numeric:
        cells += _numbers(column.cuts, step)
    elif column.kind in (Kind.TEXT, Kind.MIXED):
        cells += [UNSEEN, *_nearly(column.values), *([] if finite else [""])]
    elif column.kind is Kind.NUMBERS or column.other:
        cells += _unseen(column.kind, column.values)
    if column.kind is Kind.NUMBERS and not finite and not _neighbours(column.values):
        cells += [np.inf, -np.inf]
    infinite = (np.inf, -np.inf) if finite else ()
    kept = {key(cell): cell for cell in cells if cell not in infinite}
    return [*kept.values()]


def _nearly(values: Sequence[Value]) -> list[Value]:
    """Text that a database or a reader of files may take for a level: in capitals, with a blank."""
    texts = [v for v in values if isinstance(v, str)][:NEARLY]
    return [near for text in texts for near in (text.swapcase(), f"{text} ", f" {text}")]


def _neighbours(values: Sequence[Value]) -> list[Value]:
    """Neighbours of whole numbers that are too large for doubles to distinguish."""
    near = [v + step for v in values if is_large(v) for step in (-1, 1)]  # type: ignore[operator]
    return [value for value in near if value not in values]


def _between(values: Sequence[Value]) -> float:
    return max((float(v) for v in values), default=0.0) / 2 + 0.25  # type: ignore[arg-type]


def _numbers(cuts: tuple[float, ...], step: float) -> list[Value]:
    near: list[Value] = [0.0, 1.0, -1.0]
    for cut in cuts:
        below, above = cut - step * abs(cut), cut + step * abs(cut)
        if not step:
            below, above = float(np.nextafter(cut, -np.inf)), float(np.nextafter(cut, np.inf))
        near += [below, cut, above]
    return near


@dataclass(frozen=True)
class LargestGap:
    """The largest difference between an export and Python over rows, and its row."""

    total: float
    prediction: float
    n_rows: int
    row: dict[str, Value]
    other: str = ""  # what differs that is neither

    @property
    def holds(self) -> bool:
        """Whether the difference is within the tolerance."""
        return not self.other and max(self.total, self.prediction) <= TOLERANCE


def compare_rows(python: ExpectedOutput, totals: Any, predictions: Any) -> LargestGap:
    """Differences of totals and predictions from Python's, relative where values exceed 1."""
    gaps = gap_of_totals(python, np.asarray(totals, dtype=np.float64).reshape(python.totals.shape))
    given = np.asarray(predictions, dtype=np.float64).reshape(python.predictions.shape)
    apart = _gap(given, python.predictions)
    worst = int(np.maximum(gaps.max(axis=1), apart.max(axis=1)).argmax())
    return LargestGap(float(gaps.max()), float(apart.max()), len(gaps), python.rows[worst])


def _gap(given: Floats, own: Floats) -> Floats:
    """Absolute differences, relative for numbers beyond 1; infinite for NaN."""
    gaps = np.abs(given - own) / np.maximum(np.abs(own), 1.0)
    return np.where(np.isnan(gaps), np.inf, gaps)


def gap_of_totals(python: ExpectedOutput, totals: Floats) -> Floats:
    """Differences of totals, relative for totals beyond 1; infinite for NaN.

    An isotonic curve of nearly 0 or 1 has log odds that one bit moves: there only the probability
    is compared.
    """
    gaps = _gap(totals, python.totals)
    curve = python.evidence.recalibration
    if curve is not None and curve.method == "isotonic":
        gaps = np.where(np.abs(python.totals - curve.shift) < EXTREME, gaps, 0.0)
    return gaps
