"""The tables of docs/benchmarks.md, from benchmarks/results/speed.json.

    python -m benchmarks.speed_page

writes them into the page again. A table stands between two comments: the first names its key in the
file. Each benchmark of speed measures its tables anew and keeps the others with their dates.
"""

from __future__ import annotations

import json
import os
import platform
import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from textwrap import fill
from typing import Any

from benchmarks.clock import Cost, Line

ROOT = Path(__file__).parents[1]
PAGE, RESULTS = ROOT / "docs" / "benchmarks.md", ROOT / "benchmarks" / "results" / "speed.json"

BLOCK = re.compile(r"(<!-- speed\.json: (\w+) -->\n\n).*?(\n<!-- end -->)", re.S)
LIBRARIES = ("numpy", "scikit-learn", "polars", "pandas", "pyarrow", "numba")

HEAD = ("what", "rival, ms", "weigh, ms", "ratio", "ratio by the clock")


@dataclass(frozen=True)
class Run:
    """When, where and how a table was measured."""

    command: str
    date: str
    machine: str

    @classmethod
    def now(cls, command: str) -> Run:
        """A run on this machine, today."""
        load = f"load {os.getloadavg()[0]:.1f}"
        known = ", ".join(f"{name} {version(name)}" for name in LIBRARIES)
        machine = f"{_processor()}, {os.cpu_count()} processors, {load}"
        words = f"{machine}; Python {platform.python_version()}, {known}"
        return cls(command, datetime.now(UTC).date().isoformat(), words)

    def tell(self) -> str:
        """One line below a table."""
        return f"*`{self.command}`, {self.date}: {self.machine}.*"


def _processor() -> str:
    lines = (
        Path("/proc/cpuinfo").read_text().splitlines() if os.path.exists("/proc/cpuinfo") else []
    )
    names = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(names, platform.machine())


def lines_of(lines: list[Line]) -> list[dict[str, Any]]:
    """Measured lines as plain data."""
    return [asdict(line) for line in lines]


def render(table: dict[str, Any]) -> str:
    """A table, what follows from its figures, and the run it comes from, as Markdown."""
    head = table.get("head", HEAD)
    rows = table["cells"] if "cells" in table else [_cells(line) for line in table["lines"]]
    lines = [_row(head), _row(["---"] * len(head)), *(_row(_fill(row, head)) for row in rows)]
    words = [line for text in table.get("words", ()) for line in (fill(text, 118), "")]
    return "\n".join([*lines, "", *words, Run(**table["run"]).tell(), ""])


def _fill(row: list[str], head: Sequence[str]) -> list[str]:
    """Dashes for what was not measured; a column of notes has no title and stays empty."""
    return [cell or ("–" if title else "") for cell, title in zip(row, head, strict=True)]


def _cells(line: dict[str, Any]) -> list[str]:
    ours = Cost(**line["weigh"])
    if line["rival"] is None:
        return [line["what"], "", _number(ours.processor * 1e3), "", ""]
    rival = Cost(**line["rival"])
    ratios = [rival.processor / ours.processor, rival.wall / ours.wall]
    return [
        line["what"],
        *(_number(c.processor * 1e3) for c in (rival, ours)),
        *map(_number, ratios),
    ]


def _number(value: float) -> str:
    """Three digits, but no fewer before the point.

    >>> _number(0.01234), _number(12.34), _number(12345.6)
    ('0.0123', '12.3', '12,346')
    """
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def _row(cells: Any) -> str:
    return "| " + " | ".join(cells) + " |"


def write(page: str, results: dict[str, Any]) -> str:
    """The page with the tables of the results; a table that was never measured stays empty."""

    def fill(found: re.Match[str]) -> str:
        known = results.get(found[2])
        return found[0] if known is None else found[1] + render(known) + found[3]

    return BLOCK.sub(fill, page)


def keep(tables: dict[str, Any]) -> None:
    """Keep measured tables in the file, in place of those of the same name, and write the page."""
    results = json.loads(RESULTS.read_text("utf-8")) | tables
    text = json.dumps(results, indent=1, ensure_ascii=False) + "\n"
    RESULTS.write_text(text, "utf-8")
    PAGE.write_text(write(PAGE.read_text("utf-8"), results), "utf-8")


def main() -> None:
    keep({})


if __name__ == "__main__":
    main()
