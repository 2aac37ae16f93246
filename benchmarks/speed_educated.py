"""EducatedNB beside LightGBM's 200 trees: 1M rows of ten numbers and ten categories, two classes.

    python -m benchmarks.speed_educated

Every fit runs in a process of its own, after one of 20,000 rows that does not count; on one thread
of one processor, and on as many as there are. Processor seconds are what a busy machine cannot
stretch. Memory is the peak above what stood before the fit; the codes are those that EducatedNB
holds, two bytes for each row and column.

LightGBM has its defaults (31 leaves, 255 bins), 200 trees, and categories as pandas categories.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from typing import Any

ROWS, WARM, TREES = 1_000_000, 20_000, 200
MIB = 1 << 20
ALLOWED = 500  # MiB above the codes


def bench() -> None:
    """Print seconds, ratios and memory of the same run."""
    print(f"\n{'EducatedNB, LightGBM of 200 trees':<42}{'rival':>10}{'weigh':>10}{'ratio':>8}")
    for threads in (1, os.cpu_count() or 1):
        rival, ours = (_measure(who, threads) for who in ("lightgbm", "educated"))
        for name in ("seconds", "processor seconds"):
            what = f"{name}, threads: {threads}"
            ratio = rival[name] / ours[name]
            verdict = "" if ratio >= 1 else "   SHORT"
            print(f"{what:<42}{rival[name]:>10.1f}{ours[name]:>10.1f}{ratio:>8.1f}{verdict}")
        allowed = ours["codes"] + ALLOWED
        verdict = "" if ours["MiB"] <= allowed else "   SHORT"
        what = f"memory, MiB ({allowed:.0f} allowed)"
        print(f"{what:<42}{rival['MiB']:>10.0f}{ours['MiB']:>10.0f}{verdict}", flush=True)


def _measure(who: str, threads: int) -> dict[str, float]:
    command = [sys.executable, "-m", "benchmarks.speed_educated", who, str(threads)]
    answer = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()
    return dict(
        zip(("seconds", "processor seconds", "MiB", "codes"), map(float, answer), strict=True)
    )


def _fit(who: str, threads: int) -> None:
    """In a process of its own: seconds, processor seconds, MiB above, MiB of codes."""
    from benchmarks.speed_learners import make_mixed

    if threads == 1 and hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    X, y = make_mixed(2, ROWS)
    model = _model(who, threads)
    model.fit(X[:WARM], y[:WARM])
    with open("/proc/self/clear_refs", "w") as file:
        file.write("5")
    before, wall, cpu = _status("VmRSS"), time.perf_counter(), time.process_time()
    model.fit(X, y)
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    print(wall, cpu, (_status("VmHWM") - before) / MIB, 2 * (X.shape[1] + 1) * ROWS / MIB)


def _model(who: str, threads: int) -> Any:
    if who == "educated":
        from weigh import EducatedNB

        return EducatedNB()
    from lightgbm import LGBMClassifier

    return LGBMClassifier(n_estimators=TREES, n_jobs=threads, verbosity=-1)


def _status(field: str) -> int:
    with open("/proc/self/status") as lines:
        return next(int(line.split()[1]) for line in lines if line.startswith(field)) * 1024


if __name__ == "__main__":
    if len(sys.argv) > 1:
        _fit(sys.argv[1], int(sys.argv[2]))
    else:
        bench()
