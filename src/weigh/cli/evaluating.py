"""The commands that evaluate models. Each imports what it needs when it runs."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Any

import click

from weigh.cli.commands import main
from weigh.cli.data import (
    check_output,
    find_class,
    is_card,
    keep_apart,
    outcome_of,
    read_any,
    read_like,
    read_with_target,
    say_training_rows,
    tell_class,
    with_entry,
)
from weigh.cli.messages import print_found, say, terminal_width
from weigh.cli.options import (
    by_option,
    class_option,
    cost_option,
    data_argument,
    duration_option,
    event_option,
    exposure_option,
    json_option,
    model_argument,
    profit_option,
    score_option,
    target_option,
    times_option,
    weight_option,
)
from weigh.cli.training import read_exposure


@main.command()
@model_argument
@data_argument
@target_option
@by_option
@cost_option
@click.option("--train", metavar="DATA", help="Training rows, evaluated for comparison.")
@profit_option
@score_option
@click.option("--tables", metavar="FOLDER", help="Also write the score tables as CSV (scorecards).")
@class_option
@weight_option
@exposure_option
@event_option
@duration_option
@times_option
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
    event: str | None,
    duration: str | None,
    times: list[float] | None,
    as_json: bool,
    **of_card: Any,
) -> None:
    """Evaluate a model on hold-out rows.

    Classes: loss, ranking, calibration, lift, error rates and costs by threshold. A scorecard also
    has a cut-off table and a gains table.

    Numbers: errors and calibration. --by adds the ratio of observed to estimated in each group, per
    unit of exposure if the model has one.

    Survival: concordance, Brier score and calibration over time. --by adds observed and expected
    events of each group. The default of --event and --duration is the columns of the fit.

    Without --target, the target is the only column that is no feature and has the model's classes.

    Example: weigh evaluate model.json people.csv --target Survived --by Class

    Example: weigh evaluate card.json loans.csv --target class --profit 100 -900
    """
    import weigh
    from weigh.metrics.predicted import Question

    fitted = read_any(model, times=True)
    _check_card_options(fitted, model, by, of_card)
    own = read_exposure(fitted, exposure)
    outcome = outcome_of(fitted, event, duration)
    if outcome is not None:
        asked = {"by": by, "costs": cost, "pos_label": pos_label, "sample_weight": weight}
        _evaluate_times(fitted, data, outcome, target or train, asked | {"times": times}, as_json)
        return
    if times is not None:
        raise click.UsageError(f"--times needs a survival model, and {model} is none")
    if hasattr(fitted, "no_classes"):
        own |= {"by": by, "train": train, "pos_label": pos_label, "sample_weight": weight}
        table, target = read_with_target(fitted, data, target)
        found = weigh.evaluate(fitted, table, target, **own)
        print_found(found, as_json)
        _say_training_file(fitted, data, found)
        return
    Question.of_model(fitted)
    table, target = read_with_target(fitted, data, target)
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
    if is_card(fitted):
        _print_card(found, _score_tables(fitted, table, target, weight, by, of_card), as_json)
    else:
        print_found(found, as_json)
    _say_training_file(fitted, data, found)


def _say_training_file(model: Any, data: str, found: Any) -> None:
    """Say that the rows are training rows, unless the findings do."""
    if not found.training_rows:
        say_training_rows(model, data, None)


def _check_card_options(fitted: Any, path: str, by: str | None, asked: dict[str, Any]) -> None:
    """Raise an error for scorecard options with a model, and for a cut-off without groups."""
    given = [f"--{name.replace('_', '-')}" for name, value in asked.items() if value is not None]
    if given and not is_card(fitted):
        raise click.UsageError(f"{given[0]} goes with a scorecard, and {path} is a model")
    if asked["cut_off"] is not None and by is None:
        raise click.UsageError("--cut-off compares groups: name their column with --by")


def _print_card(found: Any, tables: dict[str, Any], as_json: bool) -> None:
    """Print the measures of a scorecard and its tables of scores."""
    if not as_json:
        texts = [part.to_text(terminal_width()) for part in (found, *tables.values())]
        click.echo("\n\n".join(texts))
        return
    from weigh.scoring import json_rows

    rows = {name: json_rows(part.to_frame()) for name, part in tables.items()}
    best = tables["bands"].best
    told = found.to_dict() | rows | ({} if best is None else {"profit": asdict(best)})
    click.echo(json.dumps(told, ensure_ascii=False, allow_nan=False))


def _score_tables(
    card: Any, table: Any, target: str, weight: str | None, by: str | None, asked: dict[str, Any]
) -> dict[str, Any]:
    """The cut-off table, the gains table and approval by group; --tables also writes them."""
    import pyarrow as pa

    from weigh.frames import write_file
    from weigh.writing import make_folder

    profit = asked["profit"] and dict(zip(("good", "bad"), asked["profit"], strict=True))
    bands = card.bands(table, target, sample_weight=weight, profit=profit)
    parts = {"bands": bands, "gains": bands.gains}
    if asked["cut_off"] is not None:
        parts["impact"] = card.impact(table, by, asked["cut_off"])
    if asked["tables"] is not None:
        with make_folder(asked["tables"]) as folder:
            for name, part in parts.items():
                write_file(pa.table(part.to_dict()), f"{folder}/{name}.csv")
        say(f"Tables: {', '.join(f'{name}.csv' for name in parts)} in {asked['tables']}")
    return parts


@main.command()
@click.argument("old", metavar="OLD")
@click.argument("new", metavar="NEW")
@data_argument
@target_option
@click.option(
    "--cut-off",
    type=click.FloatRange(0, 1),
    metavar="P",
    help="Probability above which a row counts as positive (default: 0.5).",
)
@class_option
@weight_option
@exposure_option
@click.option("-o", "--output", metavar="FILE.html", help="Also write the result as an HTML page.")
@json_option
def challenge(
    old: str,
    new: str,
    data: str,
    target: str | None,
    cut_off: float | None,
    pos_label: str | None,
    weight: str | None,
    exposure: str | None,
    output: str | None,
    as_json: bool,
) -> None:
    """Compare a model in use with its challenger.

    Use rows that neither was fitted to. Prints paired differences of loss and AUC, calibration, and
    the rows that change sides at a cut-off. For two regressions it prints paired differences of
    the squared error or deviance, and of the absolute error.

    Example: weigh challenge old.json new.json people.csv --target Survived --cut-off 0.3
    """
    from weigh.comparison.challenger import challenge_each
    from weigh.writing import write_text

    if output is not None:
        keep_apart(output, old, new, data)
        check_output(output)
    models = read_any(old), read_any(new)
    table, target = read_with_target(models[0], data, target)
    tables = table, read_like(models[1], data, target)
    label = find_class(models[0], pos_label)
    asked = {"cut_off": cut_off, "sample_weight": weight, "pos_label": label}
    own = read_exposure(models[0], exposure)
    found = challenge_each(models, tables, target, **asked, **own)
    if output is not None:
        write_text(found.to_html(), output)
    print_found(found, as_json)


def _evaluate_times(
    model: Any, data: str, outcome: Any, refused: Any, asked: dict[str, Any], as_json: bool
) -> None:
    import weigh

    if refused:
        raise click.UsageError("a survival model is evaluated without --target and --train")
    table = read_like(model, data)
    found = weigh.evaluate(model, table, with_entry(model, outcome, table), **asked)
    print_found(found, as_json)
    _say_training_file(model, data, found)
