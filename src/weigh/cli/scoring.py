"""The commands that score and explain rows. Each imports what it needs when it runs."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import click

from weigh.cli import options
from weigh.cli.data import (
    check_column,
    column_names,
    find_class,
    is_card,
    keep_apart,
    read_labels,
    read_like,
    read_scorer,
    read_table_of,
    take_row,
)
from weigh.cli.group import main, print_found, say, say_class, terminal_width
from weigh.cli.training import read_exposure
from weigh.progress import show_progress

spreadsheet_option = options.option(
    "--spreadsheet",
    "Put an apostrophe before text that a spreadsheet would run as a formula.",
    is_flag=True,
)


@main.command()
@options.model
@options.option("--feature NAME", "Show one feature only.")
@options.option("--all", "Print every bin, level and table.", to="every", is_flag=True)
@options.option("--about", "Print where the model comes from instead.", is_flag=True)
@options.as_json
def show(model: str, feature: str | None, every: bool, about: bool, as_json: bool) -> None:
    """Print the weights of a model, a scorecard or a tree.

    Example: weigh show model.json

    Example: weigh show model.json --about
    """
    if about:
        if feature is not None or every:
            raise click.UsageError("--about prints no tables: leave out --feature and --all")
        _show_about(model, as_json)
        return
    from weigh.evidence import Evidence
    from weigh.store import load_learnt

    shown = read_table_of(model)
    if feature is not None:
        if not isinstance(shown, Evidence):
            kind = "a scorecard is shown whole" if is_card(shown) else "this model has no tables"
            raise ValueError(f"--feature picks one table, and {kind}; leave it out")
        shown = replace(shown, tables=(shown[shown.own_name(feature)],))
    if as_json:
        from weigh.scoring import json_rows

        click.echo(json.dumps(json_rows(shown.to_frame()), ensure_ascii=False))
    else:
        rows = {"max_rows": None} if every and isinstance(shown, Evidence) else {}
        click.echo(shown.to_text(terminal_width(), **rows))
        own = shown if is_card(shown) else load_learnt(model)
        say_class(own if hasattr(own, "read_off") else shown)


def _show_about(path: str, as_json: bool) -> None:
    """Print the learner, its parameters and the provenance of a model file."""
    from weigh.store import describe

    told = describe(path)
    if as_json:
        click.echo(json.dumps(told, ensure_ascii=False))
        return
    width = max(map(len, told))
    for name, text in told.items():
        click.echo(f"{name:<{width}}  {text}")


@main.command()
@options.model
@options.data
@options.option("-o --output FILE", "CSV, TSV or Parquet to write.", default="-")
@options.option("--keep COL", "A column to copy (repeatable).", multiple=True)
@options.exposure
@options.times
@spreadsheet_option
@options.option("--json", "Print one JSON object per row.", to="as_json", is_flag=True)
def score(
    model: str,
    data: str,
    output: str,
    keep: tuple[str, ...],
    exposure: str | None,
    times: list[float] | None,
    spreadsheet: bool,
    as_json: bool,
) -> None:
    """Predict every row of a table.

    The output has the class, the total weight of evidence and the probabilities. A regression gives
    the estimate and its interval. A survival model gives the median time and the risk, and with
    --times the probability of survival to each time.

    A table without rows gives the header of the output.

    A file larger than 256 MiB, a folder or a glob is read and written batch by batch. A folder or
    a glob needs at least one row. An output without an ending is a folder of Parquet files.

    Example: weigh score model.json people.csv -o scores.csv

    Example: weigh score model.json 'people/*.parquet' -o scores/

    Example: weigh score survival.json patients.csv --times 365,730 -o scores.csv
    """
    from weigh.evidence.exposure import given_to
    from weigh.scoring import score_parts, with_times, write_lines, write_scores

    keep_apart(output, model, data)
    fitted = read_scorer(model, data)
    table = read_like(fitted, data)
    _advise_blanks(fitted, table)
    _advise_unseen(fitted, table)
    kept = _check_kept(table, keep)
    given = given_to(fitted, column_names(table), **read_exposure(fitted, exposure))
    parts = score_parts(fitted, table, kept, given=with_times(fitted, given, times))
    with show_progress("scoring"):
        n_rows = write_lines(parts, output) if as_json else write_scores(parts, output, spreadsheet)
    _say_rows(n_rows, output)


def _advise_blanks(fitted: Any, table: Any) -> None:
    """Print which features have no value in any row, although all training rows had one."""
    if hasattr(table, "batches") or len(table) < 2 or fitted._learnt.event_model == "counts":
        return
    from weigh.layout import list_few

    own = [f for feature in fitted._learnt.features for f in feature.parts if not f.has_missing]
    held = {*column_names(table)}
    names = dict.fromkeys(part.name for part in own if part.name in held)
    if blank := [name for name in names if table[name].null_count == len(table)]:
        several = len(blank) > 1
        shown = list_few([*map(repr, blank)])
        say(
            f"note: column{'s' * several} {shown} {'have' if several else 'has'} no value in any "
            f"of the {len(table):,} rows, but had one in every training row; "
            f"{'they count' if several else 'it counts'} as not known"
        )


def _advise_unseen(fitted: Any, table: Any) -> None:
    """Print the categories of each column that training did not have, such as misspelt ones."""
    if hasattr(table, "batches") or not len(table) or fitted._learnt.event_model == "counts":
        return
    import numpy as np

    from weigh.frames import key, keys, read
    from weigh.layout import list_few

    parts = {part.name: part for feature in fitted._learnt.features for part in feature.parts}
    held, rows = {*column_names(table)}, read(table)
    for name, part in parts.items():
        if name not in held or part.is_numeric or part.other:
            continue
        column, known = rows.codes(name), {*keys(part.values)}
        found = (column.values[code] for code in np.unique(column.codes).tolist())
        if unseen := [repr(v) for v in found if v is not None and key(v) not in known]:
            say(
                f"note: column {name!r} has values that training did not have, which count as not "
                f"known: {list_few(unseen)}"
            )


def _check_kept(table: Any, keep: tuple[str, ...]) -> tuple[str, ...]:
    """The columns to copy; an empty list of objects may be of rows with any columns."""
    return tuple(check_column(table, name) for name in keep) if column_names(table) else keep


def _say_rows(n_rows: int, output: str) -> None:
    """Print how many rows were written to a file."""
    if output != "-":
        say(f"{n_rows:,} row{'s' * (n_rows != 1)}: {output}")


@main.command()
@options.model
@options.data
@options.row
@options.pos_label
@options.option("--against CLASS", "The class to compare with, for more than two classes.")
@options.option(
    "--reasons N",
    "Write the N features with the largest weights of every row, as columns.",
    least=1,
)
@options.option(
    "--only",
    "With --reasons: only weights for the class, or only weights against it.",
    among="for against",
)
@options.option("--keep COL", "With --reasons: a column to copy (repeatable).", multiple=True)
@options.option("-o --output FILE", "With --reasons: the file to write.", default="-")
@options.option(
    "--time T",
    "Survival: explain the hazard at this time, and give the probability of the event by then.",
    type=float,
)
@spreadsheet_option
@options.labels
@options.as_json
def explain(
    model: str,
    data: str,
    row: int,
    pos_label: str | None,
    against: str | None,
    reasons: int | None,
    keep: tuple[str, ...],
    output: str,
    time: float | None,
    labels: str | None,
    as_json: bool,
    **more: Any,
) -> None:
    """Explain one row, or give reasons for every row.

    One row is explained by its balance sheet, or by its path in a tree.

    Example: weigh explain model.json people.csv --row 3

    Example: weigh explain survival.json patients.csv --row 3 --time 365

    The reasons of a scorecard are the features that cost a row most points.

    Example: weigh explain model.json people.csv --reasons 3 -o reasons.csv
    """
    keep_apart(output, model, data)
    fitted = read_scorer(model, data)
    table = read_like(fitted, data)
    _check_time(fitted, time, reasons, labels)
    if reasons is not None:
        if options.is_typed("row"):
            raise click.UsageError(
                "--reasons explains every row and --row explains one; give one of the two"
            )
        label = find_class(fitted, pos_label)
        _write_reasons(fitted, table, reasons, label, keep, output, **more)
        return
    if keep or any(more.values()) or output != "-":
        raise click.UsageError("--only, --keep, --spreadsheet and -o need --reasons N")
    case = take_row(table, row)
    if time is None:
        page = _explain_row(fitted, case, pos_label, against, read_labels(labels))
    else:
        page = fitted._explain_case(case, pos_label, against, time)
    print_found(page, as_json)


def _check_time(model: Any, time: float | None, reasons: int | None, labels: str | None) -> None:
    """Raise an error for --time without a survival model, and for --labels with one."""
    survival = hasattr(model, "predict_survival")
    if time is not None and (reasons is not None or not survival):
        raise click.UsageError("--time explains one row of a survival model")
    if labels is not None and survival:
        raise click.UsageError("--labels is not for survival models; leave it out")


def _write_reasons(
    model: Any,
    table: Any,
    n: int,
    pos_label: Any,
    keep: tuple[str, ...],
    output: str,
    only: str | None,
    spreadsheet: bool,
) -> None:
    """Write the features with the largest weights or costs of every row, as a table."""
    from weigh.scoring import score_parts, write_scores
    from weigh.sheet import reason_columns

    def columns(model: Any, part: Any) -> dict[str, Any]:
        return reason_columns(model, model._read(part), n, pos_label, only)

    kept = _check_kept(table, keep)
    with show_progress("explaining"):
        n_rows = write_scores(score_parts(model, table, kept, columns), output, spreadsheet)
    _say_rows(n_rows, output)


def _explain_row(
    model: Any, row: Any, pos_label: str | None, against: str | None, labels: Any = None
) -> Any:
    """The balance sheet of a row, or its path in a tree, for classes by display name."""
    named = hasattr(model, "classes_")
    chosen = [find_class(model, text) if named else text for text in (pos_label, against)]
    if labels is not None:
        from weigh.evidence import evidence_of, is_sum

        evidence_of(model, is_sum(model))  # an error for models without tables
        if is_sum(model):
            return model._explain_case(row, *chosen, labels=labels)
        return model.balance_sheet(row, *chosen, labels=labels)
    return model._explain_case(row, *chosen)
