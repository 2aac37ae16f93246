"""The generated files of `benchmarks.scale`: 12 features and a target, in 30 Parquet files.

Six columns of text with 3 to 1000 levels, six of numbers: two of about a hundred values, three
continuous ones, and one of whole numbers with gaps. All of them tell something about the target
but `number_0`. Every file has a seed of its own, so no row comes twice.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

FILES = 30
LEVELS = {"text_0": 3, "text_1": 8, "text_2": 20, "text_3": 50, "text_4": 200, "text_5": 1000}
NUMBERS = [f"number_{j}" for j in range(6)]
TARGET = "target"
DEALT = 1 << 16
BATCH = 1_000_000


def write_files(n_rows: int, folder: Path) -> list[Path]:
    """Write the files, those aside that the folder has; they share the rows evenly."""
    folder.mkdir(parents=True, exist_ok=True)
    ends = [n_rows * i // FILES for i in range(FILES + 1)]
    paths = [folder / f"part_{i:02}.parquet" for i in range(FILES)]
    decks = make_decks()
    for i, path in enumerate(paths):
        wanted = ends[i + 1] - ends[i]
        if not path.exists() or pq.read_metadata(path).num_rows != wanted:
            _write(path, wanted, decks, seed=i)
    return paths


def _write(path: Path, n_rows: int, decks: dict[str, Any], seed: int) -> None:
    rng = np.random.default_rng([1, seed])
    whole = path.with_suffix(".part")
    with pq.ParquetWriter(whole, make_rows(1, decks, rng).schema) as file:
        for start in range(0, n_rows, BATCH):
            file.write_table(make_rows(min(BATCH, n_rows - start), decks, rng))
    whole.rename(path)


def make_decks() -> dict[str, Any]:
    """For each column of text and each class, levels to draw from, as often as they occur."""
    rng = np.random.default_rng(0)

    def deck(n_levels: int) -> Any:
        times = rng.multinomial(DEALT, rng.dirichlet(np.full(n_levels, 3.0)))
        return np.repeat(np.arange(n_levels, dtype=np.int32), times)

    return {name: np.stack([deck(k), deck(k)]) for name, k in LEVELS.items()}


def make_rows(n_rows: int, decks: dict[str, Any], rng: Any) -> pa.Table:
    y = (rng.random(n_rows) < 0.3).astype(int)
    columns = {}
    for name, deck in decks.items():
        codes = deck[y, rng.integers(0, DEALT, n_rows, dtype=np.uint16)]
        levels = pa.array([f"{name[-1]}_level_{i}" for i in range(LEVELS[name])])
        columns[name] = pa.DictionaryArray.from_arrays(pa.array(codes), levels).cast(pa.string())
    for j, name in enumerate(NUMBERS[:5]):
        values = rng.standard_normal(n_rows) + 0.3 * j * y
        columns[name] = pa.array(np.round(values, 1) if j < 2 else values)
    values = np.floor(rng.exponential(1000 + 200 * y, n_rows))
    columns[NUMBERS[5]] = pa.array(values, mask=rng.random(n_rows) < 0.3)
    columns[TARGET] = pa.array(np.array(["no", "yes"], dtype=object)[y])
    return pa.table(columns)
