"""Densities of numeric columns: curves that are tables."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import gaussian_kde
from sklearn.base import clone
from sklearn.metrics import roc_auc_score
from sklearn.naive_bayes import GaussianNB

import weigh
from weigh import Density, EvidenceNB
from weigh.bins import middles
from weigh.evidence.densities import bandwidth

FEW = settings(max_examples=15, deadline=None)


def draw(seed, n=300, n_classes=2):
    random = np.random.default_rng(seed)
    y = random.permutation(np.arange(n) % n_classes)
    X = pd.DataFrame(
        {
            "a": random.normal(y, 1 + 0.5 * y),
            "b": random.gamma(2 + y, 3.0),
            "c": random.normal(-y, 2.0) * 1e3,
        }
    )
    return X, y


def on_grid(X, model):
    found = {}
    for name in X:
        cuts = np.array(model.evidence_[name].feature.cuts)
        found[name] = middles(tuple(cuts))[0][np.searchsorted(cuts, X[name], side="left")]
    return pd.DataFrame(found)


@FEW
@given(seed=st.integers(0, 2**31), n_classes=st.integers(2, 4), cells=st.sampled_from([8, 64, 256]))
def test_gaussian_is_scikit_learns_of_values_rounded_to_the_grid(seed, n_classes, cells):
    X, y = draw(seed, n_classes=n_classes)
    model = EvidenceNB(bins=Density("gaussian", cells=cells)).fit(X, y)
    Z = on_grid(X, model)
    theirs = GaussianNB(var_smoothing=0).fit(Z, y)
    np.testing.assert_allclose(
        model.predict_log_proba(X), theirs.predict_log_proba(Z), rtol=1e-7, atol=1e-7
    )


@pytest.mark.parametrize("seed", range(3))
def test_gaussian_nears_scikit_learns_as_cells_shrink(seed):
    X, y = draw(seed)
    logs = GaussianNB(var_smoothing=0).fit(X, y).predict_log_proba(X)
    exact = logs[:, 1] - logs[:, 0]
    for cells in (64, 256, 1024):
        model = EvidenceNB(bins=Density("gaussian", cells=cells)).fit(X, y)
        gap = np.abs(model.decision_function(X) - exact).max()
        assert gap <= sum(step_of(model.evidence_[name]) for name in X)


def step_of(table):
    """The largest step between neighbouring cells: what a value's place in its cell may change."""
    return float(np.abs(np.diff(table.weights[: table.feature.n_intervals])).max())


@FEW
@given(seed=st.integers(0, 2**31))
def test_kernel_is_scipys_of_values_rounded_to_the_grid(seed):
    X, y = draw(seed)
    model = EvidenceNB(bins=Density("kernel", cells=128), smoothing=0).fit(X[["a"]], y)
    table = model.evidence_["a"]
    x, widths = middles(table.feature.cuts)
    curves = []
    for own in table.counts[: len(x)].T:
        h = literal_bandwidth(own, x)
        kde = gaussian_kde(x, weights=own)
        kde.set_bandwidth(h / np.sqrt(np.cov(x, aweights=own)))
        curves.append(np.maximum(kde(x), 1e-10 / widths))
    np.testing.assert_allclose(
        table.weights[: len(x)], np.log(curves[1] / curves[0]), rtol=1e-6, atol=1e-6
    )


def literal_bandwidth(own, x):
    n = own.sum()
    mean = (own * x).sum() / n
    deviation = np.sqrt((own * (x - mean) ** 2).sum() / n)
    values = np.repeat(x, own.astype(int))
    low, high = np.quantile(values, [0.25, 0.75], method="averaged_inverted_cdf")
    spread = min(deviation, (high - low) / 1.34) if high > low else deviation
    return 0.9 * spread * n**-0.2


def draw_atoms(seed, n=240):
    """Values between 0 and 1, many of them at one end or the other by class."""
    random = np.random.default_rng(seed)
    y = np.arange(n) % 2
    shares = random.dirichlet([1, 1, 1], size=2)
    place = np.array([random.choice(3, p=shares[c]) for c in y])
    place[:4] = [0, 0, 2, 2]
    return np.where(place == 1, random.uniform(0.01, 0.99, n), place / 2), y


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 2**31), kind=st.sampled_from(["gaussian", "kernel"]))
def test_a_mirrored_column_gives_the_mirrored_model(seed, kind):
    x, y = draw_atoms(seed)
    weight = np.random.default_rng(seed).uniform(0.5, 2, len(y)) if seed % 2 else None
    one, other = (EvidenceNB(bins=Density(kind)).fit(way[:, None], y, weight) for way in (x, 1 - x))
    np.testing.assert_allclose(
        other.decision_function(1 - x[:, None]),
        one.decision_function(x[:, None]),
        rtol=1e-6,
        atol=1e-6,
    )


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 2**31))
def test_bandwidths_of_atoms_are_silvermans(seed):
    x, y = draw_atoms(seed)
    table = EvidenceNB(bins=Density("kernel")).fit(x[:, None], y).evidence_[0]
    places, widths = middles(table.feature.cuts)
    for own in table.counts[: len(places)].T:
        expected = max(literal_bandwidth(own, places), widths[0] / 2)
        assert bandwidth(own, places, widths) == pytest.approx(expected, rel=1e-9)


def test_two_values_are_two_shares_under_a_kernel():
    x, y = np.array([0.0, 1.0] * 50), np.array([0, 1] * 45 + [1, 0] * 5)
    model = EvidenceNB(bins=Density("kernel")).fit(x[:, None], y)
    assert model.predict_proba([[0.0], [1.0]])[:, 1] == pytest.approx([0.1, 0.9], abs=0.03)


@pytest.mark.parametrize("kind", ["gaussian", "kernel"])
def test_batches_add_up_to_the_whole(kind):
    X, y = draw(4)
    order = np.argsort(np.abs(X["a"].to_numpy()))[::-1]
    wide = np.unique([*(X[c].idxmin() for c in X), *(X[c].idxmax() for c in X), *order[:20]])
    first = np.isin(np.arange(len(y)), wide)
    model, learner = EvidenceNB(bins=Density(kind)), EvidenceNB(bins=Density(kind)).fit(X, y)
    with pytest.warns(UserWarning, match="partial_fit"):
        model.partial_fit(X[first], y[first], classes=[0, 1])
    model.partial_fit(X[~first], y[~first])
    np.testing.assert_allclose(model.decision_function(X), learner.decision_function(X))


@pytest.mark.parametrize("kind", ["gaussian", "kernel"])
def test_parts_on_one_grid_merge_into_the_whole(kind):
    X, y = draw(6)
    whole = EvidenceNB(bins=Density(kind)).fit(X, y)
    halves = [clone(whole), clone(whole)]
    wide = np.isin(np.arange(len(y)), [*(X[c].idxmin() for c in X), *(X[c].idxmax() for c in X)])
    for k, model in enumerate(halves):
        part = (np.arange(len(y)) % 2 == k) | wide
        model.fit(X[part], y[part])
    both = halves[0].merge(halves[1])
    expected = clone(whole).fit(
        pd.concat([X[(np.arange(len(y)) % 2 == k) | wide] for k in (0, 1)]),
        np.concatenate([y[(np.arange(len(y)) % 2 == k) | wide] for k in (0, 1)]),
    )
    np.testing.assert_allclose(both.decision_function(X), expected.decision_function(X))


@pytest.mark.parametrize("one", ["gaussian", "kernel", "bins"])
@pytest.mark.parametrize("other", ["gaussian", "kernel", "bins"])
def test_models_merge_only_with_the_same_kind_of_density(one, other):
    X, y = draw(6)
    cuts = [*EvidenceNB(bins=Density()).fit(X, y).evidence_["b"].feature.cuts]
    models = [
        EvidenceNB(bins={"b": cuts if kind == "bins" else Density(kind)}).fit(X, y)
        for kind in (one, other)
    ]
    if one == other:
        models[0].merge(models[1])
        return
    with pytest.raises(ValueError, match="'b'"):
        models[0].merge(models[1])


@pytest.mark.parametrize("kind", ["gaussian", "kernel"])
def test_missing_values_and_codes_are_levels_beside_the_curve(kind):
    X, y = draw(5)
    X.loc[::7, "a"] = np.nan
    X.loc[::5, "b"] = -999
    model = EvidenceNB(bins=Density(kind), special_values={"b": [-999]}).fit(X, y)
    missing = X["a"].isna().to_numpy()
    share = [((missing & (y == c)).sum() + 1) / ((y == c).sum() + 2) for c in (0, 1)]
    assert model.evidence_["a"].weights[-1] == pytest.approx(np.log(share[1] / share[0]))
    assert np.isfinite(model.decision_function(X)).all()
    cells = model.evidence_["b"].feature
    assert cells.cuts[0] > X.loc[X["b"] != -999, "b"].min()


@pytest.mark.parametrize("kind", ["gaussian", "kernel"])
def test_a_file_a_sheet_and_an_export_give_the_same_numbers(kind, tmp_path):
    X, y = draw(7)
    rules = {"a": Density(kind, cells=32), "b": 4}
    model = EvidenceNB(bins=rules).fit(X, y)
    weigh.save(model, tmp_path / "model.json")
    again = weigh.load(tmp_path / "model.json")
    assert again.bins == rules
    np.testing.assert_array_equal(again.decision_function(X), model.decision_function(X))
    more = [one.partial_fit(X[:50], y[:50]) for one in (again, model)]
    np.testing.assert_array_equal(*(one.decision_function(X) for one in more))
    sheet = model.balance_sheet(X.iloc[[0]])
    assert sheet.total == pytest.approx(model.decision_function(X[:1])[0])
    assert sheet.interval is None
    spoken = {}
    exec(weigh.export(model, "python"), spoken)
    row = X.iloc[3].to_dict()
    said = spoken["score"](row)["probabilities"]
    assert said == pytest.approx(model.predict_proba(X[3:4])[0])


@pytest.mark.parametrize("kind", ["gaussian", "kernel"])
def test_a_constant_column_weighs_nothing_and_one_value_in_a_class_does_no_harm(kind):
    y = np.arange(40) % 2
    X = pd.DataFrame({"same": np.ones(40), "one": np.where(y, 3.0, np.arange(40.0))})
    model = EvidenceNB(bins=Density(kind)).fit(X, y)
    assert not model.evidence_["same"].weights.any()
    assert np.isfinite(model.evidence_["one"].weights).all()


@pytest.mark.parametrize("kind", ["gaussian", "kernel"])
@pytest.mark.parametrize("sign", [-1, 1])
def test_an_outlier_leaves_the_other_rows_as_they_were(kind, sign):
    random = np.random.default_rng(3)
    y = np.arange(2000) % 2
    clean = sign * random.normal(y, 1.0)
    spoilt = np.where(np.arange(2000) == 7, sign * 1e6, clean)
    ranks = [
        roc_auc_score(
            y, EvidenceNB(bins=Density(kind)).fit(x[:, None], y).decision_function(clean[:, None])
        )
        for x in (clean, spoilt)
    ]
    assert ranks[1] == pytest.approx(ranks[0], abs=0.01)
    assert ranks[0] > 0.7


@FEW
@given(seed=st.integers(0, 2**31), zeros=st.sampled_from([0.0, 0.9, 0.985, 0.995]))
def test_a_grid_has_every_value_where_none_is_an_outlier(seed, zeros):
    random = np.random.default_rng(seed)
    x = np.where(random.random(2000) < zeros, 0.0, random.uniform(1, 3, 2000))
    cuts = EvidenceNB(bins=Density()).fit(x[:, None], np.arange(2000) % 2).evidence_[0].feature.cuts
    step = cuts[1] - cuts[0]
    assert cuts[0] - step == pytest.approx(x.min(), abs=1e-6)
    assert cuts[-1] + step == pytest.approx(x.max(), abs=1e-6)


def test_a_column_whose_values_share_a_cell_is_named():
    x = np.exp(np.random.default_rng(0).normal(0, 5, 500))
    with pytest.warns(UserWarning, match="'wide'"):
        EvidenceNB(bins=Density()).fit(pd.DataFrame({"wide": x}), np.arange(500) % 2)


def test_values_beyond_the_range_count_as_its_ends():
    X, y = draw(8)
    model = EvidenceNB(bins=Density()).fit(X, y)
    far = X[:2].assign(a=[-1e9, 1e9])
    ends = X[:2].assign(a=[X["a"].min(), X["a"].max()])
    np.testing.assert_array_equal(model.decision_function(far), model.decision_function(ends))


@pytest.mark.parametrize(
    ("make", "named"),
    [
        (lambda: Density("cauchy"), "kind"),
        (lambda: Density(cells=3), "cells"),
        (lambda: weigh.AdjustedNB(bins=Density()).fit(*draw(1)), "AdjustedNB"),
        (lambda: EvidenceNB(bins=Density(), crosses=[("a", "b")]).fit(*draw(1)), "crosses"),
    ],
)
def test_what_a_density_cannot_be_is_named(make, named):
    with pytest.raises(ValueError, match=named):
        make()
