"""Learners by name, and their cross-validated predictions on the same folds."""

from __future__ import annotations

import inspect
import time
import warnings
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from sklearn.base import ClassifierMixin, clone
from sklearn.utils.validation import has_fit_parameter

import weigh
from weigh import engine
from weigh.base import part_of_rows
from weigh.errors import Parameter, ParameterError
from weigh.evaluation.measures import entropy
from weigh.folds import Split, check_folds, read_splits
from weigh.frames import (
    Floats,
    Integers,
    Value,
    canonical,
    collect,
    count_rows,
    key,
    pick_columns,
    read,
    sort_classes,
    take_rows,
)
from weigh.metrics import Scored
from weigh.metrics.predicted import column_of
from weigh.metrics.scored import Labels, read_codes
from weigh.metrics.scores import Many
from weigh.store import learners


@dataclass(frozen=True, eq=False)
class Task:
    """Rows, their labels and weights, and the folds in which they are held out."""

    X: Any
    codes: Integers
    classes: np.ndarray[Any, Any]
    weight: Floats | None
    splits: tuple[Split, ...]

    @classmethod
    def read(
        cls, X: Any, y: Any, sample_weight: Any, cv: Any, random_state: Any, groups: Any = None
    ) -> Task:
        """Read a table, with labels, weights and groups as arrays or as names of its columns."""
        check_folds(cv, named=False)
        X = collect(X)
        used = {name for name in (y, sample_weight, groups) if isinstance(name, str)}
        if used:
            table = read(X)
            y = column_of(table, y, "y")
            sample_weight = column_of(table, sample_weight, "sample_weight")
            groups = column_of(table, groups, "groups")
            X = pick_columns(X, table.without(used).names)  # the others are features
        labels = Labels.read(y, sample_weight)
        if count_rows(X) != len(labels.kept):
            raise ValueError(
                f"X and y must have equal length: {count_rows(X)} rows against {len(labels.kept)}"
            )
        classes = sort_classes(labels.values, "y")
        if len(classes) < 2:
            raise ParameterError(
                Parameter("y"), f" holds {labels.values} only; a classifier needs two or more"
            )
        together = None if groups is None else _read_groups(groups, len(labels.kept))
        splits = read_splits(cv, labels.codes, labels.kept, random_state, together=together)
        rows = X if labels.kept.all() else take_rows(X, np.flatnonzero(labels.kept))
        return cls(rows, labels.codes, classes, labels.weight, tuple(splits))

    @cached_property
    def held_out(self) -> Integers:
        """Row numbers of the hold-out rows, fold after fold."""
        return np.concatenate([np.flatnonzero(split[1]) for split in self.splits])

    @cached_property
    def times(self) -> Integers:
        """How often each row is predicted."""
        return np.bincount(self.held_out, minlength=len(self.codes))

    @cached_property
    def row_weight(self) -> Floats:
        """Weight of each row; 0 for a row that is never held out."""
        weight = np.ones(len(self.codes)) if self.weight is None else self.weight
        return np.where(self.times > 0, weight, 0.0)

    @property
    def share(self) -> Floats:
        """Weight of each prediction: the row's weight, divided by its number of predictions."""
        share: Floats = (self.row_weight / np.maximum(self.times, 1))[self.held_out]
        return share

    @property
    def _share(self) -> Floats | None:
        """Weight of each prediction; None if every prediction has weight 1."""
        return None if self.weight is None and self.times.max() == 1 else self.share

    def labels(self, places: Integers) -> Any:
        """Class labels of some rows."""
        return self.classes[self.codes[places]]

    def given(self, places: Integers) -> dict[str, Any]:
        """Further arguments of `fit` and `predict` for some rows: none."""
        return {}

    @property
    def base_loss(self) -> float:
        """The loss of predicting the base rate for every row."""
        counts = np.bincount(self.codes, self.row_weight, len(self.classes))
        return entropy(counts.astype(np.float64))

    @property
    def loss_name(self) -> str:
        """Unit of the loss."""
        return "bits a row"

    def predict(self, model: Any, places: Integers) -> Floats:
        """Probabilities, one column per class; 0 for a class without training rows."""
        found = model.predict_proba(take_rows(self.X, places))
        columns: dict[tuple[type, Value], int] = {
            key(canonical(value)): k for k, value in enumerate(self.classes.tolist())
        }
        p = np.zeros((len(found), len(self.classes)))
        p[:, [columns[key(canonical(value))] for value in model.classes_.tolist()]] = found
        if not ((p >= 0) & (p <= 1)).all():
            raise ValueError("predict_proba gave NaN, or a number outside 0 to 1")
        return p

    def score(self, p: Floats) -> Scored | Many:
        """Join the probabilities of the hold-out rows with their true classes."""
        codes = self.codes[self.held_out]
        if len(self.classes) == 2:
            return Scored(codes == 1, p[:, 1], self._share)
        return Many(codes, p, self._share, [canonical(value) for value in self.classes.tolist()])

    def by_row(self, values: Floats) -> Floats:
        """Mean over the predictions of each row, from one value per prediction."""
        sums = np.bincount(self.held_out, values, len(self.codes))
        return np.asarray(sums / np.maximum(self.times, 1))


def read_together(groups: Any, table: Any) -> Integers | None:
    """Group number of each row; groups are an array or the name of a column."""
    if groups is None:
        return None
    return _read_groups(column_of(table, groups, "groups"), table.n_rows)


def _read_groups(groups: Any, n_rows: int) -> Integers:
    """Group number of each row."""
    column = read_codes(groups, "groups")
    if len(column.codes) != n_rows:
        raise ValueError(
            f"groups has {len(column.codes)} values for {n_rows} rows; give one for each"
        )
    return column.codes


@dataclass(frozen=True, eq=False)
class Outcome:
    """Hold-out predictions and seconds of a learner, or the error if it failed."""

    name: str
    estimator: Any
    p: Floats | None
    fit_seconds: float
    predict_seconds: float
    warnings: tuple[str, ...]
    error: str = ""


def run_learner(name: str, estimator: Any, task: Task, done: int, of: int) -> Outcome:
    """Fit and predict fold by fold; seconds are the median of the folds."""
    parts, seconds, said = [], [], []
    try:
        for k, split in enumerate(task.splits):
            with (
                warnings.catch_warnings(record=True) as caught,
                engine.watch(_silence),
                part_of_rows(),
            ):
                warnings.simplefilter("always")
                started = time.perf_counter()
                model = _fit(clone(estimator), task, split[0])
                fitted = time.perf_counter()
                parts.append(task.predict(model, np.flatnonzero(split[1])))
            seconds.append((fitted - started, time.perf_counter() - fitted))
            said += [str(warning.message) for warning in caught]
            engine.report(done + k + 1, of)
    except Exception as error:  # a learner of any library may raise any error
        engine.report(done + len(task.splits), of)
        told = f"{type(error).__name__}: {error}"
        return Outcome(name, estimator, None, np.nan, np.nan, (), told)
    fit, predict = np.median(seconds, axis=0).tolist()
    p = np.concatenate(parts)
    return Outcome(name, estimator, p, fit, predict, tuple(dict.fromkeys(said)))


def run_learners(candidates: Mapping[str, Any], task: Task, n_jobs: int | None) -> list[Outcome]:
    """Run every learner on the same folds, one after the other or in parallel processes."""
    n, pairs = len(task.splits), [*candidates.items()]
    if n_jobs in (None, 1):
        of = len(pairs) * n
        return [run_learner(*pair, task, k * n, of) for k, pair in enumerate(pairs)]
    from sklearn.utils.parallel import Parallel, delayed

    running = Parallel(n_jobs, return_as="generator")(
        delayed(run_learner)(*pair, task, 0, n) for pair in pairs
    )
    found = []
    for k, outcome in enumerate(running, 1):
        found.append(outcome)
        engine.report(k, len(pairs))
    return found


def _silence(done: int, of: int) -> None:
    """Ignore a learner's own progress, because the progress bar counts folds."""


def _fit(model: Any, task: Task, rows: Any) -> Any:
    places = np.flatnonzero(rows)
    X, y = take_rows(task.X, places), task.labels(places)
    given = task.given(places)
    if task.weight is not None:
        given["sample_weight"] = task.weight[places]
    for name in given:
        if not has_fit_parameter(model, name):
            raise ValueError(f"{type(model).__name__}.fit takes no {name}")
    return model.fit(X, y, **given)


SIMPLEST_FIRST = (
    "EvidenceNB",  # one pass of counts
    "PerplexedNB",  # counts and one number
    "RecalibratedClassifier",  # counts and one curve
    "AdjustedNB",  # counts and a number for each feature
    "WeightedNB",  # counts and a number for each feature, found by a search
    "BoostedNB",  # many passes of counts
    "EducatedNB",  # all weights fitted together
    "C44Classifier",  # a tree, without tables
    "EducatedRegressor",
    "BoostedNBRegressor",  # many passes, and a curve
)

RECALIBRATED = "RecalibratedClassifier"


def family() -> list[str]:
    """Classifiers of this package without required arguments, the simplest first."""
    names = [name for name in learners().values() if _stands_alone(getattr(weigh, name))]
    return sorted(names, key=lambda name: rank(getattr(weigh, name)()))


def _stands_alone(kind: type) -> bool:
    needed = [p for p in inspect.signature(kind).parameters.values() if p.default is p.empty]
    return issubclass(kind, ClassifierMixin) and not needed


def by_name() -> dict[str, str]:
    """Class names of learners by short name; "recalibrated" is EvidenceNB, recalibrated."""
    alone = {short: name for short, name in learners().items() if name in family()}
    return alone | {"recalibrated": RECALIBRATED} | regressors()


def regressors() -> dict[str, str]:
    """The regressors of this package, by short name."""
    return {short: name for short, name in learners().items() if name.endswith("Regressor")}


def make_learner(name: str, random_state: Any = 0) -> Any:
    """Make a learner from the name of its class, not fitted."""
    kind = getattr(weigh, name)
    made = kind(weigh.EvidenceNB()) if name == RECALIBRATED else kind()
    if "random_state" in made.get_params():
        made.set_params(random_state=random_state)
    return made


def rank(estimator: Any) -> int:
    """Position of a learner in `SIMPLEST_FIRST`; learners of other packages come last."""
    name = type(estimator).__name__
    if not type(estimator).__module__.startswith("weigh.") or name not in SIMPLEST_FIRST:
        return len(SIMPLEST_FIRST)
    own = SIMPLEST_FIRST.index(name)
    return max(own, rank(estimator.estimator)) if name == RECALIBRATED else own


def read_learners(given: Any, random_state: Any) -> dict[str, Any]:
    """Estimators by name, the simplest first: those given, or all classifiers of this package."""
    if given is None:
        given = family()
    if isinstance(given, str) or hasattr(given, "fit") or not isinstance(given, Iterable):
        given = [given]
    pairs = (
        [*given.items()] if isinstance(given, Mapping) else [(_name(item), item) for item in given]
    )
    if not pairs:
        raise ValueError(f"learners is empty; name some of {', '.join(by_name())}")
    found: dict[str, Any] = {}
    for name, item in pairs:
        if name in found:
            raise ValueError(
                f"two learners are called {name!r}; give a dict from name to learner, such as "
                f"{{'plain': ..., 'other': ...}}"
            )
        found[str(name)] = _make(item, random_state)
    return dict(sorted(found.items(), key=lambda pair: rank(pair[1])))


def _name(item: Any) -> str:
    if isinstance(item, str):
        return by_name().get(item, item)
    return item.__name__ if isinstance(item, type) else type(item).__name__


def _make(item: Any, random_state: Any) -> Any:
    """Make a learner from its name or class, or return the given estimator."""
    if isinstance(item, str):
        name = by_name().get(item, item)
        if name not in by_name().values():
            raise ValueError(
                f"no learner is called {item!r}; it is one of {', '.join(by_name())}, or an "
                "estimator"
            )
        return make_learner(name, random_state)
    if not isinstance(item, type):
        _check(item)
        return item
    made = item()
    _check(made)
    if "random_state" in made.get_params():
        made.set_params(random_state=random_state)
    return made


def _check(estimator: Any) -> None:
    if not (hasattr(estimator, "fit") and hasattr(estimator, "get_params")):
        raise ValueError(
            f"{estimator!r} is not an estimator; give names of learners, scikit-learn classifiers, "
            "or a dict from name to either"
        )
