"""A model as plain data: the level of a value, the curve, and what every target renders."""

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests import exported

import weigh
from weigh.bins import Feature, Kind, finder
from weigh.evidence import Recalibration, evidence_of
from weigh.exports import checks
from weigh.formula import Formula, Input
from weigh.formula.data import to_data
from weigh.frames import read

TEXTS = st.sampled_from(["a", "b", "A", "", "true", "1", "é"])
WHOLE = st.sampled_from([-1, 0, 1, 7, 2**53, 2**53 + 1])
FRACTIONS = st.sampled_from([0.5, -2.25, float("inf"), float("-inf")])
VALUES = {
    "text": TEXTS,
    "booleans": st.booleans(),
    "numbers": WHOLE | FRACTIONS,
    "mixed": TEXTS | st.booleans() | WHOLE,
}


@st.composite
def features(draw):
    """Categories of every kind, numbers with special codes, with and without other and missing."""
    missing = draw(st.sampled_from([(False, False), (True, False), (False, True)]))
    if draw(st.booleans()):
        cuts = sorted(draw(st.sets(st.sampled_from([-3.0, 0.0, 0.1, 2.5, 1e300]), max_size=4)))
        codes = draw(st.sets(st.sampled_from([-999, 0, 3, 0.1]), max_size=3))
        return Feature("x", tuple(sorted(codes)), tuple(cuts), *missing)
    kind = draw(st.sampled_from([*VALUES]))
    keys = {(type(v), v): v for v in draw(st.lists(VALUES[kind], max_size=5))}
    values = tuple(keys.values())
    kinds = sorted({Kind.of(value) for value in values})
    other = tuple(kinds) if kinds and draw(st.booleans()) else ()
    return Feature("x", values, None, *missing, False, other)


def first_that_holds(feature, value):
    """The definition, read out literally."""
    for condition in feature.conditions:
        if condition.holds == "missing":
            holds = value is None
        elif condition.holds == "equal":
            same = feature.is_numeric or Kind.of(value) is Kind.of(condition.value)
            holds = same and value == condition.value
        else:
            holds = condition.holds == "any" or value <= condition.value
        if holds:
            return condition.place
    return feature.no_level


def worth_trying(feature):
    """Every level, boundary, special code, missing, and what is no level."""
    if feature.is_numeric:
        near = [f(c, d) for c in feature.cuts for f in (np.nextafter,) for d in (-np.inf, np.inf)]
        return [None, *feature.values, *feature.cuts, *map(float, near), -1e308, 1e308, 0.0, 5.5]
    unseen = {Kind.TEXT: "nobody saw it", Kind.NUMBERS: 0.125, Kind.BOOLEANS: True}
    return [None, *feature.values, *(unseen[kind] for kind in feature.kinds)]


@settings(max_examples=300, deadline=None)
@given(features())
def test_a_value_has_the_level_of_the_first_condition_that_holds(feature):
    values = worth_trying(feature)
    literal = [first_that_holds(feature, value) for value in values]
    assert [finder(feature)(value) for value in values] == literal
    for value, place in zip(values, literal, strict=True):  # a table of one row for each
        placed = feature.read(read([{"x": value}]))
        assert placed.levels[placed.codes].tolist() == [place], value


def test_a_kind_is_that_of_its_values_and_of_json():
    assert [Kind.of(value) for value in ("1", 1, 1.5, True)] == [
        Kind.TEXT,
        Kind.NUMBERS,
        Kind.NUMBERS,
        Kind.BOOLEANS,
    ]
    assert Kind.of_all([]) is Kind.TEXT  # a column that was always empty
    assert Kind.of_all([Kind.NUMBERS, Kind.BOOLEANS]) is Kind.MIXED
    for value in ("1", 1, 1.5, True):
        assert type(value) in Kind.of(value).types


def test_a_column_of_two_features_takes_what_either_knows():
    one, two = Feature("x", ("b",)), Feature("x", (1, "a"), None, True)
    column = Input("x", (one, two))
    assert (column.values, column.kind) == ((1, "a", "b"), Kind.MIXED)
    assert column.types == {str, int, float}
    assert Input("x", (Feature("x"),)).types == {str, bool, int, float}  # training saw nothing


# ---------------------------------------------------------------- curves


def hermite(curve, total):
    """The cubic through two points with given slopes, as the textbook has it."""
    points, levels, slopes = curve.points, curve.levels, curve.slopes
    if total <= points[0]:
        return levels[0] + slopes[0] * (total - points[0])
    if total >= points[-1]:
        return levels[-1] + slopes[-1] * (total - points[-1])
    i = int(np.searchsorted(points, total)) - 1
    width = points[i + 1] - points[i]
    s = (total - points[i]) / width
    return (
        (1 + 2 * s) * (1 - s) ** 2 * levels[i]
        + s * (1 - s) ** 2 * width * slopes[i]
        + s**2 * (3 - 2 * s) * levels[i + 1]
        + s**2 * (s - 1) * width * slopes[i + 1]
    )


@settings(max_examples=100, deadline=None)
@given(st.integers(1, 6), st.integers(0, 1000), st.floats(-30, 30))
def test_a_curve_in_pieces_is_the_cubic_that_points_and_slopes_fix(n, seed, total):
    rng = np.random.default_rng(seed)
    points, levels = np.cumsum(rng.uniform(0.1, 3, (2, n)), axis=1) - 4
    worth = Recalibration("spline", points, levels, rng.uniform(0.1, 2, n), shift=0.25)
    for x in (total, *points):
        assert worth.curve.at(float(x)) == pytest.approx(hermite(worth, x) + 0.25, abs=1e-12)
        assert worth.curve.at(float(x)) == worth.apply(np.array([x]))[0]  # to the bit


def test_an_isotonic_curve_gives_the_log_odds_of_its_lines():
    worth = Recalibration("isotonic", np.array([-1.0, 2.0]), np.array([0.0, 0.5]), np.zeros(0))
    p = np.clip(np.interp([-9, -1, 0.5, 2, 9], worth.points, worth.levels), 1e-10, 1 - 1e-10)
    found = worth.apply(np.array([-9, -1, 0.5, 2, 9.0]))
    assert found == pytest.approx(np.log(p / (1 - p)), rel=1e-12)
    assert [worth.curve.at(x) for x in (-9.0, -1.0, 0.5, 2.0, 9.0)] == found.tolist()


def test_a_total_that_is_infinite_is_worth_what_a_far_one_is():
    worth = Recalibration("sigmoid", np.zeros(1), np.zeros(1), np.array([0.5]))
    assert worth.apply(np.array([np.inf, -np.inf])).tolist() == [5e99, -5e99]


# ---------------------------------------------------------------- the whole


@pytest.mark.parametrize("name", exported.LEARNERS)
def test_a_formula_adds_up_to_the_totals_of_its_model(name):
    """By hand, from nothing but the data: conditions, places, what is asked, weights, curve."""
    model = exported.fitted(name)
    formula = Formula.of(model)
    python = checks.wanted(model, checks.visit(formula))
    for row, wanted in zip(python.rows, python.totals, strict=True):
        sums, n, unknown = np.zeros(len(formula.prior)), 0, sum(formula.not_known)
        for term, share in zip(formula.terms, formula.not_known or formula.terms, strict=True):
            asks = [ask for c in term.columns for ask in c.asked]
            at = [first_that_holds(ask.feature, row[ask.feature.name]) for ask in asks]
            if not all(place in ask.places for place, ask in zip(at, asks, strict=True)):
                continue
            places = tuple(first_that_holds(c, row[c.name]) for c in term.columns)
            n += all(row[c.name] is not None or not c.skip_missing for c in term.columns)
            if places in term.places:
                sums = sums + term.weights[term.places.index(places)]
                unknown -= share if formula.not_known else 0.0
        prior, rule = np.array(formula.prior), formula.attenuation
        totals = prior + sums
        if rule is not None:
            e = rule.k / max(n + (rule.form == "root"), rule.k)
            if rule.form == "known":
                e = 1 / np.sqrt(1 + rule.k * unknown)
            both = totals * e if rule.form == "root" else prior + sums * e
            totals = both + rule.shift
        if formula.curve is not None:
            totals = formula.curve.apply(totals)
        assert totals == pytest.approx(wanted, rel=1e-9, abs=1e-9)


def test_a_formula_is_json():
    model = exported.fitted("crosses")
    data = json.loads(json.dumps(to_data(Formula.of(model)), allow_nan=False))
    assert [table["name"] for table in data["tables"]] == [t.name for t in model.evidence_]


def test_a_model_without_a_table_of_classes_says_what_it_is():
    X, y = exported.draw_table()
    tree = weigh.C44Classifier(categorical_features=["job", "smokes", "ward"]).fit(X, y)
    with pytest.raises(ValueError, match="C44Classifier"):
        evidence_of(tree)
    numbers = weigh.BoostedNBRegressor(n_rounds=2).fit(X[["income"]], X["income"])
    with pytest.raises(ValueError, match="BoostedNBRegressor"):
        evidence_of(numbers)
    assert evidence_of(numbers, numbers=True) is numbers.evidence_
