"""Figures of weights: points at the weights, intervals as long as the errors, nothing squashed."""

from dataclasses import replace

import matplotlib

matplotlib.use("Agg")

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from matplotlib import pyplot
from matplotlib.cbook import is_math_text
from matplotlib.collections import LineCollection, PathCollection, PolyCollection
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from scipy.stats import norm
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

from weigh import (
    AdjustedNB,
    BoostedNB,
    C44Classifier,
    EducatedNB,
    EducatedRegressor,
    EvidenceDisplay,
    EvidenceNB,
    PerplexedNB,
    Scorecard,
)
from weigh.bins import Feature
from weigh.chart_data import NumberAxis
from weigh.datasets import titanic
from weigh.evidence.curve import Attenuation
from weigh.evidence.units import words_of
from weigh.plot.axes import AGAINST, FOR, brief_labels, shorten_all
from weigh.plot.panels import SHARE, WEIGHT
from weigh.plot.selection import limits_of

Z = norm.ppf(0.95)


@pytest.fixture
def ax():
    """Axes of a figure that pyplot does not know of."""
    return Figure(layout="constrained").subplots()


@pytest.fixture(scope="module")
def cars():
    """Three classes, a category and numbers with gaps and a code."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 600)
    rows = [
        {
            "kind": "abc"[int(rng.integers(0, 3)) if rng.random() < 0.6 else c],
            "power": None if rng.random() < 0.1 else -9 if rng.random() < 0.1 else c + rng.normal(),
        }
        for c in y.tolist()
    ]
    learner = EvidenceNB(bins={"power": [0.0, 1.0, 2.0]}, special_values={"power": [-9]})
    return learner.fit(rows, [f"class {c}" for c in y])


def dots(ax):
    """The points of a panel, from top to bottom."""
    parts = [c for c in ax.collections if isinstance(c, PathCollection)]
    found = np.vstack([np.asarray(c.get_offsets()) for c in parts])
    return found[np.argsort(found[:, 1], kind="stable"), 0]


def whiskers(ax):
    """The ends of the intervals, from top to bottom."""
    parts = [c for c in ax.collections if isinstance(c, LineCollection)]
    lines = [line for c in parts for line in c.get_segments()]
    return np.array([line[:, 0] for line in sorted(lines, key=lambda line: line[0, 1])])


def bars(ax, mark):
    return np.array([bar.get_width() for bar in ax.patches if bar.get_gid() == mark])


def labels(ax):
    return [text.get_text() for text in ax.get_yticklabels()]


def words(display):
    texts = [text.get_text() for axes in display.figure_.axes for text in axes.texts]
    return " ".join([*texts, *(axes.get_xlabel() for axes in display.figure_.axes)])


# ---------------------------------------------------------------- one feature


@pytest.mark.parametrize("name", ["Class", "Sex", "Age"])
def test_points_lines_and_bars_are_weights_intervals_and_shares(ax, model, name):
    EvidenceDisplay.from_estimator(model, features=name, ax=ax)
    table = model.evidence_[name]
    order = np.argsort(-table.weights)
    weights, errors = table.weights[order], table.errors[order]
    np.testing.assert_allclose(dots(ax), 100 * weights)
    np.testing.assert_allclose(bars(ax, WEIGHT), 100 * weights)
    ends = np.column_stack([weights - Z * errors, weights + Z * errors])
    np.testing.assert_allclose(whiskers(ax), 100 * ends)
    rows, widths = table.counts.sum(axis=1)[order], bars(ax, SHARE)
    np.testing.assert_allclose(widths / widths.sum(), rows / rows.sum())
    assert labels(ax) == [table.levels[i] for i in order]
    assert ax.get_title(loc="left") == name
    assert "Yes" in ax.get_xlabel()


@pytest.mark.parametrize(("family", "size"), [("gaussian", 1e5), ("gaussian", 0.01), ("gamma", 5)])
def test_a_regressor_is_drawn_in_the_unit_of_its_target_or_its_logarithm(ax, family, size):
    noise = np.random.default_rng(0).uniform(0.9, 1.1, 2201)
    y = noise * size * np.where([row["Sex"] == "Male" for row in titanic().to_pylist()], 3.0, 2.0)
    X = titanic().drop_columns("Survived")
    fitted = EducatedRegressor(family=family, pairs=0).fit(X, y)
    EvidenceDisplay.from_estimator(fitted, features="Sex", ax=ax)
    weights = np.sort(fitted.evidence_["Sex"].weights)[::-1]
    np.testing.assert_allclose(dots(ax), (1 if family == "gaussian" else 100) * weights)
    low, high = ax.get_xlim()
    assert high - low < 2.5 * np.ptp(dots(ax))  # the limits follow the unit
    caption = {"gaussian": "Change of the estimate of y", "gamma": "logarithm of y, times 100"}
    assert caption[family] in " ".join(ax.get_xlabel().split())
    with pytest.raises(ValueError, match="a regressor has no classes"):
        EvidenceDisplay.from_estimator(fitted, pos_label="Yes")


def test_the_numbers_of_a_map_have_the_digits_of_the_target():
    rows = [{"a": a, "b": b} for a in "pq" for b in "rs"] * 50
    y = [0.02 * (row["a"] == "p") * (row["b"] == "r") for row in rows]
    fitted = EducatedRegressor(pairs=[("a", "b")]).fit(rows, y)
    display = EvidenceDisplay.from_estimator(fitted, features="a & b")
    cells = {text.get_text().splitlines()[0] for text in display.ax_.texts}
    words = words_of(fitted.evidence_)
    assert cells == {words.weight(w) for w in fitted.evidence_["a & b"].weights}
    assert len(cells) > 1


def test_the_other_class_sees_the_same_weights_from_the_other_side(ax, model):
    EvidenceDisplay.from_estimator(
        model, features="Class", pos_label="No", level_order="own", ax=ax
    )
    np.testing.assert_allclose(dots(ax), -100 * model.evidence_["Class"].weights)
    assert "for No" in ax.get_xlabel()


def test_evidence_for_the_adverse_class_is_vermilion_whichever_class_is_positive(model):
    for positive, other in (("Yes", "No"), ("No", "Yes")):
        for adverse in (positive, other):
            axes = Figure(layout="constrained").subplots()
            shown = {"features": "Sex", "pos_label": positive, "adverse": adverse}
            EvidenceDisplay(model.evidence_, **shown).plot(ax=axes)
            for bar in [bar for bar in axes.patches if bar.get_gid() == WEIGHT]:
                favoured = positive if bar.get_width() > 0 else other
                assert (to_hex(bar.get_facecolor()) == AGAINST.lower()) == (favoured == adverse)
    with pytest.raises(ValueError, match="adverse='Maybe'"):
        EvidenceDisplay(model.evidence_, adverse="Maybe")


def test_a_number_is_steps_over_its_axis_with_codes_and_missing_beside(ax, cars):
    EvidenceDisplay.from_estimator(cars, features="power", pos_label="class 2", ax=ax)
    table, axis = cars.evidence_["power"], NumberAxis((0.0, 1.0, 2.0), "linear")
    weights, half = 100 * table.weights[:, 2], 100 * Z * table.errors[:, 2]
    steps = next(line for line in ax.lines if len(line.get_xdata()) == 8)
    np.testing.assert_allclose(steps.get_ydata(), np.repeat(weights[:4], 2))
    np.testing.assert_allclose(steps.get_xdata(), np.repeat(axis.edges, 2)[1:-1])
    (band,) = (c for c in ax.collections if isinstance(c, PolyCollection))
    corners = band.get_paths()[0].vertices
    assert corners[:, 1].max() == pytest.approx((weights + half)[:4].max())
    assert corners[:, 1].min() == pytest.approx((weights - half)[:4].min())
    points = ax.collections[-1].get_offsets()
    np.testing.assert_allclose(points[:, 1], weights[4:])
    assert points[:, 0].min() > 1
    names = dict(zip(ax.get_xticks(), [t.get_text() for t in ax.get_xticklabels()], strict=True))
    assert [names[x] for x in points[:, 0]] == ["-9", "missing"]
    for place, text in names.items():
        if place < 1:
            assert place == pytest.approx(axis.place(float(text)))


def test_the_distribution_of_the_rows_is_drawn_in_areas(ax, cars):
    EvidenceDisplay.from_estimator(cars, features="power", pos_label="class 2", ax=ax)
    found = [bar for bar in ax.patches if bar.get_gid() == SHARE]
    areas = np.array([bar.get_width() * bar.get_height() for bar in found])
    np.testing.assert_allclose(areas / areas.sum(), cars.evidence_["power"].share, rtol=1e-6)


def test_a_class_against_a_rival_has_the_difference_of_their_weights(ax, cars):
    choice = {"features": "kind", "pos_label": "class 2", "against": "class 0"}
    choice["level_order"] = "own"
    EvidenceDisplay.from_estimator(cars, ax=ax, **choice)
    table = cars.evidence_["kind"]
    weights = table.weights[:, 2] - table.weights[:, 0]
    np.testing.assert_allclose(dots(ax), 100 * weights)
    half = Z * np.sqrt(table.variances[:, 0] + table.variances[:, 2])
    np.testing.assert_allclose(whiskers(ax)[:, 1], 100 * (weights + half))
    assert "class 2 rather than class 0" in ax.get_xlabel()


def test_of_many_classes_each_has_a_line_of_its_own_colour(ax, cars):
    EvidenceDisplay.from_estimator(cars, features="kind", ax=ax)
    np.testing.assert_allclose(dots(ax), 100 * cars.evidence_["kind"].weights.ravel())
    names = [text.get_text() for text in ax.get_legend().get_texts()]
    assert names == ["class 0", "class 1", "class 2"]
    colours = {tuple(handle.get_color()) for handle in ax.get_legend().legend_handles}
    assert len(colours) == 3


def test_more_classes_than_colours_show_those_with_the_most_rows(ax):
    y = [c for c in range(10) for _ in range(2 + c)]
    fitted = EvidenceNB().fit([{"a": str(c % 3)} for c in y], y)
    display = EvidenceDisplay.from_estimator(fitted, ax=ax)
    assert display.question.names == tuple("3456789")
    assert "7 of 10 classes" in ax.get_xlabel()


# ---------------------------------------------------------------- errors there are, and are not


def test_a_learner_without_errors_has_points_and_no_lines(ax):
    fitted = BoostedNB(random_state=0).fit(titanic(), "Survived")
    assert fitted.evidence_["Class"].errors is None
    EvidenceDisplay.from_estimator(fitted, features="Class", level_order="own", ax=ax)
    np.testing.assert_allclose(dots(ax), 100 * fitted.evidence_["Class"].weights)
    assert len(whiskers(ax)) == 0
    assert "interval" not in ax.get_xlabel()


def test_intervals_that_leave_something_out_say_so(ax):
    fitted = AdjustedNB(random_state=0).fit(titanic(), "Survived")
    EvidenceDisplay.from_estimator(fitted, features="Class", ax=ax)
    told = " ".join(ax.get_xlabel().split())
    assert "90% interval is the line through a point and leaves out the error" in told


def test_a_rule_that_acts_on_the_sum_of_the_weights_is_stated(ax):
    fitted = PerplexedNB(attenuation=2, missing="skip").fit(
        [{"a": "x", "b": "u"}, {"a": "y", "b": None}, {"a": "y", "b": "v"}], [0, 1, 0]
    )
    EvidenceDisplay.from_estimator(fitted, features="a", ax=ax)
    assert "multiplied by min(1, 2/(n + 1))" in " ".join(ax.get_xlabel().split())


# ---------------------------------------------------------------- rare levels and many levels


def rare():
    """A thousand rows in two common levels, and three rows in a level far out."""
    rows = [{"a": "common" if i % 2 else "usual"} for i in range(1000)]
    rows += [{"a": "odd"}] * 3
    y = [i % 3 == 0 for i in range(1000)] + [True] * 3
    return EvidenceNB(smoothing=0).fit(rows, y)


def test_a_rare_level_far_out_is_an_arrow_with_its_number_and_squashes_nothing(ax):
    fitted = rare()
    weights = dict(zip(fitted.evidence_["a"].levels, fitted.evidence_["a"].weights, strict=True))
    assert weights["odd"] > 10
    EvidenceDisplay.from_estimator(fitted, ax=ax)
    low, high = ax.get_xlim()
    assert high - low < 400
    (arrow,) = ax.texts
    assert arrow.get_text() == f"{100 * weights['odd']:+.0f} ▶"
    assert arrow.xy[1] == labels(ax).index("odd")
    common = [100 * weights["common"], 100 * weights["usual"]]
    np.testing.assert_allclose(np.sort(dots(ax)), np.sort(common))


def test_an_interval_that_goes_on_beyond_the_axis_is_marked_there(ax):
    rows = [{"a": "xy"[i % 2]} for i in range(1000)] + [{"a": "odd"}]
    y = [i % 3 == 0 for i in range(1000)] + [True]
    fitted = EvidenceNB().fit(rows, y)
    display = EvidenceDisplay.from_estimator(fitted, ax=ax)
    panel = display.panels_[0]
    odd = panel.labels.index("odd")
    high = limits_of([panel])[1]
    assert panel.weights[odd, 0] + panel.half[odd, 0] > high
    marks = [c for c in ax.collections if isinstance(c, PathCollection)]
    edges = [p for c in marks for p in np.asarray(c.get_offsets()).tolist()]
    assert [high, odd] in edges


@settings(max_examples=50, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), n=st.integers(1, 6))
def test_what_most_rows_of_every_feature_have_is_within_the_axis(seed, n):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, 200)
    X = rng.geometric(0.4, (200, n)) + (rng.random((200, n)) < 0.3) * y[:, None] * 3
    fitted = EvidenceNB(smoothing=0, categorical_features="all").fit(X, y)
    panels = EvidenceDisplay(fitted.evidence_).panels
    low, high = limits_of(panels)
    assert low < 0 < high
    for panel in panels:
        beyond = panel.weights[:, 0] > high, panel.weights[:, 0] < low
        assert all(panel.share[side].sum() <= 0.05 + 1e-9 for side in beyond)


def test_of_very_many_levels_those_with_the_most_rows_are_drawn_and_the_rest_counted(ax):
    rows = [{"a": f"level {i:03}"} for i in range(100) for _ in range(1 + i % 7)]
    fitted = EvidenceNB().fit(rows, [i % 2 for i in range(len(rows))])
    display = EvidenceDisplay.from_estimator(fitted)
    shown = labels(display.ax_)
    assert len(shown) == 30
    rows_of = {f"level {i:03}": 1 + i % 7 for i in range(100)}
    assert min(rows_of[name] for name in shown) >= 5
    assert "70 more levels" in words(display)


def test_labels_of_levels_never_overlap_whatever_the_size():
    rng = np.random.default_rng(1)
    y = rng.integers(0, 2, 5000)
    X = [
        {"many numbers": a, "letters": f"{b:c}"}
        for a, b in zip(rng.normal(size=5000) + y, 65 + rng.integers(0, 26, 5000), strict=True)
    ]
    fitted = EvidenceNB(bins=60).fit(X, y)
    for size in ((3, 2.5), (6, 4), (12, 3)):
        for name in ("many numbers", "letters"):
            axes = Figure(figsize=size, layout="constrained").subplots()
            EvidenceDisplay.from_estimator(fitted, features=name, ax=axes)
            axes.figure.draw_without_rendering()
            boxes = [text.get_window_extent() for text in axes.get_yticklabels()]
            bottoms, tops = zip(*sorted((box.y0, box.y1) for box in boxes), strict=True)
            assert len(boxes) >= 2
            assert (np.array(bottoms[1:]) > np.array(tops[:-1]) - 2).all(), (size, name)


# ---------------------------------------------------------------- many features


def wide(n=20):
    """Feature j tells more the higher j is."""
    rng = np.random.default_rng(2)
    y = rng.integers(0, 2, 2000)
    told = rng.random((2000, n)) < np.arange(n) / n
    X = np.where(told, y[:, None], rng.integers(0, 2, (2000, n)))
    return EvidenceNB().fit([{f"f{j}": str(v) for j, v in enumerate(row)} for row in X], y)


def test_the_features_that_move_totals_most_come_first_and_the_rest_is_stated():
    display = EvidenceDisplay.from_estimator(wide(), n=4)
    assert [axes.get_title(loc="left") for axes in display.axes_] == ["f19", "f18", "f17", "f16"]
    assert "4 of 20 tables, by importance" in " ".join(words(display).split())
    for panel, axes in zip(display.panels_, display.axes_, strict=True):
        np.testing.assert_allclose(dots(axes), panel.weights[:, 0])
    assert len({axes.get_xlim() for axes in display.axes_}) == 1


def test_tables_are_in_the_order_of_importance(model):
    drawn = EvidenceDisplay(model.evidence_).choice.drawn
    importances = [table.importance for table in drawn]
    assert importances == sorted(importances, reverse=True)
    assert len(drawn) == 3


def test_they_can_be_sorted_by_information_value_or_left_as_they_are():
    fitted = AdjustedNB(random_state=0).fit(titanic(), "Survived")
    by_value = EvidenceDisplay(fitted.evidence_, sort="information_value").choice.drawn
    values = [table.information_value for table in by_value]
    assert values == sorted(values, reverse=True)
    as_they_are = EvidenceDisplay(fitted.evidence_, sort=None).choice.drawn
    assert [table.name for table in as_they_are] == ["Class", "Sex", "Age"]


def test_features_chosen_by_name_are_drawn_in_that_order(model):
    display = EvidenceDisplay.from_estimator(model, features=["Age", "Class"])
    assert [panel.name for panel in display.panels_] == ["Age", "Class"]
    assert len(display.axes_) == 2


def test_given_axes_are_divided_and_the_neighbours_left_alone(model):
    figure = Figure(figsize=(14, 5), layout="constrained")
    left, right = figure.subplots(1, 2)
    display = EvidenceDisplay.from_estimator(model, ax=right)
    figure.draw_without_rendering()
    assert display.ax_ is right
    assert display.figure_ is figure
    assert len(display.axes_) == 3
    edge = left.get_window_extent().x1
    assert all(axes.get_window_extent().x0 > edge for axes in display.axes_)
    assert not left.collections
    assert pyplot.get_fignums() == []


def test_axes_too_small_for_all_features_show_the_first_and_say_so():
    figure = Figure(figsize=(3, 2.5), layout="constrained")
    display = EvidenceDisplay.from_estimator(wide(), ax=figure.subplots())
    assert 1 <= len(display.panels_) < 4
    assert f"{len(display.panels_)} of 20" in " ".join(words(display).split())


def test_the_figure_is_laid_out_once_however_many_panels_there_are():
    figure = Figure(figsize=(12, 12), layout="constrained")
    axes = figure.subplots()
    engine, calls = figure.get_layout_engine(), []
    settle = engine.execute
    engine.execute = lambda whole: calls.append(whole) or settle(whole)
    display = EvidenceDisplay.from_estimator(wide(), n=12, ax=axes)
    assert len(display.axes_) == 12
    assert len(calls) == 1


def test_axes_outside_a_grid_take_one_feature_and_say_what_to_do_for_more(model):
    axes = Figure(figsize=(9, 6)).add_axes((0.1, 0.1, 0.8, 0.8))
    EvidenceDisplay.from_estimator(model, features="Sex", ax=axes)
    with pytest.raises(ValueError, match=r"3 features need axes .* made by subplots"):
        EvidenceDisplay.from_estimator(model, ax=axes)


# ---------------------------------------------------------------- two features joined


def test_a_cross_is_a_map_of_its_weights_with_blanks_where_nothing_occurs(ax):
    rows = [{"a": "x", "b": "u"}, {"a": "x", "b": "v"}, {"a": "y", "b": "u"}] * 20
    fitted = EvidenceNB(crosses=[("a", "b")]).fit(rows, [i % 4 == 0 for i in range(60)])
    EvidenceDisplay.from_estimator(fitted, ax=ax)
    weights = 100 * fitted.evidence_["a & b"].weights
    image, noise = ax.images
    grey = np.ma.filled(noise.get_array(), np.nan)
    half = 100 * Z * fitted.evidence_["a & b"].errors
    hidden = np.where(np.abs(weights) < half, 1.0, np.nan)
    np.testing.assert_allclose(grey, [[hidden[0], hidden[1]], [hidden[2], np.nan]])
    assert (ax.get_xlabel().splitlines()[0], ax.get_ylabel()) == ("b", "a")
    drawn = np.ma.filled(image.get_array(), np.nan)
    np.testing.assert_allclose(drawn, [[weights[0], weights[1]], [weights[2], np.nan]])
    assert labels(ax) == ["x", "y"]
    assert [text.get_text() for text in ax.get_xticklabels()] == ["u", "v"]
    numbers = [text.get_text().split("\n")[0] for text in ax.texts]
    assert numbers == [f"{w:+.0f}" if round(w) else "0" for w in weights]
    low, high = image.get_clim()
    assert low == -high


def test_cells_without_rows_are_hatched_and_the_caption_says_so(ax):
    rows = [{"a": a, "b": b} for a in "xy" for b in "uv"] * 20
    for kept, hatched in ((rows, False), ([r for r in rows if r != {"a": "y", "b": "v"}], True)):
        fitted = EvidenceNB(crosses=[("a", "b")]).fit(kept, [i % 3 == 0 for i in range(len(kept))])
        ax.clear()
        EvidenceDisplay.from_estimator(fitted, features="a & b", ax=ax)
        assert ("atched cells: no rows" in " ".join(ax.get_xlabel().split())) == hatched
        assert ax.patch.get_hatch()
        assert "rey cells: the 90% interval includes 0" in " ".join(ax.get_xlabel().split())


def test_the_maps_of_a_figure_share_a_colour_scale():
    model = EducatedNB(random_state=0).fit(titanic(), "Survived")
    pairs = [table.name for table in model.evidence_ if "&" in table.name]
    display = EvidenceDisplay.from_estimator(model, features=pairs, ax=Figure((12, 5)).subplots())
    limits = {ax.images[0].get_clim() for ax in display.axes_}
    assert len(display.axes_) == len(pairs) > 1
    assert len(limits) == 1
    told = [p.weights[~p.is_noise] for p in display.panels_]
    assert limits.pop()[1] == max(np.abs(np.concatenate(told)))


@pytest.mark.parametrize(
    ("features", "marks"),
    [("x", "is the band;"), ("z", "is the band or the line through a point;"),
     ("c", "is the line through a point;")],
)  # fmt: skip
def test_the_caption_says_which_marks_are_intervals(features, marks, ax):
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=300), rng.integers(0, 2, 300)
    rows = {"x": x, "z": np.where(rng.random(300) < 0.2, np.nan, x), "c": ["ab"[k] for k in y]}
    fitted = EvidenceNB(bins=4).fit(pa.table(rows), y)
    EvidenceDisplay.from_estimator(fitted, features=features, ax=ax)
    assert f"the 90% interval {marks}" in " ".join(ax.get_xlabel().split()).replace("The", "the")


def test_captions_leave_the_formula_of_incomplete_rows_to_print(ax):
    model = EducatedNB(random_state=0).fit(titanic(), "Survived")
    attenuation = Attenuation(-0.7, "known", np.zeros(1), {"Class": 0.5, "Sex": 0.5})
    evidence = replace(model.evidence_, attenuation=attenuation)
    EvidenceDisplay(evidence, features="Sex").plot(ax=ax)
    assert "sqrt" in str(evidence)
    assert "sqrt" not in ax.get_xlabel()
    assert "the other weights are scaled up." in " ".join(ax.get_xlabel().split())


def test_a_cross_of_many_classes_is_drawn_as_pairs_until_a_class_is_named(ax):
    rows = [{"a": "xy"[i % 2], "b": "uv"[i // 2 % 2]} for i in range(60)]
    fitted = EvidenceNB(crosses=[("a", "b")]).fit(rows, [i % 3 for i in range(60)])
    EvidenceDisplay.from_estimator(fitted, ax=ax)
    assert labels(ax) == ["x & u", "x & v", "y & u", "y & v"]
    other = Figure().subplots()
    EvidenceDisplay.from_estimator(fitted, pos_label=1, ax=other)
    assert len(other.images) == 2


# ---------------------------------------------------------------- words


@pytest.mark.parametrize("name", ["$", "$x_$ and $\\frac$", "a_b^c", "<b>", "two\nlines", "ß→Ω"])
def test_names_are_text_and_never_formulas(name):
    rows = [{name: f"{name}{i % 3}", f"{name} too": "ab"[i % 2]} for i in range(12)]
    for n_classes in (2, 3):
        y = [f"{name}{i % n_classes}" for i in range(12)]
        display = EvidenceDisplay.from_estimator(EvidenceNB().fit(rows, y))
        display.figure_.draw_without_rendering()
        for text in display.figure_.findobj(matplotlib.text.Text):
            assert not (text.get_parse_math() and is_math_text(text.get_text())), text


@pytest.mark.parametrize("n_classes", [2, 3])
def test_of_documents_the_tokens_that_tell_the_classes_apart_are_drawn(n_classes):
    y = np.arange(60) % n_classes
    common = np.full((60, 100), 5)  # in all documents of all classes
    telling = np.eye(n_classes, dtype=int)[y]
    counts = np.hstack([common, telling])
    names = [f"common{i}" for i in range(100)] + [f"of{k}" for k in range(n_classes)]
    model = EvidenceNB(event_model="counts").fit(counts, y, feature_names=names)
    display = EvidenceDisplay.from_estimator(model)
    panel = display.panels_[0]
    assert {*names[100:]} < {*panel.labels}
    assert len(panel.labels) + panel.left_out == len(names)
    told = [text.get_text() for text in display.figure_.findobj(matplotlib.text.Text)]
    assert f" {panel.left_out} more tokens, less telling" in told
    assert "shares of the tokens" in " ".join(told).replace("\n", " ")
    if n_classes == 2:
        assert (panel.labels[0], panel.labels[-1]) == ("of1", "of0")


def test_as_many_tokens_are_drawn_for_a_class_as_against_it():
    y = np.arange(60) % 2
    weak = np.repeat(np.eye(2, dtype=int)[1 - y][:, :1] + 1, 30, axis=1)
    strong = np.repeat(9 * (y == 0)[:, None] + 1, 60, axis=1)
    model = EvidenceNB(event_model="counts").fit(np.hstack([weak, strong]), y)
    panel = EvidenceDisplay.from_estimator(model).panels_[0]
    against = int((panel.weights < 0).sum())
    assert panel.left_out
    assert abs(2 * against - len(panel.labels)) <= 1


def test_names_that_begin_alike_are_told_apart_by_their_ends():
    names = [f"a question that many people were asked, number {i}" for i in range(3)]
    short = shorten_all(names, 20)
    assert len({*short}) == 3
    assert all(len(name) <= 20 for name in short)
    alike = [f"question_number_{i:02}_with_a_rather_long_name" for i in range(30)]
    assert len({*shorten_all(alike, 16)}) == len(alike)
    assert max(map(len, shorten_all(alike, 16))) == 16
    assert shorten_all(["short", "long and alone in the world"], 10) == ["short", "long and …"]


def test_titles_of_features_and_pairs_with_long_names_differ():
    names = [f"question_number_{i:02}_with_a_rather_long_name" for i in range(3)]
    rng = np.random.default_rng(0)
    X = pd.DataFrame({name: rng.choice([*"ab"], 400) for name in names})
    y = (X[names[0]] == "a") ^ (X[names[1]] == "a") ^ (rng.random(400) < 0.1)
    display = EvidenceDisplay.from_estimator(EducatedNB(pairs=[names[:2]]).fit(X, y))
    titles = [ax.get_title(loc="left") for ax in display.axes_]
    pair = next(title for title in titles if " & " in title)
    assert len({*titles}) == 4
    assert all(f"r_{i:02}" in pair or f"{i:02}_w" in pair for i in range(2))


@settings(max_examples=100, deadline=None)
@given(
    st.lists(
        st.floats(allow_nan=False, allow_infinity=False, width=32), min_size=1, max_size=8
    ).map(lambda cuts: tuple(sorted({*cuts})))
)
def test_brief_labels_of_intervals_are_never_alike(cuts):
    labels = brief_labels(Feature("a", cuts=cuts))
    assert len({*labels}) == len(cuts) + 1
    assert labels[0].startswith("≤ ")
    assert labels[-1].startswith("> ")


# ---------------------------------------------------------------- what cannot be drawn


def test_models_without_a_table_are_told_what_has_one(model):
    X, y = np.arange(8.0).reshape(-1, 1), [0, 1] * 4
    pipe = make_pipeline(EvidenceNB()).fit(X, y)
    for wrong in (LogisticRegression().fit(X, y), C44Classifier().fit(X, y), pipe, "model"):
        with pytest.raises(ValueError, match="table of weights"):
            EvidenceDisplay.from_estimator(wrong)
    with pytest.raises(ValueError, match="EvidenceNB"):
        EvidenceDisplay.from_estimator(EvidenceNB())
    vote = BoostedNB(combine="vote", random_state=0).fit(titanic(), "Survived")
    with pytest.raises(ValueError, match="combine='evidence'"):
        EvidenceDisplay.from_estimator(vote)


@pytest.mark.parametrize(
    ("choice", "told"),
    [
        ({"features": "Deck"}, r"features: no feature 'Deck'; there are \['Class', 'Sex', 'Age'\]"),
        ({"sort": "size"}, "sort must be 'importance', 'information_value' or None, got 'size'"),
        ({"n": 0}, "n .*at least 1, got 0"),
        ({"pos_label": "Maybe"}, "pos_label='Maybe'"),
        ({"against": "Maybe"}, "against='Maybe'"),
        ({"pos_label": "Yes", "against": "Yes"}, "pos_label and against are both 'Yes'"),
    ],
)
def test_choices_that_cannot_be_are_refused_with_what_can(model, choice, told):
    with pytest.raises(ValueError, match=told):
        EvidenceDisplay.from_estimator(model, **choice)


def test_a_rival_needs_a_class_and_weights_of_one_kind(cars):
    with pytest.raises(ValueError, match="needs pos_label="):
        EvidenceDisplay(cars.evidence_, against="class 0")
    rows = [{"a": "xyz"[i % 3], "b": "pq"[i % 2]} for i in range(60)]
    each = AdjustedNB(norm=None, multiclass="ovr").fit(rows, [i // 2 % 3 for i in range(60)])
    with pytest.raises(ValueError, match="leave against out"):
        EvidenceDisplay(each.evidence_, pos_label=1, against=0)


def test_it_never_shows_and_returns_itself(model, monkeypatch):
    def show(*args, **kwargs):
        raise AssertionError("a display must leave showing to the user")

    monkeypatch.setattr(pyplot, "show", show)
    monkeypatch.setattr(Figure, "show", show)
    display = EvidenceDisplay(model.evidence_)
    assert display.plot() is display
    assert pyplot.get_fignums() == [display.figure_.number]


@pytest.mark.parametrize(("pos_label", "adverse"), [(None, "No"), ("No", "No"), ("Yes", "Yes")])
def test_the_evidence_of_a_card_is_its_points_and_high_ones_are_good(pos_label, adverse):
    card = Scorecard(EvidenceNB().fit(titanic(), "Survived"))
    chosen = {"pos_label": pos_label, "adverse": adverse, "features": "Sex"}
    display = EvidenceDisplay.from_estimator(card, **chosen)
    assert sorted(display.panels_[0].weights.ravel()) == sorted(card.points["Sex"])
    assert display.ax_.get_xlabel().startswith("Points; high scores favour Yes")
    assert display.colours == ((FOR, AGAINST) if adverse == "No" else (AGAINST, FOR))
