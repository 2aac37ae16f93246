"""The commands that make pages for people. Each imports what it needs when it runs."""

from __future__ import annotations

import click

from weigh.cli.commands import main
from weigh.cli.data import find_class, find_target, read_like
from weigh.cli.options import data_argument, model_argument, weight_option
from weigh.cli.words import keep_apart, say


@main.command()
@model_argument
@click.option("-o", "--output", required=True, metavar="FILE", help="The HTML file to write.")
@click.option(
    "--ask-if",
    "branches",
    nargs=3,
    multiple=True,
    metavar="COL OTHER LEVEL",
    help="Ask for a column only where another has a level (repeatable).",
)
@click.option(
    "--question",
    "questions",
    nargs=2,
    multiple=True,
    metavar="COL TEXT",
    help="What to ask in place of a column's name (repeatable).",
)
@click.option("--title", help="The page's heading.")
def calculator(
    model: str,
    output: str,
    branches: tuple[tuple[str, str, str], ...],
    questions: tuple[tuple[str, str], ...],
    title: str | None,
) -> None:
    """Write a model as a form: one HTML file with a live balance sheet.

    It needs no network and no other file, and nothing leaves it.

    Example: weigh calculator model.json -o calculator.html
    """
    import weigh

    keep_apart(model, output)
    fitted = weigh.load(model)
    levels: dict[str, tuple[str, list[str]]] = {}
    for column, other, level in branches:
        levels.setdefault(column, (other, []))[1].append(level)
    weigh.calculator(fitted, output, levels or None, questions=dict(questions), title=title)
    say(f"{type(fitted).__name__} as a form: {output}")


@main.command()
@model_argument
@data_argument
@click.option("-o", "--output", required=True, metavar="FILE", help="The HTML file to write.")
@click.option("--target", metavar="COL", help="The column that holds what came true.")
@click.option("--by", metavar="COL", help="Measure each group of rows too.")
@click.option(
    "--cost",
    nargs=2,
    type=float,
    default=(1.0, 1.0),
    metavar="FP FN",
    help="What a false positive and a false negative cost.",
)
@click.option("--of", "of", metavar="CLASS", help="The class in question.")
@weight_option
@click.option(
    "--examples", type=click.IntRange(0), default=4, show_default=True, help="Rows to explain."
)
@click.option("--title", help="The page's heading.")
def report(
    model: str,
    data: str,
    output: str,
    target: str | None,
    by: str | None,
    cost: tuple[float, float],
    of: str | None,
    weight: str | None,
    examples: int,
    title: str | None,
) -> None:
    """Write what a model is and how good it is: one HTML file, best of rows that it has not seen.

    Weights with bars and intervals, measures, charts, thresholds and costs, groups, a few rows
    explained, and the exact formula. It loads nothing and runs no script.

    Example: weigh report model.json people.csv --target Survived -o report.html
    """
    import weigh
    from weigh.pages.subject import read_subject

    for path in (model, data):
        keep_apart(path, output)
    fitted = weigh.load(model)
    read_subject(fitted)
    table = read_like(fitted, data, target)
    if target is None:
        target = find_target(fitted, table)
        say(f"note: {target!r} is taken for the target; --target names another")
    weigh.report(
        fitted,
        table,
        target,
        output,
        sample_weight=weight,
        by=by,
        costs=cost,
        pos_label=find_class(fitted, of),
        examples=examples,
        title=title,
    )
    say(f"{type(fitted).__name__} on {table.num_rows:,} rows: {output}")
