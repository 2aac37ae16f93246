"""Counts of the categories of a column, or of the most frequent if there are too many."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from weigh.arrays import Floats
from weigh.bins import Kind
from weigh.errors import Parameter, ParameterError
from weigh.frames import Codes, Value, key
from weigh.tally import Rare, Rows

Key = tuple[type, Value]

MIN_TRACKED = 1 << 17
"""Values tracked, at least; a value with more than 1/131072 of the weight is always found."""


class Frequent:
    """Most frequent values with lower bounds of their weights (Misra & Gries 1982).

    held weight <= true weight <= held weight + lost

    A value that is not held has the held weight 0. The summaries of two sets of rows add (Agarwal
    et al. 2012, Mergeable summaries).
    """

    def __init__(self, capacity: int) -> None:
        self.capacity, self.lost = capacity, 0.0
        self.held: dict[Key, float] = {}

    def add(self, keys: Iterable[Key], weights: Iterable[float]) -> None:
        """Add weights of values."""
        for value, weight in zip(keys, weights, strict=True):
            self.held[value] = self.held.get(value, 0.0) + weight
        if len(self.held) > 2 * self.capacity:
            self._prune()

    def _prune(self) -> None:
        """Subtract the weight of the heaviest value beyond the capacity from all values."""
        weights = np.fromiter(self.held.values(), np.float64, len(self.held))
        place = len(weights) - self.capacity - 1
        light = float(np.partition(weights, place)[place])
        self.held = {value: w - light for value, w in self.held.items() if w > light}
        self.lost += light

    def merge(self, other: Frequent) -> None:
        """Add the summary of other rows."""
        self.lost += other.lost
        self.add(other.held, other.held.values())

    def n_certain(self) -> int:
        """Number of values that are certainly heavier than all values not held."""
        return sum(weight > self.lost for weight in self.held.values())

    def candidates(self, most: int) -> list[Key]:
        """Values that certainly include the `most` heaviest, if at least that many are certain."""
        weights = np.fromiter(self.held.values(), np.float64, len(self.held))
        least = np.partition(weights, len(weights) - most)[len(weights) - most]
        return [value for value, w in self.held.items() if w + self.lost >= least]


MAX_VALUES = 2_000_000
"""Most categories of a column; more are identifiers of rows, and would fill the memory."""


class DistinctCodes:
    """Weight of each value of a column by class. The counts of two sets of rows add.

    If only `most` values become levels, memory is bounded: with too many values, a first pass finds
    candidates for the heaviest, and a second counts these, and all others together.
    """

    def __init__(self, name: str, n_classes: int, most: int | None = None) -> None:
        self.name, self.most = name, most
        self.frequent: Frequent | None = None  # set if there are too many to count
        self.rest: Floats | None = None  # in a second pass, the counts of all other values
        self._rest_kinds: set[Kind] = set()
        self._places: dict[Key, int] = {}
        self._counts = np.zeros((16, n_classes))
        self._typed = False

    def __getstate__(self) -> dict[str, Any]:
        """State for pickling, without unused memory."""
        return self.__dict__ | {"_counts": self.counts}

    def __len__(self) -> int:
        """Number of values held."""
        return len(self._places if self.frequent is None else self.frequent.held)

    @property
    def counts(self) -> Floats:
        """Weight of each value (row) and class (column)."""
        return self._counts[: len(self._places)]

    @property
    def rare(self) -> Rare | None:
        """Values that were counted together, or None."""
        return None if self.rest is None else Rare(self.rest, tuple(sorted(self._rest_kinds)))

    def add(self, column: Codes, rows: Rows) -> None:
        """Count more rows."""
        raw = rows.count(column.codes, max(len(column.values), 1))
        used = np.flatnonzero(raw.any(axis=1))
        self._typed = self._typed or column.typed
        self._add_counts([key(column.values[code]) for code in used.tolist()], raw[used])

    def merge(self, other: DistinctCodes) -> None:
        """Add the counts of other rows."""
        self._typed = self._typed or other._typed
        if self.rest is not None and other.rest is not None:
            self.rest, self._rest_kinds = (
                self.rest + other.rest,
                self._rest_kinds | other._rest_kinds,
            )
        if other.frequent is None:
            self._add_counts([*other._places], other.counts)
            return
        self._track_frequent()
        assert self.frequent is not None
        self.frequent.merge(other.frequent)

    def _add_counts(self, keys: list[Key], counts: Floats) -> None:
        if self.rest is not None:
            keys, counts = self._count_rest(keys, counts)
        if self.frequent is not None:
            self._add_weights(keys, counts)
            return
        places = [self._places.setdefault(value, len(self._places)) for value in keys]
        if len(self._places) > len(self._counts):
            grown = np.zeros((2 * len(self._places), self._counts.shape[1]))
            grown[: len(self._counts)] = self._counts
            self._counts = grown
        self._counts[places] += counts
        if self.rest is None:
            self._check_room()

    def _check_room(self) -> None:
        if self.most is not None and len(self._places) > 2 * self._capacity:
            self._track_frequent()
        elif len(self._places) > MAX_VALUES:
            example = next(reversed(self._places))[1]
            raise ParameterError(
                f"column {self.name!r} holds more than {MAX_VALUES:,} distinct values (for example "
                f"{example!r}); leave it out, or join rare ones into one level with ",
                Parameter("max_levels", {self.name: 1000}),
            )

    # ------------------------------------------------------------ more values than capacity

    @property
    def _capacity(self) -> int:
        assert self.most is not None
        return max(MIN_TRACKED, 2 * self.most)

    def _track_frequent(self) -> None:
        """Go from counts of all values to weights of the most frequent ones."""
        if self.frequent is None:
            keys, counts = [*self._places], self.counts
            self.frequent = Frequent(self._capacity)
            self._places, self._counts = {}, self._counts[:0]
            self._add_weights(keys, counts)

    def _add_weights(self, keys: list[Key], counts: Floats) -> None:
        assert self.frequent is not None
        present = [i for i, (_, value) in enumerate(keys) if value is not None]
        weights = counts[present].sum(axis=1).tolist()
        self.frequent.add([keys[i] for i in present], weights)

    def needs_pass(self) -> bool:
        """Return whether a second pass is needed, and prepare for it."""
        if self.frequent is None:
            return False
        assert self.most is not None
        certain = self.frequent.n_certain()
        if certain < self.most:
            raise ParameterError(*self._too_many(certain))
        known = [key(None), *self.frequent.candidates(self.most)]
        self._places = {value: place for place, value in enumerate(known)}
        n_classes = self._counts.shape[1]
        self._counts, self.rest = np.zeros((len(known), n_classes)), np.zeros(n_classes)
        self.frequent = None
        return True

    def _too_many(self, certain: int) -> tuple[str | Parameter, ...]:
        assert self.frequent is not None
        limit = 2 * self._capacity
        seen = f"column {self.name!r} holds more than {limit:,} distinct values, of which "
        if not certain:
            return (f"{seen}none is frequent, so it identifies rows; leave it out",)
        return (
            f"{seen}only the {certain:,} most frequent can be found, not {self.most:,}; give ",
            Parameter("max_levels", {self.name: certain}),
            " or fewer, or leave it out",
        )

    def _count_rest(self, keys: list[Key], counts: Floats) -> tuple[list[Key], Floats]:
        known = np.array([value in self._places for value in keys], dtype=np.bool_)
        self.rest = self.rest + counts[~known].sum(axis=0)
        gone = np.flatnonzero(~known).tolist()
        self._rest_kinds.update(Kind.of(keys[i][1]) for i in gone)
        return [keys[i] for i in np.flatnonzero(known).tolist()], counts[known]

    def summary(self) -> Codes:
        """Column in which each value occurs once."""
        values = tuple(value for _, value in self._places)
        return Codes(np.arange(len(values)), values, self._typed)
