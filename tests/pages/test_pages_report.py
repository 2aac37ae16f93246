"""The report: its numbers are those of `evaluate`, and it needs neither scripts nor a network."""

import html
import re
from html.parser import HTMLParser
from unicodedata import normalize

import numpy as np
import pyarrow as pa
import pytest
from sklearn.metrics import roc_curve
from tests.page_models import CODES, LEARNERS, MANY, WEIRD, big_model, mixed, weird

import weigh
from weigh.evidence.units import words_of
from weigh.metrics import Scored, gains_curve
from weigh.pages import quality
from weigh.pages import weights as cards
from weigh.pages.model import spell_levels

OPEN = "document.querySelectorAll('details').forEach((part) => (part.open = true))"


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
            row, at = seen.row(name), 0
            ends = [weight - 1.6448536 * error, weight + 1.6448536 * error]
            told = [float(end.replace("+", "")) for end in row[at + 3].split(" to ")]
            assert row[at + 1] == f"{table.counts[i].sum():,.0f}"
            assert float(row[at + 2]) == round(weight)
            assert told == [round(end) for end in ends]


def test_weights_without_standard_errors_have_no_column_of_intervals(people):
    models = [learner().fit(people, "Survived") for learner in (weigh.EvidenceNB, weigh.BoostedNB)]
    pages = [weigh.report(model, people, "Survived") for model in models]
    heads = [re.findall(r"<th scope=col>([^<]*)", page) for page in pages]
    assert "90% interval" in heads[0]
    assert "90% interval" not in heads[1]


def test_a_report_on_documents_shows_the_tokens_that_tell_the_classes_apart():
    y = np.arange(90) % 3 == 0
    counts = np.column_stack([*[np.full(90, 5 + j % 2) for j in range(250)], y, ~y])
    names = [f"common{j}" for j in range(250)] + ["money", "lunch"]
    documents = pa.table(dict(zip(names, counts.T, strict=True)))
    model = weigh.EvidenceNB(event_model="counts").fit(documents, y)
    page = weigh.report(model, documents, y)
    seen = Reader(page)
    assert seen.row("money")[1] == "30"
    assert seen.row("lunch")[1] == "60"
    assert "Most telling for" in page
    assert seen.row("Level")[1] == "Count"
    ends = seen.row("token")[-2:]
    assert [end.split(":")[0] for end in ends] == ["lunch", "money"]
    assert "52 more tokens are less telling" in page


def test_the_measures_thresholds_and_groups_are_those_of_evaluate(titanic, people):
    model, _, seen = titanic
    found = weigh.evaluate(model, people, "Survived", by="Class", costs=(1, 3))
    assert seen.row("AUC")[1].startswith(f"{found.validation.auc.value:.3f}")
    assert seen.row("Loss, bits a row")[1].startswith(f"{found.validation.loss.value:.4f}")
    head = next(row for row in seen.rows if row and row[0] == "Cut-off")
    decided = next(row for row in seen.rows if row and row[0].startswith("0.25"))
    cells, rates = dict(zip(head, decided, strict=True)), found.validation.decision.rates
    assert float(cells["Cost"]) == pytest.approx(found.validation.decision.cost, abs=5e-4)
    counts = [int(cells[name].replace(",", "")) for name in
              ("Caught", "False positives", "Missed", "Left alone")]  # fmt: skip
    assert counts == [rates.true_positives, rates.false_positives,
                      rates.false_negatives, rates.true_negatives]  # fmt: skip
    assert sum(counts) == people.num_rows
    text = "".join(seen.texts)
    assert all(sentence in text for sentence in found.findings)
    for group in found.groups:
        assert any(row[0] == group.name and f"{group.n_rows}" in row for row in seen.rows)


def test_the_summary_names_the_mean_cost_if_errors_differ_in_cost(titanic, people):
    model, _, seen = titanic
    found = weigh.evaluate(model, people, "Survived", costs=(1, 3)).validation.decision
    assert seen.row("Mean cost a row at 0.25")[1].startswith(f"{found.cost:.4g}")
    alike = Reader(weigh.report(model, people, "Survived", costs=(2, 2)))
    wrong = (model.predict(people) != people["Survived"].to_numpy()).mean()
    assert alike.row("Misclassified at 0.5")[1].startswith(f"{wrong:.1%}")


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


def test_the_formula_on_the_page_has_every_digit_of_a_cut_point():
    cuts = [0.12345678901234567, 1234568.5]
    data = [{"v": v} for v in (0.0, 1.0, 1234568.0, 1234569.0)] * 5
    model = weigh.EvidenceNB(bins={"v": cuts}).fit(data, [0, 0, 0, 1] * 5)
    page = weigh.report(model, data, [0, 0, 0, 1] * 5)
    text = html.unescape(re.search(r"<pre[^>]*>(.*?)</pre>", page, re.S)[1])
    for cut in cuts:
        assert f"{cut!r}" in text
    assert model.evidence_.tables[0].labels[-1] == ">= 1234569"


@pytest.mark.parametrize("most", [None, 2])
def test_the_formula_on_the_page_tells_what_a_value_that_is_not_listed_weighs(most):
    """Score a level that was kept and one that is nowhere by the page alone."""
    data = mixed()
    model = weigh.EvidenceNB(max_levels=most).fit(data.select(["colour", "y"]), "y")
    page = weigh.report(model, data, "y")
    _, prior, tables = formula_of(page)
    is_told = "(a value that is not listed takes the level other, if the feature has it)" in page
    assert is_told == (most is not None)
    weights = tables["colour"]
    for value in ("black", "nowhere"):
        wanted = weights.get(value, weights["other"] if is_told else 0.0)
        assert np.isclose(prior + wanted, model.decision_function([{"colour": value}])[0])


@pytest.mark.parametrize(("learner", "words"), [
    (weigh.EvidenceNB(), "for b, less the mean of all classes"),
    (weigh.AdjustedNB(norm=None, multiclass="ovr"), "for b against the rest"),
])  # fmt: skip
def test_the_page_says_what_a_weight_of_one_of_three_classes_is_set_against(learner, words):
    rows, y = [{"v": "xyz"[i % 3]} for i in range(30)], ["a", "b", "c", "a", "b"] * 6
    assert f"Weights of evidence {words}," in weigh.report(
        learner.fit(rows, y), rows, y, pos_label="b"
    )


KINDS = ["skipping", "crossed", "root", "spline", "isotonic", "pairs", "boosted", "prior"]


@pytest.mark.parametrize("name", KINDS)
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
    every = weigh.report(model, data, "y")
    assert [every.count(f"<b>{name}.</b>") for name in ("Reliability", "ROC", "Lift")] == [3, 3, 3]
    one = weigh.report(model, data, "y", pos_label="class 2")
    assert [one.count(f"<b>{name}.</b>") for name in ("Reliability", "ROC", "Lift")] == [1, 1, 1]
    assert "Cut-offs and costs" in one


def test_reversals_are_named():
    data = weigh.datasets.simpson()
    adjusted = weigh.AdjustedNB(random_state=0, norm=None).fit(data, "Recovered")
    page = weigh.report(adjusted, data, "Recovered")
    assert str(adjusted.reversals_[0]).replace("'", "&#x27;") in page
    educated = weigh.EducatedNB(pairs=0, random_state=0).fit(data, "Recovered")
    turned, naive = "<p>Drug: the effect reverses", weigh.EvidenceNB().fit(data, "Recovered")
    assert turned in weigh.report(educated, data, "Recovered")
    assert turned not in weigh.report(naive, data, "Recovered")


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
    text = quality.draw_roc(Scored.read(y, p), "x", "c")
    points = re.search(r'class="curve" points="([^"]+)"', text)[1]
    plane = quality.Plane("", "")
    drawn = {tuple(map(float, point.split(","))) for point in points.split()}
    fpr, tpr, _ = roc_curve(y, p, drop_intermediate=False)
    assert drawn == {(plane.x(a), plane.y(b)) for a, b in zip(fpr, tpr, strict=True)}
    assert len(quality.thin(np.linspace(0, 2, 5000))) == quality.POINTS


def test_the_lift_of_the_page_is_that_of_the_gains_curve():
    rng = np.random.default_rng(1)
    y = rng.integers(0, 2, 300)
    rows = Scored.read(y, np.clip(rng.normal(0.4 + 0.2 * y, 0.2), 0, 1))
    text = quality.draw_lift(rows, "x", "c")
    wanted = gains_curve(rows).at(0.1)
    assert f"{wanted / 0.1:.2f} times" in text
    assert f"{wanted:.0%} of all" in text


def test_rows_of_one_class_have_no_charts_but_a_report(people):
    model = weigh.EvidenceNB().fit(people, "Survived")
    yes = people.filter(pa.compute.equal(people["Survived"], "Yes"))
    page = weigh.report(model, yes, "Survived")
    assert "<figure" not in page
    assert "of one class" in page


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


def test_a_model_without_a_table_is_refused(people):
    with pytest.raises(ValueError, match="C44Classifier"):
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
    assert "'Survived' is taken" in done.stderr
    wanted = weigh.report(model, people, "Survived", by="Class", costs=(1.0, 3.0), examples=2)
    assert (tmp_path / "report.html").read_text("utf-8") == wanted


# ---------------------------------------------------------------- the class that its weights favour


def formula_of(page):
    """Prior and weights by feature and level, and the class whose probability they give."""
    text = html.unescape(re.search(r"<pre[^>]*>(.*?)</pre>", page, re.S)[1])
    prior = float(re.search(r"^prior  (\S+)$", text, re.M)[1])
    tables = {}
    for block in text.split("\n\n")[2:]:
        name, *lines = block.splitlines()
        tables[name] = {k.strip(): float(w) for k, w in (line.rsplit("  ", 1) for line in lines)}
    return re.search(r"^probability of (.*) =", text, re.M)[1], prior, tables


def test_all_of_the_page_evidence_for_the_class_that_was_asked_for(people, titanic):
    model, yes, _ = titanic
    page = weigh.report(model, people, "Survived", costs=(1, 3), pos_label="No")
    seen, text = Reader(page), html.unescape(page)
    assert "A positive weight favours No." in text
    assert "A positive weight favours Yes." in html.unescape(yes)
    assert "Weights of evidence for No against Yes" in text
    assert seen.row("Female")[2:4] == ["-174", "-189 to -158"]
    assert "Cut-off 0.25 for No" in text
    (of, prior, tables), mine = formula_of(page), formula_of(yes)
    assert (of, mine[0]) == ("No", "Yes")
    assert prior == -mine[1]
    assert tables["Sex"]["Female"] == -mine[2]["Sex"]["Female"]
    assert "Probability of Yes" not in text
    assert "Evidence for Yes" not in text


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_of_many_classes_the_page_evidence_for_the_one_that_was_asked_for():
    data = mixed(n_classes=3)
    model = weigh.EvidenceNB().fit(data, "y")
    page = weigh.report(model, data, "y", pos_label="class 2")
    seen = Reader(page)
    assert "A positive weight favours class 2." in page
    table = model.evidence_["colour"]
    for i, name in enumerate(table.labels[:-1]):
        assert float(seen.row(name)[2]) == round(100 * table.weights[i, 2])
        reach = 1.6448536 * table.errors[i, 2]
        told = [float(end) for end in seen.row(name)[3].split(" to ")]
        assert told == [round(100 * (table.weights[i, 2] + s * reach)) for s in (-1, 1)]
    assert "probability of class 2 = its exp(total)" in page
    assert "the probability of each of 3 classes of y." in weigh.report(model, data, "y")


def test_pages_name_the_target_if_the_fit_recorded_it(people):
    named = weigh.EvidenceNB().fit(people, "Survived")
    bare = weigh.EvidenceNB().fit(people.drop_columns("Survived"), people["Survived"].to_numpy())
    for model, told in ((named, "that Survived is Yes"), (bare, "of Yes")):
        found = weigh.evaluate(model, people, "Survived")
        page = weigh.report(model, evaluation=found)
        assert f"<p>This model predicts the probability {told}. A positive weight" in page
        assert f"<title>The probability {told}</title>" in weigh.calculator(model)
    flipped = weigh.report(named, people, "Survived", pos_label="No")
    assert "This model predicts the probability that Survived is No. " in flipped
    labels = {"outcomes": {"Yes": "the person survives"}}
    own = weigh.report(named, people, "Survived", labels=labels)
    assert "This model predicts the probability that the person survives. " in own
    card = weigh.Scorecard.from_table(people, "Survived", adverse="No")
    scored = weigh.report(card, people, "Survived")
    assert "This scorecard predicts the probability that Survived is No. " in scored


def test_costs_of_more_than_two_classes_ask_for_the_class_that_they_are_of(tmp_path):
    from click.testing import CliRunner

    from weigh.cli import main
    from weigh.frames import write_file

    data = mixed(n_classes=3)
    model = weigh.EvidenceNB().fit(data, "y")
    with pytest.raises(ValueError, match=r"pos_label, one of .*'class 0', 'class 1'"):
        weigh.report(model, data, "y", costs=(1, 3))
    weigh.save(model, tmp_path / "model.json")
    write_file(data, str(tmp_path / "data.csv"))
    files = [str(tmp_path / name) for name in ("model.json", "data.csv", "report.html")]
    words = ["report", *files[:2], "--target", "y", "-o", files[2], "--cost", "1", "3"]
    done = CliRunner().invoke(main, words)
    assert done.exit_code == 1
    assert "--pos-label, one of ['class 0', 'class 1', 'class 2']" in done.stderr


def test_the_command_says_what_costs_are_of(tmp_path, people):
    from click.testing import CliRunner

    from weigh.cli import main
    from weigh.frames import write_file

    weigh.save(weigh.EvidenceNB().fit(people, "Survived"), tmp_path / "model.json")
    write_file(people, str(tmp_path / "people.csv"))
    files = [str(tmp_path / name) for name in ("model.json", "people.csv", "report.html")]
    words = ["report", *files[:2], "--target", "Survived", "-o", files[2], "--cost", "1", "3"]
    told = CliRunner().invoke(main, words).stderr
    assert "No predicted as Yes (1)" in told
    assert "Yes predicted as No (3)" in told
    assert "--cost" not in CliRunner().invoke(main, [*words, "--pos-label", "No"]).stderr
    page = html.unescape((tmp_path / "report.html").read_text("utf-8"))
    assert "A false positive costs 1 and a false negative 3: calibrated probabilities of No" in page


# ---------------------------------------------------------------- numbers


def test_a_number_of_many_intervals_is_drawn_with_its_ends_and_every_interval_is_listed():
    rng = np.random.default_rng(0)
    x = rng.normal(0, 1, 3000)
    y = rng.random(3000) < 1 / (1 + np.exp(-x))
    model = weigh.EvidenceNB(bins=60).fit(pa.table({"x": x}), y)
    page = weigh.report(model, pa.table({"x": x}), y)
    table, seen = model.evidence_["x"], Reader(page)
    assert len(table.levels) == 60
    for i, name in enumerate(spell_levels(table.feature)):
        row = seen.row(name)
        assert float(row[2]) == round(100 * table.weights[i])
    told = re.search(r"<figcaption> (60 bins: [^<]*)</figcaption>", page)[1]
    ends = [f"{round(100 * table.weights[k]):+d}" for k in (0, -1)]
    assert [part.split()[0] for part in told.split(": ")[1].split(", ")[:2]] == ends
    assert f"{round(100 * table.weights.max()):+d} (" in told
    assert "more levels" not in page


def test_the_steps_stand_where_the_weights_and_cut_points_are():
    cuts, weights = (1.0, 2.0, 4.0), np.array([-0.5, 0.0, 1.0, 0.25])
    drawn = cards.Steps(cuts, weights, np.full(4, np.nan), [*"abcd"], np.full(4, 0.25), 0.05)
    points = re.search(r'class=curve points="([^"]+)"', drawn.draw("n", "x"))[1].split()
    x, y = np.array([[float(v) for v in point.split(",")] for point in points]).T
    assert (y[::2] == y[1::2]).all()
    assert (x[1:-1:2] == x[2::2]).all()
    inner = x[1:-1:2]
    assert (inner[1] - inner[0]) * 2 == pytest.approx(inner[2] - inner[1], abs=0.3)
    heights = y[::2]
    share = (heights - heights[2]) / (heights[0] - heights[2])
    assert share == pytest.approx((1.0 - weights) / 1.5, abs=0.005)
    assert "class=band" not in drawn.draw("n", "x")
    crowded = (1.0, 1.1, 1.2, 1.3, 1000.0)
    crowded = cards.Steps(crowded, np.zeros(6), np.zeros(6), [*"abcdef"], np.full(6, 1 / 6), 0.05)
    assert np.allclose(np.diff(crowded.axis.edges), 1 / 6)
    assert "as wide as each other" in crowded.told()


# ---------------------------------------------------------------- an Evidence, an Evaluation


def test_a_table_of_weights_alone_makes_the_report_of_its_model(people):
    model = weigh.EvidenceNB().fit(people, "Survived")
    own = weigh.report(model, people, "Survived", by="Class", costs=(1, 3))
    bare = weigh.report(model.evidence_, people, "Survived", by="Class", costs=(1, 3))
    parts = [page.split("fitted on")[1].split("<h2>Provenance")[0] for page in (own, bare)]
    assert parts[0].rpartition("<details")[0] == parts[1].rpartition("<details")[0]
    X, y = np.arange(40.0)[:, None] % 7, np.arange(40) % 2
    array = weigh.EvidenceNB(bins=3).fit(X, y)
    assert "The exact formula" in weigh.report(array.evidence_, X, y)


def test_an_evaluation_takes_the_place_of_the_rows(people, tmp_path):
    model = weigh.EvidenceNB().fit(people, "Survived")
    found = weigh.evaluate(model, people, "Survived", by="Class", costs=(1, 3), pos_label="No")
    path = tmp_path / "report.html"
    assert weigh.report(model.evidence_, path=path, evaluation=found) is None
    page = path.read_text("utf-8")
    text = html.unescape(page)
    assert all(sentence in text for sentence in found.findings)
    assert "A positive weight favours No." in text
    assert page.count("<figure") == 1
    assert "Groups of Class" in page
    assert "(row" not in page


def test_a_report_is_refused_without_rows_or_with_too_much(people):
    model = weigh.EvidenceNB().fit(people, "Survived")
    found = weigh.evaluate(model, people, "Survived")
    with pytest.raises(ValueError, match="evaluation="):
        weigh.report(model)
    with pytest.raises(ValueError, match="X is part of the evaluation"):
        weigh.report(model, people, evaluation=found)
    with pytest.raises(ValueError, match="costs is part of the evaluation"):
        weigh.report(model, evaluation=found, costs=(1, 3))
    with pytest.raises(ValueError, match="must be what evaluate returns, got dict"):
        weigh.report(model, evaluation={})
    other = weigh.EvidenceNB().fit(people.select(["Sex", "Age"]), "Age")
    with pytest.raises(ValueError, match=r"classes \['No', 'Yes'\], but the model has"):
        weigh.report(other, evaluation=found)


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
        weigh.report(model, data, "y", path=path, by=by)
        browser.open(path)
        assert browser.requests() == [path.as_uri()]
        assert browser.logs() == []
        browser.run(OPEN)
        assert browser.run("return document.documentElement.scrollWidth") <= width
        assert browser.violations() == []


@pytest.mark.system
def test_the_browser_reads_the_table_as_it_was_meant(browser, tmp_path, people):
    """Cells have no end tags; each must still be in its row and column."""
    model = weigh.EvidenceNB().fit(people, "Survived")
    weigh.report(model, people, "Survived", path=tmp_path / "report.html")
    browser.open(tmp_path / "report.html")
    browser.run(OPEN)
    rows = browser.run(
        "return [...document.querySelectorAll('.weights tr')].map((row) =>"
        " [...row.cells].map((cell) => cell.innerText.trim()))"
    )
    assert rows[0] == ["Level", "Rows", "Weight", "90% interval", "Against | for"]
    assert rows[1] == ["Female", "470", "+174", "+158 to +189", ""]
    first = "return document.querySelector('.card h3').innerText"
    assert browser.run(first) == "Sex importance 78, IV 0.92"
    assert browser.run("return document.querySelectorAll('.weights svg').length") == 8
    middle = (
        "const box = (part) => part.getBoundingClientRect();"
        "const middle = (part) => (box(part).top + box(part).bottom) / 2;"
        "return [...document.querySelectorAll('.weights svg')].map((bar) =>"
        " Math.abs(middle(bar) - middle(bar.closest('tr').cells[2])))"
    )
    assert max(browser.run(middle)) < 3


def test_the_page_says_which_limit_bins_include_only_where_there_are_bins(titanic):
    assert "upper limit" not in titanic[1]
    x = np.arange(60.0)
    for closed, told in (("right", "limit."), ("left", "limit, unless it ends below a number.")):
        bins = {"x": weigh.Binning(cuts=[20, 40], closed=closed)}
        table = pa.table({"x": x})
        model = weigh.EvidenceNB(bins=bins).fit(table, x % 3 == 0)
        page = weigh.report(model, table, x % 3 == 0)
        assert page.count(f"A bin includes its upper {told}") == 2
        assert "Intervals include" not in page


@pytest.mark.system
@pytest.mark.parametrize("n_classes", [2, 3])
def test_headings_of_numbers_break_between_words_alone(n_classes, browser, tmp_path):
    """Beside long levels the columns of numbers are narrow."""
    names = [f"{word} of a rather long name (and some more)" for word in ("One", "Two", "Three")]
    table = pa.table({"feature": names * 40, "y": [f"class{k % n_classes}" for k in range(120)]})
    model = weigh.EvidenceNB().fit(table, "y")
    weigh.report(model, table, "y", path=tmp_path / "report.html")
    browser.width(1400)
    browser.open(tmp_path / "report.html")
    browser.run(OPEN)
    lines = browser.run(
        "return [...document.querySelectorAll('.weights thead th:not(:first-child)')].map((cell) =>"
        " { const range = document.createRange(); range.selectNodeContents(cell);"
        " return [cell.innerText.split(' ').length, range.getClientRects().length]; })"
    )
    assert len(lines) >= 4
    assert all(n_lines <= words for words, n_lines in lines)


@pytest.mark.system
def test_the_most_important_tables_name_their_extreme_levels_on_a_phone(browser, tmp_path):
    names = [f"a level with a long name (number {k})" for k in range(4)]
    features = {"feature with a name": names * 40, "other": [*"ab"] * 80}
    for classes in ("uvvv", "uvwv"):
        rows = pa.table(features | {"y": [*classes] * 40})
        model = weigh.EducatedNB(random_state=0, pairs=0).fit(rows, "y")
        weigh.report(model, rows, "y", path=tmp_path / "report.html")
        browser.width(390)
        browser.open(tmp_path / "report.html")
        boxes = browser.run(
            "return [...document.querySelectorAll('.ranked tbody tr')].map((row) => {"
            " const shown = [...row.querySelectorAll('th, td, svg')]"
            ".filter((part) => part.getClientRects().length);"
            " return [row.getBoundingClientRect().height, row.innerText,"
            " Math.max(...shown.map((part) => part.getBoundingClientRect().right))]; })"
        )
        assert len(boxes) == 2
        assert all(height < 130 and right <= 390 for height, _, right in boxes)
        if len(model.classes_) == 2:
            ends = model.evidence_["feature with a name"].weights
            for i in (ends.argmin(), ends.argmax()):
                assert f"{names[i]}: {100 * ends[i]:+.0f}" in boxes[0][1]


@pytest.mark.system
def test_measures_keep_their_indents(browser, tmp_path, people):
    model = weigh.EvidenceNB().fit(people, "Survived")
    weigh.report(model, people, "Survived", path=tmp_path / "report.html")
    browser.open(tmp_path / "report.html")
    browser.run(OPEN)
    pads = browser.run(
        "return Object.fromEntries([...document.querySelectorAll('.tables th[scope=row]')]"
        ".map((cell) => [cell.innerText, parseFloat(getComputedStyle(cell).paddingInlineStart)]))"
    )
    assert pads["Gini, 2 AUC - 1"] > pads["AUC"]


def twenty(n=3000):
    """Ten numbers and ten features of twelve levels."""
    rng = np.random.default_rng(0)
    numbers = {f"number {j}": rng.normal(size=n) for j in range(10)}
    codes = {f"category {j}": rng.integers(0, 12, n) for j in range(10)}
    total = sum(0.4 * np.sin(j + 1) * x for j, x in enumerate(numbers.values()))
    total = total + sum(0.3 * np.cos(j + k) for j, k in enumerate(codes.values()))
    y = np.where(rng.random(n) < 1 / (1 + np.exp(-total)), "good", "bad")
    texts = {name: [f"level {v}" for v in part] for name, part in codes.items()}
    return pa.table({**numbers, **texts, "y": y})


@pytest.mark.system
def test_the_summary_of_twenty_features_prints_on_two_pages_and_the_whole_on_eight(
    browser, tmp_path
):
    data = twenty()
    model = weigh.EvidenceNB(bins=12).fit(data.slice(0, 2000), "y")
    path = tmp_path / "report.html"
    weigh.report(model, data.slice(2000), "y", path=path, by="category 1", costs=(1, 3))
    pages = browser.printed(path)
    details = next(place for place, text in enumerate(pages) if text.startswith("Details"))
    assert details <= 2
    assert len(pages) <= 8
    whole = normalize("NFKC", "".join(pages))  # the letters of ligatures
    assert all(f"{kind} {j}" in whole for kind in ("number", "category") for j in range(10))
    assert "Cut-offs and costs" in whole
    assert "exact formula" not in whole


@pytest.mark.system
@pytest.mark.parametrize("width", [390, 768, 1280])
def test_no_weight_is_cut_and_wide_tables_scroll_within_themselves(width, browser, tmp_path):
    browser.width(width)
    rng = np.random.default_rng(0)
    numbers = mixed().append_column("x" * 200, pa.array(rng.normal(0, 1e6, 400)))
    for data in (numbers, weird()):
        model = weigh.EvidenceNB(bins=20).fit(data, "y")
        weigh.report(model, data, "y", path=tmp_path / "report.html", by=data.column_names[2])
        browser.open(tmp_path / "report.html")
        assert browser.run("return document.documentElement.scrollWidth") <= width
        cut = (
            "return [...document.querySelectorAll('.card')].flatMap((box) =>"
            " [...box.querySelectorAll('td, svg')].filter((cell) =>"
            " cell.getBoundingClientRect().right > box.getBoundingClientRect().right + 1)"
            ".map((cell) => cell.outerHTML.slice(0, 80)))"
        )
        browser.run(OPEN)
        assert browser.run(cut) == []
        assert browser.run("return document.documentElement.scrollWidth") <= width


# ---------------------------------------------------------------- numbers


@pytest.fixture(scope="module", params=["gaussian", "poisson"])
def claims(request):
    """A model of a number, rows that it has not seen, and the options that judge it."""
    rng = np.random.default_rng(0)
    age, fuel = rng.integers(18, 80, 600), rng.choice(["petrol", "diesel"], 600)
    years = rng.uniform(0.2, 1.0, 600)
    y = rng.poisson(years * np.exp(1 - age / 40 + 0.4 * (fuel == "diesel"))).astype(float)
    table = pa.table({"age": age, "fuel": fuel, "years": years, "claims": y})
    own = {"exposure": "years"} if request.param == "poisson" else {}
    model = weigh.EducatedRegressor(family=request.param).fit(table[:300], "claims", **own)
    return model, table[300:], own


def test_a_report_of_a_number_has_the_measures_of_evaluate(claims):
    model, rows, own = claims
    found = weigh.evaluate(model, rows, "claims", **own)
    seen = Reader(weigh.report(model, rows, "claims", **own))
    assert seen.row("R2")[1] == f"{found.r2:.3f}"
    assert seen.row("Calibration slope (1 is right)")[1] == found.slope.spelled("{:.2f}".format)
    assert seen.row("Rows inside 90% intervals")[1].startswith(f"{found.covered.value:.1%}")
    assert float(seen.row("RMSE")[1].split()[0]) == pytest.approx(found.rmse.value, abs=0.01)
    assert len([row for row in seen.rows if len(row) == 4 and " to " in row[3]]) >= len(found.bands)


def test_a_report_of_one_row_of_a_number_shows_dashes_where_a_measure_is_not_defined(claims):
    model, rows, own = claims
    seen = Reader(weigh.report(model, rows[:1], "claims", **own))
    assert seen.row("R2")[1] == "-"
    assert "nan" not in {cell.strip() for row in seen.rows for cell in row}


def test_a_report_of_a_number_on_training_rows_says_so():
    x = np.random.default_rng(0).normal(size=200)
    rows = pa.table({"x": x, "y": 2 * x + np.sin(50 * x)})
    model = weigh.EducatedRegressor().fit(rows, "y")
    page, found = weigh.report(model, rows, "y"), weigh.evaluate(model, rows, "y")
    assert "training rows, so" in page
    assert found.findings[2] not in page  # its measures are in the table
    assert "Mean deviance" not in page  # of a gaussian model it is the square of RMSE


@pytest.mark.parametrize("top", [0.4, 40_000.0, 400_000.0])
def test_the_numbers_beside_a_chart_leave_room_for_the_title_of_the_axis(top):
    plane = quality.Plane("mean estimate", "mean observed", top, 0.0, (0.0, top))
    page = str(plane.draw("n", "Calibration.", "", []))
    longest = max(len(text) for text in re.findall(r'class="tick side"[^>]*>([^<]+)<', page))
    width = 6.6  # of a digit of 11 pixels
    assert plane.x(0.0) - 5 - width * longest > 12 + 5  # half a line of the turned title


def test_a_report_of_a_number_shows_every_level_in_its_unit_or_as_a_factor(claims):
    model, rows, own = claims
    seen = Reader(weigh.report(model, rows, "claims", **own))
    table = model.evidence_["fuel"]
    for level, weight in zip(table.labels, table.weights, strict=True):
        shown = seen.row(level)[2]
        if own:
            assert float(shown.removeprefix("× ")) == pytest.approx(np.exp(weight), abs=0.006)
        else:
            assert float(shown) == pytest.approx(weight, abs=0.006)


def test_the_chart_of_errors_counts_a_row_of_weight_three_three_times(claims):
    model, rows, own = claims
    weight = np.where(rows["claims"].to_numpy() > 1, 3, np.arange(rows.num_rows) % 2)
    repeated = rows.take(np.repeat(np.arange(rows.num_rows), weight))
    pages = [
        weigh.report(model, rows, "claims", sample_weight=weight, **own),
        weigh.report(model, repeated, "claims", **own),
        weigh.report(model, rows, "claims", **own),
    ]
    figure = re.compile(r"<figure(?:(?!<figure).)*?n-errors.*?</figure>", re.S)
    weighted, literal, plain = (figure.search(page)[0] for page in pages)
    assert weighted == literal != plain


def test_a_report_of_a_number_takes_an_evaluation_in_place_of_rows(claims):
    model, rows, own = claims
    found = weigh.evaluate(model, rows, "claims", **own)
    page = weigh.report(model, evaluation=found)
    assert "n-calibration" in page
    assert "n-errors" not in page
    with pytest.raises(ValueError, match="evaluation"):
        weigh.report(weigh.EvidenceNB().fit(rows, "fuel"), evaluation=found)


@pytest.mark.parametrize("option", [{"pos_label": 1}, {"adverse": 1}])
def test_a_report_of_a_number_refuses_what_belongs_to_classes(claims, option):
    model, rows, own = claims
    with pytest.raises(ValueError, match=next(iter(option))):
        weigh.report(model, rows, "claims", **own, **option)


def test_the_examples_of_a_number_add_up_to_what_was_observed():
    rng = np.random.default_rng(0)
    X = pa.table({"a": rng.normal(size=200), "b": rng.choice(["x", "y"], 200)})
    y = 100 * X["a"].to_numpy() + rng.normal(size=200)
    model = weigh.EducatedRegressor().fit(X, y)
    seen = Reader(weigh.report(model, X, y))
    order = np.argsort(model.predict(X))
    texts = " ".join(seen.texts)
    assert f"The smallest estimate (row {order[0]})" in texts
    assert f"The largest estimate (row {order[-1]})" in texts
    observed = seen.row("Observed")[1].partition("Start")[0]
    assert float(observed) == pytest.approx(y[order[0]], abs=0.6)


def paper_card():
    """A card of three pages: long names, long levels and twelve features."""
    rng = np.random.default_rng(3)
    rows = 900
    names = [f"number_of_enquiries_in_the_last_{j}_months" for j in range(9)]
    columns = {name: rng.normal(size=rows) for name in names}
    purposes = [f"a loan for purpose {k} that takes long to describe" for k in range(4)]
    columns |= {f"purpose {j}": rng.choice(purposes, rows) for j in range(3)}
    y = np.where(rng.random(rows) < 1 / (1 + np.exp(-columns[names[0]])), "good", "bad")
    table = pa.table({**columns, "status": y})
    cuts = {name: [-1.0, -0.3, 0.3, 1.0] for name in names}
    return weigh.Scorecard.from_table(table, "status", adverse="bad", bins=cuts), table


def test_the_report_of_a_card_has_base_points_and_features_in_place_of_a_prior_and_tables():
    card, table = paper_card()
    page = weigh.report(card, table, "status")
    words = re.sub(r"<style.*?</style>|<pre.*?</pre>|<[^>]*>", " ", page, flags=re.S)
    assert not re.search(r"\b(prior|tables?|weights)\b", words.partition("Details")[0])
    assert "base points" in words
    assert "points have no standard errors" in words


def test_every_table_of_a_card_has_the_names_of_the_labels():
    people = weigh.datasets.titanic()
    card = weigh.Scorecard.from_table(people, "Survived", adverse="No")
    words = {
        "columns": {"Sex": "Man or woman"},
        "levels": {"Sex": {"Female": "a woman"}},
        "classes": {"No": "lost", "Yes": "saved"},
    }
    page = weigh.report(card, people, "Survived", by="Sex", cut_off=550, labels=words, examples=0)
    tables = page.partition("Scorecard and cut-offs")[2].partition("All measures")[0]
    assert "for saved" in tables
    assert tables.count("Bads are cases of lost") == 3
    assert tables.count("Man or woman") >= 2
    assert tables.count("a woman") >= 2
    assert not re.search(r"\b(Sex|Female|Yes|No)\b", tables)


def test_the_share_of_rare_weights_says_that_it_leaves_out_pairs():
    rng = np.random.default_rng(0)
    rare = rng.choice(["x", "y", "z"], 400, p=[0.49, 0.49, 0.02])
    table = pa.table({"a": rng.normal(size=400), "b": rare})
    y = np.where(
        table["a"].to_numpy() * np.where(table["b"].to_numpy() == "x", 1, -1) > 0, "t", "f"
    )
    for pairs, told in ((0, "weights rest on"), (1, "weights of single features rest on")):
        model = weigh.EducatedNB(pairs=[("a", "b")] if pairs else 0).fit(table, y)
        assert told in weigh.report(model, table, y, examples=0)


@pytest.mark.system
def test_a_card_shows_its_points_on_a_phone_and_prints_no_feature_in_two_parts(browser, tmp_path):
    card, table = paper_card()
    path = tmp_path / "report.html"
    weigh.report(card, table, "status", path=path)
    browser.width(390)
    browser.open(path)
    assert browser.run("return document.documentElement.scrollWidth") <= 390
    edges = browser.run(
        "return [...document.querySelectorAll('.points td:last-child')]"
        ".map((cell) => cell.getBoundingClientRect().right)"
    )
    assert len(edges) > 50
    assert max(edges) <= 390
    pages = browser.printed(path)
    ends = [tuple(len(re.findall(end, text)) for end in (r"<= -1\b", r"> 1\b")) for text in pages]
    assert sum(first for first, _ in ends) >= 9
    assert all(first == last for first, last in ends)  # bins of a feature are on one page
    assert len(pages[-1].splitlines()) > 5


@pytest.mark.parametrize("high", [1.0, 0.32, 123456.0])
def test_the_last_label_of_an_axis_lies_inside_the_chart(high):
    chart = quality.Plane("x", "y", ends=(0.0, high)).draw("name", "title", "told", [])
    places = re.findall(r'class="tick" x="([\d.]+)"[^>]*>([^<]+)<', str(chart))
    assert len(places) == 5
    assert all(float(x) + 3.3 * len(text) <= quality.SIZE + 0.01 for x, text in places)


def test_every_loss_on_the_page_is_in_bits(people):
    model = weigh.EducatedNB(pairs=0).fit(people, "Survived")
    page = weigh.report(model, people, "Survived")
    for table in model.evidence_:
        assert f"added loss {table.added_loss / np.log(2):.4f}" in page
    assert "bits a row" in page
    assert "nats" not in page


def test_importance_and_added_loss_have_one_name_and_one_definition(people):
    model = weigh.EducatedNB(pairs=0).fit(people, "Survived")
    page = html.unescape(weigh.report(model, people, "Survived"))
    defined = words_of(model.evidence_).importance_is
    assert page.count(defined) == 2
    assert defined in html.unescape(model._repr_html_())
    assert "Added loss" in page
    assert "Added loss" in str(model.evidence_)
    assert "Added\n" in model.evidence_.to_text(88)
    for table in model.evidence_:
        rows = np.repeat(table.weights, table.counts.sum(axis=1).astype(int))
        assert table.importance == pytest.approx(np.abs(rows - rows.mean()).mean())


@pytest.mark.parametrize(("n", "folded"), [(13, 0), (14, 2), (28, 16)])
def test_tables_beyond_the_most_important_twelve_are_folded(n, folded):
    rng = np.random.default_rng(0)
    X = pa.table({f"x{k}": rng.integers(0, 3, 60).astype(str) for k in range(n)})
    y = rng.integers(0, 2, 60)
    page = weigh.report(weigh.EvidenceNB().fit(X, y), X, y, examples=0)
    first, fold, rest = page.partition(f"<h3>{folded} tables of less importance</h3>")
    assert bool(fold) == bool(folded)
    assert first.count("<article") == n - folded
    assert rest.count("<article") == folded
