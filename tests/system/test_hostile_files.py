"""Files that lie or are made to cost are refused, or read in time that grows with their size."""

import json
import time

import numpy as np
import pytest
from tests.model_files import read_model

import weigh
from weigh.bins import Feature
from weigh.datasets import titanic
from weigh.store.model import _check_ways

MODEL = weigh.EvidenceNB().fit(titanic(), "Survived")


@pytest.fixture
def saved(tmp_path):
    path = tmp_path / "m.json"
    weigh.save(MODEL, path)
    return path, read_model(path)


def rewritten(saved, text=None):
    path, data = saved
    path.write_text(json.dumps(data) if text is None else text)
    return path


# ---------------------------------------------------------------- lies


@pytest.mark.parametrize("rate", [[5, 7], [0.5, 0.6], [1, 1]])
def test_rates_that_do_not_add_up_are_refused(saved, rate):
    saved[1]["evidence"]["assumed_rate"] = rate
    with pytest.raises(ValueError, match="assumed_rate"):
        weigh.load(rewritten(saved))


@pytest.mark.parametrize("key", ["labels", "values"])
def test_labels_that_name_other_levels_are_refused(saved, key):
    listed = saved[1]["evidence"]["features"][0][key]
    listed[0], listed[1] = listed[1], listed[0]
    with pytest.raises(ValueError, match="labels of 'Class' are not in the order of its levels"):
        weigh.load(rewritten(saved))


@pytest.mark.parametrize("labels", [["1st"], [1, 2, 3, 4], "text"])
def test_labels_that_do_not_name_every_level_are_refused(saved, labels):
    saved[1]["evidence"]["features"][0]["labels"] = labels
    with pytest.raises(ValueError, match="labels of 'Class' must name every level"):
        weigh.load(rewritten(saved))


def test_labels_that_a_release_words_differently_are_read(saved):
    saved[1]["evidence"]["features"][0]["labels"][0] = "first class"
    assert str(weigh.load(rewritten(saved)).evidence_) == str(MODEL.evidence_)


def test_labels_that_only_their_quotes_tell_apart_are_read(tmp_path):
    towns = 9 * ["other", "(other)", '"other"'] + ["a", "b", "c"]
    model = weigh.EvidenceNB(max_levels=4).fit([{"town": t} for t in towns], [0, 1, 1] * 10)
    labels = model.evidence_["town"].labels
    assert {"other", '"other"', '""other""'} < {*labels}
    weigh.save(model, tmp_path / "m.json")
    assert weigh.load(tmp_path / "m.json").evidence_["town"].labels == labels


def test_counts_of_more_rows_than_there_are_are_refused(saved):
    saved[1]["evidence"]["features"][0]["counts"][0][0] += 1
    with pytest.raises(ValueError, match="counts of 'Class' add up to more rows"):
        weigh.load(rewritten(saved))


@pytest.mark.parametrize("key", ["format", "prior", "weights"])
def test_a_key_that_occurs_twice_is_refused(saved, key):
    text = json.dumps(saved[1])
    start = text.index(f'"{key}": ')
    value = json.JSONDecoder().raw_decode(text[start + len(key) + 4 :])[0]
    again = f'"{key}": {json.dumps(value)}, '
    with pytest.raises(ValueError, match=key):
        weigh.load(rewritten(saved, text[:start] + again + text[start:]))


def test_a_card_with_points_beyond_any_number_is_refused(tmp_path):
    path = tmp_path / "card.json"
    weigh.save(weigh.Scorecard(MODEL), path)
    data = json.loads(path.read_text("utf-8"))
    for where in (data["points"], data["rounded"]["points"]):
        where["Sex"][0] = 10**400
    with pytest.raises(ValueError, match=r"card\.json"):
        weigh.load(rewritten((path, data)))


# ---------------------------------------------------------------- bombs


def nested(depth, kind):
    value = 1
    for _ in range(depth):
        value = {"pairs": [["a", value]]} if kind == "pairs" else [value, value]
    return value


@pytest.mark.parametrize("kind", ["pairs", "lists"])
def test_parameters_that_are_nested_deep_are_refused(saved, kind):
    saved[1]["parameters"]["bins"] = nested(12, kind)
    with pytest.raises(ValueError, match="nested"):
        weigh.load(rewritten(saved))


@pytest.mark.parametrize("kind", ["dict", "lists"])
def test_parameters_that_are_nested_deep_in_python_are_refused(kind):
    value = 1
    for _ in range(26):
        value = {"a": value, "b": value} if kind == "dict" else [value, value]
    with pytest.raises(ValueError, match="bins is nested more than 8 deep"):
        weigh.EvidenceNB(bins=value).fit(titanic(), "Survived")


def seconds(work):
    start = time.process_time()
    work()
    return time.process_time() - start


def test_a_level_that_reads_like_missing_costs_no_more_than_another():
    names = tuple(f"v{i}" for i in range(40_000))
    odd = Feature("a", values=("missing", *names), has_missing=True)
    assert seconds(lambda: odd.labels) < 2
    assert odd.labels[0] == '"missing"'
    assert odd.labels[-1] == "missing"


def test_a_deep_tree_is_checked_in_time_that_grows_with_its_nodes():
    n = 100_000
    parent = [-1, *range(n - 1)]
    feature = [*range(n - 1), -1]
    assert seconds(lambda: _check_ways(parent, feature)) < 2
    with pytest.raises(ValueError, match="once"):
        _check_ways(parent, [*range(n - 2), 0, -1])


def test_branches_beside_each_other_may_ask_the_same():
    _check_ways([-1, 0, 0, 1, 2], [0, 1, 1, -1, -1])
    with pytest.raises(ValueError, match="once"):
        _check_ways([-1, 0, 0, 1, 2], [0, 1, 0, -1, -1])


def test_a_tree_is_read_as_it_was_written(tmp_path):
    tree = weigh.C44Classifier().fit(titanic(), "Survived")
    weigh.save(tree, tmp_path / "tree.json")
    again = weigh.load(tmp_path / "tree.json")
    np.testing.assert_array_equal(again.predict_proba(titanic()), tree.predict_proba(titanic()))
