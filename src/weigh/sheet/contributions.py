"""What each table adds to the total of many rows."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from weigh.evidence import Evidence
from weigh.frames import Floats, Table, count_matrix
from weigh.sheet.explain import difference, find_class


def contribute(evidence: Evidence, table: Table, pos_label: Any = None) -> dict[str, Floats]:
    """The prior, each table and any recalibration, as columns that add up to the rows' totals.

    The total is the log odds of `pos_label` against the other of two classes. Of more classes it is
    the total of `pos_label`, which the link turns into a probability together with the others.
    """
    sign = _sign(evidence, pos_label)
    names, weights = _weights(evidence, table, sign)
    prior = np.full(table.n_rows, float(sign @ evidence.prior_row))
    rule = evidence.attenuation
    if rule is not None:
        exponent = rule.exponent(evidence.observed(table))
        weights = weights * exponent[:, None]
        prior = (prior * exponent if rule.form == "root" else prior) + float(sign @ rule.shift)
    found = {_free("prior", names): prior} | dict(zip(names, weights.T, strict=True))
    if evidence.recalibration is not None:
        moved = (evidence.total(table) - evidence.raw_total(table)) @ sign
        found[_free("recalibration", found)] = moved
    return found


def _sign(evidence: Evidence, pos_label: Any) -> Floats:
    """What to multiply the totals of a row with to get that of the class."""
    classes = evidence.classes.tolist()
    if len(classes) > 2 and pos_label is None:
        raise ValueError(
            f"the model has {len(classes)} classes, each with its own contributions; name one with "
            f"pos_label: {classes[:6]}"
        )
    return difference(len(classes), find_class(classes, pos_label, 1), -1)


def _weights(evidence: Evidence, table: Table, sign: Floats) -> tuple[tuple[str, ...], Floats]:
    """A name and a column for each table; for each token of a document."""
    if evidence.event_model == "counts":
        tokens = count_matrix(table).toarray() * (evidence.tables[0].by_class @ sign)
        return evidence.column_names, np.asarray(tokens)
    return evidence.names, np.asarray(evidence.contributions(table) @ sign)


def _free(name: str, taken: Iterable[str]) -> str:
    """The name, or one like it that no column has."""
    return name if name not in [*taken] else _free(f"{name}_", taken)
