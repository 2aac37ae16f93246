"""EducatedNB beside LightGBM's 200 trees: 1M rows of ten numbers and ten categories, two classes.

    python -m benchmarks.speed_educated

Every fit runs in a process of its own, after one of 20,000 rows that does not count; on one thread
of one processor, and on as many as there are. Processor seconds are what a busy machine cannot
stretch. Memory is the peak above what stood before the fit; the codes are those that EducatedNB
holds, two bytes for each row and column.

Then tables of other shapes, on one thread: few rows and many columns, many classes, many columns,
and categories of many levels; with `pairs=0`, and as EducatedNB is by default. `--shapes` runs
these alone, and names after it only some of them. `python -m benchmarks.speed shapes` keeps them.

LightGBM has its defaults (31 leaves, 255 bins), 200 trees, and categories as pandas categories.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pandas as pd

ROWS, WARM, TREES = 1_000_000, 20_000, 200
MIB = 1 << 20
HEAD = ("LightGBM", "`EducatedNB`", "ratio")


def make_few() -> tuple[Any, Any]:
    """Breast cancer: 569 rows of 30 numbers."""
    from sklearn.datasets import load_breast_cancer

    return load_breast_cancer(return_X_y=True)  # type: ignore[no-any-return]


def make_classes() -> tuple[Any, Any]:
    """7,494 rows of 16 whole numbers up to 100, ten classes, as handwritten digits have them."""
    random = np.random.default_rng(0)
    y, centres = random.integers(0, 10, 7494), 1.3 * random.normal(size=(10, 16))
    X = 50 + 20 * (centres[y] + random.normal(size=(7494, 16)))
    return np.round(X).clip(0, 100), y


def make_columns() -> tuple[Any, Any]:
    """20,000 rows of 500 numbers, of which ten tell."""
    random = np.random.default_rng(0)
    X = random.normal(size=(20_000, 500))
    return X, (X[:, :10].sum(axis=1) + 3 * random.normal(size=20_000) > 0).astype(int)


def make_levels() -> tuple[Any, Any]:
    """100,000 rows of ten categories of 1,000 levels."""
    random = np.random.default_rng(0)
    codes, effects = random.integers(0, 1000, (100_000, 10)), 0.5 * random.normal(size=(10, 1000))
    totals = effects[np.arange(10), codes].sum(axis=1)
    X = pd.DataFrame({f"c{j}": pd.Categorical(codes[:, j].astype(str)) for j in range(10)})
    return X, (totals + random.logistic(size=100_000) > 0).astype(int)


SHAPES: dict[str, Callable[[], tuple[Any, Any]]] = {
    "few": make_few,
    "classes": make_classes,
    "columns": make_columns,
    "levels": make_levels,
}


def bench_shapes(names: Sequence[str] = tuple(SHAPES)) -> dict[str, Any]:
    """Processor seconds on one thread, as a table: at most twice the rival's, or one second."""
    print(f"\n{'processor seconds, threads: 1':<42}{'rival':>10}{'weigh':>10}{'ratio':>8}")
    cells = []
    for name in names:
        rival = _measure("lightgbm", 1, name)["processor seconds"]
        told = str(SHAPES[name].__doc__).rstrip(".")
        for who, what in (("mains", ", `pairs=0`"), ("educated", "")):
            ours = _measure(who, 1, name)["processor seconds"]
            found = [f"{rival:.2f}", f"{ours:.2f}", f"{rival / ours:.2f}"]
            verdict = "" if ours <= max(2 * rival, 1.0) else "   SHORT"
            print("{:<42}{:>10}{:>10}{:>8}".format(name + what, *found) + verdict, flush=True)
            cells.append([told + what, *found])
    return {"head": ["processor seconds, one thread", *HEAD], "cells": cells}


def bench() -> dict[str, Any]:
    """Seconds, ratios and memory of the same run, as a table."""
    cells = []
    for threads in sorted({1, _processors()}):
        rival, ours = (_measure(who, threads) for who in ("lightgbm", "educated"))
        for name in ("processor seconds", "seconds"):
            found = [rival[name], ours[name], rival[name] / ours[name]]
            cells.append([f"{name}, threads: {threads}", *(f"{value:.1f}" for value in found)])
        memory = [f"{each['MiB']:.0f}" for each in (rival, ours)]
        cells.append([f"memory, MiB, threads: {threads}", *memory, ""])
    for row in cells:
        print("{:<42}{:>10}{:>10}{:>8}".format(*row), flush=True)
    return {"head": ["what", *HEAD], "cells": cells}


def _processors() -> int:
    """The number of processors that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _measure(who: str, threads: int, shape: str = "") -> dict[str, float]:
    command = [sys.executable, "-m", "benchmarks.speed_educated", who, str(threads), shape]
    answer = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()
    return dict(
        zip(("seconds", "processor seconds", "MiB", "codes"), map(float, answer), strict=True)
    )


def _fit(who: str, threads: int, shape: str) -> None:
    """In a process of its own: seconds, processor seconds, MiB above, MiB of codes."""
    from benchmarks.speed_learners import make_mixed

    if threads == 1 and hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    X, y = SHAPES[shape]() if shape else make_mixed(2, ROWS)
    warm = min(WARM, len(y) // 5)
    model = _model(who, threads)
    model.fit(X[:warm], y[:warm])
    with open("/proc/self/clear_refs", "w") as file:
        file.write("5")
    before, wall, cpu = _status("VmRSS"), time.perf_counter(), time.process_time()
    model.fit(X, y)
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    print(wall, cpu, (_status("VmHWM") - before) / MIB, 2 * (X.shape[1] + 1) * len(y) / MIB)


def _model(who: str, threads: int) -> Any:
    if who in ("educated", "mains"):
        from weigh import EducatedNB

        return EducatedNB(**{"pairs": 0} if who == "mains" else {})
    from lightgbm import LGBMClassifier

    return LGBMClassifier(n_estimators=TREES, n_jobs=threads, verbosity=-1)


def _status(field: str) -> int:
    with open("/proc/self/status") as lines:
        return next(int(line.split()[1]) for line in lines if line.startswith(field)) * 1024


if __name__ == "__main__":
    if sys.argv[1:2] == ["--shapes"]:
        bench_shapes(sys.argv[2:] or [*SHAPES])
    elif len(sys.argv) > 1:
        _fit(sys.argv[1], int(sys.argv[2]), sys.argv[3])
    else:
        bench()
        bench_shapes([*SHAPES])
