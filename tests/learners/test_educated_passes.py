"""How a fit of EducatedNB runs: the passes it counts, what it says when it stops, and threads."""

import pickle
import re

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning
from threadpoolctl import threadpool_limits

from weigh import EducatedNB, EducatedRegressor
from weigh.educated import kernels
from weigh.educated.design import Design, Source, Target
from weigh.educated.loo import LossSums
from weigh.educated.passes import LossDerivatives, RowsAtWeights, Tables
from weigh.engine import Block, CodedRows


def draw(seed=0, n_rows=400, n_columns=4):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, n_columns))
    y = (X[:, 0] * X[:, 1] + X[:, 2] + rng.normal(size=n_rows) > 0).astype(int)
    return X, y


@pytest.mark.parametrize("asked", [{}, {"pairs": 3}, {"monotonic_cst": {0: 1}}])
def test_every_look_at_the_rows_is_counted(monkeypatch, asked):
    calls, look = [], CodedRows._sum
    monkeypatch.setattr(CodedRows, "_sum", lambda *given: calls.append(1) or look(*given))
    model = EducatedNB(random_state=0, **asked).fit(*draw())
    assert model.n_passes_ == len(calls)
    assert 5 < model.n_passes_ < 60


@pytest.mark.parametrize(("n_classes", "bins"), [(2, "fine"), (3, 20), (4, 20)])
def test_a_fit_takes_few_passes_however_many_classes(n_classes, bins):
    X, _ = draw(2, n_rows=600)
    y = np.digitize(X[:, 0] + X[:, 1] ** 2, np.arange(n_classes - 1) + 0.5)
    # Two such classes are nearly separable: each division of the scales is a converged fit.
    assert EducatedNB(pairs=0, bins=bins).fit(X, y).n_passes_ <= 80


def test_products_with_the_hessian_of_a_wide_table_are_passes_too(monkeypatch):
    whole = EducatedNB(pairs=0, bins=8).fit(*draw())
    monkeypatch.setattr("weigh.educated.solve.FULL", 10)
    pieces = EducatedNB(pairs=0, bins=8).fit(*draw())
    assert pieces.n_passes_ > 2 * whole.n_passes_


@pytest.mark.parametrize("asked", [{"pairs": 0}, {"pairs": 2}, {"monotonic_cst": {0: 1}}])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_neither_blocks_nor_threads_change_the_model(monkeypatch, asked, n_classes):
    if n_classes > 2 and "monotonic_cst" in asked:
        return
    X, y = draw(3)
    y = y + (n_classes > 2) * (X[:, 3] > 1)
    whole = EducatedNB(bins=8, random_state=0, **asked).fit(X, y)
    found = []
    for workers in (1, 3):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("weigh.engine.passes.PILED", 150)
            for name in ("weigh.engine.passes.BLOCK", "weigh.engine.BLOCK"):
                patch.setattr(name, 64)
            patch.setattr("weigh.engine.threads.BLOCK", 64)
            patch.setattr("weigh.engine.threads.workers", lambda n=workers: n)
            found.append(EducatedNB(bins=8, random_state=0, **asked).fit(X, y))
    assert (found[0].decision_function(X) == found[1].decision_function(X)).all()
    np.testing.assert_allclose(
        found[0].decision_function(X), whole.decision_function(X), rtol=1e-6, atol=1e-6
    )
    assert found[0].n_passes_ == whole.n_passes_


def test_what_is_sent_to_the_rows_is_the_same_bytes_whether_or_not_it_was_used():
    design = Design((Source.of(0, 3), Source.of(1, 2)))
    view = RowsAtWeights(design, Target(np.ones(2)), np.zeros((6, 1)))
    look, judged = LossDerivatives(view, (0, 1)), LossSums((), 1)
    before = pickle.dumps((look, judged))
    rows = CodedRows([np.array([0, 1, 3]), np.array([1, 2, 0])], np.array([0, 1, 1]))
    rows.sum(look)
    assert pickle.dumps((look, judged)) == before


@pytest.mark.parametrize(
    ("where", "value", "words"),
    [
        ("fit.ENOUGH", 0.0, "relative gradient of .*divide sample_weight by its mean"),
        ("scales.UPDATES", 1, "scales still changed after 1 updates.*columns that repeat others"),
    ],
)
def test_a_fit_that_stops_early_says_so_and_what_to_do(monkeypatch, where, value, words):
    X, y = draw()
    EducatedNB(pairs=0, bins=8).fit(X, y)  # without a word
    monkeypatch.setattr(f"weigh.educated.{where}", value)
    with pytest.warns(ConvergenceWarning, match="EducatedNB has not converged: the") as said:
        model = EducatedNB(pairs=0, bins=8).fit(X, y)
    assert re.search(words, str(said[0].message))
    assert said[0].filename == __file__
    assert np.isfinite(model.decision_function(X)).all()


@pytest.mark.parametrize("asked", [{"pairs": 5}, {"monotonic_cst": {0: 1, 2: -1}}])
def test_the_number_of_threads_of_blas_changes_no_bit(asked):
    X, y = draw(1, n_rows=500, n_columns=6)
    found = []
    for n_threads in (1, 2):
        with threadpool_limits(n_threads, user_api="blas"):
            found.append(EducatedNB(random_state=0, **asked).fit(X, y))
    one, two = (model.evidence_ for model in found)
    np.testing.assert_array_equal(one.covariance, two.covariance)
    np.testing.assert_array_equal(*(model.decision_function(X) for model in found))
    assert found[0].loo_loss_ == found[1].loo_loss_


@pytest.mark.parametrize("family", ["gaussian", "gamma"])
def test_the_number_of_threads_of_blas_changes_no_bit_of_a_regressor(family):
    """From 10,000 rows on, OpenBLAS divides a dot product among threads."""
    rng = np.random.default_rng(0)
    X = rng.integers(0, 4, (40_000, 2)).astype(float)
    y = rng.gamma(2.0, np.exp(0.1 * X[:, 0] - 0.2 * X[:, 1]))
    found = []
    for n_threads in (1, 2):
        with threadpool_limits(n_threads, user_api="blas"):
            found.append(EducatedRegressor(pairs=0, family=family).fit(X, y))
    np.testing.assert_array_equal(*(model.predict(X) for model in found))
    assert found[0].dispersion_ == found[1].dispersion_


@pytest.mark.parametrize("n_columns", range(1, 9))
def test_sums_of_several_columns_at_once_are_those_of_each_to_the_bit(n_columns):
    """`np.add.at` adds one row after the other."""
    rng = np.random.default_rng(n_columns)
    sizes, n_rows = rng.integers(1, 6, n_columns), 500
    design = Design(tuple(Source.of(j, size) for j, size in enumerate(sizes.tolist())))
    codes = [rng.integers(0, size + 1, n_rows) for size in sizes]
    places, values = design.place(Block(codes, np.zeros(n_rows))), rng.normal(size=n_rows)
    out, wanted = np.zeros((2, design.starts[-1]))
    kernels.sum_rows(places, values, out)
    for line in places:
        np.add.at(wanted, line, values)
    np.testing.assert_array_equal(out, wanted)

    columns = tuple(range(n_columns))
    tables, local = Tables(design, columns, columns), places - np.array(design.starts)[:-1, None]
    folds, two = rng.integers(0, 2, n_rows), rng.normal(size=(n_rows, 2))
    out, cells = np.zeros(tables.size), np.zeros((2, tables.size, 2))
    every, n_weights = np.zeros(tables.size), design.n_weights
    halves, joined, matrix = np.zeros_like(cells), *np.zeros((2, n_weights, n_weights))
    for b in columns:
        strip = tables.strip(b)
        own = (places, b, strip.columns, strip.origins, strip.widths, values)
        kernels.sum_pairs(*own, out)
        kernels.sum_cells(places, b, strip.origins, strip.widths, folds, two, cells)
        for a, start, width in zip(strip.columns, strip.starts, strip.widths, strict=True):
            at = start + local[b] * width + local[a]
            np.add.at(every, at, values)
            np.add.at(halves, (folds, at), two)
            table = every[start : start + strip.height * width].reshape(strip.height, width)
            matrix[design.spans[b], design.spans[a]] = table[1:, 1:]
            matrix[design.spans[a], design.spans[b]] = table[1:, 1:].T
        ends = np.array([span.start for span in design.spans])
        kernels.join_tables(
            out, strip.starts, strip.widths, strip.height, ends[b], ends[:b], joined
        )
    np.testing.assert_array_equal(out, every)
    np.testing.assert_array_equal(cells, halves)
    np.testing.assert_array_equal(joined, matrix)
