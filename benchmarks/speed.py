"""How fast, how much memory: `make bench`.

Every line is a ratio of the same run: the rival's best time over ours, both the best of the same
number of runs, after a warm-up. 1M rows by 20 columns of 8 levels and two classes.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa

from benchmarks import speed_educated, speed_learners
from benchmarks.clock import MIB, best, report
from benchmarks.rivals import optbinning, scikit_learn

ROWS, COLUMNS, LEVELS, RUNS = 1_000_000, 20, 8, 5


def make_codes() -> tuple[Any, Any]:
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, ROWS)
    shift = rng.integers(0, 2, (ROWS, COLUMNS)) * y[:, None]
    codes = rng.integers(0, LEVELS, (ROWS, COLUMNS)) + shift
    return np.minimum(codes, LEVELS - 1).astype(np.uint8), y


def make_text(codes: Any, kind: str) -> Any:
    levels = np.array([f"level_{i}" for i in range(LEVELS)], dtype=object)
    columns = {f"feature_{j}": levels[codes[:, j]] for j in range(COLUMNS)}
    if kind == "pandas object":
        return pd.DataFrame(columns, dtype=object)
    table = pa.table({name: pa.array(values) for name, values in columns.items()})
    return pl.from_arrow(table) if kind == "polars" else table


def bench_codes(X: Any, y: Any) -> None:
    from weigh import EvidenceNB

    start = time.perf_counter()
    model = EvidenceNB(categorical_features="all").fit(X[:1000], y[:1000])
    model.predict_proba(X[:1000])
    first = time.perf_counter() - start
    rival = scikit_learn.on_codes().fit(X, y)
    theirs, ours = best(lambda: rival.fit(X, y), RUNS), best(lambda: model.fit(X, y), RUNS)
    report("fit, uint8 codes", theirs, ours, 20)
    theirs = best(lambda: rival.predict_proba(X), RUNS)
    ours = best(lambda: model.predict_proba(X), RUNS)
    report("predict_proba, uint8 codes", theirs, ours, 15)
    print(f"{'first fit and prediction in this process':<42}{'':>10}{first * 1e3:>10.1f}")


def bench_text(codes: Any, y: Any) -> None:
    from weigh import EvidenceNB

    for kind, wanted in (("polars", 8), ("arrow", 8), ("pandas object", 3)):
        X = make_text(codes, kind)
        # scikit-learn reads no Arrow tables: it gets the same strings as a Polars frame
        X_rival = make_text(codes, "polars") if kind == "arrow" else X
        rival, model = scikit_learn.on_text(), EvidenceNB()
        theirs = best(lambda: rival.fit(X_rival, y), 1)  # noqa: B023
        ours = best(lambda: model.fit(X, y), 1)  # noqa: B023
        report(f"fit, {kind} strings", theirs, ours, wanted)
        row, row_rival = X[:1], X_rival[:1]
        theirs = best(lambda: rival.predict_proba(row_rival), 50)  # noqa: B023
        ours = best(lambda: model.predict_proba(row), 50)  # noqa: B023
        report(f"predict_proba of one row, {kind}", theirs, ours, 3)


def bench_mdl() -> None:
    from weigh import MDLDiscretizer

    rng = np.random.default_rng(0)
    x = rng.normal(size=200_000)
    y = (x + 2 * rng.normal(size=x.size) > 0).astype(int)
    try:
        rival = optbinning.mdlp()
    except ImportError:
        print("MDL bins: optbinning is not installed")
        return
    theirs = best(lambda: rival.fit(x, y), RUNS)
    ours = best(lambda: MDLDiscretizer().fit(x[:, None], y), RUNS)
    report("MDL bins of 200,000 rows, optbinning", theirs, ours, 2)


MEMORY = """
import sys, numpy as np, pyarrow.parquet as pq, polars as pl
from weigh import AdjustedNB, EvidenceNB

def status(field):
    return next(int(l.split()[1]) for l in open("/proc/self/status") if l.startswith(field)) * 1024

kind, folder, learner = sys.argv[1:]
y = np.load(f"{folder}/y.npy")
if kind == "uint8 codes":
    X = np.load(f"{folder}/codes.npy"); size = X.nbytes
elif kind == "arrow":
    X = pq.read_table(f"{folder}/text.parquet"); size = X.nbytes
elif kind == "polars":
    X = pl.read_parquet(f"{folder}/text.parquet"); size = X.estimated_size()
else:
    X = pq.read_table(f"{folder}/text.parquet").to_pandas().astype(object)
    size = int(X.memory_usage(index=False, deep=False).sum())
learner = AdjustedNB if learner == "adjusted" else EvidenceNB
model = learner(categorical_features="all")
model.fit(X[:100_000], y[:100_000])
open("/proc/self/clear_refs", "w").write("5")
before = status("VmRSS")
model.fit(X, y)
print(size, status("VmHWM") - before)
"""


def bench_memory(codes: Any, y: Any) -> None:
    """Peak resident memory of a fit above what stood before it, in a process of its own."""
    import pyarrow.parquet as pq

    print(f"\n{'memory of a fit, MiB':<42}{'input':>10}{'above':>10}{'':>8}{'allowed':>9}")
    with tempfile.TemporaryDirectory() as folder:
        np.save(f"{folder}/codes.npy", codes)
        np.save(f"{folder}/y.npy", y)
        pq.write_table(make_text(codes, "arrow"), f"{folder}/text.parquet")
        kinds = ("uint8 codes", "arrow", "polars", "pandas object")
        for kind, learner in [*((kind, "evidence") for kind in kinds), ("uint8 codes", "adjusted")]:
            command = [sys.executable, "-c", MEMORY, kind, folder, learner]
            answer = subprocess.run(command, capture_output=True, text=True, check=True)
            size, above = map(int, answer.stdout.split())
            allowed = max(size // 4, 64 * MIB) if learner == "evidence" else 1536 * MIB
            verdict = "" if above <= allowed else "   SHORT"
            what = f"{learner}, {kind}"
            sizes = f"{size / MIB:>10.0f}{above / MIB:>10.0f}{'':>8}{allowed / MIB:>9.0f}"
            print(f"{what:<42}{sizes}{verdict}", flush=True)


def bench_import() -> None:
    def seconds(code: str, **environment: str) -> float:
        command = [sys.executable, "-c", code]
        return best(lambda: subprocess.run(command, check=True, env=os.environ | environment), 3)

    first = "import numpy as np; from weigh import EvidenceNB; X = np.zeros((9, 2), 'u1'); "
    first += "X[::2] = 1; EvidenceNB(categorical_features='all').fit(X, X[:, 0]).predict_proba(X)"
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-c", first]
        start = time.perf_counter()
        subprocess.run(command, check=True, env=os.environ | {"NUMBA_CACHE_DIR": folder})
        cold = time.perf_counter() - start
        warm = seconds(first, NUMBA_CACHE_DIR=folder)
    sklearn = seconds("import sklearn")
    ours = seconds("import sklearn, weigh; weigh.EvidenceNB")
    print(f"\n{'seconds':<42}")
    print(f"{'import of EvidenceNB above import sklearn':<42}{ours - sklearn:>10.2f}  (0.3 wanted)")
    print(f"{'a process that fits, kernels compiled anew':<42}{cold:>10.2f}")
    print(f"{'the same, kernels from the cache':<42}{warm:>10.2f}")


def main() -> None:
    print(f"{'ratios, milliseconds':<42}{'rival':>10}{'weigh':>10}{'ratio':>8}{'wanted':>9}")
    codes, y = make_codes()
    bench_codes(codes, y)
    bench_text(codes, y)
    bench_mdl()
    speed_learners.bench()
    speed_educated.bench()
    bench_memory(codes, y)
    bench_import()


if __name__ == "__main__":
    main()
