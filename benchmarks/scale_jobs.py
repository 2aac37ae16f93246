"""The jobs of `benchmarks.scale`, each run in a process of its own.

    python -m benchmarks.scale_jobs JOB FOLDER N_FILES

prints one line of JSON: seconds, peak memory and what was found. Kernels are compiled or loaded on
a few rows before the clock starts.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any, TypeAlias

from benchmarks.clock import cost_of, peak_memory
from benchmarks.scale_files import LEVELS, NUMBERS, TARGET

Cuts: TypeAlias = dict[str, list[float]]
Found: TypeAlias = dict[str, Any]

CUTS = "cuts.json"
WARM_UP = "warm_up.parquet"


def evidence(files: list[str], folder: Path) -> Found:
    """A default fit; what it cut the numbers at is kept for the jobs that only count."""
    import weigh

    model = weigh.EvidenceNB().fit(weigh.scan(files), TARGET)
    tables = [table for table in model.evidence_ if table.feature.is_numeric]
    return {"cuts": {table.name: [float(x) for x in table.feature.cuts] for table in tables}}


def counting(files: list[str], folder: Path) -> Found:
    """The counting pass alone: the cut points are given."""
    import weigh

    model = weigh.EvidenceNB(bins=read_cuts(folder)).fit(weigh.scan(files), TARGET)
    return {"counts": {table.name: _sort(table.counts.tolist()) for table in model.evidence_}}


def adjusted(files: list[str], folder: Path) -> Found:
    import weigh

    model = weigh.AdjustedNB(norm=None).fit(weigh.scan(files), TARGET)
    return {"exponents": model.exponents_.tolist()}


def query(way: Callable[[str, list[float]], str]) -> Callable[[list[str], Path], Found]:
    """DuckDB: the same counts, a query for each column, each reading that column and the target.

    One query with GROUPING SETS for all columns of text was slower than one for each.
    """

    def run(files: list[str], folder: Path) -> Found:
        import duckdb

        levels = {name: name for name in LEVELS}
        levels |= {name: way(name, cuts) for name, cuts in read_cuts(folder).items()}
        counts: dict[str, Any] = {}
        for name, level in levels.items():
            asked = f"SELECT {level} AS level, {TARGET}, count(*) FROM {_source(name, way, folder)}"
            rows = duckdb.execute(f"{asked} GROUP BY ALL", [files]).fetchall()
            cells = {level: [0.0, 0.0] for level, _, _ in rows}
            for level, label, n in rows:
                cells[level][label == "yes"] += n
            counts[name] = _sort([*cells.values()])
        return {"counts": counts}

    return run


def _source(name: str, way: Any, folder: Path) -> str:
    if name in LEVELS or way is not by_join:
        return "read_parquet(?)"
    cuts = [f"{cut!r}::DOUBLE" for cut in read_cuts(folder)[name]]
    ends = zip(["'-inf'::DOUBLE", *cuts], [*cuts, "'inf'::DOUBLE"], strict=True)
    rows = ", ".join(f"({low}, {high}, {i})" for i, (low, high) in enumerate(ends))
    on = f"{name} > low AND {name} <= high"
    return f"read_parquet(?) LEFT JOIN (VALUES {rows}) AS cuts(low, high, interval_) ON {on}"


def by_sum(name: str, cuts: list[float]) -> str:
    """The number of an interval as the number of cut points below the value."""
    below = " + ".join(f"({name} > {cut!r}::DOUBLE)::INT" for cut in cuts) or "0"
    return f"CASE WHEN {name} IS NULL THEN -1 ELSE {below} END"


def by_case(name: str, cuts: list[float]) -> str:
    """Bisection written out. The fastest of the three, twice as fast as the sum."""

    def halve(low: int, high: int) -> str:
        if low == high:
            return str(low)
        middle = (low + high) // 2
        left, right = halve(low, middle), halve(middle + 1, high)
        return f"CASE WHEN {name} <= {cuts[middle]!r}::DOUBLE THEN {left} ELSE {right} END"

    return f"CASE WHEN {name} IS NULL THEN -1 ELSE {halve(0, len(cuts))} END"


def by_join(name: str, cuts: list[float]) -> str:
    """A range join with a table of intervals; by far the slowest."""
    return f"CASE WHEN {name} IS NULL THEN -1 ELSE interval_ END"


JOBS = {
    "EvidenceNB": evidence,
    "counting pass": counting,
    "AdjustedNB": adjusted,
    "DuckDB, sum": query(by_sum),
    "DuckDB, CASE": query(by_case),
    "DuckDB, join": query(by_join),
}


def read_cuts(folder: Path) -> Cuts:
    found: Cuts = json.loads((folder / CUTS).read_text())
    if {*found} != {*NUMBERS}:
        raise ValueError(
            f"{folder / CUTS} holds {[*found]}, wanted {NUMBERS}; run EvidenceNB first"
        )
    return found


def _sort(cells: list[list[float]]) -> list[list[float]]:
    """Levels come in another order from every engine; empty ones are not everywhere."""
    return sorted(cell for cell in cells if any(cell))


def main() -> None:
    job, folder, n_files = JOBS[sys.argv[1]], Path(sys.argv[2]), int(sys.argv[3])
    files = [str(path) for path in sorted(folder.glob("part_*.parquet"))[:n_files]]
    found: Found = {}
    job([str(folder / WARM_UP)], folder)
    before = peak_memory()
    cost = cost_of(lambda: found.update(job(files, folder)))
    print(json.dumps(asdict(cost) | {"before": before, "peak": peak_memory()} | found))


if __name__ == "__main__":
    main()
