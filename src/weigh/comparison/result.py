"""`Comparison`: measures of learners, their differences, and a recommendation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from sklearn.base import clone

from weigh.comparison.differences import BITS, Difference, spell_loss
from weigh.comparison.run import Outcome, choose, read_learners, regressors, run_learners
from weigh.comparison.task import (
    Asked,
    Differences,
    NumberDifferences,
    NumberMeasures,
    Task,
    holds_amounts,
    read_task,
)
from weigh.errors import Parameter, ParameterError
from weigh.evaluation.measures import ManyMeasures, Measures
from weigh.evaluation.show import number
from weigh.evidence.units import digits_of, spell
from weigh.frames import Value, build, collect, is_sparse, keep_reader
from weigh.layout import Grid, Shown, View, count_of, fold_rest, percent
from weigh.metrics.numbers import COVERAGE, check_coverage, columns_of, flatten, plain
from weigh.plot.axes import FOR, TOTAL, Drawing, fit_all, new_figure, shorten
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
            classes=task.classes,
            n_rows=int((task.times > 0).sum()),
            n_splits=len(task.splits),
            base_loss=task.base_loss,
            best=entries[0].name if entries[0].measures else None,
            choice=chosen.name,
            reason=chosen.reason,
            coverage=coverage,
            notes=task.notes,
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

    def view(self) -> View:
        """The tables as data for text and pages."""
        return _to_view(self)


def _measure(task: Task, outcomes: Sequence[Outcome], coverage: float) -> tuple[Entry, ...]:
    """Measures of all learners, sorted by loss, with differences from the lowest."""
    rows = {o.name: task.score(o.p) for o in outcomes if o.p is not None}
    losses = {name: float(task.row_weight @ scores.loss) for name, scores in rows.items()}
    best = min(losses, key=losses.__getitem__, default="")
    entries = [
        Entry(
            o.name,
            o.estimator,
            None if o.p is None else task.measure(o.p, rows[o.name], coverage),
            task.subtract(rows[o.name], rows[best], coverage) if o.name in rows else None,
            o.fit_seconds,
            o.predict_seconds,
            o.warnings,
            o.error,
        )
        for o in outcomes
    ]
    return tuple(sorted(entries, key=lambda entry: losses.get(entry.name, np.inf)))


# ------------------------------------------------------------ page and figure


MEASURES = ("Loss", "Misclassified", "AUC", "Brier", "Slope", "Intercept")
NUMBER_MEASURES = ("Loss", "RMSE", "Absolute error", "R2", "Slope")
"""Headings of the measures of classifiers, and of regressors."""

DIFFERENCES = {
    "Loss": "loss",
    "Misclassified": "misclassification",
    "AUC": "auc",
    "Brier": "brier",
}
NUMBER_DIFFERENCES = {"Loss": "loss", "Absolute error": "absolute"}
"""Headings of the differences, and their names in `Differences` and `NumberDifferences`."""

LONGEST = 300
"""Largest number of characters shown of an error or a warning."""


def _to_view(found: Comparison) -> View:
    """The recommendation, measures, differences, errors and warnings."""
    learners, rows = count_of(len(found.entries), "learner"), count_of(found.n_rows, "row")
    title = f"{learners} on the same {found.n_splits} folds of {rows}"
    base = spell_loss(found.base_loss, found.loss_name)
    alone = f"The mean alone has a {found.loss_name} of {base}."
    if found.loss_name == BITS:
        alone = f"The base rate alone has a loss of {base} {BITS}."
    lead = (found.reason, alone, *found.notes)
    fitted = [entry for entry in found.entries if entry.measures is not None]
    grids = []
    if fitted:
        grids.append(_measures(found, fitted))
    if len(fitted) > 1:
        grids.append(_differences(found, fitted))
    failed = [(f"{entry.name}: {_short(entry.error)}",) for entry in found.entries if entry.error]
    if failed:
        grids.append(Grid(("Learner, and why",), tuple(failed), "Could not be fitted"))
    return View(title, fold_rest(grids), lead)


def _short(text: str) -> str:
    return shorten(" ".join(text.split()), LONGEST)


def _measures(found: Comparison, fitted: list[Entry]) -> Grid:
    heads = MEASURES if found.loss_name == BITS else NUMBER_MEASURES
    rows = tuple(
        (
            f"{entry.name} (chosen)" if entry.name == found.choice else entry.name,
            *_numbers(entry),
            f"{entry.fit_seconds:.2g}",
            f"{entry.predict_seconds:.2g}",
        )
        for entry in fitted
    )
    notes = [
        f"{entry.name} warned: {_short(text)}" for entry in fitted for text in entry.warnings[:2]
    ]
    unit = f"in {BITS}" if found.loss_name == BITS else f"is the {found.loss_name}"
    title = f"Hold-out rows: loss {unit}, and seconds per fold"
    return Grid(("Learner", *heads, "Fit s", "Predict s"), rows, title, tuple(notes))


def _numbers(entry: Entry) -> tuple[str, ...]:
    m = entry.measures
    if isinstance(m, NumberMeasures):
        amounts = [spell(value, digits_of(value)) for value in (m.loss.value, m.rmse, m.mae)]
        return (*amounts, number(m.r2, 3), number(m.slope, 2))
    assert m is not None
    area = m.auc.value if isinstance(m, Measures) else m.mean_auc
    shown = (m.loss.value, m.misclassification.value, area, m.brier.value)
    line = (number(m.line.slope, 2), number(m.line.intercept, 2))
    return (*(number(value) for value in shown), *line)


def _differences(found: Comparison, fitted: list[Entry]) -> Grid:
    heads = DIFFERENCES if found.loss_name == BITS else NUMBER_DIFFERENCES
    shown = {head: name for head, name in heads.items() if head != "AUC" or len(found.classes) == 2}
    rows = [
        (entry.name, *(_difference(getattr(entry.differences, n), found) for n in shown.values()))
        for entry in fitted
        if entry.name != found.best and entry.differences is not None
    ]
    title = f"Differences from {found.best}, with paired {percent(found.coverage)} intervals"
    return Grid(("Learner", *shown), tuple(rows), title)


def _difference(part: Difference, found: Comparison) -> str:
    if part.value != part.value:
        return "-"
    value = spell_loss(part.value, found.loss_name, "+")
    known = part.high == part.high
    return f"{value} ±{spell_loss(part.high - part.value, found.loss_name)}" if known else value


def draw_comparison(found: Comparison) -> Drawing:
    """Plot the difference of each learner's loss from the lowest, with paired intervals."""
    fitted = [entry for entry in found.entries if entry.differences is not None]
    if not fitted:
        raise ValueError(f"no learner could be fitted, so nothing can be drawn: {found.reason}")
    figure, axes = new_figure(8.0, 1.2 + 0.34 * len(fitted))
    ax = axes[0]
    names = [
        f"{entry.name} (chosen)" if entry.name == found.choice else entry.name for entry in fitted
    ]
    for place, entry in enumerate(fitted):
        assert entry.differences is not None
        part = entry.differences.loss
        ends = np.nan_to_num([[part.value - part.low], [part.high - part.value]])
        ax.errorbar([part.value], [place], xerr=np.maximum(ends, 0), fmt="o", color=FOR)
    ax.axvline(0, color=TOTAL, linewidth=0.8, linestyle="--")
    ax.margins(y=0.6 / len(fitted))
    ax.set_yticks(range(len(names)), fit_all(names, 10.0, 3.2), parse_math=False)
    ax.invert_yaxis()
    ax.spines[["top", "right"]].set_visible(False)
    unit = "bits" if found.loss_name == BITS else found.loss_name
    ax.set_xlabel(f"Loss beyond that of {shorten(found.best or '', 30)}, {unit}", parse_math=False)
    return Drawing(figure, tuple(axes))


# ------------------------------------------------------------ from a table


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
        takes two classes and more, or every regressor if y holds fractions or more than 20
        different numbers; `"recalibrated"` is `RecalibratedClassifier(EvidenceNB())`.
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
    X = collect(keep_reader(X))
    if learners is None and is_sparse(X):
        raise ParameterError(
            "the default learners read no sparse matrix; give ",
            Parameter("learners"),
            "=[weigh.EvidenceNB(event_model='counts'), ...] for counts of tokens, or X.toarray()",
        )
    if learners is None and holds_amounts(X, y):
        learners = [*regressors()]
    candidates = read_learners(learners, random_state)
    task = read_task(X, y, candidates, Asked(cv, sample_weight, random_state, groups, exposure))
    with show_progress("comparing"):
        outcomes = run_learners(candidates, task, n_jobs)
    return Comparison.of(task, outcomes, coverage)
