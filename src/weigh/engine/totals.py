"""Levels of rows, their totals, and the probabilities of totals."""

from __future__ import annotations

import os
from collections.abc import Sequence
from tempfile import TemporaryFile

import numpy as np

from weigh import numpy_kernels
from weigh.arrays import Floats, Integers
from weigh.bins import Cross, Feature, Placed
from weigh.engine.threads import BLOCK, report, spread
from weigh.frames import Scan, Table, count_matrix, side_by_side


def total_counts(table: Table, weights: Floats, prior: Floats) -> Floats:
    """Totals of documents: prior + sum over tokens of count times weight."""
    return np.asarray(count_matrix(table) @ weights, dtype=np.float64) + prior


def count_tokens(table: Table) -> Floats:
    """Number of tokens in each document."""
    return np.asarray(count_matrix(table) @ np.ones(len(table.names)), dtype=np.float64)


def count_answers(table: Table, features: Sequence[Feature | Cross]) -> Floats:
    """Number of features with an answer in each row; skipped missing values do not count."""
    n = np.zeros(table.n_rows)
    for answered in spread(lambda feature: feature.answers(table), features, table.n_rows):
        n += answered
    return n


def place(table: Table, features: Sequence[Feature | Cross]) -> list[Placed]:
    """Find the level of every row in every feature."""
    if isinstance(table, Scan):
        return _place_scan(table, features)
    return spread(lambda feature: feature.read(table), features, table.n_rows)


def _place_scan(scan: Scan, features: Sequence[Feature | Cross]) -> list[Placed]:
    """Find levels in a table read in batches; codes go to temporary files of few bytes a value."""
    codes = [_allocate(scan.n_rows, len(feature.levels) + 1) for feature in features]
    done = 0
    for batch in scan.batches():
        rows = slice(done, done + batch.n_rows)

        def fill(j: int, batch: Table = batch, rows: slice = rows) -> None:
            placed = features[j].read(batch)
            codes[j][rows] = placed.levels[placed.codes]

        spread(fill, range(len(features)), batch.n_rows)
        done = rows.stop
        report(done, scan.n_rows)
    levels = [np.arange(len(feature.levels) + 1) for feature in features]
    return [*map(Placed, codes, levels)]


def _allocate(n_rows: int, n_levels: int) -> Integers:
    """Allocate an array in a temporary file, which is deleted with the process."""
    kind = np.dtype(np.min_scalar_type(n_levels))
    with TemporaryFile() as file:
        size = max(n_rows, 1) * kind.itemsize
        if hasattr(os, "posix_fallocate"):  # a full disk fails now, not later
            os.posix_fallocate(file.fileno(), 0, size)
        else:
            file.truncate(size)
        return np.memmap(file, dtype=kind, mode="r+", shape=(n_rows,))


def expand(placed: Sequence[Placed], weights: Sequence[Floats], n_rows: int) -> Floats:
    """Matrix of each row's weight in each feature: the q_j of `AdjustedNB`."""
    Q = np.empty((n_rows, len(placed)))
    for j, (part, weight) in enumerate(zip(placed, weights, strict=True)):
        Q[:, j] = weight[part.levels][part.codes]
    return Q


def total(
    table: Table, features: Sequence[Feature | Cross], weights: Sequence[Floats], prior: Floats
) -> Floats:
    """Totals: prior + sum of the weights of each row's levels; one column, or one per class."""
    if isinstance(table, Scan):
        return np.concatenate([total(part, features, weights, prior) for part in table.batches()])
    return total_placed(place(table, features), weights, prior, table.n_rows)


def total_placed(
    placed: Sequence[Placed], weights: Sequence[Floats], prior: Floats, n_rows: int
) -> Floats:
    """Totals of rows whose levels are known; see `total`."""
    by_code = [w[p.levels] for w, p in zip(weights, placed, strict=True)]
    totals = np.empty((n_rows, len(prior)))
    own = numpy_kernels.for_rows(n_rows)
    add = own.add_one if len(prior) == 1 else own.add_many
    matrix = side_by_side([part.codes for part in placed]) if len(prior) == 1 else None
    by_byte = None if matrix is None else _stack(by_code)

    def fill(start: int) -> None:
        block = slice(start, start + BLOCK)
        totals[block] = prior
        if matrix is not None:  # read once, not once a column
            own.add_bytes(totals[block], matrix[block], by_byte)
            return
        for part, weight in zip(placed, by_code, strict=True):
            add(totals[block], part.codes[block], weight)

    spread(fill, range(0, n_rows, BLOCK), n_rows)
    return totals


def _stack(by_code: Sequence[Floats]) -> Floats:
    """Stack tables of weights of codes below 256, as `add_bytes` reads them."""
    tables = np.zeros((len(by_code), numpy_kernels.BYTE_TABLE))
    for table, weight in zip(tables, by_code, strict=True):
        table[: len(weight)] = weight[:, 0]
    return tables


def add_weights(totals: Floats, codes: Integers, weights: Floats) -> None:
    """Add weights[code] to the totals of each row, in place."""
    from weigh import kernels

    add = kernels.add_one if totals.shape[1] == 1 else kernels.add_many
    add(totals, codes, weights)


def link(totals: Floats, form: str) -> Floats:
    """Probabilities of all classes: logistic of one total, softmax or `ovr` of many."""
    probabilities = np.empty((len(totals), max(totals.shape[1], 2)))
    own = numpy_kernels.for_rows(len(totals))
    many = own.ovr if form == "ovr" else own.softmax
    to_probability = own.logistic if totals.shape[1] == 1 else many

    def fill(start: int) -> None:
        block = slice(start, start + BLOCK)
        to_probability(totals[block], probabilities[block])

    spread(fill, range(0, len(totals), BLOCK), len(totals))
    return probabilities
