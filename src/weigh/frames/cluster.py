"""Libraries whose tables stay where they are, and the packages that open them.

A package registers the class of its tables. It is imported when a table of its library is met for
the first time, so that nobody pays for a library that is not used.
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
"""The libraries, and the package that opens the tables of each."""

_kinds: dict[str, Any] = {}


def register(library: str, kind: Any) -> None:
    """Have the tables of a library opened by a subclass of `FarTable`."""
    _kinds[library] = kind


def find_far(X: Any) -> Any:
    """The subclass of `FarTable` that opens X; None where X is no table of such a library."""
    library = type(X).__module__.partition(".")[0]
    if library not in PACKAGES:
        return None
    if library not in _kinds:
        import_module(PACKAGES[library])
    kind = _kinds[library]
    return kind if kind.opens(X) else None


State = TypeVar("State")


class SampleStep(Protocol[State]):
    """What a pass does with labelled rows; it is pickled, and runs where the rows are."""

    def begin(self) -> State:
        """The statistic of no rows."""

    def add(self, found: State, sample: Any) -> State:
        """The statistic with the rows of one more `Sample`."""

    def merge(self, one: State, other: State) -> State:
        """The statistic of two sets of rows."""


@dataclass(frozen=True)
class FarTable(Table, ABC):
    """A table whose rows stay where they are; statistics of them come back."""

    @classmethod
    @abstractmethod
    def opens(cls, X: Any) -> bool:
        """Whether an object of the library is a table."""

    @classmethod
    @abstractmethod
    def open(cls, X: Any) -> Self:
        """A native table; its rows are counted."""

    @classmethod
    @abstractmethod
    def score(cls, model: Any, X: Any, keep: Sequence[str] | None, reasons: int) -> Any:
        """A native table with the predictions of a model; its rows need not be counted."""

    @staticmethod
    @abstractmethod
    def refuse(why: str) -> NoReturn:
        """Say that rows stay where they are, and what to do."""

    @abstractmethod
    def label(self, y: Any, sample_weight: Any, classes: Any, folds: str | None) -> Any:
        """A `Sample`: the table with its labels, weights and folds, which are columns of it."""

    @abstractmethod
    def sum_samples(self, names: tuple[str, ...], step: SampleStep[State]) -> State:
        """One pass over some columns with their labels and weights."""

    @abstractmethod
    def deal(self, sample: Any, cv: Any, random_state: Any) -> Any:
        """The sample with a group for each row: a fold, which is held out in one split."""

    @abstractmethod
    def code(self, features: Any) -> Any:
        """The rows as levels of some features, which stay where they are (`engine.Coded`)."""

    def column(self, name: str, categorical: bool | None = None) -> Column:
        """Refused: no column comes here as a whole."""
        self.refuse(f"this needs the whole column {name!r} at once")

    def rows(self, places: Integers) -> Table:
        """Refused: rows have no numbers."""
        self.refuse("this takes rows by their number")
