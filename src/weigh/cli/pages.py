"""The commands that make pages for people. Each imports what it needs when it runs."""

from __future__ import annotations

from typing import Any

import click

from weigh.cli.commands import main
from weigh.cli.data import (
    find_class,
    keep_apart,
    outcome_of,
    read_any,
    read_labels,
    read_like,
    read_with_target,
    say_training_rows,
    tell_class,
    with_entry,
)
from weigh.cli.messages import say
from weigh.cli.options import (
    adverse_option,
    by_option,
    class_option,
    cost_option,
    data_argument,
    duration_option,
    event_option,
    exposure_option,
    labels_option,
    model_argument,
    profit_option,
    score_option,
    target_option,
    weight_option,
)
from weigh.cli.training import read_exposure


@main.command()
@model_argument
@click.option("-o", "--output", required=True, metavar="FILE", help="The HTML file to write.")
@click.option(
    "--question",
    "questions",
    nargs=2,
    multiple=True,
    metavar="COL TEXT",
    help="Question to ask in place of the column's name (repeatable).",
)
@class_option
@adverse_option
@labels_option
@click.option(
    "--cut-off",
    type=click.FloatRange(0, 1, min_open=True, max_open=True),
    metavar="P",
    help="Probability above which the page shows the decision ABOVE.",
)
@click.option(
    "--decision",
    "decisions",
    nargs=2,
    metavar="ABOVE BELOW",
    help="Texts to show above and below the cut-off (default: above, not above).",
)
@click.option("--title", help="Heading of the page.")
def calculator(
    model: str,
    output: str,
    questions: tuple[tuple[str, str], ...],
    pos_label: str | None,
    adverse: str | None,
    labels: str | None,
    cut_off: float | None,
    decisions: tuple[str, str] | None,
    title: str | None,
) -> None:
    """Write a calculator: an HTML page with a form.

    It shows the balance sheet as answers are given.
    The file needs no network and sends nothing.

    Example: weigh calculator model.json -o calculator.html
    """
    import weigh
    from weigh.pages.model import read_subject

    keep_apart(output, model)
    fitted = read_any(model)
    read_subject(fitted)
    weigh.calculator(
        fitted,
        path=output,
        questions=dict(questions),
        pos_label=find_class(fitted, pos_label),
        adverse=find_class(fitted, adverse),
        labels=read_labels(labels),
        cut_off=cut_off,
        decisions=decisions,
        title=title,
    )
    say(f"calculator of {type(fitted).__name__}: {output}")


@main.command()
@model_argument
@data_argument
@click.option("-o", "--output", required=True, metavar="FILE", help="The HTML file to write.")
@target_option
@by_option
@cost_option
@class_option
@adverse_option
@labels_option
@weight_option
@exposure_option
@event_option
@duration_option
@profit_option
@score_option
@click.option(
    "--examples",
    type=click.IntRange(0),
    default=4,
    show_default=True,
    help="Number of rows to explain.",
)
@click.option("--title", help="Heading of the page.")
def report(
    model: str,
    data: str,
    output: str,
    target: str | None,
    by: str | None,
    cost: tuple[float, float],
    pos_label: Any,
    adverse: str | None,
    labels: str | None,
    weight: str | None,
    exposure: str | None,
    event: str | None,
    duration: str | None,
    profit: tuple[float, float] | None,
    **more: Any,
) -> None:
    """Write an HTML report about a model.

    Use rows that the model was not fitted to.

    The page has weights with intervals, measures of performance, charts, costs by threshold,
    groups, some rows explained, and the exact formula. It works offline and runs no script.

    Example: weigh report model.json people.csv --target Survived -o report.html

    Example: weigh report card.json loans.csv --target class --profit 100 -900 -o report.html
    """
    import weigh
    from weigh.evaluation.findings import find_training_rows
    from weigh.layout import count_of
    from weigh.pages.model import read_subject

    keep_apart(output, model, data)
    fitted = read_any(model, times=True)
    y: Any = outcome_of(fitted, event, duration)
    if y is None:
        read_subject(fitted)
        table, y = read_with_target(fitted, data, target)
        pos_label, adverse = tell_class(fitted, pos_label, cost), find_class(fitted, adverse)
    elif target is not None:
        raise click.UsageError(f"{model} is a survival model: leave out --target")
    else:
        table = read_like(fitted, data)
        y = with_entry(fitted, y, table)
    weigh.report(
        fitted,
        table,
        y,
        path=output,
        sample_weight=weight,
        **read_exposure(fitted, exposure),
        by=by,
        costs=cost,
        pos_label=pos_label,
        adverse=adverse,
        labels=read_labels(labels),
        profit=profit and dict(zip(("good", "bad"), profit, strict=True)),
        **more,
    )
    say(f"report of {type(fitted).__name__} on {count_of(table.num_rows, 'row')}: {output}")
    say_training_rows(fitted, data, find_training_rows(fitted, table))


@main.command()
@model_argument
@click.option(
    "--host",
    default="127.0.0.1",
    show_default=True,
    help="Address to listen on; the default is this machine only.",
)
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=8000,
    show_default=True,
    help="Port; 0 takes any free port.",
)
@click.option(
    "--most-rows",
    type=click.IntRange(1),
    default=1000,
    show_default=True,
    help="Maximum number of rows in a request.",
)
@click.option(
    "--most-bytes",
    type=click.IntRange(1),
    default=1 << 20,
    show_default=True,
    help="Maximum size of a request in bytes.",
)
@click.option(
    "--allow-host",
    "allow_hosts",
    multiple=True,
    metavar="NAME",
    help="Host name that requests may use, such as scores.example.org; * allows all. localhost and "
    "IP addresses are always allowed (repeatable).",
)
@click.option(
    "--workers",
    type=click.IntRange(1),
    default=1,
    show_default=True,
    help="Number of processes that answer requests.",
)
@click.option("--quiet", is_flag=True, help="Do not log requests.")
def serve(model: str, **options: Any) -> None:
    """Serve a model over HTTP: a calculator and a JSON API.

    The API has /score, /explain, /model, /metrics, /healthz, /readyz and /docs. /metrics counts
    the scored rows by level, for Prometheus and for `weigh drift --metrics`.

    Only this machine can reach it unless --host says otherwise. If the model file is replaced, the
    new model is loaded while the old one still answers. SIGHUP reloads at once. The log goes to
    standard error, one JSON object per line.

    Example: weigh serve model.json --port 8000
    """
    from weigh.serving import serve

    serve(model, **options)
