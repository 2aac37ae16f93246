"""Binning: cut points of the largest information value within limits, against brute force."""

from itertools import chain, combinations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import weigh
from weigh.bins import Binning, optimal
from weigh.bins.binning import TRENDS, best_starts, count_values

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
    found = list(best_starts(rule, counts, TRENDS[rule.trend]))
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
        found = list(best_starts(rule, counts, TRENDS[rule.trend]))
        levels = np.add.reduceat(counts, [0, *found])
        assert value_of(levels) == pytest.approx(search(rule, counts), abs=1e-9)


@pytest.mark.parametrize("trend", ["monotone", "rising", "falling", "peak", "valley"])
@pytest.mark.parametrize("min_share", [0.0, 0.08])
@given(seed=st.integers(0, 2**32 - 1))
@settings(max_examples=12, deadline=None, database=None)
def test_intervals_left_out_of_the_search_are_in_no_best_levels(trend, min_share, seed):
    rng = np.random.default_rng(seed)
    rule = Binning(max_levels=5, min_share=min_share, trend=trend)
    rate = np.clip(0.5 + 0.1 * np.cumsum(rng.normal(size=60)), 0.1, 0.9)
    rows = rng.integers(1, 30, 60)
    ones = rng.binomial(rows, rate)
    counts = np.column_stack([rows - ones, ones]).astype(float)
    limits = rule.limits(counts.sum(axis=0), TRENDS[trend])
    led = optimal.best_levels(limits, counts)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(optimal, "FEW", len(counts))  # no coarser search: no interval is left out
        whole = optimal.best_levels(limits, counts)
    assert led.value == pytest.approx(whole.value, abs=1e-9)


@given(cases())
@LIGHT
def test_a_search_led_by_coarser_ones_is_exact(case):
    rule, counts = case
    if not counts.sum(axis=0).all():
        return
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(optimal, "FEW", 2)
        patch.setattr(optimal, "COARSER", 2)
        found = list(best_starts(rule, counts, TRENDS[rule.trend]))
    levels = np.add.reduceat(counts, [0, *found])
    assert value_of(levels) == pytest.approx(search(rule, counts), abs=1e-9)


@pytest.mark.parametrize("trend", ["free", "monotone", "peak"])
def test_with_many_values_a_cut_point_that_moves_to_a_neighbour_gains_nothing(trend):
    rng = np.random.default_rng(3)
    x = rng.gamma(2.0, size=4000)
    labels = (rng.random(4000) < 0.2 + 0.5 * (x > 1.5) - 0.3 * (x > 4)).astype(int)
    counts, _ = count_values(x, labels, None, 2)
    rule = Binning(max_levels=4, trend=trend)
    found = best_starts(rule, counts, TRENDS[trend])
    best = value_of(np.add.reduceat(counts, [0, *found]))
    for k in range(len(found)):
        for step in (-2, -1, 1, 2):
            moved = [*found]
            moved[k] += step
            levels = np.add.reduceat(counts, [0, *moved])
            held = (levels.sum(axis=1) >= 0.05 * 4000).all()
            if held and follows(levels[:, -1] / levels.sum(axis=1), trend):
                assert value_of(levels) <= best + 1e-9


# ---------------------------------------------------------------- categories


def partitions(items):
    """Every way to put things into groups."""
    if not items:
        yield []
        return
    first, *rest = items
    for groups in partitions(rest):
        yield [[first], *groups]
        for k in range(len(groups)):
            yield [*groups[:k], [first, *groups[k]], *groups[k + 1 :]]


@given(st.integers(1, 6), st.integers(1, 4), st.data())
@LIGHT
def test_no_groups_of_categories_have_a_larger_information_value(n, most, data):
    cell = st.integers(1, 12)
    counts = np.array([[data.draw(cell), data.draw(cell)] for _ in range(n)], dtype=float)
    every = [p for p in partitions([*range(n)]) if len(p) <= most]
    best = max(value_of(np.array([counts[g].sum(axis=0) for g in groups])) for groups in every)
    found = Binning(max_levels=most, min_share=0).join(counts, ordered=False)
    assert sorted(chain.from_iterable(found)) == [*range(n)]
    assert len(found) <= most
    levels = np.array([counts[group].sum(axis=0) for group in found])
    assert value_of(levels) == pytest.approx(best, abs=1e-9)


@given(cases())
@LIGHT
def test_groups_of_categories_keep_the_limits_and_are_the_best_in_the_order_of_rates(case):
    rule, counts = case
    used = counts[counts.any(axis=1)]
    groups = rule.join(counts, ordered=False)
    assert sorted(chain.from_iterable(groups)) == np.flatnonzero(counts.any(axis=1)).tolist()
    if not used.size or not used.sum(axis=0).all():
        return
    levels = np.array([counts[group].sum(axis=0) for group in groups])
    in_order = used[np.argsort(used[:, 1] / used.sum(axis=1), kind="stable")]
    free = Binning(rule.max_levels, rule.min_share, rule.min_class_share)
    assert value_of(levels) == pytest.approx(search(free, in_order), abs=1e-9)


@given(cases())
@LIGHT
def test_ordered_categories_are_joined_as_intervals_are(case):
    rule, counts = case
    counts = counts[counts.any(axis=1)]
    if len(counts) and counts.sum(axis=0).all():
        cuts = list(best_starts(rule, counts, TRENDS[rule.trend]))
        groups = rule.join(counts, ordered=True)
        assert [group[0] for group in groups] == [0, *cuts]


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


TOWNS = pd.DataFrame({"town": RNG.choice([*"uvwxyz"], 800, p=[0.3, 0.3, 0.2, 0.14, 0.03, 0.03])})
RATES = {"u": 0.1, "v": 0.5, "w": 0.2, "x": 0.8, "y": 0.4, "z": 0.6}
RICH = np.where(RNG.random(800) < TOWNS["town"].map(RATES), "b", "a")


@pytest.mark.parametrize("learner", [weigh.EvidenceNB, weigh.EducatedNB, weigh.WeightOfEvidence])
def test_a_binning_joins_categories(learner):
    model = learner(bins=Binning(max_levels=3, min_share=0.1)).fit(TOWNS, RICH)
    table = model.evidence_["town"]
    rows = table.counts.sum(axis=1)
    assert len(rows) == 3
    assert (rows >= 80).all()
    assert rows.sum() == 800
    ungrouped = weigh.EvidenceNB(smoothing=0).fit(TOWNS, RICH).evidence_["town"].counts
    groups = Binning(max_levels=3, min_share=0.1).join(ungrouped, ordered=False)
    assert table.counts.tolist() == [ungrouped[group].sum(axis=0).tolist() for group in groups]


def test_categories_that_a_binning_joined_score_alike_after_saving(tmp_path):
    model = weigh.EvidenceNB(bins=Binning(max_levels=3)).fit(TOWNS, RICH)
    weigh.save(model, tmp_path / "m.json")
    rows = pd.DataFrame({"town": [*"uvwxyz", "new", None]})
    loaded = weigh.load(tmp_path / "m.json")
    assert (loaded.predict_proba(rows) == model.predict_proba(rows)).all()
    base = (RICH == "b").mean()
    assert loaded.predict_proba(rows)[6, 1] == pytest.approx(base)


def test_a_binning_leaves_categories_of_three_classes_alone():
    table = X.assign(c=RNG.choice([*"uvw"], 800))
    tables = weigh.EvidenceNB(bins=Binning(max_levels=2)).fit(table, RNG.choice([*"abc"], 800))
    assert [len(t.levels) for t in tables.evidence_] == [2, 2, 3]


@pytest.mark.parametrize("learner", [weigh.EducatedRegressor, weigh.BoostedNBRegressor])
def test_a_binning_needs_classes(learner):
    with pytest.raises(ValueError, match="Binning"):
        learner(bins=Binning()).fit(X, RNG.normal(size=800))


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
