"""`SparkTable`: a Spark DataFrame as a table for the engine; its rows stay on the cluster."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import count
from typing import Any, NoReturn, Self, TypeVar

from weigh.bins import Cross, Feature
from weigh.engine import Coded
from weigh.frames import (
    FarTable,
    Sample,
    SampleStep,
    check_name,
    refuse_empty,
)
from weigh.spark.labels import (
    ClassWeights,
    LabelledPass,
    OnCluster,
    Roles,
    check_classes,
    refuse_local,
    with_classes,
)
from weigh.spark.passes import Persisted, check_rows, sum_parts
from weigh.spark.rows import CountRows, SparkRows, add_folds, deal_parts
from weigh.spark.scores import score_frame

State = TypeVar("State")

WITH_LEVELS = (
    "string",
    "boolean",
    "tinyint",
    "smallint",
    "int",
    "bigint",
    "float",
    "double",
    "decimal",
)
"""Spark types whose values can be levels or be binned."""


@dataclass(frozen=True)
class SparkTable(FarTable):
    """Columns of a Spark DataFrame; in `frame` they are renamed to c0, c1, ...

    Spark interprets dots in names as nested fields, and ignores case; the new names avoid both.
    """

    frame: Any = None
    every: tuple[str, ...] = ()
    n_parts: int = 0
    roles: Roles | None = None
    kept: Persisted | None = None  # keeps `frame` persisted while the table is used

    def __repr__(self) -> str:
        return f"SparkTable of {self.n_rows:,} rows, {len(self.names):,} columns"

    @classmethod
    def opens(cls, X: Any) -> bool:
        """Whether X is a DataFrame, classic or of Spark Connect."""
        return hasattr(type(X), "mapInArrow")

    @classmethod
    def open(cls, X: Any) -> Self:
        """Open a DataFrame, and count its rows."""
        names = tuple(X.columns)
        plain = X.toDF(*[f"c{j}" for j in range(len(names))])

        def source(j: int) -> Any:
            raise AssertionError("no column of a cluster is held here")

        n_rows = int(plain.count())
        return cls(names, n_rows, source, list, True, "pyarrow", frame=plain, every=names)

    @classmethod
    def score(
        cls, model: Any, X: Any, keep: Sequence[str] | None, reasons: int, given: dict[str, Any]
    ) -> Any:
        """Add predictions to a DataFrame, as lazy columns."""
        return score_frame(model, X, keep, reasons, given)

    @staticmethod
    def refuse(why: str) -> NoReturn:
        """Raise an error that says what cannot be done on a cluster, and what to do instead."""
        refuse_local(why)

    def select(self, names: tuple[str, ...]) -> SparkTable:
        """Select columns; the others are not read."""
        return replace(self, names=names)

    def pick(self, names: tuple[str, ...]) -> Any:
        """Spark DataFrame of some columns."""
        places = {name: j for j, name in enumerate(self.every)}
        return self.frame.select(*[f"c{places[name]}" for name in names])

    def label(self, y: Any, sample_weight: Any, classes: Any, folds: str | None) -> Sample:
        """Make a sample; labels, weights and folds must be columns of the DataFrame."""
        for role, given in (("y", y), ("sample_weight", sample_weight)):
            if not isinstance(given, str | None):
                raise ValueError(
                    f"{role} of a Spark DataFrame must be the name of one of its columns, got "
                    f"{type(given).__name__!r}; add it as a column"
                )
        for role, given in (("y", y), ("sample_weight", sample_weight), ("cv", folds)):
            if given is not None:
                check_name(self, given, role)
        roles = Roles(y, sample_weight, folds)
        features = self.without({*roles.names})
        refuse_empty(features)
        assert isinstance(features, SparkTable)
        features._check_types()
        return features._find_classes(roles, classes)

    def _check_types(self) -> None:
        """Raise an error for a column whose type has no levels, before a long pass."""
        kinds = dict(zip(self.every, self.frame.dtypes, strict=True))
        for name in self.names:
            kind = kinds[name][1]
            if not kind.startswith(WITH_LEVELS) or kind.startswith("interval"):
                raise ValueError(
                    f"column {name!r} holds {kind} values, which have no levels: derive numbers, "
                    "or drop it"
                )

    def _find_classes(self, roles: Roles, classes: Any) -> Sample:
        total = sum_parts(self.pick(roles.names), ClassWeights(roles), self.n_parts)
        check_rows(total.n_rows, self.n_rows)
        if not total.found:
            raise ValueError(
                f"sample_weight {roles.weight!r} is zero for every row; give at least one row a "
                "weight"
            )
        roles = with_classes(roles, total.found, classes)
        away: Any = OnCluster()
        table = replace(self, n_parts=total.n_parts, roles=roles)
        sample = Sample(table, away, roles.classes, away, roles.counts, away, roles.target)
        if roles.folds is None:
            return sample
        return replace(sample, groups=away, group_counts=roles.group_counts)

    def deal(self, sample: Sample, cv: Any, random_state: Any) -> Sample:
        """Deal the rows into folds, stored in a new column of a persisted DataFrame.

        Spark may return the rows of a partition in another order when it reads them again, so a
        fold that depends on a row's position is stored once.
        """
        assert self.roles is not None
        # Read all columns: the order of rows may depend on which columns are read.
        dealer = deal_parts(self.sum_samples(self.names, CountRows()), cv, random_state)
        names = (*self.names, *self.roles.names)
        new = next(name for name in map("fold{}".format, count()) if name not in names)
        kept = Persisted(add_folds(self.pick(names), names, self.roles, dealer))
        table = replace(self, frame=kept.frame, every=(*names, new), kept=kept)
        return table._find_classes(replace(self.roles, folds=new), sample.classes)

    def sum_samples(self, names: tuple[str, ...], step: SampleStep[State]) -> State:
        """Sum a statistic over some features with their labels, in one pass."""
        assert self.roles is not None
        frame = self.pick((*names, *self.roles.names))
        total = sum_parts(frame, LabelledPass(names, self.roles, step), self.n_parts)
        check_rows(total.n_rows, self.n_rows)
        counts, found = total.found
        check_classes(counts, self.roles)
        return found  # type: ignore[no-any-return]

    def code(self, features: Sequence[Feature | Cross]) -> Coded:
        """Code the rows by levels, and persist them on the cluster."""
        assert self.roles is not None
        frame = self.pick((*self.names, *self.roles.names))
        return SparkRows.of(frame, self.names, self.roles, features, self.n_parts)
