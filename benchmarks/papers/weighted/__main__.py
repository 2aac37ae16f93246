"""Run `python -m benchmarks.papers.weighted [--repetitions 6] [--keep FOLDER] [--without METHOD]`.

It writes docs/papers/weighted.md. Figures are kept in the folder as they come, smallest sets first,
so that a run that was interrupted goes on where it stopped. `--page` writes the page from those.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.papers.weighted.data import FURTHER, LOADERS, load
from benchmarks.papers.weighted.measure import Set, run
from benchmarks.papers.weighted.methods import METHODS
from benchmarks.papers.weighted.page import write
from benchmarks.papers.weighted.printed import SETS
from benchmarks.papers.weighted.readings import other_readings
from weigh import WeightedNB


def check(name: str) -> None:
    """The shortcut gives what the library gives on the same cut points."""
    X, y, codes = load(name)
    data = Set(X, y, codes, 0)
    train, test = next(data.folds())
    part = data.part(data.features(train), train, test, "ours")
    cuts = {t.name: [*t.cuts] for f in data.features(train) for t in f.parts if t.is_numeric}
    for settings in filter(None, METHODS.values()):
        model = WeightedNB(**settings, bins=cuts, categorical_features=codes, random_state=0)
        model.fit(X.iloc[train], y[train])
        np.testing.assert_array_equal(part.fit(WeightedNB(**settings)), model.weights_)
        ours = part.totals(model.weights_).squeeze()
        np.testing.assert_allclose(ours, model.decision_function(X.iloc[test]), atol=1e-9)


def jobs(repetitions: int) -> Iterator[tuple[str, str, int]]:
    """Data set, reading and dealing; small sets first."""
    names = sorted([*SETS, *FURTHER], key=lambda name: load(name)[0].size)
    for name in names:
        for reading in LOADERS if name in SETS else ("true class",):
            for seed in range(repetitions):
                yield name, reading, seed


def measure(arguments: argparse.Namespace) -> None:
    methods = [method for method in METHODS if method not in arguments.without]
    for name, reading, seed in jobs(arguments.repetitions):
        path = place(arguments.keep, name, reading, seed)
        start = time.process_time()
        found = run(name, reading, seed, methods, np.load(path) if path.exists() else None)
        np.save(path, found)
        spent = time.process_time() - start
        print(f"{name}, {reading}, {seed}: {spent:.0f} s", file=sys.stderr, flush=True)


def place(folder: Path, name: str, reading: str, seed: int) -> Path:
    return folder / f"{name}_{reading.replace(' ', '_')}_{seed}.npy"


def gather(arguments: argparse.Namespace, reading: str) -> dict[str, Any]:
    """The figures of each data set of which every dealing is there."""
    found = {}
    for name in [*SETS, *FURTHER]:
        paths = [place(arguments.keep, name, reading, k) for k in range(arguments.repetitions)]
        if all(path.exists() for path in paths):
            found[name] = np.stack([np.load(path) for path in paths], axis=1)
    return found


def shape(name: str, reading: str) -> tuple[int, int, int]:
    """Rows, attributes and classes."""
    X, y, codes = LOADERS[reading](name)
    return len(X), len(Set(X, y, codes, 0).whole), len(np.unique(y))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repetitions", type=int, default=6)
    parser.add_argument("--keep", type=Path, default=Path("build/weighted"))
    parser.add_argument("--without", action="append", default=[])
    parser.add_argument("--page", action="store_true")
    arguments = parser.parse_args()
    arguments.keep.mkdir(parents=True, exist_ok=True)
    if not arguments.page:
        for name in ("iris", "pima_diabetes"):
            check(name)
        measure(arguments)
    results = {reading: gather(arguments, reading) for reading in LOADERS}
    shapes = {reading: {name: shape(name, reading) for name in SETS} for reading in LOADERS}
    write(results, shapes, [*other_readings()])


if __name__ == "__main__":
    main()
