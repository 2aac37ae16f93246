"""Models changed by hand: `weigh.edit`."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose

import weigh
from weigh.bins import Joined
from weigh.exports.selftest import check
from weigh.metrics import loss_bits

WHY = {"why": "asked for"}


def draw(n=600, seed=0, n_classes=2):
    rng = np.random.default_rng(seed)
    X = pd.DataFrame({"age": rng.normal(45, 12, n), "town": rng.choice([*"abcd"], n)})
    X["noise"] = rng.normal(size=n)
    y = (rng.random(n) < 1 / (1 + np.exp(-(X.age - 45) / 8 - (X.town == "a")))).astype(int)
    return X, y + (n_classes - 2) * (rng.random(n) < 0.3)


@pytest.fixture(scope="module")
def fitted():
    X, y = draw()
    bins = {"age": [30.0, 40.0, 50.0, 60.0], "noise": [0.0]}
    return weigh.EducatedNB(pairs=[("age", "town")], bins=bins).fit(X, y), X, y


@pytest.fixture
def editor(fitted):
    return weigh.edit(*fitted, who="ada")


CHANGES = {
    "drop": lambda e, **k: e.drop("noise", **k),
    "merge bins": lambda e, **k: e.merge("age", e.evidence["age"].labels[1:3], **k),
    "merge categories": lambda e, **k: e.merge("town", ["b", "d"], **k),
    "set": lambda e, **k: e.set("town", "a", 0.5, **k),
    "tie": lambda e, **k: e.tie("town", ["b", "c"], **k),
    "move_cut": lambda e, **k: e.move_cut("age", 40.0, 42.5, **k),
    "monotone": lambda e, **k: e.monotone("age", -1, **k),
    "scale": lambda e, **k: e.scale("age", 0.5, **k),
    "remove_pair": lambda e, **k: e.remove_pair("town", "age", **k),
}


@pytest.mark.parametrize("refit", [False, True])
@pytest.mark.parametrize("name", CHANGES)
def test_every_change_is_recorded_replayed_to_the_same_bits_saved_and_exported(
    fitted, name, refit, tmp_path
):
    model, X, y = fitted
    editor = CHANGES[name](weigh.edit(model, X, y, who="ada"), refit=refit, **WHY)
    changed = editor.model
    (change,) = changed.evidence_.edits
    assert (change.who, change.why, change.refit) == ("ada", "asked for", refit)
    losses = [loss_bits(y, m.predict_proba(X)[:, 1]) for m in (model, changed)]
    assert_allclose([change.loss_before, change.loss_after], losses, atol=1e-12)
    weigh.save(changed, tmp_path / "changed.json")
    again = weigh.load(tmp_path / "changed.json")
    assert again.evidence_.edits == changed.evidence_.edits
    replayed = weigh.edit(model, X, y).replay(again.evidence_.edits).model
    weigh.save(replayed, tmp_path / "replayed.json")
    assert (tmp_path / "replayed.json").read_bytes() == (tmp_path / "changed.json").read_bytes()
    script = tmp_path / "score.py"
    weigh.export(changed, "python", path=script)
    assert check(script, changed).difference.holds


def contribution(model, X, name):
    return model.evidence_.contributions(X)[:, model.evidence_.names.index(name), 0]


def test_each_change_does_what_it_says(fitted):
    model, X, y = fitted
    changed = {name: make(weigh.edit(model, X, y), **WHY).model for name, make in CHANGES.items()}
    assert "noise" not in changed["drop"].evidence_
    assert [*changed["drop"].feature_names_in_] == ["age", "town"]
    assert len(changed["merge bins"].evidence_["age"].levels) == 4
    town = changed["merge categories"].evidence_["town"]
    assert Joined(("b", "d")) in town.levels
    assert town.counts.sum() == len(X)
    assert changed["set"].evidence_["town"].weights[0] == 0.5
    assert len({*changed["tie"].evidence_["town"].weights}) == 3
    assert changed["move_cut"].evidence_["age"].feature.cuts == (30.0, 42.5, 50.0, 60.0)
    assert changed["move_cut"].evidence_["age"].counts[0].sum() == (X.age <= 30).sum()
    assert (np.diff(changed["monotone"].evidence_["age"].weights) <= 0).all()
    half = contribution(changed["scale"], X, "age")
    assert_allclose(half, contribution(model, X, "age") / 2)
    assert len(changed["remove_pair"].evidence_) == 3


def test_merged_levels_keep_the_mean_of_their_rows(fitted):
    model, X, y = fitted
    changed = CHANGES["merge bins"](weigh.edit(model, X, y), **WHY).model
    before, after = (contribution(m, X, "age") for m in (model, changed))
    assert_allclose(before.mean(), after.mean())


def test_a_refit_lowers_the_loss_of_its_rows_and_holds_what_was_given_by_hand(fitted):
    model, X, y = fitted
    editor = weigh.edit(model, X, y).freeze("noise", **WHY)
    plain = editor.set("town", "a", -1.0, **WHY).loss
    refitted = editor.undo().set("town", "a", -1.0, refit=True, **WHY)
    assert refitted.loss < plain
    for name in ("town", "noise"):
        assert_allclose(
            contribution(refitted.model, X, name)[X.town != "a"],
            contribution(model, X, name)[X.town != "a"],
        )
    assert refitted.model.evidence_["town"].weights[0] == -1.0
    p = refitted.model.predict_proba(X)[:, 1]
    assert abs((p - y).sum()) < 1e-6  # the gradient of the prior, which nothing pulls


def test_changes_are_undone_and_made_again(editor, fitted):
    model, X, _ = fitted
    editor.drop("noise", **WHY).scale("age", 2.0, **WHY)
    last = editor.model.predict_proba(X)
    assert editor.undo().undo().model is model
    assert (editor.redo().redo().model.predict_proba(X) == last).all()
    editor.undo().drop("town", **WHY)
    assert [change.action for change in editor.edits] == ["drop", "drop"]
    with pytest.raises(ValueError, match="redo"):
        editor.redo()


def test_more_than_two_classes_are_edited(fitted):
    X, y = draw(n_classes=3)
    model = weigh.EducatedNB(pairs=0).fit(X, y)
    editor = weigh.edit(model, X, y).set("town", "a", [0.0, 0.5, -0.5], refit=True, **WHY)
    assert_allclose(editor.model.evidence_["town"].weights[0], [0.0, 0.5, -0.5])


@pytest.mark.parametrize("why", ["", "  ", None])
def test_a_change_without_a_reason_is_refused(editor, why):
    with pytest.raises(ValueError, match="why"):
        editor.drop("noise", why=why)


@pytest.mark.parametrize(
    ("wrong", "named"),
    [
        (lambda e: e.merge("age", [e.evidence["age"].labels[i] for i in (0, 2)], **WHY), "age"),
        (lambda e: e.merge("town", ["a"], **WHY), "levels"),
        (lambda e: e.set("town", "z", 1.0, **WHY), "'z'"),
        (lambda e: e.set("town", "a", float("nan"), **WHY), "weight"),
        (lambda e: e.move_cut("age", 40.0, 55.0, **WHY), "age"),
        (lambda e: e.monotone("town", 1, **WHY), "town"),
        (lambda e: e.remove_pair("age", "noise", **WHY), "pair"),
    ],
)
def test_an_impossible_change_is_refused_and_leaves_no_trace(editor, wrong, named):
    with pytest.raises(ValueError, match=named):
        wrong(editor)
    assert editor.edits == ()


def test_the_report_shows_the_record(editor, fitted, tmp_path):
    _, X, y = fitted
    model = editor.drop("noise", why="a proxy").model
    weigh.report(model, X, y, path=tmp_path / "report.html")
    assert "a proxy" in (tmp_path / "report.html").read_text("utf-8")
