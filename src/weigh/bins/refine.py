"""Finer levels, of which the levels of several features of one column are made up.

Each split of the rows may cut a column elsewhere, and keep other categories. Rows are placed once,
on levels that tell apart whatever any of the splits tells apart; the level of a row in one split is
then a function of its finer level.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from weigh.bins.crosses import Cross
from weigh.bins.levels import Feature, sort_values
from weigh.frames import Integers, keys


def refine(features: Sequence[Feature]) -> Feature:
    """Levels that tell apart whatever any of some features of one column tells apart.

    >>> young, old = (Feature("age", cuts=cuts) for cuts in ((18.0,), (18.0, 65.0)))
    >>> refine([young, old]).cuts
    (18.0, 65.0)
    """
    first, has_missing = features[0], any(feature.has_missing for feature in features)
    if first.is_numeric:
        cuts = {cut for feature in features for cut in feature.cuts or ()}
        return replace(first, cuts=tuple(sorted(cuts)), has_missing=has_missing)
    known = {known for feature in features for known in keys(feature.values)}
    longest = max(features, key=lambda feature: len(feature.values))  # of ordered ones: all levels
    values = longest.values if longest.ordered else sort_values(known)
    other = tuple(sorted({kind for feature in features for kind in feature.other}))
    return replace(first, values=values, other=other, has_missing=has_missing)


def coarsen(fine: Feature | Cross, coarse: Feature | Cross) -> Integers:
    """The level of `coarse` that each level of `fine`, and after them no level, belongs to.

    >>> young, all_ages = Feature("age", cuts=(18.0,)), Feature("age", cuts=(18.0, 65.0))
    >>> coarsen(all_ages, young).tolist()
    [0, 1, 1, 2]
    """
    if isinstance(fine, Cross):
        assert isinstance(coarse, Cross)
        return _coarsen_pairs(fine, coarse)
    assert isinstance(coarse, Feature)
    nothing = len(coarse.levels)
    if coarse.cuts is not None:
        ends = np.append(fine.cuts or (), np.inf)
        special = range(len(coarse.cuts) + 1, len(coarse.cuts) + 1 + len(coarse.values))
        found = [*np.searchsorted(coarse.cuts, ends).tolist(), *special]
    else:
        known = {value: i for i, value in enumerate(keys(coarse.values))}
        found = [known.get(value, coarse.rest) for value in keys(fine.values)]
        found += [coarse.rest] if fine.other else []
    found += [nothing - coarse.has_missing] if fine.has_missing else []
    return np.array([*found, nothing], dtype=np.intp)


def _coarsen_pairs(fine: Cross, coarse: Cross) -> Integers:
    left, right = (coarsen(*parts) for parts in zip(fine.parts, coarse.parts, strict=True))
    known = {pair: i for i, pair in enumerate(coarse.pairs)}
    pairs = ((int(left[i]), int(right[j])) for i, j in fine.pairs)
    return np.array([*(known.get(pair, len(known)) for pair in pairs), len(known)], dtype=np.intp)
