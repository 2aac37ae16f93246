"""
Choose a cut-off by cost
========================

A missed case costs five times as much as a false alarm. For calibrated probabilities the best
cut-off is then 1/6.
"""

import numpy
from matplotlib import pyplot
from sklearn.datasets import make_classification

import weigh

X, y = make_classification(
    6000, 8, n_informative=5, n_redundant=2, weights=[0.8], flip_y=0.1, random_state=3
)
model = weigh.EducatedNB().fit(X[:3000], y[:3000])
probability = model.predict_proba(X[3000:])[:, 1]
best = weigh.metrics.best_threshold(y[3000:], probability, cost_fp=1, cost_fn=5)
print(f"cheapest cut-off on these rows: {best.threshold:.2f}; in theory {1 / 6:.2f}")

# %%
# The expected cost is flat around its minimum. Any cut-off close to it will do.

cut_offs = numpy.linspace(0.01, 0.9, 90)
negative, positive = y[3000:] == 0, y[3000:] == 1
cost = [
    (1 * (negative & (probability > cut)).sum() + 5 * (positive & (probability <= cut)).sum())
    / len(probability)
    for cut in cut_offs
]
figure, ax = pyplot.subplots(figsize=(6.5, 4), layout="constrained")
ax.plot(cut_offs, cost)
ax.axvline(best.threshold, linestyle="--", color="grey")
ax.set(xlabel="cut-off", ylabel="mean cost per row", ylim=0)

# %%
# Net benefit compares the model with treating everybody and nobody, at every cut-off.

display = weigh.NetBenefitDisplay.from_estimator(model, X[3000:], y[3000:])
