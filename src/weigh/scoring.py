"""Scores of tables: in memory, part by part, and written to files.

Scores stand beside the columns of a table, or go to Parquet, CSV, JSON Lines or a folder, table
after table.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from inspect import signature
from pathlib import Path
from typing import Any, TypeAlias

import pyarrow as pa
from pyarrow import compute, csv, parquet

from weigh.engine import report
from weigh.errors import Parameter, ParameterError
from weigh.evidence import check_model
from weigh.evidence.exposure import check_numbers, given_to
from weigh.frames import (
    Scan,
    Table,
    add_columns,
    did_you_mean,
    find_far,
    is_dataframe,
    is_sparse,
    list_names,
    read,
    spell_unions,
    to_arrow,
    wrap,
)
from weigh.parameters import is_number
from weigh.sheet import reason_columns
from weigh.writing import make_folder, open_whole, refuse_inputs

PART = 1 << 22
"""Largest number of rows in one file of a folder."""


FORMULA = r"^[=+\-@\t\r\n]"
"""Beginnings of text that a spreadsheet would run as a formula."""


def write_scores(tables: Iterable[Any], path: str, spreadsheet: bool = False) -> int:
    """Write tables one after the other; return the number of rows.

    A path that ends in .parquet, .csv or .tsv (or .csv.gz) is a file, `-` standard output, anything
    else a folder of Parquet files. `spreadsheet` puts an apostrophe before text that a spreadsheet
    would run as a formula.
    """
    tables = map(spell_unions, tables)
    if spreadsheet:
        tables = map(escape_formulas, tables)
    if path == "-":
        return _write(tables, pa.PythonFile(sys.stdout.buffer, mode="w"), "csv")
    kind = _kind(path)
    if kind is None:
        with make_folder(path) as folder:
            return _write_parts(tables, folder)
    compression = "gzip" if path.endswith(".gz") else None
    with open_whole(path) as file, pa.output_stream(file, compression=compression) as sink:
        return _write(tables, sink, kind)


def escape_formulas(table: Any) -> Any:
    """Put an apostrophe before names and text that a spreadsheet would run as a formula."""

    def escape(values: Any) -> Any:
        if not (pa.types.is_string(values.type) or pa.types.is_large_string(values.type)):
            return values
        quoted = compute.binary_join_element_wise(pa.scalar("'", values.type), values, "")
        return compute.if_else(compute.match_substring_regex(values, FORMULA), quoted, values)

    names = escape(pa.array(table.column_names, pa.string())).to_pylist()
    columns = [
        column.cast(pa.string()) if pa.types.is_dictionary(column.type) else column
        for column in table.columns
    ]
    return pa.table([*map(escape, columns)], names=names)


def write_lines(tables: Iterable[Any], path: str) -> int:
    """Write tables one after the other as JSON Lines; return the number of rows."""

    def lines(table: Any) -> Iterator[str]:
        for row in json_rows(table):
            yield json.dumps(row, ensure_ascii=False, default=str) + "\n"

    if path == "-":
        return _write_text(tables, sys.stdout.buffer, lines)
    with open_whole(path) as file:
        return _write_text(tables, file, lines)


def _write_text(tables: Iterable[Any], file: Any, lines: Callable[[Any], Iterable[str]]) -> int:
    n_rows = 0
    for table in tables:
        file.writelines(line.encode("utf-8", errors="backslashreplace") for line in lines(table))
        n_rows += table.num_rows
    file.flush()
    return n_rows


def json_rows(table: Any) -> list[dict[str, Any]]:
    """Rows as dicts for JSON, without NaN and infinity, which JSON does not have."""

    def value(cell: Any) -> Any:
        return None if isinstance(cell, float) and cell - cell != 0 else cell

    return [{name: value(cell) for name, cell in row.items()} for row in table.to_pylist()]


def _kind(path: str) -> str | None:
    name = path.removesuffix(".gz")
    kinds = {"parquet": (".parquet", ".pq"), "csv": (".csv",), "tsv": (".tsv", ".tab")}
    found = next((kind for kind, ends in kinds.items() if name.endswith(ends)), None)
    if found is None and Path(path.rstrip("/")).suffix:
        raise ValueError(
            f"{path}: the name must end in .csv, .tsv or .parquet (or .csv.gz), or have no ending "
            "for a folder"
        )
    return None if path.endswith("/") else found


def _write(tables: Iterable[Any], sink: Any, kind: str) -> int:
    n_rows = 0
    with ExitStack() as stack:
        writer: Any = None
        for table in tables:
            writer = writer or stack.enter_context(_open(sink, table.schema, kind))
            writer.write_table(table)
            n_rows += table.num_rows
    sink.flush()
    return n_rows


def _open(sink: Any, schema: Any, kind: str) -> Any:
    if kind == "parquet":
        return parquet.ParquetWriter(sink, schema)
    delimiter = "\t" if kind == "tsv" else ","
    return csv.CSVWriter(sink, schema, write_options=csv.WriteOptions(delimiter=delimiter))


def _write_parts(tables: Iterable[Any], folder: Path) -> int:
    """Write tables to numbered files of at most `PART` rows; larger tables are divided."""
    n_rows, n_files, room = 0, 0, 0
    writer: Any = None
    with ExitStack() as stack:
        for whole in tables:
            for start in range(0, max(whole.num_rows, 1), PART):
                table = whole.slice(start, PART)
                if writer is None or table.num_rows > room:
                    stack.close()
                    file = stack.enter_context(open_whole(folder / f"part-{n_files:05}.parquet"))
                    writer = stack.enter_context(parquet.ParquetWriter(file, table.schema))
                    n_files, room = n_files + 1, PART
                writer.write_table(table)
                n_rows, room = n_rows + table.num_rows, room - table.num_rows
    return n_rows


Columns: TypeAlias = Callable[[Any, Table], dict[str, Any]]


def score_table(
    model: Any,
    X: Any,
    path: str | Path | None = None,
    *,
    keep: Sequence[str] | None = None,
    reasons: int = 0,
    spreadsheet: bool = False,
    exposure: Any = None,
    times: Any = None,
) -> Any:
    """Predict every row of a table: class, total weight of evidence, probabilities.

    Parameters
    ----------
    model : fitted estimator of this package
        The model.
    X : table
        Any table. A scan is read and written batch by batch.
    path : str, optional
        File to write, ending in .parquet, .csv, .csv.gz or .tsv, or a folder. It appears when all
        rows are written.
    keep : list of str, optional
        Columns of X to keep beside the scores. Default: all, or none in a file.
    reasons : int, default=0
        Number of features to name per row, with their weights: those with the largest absolute
        weights or, for a scorecard, those that cost most points.
    spreadsheet : bool, default=False
        Whether, in a file, an apostrophe protects text that a spreadsheet would run as a formula:
        text that begins with `=`, `+`, `-`, `@`, a tab or a line break.
    exposure : str or number, optional
        For a regressor with a log link: the column by which estimates are multiplied, or one number
        for all rows. Default: the column that the model was fitted with. A missing value is 1, with
        a warning.
    times : float or list of float, optional
        For a survival model: times to give the probability of survival to, each as a column such as
        `survival_365`.

    Returns
    -------
    table or int
        The kept columns and the scores, in the library of X; with a path, the number of rows
        written. A table in memory without rows gives the same columns without rows.

    Examples
    --------
    >>> import weigh
    >>> from weigh.datasets import titanic
    >>> people = titanic()
    >>> model = weigh.EvidenceNB().fit(people, "Survived")
    >>> weigh.score_table(model, people, keep=["Sex"]).column_names
    ['Sex', 'prediction', 'log_odds', 'probability_No', 'probability_Yes']
    """
    check_model(model)
    if isinstance(keep, str):
        raise ParameterError(Parameter("keep"), f" must be a list of columns: [{keep!r}]")
    far = find_far(X)
    if far is not None:
        if path is not None:
            raise ValueError(
                "Spark writes its own files: score_table(model, df).write.parquet(path)"
            )
        with_times(model, {}, times)
        given = _find_given(model, tuple(X.columns), exposure)
        _refuse_array(given)
        if given:
            check_numbers(model.evidence_, given)
        return far.score(model, X, keep, reasons, given)
    if is_sparse(X):
        raise ValueError("a sparse matrix has no columns beside which to write: use predict_proba")
    frame = wrap(X)
    table = read(X if frame is None else frame.to_native(), allow_empty=True)
    given = with_times(model, _find_given(model, table.names, exposure), times)
    if frame is None or path is not None:  # a data frame keeps its columns
        table = _name_columns(table, keep or (), given)
    columns = partial(score_columns, reasons=reasons, given=given)
    if path is None:
        if isinstance(table, Scan):
            raise ValueError("a scan may be larger than memory: give the path of a file to write")
        return _beside(model, table, frame, keep, columns)
    kept = _check(table, keep or ())
    if isinstance(table, Scan):
        refuse_inputs(path, table.files)
    parts = score_parts(model, table, kept, columns, given)
    return write_scores(parts, str(path), spreadsheet)


def _find_given(model: Any, names: Sequence[str], exposure: Any) -> dict[str, Any]:
    """Exposure and offset of a regressor; raise an error for models without an exposure."""
    given = given_to(model, names, exposure)
    if given and "exposure" not in signature(model._score_columns).parameters:
        raise ParameterError(
            Parameter("exposure"),
            f" is not for {type(model).__name__}, which has none; leave it out",
        )
    return given


def _refuse_array(given: dict[str, Any]) -> None:
    """Raise an error for an array beside a table on Spark, whose rows have no order."""
    for role, value in given.items():
        if not (isinstance(value, str) or is_number(value)):
            raise ParameterError(
                Parameter(role), " must be the name of a column or a number for a table on Spark"
            )


def with_times(model: Any, given: dict[str, Any], times: Any) -> dict[str, Any]:
    """Add `times` to the arguments of a survival model; raise an error for other models."""
    if times is None:
        return given
    if not hasattr(model, "predict_survival"):
        raise ParameterError(
            Parameter("times"),
            f" need a survival model, but this is {type(model).__name__}; leave them out",
        )
    return given | {"times": times}


def _name_columns(table: Table, keep: Sequence[str], given: dict[str, Any] | None) -> Table:
    """Give an empty list the columns that are asked for."""
    if table.n_rows or table.names:
        return table
    beside = (name for name in (given or {}).values() if isinstance(name, str))
    return replace(table, partial=True).select((*dict.fromkeys((*keep, *beside)),))


def score_columns(
    model: Any, table: Table, reasons: int = 0, given: dict[str, Any] | None = None
) -> dict[str, Any]:
    """Predictions for every row of a table, and some reasons, as columns."""
    found: dict[str, Any] = model._score_columns(table, **(given or {}))
    return found | reason_columns(model, model._read(table), reasons) if reasons else found


def _check(table: Table, keep: Sequence[str]) -> tuple[str, ...]:
    for name in keep:
        if name not in table.names:
            held, meant = list_names(table.names), did_you_mean(name, table.names)
            raise ValueError(f"the table has no column {name!r}; it holds {held}{meant}")
    return tuple(keep)


def score_parts(
    model: Any,
    X: Any,
    keep: tuple[str, ...],
    columns: Columns | None = None,
    given: dict[str, Any] | None = None,
) -> Iterator[Any]:
    """Yield the scores of a table, or other columns computed from it, as Arrow tables, in parts.

    `given` holds the exposure and offset of a regressor, or the times of a survival model.
    """
    table = _name_columns(read(X, allow_empty=True), keep, given)
    beside = [name for name in (given or {}).values() if isinstance(name, str)]
    columns = columns or partial(score_columns, given=given)
    if not isinstance(table, Scan):
        yield _join(_kept(table, keep), columns(model, table))
        return
    names = tuple(dict.fromkeys((*model._match(table).names, *keep, *beside)))
    done = 0
    for batch in table.select(names).batches():
        yield _join(_kept(batch, keep), columns(model, batch))
        done += batch.n_rows
        report(done, table.n_rows)


def _kept(table: Table, keep: Sequence[str]) -> dict[str, Any]:
    return {name: to_arrow(table.source(table.names.index(name))) for name in keep}


def _join(kept: dict[str, Any], scores: dict[str, Any]) -> Any:
    _refuse_same([*kept], scores)
    table = pa.table(kept | scores)
    empty = {f.name for f in table.schema if pa.types.is_null(f.type)} - {*kept}  # reasons
    fields = [f.with_type(pa.string()) if f.name in empty else f for f in table.schema]
    return table.cast(pa.schema(fields))


def _beside(
    model: Any, table: Table, frame: Any, keep: Sequence[str] | None, columns: Columns
) -> Any:
    """Scores of a table in memory, in the dataframe library of the table."""
    scores = columns(model, table)
    if not is_dataframe(frame):
        return _join(_kept(table, _check(table, keep or ())), scores)
    names = table.names if keep is None else _check(table, keep)
    _refuse_same(names, scores)
    return add_columns(frame, names, scores)


def _refuse_same(names: Sequence[str], scores: dict[str, Any]) -> None:
    for name in names:
        if name in scores:
            raise ValueError(
                f"column {name!r}: the scores have a column of that name; rename yours"
            )
