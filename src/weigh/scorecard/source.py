"""The table that a card is made of: two classes, and a total that is a sum of weights."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from weigh.evidence import Evidence, evidence_of


def read_model(model: Any) -> Evidence:
    """The table of a model, whose total must be a sum of weights."""
    name = type(model).__name__
    evidence = evidence_of(model, numbers=True)
    if evidence.event_model == "counts":
        raise ValueError("a scorecard has a level for every answer; a model of documents has none")
    if len(evidence.classes) != 2:
        raise ValueError(
            f"a scorecard is of two classes, and the model has {len(evidence.classes)}; fit one "
            "class against the rest"
        )
    if evidence.attenuation is not None:
        raise ValueError(
            f"{name} attenuates each row by how many answers it has, so its total is no sum of "
            "points; fit AdjustedNB or EducatedNB"
        )
    return evidence if evidence.recalibration is None else _straighten(evidence)


def _straighten(evidence: Evidence) -> Evidence:
    """A straight line as another scale of the weights."""
    curve = evidence.recalibration
    assert curve is not None
    if len(curve.points) > 1 or curve.method == "isotonic":
        raise ValueError(
            f"the recalibration ({curve.method}) bends, so points cannot add up to it; "
            "method='sigmoid' or 'temperature' is a straight line"
        )
    slope = float(curve.slopes[0])
    tables = tuple(replace(t, by_class=t.by_class * slope) for t in evidence)
    prior = float(curve.apply(evidence.prior_row)[0])
    return replace(evidence, prior=prior, tables=tables, recalibration=None)
