"""Models changed without a new fit: counts added, a base rate set, a curve fitted to new rows."""

import numpy as np
import pytest
from click.testing import CliRunner

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


def test_what_cannot_be_updated_is_refused(old):
    with pytest.raises(ParameterError) as error:
        weigh.update(old, NEW, "Survived", half_life=0)
    assert error.value.parameter == "half_life"
    with pytest.raises(ValueError, match="AdjustedNB"):
        weigh.update(weigh.AdjustedNB(), NEW, "Survived")


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
