"""EducatedNB as a learner: what all share, weights and order, hard data, files, the command."""

from contextlib import nullcontext

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import expit, logit
from sklearn.model_selection import GridSearchCV, cross_val_score
from tests.literal import change_of_prior
from tests.model_files import validate

import weigh
from weigh import BalanceSheetDisplay, EducatedNB, EvidenceNB, datasets
from weigh.cli import main
from weigh.frames import read, read_csv

LIGHT = settings(max_examples=5, deadline=None)
seeds = st.integers(0, 2**32 - 1)
FORMS = [(2, "softmax"), (3, "softmax"), (3, "ovr")]


def draw_frame(seed, n_rows=200, n_classes=2):
    """A number with a code, a number with gaps, and two columns of categories."""
    rng = np.random.default_rng(seed)
    x, z = rng.normal(size=n_rows), rng.exponential(size=n_rows)
    c, d = rng.choice([*"abc"], n_rows), rng.choice([*"uv"], n_rows)
    logits = np.column_stack([x * k + (c == "a") * (k == 1) for k in range(n_classes)])
    y = (logits + rng.gumbel(size=logits.shape)).argmax(axis=1)
    y[:n_classes] = np.arange(n_classes)
    z[rng.random(n_rows) < 0.1] = np.nan
    x = np.where(rng.random(n_rows) < 0.1, -999.0, x)
    return pd.DataFrame({"x": x, "z": z, "c": c, "d": d}), y


def check_sheets(model, X, n=5):
    """Finite, and every sheet adds up to the log odds and to the probability of predict_proba."""
    rows = [X.iloc[[i]] if isinstance(X, pd.DataFrame) else X[[i]] for i in range(n)]
    p = model.predict_proba(X)
    assert np.isfinite(model.predict_log_proba(X)).all()
    np.testing.assert_allclose(p.sum(axis=1), 1.0, rtol=1e-12)
    for i, row in enumerate(rows):
        sheet = model.balance_sheet(row)
        total = sheet.prior + sum(item.weight for item in sheet.items)
        assert total == pytest.approx(sheet.total, rel=1e-9, abs=1e-9)
        place = model.classes_.tolist().index(sheet.pos_label)
        assert sheet.probability == pytest.approx(p[i, place], rel=1e-9)
        if sheet.interval is not None:
            low, high = sheet.interval
            assert low <= sheet.probability * (1 + 1e-9) <= high * (1 + 2e-9)
    assert str(model.evidence_)


# ---------------------------------------------------------------- weights, rows, tables


@pytest.mark.parametrize(("n_classes", "multiclass"), FORMS)
@LIGHT
@given(seed=seeds)
def test_a_row_of_weight_two_is_that_row_twice(n_classes, multiclass, seed):
    X, y = draw_frame(seed, n_classes=n_classes)
    times = np.random.default_rng(seed).integers(1, 3, len(y))
    fit = EducatedNB(pairs=0, multiclass=multiclass, bins=12).fit
    heavy = fit(X, y, times).decision_function(X)
    many = fit(X.loc[X.index.repeat(times)], np.repeat(y, times)).decision_function(X)
    np.testing.assert_allclose(heavy, many, atol=1e-6)


@LIGHT
@given(seed=seeds)
def test_a_row_of_no_weight_is_not_there(seed):
    X, y = draw_frame(seed)
    kept = np.random.default_rng(seed).random(len(y)) < 0.8
    kept[:2] = True
    odd = X.copy()
    odd.loc[~kept, "c"] = "never"  # a level that no row has
    model = EducatedNB(pairs=0).fit(odd, y, kept.astype(float))
    alone = EducatedNB(pairs=0).fit(X[kept], y[kept])
    assert (model.decision_function(X) == alone.decision_function(X)).all()
    assert model.loo_loss_ == alone.loo_loss_


@pytest.mark.parametrize(("n_classes", "multiclass"), FORMS)
@LIGHT
@given(seed=seeds)
def test_the_order_of_rows_does_not_matter(n_classes, multiclass, seed):
    X, y = draw_frame(seed, n_classes=n_classes)
    order = np.random.default_rng(seed).permutation(len(y))
    bins = "fine" if n_classes == 2 else 12
    one = EducatedNB(pairs=0, multiclass=multiclass, bins=bins).fit(X, y)
    other = EducatedNB(pairs=0, multiclass=multiclass, bins=bins).fit(X.iloc[order], y[order])
    np.testing.assert_allclose(one.decision_function(X), other.decision_function(X), atol=1e-9)
    assert one.loo_loss_ == pytest.approx(other.loo_loss_, rel=1e-9)


def test_two_classes_know_one_model_only():
    X, y = draw_frame(2)
    fits = [EducatedNB(pairs=0, multiclass=form).fit(X, y) for form in ("softmax", "ovr")]
    assert (fits[0].predict_proba(X) == fits[1].predict_proba(X)).all()
    assert fits[0].evidence_.link == "logistic"


def test_one_against_the_rest_is_that_many_models_of_two_classes(monkeypatch):
    monkeypatch.setattr("weigh.educated.tables.APART", -1.0)  # merged for all classes at once
    X, y = draw_frame(3, n_classes=3)
    model = EducatedNB(pairs=0, multiclass="ovr").fit(X, y)
    each = [EducatedNB(pairs=0).fit(X, y == k) for k in range(3)]
    p = np.column_stack([two.predict_proba(X)[:, 1] for two in each])
    np.testing.assert_allclose(model.predict_proba(X), p / p.sum(axis=1, keepdims=True), rtol=1e-9)
    np.testing.assert_array_equal(model.scales_, [two.scales_ for two in each])
    np.testing.assert_array_equal(model.loo_loss_, [two.loo_loss_ for two in each])
    for k, two in enumerate(each):
        for table, own in zip(model.evidence_, two.evidence_, strict=True):
            np.testing.assert_array_equal(table.errors[:, k], own.errors)
    with pytest.raises(ValueError, match="multiclass='softmax'"):
        model.balance_sheet(X.iloc[[0]], pos_label=0, against=1)


def test_classes_fitted_jointly_have_centred_tables_whose_sheets_set_one_against_another():
    X, y = draw_frame(4, n_classes=3)
    model = EducatedNB(pairs=0).fit(X, y)
    for table in model.evidence_:
        np.testing.assert_allclose(table.by_class.sum(axis=1), 0.0, atol=1e-12)
    p = model.predict_proba(X.iloc[[0]])[0]
    sheet = model.balance_sheet(X.iloc[[0]], pos_label=0, against=2)
    assert sheet.total == pytest.approx(np.log(p[0] / p[2]), rel=1e-9)
    assert sheet.interval is None  # no errors are told of weights that are not known


# ---------------------------------------------------------------- what it learns


def test_it_tells_new_rows_better_than_naive_bayes_where_features_repeat_each_other():
    rng = np.random.default_rng(5)
    base = rng.normal(size=4000)
    X = np.column_stack([base + 0.3 * rng.normal(size=4000) for _ in range(6)])
    y = (rng.random(4000) < expit(base)).astype(int)
    train, test = slice(0, 2000), slice(2000, 4000)
    losses = []
    for learner in (EducatedNB(pairs=0), EvidenceNB()):
        p = learner.fit(X[train], y[train]).predict_proba(X[test])
        losses.append(-np.log(p[np.arange(2000), y[test]]).mean())
    best = -np.mean(np.log(np.where(y[test] == 1, expit(base[test]), expit(-base[test]))))
    assert losses[0] < 1.05 * best < 1.3 * best < losses[1]


def test_with_many_rows_the_weights_are_those_that_made_the_rows():
    rng = np.random.default_rng(6)
    codes, effects = rng.integers(0, 4, (60_000, 3)), rng.normal(size=(3, 4))
    total = sum(effects[j][codes[:, j]] for j in range(3))
    y = (rng.random(60_000) < expit(total)).astype(int)
    evidence = EducatedNB(pairs=0, categorical_features="all").fit(codes, y).evidence_
    for j, table in enumerate(evidence):
        share = table.counts.sum(axis=1) / 60_000
        expected = effects[j] - share @ effects[j]
        assert (np.abs(table.centred[:, 0] - expected) < 4 * table.errors).all()
    assert evidence.prior == pytest.approx(logit(y.mean()), abs=1e-9)
    assert evidence.total(read(codes)).mean() == pytest.approx(total.mean(), abs=0.1)


def test_a_table_without_anything_to_tell_is_the_prior():
    rng = np.random.default_rng(7)
    X, y = rng.normal(size=(500, 3)), rng.random(500) < 0.2
    model = EducatedNB(pairs=0).fit(X, y)
    assert model.predict_proba(X)[:, 1].std() < 0.04
    assert model.predict_proba(X)[:, 1].mean() == pytest.approx(y.mean(), abs=0.005)


# ---------------------------------------------------------------- hard data


def hard_cases():
    rng = np.random.default_rng(0)
    n = 300
    y = rng.integers(0, 2, n)
    x, c = rng.normal(size=n) + y, rng.choice([*"abc"], n)
    base = pd.DataFrame({"x": x, "c": c})
    one = np.zeros(n, dtype=int)
    one[7] = 1
    three = rng.integers(0, 3, n)
    lone = np.where(three == 2, 0, three)
    lone[3] = 2
    ids = pd.DataFrame({"id": [f"v{i}" for i in rng.integers(0, 10_000, 20_000)]})
    ids["x"], ids["same"] = rng.normal(size=20_000), "k"
    tossed = rng.integers(0, 2, 20_000)
    codes = np.where(rng.random(n) < 0.3, -999.0, -998.0)
    special = {"special_values": {"z": [-999, -998, -5]}}
    cuts = {"bins": {"z": [*range(9)]}}
    rate = {"class_prior": [0.2, 0.3, 0.5]}
    both = {"crosses": [("c", "d")], "pairs": 2, "random_state": 0}
    skip = {"missing": "skip"}
    gaps = np.where(rng.random(n) < 0.3, np.nan, x)
    return {
        "separable": (base.assign(s=2.0 * y, t=np.where(y, "p", "q")), y, {}),
        "separable, three classes": (base.assign(t=three.astype(str)), three, {}),
        "60 rows by 200 features": (rng.normal(size=(60, 200)), y[:60], {}),
        "10,000 levels": (ids, tossed, {}),
        "5,000 levels, three classes": (ids[:7000], (tossed + (ids["x"] > 1))[:7000], {}),
        "constant": (base.assign(z="k", w=1.0), y, {}),
        "nothing but constants": (pd.DataFrame({"z": ["k"] * n, "w": 1.0}), y, {"pairs": 1}),
        "duplicates": (base.assign(u=x, v=x, d=c), y, {}),
        "missing alone, numbers": (base.assign(z=np.nan), y, {}),
        "missing alone, numbers, skipped": (base.assign(z=np.nan), y, skip),
        "missing alone, categories": (base.assign(z=[None] * n), y, {}),
        "missing alone, categories, skipped": (base.assign(z=[None] * n), y, skip),
        "two values": (base.assign(z=(c == "a").astype(float)), y, {}),
        "codes alone": (base.assign(z=codes), y, special),
        "codes alone, cuts given": (base.assign(z=codes), y, special | cuts),
        "codes alone, in pairs": (base.assign(z=codes), y, special | cuts | {"pairs": 2}),
        "codes and gaps": (base.assign(z=np.where(rng.random(n) < 0.2, -999, gaps)), y, special),
        "a class of one row": (base, one, {}),
        "a class of one row of three": (base, lone, {}),
        "a class of one row, one against the rest": (base, lone, {"multiclass": "ovr"}),
        "three classes": (base, three, {}),
        "three classes, another prior": (base, three, rate),
        "one against the rest, another prior": (base, three, rate | {"multiclass": "ovr"}),
        "skipped, in pairs": (base.assign(z=gaps), y, skip | {"pairs": 2, "random_state": 0}),
        "crosses and pairs": (base.assign(z=-x, d=c), y, both),
        "infinities": (base.assign(z=np.where(c == "a", np.inf, x)), y, {}),
        "huge numbers": (base.assign(z=1e300 * x), y, {}),
        "one row of each class": (base[:2], np.array([0, 1]), {}),
    }  # fmt: skip


HARD = hard_cases()


@pytest.mark.parametrize("name", HARD)
def test_hard_data_give_a_finite_model_whose_sheets_add_up(name):
    X, y, parameters = HARD[name]
    model = EducatedNB(**parameters).fit(X, y)
    check_sheets(model, X, min(len(y), 5))
    if len(model.classes_) == 2:
        check_sheets(model.with_prior(0.01), X, min(len(y), 5))


@pytest.mark.parametrize("pairs", [0, 1])
@pytest.mark.parametrize("size", [1e-100, 1e-15, 1e-6, 1e6, 1e15, 1e100])
def test_weights_may_be_tiny_or_huge(size, pairs):
    X, y = draw_frame(8)
    model = EducatedNB(pairs=pairs, bins=12, random_state=0)
    with pytest.warns(UserWarning, match="sample_weight") if size < 1 else nullcontext():
        model.fit(X, y, np.full(len(y), size))
    check_sheets(model, X)
    if size < 1e-5:  # rows that hardly count tell hardly more than how many there are
        assert np.ptp(model.decision_function(X)) < 0.01
        assert model.predict_proba(X)[:, 1].mean() == pytest.approx(y.mean(), abs=1e-3)


def test_a_feature_of_one_level_weighs_exactly_nothing():
    X, y = draw_frame(9)
    X["same"], X["gaps"], X["code"] = 3.0, np.where(X["x"] > 0, "k", None), -1.0
    model = EducatedNB(pairs=0, missing="skip", special_values={"code": [-1, -2]}).fit(X, y)
    for name in ("same", "gaps", "code"):
        assert (model.evidence_[name].weights == 0).all()
        assert np.isnan(model.scales_[X.columns.get_loc(name)])
    silent = [item.feature for item in model.balance_sheet(X.iloc[[0]]).weightless]
    assert {"same", "gaps", "code"} <= {*silent}


def test_duplicates_of_a_feature_share_its_weight():
    rng = np.random.default_rng(10)
    x = rng.normal(size=2000)
    y = (rng.random(2000) < expit(2 * x)).astype(int)
    one, three = (EducatedNB(pairs=0).fit(np.column_stack([x] * k), y) for k in (1, 3))
    grid = np.linspace(-2, 2, 41)
    totals = [
        model.decision_function(np.column_stack([grid] * k)) for model, k in ((one, 1), (three, 3))
    ]
    np.testing.assert_allclose(*totals, atol=0.35)
    spans = [np.ptp(table.weights) for table in three.evidence_]
    np.testing.assert_allclose(spans, spans[0], rtol=1e-3)


# ---------------------------------------------------------------- what all estimators share


@pytest.mark.parametrize(("n_classes", "multiclass"), FORMS)
def test_a_saved_model_gives_the_same_bits_and_its_file_follows_the_schema(
    tmp_path, n_classes, multiclass
):
    X, y = draw_frame(11, n_classes=n_classes)
    X["same"] = 1.0
    learner = EducatedNB(
        pairs=0, multiclass=multiclass, special_values={"x": [-999]}, random_state=0
    )
    model = learner.fit(X, y)
    weigh.save(model, tmp_path / "m.json")
    validate(tmp_path / "m.json")
    again = weigh.load(tmp_path / "m.json")
    assert (again.predict_proba(X) == model.predict_proba(X)).all()
    for name in ("scales_", "loo_loss_", "n_passes_"):
        np.testing.assert_array_equal(getattr(again, name), getattr(model, name))
    assert again.get_params() == model.get_params()
    assert repr(again.evidence_) == repr(model.evidence_)
    for i in range(3):
        row = X.iloc[[i]]
        assert str(again.balance_sheet(row)) == str(model.balance_sheet(row))
    weigh.save(again, tmp_path / "again.json")
    assert (tmp_path / "again.json").read_text() == (tmp_path / "m.json").read_text()


def test_it_works_inside_scikit_learns_searches():
    X, y = draw_frame(13)
    search = GridSearchCV(EducatedNB(pairs=0), {"bins": [4, "fine"]}, cv=2, scoring="neg_log_loss")
    assert search.fit(X, y).best_params_["bins"] in (4, "fine")
    assert (cross_val_score(EducatedNB(pairs=0), X, y, cv=3) > 0.4).all()


@pytest.mark.parametrize(("n_classes", "multiclass"), FORMS)
def test_another_prior_shifts_the_totals(n_classes, multiclass):
    X, y = draw_frame(14, n_classes=n_classes)
    rate = np.arange(1, n_classes + 1) / np.arange(1, n_classes + 1).sum()
    model = EducatedNB(pairs=0, multiclass=multiclass).fit(X, y)
    given_first = EducatedNB(pairs=0, multiclass=multiclass, class_prior=rate.tolist()).fit(X, y)
    shifted = model.with_prior(rate)
    np.testing.assert_allclose(given_first.predict_proba(X), shifted.predict_proba(X), rtol=1e-12)
    moved = shifted.decision_function(X) - model.decision_function(X)
    change = change_of_prior(y, rate, multiclass == "ovr")
    np.testing.assert_allclose(moved, np.broadcast_to(change, moved.shape), atol=1e-9)


def test_levels_and_answers_that_lack_weigh_nothing_and_the_sheet_says_so():
    X, y = draw_frame(15)
    model = EducatedNB(pairs=0, missing="skip").fit(X, y)
    sheet = model.balance_sheet({"x": 0.0, "z": None, "c": "new", "d": None})
    silent = [str(item) for item in sheet.not_known]
    assert "z = missing (no evidence)" in silent
    assert "c = new (not seen in training)" in silent
    assert sheet.interval is None  # a level that was not seen may weigh anything
    assert sheet.total == pytest.approx(sheet.prior + sum(item.weight for item in sheet.items))
    known = model.balance_sheet({"x": 0.0, "z": None, "c": X["c"].dropna().iloc[0], "d": None})
    assert known.interval[0] < known.probability < known.interval[1]


def test_an_answer_that_lacked_nowhere_in_training_leaves_the_interval_of_the_others():
    X, y = draw_frame(15)
    known = X["z"].notna()
    X, y = X[known], y[known]
    level, skip = (EducatedNB(pairs=0, missing=missing).fit(X, y) for missing in ("level", "skip"))
    row = X.iloc[0].to_dict() | {"z": None, "d": None}
    mine, wanted = level.balance_sheet(row), skip.balance_sheet(row)
    np.testing.assert_allclose(mine.interval, wanted.interval, rtol=1e-9)
    assert mine.probability == pytest.approx(wanted.probability, rel=1e-9)
    assert mine.assumes.endswith("left out at random")
    assert "at random" not in wanted.assumes
    at = [0]  # the covariance of the prior and of what is answered, by hand
    for table, start in zip(
        level.evidence_,
        np.cumsum([1, *(len(table.levels) for table in level.evidence_)]),
        strict=False,
    ):
        if row[table.name] is not None:
            cell = pd.DataFrame([row])
            placed = table.feature.read(level._read(cell))
            at.append(start + int(placed.levels[placed.codes[0]]))
    error = np.sqrt(level.evidence_.covariance[np.ix_(at, at)].sum())
    reach = np.diff(logit(np.array(mine.interval)))[0] / 2
    assert reach == pytest.approx(1.6448536269514722 * error, rel=1e-9)


def test_a_sheet_can_be_drawn():
    X, y = draw_frame(16)
    model = EducatedNB(pairs=1, random_state=0).fit(X, y)
    display = BalanceSheetDisplay.from_estimator(model, X.iloc[[0]])
    assert display.ax_.get_yticklabels()[-1].get_text() == "Total"


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"multiclass": "ovo"}, "multiclass must be 'softmax' or 'ovr', got 'ovo'"),
        ({"pairs": -1}, "pairs must be 'auto', a whole number"),
        ({"smoothing": -1}, "smoothing"),
        ({"missing": "drop"}, "missing"),
        ({"class_prior": [0.5, 0.6]}, "class_prior"),
        ({"crosses": [("x", "age")]}, "crosses names 'age'"),
        ({"special_values": "-999"}, "special_values"),
    ],
)
def test_a_bad_parameter_is_named_with_what_it_may_be(parameters, message):
    X, y = draw_frame(17)
    with pytest.raises(ValueError, match=message):
        EducatedNB(**parameters).fit(X, y)


def test_bad_rows_are_refused_by_name():
    X, y = draw_frame(18)
    model = EducatedNB(pairs=0).fit(X, y)
    with pytest.raises(ValueError, match=r"^y "):
        EducatedNB(pairs=0).fit(X, np.zeros(len(y)))
    with pytest.raises(ValueError, match=r"^sample_weight "):
        EducatedNB(pairs=0).fit(X, y, -np.ones(len(y)))
    with pytest.raises(ValueError, match="'z'"):
        model.predict(X.drop(columns="z"))
    with pytest.raises(ValueError, match="column 'c' held text"):
        model.predict(X.assign(c=1))
    with pytest.raises(AttributeError, match="EducatedNB"):
        EducatedNB(pairs=0).evidence_  # noqa: B018


# ---------------------------------------------------------------- the command line


def test_the_command_line_fits_shows_scores_and_explains_what_python_does(tmp_path):
    data, out = tmp_path / "people.csv", tmp_path / "model.json"
    pa.csv.write_csv(datasets.titanic(), data)
    words = [
        "fit",
        data,
        "--target",
        "Survived",
        "--learner",
        "educated",
        "--set",
        "pairs=1",
        "-o",
        out,
    ]
    result = CliRunner().invoke(main, [*map(str, words)])
    assert result.exit_code == 0, result.output
    assert "EducatedNB from 2,201 rows and 3 columns" in result.stderr
    table = read_csv(data)
    expected, found = EducatedNB(pairs=1, random_state=0).fit(table, "Survived"), weigh.load(out)
    assert isinstance(found, EducatedNB)
    assert (found.predict_proba(table) == expected.predict_proba(table)).all()
    shown = CliRunner().invoke(main, ["show", str(out)])
    assert shown.exit_code == 0
    assert "Class & Sex" in shown.stdout
    scores = CliRunner().invoke(main, ["score", str(out), str(data)])
    assert scores.exit_code == 0
    assert len(scores.stdout.splitlines()) == 2202
    explained = CliRunner().invoke(main, ["explain", str(out), str(data), "--row", "3"])
    assert "90% interval" in explained.stdout
    assert "educated" in CliRunner().invoke(main, ["fit", "--help"]).stdout


def test_verbose_shows_a_bar_on_a_terminal_and_changes_nothing_else(monkeypatch, capsys):
    from weigh import progress

    X, y = datasets.titanic(), "Survived"
    silent = EducatedNB(pairs=0).fit(X, y)
    EducatedNB(pairs=0, verbose=True).fit(X, y)  # nobody watches
    monkeypatch.setattr(progress.sys.stderr, "isatty", lambda: True)
    EducatedNB(pairs=0).fit(X, y)
    assert capsys.readouterr().err == ""
    model = EducatedNB(pairs=0, verbose=True).fit(X, y)
    assert "fitting" in capsys.readouterr().err
    np.testing.assert_array_equal(model.predict_proba(X), silent.predict_proba(X))


@pytest.mark.parametrize("verbose", ["yes", None, 0.5, -1])
def test_verbose_is_true_or_false(verbose):
    with pytest.raises(ValueError, match="verbose"):
        EducatedNB(pairs=0, verbose=verbose).fit(datasets.titanic(), "Survived")
