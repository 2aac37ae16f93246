"""One pass over a table: map its columns or rows to a statistic, and sum in a fixed order.

A fit is a few passes. In memory, counting runs on threads over columns, and predicting on threads
over blocks of rows; either way each number is a sum in one order, whatever the number of threads.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, TypeVar

import numpy as np
from threadpoolctl import ThreadpoolController

from weigh.bins import Cross, Feature, Placed, check_cuts, fine_cuts, mdl_cuts, quantile_cuts
from weigh.frames import Codes, Floats, Sample, Table, Value, count_matrix
from weigh.tally import Counts, Rows, Tally, count_categories, count_levels, count_pairs

BLOCK = 1 << 16
"""Rows whose totals stay in the cache while all features are added."""

TOKEN = "token"
"""The one feature of a model of documents; its levels are the tokens."""

Item = TypeVar("Item")
Result = TypeVar("Result")


@dataclass(frozen=True)
class Setting:
    """How one column is read: as categories or numbers, where to cut, what is special."""

    categorical: bool | None = None
    bins: str | int | Sequence[float] = "mdl"
    special: tuple[Value, ...] = ()
    skip_missing: bool = False
    most_levels: int = 128  # of bins="fine"


_watcher: ContextVar[Callable[[int, int], None] | None] = ContextVar("watcher", default=None)


@contextmanager
def watch(report: Callable[[int, int], None]) -> Iterator[None]:
    """While in this context, call `report(done, of)` after each column or block of a pass."""
    token = _watcher.set(report)
    try:
        yield
    finally:
        _watcher.reset(token)


def is_watched() -> bool:
    """Whether somebody wants to know how far a pass has come."""
    return _watcher.get() is not None


def spread(function: Callable[[Item], Result], items: Sequence[Item], n_rows: int) -> list[Result]:
    """Map over items in order, on threads where there are rows enough to pay for them."""
    if n_rows < BLOCK // 4:
        return [*_reported(map(function, items), len(items))]
    return parallel(function, items)


def parallel(function: Callable[[Item], Result], items: Sequence[Item]) -> list[Result]:
    """Map over items in order, on as many threads as there are processors."""
    if workers() == 1 or len(items) == 1:
        return [*_reported(map(function, items), len(items))]
    with ThreadPoolExecutor(workers()) as pool:
        return [*_reported(pool.map(function, items), len(items))]


def _reported(results: Iterable[Result], of: int) -> Iterator[Result]:
    for done, result in enumerate(results, 1):
        report(done, of)
        yield result


def report(done: int, of: int) -> None:
    """Tell whoever watches how far a pass or a search has come."""
    watcher = _watcher.get()
    if watcher is not None:
        watcher(done, of)


def workers() -> int:
    """The processors that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


@cache
def _controller() -> Any:
    return ThreadpoolController()


def one_blas_thread() -> Any:
    """Where passes run on threads of their own, or matrices are small, BLAS is to start no more."""
    return _controller().limit(limits=1, user_api="blas")


def tally(
    sample: Sample, settings: Mapping[str, Setting], crosses: Sequence[tuple[str, str]] = ()
) -> Tally:
    """Find the levels of every column and count them by class; crossed columns as one."""

    def count(names: tuple[str, ...], rows: Rows) -> Counts:
        counts = [_count_column(sample.table, name, settings[name], rows) for name in names]
        return _cross(counts, sample.table, rows)

    return _tally(sample, _groups(sample.table.names, crosses), count)


def _groups(names: Sequence[str], crosses: Sequence[tuple[str, str]]) -> list[tuple[str, ...]]:
    """The columns of each feature; a cross stands where the first of its columns did."""
    pair_of = {name: pair for pair in crosses for name in pair}
    return [*dict.fromkeys(pair_of.get(name, (name,)) for name in names)]


def _cross(counts: list[Counts], table: Table, rows: Rows) -> Counts:
    """The counts of one feature, or of two joined."""
    if len(counts) == 1:
        return counts[0]
    left, right = (count.feature.parts[0] for count in counts)
    return count_pairs((left, right), table, rows)


def _tally(sample: Sample, items: Sequence[Item], count: Callable[[Item, Rows], Counts]) -> Tally:
    rows = Rows(sample.labels, sample.weight, len(sample.classes))
    counts = spread(lambda item: count(item, rows), items, sample.table.n_rows)
    return Tally(sample.classes, sample.class_counts, tuple(counts))


def tally_levels(
    sample: Sample, features: Sequence[Feature | Cross], settings: Mapping[str, Setting]
) -> Tally:
    """Count on cut points that are known; new categories become levels.

    A feature that had not a single value so far is read as if for the first time.
    """

    def count_part(feature: Feature, rows: Rows) -> Counts:
        if not (feature.is_numeric or feature.values):
            return _count_column(sample.table, feature.name, settings[feature.name], rows)
        column = sample.table.column(feature.name, not feature.is_numeric)
        if isinstance(column, Codes):
            return count_categories(feature.name, column, rows, feature.skip_missing)
        return count_levels(_with_missing(feature), column, rows)

    def count(feature: Feature | Cross, rows: Rows) -> Counts:
        return _cross([count_part(part, rows) for part in feature.parts], sample.table, rows)

    return _tally(sample, features, count)


def tally_counts(sample: Sample) -> Tally:
    """Documents by tokens: every token is a level of one feature, every occurrence a row of it."""
    from weigh import kernels

    matrix = count_matrix(sample.table)
    weight = np.ones(1) if sample.weight is None else sample.weight
    counts = np.zeros((matrix.shape[1], len(sample.classes)))
    times = np.asarray(matrix.data, dtype=np.float64)
    kernels.count_tokens(matrix.indptr, matrix.indices, times, sample.labels, weight, counts)
    tokens = Feature(TOKEN, sample.table.names, in_order=True)
    return Tally(sample.classes, sample.class_counts, (Counts(tokens, counts),))


def total_counts(table: Table, weights: Floats, prior: Floats) -> Floats:
    """Prior + sum over tokens of their count times their weight."""
    return np.asarray(count_matrix(table) @ weights, dtype=np.float64) + prior


def count_tokens(table: Table) -> Floats:
    """How many tokens each document has."""
    return np.asarray(count_matrix(table) @ np.ones(len(table.names)), dtype=np.float64)


def count_answers(table: Table, features: Sequence[Feature | Cross]) -> Floats:
    """How many features each row has an answer in, where answers that lack are no evidence."""
    always = sum(not feature.skip_missing for feature in features)
    n = np.full(table.n_rows, float(always))
    skipping = [feature for feature in features if feature.skip_missing]
    for answered in spread(lambda feature: feature.answers(table), skipping, table.n_rows):
        n += answered
    return n


def _count_column(table: Table, name: str, setting: Setting, rows: Rows) -> Counts:
    column = table.column(name, setting.categorical)
    if isinstance(column, Codes):
        return count_categories(name, column, rows, setting.skip_missing)
    cuts = _find_cuts(column.values, name, setting, rows)
    feature = Feature(name, setting.special, cuts, skip_missing=setting.skip_missing)
    return count_levels(_with_missing(feature), column, rows)


def _with_missing(feature: Feature) -> Feature:
    return replace(feature, has_missing=not feature.skip_missing)


def _find_cuts(values: Floats, name: str, setting: Setting, rows: Rows) -> tuple[float, ...]:
    if not isinstance(setting.bins, str | int):
        return check_cuts(setting.bins, name)
    if setting.special:
        special = np.isin(values, np.array(setting.special, dtype=np.float64))
        values = np.where(special, np.nan, values)
    if setting.bins == "fine":
        return fine_cuts(values, rows.weight, setting.most_levels)
    if isinstance(setting.bins, str):
        return mdl_cuts(values, rows.labels, rows.weight, rows.n_classes)
    return quantile_cuts(values, rows.weight, setting.bins)


def place(table: Table, features: Sequence[Feature | Cross]) -> list[Placed]:
    """The level of every row in every feature."""
    return spread(lambda feature: feature.read(table), features, table.n_rows)


def expand(placed: Sequence[Placed], weights: Sequence[Floats], n_rows: int) -> Floats:
    """Each row's weight in each feature, as a matrix: the q of the adjusted learner."""
    Q = np.empty((n_rows, len(placed)))
    for j, (part, weight) in enumerate(zip(placed, weights, strict=True)):
        Q[:, j] = weight[part.levels][part.codes]
    return Q


def total(
    table: Table, features: Sequence[Feature | Cross], weights: Sequence[Floats], prior: Floats
) -> Floats:
    """Prior + sum of the weights of each row's levels: one column, or one per class."""
    return total_placed(place(table, features), weights, prior, table.n_rows)


def total_placed(
    placed: Sequence[Placed], weights: Sequence[Floats], prior: Floats, n_rows: int
) -> Floats:
    """The same for rows whose levels are known."""
    by_code = [w[p.levels] for w, p in zip(weights, placed, strict=True)]
    totals = np.empty((n_rows, len(prior)))
    add = _adder(len(prior))

    def fill(start: int) -> None:
        block = slice(start, start + BLOCK)
        totals[block] = prior
        for part, weight in zip(placed, by_code, strict=True):
            add(totals[block], part.codes[block], weight)

    spread(fill, range(0, n_rows, BLOCK), n_rows)
    return totals


def _adder(n_columns: int) -> Callable[..., Any]:
    from weigh import kernels

    return kernels.add_one if n_columns == 1 else kernels.add_many


def link(totals: Floats, form: str) -> Floats:
    """Probabilities of all classes: logistic of one total, softmax or `ovr` of many."""
    from weigh import kernels

    probabilities = np.empty((len(totals), max(totals.shape[1], 2)))
    many = kernels.ovr if form == "ovr" else kernels.softmax
    to_probability = kernels.logistic if totals.shape[1] == 1 else many

    def fill(start: int) -> None:
        block = slice(start, start + BLOCK)
        to_probability(totals[block], probabilities[block])

    spread(fill, range(0, len(totals), BLOCK), len(totals))
    return probabilities
