"""The group of commands: help by task, errors as one line, and messages on standard error."""

from __future__ import annotations

import atexit
import json
import os
import sys
import warnings
from shlex import quote
from typing import Any

import click

from weigh import errors


def say(text: str) -> None:
    """Print a message on standard error; in a terminal above the bar, and wrapped at words."""
    from weigh.progress import write_above_bar

    text = wrap_words(text)
    if not write_above_bar(text):
        click.echo(text, err=True)


def wrap_words(text: str, stream: Any = None) -> str:
    """A message with line breaks between words if it goes to a terminal (standard error)."""
    import textwrap

    from weigh.progress import is_bar_shown

    # While a bar is shown, standard error is an object of rich, which need not know of a terminal.
    if not (stream.isatty() if stream else is_bar_shown() or sys.stderr.isatty()):
        return text
    width = terminal_width() - 1
    shape: Any = dict.fromkeys(("break_long_words", "break_on_hyphens"), False)
    shape["replace_whitespace"] = False
    return "\n".join(textwrap.fill(line, width, **shape) for line in text.splitlines())


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
        say(f"Each of the {len(names)} classes has weights of its own.")


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
    "train": "--train",
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

OPTIONS_OF = {
    "scorecard": {"bins": "--bins, --groups or --read-bins", "monotonic_cst": "--monotone"}
}
"""The options of parameters that one command names otherwise."""


def tell(error: Exception) -> str:
    """The message of an error, with options in place of parameters.

    >>> from weigh.errors import Parameter, ParameterError
    >>> tell(ParameterError(Parameter("pos_label", "Maybe"), " is not among the classes"))
    "--pos-label 'Maybe' is not among the classes"
    """
    from weigh.cli.data import name_line  # which says messages by this module

    if hasattr(error, "named"):
        return name_line(error.named(_name_option))
    if hasattr(error, "column") and _takes_drop():
        return f"{error} with --drop {quote(error.column)}"
    return name_line(str(error.args[0] if isinstance(error, KeyError) else error))


def _takes_drop() -> bool:
    """Whether the current command has the option --drop."""
    typed = _find_command()
    return typed is not None and any(option.name == "drop" for option in typed.params)


def _find_command() -> click.Command | None:
    """The command that is running."""
    context = click.get_current_context(silent=True)
    if context is None or not isinstance(context.command, click.Group):
        return None
    return context.command.commands.get(context.invoked_subcommand or "")


def _name_option(parameter: Any) -> str:
    """A parameter as an option; by --set if its value is by column or it has no option."""
    if parameter.part:
        return f"--{parameter.part}"
    typed = _find_command()
    own = OPTIONS_OF.get(str(typed.name), {}) if typed else {}
    option: str = (OPTIONS | own).get(parameter.name, parameter.name)
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


TASKS: dict[str, tuple[str, ...]] = {
    "Fit": ("fit", "compare", "split", "demo"),
    "Predict and explain": ("show", "score", "explain"),
    "Evaluate and monitor": ("evaluate", "report", "drift", "challenge"),
    "Change a model": (
        "simplify", "price", "edit", "recalibrate", "set-prior", "update", "merge",
    ),
    "Scorecards": ("screen", "scorecard", "levers", "letter"),
    "Share": ("calculator", "export", "check", "serve"),
}  # fmt: skip

READING = ("delimiter", "decimal", "encoding", "na")
"""Options for the format of text files."""


class Command(click.Command):
    """A command whose help lists its own options first; an option given twice is an error."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Raise an error if a single-valued option is given twice: the first would be ignored."""
        _, _, given = self.make_parser(ctx).parse_args(args=[*args])
        for param in given:
            single = isinstance(param, click.Option) and not (param.multiple or param.is_flag)
            if single and given.count(param) > 1:
                raise click.UsageError(f"{param.opts[-1]} is given twice; give it once", ctx)
        return super().parse_args(ctx, args)

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the command's own options, then those for text files."""
        own: list[tuple[str, str]] = []
        reading: list[tuple[str, str]] = []
        for param in self.get_params(ctx):
            told = param.get_help_record(ctx)
            if told is not None and isinstance(param, click.Option):
                (reading if param.name in READING else own).append(told)
        for title, lines in (("Options", own), ("Options for text files", reading)):
            if lines:
                with formatter.section(title):
                    formatter.write_dl(lines)


class ByTask(click.Group):
    """A group whose help lists the commands by task."""

    command_class = Command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the commands by task."""
        listed = {name for names in TASKS.values() for name in names}
        others = tuple(name for name in self.list_commands(ctx) if name not in listed)
        known = {name: self.get_command(ctx, name) for name in self.list_commands(ctx)}
        limit = formatter.width - 6 - max(map(len, known))
        for task, names in {**TASKS, "Other": others}.items():
            lines: list[tuple[str, Any]] = [
                (name, command.get_short_help_str(limit))
                for name in names
                if (command := known.get(name)) is not None
            ]
            if lines:
                with formatter.section(task):
                    formatter.write_dl(lines, col_max=30)


def say_compiling() -> None:
    """Print once why the command takes longer than the next one will."""
    errors.on_compile = None
    say("note: compiling some loops; each is compiled once after an install")


class Process:
    """Marks a context whose process runs one command only and then ends."""

    code: Any = None

    def end(self) -> None:
        """End without taking libraries down: Arrow's threads may abort a program that ends soon."""
        if not isinstance(self.code, int):
            return
        try:
            sys.stdout.flush()
            sys.stderr.flush()
        except (OSError, ValueError):  # Python says that the output cannot be written
            return
        os._exit(self.code)


class CommandGroup(ByTask):
    """Turn expected errors into one line on stderr and exit code 1."""

    def __call__(self, *args: Any, **more: Any) -> Any:
        """Run the command line of the process, or the arguments given by a program."""
        if args or more:
            return self.main(*args, **more)
        errors.on_compile = say_compiling
        process = Process()
        atexit.register(process.end)  # before all others, so that it is called after them
        try:
            return self.main(obj=process)
        except SystemExit as ending:
            process.code = ending.code
            raise

    def invoke(self, ctx: click.Context) -> Any:
        """Run a command, with warnings and expected errors as one line each on stderr."""
        told: set[str] = set()

        def warn(text: Any) -> None:
            if str(text) not in told:
                say(f"warning: {tell(text)}")
            told.add(str(text))

        try:
            with warnings.catch_warnings():
                warnings.simplefilter("always", UserWarning)
                warnings.showwarning = lambda text, *_, **__: warn(text)
                return super().invoke(ctx)
        except click.UsageError as error:
            raise hint_at_glob(error) from None
        except BrokenPipeError:
            sys.stderr.close()
            ctx.exit(1)
        except (ValueError, TypeError, OSError, KeyError, ImportError) as error:
            say(f"error: {tell(error)}")
            ctx.exit(1)


@click.group(cls=CommandGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="weigh")
def main() -> None:
    """Probability models that people can read.

    A model is a prior and a table of weights of evidence; a prediction is a balance sheet.

    Start with: weigh demo
    """
