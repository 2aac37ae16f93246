"""The decisions of `weigh fit`: classes or a number, learner, hold-out rows, checkpoints."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from glob import glob
from types import SimpleNamespace
from typing import Any

import click

from weigh.cli.data import check_column, count_rows, forget_files, list_files
from weigh.cli.group import MOST_CLASSES, hint, say
from weigh.cli.options import read_parameters

REGRESSOR = "-regressor"


SURVIVAL = "EducatedSurvival"


def read_outcome(
    target: str | None, event: str | None, duration: str | None, entry: str | None
) -> str | tuple[str, ...]:
    """The columns to predict: the target, or event, duration and (if given) entry."""
    if target is not None:
        if event or duration or entry:
            raise click.UsageError(
                "give --target for classes or numbers, or --event and --duration for times"
            )
        return target
    if event is None or duration is None:
        given = event or duration or entry
        needed = "--event and --duration" if given else "--target, or --event and --duration"
        raise click.UsageError(f"name what is to be predicted with {needed}")
    return (event, duration) if entry is None else (event, duration, entry)


def check_survival(
    held: SetApart, weight: str | None, summary: bool, checkpoint: str | None
) -> None:
    """Raise an error, before the fit, for options that survival models do not support."""
    if held.rest is not None and weight:
        raise click.UsageError(
            "hold-out rows of a survival model are evaluated without --weight: leave out --weight "
            "or --holdout"
        )
    for option, asked in (("--summary", summary), ("--checkpoint", checkpoint)):
        if asked:
            raise click.UsageError(f"{option} is not for survival models; leave it out")


def choose_learner(learner: str, task: str, table: Any, target: Any) -> str:
    """The learner for the task; a numeric target with many values is a regression by default."""
    from weigh.store import learners

    if isinstance(target, tuple):
        if learner != "educated" or task != "auto":
            raise click.UsageError(
                "--event and --duration go with --learner educated, and need no --task"
            )
        return SURVIVAL

    numbers = learner + REGRESSOR
    if learner.endswith(REGRESSOR):
        if task == "classification":
            raise click.UsageError(
                f"--learner {learner} estimates numbers; for classes give "
                f"--learner {learner.removesuffix(REGRESSOR)}"
            )
        return learner
    if task == "regression":
        if numbers not in learners():
            known = [name.removesuffix(REGRESSOR) for name in learners() if REGRESSOR in name]
            raise click.UsageError(
                f"--learner {learner} predicts classes; for --task regression give "
                f"{' or '.join(known)}"
            )
        return numbers
    n = count_numbers(table, target) if task == "auto" and learner == "educated" else 0
    if n <= MOST_CLASSES:
        return learner
    say(f"{target!r} is a number with {n:,} values, so this is a regression.")
    hint("--task classification treats each value as a class")
    return numbers


def count_numbers(table: Any, target: str) -> int:
    """The number of distinct numbers in a column; 0 if it is not numeric, or read in batches."""
    import numpy as np

    from weigh.frames import Numbers, read

    if hasattr(table, "batches") or target not in table.column_names:
        return 0
    try:
        column = read(table.select([target])).column(target)
    except ValueError:
        return 0
    if not isinstance(column, Numbers):
        return 0
    return len(np.unique(column.values[np.isfinite(column.values)]))


def make_model(
    learner: str, options: dict[str, Any], own: tuple[str, ...], recalibrate: str | None
) -> Any:
    """The estimator for the options of `weigh fit`; `own` are the values of --set."""
    import weigh
    from weigh.store import learners

    kind = getattr(weigh, learner if learner == SURVIVAL else learners()[learner])
    given = {name: value for name, value in options.items() if value not in (None, ())}
    model = kind(**_known_parameters(kind, given, learner))
    if "random_state" in model.get_params():
        model.set_params(random_state=0)  # the same command writes the same file
    model.set_params(**read_parameters(own, model))
    if recalibrate is None:
        return model
    if not hasattr(model, "predict_proba"):
        raise ValueError(
            f"--recalibrate is for probabilities of classes, which {learner} does not predict"
        )
    return weigh.RecalibratedClassifier(model, method=recalibrate, random_state=0)


def _known_parameters(kind: Any, given: dict[str, Any], learner: str) -> dict[str, Any]:
    """The options that a learner has; others are an error, except the default of --smoothing."""
    known = kind._get_param_names()
    for name, value in given.items():
        if name not in known and (name, value) != ("smoothing", 1.0):
            raise click.UsageError(f"{learner} has no --{name.replace('_', '-')}; leave it out")
    return {name: value for name, value in given.items() if name in known}


@dataclass(frozen=True)
class SetApart:
    """Training rows, hold-out rows (None if there are none), and how they were chosen."""

    train: Any
    rest: Any = None
    how: str = ""

    @property
    def n_rows(self) -> int:
        """The number of hold-out rows."""
        return 0 if self.rest is None else count_rows(self.rest)

    def say(self) -> None:
        """Print how many rows were held out, and how they were chosen."""
        n, total = self.n_rows, self.n_rows + count_rows(self.train)
        say(f"Hold-out: {n:,} of {total:,} rows ({n / total:.0%}), {self.how}.")


def hold_out(
    table: Any,
    target: str | None,
    holdout: float | None,
    holdout_by: str | None,
    holdout_time: str | None,
    rows: Any = None,
) -> SetApart:
    """Split off hold-out rows; they are taken from `rows`, if given: the table read as text."""
    columns = [name for name in (holdout_by, holdout_time) if name is not None]
    if holdout is None:
        if columns:
            raise click.UsageError("--holdout-by and --holdout-time need --holdout SHARE")
        return SetApart(table)
    if len(columns) == 2:
        raise click.UsageError("give --holdout-by or --holdout-time, not both")
    import numpy as np

    from weigh.frames import number_sample, read, take_rows
    from weigh.holdout import mark_holdout

    for name in (*columns, *([target] if target is not None else [])):
        check_column(table, name)
    if rows is None and target is not None and count_numbers(table, target) > MOST_CLASSES:
        number_sample(read(table), target, None)  # errors name rows of the file, not of a part
    held = mark_holdout(read(table), target, holdout=holdout, by=holdout_by, time=holdout_time)
    taken = table if rows is None else rows
    train, rest = (take_rows(taken, np.flatnonzero(mask)) for mask in (~held, held))
    if holdout_time is not None:
        how = f"the latest by {holdout_time!r}"
    elif holdout_by is not None:
        how = f"whole groups of {holdout_by!r}"
    else:
        few = target is not None and count_numbers(table, target) <= MOST_CLASSES
        how = f"the same share of each value of {target!r}" if few else "at random"
    forget_files()
    return SetApart(train, rest, how)


def read_exposure(model: Any, exposure: str | None) -> dict[str, Any]:
    """The exposure as a keyword of fit or predict; an error for models that take none.

    A fit takes a column, a prediction a column or a number.
    """
    if exposure is None:
        return {}
    if not hasattr(model, "family"):
        fitted = hasattr(model, "n_features_in_")
        fix = "leave it out" if fitted else "add --task regression --set family=poisson"
        raise click.UsageError(
            f"--exposure needs a model of counts or amounts, not {type(model).__name__}; {fix}"
        )
    if hasattr(model, "evidence_"):
        with suppress(ValueError):
            return {"exposure": float(exposure)}
    return {"exposure": exposure}


def judge(
    model: Any,
    held: SetApart,
    target: Any,
    weight: str | None,
    to_stderr: bool,
    exposure: str | None = None,
) -> None:
    """Evaluate the model on the hold-out rows and print the findings."""
    import weigh

    found = weigh.evaluate(model, held.rest, target, sample_weight=weight, exposure=exposure)
    held.say()
    click.echo("\n".join(found.findings), err=to_stderr)


@contextmanager
def keep_passes(folder: str | None, data: str, model: Any, about: list[Any]) -> Iterator[Any]:
    """Store the result of each pass of a fit in a folder, and report how many were reused."""
    if folder is None:
        yield SimpleNamespace(clear=lambda: None)
        return
    from weigh import __version__, engine
    from weigh.store.plain import feature_from_dict, feature_to_dict

    which = [__version__, type(model).__name__, repr(model.get_params()), about, fingerprint(data)]
    spelling = engine.Spelling(
        lambda features: [feature_to_dict(feature) for feature in features],
        lambda listed: [feature_from_dict(feature) for feature in listed],
    )
    with engine.checkpoint(folder, which, spelling) as kept:
        yield kept
    if kept.recalled:
        say(f"{kept.recalled:,} of {kept.asked:,} passes were in {folder} already")


def fingerprint(data: str) -> list[tuple[str, int, int]]:
    """The names, sizes and modification times of the files of a table."""
    if data == "-":
        raise ValueError("--checkpoint does not work with standard input; write the data to a file")
    paths = [data] if os.path.exists(data) else sorted(glob(data, recursive=True))
    files = [file for path in paths for file in _files(path)]
    return [(os.path.abspath(f), os.stat(f).st_size, os.stat(f).st_mtime_ns) for f in files]


def _files(path: str) -> list[str]:
    if not os.path.isdir(path):
        return [path]
    return sorted(os.path.join(root, name) for root, _, names in os.walk(path) for name in names)


def trace(model: Any, data: str, table: Any, target: str, held_out: int = 0) -> Any:
    """The provenance of a model: what its fit recorded, and its files by name and hash."""
    from weigh.evidence import hash_files, record
    from weigh.frames import read

    known = getattr(model, "provenance_", None) or record(read(table).without({target}), target)
    known = replace(known, held_out=held_out or None)
    files = [file for file in list_files(data) if isinstance(file, str)]
    if not files:  # standard input, or a database
        return known
    name = os.path.basename(os.path.normpath(data))
    return replace(known, source=name, sha256=hash_files(files))
