"""Which learners are compared, and which of them are simpler than others."""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Mapping
from typing import Any

from sklearn.base import ClassifierMixin

import weigh
from weigh.store import learners

SIMPLEST_FIRST = (
    "EvidenceNB",  # one pass of counts
    "PerplexedNB",  # and one number
    "RecalibratedClassifier",  # and one curve
    "AdjustedNB",  # and a number for each feature
    "WeightedNB",  # and those by a search
    "BoostedNB",  # and many passes
    "EducatedNB",  # all weights at once
    "C44Classifier",  # no table
)

RECALIBRATED = "RecalibratedClassifier"


def family() -> list[str]:
    """The classifiers of this package that need nothing else, the simplest first."""
    names = [name for name in learners().values() if _stands_alone(getattr(weigh, name))]
    return sorted(names, key=lambda name: rank(getattr(weigh, name)()))


def _stands_alone(kind: type) -> bool:
    needed = [p for p in inspect.signature(kind).parameters.values() if p.default is p.empty]
    return issubclass(kind, ClassifierMixin) and not needed


def by_name() -> dict[str, str]:
    """What can be compared, by short name; "recalibrated" is EvidenceNB with a curve."""
    alone = {short: name for short, name in learners().items() if name in family()}
    return alone | {"recalibrated": RECALIBRATED}


def make_learner(name: str, random_state: Any = 0) -> Any:
    """A learner by the name of its class, not fitted."""
    kind = getattr(weigh, name)
    made = kind(weigh.EvidenceNB()) if name == RECALIBRATED else kind()
    if "random_state" in made.get_params():
        made.set_params(random_state=random_state)
    return made


def rank(estimator: Any) -> int:
    """The place of a learner among the simpler ones; those of others come last."""
    name = type(estimator).__name__
    if not type(estimator).__module__.startswith("weigh.") or name not in SIMPLEST_FIRST:
        return len(SIMPLEST_FIRST)
    own = SIMPLEST_FIRST.index(name)
    return max(own, rank(estimator.estimator)) if name == RECALIBRATED else own


def read_learners(given: Any, random_state: Any) -> dict[str, Any]:
    """Estimators by name, the simplest first: those given, or all of the family."""
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
    """A learner by its name, from its class, or as it is given."""
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
            f"{estimator!r} is no estimator; give names, classifiers of scikit-learn's kind, or a "
            "dict from name to one of these"
        )
