"""Threads, and whoever watches them."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from typing import Any, TypeVar

from threadpoolctl import ThreadpoolController

BLOCK = 1 << 16
"""Rows whose totals stay in the cache while all features are added."""

Item = TypeVar("Item")
Result = TypeVar("Result")

_watcher: ContextVar[Callable[[int, int], None] | None] = ContextVar("watcher", default=None)


@contextmanager
def watch(report: Callable[[int, int], None]) -> Iterator[None]:
    """While in this context, call `report(done, of)` after each column or block of a pass."""
    token = _watcher.set(report)
    try:
        yield
    finally:
        _watcher.reset(token)


def is_watched() -> bool:
    """Whether somebody wants to know how far a pass has come."""
    return _watcher.get() is not None


def spread(function: Callable[[Item], Result], items: Sequence[Item], n_rows: int) -> list[Result]:
    """Map over items in order, on threads where there are rows enough to pay for them."""
    if n_rows < BLOCK // 4:
        return [*_reported(map(function, items), len(items))]
    return parallel(function, items)


def parallel(function: Callable[[Item], Result], items: Sequence[Item]) -> list[Result]:
    """Map over items in order, on as many threads as there are processors."""
    if workers() == 1 or len(items) == 1:
        return [*_reported(map(function, items), len(items))]
    with ThreadPoolExecutor(workers()) as pool:
        return [*_reported(pool.map(function, items), len(items))]


def stream(function: Callable[[Item], Result], items: Sequence[Item]) -> Iterator[Result]:
    """The same one by one, so that few results are there at a time."""
    if workers() == 1 or len(items) == 1:
        yield from _reported(map(function, items), len(items))
        return
    with ThreadPoolExecutor(workers()) as pool:
        yield from _reported(_in_turn(pool, function, items), len(items))


def _in_turn(
    pool: ThreadPoolExecutor, function: Callable[[Item], Result], items: Sequence[Item]
) -> Iterator[Result]:
    waiting: deque[Future[Result]] = deque()
    for item in items:
        waiting.append(pool.submit(function, item))
        if len(waiting) > 2 * workers():
            yield waiting.popleft().result()
    while waiting:
        yield waiting.popleft().result()


def _reported(results: Iterable[Result], of: int) -> Iterator[Result]:
    for done, result in enumerate(results, 1):
        report(done, of)
        yield result


def report(done: int, of: int) -> None:
    """Tell whoever watches how far a pass or a search has come."""
    watcher = _watcher.get()
    if watcher is not None:
        watcher(done, of)


def workers() -> int:
    """The processors that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


@cache
def _controller() -> Any:
    return ThreadpoolController()


def one_blas_thread() -> Any:
    """Where passes run on threads of their own, or matrices are small, BLAS is to start no more."""
    return _controller().limit(limits=1, user_api="blas")
