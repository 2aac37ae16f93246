"""Runs of `benchmarks.quality` as files: each fit with its predictions of the hold-out rows.

One compressed file for each set and learner. Log odds are whole numbers of 0.00001, which changes
no published digit and keeps the folds of all rivals below 2 MB. So they lie in the repository
(benchmarks/results/runs) and need not be run again.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

DIGITS = 5


@dataclass(frozen=True)
class Run:
    """One fit on four folds and its predictions of the fifth."""

    set: str
    learner: str
    fold: int
    key: str
    bits: float
    auc: float
    fit_seconds: float
    predict_seconds: float
    size: int
    date: str  # of the fit
    log_odds: tuple[float, ...]  # of the hold-out rows, in their order


def find_file(folder: Path, set_name: str, learner: str) -> Path:
    """The file of a set and a learner."""
    return folder / f"{set_name}-{learner.replace(' ', '_').replace(',', '')}.npz"


def read_runs(path: Path) -> list[Run]:
    """All runs of a file, in the order in which they were made; none if there is no file."""
    if not path.exists():
        return []
    with np.load(path) as file:
        heads = json.loads(str(file["heads"]))
        rows = [file[f"log_odds_{number}"] for number in range(len(heads))]
    scale = 10**DIGITS
    return [
        Run(**head, log_odds=tuple((own / scale).tolist()))
        for head, own in zip(heads, rows, strict=True)
    ]


def write_runs(path: Path, runs: list[Run]) -> None:
    """Replace a file by these runs; one that was being written is never half there."""
    heads = [
        {key: value for key, value in asdict(run).items() if key != "log_odds"} for run in runs
    ]
    scale = 10**DIGITS
    rows = {
        f"log_odds_{number}": np.rint(np.array(run.log_odds) * scale).astype(np.int32)
        for number, run in enumerate(runs)
    }
    path.parent.mkdir(parents=True, exist_ok=True)
    half = path.with_name(f"half-{path.name}")
    np.savez_compressed(half, heads=np.array(json.dumps(heads)), **rows)
    half.replace(path)
