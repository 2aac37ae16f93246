"""screen: one table of columns before a fit, held to literal computations."""

import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

import weigh
from weigh import WeightOfEvidence
from weigh.cli import main
from weigh.screening import LEAK


def draw_table(n=600, seed=3):
    rng = np.random.default_rng(seed)
    town = rng.choice(["east", "north", "south"], n)
    income = rng.normal(size=n)
    late = np.arange(n) >= n // 2
    frame = pd.DataFrame(
        {
            "town": town,
            "income": income,
            "copy": income * 2 + 0.001 * rng.normal(size=n),
            "moving": np.where(late, "b", "a"),
            "constant": "x",
            "gaps": np.where(rng.random(n) < 0.97, None, "seen"),
            "day": np.arange(n),
        }
    )
    odds = (town == "north") + income
    return frame, np.where(rng.random(n) < 1 / (1 + np.exp(-odds)), "good", "bad")


X, Y = draw_table()
FOUND = weigh.screen(X, Y, time="day", bins=5)
BY_NAME = {column.name: column for column in FOUND.columns}


def test_measures_of_columns_are_those_of_their_weights_of_evidence():
    features = X.drop(columns="day")
    model = WeightOfEvidence(bins=5).fit(features, Y)
    woe = model.transform(features)
    told = pd.DataFrame(model.information_).set_index("feature")
    for j, name in enumerate(features):
        found = BY_NAME[name]
        assert found.information_value == told.loc[name, "information_value"]
        assert found.missing == pytest.approx(features[name].isna().mean())
        others = np.delete(woe, j, axis=1)
        if woe[:, j].std() == 0:
            assert (found.correlation, found.vif) == (0.0, pytest.approx(1.0))
            continue
        varying = others[:, others.std(axis=0) > 0]
        largest = max(abs(np.corrcoef(woe[:, j], other)[0, 1]) for other in varying.T)
        assert found.correlation == pytest.approx(largest, abs=1e-9)
        design = np.column_stack([np.ones(len(woe)), varying])
        left = woe[:, j] - design @ np.linalg.lstsq(design, woe[:, j], rcond=None)[0]
        assert found.vif == pytest.approx(woe[:, j].var() / left.var(), rel=1e-4)


def test_stability_compares_the_later_half_with_the_earlier():
    assert BY_NAME["moving"].stability > 1
    income = pd.qcut(X["income"], 5, labels=False)
    shares = [
        np.bincount(income[half], minlength=5) / 300 for half in (X.index < 300, X.index >= 300)
    ]
    psi = sum((a - e) * np.log(a / e) for e, a in zip(*shares, strict=True))
    assert BY_NAME["income"].stability == pytest.approx(psi, rel=1e-9)
    assert "day" not in BY_NAME
    assert weigh.screen(X, Y).columns[0].stability is None


def test_columns_that_are_left_out_have_a_reason():
    chosen = FOUND.select()
    assert {*chosen.kept} | {*chosen.left_out} == {*BY_NAME}
    assert {"income", "town"} <= {*chosen.kept} or {"copy", "town"} <= {*chosen.kept}
    assert len({"income", "copy"} & {*chosen.left_out}) == 1
    for name, word in (("moving", "stability"), ("constant", "largest"), ("gaps", "missing")):
        assert word in chosen.left_out[name]
    everything = FOUND.select(
        min_iv=0, max_missing=1, max_largest=1, max_correlation=1, max_stability=np.inf
    )
    assert len(everything.kept) == len(BY_NAME)


def test_columns_that_alone_tell_the_classes_apart_are_left_out_before_their_twins():
    paid = np.where(Y == "good", 1.0, 0.0)
    rare = np.where(np.arange(len(Y)) == 0, 1 - paid, paid)  # one mistake
    found = weigh.screen(X[["town", "income"]].assign(paid=paid, again=2 * paid, rare=rare), Y)
    chosen = found.select()
    assert {*found.leaks} == {"paid", "again"}
    assert {name: chosen.left_out[name] for name in found.leaks} == dict.fromkeys(found.leaks, LEAK)
    assert chosen.kept == ("rare", "income", "town")
    assert np.abs(found.correlations).max() == 1.0


def test_it_prints_and_becomes_a_dataframe():
    frame = FOUND.to_frame()
    assert [*frame["name"]] == [column.name for column in FOUND.columns]
    assert all(name in FOUND.to_text() for name in BY_NAME)
    assert "<table" in FOUND._repr_html_()


@pytest.mark.parametrize("missing", ["level", "skip", {"gaps": "skip"}])
def test_missing_values_are_counted_in_the_column_whether_or_not_they_are_skipped(missing):
    frame = X.drop(columns="day").assign(
        holes=np.where(np.arange(600) % 3 == 0, np.nan, X["income"]),
        unasked=np.nan,
        unsaid=None,
        parted=pd.Categorical(np.where(np.arange(600) % 4 == 0, None, X["town"])),
    )
    found = weigh.screen(frame, Y, missing=missing)
    for column in found.columns:
        assert column.missing == pytest.approx(frame[column.name].isna().mean()), column.name
    assert found.skips_missing == (missing != "level")
    assert len(found.view().notes) == (1 if missing == "level" else 2)
    assert "missing" in found.select().left_out["gaps"]


def test_row_weights_are_refused_by_name():
    with pytest.raises(TypeError, match="screen takes no sample_weight"):
        weigh.screen(X, Y, sample_weight=np.ones(len(X)))


def test_the_command_prints_and_writes_what_python_finds(tmp_path):
    X.assign(answer=Y).to_csv(tmp_path / "rows.csv", index=False)
    options = ["--target", "answer", "--time", "day", "--bins", "5", "--min-iv", "0.1"]
    out = tmp_path / "columns.csv"
    ran = CliRunner().invoke(
        main, ["screen", f"{tmp_path}/rows.csv", *options, "--json", "-o", f"{out}"]
    )
    told = json.loads(ran.stdout)
    chosen = FOUND.select(min_iv=0.1)
    assert told["kept"] == [*chosen.kept]
    assert told["left_out"] == chosen.left_out
    assert [c["name"] for c in told["columns"]] == [c.name for c in FOUND.columns]
    written = pd.read_csv(out)
    found = [c.information_value for c in FOUND.columns]
    assert written["information_value"].tolist() == pytest.approx(found)
    shown = CliRunner().invoke(main, ["screen", f"{tmp_path}/rows.csv", *options]).stdout
    assert all(name in shown for name in BY_NAME)


def test_the_command_takes_the_limits_of_python_and_names_ids(tmp_path):
    names = np.random.default_rng(0).permutation(np.arange(1000, 1000 + len(X)))
    X.assign(answer=Y, customer=names).to_csv(tmp_path / "rows.csv", index=False)
    options = ["--target", "answer", "--time", "day", "--bins", "5", "--json"]
    limits = ["--max-stability", "100", "--max-largest", "1", "--min-iv", "0", "--max-missing", "1"]
    ran = CliRunner().invoke(main, ["screen", f"{tmp_path}/rows.csv", *options, *limits])
    assert {"moving", "constant"} <= {*json.loads(ran.stdout)["kept"]}
    assert "leave it out with --drop customer" in ran.stderr
    assert "--drop day" not in ran.stderr


def test_the_command_refuses_a_class_that_the_target_does_not_hold(tmp_path):
    X.assign(answer=Y).to_csv(tmp_path / "rows.csv", index=False)
    ran = CliRunner().invoke(
        main, ["screen", f"{tmp_path}/rows.csv", "--target", "answer", "--pos-label", "godo"]
    )
    assert ran.exit_code == 2
    assert "--pos-label" in ran.stderr


def count_passes(scan):
    """A scan that counts how often it is read, and how often to its end."""
    passes = {"begun": 0, "ended": 0}

    def read(names):
        passes["begun"] += 1
        yield from scan.read_batches(names)
        passes["ended"] += 1

    return replace(scan, read_batches=read), passes


def test_the_types_of_a_scan_take_no_pass_over_its_rows(tmp_path):
    """What has levels is known from the first batch; a column of dates is left out all the same."""
    found = []
    for n_columns in (3, 7):
        frame = pd.DataFrame({f"c{j}": np.arange(60) % (j + 2) for j in range(n_columns)})
        frame["y"] = np.where(np.arange(60) % 3, "no", "yes")
        frame["day"] = pd.date_range("2024-01-01", periods=60)
        frame.to_parquet(tmp_path / "t.parquet", row_group_size=20)
        scan, passes = count_passes(weigh.scan(tmp_path / "t.parquet"))
        assert {*weigh.screen(scan, "y", bins=3).unread} == {"day"}
        assert passes["begun"] == passes["ended"] + 1
        found.append(passes["ended"])
    assert found[1] == found[0] + 4  # one for each column, for its missing values


@pytest.mark.parametrize("option", [{"bins": {"day": 3}}, {"categorical_features": ["day"]}])
def test_an_option_for_a_column_of_dates_says_why_it_is_not_measured(option):
    frame = pd.DataFrame({"a": [1, 2, 3, 4], "day": pd.date_range("2024-01-01", periods=4)})
    with pytest.raises(ValueError, match=r"names 'day', but this column holds dates, .* derive"):
        weigh.screen(frame, [0, 1, 0, 1], **option)


def test_a_numeric_column_without_a_cut_point_is_not_called_constant():
    rng = np.random.default_rng(0)
    y = rng.choice(["bad", "good"], 300)
    rows = pd.DataFrame({"noise": rng.normal(size=300), "flat": 1.0, "town": "east"})
    rows["signal"] = (y == "good") + rng.normal(size=300)
    found = weigh.screen(rows, y)
    left_out = found.select().left_out
    assert left_out["noise"] == "no cut point found"
    assert "largest level" in left_out["flat"]
    assert "largest level" in left_out["town"]
    assert "noise" in found.select(min_iv=0, max_largest=1).kept


def test_columns_left_out_for_one_reason_share_a_line(tmp_path):
    rng = np.random.default_rng(1)
    y = rng.choice(["bad", "good"], 300)
    rows = pd.DataFrame(rng.normal(size=(300, 2)), columns=["a", "b"]).assign(y=y)
    rows["signal"] = (y == "good") + rng.normal(size=300)
    rows.to_csv(tmp_path / "rows.csv", index=False)
    told = CliRunner().invoke(main, ["screen", str(tmp_path / "rows.csv"), "--target", "y"]).output
    assert "Left out, no cut point found: a, b\n" in told


def test_a_mark_among_numbers_is_noted_with_the_option_that_reads_it(tmp_path):
    rng = np.random.default_rng(2)
    rows = pd.DataFrame({"y": rng.choice(["bad", "good"], 100), "age": range(100)}, dtype=object)
    rows.loc[3, "age"] = "n/a"
    rows.to_csv(tmp_path / "rows.csv", index=False)
    asked = ["screen", str(tmp_path / "rows.csv"), "--target", "y"]
    said = CliRunner().invoke(main, asked).stderr
    assert "hint: --na n/a reads it as missing" in said
    assert "list it in --categorical" in said
    assert "--na n/a" not in CliRunner().invoke(main, [*asked, "--categorical", "age"]).stderr


def test_the_nearest_column_has_a_column_of_its_own():
    rng = np.random.default_rng(0)
    a = rng.normal(size=400)
    rows = pd.DataFrame({"a": a, "twin": a + rng.normal(size=400) / 9, "y": a > 0.3})
    grid = weigh.screen(rows, "y").view().grids[0]
    at = grid.head.index("With")
    assert grid.head[at - 1] == "Correlation"
    assert {row[at] for row in grid.rows} == {"a", "twin"}
    assert all(row[at - 1].replace(".", "").isdigit() for row in grid.rows)
    alone = weigh.screen(rows[["a", "y"]], "y").view().grids[0]
    assert alone.rows[0][at - 1 : at + 1] == ("-", "")
