"""
Fairness by group
=================

`fairlearn` measures any classifier by group, and takes a model of `weigh` as it is. Here women and
men of the Titanic are compared.
"""

from fairlearn.metrics import MetricFrame, false_positive_rate, selection_rate
from fairlearn.postprocessing import ThresholdOptimizer
from matplotlib import pyplot
from sklearn.metrics import accuracy_score

import weigh

people = weigh.datasets.titanic().to_pandas()
X, y, sex = people.drop(columns="Survived"), people["Survived"] == "Yes", people["Sex"]
model = weigh.EducatedNB().fit(X, y)
measures = {
    "accuracy": accuracy_score,
    "selection rate": selection_rate,
    "false-positive rate": false_positive_rate,
}
frame = MetricFrame(metrics=measures, y_true=y, y_pred=model.predict(X), sensitive_features=sex)
print(frame.by_group.round(3))

# %%
# `ThresholdOptimizer` finds cut-offs by group for a constraint, here equal selection rates. The
# model stays as it is.

fair = ThresholdOptimizer(
    estimator=model,
    constraints="demographic_parity",
    predict_method="predict_proba",
    prefit=True,
)
fair.fit(X, y, sensitive_features=sex)
decided = fair.predict(X, sensitive_features=sex, random_state=0)
after = MetricFrame(metrics=measures, y_true=y, y_pred=decided, sensitive_features=sex)
print(after.by_group.round(3))

# %%
# Equal selection rates cost accuracy, because the survival rates differ.

figure, axes = pyplot.subplots(1, 2, figsize=(8, 3.4), sharey=True, layout="constrained")
for ax, (title, found) in zip(axes, {"one cut-off": frame, "by group": after}.items(), strict=True):
    found.by_group.T.plot.bar(ax=ax, rot=20, title=title)

# %%
# `weigh.evaluate` has the same rates with intervals, and the calibration of each group.

print(weigh.evaluate(model, people.assign(Survived=y), "Survived", by=["Sex", "Age"]))
