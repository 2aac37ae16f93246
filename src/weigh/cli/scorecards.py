"""The commands of scorecards, levers and letters. Each imports what it needs when it runs."""

from __future__ import annotations

import json
from typing import Any

import click

from weigh.cli.advice import advise_alike
from weigh.cli.classing import classing_options, take_classing
from weigh.cli.commands import main
from weigh.cli.data import (
    count_rows,
    find_class,
    is_card,
    keep_apart,
    label_text,
    list_classes,
    pick_class,
    read_any,
    read_like,
    read_table,
    take_row,
)
from weigh.cli.messages import hint, say, terminal_width
from weigh.cli.options import (
    categorical_option,
    class_option,
    data_argument,
    drop_option,
    json_option,
    model_argument,
    reading_options,
    weight_option,
)
from weigh.cli.training import trace
from weigh.progress import show_progress


@main.command()
@click.argument("source", metavar="DATA|MODEL")
@reading_options
@click.option("-o", "--output", required=True, metavar="FILE", help="The card to write (JSON).")
@click.option("--target", metavar="COL", help="The column to predict (needed with DATA).")
@click.option(
    "--adverse", required=True, metavar="CLASS", help="The class that low scores stand for."
)
@click.option(
    "--points-to-double",
    type=float,
    default=20.0,
    show_default=True,
    help="Points that double the odds.",
)
@click.option(
    "--base-score",
    type=float,
    default=600.0,
    show_default=True,
    help="The score at which the odds are --base-odds.",
)
@click.option(
    "--base-odds",
    type=float,
    default=50.0,
    show_default=True,
    help="Odds of the good class (the one that is not --adverse) at --base-score.",
)
@click.option(
    "--levels",
    type=click.IntRange(3),
    default=6,
    show_default=True,
    help="Bins or categories of a feature at most (with DATA).",
)
@click.option(
    "--bins",
    "cuts",
    nargs=2,
    multiple=True,
    metavar="COL CUTS",
    help="Cut points of a column, such as: --bins age 30,50 (repeatable; with DATA).",
)
@classing_options
@click.option(
    "--monotone",
    "trends",
    nargs=2,
    multiple=True,
    metavar="COL up|down|free",
    help="Whether points rise or fall with a column (default: as the data say; with DATA).",
)
@click.option(
    "--base",
    type=click.Choice(["separate", "spread", "lowest"]),
    default="separate",
    show_default=True,
    help="Print base points separately, spread over the features, or so that the lowest level of "
    "each feature has 0 points.",
)
@click.option(
    "--woe",
    type=click.Choice(["good", "bad"]),
    default="good",
    show_default=True,
    help="The class for which the printed WoE is positive.",
)
@weight_option
@drop_option
@categorical_option
def scorecard(
    source: str,
    output: str,
    target: str | None,
    adverse: str,
    levels: int,
    cuts: tuple[tuple[str, str], ...],
    trends: tuple[tuple[str, str], ...],
    weight: str | None,
    drop: tuple[str, ...],
    categorical: tuple[str, ...],
    **more: Any,
) -> None:
    """Make a scorecard from a table or a model.

    Every level of every feature gets whole points.

    A table is fitted with few levels for each feature, monotone where the data allow it. A model
    (a .json file) keeps its own levels.

    Example: weigh scorecard loans.csv --target class --adverse bad -o card.json

    Example: weigh scorecard model.json --adverse bad -o card.json
    """
    import weigh

    keep_apart(output, source)
    asked = {name: more.pop(name) for name in ("groups", "read_bins", "special")}
    closed = more.pop("closed")
    if source.endswith(".json"):
        _refuse_table_options(source)
        card = _from_model(source, adverse, more)
    else:
        if target is None:
            raise click.UsageError("with a table, --target names the column to predict")
        table = read_table(source, categorical, drop)
        classes = list_classes(table, target)
        bad = pick_class(classes, adverse, "--adverse", target)
        asked |= {"bins": dict(map(_read_cuts, cuts)) or None, "closed": "right"}
        more |= take_classing(asked, table, {target, weight})
        more |= {"closed": closed, "levels": levels, "sample_weight": weight}
        more["monotonic_cst"] = _read_trends(trends, rises=adverse == next(iter(classes)))
        with show_progress("fitting"):
            card = weigh.Scorecard.from_table(table, target, adverse=bad, **more)
        card.provenance_ = trace(card, source, table, target)
        advise_alike(card._source, table)
    weigh.save(card, output)
    n_levels = sum(map(len, card.points.values()))
    say(f"Scorecard of {len(card.points)} features and {n_levels} levels: {output}")
    say(f"High scores favour {label_text(card.pos_label)}; low scores {label_text(card.adverse)}.")
    hint(f"weigh show {output}")


TABLE_OPTIONS = {
    "target": "--target",
    "weight": "--weight",
    "drop": "--drop",
    "categorical": "--categorical",
    "cuts": "--bins",
    "trends": "--monotone",
    "levels": "--levels",
    "groups": "--groups",
    "read_bins": "--read-bins",
    "closed": "--closed",
    "special": "--special-values",
}
"""Parameters of `weigh scorecard` that a model, which is fitted already, does not take."""


def _refuse_table_options(source: str) -> None:
    source_of = click.get_current_context().get_parameter_source
    typed = click.core.ParameterSource.COMMANDLINE
    given = [option for name, option in TABLE_OPTIONS.items() if source_of(name) is typed]
    if given:
        raise click.UsageError(f"{source} is a model: {', '.join(given)} goes with a table")


may_change_option = click.option(
    "--may-change",
    multiple=True,
    metavar="COL[:up|:down]",
    help="A column that may change, and in which direction (repeatable).",
)
row_option = click.option("--row", default=0, show_default=True, help="Which row; the first is 0.")


@main.command()
@model_argument
@data_argument
@row_option
@may_change_option
@click.option(
    "--cut-off",
    type=float,
    metavar="P|SCORE",
    help="What is accepted from: a probability of the class (MODEL is a model), or a score "
    "(MODEL is a card). Default: even odds.",
)
@class_option
@click.option("-n", default=3, show_default=True, type=click.IntRange(1), help="Levers to list.")
@json_option
def levers(
    model: str,
    data: str,
    row: int,
    may_change: tuple[str, ...],
    cut_off: float | None,
    pos_label: str | None,
    n: int,
    as_json: bool,
) -> None:
    """List the smallest changes of a row that cross a cut-off.

    Example: weigh levers card.json loans.csv --row 3 --may-change income:up --cut-off 600
    """
    import weigh

    fitted = read_any(model)
    case = _case(fitted, data, row)
    chosen = {"cut_off": cut_off, "pos_label": find_class(fitted, pos_label), "n": n}
    found = weigh.levers(fitted, case, _read_changes(may_change, fitted), **chosen)
    if as_json:
        click.echo(json.dumps(found.to_dict(), ensure_ascii=False))
    else:
        click.echo(found.to_text(terminal_width()))


@main.command()
@click.argument("card", metavar="CARD")
@data_argument
@row_option
@click.option(
    "--cut-off",
    type=int,
    required=True,
    metavar="SCORE",
    help="The lowest score that is accepted (a score, not a probability).",
)
@click.option(
    "--reasons", default=4, show_default=True, type=click.IntRange(1), help="Number of reasons."
)
@may_change_option
@click.option("-o", "--output", default="-", metavar="FILE", help="Text, or HTML (.html).")
def letter(
    card: str,
    data: str,
    row: int,
    cut_off: int,
    reasons: int,
    may_change: tuple[str, ...],
    output: str,
) -> None:
    """Write an adverse-action letter with the main reasons.

    It is for an applicant whose score is below a cut-off.

    With --may-change it lists the smallest changes that reach the cut-off.

    Example: weigh letter card.json loans.csv --row 3 --cut-off 600 -o letter.html
    """
    from weigh.writing import write_text

    keep_apart(output, card, data)
    fitted = read_any(card)
    if not is_card(fitted):
        raise ValueError(
            f"{card} is a model, not a scorecard; weigh scorecard makes a card from it"
        )
    changes = _read_changes(may_change, fitted) if may_change else None
    made = fitted.letter(_case(fitted, data, row), cut_off, n=reasons, may_change=changes)
    if output == "-":
        click.echo(made.to_text(), nl=False)
        return
    write_text(made.to_html() if output.endswith(".html") else made.to_text(), output)
    say(f"Letter: {output}")


def _case(model: Any, data: str, row: int) -> Any:
    """One row of a file."""
    table = read_like(model, data)
    last = count_rows(table) - 1
    if not 0 <= row <= last:
        raise click.BadParameter(
            f"row {row} does not exist; rows are numbered from 0 to {last}", param_hint="--row"
        )
    return take_row(table, row)


def _read_changes(given: tuple[str, ...], model: Any) -> dict[str, str]:
    """Columns and directions; a column whose own name ends so is meant where there is one."""
    if not given:
        raise click.UsageError("--may-change names the columns that may change")
    found = {}
    for text in given:
        name, colon, direction = text.rpartition(":")
        whole = not colon or direction not in ("up", "down") or text in model._column_names()
        found[text if whole else name] = "any" if whole else direction
    return found


def _from_model(path: str, adverse: str, settings: dict[str, Any]) -> Any:
    import weigh
    from weigh.scorecard.learn import other_class

    model = read_any(path)
    if is_card(model):
        raise ValueError(f"{path} is a scorecard already; give the model or the table it came from")
    if not hasattr(model, "classes_"):
        raise ValueError(f"{path} holds {type(model).__name__}; a scorecard needs two classes")
    good = other_class(model, find_class(model, adverse))
    return weigh.Scorecard(model, pos_label=good, **settings)


def _read_cuts(pair: tuple[str, str]) -> tuple[str, list[float]]:
    """A column and its cut points."""
    name, text = pair
    try:
        return name, [float(part) for part in text.split(",")]
    except ValueError:
        raise click.UsageError(
            f"--bins {name} {text}: cut points are numbers with commas between them, such as 30,50"
        ) from None


TRENDS = {"up": 1, "down": -1, "free": 0}


def _read_trends(pairs: tuple[tuple[str, str], ...], rises: bool) -> dict[str, int]:
    """Trends of points by column; `rises` says that points favour the second class."""
    for name, trend in pairs:
        if trend not in TRENDS:
            raise click.UsageError(f"--monotone {name} {trend}: give up, down or free")
    return {name: TRENDS[trend] if rises else -TRENDS[trend] for name, trend in pairs}
