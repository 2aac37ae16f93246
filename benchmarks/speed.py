"""How fast, how much memory: `make bench`, or `python -m benchmarks.speed [table ...]`.

Each line compares a rival with `weigh` in the same run: the least processor time of some runs after
a warm-up, and the least time by the clock. The clock shows what threads gain, on an idle machine.
Results are kept in benchmarks/results/speed.json, from which docs/benchmarks.md is written. Tables
that are not named keep their results and dates.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa

from benchmarks import speed_educated, speed_learners, speed_page
from benchmarks.clock import LINES, MIB, Cost, best, cost_of, report
from benchmarks.rivals import optbinning, scikit_learn

LEVELS, RUNS = 8, 5
CODES, TEXT = (2_000_000, 40), (1_000_000, 20)
"""Rows and columns of the tables of codes and of strings."""


def make_codes(rows: int, columns: int) -> tuple[Any, Any]:
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, rows)
    shift = rng.integers(0, 2, (rows, columns), dtype=np.uint8) * y[:, None].astype(np.uint8)
    codes = rng.integers(0, LEVELS, (rows, columns), dtype=np.uint8) + shift
    return np.minimum(codes, LEVELS - 1), y


def make_text(codes: Any, kind: str) -> Any:
    levels = np.array([f"level_{i}" for i in range(LEVELS)], dtype=object)
    columns = {f"feature_{j}": levels[column] for j, column in enumerate(codes.T)}
    if kind == "pandas object":
        return pd.DataFrame(columns, dtype=object)
    table = pa.table({name: pa.array(values) for name, values in columns.items()})
    return pl.from_arrow(table) if kind == "Polars" else table


def bench_codes() -> None:
    """The last lines bound what any program can do: to read the array, and to count one column."""
    from weigh import EvidenceNB

    X, y = make_codes(*CODES)
    model, rival = EvidenceNB(categorical_features="all"), scikit_learn.on_codes().fit(X, y)
    theirs, ours = best(lambda: rival.fit(X, y), 2), best(lambda: model.fit(X, y), RUNS)
    report("fit", theirs, ours, 50)
    theirs = best(lambda: rival.predict_proba(X), 2)
    ours = best(lambda: model.predict_proba(X), RUNS)
    report("predict_proba", theirs, ours, 50)
    report("`X.max()`: read the array once", None, best(X.max, RUNS))
    column = np.ascontiguousarray(X[:, 0])
    counts = best(lambda: np.bincount(column), RUNS)
    report("`np.bincount` of every column, classes together", None, counts * X.shape[1])


def bench_text() -> None:
    from weigh import EvidenceNB

    codes, y = make_codes(*TEXT)
    for kind, wanted in (("Polars", 8), ("Arrow", 8), ("pandas object", 3)):
        X = make_text(codes, kind)
        # scikit-learn reads no Arrow tables: it gets the same strings as a Polars frame
        X_rival = make_text(codes, "Polars") if kind == "Arrow" else X
        rival, model = scikit_learn.on_text(), EvidenceNB().fit(X[:1000], y[:1000])
        theirs = cost_of(lambda: rival.fit(X_rival, y))  # noqa: B023
        ours = best(lambda: model.fit(X, y), 3)  # noqa: B023
        report(f"fit, {kind} strings", theirs, ours, wanted)
        if kind == "Polars":
            encoding = best(lambda: X.cast(pl.Categorical), 3)  # noqa: B023
            report("fit, beside Polars' own cast to `Categorical`", encoding, ours, 1)
        row, row_rival = X[:1], X_rival[:1]
        theirs = best(lambda: rival.predict_proba(row_rival), 50)  # noqa: B023
        ours = best(lambda: model.predict_proba(row), 50)  # noqa: B023
        report(f"predict_proba of one row, {kind}", theirs, ours, 3)


def bench_bins() -> None:
    from weigh import MDLDiscretizer

    rng = np.random.default_rng(0)
    x = rng.normal(size=200_000)
    y = (x + 2 * rng.normal(size=x.size) > 0).astype(int)
    try:
        rival = optbinning.mdlp()
    except ImportError:
        raise SystemExit("MDL bins: optbinning is not installed (make bench-rivals)") from None
    theirs = best(lambda: rival.fit(x, y), RUNS)
    ours = best(lambda: MDLDiscretizer().fit(x[:, None], y), RUNS)
    report("MDL bins of 200,000 rows", theirs, ours, 2)


MEMORY = """
import sys, numpy as np, pyarrow.parquet as pq, polars as pl
import weigh

def status(field):
    return next(int(l.split()[1]) for l in open("/proc/self/status") if l.startswith(field)) * 1024

kind, folder, learner = sys.argv[1:]
y, named = np.load(f"{folder}/y.npy"), "all"
if kind == "uint8 codes":
    X = np.load(f"{folder}/codes.npy"); size = X.nbytes
elif kind == "a column of distinct numbers":
    X = np.random.default_rng(0).normal(size=(len(y), 1)); size, named = X.nbytes, "from_dtype"
elif kind == "arrow":
    X = pq.read_table(f"{folder}/text.parquet"); size = X.nbytes
elif kind == "polars":
    X = pl.read_parquet(f"{folder}/text.parquet"); size = X.estimated_size()
else:
    X = pq.read_table(f"{folder}/text.parquet").to_pandas().astype(object)
    size = int(X.memory_usage(index=False, deep=False).sum())
model, start = getattr(weigh, learner)(categorical_features=named), status("VmRSS")
model.fit(X, y)  # loads and compiles
open("/proc/self/clear_refs", "w").write("5")
before = status("VmRSS")
model.fit(X, y)
print(size, status("VmHWM") - before, before - start)
"""


def bench_memory() -> dict[str, Any]:
    """Peak resident memory of a fit above what stood before it, in a process of its own."""
    import pyarrow.parquet as pq

    codes, y = make_codes(*TEXT)
    cells = []
    with tempfile.TemporaryDirectory() as folder:
        np.save(f"{folder}/codes.npy", codes)
        np.save(f"{folder}/y.npy", y)
        pq.write_table(make_text(codes, "Arrow"), f"{folder}/text.parquet")
        kinds = ("uint8 codes", "arrow", "polars", "pandas object", "a column of distinct numbers")
        others = [(kinds[0], learner) for learner in ("AdjustedNB", "EducatedNB")]
        for kind, learner in [*((kind, "EvidenceNB") for kind in kinds), *others]:
            command = [sys.executable, "-c", MEMORY, kind, folder, learner]
            answer = subprocess.run(command, capture_output=True, text=True, check=True)
            told = [f"{int(part) / MIB:.0f}" for part in answer.stdout.split()]
            print(
                f"{f'{learner}, {kind}':<50}" + "".join(f"{part:>10}" for part in told), flush=True
            )
            cells.append([f"`{learner}`, {kind}", *told])
    heads = ("input, MiB", "second fit, MiB above", "left by the first, MiB")
    return {"head": ["learner, input", *heads], "cells": cells}


FIRST = """import numpy as np; from weigh import EvidenceNB; X = np.zeros((9, 2), 'u1'); X[::2] = 1
EvidenceNB(categorical_features='all').fit(X, X[:, 0]).predict_proba(X)"""


def bench_start() -> None:
    """Processor time of programs from their start to their end, with bytecode from a cache."""
    with tempfile.TemporaryDirectory() as folder:
        home = {"PYTHONDONTWRITEBYTECODE": "", "PYTHONPYCACHEPREFIX": f"{folder}/bytecode"}
        code = f"""import weigh, pyarrow.csv as csv; table = weigh.datasets.titanic()
csv.write_csv(table, {folder + "/people.csv"!r})
weigh.save(weigh.EvidenceNB().fit(table, "Survived"), {folder + "/model.json"!r})"""
        subprocess.run([sys.executable, "-c", code], check=True, env=os.environ | home)
        files = [f"{folder}/model.json", f"{folder}/people.csv"]
        report(
            "`import weigh`, with Python's own start", None, _program("-c", "import weigh", **home)
        )
        score = _program("-m", "weigh", "score", *files, "-o", f"{folder}/scored.csv", **home)
        report("`weigh score` of 2,201 rows", None, score)
        reasons = ("--reasons", "3", "-o", f"{folder}/reasons.csv")
        explain = _program("-m", "weigh", "explain", *files, *reasons, **home)
        report("`weigh explain --reasons 3` of 2,201 rows", None, explain)
        home["NUMBA_CACHE_DIR"] = folder
        cold = _program("-c", FIRST, runs=1, warm=False, **home)
        report("a program that fits, kernels compiled anew", None, cold)
        report("a program that fits, kernels from the cache", None, _program("-c", FIRST, **home))


def _program(*arguments: str, runs: int = 3, warm: bool = True, **environment: str) -> Cost:
    """Least cost of a Python program, of which the clock is that of the whole process."""
    command, costs = [sys.executable, *arguments], []
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    for run in range(runs + warm):
        wall, before = time.perf_counter(), _used_by_programs()
        subprocess.run(command, check=True, env=os.environ | environment, **quiet)
        if run or not warm:
            costs.append(Cost(time.perf_counter() - wall, _used_by_programs() - before))
    return Cost(min(cost.wall for cost in costs), min(cost.processor for cost in costs))


def _used_by_programs() -> float:
    """Processor seconds of all programs that were started here and have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


TABLES: dict[str, Callable[[], dict[str, Any] | None]] = {
    "codes": bench_codes,
    "text": bench_text,
    "bins": bench_bins,
    "adjusted": speed_learners.bench_adjusted,
    "weighted": speed_learners.bench_weighted,
    "documents": speed_learners.bench_documents,
    "regressor": speed_learners.bench_regressor,
    "evaluation": speed_learners.bench_evaluation,
    "educated": speed_educated.bench,
    "shapes": speed_educated.bench_shapes,
    "memory": bench_memory,
    "start": bench_start,
}
"""Tables of the page that this program measures: lines that are reported, or cells."""


def measure(name: str) -> dict[str, Any]:
    """Measure one table: its run, and its lines or cells."""
    LINES.clear()
    run = speed_page.Run.now(f"python -m benchmarks.speed {name}")
    print(f"\n{name:<52}{'rival':>10}{'weigh':>10}{'ratio':>8}{'by clock':>10}{'wanted':>9}")
    cells = TABLES[name]()
    found = {"lines": speed_page.lines_of(LINES)} if cells is None else cells
    return {"run": vars(run)} | found


def main() -> None:
    names = sys.argv[1:] or [*TABLES]
    if unknown := {*names} - {*TABLES}:
        raise SystemExit(f"no table is named {min(unknown)}; there are {', '.join(TABLES)}")
    for name in names:
        speed_page.keep({name: measure(name)})


if __name__ == "__main__":
    main()
