"""Rare categories as one level: `max_levels`, and the level `other`."""

from __future__ import annotations

import json
from collections import Counter

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

import weigh
from weigh.bins import OTHER, Feature
from weigh.cli import main
from weigh.frames import read

LEARNERS = {
    "evidence": weigh.EvidenceNB(max_levels=3),
    "adjusted": weigh.AdjustedNB(max_levels=3, random_state=0),
    "weighted": weigh.WeightedNB(method="gain_ratio", max_levels=3),
    "boosted": weigh.BoostedNB(max_levels=3, n_rounds=3, random_state=0),
    "vote": weigh.BoostedNB(max_levels=3, n_rounds=3, combine="vote", random_state=0),
    "perplexed": weigh.PerplexedNB(max_levels=3, attenuation=2.0),
    "educated": weigh.EducatedNB(pairs=0, max_levels=3, random_state=0),
    "recalibrated": weigh.RecalibratedClassifier(weigh.EvidenceNB(max_levels=3), random_state=0),
    "tree": weigh.C44Classifier(max_levels=3),
}


def make_towns(n: int = 600, seed: int = 0) -> pd.DataFrame:
    """Towns of falling frequency, an age, and a class that both tell something of."""
    r = np.random.default_rng(seed)
    y = r.random(n) < 0.4
    town = np.array([f"t{k:02}" for k in range(30)], dtype=object)[np.minimum(r.zipf(1.5, n), 29)]
    town[r.random(n) < 0.05] = None
    return pd.DataFrame({"town": town, "age": np.round(r.normal(40 + 9 * y, 9)), "y": y})


# ---------------------------------------------------------------- which values are kept


@settings(max_examples=60, deadline=None)
@given(
    st.lists(
        st.tuples(st.sampled_from([*"abcdef", None]), st.booleans(), st.integers(0, 3)),
        min_size=4,
        max_size=40,
    ),
    st.integers(1, 7),
)
def test_the_heaviest_values_are_kept_and_the_others_counted_together(rows, most):
    values, labels, weight = zip(*[("a", True, 1), ("b", False, 1), *rows], strict=True)
    heavy = Counter()
    for value, w in zip(values, weight, strict=True):
        heavy[value] += w
    seen = [v for v in heavy if v is not None and heavy[v] > 0]
    kept = sorted(seen, key=lambda v: (-heavy[v], v))[:most]
    table = pd.DataFrame({"x": pd.Series(values, dtype=object)})
    model = weigh.EvidenceNB(max_levels=most).fit(table, labels, sample_weight=weight)
    counts = model.evidence_["x"]
    assert counts.feature.values == tuple(sorted(kept))
    assert (OTHER in counts.levels) == (len(seen) > most)
    assert counts.feature.others == tuple(sorted({*seen} - {*kept}, key=lambda v: (-heavy[v], v)))
    for level, found in zip(counts.levels, counts.counts, strict=True):
        here = [level] if level is not OTHER else [v for v in seen if v not in kept]
        wanted = [
            sum(w for v, y, w in zip(values, labels, weight, strict=True) if v in here and y == c)
            for c in (False, True)
        ]
        assert found.tolist() == wanted


@pytest.mark.parametrize("bins", [None, {"town": [["t01"], ["t02", "t03"]]}])
def test_a_model_names_the_values_that_share_a_level_and_keeps_them_in_its_file(bins, tmp_path):
    table = make_towns()
    given = {"max_levels": 4} if bins is None else {"bins": bins}
    model = weigh.EvidenceNB(**given).fit(table, "y")
    feature, seen = model.evidence_["town"].feature, table["town"].value_counts()
    assert {*feature.others} == {*seen.index} - {*feature.values}
    assert seen[[*feature.others]].is_monotonic_decreasing
    weigh.save(model, tmp_path / "model.json")
    again = weigh.load(tmp_path / "model.json").evidence_["town"].feature
    assert again.others == feature.others
    first, *_ = feature.others
    listed = f"town = other: {', '.join(feature.others[:12])}"
    card = weigh.Scorecard(model)
    for shown in (model.evidence_, card):
        assert listed in " ".join(repr(shown).split())
        assert listed in shown._repr_html_()
    assert f"other is {first}" in repr(model.evidence_["town"])
    assert f"other ({first}, " in weigh.calculator(card)
    sheet = model.balance_sheet
    assert str(sheet({"town": first}).items[0]) == f"town = other ({first})"
    unseen = "town = other (Atlantis, not seen in training)"
    assert str(sheet({"town": "Atlantis"}).items[0]) == unseen


def test_merged_parts_share_their_rare_values():
    one, other = (make_towns(seed=seed) for seed in (0, 1))
    bins = {"town": [["t01"]], "age": [40.0]}
    models = [weigh.EvidenceNB(bins=bins).fit(part, "y") for part in (one, other)]
    merged = models[0].merge(models[1]).evidence_["town"].feature
    assert {*merged.others} == {*one["town"].dropna(), *other["town"].dropna()} - {"t01"}


@pytest.mark.parametrize("given", [{"max_levels": 1}, {"bins": {"x": [["v000"]]}}])
def test_at_most_a_hundred_rare_values_are_recorded_also_of_merged_parts(given):
    """The values are v000, ... of one part and w000, ... of the other; the first are frequent."""
    models = []
    for letter in "vw":
        names = ["v000"] * 400 + [f"{letter}{i:03d}" for i in range(1, 151) for _ in range(151 - i)]
        table = pd.DataFrame({"x": names, "y": np.arange(len(names)) % 2})
        models.append(weigh.EvidenceNB(**given).fit(table, "y"))
        known = models[-1].evidence_["x"].feature.others
        assert known == tuple(f"{letter}{i:03d}" for i in range(1, 101))
        sheet = models[-1].balance_sheet
        assert str(sheet({"x": f"{letter}150"}).items[0]) == f"x = other ({letter}150)"
    merged = models[0].merge(models[1]).evidence_["x"].feature.others
    assert len(merged) == len({*merged}) == 100


@pytest.mark.parametrize("odd", [["t01"], ["x", "x"], [None], "x"])
def test_a_file_whose_rare_values_make_no_sense_is_refused(odd, tmp_path):
    weigh.save(LEARNERS["evidence"].fit(make_towns(), "y"), tmp_path / "model.json")
    data = json.loads((tmp_path / "model.json").read_text())
    feature = next(f for f in data["evidence"]["features"] if f["name"] == "town")
    assert feature["values"][0] == "t01"
    feature["others"] = odd
    del data["checksum"]
    (tmp_path / "model.json").write_text(json.dumps(data))
    with pytest.raises(ValueError, match="other"):
        weigh.load(tmp_path / "model.json")


@pytest.mark.parametrize("missing", ["level", "skip"])
def test_the_model_is_that_of_a_table_in_which_rare_values_are_one(missing):
    table = make_towns()
    model = weigh.EvidenceNB(max_levels=4, missing=missing).fit(table, "y")
    kept = {*model.evidence_["town"].feature.values}
    joined = table.assign(
        town=table["town"].where(table["town"].isin(kept) | table["town"].isna(), "~")
    )
    plain = weigh.EvidenceNB(missing=missing).fit(joined, "y")
    for mine, theirs in zip(model.evidence_, plain.evidence_, strict=True):
        assert_array_equal(mine.counts, theirs.counts)
        assert_array_equal(mine.by_class, theirs.by_class)
        assert_array_equal(mine.errors, theirs.errors)
    assert_array_equal(model.predict_proba(table), plain.predict_proba(joined))


def test_ties_go_by_name_whatever_the_order_of_the_rows():
    rows = [(v, y) for v in "dbcae" for y in (0, 1)]
    for seed in range(5):
        order = np.random.default_rng(seed).permutation(len(rows))
        values, labels = zip(*[rows[i] for i in order], strict=True)
        model = weigh.EvidenceNB(max_levels=2).fit(pd.DataFrame({"x": values}), labels)
        assert model.evidence_["x"].feature.values == ("a", "b")


def test_a_column_of_no_more_levels_than_that_stays_as_it_is():
    table = make_towns()
    plain = weigh.EvidenceNB().fit(table, "y").evidence_
    capped = weigh.EvidenceNB(max_levels={"town": 30, "age": 1}).fit(table, "y").evidence_
    assert plain.features == capped.features
    assert all(not feature.other for feature in capped.features)


# ---------------------------------------------------------------- values without a level


@pytest.mark.parametrize("name", LEARNERS)
def test_a_value_never_seen_is_of_the_level_other_in_every_learner(name):
    table = make_towns()
    model = LEARNERS[name].fit(table, "y")
    feature = next(f for f in model._learnt.features if f.name == "town")
    rare = next(t for t in table["town"].dropna() if t not in feature.values)
    rows = pd.DataFrame({"town": [rare, "never seen"], "age": [40.0, 40.0]})
    one, two = model.predict_proba(rows)
    assert one.tolist() == two.tolist()
    known = model.predict_proba(rows.assign(town=feature.values[:2]))
    assert known[0].tolist() != one.tolist()


def test_a_sheet_says_other_and_missing_is_not_other():
    table = make_towns()
    model = weigh.EvidenceNB(max_levels=3).fit(table, "y")
    town = model.evidence_["town"]
    assert town.labels[-2:] == ("other", "missing")
    item = model.balance_sheet({"town": "never seen", "age": 40.0}).items[0]
    assert (item.level, item.note) == ("other", "")
    assert item.weight == town.weights[-2]
    assert model.balance_sheet({"town": None, "age": 40.0}).items[0].level == "missing"
    skipping = weigh.EvidenceNB(max_levels=3, missing="skip").fit(table, "y")
    assert skipping.balance_sheet({"town": None, "age": 40.0}).items[0].note == "no evidence"


def test_text_that_reads_other_is_a_level_of_its_own():
    values = ["other"] * 6 + ["b"] * 4 + ["c", "d"] * 2
    model = weigh.EvidenceNB(max_levels=1).fit(pd.DataFrame({"x": values}), [0, 1] * 7)
    assert model.evidence_["x"].labels == ('"other"', "other")
    weights = model.evidence_["x"].weights
    sheets = [model.balance_sheet({"x": value}).items[0] for value in ("other", "d", "z")]
    assert [item.weight for item in sheets] == [weights[0], weights[1], weights[1]]
    assert [item.level for item in sheets] == ['"other"', "other", "other"]


def test_a_kind_of_values_that_was_joined_as_a_whole_is_no_mistake_later():
    rows = [{"x": value} for value in ["a"] * 5 + ["b"] * 4 + [1, 2]]
    model = weigh.EvidenceNB(max_levels=2, categorical_features=["x"]).fit(rows, [0, 1] * 5 + [0])
    assert model.evidence_["x"].feature.other == ("numbers",)
    assert_array_equal(*model.predict_proba([{"x": 1}, {"x": 7}]))
    with pytest.raises(ValueError, match="held numbers and text in training"):
        model.predict([{"x": True}])


def test_crosses_pair_the_levels_that_were_kept():
    table = make_towns().assign(sex=["f", "m"] * 300)
    model = weigh.EvidenceNB(max_levels=3, crosses=[("town", "sex")]).fit(table, "y")
    single = weigh.EvidenceNB(max_levels=3).fit(table, "y").evidence_["town"]
    cross = model.evidence_["town & sex"]
    assert cross.feature.parts[0] == single.feature
    for place in range(len(single.levels)):
        own = [i for i, pair in enumerate(cross.feature.pairs) if pair[0] == place]
        assert_array_equal(cross.counts[own].sum(axis=0), single.counts[place])
    assert "other & f" in cross.labels


# ---------------------------------------------------------------- counts that add


def test_batches_after_the_first_go_to_the_levels_that_there_are():
    table = make_towns()
    whole = weigh.EvidenceNB(max_levels=3, bins={"age": [40]}).fit(table, "y")
    model = weigh.EvidenceNB(max_levels=3, bins={"age": [40]})
    for part in (table, table.head(100), table.tail(50)):
        model.partial_fit(part, "y")
    town, first = model.evidence_["town"], whole.evidence_["town"]
    assert town.feature == first.feature
    every = pd.concat([table, table.head(100), table.tail(50)])
    placed = first.feature.read(read(every.drop(columns="y")))
    levels = placed.levels[placed.codes]
    wanted = [((levels == i) & every["y"]).sum() for i in range(len(town.levels))]
    assert town.counts[:, 1].tolist() == wanted


def test_a_column_that_outgrows_its_levels_in_a_later_batch_is_joined_then():
    few = pd.DataFrame({"x": [*"aabb"]})
    model = weigh.EvidenceNB(max_levels=2).partial_fit(few, [0, 1, 0, 1])
    assert model.evidence_["x"].labels == ("a", "b")
    model.partial_fit(pd.DataFrame({"x": [*"cccd"]}), [0, 1, 0, 1])
    assert model.evidence_["x"].labels == ("a", "c", "other")
    assert model.evidence_["x"].counts.sum(axis=1).tolist() == [2, 3, 3]


def test_merging_adds_where_the_kept_levels_are_the_same_and_else_names_the_column():
    table = make_towns()
    learner = weigh.EvidenceNB(max_levels=3, bins={"age": [40]})
    model = learner.fit(table, "y")
    twice = model.merge(model)
    assert_array_equal(twice.evidence_["town"].counts, 2 * model.evidence_["town"].counts)
    apart = weigh.EvidenceNB(max_levels=3, bins={"age": [40]})
    apart.fit(table.assign(town=table["town"].str.upper()), "y")
    with pytest.raises(ValueError, match=r"column 'town': max_levels"):
        model.merge(apart)
    with pytest.raises(ValueError, match="differ in max_levels: 3 against None"):
        model.merge(weigh.EvidenceNB(bins={"age": [40]}).fit(table, "y"))


def test_models_whose_columns_outgrow_their_levels_together_are_those_of_all_rows():
    one = pd.DataFrame({"x": [*"aab"], "y": [0, 1, 0]})
    two = pd.DataFrame({"x": [*"ccb"], "y": [1, 1, 0]})
    models = [weigh.EvidenceNB(max_levels=2).fit(part, "y") for part in (one, two)]
    both = weigh.EvidenceNB(max_levels=2).fit(pd.concat([one, two]), "y")
    merged = models[0].merge(models[1]).evidence_["x"]
    assert merged.feature == both.evidence_["x"].feature
    assert_array_equal(merged.counts, both.evidence_["x"].counts)


def test_a_part_of_a_cross_that_outgrows_its_levels_is_named():
    crosses = {"max_levels": 2, "crosses": [("x", "z")]}
    one = pd.DataFrame({"x": [*"aabb"], "z": [*"uvuv"]})
    model = weigh.EvidenceNB(**crosses).partial_fit(one, [0, 1, 0, 1])
    with pytest.raises(ValueError, match=r"column 'x' is part of a cross and has more than max_l"):
        model.partial_fit(one.assign(x=[*"ccdd"]), [0, 1, 0, 1])


# ---------------------------------------------------------------- what is refused


@pytest.mark.parametrize("wrong", [0, -1, 2.5, "ten", True, {"town": 0}, {"town": "all"}])
def test_a_number_of_levels_that_is_none_is_refused(wrong):
    with pytest.raises(ValueError, match="max_levels must be None"):
        weigh.EvidenceNB(max_levels=wrong).fit(make_towns(), "y")


def test_a_column_that_there_is_not_and_tokens_are_refused():
    with pytest.raises(ValueError, match="max_levels names 'city'"):
        weigh.EvidenceNB(max_levels={"city": 3}).fit(make_towns(), "y")
    with pytest.raises(ValueError, match="max_levels"):
        weigh.EvidenceNB(max_levels=3, event_model="counts").fit([[1, 2], [2, 0]], [0, 1])


def test_features_with_and_without_other_do_not_unite():
    one = Feature("x", ("a", "b"), other=("text",))
    assert one.unite(Feature("x", ("a", "b"), other=("numbers",))).other == ("numbers", "text")
    with pytest.raises(ValueError, match="max_levels"):
        one.unite(Feature("x", ("a", "b")))


# ---------------------------------------------------------------- the command line, and cards


def test_the_command_line_keeps_the_most_frequent_levels(tmp_path):
    table = make_towns()
    data, path = tmp_path / "towns.csv", tmp_path / "model.json"
    table.to_csv(data, index=False)
    given = ["fit", str(data), "--target", "y", "--max-levels", "3", "-o", str(path)]
    done = CliRunner().invoke(main, given)
    assert done.exit_code == 0, done.output
    loaded, fitted = weigh.load(path), weigh.EvidenceNB(max_levels=3).fit(table, "y")
    assert loaded.evidence_["town"].feature == fitted.evidence_["town"].feature
    rows = [f for f in json.loads(path.read_text())["evidence"]["features"] if f["name"] == "town"]
    assert rows[0]["other"] == ["text"]
    given[given.index("3")] = "0"
    assert CliRunner().invoke(main, given).exit_code == 2


def test_a_scorecard_gives_points_to_other():
    table = make_towns()
    model = weigh.EvidenceNB(max_levels=3, missing="skip").fit(table, "y")
    card, labels = weigh.Scorecard(model), model.evidence_["town"].labels
    rows = pd.DataFrame({"town": ["never seen", "t01"], "age": [40.0, 40.0]})
    points = dict(zip(labels, card.points["town"], strict=True))
    one, two = card.score(rows)
    assert one - two == points["other"] - points["t01"] != 0
