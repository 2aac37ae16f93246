"""The benchmarks beside rivals and on files: the same data, the same counts, honest words."""

import importlib
import json
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest
from benchmarks import (
    arena,
    contest,
    contest_data,
    contest_page,
    scale,
    scale_files,
    scale_jobs,
)
from benchmarks.contest import Entry, Outcome
from benchmarks.rivals import environments, one
from matplotlib import pyplot as plt
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.metrics import log_loss, roc_auc_score

from weigh import EducatedNB
from weigh.datasets import titanic

# ---------------------------------------------------------------- files


def test_generated_files_share_the_rows_and_are_the_same_again(tmp_path):
    first, again = (scale_files.write_files(3010, tmp_path / name) for name in "ab")
    assert sum(pq.read_metadata(path).num_rows for path in first) == 3010
    for path, other in zip(first, again, strict=True):
        assert pq.read_table(path).equals(pq.read_table(other))
    assert not pq.read_table(first[0]).slice(0, 50).equals(pq.read_table(first[1]).slice(0, 50))


def test_a_file_that_is_there_with_its_rows_is_not_written_again(tmp_path):
    first = scale_files.write_files(300, tmp_path)[0]
    before = first.stat().st_mtime_ns
    scale_files.write_files(300, tmp_path)
    assert first.stat().st_mtime_ns == before
    scale_files.write_files(600, tmp_path)
    assert pq.read_metadata(first).num_rows == 20


@pytest.mark.parametrize("way", scale.DUCKDB)
def test_duckdb_counts_what_the_counting_pass_counts(tmp_path, way):
    pytest.importorskip("duckdb")
    files = [str(path) for path in scale_files.write_files(6000, tmp_path)]
    cuts = {name: [-1.05, 0.0, 0.7, 9.0] for name in scale_files.NUMBERS}  # none is above 9
    cuts["number_0"], cuts["number_5"] = [], [10.0, 500.0, 2000.0]
    (tmp_path / scale_jobs.CUTS).write_text(json.dumps(cuts))
    ours = scale_jobs.JOBS["counting pass"](files, tmp_path)
    assert scale_jobs.JOBS[way](files, tmp_path) == ours
    assert {sum(map(sum, cells)) for cells in ours["counts"].values()} == {6000}


def test_cut_points_of_other_columns_are_refused_by_name(tmp_path):
    (tmp_path / scale_jobs.CUTS).write_text(json.dumps({"age": [1.0]}))
    with pytest.raises(ValueError, match=r"holds \['age'\], wanted \['number_0'"):
        scale_jobs.read_cuts(tmp_path)


# ---------------------------------------------------------------- rivals


def test_every_rival_has_a_file_and_an_environment_and_names_of_its_own():
    files = {path.stem for path in Path(environments.HERE).glob("*.py")}
    assert {*environments.NAMES} <= files
    names = [entry.name for entry in contest.entries(contest.MODULES)]
    assert len(set(names)) == len(names)


@pytest.mark.parametrize("module", ["scikit_learn", "lightgbm", "duckdb", "toad", "orange"])
def test_names_read_from_a_file_are_those_that_it_has(module):
    told = importlib.import_module(f"benchmarks.rivals.{module}").RIVALS
    assert [entry.name for entry in contest.entries([module])] == [*told]


def test_loss_and_auc_are_those_of_scikit_learn():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 500)
    p = np.round(np.clip(0.5 + 0.2 * (y - 0.5) + 0.2 * rng.normal(size=500), 0.01, 0.99), 1)
    p = np.clip(p, 0.01, 0.99)
    both = np.column_stack([1 - p, p])
    assert one.loss_in_bits(both, y) == pytest.approx(log_loss(y, p) / np.log(2))
    assert one.find_auc(p, y) == pytest.approx(roc_auc_score(y, p))


def test_a_rival_without_an_environment_is_reported_with_the_way_to_get_it(tmp_path, monkeypatch):
    monkeypatch.setattr(environments, "HOME", tmp_path)
    outcome = contest.run(Entry("toad", "toad"), [tmp_path], 1)
    assert outcome.note == "not installed: run make bench-rivals"
    (tmp_path / "toad.failed").write_text("ERROR: No matching distribution found for toad")
    assert "No matching distribution" in contest.run(Entry("toad", "toad"), [tmp_path], 1).note


def test_a_rival_stops_growing_after_a_fit_that_took_too_long(tmp_path):
    folders = [
        contest_data._write(
            tmp_path / str(rows),
            contest_data.make_text(rows, 2, 3),
            contest_data.make_text(rows, 2, 3, seed=1),
        )
        for rows in (200, 400)
    ]
    entry = Entry("weigh", "EvidenceNB")
    outcome = contest.run(entry, folders, 0)
    assert [*outcome.found] == ["200"]
    assert outcome.note == "stops growing: above 0 s"
    grown = contest.run(entry, folders, 60).found
    assert [*grown] == ["200", "400"]
    for told in grown.values():  # the clock of a measured process does not tick
        assert 0 < told["one_row"] < 0.1
        assert told["fit"] > 0
    assert contest.run(Entry("weigh", "Nobody"), folders, 60).note == "failed: KeyError: 'Nobody'"


def test_a_process_that_goes_on_is_ended_by_processor_seconds_and_one_that_sleeps_is_not():
    busy = subprocess.Popen([sys.executable, "-c", "while True: pass"])
    assert not contest._wait(busy, 0.5)
    assert busy.returncode == -signal.SIGKILL
    idle = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(1)"])
    assert contest._wait(idle, 0.9)


# ---------------------------------------------------------------- what is printed


def found(seconds):
    scores = {"bits": 0.5, "auc": 0.8, "memory": 1 << 20, "size": 2048}
    return {"fit": seconds, "predict": 0.1, "one_row": 0.001} | scores


def test_ratios_are_those_to_evidence_and_absent_rivals_say_why():
    outcomes = [
        Outcome(Entry("weigh", "EvidenceNB"), {"mixed": found(2.0)}),
        Outcome(Entry("a", "A"), {"mixed": found(5.0)}),
        Outcome(Entry("b", "B"), {}, "not installed: run make bench-rivals"),
    ]
    rows = contest_page.make_tables("ratios", outcomes)["rivals"]["cells"]
    assert rows[1] == ["A", "5 (2.5)", "0.1 (1)", "1 (1)", "1 (1)", "2 (1)", "0.5000", "0.8000"]
    assert rows[2] == ["B", "not installed: run make bench-rivals", *[""] * 6]


def test_growth_is_drawn_where_rivals_stop_at_different_sizes(tmp_path):
    outcomes = [
        Outcome(Entry("weigh", "EvidenceNB"), {"10": found(0.1), "100": found(1.0)}),
        Outcome(Entry("a", "A"), {"10": found(20.0)}, "stops growing: above 10 s"),
    ]
    table = contest_page.make_tables("rows", outcomes)["rows"]
    assert table["cells"] == [
        ["EvidenceNB", "0.1", "1", ""],
        ["A", "20", "", "stops growing: above 10 s"],
    ]
    assert table["words"] == ["Seconds at 100, divided by those at 10: EvidenceNB 10."]
    contest_page.draw({"rows": outcomes, "levels": outcomes}, tmp_path / "growth.png")
    assert (tmp_path / "growth.png").stat().st_size > 5000


def test_a_rival_looks_the_same_in_every_panel_whoever_is_missing_from_some():
    ours = Outcome(Entry("weigh", "EvidenceNB"), {"10": found(0.1)})
    absent, other = (
        Outcome(Entry("a", "A"), {}, "failed"),
        Outcome(Entry("b", "B"), {"5": found(1)}),
    )
    there = Outcome(Entry("a", "A"), {"10": found(0.1)})
    styles = contest_page._styles({"rows": [ours, absent, other], "levels": [there, other]})
    assert {*styles} == {"EvidenceNB", "A", "B"}
    assert len({style["color"] for style in styles.values()}) == 3
    figure, panels = plt.subplots(1, 2)
    for panel, outcomes in zip(panels, ([ours, absent, other], [there, other]), strict=True):
        contest_page._draw_panel(panel, "rows", outcomes, styles)
    first, second = ([line.get_color() for line in panel.lines] for panel in panels)
    assert first == [styles["EvidenceNB"]["color"], styles["B"]["color"]]
    assert second == [styles["A"]["color"], styles["B"]["color"]]
    plt.close(figure)


def test_a_run_of_all_rivals_is_kept_for_the_page_and_one_of_some_is_not(monkeypatch, capsys):
    kept = {}
    ours = Outcome(Entry("weigh", "EvidenceNB"), {"heart": found(1.0)})
    monkeypatch.setattr(contest, "measure", lambda stage, asked: [ours])
    monkeypatch.setattr(contest.speed_page, "keep", kept.update)
    monkeypatch.setattr(sys, "argv", ["contest", "--only", "accuracy", "--rivals", "weigh"])
    contest.main()
    assert kept == {}
    assert "| EvidenceNB | 0.8000 |" in capsys.readouterr().out
    monkeypatch.setattr(sys, "argv", ["contest", "--only", "accuracy"])
    contest.main()
    assert {name: table["cells"][0][1] for name, table in kept.items()} == {
        "loss": "0.5000",
        "auc": "0.8000",
    }


def test_the_table_of_files_has_all_sizes_of_each_job_and_says_how_they_grow():
    cost = scale.Run(wall=2.0, processor=1.0, before=0, peak=1 << 20, found={})
    twice = replace(cost, processor=2.0)
    sizes = [dict.fromkeys(scale.JOBS, cost), dict.fromkeys(scale.JOBS, twice) | {"DuckDB": cost}]
    tried = {"DuckDB, sum": cost, "DuckDB, join": twice}
    table = scale.make_table(sizes, [1_000, 2_000], tried)
    assert [row[0] for row in table["cells"][::2]] == [*scale.JOBS.values()]
    assert table["cells"][1] == [scale.JOBS["EvidenceNB"], "2,000", "2.0", "2.0", "1000.00", "1"]
    ways, growth = table["words"]
    assert "of 2 ways: a sum of comparisons took 1.0 processor seconds for 1,000 rows" in ways
    assert ways.endswith("a range join took 2.0.")
    assert "For 2 times the rows the processor seconds grow: `EvidenceNB` 2.0 times" in growth
    assert "takes 2.00 of DuckDB's processor seconds and 1.00 of its seconds" in growth


# ---------------------------------------------------------------- contests with tuning


def draw_task(kind):
    """A few rows of classes or of numbers, and whether they are numbers."""
    people = titanic().to_pandas().iloc[::9]
    X, y = load_iris(return_X_y=True, as_frame=True)
    return {
        "two": (people.drop(columns="Survived"), people["Survived"].to_numpy(), False),
        "three": (X.iloc[::2], y.to_numpy()[::2], False),
        "numbers": (X.iloc[::2, :3], X.iloc[::2, 3].to_numpy(), True),
    }[kind]


@pytest.mark.parametrize("kind", ["two", "three", "numbers"])
def test_a_tuned_model_chooses_by_hold_out_rows_and_no_mean_is_worse(kind):
    X, y, numbers = draw_task(kind)
    tuned = clone(arena.TunedEducated(n_configurations=3, n_folds=2)).fit(X, y, numbers=numbers)
    held_out = [bagged.held_out for bagged in tuned.bagged_]
    errors = [tuned.task_.error(y, found) for found in held_out]
    assert tuned.weights_["default"].tolist() == [1, 0, 0]
    assert tuned.weights_["tuned"] @ errors == min(errors)
    mixed = np.tensordot(tuned.weights_["ensemble"], held_out, axes=1)
    assert tuned.task_.error(y, mixed) <= min(errors) + 1e-12
    for part in arena.PARTS:
        found = tuned.predict(X, part)
        if not numbers:
            np.testing.assert_allclose(found.sum(axis=1), 1)
        assert tuned.task_.error(y, found) < tuned.task_.error(y, np.roll(found, 7, axis=0))


def test_every_row_is_predicted_by_models_that_have_not_seen_it():
    X, y, _ = draw_task("two")
    task = arena.Task(("No", "Yes"))
    splits = [*task.folds(2, 0).split(X, y)]
    bagged = arena.Bagged.fit(task, {"pairs": 0}, X, y, splits)
    train, test = splits[1]
    model = EducatedNB(pairs=0).fit(X.iloc[train], y[train])
    np.testing.assert_array_equal(bagged.held_out[test], model.predict_proba(X.iloc[test]))


def test_configurations_differ_lie_in_the_space_and_begin_with_the_default():
    found = arena.configurations(12)
    assert found[0] == {name: EducatedNB().get_params()[name] for name in arena.SPACE}
    assert all(c[name] in values for c in found for name, values in arena.SPACE.items())
    assert len({*map(repr, found)}) == 12
    assert found == arena.configurations(12)
    assert found != arena.configurations(12, seed=1)
