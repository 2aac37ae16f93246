"""The gains table: how many bads the lowest scores hold. And the profit at each cut-off."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from weigh.bins import label
from weigh.frames import Floats, Value, build, canonical, key
from weigh.layout import Grid, Shown, View
from weigh.parameters import is_number

if TYPE_CHECKING:
    from weigh.scorecard.bands import Scores


LARGE = 1e5
"""From here on counts are rounded to whole numbers."""


@dataclass(frozen=True, eq=False, repr=False)
class Gains(Shown):
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

    low: Scores
    high: Scores
    rows: Floats
    bads: Floats
    adverse: Value
    backend: str | None = None

    @property
    def captured(self) -> Floats:
        """The share of all bads that this band and those below it hold."""
        return np.asarray(np.cumsum(self.bads) / self.bads.sum())

    @property
    def lift(self) -> Floats:
        """The bad rate of this band and those below it, relative to that of all cases."""
        return np.asarray(self.captured * self.rows.sum() / np.cumsum(self.rows))

    def to_dict(self) -> dict[str, list[Any]]:
        """The columns as plain data."""
        columns = {
            "low": self.low,
            "high": self.high,
            "rows": self.rows,
            "bads": self.bads,
            "bad_rate": self.bads / self.rows,
            "cumulative_rows": np.cumsum(self.rows),
            "cumulative_bads": np.cumsum(self.bads),
            "captured": self.captured,
            "lift": self.lift,
        }
        return {name: column.tolist() for name, column in columns.items()}

    def to_frame(self) -> Any:
        """One row per band."""
        return build(self.to_dict(), self.backend)

    def view(self) -> View:
        """The table as data for text and pages."""
        head = (
            "Score", "Rows", "Bads", "Bad rate", "Rows so far", "Bads so far", "Captured", "Lift",
        )  # fmt: skip
        found = self.to_dict()
        rows = tuple(
            (
                spell_band(low, high),
                *(spell_count(found[name][i]) for name in ("rows", "bads")),
                f"{100 * found['bad_rate'][i]:.1f}%",
                *(spell_count(found[f"cumulative_{name}"][i]) for name in ("rows", "bads")),
                f"{100 * found['captured'][i]:.1f}%",
                f"{found['lift'][i]:.2f}",
            )
            for i, (low, high) in enumerate(zip(self.low, self.high, strict=True))
        )
        notes = (
            f"Bads are cases of {label(self.adverse)}. Captured is the share of all bads with "
            "these scores or lower ones. Lift is their bad rate relative to that of all cases.",
        )
        return View("Gains table, the lowest scores first", (Grid(head, rows),), notes=notes)


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


def find_profit(amounts: tuple[float, float], scores: Scores, rows: Floats, bads: Floats) -> Profit:
    """The best cut-off among distinct scores, the highest first, from their rows and bads."""
    good, bad = amounts
    totals = np.cumsum((rows - bads) * good + bads * bad)
    best = int(np.argmax(totals))
    if totals[best] <= 0:
        return Profit(good, bad, None, 0.0, 0.0)
    share = float(rows[: best + 1].sum() / rows.sum())
    return Profit(good, bad, int(scores[best]), float(totals[best]), share)
