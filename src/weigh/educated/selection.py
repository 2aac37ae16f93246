"""Choose the pairs of features that a fit keeps.

1. A score test ranks all pairs, each with its best cut points (`weigh.educated.pairs`).
2. The prior odds of a pair are one to d, with d the number of columns. So pairs whose evidence is
   above ln(d) nats are fitted, together with all other tables.
3. Of these, the pairs are kept that together hold most of the variance of all pairs, or whose
   removal alone would cost more than one nat. The model is fitted again with them. For classes,
   all are kept if the loss then rises by more than one nat for each pair that is dropped.
4. The fit with pairs replaces the one without only if its leave-one-out loss is lower: by more than
   its sampling error, and by one nat for each pair.

The evidence of step 2 assumes that the variance of a row is known. Counts and amounts often vary
more in some rows than in others, and then the largest evidence is chance. So for a numeric target,
as many pairs that one half of the rows ranks first must also gain in the other half, unless few
rows differ.

The score test misses two cases. Many weak pairs can help together although none has enough
evidence. And where the tables alone leave rows nearly certain, all slopes are close to zero and the
test has no power. So the first pairs of the ranking are also fitted if pairs that rank first in one
half of the rows do well in the other half. They must pass step 4 as well. Because they were chosen
among many, the rows that chose them would overrate them: each half of the rows ranks the pairs, and
the other half must gain. No sampling error is asked for there: half of the rows choose worse than
all, so the gain of many weak pairs is understated. Where rows are nearly certain, pairs must also
remove a quarter of the remaining loss, and more than one nat in all. A gain of three standard
errors, over all rows and in the other half, may be smaller than that, and than one nat a pair.

A second round ranks the other pairs by what the first fit with pairs leaves, and adds them by the
same steps. It must be better than the first. If all pairs are few enough to be fitted together,
further rounds follow while the fit improves, up to the one that fits them all.

Numbers have many weak interactions more often than classes. So for a numeric target the first pairs
are also fitted with one smooth prior and one scale for all of them, in place of a second round. One
scale cannot adapt to noise as forty can, so there is nothing to select: this fit is kept if it
gains one nat more than the fit of the steps above, each with the pairs of one half measured on the
other half. Where that fit has pairs, which are fewer and have passed their own test, the gain must
also exceed its sampling error.

Last, pairs of a classifier get finer cells where the rows ask for it (`weigh.educated.refinement`).

If the user asks for a number of pairs, the threshold of step 2 is not used, and the gain in the
other half must exceed its sampling error, too. Where few rows differ, the pairs that one half ranks
first may be chance, so if that fails, those of the pairs that pass step 2 are tried.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import chain
from math import comb, log

import numpy as np

from weigh.educated.acceptance import CANDIDATES, PairTest
from weigh.educated.candidates import SURE, Selected, check_named, cut_columns, fit_pairs
from weigh.educated.halves import salt
from weigh.educated.loo import LeftOutLoss
from weigh.educated.pairs import Candidate, Ways, rank_pairs
from weigh.educated.refinement import refine
from weigh.educated.solve import State
from weigh.educated.task import Task

LEAST_ROWS = 100
"""With fewer rows no pairs are searched for: they could not be told from noise."""


def select_pairs(
    task: Task, state: State, held_out: LeftOutLoss, noise: float = 1.0
) -> Selected | None:
    """Add pairs to a fit without any; None if no pair lowers the loss enough.

    `noise` is the dispersion of a numeric target.
    """
    salts = tuple(salt(counts.feature.name) for counts in task.counts)
    ways = cut_columns(task, state, salts)
    check_named(task, {part.feature.name for part in ways.plain[0]})
    if len(ways.plain[0]) < 2 or not _may_pay(task):
        return None
    few = comb(len(ways.plain[0]), 2) <= CANDIDATES
    test = PairTest(task, state, held_out, salts, noise=noise, few=few)
    search = PairSearch(test, ways)
    found = search.ask() if task.request.most is not None else search.look()
    if found and not task.target.noisy:
        found = refine(found)
    return found and found.with_gains()


@dataclass(frozen=True)
class PairSearch:
    """Look for pairs in rounds; each ranks the pairs by what the fit so far leaves."""

    test: PairTest  # of the fit without pairs
    ways: Ways

    def ask(self) -> Selected | None:
        """Fit the named pairs, or as many as the user asked for."""
        request, task = self.test.task.request, self.test.task
        *halves, ranked = self.rank(None)
        if request.named:
            return fit_pairs(
                task, [own for own in ranked if own.names in request.named], self.test.state
            )
        first, *others = (own[: request.most] for own in (ranked, *halves))
        found = self.test.accept(first, others)
        if found or not self.test.few_kinds:
            return found
        return self.test.accept_sure([], self.find_sure(self.test, first), halves)

    def look(self) -> Selected | None:
        """Add pairs in rounds while they lower the loss enough; for numbers in one, or tied."""
        rankings = self.rank(None)
        found = self.add_to(None, rankings)
        if self.test.task.target.noisy:
            *halves, ranked = (own[:CANDIDATES] for own in rankings)
            return self.test.accept_together(ranked, halves, found) or found
        return self.add_more(None, found)

    def add_more(self, before: Selected | None, found: Selected | None) -> Selected | None:
        """Further rounds after the one that made `found` from `before`."""
        while found and not self.is_last(before):
            more = self.add_to(found, self.rank(found))
            if more is None or more.held_out.mean >= found.held_out.mean:
                break
            before, found = found, more
        return found

    def is_last(self, before: Selected | None) -> bool:
        """Whether no round follows: of many pairs two are enough; or this one fitted all."""
        return self.test.beside(before).certain if self.test.few else before is not None

    def add_to(
        self, before: Selected | None, rankings: Sequence[list[Candidate]]
    ) -> Selected | None:
        """One round: the fit with further pairs; None if it is not better."""
        *halves, ranked = rankings
        have = list(before.candidates) if before else []
        test = self.test.beside(before)
        sure = self.find_sure(test, ranked)
        found = test.accept_sure(have, sure, halves)
        if test.tries_all or _agree(halves, sure):
            first, *others = ([*have, *own[:CANDIDATES]] for own in (ranked, *halves))
            found = replace(test, before=found or before).accept(first, others) or found
        return found

    def find_sure(self, test: PairTest, ranked: Sequence[Candidate]) -> list[Candidate]:
        """The first pairs that have enough evidence alone; none where rows are nearly certain."""
        least = log(len(self.ways.plain[0]))
        return [] if test.certain else [own for own in ranked if own.nats > least][:CANDIDATES]

    def rank(self, before: Selected | None) -> list[list[Candidate]]:
        """Rank the pairs that a fit does not have yet: for each half, and for all rows."""
        task, state = self.test.task, before.state if before else self.test.state
        view = state.problem.view(state.weights)
        in_nats = replace(view, target=view.target.dispersed(self.test.noise))
        known = before.names if before else set()
        ranked = rank_pairs(self.ways, task.rows, in_nats, self.test.salts)
        return [[own for own in ranking if own.names not in known] for ranking in ranked]


def _agree(halves: list[list[Candidate]], sure: list[Candidate]) -> bool:
    """Whether pairs that one half of the rows ranks first do well in the other half.

    Tables with weights of one half must lower the loss of the other half, by more than noise would.
    Pairs that have enough evidence alone are left out. If there are no more than `CANDIDATES`
    pairs, none is chosen, and the answer is no.
    """
    known = {own.names for own in sure}
    ranked = [[own for own in half if own.names not in known] for half in halves]
    if len(ranked[0]) <= CANDIDATES:
        return False
    saved = dict.fromkeys((own.names for own in chain(*ranked)), 0.0)
    for own in chain(*(half[:CANDIDATES] for half in ranked)):
        saved[own.names] += own.saved  # a pair that both halves rank first says the same twice
    each = np.array([*saved.values()])
    return bool(each.sum() > SURE * np.sqrt((each**2).sum()))


def _may_pay(task: Task) -> bool:
    n_rows = max(task.rows.n_rows, task.target.n_rows)
    return task.request.most is not None or n_rows >= LEAST_ROWS
