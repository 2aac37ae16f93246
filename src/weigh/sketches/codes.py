"""The heaviest values of a column that holds more of them than there is room for."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from weigh.bins import Kind
from weigh.errors import Parameter, ParameterError
from weigh.frames import Codes, Floats, Value, key
from weigh.tally import Rare, Rows

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


MOST = 2_000_000
"""More values than this are names of rows, not levels, and would fill the memory."""


class DistinctCodes:
    """Each value of a column and its weight in each class; those of two sets of rows add.

    Where only `most` of them are to be levels, there is room for so many and some more. Beyond, a
    first pass finds which values can be among the heaviest, and a second counts those, and all
    others together.
    """

    def __init__(self, name: str, n_classes: int, most: int | None = None) -> None:
        self.name, self.most = name, most
        self.frequent: Frequent | None = None  # once there are too many to count
        self.rest: Floats | None = None  # of a second pass: of all values that it does not count
        self._rest_kinds: set[Kind] = set()
        self._places: dict[Key, int] = {}
        self._counts = np.zeros((16, n_classes))
        self._typed = False

    def __getstate__(self) -> dict[str, Any]:
        """What is known, without the room for more."""
        return self.__dict__ | {"_counts": self.counts}

    def __len__(self) -> int:
        """How many values are held."""
        return len(self._places if self.frequent is None else self.frequent.held)

    @property
    def counts(self) -> Floats:
        """The weight of each value (row) and class (column)."""
        return self._counts[: len(self._places)]

    @property
    def rare(self) -> Rare | None:
        """The values that were counted together, if there are any."""
        return None if self.rest is None else Rare(self.rest, tuple(sorted(self._rest_kinds)))

    def add(self, column: Codes, rows: Rows) -> None:
        """Count some more rows."""
        raw = rows.count(column.codes, max(len(column.values), 1))
        used = np.flatnonzero(raw.any(axis=1))
        self._typed = self._typed or column.typed
        self._lay([key(column.values[code]) for code in used.tolist()], raw[used])

    def merge(self, other: DistinctCodes) -> None:
        """Count another's rows."""
        self._typed = self._typed or other._typed
        if self.rest is not None and other.rest is not None:
            self.rest, self._rest_kinds = (
                self.rest + other.rest,
                self._rest_kinds | other._rest_kinds,
            )
        if other.frequent is None:
            self._lay([*other._places], other.counts)
            return
        self._crowd()
        assert self.frequent is not None
        self.frequent.merge(other.frequent)

    def _lay(self, keys: list[Key], counts: Floats) -> None:
        if self.rest is not None:
            keys, counts = self._leave_rest(keys, counts)
        if self.frequent is not None:
            self._weigh(keys, counts)
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
        if self.most is not None and len(self._places) > 2 * self._room:
            self._crowd()
        elif len(self._places) > MOST:
            such = next(reversed(self._places))[1]
            raise ParameterError(
                f"column {self.name!r} holds more than {MOST:,} distinct values (such as "
                f"{such!r}); leave it out, or join rare ones into one level with ",
                Parameter("max_levels", {self.name: 1000}),
            )

    # ------------------------------------------------------------ more values than room

    @property
    def _room(self) -> int:
        assert self.most is not None
        return max(ROOM, 2 * self.most)

    def _crowd(self) -> None:
        """Keep the heaviest values only, and what each weighs in all."""
        if self.frequent is None:
            keys, counts = [*self._places], self.counts
            self.frequent = Frequent(self._room)
            self._places, self._counts = {}, self._counts[:0]
            self._weigh(keys, counts)

    def _weigh(self, keys: list[Key], counts: Floats) -> None:
        assert self.frequent is not None
        present = [i for i, (_, value) in enumerate(keys) if value is not None]
        weights = counts[present].sum(axis=1).tolist()
        self.frequent.add([keys[i] for i in present], weights)

    def wants_more(self) -> bool:
        """Whether a second pass is needed; it is made ready for that."""
        if self.frequent is None:
            return False
        assert self.most is not None
        told = self.frequent.told_apart()
        if told < self.most:
            raise ParameterError(*self._too_alike(told))
        known = [key(None), *self.frequent.candidates(self.most)]
        self._places = {value: place for place, value in enumerate(known)}
        n_classes = self._counts.shape[1]
        self._counts, self.rest = np.zeros((len(known), n_classes)), np.zeros(n_classes)
        self.frequent = None
        return True

    def _too_alike(self, told: int) -> tuple[str | Parameter, ...]:
        assert self.frequent is not None
        seen = f"column {self.name!r} holds more than {2 * self._room:,} distinct values, of which "
        if not told:
            return (f"{seen}none is frequent: it names rows; leave it out",)
        return (
            f"{seen}the {told:,} most frequent are told apart and not {self.most:,}; give ",
            Parameter("max_levels", {self.name: told}),
            " or fewer, or leave it out",
        )

    def _leave_rest(self, keys: list[Key], counts: Floats) -> tuple[list[Key], Floats]:
        known = np.array([value in self._places for value in keys], dtype=np.bool_)
        self.rest = self.rest + counts[~known].sum(axis=0)
        gone = np.flatnonzero(~known).tolist()
        self._rest_kinds.update(Kind.of(keys[i][1]) for i in gone)
        return [keys[i] for i in np.flatnonzero(known).tolist()], counts[known]

    def short(self) -> Codes:
        """Each value once."""
        values = tuple(value for _, value in self._places)
        return Codes(np.arange(len(values)), values, self._typed)
