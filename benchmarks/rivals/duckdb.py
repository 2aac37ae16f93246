"""DuckDB: one GROUP BY for each column, the floor under any fit that counts.

Numbers are cut at their ten approximate quantiles, which is less work than looking for good cut
points. What it counts is turned into weights of evidence in a few lines below, with a smoothing of
1, because a database ends where the counts are; its prediction is those lines, by pandas, and says
nothing about DuckDB.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

import numpy as np

from benchmarks.rivals.fitted import categories

QUANTILES = [i / 10 for i in range(1, 10)]


@dataclass(frozen=True)
class Counted:
    """A prior, and for each column its cut points (none for text) and weights by level."""

    prior: float
    cuts: dict[str, list[float]]
    weights: dict[str, dict[Any, float]]

    def predict_proba(self, X: Any) -> Any:
        total = np.full(len(X), self.prior)
        for name, weights in self.weights.items():
            total += self._levels(X[name]).map(weights).astype(float).fillna(0).to_numpy()
        p = 1 / (1 + np.exp(-total))
        return np.column_stack([1 - p, p])

    def _levels(self, column: Any) -> Any:
        import pandas as pd

        if column.name not in self.cuts:
            return column.astype(object).where(column.notna(), "missing")
        places = np.searchsorted(self.cuts[column.name], column.to_numpy())
        return pd.Series(np.where(column.isna(), -1, places))

    def size(self) -> int:
        return len(json.dumps([self.prior, self.cuts, [*map(str, self.weights.items())]]))


def fit(X: Any, y: Any) -> Counted:
    import duckdb

    database = duckdb.connect()
    database.register("seen", X.assign(target_=np.asarray(y)))
    named = categories(X)
    cuts = {name: _quantiles(database, name) for name in X.columns if name not in named}
    weights = {}
    for name in X.columns:
        level = _interval(name, cuts[name]) if name in cuts else _category(name)
        counts = f"SELECT {level}, sum(1 - target_), sum(target_) FROM seen GROUP BY 1"
        weights[name] = _weigh(database.execute(counts).fetchall())
    return Counted(float(np.log(np.mean(y) / (1 - np.mean(y)))), cuts, weights)


def _quantiles(database: Any, name: str) -> list[float]:
    asked = f'SELECT approx_quantile("{name}", {QUANTILES}) FROM seen WHERE NOT isnan("{name}")'
    return sorted({*(database.execute(asked).fetchone()[0] or [])})


def _category(name: str) -> str:
    return f"""coalesce("{name}"::VARCHAR, 'missing')"""


def _interval(name: str, cuts: list[float]) -> str:
    steps = " ".join(f'WHEN "{name}" <= {cut!r} THEN {i}' for i, cut in enumerate(cuts))
    return f'CASE WHEN "{name}" IS NULL OR isnan("{name}") THEN -1 {steps} ELSE {len(cuts)} END'


def _weigh(rows: list[tuple[Any, float, float]]) -> dict[Any, float]:
    counts = np.array([[float(a), float(b)] for _, a, b in rows]) + 1
    logs = np.log(counts / counts.sum(axis=0))
    return dict(zip((row[0] for row in rows), (logs[:, 1] - logs[:, 0]).tolist(), strict=True))


RIVALS = {"DuckDB, GROUP BY": fit}
