"""WeightedNB on rows that are not in memory: histograms against exact ranks."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import weigh
from weigh import WeightedNB
from weigh.base import read_sample
from weigh.weighted.auc import collapse, rank
from weigh.weighted.histograms import N_CELLS, binned_aucs, cell_of, histogram_auc
from weigh.weighted.search import SIGNS, Move

NEAR = 2e-3


def draw(seed, n_classes=2, n_rows=800):
    random = np.random.default_rng(seed)
    y = np.r_[np.arange(n_classes), random.integers(0, n_classes, n_rows - n_classes)]
    frame = pd.DataFrame(
        {
            name: np.where(random.random(n_rows) < 0.15 * j, y, random.integers(0, 5, n_rows))
            for j, name in enumerate("abcd", 1)
        }
    ).astype(str)
    frame["x"] = random.normal(size=n_rows) + 0.7 * y
    return frame, y, random.integers(1, 4, n_rows).astype(float)


def both_terms(seed, n_classes, held_out):
    """Rows to be ranked exactly, and the same rows to be ranked by histograms."""
    frame, y, weight = draw(seed, n_classes)
    model = WeightedNB(choose_on="cv" if held_out else "training")
    scored = model._score(read_sample(model, frame, y, weight), np.random.RandomState(seed))[1]
    return collapse(scored), scored


@pytest.mark.parametrize("held_out", [False, True])
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("seed", [0, 1])
def test_histograms_give_the_auc_up_to_the_pairs_of_one_cell(seed, n_classes, held_out):
    exact, far = both_terms(seed, n_classes, held_out)
    random, near = np.random.default_rng(seed), rank(exact, np.ones(5))
    weights, ones = random.random(5), np.ones(5)
    moves = [Move(ones), *(Move(ones, j, 0.3) for j in range(5)), Move(weights)]
    found = binned_aucs(far, moves)
    wanted = [near.auc, *(near.try_shift(j, 0.3) for j in range(5)), near.try_weights(weights)]
    assert found == pytest.approx(wanted, abs=NEAR)
    assert far.rows.n_passes == 1  # for all moves
    assert found == pytest.approx(
        [binned_aucs(far, [Move(move.end)])[0] for move in moves], abs=1e-12
    )


@pytest.mark.parametrize("n_classes", [2, 3])
def test_moves_that_have_no_room_in_one_pass_take_more(monkeypatch, n_classes):
    _, far = both_terms(0, n_classes, held_out=True)
    moves = [Move(np.ones(5), j, 0.1 * j) for j in range(5)]
    together = binned_aucs(far, moves)
    monkeypatch.setattr("weigh.weighted.histograms.MAX_CELLS_PER_PASS", 1)
    assert binned_aucs(far, moves) == together
    assert far.rows.n_passes == 1 + 5


def climb_one_by_one(terms, rule, walks):
    """The search as it is written: one walk after the other, each move scored on its own."""
    for walk in walks:

        def first_accepted(walk=walk):
            for place, move in enumerate(walk.moves()):
                (auc,) = binned_aucs(terms, [Move(move.end)])
                if rule.accepts(walk.steps[-1].auc, auc):
                    return place, auc
            return None

        while found := first_accepted():
            walk.accept(*found)


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("method", [*SIGNS, "mcmc", "monte_carlo"])
def test_walks_in_the_same_passes_go_where_each_would_go_alone(monkeypatch, method, n_classes):
    frame, y, _ = draw(0, n_classes, 300)
    monkeypatch.setattr("weigh.weighted.histograms.MAX_EXACT_ROWS", 0)
    learner = WeightedNB(method=method, random_state=0, tol=1e-4, bins=5)
    path, n_passes = learner.fit(frame, y).history_, learner.n_passes_
    monkeypatch.setattr("weigh.weighted.search._climb_in_shared_passes", climb_one_by_one)
    slow = learner.fit(frame, y)
    np.testing.assert_allclose(path.weights, slow.history_.weights, rtol=1e-12)
    np.testing.assert_allclose(path.tried, slow.history_.tried, atol=1e-12)
    assert len(path.auc) > 2
    assert 3 * n_passes < slow.n_passes_


@settings(max_examples=50, deadline=None)
@given(
    scores=st.lists(st.floats(-1e4, 1e4), min_size=2, max_size=30),
    seed=st.integers(0, 2**32 - 1),
)
def test_the_auc_is_off_by_no_more_than_half_the_pairs_of_one_cell(scores, seed):
    scores = np.array(scores)
    labels = np.random.default_rng(seed).integers(0, 2, len(scores))
    labels[:2] = 0, 1
    cells = cell_of(scores)
    counts = np.zeros((1, N_CELLS, 2))
    np.add.at(counts[0], (cells, labels), 1.0)
    pairs = [(a, b) for a in np.flatnonzero(labels == 1) for b in np.flatnonzero(labels == 0)]
    exact = np.mean([(scores[a] > scores[b]) + (scores[a] == scores[b]) / 2 for a, b in pairs])
    tied = np.mean([cells[a] == cells[b] for a, b in pairs])
    assert abs(histogram_auc(counts) - exact) <= tied / 2 + 1e-12


@settings(max_examples=50, deadline=None)
@given(score=st.floats(-1e5, 1e5))
def test_cells_are_as_narrow_as_is_said(score):
    apart = 0.002 * max(1.0, abs(score))
    first, second = cell_of(np.array([score, score + 1.001 * apart]))
    assert second > first


@pytest.mark.parametrize("choose_on", ["cv", "training"])
def test_a_search_over_files_ends_with_as_good_a_ranking(tmp_path, monkeypatch, choose_on):
    frame, y, _ = draw(3, n_rows=1500)
    frame["y"] = y
    frame.to_parquet(tmp_path / "rows.parquet")
    scan = weigh.scan(tmp_path / "rows.parquet")
    fit = WeightedNB(choose_on=choose_on, random_state=0).fit
    few = fit(scan, "y").weights_
    exact = fit(frame, "y")
    np.testing.assert_array_equal(few, exact.weights_)  # few rows are ranked exactly
    auc = exact.auc_
    monkeypatch.setattr("weigh.weighted.histograms.MAX_EXACT_ROWS_IN_FILES", 1000)
    assert fit(scan, "y").auc_ == pytest.approx(auc, abs=NEAR)
