"""The Gaussian prior of the weights, in which each block of weights has its own scale.

    - ln p(w) = 1/2 sum_b scale_b w_b' S_b w_b + terms without w

Categories, special codes and missing values are independent: S is the identity. Bins and ordered
categories are the sum of a line, a smooth curve and a random walk; along a pair, a random walk
only, or all three where many pairs share one scale. Lines and curves follow the ranks of rows; of
numeric targets, half of the line follows the numbers themselves. S is normalised so that the mean
variance of a weight is 1/scale for any number of levels. A random walk has a prior for differences
only, so the mean of its weights over the rows is held at zero; the intercept takes the mean.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np
from scipy.sparse import csr_array

from weigh.arrays import Floats, Integers
from weigh.bins import Cross, Feature, middles
from weigh.educated.matrices import BlockDiagonal

LEVEL, WALK, PAIRS = 0.3, 0.1, 0.03
"""Prior guess of the variance of the weights of independent levels, random walks and pairs."""

DENSE = 512
"""In a pair with more cells than this, the cells are independent."""

ROUGH = 0.1
"""Precision of independent weights that is added to that of a random walk along part of a pair."""

CELL = 0.05
"""Variance of independent weights that is added to that of a curve along part of a pair whose scale
is shared."""

FEWEST = 3
"""With fewer bins than this, the prior is a random walk only."""

ROUNDING = 1e-9
"""A line or curve whose mean variance is below this is left out: too few bins have rows."""

HELD, FAST = 10.0, 1e12
"""Precision that holds the mean of a random walk at zero, relative to the weight of its rows; and
that of each weight of a feature without information."""


@dataclass(frozen=True)
class PriorBlock:
    """Weights that share a scale, with S = `matrix`; without a matrix they are independent."""

    places: Integers
    rank: int
    matrix: Floats | None = None
    variance: float = LEVEL  # prior guess of 1/scale
    firmness: float = 1.0  # least precision of a level given all others, at scale 1
    of_pair: bool = False
    tied: bool = False  # shares its scale with all other tied blocks

    def apply(self, own: Floats) -> Floats:
        """S times `own`, the weights at the block's places."""
        return own if self.matrix is None else np.asarray(self.matrix @ own)

    def norm(self, weights: Floats) -> float:
        """The quadratic form w' S w, summed over classes."""
        own = weights[self.places]
        return float((own * self.apply(own)).sum())


@dataclass(frozen=True)
class Centre:
    """A penalty that holds a mean over rows at zero: strength/2 (shares' w)^2."""

    places: Integers
    shares: Floats
    strength: float


@dataclass(frozen=True)
class Prior:
    """The blocks of all features, and the means that are held at zero."""

    blocks: tuple[PriorBlock, ...]
    centres: tuple[Centre, ...]

    def apply(self, weights: Floats, scales: Floats) -> Floats:
        """The gradient of the penalty."""
        scale = np.zeros((len(weights), 1))
        for block, own in zip(self.blocks, scales, strict=True):
            scale[block.places] = own
        every, shares = self._penalties
        n_known = every.size
        out = np.zeros_like(weights)
        out[:n_known] = scale[:n_known] * (every @ weights[:n_known])
        strengths = np.array([[centre.strength] for centre in self.centres]).reshape(-1, 1)
        out[:n_known] += shares.T @ (strengths * (shares @ weights[:n_known]))
        return out

    @cached_property
    def _penalties(self) -> tuple[BlockDiagonal, csr_array]:
        """All S in one matrix, and one line of shares for each centre."""
        size = self._last + 1
        every = BlockDiagonal.of(size, ((block.places, block.matrix) for block in self.blocks))
        places = np.concatenate([*(centre.places for centre in self.centres), []]).astype(np.intp)
        shares = np.concatenate([*(centre.shares for centre in self.centres), []])
        ends = np.cumsum([0, *(len(centre.places) for centre in self.centres)])
        return every, csr_array((shares, places, ends), (len(self.centres), size))

    def add_to(self, hessian: Floats, scales: Floats, places: Integers) -> None:
        """Add the Hessian of the penalty to the Hessian of the weights at `places`."""
        for b in self.numbers(places):
            block, at = self.blocks[b], _within(places, self.blocks[b].places)
            if at is None:
                continue
            if block.matrix is None:
                own = np.arange(at.start, at.stop)
                hessian[own, own] += scales[b]
            else:
                hessian[at, at] += scales[b] * block.matrix
        for centre in self.held(places):
            at = _within(places, centre.places)
            if at is not None:
                hessian[at, at] += centre.strength * np.outer(centre.shares, centre.shares)

    def is_diagonal(self, places: Integers) -> bool:
        """Whether the prior makes the weights of a feature independent of each other."""
        own = (self.blocks[b] for b in self.numbers(places))
        return not self.held(places) and all(block.matrix is None for block in own)

    def numbers(self, places: Integers) -> range:
        """The numbers of the blocks that begin between the first and the last of some places."""
        return range(*_between(self._firsts[0], places))

    def held(self, places: Integers) -> tuple[Centre, ...]:
        """The centres that begin between the first and the last of some places."""
        return self.centres[slice(*_between(self._firsts[1], places))]

    @cached_property
    def _firsts(self) -> tuple[list[int], list[int]]:
        """The first places of the blocks and of the centres, in order."""
        blocks, centres = (
            [int(own.places[0]) for own in both] for both in (self.blocks, self.centres)
        )
        return blocks, centres

    @cached_property
    def _last(self) -> int:
        places = [b.places for b in self.blocks] + [c.places for c in self.centres]
        return max((int(at[-1]) for at in places), default=0)


def _between(firsts: list[int], places: Integers) -> tuple[int, int]:
    """The range of those that lie between the first and the last of some places."""
    return bisect_left(firsts, places[0]), bisect_left(firsts, places[-1] + 1)


def _within(places: Integers, own: Integers) -> slice | None:
    """Where adjacent places are among others, of which all are or none; None for none."""
    at = int(np.searchsorted(places, own[0]))
    return slice(at, at + len(own)) if at < len(places) and places[at] == own[0] else None


def prior_of(
    feature: Feature | Cross,
    counts: Floats,
    start: int,
    tied: bool = False,
    estimates: bool = False,
) -> tuple[list[PriorBlock], list[Centre]]:
    """The blocks and centres of a feature whose weights begin at `start`.

    `tied` says whether all pairs share one scale, and `estimates` whether the target is numeric.
    """
    places = start + np.arange(len(feature.levels))
    if is_silent(counts):
        return [], [Centre(place, np.ones(1), FAST) for place in places[:, None]]
    if isinstance(feature, Cross):
        return [_pair_block(feature, start, tied)], []
    n_walk = feature.n_in_order
    blocks, centres = [], []
    if n_walk > 1:
        rows = counts[:n_walk].sum(axis=1)
        along = curve(rows, (feature.cuts or ()) if estimates else ())
        blocks.append(PriorBlock(places[:n_walk], n_walk - 1, along, WALK, _firmness(along, rows)))
    if n_walk > 0:
        centres.append(_hold_mean(places[:n_walk], counts[:n_walk].sum(axis=1)))
    if n_walk < len(places):
        blocks.append(PriorBlock(places[n_walk:], len(places) - n_walk))
    return blocks, centres


def _firmness(precision: Floats, rows: Floats) -> float:
    """The least precision of a level given all others, among levels with at most half the rows."""
    return float(precision.diagonal()[2 * rows <= rows.sum()].min())


def is_silent(counts: Floats) -> bool:
    """Whether a feature has no information: at most one of its levels has rows."""
    return int(counts.any(axis=1).sum()) < 2


def is_told(feature: Feature | Cross, counts: Floats) -> Integers:
    """Whether each level is estimated, from its rows or its neighbours; others are not known."""
    return counts.any(axis=1) | (np.arange(len(counts)) < feature.n_in_order)


def _hold_mean(places: Integers, rows: Floats) -> Centre:
    """Hold the mean of ordered levels over the rows at zero; without rows, over the levels."""
    heavy = rows if rows.any() else np.ones(len(rows))
    return Centre(places, heavy / heavy.sum(), HELD * max(float(rows.sum()), 1.0))


def walk(n: int) -> Floats:
    """The precision of a random walk over n levels, with a mean variance of one about its mean.

    >>> S = walk(4)
    >>> round(float(np.trace(np.linalg.pinv(S))) / 4, 12)
    1.0
    """
    steps = np.diff(np.eye(n), axis=0)
    matrix: Floats = (n * n - 1) / (6 * n) * steps.T @ steps
    return matrix


def curve(rows: Floats, cuts: Sequence[float] = ()) -> Floats:
    """The precision of a line plus a smooth curve plus a random walk, of mean variance one.

    Each has a third of the variance, or half where two distinct ranks leave no room for a curve.
    Line and curve (an integrated random walk without its linear part) are functions of the mean
    rank of the rows in a bin, so a bin with many rows is far from its neighbours. The random walk
    takes one step from each bin to the next. The means of all three are zero.

    With cut points, half of the line's variance is that of a line in the middles of the bins: in
    the long tail of a column, numbers lie far apart although their ranks are close.

    >>> S = curve(np.array([9.0, 1.0, 1.0, 1.0]), cuts=(1.0, 2.0, 9.0))
    >>> round(float(np.trace(np.linalg.pinv(S))) / 4, 12)
    1.0
    """
    if len(rows) < FEWEST:
        return walk(len(rows))
    shares = np.cumsum(rows) / rows.sum() if rows.any() else np.ones(len(rows))
    return _curve(*(np.round(own, 12).tobytes() for own in (shares, _spread_out(cuts))))


def _spread_out(cuts: Sequence[float]) -> Floats:
    """The middles of bins, from 0 for the first to 1 for the last, in the unit of their range."""
    if not cuts:
        return np.zeros(0)
    ends = np.array(cuts) / max(np.abs(cuts).max(), np.finfo(float).tiny)  # avoids overflow
    places, _ = middles(tuple((ends - ends[0]).tolist()))
    places -= places[0]
    return places / max(float(places[-1]), np.finfo(float).tiny)


@lru_cache(maxsize=1024)
def _curve(shares: bytes, numbers: bytes) -> Floats:
    """The precision for bins that end at these shares of the rows, the same for many columns."""
    ends = np.frombuffer(shares)
    n, ranks = len(ends), 0.5 * (ends + np.append(0.0, ends[:-1]))
    straight = np.column_stack([np.ones(n), ranks])
    near, far = np.minimum.outer(ranks, ranks), np.maximum.outer(ranks, ranks)
    steps = np.arange(1.0, n + 1)
    along = [ranks, np.frombuffer(numbers)] if numbers else [ranks]
    lines = _normalise(*(_without(straight[:, :1], np.outer(own, own)) for own in along))
    parts = _normalise(
        np.sum(lines or [np.zeros((n, n))], axis=0),
        _without(straight, near**2 * (3 * far - near)),
        _without(straight[:, :1], np.minimum.outer(steps, steps)),
    )
    mean = np.full((n, n), 1 / n)
    precision: Floats = np.linalg.inv(sum(parts) / len(parts) + mean) - mean
    precision = 0.5 * (precision + precision.T)
    precision.setflags(write=False)
    return precision


def _normalise(*covariances: Floats) -> list[Floats]:
    """Covariances of mean variance one; those that are zero but for rounding are left out."""
    n = len(covariances[0])
    return [own * (n / np.trace(own)) for own in covariances if np.trace(own) > ROUNDING * n]


def _without(basis: Floats, covariance: Floats) -> Floats:
    """The covariance of the residuals of least squares on a basis."""
    sides = np.linalg.qr(basis)[0]
    left = covariance - sides @ (sides.T @ covariance)
    return np.asarray(left - (left @ sides) @ sides.T)


def _pair_block(cross: Cross, start: int, tied: bool) -> PriorBlock:
    """The block of a pair: cells with adjacent bins are correlated, others are independent."""
    cells, places = np.array(cross.pairs), start + np.arange(len(cross.pairs))
    if len(places) > DENSE or not any(part.n_in_order for part in cross.parts):
        return PriorBlock(places, len(places), None, PAIRS, of_pair=True, tied=tied)
    left, right = (_along(part, tied) for part in cross.parts)
    alike = left[np.ix_(cells[:, 0], cells[:, 0])] * right[np.ix_(cells[:, 1], cells[:, 1])]
    precision = np.linalg.inv(alike / np.diag(alike).mean())
    firmness = float(precision.diagonal().min())
    return PriorBlock(places, len(places), precision, PAIRS, firmness, of_pair=True, tied=tied)


def _along(part: Feature, tied: bool) -> Floats:
    """The covariance of the weights along one feature of a pair.

    Pairs that share a scale are many and weak, so they are smooth, and they leave the sums along
    either feature to the tables of single features.
    """
    covariance, n_walk = np.eye(len(part.levels)), part.n_in_order
    if n_walk > 1:
        own = np.eye(n_walk)
        smooth = np.linalg.pinv(curve(np.ones(n_walk))) + CELL * own if tied else None
        rough = np.linalg.inv(walk(n_walk) + ROUGH * own)
        covariance[:n_walk, :n_walk] = rough if smooth is None else smooth
    return covariance
