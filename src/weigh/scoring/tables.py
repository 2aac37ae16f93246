"""Tables with their scores as further columns: in memory, or part by part."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from inspect import signature
from pathlib import Path
from typing import Any, TypeAlias

import pyarrow as pa

from weigh.engine import report
from weigh.errors import Parameter, ParameterError
from weigh.evidence.exposure import check_numbers, given_to
from weigh.frames import (
    Scan,
    Table,
    add_columns,
    did_you_mean,
    find_far,
    is_dataframe,
    list_names,
    read,
    to_arrow,
    wrap,
)
from weigh.parameters import is_number
from weigh.scoring.files import write_scores
from weigh.sheet import reason_columns
from weigh.writing import refuse_inputs

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
        text that begins with `=`, `+`, `-`, `@`, a tab or a carriage return.
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
        written.

    Examples
    --------
    >>> import weigh
    >>> from weigh.datasets import titanic
    >>> people = titanic()
    >>> model = weigh.EvidenceNB().fit(people, "Survived")
    >>> weigh.score_table(model, people, keep=["Sex"]).column_names
    ['Sex', 'prediction', 'log_odds', 'probability_No', 'probability_Yes']
    """
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
    frame = wrap(X)
    table = read(X if frame is None else frame.to_native())
    given = with_times(model, _find_given(model, table.names, exposure), times)
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
    table = read(X)
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
