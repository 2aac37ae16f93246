"""`Comparison`: measures of learners, their differences, and a recommendation."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone

from weigh.comparison.differences import BITS, Differences, RowScores, choose, subtract
from weigh.comparison.number_task import (
    NumberDifferences,
    NumberMeasures,
    NumberScores,
    NumberTask,
    are_regressors,
    measure_numbers,
    subtract_numbers,
)
from weigh.comparison.run import Outcome, Task, read_learners, run_learners
from weigh.comparison.show import draw_comparison, page
from weigh.evaluation.measures import Measures, Options, measure
from weigh.evaluation.multiclass import ManyMeasures, measure_many
from weigh.evaluation.page import Page
from weigh.frames import Floats, Value, build, canonical
from weigh.layout import Shown
from weigh.metrics import Scored
from weigh.metrics.numbers import COVERAGE, check_coverage, columns_of, flatten, plain
from weigh.plot.axes import Drawing
from weigh.progress import show_progress


@dataclass(frozen=True, eq=False)
class Entry:
    """One learner: its measures on hold-out rows, or the error if it failed."""

    name: str
    estimator: Any = field(repr=False)
    measures: Measures | ManyMeasures | NumberMeasures | None
    differences: Differences | NumberDifferences | None
    fit_seconds: float
    predict_seconds: float
    warnings: tuple[str, ...] = ()
    error: str = ""

    @property
    def loss(self) -> float:
        """Mean loss, in bits per row for classifiers; infinite if the learner failed."""
        return np.inf if self.measures is None else self.measures.loss.value

    def to_dict(self) -> dict[str, Any]:
        """Plain data, ready for JSON."""
        names = ("name", "measures", "differences", "fit_seconds", "predict_seconds")
        shown = {name: plain(getattr(self, name)) for name in names}
        return shown | {"warnings": [*self.warnings], "error": self.error}


@dataclass(frozen=True, eq=False, repr=False)
class Comparison(Shown):
    """Result of `compare`: learners sorted by loss; those that failed come last.

    It prints as a table, shows as HTML in notebooks, and `to_dict()` is plain data for JSON.

    Attributes
    ----------
    entries : tuple of Entry
        `measures`, `differences` from the best, seconds, and the error of one that failed.
    best : str or None
        The learner of least loss.
    choice : str or None
        The recommended learner; `reason` says why.
    base_loss : float
        Loss of predicting the base rate, or the mean of a number, for every row.
    loss_name : str
        What losses are: "bits a row", or for regressors "mean squared error" or "mean deviance".
    notes : tuple of str
        Why some numbers are not defined.
    """

    entries: tuple[Entry, ...]
    classes: tuple[Value, ...]
    n_rows: int
    n_splits: int
    base_loss: float
    best: str | None
    choice: str | None
    reason: str
    coverage: float
    notes: tuple[str, ...] = ()
    loss_name: str = BITS

    @classmethod
    def of(cls, task: Task, outcomes: Sequence[Outcome], coverage: float) -> Comparison:
        """Measure and compare the learners' hold-out predictions."""
        entries = _measure(task, outcomes, coverage)
        chosen = choose(entries, task.base_loss, unit=task.loss_name)
        return cls(
            entries=entries,
            classes=tuple(canonical(value) for value in task.classes.tolist()),
            n_rows=int((task.times > 0).sum()),
            n_splits=len(task.splits),
            base_loss=task.base_loss,
            best=entries[0].name if entries[0].measures else None,
            choice=chosen.name,
            reason=chosen.reason,
            coverage=coverage,
            notes=(_NO_PAIRS,) if _lacks_pairs(task) else (),
            loss_name=task.loss_name,
        )

    def __getitem__(self, name: str) -> Entry:
        for entry in self.entries:
            if entry.name == name:
                return entry
        raise KeyError(f"no learner is called {name!r}; there are {[e.name for e in self.entries]}")

    @property
    def learner(self) -> Any:
        """The recommended learner, not fitted: `comparison.learner.fit(X, y)`."""
        if self.choice is None:
            raise ValueError(self.reason)
        return clone(self[self.choice].estimator)

    def to_dict(self) -> dict[str, Any]:
        """Plain data, ready for JSON; NaN and infinity become None."""
        fields = ("classes", "n_rows", "n_splits", "base_loss", "best", "choice", "reason")
        more = ("coverage", "notes", "loss_name")
        shown = {name: plain(getattr(self, name)) for name in (*fields, *more)}
        return shown | {"learners": [entry.to_dict() for entry in self.entries]}

    def to_rows(self) -> list[dict[str, Any]]:
        """One row per learner, with its single numbers."""
        entries = [entry.to_dict() for entry in self.entries]
        return [
            {"learner": entry["name"], "chosen": entry["name"] == self.choice}
            | flatten(entry["measures"] or {})
            | flatten({"difference": entry["differences"] or {}})
            | {name: entry[name] for name in ("fit_seconds", "predict_seconds", "error")}
            for entry in entries
        ]

    def to_frame(self, backend: str | None = None) -> Any:
        """One row per learner, as an Arrow table or in another library, such as "pandas"."""
        return build(columns_of(self.to_rows()), backend)

    def plot(self) -> Drawing:
        """Plot the difference of each learner's loss from the lowest, on a new `figure_`."""
        return draw_comparison(self)

    def view(self) -> Page:
        """The tables as data for text and pages."""
        shown = page(self)
        return replace(shown, words=(*shown.words, *self.notes))


def _measure(task: Task, outcomes: Sequence[Outcome], coverage: float) -> tuple[Entry, ...]:
    """Measures of all learners, sorted by loss, with differences from the lowest."""
    way = NUMBERS if isinstance(task, NumberTask) else CLASSES
    rows = {o.name: way.scores(task, o.p) for o in outcomes if o.p is not None}
    losses = {name: float(task.row_weight @ scores.loss) for name, scores in rows.items()}
    best = min(losses, key=losses.__getitem__, default="")
    entries = [
        Entry(
            o.name,
            o.estimator,
            None if o.p is None else way.measure(task, o.p, rows[o.name], coverage),
            way.subtract(task, rows[o.name], rows[best], coverage) if o.name in rows else None,
            o.fit_seconds,
            o.predict_seconds,
            o.warnings,
            o.error,
        )
        for o in outcomes
    ]
    return tuple(sorted(entries, key=lambda entry: losses.get(entry.name, np.inf)))


def _measures(task: Task, p: Floats, rows: RowScores, coverage: float) -> Measures | ManyMeasures:
    """Measures of the pooled predictions; only the AUC ranks within folds."""
    areas = [ranking.auc(coverage) for ranking in rows.rankings]
    scored = task.score(p)
    if isinstance(scored, Scored):
        return replace(measure(scored, Options(coverage=coverage)), auc=areas[0])
    found = measure_many(scored, coverage)
    by_class = zip(found.by_class, areas, strict=True)
    return replace(found, by_class=tuple(replace(part, auc=area) for part, area in by_class))


class Way(NamedTuple):
    """Functions for one kind of target: row losses, measures of all rows, and differences."""

    scores: Callable[[Any, Floats], Any]
    measure: Callable[[Any, Floats, Any, float], Any]
    subtract: Callable[[Any, Any, Any, float], Any]


CLASSES = Way(RowScores.of, _measures, subtract)
NUMBERS = Way(NumberScores.of, measure_numbers, subtract_numbers)


def _lacks_pairs(task: Task) -> bool:
    """Whether every fold holds out rows of one class only."""
    if isinstance(task, NumberTask):
        return False
    held_out = (np.unique(task.codes[rows]) for _, rows in task.splits)
    return all(len(classes) == 1 for classes in held_out)


_NO_PAIRS = (
    "There is no AUC: it ranks rows of the same fold, and every fold holds out rows of one class "
    "only. Ask for fewer folds."
)


def compare(
    X: Any,
    y: Any,
    learners: Any = None,
    *,
    cv: Any = 5,
    sample_weight: Any = None,
    random_state: Any = 0,
    coverage: float = COVERAGE,
    groups: Any = None,
    n_jobs: int | None = None,
    exposure: Any = None,
) -> Comparison:
    """Compare learners by cross-validation on the same folds, and recommend one.

    Every row is predicted by a model that was not fitted to it. Measures pool these predictions
    over all folds, except the AUC: it ranks within folds, because models of different folds have
    different base rates. Differences between two learners, and their errors, are paired row by row.
    The recommended learner is the simplest one whose loss is within one standard error of the
    lowest.

    Parameters
    ----------
    X : table
        Rows.
    y : array or str
        Class labels or numbers, or the name of their column in X.
    learners : list or dict, optional
        Names (`"adjusted"` or `"AdjustedNB"`), classes or estimators, also of scikit-learn; or a
        dict from a name of yours to one of these. By default every classifier of this package that
        takes two classes and more; `"recalibrated"` is `RecalibratedClassifier(EvidenceNB())`.
        Regressors are compared if all learners are regressors, such as `"educated-regressor"`: by
        the deviance of their family if they have the same, and by the squared error otherwise.
    cv : int, splitter or iterable, default=5
        Number of folds, or a scikit-learn splitter or splits.
    sample_weight : array or str, optional
        Row weights, or the name of their column; learners that do not accept weights fail. A weight
        of two equals a row given twice, also in intervals (see `weigh.metrics.effective_weight`).
    random_state : int, RandomState or None, default=0
        Seed of the folds, and of learners that are not given as estimators.
    coverage : float, default=0.95
        Coverage of intervals.
    groups : array or str, optional
        The group of each row, or the name of its column, such as a customer with several rows. Rows
        of a group are held out together. Errors of differences treat rows as independent.
    n_jobs : int, optional
        Number of processes, one learner in each; -1 uses all processors. Seconds are then those of
        learners that share the processors.
    exposure : array or str, optional
        Of regressors with a log link: factor of the mean of each row, or the name of its column.

    Returns
    -------
    Comparison
        Prints as a table. A learner that fails is shown with its error.

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
    task: Task
    if are_regressors(candidates, exposure):
        asked = {"sample_weight": sample_weight, "cv": cv, "random_state": random_state}
        task = NumberTask.of(X, y, asked | {"groups": groups, "exposure": exposure}, candidates)
    else:
        task = Task.read(X, y, sample_weight, cv, random_state, groups)
    with show_progress("comparing"):
        outcomes = run_learners(candidates, task, n_jobs)
    return Comparison.of(task, outcomes, coverage)
