"""The commands screen and scorecard. Each imports what it needs when it runs."""

from __future__ import annotations

import json
import sys
from shlex import quote
from typing import Any

import click

from weigh.cli import options
from weigh.cli.columns import (
    advise_alike,
    advise_ids,
    advise_leaks,
    advise_marks,
    advise_other,
    classing_options,
    name_once,
    take_classing,
)
from weigh.cli.data import (
    check_output,
    find_class,
    is_card,
    label_text,
    list_classes,
    pick_class,
    read_any,
    read_table,
)
from weigh.cli.group import hint, main, say, terminal_width, wrap_words
from weigh.cli.reasons import read_texts, texts_option
from weigh.cli.training import trace
from weigh.progress import show_progress


@main.command()
@options.data
@options.option("--target COL", "The column to predict, two classes.", required=True)
@options.option(
    "--pos-label CLASS",
    "The class that positive WoE favours (default: the second in sorted order).",
)
@options.option("--time COL", "Column of times: adds the PSI of the later half of the rows.")
@options.option("--adverse CLASS", "The bad class; positive WoE then favours the other one.")
@options.option(
    "--bins mdl|fine|optimal|N|MODEL",
    "Binning of numeric columns, as in weigh fit.",
    type=options.BINS,
    default="mdl",
)
@classing_options
@options.option("--min-iv", "Leave out columns with a lower IV.", type=float, default=0.02)
@options.option(
    "--max-missing",
    "Leave out columns with a larger share of missing values.",
    type=float,
    default=0.95,
)
@options.option(
    "--max-largest",
    "Leave out columns with a larger share of rows in one level.",
    type=float,
    default=0.99,
)
@options.option(
    "--max-correlation",
    "Leave out columns whose WoE correlates more with a column of larger IV.",
    type=float,
    default=0.9,
)
@options.option(
    "--max-stability", "With --time: leave out columns with a larger PSI.", type=float, default=0.25
)
@options.drop
@options.categorical
@options.option("-o --output FILE", "Also write the table (.csv or .parquet).")
@options.as_json
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
        check_output(output, data)
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
    advise_marks(table, {target, time, *categorical, *found.unread})
    if output is not None:
        write_file(found.to_frame(), output)
        say(f"Table: {output}")
    if as_json:
        data_of = {**found.to_dict(), "kept": [*chosen.kept], "left_out": chosen.left_out}
        click.echo(json.dumps(data_of, ensure_ascii=False, allow_nan=False))
        return
    click.echo(found.to_text(terminal_width()))
    told = [f"\nKept: {', '.join(chosen.kept) or 'none'}"]
    for why in dict.fromkeys(chosen.left_out.values()):
        names = [name for name, own in chosen.left_out.items() if own == why]
        few = f"Left out: {names[0]} ({why})"
        told.append(few if len(names) == 1 else f"Left out, {why}: {', '.join(names)}")
    click.echo("\n".join(wrap_words(line, sys.stdout) for line in told))


@main.command()
@click.argument("source", metavar="DATA|MODEL")
@options.reading
@options.output("The card to write (JSON).")
@options.option("--target COL", "The column to predict (needed with DATA).")
@options.option("--adverse CLASS", "The bad class, which gets low scores.", required=True)
@options.option("--points-to-double", "Points that double the odds.", type=float, default=20.0)
@options.option(
    "--base-score", "The score at which the odds are --base-odds.", type=float, default=600.0
)
@options.option(
    "--base-odds",
    "Odds of the good class (the one that is not --adverse) at --base-score.",
    type=float,
    default=50.0,
)
@options.option(
    "--levels", "Maximum number of bins or categories of a feature (with DATA).", least=3, default=6
)
@options.option(
    "--bins COL CUTS|optimal",
    "Cut points of a column, such as: --bins age 30,50; or optimal: the levels of largest "
    "information value, where categories of similar risk are joined (repeatable; with DATA).",
    to="cuts",
    multiple=True,
)
@classing_options
@options.option(
    "--monotone COL up|down|free",
    "Direction of the points as a column rises (default: chosen from the data; with DATA).",
    to="trends",
    multiple=True,
)
@options.option(
    "--base",
    "Print base points separately, spread over the features, or so that the lowest level of each "
    "feature has 0 points.",
    among="separate spread lowest",
    default="separate",
)
@options.option(
    "--woe", "The class for which the printed WoE is positive.", among="good bad", default="good"
)
@texts_option
@options.weight
@options.drop
@options.categorical
def scorecard(
    source: str,
    output: str,
    target: str | None,
    adverse: str,
    levels: int,
    cuts: tuple[tuple[str, str], ...],
    trends: tuple[tuple[str, str], ...],
    sample_weight: str | None,
    drop: tuple[str, ...],
    categorical: tuple[str, ...],
    texts: str | None,
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
    from weigh.layout import count_of

    check_output(output, source)
    asked = {name: more.pop(name) for name in ("groups", "read_bins", "special")}
    closed = more.pop("closed")
    more |= read_texts(texts)
    if source.endswith(".json"):
        _refuse_table_options(source)
        card = _from_model(source, adverse, more)
    else:
        if target is None:
            raise click.UsageError("with a table, --target names the column to predict")
        table = read_table(source, categorical, drop)
        classes = list_classes(table, target)
        bad = pick_class(classes, adverse, "--adverse", target)
        given = (_read_cuts(*pair, levels) for pair in cuts)
        asked |= {"bins": name_once(given, "--bins") or None, "closed": "right"}
        more |= take_classing(asked, table, {target, sample_weight})
        more |= {"closed": closed, "levels": levels, "sample_weight": sample_weight}
        more["monotonic_cst"] = _read_trends(trends, rises=adverse == next(iter(classes)))
        with show_progress("fitting"):
            card = weigh.Scorecard.from_table(table, target, adverse=bad, **more)
        card.provenance_ = trace(card, source, table, target)
        advise_ids(table, {target, sample_weight})
        advise_marks(table, {target, sample_weight, *categorical})
        advise_alike(card._source, table)
        advise_other(card._source)
        advise_leaks(table, target, {sample_weight})
    weigh.save(card, output)
    n_levels = sum(map(len, card.points.values()))
    of = f"{count_of(len(card.points), 'feature')} and {count_of(n_levels, 'level')}"
    say(f"Scorecard of {of}: {output}")
    say(f"High scores favour {label_text(card.pos_label)}; low scores {label_text(card.adverse)}.")
    hint(f"weigh show {quote(output)}")


TABLE_ONLY = (
    "target", "sample_weight", "drop", "categorical", "cuts", "trends", "levels", "groups",
    "read_bins", "closed", "special",
)  # fmt: skip
"""Options of `weigh scorecard` that apply to a table only, because a model is already fitted."""


def _refuse_table_options(source: str) -> None:
    typed = [p for p in click.get_current_context().command.params if options.is_typed(str(p.name))]
    given = [option.opts[-1] for option in typed if option.name in TABLE_ONLY]
    if given:
        raise click.UsageError(f"{source} is a model: {', '.join(given)} goes with a table")


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


def _read_cuts(name: str, text: str, levels: int) -> tuple[str, Any]:
    """A column and its cut points, or the binning that finds its levels."""
    import weigh

    if text == "optimal":
        return name, weigh.Binning(max_levels=levels)
    try:
        return name, [float(part) for part in text.split(",")]
    except ValueError:
        raise click.UsageError(
            f"--bins {name} {text}: cut points are numbers with commas between them, such as "
            "30,50, or optimal"
        ) from None


TRENDS = {"up": 1, "down": -1, "free": 0}


def _read_trends(pairs: tuple[tuple[str, str], ...], rises: bool) -> dict[str, int]:
    """The trends by column; signs are reversed unless points favour the second class (`rises`)."""
    for name, trend in name_once(pairs, "--monotone").items():
        if trend not in TRENDS:
            raise click.UsageError(f"--monotone {name} takes up, down or free, but got {trend!r}")
    return {name: TRENDS[trend] if rises else -TRENDS[trend] for name, trend in pairs}
