"""A table with its scores beside it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, TypeAlias

import pyarrow as pa

from weigh.engine import report
from weigh.evidence import Model
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
from weigh.scoring.files import write_scores
from weigh.sheet import find_reasons
from weigh.writing import refuse_inputs

Columns: TypeAlias = Callable[[Any, Table], dict[str, Any]]


def score_table(
    model: Any,
    X: Any,
    path: str | Path | None = None,
    *,
    keep: Sequence[str] | None = None,
    reasons: int = 0,
) -> Any:
    """Predict every row: class, total weight of evidence, probabilities.

    Parameters
    ----------
    model : fitted estimator of this package
        What scores.
    X : table
        Any table. What `weigh.scan` opens is read and written batch by batch.
    path : str, optional
        Where to write: a name that ends in .parquet, .csv, .csv.gz or .tsv, or a folder. It is
        there when all rows are written, and not before.
    keep : list of str, optional
        Columns of X to have beside the scores: all, or, in a file, none, unless it is given.
    reasons : int, default=0
        How many of the heaviest features of each row to name, with their weights: at most one for
        each feature.

    Returns
    -------
    table or int
        The columns that are kept and the scores, in the library of X; or, with a path, how many
        rows were written.

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
        return far.score(model, X, keep, reasons)
    frame = wrap(X)
    table = read(X if frame is None else frame.to_native())
    if path is None:
        if isinstance(table, Scan):
            raise ValueError("a scan may be larger than memory: give the path of a file to write")
        return _beside(model, table, frame, keep, _with_reasons(reasons))
    kept = _check(table, keep or ())
    if isinstance(table, Scan):
        refuse_inputs(path, table.files)
    return write_scores(score_parts(model, table, kept, _with_reasons(reasons)), str(path))


def score_columns(model: Model, table: Table) -> dict[str, Any]:
    """What a model says of every row of a table, as columns."""
    return model._score_columns(table)


def _with_reasons(n: int) -> Columns:
    """Scores, and the heaviest features of each row."""
    if not n:
        return score_columns

    def columns(model: Any, table: Table) -> dict[str, Any]:
        found = find_reasons(model.evidence_, model._read(table), n)
        return score_columns(model, table) | found.columns()

    return columns


def _check(table: Table, keep: Sequence[str]) -> tuple[str, ...]:
    for name in keep:
        if name not in table.names:
            held, meant = list_names(table.names), did_you_mean(name, table.names)
            raise ValueError(f"the table has no column {name!r}; it holds {held}{meant}")
    return tuple(keep)


def score_parts(
    model: Any, X: Any, keep: tuple[str, ...], columns: Columns = score_columns
) -> Iterator[Any]:
    """The scores of a table, or other columns of it, part by part, as Arrow has it."""
    table = read(X)
    if not isinstance(table, Scan):
        yield _join(_kept(table, keep), columns(model, table))
        return
    names = tuple(dict.fromkeys((*model._match(table).names, *keep)))
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
    fields = [f.with_type(pa.string()) if _is_empty(f, kept) else f for f in table.schema]
    return table.cast(pa.schema(fields))


def _is_empty(field: Any, kept: dict[str, Any]) -> bool:
    """Whether it is a column of reasons of which these rows have none."""
    return pa.types.is_null(field.type) and field.name not in kept


def _beside(
    model: Any, table: Table, frame: Any, keep: Sequence[str] | None, columns: Columns
) -> Any:
    """The scores of a table in memory, in its own library."""
    scores = columns(model, table)
    if not is_dataframe(frame):
        return _join(_kept(table, _check(table, keep or ())), scores)
    names = table.names if keep is None else _check(table, keep)
    _refuse_same(names, scores)
    return add_columns(frame, names, scores)


def _refuse_same(names: Sequence[str], scores: dict[str, Any]) -> None:
    for name in names:
        if name in scores:
            raise ValueError(f"column {name!r}: the scores have one of that name; rename yours")
