"""Models as plain data, and back."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

import weigh
from weigh.base import TableEstimator
from weigh.boosted import Estimate, Vote
from weigh.c44 import Tree
from weigh.calibrate import RestCurves
from weigh.evidence import Evidence, Provenance
from weigh.perplexed import Mean
from weigh.store.evidence import evidence_from_dict, evidence_to_dict
from weigh.store.totals import (
    estimate_from_dict,
    estimate_to_dict,
    mean_from_dict,
    mean_to_dict,
    rest_from_dict,
    rest_to_dict,
    vote_from_dict,
    vote_to_dict,
)
from weigh.store.tree import tree_from_dict, tree_to_dict
from weigh.store.values import DEEPEST, FORMAT, VERSION, check, is_object, parameter, plain, unplain

WRAPPERS = ("RecalibratedClassifier",)  # learners of a learner
ENDINGS = {"NBRegressor": "-regressor", "Regressor": "-regressor", "NB": "", "Classifier": ""}
BODIES: tuple[tuple[str, type, Any, Any], ...] = (
    ("evidence", Evidence, evidence_to_dict, evidence_from_dict),
    ("tree", Tree, tree_to_dict, tree_from_dict),
    ("estimate", Estimate, estimate_to_dict, estimate_from_dict),
    ("vote", Vote, vote_to_dict, vote_from_dict),
    ("mean", Mean, mean_to_dict, mean_from_dict),
    ("rest", RestCurves, rest_to_dict, rest_from_dict),
)


def learners() -> dict[str, str]:
    """The learners by their short names: `evidence` is EvidenceNB, `c44` C44Classifier."""
    found = {}
    for name in dir(weigh):
        ending = next((end for end in ENDINGS if name.endswith(end)), None)
        if ending is not None and name not in WRAPPERS:
            found[name.removesuffix(ending).lower() + ENDINGS[ending]] = name
    return found


def to_dict(model: Any) -> dict[str, Any]:
    """A fitted model as plain data."""
    return {
        "format": FORMAT,
        "version": VERSION,
        "weigh": weigh.__version__,
        "learner": type(model).__name__,
        "parameters": _parameters_to_dict(model),
        "fitted": {name: plain(getattr(model, name)) for name in model._extras},
        "named": hasattr(model, "feature_names_in_"),
        **_provenance(model),
    } | _body(model._learnt)


def _provenance(model: Any) -> dict[str, Any]:
    known = getattr(model, "provenance_", None)
    return {} if known is None else {"provenance": known.to_dict()}


def _parameters_to_dict(model: Any) -> dict[str, Any]:
    """By name; a learner inside another is named, with its own."""
    found = model.get_params(deep=False)
    return {
        name: {"learner": type(value).__name__, "parameters": _parameters_to_dict(value)}
        if isinstance(value, TableEstimator)
        else parameter(name, value)
        for name, value in found.items()
    }


def _body(learnt: Any) -> dict[str, Any]:
    return {name: write(learnt) for name, kind, write, _ in BODIES if isinstance(learnt, kind)}


def from_dict(data: Mapping[str, Any]) -> Any:
    """The model that `to_dict` described."""
    name, model = data["learner"], _learner_from_dict(data)
    check(isinstance(data["named"], bool), "named must be true or false")
    bodies = [(name, read) for name, _, _, read in BODIES if name in data]
    check(len(bodies) == 1, f"it must hold one of {[name for name, *_ in BODIES]}")
    (body, read), *_ = bodies
    check(body in model._bodies, f"{name} needs {model._bodies[0]}")
    model._keep(read(data[body]))
    fitted = dict.fromkeys(model._later_extras) | data["fitted"]
    check({*fitted} == {*model._extras}, "fitted does not fit the learner")
    for key_, value in fitted.items():
        setattr(model, key_, None if value is None else _fitted(unplain(value)))
    if "provenance" in data:
        model.provenance_ = Provenance.from_dict(data["provenance"])
    names = model._learnt.column_names
    model.n_features_in_ = len(names)
    if data["named"]:
        model.feature_names_in_ = np.array(names, dtype=object)
    return model


def _fitted(value: Any) -> Any:
    """A number or an array of them; counts stay whole."""
    array = np.array(value)
    return array[()] if array.dtype.kind == "i" else array.astype(np.float64)[()]


def _learner_from_dict(data: Mapping[str, Any], depth: int = 0) -> TableEstimator:
    """A learner with its parameters, not fitted."""
    name = data["learner"]
    check(depth <= DEEPEST, f"learners are nested more than {DEEPEST} deep")
    known = [*learners().values(), *WRAPPERS]
    check(name in known, f"this release does not know the learner {name!r}")
    parameters = {
        key: _learner_from_dict(value, depth + 1) if _is_learner(value) else unplain(value)
        for key, value in data["parameters"].items()
        if not is_object(value)
    }
    model: TableEstimator = getattr(weigh, name)(**parameters)
    return model


def _is_learner(value: Any) -> bool:
    return isinstance(value, dict) and "learner" in value


def load_card(path: Any) -> Any:
    """Read a scorecard, whose package comes later."""
    return weigh.Scorecard._load(path)
