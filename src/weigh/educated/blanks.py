"""Estimate the weight of *not known* in each table, and shift the tables so that it is zero.

Every table j gets a weight u_j for *not known*. The tables are held fixed, and u minimises the loss
of training rows whose values were blanked at random,

    total = prior + sum over known tables of w_j(x_j) + sum over blanked tables of u_j

with blank rates uniform from 0 to 1. The sum of all u_j is fixed so that a row without a single
known value gets the base rate. Then u_j is subtracted from every weight of table j, and the sum is
added to the prior. No total of a complete row changes, not known weighs zero, and the prior is the
base rate.

Which values are blanked depends only on the levels of the row. It does not depend on the row's
position, batch or engine, so a row of weight two equals that row twice. It does not depend on the
class either: rows with the same levels are blanked alike, so the shares of their classes stay.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import product
from math import comb

import numpy as np
from scipy.special import logit

from weigh.arrays import Floats, Integers
from weigh.bins import Cross, Feature
from weigh.educated.design import Design, Source, Target, weigh_rows
from weigh.educated.halves import mark_rows, salt
from weigh.educated.numbers import NumberTarget
from weigh.educated.prior import is_told
from weigh.educated.segments import coarse_levels
from weigh.engine import Block, Coded, Sums
from weigh.evidence import BOUND, Evidence, contrast, squeeze
from weigh.newton.descent import descend
from weigh.pickling import by_fields

FEW = 5
"""Up to this many columns, every set of blanks is used; with more, a random sample for each row."""

DRAWN, MOST = 16_384, 32
"""Each row is blanked so many times that there are about `DRAWN` blanked rows, but at most `MOST`
times; every set of blanks is also used with known and blanked exchanged."""

LOOSE = 1.0
"""Prior standard deviation of u_j, relative to that of the weights of its table."""

PRECISE, STEPS = 1e-9, 30

LOOPS = 64
"""With more tables than this, the Hessian of two classes is computed as a matrix product."""

AT_ONCE = 1024
"""Rows that are multiplied at a time with a joint Hessian: each has a number for every u."""

JOINT = 512
"""Up to this many weights u have one joint Hessian; with more, each class has its own."""


@dataclass(frozen=True)
class Masks:
    """The sets of values that are blanked in each row, and how many of them are drawn.

    Salts are hashes of names, so the order of columns does not matter.
    """

    features: tuple[int, ...]  # salt of each coded feature
    columns: tuple[int, ...]  # salt of each column
    times: int

    @classmethod
    def of(cls, coded: Sequence[Feature | Cross], columns: Sequence[str], weight: float) -> Masks:
        """Masks for rows whose weights sum to `weight`."""
        times = int(np.clip(np.ceil(DRAWN / max(weight, 1.0)), 1, MOST))
        return cls(tuple(salt(f.name) for f in coded), tuple(map(salt, columns)), times)

    @property
    def every(self) -> bool:
        """Whether every set of blanks is used."""
        return len(self.columns) <= FEW

    def draw(self, block: Block) -> Iterator[tuple[float, Integers]]:
        """Yield sets of blanks: the share of each, and which values it blanks (column by row)."""
        return self._every(len(block)) if self.every else self._some(block)

    def _every(self, n_rows: int) -> Iterator[tuple[float, Integers]]:
        """Yield every set; a uniform rate makes every number of blanked columns equally likely."""
        n = len(self.columns)
        for mask in product((False, True), repeat=n):
            share = 1 / ((n + 1) * comb(n, sum(mask)))
            yield share, np.repeat(np.array(mask)[:, None], n_rows, axis=1)

    def _some(self, block: Block) -> Iterator[tuple[float, Integers]]:
        """Yield random sets, with one rate from each of `times` equal parts of 0 to 1.

        Each set is followed by its complement.
        """
        from weigh.educated import kernels

        marks = mark_rows(block, self.features)
        salts = np.array(self.columns, dtype=np.uint64)
        for part in range(self.times):
            blank = np.empty((len(salts), len(block)), dtype=np.bool_)
            kernels.draw_blanks(marks, salts, part, self.times, blank)
            yield 0.5 / self.times, blank
            yield 0.5 / self.times, ~blank


@dataclass(frozen=True)
class Blanked:
    """The statistic at some u: loss, sum of absolute slopes, gradient and Hessian."""

    design: Design
    target: Target | NumberTarget
    masks: Masks
    uses: tuple[tuple[int, ...], ...]  # the columns of each table
    weights: Floats  # the prior first
    u: Floats  # by table and total

    __reduce__ = by_fields

    def __call__(self, block: Block) -> Sums:
        """The sums over a block and all of its sets of blanks."""
        from weigh.educated import kernels

        n_tables, n_totals = self.u.shape
        numbers, slopes = np.zeros(2), np.zeros((n_tables, n_totals))
        each = 1 if self.u.size > JOINT else n_totals  # totals that share a Hessian
        bends = np.zeros((n_totals // each, each, n_tables, each, n_tables))
        labels, weight = self.target.labels(block), weigh_rows(block)
        for share, blank, totals in self.draw(block):
            found = self.target.moments(totals, labels, share * weight)
            numbers += found.loss, np.abs(found.slope).sum()
            if found.probability is None and n_tables <= LOOPS:
                own = bends.reshape(1, n_tables, n_tables)
                kernels.sum_blanks(blank, found.slope, found.curvature, slopes, own)
                continue
            ones = blank.astype(np.float64)
            slopes += ones @ found.slope
            if found.probability is None:
                bends[0, 0, :, 0] += (ones * found.curvature[:, 0]) @ ones.T
            else:
                self._add_hessian(ones, share * weight, found.probability, bends)
        return Sums((numbers, slopes, bends))

    def draw(self, block: Block) -> Iterator[tuple[float, Integers, Floats]]:
        """Yield sets of blanks: the share of each, which tables it blanks, and the rows' totals."""
        from weigh.educated import kernels

        places, padded, none = self.design.place(block), self.design.pad(self.weights), self._none
        for share, columns in self.masks.draw(block):
            blank = np.logical_or.reduce([columns[own] for own in self._columns])
            totals = np.tile(padded[0], (len(block), 1))
            kernels.add_known(places, padded, none, self.u, blank, totals)
            yield share, blank, totals

    def _add_hessian(self, blank: Floats, weight: Floats, p: Floats, bends: Floats) -> None:
        """Add the Hessian of several classes: joint, or of each class alone if there are many."""
        each, root = bends.shape[1], np.sqrt(weight)[:, None] * p
        for first, group in zip(range(0, p.shape[1], each), bends, strict=True):
            for k in range(each):
                group[k, :, k] += (blank * (weight * p[:, first + k])) @ blank.T
            for start in range(0, len(root), AT_ONCE):
                rows = slice(start, start + AT_ONCE)
                shared = root[rows, first : first + each].T[:, None] * blank[:, rows]
                lines = shared.reshape(-1, shared.shape[-1])
                group -= (lines @ lines.T).reshape(group.shape)

    @cached_property
    def _columns(self) -> tuple[list[int], ...]:
        """The first column of each table, then the second, ...; a shorter list repeats its last."""
        most = max(map(len, self.uses))
        return tuple([use[min(i, len(use) - 1)] for use in self.uses] for i in range(most))

    @cached_property
    def _none(self) -> Integers:
        """The place for no level in each table, which is treated as blanked."""
        return np.array(self.design.starts[:-1])


def zero_not_known(
    evidence: Evidence,
    rows: Coded,
    coded: Sequence[Feature | Cross],
    numbers: NumberTarget | None = None,
) -> tuple[Evidence, list[int]]:
    """Shift evidence so that not known weighs zero; return also the passes of each search.

    `rows` are the training rows, coded in the levels of `coded`. `numbers` is their target if it is
    numeric.
    """
    everything = blank_all(evidence, coded)
    base = base_totals(evidence) if numbers is None else numbers.prior()
    goal = base - evidence.prior_row
    targets: list[Target | NumberTarget]
    if numbers is not None:
        targets = [numbers]
    elif evidence.link == "ovr":
        targets = [_one_class(evidence, c) for c in range(len(evidence.classes))]
    else:
        targets = [Target(evidence.class_counts)]
    found, passes = [], []
    for target, own in zip(targets, np.split(np.arange(len(goal)), len(targets)), strict=True):
        start = replace(
            everything,
            target=target,
            weights=everything.weights[:, own],
            u=everything.u[:, own],
        )
        before = rows.n_passes
        found.append(_find(start, rows, table_variances(evidence, own), goal[own]))
        passes.append(rows.n_passes - before)
    u = np.hstack(found)
    if evidence.link == "softmax":
        u -= u.mean(axis=1, keepdims=True)
    return shift(evidence, u), passes


def blank_all(evidence: Evidence, coded: Sequence[Feature | Cross]) -> Blanked:
    """The statistic at u = 0, for classes that were fitted jointly."""
    weights = np.vstack([evidence.prior_row, *(table.by_class for table in evidence)])
    design = Design(tuple(_source(table.feature, coded) for table in evidence))
    names = [*dict.fromkeys(part.name for table in evidence for part in table.feature.parts)]
    uses = tuple(tuple(names.index(p.name) for p in t.feature.parts) for t in evidence)
    masks = Masks.of(coded, names, float(evidence.class_counts.sum()))
    none = np.zeros((len(uses), weights.shape[1]))
    return Blanked(design, Target(evidence.class_counts), masks, uses, weights, none)


def shift(evidence: Evidence, u: Floats) -> Evidence:
    """Subtract u_j from the weights of each table j, and add the sum of all u_j to the prior."""
    tables = tuple(
        replace(t, by_class=t.by_class - is_told(t.feature, t.counts)[:, None] * own)
        for t, own in zip(evidence, u, strict=True)
    )
    return replace(evidence, tables=tables, prior=squeeze(evidence.prior_row + u.sum(axis=0)))


def base_totals(evidence: Evidence) -> Floats:
    """The totals that correspond to the base rate."""
    rate = np.clip(evidence.base_rate, BOUND, 1 - BOUND)
    return np.asarray(logit(rate)) if evidence.link == "ovr" else contrast(np.log(rate))


def _one_class(evidence: Evidence, c: int) -> Target:
    counts = evidence.class_counts
    return Target(np.array([counts.sum() - counts[c], counts[c]]), of=c)


def _source(feature: Feature | Cross, coded: Sequence[Feature | Cross]) -> Source:
    """The map from the coded levels of a row to its level in a table."""
    names = [known.name for known in coded]
    if feature.name in names:
        return level_source(feature, names.index(feature.name), coded)
    assert isinstance(feature, Cross)
    parts = [level_source(part, names.index(part.name), coded) for part in feature.parts]
    return Source.of_cross(feature, parts)


def level_source(feature: Feature | Cross, place: int, coded: Sequence[Feature | Cross]) -> Source:
    """The map from the levels of a coded feature to those of the same or a coarser feature."""
    fine, n = coded[place], len(feature.levels)
    if isinstance(feature, Cross) or isinstance(fine, Cross):
        return Source.of(place, n)
    return Source((place,), np.append(coarse_levels(fine, feature), n), n)


def table_variances(evidence: Evidence, own: Integers) -> Floats:
    """The variance of each table's weights over the training rows, averaged over totals."""
    squares = (t.share @ (t.centred[:, own] ** 2).mean(axis=1) for t in evidence)
    return np.array([*squares])


# ---------------------------------------------------------------- the least loss


def _find(start: Blanked, rows: Coded, variances: Floats, goal: Floats) -> Floats:
    """Minimise the loss over u with its sum fixed at `goal`.

    A table whose weights are all equal keeps u = 0.
    """
    free = variances > 0
    if not free.any():
        return start.u
    pull = 1 / (LOOSE**2 * variances[free])
    first = np.zeros_like(start.u)
    first[free] = np.outer(variances[free] / variances[free].sum(), goal)
    look = _Look.at(replace(start, u=first), rows, first, pull, free)
    found = descend(
        look, lambda at: at.step, lambda at: at.relative_gradient <= PRECISE, most=STEPS
    )
    return found.asked.u


@dataclass(frozen=True)
class _Look:
    """Penalised loss, gradient and Hessian at some u."""

    asked: Blanked
    rows: Coded
    first: Floats
    pull: Floats
    free: Integers
    loss: float
    size: float
    gradient: Floats  # of the free tables
    hessians: Floats  # of all totals, or of each

    @classmethod
    def at(cls, asked: Blanked, rows: Coded, first: Floats, pull: Floats, free: Integers) -> _Look:
        """Evaluate at `asked.u`, in one pass over the rows."""
        numbers, slopes, bends = rows.sum(asked).arrays
        away = (asked.u - first)[free]
        loss = float(numbers[0]) + 0.5 * float((pull[:, None] * away**2).sum())
        gradient = slopes[free] + pull[:, None] * away
        n = gradient.size // len(bends)
        hessians = bends[:, :, free][..., free].reshape(len(bends), n, n)
        hessians += np.diag(np.tile(pull, bends.shape[1]))
        return cls(asked, rows, first, pull, free, loss, float(numbers[1]), gradient, hessians)

    @cached_property
    def step(self) -> Floats:
        """The Newton step that leaves the sum of u unchanged in each total."""
        n_free, n_totals = self.gradient.shape
        slopes = self.gradient.T.reshape(len(self.hessians), -1)
        sums: Floats = np.repeat(np.eye(n_totals // len(slopes)), n_free, axis=0)
        steps = [step_along(*both, sums) for both in zip(self.hessians, slopes, strict=True)]
        return np.ascontiguousarray(np.reshape(steps, (n_totals, n_free)).T)

    @property
    def relative_gradient(self) -> float:
        """The gradient within the plane of constant sum, relative to the sum of absolute slopes."""
        along = self.gradient - self.gradient.mean(axis=0)
        return float(np.abs(along).max() / (self.size + 1e-300))

    def moved(self, step: Floats) -> _Look:
        """Evaluate after subtracting a step from u."""
        u = self.asked.u.copy()
        u[self.free] -= step
        return _Look.at(replace(self.asked, u=u), self.rows, self.first, self.pull, self.free)


def step_along(hessian: Floats, slope: Floats, sums: Floats) -> Floats:
    """The Newton step under the constraint that `sums.T @ step` is zero."""
    solved = np.linalg.solve(hessian, np.column_stack([slope, sums]))
    own, held = solved[:, 0], solved[:, 1:]
    step: Floats = own - held @ np.linalg.solve(sums.T @ held, sums.T @ own)
    return step
