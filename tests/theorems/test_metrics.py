"""Metrics: equal to scikit-learn's, to slow literal versions, and to rows repeated by weight."""

import dataclasses

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize
from scipy.special import expit, logit
from scipy.stats import beta, norm, rankdata
from sklearn import metrics as sk
from sklearn.calibration import calibration_curve
from tests.scored import NIJ as FEATURES
from tests.scored import scored_rows

import weigh
from weigh import EvidenceNB, datasets, metrics
from weigh.metrics import (
    Scored,
    auc,
    auc_difference,
    best_threshold,
    brier,
    brier_decomposition,
    calibration_line,
    clopper_pearson,
    effective_weight,
    error_rates,
    expected_cost,
    gains_curve,
    lift_curve,
    loss_bits,
    misclassification_rate,
    net_benefit,
    population_stability_index,
    reliability_table,
)
from weigh.newton.regression import Coefficients, DesignRows, fit_coefficients

LIGHT = settings(max_examples=25, deadline=None)
OF_TWO = (
    auc,
    best_threshold,
    brier,
    brier_decomposition,
    calibration_line,
    error_rates,
    gains_curve,
    lift_curve,
    loss_bits,
    misclassification_rate,
    net_benefit,
    reliability_table,
)


# ---------------------------------------------------------------- data


def draw_rows(seed, n=200, slope=1.0):
    rng = np.random.default_rng(seed)
    total = rng.normal(size=n)
    y = (rng.random(n) < expit(slope * total)).astype(int)
    return y, expit(total)


def repeated(y, p, weight):
    return np.repeat(y, weight), np.repeat(p, weight)


def plain(value):
    """What a metric returned, as an array of numbers."""
    if dataclasses.is_dataclass(value):
        fields = [plain(getattr(value, field.name)) for field in dataclasses.fields(value)]
        return np.concatenate(fields)
    return np.atleast_1d(np.asarray(value, dtype=float))


# ---------------------------------------------------------------- what holds of all of them


@LIGHT
@given(scored_rows(both=False))
@pytest.mark.parametrize("metric", OF_TWO, ids=lambda f: f.__name__)
def test_weights_equal_repetition(metric, rows):
    y, p, weight = rows
    weighted = plain(metric(y, p, sample_weight=weight, pos_label=1))
    again = plain(metric(*repeated(y, p, weight), pos_label=1))
    np.testing.assert_allclose(weighted, again, rtol=1e-9, atol=1e-12)


@LIGHT
@given(scored_rows(), st.randoms(use_true_random=False))
@pytest.mark.parametrize("metric", OF_TWO, ids=lambda f: f.__name__)
def test_the_order_of_rows_does_not_matter_and_one_sort_serves_all(metric, rows, random):
    y, p, weight = rows
    expected = plain(metric(y, p, sample_weight=weight))
    scored = Scored.read(y, p, weight)
    np.testing.assert_array_equal(plain(metric(scored)), expected)
    mixed = random.sample(range(len(y)), len(y))
    again = plain(metric(y[mixed], p[mixed], sample_weight=weight[mixed]))
    np.testing.assert_allclose(again, expected, rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("metric", OF_TWO, ids=lambda f: f.__name__)
def test_labels_and_tables_of_any_kind_say_the_same(metric):
    y, p = draw_rows(0)
    expected = plain(metric(y, p))
    names = np.array(["bad", "good"])[y]
    for labels in (y == 1, names, [*names], 2 * y - 1, y.astype(float), pd.Series(names)):
        np.testing.assert_array_equal(plain(metric(labels, p)), expected)
    for labels in (pl.Series(names), pa.array(names), pd.Series(names, dtype="category")):
        np.testing.assert_array_equal(plain(metric(labels, pl.Series(p))), expected)
    both = np.column_stack([1 - p, p])
    for columns in (both, both.tolist(), pd.DataFrame(both), pl.DataFrame(both)):
        np.testing.assert_array_equal(plain(metric(y, columns)), expected)


@pytest.mark.parametrize("metric", OF_TWO, ids=lambda f: f.__name__)
def test_pos_label_turns_the_classes_round(metric):
    y, p = draw_rows(1)
    names = np.array(["bad", "good"])[y]
    expected = plain(metric(1 - y, 1 - p))
    np.testing.assert_array_equal(plain(metric(names, 1 - p, pos_label="bad")), expected)
    columns = np.column_stack([1 - p, p])
    np.testing.assert_array_equal(plain(metric(names, columns, pos_label="bad")), expected)


def test_pos_label_sets_one_of_many_against_the_rest():
    y, p = np.array([0, 1, 2, 2]), [0.1, 0.2, 0.7, 0.6]
    assert auc(y, p, pos_label=2) == auc(y == 2, p)


BROKEN = {
    "NaN": (([0, 1], [0.5, np.nan]), {}, "NaN .first in row 1."),
    "log odds": (([0, 1], [0.5, 2.0]), {}, "from 0 to 1, but holds 2"),
    "below 0": (([0, 1], [-0.5, 0.5]), {}, "but holds -0.5"),
    "infinite": (([0, 1], [0.5, np.inf]), {}, "but holds inf"),
    "lengths": (([0, 1, 1], [0.5, 0.5]), {}, "3 rows and y_prob 2"),
    "lengths of two columns": (([0, 1, 1], np.full((2, 2), 0.5)), {}, "3 rows and y_prob 2"),
    "empty": (([], []), {}, "empty"),
    "missing label": (([0, None], [0.5, 0.5]), {}, "missing labels"),
    "three labels": (([0, 1, 2], [0.5, 0.5, 0.5]), {}, "3 labels"),
    "one unknown label": ((["a", "a"], [0.5, 0.5]), {}, "pos_label"),
    "unknown pos_label": (([0, 1], [0.5, 0.5]), {"pos_label": 2}, "pos_label=2"),
    "one label, two columns": (
        ([0, 0], np.full((2, 2), 0.5)),
        {"pos_label": 0},
        "give that column alone",
    ),
    "a cube": (([0, 1], np.zeros((2, 2, 2))), {}, "shape"),
    "one column": (([0, 1], np.zeros((2, 1))), {}, "shape"),
    "a number": (([0, 1], 0.5), {}, "shape"),
    "ragged": (([0, 1], [[0.5, 0.5], [1.0]]), {}, "equal length"),
    "text": (([0, 1], ["a", "b"]), {}, "numbers"),
    "text in columns": (([0, 1], [["a", "b"], ["a", "b"]]), {}, "numbers"),
    "no probabilities": (([0, 1],), {}, "y_prob is missing"),
    "labels in columns": (([[0, 1], [1, 0]], [0.5, 0.5]), {}, "1d"),
    "negative weight": (([0, 1], [0.5, 0.5]), {"sample_weight": [1, -1]}, "negative"),
    "NaN weight": (([0, 1], [0.5, 0.5]), {"sample_weight": [1, np.nan]}, "finite"),
    "no weight": (([0, 1], [0.5, 0.5]), {"sample_weight": [0, 0]}, "zero for every row"),
    "weights too few": (([0, 1], [0.5, 0.5]), {"sample_weight": [1]}, "1 values for 2 rows"),
}


@pytest.mark.parametrize("metric", OF_TWO, ids=lambda f: f.__name__)
@pytest.mark.parametrize("case", BROKEN.values(), ids=[*BROKEN])
def test_broken_input_is_refused_in_words(metric, case):
    given_, options, message = case
    with pytest.raises(ValueError, match=message):
        metric(*given_, **options)


def test_a_scored_takes_nothing_beside_it():
    rows = Scored.read([0, 1], [0.2, 0.9])
    with pytest.raises(ValueError, match="give nothing else"):
        auc(rows, [0.2, 0.9])


Y, P = [0, 0, 1, 1, 0, 1], [0.1, 0.6, 0.4, 0.8, 0.3, 0.9]
Y3, P3 = [0, 1, 2] * 2, np.full((6, 3), 1 / 3)
UNHEEDED = {
    "loss_bits, wide": (lambda: loss_bits(Y3, P3, pos_label=1), "pos_label=1"),
    "loss_bits, labels": (lambda: loss_bits(Y, P, labels=[0, 1], pos_label=0), "pos_label=0"),
    "rate, wide, class": (lambda: misclassification_rate(Y3, P3, pos_label=1), "pos_label=1"),
    "rate, wide": (lambda: misclassification_rate(Y3, P3, threshold=0.2), "threshold=0.2"),
    "rate, labels": (
        lambda: misclassification_rate(Y, P, labels=[0, 1], threshold=0.2),
        "threshold=0.2",
    ),
    "cost, wide": (lambda: expected_cost(Y3, P3, np.ones((3, 3)), pos_label=1), "pos_label=1"),
    "cost, table": (lambda: expected_cost(Y, Y, [[0, 1], [5, 0]], pos_label=0), "pos_label=0"),
    "cost, labels": (lambda: expected_cost(Y, P, threshold=0.5, labels=[1, 0]), r"labels=\[1, 0"),
    "cost, Scored": (lambda: expected_cost(Scored.read(Y, P), labels=[0, 1]), r"labels=\[0, 1"),
}


@pytest.mark.parametrize("case", UNHEEDED.values(), ids=[*UNHEEDED])
def test_what_would_not_be_heeded_is_refused_by_name(case):
    ask, named = case
    with pytest.raises(ValueError, match=f"{named}.*leave .* out"):
        ask()


WRONG = {
    "coverage": (lambda: auc(Y, P, coverage="a"), "coverage must be .*'a'"),
    "coverages": (lambda: auc(Y, P, coverage=[0.5, 0.6]), "coverage must be"),
    "no coverage": (lambda: clopper_pearson(1, 2, None), "coverage must be .*None"),
    "successes": (lambda: clopper_pearson("a", 2), "successes must hold numbers.*'a'"),
    "costs": (lambda: best_threshold(Y, P, "a"), "cost_fp .*'a'"),
    "labels alone": (lambda: best_threshold("a"), "y_prob"),
    "net benefit": (lambda: net_benefit(Y, P, "a"), "thresholds must hold numbers.*'a'"),
    "edges": (lambda: reliability_table(Y, P, bins=["a"]), "bins must hold numbers.*'a'"),
    "ragged edges": (lambda: reliability_table(Y, P, bins=[[0], [0, 1]]), "bins must have"),
    "strategies": (lambda: reliability_table(Y, P, strategy=P), "strategy must be"),
    "depth": (lambda: gains_curve(Y, P).at("a"), "depth must hold numbers.*'a'"),
    "labels": (lambda: auc(Y, P, pos_label=[1]), r"pos_label must be one label, got \[1"),
    "no decisions": (lambda: expected_cost(Y), "y_pred is missing"),
    "large cost": (lambda: best_threshold(Y, P, 1e308, 1e308), r"cost_fp .* got 1e\+308"),
    "large costs": (lambda: expected_cost(Y, Y, (1e308, 1e308)), r"no larger than .*1e\+308"),
    "large weights": (lambda: auc(Y, P, sample_weight=[1e300] * 6), r"1e\+300; divide"),
    "small weights": (lambda: auc(Y, P, sample_weight=[1e-300] * 6), "1e-300; divide"),
}


@pytest.mark.parametrize("case", WRONG.values(), ids=[*WRONG])
def test_what_is_asked_wrongly_is_refused_by_name(case):
    ask, message = case
    with pytest.raises(ValueError, match=message):
        ask()


@LIGHT
@given(scored_rows(), st.integers(0, 2**32 - 1), st.sampled_from([3, 6, 20, 99]))
def test_weights_far_apart_give_a_line_or_a_reason_and_no_warning(rows, seed, powers):
    y, p, _ = rows
    weight = 10.0 ** np.random.default_rng(seed).uniform(-powers, powers, len(y))
    at = Scored.read(y, p, weight).groups.weight
    if at.max() > 1e12 * at.min():
        with pytest.raises(ValueError, match="sample_weight"):
            calibration_line(y, p, sample_weight=weight)
    else:
        assert np.isfinite(calibration_line(y, p, sample_weight=weight).in_the_large)
    assert 0 <= auc(y, p, sample_weight=weight).value <= 1


@pytest.mark.parametrize("metric", OF_TWO, ids=lambda f: f.__name__)
@pytest.mark.parametrize(
    ("y", "p"),
    [
        ([0, 0, 0], [0.1, 0.5, 0.9]),
        ([1, 1, 1], [0.1, 0.5, 0.9]),
        ([0, 1, 0], [0.5, 0.5, 0.5]),
        ([0, 1, 1], [0.0, 1.0, 1.0]),
        ([1, 0, 0], [0.0, 1.0, 1.0]),
        ([0, 1, 0], [0.0, 0.0, 0.0]),
        ([1], [1.0]),
        ([0, 1, 1], [0.2, 0.2, 0.4]),
    ],
)
def test_degenerate_rows_give_a_documented_value_and_no_warning(metric, y, p):
    values = plain(metric(y, p))
    assert values.dtype == float
    assert len(values) > 0


def test_documented_values_of_degenerate_rows():
    one_class = ([0, 0, 0], [0.1, 0.5, 0.9])
    assert np.isnan(plain(auc(*one_class))[:4]).all()
    assert np.isnan(plain(calibration_line(*one_class))).all()
    assert np.isnan(error_rates(*one_class).sensitivity)
    assert np.isnan(gains_curve(*one_class).gain).all()
    assert np.isnan(plain(auc_difference([0, 0], [0.1, 0.2], [0.3, 0.1]))[:5]).all()
    constant = ([0, 1, 0, 1], [0.3] * 4)
    assert plain(auc(*constant))[:4].tolist() == [0.5, 0, 0.5, 0.5]
    line = calibration_line(*constant)
    assert np.isnan([line.slope, line.intercept]).all()
    assert line.in_the_large == pytest.approx(-logit(0.3))
    perfect = auc([0, 0, 1, 1], [0.1, 0.2, 0.3, 0.4])
    assert (perfect.value, perfect.error) == (1, 0)
    assert np.isnan([perfect.low, perfect.high]).all()
    assert calibration_line([0, 0, 1, 1], [0.1, 0.2, 0.2, 0.4]).slope == np.inf
    assert calibration_line([1, 1, 0, 0], [0.1, 0.2, 0.2, 0.4]).slope == -np.inf
    assert np.isnan(auc([0, 1, 0], [0.1, 0.2, 0.3]).error)
    assert best_threshold([1, 1], [0.0, 0.5]).threshold == -np.inf
    same = auc_difference([0, 0, 1, 1], [0.1, 0.3, 0.2, 0.4], [0.1, 0.3, 0.2, 0.4])
    assert (same.value, same.error) == (0, 0)
    assert np.isnan(same.p_value)


def test_certain_and_wrong_costs_what_the_paper_says():
    assert loss_bits([1, 0], [0.0, 1.0]) == pytest.approx(-np.log2(1e-10))
    assert loss_bits([1, 0], [1.0, 0.0]) == pytest.approx(-np.log2(1 - 1e-10), rel=1e-6)
    many = np.eye(3)[[1, 1]]
    assert loss_bits(["a", "b"], many, labels=[*"abc"]) == pytest.approx(-np.log2(1e-10) / 2)


# ---------------------------------------------------------------- equal to scikit-learn's


@LIGHT
@given(scored_rows())
def test_scores_are_those_of_scikit_learn(rows):
    y, p, weight = rows
    kept = weight > 0
    inside = np.clip(p, 1e-10, 1 - 1e-10)
    assert loss_bits(y, p, sample_weight=weight) == pytest.approx(
        sk.log_loss(y, inside, sample_weight=weight) / np.log(2)
    )
    assert brier(y, p, sample_weight=weight) == pytest.approx(
        sk.brier_score_loss(y, p, sample_weight=weight)
    )
    assert auc(y, p, sample_weight=weight).value == pytest.approx(
        sk.roc_auc_score(y[kept], p[kept], sample_weight=weight[kept])
    )
    said = (p > 0.5).astype(int)
    assert misclassification_rate(y, p, sample_weight=weight) == pytest.approx(
        1 - sk.accuracy_score(y, said, sample_weight=weight)
    )


@LIGHT
@given(scored_rows(), st.sampled_from([0.0, 0.1, 0.5, 0.7, 1.0]))
def test_error_rates_are_those_of_scikit_learns_confusion_matrix(rows, threshold):
    y, p, weight = rows
    said = (p > threshold).astype(int)
    table = sk.confusion_matrix(y, said, sample_weight=weight)
    rates = error_rates(y, p, threshold, sample_weight=weight)
    counted = [rates.true_negatives, rates.false_positives]
    counted += [rates.false_negatives, rates.true_positives]
    assert counted == table.ravel().tolist()
    assert rates.n == weight.sum()
    assert rates.sensitivity == pytest.approx(sk.recall_score(y, said, sample_weight=weight))
    assert rates.specificity == pytest.approx(
        sk.recall_score(y, said, pos_label=0, sample_weight=weight)
    )
    assert rates.sensitivity + rates.false_negative_rate == pytest.approx(1)
    assert rates.specificity + rates.false_positive_rate == pytest.approx(1)
    if said[weight > 0].any():
        assert rates.ppv == pytest.approx(sk.precision_score(y, said, sample_weight=weight))
    if not said[weight > 0].all():
        found = sk.precision_score(y, said, pos_label=0, sample_weight=weight)
        assert rates.npv == pytest.approx(found)
    wrong = misclassification_rate(y, p, threshold=threshold, sample_weight=weight)
    assert rates.misclassification == pytest.approx(wrong)
    assert rates.flagged == pytest.approx(np.average(said, weights=weight))


@LIGHT
@given(scored_rows(), st.integers(1, 12))
def test_bins_of_equal_width_are_those_of_calibration_curve(rows, bins):
    y, p, weight = rows
    low, high = np.sort([np.linspace(0, 1, bins + 1), np.arange(bins + 1) / bins], axis=0)
    between = (p[:, None] > low) & (p[:, None] <= high)
    assume(not between.any())  # edges can differ in the last bit
    table = reliability_table(*repeated(y, p, weight), bins=bins, pos_label=1)
    rate, mean = calibration_curve(*repeated(y, p, weight), n_bins=bins, pos_label=1)
    np.testing.assert_allclose(table.rate, rate)
    np.testing.assert_allclose(table.mean_prediction, mean)


def test_many_classes_are_those_of_scikit_learn():
    rng = np.random.default_rng(3)
    y, p = rng.choice([*"abc"], 200), rng.dirichlet([1, 1, 1], 200)
    weight = rng.integers(1, 4, 200)
    loss = sk.log_loss(y, p, sample_weight=weight) / np.log(2)
    assert loss_bits(y, p, sample_weight=weight) == pytest.approx(loss)
    said = np.array([*"abc"])[p.argmax(axis=1)]
    wrong = 1 - sk.accuracy_score(y, said, sample_weight=weight)
    assert misclassification_rate(y, p, sample_weight=weight) == pytest.approx(wrong)
    turned = p[:, ::-1]
    assert loss_bits(y, turned, labels=[*"cba"], sample_weight=weight) == pytest.approx(loss)
    some = y != "c"
    whole = np.average(-np.log2(p[np.arange(200), (y == "b").astype(int)])[some])
    assert loss_bits(y[some], p[some], labels=[*"abc"]) == pytest.approx(whole)


@pytest.mark.parametrize(
    ("y", "p", "labels", "message"),
    [
        ([0, 1, 2], np.full((3, 3), 0.5), None, "add up to 1"),
        ([0, 1, 1], np.full((3, 3), 1 / 3), None, "name those of its columns"),
        ([0, 1, 5], np.full((3, 3), 1 / 3), [0, 1, 2], "5 is not among"),
        ([0, 1, 2], np.full((3, 3), 1 / 3), [0, 1, 1], "each class once"),
        ([0, 1, 2], np.full((2, 3), 1 / 3), None, "3 rows and y_prob 2"),
        ([0, 1, 2], [[0.1, 0.9, np.nan]] * 3, None, "NaN"),
    ],
)
def test_broken_tables_of_many_classes_are_refused(y, p, labels, message):
    for metric in (loss_bits, misclassification_rate):
        with pytest.raises(ValueError, match=message):
            metric(y, p, labels=labels)


# ---------------------------------------------------------------- cost and thresholds


def literal_cost(y, said, costs, weight):
    paid = [w * costs[a][b] for a, b, w in zip(y, said, weight, strict=True)]
    return sum(paid) / sum(weight)


@LIGHT
@given(scored_rows(), st.floats(0, 5), st.floats(0, 5), st.floats(0, 1))
def test_cost_is_what_each_decision_costs(rows, false_positive, false_negative, threshold):
    y, p, weight = rows
    said = (p > threshold).astype(int)
    literal = literal_cost(y, said, [[0, false_positive], [false_negative, 0]], weight)
    pair = (false_positive, false_negative)
    for found in (
        expected_cost(y, p, pair, threshold=threshold, sample_weight=weight),
        expected_cost(Scored.read(y, p, weight), costs=pair, threshold=threshold),
        expected_cost(y, said, pair, labels=[0, 1], sample_weight=weight),
        expected_cost(1 - y, 1 - said, pair, labels=[0, 1], sample_weight=weight, pos_label=0),
    ):
        assert found == pytest.approx(literal, abs=1e-12)


def test_cost_of_many_classes_takes_any_matrix_and_decides_by_least_expected_cost():
    rng = np.random.default_rng(5)
    y, p = rng.integers(0, 3, 60), rng.dirichlet([1, 1, 1], 60)
    costs = rng.random((3, 3))
    weight = rng.integers(1, 4, 60)
    expected = [[sum(row[i] * costs[i][j] for i in range(3)) for j in range(3)] for row in p]
    said = np.argmin(expected, axis=1)
    literal = literal_cost(y, said, costs, weight)
    assert expected_cost(y, p, costs, sample_weight=weight) == pytest.approx(literal)
    assert expected_cost(y, said, costs, sample_weight=weight) == pytest.approx(literal)
    names = np.array([*"abc"])
    back = costs[::-1, ::-1]
    found = expected_cost(names[y], names[said], back, labels=[*"cba"], sample_weight=weight)
    assert found == pytest.approx(literal)
    assert expected_cost([1, 1], [1, 1], (2, 3)) == 0


@pytest.mark.parametrize(
    ("y", "said", "options", "message"),
    [
        ([0, 1], [0, 1], {"costs": [1, 2, 3]}, "costs must be"),
        ([0, 1], [0, 1], {"costs": (1, np.nan)}, "got .1, nan"),
        ([0, 1, 2], [0, 1, 2], {"costs": (1, 2)}, "3 x 3"),
        ([0, 1], [0, 1], {"costs": "dear"}, "costs must hold numbers"),
        ([0, 1], [0, 1, 1], {}, "2 rows and y_pred 3"),
        ([0, 1], [0, 3], {"labels": [0, 1]}, "3 is not among"),
        ([0, 1], [0, 1], {"pos_label": 4}, "pos_label=4"),
    ],
)
def test_broken_costs_are_refused(y, said, options, message):
    with pytest.raises(ValueError, match=message):
        expected_cost(y, said, **options)


@LIGHT
@given(scored_rows(), st.floats(0.1, 5), st.floats(0.1, 5))
def test_no_threshold_costs_less_than_the_best(rows, cost_fp, cost_fn):
    y, p, weight = rows
    best = best_threshold(y, p, cost_fp, cost_fn, sample_weight=weight)
    tried = [-1.0, *np.unique(p), *(np.unique(p) - 1e-12), 1.0]
    costs = [
        expected_cost(y, p, (cost_fp, cost_fn), threshold=t, sample_weight=weight) for t in tried
    ]
    assert best.cost == pytest.approx(min(costs))
    own = [
        expected_cost(y, p, (cost_fp, cost_fn), threshold=t, sample_weight=weight)
        for t in (best.threshold, best.theoretical)
    ]
    assert own == pytest.approx([best.cost, best.theoretical_cost])
    assert best.theoretical == pytest.approx(cost_fp / (cost_fp + cost_fn))


def test_of_equally_good_thresholds_the_nearest_to_theory_is_taken():
    best = best_threshold([0, 0, 1, 1], [0.1, 0.2, 0.8, 0.9], 1, 1)
    assert best.threshold == 0.5
    tied = best_threshold([0, 1, 0, 1], [0.1, 0.3, 0.6, 0.8], 1, 1)
    assert tied.threshold in (0.2, 0.7)
    assert tied.threshold == pytest.approx(0.7)


@pytest.mark.parametrize("costs", [(-1, 1), (0, 0), (np.nan, 1), (1, np.inf)])
def test_impossible_costs_have_no_threshold(costs):
    with pytest.raises(ValueError, match=r"cost_fp|cost_fn"):
        best_threshold([0, 1], [0.2, 0.8], *costs)


@pytest.mark.parametrize("threshold", [np.nan, "a", None, [0.1, 0.2]])
@pytest.mark.parametrize("metric", [error_rates, misclassification_rate, expected_cost])
def test_what_is_no_threshold_is_refused(metric, threshold):
    if metric is expected_cost and threshold is None:  # decisions, then
        return
    with pytest.raises(ValueError, match=r"threshold must be a probability .*, got"):
        metric([0, 1], [0.2, 0.8], threshold=threshold)


@LIGHT
@given(scored_rows(), st.lists(st.floats(0, 0.99), min_size=1, max_size=5))
def test_net_benefit_is_its_formula(rows, thresholds):
    y, p, weight = rows
    curve = net_benefit(y, p, thresholds, sample_weight=weight)
    n = weight.sum()
    for i, t in enumerate(thresholds):
        acted = p > t
        true = sum(weight[acted & (y == 1)])
        false = sum(weight[acted & (y == 0)])
        assert curve.model[i] == pytest.approx(true / n - false / n * t / (1 - t))
        rate = sum(weight[y == 1]) / n
        assert curve.treat_all[i] == pytest.approx(rate - (1 - rate) * t / (1 - t))
    assert not curve.treat_none.any()


@pytest.mark.parametrize("thresholds", [[1.0], [-0.1], [np.nan], [[0.1]]])
def test_net_benefit_refuses_thresholds_that_mean_nothing(thresholds):
    with pytest.raises(ValueError, match="without 1"):
        net_benefit([0, 1], [0.2, 0.8], thresholds)


# ---------------------------------------------------------------- AUC


def literal_auc(y, p):
    pairs = [(a > b) + (a == b) / 2 for a in p[y == 1] for b in p[y == 0]]
    return np.mean(pairs)


def literal_delong(y, columns):
    """The covariance of AUCs by DeLong et al. (1988), Eqs. 3 to 6, over all pairs."""
    one, zero = y == 1, y == 0
    kernel = [[[(a > b) + (a == b) / 2 for b in p[zero]] for a in p[one]] for p in columns]
    by_positive = [np.mean(k, axis=1) for k in kernel]
    by_negative = [np.mean(k, axis=0) for k in kernel]
    return np.cov(by_positive) / one.sum() + np.cov(by_negative) / zero.sum()


@LIGHT
@given(scored_rows())
def test_delong_is_the_sum_over_pairs(rows):
    y, p, weight = rows
    y_all, p_all = repeated(y, p, weight)
    assume(min(y_all.sum(), (1 - y_all).sum()) > 1)
    found = auc(y, p, sample_weight=weight)
    assert found.value == pytest.approx(literal_auc(y_all, p_all))
    assert found.error**2 == pytest.approx(float(literal_delong(y_all, [p_all])), abs=1e-12)
    if 0 < found.value < 1:
        assert 0 <= found.low <= found.value <= found.high <= 1


@LIGHT
@given(scored_rows(), st.integers(0, 2**32 - 1))
def test_the_difference_of_two_aucs_has_delongs_variance(rows, seed):
    y, p, weight = rows
    rng = np.random.default_rng(seed)
    other = np.clip(p + rng.normal(size=len(p)) / 4, 0, 1).round(2)
    y_all, columns = np.repeat(y, weight), [np.repeat(p, weight), np.repeat(other, weight)]
    assume(min(y_all.sum(), (1 - y_all).sum()) > 1)
    found = auc_difference(y, p, other, sample_weight=weight)
    assert found.value == pytest.approx(
        literal_auc(y_all, columns[0]) - literal_auc(y_all, columns[1])
    )
    cov = literal_delong(y_all, columns)
    assert found.error**2 == pytest.approx(cov[0, 0] + cov[1, 1] - 2 * cov[0, 1], abs=1e-12)
    assert found == auc_difference(Scored.read(y, p, weight), Scored.read(y, other, weight)) or (
        found.error == 0
    )


def test_delongs_error_is_that_of_a_bootstrap():
    y, p = draw_rows(7, n=400)
    other = expit(logit(p) + np.random.default_rng(8).normal(size=400) / 2)
    rows = np.random.default_rng(9).integers(0, 400, (1000, 400))
    first, second = (rank_auc(y[rows], column[rows]) for column in (p, other))
    assert first[0] == pytest.approx(sk.roc_auc_score(y[rows[0]], p[rows[0]]), rel=1e-12)
    assert auc(y, p).error == pytest.approx(np.std(first), rel=0.1)
    assert auc_difference(y, p, other).error == pytest.approx(np.std(first - second), rel=0.1)


def rank_auc(y, p):
    """The AUC of each line of labels and probabilities, from the ranks of its positives."""
    ranks, n_positive = rankdata(p, axis=1), y.sum(axis=1)
    above = (ranks * y).sum(axis=1) - n_positive * (n_positive + 1) / 2
    return above / (n_positive * (y.shape[1] - n_positive))


def test_intervals_of_the_auc_cover_as_often_as_they_say():
    truth = auc(*draw_rows(100, n=200_000)).value
    found = [auc(*draw_rows(seed, n=150), coverage=0.9) for seed in range(400)]
    covered = np.mean([one.low <= truth <= one.high for one in found])
    assert 0.86 < covered < 0.94


@LIGHT
@given(scored_rows(), st.sampled_from([0.5, 0.9, 0.95]))
def test_the_interval_of_the_auc_is_normal_on_the_scale_of_its_log_odds(rows, coverage):
    y, p, weight = rows
    found = auc(y, p, sample_weight=weight, coverage=coverage)
    assert found.coverage == coverage
    if not 0 < found.value < 1 or np.isnan(found.error):
        assert np.isnan([found.low, found.high]).all()
        return
    reach = norm.isf((1 - coverage) / 2) * found.error / found.value / (1 - found.value)
    ends = expit(logit(found.value) - reach), expit(logit(found.value) + reach)
    assert (found.low, found.high) == pytest.approx(ends, abs=1e-9)


@LIGHT
@given(scored_rows(), st.integers(0, 2**32 - 1), st.sampled_from([0.5, 0.9, 0.95]))
def test_a_difference_of_aucs_has_a_normal_interval_and_p_value(rows, seed, coverage):
    y, p, weight = rows
    other = np.random.default_rng(seed).random(len(y))
    found = auc_difference(y, p, other, sample_weight=weight, coverage=coverage)
    assert found.coverage == coverage
    reach = norm.isf((1 - coverage) / 2) * found.error
    ends = found.value - reach, found.value + reach
    assert (found.low, found.high) == pytest.approx(ends, abs=1e-9, nan_ok=True)
    if found.error > 0:
        p_value = 2 * norm.sf(abs(found.value) / found.error)
        assert found.p_value == pytest.approx(p_value, abs=1e-12)
        # an interval that covers 1 - p ends at 0
        if 1e-9 < p_value < 1:
            edge = auc_difference(y, p, other, sample_weight=weight, coverage=1 - p_value)
            assert min(abs(edge.low), abs(edge.high)) == pytest.approx(0, abs=1e-6)
    else:
        assert np.isnan(found.p_value)


@LIGHT
@given(scored_rows(), st.sampled_from([0.5, 0.9, 0.95]))
def test_the_intervals_of_a_reliability_table_cover_what_they_are_asked_to(rows, coverage):
    y, p, weight = rows
    table = reliability_table(y, p, sample_weight=weight, coverage=coverage)
    assert table.coverage == coverage
    n, k = table.weight.round(), (table.rate * table.weight).round()
    tail = (1 - coverage) / 2
    low, high = beta.ppf(tail, k, n - k + 1), beta.isf(tail, k + 1, n - k)
    np.testing.assert_allclose(table.rate_low, np.where(k > 0, low, 0), atol=1e-9)
    np.testing.assert_allclose(table.rate_high, np.where(k < n, high, 1), atol=1e-9)


@given(st.lists(st.floats(0.01, 100), min_size=1, max_size=20), st.floats(1e-6, 1e6))
def test_effective_weights_add_up_to_kishs_count_whatever_their_scale(weights, scale):
    w = np.array(weights)
    found = effective_weight(scale * w)
    assert found.sum() == pytest.approx(w.sum() ** 2 / (w**2).sum())
    np.testing.assert_allclose(found / found.sum(), w / w.sum(), rtol=1e-9)
    assert found.sum() <= len(w) * (1 + 1e-12)


def test_intervals_of_effective_weights_cover_and_those_of_sampling_weights_do_not():
    random = np.random.default_rng(0)
    covered = []
    for _ in range(400):
        y = random.random(150) < 0.3
        weight = random.lognormal(0, 1, 150)
        p = np.full(150, 0.5)
        for given_ in (effective_weight(weight), weight / weight.mean()):
            table = reliability_table(y, p, bins=1, sample_weight=given_, pos_label=True)
            covered.append(table.rate_low[0] <= 0.3 <= table.rate_high[0])
    effective, plain_mean = np.reshape(covered, (400, 2)).mean(axis=0)
    assert effective > 0.92
    assert plain_mean < 0.85


def test_models_scored_on_other_rows_are_not_compared():
    with pytest.raises(ValueError, match="same rows"):
        auc_difference(Scored.read([0, 1], [0.1, 0.2]), Scored.read([1, 0], [0.1, 0.2]))


@pytest.mark.parametrize("coverage", [0, 1, 95, np.nan])
def test_coverage_is_a_share(coverage):
    for call in (auc, reliability_table):
        with pytest.raises(ValueError, match="coverage"):
            call([0, 1], [0.1, 0.2], coverage=coverage)


# ---------------------------------------------------------------- gains and lift


@LIGHT
@given(scored_rows())
def test_gains_count_the_positives_from_the_top(rows):
    y, p, weight = rows
    curve = gains_curve(y, p, sample_weight=weight)
    depth, gain = [0.0], [0.0]
    for t in sorted({*p[weight > 0]}, reverse=True):
        depth.append(weight[p >= t].sum() / weight.sum())
        gain.append(weight[(p >= t) & (y == 1)].sum() / weight[y == 1].sum())
    np.testing.assert_allclose(curve.depth, depth)
    np.testing.assert_allclose(curve.gain, gain)
    assert curve.base_rate == pytest.approx(np.average(y, weights=weight))
    lift = lift_curve(y, p, sample_weight=weight)
    np.testing.assert_allclose(lift.lift, np.array(gain[1:]) / depth[1:])
    middle = np.array([0.1, 0.35, 1.0])
    np.testing.assert_allclose(lift.at(middle), curve.at(middle) / middle)


def test_tied_rows_are_taken_in_random_order():
    curve = gains_curve([1, 0, 1, 0], [0.5, 0.5, 0.5, 0.5])
    assert curve.at(0.3) == pytest.approx(0.3)
    assert lift_curve([1, 0, 1, 0], [0.5, 0.5, 0.5, 0.5]).at(0.3) == pytest.approx(1)


def test_depth_is_a_share_of_rows():
    with pytest.raises(ValueError, match="from 0 to 1"):
        gains_curve([0, 1], [0.1, 0.2]).at(1.5)
    with pytest.raises(ValueError, match="above 0"):
        lift_curve([0, 1], [0.1, 0.2]).at(0)


# ---------------------------------------------------------------- reliability


@LIGHT
@given(scored_rows(), st.integers(1, 12), st.sampled_from(["width", "count"]))
def test_the_parts_of_the_brier_score_add_up(rows, bins, strategy):
    y, p, weight = rows
    parts = brier_decomposition(y, p, bins, strategy, sample_weight=weight)
    assert parts.brier == pytest.approx(brier(y, p, sample_weight=weight), abs=1e-12)
    table = reliability_table(y, p, bins, strategy, sample_weight=weight)
    gap = table.rate - table.mean_prediction
    assert parts.reliability == pytest.approx(np.average(gap**2, weights=table.weight), abs=1e-12)
    assert table.expected_calibration_error == pytest.approx(
        np.average(np.abs(gap), weights=table.weight)
    )
    assert table.rmse == pytest.approx(np.sqrt(np.mean(gap**2)))
    assert table.largest_gap == pytest.approx(np.abs(gap).max())
    assert table.weight_at_largest_gap == table.weight[np.abs(gap).argmax()]


def literal_parts(y, p, bin_of):
    """Stephenson, Coelho & Jolliffe (2008), Eqs. 4 to 9, bin by bin."""
    n, base = len(y), y.mean()
    found = dict.fromkeys(("reliability", "resolution", "within_variance", "within_covariance"), 0)
    for k in {*bin_of}:
        f, o = p[bin_of == k], y[bin_of == k]
        found["reliability"] += len(f) * (f.mean() - o.mean()) ** 2 / n
        found["resolution"] += len(f) * (o.mean() - base) ** 2 / n
        found["within_variance"] += sum((f - f.mean()) ** 2) / n
        found["within_covariance"] += 2 * sum((f - f.mean()) * (o - o.mean())) / n
    return found | {"uncertainty": base * (1 - base)}


@LIGHT
@given(scored_rows(), st.integers(1, 12))
def test_the_parts_of_the_brier_score_are_those_of_the_paper(rows, bins):
    y, p = repeated(*rows)
    edges = [k / bins for k in range(bins + 1)]
    bin_of = np.array([next(k for k in range(1, bins + 1) if x <= edges[k]) for x in p])
    parts = brier_decomposition(y, p, bins)
    for name, value in literal_parts(y, p, bin_of).items():
        assert getattr(parts, name) == pytest.approx(value, abs=1e-12)


@LIGHT
@given(scored_rows(), st.integers(2, 8))
def test_bins_of_equal_count_part_no_ties_and_end_at_quantiles(rows, bins):
    y, p, weight = rows
    table = reliability_table(y, p, bins, "count", sample_weight=weight)
    assert table.weight.sum() == weight.sum()
    every = np.sort(np.repeat(p, weight))
    ends = {every[int(np.ceil(k * len(every) / bins)) - 1] for k in range(1, bins)}
    assert {*table.high} <= ends | {1.0}
    for low, high, total in zip(table.low, table.high, table.weight, strict=True):
        inside = (every > low) & (every <= high) | ((low == 0) & (every == 0))
        assert inside.sum() == total


def test_a_bin_holds_its_upper_end():
    table = reliability_table([0, 1, 1, 0], [0.0, 0.1, 0.2, 0.3])
    assert table.high.tolist() == pytest.approx([0.1, 0.2, 0.3])
    assert table.weight.tolist() == [2, 1, 1]


def test_bins_can_be_given_by_their_edges():
    y, p = draw_rows(2)
    table = reliability_table(y, p, [0, 0.25, 1])
    assert table.weight.tolist() == [(p <= 0.25).sum(), (p > 0.25).sum()]


@pytest.mark.parametrize("bins", [0, 2.5, True, [0.1, 1], [0, 0, 1], "ten", None])
def test_impossible_bins_are_refused(bins):
    with pytest.raises(ValueError, match="bins"):
        reliability_table([0, 1], [0.1, 0.2], bins)


def test_an_unknown_strategy_is_refused():
    with pytest.raises(ValueError, match="strategy"):
        reliability_table([0, 1], [0.1, 0.2], strategy="uniform")


@LIGHT
@given(st.integers(0, 30), st.integers(1, 30), st.sampled_from([0.5, 0.9, 0.95]))
def test_clopper_pearson_is_the_beta_quantile_and_inverts_the_binomial(k, n, coverage):
    k = min(k, n)
    low, high = map(float, clopper_pearson(k, n, coverage))
    tail = (1 - coverage) / 2
    assert low == pytest.approx(beta.ppf(tail, k, n - k + 1) if k else 0)
    assert high == pytest.approx(beta.ppf(1 - tail, k + 1, n - k) if k < n else 1)
    assert low <= k / n <= high


def test_a_rate_above_one_is_refused():
    with pytest.raises(ValueError, match="swapped"):
        clopper_pearson(3, 2)


def test_the_table_becomes_a_frame():
    table = reliability_table(*draw_rows(3))
    frame = table.to_frame("pandas")
    assert frame["rate"].tolist() == table.rate.tolist()
    assert table.to_frame().num_rows == len(table)


# ---------------------------------------------------------------- the calibration line


@LIGHT
@given(scored_rows())
def test_the_calibration_line_has_the_least_loss(rows):
    y, p = repeated(*rows)
    line = calibration_line(y, p)
    assume(np.isfinite(line.slope))
    x = logit(np.clip(p, 1e-10, 1 - 1e-10))

    def slope_of_loss(intercept, slope):
        missed = expit(intercept + slope * x) - y
        return np.array([missed.sum(), missed @ x])

    scale = 1 + np.abs(x).sum()
    assert np.abs(slope_of_loss(line.intercept, line.slope)).max() < 1e-6 * scale
    assert abs(slope_of_loss(line.in_the_large, 1.0)[0]) < 1e-6 * len(y)
    p_line = expit(line.intercept + line.slope * x)
    design = np.column_stack([np.ones(len(x)), x])
    information = design.T @ ((p_line * (1 - p_line))[:, None] * design)
    assume(np.linalg.cond(information) < 1e8)
    errors = np.sqrt(np.diag(np.linalg.inv(information)))
    assert [line.intercept_error, line.slope_error] == pytest.approx(errors, rel=1e-3)


def test_the_line_finds_the_slope_that_the_data_were_drawn_with():
    line = calibration_line(*draw_rows(4, n=50_000, slope=0.6))
    assert line.slope == pytest.approx(0.6, abs=3 * line.slope_error)
    assert line.intercept == pytest.approx(0, abs=3 * line.intercept_error)


def test_the_line_ignores_whether_a_slope_is_hard_to_find():
    y, p = draw_rows(5, n=40)
    p[:2], y[:2] = [1e-300, 1.0], [1, 0]
    line = calibration_line(y, p)
    assert np.isfinite(plain(line)).all()


@LIGHT
@given(st.integers(0, 2**32 - 1))
def test_the_logistic_fit_has_the_least_loss_wherever_it_begins(seed):
    rng = np.random.default_rng(seed)
    design = np.column_stack([np.ones(30), rng.normal(size=(30, 2))])
    ones, zeros = (rng.integers(1, 4, 30).astype(float) for _ in range(2))  # in every group both

    def loss(b):
        t = design @ b
        return ones @ np.logaddexp(0, -t) + zeros @ np.logaddexp(0, t)

    least = minimize(loss, np.zeros(3)).fun
    for start in (None, rng.normal(size=3), np.array([40.0, 60.0, -50.0])):
        fit = fit_coefficients(DesignRows(design, ones / (ones + zeros), ones + zeros), start)
        assert loss(fit.b) <= least + 1e-9
    p = expit(design @ fit.b)
    information = design.T @ (((ones + zeros) * p * (1 - p))[:, None] * design)
    np.testing.assert_allclose(fit.covariance @ information, np.eye(3), atol=1e-9)


@pytest.mark.parametrize("seed", range(12))
def test_the_line_is_found_in_few_steps_and_does_not_walk_about_in_rounding(seed, monkeypatch):
    rng = np.random.default_rng(seed)
    y = rng.random(4000) < 0.04
    far = np.where(y, 4 * rng.normal(size=4000) + 3, 12 * rng.normal(size=4000) - 40)
    seen, moved = [], Coefficients.moved
    monkeypatch.setattr(Coefficients, "moved", lambda at, step: seen.append(at) or moved(at, step))
    calibration_line(y, expit(far))
    assert len(seen) <= 40


# ---------------------------------------------------------------- drift


def literal_index(expected, actual, bin_of):
    total = 0.0
    for k in {*map(bin_of, expected), *map(bin_of, actual)}:
        e, a = (max(np.mean([bin_of(v) == k for v in part]), 1e-4) for part in (expected, actual))
        total += (a - e) * np.log(a / e)
    return total


@LIGHT
@given(st.integers(0, 2**32 - 1), st.integers(1, 8), st.sampled_from([3, 1000]))
def test_the_stability_index_of_numbers_is_cut_at_quantiles_of_the_expected(seed, bins, grid):
    rng = np.random.default_rng(seed)
    expected, actual = rng.integers(0, grid, 50) / 7, rng.integers(-2, grid + 2, 40) / 7
    ranked = np.sort(expected)
    cuts = sorted({ranked[int(np.ceil(k * 50 / bins)) - 1] for k in range(1, bins)} - {ranked[-1]})
    found = population_stability_index(expected, actual, bins)
    literal = literal_index(expected, actual, lambda v: sum(v > cut for cut in cuts))
    assert found.value == pytest.approx(literal)
    assert len(found.labels) == len(cuts) + 1
    assert found.value == pytest.approx(found.parts.sum())


@LIGHT
@given(st.integers(0, 2**32 - 1))
def test_the_stability_index_of_categories_goes_level_by_level_and_takes_weights(seed):
    rng = np.random.default_rng(seed)
    expected, actual = rng.choice([*"abc"], 30), rng.choice([*"bcd"], 20)
    weights = rng.integers(0, 3, 30), rng.integers(0, 3, 20)
    assume(all(weight.any() for weight in weights))
    found = population_stability_index(
        expected, actual, expected_weight=weights[0], actual_weight=weights[1]
    )
    rows = np.repeat(expected, weights[0]), np.repeat(actual, weights[1])
    assert found.value == pytest.approx(literal_index(*rows, lambda v: v))
    numbers = rng.normal(size=30)
    weighted = population_stability_index(numbers, numbers[:20], expected_weight=weights[0])
    again = population_stability_index(np.repeat(numbers, weights[0]), numbers[:20])
    assert weighted.value == pytest.approx(again.value)
    assert weighted.labels == again.labels


def test_missing_labels_are_counted_among_the_rows_that_count():
    told = "missing labels in 1 of 3 rows of positive weight, .*row 3"
    with pytest.raises(ValueError, match=told):
        auc(["a", None, "b", None], [0.1, 0.2, 0.3, 0.4], sample_weight=[1, 0, 1, 1])


def test_the_stability_index_counts_what_is_missing():
    found = population_stability_index([1.0, 2.0, 3.0, 4.0], [1.0, 2.0, np.nan, np.nan], 2)
    assert found.labels[-1] == "missing"
    assert found.actual.tolist() == [0.5, 0, 0.5]
    texts = population_stability_index(["a", "b"], ["a", None])
    assert texts.labels == ("a", "b", "missing")
    assert population_stability_index([1.0, 1.0], [1.0, 2.0]).labels == ("all",)
    assert population_stability_index([np.nan], [np.nan]).value == 0


def test_equal_samples_have_not_moved():
    values = np.arange(100.0)
    found = population_stability_index(values, values)
    assert (found.value, found.shift) == (0, "none")
    assert population_stability_index(values, values + 8).shift == "some"
    assert population_stability_index(values, values + 90).shift == "major"


@pytest.mark.parametrize(
    ("expected", "actual", "options", "message"),
    [
        ([1.0], ["a"], {}, "numbers and actual categories"),
        ([], [1.0], {}, "expected is empty"),
        ([1.0], [1.0], {"bins": 0}, "bins"),
        ([1.0], [1.0], {"expected_weight": [-1]}, "expected_weight must not be negative"),
        ([[1.0]], [1.0], {}, "expected must be"),
    ],
)
def test_broken_samples_are_refused(expected, actual, options, message):
    with pytest.raises(ValueError, match=message):
        population_stability_index(expected, actual, **options)


# ---------------------------------------------------------------- the papers' numbers


NIJ = {
    "features": FEATURES,
    "target": "Recidivism_Within_3years",
}


def test_the_notes_error_rates_and_auc_come_out(papers_data):
    table = datasets.load("nij_recidivism_full")
    training = table["Training_Sample"].to_numpy() == 1
    X, y = table.select(NIJ["features"]), table[NIJ["target"]].to_numpy()
    p = EvidenceNB(smoothing=0).fit(X.filter(training), y[training]).predict_proba(X)
    wrong = [misclassification_rate(y[part], p[part]) for part in (training, ~training)]
    assert [f"{rate:.7f}" for rate in wrong] == ["0.3641003", "0.3692840"]
    assert f"{auc(y[~training], p[~training]).value:.4f}" == "0.6512"
    assert f"{auc(y, p).value:.4f}" == "0.6562"
    bins = reliability_table(y, p)
    inside = (bins.low > 0.05) & (bins.high < 0.95)
    assert inside.sum() == 8
    assert np.abs(bins.rate - bins.mean_prediction)[inside].max() < 0.05


def test_every_name_that_metrics_offers_exists():
    assert len({*metrics.__all__}) == len(metrics.__all__)
    assert all(hasattr(weigh.metrics, name) for name in metrics.__all__)


# ---------------------------------------------------------------- weights that are fractions


@pytest.mark.parametrize("seed", range(20))
def test_fractional_weights_leave_nothing_over_where_no_row_is_left(seed):
    rng = np.random.default_rng(seed)
    y, w = np.repeat([0, 1], 50), rng.random(100)
    p = np.r_[0.4 * rng.random(50), 0.5 + 0.3 * rng.random(50)]
    area = metrics.auc(y, p, sample_weight=w)
    assert area.value == 1
    assert np.isnan(area.low)
    assert metrics.best_threshold(y, p, sample_weight=w).cost == pytest.approx(0, abs=1e-12)
    assert np.isnan(metrics.error_rates(y, p, 0.9, sample_weight=w).ppv)
    assert metrics.gains_curve(y, p, sample_weight=w).at(1.0) == 1
