"""The commands that make models smaller. Each imports what it needs when it runs."""

from __future__ import annotations

from typing import Any

import click

from weigh.cli.commands import main
from weigh.cli.data import check_output, find_target, keep_apart, read_like
from weigh.cli.messages import say
from weigh.cli.options import data_argument, model_argument, target_option, weight_option
from weigh.progress import show_progress


@main.command()
@model_argument
@data_argument
@click.option("-o", "--output", required=True, metavar="FILE", help="The model to write (JSON).")
@target_option
@click.option(
    "--features",
    type=click.IntRange(1),
    default=8,
    show_default=True,
    help="The largest number of features.",
)
@click.option(
    "--levels",
    type=click.IntRange(2),
    default=6,
    show_default=True,
    help="The largest number of levels of a feature; missing and special codes count.",
)
@click.option(
    "--total-levels",
    type=click.IntRange(2),
    metavar="N",
    help="The largest number of levels of all features together (default: no limit).",
)
@click.option(
    "--pairs",
    type=click.IntRange(0),
    default=0,
    show_default=True,
    help="The largest number of pairs of features with a table of their own.",
)
@weight_option
def simplify(
    model: str,
    data: str,
    output: str,
    target: str | None,
    features: int,
    levels: int,
    total_levels: int | None,
    pairs: int,
    weight: str | None,
) -> None:
    """Fit the best model within a budget of features and levels.

    Use the rows that the model was fitted to. Without --target it is the one column that is no
    feature and holds the model's classes.

    Example: weigh simplify model.json people.csv --target Survived --features 2 -o small.json
    """
    import weigh
    from weigh.store import load_model

    keep_apart(output, model, data)
    check_output(output)
    fitted = load_model(model)
    table = read_like(fitted, data, target)
    if target is None:
        target = find_target(fitted, table)
        say(f"note: {target!r} is taken for the target; --target names another")
    with show_progress("simplify"):
        small = weigh.simplify(
            fitted, table, target, features, levels, total_levels, pairs, sample_weight=weight
        )
    weigh.save(small, output)
    before, after = (_count(one.evidence_) for one in (fitted, small))
    say(f"{output}: {after}, of {before}")


def _count(evidence: Any) -> str:
    """How many features and levels a model has."""
    names = {part.name for table in evidence for part in table.feature.parts}
    levels = sum(len(table.levels) for table in evidence)
    return f"{len(names)} features and {levels} levels"
