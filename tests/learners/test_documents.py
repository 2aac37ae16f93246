"""Documents by tokens: names of tokens, sparse tables of any kind, and what tells in each."""

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from sklearn.feature_extraction.text import CountVectorizer

import weigh
from weigh import EducatedNB, EvidenceNB, PerplexedNB
from weigh.errors import ParameterError, ParameterWarning

TEXTS = [
    "win money now claim your free prize",
    "free money no risk win win win",
    "cheap loans claim money today",
    "are you free for lunch today",
    "the minutes of the meeting are attached",
    "lunch after the meeting",
]
KINDS = np.array(["spam"] * 3 + ["ham"] * 3)


@pytest.fixture
def documents():
    words = CountVectorizer()
    return words.fit_transform(TEXTS), words.get_feature_names_out()


@pytest.mark.parametrize("learner", [EvidenceNB, PerplexedNB])
def test_names_of_tokens_are_in_sheets_and_files_and_a_matrix_needs_none(
    learner, documents, tmp_path
):
    counts, names = documents
    model = learner(event_model="counts").fit(counts, KINDS, feature_names=names)
    assert model.feature_names_in_.tolist() == names.tolist()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        sheet = model.balance_sheet(counts[0])
        p = model.predict_proba(counts)
    assert {item.feature for item in sheet.items} == set(TEXTS[0].split())
    plain = learner(event_model="counts").fit(counts, KINDS)
    np.testing.assert_array_equal(p, plain.predict_proba(counts))
    weigh.save(model, tmp_path / "model.json")
    again = weigh.load(tmp_path / "model.json")
    assert str(again.balance_sheet(counts[0])) == str(sheet)


@pytest.mark.parametrize("learner", [EvidenceNB, PerplexedNB])
def test_an_absent_token_of_a_dict_and_a_blanked_cell_count_as_zero(learner, documents):
    counts, names = documents
    model = learner(event_model="counts").fit(counts, KINDS, feature_names=names)
    table = pd.DataFrame(counts.toarray(), columns=names)
    some = [{name: n for name, n in row.items() if n} for row in table.to_dict("records")]
    expected = model.predict_proba(counts)
    np.testing.assert_array_equal(model.predict_proba(some), expected)
    blanked = weigh.blank(table, table.to_numpy() == 0)
    np.testing.assert_array_equal(model.predict_proba(blanked), expected)
    assert str(model.balance_sheet(some[0])) == str(model.balance_sheet(counts[0]))
    with pytest.raises(ValueError, match=r"holds nan; a token that does not occur has 0"):
        model.predict_proba(table.astype(float).where(table > 0))


@pytest.mark.parametrize("learner", [EvidenceNB, PerplexedNB])
def test_a_fit_of_dicts_counts_a_token_that_is_left_out_as_zero(learner, documents):
    counts, names = documents
    table = pd.DataFrame(counts.toarray(), columns=names)
    some = [{name: n for name, n in row.items() if n} for row in table.to_dict("records")]
    whole = learner(event_model="counts").fit(table, KINDS)
    model = learner(event_model="counts").fit(some, KINDS)
    assert {*model.feature_names_in_} == {*names}
    expected = whole.predict_proba(counts)
    np.testing.assert_allclose(model.predict_proba(some), expected, rtol=1e-12)
    with pytest.raises(ValueError, match="holds nan"):
        learner(event_model="counts").fit([{"win": None, "free": 1}, {"win": 1}], ["a", "b"])


@pytest.mark.parametrize("learner", [EvidenceNB, PerplexedNB])
def test_words_outside_the_vocabulary_are_ignored_though_they_look_like_others(learner, documents):
    counts, names = documents
    model = learner(event_model="counts").fit(counts, KINDS, feature_names=names)
    known = model.predict_proba([{"free": 1}, {}])
    rows = [{"free": 1, "wins": 2}, {"meetings": 1, "zebra": 3}]
    np.testing.assert_array_equal(model.predict_proba(rows), known)


def test_batches_of_dicts_keep_the_words_of_the_first(documents):
    first, later = [{"free": 2, "win": 1}, {"lunch": 1}], [{"win": 1, "sun": 3}, {"sun": 1}]
    model = EvidenceNB(event_model="counts")
    model.partial_fit(first, ["spam", "ham"], classes=["ham", "spam"])
    with pytest.warns(ParameterWarning, match="1 of 2 rows"):
        model.partial_fit(later, ["spam", "ham"])
    whole = EvidenceNB(event_model="counts")
    whole.fit([*first, {"win": 1}, {}], ["spam", "ham"] * 2)
    assert str(model.evidence_) == str(whole.evidence_)


def test_rows_of_a_later_batch_without_a_known_word_give_one_warning():
    model = EvidenceNB(event_model="counts")
    model.partial_fit([{"free": 2, "win": 1}, {"lunch": 1}], ["spam", "ham"])
    with pytest.warns(ParameterWarning) as found:
        model.partial_fit([{"viagra": 9}, {"meeting": 4, "win": 0}] * 50, ["spam", "ham"] * 50)
    (warning,) = found
    assert warning.filename == __file__
    assert "X has 100 of 100 rows without any word of the first batch" in str(warning.message)
    assert "'viagra'" in str(warning.message)


def test_a_first_batch_may_hold_every_word_with_the_count_zero():
    model = EvidenceNB(event_model="counts")
    model.partial_fit([{"free": 2, "sun": 0}, {"lunch": 1, "sea": 0}], ["spam", "ham"])
    later, kinds = [{"sun": 3}, {"sea": 1, "rain": 1}, {}], ["spam", "ham", "ham"]
    model.partial_fit(later, kinds)  # no warning: {} has no words, and sea is known
    whole = EvidenceNB(event_model="counts")
    whole.fit([{"free": 2}, {"lunch": 1}, {"sun": 3}, {"sea": 1}, {}], ["spam", "ham", *kinds])
    p = model.predict_proba([{"free": 1}, {"sea": 1}, {"sun": 2}])
    np.testing.assert_allclose(p, whole.predict_proba([{"free": 1}, {"sea": 1}, {"sun": 2}]))


def test_learners_of_documents_are_compared_on_a_sparse_matrix(documents):
    counts, _ = documents
    with pytest.raises(ParameterError, match=r"learners=\[weigh\.EvidenceNB") as error:
        weigh.compare(counts, KINDS)
    assert error.value.parameter == "learners"
    model = EvidenceNB(event_model="counts")
    found = weigh.compare(counts, KINDS, {"light": model, "heavy": model}, cv=2)
    assert [entry.error for entry in found.entries] == ["", ""]


def test_a_model_of_documents_is_evaluated_and_reported_on_a_sparse_matrix(documents, tmp_path):
    counts, names = documents
    model = EvidenceNB(event_model="counts").fit(counts, KINDS, feature_names=names)
    dense = pd.DataFrame(counts.toarray(), columns=names)
    sparse_loss = weigh.evaluate(model, counts, KINDS).validation.loss.value
    assert sparse_loss == weigh.evaluate(model, dense, KINDS).validation.loss.value
    weigh.report(model, counts, KINDS, path=tmp_path / "report.html")
    assert (tmp_path / "report.html").stat().st_size > 0
    with pytest.raises(ValueError, match="use predict_proba"):
        weigh.score_table(model, counts)


def test_blanks_at_the_ends_of_tokens_are_seen():
    words = CountVectorizer(analyzer="char_wb", ngram_range=(2, 3))
    counts = words.fit_transform(["mama", "ma ma", "am", "xa"])
    model = EvidenceNB(event_model="counts")
    model.fit(counts, [0, 1, 0, 1], feature_names=words.get_feature_names_out())
    sheet = model.balance_sheet(words.transform(["ma ma"]))
    texts = [str(item) for item in sheet.items]
    assert {'" ma" = 2', '"ma " = 2', "ma = 2"} <= {*texts}
    assert {item.feature for item in sheet.items} >= {" ma", "ma ", "ma"}
    for page in (str(model.evidence_), str(model.evidence_["token"])):
        assert '" ma"' in page


def test_batches_keep_the_names_of_the_first(documents):
    counts, names = documents
    model = EvidenceNB(event_model="counts")
    model.partial_fit(counts[::2], KINDS[::2], classes=["ham", "spam"], feature_names=names)
    model.partial_fit(counts[1::2], KINDS[1::2])
    whole = EvidenceNB(event_model="counts").fit(counts, KINDS, feature_names=names)
    assert str(model.evidence_) == str(whole.evidence_)


@pytest.mark.parametrize(
    ("names", "told"),
    [
        (["a"], "has 1 names for 3 columns"),
        (["a", "a", "b"], "has 'a' twice"),
        ([1, 2, 3], "must be texts, got 1; give map"),
    ],
)
def test_names_that_do_not_fit_are_refused(names, told):
    X = np.eye(3, dtype=int)[[0, 1, 2, 0]]
    with pytest.raises(ValueError, match=f"feature_names {told}"):
        EvidenceNB(event_model="counts").fit(X, [0, 1, 0, 1], feature_names=names)


def test_a_dataframe_keeps_its_own_names():
    X = pd.DataFrame({"a": [1, 0, 1], "b": [0, 1, 1]})
    with pytest.raises(ValueError, match="X has names of its own"):
        EvidenceNB(event_model="counts").fit(X, [0, 1, 0], feature_names=["c", "d"])


def test_arrays_may_be_named_for_any_learner():
    X, y = np.arange(80).reshape(40, 2) % 7, np.arange(40) % 2
    model = EducatedNB(pairs=0).fit(X, y, feature_names=["first", "second"])
    assert model.evidence_.names == ("first", "second")


@pytest.mark.parametrize("kind", ["sparse", "sparse floats", "dense", "polars"])
def test_every_table_of_counts_gives_the_model_of_the_matrix(kind, documents):
    counts, names = documents
    frame = pd.DataFrame.sparse.from_spmatrix(counts, columns=names)
    turn = {
        "sparse": lambda: frame,
        "sparse floats": lambda: frame.astype(pd.SparseDtype(float, 0.0)),
        "dense": frame.sparse.to_dense,
        "polars": lambda: pl.DataFrame(counts.toarray(), schema=[*names]),
    }
    table = turn[kind]()
    model = EvidenceNB(event_model="counts").fit(table, KINDS)
    expected = EvidenceNB(event_model="counts").fit(counts, KINDS, feature_names=names)
    np.testing.assert_array_equal(model.evidence_[0].counts, expected.evidence_[0].counts)
    np.testing.assert_array_equal(model.predict_proba(table), expected.predict_proba(counts))
    other_order = table[[*names[::-1]]]
    np.testing.assert_allclose(model.predict_proba(other_order), expected.predict_proba(counts))


def test_a_label_in_the_table_is_no_token(documents):
    counts, names = documents
    frame = pd.DataFrame.sparse.from_spmatrix(counts, columns=names)
    labelled = frame.assign(label_of_row=KINDS)
    model = EvidenceNB(event_model="counts").fit(labelled, "label_of_row")
    assert model.feature_names_in_.tolist() == names.tolist()


def test_a_negative_count_in_a_sparse_column_is_named():
    frame = pd.DataFrame({"good": [1, 0, 2], "bad": [0, -1, 0]}).astype(pd.SparseDtype(int, 0))
    with pytest.raises(ValueError, match="row 1 of column 'bad' holds -1"):
        EvidenceNB(event_model="counts").fit(frame, [0, 1, 0])


@pytest.mark.parametrize("only", [None, "for", "against"])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_reasons_are_the_tokens_of_largest_contribution(only, n_classes):
    rng = np.random.default_rng(0)
    counts = rng.poisson(0.6, (60, 12))
    y = rng.integers(0, n_classes, 60)
    names = [f"word{j}" for j in range(12)]
    model = EvidenceNB(event_model="counts").fit(sparse.csr_array(counts), y, feature_names=names)
    table = weigh.reasons(model, sparse.csr_array(counts), n=3, only=only)
    told = model.predict(sparse.csr_array(counts))
    for i, row in enumerate(table.to_pylist()):
        label = None if n_classes == 2 else told[i]
        parts = model.contributions(sparse.csr_array(counts[[i]]), pos_label=label).to_pylist()[0]
        adds = {name: parts[name] for name, n in zip(names, counts[i], strict=True) if n}
        sign = {None: 0, "for": 1, "against": -1}[only]
        kept = {name: w for name, w in adds.items() if (w * sign > 0 if sign else w)}
        order = sorted(kept, key=lambda name: -abs(kept[name]))[:3]
        found = [row[f"reason_{k}"] for k in (1, 2, 3)]
        words = [None if text is None else text.split(" ")[0] for text in found]
        assert words == order + [None] * (3 - len(order))
        weights = [row[f"weight_{k}"] for k in (1, 2, 3)][: len(order)]
        np.testing.assert_allclose(weights, [kept[name] for name in order])


@pytest.mark.parametrize("kind", ["sparse", "dense", "polars", "array"])
def test_counts_are_levels_with_names_for_learners_of_levels(kind, documents):
    counts, names = documents
    frame = pd.DataFrame.sparse.from_spmatrix(counts, columns=names)
    dense = frame.sparse.to_dense()
    expected = EducatedNB(pairs=0).fit(dense, KINDS)
    if kind == "array":
        table, model = dense, EducatedNB(pairs=0).fit(counts.toarray(), KINDS, feature_names=names)
    else:
        table = {"sparse": frame, "dense": dense, "polars": pl.from_pandas(dense)}[kind]
        model = EducatedNB(pairs=0).fit(table, KINDS)
    assert str(model.evidence_) == str(expected.evidence_)
    np.testing.assert_array_equal(model.predict_proba(table), expected.predict_proba(dense))
    reasons = weigh.reasons(model, table, n=1, only="for")["reason_1"]
    assert np.asarray(reasons)[0] == "money = 1"
    assert "money = 1" in str(model.balance_sheet(table[:1]))


def test_a_sparse_matrix_is_refused_by_learners_of_levels(documents):
    with pytest.raises(ValueError, match=r"event_model='counts'"):
        EducatedNB().fit(documents[0], KINDS)
