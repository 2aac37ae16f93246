"""Models as plain data, and back: a learner, its parameters, and what it learnt."""

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
from weigh.parameters import DEEPEST
from weigh.perplexed import Mean
from weigh.store.evidence import (
    curve_from_dict,
    curve_to_dict,
    evidence_from_dict,
    evidence_to_dict,
)
from weigh.store.plain import (
    FORMAT,
    MARGINS,
    VERSION,
    check,
    feature_to_dict,
    integers,
    is_object,
    numbers,
    parameter,
    plain,
    read_classes,
    read_columns,
    read_features,
    read_fitted,
    unplain,
)

WRAPPERS = ("RecalibratedClassifier", "EducatedSurvival")  # learners of a learner
ENDINGS = {"NBRegressor": "-regressor", "Regressor": "-regressor", "NB": "", "Classifier": ""}


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
    known, learnt = getattr(model, "provenance_", None), model._learnt
    return {
        "format": FORMAT,
        "version": MARGINS if _has_margins(learnt) else VERSION,
        "weigh": weigh.__version__,
        "learner": type(model).__name__,
        "parameters": _parameters_to_dict(model),
        "fitted": {name: plain(getattr(model, name)) for name in model._extras},
        "named": hasattr(model, "feature_names_in_"),
        **({} if known is None else {"provenance": known.to_dict()}),
    } | {name: write(learnt) for name, kind, write, _ in BODIES if isinstance(learnt, kind)}


def _has_margins(learnt: Any) -> bool:
    return isinstance(learnt, Evidence) and any(t.margins is not None for t in learnt)


def _parameters_to_dict(model: Any) -> dict[str, Any]:
    """By name; a learner inside another is named, with its own."""
    found = model.get_params(deep=False)
    return {
        name: {"learner": type(value).__name__, "parameters": _parameters_to_dict(value)}
        if isinstance(value, TableEstimator)
        else parameter(name, value)
        for name, value in found.items()
    }


def from_dict(data: Mapping[str, Any]) -> Any:
    """The model that `to_dict` described."""
    name, model = data["learner"], _learner_from_dict(data)
    check(isinstance(data["named"], bool), "named must be true or false")
    bodies = [(name, read) for name, _, _, read in BODIES if name in data]
    check(len(bodies) == 1, f"it must hold one of {[name for name, *_ in BODIES]}")
    (body, read), *_ = bodies
    check(body in model._bodies, f"{name} needs {model._bodies[0]}")
    model._keep(read(data[body]))
    fitted = data["fitted"]
    known = {*model._later_extras, *fitted} == {*model._extras}
    check(known, "fitted does not fit the learner")
    for key_, value in model._unknown_extras().items():
        setattr(model, key_, read_fitted(fitted[key_]) if key_ in fitted else value)
    if "provenance" in data:
        model.provenance_ = Provenance.from_dict(data["provenance"])
    names = model._own_columns(model._learnt)
    model.n_features_in_ = len(names)
    if data["named"]:
        model.feature_names_in_ = np.array(names, dtype=object)
    return model


def _learner_from_dict(data: Mapping[str, Any], depth: int = 0) -> TableEstimator:
    """A learner with its parameters, not fitted."""
    name = data["learner"]
    check(depth <= DEEPEST, f"learners are nested more than {DEEPEST} deep")
    known = [*learners().values(), *WRAPPERS]
    check(name in known, f"this release does not know the learner {name!r}")
    parameters = {
        key: _learner_from_dict(value, depth + 1)
        if isinstance(value, dict) and "learner" in value
        else unplain(value)
        for key, value in data["parameters"].items()
        if not is_object(value)
    }
    model: TableEstimator = getattr(weigh, name)(**parameters)
    return model


def mean_to_dict(mean: Mean) -> dict[str, Any]:
    """The counts that the probabilities come from, and the prior."""
    return {"naive": evidence_to_dict(mean.evidence) | {"columns": list(mean.columns)}}


def mean_from_dict(data: Mapping[str, Any]) -> Mean:
    """The mean that `mean_to_dict` described."""
    naive = evidence_from_dict(data["naive"])
    check(naive.attenuation is None, "a mean is not attenuated")
    check(naive.recalibration is None, "a mean is not recalibrated")
    check(naive.link != "ovr", "a mean is of joint totals: its link is not ovr")
    return Mean(naive, columns=naive.columns)


def rest_to_dict(rest: RestCurves) -> dict[str, Any]:
    """The weights, and the curve of each class against the rest."""
    curves = [curve_to_dict(curve) for curve in rest.curves]
    return {"evidence": evidence_to_dict(rest.evidence), "curves": curves}


def rest_from_dict(data: Mapping[str, Any]) -> RestCurves:
    """The curves that `rest_to_dict` described."""
    evidence, curves = evidence_from_dict(data["evidence"]), data["curves"]
    n = len(evidence.classes)
    check(n > 2, "curves of each class against the rest are of more than two classes")
    check(isinstance(curves, list) and len(curves) == n, f"curves must be {n}, one for each class")
    return RestCurves(evidence, tuple(map(curve_from_dict, curves)), columns=evidence.columns)


def estimate_to_dict(estimate: Estimate) -> dict[str, Any]:
    """The weights, and the curve that totals are read off."""
    return {
        "evidence": evidence_to_dict(estimate.evidence),
        "points": estimate.points.tolist(),
        "levels": plain(estimate.levels),
        "steps": estimate.steps,
        "scale": estimate.scale,
    }


def estimate_from_dict(data: Mapping[str, Any]) -> Estimate:
    """The estimate that `estimate_to_dict` described."""
    evidence = evidence_from_dict(data["evidence"])
    check(len(evidence.classes) == 2, "an estimate has two sides, down and up")
    check(evidence.recalibration is None, "an estimate is not recalibrated")
    points = numbers(data, "points", (len(data["points"]),))
    check(len(points) > 0 and bool((np.diff(points) >= 0).all()), "points must ascend")
    levels = np.array([unplain(level) for level in data["levels"]], dtype=np.float64)
    sound = levels.shape == points.shape and bool((levels[1:] >= levels[:-1]).all())
    check(sound, "levels must ascend, one for each point")
    check(isinstance(data["steps"], bool), "steps must be true or false")
    scale = float(numbers(data, "scale", (), low=1e-300))
    return Estimate(evidence, points, levels, data["steps"], scale, columns=evidence.columns)


def vote_to_dict(vote: Vote) -> dict[str, Any]:
    """The linearised model, and what each round says."""
    return {
        "linear": evidence_to_dict(vote.evidence) | {"columns": list(vote.columns)},
        "alphas": vote.alphas.tolist(),
        "priors": vote.priors.tolist(),
        "tables": [table.tolist() for table in vote.tables],
        "shift": vote.shift.tolist(),
    }


def vote_from_dict(data: Mapping[str, Any]) -> Vote:
    """The vote that `vote_to_dict` described."""
    linear = evidence_from_dict(data["linear"])
    check(linear.event_model == "levels", "a vote is one of levels, not of counts")
    check(linear.recalibration is None, "a vote is not recalibrated")
    check(linear.link != "softmax", "a vote is one class against the rest: its link is ovr")
    n_rows = len(linear.prior_row)
    check(isinstance(data["alphas"], list) and len(data["alphas"]) == n_rows, "alphas by class")
    shape = (n_rows, len(data["alphas"][0]))
    check(shape[1] > 0, "a vote has at least one round")
    listed = data["tables"]
    check(isinstance(listed, list) and len(listed) == len(linear), "a table for each feature")
    tables = [
        numbers({"tables": table}, "tables", (len(part.levels), *shape))
        for table, part in zip(listed, linear, strict=True)
    ]
    return Vote(
        linear,
        numbers(data, "alphas", shape, low=0),
        numbers(data, "priors", shape),
        tuple(map(np.asarray, tables)),
        numbers(data, "shift", (n_rows,)),
        columns=linear.columns,
    )


def tree_to_dict(tree: Tree) -> dict[str, Any]:
    """The features, and one entry per node in each of the lists."""
    return {
        "classes": tree.classes.tolist(),
        "smoothing": tree.smoothing,
        "columns": list(tree.columns),
        "features": [feature_to_dict(feature) for feature in tree.features],
        "parent": tree.parent.tolist(),
        "level": tree.level.tolist(),
        "feature": tree.feature.tolist(),
        "counts": tree.counts.tolist(),
    }


def tree_from_dict(data: Mapping[str, Any]) -> Tree:
    """The tree that `tree_to_dict` described."""
    classes, features = read_classes(data), read_features(data)
    sizes = np.array([*(len(feature.levels) for feature in features), 0])
    feature = integers(data, "feature", -1, len(features))
    n = len(feature)
    counts = numbers(data, "counts", (n, len(classes)), low=0)
    with np.errstate(over="ignore"):
        total = counts.sum(axis=1)
    check(n > 0 and bool(((total > 0) & (total < np.inf)).all()), "every node must have rows")
    tree = Tree(
        classes,
        features,
        read_columns(data, features),
        integers(data, "parent", -1, n),
        integers(data, "level", -1, int(sizes.max())),
        feature,
        counts,
        float(numbers(data, "smoothing", (), low=0)),
    )
    _check_nodes(tree, sizes)
    return tree


def _check_nodes(tree: Tree, sizes: np.ndarray[Any, Any]) -> None:
    """Every node hangs on a branch of its own, and a way down asks each feature once."""
    n, parent, level = len(tree.feature), tree.parent, tree.level
    check(len(parent) == n and len(level) == n, "parent and level must be as long as feature")
    check(parent[0] == -1 and level[0] == -1, "the first node must be the root")
    above, branch = parent[1:], level[1:]
    sound = (above >= 0) & (above < np.arange(1, n)) & (branch >= 0)
    check(bool(sound.all()), "a node's parent must come before it")
    check(bool((branch < sizes[tree.feature[above]]).all()), "a node's level must be a branch")
    twice = len({*zip(above.tolist(), branch.tolist(), strict=True)}) < n - 1
    check(not twice, "two nodes must not be on one branch")
    inner = np.flatnonzero(tree.feature >= 0)
    check(bool(np.isin(inner, above).all()), "a node that is parted must have branches")
    _check_ways(parent.tolist(), tree.feature.tolist())


def _check_ways(parent: list[int], feature: list[int]) -> None:
    """Walk down every branch with one set of the features asked so far."""
    below: list[list[int]] = [[] for _ in parent]
    for i in range(1, len(parent)):
        below[parent[i]].append(i)
    used: set[int] = set()
    walk = [0]
    while walk:
        i = walk.pop()
        if i < 0:  # back from all that is below the node
            used.discard(feature[~i])
        elif feature[i] >= 0:
            check(feature[i] not in used, "a way down must ask a feature once")
            used.add(feature[i])
            walk += [~i, *below[i]]


BODIES: tuple[tuple[str, type, Any, Any], ...] = (
    ("evidence", Evidence, evidence_to_dict, evidence_from_dict),
    ("tree", Tree, tree_to_dict, tree_from_dict),
    ("estimate", Estimate, estimate_to_dict, estimate_from_dict),
    ("vote", Vote, vote_to_dict, vote_from_dict),
    ("mean", Mean, mean_to_dict, mean_from_dict),
    ("rest", RestCurves, rest_to_dict, rest_from_dict),
)
