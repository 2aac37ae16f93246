"""Fit the factor that multiplies the weights of incomplete rows.

Weights that are right for complete rows can be wrong for incomplete ones. Where classes are nearly
separable, weights are large, and a few of them are far too certain. With overlapping features, the
known answers also carry what the others would have said, so their weights are too small. So

    total = prior + e (sum of the weights of known answers),    e = 1/sqrt(1 + k s)

with s the share of the evidence that is not known: 0 for a complete row, 1 for an empty one. This
is how a logistic total shrinks if a normal error of variance proportional to s is added to it
(MacKay 1992); a negative k stands for what known answers say about the others. k is fitted to
the training rows blanked at random, together with the weights u of *not known* (with more than
`LOOPS` tables, after them).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from weigh.bins import Cross, Feature
from weigh.educated.blanks import (
    LOOPS,
    LOOSE,
    STEPS,
    Blanked,
    blank_all,
    shift,
    step_along,
    table_variances,
)
from weigh.educated.design import weigh_rows
from weigh.engine import Block, Coded, Sums
from weigh.evidence import Attenuation, Evidence
from weigh.frames import Floats
from weigh.newton.descent import descend
from weigh.pickling import by_fields

LEAST_GAIN = 5.0
"""The factor is kept if it lowers the loss of blanked training rows by more nats, over all rows."""

FIRST = tuple(np.arange(-2.0, 13.0, 2.0).tolist())
"""Values of ln(1 + k) at which the search may start."""

WIDE = 4.0
"""Prior standard deviation of ln(1 + k)."""

PRECISE = 1e-6
"""Largest relative gradient at the end of the search."""


def attenuate_incomplete(
    evidence: Evidence, rows: Coded, coded: Sequence[Feature | Cross]
) -> tuple[Evidence, int]:
    """Attach the factor of incomplete rows where it pays; return also the number of passes.

    The evidence has two classes and tables in which *not known* weighs zero. The total of a
    complete row does not change.
    """
    before = rows.n_passes
    blanked = blank_all(evidence, coded)
    variances = table_variances(evidence, np.arange(1))
    shares = share_evidence(evidence, variances)
    if not any(shares.values()):
        return evidence, 0
    prior = float(evidence.prior_row[0])
    start = Factored(blanked, np.array([*shares.values()]), prior, FIRST)
    losses = rows.sum(start.losses).arrays[0]
    plain, best = losses[FIRST.index(0.0)], int(losses.argmin())
    asked = replace(start, logs=(FIRST[best],))
    found = descend(
        _Point.at(asked, rows, variances),
        lambda at: at.step,
        lambda at: at.relative_gradient <= PRECISE,
        most=STEPS,
    )
    passes = rows.n_passes - before
    if found.blanked_loss > plain - LEAST_GAIN:
        return evidence, passes
    k = float(np.expm1(found.asked.logs[0]))
    rule = Attenuation(k, "known", np.zeros(1), shares)
    return replace(shift(evidence, found.asked.blanked.u), attenuation=rule), passes


def share_evidence(evidence: Evidence, variances: Floats) -> dict[str, float]:
    """The share of each table in the evidence, by the variance of its weights over the rows.

    A pair is known if its columns are: half of its variance counts for the table of each column.
    Tables in which training rows have no level have no share, so that the factor of these rows
    stays 1.
    """
    found = dict.fromkeys(evidence.names, 0.0)
    for table, variance in zip(evidence, variances.tolist(), strict=True):
        homes = [part.name for part in table.feature.parts if part.name in found]
        for name in homes or [table.name]:
            found[name] += variance / max(len(homes), 1)
    rows = float(evidence.class_counts.sum())
    full = {t.name for t in evidence if t.counts.sum() > rows * (1 - 1e-9)}
    whole = sum(own for name, own in found.items() if name in full)
    return {name: own / whole if name in full and whole else 0.0 for name, own in found.items()}


@dataclass(frozen=True)
class Factored:
    """The statistic at some u and ln(1 + k): loss, sum of absolute slopes, gradient and Hessian.

    The last line of gradient and Hessian is that of ln(1 + k). The Hessian is that of Gauss and
    Newton, which is never indefinite.
    """

    blanked: Blanked
    shares: Floats  # by table
    prior: float
    logs: tuple[float, ...]

    __reduce__ = by_fields

    def losses(self, block: Block) -> Sums:
        """The losses of a block at each of `logs`."""
        target, weight = self.blanked.target, weigh_rows(block)
        labels, found = target.labels(block), np.zeros(len(self.logs))
        for share, blank, totals in self.blanked.draw(block):
            for i, log in enumerate(self.logs):
                e = self._factor(blank, log)[0]
                scaled = self.prior + e[:, None] * (totals - self.prior)
                found[i] += share * float(target.losses(scaled, labels) @ weight)
        return Sums((found,))

    def __call__(self, block: Block) -> Sums:
        """The sums over a block and all of its sets of blanks, at the only one of `logs`."""
        target, weight = self.blanked.target, weigh_rows(block)
        labels, n = target.labels(block), len(self.shares) * self.joint + 1
        numbers, slopes, hessian = np.zeros(2), np.zeros(n), np.zeros((n, n))
        for share, blank, totals in self.blanked.draw(block):
            e, bent = self._factor(blank, self.logs[0])
            away = totals[:, 0] - self.prior
            found = target.moments((self.prior + e * away)[:, None], labels, share * weight)
            along = np.vstack([blank * e, away * bent]) if self.joint else (away * bent)[None]
            numbers += found.loss, np.abs(found.slope).sum()
            slopes += along @ found.slope[:, 0]
            hessian += (along * found.curvature[:, 0]) @ along.T
        return Sums((numbers, slopes, hessian))

    @property
    def joint(self) -> bool:
        """Whether the weights u are fitted, too."""
        return len(self.shares) <= LOOPS

    def _factor(self, blank: Floats, log: float) -> tuple[Floats, Floats]:
        """The factor of each row, and its derivative in ln(1 + k)."""
        unknown = self.shares @ blank
        inner = 1 + np.expm1(log) * unknown
        return inner**-0.5, -0.5 * inner**-1.5 * unknown * np.exp(log)


@dataclass(frozen=True)
class _Point:
    """Penalised loss, gradient and Hessian at some u and ln(1 + k)."""

    asked: Factored
    rows: Coded
    variances: Floats
    blanked_loss: float
    loss: float
    size: float
    gradient: Floats  # of the free tables, and of ln(1 + k)
    hessian: Floats

    @classmethod
    def at(cls, asked: Factored, rows: Coded, variances: Floats) -> _Point:
        """Evaluate in one pass over the rows."""
        numbers, slopes, hessian = rows.sum(asked).arrays
        own = variances if asked.joint else variances[:0]
        free = np.append(own > 0, True)
        pull = 1 / np.append(LOOSE**2 * own, WIDE**2)[free]
        here = np.append(asked.blanked.u[: len(own), 0], asked.logs[0])[free]
        loss, size = numbers.tolist()
        whole = loss + 0.5 * float(pull @ here**2)
        bent = hessian[np.ix_(free, free)] + np.diag(pull)
        return cls(asked, rows, variances, loss, whole, size, slopes[free] + pull * here, bent)

    @cached_property
    def _sums(self) -> Floats:
        """One for each free table: the sum of u is held."""
        sums: Floats = np.ones((len(self.gradient), 1))
        sums[-1] = 0.0
        return sums

    @cached_property
    def step(self) -> Floats:
        """The Newton step that leaves the sum of u unchanged."""
        if len(self.gradient) == 1:
            return np.asarray(self.gradient / self.hessian[0])
        return step_along(self.hessian, self.gradient, self._sums)

    @property
    def relative_gradient(self) -> float:
        """The gradient within the plane of constant sum, relative to the sum of absolute slopes."""
        n = max(len(self.gradient) - 1, 1)
        along = self.gradient - self._sums[:, 0] * self.gradient[:-1].sum() / n
        return float(np.abs(along).max() / (self.size + 1e-300))

    def moved(self, step: Floats) -> _Point:
        """Evaluate after subtracting a step."""
        asked, u = self.asked, self.asked.blanked.u.copy()
        if asked.joint:
            u[self.variances > 0, 0] -= step[:-1]
        log = float(np.clip(asked.logs[0] - step[-1], FIRST[0] - 2, FIRST[-1] + 4))
        moved = replace(asked, blanked=replace(asked.blanked, u=u), logs=(log,))
        return _Point.at(moved, self.rows, self.variances)
