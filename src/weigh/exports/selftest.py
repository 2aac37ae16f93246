"""The self-test: an exported file, run with what is installed, beside the model in Python."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from weigh.exports.checks import Difference, Wanted, compare_rows, visit, wanted
from weigh.exports.formula import Formula

NEAR = 1e-12
"""How far from a cut point spreadsheets are tried, as a share of it."""


@dataclass(frozen=True)
class Checked:
    """How far an exported file is from its model, and what ran it."""

    difference: Difference
    ran_in: str

    def __str__(self) -> str:
        found = self.difference
        text = (
            f"{found.n_rows} rows that visit every level and boundary, in {self.ran_in}: totals "
            f"differ by {found.total:.1e} and probabilities by {found.probability:.1e} at the most"
        )
        return text if found.holds else f"{text}, the worst at {found.row}"


@dataclass(frozen=True)
class Ran:
    """What a file says of rows, and what ran it."""

    totals: Any
    probabilities: Any
    by: str


def check(path: str | os.PathLike[str], model: Any, dialect: str | None = None) -> Checked:
    """Run an exported file on rows that visit all of a model, and compare with Python.

    Parameters
    ----------
    path : path
        What `weigh.export` wrote; its ending says what it is. A Python file is executed.
    model : classifier, Evidence or Scorecard
        What it was written from.
    dialect : str, optional
        Of SQL whose first line does not say it.
    """
    file, formula = Path(path), Formula.of(model)
    runner = RUNNERS.get(file.suffix.lower())
    if runner is None:
        raise ValueError(f"{path}: the name must end in one of {', '.join(RUNNERS)}")
    cells = {"step": NEAR, "finite": True} if runner is _run_xlsx else {}
    python = wanted(model, visit(formula, **cells))  # type: ignore[arg-type]
    ran = runner(file, formula, python, dialect)
    return Checked(compare_rows(python, ran.totals, ran.probabilities), ran.by)


def _run_python(file: Path, formula: Formula, python: Wanted, _: str | None) -> Ran:
    names: dict[str, Any] = {}
    exec(compile(file.read_text("utf-8"), str(file), "exec"), names)
    found = [names["score"](row) for row in python.rows]
    return Ran([f["totals"] for f in found], [f["probabilities"] for f in found], "Python")


def _run_json(file: Path, formula: Formula, python: Wanted, _: str | None) -> Ran:
    from weigh.scorecard import Scorecard
    from weigh.store import load

    card = formula.costs is not None
    again = wanted(Scorecard.load(file) if card else load(file), python.rows)
    return Ran(again.totals, again.probabilities, "weigh")


def _run_onnx(file: Path, formula: Formula, python: Wanted, _: str | None) -> Ran:
    from weigh.exports.onnx import run

    found = run(file.read_bytes(), formula, python.rows)
    return Ran(found["totals"], found["probabilities"], "onnxruntime")


def _run_pmml(file: Path, formula: Formula, python: Wanted, _: str | None) -> Ran:
    from weigh.exports.pmml.run import output_names, run

    found = run(file.read_text("utf-8"), formula, python.rows)
    totals, shares = (
        [[row[name] for name in output_names(formula, names)] for row in found]
        for names in (formula.total_names, formula.probability_names)
    )
    return Ran(totals, shares, "PMML4S")


def _run_xlsx(file: Path, formula: Formula, python: Wanted, _: str | None) -> Ran:
    from weigh.exports.xlsx.run import run

    found = run(file.read_bytes(), formula, python.rows)
    return Ran(found.totals, found.probabilities, "LibreOffice")


def _run_sql(file: Path, formula: Formula, python: Wanted, dialect: str | None) -> Ran:
    from weigh.exports.sql import plan
    from weigh.exports.sql.run import run_duckdb, run_sqlite, translate

    text = file.read_text("utf-8")
    said = re.match(r"-- .*, written down by weigh for (\w+), table ", text)
    written = dialect or (said and said[1])
    if not written:
        raise ValueError(f"{file}: its first line does not name a dialect; give it (--dialect)")
    names = plan(formula, written)
    run_in = "sqlite" if written == "sqlite" else "duckdb"
    try:
        query = translate(text, formula, written, run_in)
        found = (run_sqlite if run_in == "sqlite" else run_duckdb)(query, formula, python.rows)
    except ImportError:
        raise
    except Exception as error:  # each database and parser has errors of its own
        raise ValueError(f"{file} cannot be run in {run_in}: {error}") from None
    totals, shares = (
        [[row[name] for name in own] for row in found]
        for own in (names.totals, names.probabilities)
    )
    by = {"sqlite": "SQLite", "duckdb": "DuckDB"}[run_in]
    return Ran(totals, shares, by if written == run_in else f"{by}, translated from {written}")


RUNNERS: dict[str, Callable[[Path, Formula, Wanted, str | None], Ran]] = {
    ".sql": _run_sql,
    ".xlsx": _run_xlsx,
    ".pmml": _run_pmml,
    ".xml": _run_pmml,
    ".onnx": _run_onnx,
    ".py": _run_python,
    ".json": _run_json,
}
