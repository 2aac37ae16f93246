"""Measures of regressors by group: observed and estimated means, their ratio, and errors."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import stdtrit

from weigh.evaluation.estimates import Estimated, rare_sum
from weigh.evaluation.groups import LEAST, Grouping
from weigh.evaluation.page import Section
from weigh.evidence.units import digits_of, spell
from weigh.layout import percent
from weigh.metrics.numbers import NAN, Bounded

if TYPE_CHECKING:
    from weigh.evaluation.numbers import NumberEvaluation

SHOWN = 3
"""Most groups that the findings name."""


@dataclass(frozen=True)
class NumberGroup:
    """Measures of one group of rows: observed and estimated means, and their difference.

    `observed` and `estimate` are means over rows, or per unit of exposure if each row has its own
    exposure. `ratio` is observed/estimate; it is unknown in all groups if it is unknown in one.
    `difference` is observed - estimate. Their intervals treat the estimates as fixed. `deviance` is
    a mean over rows. `note` says why a measure is not known.
    """

    name: str
    n_rows: int
    weight: float
    exposure: float
    observed: float
    estimate: float
    ratio: Bounded
    difference: Bounded
    rmse: float
    deviance: float
    note: str = ""


def measure_number_groups(
    grouping: Grouping, rows: Estimated, coverage: float
) -> tuple[tuple[NumberGroup, ...], NumberGroup]:
    """Measures of every group, in the order of its values, and of all rows together."""
    rare = rare_sum(rows.numbers, rows.weight, coverage)
    parts = [(n, rows.take(at)) for n, at in grouping.split(rows.kept, rows.weight)]
    signed = bool(rows.numbers.min() < 0 or rows.means.min() < 0)
    signed |= any(part.weight @ part.means <= 0 for _, part in parts)  # same measure for all groups
    found = [_measure(n, part, signed, rare, coverage) for n, part in (*parts, ("All rows", rows))]
    return tuple(found[:-1]), found[-1]


def _measure(name: str, rows: Estimated, signed: bool, rare: float, coverage: float) -> NumberGroup:
    weight, errors = rows.weight, rows.numbers - rows.means
    total = float(weight.sum())
    units = total if rows.exposure is None else float(weight @ rows.exposure)
    observed, estimate = float(weight @ rows.numbers), float(weight @ rows.means)
    enough = total >= LEAST
    off = _error(errors - errors @ weight / total, weight)
    reach = float(stdtrit(total - 1, (1 + coverage) / 2)) if enough else NAN
    gap = (observed - estimate) / units
    wide = reach * off / units if off > 0 else NAN
    return NumberGroup(
        name=name,
        n_rows=len(errors),
        weight=total,
        exposure=NAN if rows.exposure is None else units,
        observed=observed / units,
        estimate=estimate / units,
        ratio=Bounded(NAN) if signed else _ratio(rows, reach, rare),
        difference=Bounded(gap, gap - wide, gap + wide),
        rmse=float(np.sqrt(weight @ errors**2 / total)),
        deviance=float(weight @ rows.losses(rows.power) / total),
        note="" if enough else f"too few rows for an interval: {total:g}, and {LEAST} are needed",
    )


def _error(errors: np.ndarray, weight: np.ndarray) -> float:
    """The standard error of a sum over rows whose errors have a mean of zero."""
    total = float(weight.sum())
    return float(np.sqrt(weight @ errors**2 * total / max(total - 1, 1.0)))


def _ratio(rows: Estimated, reach: float, rare: float) -> Bounded:
    """Observed over estimated, with an interval that is symmetric for its logarithm.

    The standard error of a ratio of sums is that of the sum of y - ratio mean, over the sum of
    means.
    """
    whole, part = float(rows.weight @ rows.means), float(rows.weight @ rows.numbers)
    if part == 0:
        return Bounded(0.0, 0.0, rare / whole) if np.isfinite(reach) and rare else Bounded(0.0)
    ratio = part / whole
    error = _error(rows.numbers - ratio * rows.means, rows.weight) / part
    if not error > 1e-12 or not np.isfinite(reach):  # no interval from equal rows
        return Bounded(ratio)
    factor = float(np.exp(min(reach * error, 700.0)))
    return Bounded(ratio, ratio / factor, ratio * factor)


# ------------------------------------------------------------ sentences and tables


def tell_groups(found: NumberEvaluation) -> str:
    """A sentence about the groups whose mean estimate is biased, the largest group first."""
    off = [group for group in found.groups if _is_off(group)]
    if not off:
        return ""
    off.sort(key=lambda group: -group.weight)
    told = [
        f"{group.name} (estimate {_mean(found, group.estimate)}, "
        f"observed {_mean(found, group.observed)})"
        for group in off[:SHOWN]
    ]
    more = f" and {len(off) - SHOWN} more" if len(off) > SHOWN else ""
    unit = f", per unit of {found.exposed}" if found.exposed else ""
    chance = f"{(1 - found.coverage) * len(found.groups):.1g}"
    return (
        f"Groups with biased estimates{unit}: {'; '.join(told)}{more}. By chance alone "
        f"about {chance} of {len(found.groups)} would be listed."
    )


def _is_off(group: NumberGroup) -> bool:
    """Whether a group's bias is significant: by its ratio, or by its difference if unknown."""
    known, right = (group.ratio, 1.0) if group.ratio.is_known() else (group.difference, 0.0)
    return known.has_interval() and not known.holds(right)


def _mean(found: NumberEvaluation, value: float) -> str:
    """A mean, or a rate per unit of exposure, as text with the digits that suit all rows."""
    size = found.spread or found.mean_observed
    if found.exposed and found.all_rows is not None:
        size = found.all_rows.estimate
    return spell(value, digits_of(size))


def _range(bounded: Bounded, spelled: Callable[[float], str]) -> str:
    if not bounded.has_interval():
        return spelled(bounded.value)
    value, low, high = map(spelled, (bounded.value, bounded.low, bounded.high))
    return f"{value} ({low} to {high})"


def show_groups(found: NumberEvaluation) -> tuple[Section, ...]:
    """The table of the groups, whose last line is all rows; empty without groups."""
    if not found.groups or found.all_rows is None:
        return ()
    lines, exposed = (*found.groups, found.all_rows), digits_of(found.all_rows.exposure)
    columns = [
        ("Rows", [f"{group.weight:,.6g}" for group in lines]),
        (found.exposed, [spell(group.exposure, exposed) for group in lines]),
        ("Observed", [_mean(found, group.observed) for group in lines]),
        ("Estimate", [_mean(found, group.estimate) for group in lines]),
        _bias(found, lines),
        ("RMSE", [spell(group.rmse, digits_of(found.spread)) for group in lines]),
        ("Deviance", [f"{group.deviance:.3g}" for group in lines]),
    ]
    unit = f" per unit of {found.exposed}" if found.exposed else ""
    left_out = {"", "" if found.has_deviance() else "Deviance"}
    columns = [column for column in columns if column[0] not in left_out]
    names = [group.name for group in lines]
    rows = tuple(zip(names, *(cells for _, cells in columns), strict=True))
    notes = [f"{group.name}: {group.note}." for group in lines if group.note]
    title = f"Observed and estimated {found.target}{unit}, by {found.by}"
    return (Section(title, (found.by, *(head for head, _ in columns)), rows, (*notes,)),)


def _bias(found: NumberEvaluation, lines: tuple[NumberGroup, ...]) -> tuple[str, list[str]]:
    """The column of ratios, or of differences if a group has no ratio."""
    interval = f"({percent(found.coverage)} interval)"
    if all(group.ratio.is_known() for group in lines):
        return f"Observed/estimate {interval}", [_range(g.ratio, "{:.2f}".format) for g in lines]
    spelled = [_range(g.difference, lambda x: _mean(found, x)) for g in lines]
    return f"Observed - estimate {interval}", spelled
