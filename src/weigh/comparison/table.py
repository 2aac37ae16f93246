"""compare: a table, what came true, and learners."""

from __future__ import annotations

from typing import Any

from weigh.comparison.learners import read_learners
from weigh.comparison.result import Comparison
from weigh.comparison.run import Task, run_learner
from weigh.metrics.numbers import COVERAGE, check_coverage
from weigh.progress import show_progress


def compare(
    X: Any,
    y: Any,
    learners: Any = None,
    *,
    cv: Any = 5,
    sample_weight: Any = None,
    random_state: Any = 0,
    coverage: float = COVERAGE,
) -> Comparison:
    """Fit learners on the same folds, and say which one to take.

    Every row is predicted by models that have not seen it, and all measures are of these
    predictions together, but for the AUC: that is the share of pairs of the same fold that are
    ranked rightly, because models of different folds say different base rates. The difference
    between two learners is the mean of the differences of the rows, and so is its error: what is
    easy or hard about a row is so for both. The choice is the simplest learner whose loss is within
    a standard error of the least.

    Parameters
    ----------
    X : table
        Rows.
    y : array or str
        Class labels, or the name of the column of X that holds them.
    learners : list or dict, optional
        Names (`"adjusted"` or `"AdjustedNB"`), classes or estimators, also of scikit-learn; or a
        dict from a name of yours to one of these. By default every classifier of this package that
        takes two classes and more; `"recalibrated"` is `RecalibratedClassifier(EvidenceNB())`.
    cv : int, splitter or iterable, default=5
        The number of folds, or what scikit-learn takes for them.
    sample_weight : array or str, optional
        Row weights, or the name of their column; a learner that takes none fails. A weight of two
        is a row given twice, in intervals too (see `weigh.metrics.effective_weight`).
    random_state : int, RandomState or None, default=0
        Deals the folds, and goes to learners that are not given as estimators.
    coverage : float, default=0.95
        Of intervals.

    Returns
    -------
    Comparison
        Prints as a table. A learner that fails is a line with its error.

    Examples
    --------
    >>> import weigh
    >>> people = weigh.datasets.titanic()
    >>> found = weigh.compare(people, "Survived", ["evidence", "perplexed", "c44"], cv=3)
    >>> found.best, found.choice
    ('C44Classifier', 'C44Classifier')
    """
    check_coverage(coverage)
    candidates = read_learners(learners, random_state)
    task = Task.read(X, y, sample_weight, cv, random_state)
    n = len(task.splits)
    with show_progress("comparing"):
        outcomes = [
            run_learner(name, estimator, task, k * n, len(candidates) * n)
            for k, (name, estimator) in enumerate(candidates.items())
        ]
    return Comparison.of(task, outcomes, coverage)
