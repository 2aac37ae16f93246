"""The commands. Each imports what it needs when it runs."""

from __future__ import annotations

import json
import sys
import warnings
from typing import Any

import click

from weigh.cli.data import (
    check_column,
    count_rows,
    explain_row,
    find_class,
    read_like,
    read_table,
    take_row,
)
from weigh.cli.kept import keep_passes
from weigh.cli.options import (
    BINS,
    SMOOTHING,
    categorical_option,
    class_option,
    data_argument,
    drop_option,
    json_option,
    max_levels_option,
    model_argument,
    read_parameters,
    weight_option,
)
from weigh.cli.words import advise, hint, keep_apart, say, speak_options, terminal_width
from weigh.progress import show_progress


class Group(click.Group):
    """Turn expected errors into one line on stderr and exit code 1."""

    def invoke(self, ctx: click.Context) -> Any:
        """Run a command."""
        try:
            with warnings.catch_warnings():
                warnings.showwarning = lambda text, *_, **__: say(
                    f"warning: {speak_options(str(text))}"
                )
                return super().invoke(ctx)
        except BrokenPipeError:
            sys.stderr.close()
            ctx.exit(1)
        except (ValueError, TypeError, OSError, KeyError) as error:
            text = error.args[0] if isinstance(error, KeyError) else error
            click.echo(f"error: {speak_options(str(text))}", err=True)
            ctx.exit(1)


@click.group(cls=Group, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="weigh")
def main() -> None:
    """Probability models that people can read.

    A model is a prior and a table of weights of evidence; a prediction is a balance sheet.

    Start with: weigh demo
    """


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
    click.echo(model.balance_sheet(case).to_text(terminal_width()))
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
@click.option(
    "--learner",
    default="evidence",
    show_default=True,
    help="evidence, adjusted, weighted, boosted, boosted-regressor, perplexed, educated or c44.",
)
@weight_option
@drop_option
@categorical_option
@click.option(
    "--bins",
    type=BINS,
    metavar="mdl|fine|N",
    help="How numbers are cut; otherwise as the learner does.",
)
@click.option("--smoothing", type=SMOOTHING, metavar="S|1/n", default=1.0, help="Rows per level.")
@click.option(
    "--missing",
    type=click.Choice(["level", "skip"]),
    help="A missing value is a level of its own, or no evidence; otherwise as the learner has it.",
)
@max_levels_option
@click.option(
    "--cross", "crosses", nargs=2, multiple=True, metavar="COL COL", help="Join two columns."
)
@click.option(
    "--recalibrate",
    type=click.Choice(["spline", "sigmoid", "temperature", "isotonic"]),
    help="Map totals to what they were worth on rows held out.",
)
@click.option(
    "--set", "own", multiple=True, metavar="NAME=VALUE", help="A parameter of the learner's own."
)
@click.option(
    "--checkpoint",
    metavar="DIR",
    help="Keep what each pass finds here, so that the same command goes on where it ended.",
)
def fit(
    data: str,
    target: str,
    output: str,
    learner: str,
    weight: str | None,
    drop: tuple[str, ...],
    categorical: tuple[str, ...],
    recalibrate: str | None,
    own: tuple[str, ...],
    checkpoint: str | None,
    **parameters: Any,
) -> None:
    """Learn a model from a table: weights of evidence, or (c44) a tree.

    The learner boosted-regressor estimates numbers, the others classes.

    DATA is a CSV, TSV or Parquet file, a folder or a quoted glob of such files, or - for standard
    input.

    Example: weigh fit people.csv --target Survived -o model.json

    Example: weigh fit 'people/*.parquet' --target Survived -o model.json

    Example: weigh fit people.csv --target Survived --learner adjusted --set cv=10 -o model.json
    """
    import weigh
    from weigh.store import learners, to_json

    if learner not in learners():
        raise click.UsageError(f"--learner must be one of {', '.join(learners())}, not {learner!r}")
    keep_apart(data, output)
    table = read_table(data, categorical, drop)
    given = {name: value for name, value in parameters.items() if value not in (None, ())}
    model = getattr(weigh, learners()[learner])(**given)
    if "random_state" in model.get_params():
        model.set_params(random_state=0)  # the same command writes the same file
    model.set_params(**read_parameters(own, model))
    if recalibrate is not None:
        model = weigh.RecalibratedClassifier(model, method=recalibrate, random_state=0)
    about = [target, weight, drop, categorical]
    with show_progress("fitting"), keep_passes(checkpoint, data, model, about) as kept:
        model.fit(table, target, sample_weight=weight)
    if output == "-":
        click.echo(to_json(model), nl=False)
        kept.clear()
        return
    advise(model, table, weight)
    weigh.save(model, output)
    kept.clear()
    rows, columns = f"{count_rows(table):,}", model.n_features_in_
    done = "" if recalibrate is None else ", recalibrated,"
    say(f"{learners()[learner]}{done} from {rows} rows and {columns} columns: {output}")
    hint(f"weigh show {output}")


@main.command()
@model_argument
@click.option("--feature", metavar="NAME", help="One feature only.")
@json_option
def show(model: str, feature: str | None, as_json: bool) -> None:
    """Print the weights of evidence, or the tree.

    Example: weigh show model.json
    """
    from dataclasses import replace

    from weigh.evidence import Evidence
    from weigh.scoring import json_rows
    from weigh.store import load

    shown = load(model)._learnt
    shown = getattr(shown, "evidence", shown)  # of an estimate
    if feature is not None:
        if not isinstance(shown, Evidence):
            raise ValueError("--feature picks one table, and this model has none; leave it out")
        shown = replace(shown, tables=(shown[feature],))
    if as_json:
        click.echo(json.dumps(json_rows(shown.to_frame()), ensure_ascii=False))
    else:
        click.echo(shown.to_text(terminal_width()))


@main.command()
@model_argument
@data_argument
@click.option("-o", "--output", default="-", metavar="FILE", help="CSV, TSV or Parquet to write.")
@click.option("--keep", multiple=True, metavar="COL", help="A column to copy (repeatable).")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object per row.")
def score(model: str, data: str, output: str, keep: tuple[str, ...], as_json: bool) -> None:
    """Predict every row: class, total weight of evidence (where there is one), probabilities.

    A file larger than 256 MiB, a folder or a glob is read and written batch by batch. An output
    without an ending is a folder of Parquet files.

    Example: weigh score model.json people.csv -o scores.csv

    Example: weigh score model.json 'people/*.parquet' -o scores/
    """
    from weigh.scoring import score_parts, write_lines, write_scores
    from weigh.store import load

    keep_apart(data, output)
    fitted = load(model)
    table = read_like(fitted, data)
    kept = tuple(check_column(table, name) for name in keep)
    write = write_lines if as_json else write_scores
    with show_progress("scoring"):
        n_rows = write(score_parts(fitted, table, kept), output)
    if output != "-":
        say(f"{n_rows:,} rows: {output}")


@main.command()
@model_argument
@data_argument
@click.option("--row", default=0, show_default=True, help="Which row; the first is 0.")
@class_option
@click.option("--against", metavar="CLASS", help="Its rival, for more than two classes.")
@click.option(
    "--reasons",
    type=click.IntRange(1),
    metavar="N",
    help="Instead, write the N heaviest features of every row as columns.",
)
@click.option("--keep", multiple=True, metavar="COL", help="A column to copy beside reasons.")
@click.option("-o", "--output", default="-", metavar="FILE", help="Where to write reasons.")
@json_option
def explain(
    model: str,
    data: str,
    row: int,
    of: str | None,
    against: str | None,
    reasons: int | None,
    keep: tuple[str, ...],
    output: str,
    as_json: bool,
) -> None:
    """Print the balance sheet of one row, its path down a tree, or reasons of every row.

    Example: weigh explain model.json people.csv --row 3

    Example: weigh explain model.json people.csv --reasons 3 -o reasons.csv
    """
    from weigh.store import load

    fitted = load(model)
    table = read_like(fitted, data)
    if reasons is not None:
        source = click.get_current_context().get_parameter_source("row")
        if source is click.core.ParameterSource.COMMANDLINE:
            raise click.UsageError("--reasons is of every row, --row of one: give one of them")
        keep_apart(data, output)
        write_reasons(fitted, table, reasons, of, keep, output)
        return
    if keep or output != "-":
        raise click.UsageError("--keep and -o go with --reasons N")
    last = count_rows(table) - 1
    if not 0 <= row <= last:
        raise click.BadParameter(f"{row} is not in 0 to {last}", param_hint="--row")
    page = explain_row(fitted, take_row(table, row), of, against)
    if as_json:
        click.echo(json.dumps(page.to_dict(), ensure_ascii=False))
    else:
        click.echo(page.to_text(terminal_width()))


def write_reasons(
    model: Any, table: Any, n: int, of: str | None, keep: tuple[str, ...], output: str
) -> None:
    """The heaviest features of every row, as a table in a file."""
    from weigh.exports.formula import evidence_of
    from weigh.scoring import score_parts, write_scores
    from weigh.sheet import find_reasons

    evidence, label = evidence_of(model), find_class(model, of)
    kept = tuple(check_column(table, name) for name in keep)

    def columns(model: Any, part: Any) -> dict[str, Any]:
        return find_reasons(evidence, model._read(part), n, label).columns()

    with show_progress("explaining"):
        n_rows = write_scores(score_parts(model, table, kept, columns), output)
    if output != "-":
        say(f"{n_rows:,} rows: {output}")


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
