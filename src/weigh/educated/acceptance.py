"""Decide whether a fit with pairs is better than the one before it.

Both fits predict each row without that row (`weigh.educated.loo`). The gain of a fit must exceed
its sampling error and one nat for each pair. Pairs chosen among many are overrated by the rows that
chose them. So where few of many are fitted, each half of the rows chooses pairs, and the gain is
measured on the other half. `weigh.educated.selection` says which pairs must pass which test.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import prod

import numpy as np

from weigh.educated.candidates import NATS, SURE, Selected, fit_like, fit_pairs
from weigh.educated.design import weigh_rows
from weigh.educated.halves import HALVES, halve
from weigh.educated.loo import (
    CERTAIN,
    SEPARABLE,
    LeaveOneOut,
    LeftOutLoss,
    is_certain,
    pick,
    share_of,
)
from weigh.educated.pairs import Candidate
from weigh.educated.solve import State
from weigh.educated.task import Task
from weigh.engine import Block, Sums
from weigh.pickling import by_fields

CANDIDATES = 40
"""Largest number of pairs that one round adds to a fit, and that a fit keeps."""

CLEAR = 3.0
"""Gain in standard errors, cross-validated by halves, that may be less than one nat a pair."""

FEW_KINDS = 64
"""Up to this number of different rows, halves may be too unlike to judge each other's pairs."""

LEFT = 0.25
"""Least gain where rows are nearly certain, as a share of the remaining loss."""


@dataclass(frozen=True)
class PairTest:
    """Decide whether a fit with pairs is better than one without, or with fewer (`before`)."""

    task: Task
    state: State  # of the fit without pairs
    held_out: LeftOutLoss  # of the fit of the last round
    salts: tuple[int, ...]
    before: Selected | None = None
    noise: float = 1.0  # the dispersion of a numeric target
    few: bool = False  # whether all pairs can be fitted together

    def beside(self, before: Selected | None) -> PairTest:
        """The test of a further round."""
        return replace(self, before=before, held_out=before.held_out) if before else self

    @cached_property
    def certain(self) -> bool:
        """Whether the fit of the last round predicts nearly all rows with certainty.

        If all pairs are fitted then, none is chosen, so nearly separable classes are enough.
        """
        left = SEPARABLE if self.few else CERTAIN
        return is_certain(self.task.target, self.held_out, left)

    @property
    def tries_all(self) -> bool:
        """Whether the first pairs are fitted in any case, because no test can rank them.

        Of several classes only if these are all pairs: such a fit takes several times as long.
        """
        return self.certain and (self.few or self.task.target.n_totals == 1)

    @cached_property
    def few_kinds(self) -> bool:
        """Whether so few different rows are possible that their halves may be unlike each other."""
        return prod(len(own.counts) for own in self.task.counts[: self.task.n_coded]) <= FEW_KINDS

    def accept(
        self, first: Sequence[Candidate], halves: Sequence[Sequence[Candidate]] = ()
    ) -> Selected | None:
        """Fit with some pairs; None if they do not lower the loss enough.

        With `halves`, the pairs chosen by each half of the rows, the gain is cross-validated. Then
        one that is `CLEAR` may be smaller, except for numbers, which `accept_together` tries too;
        and of a number of pairs that the user asked for, any gain beyond the sampling error counts.
        """
        task, asked = self.task, self.task.request.most is not None
        found = fit_pairs(task, first, self.state)
        if found is None:
            return None
        saved, error = self._compare([found.state] * HALVES)
        if not saved > SURE * error:
            return None
        kept = [*range(len(found.task.pairs))] if asked else found.find_earning(CANDIDATES)
        enough = (asked and halves) or saved > self._least(len(kept))
        clear = halves and not task.target.noisy and saved > CLEAR * error
        if not (enough or clear):
            return None
        if halves:
            saved, error = self._compare([fit_like(found, task, own) for own in halves])
            least = (SURE * error if asked else 0.0) if enough else max(CLEAR * error, NATS)
            if saved <= least:
                return None
        return self._drop(found, kept)

    def _drop(self, found: Selected, kept: Sequence[int]) -> Selected:
        """Fit again with some pairs, unless those that are dropped save a nat each together."""
        fewer, n_dropped = found.keep(kept), len(found.candidates) - len(kept)
        if len(found.candidates) > CANDIDATES or self.task.target.noisy:
            return fewer
        risen = (fewer.held_out.mean - found.held_out.mean) * self.task.target.n_rows
        return found if risen > NATS * n_dropped else fewer

    def accept_sure(
        self,
        have: Sequence[Candidate],
        sure: Sequence[Candidate],
        halves: Sequence[list[Candidate]],
    ) -> Selected | None:
        """Fit with pairs that have enough evidence alone; of numbers, halves must gain, too."""
        found, doubtful = None, self.task.target.noisy and not self.few_kinds
        if sure:
            found = self.accept([*have, *sure])
        return None if found and doubtful and not self.holds(found, halves) else found

    def holds(self, fit: Selected, halves: Sequence[list[Candidate]]) -> bool:
        """Whether as many pairs, chosen by one half of the rows, also gain in the other half."""
        return self._compare(self._cross(fit, halves, len(fit.task.pairs)))[0] > 0

    def accept_together(
        self, ranked: list[Candidate], halves: list[list[Candidate]], few: Selected | None
    ) -> Selected | None:
        """Fit the first pairs with one scale for all; None if a `few` pairs, or none, do better."""
        task = replace(self.task, tied=True)
        found = fit_pairs(task, ranked, self.state)
        if found is None:
            return None
        many = self._cross(found, halves)
        if few is None:
            return found if self._compare(many)[0] > NATS else None
        others = self._cross(few, halves, len(few.task.pairs))
        return found if self._save(many, others) > NATS else None

    def _cross(
        self, fit: Selected, halves: Sequence[list[Candidate]], n_pairs: int | None = None
    ) -> list[State]:
        """Fits with the scales of a fit and the first pairs by each half."""
        task = replace(self.task, tied=fit.task.tied)
        return [fit_like(fit, task, own[:n_pairs]) for own in halves]

    def _least(self, n_pairs: int) -> float:
        """Least gain required of `n_pairs` pairs, in nats over all rows."""
        if self.certain:
            return max(LEFT * self.held_out.mean * self.task.target.n_rows, NATS)
        return NATS * n_pairs

    def _save(self, fits: list[State], others: list[State] | None = None) -> float:
        """Gain in leave-one-out loss over all rows, in nats; zero if within sampling error.

        `others` are the fits to be better than, one by each half; without, that of the last round.
        """
        saved, error = self._compare(fits, others)
        return saved if saved > SURE * error else 0.0

    def _compare(self, fits: list[State], others: list[State] | None = None) -> tuple[float, float]:
        """Gain in leave-one-out loss over all rows, in nats, and its standard error."""
        rows = self.task.rows
        before = others or [self.before.state if self.before else self.state]
        one, other = (tuple(map(LeaveOneOut.of, own)) for own in (before, fits))
        asked = CrossedGains(one, other, self.salts, share_of(rows))
        weight, total, square = rows.sum(asked).arrays[0]
        mean = float(total / weight)
        error = float(np.sqrt(max(square / weight - mean**2, 0.0) / weight))
        in_nats = self.task.target.n_rows / self.noise
        return mean * in_nats, error * in_nats


@dataclass(frozen=True)
class CrossedGains:
    """Sums over rows of weight, gain in loss and squared gain, cross-validated by halves.

    The gain of a row is that of the fit whose pairs were ranked by the other half of the rows.
    """

    before: tuple[LeaveOneOut, ...]  # one fit, or two as for `after`
    after: tuple[LeaveOneOut, ...]  # of the pairs that the first half has ranked, and the second
    salts: tuple[int, ...]
    every: int

    __reduce__ = by_fields

    def __call__(self, block: Block) -> Sums:
        """Compute the sums from evenly spaced rows of a block."""
        some, numbers = pick(block, self.every)
        ranked_by_other = 1 - halve(some, self.salts)
        losses = []
        for fits in (self.before, self.after):
            each = np.array([fit.losses(some, numbers) for fit in fits])
            losses.append(each[ranked_by_other % len(fits), np.arange(len(some))])
        saved = losses[0] - losses[1]
        weight = weigh_rows(some)
        return Sums((np.array([weight.sum(), saved @ weight, saved**2 @ weight]),))
