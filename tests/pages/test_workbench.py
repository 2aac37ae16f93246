"""The editor in the browser: its numbers, its draft, who may reach it, and the page itself."""

import asyncio
import csv
import os
import re
import signal
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from numpy.testing import assert_allclose
from tests.serving import call

import weigh
from weigh.cli import main
from weigh.evidence import Change
from weigh.exports.selftest import check
from weigh.workbench import Session, make_editor
from weigh.workbench.session import _line

TOKEN = "secret"
BINS = {"age": [30.0, 40.0, 50.0, 60.0], "noise": [0.0]}
MERGE = "merge", {"feature": "age", "levels": ["(30.0, 40.0]", "(40.0, 50.0]"]}
CHANGES = [
    MERGE,
    ("tie", {"feature": "town", "levels": ["a", "b"]}),
    ("set", {"feature": "town", "level": "c", "weight": 0.4}),
    ("move_cut", {"feature": "age", "cut": 40.0, "to": 42.0}),
    ("monotone", {"feature": "age", "direction": -1}),
    ("scale", {"feature": "age", "factor": 0.5}),
    ("freeze", {"feature": "age"}),
    ("add_pair", {"first": "town", "second": "noise"}),
    ("rename", {"feature": "age", "name": "Age", "levels": {"> 60.0": "old"}}),
    ("drop", {"feature": "noise"}),
]


def draw(n=500, seed=0):
    rng = np.random.default_rng(seed)
    X = pd.DataFrame({"age": rng.normal(45, 12, n), "town": rng.choice([*"abcd"], n)})
    X["noise"] = rng.normal(size=n)
    X["y"] = rng.random(n) < 1 / (1 + np.exp(-(X.age - 45) / 8 - (X.town == "a")))
    X["group"] = rng.choice(["young <b>", "old"], n)
    X["w"] = rng.integers(1, 4, n).astype(float)
    return X


def fit(learner=None):
    learner = weigh.EducatedNB(bins=BINS, pairs=[("age", "town")]) if learner is None else learner
    return learner.fit(draw()[["age", "town", "noise", "y"]], "y")


LEARNERS = {
    "educated": lambda: fit(),
    "counted": lambda: fit(weigh.EvidenceNB(bins=BINS)),
    "attenuated": lambda: fit(weigh.PerplexedNB(bins=BINS, random_state=0)),
    "recalibrated": lambda: fit(
        weigh.RecalibratedClassifier(weigh.EvidenceNB(bins=BINS), random_state=0)
    ),
}


@pytest.fixture(scope="module")
def model():
    return fit()


def sit(model, path, rows=None, **options):
    rows = draw(seed=1) if rows is None else rows
    return Session(weigh.edit(model, rows, "y", who="ada"), rows, path, **options)


def agree(effects, model, rows, cut_off, by="group"):
    """The numbers of the page are those of `evaluate` and of the model's own predictions."""
    found = weigh.evaluate(model, rows, "y", by=by, cut_off=cut_off)
    own = found.validation
    p = model.predict_proba(rows)[:, 1]
    wanted = [own.loss.value, own.auc.value, own.base_rate.value, p.mean(), (p > cut_off).mean()]
    names = ("loss", "auc", "observed", "mean_prediction", "above")
    assert_allclose([effects[name] for name in names], wanted, atol=1e-9)
    for shown, group in zip(effects["groups"], found.groups, strict=True):
        assert shown["name"] == group.name
        assert shown["rows"] == group.n_rows
        values = shown["observed"], shown["mean_prediction"]
        assert_allclose(values, [group.base_rate.value, group.mean_prediction], atol=1e-9)


@pytest.mark.parametrize("name", LEARNERS)
def test_the_numbers_of_the_page_are_those_of_python(name, tmp_path):
    model, rows = LEARNERS[name](), draw(seed=1)
    session = sit(model, tmp_path / "new.json", rows, cut_off=0.3, by="group")
    agree(session.state()["effects"]["before"], model, rows, 0.3)
    for action, given in CHANGES:
        tried = session.preview(action, given)["effects"]
        done = session.accept(action, given, "asked for")["effects"]["now"]
        assert tried["loss"] == done["loss"]
        assert tried["groups"] == done["groups"]
        agree(done, session.editor.model, rows, 0.3)
        session.undo()
    session.accept(*MERGE, "asked for", refit=True)
    agree(session.state()["effects"]["now"], session.editor.model, rows, 0.3)


@pytest.mark.parametrize(("after", "told"), [(0.49999, "0.0"), (0.5002, "0.0002"), (0.4, "-0.1")])
def test_a_change_of_the_loss_that_rounds_to_nothing_has_no_sign(after, told):
    change = Change("drop", {"feature": "age"}, "asked for", "ada", "2026-01-01", 0.5, after, False)
    assert str(_line(change)["difference"]) == told


@pytest.mark.parametrize("adverse", [True, False])
def test_a_card_is_edited_in_points_and_saved_as_the_card_that_was_measured(adverse, tmp_path):
    rows, columns = draw(seed=1), ["age", "town", "noise", "y"]
    card = weigh.Scorecard(fit(weigh.EvidenceNB(bins=BINS)), pos_label=not adverse)
    card = card.edit("town", "b", 7, why="law", who="bo")
    session = sit(card, tmp_path / "new.json", rows, cut_off=0.3)
    assert session.points == card.scale.per_nat
    shown = {level["label"]: level["weight"] for level in session.table("town")["levels"]}
    assert_allclose([shown[name] * session.points for name in "abcd"], card.points["town"])
    for action, given in CHANGES[:-1]:
        if action == "rename":
            with pytest.raises(ValueError, match="rename"):
                session.accept(action, given, "asked for")
            continue
        tried = session.preview(action, given)["effects"]["loss"]
        assert session.accept(action, given, "asked for", refit=True)["history"]
        session.undo()
        assert tried == session.accept(action, given, "asked for")["effects"]["now"]["loss"]
        measured = weigh.evaluate(session.editor.model, rows[columns], "y").validation
        assert_allclose(tried, measured.loss.value, atol=1e-9)
        now = session.state()["effects"]["now"]["auc"]
        assert_allclose(now, measured.auc.value, rtol=0, atol=1e-12)  # equal scores are ties
        session.undo()
    session.accept(*MERGE, "few rows")
    session.save()
    saved = weigh.load(tmp_path / "new.json")
    assert saved.points["town"][1] == 7
    assert (saved.score(rows) == session.editor.model.score(rows)).all()
    assert [e.why for e in saved.edits] == ["law", "few rows"]
    assert [e.who for e in saved.edits] == ["bo", "ada"]
    weigh.export(saved, "python", path=tmp_path / "score.py")
    assert check(tmp_path / "score.py", saved).difference.holds


def test_a_model_of_whole_points_is_shown_in_points(model, tmp_path):
    small = weigh.simplify(model, draw(), "y", features=2, levels=3, points=5)
    session = sit(small, tmp_path / "new.json")
    (table, *_) = session.state()["tables"]
    points = [level["weight"] * session.points for level in session.table(table["name"])["levels"]]
    assert_allclose(points, np.rint(points), atol=1e-9)
    assert np.abs(points).max() > 1


def test_a_preview_changes_nothing(model, tmp_path):
    session = sit(model, tmp_path / "new.json")
    before = session.state()
    for action, given in CHANGES:
        session.preview(action, given)
    assert session.state() == before
    assert not session.draft.exists()


def test_another_cut_off_and_other_groups_measure_the_same_model_anew(model, tmp_path):
    rows = draw(seed=1)
    session = sit(model, tmp_path / "new.json", rows)
    session.accept(*MERGE, "asked for")
    agree(
        session.look(0.7, "town").state()["effects"]["now"], session.editor.model, rows, 0.7, "town"
    )
    assert session.look(0.7, "").state()["effects"]["now"]["groups"] == []


def test_the_cut_off_of_a_card_is_shown_and_chosen_as_the_lowest_score_above_it(model, tmp_path):
    rows = draw(seed=1)
    card = weigh.Scorecard(fit(weigh.EvidenceNB(bins=BINS)), base_score=600, base_odds=50)
    scores = card.score(rows[["age", "town", "noise"]])
    session = sit(card, tmp_path / "card.json", rows)
    assert session.now["above"] == (scores >= session.state()["lowest_score"]).mean()
    for score in (*np.unique(scores), 0, 10_000):
        state = session.turn(float(score), "").state()
        assert state["effects"]["now"]["above"] == (scores >= score).mean()
        assert state["lowest_score"] == score or score in (0, 10_000)
    with pytest.raises(ValueError, match="cut-off"):
        session.turn(np.inf, "")
    plain = sit(model, tmp_path / "model.json", rows).turn(0.7, "").state()
    assert (plain["cut_off"], plain["lowest_score"]) == (0.7, None)


def test_rows_of_the_adverse_class_are_declined(model, tmp_path):
    first, second = model.classes_.tolist()
    sides = {
        label: sit(model, tmp_path / "new.json", adverse=label).approves
        for label in (first, second, None)
    }
    assert sides == {first: "above", second: "below", None: ""}
    with pytest.raises(ValueError, match="adverse='maybe'"):
        sit(model, tmp_path / "new.json", adverse="maybe")


# ------------------------------------------------------------ draft and save


def test_a_session_that_ends_is_continued_from_its_draft_to_the_bit(model, tmp_path):
    first = sit(model, tmp_path / "new.json")
    first.accept(*MERGE, "few rows")
    first.accept("drop", {"feature": "noise"}, "noise", refit=True)
    first.accept("scale", {"feature": "town", "factor": 2.0}, "no")
    first.undo()
    second = sit(model, tmp_path / "new.json")
    assert second.continued == 2
    weigh.save(first.editor.model, tmp_path / "a.json")
    weigh.save(second.editor.model, tmp_path / "b.json")
    assert (tmp_path / "a.json").read_bytes() == (tmp_path / "b.json").read_bytes()
    assert second.state()["history"] == first.state()["history"]
    assert second.state()["unsaved"]


def test_saving_writes_a_model_that_exports_and_a_record_and_ends_the_draft(model, tmp_path):
    session = sit(model, tmp_path / "new.json")
    session.accept(*MERGE, "\n=few rows")
    session.accept("drop", {"feature": "noise"}, "noise")
    state = session.save()
    assert not state["unsaved"]
    assert not session.draft.exists()
    loaded = weigh.load(tmp_path / "new.json")
    rows = draw(seed=2)
    assert (loaded.predict_proba(rows) == session.editor.model.predict_proba(rows)).all()
    weigh.export(loaded, "sql", path=tmp_path / "score.sql")
    assert check(tmp_path / "score.sql", loaded).difference.holds
    with open(tmp_path / "new.json.changes.csv", newline="", encoding="utf-8") as file:
        lines = [*csv.DictReader(file)]
    assert [line["action"] for line in lines] == ["merge", "drop"]
    assert [line["who"] for line in lines] == ["ada", "ada"]
    assert lines[0]["why"] == "'\n=few rows"  # which a spreadsheet does not run
    assert float(lines[1]["loss_after"]) == pytest.approx(session.editor.loss)


def test_a_draft_of_another_model_or_one_that_is_broken_is_refused_and_kept(model, tmp_path):
    session = sit(model, tmp_path / "new.json")
    session.accept(*MERGE, "few rows")
    kept = session.draft.read_bytes()
    with pytest.raises(ValueError, match=re.escape(str(session.draft))):
        sit(fit(weigh.EvidenceNB(bins=BINS)), tmp_path / "new.json")
    session.draft.write_bytes(kept[:-20])
    with pytest.raises(ValueError, match=re.escape(str(session.draft))):
        sit(model, tmp_path / "new.json")
    assert session.draft.read_bytes() == kept[:-20]


def test_a_change_that_cannot_be_written_to_the_draft_is_told_and_not_made(model, tmp_path):
    session = sit(model, tmp_path / "new.json")
    before, kept = session.state(), session.output
    session.output = tmp_path / "gone" / "new.json"
    with pytest.raises(FileNotFoundError, match="gone"):
        session.accept(*MERGE, "few rows")
    session.output = kept
    after = session.state()
    assert {**after, "redo": False} == before
    assert session.editor.loss == pytest.approx(after["effects"]["now"]["loss"])


def test_an_output_that_exists_is_not_replaced_by_a_new_sitting(model, tmp_path):
    session = sit(model, tmp_path / "new.json")
    session.accept(*MERGE, "few rows")
    session.save()
    kept = (tmp_path / "new.json").read_bytes()
    with pytest.raises(ValueError, match=re.escape(str(tmp_path / "new.json"))):
        sit(model, tmp_path / "new.json")
    session.accept("drop", {"feature": "noise"}, "noise")  # the sitting itself goes on
    assert sit(model, tmp_path / "new.json").continued == 2
    assert (tmp_path / "new.json").read_bytes() == kept


def test_two_sessions_on_one_output_do_not_replace_each_others_changes(model, tmp_path):
    first = sit(model, tmp_path / "new.json")
    first.accept(*MERGE, "few rows")
    second = sit(model, tmp_path / "new.json")
    second.accept("drop", {"feature": "noise"}, "noise")
    kept = second.draft.read_bytes()
    for work in (lambda: first.accept("freeze", {"feature": "age"}, "no"), first.save):
        with pytest.raises(ValueError, match=re.escape(str(first.draft))):
            work()
    assert second.draft.read_bytes() == kept
    assert [line["why"] for line in first.state()["history"]] == ["few rows"]


def test_the_changes_that_the_given_model_records_are_counted_apart(model, tmp_path):
    first = sit(model, tmp_path / "new.json")
    first.accept(*MERGE, "few rows")
    first.save()
    second = sit(weigh.load(tmp_path / "new.json"), tmp_path / "newer.json")
    state = second.state()
    assert (first.state()["earlier"], state["earlier"], state["history"]) == (0, 1, [])


def test_a_change_that_is_sent_twice_is_made_once(model, tmp_path):
    session = sit(model, tmp_path / "new.json")
    half = "scale", {"feature": "age", "factor": 0.5}
    session.accept(*half, "too sure", changes=0)
    for again in (
        lambda: session.accept(*half, "too sure", changes=0),
        lambda: session.undo(changes=0),
    ):
        with pytest.raises(ValueError, match="reload"):
            again()
    assert len(session.state()["history"]) == 1


def test_a_draft_is_not_continued_with_other_rows(model, tmp_path):
    train, rest = draw(), draw(seed=1)
    first = Session(weigh.edit(model, rest, "y", train=(train, "y")), rest, tmp_path / "new.json")
    first.accept("drop", {"feature": "noise"}, "noise", refit=True)
    with pytest.raises(ValueError, match="other rows"):
        sit(model, tmp_path / "new.json", rest)


@pytest.mark.parametrize("weight", [None, "w"])
def test_moved_cut_points_leave_the_rows_of_the_fit(weight, tmp_path):
    rows = draw()
    model = weigh.EvidenceNB(bins=BINS).fit(
        rows.drop(columns=["group", "w"]), "y", sample_weight=rows.w if weight else None
    )
    few = rows[:60]
    moved = weigh.edit(model, few, "y").move_cut("age", 40.0, 42.0, why="rounder").model
    assert_allclose(
        moved.evidence_["age"].counts.sum(axis=0), model.evidence_["age"].counts.sum(axis=0)
    )
    train = (rows, "y", weight) if weight else (rows, "y")
    moved = weigh.edit(model, few, "y", train=train).move_cut("age", 40.0, 42.0, why="x").model
    cuts = [*BINS["age"]]
    cuts[1] = 42.0
    again = weigh.EvidenceNB(bins={**BINS, "age": cuts}).fit(
        rows.drop(columns=["group", "w"]), "y", sample_weight=rows.w if weight else None
    )
    assert_allclose(moved.evidence_["age"].counts, again.evidence_["age"].counts, rtol=1e-12)


def test_models_of_more_classes_and_bad_cut_offs_are_refused(model, tmp_path):
    rows = draw()
    rows["y"] = rows["town"]
    three = weigh.EvidenceNB(bins=BINS).fit(rows[["age", "noise", "y"]], "y")
    with pytest.raises(ValueError, match="two classes"):
        sit(three, tmp_path / "new.json", rows)
    with pytest.raises(ValueError, match="cut-off"):
        sit(model, tmp_path / "new.json", cut_off=1.0)
    with pytest.raises(ValueError, match="nowhere"):
        sit(model, tmp_path / "new.json", by="nowhere")


# ------------------------------------------------------------ who may reach it


def fit_numbers(family):
    rows = draw().assign(years=lambda f: f["w"] / 2)
    random = np.random.default_rng(5)
    mean = rows["years"] * np.exp((rows["age"] - 45) / 20 + 0.4 * (rows["town"] == "a"))
    rows["cost"] = random.poisson(mean) if family == "poisson" else 1000 * random.gamma(2, mean)
    given = {"exposure": "years"} if family == "poisson" else {}
    model = weigh.EducatedRegressor(family=family, bins={"age": BINS["age"]}, pairs=0)
    names = ["age", "town", "cost", *(["years"] if given else [])]
    return model.fit(rows[names], "cost", **given), rows


@pytest.mark.parametrize("family", ["gaussian", "poisson", "gamma"])
def test_the_numbers_of_a_regressors_page_are_those_of_python(family, tmp_path):
    model, rows = fit_numbers(family)
    editor = weigh.edit(model, rows, "cost", who="ada")
    session = Session(editor, rows, tmp_path / "new.json", by="group")
    twin = weigh.edit(model, rows, "cost", who="ada")
    changes = [
        ("set", {"feature": "town", "level": "b", "weight": 0.25}),
        ("merge", {"feature": "age", "levels": ["(30.0, 40.0]", "(40.0, 50.0]"]}),
        ("drop", {"feature": "town"}),
    ]
    for action, arguments in changes:
        tried = session.preview(action, arguments)["effects"]
        state = session.accept(action, arguments, why="because")
        twin.change(action, arguments, why="because")
        found = weigh.evaluate(twin.model, rows, "cost", by="group")
        now = state["effects"]["now"]
        assert tried | {"calibration": now["calibration"]} == now
        assert now["loss"] == pytest.approx(twin.loss, rel=1e-9)
        assert now["rmse"] == pytest.approx(found.rmse.value, rel=1e-9)
        assert now["mean_prediction"] == pytest.approx(found.mean_estimate, rel=1e-9)
        assert now["observed"] == pytest.approx(found.mean_observed, rel=1e-9)
        assert {group["name"] for group in now["groups"]} == {"old", "young <b>"}
        assert sum(group["rows"] for group in now["groups"]) == len(rows)
        assert "<svg" in now["calibration"]
    assert session.table("age")["levels"][0]["weight"] == pytest.approx(
        twin.evidence["age"].by_class[0, 0]
    )
    session.save()
    loaded = weigh.load(tmp_path / "new.json")
    given = {"exposure": "years"} if family == "poisson" else {}
    expected = twin.model.predict(rows, **given)
    np.testing.assert_allclose(loaded.predict(rows, **given), expected, rtol=1e-12)


def test_a_draft_of_numbers_is_not_continued_with_other_numbers(tmp_path):
    model, rows = fit_numbers("gaussian")
    first = Session(weigh.edit(model, rows, "cost"), rows, tmp_path / "new.json")
    first.accept("drop", {"feature": "town"}, why="because")
    again = Session(weigh.edit(model, rows, "cost"), rows, tmp_path / "new.json")
    assert again.continued == 1
    other = rows.assign(cost=rows["cost"] + 1)
    editor = weigh.edit(model, other, "cost")
    with pytest.raises(ValueError, match="other rows"):
        Session(editor, other, tmp_path / "new.json")


def test_a_number_has_no_adverse_class(tmp_path):
    model, rows = fit_numbers("gaussian")
    editor = weigh.edit(model, rows, "cost")
    with pytest.raises(ValueError, match="estimates a number"):
        Session(editor, rows, tmp_path / "n.json", adverse="cost")


def ask(app, method, path, body=b"", **headers):
    given = {"host": "127.0.0.1:1", "content-length": str(len(body)), **headers}
    return asyncio.run(call(app, method, path, body, headers=given))


@pytest.fixture
def app(model, tmp_path):
    return make_editor(sit(model, tmp_path / "new.json"), TOKEN)


@pytest.mark.parametrize(
    ("path", "headers"),
    [
        ("/", {}),
        ("/wrong/", {}),
        ("/wrong/state", {}),
        ("/secret/nothing", {}),
        ("/secret/state", {"host": "evil.example"}),
        ("/secret/", {"host": "evil.example:80"}),
    ],
)
def test_without_the_token_or_for_another_host_nothing_is_shown(path, headers, app):
    answer = ask(app, "GET", path, **headers)
    assert answer.status in (404, 405)
    assert b"age" not in answer.body
    assert ask(app, "POST", path, b"{}", **headers).status in (404, 405)


def test_the_page_is_its_own_and_may_ask_only_its_server(app):
    answer = ask(app, "GET", "/secret/", host="localhost:1")
    page = answer.body.decode()
    assert answer.status == 200
    assert answer.headers["cache-control"] == "no-store"
    assert "default-src 'none'" in page
    assert "connect-src 'self'" in page
    assert "https://" not in page


@pytest.mark.parametrize(
    "body",
    [
        b"", b"{", b"[]", b"null", b'{"action": "fly", "arguments": {}}', b"\xff",
        b'{"action": "drop", "arguments": {"feature": "nowhere"}}',
        b'{"action": "drop", "arguments": {"other": 1}}', b'{"action": "drop", "arguments": 3}',
        b'{"action": "set", "arguments": {"feature": "age", "level": "x", "weight": "y"}}',
        b'{"action": "set", "arguments": {"feature": "town", "level": "a", "weight": 1e999}}',
        b'{"action": "drop", "arguments": {"feature": 99}}', b"[" * 100_000,
    ],
)  # fmt: skip
def test_a_bad_change_is_refused_in_words_and_changes_nothing(body, app):
    before = ask(app, "GET", "/secret/state").json
    for verb in ("preview", "accept"):
        answer = ask(app, "POST", f"/secret/{verb}", body)
        assert answer.status == 400
        assert answer.json["error"]
    assert ask(app, "GET", "/secret/state").json == before


def test_a_change_needs_a_reason_and_a_long_body_is_refused(app):
    body = b'{"action": "drop", "arguments": {"feature": "age"}, "why": " "}'
    assert ask(app, "POST", "/secret/accept", body).status == 400
    assert ask(app, "POST", "/secret/accept", b" " * (1 << 19)).status == 413
    body = body.replace(b'" "', b'"a proxy"')
    answer = ask(app, "POST", "/secret/accept", body)
    assert answer.status == 200
    assert [one["why"] for one in answer.json["history"]] == ["a proxy"]


# ------------------------------------------------------------ the page and the command


@pytest.fixture
def served(model, tmp_path):
    """The command, and the address of its page."""
    weigh.save(model, tmp_path / "model.json")
    draw(seed=1).to_csv(tmp_path / "rest.csv", index=False)
    started = []

    def start(name="model.json", rows=None):
        if rows is not None:
            rows.to_csv(tmp_path / "rest.csv", index=False)
        command = [sys.executable, "-m", "weigh", "edit", name, "rest.csv"]
        command += ["--target", "y", "--by", "group", "-o", "new.json", "--who", "ada"]
        env = {**os.environ, "PYTHONUNBUFFERED": "1"}
        one = subprocess.Popen(command, cwd=tmp_path, env=env, stderr=subprocess.PIPE, text=True)
        started.append(one)
        told = ""
        while "http" not in told:
            told = one.stderr.readline()
            assert told, "the command ended"
        return one, re.search(r"http\S+", told).group()

    yield start
    for one in started:
        one.kill()
        one.wait(30)
        one.stderr.close()


def wait(browser, script):
    from selenium.webdriver.support.ui import WebDriverWait

    WebDriverWait(browser.driver, 60).until(lambda _: browser.run(f"return {script}"))


def show(browser, url):
    browser.driver.get(url)
    wait(browser, "document.querySelectorAll('#levels tbody tr').length > 0")


def choose(browser, name):
    """Open a table, and wait until it is there."""
    browser.run(
        "[...document.querySelectorAll('#tables button')]"
        ".find((b) => b.textContent === arguments[0]).click()",
        name,
    )
    wait(browser, f"document.getElementById('name').textContent === '{name}'")
    wait(browser, "!document.body.hasAttribute('aria-busy')")


@pytest.mark.system
def test_two_bins_are_merged_in_the_browser_by_keyboard_and_a_kill_loses_nothing(
    browser, served, tmp_path
):
    from selenium.webdriver.common.keys import Keys

    process, url = served()
    show(browser, url)
    choose(browser, "age")
    boxes = browser.driver.find_elements("css selector", "#levels input[type=checkbox]")
    for box in boxes[1:3]:
        box.send_keys(" ")
    browser.driver.find_element("css selector", "[data-do=merge]").send_keys(Keys.ENTER)
    wait(browser, "!document.getElementById('proposal').hidden")
    browser.driver.switch_to.active_element.send_keys("few rows", Keys.ENTER)
    wait(browser, "document.querySelectorAll('#history li').length === 1")
    process.send_signal(signal.SIGKILL)
    process.wait(30)

    _, url = served()
    show(browser, url)
    assert "few rows" in browser.run("return document.getElementById('history').textContent")
    browser.driver.find_element("id", "save").click()
    wait(browser, "document.getElementById('save').disabled")
    loaded = weigh.load(tmp_path / "new.json")
    assert loaded.evidence_["age"].labels == ("<= 30.0", "(30.0, 50.0]", "(50.0, 60.0]", "> 60.0")
    assert [change.who for change in loaded.evidence_.edits] == ["ada"]
    assert browser.logs() == []


@pytest.mark.system
def test_bins_and_cut_points_are_dragged(browser, served):
    from selenium.webdriver.common.action_chains import ActionChains

    _, url = served()
    show(browser, url)
    choose(browser, "age")
    for selector, across, down, word in (
        ("circle.knob", 12, 0, "cut point"),
        (".bin", 0, 25, "weight"),
    ):
        part = browser.driver.find_elements("css selector", f"#shape {selector}")[1]
        ActionChains(browser.driver).drag_and_drop_by_offset(part, across, down).perform()
        wait(browser, "!document.getElementById('proposal').hidden")
        assert word in browser.run("return document.getElementById('proposed').textContent")
        browser.driver.find_element("id", "cancel").click()
    part = browser.driver.find_elements("css selector", "#shape .bin")[1]
    part.click()
    assert browser.run("return document.querySelectorAll('#levels input:checked').length") == 1


@pytest.mark.system
def test_tables_are_renamed_and_pairs_added_and_removed_by_keyboard(browser, served):
    from selenium.webdriver.common.keys import Keys

    def press(selector):
        browser.driver.find_element("css selector", selector).send_keys(Keys.ENTER)

    def accept(why, n):
        wait(browser, "!document.getElementById('proposal').hidden")
        assert browser.violations() == []
        browser.driver.switch_to.active_element.send_keys(why, Keys.ENTER)
        wait(browser, f"document.querySelectorAll('#history li').length === {n}")
        wait(browser, "!document.body.hasAttribute('aria-busy')")

    _, url = served()
    show(browser, url)
    name = "document.getElementById('name').textContent"
    choose(browser, "noise")
    press("[data-do=rename]")  # without a name
    wait(browser, "document.activeElement.id === 'new-name'")
    browser.driver.switch_to.active_element.send_keys("Chatter")
    press("[data-do=rename]")
    accept("plain words", 1)
    wait(browser, f"{name} === 'Chatter'")
    boxes = browser.driver.find_elements("css selector", "#levels input[type=checkbox]")
    boxes[0].send_keys(" ")
    browser.driver.find_element("id", "new-name").send_keys("quiet")
    press("[data-do=rename_level]")
    accept("plainer", 2)
    browser.driver.find_element("id", "other").send_keys("town")
    press("[data-do=add_pair]")
    accept("together", 3)
    pair = browser.run(f"return {name}")
    assert "Chatter" in pair
    assert "town" in pair
    assert "quiet" in browser.run("return document.getElementById('levels').textContent")
    press("[data-do=remove_pair]")
    accept("no better", 4)
    names = browser.run(
        "return [...document.querySelectorAll('#tables button')].map((b) => b.textContent)"
    )
    assert "Chatter" in names
    assert pair not in names
    assert browser.logs() == []


@pytest.mark.system
def test_axe_finds_no_barrier_in_the_editor(browser, served):
    _, url = served()
    for width, scheme in ((390, "light"), (1280, "light"), (390, "dark"), (1280, "dark")):
        browser.width(width)
        browser.media(scheme=scheme)
        show(browser, url)
        assert browser.violations() == []
        browser.run("document.querySelector('[data-do=drop]').click()")
        wait(browser, "!document.getElementById('proposal').hidden")
        assert browser.violations() == []
        assert browser.run("return document.documentElement.scrollWidth") <= width
        assert browser.logs() == []


@pytest.mark.system
def test_the_points_of_a_card_are_set_in_the_browser(browser, served, tmp_path):
    from selenium.webdriver.common.keys import Keys

    card = weigh.Scorecard(fit(weigh.EvidenceNB(bins=BINS)))
    weigh.save(card, tmp_path / "card.json")
    _, url = served("card.json")
    show(browser, url)
    choose(browser, "town")
    box = browser.driver.find_element("css selector", "#levels input[type=number]")
    assert int(box.get_attribute("value")) == card.points["town"][0]
    box.send_keys(Keys.CONTROL, "a")
    box.send_keys("12", Keys.TAB)
    wait(browser, "!document.getElementById('proposal').hidden")
    assert "12" in browser.run("return document.getElementById('proposed').textContent")
    assert browser.violations() == []
    browser.driver.switch_to.active_element.send_keys("policy", Keys.ENTER)
    wait(browser, "document.querySelectorAll('#history li').length === 1")
    browser.driver.find_element("id", "save").click()
    wait(browser, "document.getElementById('save').disabled")
    assert weigh.load(tmp_path / "new.json").points["town"][0] == 12
    assert browser.logs() == []


@pytest.mark.system
def test_no_number_of_a_level_is_clipped(browser, served):
    """Not even beside the arrows that a browser draws in the number that has the focus."""
    _, url = served()
    clipped = """
        return [...document.querySelectorAll('#levels input[type=number]')].filter(box => {
            box.focus();
            box.value = '-143.16';
            return box.scrollWidth > box.clientWidth;
        }).length"""
    for width in (420, 1000, 1400):
        browser.driver.set_window_size(width, 900)
        show(browser, url)
        assert browser.run("return document.querySelectorAll('#levels input[type=number]').length")
        assert browser.run(clipped) == 0, width


@pytest.mark.system
def test_ctrl_c_ends_the_command_and_says_that_nothing_was_written(served):
    process, _ = served()
    process.send_signal(signal.SIGINT)
    assert process.wait(60) == 0
    assert process.stderr.read().endswith("no changes, nothing written\n")


def test_the_end_of_the_command_says_where_the_changes_are(tmp_path, monkeypatch, model):
    weigh.save(model, tmp_path / "model.json")
    draw(seed=1).to_csv(tmp_path / "rest.csv", index=False)
    acts = [
        lambda s: None,
        lambda s: s.accept(*MERGE, "asked for"),
        lambda s: s.save(),
    ]
    words = ["edit", f"{tmp_path}/model.json", f"{tmp_path}/rest.csv", "--target", "y"]
    told = []
    for act in acts:
        monkeypatch.setattr("weigh.workbench.edit_in_browser", lambda s, *_, act=act, **__: act(s))
        told.append(CliRunner().invoke(main, words).stderr.splitlines()[-1])
    assert told[0] == "no changes, nothing written"
    edited = tmp_path / "model-edited.json"
    assert told[1] == f"the draft {edited}.draft holds 1 change; the same command continues it"
    assert told[2] == f"{edited} holds 1 change"


def test_the_command_writes_no_file_called_minus(tmp_path):
    result = CliRunner().invoke(main, ["edit", "m.json", "t.csv", "-o", "-"])
    assert result.exit_code == 2
    assert "-o" in result.output


def test_without_an_output_a_new_file_beside_the_model_is_written(tmp_path, monkeypatch, model):
    weigh.save(model, tmp_path / "model.json")
    draw(seed=1).to_csv(tmp_path / "rest.csv", index=False)
    sessions = []
    monkeypatch.setattr("weigh.workbench.edit_in_browser", lambda s, *_, **__: sessions.append(s))
    words = ["edit", f"{tmp_path}/model.json", f"{tmp_path}/rest.csv", "--target", "y"]
    result = CliRunner().invoke(main, words)
    assert result.exit_code == 0, result.output
    assert sessions[0].output == tmp_path / "model-edited.json"
    assert "model-edited.json" in result.stderr
    (tmp_path / "model-edited.json").write_text("the work of yesterday")
    result = CliRunner().invoke(main, words)
    assert result.exit_code == 2
    assert "model-edited.json exists: name the file to write with -o" in result.stderr
    (tmp_path / "model-edited.json.draft").write_text("")
    assert "exists" not in CliRunner().invoke(main, words).stderr


@pytest.mark.system
def test_a_factor_is_set_in_the_browser(browser, served, tmp_path):
    model, rows = fit_numbers("poisson")
    weigh.save(model, tmp_path / "counts.json")
    _, url = served("counts.json", rows.drop(columns="y").rename(columns={"cost": "y"}))
    show(browser, url)
    choose(browser, "town")
    told = browser.run("return document.body.innerText")
    for text in ("Factors above 1 raise the estimate", "Mean deviance", "RMSE"):
        assert text in told
    assert "AUC" not in told
    assert "Cut-off" not in told
    weights = browser.driver.find_elements("css selector", "#levels input[aria-label^=Factor]")
    first = float(weights[0].get_attribute("value"))
    assert first == pytest.approx(np.exp(model.evidence_["town"].by_class[0, 0]), rel=1e-3)
    weights[0].clear()
    weights[0].send_keys("1.5\t")
    wait(browser, "!document.getElementById('proposal').hidden")
    assert "× 1.5" in browser.run("return document.getElementById('proposed').textContent")
    browser.driver.switch_to.active_element.send_keys("by agreement\n")
    wait(browser, "document.querySelectorAll('#history li').length === 1")
    browser.driver.find_element("id", "save").click()
    wait(browser, "document.getElementById('save').disabled")
    loaded = weigh.load(tmp_path / "new.json")
    assert loaded.evidence_["town"].by_class[0, 0] == pytest.approx(np.log(1.5))
    assert browser.logs() == []
