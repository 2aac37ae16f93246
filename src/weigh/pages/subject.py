"""What a page is about: a fitted model that ends as a table of weights, or that table itself."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sklearn.base import BaseEstimator

from weigh.evidence import Evidence


@dataclass(frozen=True, eq=False)
class Subject:
    """A table of weights, the model that it is of (None: not known), and what to call it."""

    evidence: Evidence
    model: Any
    name: str

    @property
    def moved(self) -> Evidence:
        """The table after a change of the base rate to what it was: its error is then gone."""
        rate = self.evidence.assumed_rate
        if self.model is None:
            return self.evidence.with_prior(rate)
        return self.model.with_prior(rate).evidence_  # type: ignore[no-any-return]


def read_subject(model: Any) -> Subject:
    """The table of a model; what has none is refused, naming what has one."""
    if isinstance(model, Evidence):
        return Subject(model, None, "Weights of evidence")
    name = type(model).__name__
    if not isinstance(model, BaseEstimator):
        raise ValueError(
            f"a page shows a fitted model of this package, or its Evidence, not {name}"
        )
    if hasattr(model, "predict_quantile"):
        raise ValueError(
            f"{name} estimates a number, and a page shows the probabilities of classes; cut the "
            "target into classes and fit BoostedNB"
        )
    try:
        evidence = model.evidence_
    except AttributeError as error:
        raise ValueError(f"{name} has no table of weights to show: {error}") from None
    return Subject(evidence, model, name)
