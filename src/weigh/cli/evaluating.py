"""The commands that evaluate and monitor models. Each imports what it needs when it runs."""

from __future__ import annotations

import json
import os
from contextlib import nullcontext
from dataclasses import asdict, replace
from pathlib import Path
from shlex import quote
from typing import Any

import click

from weigh.cli import options
from weigh.cli.data import (
    check_output,
    column_names,
    find_class,
    is_card,
    outcome_of,
    read_any,
    read_cut_off,
    read_evaluated,
    read_like,
    read_with_target,
    tell_class,
    with_entry,
)
from weigh.cli.group import main, print_found, say, terminal_width
from weigh.cli.training import read_exposure


@main.command()
@options.model
@options.data
@options.target
@options.by
@options.cost
@options.option("--train DATA", "Training rows, evaluated for comparison.")
@options.profit
@options.cut_offs
@options.option("--tables FOLDER", "Also write the score tables as CSV (scorecards).")
@options.pos_label
@options.weight
@options.exposure
@options.event
@options.duration
@options.entry
@options.times
@options.as_json
def evaluate(
    model: str,
    data: str,
    target: str | None,
    train: str | None,
    exposure: str | None,
    event: str | None,
    duration: str | None,
    entry: str | None,
    times: list[float] | None,
    as_json: bool,
    **asked: Any,
) -> None:
    """Evaluate a model on hold-out rows.

    Classes: loss, ranking, calibration, lift, error rates and costs by cut-off. --cut-off adds
    precision, recall, specificity and the counts at a cut-off of your own, with intervals. A
    scorecard also has a cut-off table and a gains table.

    Numbers: errors and calibration. --by adds the ratio of observed to estimated in each group, per
    unit of exposure if the model has one.

    Survival: concordance, Brier score and calibration over time. --by adds observed and expected
    events of each group. The default of --event and --duration is the columns of the fit.

    Without --target, the target is the only column that is no feature and has the model's classes.

    Example: weigh evaluate model.json people.csv --target Survived --by Class

    Example: weigh evaluate model.json people.csv --target Survived --cut-off 0.3,0.5

    Example: weigh evaluate card.json loans.csv --target class --profit 100 -900
    """
    import weigh
    from weigh.metrics.predictions import Question
    from weigh.scorecard.bands import implied_costs

    fitted = read_any(model, times=True)
    of_card = {name: asked.pop(name) for name in ("profit", "tables")}
    _check_card_options(fitted, model, of_card)
    asked["cut_off"], of_card["cut_off"] = _split_cut_offs(fitted, model, asked["cut_off"])
    own = read_exposure(fitted, exposure)
    outcome = outcome_of(fitted, event, duration, entry)
    if outcome is not None:
        if target or train:
            raise click.UsageError("a survival model is evaluated without --target and --train")
        table = read_evaluated(fitted, data)
        names = with_entry(fitted, outcome, table, entry)
        print_found(weigh.evaluate(fitted, table, names, times=times, **asked), as_json)
        return
    if times is not None:
        raise click.UsageError(f"--times needs a survival model, and {model} is none")
    if hasattr(fitted, "no_classes"):
        table, target = read_with_target(fitted, data, target)
        print_found(weigh.evaluate(fitted, table, target, train=train, **own, **asked), as_json)
        return
    Question.of_model(fitted)
    table, target = read_with_target(fitted, data, target)
    asked["pos_label"] = tell_class(fitted, asked["pos_label"], asked["costs"])
    if of_card["profit"] is not None and asked["costs"] is None:
        asked["costs"] = implied_costs(fitted, of_card["profit"], asked["pos_label"])
    rows = None if train is None else (read_like(fitted, train, target), target)
    found = weigh.evaluate(fitted, table, target, train=rows, **asked)
    if is_card(fitted):
        weight, by = asked["sample_weight"], asked["by"]
        tables = _score_tables(fitted, table, target, weight, by, of_card)
        decided = None
        if of_card["cut_off"] is not None:
            rows = fitted.bands(table, target, EACH_SCORE, sample_weight=weight)
            decided = rows.decide(of_card["cut_off"])
        _print_card(found, tables, decided, as_json)
    else:
        print_found(found, as_json)


def _check_card_options(fitted: Any, path: str, asked: dict[str, Any]) -> None:
    """Raise an error for scorecard options with a model."""
    given = [f"--{name.replace('_', '-')}" for name, value in asked.items() if value is not None]
    if given and not is_card(fitted):
        raise click.UsageError(f"{given[0]} goes with a scorecard, and {path} is a model")


def _split_cut_offs(
    fitted: Any, path: str, given: list[float] | None
) -> tuple[list[float] | None, float | None]:
    """The probabilities among the values of --cut-off, and the score of a scorecard.

    As in other commands, a number between 0 and 1 is a probability of a scorecard, too.
    """
    if given is None or not hasattr(fitted, "classes_"):
        return given, None
    if is_card(fitted):
        scores = [value for value in given if not 0 < value < 1]
        if len(scores) > 1:
            told = ", ".join(f"{score:g}" for score in scores)
            raise click.UsageError(f"--cut-off takes one score of a scorecard, got {told}")
        return [value for value in given if 0 < value < 1] or None, next(iter(scores), None)
    for value in given:
        if not 0 <= value <= 1:
            mend = f", such as {value / 100:g}" if 1 < value < 100 else ", such as 0.3"
            raise click.UsageError(
                f"--cut-off {value:g} is no probability; {path} is a model, not a scorecard with "
                f"scores: give a number from 0 to 1{mend}"
            )
    return given, None


EACH_SCORE = 10**9
"""A number of bands for which each score is a band of its own."""


def _print_card(found: Any, tables: dict[str, Any], decided: Any, as_json: bool) -> None:
    """Print the measures of a scorecard and its tables of scores."""
    if not as_json:
        best, view = tables["bands"].best, found.view()
        lead = (*(told.words for told in (decided, best) if told is not None), *view.lead)
        pages = (replace(view, lead=lead), *tables.values())
        click.echo("\n\n".join(page.to_text(terminal_width()) for page in pages))
        return
    from weigh.scoring import json_rows

    rows = {name: json_rows(part.to_frame()) for name, part in tables.items()}
    best = tables["bands"].best
    more = {"profit": best, "decided": decided}
    own = {name: asdict(part) for name, part in more.items() if part is not None}
    told = found.to_dict() | rows | own
    click.echo(json.dumps(told, ensure_ascii=False, allow_nan=False))


def _score_tables(
    card: Any, table: Any, target: str, weight: str | None, by: Any, asked: dict[str, Any]
) -> dict[str, Any]:
    """The cut-off table, the gains table and approval by group; --tables also writes them."""
    import pyarrow as pa

    from weigh.frames import write_file
    from weigh.writing import make_folder

    bands = card.bands(table, target, sample_weight=weight, profit=asked["profit"])
    parts = {"bands": bands, "gains": bands.gains}
    if asked["cut_off"] is not None and by is not None:
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
@options.data
@options.target
@options.option(
    "--cut-off P|SCORE",
    "Probability above which a row counts as positive, or lowest approved score of OLD, if it is a "
    "scorecard (default: probability 0.5).",
    type=float,
)
@options.pos_label
@options.weight
@options.exposure
@options.page
@options.as_json
def challenge(
    old: str,
    new: str,
    data: str,
    target: str | None,
    exposure: str | None,
    output: str | None,
    as_json: bool,
    **asked: Any,
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
        check_output(output, old, new, data)
    models = read_any(old), read_any(new)
    table, target = read_with_target(models[0], data, target)
    tables = table, read_evaluated(models[1], data, target)
    asked["pos_label"] = find_class(models[0], asked["pos_label"])
    given = asked["cut_off"]
    asked["cut_off"] = read_cut_off(models[0], given, asked["pos_label"])
    asked |= read_exposure(models[0], exposure)
    found: Any = challenge_each(models, tables, target, **asked)
    if asked["cut_off"] != given:  # a score, which stands for a probability
        found = found.at_score(given, found.pos_label != models[0].adverse)
    shown = found.named(*_name_files(old, new))
    if output is not None:
        write_text(shown.to_html(), output)
    print_found(found if as_json else shown, as_json)


def _name_files(*paths: str) -> tuple[str, ...]:
    """The names of files without their folders, if they differ."""
    names = tuple(map(os.path.basename, paths))
    return names if len({*names}) == len(names) else paths


DRIFTED = 3
"""Exit code if drift is found; 1 means an error and 2 a wrong option."""


@main.command()
@options.model
@click.argument("data", metavar="[DATA]...", nargs=-1)
@options.reading
@options.target
@options.option(
    "--alpha",
    "The probability of a false alarm, for all checks of one file together.",
    type=options.SHARE,
    default=0.01,
)
@options.option(
    "--fail-on",
    "Exit with code 3 if drift is of this level or a higher one (default: never).",
    among="notice warning alarm",
)
@options.option(
    "--metrics FILE", "File with the answer of /metrics of weigh serve, in place of DATA."
)
@options.option(
    "--reference DATA",
    "Training or hold-out rows. Adds the PSI of the totals, relative to these rows.",
)
@options.exposure
@options.event
@options.duration
@options.entry
@options.page
@options.as_json
@click.pass_context
def drift(
    ctx: click.Context,
    /,
    model: str,
    data: tuple[str, ...],
    target: str | None,
    fail_on: str | None,
    metrics: str | None,
    reference: str | None,
    exposure: str | None,
    event: str | None,
    duration: str | None,
    entry: str | None,
    output: str | None,
    as_json: bool,
    **asked: Any,
) -> None:
    """Compare new rows with the training rows of a model.

    The training rows are not needed, because the model has their counts.

    With --target, calibration and weights are checked, too; for a regression, the mean, the slope
    and the deviance. Without it, the column of true values is not read. For a survival model,
    observed events are compared with expected ones over time. Name their columns with --event and
    --duration if they differ from the fit's.

    Example: weigh drift model.json new.csv --fail-on warning

    Several files, such as one per month, are checked one by one. -o draws each check over time.

    Example: weigh drift model.json may.csv june.csv july.csv -o drift.html

    `weigh serve` counts the rows that it scores: curl 127.0.0.1:8000/metrics > metrics.txt

    Example: weigh drift model.json --metrics metrics.txt
    """
    import weigh
    from weigh.writing import write_text

    _check_given(data, metrics, target)
    if output is not None:
        check_output(output, model, *data, *filter(None, (metrics, reference)))
    fitted = read_any(model, times=True)
    asked |= read_exposure(fitted, exposure)
    asked["reference"] = None if reference is None else read_like(fitted, reference)
    tables = _read_files(fitted, data, target)
    known = _find_known(fitted, tables, target, (event, duration, entry))
    if len(tables) > 1:
        found: Any = weigh.drift_series(fitted, tables, known, **asked)
    else:
        rows = next(iter(tables.values()), None)
        found = weigh.drift(fitted, rows, known, metrics=metrics, **asked)
    if output is not None:
        write_text(found.to_html(), output)
    if known is None and outcome_of(fitted, event, duration, entry) is None:
        _note_target(fitted, tables)
    print_found(found, as_json)
    if fail_on is not None and found.reaches(fail_on):
        ctx.exit(DRIFTED)


def _find_known(
    model: Any, tables: dict[str, Any], target: str | None, given: tuple[str | None, ...]
) -> Any:
    """The columns of the true outcomes: as given, or those of a survival model's fit."""
    times = outcome_of(model, *given)
    if times is None:
        return target
    if target is not None:
        raise click.UsageError("a survival model takes --event and --duration in place of --target")
    having = [table for table in tables.values() if {*times} <= {*column_names(table)}]
    if not any(given) and not _can_compare_events(having):
        return None
    if not tables:
        raise click.UsageError("--metrics has no events: leave out --event, --duration and --entry")
    return with_entry(model, times, next(iter(having or tables.values())), given[-1])


def _note_target(model: Any, tables: dict[str, Any]) -> None:
    """Say how to check outcomes, if the rows have the column that the model was fitted to."""
    name = getattr(getattr(model, "provenance_", None), "target", None)
    features = {part.name for feature in model._learnt.features for part in feature.parts}
    if name is None or name in features:
        return
    if any(name in column_names(table) for table in tables.values()):
        said = "probabilities" if hasattr(model, "classes_") else "estimates"
        say(f"note: the rows have the target: --target {quote(name)} also checks the {said}")


def _can_compare_events(tables: list[Any]) -> bool:
    """Whether there are tables with events, and all are in memory."""
    from weigh.frames import Scan

    if any(isinstance(table, Scan) for table in tables):
        say("note: the events of files that are read in passes are not compared; give a sample")
        return False
    return bool(tables)


def _check_given(data: tuple[str, ...], metrics: str | None, target: str | None) -> None:
    if (not data) == (metrics is None):
        raise click.UsageError("give DATA, a file of new rows, or --metrics FILE")
    if metrics is not None and target is not None:
        raise click.UsageError("--metrics has no classes: leave out --target")
    if data.count("-") > 1:
        raise click.UsageError("standard input (-) can be read only once")
    files = [Path(path).resolve() for path in data]
    twice = next((path for path, file in zip(data, files, strict=True) if files.count(file) > 1), 0)
    if twice:
        raise click.UsageError(f"{twice} is given twice; give each file once")


def _read_files(model: Any, data: tuple[str, ...], target: str | None) -> dict[str, Any]:
    from weigh.errors import begin_with

    short = [Path(path).name for path in data]  # without folders, if these names differ
    names, tables = short if len({*short}) == len(short) else data, {}
    for name, path in zip(names, data, strict=True):
        with begin_with(name) if len(data) > 1 else nullcontext():
            tables[name] = read_like(model, path, target)
    return tables
