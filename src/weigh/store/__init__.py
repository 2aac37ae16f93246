"""Models as versioned JSON: readable, written atomically, and nothing is executed on load.

plain      numbers, parameters, classes and features, with validation
evidence   a prior and tables
model      a learner, its parameters, and a table, tree, mean, estimate or vote
file       saving and loading
scorer     tables of weights read without their learner, to score and explain
summary    summary of the training rows, in a file beside the model
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from weigh.store.file import (
    INCOMPLETE,
    SCORECARD,
    build_whole,
    describe,
    holds_card,
    load,
    load_model,
    read_json,
    save,
    tell_offsets,
    tell_parameters,
    to_json,
    version_of,
    version_of_text,
)
from weigh.store.scorer import load_learnt, load_scorer, load_served

if TYPE_CHECKING:
    from weigh.store.model import from_dict, learners, to_dict

__all__ = [
    "INCOMPLETE",
    "SCORECARD",
    "build_whole",
    "describe",
    "from_dict",
    "holds_card",
    "learners",
    "load",
    "load_learnt",
    "load_model",
    "load_scorer",
    "load_served",
    "read_json",
    "save",
    "tell_offsets",
    "tell_parameters",
    "to_dict",
    "to_json",
    "version_of",
    "version_of_text",
]


def __getattr__(name: str) -> Any:
    """Load learners, and with them scikit-learn, at first use: tables of weights need none."""
    if name in ("from_dict", "learners", "to_dict"):
        return getattr(import_module("weigh.store.model"), name)
    raise AttributeError(f"module 'weigh.store' has no attribute {name!r}")
