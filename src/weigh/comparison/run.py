"""Learners by name, their cross-validated predictions on the same folds, and the choice of one."""

from __future__ import annotations

import inspect
import time
import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import ClassifierMixin, clone
from sklearn.utils.validation import has_fit_parameter

import weigh
from weigh import engine
from weigh.arrays import Floats
from weigh.base import part_of_rows
from weigh.comparison.differences import BITS, spell_loss
from weigh.comparison.task import Task
from weigh.frames import is_count, take_rows
from weigh.store import learners

if TYPE_CHECKING:
    from weigh.comparison.result import Entry


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
                engine.watch(lambda done, of: None),  # the progress bar counts folds
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
        why = f"{type(error).__name__}: {error}"
        return Outcome(name, estimator, None, np.nan, np.nan, (), why)
    fit, predict = np.median(seconds, axis=0).tolist()
    p = np.concatenate(parts)
    return Outcome(name, estimator, p, fit, predict, tuple(dict.fromkeys(said)))


def run_learners(candidates: Mapping[str, Any], task: Task, n_jobs: int | None) -> list[Outcome]:
    """Run every learner on the same folds, one after the other or in parallel processes."""
    n, pairs = len(task.splits), [*candidates.items()]
    if n_jobs is not None and not (is_count(n_jobs) and n_jobs):
        raise ValueError(
            "n_jobs must be a number of processes, such as 2, or -1 for all processors; got "
            f"{n_jobs!r}"
        )
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


def _fit(model: Any, task: Task, rows: Any) -> Any:
    places = np.flatnonzero(rows)
    X, y = take_rows(task.X, places), task.observed(places)
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


def make_learner(kind: Any, random_state: Any = 0) -> Any:
    """Make a learner from its class or the name of its class, not fitted."""
    if isinstance(kind, str):
        kind = getattr(weigh, kind)
    made = kind(weigh.EvidenceNB()) if kind is weigh.RecalibratedClassifier else kind()
    _check(made)
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
    return make_learner(item, random_state)


def _check(estimator: Any) -> None:
    if hasattr(estimator, "predict_survival"):
        raise ValueError(
            f"{type(estimator).__name__} estimates the time to an event, but learners must be "
            "classifiers or regressors; use weigh.evaluate on hold-out rows for each"
        )
    if not (hasattr(estimator, "fit") and hasattr(estimator, "get_params")):
        raise ValueError(
            f"{estimator!r} is not an estimator; give names of learners, scikit-learn classifiers, "
            "or a dict from name to either"
        )


@dataclass(frozen=True)
class Recommendation:
    """Name of the recommended learner, or None, and the reason in a sentence."""

    name: str | None
    reason: str


def choose(
    entries: Sequence[Entry], base_loss: float, errors: float = 1.0, unit: str = BITS
) -> Recommendation:
    """Choose the simplest learner whose loss is within `errors` standard errors of the lowest.

    `entries` are sorted by loss. Candidates are taken from the lowest loss up to the first learner
    that is not within the limit, so that a large standard error does not help a worse learner. The
    standard error is that of the paired difference from the best. If the best learner is better
    than the base rate, candidates must be too.
    """
    fitted = [entry for entry in entries if entry.differences is not None]
    if not fitted:
        return Recommendation(None, "None of the learners could be fitted; their errors are below.")
    best = fitted[0]
    limit = base_loss if best.loss < base_loss else np.inf
    near = [best, *takewhile(lambda entry: _is_near(entry, limit, errors), fitted[1:])]
    chosen = min(near, key=lambda entry: (rank(entry.estimator), entry.loss))
    reason = _reason(chosen, best, len(fitted), unit, len(entries))
    if best.loss >= base_loss:
        alone = "base rate" if unit == BITS else "mean"
        reason += f" But none is of use: the {alone} alone has less."
    return Recommendation(chosen.name, reason)


def _is_near(entry: Entry, limit: float, errors: float) -> bool:
    assert entry.differences is not None
    loss = entry.differences.loss
    return loss.value <= errors * loss.error and entry.loss < limit


def _tell_loss(value: float, unit: str, sign: str = "") -> str:
    """Format a loss with its unit."""
    text = spell_loss(value, unit, sign)
    return f"{text} {unit}" if unit == BITS else f"{unit} {text}"


def _reason(chosen: Entry, best: Entry, n: int, unit: str, tried: int) -> str:
    if n == 1:
        fitted = " that could be fitted" if tried > 1 else ""
        return f"{chosen.name} is the only learner{fitted}."
    if chosen is best:
        return (
            f"{best.name} has the least loss, {_tell_loss(best.loss, unit)}. No simpler learner is "
            "within one standard error of it."
        )
    assert chosen.differences is not None
    loss = chosen.differences.loss
    return (
        f"{chosen.name} is the simplest whose loss is within a standard error of the least, that "
        f"of {best.name}: {_tell_loss(loss.value, unit, '+')}, with a standard error of "
        f"{spell_loss(loss.error, unit)}."
    )
