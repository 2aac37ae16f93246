"""What cost a case most points: reason codes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from weigh import engine
from weigh.frames import Floats, Integers, Table
from weigh.parameters import is_count

if TYPE_CHECKING:
    from weigh.scorecard.card import Scorecard


@dataclass(frozen=True, eq=False)
class CostsFound:
    """The dearest features of each row, dearest first."""

    texts: np.ndarray[Any, np.dtype[np.object_]]
    costs: Floats

    def columns(self) -> dict[str, list[Any]]:
        """reason_1, cost_1, reason_2 and so on."""
        found: dict[str, list[Any]] = {}
        for j in range(self.texts.shape[1]):
            found[f"reason_{j + 1}"] = self.texts[:, j].tolist()
            found[f"cost_{j + 1}"] = self.costs[:, j].tolist()
        return found


def baselines(card: Scorecard, against: str) -> Floats:
    """By feature: the most points that a level has, or the average over training rows."""
    if against not in ("best", "average"):
        raise ValueError(f"against must be 'best' or 'average', got {against!r}")
    found = []
    for table in card.evidence:
        points, rows = table.by_class[:, 0], table.counts.sum(axis=1)
        seen = points[rows > 0]
        average = float(points @ rows / rows.sum()) if rows.sum() else 0.0
        found.append(float(seen.max()) if against == "best" and len(seen) else average)
    return np.array(found)


def find_costs(card: Scorecard, table: Table, n: int, against: str) -> CostsFound:
    """Cost = baseline - points, the largest n of each row that are positive."""
    if not is_count(n) or n < 1:
        raise ValueError(f"n must be a whole number of at least 1, got {n!r}")
    points = card.evidence.contributions(table)[:, :, 0]
    costs = baselines(card, against) - points
    dearest = np.argsort(-costs, axis=1, kind="stable")[:, :n]
    chosen = np.take_along_axis(costs, dearest, axis=1)
    texts = _texts(card, table, dearest)
    texts[chosen <= 0] = None
    return CostsFound(texts, np.maximum(chosen, 0.0))


def _texts(card: Scorecard, table: Table, dearest: Integers) -> Any:
    """What to say of the features that were chosen, at the levels that rows have."""
    texts, said = np.full(dearest.shape, None, dtype=object), card._level_texts()
    for j, placed in enumerate(engine.place(table, card.evidence.features)):
        rows, at = np.nonzero(dearest == j)
        texts[rows, at] = np.array(said[j], dtype=object)[placed.levels[placed.codes[rows]]]
    return texts
