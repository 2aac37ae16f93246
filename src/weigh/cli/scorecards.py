"""The command that makes scorecards. It imports what it needs when it runs."""

from __future__ import annotations

from typing import Any

import click

from weigh.cli.commands import main
from weigh.cli.data import find_class, is_card, keep_apart, label_text, read_any, read_table
from weigh.cli.messages import hint, say
from weigh.cli.options import categorical_option, drop_option, weight_option
from weigh.progress import show_progress


@main.command()
@click.argument("source", metavar="DATA|MODEL")
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
@weight_option
@drop_option
@categorical_option
def scorecard(
    source: str,
    output: str,
    target: str | None,
    adverse: str,
    levels: int,
    weight: str | None,
    drop: tuple[str, ...],
    categorical: tuple[str, ...],
    **settings: Any,
) -> None:
    """Make a scorecard: whole points for every level, from a table or from a model.

    A table is fitted with few levels for each feature, monotone where the data allow it. A model
    (a .json file) keeps its own levels.

    Example: weigh scorecard loans.csv --target class --adverse bad -o card.json

    Example: weigh scorecard model.json --adverse bad -o card.json
    """
    import weigh

    keep_apart(output, source)
    if source.endswith(".json"):
        given = [
            option
            for option, value in (
                ("--target", target),
                ("--weight", weight),
                ("--drop", drop),
                ("--categorical", categorical),
            )
            if value
        ]
        source_of = click.get_current_context().get_parameter_source
        if source_of("levels") is click.core.ParameterSource.COMMANDLINE:
            given.append("--levels")
        if given:
            raise click.UsageError(f"{source} is a model: {', '.join(given)} goes with a table")
        card = _from_model(source, adverse, settings)
    else:
        if target is None:
            raise click.UsageError("with a table, --target names the column to predict")
        table = read_table(source, categorical, drop)
        with show_progress("fitting"):
            card = weigh.Scorecard.from_table(
                table,
                target,
                adverse=_class(table, target, adverse),
                levels=levels,
                sample_weight=weight,
                **settings,
            )
    weigh.save(card, output)
    n_levels = sum(map(len, card.points.values()))
    say(f"Scorecard of {len(card.points)} features and {n_levels} levels: {output}")
    say(f"High scores favour {label_text(card.pos_label)}; low scores {label_text(card.adverse)}.")
    hint(f"weigh show {output}")


def _from_model(path: str, adverse: str, settings: dict[str, Any]) -> Any:
    import weigh
    from weigh.scorecard.card import other_class

    model = read_any(path)
    if is_card(model):
        raise ValueError(f"{path} is a scorecard already; give the model or the table it came from")
    if not hasattr(model, "classes_"):
        raise ValueError(f"{path} is a {type(model).__name__}; a scorecard is of two classes")
    good = other_class(model, find_class(model, adverse))
    return weigh.Scorecard(model, pos_label=good, **settings)


def _class(table: Any, target: str, text: str) -> Any:
    """The adverse class as the table has it: the label that is shown by this text."""
    from weigh.frames import check_name, read

    found = read(table)
    column: Any = found.column(check_name(found, target, "target"), True)
    labels = {label_text(value): value for value in column.values if value is not None}
    if text not in labels:
        known = ", ".join(sorted(labels)[:12])
        raise click.UsageError(f"--adverse {text!r} is not a class of {target!r}: {known}")
    return labels[text]
