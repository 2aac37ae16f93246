"""
Compare ranking: ROC and precision-recall
=========================================

Both curves show how well a model ranks. The bands are 95% intervals.
"""

from matplotlib import pyplot
from sklearn.datasets import make_classification

import weigh

X, y = make_classification(
    4000, 10, n_informative=5, n_redundant=4, weights=[0.85], flip_y=0.1, random_state=1
)
naive = weigh.EvidenceNB().fit(X[:2000], y[:2000])
educated = weigh.EducatedNB().fit(X[:2000], y[:2000])

figure, axes = pyplot.subplots(1, 2, figsize=(10, 4.4), layout="constrained")
for kind, ax in zip((weigh.ROCDisplay, weigh.PrecisionRecallDisplay), axes, strict=True):
    for model in (naive, educated):
        kind.from_estimator(model, X[2000:], y[2000:], ax=ax)
