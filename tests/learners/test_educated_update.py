"""EducatedNB updated and merged by a summary of its rows: the loss to second order, which adds."""

import json

import numpy as np
import pyarrow as pa
import pytest
from click.testing import CliRunner

import weigh
from weigh.bins import Feature
from weigh.cli import main
from weigh.educated.fit import fit_task
from weigh.educated.numbers import NumberTarget
from weigh.educated.quadratic import Quadratic
from weigh.educated.solve import PRECISE, find_weights, state_at
from weigh.educated.task import Task, problem_of
from weigh.engine import CodedRows
from weigh.frames import read, write_file
from weigh.newton.regression import Gaussian
from weigh.store.file import checksum
from weigh.tally import Counts


def make(seed, n, towns=("a", "b", "c"), shift=0.0):
    rng = np.random.default_rng(seed)
    age, income, town = rng.normal(size=n) + shift, rng.normal(size=n), rng.choice(towns, n)
    total = np.sin(2 * age) + 0.6 * income + (town == "a") - 0.5
    bad = rng.random(n) < 1 / (1 + np.exp(-total))
    return pa.table({"age": age, "income": income, "town": town, "bad": bad.astype(int)})


OLD, NEW, REST = make(0, 1500), make(1, 1500), make(2, 4000)
BOTH = pa.concat_tables([OLD, NEW])
CUTS = {"age": [-1.5, -1.0, -0.5, 0.0, 0.5, 1.0, 1.5], "income": [-1.0, 0.0, 1.0]}


def fit(table, **given):
    given = {"bins": CUTS, "pairs": 0} | given
    return weigh.summarise(weigh.EducatedNB(**given).fit(table, "bad"), table, "bad")


@pytest.fixture(scope="module")
def old():
    return fit(OLD)


def loss(model, table=REST):
    y, p = table["bad"].to_numpy(), model.predict_proba(table)[:, 1]
    return -np.log2(np.where(y == 1, p, 1 - p)).mean()


# ---------------------------------------------------------------- theorems


def rows_of_numbers(seed, n):
    rng = np.random.default_rng(seed)
    codes = [rng.integers(0, 4, n).astype(np.uint8), rng.integers(0, 3, n).astype(np.uint8)]
    numbers = 0.5 * codes[0] - codes[1] + rng.normal(size=n)
    return CodedRows(codes, numbers)


def test_of_a_quadratic_loss_the_summary_and_new_rows_give_the_joint_fit_exactly():
    one, other = rows_of_numbers(0, 300), rows_of_numbers(1, 200)
    whole = CodedRows(
        [np.concatenate(both) for both in zip(one.codes, other.codes, strict=True)],
        np.concatenate([one.labels, other.labels]),
    )
    features = [Feature("a", tuple("abcd")), Feature("b", tuple("xyz"))]
    counts = tuple(
        Counts(feature, np.bincount(codes)[:, None].astype(float))
        for feature, codes in zip(features, whole.codes, strict=True)
    )
    target, rng = NumberTarget(Gaussian(), 0.0, 500.0), np.random.default_rng(2)
    scales = np.array([3.0, 0.5])

    def best(rows, past=None):
        problem = problem_of(Task(rows, counts, target, past=past))
        return find_weights(state_at(problem, np.zeros((8, 1)), scales), PRECISE).weights

    point = rng.normal(size=(8, 1))  # about whatever weights the summary is made
    near = state_at(problem_of(Task(one, counts, target)), point, scales).found
    hessian = near.curvature.joint[0][None, None, :, None, :]
    past = Quadratic.about(point, near.loss, near.size, near.slopes, hessian)
    assert best(other, past) == pytest.approx(best(whole), abs=1e-9)
    assert past.at(point)[0] == pytest.approx(near.loss)


def test_at_the_old_optimum_the_summary_and_the_prior_balance():
    model = weigh.EducatedNB(bins=CUTS, pairs=0).fit(OLD, "bad")
    summary = weigh.summarise(model, OLD, "bad").summary_
    fitted = []

    def keep(task):
        fitted.append(fit_task(task))
        return fitted[0]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("weigh.educated.learner.fit_task", keep)
        weigh.EducatedNB(bins=CUTS, pairs=0).fit(OLD, "bad")
    state = fitted[0].state
    pull = state.problem.prior.apply(fitted[0].weights, state.scales)
    slopes = summary.loss.at(fitted[0].weights)[1]
    assert np.abs(slopes + pull).max() < 1e-6 * summary.loss.size


def test_the_summary_is_loss_gradient_and_hessian_of_the_rows_written_out(old):
    evidence, summary = old.evidence_, old.summary_
    design = np.column_stack(
        [np.ones(OLD.num_rows)]
        + [
            np.eye(len(table.levels) + 1)[placed.levels[placed.codes]][:, :-1]
            for table in evidence
            for placed in [table.feature.read(read(OLD))]
        ]
    )
    weights = np.concatenate([evidence.prior_row, *(table.by_class[:, 0] for table in evidence)])
    p, y = 1 / (1 + np.exp(-design @ weights)), OLD["bad"].to_numpy()
    loss, slopes = summary.loss.at(weights[:, None])
    assert loss == pytest.approx(-np.log(np.where(y == 1, p, 1 - p)).sum())
    assert slopes[:, 0] == pytest.approx(design.T @ (p - y), abs=1e-8)
    hessian = design.T @ (design * (p * (1 - p))[:, None])
    assert summary.loss.hessian[0, 0, :, 0] == pytest.approx(hessian, abs=1e-8)


def test_merging_is_associative_and_commutative():
    a, b, c = (fit(make(seed, 700)) for seed in (3, 4, 5))
    one, other = a.merge(b).merge(c), c.merge(b.merge(a))
    totals = [model.decision_function(REST) for model in (one, other, a.merge(b, c))]
    assert totals[0] == pytest.approx(totals[1], abs=1e-9)
    assert totals[0] == pytest.approx(totals[2], abs=1e-9)


def test_a_merge_with_no_other_model_is_the_fit_of_the_rows_themselves(old):
    alone = old.merge()
    assert alone.decision_function(REST) == pytest.approx(old.decision_function(REST), abs=0.05)
    assert alone.evidence_.class_counts.tolist() == old.evidence_.class_counts.tolist()


@pytest.mark.parametrize("given", [{}, {"bins": "fine", "pairs": "auto"}])
def test_an_updated_model_is_near_the_joint_fit(given):
    model = fit(OLD, **given)
    joint = weigh.EducatedNB(**({"bins": CUTS, "pairs": 0} | given)).fit(BOTH, "bad")
    found = weigh.update(model, NEW, "bad")
    assert loss(found) < loss(joint) * 1.005
    assert loss(found) < loss(model)
    assert found.evidence_.class_counts.tolist() == joint.evidence_.class_counts.tolist()
    assert float(found.evidence_.prior) == pytest.approx(float(joint.evidence_.prior))


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("weighted", [False, True])
def test_an_update_by_a_few_rows_is_near_the_joint_fit(seed, weighted):
    old, rng = make(seed, 1500), np.random.default_rng(seed)
    weight = rng.integers(1, 4, 1510).astype(float) if weighted else np.ones(1510)
    model = weigh.EducatedNB(bins=CUTS, pairs=0).fit(old, "bad", sample_weight=weight[:1500])
    model = weigh.summarise(model, old, "bad", sample_weight=weight[:1500])
    for n in (1, 3, 10):
        new, most = make(100 + seed, n), 1500 + n
        updated = weigh.update(model, new, "bad", sample_weight=weight[1500:most])
        joint = weigh.EducatedNB(bins=CUTS, pairs=0)
        joint.fit(pa.concat_tables([old, new]), "bad", sample_weight=weight[:most])
        near = pytest.approx(joint.decision_function(REST), abs=0.1)
        assert updated.decision_function(REST) == near


def nearly_separable(seed, n):
    rng = np.random.default_rng(seed)
    x, y = rng.normal(size=n), rng.normal(size=n)
    return pa.table({"x": x, "y": y, "bad": (x + y + 0.05 * rng.normal(size=n) > 0).astype(int)})


def test_scales_that_leave_one_out_has_divided_stay_so_in_updates_and_merges(tmp_path):
    cuts = {name: np.linspace(-2, 2, 33).tolist() for name in "xy"}
    old, rest = nearly_separable(0, 500), nearly_separable(9, 2000)
    model = fit(old, bins=cuts)
    assert model.loosening_ > 1
    weigh.save(model, tmp_path / "model.json", summary=True)
    again = weigh.load(tmp_path / "model.json", summary=True)
    assert again.summary_.scales == model.summary_.scales
    totals = model.decision_function(rest)
    size = np.abs(totals).mean()
    for n in (1, 3, 10):
        new = nearly_separable(n, n)
        updated = weigh.update(again, new, "bad")
        joint = weigh.EducatedNB(bins=cuts, pairs=0).fit(pa.concat_tables([old, new]), "bad")
        far = np.abs(updated.decision_function(rest) - joint.decision_function(rest))
        assert far.mean() < 0.1 * size  # without the scales it would be all of it
        assert updated.summary_.scales is not None
    assert model.merge().decision_function(rest) == pytest.approx(totals, abs=1e-6 * size)


def test_scales_of_nearly_separable_classes_stay_though_leave_one_out_left_them():
    cuts = {name: np.linspace(-2, 2, 33).tolist() for name in "xy"}
    old, new, rest = (nearly_separable(seed, n) for seed, n in ((1, 500), (101, 3), (9, 2000)))
    model = fit(old, bins=cuts)
    assert model.loosening_ == 1
    joint = weigh.EducatedNB(bins=cuts, pairs=0).fit(pa.concat_tables([old, new]), "bad")
    far = weigh.update(model, new, "bad").decision_function(rest) - joint.decision_function(rest)
    assert np.abs(far).mean() < 0.05 * np.abs(model.decision_function(rest)).mean()


def test_models_merge_if_their_parameters_are_equal_numbers_of_other_types(old):
    both = old.merge(fit(NEW, smoothing=1))  # and 1.0 by default
    same = old.merge(fit(NEW))
    np.testing.assert_array_equal(both.decision_function(REST), same.decision_function(REST))


def test_merged_sites_are_near_the_joint_fit():
    north = fit(OLD, bins="fine")
    south = fit(NEW, bins=weigh.cut_points(north))
    merged = north.merge(south)
    assert loss(merged) < loss(weigh.EducatedNB(pairs=0).fit(BOTH, "bad")) * 1.005
    assert loss(merged) < (loss(north) + loss(south)) / 2


def test_an_updated_model_can_be_updated_again(old):
    parts = [NEW.slice(start, 500) for start in (0, 500, 1000)]
    model = old
    for part in parts:
        model = weigh.update(model, part, "bad")
    at_once = weigh.update(old, NEW, "bad")
    assert model.evidence_.class_counts.tolist() == at_once.evidence_.class_counts.tolist()
    far = np.abs(model.predict_proba(REST) - at_once.predict_proba(REST))
    assert far.mean() < 0.005


def test_old_rows_fade_by_the_half_life(old):
    faded = weigh.update(old, NEW, "bad", half_life=NEW.num_rows)
    counts = 0.5 * old.evidence_.class_counts + np.bincount(NEW["bad"].to_numpy())
    assert faded.evidence_.class_counts == pytest.approx(counts)
    weight = np.repeat([0.5, 1.0], [OLD.num_rows, NEW.num_rows])
    slow = weigh.EducatedNB(bins=CUTS, pairs=0).fit(BOTH, "bad", sample_weight=weight)
    assert np.abs(faded.predict_proba(REST) - slow.predict_proba(REST)).mean() < 0.01


# ---------------------------------------------------------------- levels, priors, pairs, classes


def test_new_categories_get_weights_from_the_new_rows(old):
    new = make(6, 3000, towns=("a", "b", "c", "d"))
    found = weigh.update(old, new, "bad")
    assert [*found.evidence_["town"].levels] == ["a", "b", "c", "d"]
    weights = dict(
        zip(*(getattr(found.evidence_["town"], n) for n in ("levels", "weights")), strict=True)
    )
    assert weights["d"] == pytest.approx(weights["b"], abs=0.3)
    assert weights["a"] > weights["d"] + 0.5


def test_missing_values_that_training_did_not_have_become_a_level(old):
    ages = [None if i % 5 == 0 else age for i, age in enumerate(NEW["age"].to_pylist())]
    found = weigh.update(old, NEW.set_column(0, "age", pa.array(ages)), "bad")
    assert found.evidence_["age"].levels[-1] is None
    assert found.evidence_["age"].counts[-1].sum() == 300


def test_a_prior_that_was_set_stays(old):
    moved = weigh.update(old.with_prior(0.05), NEW, "bad")
    plain = weigh.update(old, NEW, "bad")
    same = plain.with_prior(0.05)
    assert moved.decision_function(REST) == pytest.approx(same.decision_function(REST), abs=1e-9)


def test_pairs_are_kept_and_updated(monkeypatch):
    def two(seed, n):
        rng = np.random.default_rng(seed)
        x, c = rng.normal(size=n), rng.choice(["u", "v"], n)
        bad = rng.random(n) < 1 / (1 + np.exp(-np.where(c == "u", 2, -2) * x))
        return pa.table({"x": x, "c": c, "bad": bad.astype(int)})

    first, second, rest = two(0, 1500), two(1, 1500), two(2, 3000)
    model = weigh.EducatedNB().fit(first, "bad")
    assert [pair.columns for pair in model.pairs_] == [("x", "c")]
    found = weigh.update(weigh.summarise(model, first, "bad"), second, "bad")
    assert [pair.columns for pair in found.pairs_] == [("x", "c")]
    cells = [len(own.evidence_["x & c"].levels) for own in (model, found)]
    assert cells[0] == cells[1]
    monkeypatch.setattr("weigh.educated.selection.refine", lambda fit: fit)  # the same cells
    joint = weigh.EducatedNB().fit(pa.concat_tables([first, second]), "bad")
    assert loss(found, rest) < loss(joint, rest) * 1.005
    other = weigh.EducatedNB(pairs=0).fit(second, "bad")
    with pytest.raises(ValueError, match="x & c"):
        weigh.summarise(model, first, "bad").merge(weigh.summarise(other, second, "bad"))


def test_classes_fitted_jointly_are_updated():
    every, rest = three(0, 900), three(1, 3000)
    first, second = every.slice(0, 450), every.slice(450)
    model = weigh.EducatedNB(pairs=0, bins=6).fit(first, "kind")
    found = weigh.update(weigh.summarise(model, first, "kind"), second, "kind")
    joint = weigh.EducatedNB(pairs=0, bins=6).fit(every, "kind")
    kinds = rest["kind"].to_numpy(zero_copy_only=False)

    def bits(one):
        places = np.searchsorted(one.classes_, kinds)
        return -np.log2(one.predict_proba(rest)[np.arange(len(kinds)), places]).mean()

    assert bits(found) < bits(joint) * 1.01
    assert bits(found) < bits(model)


def three(seed, n):
    rng = np.random.default_rng(seed)
    kind = rng.integers(0, 3, n)
    x, z = rng.normal(size=n) + kind, rng.normal(size=n) - (kind == 1)
    return pa.table({"x": x, "z": z, "kind": np.array(["a", "b", "c"])[kind]})


def test_monotone_tables_stay_monotone():
    model = fit(OLD, monotonic_cst={"income": 1})
    found = weigh.update(model, NEW, "bad")
    assert (np.diff(found.evidence_["income"].weights) >= -1e-9).all()


# ---------------------------------------------------------------- refusals


def test_what_has_no_summary_or_that_of_other_rows_is_refused(old):
    bare = weigh.EducatedNB(bins=CUTS, pairs=0).fit(OLD, "bad")
    with pytest.raises(ValueError, match="summarise"):
        weigh.update(bare, NEW, "bad")
    with pytest.raises(ValueError, match="summarise"):
        old.merge(bare)
    with pytest.raises(ValueError, match="training rows"):
        weigh.summarise(bare, NEW, "bad")
    stale = weigh.EducatedNB(bins=CUTS, pairs=0).fit(NEW, "bad")
    stale.summary_ = old.summary_
    with pytest.raises(ValueError, match="summary and the model"):
        weigh.update(stale, NEW, "bad")
    again = fit(OLD)
    assert not hasattr(again.fit(NEW, "bad"), "summary_")


def test_models_that_do_not_fit_together_are_refused_by_name(old):
    with pytest.raises(ValueError, match="'age': cut points differ"):
        old.merge(fit(NEW, bins=CUTS | {"age": [0.0]}))
    with pytest.raises(ValueError, match="class_prior"):
        old.merge(fit(NEW).with_prior(0.3))
    with pytest.raises(ValueError, match="max_levels"):
        old.merge(fit(NEW, max_levels=5))
    with pytest.raises(ValueError, match="9"):
        weigh.update(old, NEW.set_column(3, "bad", pa.array(np.full(NEW.num_rows, 9))), "bad")


def test_a_column_that_outgrows_max_levels_is_refused_by_name():
    model = fit(OLD, max_levels=3)
    with pytest.raises(ValueError, match="'town'"):
        weigh.update(model, make(6, 500, towns=("a", "d")), "bad")


def test_one_class_against_the_rest_is_refused_by_name():
    table = three(0, 300)
    model = weigh.EducatedNB(multiclass="ovr").fit(table, "kind")
    with pytest.raises(ValueError, match="softmax"):
        weigh.summarise(model, table, "kind")


# ---------------------------------------------------------------- files and the command line


def test_a_summary_is_the_same_after_a_file(old, tmp_path):
    weigh.save(old, tmp_path / "m.json", summary=True)
    again = weigh.load(tmp_path / "m.json", summary=True)
    one, other = (weigh.update(model, NEW, "bad") for model in (old, again))
    assert one.decision_function(REST).tolist() == other.decision_function(REST).tolist()
    assert not hasattr(weigh.load(tmp_path / "m.json"), "summary_")
    size = (tmp_path / "m.summary.json").stat().st_size
    n = 1 + sum(len(table.levels) for table in old.evidence_)
    assert size < 8 * 4 / 3 * n * (n + 3) / 2 + 4000


def test_a_summary_that_was_changed_or_is_not_there_is_refused(old, tmp_path):
    path = tmp_path / "m.json"
    weigh.save(old, path)
    with pytest.raises(FileNotFoundError, match="summary"):
        weigh.load(path, summary=True)
    weigh.save(old, path, summary=True)
    file = tmp_path / "m.summary.json"
    text = file.read_text()
    file.write_text(text.replace('"size": ', '"size": 1'))
    with pytest.raises(ValueError, match="checksum"):
        weigh.load(path, summary=True)
    for broken in (text[:100], "[]", "{}", '{"format": "weigh-summary", "version": 1}'):
        file.write_text(broken)
        with pytest.raises(ValueError, match=r"m\.summary\.json"):
            weigh.load(path, summary=True)
    with pytest.raises(ValueError, match="summary"):
        weigh.save(weigh.EvidenceNB().fit(OLD, "bad"), path, summary=True)


def test_a_summary_of_another_model_is_refused_by_its_file(old, tmp_path):
    other = weigh.summarise(old.with_prior(0.4), OLD, "bad")
    for name, model in (("a.json", old), ("a", other)):  # which share no summary
        weigh.save(model, tmp_path / name, summary=True)
        assert weigh.load(tmp_path / name, summary=True).classes_.tolist() == [0, 1]
    assert {path.name for path in tmp_path.iterdir()} == {
        "a.json", "a.summary.json", "a", "a.summary",
    }  # fmt: skip
    (tmp_path / "a.summary").replace(tmp_path / "a.summary.json")
    with pytest.raises(ValueError, match=r"a\.summary\.json"):
        weigh.load(tmp_path / "a.json", summary=True)


def test_a_summary_that_does_not_name_its_model_is_refused(old, tmp_path):
    weigh.save(old, tmp_path / "a.json", summary=True)
    file = tmp_path / "a.summary.json"
    data = json.loads(file.read_text())
    del data["model"], data["checksum"]
    file.write_text(json.dumps(data | {"checksum": checksum(data)}))
    with pytest.raises(ValueError, match=r"a\.summary\.json.* name "):
        weigh.load(tmp_path / "a.json", summary=True)


def run(folder, *words):
    named = [str(folder / word) if word.endswith((".json", ".csv")) else word for word in words]
    done = CliRunner().invoke(main, named)
    assert done.exit_code == 0, done.output + done.stderr
    return done


def test_the_command_line_updates_and_merges(tmp_path):
    for name, table in (("old", OLD), ("new", NEW)):
        write_file(table, str(tmp_path / f"{name}.csv"))
    fitted = ["--target", "bad", "--summary", "--set", "pairs=0"]
    run(tmp_path, "fit", "old.csv", *fitted, "-o", "north.json")
    run(tmp_path, "fit", "new.csv", *fitted, "--bins", "north.json", "-o", "south.json")
    run(tmp_path, "merge", "north.json", "south.json", "-o", "all.json")
    run(tmp_path, "update", "north.json", "new.csv", "--target", "bad", "-o", "next.json")
    run(tmp_path, "update", "next.json", "new.csv", "--target", "bad", "-o", "after.json")
    for name in ("all", "next"):
        model = weigh.load(tmp_path / f"{name}.json", summary=True)
        assert model.evidence_.class_counts.sum() == BOTH.num_rows
    assert weigh.load(tmp_path / "after.json").evidence_.class_counts.sum() == 4500
    run(tmp_path, "set-prior", "after.json", "0.4", "-o", "prior.json")
    run(tmp_path, "update", "prior.json", "new.csv", "--target", "bad", "-o", "last.json")
    np.testing.assert_allclose(weigh.load(tmp_path / "last.json").evidence_.assumed_rate[1], 0.4)


def test_the_command_line_tells_which_option_lets_models_be_updated_and_merged(tmp_path):
    for name, table in (("old", OLD), ("new", NEW)):
        write_file(table, str(tmp_path / f"{name}.csv"))
    fit = ["--target", "bad", "--set", "pairs=0"]
    run(tmp_path, "fit", "old.csv", *fit, "-o", "bare.json")
    run(tmp_path, "fit", "old.csv", *fit, "--summary", "-o", "north.json")
    fit += ["--bins", str(tmp_path / "north.json"), "--max-levels", "9", "--summary"]
    run(tmp_path, "fit", "new.csv", *fit, "-o", "south.json")
    told = refuse(tmp_path, "update", "bare.json", "new.csv", "--target", "bad", "-o", "x.json")
    assert "fit --summary" in told
    assert "bare.summary.json" in told
    assert "--max-levels" in refuse(tmp_path, "merge", "north.json", "south.json", "-o", "x.json")


def refuse(folder, *words):
    named = [str(folder / word) if word.endswith((".json", ".csv")) else word for word in words]
    done = CliRunner().invoke(main, named)
    assert done.exit_code != 0
    return done.stderr
