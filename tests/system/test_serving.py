"""A model as an API: Python's numbers, refusals that name the field, and never a failure."""

import asyncio
import html
import io
import json
import math
import random
import re
import shlex
import subprocess
import sys
import threading
from dataclasses import replace
from urllib.parse import urlencode

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from tests import exported, page_models
from tests.serving import CASE, ask, call, save_people

import weigh
from weigh.exports import Formula, checks
from weigh.formula import Scorer
from weigh.metrics.numbers import plain
from weigh.serving import Log, make_app, requests, routes
from weigh.serving.contract import example_row
from weigh.serving.loaded import ModelReloader, Served


def as_json(rows):
    """Rows as JSON can say them: what is no number is not known."""
    return [{k: None if v != v else v for k, v in row.items()} for row in rows]


def make(tmp_path, model, **options):
    weigh.save(model, tmp_path / "model.json")
    return make_app(tmp_path / "model.json", **options)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("served")


@pytest.fixture(scope="module")
def people(folder):
    return save_people(folder / "people.json")


@pytest.fixture(scope="module")
def app(folder, people):
    return make_app(folder / "people.json", most_rows=5, most_bytes=4000)


@pytest.fixture(scope="module")
def mixed_app(folder):
    model = page_models.LEARNERS["naive"].fit(page_models.mixed(), "y")
    weigh.save(model, folder / "mixed.json")
    return make_app(folder / "mixed.json", most_rows=50, most_bytes=20_000)


# ---------------------------------------------------------------- numbers


@pytest.mark.parametrize("name", exported.LEARNERS)
def test_a_lookup_gives_the_bits_of_python_at_every_level_and_boundary(name):
    model = exported.fitted(name)
    wanted = checks.wanted(model, checks.visit(Formula.of(model)))
    assert np.array_equal(Scorer(Formula.of(model)).totals(as_json(wanted.rows)), wanted.totals)


@settings(max_examples=40, deadline=None)
@given(exported.models())
def test_a_lookup_gives_the_bits_of_python_for_any_model(model):
    wanted = checks.wanted(model, checks.visit(Formula.of(model)))
    assert np.array_equal(Scorer(Formula.of(model)).totals(as_json(wanted.rows)), wanted.totals)


@pytest.mark.parametrize("name", exported.NUMBERS)
def test_a_number_is_served_with_the_estimates_and_intervals_of_python(name, tmp_path):
    model = exported.fitted(name)
    app = make(tmp_path, model)
    wanted = checks.wanted(model, checks.visit(Formula.of(model), finite=True)[:40])
    sent = as_json(wanted.rows)
    said = ask(app, "POST", "/score", {"rows": sent}).json["rows"]
    intervals = model.predict_interval(sent)
    assert [row["estimate"] for row in said] == model.predict(sent).tolist()
    assert [[row["low"], row["high"]] for row in said] == intervals.tolist()
    sheet = ask(app, "POST", "/explain", sent[0]).json
    assert sheet["estimate"] == model.predict(sent)[0]
    assert ask(app, "POST", "/score?reasons=2", {"rows": []}).json == {"rows": []}
    refused = ask(app, "POST", "/explain?pos_label=x", sent[0])
    assert (refused.status, refused.json["field"]) == (422, "pos_label")


def test_one_row_gets_the_class_log_odds_and_probabilities_of_python(app, people):
    said = ask(app, "POST", "/score", CASE).json
    assert said == {
        "class": people.predict([CASE])[0],
        "log_odds": people.decision_function([CASE])[0],
        "probabilities": dict(zip(["No", "Yes"], people.predict_proba([CASE])[0], strict=True)),
    }


def test_a_card_gives_a_score_and_no_class_because_a_cut_off_decides(tmp_path, people):
    card = weigh.Scorecard(people, base_score=600, base_odds=50)
    app = make(tmp_path, card)
    said = ask(app, "POST", "/score", CASE).json
    assert [*said] == ["score", "log_odds", "probabilities"]
    assert said["score"] == card.score([CASE])[0]
    schemas = ask(app, "GET", "/openapi.json").json["components"]["schemas"]
    (own,) = (part for part in schemas.values() if "log_odds" in part.get("properties", ()))
    assert {*own["required"]} == {*said}
    assert "class" not in own["properties"]


def test_many_rows_get_what_each_gets_alone(app):
    rows = [CASE, {"Sex": "Male"}, {}, {"Class": "Steward", "Age": None}]
    each = [ask(app, "POST", "/score", row).json for row in rows]
    assert ask(app, "POST", "/score", {"rows": rows}).json == {"rows": each}
    assert ask(app, "POST", "/score", {"rows": []}).json == {"rows": []}


@pytest.mark.parametrize("name", page_models.LEARNERS)
def test_an_absent_field_is_not_known_and_null_is_missing(tmp_path, name):
    model = page_models.LEARNERS[name].fit(page_models.mixed(), "y")
    app = make(tmp_path, model)
    null = dict.fromkeys(model.feature_names_in_) | {"colour": "red"}
    for row in ({"colour": "red"}, null):
        want = model.decision_function([row])[0]
        assert ask(app, "POST", "/score", row).json["log_odds"] == want
        assert ask(app, "POST", "/explain", row).json["total"] == pytest.approx(want, abs=1e-12)
    assert ask(app, "POST", "/score", {}).json["log_odds"] == model.decision_function([{}])[0]


@pytest.mark.parametrize("name", page_models.MANY)
def test_more_classes_have_a_total_each(tmp_path, name):
    model = page_models.MANY[name].fit(page_models.mixed(n_classes=3), "y")
    row = {"age": 50.5, "income": -999, "colour": "blue", "member": True}
    said = ask(make(tmp_path, model), "POST", "/score", row).json
    assert [*said["totals"].values()] == model.decision_function([row])[0].tolist()
    assert [*said["probabilities"].values()] == model.predict_proba([row])[0].tolist()
    assert said["class"] == model.predict([row])[0]


def test_a_model_of_columns_without_names_answers_to_positions(tmp_path):
    X, y = np.array([[0.0, 5.0], [1.0, 6.0]] * 20), np.array([0, 1] * 20)
    model = weigh.EvidenceNB(bins=2).fit(X, y)
    app = make(tmp_path, model)
    row = {"x0": 1, "x1": 5.0}
    assert ask(app, "POST", "/score", row).json["log_odds"] == model.decision_function([[1, 5]])[0]
    sheet = ask(app, "POST", "/explain", row).json
    assert sheet["total"] == pytest.approx(model.decision_function([[1, 5]])[0])


def test_a_sheet_is_the_balance_sheet_of_python(app, people):
    for query, of in (("", "Yes"), ("?pos_label=No", "No"), ("?against=Yes", "No")):
        said = ask(app, "POST", f"/explain{query}", CASE).json
        assert said == people.balance_sheet(CASE, of).to_dict()


def test_what_cannot_be_known_is_null(tmp_path):
    model = weigh.EvidenceNB(smoothing=0).fit([{"a": "x"}, {"a": "y"}] * 3, ["no", "yes"] * 3)
    assert ask(make(tmp_path, model), "POST", "/explain", {"a": "x"}).json["interval"] is None
    assert plain({"a": [math.nan, 1.5], "b": math.inf}) == {"a": [None, 1.5], "b": None}


# ---------------------------------------------------------------- pages


def test_the_page_is_the_calculator_and_the_model_its_file(app, people, folder):
    page = ask(app, "GET", "/")
    assert page.body.decode() == weigh.calculator(people)
    assert page.headers["content-type"].startswith("text/html")
    other = ask(app, "GET", "/?pos_label=No")
    assert other.body.decode() == weigh.calculator(people, pos_label="No")
    refused = ask(app, "GET", "/?pos_label=Maybe")
    assert refused.status == 422
    assert refused.json["field"] == "pos_label"
    assert ask(app, "GET", "/model").body == (folder / "people.json").read_bytes()
    assert ask(app, "GET", "/healthz").json["status"] == "ok"


def test_the_docs_load_nothing_and_run_nothing(tmp_path):
    app = make(tmp_path, page_models.weird_model())
    page = ask(app, "GET", "/docs").body.decode()
    assert "default-src 'none'" in page
    assert not re.search(r"<(script|img|link|iframe|object)|https?://", page)
    assert "&lt;script&gt;" in page
    for path in ("/score", "/explain", "/model", "/healthz"):
        assert path in page
    assert ask(app, "GET", "/openapi.json").json["openapi"].startswith("3.1")


def test_the_examples_of_the_docs_are_what_it_takes_and_answers(app, mixed_app):
    for one in (app, mixed_app):
        contract = ask(one, "GET", "/openapi.json").json
        page = html.unescape(ask(one, "GET", "/docs").body.decode())
        for path in ("/score", "/explain"):
            post = contract["paths"][path]["post"]
            asked = post["requestBody"]["content"]["application/json"]["examples"]
            told = post["responses"]["200"]["content"]["application/json"]["examples"]
            for name, example in asked.items():
                answer = ask(one, "POST", path, example["value"])
                assert (answer.status, answer.json) == (200, told[name]["value"])
            line = next(line for line in page.splitlines() if f":2{path}</pre>" in line)
            words = shlex.split(line[line.index("curl") :].split("</pre>")[0])
            assert words[:2] == ["curl", "-d"]
            assert json.loads(words[2]) == asked["a row"]["value"]
            refused = post["responses"]["422"]["content"]["application/json"]["examples"]
            (refusal,) = (example["value"] for example in refused.values())
            answer = ask(one, "POST", path, {refusal["field"]: None})
            assert (answer.status, answer.json) == (422, refusal)


def test_rare_values_that_share_a_level_are_served(tmp_path):
    rows = [{"town": f"t{i % 40:02}"} for i in range(400)]
    model = weigh.EvidenceNB(max_levels=3).fit(rows, [int(i % 40 < 15) for i in range(400)])
    app = make(tmp_path, model)
    (example,) = (
        ask(app, "GET", "/openapi.json")
        .json["paths"]["/score"]["post"]["requestBody"]["content"]["application/json"]["examples"][
            "a row"
        ]["value"]
        .values()
    )
    assert example in model.evidence_["town"].levels
    unseen = ask(app, "POST", "/score", {"town": "nowhere"}).json["log_odds"]
    assert unseen == pytest.approx(model.decision_function([{"town": "nowhere"}])[0])
    assert unseen == ask(app, "POST", "/score", {"town": rows[-1]["town"]}).json["log_odds"]


def test_the_example_has_every_column_and_a_level_of_training(mixed_app):
    contract = ask(mixed_app, "GET", "/openapi.json").json
    post = contract["paths"]["/explain"]["post"]
    told = post["responses"]["200"]["content"]["application/json"]["examples"]["a row"]["value"]
    row = post["requestBody"]["content"]["application/json"]["examples"]["a row"]["value"]
    assert ["id", *row] == [*contract["components"]["schemas"]["Row"]["properties"]]
    assert all(value is not None for value in row.values())
    assert all("not seen" not in item["level"] for item in told["items"])


@pytest.mark.parametrize("odd", [math.inf, -math.inf, "\ud800"])
def test_the_contract_of_levels_that_json_cannot_say_is_json(tmp_path, odd):
    other = "b" if isinstance(odd, str) else 1.0
    model = weigh.EvidenceNB(categorical_features="all")
    app = make(tmp_path, model.fit([{"a": odd}, {"a": other}] * 4, [0, 1] * 4))
    answer = ask(app, "GET", "/openapi.json")
    assert answer.status == 200
    examples = answer.json["components"]["schemas"]["Row"]["properties"]["a"]["examples"]
    assert examples == ([other, odd] if isinstance(odd, str) else [1])
    assert ask(app, "GET", "/docs").status == 200


# ---------------------------------------------------------------- refusals


@pytest.mark.parametrize(
    ("data", "field", "words"),
    [
        ({"Clas": "3rd"}, "Clas", 'did you mean "Class"'),
        ({"x": 1}, "x", "there are"),
        ({"Class": 3}, "Class", "must be text"),
        ({"Class": True}, "Class", "must be text"),
        ({"Class": ["3rd"]}, "Class", "not a list"),
        ({"Class": {"3rd": 1}}, "Class", "not an object"),
        ({"rows": 3}, "rows", "list of objects"),
        ({"rows": [{}], "Sex": "Male"}, "Sex", "outside rows"),
        ({"rows": [{}] * 6}, "rows", "at most 5"),
        ([CASE], None, "a list"),
        ("3rd", None, "the text"),
        (None, None, "not JSON"),
        (b"{", None, "not JSON"),
        (b"\xff\xfe", None, "not UTF-8"),
        (b'{"Class": NaN}', None, "NaN is not valid JSON"),
        (b'{"Class": -Infinity}', None, "-Infinity is not valid JSON"),
        (b"[" * 3000, None, "nested too deeply"),
        (b"1" * 3900, None, "a body that is no row"),
        (b'{"Class": "3rd", "Sex": "Male", "Class": "1st"}', "Class", "occurs twice"),
        (b'{"rows": [{"Sex": "Male", "Sex": "Male"}]}', "Sex", "occurs twice"),
    ],
)
def test_a_refusal_names_the_field_and_says_what_was_wanted(app, data, field, words):
    answer = ask(app, "POST", "/score", data)
    assert answer.status == 422
    assert answer.json["field"] == field
    assert words in answer.json["error"] or words == "a body that is no row"
    assert len(answer.json["error"]) < 300


def test_a_refusal_of_many_says_which_row(app):
    said = ask(app, "POST", "/score", {"rows": [CASE, CASE | {"Age": 9}]}).json
    assert (said["row"], said["field"]) == (1, "Age")


@pytest.mark.parametrize(
    ("row", "field"),
    [
        ({"age": "40"}, "age"),
        ({"age": True}, "age"),
        ({"age": 10**400}, "age"),
        ({"member": 1}, "member"),
        ({"member": "true"}, "member"),
        ({"colour": 7}, "colour"),
    ],
)
def test_types_are_those_of_training(mixed_app, row, field):
    answer = ask(mixed_app, "POST", "/score", row)
    assert (answer.status, answer.json["field"]) == (422, field)


def test_a_column_of_true_one_and_text_takes_all_three(tmp_path):
    rows = [{"t": True}, {"t": 1}, {"t": "a"}] * 5
    model = weigh.EvidenceNB(categorical_features="all").fit(rows, [0, 1, 0] * 5)
    app = make(tmp_path, model)
    for row in rows[:3]:
        said = ask(app, "POST", "/score", row)
        assert said.json["log_odds"] == model.decision_function([row])[0]
    examples = ask(app, "GET", "/openapi.json").json["components"]["schemas"]["Row"]
    assert sorted(map(repr, examples["properties"]["t"]["examples"])) == ["'a'", "1", "True"]


def test_numbers_beyond_all_cuts_fall_in_the_outer_intervals(mixed_app):
    for far, near in ((b"1.7e308", b"1e300"), (b"-1.7e308", b"-1e300")):
        said = [ask(mixed_app, "POST", "/score", b'{"age": %s}' % x) for x in (far, near)]
        assert said[0].status == 200
        assert said[0].body == said[1].body


@pytest.mark.parametrize("number", [b"1e400", b"-1e400", b"%d" % 10**400, b"%d" % -(10**400)])
def test_a_number_that_no_float_can_hold_is_refused_as_the_contract_says(mixed_app, number):
    answer = ask(mixed_app, "POST", "/score", b'{"age": %s}' % number)
    assert (answer.status, answer.json["field"]) == (422, "age")
    assert "no float can hold" in answer.json["error"]


def test_a_sheet_is_of_one_row_and_of_classes_that_there_are(app):
    assert ask(app, "POST", "/explain", {"rows": [CASE]}).json["field"] == "rows"
    said = ask(app, "POST", "/explain?pos_label=Perhaps", CASE)
    assert (said.status, said.json["field"]) == (422, "pos_label")
    assert ask(app, "POST", "/explain?pos_label=Yes&against=Yes", CASE).status == 422


def test_a_body_that_is_too_long_is_refused_before_it_is_read(app):
    told = ask(app, "POST", "/score", b"", headers={"content-length": "4001"}, pieces=[])
    assert told.status == 413  # an empty iterator: reading would have failed


def test_a_length_of_five_thousand_digits_is_too_long(app):
    told = ask(app, "POST", "/score", b"", headers={"content-length": "9" * 5000}, pieces=[])
    assert told.status == 413


def test_a_body_that_does_not_say_its_length_is_counted_as_it_comes(app):
    read = []

    def pieces():
        for _ in range(1000):
            read.append(1)
            yield b" " * 1000

    class Pieces:
        __iter__ = staticmethod(pieces)
        __len__ = staticmethod(lambda: 1000)

    assert ask(app, "POST", "/score", headers={}, pieces=Pieces()).status == 413
    assert len(read) == 5


def test_a_body_in_pieces_is_put_together(app):
    body = json.dumps(CASE).encode()
    parts = [body[:5], b"", body[5:]]
    assert ask(app, "POST", "/score", headers={}, pieces=parts).body == (
        ask(app, "POST", "/score", CASE).body
    )


def test_other_methods_and_paths_are_refused_in_the_same_form(app):
    assert ask(app, "GET", "/score").status == 405
    assert ask(app, "GET", "/score").headers["allow"] == "POST"
    assert ask(app, "GET", "/score").json["error"] == "GET is not for this path; use POST"
    told = "the service has no such path; GET /docs lists its paths"
    assert ask(app, "GET", "/nothing").json == {"error": told, "field": None}


def test_a_failure_says_nothing_of_its_inside(folder, people, monkeypatch):
    stream = io.StringIO()
    app = make_app(folder / "people.json", log=Log(stream))
    monkeypatch.setattr(Served, "score", lambda *_: 1 / 0)
    answer = ask(app, "POST", "/score", CASE)
    assert answer.status == 500
    assert answer.json == {"error": "the server failed; its log says where", "field": None}
    assert answer.headers["content-type"] == "application/json"
    failure, request = map(json.loads, stream.getvalue().splitlines())
    assert "ZeroDivisionError" in failure["error"]
    assert (request["event"], request["status"]) == ("request", 500)


# ---------------------------------------------------------------- wide models


@pytest.fixture(scope="module")
def wide(folder):
    """A thousand columns with long names that are much alike."""
    rng = np.random.default_rng(0)
    names = [f"a_rather_long_name_of_a_column_of_the_bureau_{j:04d}" for j in range(1000)]
    rows = [dict(zip(names, map(str, rng.integers(0, 2, 1000)), strict=True)) for _ in range(8)]
    weigh.save(weigh.EvidenceNB().fit(rows, [0, 1] * 4), folder / "wide.json")
    return Served.load(folder / "wide.json", 1000)


def test_a_name_that_is_misspelt_is_compared_with_few_names(wide, people, monkeypatch):
    compared = []

    def count(name, names, n):
        compared.extend(names)
        return []

    monkeypatch.setattr(requests, "get_close_matches", count)
    with pytest.raises(requests.RefusalError, match=r"1000 in all"):
        requests.read_rows(
            b'{"a_rather_long_name_of_a_column_of_the_bureau_99": "1"}', wide.scorer, 9
        )
    assert compared == []
    with pytest.raises(requests.RefusalError):
        requests.read_rows(b'{"Clas": "1st"}', Scorer(Formula.of(people)), 9)
    assert compared == ["Class", "Sex", "Age"]


def test_rows_are_checked_by_what_they_hold_and_not_by_what_they_lack(wide):
    asked = []

    class Counted(dict):
        def get(self, name, default=None):
            asked.append(name)
            return super().get(name, default)

    counted, name = replace(wide.scorer), wide.scorer.formula.inputs[0].name
    counted.__dict__["types"] = Counted(wide.scorer.types)
    requests.read_rows(json.dumps({"rows": [{}] * 999 + [{name: "1"}]}).encode(), counted, 1000)
    assert asked == [name]


def test_long_bodies_are_read_and_many_weights_added_beside_the_loop(wide, folder, monkeypatch):
    threads, main = {}, threading.get_ident()

    def spy(owner, name):
        whole = getattr(owner, name)

        def spied(*given):
            threads[name] = threading.get_ident() == main
            return whole(*given)

        monkeypatch.setattr(owner, name, spied)

    spy(routes, "read_rows")
    spy(Served, "score")
    app = make_app(folder / "wide.json")
    for data, reads, scores in (
        ({"rows": []}, True, True),
        ({}, True, False),  # a thousand weights
        ({"rows": [dict.fromkeys([*wide.scorer.types][:2], "1")] * 1000}, False, False),
    ):
        assert ask(app, "POST", "/score", data).status == 200
        assert threads == {"read_rows": reads, "score": scores}


# ---------------------------------------------------------------- the log


def test_each_request_is_one_line_of_json_and_quiet_leaves_it_out(folder, people):
    for quiet, wanted in ((False, 1), (True, 0)):
        stream = io.StringIO()
        ask(make_app(folder / "people.json", log=Log(stream, quiet)), "POST", "/score", CASE)
        lines = [json.loads(line) for line in stream.getvalue().splitlines()]
        assert len(lines) == wanted
        for line in lines:
            assert line["method"] == "POST"
            assert (line["path"], line["status"]) == ("/score", 200)
            assert line["ms"] > 0
            assert "Female" not in json.dumps(line)


class Full(io.StringIO):
    """A stream on a disk that is full."""

    def write(self, text):
        raise OSError(28, "No space left on device")


def test_a_log_that_cannot_be_written_stops_neither_answers_nor_replacements(tmp_path):
    path = tmp_path / "model.json"
    save_people(path)
    app = make_app(path, log=Log(Full()), every=0.01)
    closed = io.StringIO()
    closed.close()
    Log(closed).tell("stopped")

    async def replace():
        async with app.app.router.lifespan_context(app.app):
            for i in range(2):
                await replaced(app, path, 2.0 + i, generation=2 + i)

    asyncio.run(asyncio.wait_for(replace(), 60))


async def replaced(app, path, smoothing, generation):
    save_people(path, smoothing)
    while (answer := await call(app, "GET", "/healthz")).json["generation"] < generation:
        assert answer.status == 200
        await asyncio.sleep(0.02)


def test_a_look_that_fails_is_told_and_not_the_last(tmp_path, monkeypatch):
    save_people(tmp_path / "model.json")
    stream = io.StringIO()
    reloader, looks = ModelReloader.open(tmp_path / "model.json", 10, Log(stream)), []

    def look():
        looks.append(1)
        raise RuntimeError("no thread")

    monkeypatch.setattr(reloader, "look", look)

    async def watch():
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(reloader.watch(0.001), 0.5)

    asyncio.run(watch())
    assert len(looks) > 1
    assert stream.getvalue().count("RuntimeError: no thread") >= len(looks)


# ---------------------------------------------------------------- malformed


ODD = [
    None, True, False, 0, -1, 1e308, 10**400, 1.5, "", "3rd", "\ud800", "\0", "x" * 3000, [], {},
    [[]], {"rows": []}, [None], "NaN", "1e999", -0.0, 2**63, "<script>", "Größe", "🎈",
]  # fmt: skip
RAW = [
    b"", b" ", b"{", b"}", b"[", b"nul", b"NaN", b"Infinity", b"\xff", b"\x00", b"\xef\xbb\xbf{}",
    b"{}{}", b"{'a': 1}", b'{"a": 1,}', b'{"a"}', b"[" * 2000, b'{"a":' * 700, b"1" * 3999,
    b'"\\ud800"', b'{"Class": "\\ud800"}', b'{"\\ud800": 1}', b"-", b"1e400", b"--1", b'"\x01"',
    b'{"Class": 1, "Class": "3rd"}', b"\xed\xa0\x80", "{}".encode("utf-16"),
]  # fmt: skip
NAMES = ["Class", "Sex", "Age", "age", "colour", "member", "income", "rows", "", "class", "\0", "é"]


def malformed(rng):
    """A request that is odd in some way, or in several."""
    kind = rng.random()
    if kind < 0.3:
        body = bytearray(rng.choice(RAW))
        if body and rng.random() < 0.5:
            body[rng.randrange(len(body))] = rng.randrange(256)
        return bytes(body)
    row = {rng.choice(NAMES): rng.choice(ODD) for _ in range(rng.randrange(4))}
    rows = [rng.choice([row, {}, rng.choice(ODD)]) for _ in range(rng.randrange(8))]
    data = row if kind < 0.6 else {"rows": rows} if kind < 0.8 else rng.choice([rows, *ODD])
    body = json.dumps(data).encode()
    return body if kind < 0.9 else body[: rng.randrange(len(body) + 1)]


def test_two_thousand_malformed_requests_meet_no_failure(app, mixed_app):
    rng, seen = random.Random(0), {}

    async def send_all():
        for i in range(2_000):
            path = rng.choice(
                ["/score", "/score", "/score", "/explain?pos_label=" + rng.choice(NAMES)]
            )
            chosen, body = rng.choice([app, mixed_app]), malformed(rng)
            path = path.encode("ascii", "replace").decode().replace("\0", "%00")
            answer = await call(chosen, "POST" if i % 50 else "PUT", path, body)
            assert answer.status in (200, 405, 413, 422), (path, body, answer)
            assert answer.json is not None
            seen[answer.status] = seen.get(answer.status, 0) + 1

    asyncio.run(send_all())
    assert sum(seen.values()) == 2_000
    assert seen[422] > 600
    assert seen[200] > 20


@pytest.mark.parametrize("mode", ["POSITIVE", "NEGATIVE"])
@pytest.mark.parametrize("path", ["/score", "/explain"])
def test_requests_made_from_its_own_contract_keep_to_it(mixed_app, path, mode):
    schemathesis = pytest.importorskip("schemathesis")
    contract = ask(mixed_app, "GET", "/openapi.json").json
    operation = schemathesis.openapi.from_dict(contract)[path]["post"]
    promised = contract["paths"][path]["post"]["responses"]

    @settings(
        max_examples=30,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=[*HealthCheck],
        derandomize=True,
        database=None,
    )
    @given(operation.as_strategy(generation_mode=schemathesis.GenerationMode[mode]))
    def check(case):
        query = case.query or {}
        body = case.body if isinstance(case.body, bytes) else json.dumps(case.body).encode()
        answer = ask(mixed_app, "POST", f"{path}?{urlencode(query)}", body)
        assert str(answer.status) in promised
        if mode == "POSITIVE" and len({*query.values()}) == len(query):  # two classes, or fewer
            assert answer.status == 200, answer.json

    check()


# ---------------------------------------------------------------- replacing the model


def test_a_file_that_is_replaced_is_loaded_and_a_broken_one_refused(tmp_path):
    path, stream = tmp_path / "model.json", io.StringIO()
    save_people(path)
    reloader = ModelReloader.open(path, 10, Log(stream))
    first = reloader.current

    def look():
        reloader.look()
        lines = stream.getvalue().splitlines()
        return json.loads(lines[-1]) if lines else None

    assert look() is None
    assert reloader.current is first
    path.write_text("{")
    assert look()["event"] == "refused"
    assert reloader.current is first
    path.unlink()
    assert look()["event"] == "refused"
    new = save_people(path, smoothing=50)
    assert look()["event"] == "loaded"
    assert reloader.current.generation == 2
    assert reloader.current.scorer.totals([CASE])[0, 0] == new.decision_function([CASE])[0]
    count = len(stream.getvalue().splitlines())
    look()
    assert len(stream.getvalue().splitlines()) == count


def test_a_model_that_cannot_be_served_is_refused_by_name(tmp_path):
    people = weigh.datasets.titanic()
    tree = weigh.C44Classifier().fit(people, "Survived")
    with pytest.raises(ValueError, match="C44Classifier has no table"):
        make(tmp_path, tree)
    words = weigh.EvidenceNB(event_model="counts").fit([[1, 0], [0, 2]], ["a", "b"])
    with pytest.raises(ValueError, match="model of documents"):
        make(tmp_path, words)


def test_the_service_starts_without_the_libraries_that_fit_models(folder):
    code = (
        "import sys\nfrom weigh.serving import make_app\n"
        f"make_app({str(folder / 'people.json')!r})\n"
        "print([name for name in ('sklearn', 'pandas', 'numba') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_without_fastapi_the_error_names_the_extra(folder, people, monkeypatch):
    monkeypatch.setitem(sys.modules, "fastapi", None)
    monkeypatch.delitem(sys.modules, "weigh.serving.routes", raising=False)
    with pytest.raises(ImportError, match=r"weigh\[serve\]"):
        make_app(folder / "people.json")


def test_the_example_of_an_open_bin_lies_near_the_bin_beside_it():
    rows = [{"bonus": i % 8 if i < 400 else 7} for i in range(600)]  # most are in the open bin
    model = weigh.EvidenceNB(bins={"bonus": [1.5, 4.5, 5.5]})
    model.fit(rows, [i % 3 == 0 for i in range(600)])
    assert example_row(model.evidence_) in ({"bonus": value} for value in range(8))
