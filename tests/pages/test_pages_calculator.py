"""The calculator: its numbers are Python's, and its names are only ever text."""

import base64
import hashlib
import json
import math
import re
from html.parser import HTMLParser
from urllib.parse import urlencode

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scipy import sparse
from tests.page_models import ASKED, CODES, LEARNERS, MANY, WEIRD, big_model, mixed, weird_model

import weigh
from weigh.bins import printable
from weigh.formula import Formula
from weigh.frames import canonical, key
from weigh.pages.model import spell_levels, spell_sheet
from weigh.scorecard import reasons
from weigh.sheet import probabilities


def rows_of(model, n=60, seed=1):
    """Rows that visit every level, boundary, missing, code and what was never seen."""
    rng = np.random.default_rng(seed)
    pools = {}
    for question in Formula.of(model).inputs:
        pool = [None, weigh.NOT_KNOWN, *question.values]
        if question.is_numeric:
            parts = [p for f in model.evidence_.features for p in f.parts]
            cuts = [c for part in parts if part.name == question.name for c in part.cuts]
            pool += [
                x for c in cuts for x in (c, np.nextafter(c, -np.inf), np.nextafter(c, np.inf))
            ]
            pool += [-1e300, 1e300, 0.0]
        elif all(isinstance(value, str) for value in question.values):
            pool += ["never seen"]
        pools[question.name] = pool
    size = max(n, *(len(pool) for pool in pools.values()))
    columns = {
        name: [pool[i % len(pool)] for i in rng.permutation(size)] for name, pool in pools.items()
    }
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def answers_of(model, row):
    """A row as the page's answers: places of choices, numbers, missing, null for not known."""
    answers = []
    for question in Formula.of(model).inputs:
        value = canonical(row.get(question.name, weigh.NOT_KNOWN))
        if value is weigh.NOT_KNOWN or value is None:
            answers.append("missing" if value is None else None)
        elif question.is_numeric:
            answers.append(float(value))
        else:
            keys = [key(known) for known in question.values]
            answers.append(keys.index(key(value)) if key(value) in keys else len(keys))
    return answers


SCORE = """
const model = weigh.open(JSON.parse(document.getElementById("model").textContent));
return arguments[0].map(([answers, options]) => weigh.sheet(model, answers, options));
"""


def scored(browser, model, tmp_path, cases, of=None):
    path = tmp_path / "page.html"
    weigh.calculator(model, path=path, pos_label=of)
    browser.open(path)
    return browser.run(SCORE, cases)


def near(a, b, tolerance=1e-9):
    return math.isclose(a, b, rel_tol=tolerance, abs_tol=tolerance)


def hold_equal(told, sheet, tolerance=1e-9, evidence=None):
    """What the page says, beside Python's balance sheet, whose intervals it puts into words."""
    sheet = sheet if evidence is None else spell_sheet(sheet, evidence)
    assert near(told["prior"], sheet.prior)
    assert near(told["total"], sheet.total)
    assert near(told["probability"], sheet.probability)
    assert (told["interval"] is None) == (sheet.interval is None)
    for mine, theirs in zip(told["interval"] or [], sheet.interval or [], strict=True):
        assert near(mine, theirs, tolerance)
    for item, line in zip(told["items"], sheet.items, strict=True):
        assert (item["feature"], item["relation"], item["note"]) == (
            printable(line.feature),
            line.relation,
            line.note,
        )
        assert near(item["weight"], line.weight)
        assert line.note or item["words"] == printable(str(line))
        assert line.note or item["label"] == printable(line.level)
    if sheet.attenuation is not None:
        assert near(told["before"], sheet.attenuation.before)
        for name in ("n", "exponent", "shift"):
            assert near(told["attenuation"][name], getattr(sheet.attenuation, name))
    if sheet.recalibration is not None:
        for name in ("before", "after", "shift"):
            assert near(told["recalibration"][name], getattr(sheet.recalibration, name))


@pytest.mark.system
@pytest.mark.parametrize("name", LEARNERS)
@pytest.mark.filterwarnings("ignore::UserWarning", "ignore::sklearn.exceptions.ConvergenceWarning")
def test_the_page_computes_what_python_does(name, browser, tmp_path):
    model = LEARNERS[name].fit(mixed(), "y")
    cases, sheets = [], []
    for i, row in enumerate(rows_of(model)):
        rate = [None, 0.02, 0.7][i % 3]
        of = i % 2
        shifted = model if rate is None else model.with_prior(rate)
        sheets.append(shifted.balance_sheet(row, pos_label=model.classes_[of]))
        cases.append([answers_of(model, row), {"of": of, "rate": rate and [1 - rate, rate]}])
    for told, sheet in zip(scored(browser, model, tmp_path, cases), sheets, strict=True):
        hold_equal(told, sheet, evidence=model.evidence_)
        assert near(told["probabilities"][told["of"]], sheet.probability)


@pytest.mark.system
@pytest.mark.parametrize("name", ["naive", "prior", "root", "spline", "isotonic", "educated"])
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_a_page_of_the_first_class_computes_what_python_says_of_it(name, browser, tmp_path):
    model = LEARNERS[name].fit(mixed(), "y")
    cases, sheets = [], []
    for i, row in enumerate(rows_of(model, 30)):
        rate = [None, 0.02][i % 2]
        shifted = (
            model if rate is None else model.with_prior({"class 0": rate, "class 1": 1 - rate})
        )
        sheets.append(shifted.balance_sheet(row, pos_label="class 0"))
        cases.append([answers_of(model, row), {"rate": rate and [rate, 1 - rate]}])
    found = scored(browser, model, tmp_path, cases, of="class 0")
    for told, sheet in zip(found, sheets, strict=True):
        hold_equal(told, sheet, evidence=model.evidence_)
    assert browser.driver.title == "The probability that y is class 0"
    assert shown(browser, "of-what") == "Probability of class 0"
    assert "Base rate of class 0" in shown(browser, "rate-name")


@pytest.mark.system
def test_of_many_classes_a_page_begins_with_the_one_that_was_asked_for(browser, tmp_path):
    model = weigh.EvidenceNB().fit(mixed(n_classes=3), "y")
    weigh.calculator(model, path=tmp_path / "page.html", pos_label="class 2")
    browser.open(tmp_path / "page.html", "#colour=red")
    case = {"colour": "red"}
    sheet = model.balance_sheet(case, pos_label="class 2")
    assert shown(browser, "of-what") == "Probability of class 2"
    assert shown(browser, "probability") == f"{sheet.probability:.2f}"
    assert settled(browser).endswith("#colour=red")
    browser.run(
        "const list = document.getElementById('of'); list.value = '';"
        "list.dispatchEvent(new Event('change'))"
    )
    address = settled(browser)
    assert address.endswith("#colour=red&%7Epos_label=")
    likely = model.balance_sheet(case).pos_label
    browser.open(tmp_path / "page.html", "#" + address.partition("#")[2])
    assert shown(browser, "of-what") == f"Probability of {likely}"


@pytest.mark.system
def test_the_page_of_a_card_lists_its_reason_codes(browser, tmp_path):
    model = weigh.EvidenceNB(special_values=CODES).fit(mixed(), "y")
    texts = {"age": {"missing": "Age not given"}}
    card = weigh.Scorecard(model, texts={"colour": "Colour <of> the car"}, level_texts=texts)
    path = tmp_path / "page.html"
    weigh.calculator(card, path=path)
    browser.open(path)
    assert browser.run("return document.getElementById('costs').hidden")  # nothing is known yet
    for row in rows_of(card, 12):
        given = {k: v for k, v in row.items() if isinstance(v, str | bool) and v != "never seen"}
        given["age"] = 33.0
        words = "&".join(
            f"{k}={str(v).lower() if v in (True, False) else v}" for k, v in given.items()
        )
        browser.open(path, "#" + words)
        case = {name: given.get(name, weigh.NOT_KNOWN) for name in card.feature_names_in_}
        found = reasons.find_costs(card, card._read([case]), 4, "best")
        pairs = zip(found.texts[0], found.weights[0], strict=True)
        wanted = [f"{text}: {cost:.0f} points" for text, cost in pairs if text is not None]
        assert shown(browser, "reasons").splitlines() == wanted
    assert browser.violations() == []


LABELS = {
    "columns": {"age": "Age in years", "colour": "Colour of the car"},
    "levels": {"colour": {"red": "Signal red"}, "income": {"-999": "No income stated"}},
    "classes": {"class 0": "Repaid", "class 1": "Default"},
    "outcomes": {"class 1": "the loan defaults"},
}


@pytest.mark.system
@pytest.mark.parametrize("adverse", ["class 0", "class 1"])
def test_the_page_speaks_in_the_users_words_and_is_keyed_by_the_models(adverse, browser, tmp_path):
    model = weigh.EvidenceNB(special_values=CODES, crosses=[("colour", "member")])
    model.fit(mixed(), "y")
    path = tmp_path / "page.html"
    asked = {"adverse": adverse, "cut_off": 0.5, "decisions": ("Decline", "Accept")}
    weigh.calculator(model, path=path, labels=LABELS, **asked)
    browser.open(path)
    assert browser.run("return document.getElementById('decision').hidden")  # nothing is known yet
    browser.open(path, "#age=50&income=-999&colour=red&member=true")
    case = {"age": 50.0, "income": -999.0, "colour": "red", "member": True}
    probability = model.balance_sheet(case).probability
    assert shown(browser, "of-what") == "Probability that the loan defaults"
    assert shown(browser, "probability") == f"{probability:.2f}"
    assert shown(browser, "decision").startswith("Decline" if probability > 0.5 else "Accept")
    rest = shown(browser, "rest")
    assert "Evidence for Default" in rest
    assert "Colour of the car = Signal red with member = true" in rest
    assert "income = No income stated" in rest
    for item in model.balance_sheet(case, labels=LABELS).items:
        assert item.relation in ("", "in") or str(item) in rest
    assert settled(browser).endswith("#age=50&income=-999&colour=red&member=true")
    colour = "return getComputedStyle(document.querySelector(arguments[0])).backgroundColor"
    sides = ("for", "against") if adverse == "class 1" else ("against", "for")
    red, blue = (browser.run(colour, f"#{side} .bar") for side in sides)
    assert int(red[4:].split(",")[0]) > 128 > int(blue[4:].split(",")[0])
    assert browser.violations() == []
    printed = "".join(browser.printed(path, "#age=50&colour=red"))
    assert "Entered values" in printed
    assert "Signal red" in printed


@pytest.mark.system
def test_the_case_number_is_on_paper_and_nowhere_else(browser, titanic_page):
    _, path = titanic_page
    browser.open(path)
    browser.run(
        "const box = document.getElementById('case-number'); box.value = 'A-17';"
        "box.dispatchEvent(new Event('input'))"
    )
    assert "A-17" in browser.run("return document.getElementById('printed-case').textContent")
    assert "A-17" not in settled(browser)


@pytest.mark.system
def test_nothing_scrolls_inside_itself(browser, tmp_path):
    weigh.calculator(big_model(weigh.EvidenceNB()), path=tmp_path / "page.html")
    browser.open(tmp_path / "page.html")
    scrolls = (
        "return [...document.querySelectorAll('body *')].filter((part) =>"
        " ['auto', 'scroll'].includes(getComputedStyle(part).overflowY)).map((part) => part.id)"
    )
    assert browser.run(scrolls) == []


def test_codes_without_rows_are_not_offered():
    codes = {"income": [-999.0, -12345.0]}
    page = weigh.calculator(weigh.EvidenceNB(special_values=codes).fit(mixed(), "y"))
    data = json.loads(re.search(r'id="model">(.*?)</script>', page, re.S)[1])
    income = next(column for column in data["columns"] if column["name"] == "income")
    assert income["codes"] == [-999.0]


@pytest.mark.parametrize("labels", [
    {"column": {}},
    {"columns": {"nowhere": "x"}},
    {"levels": {"nowhere": {}}},
    {"levels": {"colour": {"purple": "x"}}},
    {"classes": {"class 9": "x"}},
    {"outcomes": {"class 9": "x"}},
    {"columns": ["age"]},
    ["age"],
])  # fmt: skip
def test_labels_for_what_there_is_not_are_refused_by_name(labels):
    from weigh.errors import ParameterError

    model = weigh.EvidenceNB().fit(mixed(), "y")
    for show in (weigh.calculator, weigh.EvidenceDisplay.from_estimator):
        with pytest.raises(ParameterError) as raised:
            show(model, labels=labels)
        assert raised.value.parameter == "labels"


def test_an_unknown_part_of_labels_is_named_before_its_value_is_read():
    model = weigh.EvidenceNB().fit(weigh.datasets.titanic(), "Survived")
    with pytest.raises(ValueError, match=r"labels names 'column'.* did you mean 'columns'"):
        weigh.calculator(model, labels={"column": "Sex"})


@pytest.mark.parametrize("given", [
    {"cut_off": 0}, {"cut_off": 1.5}, {"cut_off": "0.5"}, {"decisions": ("a", "b")},
    {"cut_off": 0.5, "decisions": "ab"}, {"adverse": "nobody"},
])  # fmt: skip
def test_a_cut_off_or_adverse_class_that_makes_no_sense_is_refused(given):
    model = weigh.EvidenceNB().fit(mixed(), "y")
    with pytest.raises(ValueError, match="|".join(given)):
        weigh.calculator(model, **given)


@pytest.mark.parametrize("odd", [0.5, "600", True, float("inf")])
def test_the_cut_off_of_a_scorecard_is_a_score(odd):
    card = weigh.Scorecard(weigh.EvidenceNB().fit(mixed(), "y"))
    assert '"score": 520.0' in weigh.calculator(card, cut_off=520).replace('":', '": ')
    with pytest.raises(ValueError, match="must be a score for a scorecard, such as 600"):
        weigh.calculator(card, cut_off=odd)


@pytest.mark.system
@pytest.mark.parametrize("pos_label", ["class 0", "class 1"])
def test_a_case_is_approved_from_the_cut_off_score_on(pos_label, browser, tmp_path):
    card = weigh.Scorecard(weigh.EvidenceNB(special_values=CODES).fit(mixed(), "y"))
    score = int(card.score([{"colour": "red"}])[0])
    for cut_off, told in ((score, "Approve. Score at or above"), (score + 1, "Refer. Score below")):
        asked = {"cut_off": cut_off, "decisions": ("Approve", "Refer"), "pos_label": pos_label}
        weigh.calculator(card, path=tmp_path / "page.html", **asked)
        browser.open(tmp_path / "page.html", "#colour=red")
        assert shown(browser, "decision") == f"{told} the cut-off of {cut_off}."
        assert (shown(browser, "of-what"), shown(browser, "probability")) == ("Score", str(score))
        assert shown(browser, "interval").startswith(f"Probability of {pos_label}: 0.")


def test_a_class_that_the_model_has_not_is_refused(tmp_path):
    model = weigh.EvidenceNB().fit(weigh.datasets.titanic(), "Survived")
    with pytest.raises(
        ValueError, match=r"pos_label='Maybe' is not a class of the model.*'No', 'Yes'"
    ):
        weigh.calculator(model, pos_label="Maybe")
    assert "The probability of No is 1/(1 + exp(-total))" in weigh.calculator(model, pos_label="No")


@pytest.mark.system
@pytest.mark.parametrize("name", MANY)
@pytest.mark.filterwarnings("ignore::UserWarning", "ignore::sklearn.exceptions.ConvergenceWarning")
def test_the_page_computes_what_python_does_for_many_classes(name, browser, tmp_path):
    model = MANY[name].fit(mixed(n_classes=3), "y")
    classes, cases, sheets = model.classes_, [], []
    for i, row in enumerate(rows_of(model)):
        rate = [None, [0.1, 0.2, 0.7], [0.98, 0.01, 0.01]][i % 3]
        of, against = [(None, None), (0, None), (1, 2), (2, 0)][i % 4]
        if model.evidence_.link == "ovr":
            against = None
        shifted = model if rate is None else model.with_prior(rate)
        names = (None if place is None else classes[place] for place in (of, against))
        sheets.append(shifted.balance_sheet(row, *names))
        options = {"of": of, "against": against, "rate": rate}
        cases.append([answers_of(model, row), options])
    for told, sheet in zip(scored(browser, model, tmp_path, cases), sheets, strict=True):
        assert classes[told["of"]] == sheet.pos_label
        hold_equal(told, sheet, evidence=model.evidence_)
        for total, wanted in zip(told["totals"], (sheet.totals or {}).values(), strict=False):
            assert near(total, wanted)


@pytest.mark.system
@pytest.mark.parametrize("learner", [weigh.EvidenceNB, weigh.PerplexedNB])
def test_documents_are_counted_as_python_counts_them(learner, browser, tmp_path):
    rng = np.random.default_rng(0)
    X, y = rng.poisson(0.7, (80, 12)), rng.integers(0, 3, 80)
    X[:, 5] = 0
    own = {} if learner is weigh.EvidenceNB else {"attenuation": 3.0}
    model = learner(event_model="counts", **own).fit(sparse.csr_array(X), y)
    rows = rng.poisson(0.9, (40, 12))
    cases = [[row.tolist(), {"of": i % 3}] for i, row in enumerate(rows)]
    told = scored(browser, model, tmp_path, cases)
    for i, row in enumerate(rows):
        hold_equal(told[i], model.balance_sheet(sparse.csr_array(row[None]), pos_label=i % 3))


NAMES = st.one_of(
    st.sampled_from(["missing", " ", '"', "a & b", "\u202egnp", "\n", "😀", "~other", "<br>"]),
    st.text(min_size=1, max_size=3),
)
CELLS = st.one_of(st.none(), st.just(""), NAMES)
NUMBERS = st.one_of(
    st.none(),
    st.sampled_from([-999.0, 0.0, -0.0, 1e300, -1e300, math.inf, -math.inf, 2.0**53 + 2]),
    st.floats(-5, 5),
)


@st.composite
def tables(draw):
    """Few rows, odd names, odd values, one level, nothing but gaps."""
    n = draw(st.integers(4, 12))
    names = draw(st.lists(NAMES, min_size=1, max_size=3, unique=True))
    columns = {}
    for name in names:
        kind = draw(st.sampled_from([CELLS, NUMBERS, st.booleans(), st.integers(2**53, 2**53 + 4)]))
        values = draw(st.lists(kind, min_size=n, max_size=n))
        arrow = pa.float64() if kind is NUMBERS else pa.string() if kind is CELLS else None
        columns[name] = pa.array(values, arrow)
    labels = draw(st.lists(st.sampled_from("abc"), min_size=n, max_size=n))
    return pa.table(columns), [*labels[:-2], "a", "b"]


@pytest.mark.system
@given(tables(), st.sampled_from(["level", "skip"]), st.sampled_from([0.0, 1.0, "1/n"]))
@settings(
    max_examples=40,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
def test_any_table_gives_a_page_that_computes_what_python_does(
    browser, tmp_path, sample, missing, smoothing
):
    X, y = sample
    model = weigh.EvidenceNB(missing=missing, smoothing=smoothing, bins=2, special_values=[-999])
    model.fit(X, y)
    rows = [row for row in X.to_pylist() if all(map(is_sent, row.values()))]
    told = scored(browser, model, tmp_path, [[answers_of(model, row), {}] for row in rows])
    for found, row in zip(told, rows, strict=True):
        hold_equal(found, model.balance_sheet(row), evidence=model.evidence_)
    assert [line for line in browser.logs() if "favicon" not in line] == []


def is_sent(value):
    """Whether JSON, by which a test reaches the browser, can hold it."""
    return not isinstance(value, float) or math.isfinite(value)


# ---------------------------------------------------------------- what people see


@pytest.fixture
def titanic_page(tmp_path):
    model = weigh.EvidenceNB().fit(weigh.datasets.titanic(), "Survived")
    weigh.calculator(model, path=tmp_path / "titanic.html")
    return model, tmp_path / "titanic.html"


def choose(browser, name, text):
    """Answer a question as a person does, by its label."""
    browser.run(
        """
        const [name, text] = arguments;
        const titles = [...document.querySelectorAll("#questions legend, #questions label")];
        const title = titles.find((label) => label.textContent === name);
        const box = title.closest(".question");
        const select = box.querySelector("select");
        if (select) {
          select.value = [...select.options].find((option) => option.text === text).value;
          select.dispatchEvent(new Event("change"));
        } else if (box.tagName === "FIELDSET") {
          [...box.querySelectorAll("label")].find((l) => l.textContent === text).click();
        } else {
          const input = box.querySelector("input");
          input.value = text;
          input.dispatchEvent(new Event("input"));
        }
        """,
        name,
        text,
    )


def shown(browser, element):
    return browser.run("return document.getElementById(arguments[0]).innerText", element)


def settled(browser):
    """The page's address, once it is written."""
    return browser.driver.execute_async_script(
        "const done = arguments[0]; setTimeout(() => done(location.href), 250)"
    )


@pytest.mark.system
def test_a_case_filled_in_by_hand_shows_the_sheet_that_python_prints(browser, titanic_page):
    model, path = titanic_page
    browser.open(path)
    case = {"Class": "3rd", "Sex": "Female", "Age": "Child"}
    for name, level in case.items():
        choose(browser, name, level)
    sheet = model.balance_sheet(case)
    assert shown(browser, "probability") == f"{sheet.probability:.2f}" == "0.81"
    assert shown(browser, "interval") == "90% interval 0.75 to 0.86"
    near = [(0.0096, 0.0031, 0.0104), (0.37, 0.371, 0.377), (0.9996, 0.99958, 0.9), (0.5, 0, 1)]
    for numbers in near:
        assert browser.run("return words.chances(arguments[0])", numbers) == probabilities(*numbers)
    lines = browser.run(
        "return [...document.querySelectorAll('#for tr, #against tr')].map((row) =>"
        " [...row.children].map((cell) => cell.textContent))"
    )
    assert lines == [
        ["Sex = Female", "+174"],
        ["Age = Child", "+83"],
        ["Total positive weight", "+257"],
        ["Prior", "−74"],
        ["Class = 3rd", "−35"],
        ["Total negative weight", "−109"],
    ]
    assert "Total weight of evidence\t+148" in shown(browser, "foot")
    choose(browser, "Age", "Not known")
    choose(browser, "Class", "Another")
    notes = shown(browser, "notes")
    assert "Not known (no weight): Age." in notes
    assert "No weight: Class = another (not seen in training)." in notes


@pytest.mark.system
def test_a_pair_is_not_listed_again_where_its_answers_are_not_known(browser, tmp_path):
    rows = [{"a": "xy"[i % 2], "b": "pq"[i // 2 % 2], "c": "uv"[i // 4 % 2]} for i in range(80)]
    y = [int((row["a"] == "x") ^ (row["b"] == "p")) for row in rows]
    model = weigh.EducatedNB(pairs=[("a", "b")]).fit(rows, y)
    weigh.calculator(model, path=tmp_path / "page.html")
    for row, missing in (({}, "a, b, c"), ({"a": "x"}, "b, c")):
        browser.open(tmp_path / "page.html", "#" + "&".join(f"{k}={v}" for k, v in row.items()))
        wanted = f"Not known (no weight): {missing}."
        assert wanted in model.balance_sheet(row).to_text()
        assert wanted in shown(browser, "notes")
    crossed = weigh.EvidenceNB(crosses=[("a", "b")]).fit(rows, y)  # a and b have no own tables
    weigh.calculator(crossed, path=tmp_path / "crossed.html")
    browser.open(tmp_path / "crossed.html", "#c=u")
    assert "Not known (no weight): a & b." in shown(browser, "notes")


@pytest.mark.system
def test_the_case_stands_in_the_address_and_comes_back_from_it(browser, tmp_path):
    model = weigh.EvidenceNB(special_values=CODES).fit(mixed(), "y")
    weigh.calculator(model, path=tmp_path / "page.html")
    browser.open(tmp_path / "page.html")
    for name, text in [("age", "41,5"), ("income", "-999"), ("colour", "Another")]:
        choose(browser, name, text)
    choose(browser, "member", "true")
    browser.run(
        "const rate = document.getElementById('rate-exact'); rate.value = '2.5';"
        "rate.dispatchEvent(new Event('input'))"
    )
    address, probability = settled(browser), shown(browser, "probability")
    assert address.endswith("#age=41.5&income=-999&colour=%7Eother&member=true&%7Erate=0.025")
    case = {"age": 41.5, "income": -999.0, "colour": "never seen", "member": True}
    wanted = model.with_prior(0.025).balance_sheet(case).probability
    assert float(probability) == pytest.approx(wanted, abs=0.005)
    browser.open(tmp_path / "page.html", "#" + address.partition("#")[2])
    assert shown(browser, "probability") == probability
    assert settled(browser) == address
    hint = browser.run("return document.querySelector('.hint').textContent")
    places = model.evidence_["age"].levels
    level = next(t for t in places if t.lower < 41.5 <= t.upper)
    assert hint == f"Level: {spell_levels(model.evidence_['age'].feature)[places.index(level)]}"
    browser.run("document.getElementById('clear').click()")
    assert settled(browser).partition("#")[2] == ""
    none = model.balance_sheet({})
    assert none.total == none.prior
    assert float(shown(browser, "probability")) == pytest.approx(none.probability, abs=0.005)


@pytest.mark.system
def test_an_address_holds_a_category_with_blanks_as_data_have_it_or_as_the_page_shows_it(
    browser, tmp_path
):
    rows = [{"paid": paid} for paid in ("yes", "yes ", "no", '"no"')] * 10
    model = weigh.EvidenceNB().fit(rows, [0, 1, 0, 1] * 10)
    weigh.calculator(model, path=tmp_path / "page.html")
    for value, texts in [("yes", ["yes"]), ("yes ", ["yes ", '"yes "']), ('"no"', ['""no""'])]:
        wanted = model.balance_sheet({"paid": value}).probability
        for text in texts:
            browser.open(tmp_path / "page.html", f"#{urlencode({'paid': text})}")
            assert float(shown(browser, "probability")) == pytest.approx(wanted, abs=0.005)


@pytest.mark.system
def test_a_value_that_shares_the_level_other_is_offered_and_stands_in_the_address(
    browser, tmp_path
):
    model = weigh.EvidenceNB(max_levels={"colour": 2}).fit(mixed(), "y")
    weigh.calculator(model, path=tmp_path / "page.html")
    rare = model.evidence_["colour"].feature.others[0]
    for text in (rare, "~other"):
        browser.open(tmp_path / "page.html", f"#colour={text}")
        p = model.balance_sheet({"colour": rare}).probability
        assert shown(browser, "probability") == f"{p:.2f}"
        assert not shown(browser, "ignored")
        assert settled(browser).endswith(f"#colour={text.replace('~', '%7E')}")
    browser.open(tmp_path / "page.html", "#colour=purple")
    assert "(no such level; ~other is any that is not listed)" in shown(browser, "ignored")


@pytest.mark.system
def test_missing_is_offered_where_it_is_a_level_and_stands_in_the_address(browser, tmp_path):
    model = weigh.EvidenceNB().fit(mixed(), "y")
    weigh.calculator(model, path=tmp_path / "page.html")
    gaps = {
        part.name: part.has_missing for table in model.evidence_ for part in table.feature.parts
    }
    browser.open(tmp_path / "page.html", "#age=%7Emissing&colour=%7Emissing")
    offered = browser.run(
        "return [...document.querySelectorAll('.question')].map((box) => "
        "box.textContent.includes('Missing'))"
    )
    assert dict(zip(gaps, offered, strict=True)) == gaps
    assert {True, False} == {*gaps.values()}
    wanted = model.balance_sheet({"age": None, "colour": None}).probability
    assert float(shown(browser, "probability")) == pytest.approx(wanted, abs=0.005)
    assert settled(browser).endswith("#age=%7Emissing&colour=%7Emissing")


@pytest.mark.system
@pytest.mark.parametrize(
    "text", ["", "abc", "1.2.3", "--5", "1e", "0x10", "0b11", "Infinity", "1e999"]
)
def test_what_is_no_number_is_not_known_and_said_to_be_none(text, browser, tmp_path):
    model = weigh.EvidenceNB().fit(mixed(), "y")
    weigh.calculator(model, path=tmp_path / "page.html")
    browser.open(tmp_path / "page.html")
    before = shown(browser, "probability")
    choose(browser, "age", "55")
    assert shown(browser, "probability") != before
    choose(browser, "age", text)
    assert shown(browser, "probability") == before
    told = browser.run("return document.querySelector('.hint').textContent")
    assert told == ("Not a number: taken as not known" if text else "")


@pytest.mark.system
def test_numbers_are_read_as_the_page_writes_them(browser, tmp_path):
    rng = np.random.default_rng(0)
    X = pa.table({"income": rng.normal(50_000, 20_000, 300)})
    model = weigh.EvidenceNB(bins={"income": [24643.5, 25078.0]}).fit(X, rng.integers(0, 2, 300))
    weigh.calculator(model, path=tmp_path / "page.html")
    browser.open(tmp_path / "page.html")
    hints = {}
    for text in ["25000", "25,000", "25 000", "25,000.5", "24,6435e3", "0,5", "1,25"]:
        choose(browser, "income", text)
        hints[text] = browser.run("return document.querySelector('.hint').textContent")
    inside = "Level: 24,643.5 to 25,078"
    assert hints["25000"] == hints["25 000"] == inside
    assert hints["25,000"] == f"Read as 25000. {inside}"
    assert hints["25,000.5"] == f"Read as 25000.5. {inside}"
    assert hints["24,6435e3"] == f"Read as 24643.5. {'Level: up to 24,643.5'}"
    assert hints["0,5"] == "Read as 0.5. Level: up to 24,643.5"
    assert hints["1,25"] == "Read as 1.25. Level: up to 24,643.5"
    choose(browser, "income", "30000")
    assert "income above 25,078" in shown(browser, "rest")


@pytest.mark.system
def test_what_the_address_holds_and_the_page_cannot_use_is_said(browser, tmp_path):
    rows = mixed()
    asked = pc.if_else(rows["member"], rows["income"], None)
    rows = rows.set_column(rows.column_names.index("income"), "income", asked)
    model = weigh.EvidenceNB(ask_if={"income": ("member", True)}).fit(rows, "y")
    weigh.calculator(model, path=tmp_path / "page.html")
    odd = "#age=old&colour=purple&shoe=3&member=false&income=5&~rate=2&colour=red"
    browser.open(tmp_path / "page.html", odd + "&~pos_label=class+0&age=&<b>x</b>=1")
    told = shown(browser, "ignored")
    assert told == (
        "Not used of this page's address: age=old (not a number); colour=purple (no such level; "
        "~other is any that is not listed); shoe=3 (no such question); "
        "~rate=2 (not between 0 and 1); colour=red (given twice); "
        "~pos_label=class 0 (no such question); age= (given twice); <b>x</b>=1 (no such question); "
        "and 1 more."
    )
    assert settled(browser).endswith("#member=false")
    assert browser.violations() == []
    browser.run("document.getElementById('clear').click()")
    assert shown(browser, "ignored") == ""
    browser.open(tmp_path / "page.html", "#age=41.5&colour=red&~rate=0.2&income=")
    assert not browser.run("return document.getElementById('ignored').checkVisibility()")
    browser.open(tmp_path / "page.html", "#income=5")
    assert shown(browser, "ignored").endswith("income (not asked here).")


@pytest.mark.system
def test_of_many_classes_the_address_names_rivals_that_can_be(browser, tmp_path):
    model = weigh.EvidenceNB().fit(mixed(n_classes=3), "y")
    weigh.calculator(model, path=tmp_path / "page.html")
    browser.open(tmp_path / "page.html", "#~pos_label=class+9&~against=class+1&~rate-of=nobody")
    told = shown(browser, "ignored")
    assert "~pos_label=class 9 (no such class)" in told
    assert "~rate-of=nobody (no such class)" in told
    assert "~against=class 1 (against itself, or of no class)" in told


@pytest.mark.system
def test_blank_questions_leave_the_interval_of_those_that_are_answered(browser, tmp_path):
    """Where training lacked no answer, a blank is as if the model skipped what is missing."""
    whole = mixed().drop_columns(["age", "colour"])
    rng = np.random.default_rng(4)
    whole = whole.append_column("kind", pa.array(rng.choice([*"abc"], 400)))
    level, skip = (
        weigh.EducatedNB(pairs=0, missing=missing, random_state=0).fit(whole, "y")
        for missing in ("level", "skip")
    )
    rows = [
        {"income": income, "member": member, "kind": kind}
        for income in (None, 3.0)
        for member in (None, True)
        for kind in (None, "b")
    ]
    told = scored(browser, level, tmp_path, [[answers_of(level, row), {}] for row in rows])
    for found, row in zip(told, rows, strict=True):
        hold_equal(found, level.balance_sheet(row), evidence=level.evidence_)
        wanted = skip.balance_sheet(row).interval
        assert all(near(a, b) for a, b in zip(found["interval"], wanted, strict=True))
    assert shown(browser, "interval").startswith("90% interval")
    assert "left out at random" in shown(browser, "notes")


@pytest.mark.system
def test_the_keyboard_alone_reaches_and_answers_everything(browser, titanic_page):
    from selenium.webdriver import ActionChains, Keys

    _, path = titanic_page
    browser.open(path)
    keys = lambda *pressed: ActionChains(browser.driver).send_keys(*pressed).perform()  # noqa: E731
    keys(Keys.TAB, Keys.ARROW_DOWN)
    assert browser.run("return document.activeElement.closest('label').textContent") == "1st"
    keys(Keys.TAB, Keys.ARROW_DOWN, Keys.TAB, Keys.ARROW_DOWN)
    assert settled(browser).endswith("#Class=1st&Sex=Female&Age=Adult")
    keys(Keys.TAB, Keys.TAB, Keys.TAB, Keys.ARROW_RIGHT)
    assert browser.run("return document.activeElement.id") == "rate"
    assert "rate=" in settled(browser)


@pytest.mark.system
def test_of_many_classes_the_sheet_its_rival_and_the_base_rate_can_be_chosen(browser, tmp_path):
    model = weigh.EvidenceNB().fit(mixed(n_classes=3), "y")
    weigh.calculator(model, path=tmp_path / "page.html")
    browser.open(tmp_path / "page.html", "#age=50&colour=red")
    case = {"age": 50.0, "colour": "red"}
    likely = model.balance_sheet(case)
    assert shown(browser, "of-what") == f"Probability of {likely.pos_label}"
    told = browser.run(
        "return [...document.querySelectorAll('#classes td.number')].map((c) => c.textContent)"
    )
    assert told == [f"{p:.2f}" for p in model.predict_proba([case])[0]]
    pick = (
        "const list = document.getElementById(arguments[0]); list.value = arguments[1];"
        "list.dispatchEvent(new Event(arguments[2]))"
    )
    browser.run(pick, "of", "1", "change")
    browser.run(pick, "versus", "2", "change")
    browser.run(pick, "rate-of", "2", "change")
    browser.run(pick, "rate-exact", "10", "input")
    old = model.evidence_.assumed_rate
    rate = [*(old[:2] / old[:2].sum() * 0.9), 0.1]
    sheet = model.with_prior(rate).balance_sheet(case, pos_label="class 1", against="class 2")
    assert shown(browser, "of-what") == "Probability of class 1 rather than class 2"
    assert shown(browser, "probability") == f"{sheet.probability:.2f}"
    low, high = sheet.interval
    assert shown(browser, "interval") == f"90% interval {low:.2f} to {high:.2f}"
    address = settled(browser)
    assert "pos_label=class+1" in address
    browser.open(tmp_path / "page.html", "#" + address.partition("#")[2])
    assert shown(browser, "probability") == f"{sheet.probability:.2f}"


@pytest.mark.system
def test_the_tokens_of_a_document_are_filled_in_as_counts(browser, tmp_path):
    X = pa.table({"free": [2, 0, 1, 0], "money": [1, 0, 3, 1], "hello": [0, 2, 0, 1]})
    model = weigh.EvidenceNB(event_model="counts").fit(X, ["spam", "ham", "spam", "ham"])
    weigh.calculator(model, path=tmp_path / "page.html")
    browser.open(tmp_path / "page.html", "#hello=1")
    choose(browser, "free", "2")
    sheet = model.balance_sheet({"free": 2, "money": 0, "hello": 1})
    assert shown(browser, "probability") == f"{sheet.probability:.2f}"
    assert settled(browser).endswith("#free=2&hello=1")


def site(n=300, seed=3):
    rng = np.random.default_rng(seed)
    pain = rng.choice(["yes", "no"], n)
    where = [rng.choice(["left", "right"]) if p == "yes" else None for p in pain]
    sharp = [rng.choice(["a", "b"]) if w == "left" else None for w in where]
    return pa.table(
        {"pain": pain, "site": where, "kind": sharp, "ill": rng.choice(["ill", "well"], n)}
    )


@pytest.mark.system
@pytest.mark.parametrize("learner", [weigh.EvidenceNB, weigh.PerplexedNB, weigh.EducatedNB])
def test_a_question_is_asked_only_where_it_applies_and_else_is_no_evidence(
    learner, browser, tmp_path
):
    own = {"attenuation": 2.0} if learner is weigh.PerplexedNB else {}
    ask_if = {"site": ("pain", "yes"), "kind": ("site", ["left"])}
    model = learner(ask_if=ask_if, **own).fit(site(), "ill")
    weigh.calculator(model, path=tmp_path / "page.html")
    browser.open(tmp_path / "page.html", "#pain=yes&site=left&kind=a")
    visible = (
        "return [...document.querySelectorAll('.question')]"
        ".filter((box) => !box.hidden).map((box) => box.querySelector('legend').textContent)"
    )
    assert browser.run(visible) == ["pain", "site", "kind"]
    choose(browser, "site", "right")
    assert browser.run(visible) == ["pain", "site"]
    choose(browser, "site", "left")
    choose(browser, "pain", "no")
    assert browser.run(visible) == ["pain"]
    assert settled(browser).endswith("#pain=no")
    sheet = model.balance_sheet({"pain": "no", "site": "left", "kind": "a"})
    assert shown(browser, "probability") == f"{sheet.probability:.2f}"
    assert shown(browser, "interval").endswith(f"to {sheet.interval[1]:.2f}")
    assert "site = not asked (no evidence)" in shown(browser, "notes")


@pytest.mark.system
@pytest.mark.parametrize("width", [390, 1280])
def test_hostile_names_are_text_and_nothing_runs(width, browser, tmp_path):
    model = weird_model()
    weigh.calculator(
        model, path=tmp_path / "page.html", title=WEIRD[0], questions={WEIRD[1]: ASKED}
    )
    browser.width(width)
    browser.open(tmp_path / "page.html")
    for name in WEIRD:
        choose(browser, ASKED if name == WEIRD[1] else name, WEIRD[1])
    sheet = model.balance_sheet(dict.fromkeys(WEIRD, WEIRD[1]))
    assert float(shown(browser, "probability")) == pytest.approx(sheet.probability, abs=0.005)
    text = browser.run("return document.body.textContent")
    assert all(name in text for name in WEIRD)
    assert browser.driver.title == WEIRD[0]
    assert browser.run("return document.querySelectorAll('img, b, i, u').length") == 0
    assert browser.run("return document.scripts.length") == 2
    assert browser.run("return document.documentElement.scrollWidth") <= width
    address = settled(browser)
    browser.open(tmp_path / "page.html", "#" + address.partition("#")[2])
    assert settled(browser) == address
    assert browser.logs() == []


@pytest.mark.system
def test_no_request_leaves_the_page_and_its_policy_stops_what_would(browser, titanic_page):
    _, path = titanic_page
    browser.open(path)
    choose(browser, "Sex", "Male")
    assert browser.requests() == [path.as_uri()]
    browser.run("document.body.append(Object.assign(new Image(), {src: 'https://example.org/x'}))")
    browser.run("fetch('https://example.org/y').catch(() => 0)")
    settled(browser)
    assert len([line for line in browser.logs() if "Content Security Policy" in line]) >= 2


@pytest.mark.system
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1280])
def test_axe_finds_no_barrier(width, scheme, browser, tmp_path):
    browser.width(width)
    browser.media(scheme=scheme)
    two = weigh.EvidenceNB(special_values=CODES).fit(mixed(), "y")
    many = weigh.EvidenceNB().fit(mixed(n_classes=3), "y")
    for model in (two, many, weird_model()):
        weigh.calculator(model, path=tmp_path / "page.html")
        browser.open(tmp_path / "page.html", "#age=40&income=-999&colour=red")
        assert browser.violations() == []


@pytest.mark.system
def test_without_scripts_the_table_and_how_to_add_it_up_are_there(browser, titanic_page):
    _, path = titanic_page
    browser.scripts(False)
    browser.open(path)
    document = browser.driver.execute_cdp_cmd("DOM.getDocument", {"depth": 1})
    node = {"nodeId": document["root"]["nodeId"], "selector": "body"}
    body = browser.driver.execute_cdp_cmd("DOM.querySelector", node)
    html = browser.driver.execute_cdp_cmd("DOM.getOuterHTML", {"nodeId": body["nodeId"]})
    text = re.sub("<[^>]+>", " ", html["outerHTML"])
    assert "<td>Female</td>" in html["outerHTML"]  # as elements, not as the text of noscript
    assert "+174" in text
    assert "1/(1 + exp(-total))" in text


@pytest.mark.parametrize("most", [None, 2])
def test_without_scripts_the_page_says_what_a_value_that_is_not_listed_weighs(most):
    page = weigh.calculator(weigh.EvidenceNB(max_levels=most).fit(mixed(), "y"))
    told = re.search("<noscript>(.*?)</noscript>", page, re.S)[1]
    rule = "a value that is not listed takes the level other, if the feature has it; otherwise"
    assert (rule in told) == (most is not None)
    assert ("<td>other" in told) == (most is not None)
    assert "level that is not in the table weighs nothing" in told


@pytest.mark.system
def test_on_paper_the_sheet_is_printed_and_the_form_is_not(browser, titanic_page):
    _, path = titanic_page
    browser.open(path, "#Sex=Female")
    browser.media("print")
    see = "return document.getElementById(arguments[0]).checkVisibility()"
    assert not browser.run(see, "case")
    assert browser.run(see, "sheet")


@pytest.mark.system
@pytest.mark.parametrize("learner", [weigh.EvidenceNB(), weigh.EducatedNB(pairs=0, random_state=0)])
def test_forty_features_and_four_hundred_levels_make_a_small_and_fast_page(
    learner, browser, tmp_path
):
    model, path = big_model(learner), tmp_path / "page.html"
    weigh.calculator(model, path=path)
    assert path.stat().st_size < 320_000
    browser.open(path)
    # time of the page's own thread: other work on the machine is not its fault
    browser.driver.execute_cdp_cmd("Performance.enable", {"timeDomain": "threadTicks"})
    used = []
    for _ in range(3):
        browser.driver.refresh()
        found = browser.driver.execute_cdp_cmd("Performance.getMetrics", {})["metrics"]
        used.append({m["name"]: m["value"] for m in found}["ScriptDuration"])
    assert min(used) < 0.1
    case = {f"feature {j}": f"level {j % 10}" for j in range(40)}
    told = browser.run(SCORE, [[answers_of(model, case), {}]])[0]
    hold_equal(
        told, model.balance_sheet(case), 1e-9 if model.evidence_.covariance is None else 1e-5
    )


def test_sixteen_thousand_levels_make_a_page_of_few_hundred_kilobytes():
    """Their names twice, for the form and for those without scripts, and ten bytes a number."""
    model = big_model(weigh.EvidenceNB(), n_levels=400)
    names = sum(len(label) for table in model.evidence_ for label in table.labels)
    assert len(weigh.calculator(model).encode()) < 650_000
    assert 2 * names > 250_000


# ---------------------------------------------------------------- the file


LOADERS = {"src", "href", "style", "action", "srcset", "data"}


class Names(HTMLParser):
    """The names of all attributes of a page."""

    def __init__(self):
        super().__init__()
        self.names = set()

    def handle_starttag(self, tag, attrs):
        self.names |= {name for name, _ in attrs}


def test_the_policy_names_the_hashes_of_the_only_style_and_script(tmp_path):
    page = weigh.calculator(weird_model())
    policy = re.search(r'Content-Security-Policy" content="([^"]+)"', page)[1]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    blocks = [*re.findall(r"<style>(.*?)</style>", page, re.S)]
    blocks += re.findall(r"<script>(.*?)</script>", page, re.S)
    assert len(blocks) == 2
    for block in blocks:
        digest = base64.b64encode(hashlib.sha256(block.encode()).digest()).decode()
        assert f"'sha256-{digest}'" in policy
    named = Names()
    named.feed(page)
    assert not {name for name in named.names if name in LOADERS or name.startswith("on")}


def test_the_data_come_back_whole_from_the_page():
    page = weigh.calculator(weird_model())
    block = re.search(r'<script type="application/json" id="model">(.*?)</script>', page, re.S)[1]
    data = json.loads(block)
    assert [column["name"] for column in data["columns"]] == WEIRD
    assert "<" not in block


def test_evidence_alone_makes_the_same_form_and_a_path_is_written(tmp_path):
    model = weigh.EvidenceNB().fit(weigh.datasets.titanic(), "Survived")
    by_model, by_table = weigh.calculator(model), weigh.calculator(model.evidence_)
    assert by_model.partition('id="model">')[2] == by_table.partition('id="model">')[2]
    assert weigh.calculator(model, path=tmp_path / "page.html") is None
    assert (tmp_path / "page.html").read_text("utf-8") == by_model
    with pytest.raises(FileNotFoundError, match="no such folder"):
        weigh.calculator(model, path=tmp_path / "nowhere" / "page.html")


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (weigh.C44Classifier(), "C44Classifier has no table of weights"),
        (weigh.BoostedNB(combine="vote"), "combine='evidence'"),
        (weigh.PerplexedNB(form="arithmetic"), "PerplexedNB has no table"),
        (weigh.EvidenceNB, "has no table"),
        ({"a": 1}, "dict has no table"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_what_has_no_table_is_refused_by_name(model, message):
    if isinstance(model, weigh.BoostedNB | weigh.PerplexedNB):
        model = model.fit(weigh.datasets.titanic(), "Survived")
    with pytest.raises(ValueError, match=message):
        weigh.calculator(model)


def test_a_model_that_is_not_fitted_or_estimates_numbers_is_refused():
    with pytest.raises(ValueError, match="EvidenceNB"):
        weigh.calculator(weigh.EvidenceNB())
    with pytest.raises(ValueError, match="BoostedNBRegressor estimates numbers"):
        weigh.calculator(weigh.BoostedNBRegressor())


def towns(text="Bern"):
    """A town of which one level is kept, and a part that was asked for in all the others."""
    town = [text] * 60 + [f"t{i % 9}" for i in range(60)]
    part = [None] * 60 + ["east", "west", "east"] * 20
    return pa.table({"town": town, "part": part, "ill": ["ill", "well", "well", "ill"] * 30})


@pytest.mark.parametrize(("text", "places"), [("Bern", [*range(1, 11)]), ("other", [0])])
def test_a_branch_may_depend_on_other_and_data_that_read_so_come_first(text, places):
    rows = towns(text)
    if text == "other":
        rows = rows.set_column(1, "part", rows["part"][::-1])
    learner = weigh.EvidenceNB(max_levels={"town": 1}, ask_if={"part": ("town", "other")})
    page = weigh.calculator(learner.fit(rows, "ill"))
    data = json.loads(re.search(r'<script[^>]*id="model"[^>]*>(.*?)</script>', page, re.S)[1])
    assert data["columns"][1]["ask"] == [[0, places]]
    with pytest.raises(ValueError, match=r"'Rome'.* \[.*'other'\]"):
        learner.set_params(ask_if={"part": ("town", "Rome")}).fit(rows, "ill")


@pytest.mark.system
def test_a_question_of_the_level_other_is_asked_where_the_answer_is_another(browser, tmp_path):
    learner = weigh.EvidenceNB(max_levels={"town": 1}, ask_if={"part": ("town", "other")})
    model = learner.fit(towns(), "ill")
    weigh.calculator(model, path=tmp_path / "page.html")
    browser.open(tmp_path / "page.html", "#town=Bern")
    hidden = "return [...document.querySelectorAll('.question')].map((box) => box.hidden)"
    assert browser.run(hidden) == [False, True]
    for town in ("t3", "Another"):
        choose(browser, "town", town)
        assert browser.run(hidden) == [False, False]
    choose(browser, "part", "east")
    sheet = model.balance_sheet({"town": "t3", "part": "east"})
    assert shown(browser, "probability") == f"{sheet.probability:.2f}"


def test_texts_for_columns_that_are_not_there_are_refused():
    model = weigh.EvidenceNB().fit(site(), "ill")
    with pytest.raises(ValueError, match="questions names 'nowhere'"):
        weigh.calculator(model, questions={"nowhere": "?"})


def test_a_form_of_thousands_of_tokens_is_refused():
    X = sparse.csr_array(np.ones((4, 2001), dtype=int))
    model = weigh.EvidenceNB(event_model="counts").fit(X, [0, 1, 0, 1])
    with pytest.raises(ValueError, match="reads 2,001 tokens"):
        weigh.calculator(model)


def test_the_command_writes_the_same_page(tmp_path):
    from click.testing import CliRunner

    from weigh.cli import main

    model = weigh.EvidenceNB(ask_if={"site": ("pain", "yes")}, missing="skip").fit(site(), "ill")
    weigh.save(model, tmp_path / "model.json")
    words = ["calculator", str(tmp_path / "model.json"), "-o", str(tmp_path / "page.html")]
    words += ["--question", "pain", "Any pain?", "--pos-label", "ill"]
    done = CliRunner().invoke(main, [*words, "--title", "Ill?"])
    assert done.exit_code == 0, done.output
    assert done.stdout == ""
    wanted = weigh.calculator(
        model,
        questions={"pain": "Any pain?"},
        pos_label="ill",
        title="Ill?",
    )
    assert (tmp_path / "page.html").read_text("utf-8") == wanted


# ---------------------------------------------------------------- numbers

FAMILIES = {
    "gaussian": {"special_values": CODES, "pairs": [("colour", "age")]},
    "poisson": {"missing": "skip"},
    "gamma": {"special_values": CODES},
    "tweedie": {"power": 1.3},
}

ESTIMATE = """
const model = weigh.open(JSON.parse(document.getElementById("model").textContent));
return arguments[0].map((answers) => numbers.sheet(model, answers));
"""


def number_model(family, spread=1.0):
    """A model of a number that depends on the columns of a mixed table."""
    table = mixed()
    rng = np.random.default_rng(2)
    age = np.nan_to_num(table["age"].to_numpy(zero_copy_only=False), nan=50.0)
    mean = np.exp(age / 40 + 0.5 * table["member"].to_numpy(zero_copy_only=False))
    if family == "poisson":
        y = rng.poisson(mean * rng.gamma(1 / spread, spread, len(mean)))
    else:
        y = rng.gamma(2.0, mean / 2) * (1.0 if family != "tweedie" else rng.random(400) < 0.8)
    learner = weigh.EducatedRegressor(family=family, **FAMILIES[family])
    return learner.fit(table.drop_columns(["y"]), y)


@pytest.mark.system
@pytest.mark.parametrize(
    ("family", "spread"),
    [("gaussian", 1), ("gamma", 1), ("tweedie", 1), ("poisson", 1e-9), ("poisson", 0.5)],
)
def test_the_page_of_a_number_has_the_estimates_and_intervals_of_python(
    browser, tmp_path, family, spread
):
    model, path = number_model(family, spread), tmp_path / "page.html"
    weigh.calculator(model, path=path)
    browser.open(path)
    rows = [{}, *rows_of(model)]
    sheets = browser.run(ESTIMATE, [answers_of(model, row) for row in rows])
    for row, found in zip(rows, sheets, strict=True):
        own = {k: v for k, v in row.items() if v is not weigh.NOT_KNOWN}
        python = model.balance_sheet(own)
        assert near(found["estimate"], python.estimate)
        assert near(found["start"], python.start)
        assert all(
            near(a, b, 1e-6) for a, b in zip(found["interval"], python.interval, strict=True)
        )
        nothing = 1.0 if python.link == "log" else 0.0  # sheets leave out what is not known
        pushes = sorted(push.change for push in python.pushes if push.change != nothing)
        changes = sorted(item["change"] for item in found["items"] if item["change"] != nothing)
        assert all(near(a, b) for a, b in zip(changes, pushes, strict=True))


def count_model():
    """Claims in part of a year."""
    random = np.random.default_rng(3)
    rows = pd.DataFrame({"bonus": random.integers(0, 4, 300), "fuel": random.choice([*"ab"], 300)})
    rows["years"] = random.uniform(0.1, 2.0, 300).round(2)
    rows["shift"] = random.normal(0, 0.3, 300).round(2)
    rows["claims"] = random.poisson(rows["years"] * np.exp(0.5 * rows["bonus"] + rows["shift"]))
    learner = weigh.EducatedRegressor(family="poisson", pairs=0)
    return learner.fit(rows, "claims", exposure="years", offset="shift")


@pytest.mark.system
def test_the_page_takes_exposure_and_offset_as_python_does(browser, tmp_path):
    model, path = count_model(), tmp_path / "page.html"
    weigh.calculator(model, path=path)
    for row in (
        {"bonus": 2, "fuel": "a", "years": 0.5, "shift": -0.25},
        {"bonus": 2, "fuel": "a", "years": 1.75},
        {"bonus": 2, "fuel": "a", "shift": 0.5},
        {"years": 2.0},
        {},
    ):
        python = model.balance_sheet(row)
        browser.open(path, "#" + "&".join(f"{name}={value}" for name, value in row.items()))
        answers = [row.get("bonus"), None if "fuel" not in row else 0]
        answers += [row.get("years"), row.get("shift")]
        (found,) = browser.run(ESTIMATE, [answers])
        assert near(found["estimate"], python.estimate)
        assert all(map(near, found["interval"], python.interval))
        assert [own["words"] for own in found["known"]] == [push.text for push in python.offsets]
        told = browser.run("return document.getElementById('foot').innerText")
        assert ("per unit of years" in told) == ("years" not in row or len(python.offsets) > 0)
        shown = browser.run("return document.getElementById('probability').textContent")
        assert float(shown) == pytest.approx(python.estimate, abs=0.051)
    assert not browser.logs()


@pytest.mark.system
def test_the_page_takes_no_exposure_below_zero(browser, tmp_path):
    model, path = count_model(), tmp_path / "page.html"
    weigh.calculator(model, path=path)
    browser.open(path, "#years=-1")
    assert "not above 0" in browser.run("return document.getElementById('ignored').textContent")
    shown = """const input = document.getElementById("a2");
    input.value = arguments[0]; input.dispatchEvent(new Event("input"));
    return [document.getElementById("h2").textContent, input.getAttribute("aria-invalid"),
            document.getElementById("probability").textContent];"""
    hint, odd, estimate = browser.run(shown, "0")
    assert hint.startswith("Not a number above 0")
    assert odd == "true"
    assert float(estimate) == pytest.approx(model.balance_sheet({}).estimate, abs=0.006)
    hint, odd, estimate = browser.run(shown, "0.5")
    assert hint.startswith("Exposure")
    assert odd == "false"
    assert float(estimate) == pytest.approx(model.balance_sheet({}).estimate / 2, abs=0.006)


@pytest.mark.system
def test_the_page_of_a_count_shows_the_whole_limits_of_python(browser, tmp_path):
    model, path = number_model("poisson", 0.5), tmp_path / "page.html"
    weigh.calculator(model, path=path)
    browser.open(path)
    sheet = model.balance_sheet({})
    low, high = map(int, sheet.interval)
    for text in (sheet.to_text(), sheet._repr_html_()):
        assert f"{low} to {high}" in text
    shown = browser.run("return document.getElementById('interval').textContent")
    assert shown == f"90% interval {low} to {high}"
    told = browser.run("return document.getElementById('bar-name').textContent")
    assert told.endswith(f" on a scale from {low} to {high}")


@pytest.mark.system
def test_the_page_of_a_number_shows_its_estimate_and_refuses_what_belongs_to_classes(
    browser, tmp_path
):
    model, path = number_model("gaussian"), tmp_path / "page.html"
    weigh.calculator(model, path=path)
    browser.open(path)
    estimate = model.balance_sheet({}).estimate
    shown = browser.run("return document.getElementById('probability').textContent")
    assert float(shown) == pytest.approx(estimate, abs=0.05)
    assert browser.run("return document.getElementById('population').hidden")
    for option in ({"pos_label": "y"}, {"adverse": "y"}, {"cut_off": 0.5}):
        with pytest.raises(ValueError, match=next(iter(option))):
            weigh.calculator(model, **option)


TYPE = """
const field = document.getElementById(arguments[0]);
field.value = arguments[1];
field.dispatchEvent(new Event("input"));
return document.getElementById(arguments[0].replace("a", "h")).textContent;
"""


OUTSIDE = ". Outside 0 to 1, the values of the training rows"


@pytest.mark.system
def test_a_number_that_no_row_had_is_told_beside_its_field_and_on_the_sheet(browser, tmp_path):
    rows = [{"senior": i % 2, "tenure": i % 40} for i in range(400)]
    bins = {"senior": [0.5], "tenure": [k + 0.5 for k in range(9)]}
    model = weigh.EvidenceNB(bins=bins).fit(rows, [i % 2 + i % 3 > 1 for i in range(400)])
    weigh.calculator(model, path=tmp_path / "page.html")
    browser.open(tmp_path / "page.html")
    assert browser.run(TYPE, "a0", "1") == "Level: 1"
    assert browser.run(TYPE, "a0", "5") == f"Level: 5 (read as 1){OUTSIDE}"
    assert browser.run(TYPE, "a0", "-2") == f"Level: -2 (read as 0){OUTSIDE}"
    assert browser.run(TYPE, "a0", "0.7") == "Level: 0.7 (read as 1)"
    assert browser.run(TYPE, "a1", "7") == "Level: 7"
    assert browser.run(TYPE, "a1", "6.75") == "Level: 6.75 (read as 7)"
    browser.run(TYPE, "a0", "5")
    items = browser.run(SCORE, [[[5, 6.75], {}]])[0]["items"]
    sheet = model.balance_sheet({"senior": 5, "tenure": 6.75})
    words = {str(item) for item in sheet.items}
    assert words == {"senior = 5 (read as 1)", "tenure = 6.75 (read as 7)"}
    assert {item["words"] for item in items} == words
    reasons = weigh.reasons(model, [{"senior": 5, "tenure": 6.75}], n=2)
    assert {reasons[f"reason_{k}"][0].as_py() for k in (1, 2)} == words


@pytest.mark.system
def test_a_bin_with_a_name_of_the_users_is_told_as_python_tells_it(browser, tmp_path):
    rows = [{"flag": i % 2, "age": i % 90, "kids": i % 4} for i in range(360)]
    bins = {"flag": [0.5], "age": [18.5, 65.5], "kids": [0.5, 1.5, 2.5]}
    model = weigh.EvidenceNB(bins=bins).fit(rows, [i % 90 > 40 for i in range(360)])
    levels = {
        "flag": {"0": "1", "1": "2"},
        "age": {"<= 18": "minor", ">= 66": "3"},
        "kids": {"2": "2,024"},
    }
    weigh.calculator(model, path=tmp_path / "page.html", labels={"levels": levels})
    browser.open(tmp_path / "page.html")
    assert browser.run(TYPE, "a0", "1") == "Level: 2"
    assert browser.run(TYPE, "a0", "2") == f"Level: 2 (read as 2){OUTSIDE}"
    assert browser.run(TYPE, "a1", "70") == "Level: 3"
    assert browser.run(TYPE, "a2", "2") == "Level: 2,024"
    assert browser.run(TYPE, "a2", "2.25") == "Level: 2.25 (read as 2,024)"
    for answers in ([1, 70, 2], [2, 80, 2.25], [0, 17, 2]):
        row = dict(zip(bins, answers, strict=True))
        sheet = model.balance_sheet(row, labels={"levels": levels})
        items = browser.run(SCORE, [[answers, {}]])[0]["items"]
        assert {item["words"] for item in items} == {str(item) for item in sheet.items}
