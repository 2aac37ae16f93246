"""The data sets, as the paper may have had them: two readings of the class."""

from __future__ import annotations

from typing import Any

import numpy as np

from weigh import EvidenceNB, datasets, engine
from weigh.bins import Cross, Feature
from weigh.frames import label_sample, read
from weigh.parameters import read_settings

FURTHER = (
    "heart_cleveland",
    "credit_approval_crx",
    "breast_cancer_ljubljana",
    "tic_tac_toe",
    "kr_vs_kp",
    "compas_two_years",
    "telco_churn",
    "waveform_5000",
)
CODES = {  # integers that are categories
    "australian_credit": ("a1", "a4", "a5", "a6", "a8", "a9", "a11", "a12"),
    "dermatology": None,  # all but the age
    "lung_cancer": None,
}
COMPLETE = ("breast_cancer_wisconsin", "pima_diabetes", "house_votes_84")
ZERO_IS_MISSING = ["plas", "pres", "skin", "insu", "mass"]
RINGS = [6.5, 7.5, 8.5, 9.5, 10.5, 11.5]  # the paper has 7 classes and does not say which


def load(name: str) -> tuple[Any, Any, Any]:
    """The table, its labels, and which columns are categories."""
    frame = datasets.load(name).to_pandas()
    y = frame.pop("class")
    if name == "abalone":
        y = np.digitize(y.astype(float), RINGS)
    if name == "pima_diabetes":
        frame[ZERO_IS_MISSING] = frame[ZERO_IS_MISSING].replace(0, np.nan)
    if name == "compas_two_years":  # outcomes, and the scores of a rival
        frame = frame.drop(columns=[c for c in frame if "recid" in c or "score" in c])
    y = np.asarray(y).astype(str)
    kept = np.full(len(y), True)
    if name in COMPLETE:
        kept = frame.notna().all(axis=1).to_numpy()
    if name == "ecoli":
        kept = ~np.isin(y, ["imS", "imL"])  # two rows each: 332 are left, as in the paper
    codes: Any = "from_dtype"
    if name in CODES:
        codes = CODES[name] or [c for c in frame if c != "age"]
        codes = [*codes]
    return frame[kept].reset_index(drop=True), y[kept], codes


def find_features(table: Any, y: Any, codes: Any) -> list[Feature | Cross]:
    """The levels that some rows have."""
    sample = label_sample(table, y)
    settings = read_settings(EvidenceNB(categorical_features=codes), sample.table)
    return [table.feature for table in engine.tally(sample, settings).tables]


def load_last(name: str) -> tuple[Any, Any, Any]:
    """The other reading: the class is the last attribute, after all were cut by the true class.

    Attributes of one interval are left out first.
    """
    return cut_last(*load(name))


def cut_last(X: Any, y: Any, codes: Any) -> tuple[Any, Any, Any]:
    """The last attribute of a table as its class, on intervals that the true class gives."""
    table = read(X)
    features = [f for f in find_features(table, y, codes) if len(f.levels) > 1]
    placed = zip(features, engine.place(table, features), strict=True)
    levels = {feature.name: np.char.add("v", part.codes.astype(str)) for feature, part in placed}
    frame = X[[]].assign(**levels)
    return frame, frame.pop(features[-1].name).to_numpy().astype(str), "from_dtype"


LOADERS = {"true class": load, "last attribute": load_last}
