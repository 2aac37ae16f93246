"""The self-test: an exported file, run with what is installed, beside the model in Python."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from weigh.arrays import Floats
from weigh.bins import label
from weigh.exports.checks import (
    TOLERANCE,
    ExpectedOutput,
    LargestGap,
    compare_rows,
    visit,
    wanted,
)
from weigh.exports.onnx import prediction_name
from weigh.exports.pmml.document import own_name
from weigh.exports.run import (
    read_onnx_metadata,
    run_duckdb,
    run_onnx,
    run_pmml,
    run_sqlite,
    run_workbook,
    translate,
)
from weigh.exports.sql import plan
from weigh.exports.targets import read_formula
from weigh.formula import Formula
from weigh.store import load

Rows: TypeAlias = list[dict[str, Any]]

NEAR = 1e-12
"""Relative distance from a cut point at which spreadsheets are tested."""


@dataclass(frozen=True)
class Checked:
    """The difference between an exported file and its model, and the program that ran the file."""

    difference: LargestGap
    ran_in: str

    def __str__(self) -> str:
        found = self.difference
        text = (
            f"{found.n_rows} rows that visit every level and boundary, in {self.ran_in}: totals "
            f"differ by {found.total:.1e} and predictions by {found.prediction:.1e} at the most"
        )
        if found.other:
            return f"{text}, and {found.other}"
        return text if found.holds else f"{text}, the worst at {found.row}"


@dataclass(frozen=True)
class ExportOutput:
    """The outputs of a file for rows, and the program that ran it; None for outputs it lacks."""

    totals: Any
    predictions: Any
    by: str
    classes: list[str] | None = None
    features: list[str] | None = None
    contributions: Any = None  # by row, feature and total
    scores: Any = None  # of a scorecard
    other: str = ""  # what differs that is none of these


def check(path: str | os.PathLike[str], model: Any, dialect: str | None = None) -> Checked:
    """Run an exported file on rows that visit all of a model, and compare with Python.

    Parameters
    ----------
    path : path
        What `weigh.export` wrote; its ending says what it is. A Python file is executed.
    model : classifier, EducatedRegressor, Evidence or Scorecard
        What it was written from.
    dialect : str, optional
        SQL dialect, if the first line of the file does not name it.
    """
    file, formula = Path(path), read_formula(model)
    runner = RUNNERS.get(file.suffix.lower())
    if runner is None:
        raise ValueError(f"{path}: the name must end in one of {', '.join(RUNNERS)}")
    python = wanted(model, _visit(formula, file, dialect))
    ran = runner(file, formula, python, dialect)
    found = compare_rows(python, ran.totals, ran.predictions)
    return Checked(replace(found, other=ran.other or _compare_rest(formula, python, ran)), ran.by)


def _visit(formula: Formula, file: Path, dialect: str | None) -> list[dict[str, Any]]:
    """Rows to try; spreadsheets and MySQL have no infinities."""
    runner = RUNNERS[file.suffix.lower()]
    if runner is _run_xlsx:
        return visit(formula, step=NEAR, finite=True, not_known=True)
    return visit(formula, finite=runner is _run_sql and _find_dialect(file, dialect) == "mysql")


def _compare_rest(formula: Formula, python: ExpectedOutput, ran: ExportOutput) -> str:
    """Differences other than totals and predictions, for outputs that the file has."""
    classes, features = [*formula.class_names], [term.name for term in formula.terms]
    if ran.classes not in (None, classes):
        return f"its classes are {ran.classes}, not {classes}"
    if ran.features not in (None, features):
        return f"its features are {ran.features}, not {features}"
    if ran.contributions is not None:
        given = np.array(ran.contributions, dtype=np.float64).reshape(python.contributions.shape)
        for j, name in enumerate(features):
            if (at := _first_gap(given[:, j], python.contributions[:, j])) is not None:
                weights = given[at, j].tolist(), python.contributions[at, j].tolist()
                return f"{name!r} weighs {weights[0]}, not {weights[1]}, at {python.rows[at]}"
    if ran.scores is not None:
        scores = np.array(ran.scores, dtype=np.float64)
        if (at := _first_gap(scores, python.scores)) is not None:
            return f"the score is {scores[at]:g}, not {python.scores[at]:g}, at {python.rows[at]}"
    return ""


def _first_gap(given: Any, own: Any) -> int | None:
    """The first row that differs by more than is promised; NaN does."""
    near = np.abs(given - own) <= TOLERANCE * np.maximum(np.abs(own), 1.0)
    apart = np.flatnonzero(~near.reshape(len(near), -1).all(axis=1))
    return int(apart[0]) if len(apart) else None


def _run_python(
    file: Path, formula: Formula, python: ExpectedOutput, _: str | None
) -> ExportOutput:
    names: dict[str, Any] = {}
    exec(compile(file.read_text("utf-8"), str(file), "exec"), names)
    found = [names["score"](row) for row in python.rows]
    return ExportOutput(
        [f["totals"] for f in found],
        [f["estimate"] if formula.estimates else f["probabilities"] for f in found],
        "Python",
        [label(c) for c in names["CLASSES"]],
        [*found[0]["contributions"]],
        [[np.atleast_1d(w) for w in f["contributions"].values()] for f in found],
        [f["score"] for f in found] if formula.score_name else None,
    )


def _run_json(file: Path, formula: Formula, python: ExpectedOutput, _: str | None) -> ExportOutput:
    again = wanted(load(file), python.rows)
    return ExportOutput(
        again.totals,
        again.predictions,
        "weigh",
        [label(c) for c in again.evidence.classes.tolist()],
        [table.name for table in again.evidence],
        again.contributions,
        again.scores if formula.costs is not None else None,
    )


def _run_onnx(file: Path, formula: Formula, python: ExpectedOutput, _: str | None) -> ExportOutput:
    data = file.read_bytes()
    found, told = run_onnx(data, formula, python.rows), read_onnx_metadata(data)
    return ExportOutput(
        found["totals"],
        found[prediction_name(formula)],
        "onnxruntime",
        json.loads(told["classes"]),
        json.loads(told["features"]),
        found["contributions"],
    )


def _run_pmml(file: Path, formula: Formula, python: ExpectedOutput, _: str | None) -> ExportOutput:
    found = run_pmml(file.read_text("utf-8"), formula, python.rows)

    def pick(*names: str) -> Any:
        return _pick(file, found, [own_name(formula, name) for name in names])

    scores = pick(formula.score_name)[:, 0] if formula.score_name else None
    totals, shares = pick(*formula.total_names), pick(*formula.prediction_names)
    return ExportOutput(totals, shares, "PMML4S", scores=scores)


def _run_xlsx(file: Path, formula: Formula, python: ExpectedOutput, _: str | None) -> ExportOutput:
    found = run_workbook(file.read_bytes(), formula, python.rows)
    return ExportOutput(found.totals, found.predictions, "LibreOffice")


def _run_sql(
    file: Path, formula: Formula, python: ExpectedOutput, dialect: str | None
) -> ExportOutput:
    written = _find_dialect(file, dialect)
    found = _ask(file, file.read_text("utf-8"), written, formula, python)
    two = len(formula.prior) == 1
    n = sum(two and re.fullmatch(r"reason_\d+", name) is not None for name in found[0])
    own = plan(formula, written, contributions=True, reasons=n)
    weights = own.contributions if {*own.contributions} <= {*found[0]} else ()
    by = {"sqlite": "SQLite", "duckdb": "DuckDB"}[_engine(written)]
    return ExportOutput(
        _pick(file, found, own.totals),
        _pick(file, found, own.predictions),
        by if written == _engine(written) else f"{by}, translated from {written}",
        contributions=_pick(file, found, weights) if weights else None,
        scores=_pick(file, found, (own.score,))[:, 0] if own.score else None,
        other=_compare_reasons(found, _ask(file, own.text, written, formula, python), own.reasons),
    )


def _find_dialect(file: Path, dialect: str | None) -> str:
    """The one that is asked for, or that the first line of the file says."""
    said = re.match(r"-- .*, written down by weigh for (\w+), table ", file.read_text("utf-8"))
    written = dialect or (said and said[1])
    if not written:
        raise ValueError(f"{file}: its first line does not name a dialect; give it (--dialect)")
    return written


def _engine(dialect: str) -> str:
    return "sqlite" if dialect == "sqlite" else "duckdb"


def _ask(file: Path, text: str, written: str, formula: Formula, python: ExpectedOutput) -> Rows:
    """The rows of a query, run in the installed database most similar to its dialect."""
    run_in = _engine(written)
    try:
        query = translate(text, formula, written, run_in)
        found = (run_sqlite if run_in == "sqlite" else run_duckdb)(query, formula, python.rows)
    except ImportError:
        raise
    except Exception as error:  # each database and parser has errors of its own
        raise ValueError(f"{file} cannot be run in {run_in}: {error}") from None
    n = len(python.rows)
    if len(found) != n:
        given = f"more than {n:,}" if len(found) > n else f"{len(found):,}"
        raise ValueError(f"{file} gives {given} rows for {n:,}: a query must give one for each row")
    return found


def _compare_reasons(found: Rows, own: Rows, names: Sequence[str]) -> str:
    """Where reasons are others than those of a query that is written now, which Python's are."""
    for name in names:
        for given, row in zip(found, own, strict=True):
            if not _is_near(given.get(name), row[name]):
                return f"{name} is {given.get(name)!r}, not {row[name]!r}"
    return ""


def _is_near(given: Any, own: Any) -> bool:
    if isinstance(own, float) and isinstance(given, float):
        return abs(given - own) <= TOLERANCE * max(abs(own), 1.0)
    return bool(given == own)


def _pick(file: Path, found: Rows, names: Sequence[str]) -> Floats:
    """Columns of what a file says, by name."""
    for name in names:
        if name not in found[0]:
            raise ValueError(
                f"{file} has no output {name!r}, which the model has; its outputs are {[*found[0]]}"
            )
    return np.array([[row[name] for name in names] for row in found], dtype=np.float64)


RUNNERS: dict[str, Callable[[Path, Formula, ExpectedOutput, str | None], ExportOutput]] = {
    ".sql": _run_sql,
    ".xlsx": _run_xlsx,
    ".pmml": _run_pmml,
    ".xml": _run_pmml,
    ".onnx": _run_onnx,
    ".py": _run_python,
    ".json": _run_json,
}
