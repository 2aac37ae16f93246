"""Calibration: curves that rise, the learner's own ranking and sheet, and honest slopes."""

import copy
import json
import pickle
from functools import cache

import numpy as np
import pandas as pd
import polars as pl
import pytest
import sklearn
from click.testing import CliRunner
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from scipy import sparse
from scipy.interpolate import BSpline
from scipy.optimize import minimize
from scipy.special import expit, logit
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.exceptions import NotFittedError
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import GridSearchCV, KFold, StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from tests.model_files import SCHEMA, read_model
from tests.outside import recalibrate as recalibrate_total
from tests.scored import NIJ

import weigh
from weigh import (
    AdjustedNB,
    BalanceSheetDisplay,
    BoostedNB,
    C44Classifier,
    EducatedRegressor,
    EvidenceNB,
    PerplexedNB,
    RecalibratedClassifier,
    SplineCalibrator,
    datasets,
)
from weigh.calibrate import FITS, recalibrate
from weigh.calibrate.calibrator import merge_groups
from weigh.calibrate.spline import PENALTIES, SlopeBasis, fit_spline, place_knots
from weigh.cli import main
from weigh.evidence import Recalibration
from weigh.folds import deal
from weigh.metrics import Scored, auc, calibration_line, loss_bits

LIGHT = settings(max_examples=25, deadline=None)
SMOOTH = ("spline", "sigmoid", "temperature")
WOMAN = {"Class": "1st", "Sex": "Female", "Age": "Adult"}


# ---------------------------------------------------------------- data


def draw(seed, n=300, curve=lambda x: 0.5 * x, spread=2.0):
    """Totals, and classes drawn by what the curve makes of them."""
    rng = np.random.default_rng(seed)
    x = spread * rng.normal(size=n)
    y = rng.random(n) < expit(curve(x))
    y[:2] = [True, False]
    return x, y


@st.composite
def drawn(draw_):
    seed, n = draw_(st.integers(0, 2**32 - 1)), draw_(st.integers(3, 120))
    slope = draw_(st.sampled_from([-1.0, 0.0, 0.4, 1.0, 8.0]))
    x, y = draw(seed, n, lambda x: slope * x)
    step = draw_(st.sampled_from([0.0, 0.5, 3.0]))  # ties
    return (np.round(x / step) * step if step else x), y


@st.composite
def curves(draw_):
    """Knots, values and slopes of any rising natural spline."""
    n = draw_(st.integers(1, 6))
    rng = np.random.default_rng(draw_(st.integers(0, 2**32 - 1)))
    knots = np.cumsum(rng.uniform(0.05, 3, n)) - 3
    basis = SlopeBasis(knots)
    return basis.curve(np.r_[rng.normal(), rng.normal(size=len(basis)) - 0.5])


def groups_of(x, y, weight=None):
    return Scored(y, x, weight).groups


@pytest.fixture
def people():
    return datasets.titanic()


# ---------------------------------------------------------------- the curve


@LIGHT
@given(curves())
def test_a_curve_rises_and_its_inverse_leads_back(curve):
    x = np.linspace(-12, 12, 4001)
    y = curve.apply(x)
    assert (np.diff(y) > 0).all()
    np.testing.assert_allclose(curve.inverse(y), x, atol=1e-9)
    assert curve.apply(x.reshape(-1, 1)).shape == (4001, 1)


@LIGHT
@given(curves())
def test_a_curve_is_a_natural_cubic_spline(curve):
    h, knots = 1e-4, curve.points

    def f(x):
        return curve.apply(np.atleast_1d(x))

    for knot, level, slope in zip(knots, curve.levels, curve.slopes, strict=True):
        assert f(knot) == pytest.approx(level)
        for side in (-h, h):
            assert (f(knot + side) - f(knot)) / side == pytest.approx(slope, rel=0.02, abs=1e-3)
        bends = [f(knot + s) - 2 * f(knot + 2 * s) + f(knot + 3 * s) for s in (-h, h)]
        assert bends[0] == pytest.approx(bends[1], abs=2e-2 * h)
    for end, side in ((knots[0], -1), (knots[-1], 1)):
        far = f(end + side * np.array([0.0, 1.0, 2.0, 7.0]))
        assert np.diff(far)[1] == pytest.approx(np.diff(far)[0])
        assert far[3] - far[2] == pytest.approx(5 * np.diff(far)[0])


def test_a_change_of_the_prior_is_added_at_the_end():
    curve = Recalibration("sigmoid", np.zeros(1), np.ones(1), np.full(1, 0.5), shift=0.25)
    assert curve.apply(np.array([0.0, 2.0])).tolist() == [1.25, 2.25]
    assert curve.inverse(np.array([1.25, 2.25])).tolist() == [0.0, 2.0]


def test_steps_have_no_inverse():
    curve = recalibrate(*draw(0), None, "isotonic")
    with pytest.raises(ValueError, match="spline"):
        curve.inverse(np.zeros(1))


# ---------------------------------------------------------------- fitting it


def literal_design(knots, x):
    """The integral of each slope from the middle knot, by adding up many small steps."""
    padded = np.r_[[knots[0]] * 2, knots, [knots[-1]] * 2]

    def slopes(at):
        inside = np.clip(at, knots[0], knots[-1])
        every = [BSpline(padded, row, 2)(inside) for row in np.eye(len(knots) + 1)]
        return np.array([every[0] + every[1], *every[2:-2], every[-2] + every[-1]])

    start = knots[len(knots) // 2]
    middles = [np.linspace(start, end, 2001) for end in x]
    steps = [(line[:-1] + line[1:]) / 2 for line in middles]
    return np.array(
        [slopes(s).sum(axis=1) * (e - start) / 2000 for s, e in zip(steps, x, strict=True)]
    )


def literal_fit(design, target, penalty):
    """The least penalised loss of Platt's targets: the totals, and Laplace's evidence against."""

    def totals(b):
        return b[0] + design @ np.exp(b[1:])

    def loss(b):
        nats = target @ np.logaddexp(0, -totals(b)) + (1 - target) @ np.logaddexp(0, totals(b))
        return nats + (penalty * np.sum(np.diff(b[1:]) ** 2) + 0.25 * np.mean(b[1:]) ** 2) / 2

    n_slopes = design.shape[1]
    b = minimize(loss, np.zeros(n_slopes + 1), options={"gtol": 1e-7}).x
    bends = np.diff(np.eye(n_slopes), axis=0)
    spread = np.diag(expit(totals(b)) * expit(-totals(b)))
    rates = np.column_stack([np.ones(len(design)), design * np.exp(b[1:])])
    curvature = rates.T @ spread @ rates
    curvature[1:, 1:] += penalty * bends.T @ bends + 0.25 / n_slopes**2
    volume = np.log(np.linalg.det(curvature)) - (n_slopes - 1) * np.log(penalty)
    return totals(b), loss(b) + volume / 2


def literal_targets(x, y):
    n, m = y.sum(), (~y).sum()
    return np.where(y, (n + 1) / (n + 2), 1 / (m + 2))[np.argsort(x)]  # no two totals are equal


@pytest.mark.parametrize("seed", range(3))
def test_the_spline_has_the_least_penalised_loss(seed):
    x, y = draw(seed, 60, lambda x: np.where(x < 0, x, 0.2 * x))
    groups = groups_of(x, y)
    fit = fit_spline(groups, 5)
    design = literal_design(place_knots(groups, 5), groups.p)
    literal, criterion = literal_fit(design, literal_targets(x, y), fit.penalty)
    np.testing.assert_allclose(fit.curve.apply(groups.p), literal, atol=2e-3)
    assert fit.criterion == pytest.approx(criterion, abs=1e-3)


@pytest.mark.parametrize("bend", [0.0, 1.5, 4.0])
def test_the_penalty_has_the_largest_marginal_likelihood(bend):
    x, y = draw(3, 120, lambda x: np.where(x < 0, bend * x, 0) + x / 4)
    groups = groups_of(x, y)
    design = literal_design(place_knots(groups, 5), groups.p)
    target = literal_targets(x, y)
    against = [literal_fit(design, target, penalty)[1] for penalty in PENALTIES]
    fit = fit_spline(groups, 5)
    assert fit.penalty == PENALTIES[np.argmin(against)]
    assert fit.criterion == pytest.approx(min(against), abs=1e-3)


@pytest.mark.parametrize("seed", range(8))
def test_classes_that_part_on_few_rows_make_no_curve_that_is_certain(seed):
    rng = np.random.default_rng(seed)
    new = rng.random(20_000) < 0.5
    totals = 2.4 * (np.where(new, 1.2, -1.2) + rng.normal(size=20_000))  # their own log odds
    held_out = rng.choice(np.flatnonzero((totals > 0) == new), 20, replace=False)
    x, y = totals[held_out], new[held_out]
    spline, sigmoid = (
        loss_bits(new, expit(recalibrate(x, y, None, method).apply(totals)))
        for method in ("spline", "sigmoid")
    )
    assert spline < sigmoid + 0.02


@LIGHT
@given(drawn(), st.integers(0, 2**32 - 1), st.sampled_from(SMOOTH))
@example(draw(0, 400, lambda x: np.where(x < 0, 3 * x, 0)), None, "spline")  # cuts between rows
def test_swapped_classes_mirror_the_curve(rows, seed, method):
    x, y = rows
    random = np.random.default_rng(seed)
    weight = None if seed is None else random.integers(1, 4, len(x)).astype(float)
    one, other = recalibrate(x, y, weight, method), recalibrate(-x, ~y, weight, method)
    at = np.linspace(-6, 6, 50)
    steep = method == "temperature" and abs(one.apply(at)).max() > 100
    assume(not steep)  # rows all on their own side ask for no end of slope
    np.testing.assert_allclose(one.apply(at), -other.apply(-at), rtol=1e-5, atol=1e-5)


@LIGHT
@given(drawn(), st.sampled_from([*FITS]))
def test_whatever_the_rows_totals_keep_their_order(rows, method):
    x, y = rows
    curve = recalibrate(x, y, None, method)
    at = np.unique(np.r_[x, np.linspace(-9, 9, 50)])
    found = curve.apply(at)
    assert np.isfinite(found).all()
    if method == "isotonic":  # lines between probabilities, which meet but for rounding
        assert (np.diff(expit(found)) >= -4 * np.finfo(float).eps).all()
    else:
        assert (np.diff(found) > 0).all()


@LIGHT
@given(drawn(), st.integers(0, 2**32 - 1), st.sampled_from([*FITS]))
def test_weights_equal_repetition(rows, seed, method):
    x, y = rows
    weight = np.random.default_rng(seed).integers(1, 4, len(x))
    weighted = recalibrate(x, y, weight.astype(float), method)
    again = recalibrate(np.repeat(x, weight), np.repeat(y, weight), None, method)
    at = np.linspace(-6, 6, 50)
    np.testing.assert_allclose(weighted.apply(at), again.apply(at), rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("method", [*FITS])
def test_equal_totals_move_to_the_base_rate(method):
    x, y = np.full(20, 1.5), np.arange(20) < 5
    found = expit(recalibrate(x, y, None, method).apply(x))
    assert found == pytest.approx(0.5 if method == "temperature" else 0.25, abs=0.05)


def test_a_bent_truth_is_found_and_a_straight_one_stays_straight():
    def bent(x):
        return np.where(x < 0, 0.9 * x, 0.3 * x)

    x, y = draw(1, 20_000, bent)
    curve = recalibrate(x, y, None, "spline")
    inside = np.abs(x) < 4
    assert np.abs(curve.apply(x) - bent(x))[inside].max() < 0.25
    straight = recalibrate(*draw(2, 20_000), None, "spline")
    assert straight.slopes == pytest.approx(0.5, abs=0.05)


def test_the_largest_penalty_is_a_straight_line():
    assert PENALTIES[0] == max(PENALTIES)
    x, y = draw(3, 5000, lambda x: 0.7 * x + 0.3)
    line = calibration_line(y, expit(x))
    curve = recalibrate(x, y, None, "spline")
    expected = line.intercept + line.slope * np.array([-2.0, 0.0, 2.0])
    np.testing.assert_allclose(curve.apply(np.array([-2.0, 0.0, 2.0])), expected, atol=0.1)


def test_a_million_rows_are_thinned_to_groups_of_equal_weight():
    x, y = draw(4, 30_000, np.arctan)
    groups = groups_of(x, y)
    few = merge_groups(groups, 500)
    assert len(few.p) == 500
    assert few.weight.max() - few.weight.min() <= 1
    assert (few.n_positive, few.n_negative) == (groups.n_positive, groups.n_negative)
    at = np.linspace(-4, 4, 20)
    one, other = (fit_spline(part, 5).curve.apply(at) for part in (groups, few))
    np.testing.assert_allclose(one, other, atol=0.02)


class Totals(ClassifierMixin, BaseEstimator):
    """A classifier whose decision function is its only column."""

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        return self

    def decision_function(self, X):
        return X[:, 0]

    def predict(self, X):
        return self.classes_[(X[:, 0] > 0).astype(int)]


@pytest.mark.filterwarnings("ignore:Since FrozenEstimator:UserWarning")
@pytest.mark.parametrize("method", ["sigmoid", "isotonic", "temperature"])
@pytest.mark.parametrize("weighted", [False, True])
def test_sigmoid_isotonic_and_temperature_are_scikit_learns(method, weighted):
    x, y = draw(5, 400, lambda x: 0.5 * x - 0.4)
    x = x.round(1)
    weight = np.random.default_rng(6).integers(1, 4, 400).astype(float) if weighted else None
    theirs = CalibratedClassifierCV(FrozenEstimator(Totals().fit(x[:, None], y)), method=method)
    if method == "temperature" and sklearn.__version__ < "1.8":
        pytest.skip("scikit-learn has temperature scaling from 1.8 on")
    theirs.fit(x[:, None], y, sample_weight=weight)
    mine = expit(recalibrate(x, y, weight, method).apply(x))
    np.testing.assert_allclose(mine, theirs.predict_proba(x[:, None])[:, 1], atol=2e-5)


# ---------------------------------------------------------------- SplineCalibrator


def test_forwards_and_backwards():
    x, y = draw(7)
    p = expit(x)
    curve = SplineCalibrator().fit(p, y)
    said = curve.predict(p)
    assert ((said > 0) & (said < 1)).all()
    assert (np.argsort(said) == np.argsort(p)).all()
    np.testing.assert_allclose(curve.inverse(said), p, atol=1e-9)
    threshold = float(curve.inverse(0.3))
    assert curve.predict([threshold]) == pytest.approx([0.3])
    assert loss_bits(y, said) < loss_bits(y, p)


def test_log_odds_and_probabilities_in_any_holder_give_the_same_curve():
    x, y = draw(8)
    p = expit(x)
    expected = SplineCalibrator().fit(p, y).predict(p)
    by_log_odds = SplineCalibrator(input="log_odds").fit(x, y)
    np.testing.assert_allclose(by_log_odds.predict(x), expected, atol=1e-9)
    np.testing.assert_allclose(expit(by_log_odds.transform(x)), expected, atol=1e-9)
    assert by_log_odds.inverse(0.5) == pytest.approx(
        logit(SplineCalibrator().fit(p, y).inverse(0.5))
    )
    names = np.where(y, "yes", "no")
    for X in (p[:, None], np.column_stack([1 - p, p]), pl.Series(p), pd.Series(p), p.tolist()):
        again = SplineCalibrator().fit(X, names)
        np.testing.assert_allclose(again.transform(X), expected, atol=1e-12)


@LIGHT
@given(drawn(), st.integers(2, 9))
def test_few_rows_and_few_distinct_predictions_are_enough(rows, n_knots):
    x, y = rows
    curve = SplineCalibrator(n_knots=n_knots).fit(expit(x), y)
    assert len(curve.curve_.points) <= n_knots
    assert np.isfinite(curve.predict([0.0, 0.5, 1.0])).all()


def test_one_prediction_for_all_moves_to_the_base_rate():
    curve = SplineCalibrator().fit([0.2] * 10, [1] * 5 + [0] * 5)
    assert curve.predict([0.2]) == pytest.approx([0.5])
    assert curve.predict([0.1]) < curve.predict([0.2])


def test_weights_of_a_calibrator_equal_repetition_and_no_weight_is_no_row():
    x, y = draw(9, 40)
    weight = np.random.default_rng(10).integers(0, 3, 40)
    weighted = SplineCalibrator().fit(expit(x), y, sample_weight=weight)
    again = SplineCalibrator().fit(expit(np.repeat(x, weight)), np.repeat(y, weight))
    np.testing.assert_allclose(weighted.predict(expit(x)), again.predict(expit(x)), atol=1e-9)


@pytest.mark.parametrize(
    ("X", "y", "parameters", "message"),
    [
        ([0.5, np.nan], [0, 1], {}, "NaN"),
        ([0.5, 2.0], [0, 1], {}, "input='log_odds'"),
        ([0.5, np.inf], [0, 1], {"input": "log_odds"}, "infinity"),
        ([0.5, 0.6], [1, 1], {}, "two classes"),
        ([0.5, 0.6], [0, 1, 1], {}, "2 rows and y 3"),
        ([0.5, 0.6, 0.7], [0, 1, 2], {}, "3 labels"),
        ([[0.5, 0.6]], [0], {"input": "log_odds"}, "shape"),
        ([[0.1, 0.2, 0.7]], [0], {}, "shape"),
        ([0.5, 0.6], [0, 1], {"n_knots": 1}, "n_knots"),
        ([0.5, 0.6], [0, 1], {"n_knots": 2.5}, "n_knots"),
        ([0.5, 0.6], [0, 1], {"input": "odds"}, "input"),
        (["a", "b"], [0, 1], {}, "numbers"),
        ([], [], {}, "empty"),
    ],
)
def test_what_has_no_curve_is_refused_in_words(X, y, parameters, message):
    with pytest.raises(ValueError, match=message):
        SplineCalibrator(**parameters).fit(X, y)


def test_a_rate_of_zero_or_one_has_no_threshold_and_an_unfitted_curve_says_so():
    curve = SplineCalibrator().fit(*(lambda x, y: (expit(x), y))(*draw(11)))
    for rate in (0.0, 1.0, -1, np.nan):
        with pytest.raises(ValueError, match="above 0 and below 1"):
            curve.inverse(rate)
    with pytest.raises(NotFittedError):
        SplineCalibrator().predict([0.5])
    assert clone(SplineCalibrator(n_knots=3)).get_params() == {"input": "probability", "n_knots": 3}


# ---------------------------------------------------------------- RecalibratedClassifier


def held_out(learner, X, y, folds):
    """Totals of rows held out, fold by fold, as the docstring says."""
    totals = np.empty(len(y))
    for train, rest in folds:
        totals[rest] = clone(learner).fit(X[train], y[train]).decision_function(X[rest])
    return totals


def draw_table(seed, n=150):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n)
    codes = (rng.random((n, 4)) + 0.4 * y[:, None] > 0.7).astype(int)
    return np.column_stack([codes, codes[:, :2]]), y


@pytest.mark.parametrize("method", [*FITS])
def test_the_curve_is_that_of_totals_held_out(method):
    X, y = draw_table(0)
    learner = EvidenceNB(categorical_features="all")
    model = RecalibratedClassifier(learner, method=method, cv=3, random_state=4).fit(X, y)
    folds = deal(y, 3, np.random.RandomState(4))
    curve = recalibrate(held_out(learner, X, y, folds), y == 1, None, method)
    whole = clone(learner).fit(X, y)
    expected = curve.apply(whole.decision_function(X))
    np.testing.assert_allclose(model.decision_function(X), expected, rtol=1e-12)
    np.testing.assert_allclose(model.predict_proba(X)[:, 1], expit(expected), rtol=1e-12)
    assert (model.predict(X) == (expected > 0)).all()
    assert (model.estimator_.decision_function(X) == whole.decision_function(X)).all()


def test_folds_may_be_given_by_a_splitter():
    X, y = draw_table(1)
    learner = EvidenceNB(categorical_features="all")
    splitter = KFold(4, shuffle=True, random_state=0)
    model = RecalibratedClassifier(learner, cv=splitter).fit(X, y)
    curve = recalibrate(held_out(learner, X, y, splitter.split(X)), y == 1, None, "spline")
    expected = curve.apply(clone(learner).fit(X, y).decision_function(X))
    np.testing.assert_allclose(model.decision_function(X), expected, rtol=1e-12)


LEARNERS = [
    EvidenceNB(),
    AdjustedNB(random_state=0),
    BoostedNB(random_state=0),
    PerplexedNB(random_state=0),
    PerplexedNB(missing="skip", random_state=0),
    weigh.WeightedNB(random_state=0),
    weigh.EducatedNB(pairs=0),
]


@cache
def recalibrated(learner, method):
    """A learner of the passengers, fitted once for the tests that only look at it."""
    model = RecalibratedClassifier(learner, method=method, random_state=0)
    return model.fit(datasets.titanic(), "Survived")


@pytest.mark.parametrize("learner", LEARNERS, ids=lambda learner: type(learner).__name__)
@pytest.mark.parametrize("method", SMOOTH)
def test_ranking_and_auc_stay_what_they_were(people, learner, method):
    model = recalibrated(learner, method)
    y = people["Survived"].to_numpy()
    before, after = (part.decision_function(people) for part in (model.estimator_, model))
    _, one = np.unique(before, return_inverse=True)
    _, other = np.unique(after, return_inverse=True)
    assert (one == other).all()
    assert roc_auc_score(y, after) == roc_auc_score(y, before)


@pytest.mark.parametrize("learner", LEARNERS, ids=lambda learner: type(learner).__name__)
@pytest.mark.parametrize("method", [*FITS])
@pytest.mark.parametrize("of", ["Yes", "No"])
def test_the_sheet_leads_from_the_weights_to_the_probability(learner, method, of):
    model = recalibrated(learner, method)
    row = {"Class": "2nd", "Sex": "Male", "Age": None}
    for part in (model, model.with_prior(0.1)):
        sheet, bare = (
            part.balance_sheet(row, pos_label=of),
            part.estimator_.balance_sheet(row, pos_label=of),
        )
        worth = sheet.recalibration
        assert sheet.items == bare.items
        assert worth.before == pytest.approx(bare.total)
        assert worth.after + worth.shift == pytest.approx(sheet.total)
        assert expit(sheet.total) == pytest.approx(sheet.probability)
        column = part.classes_.tolist().index(of)
        assert sheet.probability == pytest.approx(part.predict_proba([row])[0, column])
        assert worth.method == method
        assert sheet.to_dict()["recalibration"] == vars(worth)
        for page in (str(sheet), sheet._repr_html_()):
            assert f"Recalibrated ({method})" in page
            assert ("Change of the base rate" in page) == bool(worth.shift)
        assert "the error of" in str(sheet) or sheet.interval is None


def test_the_interval_moves_as_its_ends_do(people):
    model = RecalibratedClassifier(EvidenceNB(), random_state=0).fit(people, "Survived")
    bare, sheet = model.estimator_.balance_sheet(WOMAN), model.balance_sheet(WOMAN)
    curve = model.evidence_.recalibration
    assert sheet.interval == pytest.approx(tuple(expit(curve.apply(logit(bare.interval)))))
    low, high = model.balance_sheet(WOMAN, pos_label="No").interval
    assert (1 - high, 1 - low) == pytest.approx(sheet.interval)


def test_the_evidence_and_the_waterfall_state_the_curve(people):
    model = RecalibratedClassifier(EvidenceNB(), random_state=0).fit(people, "Survived")
    curve = model.evidence_.recalibration
    told = f"+100 is worth {round(100 * curve.apply(np.ones(1))[0]):+d}"
    for page in (str(model.evidence_), model.evidence_._repr_html_()):
        assert "recalibrated (spline)" in page
        assert told in page.replace("\n", " ")
    shifted = model.with_prior(0.05)
    assert "for another base rate" in str(shifted.evidence_)
    display = BalanceSheetDisplay.from_estimator(shifted, WOMAN)
    names = [label.get_text() for label in display.ax_.get_yticklabels()]
    assert names[-3:] == ["Recalibration (spline)", "Change of the base rate", "Total"]
    bars = [bar.get_width() for bar in display.ax_.patches]
    assert sum(bars[:-1]) == pytest.approx(bars[-1])


def test_an_exponent_that_varies_comes_before_the_curve(people):
    learner = PerplexedNB(missing="skip", random_state=0)
    model = RecalibratedClassifier(learner, random_state=0).fit(people, "Survived")
    assert model.evidence_.attenuation is not None
    sheet = model.balance_sheet({"Class": "1st", "Sex": None, "Age": None})
    assert "Total before recalibration" in str(sheet)
    display = BalanceSheetDisplay(sheet).plot()
    bars = [bar.get_width() for bar in display.ax_.patches]
    assert sum(bars[:-1]) == pytest.approx(bars[-1])


@pytest.mark.parametrize("method", [*FITS])
def test_another_prior_is_added_after_the_curve(people, method):
    model = RecalibratedClassifier(EvidenceNB(), method=method, random_state=0)
    model.fit(people, "Survived")
    rate = model.evidence_.base_rate[1]
    shifted = model.with_prior(0.05)
    change = logit(0.05) - logit(rate)
    expected = model.decision_function(people) + change
    np.testing.assert_allclose(shifted.decision_function(people), expected, rtol=1e-12)
    back = shifted.with_prior(rate)
    np.testing.assert_allclose(
        back.decision_function(people), model.decision_function(people), atol=1e-12
    )
    given_ = RecalibratedClassifier(EvidenceNB(class_prior=0.05), method=method, random_state=0)
    again = given_.fit(people, "Survived").decision_function(people)
    np.testing.assert_allclose(again, expected, atol=1e-9)
    refitted = clone(shifted).fit(people, "Survived").decision_function(people)
    np.testing.assert_allclose(refitted, model.decision_function(people), atol=1e-9)
    assert shifted.estimator is model.estimator


def test_a_model_fitted_before_is_recalibrated_on_rows_that_it_has_not_seen():
    X, y = draw_table(2, 300)
    weight = np.random.default_rng(3).integers(0, 3, 150)
    learner = EvidenceNB(categorical_features="all").fit(X[:150], y[:150])
    model = RecalibratedClassifier(learner, cv="prefit").fit(X[150:], y[150:], weight)
    kept = np.repeat(np.arange(150, 300), weight)
    curve = recalibrate(learner.decision_function(X[kept]), y[kept] == 1, None, "spline")
    expected = curve.apply(learner.decision_function(X))
    np.testing.assert_allclose(model.decision_function(X), expected, atol=1e-9)
    assert model.estimator_ is learner
    rate = y[kept].mean()
    same = model.with_prior(rate).decision_function(X)
    np.testing.assert_allclose(same, expected, atol=1e-9)


def test_documents_are_recalibrated_too():
    rng = np.random.default_rng(12)
    y = np.repeat([0, 1], 60)
    counts = rng.poisson(1 + np.outer(y, rng.random(8)))
    X = sparse.csr_matrix(counts)
    model = RecalibratedClassifier(EvidenceNB(event_model="counts"), random_state=0).fit(X, y)
    assert (
        np.argsort(model.decision_function(X)) == np.argsort(model.estimator_.decision_function(X))
    ).all()
    assert "Recalibrated (spline)" in str(model.balance_sheet(X[0]))
    prefit = RecalibratedClassifier(model.estimator_, cv="prefit").fit(X, y)
    assert prefit.predict_proba(X).shape == (120, 2)


def test_labels_and_weights_may_be_columns(people):
    table = people.append_column("times", [np.tile([1, 2, 0], 734)[:2201]])
    model = RecalibratedClassifier(EvidenceNB(), random_state=0)
    named = model.fit(table, "Survived", sample_weight="times").decision_function(people)
    y, weight = people["Survived"], table["times"].to_numpy()
    again = clone(model).fit(people.drop_columns(["Survived"]), y, weight)
    assert (again.decision_function(people) == named).all()
    assert [*model.feature_names_in_] == ["Class", "Sex", "Age"]


def test_without_rows_of_both_classes_held_out_totals_stay_as_they_are():
    X, y = [["a"], ["b"], ["a"], ["b"], ["a"]], [0, 0, 0, 0, 1]
    with pytest.warns(UserWarning, match="not recalibrated"):
        model = RecalibratedClassifier(EvidenceNB(), random_state=0).fit(X, y)
    assert model.evidence_.recalibration is None
    assert (model.decision_function(X) == EvidenceNB().fit(X, y).decision_function(X)).all()


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (RecalibratedClassifier(LogisticRegression()), "CalibratedClassifierCV"),
        (RecalibratedClassifier(C44Classifier()), "table of weights"),
        (RecalibratedClassifier(EducatedRegressor()), "estimates numbers, .* classes are recali"),
        (RecalibratedClassifier(None), "table of weights"),
        (RecalibratedClassifier(RecalibratedClassifier(EvidenceNB())), "recalibrated already"),
        (RecalibratedClassifier(BoostedNB(combine="vote", random_state=0)), "combine='evidence'"),
        (RecalibratedClassifier(PerplexedNB(form="arithmetic")), "form='root'"),
        (RecalibratedClassifier(EvidenceNB(), method="platt"), "method .*platt"),
        (RecalibratedClassifier(EvidenceNB(), cv=1), "at least 2 folds"),
        (RecalibratedClassifier(EvidenceNB(), cv="folds"), "cv .*'folds'"),
        (RecalibratedClassifier(EvidenceNB(smoothing=-1)), "smoothing"),
    ],
)
def test_what_cannot_be_recalibrated_is_refused_by_name(people, model, message):
    with pytest.raises(ValueError, match=message):
        model.fit(people, "Survived")


def test_prefit_needs_a_fitted_model_and_rows_of_both_of_its_classes():
    with pytest.raises(NotFittedError):
        RecalibratedClassifier(EvidenceNB(), cv="prefit").fit([["a"], ["b"]], [0, 1])
    fitted = EvidenceNB().fit([["a"], ["b"]] * 5, [0, 1] * 5)
    with pytest.raises(ValueError, match=r"^y "):
        RecalibratedClassifier(fitted, cv="prefit").fit([["a"], ["b"]], [1, 1])
    with pytest.raises(ValueError, match=r"^y .*7"):
        RecalibratedClassifier(fitted, cv="prefit").fit([["a"], ["b"]], [1, 7])


# ---------------------------------------------------------------- scikit-learn


def test_it_can_be_searched_piped_pickled_and_copied(people):
    y = people["Survived"].to_numpy()
    X = people.drop_columns(["Survived"]).to_pandas()
    grid = {"recalibratedclassifier__estimator__smoothing": [0.5, 5.0]}
    grid["recalibratedclassifier__method"] = ["spline", "sigmoid"]
    pipe = make_pipeline(
        FunctionTransformer(), RecalibratedClassifier(EvidenceNB(), cv=3, random_state=0)
    )
    search = GridSearchCV(pipe, grid, cv=2, scoring="neg_log_loss").fit(X, y)
    model = search.best_estimator_[-1]
    again = pickle.loads(pickle.dumps(model))
    assert (again.predict_proba(X) == model.predict_proba(X)).all()
    assert copy.deepcopy(model).get_params().keys() == model.get_params().keys()


# ---------------------------------------------------------------- files


@pytest.mark.parametrize("method", [*FITS])
def test_a_loaded_model_predicts_the_same_bits_and_the_file_alone_is_enough(
    people, method, tmp_path
):
    learner = AdjustedNB(norm=None)
    model = RecalibratedClassifier(learner, method=method, random_state=0)
    model = model.fit(people, "Survived").with_prior(0.2)
    weigh.save(model, tmp_path / "model.json")
    again = weigh.load(tmp_path / "model.json")
    assert (again.predict_proba(people) == model.predict_proba(people)).all()
    assert str(again.balance_sheet(WOMAN)) == str(model.balance_sheet(WOMAN))
    assert repr(again) == repr(model)
    assert again.evidence_.with_prior(np.array([0.5, 0.5])) is not None
    data = read_model(tmp_path / "model.json")
    Draft202012Validator(SCHEMA).validate(data)
    raw = model.evidence_.raw_total(model._read(people))[:, 0]
    found = [recalibrate_total(data["evidence"]["recalibration"], x) for x in raw]
    np.testing.assert_allclose(found, model.decision_function(people), atol=1e-12)


def test_a_model_fitted_before_can_be_saved(tmp_path):
    X, y = draw_table(5)
    learner = EvidenceNB(categorical_features="all").fit(X, y)
    model = RecalibratedClassifier(learner, cv="prefit").fit(X, y)
    weigh.save(model, tmp_path / "model.json")
    again = weigh.load(tmp_path / "model.json")
    assert again.cv == "prefit"
    assert (again.predict_proba(X) == model.predict_proba(X)).all()


WRONG = [
    ("method", "loess"),
    ("points", []),
    ("points", [1.0, 0.0]),
    ("points", None),
    ("levels", [0.0]),
    ("levels", "x"),
    ("slopes", []),
    ("slopes", [0.0, 1.0]),
    ("slopes", [-1.0, 1.0]),
    ("shift", None),
    ("shift", [0.0]),
]


@pytest.mark.parametrize(("field", "value"), WRONG, ids=lambda part: repr(part)[:20])
def test_a_broken_curve_is_refused(people, field, value, tmp_path):
    model = RecalibratedClassifier(EvidenceNB(), random_state=0).fit(people, "Survived")
    weigh.save(model, tmp_path / "model.json")
    data = read_model(tmp_path / "model.json")
    curve = data["evidence"]["recalibration"]
    curve |= {"points": [0.0, 1.0], "levels": [0.0, 1.0], "slopes": [1.0, 1.0]}
    (tmp_path / "whole.json").write_text(json.dumps(data))
    assert weigh.load(tmp_path / "whole.json").evidence_.recalibration.shift == 0
    curve[field] = value
    (tmp_path / "broken.json").write_text(json.dumps(data))
    with pytest.raises(ValueError, match=r"broken.json"):
        weigh.load(tmp_path / "broken.json")
    del curve[field]
    (tmp_path / "broken.json").write_text(json.dumps(data))
    with pytest.raises(ValueError, match=f"lacks '{field}'"):
        weigh.load(tmp_path / "broken.json")


def test_a_curve_of_three_classes_and_a_learner_inside_that_is_none_are_refused(tmp_path, people):
    model = RecalibratedClassifier(EvidenceNB(), random_state=0).fit(people, "Survived")
    weigh.save(model, tmp_path / "model.json")
    data = read_model(tmp_path / "model.json")
    three = EvidenceNB().fit([["a"], ["b"], ["c"]], [0, 1, 2])
    weigh.save(three, tmp_path / "three.json")
    many = read_model(tmp_path / "three.json")
    many["evidence"]["recalibration"] = data["evidence"]["recalibration"]
    (tmp_path / "three.json").write_text(json.dumps(many))
    with pytest.raises(ValueError, match="two classes"):
        weigh.load(tmp_path / "three.json")
    assert not Draft202012Validator(SCHEMA).is_valid(many)
    data["parameters"]["estimator"]["learner"] = "Popen"
    (tmp_path / "odd.json").write_text(json.dumps(data))
    with pytest.raises(ValueError, match="does not know the learner 'Popen'"):
        weigh.load(tmp_path / "odd.json")


def test_the_command_line_recalibrates(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    run = CliRunner().invoke
    run(main, ["demo", "--save", "people.csv"])
    fit = ["fit", "people.csv", "--target", "Survived", "--recalibrate", "spline", "-o", "m.json"]
    done = run(main, fit)
    assert done.exit_code == 0, done.output
    assert isinstance(weigh.load("m.json"), RecalibratedClassifier)
    assert "is worth" in run(main, ["show", "m.json"]).output
    assert (
        "Recalibrated (spline)"
        in run(main, ["explain", "m.json", "people.csv", "--row", "0"]).output
    )
    assert run(main, ["score", "m.json", "people.csv", "-o", "s.csv"]).exit_code == 0
    tree = [*fit[:4], "--learner", "c44", *fit[4:]]
    assert "table of weights" in run(main, tree).output
    other = [*fit[:4], "--learner", "recalibrated", *fit[4:]]
    assert run(main, other).exit_code == 2


# ---------------------------------------------------------------- honest slopes


FILES = {"pima": "pima_diabetes", "crx": "credit_approval_crx", "nij": "nij_recidivism_full"}


@pytest.mark.parametrize(
    ("name", "repeats", "learner"),
    [
        ("pima", 2, EvidenceNB()),
        ("crx", 1, EvidenceNB()),
        ("nij", 1, EvidenceNB()),
        ("pima", 1, BoostedNB(n_rounds=10, random_state=0)),
        ("crx", 1, BoostedNB(n_rounds=10, random_state=0)),
    ],
)
def test_the_slope_of_held_out_rows_is_one_and_their_auc_what_it_was(
    papers_data, name, repeats, learner
):
    table = datasets.load(FILES[name])
    target = "Recidivism_Within_3years" if name == "nij" else "class"
    y = table[target].to_numpy()
    X = table.select(NIJ) if name == "nij" else table.drop_columns([target])
    n_folds = 3 if name == "nij" or isinstance(learner, BoostedNB) else 5
    slopes, errors = [], []
    for seed in range(repeats):
        folds = StratifiedKFold(n_folds, shuffle=True, random_state=seed)
        for train, test in folds.split(y, y):
            model = RecalibratedClassifier(learner, random_state=seed).fit(X.take(train), y[train])
            rows, rest = X.take(test), y[test]
            line = calibration_line(rest, model.predict_proba(rows))
            slopes.append(line.slope)
            errors.append(line.slope_error)
            before, after = (part.decision_function(rows) for part in (model.estimator_, model))
            assert roc_auc_score(rest, after) == pytest.approx(
                roc_auc_score(rest, before), abs=1e-9
            )
            assert auc(rest, model.predict_proba(rows)).value == pytest.approx(
                auc(rest, model.estimator_.predict_proba(rows)).value, abs=1e-9
            )
    error = np.sqrt(np.mean(np.square(errors)) / folds.n_splits)  # repeats deal the same rows again
    assert np.mean(slopes) == pytest.approx(1, abs=max(0.1, 2 * error))
