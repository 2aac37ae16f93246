"""The command that monitors a model in use. It imports what it needs when it runs."""

from __future__ import annotations

from contextlib import nullcontext
from pathlib import Path
from typing import Any

import click

from weigh.cli.commands import main
from weigh.cli.data import (
    check_output,
    column_names,
    keep_apart,
    outcome_of,
    read_any,
    read_like,
    with_entry,
)
from weigh.cli.messages import print_found, say
from weigh.cli.options import (
    duration_option,
    event_option,
    exposure_option,
    json_option,
    model_argument,
    reading_options,
    target_option,
)
from weigh.cli.training import read_exposure

DRIFTED = 3
"""Exit code if drift is found; 1 means an error and 2 a wrong option."""


@main.command()
@model_argument
@click.argument("data", metavar="[DATA]...", nargs=-1)
@reading_options
@target_option
@click.option(
    "--alpha",
    type=click.FloatRange(0, 1, min_open=True, max_open=True),
    default=0.01,
    show_default=True,
    help="The probability of a false alarm, for all checks of one file together.",
)
@click.option(
    "--fail-on",
    type=click.Choice(["notice", "warning", "alarm"]),
    help="Exit with code 3 if drift is of this level or a higher one (default: never).",
)
@click.option(
    "--metrics",
    metavar="FILE",
    help="File with the answer of /metrics of weigh serve, in place of DATA.",
)
@click.option(
    "--reference",
    metavar="DATA",
    help="Training or hold-out rows. Adds the PSI of the totals, relative to these rows.",
)
@exposure_option
@event_option
@duration_option
@click.option("-o", "--output", metavar="FILE.html", help="Also write the result as an HTML page.")
@json_option
@click.pass_context
def drift(
    ctx: click.Context,
    /,
    model: str,
    data: tuple[str, ...],
    target: str | None,
    fail_on: str | None,
    metrics: str | None,
    reference: str | None,
    exposure: str | None,
    event: str | None,
    duration: str | None,
    output: str | None,
    as_json: bool,
    **asked: Any,
) -> None:
    """Compare new rows with the training rows of a model.

    The training rows are not needed, because the model has their counts.

    With --target, calibration and weights are checked, too. For a regression, these are the mean,
    the slope and the deviance. For a survival model, observed events are compared with expected
    ones over time. Name their columns with --event and --duration if they differ from the fit's.

    Example: weigh drift model.json new.csv --fail-on warning

    Several files, such as one per month, are checked one by one. -o draws each check over time.

    Example: weigh drift model.json may.csv june.csv july.csv -o drift.html

    `weigh serve` counts the rows that it scores: curl 127.0.0.1:8000/metrics > metrics.txt

    Example: weigh drift model.json --metrics metrics.txt
    """
    import weigh
    from weigh.writing import write_text

    _check_given(data, metrics, target)
    if output is not None:
        keep_apart(output, model, *data, *filter(None, (metrics, reference)))
        check_output(output)
    fitted = read_any(model, times=True)
    asked |= read_exposure(fitted, exposure)
    asked["reference"] = None if reference is None else read_like(fitted, reference)
    tables = _read_files(fitted, data, target)
    known = _find_known(fitted, tables, target, event, duration)
    if len(tables) > 1:
        found: Any = weigh.drift_series(fitted, tables, known, **asked)
    else:
        rows = next(iter(tables.values()), None)
        found = weigh.drift(fitted, rows, known, metrics=metrics, **asked)
    if output is not None:
        write_text(found.to_html(), output)
    print_found(found, as_json)
    if fail_on is not None and found.reaches(fail_on):
        ctx.exit(DRIFTED)


def _find_known(
    model: Any, tables: dict[str, Any], target: str | None, event: str | None, duration: str | None
) -> Any:
    """The columns of the true outcomes: as given, or those of a survival model's fit."""
    times = outcome_of(model, event, duration)
    if times is None:
        return target
    if target is not None:
        raise click.UsageError("a survival model takes --event and --duration in place of --target")
    having = [table for table in tables.values() if {*times} <= {*column_names(table)}]
    if event is None and duration is None and not _can_compare_events(having):
        return None
    if not tables:
        raise click.UsageError("--metrics has no events: leave out --event and --duration")
    return with_entry(model, times, next(iter(having or tables.values())))


def _can_compare_events(tables: list[Any]) -> bool:
    """Whether there are tables with events, and all are in memory."""
    from weigh.frames import Scan

    if any(isinstance(table, Scan) for table in tables):
        say("note: the events of files that are read in passes are not compared; give a sample")
        return False
    return bool(tables)


def _check_given(data: tuple[str, ...], metrics: str | None, target: str | None) -> None:
    if (not data) == (metrics is None):
        raise click.UsageError("give DATA, a file of new rows, or --metrics FILE")
    if metrics is not None and target is not None:
        raise click.UsageError("--metrics has no classes: leave out --target")
    if data.count("-") > 1:
        raise click.UsageError("standard input (-) can be read only once")
    files = [Path(path).resolve() for path in data]
    twice = next((path for path, file in zip(data, files, strict=True) if files.count(file) > 1), 0)
    if twice:
        raise click.UsageError(f"{twice} is given twice; give each file once")


def _read_files(model: Any, data: tuple[str, ...], target: str | None) -> dict[str, Any]:
    from weigh.errors import begin_with

    tables = {}
    for name, path in _name_files(data).items():
        with begin_with(name) if len(data) > 1 else nullcontext():
            tables[name] = read_like(model, path, target)
    return tables


def _name_files(data: tuple[str, ...]) -> dict[str, str]:
    """Files by their names, without folders if these names differ."""
    names = [Path(path).name for path in data]
    return dict(zip(names if len({*names}) == len(names) else data, data, strict=True))
