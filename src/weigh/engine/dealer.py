"""Folds of rows that lie in many places: dealt by class, and nobody holds a list of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from weigh.folds import rank_in_class
from weigh.frames import Integers


@dataclass(frozen=True)
class Dealer:
    """Rows stand in line by class, those of a class by partition, and take their folds in turn.

    `n_folds` rows that follow each other have one fold each; which of them is first a hash of their
    place in line says. Where one class ends and the next begins it is fold 0. So the folds of a
    class differ by one row at most, and so do those of all rows.
    """

    n_folds: int
    seed: int
    ends: Integers  # the places in line where classes begin and end
    starts: Mapping[int, Integers]  # the places where each partition's rows of each class begin
    of: int | None = None

    @classmethod
    def of_numbers(
        cls, numbers: Mapping[int, Integers], n_folds: int, seed: int, of: int | None = None
    ) -> Dealer:
        """From the number of rows of each partition and class; or of one class and the rest."""
        parts = sorted(numbers)
        table = np.array([_merge(numbers[part], of) for part in parts], dtype=np.int64)
        ends = np.concatenate([[0], np.cumsum(table.sum(axis=0))])
        starts = ends[:-1] + np.cumsum(table, axis=0) - table
        return cls(n_folds, seed, ends, dict(zip(parts, starts, strict=True)), of)

    def deal(self, part: int, labels: Integers, earlier: Integers) -> Integers:
        """The fold of each row of a block, before which the partition has so many of each class.

        >>> dealer = Dealer.of_numbers({0: np.array([3, 2]), 1: np.array([1, 4])}, 2, seed=7)
        >>> fold = dealer.deal(1, np.array([1, 0, 1, 1, 1]), np.array([0, 0]))
        >>> np.bincount(fold[[0, 2, 3, 4]]).tolist()
        [2, 2]
        """
        from weigh.distinct import kernels

        seen = _merge(earlier, self.of)
        if self.of is not None:
            labels = (labels == self.of).view(np.uint8)
        start = self.starts.get(part, self.ends[:-1])  # none, if the rows have changed meanwhile
        place = (start + seen)[labels] + rank_in_class(labels)
        turn = place // self.n_folds
        mixed = np.empty(len(turn), dtype=np.uint64)
        kernels.hash_all(turn.astype(np.uint64), mixed)
        kernels.hash_all(mixed ^ np.uint64(self.seed), mixed)
        first = (mixed % np.uint64(self.n_folds)).astype(np.int64)
        first[np.isin(turn, self.ends // self.n_folds)] = 0
        return np.asarray(((place + first) % self.n_folds).astype(np.uint8))


def _merge(numbers: Integers, of: int | None) -> Integers:
    """One class against the rest, where one is asked for."""
    return numbers if of is None else np.array([numbers.sum() - numbers[of], numbers[of]])
