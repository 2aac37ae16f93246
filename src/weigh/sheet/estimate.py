"""One estimate of a number explained: the contribution of each feature to it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from itertools import zip_longest
from typing import Any, Literal

import numpy as np

from weigh.evidence import Evidence, hundredths
from weigh.evidence.units import digits_of, factor, spell
from weigh.frames import Table
from weigh.layout import Bar, Grid, Shown, View, percent
from weigh.sheet.balance import COVERAGE
from weigh.sheet.explain import items_of
from weigh.sheet.show import drop_not_known, list_not_known, names_not_known


@dataclass(frozen=True)
class Push:
    """The contribution of one feature: its weight of evidence, and the change of the estimate."""

    text: str
    weight: float
    change: float


@dataclass(frozen=True, repr=False)
class EstimateSheet(Shown):
    """One estimate explained, in the unit of the target.

    `start` is the estimate when all features are not known. With `link` "identity" start and
    changes add up to the estimate, and a change is the weight itself. With "log" they multiply: a
    change is the factor exp(weight). With "curve" the difference between start and estimate is
    divided among the features in proportion to their weights. Pushes are sorted by absolute weight,
    largest first; answers that are not known push nothing and are listed by name in `not_known`.
    The interval is a prediction interval for a new row. `offsets` holds the row's
    exposure and offset: estimate and interval include them, and `rate` is the estimate without
    them. A row without exposure is estimated for one unit of exposure.
    """

    start: float
    pushes: tuple[Push, ...]
    estimate: float
    interval: tuple[float, float]
    coverage: float = COVERAGE
    link: Literal["identity", "log", "curve"] = "curve"
    target: str = ""
    condition: str = ""  # such as " per unit of years"
    offsets: tuple[Push, ...] = ()
    rate: float | None = None
    not_known: tuple[str, ...] = ()  # features without a known answer

    def to_dict(self) -> dict[str, Any]:
        """Plain data, ready for JSON."""
        found = asdict(self) | {
            "interval": list(self.interval),
            "not_known": list(self.not_known),
        }
        return found if self.offsets else {k: v for k, v in found.items() if k not in _OF_OFFSETS}

    def to_text(self, width: int = 100) -> str:
        """The sheet as plain text, at most `width` characters wide."""
        return replace(self.view(), title="").to_text(width)

    def view(self) -> View:
        """The sheet as data for text and pages."""
        weights = [push.change if self.link == "curve" else push.weight for push in self.shown]
        most = max(map(abs, weights), default=0.0) or 1.0
        bars: list[str | Bar] = ["", *(Bar(weight / most) for weight in weights)]
        rows = zip_longest(self._rows(), bars, fillvalue="")
        grid = Grid((*self._head, "down | up"), tuple((*row, bar) for row, bar in rows))
        if not weights:
            grid = Grid(self._head, tuple(self._rows()))
        return View("How the estimate came about", (grid,), notes=self.notes)

    @property
    def notes(self) -> tuple[str, ...]:
        """The sentences below the sheet: the answers that are not known, and how to read it."""
        return tuple(filter(None, (list_not_known(self.not_known, "change"), self.note)))

    @property
    def note(self) -> str:
        """One sentence that says how the estimate follows from the numbers of the sheet."""
        return NOTES[self.link]

    @property
    def shown(self) -> tuple[Push, ...]:
        """The pushes; if several are printed as no change, these are one, but for weights of 0."""
        log = self.link == "log"
        nothing = self._moved(Push("", 0.0, float(log)))[1:]
        small = [p for p in self.pushes if p.weight and self._moved(p)[1:] == nothing]
        if len(small) < 2:
            return self.pushes
        weight = sum(push.weight for push in small)
        change = float(np.exp(weight)) if log else sum(push.change for push in small)
        rest = tuple(push for push in self.pushes if push not in small)
        return (*rest, Push(f"{len(small)} more items, together", weight, change))

    @property
    def _head(self) -> tuple[str, ...]:
        change = "Factor" if self.link == "log" else "Change"
        return ("", change, "Weight") if self.link == "curve" else ("", change)

    def _rows(self) -> list[tuple[str, ...]]:
        low, high = map(self._limit, self.interval)
        rows: list[tuple[str, ...]] = [("Start: nothing known", self._per_unit(self.start))]
        rows += map(self._moved, self.shown)
        if self.rate is not None:
            rows.append((self._said + self.condition, self._per_unit(self.rate)))
            rows += map(self._moved, self.offsets)
        own = "" if self.offsets else self.condition
        rows.append((self._said + own, self._number(self.estimate)))
        rows.append((f"{percent(self.coverage)} interval{self._of_one}", f"{low} to {high}"))
        return [(*row, *[""] * (len(self._head) - len(row))) for row in rows]

    def _moved(self, push: Push) -> tuple[str, ...]:
        moved = factor(push.change) if self.link == "log" else self._number(push.change, "+")
        return (push.text, moved, *((hundredths(push.weight),) if self.link == "curve" else ()))

    @property
    def _said(self) -> str:
        return f"Estimate of {self.target}" if self.target not in ("", "y") else "Estimate"

    @property
    def _of_one(self) -> str:
        """The words after the interval of a rate: it holds for a row with one unit of exposure."""
        rate = self.condition.startswith(" per unit") and not self.offsets
        return " of a row with one unit" if rate else ""

    @property
    def digits(self) -> int:
        """Decimal places that fit the interval and, with a log link, also a small estimate."""
        wide = digits_of(self.interval[1] - self.interval[0])
        return max(wide, digits_of(self.estimate)) if self.link == "log" else wide

    def _number(self, value: float, sign: str = "") -> str:
        return spell(value, self.digits, sign)

    def _limit(self, value: float) -> str:
        """A limit of the interval; those of a count are whole numbers."""
        counts = self.link == "log" and all(map(float.is_integer, self.interval))
        return spell(value, 0 if counts else digits_of(self.interval[1] - self.interval[0]))

    def _per_unit(self, value: float) -> str:
        """A number with the digits of the rate, which may be much smaller than the estimate."""
        if self.rate is None or self.link != "log":
            return self._number(value)
        return spell(value, digits_of(self.rate))


_OF_OFFSETS = ("offsets", "rate")
ROUNDED = "The numbers shown are rounded. The interval is for a new row."
NOTES = {
    "curve": "Weights are times 100, and share the way from start to estimate.",
    "identity": f"Start and changes add up to the estimate. {ROUNDED}",
    "log": f"Start times all factors is the estimate. {ROUNDED}",
}


def explain_number(
    evidence: Evidence,
    table: Table,
    interval: tuple[float, float],
    apart: Mapping[str, float] | None = None,
) -> EstimateSheet:
    """The sheet of a table's only row, for models whose total is the estimate or its logarithm.

    `offsets` holds what the row adds to the sum besides its weights (exposure, offset), by name.
    """
    beside = tuple(
        Push(text, added, float(evidence.means(np.array(added))))
        for text, added in (apart or {}).items()
    )
    found = items_of(evidence, table)
    items = sorted(drop_not_known(found), key=lambda item: -abs(item.weight))
    sums = np.array([evidence.prior_row[0], evidence.total(table)[0, 0]])
    start, rate = evidence.means(sums)
    estimate = evidence.means(sums[1] + sum(push.weight for push in beside))
    changes = evidence.means(np.array([item.weight for item in items]))
    return EstimateSheet(
        start=float(start),
        pushes=tuple(
            Push(str(item), item.weight, float(change))
            for item, change in zip(items, changes, strict=True)
        ),
        not_known=names_not_known(found),
        estimate=float(estimate),
        interval=interval,
        link="log" if evidence.link == "log" else "identity",
        target=str(evidence.classes[0]),
        condition=evidence.condition,
        offsets=beside,
        rate=float(rate) if beside else None,
    )
