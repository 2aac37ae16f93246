"""The commands that compare learners and split tables. Each imports what it needs when it runs."""

from __future__ import annotations

from shlex import quote
from typing import Any

import click

from weigh.cli.commands import main
from weigh.cli.data import (
    check_output,
    column_names,
    count_rows,
    keep_apart,
    open_data,
    read_table,
)
from weigh.cli.messages import MOST_CLASSES, hint, print_found, say
from weigh.cli.options import (
    categorical_option,
    data_argument,
    drop_option,
    exposure_option,
    holdout_options,
    json_option,
    read_parameter,
    weight_option,
)
from weigh.cli.training import count_numbers, hold_out


@main.command()
@data_argument
@click.option("--target", required=True, metavar="COL", help="The column to predict.")
@click.option(
    "--learner",
    "names",
    multiple=True,
    metavar="NAME",
    help="Learner to compare (repeatable; default: all classifiers, or all regressors if the "
    "target is a number with more than 20 values).",
)
@click.option(
    "--set",
    "own",
    multiple=True,
    metavar="LEARNER.NAME=VALUE",
    help="Set a parameter of one learner (repeatable).",
)
@click.option(
    "--folds", type=click.IntRange(2), default=5, show_default=True, help="The number of folds."
)
@weight_option
@exposure_option
@drop_option
@categorical_option
@json_option
def compare(
    data: str,
    target: str,
    names: tuple[str, ...],
    own: tuple[str, ...],
    folds: int,
    weight: str | None,
    exposure: str | None,
    drop: tuple[str, ...],
    categorical: tuple[str, ...],
    as_json: bool,
) -> None:
    """Compare learners by cross-validation and recommend one.

    Example: weigh compare people.csv --target Survived --learner evidence --learner adjusted

    Example: weigh compare people.csv --target Survived --set adjusted.cv=10

    Example: weigh compare homes.csv --target price --learner educated-regressor --learner
    boosted-regressor
    """
    import weigh
    from weigh.comparison.run import by_name, family

    known = by_name()
    for name in names:
        if name not in known:
            raise click.UsageError(f"--learner must be one of {', '.join(known)}, not {name!r}")
    table = read_table(data, categorical, drop)
    compared = names or tuple(short for short, name in known.items() if name in family())
    if count_numbers(table, target) > MOST_CLASSES:
        compared = _as_regressors(names)
        if compared != names:
            told = f"{target!r} is a number with more than {MOST_CLASSES} values"
            say(f"{told}: regressors are compared")
    given: dict[str, Any] = {"sample_weight": weight, "exposure": exposure}
    found = weigh.compare(table, target, _set(compared, own), cv=folds, **given)
    print_found(found, as_json)
    short = next((short for short, name in known.items() if name == found.choice), None)
    chosen = None if short is None else _options(short, own)
    if chosen is not None:
        words = f"weigh fit {quote(data)} --target {quote(target)}"
        asked = [
            ("--weight", (weight,)),
            ("--exposure", (exposure,)),
            ("--drop", drop),
            ("--categorical", categorical),
        ]
        for option, columns in asked:
            words += "".join(f" {option} {quote(column)}" for column in columns if column)
        hint(f"{words} {chosen} -o model.json")


def _as_regressors(names: tuple[str, ...]) -> tuple[str, ...]:
    """The learners to compare on a number: all regressors by default; educated is its regressor."""
    from weigh.comparison.run import regressors

    twins = {"educated": "educated-regressor"}
    return tuple(twins.get(name, name) for name in names) or tuple(regressors())


@main.command()
@data_argument
@click.option(
    "-o",
    "--output",
    "outputs",
    nargs=2,
    required=True,
    metavar="TRAIN REST",
    help="Files for the training rows and the hold-out rows (CSV, TSV or Parquet).",
)
@click.option("--target", metavar="COL", help="Column of classes, for a stratified split.")
@holdout_options
def split(data: str, outputs: tuple[str, str], target: str | None, **asked: Any) -> None:
    """Split a table into training rows and hold-out rows.

    By default 30% of the rows are held out. With the same options, weigh fit --holdout holds out
    the same rows.

    Example: weigh split people.csv --target Survived -o train.csv rest.csv
    """
    from weigh.layout import count_of
    from weigh.scoring import write_scores

    if data == "-":
        raise click.UsageError("weigh split reads its data twice: give a file, not -")
    for output in outputs:
        keep_apart(output, data)
        check_output(output)
    asked["holdout"] = 0.3 if asked["holdout"] is None else asked["holdout"]
    table = open_data(data, (), ())
    spelled = open_data(data, column_names(table), ())  # as text, so that 007 stays 007
    held = hold_out(table, target, **asked, rows=spelled)
    held.say()
    for part, output in zip((held.train, held.rest), outputs, strict=True):
        write_scores(_tables(part), output)
        say(f"{count_of(count_rows(part), 'row')}: {output}")


def _tables(table: Any) -> Any:
    """The rows of a table or a scan, as an iterable of tables."""
    if not hasattr(table, "batches"):
        return [table]
    import pyarrow as pa

    return (pa.Table.from_batches([batch]) for batch in table.read_batches(table.names))


def _set(names: tuple[str, ...], own: tuple[str, ...]) -> list[Any]:
    """The learners with the parameters given by --set."""
    from weigh.comparison.run import by_name, make_learner

    made = {name: make_learner(by_name()[name]) for name in dict.fromkeys(names)}
    for text in own:
        name, dot, rest = text.partition(".")
        if not dot or name not in made:
            raise click.UsageError(
                f"--set {text!r} is not LEARNER.NAME=VALUE with a LEARNER of {', '.join(made)}"
            )
        made[name].set_params(**dict([read_parameter(rest, made[name])]))
    return [*made.values()]


def _options(short: str, own: tuple[str, ...]) -> str | None:
    """The options of `weigh fit` for the same learner; None if there are none."""
    given = [text.partition(".")[2] for text in own if text.startswith(f"{short}.")]
    if short == "recalibrated":
        return None if given else "--learner evidence --recalibrate spline"
    return " ".join([f"--learner {short}", *(f"--set {quote(text)}" for text in given)])
