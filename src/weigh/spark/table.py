"""A Spark DataFrame as a table: its rows stay on the cluster, and statistics of them come back."""

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
from weigh.spark.folds import CountRows, add_folds, deal_parts
from weigh.spark.labels import Away, ClassWeights, Labelled, Roles, check_classes, settle, stay
from weigh.spark.passes import Keeper, check_rows, sum_parts
from weigh.spark.rows import SparkRows
from weigh.spark.scores import score_frame

State = TypeVar("State")

HELD = ("string", "boolean", "tinyint", "smallint", "int", "bigint", "float", "double", "decimal")
"""The types of Spark whose values can be levels, or be cut into them."""


@dataclass(frozen=True)
class SparkTable(FarTable):
    """Columns of a Spark DataFrame; `frame` holds them all, called c0, c1, and so on.

    Spark reads a dot in a name as a step inside, and `A` as `a`. Its own names do neither.
    """

    frame: Any = None
    every: tuple[str, ...] = ()
    n_parts: int = 0
    roles: Roles | None = None
    kept: Keeper | None = None  # of a frame that Spark keeps while the table is used

    def __repr__(self) -> str:
        return f"SparkTable of {self.n_rows:,} rows, {len(self.names):,} columns"

    @classmethod
    def opens(cls, X: Any) -> bool:
        """Whether it is a DataFrame, classic or of Spark Connect."""
        return hasattr(type(X), "mapInArrow")

    @classmethod
    def open(cls, X: Any) -> Self:
        """A DataFrame as a table; its rows are counted."""
        names = tuple(X.columns)
        plain = X.toDF(*[f"c{j}" for j in range(len(names))])

        def source(j: int) -> Any:
            raise AssertionError("no column of a cluster is held here")

        n_rows = int(plain.count())
        return cls(names, n_rows, source, list, True, "pyarrow", frame=plain, every=names)

    @classmethod
    def score(cls, model: Any, X: Any, keep: Sequence[str] | None, reasons: int) -> Any:
        """A DataFrame with its scores, as columns that Spark computes when rows are wanted."""
        return score_frame(model, X, keep, reasons)

    @staticmethod
    def refuse(why: str) -> NoReturn:
        """Say that rows stay on the cluster, and what to do."""
        stay(why)

    def select(self, names: tuple[str, ...]) -> SparkTable:
        """Some of the columns: the others are not read."""
        return replace(self, names=names)

    def pick(self, names: tuple[str, ...]) -> Any:
        """A Spark DataFrame of some columns."""
        places = {name: j for j, name in enumerate(self.every)}
        return self.frame.select(*[f"c{places[name]}" for name in names])

    def label(self, y: Any, sample_weight: Any, classes: Any, folds: str | None) -> Sample:
        """Join the table with its labels, weights and folds, which are columns of it."""
        for role, given in (("y", y), ("sample_weight", sample_weight)):
            if not isinstance(given, str | None):
                raise ValueError(
                    f"{role} of a Spark DataFrame is the name of one of its columns, got "
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
        """Refuse a column whose values can be no levels, before a long pass."""
        kinds = dict(zip(self.every, self.frame.dtypes, strict=True))
        for name in self.names:
            kind = kinds[name][1]
            if not kind.startswith(HELD) or kind.startswith("interval"):
                raise ValueError(
                    f"column {name!r} holds {kind} values, which have no levels: derive numbers, "
                    "or drop it"
                )

    def _find_classes(self, roles: Roles, classes: Any) -> Sample:
        total = sum_parts(self.pick(roles.names), ClassWeights(roles), self.n_parts)
        check_rows(total.n_rows, self.n_rows)
        if not total.found:
            raise ValueError(f"sample_weight {roles.weight!r} is zero for every row")
        roles = settle(roles, total.found, classes)
        away: Any = Away()
        table = replace(self, n_parts=total.n_parts, roles=roles)
        sample = Sample(table, away, roles.classes, away, roles.counts, away, roles.target)
        if roles.folds is None:
            return sample
        return replace(sample, groups=away, group_counts=roles.group_counts)

    def deal(self, sample: Sample, cv: Any, random_state: Any) -> Sample:
        """The sample with a fold for each row, in a column that Spark keeps beside the others.

        Spark may give the rows of a partition in another order when they are read again, so a fold
        that follows from a row's place is written down once.
        """
        assert self.roles is not None
        # of all columns: Spark may lay rows out by their content, which depends on what is read
        dealer = deal_parts(self.sum_samples(self.names, CountRows()), cv, random_state)
        names = (*self.names, *self.roles.names)
        new = next(name for name in map("fold{}".format, count()) if name not in names)
        kept = Keeper(add_folds(self.pick(names), names, self.roles, dealer))
        table = replace(self, frame=kept.frame, every=(*names, new), kept=kept)
        return table._find_classes(replace(self.roles, folds=new), sample.classes)

    def sum_samples(self, names: tuple[str, ...], step: SampleStep[State]) -> State:
        """One pass over some features with their labels, which must be those found first."""
        assert self.roles is not None
        frame = self.pick((*names, *self.roles.names))
        total = sum_parts(frame, Labelled(names, self.roles, step), self.n_parts)
        check_rows(total.n_rows, self.n_rows)
        counts, found = total.found
        check_classes(counts, self.roles)
        return found  # type: ignore[no-any-return]

    def code(self, features: Sequence[Feature | Cross]) -> Coded:
        """The rows as levels, which Spark keeps."""
        assert self.roles is not None
        frame = self.pick((*self.names, *self.roles.names))
        return SparkRows.of(frame, self.names, self.roles, features, self.n_parts)
