"""Levels of a card with few training rows and many points."""

from __future__ import annotations

from typing import TYPE_CHECKING

from weigh.errors import ParameterWarning, warn_caller
from weigh.layout import count_of

if TYPE_CHECKING:
    from weigh.scorecard.card import Scorecard

FEW = 30
"""A level with fewer training rows is rare."""

MOST = 3
"""Most levels that are named; a card with more of them has few rows."""


def warn_of_rare(card: Scorecard) -> None:
    """Warn of rare levels with at least half the points that double the odds.

    Such a level is often `missing`, and a form left blank then gets the points of all of them.
    """
    least = card.points_to_double / 2
    found = [
        (abs(p), f"{table.shown} = {name} ({count_of(n, 'row')}, {p:+d})")
        for table in card._source
        for name, p, n in zip(
            table.labels, card.points[table.name], table.counts.sum(axis=1).tolist(), strict=True
        )
        if 0 < n < FEW and abs(p) >= least
    ]
    if not found:
        return
    named = [text for _, text in sorted(found, key=lambda one: -one[0])[:MOST]]
    more = f" and {len(found) - MOST:,} more" if len(found) > MOST else ""
    warn_caller(
        ParameterWarning(
            f"{count_of(len(found), 'level')} with fewer than {FEW} rows and at least {least:g} "
            f"points ({card.points_to_double:g} double the odds): {', '.join(named)}{more}. Set "
            "them by hand (Scorecard.edit, or weigh edit), or leave the column out"
        )
    )
