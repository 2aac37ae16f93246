"""Options and arguments that several commands share, and how their values are read."""

from __future__ import annotations

import json
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


def _with_default(given: dict[str, Any]) -> dict[str, Any]:
    """The settings of an option, whose help shows the default if there is one."""
    return given | ({"show_default": True} if "default" in given else {})


def count(*names: str, least: int, **more: Any) -> Any:
    """An option for a whole number of at least `least`."""
    return click.option(*names, type=click.IntRange(least), **_with_default(more))


def number(*names: str, **more: Any) -> Any:
    """An option for a number."""
    return click.option(*names, type=float, **_with_default(more))


def share(*names: str, **more: Any) -> Any:
    """An option for a number between 0 and 1."""
    between = click.FloatRange(0, 1, min_open=True, max_open=True)
    return click.option(*names, type=between, **_with_default(more))


def choice(*names: str, among: list[str], **more: Any) -> Any:
    """An option for one of several words."""
    return click.option(*names, type=click.Choice(among), **_with_default(more))


def output(text: str) -> Any:
    """The required option -o, with its help."""
    return click.option("-o", "--output", required=True, metavar="FILE", help=text)


PYTHON = {"None": None, "True": True, "False": False}
BINS, SMOOTHING = Bins(), Smoothing()
DIALECT = "weigh.dialect"


def _note(ctx: click.Context, param: click.Parameter, value: Any) -> None:
    """Store the format of text files in the context, for all reading in this command."""
    ctx.meta.setdefault(DIALECT, {})[param.name] = "\t" if value in ("\\t", "tab") else value


def reading(command: Any) -> Any:
    """Add the options for the format of text files."""
    told: dict[str, Any] = {"expose_value": False, "callback": _note}
    for option in (
        click.option(
            "--na",
            multiple=True,
            metavar="TEXT",
            help="Text that means missing, such as NA (repeatable).",
            **told,
        ),
        click.option(
            "--encoding", metavar="NAME", help="Encoding of text files (default: UTF-8).", **told
        ),
        click.option(
            "--decimal",
            type=click.Choice([".", ","]),
            help="Decimal mark of text files (default: detected).",
            **told,
        ),
        click.option(
            "--delimiter",
            metavar="CHAR",
            help="Separator of fields in text files (default: detected).",
            **told,
        ),
    ):
        command = option(command)
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


def data(command: Any) -> Any:
    """Add the argument DATA and the options for the format of text files."""
    return click.argument("data", metavar="DATA")(reading(command))


model = click.argument("model", metavar="MODEL")
weight = click.option("--weight", metavar="COL", help="Column of row weights.")
exposure = click.option(
    "--exposure",
    metavar="COL|NUMBER",
    help="Exposure for a regression with a log link: a column or a number. Estimates are "
    "multiplied by it (default: the exposure of the fit).",
)
fit_exposure = click.option(
    "--exposure",
    metavar="COL",
    help="Column of the exposure, such as the years of a policy, for a regression with a log "
    "link. Estimates are multiplied by it (default: 1 for every row).",
)
drop = click.option(
    "--drop", multiple=True, metavar="COL", help="A column to leave out (repeatable)."
)
categorical = click.option(
    "--categorical", multiple=True, metavar="COL", help="A column of categories (repeatable)."
)
max_levels = count(
    "--max-levels",
    least=1,
    metavar="N",
    help="Keep the N most frequent levels of each column and join the others.",
)
target = click.option("--target", metavar="COL", help="Column of the true classes or numbers.")
event = click.option(
    "--event",
    metavar="COL",
    help="Survival: column with 1 or yes if the event happened, else 0 or no.",
)
duration = click.option(
    "--duration",
    metavar="COL",
    help="Survival: column with the time to the event or to the end of observation.",
)
times = click.option(
    "--times",
    metavar="T,T",
    callback=lambda ctx, param, given: read_times(given),
    help="Survival: times at which to give probabilities, such as 365,730.",
)
by = click.option("--by", metavar="COL", help="Also measure each group of this column.")
cost = click.option(
    "--cost",
    nargs=2,
    type=float,
    metavar="FP FN",
    help="Cost of a false positive and of a false negative (default: as --profit implies, or 1 1).",
)
pos_label = click.option(
    "--pos-label",
    "pos_label",
    metavar="CLASS",
    help="The positive class (default: the second of two).",
)
page = click.option(
    "-o", "--output", metavar="FILE.html", help="Also write the result as an HTML page."
)
labels = click.option(
    "--labels",
    metavar="FILE",
    help="JSON file with the names to show for columns, levels, classes and outcomes.",
)
adverse = click.option(
    "--adverse", metavar="CLASS", help="The bad class, shown in red (default: none)."
)
profit = click.option(
    "--profit",
    nargs=2,
    type=float,
    metavar="GOOD BAD",
    help="Scorecards: profit of an approved good case and of a bad one, such as 100 -900.",
)
score_cut_off = click.option(
    "--cut-off",
    type=float,
    metavar="SCORE",
    help="Scorecards: lowest approved score. Compares the approval rates of the groups of --by.",
)
HOLDOUT = (
    share(
        "--holdout",
        metavar="SHARE",
        help="Share of the rows to hold out, such as 0.3; each class gives the same share.",
    ),
    click.option(
        "--holdout-by",
        metavar="COL",
        help="Hold out whole groups of this column. It is not used as a feature.",
    ),
    click.option(
        "--holdout-time",
        metavar="COL",
        help="Hold out the latest rows by this column. It is not used as a feature.",
    ),
)
as_json = click.option("--json", "as_json", is_flag=True, help="Print JSON.")


def holdout(command: Any) -> Any:
    """Add the options for hold-out rows."""
    for option in reversed(HOLDOUT):
        command = option(command)
    return command


def read_parameters(texts: tuple[str, ...], model: Any) -> dict[str, Any]:
    """The parameters given by --set; an error if an option sets the same parameter."""
    chosen = dict(read_parameter(text, model) for text in texts)
    context = click.get_current_context()
    for option in context.command.params:
        source = context.get_parameter_source(str(option.name))
        if option.name in chosen and source is click.core.ParameterSource.COMMANDLINE:
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
