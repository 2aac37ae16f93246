"""What the service tells beside scores: ids, reasons, notes, versions, and counts by level."""

import json
import re
from collections import Counter
from urllib.request import Request, urlopen

import numpy as np
import pytest
from click.testing import CliRunner
from tests import page_models
from tests.serving import CASE, ask, save_people, serving

import weigh
from weigh.cli import main
from weigh.serving import make_app

pytestmark = pytest.mark.needs("fastapi", "uvicorn")

PEOPLE = weigh.datasets.titanic()
ROWS = [
    {"Class": "3rd", "Sex": "Female", "Age": "Child"},
    {"Class": "1st", "Sex": "Male"},
    {"Class": "4th", "Sex": "Male", "Age": "Adult"},
    {"Class": None, "Sex": "Male", "Age": "Adult"},
]


@pytest.fixture
def app(tmp_path):
    save_people(tmp_path / "model.json")
    return make_app(tmp_path / "model.json")


def read_counts(text, version=None):
    """Every line of a metric as its name and labels, and its number: read by hand."""
    found = {}
    for line in text.splitlines():
        if line.startswith("#"):
            continue
        name, inner, number = re.fullmatch(r"(\w+)(?:\{(.*)\})? (\S+)", line).groups()
        labels = dict(re.findall(r'(\w+)="((?:[^"\\]|\\.)*)"', inner or ""))
        assert version in (None, labels.pop("version", version))
        found[(name, *labels.values())] = float(number)
    return found


# ---------------------------------------------------------------- ids, reasons, notes, version


@pytest.mark.parametrize("own", ["a17", 17, None, "é\n"])
def test_an_id_is_passed_through_and_changes_nothing_else(app, own):
    plain = ask(app, "POST", "/score", CASE).json
    assert ask(app, "POST", "/score", CASE | {"id": own}).json == {"id": own} | plain
    many = ask(app, "POST", "/score", {"rows": [CASE | {"id": own}, CASE]}).json["rows"]
    assert [row["id"] for row in many] == [own, None]
    assert "id" not in plain


@pytest.mark.parametrize("own", [1.5, True, [1], {}])
def test_an_id_that_is_neither_text_nor_a_whole_number_is_refused(app, own):
    answer = ask(app, "POST", "/score", CASE | {"id": own})
    assert (answer.status, answer.json["field"]) == (422, "id")


def test_a_column_called_id_is_a_column(tmp_path):
    rows = [{"id": x} for x in "aabb"] * 9
    weigh.save(weigh.EvidenceNB().fit(rows, [0, 0, 1, 1] * 9), tmp_path / "m.json")
    answer = ask(make_app(tmp_path / "m.json"), "POST", "/score", {"id": "a"}).json
    assert answer["class"] == 0
    assert "id" not in answer


@pytest.mark.parametrize("name", ["naive", "three"])
def test_reasons_are_those_of_python(tmp_path, name):
    table = page_models.mixed()
    if name == "three":
        y = np.arange(table.num_rows) % 3
        codes = {"income": [-999]}
        model = weigh.EvidenceNB(special_values=codes).fit(table.drop_columns(["y"]), y)
    else:
        model = page_models.LEARNERS["naive"].fit(table, "y")
    weigh.save(model, tmp_path / "m.json")
    rows = [{k: v for k, v in row.items() if k != "y" and v == v} for row in table.to_pylist()[:20]]
    app = make_app(tmp_path / "m.json")
    told = ask(app, "POST", "/score?reasons=2", {"rows": rows}).json["rows"]
    blank = [
        {name: row.get(name, weigh.NOT_KNOWN) for name in model.feature_names_in_} for row in rows
    ]
    wanted = weigh.reasons(model, blank, n=2)
    for i, answer in enumerate(told):
        for k, reason in enumerate(answer["reasons"], 1):
            assert reason["reason"] == wanted[f"reason_{k}"][i].as_py()
            assert reason["weight"] == pytest.approx(wanted[f"weight_{k}"][i].as_py())


def test_reasons_tell_a_number_that_is_read_as_0_or_1(tmp_path):
    rows = [{"smoker": x} for x in (0, 0, 1, 1)] * 20
    model = weigh.EvidenceNB(bins={"smoker": [0.5]}).fit(rows, [0, 0, 1, 1] * 20)
    weigh.save(model, tmp_path / "m.json")
    asked = [{"smoker": x} for x in (1, 2, 0.5)]
    told = ask(make_app(tmp_path / "m.json"), "POST", "/score?reasons=1", {"rows": asked}).json
    found = [row["reasons"][0]["reason"] for row in told["rows"]]
    assert found == ["smoker = 1", "smoker = 2 (read as 1)", "smoker = 0.5 (read as 0)"]


def test_reasons_and_sheets_tell_a_bin_that_the_user_names_by_a_number_by_its_name(tmp_path):
    rows = [{"age": age, "kids": age % 4} for age in range(90)]
    y = [age > 40 for age in range(90)]
    model = weigh.EvidenceNB(bins={"age": [18.5, 65.5], "kids": [0.5, 1.5, 2.5]}).fit(rows, y)
    editor = weigh.edit(model, rows, y, who="ada")
    editor.rename("age", levels={"<= 18": "1", "19 to 65": "2", ">= 66": "3"}, why="codes")
    named = editor.rename("kids", levels={"2": "2024"}, why="codes").model
    weigh.save(named, tmp_path / "m.json")
    row = {"age": 70, "kids": 2}
    wanted = {"age = 3", "kids = 2024"}
    assert {str(item) for item in named.balance_sheet(row).items} == wanted
    reasons = weigh.reasons(named, [row], n=2)
    assert {reasons[f"reason_{k}"][0].as_py() for k in (1, 2)} == wanted
    service = make_app(tmp_path / "m.json")
    told = ask(service, "POST", "/score?reasons=2", row).json["reasons"]
    assert {reason["reason"] for reason in told} == wanted


def test_notes_name_fields_that_are_not_known_or_new(app):
    told = ask(app, "POST", "/score?notes=true", {"rows": ROWS}).json["rows"]
    fields = [[(note["field"], note["note"]) for note in row["notes"]] for row in told]
    assert fields[0] == []
    assert fields[1] == [("Age", "not known")]
    assert fields[2] == [("Class", "never seen in training")]
    assert fields[3] == [("Class", "not known")]


def test_a_value_never_seen_is_noted_unless_notes_are_off(app):
    new = {"field": "Class", "note": "never seen in training"}
    told = ask(app, "POST", "/score", {"rows": ROWS}).json["rows"]
    assert [row.get("notes") for row in told] == [None, None, [new], None]
    assert ask(app, "POST", "/score", ROWS[2]).json["notes"] == [new]
    told = ask(app, "POST", "/score?notes=false", {"rows": ROWS}).json["rows"]
    assert not any("notes" in row for row in told)


def test_a_value_that_is_new_within_other_is_noted_and_a_rare_one_is_not(tmp_path):
    rows = [{"town": f"t{i % 40:02}"} for i in range(400)]
    model = weigh.EvidenceNB(max_levels=3).fit(rows, [i % 2 for i in range(400)])
    weigh.save(model, tmp_path / "m.json")
    asked = {"rows": [{"town": "t00"}, {"town": "t39"}, {"town": "nowhere"}]}
    told = ask(make_app(tmp_path / "m.json"), "POST", "/score", asked).json["rows"]
    new = {"field": "town", "note": "never seen in training"}
    assert [row.get("notes") for row in told] == [None, None, [new]]


def test_notes_tell_true_from_one_in_a_column_of_both(tmp_path):
    rows = [{"t": True}, {"t": 2}, {"t": "a"}] * 5
    model = weigh.EvidenceNB(categorical_features="all").fit(rows, [0, 1, 0] * 5)
    weigh.save(model, tmp_path / "m.json")
    asked = {"rows": [{"t": True}, {"t": 1}, {"t": 2}, {"t": False}]}
    told = ask(make_app(tmp_path / "m.json"), "POST", "/score", asked).json["rows"]
    assert ["notes" in row for row in told] == [False, True, False, True]


@pytest.mark.parametrize("query", ["reasons=x", "reasons=-1", "reasons=99999", "notes=1", "why=2"])
def test_another_wish_is_refused_by_name(app, query):
    answer = ask(app, "POST", f"/score?{query}", CASE)
    assert (answer.status, answer.json["field"]) == (422, query.partition("=")[0])


def test_every_answer_says_which_model_gave_it(app, tmp_path):
    version = json.loads((tmp_path / "model.json").read_text())["checksum"]
    for method, path in (("POST", "/score"), ("POST", "/explain"), ("GET", "/model")):
        answer = ask(app, method, path, CASE if method == "POST" else None)
        assert answer.headers["x-weigh-model"] == version
    assert ask(app, "GET", "/healthz").json["version"] == version


def test_health_says_when_a_file_was_refused(app, tmp_path):
    assert ask(app, "GET", "/healthz").json["refused"] is None
    (tmp_path / "model.json").write_text("{}")
    app.reloader.look()
    assert ask(app, "GET", "/healthz").json["refused"] > "2020"
    text = ask(app, "GET", "/metrics").body.decode()
    assert read_counts(text)[("weigh_reload_refused",)] == 1


# ---------------------------------------------------------------- counts


def test_metrics_count_the_rows_of_each_level(app):
    answer = ask(app, "GET", "/metrics")
    assert answer.headers["content-type"].startswith("text/plain; version=0.0.4")
    version = ask(app, "GET", "/healthz").json["version"]
    before = read_counts(answer.body.decode(), version)
    assert before[("weigh_rows_total",)] == 0
    scored = ask(app, "POST", "/score", {"rows": ROWS}).json["rows"]
    scored.append(ask(app, "POST", "/score", ROWS[0]).json)
    ask(app, "POST", "/explain", ROWS[0])
    ask(app, "POST", "/score", {"Class": "3rd", "no": 1})
    found = read_counts(ask(app, "GET", "/metrics").body.decode(), version)
    assert found[("weigh_rows_total",)] == 5
    rows = [*ROWS, ROWS[0]]
    for name in ("Class", "Sex", "Age"):
        levels = Counter(row.get(name) for row in rows)
        for level in {*PEOPLE[name].to_pylist()}:
            assert found[("weigh_level_rows_total", name, level)] == levels[level]
    assert found[("weigh_absent_rows_total", "Age")] == 1
    assert found[("weigh_absent_rows_total", "Class")] == 1
    assert found[("weigh_unseen_rows_total", "Class")] == 1
    totals = [row["log_odds"] for row in scored]
    assert found[("weigh_total_sum",)] == pytest.approx(sum(totals))
    assert found[("weigh_total_squares_sum",)] == pytest.approx(sum(t * t for t in totals))


def test_names_with_quotes_and_lines_stay_one_line_each(tmp_path):
    name, level = 'a"b\\c\nd', 'x"\n\\'
    model = weigh.EvidenceNB().fit([{name: level}, {name: "y"}] * 9, [0, 1] * 9)
    weigh.save(model, tmp_path / "m.json")
    app = make_app(tmp_path / "m.json")
    ask(app, "POST", "/score", {name: level})
    lines = ask(app, "GET", "/metrics").body.decode().splitlines()
    own = [line for line in lines if line.startswith("weigh_level_rows_total")]
    assert len(own) == 2
    assert all(re.fullmatch(r'\w+\{(\w+="(?:[^"\\]|\\.)*",?)+\} \d+', line) for line in own)


def test_workers_count_together_also_after_one_has_died(tmp_path):
    model = weigh.EvidenceNB().fit(PEOPLE, "Survived")
    weigh.save(model, tmp_path / "m.json")
    folder = tmp_path / "counts"
    folder.mkdir()
    one = make_app(tmp_path / "m.json", folder=str(folder))
    ask(one, "POST", "/score", {"rows": ROWS})
    (own,) = folder.iterdir()
    own.rename(folder / own.name.replace(".counts", "0.counts"))  # that of a worker that is gone
    other = make_app(tmp_path / "m.json", folder=str(folder))
    ask(other, "POST", "/score", ROWS[0])
    for app in (one, other):
        found = read_counts(ask(app, "GET", "/metrics").body.decode())
        assert [n for (name, *_), n in found.items() if name == "weigh_rows_total"] == [5]


def test_every_worker_tells_what_all_have_scored(tmp_path):
    save_people(tmp_path / "model.json")
    with serving(tmp_path / "model.json", tmp_path, "--workers", "2", "--quiet") as (_, url):
        for _ in range(40):
            body = json.dumps(CASE).encode()
            with urlopen(Request(f"{url}score", data=body), timeout=180) as answer:
                assert answer.status == 200
        told = set()
        for _ in range(10):
            with urlopen(f"{url}metrics", timeout=180) as answer:
                text = answer.read().decode()
            told |= {line for line in text.splitlines() if line.startswith("weigh_rows_total")}
        assert [line.split()[-1] for line in told] == ["40"]


# ---------------------------------------------------------------- drift of the traffic


@pytest.mark.parametrize("kind", ["two", "three"])
def test_drift_from_metrics_is_that_of_the_rows(tmp_path, kind):
    target = "Survived" if kind == "two" else "Class"
    table = PEOPLE if kind == "two" else PEOPLE.drop_columns(["Survived"])
    model = weigh.EducatedNB().fit(table, target)
    weigh.save(model, tmp_path / "m.json")
    rows = [{k: v for k, v in row.items() if k != target} for row in table.to_pylist()[::3]]
    rows[5] |= {"Sex": "other"}
    del rows[6]["Sex"]
    app = make_app(tmp_path / "m.json")
    ask(app, "POST", "/score", {"rows": rows})
    text = ask(app, "GET", "/metrics").body.decode()
    (tmp_path / "metrics.txt").write_text(text)
    wanted = weigh.drift(model, [{"Sex": weigh.NOT_KNOWN} | row for row in rows])
    for given in (text, tmp_path / "metrics.txt", str(tmp_path / "metrics.txt")):
        found = weigh.drift(model, metrics=given)
        assert found.n_rows == wanted.n_rows == len(rows)
        pairs = [*zip(found.features, wanted.features, strict=True)]
        assert all(one.name == other.name for one, other in pairs)
        checks = [(one.check, other.check) for one, other in pairs]
        for one, other in [*checks, *zip(found.checks, wanted.checks, strict=True)]:
            assert one.index == pytest.approx(other.index)
            assert one.p_value == pytest.approx(other.p_value)


def test_a_pair_with_one_known_answer_is_absent_to_drift_of_rows_and_of_metrics(
    tmp_path, monkeypatch
):
    for limit in ("LEAST_GAIN", "MARGIN_GAIN"):
        monkeypatch.setattr(f"weigh.educated.attenuation.{limit}", -np.inf)
    monkeypatch.setattr("weigh.serving.records.MOST_LEVELS", 3)
    model = weigh.EducatedNB(pairs=[("Class", "Sex")]).fit(PEOPLE, "Survived")
    pair = model.evidence_["Class & Sex"]
    assert np.ptp(np.vstack(pair.margins)) > 0
    weigh.save(model, tmp_path / "m.json")
    rows = [{k: v for k, v in row.items() if k != "Survived"} for row in PEOPLE.to_pylist()[::3]]
    for row in rows[::4]:
        del row["Sex"]
    rows[1]["Sex"] = "other"
    app = make_app(tmp_path / "m.json")
    ask(app, "POST", "/score", {"rows": rows})
    text = ask(app, "GET", "/metrics").body.decode()
    found = read_counts(text, ask(app, "GET", "/healthz").json["version"])
    assert found[("weigh_absent_rows_total", pair.name)] == len(rows[::4])
    assert found[("weigh_unseen_rows_total", pair.name)] == 1
    assert not [key for key in found if "not known" in key[-1]]
    wanted = weigh.drift(model, [{"Sex": weigh.NOT_KNOWN} | row for row in rows])
    given = weigh.drift(model, metrics=text)
    for part in ("index", "p_value"):
        for one, other in zip(given.checks, wanted.checks, strict=True):
            assert getattr(one, part) == pytest.approx(getattr(other, part))
    known = np.array(["Sex" in row for row in rows])
    asked = model.evidence_.contributions([{"Sex": weigh.NOT_KNOWN} | row for row in rows])
    own = asked[:, model.evidence_.names.index(pair.name), 0]
    assert found[("weigh_margin_sum", pair.name)] == pytest.approx(own[~known].sum() + own[1])
    blank = weigh.drift(model, [row | {"Sex": weigh.NOT_KNOWN} for row in rows])
    totals = model.evidence_.contributions([row | {"Sex": weigh.NOT_KNOWN} for row in rows])
    before = model.evidence_.prior + sum(t.share @ t.by_class[:, 0] for t in model.evidence_)
    sums = model.evidence_.prior + totals.sum(axis=(1, 2))
    effects = {feature.name: feature.shift[0] for feature in blank.features}
    for j, table in enumerate(model.evidence_):
        change = totals[:, j, 0].mean() - table.share @ table.by_class[:, 0]
        assert effects[table.name] == pytest.approx(change)
    (mean,) = [check for check in blank.checks if check.name == "mean total"]
    assert mean.index == pytest.approx(((sums.mean() - before) / sums.std()) ** 2)


def test_levels_beyond_the_limit_are_counted_together_and_are_one_level_to_drift(
    tmp_path, monkeypatch
):
    monkeypatch.setattr("weigh.serving.records.MOST_LEVELS", 2)
    model = weigh.EvidenceNB().fit(PEOPLE, "Survived")
    weigh.save(model, tmp_path / "m.json")
    rows = [{k: v for k, v in row.items() if k != "Survived"} for row in PEOPLE.to_pylist()[::3]]
    app = make_app(tmp_path / "m.json")
    ask(app, "POST", "/score", {"rows": rows})
    text = ask(app, "GET", "/metrics").body.decode()
    found = read_counts(text, ask(app, "GET", "/healthz").json["version"])
    now, before = (Counter(row["Class"] for row in table) for table in (rows, PEOPLE.to_pylist()))
    frequent = {level for level, _ in before.most_common(2)}
    listed = {key[2]: n for key, n in found.items() if key[:2] == LEVELS_OF_CLASS}
    assert listed == {level: now[level] for level in frequent}
    rest = sum(n for level, n in now.items() if level not in frequent)
    assert found[("weigh_other_rows_total", "Class")] == rest
    assert ("weigh_other_rows_total", "Sex") not in found
    cells = [[*(c[v] for v in frequent), c.total() - sum(c[v] for v in frequent)]
             for c in (before, now)]  # fmt: skip
    old, new = (np.array(cell) / sum(cell) for cell in cells)
    drift = {f.name: f for f in weigh.drift(model, metrics=text).features}
    assert drift["Class"].check.index == pytest.approx(((new - old) * np.log(new / old)).sum())
    pooled = weigh.EvidenceNB().fit(pool(PEOPLE.to_pylist(), frequent), "Survived")
    own = {f.name: f.check for f in weigh.drift(pooled, pool(rows, frequent)).features}
    for part in ("index", "chance", "p_value"):
        assert getattr(drift["Class"].check, part) == pytest.approx(getattr(own["Class"], part))
    assert len(drift["Class"].stability.labels) == 3


def pool(rows, kept):
    return [row | {"Class": row["Class"] if row["Class"] in kept else "others"} for row in rows]


LEVELS_OF_CLASS = ("weigh_level_rows_total", "Class")


def test_metrics_of_another_model_or_of_no_rows_are_refused(app, tmp_path):
    text = ask(app, "GET", "/metrics").body.decode()
    with pytest.raises(ValueError, match="no row"):
        weigh.drift(weigh.load(tmp_path / "model.json"), metrics=text)
    other = weigh.EvidenceNB(smoothing=2).fit(PEOPLE, "Survived")
    with pytest.raises(ValueError, match="sha256"):
        weigh.drift(other, metrics=text)
    with pytest.raises(ValueError, match="metrics"):
        weigh.drift(other)


def test_labels_with_any_end_of_line_and_empty_classes_are_read_from_metrics(tmp_path):
    values = ["a\rb", "c\x85d", "e\u2028f", "g\nh"]
    rows = [{"text": values[i % 4], "y": ["", "p", "q"][i % 3]} for i in range(120)]
    model = weigh.EvidenceNB().fit(rows, "y")
    weigh.save(model, tmp_path / "m.json")
    app = make_app(tmp_path / "m.json")
    ask(app, "POST", "/score", {"rows": [{"text": row["text"]} for row in rows]})
    body = ask(app, "GET", "/metrics").body
    (tmp_path / "metrics.txt").write_bytes(body)
    for given in (body.decode(), tmp_path / "metrics.txt"):
        assert weigh.drift(model, metrics=given).n_rows == 120


def test_metrics_that_lack_a_series_are_refused_by_its_name(app, tmp_path):
    ask(app, "POST", "/score", CASE)
    text = ask(app, "GET", "/metrics").body.decode()
    model = weigh.load(tmp_path / "model.json")
    for name in ("weigh_total_sum", "weigh_absent_rows_total"):
        kept = "\n".join(line for line in text.split("\n") if not line.startswith(name))
        with pytest.raises(ValueError, match=name):
            weigh.drift(model, metrics=kept)


def test_the_command_line_finds_drift_in_metrics(app, tmp_path):
    ask(app, "POST", "/score", {"rows": [CASE] * 500})
    (tmp_path / "metrics.txt").write_bytes(ask(app, "GET", "/metrics").body)
    words = ["drift", str(tmp_path / "model.json"), "--metrics", str(tmp_path / "metrics.txt")]
    done = CliRunner().invoke(main, [*words, "--fail-on", "alarm"])
    assert done.exit_code == 3
    assert "500" in done.stdout
    assert CliRunner().invoke(main, words[:2]).exit_code == 2
