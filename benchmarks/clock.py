"""Seconds and bytes: what a piece of work costs."""

from __future__ import annotations

import resource
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

MIB = 1 << 20
STATUS = Path("/proc/self/status")


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


def report(what: str, rival: float, ours: float, wanted: float) -> None:
    """A line of the table of ratios."""
    verdict = "" if rival / ours >= wanted else "   SHORT"
    line = f"{what:<42}{rival * 1e3:>10.1f}{ours * 1e3:>10.1f}{rival / ours:>8.1f}"
    print(f"{line}{wanted:>9g}{verdict}", flush=True)


def peak_memory() -> int:
    """The most bytes that this process has held, or has since `forget_peak`.

    Where the system tells it, of this program alone: `ru_maxrss` also knows the size of the
    process that started it.
    """
    if STATUS.exists():
        return _status("VmHWM")
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def forget_peak() -> int:
    """Let the peak be what is held now, and say how much; the old one stays without /proc."""
    if not STATUS.exists():
        return peak_memory()
    Path("/proc/self/clear_refs").write_text("5")
    return _status("VmRSS")


def _status(field: str) -> int:
    lines = dict(line.split(":", 1) for line in STATUS.read_text().splitlines())
    return int(lines[field].split()[0]) * 1024
