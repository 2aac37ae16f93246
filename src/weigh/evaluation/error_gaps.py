"""Groups whose error rates differ from those of the other rows by more than chance."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from weigh.evaluation.groups import Group
from weigh.layout import list_few
from weigh.metrics.numbers import clopper_pearson


@dataclass(frozen=True)
class ErrorCount:
    """A group's rows that can have an error of one kind, and how many of them have it."""

    name: str
    wrong: float
    rows: float

    @classmethod
    def of(cls, group: Group, kind: str) -> ErrorCount:
        """The false positives or false negatives of a group."""
        if kind == "false-positive":
            rate, share = group.false_positive_rate.value, 1 - group.base_rate.value
        else:
            rate, share = group.false_negative_rate.value, group.base_rate.value
        rows = group.weight * share
        return cls(group.name, 0.0 if math.isnan(rate) else rate * rows, rows)


def tell_error_gaps(groups: Sequence[Group], cut_off: float, coverage: float) -> list[str]:
    """A sentence for each kind of error whose rate differs between groups, the largest gap first.

    Without true differences, at most a share 1 - coverage of all evaluations names a group:
    Bonferroni's bound over the groups and the two kinds. Two groups are one comparison.
    """
    if len(groups) < 2:
        return []
    n_tests = 2 * (len(groups) if len(groups) > 2 else 1)
    each, told = 1 - (1 - coverage) / n_tests, []
    for kind in ("false-positive", "false-negative"):
        found = [ErrorCount.of(group, kind) for group in groups]
        wrong, rows = sum(g.wrong for g in found), sum(g.rows for g in found)
        off = [g for g in found if differ(g.wrong, g.rows, wrong, rows, each)]
        off.sort(key=lambda g: -abs(g.wrong / g.rows - wrong / rows))
        if off:
            names = [
                f"{g.name} ({g.wrong / g.rows:.1%}, other rows "
                f"{(wrong - g.wrong) / (rows - g.rows):.1%})"
                for g in off
            ]
            told.append(
                f"Groups with a different {kind} rate at the cut-off {cut_off:.3g}: "
                f"{list_few(names, '; ')}."
            )
    return told


def differ(wrong: float, rows: float, all_wrong: float, all_rows: float, coverage: float) -> bool:
    """Whether the errors in a group and in the other rows differ by more than chance.

    Without a difference, the group's errors are hypergeometric: rows drawn from all rows. The test
    is binomial, as if they were drawn with replacement, which makes large counts likelier. Either
    margin of the 2 x 2 table may be the draw. The smallest has least replacement.
    """
    rate, share = all_wrong / (all_rows or 1), rows / (all_rows or 1)
    drawn, hit, expected = min(
        (rows, wrong, rate),
        (all_rows - rows, all_wrong - wrong, rate),
        (all_wrong, wrong, share),
        (all_rows - all_wrong, rows - wrong, share),
    )
    if drawn <= 0:
        return False
    low, high = clopper_pearson(min(max(hit, 0.0), drawn), drawn, coverage)
    return not low <= expected <= high
