"""What a scorecard says of each of many rows, as columns."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from weigh.bins import label
from weigh.frames import Table

if TYPE_CHECKING:
    from weigh.scorecard.card import Scorecard


def score_columns(card: Scorecard, table: Table) -> dict[str, Any]:
    """The score, the log odds of the model's second class, and the probabilities."""
    evidence, rows = card.evidence, card._match(table)
    totals = evidence.total(rows)
    found: dict[str, Any] = {"score": np.rint(evidence.raw_total(rows)[:, 0]).astype(np.int64)}
    found["log_odds"] = totals[:, 0]
    names = [f"probability_{label(value)}" for value in evidence.classes.tolist()]
    return found | dict(zip(names, evidence.probabilities(totals).T, strict=True))


def cost_columns(card: Scorecard, table: Table, n: int) -> dict[str, Any]:
    """What cost each row most points, against the best case."""
    from weigh.scorecard.costs import find_costs

    return find_costs(card, card._match(table), n, "best").columns()
