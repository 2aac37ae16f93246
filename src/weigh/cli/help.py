"""The group of commands: help by task, and expected errors as one line."""

from __future__ import annotations

import sys
import warnings
from typing import Any

import click

from weigh.cli.messages import hint_at_glob, say, tell

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


class Process:
    """Marks a context whose process runs one command only and then ends."""


class Group(ByTask):
    """Turn expected errors into one line on stderr and exit code 1."""

    def __call__(self, *args: Any, **more: Any) -> Any:
        """Run the command line of the process, or the arguments given by a program."""
        return self.main(*args, **more) if args or more else self.main(obj=Process())

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
            click.echo(f"error: {tell(error)}", err=True)
            ctx.exit(1)
