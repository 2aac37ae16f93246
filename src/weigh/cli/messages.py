"""What is said to people, on standard error: words and hints."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from typing import Any

import click


def say(text: str) -> None:
    """Words for people."""
    click.echo(text, err=True)


def hint(text: str) -> None:
    """What to type next, on a line of its own."""
    click.echo(f"hint: {text}", err=True)


def say_class(learnt: Any) -> None:
    """The class that positive weights favour."""
    from weigh.evidence import Evidence

    if not isinstance(learnt, Evidence):
        return
    from weigh.bins import label

    names = [label(value) for value in learnt.classes.tolist()]
    if learnt.estimates:
        return
    if len(names) == 2:
        say(f"Positive weights favour {names[1]}, negative ones {names[0]}.")
    else:
        say(f"each of the {len(names)} classes has weights of its own")


MOST_CLASSES = 20
"""More classes than these, all numbers, are rather amounts than classes."""


def advise(model: Any, table: Any, weight: str | None) -> None:
    """Say what a fit cannot know but a person may not have meant."""
    rows = int(table.n_rows if hasattr(table, "n_rows") else table.num_rows)
    _advise_classes(getattr(model, "classes_", ()))
    for part in [part for feature in model._learnt.features for part in feature.parts]:
        levels: Sequence[Any] = () if part.is_numeric else part.values
        odd = [level for level in levels if not _is_number(level)]
        if len(levels) > 10 and 0 < len(odd) < 0.2 * len(levels):
            say(f"note: column {part.name!r} is text, because of {odd[0]!r} among numbers")
            hint("make that cell empty if it means missing")
        elif len(levels) > 50 and len(levels) > rows / 2:
            if not (isinstance(levels[0], str) and len(levels) == rows and _warns(model)):
                say(f"note: column {part.name!r} has {len(levels):,} levels in {rows:,} rows")
            hint(f"leave an id out with --drop {part.name!r}")
    mean = model._learnt.class_counts.sum() / rows
    if weight is not None and not 0.5 < mean < 2:
        say(f"note: the weights average {mean:,.4g}, and a weight counts as so many rows")
        hint(f"divide {weight!r} by its mean where it is a sampling weight")


def _warns(model: Any) -> bool:
    """Whether the fit itself warns of ids."""
    return hasattr(model, "class_prior")


def _advise_classes(classes: Any) -> None:
    if len(classes) > MOST_CLASSES and not any(isinstance(c, str | bool) for c in classes.tolist()):
        say(f"note: the target has {len(classes)} classes, all of them numbers, each for itself")
        hint("--learner educated-regressor estimates a number")


def _is_number(level: Any) -> bool:
    try:
        float(level)
    except ValueError:
        return False
    return True


def terminal_width() -> int:
    """How wide a page may be."""
    import shutil

    return min(shutil.get_terminal_size((100, 24)).columns, 120)


def hint_at_glob(error: click.UsageError) -> click.UsageError:
    """The same error, with a hint where the shell has put the names of files for a glob."""
    words = error.message.rpartition("(")[2].rstrip(")").split()
    if "unexpected extra argument" not in error.message or not all(map(os.path.exists, words)):
        return error
    told = f"{error.message}\nhint: quote a glob, as in 'people/*.csv', or name the folder"
    return click.UsageError(told, error.ctx)


OPTIONS = {
    "pos_label": "--pos-label",
    "against": "--against",
    "sample_weight": "--weight",
    "y": "--target",
    "by": "--by",
    "costs": "--cost",
    "may_change": "--may-change",
    "crosses": "--cross",
    "categorical_features": "--categorical",
    "max_levels": "--max-levels",
    "cv": "--folds",
    "holdout": "--holdout",
    "time": "--holdout-time",
}
"""Parameters that have an option of another name."""


def tell(error: Exception) -> str:
    """An error as it is said to somebody who typed options.

    >>> from weigh.errors import Parameter, ParameterError
    >>> tell(ParameterError(Parameter("pos_label", "Maybe"), " is not among the classes"))
    "--pos-label 'Maybe' is not among the classes"
    """
    if hasattr(error, "named"):
        return str(error.named(_name_option))
    return str(error.args[0] if isinstance(error, KeyError) else error)


def _name_option(parameter: Any) -> str:
    """A parameter as it is typed; what is given by column goes through --set."""
    option: str = OPTIONS.get(parameter.name, parameter.name)
    value = parameter.value
    if value is ...:
        return option
    if isinstance(value, dict):
        ((column, most),) = value.items()
        if any(letter in column for letter in "'\"\\"):  # which the shell would take apart
            return f"{option} {most}"
        return f"--set '{parameter.name}={json.dumps(value, ensure_ascii=False)}'"
    if isinstance(value, tuple):
        return " ".join([option, *map(str, value)])
    return f"{option} {value!r:.60}"
