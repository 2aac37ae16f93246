"""pairs: the ranking against a literal version, what is found and what is not, sheets, files."""

from dataclasses import replace
from itertools import combinations
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import expit
from sklearn.metrics import log_loss
from tests.model_files import validate

import weigh
from weigh import EducatedNB, EducatedRegressor
from weigh.bins import Feature
from weigh.educated import pairs as pairs_module
from weigh.educated.acceptance import PairTest
from weigh.educated.candidates import Selected, cut_columns, find_worths
from weigh.educated.design import Design, Source, Target
from weigh.educated.halves import fit_halves, halve
from weigh.educated.loo import loosen
from weigh.educated.pairs import (
    MARGIN,
    VARIANCES,
    CutFeature,
    Ways,
    _score,
    count_pairs,
    evidence_of_pairs,
    rank_pairs,
)
from weigh.educated.passes import RowsAtWeights
from weigh.educated.scales import find_scales
from weigh.educated.segments import coarsen, is_coarse
from weigh.educated.selection import PairSearch, _agree, select_pairs
from weigh.educated.solve import PRECISE, find_weights, state_at
from weigh.educated.task import PairRequest, Task, narrow, problem_of
from weigh.engine import Block, CodedRows, code_rows
from weigh.frames import label_sample, read
from weigh.tally import Rows
from weigh.tally import count_pairs as count_table

LIGHT = settings(max_examples=15, deadline=None)
seeds = st.integers(0, 2**32 - 1)


def names_of(model):
    return [table.name for table in model.evidence_]


def draw_xor(seed=0, n_rows=600, n_more=3):
    """Two numbers that tell only together, and more that tell nothing."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, 2 + n_more))
    y = (X[:, 0] * X[:, 1] + 0.3 * rng.normal(size=n_rows) > 0).astype(int)
    return pd.DataFrame(X, columns=["a", "b", *(f"n{j}" for j in range(n_more))]), y


def add_up(sheet):
    return sheet.prior + sum(item.weight for item in sheet.items)


# ---------------------------------------------------------------- the ranking


def cells_alone(left, right, slope, curvature):
    """Sums of slopes and curvatures by cell of two columns of 3 levels.

    What the best weights of each column alone would take of the slopes is taken out: by weighted
    least squares, row by row.
    """
    hot = np.column_stack([np.eye(3)[left], np.eye(3)[right]])
    alone = np.linalg.pinv(hot.T @ (curvature[:, None] * hot)) @ (hot.T @ slope)
    slope, cells = slope - curvature * (hot @ alone), 3 * left + right
    return np.array([np.bincount(cells, own, 9) for own in (slope, curvature)])


def literal_evidence(cells):
    """The rise of the log marginal likelihood, cell by cell."""
    tried, free = [], 2 * 2 / (3 * 3)
    for t in VARIANCES:
        nats = 0.0
        for G, V in cells.T:
            nats += 0.5 * (G**2 / (V + 1 / t) - free * np.log(1 + t * V))
        tried.append(nats)
    return max(tried)


def literal_saving(mine, other):
    """What small weights of some rows save in the loss of others, cell by cell."""
    saved = 0.0
    for (g, v), (G, V) in zip(mine.T, other.T, strict=True):
        w = g / (v + 1 / min(VARIANCES))
        saved += w * G - 0.5 * w**2 * V
    return saved


@pytest.mark.parametrize("room", [1 << 22, 1])
@LIGHT
@given(seed=seeds, n_classes=st.integers(2, 3))
def test_pairs_are_ranked_by_evidence_of_each_half_and_of_all_rows(room, seed, n_classes):
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, 3, (200, 4))
    labels = (codes[:, 0] == codes[:, 1]).astype(int) + (n_classes > 2) * rng.integers(0, 2, 200)
    parts = [CutFeature(Feature(f"x{j}", values=(0, 1, 2)), Source.of(j, 3)) for j in range(4)]
    weight, salts = rng.uniform(0.5, 2, 200), (1, 2, 3, 4)
    rows = CodedRows([*np.ascontiguousarray(codes.T)], labels, weight)
    target = Target(np.bincount(labels, weight, n_classes))
    design = Design(tuple(part.source for part in parts))
    view = RowsAtWeights(design, target, rng.normal(size=(13, target.n_totals)))
    block = Block(rows.codes, labels, weight)
    moments, half = view.moments(block, design.place(block)), halve(block, salts)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pairs_module, "ROOM", room)
        found = evidence_of_pairs(parts, rows, view, salts)
        passes = rows.n_passes
        ranked = rank_pairs(Ways((parts,)), rows, view, salts)
    assert passes == (1 if room > 1 else 3)
    assert {*found} == {*combinations(range(4), 2)}
    for (i, j), nats in found.items():
        literal = np.zeros(5)
        for s, c in zip(moments.slope.T, moments.curvature.T, strict=True):
            one, other, both = (
                cells_alone(codes[some, i], codes[some, j], s[some], c[some])
                for some in (half == 0, half == 1, half < 2)
            )
            literal[:3] += [literal_evidence(own) for own in (one, other, both)]
            literal[3:] += literal_saving(one, other), literal_saving(other, one)
        assert nats == pytest.approx(literal, rel=1e-6, abs=1e-6)  # slopes are taken out in turn
    for group, order in enumerate(ranked):
        own = [found[tuple(p.source.features[0] for p in pair.parts)] for pair in order]
        nats = [pair.nats for pair in order]
        assert nats == [each[group] for each in own] == sorted(nats, reverse=True)
        if group < 2:
            assert [pair.saved for pair in order] == [each[3 + group] for each in own]


def test_segments_count_for_less_by_what_they_owe_to_the_labels_that_cut_them():
    """Ways of one pair: two plain, then segments by the first half, the second, and all rows."""
    first, second, whole = 12.0, 11.0, 30.0
    nats = np.array([[[3.0, 4.0, 8.0]], [[5.0, 1.0, 7.0]], [[first, 6.0, 9.0]],
                     [[7.0, second, 9.0]], [[9.0, 9.0, whole]]])  # fmt: skip
    owed = (first + second) - (6.0 + 7.0)
    found = [_score(nats, 2, group)[:, 0].tolist() for group in range(3)]
    assert found[0] == [3.0, 5.0, first - MARGIN]
    assert found[1] == [4.0, 1.0, second - MARGIN]
    assert found[2] == [8.0, 7.0, whole - MARGIN - owed]


@pytest.mark.parametrize("bins", [6, "fine"])  # primal and dual
def test_halves_are_fitted_by_one_newton_step_from_all_rows(bins):
    """Dense: the Hessian of a half is its share of the whole."""
    X, y = draw_xor(1, n_rows=300, n_more=1)
    sample = label_sample(read(X), y, None)
    tally = EducatedNB(pairs=0, bins=bins)._tally(sample)
    coded = code_rows(sample, [t.feature for t in tally.tables])
    problem = problem_of(Task(coded, tally.tables, Target(tally.class_counts)))
    assert problem.dual == (bins == "fine")
    state, salts = find_scales(problem).state, (1, 2, 3)
    half, n = halve(problem.block, salts), problem.n_weights
    D = problem.design.totals(problem.design.place(problem.block), np.eye(n))
    p, P = expit(D @ state.weights[:, 0]), np.zeros((n, n))
    problem.prior.add_to(P, state.scales, np.arange(n))
    H = D.T @ ((p * (1 - p))[:, None] * D)
    for own, found in enumerate(fit_halves(state, salts)):
        some = half == own
        pull = problem.prior.apply(state.weights, state.scales)
        gradient = D[some].T @ (p - y)[some] + pull[:, 0]
        share = some.mean()
        held = P / share  # but for the means of walks, which are held as before
        for centre in problem.prior.centres:
            at = np.ix_(centre.places, centre.places)
            held[at] += (1 - 1 / share) * centre.strength * np.outer(centre.shares, centre.shares)
        step = np.linalg.solve(H + held, gradient) / share
        np.testing.assert_allclose(found[:, 0], state.weights[:, 0] - step, atol=1e-6)


def test_a_rule_in_the_tail_of_a_column_is_found_by_segments():
    rng = np.random.default_rng(1)
    X = pd.DataFrame(np.exp(rng.normal(size=(3000, 3))), columns=["a", "b", "c"])
    X["d"] = rng.choice([*"uv"], 3000)
    rule = (X["a"] < np.exp(-1.5)) & (X["d"] == "u")
    y = (rng.random(3000) < np.where(rule, 0.8, 0.05)).astype(int)
    model = EducatedNB().fit(X, y)
    (pair,) = model.pairs_
    assert pair.columns == ("a", "d")
    cuts = model.evidence_["a & d"].feature.parts[0].cuts
    assert np.abs(np.log(cuts) + 1.5).min() < 0.05


def test_halves_follow_from_the_levels_of_a_row_and_the_names_of_columns():
    rng = np.random.default_rng(0)
    codes, labels = [*rng.integers(0, 9, (4, 5000))], np.zeros(5000, dtype=int)
    half = halve(Block(codes, labels), (5, 6, 7, 8))
    order = rng.permutation(5000)
    again = halve(Block([codes[j][order] for j in (2, 0, 3, 1)], labels), (7, 5, 8, 6))
    assert (again == half[order]).all()
    assert abs(half.mean() - 0.5) < 0.03


@pytest.mark.parametrize("missing", ["level", "skip"])
@LIGHT
@given(seed=seeds)
def test_pairs_are_counted_and_coded_as_the_table_itself_would_have_them(missing, seed):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame({"x": rng.normal(size=150), "c": rng.choice([*"abc"], 150)})
    frame.loc[rng.random(150) < 0.2, "x"], frame.loc[rng.random(150) < 0.2, "c"] = np.nan, None
    y, weight = rng.integers(0, 2, 150), rng.integers(0, 3, 150).astype(float)
    sample = label_sample(read(frame), y, weight)
    tables = EducatedNB(pairs=0, missing=missing)._tally(sample).tables
    rows = code_rows(sample, [t.feature for t in tables])
    parts = tuple(
        CutFeature.of(t.feature, j, coarsen(t.feature, t.counts)) for j, t in enumerate(tables)
    )
    target = Target(np.bincount(y, weight))
    ((counts, source),) = count_pairs([parts], rows, target)
    literal = count_table(
        tuple(p.feature for p in parts), sample.table, Rows(sample.labels, sample.weight, 2)
    )
    assert counts.feature == literal.feature
    np.testing.assert_array_equal(counts.counts, literal.counts)
    found = source.levels[rows.codes[0].astype(int) * source.width + rows.codes[1]]
    placed = counts.feature.read(sample.table)
    np.testing.assert_array_equal(found, placed.levels[placed.codes])


# ---------------------------------------------------------------- coarse levels


@LIGHT
@given(seeds, st.integers(1, 40))
def test_coarse_intervals_are_unions_of_the_features_and_hold_about_equal_rows(seed, n):
    counts = np.random.default_rng(seed).integers(1, 9, (n + 1, 2)).astype(float)
    fine = Feature("x", cuts=tuple(map(float, range(n))))
    coarse = coarsen(fine, counts)
    assert {*coarse.cuts} <= {*fine.cuts}
    assert len(coarse.levels) <= 5 or coarse == fine
    assert coarse == fine or len(fine.cuts) >= 5
    if n >= 20:
        level = np.searchsorted(coarse.cuts, [*fine.cuts, np.inf])
        share = np.bincount(level, counts.sum(axis=1)) / counts.sum()
        assert len(share) == 5
        assert share.max() < 0.2 + counts.sum(axis=1).max() / counts.sum()


def test_intervals_without_a_row_are_left_as_they_are():
    fine = Feature("x", values=(-1,), cuts=tuple(map(float, range(9))))
    assert coarsen(fine, np.vstack([np.zeros((10, 2)), np.ones((1, 2))])) == fine


def test_categories_of_many_levels_and_features_of_one_are_in_no_pair():
    assert [is_coarse(Feature("c", values=tuple(range(n)))) for n in (1, 2, 16, 17)] == [
        False, True, True, False,
    ]  # fmt: skip


# ---------------------------------------------------------------- what is found


@pytest.mark.parametrize("seed", range(3))
def test_what_two_columns_tell_only_together_is_found(seed):
    X, y = draw_xor(seed)
    plain = EducatedNB(pairs=0).fit(X, y)
    model = EducatedNB(pairs=1, random_state=0).fit(X, y)
    assert names_of(model) == [*X.columns, "a & b"]
    assert plain.score(X, y) < 0.65 < 0.75 < model.score(X, y)
    assert model.loo_loss_ < 0.8 * plain.loo_loss_
    assert len(model.scales_) == 6
    new, labels = draw_xor(seed + 100)
    assert model.score(new, labels) > 0.7


@pytest.mark.parametrize("pairs", [1, "auto"])
def test_no_pair_is_kept_of_noise(pairs):
    """One set in twenty by chance: of 20 sets more than 3 with a probability of 1.6%."""
    kept = 0
    for seed in range(20):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(400, 4))
        y = (rng.random(400) < expit(X[:, 0])).astype(int)
        model = EducatedNB(pairs=pairs, bins=10).fit(X, y)
        kept += len(model.evidence_) > 4
        if len(model.evidence_) == 4 and seed < 3:
            plain = EducatedNB(bins=10, pairs=0).fit(X, y)
            assert (model.predict_proba(X) == plain.predict_proba(X)).all()
    assert kept <= 3


def test_pairs_of_many_classes_are_found_jointly_and_refused_one_by_one():
    X, y = draw_xor(3, n_more=1)
    y = y + (X["n0"] > 0.7)
    model = EducatedNB(pairs=1, bins=8, random_state=0).fit(X, y)
    assert names_of(model)[-1] == "a & b"
    sheet = model.balance_sheet(X.iloc[[0]], pos_label=0, against=2)
    p = model.predict_proba(X.iloc[[0]])[0]
    assert add_up(sheet) == pytest.approx(np.log(p[0] / p[2]))
    with pytest.raises(ValueError, match="pairs are found for all classes at once"):
        EducatedNB(pairs=1, multiclass="ovr").fit(X, y)


@pytest.mark.parametrize(
    ("asked", "named"),
    [
        *(({"pairs": wrong}, "pairs must be") for wrong in (-1, 1.0, "2", True, None, {"a": "b"})),
        ({"pairs": [("a", "q")]}, "pairs names 'q'"),
        ({"pairs": [("a", "a")]}, "pairs joins 'a'"),
        ({"pairs": ["ab"]}, "pairs must list pairs of columns"),
        ({"pairs": [("a", "town")]}, "pairs names 'town', which cannot be paired"),
        ({"pairs": [("a", "b")], "unpaired": ["b"]}, "pairs names 'b', which cannot be paired"),
        ({"pairs": [("a", "b")], "monotonic_cst": {"a": 1}}, "pairs names 'a'"),
        ({"unpaired": ["q"]}, "unpaired names 'q'"),
    ],
)
def test_pairs_that_cannot_be_are_refused_by_name(asked, named):
    X, y = draw_xor()
    X["town"] = [f"t{i % 40}" for i in range(len(X))]
    with pytest.raises(ValueError, match=named):
        EducatedNB(**asked).fit(X, y)


def test_more_pairs_than_there_are_is_all_of_them_or_none():
    X, y = draw_xor(4, n_more=1)
    assert len(EducatedNB(pairs=50, random_state=0).fit(X, y).evidence_) == 6
    for pairs in (5, "auto"):
        assert names_of(EducatedNB(pairs=pairs).fit(X[["a"]], y)) == ["a"]


@pytest.mark.parametrize("n_classes", [2, 3])
def test_auto_finds_what_two_columns_tell_only_together(n_classes):
    X, y = draw_xor(11, n_rows=900)
    y = y + (n_classes > 2) * (X["n0"] > 0.7)
    model = EducatedNB(bins=8).fit(X, y)
    (first, *_) = model.pairs_
    assert first.columns == ("a", "b")
    assert first.gain > 0.1
    each = EducatedNB(bins=8, unpaired="a").fit(X, y)
    assert not any("a" in pair.columns for pair in each.pairs_)


def draw_hidden(seed, n_rows=3_000):
    """Columns c and d copy a and b in four rows of five; c & d works against a & b."""
    rng = np.random.default_rng(seed)
    a, b = rng.choice([-1, 1], size=(2, n_rows))
    c, d = (np.where(rng.random(n_rows) < 0.2, -own, own) for own in (a, b))
    y = (rng.random(n_rows) < expit(2 * a * b - 1.05 * c * d)).astype(int)
    return pd.DataFrame({"a": a, "b": b, "c": c, "d": d}).astype(str), y


@pytest.mark.parametrize("seed", range(3))
def test_a_second_round_finds_a_pair_that_another_pair_hides(seed, monkeypatch):
    X, y = draw_hidden(seed)
    alike = X["c"] == X["d"]
    assert abs(y[alike].mean() - y[~alike].mean()) < 0.05  # c & d says nothing alone
    model = EducatedNB().fit(X, y)
    assert [pair.columns for pair in model.pairs_[:2]] == [("a", "b"), ("c", "d")]
    monkeypatch.setattr(PairSearch, "look", lambda search: search.add_to(None, search.rank(None)))
    once = EducatedNB().fit(X, y)
    assert ("c", "d") not in [pair.columns for pair in once.pairs_]
    assert model.loo_loss_ < once.loo_loss_ - 0.01


@pytest.mark.parametrize(
    ("few", "losses", "kept"),
    [
        (True, [0.5, 0.4, 0.3, None], 0.3),
        (True, [0.5, 0.4, 0.45, 0.1], 0.4),
        (True, [0.5, 0.1, 0.05, 0.04], 0.05),  # the third fitted all pairs
        (False, [0.5, 0.4, 0.3], 0.4),
        (False, [0.1, 0.05, 0.04], 0.05),
        (True, [None], None),
    ],
)
def test_rounds_go_on_while_the_fit_improves_and_pairs_are_left(few, losses, kept, monkeypatch):
    """Each round leaves a loss; below 0.25 bits, rows are nearly certain and all pairs tried."""
    fits = [own and SimpleNamespace(held_out=SimpleNamespace(mean=own)) for own in losses]
    test = SimpleNamespace(
        few=few,
        task=SimpleNamespace(target=SimpleNamespace(noisy=False)),
        beside=lambda fit: SimpleNamespace(certain=fit is not None and fit.held_out.mean < 0.25),
    )
    told = iter(fits)
    monkeypatch.setattr(PairSearch, "rank", lambda *given: [])
    monkeypatch.setattr(PairSearch, "add_to", lambda *given: next(told))
    found = PairSearch(test, Ways(((),), ())).look()
    assert (found and found.held_out.mean) == kept


@pytest.mark.parametrize(("dropped", "n_kept"), [("a", 2), ("n0", 1)])
def test_pairs_are_kept_if_dropping_them_costs_over_a_nat_each(dropped, n_kept, monkeypatch):
    X, y = draw_xor(2, n_rows=400)
    named = tuple(map(frozenset, [("a", "b"), ("n0", "n1")]))
    task = Task(*literal_task(X, y), request=PairRequest())
    state, held_out = loosen(find_scales(problem_of(task)).state)
    salts = tuple(range(len(task.counts)))
    test = PairTest(task, state, held_out, salts)
    *_, ranked = PairSearch(test, cut_columns(task, state, salts)).rank(None)

    def keep(fit, most):
        return [k for k, own in enumerate(fit.candidates) if dropped not in own.names]

    monkeypatch.setattr(Selected, "find_earning", keep)
    found = test.accept([own for own in ranked if own.names in named])
    assert len(found.candidates) == n_kept


def test_at_most_so_many_pairs_earn_their_place_and_the_largest_first():
    X, y = draw_xor(2, n_rows=400)
    named = tuple(map(frozenset, [("a", "n0"), ("a", "b"), ("b", "n1")]))
    task = Task(*literal_task(X, y), request=PairRequest(3, named))
    found = select_pairs(task, *loosen(find_scales(problem_of(task)).state))
    order = [pair.names for pair in found.candidates]
    (first,) = found.find_earning(1)
    assert order[first] == frozenset("ab")
    assert first in found.find_earning(3)


ENOUGH, CLEARLY, BARELY = (12.0, 4.0), (8.0, 2.0), (8.0, 3.0)
"""Gains in nats and their standard errors, where ten nats are asked for."""


@pytest.mark.parametrize(
    ("gain", "crossed", "kept"),
    [
        (ENOUGH, (0.5, 4.0), True),
        (ENOUGH, (-0.5, 4.0), False),
        (CLEARLY, (7.0, 2.0), True),
        (CLEARLY, (5.0, 2.0), False),
        (CLEARLY, (0.9, 0.2), False),
        (CLEARLY, None, False),
        (BARELY, (12.0, 1.0), False),
    ],
)
def test_a_gain_below_one_nat_a_pair_is_enough_if_it_is_clear_in_the_other_half_too(
    gain, crossed, kept, monkeypatch
):
    X, y = draw_xor(2, n_rows=400)
    task = Task(*literal_task(X, y), request=PairRequest())
    state, held_out = loosen(find_scales(problem_of(task)).state)
    salts = tuple(range(len(task.counts)))
    test = PairTest(task, state, held_out, salts)
    *halves, ranked = PairSearch(test, cut_columns(task, state, salts)).rank(None)
    told = iter([gain, crossed])
    monkeypatch.setattr(PairTest, "_compare", lambda *given: next(told))
    monkeypatch.setattr(PairTest, "_least", lambda *given: 10.0)
    found = test.accept(ranked[:3], [half[:3] for half in halves] if crossed else ())
    assert (found is not None) == kept


def rank_by(nats, saved):
    """Candidates, the best first, with what they save in the other half of the rows."""
    found = [
        SimpleNamespace(names=frozenset({i}), nats=own, saved=more)
        for i, (own, more) in enumerate(zip(nats, saved, strict=True))
    ]
    return sorted(found, key=lambda own: -own.nats)


@pytest.mark.parametrize(("shared", "low", "high"), [(0.0, 0.0, 0.1), (0.7, 0.9, 1.0)])
def test_halves_agree_by_what_pairs_are_and_seldom_by_noise(shared, low, high):
    """A pair saves what the slopes of both halves, in one cell, have in common."""
    rng = np.random.default_rng(0)
    told = []
    for _ in range(200):
        real = shared * rng.normal(size=300)
        one, other = (real + rng.normal(size=300) for _ in range(2))
        halves = [rank_by(own**2, one * other) for own in (one, other)]
        told.append(_agree(halves, []))
    assert low <= np.mean(told) <= high


def test_halves_are_not_asked_about_pairs_of_sure_evidence_or_about_few():
    strong = np.linspace(5, -1, 200)
    half = rank_by(strong, strong > 1)
    assert _agree([half, half], [])
    assert not _agree([half, half], half[:170])  # thirty are left
    assert not _agree([half, half], half[:150])  # and fifty that save nothing


@pytest.mark.parametrize("learner", [EducatedNB, EducatedRegressor])
def test_a_pair_that_is_asked_for_is_found_whatever_the_names_where_few_rows_differ(learner):
    """With eight different rows, one half may hold rows that hide the pair: here with c6."""
    for k in range(5, 8):
        rng = np.random.default_rng(k)
        codes = rng.integers(0, 2, (4000, 3))
        y = rng.random(4000) < np.where(codes[:, 0] == codes[:, 1], 0.2, 0.8)
        X = pd.DataFrame(codes, columns=[f"{c}{k}" for c in "abc"]).astype(str)
        (pair,) = learner(pairs=1).fit(X, y.astype(int)).pairs_
        assert pair.columns == (f"a{k}", f"b{k}")


def draw_rule(n_rows, seed):
    """Rows whose class three columns decide, but for one cell of two others; and five of noise."""
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, 3, (n_rows, 10))
    codes[:, 3:5] = rng.integers(0, 9, (n_rows, 2))
    total = codes[:, :3] @ [3, 2, 1] - 5.6 + 6 * ((codes[:, 3] == 0) & (codes[:, 4] == 2))
    return pd.DataFrame(codes, columns=[*"abcdefghij"]).astype(str), (total > 0).astype(int)


def test_the_first_pairs_are_tried_where_rows_are_nearly_certain():
    """Slopes are close to zero there, so that neither their evidence nor halves of rows agree."""
    (X, y), (new, truth) = draw_rule(2000, 2), draw_rule(2000, 3)
    alone, model = EducatedNB(pairs=0).fit(X, y), EducatedNB().fit(X, y)
    assert alone.loo_loss_ < 0.15
    assert ("d", "e") in [pair.columns for pair in model.pairs_]
    found = [log_loss(truth, one.predict_proba(new)[:, 1]) for one in (model, alone)]
    assert found[0] < 0.2 * found[1]


def test_auto_does_not_depend_on_the_order_of_rows_or_columns():
    X, y = draw_xor(5)
    model = EducatedNB(pairs="auto").fit(X, y)
    order = np.random.default_rng(0).permutation(len(X))
    for again in (
        EducatedNB(pairs="auto").fit(X.iloc[order], y[order]),
        EducatedNB(pairs="auto").fit(X[[*X.columns[::-1]]], y),
    ):
        assert {frozenset(p.columns) for p in again.pairs_} == {
            frozenset(p.columns) for p in model.pairs_
        }
        np.testing.assert_allclose(again.predict_proba(X[[*again.feature_names_in_]]),
                                   model.predict_proba(X), atol=1e-6)  # fmt: skip


@pytest.mark.parametrize(("n_rows", "bins"), [(300, 6), (300, "fine"), (70, 3)])
def test_a_weight_of_two_is_a_row_given_twice(n_rows, bins):
    X, y = draw_xor(5, n_rows)
    twice = EducatedNB(bins=bins).fit(pd.concat([X, X]), np.concatenate([y, y]))
    heavy = EducatedNB(bins=bins).fit(X, y, np.full(len(y), 2.0))
    assert twice.pairs_
    assert [p.columns for p in twice.pairs_] == [p.columns for p in heavy.pairs_]
    np.testing.assert_allclose(twice.predict_proba(X), heavy.predict_proba(X), atol=1e-9)


def test_named_pairs_are_kept_whether_they_help_or_not():
    X, y = draw_xor(2)
    model = EducatedNB(pairs=[("n0", "n1"), ("b", "a"), ("a", "b")]).fit(X, y)
    assert names_of(model)[5:] == ["a & b", "n0 & n1"]
    assert [pair.columns for pair in model.pairs_] == [("a", "b"), ("n0", "n1")]
    assert model.pairs_[0].gain > 0.1 > model.pairs_[1].gain


def test_the_gain_is_what_leave_one_out_loses_without_the_pair():
    """Each row left out in turn, of rows so few that this can be done."""
    X, y = draw_xor(13, n_rows=120, n_more=0)
    model = EducatedNB(pairs=[("a", "b")], bins=4).fit(X, y)
    task = Task(*literal_task(X, y), request=PairRequest(1, (frozenset("ab"),)))
    state, held_out = loosen(find_scales(problem_of(task)).state)
    found = select_pairs(task, state, held_out)
    bits = []
    for own in ([0], []):
        start = find_weights(narrow(found.task, found.state, own), PRECISE)
        places = start.problem.design.place(start.problem.block)
        losses = []
        for i in range(len(y)):
            kept = np.arange(len(y)) != i
            rows = CodedRows([codes[kept] for codes in task.rows.codes], task.rows.labels[kept])
            left = replace(start.problem, rows=rows)
            fit = find_weights(state_at(left, start.weights, start.scales), PRECISE)
            total = start.problem.design.totals(places[:, [i]], fit.weights)[0, 0]
            losses.append(np.logaddexp(0, -total if task.rows.labels[i] else total) / np.log(2))
        bits.append(np.mean(losses))
    (pair,) = model.pairs_
    assert pair.gain == pytest.approx(found.gains[0])
    assert pair.gain == pytest.approx(bits[1] - bits[0], rel=0.05)


@pytest.mark.parametrize(("bins", "n_classes"), [(6, 2), ("fine", 2), (6, 3)])  # primal, dual
def test_small_gains_of_one_step_are_near_those_of_fits_without_the_pair(
    monkeypatch, bins, n_classes
):
    X, y = draw_xor(2, n_rows=400)
    y = y + (n_classes > 2) * (X["n0"] > 1)
    learner = EducatedNB(pairs=[("a", "b"), ("a", "n0"), ("b", "n1")], bins=bins)
    step = {pair.columns: pair.gain for pair in learner.fit(X, y).pairs_}
    monkeypatch.setattr("weigh.educated.candidates.MUCH", 0.0)
    fitted = {pair.columns: pair.gain for pair in learner.fit(X, y).pairs_}
    assert step["a", "b"] == fitted["a", "b"] > 0.01
    assert step == pytest.approx(fitted, abs=1e-3)


@pytest.mark.parametrize("bins", [6, "fine"])  # primal and dual
def test_a_pairs_worth_follows_from_the_dense_hessian_and_is_near_its_gain(bins):
    X, y = draw_xor(2, n_rows=400)
    sample = label_sample(read(X), y, None)
    tally = EducatedNB(pairs=0, bins=bins)._tally(sample)
    coded = code_rows(sample, [t.feature for t in tally.tables])
    named = tuple(map(frozenset, [("a", "b"), ("a", "n0")]))
    task = Task(coded, tally.tables, Target(tally.class_counts), request=PairRequest(2, named))
    state, held_out = loosen(find_scales(problem_of(task)).state)
    found = select_pairs(task, state, held_out)
    state, problem, n = found.state, found.state.problem, found.state.problem.n_weights
    assert problem.dual == (bins == "fine")
    D = problem.design.totals(problem.design.place(problem.block), np.eye(n))
    w, P = state.weights[:, 0], np.zeros((n, n))
    p = expit(D @ w)
    problem.prior.add_to(P, state.scales, np.arange(n))
    V = np.linalg.inv(D.T @ ((p * (1 - p))[:, None] * D) + P)
    worths = find_worths(found.task, state)
    for worth, span in zip(worths, problem.design.spans[found.task.n_coded :], strict=True):
        own, S = w[span], P[span, span]
        rise = own @ np.linalg.inv(V[span, span]) @ own
        free = len(own) - np.trace(V[span, span] @ S)
        assert worth == pytest.approx((rise + own @ S @ own) / 2 - free, abs=1e-6)
    nats = len(y) * np.log(2) * np.array(found.gains)
    assert worths[0] > 20
    assert nats[0] > 20
    assert worths[1] == pytest.approx(nats[1], abs=1.0)


def literal_task(X, y):
    sample = label_sample(read(X), y, None)
    tally = EducatedNB(pairs=0, bins=4)._tally(sample)
    rows = code_rows(sample, [t.feature for t in tally.tables])
    return rows, tally.tables, Target(tally.class_counts)


def test_a_pair_whose_name_is_a_columns_is_not_made():
    X, y = draw_xor(6, n_more=1)
    model = EducatedNB(pairs=1, random_state=0).fit(X.rename(columns={"n0": "a & b"}), y)
    assert names_of(model) == ["a", "b", "a & b"]
    twice = X.rename(columns={"n0": "b & n"}).assign(**{"a & b": X["a"], "n": X["b"]})
    model = EducatedNB(pairs=10, random_state=0).fit(twice, y)
    assert len({*names_of(model)}) == len(model.evidence_) > 5


# ---------------------------------------------------------------- what becomes of it


def test_a_pair_is_one_item_on_the_sheet_and_says_what_no_column_does_alone():
    X, y = draw_xor(7)
    model = EducatedNB(pairs=1, random_state=0).fit(X, y)
    row = {"a": 3.0, "b": 3.0, "n0": 0.0, "n1": 0.0, "n2": 0.0}
    sheet = model.balance_sheet(row)
    item = sheet.items[-1]
    assert item.feature == "a & b"
    assert str(item).startswith("a > ")
    assert " with b > " in str(item)
    assert len(sheet.items) == 6
    assert item.weight == max(item.weight for item in sheet.items) > 1
    assert (
        add_up(sheet)
        == pytest.approx(sheet.total)
        == pytest.approx(np.log(sheet.probability / (1 - sheet.probability)))
    )
    assert sheet.interval[0] < sheet.probability < sheet.interval[1]
    assert "a & b" in str(model.evidence_)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_a_model_with_a_pair_is_saved_and_read_and_its_file_follows_the_schema(tmp_path, n_classes):
    X, y = draw_xor(8)
    X["c"] = np.where(X["n0"] > 0, "u", "v")
    X.loc[::7, "b"] = np.nan
    y = y + (n_classes > 2) * (X["n1"] > 1)
    coarse = {"bins": 8} if n_classes > 2 else {}
    model = EducatedNB(pairs=2, random_state=0, **coarse).fit(X, y)
    assert "a & b" in names_of(model)
    weigh.save(model, tmp_path / "m.json")
    validate(tmp_path / "m.json")
    again = weigh.load(tmp_path / "m.json")
    assert (again.predict_proba(X) == model.predict_proba(X)).all()
    assert again.evidence_.column_names == model.evidence_.column_names == tuple(X.columns)
    for name in ("scales_", "loo_loss_", "n_passes_"):
        np.testing.assert_array_equal(getattr(again, name), getattr(model, name))
    assert again.pairs_ == model.pairs_ != []
    assert str(again.balance_sheet(X.iloc[[0]])) == str(model.balance_sheet(X.iloc[[0]]))


@pytest.mark.parametrize("missing", ["level", "skip"])
def test_pairs_live_beside_crosses_codes_and_gaps(missing):
    X, y = draw_xor(9)
    X["c"], X["d"] = np.where(X["n0"] > 0, "u", "v"), np.where(X["n1"] > 0, "u", "v")
    X.loc[::9, "a"], X.loc[::11, "b"] = np.nan, -999.0
    model = EducatedNB(
        pairs=2, crosses=[("c", "d")], missing=missing, special_values={"b": [-999]}, random_state=0
    ).fit(X, y)
    assert {"c & d", "a & b"} <= {*names_of(model)}
    for i in range(25):
        sheet = model.balance_sheet(X.iloc[[i]])
        assert add_up(sheet) == pytest.approx(sheet.total, abs=1e-9)
    unseen = model.balance_sheet(X.iloc[[1]].assign(a=np.nan, c="?"))
    assert np.isfinite(unseen.probability)
    assert ("a & b" in [i.feature for i in unseen.not_known]) == (missing == "skip")


def test_a_pair_is_found_by_its_two_columns_in_either_order():
    evidence = (
        EducatedNB(pairs=[("Class", "Sex")]).fit(weigh.datasets.titanic(), "Survived").evidence_
    )
    pair = evidence["Class & Sex"]
    assert evidence["Class", "Sex"] is pair
    assert evidence["Sex", "Class"] is pair
    with pytest.raises(KeyError, match="'Age & Sex'"):
        evidence["Age", "Sex"]
