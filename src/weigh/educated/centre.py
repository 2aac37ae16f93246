"""The same totals, told so that each table says what it alone adds.

A pair's table may hold what belongs to one of its two features, and a feature's what belongs to the
prior: the totals are the same. Here a pair keeps what no table of one feature can say, and a table
has mean zero over the training rows, so that the prior is the mean total. All of it is linear in
the weights, so the errors follow.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from weigh.bins import Cross, Feature
from weigh.educated.prior import is_told
from weigh.educated.segments import coarse_levels
from weigh.frames import Floats
from weigh.tally import Counts

ROUNDING = 1e-9
"""Sums of weights in another order may differ by this share."""


def centre(counts: Sequence[Counts], weights: Floats, whole: float) -> Floats:
    """Move what belongs elsewhere.

    `weights` has the prior first and any number of columns, `whole` is the weight of all rows. Rows
    without an answer would lose what is moved, so that such features and pairs keep what they have.
    """
    weights = weights.copy()
    starts = np.cumsum([1, *(len(c.counts) for c in counts)]).tolist()
    spans = {
        c.feature.name: slice(a, a + len(c.counts)) for c, a in zip(counts, starts, strict=False)
    }
    features = {c.feature.name: c.feature for c in counts}
    complete = [c for c in counts if c.counts.sum() >= whole * (1 - ROUNDING)]
    for c in complete:
        if isinstance(c.feature, Cross) and all(p.name in spans for p in c.feature.parts):
            _purify(c, features, spans, weights)
    for c in complete:
        rows, span = c.counts.sum(axis=1), spans[c.feature.name]
        mean = rows @ weights[span] / whole
        weights[span] -= is_told(c.feature, c.counts)[:, None] * mean
        weights[0] += mean
    return weights


def _purify(
    pair: Counts, features: dict[str, Feature | Cross], spans: dict[str, slice], weights: Floats
) -> None:
    """Leave a pair what no sum of a table for each of its features can say, over its rows."""
    assert isinstance(pair.feature, Cross)
    cells, rows = np.array(pair.feature.pairs), pair.counts.sum(axis=1)
    sizes = [len(part.levels) for part in pair.feature.parts]
    margins = np.zeros((len(cells), sum(sizes)))
    margins[np.arange(len(cells)), cells[:, 0]] = 1.0
    margins[np.arange(len(cells)), sizes[0] + cells[:, 1]] = 1.0
    own = weights[spans[pair.feature.name]]
    root = np.sqrt(rows)[:, None]
    shares = np.linalg.lstsq(root * margins, root * own, rcond=None)[0]
    weights[spans[pair.feature.name]] = own - margins @ shares
    parts = zip(pair.feature.parts, np.split(shares, [sizes[0]]), strict=True)
    for part, share in parts:
        fine = features[part.name]
        assert isinstance(fine, Feature)
        weights[spans[part.name]] += share[coarse_levels(fine, part)]
