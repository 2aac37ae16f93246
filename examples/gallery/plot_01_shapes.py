"""
See what each feature does
==========================

`EducatedNB` fits one curve or table per feature. Positive weights favour the positive class.
"""

from sklearn.datasets import load_breast_cancer

import weigh

X, y = load_breast_cancer(return_X_y=True, as_frame=True)
y = y.map({0: "malignant", 1: "benign"})
model = weigh.EducatedNB().fit(X, y)

# %%
# The classes are sorted, so `malignant` is the positive class. The bands are 90% intervals, and
# the histograms show where the rows are.

display = weigh.EvidenceDisplay.from_estimator(model, n=6)
