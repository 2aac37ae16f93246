"""How often a 90% interval holds what made the row: its log odds, and the weight of each level.

    python -m benchmarks.coverage [fits]

prints the tables of docs/educated-method.md. An interval of log odds is that of the probability,
too. Rows come from the model: curves of 32 steps and tables of six categories, drawn from the prior
with weights as large as it takes them for, or twice as large, and labels by the total. Each fit
sees new tables and new rows; rows that are asked for are others.

The second table has samples of public data in place of made rows. The fit of all rows is taken for
the truth there.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from scipy.special import expit, ndtri

from benchmarks.sets import prepare
from weigh import EducatedNB, engine
from weigh.educated.design import Design, Source, add_squares
from weigh.educated.prior import LEVEL, WALK, curve
from weigh.evidence import Evidence
from weigh.frames import read

STEPS, LEVELS, ASKED = 32, 6, 500
Z = ndtri(0.95)


@dataclass(frozen=True)
class World:
    """Tables as the prior has them: curves about their mean, and independent levels."""

    curves: np.ndarray[Any, Any]
    levels: np.ndarray[Any, Any]
    base: float

    @classmethod
    def draw(cls, rng: np.random.Generator, n_each: int, times: float) -> World:
        """So many tables of either kind, their weights some times as large as the prior's."""
        covariance = WALK * np.linalg.pinv(curve(np.ones(STEPS)))
        curves = times * rng.multivariate_normal(np.zeros(STEPS), covariance, n_each, method="eigh")
        levels = times * np.sqrt(LEVEL) * rng.normal(size=(n_each, LEVELS))
        return cls(curves, levels, rng.normal(-1, 0.5))

    def rows(self, rng: np.random.Generator, n_rows: int) -> tuple[pd.DataFrame, Any]:
        """A table of rows, and the weights that each was made by, a column per table."""
        numbers = rng.integers(0, STEPS, (n_rows, len(self.curves)))
        codes = rng.integers(0, LEVELS, (n_rows, len(self.levels)))
        columns = {f"number_{j}": numbers[:, j].astype(float) for j in range(len(self.curves))}
        columns |= {f"code_{j}": codes[:, j].astype(str) for j in range(len(self.levels))}
        weights = [own[numbers[:, j]] for j, own in enumerate(self.curves)]
        weights += [level[codes[:, j]] for j, level in enumerate(self.levels)]
        return pd.DataFrame(columns), np.column_stack(weights)


@dataclass(frozen=True)
class Held:
    """Shares of intervals of new rows and of weights that hold the truth; mean standard error.

    The error is that of the log odds of new rows.
    """

    total: float
    weight: float
    error: float


def errors_of(evidence: Evidence, table: Any) -> Any:
    """The standard error of each row's log odds, as the sheet has it."""
    assert evidence.covariance is not None
    design = Design(tuple(Source.of(j, len(part.levels)) for j, part in enumerate(evidence)))
    placed = engine.place(table, evidence.features)
    rows = engine.Block([part.levels[part.codes] for part in placed], np.zeros(table.n_rows))
    index = design.index(np.arange(design.n_weights))
    return np.sqrt(add_squares(design.place(rows), index, evidence.covariance))


def held(world: World, rng: np.random.Generator, n_rows: int) -> Held:
    """Fit rows of a world, and ask about others."""
    X, weights = world.rows(rng, n_rows)
    y = (rng.random(n_rows) < expit(world.base + weights.sum(axis=1))).astype(int)
    model = EducatedNB(pairs=0).fit(X, y)
    new, truth = world.rows(rng, ASKED)
    error = errors_of(model.evidence_, read(new))
    away = np.abs(model.decision_function(new) - world.base - truth.sum(axis=1))
    inside = _weights_held(model.evidence_, read(new), truth - weights.mean(axis=0))
    return Held(float((away <= Z * error).mean()), inside, float(error.mean()))


def _weights_held(evidence: Evidence, table: Any, truth: Any) -> float:
    """The share of weights within their interval, all with mean zero over the training rows."""
    inside = []
    for j, (part, placed) in enumerate(
        zip(evidence, engine.place(table, evidence.features), strict=True)
    ):
        at = placed.levels[placed.codes]
        centred = part.weights - part.share @ part.weights
        away = np.abs(centred[at] - truth[:, j])
        inside.append(away <= Z * part.errors[at])
    return float(np.mean(inside))


def held_in_samples(name: str, n_rows: int, fits: int) -> list[float]:
    """The share of other rows of a set whose intervals hold the log odds of the fit of all rows."""
    problem, rng = prepare(name), np.random.default_rng(0)
    truth = EducatedNB(pairs=0).fit(problem.X, problem.y).decision_function(problem.X)
    found = []
    for _ in range(fits):
        order = rng.permutation(len(problem.y))
        some, asked = order[:n_rows], order[n_rows : n_rows + ASKED]
        model = EducatedNB(pairs=0).fit(problem.X.iloc[some], problem.y[some])
        new = problem.X.iloc[asked]
        error = errors_of(model.evidence_, read(new))
        away = np.abs(model.decision_function(new) - truth[asked])
        found.append(float((away <= Z * error).mean()))
    return found


def print_samples(fits: int) -> None:
    print("\n| set | rows of a sample | log odds held |\n| --- | --- | --- |")
    for name, n_rows in (("telco", 1000), ("telco", 3000), ("bank", 1000), ("bank", 3000)):
        shares = held_in_samples(name, n_rows, fits)
        print(f"| {name} | {n_rows:,} | {_with_error(shares)} |", flush=True)


def main() -> None:
    fits = int(sys.argv[1]) if len(sys.argv) > 1 else 100
    print_samples(max(fits // 5, 2))
    print_worlds(fits)


def print_worlds(fits: int) -> None:
    held = "log odds held | weights held | mean standard error of log odds"
    print(f"| rows | tables | weights | {held} |")
    print("| --- | --- | --- | --- | --- | --- |")
    for times, words in ((1.0, "as the prior's"), (2.0, "twice as large")):
        for n_each in (2, 5):
            for n_rows in (500, 2000, 8000):
                rng = np.random.default_rng(n_rows + n_each)
                found = [held(World.draw(rng, n_each, times), rng, n_rows) for _ in range(fits)]
                totals, weights = (
                    _with_error([getattr(one, name) for one in found])
                    for name in ("total", "weight")
                )
                error = np.mean([one.error for one in found])
                cells = (f"{n_rows:,}", f"{2 * n_each}", words, totals, weights, f"{error:.2f}")
                print(f"| {' | '.join(cells)} |", flush=True)


def _with_error(shares: list[float]) -> str:
    """The mean over fits in percent, and its standard error."""
    error = 100 * np.std(shares, ddof=1) / np.sqrt(len(shares))
    return f"{100 * np.mean(shares):.1f}% ± {error:.1f}"


if __name__ == "__main__":
    main()
