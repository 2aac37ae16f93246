"""The command line: data to stdout, words to stderr, heavy imports only where they are used."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import click


class Group(click.Group):
    """Turn expected errors into one line on stderr and exit code 1."""

    def invoke(self, ctx: click.Context) -> Any:
        """Run a command."""
        try:
            return super().invoke(ctx)
        except BrokenPipeError:
            sys.stderr.close()
            ctx.exit(1)
        except (ValueError, TypeError, OSError, KeyError) as error:
            text = error.args[0] if isinstance(error, KeyError) else error
            click.echo(f"error: {text}", err=True)
            ctx.exit(1)


@click.group(cls=Group, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="weigh")
def main() -> None:
    """Probability models that people can read.

    A model is a prior and a table of weights of evidence; a prediction is a balance sheet.

    Start with: weigh demo
    """


def say(text: str) -> None:
    """Words for people."""
    click.echo(text, err=True)


def hint(text: str) -> None:
    """What to type next, on a line of its own."""
    click.echo(f"hint: {text}", err=True)


class Bins(click.ParamType[Any]):
    """`mdl`, or a number of quantile bins."""

    name = "mdl|N"

    def convert(self, value: Any, param: Any, ctx: Any) -> Any:
        """Read the option."""
        if value == "mdl" or (str(value).isdecimal() and int(value) >= 2):
            return value if value == "mdl" else int(value)
        return self.fail(f"{value!r} is neither mdl nor a number of bins of at least 2", param, ctx)


class Smoothing(click.ParamType[Any]):
    """Rows added to every level, or one over the number of rows."""

    name = "S|1/n"

    def convert(self, value: Any, param: Any, ctx: Any) -> Any:
        """Read the option."""
        try:
            if value == "1/n" or 0 <= float(value) < float("inf"):
                return value if value == "1/n" else float(value)
        except ValueError:
            pass
        return self.fail(f"{value!r} is neither a number of at least 0 nor 1/n", param, ctx)


BINS, SMOOTHING = Bins(), Smoothing()
data_argument = click.argument("data", metavar="DATA")
model_argument = click.argument("model", metavar="MODEL")
json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON.")


@main.command()
@click.option("--save", metavar="FILE", help="Also write the demo's table, as CSV or Parquet.")
def demo(save: str | None) -> None:
    """Fit the Titanic's passengers, print the evidence and a balance sheet.

    Example: weigh demo --save people.csv
    """
    from weigh import EvidenceNB
    from weigh.datasets import titanic
    from weigh.frames import write_file

    say("Who survived the Titanic? 2201 people by class, sex and age.\n")
    model = EvidenceNB().fit(titanic(), "Survived")
    case = {"Class": "3rd", "Sex": "Female", "Age": "Child"}
    click.echo(str(model.evidence_))
    say("\nThe balance sheet of a girl in third class:\n")
    click.echo(model.balance_sheet(case).to_text(_width()))
    if save is not None:
        write_file(titanic(), save)
    table, target = (save, "Survived") if save else ("DATA.csv", "COLUMN")
    say("\nNow with a table of your own (CSV, TSV or Parquet):")
    hint(f"weigh fit {table} --target {target} -o model.json")
    hint(f"weigh explain model.json {table} --row 0")


@main.command()
@data_argument
@click.option("--target", required=True, metavar="COL", help="The column to predict.")
@click.option("-o", "--output", required=True, metavar="FILE", help="Where to write the model.")
@click.option("--learner", default="evidence", show_default=True, help="evidence or adjusted.")
@click.option("--weight", metavar="COL", help="A column of row weights.")
@click.option("--drop", multiple=True, metavar="COL", help="A column to leave out (repeatable).")
@click.option(
    "--categorical", multiple=True, metavar="COL", help="A column of categories (repeatable)."
)
@click.option("--bins", type=BINS, metavar="mdl|N", default="mdl", help="How numbers are cut.")
@click.option("--smoothing", type=SMOOTHING, metavar="S|1/n", default=1.0, help="Rows per level.")
@click.option(
    "--missing",
    type=click.Choice(["level", "skip"]),
    default="level",
    show_default=True,
    help="A missing value is a level of its own, or no evidence.",
)
@click.option(
    "--set", "own", multiple=True, metavar="NAME=VALUE", help="A parameter of the learner's own."
)
def fit(
    data: str,
    target: str,
    output: str,
    learner: str,
    weight: str | None,
    drop: tuple[str, ...],
    categorical: tuple[str, ...],
    own: tuple[str, ...],
    **parameters: Any,
) -> None:
    """Learn a model from a table.

    DATA is a CSV, TSV or Parquet file, or - for standard input.

    Example: weigh fit people.csv --target Survived -o model.json

    Example: weigh fit people.csv --target Survived --learner adjusted --set cv=10 -o model.json
    """
    import weigh
    from weigh.frames import read_file
    from weigh.store import learners, to_json

    if learner not in learners():
        raise click.UsageError(f"--learner must be one of {', '.join(learners())}, not {learner!r}")
    _keep_apart(data, output)
    table = _drop(read_file(data, categorical), drop)
    for name in categorical:
        codes = _column(table, name).dictionary_encode()
        table = table.set_column(table.column_names.index(name), name, codes)
    model = getattr(weigh, learners()[learner])(**parameters)
    model.set_params(**dict(_read_parameter(text, model) for text in own))
    with _progress("fitting"):
        model.fit(table, target, sample_weight=weight)
    if output == "-":
        click.echo(to_json(model), nl=False)
        return
    _advise(model, table, weight)
    weigh.save(model, output)
    rows, features = f"{table.num_rows:,}", model.n_features_in_
    say(f"{learners()[learner]} from {rows} rows and {features} features: {output}")
    hint(f"weigh show {output}")


@main.command()
@model_argument
@click.option("--feature", metavar="NAME", help="One feature only.")
@json_option
def show(model: str, feature: str | None, as_json: bool) -> None:
    """Print the weights of evidence.

    Example: weigh show model.json
    """
    from dataclasses import replace

    from weigh.evidence.show import to_text
    from weigh.store import load

    evidence = load(model).evidence_
    if feature is not None:
        evidence = replace(evidence, tables=(evidence[feature],))
    if as_json:
        click.echo(json.dumps(_plain(evidence.to_frame()), ensure_ascii=False))
    else:
        click.echo(to_text(evidence, _width()))


@main.command()
@model_argument
@data_argument
@click.option("-o", "--output", default="-", metavar="FILE", help="CSV, TSV or Parquet to write.")
@click.option("--keep", multiple=True, metavar="COL", help="A column to copy (repeatable).")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object per row.")
def score(model: str, data: str, output: str, keep: tuple[str, ...], as_json: bool) -> None:
    """Predict every row: class, total weight of evidence, probabilities.

    Example: weigh score model.json people.csv -o scores.csv
    """
    import pyarrow as pa

    from weigh.frames import write_file
    from weigh.store import load

    _keep_apart(data, output)
    fitted = load(model)
    table = _read_like(fitted, data)
    kept = {name: _column(table, name) for name in keep}
    with _progress("scoring"):
        columns = _scores(fitted, table)
    for name in set(kept) & set(columns):
        raise ValueError(f"--keep {name}: the scores have a column of that name; rename yours")
    scores = pa.table(kept | columns)
    if as_json:
        lines = (json.dumps(row, ensure_ascii=False, default=str) for row in _plain(scores))
        with click.open_file(output, "w", encoding="utf-8") as file:
            file.writelines(f"{line}\n" for line in lines)
    else:
        write_file(scores, output)
    if output != "-":
        say(f"{scores.num_rows:,} rows: {output}")


@main.command()
@model_argument
@data_argument
@click.option("--row", default=0, show_default=True, help="Which row; the first is 0.")
@click.option("--of", "of", metavar="CLASS", help="The class in question.")
@click.option("--against", metavar="CLASS", help="Its rival, for more than two classes.")
@json_option
def explain(
    model: str, data: str, row: int, of: str | None, against: str | None, as_json: bool
) -> None:
    """Print the balance sheet of one row.

    Example: weigh explain model.json people.csv --row 3
    """
    from weigh.store import load

    fitted = load(model)
    table = _read_like(fitted, data)
    if not 0 <= row < table.num_rows:
        raise click.BadParameter(f"{row} is not in 0 to {table.num_rows - 1}", param_hint="--row")
    classes: dict[str | None, Any] = {_text(label): label for label in fitted.classes_.tolist()}
    of, against = (classes.get(c, classes.get(c and c.lower(), c)) for c in (of, against))
    sheet = fitted.balance_sheet(table.slice(row, 1), of=of, against=against)
    if as_json:
        click.echo(json.dumps(sheet.to_dict(), ensure_ascii=False))
    else:
        click.echo(sheet.to_text(_width()))


@main.command()
@click.argument("models", nargs=-1, required=True, metavar="MODEL...")
@click.option("-o", "--output", required=True, metavar="FILE", help="Where to write the model.")
def merge(models: tuple[str, ...], output: str) -> None:
    """Add up models of different rows: the model that all rows would have given.

    Example: weigh merge north.json south.json -o all.json
    """
    from weigh.store import load, save

    first, *others = [load(model) for model in models]
    if not hasattr(first, "merge"):
        raise ValueError(
            f"{models[0]} is a {type(first).__name__}, whose fit is not a sum of counts"
        )
    save(first.merge(*others), output)
    say(f"{len(models)} models merged: {output}")


# ---------------------------------------------------------------- small things


def _read_parameter(text: str, model: Any) -> tuple[str, Any]:
    """NAME=VALUE, the value as JSON where it is JSON."""
    name, equals, value = text.partition("=")
    if not equals or name not in model.get_params():
        known = ", ".join(model.get_params())
        raise click.BadParameter(f"{text!r} is not NAME=VALUE with a NAME of {known}")
    try:
        return name, json.loads(value)
    except json.JSONDecodeError:
        return name, value


def _text(label: Any) -> str:
    from weigh.bins import label as read

    return read(label)


def _drop(table: Any, names: tuple[str, ...]) -> Any:
    for name in names:
        _column(table, name)
    return table.drop_columns(list(names))


def _keep_apart(data: str, output: str) -> None:
    """An output that would replace the input is a slip."""
    both = os.path.exists(output) and os.path.exists(data)
    if both and os.path.samefile(data, output):
        raise ValueError(f"{output} is the data itself; give -o another name")


def _advise(model: Any, table: Any, weight: str | None) -> None:
    """Say what a fit cannot know but a person may not have meant."""
    rows = table.num_rows
    for part in model.evidence_:
        levels = part.feature.values if not part.feature.is_numeric else ()
        if len(levels) > 50 and len(levels) > rows / 2:
            say(f"note: column {part.name!r} has {len(levels):,} levels in {rows:,} rows")
            hint(f"leave an id out with --drop {part.name!r}")
        odd = [level for level in levels if not _is_number(level)]
        if len(levels) > 10 and 0 < len(odd) < 0.2 * len(levels):
            say(f"note: column {part.name!r} is text, because of {odd[0]!r} among numbers")
            hint("make that cell empty if it means missing")
    mean = model.evidence_.class_counts.sum() / rows
    if weight is not None and not 0.5 < mean < 2:
        say(f"note: the weights average {mean:,.4g}, and a weight counts as so many rows")
        hint(f"divide {weight!r} by its mean where it is a sampling weight")


def _is_number(level: Any) -> bool:
    try:
        float(level)
    except ValueError:
        return False
    return True


def _column(table: Any, name: str) -> Any:
    if name not in table.column_names:
        held = ", ".join(table.column_names)
        raise ValueError(f"the table has no column {name!r}; it holds {held}")
    return table[name]


def _read_like(model: Any, data: str) -> Any:
    """Read a file with the types that the model was fitted on."""
    from weigh.frames import read_file

    features = [table.feature for table in model.evidence_]
    text = tuple(f.name for f in features if any(isinstance(v, str) for v in f.values))
    return read_file(data, text if model.evidence_.event_model == "levels" else ())


def _scores(model: Any, table: Any) -> dict[str, Any]:
    evidence = model.evidence_
    totals = evidence.total(model._read(table))
    names = [_text(label) for label in model.classes_.tolist()]
    heads = ["log_odds"] if len(names) == 2 else [f"total_{name}" for name in names]
    columns: dict[str, Any] = {"prediction": evidence.decide(totals)}
    columns |= {head: totals[:, k] for k, head in enumerate(heads)}
    probabilities = evidence.probabilities(totals)
    return columns | {f"probability_{name}": probabilities[:, k] for k, name in enumerate(names)}


def _plain(table: Any) -> list[dict[str, Any]]:
    """Rows for JSON, which has neither NaN nor infinity."""

    def value(cell: Any) -> Any:
        return None if isinstance(cell, float) and cell - cell != 0 else cell

    return [{name: value(cell) for name, cell in row.items()} for row in table.to_pylist()]


def _width() -> int:
    import shutil

    return min(shutil.get_terminal_size((100, 24)).columns, 120)


@contextmanager
def _progress(what: str) -> Iterator[None]:
    """A progress bar on a terminal, nothing elsewhere."""
    if not sys.stderr.isatty():
        yield
        return
    from rich.console import Console
    from rich.progress import Progress

    from weigh.engine import watch

    with Progress(console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(what)
        report: Callable[[int, int], None] = lambda done, of: bar.update(  # noqa: E731
            task, completed=done, total=of
        )
        with watch(report):
            yield
