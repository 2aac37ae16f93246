"""The commands that make pages, serve and export models. They import what they need as they run."""

from __future__ import annotations

import os
import sys
from shlex import quote
from typing import Any

import click

from weigh.cli import options
from weigh.cli.data import (
    check_output,
    count_rows,
    find_class,
    outcome_of,
    read_any,
    read_evaluated,
    read_labels,
    read_with_target,
    tell_class,
    with_entry,
)
from weigh.cli.group import hint, main, say
from weigh.cli.training import read_exposure


@main.command()
@options.model
@options.output("The HTML file to write.")
@options.option(
    "--question COL TEXT",
    "Question to ask in place of the column's name (repeatable).",
    to="questions",
    multiple=True,
    callback=lambda ctx, param, given: dict(given),
)
@options.pos_label
@options.adverse
@options.labels
@options.option(
    "--cut-off P|SCORE",
    "Probability above which the page shows the decision ABOVE, or lowest approved score of a "
    "scorecard.",
    type=float,
)
@options.option(
    "--decision ABOVE BELOW",
    "Texts to show above and below the cut-off (default: above, not above).",
    to="decisions",
)
@options.option("--title", "Heading of the page.")
def calculator(model: str, output: str, **asked: Any) -> None:
    """Write a calculator: an HTML page with a form.

    It shows the balance sheet as answers are given.
    The file needs no network and sends nothing.

    Example: weigh calculator model.json -o calculator.html
    """
    import weigh
    from weigh.pages.model import read_subject

    check_output(output, model)
    fitted = read_any(model, tables=True)
    read_subject(fitted)
    asked |= {name: find_class(fitted, asked[name]) for name in ("pos_label", "adverse")}
    weigh.calculator(fitted, path=output, **asked | {"labels": read_labels(asked["labels"])})
    say(f"calculator of {type(fitted).__name__}: {output}")


@main.command()
@options.model
@options.data
@options.output("The HTML file to write.")
@options.target
@options.by
@options.cost
@options.pos_label
@options.adverse
@options.labels
@options.weight
@options.exposure
@options.event
@options.duration
@options.entry
@options.times
@options.profit
@options.score_cut_off
@options.option("--examples", "Number of rows to explain.", least=0, default=4)
@options.option("--title", "Heading of the page.")
def report(
    model: str,
    data: str,
    output: str,
    target: str | None,
    exposure: str | None,
    event: str | None,
    duration: str | None,
    entry: str | None,
    **asked: Any,
) -> None:
    """Write an HTML report about a model.

    Use rows that the model was not fitted to.

    The page has weights with intervals, measures of performance, charts, costs by cut-off,
    groups, some rows explained, and the exact formula. It works offline and runs no script.

    Example: weigh report model.json people.csv --target Survived -o report.html

    Example: weigh report card.json loans.csv --target class --profit 100 -900 -o report.html
    """
    import weigh
    from weigh.evaluation.findings import find_training_rows, tell_training_rows
    from weigh.layout import count_of
    from weigh.pages.model import read_subject

    check_output(output, model, data)
    fitted = read_any(model, times=True)
    y: Any = outcome_of(fitted, event, duration, entry)
    if y is None:
        read_subject(fitted)
        table, y = read_with_target(fitted, data, target)
        asked["pos_label"] = tell_class(fitted, asked["pos_label"], asked["costs"])
        asked["adverse"] = find_class(fitted, asked["adverse"])
    elif target is not None:
        raise click.UsageError(f"{model} is a survival model: leave out --target")
    else:
        table = read_evaluated(fitted, data)
        y = with_entry(fitted, y, table, entry)
    asked |= read_exposure(fitted, exposure) | {"labels": read_labels(asked["labels"])}
    weigh.report(fitted, table, y, path=output, **asked)
    say(f"report of {type(fitted).__name__} on {count_of(count_rows(table), 'row')}: {output}")
    told = tell_training_rows(find_training_rows(fitted, table))
    if told:
        say(told)


@main.command()
@options.model
@options.option(
    "--host", "Address to listen on; the default is this machine only.", default="127.0.0.1"
)
@options.option(
    "--port", "Port; 0 takes any free port.", type=click.IntRange(0, 65535), default=8000
)
@options.option("--most-rows", "Maximum number of rows in a request.", least=1, default=1000)
@options.option("--most-bytes", "Maximum size of a request in bytes.", least=1, default=1 << 20)
@options.option(
    "--allow-host NAME",
    "Host name that requests may use, such as scores.example.org; * allows all. localhost and IP "
    "addresses are always allowed (repeatable).",
    to="allow_hosts",
    multiple=True,
)
@options.option("--workers", "Number of processes that answer requests.", least=1, default=1)
@options.option("--quiet", "Do not log requests.", is_flag=True)
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


@main.command()
@options.model
@options.option("--to", "Format to write.", among="sql xlsx pmml onnx python json", required=True)
@options.option("-o --output FILE", "Where to write it.", default="-")
@options.option(
    "--dialect",
    "SQL dialect (default: duckdb).",
    among="duckdb postgres sqlite spark bigquery snowflake tsql mysql",
)
@options.option("--table", "SQL: the table to read.", default="rows")
@options.option("--keep COL", "SQL: a column to copy (repeatable).", multiple=True)
@options.option("--contributions", "SQL: one column for the weight of each feature.", is_flag=True)
@options.option(
    "--reasons N",
    "SQL: name the N features with the largest weights.",
    show_default=False,
    type=click.IntRange(0),
    default=0,
)
def export(model: str, to: str, output: str, **options: Any) -> None:
    """Export a model to SQL, Excel, PMML, ONNX or Python.

    MODEL is the file of a model or of a scorecard.

    Example: weigh export model.json --to sql --dialect duckdb -o score.sql
    """
    import weigh

    check_output(output, model)
    check_ending(to, output)
    loaded = read_any(model, times=True, tables=to != "json")
    fitted = hazard_of(loaded, to)
    for name in options["keep"]:
        advise_keep(name, fitted)
    if output != "-":
        weigh.export(fitted, to, path=output, **options)
        dialect = f" ({options['dialect'] or 'duckdb; --dialect names another'})"
        form = to + dialect * (to == "sql")
        say(f"{type(loaded).__name__} exported to {form}: {output}")
        if hasattr(fitted, "classes_"):
            hint(f"weigh check {quote(output)} {quote(model)}")
        return
    written = weigh.export(fitted, to, **options)
    if isinstance(written, bytes):
        if sys.stdout.isatty():
            raise click.UsageError(f"--to {to} writes a binary file; name it with -o")
        sys.stdout.buffer.write(written)
    else:
        click.echo(written, nl=False)


def hazard_of(found: Any, to: str | None = None) -> Any:
    """The model to export; of a survival model its hazard, as a classifier of periods."""
    if not hasattr(found, "predict_survival") or to == "json":
        return found
    if to is not None:
        event, time = found.event_name_, found.time_name_
        say(
            f"note: the export gives the hazard: the probability that {event} comes in the period "
            f"of {time}, given that it has not come before. Give a row for each period: {time} is "
            "its end. Survival is the product of 1 - hazard over the periods so far."
        )
        ends = ", ".join(f"{end:g}" for end in found.period_ends_.tolist())
        hint(f"the periods end at {ends}")
    return found.hazard_


def check_ending(to: str, output: str) -> None:
    """Raise an error if the file's ending does not match the format."""
    from weigh.exports.targets import ENDINGS

    found = os.path.splitext(output)[1].lower()
    if found and found not in ENDINGS[to]:
        wanted = " or ".join(ENDINGS[to])
        raise click.UsageError(f"--to {to} writes {wanted}, and -o {output} ends in {found}")


def advise_keep(name: str, model: Any) -> None:
    """Print a note if a column to keep looks like a misspelt feature."""
    from weigh.evidence import evidence_of
    from weigh.frames import did_you_mean

    known = evidence_of(model).column_names
    meant = did_you_mean(name, known)
    if name not in known and meant:
        say(f"note: --keep {name!r} is not a feature, so it must be a column of the table{meant}")


@main.command()
@click.argument("exported", metavar="EXPORT")
@options.model
@options.option("--dialect NAME", "SQL dialect, if the first line of the file does not name it.")
def check(exported: str, model: str, dialect: str | None) -> None:
    """Check that an exported file gives the model's scores.

    The file is run on test rows that cover every level and boundary.

    SQL needs DuckDB or SQLite, ONNX onnxruntime, PMML pypmml with Java, and a workbook LibreOffice
    (about a minute). SQL is run only if it is a single SELECT, without access to files. Python
    files are executed: check only files that you trust. The exit code is 1 if a number differs by
    more than 1e-9.

    Example: weigh check score.sql model.json
    """
    from weigh.exports.selftest import check as compare

    if exported.endswith(".json") and not model.endswith(".json"):
        exported, model = model, exported  # allow the model first, as in other commands
    fitted = hazard_of(read_any(model, times=True, tables=True))
    try:
        found = compare(exported, fitted, dialect)
    except ImportError as error:
        raise ValueError(str(error)) from None
    except FileNotFoundError:
        raise ValueError(f"no such file: {exported}") from None
    if not found.difference.holds:
        raise ValueError(f"{exported} does not agree with {model}: {found}")
    click.echo(f"{exported} agrees with {model}: {found}")
