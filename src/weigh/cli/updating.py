"""The commands that change a model without a new fit. Each imports what it needs when it runs."""

from __future__ import annotations

from typing import Any

import click

from weigh.cli.commands import main
from weigh.cli.data import (
    check_output,
    count_rows,
    find_target,
    keep_apart,
    label_text,
    read_like,
)
from weigh.cli.messages import hint, say
from weigh.cli.options import data_argument, model_argument, target_option, weight_option

output_option = click.option(
    "-o", "--output", required=True, metavar="FILE", help="Where to write the new model."
)


@main.command("set-prior")
@model_argument
@click.argument("rate", type=click.FloatRange(0, 1, min_open=True, max_open=True))
@output_option
def set_prior(model: str, rate: float, output: str) -> None:
    """Set the base rate: the probability of the second of two classes with no feature known.

    Example: weigh set-prior model.json 0.05 -o rarer.json
    """
    from weigh.store import load_model, save

    check_output(output)
    fitted = load_model(model)
    name = type(fitted).__name__
    if not hasattr(fitted, "with_prior"):
        raise ValueError(f"{model} holds {name}, which has no base rate of classes to set")
    save(fitted.with_prior(rate), output)
    what = label_text(fitted.classes_.tolist()[-1])
    say(f"{name} at a base rate of {rate:g} for {what}: {output}")


@main.command()
@model_argument
@data_argument
@target_option
@weight_option
@click.option(
    "--method",
    type=click.Choice(["spline", "sigmoid", "temperature", "isotonic"]),
    default="sigmoid",
    show_default=True,
    help="Curve from old totals to new ones; sigmoid is a straight line and needs fewest rows.",
)
@output_option
def recalibrate(
    model: str, data: str, target: str | None, weight: str | None, method: str, output: str
) -> None:
    """Recalibrate a model on new rows: the weights stay, and a curve of the total is added.

    Example: weigh recalibrate model.json new.csv --target Survived -o mended.json
    """
    from weigh import RecalibratedClassifier
    from weigh.store import load_model, save

    keep_apart(output, model, data)
    check_output(output)
    fitted = load_model(model)
    table, target = _read(fitted, data, target)
    mended = RecalibratedClassifier(fitted, method=method, cv="prefit")
    mended.fit(table, target, sample_weight=weight)
    if hasattr(fitted, "provenance_"):
        mended.provenance_ = fitted.provenance_  # of the weights
    save(mended, output)
    say(f"{type(fitted).__name__} recalibrated on {count_rows(table):,} rows: {output}")
    hint(f"weigh drift {output} NEXT.csv --target {target}")


@main.command()
@model_argument
@data_argument
@target_option
@weight_option
@click.option(
    "--half-life",
    type=click.FloatRange(0, min_open=True),
    metavar="ROWS",
    help="Halve the old counts for every so many new rows (default: they count in full).",
)
@output_option
def update(
    model: str,
    data: str,
    target: str | None,
    weight: str | None,
    half_life: float | None,
    output: str,
) -> None:
    """Add new rows to a model of counts (--learner evidence), without the old rows.

    Example: weigh update model.json new.csv --target Survived --half-life 50000 -o next.json
    """
    import weigh
    from weigh.store import load_model, save

    keep_apart(output, model, data)
    check_output(output)
    fitted = load_model(model)
    table, target = _read(fitted, data, target)
    save(weigh.update(fitted, table, target, sample_weight=weight, half_life=half_life), output)
    say(f"{type(fitted).__name__} with {count_rows(table):,} more rows: {output}")


def _read(model: Any, data: str, target: str | None) -> tuple[Any, str]:
    """New rows, and the column of their classes."""
    table = read_like(model, data, target)
    if target is None:
        target = find_target(model, table)
        say(f"note: {target!r} is taken for the target; --target names another")
    return table, target
