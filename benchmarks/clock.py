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

    def __add__(self, other: Cost) -> Cost:
        return Cost(self.wall + other.wall, self.processor + other.processor)

    def __mul__(self, times: float) -> Cost:
        return Cost(self.wall * times, self.processor * times)


def cost_of(function: Callable[[], Any]) -> Cost:
    wall, processor = time.perf_counter(), time.process_time()
    function()
    return Cost(time.perf_counter() - wall, time.process_time() - processor)


def best(function: Callable[[], Any], runs: int) -> Cost:
    """Least seconds of some runs, by the clock and of the processor, after one not counted."""
    function()
    costs = [cost_of(function) for _ in range(runs)]
    return Cost(min(cost.wall for cost in costs), min(cost.processor for cost in costs))


@dataclass(frozen=True)
class Line:
    """What a task costs a rival, if there is one, and `weigh`; both measured in the same run."""

    what: str
    rival: Cost | None
    weigh: Cost


LINES: list[Line] = []
"""Lines reported since the list was last cleared."""


def report(what: str, rival: Cost | None, ours: Cost, wanted: float = 0.0) -> None:
    """Keep a line, and print it in processor milliseconds."""
    LINES.append(Line(what, rival, ours))
    if rival is None:
        print(f"{what:<52}{'':>10}{ours.processor * 1e3:>10.1f}", flush=True)
        return
    ratio, by_clock = rival.processor / ours.processor, rival.wall / ours.wall
    verdict = "" if ratio >= wanted else "   SHORT"
    line = f"{what:<52}{rival.processor * 1e3:>10.1f}{ours.processor * 1e3:>10.1f}"
    print(f"{line}{ratio:>8.1f}{by_clock:>10.1f}{wanted:>9g}{verdict}", flush=True)


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
