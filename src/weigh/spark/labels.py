"""Columns of class labels, weights and folds of rows on a cluster."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, NoReturn, TypeAlias

import numpy as np
import pyarrow as pa

from weigh.arrays import Floats, Integers
from weigh.frames import (
    ROWS,
    Codes,
    Sample,
    SampleStep,
    Table,
    Value,
    check_weight,
    key,
    place_folds,
    place_labels,
    read_classes,
    sort_classes,
    sort_folds,
)
from weigh.spark.passes import CHANGED

MOST_CLASSES = 1 << 16

STAYS = (
    "{}, and the rows of a Spark DataFrame stay on the cluster; to fit, write them as Parquet and "
    "pass weigh.scan(path), or pass a sample such as df.sample(0.01).toPandas(); to predict, use "
    "weigh.score_table"
)

Weights: TypeAlias = dict[tuple[tuple[type, Value], ...], float]


def refuse_local(why: str) -> NoReturn:
    """Raise an error that says that rows stay on the cluster, and what to do instead."""
    raise ValueError(STAYS.format(why))


class OnCluster:
    """Placeholder for labels and weights on the cluster; local use raises an error with advice."""

    def _refuse(self, *_: Any, **__: Any) -> NoReturn:
        refuse_local("this learner needs all rows at once")

    __array__ = __len__ = __getitem__ = __iter__ = __bool__ = __getattr__ = _refuse
    __eq__ = __ne__ = __gt__ = __mul__ = __rmul__ = __matmul__ = _refuse
    __hash__ = None  # type: ignore[assignment]


@dataclass(frozen=True)
class Roles:
    """Columns that are not features: the class of each row and, if given, its weight and fold."""

    target: str
    weight: str | None = None
    folds: str | None = None
    classes: Any = None  # None before the first pass
    counts: Any = None  # weight of each class, in the first pass
    groups: tuple[Value, ...] = ()  # the folds
    group_counts: Any = None  # the weight of each fold and class

    @property
    def names(self) -> tuple[str, ...]:
        """Names of these columns."""
        return tuple(n for n in (self.target, self.weight, self.folds) if n is not None)

    @property
    def class_and_fold(self) -> tuple[str, ...]:
        """Columns whose combinations of values are counted."""
        return (self.target,) if self.folds is None else (self.target, self.folds)


@dataclass(frozen=True)
class ClassWeights:
    """Pass over labels that sums the weight of each label, or of each label and fold."""

    roles: Roles

    def read(self, batches: Iterable[Any]) -> Iterator[tuple[int, Table]]:
        """Yield tables of labels, weights and folds."""
        return join_batches(batches, self.roles.names)

    def begin(self) -> Weights:
        """Empty sums."""
        return {}

    def add(self, found: Weights, table: Table) -> Weights:
        """Add the weights of more rows."""
        columns = [table.codes(name) for name in self.roles.class_and_fold]
        sizes = [max(len(column.values), 1) for column in columns]
        cells = np.ravel_multi_index([column.codes for column in columns], sizes)
        counts = np.bincount(cells, _read_weight(table, self.roles), int(np.prod(sizes)))
        part = {}
        for cell in np.flatnonzero(counts).tolist():
            at = zip(columns, np.unravel_index(cell, sizes), strict=True)
            part[tuple(key(column.values[int(i)]) for column, i in at)] = float(counts[cell])
        return self.merge(found, part)

    def merge(self, one: Weights, other: Weights) -> Weights:
        """Add two sums."""
        for label, weight in other.items():
            one[label] = one.get(label, 0.0) + weight
        if len(one) > MOST_CLASSES:
            raise ValueError(
                f"{' and '.join(self.roles.class_and_fold)} have more than {MOST_CLASSES:,} "
                f"distinct labels (for example {next(iter(one))[0][1]!r}); name a column of classes"
            )
        return one


def with_classes(roles: Roles, found: Weights, classes: Any) -> Roles:
    """Copy of the roles with the classes, folds and weights that a pass has found."""
    labels, *dealt = (_code(values) for values in zip(*found, strict=True))
    values = [*labels.values]
    known = sort_classes(values, roles.target) if classes is None else read_classes(classes)
    places = place_labels(labels, values, known)[labels.codes]
    weight = np.array([*found.values()])
    counts = np.bincount(places, weight, len(known)).astype(np.float64)
    roles = replace(roles, classes=known, counts=counts)
    if roles.folds is None:
        return roles
    groups = sort_folds([*dealt[0].values], roles.folds)
    cells = place_folds(dealt[0].values, groups)[dealt[0].codes].astype(np.int64) * len(known)
    by_group = np.bincount(cells + places, weight, len(groups) * len(known)).astype(np.float64)
    return replace(roles, groups=groups, group_counts=by_group.reshape(len(groups), len(known)))


def _code(values: Sequence[tuple[type, Value]]) -> Codes:
    """Integer codes of values, and the distinct values."""
    places = {value: i for i, value in enumerate(dict.fromkeys(values))}
    codes = np.array([places[value] for value in values])
    return Codes(codes, tuple(value for _, value in places))


@dataclass(frozen=True)
class LabelledPass:
    """Pass over some features with their labels; it also sums the weight of each class."""

    features: tuple[str, ...]
    roles: Roles
    step: SampleStep[Any]

    def read(self, batches: Iterable[Any]) -> Iterator[tuple[int, Sample]]:
        """Yield samples."""
        for n_rows, table in join_batches(batches, (*self.features, *self.roles.names)):
            yield n_rows, label_batch(table, self.roles)

    def begin(self) -> tuple[Floats, Any]:
        """State of no rows."""
        return np.zeros(len(self.roles.classes)), self.step.begin()

    def add(self, found: tuple[Floats, Any], sample: Sample) -> tuple[Floats, Any]:
        """Add the rows of a sample."""
        return found[0] + sample.class_counts, self.step.add(found[1], sample)

    def merge(self, one: tuple[Floats, Any], other: tuple[Floats, Any]) -> tuple[Floats, Any]:
        """Add two states."""
        return one[0] + other[0], self.step.merge(one[1], other[1])


def join_batches(batches: Iterable[Any], names: tuple[str, ...]) -> Iterator[tuple[int, Table]]:
    """Join Spark's small batches into larger tables; yield each with its number of rows."""
    held: list[Any] = []
    for batch in batches:
        held += [batch] if batch.num_rows else []
        if sum(part.num_rows for part in held) >= ROWS:
            yield _open(held, names)
            held = []
    if held:
        yield _open(held, names)


def _open(batches: list[Any], names: tuple[str, ...]) -> tuple[int, Table]:
    columns = pa.Table.from_batches(batches).columns
    listed = lambda: [column.to_pylist() for column in columns]  # noqa: E731
    n_rows = len(columns[0])
    return n_rows, Table(names, n_rows, columns.__getitem__, listed, True, "pyarrow")


def label_batch(table: Table, roles: Roles) -> Sample:
    """Make a sample from a batch with labels and weights; rows of weight 0 are dropped."""
    codes, weight = table.codes(roles.target), _read_weight(table, roles)
    features, kept = table.without({*roles.names}), np.ones(table.n_rows, dtype=np.bool_)
    labels = codes.codes
    if weight is not None and not weight.all():
        kept = weight > 0
        features, labels, weight = features.rows(np.flatnonzero(kept)), labels[kept], weight[kept]
    _check_labels(codes.values, labels, roles)
    labels = place_labels(codes, [], roles.classes)[labels]
    counts = np.bincount(labels, weight, len(roles.classes)).astype(np.float64)
    sample = Sample(features, labels, roles.classes, weight, counts, kept, roles.target)
    if roles.folds is None:
        return sample
    folds = table.codes(roles.folds)
    groups = place_folds(folds.values, roles.groups)[folds.codes[kept]]
    if (groups == len(roles.groups)).any():
        raise ValueError(CHANGED.format(f"{roles.folds!r} has a new fold"))
    return sample.grouped(groups, len(roles.groups))


def _read_weight(table: Table, roles: Roles) -> Floats | None:
    if roles.weight is None:
        return None
    weight = table.numbers(roles.weight).values
    check_weight(weight, f" {roles.weight!r}", numbered=False)
    return weight


def _check_labels(values: tuple[Value, ...], used: Integers, roles: Roles) -> None:
    """Raise an error for a label that did not occur in the first pass."""
    known = {key(label) for label in roles.classes.tolist()}
    for code in np.flatnonzero(np.bincount(used, minlength=1)).tolist():
        if key(values[code]) not in known:
            held = ", ".join(map(repr, roles.classes.tolist()[:9]))
            what = f"{roles.target!r} has {values[code]!r} now, but at first had only {held}"
            raise ValueError(CHANGED.format(what))


def check_classes(seen: Floats, roles: Roles) -> None:
    """Raise an error if the weights of the classes differ from those of the first pass.

    A tolerance is needed, because the rounding of fractional weights depends on the batch size.
    """
    if not np.allclose(seen, roles.counts, rtol=1e-9, atol=0):
        k = int(np.argmax(np.abs(seen - roles.counts)))
        was, now = (f"{float(part[k]):,.15g}" for part in (roles.counts, seen))
        label = roles.classes.tolist()[k]
        raise ValueError(
            CHANGED.format(f"the weight of class {label!r} was {was} at first and is {now} now")
        )
