"""AdjustedNB: optimality, the paper's algorithms word for word, hard data, the search, classes."""

import warnings
from functools import partial

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from pyarrow import csv
from scipy.optimize import brentq, linprog, minimize
from scipy.special import expit, log_softmax
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import KFold, StratifiedKFold
from tests.designs import code, take
from tests.literal import change_of_prior
from tests.pairs import every_pair

import weigh
from weigh import AdjustedNB, EvidenceNB, datasets, engine
from weigh.adjusted import design
from weigh.adjusted.design import ALL
from weigh.adjusted.fit import SEPARABLE
from weigh.adjusted.solve import OneAgainstRest, Path, Polytomous, begin_search, run
from weigh.cli import main
from weigh.folds import deal
from weigh.frames import read_csv

LIGHT = settings(max_examples=25, deadline=None)
RULE = SEPARABLE / np.log(2)  # in bits
NO_RESTRICTION = ".*has no effect"
SMOOTHINGS = st.sampled_from([0, 1.0, "1/n"])
CodedNB = partial(AdjustedNB, categorical_features="all")


# ---------------------------------------------------------------- data and tables


def draw_mixed(seed, n_classes=2, n_rows=30, n_features=3, n_levels=3):
    """Codes in which each row comes in every class, so that no exponents separate anything."""
    rng = np.random.default_rng(seed)
    rows = rng.integers(0, n_levels, (n_rows, n_features))
    effects = rng.normal(size=(n_features, n_levels, n_classes))
    logits = sum(effects[j][rows[:, j]] for j in range(n_features))
    again = rng.integers(0, n_rows, 2 * n_rows)
    drawn = (logits[again] + rng.gumbel(size=(2 * n_rows, n_classes))).argmax(axis=1)
    X = np.vstack([rows] * n_classes + [rows[again]])
    return X, np.r_[np.repeat(np.arange(n_classes), n_rows), drawn]


@st.composite
def mixed_rows(draw, n_classes=2, max_features=5):
    X, y = draw_mixed(
        draw(st.integers(0, 2**32 - 1)),
        n_classes,
        n_rows=draw(st.integers(8, 40)),
        n_features=draw(st.integers(1, max_features)),
        n_levels=draw(st.integers(2, 4)),
    )
    if n_classes == 2:  # some feature must tell something, or there is no exponent to find
        assume(all(np.abs(literal_q(X, y, s)[1]).max() > 1e-6 for s in (0, 1.0)))
    return X, y


def draw_bank(seed, n_rows=60, n_classes=2):
    """Rows that a bank would send: gaps, near copies, one level, one row of a level."""
    rng = np.random.default_rng(seed)
    y = np.r_[np.arange(n_classes), rng.integers(0, n_classes, n_rows - n_classes)]
    frame = pd.DataFrame(
        {
            "age": rng.normal(size=n_rows) + y,
            "job": rng.choice([*"abcd"], n_rows),
            "same": "x",
            "rare": ["one"] + ["other"] * (n_rows - 1),
            "half": np.where(y == 1, rng.choice(["u", "v"], n_rows), "u"),
        }
    )
    frame["copy"], frame["twice"] = frame["job"], 2 * frame["age"]
    frame["pair"] = frame["age"].round().astype(str) + frame["job"]
    for name in ("age", "job", "half", "copy"):
        frame.loc[rng.random(n_rows) < 0.05, name] = None
    return frame, y


def literal_q(X, y, smoothing, weight=None, at=None):
    """q_0 and the matrix of q_ij (Eqs. 9 and 10) of some rows, looked up in EvidenceNB's tables."""
    at = X if at is None else at
    model = EvidenceNB(smoothing=smoothing, categorical_features="all")
    evidence = model.fit(X, y, weight).evidence_
    columns = []
    for j, table in enumerate(evidence):
        rows = table.weights.reshape(len(table.levels), -1).tolist()
        q = dict(zip(table.levels, rows, strict=True))
        nothing = [0.0] * len(rows[0])
        columns.append([q.get(code, nothing) for code in at[:, j].tolist()])
    Q = np.array(columns).transpose(1, 0, 2)  # row, feature, class
    return evidence.prior, Q[:, :, 0] if Q.shape[2] == 1 else Q


def bits(totals, y, weight=None):
    """Eq. 15."""
    return np.average(np.logaddexp(0, np.where(y == 1, -totals, totals)), weights=weight) / np.log(
        2
    )


def slope(q_0, Q, y, exponents, weight=1.0):
    """The gradient of the loss in nats, summed over rows."""
    return Q.T @ (weight * (expit(q_0 + Q @ exponents) - y))


def curvature(q_0, Q, exponents, weight=1.0):
    p = expit(q_0 + Q @ exponents)
    return Q.T @ ((weight * p * (1 - p))[:, None] * Q)


def assume_curved(q_0, Q, exponents):
    """Skip data that leave a direction open, where gradients say little about exponents."""
    assume(np.linalg.eigvalsh(curvature(q_0, Q, exponents))[0] > 3e-4 * len(Q))


# ---------------------------------------------------------------- the paper's two algorithms


def literal_apm(q_0, Q, C):
    """The APM algorithm of section 3, step by step; None where it does not end."""
    alpha = np.zeros(Q.shape[1])  # 1)
    for _ in range(100):
        p = expit(q_0 + Q @ alpha)  # 2)
        D = np.diag(p * (1 - p))
        try:
            change = np.linalg.inv(Q.T @ D @ Q) @ Q.T @ (C - p)  # 3)
        except np.linalg.LinAlgError:
            return None
        alpha = alpha + change  # 4)
        if (np.abs(change) < 1e-10).all():  # 5)
            return alpha
    return None


def literal_apm_m(q_0, Q, C, m):
    """The APM(m) algorithm of section 3, step by step; None where it does not end."""
    alpha_u = literal_apm(q_0, Q, C)  # 1)
    if alpha_u is None:
        return None
    alpha, lagrange, identity = alpha_u * np.sqrt(m / (alpha_u @ alpha_u)), 0.0, np.eye(len(Q.T))
    for _ in range(100):
        p = expit(q_0 + Q @ alpha)  # 3)
        D = np.diag(p * (1 - p))
        r = Q.T @ (p - C) + 2 * lagrange * alpha  # 4)
        s = alpha @ alpha - m  # 5)
        try:
            inverse = np.linalg.inv(Q.T @ D @ Q + 2 * lagrange * identity)
        except np.linalg.LinAlgError:
            return None
        rise = (s - 2 * alpha @ inverse @ r) / (4 * alpha @ inverse @ alpha)  # 6)
        change = -inverse @ (2 * alpha * rise + r)  # 7)
        alpha, lagrange = alpha + change, lagrange + rise  # 8)
        if (np.abs(change) < 1e-10).all():  # 9)
            return alpha if lagrange > 0 else None
    return None


@LIGHT
@given(rows=mixed_rows(), smoothing=SMOOTHINGS)
def test_unrestricted_exponents_are_those_of_the_papers_newton_raphson(rows, smoothing):
    X, y = rows
    q_0, Q = literal_q(X, y, smoothing)
    expected = literal_apm(q_0, Q, y)
    assume(expected is not None)
    assume_curved(q_0, Q, expected)
    model = CodedNB(norm=None, smoothing=smoothing).fit(X, y)
    np.testing.assert_allclose(model.exponents_, expected, atol=1e-6)
    np.testing.assert_allclose(model.norm_, expected @ expected, rtol=1e-5)


@LIGHT
@given(rows=mixed_rows(), smoothing=SMOOTHINGS, part=st.floats(0.01, 0.99))
def test_restricted_exponents_are_those_of_the_papers_lagrangian(rows, smoothing, part):
    X, y = rows
    q_0, Q = literal_q(X, y, smoothing)
    free = literal_apm(q_0, Q, y)
    assume(free is not None)
    assume_curved(q_0, Q, free)
    m = part * (free @ free)
    expected = literal_apm_m(q_0, Q, y, m)
    assume(expected is not None)
    model = CodedNB(norm=m, smoothing=smoothing).fit(X, y)
    np.testing.assert_allclose(model.exponents_, expected, atol=1e-6)


# ---------------------------------------------------------------- optimality


@LIGHT
@given(rows=mixed_rows(), smoothing=SMOOTHINGS)
def test_the_gradient_vanishes_at_the_unrestricted_exponents(rows, smoothing):
    X, y = rows
    q_0, Q = literal_q(X, y, smoothing)
    model = CodedNB(norm=None, smoothing=smoothing).fit(X, y)
    assert np.linalg.norm(slope(q_0, Q, y, model.exponents_)) / len(y) < 1e-8
    np.testing.assert_allclose(model.loss_, bits(q_0 + Q @ model.exponents_, y), rtol=1e-12)


@LIGHT
@given(rows=mixed_rows(), smoothing=SMOOTHINGS, part=st.floats(1e-6, 0.999))
def test_on_the_sphere_the_gradient_points_inwards_along_the_exponents(rows, smoothing, part):
    X, y = rows
    q_0, Q = literal_q(X, y, smoothing)
    m = part * CodedNB(norm=None, smoothing=smoothing).fit(X, y).norm_
    assume(m > 0)
    model = CodedNB(norm=m, smoothing=smoothing).fit(X, y)
    a = model.exponents_
    gradient = slope(q_0, Q, y, a)
    multiplier = -(gradient @ a) / (a @ a)  # 2 lambda of Eq. 16
    assert multiplier >= 0
    assert np.linalg.norm(gradient + multiplier * a) / len(y) < 1e-8
    assert abs(a @ a - m) / m < 1e-8
    assert abs(model.norm_ - m) / m < 1e-8


@LIGHT
@given(rows=mixed_rows(), smoothing=SMOOTHINGS)
def test_the_loss_falls_as_the_norm_grows_towards_the_unrestricted_one(rows, smoothing):
    X, y = rows
    free = CodedNB(norm=None, smoothing=smoothing).fit(X, y)
    assume(free.norm_ > 0)
    parts = [1e-4, 0.1, 0.3, 0.6, 0.9, 0.99]
    losses = [CodedNB(norm=p * free.norm_, smoothing=smoothing).fit(X, y).loss_ for p in parts]
    nothing = bits(np.full(len(y), literal_q(X, y, smoothing)[0]), y)
    assert (np.diff([nothing, *losses, free.loss_]) < 0).all()


@LIGHT
@given(rows=mixed_rows(), smoothing=SMOOTHINGS, factor=st.sampled_from([1.001, 2.0, 1e6]))
def test_a_norm_beyond_the_unrestricted_one_changes_nothing_and_says_so(rows, smoothing, factor):
    X, y = rows
    free = CodedNB(norm=None, smoothing=smoothing).fit(X, y)
    assume(free.norm_ > 0)
    with pytest.warns(UserWarning, match=NO_RESTRICTION):
        model = CodedNB(norm=factor * free.norm_, smoothing=smoothing).fit(X, y)
    np.testing.assert_allclose(model.loss_, free.loss_, rtol=1e-12)
    np.testing.assert_allclose(model.predict_proba(X), free.predict_proba(X), atol=1e-6)


@LIGHT
@given(rows=mixed_rows(max_features=4), smoothing=SMOOTHINGS, part=st.floats(0.05, 0.9))
def test_exponents_of_a_norm_are_the_ridge_solution_of_that_norm(rows, smoothing, part):
    X, y = rows
    q_0, Q = literal_q(X, y, smoothing)
    m = part * CodedNB(norm=None, smoothing=smoothing).fit(X, y).norm_
    assume(m > 0)
    a = CodedNB(norm=m, smoothing=smoothing).fit(X, y).exponents_
    ridge = -(slope(q_0, Q, y, a) @ a) / (a @ a)
    assume(ridge > 1e-3 * len(y))

    def penalised(b):
        value = bits(q_0 + Q @ b, y) * np.log(2) + ridge / len(y) * (b @ b) / 2
        return value, (slope(q_0, Q, y, b) + ridge * b) / len(y)

    found = minimize(penalised, np.zeros_like(a), jac=True, options={"gtol": 1e-9}).x
    np.testing.assert_allclose(a, found, atol=1e-5)


def test_with_as_many_rows_of_each_class_it_is_scikit_learns_ridge():
    X, y = draw_mixed(3, n_rows=60)
    per_class = np.bincount(y).min()
    kept = np.r_[np.flatnonzero(y == 0)[:per_class], np.flatnonzero(y == 1)[:per_class]]
    X, y = X[kept], y[kept]
    q_0, Q = literal_q(X, y, 1.0)
    assert q_0 == 0  # no offset, which scikit-learn has no way to give
    a = CodedNB(norm=0.5).fit(X, y).exponents_
    ridge = -(slope(q_0, Q, y, a) @ a) / (a @ a)
    assert ridge > 0
    rival = LogisticRegression(C=1 / ridge, fit_intercept=False, tol=1e-12, max_iter=10_000)
    np.testing.assert_allclose(a, rival.fit(Q, y).coef_[0], atol=1e-5)


@LIGHT
@given(rows=mixed_rows(), smoothing=SMOOTHINGS)
def test_the_tables_are_those_of_naive_bayes_times_the_exponents(rows, smoothing):
    X, y = rows
    model = CodedNB(norm=1.5, smoothing=smoothing)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", NO_RESTRICTION)
        model.fit(X, y)
    naive = EvidenceNB(smoothing=smoothing, categorical_features="all").fit(X, y).evidence_
    assert model.evidence_.prior == naive.prior
    for mine, table, a in zip(model.evidence_, naive, model.exponents_, strict=True):
        np.testing.assert_array_equal(mine.weights, a * table.weights)
        np.testing.assert_allclose(mine.errors, abs(a) * table.errors, rtol=1e-12)


@LIGHT
@given(rows=mixed_rows(max_features=3), part=st.sampled_from([None, 0.2, 0.8]))
def test_a_freed_prior_is_one_more_exponent_inside_the_norm(rows, part):
    X, y = rows
    q_0, Q = literal_q(X, y, 1.0)
    assume(abs(q_0) > 1e-6)
    Q = np.column_stack([Q, np.full(len(y), q_0)])
    model = CodedNB(norm=None, fit_prior=True).fit(X, y)
    if part is not None:
        model = CodedNB(norm=part * model.norm_, fit_prior=True).fit(X, y)
    a = np.r_[model.exponents_, model.prior_exponent_]
    gradient = slope(0.0, Q, y, a)
    multiplier = 0 if part is None else -(gradient @ a) / (a @ a)
    assert multiplier >= 0
    assert np.linalg.norm(gradient + multiplier * a) / len(y) < 1e-8
    np.testing.assert_allclose(model.norm_, a @ a, rtol=1e-12)
    np.testing.assert_allclose(model.decision_function(X), Q @ a, atol=1e-9)
    assert CodedNB(norm=None).fit(X, y).prior_exponent_ == 1


def test_a_freed_priors_error_is_scaled_like_the_others():
    X, y = draw_mixed(1)
    free = CodedNB(norm=None, fit_prior=True).fit(X, y)
    naive = EvidenceNB(categorical_features="all").fit(X, y).evidence_
    expected = naive.prior_variances * free.prior_exponent_**2
    np.testing.assert_allclose(free.evidence_.prior_variances, expected, rtol=1e-12)


# ---------------------------------------------------------------- what exponents say


@LIGHT
@given(rows=mixed_rows(max_features=3), smoothing=SMOOTHINGS, copies=st.integers(2, 4))
def test_copies_of_a_feature_share_its_exponent_equally(rows, smoothing, copies):
    X, y = rows
    single = CodedNB(norm=None, smoothing=smoothing).fit(X, y).exponents_
    q_0, Q = literal_q(X, y, smoothing)
    assume_curved(q_0, Q, single)
    repeated = np.column_stack([X, *[X[:, 0]] * (copies - 1)])
    found = CodedNB(norm=None, smoothing=smoothing).fit(repeated, y).exponents_
    shared = found[[0, *range(X.shape[1], repeated.shape[1])]]
    np.testing.assert_allclose(shared.sum(), single[0], atol=1e-6)
    np.testing.assert_allclose(shared, single[0] / copies, atol=1e-6)
    np.testing.assert_allclose(found[1 : X.shape[1]], single[1:], atol=1e-6)


@LIGHT
@given(rows=mixed_rows(max_features=1))
def test_one_feature_alone_without_smoothing_has_exponent_one(rows):
    X, y = rows
    assume(np.abs(literal_q(X, y, 0)[1]).max() > 0.05)
    np.testing.assert_allclose(CodedNB(norm=None, smoothing=0).fit(X, y).exponents_, 1, atol=1e-6)


def test_simpsons_paradox_turns_the_drug_around():
    model = AdjustedNB(norm=None, smoothing=0).fit(datasets.simpson(), "Recovered")
    found = dict(zip(model.feature_names_in_, model.exponents_.round(3).tolist(), strict=True))
    assert found == {"Sex": 1.175, "Drug": -1.196}
    (reversal,) = model.reversals_
    assert reversal.feature == "Drug"
    assert reversal.exponent == model.exponents_[1]
    assert reversal.pos_label is None
    assert "Drug: exponent -1.20" in str(reversal)
    assert "Simpson's paradox" in str(reversal)


def test_sheet_and_evidence_table_say_which_feature_is_reversed():
    model = AdjustedNB(norm=None, smoothing=0).fit(datasets.simpson(), "Recovered")
    sheet = model.balance_sheet({"Sex": "male", "Drug": "yes"})
    assert {item.feature: item.note for item in sheet.items} == {"Sex": "", "Drug": "reversed"}
    assert "Drug = yes (reversed)" in str(sheet)
    assert "Drug = yes (reversed)" in sheet._repr_html_()
    assert "leaves out the error of the exponents" in str(sheet)
    assert "Drug (reversed)" in repr(model.evidence_)
    assert "Sex (" not in repr(model.evidence_)


@pytest.mark.parametrize("multiclass", ["ovr", "softmax"])
def test_reversals_of_several_classes_name_the_class(multiclass):
    X, y = draw_mixed(26, n_classes=3, n_features=4)
    table = pd.DataFrame(X, columns=[*"abcd"]).astype(str)
    model = AdjustedNB(norm=None, multiclass=multiclass).fit(table, np.array([*"xyz"])[y])
    found = {(r.feature, r.pos_label): r.exponent for r in model.reversals_}
    expected = {
        ("abcd"[j], "xyz"[k]): model.exponents_[k, j]
        for k, j in zip(*np.nonzero(model.exponents_ < 0), strict=True)
    }
    assert found == expected != {}
    for (feature, of), exponent in found.items():
        assert of in model.evidence_[feature].note.removeprefix("reversed for ").split(", ")
        assert any(
            f"{feature} for {of}: exponent {exponent:.2f}" in str(r) for r in model.reversals_
        )


def test_a_level_not_seen_in_training_weighs_nothing_under_any_exponent():
    model = AdjustedNB(norm=None, smoothing=0).fit(datasets.simpson(), "Recovered")
    sheet = model.balance_sheet({"Sex": "other", "Drug": "yes"})
    assert sheet.items[0].weight == 0
    assert sheet.items[0].note == "not seen in training"
    np.testing.assert_allclose(sheet.total, sheet.prior + sheet.items[1].weight, rtol=1e-12)


# ---------------------------------------------------------------- hard data


def hard_table(kind, n_classes, n=60):
    """A plain table, and what makes it hard."""
    rng = np.random.default_rng(7)
    y = np.arange(n) % n_classes
    signal = np.where(rng.random(n) < 0.6, np.array([*"xyz"])[y], "w")
    number, noise = rng.normal(size=n) + y, rng.choice([*"pqr"], n)
    gaps = [np.where(rng.random(n) < 0.05, None, column) for column in (signal, noise, number)]
    more = {
        "separable": {"tell": np.array(["no", "yes", "maybe"])[y]},
        "collinear": {"twice": 2 * number, "minus": -number, "both": np.char.add(signal, noise)},
        "duplicate": {"again": signal, "and again": signal},
        "wide": {f"f{j}": rng.choice(["a", "b"], n) for j in range(n)},
        "constant": {"same": ["x"] * n, "one": [1.5] * n, "nothing": [None] * n},
        "constant in one class": {"half": np.where(y == 1, rng.choice(["u", "v"], n), "u")},
        "one row of a level": {"rare": ["one"] + ["other"] * (n - 1)},
        "missing": dict(zip(("gap 1", "gap 2"), gaps, strict=False))
        | {"gap 3": gaps[2].astype(float)},
    }
    columns = {"signal": signal, "number": number, "noise": noise} | more[kind]
    return pd.DataFrame(columns), y


HARD = ["separable", "collinear", "duplicate", "constant", "constant in one class"]
HARD += ["one row of a level", "missing", "wide"]
FORMS = [(2, "ovr"), (3, "ovr"), (3, "softmax"), (3, "shared")]


def check_sound(model, table, y):
    """Finite numbers, the loss of the probabilities given, and sheets that add up to them."""
    p = model.predict_proba(table)
    numbers = [p, model.exponents_, model.norm_, model.prior_exponent_, model.evidence_.prior_row]
    for array in (*numbers, *(part.weights for part in model.evidence_)):
        assert np.isfinite(array).all()
    np.testing.assert_allclose(p.sum(axis=1), 1, rtol=1e-12)
    loss = -np.log2(p[np.arange(len(y)), y]).mean()
    np.testing.assert_allclose(model.loss_, loss, rtol=1e-9, atol=1e-14)
    for i in (0, len(y) // 2):
        sheet = model.balance_sheet(table.iloc[[i]])
        weights = [sheet.prior, *(item.weight for item in sheet.items)]
        assert sum(weights) == pytest.approx(sheet.total, rel=1e-9, abs=1e-9)
        assert sheet.probability == pytest.approx(p[i, sheet.pos_label], rel=1e-9)


@every_pair(kind=HARD, n_classes__multiclass=FORMS, smoothing=[0, 1.0])
def test_hard_data_end_finite_with_no_word_but_that_of_the_rule(
    kind, n_classes, multiclass, smoothing
):
    table, y = hard_table(kind, n_classes, n=30 if kind == "wide" else 60)
    for norm in (None, "cv", 2.0) if smoothing else (None, 2.0):
        model = AdjustedNB(norm=norm, multiclass=multiclass, smoothing=smoothing, random_state=0)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            model.fit(table, y)
        check_sound(model, table, y)
        said = [warning for warning in caught if "has no effect" not in str(warning.message)]
        assert {warning.category for warning in said} <= {ConvergenceWarning}
        assert said == [] or norm is None or (norm == 2.0 and kind == "separable")
        assert len(said) == len(caught) or norm == 2.0


@pytest.mark.parametrize("smoothing", [0, 1.0])
@pytest.mark.parametrize(("n_classes", "multiclass"), FORMS)
def test_separable_classes_end_below_the_papers_loss_with_a_warning(
    n_classes, multiclass, smoothing
):
    table, y = hard_table("separable", n_classes)
    with pytest.warns(ConvergenceWarning, match="separable.*set norm to a number"):
        model = AdjustedNB(norm=None, multiclass=multiclass, smoothing=smoothing).fit(table, y)
    assert (model.predict(table) == y).all()
    if n_classes == 2 or multiclass == "softmax":
        assert model.loss_ < RULE


@pytest.mark.filterwarnings("ignore:the classes are separable")
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_separable_classes_end_where_the_papers_newton_raphson_does(seed):
    random = np.random.default_rng(seed)
    X = random.integers(0, 3, (50, 3))
    y = (X[:, 0] + X[:, 1] > 2).astype(int)
    q_0, Q = literal_q(X, y, 1.0)
    alpha = np.zeros(3)
    while bits(q_0 + Q @ alpha, y) >= 0.001 or (((q_0 + Q @ alpha) > 0) != y).any():
        p = expit(q_0 + Q @ alpha)
        alpha = alpha + np.linalg.solve(Q.T @ np.diag(p * (1 - p)) @ Q, Q.T @ (y - p))
    model = CodedNB(norm=None).fit(X, y)
    np.testing.assert_allclose(model.exponents_, alpha, rtol=1e-6)
    assert model.norm_ == pytest.approx(alpha @ alpha)


def test_little_loss_alone_does_not_make_classes_separable():
    x = np.arange(100_000) % 2
    y = x.copy()
    y[:2] = 1, 0  # one row of each level on the wrong side
    free = CodedNB(norm=None, smoothing=0).fit(x[:, None], y)
    np.testing.assert_allclose(free.exponents_, 1, atol=1e-6)
    chosen = CodedNB(smoothing=0, random_state=0).fit(x[:, None], y)
    assert chosen.norm_path_.unrestricted == pytest.approx(1, abs=1e-6)


def test_copies_of_one_weak_signal_are_searched_below_the_papers_grid():
    random = np.random.default_rng(1)
    y = random.integers(0, 2, 400)
    signal = np.where(random.random(400) < 0.6, y, 1 - y)
    X = np.column_stack(
        [np.where(random.random(400) < 0.02, 1 - signal, signal) for _ in range(60)]
    )
    path = CodedNB(random_state=0).fit(X, y).norm_path_
    assert path.chosen < 1
    assert path.norms.min() < path.chosen


def test_folds_may_be_given_as_masks():
    X, y = draw_mixed(3)
    folds = deal(y, 5, np.random.RandomState(0))
    numbers = [(np.flatnonzero(train), np.flatnonzero(out)) for train, out in folds]
    by_mask, by_number = (CodedNB(cv=cv).fit(X, y) for cv in (folds, numbers))
    assert (by_mask.norm_path_.losses == by_number.norm_path_.losses).all()
    assert (by_mask.exponents_ == by_number.exponents_).all()


def test_an_exponent_of_the_prior_belongs_to_each_class_and_counts_in_its_norm():
    random = np.random.default_rng(5)
    y = np.repeat([0, 1, 2], [60, 30, 20])
    X = np.column_stack([np.where(random.random(110) < 0.5, y, random.integers(0, 3, 110))] * 1)
    many = CodedNB(norm=1.2, fit_prior=True, multiclass="ovr").fit(X, y)
    for c in range(3):
        two = CodedNB(norm=1.2, fit_prior=True).fit(X, y == c)
        assert many.prior_exponent_[c] == pytest.approx(two.prior_exponent_, rel=1e-6)
        norm = many.exponents_[c] @ many.exponents_[c] + many.prior_exponent_[c] ** 2
        assert norm == pytest.approx(many.norm_[c], rel=1e-9) == pytest.approx(1.2, rel=1e-8)
    joint = CodedNB(norm=1.2, fit_prior=True, multiclass="softmax").fit(X, y)
    assert np.ptp(joint.prior_exponent_) > 0
    both = (joint.exponents_**2).sum() + (joint.prior_exponent_**2).sum()
    assert both == pytest.approx(1.2, rel=1e-8)


def test_moments_of_blocks_of_rows_add_up(monkeypatch):
    random = np.random.default_rng(0)
    X, y = random.normal(size=(50, 3)), np.arange(50) % 2
    problem = OneAgainstRest(code([X], y, random.random(50), 0.3))
    at = random.normal(size=3)
    whole = problem.moments(at, True)
    monkeypatch.setattr("weigh.adjusted.solve.BLOCK", 7)
    monkeypatch.setattr("weigh.adjusted.design.LEAST_ROWS", 1)
    parts = problem.moments(at, True)
    assert parts.loss == pytest.approx(whole.loss, rel=1e-13)
    np.testing.assert_allclose(parts.gradient, whole.gradient, rtol=1e-10)
    np.testing.assert_allclose(parts.hessian, whole.hessian, rtol=1e-10)
    taken = [take(problem, rows).moments(at, True) for rows in (slice(0, 20), slice(20, 50))]
    np.testing.assert_allclose(sum(taken[1:], taken[0]).hessian, whole.hessian, rtol=1e-10)


def test_a_block_of_many_columns_still_has_many_rows_unless_it_becomes_too_large():
    size = design.MAX_GROWTH * 4096
    assert design.count_rows(size, 4) == size // 4
    assert design.count_rows(size, 64) == design.LEAST_ROWS
    assert design.count_rows(size, size // 4) == 4 * design.MAX_GROWTH
    assert design.count_rows(size, 2 * size) == 1


@pytest.mark.parametrize("multiclass", ["softmax", "shared"])
def test_the_joint_search_measures_what_the_held_out_rows_lose(multiclass):
    X, y = draw_mixed(4, n_rows=60)
    y = y + (X[:, 0] == X[:, 1])
    shared = multiclass == "shared"
    path = CodedNB(multiclass=multiclass, random_state=0).fit(X, y).norm_path_
    folds = deal(y, 5, np.random.RandomState(0))
    for k, ((train, out), (prior, Q)) in enumerate(
        zip(folds, fold_designs(X, y, 1.0, folds), strict=True)
    ):
        matrices = tuple(Q[:, :, c] for c in range(3))
        problem = Polytomous(code(matrices, y, np.ones(len(y)), prior), shared)
        for i in (0, len(path.norms) - 1):
            found = Path(take(problem, train), 1e-10).solve(path.norms[i]).at
            exponents = np.broadcast_to(found.reshape(1 if shared else 3, -1), (3, X.shape[1]))
            logs = log_softmax(prior + np.einsum("ndk,kd->nk", Q[out], exponents), axis=1)
            loss = -logs[np.arange(out.sum()), y[out]].mean() / np.log(2)
            assert path.losses[i, k] == pytest.approx(loss, abs=1e-4)


def test_shared_exponents_are_those_of_equation_6():
    X, y = draw_mixed(5, n_classes=3, n_rows=50)
    model = CodedNB(multiclass="shared", norm=None).fit(X, y)
    assert np.ptp(model.exponents_, axis=0).max() == 0
    counts = [pd.crosstab(X[:, j], y).to_numpy() for j in range(X.shape[1])]
    n_k = np.bincount(y)
    ratios = []  # P(k|v)/P(k) of Eq. 6, smoothed on P(v|k), where P(v) cancels
    for j, table in enumerate(counts):
        likelihood = (table + 1) / (n_k + len(table))
        ratios.append(np.log(likelihood / likelihood.mean(axis=1, keepdims=True))[X[:, j]])

    def loss(exponents):
        totals = np.log(n_k / n_k.sum()) + sum(
            a * r for a, r in zip(exponents, ratios, strict=True)
        )
        return -log_softmax(totals, axis=1)[np.arange(len(y)), y].mean() / np.log(2)

    best = minimize(loss, np.ones(X.shape[1]), method="BFGS", options={"gtol": 1e-9})
    np.testing.assert_allclose(model.exponents_[0], best.x, atol=1e-5)
    assert model.loss_ == pytest.approx(loss(model.exponents_[0]), rel=1e-10)


def separable_rows():
    """Two features that part the classes together, with a margin that differs by fold."""
    rng = np.random.default_rng(0)
    X = rng.integers(0, 4, (120, 3))
    return X, (X[:, 0] + X[:, 1] > 3).astype(int)


def test_the_path_of_separable_folds_does_not_depend_on_the_order_of_norms():
    X, y = separable_rows()
    prior, Q = literal_q(X, y, 1.0)
    norms = np.geomspace(1, 3000, 8)
    weights, found = np.bincount(y).astype(float), {}
    problem = OneAgainstRest(code([Q], y, None, float(prior)))
    for order in (norms, norms[::-1]):
        search = begin_search(weights, np.zeros(Q.shape[1]))
        for m in order.tolist():
            (solution,) = run(problem, [search.solve(m)], [ALL])
            found.setdefault(m, []).append(solution.here.loss)
    up, down = np.array([found[m] for m in norms.tolist()]).T
    np.testing.assert_allclose(up, down, rtol=1e-4)
    assert (np.diff(up) < 0).all()  # separable: a larger norm always lowers the loss
    exact = [
        len(y) * np.log(2) * bits(prior + Q @ ridge_of_norm(prior, Q, y, m, np.ones(len(y))), y)
        for m in norms[:4].tolist()
    ]
    np.testing.assert_allclose(up[:4], exact, rtol=1e-4)


def test_a_class_with_fewer_rows_than_folds_is_named():
    X, y = draw_mixed(6, n_classes=3)
    y[y == 2] = 1
    y[:3] = 2
    with pytest.warns(UserWarning, match="class 2 has 3 rows, fewer than the 5 folds"):
        model = CodedNB(random_state=0).fit(X, y)
    assert np.isfinite(model.predict_proba(X)).all()


def test_a_column_of_noise_with_many_levels_gets_little_weight():
    rng = np.random.default_rng(0)
    X, y = draw_mixed(1, n_rows=100)
    noise = np.column_stack([X, rng.integers(0, 150, len(X))])
    fair, flattered = (CodedNB(norm=n, random_state=0).fit(noise, y) for n in ("cv", "paper"))
    assert abs(fair.exponents_[-1]) < 0.5 * abs(flattered.exponents_[-1])
    promised = np.mean(flattered.norm_path_.losses, axis=1).min()
    assert np.mean(fair.norm_path_.losses, axis=1).min() > 1.2 * promised


@every_pair(seed=range(2), n_classes__multiclass=FORMS, missing=["level", "skip"])
def test_rows_that_a_bank_would_send_give_sheets_that_add_up(seed, n_classes, multiclass, missing):
    table, y = draw_bank(seed, 200, n_classes)
    model = AdjustedNB(norm="cv", multiclass=multiclass, missing=missing, random_state=0, cv=3)
    check_sound(model.fit(table, y), table, y)
    names = list(model.feature_names_in_)
    assert (model.exponents_.T[names.index("same")] == 0).all()


def test_features_that_tell_nothing_stay_out_of_the_norm():
    X, y = draw_mixed(2)
    silent = np.column_stack([X, np.zeros(len(X), dtype=int), np.tile([0, 1], len(X) // 2)])
    y = np.repeat(y[::2], 2)  # the last column now has the same share in both classes
    for norm in (None, 0.7, "cv"):
        with_them = CodedNB(norm=norm, smoothing=0, random_state=0).fit(silent, y)
        without = CodedNB(norm=norm, smoothing=0, random_state=0).fit(silent[:, :3], y)
        np.testing.assert_array_equal(with_them.exponents_, [*without.exponents_, 0, 0])
        assert with_them.norm_ == without.norm_


@pytest.mark.parametrize(("seed", "smoothing"), [(6, 0), (162, 0), (230, "1/n")])
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.filterwarnings(f"ignore:{NO_RESTRICTION}")
def test_no_restricted_model_has_a_lower_loss_than_the_unrestricted_one(seed, smoothing):
    table, y = draw_bank(seed, 60, 3)
    fit = partial(AdjustedNB, multiclass="softmax", smoothing=smoothing)
    free = fit(norm=None).fit(table, y).loss_
    assert free <= min(fit(norm=m).fit(table, y).loss_ for m in (10, 1e3, 1e5)) + 1e-7


def half_separable():
    """Not separable, yet one direction lowers the loss for ever: some rows alone are told apart."""
    for seed in range(1000):
        rng = np.random.default_rng(seed)
        X, y = rng.integers(0, 2, (12, 2)), rng.integers(0, 2, 12)
        if len(set(y)) < 2:
            continue
        Q = literal_q(X, y, 1.0)[1]
        Z = Q * np.where(y == 1, 1, -1)[:, None]
        reach = linprog(-Z.sum(axis=0), A_ub=-Z, b_ub=np.zeros(len(Z)), bounds=(-1, 1))
        if -reach.fun > 0.1 and (Z @ reach.x < 1e-9).any():
            return X, y
    raise AssertionError("no such rows")


def test_exponents_that_no_optimum_bounds_come_with_a_warning():
    X, y = half_separable()
    with pytest.warns(ConvergenceWarning, match="use norm='cv' or"):
        CodedNB(norm=None).fit(X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("error", ConvergenceWarning)
        warnings.simplefilter("ignore", UserWarning)  # a class has fewer rows than folds
        CodedNB(norm="cv", random_state=0).fit(X, y)


def test_a_norm_too_large_to_reach_on_separable_classes_is_not_passed_over_in_silence():
    table, y = hard_table("separable", 2)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model = AdjustedNB(norm=1e4).fit(table, y)
    check_sound(model, table, y)
    assert not [w for w in caught if "the unrestricted exponents have norm" in str(w.message)]
    reached = abs(model.norm_ - 1e4) < 1e-4
    assert reached or [w.category for w in caught] == [ConvergenceWarning]


@pytest.mark.parametrize("ratio", [1e3, 1e6])
@pytest.mark.parametrize("norm", [None, "cv"])
def test_a_rare_class_is_not_taken_for_separable_classes(norm, ratio):
    table = datasets.simpson("pandas")
    y = (table.pop("Recovered") == "yes").to_numpy().astype(int)
    X = np.column_stack([table["Sex"] == "male", table["Drug"] == "yes"]).astype(int)
    weight = np.where(y == 1, 1.0, ratio)
    model = CodedNB(norm=norm, smoothing=0, random_state=0).fit(X, y, weight)
    q_0, Q = literal_q(X, y, 0, weight)
    assert model.loss_ < bits(np.full(len(y), q_0), y, weight) * (1 - 1e-4)
    if norm is None:
        expected = ridge_of_norm(q_0, Q, y, np.inf, weight)
        np.testing.assert_allclose(model.exponents_, expected, atol=0.01)


def test_many_rows_take_no_more_passes_than_few(monkeypatch):
    rng = np.random.default_rng(1)
    X = rng.integers(0, 3, (200_000, 4)).astype(np.uint8)
    X[:, 3] = np.where(rng.random(len(X)) < 0.7, X[:, 2], X[:, 3])
    y = (rng.random(len(X)) < expit(1.5 * (X[:, 0] - 1.0) + X[:, 2] - 2.0)).astype(int)
    passes, moments = [], OneAgainstRest.moments

    def counted(self, exponents, curved):
        passes.append(curved)
        return moments(self, exponents, curved)

    monkeypatch.setattr(OneAgainstRest, "moments", counted)
    for n in (2_000, 200_000):
        passes.clear()
        CodedNB(norm=None).fit(X[:n], y[:n])
        assert len(passes) < 40
        assert sum(passes) < 10


@pytest.mark.parametrize(("n_classes", "multiclass"), FORMS)
@pytest.mark.parametrize("norm", [None, "cv", 1.0])
def test_a_table_that_tells_nothing_leaves_the_prior(norm, n_classes, multiclass):
    table = pd.DataFrame({"same": ["x"] * 60, "even": ["u", "v"] * 30, "nothing": [None] * 60})
    y = np.repeat(np.arange(60 // 2) % n_classes, 2)
    model = AdjustedNB(norm=norm, multiclass=multiclass, smoothing=0, random_state=0)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", NO_RESTRICTION)
        check_sound(model.fit(table, y), table, y)
    assert not model.exponents_.any()
    assert not np.any(model.norm_)
    expected = np.tile(np.bincount(y) / 60, (60, 1))
    np.testing.assert_allclose(model.predict_proba(table), expected, rtol=1e-12)


@pytest.mark.parametrize("norm", [0, 0.0, 1e-300, 1e-12])
def test_a_norm_of_nothing_leaves_the_prior(norm):
    X, y = draw_mixed(0)
    model = CodedNB(norm=norm).fit(X, y)
    np.testing.assert_allclose(model.exponents_, 0, atol=1e-5)
    np.testing.assert_allclose(model.decision_function(X), model.evidence_.prior, atol=1e-4)


def test_warnings_point_at_the_line_that_called_fit():
    table, y = hard_table("separable", 3)
    for multiclass, labels in (("ovr", y), ("softmax", y), ("ovr", y == 1)):
        with pytest.warns(ConvergenceWarning) as caught:
            AdjustedNB(norm=None, multiclass=multiclass).fit(table, labels)
        assert {warning.filename for warning in caught} == {__file__}


# ---------------------------------------------------------------- the search


def ridge_of_norm(q_0, Q, y, m, weight=1.0):
    """The least loss within a norm, by bisection over the strength of a ridge."""

    def solve(ridge):
        a = np.zeros(Q.shape[1])
        for _ in range(100):
            H = curvature(q_0, Q, a, weight) + ridge * np.eye(len(a))
            change = np.linalg.solve(H, slope(q_0, Q, y, a, weight) + ridge * a)
            a = a - change
            if np.abs(change).max() < 1e-12:
                break
        return a

    def excess(log_ridge):
        a = solve(np.exp(log_ridge))
        return np.log(a @ a) - np.log(m)

    if excess(-18) <= 0:
        return solve(np.exp(-18))
    return solve(np.exp(brentq(excess, -18, 20, xtol=1e-12)))


def literal_search(q_0, Q, y, folds, aggregate, weight=None, designs=None):
    """The paper's two stages. Norms with equal ratios where the unrestricted one is huge.

    `designs` holds q_0 and Q of each fold, from the rows that it learns from.
    """
    weight = np.ones(len(y)) if weight is None else weight
    designs = [(q_0, Q)] * len(folds) if designs is None else designs
    free = ridge_of_norm(q_0, Q, y, np.inf, weight)
    top, size = free @ free, Q.shape[1]

    def ten(low, high):
        if top <= 10 * size:
            return np.linspace(low, high, 11)[1:]
        return np.geomspace(low or min(1 / size, high) / 10, high, 11)[1:]

    def fold_loss(train, out, m, q_0, Q):
        a = ridge_of_norm(q_0, Q[train], y[train], m, weight[train])
        return bits(q_0 + Q[out] @ a, y[out], weight[out])

    def fold_losses(norms):
        pairs = [(*fold, design) for fold, design in zip(folds, designs, strict=True)]
        return [[fold_loss(train, out, m, *own) for train, out, own in pairs] for m in norms]

    first = ten(0.0, top)
    losses = fold_losses(first)
    best = int(aggregate(losses, axis=1).argmin())
    second = ten(first[best - 1] if best else 0.0, first[min(best + 1, 9)])
    second = [m for m in second if not np.isclose(m, first, rtol=1e-9).any()]
    norms, losses = np.r_[first, second], losses + fold_losses(second)
    if norms[int(aggregate(losses, axis=1).argmin())] == norms.min():  # ours: go on below
        third = np.geomspace(min(1 / size, norms.min()) / 10, norms.min(), 11)[1:-1]
        norms, losses = np.r_[norms, third], losses + fold_losses(third)
    order = np.argsort(norms)
    return norms[order], np.array(losses)[order]


def distinct(norms):
    """Places of the norms that differ by more than rounding."""
    return np.r_[True, np.diff(norms) > 1e-9 * norms[1:]]


def fold_designs(X, y, smoothing, folds, weight=None):
    """q_0 and Q of all rows, from the tables of the rows that each fold learns from."""
    weights = [None if weight is None else weight[train] for train, _ in folds]
    return [
        literal_q(X[train], y[train], smoothing, w, at=X)
        for (train, _), w in zip(folds, weights, strict=True)
    ]


@every_pair(seed=range(3), aggregate=["median", "mean"], norm=["paper", "cv"])
def test_the_search_is_the_papers_in_two_stages(seed, aggregate, norm):
    X, y = draw_mixed(seed, n_rows=20 + 5 * seed, n_features=2 + seed)
    model = CodedNB(norm=norm, aggregate=aggregate, random_state=seed).fit(X, y)
    q_0, Q = literal_q(X, y, 1.0)
    folds = deal(y, 5, np.random.RandomState(seed))
    summary = {"median": np.median, "mean": np.mean}[aggregate]
    designs = fold_designs(X, y, 1.0, folds) if norm == "cv" else None
    norms, losses = literal_search(q_0, Q, y, folds, summary, designs=designs)
    if norm == "paper":  # which has no third stage, nor equal ratios
        top = model.norm_path_.unrestricted
        assert top <= 10 * Q.shape[1]
        kept = np.isclose(norms[:, None], model.norm_path_.norms, rtol=1e-6).any(axis=1)
        norms, losses = norms[kept], losses[kept]
    path = model.norm_path_
    kept = distinct(path.norms)
    np.testing.assert_allclose(path.norms[kept], norms, rtol=1e-6)
    np.testing.assert_allclose(path.losses[kept], losses, atol=3e-5)
    at_chosen = summary(losses, axis=1)[np.isclose(norms, path.chosen, rtol=1e-6)]
    assert at_chosen == pytest.approx(summary(losses, axis=1).min(), abs=3e-5)


def suppressed():
    """The drug's own share is nearly even, so that its exponent and with it m_u are large."""
    counts = {
        ("m", "yes"): (16, 14),
        ("m", "no"): (7, 3),
        ("f", "yes"): (2, 8),
        ("f", "no"): (10, 20),
    }
    rows = [(*x, c) for x, (one, zero) in counts.items() for c in [1] * one + [0] * zero]
    X = np.array([[x[0] == "m", x[1] == "yes"] for x in rows], dtype=int)
    return X, np.array([x[2] for x in rows])


def test_a_huge_unrestricted_norm_is_searched_in_equal_ratios():
    X, y = suppressed()
    path = CodedNB(random_state=0, smoothing=0).fit(X, y).norm_path_
    assert path.unrestricted > 20
    q_0, Q = literal_q(X, y, 0)
    folds = deal(y, 5, np.random.RandomState(0))
    designs = fold_designs(X, y, 0, folds)
    norms, losses = literal_search(q_0, Q, y, folds, np.mean, designs=designs)
    kept = distinct(path.norms)
    np.testing.assert_allclose(path.norms[kept], norms, rtol=1e-5)
    np.testing.assert_allclose(path.losses[kept], losses, atol=3e-5)
    assert path.norms[0] <= 1  # below the two of naive Bayes


@pytest.mark.parametrize("ratio", [1e2, 1e4])
def test_the_search_is_as_precise_for_a_rare_class(ratio):
    X, y = draw_mixed(0, n_rows=40)
    weight = np.where(y == 1, 1.0, ratio)
    path = CodedNB(random_state=0).fit(X, y, weight).norm_path_
    q_0, Q = literal_q(X, y, 1.0, weight)
    folds = deal(y, 5, np.random.RandomState(0))
    designs = fold_designs(X, y, 1.0, folds, weight)
    norms, losses = literal_search(q_0, Q, y, folds, np.mean, weight, designs)
    first = np.isclose(path.norms[:, None], norms, rtol=1e-4).any(axis=1)
    known = np.isclose(norms[:, None], path.norms, rtol=1e-4).any(axis=1)
    assert known.sum() >= 10
    error = np.abs(path.losses[first] - losses[known]).max()
    assert error < 0.01 * np.ptp(np.mean(losses, axis=1))


@pytest.mark.parametrize("seed", range(12))
def test_the_path_holds_each_norm_once_and_the_best_of_them_is_chosen(seed):
    X, y = draw_mixed(seed, n_features=2 + seed % 4)
    model = CodedNB(random_state=seed).fit(X, y)
    path = model.norm_path_
    assert path.losses.shape == (len(path.norms), 5)
    summary = np.mean(path.losses, axis=1)
    assert summary[path.norms == path.chosen] == pytest.approx(summary.min(), rel=1e-5)
    assert (summary[path.norms < path.chosen] > summary.min()).all()
    assert path.unrestricted == CodedNB(norm=None).fit(X, y).norm_
    np.testing.assert_allclose(path.norms[-1], path.unrestricted, rtol=1e-12)
    np.testing.assert_allclose(model.norm_, path.chosen, rtol=1e-8)
    fixed = CodedNB(norm=path.chosen).fit(X, y)
    np.testing.assert_allclose(model.predict_proba(X), fixed.predict_proba(X), atol=1e-7)
    assert distinct(path.norms).all()


def test_rounding_does_not_choose_among_norms_that_are_equally_good():
    # beyond a fold's own unrestricted norm its loss stays as it is: the median has a plateau
    X = np.array([1, 1, 1, 0, 0, 0, 0, 0] * 3 + [1, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 1, 0, 1, 0])
    y = np.r_[np.repeat([0, 1, 2], 8), 2, 0, 1, 0, 2, 2, 2, 0, 2, 1, 0, 0, 0, 2, 0, 1]
    folds = deal(y, 5, np.random.RandomState(1))
    each = CodedNB(cv=folds, multiclass="ovr").fit(X[:, None], y).norm_path_
    alone = [CodedNB(cv=folds).fit(X[:, None], y == k).norm_path_ for k in range(3)]
    chosen = [[path.chosen for path in paths] for paths in (each, alone)]
    np.testing.assert_allclose(chosen[0], chosen[1], rtol=1e-9)


def test_only_the_search_leaves_a_path():
    X, y = draw_mixed(0)
    assert CodedNB(norm=None).fit(X, y).norm_path_ is None
    assert CodedNB(norm=0.5).fit(X, y).norm_path_ is None
    X, y = draw_mixed(0, n_classes=3)
    paths = CodedNB(multiclass="ovr", random_state=0).fit(X, y).norm_path_
    assert [path.losses.shape[1] for path in paths] == [5, 5, 5]
    joint = CodedNB(multiclass="softmax", random_state=0).fit(X, y)
    np.testing.assert_allclose(joint.norm_path_.chosen, joint.norm_, rtol=1e-8)


def test_the_search_is_the_same_again_for_a_random_state_and_on_any_number_of_threads(monkeypatch):
    X, y = draw_mixed(4, n_features=4)
    models = [CodedNB(random_state=seed).fit(X, y) for seed in (0, 0, 1)]
    monkeypatch.setattr(engine, "workers", lambda: 1)
    models.append(CodedNB(random_state=0).fit(X, y))
    first, again, other, alone = (model.norm_path_.losses.tolist() for model in models)
    assert first == again == alone
    assert first != other
    for model in (models[1], models[3]):
        np.testing.assert_array_equal(model.exponents_, models[0].exponents_)


@LIGHT
@given(labels=st.lists(st.integers(0, 2), min_size=2, max_size=40), n_folds=st.integers(2, 6))
def test_folds_part_the_rows_and_deal_each_class_evenly(labels, n_folds):
    labels = np.array(labels)
    folds = deal(labels, n_folds, np.random.RandomState(0))
    assert len(folds) == min(n_folds, len(labels))
    assert (np.sum([out for _, out in folds], axis=0) == 1).all()
    for k in np.unique(labels):
        sizes = [(labels[out] == k).sum() for _, out in folds]
        assert max(sizes) - min(sizes) <= 1
    for train, out in folds:
        assert (train != out).all()


def test_folds_may_be_given_as_scikit_learn_takes_them():
    X, y = draw_mixed(6)
    dealt = deal(y, 4, np.random.RandomState(3))
    splits = [(np.flatnonzero(train), np.flatnonzero(out)) for train, out in dealt]
    counted = CodedNB(cv=4, random_state=3).fit(X, y)
    given_ones = CodedNB(cv=splits).fit(X, y)
    np.testing.assert_array_equal(given_ones.norm_path_.losses, counted.norm_path_.losses)
    np.testing.assert_array_equal(given_ones.exponents_, counted.exponents_)
    splitter = StratifiedKFold(3, shuffle=True, random_state=0)
    listed = CodedNB(cv=[*splitter.split(X, y)]).fit(X, y)
    np.testing.assert_array_equal(CodedNB(cv=splitter).fit(X, y).exponents_, listed.exponents_)


@pytest.mark.parametrize("multiclass", ["ovr", "softmax"])
def test_folds_that_come_one_by_one_serve_all_classes(multiclass):
    X, y = draw_mixed(6, n_classes=3)
    once = (split for split in KFold(3, shuffle=True, random_state=0).split(X))
    model = CodedNB(cv=once, multiclass=multiclass).fit(X, y)
    listed = CodedNB(cv=KFold(3, shuffle=True, random_state=0), multiclass=multiclass).fit(X, y)
    np.testing.assert_array_equal(model.exponents_, listed.exponents_)


# ---------------------------------------------------------------- row weights


@pytest.mark.parametrize("norm", [None, 0.5])
@pytest.mark.parametrize(("n_classes", "multiclass"), FORMS)
@settings(max_examples=10, deadline=None)
@given(seed=st.integers(0, 2**32 - 1))
def test_a_weight_of_two_is_a_row_given_twice(n_classes, multiclass, norm, seed):
    X, y = draw_mixed(seed, n_classes)
    times = np.random.default_rng(seed).integers(0, 4, len(y))
    times[: n_classes * 30] += 1  # every row still comes in every class
    fit = CodedNB(norm=norm, multiclass=multiclass, smoothing=1.0).fit
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", NO_RESTRICTION)
        weighted, repeated = fit(X, y, times), None
        model = weighted.predict_proba(X), weighted.loss_
        repeated = fit(X.repeat(times, axis=0), y.repeat(times))
    np.testing.assert_allclose(model[0], repeated.predict_proba(X), atol=1e-6)
    np.testing.assert_allclose(model[1], repeated.loss_, rtol=1e-10)


@pytest.mark.parametrize("norm", [None, 0.5, "cv"])
def test_rows_of_no_weight_are_not_there(norm):
    X, y = draw_mixed(8)
    weight = np.ones(len(y))
    weight[[1, 5, 70, 100]] = 0
    kept = weight > 0
    alone = CodedNB(norm=norm, random_state=0).fit(X[kept], y[kept])
    X[1] = 99  # a level of its own, which must not be counted
    model = CodedNB(norm=norm, random_state=0).fit(X, y, weight)
    np.testing.assert_array_equal(model.exponents_, alone.exponents_)
    assert model.loss_ == alone.loss_
    np.testing.assert_array_equal(model.predict_proba(X[kept]), alone.predict_proba(X[kept]))


def test_the_scale_of_weights_says_nothing_without_smoothing():
    X, y = draw_mixed(9)
    weight = np.random.default_rng(9).uniform(0.5, 2, len(y))
    fits = [CodedNB(smoothing=0, random_state=0).fit(X, y, weight * s) for s in (1, 1e-6, 1e9)]
    for model in fits[1:]:
        np.testing.assert_allclose(model.exponents_, fits[0].exponents_, atol=1e-6)
        np.testing.assert_allclose(model.loss_, fits[0].loss_, rtol=1e-9)


# ---------------------------------------------------------------- several classes


@pytest.mark.parametrize("norm", [None, 0.5])
@settings(max_examples=15, deadline=None)
@given(data=st.data(), smoothing=SMOOTHINGS, n_classes=st.integers(3, 4))
def test_one_against_the_rest_is_that_many_two_class_models_normalised(
    norm, data, smoothing, n_classes
):
    X, y = data.draw(mixed_rows(n_classes, max_features=3))
    fit = partial(CodedNB, norm=norm, smoothing=smoothing, multiclass="ovr")
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", NO_RESTRICTION)
        model = fit().fit(X, y)
        each = [fit().fit(X, y == k) for k in range(n_classes)]
    p = np.column_stack([two.predict_proba(X)[:, 1] for two in each])
    np.testing.assert_allclose(model.predict_proba(X), p / p.sum(axis=1, keepdims=True), atol=1e-12)
    np.testing.assert_allclose(model.exponents_, [two.exponents_ for two in each], atol=1e-9)
    np.testing.assert_allclose(model.norm_, [two.norm_ for two in each], rtol=1e-9)


@given(st.integers(0, 2**32 - 1))
@settings(max_examples=20, deadline=None)
def test_joint_tables_are_centred_and_their_errors_follow_from_the_counts(seed):
    random = np.random.default_rng(seed)
    X = pd.DataFrame(random.integers(0, 3, (60, 2)), columns=["a", "b"]).astype(str)
    y = random.integers(0, 3, 60)
    y[:3] = 0, 1, 2
    joint = AdjustedNB(norm=1.5, multiclass="softmax").fit(X, y)
    naive = EvidenceNB().fit(X, y).evidence_
    for j, (table, plain) in enumerate(zip(joint.evidence_, naive, strict=True)):
        assert np.abs(table.by_class.sum(axis=1)).max() < 1e-12
        a = joint.exponents_[:, j]
        for v in range(len(table.levels)):
            by_log = np.array([[(k == c) * a[c] - a[c] / 3 for c in range(3)] for k in range(3)])
            by_log = by_log @ (np.eye(3) - 1 / 3)
            variance = [
                sum(b * b * s for b, s in zip(row, plain.variances[v], strict=True))
                for row in by_log
            ]
            np.testing.assert_allclose(table.errors[v], np.sqrt(variance), rtol=1e-10)


def test_errors_of_one_against_the_rest_are_those_of_two_classes():
    random = np.random.default_rng(3)
    X = pd.DataFrame(random.integers(0, 3, (90, 2)), columns=["a", "b"]).astype(str)
    y = random.integers(0, 3, 90)
    many = AdjustedNB(norm=1.0, multiclass="ovr").fit(X, y).evidence_
    for c in range(3):
        two = AdjustedNB(norm=1.0).fit(X, y == c).evidence_
        for table, part in zip(many, two, strict=True):
            np.testing.assert_allclose(table.errors[:, c], part.errors, rtol=1e-9)


def literal_softmax(prior, Q, y, exponents):
    """Loss in bits and the gradient in nats of the joint model, class by class."""
    totals = prior + np.einsum("ijk,kj->ik", Q, exponents)
    logs = log_softmax(totals, axis=1)
    wrong = np.exp(logs) - np.eye(len(exponents))[y]
    return -logs[np.arange(len(y)), y].mean() / np.log(2), np.einsum("ijk,ik->kj", Q, wrong)


@LIGHT
@given(
    data=st.data(),
    smoothing=SMOOTHINGS,
    n_classes=st.integers(3, 4),
    part=st.sampled_from([None, 0.01, 0.5]),
)
def test_the_joint_model_is_optimal_for_all_classes_together(data, smoothing, n_classes, part):
    X, y = data.draw(mixed_rows(n_classes, max_features=3))
    prior, Q = literal_q(X, y, smoothing)
    fit = partial(CodedNB, multiclass="softmax", smoothing=smoothing)
    model = fit(norm=None).fit(X, y)
    if part is not None:
        m = part * model.norm_
        assume(m > 0)
        model = fit(norm=m).fit(X, y)
        assert abs(model.norm_ - m) / m < 1e-8
    a = model.exponents_
    loss, gradient = literal_softmax(prior, Q, y, a)
    multiplier = 0 if part is None else -(gradient * a).sum() / (a * a).sum()
    assert multiplier >= 0
    assert np.linalg.norm(gradient + multiplier * a) / len(y) < 1e-8
    np.testing.assert_allclose(model.loss_, loss, rtol=1e-9)
    np.testing.assert_allclose(model.norm_, (a * a).sum(), rtol=1e-12)


@pytest.mark.parametrize("norm", [None, 0.5, "cv"])
def test_two_classes_know_one_model_only(norm):
    X, y = draw_mixed(10)
    fits = [CodedNB(norm=norm, multiclass=m, random_state=0).fit(X, y) for m in ("ovr", "softmax")]
    np.testing.assert_array_equal(fits[0].exponents_, fits[1].exponents_)
    np.testing.assert_array_equal(fits[0].predict_proba(X), fits[1].predict_proba(X))
    assert [model.evidence_.link for model in fits] == ["logistic", "logistic"]


def test_sheets_against_a_rival_add_up_for_the_joint_model_and_are_refused_for_the_other():
    X, y = draw_mixed(11, n_classes=3)
    each = CodedNB(norm=1.0, multiclass="ovr").fit(X, y)
    with pytest.raises(ValueError, match="multiclass='softmax'"):
        each.balance_sheet(X[0], pos_label=0, against=2)
    sheet = each.balance_sheet(X[0], pos_label=1)
    assert sheet.probability == pytest.approx(each.predict_proba(X[:1])[0, 1], rel=1e-12)
    assert "1/(1 + exp(-total)) over the sum" in str(sheet)
    joint = CodedNB(norm=1.0, multiclass="softmax").fit(X, y)
    sheet = joint.balance_sheet(X[0], pos_label=0, against=2)
    p = joint.predict_proba(X[:1])[0]
    weights = [sheet.prior, *(item.weight for item in sheet.items)]
    assert sum(weights) == pytest.approx(np.log(p[0] / p[2]), rel=1e-9)
    assert sheet.total == pytest.approx(np.log(p[0] / p[2]), rel=1e-9)


# ---------------------------------------------------------------- the paper's table


def test_every_printed_digit_of_dna_comes_out(papers_data):
    frame = datasets.load("dna").to_pandas()
    train, labels = frame.pop("split") == "train", frame.pop("class")
    found = {}
    for label in ("ei", "ie", "n"):
        y = (labels == label).to_numpy()
        naive = EvidenceNB(smoothing=0).fit(frame[train], y[train])
        model = AdjustedNB(norm=None, smoothing=0).fit(frame[train], y[train])
        wrong = [np.mean(m.predict(frame[~train]) != y[~train]) for m in (naive, model)]
        errors = [f"{100 * rate:.2f}" for rate in wrong]
        found[label] = (*errors, round(model.norm_), len(model.reversals_))
    assert found == {
        "ei": ("3.63", "2.70", 156, 11),
        "ie": ("3.12", "4.22", 209, 12),
        "n": ("8.09", "6.49", 114, 11),
    }


# ---------------------------------------------------------------- what all estimators share


@pytest.mark.parametrize("norm", [None, 0.5, "cv"])
@pytest.mark.parametrize(("n_classes", "multiclass"), FORMS)
def test_a_saved_model_gives_the_same_bits(tmp_path, norm, n_classes, multiclass):
    X, y = draw_mixed(12, n_classes, n_features=4)
    table = pd.DataFrame(X, columns=[*"abcd"]).astype(str)
    model = AdjustedNB(norm=norm, multiclass=multiclass, random_state=0).fit(table, y)
    weigh.save(model, tmp_path / "model.json")
    again = weigh.load(tmp_path / "model.json")
    np.testing.assert_array_equal(again.predict_proba(table), model.predict_proba(table))
    for name in ("exponents_", "prior_exponent_", "norm_", "loss_"):
        np.testing.assert_array_equal(getattr(again, name), getattr(model, name))
    assert again.reversals_ == model.reversals_
    assert repr(again.evidence_) == repr(model.evidence_)
    assert str(again.balance_sheet(table.iloc[[0]])) == str(model.balance_sheet(table.iloc[[0]]))
    assert again.get_params() == model.get_params()


@pytest.mark.parametrize(
    "parameters",
    [{"cv": StratifiedKFold(3)}, {"random_state": np.random.RandomState(0)}, {"cv": None}],
)
def test_a_model_can_be_saved_however_its_folds_were_given(tmp_path, parameters):
    X, y = draw_mixed(12)
    model = CodedNB(**parameters).fit(X, y)
    weigh.save(model, tmp_path / "model.json")
    again = weigh.load(tmp_path / "model.json")
    np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))


@pytest.mark.parametrize(("n_classes", "multiclass"), FORMS)
def test_another_prior_shifts_the_totals_and_leaves_the_exponents(n_classes, multiclass):
    X, y = draw_mixed(15, n_classes)
    rate = np.arange(1, n_classes + 1) / np.arange(1, n_classes + 1).sum()
    fit = partial(CodedNB, norm=0.8, multiclass=multiclass)
    model = fit().fit(X, y)
    given_first = fit(class_prior=rate.tolist()).fit(X, y)
    np.testing.assert_array_equal(given_first.exponents_, model.exponents_)
    assert given_first.loss_ == model.loss_
    shifted = model.with_prior(rate)
    np.testing.assert_allclose(given_first.predict_proba(X), shifted.predict_proba(X), rtol=1e-12)
    moved = shifted.decision_function(X) - model.decision_function(X)
    change = change_of_prior(y, rate, multiclass == "ovr")
    np.testing.assert_allclose(moved, np.broadcast_to(change, moved.shape), atol=1e-12)


def test_the_command_line_fits_what_python_fits(tmp_path):
    data, out = tmp_path / "people.csv", tmp_path / "model.json"
    csv.write_csv(datasets.titanic(), data)
    words = ["fit", str(data), "--target", "Survived", "--learner", "adjusted", "-o", str(out)]
    result = CliRunner().invoke(main, words)
    assert result.exit_code == 0, result.output
    assert result.stdout == ""
    assert "AdjustedNB from 2,201 rows and 3 columns" in result.stderr
    table = read_csv(data)
    expected = AdjustedNB(random_state=0).fit(table, "Survived")
    found = weigh.load(out)
    assert isinstance(found, AdjustedNB)
    np.testing.assert_array_equal(found.exponents_, expected.exponents_)
    np.testing.assert_array_equal(found.predict_proba(table), expected.predict_proba(table))


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"fit_prior": "no"}, "fit_prior must be True or False, got 'no'"),
        ({"norm": -1}, "norm must be 'cv', 'paper', None or .*got -1"),
        ({"norm": np.nan}, "norm must be"),
        ({"norm": np.inf}, "norm must be"),
        ({"norm": True}, "norm must be"),
        ({"norm": "apm"}, "norm must be"),
        ({"norm": [1.0, 2.0]}, "norm must be"),
        ({"multiclass": "ovo"}, "multiclass .*'ovo'"),
        ({"aggregate": "max"}, r"aggregate .*\('median', 'mean'\).*'max'"),
        ({"cv": 1}, "cv .*2 folds"),
        ({"cv": 0.5}, "`?cv`?"),
        ({"cv": []}, "cv=.*leaves no fold"),
        ({"smoothing": -1}, "smoothing"),
        ({"class_prior": [0.5, 0.6]}, "class_prior"),
    ],
)
def test_a_bad_parameter_is_named_with_what_it_may_be(parameters, message):
    X, y = draw_mixed(0)
    with pytest.raises(ValueError, match=message):
        CodedNB(**parameters).fit(X, y)
