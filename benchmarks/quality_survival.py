"""`EducatedSurvival` beside Cox regression: `python -m benchmarks.quality_survival`.

Needs lifelines, whose bundled data these are (and telco of WEIGH_DATA). Prints the table of
docs/survival.md: 5 shuffled folds (seed 0, events spread evenly), means over folds. Cox regression
(lifelines) has a column for each category but the first, medians for missing numbers, and the L2
penalty of largest partial likelihood in three inner folds. The Brier score is the mean over 45
times, from the first events of the hold-out rows to 90% of them, as in `weigh.evaluate`.
"""

from __future__ import annotations

import os
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

os.environ |= {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}

import numpy as np
import pandas as pd
from sklearn.model_selection import StratifiedKFold

import weigh
from benchmarks.numbers_sets import as_categories
from weigh.metrics.survival import KaplanMeier, brier_scores, concordance

FOLDS, PENALTIES = 5, (0.001, 0.01, 0.1, 1.0)


@dataclass(frozen=True)
class Problem:
    """A table, whether each row had the event, and its duration."""

    X: pd.DataFrame
    event: Any
    duration: Any

    def rows(self, some: Any) -> Problem:
        return Problem(self.X.iloc[some], self.event[some], self.duration[some])


def bundled(name: str, duration: str, event: str, codes: tuple[str, ...] = (), drop: str = ""):
    """A set of lifelines; whole numbers in `codes` are categories."""
    import lifelines.datasets

    frame = getattr(lifelines.datasets, f"load_{name}")()
    return lambda: prepare(frame.astype(dict.fromkeys(codes, str)), duration, event, drop)


def prepare(frame: pd.DataFrame, duration: str, event: str, drop: str = "") -> Problem:
    came, lasted = frame[event].to_numpy(bool), frame[duration].to_numpy(float)
    X = frame.drop(columns=[duration, event, *drop.split()])
    return Problem(as_categories(X), came, lasted)


def telco() -> Problem:
    """Months to the end of a contract; the total of all bills is left out, which tells them."""
    frame = weigh.datasets.load("telco_churn").to_pandas()
    frame = frame[frame["tenure"] > 0].reset_index(drop=True)
    frame = frame.assign(churn=frame["class"] == "Yes")
    return prepare(frame, "tenure", "churn", "class totalcharges")


@dataclass(frozen=True)
class Cox:
    """Cox regression of lifelines, with the columns of the training rows."""

    model: Any
    medians: Any
    columns: Any

    @classmethod
    def fit(cls, train: Problem) -> Cox:
        from lifelines import CoxPHFitter

        medians = train.X.select_dtypes("number").median()
        X = code(train.X, medians)
        X = X.loc[:, X.nunique() > 1]
        rows = X.assign(lasted=train.duration, came=train.event)
        best = max(PENALTIES, key=lambda penalty: cross_validate(penalty, rows))
        model = CoxPHFitter(penalizer=best).fit(rows, "lasted", "came")
        return cls(model, medians, X.columns)

    def code(self, X: pd.DataFrame) -> pd.DataFrame:
        return code(X, self.medians).reindex(columns=self.columns, fill_value=0.0)

    def risk(self, X: pd.DataFrame) -> Any:
        return self.model.predict_log_partial_hazard(self.code(X)).to_numpy()

    def survival(self, X: pd.DataFrame, times: Any) -> Any:
        return self.model.predict_survival_function(self.code(X), times=times).to_numpy().T


def cross_validate(penalty: float, rows: pd.DataFrame) -> float:
    """Mean partial likelihood of three inner folds; minus infinity if a fit does not converge."""
    from lifelines import CoxPHFitter
    from lifelines.exceptions import ConvergenceError
    from lifelines.utils import k_fold_cross_validation

    try:
        told = k_fold_cross_validation(
            CoxPHFitter(penalizer=penalty), rows, "lasted", "came", k=3, seed=0,
            scoring_method="log_likelihood",
        )  # fmt: skip
    except ConvergenceError:
        return -np.inf
    return float(np.mean(told))


def code(X: pd.DataFrame, medians: Any) -> pd.DataFrame:
    return pd.get_dummies(X.fillna(medians), drop_first=True).astype(float)


@dataclass(frozen=True)
class Ours:
    """`EducatedSurvival`."""

    model: Any

    @classmethod
    def fit(cls, train: Problem) -> Ours:
        rows = train.X.assign(came=train.event, lasted=train.duration)
        return cls(weigh.EducatedSurvival().fit(rows, ("came", "lasted")))

    def risk(self, X: pd.DataFrame) -> Any:
        return self.model.predict_risk(X)

    def survival(self, X: pd.DataFrame, times: Any) -> Any:
        return self.model.predict_survival(X, np.minimum(times, self.model.horizon_))


SETS: dict[str, Callable[[], Callable[[], Problem]]] = {
    "larynx": lambda: bundled("larynx", "time", "death"),
    "lung": lambda: bundled("lung", "time", "status", ("inst", "sex")),
    "rossi": lambda: bundled("rossi", "week", "arrest"),
    "gbsg2": lambda: bundled("gbsg2", "time", "cens"),
    "kidney_transplant": lambda: bundled("kidney_transplant", "time", "death"),
    "dd": lambda: bundled(
        "dd", "duration", "observed", drop="ctryname cowcode2 politycode ehead leaderspellreg"
    ),
    "telco": lambda: telco,
}


@dataclass(frozen=True)
class Measured:
    """Concordance, Brier score, the mean probability of the event by a time, and seconds."""

    concordance: float
    brier: float
    by_then: float
    seconds: float


def measure(learner: Any, train: Problem, test: Problem) -> Measured:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # lifelines: columns of little variance
        begun = time.process_time()
        model = learner.fit(train)
        seconds = time.process_time() - begun
        grid, middle = choose_times(train, test)
        survival = model.survival(test.X, np.append(grid, middle))
        risk = model.risk(test.X)
    return Measured(
        concordance(test.event, test.duration, np.asarray(risk)),
        float(brier_scores(test.event, test.duration, survival[:, :-1], grid).mean()),
        float(1 - survival[:, -1].mean()),
        seconds,
    )


def choose_times(train: Problem, test: Problem) -> tuple[Any, float]:
    """The times of the Brier score, and the median time of the events of the hold-out rows."""
    came = np.sort(test.duration[test.event & (test.duration <= train.duration.max())])
    quantiles = np.linspace(0.02, 0.9, 45)
    grid = np.unique(np.quantile(came, quantiles, method="inverted_cdf"))
    return grid, float(np.quantile(came, 0.5, method="inverted_cdf"))


def observed(train: Problem, test: Problem) -> tuple[float, float]:
    """Brier score of the training rows' Kaplan-Meier estimate, and the hold-out rows' share."""
    grid, middle = choose_times(train, test)
    alone = KaplanMeier.of(train.event, train.duration).at(grid)
    base = np.broadcast_to(alone, (len(test.event), len(grid)))
    own = KaplanMeier.of(test.event, test.duration)
    brier = float(brier_scores(test.event, test.duration, base, grid).mean())
    return brier, float(1 - own.at(np.array([middle]))[0])


def main() -> None:
    lines = [
        "| set | rows, events | concordance | Cox | Brier | Cox | Kaplan-Meier | event by the "
        "median time | Cox | observed | seconds | Cox |",
        "| --- |" + " --- |" * 11,
    ]
    for name, find in SETS.items():
        problem = find()()
        lines.append(tell(name, problem))
        print(lines[-1], flush=True)
    print("\n".join(lines))


def tell(name: str, problem: Problem) -> str:
    """A line of the table."""
    folds = StratifiedKFold(FOLDS, shuffle=True, random_state=0)
    parts = [
        (problem.rows(train), problem.rows(test))
        for train, test in folds.split(problem.X, problem.event)
    ]
    ours, cox = ([measure(learner, *part) for part in parts] for learner in (Ours, Cox))
    base, share = np.mean([observed(*part) for part in parts], axis=0)
    mean = lambda runs, of: float(np.mean([getattr(run, of) for run in runs]))  # noqa: E731
    cells = [
        name,
        f"{len(problem.event):,}, {int(problem.event.sum()):,}",
        *(f"{mean(runs, 'concordance'):.3f}" for runs in (ours, cox)),
        *(f"{mean(runs, 'brier'):.4f}" for runs in (ours, cox)),
        f"{base:.4f}",
        *(f"{mean(runs, 'by_then'):.1%}" for runs in (ours, cox)),
        f"{share:.1%}",
        *(f"{mean(runs, 'seconds'):.2f}" for runs in (ours, cox)),
    ]
    return "| " + " | ".join(cells) + " |"


if __name__ == "__main__":
    main()
