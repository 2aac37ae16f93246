"""What a fit of exponents is given, and what it says when it ends short."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from weigh.adjusted.moments import Design, Levels, Moments
from weigh.bins import label
from weigh.engine import Coded, Dealt, Splits
from weigh.engine import Levels as Found
from weigh.evidence import FeatureTable
from weigh.frames import FarTable, Floats, Integers, Sample, warn_caller
from weigh.newton.ball import Solution
from weigh.tally import Tally

NO_RESTRICTION = (
    "norm={} restricts nothing: the unrestricted exponents have norm {:.4g}, and are used"
)
IS_SEPARABLE = (
    "the classes are separable: the search ended where the loss fell below 0.001 bits, so the norm "
    "{:.4g} is a property of that rule; a number for norm sets it"
)
RUNNING = (
    "no finite exponents have the least loss: some levels almost separate the classes, and the "
    "search stopped at norm {:.4g}; use norm='cv' or a number, or raise smoothing"
)
STOPPED = (
    "the exponents were not found to full precision (relative gradient {:.1e}); raise smoothing, "
    "or use norm='cv' or a smaller norm"
)

RARE = (
    "class {} has {} rows, fewer than the {} folds that choose the norm, so its probabilities may "
    "be worse than naive Bayes's: compare with EvidenceNB, or set norm to a number"
)

Naive = tuple[Sequence[FeatureTable], Floats]
"""Naive Bayes: the tables, and what the totals start from."""


@dataclass(frozen=True)
class Training:
    """Rows as levels, and the norm that a learner asks for.

    `whole` holds the levels and counts of all rows, `parts` those of the rows that each split
    learns from; there are none where the tables of all rows serve every split.
    """

    rows: Coded
    whole: Found
    parts: tuple[Found, ...]
    roles: Integers | None
    norm: Any = "cv"
    aggregate: str = "mean"
    fit_prior: bool = False
    about: str = ""  # the class that is fitted against the rest

    @classmethod
    def of_splits(cls, splits: Splits, learner: Any) -> Training:
        """Rows whose levels and counts were found again in each split."""
        chosen = learner.norm, learner.aggregate, learner.fit_prior
        return cls(splits.rows, splits.whole, splits.parts, splits.roles, *chosen)

    @classmethod
    def of_rows(cls, rows: Coded, tally: Tally, learner: Any) -> Training:
        """Rows on the levels of all of them, in folds where the learner's norm asks for them."""
        roles, chosen = None, (learner.norm, learner.aggregate, learner.fit_prior)
        if learner.norm == "paper":
            dealt = rows.deal(learner.cv, learner.random_state)
            rows, roles = dealt.rows, dealt.roles
        return cls(rows, Found.own(tally), (), roles, *chosen)

    @property
    def class_counts(self) -> Floats:
        """The weight of each class."""
        return self.whole.tally.class_counts

    @property
    def weight_sum(self) -> float:
        """The weight of all rows."""
        return float(self.class_counts.sum())

    def levels(
        self, naive: Callable[[Tally], Naive], used: Sequence[int], of: int | None
    ) -> Levels:
        """The regression of some features, and what it is in each split.

        A split that learns from no row of a class, or of the one in question, judges nothing.
        """
        design = self._design(self.whole, naive, used)
        levels = Levels(
            self.rows, len(self.class_counts), design, tuple(used), known=self.class_counts
        )
        if self.roles is None:
            return levels
        if not self.parts:
            return levels.deal(Dealt(self.rows, self.roles))
        kept = [k for k, part in enumerate(self.parts) if _knows(part.tally, of)]
        if not kept:
            raise ValueError("no internal fold has rows on both sides; give cv fewer folds")
        folds = tuple(self._design(self.parts[k], naive, used) for k in kept)
        return levels.deal(Dealt(self.rows, self.roles[:, kept]), folds)

    def _design(self, found: Found, naive: Callable[[Tally], Naive], used: Sequence[int]) -> Design:
        tables, offset = naive(found.tally)
        spread = found.spread([table.padded for table in tables])
        columns = tuple(spread[j] for j in used)
        if self.fit_prior:
            return Design(columns, np.zeros_like(offset), offset)
        return Design(columns, offset)

    def warn(self, text: str, category: type[Warning] = ConvergenceWarning) -> None:
        """Say it of these rows' classes."""
        warn_caller(self.about + text, category)

    def converged(self, solution: Solution[Moments]) -> Solution[Moments]:
        """The solution, with a warning if it is none."""
        left = solution.residual / self.weight_sum
        if not (solution.converged or solution.stopped or left < 1e-8):
            self.warn(STOPPED.format(left))
        return solution


def warn_rare(sample: Sample, cv: Any) -> None:
    """Say which classes have so few rows that some folds cannot judge them."""
    if not isinstance(cv, int | np.integer):
        return
    far = isinstance(sample.table, FarTable)
    n_rows = sample.class_counts if far else np.bincount(sample.labels, minlength=2)
    for name, n in zip(sample.classes.tolist(), n_rows.tolist(), strict=False):
        if n < cv:
            warn_caller(RARE.format(label(name), int(n), cv), UserWarning)


def _knows(tally: Tally, of: int | None) -> bool:
    """Whether rows have every class, or one class and others."""
    counts = tally.class_counts
    if of is None:
        return bool((counts > 0).all())
    return bool(0 < counts[of] < counts.sum())
