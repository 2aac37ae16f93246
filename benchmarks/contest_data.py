"""The tables on which rivals meet: one for the ratios, series that grow, and public data sets.

Every table is a folder with `train.parquet` and `test.parquet`.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

TEST_ROWS = 1000
ROWS = (10_000, 100_000, 1_000_000, 10_000_000)
COLUMNS = (5, 50, 500)
LEVELS = (2, 100, 1000, 10_000, 100_000)
SETS = ("heart", "crx", "pima", "titanic", "telco", "compas", "nij", "bank")

GROWTH = ("rows", "columns", "levels")
STAGES = ("ratios", *GROWTH, "accuracy")


def make(stage: str, folder: Path, most_rows: int = ROWS[-1]) -> list[Path]:
    """Write the tables of a stage, from small to large."""
    if stage == "ratios":
        return [_write(folder / "mixed", make_mixed(100_000), make_mixed(100_000, seed=1))]
    if stage == "accuracy":
        return [*_public(folder)]
    sizes = {"rows": ROWS, "columns": COLUMNS, "levels": LEVELS}[stage]
    paths = []
    for size in sizes:
        if stage != "rows" or size <= most_rows:
            shape = {"rows": 100_000, "columns": 10, "levels": 8} | {stage: size}
            if stage == "columns":
                shape["rows"] = 10_000
            paths.append(_write(folder / str(size), make_text(**shape), make_text(**shape, seed=1)))
    return paths


def _write(folder: Path, train: Any, test: Any) -> Path:
    folder.mkdir(parents=True)
    train.to_parquet(folder / "train.parquet")
    test.to_parquet(folder / "test.parquet")
    return folder


def make_mixed(n_rows: int, seed: int = 0) -> Any:
    """Ten numbers and ten categories of 3 to 21 levels, from hardly to strongly telling."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n_rows)
    columns: dict[str, Any] = {}
    for j in range(10):
        columns[f"number_{j}"] = rng.normal(size=n_rows) + (0.1 + 0.05 * j) * y
        n_levels = 3 + 2 * j
        told = rng.random(n_rows) < 0.03 * j
        columns[f"text_{j}"] = _text(np.where(told, y, rng.integers(0, n_levels, n_rows)), n_levels)
    return pd.DataFrame(columns | {"target": y})


def make_text(rows: int, columns: int, levels: int, seed: int = 0) -> Any:
    """Columns of text whose first half of levels is a little more frequent among the ones."""
    rng = np.random.default_rng(seed)
    rows = rows if seed == 0 else TEST_ROWS
    y = rng.integers(0, 2, rows)
    table: dict[str, Any] = {}
    for j in range(columns):
        u = rng.random(rows, dtype=np.float32)
        # u ** 1.5 is more often small; a tenth of the ones draw from it
        told = (y == 1) & (rng.random(rows, dtype=np.float32) < 0.1)
        codes = (np.where(told, u * np.sqrt(u), u) * levels).astype(np.int32)
        table[f"text_{j}"] = _text(np.minimum(codes, levels - 1), levels)
    return pd.DataFrame(table | {"target": y})


def _text(codes: Any, n_levels: int) -> Any:
    return pd.Categorical.from_codes(codes, [f"level_{i}" for i in range(n_levels)])


def _public(folder: Path) -> Iterator[Path]:
    """Four folds of a set to train, the fifth to test, as the first fold of the quality page."""
    from benchmarks.sets import prepare

    for name in SETS:
        try:
            problem = prepare(name)
        except FileNotFoundError:
            return
        frame = problem.X.assign(target=problem.y)
        train, test = (frame[part].reset_index(drop=True) for part in _parts(problem.folds))
        yield _write(folder / name, train, test)


def _parts(folds: Any) -> tuple[Any, Any]:
    return folds != 0, folds == 0
