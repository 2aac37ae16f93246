"""Weights of an added pair, and the prior precision that maximises the marginal likelihood.

All other weights are fixed, so a row's total depends on one cell of the pair only. Near the fitted
weights the loss is then a separate parabola in each cell, and Fellner and Schall's updates of the
precision (called scale here) need no further pass over the rows. Weights and scale are updated in
turn.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Self

import numpy as np
from scipy.linalg import solve_triangular

from weigh.arrays import Floats
from weigh.bins import Cross
from weigh.editing.refit import Start, refit_others
from weigh.editing.rows import ClassRows, NumberRows
from weigh.educated.prior import PriorBlock, prior_of
from weigh.educated.scales import FIRM, LEAST_SCALE, MOST_SCALE, balance, expect_variances
from weigh.evidence import Evidence

ROUNDS, UPDATES = 20, 500
"""Maximum number of fits of the weights, and of updates of the scale between two fits."""

STEADY = 1e-3
"""Scales have converged if their relative change is smaller."""


def fit_pair(
    evidence: Evidence, rows: ClassRows | NumberRows, held: Collection[str], start: Start
) -> tuple[Evidence, Start]:
    """The evidence with the weights of its last table fitted, and a start with their scale."""
    name = evidence.names[-1]
    evidence = refit_others(evidence, rows, held, start, prior=False)
    for _ in range(ROUNDS):
        scales = _find_scales(evidence, rows, start)
        if np.abs(np.log(scales / start.scales[name])).max() < STEADY:
            break
        start = start.scaled(name, scales)
        evidence = refit_others(evidence, rows, held, start, prior=False)
    return evidence, start


def _find_scales(evidence: Evidence, rows: ClassRows | NumberRows, start: Start) -> Floats:
    """The scale of the last table for each total; classes that are fitted jointly share one."""
    table = evidence.tables[-1]
    found = start.scales[table.name].copy()
    blocks, _ = prior_of(table.feature, table.counts, 0)
    if not blocks:
        return found
    curvature, n_totals = _curvature_of(evidence, rows), len(found)
    jointly = evidence.link != "ovr" and n_totals > 1
    before = _pairs_before(evidence, start.tied)
    known = [start.scales[name] for name in before if name in start.scales]
    for own in [slice(None)] if jointly else [slice(k, k + 1) for k in range(n_totals)]:
        scale = float(found[own][0])
        others = np.array([scales[own][0] for scales in known])
        weights = table.by_class[:, own]
        search = _Search.at(blocks[0], weights, curvature[:, own], scale, others, start)
        found[own] = search.climb(scale, FIRM if not evidence.estimates else LEAST_SCALE)
    return found


def _pairs_before(evidence: Evidence, tied: Collection[str]) -> list[str]:
    """The pairs before the last table, one for each scale."""
    names = [table.name for table in evidence.tables[:-1] if isinstance(table.feature, Cross)]
    shared = [name for name in names if name in tied]
    return [name for name in names if name not in shared[1:]]


def _curvature_of(evidence: Evidence, rows: ClassRows | NumberRows) -> Floats:
    """The second derivative of the loss with respect to the weight of each cell, by total."""
    table, read = evidence.tables[-1], rows.sample.table
    by_row = rows.moments(evidence, evidence.total(read)).curvature
    placed = table.feature.read(read)
    sums = np.zeros((len(table.levels) + 1, by_row.shape[1]))
    np.add.at(sums, placed.levels[placed.codes], by_row)
    return sums[:-1]


@dataclass(frozen=True, eq=False)
class _Search:
    """The loss in coordinates where the penalty matrix S is the identity.

    The second derivatives `curvature` are diagonal too, so the weights at scale s are
    right/(curvature + s).
    """

    block: PriorBlock
    curvature: Floats
    right: Floats
    others: Floats  # the scales of the model's other pairs
    size: float

    @classmethod
    def at(
        cls, block: PriorBlock, w: Floats, c: Floats, scale: float, others: Floats, start: Start
    ) -> Self:
        """The search at weights w that minimise the penalised loss at a scale.

        c are the second derivatives of the loss.
        """
        if block.matrix is None:
            return cls(block, c, w * (c + scale), others, start.size)
        root = np.linalg.cholesky(block.matrix)
        curvature, right = np.empty_like(c), np.empty_like(w)
        for k, own in enumerate(c.T):
            turned = solve_triangular(root, np.diag(np.sqrt(own)), lower=True)
            curvature[:, k], sides = np.linalg.eigh(turned @ turned.T)
            right[:, k] = (curvature[:, k] + scale) * (sides.T @ (root.T @ w[:, k]))
        return cls(block, np.maximum(curvature, 0.0), right, others, start.size)

    def climb(self, scale: float, least: float) -> float:
        """The scale to which Fellner and Schall's updates converge."""
        n = self.curvature.shape[1]
        share = 1.0 if n == 1 else (n - 1) / n  # the weights of the classes sum to zero
        ends = least / (share * self.block.firmness * self.size), MOST_SCALE / self.size
        for _ in range(UPDATES):
            free = share * float((self.curvature / (self.curvature + scale)).sum())
            norm = float(((self.right / (self.curvature + scale)) ** 2).sum())
            above, below = balance(free, norm, self._expect(scale), scale)
            last, scale = scale, float(np.clip(above / below, *ends))
            if abs(np.log(scale / last)) < STEADY / 10:
                break
        return scale

    def _expect(self, scale: float) -> float:
        """The variance expected of the weights, given the scales of all pairs."""
        every = np.append(self.others, scale) * self.size
        return float(expect_variances([self.block] * len(every), every)[-1]) * self.size
