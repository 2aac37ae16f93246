"""Population stability index: how far the distributions of two samples differ."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from weigh.arrays import Floats
from weigh.bins import spell_level
from weigh.frames import Codes, Column, Numbers, is_count, order, row_weights, vector
from weigh.metrics.inputs import read_weight
from weigh.metrics.reliability import quantiles

LEAST = 1e-4
"""Smallest share of a bin: a share of 0 is replaced by it, so that the index stays finite."""


@dataclass(frozen=True, eq=False)
class Stability:
    """The index, and the share of each bin or level in both samples."""

    value: float
    labels: tuple[str, ...]
    expected: Floats
    actual: Floats
    parts: Floats

    @property
    def shift(self) -> str:
        """Size of the shift by the usual limits of credit risk: none below 0.1, major from 0.25."""
        return "none" if self.value < 0.1 else "some" if self.value < 0.25 else "major"


def population_stability_index(
    expected: Any,
    actual: Any,
    bins: int = 10,
    *,
    expected_weight: Any = None,
    actual_weight: Any = None,
) -> Stability:
    """Population stability index: the shift of a feature or score between two samples.

    The index is::

        PSI = sum over bins of (a - e) ln a/e

    with e and a the share of a bin in the expected and in the actual sample. Numeric values are cut
    at quantiles of the expected sample; text, booleans and categories are compared level by level.
    Missing is a bin of its own. Shares are at least 1e-4.

    Parameters
    ----------
    expected : array
        Values of the sample that a model was built on.
    actual : array
        Values of the sample that it is used on.
    bins : int, default=10
        Largest number of bins of numeric values; ties leave fewer.
    expected_weight, actual_weight : arrays, optional
        Row weights; a weight of two equals a row given twice.

    Examples
    --------
    >>> from weigh.metrics import population_stability_index
    >>> found = population_stability_index(["a", "a", "b", "b"], ["a", "b", "b", "b"])
    >>> round(found.value, 3), found.shift
    (0.275, 'major')
    """
    if not is_count(bins) or bins < 1:
        raise ValueError(f"bins must be a whole number of at least 1, got {bins!r}")
    one, other = _read(expected, "expected"), _read(actual, "actual")
    if isinstance(one, Numbers) != isinstance(other, Numbers):
        kinds = ["numbers" if isinstance(part, Numbers) else "categories" for part in (one, other)]
        raise ValueError(f"expected holds {kinds[0]} and actual {kinds[1]}; give both alike")
    weights = [
        read_weight(given, _size(part), name)
        for given, part, name in (
            (expected_weight, one, "expected_weight"),
            (actual_weight, other, "actual_weight"),
        )
    ]
    if isinstance(one, Numbers) and isinstance(other, Numbers):
        names, counts = _count_numbers(one.values, other.values, weights, int(bins))
    else:
        names, counts = _count_levels(one, other, weights)  # type: ignore[arg-type]
    return compare_counts(names, *counts)


def compare_counts(labels: Sequence[str], expected: Floats, actual: Floats) -> Stability:
    """Stability index of two samples, from their counts by level."""
    e, a = (part / part.sum() for part in (expected, actual))
    floor = np.maximum(e, LEAST), np.maximum(a, LEAST)
    parts = (floor[1] - floor[0]) * np.log(floor[1] / floor[0])
    return Stability(float(parts.sum()), tuple(labels), e, a, parts)


def _read(values: Any, name: str) -> Column:
    try:
        column = vector(values, name, categorical=None)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{name} must be a list or array of values: {error}") from None
    if not _size(column):
        raise ValueError(f"{name} is empty; a share needs at least one row")
    return column


def _size(column: Column) -> int:
    return len(column.values if isinstance(column, Numbers) else column.codes)


def _count_numbers(
    one: Floats, other: Floats, weights: list[Floats | None], bins: int
) -> tuple[list[str], list[Floats]]:
    """Weight of each interval in each sample, and of missing values if there are any."""
    cuts = _cut(one, weights[0], bins)
    counts = [
        np.bincount(
            np.where(np.isnan(part), len(cuts) + 1, np.searchsorted(cuts, part, side="left")),
            given,
            len(cuts) + 2,
        ).astype(np.float64)
        for part, given in zip((one, other), weights, strict=True)
    ]
    names = [*_intervals(cuts), "missing"]
    if not counts[0][-1] and not counts[1][-1]:
        return names[:-1], [part[:-1] for part in counts]
    return names, counts


def _cut(values: Floats, weight: Floats | None, bins: int) -> Floats:
    """Distinct quantiles with values on both sides, as cut points."""
    every = row_weights(weight, len(values))
    counted = ~np.isnan(values) & (every > 0)
    distinct, place = np.unique(values[counted], return_inverse=True)
    if len(distinct) < 2:
        return np.zeros(0)
    totals = np.bincount(place, every[counted]).astype(np.float64)
    cuts = np.unique(quantiles(distinct, totals, bins))
    return np.asarray(cuts[cuts < distinct[-1]])


def _intervals(cuts: Floats) -> list[str]:
    if not len(cuts):
        return ["all"]
    ends = [f"{cut:.6g}" for cut in cuts]
    inner = [f"({low}, {high}]" for low, high in pairwise(ends)]
    return [f"<= {ends[0]}", *inner, f"> {ends[-1]}"]


def _count_levels(
    one: Codes, other: Codes, weights: list[Floats | None]
) -> tuple[list[str], list[Floats]]:
    """Weight of each level in each sample."""
    sums = [
        np.bincount(part.codes, given, len(part.values)).astype(np.float64)
        for part, given in zip((one, other), weights, strict=True)
    ]
    by_level = [
        {value: total for value, total in zip(part.values, total_by, strict=True) if total}
        for part, total_by in zip((one, other), sums, strict=True)
    ]
    levels = sorted({*by_level[0], *by_level[1]}, key=order)
    counts = [np.array([part.get(level, 0.0) for level in levels]) for part in by_level]
    return ["missing" if level is None else spell_level(level) for level in levels], counts
