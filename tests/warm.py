"""Compile what the processes of a test run would each compile: `make test` does it while it lints.

Numba keeps compiled functions beside the sources. On a new clone every process that starts before
the first has written them compiles its own.
"""

import tempfile
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
from pyarrow import parquet
from pyarrow.lib import Table

import weigh


def draw(n_classes: int) -> pd.DataFrame:
    rng = np.random.default_rng(0)
    y = rng.integers(0, n_classes, 300)
    number = np.where(rng.random(300) < 0.1, np.nan, rng.normal(size=300) + y)
    more = {"whole": rng.integers(0, 9, 300), "text": rng.choice([*"abc"], 300), "y": y}
    return pd.DataFrame({"number": number, **more})


def fit_all(folder: Path) -> None:
    """Fit every learner to two classes, to three and to numbers, from memory and from a file."""
    shared = {"random_state": 0}
    learners = [
        weigh.EvidenceNB(),
        weigh.EvidenceNB(crosses=[("whole", "text")], max_levels=2),
        weigh.EducatedNB(bins=6, pairs=1, **shared),
        weigh.EducatedNB(pairs=0, monotonic_cst={"number": 1}),
        weigh.AdjustedNB(**shared),
        weigh.AdjustedNB(multiclass="softmax", **shared),
        weigh.BoostedNB(n_rounds=2, **shared),
        weigh.PerplexedNB(**shared),
        weigh.WeightedNB(method="mcmc", choose_on="training", **shared),
        weigh.C44Classifier(),
    ]
    for n_classes in (2, 3):
        frame = draw(n_classes)
        parquet.write_table(Table.from_pandas(frame), folder / f"{n_classes}.parquet")
        for learner in learners:
            if n_classes == 2 or "monotonic_cst" not in repr(learner):
                learner.fit(frame, "y").predict_proba(frame)
        learners[0].fit(weigh.scan(folder / f"{n_classes}.parquet"), "y")
    for regressor in (weigh.EducatedRegressor(pairs=0), weigh.BoostedNBRegressor(n_rounds=2)):
        regressor.fit(frame, "y").predict(frame)
    weigh.Scorecard.from_table(draw(2), "y", adverse=0)


if __name__ == "__main__":
    with warnings.catch_warnings(action="ignore"), tempfile.TemporaryDirectory() as folder:
        fit_all(Path(folder))
