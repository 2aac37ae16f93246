"""Class labels and weights that lie on a cluster, beside the features."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Protocol, TypeVar

import numpy as np

from weigh.frames.clusters import CHANGED, Away, Cluster, Roles, sum_all, sum_parts
from weigh.frames.columns import Codes, Floats, Integers, Numbers
from weigh.frames.tables import Table, refuse_empty
from weigh.frames.targets import (
    Sample,
    check_name,
    check_weight,
    place_labels,
    read_classes,
    sort_classes,
)
from weigh.frames.values import Value, key

MOST_CLASSES = 1 << 16


@dataclass(frozen=True)
class ClassWeights:
    """A pass over labels: the weight of each."""

    roles: Roles

    def begin(self) -> dict[tuple[type, Value], float]:
        """No label."""
        return {}

    def add(
        self, found: dict[tuple[type, Value], float], table: Table
    ) -> dict[tuple[type, Value], float]:
        """Weigh the labels of some more rows."""
        codes, weight = read_roles(table, self.roles)
        counts = np.bincount(codes.codes, weight, max(len(codes.values), 1))
        used = np.flatnonzero(counts).tolist()
        part = {key(codes.values[code]): float(counts[code]) for code in used}
        return self.merge(found, part)

    def merge(
        self, one: dict[tuple[type, Value], float], other: dict[tuple[type, Value], float]
    ) -> dict[tuple[type, Value], float]:
        """The labels of both."""
        for label, weight in other.items():
            one[label] = one.get(label, 0.0) + weight
        if len(one) > MOST_CLASSES:
            raise ValueError(
                f"{self.roles.target} holds more than {MOST_CLASSES:,} labels (such as "
                f"{next(iter(one))[1]!r}); a classifier needs classes"
            )
        return one


def label_cluster(table: Cluster, y: Any, sample_weight: Any, classes: Any) -> Sample:
    """Join a table on a cluster with its labels and weights, which are columns of it."""
    for role, given in (("y", y), ("sample_weight", sample_weight)):
        if not isinstance(given, str | None):
            raise ValueError(
                f"{role} of a Spark DataFrame is the name of one of its columns, got "
                f"{type(given).__name__!r}; add it as a column"
            )
    roles = Roles(check_name(table, y, "y"), sample_weight)
    if sample_weight is not None:
        check_name(table, sample_weight, "sample_weight")
    features = table.without({*roles.names})
    refuse_empty(features)
    assert isinstance(features, Cluster)
    features.check_types()
    found = sum_all(table, roles.names, ClassWeights(roles))
    if not found.found:
        raise ValueError(f"sample_weight {sample_weight!r} is zero for every row")
    values = [value for _, value in found.found]
    known = sort_classes(values, y) if classes is None else read_classes(classes)
    counts = np.zeros(len(known))
    codes = Codes(np.arange(len(values)), tuple(values))
    np.add.at(counts, place_labels(codes, values, known), [*found.found.values()])
    roles = replace(roles, classes=known, counts=counts)
    features = replace(features, n_parts=found.n_parts, roles=roles)
    away: Any = Away()
    return Sample(features, away, known, away, counts, away, y)


def read_roles(table: Table, roles: Roles) -> tuple[Codes, Floats | None]:
    """The labels of a batch, and the weights."""
    labels = table.column(roles.target, True)
    assert isinstance(labels, Codes)
    if roles.weight is None:
        return labels, None
    weight = table.column(roles.weight, False)
    assert isinstance(weight, Numbers)
    check_weight(weight.values, f"sample_weight {roles.weight!r}")
    return labels, weight.values


def label_batch(table: Table, roles: Roles) -> Sample:
    """A batch with labels and weights among its columns; rows of no weight are left out."""
    codes, weight = read_roles(table, roles)
    features, kept = table.without({*roles.names}), np.ones(table.n_rows, dtype=np.bool_)
    labels = codes.codes
    if weight is not None and not weight.all():
        kept = weight > 0
        features, labels, weight = features.rows(np.flatnonzero(kept)), labels[kept], weight[kept]
    _check_labels(codes.values, labels, roles)
    labels = place_labels(codes, [], roles.classes)[labels]
    counts = np.bincount(labels, weight, len(roles.classes)).astype(np.float64)
    return Sample(features, labels, roles.classes, weight, counts, kept, roles.target)


def _check_labels(values: tuple[Value, ...], used: Integers, roles: Roles) -> None:
    """Refuse a label that no row had when the classes were found."""
    known = {key(label) for label in roles.classes.tolist()}
    for code in np.flatnonzero(np.bincount(used, minlength=1)).tolist():
        if key(values[code]) not in known:
            held = ", ".join(map(repr, roles.classes.tolist()[:9]))
            what = f"{roles.target!r} holds {values[code]!r} now, and at first only {held}"
            raise ValueError(CHANGED.format(what))


def check_classes(seen: Floats, roles: Roles) -> None:
    """Refuse a DataFrame in which classes weigh something else than they did at first.

    Fractions add up to other bits in batches of another length, and batches of more columns may be
    shorter.
    """
    if not np.allclose(seen, roles.counts, rtol=1e-9, atol=0):
        k = int(np.argmax(np.abs(seen - roles.counts)))
        was, now = (f"{float(part[k]):,.15g}" for part in (roles.counts, seen))
        label = roles.classes.tolist()[k]
        raise ValueError(CHANGED.format(f"{label!r} weighed {was} at first, {now} now"))


# ------------------------------------------------------------ passes over samples

State = TypeVar("State")


class SampleStep(Protocol[State]):
    """What a pass does with rows and their labels; see `Step`."""

    def begin(self) -> State:
        """The statistic of no rows."""

    def add(self, found: State, sample: Sample) -> State:
        """The statistic with some more rows."""

    def merge(self, one: State, other: State) -> State:
        """The statistic of two sets of rows."""


@dataclass(frozen=True)
class Labelled:
    """A pass that counts the classes beside what it is for."""

    roles: Roles
    step: SampleStep[Any]

    def begin(self) -> tuple[Floats, Any]:
        """No rows."""
        return np.zeros(len(self.roles.classes)), self.step.begin()

    def add(self, found: tuple[Floats, Any], table: Table) -> tuple[Floats, Any]:
        """Some more rows."""
        sample = label_batch(table, self.roles)
        return found[0] + sample.class_counts, self.step.add(found[1], sample)

    def merge(self, one: tuple[Floats, Any], other: tuple[Floats, Any]) -> tuple[Floats, Any]:
        """The rows of both."""
        return one[0] + other[0], self.step.merge(one[1], other[1])


def sum_samples(table: Cluster, names: tuple[str, ...], step: SampleStep[State]) -> State:
    """One pass over some features with their labels, which must be those that were found first."""
    assert table.roles is not None
    wanted = (*names, *table.roles.names)
    counts, found = sum_parts(table, wanted, Labelled(table.roles, step))
    check_classes(counts, table.roles)
    return found  # type: ignore[no-any-return]
