"""The commands that say how good models are. Each imports what it needs when it runs."""

from __future__ import annotations

import json
from shlex import quote
from typing import Any

import click

from weigh.cli.commands import main
from weigh.cli.data import (
    check_output,
    column_names,
    count_rows,
    find_class,
    find_target,
    is_card,
    keep_apart,
    open_data,
    read_any,
    read_like,
    read_table,
    tell_class,
)
from weigh.cli.messages import hint, say, terminal_width
from weigh.cli.options import (
    by_option,
    categorical_option,
    class_option,
    cost_option,
    data_argument,
    drop_option,
    exposure_option,
    holdout_options,
    json_option,
    model_argument,
    read_parameter,
    target_option,
    weight_option,
)
from weigh.cli.training import hold_out, read_exposure

DRIFTED = 3
"""The exit code where drift is found; 1 is an error and 2 a mistyped option."""


@main.command()
@model_argument
@data_argument
@target_option
@by_option
@cost_option
@click.option("--train", metavar="DATA", help="Training rows, shown beside the others.")
@class_option
@weight_option
@exposure_option
@json_option
def evaluate(
    model: str,
    data: str,
    target: str | None,
    by: str | None,
    cost: tuple[float, float],
    train: str | None,
    pos_label: Any,
    weight: str | None,
    exposure: str | None,
    as_json: bool,
) -> None:
    """Evaluate a model on hold-out rows.

    Prints loss, ranking, calibration, lift, error rates and costs by threshold. Without --target,
    the command takes the one column that is not a feature and holds the model's classes.

    Example: weigh evaluate model.json people.csv --target Survived --by Class
    """
    import weigh
    from weigh.metrics.predicted import Question
    from weigh.scoring import json_rows

    fitted = read_any(model)
    own = read_exposure(fitted, exposure)
    if hasattr(fitted, "no_classes"):
        _evaluate_numbers(fitted, read_like(fitted, data, target), target, weight, as_json, **own)
        return
    Question.of_model(fitted)
    table = read_like(fitted, data, target)
    if target is None:
        target = find_target(fitted, table)
        say(f"note: {target!r} is taken as the target; --target names another")
    pos_label = tell_class(fitted, pos_label, cost)
    found = weigh.evaluate(
        fitted,
        table,
        target,
        sample_weight=weight,
        train=None if train is None else (read_like(fitted, train, target), target),
        by=by,
        costs=cost,
        pos_label=pos_label,
    )
    if not is_card(fitted):
        _print(found, as_json)
        return
    bands = fitted.bands(table, target, sample_weight=weight)
    if as_json:
        told = found.to_dict() | {"bands": json_rows(bands.to_frame())}
        click.echo(json.dumps(told, ensure_ascii=False, allow_nan=False))
    else:
        click.echo(f"{found.to_text(terminal_width())}\n\n{bands.to_text(terminal_width())}")


@main.command()
@model_argument
@data_argument
@target_option
@click.option(
    "--alpha",
    type=click.FloatRange(0, 1, min_open=True, max_open=True),
    default=0.01,
    show_default=True,
    help="The probability of a false alarm, for all checks together.",
)
@click.option(
    "--fail-on",
    type=click.Choice(["notice", "warning", "alarm"]),
    help="Exit with code 3 if drift is of this level or a higher one (default: never).",
)
@json_option
@click.pass_context
def drift(
    ctx: click.Context,
    model: str,
    data: str,
    target: str | None,
    alpha: float,
    fail_on: str | None,
    as_json: bool,
) -> None:
    """Compare new rows with the training rows of a model.

    The training rows are not needed: the model has their counts. With --target, the column of the
    true classes, calibration and weights are checked too.

    Example: weigh drift model.json new.csv --fail-on warning
    """
    import weigh

    fitted = read_any(model)
    found = weigh.drift(fitted, read_like(fitted, data, target), target, alpha=alpha)
    _print(found, as_json)
    if fail_on is not None and found.reaches(fail_on):
        ctx.exit(DRIFTED)


@main.command()
@click.argument("old", metavar="OLD")
@click.argument("new", metavar="NEW")
@data_argument
@target_option
@click.option(
    "--cut-off",
    type=click.FloatRange(0, 1),
    default=0.5,
    show_default=True,
    metavar="P",
    help="The rows whose probability is above P are on the positive side.",
)
@class_option
@weight_option
@click.option("-o", "--output", metavar="FILE.html", help="Also write the page as HTML.")
@json_option
def challenge(
    old: str,
    new: str,
    data: str,
    target: str | None,
    cut_off: float,
    pos_label: str | None,
    weight: str | None,
    output: str | None,
    as_json: bool,
) -> None:
    """Compare a model in use with its challenger.

    Use rows that neither was fitted to. Prints paired differences of loss and AUC, calibration, and
    the rows that change sides at a cut-off.

    Example: weigh challenge old.json new.json people.csv --target Survived --cut-off 0.3
    """
    from weigh.comparison.challenger import challenge_each
    from weigh.writing import write_text

    if output is not None:
        keep_apart(output, old, new, data)
        check_output(output)
    models = read_any(old), read_any(new)
    tables = read_like(models[0], data, target), read_like(models[1], data, target)
    if target is None:
        target = find_target(models[0], tables[0])
        say(f"note: {target!r} is taken for the target; --target names another")
    label = find_class(models[0], pos_label)
    asked = {"cut_off": cut_off, "sample_weight": weight, "pos_label": label}
    found = challenge_each(models, tables, target, **asked)
    if output is not None:
        write_text(found.to_html(), output)
    _print(found, as_json)


@main.command()
@data_argument
@click.option("--target", required=True, metavar="COL", help="The column to predict.")
@click.option(
    "--learner",
    "names",
    multiple=True,
    metavar="NAME",
    help="Learner to compare (repeatable; default: all classifiers).",
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
    drop: tuple[str, ...],
    categorical: tuple[str, ...],
    as_json: bool,
) -> None:
    """Compare learners by cross-validation and recommend one.

    Example: weigh compare people.csv --target Survived --learner evidence --learner adjusted

    Example: weigh compare people.csv --target Survived --set adjusted.cv=10
    """
    import weigh
    from weigh.comparison.run import by_name, family

    known = by_name()
    for name in names:
        if name not in known:
            raise click.UsageError(f"--learner must be one of {', '.join(known)}, not {name!r}")
    compared = names or tuple(short for short, name in known.items() if name in family())
    learners, table = _set(compared, own), read_table(data, categorical, drop)
    found = weigh.compare(table, target, learners, cv=folds, sample_weight=weight)
    _print(found, as_json)
    short = next((short for short, name in known.items() if name == found.choice), None)
    chosen = None if short is None else _options(short, own)
    if chosen is not None:
        words = f"weigh fit {quote(data)} --target {quote(target)}"
        asked = [("--weight", (weight,)), ("--drop", drop), ("--categorical", categorical)]
        for option, columns in asked:
            words += "".join(f" {option} {quote(column)}" for column in columns if column)
        hint(f"{words} {chosen} -o model.json")


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
@click.option("--target", metavar="COL", help="Column of classes: each gives the same share.")
@holdout_options
def split(data: str, outputs: tuple[str, str], target: str | None, **asked: Any) -> None:
    """Split a table into training rows and hold-out rows.

    By default 30% of the rows are held out. With the same options, weigh fit --holdout holds out
    the same rows.

    Example: weigh split people.csv --target Survived -o train.csv rest.csv
    """
    from weigh.scoring import write_scores

    if data == "-":
        raise click.UsageError("weigh split reads its data twice: give a file, not -")
    for output in outputs:
        keep_apart(output, data)
        check_output(output)
    asked["holdout"] = 0.3 if asked["holdout"] is None else asked["holdout"]
    table = open_data(data, (), ())
    spelled = open_data(data, column_names(table), ())  # 007 stays 007
    held = hold_out(table, target, **asked, rows=spelled)
    held.say()
    for part, output in zip((held.train, held.rest), outputs, strict=True):
        write_scores(_tables(part), output)
        say(f"{count_rows(part):,} rows: {output}")


def _tables(table: Any) -> Any:
    """The rows of a table or a scan as tables to write."""
    if not hasattr(table, "batches"):
        return [table]
    import pyarrow as pa

    return (pa.Table.from_batches([batch]) for batch in table.read_batches(table.names))


def _set(names: tuple[str, ...], own: tuple[str, ...]) -> list[Any]:
    """Learners with the parameters that --set gives them."""
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
    """What `weigh fit` is told to learn the same; None where it cannot be."""
    given = [text.partition(".")[2] for text in own if text.startswith(f"{short}.")]
    if short == "recalibrated":
        return None if given else "--learner evidence --recalibrate spline"
    return " ".join([f"--learner {short}", *(f"--set {quote(text)}" for text in given)])


def _evaluate_numbers(
    model: Any,
    table: Any,
    target: str | None,
    weight: str | None,
    as_json: bool,
    exposure: str | None = None,
) -> None:
    import weigh

    if target is None:
        raise click.UsageError("the model predicts a number; name its column with --target")
    found = weigh.evaluate(model, table, target, sample_weight=weight, exposure=exposure)
    _print(found, as_json)


def _print(found: Any, as_json: bool) -> None:
    if as_json:
        click.echo(json.dumps(found.to_dict(), ensure_ascii=False, allow_nan=False))
    else:
        click.echo(found.to_text(terminal_width()))
