"""Fit the factor that multiplies the weights of incomplete rows.

Weights that are right for complete rows can be wrong for incomplete ones. Where classes are nearly
separable, weights are large, and a few of them are far too certain. With overlapping features, the
known answers also carry what the others would have said, so their weights are too small. So

    total = prior + e (sum of the weights of known answers),    e = 1/sqrt(1 + k s)

with s the share of the evidence that is not known: 0 for a complete row, 1 for an empty one. This
is how a logistic total shrinks if a normal error of variance proportional to s is added to it
(MacKay 1992); a negative k stands for what known answers say about the others. k is fitted to
the training rows blanked at random, together with the weights u of *not known* (with more than
`LOOPS` tables, after them), and then with the margins of pairs (`weigh.educated.margins`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from weigh.arrays import Floats, Integers
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
from weigh.educated.margins import Sides, average_margins, find_sides
from weigh.engine import Block, Coded, Sums
from weigh.evidence import Attenuation, Evidence
from weigh.newton.descent import descend
from weigh.pickling import by_fields

LEAST_GAIN = 0.5
"""The factor is kept if it lowers the loss of blanked training rows, in nats over all rows, by more
than this times the logarithm of the number of rows (Schwarz's criterion for one number)."""

MARGIN_GAIN = 0.0075
"""Margins are kept if they lower this loss further, by a larger share. A smaller gain would not pay
for the additional weights."""

FIRST = tuple(np.arange(-2.0, 13.0, 2.0).tolist())
"""Values of ln(1 + k) at which the search may start."""

ENDS = FIRST[0] - 2, FIRST[-1] + 4
"""Least and largest ln(1 + k)."""

WIDE = 4.0
"""Prior standard deviation of ln(1 + k), and of the share c of each side of a pair."""

AT_ONCE = 2048
"""Rows that are multiplied at a time, so that their numbers stay in the processor's cache."""

PRECISE = 1e-6
"""Largest relative gradient at the end of the search."""


def attenuate_incomplete(
    evidence: Evidence, rows: Coded, coded: Sequence[Feature | Cross]
) -> tuple[Evidence, int]:
    """Attach the factor of incomplete rows, and margins to pairs, where they lower the loss.

    The evidence has two classes and tables in which *not known* weighs zero. The total of a
    complete row does not change. The number of passes is returned too.
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
    found = _descend(replace(start, logs=(FIRST[best],)), rows, variances)
    sides = find_sides(evidence, blanked, rows, coded)
    if len(sides):
        asked = replace(found.asked, sides=sides, side_shares=np.zeros(len(sides)))
        other = _descend(asked, rows, variances)
        pays = other.blanked_loss < (1 - MARGIN_GAIN) * found.blanked_loss
        found = other if pays else found
    passes, n_rows = rows.n_passes - before, max(float(evidence.class_counts.sum()), 1.0)
    if found.blanked_loss > plain - LEAST_GAIN * np.log(n_rows):
        return evidence, passes
    asked = found.asked
    rule = Attenuation(float(np.expm1(asked.logs[0])), "known", np.zeros(1), shares)
    evidence = replace(shift(evidence, asked.blanked.u), attenuation=rule)
    if asked.sides is not None:
        evidence = asked.sides.attach(evidence, asked.side_shares)
    return evidence, passes


def _descend(asked: Factored, rows: Coded, variances: Floats) -> _Point:
    return descend(
        _Point.at(asked, rows, variances),
        lambda at: at.step,
        lambda at: at.relative_gradient <= PRECISE,
        most=STEPS,
    )


def keep_incomplete(evidence: Evidence, olds: Sequence[Evidence]) -> Evidence:
    """Give evidence the mean factor and margins of earlier models, whose rows are gone.

    ln(1 + k), the shares and the margins are averaged by rows; a model without them has zeros.
    """
    rows = np.array([float(old.class_counts.sum()) for old in olds])
    parts, rules = rows / rows.sum(), [old.attenuation for old in olds]
    known = [(rule, part) for rule, part in zip(rules, parts, strict=True) if rule is not None]
    if not known:
        return evidence
    ks = {0.0 if rule is None else rule.k for rule in rules}
    k = float(np.expm1(sum(part * np.log1p(rule.k) for rule, part in known)))
    whole = sum(part for _, part in known)
    names = dict.fromkeys(name for rule, _ in known for name in rule.shares)
    shares = {n: float(sum(p * r.shares.get(n, 0.0) for r, p in known) / whole) for n in names}
    rule = Attenuation(ks.pop() if len(ks) == 1 else k, "known", np.zeros(1), shares)
    tables = tuple(average_margins(table, olds, parts) for table in evidence)
    return replace(evidence, tables=tables, attenuation=rule)


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
    """The statistic at some u, c and ln(1 + k): loss, absolute slopes, gradient and Hessian.

    `side_shares` has c of each side of a pair. The last line of gradient and Hessian is that of
    ln(1 + k). The Hessian is that of Gauss and Newton, which is never indefinite.
    """

    blanked: Blanked
    shares: Floats  # by table
    prior: float
    logs: tuple[float, ...]
    sides: Sides | None = None
    side_shares: Floats = field(default_factory=lambda: np.zeros(0))

    __reduce__ = by_fields

    def losses(self, block: Block) -> Sums:
        """The losses of a block at each of `logs`."""
        target, weight = self.blanked.target, weigh_rows(block)
        labels, found = target.labels(block), np.zeros(len(self.logs))
        for share, blank, totals in self.blanked.draw(block):
            unknown = self._unknown(blank)
            for i, log in enumerate(self.logs):
                e = _factor(unknown, log)[0]
                scaled = self.prior + e[:, None] * (totals - self.prior)
                found[i] += share * float(target.losses(scaled, labels) @ weight)
        return Sums((found,))

    def __call__(self, block: Block) -> Sums:
        """The sums over a block and all of its sets of blanks, at the only one of `logs`."""
        target, weight = self.blanked.target, weigh_rows(block)
        labels, n = target.labels(block), len(self.shares) * self.joint + len(self.side_shares) + 1
        numbers, slopes, hessian = np.zeros(2), np.zeros(n), np.zeros((n, n))
        expected = None if self.sides is None else self.sides.expect(block)
        for share, blank, totals in self.blanked.draw(block):
            e, bent = _factor(self._unknown(blank), self.logs[0])
            half_known = self._half_known(expected, blank)
            away = totals[:, 0] - self.prior + self.side_shares @ half_known
            found = target.moments((self.prior + e * away)[:, None], labels, share * weight)
            numbers += found.loss, np.abs(found.slope).sum()
            shown, last = blank if self.joint else blank[:0], away * bent
            for start in range(0, len(block), AT_ONCE):
                rows = slice(start, start + AT_ONCE)
                part = (shown[:, rows] * e[rows], half_known[:, rows] * e[rows], last[rows])
                along = np.vstack(part)
                slopes += along @ found.slope[rows, 0]
                hessian += (along * found.curvature[rows, 0]) @ along.T
        return Sums((numbers, slopes, hessian))

    def _unknown(self, blank: Integers) -> Floats:
        """The share of each row's evidence that is not known."""
        starts = range(0, max(blank.shape[1], 1), AT_ONCE)
        return np.concatenate([self.shares @ blank[:, i : i + AT_ONCE] for i in starts])

    def _half_known(self, expected: Floats | None, blank: Integers) -> Floats:
        """The expected weights, where the other answer of the pair alone is not known."""
        if expected is None or self.sides is None:
            return np.zeros((0, blank.shape[1]))
        return np.asarray(expected * (blank[self.sides.other] & ~blank[self.sides.own]))

    @property
    def joint(self) -> bool:
        """Whether the weights u are fitted, too."""
        return len(self.shares) <= LOOPS


def _factor(unknown: Floats, log: float) -> tuple[Floats, Floats]:
    """The factor of each row, given its unknown share, and its derivative in ln(1 + k)."""
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
    gradient: Floats  # of the free tables, of the sides of pairs, and of ln(1 + k)
    hessian: Floats

    @classmethod
    def at(cls, asked: Factored, rows: Coded, variances: Floats) -> _Point:
        """Evaluate in one pass over the rows."""
        numbers, slopes, hessian = rows.sum(asked).arrays
        own, others = variances if asked.joint else variances[:0], np.ones(len(asked.side_shares))
        free = np.concatenate([own, others, [1.0]]) > 0
        pull = 1 / np.concatenate([LOOSE**2 * own, WIDE**2 * others, [WIDE**2]])[free]
        here = np.concatenate([asked.blanked.u[: len(own), 0], asked.side_shares, asked.logs])[free]
        loss, size = numbers.tolist()
        whole = loss + 0.5 * float(pull @ here**2)
        gradient, bent = slopes[free] + pull * here, hessian[np.ix_(free, free)] + np.diag(pull)
        low, high = asked.logs[0] <= ENDS[0], asked.logs[0] >= ENDS[1]
        if (low and gradient[-1] > 0) or (high and gradient[-1] < 0):  # k stays at its limit
            gradient[-1], bent[-1, :-1], bent[:-1, -1] = 0.0, 0.0, 0.0
        return cls(asked, rows, variances, loss, whole, size, gradient, bent)

    @property
    def _n_free(self) -> int:
        """The number of tables whose u is fitted."""
        return len(self.gradient) - len(self.asked.side_shares) - 1

    @cached_property
    def _sums(self) -> Floats:
        """One for each free table: the sum of u is held."""
        sums: Floats = np.zeros((len(self.gradient), 1))
        sums[: self._n_free] = 1.0
        return sums

    @cached_property
    def step(self) -> Floats:
        """The Newton step that leaves the sum of u unchanged."""
        if not self._n_free:
            return np.asarray(np.linalg.solve(self.hessian, self.gradient))
        return step_along(self.hessian, self.gradient, self._sums)

    @property
    def relative_gradient(self) -> float:
        """The gradient within the plane of constant sum, relative to the sum of absolute slopes."""
        n = self._n_free
        along = self.gradient - self._sums[:, 0] * self.gradient[:n].sum() / max(n, 1)
        return float(np.abs(along).max() / (self.size + 1e-300))

    def moved(self, step: Floats) -> _Point:
        """Evaluate after subtracting a step."""
        asked, u, n = self.asked, self.asked.blanked.u.copy(), self._n_free
        if asked.joint:
            u[self.variances > 0, 0] -= step[:n]
        log = float(np.clip(asked.logs[0] - step[-1], *ENDS))
        blanked, side_shares = replace(asked.blanked, u=u), asked.side_shares - step[n:-1]
        moved = replace(asked, blanked=blanked, side_shares=side_shares, logs=(log,))
        return _Point.at(moved, self.rows, self.variances)
