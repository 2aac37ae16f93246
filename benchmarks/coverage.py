"""How often a 90% interval holds what made the row: its log odds, and the weight of each level.

    python -m benchmarks.coverage [fits]

prints the table of docs/educated.md. An interval of log odds is that of the probability, too. Rows
come from the model: walks of 32 steps and tables of six categories, drawn from the prior with
weights as large as it takes them for, or twice as large, and labels by the total. Each fit sees new
tables and new rows; rows that are asked for are others.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from scipy.special import expit, ndtri

from weigh import EducatedNB, engine
from weigh.educated.design import Design, Source, add_squares
from weigh.educated.prior import LEVEL, WALK
from weigh.evidence import Evidence
from weigh.frames import read

STEPS, LEVELS, ASKED = 32, 6, 500
Z = ndtri(0.95)


@dataclass(frozen=True)
class World:
    """Tables as the prior has them: walks about their mean, and independent levels."""

    walks: np.ndarray[Any, Any]
    levels: np.ndarray[Any, Any]
    base: float

    @classmethod
    def draw(cls, rng: np.random.Generator, n_each: int, times: float) -> World:
        """So many tables of either kind, their weights some times as large as the prior's."""
        walks = rng.normal(size=(n_each, STEPS)).cumsum(axis=1)
        walks -= walks.mean(axis=1, keepdims=True)
        walks *= times * np.sqrt(WALK * 6 * STEPS / (STEPS**2 - 1))  # of mean variance WALK
        levels = times * np.sqrt(LEVEL) * rng.normal(size=(n_each, LEVELS))
        return cls(walks, levels, rng.normal(-1, 0.5))

    def rows(self, rng: np.random.Generator, n_rows: int) -> tuple[pd.DataFrame, Any]:
        """A table of rows, and the weights that each was made by, a column per table."""
        numbers = rng.integers(0, STEPS, (n_rows, len(self.walks)))
        codes = rng.integers(0, LEVELS, (n_rows, len(self.levels)))
        columns = {f"number_{j}": numbers[:, j].astype(float) for j in range(len(self.walks))}
        columns |= {f"code_{j}": codes[:, j].astype(str) for j in range(len(self.levels))}
        weights = [walk[numbers[:, j]] for j, walk in enumerate(self.walks)]
        weights += [level[codes[:, j]] for j, level in enumerate(self.levels)]
        return pd.DataFrame(columns), np.column_stack(weights)


@dataclass(frozen=True)
class Held:
    """The share of new rows whose intervals hold the truth, and the mean error of log odds."""

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
    model = EducatedNB().fit(X, y)
    new, truth = world.rows(rng, ASKED)
    error = errors_of(model.evidence_, read(new))
    away = np.abs(model.decision_function(new) - world.base - truth.sum(axis=1))
    inside = _weights_held(model.evidence_, read(new), truth - weights.mean(axis=0))
    return Held(float((away <= Z * error).mean()), inside, float(error.mean()))


def _weights_held(evidence: Evidence, table: Any, truth: Any) -> float:
    """The share of weights within their interval; tables have mean zero over training rows."""
    inside = []
    for j, (part, placed) in enumerate(
        zip(evidence, engine.place(table, evidence.features), strict=True)
    ):
        at = placed.levels[placed.codes]
        away = np.abs(part.weights[at] - truth[:, j])
        inside.append(away <= Z * part.errors[at])
    return float(np.mean(inside))


def main() -> None:
    fits = int(sys.argv[1]) if len(sys.argv) > 1 else 100
    print("| rows | tables | weights | log odds held | weights held | mean error of log odds |")
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
