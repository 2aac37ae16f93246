"""The main commands: fit, show and demo. Each imports what it needs when it runs."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import click

from weigh.cli.advice import advise, advise_leaks
from weigh.cli.classing import classing_options, is_model_file, take_classing
from weigh.cli.data import (
    check_output,
    count_rows,
    is_card,
    keep_apart,
    read_table,
    read_table_of,
    without_columns,
)
from weigh.cli.help import Group
from weigh.cli.messages import (
    hint,
    say,
    say_class,
    terminal_width,
)
from weigh.cli.options import (
    BINS,
    SMOOTHING,
    categorical_option,
    data_argument,
    drop_option,
    duration_option,
    event_option,
    exposure_option,
    holdout_options,
    json_option,
    max_levels_option,
    model_argument,
    weight_option,
)
from weigh.cli.training import (
    check_survival,
    choose_learner,
    hold_out,
    judge,
    keep_passes,
    make_model,
    read_exposure,
    read_outcome,
    trace,
)
from weigh.progress import show_progress


@click.group(cls=Group, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="weigh")
def main() -> None:
    """Probability models that people can read.

    A model is a prior and a table of weights of evidence; a prediction is a balance sheet.

    Start with: weigh demo
    """


@main.command()
@click.option("--save", metavar="FILE", help="Also write the demo's table, as CSV or Parquet.")
def demo(save: str | None) -> None:
    """Fit a small example; print its weights and a balance sheet.

    The rows are the 2,201 people on the Titanic.

    Example: weigh demo --save people.csv
    """
    from weigh import EducatedNB
    from weigh.datasets import titanic
    from weigh.frames import write_file

    say("Who survived the Titanic? 2201 people by class, sex and age.\n")
    model = EducatedNB(random_state=0).fit(titanic(), "Survived")
    case = {"Class": "3rd", "Sex": "Female", "Age": "Child"}
    click.echo(str(model.evidence_))
    say("\nThe balance sheet of a girl in third class:\n")
    click.echo(model.balance_sheet(case).to_text(terminal_width()))
    if save is not None:
        write_file(titanic(), save)
        say(f"\nWrote the table of 2201 people: {save}")
    table, target = (save, "Survived") if save else ("DATA.csv", "COLUMN")
    say("\nNow with a table of your own (CSV, TSV or Parquet):")
    hint(f"weigh fit {table} --target {target} --holdout 0.3 -o model.json")
    hint(f"weigh explain model.json {table} --row 0")


@main.command()
@data_argument
@click.option("--target", metavar="COL", help="The column to predict.")
@event_option
@duration_option
@click.option(
    "--entry", metavar="COL", help="Survival: column of the time from which rows were observed."
)
@click.option("-o", "--output", required=True, metavar="FILE", help="Where to write the model.")
@click.option(
    "--learner",
    default="educated",
    show_default=True,
    help="educated, evidence, adjusted, weighted, boosted, perplexed or c44; for numbers "
    "educated-regressor or boosted-regressor.",
)
@click.option(
    "--task",
    type=click.Choice(["auto", "classification", "regression"]),
    default="auto",
    show_default=True,
    help="Kind of the target. auto: numbers with more than 20 distinct values are a regression "
    "(learner educated only).",
)
@weight_option
@exposure_option
@drop_option
@categorical_option
@click.option(
    "--bins",
    type=BINS,
    metavar="mdl|fine|optimal|N|MODEL",
    help="Binning of numeric columns. mdl: supervised; fine: many bins; optimal: largest "
    "information value; N: quantile bins; MODEL: cut points of a model file (default: the "
    "learner's).",
)
@classing_options
@click.option(
    "--smoothing",
    type=SMOOTHING,
    metavar="S|1/n",
    default=1.0,
    help="Pseudo-count added to each level (default: 1).",
)
@click.option(
    "--missing",
    type=click.Choice(["level", "skip"]),
    help="Missing values: a level of their own, or no evidence (default: the learner's).",
)
@max_levels_option
@click.option(
    "--cross",
    "crosses",
    nargs=2,
    multiple=True,
    metavar="COL COL",
    help="Treat two columns as one feature (repeatable).",
)
@click.option(
    "--recalibrate",
    type=click.Choice(["spline", "sigmoid", "temperature", "isotonic"]),
    help="Recalibrate probabilities by cross-validation.",
)
@click.option(
    "--set",
    "own",
    multiple=True,
    metavar="NAME=VALUE",
    help="Set a parameter of the learner (repeatable).",
)
@click.option(
    "--checkpoint",
    metavar="DIR",
    help="Folder for intermediate results: after an interruption the same command continues.",
)
@holdout_options
@click.option(
    "--summary",
    is_flag=True,
    help="Also write a summary of the rows beside the model: model.summary.json for model.json. "
    "weigh update and weigh merge use it in place of the rows.",
)
@click.option(
    "--training-rows/--no-training-rows",
    default=True,
    help="Keep hashes of up to 512 training rows, so that evaluations can warn about them. Anyone "
    "with the file can test whether a row was among them (default: yes).",
)
def fit(
    data: str,
    target: str | None,
    event: str | None,
    duration: str | None,
    entry: str | None,
    output: str,
    learner: str,
    task: str,
    weight: str | None,
    exposure: str | None,
    drop: tuple[str, ...],
    categorical: tuple[str, ...],
    recalibrate: str | None,
    own: tuple[str, ...],
    checkpoint: str | None,
    holdout: float | None,
    holdout_by: str | None,
    holdout_time: str | None,
    summary: bool,
    training_rows: bool,
    **parameters: Any,
) -> None:
    """Fit a model to a table.

    A numeric target with more than 20 values is a regression (see --task). Other targets are
    classes. With --event and --duration the model estimates the time to an event.

    DATA is a CSV, TSV or Parquet file, a folder or a quoted glob of such files, or - for standard
    input.

    Example: weigh fit people.csv --target Survived -o model.json

    With --holdout, some rows are kept for evaluation and the model is fitted to the others.

    Example: weigh fit people.csv --target Survived --holdout 0.3 -o model.json

    Example: weigh fit 'people/*.parquet' --target Survived -o model.json

    Example: weigh fit people.csv --target Survived --learner adjusted --set cv=10 -o model.json

    Example: weigh fit claims.csv --target claims --learner educated-regressor --set family=poisson
    --exposure years -o model.json

    Example: weigh fit patients.csv --event died --duration days -o model.json
    """
    from weigh.store import learners

    if learner not in learners():
        raise click.UsageError(f"--learner must be one of {', '.join(learners())}, not {learner!r}")
    shared = parameters["bins"]
    keep_apart(output, data, *([shared] if is_model_file(shared) else []))
    check_output(output)
    if summary and output == "-":
        raise click.UsageError("--summary writes a file beside the model: give -o FILE")
    y = read_outcome(target, event, duration, entry)
    apart = {name for name in (holdout_by, holdout_time) if name is not None}
    whole = read_table(data, categorical, tuple({*drop} - apart))
    held = hold_out(whole, target or event, holdout, holdout_by, holdout_time)
    table = without_columns(held.train, apart)
    learner = choose_learner(learner, task, table, y)
    named = {target, event, duration, entry, weight, exposure}
    parameters |= take_classing(parameters, table, named)
    model = make_model(learner, parameters, own, recalibrate)
    more = read_exposure(model, exposure)
    if isinstance(y, tuple):
        check_survival(held, weight, entry, summary, checkpoint)
    about = [y, weight, *more.values(), drop, categorical, holdout, holdout_by, holdout_time]
    with show_progress("fitting"), keep_passes(checkpoint, data, model, about) as kept:
        model.fit(table, y, sample_weight=weight, **more)
    model.provenance_ = trace(model, data, table, target or str(event), held.n_rows)
    if not training_rows:
        model.provenance_ = replace(model.provenance_, training_rows=None)
    _write_fitted(model, table, y, weight, output, summary)
    kept.clear()
    if held.rest is not None:
        judge(model, held, y, weight, to_stderr=output == "-", **more)
    elif hasattr(model, "classes_") and target is not None:  # `judge` reports leaks itself
        advise_leaks(table, target, {weight})
    if output != "-":
        _say_fitted(model, table, output)


def _write_fitted(
    model: Any, table: Any, target: Any, weight: str | None, output: str, summary: bool
) -> None:
    """Write a model to standard output, or to a file with advice about the model."""
    import weigh
    from weigh.store import to_json

    if output == "-":
        click.echo(to_json(model), nl=False)
        return
    advise(model, table, weight)
    if summary:
        model = weigh.summarise(model, table, target, sample_weight=weight)
    weigh.save(model, output, summary=summary)


def _say_fitted(model: Any, table: Any, output: str) -> None:
    """Print what was fitted, to how many rows, and how to see it."""
    from weigh.layout import count_of

    inner = getattr(model, "estimator", None)
    name = type(model).__name__ if inner is None else f"{type(inner).__name__}, recalibrated,"
    shape = count_of(count_rows(table), "row"), count_of(model.n_features_in_, "column")
    say(f"{name} from {' and '.join(shape)}: {output}")
    own = model._learnt
    say_class(own if hasattr(own, "read_off") else getattr(model, "evidence_", own))
    hint(f"weigh show {output}")


@main.command()
@model_argument
@click.option("--feature", metavar="NAME", help="Show one feature only.")
@click.option("--all", "every", is_flag=True, help="Print every bin, level and table.")
@click.option("--about", is_flag=True, help="Print where the model comes from instead.")
@json_option
def show(model: str, feature: str | None, every: bool, about: bool, as_json: bool) -> None:
    """Print the weights of a model, a scorecard or a tree.

    Example: weigh show model.json

    Example: weigh show model.json --about
    """
    if about:
        if feature is not None or every:
            raise click.UsageError("--about prints no tables: leave out --feature and --all")
        _show_about(model, as_json)
        return
    from weigh.evidence import Evidence
    from weigh.store import load_learnt

    shown = read_table_of(model)
    if feature is not None:
        if not isinstance(shown, Evidence):
            kind = "a scorecard is shown whole" if is_card(shown) else "this model has no tables"
            raise ValueError(f"--feature picks one table, and {kind}; leave it out")
        shown = replace(shown, tables=(shown[shown.own_name(feature)],))
    if as_json:
        from weigh.scoring import json_rows

        click.echo(json.dumps(json_rows(shown.to_frame()), ensure_ascii=False))
    else:
        rows = {"max_rows": None} if every and isinstance(shown, Evidence) else {}
        click.echo(shown.to_text(terminal_width(), **rows))
        own = shown if is_card(shown) else load_learnt(model)
        say_class(own if hasattr(own, "read_off") else shown)


def _show_about(path: str, as_json: bool) -> None:
    """Print the learner, its parameters and the provenance of a model file."""
    from weigh.store import describe

    told = describe(path)
    if as_json:
        click.echo(json.dumps(told, ensure_ascii=False))
        return
    width = max(map(len, told))
    for name, text in told.items():
        click.echo(f"{name:<{width}}  {text}")
