"""
Predict from incomplete answers
===============================

An answer that is not known weighs nothing. Predictions from few answers stay close to the base
rate, and they become sharper as answers arrive.
"""

from matplotlib import pyplot
from sklearn.datasets import load_breast_cancer

import weigh

X, y = load_breast_cancer(return_X_y=True, as_frame=True)
y = y.map({0: "malignant", 1: "benign"})
model = weigh.EducatedNB().fit(X, y)
order = X.columns[(-model.feature_importances_).argsort()]

# %%
# Four patients, answers arriving in the order of importance:

figure, ax = pyplot.subplots(figsize=(7, 4), layout="constrained")
known = list(range(0, 31, 2))
for row in (0, 19, 73, 100):
    cases = [X.iloc[row][order[:count]].to_dict() for count in known]
    probability = [model.balance_sheet(case).probability for case in cases]
    ax.plot(known, probability, marker="o", markersize=3, label=f"row {row}: {y.iloc[row]}")
ax.set(xlabel="known answers", ylabel="probability of malignant", ylim=(0, 1))
ax.legend()
