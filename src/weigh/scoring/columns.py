"""What a model says of each row, as columns."""

from __future__ import annotations

from typing import Any

from weigh.bins import label
from weigh.frames import Table


def label_text(value: Any) -> str:
    """A class label as people read it."""
    return label(value)


def score_columns(model: Any, table: Table) -> dict[str, Any]:
    """The class, the totals if there are any, and the probabilities of every row; or estimates."""
    if hasattr(model, "predict_quantile"):
        low, high = (model.predict_quantile(table, q) for q in (0.05, 0.95))
        return {"estimate": model.predict(table), "low": low, "high": high}
    names = [label_text(value) for value in model.classes_.tolist()]
    if hasattr(model, "tree_"):
        probabilities = model.predict_proba(table)
        columns: dict[str, Any] = {"prediction": model.classes_[probabilities.argmax(axis=1)]}
    else:
        read = model._read(table)
        totals = model._learnt.total(read)
        heads = ["log_odds"] if len(names) == 2 else [f"total_{name}" for name in names]
        columns = {"prediction": model._decide(read, totals)}
        columns |= {head: totals[:, k] for k, head in enumerate(heads)}
        probabilities = model._learnt.probabilities(totals)
    return columns | {f"probability_{name}": probabilities[:, k] for k, name in enumerate(names)}
