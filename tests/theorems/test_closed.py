"""Intervals closed on the left, and cut points read from other libraries."""

import json

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st

import weigh
from weigh.bins import Binning, Feature
from weigh.cli import main
from weigh.frames import Numbers

RNG = np.random.default_rng(11)
X = pd.DataFrame({"x": RNG.normal(size=600).round(1), "n": RNG.integers(0, 30, 600)})
Y = np.where(RNG.random(600) < 1 / (1 + np.exp(-X["x"])), "b", "a")
GIVEN = {"x": Binning(cuts=[-0.5, 0.1, 1.2], closed="left"), "n": Binning(cuts=[10], closed="left")}


@given(
    st.lists(st.floats(-1e6, 1e6, width=32), min_size=1, max_size=4, unique=True),
    st.lists(st.floats(-1e6, 1e6), max_size=20),
)
@settings(max_examples=100, deadline=None, database=None)
def test_an_interval_closed_on_the_left_holds_its_lower_end_and_not_its_upper(cuts, values):
    cuts = sorted(cuts)
    near = [np.nextafter(cut, end) for cut in cuts for end in (-np.inf, np.inf)]
    every = np.array([*cuts, *near, *values])
    feature = Feature("x", cuts=Binning(cuts=cuts, closed="left").given, left=True)
    found = feature.place(Numbers(every)).codes
    assert found.tolist() == [sum(cut <= value for cut in cuts) for value in every]


def test_labels_name_the_ends_that_intervals_hold():
    tables = weigh.EvidenceNB(bins=GIVEN).fit(X, Y).evidence_
    assert tables["x"].labels == ("< -0.5", "[-0.5, 0.1)", "[0.1, 1.2)", ">= 1.2")
    assert tables["n"].labels == ("<= 9", ">= 10")
    pairs = [X["x"] < -0.5, (X["x"] >= -0.5) & (X["x"] < 0.1), (X["x"] >= 0.1) & (X["x"] < 1.2)]
    assert tables["x"].counts.sum(axis=1)[:3].tolist() == [mask.sum() for mask in pairs]


@pytest.mark.parametrize("trend", ["free", "monotone"])
def test_found_cut_points_part_the_rows_alike_whichever_end_intervals_hold(trend):
    left, right = (
        weigh.EvidenceNB(bins=Binning(trend=trend, closed=closed)).fit(X, Y).evidence_
        for closed in ("left", "right")
    )
    assert [t.counts.tolist() for t in left] == [t.counts.tolist() for t in right]
    assert left["x"].labels[0].startswith("< ")
    assert right["x"].labels[0].startswith("<= ")


def test_neighbouring_floats_are_parted_in_either_way():
    low = 1.0
    x = np.repeat([low, np.nextafter(low, 2)], 50)
    y = np.where(np.arange(100) % 10 < np.repeat([2, 8], 50), "b", "a")
    for closed in ("left", "right"):
        model = weigh.EvidenceNB(bins=Binning(closed=closed)).fit(pd.DataFrame({"x": x}), y)
        assert model.evidence_["x"].counts.sum(axis=1).tolist() == [50, 50]


def test_a_card_with_such_intervals_keeps_them_in_files_and_every_export_agrees(tmp_path):
    card = weigh.Scorecard.from_table(X.assign(y=Y), "y", adverse="a", bins=GIVEN)
    weigh.save(card, tmp_path / "card.json")
    loaded = weigh.load(tmp_path / "card.json")
    assert loaded.evidence["x"].labels == card.evidence["x"].labels
    ends = [-0.5, 0.1, 1.2]
    rows = pd.DataFrame({"x": [*ends, *np.nextafter(ends, -np.inf), *np.nextafter(ends, np.inf)]})
    rows["n"] = [9, 10, 11] * 3
    assert (loaded.score(rows) == card.score(rows)).all()
    steps = card.points["x"]
    at = [sum(end <= value for end in ends) for value in rows["x"]]
    own = card.score(rows) - np.array([card.points["n"][n >= 10] for n in rows["n"]])
    assert (own - own[0]).tolist() == [steps[k] - steps[at[0]] for k in at]
    for to, ending in (("sql", "sql"), ("python", "py"), ("onnx", "onnx")):
        made = ["export", f"{tmp_path}/card.json", "--to", to, "-o", f"{tmp_path}/card.{ending}"]
        assert CliRunner().invoke(main, made).exit_code == 0
        checked = CliRunner().invoke(main, ["check", made[-1], made[1]])
        assert checked.exit_code == 0, checked.output


@pytest.mark.parametrize("odd", [{"closed": "both"}, {"cuts": [2, 1]}, {"cuts": ["a"]}])
def test_odd_ends_and_cut_points_are_refused(odd):
    with pytest.raises(ValueError, match=f"{next(iter(odd))}|cut points"):
        Binning(**odd)


def test_cut_points_for_all_columns_are_refused():
    with pytest.raises(ValueError, match="by column"):
        weigh.EvidenceNB(bins=Binning(cuts=[1.0])).fit(X, Y)


# ---------------------------------------------------------------- other libraries

BREAKS = {
    "age": ["-Inf", 26, "35.5", "Inf", "missing"],
    "purpose": ["new car%,%used car", "radio", "missing"],
    "empty": ["Inf"],
}
WANTED = {
    "age": Binning(cuts=[26, 35.5], closed="left"),
    "purpose": [["new car", "used car"], ["radio"]],
    "empty": Binning(cuts=[], closed="left"),
}


def test_break_lists_are_read_from_a_dict_a_json_file_and_a_table(tmp_path):
    assert weigh.read_bins(BREAKS) == WANTED
    (tmp_path / "breaks.json").write_text(json.dumps(BREAKS))
    assert weigh.read_bins(tmp_path / "breaks.json") == WANTED
    rows = [(name, str(text)) for name, breaks in BREAKS.items() for text in breaks]
    table = pd.DataFrame(rows, columns=["variable", "breaks"])
    assert weigh.read_bins(table) == WANTED
    special = pd.DataFrame(
        [("age", "-9", True)], columns=["variable", "breaks", "is_special_values"]
    )
    table = pd.concat([table.assign(is_special_values=False), special])
    table.to_csv(tmp_path / "bins.csv", index=False)
    assert weigh.read_bins(str(tmp_path / "bins.csv")) == WANTED


def test_binning_tables_are_read():
    bins = ["(-inf, 12.33)", "[12.33, 15.05)", "[15.05, inf)", "Special", "Missing", ""]
    numbers = pd.DataFrame({"Bin": bins, "Count": range(6)})
    groups = pd.DataFrame(
        {"Bin": [np.array(["a", "b"]), np.array(["c"]), "Special", "Missing", ""]}
    )
    found = weigh.read_bins({"size": numbers, "town": groups})
    assert found == {
        "size": Binning(cuts=[12.33, 15.05], closed="left"),
        "town": [["a", "b"], ["c"]],
    }


class Fitted:
    """What is read of a fitted OptimalBinning of categories."""

    dtype = "categorical"

    def __init__(self, splits):
        self.splits = splits


def test_categories_that_are_numbers_stay_numbers():
    codes = RNG.choice([1, 2, 3], 600)
    splits = [np.array([1, 2]), np.array([3])]
    for source in (Fitted(splits), pd.DataFrame({"Bin": [*splits, "Special", "Missing", ""]})):
        bins = weigh.read_bins({"c": source})
        assert bins == {"c": [[1, 2], [3]]}
        table = weigh.EvidenceNB(bins=bins).fit(pd.DataFrame({"c": codes}), Y).evidence_["c"]
        assert table.labels[:2] == ("1 or 2", "3")
        assert table.counts[:2].sum(axis=1).tolist() == [(codes < 3).sum(), (codes == 3).sum()]


@pytest.mark.parametrize("listed", [[["1", "2"], ["3"]], [[7, 8], [9]]])
def test_categories_of_which_none_occurs_are_refused(listed):
    codes = RNG.choice([1, 2, 3], 600)
    with pytest.raises(ValueError, match=r"'c'.*bins"):
        weigh.EvidenceNB(bins={"c": listed}).fit(pd.DataFrame({"c": codes}), Y)


@pytest.mark.parametrize("text", ["{", "[1, 2]", '{"age": []}', '{"age": 3}'])
def test_errors_of_a_file_of_breaks_name_it(tmp_path, text):
    path = tmp_path / "breaks.json"
    path.write_text(text)
    with pytest.raises(ValueError, match=r"breaks\.json"):
        weigh.read_bins(path)
    with pytest.raises(FileNotFoundError, match=r"absent\.json"):
        weigh.read_bins(tmp_path / "absent.json")


def test_text_with_an_underscore_is_no_number():
    assert weigh.read_bins({"code": ["1_0", "2_0"]}) == {"code": [["1_0"], ["2_0"]]}


def test_bins_that_were_read_give_the_levels_of_the_break_list():
    table = pd.DataFrame({"x": X["x"], "town": RNG.choice([*"pqr"], 600)})
    bins = weigh.read_bins({"x": [-0.5, 1.2, "Inf"], "town": ["p%,%q", "r"]})
    found = weigh.EvidenceNB(bins=bins).fit(table, Y).evidence_
    assert found["x"].labels == ("< -0.5", "[-0.5, 1.2)", ">= 1.2")
    cut = pd.cut(table["x"], [-np.inf, -0.5, 1.2, np.inf], right=False)
    assert found["x"].counts.sum(axis=1).tolist() == cut.value_counts(sort=False).tolist()
    assert found["town"].labels == ("p or q", "r")


@pytest.mark.parametrize(
    "odd",
    [{"age": ["missing%,%a", "b"]}, {"age": 26}, {"age": ["26", "26.0"]},
     {"age": []}, {"age": ["missing"]},
     pd.DataFrame({"age": [1]}), {"age": pd.DataFrame({"Bins": ["a"]})},
     {"age": pd.DataFrame({"Bin": ["26 to 35"]})}],
)  # fmt: skip
def test_break_lists_that_cannot_be_read_are_refused(odd):
    with pytest.raises(ValueError, match=r"age|breaks"):
        weigh.read_bins(odd)


def test_cut_points_of_a_model_closed_on_the_left_give_the_same_levels_again():
    first = weigh.EvidenceNB(bins=GIVEN).fit(X, Y)
    cuts = weigh.cut_points(first)
    assert cuts == {name: Binning(cuts=rule.cuts, closed="left") for name, rule in GIVEN.items()}
    again = weigh.EvidenceNB(bins=cuts).fit(X, Y).evidence_
    for one, other in zip(first.evidence_, again, strict=True):
        assert one.labels == other.labels
        assert one.counts.tolist() == other.counts.tolist()


def run(*words):
    done = CliRunner().invoke(main, [str(word) for word in words])
    assert done.exit_code == 0, done.output
    return done


@pytest.fixture
def files(tmp_path):
    town = np.where(np.arange(600) % 3 == 0, "N", np.where(np.arange(600) % 3 == 1, "S", "E"))
    X.assign(town=town, code=np.arange(600) % 4, y=Y).to_csv(tmp_path / "rows.csv", index=False)
    breaks = {"x": [-0.5, 0.1, 1.2, "Inf"], "town": ["N%,%S", "E"], "code": ["0%,%1", "2", "3"]}
    (tmp_path / "breaks.json").write_text(json.dumps(breaks))
    lines = [f"{name},{text}" for name, texts in breaks.items() for text in map(str, texts)]
    quoted = [line.replace("N%,%S", '"N%,%S"').replace("0%,%1", '"0%,%1"') for line in lines]
    (tmp_path / "breaks.csv").write_text("\n".join(["variable,breaks", *quoted]))
    return tmp_path


def labels_of(model):
    tables = model.evidence if hasattr(model, "evidence") else model.evidence_
    return {table.name: table.labels for table in tables}


@pytest.mark.parametrize("name", ["breaks.json", "breaks.csv"])
@pytest.mark.parametrize("command", ["fit", "scorecard"])
def test_commands_read_the_bins_of_other_libraries(files, command, name):
    more = ["--adverse", "a"] if command == "scorecard" else ["--learner", "evidence"]
    run(command, files / "rows.csv", "--target", "y", "--read-bins", files / name, *more,
        "-o", files / "m.json")  # fmt: skip
    found = labels_of(weigh.load(files / "m.json"))
    assert found["x"] == ("< -0.5", "[-0.5, 0.1)", "[0.1, 1.2)", ">= 1.2")
    assert found["town"] == ("N or S", "E")
    assert found["code"] == ("0 or 1", "2", "3")


@pytest.mark.parametrize("command", ["fit", "scorecard"])
def test_commands_take_groups_of_categories_and_of_numbers(files, command):
    more = ["--adverse", "a"] if command == "scorecard" else []
    run(command, files / "rows.csv", "--target", "y", "--groups", "town", "N, S",
        "--groups", "code", "0,3;1,2", *more, "-o", files / "m.json")  # fmt: skip
    found = labels_of(weigh.load(files / "m.json"))
    assert found["town"] == ("N or S", "other")
    assert found["code"] == ("0 or 3", "1 or 2")


def test_screen_counts_levels_that_are_given(files):
    (files / "few.json").write_text(json.dumps({"x": [-0.5, 0.1, 1.2], "code": ["0%,%1", 2, 3]}))
    done = run("screen", files / "rows.csv", "--target", "y", "--read-bins", files / "few.json",
               "--groups", "town", "N;S;E", "--json")  # fmt: skip
    levels = {column["name"]: column["levels"] for column in json.loads(done.stdout)["columns"]}
    assert (levels["x"], levels["town"], levels["code"]) == (4, 3, 3)


def test_bins_of_all_columns_hold_beside_groups_of_one(files):
    run("fit", files / "rows.csv", "--target", "y", "--bins", "5", "--groups", "town", "N,S;E",
        "-o", files / "m.json")  # fmt: skip
    found = labels_of(weigh.load(files / "m.json"))
    assert len(found["x"]) == 5
    assert found["town"] == ("N or S", "E")


def test_screening_for_an_adverse_class_turns_to_the_other(files):
    shown = [
        json.loads(run("screen", files / "rows.csv", "--target", "y", *about, "--json").stdout)
        for about in (("--adverse", "a"), ("--pos-label", "b"))
    ]
    assert shown[0] == shown[1]
    assert shown[0]["pos_label"] == "b"
    with pytest.raises(ValueError, match="pos_label and adverse"):
        weigh.screen(X, Y, pos_label="b", adverse="a")


def test_the_command_line_closes_intervals_on_the_left(files):
    run("fit", files / "rows.csv", "--target", "y", "--bins", "optimal", "--closed", "left",
        "-o", files / "m.json")  # fmt: skip
    assert labels_of(weigh.load(files / "m.json"))["x"][0].startswith("< ")
    run("fit", files / "rows.csv", "--target", "y", "--bins", files / "m.json",
        "-o", files / "again.json")  # fmt: skip
    first, again = (labels_of(weigh.load(files / name)) for name in ("m.json", "again.json"))
    assert first["x"] == again["x"]
    run("scorecard", files / "rows.csv", "--target", "y", "--adverse", "a", "--closed", "left",
        "--bins", "x", "0.1,0.5", "-o", files / "card.json")  # fmt: skip
    assert labels_of(weigh.load(files / "card.json"))["x"] == ("< 0.1", "[0.1, 0.5)", ">= 0.5")


@pytest.mark.parametrize("rule", [5, "fine", "mdl"])
def test_a_card_refuses_rules_that_close_intervals_on_the_right_alone(rule):
    with pytest.raises(ValueError, match=r"closed='left'"):
        weigh.Scorecard.from_table(X, Y, closed="left", bins={"x": rule})


@pytest.mark.parametrize("more", [[], ["--groups", "town", "a;b"]])
def test_intervals_of_a_rule_that_closes_them_on_the_right_alone_are_refused(files, more):
    words = ["fit", files / "rows.csv", "--target", "y", "--closed", "left", "-o", files / "m.json"]
    words += more
    done = CliRunner().invoke(main, [*map(str, words)])
    assert done.exit_code == 2
    assert "--closed left" in done.output
