"""Balance sheets: what they list adds up to what the model predicts."""

import json
import math
import re
from collections import Counter
from dataclasses import replace
from html.parser import HTMLParser

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from rich.cells import cell_len
from scipy import sparse
from scipy.special import ndtri, polygamma

from weigh import AdjustedNB, BalanceSheet, BoostedNB, EducatedNB, EvidenceNB, conversion_table
from weigh.datasets import titanic
from weigh.evidence import hundredths
from weigh.sheet import sides_of, summary_lines
from weigh.sheet.estimate import EstimateSheet, Push

LIGHT = settings(max_examples=40, deadline=None, database=None)
CLOSE = {"rel": 1e-12, "abs": 1e-12}
CASE = {"Class": "3rd", "Sex": "Female", "Age": "Child"}
LABELS = [[0, 1], [False, True], ["no", "yes"], ["a", "b", "c"], [1, 2, 3, 4]]


@st.composite
def fitted(draw, labels=LABELS, smoothing=(0, 1, 0.5, "1/n"), class_prior=True):
    """A model of a small table of categories and numbers, and a row that may hold anything."""
    classes = draw(st.sampled_from(labels))
    n = draw(st.integers(len(classes), 14))
    cells = {
        "c": st.sampled_from(["a", "b", "c", None]),
        "d": st.sampled_from(["x", "y"]),
        "n": st.sampled_from([1.0, 2.0, 3.0, -9.0, None]),
        "one": st.just("same"),
    }
    rows = [{name: draw(cell) for name, cell in cells.items()} for _ in range(n)]
    more = [draw(st.sampled_from(classes)) for _ in range(n - len(classes))]
    model = EvidenceNB(
        smoothing=draw(st.sampled_from(smoothing)),
        bins={"n": [1.0, 2.5, 7.0]},
        missing=draw(st.sampled_from(["level", "skip", {"c": "skip"}])),
        special_values={"n": [-9]},
        class_prior=[1 / len(classes)] * len(classes)
        if class_prior and draw(st.booleans())
        else None,
    ).fit(rows, classes + more)
    any_cells = {
        "c": st.sampled_from(["a", "b", "c", "never seen", None]),
        "d": st.sampled_from(["x", "y", "never seen", None]),
        "n": st.sampled_from([0.5, 2.0, 3.0, 99.0, -9.0, math.inf, None, math.nan]),
        "one": st.sampled_from(["same", "other", None]),
    }
    return model, {name: draw(cell) for name, cell in any_cells.items()}


def added(sheet):
    return sheet.prior + math.fsum(item.weight for item in sheet.items)


# ---------------------------------------------------------------- the sum


@LIGHT
@given(fitted(labels=LABELS[:3]))
def test_of_two_classes_the_items_add_up_to_the_log_odds_and_those_to_the_probability(case):
    model, row = case
    sheet = model.balance_sheet(row)
    assert (sheet.pos_label, sheet.against) == (model.classes_[1], model.classes_[0])
    assert added(sheet) == pytest.approx(sheet.total, **CLOSE)
    assert sheet.total == pytest.approx(model.decision_function([row])[0], **CLOSE)
    assert sheet.probability == pytest.approx(1 / (1 + math.exp(-sheet.total)), **CLOSE)
    assert sheet.probability == pytest.approx(model.predict_proba([row])[0, 1], **CLOSE)
    assert sheet.totals is None


@LIGHT
@given(fitted(labels=LABELS[3:]), st.data())
def test_against_a_rival_the_items_add_up_to_the_log_ratio_of_the_two(case, data):
    model, row = case
    a, b = data.draw(st.permutations(range(len(model.classes_))))[:2]
    sheet = model.balance_sheet(row, pos_label=model.classes_[a], against=model.classes_[b])
    logs = model.predict_log_proba([row])[0]
    assert added(sheet) == pytest.approx(sheet.total, **CLOSE)
    assert sheet.total == pytest.approx(logs[a] - logs[b], rel=1e-11, abs=1e-11)
    pair = np.exp(logs[[a, b]] - logs[[a, b]].max())
    assert sheet.probability == pytest.approx(pair[0] / pair.sum(), rel=1e-11)
    assert sheet.totals is None


@LIGHT
@given(fitted(labels=LABELS[3:]), st.data())
def test_against_the_rest_the_softmax_of_all_totals_is_the_probability(case, data):
    model, row = case
    of = data.draw(st.sampled_from(model.classes_.tolist()))
    sheet = model.balance_sheet(row, pos_label=of)
    assert sheet.against is None
    assert [*sheet.totals] == model.classes_.tolist()
    assert added(sheet) == pytest.approx(sheet.total, **CLOSE)
    assert sheet.totals[of] == sheet.total
    totals = np.array([*sheet.totals.values()])
    shares = np.exp(totals - totals.max()) / np.exp(totals - totals.max()).sum()
    expected = model.predict_proba([row])[0]
    assert np.allclose(shares, expected, rtol=1e-12, atol=1e-12)
    assert sheet.probability == pytest.approx(expected[model.classes_.tolist().index(of)], **CLOSE)


@LIGHT
@given(fitted(labels=LABELS[3:]))
def test_of_many_classes_the_most_probable_is_explained_unless_another_is_asked_for(case):
    model, row = case
    assert model.balance_sheet(row).pos_label == model.predict([row])[0]


@LIGHT
@given(fitted(), st.data())
def test_the_rival_s_sheet_is_the_same_with_every_sign_changed(case, data):
    model, row = case
    a, b = data.draw(st.permutations(model.classes_.tolist()))[:2]
    sheet = model.balance_sheet(row, pos_label=a, against=b)
    other = model.balance_sheet(row, pos_label=b, against=a)
    assert (sheet.pos_label, sheet.against) == (other.against, other.pos_label)
    assert sheet.prior == -other.prior
    assert sheet.total == pytest.approx(-other.total, **CLOSE)
    assert sheet.probability == pytest.approx(1 - other.probability, **CLOSE)
    for mine, theirs in zip(sheet.items, other.items, strict=True):
        assert mine.weight == -theirs.weight
        assert (mine.feature, mine.level, mine.note) == (theirs.feature, theirs.level, theirs.note)
    assert {*sheet.evidence_for} == {i for i in sheet.items if -i.weight < 0}
    assert len(sheet.evidence_for) == len(other.evidence_against)


@LIGHT
@given(fitted())
def test_every_feature_is_listed_once_in_its_order_and_on_one_side(case):
    model, row = case
    sheet = model.balance_sheet(row)
    assert [item.feature for item in sheet.items] == ["c", "d", "n", "one"]
    sides = [*sheet.evidence_for, *sheet.evidence_against, *sheet.weightless]
    assert Counter(map(id, sides)) == Counter(map(id, sheet.items))
    for side, sign in ((sheet.evidence_for, -1), (sheet.evidence_against, 1)):
        weights = [sign * item.weight for item in side]
        assert weights == sorted(weights)


@LIGHT
@given(fitted(labels=LABELS[:3]))
def test_an_item_carries_the_weight_of_its_level_in_the_evidence(case):
    model, row = case
    for item in model.balance_sheet(row).items:
        table = model.evidence_[item.feature]
        known = dict(zip(table.labels, table.weights.tolist(), strict=True))
        assert item.weight == known.get(item.level, 0.0)


# ---------------------------------------------------------------- nothing known


@LIGHT
@given(fitted())
def test_what_is_missing_or_unseen_is_listed_with_a_note_and_no_weight(case):
    model, row = case
    for item in model.balance_sheet(row).items:
        value, table = row[item.feature], model.evidence_[item.feature]
        missing = value is None or value != value
        if missing:
            assert item.level == "missing"
        if missing and not table.feature.has_missing:
            assert (item.weight, bool(item.note)) == (0.0, True)
        if value in ("never seen", "other"):
            assert item.level == value
            assert item.weight == 0.0
            assert "not seen" in item.note


def test_a_skipped_answer_and_a_new_answer_are_told_apart():
    rows = [{"c": "a"}, {"c": "b"}, {"c": None}]
    skipping = EvidenceNB(missing="skip").fit(rows, [0, 1, 1])
    (skipped,) = skipping.balance_sheet({"c": None}).items
    (unseen,) = skipping.balance_sheet({"c": "z"}).items
    assert (skipped.level, unseen.level) == ("missing", "z")
    assert (skipped.weight, unseen.weight) == (0.0, 0.0)
    assert skipped.note
    assert unseen.note
    assert skipped.note != unseen.note
    (counted,) = EvidenceNB().fit(rows, [0, 1, 1]).balance_sheet({"c": None}).items
    assert counted.weight != 0
    assert counted.note == ""
    (new,) = EvidenceNB().fit(rows[:2], [0, 1]).balance_sheet({"c": None}).items
    assert (new.level, new.weight, new.note) == ("missing", 0.0, unseen.note)


def test_an_interval_without_rows_says_that_it_was_not_seen():
    model = EvidenceNB(bins={"n": [1.0, 2.0]}).fit([{"n": 0.0}, {"n": 5.0}], [0, 1])
    (item,) = model.balance_sheet({"n": 1.5}).items
    assert (item.level, item.weight) == ("1.5 (read as 2)", 0.0)
    assert "not seen" in item.note


def test_a_feature_of_one_level_is_silent_without_being_called_unknown():
    model = EvidenceNB().fit([{"a": "x", "b": "k"}, {"a": "y", "b": "k"}], [0, 1])
    sheet = model.balance_sheet({"a": "x", "b": "k"})
    assert [(item.feature, item.note) for item in sheet.weightless] == [("b", "")]
    assert sheet.not_known == ()


# ---------------------------------------------------------------- the interval


def literal_variance(model, row, labels=(0, 1)):
    """Of the log odds of two classes: trigamma of the counts, by the formula of the issue."""
    evidence, s = model.evidence_, model.smoothing
    s = 1 / evidence.class_counts.sum() if s == "1/n" else s

    def trigamma(x):
        return float(polygamma(1, x)) if x > 0 else math.nan

    variance = 0.0
    if model.class_prior is None:
        variance += sum(trigamma(evidence.class_counts[k]) for k in labels)
    for item in model.balance_sheet(row).items:
        table = evidence[item.feature]
        if item.level not in table.labels or not table.counts[table.labels.index(item.level)].any():
            continue
        m = sum(counts.any() for counts in table.counts)
        for k in labels:
            n_v, n = table.counts[table.labels.index(item.level), k], table.counts[:, k].sum()
            variance += trigamma(n_v + s) - trigamma(n + s * m)
    return variance


@LIGHT
@given(fitted(labels=LABELS[:3]))
def test_the_interval_is_the_delta_method_s_and_contains_the_probability(case):
    model, row = case
    sheet, variance = model.balance_sheet(row), literal_variance(model, row)
    if math.isnan(variance):
        assert sheet.interval is None
        return
    reach = ndtri(0.95) * math.sqrt(max(variance, 0.0))
    low, high = (1 / (1 + math.exp(-(sheet.total + side * reach))) for side in (-1, 1))
    assert sheet.interval == pytest.approx((low, high), rel=1e-9, abs=1e-9)
    assert sheet.interval[0] <= sheet.probability <= sheet.interval[1]


@LIGHT
@given(fitted(labels=LABELS[:3], smoothing=(1, 0.5), class_prior=False))
def test_the_interval_follows_from_the_errors_of_the_evidence(case):
    model, row = case
    sheet, evidence = model.balance_sheet(row), model.evidence_
    variance = float(polygamma(1, evidence.class_counts).sum())
    for item in sheet.items:
        table = evidence[item.feature]
        known = dict(zip(table.labels, table.errors.tolist(), strict=True))
        variance += known.get(item.level, 0.0) ** 2
    reach = ndtri(0.95) * math.sqrt(variance)
    low, high = (1 / (1 + math.exp(-(sheet.total + side * reach))) for side in (-1, 1))
    assert sheet.interval == pytest.approx((low, high), rel=1e-9)


@LIGHT
@given(fitted(labels=LABELS[3:], smoothing=(1, 0.5, "1/n")), st.data())
def test_the_interval_of_many_classes_contains_the_probability(case, data):
    model, row = case
    a, b = data.draw(st.permutations(range(len(model.classes_))))[:2]
    of, against = model.classes_[[a, b]]
    rest = model.balance_sheet(row, pos_label=of)
    assert rest.interval[0] <= rest.probability <= rest.interval[1]
    rival = model.balance_sheet(row, pos_label=of, against=against)
    assert rival.interval[0] <= rival.probability <= rival.interval[1]
    reach = ndtri(0.95) * math.sqrt(max(literal_variance(model, row, (a, b)), 0.0))
    low, high = (1 / (1 + math.exp(-(rival.total + side * reach))) for side in (-1, 1))
    assert rival.interval == pytest.approx((low, high), rel=1e-9, abs=1e-9)


@LIGHT
@given(fitted(labels=LABELS[3:], smoothing=(1,), class_prior=False), st.data())
def test_against_the_rest_the_interval_is_the_delta_method_s(case, data):
    """Of the log odds: the slope is 1 for the class, minus its share of the rest for a rival."""
    model, row = case
    a = data.draw(st.integers(0, len(model.classes_) - 1))
    sheet = model.balance_sheet(row, pos_label=model.classes_[a])
    totals = np.array([*sheet.totals.values()])

    def log_odds(totals):
        return totals[a] - np.log(np.exp(np.delete(totals, a)).sum())

    variance, step = 0.0, 1e-5
    for k in range(len(totals)):
        nudge = step * np.eye(len(totals))[k]
        slope = (log_odds(totals + nudge) - log_odds(totals - nudge)) / (2 * step)
        # the variance of one class's total alone: half of that of the class against itself
        variance += slope**2 * literal_variance(model, row, (k, k)) / 2
    reach = ndtri(0.95) * math.sqrt(variance)
    low, high = (1 / (1 + math.exp(-(log_odds(totals) + side * reach))) for side in (-1, 1))
    assert sheet.interval == pytest.approx((low, high), abs=1e-6)


def test_more_rows_make_a_narrower_interval():
    rows, y = [["a"], ["b"], ["a"], ["b"]], [0, 1, 1, 0]
    widths = []
    for times in (1, 10, 100):
        low, high = EvidenceNB().fit(rows * times, y * times).balance_sheet(["a"]).interval
        widths.append(high - low)
    assert widths == sorted(widths, reverse=True)


def test_a_model_of_three_classes_does_not_blame_the_number_of_its_weights():
    model = AdjustedNB(random_state=0).fit(titanic(), "Class")
    assert model.evidence_["Sex"].errors is not None
    told = model.balance_sheet({"Sex": "Male"}).no_interval
    assert "more than two classes" in told
    assert "too many" not in told


def test_no_interval_is_shown_where_a_cell_is_empty_and_nothing_smooths_it():
    model = EvidenceNB(smoothing=0).fit([["a"], ["b"], ["b"]], [0, 1, 0])
    assert model.balance_sheet(["a"]).interval is None
    assert "smoothing" in model.balance_sheet(["a"]).no_interval
    assert model.balance_sheet(["b"]).interval is not None
    assert "independent" in model.balance_sheet(["b"]).to_text()


# ---------------------------------------------------------------- refusals


@pytest.mark.parametrize(
    "choice", [{"pos_label": "maybe"}, {"against": "maybe"}, {"pos_label": "Yes", "against": 7}]
)
def test_a_label_that_is_no_class_is_refused_with_those_that_are(choice):
    model = EvidenceNB().fit(titanic(), "Survived")
    with pytest.raises(ValueError, match="not a class") as caught:
        model.balance_sheet(CASE, **choice)
    wrong = choice.get("against", choice.get("pos_label"))
    assert all(text in str(caught.value) for text in (repr(wrong), "'No'", "'Yes'"))


def test_a_class_against_itself_is_refused():
    model = EvidenceNB().fit([["a"], ["b"], ["c"]], ["p", "q", "r"])
    with pytest.raises(ValueError, match="'p'"):
        model.balance_sheet(["a"], pos_label="p", against="p")


@pytest.mark.parametrize("n", [0, 2, 2201])
def test_a_table_of_another_number_of_rows_than_one_is_refused(n):
    model = EvidenceNB().fit(titanic(), "Survived")
    with pytest.raises(ValueError, match=r"one row|empty") as caught:
        model.balance_sheet(titanic().slice(0, n))
    assert str(n) in str(caught.value)


def test_a_feature_that_a_mapping_does_not_name_is_not_known():
    model = EvidenceNB().fit(titanic(), "Survived")
    sheet = model.balance_sheet({"Class": "1st", "Sex": "Male"})
    assert [(item.feature, item.level) for item in sheet.not_known] == [("Age", "not known")]
    assert sheet.total == pytest.approx(sheet.prior + sum(item.weight for item in sheet.items))


def test_an_unfitted_model_has_no_sheet():
    from sklearn.exceptions import NotFittedError

    with pytest.raises(NotFittedError):
        EvidenceNB().balance_sheet(CASE)


# ---------------------------------------------------------------- one case, any container


def containers(row):
    yield "mapping", row
    yield "list of one mapping", [row]
    yield "pandas frame", pd.DataFrame([row])
    yield "pandas series", pd.Series(row)
    yield "pandas row", pd.DataFrame([row, row]).iloc[0]
    yield "polars frame", pl.DataFrame([row])
    yield "polars lazy frame", pl.LazyFrame([row])
    yield "arrow table", pa.Table.from_pylist([row])
    reordered = {"extra": "?", **dict(reversed(row.items()))}
    yield "mapping in another order", reordered
    yield "pandas series in another order", pd.Series(reordered)
    yield "polars frame in another order", pl.DataFrame([reordered])


MIXED = [
    {"c": "a", "flag": True, "n": 1.5, "k": 3},
    {"c": "b", "flag": False, "n": 2.5, "k": 4},
    {"c": "b", "flag": True, "n": 3.5, "k": 5},
]


@pytest.mark.parametrize("name", [name for name, _ in containers(MIXED[0])])
def test_the_sheet_is_the_same_whatever_holds_the_row(name):
    model = EvidenceNB(bins={"n": [2.0], "k": [3.0]}).fit(MIXED, [0, 1, 1])
    for row in MIXED:
        assert model.balance_sheet(dict(containers(row))[name]) == model.balance_sheet(row)


def test_a_list_or_an_array_is_read_by_position():
    rows = [[*row.values()] for row in MIXED]
    model = EvidenceNB(bins={2: [2.0], 3: [3.0]}).fit(rows, [0, 1, 1])
    expected = model.balance_sheet(rows[0])
    assert [item.level for item in expected.items] == ["a", "true", "<= 2.0", "<= 3"]
    for row in (tuple(rows[0]), [rows[0]], np.array(rows[0], dtype=object)):
        assert model.balance_sheet(row) == expected
    numbers = EvidenceNB(bins={0: [2.0]}).fit(np.array([[1.0], [3.0]]), [0, 1])
    expected = numbers.balance_sheet([1.0])
    for row in (np.array([1.0]), np.array([[1.0]]), (1,), [[1.0]]):
        assert numbers.balance_sheet(row) == expected


def test_a_list_for_a_model_with_names_gives_the_same_sheet_and_a_warning():
    model = EvidenceNB().fit(titanic(), "Survived")
    with pytest.warns(UserWarning, match="position"):
        found = model.balance_sheet([*CASE.values()])
    assert found == model.balance_sheet(CASE)


# ---------------------------------------------------------------- documents


@LIGHT
@given(st.lists(st.sampled_from([0, 0, 1, 2.5, 3]), min_size=4, max_size=4), st.booleans())
def test_a_document_s_sheet_lists_the_tokens_that_occur_and_adds_up(counts, many):
    X = np.array([[1, 0, 2, 0], [0, 1, 0, 0], [3, 0, 0, 0], [0, 2, 1, 0.0]])
    y = ["p", "q", "r", "q"] if many else ["p", "q", "p", "q"]
    model = EvidenceNB(event_model="counts").fit(X, y)
    row = np.array([counts], dtype=float)
    sheet = model.balance_sheet(row, pos_label="p", against="q")
    assert [item.feature for item in sheet.items] == [f"x{j}" for j in range(4) if counts[j]]
    assert added(sheet) == pytest.approx(sheet.total, **CLOSE)
    logs = model.predict_log_proba(row)[0]
    assert sheet.total == pytest.approx(logs[0] - logs[1], rel=1e-11, abs=1e-11)
    for item in sheet.items:
        times = counts[int(item.feature[1:])]
        assert item.level == f"{times:g}"
        weights = model.evidence_["token"].by_class[int(item.feature[1:])]
        weight = weights[0] - weights[1] if many else -weights[0]
        assert item.weight == pytest.approx(times * weight, **CLOSE)
    for kind in (sparse.csr_array, sparse.csc_array, sparse.coo_array):
        assert model.balance_sheet(kind(row), pos_label="p", against="q") == sheet


def test_tokens_have_their_names_and_one_that_never_occurred_says_so():
    X = pd.DataFrame({"free": [1.0, 0, 2], "<b>": [0.0, 1, 0], "never": [0.0, 0, 0]})
    model = EvidenceNB(event_model="counts").fit(X, [1, 0, 1])
    sheet = model.balance_sheet({"<b>": 0, "never": 2, "free": 1})
    assert [item.feature for item in sheet.items] == ["free", "never"]
    ratio = (1 / (3 + 3)) / (1 / (1 + 3))  # tokens of each class, and one row added to each of 3
    assert sheet.items[1].weight == pytest.approx(2 * np.log(ratio))
    assert "not seen" in sheet.items[1].note
    assert "<b>" not in sheet.to_text()


# ---------------------------------------------------------------- as data


@LIGHT
@given(fitted())
def test_the_dict_is_ready_for_json_and_says_what_the_sheet_says(case):
    model, row = case
    sheet = model.balance_sheet(row)
    data = sheet.to_dict()
    assert json.loads(json.dumps(data, allow_nan=False)) == data
    for name in ("pos_label", "against", "prior", "total", "probability"):
        assert data[name] == getattr(sheet, name)
        assert type(data[name]) is type(getattr(sheet, name))
    assert data["interval"] == (None if sheet.interval is None else [*sheet.interval])
    for found, item in zip(data["items"], sheet.items, strict=True):
        assert {k: found[k] for k in ("feature", "level", "weight", "note")} == {
            "feature": item.feature,
            "level": item.level,
            "weight": item.weight,
            "note": item.note,
        }
    if sheet.totals is None:
        assert data["totals"] is None
    else:
        assert [*data["totals"].values()] == [*sheet.totals.values()]


def test_the_conversion_table_is_the_paper_s_table_4():
    table_4 = {10: -220, 20: -139, 30: -85, 40: -41, 50: 0, 60: 41, 70: 85, 80: 139, 90: 220}
    assert {round(100 * p): weight for p, weight in conversion_table()} == table_4
    for p, weight in conversion_table():
        assert 1 / (1 + math.exp(-weight / 100)) == pytest.approx(p, abs=0.002)


# ---------------------------------------------------------------- as text


def letters(text):
    """The characters that say something, however the lines are broken."""
    return Counter(re.sub(r"\s", "", text))


def widest(text):
    return max(cell_len(line) for line in text.splitlines())


@LIGHT
@given(fitted(), st.integers(40, 160))
def test_the_text_holds_every_item_and_keeps_its_width(case, width):
    model, row = case
    sheet = model.balance_sheet(row)
    wide, narrow = sheet.to_text(1000), sheet.to_text(width)
    for item in sheet.items:
        assert str(item) in wide
    assert widest(narrow) <= width
    missing = letters(" ".join(map(str, sheet.items))) - letters(narrow)
    assert not missing


@LIGHT
@given(fitted(labels=LABELS[:3]))
def test_the_text_holds_the_weights_times_100_the_total_and_the_probability(case):
    model, row = case
    sheet = model.balance_sheet(row)
    text = sheet.to_text(1000)
    for item in (*sheet.evidence_for, *sheet.evidence_against):
        line = next(line for line in text.splitlines() if str(item) in line)
        assert str(abs(round(100 * item.weight))) in line
    assert f"{abs(round(100 * sheet.total))}" in text
    assert "Prior" in text
    assume(0.01 < sheet.probability < 0.99)
    assert f"{sheet.probability:.2f}" in text


def test_each_side_is_headed_by_the_class_and_ends_in_its_own_sum():
    sheet = EvidenceNB().fit(titanic(), "Survived").balance_sheet(CASE)
    text = sheet.to_text()
    assert "Evidence for Yes" in text
    assert "Evidence against Yes" in text
    positive = sum(round(100 * item.weight) for item in sheet.evidence_for)
    negative = round(100 * sheet.prior)
    negative += sum(round(100 * item.weight) for item in sheet.evidence_against)
    assert re.search(rf"positive weight\s+\+{positive}\b", text)
    assert re.search(rf"negative weight\s+{negative}\b", text)
    assert str(sheet) == text


def test_of_many_classes_the_highest_totals_are_listed_and_the_others_bounded():
    rows = [{"a": "xyz"[i % 3], "n": i} for i in range(120)]
    fitted = EvidenceNB().fit(rows, [f"class {i % 12}" for i in range(120)])
    sheet = fitted.balance_sheet({"a": "x", "n": 40})
    lines = dict(summary_lines(sheet))
    others = sorted((t for c, t in sheet.totals.items() if c != sheet.pos_label), reverse=True)
    shown = [text for name, text in lines.items() if name.startswith("Total of ")]
    assert shown == [hundredths(total) for total in others[:6]]
    assert lines["Totals of 5 other classes"] == f"at most {hundredths(others[6])}"


def test_a_pair_is_not_listed_again_where_its_answers_are_not_known():
    rows = [{"a": "xy"[i % 2], "b": "pq"[i // 2 % 2], "c": "uv"[i // 4 % 2]} for i in range(80)]
    y = [int((row["a"] == "x") ^ (row["b"] == "p")) for row in rows]
    fitted = EducatedNB(pairs=[("a", "b")]).fit(rows, y)
    for row, missing in (({}, "a, b, c"), ({"a": "x"}, "b, c")):
        notes = fitted.balance_sheet(row).to_text()
        assert f"Not known (no weight): {missing}." in notes
        assert "& not known" not in notes.split("Not known (no weight)")[1]
    crossed = EvidenceNB(crosses=[("a", "b")]).fit(rows, y)  # a and b have no tables of their own
    notes = crossed.balance_sheet({"c": "u"}).to_text()
    assert "No weight: a = not known with b = not known (no evidence)" in notes


def test_the_text_names_the_rival_or_the_other_totals():
    model = EvidenceNB().fit([["a"], ["b"], ["c"], ["a"]], ["p", "q", "r", "q"])
    against_one = model.balance_sheet(["a"], pos_label="p", against="r").to_text()
    assert "Probability of p rather than r" in against_one
    against_all = model.balance_sheet(["a"], pos_label="p").to_text()
    assert "Total of q" in against_all
    assert "Total of r" in against_all
    assert "exp(total)" in against_all


LONG = "Lorem_ipsum_dolor_sit_amet_consectetur_adipiscing_elit_" * 4
MARKUP = ["[bold]x[/bold]", "[/b]", "[link=http://a]b[/link]", "<b>", "</td><script>1</script>"]
MARKUP += ["&amp;", '"', ":smile:", "\\[", "[red]", "Größe 年 😀", LONG[:200]]


def marked(labels):
    rows = [{name: f"{name}!{i}" for name in MARKUP} for i in range(len(labels))]
    return EvidenceNB().fit(rows, labels), {name: f"{name}!0" for name in MARKUP}


@pytest.mark.parametrize(
    "labels", [["[bold]x[/bold]", "</b>"], ["[/b]", "<b>", ":smile:"], [LONG, LONG + "2"]]
)
def test_names_are_text_and_never_markup(labels):
    model, row = marked(labels)
    for choice in ({}, {"pos_label": labels[0], "against": labels[1]}, {"pos_label": labels[0]}):
        sheet = model.balance_sheet(row, **choice)
        text, page = sheet.to_text(4000), sheet._repr_html_()
        for item in sheet.items:
            assert str(item) in text
        assert str(sheet.pos_label) in text
        read = Page(page)
        assert read.tags <= {"table", "thead", "tbody", "tfoot", "tr", "th", "td", "p", "br"} | {
            "caption", "div", "span", "style", "b", "i", "small",
        }  # fmt: skip
        assert "<b>" not in page
        assert "<script" not in page
        for item in sheet.items:
            assert str(item) in read.text
        assert str(sheet.pos_label) in read.text


class Page(HTMLParser):
    """The tags and the text of a piece of HTML."""

    def __init__(self, page):
        super().__init__(convert_charrefs=True)
        self.tags, self.open, self.text = set(), [], ""
        self.feed(page)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        if tag != "br":
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text += data


@pytest.mark.parametrize("width", [40, 41, 60, 100])
@pytest.mark.parametrize("labels", [["no", "yes"], [LONG, LONG + "2"], ["p", "q", LONG]])
def test_long_names_are_folded_and_nothing_is_lost(width, labels):
    model, row = marked(labels)
    for choice in ({}, {"pos_label": labels[-1]}, {"pos_label": labels[0], "against": labels[1]}):
        sheet = model.balance_sheet(row, **choice)
        text = sheet.to_text(width)
        assert widest(text) <= width
        assert "…" not in text
        lost = letters(" ".join(map(str, [*sheet.items, sheet.pos_label]))) - letters(text)
        assert not lost


@pytest.mark.parametrize("name", ["two\nlines", "tab\tbed", "cr\rlf", "nul\0", "esc\x1b[31mred"])
def test_a_name_with_control_characters_stays_on_its_lines_and_sends_none(name):
    model = EvidenceNB().fit([{name: "x"}, {name: "y"}], [0, 1])
    text = model.balance_sheet({name: "x"}).to_text(60)
    assert widest(text) <= 60
    assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f]", text)
    assert "x" in text


def test_a_sheet_is_a_value():
    model = EvidenceNB().fit(titanic(), "Survived")
    sheet = model.balance_sheet(CASE)
    assert isinstance(sheet, BalanceSheet)
    assert sheet == model.balance_sheet(CASE)
    assert sheet != model.balance_sheet(CASE | {"Sex": "Male"})
    with pytest.raises(AttributeError):
        sheet.total = 0.0


def test_the_sheet_shows_the_bits_of_predict_proba():
    people = titanic()
    model = EvidenceNB().fit(people, "Survived")
    for row in range(0, 2201, 150):
        case = people.slice(row, 1)
        assert model.balance_sheet(case).probability == model.predict_proba(case)[0, 1]


def test_the_interval_of_a_document_is_that_of_one_dirichlet():
    rng = np.random.default_rng(0)
    X, y = rng.poisson(2, (40, 12)), np.arange(40) % 2
    model = EvidenceNB(event_model="counts").fit(X, y)
    times = np.full(12, 2)
    counts = model.evidence_["token"].counts + 1
    draws = [np.log(rng.dirichlet(counts[:, c], 20_000)) @ times for c in (0, 1)]
    prior = sum(polygamma(1, n) for n in model.evidence_.class_counts)
    expected = np.sqrt(np.var(draws[0]) + np.var(draws[1]) + prior)
    low, high = (np.log(p / (1 - p)) for p in model.balance_sheet(times).interval)
    assert (high - low) / (2 * 1.6448536) == pytest.approx(expected, rel=0.02)


def test_an_empty_cell_of_a_third_class_does_not_withhold_the_interval_of_two():
    rows, y = [["a"], ["b"], ["a"], ["b"], ["a"], ["a"]], [0, 0, 1, 1, 2, 2]
    model = EvidenceNB(smoothing=0).fit(rows, y)
    assert model.balance_sheet(["b"], pos_label=0, against=1).interval is not None
    assert model.balance_sheet(["b"], pos_label=0, against=2).interval is None


@pytest.mark.parametrize("backend", [None, "pandas", "polars"])
def test_a_sheet_is_a_frame_whose_weights_add_up(backend):
    pandas = pytest.importorskip("pandas")
    X = pandas.DataFrame({"a": ["p", "q", "p", "q", "p"], "b": [1, 1, 2, 2, 1]})
    sheet = EvidenceNB().fit(X, [0, 1, 0, 1, 1]).balance_sheet({"a": "q", "b": None})
    frame = sheet.to_frame() if backend is None else sheet.to_frame(backend)
    assert type(frame).__module__.startswith(backend or "pandas")
    assert [*frame.columns] == ["feature", "level", "weight", "note"]
    assert [*frame["feature"]] == ["Prior", "a", "b"]
    assert sum(frame["weight"]) == pytest.approx(sheet.total, rel=1e-12)
    assert [item.feature for item in sheet.not_known] == ["b"]


def test_items_that_would_all_read_zero_share_a_line_and_the_sides_still_add_up():
    rows = [{"told": str(i % 2), **{f"noise {j}": "ab"[i // 2 % 2] for j in range(9)}}
            for i in range(4000)]  # fmt: skip
    y = [1, *(i % 2 for i in range(1, 4000))]  # one row more, of which noise tells a little
    sheet = EvidenceNB().fit(rows, y).balance_sheet(rows[0])
    small = [item for item in sheet.items if 0 < abs(item.weight) < 0.005]
    assert len(small) == 9
    text = sheet.to_text()
    assert "9 more items, together" in text
    assert not any(str(item) in text for item in small)
    shown = sum(int(number) for side in sides_of(sheet) for _, number in side.lines)
    assert shown == sum(int(side.total[1]) for side in sides_of(sheet))
    assert abs(shown / 100 - sheet.total) <= 0.005 * 3


def test_a_pair_is_named_in_plain_words():
    rows = [
        {"hours": float(h), "status": s} for h in (20, 40, 45, 60) for s in ("single", "married")
    ]
    fitted = EvidenceNB(bins={"hours": [30.0, 50.0]}, crosses=[("hours", "status")])
    (item,) = fitted.fit(rows * 5, [0, 1, 1, 1, 0, 1, 0, 0] * 5).balance_sheet(rows[3]).items
    assert str(item) == "hours 31 to 50 with status = married"
    assert (item.feature, item.level) == ("hours & status", "31 to 50 & married")


@pytest.mark.parametrize(
    ("learner", "row"),
    [
        (BoostedNB(random_state=0), {"Class": "1st", "Sex": "Male", "Age": "Adult"}),
        (EvidenceNB(), {"Class": "1st", "Sex": "Male", "Age": "Adult"}),
    ],
)
def test_a_sheet_has_an_interval_or_says_why_it_has_none(learner, row):
    sheet = learner.fit(titanic(), "Survived").balance_sheet(row)
    assert (sheet.interval is None) == bool(sheet.no_interval)
    assert ("No interval:" in sheet.to_text()) == (sheet.interval is None)


def test_answers_that_are_not_known_are_named_once_and_in_short():
    rng = np.random.default_rng(0)
    X = pa.table({f"q{i}": rng.choice(["a", "b"], 60) for i in range(20)})
    model = EvidenceNB().fit(X, rng.integers(0, 2, 60))
    note = next(n for n in str(model.balance_sheet({"q0": "a"})).split("\n\n") if "Not known" in n)
    named = {f"q{i}" for i in range(20) if f" q{i}," in f" {note}," or f"q{i} " in note}
    assert named == {f"q{i}" for i in range(1, 13)}
    assert "7 more" in note
    short = X.select([f"q{i}" for i in range(13)])
    sheet = EvidenceNB().fit(short, rng.integers(0, 2, 60)).balance_sheet({})
    assert "q12." in str(sheet)
    assert "more" not in str(sheet)


def test_a_rare_answer_is_named_beside_the_level_that_it_shares():
    model = EvidenceNB(max_levels={"Class": 2}).fit(titanic(), "Survived")
    names = [str(model.balance_sheet({"Class": one}).items[0]) for one in ("1st", "cook", "Crew")]
    cook = "Class = other (cook, not seen in training)"
    assert names == ["Class = other (1st)", cook, "Class = Crew"]
    words = {"columns": {"Class": "Cabin"}, "levels": {"Class": {"other": "a rare class"}}}
    named = model.balance_sheet({"Class": "1st"}, labels=words).items[0]
    assert str(named) == "Cabin = a rare class (1st)"


def test_a_number_far_beyond_the_cut_points_is_noted():
    rows = [{"age": float(age), "code": -999.0 if age % 7 else float(age)} for age in range(20, 80)]
    bins = {"age": [*range(25, 75, 5)], "code": [*range(25, 75, 5)]}
    model = EvidenceNB(bins=bins, special_values={"code": [-999]})
    model.fit(rows, [row["age"] > 50 for row in rows])
    assert model.balance_sheet({"age": 85, "code": -999}).far == ()
    assert model.balance_sheet({"age": 900}).far == ("age = 900",)
    assert model.balance_sheet({"age": 900, "code": -200}).far == ("age = 900", "code = -200")
    assert "age = 900" in str(model.balance_sheet({"age": 900}))


@pytest.mark.parametrize("link", ["identity", "log", "curve"])
def test_items_that_are_printed_as_no_change_of_an_estimate_share_a_line(link):
    weights = [2.0, -0.5, 0.002, -0.0015, 0.001, 0.0]
    read = math.exp if link == "log" else float
    pushes = tuple(Push(f"x{k}", w, read(w)) for k, w in enumerate(weights))
    sheet = EstimateSheet(10.0, pushes, 11.5, (5.0, 20.0), link=link)
    kept = [push.text for push in sheet.shown]
    assert kept == ["x0", "x1", "x5", "3 more items, together"]  # x5 is not known, say
    assert sum(push.weight for push in sheet.shown) == pytest.approx(sum(weights))
    assert sheet.shown[-1].change == pytest.approx(read(0.0015))
    assert "3 more items, together" in str(sheet)
    one = replace(sheet, pushes=pushes[:3])
    assert one.shown == one.pushes


def test_a_long_name_is_folded_before_errors_and_importance_are_left_out_of_a_table():
    name = "systolic_blood_pressure_at_the_first_visit_mean_of_three_measurements"
    short, long = (
        EvidenceNB().fit([{key: "ab"[i % 2]} for i in range(40)], [i % 3 == 0 for i in range(40)])
        for key in ("x", name)
    )
    for width, kept in ((100, True), (60, False)):
        text = long.evidence_.to_text(width)
        assert max(map(cell_len, text.splitlines())) <= width
        assert all((heading in text) == kept for heading in ("Error", "Importance", "IV"))
        assert name[:24] in text
    assert "Error" in short.evidence_.to_text(60)
