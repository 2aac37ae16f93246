"""InterpretML's Explainable Boosting Machine: additive tables, by boosting one feature at a time.

As it comes (interactions found by FAST, 3 for every feature), and without interactions. Types are
given, because text such as "0" would be taken for a number. It bags 14 models and keeps them all
for its error bars, which makes up most of its pickle. Missing values and unseen categories have
bins of their own. On one thread by `n_jobs=1`; its default is nearly all of them.
"""

from typing import Any

from benchmarks.rivals.fitted import Pickled, categories


def fit(X: Any, y: Any, interactions: Any = "3x") -> Pickled:
    from interpret.glassbox import ExplainableBoostingClassifier

    named = categories(X)
    types = ["nominal" if name in named else "continuous" for name in X.columns]
    model = ExplainableBoostingClassifier(
        feature_types=types, interactions=interactions, n_jobs=1, random_state=0
    )
    return Pickled(model.fit(X, y))


def fit_additive(X: Any, y: Any) -> Pickled:
    return fit(X, y, interactions=0)


RIVALS = {"EBM, additive": fit_additive}
