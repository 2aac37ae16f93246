"""Hold-out rows on the command line: set apart before a fit, judged after it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import click

from weigh.cli.data import check_column, count_rows
from weigh.cli.messages import MOST_CLASSES, say
from weigh.cli.task import count_numbers


@dataclass(frozen=True)
class HeldOut:
    """Training rows, hold-out rows (None where there are none), and how they were chosen."""

    train: Any
    rest: Any = None
    how: str = ""

    @property
    def n_rows(self) -> int:
        """How many rows were held out."""
        return 0 if self.rest is None else count_rows(self.rest)

    def say(self) -> None:
        """Say how many rows were held out, and how."""
        n, total = self.n_rows, self.n_rows + count_rows(self.train)
        say(f"Hold-out: {n:,} of {total:,} rows ({n / total:.0%}), {self.how}.")


def hold_out(
    table: Any,
    target: str | None,
    holdout: float | None,
    holdout_by: str | None,
    holdout_time: str | None,
    rows: Any = None,
) -> HeldOut:
    """Set hold-out rows apart; `rows`, where given, is the same table read in another way."""
    columns = [name for name in (holdout_by, holdout_time) if name is not None]
    if holdout is None:
        if columns:
            raise click.UsageError("--holdout-by and --holdout-time need --holdout SHARE")
        return HeldOut(table)
    if len(columns) == 2:
        raise click.UsageError("give --holdout-by or --holdout-time, not both")
    import numpy as np

    from weigh.frames import read, take_rows
    from weigh.holdout import mark_holdout

    for name in (*columns, *([target] if target is not None else [])):
        check_column(table, name)
    held = mark_holdout(read(table), target, holdout=holdout, by=holdout_by, time=holdout_time)
    taken = table if rows is None else rows
    train, rest = (take_rows(taken, np.flatnonzero(mask)) for mask in (~held, held))
    if holdout_time is not None:
        how = f"the latest by {holdout_time!r}"
    elif holdout_by is not None:
        how = f"whole groups of {holdout_by!r}"
    else:
        classes = target is not None and count_numbers(table, target) <= MOST_CLASSES
        how = f"the same share of each class of {target!r}" if classes else "at random"
    return HeldOut(train, rest, how)


def judge(model: Any, held: HeldOut, target: str, weight: str | None, to_stderr: bool) -> None:
    """Print what an evaluation on the hold-out rows finds."""
    import weigh

    found = weigh.evaluate(model, held.rest, target, sample_weight=weight)
    held.say()
    click.echo("\n".join(found.findings), err=to_stderr)
