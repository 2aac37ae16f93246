"""
Choose whom to contact: gains and lift
======================================

A campaign can reach only some people. The gains curve shows which share of all buyers the most
probable rows hold. The lift curve compares that with a random choice.
"""

from matplotlib import pyplot
from sklearn.datasets import make_classification

import weigh

X, y = make_classification(
    6000, 10, n_informative=5, n_redundant=3, weights=[0.9], flip_y=0.08, random_state=2
)
model = weigh.EducatedNB().fit(X[:3000], y[:3000])

figure, axes = pyplot.subplots(1, 2, figsize=(10, 4.2), layout="constrained")
for kind, ax in zip((weigh.GainsDisplay, weigh.LiftDisplay), axes, strict=True):
    kind.from_estimator(model, X[3000:], y[3000:], ax=ax)
