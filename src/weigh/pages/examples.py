"""Cases to show: the surest, the least sure, and the one that surprised the model most."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from weigh.evidence import Evidence
from weigh.frames import Floats, Integers
from weigh.metrics.predicted import Predicted
from weigh.metrics.scored import Scored
from weigh.metrics.scores import Many
from weigh.sheet import BalanceSheet, explain


@dataclass(frozen=True)
class Example:
    """A row of the table: what it shows, and its balance sheet."""

    title: str
    sheet: BalanceSheet


def choose_examples(
    model: Any, evidence: Evidence, X: Any, predicted: Predicted, pos_label: Any, n: int
) -> list[Example]:
    """Up to n rows, each another one, explained with the names of the evidence."""
    table, places = model._read(X), np.flatnonzero(predicted.kept)
    found: dict[int, Example] = {}
    classes = evidence.classes.tolist()
    names = dict(zip(classes, evidence.class_names, strict=True))
    for title, row in _rank(predicted.rows, names, pos_label)[:n]:
        place = int(places[row])
        if place not in found:
            sheet = explain(evidence, table.rows(np.array([place])), pos_label, None)
            found[place] = Example(f"{title} (row {place})", sheet)
    return [*found.values()]


def _rank(rows: Scored | Many, names: Mapping[Any, str], pos_label: Any) -> list[tuple[str, int]]:
    if isinstance(rows, Many):
        top, own = rows.p.max(axis=1), rows.p[np.arange(len(rows.p)), rows.codes]
        told = names[rows.classes[int(rows.codes[own.argmin()])]]
        return [
            ("The surest", int(top.argmax())),
            ("The least sure", int(top.argmin())),
            (f"The greatest surprise: it was {told}", int(own.argmin())),
        ]
    name, p = names[pos_label], rows.p
    worst = int(np.abs(p - rows.positive).argmax())
    was = f"it was {name}" if rows.positive[worst] else f"it was not {name}"
    return [
        (f"The most probable {name}", int(p.argmax())),
        (f"The least probable {name}", int(p.argmin())),
        (f"The greatest surprise: {was}", worst),
        ("The one in the middle", _middle(p)),
    ]


def _middle(p: Floats) -> int:
    order: Integers = np.argsort(p, kind="stable")
    return int(order[len(order) // 2])
