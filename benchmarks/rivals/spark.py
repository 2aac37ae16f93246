"""Spark MLlib's naive Bayes: StringIndexer, OneHotEncoder, VectorAssembler, NaiveBayes.

Both fit the same Parquet files on the same cluster, two executors of one core each, in turn: the
first round does not count, the best of the others does. MLlib reads the rows once for the indexers
of all columns and of the label, and once more for the counts; it takes no missing values and no
numbers that are not cut, so the rows are text without gaps. Only the fit is timed, by the
clock: a cluster is processes of its own, so this is no line of the other rivals' table.

    python -m benchmarks.rivals.spark [rows]

Without a number of rows, the result is written into docs/benchmarks.md.
"""

from __future__ import annotations

import sys
import tempfile
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from pyarrow import parquet

from benchmarks import speed_page
from benchmarks.cluster import lacking, start_cluster

ROWS, COLUMNS, FILES, ROUNDS = 5_000_000, 12, 10, 2
LEVELS = (2, 3, 5, 8, 12, 20, 30, 50, 80, 120, 200, 400)


def write_rows(folder: Path, n_rows: int) -> None:
    """Text in Parquet files; the classes differ in every column."""
    rng, size = np.random.default_rng(0), n_rows // FILES
    for i in range(FILES):
        y = rng.integers(0, 2, size)
        columns = {}
        for j, n in enumerate(LEVELS[:COLUMNS]):
            codes = (rng.integers(0, n, size) + y * rng.integers(0, 2, size)) % n
            names = pa.array([f"level_{code:03}" for code in range(n)])
            columns[f"feature_{j}"] = names.take(pa.array(codes))
        columns["y"] = pa.array(["no", "yes"]).take(pa.array(y))
        parquet.write_table(pa.table(columns), folder / f"part-{i:02}.parquet")


def fit_mllib(frame: Any, y: str) -> Any:
    from pyspark.ml import Pipeline
    from pyspark.ml.classification import NaiveBayes
    from pyspark.ml.feature import OneHotEncoder, StringIndexer, VectorAssembler

    names = [name for name in frame.columns if name != y]
    codes, hot = [f"{name}_code" for name in names], [f"{name}_hot" for name in names]
    stages = [
        StringIndexer(inputCols=[*names, y], outputCols=[*codes, "label"]),
        OneHotEncoder(inputCols=codes, outputCols=hot, dropLast=False),
        VectorAssembler(inputCols=hot, outputCol="features"),
        NaiveBayes(),
    ]
    return Pipeline(stages=stages).fit(frame)


def fit_weigh(frame: Any, y: str) -> Any:
    from weigh import EvidenceNB

    return EvidenceNB().fit(frame, y)


def compete(spark: Any, folder: Path) -> dict[str, float]:
    """The best seconds of both, after a round on 1,000 rows."""
    frame = spark.read.parquet(str(folder))
    seconds: dict[str, list[float]] = {"MLlib": [], "weigh": []}
    for i in range(ROUNDS + 1):
        for who, fit in (("MLlib", fit_mllib), ("weigh", fit_weigh)):
            rows = frame.limit(1000) if i == 0 else frame
            start = time.perf_counter()
            fit(rows, "y")
            taken = time.perf_counter() - start
            note = "" if i else "   (first, on 1,000 rows)"
            print(f"{who:<8}{taken:>8.1f} s{note}", flush=True)
            if i:
                seconds[who].append(taken)
    return {who: min(times) for who, times in seconds.items()}


def make_table(best: dict[str, float]) -> dict[str, Any]:
    """The table of the page."""
    ratio = f"{best['MLlib'] / best['weigh']:.1f}"
    what = f"fit of {ROWS:,} rows by {COLUMNS} text columns"
    cells = [[what, f"{best['MLlib']:.1f}", f"{best['weigh']:.1f}", ratio]]
    return {"head": ["what", "MLlib, s", "weigh, s", "ratio"], "cells": cells}


def main() -> None:
    n_rows = int(float(sys.argv[1])) if len(sys.argv) > 1 else ROWS
    lack = lacking()
    if lack:
        print(f"Spark: {lack}")
        return
    warnings.filterwarnings("ignore", "PySpark does not yet fully support pandas")
    run = speed_page.Run.now("python -m benchmarks.rivals.spark")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "rows").mkdir()
        write_rows(folder / "rows", n_rows)
        spark = start_cluster(folder)
        print(f"{n_rows:,} rows by {COLUMNS} columns of text, two executors of one core each")
        best = compete(spark, folder / "rows")
        spark.stop()
    print(f"ratio   {best['MLlib'] / best['weigh']:>8.1f}")
    if n_rows == ROWS:
        speed_page.keep({"spark": {"run": vars(run)} | make_table(best)})


if __name__ == "__main__":
    main()
