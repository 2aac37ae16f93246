"""Messages to people on standard error: notes, hints and errors."""

from __future__ import annotations

import json
import os
from shlex import quote
from typing import Any

import click


def say(text: str) -> None:
    """Print a message on standard error."""
    click.echo(text, err=True)


def hint(text: str) -> None:
    """Print a hint, such as the next command, on its own line."""
    click.echo(f"hint: {text}", err=True)


def say_class(learnt: Any) -> None:
    """Print which class positive weights favour, or what they do to an estimate."""
    from weigh.evidence import Evidence

    if hasattr(learnt, "read_off"):  # numbers, read off a curve of the total
        say("Positive weights raise the estimate, negative ones lower it.")
        return
    if not isinstance(learnt, Evidence):
        return
    from weigh.bins import label

    names = [label(value) for value in learnt.classes.tolist()]
    if learnt.estimates:
        return
    if learnt.form == "hazard":
        say(f"Positive weights make {names[1]} come earlier, negative ones later.")
        return
    if len(names) == 2:
        say(f"Positive weights favour {names[1]}, negative ones {names[0]}.")
    else:
        say(f"each of the {len(names)} classes has weights of its own")


MOST_CLASSES = 20
"""A numeric target with more distinct values is treated as a number, not as classes."""


def terminal_width() -> int:
    """The width of the terminal in characters, at most 120."""
    import shutil

    return min(shutil.get_terminal_size((100, 24)).columns, 120)


def hint_at_glob(error: click.UsageError) -> click.UsageError:
    """The error, with a hint if the shell has expanded an unquoted glob."""
    words = error.message.rpartition("(")[2].rstrip(")").split()
    if "unexpected extra argument" not in error.message or not all(map(os.path.exists, words)):
        return error
    told = f"{error.message}\nhint: quote a glob, as in 'people/*.csv', or name the folder"
    return click.UsageError(told, error.ctx)


OPTIONS = {
    "pos_label": "--pos-label",
    "adverse": "--adverse",
    "against": "--against",
    "sample_weight": "--weight",
    "exposure": "--exposure",
    "y": "--target",
    "y_true": "--target",
    "by": "--by",
    "costs": "--cost",
    "cut_off": "--cut-off",
    "may_change": "--may-change",
    "crosses": "--cross",
    "categorical_features": "--categorical",
    "max_levels": "--max-levels",
    "smoothing": "--smoothing",
    "cv": "--folds",
    "holdout": "--holdout",
    "time": "--holdout-time",
    "times": "--times",
    "special_values": "--special-values",
    "bins": "--groups or --read-bins",
    "questions": "--question",
    "to": "--to",
    "dialect": "--dialect",
    "table": "--table",
    "keep": "--keep",
    "contributions": "--contributions",
    "reasons": "--reasons",
}
"""The options of parameters; parameters without one are given by --set."""


def tell(error: Exception) -> str:
    """The message of an error, with options in place of parameters.

    >>> from weigh.errors import Parameter, ParameterError
    >>> tell(ParameterError(Parameter("pos_label", "Maybe"), " is not among the classes"))
    "--pos-label 'Maybe' is not among the classes"
    """
    if hasattr(error, "named"):
        return str(error.named(_name_option))
    if hasattr(error, "column") and _takes_drop():
        return f"{error} with --drop {quote(error.column)}"
    return str(error.args[0] if isinstance(error, KeyError) else error)


def _takes_drop() -> bool:
    """Whether the current command has the option --drop."""
    context = click.get_current_context(silent=True)
    if context is None or not isinstance(context.command, click.Group):
        return False
    typed = context.command.commands.get(context.invoked_subcommand or "")
    return typed is not None and any(option.name == "drop" for option in typed.params)


def _name_option(parameter: Any) -> str:
    """A parameter as an option; by --set if its value is by column or it has no option."""
    if parameter.part:
        return f"--{parameter.part}"
    option: str = OPTIONS.get(parameter.name, parameter.name)
    value = parameter.value
    if value is ...:
        return option
    if isinstance(value, dict):
        ((column, most),) = value.items()
        if isinstance(most, list):
            return f"{option} {quote(f'{column}:' + ','.join(map(str, most)))}"
        if any(letter in column for letter in "'\"\\"):  # hard to quote for a shell
            return f"{option} {most}"
        return f"--set '{parameter.name}={json.dumps(value, ensure_ascii=False)}'"
    if isinstance(value, tuple):
        return " ".join([option, *map(str, value)])
    if parameter.name not in OPTIONS:
        return f"--set {parameter.name}={value}"
    return f"{option} {value!r:.60}"


def print_found(found: Any, as_json: bool) -> None:
    """Print a result to standard output, as text or as one line of JSON."""
    if as_json:
        click.echo(json.dumps(found.to_dict(), ensure_ascii=False, allow_nan=False))
    else:
        click.echo(found.to_text(terminal_width()))
