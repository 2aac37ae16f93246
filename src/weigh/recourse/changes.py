"""A case, the allowed changes of its columns, and the cheapest that cross a cut-off."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import product
from math import isfinite
from typing import Any

import numpy as np
from scipy.special import expit, logit

from weigh.arrays import Floats
from weigh.bins import label, spell_level
from weigh.errors import Parameter, ParameterError
from weigh.evidence import Evidence, evidence_of, model_of
from weigh.formula import Input
from weigh.formula.formula import list_inputs
from weigh.frames import NOT_KNOWN, Table, Value, as_rows, build, match, read
from weigh.layout import Grid, Shown, View
from weigh.parameters import is_number
from weigh.sheet import find_class


@dataclass(frozen=True)
class ColumnChange:
    """Change of one column: its value before, and the nearest value of the new level."""

    column: str
    before: Value
    after: Value
    level: str

    def __str__(self) -> str:
        return f"{self.column}: {self.was} -> {self.level}"

    @property
    def was(self) -> str:
        """Value before the change, as text: 0 for 0.0."""
        whole = isinstance(self.before, float) and self.before.is_integer()
        return f"{self.before:.0f}" if whole else spell_level(self.before)


@dataclass(frozen=True)
class Lever:
    """Changes that together cross the cut-off, and the resulting probability (and score).

    `cost` is the total cost of the changes, which was minimised.
    """

    changes: tuple[ColumnChange, ...]
    probability: float
    cost: float
    score: int | None = None

    def apply(self, row: Mapping[str, Any]) -> dict[str, Any]:
        """Row with these changes applied."""
        return {**row, **{change.column: change.after for change in self.changes}}


@dataclass(frozen=True, repr=False)
class Levers(Shown):
    """Changes that cross a cut-off, the smallest first; empty if there are none."""

    pos_label: Any
    cut_off: float
    probability: float
    items: tuple[Lever, ...]
    score: int | None = None
    crossed: bool = False  # whether the case is past the cut-off unchanged
    backend: str | None = None

    def __iter__(self) -> Iterator[Lever]:
        return iter(self.items)

    def __len__(self) -> int:
        return len(self.items)

    def __getitem__(self, place: int) -> Lever:
        return self.items[place]

    def to_dict(self) -> dict[str, Any]:
        """Plain data, ready for JSON."""
        levers = [
            {**vars(lever), "changes": [{**vars(c)} for c in lever.changes]} for lever in self.items
        ]
        kept = {k: v for k, v in vars(self).items() if k not in ("items", "backend")}
        return kept | {"levers": levers}

    def to_frame(self) -> Any:
        """One row per change: number of the lever, column, before, after, probability and cost."""
        rows = [
            (k, change, lever) for k, lever in enumerate(self.items, 1) for change in lever.changes
        ]
        return build(
            {
                "lever": [k for k, _, _ in rows],
                "column": [change.column for _, change, _ in rows],
                "before": [change.was for _, change, _ in rows],
                "after": [change.level for _, change, _ in rows],
                "probability": [lever.probability for _, _, lever in rows],
                "cost": [lever.cost for _, _, lever in rows],
            },
            self.backend,
        )

    def view(self) -> View:
        """The levers as data for text and pages."""
        of = label(self.pos_label)
        reads = f"{'probability' if self.score is None else 'score'} {self.cut_off:g}"
        now = f"Probability of {of}: {self.probability:.3g}"
        now += "" if self.score is None else f", score {self.score}"
        notes = [f"{now}. The cut-off is {reads}."]
        if self.crossed:
            notes.append("The case is past the cut-off as it is.")
        elif not self.items:
            notes.append("No change of these columns crosses the cut-off.")
        rows = tuple(
            (
                str(k),
                "; ".join(map(str, lever.changes)),
                f"{lever.probability:.3g}" if lever.score is None else str(lever.score),
                f"{lever.cost:.3g}",
            )
            for k, lever in enumerate(self.items, 1)
        )
        head = ("", "Change", "Probability" if self.score is None else "Score", "Cost")
        grids = (Grid(head, rows, n_names=2),) if rows else ()
        if rows:
            notes.append(COST)
        return View(f"Smallest changes that cross the cut-off for {of}", grids, notes=tuple(notes))


COST = (
    "Cost has no unit. Each changed column costs 1, or the cost given for it, times 1 plus the "
    "share of training rows between its old and new level."
)

MOST_ROWS = 200_000
"""Largest number of combinations of values that are scored one by one for a set of columns, if
their weights are not additive."""


@dataclass(frozen=True, eq=False)
class ColumnOptions:
    """Values that a column may take, the cost of each, and their levels as text."""

    name: str
    before: Value
    values: list[Value]
    costs: Floats
    texts: list[str]
    gains: Floats | None  # change of the total; None if it depends on other columns

    def keep(self, kept: Any) -> ColumnOptions:
        """Select some of the options."""
        gains = None if self.gains is None else self.gains[kept]
        values, texts = ([own[i] for i in kept] for own in (self.values, self.texts))
        return ColumnOptions(self.name, self.before, values, self.costs[kept], texts, gains)


@dataclass(frozen=True, eq=False)
class Case:
    """A row with its total, and the total needed to cross the cut-off for the wanted class."""

    evidence: Evidence
    inputs: tuple[Input, ...]
    row: dict[str, Value]
    sign: float  # +1 or -1: times the model's total gives that for the wanted class
    need: float  # total for the wanted class at the cut-off
    total: float
    pos_label: Any
    cut_off: float

    @classmethod
    def read(cls, model: Any, row: Any, pos_label: Any, cut_off: Any) -> Case:
        """Read a row for a model, with its total and the cut-off."""
        evidence = evidence_of(model_of(model))
        if len(evidence.classes) != 2 or evidence.event_model == "counts":
            raise ValueError("levers need a model of two classes with columns as features")
        units, classes = evidence.units, evidence.classes.tolist()
        wanted = getattr(model, "pos_label", None) if pos_label is None else pos_label
        of = find_class(classes, wanted, 1)
        sign = 1.0 if of == 1 else -1.0
        inputs = list_inputs(evidence.features, evidence.column_names)
        table = match(read(as_rows(row)), evidence.column_names, True, type(model).__name__)
        if table.n_rows != 1:
            raise ValueError(f"levers are found for one row, got {table.n_rows}; pass a single row")
        values = {one.name: one.first.value(table) for one in inputs}
        even = units.start if units.are_points else 0.5
        given = even if cut_off is None else cut_off
        if not is_number(given) or not (isfinite(given) if units.are_points else 0 < given < 1):
            wants = "a score" if units.are_points else "a probability between 0 and 1"
            raise ParameterError(Parameter("cut_off", cut_off), f" must be {wants}")
        need = (
            sign * (given - 0.5 - units.start) / units.scale if units.are_points else logit(given)
        )
        total = sign * float(evidence.total(table)[0, 0])
        return cls(evidence, inputs, values, sign, float(need), total, classes[of], float(given))

    @property
    def crossed(self) -> bool:
        """Whether the row is past the cut-off unchanged."""
        return self.total >= self.need

    def totals(self, changes: Mapping[str, list[Value]]) -> Floats:
        """Total for the wanted class after each of the changes."""
        size = len(next(iter(changes.values())))
        rows = []
        for k in range(size):
            own = self.row | {name: values[k] for name, values in changes.items()}
            rows.append({name: value for name, value in own.items() if value is not NOT_KNOWN})
        table: Table = match(read(rows), self.evidence.column_names, True, "levers")
        return np.asarray(self.sign * self.evidence.total(table)[:, 0])

    def cheapest(self, chosen: tuple[ColumnOptions, ...]) -> Lever | None:
        """Cheapest change of exactly these columns that crosses; if tied, the largest total."""
        costs = _add_up([option.costs for option in chosen])
        if all(option.gains is not None for option in chosen):
            totals = self.total + _add_up([option.gains for option in chosen])  # type: ignore[misc]
        else:
            totals = self._try_all(chosen).reshape(costs.shape)
        crosses = totals >= self.need
        if not crosses.any():
            return None
        least = costs[crosses].min()
        near = np.where(crosses & (costs <= least * (1 + 1e-12)), totals, -np.inf)
        place = np.unravel_index(int(near.argmax()), near.shape)
        return self._lever(chosen, place, float(costs[place]))

    def _try_all(self, chosen: tuple[ColumnOptions, ...]) -> Floats:
        grid = [*product(*(option.values for option in chosen))]
        if len(grid) > MOST_ROWS:
            names = [option.name for option in chosen]
            raise ValueError(
                f"{names} have {len(grid):,} combinations of values; leave columns out of "
                "may_change, list the values that they may take, or lower most"
            )
        columns = zip(*grid, strict=True) if grid else [()] * len(chosen)
        return self.totals({o.name: [*c] for o, c in zip(chosen, columns, strict=True)})

    def _lever(self, chosen: tuple[ColumnOptions, ...], place: Any, cost: float) -> Lever:
        changes = tuple(
            ColumnChange(o.name, o.before, o.values[i], o.texts[i])
            for o, i in zip(chosen, place, strict=True)
        )
        total = float(self.totals({c.column: [c.after] for c in changes})[0])
        return Lever(changes, float(expit(total)), cost, self._score(total))

    def _score(self, total: float) -> int | None:
        units = self.evidence.units
        return units.total(self.sign * total) if units.are_points else None

    def result(self, items: tuple[Lever, ...]) -> Levers:
        """Collect the levers found into a result."""
        return Levers(
            self.pos_label,
            self.cut_off,
            float(expit(self.total)),
            items,
            self._score(self.total),
            self.crossed,
            self.evidence.backend,
        )


def _add_up(parts: list[Floats]) -> Floats:
    """Grid of all sums of one number from each part."""
    found = np.zeros(())
    for part in parts:
        found = found[..., None] + part
    return found
