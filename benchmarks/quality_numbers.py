"""How good estimates of numbers are, beside rivals: RMSE or deviance, intervals and time.

    WEIGH_DATA=... python -m benchmarks.quality_numbers

writes docs/quality_numbers.md: 5 shuffled folds (seed 0), the same for all, on one thread. Seconds
are processor seconds of one fit. `EducatedRegressor` is measured anew. Rivals are not run: their
hold-out predictions are kept in benchmarks/results/numbers. To run the folds that are not there,

    python -m benchmarks.quality_numbers --rivals EBM --sets bodyfat diabetes

which keeps each fold as soon as it ends. To run a fold again, delete its file.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any

os.environ |= {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}

import numpy as np

import weigh
from benchmarks import numbers_kept as kept
from benchmarks.numbers_rivals import OURS, RIVAL, RIVALS, fit_ours, predict
from benchmarks.numbers_sets import COUNTS, SETS, Problem
from weigh.educated.intervals import CountDistribution
from weigh.layout import count_of

PAGE = Path(__file__).parents[1] / "docs" / "quality_numbers.md"
COVERAGE = 0.9
"""The stated coverage of intervals."""


def loss(problem: Problem, y: Any, mean: Any) -> float:
    """Mean squared error, or mean Poisson deviance."""
    if problem.exposure is None:
        return float(((y - mean) ** 2).mean())
    mean = np.maximum(mean, 1e-12)
    logs = np.where(y > 0, y * np.log(np.where(y > 0, y, 1.0) / mean), 0.0)
    return float(2 * (logs - y + mean).mean())


def refuse_other_data(known: kept.Kept, problem: Problem, path: Path) -> None:
    """End the program if predictions were kept for other data."""
    if known.data != problem.digest:
        raise SystemExit(f"{path} was made from different data: delete it and run again")


def run_rival(name: str, learner: str) -> None:
    """The folds that are not kept yet."""
    problem = SETS[name]()
    if learner == "pyGAM" and problem.exposure is not None:
        return
    fit, package = RIVALS[learner]
    known = kept.read(name, learner) or kept.start(problem, package)
    refuse_other_data(known, problem, kept.path(name, learner))
    for fold, (train, test) in enumerate(kept.splits(problem)):
        if known.has(fold):
            continue
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            begun = time.process_time()
            model = fit(problem.rows(train))
            seconds = time.process_time() - begun
            known = known.with_fold(
                fold, test, predict(learner, model, problem.rows(test)), seconds
            )
        kept.write(name, learner, known)
        print(name, learner, fold, f"{seconds:.1f} s", file=sys.stderr, flush=True)


def main() -> None:
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--sets", nargs="*", default=[*SETS])
    arguments.add_argument("--rivals", nargs="*", default=[], choices=[*RIVALS])
    asked = arguments.parse_args()
    for learner in asked.rivals:
        for name in asked.sets:
            run_rival(name, learner)
    if not asked.rivals:
        weigh.EducatedRegressor().fit(np.arange(600.0).reshape(-1, 2), np.arange(300.0))  # compiles
        write_page({name: run_ours(name) for name in asked.sets})


@dataclass(frozen=True)
class Measured:
    """Hold-out results of one learner on one set, fold by fold; NaN where a fold was not run."""

    losses: np.ndarray
    seconds: np.ndarray
    covered: np.ndarray | None = None  # share of rows inside their intervals

    def mean(self, folds: np.ndarray, counts: bool) -> float:
        """RMSE, or mean deviance, over some folds."""
        mean = float(self.losses[folds].mean())
        return mean if counts else float(np.sqrt(mean))

    @property
    def run(self) -> np.ndarray:
        return ~np.isnan(self.losses)


def run_ours(name: str) -> Measured:
    """EducatedRegressor on all folds of a set."""
    problem, losses, seconds, covered = SETS[name](), [], [], []
    for train, test in kept.splits(problem):
        begun = time.process_time()
        model = fit_ours(problem.rows(train))
        seconds.append(time.process_time() - begun)
        rows = problem.rows(test)
        losses.append(loss(problem, rows.y, predict(OURS, model, rows)))
        low, high = model.predict_interval(rows.X, COVERAGE, exposure=rows.exposure).T
        covered.append(float(((low <= rows.y) & (rows.y <= high)).mean()))
        print(name, OURS, losses[-1], f"{seconds[-1]:.2f} s", file=sys.stderr, flush=True)
    return Measured(*map(np.array, (losses, seconds, covered)))


def read_rival(name: str, learner: str) -> Measured | None:
    """The kept folds of a rival; None if there is none, an error if the data have changed."""
    known = kept.read(name, learner)
    if known is None:
        return None
    problem = SETS[name]()
    refuse_other_data(known, problem, kept.path(name, learner))
    losses = np.array(
        [
            loss(problem, problem.y[test], known.predictions[test])
            for _, test in kept.splits(problem)
        ]
    )
    return Measured(np.where(np.isnan(known.seconds), np.nan, losses), known.seconds)


def least_coverage(law: CountDistribution, means: np.ndarray, stated: float = 0.9) -> np.ndarray:
    """The least probability, `stated` at least, that any interval of whole counts can have."""
    top = int(law.quantile(np.full(len(means), 0.9999), means).max()) + 1
    below = law.below(np.arange(-1.0, top + 1)[None], means[:, None])  # of -1 it is 0
    found = np.ones(len(means))
    for low in range(top + 1):
        inside = below[:, low + 1 :] - below[:, [low]]
        found = np.minimum(found, np.where(inside >= stated, inside, 1.0).min(axis=1))
    return found


def attain(name: str, n_train: int = 6000, n_test: int = 2000) -> dict[str, float]:
    """Of a set of counts, first fold: coverage measured, expected by the model, and the least."""
    problem = SETS[name]()
    train, test = kept.splits(problem)[0]
    train, test = train[:n_train], test[:n_test]
    model = weigh.EducatedRegressor(family="poisson")
    model.fit(problem.X.iloc[train], problem.y[train], exposure=problem.exposure[train])
    rows, own = problem.X.iloc[test], {"exposure": problem.exposure[test]}
    means, law = model.predict(rows, **own), CountDistribution(model.dispersion_)
    low, high = model.predict_interval(rows, 0.9, **own).T
    expected = law.below(high, means) - law.below(low - 1, means)
    measured = (low <= problem.y[test]) & (problem.y[test] <= high)
    parts = {"measured": measured, "expected": expected, "least": least_coverage(law, means)}
    return {part: float(values.mean()) for part, values in parts.items()}


def tell_attained() -> str:
    """A table of what intervals of counts can cover."""
    lines = ["| set | measured | expected by the model | least |", "| --- | --- | --- | --- |"]
    for name in COUNTS:
        own = attain(name)
        cells = [f"{own[part]:.3f}" for part in ("measured", "expected", "least")]
        lines.append(f"| {name} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


HEAD = """# Estimates of numbers, measured

Written by `python -m benchmarks.quality_numbers`: 5 shuffled folds (seed 0), one thread, processor
seconds of one fit. `EducatedRegressor` and EBM ({ebm}) have their default
settings, with interactions. LightGBM is tuned over eight settings by inner cross-validation.
Ridge regression on
cubic splines chooses its penalty by leave-one-out. pyGAM has a spline per number, a factor per
category and no interactions, searches its penalty on its default grid, and is run on amounts only.
The logarithm of the exposure is the initial score of EBM and LightGBM, in fitting and in
predicting; ridge fits rates, weighted by exposure.

The hold-out predictions of rivals are kept in `benchmarks/results/numbers`, with the version of
each library and a digest of the data. A further run measures `EducatedRegressor` anew and runs no
rival. "over EBM" is the ratio on the folds that both have, with its standard error over folds.
{missing}

doctor_visits and doctor_counts are statsmodels' `randhie`: 20,190 years of people whose features
do not change. Rows of equal features, 2,760 of them, are one row here, so that no model can
recognise a person whose other years it has seen. doctor_counts are the visits, with the years as
exposure; doctor_visits are visits per year. Members of a family still share their plan, incentive
payment and spending limit, to the last digit. So a model that fits exact values can recognise the
family of a hold-out row. doctor_families are the rows of doctor_counts in folds that divide no
family.

RMSE is the root of the mean squared error over folds. The sets of counts (doctor_counts,
doctor_families, policies) show the mean Poisson deviance instead; policies are made up. "in 90%" is
the share of hold-out rows inside the 90% interval of `predict_interval`.

An interval of whole counts cannot have exactly 90%. `predict_interval` gives the shortest that has
at least 90% of the model's probability. "Expected" is the mean probability of these intervals by
the model: calibrated intervals measure what is expected. "Least" is the least that any interval of
whole counts with at least 90% can have (first fold, 6,000 training rows, 2,000 hold-out rows):

{attained}

On policies 88% of the counts are 0. There, intervals that keep their 90% cover 96% on average or
more. "seconds" are those of `EducatedRegressor`.
"""


def write_page(ours: dict[str, Measured]) -> None:
    """Write the page: a line for each set, and geometric means of ratios."""
    head = ["set", OURS, *RIVALS, "over EBM", "in 90%", "seconds", "EBM's"]
    ratios: dict[str, list[float]] = {"RMSE": [], "deviance": [], "seconds": []}
    table = ["| " + " | ".join(head) + " |", "| --- |" + " --- |" * (len(head) - 1)]
    for name, own in ours.items():
        rivals = {learner: read_rival(name, learner) for learner in RIVALS}
        cells = [tell(found, name in COUNTS) for found in (own, *rivals.values())]
        cells += beside_ebm(name, own, rivals[RIVAL], ratios)
        table.append(f"| {name} | " + " | ".join(cells) + " |")
    ebm = kept.read("auto_mpg", RIVAL)
    lead = HEAD.format(
        attained=tell_attained(), ebm=ebm.library if ebm else "", missing=tell_missing(ours)
    )
    PAGE.write_text("\n".join([lead, *table, "", *tell_ratios(ratios)]) + "\n", encoding="utf-8")


def beside_ebm(
    name: str, own: Measured, ebm: Measured | None, ratios: dict[str, list[float]]
) -> list[str]:
    """Ratio, coverage and seconds of a set; ratios are collected."""
    assert own.covered is not None
    seconds = float(own.seconds.mean())
    cells = ["", f"{own.covered.mean():.3f}", f"{seconds:.2f}", ""]
    if ebm is None or not ebm.run.any():
        return cells
    counts, taken = name in COUNTS, float(np.nanmean(ebm.seconds))
    ratio = own.mean(ebm.run, counts) / ebm.mean(ebm.run, counts)
    if ebm.run.all():
        ratios["deviance" if counts else "RMSE"].append(ratio)
        ratios["seconds"].append(seconds / taken)
    return [f"{ratio:.3f} ± {error_of_ratio(own, ebm, counts):.3f}", *cells[1:3], f"{taken:.1f}"]


def error_of_ratio(own: Measured, ebm: Measured, counts: bool) -> float:
    """Standard error of the mean logarithm of the ratio, over the folds that both have."""
    logs = np.log(own.losses[ebm.run] / ebm.losses[ebm.run]) / (1 if counts else 2)
    return float(logs.std(ddof=1) / np.sqrt(len(logs))) if len(logs) > 1 else float("nan")


def tell_missing(ours: dict[str, Measured]) -> str:
    """A sentence on the sets of which EBM has not all folds."""
    found = {name: read_rival(name, RIVAL) for name in ours}
    lacks = [name for name, ebm in found.items() if ebm is None or not ebm.run.all()]
    if not lacks:
        return "EBM has all folds of all sets."
    return f"EBM lacks folds of {', '.join(lacks)}. A figure with (1 of 5) is the mean of one fold."


def tell_ratios(ratios: dict[str, list[float]]) -> list[str]:
    lines = []
    for text, values in ratios.items():
        if values:
            mean, sets = float(np.exp(np.log(values).mean())), count_of(len(values), "set")
            told = f"from {min(values):.3f} to {max(values):.3f}"
            of = f"Geometric mean of {text} over that of EBM, {sets} with all folds"
            lines.append(f"{of}: {mean:.3f} ({told}).")
    return lines


def tell(found: Measured | None, counts: bool) -> str:
    """The loss of the folds that were run, and how many those are where some were not."""
    if found is None or not found.run.any():
        return "not run"
    n, part = int(found.run.sum()), ""
    if n < kept.FOLDS:
        part = f" ({n} of {kept.FOLDS})"
    return f"{found.mean(found.run, counts):.4g}{part}"


if __name__ == "__main__":
    main()
