"""The cut-off table: the effect of refusing cases below a score.

The gains table: how many bads the lowest scores hold. And the profit at each cut-off.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from weigh.arrays import Floats
from weigh.bins import label
from weigh.frames import Sample, Value, build, canonical, key
from weigh.layout import Grid, Shown, View
from weigh.parameters import check_count, is_number

if TYPE_CHECKING:
    from weigh.scorecard.card import Scorecard


LARGE = 1e5
"""Counts from this size on are rounded to whole numbers."""


Scores = np.ndarray[Any, np.dtype[np.int64]]


@dataclass(frozen=True, eq=False, repr=False)
class _ByBand(Shown):
    """Counts of rows and bads by score band: what both tables show."""

    low: Scores
    high: Scores
    rows: Floats
    bads: Floats
    adverse: Value
    backend: str | None = None

    def _columns(self) -> dict[str, Any]:
        """The columns that both tables have."""
        own = {"low": self.low, "high": self.high, "rows": self.rows, "bads": self.bads}
        return own | {"bad_rate": self.bads / self.rows}

    def to_dict(self) -> dict[str, list[Any]]:
        """The columns as plain data."""
        return {name: column.tolist() for name, column in self._columns().items()}

    def to_frame(self) -> Any:
        """One row per band."""
        return build(self.to_dict(), self.backend)

    def _grid(self, head: dict[str, Any]) -> Grid:
        """A table with a line per band; `head` has the writer of each further column."""
        writers: dict[str, Any] = {"rows": spell_count, "bads": spell_count, "bad_rate": _percent}
        columns, bands = self.to_dict(), zip(self.low, self.high, strict=True)
        writers |= {name: write for name, (_, write) in head.items()}
        cells = [[spell_band(low, high) for low, high in bands]]
        cells += [[write(value) for value in columns[name]] for name, write in writers.items()]
        names = ("Score", "Rows", "Bads", "Bad rate", *(title for title, _ in head.values()))
        return Grid(names, tuple(zip(*cells, strict=True)))


def _percent(share: float) -> str:
    return f"{100 * share:.1f}%"


@dataclass(frozen=True, eq=False, repr=False)
class Gains(_ByBand):
    """Score bands, the lowest first. Cumulative columns count the band and those below it.

    Attributes
    ----------
    low, high : ndarray of shape (n_bands,)
        The scores of a band, both included.
    rows, bads : ndarray of shape (n_bands,)
        Cases of the band, and how many of them had the adverse outcome.
    adverse : label
        The adverse class.
    """

    @property
    def captured(self) -> Floats:
        """The share of all bads that this band and those below it hold."""
        return np.asarray(np.cumsum(self.bads) / self.bads.sum())

    @property
    def lift(self) -> Floats:
        """The bad rate of this band and those below it, relative to that of all cases."""
        return np.asarray(self.captured * self.rows.sum() / np.cumsum(self.rows))

    def _columns(self) -> dict[str, Any]:
        so_far = {"rows": np.cumsum(self.rows), "bads": np.cumsum(self.bads)}
        own = {f"cumulative_{name}": column for name, column in so_far.items()}
        return super()._columns() | own | {"captured": self.captured, "lift": self.lift}

    def view(self) -> View:
        """The table as data for text and pages."""
        head = {
            "cumulative_rows": ("Rows so far", spell_count),
            "cumulative_bads": ("Bads so far", spell_count),
            "captured": ("Captured", _percent),
            "lift": ("Lift", "{:.2f}".format),
        }
        notes = (
            f"Bads are cases of {label(self.adverse)}. Captured is the share of all bads with "
            "these scores or lower ones. Lift is their bad rate relative to that of all cases.",
        )
        return View("Gains table, the lowest scores first", (self._grid(head),), notes=notes)


def spell_band(low: int, high: int) -> str:
    """The scores of a band, both included.

    >>> spell_band(64, 88), spell_band(64, 64)
    ('64 to 88', '64')
    """
    return f"{low}" if low == high else f"{low} to {high}"


def spell_count(count: float) -> str:
    """A count, or an amount, with commas: never a power of ten.

    >>> spell_count(4246913.0), spell_count(12.5)
    ('4,246,913', '12.5')
    """
    return f"{count:,.0f}" if abs(count) >= LARGE else f"{count:,.6g}"


@dataclass(frozen=True)
class Profit:
    """The amounts per approved case, and the cut-off of the largest profit on the rows.

    `cut_off` is None where approving no case is best: every cut-off makes a loss.
    """

    good: float
    bad: float
    cut_off: int | None
    total: float
    approval_rate: float

    @property
    def words(self) -> str:
        """The best cut-off as a sentence."""
        told = f"{self.good:+,.6g} per approved good case and {self.bad:+,.6g} per approved bad one"
        if self.cut_off is None:
            return f"Profit is {told}: no cut-off makes a profit on these rows."
        return (
            f"Profit is {told}. It is largest at a cut-off of {self.cut_off}: "
            f"{spell_count(self.total)}, with {100 * self.approval_rate:.1f}% approved."
        )


@dataclass(frozen=True)
class Decided:
    """The share of rows that a cut-off approves, and their bad rate; None where it approves none.

    >>> Decided(540.0, 0.6, 0.081, "bad").words
    'A cut-off of 540 approves 60.0% of the rows; 8.1% of them are bad.'
    """

    cut_off: float
    approval_rate: float
    bad_rate: float | None
    adverse: str

    @property
    def words(self) -> str:
        """The effect as a sentence."""
        start = f"A cut-off of {self.cut_off:g} approves"
        if self.bad_rate is None:
            return f"{start} none of the rows."
        share, bad = _percent(self.approval_rate), _percent(self.bad_rate)
        return f"{start} {share} of the rows; {bad} of them are {self.adverse}."


def read_amounts(given: Any, good: Value, bad: Value) -> tuple[float, float]:
    """The amounts of a good and a bad case, by class or by the words good and bad."""
    amounts = {key(canonical(name)): value for name, value in given.items()} if (
        isinstance(given, Mapping)
    ) else {}  # fmt: skip
    for names in ((good, bad), ("good", "bad")):
        if {*amounts} == {key(canonical(name)) for name in names}:
            found = [amounts[key(canonical(name))] for name in names]
            if all(is_number(value) and np.isfinite(value) for value in found):
                return float(found[0]), float(found[1])
    raise ValueError(
        f"profit must hold the amount per approved case of {good!r} and of {bad!r}, such as "
        f"{{{good!r}: 100, {bad!r}: -900}}, got {given!r}"
    )


def implied_costs(card: Scorecard, profit: Any, pos_label: Value = None) -> tuple[float, float]:
    """The costs of a false positive and of a false negative that a profit implies, else 1 and 1.

    To approve a bad case loses its amount, and to decline a good one forgoes its amount.
    """
    good, bad = (0.0, 0.0) if profit is None else read_amounts(profit, card.pos_label, card.adverse)
    if good <= 0 or bad >= 0:
        return 1.0, 1.0
    return (-bad, good) if pos_label == card.pos_label else (good, -bad)


def find_profit(amounts: tuple[float, float], scores: Scores, rows: Floats, bads: Floats) -> Profit:
    """The best cut-off among distinct scores, the highest first, from their rows and bads."""
    good, bad = amounts
    totals = np.cumsum((rows - bads) * good + bads * bad)
    best = int(np.argmax(totals))
    if totals[best] <= 0:
        return Profit(good, bad, None, 0.0, 0.0)
    share = float(rows[: best + 1].sum() / rows.sum())
    return Profit(good, bad, int(scores[best]), float(totals[best]), share)


@dataclass(frozen=True, eq=False, repr=False)
class Bands(_ByBand):
    """Score bands, the highest first. Each line counts the cases of its band and above it.

    Attributes
    ----------
    low, high : ndarray of shape (n_bands,)
        The scores of a band, both included.
    rows, bads : ndarray of shape (n_bands,)
        Cases of the band, and how many of them had the adverse outcome.
    adverse : label
        The adverse class.
    best : Profit, optional
        The amounts per approved case, and the cut-off of the largest profit.
    """

    best: Profit | None = None

    @property
    def gains(self) -> Gains:
        """Bands from the lowest scores up, with the share of bads that they capture."""
        ends, counts = (self.low[::-1], self.high[::-1]), (self.rows[::-1], self.bads[::-1])
        return Gains(*ends, *counts, self.adverse, self.backend)

    def decide(self, cut_off: float) -> Decided:
        """The effect of a cut-off; bands that it parts count as declined."""
        approved = self.low >= cut_off
        rows, bads = float(self.rows[approved].sum()), float(self.bads[approved].sum())
        rate = bads / rows if rows else None
        share = rows / float(self.rows.sum())
        return Decided(float(cut_off), share, rate, label(self.adverse))

    @property
    def profit(self) -> Floats | None:
        """The profit of a cut-off at `low`, where amounts per approved case were given."""
        if self.best is None:
            return None
        own = (self.rows - self.bads) * self.best.good + self.bads * self.best.bad
        return np.asarray(np.cumsum(own))

    @property
    def approval_rate(self) -> Floats:
        """The share of all cases with this score or a higher one."""
        return np.asarray(np.cumsum(self.rows) / self.rows.sum())

    @property
    def bad_rate_above(self) -> Floats:
        """The share of bads among the cases that a cut-off at `low` accepts."""
        return np.asarray(np.cumsum(self.bads) / np.cumsum(self.rows))

    @property
    def ks(self) -> Floats:
        """How much larger the share of bads below `low` is than the share of goods below it."""
        goods = self.rows - self.bads
        return np.asarray(np.cumsum(goods) / goods.sum() - np.cumsum(self.bads) / self.bads.sum())

    def _columns(self) -> dict[str, Any]:
        goods = self.rows - self.bads
        none = np.full(len(goods), np.inf)
        own = {
            "odds": np.divide(goods, self.bads, out=none, where=self.bads > 0),
            "approval_rate": self.approval_rate,
            "bad_rate_above": self.bad_rate_above,
            "ks": self.ks,
        }
        return super()._columns() | own | ({} if self.best is None else {"profit": self.profit})

    def view(self) -> View:
        """The table as data for text and pages."""
        head = {
            "odds": ("Odds", _odds),
            "approval_rate": ("Approved", _percent),
            "bad_rate_above": ("Bad rate above", _percent),
            "ks": ("KS", "{:.3f}".format),
        }
        head |= {"profit": ("Profit", spell_count)} if self.best else {}
        notes = (
            f"Bads are cases of {label(self.adverse)}. Approved, Bad rate above and KS are those "
            "of a cut-off at the band's lowest score.",
            *([self.best.words] if self.best else []),
        )
        return View("Cut-off table by score band", (self._grid(head),), notes=notes)


def _odds(odds: float) -> str:
    return "no bads" if odds == np.inf else f"{odds:.{1 if odds >= 1 else 2}f}"


def band_rows(card: Scorecard, sample: Sample, n_bands: int, profit: Any = None) -> Bands:
    """The bands of labelled rows, scored by a card."""
    check_count("n_bands", n_bands)
    if sample.class_counts.min() <= 0:
        raise ValueError(f"y must hold both classes, {card.classes_.tolist()}")
    adverse = sample.classes.tolist().index(card.adverse)  # a sample sorts its classes
    bad = (sample.labels == adverse).astype(np.float64)
    scores = card._add(card._match(sample.table))
    amounts = None if profit is None else read_amounts(profit, card.pos_label, card.adverse)
    told = (card.adverse, sample.table.backend or card._source.backend)
    return count_bands(scores, bad, sample.weights, n_bands, *told, amounts=amounts)


def count_bands(
    scores: Scores,
    bad: Floats,
    weight: Floats,
    n_bands: int,
    adverse: Value,
    backend: Any,
    amounts: tuple[float, float] | None = None,
) -> Bands:
    """Bands of about as many rows each; equal scores stay together."""
    order = np.argsort(-scores, kind="stable")
    values, starts = np.unique(-scores[order], return_index=True)
    rows = np.add.reduceat(weight[order], starts)
    bads = np.add.reduceat((weight * bad)[order], starts)
    middle = (np.cumsum(rows) - rows / 2) / rows.sum()
    band = np.minimum((middle * n_bands).astype(int), n_bands - 1)
    first = np.flatnonzero(np.diff(band, prepend=-1))
    last = np.append(first[1:], len(values)) - 1
    return Bands(
        low=-values[last],
        high=-values[first],
        rows=np.add.reduceat(rows, first),
        bads=np.add.reduceat(bads, first),
        adverse=adverse,
        backend=backend,
        best=None if amounts is None else find_profit(amounts, -values, rows, bads),
    )
