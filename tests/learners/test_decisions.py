"""Cut-offs that scikit-learn and fairlearn choose for models of the family."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.metrics import accuracy_score, balanced_accuracy_score
from sklearn.model_selection import StratifiedKFold, TunedThresholdClassifierCV, train_test_split

import weigh
from weigh import AdjustedNB, EducatedNB, EvidenceNB, datasets

LEARNERS = [EvidenceNB(), AdjustedNB(random_state=0), EducatedNB(pairs=0)]
PEOPLE = datasets.titanic().to_pandas()
X, Y = PEOPLE.drop(columns="Survived"), PEOPLE["Survived"]


@pytest.mark.parametrize("learner", LEARNERS, ids=lambda learner: type(learner).__name__)
def test_scikit_learn_tunes_the_cut_off_of_tables_with_text(learner):
    folds = StratifiedKFold(3, shuffle=True, random_state=0)
    tuned = TunedThresholdClassifierCV(learner, cv=folds, store_cv_results=True).fit(X, Y)
    p = clone(learner).fit(X, Y).predict_proba(X)[:, 1]
    at = np.where(p >= tuned.best_threshold_, "Yes", "No")
    np.testing.assert_array_equal(tuned.predict(X), at)
    assert tuned.best_score_ == max(tuned.cv_results_["scores"])


def test_the_cut_off_that_scikit_learn_tunes_is_that_of_the_hold_out_rows():
    train, test = train_test_split(np.arange(len(X)), stratify=Y, random_state=0)
    tuned = TunedThresholdClassifierCV(
        EducatedNB(pairs=0), scoring="balanced_accuracy", cv=[(train, test)], store_cv_results=True
    ).fit(X, Y)
    p = EducatedNB(pairs=0).fit(X.iloc[train], Y.iloc[train]).predict_proba(X.iloc[test])[:, 1]
    scores = [
        balanced_accuracy_score(Y.iloc[test], np.where(p >= cut_off, "Yes", "No"))
        for cut_off in tuned.cv_results_["thresholds"]
    ]
    np.testing.assert_allclose(tuned.cv_results_["scores"], scores)


@pytest.mark.parametrize("learner", LEARNERS, ids=lambda learner: type(learner).__name__)
def test_fairlearn_measures_by_group_what_evaluate_does(learner):
    fairlearn = pytest.importorskip("fairlearn.metrics")
    model, y = learner.fit(X, Y == "Yes"), Y == "Yes"
    rates = {
        "rows": fairlearn.count,
        "flagged": fairlearn.selection_rate,
        "false_positive_rate": fairlearn.false_positive_rate,
        "false_negative_rate": fairlearn.false_negative_rate,
    }
    frame = fairlearn.MetricFrame(
        metrics=rates, y_true=y, y_pred=model.predict(X), sensitive_features=X[["Sex", "Age"]]
    )
    found = weigh.evaluate(model, PEOPLE.assign(Survived=y), "Survived", by=["Sex", "Age"])
    theirs = {", ".join(group): row for group, row in frame.by_group.iterrows()}
    assert {*theirs} == {group.name for group in found.groups}
    for group in found.groups:
        row = theirs[group.name]
        assert group.n_rows == row["rows"]
        for rate in [*rates][1:]:
            assert getattr(group, rate).value == pytest.approx(row[rate])


@pytest.mark.parametrize("learner", LEARNERS, ids=lambda learner: type(learner).__name__)
def test_fairlearn_finds_cut_offs_by_group_for_a_fitted_model(learner):
    post = pytest.importorskip("fairlearn.postprocessing")
    y, sex = Y == "Yes", X["Sex"]
    model = learner.fit(X, y)
    before = model.predict_proba(X)
    fair = post.ThresholdOptimizer(
        estimator=model,
        constraints="demographic_parity",
        predict_method="predict_proba",
        prefit=True,
    ).fit(X, y, sensitive_features=sex)
    chosen = pd.Series(fair.predict(X, sensitive_features=sex, random_state=0)).groupby(sex).mean()
    plain = pd.Series(model.predict(X)).groupby(sex).mean()
    assert abs(chosen["Female"] - chosen["Male"]) < 0.1 < abs(plain["Female"] - plain["Male"])
    assert accuracy_score(y, model.predict(X)) > 0.7
    np.testing.assert_array_equal(model.predict_proba(X), before)
