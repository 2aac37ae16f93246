"""Figures that can be read: no label overlaps another or is cut, whatever the model."""

import matplotlib

matplotlib.use("Agg")

import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure

import weigh

rng = np.random.default_rng(0)


def texts_of(figure):
    """Every text that is seen, and its box in pixels."""
    figure.draw_without_rendering()
    axes = [part for ax in figure.axes for part in (ax, *ax.child_axes)]
    shown = [text for ax in axes for text in ax.texts]
    shown += [t for ax in axes if ax.get_legend() for t in ax.get_legend().get_texts()]
    for ax in axes:
        if ax.axison:
            shown += [ax.xaxis.label, ax.yaxis.label, ax.title, ax._left_title, ax._right_title]
            shown += [*_ticks(ax.xaxis), *_ticks(ax.yaxis)]
    seen = [text for text in shown if text.get_visible() and text.get_text().strip()]
    return [(text.get_text(), text.get_window_extent()) for text in seen]


def _ticks(axis):
    low, high = sorted(axis.get_view_interval())
    pairs = zip(axis.get_majorticklocs(), axis.get_majorticklabels(), strict=True)
    return [text for place, text in pairs if low <= place <= high]


def assert_legible(figure):
    found, (width, height) = texts_of(figure), figure.canvas.get_width_height()
    assert len(found) > 3
    for name, box in found:
        cut = box.x0 < -1 or box.y0 < -1 or box.x1 > width + 1 or box.y1 > height + 1
        assert not cut, (name, box)
    for i, (name, a) in enumerate(found):
        for other, b in found[i + 1 :]:
            apart = a.x1 <= b.x0 + 1 or b.x1 <= a.x0 + 1 or a.y1 <= b.y0 + 2 or b.y1 <= a.y0 + 2
            assert apart, (name, other)


def census(folder, n=12_000):
    path = folder / "census_income_kdd.csv.gz"
    table = pd.read_csv(path, keep_default_na=False, na_values=[""], nrows=n)
    return table.drop(columns=["split", "instance_weight"])


def test_the_flagship_on_the_census_is_small_and_legible(papers_data):
    model = weigh.EducatedNB(pairs=0).fit(census(papers_data), "class")
    figure = weigh.EvidenceDisplay.from_estimator(model).figure_
    figure.set_dpi(100)
    figure.canvas.draw()
    width, height = figure.canvas.get_width_height()
    assert width <= 1200
    assert height <= 900
    assert_legible(figure)


def credit(n=3000, k=23):
    """Numbers of several shapes with three codes, and long names."""
    y, table = rng.integers(0, 2, n), {}
    for j in range(k):
        v = rng.gamma(2, 10, n) + y * (j % 5) * 2
        v = np.round(v) if j % 3 == 0 else np.exp(v / 8) if j % 3 == 1 else v
        for code in (-7, -8, -9) if j % 2 else ():
            v = np.where(rng.random(n) < 0.08, code, v)
        table[f"NumberOfTradesWithHighUtilizationRatio{j}" if j % 2 else f"x{j}"] = v
    return pd.DataFrame(table), y


def crossed(n=4000, k=12):
    y = rng.integers(0, 2, n)
    columns = {
        f"name of column {j}": np.round(3 * rng.normal(size=n) + y * (j % 3))
        if j % 2
        else rng.choice([f"category {c}" for c in "abcdefgh"], n)
        for j in range(k)
    }
    return pd.DataFrame(columns), y


def fit_credit():
    X, y = credit()
    return weigh.EvidenceNB(bins="fine", special_values={c: [-7, -8, -9] for c in X}).fit(X, y)


def fit_crossed():
    X, y = crossed()
    pairs = [*zip(X.columns[::2], X.columns[1::2], strict=True)]
    return weigh.EvidenceNB(bins=9, crosses=pairs).fit(X, y)


def fit_many_classes():
    X, _ = credit(k=7)
    return weigh.EvidenceNB(bins=12).fit(
        X.assign(c=rng.choice(list("abcd"), len(X))), X["x0"] // 15
    )


@pytest.mark.parametrize("fit", [fit_credit, fit_crossed, fit_many_classes])
def test_new_figures_are_legible(fit):
    model = fit()
    assert_legible(weigh.EvidenceDisplay.from_estimator(model).figure_)
    assert_legible(weigh.EvidenceDisplay.from_estimator(model, n=1).figure_)


@pytest.mark.parametrize("size", [(4, 3), (8, 6), (16, 5), (6, 12)])
def test_given_axes_are_legible_whatever_their_size(size):
    X, y = credit()
    pair = [*X.columns[4:6]]
    X["occupation"] = rng.choice([f"a long name of an occupation, {i}" for i in range(30)], len(X))
    model = weigh.EvidenceNB(bins=20, crosses=[pair]).fit(X, y)
    figure = Figure(size, layout="constrained")
    weigh.EvidenceDisplay.from_estimator(model, ax=figure.subplots())
    assert_legible(figure)
