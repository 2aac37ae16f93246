"""Neighbouring intervals whose weights agree, made one for people."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from weigh.bins import Cross, Feature
from weigh.frames import Floats, Integers

APART = 0.05
"""Intervals are merged while their weights differ by no more: none moves by more than this."""


def group_levels(feature: Feature | Cross, weights: Floats) -> Integers:
    """The group of each level: intervals in a row that agree, every other level by itself."""
    n = len(weights)
    n_walk = 0 if isinstance(feature, Cross) or feature.cuts is None else len(feature.cuts) + 1
    groups, low, high = np.zeros(n, dtype=np.intp), weights[:1].copy(), weights[:1].copy()
    for i in range(1, n):
        low, high = np.minimum(low, weights[i]), np.maximum(high, weights[i])
        apart = i >= n_walk or (high - low).max() > APART
        groups[i] = groups[i - 1] + apart
        if apart:
            low, high = weights[i : i + 1].copy(), weights[i : i + 1].copy()
    return groups


def merge_feature(feature: Feature | Cross, groups: Integers) -> Feature | Cross:
    """The feature with one interval per group."""
    if isinstance(feature, Cross) or not feature.cuts:
        return feature
    ends = np.flatnonzero(np.diff(groups[: len(feature.cuts) + 1]))
    return replace(feature, cuts=tuple(feature.cuts[end] for end in ends))


def averaging(groups: Integers, rows: Floats) -> Floats:
    """The matrix that takes weights to their means by group, over the rows.

    >>> averaging(np.array([0, 0, 1]), np.array([3.0, 1.0, 2.0]))
    array([[0.75, 0.25, 0.  ],
           [0.  , 0.  , 1.  ]])
    """
    matrix = np.zeros((groups[-1] + 1, len(groups)))
    matrix[groups, np.arange(len(groups))] = np.where(rows > 0, rows, 1e-12)
    shares: Floats = matrix / matrix.sum(axis=1, keepdims=True)
    return shares
