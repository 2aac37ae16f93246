"""The learners beside what their users would otherwise run, and the page of an evaluation.

Parts of `python -m benchmarks.speed`; each line is a ratio of the same run.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from benchmarks.clock import Cost, best, cost_of, report
from benchmarks.rivals import scikit_learn

ROWS, RUNS = 1_000_000, 5
TOKENS, VOCABULARY = 30, 50_000


def bench_adjusted() -> None:
    """The paper's two-hour job: splice, 10 folds, 3 classes, NB + APM + APMR."""
    import warnings

    from sklearn.model_selection import StratifiedKFold

    from weigh import AdjustedNB, EvidenceNB, datasets, engine
    from weigh.frames import read

    warnings.simplefilter("ignore")  # the rival's own words on versions and convergence
    try:
        frame = datasets.load("splice").to_pandas()
    except FileNotFoundError as error:
        print(f"adjusted: {error}")
        return
    y = frame.pop("class").to_numpy()
    frame, y = frame[frame.isin([*"ACGT"]).all(axis=1)], y[frame.isin([*"ACGT"]).all(axis=1)]
    folds = StratifiedKFold(10, shuffle=True, random_state=0)
    rival, ours = Cost(0.0, 0.0), Cost(0.0, 0.0)
    for train, _ in folds.split(frame, y):
        X = frame.iloc[train]
        for label in ("EI", "IE", "N"):
            target = y[train] == label
            naive = EvidenceNB(smoothing=0).fit(X, target).evidence_
            placed = engine.place(read(X), [table.feature for table in naive])
            Q = engine.expand(placed, [table.padded[:, 0] for table in naive], len(X))
            rival += cost_of(lambda: scikit_learn.ridge_path().fit(Q, target))  # noqa: B023
            learner = AdjustedNB(smoothing=0, random_state=0)
            ours += cost_of(lambda: learner.fit(X, target))  # noqa: B023
    report("APM and APMR on splice: 10 folds, 3 classes, 2700 solutions", rival, ours, 3)


def make_mixed(n_classes: int, n_rows: int = 100_000) -> tuple[Any, Any]:
    """Rows of ten numbers and ten categories, from hardly to strongly telling."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, n_classes, n_rows)
    columns: dict[str, Any] = {}
    for j in range(10):
        columns[f"number_{j}"] = rng.normal(size=y.size) + (0.1 + 0.05 * j) * y
        n_levels = 3 + 2 * j
        told = rng.random(y.size) < 0.03 * j
        codes = np.where(told, y % n_levels, rng.integers(0, n_levels, y.size))
        columns[f"category_{j}"] = pd.Categorical.from_codes(codes, [*map(str, range(n_levels))])
    return pd.DataFrame(columns), y


def bench_weighted() -> None:
    """The rival is one `roc_auc_score` of the same scores; a fit may cost 300 of them."""
    from sklearn.metrics import roc_auc_score

    from weigh import EvidenceNB, WeightedNB, engine
    from weigh.evidence import SplitScorer
    from weigh.frames import read
    from weigh.weighted.auc import ScoredRows, collapse, rank

    for n_classes, runs in ((2, RUNS), (7, 1)):
        X, y = make_mixed(n_classes)
        naive = EvidenceNB().fit(X, y)
        placed = engine.place(read(X), [table.feature for table in naive.evidence_])
        rows, scorer = engine.CodedRows.of(placed, y), SplitScorer.own(naive.evidence_)
        ranking = rank(collapse(ScoredRows(rows, scorer, n_classes)), np.ones(X.shape[1]))
        scores = naive.decision_function(X) if n_classes == 2 else naive.predict_proba(X)
        theirs = best(lambda: roc_auc_score(y, scores, multi_class="ovo"), runs)  # noqa: B023
        moves = [best(lambda: ranking.try_shift(j, 0.1), runs) for j in range(X.shape[1])]  # noqa: B023
        report(
            f"AUC after one weight moved, {n_classes} classes",
            theirs,
            max(moves, key=lambda cost: cost.processor),
            2,
        )
        jump = best(lambda: ranking.try_weights(np.ones(X.shape[1])), runs)  # noqa: B023
        report(f"AUC after all weights moved, {n_classes} classes", theirs, jump, 2)
        ours = best(lambda: WeightedNB().fit(X, y), 1)  # noqa: B023
        report(f"a default fit, 300 of them, {n_classes} classes", theirs * 300, ours, 1)


def make_documents() -> tuple[Any, Any]:
    """Documents of 30 tokens each, the frequent ones more often, as counts out of 50,000."""
    from scipy import sparse

    rng = np.random.default_rng(0)
    tokens = (rng.random((ROWS, TOKENS)) ** 2 * VOCABULARY).astype(np.int32)
    tokens.sort(axis=1)
    starts = np.arange(0, ROWS * TOKENS + 1, TOKENS, dtype=np.int32)
    shape = (ROWS, VOCABULARY)
    X = sparse.csr_matrix((np.ones(ROWS * TOKENS), tokens.ravel(), starts), shape=shape)
    return X, (tokens[:, 0] + rng.integers(0, 2000, ROWS) > 1000).astype(int)


def bench_documents() -> None:
    from weigh import PerplexedNB

    X, y = make_documents()
    rival = scikit_learn.on_counts().fit(X, y)
    model = PerplexedNB(event_model="counts", attenuation=5.0).fit(X, y)
    theirs, ours = best(lambda: rival.fit(X, y), RUNS), best(lambda: model.fit(X, y), RUNS)
    report("`PerplexedNB`, fit", theirs, ours, 1)
    for name in ("predict_proba", "predict"):
        theirs = best(lambda: getattr(rival, name)(X), RUNS)  # noqa: B023
        ours = best(lambda: getattr(model, name)(X), RUNS)  # noqa: B023
        report(f"`PerplexedNB`, {name}", theirs, ours, 1)


def bench_regressor() -> None:
    """No rival asks every s at once: seconds alone."""
    from weigh import BoostedNBRegressor

    random = np.random.default_rng(0)
    X = random.normal(size=(100_000, 10))
    y = X[:, 0] + X[:, 1] ** 2 + random.normal(size=100_000)
    ours = best(lambda: BoostedNBRegressor(random_state=0).fit(X, y), 2)
    report("`BoostedNBRegressor`, 100,000 rows of 10 numbers", None, ours)


def bench_evaluation() -> None:
    """The rival is three scores of scikit-learn; a whole page may cost ten times as much."""
    from scipy.special import expit
    from sklearn.metrics import brier_score_loss, log_loss, roc_auc_score

    from weigh import Evaluation

    rng = np.random.default_rng(0)
    p = expit(rng.normal(size=ROWS))
    y = (rng.random(ROWS) < p).astype(int)
    scores = (roc_auc_score, log_loss, brier_score_loss)
    theirs = best(lambda: [score(y, p) for score in scores], RUNS)
    ours = best(lambda: Evaluation.from_predictions(y, p), RUNS)
    report("`Evaluation.from_predictions`", theirs, ours, 1)
    ours = best(lambda: str(Evaluation.from_predictions(y, p, train=(y, p))), RUNS)
    report("with 1,000,000 training rows beside, printed", theirs, ours, 0.4)
