"""What `weigh fit` estimates: classes, or a number."""

from __future__ import annotations

from typing import Any

import click

from weigh.cli.messages import MOST_CLASSES, hint, say

REGRESSOR = "-regressor"


def choose_learner(learner: str, task: str, table: Any, target: str) -> str:
    """The learner for the task; the flagship takes a number of many values as a regression."""
    from weigh.store import learners

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
    hint("--task classification takes each value for a class")
    return numbers


def count_numbers(table: Any, target: str) -> int:
    """How many different numbers a column holds; 0 of one that is no number, or read in batches."""
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


def known_parameters(kind: Any, given: dict[str, Any], learner: str) -> dict[str, Any]:
    """The options that a learner has; one that it does not have is refused, unless it is usual."""
    known = kind._get_param_names()
    for name, value in given.items():
        if name not in known and (name, value) != ("smoothing", 1.0):
            raise click.UsageError(f"{learner} has no --{name.replace('_', '-')}; leave it out")
    return {name: value for name, value in given.items() if name in known}
