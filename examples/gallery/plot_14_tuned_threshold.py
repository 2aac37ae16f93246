"""
Tune a cut-off with scikit-learn
================================

`TunedThresholdClassifierCV` chooses the cut-off of a classifier by cross-validation. Here a false
negative costs five times as much as a false positive. In theory the best cut-off of calibrated
probabilities is 1/6, the dashed line. The cost is flat around it, so that a search finds a cut-off
near it.
"""

from matplotlib import pyplot
from sklearn.datasets import make_classification
from sklearn.metrics import confusion_matrix, make_scorer
from sklearn.model_selection import TunedThresholdClassifierCV

import weigh


def saved(y_true, y_pred):
    _, false_positives, false_negatives, _ = confusion_matrix(y_true, y_pred).ravel()
    return -(false_positives + 5 * false_negatives) / len(y_true)


X, y = make_classification(
    3000, 8, n_informative=5, n_redundant=2, weights=[0.8], flip_y=0.1, random_state=3
)
tuned = TunedThresholdClassifierCV(
    weigh.EvidenceNB(bins="mdl"),
    scoring=make_scorer(saved),
    cv=5,
    store_cv_results=True,
)
calibrated = TunedThresholdClassifierCV(
    weigh.EducatedNB(pairs=0), scoring=make_scorer(saved), cv=5, store_cv_results=True
)
figure, ax = pyplot.subplots(figsize=(6.5, 3.8), layout="constrained")
for search in (tuned, calibrated):
    search.fit(X, y)
    name = type(search.estimator_).__name__
    print(f"{name}: best cut-off {search.best_threshold_:.2f}, cost {-search.best_score_:.3f}")
    ax.plot(search.cv_results_["thresholds"], -search.cv_results_["scores"], label=name)
ax.axvline(1 / 6, linestyle="--", color="grey")
ax.set(xlabel="cut-off", ylabel="mean cost per row", ylim=0)
ax.legend()
