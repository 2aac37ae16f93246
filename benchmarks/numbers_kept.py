"""Hold-out predictions of rivals, kept in the repository so that they need not be run again.

One file for a set and a learner, benchmarks/results/numbers/SET.LEARNER.npz: the prediction of
each row by the model that did not see it (6 digits; NaN where the fold was not run), the processor
seconds of each fit, the library's version and the digest of the data.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from importlib.metadata import version
from pathlib import Path

import numpy as np
from sklearn.model_selection import GroupKFold, KFold

from benchmarks.numbers_sets import Problem

HOME = Path(__file__).parent / "results" / "numbers"
FOLDS = 5


def splits(problem: Problem) -> list[tuple[np.ndarray, np.ndarray]]:
    """Training and hold-out rows of each fold, the same for all learners."""
    if problem.groups is not None:
        folds = GroupKFold(FOLDS, shuffle=True, random_state=0)
        return [*folds.split(problem.X, groups=problem.groups)]
    return [*KFold(FOLDS, shuffle=True, random_state=0).split(problem.X)]


@dataclass(frozen=True)
class Kept:
    """What is known of one learner on one set."""

    predictions: np.ndarray
    seconds: np.ndarray
    library: str
    data: str

    def has(self, fold: int) -> bool:
        return not np.isnan(self.seconds[fold])

    def with_fold(self, fold: int, rows: np.ndarray, mean: np.ndarray, seconds: float) -> Kept:
        predictions, taken = self.predictions.copy(), self.seconds.copy()
        predictions[rows], taken[fold] = six_digits(mean), round(seconds, 2)
        return replace(self, predictions=predictions, seconds=taken)


def six_digits(values: np.ndarray) -> np.ndarray:
    """Six significant digits, which float32 holds."""
    return np.array([float(f"{value:.6g}") for value in values], dtype=np.float32)


def path(name: str, learner: str, home: Path = HOME) -> Path:
    return home / f"{name}.{learner.replace(' ', '_')}.npz"


def library(package: str) -> str:
    return f"{package} {version(package)}"


def read(name: str, learner: str, home: Path = HOME) -> Kept | None:
    kept = path(name, learner, home)
    if not kept.exists():
        return None
    with np.load(kept, allow_pickle=False) as found:
        text = {part: str(found[part]) for part in ("library", "data")}
        return Kept(found["predictions"], found["seconds"], **text)


def start(problem: Problem, package: str) -> Kept:
    """A learner of which nothing is known."""
    predictions = np.full(len(problem.y), np.nan, dtype=np.float32)
    return Kept(predictions, np.full(FOLDS, np.nan), library(package), problem.digest)


def write(name: str, learner: str, kept: Kept, home: Path = HOME) -> None:
    home.mkdir(parents=True, exist_ok=True)
    np.savez_compressed(path(name, learner, home), **vars(kept))
