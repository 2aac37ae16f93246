"""Levers as values: what to change, and what that leads to."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from weigh.bins import label
from weigh.frames import Value, build
from weigh.layout import Grid, Shown, View


@dataclass(frozen=True)
class Change:
    """A column that changes: its value before, and the nearest one of the level that is needed."""

    column: str
    before: Value
    after: Value
    level: str

    def __str__(self) -> str:
        return f"{self.column}: {label(self.before)} -> {self.level}"


@dataclass(frozen=True)
class Lever:
    """Changes that together cross the cut-off, and the probability (and score) that they lead to.

    `cost` is what was made as small as possible.
    """

    changes: tuple[Change, ...]
    probability: float
    cost: float
    score: int | None = None

    def apply(self, row: Mapping[str, Any]) -> dict[str, Any]:
        """The row with these changes made."""
        return {**row, **{change.column: change.after for change in self.changes}}


@dataclass(frozen=True, repr=False)
class Levers(Shown):
    """The smallest changes that cross a cut-off, the smallest first; empty where there are none."""

    pos_label: Any
    cut_off: float
    probability: float
    items: tuple[Lever, ...]
    score: int | None = None
    crossed: bool = False  # whether the case is past the cut-off as it is
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
        """One row per change: the lever's place, column, before, after, and what it leads to."""
        rows = [
            (k, change, lever) for k, lever in enumerate(self.items, 1) for change in lever.changes
        ]
        return build(
            {
                "lever": [k for k, _, _ in rows],
                "column": [change.column for _, change, _ in rows],
                "before": [label(change.before) for _, change, _ in rows],
                "after": [change.level for _, change, _ in rows],
                "probability": [lever.probability for _, _, lever in rows],
                "cost": [lever.cost for _, _, lever in rows],
            },
            self.backend,
        )

    def view(self) -> View:
        """The levers as data for text and pages."""
        of = label(self.pos_label)
        reads = f"score {self.cut_off:g}" if self.score is not None else f"{self.cut_off:g}"
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
        return View(f"Smallest changes that cross the cut-off for {of}", grids, notes=tuple(notes))
