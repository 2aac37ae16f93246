"""Weights from gain ratios."""

from __future__ import annotations

import numpy as np
from scipy.special import entr

from weigh.frames import Floats
from weigh.tally import Tally

SILENT = 1e-12
"""A gain below this, in nats, is rounding: the feature tells nothing."""


def gain_weights(tally: Tally) -> Floats:
    """w_j = d G_j / (G_1 + ... + G_d), with G the gain ratios (Eq. 3); all 1 where all G are 0.

    >>> from weigh import EvidenceNB
    >>> from weigh.datasets import titanic
    >>> gain_weights(EvidenceNB().fit(titanic(), "Survived").evidence_.tally).round(2)
    array([0.39, 2.33, 0.28])
    """
    ratios = gain_ratios(tally)
    total = ratios.sum()
    return ratios * len(ratios) / total if total > 0 else np.ones(len(ratios))


def gain_ratios(tally: Tally) -> Floats:
    """The gain ratio of each feature (Quinlan 1993).

    G = F (H(C) - H(C|A)) / H(A). Missing as a level is a level. Where missing is skipped, the gain
    is that of the rows where the feature was observed, F is their share of all rows, and the
    missing are one more group in H(A).
    """
    total = tally.class_counts.sum()
    return np.array(
        [_gain_ratio(t.counts, total if t.feature.skip_missing else 0.0) for t in tally.tables]
    )


def _gain_ratio(counts: Floats, total: float) -> float:
    by_level, known = counts.sum(axis=1), counts.sum()
    total = max(total, known)
    if known == 0:
        return 0.0
    gain = _entropy(counts.sum(axis=0)) - by_level @ _entropy(counts) / known
    if gain < SILENT:
        return 0.0
    return float(known / total * gain / _entropy(np.append(by_level, total - known)))


def _entropy(counts: Floats) -> Floats:
    """In nats, over the last axis."""
    total = counts.sum(axis=-1, keepdims=True)
    return np.asarray(entr(counts / np.where(total > 0, total, 1)).sum(axis=-1))
