"""Questions that are asked only where another has some level (Spiegelhalter & Knill-Jones 1984)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from weigh.frames import Integers, Table

if TYPE_CHECKING:
    from weigh.bins.levels import Feature


@dataclass(frozen=True)
class Ask:
    """A question is asked only where another feature has a level at one of these places.

    The feature is a copy, so that a change of the other's own table does not move the places.

    >>> from weigh.bins import Feature
    >>> Ask(Feature("pain", ("no", "yes")), (1,)).words
    'pain = yes'
    """

    feature: Feature
    places: tuple[int, ...]

    @property
    def words(self) -> str:
        """When the question is asked, as people say it."""
        return " or ".join(map(self.feature.phrase, self.places))

    def holds(self, table: Table) -> Integers:
        """In which rows of a table the question is asked."""
        placed = self.feature.read(table)
        return np.asarray(np.isin(placed.levels, self.places)[placed.codes])


def read_rules(given: Any) -> list[tuple[Any, Any, Any]]:
    """Each column with the other one that it depends on, and the levels that this must have."""
    if given is None:
        return []
    if not isinstance(given, Mapping):
        raise ValueError(
            f"ask_if must be a dict such as {{'pain_site': ('pain', 'yes')}}, got {given!r:.80}"
        )
    rules = []
    for name, condition in given.items():
        listed = isinstance(condition, Iterable) and not isinstance(condition, str)
        pair = [*condition] if listed else []
        if len(pair) != 2:
            raise ValueError(
                f"ask_if for {name!r} must be a pair of a column and its level, such as ('pain', "
                f"'yes'), got {condition!r:.80}"
            )
        rules.append((name, *pair))
    return rules
