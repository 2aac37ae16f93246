"""Weights of evidence: held to a literal loop over the rows, and shown so that people can read."""

import math
import re
from html.parser import HTMLParser

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from rich.cells import cell_len
from scipy.special import logit, polygamma

from weigh import Evidence, EvidenceNB, PerplexedNB, RecalibratedClassifier
from weigh.bins import Interval
from weigh.datasets import titanic
from weigh.evidence import flip
from weigh.evidence.ranking import choose_levels, find_ends
from weigh.tally import smoothed_levels

LIGHT = settings(max_examples=40, deadline=None, database=None)
LABELS = [[0, 1], ["no", "yes"], ["a", "b", "c"], [1, 2, 3, 4]]
CUTS = [1.0, 2.5]
NOTHING = object()


@st.composite
def samples(draw, labels=LABELS):
    """Rows, labels, row weights, and the parameters of a model."""
    classes = draw(st.sampled_from(labels))
    n = draw(st.integers(len(classes), 14))
    cells = {
        "c": st.sampled_from(["a", "b", "c", None]),
        "n": st.sampled_from([-1.0, 1.0, 2.0, 2.5, 3.0, -9.0, math.inf, None]),
        "b": st.sampled_from([True, False, None]),
        "one": st.sampled_from(["same", None]),
    }
    rows = [{name: draw(cell) for name, cell in cells.items()} for _ in range(n)]
    y = classes + [draw(st.sampled_from(classes)) for _ in range(n - len(classes))]
    weight = [1.0] * len(classes) + [
        draw(st.sampled_from([0.0, 1.0, 2.0, 0.25])) for _ in range(n - len(classes))
    ]
    chosen = {
        "smoothing": draw(st.sampled_from([0, 1, 0.5, "1/n"])),
        "missing": draw(st.sampled_from(["level", "skip"])),
        "bins": {"n": CUTS},
        "special_values": {"n": [-9]},
    }
    return rows, y, weight, chosen


def literal_level(name, value, skip):
    """The label of a value's level, by the rules of the design."""
    if value is None:
        return NOTHING if skip else "missing"
    if name != "n":
        return {True: "true", False: "false"}.get(value, value)
    if value == -9:
        return "-9"
    return "<= 1.0" if value <= 1 else "(1.0, 2.5]" if value <= 2.5 else "> 2.5"


def literal_counts(name, rows, y, weight, skip):
    """The weight of each level and class, counted row by row; levels without weight left out."""
    classes = sorted(set(y))
    counts = {}
    for row, label, w in zip(rows, y, weight, strict=True):
        level = literal_level(name, row[name], skip)
        if level is not NOTHING:
            counts.setdefault(level, dict.fromkeys(classes, 0.0))[label] += w
    return {level: by_class for level, by_class in counts.items() if sum(by_class.values()) > 0}


def literal_smoothing(smoothing, weight):
    return 1 / sum(weight) if smoothing == "1/n" else smoothing


def literal_weights(counts, classes, s):
    """ln P(v|1)/P(v|0), or ln P(v|c) less its mean over the classes."""
    weights = {}
    for level in counts:
        logs = []
        for c in classes:
            n_c = sum(by_class[c] for by_class in counts.values())
            p = (counts[level][c] + s) / (n_c + s * len(counts))
            logs.append(math.log(min(max(p, 1e-10), 1 - 1e-10) if s == 0 else p))
        mean = sum(logs) / len(logs)
        two = len(classes) == 2
        weights[level] = [logs[1] - logs[0]] if two else [one - mean for one in logs]
    return weights


def features(sample):
    """Each feature's table, with its literal counts."""
    rows, y, weight, chosen = sample
    model = EvidenceNB(**chosen).fit(rows, y, sample_weight=weight)
    for table in model.evidence_:
        counts = literal_counts(table.name, rows, y, weight, chosen["missing"] == "skip")
        if table.levels[:2] == (False, True) and type(table.levels[0]) is bool:
            for declared in ("false", "true"):
                counts.setdefault(declared, dict.fromkeys(sorted(set(y)), 0.0))
        yield model, table, counts


# ---------------------------------------------------------------- the weights


@LIGHT
@given(samples())
def test_counts_and_weights_are_those_of_a_literal_loop_over_the_rows(sample):
    _, y, weight, chosen = sample
    s, classes = literal_smoothing(chosen["smoothing"], weight), sorted(set(y))
    for _, table, counts in features(sample):
        pairs = zip(table.feature.cut_labels, table.counts, strict=True)
        seen = [label for label, row in pairs if row.any()]
        assert sorted(seen) == sorted(label for label, by in counts.items() if any(by.values()))
        assume(s > 0 or all(sum(by[c] for by in counts.values()) > 0 for c in classes))
        expected = literal_weights(counts, classes, s)
        for i, label in enumerate(table.feature.cut_labels):
            if label in counts:
                assert table.counts[i].tolist() == [counts[label][c] for c in classes]
                assert table.by_class[i] == pytest.approx(expected[label], rel=1e-12, abs=1e-12)
            else:
                assert not table.by_class[i].any()


@LIGHT
@given(samples())
def test_errors_are_those_of_the_trigamma_formula(sample):
    _, y, weight, chosen = sample
    s, classes = literal_smoothing(chosen["smoothing"], weight), sorted(set(y))
    for _, table, counts in features(sample):
        errors = table.errors.reshape(table.by_class.shape)
        for i, label in enumerate(table.feature.cut_labels):
            if label not in counts:
                assert not errors[i].any()
                continue
            variances = []
            for c in classes:
                n_v, n = counts[label][c], sum(by[c] for by in counts.values())
                top = polygamma(1, n_v + s) if n_v + s > 0 else math.nan
                variances.append(
                    float(top - polygamma(1, n + s * len(counts))) if n + s else math.nan
                )
            k = len(classes)
            if k == 2:
                expected = [sum(variances)]
            else:  # the weight is ln P(v|c) less the mean over the classes
                slopes = np.eye(k) - 1 / k
                expected = slopes**2 @ variances
            found = errors[i] ** 2
            assert found == pytest.approx(np.maximum(expected, 0), rel=1e-9, abs=1e-12, nan_ok=True)


@LIGHT
@given(samples())
def test_the_prior_is_the_log_odds_of_the_classes_and_never_smoothed(sample):
    rows, y, weight, chosen = sample
    evidence = EvidenceNB(**chosen).fit(rows, y, sample_weight=weight).evidence_
    classes = sorted(set(y))
    totals = [sum(w for w, label in zip(weight, y, strict=True) if label == c) for c in classes]
    assert evidence.classes.tolist() == classes
    assert evidence.class_counts.tolist() == totals
    assert evidence.base_rate == pytest.approx(np.array(totals) / sum(totals), rel=1e-15)
    logs = np.log(np.array(totals) / sum(totals))
    if len(classes) == 2:
        assert evidence.link == "logistic"
        assert evidence.prior == pytest.approx(logs[1] - logs[0], rel=1e-12, abs=1e-12)
    else:
        assert evidence.link == "softmax"
        assert evidence.prior == pytest.approx(logs - logs.mean(), rel=1e-12, abs=1e-12)


@LIGHT
@given(samples())
def test_a_feature_of_one_level_weighs_nothing(sample):
    rows, y, weight, chosen = sample
    rows = [row | {"one": "same"} for row in rows]
    evidence = EvidenceNB(**chosen).fit(rows, y, sample_weight=weight).evidence_
    assert evidence["one"].levels == ("same",)
    assert not evidence["one"].weights.any()
    assert evidence["one"].information_value == 0


@LIGHT
@given(samples(labels=LABELS[2:]))
def test_the_weights_of_many_classes_add_up_to_nothing_over_the_classes(sample):
    for _, table, _ in features(sample):
        assert table.weights.shape == table.counts.shape
        assert np.allclose(table.weights.sum(axis=1), 0, atol=1e-12)


@LIGHT
@given(samples(labels=LABELS[:2]))
def test_no_feature_speaks_one_way_whatever_its_level(sample):
    """P(v|1) and P(v|0) both add up to 1, so one cannot be the larger at every level."""
    for _, table, _ in features(sample):
        seen = table.weights[smoothed_levels(table)]
        assert not len(seen) or seen.min() <= 1e-9
        assert not len(seen) or seen.max() >= -1e-9


@pytest.mark.parametrize("smoothing", [0, 1, 0.5, "1/n", 1e-9])
def test_a_feature_never_observed_in_one_class_does_not_speak_one_way(smoothing):
    rows = [{"a": None}, {"a": "x"}, {"a": "x"}, {"a": "y"}]
    model = EvidenceNB(missing="skip", smoothing=smoothing).fit(rows, [0, 1, 1, 1])
    weights = model.evidence_["a"].weights
    assert weights.min() <= 1e-9
    assert weights.max() >= -1e-9


def test_levels_come_with_their_types():
    rows = [{"c": 1, "t": "1", "b": True, "n": 0.5}, {"c": 2, "t": None, "b": False, "n": 9.0}]
    chosen = {"categorical_features": ["c", "t", "b"], "bins": {"n": [1.0]}}
    evidence = EvidenceNB(**chosen).fit(rows, [0, 1]).evidence_
    assert evidence["c"].levels == (1, 2)
    assert evidence["t"].levels == ("1", None)
    assert evidence["t"].labels == ("1", "missing")
    assert evidence["b"].labels == ("false", "true")
    assert [type(level) for level in evidence["n"].levels] == [Interval, Interval]
    assert (evidence["n"].levels[0].upper, evidence["n"].levels[1].lower) == (1.0, 1.0)


# ---------------------------------------------------------------- information value


def shares(table):
    """The smoothed frequencies that the weights are made of."""
    counts = np.where(smoothed_levels(table)[:, None], table.counts + table.smoothing, 0)
    return counts / np.maximum(counts.sum(axis=0), 1e-300)


@LIGHT
@given(samples(labels=LABELS[:2]))
def test_the_information_value_of_two_classes_is_the_expected_weight(sample):
    for _, table, _ in features(sample):
        if not shares(table).any(axis=0).all():
            assert table.information_value == 0
            continue
        assert table.information_value > -1e-12
        expected = 0.0
        levels = zip(table.weights, shares(table), table.counts, strict=True)
        for weight, (p_0, p_1), counts in levels:
            if counts.any():  # a declared level without rows tells nothing of them
                expected += (p_1 - p_0) * weight
        assert table.information_value == pytest.approx(expected, rel=1e-12, abs=1e-12)


@LIGHT
@given(samples(labels=LABELS[2:]))
def test_the_information_value_of_many_classes_is_the_mean_over_their_pairs(sample):
    for _, table, _ in features(sample):
        if not shares(table).any(axis=0).all():
            assert table.information_value == 0
            continue
        assert table.information_value > -1e-12
        k, share, pairs = table.counts.shape[1], shares(table), []
        seen = table.counts.any(axis=1)
        for a in range(k):
            for b in range(a):
                weight = table.weights[:, a] - table.weights[:, b]
                pairs.append(((share[:, a] - share[:, b]) * weight)[seen].sum())
        expected = sum(pairs) / len(pairs)
        assert table.information_value == pytest.approx(expected, rel=1e-12, abs=1e-12)


def test_the_information_value_ranks_what_credit_modellers_look_for_first():
    rows = [{"tells": y, "hints": y if i % 3 else "other", "not": "xy"[i % 2]}
            for i in range(60) for y in ("good", "bad")]  # fmt: skip
    y = [label for _ in range(60) for label in ("good", "bad")]
    evidence = EvidenceNB().fit(rows, y).evidence_
    values = [table.information_value for table in evidence]
    assert values[0] > values[1] > 0.1
    assert values[2] == pytest.approx(0, abs=1e-12)


def test_by_hand_the_information_value_of_plain_frequencies():
    rows, y = [["a"]] * 3 + [["b"]] + [["a"]] + [["b"]] * 3, [1] * 4 + [0] * 4
    table = EvidenceNB(smoothing=0).fit(rows, y).evidence_["x0"]
    assert table.weights == pytest.approx([math.log(3), -math.log(3)])
    assert table.information_value == pytest.approx(2 * 0.5 * math.log(3))


# ---------------------------------------------------------------- other priors


@LIGHT
@given(samples(labels=LABELS[:2]), st.floats(0.001, 0.999))
def test_another_prior_moves_every_total_by_the_change_of_log_base_odds(sample, p):
    rows, y, weight, chosen = sample
    model = EvidenceNB(**chosen).fit(rows, y, sample_weight=weight)
    other = model.with_prior(p)
    change = logit(p) - logit(model.evidence_.base_rate[1])
    moved = other.decision_function(rows) - model.decision_function(rows)
    assert np.allclose(moved, change, rtol=0, atol=1e-9)
    assert other.evidence_.prior == pytest.approx(logit(p), abs=1e-9)
    assert other.evidence_.base_rate.tolist() == model.evidence_.base_rate.tolist()
    for mine, theirs in zip(other.evidence_, model.evidence_, strict=True):
        assert np.array_equal(mine.weights, theirs.weights)
    given_first = EvidenceNB(**chosen, class_prior=p).fit(rows, y, sample_weight=weight)
    assert np.allclose(given_first.predict_proba(rows), other.predict_proba(rows), atol=1e-12)


@LIGHT
@given(samples(labels=LABELS[2:]), st.data())
def test_another_prior_of_many_classes_multiplies_the_odds_of_each_pair(sample, data):
    rows, y, weight, chosen = sample
    model = EvidenceNB(**chosen).fit(rows, y, sample_weight=weight)
    k = len(model.classes_)
    parts = data.draw(st.lists(st.integers(1, 9), min_size=k, max_size=k))
    rate = np.array(parts) / sum(parts)
    by_label = dict(zip(reversed(model.classes_.tolist()), reversed(rate.tolist()), strict=True))
    before, base = model.predict_log_proba(rows), np.log(model.evidence_.base_rate)
    expected = before + np.log(rate) - base
    expected -= np.log(np.exp(expected).sum(axis=1, keepdims=True))
    for given_rate in (rate, [*rate], by_label):
        found = model.with_prior(given_rate).predict_log_proba(rows)
        assert np.allclose(found, expected, rtol=1e-9, atol=1e-9)
        first = EvidenceNB(**chosen, class_prior=given_rate).fit(rows, y, sample_weight=weight)
        assert np.allclose(first.predict_log_proba(rows), found, rtol=1e-9, atol=1e-9)


@LIGHT
@given(samples(), st.data())
def test_only_the_last_of_two_priors_counts_and_the_base_rate_changes_nothing(sample, data):
    rows, y, weight, chosen = sample
    model = EvidenceNB(**chosen).fit(rows, y, sample_weight=weight)
    k = len(model.classes_)
    one, two = (
        np.array(data.draw(st.lists(st.integers(1, 9), min_size=k, max_size=k)), float)
        for _ in range(2)
    )
    twice = model.with_prior(one / one.sum()).with_prior(two / two.sum())
    once = model.with_prior(two / two.sum())
    assert np.allclose(twice.predict_proba(rows), once.predict_proba(rows), atol=1e-12)
    same = model.with_prior(model.evidence_.base_rate)
    assert np.allclose(same.predict_proba(rows), model.predict_proba(rows), atol=1e-12)


def test_another_prior_leaves_the_model_as_it_was():
    model = EvidenceNB().fit(titanic(), "Survived")
    before = model.evidence_.prior
    model.with_prior(0.01)
    assert model.evidence_.prior == before


def test_a_prior_that_is_given_is_taken_as_known():
    """So the sheet's interval is narrower by the error of the base rate alone."""
    rows, y = [["a"], ["b"], ["a"], ["b"]], [0, 1, 1, 0]
    model = EvidenceNB().fit(rows, y)
    low, high = (logit(p) for p in model.balance_sheet(["a"]).interval)
    sure_low, sure_high = (logit(p) for p in model.with_prior(0.5).balance_sheet(["a"]).interval)
    difference = ((high - low) / 2) ** 2 - ((sure_high - sure_low) / 2) ** 2
    assert difference == pytest.approx(1.6448536269514722**2 * 2 * polygamma(1, 2), rel=1e-9)


# ---------------------------------------------------------------- a container of tables


@pytest.mark.parametrize("method", [None, "spline", "sigmoid", "temperature", "isotonic"])
@pytest.mark.parametrize("learner", [EvidenceNB(), PerplexedNB(attenuation=2.0)])
def test_evidence_turned_round_says_the_opposite_of_every_row(learner, method):
    people = titanic()
    model = learner
    if method is not None:
        model = RecalibratedClassifier(learner, method=method, random_state=0)
    evidence = model.fit(people, "Survived").with_prior(0.2).evidence_
    rows = model._read(people.take([*range(0, 2201, 40)]))
    turned = flip(evidence)
    total = evidence.total(rows)
    np.testing.assert_allclose(turned.total(rows), -total, rtol=1e-9, atol=1e-12)
    p = evidence.probabilities(total)
    np.testing.assert_allclose(turned.probabilities(turned.total(rows)), p[:, ::-1], rtol=1e-9)
    again = flip(turned)
    np.testing.assert_allclose(again.total(rows), total, rtol=1e-9)
    assert again.classes.tolist() == evidence.classes.tolist()


def test_of_three_classes_none_is_the_other_side():
    with pytest.raises(ValueError, match="two classes"):
        flip(EvidenceNB().fit([[1], [2], [3]], ["a", "b", "c"]).evidence_)


def test_evidence_is_asked_by_name_iterated_and_counted():
    evidence = EvidenceNB().fit(titanic(), "Survived").evidence_
    assert isinstance(evidence, Evidence)
    assert len(evidence) == 3
    assert [table.name for table in evidence] == ["Class", "Sex", "Age"]
    assert evidence["Sex"] is [*evidence][1]
    with pytest.raises(KeyError, match=r"'Nope'.*'Sex'"):
        evidence["Nope"]


# ---------------------------------------------------------------- as a dataframe


def frames(columns):
    yield pd.DataFrame(columns), pd.DataFrame
    yield pl.DataFrame(columns), pl.DataFrame
    yield pl.LazyFrame(columns), pl.DataFrame
    yield pa.table(columns), pa.Table


def columns_of(frame):
    if isinstance(frame, pa.Table):
        return frame.to_pydict()
    return (
        frame.to_dict(orient="list")
        if isinstance(frame, pd.DataFrame)
        else frame.to_dict(as_series=False)
    )


COLUMNS = {"c": ["a", "b", None, "b"], "n": [1.0, 2.0, None, 3.0]}


@pytest.mark.parametrize("y", [[0, 1, 1, 0], ["p", "q", "r", "r"]])
@pytest.mark.parametrize("smoothing", [0, 1])
def test_the_frame_is_of_the_user_s_own_library_and_holds_the_table_s_numbers(y, smoothing):
    found = []
    for X, kind in frames(COLUMNS):
        evidence = EvidenceNB(bins={"n": [1.5]}, smoothing=smoothing).fit(X, y).evidence_
        assert type(evidence.to_frame()) is kind
        found.append(columns_of(evidence.to_frame()))
    for columns in found[1:]:
        assert [*columns] == [*found[0]]
        for name, column in columns.items():
            np.testing.assert_array_equal(column, found[0][name])
    frame, tables = found[0], [*evidence]
    assert frame["feature"] == [t.name for t in tables for _ in t.levels]
    assert frame["level"] == [label for t in tables for label in t.labels]
    names = [c for c in frame if c.startswith("weight")]
    assert names == (["weight"] if len(set(y)) == 2 else ["weight p", "weight q", "weight r"])
    for k, name in enumerate(names):
        weights = np.concatenate([t.by_class[:, k] for t in tables])
        errors = np.concatenate([t.errors.reshape(len(t.levels), -1)[:, k] for t in tables])
        assert frame[name] == weights.tolist()
        np.testing.assert_array_equal(frame[name.replace("weight", "error")], errors)
    for k, label in enumerate(sorted(set(y))):
        assert frame[f"count {label}"] == np.concatenate([t.counts[:, k] for t in tables]).tolist()


def test_an_array_s_frame_is_an_arrow_table():
    evidence = EvidenceNB().fit(np.array([["a"], ["b"]]), [0, 1]).evidence_
    assert isinstance(evidence.to_frame(), pa.Table)


# ---------------------------------------------------------------- as text and HTML


NASTY = ["[bold]x[/bold]", "[/b]", "<b>", "</td><script>1</script>", "&amp;", '"', ":smile:"]
NASTY += ["Größe 年 😀", "a,b"]


class Page(HTMLParser):
    """The tags and the cells of a piece of HTML."""

    def __init__(self, page):
        super().__init__(convert_charrefs=True)
        self.tags, self.open, self.cells = set(), [], []
        self.feed(page)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        self.open.append(tag)
        self.cells.append("")

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.cells[-1] += data


@pytest.mark.parametrize(
    "labels", [["no", "yes"], ["[bold]x[/bold]", "[/b]"], ["[/b]", "<b>", ":smile:", "a&b"]]
)
def test_names_are_text_and_never_markup(labels):
    rows = [{name: f"{name}!{i}" for name in NASTY} for i in range(len(labels))]
    evidence = EvidenceNB().fit(rows, labels).evidence_
    text, page = repr(evidence), evidence._repr_html_()
    read = Page(page)
    assert "<script" not in page
    assert "<b>" not in page
    assert "script" not in read.tags
    for table in evidence:
        assert table.name in text
        assert any(table.name in cell for cell in read.cells)
        for name in table.labels:
            assert name in text
            assert name in read.cells
    for label in labels:
        assert label in text
        assert any(label in cell for cell in read.cells)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_many_features_and_many_levels_stay_readable(n_classes):
    n = 1000
    X = {f"feature {j}": [f"level {i}" for i in range(n)] * 2 for j in range(40)}
    evidence = EvidenceNB().fit(pa.table(X), [i % n_classes for i in range(2 * n)]).evidence_
    text, page = repr(evidence), evidence._repr_html_()
    lines = text.splitlines()
    assert len(lines) < 40 * 30
    assert max(map(cell_len, lines)) <= 100
    assert len(page) < 400_000
    for shown in (text, page):
        assert all(f"feature {j}" in shown for j in range(40))
        assert "level 0" in shown
        assert re.search(r"\b9\d\d more levels", shown)
    Page(page)


def test_of_many_levels_those_of_most_rows_are_shown_in_their_order():
    town = [f"t{i:03}" for i in range(60)] + ["t041", "t055"] * 3
    evidence = (
        EvidenceNB(max_levels=50).fit([[t] for t in town], [i % 2 for i in range(66)]).evidence_
    )
    for text in (repr(evidence), repr(evidence.tables[0])):
        places = [text.index(name) for name in ("t000", "t041", "t055", "other")]
        assert places == sorted(places)
        assert re.search(r"and \d+ more levels", text)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_of_documents_the_telling_tokens_are_shown_and_not_the_common_ones(n_classes):
    y = np.arange(60) % n_classes
    telling, common = np.eye(n_classes, dtype=int)[y], np.full((60, 100), 5)
    names = [f"common{i}" for i in range(100)] + [f"of{k}" for k in range(n_classes)]
    model = EvidenceNB(event_model="counts")
    evidence = model.fit(np.hstack([common, telling]), y, feature_names=names).evidence_
    for text in (
        str(evidence),
        repr(evidence[0]),
        evidence._repr_html_(),
        evidence[0]._repr_html_(),
    ):
        places = [text.index(f"of{k}") for k in range(n_classes)]
        assert n_classes > 2 or places[0] > places[1]  # sorted by weight
        left = re.search(r"\.\.\. and (\d+) more tokens", text)
        assert len({*re.findall(r"common\d+|of\d\b", text)}) + int(left[1]) == len(names)
    every = evidence.to_text(max_rows=None)
    assert all(name in every for name in names)


@pytest.mark.parametrize("event_model", ["counts", "levels"])
def test_tokens_are_counted_and_only_levels_have_rows(event_model):
    tokens = event_model == "counts"
    evidence = EvidenceNB(event_model=event_model).fit([[7, 1], [0, 3]], [0, 1]).evidence_
    pages = (Page(part._repr_html_()).cells for part in (evidence, evidence[0]))
    for cells in (str(evidence).split(), *pages):
        shown = {cell.strip() for cell in cells}
        assert ("Count" in shown, "Rows" in shown) == (tokens, not tokens)
    assert ("(7 times)" in repr(evidence[0])) == tokens
    assert ("rows)" in repr(evidence[0])) != tokens
    columns = evidence[0].to_frame().column_names
    assert columns[-1] == ("count" if tokens else "rows")


@given(st.integers(0, 99), st.integers(1, 12))
@settings(max_examples=30, deadline=None)
def test_as_many_tokens_for_a_class_are_shown_as_against_it_the_most_telling_ones(seed, most):
    random = np.random.default_rng(seed)
    X, y = random.poisson(random.exponential(1.0, 10), (30, 10)), random.integers(0, 2, 30)
    assume(0 < y.sum() < 30 and X.any())
    table = EvidenceNB(event_model="counts").fit(X, y).evidence_[0]
    rank, kept = table.share * table.weights**2, choose_levels(table, most)
    assert len(kept) == min(most, 10)
    for one in (-1, 1):
        side = rank[(np.sign(table.weights) == one) & (table.share > 0)]
        shown = [i for i in kept if np.sign(table.weights[i]) == one and table.share[i] > 0]
        assert len(shown) >= min(most // 2, len(side))
        assert sorted(rank[shown]) == sorted(side)[len(side) - len(shown) :]
    assert np.all(np.diff(table.weights[kept]) <= 0)
    low, high = find_ends(table, 0)
    signed = np.sign(table.weights) * rank
    assert (signed[low], signed[high]) == (signed.min(), signed.max())


def test_classes_that_are_left_out_are_counted():
    evidence = EvidenceNB().fit([["a"]] * 30, [f"class {i}" for i in range(30)]).evidence_
    for shown in (repr(evidence), evidence._repr_html_()):
        assert "class 0" in shown
        assert "class 29" in shown or re.search(r"\d+\s+more\s+classes", shown)


def test_the_text_holds_each_weight_and_error_times_100_and_the_rows():
    model = EvidenceNB().fit(titanic(), "Survived")
    lines = repr(model.evidence_).splitlines()
    assert any("Prior" in line and "-74" in line for line in lines)
    for table in model.evidence_:
        for i, label in enumerate(table.labels):
            line = next(line for line in lines if re.search(rf"\b{label}\b", line))
            assert f"{round(100 * table.weights[i]):+d}" in line
            assert f"{100 * table.errors[i]:.0f}" in line
            assert f"{table.counts[i].sum():,.0f}" in line
    assert "Yes" in lines[0] + lines[1]
    assert "2,201" in lines[0] + lines[1]


def test_the_page_holds_each_weight_that_the_text_holds():
    evidence = EvidenceNB().fit(titanic(), "Survived").evidence_
    cells = Page(evidence._repr_html_()).cells
    for table in evidence:
        for weight in table.weights:
            assert f"{round(100 * weight):+d}" in cells


@pytest.mark.parametrize("name", ["two\nlines", "x" * 300, "a word " * 50, ""])
def test_names_that_do_not_fit_are_folded(name):
    evidence = EvidenceNB().fit([{name: name + "1"}, {name: name + "2"}], [0, 1]).evidence_
    lines = repr(evidence).splitlines()
    assert max(map(cell_len, lines)) <= 100
    assert "…" not in repr(evidence)
    assert sum(line.count("x") for line in lines) >= 3 * name.count("x")


def test_iterating_and_indexing_give_the_same_tables():
    evidence = EvidenceNB().fit(titanic(), "Survived").evidence_
    assert [*evidence] == [evidence[name] for name in evidence.names]
    assert [*evidence] == [evidence[i] for i in range(len(evidence))]
    assert evidence[-1] is evidence["Age"]
    assert "Sex" in evidence
    assert evidence[0] in evidence
    assert "Survived" not in evidence
    with pytest.raises(KeyError, match="Sexx"):
        evidence["Sexx"]
    with pytest.raises(IndexError):
        evidence[3]


@pytest.mark.parametrize("target", ["Survived", "Class"])
def test_the_dataframe_of_one_table_is_its_part_of_the_whole(target):
    evidence = EvidenceNB().fit(titanic(), target).evidence_
    whole, own = evidence.to_frame(), evidence["Sex"].to_frame()
    rows = pc.equal(whole["feature"], "Sex")
    names = [name for name in whole.column_names if name.startswith(("weight", "error"))]
    assert own.column_names[1:-1] == (
        ["weight", "error"]
        if target == "Survived"
        else [f"{what} {k}" for what in ("weight", "error") for k in range(4)]
    )
    for mine, theirs in zip(own.column_names[1:-1], names, strict=True):
        np.testing.assert_array_equal(own[mine], whole.filter(rows)[theirs])
    assert own["level"].to_pylist() == [*evidence["Sex"].labels]
    assert own["rows"].to_pylist() == evidence["Sex"].counts.sum(axis=1).tolist()
    assert isinstance(evidence["Sex"].to_frame("pandas"), pd.DataFrame)


@pytest.mark.parametrize("fewer", [False, True])
def test_levels_are_said_to_have_fewer_rows_where_they_have(fewer):
    rows = [f"n{i}" for i in range(60) for _ in range(2 + 2 * i * fewer)]
    evidence = EvidenceNB().fit([{"a": v, "b": "x"} for v in rows], [0, 1] * (len(rows) // 2))
    for text in (str(evidence.evidence_), evidence.evidence_._repr_html_()):
        assert "more levels" in text
        assert (", of fewer rows" in text) is fewer


def test_the_three_most_important_of_many_tables_are_open():
    random = np.random.default_rng(0)
    X = pa.table({f"c{j}": random.integers(0, 5, 300) for j in range(6)})
    model = EvidenceNB(categorical_features=[*range(6)]).fit(X, random.integers(0, 2, 300))
    shown = model.evidence_._repr_html_()
    assert (shown.count("<details open"), shown.count("<details")) == (3, 6)
