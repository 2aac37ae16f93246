"""Reading of tables and models from files, and checks of columns, classes and outputs."""

from __future__ import annotations

import glob
import os
import re
import sys
from collections.abc import Sequence
from contextlib import suppress
from shlex import quote
from typing import Any

import click

from weigh.cli.group import Process, say
from weigh.cli.options import dialect_of_command


def label_text(label: Any) -> str:
    """A class label as text."""
    from weigh import bins

    return bins.label(label)


LARGE = 1 << 28
"""Files of more bytes are read in batches, smaller ones at once."""


def open_data(data: str, text: Sequence[str], spelled: Sequence[str]) -> Any:
    """A file as a table; a large one, a folder or a glob as a scan. Errors name its lines.

    Columns in `text` are read as text if the file has no types (CSV). Columns in `spelled` are
    converted to text if it has (Parquet).
    """
    from weigh.frames import read_file, refuse_twice, scan, spell

    click.get_current_context().meta.setdefault(FILES, []).append(data)
    try:
        large = os.path.getsize(data) > LARGE or os.path.isdir(data)
    except OSError:
        large = glob.has_magic(data) or data.startswith("postgres")
    if large:
        opened = scan(data, text=text, **dialect_of_command())
        return opened.spelled({*spelled} & {*opened.names})
    table = read_file(data, tuple(text), **dialect_of_command())
    refuse_twice(tuple(table.column_names))
    for name in {*spelled} & {*table.column_names}:
        table = table.set_column(table.column_names.index(name), name, spell(table[name]))
    return table


def keep_apart(output: str, *inputs: str) -> None:
    """Raise an error if the output is one of the inputs: a model, or a file of a table."""
    if output == "-":
        return
    from weigh.writing import refuse_inputs

    refuse_inputs(output, [file for given in inputs for file in list_files(given)])


def check_output(output: str, *inputs: str) -> None:
    """Raise an error for an output that is an input or cannot be written, before any work."""
    keep_apart(output, *inputs)
    if output == "-":
        return
    from weigh.writing import refuse_unwritable

    refuse_unwritable(output)


def list_files(given: str) -> list[Any]:
    """The files that a path, folder or glob stands for; the file descriptor of standard input."""
    if given == "-":
        with suppress(OSError, AttributeError):  # standard input may be closed, or not a file
            return [sys.stdin.fileno()]
        return []
    if os.path.exists(given) and not os.path.isdir(given):
        return [given]
    if os.path.isdir(given) or glob.has_magic(given):
        from weigh.frames.folders import find_files

        return [found.path for found in find_files(given)]
    return []


def column_names(table: Any) -> tuple[str, ...]:
    """The names of the columns of a table or a scan."""
    return tuple(getattr(table, "names", None) or table.column_names)


def count_rows(table: Any) -> int:
    """The number of rows of a table or a scan."""
    return int(table.n_rows if hasattr(table, "n_rows") else table.num_rows)


def check_column(table: Any, name: str) -> str:
    """The name of a column; if the table has no such column, an error that lists the names."""
    from weigh.frames import did_you_mean, doubt_names, list_names

    names = column_names(table)
    if name not in names:
        meant = doubt_names(names) or did_you_mean(name, names)
        raise ValueError(f"the table has no column {name!r}; it holds {list_names(names)}{meant}")
    return name


def read_table(data: str, categorical: tuple[str, ...], drop: tuple[str, ...]) -> Any:
    """Read a file for fitting, with `categorical` columns as categories and without `drop`."""
    table = open_data(data, categorical, categorical)
    for name in (*categorical, *drop):
        check_column(table, name)
    table = without_columns(table, {*drop})
    if hasattr(table, "batches"):
        return table.coded({*categorical})
    for name in set(categorical) - set(drop):
        codes = table[name].dictionary_encode()
        table = table.set_column(table.column_names.index(name), name, codes)
    return table


def list_classes(table: Any, target: str) -> dict[str, Any]:
    """The sorted classes of a target, by their display names."""
    from weigh.frames import check_name, read, sort_classes

    found = read(table)
    column: Any = found.column(check_name(found, target, "y"), True)
    values = [value for value in column.values if value is not None]
    return {label_text(value): value for value in sort_classes(values, "target").tolist()}


def pick_class(classes: dict[str, Any], text: str, option: str, target: str) -> Any:
    """The class of a target that an option names; an unknown name is an error."""
    from weigh.frames import did_you_mean

    if len(classes) == 1:
        (only,) = classes
        raise click.UsageError(f"--target {target!r} holds one class only, {only!r}")
    if text not in classes:
        known = ", ".join([*classes][:12]) + did_you_mean(text, classes)
        raise click.UsageError(f"{option} {text!r} is not a class of {target!r}: {known}")
    return classes[text]


def without_columns(table: Any, names: set[str]) -> Any:
    """A table or a scan without some columns."""
    if hasattr(table, "batches"):
        return table.without(names)
    return table.drop_columns([*names])


def read_any(path: str, times: bool = False, tables: bool = False) -> Any:
    """Load a classifier, regressor or scorecard; a survival model only if `times` allows it.

    With `tables`, no learner is loaded for a model whose tables of weights suffice.
    """
    from weigh.store import load, load_scorer

    found = load_scorer(path) if tables else load(path)
    if hasattr(found, "predict_survival") and not times:
        raise ValueError(
            f"{path} is a survival model, which this command does not take: weigh show, score, "
            "explain, evaluate, report, drift and export do. In Python, the hazard_ of the model "
            "is a classifier that everything else takes"
        )
    return found


def outcome_of(
    model: Any, event: str | None, duration: str | None, entry: str | None
) -> tuple[str, str] | None:
    """The columns of event and duration of a survival model: as given, or those of its fit."""
    if not hasattr(model, "predict_survival"):
        if event or duration or entry:
            raise click.UsageError("--event, --duration and --entry go with a survival model")
        return None
    return event or model.event_name_, duration or model.time_name_


def with_entry(
    model: Any, times: tuple[str, str], table: Any, entry: str | None
) -> tuple[str, ...]:
    """The columns of event and duration, and of the entry: as given, or that of the fit if any."""
    if entry is not None:
        return (*times, check_column(table, entry))
    known = getattr(getattr(model, "provenance_", None), "target", None) or ""
    start = f"{model.event_name_}, {model.time_name_}, "
    if not known.startswith(start):
        return times
    own = known.removeprefix(start)
    if own in column_names(table):
        return (*times, own)
    say(
        f"note: the rows have no entry, {own!r}: all are taken as observed from time 0; --entry "
        "names another column"
    )
    return times


def read_scorer(path: str, data: str) -> Any:
    """Load what is needed to score and explain rows: a model, its tables alone, or a scorecard."""
    from weigh.frames.formats import spare_pandas
    from weigh.store import load_scorer

    if click.get_current_context().find_object(Process):
        spare_pandas(data)
    return load_scorer(path)


def read_table_of(path: str) -> Any:
    """Load what `weigh show` prints: evidence, a scorecard, a tree or a vote."""
    from weigh.store import holds_card, load, load_learnt

    if holds_card(path):
        return load(path)
    learnt = load_learnt(path)
    return learnt if hasattr(learnt, "no_table") else getattr(learnt, "evidence", learnt)


def is_card(model: Any) -> bool:
    """Whether a model is a scorecard."""
    return hasattr(model, "base_points")


def read_like(model: Any, data: str, target: str | None = None) -> Any:
    """Read a file with the types that the model was fitted on."""
    from weigh.bins import Kind

    parts = [part for feature in model._learnt.features for part in feature.parts]
    if model._learnt.event_model == "counts":
        parts = []
    if target in {part.name for part in parts}:
        raise ValueError(
            f"--target {target!r} is a feature of the model; name the column of true values"
        )
    text = [part.name for part in parts if Kind.TEXT in part.kinds]
    spelled = [part.name for part in parts if _may_be_spelled(part.values)]
    classes = getattr(model, "classes_", None)  # regressors have none
    if target is not None and classes is not None and any(isinstance(c, str) for c in classes):
        text.append(target)
        spelled += [target] if _may_be_spelled(model.classes_.tolist()) else []
    table = open_data(data, text, spelled)
    if not hasattr(table, "batches"):
        _refuse_text(table, [part.name for part in parts if part.is_numeric], data)
    return table


def _refuse_text(table: Any, numeric: Sequence[str], path: str) -> None:
    """Raise an error that names the first text in a numeric column, with its line in the file."""
    import pyarrow as pa

    from weigh.frames import reads_as_number

    for name in {*numeric} & {*table.column_names}:
        if not (pa.types.is_string(table[name].type) or pa.types.is_large_string(table[name].type)):
            continue
        for row, value in enumerate(table[name].to_pylist()):
            if value is not None and not reads_as_number(value):
                raise ValueError(
                    f"column {name!r} is numeric but holds text ({value!r}) in row {row} "
                    f"(counted from 0); convert it to numbers, or give --na {quote(value)} "
                    "where that means missing"
                )


FILES = "weigh.files"
"""The key of the command's context under which it lists the files whose rows errors may name."""


def forget_files() -> None:
    """Name no lines in errors from here on: rows are no longer those of the file."""
    click.get_current_context().meta[FILES] = []


ROW = re.compile(r"row (\d+) \(counted from 0")


def name_line(text: str) -> str:
    """An error message with the line of a row, if the command has read one text file at once."""
    from weigh.frames.delimited import TextDialect
    from weigh.frames.lines import line_of_row

    context, found = click.get_current_context(silent=True), ROW.search(text)
    files = context.meta.get(FILES, []) if context else []
    if not found or len({*files}) != 1 or not os.path.isfile(path := files[0]):
        return text
    line = None
    if os.path.getsize(path) <= LARGE:
        with suppress(Exception):  # the message matters more than its line
            line = line_of_row(path, TextDialect(**dialect_of_command()), int(found[1]))
    return (
        text if line is None else text.replace(found[0], f"row {found[1]} (line {line} of {path}")
    )


def _may_be_spelled(values: Sequence[Any]) -> bool:
    """Whether levels are text that looks like numbers or booleans."""
    from weigh.frames import reads_as_number

    text = all(isinstance(value, str) for value in values)
    return text and any(reads_as_number(v) or v in ("true", "false") for v in values)


def read_evaluated(model: Any, data: str, target: str | None = None) -> Any:
    """Read a file like `read_like`; the table knows the hash of its files, to recognise the fit."""
    from weigh.evidence import hash_files
    from weigh.frames import with_hash

    table = read_like(model, data, target)
    hashed = getattr(getattr(model, "provenance_", None), "sha256", None)
    files = [file for file in list_files(data) if isinstance(file, str)]
    once = not all(map(os.path.isfile, files))  # a pipe cannot be read again
    if hashed is None or not files or once or hasattr(table, "batches"):
        return table
    return with_hash(table, hash_files(files))


def read_with_target(model: Any, data: str, target: str | None) -> tuple[Any, str]:
    """Read a file like `read_like`, and the name of its target, which is found if not given."""
    table = read_evaluated(model, data, target)
    if target is None:
        target = _find_target(model, table)
        say(f"note: {target!r} is taken as the target; --target names another")
    return table, target


def _find_target(model: Any, table: Any) -> str:
    """The one column that is not a feature and holds only the model's classes."""
    from weigh.frames import key, read

    if not hasattr(model, "classes_"):
        return _find_number(model, table)

    classes, columns = {key(label) for label in model.classes_.tolist()}, read(table).column

    def holds(name: str) -> bool:
        try:
            column: Any = columns(name, True)
        except ValueError:  # dates have no levels and cannot be a target
            return False
        return {key(column.values[code]) for code in set(column.codes.tolist())} <= classes

    others = [name for name in column_names(table) if name not in model._column_names()]
    found = [name for name in others if holds(name)]
    if len(found) == 1:
        return str(found[0])
    which = f"{len(found)} ({', '.join(found)})" if found else "none"
    raise ValueError(
        f"which column is the target? Of those that are no features, {which} hold the classes "
        f"{', '.join(map(label_text, model.classes_.tolist()))}; name it with --target"
    )


def _find_number(model: Any, table: Any) -> str:
    """The column with the name of the regressor's target."""
    known = getattr(getattr(model, "provenance_", None), "target", None)
    name = str(known or model.evidence_.classes[0])
    if name in column_names(table):
        return name
    raise ValueError(
        f"the model estimates {name}, and the table has no such column; name it with --target"
    )


def read_labels(path: str | None) -> Any:
    """Read the file of --labels: display names chosen by the user."""
    from weigh.store import read_json

    return None if path is None else read_json(path, "a file of labels")


def read_cut_off(model: Any, given: float | None, pos_label: Any = None) -> float | None:
    """A cut-off as a probability of the positive class; a scorecard's is its lowest accepted score.

    Scores are whole numbers, so half a point less separates the same rows. Of a scorecard, too, a
    number between 0 and 1 is a probability.
    """
    if given is None or not is_card(model) or 0 < given < 1:
        return given
    _check_score(model, given)
    of = model.adverse if pos_label is None else pos_label
    share = float(model.probability(given - 0.5))
    share = share if of == model.pos_label else 1 - share
    side = "higher" if of == model.adverse else "lower"
    say(
        f"note: a score of {given:g} means a probability of {label_text(of)} of {share:.4g}; lower "
        f"scores mean a {side} one"
    )
    return share


def _check_score(card: Any, score: float) -> None:
    """Raise an error for a cut-off that no case of a scorecard is below or above."""
    parts = [(0, *points) for points in card.points.values()]  # 0 for an answer that is not known
    low, high = (card.base_points + sum(map(end, parts)) for end in (min, max))
    if not low <= score <= high:
        raise click.BadParameter(
            f"{score:g} is no score of this scorecard, which gives {low:,} to {high:,}; give one "
            "of these, or a probability between 0 and 1",
            param_hint="--cut-off",
        )


def find_class(model: Any, text: str | None) -> Any:
    """A class by its display name."""
    if text is None:
        return None
    if not hasattr(model, "classes_"):
        raise ValueError(
            f"--pos-label names a class, but {type(model).__name__} has no classes; leave it out"
        )
    classes = {label_text(label): label for label in model.classes_.tolist()}
    return classes.get(text, classes.get(text.lower(), text))


def tell_class(model: Any, text: str | None, cost: tuple[float, float] | None) -> Any:
    """The positive class; if costs are given without it, print which class they refer to."""
    if not hasattr(model, "classes_"):
        return find_class(model, text)
    names = [label_text(label) for label in model.classes_.tolist()]
    if text is None and cost is not None:
        if len(names) > 2:
            raise ValueError(
                f"--cost needs one class against the rest: --pos-label, one of {names}"
            )
        names = names[::-1] if is_card(model) else names  # whose positive class is the bad one
        say(
            f"note: the first --cost is for {names[0]} predicted as {names[1]} ({cost[0]:g}), the "
            f"second for {names[1]} predicted as {names[0]} ({cost[1]:g}); --pos-label names "
            "another positive class"
        )
    return find_class(model, text)


def take_row(table: Any, row: int) -> Any:
    """One row of a table or a scan; an error if there is no such row."""
    import numpy as np

    forget_files()
    last = count_rows(table) - 1
    if not 0 <= row <= last:
        held = f"rows are numbered from 0 to {last}" if last >= 0 else "the table has no rows"
        raise click.BadParameter(f"row {row} does not exist; {held}", param_hint="--row")
    return table.rows(np.array([row])) if hasattr(table, "batches") else table.slice(row, 1)
