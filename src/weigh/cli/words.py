"""What is said to people, on standard error: words and hints."""

from __future__ import annotations

import os
import re
from typing import Any

import click


def say(text: str) -> None:
    """Words for people."""
    click.echo(text, err=True)


def hint(text: str) -> None:
    """What to type next, on a line of its own."""
    click.echo(f"hint: {text}", err=True)


def keep_apart(data: str, output: str) -> None:
    """An output that would replace the input is a slip."""
    both = os.path.exists(output) and os.path.exists(data)
    if both and os.path.samefile(data, output):
        raise ValueError(f"{output} is the data itself; give -o another name")


def advise(model: Any, table: Any, weight: str | None) -> None:
    """Say what a fit cannot know but a person may not have meant."""
    rows = int(table.n_rows if hasattr(table, "n_rows") else table.num_rows)
    for part in [part for feature in model._learnt.features for part in feature.parts]:
        levels = () if part.is_numeric else part.values
        odd = [level for level in levels if not _is_number(level)]
        if len(levels) > 10 and 0 < len(odd) < 0.2 * len(levels):
            say(f"note: column {part.name!r} is text, because of {odd[0]!r} among numbers")
            hint("make that cell empty if it means missing")
        elif len(levels) > 50 and len(levels) > rows / 2:
            say(f"note: column {part.name!r} has {len(levels):,} levels in {rows:,} rows")
            hint(f"leave an id out with --drop {part.name!r}")
    mean = model._learnt.class_counts.sum() / rows
    if weight is not None and not 0.5 < mean < 2:
        say(f"note: the weights average {mean:,.4g}, and a weight counts as so many rows")
        hint(f"divide {weight!r} by its mean where it is a sampling weight")


def _is_number(level: Any) -> bool:
    try:
        float(level)
    except ValueError:
        return False
    return True


def terminal_width() -> int:
    """How wide a page may be."""
    import shutil

    return min(shutil.get_terminal_size((100, 24)).columns, 120)


OPTIONS = (
    (r"\bpos_label=", "--of "),
    (r"\bpos_label\b", "--of"),
    (
        r"^sample_weight must be .*: column .* is numeric but holds text (\('.*'\));.*",
        r"--weight must name a column of numbers, and this one holds text \1",
    ),
    (r"(?<!')\bsample_weight\b(?!')", "--weight"),
    (r"(?<!['\w])(y_true|y)(?= names\b)", "--target"),
    (r"(?<!['\w])(y_true|y)(?= (holds|has|is|must)\b)", "the target"),
    (r"(?<!['\w])by(?= names\b)", "--by"),
    (
        r"^costs (must be .*) such as \(1, 5\); got \((.*), (.*)\)",
        r"--cost \1 such as 1 5; got \2 \3",
    ),
    (r"\bcategorical_features\b", "--categorical"),
    (r"\bmax_levels=", "--max-levels "),
    (r"\bmax_levels\b", "--max-levels"),
    (r"\bcv(?= must\b)", "--folds"),
    (r"\bcv=", "--folds "),
)
"""What errors call arguments, and the options that give them."""


def speak_options(text: str) -> str:
    """An error as it is said to somebody who typed options.

    >>> speak_options("pos_label='Maybe' is not among the classes ['No', 'Yes']")
    "--of 'Maybe' is not among the classes ['No', 'Yes']"
    """
    for pattern, option in OPTIONS:
        text = re.sub(pattern, option, text)
    return text
