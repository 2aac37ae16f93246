"""Models changed by hand: `weigh.edit`."""

import json

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from numpy.testing import assert_allclose
from scipy.linalg import block_diag
from scipy.optimize import minimize
from scipy.special import expit, logsumexp, softmax
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

import weigh
from weigh.bins import Joined
from weigh.bins.labels import EXACT
from weigh.cli import main
from weigh.editing import refit as refit_module
from weigh.educated.prior import curve, prior_of
from weigh.errors import ParameterError
from weigh.evidence.show import ROWS, summarise
from weigh.exports.selftest import check
from weigh.frames import read
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
    "add_pair": lambda e, **k: e.add_pair("age", "noise", **k),
    "rename": lambda e, **k: e.rename("town", "Town of birth", {"a": "Aachen"}, **k),
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


@pytest.mark.parametrize(
    ("change", "n_classes"),
    [(name, k) for name in CHANGES for k in (2, 3) if (name, k) != ("monotone", 3)],
)
def test_an_edit_on_more_rows_than_the_fit_is_loaded_again(change, n_classes, tmp_path):
    X, y = draw(n_classes=n_classes)
    bins = {"age": [30.0, 40.0, 50.0, 60.0], "noise": [0.0]}
    model = weigh.EducatedNB(pairs=[("age", "town")], bins=bins).fit(X[:150], y[:150])
    editor = weigh.edit(model, X, y)
    if change == "set" and n_classes > 2:
        editor.set("town", "a", [0.5, 0.0, -0.5], **WHY)
    else:
        CHANGES[change](editor, **WHY)
    weigh.save(editor.model, tmp_path / "m.json")
    again = weigh.load(tmp_path / "m.json").evidence_
    for table in again:
        assert_allclose(table.counts.sum(axis=0), again.class_counts)


def test_an_added_pair_that_an_older_file_counts_in_rows_of_the_edit_is_loaded(editor, tmp_path):
    path = tmp_path / "m.json"
    weigh.save(editor.add_pair("age", "noise", **WHY).model, path)
    data = json.loads(path.read_text())
    del data["checksum"]
    pair = next(own for own in data["evidence"]["features"] if own["name"] == "age & noise")
    pair["counts"] = (7 * np.array(pair["counts"])).tolist()
    path.write_text(json.dumps(data))
    again = weigh.load(path).evidence_["age & noise"].counts
    assert_allclose(again, 7 * editor.evidence["age & noise"].counts)
    data["evidence"]["edits"] = []
    path.write_text(json.dumps(data))
    with pytest.raises(ValueError, match="'age & noise'"):
        weigh.load(path)


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


def test_the_parameter_bins_follows_merges_and_moved_cut_points(fitted):
    model, X, y = fitted
    changed = {name: CHANGES[name](weigh.edit(model, X, y), **WHY).model for name in CHANGES}
    assert changed["merge bins"].bins == {"age": [30.0, 50.0, 60.0], "noise": [0.0]}
    assert changed["move_cut"].bins["age"] == [30.0, 42.5, 50.0, 60.0]
    assert changed["scale"].bins == model.bins == {"age": [30.0, 40.0, 50.0, 60.0], "noise": [0.0]}
    again = clone(changed["merge bins"]).fit(X, y)
    assert again.evidence_["age"].labels == changed["merge bins"].evidence_["age"].labels


def test_merging_in_a_model_of_fine_bins_keeps_the_other_columns_fine(fitted):
    _, X, y = fitted
    model = weigh.EvidenceNB(bins=4).fit(X, y)
    changed = weigh.edit(model, X, y).merge("age", model.evidence_["age"].labels[:2], **WHY).model
    assert changed.bins["noise"] == 4
    again = clone(changed).fit(X, y)
    for table in again.evidence_:
        assert table.labels == changed.evidence_[table.name].labels


@pytest.fixture(scope="module")
def closed_left(fitted):
    """A model whose bins hold their lower ends, and rows at the cut points."""
    _, X, y = fitted
    X = X.assign(age=X.age.round(1), noise=X.noise.round(1))
    bins = {name: weigh.Binning(cuts=cuts, closed="left") for name, cuts in CUTS.items()}
    return weigh.EducatedNB(pairs=0, bins=bins).fit(X, y), X, y


CUTS = {"age": [30.0, 40.0, 50.1], "noise": [-0.5, 0.0]}


def test_a_moved_cut_point_of_intervals_closed_on_the_left_keeps_them_so(closed_left):
    model, X, y = closed_left
    changed = weigh.edit(model, X, y).move_cut("age", 40.0, 42.5, **WHY).model
    table = changed.evidence_["age"]
    assert table.labels == ("< 30.0", "[30.0, 42.5)", "[42.5, 50.1)", ">= 50.1")
    rows = X.iloc[[0, 0]].assign(age=[42.4, 42.5])
    assert contribution(changed, rows, "age").tolist() == table.weights[1:3].tolist()
    zero = weigh.edit(model, X, y).move_cut("noise", 0.0, 0.2, **WHY).model
    assert zero.evidence_["noise"].labels[-1] == ">= 0.2"
    with pytest.raises(ValueError, match=r"\[30\.0, 40\.0, 50\.1\]"):
        weigh.edit(model, X, y).move_cut("age", 41.0, 42.5, **WHY)


@pytest.mark.parametrize(
    "change",
    [
        lambda e: e.move_cut("age", 40.0, 42.5, **WHY),
        lambda e: e.merge("noise", ["[-0.5, 0.0)", ">= 0.0"], **WHY),
    ],
)
def test_a_refit_of_edited_bins_closed_on_the_left_has_their_labels(closed_left, change):
    model, X, y = closed_left
    changed = change(weigh.edit(model, X, y)).model
    again = clone(changed).fit(X, y)
    for table in again.evidence_:
        assert table.labels == changed.evidence_[table.name].labels


def test_an_edit_of_a_numeric_column_keeps_the_groups_of_categories(fitted):
    _, X, y = fitted
    model = weigh.EvidenceNB(bins=weigh.Binning(max_levels=3)).fit(X, y)
    assert len(model.evidence_["town"].labels) < 4
    changed = weigh.edit(model, X, y).merge("age", model.evidence_["age"].labels[:2], **WHY).model
    again = clone(changed).fit(X, y)
    for table in again.evidence_:
        assert table.labels == changed.evidence_[table.name].labels


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


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize(
    "learner",
    [
        weigh.EducatedNB(),
        weigh.EducatedNB(pairs=0, multiclass="ovr"),
        weigh.EvidenceNB(),
    ],
)
def test_refits_of_an_unchanged_model_change_nothing(learner, n_classes):
    X, y = draw(n_classes=n_classes)
    model = clone(learner).fit(X, y)
    editor = weigh.edit(model, X[::2], y[::2])  # rows of any kind
    for _ in range(20):
        editor.scale("noise", 1.0, refit=True, **WHY)
        assert_allclose(editor.model.predict_proba(X), model.predict_proba(X), atol=1e-9)
    editor.drop("town", refit=True, **WHY)
    dropped = editor.model.predict_proba(X)
    for _ in range(5):  # a search ends where a step promises 1e-15 nats for a row: 4e-8 in totals
        editor.scale("noise", 1.0, refit=True, **WHY)
        assert_allclose(editor.model.predict_proba(X), dropped, rtol=0, atol=1e-6)


def test_a_refit_keeps_a_prior_that_was_given():
    X, y = draw()
    model = weigh.EducatedNB(pairs=0, class_prior=[0.95, 0.05]).fit(X, y)
    editor = weigh.edit(model, X, y).scale("noise", 1.0, refit=True, **WHY)
    assert_allclose(editor.model.predict_proba(X), model.predict_proba(X), atol=1e-9)
    editor.drop("town", refit=True, **WHY)
    off = [(own.predict_proba(X)[:, 1] - y).sum() for own in (model, editor.model)]
    assert off[0] < -50
    assert_allclose(*off)


def penalised(model, X, held):
    """A dense design, its penalty, and the weights that are held: all spelt out."""
    evidence = model.evidence_
    columns, penalties, free, start = [np.ones((len(X), 1))], [np.zeros((1, 1))], [True], []
    start.append(np.atleast_1d(evidence.prior))
    for scale, table in zip(model.scales_, evidence, strict=True):
        n = len(table.levels)
        placed = table.feature.read(read(X))
        columns.append(np.eye(n + 1)[placed.levels[placed.codes]][:, :n])
        rows = table.counts.sum(axis=1)
        penalties.append(scale * (curve(rows) if table.feature.cuts else np.eye(n)))
        free += [table.name not in held] * n
        start += [*table.by_class]
    return np.hstack(columns), block_diag(*penalties), np.array(free), np.array(start)


def solve_literally(design, penalty, free, weights, y):
    """Newton with the whole Hessian of all classes, from the weights that are given."""
    n, k = design.shape[1], weights.shape[1]
    target = np.eye(k)[y] if k > 1 else np.asarray(y)[:, None]
    weights = np.where(free[:, None], 0.0, weights)
    every = np.repeat(free, k)
    for _ in range(50):
        totals = design @ weights
        p = softmax(totals, axis=1) if k > 1 else expit(totals)
        pulled = np.where(free[:, None], penalty @ np.where(free[:, None], weights, 0.0), 0.0)
        gradient = (design.T @ (p - target) + pulled).ravel()[every]
        within = p[:, :, None] * (np.eye(k) - p[:, None, :]) if k > 1 else (p * (1 - p))[..., None]
        hessian = np.einsum("ri,rj,rab->iajb", design, design, within).reshape(n * k, n * k)
        hessian += np.kron(penalty, np.eye(k))
        step = np.linalg.pinv(hessian[np.ix_(every, every)]) @ gradient
        weights = weights.copy()
        weights[free] -= step.reshape(-1, k)
    return design @ weights


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("change", ["scale", "drop"])
def test_a_refit_of_the_rest_is_the_least_penalised_loss_with_the_change_held(n_classes, change):
    X, y = draw(n=400, n_classes=n_classes)
    bins = {"age": [30.0, 40.0, 50.0, 60.0], "noise": [-0.5, 0.5]}
    model = weigh.EducatedNB(pairs=0, bins=bins).fit(X, y)
    editor, factor = weigh.edit(model, X, y), 0.0 if change == "drop" else 0.4
    if change == "drop":
        editor.drop("age", refit=True, **WHY)
    else:
        editor.scale("age", factor, refit=True, **WHY)
    design, penalty, free, weights = penalised(model, X, ["age"])
    weights[~free] *= factor
    totals = solve_literally(design, penalty, free, weights, y)
    wanted = softmax(totals, axis=1) if n_classes > 2 else expit(totals)[:, 0]
    found = editor.model.predict_proba(X)
    assert_allclose(found if n_classes > 2 else found[:, 1], wanted, atol=1e-6)
    assert abs(found - model.predict_proba(X)).max() > 0.05


def test_a_refit_in_two_sittings_is_that_of_one(fitted, tmp_path):
    model, X, y = fitted
    first = weigh.edit(model, X, y).drop("noise", refit=True, **WHY)
    weigh.save(first.model, tmp_path / "first.json")
    second = weigh.edit(weigh.load(tmp_path / "first.json"), X, y)
    for editor in (first, second):
        editor.scale("town", 2.0, refit=True, **WHY)
    both = [editor.model.predict_proba(X) for editor in (first, second)]
    assert_allclose(*both, atol=1e-7)


def solve_in_order(model, X, y):
    """Totals without b of least loss tied to the start, with a in order, by a general solver."""
    design, penalty, _, start = penalised(model, X, [])
    sizes = np.cumsum([1, *(len(table.levels) for table in model.evidence_)])
    kept = np.r_[0 : sizes[1], sizes[2] : sizes[3]]
    slope = (design.T @ (expit(design @ start[:, 0]) - y))[kept]
    design, penalty, start = design[:, kept], penalty[np.ix_(kept, kept)], start[kept, 0]

    def tied(w):
        away, totals = w - start, design @ w
        loss = np.logaddexp(0, totals).sum() - y @ totals
        gradient = design.T @ (expit(totals) - y) - slope + penalty @ away
        return loss - slope @ away + away @ penalty @ away / 2, gradient

    rises = {"type": "ineq", "fun": lambda w: np.diff(w[1:7])}
    options = {"maxiter": 1000, "ftol": 1e-12}
    found = minimize(tied, start, jac=True, method="SLSQP", constraints=rises, options=options)
    return design @ found.x


@pytest.mark.parametrize("named", [{"a": 1, "c": 0}, [1, 0, 0], {0: 1}])
def test_a_refit_keeps_tables_in_the_order_that_was_asked_for(named, tmp_path):
    rng = np.random.default_rng(0)
    a = rng.integers(0, 6, 800)
    b = (a + rng.integers(0, 3, 800)) % 6
    X = pd.DataFrame({"a": a * 1.0, "b": b.astype(str), "c": rng.choice([*"pq"], 800)})
    total = 0.3 * a - 2.0 * (b - 2) + (X.c == "p")
    y = (rng.random(800) < expit(total)).astype(int)
    bins = {"a": [0.5, 1.5, 2.5, 3.5, 4.5]}
    model = weigh.EducatedNB(pairs=0, bins=bins, monotonic_cst=named).fit(X, y)
    free = weigh.EducatedNB(pairs=0, bins=bins).fit(X, y)
    falls, keeps = (weigh.edit(own, X, y).drop("b", refit=True, **WHY) for own in (free, model))
    assert np.diff(falls.evidence["a"].weights[:6]).min() < -0.1
    assert np.diff(keeps.evidence["a"].weights[:6]).min() >= 0
    assert_allclose(
        keeps.model.predict_proba(X)[:, 1], expit(solve_in_order(model, X, y)), atol=1e-4
    )
    weigh.save(keeps.model, tmp_path / "kept.json")
    later = weigh.edit(weigh.load(tmp_path / "kept.json"), X, y)
    later.drop("c", refit=True, **WHY)
    assert np.diff(later.evidence["a"].weights[:6]).min() >= 0


def loss_in_nats(evidence, X, y):
    """Without the bound that reported losses have."""
    totals = evidence.total(X).reshape(len(X), -1)
    totals = totals if totals.shape[1] > 1 else np.hstack([0 * totals, totals])
    return (logsumexp(totals, axis=1) - totals[np.arange(len(X)), y]).mean()


def test_a_weight_read_from_a_table_is_doubted_and_taken_as_given(editor):
    largest = max(np.abs(table.by_class).max() for table in editor.evidence)
    assert 3 * largest < 39
    with pytest.warns(UserWarning, match=r"town = a.*3,900.*0\.39"):
        editor.set("town", "a", 39, **WHY)
    assert editor.evidence["town"].by_class[0, 0] == 39
    editor.set("town", "b", 3 * 39, **WHY)  # no larger than thrice the largest


@pytest.mark.filterwarnings("ignore:weight=:UserWarning")
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("learner", [weigh.EvidenceNB(), weigh.EducatedNB(pairs=0)])
def test_a_refit_of_a_wild_change_ends_at_its_least_loss(learner, n_classes):
    X, y = draw(n_classes=n_classes)
    model = clone(learner).fit(X, y)
    wild = 60.0 if n_classes == 2 else [60.0, -30.0, -30.0]
    for change in (
        lambda e, refit: e.scale("age", 30.0, refit=refit, **WHY),
        lambda e, refit: e.set("town", "a", wild, refit=refit, **WHY),
    ):
        left, refitted = (change(weigh.edit(model, X, y), refit) for refit in (False, True))
        losses = [loss_in_nats(editor.evidence, X, y) for editor in (left, refitted)]
        assert losses[1] < losses[0]
        again = refitted.scale("noise", 1.0, refit=True, **WHY).undo().redo()
        before, after = (state.evidence for state in again._states[1:])
        assert_allclose(before.prior, after.prior, atol=1e-6)


@pytest.mark.filterwarnings("ignore:weight=:UserWarning")
def test_a_refit_that_does_not_converge_warns(fitted, monkeypatch):
    monkeypatch.setattr(refit_module, "STEPS", 1)
    with pytest.warns(ConvergenceWarning, match="refit"):
        weigh.edit(*fitted).set("town", "a", 60.0, refit=True, **WHY)


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


@pytest.mark.parametrize("change", ["drop", "freeze"])
def test_a_change_that_omits_its_reason_names_itself_and_the_argument(editor, change):
    with pytest.raises(ValueError, match=f"{change}.*why="):
        getattr(editor, change)("noise")
    assert editor.edits == ()


def test_a_level_that_only_print_shows_is_refused_with_the_option_that_lists_levels(fitted):
    _, X, y = fitted
    model = weigh.EvidenceNB(bins=40).fit(X, y)
    shown = summarise(model.evidence_["age"], ROWS).labels
    joined = [text for text in shown if text not in model.evidence_["age"].labels]
    with pytest.raises(ValueError, match="max_rows=None"):
        weigh.edit(model, X, y).merge("age", joined[:2], **WHY)


def test_an_editor_shows_its_loss_and_its_last_change(editor):
    assert f"{editor.loss:.4f}" in repr(editor)
    editor.drop("noise", why="a proxy")
    for part in (f"{editor.loss:.4f}", "1 edit", "drop", "a proxy"):
        assert part in repr(editor)


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


# ---------------------------------------------------------------- pairs that are added


@pytest.mark.parametrize("learner", ["educated", "evidence"])
def test_an_added_pair_has_the_least_penalised_loss_with_all_other_weights_held(learner):
    X, y = draw(800, seed=3)
    y = np.where((X.town < "c") == (X.noise > 0), 1 - (y & (X.age < 45)), y & (X.age > 45))
    bins = {"age": [45.0], "noise": [0.0]}
    made = {
        "educated": weigh.EducatedNB(pairs=0, bins=bins),
        "evidence": weigh.EvidenceNB(bins=bins),
    }
    model = made[learner].fit(X, y)
    editor = weigh.edit(model, X, y).add_pair("town", "noise", **WHY)
    table = editor.evidence["town & noise"]
    assert [t.by_class.tolist() for t in editor.evidence.tables[:-1]] == [
        t.by_class.tolist() for t in model.evidence_
    ]
    assert table.counts.sum() == len(X)
    rows = read(X)
    totals = model.evidence_.total(rows)[:, 0]
    placed = table.feature.read(rows)
    at = placed.levels[placed.codes]
    slope = np.zeros(len(table.levels))
    np.add.at(slope, at, expit(totals + table.weights[at]) - y)
    pull = editor._states[-1].start.pull()[0][-len(slope) :, -len(slope) :]
    assert_allclose(slope + pull @ table.weights, 0.0, atol=1e-6)
    assert editor.edits[0].loss_after < editor.edits[0].loss_before - 0.02


LEARNERS = [weigh.EducatedNB(pairs=0), weigh.EvidenceNB(), weigh.BoostedNB()]


@pytest.mark.parametrize("learner", LEARNERS, ids=lambda learner: type(learner).__name__)
def test_an_added_pair_of_noise_costs_hardly_any_hold_out_loss(learner):
    costs = []
    for seed in range(3):
        rng = np.random.default_rng(seed)
        rows = pd.DataFrame({name: rng.choice([*"abcdefghij"], 3300) for name in "uvw"})
        y = rng.integers(0, 2, 3300)
        model = clone(learner).fit(rows[:300], y[:300])
        editor = weigh.edit(model, rows[300:], y[300:], train=(rows[:300], y[:300]))
        (change,) = editor.add_pair("u", "v", **WHY).edits
        costs.append(change.loss_after - change.loss_before)
    assert max(costs) < 0.002


def test_the_scale_of_an_added_pair_has_the_most_marginal_likelihood():
    """Of a gaussian target, where Laplace's approximation is exact: the literal sum on a grid."""
    rng = np.random.default_rng(2)
    X = pd.DataFrame({"u": rng.choice([*"abcd"], 500), "v": rng.normal(size=500)})
    y = 50 * ((X.u < "c") == (X.v > 0)) + 30 * rng.normal(size=500)
    model = weigh.EducatedRegressor(pairs=0, bins={"v": [-0.7, 0.0, 0.7]}).fit(X, y)
    editor = weigh.edit(model, X, y).add_pair("u", "v", **WHY)
    table, start = editor.evidence["u & v"], editor._states[-1].start
    (block,), _ = prior_of(table.feature, table.counts, 0)
    placed = table.feature.read(read(X))
    cells = np.eye(len(table.levels))[placed.levels[placed.codes]]
    left = y.to_numpy() - model.predict(X)
    H, r = cells.T @ cells / model.dispersion_, cells.T @ left / model.dispersion_
    matrix = np.eye(len(H)) if block.matrix is None else block.matrix

    def log_logistic(x):
        return -2 * np.logaddexp(x / 2, -x / 2)

    factors = np.linspace(-6, 6, 2001)  # of the variance expected of pairs, in logarithms

    def marginal(log):
        penalised = H + np.exp(log) * matrix
        fitted = 0.5 * r @ np.linalg.solve(penalised, r)
        thought = log_logistic(log + np.log(0.03 * y.var(ddof=0)) + factors)
        hyper = (thought + 3 * log_logistic(factors)).max()
        return fitted + 0.5 * len(H) * log - 0.5 * np.linalg.slogdet(penalised)[1] + hyper

    found = float(np.log(start.scales["u & v"][0]))
    grid = found + np.linspace(-2, 2, 401)
    assert grid[np.argmax([marginal(log) for log in grid])] == pytest.approx(found, abs=0.03)


def test_numbers_of_an_added_pair_are_cut_at_most_at_their_quartiles():
    X, y = draw()
    model = weigh.EducatedNB(pairs=0, bins=20).fit(X, y)
    pair = weigh.edit(model, X, y).add_pair("age", "noise", **WHY).evidence["age & noise"].feature
    for part in pair.parts:
        assert len(part.cuts) == 3
        assert {*part.cuts} < {*model.evidence_[part.name].feature.cuts}
        assert np.bincount(part.read(read(X)).codes).min() > 0.15 * len(X)


def test_a_pair_that_is_there_is_not_added_again(editor):
    with pytest.raises(ValueError, match="already"):
        editor.add_pair("town", "age", **WHY)
    with pytest.raises(ValueError, match="two features"):
        editor.add_pair("town", "town", **WHY)


# ---------------------------------------------------------------- names


def test_a_renamed_feature_is_shown_by_its_new_name_and_keyed_by_its_own(editor, fitted, tmp_path):
    model, X, y = fitted
    editor.rename("town", "Town of birth", {"a": "Aachen", "b": "Bonn"}, **WHY)
    editor.merge("town", ["b", "c"], **WHY)
    changed = editor.model
    merged = weigh.edit(model, X, y).merge("town", ["b", "c"], **WHY).model
    weigh.save(changed, tmp_path / "named.json")
    again = weigh.load(tmp_path / "named.json")
    for one in (changed, again):
        assert "Town of birth" in str(one.evidence_)
        assert "Aachen" in str(one.evidence_)
        sheet = str(one.balance_sheet({"town": "a", "age": 40, "noise": 0}))
        assert "Town of birth = Aachen" in sheet
        assert one.evidence_["town"].labels[0] == "a"
        assert (one.predict_proba(X) == merged.predict_proba(X)).all()
    page = weigh.report(again, X, y, labels={"levels": {"town": {"d": "Dresden"}}})
    assert all(name in page for name in ("Town of birth", "Aachen", "Dresden"))


def test_renamed_features_keep_their_scales_in_files_and_in_the_next_refit(fitted, tmp_path):
    model, X, y = fitted
    first = weigh.edit(model, X, y, who="ada").rename("town", "Town of birth", **WHY)
    first.rename("age", "Years", **WHY)
    weigh.save(first.model, tmp_path / "named.json")
    named = weigh.load(tmp_path / "named.json")
    scales = dict(zip(named.evidence_.names, named.scales_, strict=True))
    assert scales == dict(zip(model.evidence_.names, model.scales_, strict=True))
    after, plain = (
        weigh.edit(one, X, y, who="ada").drop("noise", refit=True, **WHY).model
        for one in (named, model)
    )
    for mine, other in zip(after.evidence_, plain.evidence_, strict=True):
        np.testing.assert_allclose(mine.weights, other.weights, atol=1e-9)


def test_a_renamed_feature_may_be_named_either_way_and_its_card_shows_the_new_name(tmp_path):
    X, y = draw()
    model = weigh.EducatedNB(pairs=0).fit(X, y)
    named = weigh.edit(model, X, y, who="ada").rename("town", "Birth town", {"a": "Aachen"}, **WHY)
    card = weigh.Scorecard(named.model)
    text = str(card)
    assert "Birth town" in text
    assert "Aachen" in text
    row = X.iloc[[0]]
    found, again = (
        weigh.levers(card, row, {name: "any"}, costs={name: 2.0}).to_dict()
        for name in ("town", "Birth town")
    )
    assert found == again
    weigh.save(named.model, tmp_path / "named.json")
    own, new = (
        CliRunner().invoke(main, ["show", str(tmp_path / "named.json"), "--feature", name])
        for name in ("town", "Birth town")
    )
    assert new.exit_code == 0
    assert new.stdout == own.stdout


@pytest.mark.parametrize(
    "odd",
    [
        {"feature": "tawn", "name": "x"},
        {"feature": "town", "levels": {"z": "Z"}},
        {"feature": "town"},
    ],
)
def test_names_of_what_there_is_not_are_refused(editor, odd):
    with pytest.raises(ValueError, match=r"tawn|'z'|name"):
        editor.rename(**odd, **WHY)
    assert editor.edits == ()


@pytest.mark.parametrize(
    ("odd", "parameter"),
    [
        ({"name": "age"}, "name"),
        ({"levels": {"a": "b"}}, "levels"),
        ({"levels": {"a": "Ulm", "b": "Ulm"}}, "levels"),
        ({"levels": {"z": "Ulm"}}, "levels"),
    ],
)
def test_names_in_use_and_levels_that_are_none_are_refused_by_name(editor, odd, parameter):
    with pytest.raises(ParameterError) as error:
        editor.rename("town", **odd, **WHY)
    assert error.value.parameter == parameter
    assert editor.edits == ()


def test_a_new_name_is_in_use_from_then_on_and_levels_may_swap_names(editor):
    editor.rename("age", "Years", **WHY)
    with pytest.raises(ParameterError):
        editor.rename("town", "Years", **WHY)
    editor.rename("town", levels={"a": "b", "b": "a"}, **WHY).rename("town", "town", **WHY)
    assert editor.evidence["town"].feature.spelt(EXACT)[:2] == ("b", "a")


@pytest.mark.parametrize("one", [1, 1.0, np.int64(1), "1", ">= 1", "> 0.5"])
def test_zero_and_one_are_found_as_numbers_and_as_the_ranges_they_were(one, tmp_path):
    X, y = draw(200)
    X["garage"] = np.where(np.arange(200) % 5, y, 1 - y)
    model = weigh.EvidenceNB().fit(X, y)
    assert model.evidence_["garage"].labels == ("0", "1")
    editor = weigh.edit(model, X, y).set("garage", one, 0.25, **WHY)
    assert editor.evidence["garage"].weights.tolist()[1] == 0.25
    weigh.save(editor.model, tmp_path / "m.json")
    assert weigh.load(tmp_path / "m.json").evidence_["garage"].weights.tolist()[1] == 0.25
    if isinstance(one, str):
        named = editor.rename("garage", levels={one: "has one"}, **WHY).evidence["garage"].feature
        assert named.spelt(EXACT) == ("0", "has one")
