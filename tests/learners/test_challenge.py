"""weigh.challenge: every number equals its definition, computed row by row."""

import json
from dataclasses import dataclass

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from click.testing import CliRunner
from pyarrow import csv
from sklearn.linear_model import LinearRegression
from sklearn.metrics import mean_poisson_deviance, roc_auc_score
from tests.system.test_cli import fails, run

import weigh
from weigh.cli import main
from weigh.comparison.challenger import challenge_each
from weigh.errors import ParameterError
from weigh.frames import write_file
from weigh.metrics import calibration_line


@dataclass
class Given:
    """A classifier that says what it was given."""

    p: np.ndarray
    classes_: tuple = ("bad", "good")

    def predict_proba(self, X):
        return np.column_stack([1 - self.p, self.p])


@pytest.fixture
def rows():
    rng = np.random.default_rng(3)
    truth = rng.random(300)
    y = np.where(rng.random(300) < truth, "good", "bad")
    old, new = np.clip(truth + rng.normal(0, [[0.3], [0.1]], (2, 300)), 0.01, 0.99)
    return y, old, new


def losses(y, p):
    return np.array([-np.log2(q if v == "good" else 1 - q) for v, q in zip(y, p, strict=True)])


def test_differences_are_those_of_rows_with_their_standard_errors(rows):
    y, old, new = rows
    found = weigh.challenge(Given(old), Given(new), np.zeros((300, 1)), y)
    gaps = losses(y, new) - losses(y, old)
    assert found.loss.value == pytest.approx(gaps.mean())
    assert found.loss.error == pytest.approx(gaps.std(ddof=1) / np.sqrt(300))
    assert found.old.loss.value == pytest.approx(losses(y, old).mean())
    areas = [roc_auc_score(y == "good", p) for p in (old, new)]
    assert found.auc.value == pytest.approx(areas[1] - areas[0])
    assert (found.old.auc.value, found.new.auc.value) == pytest.approx(areas)
    assert found.verdict.startswith("The new model")


def test_calibration_of_both_is_that_of_the_metric(rows):
    y, old, new = rows
    found = weigh.challenge(Given(old), Given(new), np.zeros((300, 1)), y)
    for side, p in ((found.old, old), (found.new, new)):
        line = calibration_line(y, p, pos_label="good")
        assert side.slope.value == pytest.approx(line.slope)
        assert side.in_the_large.value == pytest.approx(line.in_the_large)
        assert side.mean_prediction == pytest.approx(p.mean())


@pytest.mark.parametrize("cut_off", [0.2, 0.5, 0.8])
def test_the_swap_set_is_every_row_once_by_its_sides(rows, cut_off):
    y, old, new = rows
    found = weigh.challenge(Given(old), Given(new), np.zeros((300, 1)), y, cut_off=cut_off)
    sides = {"both": [], "new only": [], "old only": [], "neither": []}
    for i in range(300):
        above = (old[i] > cut_off, new[i] > cut_off)
        names = {(True, True): "both", (False, True): "new only", (True, False): "old only"}
        sides[names.get(above, "neither")].append(i)
    assert {cell.name: cell.places.tolist() for cell in found.swaps} == sides
    for cell in found.swaps:
        goods = [y[i] == "good" for i in sides[cell.name]]
        assert cell.weight == len(goods)
        assert cell.rate.value == pytest.approx(np.mean(goods))


def test_a_weight_of_two_is_a_row_given_twice(rows):
    y, old, new = rows
    weight = np.arange(300) % 3  # some rows do not count
    twice = np.repeat(np.arange(300), weight)
    one = weigh.challenge(Given(old), Given(new), np.zeros((300, 1)), y, sample_weight=weight)
    two = weigh.challenge(Given(old[twice]), Given(new[twice]), np.zeros((300, 1)), y[twice])
    assert one.loss.value == pytest.approx(two.loss.value)
    assert one.loss.error == pytest.approx(two.loss.error)
    assert [cell.weight for cell in one.swaps] == [cell.weight for cell in two.swaps]
    assert all((weight[cell.places] > 0).all() for cell in one.swaps)


def test_a_model_against_itself_changes_nothing(rows):
    y, old, _ = rows
    found = weigh.challenge(Given(old), Given(old), np.zeros((300, 1)), y)
    assert (found.loss.value, found.loss.error) == (0, 0)
    assert [cell.weight for cell in found.swaps[1:3]] == [0, 0]
    assert json.loads(json.dumps(found.to_dict(), allow_nan=False))["swaps"][1]["rate"] == {
        "value": None,
        "low": None,
        "high": None,
    }


def test_turning_the_classes_round_turns_the_swap_set_round(rows):
    y, old, new = rows
    good = weigh.challenge(Given(old), Given(new), np.zeros((300, 1)), y, cut_off=0.3)
    bad = weigh.challenge(
        Given(old), Given(new), np.zeros((300, 1)), y, cut_off=0.7, pos_label="bad"
    )
    assert bad.loss == good.loss
    assert [c.places.tolist() for c in bad.swaps] == [c.places.tolist() for c in good.swaps][::-1]


def test_models_of_other_classes_are_refused_by_name(rows):
    y, old, new = rows
    with pytest.raises(ValueError, match="'ugly'"):
        weigh.challenge(Given(old), Given(new, ("bad", "ugly")), np.zeros((300, 1)), y)


def test_a_cut_off_that_is_no_number_is_refused_without_a_score():
    card, X, y = make_card()
    with pytest.raises(ValueError, match=r"from 0 to 1, got nan$"):
        weigh.challenge(card, card, X, y, cut_off=float("nan"))


def test_one_of_many_classes_is_compared_with_the_rest():
    X, y = np.arange(60)[:, None] % 7, np.array([*"abc"])[np.arange(60) % 3]
    model = weigh.EvidenceNB(bins=2).fit(X, y)
    with pytest.raises(ValueError, match="pos_label"):
        weigh.challenge(model, model, X, y)
    found = weigh.challenge(model, model, X, y, pos_label="b")
    assert found.old.mean_prediction == pytest.approx(model.predict_proba(X)[:, 1].mean())


def test_the_command_prints_what_python_finds_and_writes_a_page(tmp_path):
    rng = np.random.default_rng(0)
    x = rng.integers(0, 4, 400)
    table = pa.table(
        {
            "<b>": x,
            "code": [f"00{v}" for v in rng.integers(0, 3, 400)],
            "y": np.where(rng.random(400) < (x + 1) / 6, "yes", "no"),
        }
    )
    train, rest = (tmp_path / name for name in ("train.csv", "rest.csv"))
    write_file(table.slice(0, 200), str(train))
    write_file(table.slice(200), str(rest))
    paths = [tmp_path / "old.json", tmp_path / "new.json"]
    run("fit", train, "--target", "y", "--learner", "evidence", "--drop", "<b>", "-o", paths[0])
    run("fit", train, "--target", "y", "--categorical", "code", "-o", paths[1])
    page = tmp_path / "page.html"
    words = ("challenge", *paths, rest, "--target", "y", "--cut-off", "0.4", "-o", page)
    told = json.loads(run(*words, "--json").stdout)
    models, text = tuple(weigh.load(path) for path in paths), table.slice(200)
    number = text.set_column(1, "code", text["code"].cast(pa.int64()))  # as the old model read it
    found = challenge_each(models, (number, text), "y", cut_off=0.4)
    assert told["new"]["loss"] == pytest.approx(found.to_dict()["new"]["loss"])
    assert told["swaps"] == found.to_dict()["swaps"]
    assert found.verdict in " ".join(run(*words).stdout.split())
    html = page.read_text()
    assert "Challenge: new.json against old.json" in html
    assert told["old"]["name"] == "EvidenceNB"
    assert html.startswith("<!doctype html>")
    assert "<script" not in html
    assert "'clas'" in fails("challenge", *paths, rest, "--target", "clas")


def test_training_rows_are_known_again():
    X = np.random.default_rng(0).normal(size=(400, 2))
    y = X[:, 0] > 0.5
    old, new = (weigh.EvidenceNB(smoothing=s).fit(X[:200], y[:200]) for s in (1, 5))
    found = weigh.challenge(old, new, X[:200], y[:200])
    assert found.old.training_rows == pytest.approx(1)
    assert weigh.challenge(old, new, X[200:], y[200:]).new.training_rows == 0
    assert sum("training rows" in text for text in found.findings) == 2


# ---------------------------------------------------------------- numbers


def draw_amounts(n=300, seed=0):
    random = np.random.default_rng(seed)
    table = pa.table({"x": random.uniform(0, 10, n), "kind": random.choice([*"ab"], n)})
    mean = np.exp(0.2 * table["x"].to_numpy() + 0.5 * (table["kind"].to_numpy() == "a"))
    years = random.uniform(0.2, 2.0, n)
    amounts = {"years": years, "y": random.poisson(years * mean).astype(float)}
    return pa.table({name: table[name] for name in table.column_names} | amounts)


def two_regressors(**given):
    old = weigh.EducatedRegressor(bins=2, pairs=0, **given)
    return old, weigh.EducatedRegressor(bins=8, pairs=0, **given)


def test_a_challenge_of_numbers_has_the_literal_paired_difference():
    train, rest = draw_amounts(), draw_amounts(seed=1)
    old, new = (model.fit(train, "y") for model in two_regressors())
    found = weigh.challenge(old, new, rest, "y")
    y = rest["y"].to_numpy()
    gaps = (y - new.predict(rest)) ** 2 - (y - old.predict(rest)) ** 2
    assert found.measure == "squared error"
    assert found.loss.value == pytest.approx(gaps.mean())
    assert found.loss.error == pytest.approx(gaps.std(ddof=1) / np.sqrt(len(gaps)))
    assert found.new.rmse.value == pytest.approx(weigh.evaluate(new, rest, "y").rmse.value)
    assert ("new" if found.loss.high < 0 else "significantly") in found.verdict


def test_a_challenge_of_counts_has_their_deviance_and_exposure():
    train, rest = draw_amounts(), draw_amounts(seed=1)
    models = two_regressors(family="poisson")
    old, new = (model.fit(train, "y", exposure="years") for model in models)
    found = weigh.challenge(old, new, rest, "y", sample_weight=np.full(300, 2.0))
    y, years = rest["y"].to_numpy(), rest["years"].to_numpy()
    losses = [mean_poisson_deviance(y, model.predict(rest, exposure=years)) for model in (old, new)]
    assert found.measure == "deviance"
    assert found.loss.value == pytest.approx(losses[1] - losses[0])
    assert found.n_rows == 600
    assert "years" in " ".join(found.findings)
    with pytest.raises(ValueError, match="years"):
        weigh.challenge(old, new, rest.drop(["years"]), "y")


def test_models_of_other_families_are_compared_by_squared_errors():
    (x, y), rest = (
        (rows["x"].to_numpy()[:, None], rows["y"].to_numpy())
        for rows in (draw_amounts(), draw_amounts(seed=1))
    )
    old = LinearRegression().fit(x, y)
    new = weigh.EducatedRegressor(family="poisson", pairs=0).fit(x, y)
    found = weigh.challenge(old, new, *rest)
    assert found.measure == "squared error"
    assert np.isnan(found.old.covered.value)


def test_a_challenge_of_a_number_and_classes_is_refused():
    train = draw_amounts()
    number = weigh.EducatedRegressor(pairs=0).fit(train, "y")
    classes = weigh.EvidenceNB().fit(train, "kind")
    for pair in ((number, classes), (classes, number)):
        with pytest.raises(ValueError, match="EvidenceNB predicts classes"):
            weigh.challenge(*pair, train, "y")


def make_card():
    rng = np.random.default_rng(0)
    X = [{"a": a, "b": b} for a, b in rng.choice([*"xyz"], (300, 2))]
    y = np.where(rng.random(300) < [0.2 + 0.5 * (row["a"] == "x") for row in X], "good", "bad")
    return weigh.Scorecard(weigh.EvidenceNB().fit(X, y), pos_label="good"), X, y


def test_training_rows_are_those_of_the_old_or_the_new_model():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"x": rng.normal(size=400)})
    y = np.where(rng.random(400) < 0.5, "good", "bad")
    seen, other = (weigh.Scorecard(weigh.EvidenceNB().fit(X[k::2], y[k::2])) for k in (0, 1))
    told = "About 100% of the rows were training rows of the {} model (Scorecard): "
    for pair, sides in (((seen, seen), ["old", "new"]), ((other, seen), ["new"])):
        warnings = weigh.challenge(*pair, X[::2], y[::2]).warnings
        assert len(warnings) == len(sides)
        for text, side in zip(warnings, sides, strict=True):
            assert text.startswith(told.format(side))


@pytest.mark.parametrize("pos_label", ["bad", "good"])
def test_the_commands_take_a_score_as_the_cut_off_of_a_card(tmp_path, monkeypatch, pos_label):
    card, X, y = make_card()
    paths = [str(tmp_path / name) for name in ("card.json", "rest.csv")]
    weigh.save(card, paths[0])
    write_file(pa.Table.from_pylist(X).append_column("y", pa.array(y)), paths[1])
    score = int(np.median(card.score(X)))
    words = ("--target", "y", "--cut-off", str(score))
    done = run("challenge", paths[0], *paths, *words, "--pos-label", pos_label, "--json")
    told = done.stdout
    side = "higher" if pos_label == "bad" else "lower"
    assert f"note: a score of {score} means a probability of {pos_label} of 0." in done.stderr
    assert f"; lower scores mean a {side} one" in done.stderr
    accepted = (card.score(X) >= score) == (pos_label == "good")
    assert 0 < accepted.mean() < 1
    assert json.loads(told)["old"]["above"] == pytest.approx(accepted.mean())
    page = run("challenge", paths[0], *paths, *words, "--pos-label", pos_label).stdout
    side = "of at least" if pos_label == "good" else "below"
    assert f"At a score {side} {score} (a probability of {pos_label} above 0." in page
    assert f"Flagged: a score {side} {score} " in page
    sessions = []
    monkeypatch.setattr("weigh.workbench.edit_in_browser", lambda s, *_, **__: sessions.append(s))
    run("edit", *paths, *words)
    assert sessions[0].now["above"] == pytest.approx((card.score(X) >= score).mean())
    low, high = (end(card.score([*X, {}]).tolist()) for end in (min, max))
    for odd in ("0", "1", str(low - 1), str(high + 1), "inf", "nan"):
        for command in (("challenge", paths[0]), ("edit",)):
            said = run(*command, *paths, *words[:-1], odd, code=2).stderr
            assert f"is no score of this scorecard, which gives {low} to {high};" in said
            assert "--cut-off" in said


@pytest.mark.parametrize("pos_label", ["bad", "good"])
def test_a_score_is_refused_with_the_probability_that_divides_the_rows_there(pos_label):
    card, X, y = make_card()
    score = int(np.median(card.score(X)))
    with pytest.raises(ValueError, match=f"a score of .* {score} is a probability") as raised:
        weigh.challenge(card, card, X, y, cut_off=score, pos_label=pos_label)
    p = float(str(raised.value).rsplit(" ", 1)[1])
    above = card.predict_proba(X)[:, [*card.classes_].index(pos_label)] > p
    assert (above == ((card.score(X) >= score) == (pos_label == "good"))).all()


@pytest.mark.parametrize("given", [{"cut_off": 0.5}, {"pos_label": 1}])
def test_a_challenge_of_numbers_has_no_classes(given):
    train = draw_amounts()
    model = weigh.EducatedRegressor(pairs=0).fit(train, "y")
    with pytest.raises(ParameterError) as error:
        weigh.challenge(model, model, train, "y", **given)
    assert error.value.parameter == next(iter(given))


def test_the_command_line_challenges_models_of_numbers(tmp_path):
    train, rest = draw_amounts(), draw_amounts(seed=1)
    models = two_regressors(family="poisson")
    for name, model in zip(("old", "new"), models, strict=True):
        weigh.save(model.fit(train, "y", exposure="years"), tmp_path / f"{name}.json")
    csv.write_csv(rest, tmp_path / "rest.csv")
    words = ["challenge", *(tmp_path / name for name in ("old.json", "new.json", "rest.csv"))]
    words = [*map(str, words), "--target", "y"]
    told = json.loads(CliRunner().invoke(main, [*words, "--json"]).stdout)
    own = weigh.challenge(*models, rest, "y")
    assert told["loss"]["value"] == pytest.approx(own.loss.value)
    assert CliRunner().invoke(main, [*words, "--cut-off", "0.3"]).exit_code == 1
    page = CliRunner().invoke(main, [*words, "-o", str(tmp_path / "page.html")])
    assert "deviance" in page.stdout
    assert "deviance" in (tmp_path / "page.html").read_text()
