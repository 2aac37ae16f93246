"""Numbers become intervals: the textbook's cuts, quantiles, given points; their labels."""

import itertools
import math
from dataclasses import replace
from decimal import Context
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

import weigh
from weigh import EvidenceNB, MDLDiscretizer
from weigh.bins import Feature, Interval, fine_cuts, mdl_cuts, quantile_cuts
from weigh.bins.cuts import midpoint
from weigh.frames import Numbers
from weigh.sketches.numbers import CellCounts
from weigh.tally import Rows

few = settings(max_examples=50, deadline=None)
many = settings(max_examples=200, deadline=None)

# ---------------------------------------------------------------- the textbook


def weight_of(rows):
    return math.fsum(weight for _, _, weight in rows)


def classes_of(rows):
    return {label for _, label, _ in rows}


def entropy(rows):
    """Ent(S) in bits."""
    total = weight_of(rows)
    shares = [weight_of([r for r in rows if r[1] == c]) / total for c in sorted(classes_of(rows))]
    return -math.fsum(share * math.log2(share) for share in shares)


def textbook_cuts(rows):
    """Fayyad & Irani (1993) to the letter, on rows of value, class and weight.

    Every cut between neighbouring distinct values is tried; of those whose entropy is as good as
    the best, the smallest is taken; it is kept if the minimum description length accepts it.
    """
    n, distinct = weight_of(rows), sorted({value for value, _, _ in rows})
    if len(distinct) < 2 or len(classes_of(rows)) < 2 or n <= 1:
        return []
    splits = [
        ([r for r in rows if r[0] <= v], [r for r in rows if r[0] > v]) for v in distinct[:-1]
    ]
    sums = [math.fsum(weight_of(part) * entropy(part) for part in split) for split in splits]
    unit = n * max(math.log2(n), 1)
    excess = [(s - min(sums)) / unit for s in sums]
    assume(not any(1e-14 < e < 1e-10 for e in excess))  # a tie or not: beyond the last bits
    place = next(i for i, e in enumerate(excess) if e <= 1e-12)
    parts = splits[place]
    gain = entropy(rows) - sums[place] / n
    k = len(classes_of(rows))
    inner = math.fsum(len(classes_of(part)) * entropy(part) for part in parts)
    delta = math.log2(3**k - 2) - (k * entropy(rows) - inner)
    margin = gain - (math.log2(n - 1) + delta) / n
    assume(abs(margin) > 1e-10)
    assume(n >= 2 or (margin > 0) == (gain > delta / n))  # the book knows no cut of less than a row
    if margin <= 0:
        return []
    cut = halfway(distinct[place], distinct[place + 1])
    return [*textbook_cuts(parts[0]), cut, *textbook_cuts(parts[1])]


def halfway(lower, upper):
    middle = float((Fraction(lower) + Fraction(upper)) / 2)
    short = float(Context(prec=15).create_decimal(middle))
    if lower <= short < upper:
        return short
    return middle if middle < upper else lower


def columns_of(rows):
    values, labels, weights = zip(*rows, strict=True)
    return np.array(values).reshape(-1, 1), np.array(labels), np.array(weights, dtype=float)


@st.composite
def weighted_rows(draw, weights):
    """Few distinct values, so that there are many ties; two to four classes."""
    values = draw(st.lists(st.integers(-8, 8).map(lambda v: v / 2), min_size=2, max_size=9))
    n_classes = draw(st.integers(2, 4))
    labels = st.integers(0, n_classes - 1)
    rows = [
        (v, draw(labels), draw(weights)) for v in values for _ in range(draw(st.integers(1, 3)))
    ]
    assume(len(classes_of(rows)) > 1)
    return draw(st.permutations(rows))


whole_weights = st.sampled_from([1, 1, 1, 2, 3, 10, 40])
fractional_weights = st.sampled_from([0.1, 0.25, 0.3, 0.5, 1 / 3, 1.7, 2.5, 12.1, 33.3])


@many
@given(weighted_rows(whole_weights))
def test_the_cuts_are_those_of_the_textbook(rows):
    X, y, weight = columns_of(rows)
    found = MDLDiscretizer().fit(X, y, sample_weight=weight).cuts_["x0"]
    assert found.tolist() == textbook_cuts(rows)


@many
@given(weighted_rows(fractional_weights))
def test_the_cuts_are_those_of_the_textbook_for_fractional_weights(rows):
    X, y, weight = columns_of(rows)
    found = MDLDiscretizer().fit(X, y, sample_weight=weight).cuts_["x0"]
    assert found.tolist() == textbook_cuts(rows)


@few
@given(weighted_rows(st.sampled_from([1, 1, 2, 12])))
def test_the_cuts_of_repeated_rows_are_those_of_the_textbook(rows):
    X, y, weight = columns_of(rows)
    values, labels = np.repeat(X[:, 0], weight.astype(int)), np.repeat(y, weight.astype(int))
    cuts = textbook_cuts(rows)
    assert [*mdl_cuts(values, labels.astype(np.uint8), None, 4)] == cuts
    assert [*mdl_cuts(X[:, 0], y.astype(np.uint8), weight, 4)] == cuts


@few
@given(weighted_rows(whole_weights))
def test_missing_values_have_no_part_in_the_cuts(rows):
    X, y, weight = columns_of(rows)
    gaps, labels, weights = np.full((3, 1), np.nan), [y[0], y[-1], y[0]], [50, 50, 50]
    found = MDLDiscretizer().fit(
        np.vstack([gaps, X]), np.r_[labels, y], sample_weight=np.r_[weights, weight]
    )
    without = MDLDiscretizer().fit(X, y, sample_weight=weight)
    assert found.cuts_["x0"].tolist() == without.cuts_["x0"].tolist()


@few
@given(weighted_rows(whole_weights), st.sampled_from([1e-3, 7.0, 1e300]))
def test_the_cuts_do_not_depend_on_the_unit_of_the_numbers(rows, unit):
    X, y, weight = columns_of(rows)
    cuts = MDLDiscretizer().fit(X, y, sample_weight=weight).cuts_["x0"]
    scaled = MDLDiscretizer().fit(X * unit, y, sample_weight=weight).cuts_["x0"]
    np.testing.assert_allclose(scaled, cuts * unit, rtol=1e-12)


@few
@given(weighted_rows(whole_weights))
def test_the_estimator_cuts_where_the_discretizer_cuts(rows):
    X, y, weight = columns_of(rows)
    cuts = MDLDiscretizer().fit(X, y, sample_weight=weight).cuts_["x0"]
    levels = EvidenceNB().fit(X, y, sample_weight=weight).evidence_["x0"].levels
    assert [level.upper for level in levels[:-1]] == cuts.tolist()


def test_a_column_that_changes_class_often_is_cut_at_every_change():
    values = np.arange(600.0)
    labels = (values // 100) % 3
    cuts = MDLDiscretizer().fit(values.reshape(-1, 1), labels.astype(int)).cuts_["x0"]
    assert cuts.tolist() == [99.5, 199.5, 299.5, 399.5, 499.5]


@pytest.mark.parametrize("total", [0.5, 1.0, 1 + 1e-12, 1.01, 1.1, 1.5, 3.0])
def test_rows_of_little_weight_are_no_reason_to_cut_noise(total):
    """Such as weights that sum to one: naming one of N - 1 cuts never costs less than nothing."""
    y = np.random.default_rng(0).integers(0, 2, 200)
    weight = np.full(200, total / 200)
    found = MDLDiscretizer().fit(np.arange(200.0).reshape(-1, 1), y, sample_weight=weight)
    assert found.cuts_["x0"].tolist() == []


@pytest.mark.parametrize("unit", [1, 1.1])
def test_of_equally_good_cuts_the_smallest_is_taken(unit):
    """Left and right mirror each other, one cut pays, and then no other does."""
    mirror = [(0.0, 0, 6 * unit), (1.0, 0, 2 * unit), (1.0, 1, 2 * unit), (2.0, 1, 6 * unit)]
    X, y, weight = columns_of(mirror)
    assert MDLDiscretizer().fit(X, y, sample_weight=weight).cuts_["x0"].tolist() == [0.5]
    assert MDLDiscretizer().fit(-X, y, sample_weight=weight).cuts_["x0"].tolist() == [-1.5]


@pytest.mark.parametrize(
    "values", [[5.0] * 40, [np.nan] * 40, [np.inf] * 40, [np.inf, -np.inf] * 20]
)
def test_a_column_without_two_finite_values_is_not_cut(values):
    y = [0, 1] * 20
    X = np.array(values).reshape(-1, 1)
    assert MDLDiscretizer().fit(X, y).cuts_["x0"].tolist() == []
    assert len(EvidenceNB(bins=3).fit(X, y).evidence_["x0"].levels) <= 2


def test_infinities_fall_in_the_outer_intervals_and_cuts_stay_finite():
    values = np.r_[np.full(30, -np.inf), np.full(30, 0.0), np.full(30, 1.0), np.full(30, np.inf)]
    y = np.repeat([0, 0, 1, 1], 30)
    found = MDLDiscretizer().fit(values.reshape(-1, 1), y)
    assert found.cuts_["x0"].tolist() == [0.5]
    codes = found.transform([[-np.inf], [-1e300], [1e300], [np.inf]])
    assert codes[:, 0].tolist() == [0, 0, 1, 1]


# ---------------------------------------------------------------- midpoints

numbers = st.floats(allow_nan=False, allow_infinity=False)
near_neighbours = numbers.filter(lambda v: v < 1.7e308).map(
    lambda v: (v, math.nextafter(v, math.inf))
)
pairs = st.tuples(numbers, numbers).map(sorted) | near_neighbours


@settings(max_examples=500, deadline=None)
@given(pairs)
def test_a_cut_is_the_midpoint_in_15_digits_if_these_lie_between_the_values(pair):
    lower, upper = pair
    assume(lower < upper)
    assert midpoint(lower, upper) == halfway(lower, upper)
    assert lower <= midpoint(lower, upper) < upper


@pytest.mark.parametrize(
    ("lower", "upper", "expected"),
    [
        (3.0, 4.0, 3.5),
        (-1.0, 2.0, 0.5),
        (1e308, 1.7e308, 1.35e308),
        (-1.7e308, -1e308, -1.35e308),
        (-1.7e308, 1.7e308, 0.0),
        (1.0, math.nextafter(1.0, 2.0), 1.0),
        (math.nextafter(1.0, 0.0), 1.0, math.nextafter(1.0, 0.0)),
        (0.0, 5e-324, 0.0),
        (-5e-324, 0.0, -5e-324),
    ],
)
def test_midpoints_neither_overflow_nor_reach_the_upper_value(lower, upper, expected):
    assert midpoint(lower, upper) == expected


def test_neighbouring_floats_are_told_apart():
    low = 1.0 - 2**-53
    X = np.repeat([low, 1.0, 1.0 + 2**-52], 30).reshape(-1, 1)
    y = np.repeat([0, 1, 0], 30)
    found = MDLDiscretizer().fit(X, y)
    assert len(found.cuts_["x0"]) == 2
    assert found.transform(X)[:, 0].tolist() == np.repeat([0, 1, 2], 30).tolist()


# ---------------------------------------------------------------- quantiles


@given(
    st.integers(0, 2**32 - 1),
    st.sampled_from([0.0, -40.0, 1e9, 0.5]),
    st.integers(1, 30),
    st.integers(2, 3),
)
@settings(max_examples=60, deadline=None)
def test_whole_numbers_that_are_counted_have_the_cuts_of_those_that_are_sorted(seed, low, n, k):
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, k, 400).astype(np.uint8)
    values = low + rng.integers(0, n, 400) + rng.integers(0, 4, 400) * labels
    values[rng.random(400) < 0.1] = np.nan
    one = np.ones(400)
    assert mdl_cuts(values, labels, None, k) == mdl_cuts(values, labels, one, k)
    assert quantile_cuts(values, None, 7) == quantile_cuts(values, one, 7)
    assert fine_cuts(values, None, 5) == fine_cuts(values, one, 5)


@pytest.mark.parametrize("odd", [np.inf, 0.5, np.nan])
def test_a_column_with_a_number_that_is_not_whole_is_sorted(odd):
    values, labels = np.repeat([1.0, 2.0, odd, 4.0], 50), np.repeat([0, 0, 1, 1], 50)
    one = np.ones(200)
    assert mdl_cuts(values, labels, None, 2) == mdl_cuts(values, labels, one, 2) != ()
    nothing = np.full(200, np.nan)
    assert mdl_cuts(nothing, labels, None, 2) == ()


def literal_quantile_cuts(values, weights, n_bins):
    """After the first value at which the weight so far reaches 1/n, 2/n, ... of the total."""
    rows = [(v, Fraction(w)) for v, w in zip(values, weights, strict=True) if w and v == v]
    distinct, total = sorted({v for v, _ in rows}), sum(w for _, w in rows)
    cuts = set()
    for j in range(1, n_bins):
        reached = next(
            v for v in distinct if sum(w for u, w in rows if u <= v) >= total * j / n_bins
        )
        if reached < distinct[-1]:
            cuts.add(halfway(reached, distinct[distinct.index(reached) + 1]))
    return sorted(cuts)


small_numbers = st.integers(-6, 6).map(lambda v: v / 4)
weighted_values = st.lists(
    st.tuples(small_numbers | st.just(math.nan), st.sampled_from([0, 1, 1, 2, 5])),
    min_size=1,
    max_size=30,
).filter(lambda rows: any(w and v == v for v, w in rows))


@few
@given(weighted_values, st.integers(2, 7))
def test_quantile_cuts_are_those_of_the_definition(rows, n_bins):
    values, weights = zip(*rows, strict=True)
    found = quantile_cuts(np.array(values), np.array(weights, dtype=float), n_bins)
    assert [*found] == literal_quantile_cuts(values, weights, n_bins)


@few
@given(weighted_values, st.integers(2, 7))
def test_quantile_cuts_of_weighted_rows_are_those_of_repeated_rows(rows, n_bins):
    values, weights = zip(*rows, strict=True)
    repeated = np.repeat(values, weights)
    weighted = quantile_cuts(np.array(values), np.array(weights, dtype=float), n_bins)
    assert weighted == quantile_cuts(repeated, None, n_bins)


def test_quantile_bins_hold_equal_shares_where_values_differ():
    X = np.arange(100.0).reshape(-1, 1)
    table = EvidenceNB(bins=4).fit(X, np.arange(100) % 2).evidence_["x0"]
    assert table.counts.sum(axis=1).tolist() == [25, 25, 25, 25]
    assert table.labels == ("<= 24", "25 to 49", "50 to 74", ">= 75")


@pytest.mark.parametrize("n_bins", [np.int64(4), np.uint8(4), {"x0": np.int32(4)}, {0: 4}])
def test_a_number_of_bins_may_be_a_numpy_integer(n_bins):
    X, y = np.arange(100.0).reshape(-1, 1), np.arange(100) % 2
    found = EvidenceNB(bins=n_bins).fit(X, y).evidence_["x0"].labels
    assert found == EvidenceNB(bins=4).fit(X, y).evidence_["x0"].labels


# ---------------------------------------------------------------- given cut points, boundaries

increasing = st.sets(numbers, max_size=8).map(lambda cuts: tuple(sorted(cuts)))


@few
@given(increasing, st.lists(st.floats(allow_nan=False), max_size=8))
def test_an_interval_contains_its_upper_end_and_not_its_lower(cuts, others):
    feature = Feature("x", cuts=cuts)
    values = [*cuts, *(math.nextafter(cut, math.inf) for cut in cuts), *others, -math.inf, math.inf]
    codes = feature.place(Numbers(np.array(values))).codes
    for value, code in zip(values, codes, strict=True):
        interval = feature.levels[code]
        assert interval.lower < value <= interval.upper or value == interval.lower == -math.inf
        assert code == sum(cut < value for cut in cuts)


@pytest.mark.parametrize("cuts", [[3.5, 7.0], (3.5, 7), np.array([3.5, 7]), pd.Series([3.5, 7.0])])
def test_given_cut_points_are_taken_as_they_are(cuts):
    table = pa.table({"age": [3.5, 3.6, 7.0, 7.1]})
    model = EvidenceNB(bins={"age": cuts}).fit(table, [0, 1, 1, 0])
    assert model.evidence_["age"].labels == ("<= 3.5", "(3.5, 7.0]", "> 7.0")
    assert model.evidence_["age"].counts.tolist() == [[1, 0], [0, 2], [1, 0]]
    assert model.evidence_["age"].levels[1] == Interval(3.5, 7.0, "(3.5, 7.0]")


def test_no_cut_points_make_one_level_that_weighs_nothing():
    table = pa.table({"age": [1.0, 2.0, 3.0, 4.0]})
    found = EvidenceNB(bins={"age": []}).fit(table, [0, 0, 1, 1]).evidence_["age"]
    assert found.labels == ("any number",)
    assert found.weights.tolist() == [0]


@pytest.mark.parametrize(
    "cuts",
    [
        [2.0, 1.0],
        [1.0, 1.0],
        [1.0, math.nan],
        [math.inf],
        [-math.inf, 0.0],
        ["low"],
        [None],
        [1.0, "high"],
    ],
)
def test_bad_cut_points_are_refused_by_the_name_of_their_column(cuts):
    table = pa.table({"width": [0.0, 1.0], "age of 'x'": [1.0, 2.0]})
    with pytest.raises(ValueError, match=r"age of 'x'.*cut points"):
        EvidenceNB(bins={"age of 'x'": cuts}).fit(table, [0, 1])


def test_cut_points_of_no_column_are_refused():
    with pytest.raises(ValueError, match="bins names 'agee'"):
        EvidenceNB(bins={"agee": [1.0]}).fit(pa.table({"age": [1.0, 2.0]}), [0, 1])


# ---------------------------------------------------------------- special codes


def test_special_codes_are_levels_of_their_own_and_have_no_part_in_the_cuts():
    income = np.r_[np.full(40, -999.0), np.arange(1.0, 41), np.full(5, 20.5), np.full(5, np.nan)]
    y = np.r_[np.arange(40) % 2, np.arange(40) >= 20, [1] * 5, [0, 0, 0, 1, 1]].astype(int)
    special = {"income": [20.5, -999]}
    model = EvidenceNB(special_values=special).fit(pa.table({"income": income}), y)
    assert model.evidence_["income"].labels == ("<= 20", ">= 21", "-999", "20.5", "missing")
    counts = model.evidence_["income"].counts
    assert counts.tolist() == [[20, 0], [0, 20], [20, 20], [0, 5], [3, 2]]
    rest = ~np.isin(income, [20.5, -999])
    plain = MDLDiscretizer().fit(income[rest].reshape(-1, 1), y[rest])
    assert plain.cuts_["x0"].tolist() == [model.evidence_["income"].levels[0].upper]


@few
@given(
    st.lists(small_numbers | st.just(math.nan), min_size=1, max_size=20),
    st.sets(small_numbers, max_size=3),
    st.sets(small_numbers, max_size=4),
)
def test_a_value_has_the_level_of_its_special_code_or_else_of_its_interval(values, specials, cuts):
    feature = Feature("x", tuple(sorted(specials)), tuple(sorted(cuts)), has_missing=True)
    codes = feature.place(Numbers(np.array(values))).codes
    for value, code in zip(values, codes, strict=True):
        level = feature.levels[code]
        if math.isnan(value):
            assert level is None
        elif value in specials:
            assert level == value
        else:
            assert level.lower < value <= level.upper


LEARNERS = [weigh.EvidenceNB, weigh.AdjustedNB, weigh.WeightedNB, weigh.BoostedNB,
            weigh.PerplexedNB, weigh.EducatedNB, weigh.WeightOfEvidence]  # fmt: skip


@pytest.mark.parametrize("learner", LEARNERS, ids=lambda learner: learner.__name__)
@pytest.mark.parametrize("codes", [[-9, -8], (-8, -9)])
def test_codes_of_all_numeric_columns_are_those_of_each_by_name(learner, codes):
    rng = np.random.default_rng(5)
    a, b = rng.normal(size=(2, 300)).round(1)
    a[:40], b[20:60] = -9, -8
    table = pa.table({"a": a, "b": b, "town": rng.choice([*"xyz"], 300)})
    y = (a + rng.normal(size=300) > 0).astype(int)
    own = {"random_state": 0} if "random_state" in learner().get_params() else {}
    one = learner(special_values=codes, **own).fit(table, y)
    other = learner(special_values={"a": [-9, -8], "b": [-9, -8]}, **own).fit(table, y)
    assert [t.labels for t in one.evidence_] == [t.labels for t in other.evidence_]
    for mine, theirs in zip(one.evidence_, other.evidence_, strict=True):
        assert mine.counts.tolist() == theirs.counts.tolist()
        assert mine.by_class.tolist() == theirs.by_class.tolist()
    assert {"-9", "-8"} <= {*one.evidence_["a"].labels}
    assert "-9" not in one.evidence_["town"].labels


@pytest.mark.parametrize("odd", ["-9", True, object()])
def test_special_values_that_are_neither_codes_nor_a_dict_are_refused(odd):
    with pytest.raises(ValueError, match="special_values"):
        EvidenceNB(special_values=odd).fit(pa.table({"income": [1.0, 2.0]}), [0, 1])


def test_special_values_must_be_numbers_and_the_error_names_the_column():
    table = pa.table({"income": [1.0, 2.0]})
    with pytest.raises(ValueError, match=r"special_values .*'income'"):
        EvidenceNB(special_values={"income": ["none"]}).fit(table, [0, 1])


# ---------------------------------------------------------------- labels


def test_labels_read_as_people_write_intervals():
    feature = Feature("age", (-999, 7.5), (3.5, 7.0), has_missing=True)
    assert feature.labels == ("<= 3.5", "(3.5, 7.0]", "> 7.0", "-999", "7.5", "missing")


def literal_labels(values, cuts):
    """What each interval holds of the whole numbers, one by one; 0 and 1 where no others are."""
    if {*values} == {0, 1}:
        return ("0", "1")
    every = range(int(min(cuts)) - 3, int(max(cuts)) + 4)
    ends = [-math.inf, *cuts, math.inf]
    held = [[n for n in every if low < n <= high] for low, high in itertools.pairwise(ends)]
    inner = [str(h[0]) if len(h) == 1 else f"{h[0]} to {h[-1]}" for h in held[1:-1]]
    return (f"<= {held[0][-1]}", *inner, f">= {held[-1][0]}")


@few
@given(
    st.lists(st.integers(-30, 30), min_size=2, max_size=40),
    st.sampled_from(["mdl", "fine", 2, 3, 5]),
)
@example([0, 1], "mdl")
def test_intervals_of_whole_numbers_are_called_by_the_whole_numbers_they_hold(values, bins):
    table = pa.table({"x": pa.array(values, pa.float64())})
    y = [value > 0 for value in values]
    if len({*y}) < 2:
        y = [not y[0], *y[1:]]
    feature = EvidenceNB(bins=bins).fit(table, y).evidence_["x"].feature
    if feature.cuts:
        assert feature.labels == literal_labels(values, feature.cuts)
        for place, label in enumerate(feature.labels):
            assert feature.relation(place) == ("=" if label.lstrip("-").isdigit() else "")


@pytest.mark.parametrize(
    ("values", "cuts", "specials"),
    [
        ([1.0, 2.5, 4.0], (2.0, 3.0), ()),  # a fraction
        ([1.0, 2.0, 4.0], (2.2, 2.8), ()),  # an interval without a whole number
        ([1.0, 2.0, 4.0], (1.5, 2.5), (2,)),  # an interval that would read like a code
        ([1.0, 2.0, 1e16], (1.5, 1e15), ()),  # beyond what floats tell apart
    ],
)
def test_intervals_are_called_by_cut_points_where_whole_numbers_would_not_do(
    values, cuts, specials
):
    table = pa.table({"x": values})
    model = EvidenceNB(bins={"x": cuts}, special_values={"x": specials}).fit(table, [0, 1, 1])
    feature = model.evidence_["x"].feature
    assert feature.labels[: len(cuts) + 1] == Feature("x", cuts=cuts).labels


def test_special_codes_and_rows_of_no_weight_do_not_make_a_column_fractional():
    table = pa.table({"x": [1.0, 2.0, 3.0, -9.5, math.nan, math.inf, 0.5]})
    model = EvidenceNB(bins={"x": [1.5]}, special_values={"x": [-9.5]})
    model.fit(table, [0, 1, 0, 1, 0, 1, 0], sample_weight=[1, 1, 1, 1, 1, 1, 0])
    assert model.evidence_["x"].labels == ("<= 1", ">= 2", "-9.5", "missing")


def test_whole_numbers_are_seen_part_by_part_as_at_once():
    whole = pa.table({"x": [0.0, 1.0, 2.0, 3.0]})
    fractions = pa.table({"x": [0.5, 1.0, 2.5, 3.0]})
    model = EvidenceNB(bins={"x": [1.5]})
    model.partial_fit(whole, [0, 1, 0, 1])
    assert model.evidence_["x"].labels == ("<= 1", ">= 2")
    model.partial_fit(fractions, [0, 1, 0, 1])
    assert model.evidence_["x"].labels == ("<= 1.5", "> 1.5")
    model.partial_fit(whole, [0, 1, 0, 1])
    assert model.evidence_["x"].labels == ("<= 1.5", "> 1.5")
    assert model.evidence_["x"].counts.sum() == 12


def test_labels_of_large_and_small_cuts_stay_short():
    labels = Feature("x", cuts=(1e-7, 0.333333333333, 12345678.0)).labels
    assert labels == ("<= 1e-07", "(1e-07, 0.333333]", "(0.333333, 12345678.0]", "> 12345678.0")


@many
@given(
    st.sets(numbers, min_size=1, max_size=8)
    | st.integers(0, 50).map(lambda n: {1 + n * 2**-52, 1.0, 1 + 2**-51})
)
def test_labels_tell_all_intervals_apart(cuts):
    feature = Feature("x", cuts=tuple(sorted(cuts)))
    assert len(set(feature.labels)) == len(cuts) + 1
    shown = [float(label.split(", ")[0].strip("(<= ")) for label in feature.labels[:-1]]
    assert shown == sorted(shown)


@few
@given(numbers, st.integers(2, 30))
def test_many_near_equal_cuts_still_get_distinct_labels(start, n):
    assume(abs(start) < 1e300)
    cuts = [
        *itertools.accumulate(range(n), lambda cut, _: math.nextafter(cut, math.inf), initial=start)
    ]
    labels = Feature("x", cuts=tuple(cuts)).labels
    assert len(set(labels)) == len(cuts) + 1


# ---------------------------------------------------------------- the transformer


@pytest.fixture
def iris_like():
    rng = np.random.default_rng(7)
    y = np.repeat(["a", "b", "c"], 60)
    width = rng.normal(np.repeat([0.0, 3.0, 6.0], 60))
    length = rng.normal(np.repeat([2.0, 2.0, -2.0], 60))
    width[::17] = np.nan
    return {"width": width, "length": length, "noise": rng.normal(size=180)}, y


FRAMES = {
    "pandas": pd.DataFrame,
    "polars": pl.DataFrame,
    "pyarrow": pa.table,
    "dicts": lambda columns: [
        dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)
    ],
}


@pytest.mark.parametrize("frame", FRAMES)
def test_the_transformer_numbers_the_intervals_and_leaves_missing_values_missing(iris_like, frame):
    columns, y = iris_like
    X = FRAMES[frame](columns)
    discretizer = MDLDiscretizer()
    codes = discretizer.fit_transform(X, y)
    assert [*discretizer.cuts_] == ["width", "length", "noise"]
    assert len(discretizer.cuts_["width"]) >= 2
    for j, (name, values) in enumerate(columns.items()):
        cuts = discretizer.cuts_[name]
        assert isinstance(cuts, np.ndarray)
        expected = np.where(np.isnan(values), np.nan, np.searchsorted(cuts, values))
        np.testing.assert_array_equal(codes[:, j], expected)


def test_the_transformer_names_its_columns(iris_like):
    columns, y = iris_like
    named = MDLDiscretizer().fit(pd.DataFrame(columns), y)
    assert named.get_feature_names_out().tolist() == ["width", "length", "noise"]
    assert named.feature_names_in_.tolist() == ["width", "length", "noise"]
    unnamed = MDLDiscretizer().fit(np.column_stack([*columns.values()]), y)
    assert unnamed.get_feature_names_out().tolist() == ["x0", "x1", "x2"]
    assert [*unnamed.cuts_] == ["x0", "x1", "x2"]
    assert not hasattr(unnamed, "feature_names_in_")


def test_the_transformer_matches_columns_by_name(iris_like):
    columns, y = iris_like
    X = pd.DataFrame(columns)
    discretizer = MDLDiscretizer().fit(X, y)
    other = X.assign(extra=1.0)[["noise", "extra", "length", "width"]]
    np.testing.assert_array_equal(discretizer.transform(other), discretizer.transform(X))
    with pytest.raises(ValueError, match="'length'"):
        discretizer.transform(X.drop(columns="length"))


def test_the_transformer_takes_the_target_and_weights_by_name(iris_like):
    columns, y = iris_like
    weight = np.arange(180.0) % 3
    X = pd.DataFrame(columns)
    by_name = MDLDiscretizer().fit(X.assign(label=y, times=weight), "label", sample_weight="times")
    by_array = MDLDiscretizer().fit(X, y, sample_weight=weight)
    assert [*by_name.cuts_] == [*by_array.cuts_]
    for name, cuts in by_array.cuts_.items():
        assert by_name.cuts_[name].tolist() == cuts.tolist()


@pytest.mark.parametrize(("library", "kind"), [("pandas", pd.DataFrame), ("polars", pl.DataFrame)])
def test_the_transformer_gives_the_dataframe_asked_for(iris_like, library, kind):
    columns, y = iris_like
    X = kind(columns)
    discretizer = MDLDiscretizer().set_output(transform=library)
    codes = discretizer.fit_transform(X, y)
    assert isinstance(codes, kind)
    assert [*codes.columns] == ["width", "length", "noise"]
    plain = MDLDiscretizer().fit_transform(X, y)
    np.testing.assert_array_equal(codes.to_numpy(), plain)
    assert np.isnan(plain[::17, 0]).all()


def test_the_transformer_works_in_a_pipeline(iris_like):
    columns, y = iris_like
    X = pd.DataFrame(columns)[["width", "length"]].fillna(0.0)
    pipeline = clone(make_pipeline(MDLDiscretizer(), LogisticRegression()))
    assert pipeline.fit(X, y).score(X, y) > 0.85
    assert pipeline[:-1].get_feature_names_out().tolist() == ["width", "length"]


def test_the_transformer_refuses_text_by_the_name_of_the_column(iris_like):
    columns, y = iris_like
    X = pd.DataFrame(columns)
    text = X.assign(length=["long"] * 180)
    with pytest.raises(ValueError, match=r"'length'.*'long'"):
        MDLDiscretizer().fit(text, y)
    with pytest.raises(ValueError, match=r"'length'.*'long'"):
        MDLDiscretizer().fit(X, y).transform(text)


# ---------------------------------------------------------------- columns of 0 and 1


def draw_binary(n=600):
    rng = np.random.default_rng(0)
    flag, few = rng.integers(0, 2, n), rng.integers(0, 4, n)
    y = rng.random(n) < 0.2 + 0.3 * flag + 0.3 * (few > 0)
    coded = np.where(rng.random(n) < 0.1, -9, flag)
    return pd.DataFrame({"flag": flag, "few": few, "coded": coded, "y": np.where(y, "b", "a")})


def test_a_column_of_0_and_1_has_the_levels_0_and_1(tmp_path):
    rows = draw_binary()
    cuts = {name: [0.5] for name in ("flag", "few", "coded")}
    made = weigh.EvidenceNB(bins=cuts, special_values={"coded": [-9]})
    wanted = {"flag": ("0", "1"), "few": ("0", ">= 1"), "coded": ("0", "1", "-9")}
    rows.to_csv(tmp_path / "rows.csv", index=False)
    parts = clone(made)
    for start in range(0, len(rows), 100):
        parts.partial_fit(rows[start : start + 100], "y", classes=["a", "b"])
    weigh.save(parts, tmp_path / "model.json")
    for model in (
        made.fit(rows, "y"),
        clone(made).fit(weigh.scan(tmp_path / "rows.csv"), "y"),
        parts,
        weigh.load(tmp_path / "model.json"),
    ):
        assert {table.name: table.labels for table in model.evidence_} == wanted
        assert model.evidence_["flag"].feature.phrase(0) == "flag = 0"


def test_a_number_that_is_neither_0_nor_1_takes_the_two_names_away():
    rows = draw_binary()
    model = weigh.EvidenceNB(bins={"flag": [0.5], "few": [0.5], "coded": [-1]})
    model.partial_fit(rows, "y", classes=["a", "b"])
    model.partial_fit(rows.assign(flag=2), "y")
    assert model.evidence_["flag"].labels == ("0", ">= 1")
    model.partial_fit(rows.assign(flag=-1), "y")
    assert model.evidence_["flag"].labels == ("<= 0", ">= 1")
    odd = weigh.EvidenceNB(bins={"flag": [0.5]}, special_values={"flag": [1]})
    assert odd.fit(rows[["flag", "y"]], "y").evidence_["flag"].labels[-1] == "1"


def test_a_row_of_a_column_of_0_and_1_is_told_with_its_own_value():
    rows = draw_binary()
    cuts = {name: [0.5] for name in ("flag", "few", "coded")}
    model = weigh.EvidenceNB(bins=cuts, special_values={"coded": [-9]}).fit(rows, "y")
    features = [table.feature for table in model.evidence_]
    for value in (0, 1, 5, 0.5, -3):
        row = {"flag": value, "few": 5, "coded": -9}
        read = int(value > 0.5)
        told = f"{value}" if value in (0, 1) else f"{value} (read as {read})"
        sheet, reasons = model.balance_sheet(row), weigh.reasons(model, pd.DataFrame([row]), n=3)
        wanted = {"flag": f"flag = {told}", "few": "few >= 1", "coded": "coded = -9"}
        assert {item.feature: str(item) for item in sheet.items} == wanted
        assert {reasons[f"reason_{k}"][0] for k in (1, 2, 3)} == {*wanted.values()}
    pair = weigh.bins.Cross((features[0], features[2]), ((0, 0), (1, 1)))
    assert pair.phrase(1, values=(2, 1)) == "flag = 2 (read as 1) with coded = 1"
    assert pair.tell_label(1, (1, 7)) == "1 & 7 (read as 1)"
    assert pair.phrase(1, values=(1, 1)) == pair.phrase(1)


@given(st.integers(-2, 0), st.integers(1, 5), st.booleans())
@settings(max_examples=20, deadline=None)
def test_a_bin_of_counts_is_named_0_where_training_had_no_number_below(low, n_cuts, special):
    numbers = np.r_[np.arange(low, 9), -9] if special else np.arange(low, 9)
    rows = pd.DataFrame({"n": np.repeat(numbers, 3)})
    codes = {"n": [-9]} if special else None
    model = weigh.EvidenceNB(bins={"n": [k + 0.5 for k in range(n_cuts)]}, special_values=codes)
    model.fit(rows, rows["n"] > 4)
    first = model.evidence_["n"].labels[0]
    assert first == ("0" if low >= 0 else "<= 0")
    sheets = [str(model.balance_sheet({"n": value}).items[0]) for value in (0, -3)]
    assert sheets == (["n = 0", "n = -3 (read as 0)"] if low >= 0 else ["n <= 0"] * 2)
    reasons = weigh.reasons(model, pd.DataFrame({"n": [0, -3]}), n=1)
    assert reasons["reason_1"].tolist() == sheets


def is_odd(feature, place, value):
    """Whether a bin holds one whole number, and the value is another."""
    cuts, from_zero = feature.cuts, 0 <= feature.cuts[0] < 1
    if place > len(cuts):
        return False  # a special code
    if len(cuts) == 1 and from_zero:  # of a column of 0 and 1
        return value != place
    if place == 0:
        return feature.counted and from_zero and value != 0
    if place == len(cuts):
        return False
    lowest, highest = math.ceil(cuts[place - 1]), math.floor(cuts[place])
    return lowest == highest and value != lowest


@given(
    st.lists(st.integers(-3, 6), min_size=1, max_size=4, unique=True),
    st.booleans(),
    st.sampled_from([-4, -1, 0, 1, 2, 2.5, 5, 70, -9]),
    st.sampled_from(["3", "2024", "1,000", "high"]),
)
@few
def test_a_name_of_the_users_takes_the_place_of_the_label_in_what_is_told_of_a_row(
    cuts, counted, value, name
):
    cuts = tuple(cut + 0.5 for cut in sorted(cuts))
    feature = Feature("n", (-9,), cuts, whole=True, counted=counted, binary=len(cuts) == 1)
    for place, label in enumerate(feature.labels):
        named = replace(feature, texts=((label, name),))
        own = f"{value} (read as {name})" if is_odd(feature, place, value) else name
        assert named.phrase(place, values=[value]) == f"n = {own}"
        pair = weigh.bins.Cross((named, named), ((place, place),))
        assert pair.phrase(0, values=[value, value]) == f"n = {own} with n = {own}"


def test_what_is_read_of_the_numbers_of_a_column_holds_for_the_rows_of_all_parts():
    parts = []
    for values in ([0.0, 1.0, -9.0], [0.0, 2.0], [-1.0, 0.0], [0.5]):
        part = CellCounts(np.array([0.5]), 1, np.array([-9.0]))
        rows = Rows(np.zeros(len(values), np.uint8), None, 1)
        part.add(np.array(values), rows)
        parts.append(part)
    read = [parts[0].reading.copy()]
    for part in parts[1:]:
        parts[0].merge(part)
        read.append(parts[0].reading.copy())
    assert [own["whole"] for own in read] == [True, True, True, False]
    assert [own["binary"] for own in read] == [True, False, False, False]
    assert [own["counted"] for own in read] == [True, True, False, False]


def test_drift_lists_other_numbers_of_a_column_of_0_and_1_as_new_values():
    rows = draw_binary()
    model = weigh.EvidenceNB(bins={"flag": [0.5], "few": [0.5], "coded": [-1]}).fit(rows, "y")
    assert not weigh.drift(model, rows.drop(columns="y")).features[0].new_values
    drift = weigh.drift(model, rows.assign(flag=rows["flag"] + 1).drop(columns="y"))
    found = {feature.name: feature for feature in drift.features}
    assert found["flag"].new_values == {"2": int(rows["flag"].sum())}
    assert found["flag"].vanished == ("0",)
    assert not found["few"].new_values
    table = model.evidence_["flag"]
    share = rows["flag"].mean()  # every row now has the weight of 1
    np.testing.assert_allclose(
        found["flag"].shift, (1 - share) * (table.weights[1] - table.weights[0])
    )
    assert sum(found["flag"].stability.actual) == pytest.approx(1)
