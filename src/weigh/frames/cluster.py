"""Tables whose rows stay on a cluster, and the packages that open them.

A package registers the class of its tables. It is imported when a table of its library is first
used, so that unused libraries cost nothing.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any, NoReturn, Protocol, Self, TypeVar

from weigh.frames.columns import Column, Integers
from weigh.frames.tables import Table

PACKAGES = {"pyspark": "weigh.spark"}
"""Libraries, and the package that opens the tables of each."""

_kinds: dict[str, Any] = {}


def register(library: str, kind: Any) -> None:
    """Register the subclass of `FarTable` that opens the tables of a library."""
    _kinds[library] = kind


def find_far(X: Any) -> Any:
    """Return the subclass of `FarTable` that opens X, or None if X is no table on a cluster."""
    library = type(X).__module__.partition(".")[0]
    if library not in PACKAGES:
        return None
    if library not in _kinds:
        import_module(PACKAGES[library])
    kind = _kinds[library]
    return kind if kind.opens(X) else None


State = TypeVar("State")


class SampleStep(Protocol[State]):
    """A statistic of labelled rows; it is pickled, and runs on the cluster."""

    def begin(self) -> State:
        """Statistic of no rows."""

    def add(self, found: State, sample: Any) -> State:
        """Add the rows of a `Sample`."""

    def merge(self, one: State, other: State) -> State:
        """Add the statistics of two sets of rows."""


@dataclass(frozen=True)
class FarTable(Table, ABC):
    """A table whose rows stay on a cluster; only statistics of them are brought here."""

    @classmethod
    @abstractmethod
    def opens(cls, X: Any) -> bool:
        """Whether X is a table."""

    @classmethod
    @abstractmethod
    def open(cls, X: Any) -> Self:
        """Open a native table, and count its rows."""

    @classmethod
    @abstractmethod
    def score(
        cls, model: Any, X: Any, keep: Sequence[str] | None, reasons: int, given: dict[str, Any]
    ) -> Any:
        """Native table with the predictions of a model; its rows are not counted."""

    @staticmethod
    @abstractmethod
    def refuse(why: str) -> NoReturn:
        """Raise an error that says what cannot be done on a cluster, and what to do instead."""

    @abstractmethod
    def label(self, y: Any, sample_weight: Any, classes: Any, folds: str | None) -> Any:
        """Make a `Sample`; labels, weights and folds must be columns of the table."""

    @abstractmethod
    def sum_samples(self, names: tuple[str, ...], step: SampleStep[State]) -> State:
        """Sum a statistic over some columns with their labels and weights, in one pass."""

    @abstractmethod
    def deal(self, sample: Any, cv: Any, random_state: Any) -> Any:
        """Deal the rows of a sample into folds; each fold is held out in one split."""

    @abstractmethod
    def code(self, features: Any) -> Any:
        """Code the rows by the levels of some features, on the cluster (`engine.Coded`)."""

    def column(self, name: str, categorical: bool | None = None) -> Column:
        """Raise an error: whole columns are not brought here."""
        self.refuse(f"this needs the whole column {name!r} at once")

    def rows(self, places: Integers) -> Table:
        """Raise an error: rows have no numbers."""
        self.refuse("this takes rows by their number")
