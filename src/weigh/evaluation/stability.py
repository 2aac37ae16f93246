"""How far predictions moved from the training rows to others."""

from __future__ import annotations

from typing import Any

import numpy as np

from weigh.bins import label
from weigh.metrics import Scored, Stability, population_stability_index
from weigh.metrics.multiclass import Many


def compare_predictions(training: Scored | Many, validation: Scored | Many) -> Stability:
    """The population stability index of probabilities, or of the classes decided for."""
    return population_stability_index(
        _said(training),
        _said(validation),
        expected_weight=training.weight,
        actual_weight=validation.weight,
    )


def _said(rows: Scored | Many) -> Any:
    if isinstance(rows, Scored):
        return rows.p
    names = np.array([label(value) for value in rows.classes])
    return names[rows.p.argmax(axis=1)]
