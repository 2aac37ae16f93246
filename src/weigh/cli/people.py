"""The commands that make pages for people. Each imports what it needs when it runs."""

from __future__ import annotations

import click

from weigh.cli.commands import main
from weigh.cli.options import model_argument
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
