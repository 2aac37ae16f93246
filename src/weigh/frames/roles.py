"""Class labels and weights that lie on a cluster, beside the features."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from weigh.frames.clusters import Away, Cluster, Roles, sum_all
from weigh.frames.columns import Codes, Floats, Numbers, Value, key
from weigh.frames.tables import Table, refuse_empty
from weigh.frames.targets import (
    Sample,
    check_name,
    check_weight,
    place_labels,
    read_classes,
    sort_classes,
)

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
    features = replace(
        features, n_rows=found.n_rows, n_parts=found.n_parts, roles=replace(roles, classes=known)
    )
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
    labels = place_labels(codes, [], roles.classes)[codes.codes]
    features, kept = table.without({*roles.names}), np.ones(table.n_rows, dtype=np.bool_)
    if weight is not None and not weight.all():
        kept = weight > 0
        features, labels, weight = features.rows(np.flatnonzero(kept)), labels[kept], weight[kept]
    counts = np.bincount(labels, weight, len(roles.classes)).astype(np.float64)
    return Sample(features, labels, roles.classes, weight, counts, kept, roles.target)
