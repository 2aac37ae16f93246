"""Categories that share a level: lists of them in `bins`."""

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

import weigh
from weigh.bins import Feature, Joined
from weigh.cli import main
from weigh.errors import ParameterError, ParameterWarning

TOWNS = [*"abcdef"]
LISTED = [["c", "a"], ["b"], ["d", "e"]]
LEARNERS = {
    "evidence": weigh.EvidenceNB,
    "adjusted": lambda **p: weigh.AdjustedNB(random_state=0, **p),
    "educated": lambda **p: weigh.EducatedNB(pairs=0, **p),
    "boosted": lambda **p: weigh.BoostedNB(n_rounds=3, random_state=0, **p),
    "weighted": lambda **p: weigh.WeightedNB(method="gain_ratio", **p),
}


def draw(n=600, seed=0):
    rng = np.random.default_rng(seed)
    town = rng.choice(TOWNS, n)
    y = rng.random(n) < np.where(np.isin(town, ["a", "c"]), 0.7, 0.3)
    return pd.DataFrame({"town": town, "x": rng.normal(size=n) + y}), y


def spell(town):
    """The literal version: the level's name in place of the category."""
    names = {value: "+".join(sorted(values)) for values in LISTED for value in values}
    return town.map(lambda value: names.get(value, "z rest"))


@pytest.mark.parametrize("name", LEARNERS)
def test_joined_categories_weigh_as_if_the_table_held_one_value_for_each_level(name):
    X, y = draw()
    joined = LEARNERS[name](bins={"town": LISTED}).fit(X, y)
    literal = LEARNERS[name]().fit(X.assign(town=spell(X.town)), y)
    expected = literal.predict_proba(X.assign(town=spell(X.town)))
    assert joined.predict_proba(X) == pytest.approx(expected, abs=1e-9)
    assert joined.evidence_["town"].levels[0] == Joined(("a", "c"))


def test_values_that_no_list_holds_share_other_and_without_any_a_new_value_is_not_known():
    X, y = draw()
    rest = weigh.EvidenceNB(bins={"town": LISTED}).fit(X, y)
    assert rest.evidence_["town"].labels == ("a or c", "b", "d or e", "other")
    every = weigh.EvidenceNB(bins={"town": [[*"abc"], [*"def"]]}).fit(X, y)
    assert every.evidence_["town"].labels == ("a, b or c", "d, e or f")
    new = every.evidence_.contributions(X.head(1).assign(town="new"))
    assert new[0, every.evidence_.names.index("town"), 0] == 0


def test_ordered_categories_stay_ordered_where_neighbours_are_joined():
    X, y = draw()
    learner = weigh.EducatedNB(pairs=0, categorical_features={"town": TOWNS})
    for listed, ordered in ([[*"ab"], [*"cdef"]], True), ([[*"af"], [*"bcde"]], False):
        table = learner.set_params(bins={"town": listed}).fit(X, y).evidence_["town"]
        assert table.feature.ordered == ordered


def test_partial_fit_keeps_the_groups():
    X, y = draw()
    model = weigh.EvidenceNB(bins={"town": LISTED, "x": [0.0, 1.0]})
    for part in (slice(0, 250), slice(250, None)):
        model.partial_fit(X[part], y[part], classes=[False, True])
    whole = weigh.EvidenceNB(bins={"town": LISTED, "x": [0.0, 1.0]}).fit(X, y)
    assert (whole.predict_proba(X) == model.predict_proba(X)).all()


@pytest.mark.parametrize("wrong", [[["a", "b"], ["b"]], [["a"], []], [["a", "b"], "c"]])
def test_lists_that_overlap_or_are_empty_are_refused(wrong):
    X, y = draw()
    with pytest.raises(ValueError, match=r"bins for column 'town'"):
        weigh.EvidenceNB(bins={"town": wrong}).fit(X, y)


def test_a_level_of_many_categories_is_called_by_the_first():
    feature = Feature("town", (*"abcdef",), groups=(0, 0, 0, 0, 0, 1))
    assert feature.labels == ("a, b, c or 2 others", "f")


def test_a_listed_category_that_no_row_has_is_named():
    X, y = draw()
    with pytest.warns(ParameterWarning, match="'boat'") as told:
        model = weigh.EvidenceNB(bins={"town": [["a", "boat"], ["b"]]}).fit(X, y)
    assert len(told) == 1
    assert told[0].message.parameter == "bins"
    assert model.evidence_["town"].labels == ("a or boat", "b", "other")


@pytest.mark.parametrize("learner", [weigh.EvidenceNB, weigh.EducatedNB, weigh.WeightOfEvidence])
@pytest.mark.parametrize("scanned", [False, True])
def test_a_fit_to_rows_with_none_of_the_listed_categories_is_refused(learner, scanned, tmp_path):
    X, y = draw()
    X[["town"]].assign(y=y).to_csv(tmp_path / "d.csv", index=False)
    rows = weigh.scan(tmp_path / "d.csv") if scanned else pd.read_csv(tmp_path / "d.csv")
    with pytest.raises(ParameterError, match="'town'") as told:
        learner(bins={"town": [["boat"], ["bridge"]]}).fit(rows, "y")
    assert told.value.parameter == "bins"
    with pytest.warns(ParameterWarning, match="'boat'"):
        learner(bins={"town": [["a", "b"], ["boat"]]}).fit(rows, "y")


def test_a_card_of_none_of_the_listed_categories_is_refused():
    X, y = draw()
    with pytest.raises(ParameterError, match="'town'"):
        weigh.Scorecard.from_table(X, y, bins={"town": [["boat"], ["bridge"]]})


def test_an_empty_column_has_none_of_the_listed_categories_and_fits():
    X, y = draw()
    with pytest.warns(ParameterWarning, match="'a', 'b'"):
        weigh.EvidenceNB(bins={"town": [["a"], ["b"]]}).fit(X.assign(town=None), y)


def test_the_command_line_names_its_option_for_categories_that_do_not_occur(tmp_path):
    X, y = draw()
    X[["town"]].assign(y=y).to_csv(tmp_path / "d.csv", index=False)
    words = ["fit", tmp_path / "d.csv", "--target", "y", "-o", tmp_path / "m.json", "--groups"]
    done = CliRunner().invoke(main, [*map(str, words), "town", "boat;bridge"])
    assert done.exit_code == 1
    assert "--groups" in done.stderr


def test_a_fold_with_none_of_the_listed_categories_is_compared():
    X, y = draw(n=200)
    X.loc[X.index[40:], "town"] = "f"  # a and b are in the first of five folds only
    X.loc[X.index[:40], "town"] = ["a", "b"] * 20
    folds = [(np.setdiff1d(np.arange(200), part), part) for part in np.split(np.arange(200), 5)]
    learner = weigh.AdjustedNB(bins={"town": [["a"], ["b"]]}, cv=folds)
    assert np.isfinite(learner.fit(X, y).predict_proba(X)).all()
    found = weigh.compare(X, y, {"own": weigh.EvidenceNB(bins=learner.bins)}, cv=folds)
    assert np.isfinite(found["own"].loss)


def test_categories_of_another_kind_than_the_column_are_refused():
    X, y = draw()
    with pytest.raises(ValueError, match=r"'town'.*bins"):
        weigh.EvidenceNB(bins={"town": [[1], [2]]}).fit(X, y)


def test_one_table_says_that_its_bins_are_joined_and_parts_level_from_weight():
    random = np.random.default_rng(0)
    x = random.normal(size=2000).round(2)
    x[:50] = 0
    y = (x + random.normal(size=2000) > 0).astype(int)
    model = weigh.EvidenceNB(bins="fine", special_values=[0]).fit(pd.DataFrame({"x": x}), y)
    fine = model.evidence_["x"]
    lines = repr(fine).splitlines()
    assert len(lines) < len(fine.labels)
    assert lines[-1].startswith("Neighbouring bins are joined")
    assert any(line.startswith("  0: ") for line in lines)
    few = weigh.EvidenceNB(bins={"x": [0.0]}).fit(pd.DataFrame({"x": x}), y).evidence_["x"]
    assert "joined" not in repr(few)
