"""Rivals side by side: the tables of ratios, growth and accuracy of `make bench`.

    python -m benchmarks.contest

Each rival runs in the environment that `make bench-rivals` made for it, in a process of its own
for each table. Seconds are those of all processors together, so that neither threads nor other
work on the machine count. A rival whose fit took longer than --most-seconds grows no further.
A run of all rivals writes its tables into docs/benchmarks.md; one of some rivals prints them:

    python -m benchmarks.contest --only rows --rivals weigh duckdb
"""

from __future__ import annotations

import argparse
import ast
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks import contest_data, contest_page, speed_page
from benchmarks.contest_data import STAGES
from benchmarks.rivals import environments

ROOT = Path(__file__).parents[1]
MODULES = ("weigh", *environments.NAMES)
PATIENCE = 10

ACCURACY_SECONDS = 300
"""A fit of a data set may take so long: its loss has no smaller table to be told by."""


@dataclass(frozen=True)
class Entry:
    """A rival by the name of its file and its own."""

    module: str
    name: str


@dataclass(frozen=True)
class Outcome:
    """What a rival's process told, folder by folder, and why it told no more."""

    entry: Entry
    found: dict[str, dict[str, Any]]
    note: str = ""


def entries(modules: Sequence[str]) -> list[Entry]:
    """The names in `RIVALS` of each file, which is read and not run: its library is elsewhere."""
    return [Entry(module, name) for module in modules for name in _names(module)]


def _names(module: str) -> list[str]:
    if module == environments.OURS:
        from benchmarks.rivals import weigh

        return [*weigh.RIVALS]
    source = (ROOT / "benchmarks" / "rivals" / f"{module}.py").read_text(encoding="utf-8")
    for node in ast.parse(source).body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "RIVALS":
            return [key.value for key in node.value.keys]  # type: ignore[attr-defined]
    raise ValueError(f"benchmarks/rivals/{module}.py has no RIVALS = {{name: fit}}; add it")


def run(entry: Entry, folders: Sequence[Path], most_seconds: float) -> Outcome:
    """All folders, or those before the rival failed or was out of time."""
    python = environments.python_of(entry.module)
    if python is None:
        return Outcome(entry, {}, environments.reason(entry.module))
    command = [str(python), "-m", "benchmarks.rivals.one", entry.module, entry.name]
    command += [str(most_seconds), *map(str, folders)]
    paths = os.pathsep.join(
        [str(ROOT), str(ROOT / "src")] if entry.module == "weigh" else [str(ROOT)]
    )
    allowed = PATIENCE * (most_seconds + 1) * len(folders)
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as words:
        environment = os.environ | {"PYTHONPATH": paths}
        child = subprocess.Popen(command, stdout=out, stderr=words, cwd=ROOT, env=environment)
        stopped = not _wait(child, allowed)
        out.seek(0)
        words.seek(0)
        found, said = _read(out.read()), words.read().decode(errors="replace").strip()
    if stopped:
        return Outcome(entry, found, f"stopped after {allowed:g} processor seconds")
    if child.returncode:
        return Outcome(entry, found, f"failed: {said.splitlines()[-1] if said else 'no word'}")
    unfinished = len(found) < len(folders)
    return Outcome(entry, found, f"stops growing: above {most_seconds:g} s" if unfinished else "")


def _wait(child: subprocess.Popen[bytes], seconds: float) -> bool:
    """Whether a process ended before it had used so many processor seconds; if not, it is ended.

    It is watched from here: RLIMIT_CPU would make the process's own clock tick by milliseconds, on
    which a fit or a row of less is no time at all.
    """
    status = Path(f"/proc/{child.pid}/stat")
    while child.poll() is None:
        time.sleep(0.2)
        try:
            ticks = status.read_text().rsplit(")", 1)[1].split()[11:13] if status.exists() else []
        except (OSError, IndexError):  # it has just ended
            continue
        if sum(map(int, ticks)) > seconds * os.sysconf("SC_CLK_TCK"):
            child.kill()
            child.wait()
            return False
    return True


def _read(printed: bytes) -> dict[str, dict[str, Any]]:
    lines = [json.loads(line) for line in printed.splitlines() if line.endswith(b"}")]
    return {Path(line.pop("folder")).name: line for line in lines}


def run_all(rivals: list[Entry], folders: list[Path], most_seconds: float) -> list[Outcome]:
    outcomes = []
    for entry in rivals:
        outcomes.append(run(entry, folders, most_seconds))
        told = f"{len(outcomes[-1].found)} of {len(folders)}  {outcomes[-1].note}"
        print(f"  {entry.name:<24}{folders[0].parent.name:<12}{told}", file=sys.stderr, flush=True)
    return outcomes


def read_arguments() -> argparse.Namespace:
    words = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    words.add_argument("--most-seconds", type=float, default=10, help="of a fit; then no larger")
    words.add_argument("--rivals", nargs="+", choices=MODULES, default=[*MODULES])
    words.add_argument(
        "--only", nargs="+", choices=STAGES, default=[*STAGES], help="tables to make"
    )
    words.add_argument("--most-rows", type=float, default=1e7, help="growth in rows ends here")
    return words.parse_args()


def measure(stage: str, asked: argparse.Namespace) -> list[Outcome]:
    with tempfile.TemporaryDirectory() as folder:
        folders = contest_data.make(stage, Path(folder) / stage, int(asked.most_rows))
        if not folders:
            print(f"\n{stage}: no data; set WEIGH_DATA to the folder of data sets")
            return []
        most = ACCURACY_SECONDS if stage == "accuracy" else asked.most_seconds
        return run_all(entries(asked.rivals), folders, most)


def publish(tables: dict[str, dict[str, Any]], run: speed_page.Run, whole: bool) -> None:
    """Print the tables of a stage, and keep them if all rivals were run."""
    known = {name: {"run": vars(run)} | table for name, table in tables.items()}
    for table in known.values():
        print("\n" + speed_page.render(table), flush=True)
    if whole:
        speed_page.keep(known)


def main() -> None:
    asked = read_arguments()
    whole = {*asked.rivals} == {*MODULES} and asked.most_rows >= contest_data.ROWS[-1]
    grown = {}
    for stage in asked.only:
        outcomes = measure(stage, asked)
        run = speed_page.Run.now("python -m benchmarks.contest")  # with the load of the stage
        if outcomes:
            publish(contest_page.make_tables(stage, outcomes), run, whole)
        if stage in contest_data.GROWTH:
            grown[stage] = outcomes
    if whole and {*grown} == {*contest_data.GROWTH}:
        contest_page.draw(grown, contest_page.FIGURE)


if __name__ == "__main__":
    main()
