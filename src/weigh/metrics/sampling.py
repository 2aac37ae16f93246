"""Sampling weights as weights that intervals may believe."""

from __future__ import annotations

from typing import Any

import numpy as np

from weigh.frames import Floats, count_rows
from weigh.metrics.scored import read_weight


def effective_weight(sample_weight: Any) -> Floats:
    """Sampling weights, made to add up to the number of rows that they are worth.

    effective weight = w sum(w)/sum(w^2),   which adds up to sum(w)^2/sum(w^2)      (Kish 1965)

    Every metric takes a weight of two for a row given twice, in intervals too. A sampling weight is
    another thing: it says how many people a row stands for, and rows of unequal weights tell less
    than as many of equal ones. Rescaled like this they change no value, and intervals become those
    of so many rows.

    Parameters
    ----------
    sample_weight : array
        Sampling weights, of any scale.

    Examples
    --------
    >>> from weigh.metrics import effective_weight
    >>> effective_weight([300, 300, 300, 300])
    array([1., 1., 1., 1.])
    >>> float(effective_weight([100, 100, 100, 700]).sum().round(2))
    1.92
    """
    weight = read_weight(sample_weight, count_rows(sample_weight))
    assert weight is not None
    scaled: Floats = weight / weight.max()
    return np.asarray(scaled * (scaled.sum() / (scaled**2).sum()))
