"""The two-class data sets of `benchmarks.quality`: what is predicted, what is left out, and why.

Files are read by `weigh.datasets.load`: an empty field is missing, the text
`NA` is a value. Columns of text and of truth values become categories; numbers stay numbers but
for those listed under `codes`. Codes that stand for "not known" or "never" become missing.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
from sklearn.model_selection import StratifiedKFold

from weigh import datasets

FOLDS, SEED = 5, 0


@dataclass(frozen=True)
class Source:
    """How a file becomes a table and a target."""

    file: str
    positive: str
    target: str = "class"
    drop: dict[str, str] = field(default_factory=dict)  # column: why
    codes: tuple[str, ...] = ()  # whole numbers that name categories
    missing: dict[str, float] = field(default_factory=dict)  # number that stands for missing
    sample: int | None = None  # rows drawn at random


@dataclass(frozen=True)
class Problem:
    """A table, its target as 0 and 1, and the fold in which each row is held out."""

    name: str
    X: pd.DataFrame
    y: np.ndarray[Any, Any]
    folds: np.ndarray[Any, Any]

    @property
    def categorical(self) -> list[str]:
        """The columns of categories."""
        return self.X.select_dtypes("category").columns.tolist()


OUTCOME = "an outcome itself"
SCORE = "another model's score"

SOURCES = {
    "heart": Source("heart_cleveland", "present"),
    "crx": Source("credit_approval_crx", "+"),
    "pima": Source(
        "pima_diabetes",
        "tested_positive",
        missing=dict.fromkeys(("plas", "pres", "skin", "insu", "mass"), 0),
    ),
    "tic_tac_toe": Source("tic_tac_toe", "positive"),
    "titanic": Source(
        "titanic_passengers",
        "yes",
        drop={
            "name": "one of its own for nearly every row",
            "ticket": "929 values in 1,309 rows",
            "cabin": "known more often for survivors, in every class",
            "home_dest": "free text, 369 values",
        },
    ),
    "kr_vs_kp": Source("kr_vs_kp", "won"),
    "spambase": Source("spambase", "1"),
    "mushroom": Source("mushroom", "p"),
    "telco": Source("telco_churn", "Yes", codes=("seniorcitizen",)),
    "compas": Source(
        "compas_two_years",
        "1",
        drop={
            "is_recid": OUTCOME,
            "is_violent_recid": OUTCOME,
            "decile_score": SCORE,
            "score_text": SCORE,
            "v_decile_score": SCORE,
            "v_score_text": SCORE,
        },
    ),
    "census": Source(
        "census_income_kdd",
        "50000+",
        drop={"instance_weight": "a survey weight", "split": "a prescribed split"},
        codes=(
            "detailed_industry_recode",
            "detailed_occupation_recode",
            "own_business_or_self_employed",
            "veterans_benefits",
            "year",
        ),
        sample=20_000,
    ),
    "nij": Source(
        "nij_recidivism_full",
        "true",
        target="Recidivism_Within_3years",
        drop={
            "ID": "names the row",
            "Recidivism_Arrest_Year1": OUTCOME,
            "Recidivism_Arrest_Year2": OUTCOME,
            "Recidivism_Arrest_Year3": OUTCOME,
            "Training_Sample": "a prescribed split",
        },
        codes=("Residence_PUMA",),
    ),
    "bank": Source(
        "bank_marketing_full",
        "yes",
        drop={"duration": "known only after the call"},
        missing={"pdays": -1},
    ),
}
"""From the quickest to the slowest."""


def prepare(name: str) -> Problem:
    """Read one set and deal its rows to folds."""
    source = SOURCES[name]
    frame = datasets.load(source.file).to_pandas()
    if source.sample is not None:
        frame = frame.sample(source.sample, random_state=SEED).reset_index(drop=True)
    y = _target(frame.pop(source.target), source)
    X = frame.drop(columns=[*source.drop])
    for column, code in source.missing.items():
        X[column] = X[column].where(X[column] != code)
    numbers = [c for c in X.select_dtypes("number").columns if c not in source.codes]
    X = pd.DataFrame({c: _number(X[c]) if c in numbers else _category(X[c]) for c in X.columns})
    folds = np.zeros(len(y), dtype=int)
    splitter = StratifiedKFold(FOLDS, shuffle=True, random_state=SEED)
    for fold, (_, test) in enumerate(splitter.split(X, y)):
        folds[test] = fold
    return Problem(name, X, y, folds)


def _target(column: Any, source: Source) -> np.ndarray[Any, Any]:
    labels = column.astype(str).str.lower()
    y = (labels == source.positive.lower()).to_numpy().astype(int)
    if labels.nunique() != 2 or not 0 < y.sum() < len(y):
        raise ValueError(
            f"{source.file}: {source.target} should hold {source.positive!r} and one more label, "
            f"got {sorted(labels.unique())}; correct the entry in benchmarks.sets.SOURCES"
        )
    return y


def _number(column: Any) -> Any:
    return column.astype("float64")


def _category(column: Any) -> Any:
    """Levels as text, so that every library sees the same ones."""
    text = column.map(lambda value: value if isinstance(value, str) else str(value), "ignore")
    return text.astype(object).where(column.notna(), None).astype("category")
