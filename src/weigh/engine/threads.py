"""Parallel maps on threads, and progress reports."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from threading import Lock
from typing import Any, TypeVar

from threadpoolctl import ThreadpoolController

BLOCK = 1 << 16
"""Rows per block; their totals stay in the processor's cache while all features are added."""

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
    """Whether progress is reported to a watcher."""
    return _watcher.get() is not None


def spread(function: Callable[[Item], Result], items: Sequence[Item], n_rows: int) -> list[Result]:
    """Map over items in order; on threads if there are enough rows to be worth it."""
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
    """Map over items in order on threads, yielding results one by one to limit memory."""
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
    """Report the progress of a pass or a search to the watcher, if there is one."""
    watcher = _watcher.get()
    if watcher is not None:
        watcher(done, of)


def workers() -> int:
    """Number of processors that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


@cache
def _controller() -> Any:
    return ThreadpoolController()


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Limit BLAS to one thread: for passes that use threads already, and for small matrices.

    The limit is that of the whole process. Contexts may be nested or overlap on several threads:
    the first sets the limit, and the last restores the number of threads before it.
    """
    _limit.enter()
    try:
        yield
    finally:
        _limit.leave()


class _BlasLimit:
    """The limit of one BLAS thread, and the number of contexts that hold it."""

    def __init__(self) -> None:
        self.lock, self.held = Lock(), 0
        self.limiter: Any = None

    def enter(self) -> None:
        with self.lock:
            if not self.held:
                self.limiter = _controller().limit(limits=1, user_api="blas")
                _release()
            self.held += 1

    def leave(self) -> None:
        with self.lock:
            self.held -= 1
            if not self.held:
                self.limiter.restore_original_limits()
                _release()


def _release() -> None:
    """Let any thread change the limit: threadpoolctl 3.8 reserves it for the thread that set it."""
    for library in _controller().lib_controllers:
        getattr(library, "clear_controlling_thread", lambda: None)()


_limit = _BlasLimit()
