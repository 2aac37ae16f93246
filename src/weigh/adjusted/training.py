"""What a fit of exponents is given, and what it says when it ends short."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from weigh.adjusted.solve import Solution
from weigh.bins import Placed
from weigh.folds import Split, read_splits
from weigh.frames import Floats, Integers, Sample, warn_caller

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
    """Where each row stands in each feature, its class and weight, and which rows given it is."""

    placed: list[Placed]
    labels: Integers
    weight: Floats
    kept: np.ndarray[Any, np.dtype[np.bool_]]
    cv: Any
    random_state: Any
    about: str = ""  # the class that is fitted against the rest

    @classmethod
    def of(cls, sample: Sample, placed: list[Placed], learner: Any) -> Training:
        """The rows of a sample, and the folds that a learner asks for."""
        weight = np.ones(len(sample.labels)) if sample.weight is None else sample.weight
        cv = learner.cv
        if isinstance(cv, Iterable) and not hasattr(cv, "split"):
            cv = [*cv]  # splits that can be had only once
        return cls(placed, sample.labels, weight, sample.kept, cv, learner.random_state)

    def splits(self, labels: Integers) -> list[Split]:
        """The internal folds, dealt by these labels."""
        return read_splits(self.cv, labels, self.kept, self.random_state)

    def warn(self, text: str, category: type[Warning] = ConvergenceWarning) -> None:
        """Say it of these rows' classes."""
        warn_caller(self.about + text, category)

    def converged(self, solution: Solution) -> Solution:
        """The solution, with a warning if it is none."""
        if not (solution.converged or solution.separable or solution.residual < 1e-8):
            self.warn(STOPPED.format(solution.residual))
        return solution
