"""Tables with a numeric target, for `benchmarks.quality_numbers`."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
from sklearn.datasets import load_diabetes

import weigh


@dataclass(frozen=True)
class Problem:
    """A table, its numeric target, and the exposure of each row of counts.

    Rows of one group are in the same fold.
    """

    X: pd.DataFrame
    y: Any
    exposure: Any = None
    groups: Any = None

    @property
    def family(self) -> str:
        return "gaussian" if self.exposure is None else "poisson"

    @property
    def digest(self) -> str:
        """Changes where any cell, the order of rows or the names of columns change."""
        text = self.X.assign(target=self.y, exposure=self.exposure).to_csv(index=False)
        return hashlib.sha256(text.encode()).hexdigest()[:16]

    def rows(self, some: Any) -> Problem:
        exposure = None if self.exposure is None else self.exposure[some]
        return Problem(self.X.iloc[some], self.y[some], exposure)


def own(name: str, target: str = "target", drop: tuple[str, ...] = ()) -> Problem:
    frame = weigh.datasets.load(name).to_pandas().drop(columns=[*drop])
    frame = frame[frame[target].notna()].reset_index(drop=True)
    return Problem(as_categories(frame.drop(columns=target)), frame[target].to_numpy(float))


def as_categories(frame: pd.DataFrame) -> pd.DataFrame:
    text = frame.columns.difference(frame.select_dtypes("number").columns)
    return frame.astype(dict.fromkeys(text, "category"))


def diabetes() -> Problem:
    data = load_diabetes(as_frame=True, scaled=False)
    return Problem(data.data, data.target.to_numpy(float))


def affairs() -> Problem:
    """Of statsmodels' sets: hours spent in affairs, by a survey of 1974."""
    import statsmodels.api as sm

    frame = sm.datasets.fair.load_pandas().data
    y = frame.pop("affairs").to_numpy(float)
    return Problem(frame, y)


def doctor(counted: bool) -> Problem:
    """Of statsmodels' sets: visits to doctors, of the RAND health insurance experiment.

    A person has a row for each year, with the same features. So that no fold has years of the same
    person in training and hold-out rows, rows of equal features are one row here: their visits
    are counted, with the years as exposure, or averaged.
    """
    import statsmodels.api as sm

    frame = sm.datasets.randhie.load_pandas().data
    features = [name for name in frame.columns if name != "mdvis"]
    years = frame.groupby(features)["mdvis"].agg(["sum", "count"]).reset_index()
    visits, n = years.pop("sum").to_numpy(float), years.pop("count").to_numpy(float)
    return Problem(years, visits, n) if counted else Problem(years, visits / n)


def families() -> Problem:
    """`doctor`, counted, in folds that divide no family.

    Members of a family have the same plan, incentive payment and spending limit, to the last digit.
    Rows that agree in all four may be one family. Two families that agree stay together, too.
    """
    known = doctor(counted=True)
    shared = known.X.groupby(["lncoins", "idp", "lpi", "fmde"]).ngroup()
    return replace(known, groups=shared.to_numpy())


def policies() -> Problem:
    """Made up: 20,000 insurance policies with claims in part of a year."""
    random, n = np.random.default_rng(0), 20_000
    X = pd.DataFrame(
        {
            "age": random.integers(18, 80, n),
            "power": random.integers(4, 13, n),
            "bonus": random.gamma(2.0, 20.0, n).round(),
            "region": pd.Categorical(random.choice([*"abcdefghij"], n)),
            "fuel": pd.Categorical(random.choice(["petrol", "diesel"], n)),
        }
    )
    log = -2.2 + 0.9 * np.exp(-(X["age"] - 18) / 8) + 0.012 * X["bonus"]
    log += 0.05 * (X["power"] - 8) * (X["fuel"] == "diesel") + 0.1 * X["region"].cat.codes / 3
    exposure = random.uniform(0.05, 1.0, n).round(2)
    return Problem(X, random.poisson(exposure * np.exp(log)).astype(float), exposure)


SETS: dict[str, Callable[[], Problem]] = {
    "auto_mpg": lambda: own("reg_auto_mpg"),
    "bodyfat": lambda: own("reg_bodyfat", drop=("density",)),
    "diabetes": diabetes,
    "imports_price": lambda: own("imports_85", "price"),
    "abalone": lambda: own("reg_abalone_rings"),
    "affairs": affairs,
    "doctor_visits": lambda: doctor(counted=False),
    "doctor_counts": lambda: doctor(counted=True),
    "doctor_families": families,
    "policies": policies,
}
COUNTS = ("doctor_counts", "doctor_families", "policies")
