"""Tables of weights read from a file without their learner, which takes a second to load.

`load_scorer` accepts the files that `load` accepts, and no others. So it knows what each learner
stores: a file with anything else is left to the learner, which refuses it or reads it.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from weigh.evidence import Evidence, Provenance
from weigh.parameters import DEEPEST
from weigh.predicting import StoredTable
from weigh.store.evidence import evidence_from_dict
from weigh.store.file import (
    INCOMPLETE,
    build_whole,
    holds_card,
    load,
    load_model,
    read_model,
    text_of_data,
    to_json,
)
from weigh.store.plain import is_object, read_fitted, unplain

SHARED = (
    "smoothing",
    "bins",
    "categorical_features",
    "missing",
    "special_values",
    "max_levels",
    "class_prior",
    "crosses",
    "ask_if",
)
"""Parameters of every learner of a table."""
OTHERS = ("tree", "estimate", "vote", "mean", "rest")
"""Keys of models that are not tables of weights."""


@dataclass(frozen=True)
class Stored:
    """Content of a learner's file besides its tables."""

    parameters: tuple[str, ...]
    fitted: tuple[str, ...] = ()
    later: tuple[str, ...] = ()  # fitted numbers that files of earlier releases lack
    required: tuple[str, ...] = ()  # parameters without a default


SUMS = {
    "AdjustedNB": Stored(
        (*SHARED, "norm", "multiclass", "aggregate", "fit_prior", "cv", "random_state"),
        ("exponents_", "prior_exponent_", "norm_", "loss_"),
    ),
    "BoostedNB": Stored(
        (
            *SHARED,
            "n_rounds",
            "combine",
            "early_stopping",
            "calibrate_scale",
            "cv",
            "random_state",
        ),
        ("scale_", "agreement_", "cubic_"),
    ),
    "EducatedNB": Stored(
        (
            *SHARED,
            "pairs",
            "unpaired",
            "monotonic_cst",
            "multiclass",
            "cv",
            "random_state",
            "verbose",
        ),
        ("scales_", "loo_loss_", "n_passes_", "pair_gains_", "loosening_", "point_"),
        later=("pair_gains_", "loosening_", "point_"),
    ),
    "EvidenceNB": Stored((*SHARED, "event_model")),
    "RecalibratedClassifier": Stored(
        ("estimator", "method", "cv", "random_state"),
        ("scaling_",),
        later=("scaling_",),
        required=("estimator",),
    ),
    "WeightedNB": Stored(
        (*SHARED, "method", "step", "tol", "choose_on", "cv", "random_state"),
        ("weights_", "auc_"),
    ),
}
"""Learners whose predictions follow from their tables of weights, if they have tables."""


def load_scorer(path: str | os.PathLike[str]) -> Any:
    """Read a model to score and explain rows: only its tables of weights if these suffice.

    Tables need no learner, so neither scikit-learn nor numba is loaded. Predictions equal those of
    `load`, and files that `load` refuses are refused.
    """
    if holds_card(path):
        return load(path)
    data = read_model(path)
    return build_whole(path, data, _read_table) if _is_known(data) else load_model(path)


def load_served(path: str | os.PathLike[str]) -> tuple[Any, str]:
    """A model as `load_scorer` reads it, and the text of its file, of one reading."""
    if holds_card(path):
        card = load(path)
        return card, card.to_json()
    data = read_model(path)
    if _is_known(data) and "checksum" in data:  # without one, the learner's own text has it
        return build_whole(path, data, _read_table), text_of_data(data)
    model = load_model(path)
    return model, to_json(model)


def load_learnt(path: str | os.PathLike[str]) -> Any:
    """What a model ends as: evidence, for which no learner is loaded, or what it has instead."""
    data = read_model(path)
    if _is_known(data):
        return build_whole(path, data, _read_evidence)
    model = load_model(path)
    return model.evidence_ if hasattr(model, "predict_survival") else model._learnt


def _read_evidence(data: Mapping[str, Any]) -> Evidence:
    return evidence_from_dict(data["evidence"])


def _read_table(data: Mapping[str, Any]) -> StoredTable:
    table = StoredTable.of(data["learner"], _read_evidence(data), data["named"])
    table.point_ = data["fitted"].get("point_")
    if "provenance" in data:
        table.provenance_ = Provenance.from_dict(data["provenance"])
    return table


def _is_known(data: Mapping[str, Any]) -> bool:
    """Whether a file holds a table, and beside it only what its learner is known to read."""
    try:
        return (
            "evidence" in data
            and data.keys().isdisjoint(OTHERS)
            and isinstance(data["named"], bool)
            and _has_known_parameters(data)
            and _has_known_results(data)
        )
    except INCOMPLETE:
        return False


def _has_known_parameters(data: Mapping[str, Any], depth: int = 0) -> bool:
    """Whether the learner can be made from its parameters."""
    stored, given = SUMS[data["learner"]], data["parameters"]
    read = {name: value for name, value in given.items() if not is_object(value)}
    named = {*stored.required} <= {*read} <= {*stored.parameters}
    return named and depth <= DEEPEST and all(_can_read(value, depth) for value in read.values())


def _can_read(value: Any, depth: int) -> bool:
    """Whether a parameter is a known learner, or a value that `unplain` reads."""
    if isinstance(value, dict) and "learner" in value:
        return _has_known_parameters(value, depth + 1)
    unplain(value)
    return True


def _has_known_results(data: Mapping[str, Any]) -> bool:
    """Whether the fitted numbers and the provenance can be read."""
    stored = SUMS[data["learner"]]
    for value in data["fitted"].values():
        read_fitted(value)
    if "provenance" in data:
        Provenance.from_dict(data["provenance"])
    found = {*data["fitted"]} | {*stored.later}
    return found == {*stored.fitted}
