"""
Check and repair calibration
============================

Naive Bayes counts shared evidence twice where features are correlated, so its probabilities are
too extreme. Two remedies: fit all weights together, or recalibrate by cross-validation.
"""

from matplotlib import pyplot
from sklearn.datasets import make_classification

import weigh

X, y = make_classification(4000, 12, n_informative=4, n_redundant=8, flip_y=0.2, random_state=0)
train, test = slice(2000), slice(2000, None)
models = {
    "naive Bayes": weigh.EvidenceNB(),
    "recalibrated": weigh.RecalibratedClassifier(weigh.EvidenceNB(), random_state=0),
    "fitted together": weigh.EducatedNB(),
}

# %%
# A calibrated model follows the diagonal.

figure, axes = pyplot.subplots(1, 3, figsize=(11, 3.9), layout="constrained", sharey=True)
for (name, model), ax in zip(models.items(), axes, strict=True):
    model.fit(X[train], y[train])
    weigh.ReliabilityDisplay.from_estimator(model, X[test], y[test], name=name, ax=ax)

# %%
# The calibration slope is 1 for a calibrated model and below 1 for an overconfident one.

for name, model in models.items():
    line = weigh.metrics.calibration_line(y[test], model.predict_proba(X[test])[:, 1])
    print(f"{name:16} slope {line.slope:.2f}")
