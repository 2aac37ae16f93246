"""A card goes wherever a model goes: sheets, pages, drift and the service show its points."""

import html
import json
import re

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner
from tests.serving import ask

import weigh
from weigh import Scorecard
from weigh.cli import main
from weigh.scorecard.reasons import Letter
from weigh.screening import find_alike
from weigh.serving import make_app

PEOPLE = weigh.datasets.titanic()
MODEL = weigh.EvidenceNB().fit(PEOPLE, "Survived")
ROWS = [
    {"Class": a, "Sex": b, "Age": c}
    for a in ("1st", "2nd", "3rd", "Crew", None, "none such")
    for b in ("Female", "Male", None)
    for c in ("Child", "Adult")
]


@pytest.fixture(scope="module", params=["Yes", "No"])
def card(request):
    return Scorecard(MODEL, pos_label=request.param, base_score=500, base_odds=2)


def test_the_model_of_a_card_gives_its_probabilities_and_its_scores(card):
    model = card.as_model()
    found = model.predict_proba(ROWS)
    assert found == pytest.approx(card.predict_proba(ROWS), abs=1e-12)
    units = model.evidence_.units
    assert [units.total(t) for t in model.decision_function(ROWS)] == card.score(ROWS).tolist()


def test_a_card_has_one_order_of_classes_the_class_that_high_scores_favour_last(card, tmp_path):
    order = [card.adverse, card.pos_label]
    weigh.save(card, tmp_path / "card.json")
    for one in (card, card.as_model(), weigh.load(tmp_path / "card.json")):
        assert one.classes_.tolist() == one.evidence_.classes.tolist() == order
    assert list(card.formula().classes) == order
    found, scores = card.predict_proba(ROWS), card.score(ROWS)
    assert found[:, 1] == pytest.approx(card.probability(scores), abs=1e-12)
    assert card.predict(ROWS).tolist() == [order[int(p > 0.5)] for p in found[:, 1]]
    scored = weigh.score_table(card, ROWS)
    for name, column in zip(order, found.T, strict=True):
        assert scored[f"probability_{name}"].to_pylist() == pytest.approx(column.tolist())


def test_exported_probabilities_of_a_card_stand_in_the_order_of_its_classes(card):
    runtime = pytest.importorskip("onnxruntime")
    rows = [row for row in ROWS if None not in row.values()]
    session = runtime.InferenceSession(weigh.export(card, "onnx"))
    columns = {n: np.array([[r[n]] for r in rows], dtype=object) for n in rows[0]}
    found = dict(
        zip([o.name for o in session.get_outputs()], session.run(None, columns), strict=True)
    )
    np.testing.assert_allclose(found["probabilities"], card.predict_proba(rows), atol=1e-5)
    space = {}
    exec(weigh.export(card, "python"), space)
    own = [space["score"](row)["probabilities"] for row in rows]
    np.testing.assert_allclose(own, card.predict_proba(rows), atol=1e-9)


@pytest.mark.parametrize("of", [None, "Yes", "No"])
def test_the_points_of_a_sheet_add_up_to_the_score(card, of):
    for row, score in zip(ROWS, card.score(ROWS), strict=True):
        sheet = card.balance_sheet(row, of)
        told = sheet.to_dict()
        assert told["base_points"] + sum(told["points"]) == told["score"] == score
        of_class = card.classes_.tolist().index(of or card.pos_label)
        assert sheet.probability == pytest.approx(card.predict_proba([row])[0, of_class], abs=1e-12)
        assert str(score) in sheet.to_text()
        assert str(score) in sheet._repr_html_()


def print_score(card, row):
    """Add up what a card prints, by hand."""
    frame = pd.DataFrame(card.to_frame().to_pydict())
    printed, shift = 0, 0
    for name, own in frame.groupby("feature"):
        points = dict(zip(own["level"], own["points"], strict=True))
        shift += points.get("not known", 0)
        printed += points.get(str(row[name]), points.get("not known", 0))
    return card.base_points - shift + printed


@pytest.mark.parametrize("base", ["separate", "spread", "lowest"])
def test_printed_points_give_the_same_score_wherever_the_base_points_stand(card, base):
    own = Scorecard(MODEL, pos_label=card.pos_label, base_score=500, base_odds=2, base=base)
    scores = [print_score(own, row) for row in ROWS]
    assert scores == own.score(ROWS).tolist() == card.score(ROWS).tolist()
    if base == "lowest":
        assert min(own.to_frame()["points"].to_pylist()) == 0


def test_base_points_that_are_spread_leave_no_line_of_their_own(card):
    own = Scorecard(MODEL, pos_label=card.pos_label, base="spread")
    assert "Base" in card.to_text()
    assert "Base" not in own.to_text()


def test_woe_is_turned_round_and_iv_is_not(card):
    turned = Scorecard(MODEL, pos_label=card.pos_label, woe="bad").to_frame()
    kept = card.to_frame()
    assert turned["woe"].to_pylist() == pytest.approx([-w for w in kept["woe"].to_pylist()])
    assert turned["iv"].to_pylist() == pytest.approx(kept["iv"].to_pylist())


@pytest.mark.parametrize("choice", [{"base": "apart"}, {"woe": "neither"}])
def test_choices_that_there_are_not_are_refused(choice):
    with pytest.raises(ValueError, match=next(iter(choice))):
        Scorecard(MODEL, **choice)


# ---------------------------------------------------------------- pages, drift, service


def test_the_calculator_of_a_card_reads_points(card):
    page = weigh.calculator(card)
    data = json.loads(re.search(r'<script type="?application/json"?[^>]*>(.*?)</script>', page)[1])
    assert data["units"]["points"]
    assert data["classTexts"][data["of"]] == card.pos_label
    start, scale = data["units"]["start"], data["units"]["scale"]
    sign = 1 if data["of"] else -1
    assert round(start + scale * sign * data["prior"][0]) == card.base_points
    assert "times 100" not in re.search(r"<noscript>(.*)</noscript>", page, re.S)[1]


def test_the_report_of_a_card_prints_its_levels_and_its_cut_offs(card):
    page = weigh.report(card, PEOPLE, "Survived")
    for title in ("Scorecard: 500 points", "Cut-off table by score band"):
        assert title in page
    assert "Score<td>" in page
    assert "Total weight of evidence" not in page
    assert "EvidenceModel" not in page
    found = weigh.evaluate(card, PEOPLE, "Survived")
    assert "Scorecard: 500 points" in weigh.report(card, evaluation=found)


def test_the_report_of_a_card_prints_profit_and_approval_by_group_where_asked(card):
    profit = {card.pos_label: 10, card.adverse: -30}
    best = card.bands(PEOPLE, "Survived", profit=profit).best.words
    for by in ("Sex", ["Class", "Sex"], PEOPLE["Sex"]):
        page = weigh.report(card, PEOPLE, "Survived", by=by, cut_off=500, profit=profit)
        found = card.impact(PEOPLE, by, 500)
        shares = [f"{group.ratio:.2f}" for group in found.groups]
        for text in (best, found.view().title, *(group.group for group in found.groups), *shares):
            assert html.escape(text) in page


@pytest.mark.parametrize("pos_label", [None, 0, 1])
def test_a_profit_leads_the_report_and_sets_the_costs_of_its_decisions(card, pos_label, tmp_path):
    """An approved bad loses 300, a declined good forgoes 100: the cut-off for bads is 0.25."""
    label = None if pos_label is None else card.classes_[pos_label]
    p, costs = (0.75, (300, 100)) if pos_label == 1 else (0.25, (100, 300))
    profit = {"good": 100, "bad": -300}
    best = card.bands(PEOPLE, "Survived", profit=profit).best.words
    page = weigh.report(card, PEOPLE, "Survived", profit=profit, pos_label=label)
    decision = f"(a false positive costs {costs[0]}, a false negative {costs[1]})"
    assert page.index(html.escape(best)) < page.index(decision)
    assert f"Cut-off {p:g} for" in page
    weigh.save(card, tmp_path / "card.json")
    pq.write_table(PEOPLE, tmp_path / "people.parquet")
    words = ["evaluate", tmp_path / "card.json", tmp_path / "people.parquet", "--target"]
    words += ["Survived", "--profit", "100", "-300"]
    words += [] if label is None else ["--pos-label", label]
    done = CliRunner().invoke(main, [*map(str, words)], catch_exceptions=False)
    text = " ".join(done.stdout.split())
    assert text.startswith("Scorecard: probability of")
    assert text.index(best) < text.index("Loss:")
    assert decision in text


def test_costs_of_one_and_one_are_used_beside_a_profit(card, tmp_path):
    """They equal the default, and are asked for."""
    decision, profit = "(a false positive costs 1, a false negative 1)", {"good": 100, "bad": -300}
    assert decision in weigh.report(card, PEOPLE, "Survived", profit=profit, costs=(1, 1))
    weigh.save(card, tmp_path / "card.json")
    pq.write_table(PEOPLE, tmp_path / "people.parquet")
    words = ["evaluate", str(tmp_path / "card.json"), str(tmp_path / "people.parquet")]
    words += ["--target", "Survived", "--profit", "100", "-300", "--cost", "1", "1"]
    done = CliRunner().invoke(main, words, catch_exceptions=False)
    assert decision in " ".join(done.stdout.split())


@pytest.mark.parametrize("asked", [{"profit": {"Yes": 1, "No": -1}}, {"cut_off": 500}])
def test_profit_and_cut_off_of_a_report_need_a_card_with_rows_and_groups(card, asked):
    (name,) = asked
    model = weigh.EvidenceNB().fit(PEOPLE, "Survived")
    with pytest.raises(ValueError, match=name):
        weigh.report(model, PEOPLE, "Survived", **asked)
    with pytest.raises(ValueError, match=name):
        weigh.report(card, evaluation=weigh.evaluate(card, PEOPLE, "Survived"), **asked)
    if name == "cut_off":
        with pytest.raises(ValueError, match="by"):
            weigh.report(card, PEOPLE, "Survived", **asked)


def test_points_of_a_card_are_about_the_good_class_and_measures_about_the_bad_one(card):
    good = card.pos_label
    found = weigh.evaluate(card, PEOPLE, "Survived")
    positive = [label == card.adverse for label in PEOPLE["Survived"].to_pylist()]
    area = weigh.metrics.auc(positive, 1 - card.probability(card.score(PEOPLE))).value
    assert (found.pos_label, found.validation.auc.value) == (card.adverse, pytest.approx(area))
    drifted = weigh.drift(card, PEOPLE, "Survived")
    assert drifted.level == "none"
    assert [q.pos_label for q in drifted.quality] == [good]
    assert card.balance_sheet(ROWS[0]).pos_label == good
    assert f"probability of {card.adverse} against" in weigh.report(card, PEOPLE, "Survived")
    scored = weigh.score_table(card, ROWS)
    odds = np.array(scored["log_odds"].to_pylist())
    np.testing.assert_allclose(odds, (card.score(ROWS) - card.scale.even) / card.scale.per_nat)


def test_a_challenge_of_models_about_different_classes_is_about_the_old_ones():
    card = Scorecard(MODEL)
    for pair, own in (((card, MODEL), "No"), ((MODEL, card), "Yes")):
        assert weigh.challenge(*pair, PEOPLE, "Survived").pos_label == own
        assert weigh.challenge(*pair, PEOPLE, "Survived", pos_label="No").pos_label == "No"


def test_drift_of_a_card_is_that_of_its_model(card):
    men = [{"Class": "3rd", "Sex": "Male", "Age": "Adult"}] * 300
    found, known = weigh.drift(card, men), weigh.drift(MODEL, men)
    assert found.model == "Scorecard"
    indexes = [{f.name: f.stability.value for f in drift.features} for drift in (found, known)]
    assert indexes[0] == pytest.approx(indexes[1])


def test_the_service_answers_with_scores(card, tmp_path):
    path = tmp_path / "card.json"
    weigh.save(card, path)
    app = make_app(path)
    row = {"Class": "3rd", "Sex": "Female", "Age": "Child"}
    answer = ask(app, "POST", "/score", row).json
    assert answer["score"] == card.score([row])[0]
    assert ask(app, "POST", "/explain", row).json["score"] == answer["score"]
    assert ask(app, "GET", "/model").json["format"] == "weigh-scorecard"


# ---------------------------------------------------------------- files and commands


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    place = tmp_path_factory.mktemp("cards")
    pd.DataFrame(PEOPLE.to_pydict()).to_csv(place / "people.csv", index=False)
    done = run("scorecard", place / "people.csv", "--target", "Survived", "--adverse", "No",
               "--base", "lowest", "--woe", "bad", "-o", place / "card.json")  # fmt: skip
    assert done.exit_code == 0, done.output
    return place


def run(*words):
    return CliRunner().invoke(main, [*map(str, words)], env={"COLUMNS": "100"})


def test_the_file_of_a_card_says_where_it_comes_from_and_how_it_is_printed(folder):
    card = weigh.load(folder / "card.json")
    assert (card.base, card.woe) == ("lowest", "bad")
    assert (card.provenance_.source, card.provenance_.target) == ("people.csv", "Survived")
    about = run("show", folder / "card.json", "--about")
    assert "people.csv" in about.output
    assert "lowest" in about.output


@pytest.mark.parametrize(
    "words",
    [
        ("explain", "card.json", "people.csv", "--row", "3"),
        ("explain", "card.json", "people.csv", "--row", "3", "--json"),
        ("score", "card.json", "people.csv"),
        ("drift", "card.json", "people.csv", "--target", "Survived"),
        ("calculator", "card.json", "-o", "calculator.html"),
        ("report", "card.json", "people.csv", "--target", "Survived", "-o", "report.html"),
        ("export", "card.json", "--to", "xlsx", "-o", "card.xlsx"),
    ],
)
def test_commands_take_a_card_in_place_of_a_model(folder, words):
    files = [folder / word if "." in word else word for word in words]
    done = run(*files)
    assert done.exit_code == 0, done.output


@pytest.fixture(scope="module")
def loans(folder):
    rng = np.random.default_rng(0)
    x = rng.uniform(0, 10, 600)
    status = np.where(rng.random(600) < x / 10, "bad", "good")
    rows = pd.DataFrame({"x": x, "z": rng.normal(size=600), "status": status})
    rows.to_csv(folder / "loans.csv", index=False)
    return folder / "loans.csv"


def test_cut_points_and_trends_of_points_are_options_of_the_command(folder, loans):
    done = run("scorecard", loans, "--target", "status", "--adverse", "bad",
               "--bins", "x", "2,5", "--monotone", "z", "up", "-o", folder / "z.json")  # fmt: skip
    assert done.exit_code == 0, done.output
    card = weigh.load(folder / "z.json")
    assert card.evidence["x"].feature.cuts == (2.0, 5.0)
    assert (np.diff(card.points["z"]) >= 0).all()


def test_the_command_names_columns_that_nearly_repeat_each_other(folder):
    rng = np.random.default_rng(0)
    town = rng.choice([*"abc"], 300)
    same = np.where(rng.random(300) < 0.01, "x", np.char.upper(town))
    status = np.where(rng.random(300) < np.where(town == "a", 0.7, 0.3), "bad", "good")
    rows = pd.DataFrame({"town": town, "same": same, "z": rng.normal(size=300), "status": status})
    rows.to_csv(folder / "alike.csv", index=False)
    done = run("scorecard", folder / "alike.csv", "--target", "status", "--adverse", "bad",
               "-o", folder / "alike.json")  # fmt: skip
    assert done.exit_code == 0, done.output
    assert done.stderr.count("--drop") == 1
    assert "--drop same" in done.stderr
    card = weigh.load(folder / "alike.json")
    ((*names, r),) = find_alike(card._source, rows)
    scores = rows[names].apply(lambda column: woe_of(column, rows["status"]))
    assert names == ["town", "same"]
    assert r == pytest.approx(scores.corr().iloc[0, 1], abs=0.02)  # rare levels are joined


@pytest.mark.parametrize("share", [0.1, 0.4])
def test_the_command_says_how_many_rows_share_the_level_other(folder, share):
    rng = np.random.default_rng(0)
    town = np.where(rng.random(900) < share, rng.choice([*"defghijklmnop"], 900), "a")
    town[:200] = "b"
    y = np.where(rng.random(900) < 0.4, "bad", "good")
    pd.DataFrame({"town": town, "y": y}).to_csv(folder / "towns.csv", index=False)
    words = ("--target", "y", "--adverse", "bad", "-o", folder / "towns.json")
    done = run("scorecard", folder / "towns.csv", *words)
    table = weigh.load(folder / "towns.json").evidence["town"]
    other = table.counts.sum(axis=1)[table.labels.index("other")] / 900
    told = f"note: 13 categories of 'town' share the level other, whatever their risk: {other:.0%}"
    assert (told in done.stderr) == (share == 0.4)
    assert ("hint: --bins town optimal joins" in done.stderr) == (share == 0.4)
    assert ("; --groups town '" in done.stderr) == (share == 0.4)


def test_the_command_joins_categories_of_similar_risk_where_levels_are_to_be_optimal(folder):
    rng = np.random.default_rng(1)
    town, age = rng.choice([*"abcdefghijklmnop"], 3000), rng.integers(20, 60, 3000)
    risk = 0.1 + 0.6 * (np.char.mod("%s", town) > "h") + 0.1 * (age < 30)
    rows = pd.DataFrame({"town": town, "age": age})
    rows["y"] = np.where(rng.random(3000) < risk, "bad", "good")
    rows.to_csv(folder / "optimal.csv", index=False)
    words = ("--target", "y", "--adverse", "bad", "-o", folder / "optimal.json")
    levels = ("--bins", "town", "optimal", "--bins", "age", "30,50", "--levels", 3)
    run("scorecard", folder / "optimal.csv", *words, *levels)
    bins = {"town": weigh.Binning(max_levels=3), "age": [30, 50]}
    card = weigh.Scorecard.from_table(rows, "y", adverse="bad", levels=3, bins=bins)
    assert weigh.load(folder / "optimal.json").points == card.points
    towns = card.evidence["town"]
    rates = towns.counts[:, 0] / towns.counts.sum(axis=1)
    assert len(rates) <= 3
    assert np.ptp(rates) > 0.5
    assert "other" not in towns.labels


def woe_of(column, status):
    """The literal version: ln of the two shares of each level."""
    shares = pd.crosstab(column, status, normalize="columns") + 1e-9
    return column.map(np.log(shares["good"] / shares["bad"]).clip(-3, 3))


def test_a_column_whose_levels_two_options_give_is_refused(folder, loans):
    (folder / "breaks.json").write_text(json.dumps({"x": ["2", "5"], "z": ["0"]}))
    made = ("scorecard", loans, "--target", "status", "--adverse", "bad")
    given = ("--read-bins", folder / "breaks.json")
    for odd in ((*given, "--bins", "x", "3"), ("--bins", "x", "3", "--bins", "x", "4"),
                (*given, "--groups", "z", "1,2")):  # fmt: skip
        done = run(*made, *odd, "-o", folder / "none.json")
        assert done.exit_code == 2
        assert f"column {'z' if '--groups' in odd else 'x'}" in done.output
    (folder / "breaks.json").write_text(json.dumps({"z": ["0"]}))
    done = run(*made, *given, "--bins", "x", "3", "-o", folder / "both.json")
    assert done.exit_code == 0, done.output
    card = weigh.load(folder / "both.json")
    assert card.evidence["x"].feature.cuts == (3.0,)
    assert card.evidence["z"].labels == ("< 0.0", ">= 0.0")  # as the other libraries close them


@pytest.mark.parametrize("odd", [("--bins", "x", "two"), ("--monotone", "x", "sideways")])
def test_odd_cut_points_and_trends_are_refused(folder, odd):
    done = run("scorecard", folder / "people.csv", "--target", "Survived", "--adverse", "No",
               *odd, "-o", folder / "none.json")  # fmt: skip
    assert done.exit_code == 2
    assert "x" in done.output
    assert not (folder / "none.json").exists()


def test_neighbouring_intervals_of_a_fitted_card_have_different_points():
    rng = np.random.default_rng(1)
    table = pd.DataFrame({"x": rng.normal(size=500), "z": rng.normal(size=500)})
    y = rng.random(500) < 1 / (1 + np.exp(-table["x"]))
    card = Scorecard.from_table(table, y, points_to_double=3)
    for name, points in card.points.items():
        assert np.diff(points[: len(card.evidence[name].feature.cuts) + 1]).all()
        assert card.evidence[name].counts.sum() == 500


def test_the_workbook_of_a_card_has_counts_and_formulas_beside_its_points(card):
    import io

    import openpyxl

    book = openpyxl.load_workbook(io.BytesIO(weigh.export(card, "xlsx")))
    sheet = book["Points"]
    heads = [cell.value for cell in sheet[1]]
    assert heads == [
        "Feature", "Level", "Points", "Rows", "Share", "Bads", "Bad rate", "WoE", "IV"
    ]  # fmt: skip
    frame = card.to_frame().to_pydict()
    rows = [row for row in sheet.iter_rows(min_row=3, values_only=True) if row[3] is not None]
    assert [row[2] for row in rows] == frame["points"]
    assert [row[3] for row in rows] == frame["rows"]
    assert [row[5] for row in rows] == frame["bads"]
    assert all(str(row[7]).startswith("=") for row in rows)


# ---------------------------------------------------------------- levers and letters


def test_a_letter_names_what_cost_most_points_and_what_would_reach_the_cut_off():
    card = Scorecard(MODEL, texts={"Sex": "Men <last>"})
    row = {"Class": "Crew", "Sex": "Male", "Age": "Adult"}
    score = int(card.score([row])[0])
    made = card.letter(row, score + 20, may_change=["Class"], recipient="A & B")
    assert made.reasons[0] == "Men <last>"
    assert made.score == score
    assert len(made.changes) == 1
    assert "1st" in made.changes[0]
    assert made.reasons[0] in made.to_text()
    assert "A &amp; B" in made.to_html()
    assert "Men &lt;last&gt;" in made.to_html()
    with pytest.raises(ValueError, match="cut-off"):
        card.letter(row, score)


def test_an_address_of_several_lines_has_them_on_the_page():
    letter = Letter(500, 600, ("age",), sender="A & B\n1 High Street", closing=("Yours\nC",))
    page = letter.to_html()
    assert "<p>A &amp; B<br>1 High Street</p>" in page
    assert "<p>Yours<br>C</p>" in page
    assert "A & B\n1 High Street\n" in letter.to_text()


def test_a_reason_says_that_an_answer_is_not_known_unless_it_has_a_text(tmp_path):
    card = Scorecard(MODEL, texts={"Sex": "Men came last", "Class": "Far from the boats"})
    blank = {"Age": "Adult"}
    told = card.reasons([blank], n=2).to_pylist()[0]
    assert [told["reason_1"], told["reason_2"]] == ["Sex is not known", "Class is not known"]
    card = card.with_texts(level_texts={"Sex": {"not known": "You did not give your sex"}})
    weigh.save(card, tmp_path / "card.json")
    assert weigh.load(tmp_path / "card.json").letter(blank, 900).reasons[0] == (
        "You did not give your sex"
    )


def test_a_letter_says_that_no_answer_evidence_against_the_best_case():
    card = Scorecard(MODEL)
    best = {"Class": "1st", "Sex": "Female", "Age": "Child"}
    for case, wanted in (
        (best, "No single answer lowered the score: each is at its best level."),
        ({**best, "Sex": "Male"}, "This is the main reason:"),
        ({**best, "Sex": "Male", "Class": "3rd"}, "These are the main reasons"),
    ):
        letter = card.letter(case, 2000)
        for text in (letter.to_text(), letter.to_html()):
            assert wanted in text
    assert "<ol>" not in card.letter(best, 2000).to_html()


def test_the_letter_command_says_that_no_change_reaches_the_cut_off(folder):
    files = (folder / "card.json", folder / "people.csv", "--row", 2000)
    done = run("letter", *files, "--cut-off", 100_000, "--may-change", "Age")
    assert done.exit_code == 0, done.output
    assert "no change of 'Age'" in done.stderr
    assert done.stdout == run("letter", *files, "--cut-off", 100_000).stdout


def test_commands_list_levers_and_write_letters(folder):
    files = (folder / "card.json", folder / "people.csv", "--row", 2000)
    card = weigh.load(folder / "card.json")
    row = pd.DataFrame(PEOPLE.to_pydict()).iloc[2000].to_dict()
    target = int(card.score([row])[0]) + 10
    changes = ("--may-change", "Class", "--may-change", "Age", "--cut-off", target)
    listed = run("levers", *files, *changes, "--json")
    assert listed.exit_code == 0, listed.output
    known = weigh.levers(card, row, ["Class", "Age"], cut_off=target)
    assert json.loads(listed.output)["levers"][0]["cost"] == known[0].cost
    for name in ("letter.html", "letter.txt"):
        done = run("letter", *files, *changes, "-o", folder / name)
        assert done.exit_code == 0, done.output
        assert str(target) in (folder / name).read_text()
        assert "no change" not in done.stderr
    refused = run("levers", *files)
    assert refused.exit_code == 2
    assert "--may-change" in refused.output


TEXTS = {
    "texts": {"Sex": "Men came last"},
    "level_texts": {"Class": {"Crew": "The crew had to stay"}},
    "letter": {"sender": "White Star Line", "closing": ["Yours faithfully", "B. Ismay"]},
}


def test_a_file_of_texts_words_the_card_and_the_letter(folder):
    path = folder / "texts.json"
    path.write_text(json.dumps(TEXTS))
    row = pd.DataFrame(PEOPLE.to_pydict()).query("Class == 'Crew' and Sex == 'Male'").index[0]
    case = ("--row", row, "--cut-off", 900)
    told = run("letter", folder / "card.json", folder / "people.csv", *case, "--texts", path)
    assert told.exit_code == 0, told.output
    card = weigh.load(folder / "card.json").with_texts(TEXTS["texts"], TEXTS["level_texts"])
    person = pd.DataFrame(PEOPLE.to_pydict()).iloc[row].to_dict()
    parts = TEXTS["letter"] | {"closing": tuple(TEXTS["letter"]["closing"])}
    assert told.stdout == card.letter(person, 900, **parts).to_text()
    assert "names of columns" not in told.stderr
    bare = run("letter", folder / "card.json", folder / "people.csv", *case)
    assert "the reasons 'Sex', 'Class' are names of columns" in bare.stderr
    assert {"Men came last", "The crew had to stay"} <= {*card.letter(person, 900).reasons}
    made = run("scorecard", folder / "people.csv", "--target", "Survived", "--adverse", "No",
               "--texts", path, "-o", folder / "worded.json")  # fmt: skip
    assert made.exit_code == 0, made.output
    assert weigh.load(folder / "worded.json").texts["Sex"] == "Men came last"


def test_texts_that_are_not_named_stay_as_they_were():
    card = Scorecard(MODEL, texts={"Sex": "a"}, level_texts={"Class": {"Crew": "b", "1st": "c"}})
    changed = card.with_texts({"Age": "d"}, {"Class": {"1st": "e"}})
    assert changed.texts == {"Class": "Class", "Sex": "a", "Age": "d"}
    assert changed.level_texts == {"Class": {"Crew": "b", "1st": "e"}}
    assert card.texts["Age"] == "Age"


@pytest.mark.parametrize(
    "odd",
    [[], {"text": {}}, {"texts": [1]}, {"level_texts": 1}, {"texts": {"Sax": "x"}},
     {"letter": {"sender": 3}}, {"letter": {"closing": "x"}},
     {"level_texts": {"Class": {"4th": "x"}}}],
)  # fmt: skip
def test_odd_files_of_texts_are_refused(folder, odd):
    (folder / "odd.json").write_text(json.dumps(odd))
    case = (folder / "card.json", folder / "people.csv", "--cut-off", 900)
    done = run("letter", *case, "--texts", folder / "odd.json")
    assert done.exit_code == 1
    assert isinstance(done.exception, SystemExit)  # an error message, no traceback
    assert "text" in done.output or "letter" in done.output or "4th" in done.output


def test_a_part_of_the_letter_outside_its_object_is_sent_there(folder):
    (folder / "odd.json").write_text(json.dumps({"sender": "White Star Line"}))
    case = (folder / "card.json", folder / "people.csv", "--cut-off", 900)
    done = run("letter", *case, "--texts", folder / "odd.json")
    assert "put sender into the object letter" in done.output


def test_a_misspelt_key_of_a_file_of_texts_is_named_beside_the_keys_there_are(folder):
    (folder / "odd.json").write_text(json.dumps({"level_text": {}}))
    case = (folder / "card.json", folder / "people.csv", "--cut-off", 900)
    done = run("letter", *case, "--texts", folder / "odd.json")
    assert done.exit_code == 1
    assert all(name in done.output for name in ("'level_text'", "level_texts", "letter"))


@pytest.mark.parametrize("parameter", ["texts", "level_texts"])
def test_texts_that_are_no_dict_are_refused_by_name(parameter):
    model = weigh.EvidenceNB().fit(weigh.datasets.titanic(), "Survived")
    card = Scorecard(model)
    for make in (card.with_texts, lambda **given: Scorecard(model, **given)):
        with pytest.raises(ValueError, match=parameter):
            make(**{parameter: [1]})
