"""Passes: sums over blocks of coded rows, folds without copies, and how few passes a fit takes."""

import pickle
import tracemalloc
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from tests.designs import code, take
from threadpoolctl import threadpool_info

import weigh
from weigh import AdjustedNB, BoostedNB, engine
from weigh.adjusted.design import Design, DesignMatrix, SplitPoint
from weigh.adjusted.solve import OneAgainstRest, Polytomous
from weigh.bins import Placed
from weigh.engine import HELD_OUT, TRAIN, Block, CodedRows, Piecewise, Pile, Sums
from weigh.folds import Dealer, deal_small, group_splits, read_splits
from weigh.frames import Scan
from weigh.tally import Rows

MOST = 40
"""The passes that the search for a norm may take over rows that are far."""


def sum_weights(block):
    """The weight of the rows by class, and their number."""
    counts = np.bincount(block.labels, block.weight, 3).astype(np.float64)
    return Sums((counts, np.array(float(len(block)))))


def draw_rows(seed, n_rows=500):
    """Rows of three columns and three classes, weighted."""
    random = np.random.default_rng(seed)
    codes = [random.integers(0, 4, n_rows).astype(np.uint8) for _ in range(3)]
    return CodedRows(codes, random.integers(0, 3, n_rows), random.integers(1, 4, n_rows) / 4)


@pytest.mark.parametrize("workers", [1, 3])
@pytest.mark.parametrize("size", [1, 7, 10_000])
def test_a_sum_is_that_of_all_rows_whatever_the_blocks_and_threads(monkeypatch, size, workers):
    rows = draw_rows(0)
    monkeypatch.setattr("weigh.engine.passes.BLOCK", size)
    monkeypatch.setattr("weigh.engine.threads.workers", lambda: workers)
    found = rows.sum(sum_weights)
    np.testing.assert_array_equal(found.arrays[0], np.bincount(rows.labels, rows.weight))
    assert found.arrays[1] == rows.n_rows


class WeightPile(Pile):
    """The same as a pile: rows are added to what is there."""

    def begin(self):
        return Sums((np.zeros(3), np.zeros(())))

    def add(self, block, total):
        for array, more in zip(total.arrays, sum_weights(block).arrays, strict=True):
            array += more


@pytest.mark.parametrize("size", [1, 7, 10_000])
def test_a_pile_is_the_sum_of_all_rows_whatever_comes_at_a_time(monkeypatch, size):
    rows = draw_rows(0)
    monkeypatch.setattr("weigh.engine.passes.PILED", size)
    found = rows.sum(WeightPile())
    np.testing.assert_array_equal(found.arrays[0], np.bincount(rows.labels, rows.weight))
    assert found.arrays[1] == rows.n_rows
    assert rows.n_passes == 1


def test_a_block_knows_the_number_of_its_first_row(monkeypatch):
    monkeypatch.setattr("weigh.engine.passes.BLOCK", 70)
    numbers = lambda block: Sums((np.array(block.first + np.arange(len(block)).sum()),))  # noqa: E731
    starts = np.arange(0, 500, 70)
    inner = sum(np.arange(min(70, 500 - start)).sum() for start in starts)
    assert draw_rows(0).sum(numbers).arrays[0] == starts.sum() + inner


@pytest.mark.parametrize("n_folds", [2, 5, 300])
def test_folds_by_number_are_those_of_the_splits(n_folds):
    rows = draw_rows(1)
    dealt = rows.deal(n_folds, 3)
    every = np.ones(rows.n_rows, dtype=bool)
    splits = read_splits(n_folds, rows.labels, every, 3)
    assert dealt.roles.shape == (n_folds, n_folds)
    for k, (train, held_out) in enumerate(splits):
        role = dealt.roles[:, k][dealt.rows.groups]
        np.testing.assert_array_equal(role == HELD_OUT, held_out)
        np.testing.assert_array_equal(role == TRAIN, train)


def test_fractions_sum_to_the_same_bits_on_any_number_of_threads(monkeypatch):
    rows = CodedRows([], np.zeros(1000, np.uint8), np.random.default_rng(1).random(1000))
    monkeypatch.setattr("weigh.engine.passes.BLOCK", 13)
    found = []
    for workers in (1, 2, 5):
        monkeypatch.setattr("weigh.engine.threads.workers", lambda n=workers: n)
        found.append(rows.sum(sum_weights).arrays[0].tolist())
    assert found[0] == found[1] == found[2]


def test_everyone_who_shares_the_rows_counts_their_passes():
    rows = draw_rows(0)
    dealt = rows.deal(5, 0).rows
    rows.sum(sum_weights)
    dealt.sum(sum_weights)
    assert rows.n_passes == dealt.n_passes == 2


@settings(max_examples=25, deadline=None)
@given(data=st.data(), n_rows=st.integers(2, 30), n_splits=st.integers(1, 12))
def test_groups_say_of_every_row_what_each_split_made_of_it(data, n_rows, n_splits):
    seed = data.draw(st.integers(0, 2**32 - 1))
    roles = np.random.default_rng(seed).integers(0, 3, (n_rows, n_splits))
    splits = [(column == TRAIN, column == HELD_OUT) for column in roles.T]
    groups = group_splits(n_rows, splits)
    np.testing.assert_array_equal(groups.roles[groups.numbers], roles)
    assert len(np.unique(groups.roles, axis=0)) == len(groups.roles)


def test_levels_take_as_few_bytes_as_they_can_and_stay_where_they_are():
    placed = Placed(np.array([2, 0, 1, 2], dtype=np.int64), np.array([5, 1, 3]))
    rows = CodedRows.of([placed], np.zeros(4))
    assert rows.codes[0].tolist() == [3, 5, 1, 3]
    assert rows.codes[0].dtype == np.uint8
    laid = Placed(np.array([1, 0], dtype=np.uint8), np.arange(3))
    assert CodedRows.of([laid], np.zeros(2)).codes[0] is laid.codes


# ---------------------------------------------------------------- many questions, one pass


def draw_problem(kind, seed=3):
    random = np.random.default_rng(seed)
    rows = draw_rows(seed)
    dealt = rows.deal(4, 0)
    if kind is OneAgainstRest:
        tables = tuple(random.normal(size=(4, 1)) for _ in range(3))
        design = Design(tables, np.full(1, 0.2))
        return OneAgainstRest(DesignMatrix(rows, 3, design, (0, 1, 2)), of=2), dealt
    tables = tuple(random.normal(size=(4, 3)) for _ in range(3))
    design = Design(tables, random.normal(size=3))
    return Polytomous(DesignMatrix(rows, 3, design, (0, 1, 2)), shared=kind == "shared"), dealt


@pytest.mark.parametrize("room", [None, 11])
@pytest.mark.parametrize("kind", [OneAgainstRest, Polytomous, "shared"])
def test_a_fold_in_a_pass_over_all_rows_is_a_pass_over_its_rows_alone(monkeypatch, kind, room):
    problem, dealt = draw_problem(kind)
    if room is not None:
        monkeypatch.setattr("weigh.adjusted.solve.BLOCK", room)
        monkeypatch.setattr("weigh.adjusted.design.LEAST_ROWS", 1)
    random, folded = np.random.default_rng(0), problem.deal(dealt)
    points = random.normal(size=(4, problem.size))
    answers = folded.answer([SplitPoint(a, k % 2 == 0, k) for k, a in enumerate(points)])
    roles = dealt.roles[dealt.rows.groups]
    train, held_out = folded.split_weights
    for k, (a, found) in enumerate(zip(points, answers, strict=True)):
        alone, rest = (take(problem, roles[:, k] == role) for role in (TRAIN, HELD_OUT))
        there = alone.moments(a, True)
        assert found.loss == pytest.approx(there.loss, rel=1e-12)
        assert found.held_out == pytest.approx(rest.moments(a, False).loss, rel=1e-12)
        assert found.wrong == there.wrong
        np.testing.assert_allclose(found.gradient, there.gradient, rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(train[k], alone.class_weights, rtol=1e-12)
        np.testing.assert_allclose(held_out[k], rest.class_weights, rtol=1e-12)
        if k % 2 == 0:
            np.testing.assert_allclose(found.hessian, there.hessian, rtol=1e-9, atol=1e-12)
        else:
            assert found.hessian is None
    assert dealt.rows.n_passes == 2  # one of the answers, one of the weights


@pytest.mark.parametrize("kind", [OneAgainstRest, Polytomous, "shared"])
def test_derivatives_are_those_of_the_loss(kind):
    problem, _ = draw_problem(kind)
    at, step = np.random.default_rng(1).normal(size=problem.size), 1e-5
    here = problem.moments(at, True)
    for j, unit in enumerate(np.eye(problem.size)):
        ahead, behind = (problem.moments(at + s * step * unit, False) for s in (1, -1))
        assert here.gradient[j] == pytest.approx((ahead.loss - behind.loss) / (2 * step), rel=1e-5)
        bend = (ahead.gradient - behind.gradient) / (2 * step)
        np.testing.assert_allclose(here.hessian[j], bend, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("weighted", [False, True])
def test_the_loss_is_exact_where_rows_are_nearly_certain(weighted):
    totals = np.array([30.0, -25.0, 12.0, -0.1, 40.0, 3.0] * 100)
    y = (totals > 0).astype(float)
    weight = np.full(len(y), 1.0) if weighted else None
    loss = OneAgainstRest(code([totals[:, None]], y, weight)).moments(np.ones(1), False).loss
    assert loss == pytest.approx(np.logaddexp(0, -np.abs(totals)).sum(), rel=1e-13)


@pytest.mark.parametrize("kind", [OneAgainstRest, Polytomous, "shared"])
def test_a_statistic_can_be_sent_to_where_the_rows_are(monkeypatch, kind):
    problem, dealt = draw_problem(kind)
    sent, there = [], CodedRows.sum

    def sum_elsewhere(self, statistic):
        sent.append(len(pickle.dumps(statistic)))
        return there(self, pickle.loads(pickle.dumps(statistic)))

    monkeypatch.setattr("weigh.adjusted.design.MAX_CACHED_BLOCKS", 0)
    asks = [SplitPoint(np.ones(problem.size), True, k) for k in range(4)]
    here = problem.deal(dealt).answer(asks)
    monkeypatch.setattr(CodedRows, "sum", sum_elsewhere)
    for mine, theirs in zip(here, problem.deal(dealt).answer(asks), strict=True):
        np.testing.assert_array_equal(mine.hessian, theirs.hessian)
    assert 0 < max(sent) < 4000


# ---------------------------------------------------------------- few passes


def draw_table(seed, n_rows=1500, n_classes=2):
    """Dependent columns, text and numbers, whose classes overlap."""
    random = np.random.default_rng(seed)
    codes = random.integers(0, 4, (n_rows, 5))
    codes[:, 4] = np.where(random.random(n_rows) < 0.7, codes[:, 3], codes[:, 4])
    effects = random.normal(size=(5, 4, n_classes))
    logits = sum(effects[j][codes[:, j]] for j in range(5)) + random.gumbel(
        size=(n_rows, n_classes)
    )
    frame = pd.DataFrame(codes, columns=[*"abcde"]).astype(str)
    frame["x"] = logits[:, 0] + random.normal(size=n_rows)
    frame["y"] = logits.argmax(axis=1)
    return frame


@pytest.fixture
def reads(monkeypatch):
    """How often scans were read from the first batch on."""
    counted, batches = [], Scan.batches
    monkeypatch.setattr(Scan, "batches", lambda self: counted.append(1) or batches(self))
    return counted


@pytest.mark.parametrize(
    ("n_classes", "multiclass", "smoothing"),
    [(2, "ovr", 1.0), (2, "ovr", 0), (3, "softmax", 1.0), (3, "shared", 1.0)],
)
@pytest.mark.parametrize("seed", [0, 1])
def test_a_norm_is_chosen_in_few_passes_over_rows_that_are_far(
    tmp_path, reads, seed, n_classes, multiclass, smoothing
):
    frame = draw_table(seed, n_classes=n_classes)
    frame.to_parquet(tmp_path / "rows.parquet")
    learner = AdjustedNB(multiclass=multiclass, smoothing=smoothing, random_state=0)
    here = learner.fit(frame, "y")
    exponents, path = here.exponents_, here.norm_path_
    there = learner.fit(weigh.scan(tmp_path / "rows.parquet"), "y")
    assert there.n_passes_ + len(reads) <= MOST
    np.testing.assert_allclose(there.exponents_, exponents, atol=1e-6)
    np.testing.assert_allclose(there.norm_path_.norms, path.norms, rtol=1e-6)
    np.testing.assert_allclose(there.norm_path_.losses, path.losses, atol=1e-5)


def test_one_class_after_the_other_takes_few_passes_each(tmp_path):
    frame = draw_table(2, n_classes=3)
    frame.to_parquet(tmp_path / "rows.parquet")
    each = AdjustedNB(multiclass="ovr", random_state=0)
    model = clone(each).fit(weigh.scan(tmp_path / "rows.parquet"), "y")
    assert model.n_passes_ <= 3 * MOST
    exponents = each.fit(frame, "y").exponents_
    np.testing.assert_allclose(model.exponents_, exponents, atol=1e-6)


@pytest.mark.parametrize("norm", [None, 0.7, "cv"])
def test_exponents_have_the_same_bits_whatever_the_threads(monkeypatch, norm):
    frame = draw_table(4)
    monkeypatch.setattr("weigh.engine.passes.BLOCK", 100)
    found = []
    for workers in (1, 3):
        monkeypatch.setattr("weigh.engine.threads.workers", lambda n=workers: n)
        found.append(AdjustedNB(norm=norm, random_state=0).fit(frame, "y").exponents_.tolist())
    assert found[0] == found[1]


def test_a_block_of_rows_keeps_what_belongs_together():
    block = Block([np.arange(5)], np.arange(5) + 10, np.arange(5) + 20.0, np.arange(5) + 30)
    part = block.part(slice(1, 3))
    assert len(part) == 2
    assert [part.codes[0].tolist(), part.labels.tolist()] == [[1, 2], [11, 12]]
    assert [part.weight.tolist(), part.groups.tolist()] == [[21, 22], [31, 32]]


def test_rows_in_a_file_are_far_and_others_are_not(tmp_path):
    frame = draw_table(0, 50)
    frame.to_parquet(tmp_path / "rows.parquet")
    scan = weigh.scan(tmp_path / "rows.parquet")
    model = AdjustedNB(norm=None).fit(frame, "y")
    features = model.evidence_.features
    labels = np.zeros(50)
    assert CodedRows.of(engine.place(scan, features), labels).far
    assert not CodedRows.of(engine.place(weigh.frames.read(frame), features), labels).far


# ---------------------------------------------------------------- boosting


@pytest.mark.parametrize("bins", ["mdl", 4])
@pytest.mark.parametrize("combine", ["evidence", "vote"])
def test_boosting_is_the_same_from_files_and_from_memory(tmp_path, bins, combine):
    frame = draw_table(5, 600)
    frame.to_parquet(tmp_path / "rows.parquet")
    learner = BoostedNB(bins=bins, combine=combine, n_rounds=4, random_state=0)
    here = clone(learner).fit(frame, "y")
    there = clone(learner).fit(weigh.scan(tmp_path / "rows.parquet"), "y")
    for name in ("errors", "alphas", "losses", "held_out", "quality"):
        mine, theirs = (getattr(model.rounds_, name) for model in (here, there))
        np.testing.assert_allclose(mine, theirs, rtol=1e-12)
    X = frame.drop(columns="y")
    np.testing.assert_allclose(
        here.decision_function(X), there.decision_function(X), rtol=1e-9, atol=1e-12
    )


def test_a_round_takes_two_passes():
    frame = draw_table(6, 400)
    plain = partial(BoostedNB, bins=4, early_stopping=False, calibrate_scale=False)
    few, many = (plain(n_rounds=n).fit(frame, "y") for n in (2, 6))
    assert (len(few.rounds_), len(many.rounds_)) == (2, 6)
    assert many.n_passes_ - few.n_passes_ == 2 * (6 - 2)


def test_rows_that_carry_nothing_give_the_same_rounds_and_share_their_passes(monkeypatch):
    frame = draw_table(7, 300)
    learner = BoostedNB(bins=4, n_rounds=5, random_state=0)
    carried = clone(learner).fit(frame, "y")
    monkeypatch.setattr(CodedRows, "carrying", lambda self: self)
    shared = clone(learner).fit(frame, "y")
    for name in ("errors", "held_out", "losses"):
        mine, theirs = (getattr(model.rounds_, name) for model in (carried, shared))
        np.testing.assert_array_equal(mine, theirs)
    saved = carried.n_passes_ - shared.n_passes_
    assert saved == 2 * 5 * 5  # two a round, of five folds


def test_a_statistic_taken_in_pieces_is_that_of_the_block():
    rows = draw_rows(2)
    whole, pieces = rows.sum(sum_weights), rows.sum(Piecewise(sum_weights, 7))
    for mine, theirs in zip(whole.arrays, pieces.arrays, strict=True):
        np.testing.assert_array_equal(mine, theirs)


# ---------------------------------------------------------------- folds


@settings(max_examples=50, deadline=None)
@given(
    seed=st.integers(0, 2**32 - 1),
    n_rows=st.integers(1, 60),
    n_folds=st.integers(2, 70),
    together=st.integers(1, 80),
)
def test_folds_are_dealt_as_shuffled_classes_one_after_the_other(seed, n_rows, n_folds, together):
    labels = np.random.default_rng(seed).integers(0, 3, n_rows)
    order = np.random.RandomState(seed).permutation(n_rows)
    order = order[np.argsort(labels[order], kind="stable")]
    wanted = np.empty(n_rows, dtype=int)
    wanted[order] = np.arange(n_rows) % min(n_folds, n_rows)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("weigh.folds.ROWS", together)
        fold = deal_small(labels, n_folds, np.random.RandomState(seed))
    assert fold.tolist() == wanted.tolist()
    rows = CodedRows([], labels)
    dealt = rows.deal(n_folds, seed)
    grouped = group_splits(n_rows, [(wanted != k, wanted == k) for k in range(wanted.max() + 1)])
    assert dealt.rows.groups.tolist() == grouped.numbers.tolist()
    assert dealt.roles.tolist() == grouped.roles.tolist()


@settings(max_examples=60, deadline=None)
@given(
    seed=st.integers(0, 2**31 - 2),
    n_parts=st.integers(1, 4),
    n_folds=st.integers(2, 9),
    of=st.sampled_from([None, 0, 2]),
)
def test_folds_in_many_places_differ_by_one_row_in_every_class(seed, n_parts, n_folds, of):
    random = np.random.default_rng(seed)
    parts = [random.integers(0, 3, random.integers(0, 40)) for _ in range(n_parts)]
    numbers = {i: np.bincount(part, minlength=3) for i, part in enumerate(parts)}
    dealer = Dealer.of_numbers(numbers, n_folds, seed, of)
    nothing, folds = np.zeros(3, dtype=int), []
    for i, part in enumerate(parts):
        folds.append(dealer.deal(i, part, nothing))
        half = np.bincount(part[:15], minlength=3)  # blocks are dealt as the whole is
        assert dealer.deal(i, part[15:], half).tolist() == folds[-1][15:].tolist()
    fold, labels = np.concatenate(folds), np.concatenate(parts)
    classes = [labels == k for k in range(3)] if of is None else [labels == of, labels != of]
    for rows in [*classes, np.ones(len(labels), dtype=bool)]:
        counts = np.bincount(fold[rows], minlength=n_folds)
        assert counts.max() - counts.min() <= 1


def test_folds_in_many_places_follow_no_pattern_of_the_rows():
    labels = np.zeros(20_000, dtype=np.uint8)
    fold = Dealer.of_numbers({0: np.array([20_000])}, 5, seed=1).deal(0, labels, np.zeros(1, int))
    for every in (2, 5, 10):  # rows that come round have each fold about as often
        counts = np.bincount(fold[::every], minlength=5)
        assert abs(counts - 4000 / every).max() < 5 * np.sqrt(4000 / every)


def test_dealing_folds_takes_few_bytes_a_row():
    rows = CodedRows([], np.random.default_rng(0).integers(0, 2, 1_000_000).astype(np.uint8))
    tracemalloc.start()
    try:
        rows.deal(5, 0)
        assert tracemalloc.get_traced_memory()[1] < 10 * rows.n_rows
    finally:
        tracemalloc.stop()


# ---------------------------------------------------------------- BLAS threads, memory


def blas_threads():
    return {each["num_threads"] for each in threadpool_info() if each["user_api"] == "blas"}


@pytest.mark.parametrize("last", [0, 1])
def test_limits_of_blas_that_overlap_on_two_threads_end_with_the_last(last):
    before, contexts = blas_threads(), [engine.one_blas_thread() for _ in range(2)]
    with ThreadPoolExecutor(1) as one, ThreadPoolExecutor(1) as other:
        for pool, context in zip([one, other], contexts, strict=True):
            pool.submit(context.__enter__).result()
        for i in (1 - last, last):
            assert blas_threads() == {1}
            [one, other][i].submit(contexts[i].__exit__, None, None, None).result()
        assert blas_threads() == before


def test_limits_of_blas_on_many_threads_leave_no_limit():
    def enter(_):
        with engine.one_blas_thread():
            return blas_threads()

    before = blas_threads()
    with ThreadPoolExecutor(8) as pool:
        assert all(found == {1} for found in pool.map(enter, range(200)))
    assert blas_threads() == before


def test_the_counts_of_bytes_keep_no_table_of_each_block(monkeypatch):
    monkeypatch.setattr("weigh.engine.counts.BLOCK", 1 << 9)  # 118 blocks, tables of 1 MB
    monkeypatch.setattr("weigh.engine.threads.workers", lambda: 2)
    rng = np.random.default_rng(0)
    array, y = rng.integers(0, 5, (60_000, 10)).astype(np.uint8), rng.integers(0, 90, 60_000)
    model = weigh.EvidenceNB(categorical_features="all").fit(array, y)  # loads and compiles
    tracemalloc.start()
    model.fit(array, y)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert most < 40e6
    codes = np.bincount(5 * y + array[:, 3], minlength=450).reshape(90, 5).T
    np.testing.assert_array_equal(model.evidence_["x3"].counts, codes)


@pytest.mark.parametrize(("n_classes", "n_columns"), [(1, 1), (2, 40), (3, 7)])
def test_a_matrix_of_bytes_is_counted_as_its_columns_are(n_classes, n_columns):
    rng = np.random.default_rng(2)
    matrix = rng.choice(np.array([0, 1, 254, 255], np.uint8), (500, n_columns))
    rows = Rows(rng.integers(0, n_classes, 500), None, n_classes)
    counts = rows.count_bytes(matrix)
    for j, codes in enumerate(matrix.T):
        np.testing.assert_array_equal(counts[:, j].T, rows.count(codes, 256))


@pytest.mark.parametrize("largest", [2, 7, 8, 255])
@pytest.mark.parametrize("hidden", [0, 5])
@pytest.mark.parametrize(("n_classes", "n_columns"), [(1, 8), (2, 40), (4, 33), (5, 70), (2, 3)])
def test_few_codes_are_compared_as_others_are_counted(n_classes, n_columns, hidden, largest):
    rng = np.random.default_rng(3)
    wide = rng.integers(0, 8, (2_000, n_columns + hidden)).astype(np.uint8)
    wide[:, n_columns:] = 255  # between the rows of a matrix, and no part of it
    wide[700, 1] = largest  # in one batch only
    matrix = wide[:, :n_columns]
    rows = Rows(rng.integers(0, n_classes, 2_000).astype(np.uint8), None, n_classes)
    counts = rows.count_bytes(matrix)
    assert counts.sum() == matrix.size
    for j, codes in enumerate(matrix.T):
        np.testing.assert_array_equal(counts[:, j].T, rows.count(codes, 256))
