"""Searches side by side: each asks, is told, and asks again; one pass answers all of them."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from weigh.engine.passes import Block, Coded, PerBlock, Sums

Ask = TypeVar("Ask")
Answer = TypeVar("Answer")
Found = TypeVar("Found")


def side_by_side(
    searches: Sequence[Generator[Ask, Answer, Found]],
    answer: Callable[[dict[int, Ask]], Sequence[Answer]],
) -> list[Found]:
    """What each search finds, where `answer` tells all that still run what they ask.

    >>> def double(start):
    ...     told = yield start
    ...     return told
    >>> side_by_side([double(1), double(4)], lambda asks: [2 * ask for ask in asks.values()])
    [2, 8]
    """
    found: dict[int, Found] = {}
    told: dict[int, Any] = dict.fromkeys(range(len(searches)))
    while told:
        asks: dict[int, Ask] = {}
        for i, answered in told.items():
            try:
                asks[i] = searches[i].send(answered)
            except StopIteration as end:
                found[i] = end.value
        told = dict(zip(asks, answer(asks), strict=True)) if asks else {}
    return [found[i] for i in range(len(searches))]


@dataclass(frozen=True)
class Each:
    """Statistics of one kind, one after the other in the same sums."""

    statistics: tuple[PerBlock, ...]

    def __call__(self, block: Block) -> Sums:
        """The sums of a block."""
        return Sums(tuple(array for each in self.statistics for array in each(block).arrays))


def sum_each(rows: Coded, statistics: Sequence[PerBlock]) -> list[Sums]:
    """Several statistics that give equally many arrays, in one pass."""
    if len(statistics) == 1:
        return [rows.sum(statistics[0])]
    arrays = rows.sum(Each(tuple(statistics))).arrays
    size = len(arrays) // len(statistics)
    return [Sums(arrays[start : start + size]) for start in range(0, len(arrays), size)]
