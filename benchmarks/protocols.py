"""EducatedNB in the protocols by which other libraries and papers measure themselves.

    WEIGH_DATA=... python -m benchmarks.protocols

InterpretML's README: three stratified shuffles with a quarter of the rows to test, by AUC. Papers
on A1DE: two folds, here five times, by the error and the RMSE of the true class. Both leave out
loss and calibration. The results are kept in benchmarks/results/protocols.json, from which
docs/protocols.md is written.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import pandas as pd
from scipy.optimize import minimize_scalar
from scipy.special import log_softmax
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import RepeatedStratifiedKFold, StratifiedShuffleSplit
from threadpoolctl import threadpool_limits

import weigh
from benchmarks.quality import LEAST, calibration_slope, find_log_odds, loss
from benchmarks.rivals import a1de, interpret
from benchmarks.sets import prepare
from benchmarks.speed_page import Run
from weigh import datasets

ROOT = Path(__file__).parents[1]
PAGE, RESULTS = ROOT / "docs" / "protocols.md", ROOT / "benchmarks" / "results" / "protocols.json"
Floats: TypeAlias = np.ndarray[Any, Any]
Learner: TypeAlias = Callable[[Any, Any], Any]
Measures: TypeAlias = dict[str, float]

SHUFFLES = StratifiedShuffleSplit(n_splits=3, test_size=0.25, random_state=1337)
PUBLISHED = {"telco": 0.852, "breast cancer": 0.995}
"""AUC of EBM in the README of InterpretML."""

HALVES = RepeatedStratifiedKFold(n_splits=2, n_repeats=5, random_state=0)
CATEGORIES = ("tic_tac_toe", "car_evaluation", "kr_vs_kp", "nursery")


def educated(X: Any, y: Any) -> Any:
    return weigh.EducatedNB().fit(X, y)


def naive(X: Any, y: Any) -> Any:
    return weigh.EvidenceNB().fit(X, y)


def read_shuffled(name: str) -> tuple[pd.DataFrame, Floats]:
    """One of the two sets of InterpretML's README."""
    if name == "breast cancer":
        X, y = load_breast_cancer(return_X_y=True, as_frame=True)
        return X, np.asarray(y)
    problem = prepare(name)
    return problem.X, problem.y


def read_categories(name: str) -> tuple[pd.DataFrame, Floats]:
    """A set whose columns are all categories, with classes as codes."""
    frame = datasets.load(name).to_pandas().astype("category")
    return frame.drop(columns="class"), frame["class"].cat.codes.to_numpy()


def measure_two(p: Floats, y: Floats) -> Measures:
    """AUC, loss in bits and calibration slope of predictions of two classes."""
    slope = calibration_slope(find_log_odds(p), y)
    return {"AUC": weigh.metrics.auc(y, p[:, 1]).value, "loss": loss(p, y), "slope": slope}


def measure_many(p: Floats, y: Floats) -> Measures:
    """Error, RMSE of the true class, loss in bits and calibration slope, for any classes."""
    true = p[np.arange(len(y)), y]
    error, distance = (
        float((p.argmax(axis=1) != y).mean()),
        float(np.sqrt(((1 - true) ** 2).mean())),
    )
    return {"error": error, "RMSE": distance, "loss": loss(p, y), "slope": find_power(p, y)}


def find_power(p: Floats, y: Floats) -> float:
    """The power b for which p^b, with a sum of one, makes the classes most likely."""
    logs, rows = np.log(np.clip(p, LEAST, 1)), np.arange(len(y))
    found = minimize_scalar(
        lambda b: -log_softmax(b * logs, axis=1)[rows, y].sum(), bounds=(0, 20), method="bounded"
    )
    return float(found.x)


def run(
    X: pd.DataFrame, y: Floats, splits: Any, learner: Learner, measure: Callable[..., Measures]
) -> Iterator[Measures]:
    """The measures of the hold-out rows of each split."""
    for train, test in splits.split(X, y):
        model = learner(X.iloc[train], y[train])
        yield measure(np.asarray(model.predict_proba(X.iloc[test])), y[test])


PROTOCOLS = {
    "shuffles": (
        [*PUBLISHED],
        read_shuffled,
        SHUFFLES,
        {"EducatedNB": educated, "EBM": interpret.fit},
        measure_two,
    ),
    "halves": (
        CATEGORIES,
        read_categories,
        HALVES,
        {"EducatedNB": educated, "A1DE": a1de.fit, "EvidenceNB": naive},
        measure_many,
    ),
}


def measure_protocol(name: str) -> list[dict[str, Any]]:
    """A line for each set and learner: mean and standard deviation of each measure over splits."""
    sets, read, splits, learners, measure = PROTOCOLS[name]
    lines = []
    for own in sets:
        X, y = read(own)
        for learner, fit in learners.items():
            found = pd.DataFrame(run(X, y, splits, fit, measure))
            mean, spread = found.mean().to_dict(), found.std(ddof=0).to_dict()
            lines.append({"set": own, "learner": learner, "mean": mean, "spread": spread})
            print(own, learner, {key: round(value, 4) for key, value in mean.items()}, flush=True)
    return lines


# ---------------------------------------------------------------- the page

TEXT = """# Other libraries' protocols

Libraries and papers measure themselves on data sets, splits and measures of their own choice. This
page repeats two such protocols with `EducatedNB()`, and adds the loss and the calibration slope
that they leave out. After ± stands the standard deviation over the splits. A slope of 1 is
calibrated, below 1 overconfident, above 1 underconfident. [Quality](quality.md) has our own
protocol.

{run}

## InterpretML: three shuffles, AUC

Three stratified shuffles with a quarter of the rows to test (seed 1337). The README of InterpretML
(github.com/interpretml/interpret) publishes an AUC of {telco} on telco and {cancer} on breast
cancer for EBM. The rows "EBM" were measured here, with its default settings. The test sets of
breast cancer have 143 rows each, too few to tell the two apart.

{shuffles}

{verdict}

## A1DE: two folds, error and RMSE

Papers on A1DE (averaged one-dependence estimators, AODE; Webb, Boughton and Wang 2005) give the
error and the RMSE of the true class: the root of the mean of (1 - p)², with p the predicted
probability of the true class. Here two stratified folds are repeated five times, on four sets of
categories that such papers use. A1DE is `benchmarks/rivals/a1de.py`, a plain implementation with
m-estimates, m = 1. It keeps the counts of all pairs of features, and has no table of weights to
read. The slope is the exponent of the predicted probabilities that fits the classes best.

{halves}
"""

DIGITS = {"error": 4, "RMSE": 4, "AUC": 4, "loss": 4, "slope": 2}


def render(results: dict[str, Any]) -> str:
    """The whole page."""
    telco, cancer = (f"{PUBLISHED[name]}" for name in ("telco", "breast cancer"))
    return TEXT.format(
        run=Run(**results["run"]).tell(),
        shuffles=_table(results["shuffles"]),
        halves=_table(results["halves"]),
        verdict=_judge(results["shuffles"]),
        telco=telco,
        cancer=cancer,
    )


def _table(lines: list[dict[str, Any]]) -> str:
    names = [*lines[0]["mean"]]
    head = ["set", "learner", *("loss, bits" if name == "loss" else name for name in names)]
    rows = [
        [line["set"], line["learner"], *(_cell(line, name) for name in names)] for line in lines
    ]
    return "\n".join("| " + " | ".join(row) + " |" for row in (head, ["---"] * len(head), *rows))


def _cell(line: dict[str, Any], name: str) -> str:
    return f"{line['mean'][name]:.{DIGITS[name]}f} ± {line['spread'][name]:.{DIGITS[name]}f}"


def _judge(lines: list[dict[str, Any]]) -> str:
    """A sentence for each set: our AUC beside the published one, and our loss beside EBM's."""
    found = {(line["set"], line["learner"]): line["mean"] for line in lines}
    told = []
    for name, published in PUBLISHED.items():
        ours, rival = found[name, "EducatedNB"], found[name, "EBM"]
        gap, share = ours["AUC"] - published, ours["loss"] / rival["loss"]
        side = "above" if gap > 0 else "below"
        told.append(
            f"- {name}: the AUC of `EducatedNB` is {abs(gap):.4f} {side} the published one.\n"
            f"  Its loss is {share:.3f} times EBM's."
        )
    return "\n".join(told)


def main() -> None:
    run_of = Run.now("python -m benchmarks.protocols")
    with threadpool_limits(1):
        found = {name: measure_protocol(name) for name in PROTOCOLS}
    results = {"run": asdict(run_of)} | found
    RESULTS.write_text(json.dumps(results, indent=1, ensure_ascii=False) + "\n", "utf-8")
    PAGE.write_text(render(results), "utf-8")


if __name__ == "__main__":
    main()
