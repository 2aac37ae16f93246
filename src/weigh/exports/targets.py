"""export: a model as a file that runs elsewhere, or a refusal before anything is written."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from weigh.bins import Kind
from weigh.errors import Parameter, ParameterError
from weigh.formula import Formula
from weigh.frames import Value, did_you_mean
from weigh.store import to_json
from weigh.writing import write_bytes, write_text


def read_formula(model: Any) -> Formula:
    """The formula of a model whose rows have a level in every column."""
    formula = Formula.of(model)
    if formula.tokens:
        raise ValueError(
            "a model of documents (event_model='counts') has a column for every token and is not "
            "exported; weigh.save keeps it, and event_model='levels' can be exported"
        )
    return formula


def refuse_mixed(formula: Formula, target: str) -> None:
    """Refuse columns with values of several types, for targets whose columns have one type."""
    for column in formula.inputs:
        if column.kind is Kind.MIXED:
            raise ValueError(
                f"column {column.name!r} holds values of several types, but a column of {target} "
                "holds one; convert it to text before fitting"
            )


def refuse_text(formula: Formula, target: str, is_odd: Callable[[str], bool]) -> None:
    """Refuse names and levels that a target has no way to write."""
    named: dict[str, tuple[Any, ...]] = {
        "a column": formula.column_names,
        "a class": formula.class_names,
    }
    named |= {f"a level of {c.name!r}": c.values for c in formula.inputs}
    costs = () if formula.costs is None else formula.costs.texts
    named["a reason"] = tuple(text for texts in costs for text in texts)
    for what, texts in named.items():
        for text in texts:
            if isinstance(text, str) and is_odd(text):
                raise ValueError(
                    f"{what} is called {text!r}, which {target} cannot write; replace the "
                    "character before fitting"
                )


def refuse_inexact(formula: Formula, target: str) -> None:
    """Refuse whole numbers from 2^53 on, for targets whose numbers are doubles."""
    for column in formula.inputs:
        for value in column.values:
            if is_large(value):
                raise ValueError(
                    f"column {column.name!r} has the level {value}, but {target} cannot represent "
                    "whole numbers from 2^53 on exactly; convert the column to text before "
                    "fitting"
                )


def is_large(value: Value) -> bool:
    """Whether a double cannot represent a whole number exactly: 2^53 + 1 becomes 2^53."""
    return type(value) is int and abs(value) >= 2**53


def is_no_unicode(text: str) -> bool:
    """Whether text has a lone surrogate, which no file can store."""
    return any("\ud800" <= c <= "\udfff" for c in text)


ENDINGS = {
    "sql": (".sql",),
    "xlsx": (".xlsx",),
    "pmml": (".pmml", ".xml"),
    "onnx": (".onnx",),
    "python": (".py",),
    "json": (".json",),
}
"""The usual endings of the files of each target."""

TARGETS = tuple(ENDINGS)


@dataclass(frozen=True)
class SqlOptions:
    """Options of SQL exports only."""

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
    """Export a model as SQL, Excel, PMML, ONNX, Python or JSON.

    Each export computes::

        total = prior + sum over features of the weight of the row's level

    It gives the total, and the probability or estimate, of Python to 1e-9, on rows that cover every
    level, boundary, missing and unseen value.

    Parameters
    ----------
    model : classifier, EducatedRegressor, Evidence or Scorecard
        Any model with tables of weights.
    to : "sql", "xlsx", "pmml", "onnx", "python" or "json"
        A query, a workbook with formulas, PMML 4.4, an ONNX graph, a function without dependencies,
        or the file that `weigh.load` reads.
    path : path, optional
        File to write; without it the export is returned. It may not have the ending of another
        format.
    dialect : str, default="duckdb"
        SQL dialect: duckdb, postgres, sqlite, spark, bigquery, snowflake, tsql or mysql.
    table : str, default="rows"
        SQL: name of the table to read.
    keep : list of str
        SQL: columns of the table to copy.
    contributions : bool, default=False
        SQL: whether the weight of every feature is a column.
    reasons : int, default=0
        SQL: number of the heaviest features to name, as in `weigh.reasons`.

    Returns
    -------
    str, bytes or None
        The text (bytes for xlsx and onnx), unless a path is given.

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
        told = f" must be one of {', '.join(TARGETS)}, got {to!r}{did_you_mean(to, TARGETS)}"
        raise ParameterError(Parameter("to"), told)
    if path is not None:
        _refuse_ending(to, path)
    written = render(model, to, SqlOptions(dialect, table, keep or (), contributions, reasons))
    if path is None:
        return written
    if isinstance(written, bytes):
        write_bytes(written, path)
    else:
        write_text(written, path)
    return None


def _refuse_ending(to: str, path: str | os.PathLike[str]) -> None:
    """Refuse a file whose ending is that of another target."""
    found = os.path.splitext(os.fspath(path))[1].lower()
    other = next((name for name, own in ENDINGS.items() if found in own), to)
    if other != to:
        wanted = " or ".join(ENDINGS[to])
        raise ParameterError(
            Parameter("path"),
            f" ends in {found}, which is that of {other!r}, but {to!r} writes {wanted}: change one",
        )


def render(model: Any, to: str, options: SqlOptions) -> Any:
    """The text or bytes of an export."""
    if to == "sql":
        from weigh.exports import sql  # which builds on this module

        asked = vars(options) | {"dialect": options.dialect or "duckdb"}
        return sql.plan(read_formula(model), **asked).text
    if options != SqlOptions():
        given = [
            name for name, value in vars(options).items() if value != getattr(SqlOptions, name)
        ]
        raise ParameterError(
            Parameter(given[0]),
            " is an option of ",
            Parameter("to", "sql"),
            ", not of ",
            Parameter("to", to),
            "; leave it out",
        )
    if to == "json":
        return _json(model)
    return import_module(f"weigh.exports.{to}").write(read_formula(model))


def _json(model: Any) -> str:
    if hasattr(model, "to_json"):
        return model.to_json()  # type: ignore[no-any-return]
    from weigh.base import TableEstimator  # which loads scikit-learn

    if not isinstance(model, TableEstimator):
        raise ValueError(
            f"to='json' takes a fitted model of this package, got {type(model).__name__}"
        )
    model._column_names()
    return to_json(model)
