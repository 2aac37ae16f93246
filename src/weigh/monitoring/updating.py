"""update: new rows added to a model of counts, the old ones fading if that is asked for."""

from __future__ import annotations

import copy
from dataclasses import replace
from typing import Any

from sklearn.utils.validation import check_is_fitted

from weigh.errors import Parameter, ParameterError
from weigh.frames import label_sample, read
from weigh.naive import EvidenceNB
from weigh.parameters import is_number


def update(
    model: Any, X: Any, y: Any, *, sample_weight: Any = None, half_life: float | None = None
) -> EvidenceNB:
    """Add new rows to a fitted `EvidenceNB`, without the rows that it was fitted on.

    counts = 2^(-n/half_life) * old counts + new counts

    with n the weight of the new rows. Cut points stay as they are; new categories are added. A
    model that was edited by hand (`weigh.edit`) is refused, because new counts would undo the
    edits: update the model before its edits, and `replay` them.

    Parameters
    ----------
    model : EvidenceNB
        Fitted, without edits. It is not changed.
    X : table
        New rows.
    y : array or str
        Class labels, or the name of the column of X that holds them.
    sample_weight : array or str, optional
        Row weights, or the name of the column of X that holds them.
    half_life : float, optional
        New rows that halve the weight of the old ones. By default old rows count in full.

    Returns
    -------
    EvidenceNB
        The updated model.

    Examples
    --------
    >>> import weigh
    >>> people = weigh.datasets.titanic()
    >>> old, new = weigh.split(people, "Survived", holdout=0.5)
    >>> model = weigh.EvidenceNB().fit(old, "Survived")
    >>> weigh.update(model, new, "Survived").evidence_.class_counts.tolist()
    [1490.0, 711.0]
    >>> faded = weigh.update(model, new, "Survived", half_life=new.num_rows)
    >>> float(faded.evidence_.class_counts.sum()) == old.num_rows / 2 + new.num_rows
    True
    """
    if not isinstance(model, EvidenceNB):
        raise ValueError(
            f"update takes an EvidenceNB, whose fit is a sum of counts, got "
            f"{type(model).__name__}; fit others to old and new rows together, or recalibrate"
        )
    check_is_fitted(model, "evidence_")
    if half_life is not None and not (is_number(half_life) and half_life > 0):
        raise ParameterError(
            Parameter("half_life"), f" must be a positive number of rows, got {half_life!r}"
        )
    new = copy.copy(model)
    if half_life is not None:
        table = read(X, allow_sparse=model.event_model == "counts")
        rows = label_sample(table, y, sample_weight, model.classes_).class_counts.sum()
        new._keep(_fade(model.evidence_, 0.5 ** (float(rows) / half_life)))
        if hasattr(model, "provenance_"):
            new.provenance_ = model.provenance_
    return new.partial_fit(X, y, sample_weight=sample_weight)


def _fade(evidence: Any, share: float) -> Any:
    """Evidence whose rows count less; its weights are found again from the sum."""
    tables = tuple(replace(table, counts=share * table.counts) for table in evidence.tables)
    return replace(evidence, class_counts=share * evidence.class_counts, tables=tables)
