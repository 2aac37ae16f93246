"""The commands that fit and compare models. Each imports what it needs when it runs."""

from __future__ import annotations

import os
from dataclasses import replace
from shlex import quote
from typing import Any

import click

from weigh.cli import options
from weigh.cli.columns import advise, advise_leaks, classing_options, is_model_file, take_classing
from weigh.cli.data import (
    check_output,
    column_names,
    count_rows,
    open_data,
    read_table,
    without_columns,
)
from weigh.cli.group import MOST_CLASSES, hint, main, print_found, say, say_class, terminal_width
from weigh.cli.options import read_parameter
from weigh.cli.training import (
    check_survival,
    choose_learner,
    count_numbers,
    hold_out,
    judge,
    keep_passes,
    make_model,
    read_exposure,
    read_outcome,
    trace,
)
from weigh.progress import show_progress


@main.command()
@options.option("--save FILE", "Also write the demo's table, as CSV or Parquet.")
def demo(save: str | None) -> None:
    """Fit a small example; print its weights and a balance sheet.

    The rows are the 2,201 people on the Titanic.

    Example: weigh demo --save people.csv
    """
    from weigh import EducatedNB
    from weigh.datasets import titanic
    from weigh.frames import write_file

    say("Who survived the Titanic? 2,201 people by class, sex and age.\n")
    model = EducatedNB(random_state=0).fit(titanic(), "Survived")
    case = {"Class": "3rd", "Sex": "Female", "Age": "Child"}
    click.echo(model.evidence_.to_text(terminal_width()))
    say("\nThe balance sheet of a girl in third class:\n")
    click.echo(model.balance_sheet(case).to_text(terminal_width()))
    if save is not None:
        write_file(titanic(), save)
        say(f"\nWrote the table of 2,201 people: {save}")
    table, target = (save, "Survived") if save else ("DATA.csv", "COLUMN")
    say("\nNow with a table of your own (CSV, TSV or Parquet):")
    hint(f"weigh fit {quote(table)} --target {target} --holdout 0.3 -o model.json")
    hint(f"weigh explain model.json {quote(table)} --row 0")


@main.command()
@options.data
@options.option("--target COL", "The column to predict.")
@options.event
@options.duration
@options.entry
@options.output("Where to write the model.")
@options.option(
    "--learner",
    "educated, evidence, adjusted, weighted, boosted, perplexed or c44; for numbers "
    "educated-regressor or boosted-regressor.",
    default="educated",
)
@options.option(
    "--task",
    "Kind of the target. auto: numbers with more than 20 distinct values are a regression (learner "
    "educated only).",
    among="auto classification regression",
    default="auto",
)
@options.weight
@options.fit_exposure
@options.drop
@options.categorical
@options.option(
    "--bins mdl|fine|optimal|N|MODEL",
    "Binning of numeric columns. mdl: supervised; fine: many bins; optimal: largest information "
    "value; N: quantile bins; MODEL: cut points of a model file (default: the learner's).",
    type=options.BINS,
)
@classing_options
@options.option(
    "--smoothing S|1/n",
    "Pseudo-count added to each level (default: 1).",
    type=options.SMOOTHING,
    default=1.0,
)
@options.option(
    "--missing",
    "Missing values: a level of their own, or no evidence (default: the learner's).",
    among="level skip",
)
@options.max_levels
@options.option(
    "--cross COL COL", "Treat two columns as one feature (repeatable).", to="crosses", multiple=True
)
@options.option(
    "--recalibrate",
    "Recalibrate probabilities by cross-validation.",
    among="spline sigmoid temperature isotonic",
)
@options.option(
    "--set NAME=VALUE", "Set a parameter of the learner (repeatable).", to="own", multiple=True
)
@options.option(
    "--checkpoint DIR",
    "Folder for intermediate results: after an interruption the same command continues.",
)
@options.holdout
@options.option(
    "--summary",
    "Also write a summary of the rows beside the model: model.summary.json for model.json. weigh "
    "update and weigh merge use it in place of the rows.",
    is_flag=True,
)
@options.option(
    "--training-rows/--no-training-rows",
    "Keep hashes of up to 512 training rows, so that evaluations can warn about them. Anyone with "
    "the file can test whether a row was among them (default: yes).",
    default=True,
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
    sample_weight: str | None,
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

    DATA is a file (CSV, TSV, Parquet, Excel, JSON, Stata, SAS transport or SPSS, by its ending), a
    folder or a quoted glob of CSV, TSV or Parquet files, or - for standard input.

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
    check_output(output, data, *([shared] if is_model_file(shared) else []))
    if summary and output == "-":
        raise click.UsageError("--summary writes a file beside the model: give -o FILE")
    y = read_outcome(target, event, duration, entry)
    split_columns = {name for name in (holdout_by, holdout_time) if name is not None}
    whole = read_table(data, categorical, tuple({*drop} - split_columns))
    held = hold_out(whole, target or event, holdout, holdout_by, holdout_time)
    table = without_columns(held.train, split_columns)
    learner = choose_learner(learner, task, table, y)
    named = {target, event, duration, entry, sample_weight, exposure}
    parameters |= take_classing(parameters, table, named)
    model = make_model(learner, parameters, own, recalibrate)
    more = read_exposure(model, exposure)
    if isinstance(y, tuple):
        check_survival(held, sample_weight, summary, checkpoint)
    about = [y, sample_weight, *more.values(), drop, categorical, holdout, holdout_by, holdout_time]
    with show_progress("fitting"), keep_passes(checkpoint, data, model, about) as kept:
        model.fit(table, y, sample_weight=sample_weight, **more)
    model.provenance_ = trace(model, data, table, target or str(event), held.n_rows)
    if not training_rows:
        model.provenance_ = replace(model.provenance_, training_rows=None)
    _write_fitted(model, table, y, sample_weight, output, summary)
    kept.clear()
    if held.rest is not None:
        judge(model, held, y, sample_weight, to_stderr=output == "-", **more)
    elif hasattr(model, "classes_") and target is not None:  # `judge` reports leaks itself
        advise_leaks(table, target, {sample_weight})
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
    hint(f"weigh show {quote(output)}")


@main.command()
@options.data
@options.option("--target COL", "The column to predict.", required=True)
@options.option(
    "--learner NAME",
    "Learner to compare (repeatable; default: all classifiers, or all regressors if the target is "
    "a number with more than 20 values).",
    to="names",
    multiple=True,
)
@options.option(
    "--set LEARNER.NAME=VALUE",
    "Set a parameter of one learner (repeatable).",
    to="own",
    multiple=True,
)
@options.folds
@options.weight
@options.fit_exposure
@options.drop
@options.categorical
@options.as_json
def compare(
    data: str,
    target: str,
    names: tuple[str, ...],
    own: tuple[str, ...],
    drop: tuple[str, ...],
    categorical: tuple[str, ...],
    as_json: bool,
    **asked: Any,
) -> None:
    """Compare learners by cross-validation and recommend one.

    Example: weigh compare people.csv --target Survived --learner evidence --learner adjusted

    Example: weigh compare people.csv --target Survived --set adjusted.cv=10

    Example: weigh compare homes.csv --target price --learner educated-regressor --learner
    boosted-regressor
    """
    import weigh
    from weigh.comparison.run import by_name, family, regressors

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
    if asked["exposure"] is not None and not {*compared} <= {*regressors()}:
        raise click.UsageError(
            f"--exposure is for regressors, and {target!r} is taken as classes; add --learner "
            "educated-regressor --set educated-regressor.family=poisson"
        )
    found = weigh.compare(table, target, _set(compared, own), **asked)
    print_found(found, as_json)
    short = next((short for short, name in known.items() if name == found.choice), None)
    chosen = None if short is None else _options(short, own)
    if chosen is not None:
        words = f"weigh fit {quote(data)} --target {quote(target)}"
        columns = {"weight": [asked["sample_weight"]], "exposure": [asked["exposure"]]}
        for option, given in (columns | {"drop": drop, "categorical": categorical}).items():
            words += "".join(f" --{option} {quote(name)}" for name in given if name)
        hint(f"{words} {chosen} -o model.json")


def _as_regressors(names: tuple[str, ...]) -> tuple[str, ...]:
    """The learners to compare on a number: all regressors by default; educated is its regressor."""
    from weigh.comparison.run import regressors

    twins = {"educated": "educated-regressor"}
    return tuple(twins.get(name, name) for name in names) or tuple(regressors())


@main.command()
@options.data
@options.option(
    "-o --output TRAIN REST",
    "Files for the training rows and the hold-out rows (CSV, TSV or Parquet).",
    to="outputs",
    required=True,
)
@options.option("--target COL", "Column of classes, for a stratified split.")
@options.holdout
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
    if len({*map(os.path.realpath, outputs)}) < 2:
        raise click.UsageError(f"-o names {outputs[0]!r} twice: give a file for each part")
    for output in outputs:
        check_output(output, data)
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
