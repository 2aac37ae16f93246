"""
Explain many predictions
========================

Each point is one row. Its position is what a feature adds to the log odds of that row. These
contributions are exact: no sampling is needed, because the model is a sum of tables.
"""

from sklearn.datasets import load_breast_cancer

import weigh

X, y = load_breast_cancer(return_X_y=True, as_frame=True)
model = weigh.EducatedNB().fit(X, y)
display = weigh.ContributionsDisplay.from_estimator(model, X)

# %%
# `contributions` gives the same numbers as a table.

print(model.contributions(X).iloc[:3, :4].round(2))
