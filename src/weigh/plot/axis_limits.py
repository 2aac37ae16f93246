"""How far an axis of weights goes: rare levels that lie far out must not squash the rest."""

from __future__ import annotations

import numpy as np

from weigh.frames import Floats

RARE, ALLOWED = 0.05, 1.5
"""Of a feature's rows this share, at either end, may lie beyond the axis, if it is so many nats
away from the others."""


def usual_weights(weights: Floats, share: Floats) -> Floats:
    """The weights of a feature's levels less those of the few rows at either end, in order."""
    order = np.argsort(weights, kind="stable")
    part = share[order] / share.sum()
    below = np.cumsum(part)
    return np.asarray(weights[order][(below > RARE) & (below - part < 1 - RARE)])
