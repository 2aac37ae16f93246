"""The tables of a model and their shapes, as plain data for the page."""

from __future__ import annotations

from typing import Any

import numpy as np

from weigh.bins import Feature
from weigh.evidence import Evidence, FeatureTable
from weigh.pages.model import read_subject, spell_levels
from weigh.pages.weights import BOTTOM, EDGE, HEIGHT, LEFT, ROWS, WIDTH, shape_of

FRAME = {"left": LEFT, "right": WIDTH - EDGE, "top": EDGE, "bottom": HEIGHT - BOTTOM - ROWS}


def show_tables(evidence: Evidence) -> list[dict[str, Any]]:
    """Every table by name, the most important first."""
    ordered = sorted(evidence, key=lambda table: -table.importance)
    return [
        {
            "name": table.name,
            "shown": table.shown,
            "importance": table.importance,
            "pair": not isinstance(table.feature, Feature),
        }
        for table in ordered
    ]


def show_table(evidence: Evidence, name: str) -> dict[str, Any]:
    """One table: its levels, and the shape of a number with the places of its cut points."""
    table = evidence[name]
    return {
        "name": table.name,
        "shown": table.shown,
        "levels": _levels(table),
        "pair": not isinstance(table.feature, Feature),
        "parts": [part.name for part in table.feature.parts],
        "ordered": isinstance(table.feature, Feature) and table.feature.n_in_order > 1,
        "shape": _shape(evidence, table),
    }


def _levels(table: FeatureTable) -> list[dict[str, Any]]:
    rows = table.counts.sum(axis=1)
    positive = table.counts[:, 1] if table.counts.shape[1] > 1 else np.zeros_like(rows)
    rate = np.divide(positive, rows, out=np.zeros_like(rows), where=rows > 0)
    least = 0.05 if table.counts.shape[1] > 1 else 1e-300  # numbers have a unit of their own
    largest = max(float(np.abs(table.by_class).max(initial=0.0)), least)
    told = zip(
        table.labels, spell_levels(table.feature), rows, rate, table.by_class[:, 0], strict=True
    )
    return [
        {
            "label": label,
            "text": text,
            "rows": float(n),
            "rate": float(share) if n else None,
            "weight": float(weight),
            "bar": float(weight) / largest,
        }
        for label, text, n, share, weight in told
    ]


def _shape(evidence: Evidence, table: FeatureTable) -> dict[str, Any] | None:
    """The chart of the report, and where its bins begin and end; None for categories."""
    cuts = table.feature.cut_points if isinstance(table.feature, Feature) else ()
    if not cuts:
        return None
    steps = shape_of(read_subject(evidence).naming(None), table)
    top, bottom = steps.limits
    return {
        "svg": str(steps.draw("shape", table.shown)),
        "edges": (LEFT + steps.axis.edges * (WIDTH - LEFT - EDGE)).tolist(),
        "scale": steps.axis.scale,
        "cuts": [*cuts],
        "frame": FRAME | {"high": top, "low": bottom},
    }
