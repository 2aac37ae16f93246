"""Files larger than memory: `make bench-scale`.

    python -m benchmarks.scale --rows 2e6 --folder DIR

generates 12 features and a target as 30 Parquet files (or takes those that DIR has), then runs
every job on 3, 10 and all of them, each in a process of its own, one after the other: a default
`EvidenceNB`, its counting pass alone, `AdjustedNB(norm=None)`, and DuckDB computing the same
GROUP BY counts. DuckDB's way to count intervals is the fastest of three on the first 3 files.
A run of all rows writes its table into docs/benchmarks.md.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from benchmarks import speed_page
from benchmarks.clock import MIB
from benchmarks.scale_files import FILES, write_files
from benchmarks.scale_jobs import CUTS, WARM_UP

ROWS = 50_000_000
SIZES = (FILES // 10, FILES // 3, FILES)
ALLOWED, ALLOWED_RATIO = 1536 * MIB, 2
DUCKDB = {
    "DuckDB, CASE": "a bisecting `CASE`",
    "DuckDB, sum": "a sum of comparisons",
    "DuckDB, join": "a range join",
}
JOBS = {
    "EvidenceNB": "`EvidenceNB`",
    "counting pass": "its counting pass (cut points given)",
    "DuckDB": "DuckDB, the same counts",
    "AdjustedNB": "`AdjustedNB(norm=None)`",
}
HEAD = ["job", "rows", "clock, s", "processor, s", "processor, µs a row", "peak, MiB"]


@dataclass(frozen=True)
class Run:
    """What one job took, and what it found."""

    wall: float
    processor: float
    before: int
    peak: int
    found: dict[str, Any]


def run(job: str, folder: Path, n_files: int) -> Run:
    command = [sys.executable, "-m", "benchmarks.scale_jobs", job, str(folder), str(n_files)]
    answer = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    told = json.loads(answer.stdout.splitlines()[-1])
    costs = {name: told.pop(name) for name in ("wall", "processor", "before", "peak")}
    return Run(**costs, found=told)


def prepare(n_rows: int, folder: Path) -> list[int]:
    """The files, a small one for warming up, and how many rows each size has."""
    files = write_files(n_rows, folder)
    first = next(pq.ParquetFile(files[0]).iter_batches(10_000))
    with pq.ParquetWriter(folder / WARM_UP, first.schema) as file:
        file.write_batch(first)
    rows = [pq.read_metadata(path).num_rows for path in files]
    return [sum(rows[:size]) for size in SIZES]


def show(job: str, n_rows: int, cost: Run, note: str = "") -> None:
    seconds = f"{cost.wall:>10.1f}{cost.processor:>10.1f}{cost.processor / n_rows * 1e6:>12.2f}"
    print(f"{job:<16}{n_rows:>12,}{seconds}{cost.peak / MIB:>10.0f}   {note}", flush=True)


def compare(n_rows: int, folder: Path, n_files: int, engine: str) -> dict[str, Run]:
    """A fit, its counting pass and DuckDB on the same files, and whether the counts agree."""
    fit = run("EvidenceNB", folder, n_files)
    (folder / CUTS).write_text(json.dumps(fit.found["cuts"]))
    n_cuts = sum(map(len, fit.found["cuts"].values()))
    show("EvidenceNB", n_rows, fit, f"{n_cuts} cut points")
    count = run("counting pass", folder, n_files)
    show("counting pass", n_rows, count)
    rival = run(engine, folder, n_files)
    same = "the same counts" if rival.found == count.found else "OTHER COUNTS"
    show(engine, n_rows, rival, same)
    return {"EvidenceNB": fit, "counting pass": count, "DuckDB": rival}


def adjust(n_rows: int, folder: Path, n_files: int) -> dict[str, Run]:
    fit = run("AdjustedNB", folder, n_files)
    show("AdjustedNB", n_rows, fit)
    return {"AdjustedNB": fit}


def try_engines(folder: Path, n_rows: int) -> dict[str, Run]:
    """DuckDB's ways, fastest first, with the cut points of a fit on the first files."""
    fit = run("EvidenceNB", folder, SIZES[0])
    (folder / CUTS).write_text(json.dumps(fit.found["cuts"]))
    tried = {way: run(way, folder, SIZES[0]) for way in DUCKDB}
    for way, cost in tried.items():
        show(way, n_rows, cost, "tried")
    return dict(sorted(tried.items(), key=lambda item: item[1].processor))


def verdicts(runs: list[dict[str, Run]], rows: list[int]) -> None:
    for job, cost in runs[-1].items():
        growth = cost.processor / runs[0][job].processor
        words = f"{growth:.1f} times the seconds for {rows[-1] / rows[0]:.1f} times the rows"
        held = "" if job.startswith("DuckDB") or cost.peak <= ALLOWED else "   SHORT of memory"
        print(f"{job:<16}{words}{held}", flush=True)


def ratios(ours: Run, theirs: Run) -> None:
    for clock in ("wall", "processor"):
        ratio = getattr(ours, clock) / getattr(theirs, clock)
        verdict = "" if ratio <= ALLOWED_RATIO else "   SHORT"
        print(f"counting / DuckDB, {clock:<12}{ratio:.2f} ({ALLOWED_RATIO} allowed){verdict}")


def make_table(
    runs: list[dict[str, Run]], rows: list[int], tried: dict[str, Run]
) -> dict[str, Any]:
    """The table of the page, each job on all sizes, and what follows from it."""
    cells = []
    for job, name in JOBS.items():
        for found, n in zip(runs, rows, strict=True):
            cost = found[job]
            seconds = f"{cost.wall:.1f}", f"{cost.processor:.1f}", f"{cost.processor / n * 1e6:.2f}"
            cells.append([name, f"{n:,}", *seconds, f"{cost.peak / MIB:.0f}"])
    return {"head": HEAD, "cells": cells, "words": [_say_tried(tried, rows[0]), _say(runs, rows)]}


def _say_tried(tried: dict[str, Run], n_rows: int) -> str:
    (best, least), *others = tried.items()
    rest = ", ".join(f"{DUCKDB[way]} took {cost.processor:.1f}" for way, cost in others)
    return (
        f"DuckDB counts bins in the fastest of {len(tried)} ways: {DUCKDB[best]} took "
        f"{least.processor:.1f} processor seconds for {n_rows:,} rows, {rest}."
    )


def _say(runs: list[dict[str, Run]], rows: list[int]) -> str:
    few, many = runs[0], runs[-1]
    growth = {job: many[job].processor / few[job].processor for job in JOBS}
    told = ", ".join(f"{JOBS[job]} {times:.1f} times" for job, times in growth.items())
    ours, theirs = many["counting pass"], many["DuckDB"]
    return (
        f"For {rows[-1] / rows[0]:.0f} times the rows the processor seconds grow: {told}. At "
        f"{rows[-1]:,} rows the counting pass takes {ours.processor / theirs.processor:.2f} of "
        f"DuckDB's processor seconds and {ours.wall / theirs.wall:.2f} of its seconds by the clock."
    )


def measure(n_rows: int, folder: Path) -> dict[str, Any]:
    """Run all jobs, print what they cost, and return the table of the page."""
    known = speed_page.Run.now("make bench-scale")
    rows = prepare(n_rows, folder)
    print(f"{'job':<16}{'rows':>12}{'wall s':>10}{'cpu s':>10}{'cpu us/row':>12}{'peak MiB':>10}")
    tried = try_engines(folder, rows[0])
    sizes = [*zip(rows, SIZES, strict=True)]
    counted = [compare(n, folder, size, next(iter(tried))) for n, size in sizes]
    ratios(counted[-1]["counting pass"], counted[-1]["DuckDB"])
    verdicts(counted, rows)
    adjusted = [adjust(n, folder, size) for n, size in sizes]
    verdicts(adjusted, rows)
    runs = [one | other for one, other in zip(counted, adjusted, strict=True)]
    return {"run": vars(known)} | make_table(runs, rows, tried)


def read_arguments() -> argparse.Namespace:
    words = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    words.add_argument("--rows", type=float, default=ROWS, help="50 million unless told")
    words.add_argument("--folder", type=Path, help="keep the files here; else they are temporary")
    return words.parse_args()


def main() -> None:
    asked = read_arguments()
    n_rows = int(asked.rows)
    if asked.folder:
        table = measure(n_rows, asked.folder)
    else:
        with tempfile.TemporaryDirectory() as folder:
            table = measure(n_rows, Path(folder))
    if n_rows == ROWS:
        speed_page.keep({"scale": table})


if __name__ == "__main__":
    main()
