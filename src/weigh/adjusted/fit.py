"""Fit the exponents of one problem, and multiply the tables of naive Bayes by them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from weigh.adjusted.design import Design, DesignMatrix, Problem, SummedMoments
from weigh.adjusted.solve import NormPath, OneAgainstRest, Path, Polytomous, choose_norm
from weigh.arrays import Floats, Integers
from weigh.bins import Placed, label
from weigh.engine import (
    Block,
    Coded,
    Dealt,
    Levels,
    Splits,
    Sums,
    link,
    one_blas_thread,
    total_placed,
)
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
from weigh.frames import FarTable, Sample
from weigh.newton.ball import Solution
from weigh.tally import Tally

MIN_WEIGHT = 1e-12
"""Weights up to this, in nats, count as 0."""

WEAK_REVERSAL, ZERO_EXPONENT = -0.2, 1e-6
"""Exponents from the first to 0 may be negative by chance; absolute values up to the second are 0.
"""


@dataclass(frozen=True)
class Reversal:
    """A feature whose exponent is negative; `pos_label` is None if there are two classes."""

    feature: str
    exponent: float
    pos_label: Any = None

    def __str__(self) -> str:
        where = "" if self.pos_label is None else f" for {label(self.pos_label)}"
        weak = "; so small a reversal may be due to chance" if self.exponent > WEAK_REVERSAL else ""
        return (
            f"{self.feature}{where}: exponent {self.exponent:.2f}. The effect reverses once the "
            f"other features are included (Simpson's paradox){weak}"
        )


def against_rest(tally: Tally, of: int, smoothing: Smoothing) -> tuple[list[FeatureTable], Floats]:
    """Naive Bayes of one class against the rest: its tables and its prior."""
    added = Added.read(smoothing, tally.class_counts.sum(), 2)
    rate = np.clip(tally.class_counts[of] / tally.class_counts.sum(), BOUND, 1 - BOUND)
    tables = [weigh_counts(counts.against_rest(of), added) for counts in tally.tables]
    return tables, np.array([np.log(rate / (1 - rate))])


def all_classes(tally: Tally, smoothing: Smoothing) -> tuple[list[FeatureTable], Floats]:
    """Naive Bayes of all classes: its tables and its prior."""
    naive = weigh_tally(tally, smoothing)
    return [*naive], naive.prior_row


def centre(table: FeatureTable, exponents: Floats, classes: Any) -> FeatureTable:
    """Multiply weights by exponents and centre them over the classes.

    w_k = a_k L_k - mean_c a_c L_c, where L_c = ln P(v|c) - mean ln P(v|.). This is linear in ln
    P(v|c), so the standard errors of w_k follow from those of ln P(v|c).
    """
    naming = scale_by_exponents(table, exponents, classes.tolist())
    n_classes = len(exponents)
    centring = np.eye(n_classes) - 1 / n_classes
    by_log = centring @ (exponents[:, None] * centring)
    errors = None if table.variances is None else np.sqrt(table.variances @ (by_log**2).T)
    weights = contrast(naming.by_class)
    return replace(naming, by_class=weights, variances=None, known_errors=errors)


def sum_loss(block: Block, padded: Sequence[Floats], prior: Floats) -> Sums:
    """Log loss in nats, summed over a block, of the normalised one-against-rest probabilities."""
    placed = [
        Placed(codes, np.arange(len(w))) for codes, w in zip(block.codes, padded, strict=True)
    ]
    p = link(total_placed(placed, padded, prior, len(block)), "ovr")
    logs = np.log(np.maximum(p[np.arange(len(p)), block.labels], 1e-300))
    return Sums((np.asarray(-(logs.sum() if block.weight is None else block.weight @ logs)),))


def by_feature(columns: list[list[Any]]) -> list[Floats]:
    """Turn columns given by class and feature into one matrix per feature."""
    return [np.column_stack(column) for column in zip(*columns, strict=True)]


def active_features(columns: list[Floats]) -> list[int]:
    """Features with a weight other than 0; the others get exponent 0 and do not enter the norm."""
    return [j for j, weights in enumerate(columns) if np.abs(weights).max(initial=0) > MIN_WEIGHT]


def scale_by_exponents(table: FeatureTable, exponents: Floats, classes: list[Any]) -> FeatureTable:
    """Multiply a table by its exponents; a negative exponent adds the note "reversed"."""
    negative = [label(c) for c, a in zip(classes, exponents, strict=False) if a < -ZERO_EXPONENT]
    note = f"reversed for {', '.join(negative)}" if len(exponents) > 1 else "reversed"
    return scale_table(table, exponents, note if negative else "")


NO_RESTRICTION = (
    "norm={} has no effect: the unrestricted exponents, which are used, have norm {:.4g}; give "
    "norm a smaller number"
)
IS_SEPARABLE = (
    "the classes are separable, so the loss has no finite minimum: the search ended at norm "
    "{:.4g}, where the loss fell below 0.001 bits; set norm to a number, or use norm='cv'"
)
RUNNING = (
    "some levels almost separate the classes, so the loss has no finite minimum: the search "
    "stopped at norm {:.4g}; use norm='cv' or a number, or raise smoothing"
)
STOPPED = (
    "the search for the exponents did not converge (relative gradient {:.1e}, expected below "
    "1e-08); raise smoothing, or use norm='cv' or a smaller norm"
)

RARE = (
    "class {} has {} rows, fewer than the {} folds that choose the norm, so its probabilities may "
    "be worse than naive Bayes's: compare with EvidenceNB, or set norm to a number"
)

Naive = tuple[Sequence[FeatureTable], Floats]
"""Tables and prior of naive Bayes."""


@dataclass(frozen=True)
class Training:
    """Coded training rows, and the parameters of the fit.

    `whole` holds the levels and counts of all rows, `parts` those of each split's training rows.
    `parts` is empty if every split uses the tables of all rows.
    """

    rows: Coded
    whole: Levels
    parts: tuple[Levels, ...]
    roles: Integers | None
    norm: Any = "cv"
    aggregate: str = "mean"
    fit_prior: bool = False
    about: str = ""  # the class that is fitted against the rest

    @classmethod
    def of_splits(cls, splits: Splits, learner: Any) -> Training:
        """Make it from splits, each with levels and counts of its own training rows."""
        chosen = learner.norm, learner.aggregate, learner.fit_prior
        return cls(splits.rows, splits.whole, splits.parts, splits.roles, *chosen)

    @classmethod
    def of_rows(cls, rows: Coded, tally: Tally, learner: Any) -> Training:
        """Make it from rows with one set of levels, assigned to folds if norm="paper"."""
        roles, chosen = None, (learner.norm, learner.aggregate, learner.fit_prior)
        if learner.norm == "paper":
            dealt = rows.deal(learner.cv, learner.random_state)
            rows, roles = dealt.rows, dealt.roles
        return cls(rows, Levels.own(tally), (), roles, *chosen)

    @property
    def class_counts(self) -> Floats:
        """Weight of the rows of each class."""
        return self.whole.tally.class_counts

    @property
    def weight_sum(self) -> float:
        """Weight of all rows."""
        return float(self.class_counts.sum())

    def matrix(
        self, naive: Callable[[Tally], Naive], used: Sequence[int], of: int | None
    ) -> DesignMatrix:
        """Design matrix of the `used` features, with a design for each split.

        A split is left out if a class does not occur in its training rows. If `of` is given, it is
        left out only if this class, or every other class, does not occur.
        """
        design = self._design(self.whole, naive, used)
        matrix = DesignMatrix(
            self.rows,
            len(self.class_counts),
            design,
            tuple(used),
            known_class_weights=self.class_counts,
        )
        if self.roles is None:
            return matrix
        if not self.parts:
            return matrix.deal(Dealt(self.rows, self.roles))
        kept = [k for k, part in enumerate(self.parts) if _has_classes(part.tally, of)]
        if not kept:
            raise ValueError(
                "no fold has every class in its training rows; give cv fewer folds, or the class "
                "more rows"
            )
        folds = tuple(self._design(self.parts[k], naive, used) for k in kept)
        return matrix.deal(Dealt(self.rows, self.roles[:, kept]), folds)

    def _design(
        self, levels: Levels, naive: Callable[[Tally], Naive], used: Sequence[int]
    ) -> Design:
        tables, offset = naive(levels.tally)
        spread = levels.spread([table.padded for table in tables])
        columns = tuple(spread[j] for j in used)
        if self.fit_prior:
            return Design(columns, np.zeros_like(offset), offset)
        return Design(columns, offset)

    def warn(self, text: str, category: type[Warning] = ConvergenceWarning) -> None:
        """Warn the caller of `fit`, naming the class that is fitted."""
        warn_caller(self.about + text, category)

    def check_converged(self, solution: Solution[SummedMoments]) -> Solution[SummedMoments]:
        """Return the solution; warn if it did not converge."""
        left = solution.residual / self.weight_sum
        if not (solution.converged or solution.stopped or left < 1e-8):
            self.warn(STOPPED.format(left))
        return solution


def warn_rare(sample: Sample, cv: Any) -> None:
    """Warn of each class with fewer rows than folds."""
    if not isinstance(cv, int | np.integer):
        return
    far = isinstance(sample.table, FarTable)
    n_rows = sample.class_counts if far else np.bincount(sample.labels, minlength=2)
    for name, n in zip(sample.classes.tolist(), n_rows.tolist(), strict=False):
        if n < cv:
            warn_caller(RARE.format(label(name), int(n), cv), UserWarning)


def _has_classes(tally: Tally, of: int | None) -> bool:
    """Whether the rows have every class; if `of` is given, this class and at least one other."""
    counts = tally.class_counts
    if of is None:
        return bool((counts > 0).all())
    return bool(0 < counts[of] < counts.sum())


SEPARABLE = 0.001 * np.log(2)
"""If no row is misclassified, the search ends below this mean loss in nats (0.001 bits)."""

TOL = 1e-10


@dataclass(frozen=True)
class Fit:
    """Exponents of one problem and of its prior, their norm and loss, and the norms tried."""

    exponents: Floats
    norm: float
    loss: float
    path: NormPath | None
    prior: Any = 1.0

    @classmethod
    def of(cls, solution: Solution[SummedMoments], path: NormPath | None = None) -> Fit:
        """Make a fit from the solution of a search."""
        return cls(solution.at, solution.norm, solution.here.loss, path)


def fit_exponents(
    rows: Training, naive: Callable[[Tally], Naive], of: int | None = None, shared: bool = False
) -> Fit:
    """Fit the exponents of class `of` against the rest, or those of all classes jointly.

    Jointly there is one per class and feature, or with `shared` one per feature. The exponent of a
    feature without information is 0.
    """
    tables, _ = naive(rows.whole.tally)
    active = active_features([table.by_class for table in tables])
    matrix = rows.matrix(naive, active, of)
    alone, n = of is not None, len(rows.class_counts)
    problem = Polytomous(matrix, shared=shared) if of is None else OneAgainstRest(matrix, of=of)
    fit = fit_problem(problem, rows)
    own = fit.exponents.reshape(1 if alone or shared else n, len(active) + rows.fit_prior)
    exponents, prior = np.zeros((1 if alone else n, len(tables))), np.ones(1 if alone else n)
    exponents[:, active] = own[:, : len(active)]
    if rows.fit_prior:
        prior[:] = own[:, -1]
    if alone:
        return replace(fit, exponents=exponents[0], prior=float(prior[0]))
    return replace(fit, exponents=exponents, prior=prior)


def fit_problem(problem: Problem, rows: Training) -> Fit:
    """Fit exponents with a norm that is given, chosen by cross-validation, or not limited."""
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
        return Fit.of(rows.check_converged(free))
    norms = choose_norm(problem, free, rows.aggregate, as_printed=rows.norm == "paper")
    if norms.chosen >= free.norm:
        return Fit.of(rows.check_converged(free), norms)
    with one_blas_thread():
        return Fit.of(rows.check_converged(path.solve(norms.chosen)), norms)


def _fit_norm(path: Path, rows: Training) -> Fit:
    norm = float(rows.norm)
    solution = path.solve(norm)
    free = solution.multiplier == 0 and solution.norm < norm * (1 - 1e-6)
    if free and solution.running:
        rows.warn(RUNNING.format(solution.norm))
    elif free:
        rows.warn(NO_RESTRICTION.format(rows.norm, solution.norm), UserWarning)
    return Fit.of(rows.check_converged(solution))
