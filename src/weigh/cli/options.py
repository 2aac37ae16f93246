"""Options and arguments that several commands share, and how their values are read."""

from __future__ import annotations

import json
from collections.abc import Sequence
from math import isfinite
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    ParamType = click.ParamType[Any]
else:
    ParamType = click.ParamType  # generic from click 8.4 on


class Bins(ParamType):
    """A binning rule, a number of quantile bins, or a model file whose cut points are used."""

    name = "mdl|fine|optimal|N|MODEL"

    def convert(self, value: Any, param: Any, ctx: Any) -> Any:
        """Read the option."""
        if value in ("mdl", "fine", "optimal") or str(value).endswith(".json"):
            return value
        if str(value).isdecimal() and int(value) >= 2:
            return int(value)
        wanted = "mdl, fine, optimal, a number of bins from 2 or a model file that ends in .json"
        return self.fail(f"{value!r} is not {wanted}", param, ctx)


class Smoothing(ParamType):
    """A pseudo-count for every level: a number, or 1/n with n the number of rows."""

    name = "S|1/n"

    def convert(self, value: Any, param: Any, ctx: Any) -> Any:
        """Read the option."""
        try:
            if value == "1/n" or 0 <= float(value) < float("inf"):
                return value if value == "1/n" else float(value)
        except ValueError:
            pass
        return self.fail(f"{value!r} is neither a number of at least 0 nor 1/n", param, ctx)


def option(
    usage: str, text: str, *, to: str = "", least: int | None = None, among: str = "", **more: Any
) -> Any:
    """An option from its usage, such as "--cost FP FN", and its help, which shows the default.

    `to` is the parameter that it sets, if it has another name. `least` is the least of whole
    numbers, and `among` lists the words to choose from.
    """
    words = usage.split()
    values = [word for word in words if not word.startswith("-")]
    if least is not None:
        more["type"] = click.IntRange(least)
    if among:
        more["type"] = click.Choice(among.split())
    if "default" in more and "(default" not in text and more["default"] != "-":
        more = {"show_default": True} | more
    names = [word for word in words if word.startswith("-")] + [to] * bool(to)
    shown: dict[str, Any] = {"metavar": " ".join(values), "nargs": len(values)} if values else {}
    return click.option(*names, help=text, **shown, **more)


SHARE = click.FloatRange(0, 1, min_open=True, max_open=True)


def output(text: str) -> Any:
    """The required option -o, with its help."""
    return option("-o --output FILE", text, required=True)


PYTHON = {"None": None, "True": True, "False": False}
BINS, SMOOTHING = Bins(), Smoothing()
DIALECT = "weigh.dialect"


def _note(ctx: click.Context, param: click.Parameter, value: Any) -> None:
    """Store the format of text files in the context, for all reading in this command."""
    ctx.meta.setdefault(DIALECT, {})[param.name] = "\t" if value in ("\\t", "tab") else value


def reading(command: Any) -> Any:
    """Add the options for the format of text files."""
    told: dict[str, Any] = {"expose_value": False, "callback": _note}
    for add in (
        option(
            "--na TEXT", "Text that means missing, such as NA (repeatable).", multiple=True, **told
        ),
        option("--encoding NAME", "Encoding of text files (default: UTF-8).", **told),
        option(
            "--decimal",
            "Decimal mark of text files (default: detected).",
            type=click.Choice([".", ","]),
            **told,
        ),
        option(
            "--delimiter CHAR", "Separator of fields in text files (default: detected).", **told
        ),
    ):
        command = add(command)
    return command


def dialect_of_command() -> dict[str, Any]:
    """The format of this command's text files, as keywords of `read_file` and `scan`."""
    ctx = click.get_current_context(silent=True)
    return {} if ctx is None else dict(ctx.meta.get(DIALECT, {}))


def read_times(given: str | None) -> list[float] | None:
    """The numbers in a text such as 365,730."""
    if given is None:
        return None
    try:
        return [float(part) for part in given.split(",")]
    except ValueError:
        raise click.BadParameter(f"{given!r} is no list of numbers such as 365,730") from None


def read_cut_offs(given: Sequence[str]) -> list[float] | None:
    """The numbers in texts such as 0.3 and 0.4,0.5; None without a text."""
    try:
        numbers = [float(part) for text in given for part in text.split(",")]
        if not all(map(isfinite, numbers)):
            raise ValueError
        return numbers or None
    except ValueError:
        raise click.BadParameter(
            f"{','.join(given)!r} is no list of numbers such as 0.3 or 0.3,0.5"
        ) from None


def data(command: Any) -> Any:
    """Add the argument DATA and the options for the format of text files."""
    return click.argument("data", metavar="DATA")(reading(command))


model = click.argument("model", metavar="MODEL")
weight = option("--weight COL", "Column of row weights.", to="sample_weight")
exposure = option(
    "--exposure COL|NUMBER",
    "Exposure for a regression with a log link: a column or a number. Estimates are multiplied by "
    "it (default: the exposure of the fit).",
)
fit_exposure = option(
    "--exposure COL",
    "Column of the exposure, such as the years of a policy, for a regression with a log link. "
    "Estimates are multiplied by it (default: 1 for every row).",
)
drop = option("--drop COL", "A column to leave out (repeatable).", multiple=True)
categorical = option("--categorical COL", "A column of categories (repeatable).", multiple=True)
max_levels = option(
    "--max-levels N", "Keep the N most frequent levels of each column and join the others.", least=1
)
target = option("--target COL", "Column of the true classes or numbers.")
event = option("--event COL", "Survival: column with 1 or yes if the event happened, else 0 or no.")
duration = option(
    "--duration COL", "Survival: column with the time to the event or to the end of observation."
)
entry = option("--entry COL", "Survival: column of the time from which rows were observed.")
times = option(
    "--times T,T",
    "Survival: times at which to give probabilities, such as 365,730.",
    callback=lambda ctx, param, given: read_times(given),
)
folds = option("--folds", "The number of folds.", to="cv", least=2, default=5)
by = option(
    "--by COL",
    "Also measure each group of this column (repeatable: the combinations that occur).",
    multiple=True,
    callback=lambda ctx, param, given: given[0] if len({*given}) == 1 else [*given] or None,
)
cost = option(
    "--cost FP FN",
    "Cost of a false positive and of a false negative (default: as --profit implies, or 1 1).",
    to="costs",
    type=float,
)
pos_label = option("--pos-label CLASS", "The positive class (default: the second of two).")
row = option("--row", "Which row; the first is 0.", default=0)
page = option("-o --output FILE.html", "Also write the result as an HTML page.")
labels = option(
    "--labels FILE", "JSON file with the names to show for columns, levels, classes and outcomes."
)
adverse = option("--adverse CLASS", "The bad class, shown in red (default: none).")
profit = option(
    "--profit GOOD BAD",
    "Scorecards: profit of an approved good case and of a bad one, such as 100 -900.",
    type=float,
    callback=lambda ctx, param, given: given and dict(zip(("good", "bad"), given, strict=True)),
)
score_cut_off = option(
    "--cut-off SCORE",
    "Scorecards: lowest approved score. Prints the approval rate and the bad rate; with --by also "
    "the approval rate of each group.",
    type=float,
)
cut_offs = option(
    "--cut-off P|SCORE",
    "Cut-off to decide at, such as 0.3 or 0.3,0.5 (repeatable): share of rows above it, precision, "
    "recall and specificity. Scorecards: lowest approved score; prints the approval rate and the "
    "bad rate, with --by also the approval rate of each group.",
    to="cut_off",
    multiple=True,
    callback=lambda ctx, param, given: read_cut_offs(given),
)
HOLDOUT = (
    option(
        "--holdout SHARE",
        "Share of the rows to hold out, such as 0.3; each class gives the same share.",
        type=SHARE,
    ),
    option(
        "--holdout-by COL", "Hold out whole groups of this column. It is not used as a feature."
    ),
    option(
        "--holdout-time COL",
        "Hold out the latest rows by this column. It is not used as a feature.",
    ),
)
as_json = option("--json", "Print JSON.", to="as_json", is_flag=True)


def holdout(command: Any) -> Any:
    """Add the options for hold-out rows."""
    for add in reversed(HOLDOUT):
        command = add(command)
    return command


def is_typed(name: str) -> bool:
    """Whether the user gave a parameter of the command, which otherwise has its default."""
    source = click.get_current_context().get_parameter_source(name)
    return source is click.core.ParameterSource.COMMANDLINE


def read_parameters(texts: tuple[str, ...], model: Any) -> dict[str, Any]:
    """The parameters given by --set; an error if an option sets the same parameter."""
    chosen = dict(read_parameter(text, model) for text in texts)
    for option in click.get_current_context().command.params:
        if option.name in chosen and is_typed(str(option.name)):
            raise click.UsageError(
                f"{option.opts[-1]} and --set {option.name} set the same parameter; give one"
            )
    return chosen


def _tell_owners(name: str) -> str:
    """Text on the learners that have a parameter, if there are some."""
    import inspect

    import weigh
    from weigh.store import learners

    owners = [
        short
        for short, kind in learners().items()
        if name in inspect.signature(getattr(weigh, kind)).parameters
    ]
    return f", which belongs to --learner {' or '.join(owners)}" if owners else ""


def read_parameter(text: str, model: Any) -> tuple[str, Any]:
    """Read NAME=VALUE; the value is parsed as JSON or a Python constant, else kept as text."""
    name, equals, value = text.partition("=")
    known = ", ".join(model.get_params())
    if not equals:
        raise click.BadParameter(f"{text!r} is not NAME=VALUE with a NAME of {known}")
    if name not in model.get_params():
        raise click.BadParameter(
            f"{type(model).__name__} has no parameter {name!r}{_tell_owners(name)}; it has {known}"
        )
    try:
        return name, PYTHON[value] if value in PYTHON else json.loads(value)
    except json.JSONDecodeError:
        return name, value
