"""More than two classes: a curve for each class against the rest, which no table can hold."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from scipy.special import logit

from weigh import engine
from weigh.bins import Cross, Feature
from weigh.calibrate.scaling import Held, rest_curves, rest_log_odds
from weigh.evidence import Evidence, Method, Recalibration
from weigh.frames import Floats, Table


@dataclass(frozen=True, eq=False)
class RestCurves:
    """P(k) is in proportion to the logistic of f_k(log odds of class k against the rest).

    `evidence` gives the log odds, and `curves` holds f_k of each class.
    """

    evidence: Evidence
    curves: tuple[Recalibration, ...]
    backend: str | None = None
    columns: tuple[str, ...] = ()
    link: ClassVar[str] = "ovr"

    no_table: ClassVar[str] = (
        "curves of each class against the rest are no table of weights; method='temperature' and "
        "method='sigmoid' recalibrate more than two classes and keep one"
    )

    @classmethod
    def fit(cls, evidence: Evidence, held: Held, method: Method) -> RestCurves:
        """The curves of rows that the evidence has not seen."""
        curves = rest_curves(held.log_odds, held, method)
        return cls(evidence, curves, evidence.backend, evidence.columns)

    @property
    def classes(self) -> np.ndarray[Any, Any]:
        """The class labels."""
        return self.evidence.classes

    @property
    def class_counts(self) -> Floats:
        """The weight of the training rows of each class."""
        return self.evidence.class_counts

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

    def total(self, table: Table) -> Floats:
        """The recalibrated log odds of each class against the rest."""
        raw = rest_log_odds(self.evidence.total(table), self.evidence.link)
        return np.column_stack([f.apply(t) for f, t in zip(self.curves, raw.T, strict=True)])

    def probabilities(self, totals: Floats) -> Floats:
        """What totals mean: the probability of each class."""
        return engine.link(totals, self.link)

    def decide(self, totals: Floats) -> np.ndarray[Any, Any]:
        """The most probable class of each row."""
        return self.evidence.decide(totals)

    def with_prior(self, rate: Floats) -> RestCurves:
        """Move the curves to a population with other class frequencies."""
        change = logit(rate) - logit(self.evidence.assumed_rate)
        moved = [
            replace(curve, shift=curve.shift + float(step))
            for curve, step in zip(self.curves, change, strict=True)
        ]
        return replace(
            self, evidence=replace(self.evidence, assumed_rate=rate), curves=tuple(moved)
        )

    def to_text(self, width: int = 100) -> str:
        """What can be said of it."""
        method = self.curves[0].method
        lines = [f"{len(self.curves)} classes, recalibrated ({method}) one against the rest."]
        return "\n".join(line[:width] for line in [*lines, f"{self.no_table}."])

    def to_frame(self) -> Any:
        """There is none."""
        raise ValueError(self.no_table)

    def __repr__(self) -> str:
        return self.to_text()
