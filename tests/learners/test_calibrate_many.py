"""Recalibration of more than two classes: scaled tables, and curves of each class."""

import numpy as np
import pytest
from scipy.special import expit, logit, softmax
from sklearn.datasets import load_digits
from sklearn.isotonic import IsotonicRegression
from sklearn.model_selection import KFold
from tests.exported import visited

import weigh
from weigh import AdjustedNB, EvidenceNB, PerplexedNB, RecalibratedClassifier
from weigh.calibrate import SCALINGS, HoldOutTotals
from weigh.formula import Scorer

LEARNERS = {
    "softmax": EvidenceNB(),
    "one against the rest": AdjustedNB(multiclass="ovr", random_state=0),
    "root": PerplexedNB(attenuation=3.0, missing="skip"),
    "geometric": PerplexedNB(attenuation=3.0, form="geometric", missing="skip"),
}
SCALED, CURVED = ("temperature", "sigmoid"), ("spline", "isotonic")


def draw(n=300, seed=0):
    """Three classes and six columns, some of them twice, so that naive Bayes is too sure."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, n)
    level = (y[:, None] + rng.integers(0, 3, (n, 3))) % 4
    X = np.column_stack([level, level]).astype(object)
    X[rng.random((n, 6)) < 0.1] = None
    return X, np.array(["a", "b", "c"])[y]


def held(link="softmax", n=400, seed=1):
    rng = np.random.default_rng(seed)
    totals = rng.normal(size=(n, 4)) * 3
    p = softmax(totals * [0.3, 0.5, 0.7, 0.4] + [0.2, 0, 0.5, -1], axis=1)
    labels = np.array([rng.choice(4, p=row) for row in p])
    return HoldOutTotals(totals, labels, rng.integers(1, 3, n).astype(float), link)


def literal_loss(rows, slopes, levels, targets=None):
    totals = rows.totals * slopes + levels
    p = softmax(totals, axis=1)
    if rows.link == "ovr":
        p = expit(totals) / expit(totals).sum(axis=1, keepdims=True)
    own = np.eye(totals.shape[1])[rows.labels] if targets is None else targets
    return -(rows.weight[:, None] * own * np.log(p)).sum()


@pytest.mark.parametrize("link", ["softmax", "ovr"])
def test_no_other_temperature_has_a_lower_loss(link):
    rows = held(link)
    found = SCALINGS["temperature"](rows)
    best = literal_loss(rows, found.slopes, 0.0)
    assert len(set(found.slopes)) == 1
    for factor in (0.99, 1.01):
        assert literal_loss(rows, found.slopes * factor, 0.0) > best


def test_no_other_slope_or_level_has_a_lower_loss_on_softened_classes():
    rows = held()
    found, counts = SCALINGS["sigmoid"](rows), np.bincount(rows.labels, rows.weight)[rows.labels]
    targets = np.repeat(1 / (counts + 4)[:, None], 4, axis=1)
    targets[np.arange(400), rows.labels] = (counts + 1) / (counts + 4)
    best = literal_loss(rows, found.slopes, found.levels, targets)
    for k in range(4):
        for step in (-1e-3, 1e-3):
            move = step * np.eye(4)[k]
            assert literal_loss(rows, found.slopes + move, found.levels, targets) > best
            assert literal_loss(rows, found.slopes, found.levels + move, targets) > best


def test_a_weight_of_two_is_a_row_given_twice():
    rows = held()
    times = rows.weight.astype(int)
    again = HoldOutTotals(
        rows.totals.repeat(times, 0), rows.labels.repeat(times), np.ones(times.sum()), "softmax"
    )
    for fit in SCALINGS.values():
        one, other = fit(rows), fit(again)
        assert one.slopes == pytest.approx(other.slopes, rel=1e-4)


@pytest.mark.parametrize("method", SCALED)
@pytest.mark.parametrize("name", LEARNERS)
def test_scaled_totals_are_a_table_and_its_sheets_add_up(name, method):
    X, y = draw()
    model = RecalibratedClassifier(LEARNERS[name], method=method, random_state=0).fit(X, y)
    slopes, levels = model.scaling_
    raw = model.estimator_.decision_function(X) * slopes + levels
    wanted = model.estimator_.evidence_.probabilities(raw)
    assert model.predict_proba(X) == pytest.approx(wanted, abs=1e-12)
    moved = model.with_prior([0.2, 0.3, 0.5])
    sheet = moved.balance_sheet(X[0], pos_label="b")
    assert sheet.probability == pytest.approx(moved.predict_proba(X[:1])[0, 1], abs=1e-12)
    formula, python = visited(moved)
    assert np.abs(Scorer(formula).totals(python.rows) - python.totals).max() < 1e-12
    assert (slopes > 0).all()


def test_a_temperature_leaves_every_decision_as_it_is():
    X, y = draw()
    model = RecalibratedClassifier(EvidenceNB(), method="temperature", random_state=0).fit(X, y)
    assert (model.predict(X) == model.estimator_.predict(X)).all()
    assert model.scaling_[0, 0] < 1  # columns that come twice made it too sure


def test_isotonic_curves_are_those_of_each_class_against_the_rest():
    """By hand, with scikit-learn's isotonic regression on the probabilities of the folds."""
    X, y = draw()
    folds = KFold(3)
    model = RecalibratedClassifier(EvidenceNB(), method="isotonic", cv=folds).fit(X, y)
    out = [EvidenceNB().fit(X[a], y[a]).predict_proba(X[b]) for a, b in folds.split(X)]
    p, raw = logit(np.concatenate(out)), logit(EvidenceNB().fit(X, y).predict_proba(X))
    q = np.empty_like(raw)
    for k, label in enumerate("abc"):
        steps = IsotonicRegression(y_min=0, y_max=1, out_of_bounds="clip").fit(p[:, k], y == label)
        q[:, k] = np.clip(steps.predict(raw[:, k]), 1e-10, 1 - 1e-10)
    assert model.predict_proba(X) == pytest.approx(q / q.sum(axis=1, keepdims=True), abs=1e-9)


@pytest.mark.parametrize("method", [*SCALED, *CURVED])
def test_a_saved_model_of_many_classes_says_the_same(tmp_path, method):
    X, y = draw()
    model = RecalibratedClassifier(EvidenceNB(), method=method, random_state=0).fit(X, y)
    model = model.with_prior([0.2, 0.3, 0.5])
    weigh.save(model, tmp_path / "m.json")
    loaded = weigh.load(tmp_path / "m.json")
    assert (loaded.predict_proba(X) == model.predict_proba(X)).all()
    assert (loaded.scaling_ is None) == (method in CURVED)


@pytest.mark.parametrize("method", CURVED)
def test_curves_of_each_class_have_no_table_and_name_what_has(method):
    X, y = draw()
    model = RecalibratedClassifier(EvidenceNB(), method=method, random_state=0).fit(X, y)
    for use in (model.balance_sheet, lambda row: weigh.export(model, to="sql"), weigh.Scorecard):
        with pytest.raises((ValueError, AttributeError), match="method='temperature'"):
            use(model if use is weigh.Scorecard else X[0])


@pytest.mark.parametrize("method", [*SCALED, *CURVED])
def test_curves_of_a_class_follow_another_base_rate(method):
    X, y = draw()
    model = RecalibratedClassifier(EvidenceNB(), method=method, random_state=0).fit(X, y)
    common, rare = model.with_prior([0.8, 0.1, 0.1]), model.with_prior([0.1, 0.45, 0.45])
    assert (common.predict_proba(X)[:, 0] >= rare.predict_proba(X)[:, 0]).all()


@pytest.mark.parametrize("method", [*SCALED, "spline"])  # steps of 0 and 1 are too sure here
def test_recalibration_lowers_the_held_out_loss_of_ten_digits(method):
    X, y = load_digits(return_X_y=True)
    X, y, X_new, y_new = X[::2, ::4], y[::2], X[1::2, ::4], y[1::2]
    rows = np.arange(len(y_new))
    model = RecalibratedClassifier(EvidenceNB(), method=method, random_state=0).fit(X, y)
    loss = lambda m: -np.log2(m.predict_proba(X_new)[rows, y_new]).mean()  # noqa: E731
    assert loss(model) < loss(model.estimator_)


@pytest.mark.parametrize("method", [*SCALED, *CURVED])
def test_a_class_that_no_fold_can_hold_out_is_scored_all_the_same(method):
    rows, y = [["a"], ["b"], ["c"]] * 5, [0, 1] * 7 + [2]
    model = RecalibratedClassifier(EvidenceNB(), method=method, cv=KFold(3)).fit(rows, y)
    p = model.predict_proba(rows)
    assert np.isfinite(p).all()
    assert p.sum(axis=1) == pytest.approx(1.0)
    three = EvidenceNB().fit(rows, y)
    with pytest.raises(ValueError, match=r"^y holds one class"):
        RecalibratedClassifier(three, cv="prefit").fit([["a"], ["b"]], [1, 1])
