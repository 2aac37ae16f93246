"""What each budget costs on hold-out rows: `weigh.price`."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from numpy.testing import assert_allclose

import weigh
from weigh.cli import main
from weigh.metrics import loss_bits

KEPT = ["a", "b", "c", "d"]


def draw(n, seed):
    rng = np.random.default_rng(seed)
    Z = rng.normal(size=(n, 4))
    y = rng.random(n) < 1 / (1 + np.exp(-1.5 * Z[:, 0] - np.abs(Z[:, 1]) - 0.5 * Z[:, 2] + 1))
    return pd.DataFrame(Z, columns=KEPT), y.astype(int)


@pytest.fixture(scope="module")
def priced():
    X, y = draw(1500, 0)
    model = weigh.EducatedNB(pairs=0).fit(X, y)
    return model, X, y, weigh.price(model, X, y, features=[1, 2, 4], levels=[2, 4], cv=4)


def test_the_price_of_a_budget_foretells_the_loss_of_the_model_that_simplify_returns(priced):
    model, X, y, prices = priced
    new, truth = draw(20_000, 1)
    for found in prices.prices:
        small = weigh.simplify(model, X, y, found.features, found.levels)
        p = small.predict_proba(new)[:, 1]
        loss = loss_bits(truth, p)
        by_row = -np.log2(np.where(truth == 1, p, 1 - p))
        error = np.hypot(found.loss.error, by_row.std() / np.sqrt(len(new)))
        assert abs(loss - found.loss.value) <= 2 * error


def test_prices_are_those_of_simplify_in_each_fold(priced):
    model, X, y, _ = priced
    half = np.arange(len(y)) % 2 == 0
    splits = [(np.flatnonzero(half), np.flatnonzero(~half))]
    found = weigh.price(model, X, y, features=[2], levels=[3], cv=splits).at(2, 3)
    train = weigh.EducatedNB(pairs=0).fit(X[half], y[half])
    small = weigh.simplify(train, X[half], y[half], 2, 3)
    losses = [loss_bits(y[~half], m.predict_proba(X[~half])[:, 1]) for m in (small, train)]
    assert_allclose([found.loss.value, found.cost.value], [losses[0], losses[0] - losses[1]])
    assert found.total_levels == sum(len(t.levels) for t in small.evidence_)


def test_the_knee_has_the_fewest_levels_of_budgets_near_the_best(priced):
    *_, prices = priced
    assert prices.knee in prices.prices
    least = min(prices.prices, key=lambda p: p.loss.value)
    assert prices.knee.total_levels <= least.total_levels
    assert prices.knee.features > 1  # one feature is far from the best


def test_a_weight_of_two_is_a_row_given_twice(priced):
    model, X, y, _ = priced
    weight = np.random.default_rng(0).integers(1, 3, len(y))
    again = np.repeat(np.arange(len(y)), weight)
    fold = np.arange(len(y)) % 2
    one = [(np.flatnonzero(fold == 0), np.flatnonzero(fold == 1))]
    two = [(np.flatnonzero(fold[again] == 0), np.flatnonzero(fold[again] == 1))]
    asked = {"features": [2], "levels": [3]}
    weighed = weigh.price(model, X, y, **asked, cv=one, sample_weight=weight).at(2, 3)
    repeated = weigh.price(model, X.iloc[again], y[again], **asked, cv=two).at(2, 3)
    assert_allclose(weighed.loss.value, repeated.loss.value, rtol=1e-9)


def test_more_than_two_classes_have_no_auc(priced):
    X, y = priced[1][:600], priced[2][:600]
    three = y + (X["c"] > 1)
    model = weigh.EducatedNB(pairs=0, bins=8).fit(X, three)
    prices = weigh.price(model, X, three, features=[2], levels=[3], cv=2)
    assert prices.at(2, 3).auc is None
    assert prices.at(2, 3).loss.value < 1.5
    assert prices.to_text()


def test_prices_are_drawn_with_a_line_for_each_number_of_levels(priced):
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    drawn = priced[-1].plot()
    assert [len(ax.containers) for ax in drawn.axes_] == [2, 2]
    matplotlib.pyplot.close(drawn.figure_)


def test_a_budget_that_was_not_tried_is_refused(priced):
    with pytest.raises(KeyError, match="tried"):
        priced[-1].at(3, 3)


def test_the_command_line_prints_the_table(tmp_path):
    people = weigh.datasets.titanic()
    weigh.save(weigh.EducatedNB(pairs=0).fit(people, "Survived"), tmp_path / "model.json")
    people.to_pandas().to_csv(tmp_path / "people.csv", index=False)
    files = [str(tmp_path / name) for name in ("model.json", "people.csv")]
    words = ["price", *files, "--features", "1", "--levels", "2", "--folds", "2", "--json"]
    told = CliRunner().invoke(main, words)
    assert told.exit_code == 0, told.output
    assert '"knee"' in told.stdout


def test_a_price_is_told_as_more_or_less_loss_than_that_of_the_whole_model(priced):
    *_, prices = priced
    dear = prices.at(1, 2)
    assert f"{dear.cost.value:.4f} more than the whole model" in prices.tell(dear)
    gain = replace(dear, cost=replace(dear.cost, value=-dear.cost.value))
    assert f"{dear.cost.value:.4f} less than the whole model" in prices.tell(gain)


def test_price_and_simplify_show_a_bar_on_a_terminal(monkeypatch, capsys):
    from weigh import progress

    people = weigh.datasets.titanic()
    model = weigh.EducatedNB(pairs=0).fit(people, "Survived")
    monkeypatch.setattr(progress.sys.stderr, "isatty", lambda: True)
    weigh.price(model, people, "Survived", [1], [2], cv=2)
    assert "price" in capsys.readouterr().err
    weigh.simplify(model, people, "Survived", features=1, levels=2)
    assert "simplify" in capsys.readouterr().err
