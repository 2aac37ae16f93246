"""Pairs with finer cells: the evidence against a literal determinant, what is kept, sums, files."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import expit
from sklearn.metrics import log_loss

import weigh
from weigh import EducatedNB
from weigh.bins import Cross, Feature
from weigh.educated import refinement
from weigh.educated.pairs import VARIANCES
from weigh.educated.prior import prior_of
from weigh.educated.refinement import evidence_of_cells
from weigh.educated.segments import add_quantiles, coarse_levels, coarsen
from weigh.tally import Counts

LIGHT = settings(max_examples=15, deadline=None)
seeds = st.integers(0, 2**32 - 1)


def draw_order(seed=0, n_rows=3000, sharp=1.6):
    """Which of two numbers is the larger; further columns have no information."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(rng.random((n_rows, 4)), columns=["a", "b", "c", "d"])
    return X, (rng.random(n_rows) < expit(sharp * np.sign(X["a"] - X["b"]))).astype(int)


def cells_of(model):
    return {table.name: len(table.levels) for table in model.evidence_}["a & b"]


def make_pair(rng, n_left=6, n_right=5):
    """A pair of numeric columns with some cells without rows, and a coarse cell for each cell."""
    cuts = [tuple(np.arange(1.0, n)) for n in (n_left, n_right)]
    parts = tuple(Feature(name, cuts=own) for name, own in zip("ab", cuts, strict=True))
    grid = [(i, j) for i in range(n_left) for j in range(n_right) if rng.random() < 0.9]
    counts = rng.integers(1, 9, (len(grid), 2)).astype(float)
    left, right = np.array(grid).T
    return Counts(Cross(parts, tuple(grid)), counts), left // 2 * 10 + right // 2


@LIGHT
@given(seeds, st.integers(1, 3))
def test_the_evidence_is_that_of_a_gaussian_beside_free_effects_of_columns_and_coarse_cells(
    seed, n_totals
):
    rng = np.random.default_rng(seed)
    fine, coarse = make_pair(rng)
    n = len(coarse)
    sums = np.array([5 * rng.normal(size=(n_totals, n)), rng.uniform(0.1, 4, (n_totals, n))])
    (block,), _ = prior_of(fine.feature, fine.counts, 0)
    groups = [*np.array(fine.feature.pairs).T, coarse]
    known = np.hstack([(own[:, None] == np.unique(own)).astype(float) for own in groups])
    nats = np.zeros(len(VARIANCES))
    for g, v in zip(*sums, strict=True):
        # without the curvature that the known effects hold, of which some depend on others
        root = np.sqrt(v)[:, None]
        onto = root * known @ np.linalg.pinv(root * known)
        free = root * (np.eye(n) - onto) * root.T
        slope = g - root[:, 0] * (onto @ (g / root[:, 0]))
        for i, t in enumerate(VARIANCES):
            inner = block.matrix / t + free
            gain = slope @ np.linalg.solve(inner, slope)
            cost = np.linalg.slogdet(np.eye(n) + t * np.linalg.solve(block.matrix, free))[1]
            nats[i] += 0.5 * (gain - cost)
    assert evidence_of_cells(fine, coarse, sums) == pytest.approx(nats.max(), rel=1e-6, abs=1e-6)


def test_slopes_that_coarse_cells_explain_are_no_evidence():
    fine, coarse = make_pair(np.random.default_rng(0))
    curvature = np.random.default_rng(1).uniform(1, 4, len(coarse))
    slope = curvature * np.unique(coarse, return_inverse=True)[1]
    assert evidence_of_cells(fine, coarse, np.array([[slope], [curvature]])) <= 0
    noise = np.random.default_rng(2).normal(size=len(coarse)) * 9
    assert evidence_of_cells(fine, coarse, np.array([[slope + noise], [curvature]])) > 1


@LIGHT
@given(seeds)
def test_added_cut_points_divide_the_coarse_bins(seed):
    rng = np.random.default_rng(seed)
    counts = rng.integers(0, 9, (40, 2)).astype(float)
    counts[0, 0] += 1
    feature = Feature("a", cuts=tuple(np.arange(39.0)))
    few = coarsen(feature, counts)
    fine = add_quantiles(feature, counts, few, 15)
    assert set(few.cuts) <= set(fine.cuts) <= set(feature.cuts)
    assert len(few.cuts) < len(fine.cuts) <= 18
    within = coarse_levels(fine, few)
    assert np.array_equal(within[coarse_levels(feature, fine)], coarse_levels(feature, few))


def test_a_sharp_interaction_gets_finer_cells_and_predicts_new_rows_better(monkeypatch):
    X, y = draw_order()
    new, labels = draw_order(seed=1, n_rows=20_000)
    fine = EducatedNB(pairs=1).fit(X, y)
    monkeypatch.setattr("weigh.educated.selection.refine", lambda fit: fit)
    coarse = EducatedNB(pairs=1).fit(X, y)
    assert cells_of(coarse) <= 64 < cells_of(fine)
    assert fine.loo_loss_ < coarse.loo_loss_
    losses = [log_loss(labels, model.predict_proba(new)[:, 1]) for model in (fine, coarse)]
    assert losses[0] < 0.98 * losses[1]


def test_a_coarse_interaction_keeps_its_cells(monkeypatch):
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.integers(0, 40, (2000, 2)), columns=["a", "b"])
    high = (X["a"] >= 24) & (X["b"] >= 24)  # one of the cut points of five quantile bins
    y = (rng.random(2000) < np.where(high, 0.9, 0.2)).astype(int)
    fine = EducatedNB(pairs=[("a", "b")]).fit(X, y)
    monkeypatch.setattr("weigh.educated.selection.refine", lambda fit: fit)
    assert cells_of(EducatedNB(pairs=[("a", "b")]).fit(X, y)) == cells_of(fine)


def test_finer_cells_that_do_not_pay_are_dropped(monkeypatch):
    X, y = draw_order(n_rows=600, sharp=0.7)
    asked = []

    def take_all(found, room):
        asked.append(len(found))
        return {cut.names: cut for _, cut, _ in found}

    monkeypatch.setattr(refinement, "_take_best", take_all)
    monkeypatch.setattr(refinement, "SURE", 1e9)
    model = EducatedNB(pairs=[("a", "b")]).fit(X, y)
    assert asked == [1]
    assert cells_of(model) <= 64


def test_the_best_pairs_are_taken_until_there_is_no_room():
    X, y = draw_order(n_rows=300)
    model = EducatedNB(pairs=0).fit(X, y)
    parts = [table.feature for table in model.evidence_]
    found = []
    for k, nats in enumerate((3.0, 0.9, 9.0, 5.0)):
        cut = _Cut(frozenset([parts[k].name]))
        found.append((nats, cut, 100))
    assert [*refinement._take_best(found, 250)] == [frozenset("c"), frozenset("d")]
    assert len(refinement._take_best(found, 350)) == 3


class _Cut:
    def __init__(self, names):
        self.names = names


def test_finer_cells_of_a_model_are_saved_and_add_up(tmp_path):
    X, y = draw_order()
    model = EducatedNB(pairs=1).fit(X, y)
    weigh.save(model, path := tmp_path / "model.json")
    loaded = weigh.load(path)
    assert np.array_equal(loaded.predict_proba(X), model.predict_proba(X))
    sheet = model.balance_sheet(X.iloc[0].to_dict())
    assert expit(sheet.total) == pytest.approx(model.predict_proba(X.iloc[[0]])[0, 1], abs=1e-12)
