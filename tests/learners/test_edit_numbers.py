"""Models of numbers changed by hand: `weigh.edit` of an EducatedRegressor."""

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from numpy.testing import assert_allclose
from scipy.optimize import minimize
from tests.learners import test_edit

import weigh
from weigh.cli import main
from weigh.editing.refit import Start, degrees_of_freedom
from weigh.editing.rows import NumberRows
from weigh.errors import ParameterError
from weigh.exports.selftest import check

WHY = {"why": "asked for", "who": "ada"}


def draw(n=900, seed=0):
    random = np.random.default_rng(seed)
    rows = pd.DataFrame({"age": random.integers(18, 80, n), "noise": random.normal(size=n)})
    rows["town"], rows["kind"] = random.choice([*"abcd"], n), random.choice([*"xyz"], n)
    total = 0.02 * (rows["age"] - 50) + 0.6 * (rows["town"] == "a") - 0.4 * (rows["kind"] == "x")
    rows["years"] = random.uniform(0.2, 1.0, n)
    rows["n"] = random.poisson(rows["years"] * np.exp(total))
    rows["cost"] = 100 * total + random.normal(0, 30, n)
    return rows


COLUMNS = ["age", "noise", "town", "kind"]
TARGETS = {"poisson": ["n", "years"], "gaussian": ["cost"]}


def fit(family, rows, columns=COLUMNS, **given):
    own = TARGETS[family]
    given = {"pairs": [("age", "town")], "bins": {"age": [30.0, 40.0, 50.0, 60.0]}} | given
    model = weigh.EducatedRegressor(family=family, **given)
    exposure = {"exposure": "years"} if family == "poisson" else {}
    return model.fit(rows[[*columns, *own]], own[0], **exposure)


@pytest.fixture(scope="module", params=[*TARGETS])
def fitted(request):
    family = request.param
    columns = [*COLUMNS, *TARGETS[family]]
    rows, rest = draw()[columns], draw(seed=1)[columns]
    return fit(family, rows), rest, TARGETS[family][0], rows


def edit(fitted):
    model, rest, target, rows = fitted
    return weigh.edit(model, rest, target, train=(rows, target))


CHANGES = test_edit.CHANGES | {
    "add_pair": lambda e, **k: e.add_pair("town", "kind", **k),
    "rename": lambda e, **k: e.rename("town", "Town", {"a": "Aachen"}, **k),
}


@pytest.mark.parametrize("refit", [False, True])
@pytest.mark.parametrize("name", CHANGES)
def test_changes_of_numbers_are_recorded_replayed_saved_and_exported(fitted, name, refit, tmp_path):
    model, rest, target, _ = fitted
    changed = CHANGES[name](edit(fitted), refit=refit, **WHY).model
    (change,) = changed.evidence_.edits
    deviances = [weigh.evaluate(own, rest, target).deviance for own in (model, changed)]
    assert_allclose([change.loss_before, change.loss_after], deviances)
    weigh.save(changed, tmp_path / "changed.json")
    again = weigh.load(tmp_path / "changed.json")
    assert_allclose(again.predict_interval(rest), changed.predict_interval(rest))
    replayed = edit(fitted).replay(again.evidence_.edits).model
    weigh.save(replayed, tmp_path / "replayed.json")
    assert (tmp_path / "replayed.json").read_bytes() == (tmp_path / "changed.json").read_bytes()
    script = tmp_path / "score.py"
    weigh.export(changed, "python", path=script)
    assert check(script, changed).difference.holds


def test_a_refit_of_unchanged_numbers_changes_nothing(fitted):
    model, rest, _, _ = fitted
    again = edit(fitted).change("freeze", {"feature": "noise"}, refit=True, **WHY).model
    assert_allclose(again.predict(rest), model.predict(rest), rtol=1e-9)


@pytest.mark.parametrize("family", [*TARGETS])
def test_a_refit_of_numbers_is_the_least_penalised_loss_without_the_table(family):
    """Categories alone, whose prior is the scale of each table: the literal loss by minimize."""
    rows, target = draw(400)[["town", "kind", *TARGETS[family]]], TARGETS[family][0]
    model = fit(family, rows, ["town", "kind"], pairs=0, bins="fine")
    changed = weigh.edit(model, rows, target).drop("town", refit=True, **WHY).model
    kind, kept = model.evidence_["kind"], changed.evidence_["kind"]
    apart = np.log(rows["years"]) if family == "poisson" else 0.0
    y, design = rows[target].to_numpy(float), (rows["kind"].to_numpy()[:, None] == [*kind.labels])

    def losses(totals):
        if family == "poisson":
            return np.exp(totals) - y * totals, np.exp(totals) - y
        return (y - totals) ** 2 / 2, totals - y

    town = model.evidence_["town"]
    before = model.evidence_.prior + design @ kind.weights + apart
    before = before + (rows["town"].to_numpy()[:, None] == [*town.labels]) @ town.weights
    slope = losses(before)[1] / model.dispersion_
    scale = model.scales_[model.evidence_.names.index("kind")]

    def penalised(w):
        loss, rise = losses(w[0] + design @ w[1:] + apart)
        away = w - start
        pull = np.append(0.0, scale * away[1:])
        g = np.append(slope.sum(), design.T @ slope)
        value = loss.sum() / model.dispersion_ - g @ away + 0.5 * pull @ away
        rise = rise / model.dispersion_
        return value, np.append(rise.sum(), design.T @ rise) - g + pull

    start = np.append(model.evidence_.prior, kind.weights)
    found = minimize(penalised, start, jac=True, method="BFGS", options={"gtol": 1e-9})
    size = np.abs(found.x).max()
    assert_allclose(np.append(changed.evidence_.prior, kept.weights), found.x, atol=1e-5 * size)


def test_intervals_grow_with_what_an_edit_loses(fitted):
    model, rest, target, _ = fitted
    editor = edit(fitted).remove_pair("age", "town", **WHY)
    changed = editor.drop("age", refit=True, **WHY).drop("town", refit=True, **WHY).model
    assert changed.dispersion_ > 1.1 * model.dispersion_
    covered = weigh.evaluate(changed, rest, target).covered.value
    assert 0.87 < covered < (0.96 if target == "cost" else 1.0)  # small counts have more


def test_pairs_of_noise_leave_the_dispersion_that_hold_out_rows_have():
    found = []
    for seed in range(4):
        random = np.random.default_rng(seed)
        rows = pd.DataFrame({name: random.choice([*"abcdefghij"], 300) for name in "uvw"})
        y = random.normal(size=300)
        model = weigh.EducatedRegressor(pairs=0).fit(rows, y)
        editor = weigh.edit(model, rows, y)
        for first, second in ("uv", "uw", "vw"):
            editor.add_pair(first, second, refit=True, **WHY)
        found.append(editor.model.dispersion_ / np.var(y))
    assert 0.97 < np.mean(found) < 1.1


def test_the_rows_that_weights_are_worth_are_the_trace_of_the_hat_matrix():
    """Of categories and a gaussian target, by literal ridge regression."""
    rows = draw(200)[["town", "kind", "cost"]]
    model = fit("gaussian", rows, ["town", "kind"], pairs=0, bins="fine")
    tables = [model.evidence_[name] for name in ("town", "kind")]
    ones = [rows[t.name].to_numpy()[:, None] == [*t.labels] for t in tables]
    design = np.hstack([np.ones((200, 1)), *ones]).astype(float)
    scales = [model.scales_[model.evidence_.names.index(t.name)] for t in tables]
    pull = np.repeat([0.0, *scales], [1, *(len(t.labels) for t in tables)])
    gram = design.T @ design / model.dispersion_
    literal = np.trace(np.linalg.solve(gram + np.diag(pull), gram))
    read = NumberRows.read(model, rows, "cost")
    spent = degrees_of_freedom(model.evidence_, read, Start.of(model, read))
    assert spent == pytest.approx(literal, rel=1e-6)


def test_a_row_of_weight_two_is_two_rows_to_an_added_pair():
    rows = draw(200)[["town", "kind", "cost"]]
    twice = np.arange(200) % 2
    model = fit("gaussian", rows, ["town", "kind"], pairs=0, bins="fine")
    repeated = rows.loc[np.repeat(np.arange(200), 1 + twice)].reset_index(drop=True)
    by_weight = weigh.edit(model, rows, "cost", train=(rows, "cost", 1.0 + twice))
    by_rows = weigh.edit(model, rows, "cost", train=(repeated, "cost"))
    both = (own.add_pair("town", "kind", **WHY).model for own in (by_weight, by_rows))
    weights = [own.evidence_.tables[-1].weights for own in both]
    assert_allclose(*weights, rtol=1e-5)


def test_a_factor_is_the_logarithm_of_its_weight(fitted):
    if fitted[2] == "cost":
        with pytest.raises(ParameterError) as error:
            edit(fitted).set("town", "a", factor=1.5, **WHY)
        assert error.value.parameter == "factor"
        return
    editor = edit(fitted).set("town", "a", factor=1.5, **WHY)
    assert editor.evidence["town"].weights[0] == pytest.approx(np.log(1.5))
    for wrong in ({"factor": -1.0}, {"factor": 2.0, "weight": 1.0}, {}):
        with pytest.raises(ValueError, match="factor"):
            editor.set("town", "a", **wrong, **WHY)


def test_the_exposure_of_the_fit_is_needed_unless_another_is_given():
    rows = draw(300)
    model, bare = fit("poisson", rows, pairs=0), rows.drop(columns="years")
    with pytest.raises(ParameterError) as error:
        weigh.edit(model, bare, "n")
    assert error.value.parameter == "exposure"
    one = weigh.edit(model, bare, "n", exposure=1)
    assert one.loss == pytest.approx(weigh.evaluate(model, bare, "n", exposure=1).deviance)


def test_what_cannot_be_edited_is_refused_by_name(tmp_path):
    rows = draw(200)
    boosted = weigh.BoostedNBRegressor().fit(rows[["age", "cost"]], "cost")
    with pytest.raises(ValueError, match="BoostedNBRegressor"):
        weigh.edit(boosted, rows, "cost")
    weigh.save(boosted, tmp_path / "m.json")
    rows.to_csv(tmp_path / "rows.csv", index=False)
    words = ["edit", tmp_path / "m.json", tmp_path / "rows.csv", "--target", "cost"]
    done = CliRunner().invoke(main, [*map(str, words), "-o", str(tmp_path / "x.json")])
    assert done.exit_code == 1
    assert "BoostedNBRegressor" in done.stderr
    with pytest.raises(ParameterError) as error:
        weigh.edit(weigh.EvidenceNB().fit(rows, "kind"), rows, "kind", exposure="years")
    assert error.value.parameter == "exposure"


def test_the_report_tells_the_deviance_of_edits(fitted):
    _, rest, target, _ = fitted
    page = weigh.report(edit(fitted).drop("noise", **WHY).model, rest, target)
    assert f"{WHY['why']} (ada" in page
    assert "mean deviance" in page
    assert " bits" not in page


def test_a_printed_change_of_numbers_tells_its_deviance_also_when_loaded(fitted, tmp_path):
    changed = edit(fitted).drop("noise", **WHY).model
    weigh.save(changed, tmp_path / "m.json")
    for model in (changed, weigh.load(tmp_path / "m.json")):
        (change,) = model.evidence_.edits
        assert "mean deviance" in str(change)
        assert "bits" not in str(change)
