"""Interface of fitted models, and how to get the table of weights of a model."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np

from weigh.arrays import Floats
from weigh.bins import Cross, Feature, label
from weigh.errors import Parameter, ParameterError
from weigh.evidence.tables import Evidence
from weigh.frames import Table


class Model(Protocol):
    """Interface of a fitted model or a scorecard: tables of weights, a tree, or a vote.

    `weigh.store` saves the model according to the type of `_learnt`. `evidence_` is its table of
    weights; a model without one raises an AttributeError that says why.
    """

    _learnt: Any

    @property
    def evidence_(self) -> Evidence:
        """The prior and the tables of weights."""

    def _score_columns(self, table: Table) -> dict[str, Any]:
        """Predictions of every row as columns: classes and probabilities, or estimates."""

    def _explain_case(self, row: Any, pos_label: Any, against: Any) -> Any:
        """Explanation of one case: a balance sheet, or its path in a tree."""


class DerivedModel:
    """Base of fitted models that use a table of weights but are not one.

    Classes, levels and columns are those of `evidence`. `no_table` explains why there is no table,
    and which variant of the learner has one.
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
        """Name of the function from totals to probabilities."""
        return self.evidence.link

    @property
    def event_model(self) -> str:
        """Whether rows hold levels or counts of tokens."""
        return self.evidence.event_model

    @property
    def features(self) -> tuple[Feature | Cross, ...]:
        """The features, which define the levels."""
        return self.evidence.features

    @property
    def column_names(self) -> tuple[str, ...]:
        """The names of the columns read, in order."""
        return self.columns or self.evidence.column_names

    def probabilities(self, totals: Floats) -> Floats:
        """The probability of each class, from totals."""
        return self.evidence.probabilities(totals)

    def decide(self, totals: Floats) -> np.ndarray[Any, Any]:
        """The most probable class of each row."""
        return self.evidence.decide(totals)

    def to_text(self, width: int = 100) -> str:
        """The underlying table of weights as plain text."""
        return self.evidence.to_text(width)

    def to_frame(self) -> Any:
        """Raise an error: there is no table of weights."""
        raise ValueError(self.no_table)

    def __repr__(self) -> str:
        return self.to_text()


def score_names(classes: Sequence[Any]) -> tuple[list[str], list[str]]:
    """The names of the columns that hold totals and probabilities of scored rows.

    >>> score_names(["no", "yes"])
    (['log_odds'], ['probability_no', 'probability_yes'])
    """
    names = [*map(label, classes)]
    totals = ["log_odds"] if len(names) == 2 else [f"total_{name}" for name in names]
    return totals, [f"probability_{name}" for name in names]


def refuse_different(name: str, mine: Any, theirs: Any) -> None:
    """Refuse to merge models of which a parameter differs."""
    if not np.array_equal(mine, theirs):
        raise ParameterError(
            "the models differ in ", Parameter(name), f": {mine!r} against {theirs!r}"
        )


def merge_provenance(model: Any, parts: Sequence[Any]) -> None:
    """Give a merged model the provenance of its parts, if the first has one."""
    known, *more = (getattr(part, "provenance_", None) for part in parts)
    if known is not None:
        model.provenance_ = known.merge(more)


def model_of(model: Any) -> Any:
    """The model itself; for a scorecard, the model with the weights of its points."""
    own = getattr(model, "as_model", None)
    return model if own is None else own()


def is_sum(model: Any) -> bool:
    """Whether a regressor is a sum of weights: the total is the estimate, or its logarithm.

    `BoostedNBRegressor` is not: it maps totals to estimates by a curve.
    """
    return bool(getattr(getattr(model, "_learnt", model), "estimates", False))


def evidence_of(model: Any, numbers: bool = False) -> Evidence:
    """The table of weights of a fitted model or a scorecard; an error explains if there is none.

    Regressors are refused unless `numbers` is true.
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
        found, why = None, str(error).rpartition("'evidence_': ")[2]
    if isinstance(found, Evidence):
        return found
    if not _is_own(model):
        inner = name_inner(model) or "; give a fitted model of weigh or its Evidence"
        raise ValueError(f"{name} has no table of weights{inner}")
    raise ValueError(f"{name} has no table of weights: {why}")


def check_model(model: Any) -> None:
    """Raise an error for what is no model of this package, such as a search or a pipeline."""
    if not hasattr(model, "_score_columns"):
        what = type(model).__name__
        raise TypeError(f"expected a fitted model of weigh, got {what}{name_inner(model)}")


def name_inner(model: Any) -> str:
    """The end of an error about an object of another library: which model inside it to give."""
    for name in ("best_estimator_", "estimator_"):  # of a search; of a tuned threshold
        inner = getattr(model, name, None)
        if _is_own(inner):
            return f"; give its {name}, a fitted {type(inner).__name__}"
    if hasattr(model, "calibrated_classifiers_"):
        return ", which averages several models; fit a RecalibratedClassifier of weigh instead"
    steps = getattr(model, "steps", None)
    if steps and _is_own(steps[-1][1]):
        return "; give its last step, and the rows as the steps before it change them"
    return ""


def _is_own(model: Any) -> bool:
    return type(model).__module__.startswith("weigh.")
