"""Models as plain data, and back."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

import weigh
from weigh.base import TableEstimator
from weigh.boosted import Estimate, Vote
from weigh.c44 import Tree
from weigh.evidence import Evidence
from weigh.perplexed import Mean
from weigh.store.estimate import estimate_from_dict, estimate_to_dict
from weigh.store.evidence import evidence_from_dict, evidence_to_dict
from weigh.store.mean import mean_from_dict, mean_to_dict
from weigh.store.tree import tree_from_dict, tree_to_dict
from weigh.store.values import check, is_object, parameter, plain, unplain
from weigh.store.vote import vote_from_dict, vote_to_dict

FORMAT, VERSION = "weigh", 1
ENDINGS = {"NB": "", "NBRegressor": "-regressor", "Classifier": ""}
BODIES: tuple[tuple[str, type, Any, Any], ...] = (
    ("evidence", Evidence, evidence_to_dict, evidence_from_dict),
    ("tree", Tree, tree_to_dict, tree_from_dict),
    ("estimate", Estimate, estimate_to_dict, estimate_from_dict),
    ("vote", Vote, vote_to_dict, vote_from_dict),
    ("mean", Mean, mean_to_dict, mean_from_dict),
)


def learners() -> dict[str, str]:
    """The learners by their short names: `evidence` is EvidenceNB, `c44` C44Classifier."""
    return {
        name.removesuffix(ending).lower() + kind: name
        for name in weigh.__all__
        for ending, kind in ENDINGS.items()
        if name.endswith(ending)
    }


def to_dict(model: Any) -> dict[str, Any]:
    """A fitted model as plain data."""
    parameters = model.get_params(deep=False)
    return {
        "format": FORMAT,
        "version": VERSION,
        "weigh": weigh.__version__,
        "learner": type(model).__name__,
        "parameters": {name: parameter(name, value) for name, value in parameters.items()},
        "fitted": {name: plain(getattr(model, name)) for name in model._extras},
        "named": hasattr(model, "feature_names_in_"),
    } | _body(model._learnt)


def _body(learnt: Any) -> dict[str, Any]:
    return {name: write(learnt) for name, kind, write, _ in BODIES if isinstance(learnt, kind)}


def from_dict(data: Mapping[str, Any]) -> Any:
    """The model that `to_dict` described."""
    name = data["learner"]
    check(name in learners().values(), f"this release does not know the learner {name!r}")
    check(isinstance(data["named"], bool), "named must be true or false")
    parameters = {
        key: unplain(value) for key, value in data["parameters"].items() if not is_object(value)
    }
    model: TableEstimator = getattr(weigh, name)(**parameters)
    bodies = [(name, read) for name, _, _, read in BODIES if name in data]
    check(len(bodies) == 1, f"it must hold one of {[name for name, *_ in BODIES]}")
    (body, read), *_ = bodies
    check(body in model._bodies, f"{name} needs {model._bodies[0]}")
    model._keep(read(data[body]))
    check([*data["fitted"]] == [*model._extras], "fitted does not fit the learner")
    for key_, value in data["fitted"].items():
        number = None if value is None else np.array(unplain(value), dtype=np.float64)[()]
        setattr(model, key_, number)
    names = model._learnt.column_names
    model.n_features_in_ = len(names)
    if data["named"]:
        model.feature_names_in_ = np.array(names, dtype=object)
    return model
