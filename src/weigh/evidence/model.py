"""What a fitted model can do, and its table of weights; what a model is that ends as no table."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np

from weigh.bins import Cross, Feature
from weigh.evidence.tables import Evidence
from weigh.frames import Floats, Table


class Model(Protocol):
    """A fitted model or a scorecard, whatever holds it: tables of weights, a tree, a vote.

    What it stores, `weigh.store` writes by the type of `_learnt`. `evidence_` is its table of
    weights; one that has none raises an AttributeError that says why.
    """

    _learnt: Any

    @property
    def evidence_(self) -> Evidence:
        """The prior and the tables of weights."""

    def _score_columns(self, table: Table) -> dict[str, Any]:
        """What it says of every row, as columns: classes and probabilities, or estimates."""

    def _explain_case(self, row: Any, pos_label: Any, against: Any) -> Any:
        """One case: a balance sheet, or its path down a tree."""


class OnEvidence:
    """What a learner ends as where that is no table of weights, but rests on one.

    Classes, levels and columns are those of `evidence`. `no_table` says why there is no table, and
    which variant of the learner has one.
    """

    evidence: Evidence
    columns: tuple[str, ...]
    no_table: str

    @property
    def classes(self) -> np.ndarray[Any, Any]:
        """The class labels."""
        return self.evidence.classes

    @property
    def class_counts(self) -> Floats:
        """The weight of the training rows of each class."""
        return self.evidence.class_counts

    @property
    def link(self) -> str:
        """What turns totals into probabilities."""
        return self.evidence.link

    @property
    def event_model(self) -> str:
        """Whether rows are levels or counts."""
        return self.evidence.event_model

    @property
    def features(self) -> tuple[Feature | Cross, ...]:
        """The levels alone, feature by feature."""
        return self.evidence.features

    @property
    def column_names(self) -> tuple[str, ...]:
        """The columns of the tables that it reads, in order."""
        return self.columns or self.evidence.column_names

    def probabilities(self, totals: Floats) -> Floats:
        """The probability of each class, from totals."""
        return self.evidence.probabilities(totals)

    def decide(self, totals: Floats) -> np.ndarray[Any, Any]:
        """The most probable class of each row."""
        return self.evidence.decide(totals)

    def to_text(self, width: int = 100) -> str:
        """The table that it rests on, as plain text."""
        return self.evidence.to_text(width)

    def to_frame(self) -> Any:
        """There is none."""
        raise ValueError(self.no_table)

    def __repr__(self) -> str:
        return self.to_text()


def model_of(model: Any) -> Any:
    """The model itself, or the one that weighs what a scorecard's points mean."""
    own = getattr(model, "as_model", None)
    return model if own is None else own()


def is_sum(model: Any) -> bool:
    """Whether a model of numbers is its table: the total is the estimate, or its logarithm.

    The estimate of `BoostedNBRegressor` is read off a curve of its own.
    """
    return bool(getattr(getattr(model, "_learnt", model), "estimates", False))


def evidence_of(model: Any, numbers: bool = False) -> Evidence:
    """The table of weights of a fitted model or a scorecard; what has none says why.

    The table of a model that estimates numbers is refused, unless `numbers` allows it.
    """
    name = type(model).__name__
    if isinstance(model, Evidence):
        if model.estimates and not numbers:
            raise ValueError(f"{name} estimates the number {model.classes[0]}, not classes")
        return model
    if not numbers and hasattr(model, "no_classes"):
        raise ValueError(f"{name} {model.no_classes}")
    try:
        found = model.evidence_
    except AttributeError as error:
        found, why = None, str(error)
    if isinstance(found, Evidence):
        return found
    if not type(model).__module__.startswith("weigh."):
        why = "give a fitted model of weigh (the last step of a pipeline by itself) or its Evidence"
    raise ValueError(f"{name} has no table of weights: {why}")
