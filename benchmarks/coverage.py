"""How often the 90% interval of a sheet holds the probability that made the row.

    python -m benchmarks.coverage [fits]

prints the table of docs/educated.md. Rows come from the model: walks of 32 steps and tables of six
categories, drawn from the prior with weights as large as it takes them for, or twice as large, and
labels by the total. Each fit sees new tables and new rows; rows that are asked for are others.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from scipy.special import expit, ndtri

from weigh import EducatedNB, engine
from weigh.educated.design import Design
from weigh.educated.prior import LEVEL, WALK
from weigh.evidence import Evidence
from weigh.frames import read

STEPS, LEVELS, ASKED = 32, 6, 500


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
        """A table of rows, and the total that each was made by."""
        numbers = rng.integers(0, STEPS, (n_rows, len(self.walks)))
        codes = rng.integers(0, LEVELS, (n_rows, len(self.levels)))
        total = np.full(n_rows, self.base)
        for j, (walk, level) in enumerate(zip(self.walks, self.levels, strict=True)):
            total += walk[numbers[:, j]] + level[codes[:, j]]
        columns = {f"number_{j}": numbers[:, j].astype(float) for j in range(len(self.walks))}
        columns |= {f"code_{j}": codes[:, j].astype(str) for j in range(len(self.levels))}
        return pd.DataFrame(columns), total


def errors_of(evidence: Evidence, table: Any) -> Any:
    """The standard error of each row's log odds, as the sheet has it."""
    sizes = [len(part.levels) for part in evidence]
    design = Design.of(engine.place(table, evidence.features), sizes, table.n_rows)
    assert evidence.covariance is not None
    return np.sqrt(design.squares(evidence.covariance))


def held(world: World, rng: np.random.Generator, n_rows: int) -> tuple[float, float]:
    """The share of new rows whose interval holds their probability, and the mean error."""
    X, total = world.rows(rng, n_rows)
    y = (rng.random(n_rows) < expit(total)).astype(int)
    model = EducatedNB().fit(X, y)
    new, truth = world.rows(rng, ASKED)
    error = errors_of(model.evidence_, read(new))
    away = np.abs(model.decision_function(new) - truth)
    return float((away <= ndtri(0.95) * error).mean()), float(error.mean())


def main() -> None:
    fits = int(sys.argv[1]) if len(sys.argv) > 1 else 100
    print("| rows | tables | weights | coverage of 90% (error of the mean) | mean standard error |")
    print("| --- | --- | --- | --- | --- |")
    for times, words in ((1.0, "as the prior's"), (2.0, "twice as large")):
        for n_each in (2, 5):
            for n_rows in (500, 2000, 8000):
                rng = np.random.default_rng(n_rows + n_each)
                found = [held(World.draw(rng, n_each, times), rng, n_rows) for _ in range(fits)]
                share, error = np.array(found).T
                spread = share.std(ddof=1) / np.sqrt(fits)
                cells = (
                    f"{n_rows:,}",
                    str(2 * n_each),
                    words,
                    f"{share.mean():.3f} ({spread:.3f})",
                )
                print(f"| {' | '.join(cells)} | {error.mean():.2f} |", flush=True)


if __name__ == "__main__":
    main()
