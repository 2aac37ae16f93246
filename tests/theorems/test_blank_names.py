"""Categories that differ by blanks at their ends are told apart wherever people read them."""

import html
import json

import numpy as np
import pytest
from tests.serving import ask

import weigh
from weigh.exports import Formula
from weigh.formula.data import to_data
from weigh.serving import make_app

ROWS = [{"paid": paid} for paid in ("yes", "yes ", "", "no")] * 10
LATE = [0, 1, 1, 0] * 10


@pytest.fixture(scope="module")
def blanks():
    """A model of a column in which categories differ by blanks only."""
    return weigh.EvidenceNB().fit(ROWS, LATE)


def test_blanks_at_the_ends_of_categories_show_wherever_a_level_is_printed(blanks):
    table = blanks.evidence_["paid"]
    assert table.labels == ('""', "no", "yes", '"yes "')
    assert 'paid = "yes "' in str(blanks.balance_sheet({"paid": "yes "}))
    assert '"yes "' in html.unescape(table._repr_html_())
    assert 'paid = "no " (not seen in training)' in str(blanks.balance_sheet({"paid": "no "}))
    assert '"no "' in str(weigh.drift(blanks, [{"paid": "no "}] * 20))
    reasons = weigh.reasons(blanks, [{"paid": "yes "}, {"paid": ""}], n=1)
    assert reasons["reason_1"].to_pylist() == ['paid = "yes "', 'paid = ""']
    assert to_data(Formula.of(blanks))["columns"][0]["choices"] == [*table.labels]


def test_labels_differ_though_categories_have_quotes_of_their_own():
    texts = ["yes", "yes ", '"yes "', "", '""', '"', "missing", '"missing"', "true", '"true"', None]
    values = [*texts, True]
    model = weigh.EvidenceNB(categorical_features="all").fit([{"x": v} for v in values], [0, 1] * 6)
    labels = model.evidence_["x"].labels
    assert len({*labels}) == len(labels) == len(values)


@pytest.mark.needs("fastapi")
def test_a_service_counts_categories_apart_that_differ_by_quotes(tmp_path):
    values = ["yes ", '"yes "', "no"]
    model = weigh.EvidenceNB().fit([{"x": values[i % 3]} for i in range(60)], [0, 1] * 30)
    weigh.save(model, tmp_path / "m.json")
    app, rows = make_app(tmp_path / "m.json"), [{"x": "yes "}] * 30 + [{"x": "no"}] * 10
    ask(app, "POST", "/score", {"rows": rows})
    found = weigh.drift(model, metrics=ask(app, "GET", "/metrics").body.decode())
    np.testing.assert_array_equal(found.features[0].stability.actual, [0, 0.25, 0.75])


def test_a_level_is_found_by_its_category_with_or_without_the_quotes(blanks):
    for level in ("yes ", '"yes "'):
        editor = weigh.edit(blanks, ROWS, LATE).set("paid", level, 0.5, why="policy")
        (item,) = editor.model.balance_sheet({"paid": "yes "}).items
        assert (item.level, item.weight) == ('"yes "', 0.5)
        editor.rename("paid", levels={level: "late"}, why="words")
        assert "paid = late" in str(editor.model.balance_sheet({"paid": "yes "}))


def test_a_card_edited_before_blanks_were_in_quotes_still_loads(blanks, tmp_path):
    card = weigh.Scorecard(blanks).edit("paid", "yes ", 7, why="policy")
    text = card.to_json()
    assert text.count('\\"yes \\"') == 2  # the label and the edit
    data = json.loads(text)
    data["edits"][0]["level"] = "yes "
    data.pop("checksum", None)
    (tmp_path / "card.json").write_text(json.dumps(data))
    assert weigh.load(tmp_path / "card.json").points["paid"][3] == 7
