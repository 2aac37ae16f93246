"""The distinct values of a column of categories, with their class counts."""

from __future__ import annotations

from typing import Any

import numpy as np

from weigh.frames import Codes, Floats, Value, key
from weigh.tally import Rows

MOST = 2_000_000
"""More values than this are names of rows, not levels, and would fill the memory."""


class DistinctCodes:
    """Each value of a column and its weight in each class; those of two sets of rows add."""

    def __init__(self, name: str, n_classes: int) -> None:
        self.name = name
        self._places: dict[tuple[type, Value], int] = {}
        self._counts = np.zeros((16, n_classes))
        self._typed = False

    def __getstate__(self) -> dict[str, Any]:
        """What is known, without the room for more."""
        return self.__dict__ | {"_counts": self.counts}

    @property
    def counts(self) -> Floats:
        """The weight of each value (row) and class (column)."""
        return self._counts[: len(self._places)]

    def add(self, column: Codes, rows: Rows) -> None:
        """Count some more rows."""
        raw = rows.count(column.codes, max(len(column.values), 1))
        used = np.flatnonzero(raw.any(axis=1))
        self._typed = self._typed or column.typed
        self._lay([key(column.values[code]) for code in used.tolist()], raw[used])

    def merge(self, other: DistinctCodes) -> None:
        """Count another's rows."""
        self._typed = self._typed or other._typed
        self._lay([*other._places], other.counts)

    def _lay(self, keys: list[tuple[type, Value]], counts: Floats) -> None:
        places = [self._places.setdefault(value, len(self._places)) for value in keys]
        if len(self._places) > MOST:
            raise ValueError(
                f"column {self.name!r} holds more than {MOST:,} distinct values (such as "
                f"{keys[0][1]!r}); leave it out, or join rare values into one beforehand"
            )
        if len(self._places) > len(self._counts):
            grown = np.zeros((2 * len(self._places), self._counts.shape[1]))
            grown[: len(self._counts)] = self._counts
            self._counts = grown
        self._counts[places] += counts

    def short(self) -> Codes:
        """Each value once."""
        values = tuple(value for _, value in self._places)
        return Codes(np.arange(len(values)), values, self._typed)
