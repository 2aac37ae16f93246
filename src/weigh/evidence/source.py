"""Where a model keeps its table of weights."""

from __future__ import annotations

from typing import Any

from weigh.evidence.tables import Evidence


def evidence_of(model: Any, numbers: bool = False) -> Evidence:
    """The table of weights of a fitted model or a scorecard; what has none says why.

    The table of a model that estimates numbers is refused, unless `numbers` allows it.
    """
    if isinstance(model, Evidence):
        return model
    if not numbers and hasattr(model, "no_classes"):
        raise ValueError(f"{type(model).__name__} {model.no_classes}")
    found = getattr(model, "evidence", None)  # of a scorecard
    if isinstance(found, Evidence):
        return found
    try:
        return model.evidence_  # type: ignore[no-any-return]
    except AttributeError as error:
        name = type(model).__name__
        raise ValueError(f"{name} has no table of weights: {error}") from None
