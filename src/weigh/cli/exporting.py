"""The commands that export models and check exports. Each imports what it needs when it runs."""

from __future__ import annotations

import os
import sys
from typing import Any

import click

from weigh.cli.commands import main
from weigh.cli.data import keep_apart, read_any
from weigh.cli.messages import hint, say
from weigh.cli.options import model_argument


@main.command()
@model_argument
@click.option(
    "--to",
    required=True,
    type=click.Choice(["sql", "xlsx", "pmml", "onnx", "python", "json"]),
    help="Format to write.",
)
@click.option("-o", "--output", default="-", metavar="FILE", help="Where to write it.")
@click.option(
    "--dialect",
    type=click.Choice(
        ["duckdb", "postgres", "sqlite", "spark", "bigquery", "snowflake", "tsql", "mysql"]
    ),
    help="SQL dialect (default: duckdb).",
)
@click.option("--table", default="rows", show_default=True, help="SQL: the table to read.")
@click.option("--keep", multiple=True, metavar="COL", help="SQL: a column to copy (repeatable).")
@click.option(
    "--contributions", is_flag=True, help="SQL: one column for the weight of each feature."
)
@click.option(
    "--reasons",
    type=click.IntRange(0),
    default=0,
    metavar="N",
    help="SQL: name the N features with the largest weights.",
)
def export(model: str, to: str, output: str, **options: Any) -> None:
    """Export a model to SQL, Excel, PMML, ONNX or Python.

    MODEL is the file of a model or of a scorecard.

    Example: weigh export model.json --to sql --dialect duckdb -o score.sql
    """
    import weigh

    keep_apart(output, model)
    check_ending(to, output)
    fitted = read_hazard(model, to)
    for name in options["keep"]:
        advise_keep(name, fitted)
    if output != "-":
        weigh.export(fitted, to, path=output, **options)
        say(f"{type(fitted).__name__} exported to {to}: {output}")
        if hasattr(fitted, "classes_"):
            hint(f"weigh check {output} {model}")
        return
    written = weigh.export(fitted, to, **options)
    if isinstance(written, bytes):
        if sys.stdout.isatty():
            raise click.UsageError(f"--to {to} writes a binary file; name it with -o")
        sys.stdout.buffer.write(written)
    else:
        click.echo(written, nl=False)


def read_hazard(path: str, to: str | None = None) -> Any:
    """Load a model to export; for a survival model its hazard, as a classifier of periods."""
    found = read_any(path, times=True)
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


ENDINGS = {
    "sql": (".sql",),
    "xlsx": (".xlsx",),
    "pmml": (".pmml", ".xml"),
    "onnx": (".onnx",),
    "python": (".py",),
    "json": (".json",),
}


def check_ending(to: str, output: str) -> None:
    """Raise an error if the file's ending does not match the format."""
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
@model_argument
@click.option(
    "--dialect", metavar="NAME", help="SQL dialect, if the first line of the file does not name it."
)
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
    fitted = read_hazard(model)
    try:
        found = compare(exported, fitted, dialect)
    except ImportError as error:
        raise ValueError(str(error)) from None
    except FileNotFoundError:
        raise ValueError(f"no such file: {exported}") from None
    if not found.difference.holds:
        raise ValueError(f"{exported} does not agree with {model}: {found}")
    click.echo(f"{exported} agrees with {model}: {found}")
