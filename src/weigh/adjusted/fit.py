"""A fit of exponents: what it is given, the solution, and its tables."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from weigh.adjusted.moments import Design, Levels, Moments, Problem
from weigh.adjusted.polytomous import Polytomous
from weigh.adjusted.search import NormPath, choose_norm
from weigh.adjusted.solve import Logistic, Path
from weigh.bins import Placed, label
from weigh.engine import Block, Coded, Dealt, Splits, Sums, link, one_blas_thread, total_placed
from weigh.engine import Levels as Found
from weigh.errors import warn_caller
from weigh.evidence import (
    BOUND,
    Added,
    FeatureTable,
    Smoothing,
    contrast,
    scale_table,
    weigh_counts,
    weigh_tally,
)
from weigh.frames import FarTable, Floats, Integers, Sample
from weigh.newton.ball import Solution
from weigh.tally import Tally

SILENT = 1e-12
"""Weights below this are none."""

WEAK, NONE = -0.2, 1e-6
"""Exponents above the first may be below 0 by chance; above minus the second they are not."""


@dataclass(frozen=True)
class Reversal:
    """A feature whose exponent is negative, for one class (None: of two)."""

    feature: str
    exponent: float
    pos_label: Any = None

    def __str__(self) -> str:
        where = "" if self.pos_label is None else f" for {label(self.pos_label)}"
        weak = "; so small a reversal may be chance" if self.exponent > WEAK else ""
        return (
            f"{self.feature}{where}: exponent {self.exponent:.2f}. Alone its levels speak one way; "
            f"beside the other features they speak the other way (Simpson's paradox){weak}"
        )


def against_rest(tally: Tally, of: int, smoothing: Smoothing) -> tuple[list[FeatureTable], Floats]:
    """Naive Bayes of one class against the rest: the tables, and what a total starts from."""
    added = Added.read(smoothing, tally.class_counts.sum(), 2)
    rate = np.clip(tally.class_counts[of] / tally.class_counts.sum(), BOUND, 1 - BOUND)
    tables = [weigh_counts(counts.against_rest(of), added) for counts in tally.tables]
    return tables, np.array([np.log(rate / (1 - rate))])


def of_all(tally: Tally, smoothing: Smoothing) -> tuple[list[FeatureTable], Floats]:
    """Naive Bayes of all classes: the tables, and what the totals start from."""
    naive = weigh_tally(tally, smoothing)
    return [*naive], naive.prior_row


def centre(table: FeatureTable, exponents: Floats, classes: Any) -> FeatureTable:
    """Weights times exponents, centred over the classes as all weights are.

    w_k = a_k L_k - mean_c a_c L_c,  L_c = ln P(v|c) - mean ln P(v|.), so errors follow from those
    of ln P(v|c).
    """
    naming = scale_by_exponents(table, exponents, classes.tolist())
    n_classes = len(exponents)
    centring = np.eye(n_classes) - 1 / n_classes
    by_log = centring @ (exponents[:, None] * centring)
    errors = None if table.variances is None else np.sqrt(table.variances @ (by_log**2).T)
    weights = contrast(naming.by_class)
    return replace(naming, by_class=weights, variances=None, known_errors=errors)


def sum_loss(block: Block, padded: Sequence[Floats], prior: Floats) -> Sums:
    """The loss in nats of classes each against the rest, normalised."""
    placed = [
        Placed(codes, np.arange(len(w))) for codes, w in zip(block.codes, padded, strict=True)
    ]
    p = link(total_placed(placed, padded, prior, len(block)), "ovr")
    logs = np.log(np.maximum(p[np.arange(len(p)), block.labels], 1e-300))
    return Sums((np.asarray(-(logs.sum() if block.weight is None else block.weight @ logs)),))


def by_feature(columns: list[list[Any]]) -> list[Floats]:
    """Columns by class and feature as one matrix per feature."""
    return [np.column_stack(column) for column in zip(*columns, strict=True)]


def active_features(columns: list[Floats]) -> list[int]:
    """The features that tell anything; the others get exponent 0 and stay out of the norm."""
    return [j for j, weights in enumerate(columns) if np.abs(weights).max(initial=0) > SILENT]


def scale_by_exponents(table: FeatureTable, exponents: Floats, classes: list[Any]) -> FeatureTable:
    """The table times its exponents; a reversed feature says so."""
    negative = [label(c) for c, a in zip(classes, exponents, strict=False) if a < -NONE]
    note = f"reversed for {', '.join(negative)}" if len(exponents) > 1 else "reversed"
    return scale_table(table, exponents, note if negative else "")


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
            raise ValueError(
                "no inner fold has both training and hold-out rows; give cv fewer folds"
            )
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


SEPARABLE = 0.001 * np.log(2)
"""Separable classes end the paper's search below this loss."""

TOL = 1e-10


@dataclass(frozen=True)
class Fit:
    """The exponents of one problem, that of the prior, and how they were found."""

    exponents: Floats
    norm: float
    loss: float
    path: NormPath | None
    prior: Any = 1.0

    @classmethod
    def of(cls, solution: Solution[Moments], path: NormPath | None = None) -> Fit:
        """What a search found."""
        return cls(solution.at, solution.norm, solution.here.loss, path)


def fit_logistic(rows: Training, naive: Callable[[Tally], Naive], of: int) -> Fit:
    """Exponents of one class against the rest; 0 for a feature that tells nothing."""
    tables, _ = naive(rows.whole.tally)
    active = active_features([table.by_class for table in tables])
    found = fit_problem(Logistic(rows.levels(naive, active, of), of=of), rows)
    exponents = np.zeros(len(tables))
    exponents[active] = found.exponents[: len(active)]
    prior = float(found.exponents[-1]) if rows.fit_prior else 1.0
    return replace(found, exponents=exponents, prior=prior)


def fit_jointly(rows: Training, naive: Callable[[Tally], Naive], shared: bool) -> Fit:
    """Exponents of all classes together, by class and feature; or the same for all classes."""
    tables, _ = naive(rows.whole.tally)
    active = active_features([table.by_class for table in tables])
    found = fit_problem(Polytomous(rows.levels(naive, active, None), shared=shared), rows)
    n_classes, n_columns = len(rows.class_counts), len(active) + rows.fit_prior
    by_class = found.exponents.reshape(1 if shared else n_classes, n_columns)
    exponents = np.zeros((n_classes, len(tables)))
    exponents[:, active] = by_class[:, : len(active)]
    prior = np.ones(n_classes)
    prior[:] = by_class[:, -1] if rows.fit_prior else 1.0
    return replace(found, exponents=exponents, prior=prior)


def fit_problem(problem: Problem, rows: Training) -> Fit:
    """Exponents of the norm that is asked for."""
    with one_blas_thread():
        path = Path(problem, TOL)
        if rows.norm is not None and not isinstance(rows.norm, str):
            return _fit_norm(path, rows)
        free = path.solve(separable=SEPARABLE)
        if free.stopped:
            free = path.full_steps(SEPARABLE) or free
    if rows.norm is None:
        if free.stopped:
            rows.warn(IS_SEPARABLE.format(free.norm))
        elif free.running:
            rows.warn(RUNNING.format(free.norm))
        return Fit.of(rows.converged(free))
    found = choose_norm(problem, free, rows.aggregate, as_printed=rows.norm == "paper")
    if found.chosen >= free.norm:
        return Fit.of(rows.converged(free), found)
    with one_blas_thread():
        return Fit.of(rows.converged(path.solve(found.chosen)), found)


def _fit_norm(path: Path, rows: Training) -> Fit:
    norm = float(rows.norm)
    solution = path.solve(norm)
    free = solution.multiplier == 0 and solution.norm < norm * (1 - 1e-6)
    if free and solution.running:
        rows.warn(RUNNING.format(solution.norm))
    elif free:
        rows.warn(NO_RESTRICTION.format(rows.norm, solution.norm), UserWarning)
    return Fit.of(rows.converged(solution))
