"""What tables add to many rows: one point for each row, at its weight."""

import matplotlib

matplotlib.use("Agg")

import numpy as np
import pandas as pd
import pytest
from matplotlib import pyplot
from matplotlib.collections import PathCollection

from weigh import BalanceSheetDisplay, ContributionsDisplay, EducatedRegressor, EvidenceNB


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 300)
    X = [{"a": float(c + rng.normal()), "b": "xyz"[i % 3], "c": float(rng.normal())}
         for i, c in enumerate(y)]  # fmt: skip
    return X, y


def test_each_row_is_a_point_at_its_weight_and_the_most_important_table_comes_first(rows):
    X, y = rows
    model = EvidenceNB(bins=5).fit(X, y)
    display = ContributionsDisplay.from_estimator(model, X)
    added = 100 * model.evidence_.contributions(X)[:, :, 0]
    matters = np.abs(added - added.mean(axis=0)).mean(axis=0)
    order = np.argsort(-matters)
    assert display.names_ == [model.evidence_[int(j)].name for j in order]
    np.testing.assert_allclose(display.weights_, added[:, order])
    swarms = [c for c in display.ax_.collections if isinstance(c, PathCollection)]
    for place, swarm in enumerate(swarms):
        points = np.asarray(swarm.get_offsets())
        np.testing.assert_allclose(points[:, 0], display.weights_[:, place])
        assert (np.abs(points[:, 1] - place) < 0.5).all()
    other = ContributionsDisplay.from_estimator(model, X, pos_label=0, n=1)
    np.testing.assert_allclose(other.weights_[:, 0], -display.weights_[:, 0])


def test_contributions_of_a_regressor_are_those_of_its_estimates():
    X = pd.DataFrame({"a": [*"pqr"] * 40, "b": np.arange(120) % 7})
    model = EducatedRegressor(pairs=0).fit(X, 1e5 * (np.arange(120) % 7))
    display = ContributionsDisplay.from_estimator(model, X)
    parts = model.contributions(X)
    np.testing.assert_allclose(display.weights_, parts[display.names_])
    assert "Change of the estimate of y" in display.ax_.get_xlabel()
    display.figure_.canvas.draw()
    ticks = [text.get_text() for text in display.ax_.get_xticklabels()]
    assert {"\N{MINUS SIGN}200,000", "0", "200,000"} <= {*ticks}


def test_of_many_classes_one_must_be_named(rows):
    X, _ = rows
    model = EvidenceNB().fit(X, np.arange(300) % 3)
    with pytest.raises(ValueError, match="pos_label"):
        ContributionsDisplay.from_estimator(model, X)
    assert len(ContributionsDisplay.from_estimator(model, X, pos_label=1).weights_) == 300


def test_a_waterfall_lists_the_answers_that_are_not_known():
    rows = [{"age": i % 9, "sex": "fm"[i % 2]} for i in range(90)]
    model = EvidenceNB().fit(rows, [i % 9 > 4 for i in range(90)])
    for row, told in (({"age": 3}, "Not known (no weight): sex."), (rows[0], "")):
        shown = BalanceSheetDisplay.from_estimator(model, row)
        label = shown.ax_.get_xlabel()
        assert (told in label) if told else ("Not known" not in label)
        pyplot.close("all")
