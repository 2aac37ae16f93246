"""Models changed without a new fit: counts added, a base rate set, a curve fitted to new rows."""

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest
from click.testing import CliRunner
from sklearn.exceptions import NotFittedError

import weigh
from weigh.cli import main
from weigh.errors import ParameterError
from weigh.frames import write_file

PEOPLE = weigh.datasets.titanic()
OLD, NEW = weigh.split(PEOPLE, "Survived", holdout=0.4)


@pytest.fixture
def old():
    return weigh.EvidenceNB().fit(OLD, "Survived")


def test_an_update_gives_the_model_of_all_rows_and_leaves_the_old_one(old):
    before = old.evidence_.to_frame()
    found = weigh.update(old, NEW, "Survived")
    whole = weigh.EvidenceNB().fit(PEOPLE, "Survived")
    assert found.evidence_.to_frame().equals(whole.evidence_.to_frame())
    assert old.evidence_.to_frame().equals(before)


def test_old_rows_fade_by_the_half_life(old):
    n = NEW.num_rows
    found = weigh.update(old, NEW, "Survived", half_life=n / 2)
    weights = np.concatenate([np.full(OLD.num_rows, 0.25), np.ones(n)])
    both = {name: OLD[name].to_pylist() + NEW[name].to_pylist() for name in OLD.column_names}
    rows = [dict(zip(both, row, strict=True)) for row in zip(*both.values(), strict=True)]
    for row in rows:
        del row["Survived"]
    slow = weigh.EvidenceNB().fit(rows, both["Survived"], sample_weight=weights)
    for name in ("Class", "Sex", "Age"):
        assert found.evidence_[name].weights == pytest.approx(slow.evidence_[name].weights)


@pytest.mark.parametrize("half_life", [0, -1, float("nan"), "a", True, [5]])
def test_a_half_life_that_is_no_positive_number_is_refused(old, half_life):
    with pytest.raises(ParameterError) as error:
        weigh.update(old, NEW, "Survived", half_life=half_life)
    assert error.value.parameter == "half_life"


def test_what_cannot_be_updated_is_refused():
    with pytest.raises(ValueError, match="AdjustedNB"):
        weigh.update(weigh.AdjustedNB(), NEW, "Survived")
    with pytest.raises(NotFittedError):
        weigh.update(weigh.EvidenceNB(), NEW, "Survived")


def test_edits_by_hand_are_not_undone_by_new_rows(old, tmp_path):
    editor = weigh.edit(old, OLD, "Survived").set("Sex", "Male", -0.5, why="agreed")
    edited = editor.model
    refused = (
        lambda: weigh.update(edited, NEW, "Survived"),
        lambda: weigh.update(edited, NEW, "Survived", half_life=500),
        lambda: edited.partial_fit(NEW, "Survived"),
        lambda: edited.merge(old),
        lambda: old.merge(edited),
    )
    for call in refused:
        with pytest.raises(ValueError, match="Sex"):
            call()
    weigh.save(edited, tmp_path / "m.json")
    write_file(NEW, str(tmp_path / "new.csv"))
    words = ["update", "m.json", "new.csv", "--target", "Survived", "-o", "out.json"]
    words = [str(tmp_path / word) if "." in word else word for word in words]
    done = CliRunner().invoke(main, words)
    assert done.exit_code == 1
    assert "Sex" in done.stderr
    assert not (tmp_path / "out.json").exists()
    updated = weigh.update(old, NEW, "Survived")
    again = weigh.edit(updated, NEW, "Survived").replay(edited.evidence_.edits).model
    place, sex = edited.evidence_["Sex"].labels.index("Male"), again.evidence_["Sex"]
    assert sex.weights[place] == pytest.approx(edited.evidence_["Sex"].weights[place])
    assert [edit.call for edit in again.evidence_.edits] == [edit.call for edit in editor.edits]


@pytest.mark.parametrize("half_life", [None, 100])
def test_an_updated_model_knows_its_old_and_its_new_rows_again(half_life):
    random = np.random.default_rng(0)
    x = random.normal(size=900)
    table = pa.table({"x": x, "y": np.where(x + random.normal(size=900) > 0, "yes", "no")})
    first, more, rest = (table.slice(300 * i, 300) for i in range(3))
    model = weigh.EvidenceNB().fit(first, "y")
    model.provenance_ = replace(model.provenance_, date="2020-01-01", source="first.csv")
    updated = weigh.update(model, more, "y", half_life=half_life)
    known = updated.provenance_
    assert known.rows == 600
    assert known.date != "2020-01-01"
    assert known.target == "y"
    assert known.source.startswith("first.csv (300 rows)")
    for rows, share in ((first, 1), (more, 1), (rest, 0)):
        found = weigh.evaluate(updated, rows, "y")
        assert found.training_rows == pytest.approx(share, abs=0.02)
    assert len(weigh.evaluate(updated, more, "y").findings) > len(found.findings)
    model.provenance_ = replace(model.provenance_, training_rows=None)
    assert weigh.update(model, more, "y").provenance_.training_rows is None


def test_the_commands_write_what_python_makes(old, tmp_path):
    model, new = str(tmp_path / "m.json"), str(tmp_path / "new.csv")
    weigh.save(old, model)
    write_file(NEW, new)
    curve = weigh.RecalibratedClassifier(old, method="sigmoid", cv="prefit").fit(NEW, "Survived")
    wanted = {
        ("set-prior", model, "0.2"): old.with_prior(0.2),
        ("recalibrate", model, new, "--target", "Survived"): curve,
        ("update", model, new, "--half-life", "500"): weigh.update(
            old, NEW, "Survived", half_life=500
        ),
    }
    for words, expected in wanted.items():
        done = CliRunner().invoke(main, [*words, "-o", str(tmp_path / "out.json")])
        assert done.exit_code == 0, done.output
        found = weigh.load(tmp_path / "out.json").predict_proba(NEW)
        assert found.tolist() == expected.predict_proba(NEW).tolist()
