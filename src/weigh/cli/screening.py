"""The command that describes columns before a fit."""

from __future__ import annotations

import json
from typing import Any

import click

from weigh.cli.advice import advise_ids, advise_leaks
from weigh.cli.classing import classing_options, take_classing
from weigh.cli.commands import main
from weigh.cli.data import keep_apart, list_classes, pick_class, read_table
from weigh.cli.messages import say, terminal_width
from weigh.cli.options import (
    BINS,
    categorical_option,
    data_argument,
    drop_option,
    json_option,
)


@main.command()
@data_argument
@click.option("--target", required=True, metavar="COL", help="The column to predict, two classes.")
@click.option(
    "--pos-label",
    metavar="CLASS",
    help="The class that positive WoE favours (default: the second in sorted order).",
)
@click.option(
    "--time", metavar="COL", help="Column of times: adds the PSI of the later half of the rows."
)
@click.option(
    "--adverse", metavar="CLASS", help="The bad class; positive WoE then favours the other one."
)
@click.option(
    "--bins",
    type=BINS,
    metavar="mdl|fine|optimal|N|MODEL",
    default="mdl",
    show_default=True,
    help="Binning of numeric columns, as in weigh fit.",
)
@classing_options
@click.option(
    "--min-iv",
    type=float,
    default=0.02,
    show_default=True,
    help="Leave out columns with a lower IV.",
)
@click.option(
    "--max-missing",
    type=float,
    default=0.95,
    show_default=True,
    help="Leave out columns with a larger share of missing values.",
)
@click.option(
    "--max-largest",
    type=float,
    default=0.99,
    show_default=True,
    help="Leave out columns with a larger share of rows in one level.",
)
@click.option(
    "--max-correlation",
    type=float,
    default=0.9,
    show_default=True,
    help="Leave out columns whose WoE correlates more with a column of larger IV.",
)
@click.option(
    "--max-stability",
    type=float,
    default=0.25,
    show_default=True,
    help="With --time: leave out columns with a larger PSI.",
)
@drop_option
@categorical_option
@click.option("-o", "--output", metavar="FILE", help="Also write the table (.csv or .parquet).")
@json_option
def screen(
    data: str,
    target: str,
    pos_label: str | None,
    adverse: str | None,
    time: str | None,
    drop: tuple[str, ...],
    categorical: tuple[str, ...],
    output: str | None,
    as_json: bool,
    **more: Any,
) -> None:
    """Describe each column before a fit: IV, missing, correlation.

    Prints one line per column, sorted by information value, and the reason if a column should be
    left out. Dates are always left out; the line says what to use instead.

    Example: weigh screen loans.csv --target class --adverse bad -o columns.csv
    """
    import weigh
    from weigh.frames import write_file

    if output is not None:
        keep_apart(output, data)
    table = read_table(data, categorical, drop)
    about = {"pos_label": pos_label, "adverse": adverse}
    for name, text in about.items():
        if text is not None:
            option = f"--{name.replace('_', '-')}"
            about[name] = pick_class(list_classes(table, target), text, option, target)
    levels = take_classing(more, table, {target, time})
    found = weigh.screen(table, target, time=time, **about, **levels)
    chosen = found.select(**more)
    advise_leaks(table, target, {time, *found.unread})
    advise_ids(table, {target, time, *found.unread})
    if output is not None:
        write_file(found.to_frame(), output)
        say(f"Table: {output}")
    if as_json:
        told = {**found.to_dict(), "kept": [*chosen.kept], "left_out": chosen.left_out}
        click.echo(json.dumps(told, ensure_ascii=False, allow_nan=False))
        return
    click.echo(found.to_text(terminal_width()))
    click.echo(f"\nKept: {', '.join(chosen.kept) or 'none'}")
    for name, why in chosen.left_out.items():
        click.echo(f"Left out: {name} ({why})")
