"""What a fit of exponents is given, and what it says when it ends short."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from sklearn.exceptions import ConvergenceWarning

from weigh.adjusted.moments import Moments
from weigh.engine import Coded, Dealt
from weigh.frames import Floats, warn_caller
from weigh.newton.ball import Solution

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


@dataclass(frozen=True)
class Training:
    """Rows as levels, the weight of each class, and the norm and folds that a learner asks for."""

    rows: Coded
    class_counts: Floats
    cv: Any
    random_state: Any
    norm: Any = "cv"
    aggregate: str = "median"
    fit_prior: bool = False
    about: str = ""  # the class that is fitted against the rest

    @classmethod
    def of(cls, rows: Coded, class_counts: Floats, learner: Any) -> Training:
        """What a learner was given."""
        cv = learner.cv
        if isinstance(cv, Iterable) and not hasattr(cv, "split"):
            cv = [*cv]  # splits that can be had only once
        return cls(
            rows,
            class_counts,
            cv,
            learner.random_state,
            learner.norm,
            learner.aggregate,
            learner.fit_prior,
        )

    @property
    def weight_sum(self) -> float:
        """The weight of all rows."""
        return float(self.class_counts.sum())

    def deal(self, of: int | None) -> Dealt:
        """The internal folds, dealt by class, or by one against the rest."""
        return self.rows.deal(self.cv, self.random_state, of)

    def warn(self, text: str, category: type[Warning] = ConvergenceWarning) -> None:
        """Say it of these rows' classes."""
        warn_caller(self.about + text, category)

    def converged(self, solution: Solution[Moments]) -> Solution[Moments]:
        """The solution, with a warning if it is none."""
        left = solution.residual / self.weight_sum
        if not (solution.converged or solution.stopped or left < 1e-8):
            self.warn(STOPPED.format(left))
        return solution
