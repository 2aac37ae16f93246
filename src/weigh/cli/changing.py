"""The commands that change models: simplify, price, set-prior, recalibrate, update, merge."""

from __future__ import annotations

import os
from shlex import quote
from typing import Any

import click

from weigh.cli import options
from weigh.cli.data import check_output, count_rows, label_text, read_with_target
from weigh.cli.group import hint, main, print_found, say


@main.command()
@options.model
@options.data
@options.output("The model to write (JSON).")
@options.target
@options.option("--features", "The largest number of features.", least=1, default=8)
@options.option(
    "--levels",
    "The largest number of levels of a feature; missing and special codes count.",
    least=2,
    default=6,
)
@options.option(
    "--total-levels N",
    "The largest number of levels of all features together (default: no limit).",
    least=2,
)
@options.option(
    "--pairs",
    "The largest number of pairs of features with a table of their own.",
    least=0,
    default=0,
)
@options.option(
    "--points N", "Whole points for every level, from -N to N (default: weights).", least=1
)
@options.weight
def simplify(
    model: str, data: str, output: str, target: str | None, points: int | None, **budget: Any
) -> None:
    """Fit the best model within a budget of features and levels.

    Use the rows that the model was fitted to. Without --target, the command takes the one column
    that is not a feature and holds the model's classes.

    Example: weigh simplify model.json people.csv --target Survived --features 2 -o small.json
    """
    import weigh

    check_output(output, model, data)
    fitted, table, target = _open(model, data, target)
    small = weigh.simplify(fitted, table, target, points=points, **budget)
    weigh.save(small, output)
    before, after = (_count(one.evidence_) for one in (fitted, small))
    say(f"{output}: {after}, of {before}")
    n_rows, known = count_rows(table), getattr(getattr(fitted, "provenance_", None), "rows", None)
    if known is not None and n_rows > known:
        say(
            f"note: {output} was fitted to all {n_rows:,} rows of {data}, and {model} to {known:,} "
            "rows. Evaluate it on other rows"
        )
        hint("weigh split writes training rows and hold-out rows to two files: give the first")
    if points is not None:
        _hint_at_card(small, output)


@main.command()
@options.model
@options.data
@options.target
@options.option(
    "--features N",
    "A number of features to try (repeatable; default: 1, 2, 3, 4, 6, 8 and so on).",
    least=1,
    multiple=True,
)
@options.option(
    "--levels N",
    "A number of levels of a feature to try (repeatable; default: 2, 3, 4 and 6).",
    least=2,
    multiple=True,
)
@options.folds
@options.weight
@options.as_json
def price(model: str, data: str, target: str | None, as_json: bool, **asked: Any) -> None:
    """Measure what each budget of features and levels costs.

    The cost is the loss on hold-out rows.
    In each fold the model is fitted and simplified without the rows that are held out.

    Example: weigh price model.json people.csv --target Survived --levels 2 --levels 4
    """
    import weigh

    fitted, table, target = _open(model, data, target)
    given = {name: value for name, value in asked.items() if value != ()}
    found = weigh.price(fitted, table, target, **given)
    print_found(found, as_json)


def _hint_at_card(small: Any, output: str) -> None:
    """Hint at the commands that make a card with these points, one for each class as the bad one.

    Six digits of the scale suffice, because the card rounds to whole points.
    """
    from math import exp, log

    if not small.point_:
        say("All points are 0: these features do not separate the classes.")
        return
    say(f"One point is {small.point_:.2g} nats.")
    scale = f"--points-to-double {log(2) / small.point_:.6g} --base-score 0"
    prior = float(small.evidence_.prior_row[0])
    for bad, log_odds in zip(small.classes_.tolist(), (prior, -prior), strict=True):
        name = label_text(bad)
        hint(
            f"a card, if {name!r} is the bad class: weigh scorecard {quote(output)} --adverse "
            f"{quote(name)} {scale} --base-odds {exp(log_odds):.6g} -o CARD"
        )


def _open(model: str, data: str, target: str | None) -> tuple[Any, Any, str]:
    """Read a model, its table and the name of the target, which is found if not given."""
    from weigh.store import load_model

    fitted = load_model(model)
    return fitted, *read_with_target(fitted, data, target)


def _count(evidence: Any) -> str:
    """The number of features and levels of a model, as text."""
    names = {part.name for table in evidence for part in table.feature.parts}
    levels = sum(len(table.levels) for table in evidence)
    return f"{len(names)} features and {levels} levels"


new_model = options.output("Where to write the new model.")


@main.command("set-prior")
@options.model
@click.argument("rate", type=click.FloatRange(0, 1, min_open=True, max_open=True))
@new_model
def set_prior(model: str, rate: float, output: str) -> None:
    """Set the base rate of a model.

    It is the probability of the second of two classes when no feature is known. A summary beside
    the model (`weigh fit --summary`) is written beside the new one, too.

    Example: weigh set-prior model.json 0.05 -o rarer.json
    """
    from weigh.store import load, load_model, save
    from weigh.store.summary import summary_path

    check_output(output)
    summary = os.path.exists(summary_path(model))
    fitted = load(model, summary=True) if summary else load_model(model)
    name = type(fitted).__name__
    if not hasattr(fitted, "with_prior"):
        raise ValueError(f"{model} holds {name}, which has no base rate of classes to set")
    save(fitted.with_prior(rate), output, summary=summary)
    what = label_text(fitted.classes_.tolist()[-1])
    say(f"{name} at a base rate of {rate:g} for {what}: {output}")


@main.command()
@options.model
@options.data
@options.target
@options.weight
@options.option(
    "--method",
    "Curve from old totals to new ones; sigmoid is a straight line and needs fewest rows.",
    among="spline sigmoid temperature isotonic",
    default="sigmoid",
)
@new_model
def recalibrate(
    model: str, data: str, target: str | None, sample_weight: str | None, method: str, output: str
) -> None:
    """Recalibrate a model on new rows.

    The weights stay. A curve that maps totals to probabilities is added.

    Example: weigh recalibrate model.json new.csv --target Survived -o mended.json
    """
    from weigh import RecalibratedClassifier
    from weigh.layout import count_of
    from weigh.store import save

    check_output(output, model, data)
    fitted, table, target = _open(model, data, target)
    mended = RecalibratedClassifier(fitted, method=method, cv="prefit")
    mended.fit(table, target, sample_weight=sample_weight)
    save(mended, output)
    say(f"{type(fitted).__name__} recalibrated on {count_of(count_rows(table), 'row')}: {output}")
    hint(f"weigh drift {quote(output)} NEXT.csv --target {quote(target)}")


@main.command()
@options.model
@options.data
@options.target
@options.weight
@options.option(
    "--half-life ROWS",
    "Old rows lose half their weight for each ROWS new ones (default: they lose none).",
    type=click.FloatRange(0, min_open=True),
)
@new_model
def update(model: str, data: str, target: str | None, output: str, **asked: Any) -> None:
    """Add new rows to a model, without the old ones.

    EvidenceNB needs only its model. EducatedNB also needs the summary of its rows, which `weigh
    fit --summary` writes beside the model. A new summary is written beside the new model.

    Example: weigh update model.json new.csv --target Survived --half-life 50000 -o next.json
    """
    import weigh

    check_output(output, model, data)
    fitted = _load(model)
    table, target = read_with_target(fitted, data, target)
    new = weigh.update(fitted, table, target, **asked)
    weigh.save(new, output, summary=hasattr(new, "summary_"))
    say(f"{type(fitted).__name__} with {count_rows(table):,} more rows: {output}")


@main.command()
@click.argument("models", nargs=-1, required=True, metavar="MODEL...")
@new_model
def merge(models: tuple[str, ...], output: str) -> None:
    """Merge models of different rows into the model of all rows.

    The models must share cut points: fit the others with --bins FIRST.json. EducatedNB also needs
    --summary and --set pairs=0.

    Example: weigh merge north.json south.json -o all.json
    """
    from weigh.layout import count_of
    from weigh.store import save

    check_output(output, *models)
    first, *others = [_load(model) for model in models]
    if not hasattr(first, "merge"):
        raise ValueError(
            f"{models[0]} holds {type(first).__name__}, whose fit is not a sum over rows"
        )
    merged = first.merge(*others)
    save(merged, output, summary=hasattr(merged, "summary_"))
    say(f"{count_of(len(models), 'model')} merged: {output}")


def _load(path: str) -> Any:
    """Load a model; an EducatedNB with the summary of its rows, which updates and merges need."""
    from weigh import EducatedNB
    from weigh.store import load, load_model

    model = load_model(path)
    return load(path, summary=True) if isinstance(model, EducatedNB) else model
