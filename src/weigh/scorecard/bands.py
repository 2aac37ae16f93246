"""The cut-off table: what happens if cases below a score are refused."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from weigh.bins import label
from weigh.frames import Floats, Sample, Value, build
from weigh.layout import Grid, Shown, View
from weigh.parameters import is_count
from weigh.scorecard.gains import Gains, Profit, find_profit, read_amounts, spell_band, spell_count

if TYPE_CHECKING:
    from weigh.scorecard.card import Scorecard

Scores = np.ndarray[Any, np.dtype[np.int64]]


@dataclass(frozen=True, eq=False, repr=False)
class Bands(Shown):
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

    low: Scores
    high: Scores
    rows: Floats
    bads: Floats
    adverse: Value
    backend: str | None = None
    best: Profit | None = None

    @property
    def gains(self) -> Gains:
        """Bands from the lowest scores up, with the share of bads that they capture."""
        ends, counts = (self.low[::-1], self.high[::-1]), (self.rows[::-1], self.bads[::-1])
        return Gains(*ends, *counts, self.adverse, self.backend)

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

    def to_dict(self) -> dict[str, list[Any]]:
        """The columns as plain data."""
        goods = self.rows - self.bads
        columns = {
            "low": self.low,
            "high": self.high,
            "rows": self.rows,
            "bads": self.bads,
            "bad_rate": self.bads / self.rows,
            "odds": np.divide(
                goods, self.bads, out=np.full(len(goods), np.inf), where=self.bads > 0
            ),
            "approval_rate": self.approval_rate,
            "bad_rate_above": self.bad_rate_above,
            "ks": self.ks,
        }
        if self.profit is not None:
            columns["profit"] = self.profit
        return {name: column.tolist() for name, column in columns.items()}

    def to_frame(self) -> Any:
        """One row per band."""
        return build(self.to_dict(), self.backend)

    def view(self) -> View:
        """The table as data for text and pages."""
        names = ("Score", "Rows", "Bads", "Bad rate", "Odds", "Approved", "Bad rate above", "KS")
        head = (*names, *(("Profit",) if self.best else ()))
        found = self.to_dict()
        rows = tuple(
            (
                spell_band(low, high),
                spell_count(found["rows"][i]),
                spell_count(found["bads"][i]),
                f"{100 * found['bad_rate'][i]:.1f}%",
                _odds(found["odds"][i]),
                f"{100 * found['approval_rate'][i]:.1f}%",
                f"{100 * found['bad_rate_above'][i]:.1f}%",
                f"{found['ks'][i]:.3f}",
                *([spell_count(found["profit"][i])] if self.best else []),
            )
            for i, (low, high) in enumerate(zip(self.low, self.high, strict=True))
        )
        notes = (
            f"Bads are cases of {label(self.adverse)}. Approved, Bad rate above and KS are those "
            "of a cut-off at the band's lowest score.",
            *([self.best.words] if self.best else []),
        )
        return View("Cut-off table by score band", (Grid(head, rows),), notes=notes)


def _odds(odds: float) -> str:
    return "no bads" if odds == np.inf else f"{odds:.{1 if odds >= 1 else 2}f}"


def band_rows(card: Scorecard, sample: Sample, n_bands: int, profit: Any = None) -> Bands:
    """The bands of labelled rows, scored by a card."""
    if not (is_count(n_bands) and n_bands >= 1):
        raise ValueError(f"n_bands must be a whole number of at least 1, got {n_bands!r}")
    if sample.class_counts.min() <= 0:
        raise ValueError(f"y must hold both classes, {card.classes_.tolist()}")
    adverse = sample.classes.tolist().index(card.adverse)  # a sample sorts its classes
    bad = (sample.labels == adverse).astype(np.float64)
    weight = np.ones(len(bad)) if sample.weight is None else np.asarray(sample.weight)
    scores = card._add(card._match(sample.table))
    amounts = None if profit is None else read_amounts(profit, card.pos_label, card.adverse)
    told = (card.adverse, card._source.backend)
    return count_bands(scores, bad, weight, n_bands, *told, amounts=amounts)


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
