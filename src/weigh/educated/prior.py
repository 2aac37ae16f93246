"""What is thought of the weights before the data: Gaussian, each block with a scale of its own.

    - ln p(w) = 1/2 sum_b scale_b w_b' S_b w_b + terms without w

Categories, special codes and missing are independent: S is the identity. Intervals and ordered
categories are a walk, whose steps are independent; S is scaled so that the mean variance of a
weight is 1/scale however many levels there are. Only differences of a walk are known, so its mean
over the rows is kept at zero; the intercept takes what is left.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from weigh.bins import Cross, Feature
from weigh.frames import Floats, Integers

LEVEL, WALK, PAIRS = 0.3, 0.1, 0.03
"""The variance thought of before the data: of a level, of a walk, of a pair."""

DENSE = 512
"""A cross of more pairs takes them for independent."""

ROUGH = 0.1
"""A pair of intervals keeps this share of independence beside the walk along both."""

HELD, FAST = 10.0, 1e12
"""How strongly the mean of a walk is held at zero, relative to the weight of its rows; and the
weights of a feature that tells nothing."""


@dataclass(frozen=True)
class Block:
    """Weights that share a scale; without a matrix they are independent."""

    places: Integers
    rank: int
    matrix: Floats | None = None
    variance: float = LEVEL  # about what is thought of 1/scale before the data

    def apply(self, own: Floats) -> Floats:
        """S times the weights at its places."""
        return own if self.matrix is None else np.asarray(self.matrix @ own)

    def norm(self, weights: Floats) -> float:
        """W' S w, summed over classes."""
        own = weights[self.places]
        return float((own * self.apply(own)).sum())


@dataclass(frozen=True)
class Centre:
    """A mean over rows that is held at zero: strength/2 (shares' w)^2."""

    places: Integers
    shares: Floats
    strength: float


@dataclass(frozen=True)
class Prior:
    """The blocks of all features, and the means that are held."""

    blocks: tuple[Block, ...]
    centres: tuple[Centre, ...]

    def apply(self, weights: Floats, scales: Floats) -> Floats:
        """The gradient of the penalty."""
        out = np.zeros_like(weights)
        for block, scale in zip(self.blocks, scales, strict=True):
            out[block.places] += scale * block.apply(weights[block.places])
        for centre in self.centres:
            held = centre.strength * (centre.shares @ weights[centre.places])
            out[centre.places] += np.multiply.outer(centre.shares, held)
        return out

    def add_to(self, hessian: Floats, scales: Floats, places: Integers) -> None:
        """Add the penalty's own Hessian to that of some of the weights."""
        local = np.full(max(places[-1], self._last) + 1, -1)
        local[places] = np.arange(len(places))
        for block, scale in zip(self.blocks, scales, strict=True):
            at = local[block.places]
            if at[0] < 0:
                continue
            if block.matrix is None:
                hessian[at, at] += scale
            else:
                hessian[np.ix_(at, at)] += scale * block.matrix
        for centre in self.centres:
            at = local[centre.places]
            if at[0] >= 0:
                outer = np.outer(centre.shares, centre.shares)
                hessian[np.ix_(at, at)] += centre.strength * outer

    def is_diagonal(self, places: Integers) -> bool:
        """Whether the weights of a feature are independent of each other."""
        first, last = places[0], places[-1]
        own = [block for block in self.blocks if first <= block.places[0] <= last]
        walks = any(first <= centre.places[0] <= last for centre in self.centres)
        return not walks and all(block.matrix is None for block in own)

    @cached_property
    def _last(self) -> int:
        places = [b.places for b in self.blocks] + [c.places for c in self.centres]
        return max((int(at[-1]) for at in places), default=0)


def prior_of(
    feature: Feature | Cross, counts: Floats, start: int
) -> tuple[list[Block], list[Centre]]:
    """The blocks of a feature whose weights begin at `start`."""
    places = start + np.arange(len(feature.levels))
    if is_silent(counts):
        return [], [Centre(place, np.ones(1), FAST) for place in places[:, None]]
    if isinstance(feature, Cross):
        return [_pair_block(feature, start)], []
    n_walk = count_intervals(feature)
    blocks, centres = [], []
    if n_walk > 1:
        blocks.append(Block(places[:n_walk], n_walk - 1, walk(n_walk), WALK))
    if n_walk > 0:
        centres.append(_hold_mean(places[:n_walk], counts[:n_walk].sum(axis=1)))
    if n_walk < len(places):
        blocks.append(Block(places[n_walk:], len(places) - n_walk))
    return blocks, centres


def is_silent(counts: Floats) -> bool:
    """Whether a feature tells nothing: no more than one of its levels has rows."""
    return int(counts.any(axis=1).sum()) < 2


def count_intervals(feature: Feature | Cross) -> int:
    """How many of a feature's levels are a walk: intervals or ordered categories, first of all."""
    return 0 if isinstance(feature, Cross) else feature.n_in_order


def is_told(feature: Feature | Cross, counts: Floats) -> Integers:
    """The levels that rows or neighbours tell about; a code that never occurs is not known."""
    return counts.any(axis=1) | (np.arange(len(counts)) < count_intervals(feature))


def _hold_mean(places: Integers, rows: Floats) -> Centre:
    """A walk's mean over the rows; over the intervals where none of them has any."""
    heavy = rows if rows.any() else np.ones(len(rows))
    return Centre(places, heavy / heavy.sum(), HELD * max(float(rows.sum()), 1.0))


def walk(n: int) -> Floats:
    """The precision of a walk of n steps, of mean variance one about its mean.

    >>> S = walk(4)
    >>> round(float(np.trace(np.linalg.pinv(S))) / 4, 12)
    1.0
    """
    steps = np.diff(np.eye(n), axis=0)
    matrix: Floats = (n * n - 1) / (6 * n) * steps.T @ steps
    return matrix


def _pair_block(cross: Cross, start: int) -> Block:
    """Pairs that lie side by side along intervals are alike; others are independent."""
    cells, places = np.array(cross.pairs), start + np.arange(len(cross.pairs))
    if len(places) > DENSE or not any(map(count_intervals, cross.parts)):
        return Block(places, len(places), None, PAIRS)
    left, right = (_along(part) for part in cross.parts)
    alike = left[np.ix_(cells[:, 0], cells[:, 0])] * right[np.ix_(cells[:, 1], cells[:, 1])]
    return Block(places, len(places), np.linalg.inv(alike / np.diag(alike).mean()), PAIRS)


def _along(part: Feature) -> Floats:
    """How the weights along one part of a pair vary together."""
    n = len(part.levels)
    precision, n_walk = np.eye(n), count_intervals(part)
    if n_walk > 1:
        precision[:n_walk, :n_walk] = walk(n_walk) + ROUGH * np.eye(n_walk)
    return np.asarray(np.linalg.inv(precision))
