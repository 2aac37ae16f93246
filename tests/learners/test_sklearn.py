"""Every public estimator keeps to scikit-learn's conventions.

All checks run on one setting of each estimator. Other settings get the checks that compare what
was learned: the rest look at the constructor, at tags and at what is refused before anything is
learned, which no setting changes. Learners that repeat themselves do so a few times only (rounds,
folds): the checks fit each of them some hundred times, and none looks at how often. Checks of few
rows also run with the default rounds and folds.
"""

import numpy as np
import pytest
import sklearn
from sklearn.base import BaseEstimator
from sklearn.model_selection import StratifiedKFold, cross_val_score
from sklearn.utils.estimator_checks import estimator_checks_generator

import weigh
from weigh import (
    AdjustedNB,
    BoostedNB,
    BoostedNBRegressor,
    C44Classifier,
    EducatedNB,
    EducatedRegressor,
    EvidenceNB,
    MDLDiscretizer,
    PerplexedNB,
    RecalibratedClassifier,
    WeightedNB,
    WeightOfEvidence,
)

WHOLE = [
    AdjustedNB(cv=3),
    BoostedNB(n_rounds=4, cv=3),
    BoostedNBRegressor(n_rounds=4, cv=3),
    C44Classifier(),
    EducatedNB(),
    EducatedRegressor(),
    EvidenceNB(),
    EvidenceNB(event_model="counts"),  # which takes no negative numbers, and says so in its tags
    MDLDiscretizer(),
    WeightOfEvidence(),
    PerplexedNB(),
    RecalibratedClassifier(EvidenceNB(), cv=2, random_state=0),
    WeightedNB(),
]
DEFAULTS = [  # of the learners whose rounds and folds are fewer above
    AdjustedNB(),
    BoostedNB(),
    BoostedNBRegressor(),
    RecalibratedClassifier(EvidenceNB(), random_state=0),
]
SETTINGS = [
    AdjustedNB(norm=2.0, multiclass="softmax"),
    BoostedNB(combine="vote", n_rounds=4, cv=3),
    BoostedNB(n_rounds=3, early_stopping=False, calibrate_scale=False),
    BoostedNBRegressor(grid=20, bins=3, n_rounds=4, cv=3),
    C44Classifier(smoothing=0, bins=5, missing="level"),
    C44Classifier(categorical_features="all", min_rows=1),
    EducatedNB(bins=5, pairs=1, random_state=0),
    EducatedNB(bins=5, multiclass="ovr"),
    EducatedRegressor(family="poisson", bins=5, pairs=0),
    EvidenceNB(smoothing=0, bins=5, missing="skip"),
    EvidenceNB(categorical_features="all"),
    PerplexedNB(attenuation=2, missing="skip"),
    PerplexedNB(form="arithmetic"),
    PerplexedNB(event_model="counts", form="geometric", attenuation="flat"),
    RecalibratedClassifier(EvidenceNB(), method="isotonic", cv=3, random_state=0),
    WeightedNB(method="gain_ratio"),
    WeightedNB(method="mcmc", choose_on="training"),
    WeightedNB(method="hill_climbing", step=1.0),
]
LEARNED = {
    "check_classifiers_classes",
    "check_classifiers_train",
    "check_decision_proba_consistency",
    "check_dict_unchanged",
    "check_dtype_object",
    "check_estimators_dtypes",
    "check_estimators_overwrite_params",
    "check_estimators_pickle",
    "check_fit2d_1feature",
    "check_fit2d_1sample",
    "check_fit_idempotent",
    "check_methods_sample_order_invariance",
    "check_methods_subset_invariance",
    "check_non_transformer_estimators_n_iter",
    "check_positive_only_tag_during_fit",
    "check_regressors_int",
    "check_regressors_train",
    "check_sample_weight_equivalence_on_dense_data",
    "check_sample_weights_not_overwritten",
}
SMALL = {"check_dict_unchanged", "check_fit2d_1feature"}
"""Checks that learn from 20 rows and from ten."""

SAID = {  # what a learner may warn of on tables as small as those of the checks
    AdjustedNB: (
        "ignore::sklearn.exceptions.ConvergenceWarning",
        "ignore:.*has no effect",
        "ignore:class .* fewer than",
    ),
    BoostedNB: ("ignore:a class has only one row",),
    EvidenceNB: ("ignore:partial_fit found the cut points",),
    PerplexedNB: ("ignore:k cannot be chosen",),
}


def failing(estimator):
    """The checks that an estimator cannot pass, each with the reason."""
    if getattr(estimator, "event_model", "levels") == "counts":
        draws = "draws negative values, which counts cannot be; MultinomialNB is spared because it "
        found = {"check_decision_proba_consistency": draws + "has no decision_function"}
        if sklearn.__version__.startswith("1.7."):  # for what takes categories and no negatives
            whole = "subtracts a mean from whole numbers in place, which NumPy refuses"
            found["check_positive_only_tag_during_fit"] = whole
        return found
    # a vote has no scale, and its number of rounds is the same in the check's two fits
    boosted = isinstance(estimator, BoostedNB)
    if boosted and estimator.early_stopping and estimator.combine == "evidence":
        reason = "a scale is chosen on hold-out rows, and a row given twice may be in two folds"
        return {"check_sample_weight_equivalence_on_dense_data": reason}
    return {}


def checks(estimator, names=None):
    """An estimator with each of its checks, or with those of some names, for the first argument."""
    expected, seen = failing(estimator), set()
    marks = [pytest.mark.filterwarnings(text) for text in SAID.get(type(estimator), ())]
    for given, check in estimator_checks_generator(estimator):
        name = check.func.__name__
        if names is not None and (name not in names or name in seen):
            continue
        seen.add(name)
        own = [pytest.mark.xfail(reason=expected[name])] if name in expected else []
        told = [name, *(f"{key}={value}" for key, value in check.keywords.items())]
        label = "-".join([" ".join(str(given).split()), *told])
        yield pytest.param(given, check, marks=[*marks, *own], id=label)


UNLIKE = {"EducatedSurvival", "SplineCalibrator"}
"""Estimators that no check fits: their targets are two columns, their rows are probabilities."""


def test_every_public_estimator_is_checked():
    public = {name: getattr(weigh, name) for name in weigh.__all__}
    estimators = {
        name
        for name, value in public.items()
        if isinstance(value, type) and issubclass(value, BaseEstimator)
    }
    assert {type(estimator).__name__ for estimator in WHOLE} == estimators - UNLIKE


def test_metadata_routing_hands_weights_to_fits_and_scores():
    random = np.random.default_rng(0)
    X, y = random.integers(0, 3, (120, 2)).astype(float), random.integers(0, 2, 120)
    weight = random.integers(1, 9, 120).astype(float)
    folds = StratifiedKFold(3)
    by_hand = [
        EvidenceNB().fit(X[a], y[a], weight[a]).score(X[b], y[b], weight[b])
        for a, b in folds.split(X, y)
    ]
    with sklearn.config_context(enable_metadata_routing=True):
        learner = EvidenceNB().set_fit_request(sample_weight=True)
        learner.set_score_request(sample_weight=True)
        routed = cross_val_score(learner, X, y, cv=folds, params={"sample_weight": weight})
    assert routed.tolist() == by_hand
    assert routed.tolist() != cross_val_score(EvidenceNB(), X, y, cv=folds).tolist()


@pytest.mark.parametrize(
    ("estimator", "check"), [case for estimator in WHOLE for case in checks(estimator)]
)
def test_scikit_learn_finds_nothing_to_object_to(estimator, check):
    check(estimator)


@pytest.mark.parametrize(
    ("estimator", "check"), [case for estimator in SETTINGS for case in checks(estimator, LEARNED)]
)
def test_other_settings_learn_as_scikit_learn_expects(estimator, check):
    check(estimator)


@pytest.mark.parametrize(
    ("estimator", "check"), [case for estimator in DEFAULTS for case in checks(estimator, SMALL)]
)
def test_default_rounds_and_folds_learn_from_few_rows(estimator, check):
    check(estimator)
