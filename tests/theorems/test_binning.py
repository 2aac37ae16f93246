"""Binning: cut points of the largest information value within limits, against brute force."""

from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import weigh
from weigh.bins import Binning
from weigh.bins.binning import best_cuts

LIGHT = settings(max_examples=150, deadline=None, database=None)


def value_of(counts):
    """The information value of levels: the sum over pairs of classes, over (classes - 1)."""
    share = counts / counts.sum(axis=0)
    n = share.shape[1]
    pairs = [
        ((share[:, a] - share[:, b]) * np.log(share[:, a] / share[:, b])).sum()
        for a, b in combinations(range(n), 2)
    ]
    return sum(pairs) * 2 / (n * (n - 1))


def follows(rates, trend):
    """Whether the rates of levels, one after the other, have a shape."""
    steps = np.diff(rates)
    turns = range(len(steps) + 1)
    shapes = {
        "free": True,
        "rising": (steps >= 0).all(),
        "falling": (steps <= 0).all(),
        "monotone": (steps >= 0).all() or (steps <= 0).all(),
        "peak": any((steps[:t] >= 0).all() and (steps[t:] <= 0).all() for t in turns),
        "valley": any((steps[:t] <= 0).all() and (steps[t:] >= 0).all() for t in turns),
    }
    return bool(shapes[trend])


def search(rule, counts):
    """Every set of cut points within the limits, one after the other."""
    n, best = len(counts), 0.0
    totals = counts.sum(axis=0)
    for k in range(rule.max_levels):
        for chosen in combinations(range(1, n), k):
            levels = np.add.reduceat(counts, [0, *chosen])
            held = levels.sum(axis=1) >= rule.min_share * totals.sum() - 1e-9
            classes = levels / totals >= rule.min_class_share - 1e-9
            within = held.all() and classes.all() and (levels > 0).all()
            if within and follows(levels[:, -1] / levels.sum(axis=1), rule.trend):
                best = max(best, value_of(levels))
    return best


@st.composite
def cases(draw, n_classes=2):
    n = draw(st.integers(1, 8))
    cell = st.integers(0, 9)
    counts = np.array([[draw(cell) for _ in range(n_classes)] for _ in range(n)], dtype=float)
    trends = ["free", "monotone", "rising", "falling", "peak", "valley"]
    rule = Binning(
        max_levels=draw(st.integers(1, 5)),
        min_share=draw(st.sampled_from([0.0, 0.1, 0.25])),
        min_class_share=draw(st.sampled_from([0.0, 0.1])),
        trend=draw(st.sampled_from(trends if n_classes == 2 else ["free"])),
    )
    return rule, counts


@given(cases())
@LIGHT
def test_no_cut_points_within_the_limits_have_a_larger_information_value(case):
    rule, counts = case
    found = [int(cut) for cut in best_cuts(rule, counts, np.arange(1.0, len(counts)))]
    if not counts.sum(axis=0).all():
        assert not found
        return
    levels = np.add.reduceat(counts, [0, *found])
    if found:
        assert len(levels) <= rule.max_levels
        assert (levels > 0).all()
        assert (levels.sum(axis=1) >= rule.min_share * counts.sum() - 1e-9).all()
        assert (levels / counts.sum(axis=0) >= rule.min_class_share - 1e-9).all()
        assert follows(levels[:, -1] / levels.sum(axis=1), rule.trend)
    assert value_of(levels) == pytest.approx(search(rule, counts), abs=1e-9)


@given(cases(n_classes=3))
@LIGHT
def test_of_three_classes_the_mean_over_pairs_is_the_largest(case):
    rule, counts = case
    if counts.sum(axis=0).all():
        found = [int(cut) for cut in best_cuts(rule, counts, np.arange(1.0, len(counts)))]
        levels = np.add.reduceat(counts, [0, *found])
        assert value_of(levels) == pytest.approx(search(rule, counts), abs=1e-9)


# ---------------------------------------------------------------- learners

RNG = np.random.default_rng(0)
X = pd.DataFrame({"x": RNG.normal(size=800).round(2), "z": RNG.integers(0, 20, 800).astype(float)})
Y = np.where(RNG.random(800) < 1 / (1 + np.exp(-X["x"] + 0.02 * (X["z"] - 10) ** 2)), "b", "a")
RULES = {"x": Binning(max_levels=4, trend="rising"), "z": Binning(max_levels=5, trend="peak")}


@pytest.mark.parametrize(
    "learner",
    [weigh.EvidenceNB, weigh.AdjustedNB, weigh.WeightedNB, weigh.BoostedNB, weigh.PerplexedNB,
     weigh.EducatedNB],
    ids=lambda learner: learner.__name__,
)  # fmt: skip
def test_every_learner_that_counts_takes_a_binning(learner):
    tables = learner(bins=RULES).fit(X, Y).evidence_
    for name, rule in RULES.items():
        counts = tables[name].counts
        counts = counts[counts.any(axis=1)]
        assert len(counts) <= rule.max_levels
        assert follows(counts[:, 1] / counts.sum(axis=1), rule.trend)


def test_a_binning_for_all_columns_leaves_categories_alone():
    table = X.assign(c=RNG.choice([*"uvw"], 800))
    tables = weigh.EvidenceNB(bins=Binning(max_levels=2)).fit(table, Y).evidence_
    assert [len(t.levels) for t in tables] == [2, 2, 3]


def test_missing_and_special_codes_stand_beside_the_levels():
    x = X["x"].where(RNG.random(800) > 0.1).to_numpy(copy=True)
    x[:40] = -99
    model = weigh.EvidenceNB(bins=Binning(max_levels=3), special_values={"x": [-99]})
    table = model.fit(pd.DataFrame({"x": x}), Y).evidence_["x"]
    assert len(table.levels) <= 5
    assert all(cut > -4 for cut in table.feature.cuts)
    assert table.levels[-2:] == (-99, None)


def test_a_weight_of_two_is_a_row_given_twice():
    weight = RNG.integers(0, 3, 800)
    rule = Binning(trend="monotone")
    a = weigh.EvidenceNB(bins=rule).fit(X, Y, sample_weight=weight).evidence_
    b = weigh.EvidenceNB(bins=rule).fit(X.loc[X.index.repeat(weight)], Y.repeat(weight)).evidence_
    assert [t.feature for t in a] == [t.feature for t in b]


def test_a_model_with_a_binning_is_saved_and_loaded(tmp_path):
    model = weigh.EvidenceNB(bins=RULES).fit(X, Y)
    weigh.save(model, tmp_path / "m.json")
    loaded = weigh.load(tmp_path / "m.json")
    assert loaded.bins == RULES
    assert (loaded.predict_proba(X) == model.predict_proba(X)).all()


@pytest.mark.parametrize(
    "odd",
    [{"max_levels": 0}, {"max_levels": 2.5}, {"min_share": 2}, {"min_class_share": "a"},
     {"trend": "up"}],
)  # fmt: skip
def test_odd_limits_are_refused(odd):
    with pytest.raises(ValueError, match=next(iter(odd))):
        Binning(**odd)


def test_a_trend_of_three_classes_is_refused():
    with pytest.raises(ValueError, match="trend"):
        weigh.EvidenceNB(bins=Binning(trend="peak")).fit(X, RNG.choice([*"abc"], 800))
