"""The report: its numbers are those of `evaluate`, and it needs neither scripts nor a network."""

import re
from html.parser import HTMLParser

import numpy as np
import pyarrow as pa
import pytest
from sklearn.metrics import roc_curve
from tests.page_models import CODES, LEARNERS, MANY, WEIRD, big_model, mixed, weird

import weigh
from weigh.metrics import Scored, gains_curve
from weigh.pages import charts


class Reader(HTMLParser):
    """What a reader sees: text by cell, and what tags and attributes there are."""

    def __init__(self, page):
        super().__init__()
        self.tags, self.names, self.rows, self.texts, self.inside = [], set(), [], [], []
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.names |= {name for name, _ in attrs}
        if tag == "tr":
            self.rows.append([])
        if tag in ("td", "th") and self.rows:
            self.rows[-1].append("")
        self.inside.append(tag)

    def handle_data(self, data):
        self.texts.append(data)
        if self.rows and self.rows[-1]:
            self.rows[-1][-1] += data

    def row(self, *start):
        """The first row that begins with these cells."""
        return next(row for row in self.rows if tuple(row[: len(start)]) == start)


@pytest.fixture(scope="module")
def people():
    return weigh.datasets.titanic()


@pytest.fixture(scope="module")
def titanic(people):
    model = weigh.EvidenceNB().fit(people, "Survived")
    page = weigh.report(model, people, "Survived", by="Class", costs=(1, 3))
    return model, page, Reader(page)


def test_the_weights_are_on_the_page_with_their_rows_and_intervals(titanic):
    model, _, seen = titanic
    for table in model.evidence_:
        for i, name in enumerate(table.labels):
            weight, error = 100 * table.weights[i], 100 * table.errors[i]
            row = next(r for r in seen.rows if name in r[:2])
            at = row.index(name)
            ends = [weight - 1.6448536 * error, weight + 1.6448536 * error]
            told = [float(end.replace("+", "")) for end in row[at + 3].split(" to ")]
            assert row[at + 1] == f"{table.counts[i].sum():,.0f}"
            assert float(row[at + 2]) == round(weight)
            assert told == [round(end) for end in ends]


def test_the_measures_thresholds_and_groups_are_those_of_evaluate(titanic, people):
    model, _, seen = titanic
    found = weigh.evaluate(model, people, "Survived", by="Class", costs=(1, 3))
    assert seen.row("AUC")[1].startswith(f"{found.validation.auc.value:.4f}")
    assert seen.row("Loss, bits a row")[1].startswith(f"{found.validation.loss.value:.4f}")
    decided = next(row for row in seen.rows if row and row[0].startswith("0.25"))
    assert float(decided[6]) == pytest.approx(found.validation.decision.cost, abs=5e-4)
    text = "".join(seen.texts)
    assert all(sentence in text for sentence in found.findings)
    assert "flagged above 0.25" in text
    for group in found.groups:
        assert any(row[0] == group.name and f"{group.n_rows}" in row for row in seen.rows)


def test_the_formula_on_the_page_gives_the_probabilities(titanic, people):
    """Parse it, and score every row by hand."""
    model, page, _ = titanic
    text = re.search(r"<pre[^>]*>(.*?)</pre>", page, re.S)[1]
    prior = float(re.search(r"^prior  (\S+)$", text, re.M)[1])
    tables = {}
    for block in text.split("\n\n")[2:]:
        name, *lines = block.splitlines()
        tables[name] = {k.strip(): float(w) for k, w in (line.rsplit("  ", 1) for line in lines)}
    rows = people.select(["Class", "Sex", "Age"]).to_pylist()[::50]
    totals = [prior + sum(tables[name][value] for name, value in row.items()) for row in rows]
    assert np.allclose(totals, model.decision_function(rows), atol=1e-10)


@pytest.mark.parametrize("name", ["skipping", "crossed", "root", "spline", "isotonic", "pairs"])
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_every_kind_of_model_has_a_report(name):
    data = mixed()
    model = LEARNERS[name].fit(data, "y")
    page = weigh.report(model, data, "y")
    text = "".join(Reader(page).texts)
    assert "The exact formula" in text
    worth = model.evidence_.recalibration
    assert (worth is None) or f"f is {worth.method}" in text
    assert model.evidence_.attenuation is None or "n counts" in text


@pytest.mark.parametrize("name", MANY)
@pytest.mark.filterwarnings("ignore::UserWarning", "ignore::sklearn.exceptions.ConvergenceWarning")
def test_many_classes_are_drawn_one_against_the_rest(name):
    data = mixed(n_classes=3)
    model = MANY[name].fit(data, "y")
    seen = Reader(weigh.report(model, data, "y"))
    assert seen.tags.count("figure") == 9
    one = Reader(weigh.report(model, data, "y", pos_label="class 2"))
    assert one.tags.count("figure") == 3
    assert "Thresholds and costs" in one.texts


def test_reversals_are_named():
    data = weigh.datasets.simpson()
    adjusted = weigh.AdjustedNB(random_state=0, norm=None).fit(data, "Recovered")
    page = weigh.report(adjusted, data, "Recovered")
    assert str(adjusted.reversals_[0]).replace("'", "&#x27;") in page
    educated = weigh.EducatedNB(random_state=0).fit(data, "Recovered")
    assert "Drug: alone its levels speak one way" in weigh.report(educated, data, "Recovered")
    naive = weigh.EvidenceNB().fit(data, "Recovered")
    assert "None: every feature speaks as it does alone" in weigh.report(naive, data, "Recovered")


def test_the_examples_are_sheets_of_the_rows_they_name(titanic, people):
    model, page, _ = titanic
    rows = people.to_pylist()
    named = [int(row) for row in re.findall(r"\(row (\d+)\)", page)]
    assert len(named) == 4
    p = model.predict_proba(people)[:, 1]
    assert p[named[0]] == p.max()
    assert p[named[1]] == p.min()
    yes = np.array([row["Survived"] == "Yes" for row in rows])
    assert abs(p - yes)[named[2]] == abs(p - yes).max()
    first = page.split(f"(row {named[0]})")[1].split("</div>")[0]
    assert f"Probability of Yes<td>{p.max():.2f}" in first
    assert "(row" not in weigh.report(model, people, "Survived", examples=0)


def test_the_roc_of_the_page_is_that_of_scikit_learn():
    rng = np.random.default_rng(0)
    y, p = rng.integers(0, 2, 400), rng.random(400).round(2)
    text = charts.draw_roc(Scored.read(y, p), "x", "c")
    points = re.search(r'class="curve" points="([^"]+)"', text)[1]
    plane = charts.Plane("", "")
    drawn = {tuple(map(float, point.split(","))) for point in points.split()}
    fpr, tpr, _ = roc_curve(y, p, drop_intermediate=False)
    assert drawn == {(plane.x(a), plane.y(b)) for a, b in zip(fpr, tpr, strict=True)}
    assert len(charts.thin(np.linspace(0, 2, 5000))) == charts.POINTS


def test_the_lift_of_the_page_is_that_of_the_gains_curve():
    rng = np.random.default_rng(1)
    y = rng.integers(0, 2, 300)
    rows = Scored.read(y, np.clip(rng.normal(0.4 + 0.2 * y, 0.2), 0, 1))
    text = charts.draw_lift(rows, "x", "c")
    wanted = gains_curve(rows).at(0.1)
    assert f"{wanted / 0.1:.2f} times" in text
    assert f"{wanted:.0%} of all" in text


def test_rows_of_one_class_have_no_charts_but_a_report(people):
    model = weigh.EvidenceNB().fit(people, "Survived")
    yes = people.filter(pa.compute.equal(people["Survived"], "Yes"))
    page = weigh.report(model, yes, "Survived")
    assert "<figure" not in page
    assert "there is nothing to draw" in page


def test_names_are_escaped_and_no_script_or_address_is_in_the_page():
    data = weird()
    model = weigh.EvidenceNB().fit(data, "y")
    page = weigh.report(model, data, "y", by=WEIRD[1], title=WEIRD[0])
    seen = Reader(page)
    assert not {"script", "img", "i", "iframe", "link"} & {*seen.tags}
    assert not {n for n in seen.names if n in ("src", "href", "style") or n.startswith("on")}
    text = "".join(seen.texts)
    assert all(name in text for name in WEIRD)
    policy = re.search(r'Content-Security-Policy" content="([^"]+)"', page)[1]
    assert "default-src 'none'" in policy
    assert "script-src" not in policy


def test_evidence_alone_or_a_model_without_a_table_is_refused(people):
    model = weigh.EvidenceNB().fit(people, "Survived")
    with pytest.raises(ValueError, match="give the fitted model"):
        weigh.report(model.evidence_, people, "Survived")
    with pytest.raises(ValueError, match="C44Classifier has no table"):
        weigh.report(weigh.C44Classifier(), people, "Survived")


def test_forty_features_and_four_hundred_levels_make_less_than_a_megabyte():
    model = big_model(weigh.EvidenceNB())
    rng = np.random.default_rng(1)
    columns = {name: [f"level {v}" for v in rng.integers(0, 10, 500)]
               for name in model.feature_names_in_}  # fmt: skip
    y = rng.integers(0, 2, 500).astype(bool)
    assert len(weigh.report(model, pa.table(columns), y).encode()) < 1_000_000


def test_the_command_writes_the_same_page(tmp_path, people):
    from click.testing import CliRunner

    from weigh.cli import main
    from weigh.frames import write_file

    model = weigh.EvidenceNB().fit(people, "Survived")
    weigh.save(model, tmp_path / "model.json")
    write_file(people, str(tmp_path / "people.csv"))
    files = [str(tmp_path / name) for name in ("model.json", "people.csv", "report.html")]
    words = ["report", *files[:2], "-o", files[2], "--by", "Class", "--cost", "1", "3"]
    done = CliRunner().invoke(main, [*words, "--examples", "2"])
    assert done.exit_code == 0, done.output
    assert done.stdout == ""
    assert "'Survived' is taken for the target" in done.stderr
    wanted = weigh.report(model, people, "Survived", by="Class", costs=(1.0, 3.0), examples=2)
    assert (tmp_path / "report.html").read_text("utf-8") == wanted


# ---------------------------------------------------------------- in a browser


@pytest.mark.system
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1280])
def test_axe_finds_no_barrier_and_nothing_is_loaded(width, scheme, browser, tmp_path):
    browser.width(width)
    browser.media(scheme=scheme)
    path = tmp_path / "report.html"
    for data, by in ((mixed(), "colour"), (mixed(n_classes=3), "member"), (weird(), WEIRD[1])):
        own = {"special_values": CODES} if "income" in data.column_names else {}
        model = weigh.EvidenceNB(**own).fit(data, "y")
        weigh.report(model, data, "y", path, by=by)
        browser.open(path)
        assert browser.requests() == [path.as_uri()]
        assert browser.logs() == []
        assert browser.run("return document.documentElement.scrollWidth") <= width
        assert browser.violations() == []


@pytest.mark.system
def test_the_browser_reads_the_table_as_it_was_meant(browser, tmp_path, people):
    """Cells have no end tags; each must still be in its row and column."""
    model = weigh.EvidenceNB().fit(people, "Survived")
    weigh.report(model, people, "Survived", tmp_path / "report.html")
    browser.open(tmp_path / "report.html")
    rows = browser.run(
        "return [...document.querySelectorAll('.weights tr')].map((row) =>"
        " [...row.cells].map((cell) => cell.innerText.trim()))"
    )
    assert rows[2][1:] == ["Female", "470", "+174", "+158 to +189", ""]
    assert rows[0] == ["Feature", "Level", "Rows", "Weight", "90% interval", "Against | for"]
    assert browser.run("return document.querySelectorAll('.weights svg').length") == 9
