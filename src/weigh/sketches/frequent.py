"""The heaviest values of a column that holds more of them than there is room for."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from weigh.frames import Value

Key = tuple[type, Value]

ROOM = 1 << 17
"""So many values are told apart at least; a value of more than this part of the weight always."""


class Frequent:
    """Some values with a weight that each has at least (Misra & Gries 1982).

    held weight <= true weight <= held weight + lost

    A value that is not held has the held weight 0. Those of two sets of rows add (Agarwal et al.
    2012, Mergeable summaries).
    """

    def __init__(self, room: int) -> None:
        self.room, self.lost = room, 0.0
        self.held: dict[Key, float] = {}

    def add(self, keys: Iterable[Key], weights: Iterable[float]) -> None:
        """Take some more rows."""
        for value, weight in zip(keys, weights, strict=True):
            self.held[value] = self.held.get(value, 0.0) + weight
        if len(self.held) > 2 * self.room:
            self._thin()

    def _thin(self) -> None:
        """Take the weight of the first that there is no room for from all."""
        weights = np.fromiter(self.held.values(), np.float64, len(self.held))
        place = len(weights) - self.room - 1
        light = float(np.partition(weights, place)[place])
        self.held = {value: w - light for value, w in self.held.items() if w > light}
        self.lost += light

    def merge(self, other: Frequent) -> None:
        """Take another's rows."""
        self.lost += other.lost
        self.add(other.held, other.held.values())

    def told_apart(self) -> int:
        """How many values are surely heavier than all that are not held."""
        return sum(weight > self.lost for weight in self.held.values())

    def candidates(self, most: int) -> list[Key]:
        """The values among which the heaviest surely are, where so many are told apart."""
        weights = np.fromiter(self.held.values(), np.float64, len(self.held))
        least = np.partition(weights, len(weights) - most)[len(weights) - most]
        return [value for value, w in self.held.items() if w + self.lost >= least]
