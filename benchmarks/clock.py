"""Seconds and bytes: what a piece of work costs."""

from __future__ import annotations

import resource
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

MIB = 1 << 20


@dataclass(frozen=True)
class Cost:
    """What a piece of work took: seconds by the clock, seconds of all processors together."""

    wall: float
    processor: float


def cost_of(function: Callable[[], Any]) -> Cost:
    wall, processor = time.perf_counter(), time.process_time()
    function()
    return Cost(time.perf_counter() - wall, time.process_time() - processor)


def best(function: Callable[[], Any], runs: int) -> float:
    """Seconds of the fastest of some runs, after one that does not count."""
    function()
    return min(cost_of(function).wall for _ in range(runs))


def peak_memory() -> int:
    """The most bytes that this process has held.

    Where the system tells it, of this program alone: `ru_maxrss` also knows the size of the
    process that started it.
    """
    status = Path("/proc/self/status")
    if status.exists():
        lines = dict(line.split(":", 1) for line in status.read_text().splitlines())
        return int(lines["VmHWM"].split()[0]) * 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
