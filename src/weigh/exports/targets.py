"""export: a model as a file that runs elsewhere."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from weigh.base import TableEstimator
from weigh.exports.refusals import read_formula
from weigh.store import to_json
from weigh.writing import write_bytes, write_text

TARGETS = ("sql", "xlsx", "pmml", "onnx", "python", "json")


@dataclass(frozen=True)
class SqlOptions:
    """What only a query can be asked for."""

    dialect: str | None = None
    table: str = "rows"
    keep: Sequence[str] = ()
    contributions: bool = False
    reasons: int = 0


def export(
    model: Any,
    to: str,
    *,
    path: str | os.PathLike[str] | None = None,
    dialect: str | None = None,
    table: str = "rows",
    keep: Sequence[str] = (),
    contributions: bool = False,
    reasons: int = 0,
) -> Any:
    """Write a model as something that runs without this package.

    total = prior + sum over features of the weight of the row's level

    in another language, with its numbers: the same total and probability to 1e-9 on rows that visit
    every level, boundary, missing and unseen value.

    Parameters
    ----------
    model : classifier, Evidence or Scorecard
        Anything that ends as a table of weights.
    to : "sql", "xlsx", "pmml", "onnx", "python" or "json"
        A query, a workbook that computes, PMML 4.4, an ONNX graph, a function without dependencies,
        or the file that `weigh.load` reads.
    path : path, optional
        Where to write it; without one it is returned.
    dialect : str, default="duckdb"
        Of SQL: duckdb, postgres, sqlite, spark, bigquery, snowflake, tsql or mysql.
    table : str, default="rows"
        Of SQL: the table to read.
    keep : list of str
        Of SQL: columns of the table to copy.
    contributions : bool, default=False
        Of SQL: every feature's weight as a column.
    reasons : int, default=0
        Of SQL: how many of the heaviest features to name, as `weigh.reasons` does.

    Returns
    -------
    str, bytes or None
        The text (bytes of xlsx and onnx), unless a path is given.

    Examples
    --------
    >>> import weigh
    >>> people = weigh.datasets.titanic()
    >>> model = weigh.EvidenceNB().fit(people, "Survived")
    >>> names = {}
    >>> exec(weigh.export(model, "python"), names)
    >>> girl = {"Class": "3rd", "Sex": "Female", "Age": "Child"}
    >>> round(names["score"](girl)["probabilities"][1], 2)
    0.81
    """
    if to not in TARGETS:
        raise ValueError(f"to must be one of {', '.join(TARGETS)}, got {to!r}")
    written = render(model, to, SqlOptions(dialect, table, keep, contributions, reasons))
    if path is None:
        return written
    if isinstance(written, bytes):
        write_bytes(written, path)
    else:
        write_text(written, path)
    return None


def render(model: Any, to: str, options: SqlOptions) -> Any:
    """The text or bytes of an export."""
    if to == "sql":
        from weigh.exports import sql

        asked = vars(options) | {"dialect": options.dialect or "duckdb"}
        return sql.write(read_formula(model), **asked)
    if options != SqlOptions():
        given = [
            name for name, value in vars(options).items() if value != getattr(SqlOptions, name)
        ]
        raise ValueError(f"{given[0]} is an option of to='sql', not of to={to!r}; leave it out")
    if to == "json":
        return _json(model)
    return import_module(f"weigh.exports.{to}").write(read_formula(model))


def _json(model: Any) -> str:
    if hasattr(model, "to_json"):
        return model.to_json()  # type: ignore[no-any-return]
    if not isinstance(model, TableEstimator):
        raise ValueError(
            f"to='json' takes a fitted model of this package, got {type(model).__name__}"
        )
    model._column_names()
    return to_json(model)
