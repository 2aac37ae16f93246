"""docs/benchmarks.md shows what benchmarks/results/speed.json holds, and nothing else in tables."""

import json
import re

import pytest
from benchmarks import clock, speed, speed_page
from benchmarks.clock import Cost
from benchmarks.speed_page import BLOCK, PAGE, RESULTS, render, write

RESULT = json.loads(RESULTS.read_text("utf-8"))


def test_the_page_is_written_from_the_results():
    page = PAGE.read_text("utf-8")
    assert write(page, RESULT) == page, "run python -m benchmarks.speed_page"


def test_every_table_of_the_page_is_in_the_results_and_every_result_on_the_page():
    page = PAGE.read_text("utf-8")
    assert "\n|" not in BLOCK.sub("", page)
    assert {found[2] for found in BLOCK.finditer(page)} == {*RESULT}


@pytest.mark.parametrize("name", RESULT)
def test_a_result_has_a_command_that_makes_it_and_a_date(name):
    run = RESULT[name]["run"]
    assert re.fullmatch(r"20\d\d-\d\d-\d\d", run["date"])
    others = "make bench-scale", "python -m benchmarks.contest", "python -m benchmarks.rivals.spark"
    assert run["command"] in (f"python -m benchmarks.speed {name}", *others)
    assert (name in speed.TABLES) == run["command"].startswith("python -m benchmarks.speed ")
    assert run["command"] in render(RESULT[name])


def test_a_changed_figure_changes_the_page():
    table = json.loads(json.dumps(RESULT["codes"]))
    before = render(table)
    table["lines"][0]["weigh"]["processor"] *= 1.1
    assert render(table) != before


def test_a_line_shows_processor_time_and_both_ratios():
    line = clock.Line("fit", Cost(3.0, 2.0), Cost(0.01, 0.02))
    run = {"command": "c", "date": "2026-01-01", "machine": "m"}
    shown = render({"run": run, "lines": speed_page.lines_of([line])})
    assert "| fit | 2,000 | 20 | 100 | 300 |" in shown


def test_what_was_not_measured_is_a_dash_and_words_stand_below_the_table():
    run = {"command": "c", "date": "2026-01-01", "machine": "m"}
    table = {"run": run, "head": ["what", "s", ""], "cells": [["a", "", ""]], "words": ["So."]}
    lines = [line for line in render(table).splitlines() if line]
    assert lines == ["| what | s |  |", "| --- | --- | --- |", "| a | – |  |", "So.", lines[-1]]


def test_the_page_has_no_measured_figure_outside_the_tables():
    page = BLOCK.sub("", PAGE.read_text("utf-8"))
    assert re.findall(r"\d[\d.]* (?:times|ms|seconds|processor seconds)\b", page) == []


def test_small_tables_are_measured_and_kept_beside_the_others(tmp_path, monkeypatch, capsys):
    page, results = tmp_path / "page.md", tmp_path / "speed.json"
    page.write_text(PAGE.read_text("utf-8"), "utf-8")
    results.write_text(RESULTS.read_text("utf-8"), "utf-8")
    monkeypatch.setattr(speed_page, "PAGE", page)
    monkeypatch.setattr(speed_page, "RESULTS", results)
    monkeypatch.setattr(speed, "CODES", (500, 3))
    monkeypatch.setattr("sys.argv", ["speed", "codes"])
    speed.main()
    found = json.loads(results.read_text("utf-8"))
    assert [line["what"] for line in found["codes"]["lines"][:2]] == ["fit", "predict_proba"]
    assert {name: table for name, table in found.items() if name != "codes"} == {
        name: table for name, table in RESULT.items() if name != "codes"
    }
    assert page.read_text("utf-8") == write(PAGE.read_text("utf-8"), found)


def test_a_table_that_does_not_exist_is_refused_by_name(monkeypatch):
    monkeypatch.setattr("sys.argv", ["speed", "code"])
    with pytest.raises(SystemExit, match="no table is named code; there are codes, text"):
        speed.main()
