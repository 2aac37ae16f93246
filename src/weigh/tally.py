"""Tallies: weighted counts by feature, level and class, which add over sets of rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import as_strided

from weigh.arrays import Floats, Integers
from weigh.bins import MOST_OTHERS, Binning, Cross, Feature, Kind, Placed, sort_values
from weigh.errors import Parameter, ParameterError
from weigh.frames import Codes, Column, Declared, Table, Value, key, keys, sort_classes
from weigh.numpy_kernels import BYTE_TABLE


@dataclass(frozen=True)
class Counts:
    """Weight of each level (row) and class (column) of one feature."""

    feature: Feature | Cross
    counts: Floats

    def laid_on(self, feature: Any, classes: Integers, n_classes: int) -> Floats:
        """Rearrange the counts to the levels of `feature` and a longer list of classes."""
        out = np.zeros((len(feature.levels), n_classes))
        out[feature.positions(self.feature)[:, None], classes] = self.counts
        return out

    def against_rest(self, c: int) -> Counts:
        """Counts of all other classes together (column 0), and of class c (column 1)."""
        one = self.counts[:, c]
        return Counts(self.feature, np.column_stack([self.counts.sum(axis=1) - one, one]))


@dataclass(frozen=True)
class Tally:
    """Counts of a set of rows. The tally of two sets of rows is the sum of their tallies.

    Examples
    --------
    >>> from weigh import EvidenceNB
    >>> X, y = [["a"], ["b"], ["b"]], [0, 1, 0]
    >>> tally = EvidenceNB().fit(X, y).evidence_.tally
    >>> (tally + tally).tables[0].counts.tolist()
    [[2.0, 0.0], [2.0, 2.0]]
    """

    classes: np.ndarray[Any, Any]
    class_counts: Floats
    tables: tuple[Counts, ...]

    def __add__(self, other: Tally) -> Tally:
        theirs = {table.feature.name: table for table in other.tables}
        odd = {table.feature.name for table in self.tables} ^ set(theirs)
        if odd:
            raise ValueError(f"the features differ: {sorted(odd)[0]!r} is not in both")
        classes = sort_classes(
            [v for _, v in dict.fromkeys(map(key, self.classes.tolist() + other.classes.tolist()))],
            "classes",
        )
        places = [_positions(part.classes, classes) for part in (self, other)]
        class_counts = np.zeros(len(classes))
        for part, where in zip((self, other), places, strict=True):
            class_counts[where] += part.class_counts
        tables = []
        for a in self.tables:
            b = theirs[a.feature.name]
            feature = a.feature.unite(b.feature)  # type: ignore[arg-type]
            laid = [
                t.laid_on(feature, w, len(classes)) for t, w in zip((a, b), places, strict=True)
            ]
            tables.append(Counts(feature, laid[0] + laid[1]))
        return Tally(classes, class_counts, tuple(tables))

    def join_rare(self, most: Mapping[str, int | None]) -> Tally:
        """Keep at most the given number of categories of each column; the rest become `other`."""
        for table in self.tables:
            for part in table.feature.parts if isinstance(table.feature, Cross) else ():
                _refuse_outgrown(part, most[part.name])
        tables = (join_rare(t, most.get(t.feature.name)) for t in self.tables)
        return replace(self, tables=tuple(tables))


def add(tallies: list[Tally]) -> Tally:
    """Sum tallies in order."""
    return reduce(lambda a, b: a + b, tallies)


def _refuse_outgrown(part: Feature, most: int | None) -> None:
    """Raise if a column of a cross has too many levels: counts of pairs cannot be joined later."""
    if most is not None and not part.is_numeric and len(part.values) > most:
        raise ValueError(
            f"column {part.name!r} is part of a cross and has more than max_levels={most} levels; "
            "fit all rows at once, or raise max_levels"
        )


def _positions(some: np.ndarray[Any, Any], every: np.ndarray[Any, Any]) -> Integers:
    places = {key(label): k for k, label in enumerate(every.tolist())}
    return np.array([places[key(label)] for label in some.tolist()])


@dataclass(frozen=True)
class Rows:
    """Class and weight of each row; no weights mean 1 for all."""

    labels: Integers
    weight: Floats | None
    n_classes: int

    def take(self, rows: Any) -> Rows:
        """Select rows by number or mask."""
        weight = None if self.weight is None else self.weight[rows]
        return Rows(self.labels[rows], weight, self.n_classes)

    def count(self, codes: Integers, n_codes: int) -> Floats:
        """Weight of each code (row) and class (column)."""
        from weigh import kernels

        if self.weight is None:
            whole = np.zeros((n_codes, self.n_classes), dtype=np.int64)
            kernels.count(codes, self.labels, whole)
            return whole.astype(np.float64)
        out = np.zeros((n_codes, self.n_classes))
        kernels.count_weighted(codes, self.labels, self.weight, out)
        return out

    def count_bytes(self, matrix: Integers) -> Integers:
        """Number of rows of each class, column and code of a matrix of bytes."""
        from weigh import kernels

        (n_rows, n_columns), step = matrix.shape, matrix.strides[0]
        cells = as_strided(matrix, ((n_rows - 1) * step + n_columns,), (1,), writeable=False)
        counts = np.zeros((self.n_classes, n_columns, BYTE_TABLE), dtype=np.uint32)
        out = counts.reshape(-1)
        kernels.count_bytes(cells, step, n_columns, self.labels, self.n_classes, out)
        return counts[:, :, :256]


def count_levels(feature: Feature, column: Column, rows: Rows) -> Counts:
    """Count a column on given levels; the level missing is dropped if it does not occur."""
    counts = count_placed(feature, feature.place(column), rows).counts
    if feature.has_missing and not counts[-1].any():
        return Counts(replace(feature, has_missing=False), counts[:-1])
    return Counts(feature, counts)


def count_placed(feature: Feature | Cross, placed: Placed, rows: Rows) -> Counts:
    """Count rows whose levels are known."""
    raw = rows.count(placed.codes, len(placed.levels))
    return Counts(feature, _gather(placed, raw, len(feature.levels)))


def count_placed_soft(feature: Feature | Cross, placed: Placed, by_class: Floats) -> Counts:
    """Count rows whose levels are known, with a weight in each class (column of `by_class`)."""
    from weigh import kernels

    raw = np.zeros((by_class.shape[1], len(placed.levels)))
    for column, out in zip(np.ascontiguousarray(by_class.T), raw, strict=True):
        kernels.sum_codes(placed.codes, column, out)
    return Counts(feature, _gather(placed, raw.T, len(feature.levels)))


def count_categories(
    name: str, column: Codes, rows: Rows, skip_missing: bool, declared: Declared | None = None
) -> Counts:
    """Count a column of categories; the levels are those with weight, or the declared ones.

    A column of booleans always has the levels false and true.
    """
    raw = rows.count(column.codes, max(len(column.values), 1))
    used = np.flatnonzero(raw.any(axis=1)).tolist()
    kept = Codes(np.array(used), tuple(column.values[code] for code in used))
    present = {*keys(kept.values)}
    missing = key(None) in present and not skip_missing
    values, ordered = _list_levels(name, present - {key(None)}, declared)
    feature = Feature(name, values, None, missing, skip_missing, ordered=ordered)
    return Counts(feature, _gather(feature.place(kept), raw[used], len(feature.levels)))


def _list_levels(
    name: str, present: set[tuple[type, Value]], declared: Declared | None
) -> tuple[tuple[Value, ...], bool]:
    """Values that are levels, and whether their order was declared."""
    named = present if declared is None else {*keys(declared.values)}
    if {kind for kind, _ in named} == {bool}:
        return (False, True), False
    if declared is None:
        return sort_values(present), False
    if present - named:
        odd = sort_values(present - named)[0]
        raise ParameterError(
            f"column {name!r} holds {odd!r}, which is not among its levels {declared.values}; add "
            "it to ",
            Parameter("categorical_features"),
        )
    return (declared.values if declared.ordered else sort_values(named)), declared.ordered


def smoothed_levels(table: Any) -> Integers:
    """Mask of the levels that receive the pseudo-count.

    These are all categories, including declared ones without rows, and the bins and special values
    that have rows.
    """
    seen: Integers = table.counts.any(axis=1)
    return seen if table.feature.parts[0].is_numeric else np.ones_like(seen)


@dataclass(frozen=True)
class Rare:
    """Rare values of a column that were counted together: weight in each class, and kinds."""

    counts: Floats
    kinds: tuple[Kind, ...]


def join_rare(counts: Counts, most: int | None, rare: Rare | None = None) -> Counts:
    """Keep the `most` most frequent categories of a feature; the rest become the level `other`.

    Of equally frequent ones the first in order are kept. `rare` is added to `other`.
    """
    feature, n = counts.feature, len(counts.feature.parts[0].values)
    if most is None or isinstance(feature, Cross) or feature.is_numeric:
        return counts
    if feature.other or (n <= most and rare is None):
        return counts
    ranks = np.argsort(-counts.counts[:n].sum(axis=1), kind="stable")  # ties keep their order
    kept, gone = np.sort(ranks[:most]), np.sort(ranks[most:])
    joined, kinds = counts.counts[gone].sum(axis=0), {Kind.of(feature.values[i]) for i in gone}
    if rare is not None:
        joined, kinds = joined + rare.counts, kinds | {*rare.kinds}
    values = tuple(feature.values[i] for i in kept)
    others = tuple(feature.values[i] for i in ranks[most:][:MOST_OTHERS])
    table = np.vstack([counts.counts[kept], joined, counts.counts[n:]])
    own = replace(feature, values=values, other=tuple(sorted(kinds)), others=others)
    return Counts(own, table)


def join_listed(
    counts: Counts, listed: Sequence[Sequence[Value]], rare: Rare | None = None
) -> Counts:
    """Join the categories of each list into one level; values in no list become `other`."""
    feature = counts.feature
    assert isinstance(feature, Feature)
    group_of = {known: i for i, values in enumerate(listed) for known in keys(values)}
    seen = [*keys(feature.values)]
    order = feature.values if feature.ordered else sort_values({*group_of})
    values = tuple(value for value in order if key(value) in group_of)
    groups = tuple(group_of[key(value)] for value in values)
    kinds = {Kind.of(value) for kind, value in seen if (kind, value) not in group_of}
    other = tuple(sorted(kinds | {*(rare.kinds if rare else ())}))
    rises = feature.ordered and not other and list(groups) == sorted(groups)
    ranks = np.argsort(-counts.counts[: len(seen)].sum(axis=1), kind="stable")
    others = [feature.values[i] for i in ranks if seen[i] not in group_of][:MOST_OTHERS]
    joined = replace(feature, values=values, groups=groups, other=other, ordered=rises)
    joined = replace(joined, others=tuple(others))
    places = [group_of.get(known, joined.rest) for known in seen]
    table = np.zeros((len(joined.levels), counts.counts.shape[1]))
    np.add.at(table, [*places, *([joined.missing_place] * feature.has_missing)], counts.counts)
    if rare is not None:
        table[joined.rest] += rare.counts
    return Counts(joined, table)


def join_best(counts: Counts, rule: Binning, rare: Rare | None = None) -> Counts:
    """Join categories into the levels that a `Binning` finds; those without rows are left out."""
    feature = counts.feature
    assert isinstance(feature, Feature)
    n = len(feature.values)
    levels = rule.join(counts.counts[:n], feature.ordered)
    used = sorted(place for level in levels for place in level)
    values = tuple(feature.values[place] for place in used)
    seen = replace(feature, values=values)
    left = Counts(seen, np.vstack([counts.counts[used], counts.counts[n:]]))
    if len(levels) == len(used):
        return left if rare is None else join_rare(left, len(used), rare)
    return join_listed(left, [[feature.values[i] for i in level] for level in levels], rare)


def count_pairs(parts: tuple[Feature, Feature], table: Table, rows: Rows) -> Counts:
    """Count the pairs of levels of two features; pairs with weight are the levels of the cross."""
    cross = Cross(parts)
    joined = cross.join(table)
    raw = rows.count(joined.codes, len(joined.levels))
    used = raw.any(axis=1) & cross.is_pair(joined.levels)
    return Counts(cross.of_cells(joined.levels[used]), raw[used])


def _gather(placed: Placed, raw: Floats, n_levels: int) -> Floats:
    """Sum counts by code to counts by level, without values that are not known."""
    counts = np.zeros((n_levels + 1, raw.shape[1]))
    np.add.at(counts, placed.levels, raw)
    return counts[:-1]
