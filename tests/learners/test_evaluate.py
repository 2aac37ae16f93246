"""An evaluation: the measures of weigh.metrics on one page, for any model, table and group."""

import dataclasses
import html
import json
import re
from importlib.util import find_spec
from types import ModuleType

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.cells import cell_len
from scipy.special import expit
from scipy.stats import ks_2samp
from sklearn import metrics as sk
from sklearn.compose import make_column_transformer
from sklearn.dummy import DummyClassifier
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LinearRegression, LogisticRegression, RidgeClassifier
from sklearn.naive_bayes import MultinomialNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from tests.scored import NIJ, scored_rows

import weigh
from weigh import (
    AdjustedNB,
    C44Classifier,
    Evaluation,
    EvidenceNB,
    datasets,
    evaluate,
    metrics,
)
from weigh.evaluation.groups import LEAST, MOST
from weigh.layout import Grid, View

LIGHT = settings(max_examples=25, deadline=None)


# ---------------------------------------------------------------- data


def draw_rows(seed, n=300, slope=1.0, shift=0.0):
    rng = np.random.default_rng(seed)
    total = rng.normal(size=n)
    y = (rng.random(n) < expit(slope * total + shift)).astype(int)
    return y, expit(total)


def draw_many(seed, n=200, k=3):
    rng = np.random.default_rng(seed)
    p = rng.dirichlet(np.ones(k), n)
    return np.array([rng.choice(k, p=row) for row in p]), p


def of(y, p, **options):
    return Evaluation.from_predictions(y, p, **options)


def strict(found):
    """Plain data that JSON can hold."""
    return json.loads(json.dumps(found.to_dict(), allow_nan=False))


def numbers(found, left_out=()):
    """Every number of an evaluation by its path."""

    def walk(value, path):
        if isinstance(value, dict):
            for name, part in value.items():
                if name not in left_out:
                    yield from walk(part, f"{path}.{name}")
        elif isinstance(value, list):
            for i, part in enumerate(value):
                yield from walk(part, f"{path}[{i}]")
        elif not isinstance(value, str):
            yield path, value

    return dict(walk(strict(found), ""))


def assert_alike(one, other, left_out=()):
    first, second = (numbers(found, ("findings", *left_out)) for found in (one, other))
    assert [*first] == [*second]
    for path, value in first.items():
        if value is None or second[path] is None:
            assert value is second[path], path
        else:
            assert value == pytest.approx(second[path], rel=1e-9, abs=1e-9), path


# ---------------------------------------------------------------- the measures of one class


@LIGHT
@given(scored_rows(both=False))
def test_every_measure_is_that_of_weigh_metrics(rows):
    y, p, weight = rows
    given_ = {"sample_weight": weight, "pos_label": 1}
    m = of(y, p, costs=(1, 4), **given_).validation
    assert m.loss.value == pytest.approx(metrics.loss_bits(y, p, **given_))
    wrong = metrics.misclassification_rate(y, p, **given_)
    assert m.misclassification.value == pytest.approx(wrong)
    assert m.brier.value == pytest.approx(metrics.brier(y, p, **given_))
    for found, metric in ((m.auc, metrics.auc), (m.line, metrics.calibration_line)):
        expected = dataclasses.astuple(metric(y, p, **given_))
        np.testing.assert_array_equal(dataclasses.astuple(found), expected)
    assert m.brier_parts == metrics.brier_decomposition(y, p, **given_)
    table = metrics.reliability_table(y, p, **given_)
    for field in dataclasses.fields(table):
        np.testing.assert_array_equal(
            getattr(m.reliability, field.name), getattr(table, field.name)
        )
    tenths = np.arange(1, 11) / 10
    np.testing.assert_allclose(m.gains.gain, metrics.gains_curve(y, p, **given_).at(tenths))
    np.testing.assert_allclose(m.gains.lift, metrics.lift_curve(y, p, **given_).at(tenths))
    best = metrics.best_threshold(y, p, 1, 4, **given_)
    assert m.best.cost == pytest.approx(best.cost)
    assert m.best.rates.threshold == best.threshold
    assert m.decision.cost == pytest.approx(best.theoretical_cost)
    assert m.decision.rates.threshold == best.theoretical == 0.2
    for decision in m.thresholds:
        t = decision.rates.threshold
        assert decision.rates == metrics.error_rates(y, p, t, **given_)
        worth = metrics.net_benefit(y, p, [t], **given_)
        assert (decision.net_benefit, decision.treat_all) == (worth.model[0], worth.treat_all[0])


@LIGHT
@given(scored_rows())
def test_loss_auc_and_brier_are_those_of_scikit_learn(rows):
    y, p, weight = rows
    m = of(y, p, sample_weight=weight).validation
    p = np.clip(p, 1e-10, 1 - 1e-10)
    loss = sk.log_loss(y, np.column_stack([1 - p, p]), sample_weight=weight)
    assert m.loss.value == pytest.approx(loss / np.log(2))
    assert m.auc.value == pytest.approx(sk.roc_auc_score(y, p, sample_weight=weight))
    assert m.brier.value == pytest.approx(sk.brier_score_loss(y, p, sample_weight=weight))


@LIGHT
@given(scored_rows(both=False))
def test_weights_equal_repetition(rows):
    y, p, weight = rows
    by = np.arange(len(y)) % 3
    once = of(y, p, sample_weight=weight, pos_label=1, by=by)
    again = of(np.repeat(y, weight), np.repeat(p, weight), pos_label=1, by=np.repeat(by, weight))
    assert_alike(once, again, left_out=("n_rows",))


def test_the_order_of_rows_does_not_matter():
    y, p = draw_rows(0)
    by, mixed = np.arange(300) % 2, np.random.default_rng(1).permutation(300)
    assert_alike(of(y, p, by=by), of(y[mixed], p[mixed], by=by[mixed]))


def test_the_base_rate_alone_is_a_model_that_says_it_to_everybody():
    y, p = draw_rows(1, shift=1.0)
    m = of(y, p).validation
    alone = metrics.loss_bits(y, np.full(300, y.mean()))
    assert m.base_loss == pytest.approx(alone)
    assert m.explained == pytest.approx(1 - metrics.loss_bits(y, p) / alone)
    assert of(y, np.full(300, y.mean())).validation.explained == pytest.approx(0)


def test_the_intervals_of_loss_and_brier_come_from_the_spread_of_rows():
    y, p = draw_rows(2)
    m = of(y, p, coverage=0.9).validation
    for found, rows in ((m.loss, -np.log2(np.where(y, p, 1 - p))), (m.brier, (y - p) ** 2)):
        reach = 1.6448536 * rows.std(ddof=1) / np.sqrt(300)
        assert (found.low, found.high) == pytest.approx((rows.mean() - reach, rows.mean() + reach))


def test_the_intervals_of_loss_and_brier_end_at_0():
    y, p = np.zeros(50), np.full(50, 0.01)
    y[0] = 1  # one surprise makes the whole mean
    found = of(y, p).validation
    for measure, rows in (
        (found.loss, -np.log2(np.where(y, p, 1 - p))),
        (found.brier, (p - y) ** 2),
    ):
        reach = 1.959964 * rows.std(ddof=1) / np.sqrt(50)
        assert measure.value < reach
        assert measure.low == 0
        assert measure.high == pytest.approx(measure.value + reach, rel=1e-6)
    many = of(y.astype(int) * 2, np.column_stack([1 - p, p * 0, p]), labels=[0, 1, 2]).validation
    assert (many.loss.low, many.brier.low) == (0, 0)


@pytest.mark.parametrize("k", [2, 3])
def test_predictions_are_compared_by_weight(k):
    random = np.random.default_rng(5)
    samples = []
    for n in (150, 100):
        p = random.dirichlet(np.ones(k), n)
        weight = random.integers(1, 5, n) * (1 + 3 * (p[:, 0] > 0.5))
        samples.append((random.integers(0, k, n), p, weight.astype(int)))
    (y, p, w), (y0, p0, w0) = samples
    weighted = of(y, p, sample_weight=w, train=(y0, p0, w0)).stability
    repeats = [tuple(np.repeat(part, s[2], axis=0) for part in s[:2]) for s in samples]
    again = of(*repeats[0], train=repeats[1]).stability
    assert weighted.value == pytest.approx(again.value, rel=1e-9)
    one_sided = [
        of(y, p, train=(y0, p0, w0)).stability.value,
        of(y, p, sample_weight=w, train=(y0, p0)).stability.value,
        of(y, p, train=(y0, p0)).stability.value,
    ]
    assert min(abs(value - weighted.value) for value in one_sided) > 1e-4


def test_the_parts_of_brier_that_are_shown_add_up_to_it():
    y, p = draw_rows(3)
    m = of(y, p).validation
    parts = m.brier_parts
    total = parts.reliability - parts.generalised_resolution + parts.uncertainty
    assert total == pytest.approx(m.brier.value)


def test_the_best_threshold_costs_no_more_than_any_that_is_shown():
    y, p = draw_rows(4)
    for costs in ((1, 1), (5, 1), (1, 9)):
        m = of(y, p, costs=costs, cut_off=np.arange(0, 101) / 100).validation
        assert m.best.cost <= min(part.cost for part in m.cut_offs) + 1e-12
        assert m.decision.cost >= m.best.cost


def test_cut_offs_are_shown_in_order_and_once():
    y, p = draw_rows(5)
    m = of(y, p, cut_off=[0.7, 0.25, 0.7]).validation
    assert [part.rates.threshold for part in m.cut_offs] == [0.25, 0.7]
    assert of(y, p).validation.cut_offs == ()


def test_decisions_at_a_cut_off_have_scikit_learns_rates_the_interval_of_a_share_and_the_counts():
    y, p = draw_rows(5)
    found = of(y, p, cut_off=0.3, coverage=0.9)
    (part,) = found.validation.cut_offs
    said = (p > 0.3).astype(int)
    assert part.ppv.value == pytest.approx(sk.precision_score(y, said))
    assert part.sensitivity.value == pytest.approx(sk.recall_score(y, said))
    assert part.specificity.value == pytest.approx(sk.recall_score(y, said, pos_label=0))
    assert part.flagged.value == pytest.approx(said.mean())
    tn, fp, fn, tp = sk.confusion_matrix(y, said).ravel()
    low, high = metrics.clopper_pearson(tp, tp + fp, 0.9)
    assert (part.ppv.low, part.ppv.high) == (float(low), float(high))
    low, high = metrics.clopper_pearson(tn, tn + fn, 0.9)
    assert (part.npv.low, part.npv.high) == (float(low), float(high))
    (told,) = strict(found)["validation"]["cut_offs"]
    assert told["rates"]["true_positives"] == tp
    assert told["sensitivity"]["value"] == pytest.approx(tp / (tp + fn))
    rates, counts = found.view().grids[:2]
    assert counts.rows == (("0.3", *(f"{n:,}" for n in (tp, fp, tn, fn))),)
    assert rates.rows[0][2].startswith(f"{part.ppv.value:.3f} ({part.ppv.low:.2f} to ")
    assert f"{tp / (tp + fp):.1%} of them are 1 (precision)" in " ".join(found.findings)
    assert any(line.startswith("0.3 (given) ") for line in found.to_text(100).splitlines())


def test_groups_are_decided_at_a_single_cut_off():
    y, p = draw_rows(6)
    by = np.where(np.arange(len(y)) % 2, "a", "b")
    for cut_off, at in ((0.3, 0.3), (None, 0.5), ([0.3, 0.4], 0.5)):
        found = of(y, p, by=by, cut_off=cut_off)
        for group in found.groups:
            assert group.flagged.value == pytest.approx((p[by == group.name] > at).mean())
        assert f"deciding at {at:g}" in found.view().grids[-1].title


def test_a_cut_off_above_or_below_every_row_has_no_precision_or_no_npv():
    y, p = draw_rows(7)
    none, every = of(y, 0.2 + 0.6 * p, cut_off=[0, 1]).validation.cut_offs[::-1]
    assert (none.flagged.value, none.sensitivity.value, every.flagged.value) == (0, 0, 1)
    assert np.isnan([none.ppv.value, every.npv.value]).all()
    text = str(of(y, 0.2 + 0.6 * p, cut_off=1))
    assert "0.0% of the rows are flagged; 0.0% of all 1 are flagged (recall)." in text


def test_an_interval_covers_more_where_it_is_asked_to():
    y, p = draw_rows(6)
    narrow, wide = (of(y, p, coverage=c).validation for c in (0.5, 0.99))
    for name in ("base_rate", "loss", "misclassification", "brier", "slope", "in_the_large"):
        one, other = getattr(narrow, name), getattr(wide, name)
        assert other.low < one.low < one.value < one.high < other.high


# ---------------------------------------------------------------- models and tables


PEOPLE = datasets.titanic()
TABLES = {
    "arrow": lambda: PEOPLE,
    "pandas": lambda: datasets.titanic("pandas"),
    "polars": lambda: datasets.titanic("polars"),
    "lazy": lambda: datasets.titanic("polars").lazy(),
    "dicts": lambda: PEOPLE.to_pylist(),
}


@pytest.fixture(scope="module")
def model():
    return EvidenceNB().fit(PEOPLE, "Survived")


@pytest.mark.parametrize("kind", TABLES)
def test_a_model_and_a_table_say_what_its_predictions_say(model, kind):
    p = model.predict_proba(PEOPLE)[:, 1]
    expected = of(PEOPLE["Survived"], p, by=PEOPLE["Class"].to_numpy(), name="EvidenceNB")
    found = evaluate(model, TABLES[kind](), "Survived", by="Class")
    known = {"by": "Class", "training_rows": found.training_rows}
    assert strict(found) == strict(expected) | known


@pytest.mark.parametrize("learner", [EvidenceNB, AdjustedNB, C44Classifier])
def test_labels_may_stand_beside_the_table_or_in_it(learner):
    fitted = learner().fit(PEOPLE, "Survived")
    apart = evaluate(fitted, PEOPLE.drop_columns(["Survived"]), PEOPLE["Survived"])
    assert strict(apart) == strict(evaluate(fitted, PEOPLE, "Survived"))


def sklearn_model(frame):
    columns = [*frame.columns]
    return make_pipeline(make_column_transformer((OneHotEncoder(), columns)), LogisticRegression())


@pytest.mark.parametrize("kind", ["pandas", "polars"])
def test_a_model_of_scikit_learn_gets_the_columns_that_it_was_fitted_with(kind):
    table = TABLES[kind]()
    X = table[["Class", "Sex"]]
    fitted = sklearn_model(X).fit(X, np.asarray(table["Survived"]))
    found = evaluate(fitted, table, "Survived", by="Age")
    expected = of(PEOPLE["Survived"], fitted.predict_proba(X), by=PEOPLE["Age"], name="Pipeline")
    assert strict(found) == strict(expected) | {"by": "Age"}
    assert [group.name for group in found.groups] == ["Adult", "Child"]


class Unnamed:
    """A classifier that keeps no names, as many outside of scikit-learn."""

    classes_ = np.array(["No", "Yes"])

    def __init__(self, wanted):
        self.wanted, self.n_features_in_ = wanted, len(wanted)

    def predict_proba(self, X):
        assert [*X.columns] == self.wanted
        return np.tile([0.7, 0.3], (len(X), 1))


def test_a_model_without_names_gets_the_columns_that_are_left():
    table = TABLES["pandas"]()
    for wanted in (["Class", "Sex"], ["Class", "Sex", "Age"]):
        found = evaluate(Unnamed(wanted), table, "Survived", by="Age")
        assert found.validation.mean_prediction == pytest.approx(0.3)


def test_rows_need_not_be_a_table_where_nothing_is_named():
    notes = ["cheap pills now", "meeting at noon", "cheap cheap pills", "the noon meeting"] * 5
    y = [1, 0, 1, 0] * 5
    fitted = make_pipeline(CountVectorizer(), MultinomialNB()).fit(notes, y)
    found = evaluate(fitted, notes, y, by=["a", "b"] * 10)
    assert strict(found) == strict(
        of(y, fitted.predict_proba(notes), by=["a", "b"] * 10, name="Pipeline")
    )


def test_training_rows_stand_beside_and_predictions_are_compared(model):
    first, rest = PEOPLE.slice(0, 1500), PEOPLE.slice(1500)
    found = evaluate(model, rest, "Survived", train=(first, "Survived"))
    apart = evaluate(model, first, "Survived")
    assert strict(found)["training"] == strict(apart)["validation"]
    p = [model.predict_proba(part)[:, 1] for part in (first, rest)]
    assert found.stability.value == metrics.population_stability_index(*p).value
    assert found.stability.value > 0.25  # all who survived are at the end of the table
    assert "Training" in str(found)
    assert f"(PSI {found.stability.value:.3f})" in found.findings[-1]


def test_weights_may_be_a_column_of_both_tables(model):
    weight = pa.array(np.arange(2201) % 3)
    table = PEOPLE.append_column("w", weight)
    found = evaluate(model, table, "Survived", sample_weight="w", train=(table, "Survived"))
    apart = evaluate(model, PEOPLE, PEOPLE["Survived"], sample_weight=weight)
    assert strict(found)["validation"] == strict(apart)["validation"] == strict(found)["training"]
    given_ = evaluate(
        model, PEOPLE, "Survived", train=(PEOPLE, "Survived", weight), sample_weight=weight
    )
    assert strict(given_)["training"] == strict(found)["training"]


def test_pos_label_turns_two_classes_round(model):
    p = model.predict_proba(PEOPLE)
    found = evaluate(model, PEOPLE, "Survived", pos_label="No")
    expected = of(PEOPLE["Survived"].to_numpy() == "No", p[:, 0])
    assert strict(found)["validation"] == strict(expected)["validation"]
    assert "probability of No against Yes" in str(found)


def test_pos_label_sets_one_of_many_against_the_rest():
    y, p = draw_many(0)
    names = np.array(["ash", "elm", "oak"])[y]
    found = of(names, p, pos_label="elm")
    assert strict(found)["validation"] == strict(of(y == 1, p[:, 1]))["validation"]
    assert "probability of elm against the rest" in str(found)


def test_labels_name_the_columns_of_probabilities():
    y, p = draw_many(1)
    turned = of(y, p[:, ::-1], labels=[2, 1, 0])
    assert turned.validation.loss == of(y, p).validation.loss
    two = of(["b", "a", "b"], [[0.3, 0.7], [0.6, 0.4], [0.1, 0.9]])
    assert strict(two) == strict(of(["b", "a", "b"], [0.7, 0.4, 0.9]))
    assert of(["b", "b"], [0.7, 0.4], labels=["a", "b"]).pos_label == "b"


def test_no_module_has_the_name_of_a_public_function():
    """Whoever imported it would find the module in the place of the function."""
    found = [name for name in weigh.__all__ if find_spec(f"weigh.{name}")]
    assert all(isinstance(getattr(weigh, name), ModuleType) for name in found)


# ---------------------------------------------------------------- groups


@LIGHT
@given(st.integers(0, 2**32 - 1))
def test_a_group_is_what_its_rows_alone_would_be(seed):
    y, p = draw_rows(seed % 1000, n=240)
    by = np.random.default_rng(seed).integers(0, 3, 240)
    found = of(y, p, by=by, costs=(1, 3))
    assert [group.name for group in found.groups] == [str(value) for value in np.unique(by)]
    for group in found.groups:
        rows = by == int(group.name)
        alone = of(y[rows], p[rows], costs=(1, 3), pos_label=1).validation
        assert group.n_rows == rows.sum()
        assert group.base_rate == alone.base_rate
        assert group.mean_prediction == alone.mean_prediction
        rates = alone.decision.rates
        assert group.false_positive_rate.value == rates.false_positive_rate
        assert group.false_negative_rate.value == rates.false_negative_rate
        assert group.flagged.value == pytest.approx(rates.flagged)
        low, high = metrics.clopper_pearson(
            rates.false_positives, rates.false_positives + rates.true_negatives
        )
        assert (group.false_positive_rate.low, group.false_positive_rate.high) == (low, high)
        if not group.note:
            assert group.auc.value == alone.auc.value
            assert (group.slope, group.in_the_large) == (alone.slope, alone.in_the_large)


def test_a_group_too_small_or_of_one_class_says_so():
    y = np.array([0, 1] * 20 + [1] * 12 + [0] * 30 + [1] * (LEAST - 1))
    by = ["both"] * 40 + ["all"] * 12 + ["few"] * (30 + LEAST - 1)
    rng = np.random.default_rng(0)
    found = of(y, rng.random(len(y)), by=by)
    groups = {group.name: group for group in found.groups}
    assert groups["both"].note == ""
    assert groups["both"].auc.has_interval()
    assert "one class: all of its rows are 1" in groups["all"].note
    assert f"{LEAST - 1} are 1, and {LEAST} are needed" in groups["few"].note
    for name in ("all", "few"):
        assert np.isnan(groups[name].auc.value)
        assert np.isnan(groups[name].slope.value)
        assert groups[name].base_rate.has_interval()
        assert f"{name}: {groups[name].note}" in str(found).replace("\n", " ")
    assert np.isnan(groups["all"].false_positive_rate.value)


def test_missing_is_a_group_and_values_of_different_types_are_apart():
    y, p = draw_rows(7, n=100)
    by = np.array([None, 1, "1", True, 2.0] * 20, dtype=object)
    names = [group.name for group in of(y, p, by=by).groups]
    assert names == ["true", "1", "2", '"1"', "missing"]
    twice = of(y, p, by=["missing", None] * 50)
    assert [group.name for group in twice.groups] == ['"missing"', "missing"]


def test_numbers_of_many_values_are_grouped_by_intervals_of_about_as_many_rows():
    y, p = draw_rows(7, n=1000)
    ages = np.random.default_rng(0).normal(40, 10, 1000).round(1)
    ages[:50] = np.nan
    *found, missing = of(y, p, by=ages).groups
    assert (missing.name, missing.n_rows) == ("missing", 50)
    assert len(found) == 5
    ends = [float(re.findall(r"[\d.]+", group.name)[-1]) for group in found[:4]]
    for group, low, high in zip(found, [-np.inf, *ends], [*ends, np.inf], strict=True):
        inside = (ages > low) & (ages <= high)
        assert inside.sum() == group.n_rows
        assert abs(group.n_rows - 190) <= 5
        assert group.base_rate.value == y[inside].mean()
    few = of(y, p, by=np.arange(1000) % 20)
    assert [group.name for group in few.groups] == [str(k) for k in range(20)]


def test_groups_may_be_a_column_that_the_model_uses_or_an_array_of_any_kind(model):
    expected = strict(evaluate(model, PEOPLE, "Survived", by="Sex"))
    for by in (PEOPLE["Sex"].to_pylist(), pd.Series(PEOPLE["Sex"].to_pylist(), name="Sex")):
        found = strict(evaluate(model, PEOPLE, "Survived", by=by))
        assert found["groups"] == expected["groups"]
    assert found["by"] == "Sex"
    assert "by group" in str(evaluate(model, PEOPLE, "Survived", by=PEOPLE["Sex"].to_pylist()))


def test_rows_without_weight_are_in_no_group():
    y, p = draw_rows(8, n=90)
    by, weight = np.arange(90) % 3, (np.arange(90) % 3 > 0).astype(float)
    found = of(y, p, by=by, sample_weight=weight)
    assert [group.name for group in found.groups] == ["1", "2"]


def test_too_many_groups_and_too_few_values_are_refused():
    y, p = draw_rows(9, n=MOST + 1)
    with pytest.raises(ValueError, match=f"{MOST + 1} different values.*join some of them first"):
        of(y, p, by=[f"id {k}" for k in range(MOST + 1)])
    with pytest.raises(ValueError, match=f"by has 2 values for {MOST + 1} rows"):
        of(y, p, by=[1, 2])
    for by in (3, np.ones((MOST + 1, 2))):
        with pytest.raises(ValueError, match="by must be"):
            of(y, p, by=by)


# ---------------------------------------------------------------- more than two classes


def test_many_classes_have_scikit_learn_s_numbers():
    y, p = draw_many(2, k=4)
    weight = np.random.default_rng(0).integers(1, 4, len(y))
    m = of(y, p, sample_weight=weight).validation
    said = p.argmax(axis=1)
    assert m.loss.value == pytest.approx(sk.log_loss(y, p, sample_weight=weight) / np.log(2))
    assert m.misclassification.value == pytest.approx(
        1 - sk.accuracy_score(y, said, sample_weight=weight)
    )
    np.testing.assert_allclose(m.confusion, sk.confusion_matrix(y, said, sample_weight=weight))
    squares = ((p - np.eye(4)[y]) ** 2).sum(axis=1)
    assert m.brier.value == pytest.approx(np.average(squares, weights=weight))
    areas = [sk.roc_auc_score(y == c, p[:, c], sample_weight=weight) for c in range(4)]
    assert [part.auc.value for part in m.by_class] == pytest.approx(areas)
    assert m.mean_auc == pytest.approx(np.mean(areas))
    shares = np.bincount(y, weight) / weight.sum()
    assert m.base_loss == pytest.approx(-(shares * np.log2(shares)).sum())


def test_weights_equal_repetition_for_many_classes():
    y, p = draw_many(9)
    weight = np.random.default_rng(0).integers(0, 4, len(y))
    by = np.arange(len(y)) % 3
    once = of(y, p, sample_weight=weight, by=by)
    again = of(np.repeat(y, weight), np.repeat(p, weight, axis=0), by=np.repeat(by, weight))
    assert_alike(once, again, left_out=("n_rows",))


def test_each_class_is_measured_against_the_rest():
    y, p = draw_many(3)
    m = of(y, p).validation
    for c, part in enumerate(m.by_class):
        alone = of(y == c, p[:, c]).validation
        assert (part.auc, part.line) == (alone.auc, alone.line)
        assert (part.base_rate, part.slope) == (alone.base_rate, alone.slope)
        assert part.reliability_rmse == alone.reliability_rmse
        assert part.found.value == m.confusion[c, c] / m.confusion[c].sum()
    pairs = metrics.calibration_line((y[:, None] == np.arange(3)).ravel(), p.ravel())
    assert m.line == pairs


def test_many_classes_by_group_have_loss_and_errors():
    y, p = draw_many(4)
    by = np.arange(len(y)) % 2
    found = of(y, p, by=by)
    for k, group in enumerate(found.groups):
        alone = of(y[by == k], p[by == k], labels=[0, 1, 2]).validation
        assert (group.loss.value, group.misclassification) == (
            pytest.approx(alone.loss.value),
            alone.misclassification,
        )
    small = of(y[:4], p[:4], labels=[0, 1, 2], by=["a"] * 4)
    assert "too few" in small.groups[0].note
    assert not small.groups[0].loss.has_interval()


def test_many_classes_have_no_costs_unless_one_is_named():
    y, p = draw_many(5)
    for options in ({"costs": (1, 5)}, {"cut_off": [0.2]}):
        with pytest.raises(ValueError, match="choose it with pos_label"):
            of(y, p, **options)
        of(y, p, pos_label=1, **options)


def test_predictions_of_many_classes_are_compared_by_the_class_decided_for():
    y, p = draw_many(6)
    found = of(y, p, train=(y[::-1], p[::-1]))
    assert found.stability.value == pytest.approx(0)
    moved = of(
        y, p, train=(y, np.roll(p, 1, axis=1) ** 8 / (np.roll(p, 1, 1) ** 8).sum(1)[:, None])
    )
    said = [rows.argmax(axis=1).astype(str) for rows in (np.roll(p, 1, axis=1), p)]
    assert moved.stability.value == metrics.population_stability_index(*said).value


def test_more_classes_than_fit_a_square_are_told_by_what_they_are_taken_for():
    y, p = draw_many(7, n=400, k=12)
    text = str(of(y, p))
    m = of(y, p).validation
    wrong = m.confusion[5] * (np.arange(12) != 5)
    assert "Most often taken for" in text
    line = next(li for li in text.splitlines() if re.match(r"5 +\d+ +\d+ \(", li))
    assert f"{wrong.max():g}" in line


# ---------------------------------------------------------------- degenerate input


DEGENERATE = {
    "one class": (([0, 0, 0], [0.1, 0.2, 0.3]), {}, "not defined: one class"),
    "the other class": (([1, 1], [0.5, 0.7]), {}, "not defined: one class"),
    "one row": (([1], [0.2]), {}, "not defined: one class"),
    "equal predictions": (([0, 1, 1, 0], [0.5] * 4), {}, "not defined: equal predictions"),
    "0 and 1, right": (([0, 1, 1, 0], [0, 1, 1, 0]), {}, "inf: perfect separation"),
    "0 and 1, wrong": (([0, 1], [1, 0]), {}, "-inf: perfect separation"),
    "0 and 1, both": (([0, 1, 1, 0], [1, 0, 1, 0]), {}, "16.6096"),
    "all 0": (([0, 1, 1], [0.0] * 3), {}, "not defined: equal predictions"),
    "three rows": (([0, 1, 1], [0.2, 0.3, 0.1]), {}, "too few rows"),
    "little weight": (([0, 1], [0.2, 0.3]), {"sample_weight": [0.1, 0.2]}, "weight 0.3"),
    "no cost of a kind": (([0, 1, 1], [0.2, 0.3, 0.1]), {"costs": (1, 0)}, "Cost a row at 1"),
    "the other cost": (([0, 1, 1], [0.0, 0.3, 0.1]), {"costs": (0, 1)}, "Cost a row at 0"),
    "one class beside training": (
        ([0, 0], [0.1, 0.2]),
        {"train": ([0, 1, 1], [0.5, 0.5, 0.4])},
        "not defined: one class",
    ),
    "one of three classes": (
        ([2, 2], np.full((2, 3), 1 / 3)),
        {"labels": [0, 1, 2]},
        "belong to one class",
    ),
    "three sure classes": (
        ([0, 1, 2, 2], np.eye(3)[[0, 1, 2, 1]]),
        {},
        "more than always predicting the base rate",
    ),
}


@pytest.mark.parametrize("case", DEGENERATE.values(), ids=[*DEGENERATE])
def test_degenerate_rows_have_a_page_that_says_what_is_not_defined(case):
    arrays, options, told = case
    found = of(*arrays, by=["a"] * len(arrays[0]), **options)
    assert told in " ".join(str(found).split())
    assert "nan" not in str(found).lower()
    strict(found)
    assert html.escape(told) in re.sub("<[^>]+>", " ", found._repr_html_())


BROKEN = {
    "NaN": (([0, 1], [0.5, np.nan]), {}, "NaN .*row 1"),
    "NaN in labels": (([0, np.nan], [0.5, 0.5]), {}, "missing labels"),
    "log odds": (([0, 1], [0.5, 2.0]), {}, "0 to 1.* 2"),
    "lengths": (([0, 1, 1], [0.5, 0.5]), {}, "3 rows and y_prob 2"),
    "no rows": (([], []), {}, "empty"),
    "one label of unknown kind": ((["a"], [0.5]), {}, "pos_label"),
    "unknown pos_label": (([0, 1], [0.5, 0.4]), {"pos_label": 7}, "pos_label=7"),
    "columns without labels": (([0, 0], [[0.5, 0.5]] * 2), {}, "name those of the columns"),
    "a label that no column has": (
        ([0, 5], [[0.5, 0.5]] * 2),
        {"labels": [0, 1]},
        "y holds 5",
    ),
    "columns that do not add up": (([0, 1, 2], np.ones((3, 3))), {}, "add up to 1"),
    "three costs": (([0, 1], [0.5, 0.4]), {"costs": (1, 2, 3)}, "costs must be"),
    "negative cost": (([0, 1], [0.5, 0.4]), {"costs": (1, -2)}, "costs must be"),
    "no cost": (([0, 1], [0.5, 0.4]), {"costs": (0, 0)}, "costs must be"),
    "costs in words": (([0, 1], [0.5, 0.4]), {"costs": ("a", "b")}, "must be numbers"),
    "threshold": (([0, 1], [0.5, 0.4]), {"cut_off": [1.5]}, r"cut_off=1.5 must be .*0\.015"),
    "a score": (([0, 1], [0.5, 0.4]), {"cut_off": 650}, r"cut_off=650.*card\.bands"),
    "a cut-off in words": (([0, 1], [0.5, 0.4]), {"cut_off": "half"}, "cut_off='half' must be"),
    "threshold NaN": (([0, 1], [0.5, 0.4]), {"cut_off": [np.nan]}, r"cut_off=\[nan\] must be"),
    "coverage": (([0, 1], [0.5, 0.4]), {"coverage": 95}, "coverage must be"),
    "training rows alone": (([0, 1], [0.5, 0.4]), {"train": [0.5]}, "train .*pair"),
    "NaN in training": (([0, 1], [0.5, 0.4]), {"train": ([0, 1], [0.1, np.nan])}, "NaN"),
}


@pytest.mark.parametrize("case", BROKEN.values(), ids=[*BROKEN])
def test_broken_input_is_refused_in_words(case):
    arrays, options, message = case
    with pytest.raises(ValueError, match=message):
        of(*arrays, **options)


def test_models_that_have_no_probabilities_are_refused_by_name():
    X, y = np.arange(20.0).reshape(-1, 1), [0, 1] * 10
    with pytest.raises(ValueError, match=r"RidgeClassifier has no pred.*CalibratedClassifierCV"):
        evaluate(RidgeClassifier().fit(X, y), X, y)
    for model in (weigh.EducatedRegressor(), LinearRegression()):
        with pytest.raises(ValueError, match="estimates numbers, not classes; use"):
            weigh.LiftDisplay.from_estimator(model, X, y)
    with pytest.raises(ValueError, match="estimates the time to an event, not classes; use"):
        weigh.LiftDisplay.from_estimator(weigh.EducatedSurvival(), X, y)
    with pytest.raises(ValueError, match="this EvidenceNB has no classes_: fit it first"):
        evaluate(EvidenceNB(), X, y)
    with pytest.raises(ValueError, match="fit it to one target of two classes or more"):
        evaluate(DummyClassifier().fit(X, [1] * 20), X, y)


def test_columns_without_names_have_none_to_group_by():
    X, y = np.array([[0.0, 1], [1, 0], [0, 1], [1, 1]] * 5), [0, 1] * 10
    model = EvidenceNB().fit(X, y)
    for rows in (X, X.tolist()):
        with pytest.raises(ValueError, match=r"by names the column 'x0', but .* no column names"):
            weigh.evaluate(model, rows, y, by="x0")
    by = X[:, 0].astype(int)
    assert weigh.evaluate(model, X, y, by=by, train=(X, y)).groups[0].name == "0"


def test_names_and_labels_that_are_not_there_are_named(model):
    with pytest.raises(ValueError, match=r"y names the column 'survived'.*did you mean 'Survived'"):
        evaluate(model, PEOPLE, "survived")
    with pytest.raises(ValueError, match="by names the column 'Race'"):
        evaluate(model, PEOPLE, "Survived", by="Race")
    with pytest.raises(ValueError, match="sample_weight names the column 'w'"):
        evaluate(model, PEOPLE, "Survived", sample_weight="w")
    with pytest.raises(ValueError, match="'Adult'"):
        evaluate(model, PEOPLE, "Age")
    with pytest.raises(ValueError, match="pos_label='Maybe'"):
        evaluate(model, PEOPLE, "Survived", pos_label="Maybe")
    with pytest.raises(ValueError, match="no column 'Sex'"):
        evaluate(model, PEOPLE.drop_columns(["Sex"]), "Survived")


# ---------------------------------------------------------------- the page


LONG = "a very long name of a group that somebody took from a survey of many pages, number "
NAMES = ["Größe", "日本語の名前", "two\nlines", "<b>bold</b>", "[red]x[/red]", "\x1b[31m", "a|b"]


def busy(n_groups, seed=0):
    """Many groups, the names of some of which are long or odd."""
    y, p = draw_rows(seed, n=40 * n_groups)
    names = [*NAMES, *(f"{LONG}{k}" for k in range(n_groups))][:n_groups]
    return of(y, p, by=names * 40, train=(y, p), name="A model with a name of its own")


@pytest.mark.parametrize("width", [40, 60, 80, 100, 120])
@pytest.mark.parametrize("make", [lambda: busy(5), lambda: busy(40)], ids=["5", "40 groups"])
def test_the_page_fits_the_terminal(make, width):
    lines = make().to_text(width).splitlines()
    assert max(map(cell_len, lines)) <= width
    y, p = draw_many(8, k=11)
    many = of(y, p, by=[LONG, "b"] * 100).to_text(width).splitlines()
    assert max(map(cell_len, many)) <= width


def test_numbers_are_not_folded_where_there_is_room():
    for width in (80, 120):
        text = busy(40).to_text(width)
        assert len(re.findall(r"\d\.\d\d \(\d\.\d\d to \d\.\d\d\)", text)) >= 40 * 4


@pytest.mark.parametrize("gap", ["  ", "   "])
def test_a_table_that_just_fits_is_not_folded(gap):
    line = gap.join(("Name", "1234567", "7654321"))
    head, row = ("Name", "Rows", "Loss"), ("Name", "1234567", "7654321")
    text = View("A page", (Grid(head, (row,)),)).to_text(len(line))
    assert text.splitlines()[-1] == line


def test_a_wide_table_is_split_into_parts_that_each_begin_with_its_names():
    numbers = [str(1000 + k) for k in range(8)]
    head, row = ("Feature", "Level", *map("Measure {}".format, numbers)), ("age", "old", *numbers)
    lines = View("A page", (Grid(head, (row,), n_names=2),)).to_text(40).splitlines()
    parts = [line.split() for line in lines if line.startswith("age")]
    assert max(map(len, lines)) <= 40
    assert len(parts) > 1
    assert {tuple(part[:2]) for part in parts} == {("age", "old")}
    assert [number for part in parts for number in part[2:]] == numbers


@pytest.mark.parametrize("width", [60, 80, 100])
def test_a_long_unbroken_name_is_broken_before_its_table_is_split(width):
    name, numbers = "".join(map(str, range(55))), ["1,234.5", "0.123", "99%"]
    grid = Grid(("Column", "Rows", "Loss", "Share"), ((name, *numbers), ("age", *numbers)))
    lines = View("A page", (grid,)).to_text(width).splitlines()
    assert max(map(len, lines)) <= width
    assert sum(line.startswith("Column") for line in lines) == 1  # one part
    assert sum(line.split()[-3:] == numbers for line in lines) == 2
    start, end = (next(k for k, line in enumerate(lines) if line.startswith(s)) for s in ("0", "a"))
    assert "".join(line.split()[0] for line in lines[start:end]) == name


@pytest.mark.parametrize("width", [60, 80, 140])
def test_no_column_vanishes_and_no_word_breaks(width, model):
    """Every heading and every number of the page stands in its text, whatever the width."""
    y, p = draw_many(8, k=4)
    by = np.array(["a fairly long name of a group", "short"] * 100)
    pages = [
        evaluate(model, PEOPLE, "Survived", by="Class", train=(PEOPLE, "Survived"), costs=(1, 5)),
        of(np.array([f"a class called {c}" for c in y]), p, by=by),
    ]
    for found in pages:
        text = found.to_text(width)
        words = text.split()
        for section in found.view().grids:
            for name in (*section.head, *(row[0] for row in section.rows)):
                assert {*name.split()} <= {*words}, name
            for row in section.rows:
                assert all(cell in text for cell in row[1:])


def test_a_coverage_of_999_in_a_thousand_is_no_certainty():
    y, p = draw_rows(3)
    text = str(of(y, p, coverage=0.999))
    assert "with 99.9% intervals" in text
    assert "99.9% interval" in text
    assert "100% interval" not in text


def test_gini_and_ks_are_those_of_their_definitions():
    y, p = draw_rows(3)
    p = p.round(2)
    m = of(y, p).validation
    assert m.gini.value == 2 * m.auc.value - 1
    assert (m.gini.low, m.gini.high) == (2 * m.auc.low - 1, 2 * m.auc.high - 1)
    assert m.ks == pytest.approx(ks_2samp(p[y == 1], p[y == 0]).statistic)
    assert np.isnan(of(np.ones(30, int), p[:30], labels=[0, 1]).validation.ks)
    assert "Gini" in str(of(y, p))


def test_flagging_all_and_none_cost_what_those_decisions_cost():
    y, p = draw_rows(4)
    found = of(y, p, costs=(2, 3))
    m = found.validation
    assert m.cost_of_all == pytest.approx(2 * (y == 0).mean())
    assert m.cost_of_none == pytest.approx(3 * (y == 1).mean())
    assert m.best.cost <= min(m.cost_of_all, m.cost_of_none) + 1e-12
    told = f"costs {m.cost_of_all:.4f}, flagging none {m.cost_of_none:.4f}"
    assert told in " ".join(str(found).split())


def test_a_bin_of_one_row_does_not_rule_the_reliability_rmse():
    y, p = draw_rows(5, n=5000)
    p = np.clip(p, 0.11, 0.89)
    without = of(y, p).validation
    odd = of(np.append(y, 0), np.append(p, 0.99)).validation
    assert odd.reliability.rmse > 3 * without.reliability.rmse
    assert odd.reliability_rmse < 1.5 * without.reliability_rmse
    gap = odd.reliability.rate - odd.reliability.mean_prediction
    literal = np.sqrt((odd.reliability.weight * gap**2).sum() / odd.weight)
    assert odd.reliability_rmse == pytest.approx(literal)
    assert odd.reliability_rmse**2 == pytest.approx(odd.brier_parts.reliability)


def test_an_error_is_one_thing_on_a_page(model):
    text = str(evaluate(model, PEOPLE, "Survived", by="Class"))
    assert {*re.findall(r"\S* ?error\w*", text, re.IGNORECASE)} == {"calibration error"}


@pytest.mark.parametrize("kind", ["weigh", "scikit-learn"])
def test_a_target_left_among_the_features_is_named(kind):
    rng = np.random.default_rng(0)
    y = np.where(rng.random(300) < 0.3, "bad", "good")
    frame = pd.DataFrame(
        {
            "x": rng.normal(size=300),
            "days late": np.where(y == "bad", 90.0, 10.0) + rng.normal(size=300),
            "id": np.arange(300),
        }
    )
    frame["outcome"] = np.where(y == "bad", "B", "G") if kind == "weigh" else (y == "bad") * 1
    learner = EvidenceNB() if kind == "weigh" else LogisticRegression(max_iter=5000)
    rows = frame.assign(unused=y) if kind == "weigh" else frame
    found = evaluate(learner.fit(frame, y), rows, y)
    assert found.leaks == ("days late", "outcome")
    told = "Leak? days late, outcome each alone tell the classes apart without a mistake"
    assert told in " ".join(str(found).split())
    fair = frame[["x", "id"]]
    assert evaluate(EvidenceNB().fit(fair, y), fair, y).leaks == ()


@pytest.mark.filterwarnings("ignore:column 'id' has")
def test_categories_that_only_few_rows_have_and_few_rows_are_no_leak():
    y = np.arange(200) % 2
    ids = pd.DataFrame({"id": [f"person {k}" for k in range(200)], "x": ["a", "b"] * 100})
    assert evaluate(EvidenceNB().fit(ids, y), ids, y).leaks == ("x",)
    few = ids[:18]
    assert evaluate(EvidenceNB().fit(few, y[:18]), few, y[:18]).leaks == ()
    gaps = pd.DataFrame({"x": np.where(np.arange(300) % 3 == 0, None, np.arange(300) % 2 == 1)})
    held = evaluate(EvidenceNB().fit(gaps, np.arange(300) % 2), gaps, np.arange(300) % 2)
    assert held.leaks == ("x",)


def test_rows_hold_the_page_s_numbers_for_each_sample_and_group(model):
    found = evaluate(model, PEOPLE, "Survived", by="Class", train=(PEOPLE, "Survived"))
    rows = found.to_rows()
    assert [row["rows_of"] for row in rows] == [
        "training",
        "validation",
        *(f"Class = {group.name}" for group in found.groups),
    ]
    m = found.validation
    assert (rows[1]["auc"], rows[1]["auc_low"], rows[1]["ks"]) == (m.auc.value, m.auc.low, m.ks)
    assert rows[1]["reliability_rmse"] == m.reliability_rmse
    assert rows[3]["base_rate"] == found.groups[1].base_rate.value
    assert all(value is None or isinstance(value, str | float | int) for value in rows[1].values())
    frame = found.to_frame("pandas")
    assert [*frame["n_rows"]] == [row["n_rows"] for row in rows]
    assert found.to_frame().column_names == [*frame.columns]
    y, p = draw_many(2)
    assert of(y, p).to_rows()[0]["loss"] == of(y, p).validation.loss.value


def test_the_figure_draws_the_numbers_of_the_page(model):
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    found = evaluate(model, PEOPLE, "Survived")
    drawing = found.plot()
    m = found.validation
    reliability, gains, worth = drawing.axes_
    np.testing.assert_array_equal(reliability.lines[1].get_ydata(), m.reliability.rate)
    np.testing.assert_array_equal(gains.lines[1].get_ydata()[1:], m.gains.gain)
    np.testing.assert_array_equal(
        worth.lines[2].get_ydata(), [part.net_benefit for part in m.thresholds]
    )
    pyplot.close("all")
    y, p = draw_many(2)
    with pytest.raises(ValueError, match="pos_label"):
        of(y, p).plot()


def test_names_are_text_in_every_form():
    found = busy(7)
    text, page_ = found.to_text(120), found._repr_html_()
    assert "\x1b" not in text + page_
    assert "[red]x[/red]" in text
    assert "two\\nlines" in text
    assert "<b>bold" not in page_
    assert "&lt;b&gt;bold" in page_


def test_html_keeps_the_indentation_of_parts_of_a_measure(model):
    found = weigh.evaluate(model, weigh.datasets.titanic(), "Survived")
    assert "\u00a0\u00a0in the large" in html.unescape(found._repr_html_())


def test_html_holds_what_the_text_holds(model):
    found = evaluate(model, PEOPLE, "Survived", by="Class", train=(PEOPLE, "Survived"))
    text = found._repr_html_().replace("\u00a0", " ")
    cells = {html.unescape(c) for c in re.findall(r"<td[^>]*>(.*?)</td>", text)}
    shown = found.view()
    assert cells == {cell for section in shown.grids for row in section.rows for cell in row}
    words = " ".join(found.to_text(200).split())
    for section in shown.grids:
        assert section.title in words
        for row in section.rows:
            assert " ".join(" ".join(row).split()) in words


def test_repr_is_the_page_and_plain_data_holds_the_sentences(model):
    found = evaluate(model, PEOPLE, "Survived")
    assert repr(found) == str(found) == found.to_text(100)
    assert strict(found)["findings"] == [*found.findings]
    for line in found.findings:
        assert line in " ".join(str(found).split())


def test_the_thresholds_by_costs_and_of_least_cost_are_marked():
    y, p = draw_rows(10)
    found = of(y, p, costs=(1, 3))
    lines = found.to_text(100).splitlines()
    assert sum(line.startswith("0.25 (costs) ") for line in lines) == 1
    best = f"{found.validation.best.rates.threshold:.3g} (best) "
    assert sum(line.startswith(best) for line in lines) == 1


@pytest.mark.parametrize(
    ("slope", "shift", "told"),
    [
        (0.3, 0.0, "overconfident"),
        (3.0, 0.0, "underconfident"),
        (1.0, 1.0, "too low"),
        (1.0, -1.0, "too high"),
        (1.0, 0.0, "no significant"),
    ],
)
def test_sentences_say_what_is_wrong_with_the_probabilities(slope, shift, told):
    y, p = draw_rows(11, n=3000, slope=slope, shift=shift)
    assert told in " ".join(of(y, p).findings)


def test_sentences_say_what_ranking_and_loss_are_worth():
    y, p = draw_rows(12, n=500)
    random = np.random.default_rng(0).random(500)
    good, bad = (" ".join(of(y, q).findings) for q in (p, random))
    assert "less than always predicting the base rate" in good
    assert "chance" not in good
    assert "more than always predicting the base rate" in bad
    assert "may be chance" in bad


def test_numbers_far_out_are_shown_with_two_digits():
    text = str(of([0, 1, 1, 0], [0, 1, 1, 0]))
    assert "-9.8e+04 to 9.8e+04" in text


# ---------------------------------------------------------------- the paper


TARGET = "Recidivism_Within_3years"


def test_the_notes_numbers_are_on_the_page(papers_data):
    table = datasets.load("nij_recidivism_full")
    training, validation = (
        table.filter(pc.equal(table["Training_Sample"], part)) for part in (1, 0)
    )
    model = EvidenceNB(smoothing=0).fit(training.select([*NIJ, TARGET]), TARGET)
    found = evaluate(model, validation, TARGET, train=(training, TARGET), by="Race")
    wrong = [m.misclassification.value for m in (found.training, found.validation)]
    assert [f"{rate:.7f}" for rate in wrong] == ["0.3641003", "0.3692840"]
    assert re.search(r"^AUC .* 0\.6512 ", str(found), re.M)
    assert {group.name for group in found.groups} == {"BLACK", "WHITE"}  # no feature of the model
    for group in found.groups:
        rows = validation.filter(pc.equal(validation["Race"], group.name))
        p = model.predict_proba(rows)[:, 1]
        assert group.auc.value == metrics.auc(rows[TARGET].to_numpy(), p).value
    everybody = evaluate(model, table, TARGET).validation
    assert f"{everybody.auc.value:.4f}" == "0.6562"
    table_ = everybody.reliability
    inside = (table_.low > 0.05) & (table_.high < 0.95)
    assert np.abs(table_.rate - table_.mean_prediction)[inside].max() < 0.05
    assert inside.sum() == 8


@pytest.mark.parametrize("kind", [pd.DataFrame, pl.DataFrame, pa.table])
def test_labels_of_every_type_are_those_of_the_model(kind):
    for labels in ([0, 1], [False, True], ["a", "b"], [-1, 1]):
        table = kind({"x": ["u", "v", "u", "w"] * 10, "y": [labels[0], *[labels[1]] * 3] * 10})
        fitted = EvidenceNB().fit(table, "y")
        found = evaluate(fitted, table, "y")
        assert (found.classes, found.pos_label) == (tuple(labels), labels[1])
        assert found.validation.base_rate.value == 0.75


# ---------------------------------------------------------------- what people get wrong


def test_classes_that_are_swapped_are_called_backwards_and_not_too_sure():
    people = weigh.datasets.titanic()
    model = weigh.EvidenceNB().fit(people, "Survived")
    swapped = model.predict_proba(people)[:, ::-1]
    said = weigh.Evaluation.from_predictions([*people["Survived"].to_numpy()], swapped).findings
    assert any("reversed" in line for line in said)
    assert not any("overconfident" in line for line in said)


def test_a_group_whose_probabilities_are_off_is_named_in_the_first_lines():
    people = weigh.datasets.titanic()
    model = weigh.EvidenceNB().fit(people, "Survived")
    said = weigh.evaluate(model, people, "Survived", by="Class").findings
    (line,) = [line for line in said if line.startswith("Groups with biased")]
    assert "Crew (predicted 15.7%, observed 24.0%)" in line
    assert "1st" not in line


def test_a_table_without_a_single_column_of_the_model_is_told_which_it_lacks():
    people = weigh.datasets.titanic()
    model = weigh.EvidenceNB().fit(people, "Survived")
    other = pd.DataFrame({"a": [1, 2, 3], "Survived": ["No", "Yes", "No"]})
    with pytest.raises(ValueError, match="'Class'"):
        weigh.evaluate(model, other, "Survived")


# ---------------------------------------------------------------- crossed groups and units


def test_a_list_of_columns_crosses_their_groups():
    people = datasets.titanic().to_pandas()
    model = EvidenceNB().fit(people[["Class", "Age", "Survived"]], "Survived")
    joined = people["Sex"] + ", " + people["Age"]
    found = evaluate(model, people, "Survived", by=["Sex", "Age"])
    expected = evaluate(model, people, "Survived", by=joined.rename("Sex, Age"))
    assert found.by == "Sex, Age"
    assert found.to_dict()["groups"] == expected.to_dict()["groups"]
    assert sum(group.n_rows for group in found.groups) == len(people)


def test_crossed_numbers_are_cut_and_too_many_combinations_are_refused():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"number": rng.normal(size=300), "letter": rng.choice([*"ab"], 300)})
    X["one"], X["other"] = (rng.integers(0, 20, 300).astype(str) for _ in range(2))
    model = EvidenceNB().fit(X[["letter"]], X["number"] > 0)
    found = evaluate(model, X, X["number"] > 0, by=["letter", "number"])
    assert len(found.groups) == 10
    with pytest.raises(ValueError, match="one, other have"):
        evaluate(model, X, X["number"] > 0, by=["one", "other"])
    with pytest.raises(ValueError, match="'nothing'"):
        evaluate(model, X, X["number"] > 0, by=["letter", "nothing"])


def name_bands() -> pd.DataFrame:
    """Rows with a band of age, some of them missing, a month and its first day."""
    rng = np.random.default_rng(5)
    rows = pd.DataFrame({"age": np.arange(300) % 120 + 1.0, "y": rng.integers(0, 2, 300)})
    rows.loc[:9, "age"] = np.nan
    rows["band"] = pd.cut(rows["age"], [0, 25, 45, 100, 120])
    rows["month"] = pd.Series(pd.period_range("2023-11", periods=4, freq="M")).sample(
        300, replace=True, random_state=0, ignore_index=True
    )
    rows["day"] = rows["month"].dt.to_timestamp()
    return rows


MONTHS = [f"{month}-01" for month in ("2023-11", "2023-12", "2024-01", "2024-02")]
BANDS = ["(0, 25]", "(25, 45]", "(45, 100]", "(100, 120]"]


@pytest.mark.parametrize(
    ("name", "texts"),
    [
        ("band", BANDS),
        ("month", [month[:7] for month in MONTHS]),
        ("day", MONTHS),
    ],
)
def test_bands_periods_and_dates_are_groups_by_their_text_in_their_order(name, texts):
    rows = name_bands()
    model = EvidenceNB().fit(rows[["age"]], rows["y"])
    held = rows[name].astype(object)
    kinds = [held, rows[name].astype("category"), rows[name].array, held.tolist()]
    if name != "band":  # the bounds of these intervals would become floats
        kinds.append(rows[name].to_numpy())
    kinds += [rows[name], name]
    found = [strict(evaluate(model, rows, "y", by=by))["groups"] for by in kinds]
    assert all(groups == found[-1] for groups in found)
    assert [g["name"] for g in found[-1] if g["name"] != "missing"] == texts
    spelled = held.map(lambda cell: str(cell).removesuffix(" 00:00:00"), na_action="ignore")
    of_text = strict(evaluate(model, rows, "y", by=spelled))["groups"]
    assert {g["name"]: g for g in of_text} == {g["name"]: g for g in found[-1]}


def test_ordered_categories_are_groups_in_their_order():
    rows = name_bands()
    labels = ["young", "middle", "old", "aged"]
    rows["band"] = pd.cut(rows["age"], [0, 25, 45, 100, 120], labels=labels)
    model = EvidenceNB().fit(rows[["age"]], rows["y"])
    found = evaluate(model, rows, "y", by="band")
    assert [group.name for group in found.groups] == [*labels, "missing"]


@pytest.mark.parametrize("kind", [pd.DataFrame, pl.from_pandas, pa.Table.from_pandas])
def test_a_dataframe_of_groups_means_its_columns(kind):
    people = datasets.titanic().to_pandas()
    model = EvidenceNB().fit(people[["Class", "Age", "Survived"]], "Survived")
    for names in (["Sex", "Age"], ["Sex"]):
        expected = strict(evaluate(model, people, "Survived", by=names))
        rows = people.drop(columns="Sex")
        assert strict(evaluate(model, rows, "Survived", by=kind(people[names]))) == expected


def test_values_that_are_no_labels_are_named():
    y, p = draw_rows(9, n=60)
    with pytest.raises(ValueError, match=r"'group' holds values that are no labels .* make them"):
        of(y, p, by=pd.Series([["a"]] * 60))


@pytest.mark.parametrize("n_classes", [2, 3])
def test_the_loss_in_nats_is_scikit_learns_log_loss(n_classes):
    rng = np.random.default_rng(0)
    p = rng.dirichlet(np.ones(n_classes), 90)
    y = np.arange(90) % n_classes
    found = Evaluation.from_predictions(y, p)
    assert found.validation.loss_nats.value == pytest.approx(sk.log_loss(y, p))
    assert found.to_dict()["validation"]["loss_nats"]["value"] == pytest.approx(sk.log_loss(y, p))


def test_a_table_in_place_of_the_model_is_named():
    with pytest.raises(TypeError, match="model must be a fitted model, got Table"):
        weigh.evaluate(pa.table({"a": [1]}), EvidenceNB(), "a")
