"""What a scorecard says of each of many rows, as columns."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from weigh.frames import Table

if TYPE_CHECKING:
    from weigh.scorecard.card import Scorecard


def cost_columns(card: Scorecard, table: Table, n: int) -> dict[str, Any]:
    """What cost each row most points, against the best case."""
    from weigh.scorecard.reasons import find_costs

    return find_costs(card, card._match(table), n, "best").columns()
